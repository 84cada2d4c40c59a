// The file sink: what is visible when, and after a crash at any point; what CSV it writes.
#include "base/alloc.h"
#include "base/time.h"
#include "engine/connectors/connector.h"
#include "table_builder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    struct arena arena;
    char *folder, *out;
    struct plan *plan;
    struct plan_node *node;
    struct sink *sink;
    const char *run;
};

#define OPTIONS(...)                                                                                                   \
    ((const char *const[]){"connector", "filesystem", "path", "out", "format", "csv", __VA_ARGS__ __VA_OPT__(, ) NULL, \
                           NULL})

static void open_sink(struct fixture *f) {
    struct sink_env env = {f->plan, f->node, f->folder, f->run};
    tide_error err;
    tide__error_clear(&err);
    const struct sink_class *class = tide__sink_class(STR_LIT("filesystem"));
    ck_assert_ptr_nonnull(class);
    tide_status status = class->open(&env, &f->sink, &err);
    ck_assert_msg(status == TIDE_OK, "%s", err.message);
}

static void begin(struct fixture *f, const char *columns, const char *const *options) {
    *f = (struct fixture){.folder = make_folder(), .run = "r1"};
    tide__arena_init(&f->arena);
    f->plan = build_plan(&f->arena);
    f->node = build_sink(&f->arena, build_table(&f->arena, columns, options));
    f->out = tide__arena_printf(&f->arena, "%s/out", f->folder);
    open_sink(f);
}

static void end(struct fixture *f) {
    if (f->sink != NULL) f->sink->class->close(f->sink);
    remove_folder(f->folder);
    tide__arena_deinit(&f->arena);
}

// A batch of (INT, STRING) rows: n, "s<n>".
static void write_rows(struct fixture *f, int64_t from, int64_t to) {
    struct arena arena;
    tide__arena_init(&arena);
    size_t rows = (size_t)(to - from);
    struct column columns[2];
    for (int c = 0; c < 2; c++) tide__column_init(&columns[c], f->node->sink.table->columns[c].type, rows, 0, &arena);
    for (size_t i = 0; i < rows; i++) {
        columns[0].i64[i] = from + (int64_t)i;
        columns[1].str[i] = tide__str(tide__arena_printf(&arena, "s%lld", (long long)from + (long long)i));
    }
    struct batch batch = {.rows = rows, .column_count = 2, .columns = columns};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(f->sink->class->write(f->sink, &batch, &err) == TIDE_OK, "%s", err.message);
    tide__arena_deinit(&arena);
}

static struct strbuf prepare(struct fixture *f) {
    struct strbuf out = {0};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(f->sink->class->prepare(f->sink, &out, &err) == TIDE_OK, "%s", err.message);
    return out;
}

static void commit(struct fixture *f, const struct strbuf *prepared) {
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(f->sink->class->commit(f->sink, tide__strbuf_str(prepared), &err) == TIDE_OK, "%s", err.message);
}

static tide_status restore(struct fixture *f, const struct strbuf *prepared, tide_error *err) {
    tide__error_clear(err);
    return f->sink->class->restore(f->sink, prepared != NULL ? tide__strbuf_str(prepared) : (struct str){"", 0}, err);
}

static void expect(struct fixture *f, const char *content, size_t visible, size_t hidden) {
    struct strbuf out = {0};
    size_t visible_now = 0, hidden_now = 0;
    tide__strbuf_append_c(&out, "");
    read_folder(f->out, &out, &visible_now, &hidden_now);
    ck_assert_str_eq(out.data, content);
    ck_assert_uint_eq(visible_now, visible);
    ck_assert_uint_eq(hidden_now, hidden);
    tide__strbuf_deinit(&out);
}

