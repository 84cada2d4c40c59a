// Reading JSON: tokens and their texts, values of every kind, what is wrong and where.
#include "base/alloc.h"
#include "engine/expr/eval.h"
#include "engine/formats/json.h"
#include "table_builder.h"

#include <check.h>
#include <string.h>

// --- the pull parser ----------------------------------------------------------------------------------------------

static void tokens(const char *text, struct strbuf *out) {
    static const char *const names[] = {"end",    "{",   "}",     "[",    "]",     "name",
                                        "string", "int", "float", "true", "false", "null"};
    struct arena arena;
    tide__arena_init(&arena);
    struct json_scan scan;
    tide__json_scan_init(&scan, tide__str(text));
    do {
        tide__json_next(&scan);
        if (scan.token == JSON_BROKEN) break;
        tide__strbuf_append_c(out, names[scan.token]);
        bool has_text = scan.token >= JSON_NAME && scan.token <= JSON_FLOAT;
        if (has_text) tide__strbuf_printf(out, "=%.*s", STR_ARG(tide__json_text(&scan, &arena)));
        tide__strbuf_append_char(out, ' ');
    } while (scan.token != JSON_NONE);
    if (scan.token == JSON_BROKEN) tide__strbuf_printf(out, "broken at %zu: %s", scan.fault_place, scan.fault);
    tide__arena_deinit(&arena);
}

static void expect_tokens(const char *text, const char *wanted) {
    struct strbuf out = {0};
    tokens(text, &out);
    ck_assert_str_eq(out.data, wanted);
    tide__strbuf_deinit(&out);
}

START_TEST(tokens_are_jacksons) {
    expect_tokens("{\"a\" : [1, -2.5e3 ,true,null], \"b\":{}}",
                  "{ name=a [ int=1 float=-2.5e3 true null ] name=b { } } end ");
    expect_tokens("\"a\\u00e9\\n\\\"\\\\\\/\\ud83d\\ude00\"", "string=a\xC3\xA9\n\"\\/\xF0\x9F\x98\x80 end ");
    expect_tokens("\"\\ud83d\" \"\\ude00x\"", "string=? string=?x end ");
    expect_tokens("\"tab\there\"", "string=tab\there end ");
    expect_tokens("0 -0 10 0.5 1E+3", "int=0 int=-0 int=10 float=0.5 float=1E+3 end ");
    expect_tokens("", "end ");
}
END_TEST

START_TEST(broken_text_says_where) {
    expect_tokens("{\"a\":1,}",
                  "{ name=a int=1 broken at 7: \"}\" is unexpected in JSON here, expected a name in double quotes");
    expect_tokens(
        "[1,]", "[ int=1 broken at 3: \"]\" is unexpected in JSON here, expected a string in double quotes, a number, "
                "an object, an array, true, false or null");
    expect_tokens("[01]", "[ broken at 1: a JSON number may not begin with 0");
    expect_tokens("[1.]", "[ broken at 3: \"]\" is unexpected in JSON here, expected a digit");
    expect_tokens("[1e]", "[ broken at 3: \"]\" is unexpected in JSON here, expected a digit");
    expect_tokens("{\"a\" 1}", "{ name=a broken at 5: \"1\" is unexpected in JSON here, expected a colon");
    expect_tokens("{\"a\":1", "{ name=a int=1 broken at 6: the JSON text ends inside an object, expected a comma or }");
    expect_tokens("[\"abc", "[ broken at 1: a string begins here and is never closed");
    expect_tokens("[\"a\\q\"]", "[ broken at 3: an escape JSON does not have; a backslash is written \\\\");
    expect_tokens("[\"\\u12g4\"]", "[ broken at 2: \\u needs four hexadecimal digits");
    expect_tokens("[\"\xC3(\"]", "[ broken at 2: byte 0xc3 is not UTF-8");
    expect_tokens("truex",
                  "broken at 0: \"truex\" is unexpected in JSON here, expected a string in double quotes, a number, an "
                  "object, an array, true, false or null");
    expect_tokens("[}",
                  "[ broken at 1: \"}\" is unexpected in JSON here, expected a string in double quotes, a number, an "
                  "object, an array, true, false or null");
}
END_TEST

START_TEST(depth_is_limited) {
    char text[JSON_DEPTH_MAX + 2];
    memset(text, '[', sizeof(text));
    text[JSON_DEPTH_MAX + 1] = '\0';
    struct strbuf out = {0};
    tokens(text, &out);
    ck_assert_ptr_nonnull(strstr(out.data, "broken at 1000: JSON is nested more than 1000 deep here"));
    tide__strbuf_deinit(&out);
}
END_TEST

