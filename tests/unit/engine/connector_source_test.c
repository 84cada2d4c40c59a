// The source reader: order, blocks of any size, positions at every row, threads, errors where they belong.
#include "base/alloc.h"
#include "engine/connectors/source.h"
#include "state/state.h"
#include "table_builder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Quotes with line ends, delimiters and quotes in them, stray quotes, CR LF, blank fields, skipped rows.
static const char nasty[] =
    "plain,1\n\"quo,ted\",2\n\"line\nbreak\",3\nstray\"quote,4\r\n\"dou\"\"ble\n\"\"\",5\n"
    "too,6,many\n\"\",7\n\xC3\xA9\xE6\x97\xA5,8\n \"blank\nlead,9\nx,1,\"y\n\"\n\"trail\" ,10\n\"\r\n\",11\r\n"
    "\"\n\n\n\",12\nlast,13";

struct fixture {
    struct arena arena;
    char *folder;
    struct plan *plan;
    struct plan_node *scan;
    uint32_t workers;
    size_t batch_rows, block_bytes;
    struct memory_budget budget;
};

static void begin(struct fixture *f, const char *columns, const char *const *options, int time_column) {
    *f = (struct fixture){.batch_rows = 1000, .folder = make_folder()};
    tide__arena_init(&f->arena);
    f->plan = build_plan(&f->arena);
    f->scan = build_scan(&f->arena, build_table(&f->arena, columns, options), time_column);
}

static void end(struct fixture *f) {
    remove_folder(f->folder);
    tide__arena_deinit(&f->arena);
}

static tide_status open_reader(struct fixture *f, struct source_reader **out, tide_error *err) {
    struct source_env env = {f->plan, f->scan, f->folder, f->workers, f->batch_rows, &f->budget};
    tide__error_clear(err);
    tide_status status = tide__source_open(&env, out, err);
    if (status == TIDE_OK && f->block_bytes > 0) (*out)->file_reader.block_bytes = f->block_bytes;
    return status;
}

// All rows from a position on ("" : from the start); with `positions` the one behind every row, by row number.
static tide_status read_all(struct fixture *f, struct str from, struct strbuf *rows, struct strbuf *positions,
                            size_t *row_count, struct source_stats *stats, tide_error *err) {
    struct source_reader *reader = NULL;
    TIDE_TRY(open_reader(f, &reader, err));
    tide_status status = from.len > 0 ? tide__source_restore(reader, from, CHANGED_INPUT_REFUSE, err) : TIDE_OK;
    *row_count = 0;
    while (status == TIDE_OK) {
        struct source_batch *batch = NULL;
        enum source_state state;
        status = tide__source_next(reader, &batch, &state, err);
        if (status != TIDE_OK || batch == NULL) break;
        ck_assert_uint_le(batch->batch.rows, f->batch_rows);
        ck_assert_uint_gt(batch->batch.rows, 0);
        print_rows(&batch->batch, rows);
        for (size_t i = 0; positions != NULL && i < batch->batch.rows; i++) {
            ck_assert_int_eq(tide__source_save(reader, batch, i + 1, &positions[*row_count + i], NULL), TIDE_OK);
        }
        *row_count += batch->batch.rows;
        tide__source_release(reader, batch);
    }
    if (stats != NULL) tide__source_stats(reader, stats);
    tide__source_close(reader);
    return status;
}

#define OPTIONS(...)                                                                                                   \
    ((const char *const[]){"connector", "filesystem", "format", "csv", __VA_ARGS__ __VA_OPT__(, ) NULL, NULL})

