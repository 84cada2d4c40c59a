// CSV reading: Flink's spellings, its errors, and that the fast and the slow parser agree.
#include "base/alloc.h"
#include "engine/formats/csv.h"
#include "table_builder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Parses a text with a table's columns; the result is rows as text, then `! line-less message` if a row is bad.
static char *parse(const char *columns, const char *const *options, const char *text, size_t rows_max) {
    struct arena arena;
    tide__arena_init(&arena);
    struct table *table = build_table(&arena, columns, options);
    struct format_read *reads = ARENA_ARRAY(&arena, struct format_read, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        reads[i] = (struct format_read){i, table->columns[i].name, table->columns[i].type};
    }
    struct format_env env = {table, table->column_count, table->column_count, reads};
    struct format_reader *reader = NULL;
    tide_error err;
    tide__error_clear(&err);
    if (tide__csv_format.reader_open(&env, &reader, &err) != TIDE_OK) {
        char *message = tide__strdup(err.message);
        tide__arena_deinit(&arena);
        return message;
    }
    // Exactly as many bytes as promised, so that a sanitizer sees each byte read too many.
    size_t len = strlen(text);
    char *data = malloc(len + FORMAT_PADDING);
    memcpy(data, text, len);
    memset(data + len, 0, FORMAT_PADDING);
    struct format_block block = {.data = data, .len = len};
    struct format_parser *parser = tide__csv_parser_new(reader);
    struct strbuf out = {0};
    tide__strbuf_append_c(&out, "");
    size_t skipped = 0;
    struct format_rows rows = {0};
    while (block.at < block.len && !rows.fault.is_set) {
        struct column *in = ARENA_ARRAY(&arena, struct column, table->column_count);
        for (uint32_t i = 0; i < table->column_count; i++) {
            in[i] = (struct column){.type = reads[i].type, .physical = tide__type_physical(reads[i].type)};
        }
        rows = (struct format_rows){.columns = in};
        tide__csv_parse(parser, &block, rows_max, &arena, &rows);
        struct batch batch = {.rows = rows.rows, .column_count = table->column_count, .columns = in};
        print_rows(&batch, &out);
        skipped += rows.skip_count;
    }
    if (skipped > 0) tide__strbuf_printf(&out, "skipped %zu\n", skipped);
    if (rows.fault.is_set) tide__strbuf_printf(&out, "! %zu: %s\n", rows.fault.place, rows.fault.message);
    tide__csv_parser_free(parser);
    tide__csv_format.reader_close(reader);
    tide__arena_deinit(&arena);
    free(data);
    return out.data;
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL, NULL})
#define IGNORE       "csv.ignore-parse-errors", "true"

static void check(const char *columns, const char *const *options, const char *text, const char *expected) {
    static const size_t batch_rows[] = {2048, 1, 3};
    for (size_t i = 0; i < 3; i++) {
        char *actual = parse(columns, options, text, batch_rows[i]);
        ck_assert_str_eq(actual, expected);
        tide__free(actual);
    }
}

START_TEST(integers_are_read_as_java_does) {
    check("i INT; a INT; b BIGINT", OPTIONS(IGNORE),
          "1,+5,+5\n2,-5,-5\n3,5.0,5.0\n4,1e3,1e3\n5,007,007\n6,2147483648,2147483648\n7,0x10,0x10\n8,\"12\",\"12\"\n"
          "9,1_000,1_000\n10,1L,1L\n11, 12 ,\t13\n12,-2147483648,-9223372036854775808\n13,1,9223372036854775807\n"
          "14,1,9223372036854775808\n15,,\n16,-,+\n",
          "1|5|5\n2|-5|-5\n3|<NULL>|<NULL>\n4|<NULL>|<NULL>\n5|7|7\n6|<NULL>|2147483648\n7|<NULL>|<NULL>\n8|12|12\n"
          "9|<NULL>|<NULL>\n10|<NULL>|<NULL>\n11|12|13\n12|-2147483648|-9223372036854775808\n13|1|9223372036854775807\n"
          "14|1|<NULL>\n15|<NULL>|<NULL>\n16|<NULL>|<NULL>\n");
    check("a TINYINT; b SMALLINT", OPTIONS(IGNORE), "127,32767\n128,32768\n-128,-32768\n-129,-32769\n",
          "127|32767\n<NULL>|<NULL>\n-128|-32768\n<NULL>|<NULL>\n");
}
END_TEST