START_TEST(rows_become_visible_with_the_commit_only) {
    struct fixture f;
    begin(&f, "n INT; s STRING", OPTIONS());
    write_rows(&f, 1, 3);
    expect(&f, "", 0, 1);
    struct strbuf first = prepare(&f);
    expect(&f, "", 0, 1);
    write_rows(&f, 3, 4);
    commit(&f, &first);
    expect(&f, "1,s1\n2,s2\n", 1, 1);
    commit(&f, &first);
    expect(&f, "1,s1\n2,s2\n", 1, 1);
    struct strbuf second = prepare(&f), empty = prepare(&f);
    commit(&f, &second);
    commit(&f, &empty);
    expect(&f, "1,s1\n2,s2\n3,s3\n", 2, 0);
    write_rows(&f, 4, 5);
    f.sink->class->close(f.sink);
    f.sink = NULL;
    expect(&f, "1,s1\n2,s2\n3,s3\n", 2, 0);
    tide__strbuf_deinit(&first);
    tide__strbuf_deinit(&second);
    tide__strbuf_deinit(&empty);
    end(&f);
}
END_TEST

START_TEST(finish_publishes_everything) {
    struct fixture f;
    begin(&f, "n INT; s STRING", OPTIONS());
    write_rows(&f, 0, 30000);
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(f.sink->class->finish(f.sink, &err), TIDE_OK);
    struct strbuf out = {0};
    size_t visible = 0, hidden = 0;
    read_folder(f.out, &out, &visible, &hidden);
    ck_assert_uint_eq(visible, 1);
    ck_assert_uint_eq(hidden, 0);
    ck_assert_ptr_nonnull(strstr(out.data, "\n29999,s29999\n"));
    tide__strbuf_deinit(&out);
    end(&f);
}
END_TEST

// A crash leaves what is on disk; a new sink of the same run restores.
static void crash_and_reopen(struct fixture *f) {
    open_sink(f);  // the old one is forgotten, as a killed process forgets it
}

START_TEST(restore_repeats_renames_and_sweeps) {
    struct fixture f;
    begin(&f, "n INT; s STRING", OPTIONS());
    write_rows(&f, 1, 2);
    struct strbuf first = prepare(&f);
    commit(&f, &first);
    write_rows(&f, 2, 3);
    struct strbuf second = prepare(&f);
    write_rows(&f, 3, 4);
    struct strbuf third = prepare(&f);
    write_rows(&f, 4, 5);
    struct sink *forgotten = f.sink;
    expect(&f, "1,s1\n", 1, 3);
    // The savepoint of the second barrier is the newest durable one; it was not committed yet.
    crash_and_reopen(&f);
    tide_error err;
    ck_assert_int_eq(restore(&f, &second, &err), TIDE_OK);
    expect(&f, "1,s1\n2,s2\n", 2, 0);
    ck_assert_int_eq(restore(&f, &second, &err), TIDE_OK);
    write_rows(&f, 3, 5);
    struct strbuf again = prepare(&f);
    commit(&f, &again);
    expect(&f, "1,s1\n2,s2\n3,s3\n4,s4\n", 3, 0);
    forgotten->class->close(forgotten);
    expect(&f, "1,s1\n2,s2\n3,s3\n4,s4\n", 3, 0);
    tide__strbuf_deinit(&first);
    tide__strbuf_deinit(&second);
    tide__strbuf_deinit(&third);
    tide__strbuf_deinit(&again);
    end(&f);
}
END_TEST

START_TEST(restore_notices_damage) {
    struct fixture f;
    begin(&f, "n INT; s STRING", OPTIONS());
    write_rows(&f, 1, 3);
    struct strbuf prepared = prepare(&f);
    struct sink *forgotten = f.sink;
    crash_and_reopen(&f);
    tide_error err;
    write_file(f.out, ".part-r1-00000000.open", "1,s1\n", 5);
    ck_assert_int_eq(restore(&f, &prepared, &err), TIDE_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "is not what the savepoint says: 5 bytes"));
    write_file(f.out, ".part-r1-00000000.open", "1,s1\n2,s2\n", 10);
    write_file(f.out, "part-r1-00000000", "mine\n", 5);
    ck_assert_int_eq(restore(&f, &prepared, &err), TIDE_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "exists already"));
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/part-r1-00000000", f.out);
    unlink(path.data);
    ck_assert_int_eq(restore(&f, &prepared, &err), TIDE_OK);
    expect(&f, "1,s1\n2,s2\n", 1, 0);
    unlink(path.data);
    ck_assert_int_eq(restore(&f, &prepared, &err), TIDE_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "is gone"));
    for (size_t len = 1; len < prepared.len; len++) {
        struct strbuf cut = {0};
        tide__strbuf_append(&cut, prepared.data, len);
        ck_assert_int_eq(restore(&f, &cut, &err), TIDE_ERR_SAVEPOINT);
        tide__strbuf_deinit(&cut);
    }
    tide__strbuf_deinit(&path);
    tide__strbuf_deinit(&prepared);
    forgotten->class->close(forgotten);
    end(&f);
}
END_TEST

