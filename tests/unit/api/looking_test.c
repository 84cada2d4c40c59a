// Taking, checking, listing and summarising savepoints through the public header, on a job of twelve rows.
#include "tidemark.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

struct text {
    char data[1 << 16];
    size_t len;
};
static struct text output;

static void collect(void *ctx, const char *data, size_t len) {
    struct text *text = ctx;
    ck_assert_uint_lt(text->len + len, sizeof text->data);
    memcpy(text->data + text->len, data, len);
    text->len += len;
    text->data[text->len] = '\0';
}

static const char *in_dir(const char *name) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static const char sql[] =
    "CREATE TABLE t (ts TIMESTAMP(3), k STRING, v BIGINT, WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'filesystem', 'path' = 't.csv', 'format' = 'csv', 'my.password' = 'hidden');\n"
    "SELECT window_start, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
    "GROUP BY window_start, window_end, k;\n";

static tide_status run(uint64_t after, tide_error *err) {
    tide_options options;
    tide_options_init(&options);
    options.state_dir = in_dir("state");
    options.stop_savepoint = after > 0 ? in_dir("a.savepoint") : NULL;
    options.stop_after_rows = after;
    return tide_script_run("job.sql", sql, sizeof sql - 1, dir, &options, NULL, NULL, err);
}

static void set_up(void) {
    output.len = 0;
    output.data[0] = '\0';
    strcpy(dir, "/tmp/tidemark-api-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    FILE *file = fopen(in_dir("t.csv"), "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 12; i++) fprintf(file, "2024-01-01 00:%02d:00.000,k%d,%d\n", i / 4, i % 4, i);
    fclose(file);
    tide_error err = {0};
    ck_assert_msg(run(6, &err) == TIDE_OK, "%s", err.message);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at) {
    (void)info, (void)type, (void)at;
    return remove(path);
}

static void tear_down(void) {
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void expect(const char *part) {
    ck_assert_msg(strstr(output.data, part) != NULL, "no \"%s\" in:\n%s", part, output.data);
}

START_TEST(the_summary_says_what_a_savepoint_holds) {
    tide_error err = {0};
    ck_assert_int_eq(tide_inspect_summary(in_dir("a.savepoint"), TIDE_INSPECT_TABLE, collect, &output, &err), TIDE_OK);
    expect("statement 1 of job.sql");
    expect("rows        6 read");
    expect("watermark 2024-01-01 00:01:00.000");
    expect("window.size              1 min");
    expect("[2024-01-01 00:01:00.000, 2024-01-01 00:02:00.000)  2 keys");
    expect("'my.password' = '****'");
    ck_assert_ptr_null(strstr(output.data, "hidden"));
}
END_TEST

START_TEST(the_machine_forms_have_the_same_facts) {
    ck_assert_int_eq(tide_inspect_summary(in_dir("a.savepoint"), TIDE_INSPECT_TSV, collect, &output, NULL), TIDE_OK);
    expect("section\tname\tfield\tvalue\n");
    expect("savepoint\t\trows\t6\n");
    expect("window\t2024-01-01 00:01:00.000 2024-01-01 00:02:00.000 2 ");
    output.len = 0;
    ck_assert_int_eq(tide_inspect_summary(in_dir("state"), TIDE_INSPECT_CSV, collect, &output, NULL), TIDE_OK);
    expect("savepoint,\"\",rows,6\n");
    output.len = 0;
    ck_assert_int_eq(tide_inspect_summary(in_dir("state"), TIDE_INSPECT_JSON, collect, &output, NULL), TIDE_OK);
    expect("\"rows\": 6, ");
    expect(
        "\"windows\": [{\"start\": \"2024-01-01 00:01:00.000\", \"end\": \"2024-01-01 00:02:00.000\", \"keys\": 2, ");
    ck_assert_str_eq(output.data + output.len - 2, "}\n");
}
END_TEST

START_TEST(what_is_no_savepoint_is_named_and_ends_with_3) {
    tide_error err = {0};
    ck_assert_int_eq(tide_inspect_summary(in_dir("nothing"), TIDE_INSPECT_TABLE, collect, &output, &err),
                     TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_nonnull(strstr(err.message, "nothing"));
    ck_assert_int_eq(tide_status_exit_code(err.status), 3);
    ck_assert_int_eq(tide_inspect_summary(in_dir("t.csv"), TIDE_INSPECT_TABLE, collect, &output, &err),
                     TIDE_ERR_SAVEPOINT);
    ck_assert_int_eq(tide_inspect_summary(dir, TIDE_INSPECT_TABLE, collect, &output, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_int_eq(tide_savepoint_verify(in_dir("t.csv"), collect, &output, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_int_eq(tide_savepoint_take(dir, in_dir("b.savepoint"), collect, &output, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_int_ne(access(in_dir("b.savepoint"), F_OK), 0);
}
END_TEST

START_TEST(a_savepoint_of_a_stopped_job_is_its_newest_checkpoint) {
    tide_error err = {0};
    ck_assert_msg(tide_savepoint_take(in_dir("state"), in_dir("b.savepoint"), collect, &output, &err) == TIDE_OK, "%s",
                  err.message);
    expect("b.savepoint\n");
    struct stat info;
    ck_assert_int_eq(stat(in_dir("b.savepoint"), &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    output.len = 0;
    ck_assert_int_eq(tide_savepoint_verify(in_dir("b.savepoint"), collect, &output, &err), TIDE_OK);
    expect("whole: 2 keys in 1 chunk");
    output.len = 0;
    ck_assert_int_eq(tide_savepoint_list(in_dir("state"), collect, &output, &err), TIDE_OK);
    expect("1\t1\t6\t");
}
END_TEST

START_TEST(damage_is_named_with_what_is_lost) {
    int fd = open(in_dir("a.savepoint"), O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, "\xff\xff", 2, 24), 2);
    close(fd);
    tide_error err = {0};
    ck_assert_int_eq(tide_savepoint_verify(in_dir("a.savepoint"), collect, &output, &err), TIDE_ERR_SAVEPOINT);
    expect("chunk 0 at offset 16: its checksum is wrong; lost: 2 keys from [2024-01-01 00:01:00.000, 2024-01-01 "
           "00:02:00.000) k='k0' to ");
    ck_assert_ptr_nonnull(strstr(err.message, "a.savepoint"));
}
END_TEST

START_TEST(stopping_where_nothing_runs_fails) {
    tide_error err = {0};
    ck_assert_int_ne(tide_stop(in_dir("state"), &err), TIDE_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "no job is running"));
}
END_TEST

START_TEST(a_finished_job_is_said_to_be_so) {
    tide_error err = {0};
    ck_assert_msg(run(0, &err) == TIDE_OK, "%s", err.message);
    ck_assert_int_eq(tide_inspect_summary(in_dir("state"), TIDE_INSPECT_TABLE, collect, &output, &err), TIDE_OK);
    expect("12 read, the input has ended: the job is finished");
    expect("watermark end");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("api");
    TCase *tests = tcase_create("looking");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_summary_says_what_a_savepoint_holds);
    tcase_add_test(tests, the_machine_forms_have_the_same_facts);
    tcase_add_test(tests, what_is_no_savepoint_is_named_and_ends_with_3);
    tcase_add_test(tests, a_savepoint_of_a_stopped_job_is_its_newest_checkpoint);
    tcase_add_test(tests, damage_is_named_with_what_is_lost);
    tcase_add_test(tests, stopping_where_nothing_runs_fails);
    tcase_add_test(tests, a_finished_job_is_said_to_be_so);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), count = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