START_TEST(floats_and_decimals_are_read_as_java_does) {
    check("i INT; a DOUBLE; b FLOAT; c DECIMAL(6,2)", OPTIONS(IGNORE),
          "1,1.5,1.5,1.5\n2,.5,.5,.5\n3,5.,5.,5.\n4,1e3,1e3,1e3\n5,NaN,NaN,NaN\n6,Infinity,-Infinity,1\n7,1d,1f,1d\n"
          "8,\"1,5\",\"1,5\",1\n9,1,1,1.005\n10,1,1,12345\n11,1,1,9999.995\n12,0x1p3,1,1\n13,-0,-0,-0\n",
          "1|1.5|1.5|1.50\n2|0.5|0.5|0.50\n3|5.0|5.0|5.00\n4|1000.0|1000.0|1000.00\n5|NaN|NaN|<NULL>\n"
          "6|Infinity|-Infinity|1.00\n7|1.0|1.0|<NULL>\n8|<NULL>|<NULL>|1.00\n9|1.0|1.0|1.01\n10|1.0|1.0|<NULL>\n"
          "11|1.0|1.0|<NULL>\n12|8.0|1.0|1.00\n13|-0.0|-0.0|0.00\n");
    check("a DECIMAL(10,2); b DECIMAL(30,5); c DECIMAL(4,0)", OPTIONS(IGNORE),
          "1234.56,1234567890123456789012345.678905,12\n-0.5,-0.000005,-9999\n12345678.99,1,10000\n123456789.00,1,1.5\n"
          "1234.5,1.,-1.4\n.50,.1,0\n-,--1,1.2.3\n1234.567,1,1\n99999999.99,1,1\n99999999.999,1,1\n1234.5x,x,x\n",
          "1234.56|1234567890123456789012345.67891|12\n-0.50|-0.00001|-9999\n12345678.99|1.00000|<NULL>\n"
          "<NULL>|1.00000|2\n1234.50|1.00000|-1\n0.50|0.10000|0\n<NULL>|<NULL>|<NULL>\n1234.57|1.00000|1\n"
          "99999999.99|1.00000|1\n<NULL>|1.00000|1\n<NULL>|<NULL>|<NULL>\n");
}
END_TEST

START_TEST(decimal_overflow_is_null_without_any_option) {
    check("a DECIMAL(6,2)", OPTIONS(), "12345\n1.5\n", "<NULL>\n1.50\n");
}
END_TEST

START_TEST(a_skipped_row_leaves_no_null_to_the_next_one) {
    check("i INT; d DECIMAL(4,2)", OPTIONS(IGNORE), "1,12345,x\n2,5\n3,123,y\n4,6\n", "2|5.00\n4|6.00\nskipped 2\n");
}
END_TEST

START_TEST(timestamps_are_read_in_the_sql_form_only) {
    check(
        "i INT; a TIMESTAMP(3)", OPTIONS(IGNORE),
        "1,2020-02-29 12:34:56\n2,2020-02-29 12:34:56.7\n3,2020-02-29 12:34:56.789\n4,2020-02-29 12:34:56.789123\n"
        "5,2020-02-29 12:34:56.789999999\n6,2020-02-29T12:34:56\n7,2020-02-29 12:34\n8,2020-02-29\n9,2020-2-29 1:2:3\n"
        "10,2020-02-29 12:34:56Z\n11,1582979696000\n12,2020-02-30 00:00:00\n13,2020-02-29 24:00:00\n"
        "14, 2020-02-29 12:34:56 \n15,\"2020-02-29 12:34:56\"\n16,2020-02-29 12:34:56+01:00\n17,2020-02-29  12:34:56\n"
        "18,1969-12-31 23:59:59.999\n19,2020-02-29 24:00:00.001\n20,2020-02-29 12:60:00\n21,2020-13-01 00:00:00\n"
        "22,2020-02-29 12:34:56.7x9\n23,2020-02-32 12:34:56.789\n",
        "1|2020-02-29 12:34:56.000\n2|2020-02-29 12:34:56.700\n3|2020-02-29 12:34:56.789\n4|2020-02-29 12:34:56.789\n"
        "5|2020-02-29 12:34:56.789\n6|<NULL>\n7|<NULL>\n8|<NULL>\n9|<NULL>\n10|<NULL>\n11|<NULL>\n"
        "12|2020-02-29 00:00:00.000\n13|2020-03-01 00:00:00.000\n14|2020-02-29 12:34:56.000\n"
        "15|2020-02-29 12:34:56.000\n16|<NULL>\n17|<NULL>\n18|1969-12-31 "
        "23:59:59.999\n19|<NULL>\n20|<NULL>\n21|<NULL>\n"
        "22|<NULL>\n23|<NULL>\n");
    check("a TIMESTAMP(0); b TIMESTAMP(6); c TIMESTAMP(9)", OPTIONS(),
          "2020-02-29 12:34:56.999,2020-02-29 12:34:56.123456,2020-02-29 12:34:56.123456789\n"
          "2020-02-29 12:34:56,2020-02-29 12:34:56,2020-02-29 12:34:56.1\n",
          "2020-02-29 12:34:56|2020-02-29 12:34:56.123456|2020-02-29 12:34:56.123456789\n"
          "2020-02-29 12:34:56|2020-02-29 12:34:56.000000|2020-02-29 12:34:56.100000000\n");
    check("i INT; a LTZ(3)", OPTIONS(IGNORE),
          "1,2020-02-29 12:34:56Z\n2,2020-02-29 12:34:56.789Z\n3,2020-02-29 12:34:56\n4,2020-02-29T12:34:56Z\n"
          "5,2020-02-29 12:34:56+01:00\n6,2020-02-29 12:34:56 Z\n",
          "1|2020-02-29 12:34:56.000\n2|2020-02-29 12:34:56.789\n3|<NULL>\n4|<NULL>\n5|<NULL>\n6|<NULL>\n");
}
END_TEST

