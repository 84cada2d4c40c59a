// The file sink after a fall-back: what is visible already is made again and compared, and no row is lost or doubled.
#include "base/alloc.h"
#include "engine/connectors/connector.h"
#include "table_builder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS_MAX 64
#define KEPT         3

struct checkpoint {
    int64_t row;
    struct strbuf prepared;
};

struct fixture {
    struct arena arena;
    char *folder, *out;
    struct plan *plan;
    struct plan_node *node;
    struct sink *sink;
    struct sink *forgotten[ATTEMPTS_MAX];  // of killed processes
    size_t forgotten_count;
    struct checkpoint kept[KEPT];  // the newest is the last one
    size_t kept_count;
    uint32_t random;
};

#define OPTIONS ((const char *const[]){"connector", "filesystem", "path", "out", "format", "csv", NULL, NULL})

static uint32_t draw(struct fixture *f, uint32_t below) {
    f->random = f->random * 1664525u + 1013904223u;
    return (f->random >> 8) % below;
}

static void open_sink(struct fixture *f) {
    struct sink_env env = {f->plan, f->node, f->folder, "r1"};
    tide_error err;
    tide__error_clear(&err);
    tide_status status = tide__sink_class(STR_LIT("filesystem"))->open(&env, &f->sink, &err);
    ck_assert_msg(status == TIDE_OK, "%s", err.message);
}

static void begin(struct fixture *f, const char *columns, uint32_t seed) {
    *f = (struct fixture){.folder = make_folder(), .random = seed};
    tide__arena_init(&f->arena);
    f->plan = build_plan(&f->arena);
    f->node = build_sink(&f->arena, build_table(&f->arena, columns, OPTIONS));
    f->out = tide__arena_printf(&f->arena, "%s/out", f->folder);
    open_sink(f);
}

static void kill_sink(struct fixture *f) {
    ck_assert_uint_lt(f->forgotten_count, ATTEMPTS_MAX);
    f->forgotten[f->forgotten_count++] = f->sink;
    f->sink = NULL;
}

static void end(struct fixture *f) {
    if (f->sink != NULL) kill_sink(f);
    for (size_t i = 0; i < f->forgotten_count; i++) f->forgotten[i]->class->close(f->forgotten[i]);
    for (size_t i = 0; i < f->kept_count; i++) tide__strbuf_deinit(&f->kept[i].prepared);
    remove_folder(f->folder);
    tide__arena_deinit(&f->arena);
}

static tide_status restore(struct fixture *f, const struct strbuf *prepared, tide_error *err) {
    tide__error_clear(err);
    return f->sink->class->restore(f->sink, prepared != NULL ? tide__strbuf_str(prepared) : (struct str){"", 0}, err);
}

// Rows of a number and one of five words. A row's bytes depend on nothing but its number, and on `variant`.
static tide_status write_some(struct fixture *f, int64_t from, int64_t to, int variant, tide_error *err) {
    struct arena arena;
    tide__arena_init(&arena);
    struct column columns[2];
    size_t rows = (size_t)(to - from);
    for (int c = 0; c < 2; c++) tide__column_init(&columns[c], f->node->sink.table->columns[c].type, rows, 0, &arena);
    for (size_t i = 0; i < rows; i++) {
        int64_t n = from + (int64_t)i;
        columns[0].i64[i] = n * n % 1009 + variant;
        columns[1].str[i] = tide__str(tide__arena_printf(&arena, "w%lld", (long long)(n * 7919 % 11 % 5)));
    }
    struct batch batch = {.rows = rows, .column_count = 2, .columns = columns};
    tide__error_clear(err);
    tide_status status = f->sink->class->write(f->sink, &batch, err);
    tide__arena_deinit(&arena);
    return status;
}