START_TEST(another_run_adds_files_and_leaves_those_of_the_first) {
    struct fixture f;
    begin(&f, "n INT; s STRING", OPTIONS());
    write_rows(&f, 1, 2);
    struct strbuf first = prepare(&f);
    write_rows(&f, 2, 3);
    struct sink *forgotten = f.sink;
    f.run = "r2";
    open_sink(&f);
    tide_error err;
    ck_assert_int_eq(restore(&f, &first, &err), TIDE_OK);
    // The savepoint's file is published; the hidden file of the other run is not ours to remove.
    expect(&f, "1,s1\n", 1, 1);
    ck_assert_int_eq(restore(&f, &first, &err), TIDE_OK);
    write_rows(&f, 2, 4);
    struct strbuf second = prepare(&f);
    commit(&f, &second);
    expect(&f, "1,s1\n2,s2\n3,s3\n", 2, 1);
    tide__strbuf_deinit(&first);
    tide__strbuf_deinit(&second);
    forgotten->class->close(forgotten);
    end(&f);
}
END_TEST

START_TEST(kill_points_around_the_rename_lose_and_double_nothing) {
    static const char *const points[] = {"sink.before-rename", "sink.after-rename"};
    struct fixture f;
    begin(&f, "n INT; s STRING", OPTIONS());
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("TIDE_KILL_POINT", points[_i], 1);
        write_rows(&f, 1, 3);
        struct strbuf saved = prepare(&f);
        if (write(ends[1], saved.data, saved.len) != (ssize_t)saved.len) _exit(1);
        commit(&f, &saved);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ck_assert(WIFSIGNALED(status));
    struct strbuf prepared = {0};
    ssize_t len = read(ends[0], tide__strbuf_reserve(&prepared, 4096), 4096);
    ck_assert_int_gt(len, 0);
    prepared.len = (size_t)len;
    expect(&f, _i == 0 ? "" : "1,s1\n2,s2\n", (size_t)_i, (size_t)(1 - _i));
    struct sink *forgotten = f.sink;
    crash_and_reopen(&f);
    tide_error err;
    ck_assert_int_eq(restore(&f, &prepared, &err), TIDE_OK);
    expect(&f, "1,s1\n2,s2\n", 1, 0);
    tide__strbuf_deinit(&prepared);
    forgotten->class->close(forgotten);
    end(&f);
}
END_TEST

START_TEST(partitions_get_a_folder_each) {
    struct fixture f;
    begin(&f, "n INT; s STRING PARTITION", OPTIONS());
    write_rows(&f, 1, 3);
    write_rows(&f, 1, 3);
    struct strbuf prepared = prepare(&f);
    commit(&f, &prepared);
    expect(&f, "## s=s1\n1\n1\n## s=s2\n2\n2\n", 2, 0);
    // Many at once: more than files may be open.
    write_rows(&f, 1000, 1400);
    write_rows(&f, 1000, 1400);
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(f.sink->class->finish(f.sink, &err), TIDE_OK);
    struct strbuf out = {0};
    size_t visible = 0, hidden = 0;
    read_folder(f.out, &out, &visible, &hidden);
    ck_assert_uint_eq(visible, 402);
    ck_assert_uint_eq(hidden, 0);
    ck_assert_ptr_nonnull(strstr(out.data, "## s=s1399\n1399\n1399\n"));
    tide__strbuf_deinit(&out);
    tide__strbuf_deinit(&prepared);
    end(&f);
}
END_TEST