START_TEST(dates_and_times_have_their_own_rules) {
    check(
        "i INT; a DATE; b TIME", OPTIONS(IGNORE),
        "1,2020-02-29,12:34:56\n2,2020-2-9,1:2:3\n3,2020-02-30,25:00:00\n4,20200229,12:34\n5,2020/02/29,12:34:56.789\n"
        "6,29.02.2020,123456\n7,2020-02-29 10:00:00,12:34:56Z\n8,0001-01-01,00:00:00\n9,9999-12-31,23:59:59\n"
        "10,2020-02-29T00:00:00,T12:34\n",
        "1|2020-02-29|12:34:56\n2|2020-02-09|<NULL>\n3|2020-03-01|<NULL>\n4|<NULL>|12:34:00\n5|<NULL>|12:34:56\n"
        "6|<NULL>|<NULL>\n7|<NULL>|<NULL>\n8|0001-01-01|00:00:00\n9|9999-12-31|23:59:59\n10|<NULL>|<NULL>\n");
}
END_TEST

START_TEST(booleans_are_true_or_false_and_bytes_are_base64) {
    check("a BOOLEAN; b BYTES", OPTIONS(), "true,QUJD\n TRUE ,\nyes,QQ==\n,QUI=\n",
          "TRUE|x'414243'\nTRUE|x''\nFALSE|x'41'\nFALSE|x'4142'\n");
}
END_TEST

START_TEST(quotes_are_jacksons) {
    check("a STRING; b STRING; c STRING", OPTIONS(),
          "\"a\",\"b,c\",\"d\"\"e\"\n\"\",x\"y,z\n \"lead\",q ,\"trail\" \n1,\"line one\nline "
          "two\",x\n2,y,z\r\n\"p\",\"\"\"\","
          "\"\"\r\nq,\xC3\xA9,\xE6\x97\xA5\nlast,,",
          "a|b,c|d\"e\n|x\"y|z\n \"lead\"|q |trail\n1|line one\nline "
          "two|x\n2|y|z\np|\"|\nq|\xC3\xA9|\xE6\x97\xA5\nlast||\n");
    check("a STRING; b STRING; c STRING", OPTIONS("csv.disable-quote-character", "true"), "\"a\",b\"c,\"\n",
          "\"a\"|b\"c|\"\n");
    check("a STRING; b STRING; c STRING", OPTIONS("csv.quote-character", "'"), "'a,b',\"c,'it''s'\n", "a,b|\"c|it's\n");
    check("a STRING; b STRING; c STRING", OPTIONS("csv.escape-character", "\\"),
          "a\\,b,\"c\\\"d\",e\\\\f\nx\\ny,\\t,\"\\0\"\n", "a,b|c\"d|e\\f\nx\ny|\t|");
    check("a STRING; b STRING; c STRING", OPTIONS("csv.field-delimiter", "\\t"), "1\tx y\tz\n2\t\"a\tb\"\t\n",
          "1|x y|z\n2|a\tb|\n");
    check("a STRING; b STRING; c STRING", OPTIONS("csv.field-delimiter", ";"), "1;x,y;\"p;q\"\n;;\n",
          "1|x,y|p;q\n||\n");
}
END_TEST

