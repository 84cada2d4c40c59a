// Input that is yet to come: watched folders, standard input; and their positions.
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

struct fixture {
    struct arena arena;
    char *folder;
    struct plan *plan;
    struct plan_node *scan;
    uint32_t workers;
    struct memory_budget budget;
    struct source_reader *reader;
    struct source_batch *batch;
    size_t batch_at;  // rows of it that are done
    int pipe[2];
};

#define OPTIONS(...) ((const char *const[]){"connector", "filesystem", "format", "csv", __VA_ARGS__, NULL, NULL})
#define WATCHED      OPTIONS("path", "in", "source.monitor-interval", "1 ms")
#define INPUT        OPTIONS("path", "-")

static void begin(struct fixture *f, const char *const *options) {
    *f = (struct fixture){.folder = make_folder()};
    tide__arena_init(&f->arena);
    f->plan = build_plan(&f->arena);
    f->scan = build_scan(&f->arena, build_table(&f->arena, "a STRING", options), -1);
    ck_assert_int_eq(pipe(f->pipe), 0);
    char in[512];
    snprintf(in, sizeof(in), "%s/in", f->folder);
    ck_assert_int_eq(mkdir(in, 0777), 0);
}

static tide_status open_at(struct fixture *f, struct str position, enum changed_input changed, tide_error *err) {
    struct source_env env = {f->plan, f->scan, f->folder, f->workers, 1000, &f->budget};
    tide__error_clear(err);
    TIDE_TRY(tide__source_open(&env, &f->reader, err));
    f->reader->stream.fd = f->pipe[0];
    return position.len > 0 ? tide__source_restore(f->reader, position, changed, err) : TIDE_OK;
}

static void close_reader(struct fixture *f) {
    tide__source_release(f->reader, f->batch);
    tide__source_close(f->reader);
    f->reader = NULL;
    f->batch = NULL;
    f->batch_at = 0;
}

static void new_pipe(struct fixture *f) {
    close(f->pipe[0]);
    if (f->pipe[1] >= 0) close(f->pipe[1]);
    ck_assert_int_eq(pipe(f->pipe), 0);
}

static void feed(struct fixture *f, const char *text) {
    ck_assert_int_eq(write(f->pipe[1], text, strlen(text)), (ssize_t)strlen(text));
}

static void end(struct fixture *f) {
    if (f->reader != NULL) close_reader(f);
    ck_assert_uint_eq(f->budget.used, 0);
    close(f->pipe[0]);
    if (f->pipe[1] >= 0) close(f->pipe[1]);
    remove_folder(f->folder);
    tide__arena_deinit(&f->arena);
}

// One row more as text; "wait" or "end" if there is none, "error: ..." after a failure.
static const char *next_row(struct fixture *f) {
    tide_error err;
    tide__error_clear(&err);
    if (f->batch != NULL && f->batch_at == f->batch->batch.rows) {
        tide__source_release(f->reader, f->batch);
        f->batch = NULL;
    }
    if (f->batch == NULL) {
        enum source_state state;
        f->batch_at = 0;
        if (tide__source_next(f->reader, &f->batch, &state, &err) != TIDE_OK) {
            return tide__arena_printf(&f->arena, "error: %s", err.message);
        }
        if (state == SOURCE_WAITING) return "wait";
        if (state == SOURCE_END) return "end";
    }
    struct str value = f->batch->batch.columns[0].str[f->batch_at++];
    return tide__arena_printf(&f->arena, "%.*s", STR_ARG(value));
}

// Rows until one is `last`, joined.
static const char *rows_until(struct fixture *f, const char *last) {
    const char *all = "";
    for (int i = 0; i < 10000; i++) {
        const char *row = next_row(f);
        if (strcmp(row, last) == 0) return tide__arena_printf(&f->arena, "%s%s", all, last);
        if (strcmp(row, "wait") == 0) {
            usleep(500);
            continue;
        }
        all = tide__arena_printf(&f->arena, "%s%s ", all, row);
    }
    return all;
}

static struct strbuf position(struct fixture *f) {
    struct strbuf out = {0};
    ck_assert_int_eq(tide__source_save(f->reader, f->batch, f->batch_at, &out, NULL), TIDE_OK);
    return out;
}

static void put(struct fixture *f, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof(path), "in/%s", name);
    write_file(f->folder, path, text, strlen(text));
}

// --- watched folders ------------------------------------------------------------------------------------------------