static void expect_printed(const char *text, bool decimals, const char *wanted) {
    struct arena arena;
    tide__arena_init(&arena);
    struct json_scan scan;
    struct strbuf out = {0};
    tide__json_scan_init(&scan, tide__str(text));
    tide__json_next(&scan);
    ck_assert(tide__json_print_value(&scan, decimals, &arena, &out));
    ck_assert_str_eq(out.data, wanted);
    tide__strbuf_deinit(&out);
    tide__arena_deinit(&arena);
}

START_TEST(trees_print_as_jacksons) {
    expect_printed("{ \"a\" : [1, 2.50, \"x\"] }", false, "{\"a\":[1,2.5,\"x\"]}");
    expect_printed("[1.0, 1e10, -0, 1e400, 123456789012345678901234567890]", false,
                   "[1.0,1.0E10,0,\"Infinity\",123456789012345678901234567890]");
    expect_printed("[1.0, 100.0, 0.000001234500, 0.0, -1.50e-10]", true, "[1,1E+2,0.0000012345,0,-1.5E-10]");
    expect_printed("{\"b\":1,\"a\":2,\"b\":{\"c\":3}}", false, "{\"b\":{\"c\":3},\"a\":2}");
    expect_printed("\"\\u0001\\t\\u007f\\u00e9/\"", false, "\"\\u0001\\t\x7F\xC3\xA9/\"");
    expect_printed("{}", false, "{}");
}
END_TEST

// --- rows -----------------------------------------------------------------------------------------------------------

// Rows of `text` as print_rows shows them; then, if there is one, `!offset message`. `skipped`: rows that were left out.
static void read_rows(const char *columns, const char *const *options, const char *text, struct strbuf *out,
                      size_t *skipped) {
    struct arena arena;
    tide__arena_init(&arena);
    struct table *table = build_table(&arena, columns, options);
    struct format_read *reads = ARENA_ARRAY(&arena, struct format_read, table->column_count);
    struct column *columns_out = ARENA_ARRAY(&arena, struct column, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        reads[i] = (struct format_read){i, table->columns[i].name, table->columns[i].type};
        columns_out[i] = (struct column){.type = reads[i].type, .physical = tide__type_physical(reads[i].type)};
    }
    struct format_env env = {table, table->column_count, table->column_count, reads};
    struct format_reader *reader = NULL;
    ck_assert_int_eq(tide__json_format.reader_open(&env, &reader, NULL), TIDE_OK);
    struct format_parser *parser = tide__json_format.parser_new(reader);
    struct format_block block = {.data = text, .len = strlen(text)};
    struct format_rows rows = {.columns = columns_out};
    tide__json_format.parse(parser, &block, 100, &arena, &rows);
    struct batch batch = {.rows = rows.rows, .column_count = table->column_count, .columns = columns_out};
    print_rows(&batch, out);
    if (rows.fault.is_set) tide__strbuf_printf(out, "!%zu %s", rows.fault.place, rows.fault.message);
    if (skipped != NULL) *skipped = rows.skip_count;
    tide__json_format.parser_free(parser);
    tide__json_format.reader_close(reader);
    tide__arena_deinit(&arena);
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL, NULL})
#define IGNORE       OPTIONS("json.ignore-parse-errors", "true")

static void expect_rows(const char *columns, const char *const *options, const char *text, const char *wanted) {
    struct strbuf out = {0};
    read_rows(columns, options, text, &out, NULL);
    ck_assert_str_eq(out.data != NULL ? out.data : "", wanted);
    tide__strbuf_deinit(&out);
}

START_TEST(values_convert_as_in_flink) {
    expect_rows("a INT; b BIGINT", OPTIONS(), "{\"a\":2.9,\"b\":9223372036854775807}\n", "2|9223372036854775807\n");
    expect_rows("a INT; b BIGINT", OPTIONS(), "{\"a\":\" 7 \",\"b\":1e3}", "7|1000\n");
    expect_rows("a INT", OPTIONS(), "{\"a\":2147483648}", "!5 2147483648 is no INT in column \"a\"");
    expect_rows("a INT", OPTIONS(), "{\"a\":\"2.9\"}", "!6 \"2.9\" is no INT in column \"a\"");
    expect_rows("a BOOLEAN; b STRING", OPTIONS(), "{\"a\":\"TRUE\",\"b\":true}\n{\"a\":1,\"b\":1.50}",
                "TRUE|true\nFALSE|1.50\n");
    expect_rows("a DOUBLE", OPTIONS(), "{\"a\":\"NaN\"}\n{\"a\":1}\n{\"a\":1e400}", "NaN\n1.0\nInfinity\n");
    expect_rows("a DECIMAL(6,2)", OPTIONS(), "{\"a\":2.345}\n{\"a\":\"7.5\"}\n{\"a\":99999}", "2.35\n7.50\n<NULL>\n");
    expect_rows("a DATE", OPTIONS(), "{\"a\":\"2020-02-29\"}\n{\"a\":\"2020-02-30\"}",
                "2020-02-29\n!25 \"2020-02-30\" is no DATE in column \"a\"");
    expect_rows("a TIMESTAMP(3)", OPTIONS(), "{\"a\":\"2020-02-30 24:00:00\"}", "2020-03-01 00:00:00.000\n");
    expect_rows("a TIMESTAMP(3)", OPTIONS("json.timestamp-format.standard", "ISO-8601"),
                "{\"a\":\"2020-02-29T01:02\"}\n{\"a\":\"2020-02-30T01:02\"}",
                "2020-02-29 01:02:00.000\n!31 \"2020-02-30T01:02\" is no TIMESTAMP(3) in column \"a\"");
}
END_TEST