START_TEST(a_lone_carriage_return_ends_a_row) {
    check("a STRING; b INT", OPTIONS(), "x,1\ry,2\rz,3", "x|1\ny|2\nz|3\n");
}
END_TEST

START_TEST(the_null_literal_matches_quoted_text_too) {
    check("a STRING; b INT; c DOUBLE", OPTIONS("csv.null-literal", "n/a"),
          "n/a,1,2.5\nx,n/a,n/a\n\"n/a\",3,4\nN/A,5,6\n", "<NULL>|1|2.5\nx|<NULL>|<NULL>\n<NULL>|3|4.0\nN/A|5|6.0\n");
    check("a STRING; b INT", OPTIONS("csv.null-literal", ""), ",1\n\"\",2\nx,\n", "<NULL>|1\n<NULL>|2\nx|<NULL>\n");
    check("a INT; b INT", OPTIONS("csv.null-literal", "0"), "0,1\n1,0\n", "<NULL>|1\n1|<NULL>\n");
}
END_TEST

START_TEST(arrays_and_rows_are_cut_at_the_element_delimiter) {
    check("i INT; a ARRAY; r ROW", OPTIONS("csv.null-literal", "N"), "1,1;2;3,7;seven\n2,,8;\n3,N;4,N;x;y\n4,N,\n",
          "1|[1, 2, 3]|(7, seven)\n2|[]|(8, )\n3|[NULL, 4]|(NULL, x)\n4|[NULL]|<NULL>\n");
    check("i INT; a ARRAY; r ROW", OPTIONS("csv.array-element-delimiter", "|"), "1,1|2,7|seven\n2,x,8|x\n",
          "1|[1, 2]|(7, seven)\n! 16: \"x\" is no ARRAY<INT> in column \"a\" (field 2)\n");
    check("r ROW", OPTIONS(IGNORE), "1\nx;y\n", "(1, NULL)\n(NULL, y)\n");
}
END_TEST

START_TEST(comments_and_blank_lines_go_only_where_they_are_allowed) {
    check("a STRING; b INT", OPTIONS("csv.allow-comments", "true"), "# head,1\nx,1\n#y,2\n z,3\n\n  \nw#,4\n# end",
          "x|1\nz|3\nw#|4\n");
    check("a STRING; b STRING", OPTIONS(), "#x,1\ny,2\n", "#x|1\ny|2\n");
    check("a STRING; b STRING", OPTIONS(IGNORE), "\nx,1\n\n   \ny,2\n\n",
          "|<NULL>\nx|1\n|<NULL>\n   |<NULL>\ny|2\n|<NULL>\n");
    check("a STRING; b STRING", OPTIONS(), "\nx,1\n",
          "! 0: the line is empty, but a row of table \"t\" has 2 fields\n");
}
END_TEST

START_TEST(bad_rows_stop_with_their_place_or_are_skipped) {
    check("a STRING; b INT", OPTIONS(), "x,1\ny,abc\nz,3\n", "x|1\n! 6: \"abc\" is no INT in column \"b\" (field 2)\n");
    check("a STRING; b INT", OPTIONS(), "x,1\ny,\n", "x|1\n! 6: \"\" is no INT in column \"b\" (field 2)\n");
    check("a STRING; b STRING; c STRING", OPTIONS(), "1,2,3\n4,5\n",
          "1|2|3\n! 9: the row has 2 fields, table \"t\" has 3\n");
    check("a STRING; b STRING; c STRING", OPTIONS(), "1,2,3\n4,5,6,7\n",
          "1|2|3\n! 12: the row has 4 fields, table \"t\" only 3: \"7\" is too much\n");
    check("a STRING; b STRING; c STRING", OPTIONS(), "1,2,3,\n4,5,6, \n", "1|2|3\n4|5|6\n");
    check("a STRING; b INT", OPTIONS(), "1,1\n\"2,2\n3,3\n",
          "1|1\n! 4: a quoted field begins here and is never closed\n");
    check("a STRING; b INT", OPTIONS(), "\"a\"b,1\n",
          "! 3: \"b\" stands behind a closing quote; expected \",\" or the end of the line\n");
    check("a STRING; b INT", OPTIONS(),
          "a\xFF"
          "b,1\n",
          "! 1: byte 0xff is not UTF-8\n");
    check("a STRING; b INT; d DATE", OPTIONS(IGNORE),
          "x,1,2020-01-01\ny,abc,2020-01-02\nz,3,bad\nw,,\nonly\nv,5,2020-01-03,extra\n\"unclosed,6,2020-01-04\n",
          "x|1|2020-01-01\ny|<NULL>|2020-01-02\nz|3|<NULL>\nw|<NULL>|<NULL>\nonly|<NULL>|<NULL>\nskipped 2\n");
}
END_TEST