START_TEST(new_files_are_found) {
    struct fixture f;
    tide_error err;
    begin(&f, WATCHED);
    put(&f, "b", "b1\nb2\n");
    ck_assert_int_eq(open_at(&f, (struct str){0}, CHANGED_INPUT_REFUSE, &err), TIDE_OK);
    ck_assert_str_eq(rows_until(&f, "b2"), "b1 b2");
    ck_assert_str_eq(next_row(&f), "wait");
    put(&f, "c", "c1\n");
    put(&f, "a", "a1\n");
    put(&f, ".hidden", "no\n");
    ck_assert_str_eq(rows_until(&f, "c1"), "a1 c1");
    // What has grown is not read again.
    put(&f, "b", "b1\nb2\nb3\n");
    put(&f, "d", "d1\n");
    ck_assert_str_eq(rows_until(&f, "d1"), "d1");
    ck_assert_str_eq(next_row(&f), "wait");
    end(&f);
}
END_TEST

START_TEST(what_is_finished_may_be_removed) {
    struct fixture f;
    tide_error err;
    begin(&f, WATCHED);
    put(&f, "a", "a1\na2\n");
    put(&f, "b", "b1\nb2\n");
    ck_assert_int_eq(open_at(&f, (struct str){0}, CHANGED_INPUT_REFUSE, &err), TIDE_OK);
    ck_assert_str_eq(rows_until(&f, "b1"), "a1 a2 b1");
    struct strbuf middle = position(&f);
    ck_assert_str_eq(rows_until(&f, "b2"), "b2");
    struct strbuf all = position(&f);
    ck_assert_str_eq(next_row(&f), "wait");
    struct strbuf waiting = position(&f);
    close_reader(&f);

    char path[512];
    snprintf(path, sizeof(path), "%s/in/a", f.folder);
    unlink(path);
    put(&f, "0", "z1\n");
    ck_assert_int_eq(open_at(&f, tide__strbuf_str(&middle), CHANGED_INPUT_REFUSE, &err), TIDE_OK);
    ck_assert_str_eq(rows_until(&f, "z1"), "b2 z1");
    close_reader(&f);
    // A finished file that comes back under its name is not read again, nor is one that has grown.
    put(&f, "a", "other\n");
    put(&f, "b", "b1\nb2\nb3\n");
    const struct strbuf *ends[] = {&all, &waiting};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(open_at(&f, tide__strbuf_str(ends[i]), CHANGED_INPUT_REFUSE, &err), TIDE_OK);
        ck_assert_str_eq(rows_until(&f, "z1"), "z1");
        ck_assert_str_eq(next_row(&f), "wait");
        close_reader(&f);
    }
    tide__strbuf_deinit(&middle);
    tide__strbuf_deinit(&all);
    tide__strbuf_deinit(&waiting);
    end(&f);
}
END_TEST

START_TEST(large_rounds_are_parsed_by_threads) {
    struct fixture f;
    tide_error err;
    begin(&f, WATCHED);
    f.workers = 2;
    char *text = tide__alloc(2 << 20);
    size_t len = 0, rows = 0;
    for (; len + 32 < (2 << 20); rows++) len += (size_t)sprintf(text + len, "row-%zu\n", rows);
    put(&f, "a", text);
    ck_assert_int_eq(open_at(&f, (struct str){0}, CHANGED_INPUT_REFUSE, &err), TIDE_OK);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < rows;) {
            const char *row = next_row(&f);
            if (strcmp(row, "wait") == 0) {
                usleep(500);
                continue;
            }
            char wanted[32];
            snprintf(wanted, sizeof(wanted), "row-%zu", i++);
            ck_assert_str_eq(row, wanted);
        }
        ck_assert_str_eq(next_row(&f), "wait");
        char name[2] = {(char)('b' + round), '\0'};
        put(&f, name, text);
    }
    tide__free(text);
    end(&f);
}
END_TEST

// --- standard input -------------------------------------------------------------------------------------------------

START_TEST(rows_are_given_as_they_come) {
    struct fixture f;
    tide_error err;
    begin(&f, INPUT);
    ck_assert_int_eq(open_at(&f, (struct str){0}, CHANGED_INPUT_REFUSE, &err), TIDE_OK);
    ck_assert_str_eq(next_row(&f), "wait");
    feed(&f, "\xEF\xBB\xBF"
             "a1\na");
    ck_assert_str_eq(rows_until(&f, "a1"), "a1");
    ck_assert_str_eq(next_row(&f), "wait");
    feed(&f, "2");
    ck_assert_str_eq(next_row(&f), "wait");
    feed(&f, "\n\"x\ny\"\nlast");
    ck_assert_str_eq(rows_until(&f, "x\ny"), "a2 x\ny");
    ck_assert_str_eq(next_row(&f), "wait");
    close(f.pipe[1]);
    f.pipe[1] = -1;
    ck_assert_str_eq(rows_until(&f, "end"), "last end");
    end(&f);
}
END_TEST