START_TEST(a_file_in_the_place_of_the_folder_is_an_error) {
    struct fixture f;
    begin(&f, "n INT; s STRING", OPTIONS());
    f.sink->class->close(f.sink);
    f.sink = NULL;
    rmdir(f.out);
    write_file(f.folder, "out", "x", 1);
    struct sink_env env = {f.plan, f.node, f.folder, f.run};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__sink_class(STR_LIT("filesystem"))->open(&env, &f.sink, &err), TIDE_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "is a file, but a table is written to a folder"));
    ck_assert_uint_gt(err.line, 0);
    end(&f);
}
END_TEST

// --- what CSV is written ----------------------------------------------------------------------------------------

static void write_texts(const char *const *options, const char *expected) {
    static const char *const texts[][2] = {
        {"plain", "two words"},
        {"-5", "+5"},
        {"semi;colon", "pipe|bar"},
        {"back\\slash", "apo's"},
        {"", NULL},
        {"aaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaa"},
        {"q\"q", "a,b"},
        {"#hash", "x.y:z/0"},
        {"line\nbreak", "tab\there"},
        {"\xE6\x97\xA5\xE6\x9C\xAC", "\xC3\xA9"},
    };
    struct fixture f;
    begin(&f, "a STRING; b STRING; n INT", options);
    struct column columns[3];
    for (int c = 0; c < 3; c++) tide__column_init(&columns[c], f.node->fields[c].type, 10, 1, &f.arena);
    for (int i = 0; i < 10; i++) {
        for (int c = 0; c < 2; c++) {
            columns[c].str[i] = tide__str(texts[i][c] != NULL ? texts[i][c] : "");
            columns[c].nulls[i] = texts[i][c] == NULL;
        }
        columns[2].i64[i] = i == 1 ? -2 : i < 5 ? i + 1 : i;
        columns[2].nulls[i] = i == 4;
    }
    struct batch batch = {.rows = 10, .column_count = 3, .columns = columns};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(f.sink->class->write(f.sink, &batch, &err), TIDE_OK);
    ck_assert_int_eq(f.sink->class->finish(f.sink, &err), TIDE_OK);
    expect(&f, expected, 1, 0);
    end(&f);
}

START_TEST(texts_are_quoted_as_by_flink) {
    write_texts(OPTIONS(),
                "plain,\"two words\",1\n-5,\"+5\",-2\nsemi;colon,pipe|bar,3\n\"back\\slash\",\"apo's\",4\n,,\n"
                "aaaaaaaaaaaaaaaaaaaaaaaa,\"aaaaaaaaaaaaaaaaaaaaaaaaa\",5\n\"q\"\"q\",\"a,b\",6\n\"#hash\",x.y:z/0,7\n"
                "\"line\nbreak\",\"tab\there\",8\n\xE6\x97\xA5\xE6\x9C\xAC,\xC3\xA9,9\n");
    write_texts(
        OPTIONS("csv.field-delimiter", ";"),
        "plain;\"two words\";1\n\"-5\";\"+5\";-2\n\"semi;colon\";pipe|bar;3\n\"back\\slash\";\"apo's\";4\n;;\n"
        "aaaaaaaaaaaaaaaaaaaaaaaa;\"aaaaaaaaaaaaaaaaaaaaaaaaa\";5\n\"q\"\"q\";\"a,b\";6\n\"#hash\";\"x.y:z/0\";7\n"
        "\"line\nbreak\";\"tab\there\";8\n\xE6\x97\xA5\xE6\x9C\xAC;\xC3\xA9;9\n");
    write_texts(
        OPTIONS("csv.escape-character", "\\", "csv.null-literal", "NULL"),
        "plain,\"two words\",1\n-5,\"+5\",-2\nsemi;colon,pipe|bar,3\n\"back\\\\slash\",\"apo's\",4\n,NULL,NULL\n"
        "aaaaaaaaaaaaaaaaaaaaaaaa,\"aaaaaaaaaaaaaaaaaaaaaaaaa\",5\n\"q\"\"q\",\"a,b\",6\n\"#hash\",x.y:z/0,7\n"
        "\"line\nbreak\",\"tab\there\",8\n\xE6\x97\xA5\xE6\x9C\xAC,\xC3\xA9,9\n");
    write_texts(OPTIONS("csv.disable-quote-character", "true"),
                "plain,two words,1\n-5,+5,-2\nsemi;colon,pipe|bar,3\nback\\slash,apo's,4\n,,\n"
                "aaaaaaaaaaaaaaaaaaaaaaaa,aaaaaaaaaaaaaaaaaaaaaaaaa,5\nq\"q,a,b,6\n#hash,x.y:z/0,7\n"
                "line\nbreak,tab\there,8\n\xE6\x97\xA5\xE6\x9C\xAC,\xC3\xA9,9\n");
}
END_TEST