static void write_rows(struct fixture *f, int64_t from, int64_t to) {
    tide_error err;
    tide_status status = write_some(f, from, to, 0, &err);
    ck_assert_msg(status == TIDE_OK, "%s", err.message);
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

static struct strbuf barrier(struct fixture *f) {
    struct strbuf prepared = prepare(f);
    commit(f, &prepared);
    return prepared;
}

static struct strbuf content(struct fixture *f, size_t *out_visible) {
    struct strbuf out = {0};
    size_t hidden = 0;
    *out_visible = 0;
    tide__strbuf_append_c(&out, "");
    read_folder(f->out, &out, out_visible, &hidden);
    return out;
}

// --- random kills and damage ------------------------------------------------------------------------------------

static void keep(struct fixture *f, int64_t row, struct strbuf prepared) {
    if (f->kept_count == KEPT) {
        tide__strbuf_deinit(&f->kept[0].prepared);
        memmove(f->kept, f->kept + 1, (KEPT - 1) * sizeof(*f->kept));
        f->kept_count--;
    }
    f->kept[f->kept_count++] = (struct checkpoint){row, prepared};
}

// Goes on from one of the kept checkpoints, or from none; newer ones are damaged. Returns the row.
static int64_t go_on(struct fixture *f) {
    uint32_t damaged = draw(f, 3) == 0 ? 0 : draw(f, (uint32_t)f->kept_count + 1);
    for (; damaged > 0; damaged--) tide__strbuf_deinit(&f->kept[--f->kept_count].prepared);
    open_sink(f);
    tide_error err;
    const struct checkpoint *newest = f->kept_count > 0 ? &f->kept[f->kept_count - 1] : NULL;
    tide_status status = restore(f, newest != NULL ? &newest->prepared : NULL, &err);
    ck_assert_msg(status == TIDE_OK, "%s", err.message);
    return newest != NULL ? newest->row : 0;
}

// One process: rows and barriers until it is killed, or to the end. True at the end.
static bool attempt(struct fixture *f, int64_t row, int64_t rows, bool last) {
    int64_t kill_at = last ? rows + 1 : row + draw(f, (uint32_t)rows);
    uint32_t between = 1 + draw(f, 40);
    while (row < rows) {
        int64_t to = row + 1 + draw(f, 30);
        if (to > rows) to = rows;
        write_rows(f, row, to);
        row = to;
        if (row >= kill_at) return false;
        if (row < rows && draw(f, between) > 3) continue;
        struct strbuf prepared = prepare(f);
        bool publishes = row + 5 < kill_at || draw(f, 2) == 0;
        keep(f, row, prepared);
        if (publishes) commit(f, &prepared);
        if (!publishes) return false;
    }
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(f->sink->class->end(f->sink, &err) == TIDE_OK, "%s", err.message);
    return true;
}

static void expect_prefix(const struct strbuf *shorter, const struct strbuf *longer) {
    ck_assert_uint_le(shorter->len, longer->len);
    ck_assert(memcmp(shorter->data, longer->data, shorter->len) == 0);
}

static void kill_and_damage(const char *columns, bool partitioned) {
    for (uint32_t seed = 0; seed < 60; seed++) {
        struct fixture alone, f;
        int64_t rows = 40 + (int64_t)seed * 5;
        size_t visible = 0, visible_alone = 0;
        begin(&alone, columns, seed);
        write_rows(&alone, 0, rows);
        struct strbuf prepared = barrier(&alone), want = content(&alone, &visible_alone);
        begin(&f, columns, seed);
        bool done = attempt(&f, 0, rows, false);
        for (int tries = 1; !done || tries < 4; tries++) {
            kill_sink(&f);
            struct strbuf before = content(&f, &visible);
            if (!partitioned) expect_prefix(&before, &want);
            done = attempt(&f, go_on(&f), rows, tries > 8);
            struct strbuf after = content(&f, &visible);
            if (!partitioned) expect_prefix(&before, &after);
            tide__strbuf_deinit(&before);
            tide__strbuf_deinit(&after);
        }
        struct strbuf got = content(&f, &visible);
        ck_assert_str_eq(got.data, want.data);
        tide__strbuf_deinit(&got);
        tide__strbuf_deinit(&want);
        tide__strbuf_deinit(&prepared);
        end(&alone);
        end(&f);
    }
}

START_TEST(kills_and_damaged_checkpoints_change_no_byte) {
    kill_and_damage("n INT; s STRING", false);
}
END_TEST

START_TEST(kills_and_damaged_checkpoints_change_no_byte_of_partitions) {
    kill_and_damage("n INT; s STRING PARTITION", true);
}
END_TEST

// --- what is wrong ----------------------------------------------------------------------------------------------

// Three published files of ten rows, the first one covered by kept[0]; a new process restores that.
static tide_status three_files(struct fixture *f, tide_error *err) {
    write_rows(f, 0, 10);
    keep(f, 10, barrier(f));
    for (int64_t from = 10; from < 30; from += 10) {
        write_rows(f, from, from + 10);
        struct strbuf later = barrier(f);
        tide__strbuf_deinit(&later);
    }
    kill_sink(f);
    open_sink(f);
    tide__error_clear(err);
    return TIDE_OK;
}

START_TEST(other_rows_are_told_with_file_and_offset) {
    struct fixture f;
    tide_error err;
    begin(&f, "n INT; s STRING", 1);
    ck_assert_int_eq(three_files(&f, &err), TIDE_OK);
    ck_assert_int_eq(restore(&f, &f.kept[0].prepared, &err), TIDE_OK);
    size_t visible = 0;
    struct strbuf before = content(&f, &visible);
    write_rows(&f, 10, 21);
    ck_assert_int_eq(write_some(&f, 21, 22, 1, &err), TIDE_ERR_RUNTIME);
    ck_assert_ptr_nonnull(strstr(err.message, "/out/part-r1-00000002\" differs at byte "));
    ck_assert_ptr_nonnull(strstr(err.message, " from what the job makes now: other rows"));
    struct strbuf after = content(&f, &visible);
    ck_assert_str_eq(before.data, after.data);
    ck_assert_uint_eq(visible, 3);
    tide__strbuf_deinit(&before);
    tide__strbuf_deinit(&after);
    end(&f);
}
END_TEST

START_TEST(fewer_rows_are_told_at_the_end) {
    struct fixture f;
    tide_error err;
    begin(&f, "n INT; s STRING", 1);
    ck_assert_int_eq(three_files(&f, &err), TIDE_OK);
    ck_assert_int_eq(restore(&f, &f.kept[0].prepared, &err), TIDE_OK);
    write_rows(&f, 10, 20);
    ck_assert_int_eq(f.sink->class->end(f.sink, &err), TIDE_ERR_RUNTIME);
    ck_assert_ptr_nonnull(strstr(err.message, "/out/part-r1-00000002\" differs at byte 0 "));
    ck_assert_ptr_nonnull(strstr(err.message, "it has more rows"));
    end(&f);
}
END_TEST

static void in_out(struct fixture *f, const char *name, const char *new_name) {
    struct strbuf from = {0}, to = {0};
    tide__strbuf_printf(&from, "%s/%s", f->out, name);
    tide__strbuf_printf(&to, "%s/%s", f->out, new_name);
    ck_assert_int_eq(rename(from.data, to.data), 0);
    tide__strbuf_deinit(&from);
    tide__strbuf_deinit(&to);
}

START_TEST(a_file_gone_from_the_middle_is_named) {
    struct fixture f;
    tide_error err;
    begin(&f, "n INT; s STRING", 1);
    ck_assert_int_eq(three_files(&f, &err), TIDE_OK);
    in_out(&f, "part-r1-00000001", "_moved");
    ck_assert_int_eq(restore(&f, &f.kept[0].prepared, &err), TIDE_ERR_IO);
    ck_assert_ptr_nonnull(
        strstr(err.message, "/out/part-r1-00000001\", which is older than others that are there, is gone"));
    in_out(&f, "_moved", "part-r1-00000001");
    // A barrier in the middle of the second file: then that one must be there, and the first need not.
    ck_assert_int_eq(restore(&f, &f.kept[0].prepared, &err), TIDE_OK);
    write_rows(&f, 10, 13);
    struct strbuf inside = barrier(&f);
    kill_sink(&f);
    open_sink(&f);
    in_out(&f, "part-r1-00000001", "_moved");
    ck_assert_int_eq(restore(&f, &inside, &err), TIDE_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "/out/part-r1-00000001\", which a resumed job makes again, is gone"));
    in_out(&f, "_moved", "part-r1-00000001");
    in_out(&f, "part-r1-00000000", "_moved");
    ck_assert_int_eq(restore(&f, &inside, &err), TIDE_OK);
    write_rows(&f, 13, 31);
    struct strbuf last = barrier(&f);
    in_out(&f, "_moved", "part-r1-00000000");
    size_t visible = 0;
    struct strbuf got = content(&f, &visible);
    ck_assert_uint_eq(visible, 4);
    size_t lines = 0;
    for (size_t i = 0; i < got.len; i++) lines += got.data[i] == '\n';
    ck_assert_uint_eq(lines, 31);
    tide__strbuf_deinit(&inside);
    tide__strbuf_deinit(&last);
    tide__strbuf_deinit(&got);
    end(&f);
}
END_TEST