START_TEST(every_block_size_gives_the_same_rows_and_positions) {
    for (int comments = 0; comments < 2; comments++) {
        struct fixture f;
        begin(&f, "a STRING; b INT",
              OPTIONS("path", "in.csv", "csv.ignore-parse-errors", "true", "csv.allow-comments",
                      comments ? "true" : "false"),
              -1);
        write_file(f.folder, "in.csv", nasty, sizeof(nasty) - 1);
        struct strbuf whole = {0};
        struct source_stats stats;
        tide_error err;
        size_t count = 0;
        ck_assert_int_eq(read_all(&f, (struct str){0}, &whole, NULL, &count, &stats, &err), TIDE_OK);
        // Where comments are allowed, blanks before a quote are skipped, and a stray quote opens a field.
        uint64_t skipped = comments ? 3 : 2;
        ck_assert_uint_eq(stats.rows_skipped, skipped);
        for (f.block_bytes = 1; f.block_bytes <= sizeof(nasty); f.block_bytes++) {
            for (f.batch_rows = 1; f.batch_rows < 8; f.batch_rows += 3) {
                struct strbuf rows = {0};
                size_t rows_read = 0;
                ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, NULL, &rows_read, &stats, &err), TIDE_OK);
                ck_assert_str_eq(rows.data, whole.data);
                ck_assert_uint_eq(stats.rows_skipped, skipped);
                ck_assert_uint_eq(stats.bytes_read, sizeof(nasty) - 1);
                tide__strbuf_deinit(&rows);
            }
        }
        ck_assert_uint_eq(f.budget.used, 0);
        tide__strbuf_deinit(&whole);
        end(&f);
    }
}
END_TEST

START_TEST(the_position_behind_every_row_is_exact) {
    struct fixture f;
    begin(&f, "a STRING; b INT", OPTIONS("path", "in.csv", "csv.ignore-parse-errors", "true"), -1);
    write_file(f.folder, "in.csv", nasty, sizeof(nasty) - 1);
    struct strbuf rows = {0}, positions[32] = {{0}};
    tide_error err;
    size_t count = 0;
    ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, positions, &count, NULL, &err), TIDE_OK);
    ck_assert_uint_eq(count, 13);
    for (size_t i = 0; i < count; i++) {
        // Rows print without their inner line ends being told from others: compare what is left from the back.
        struct strbuf after = {0};
        size_t left = 0;
        tide__strbuf_append_c(&after, "");
        ck_assert_int_eq(read_all(&f, tide__strbuf_str(&positions[i]), &after, NULL, &left, NULL, &err), TIDE_OK);
        ck_assert_uint_eq(left, count - 1 - i);
        ck_assert_uint_le(after.len, rows.len);
        ck_assert_str_eq(after.data, rows.data + rows.len - after.len);
        tide__strbuf_deinit(&after);
        tide__strbuf_deinit(&positions[i]);
    }
    tide__strbuf_deinit(&rows);
    end(&f);
}
END_TEST

START_TEST(files_are_read_in_path_order_and_hidden_ones_are_not) {
    struct fixture f;
    begin(&f, "a STRING; n STRING METADATA:file.name; s BIGINT METADATA:file.size", OPTIONS("path", "in"), -1);
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/in", f.folder);
    mkdir(path.data, 0777);
    tide__strbuf_append_c(&path, "/sub");
    mkdir(path.data, 0777);
    write_file(f.folder, "in/b.csv",
               "\xEF\xBB\xBF"
               "b1\nb2",
               8);
    write_file(f.folder, "in/a.csv", "a1\n", 3);
    write_file(f.folder, "in/c.csv", "", 0);
    write_file(f.folder, "in/.hidden", "no\n", 3);
    write_file(f.folder, "in/_SUCCESS", "no\n", 3);
    write_file(f.folder, "in/sub/z.csv", "z1\n", 3);
    struct strbuf rows = {0};
    tide_error err;
    size_t count = 0;
    ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, NULL, &count, NULL, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "a1|a.csv|3\nb1|b.csv|8\nb2|b.csv|8\nz1|z.csv|3\n");
    tide__strbuf_deinit(&rows);
    tide__strbuf_deinit(&path);
    end(&f);
}
END_TEST