START_TEST(other_types_are_written_as_by_flink) {
    struct fixture f;
    begin(&f,
          "a BOOLEAN; b FLOAT; c DECIMAL(20,5); d DATE; e TIME; f TIMESTAMP(3); g TIMESTAMP(6); h LTZ(3); i BYTES; j "
          "DOUBLE",
          OPTIONS());
    struct column c[10];
    for (int i = 0; i < 10; i++) tide__column_init(&c[i], f.node->fields[i].type, 5, 0, &f.arena);
    static const int64_t decimals[] = {150000, 10000000, 120000000000, 1, -50000};
    for (int i = 0; i < 5; i++) {
        c[0].bools[i] = i % 2 == 0;
        c[1].f64[i] = 1.25;
        c[2].i128[i] = decimals[i];
        c[3].i64[i] = i;
        c[4].i64[i] = i == 0 ? 0 : i == 1 ? 45000000 : 45296500;
        c[5].i64[i] = i == 0 ? 120 : i * 1000;
        c[6].time[i] = (struct timestamp){123, i == 0 ? 456000 : 0};
        c[7].i64[i] = 0;
        c[8].str[i] = (struct str){"AB", (size_t)i % 3};
        c[9].f64[i] = 1e-5;
    }
    struct batch batch = {.rows = 5, .column_count = 10, .columns = c};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(f.sink->class->write(f.sink, &batch, &err), TIDE_OK);
    ck_assert_int_eq(f.sink->class->finish(f.sink, &err), TIDE_OK);
    expect(&f,
           "true,1.25,1.5,1970-01-01,00:00:00,\"1970-01-01 00:00:00.12\",\"1970-01-01 00:00:00.123456\",\"1970-01-01 "
           "00:00:00Z\",,1.0E-5\n"
           "false,1.25,1E+2,1970-01-02,12:30:00,\"1970-01-01 00:00:01\",\"1970-01-01 00:00:00.123\",\"1970-01-01 "
           "00:00:00Z\",QQ==,1.0E-5\n"
           "true,1.25,1.2E+6,1970-01-03,12:34:56.5,\"1970-01-01 00:00:02\",\"1970-01-01 00:00:00.123\",\"1970-01-01 "
           "00:00:00Z\",QUI=,1.0E-5\n"
           "false,1.25,0.00001,1970-01-04,12:34:56.5,\"1970-01-01 00:00:03\",\"1970-01-01 00:00:00.123\",\"1970-01-01 "
           "00:00:00Z\",,1.0E-5\n"
           "true,1.25,-0.5,1970-01-05,12:34:56.5,\"1970-01-01 00:00:04\",\"1970-01-01 00:00:00.123\",\"1970-01-01 "
           "00:00:00Z\",QQ==,1.0E-5\n",
           1, 0);
    end(&f);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connector_sink");
    TCase *tests = tcase_create("connector_sink");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, rows_become_visible_with_the_commit_only);
    tcase_add_test(tests, finish_publishes_everything);
    tcase_add_test(tests, restore_repeats_renames_and_sweeps);
    tcase_add_test(tests, restore_notices_damage);
    tcase_add_test(tests, another_run_adds_files_and_leaves_those_of_the_first);
    // The kill point is read once a process: a fork each.
    tcase_add_loop_test(tests, kill_points_around_the_rename_lose_and_double_nothing, 0, 2);
    tcase_add_test(tests, partitions_get_a_folder_each);
    tcase_add_test(tests, a_file_in_the_place_of_the_folder_is_an_error);
    tcase_add_test(tests, texts_are_quoted_as_by_flink);
    tcase_add_test(tests, other_types_are_written_as_by_flink);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