START_TEST(a_file_that_ends_inside_a_row_is_told) {
    struct fixture f;
    tide_error err;
    begin(&f, "n INT; s STRING", 1);
    ck_assert_int_eq(three_files(&f, &err), TIDE_OK);
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/part-r1-00000002", f.out);
    ck_assert_int_eq(truncate(path.data, 2), 0);
    ck_assert_int_eq(restore(&f, &f.kept[0].prepared, &err), TIDE_OK);
    ck_assert_int_eq(write_some(&f, 10, 30, 0, &err), TIDE_ERR_RUNTIME);
    ck_assert_ptr_nonnull(strstr(err.message, "part-r1-00000002\" differs at byte 2 "));
    ck_assert_ptr_nonnull(strstr(err.message, "it ends inside a row"));
    tide__strbuf_deinit(&path);
    end(&f);
}
END_TEST

START_TEST(version_1_of_the_list_is_read) {
    struct fixture f;
    tide_error err;
    begin(&f, "n INT; s STRING", 1);
    write_rows(&f, 0, 3);
    struct strbuf prepared = barrier(&f);
    kill_sink(&f);
    open_sink(&f);
    prepared.data[0] = 1;
    prepared.len--;  // what version 2 adds
    ck_assert_int_eq(restore(&f, &prepared, &err), TIDE_OK);
    prepared.data[0] = 3;
    ck_assert_int_eq(restore(&f, &prepared, &err), TIDE_ERR_SAVEPOINT);
    tide__strbuf_deinit(&prepared);
    end(&f);
}
END_TEST

