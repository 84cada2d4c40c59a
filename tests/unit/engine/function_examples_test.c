// Every scalar function's example, which the docs show, gives the result that the docs show. Run through the whole
// library, as a user would.
#include "engine/plan.h"
#include "tidemark.h"

#include <check.h>
#include <string.h>

struct answer {
    char text[512];
    size_t rows;
};

static bool take_row(void *ctx, const char *op, const tide_text *values, size_t count) {
    struct answer *answer = ctx;
    ck_assert_uint_eq(count, 1);
    size_t len = values[0].data == NULL ? 0 : values[0].len;
    ck_assert_uint_lt(len, sizeof answer->text);
    memcpy(answer->text, values[0].data == NULL ? "<NULL>" : values[0].data, values[0].data == NULL ? 7 : len);
    if (values[0].data != NULL) answer->text[len] = 0;
    answer->rows++;
    return true;
}

static void ignore_result(void *ctx, const tide_column *columns, size_t count, bool continued) {}

static void ignore_end(void *ctx) {}

static void ignore_message(void *ctx, enum tide_severity severity, const tide_error *message) {}

static void ignore_progress(void *ctx, const tide_progress *progress) {}

static int go_on(void *ctx) {
    return 0;
}

// These read a column.
static bool needs_a_table(const char *name) {
    return strcmp(name, "CURRENT_WATERMARK") == 0 || strcmp(name, "FIELD") == 0;
}

START_TEST(examples) {
    size_t count = 0;
    const char *const *names = tide__function_names(&count);
    for (size_t i = 0; i < count; i++) {
        const struct function *function = tide__function_find(tide__str(names[i]));
        if (needs_a_table(function->name)) continue;
        struct answer answer = {0};
        struct strbuf sql = {0};
        tide__strbuf_printf(&sql, "SELECT %s;", function->example);
        tide_options options;
        tide_options_init(&options);
        tide_handler handler = {&answer, ignore_result, take_row, ignore_end, ignore_message, ignore_progress, go_on};
        tide_summary summary;
        tide_error err;
        memset(&err, 0, sizeof err);
        tide_status status = tide_script_run("example", sql.data, sql.len, ".", &options, &handler, &summary, &err);
        ck_assert_msg(status == TIDE_OK, "%s: %s", sql.data, err.message);
        ck_assert_uint_eq(answer.rows, 1);
        ck_assert_msg(strcmp(answer.text, function->example_result) == 0, "%s gives %s, not %s", sql.data, answer.text,
                      function->example_result);
        tide__strbuf_deinit(&sql);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("function examples");
    TCase *tests = tcase_create("examples");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, examples);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
