// What is said about a table's options, and where.
#include "base/alloc.h"
#include "engine/connectors/connector.h"
#include "table_builder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

// line: 0 the table's place, n > 0: the nth option; `on_value`: its value.
static void expect(const char *columns, const char *const *options, enum table_use use, tide_status status,
                   const char *message, const char *hint, uint32_t option, int on_value) {
    struct arena arena;
    tide__arena_init(&arena);
    struct table *table = build_table(&arena, columns, options);
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__connector_validate(table, use, NULL, &err), status);
    if (status != TIDE_OK) {
        ck_assert_str_eq(err.message, message);
        ck_assert_str_eq(err.hint, hint);
        ck_assert_uint_eq(err.line, option + 1);
        ck_assert_uint_eq(err.column, option == 0 ? table->pos.column : on_value ? 30 : 3);
    }
    tide__arena_deinit(&arena);
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL, NULL})
#define INPUT        "connector", "filesystem", "path", "-", "format", "csv"
#define FILES        "connector", "filesystem", "path", "x", "format", "csv"

START_TEST(complete_options_pass) {
    expect("a INT", OPTIONS(FILES), TABLE_AS_SOURCE, TIDE_OK, "", "", 0, 0);
    expect("a INT", OPTIONS(FILES, "sink.rolling-policy.file-size", "1MB"), TABLE_AS_SINK, TIDE_OK, "", "", 0, 0);
    // Flink does not mind it either.
    expect("a INT", OPTIONS(FILES, "csv.bogus", "x"), TABLE_AS_SOURCE, TIDE_OK, "", "", 0, 0);
    expect("a INT", OPTIONS("connector", "print", "print-identifier", "p"), TABLE_AS_SINK, TIDE_OK, "", "", 0, 0);
    expect("a MAP", OPTIONS("connector", "blackhole"), TABLE_AS_SINK, TIDE_OK, "", "", 0, 0);
}
END_TEST

START_TEST(missing_options_are_named) {
    expect("a INT", OPTIONS("format", "csv"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "table \"t\" has no 'connector' option", "add 'connector' = 'filesystem' to its WITH (...)", 0, 0);
    expect("a INT", OPTIONS("connector", "filesystem", "format", "csv"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "table \"t\" has no 'path' option", "add 'path' = 'FILE OR FOLDER' to its WITH (...)", 0, 0);
    expect("a INT", OPTIONS("connector", "filesystem", "path", "x"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "table \"t\" has no 'format' option", "add 'format' = 'csv' to its WITH (...)", 0, 0);
}
END_TEST

START_TEST(slips_are_told_with_the_nearest_name) {
    expect("a INT", OPTIONS("connector", "filesytem"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "unknown connector 'filesytem'", "did you mean 'filesystem'?", 1, 1);
    expect("a INT", OPTIONS("connector", "filesystem", "path", "x", "format", "cvs"), TABLE_AS_SOURCE,
           TIDE_ERR_VALIDATE, "unknown format 'cvs'", "did you mean 'csv'?", 3, 1);
    expect("a INT", OPTIONS(FILES, "source.monitor-intervall", "1 s"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "unknown option 'source.monitor-intervall'", "did you mean 'source.monitor-interval'?", 4, 0);
    expect("a INT", OPTIONS("conector", "filesystem", "path", "x", "format", "csv"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "unknown option 'conector'", "did you mean 'connector'?", 1, 0);
    expect("a INT", OPTIONS("connector", "filesystem", "pth", "x", "format", "csv"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "unknown option 'pth'", "did you mean 'path'?", 2, 0);
    expect("a INT", OPTIONS("connector", "filesystem", "path", "x", "fromat", "csv"), TABLE_AS_SINK, TIDE_ERR_VALIDATE,
           "unknown option 'fromat'", "did you mean 'format'?", 3, 0);
    expect("a INT", OPTIONS("connector", "print", "print-identifer", "p"), TABLE_AS_SINK, TIDE_ERR_VALIDATE,
           "unknown option 'print-identifer'", "did you mean 'print-identifier'?", 2, 0);
}
END_TEST

static void note_warning(void *ctx, struct source_pos pos, const char *message, const char *hint) {
    tide__strbuf_printf(ctx, "%u:%u %s | %s\n", pos.line, pos.column, message, hint != NULL ? hint : "");
}

START_TEST(unknown_options_that_flink_may_take_are_warned_of) {
    struct arena arena;
    tide__arena_init(&arena);
    struct strbuf said = {0};
    struct connector_warnings warnings = {note_warning, &said};
    struct table *table = build_table(&arena, "a INT",
                                      OPTIONS(FILES, "csv.ignore-parse-error", "true", "foo", "bar",
                                              "csv.allow-comments", "true", "csv.nonsense", "1"));
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__connector_validate(table, TABLE_AS_SOURCE, &warnings, &err), TIDE_OK);
    ck_assert_str_eq(
        said.data,
        "5:3 unknown option 'csv.ignore-parse-error' has no effect | did you mean 'csv.ignore-parse-errors'?\n"
        "6:3 unknown option 'foo' has no effect | \n8:3 unknown option 'csv.nonsense' has no effect | \n");
    tide__strbuf_deinit(&said);
    tide__arena_deinit(&arena);
}
END_TEST

START_TEST(what_is_not_supported_is_refused) {
    expect("a INT", OPTIONS("connector", "kafka"), TABLE_AS_SOURCE, TIDE_ERR_PLAN,
           "connector 'kafka' is not supported yet", "", 1, 1);
    expect("a INT", OPTIONS("connector", "filesystem", "path", "x", "format", "avro"), TABLE_AS_SOURCE, TIDE_ERR_PLAN,
           "format 'avro' is not supported yet", "", 3, 1);
    expect("a INT", OPTIONS(FILES, "source.monitor-interval", "0 s"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "option 'source.monitor-interval' must be a duration above 0, not '0 s'",
           "write it as '10 s', '500 ms' or '1 min'", 4, 1);
    expect("a INT", OPTIONS(INPUT, "source.monitor-interval", "1 s"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "standard input is no folder that can be watched",
           "remove 'source.monitor-interval': standard input is read as it comes", 4, 0);
    expect("a INT", OPTIONS(INPUT), TABLE_AS_SINK, TIDE_ERR_PLAN, "a table can't be written to '-'",
           "a SELECT prints its rows to standard output; 'connector' = 'print' does too", 2, 1);
    expect("a INT", OPTIONS("connector", "filesystem", "path", "s3://x/y", "format", "csv"), TABLE_AS_SOURCE,
           TIDE_ERR_PLAN, "only local files are supported, not 's3://x/y'", "use a path, or file:///...", 2, 1);
    expect("a INT", OPTIONS("connector", "print"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "connector 'print' can only be written to", "", 1, 1);
    expect("a INT", OPTIONS(FILES, "csv.allow-comments", "maybe"), TABLE_AS_SOURCE, TIDE_ERR_VALIDATE,
           "option 'csv.allow-comments' must be 'true' or 'false', not 'maybe'", "", 4, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connector_options");
    TCase *tests = tcase_create("connector_options");
    tcase_add_test(tests, complete_options_pass);
    tcase_add_test(tests, missing_options_are_named);
    tcase_add_test(tests, slips_are_told_with_the_nearest_name);
    tcase_add_test(tests, unknown_options_that_flink_may_take_are_warned_of);
    tcase_add_test(tests, what_is_not_supported_is_refused);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