START_TEST(options_are_checked) {
    check("a STRING; b STRING", OPTIONS("csv.field-delimiter", "||"), "1||x\n",
          "option 'csv.field-delimiter' must be a single character, not '||'");
    check("a STRING; b STRING", OPTIONS("csv.field-delimiter", "\\u0001"), "1\001x\n", "1|x\n");
    check("a STRING; b STRING", OPTIONS("csv.quote-character", "'", "csv.disable-quote-character", "true"), "1,x\n",
          "'csv.quote-character' and 'csv.disable-quote-character' exclude each other");
    check("a STRING; b STRING", OPTIONS("csv.allow-comments", "yes"), "1,x\n",
          "option 'csv.allow-comments' must be 'true' or 'false', not 'yes'");
    check("a STRING; b STRING", OPTIONS("csv.field-delimiter", "\""), "1,x\n",
          "the field delimiter must differ from the quote and the escape character");
}
END_TEST

// Random rows of plain, odd and broken fields, read as they are and with a harmless escape character that makes every row
// go through the slow parser.
START_TEST(the_fast_and_the_slow_parser_agree) {
    static const char *const pieces[] = {"1",
                                         "-17",
                                         "123456789",
                                         "12345678901234567",
                                         "2024-01-01 00:00:00",
                                         "x",
                                         "2024-01-01 00:00:00.123",
                                         "2024-01-01 23:59:59.9",
                                         "12.34",
                                         "0.5",
                                         "-1234.567",
                                         "",
                                         " 7 ",
                                         "\"q\"",
                                         "\"a\nb\"",
                                         "\"c,d\"",
                                         "\xC3\xA9",
                                         "true",
                                         "channel-7",
                                         "1e3"};
    srandom(7);
    for (int round = 0; round < 3000; round++) {
        struct strbuf text = {0};
        int rows = 1 + (int)(random() % 6);
        for (int r = 0; r < rows; r++) {
            int fields = random() % 8 ? 4 : 3 + (int)(random() % 3);
            for (int f = 0; f < fields; f++) {
                if (f > 0) tide__strbuf_append_char(&text, ',');
                tide__strbuf_append_c(&text, pieces[random() % (sizeof(pieces) / sizeof(*pieces))]);
            }
            if (r + 1 < rows || random() % 2) tide__strbuf_append_c(&text, random() % 4 ? "\n" : "\r\n");
        }
        const char *columns = random() % 2 ? "a TIMESTAMP(3); b BIGINT; c DECIMAL(10,2); d STRING"
                                           : "a STRING; b TIMESTAMP(9); c DOUBLE; d INT";
        char *fast = parse(columns, OPTIONS(IGNORE), text.data, 2048);
        char *slow = parse(columns, OPTIONS(IGNORE, "csv.escape-character", "~"), text.data, 2048);
        ck_assert_str_eq(fast, slow);
        tide__free(fast);
        tide__free(slow);
        tide__strbuf_deinit(&text);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("csv_read");
    TCase *tests = tcase_create("csv_read");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, integers_are_read_as_java_does);
    tcase_add_test(tests, floats_and_decimals_are_read_as_java_does);
    tcase_add_test(tests, decimal_overflow_is_null_without_any_option);
    tcase_add_test(tests, a_skipped_row_leaves_no_null_to_the_next_one);
    tcase_add_test(tests, timestamps_are_read_in_the_sql_form_only);
    tcase_add_test(tests, dates_and_times_have_their_own_rules);
    tcase_add_test(tests, booleans_are_true_or_false_and_bytes_are_base64);
    tcase_add_test(tests, quotes_are_jacksons);
    tcase_add_test(tests, a_lone_carriage_return_ends_a_row);
    tcase_add_test(tests, the_null_literal_matches_quoted_text_too);
    tcase_add_test(tests, arrays_and_rows_are_cut_at_the_element_delimiter);
    tcase_add_test(tests, comments_and_blank_lines_go_only_where_they_are_allowed);
    tcase_add_test(tests, bad_rows_stop_with_their_place_or_are_skipped);
    tcase_add_test(tests, options_are_checked);
    tcase_add_test(tests, the_fast_and_the_slow_parser_agree);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