START_TEST(a_sink_that_starts_empty_takes_new_numbers) {
    struct fixture f;
    begin(&f, "n INT; s STRING", 1);
    tide_error err;
    ck_assert_int_eq(three_files(&f, &err), TIDE_OK);
    write_rows(&f, 40, 50);
    struct strbuf prepared = barrier(&f);
    size_t visible = 0;
    struct strbuf got = content(&f, &visible);
    ck_assert_uint_eq(visible, 4);
    tide__strbuf_deinit(&got);
    tide__strbuf_deinit(&prepared);
    end(&f);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connector_catch_up");
    TCase *tests = tcase_create("connector_catch_up");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, kills_and_damaged_checkpoints_change_no_byte);
    tcase_add_test(tests, kills_and_damaged_checkpoints_change_no_byte_of_partitions);
    tcase_add_test(tests, other_rows_are_told_with_file_and_offset);
    tcase_add_test(tests, fewer_rows_are_told_at_the_end);
    tcase_add_test(tests, a_file_gone_from_the_middle_is_named);
    tcase_add_test(tests, a_file_that_ends_inside_a_row_is_told);
    tcase_add_test(tests, version_1_of_the_list_is_read);
    tcase_add_test(tests, a_sink_that_starts_empty_takes_new_numbers);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