START_TEST(partition_columns_come_from_folder_names) {
    struct fixture f;
    begin(&f, "id INT; k STRING PARTITION; d INT PARTITION", OPTIONS("path", "in"), -1);
    static const char *const folders[] = {"in", "in/k=a%2Fb", "in/k=a%2Fb/d=7", "in/k=__DEFAULT_PARTITION__",
                                          "in/k=__DEFAULT_PARTITION__/d=8"};
    for (size_t i = 0; i < 5; i++) {
        struct strbuf path = {0};
        tide__strbuf_printf(&path, "%s/%s", f.folder, folders[i]);
        mkdir(path.data, 0777);
        tide__strbuf_deinit(&path);
    }
    write_file(f.folder, "in/k=a%2Fb/d=7/part-0", "1\n2\n", 4);
    write_file(f.folder, "in/k=__DEFAULT_PARTITION__/d=8/part-0", "3\n", 2);
    struct strbuf rows = {0};
    tide_error err;
    size_t count = 0;
    ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, NULL, &count, NULL, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "3|<NULL>|8\n1|a/b|7\n2|a/b|7\n");
    tide__strbuf_deinit(&rows);
    end(&f);
}
END_TEST

static void fill_rows(struct strbuf *text, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        tide__strbuf_printf(text, "2024-01-01 %02zu:%02zu:%02zu.000,%zu,%s%zu%s\n", i / 3600 % 24, i / 60 % 60, i % 60,
                            i, i % 7 == 0 ? "\"q\n" : "s", i, i % 7 == 0 ? "\"" : "");
    }
}

START_TEST(threads_give_the_same_rows_in_the_same_order) {
    struct fixture f;
    begin(&f, "ts TIMESTAMP(3); n BIGINT; s STRING", OPTIONS("path", "in.csv"), 0);
    struct strbuf text = {0}, alone = {0};
    fill_rows(&text, 0, 60000);
    ck_assert_uint_gt(text.len, 2 << 20);
    write_file(f.folder, "in.csv", text.data, text.len);
    tide_error err;
    size_t count = 0;
    ck_assert_int_eq(read_all(&f, (struct str){0}, &alone, NULL, &count, NULL, &err), TIDE_OK);
    ck_assert_uint_eq(count, 60000);
    for (f.workers = 1; f.workers <= 4; f.workers++) {
        struct strbuf rows = {0};
        f.block_bytes = 30000 * f.workers;
        ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, NULL, &count, NULL, &err), TIDE_OK);
        ck_assert_uint_eq(rows.len, alone.len);
        ck_assert(memcmp(rows.data, alone.data, rows.len) == 0);
        tide__strbuf_deinit(&rows);
    }
    // Closing in the middle joins the threads and frees all.
    struct source_reader *reader = NULL;
    struct source_batch *batch = NULL;
    enum source_state state;
    ck_assert_int_eq(open_reader(&f, &reader, &err), TIDE_OK);
    ck_assert_int_eq(tide__source_next(reader, &batch, &state, &err), TIDE_OK);
    ck_assert_int_eq(batch->time_min, batch->watermarks[0]);
    tide__source_release(reader, batch);
    tide__source_close(reader);
    ck_assert_uint_eq(f.budget.used, 0);
    tide__strbuf_deinit(&text);
    tide__strbuf_deinit(&alone);
    end(&f);
}
END_TEST

START_TEST(a_bad_row_fails_when_it_is_reached_and_says_where) {
    for (uint32_t workers = 0; workers < 3; workers++) {
        struct fixture f;
        begin(&f, "ts TIMESTAMP(3); n BIGINT; s STRING", OPTIONS("path", "in.csv"), 0);
        f.workers = workers;
        f.block_bytes = 20000;
        struct strbuf text = {0}, rows = {0};
        fill_rows(&text, 0, 40000);
        size_t lines = 0;
        for (size_t i = 0; i < text.len; i++) lines += text.data[i] == '\n';
        tide__strbuf_append_c(&text, "2024-01-02 00:00:00,\xC3\xA9x1,bad\n");
        fill_rows(&text, 0, 1000);
        write_file(f.folder, "in.csv", text.data, text.len);
        tide_error err;
        size_t count = 0;
        ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, NULL, &count, NULL, &err), TIDE_ERR_RUNTIME);
        ck_assert_uint_eq(count, 40000);
        ck_assert_str_eq(err.file, "in.csv");
        ck_assert_uint_eq(err.line, lines + 1);
        ck_assert_uint_eq(err.column, 21);
        ck_assert_str_eq(err.message, "\"\xC3\xA9x1\" is no BIGINT in column \"n\" (field 2)");
        ck_assert_str_eq(err.excerpt, "2024-01-02 00:00:00,\xC3\xA9x1,bad");
        ck_assert_uint_eq(err.caret, 20);
        tide__strbuf_deinit(&text);
        tide__strbuf_deinit(&rows);
        end(&f);
    }
}
END_TEST