START_TEST(the_same_input_goes_on_at_its_place) {
    static const char text[] = "a1\na2\n\"a\n3\"\na4\na5";
    static const char *const rows[] = {"a1", "a2", "a\n3", "a4", "a5"};
    for (int stop = 0; stop <= 5; stop++) {
        struct fixture f;
        tide_error err;
        begin(&f, INPUT);
        ck_assert_int_eq(open_at(&f, (struct str){0}, CHANGED_INPUT_REFUSE, &err), TIDE_OK);
        feed(&f, text);
        if (stop == 5) {
            close(f.pipe[1]);
            f.pipe[1] = -1;
        }
        for (int i = 0; i < stop; i++) ck_assert_str_eq(rows_until(&f, rows[i]), rows[i]);
        struct strbuf saved = position(&f);
        close_reader(&f);

        // Fed again from the start, a byte at a time.
        new_pipe(&f);
        ck_assert_int_eq(open_at(&f, tide__strbuf_str(&saved), CHANGED_INPUT_REFUSE, &err), TIDE_OK);
        struct strbuf got = {0};
        for (size_t i = 0; i <= sizeof(text) - 1; i++) {
            if (i == sizeof(text) - 1) {
                close(f.pipe[1]);
                f.pipe[1] = -1;
            } else {
                ck_assert_int_eq(write(f.pipe[1], text + i, 1), 1);
            }
            // A position on the way is as good as one at the end.
            struct strbuf again = position(&f);
            ck_assert_int_eq(again.data[0], 2);
            tide__strbuf_deinit(&again);
            const char *row = next_row(&f);
            if (strcmp(row, "wait") != 0 && strcmp(row, "end") != 0) tide__strbuf_printf(&got, "%s|", row);
        }
        struct strbuf wanted = {0};
        for (int i = stop; i < 5; i++) tide__strbuf_printf(&wanted, "%s|", rows[i]);
        ck_assert_str_eq(got.len > 0 ? got.data : "", wanted.len > 0 ? wanted.data : "");
        close_reader(&f);

        // What comes instead is taken for what follows: what was read ahead is first.
        new_pipe(&f);
        ck_assert_int_eq(open_at(&f, tide__strbuf_str(&saved), CHANGED_INPUT_ACCEPT, &err), TIDE_OK);
        feed(&f, "\nnew\n");
        tide__strbuf_clear(&got);
        for (const char *row = ""; strcmp(row, "new") != 0;) {
            row = next_row(&f);
            if (strcmp(row, "wait") != 0) tide__strbuf_printf(&got, "%s|", row);
        }
        tide__strbuf_clear(&wanted);
        for (int i = stop; i < 5 && stop > 0; i++) tide__strbuf_printf(&wanted, "%s|", rows[i]);
        if (stop == 0 || stop == 5) tide__strbuf_append_c(&wanted, "|");
        tide__strbuf_append_c(&wanted, "new|");
        ck_assert_str_eq(got.data, wanted.data);
        tide__strbuf_deinit(&wanted);
        tide__strbuf_deinit(&got);
        tide__strbuf_deinit(&saved);
        end(&f);
    }
}
END_TEST

START_TEST(other_input_is_refused) {
    struct fixture f;
    tide_error err;
    begin(&f, INPUT);
    ck_assert_int_eq(open_at(&f, (struct str){0}, CHANGED_INPUT_REFUSE, &err), TIDE_OK);
    feed(&f, "a1\na2\n");
    ck_assert_str_eq(rows_until(&f, "a2"), "a1 a2");
    struct strbuf saved = position(&f);
    close_reader(&f);
    static const char *const others[] = {"b1\na2\na3\n", "a1\n"};
    for (int i = 0; i < 2; i++) {
        new_pipe(&f);
        ck_assert_int_eq(open_at(&f, tide__strbuf_str(&saved), CHANGED_INPUT_REFUSE, &err), TIDE_OK);
        feed(&f, others[i]);
        close(f.pipe[1]);
        f.pipe[1] = -1;
        const char *row = next_row(&f);
        while (strcmp(row, "wait") == 0) row = next_row(&f);
        ck_assert_str_eq(row, "error: standard input does not begin with the 6 bytes that had been read before");
        close_reader(&f);
    }
    tide__strbuf_deinit(&saved);
    end(&f);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("connector_waiting");
    TCase *tests = tcase_create("connector_waiting");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, new_files_are_found);
    tcase_add_test(tests, what_is_finished_may_be_removed);
    tcase_add_test(tests, large_rounds_are_parsed_by_threads);
    tcase_add_test(tests, rows_are_given_as_they_come);
    tcase_add_test(tests, the_same_input_goes_on_at_its_place);
    tcase_add_test(tests, other_input_is_refused);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