START_TEST(members_are_counted_as_in_flink) {
    expect_rows("a INT; b INT", OPTIONS(), "{\"b\":1,\"x\":{\"a\":5},\"a\":2}\n{\"a\":null}\n{}",
                "2|1\n<NULL>|<NULL>\n<NULL>|<NULL>\n");
    // The first of equal names counts, and takes a turn.
    expect_rows("a INT", OPTIONS(), "{\"a\":1,\"a\":2}", "1\n");
    expect_rows("a INT; b INT", OPTIONS(), "{\"a\":1,\"a\":2,\"b\":3}", "2|<NULL>\n");
    // What stands behind the object is not looked at.
    expect_rows("a INT", OPTIONS(), "{\"a\":1} x\n", "1\n");
    expect_rows("a INT; b INT", OPTIONS("json.fail-on-missing-field", "true"), "{\"a\":1}",
                "!6 field \"b\" is missing");
    // Out of step: reading goes on inside what could not be used.
    expect_rows("a INT; b INT", IGNORE, "{\"a\":{\"b\":7},\"b\":8}", "<NULL>|7\n");
}
END_TEST

START_TEST(lines_end_at_lf) {
    expect_rows("a INT", OPTIONS(), "{\"a\":1}\r\n\r\n\n{\"a\":2}", "1\n2\n");
    expect_rows("a INT", OPTIONS(), "{\"a\":1}\n \n", "1\n!8 the line is blank, expected a JSON object");
    expect_rows("a INT", OPTIONS(), "[1]", "!0 a row must be a JSON object");
    expect_rows("a INT", OPTIONS(), "\xEF\xBB\xBF{\"a\":1}", "1\n");
    struct strbuf out = {0};
    size_t skipped = 0;
    read_rows("a INT", IGNORE, "{\"a\":1\n[2]\n\n\"x\"\n{\"a\":\"y\"}\n{\"a\":3}\n", &out, &skipped);
    ck_assert_str_eq(out.data, "<NULL>\n3\n");
    ck_assert_uint_eq(skipped, 3);
    tide__strbuf_deinit(&out);
}
END_TEST

START_TEST(options_exclude_each_other) {
    struct arena arena;
    tide__arena_init(&arena);
    struct table *table = build_table(
        &arena, "a INT", OPTIONS("json.ignore-parse-errors", "true", "json.fail-on-missing-field", "true"));
    struct json_options options;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__json_options(table, FORMAT_READ, &options, &err), TIDE_ERR_VALIDATE);
    ck_assert_uint_eq(err.line, 3);
    table = build_table(&arena, "a INT", OPTIONS("json.timestamp-format.standard", "iso"));
    tide__error_clear(&err);
    ck_assert_int_eq(tide__json_options(table, FORMAT_WRITE, &options, &err), TIDE_ERR_VALIDATE);
    ck_assert_str_eq(err.hint, "use 'SQL' or 'ISO-8601'");
    table = build_table(&arena, "a INT", OPTIONS("json.map-null-key.mode", "drop"));
    tide__error_clear(&err);
    ck_assert_int_eq(tide__json_options(table, FORMAT_WRITE, &options, &err), TIDE_OK);
    ck_assert_int_eq(options.null_key, JSON_NULL_KEY_DROP);
    tide__arena_deinit(&arena);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("json_read");
    TCase *tests = tcase_create("json_read");
    tcase_add_test(tests, tokens_are_jacksons);
    tcase_add_test(tests, broken_text_says_where);
    tcase_add_test(tests, depth_is_limited);
    tcase_add_test(tests, trees_print_as_jacksons);
    tcase_add_test(tests, values_convert_as_in_flink);
    tcase_add_test(tests, members_are_counted_as_in_flink);
    tcase_add_test(tests, lines_end_at_lf);
    tcase_add_test(tests, options_exclude_each_other);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