START_TEST(a_null_event_time_fails_at_its_row) {
    struct fixture f;
    begin(&f, "n INT; ts TIMESTAMP(3)", OPTIONS("path", "in.csv", "csv.ignore-parse-errors", "true"), 1);
    static const char text[] = "1,2020-01-01 00:00:00\n2,2020-01-01 00:00:01\n3,garbage\n4,2020-01-01 00:00:02\n";
    write_file(f.folder, "in.csv", text, sizeof(text) - 1);
    struct strbuf rows = {0};
    tide_error err;
    size_t count = 0;
    ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, NULL, &count, NULL, &err), TIDE_ERR_RUNTIME);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(err.message, "the event time in column \"ts\" is NULL");
    ck_assert_uint_eq(err.line, 3);
    tide__strbuf_deinit(&rows);
    end(&f);
}
END_TEST

// The position behind `rows` rows.
static struct strbuf position_after(struct fixture *f, size_t rows) {
    struct source_reader *reader = NULL;
    tide_error err;
    ck_assert_int_eq(open_reader(f, &reader, &err), TIDE_OK);
    struct strbuf out = {0};
    for (size_t at = 0;;) {
        struct source_batch *batch = NULL;
        enum source_state state;
        ck_assert_int_eq(tide__source_next(reader, &batch, &state, &err), TIDE_OK);
        size_t have = batch != NULL ? batch->batch.rows : 0;
        if (batch == NULL || at + have >= rows) {
            ck_assert_int_eq(tide__source_save(reader, batch, rows - at, &out, NULL), TIDE_OK);
            tide__source_release(reader, batch);
            break;
        }
        at += have;
        tide__source_release(reader, batch);
    }
    tide__source_close(reader);
    return out;
}

static tide_status resume(struct fixture *f, const struct strbuf *position, enum changed_input changed,
                          struct strbuf *rows, tide_error *err) {
    struct source_reader *reader = NULL;
    tide__strbuf_clear(rows);
    tide__strbuf_append_c(rows, "");
    TIDE_TRY(open_reader(f, &reader, err));
    tide_status status = tide__source_restore(reader, tide__strbuf_str(position), changed, err);
    struct source_batch *batch = NULL;
    enum source_state state;
    while (status == TIDE_OK && (status = tide__source_next(reader, &batch, &state, err)) == TIDE_OK && batch != NULL) {
        print_rows(&batch->batch, rows);
        tide__source_release(reader, batch);
    }
    tide__source_close(reader);
    return status;
}

START_TEST(changed_input_is_refused_and_grown_input_goes_on) {
    struct fixture f;
    begin(&f, "a STRING; b INT", OPTIONS("path", "in.csv"), -1);
    write_file(f.folder, "in.csv", "one,1\ntwo,2\nthree,3\n", 20);
    struct strbuf two = position_after(&f, 2), all = position_after(&f, 9), rows = {0};
    tide_error err;
    ck_assert_int_eq(resume(&f, &two, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "three|3\n");
    ck_assert_int_eq(resume(&f, &all, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "");
    write_file(f.folder, "in.csv", "one,1\ntwo,2\nthree,3\nfour,4\n", 27);
    ck_assert_int_eq(resume(&f, &all, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "four|4\n");
    // Edited behind the offset: nothing that was read is different.
    write_file(f.folder, "in.csv", "one,1\ntwo,2\nTHREE,3\n", 20);
    ck_assert_int_eq(resume(&f, &two, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "THREE|3\n");
    write_file(f.folder, "in.csv", "ONE,1\ntwo,2\nthree,3\n", 20);
    ck_assert_int_eq(resume(&f, &two, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_ERR_REFUSED);
    ck_assert_ptr_nonnull(strstr(err.message, "input file \"in.csv\" has changed since the savepoint"));
    ck_assert_ptr_nonnull(strstr(err.hint, "--accept-changed-input"));
    ck_assert_int_eq(resume(&f, &two, CHANGED_INPUT_ACCEPT, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "three|3\n");
    // Shorter than it was, though nothing that was read is gone.
    write_file(f.folder, "in.csv", "one,1\ntwo,2\nx,3\n", 16);
    ck_assert_int_eq(resume(&f, &two, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_ERR_REFUSED);
    ck_assert_ptr_nonnull(strstr(err.message, "it had 20 bytes, now it has 16"));
    write_file(f.folder, "in.csv", "one,1\n", 6);
    ck_assert_int_eq(resume(&f, &two, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_ERR_REFUSED);
    ck_assert_ptr_nonnull(strstr(err.message, "12 bytes of 20 had been read, now it has 6"));
    tide__strbuf_deinit(&two);
    tide__strbuf_deinit(&all);
    tide__strbuf_deinit(&rows);
    end(&f);
}
END_TEST

START_TEST(an_unfinished_last_line_may_only_get_its_line_end) {
    struct fixture f;
    begin(&f, "a STRING; b INT", OPTIONS("path", "in.csv"), -1);
    write_file(f.folder, "in.csv", "one,1\ntwo,2", 11);
    struct strbuf all = position_after(&f, 2), rows = {0};
    tide_error err;
    ck_assert_int_eq(resume(&f, &all, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "");
    write_file(f.folder, "in.csv", "one,1\ntwo,2\nthree,3\n", 20);
    ck_assert_int_eq(resume(&f, &all, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "three|3\n");
    write_file(f.folder, "in.csv", "one,1\ntwo,22\nthree,3\n", 21);
    ck_assert_int_eq(resume(&f, &all, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_ERR_REFUSED);
    ck_assert_ptr_nonnull(strstr(err.message, "its last line had no line end at byte 11"));
    tide__strbuf_deinit(&all);
    tide__strbuf_deinit(&rows);
    end(&f);
}
END_TEST

START_TEST(new_files_are_read_after_the_current_one) {
    struct fixture f;
    begin(&f, "a STRING", OPTIONS("path", "."), -1);
    write_file(f.folder, "b", "b1\nb2\n", 6);
    write_file(f.folder, "d", "d1\nd2\n", 6);
    struct strbuf position = position_after(&f, 3), all = position_after(&f, 4), rows = {0};
    write_file(f.folder, "a", "a1\n", 3);
    write_file(f.folder, "b", "b1\nb2\nb3,x\n", 11);
    write_file(f.folder, "e", "e1\n", 3);
    tide_error err;
    ck_assert_int_eq(resume(&f, &position, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_ERR_RUNTIME);
    ck_assert_str_eq(err.file, "./b");
    ck_assert_uint_eq(err.line, 3);
    write_file(f.folder, "b", "b1\nb2\nb3\n", 9);
    ck_assert_int_eq(resume(&f, &position, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "d2\ne1\na1\nb3\n");
    ck_assert_int_eq(resume(&f, &all, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_OK);
    ck_assert_str_eq(rows.data, "e1\na1\nb3\n");
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/b", f.folder);
    unlink(path.data);
    ck_assert_int_eq(resume(&f, &position, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_ERR_REFUSED);
    ck_assert_ptr_nonnull(strstr(err.message, "it is gone"));
    tide__strbuf_deinit(&path);
    tide__strbuf_deinit(&position);
    tide__strbuf_deinit(&all);
    tide__strbuf_deinit(&rows);
    end(&f);
}
END_TEST

START_TEST(damaged_positions_are_errors) {
    struct fixture f;
    begin(&f, "a STRING", OPTIONS("path", "in.csv"), -1);
    write_file(f.folder, "in.csv", "b1\nb2\n", 6);
    struct strbuf good = position_after(&f, 1), rows = {0};
    tide_error err;
    for (size_t len = 0; len < good.len; len++) {
        struct strbuf cut = {0};
        tide__strbuf_append(&cut, good.data, len);
        ck_assert_int_eq(resume(&f, &cut, CHANGED_INPUT_REFUSE, &rows, &err), TIDE_ERR_SAVEPOINT);
        tide__strbuf_deinit(&cut);
    }
    tide__strbuf_deinit(&good);
    tide__strbuf_deinit(&rows);
    end(&f);
}
END_TEST

START_TEST(a_missing_file_is_named_with_its_place) {
    struct fixture f;
    begin(&f, "a STRING", OPTIONS("path", "nope.csv"), -1);
    struct source_reader *reader = NULL;
    tide_error err;
    ck_assert_int_eq(open_reader(&f, &reader, &err), TIDE_ERR_IO);
    ck_assert_str_eq(err.message, "file \"nope.csv\" does not exist");
    ck_assert_uint_gt(err.line, 0);
    char *hint = tide__arena_printf(&f.arena, "a relative 'path' is relative to the script's folder: \"%s/nope.csv\"",
                                    f.folder);
    ck_assert_str_eq(err.hint, hint);
    end(&f);
}
END_TEST

START_TEST(a_row_without_end_is_told_with_its_line) {
    for (uint32_t workers = 0; workers < 3; workers += 2) {
        struct fixture f;
        begin(&f, "a STRING", OPTIONS("path", "in.csv"), -1);
        f.workers = workers;
        struct strbuf text = {0}, rows = {0};
        tide__strbuf_append_c(&text, "one\n\"two\nlines\"\n\"three");
        while (text.len < 17 << 20) tide__strbuf_append_c(&text, "0123456789012345678901234567890123456789\n");
        write_file(f.folder, "in.csv", text.data, text.len);
        tide_error err;
        size_t count = 0;
        ck_assert_int_eq(read_all(&f, (struct str){0}, &rows, NULL, &count, NULL, &err), TIDE_ERR_RUNTIME);
        ck_assert_uint_eq(count, 2);
        ck_assert_str_eq(err.message, "the row that begins here is longer than 16 MiB, the most that one may have");
        ck_assert_str_eq(err.file, "in.csv");
        ck_assert_uint_eq(err.line, 4);
        ck_assert_str_eq(err.excerpt, "\"three0123456789012345678901234567890123456789");
        tide__strbuf_deinit(&text);
        tide__strbuf_deinit(&rows);
        end(&f);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connector_source");
    TCase *tests = tcase_create("connector_source");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_block_size_gives_the_same_rows_and_positions);
    tcase_add_test(tests, the_position_behind_every_row_is_exact);
    tcase_add_test(tests, files_are_read_in_path_order_and_hidden_ones_are_not);
    tcase_add_test(tests, partition_columns_come_from_folder_names);
    tcase_add_test(tests, threads_give_the_same_rows_in_the_same_order);
    tcase_add_test(tests, a_bad_row_fails_when_it_is_reached_and_says_where);
    tcase_add_test(tests, a_null_event_time_fails_at_its_row);
    tcase_add_test(tests, changed_input_is_refused_and_grown_input_goes_on);
    tcase_add_test(tests, an_unfinished_last_line_may_only_get_its_line_end);
    tcase_add_test(tests, new_files_are_read_after_the_current_one);
    tcase_add_test(tests, damaged_positions_are_errors);
    tcase_add_test(tests, a_row_without_end_is_told_with_its_line);
    tcase_add_test(tests, a_missing_file_is_named_with_its_place);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
