// Writing a savepoint and reading it back.
#include "base/alloc.h"
#include "checkpoint_tests.h"
#include "sample.h"

#include "base/arena.h"
#include "checkpoint/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *dir;
static char path[256];

static void set_up(void) {
    dir = sample_dir();
    snprintf(path, sizeof path, "%s/a.savepoint", dir);
}

static void tear_down(void) {
    sample_dir_remove(dir);
}

static struct savepoint *open_ok(void) {
    struct savepoint *savepoint;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(tide__savepoint_open(path, &savepoint, &err) == TIDE_OK, "%s", err.message);
    return savepoint;
}

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

START_TEST(every_field_of_the_manifest_comes_back) {
    sample_write(path, (struct sample_shape){.windows = 2, .keys = 3, .keyed = 1});
    struct savepoint *savepoint = open_ok();
    const struct savepoint_info *in = sample_info(), *out = tide__savepoint_info(savepoint);
    ck_assert_uint_eq(out->format_version, SAVEPOINT_FORMAT_VERSION);
    ck_assert_str_eq(out->writer_version, in->writer_version);
    ck_assert_str_eq(out->job_name, in->job_name);
    ck_assert_str_eq(out->script_name, in->script_name);
    ck_assert(tide__str_eq(out->sql, in->sql));
    ck_assert_uint_eq(out->statement_index, in->statement_index);
    ck_assert_uint_eq(out->rows_before, in->rows_before);
    ck_assert_uint_eq(out->checkpoint_id, in->checkpoint_id);
    ck_assert_int_eq(out->created_ms, in->created_ms);
    ck_assert_str_eq(out->run_id, in->run_id);
    ck_assert_uint_eq(out->plan.operator_count, in->plan.operator_count);
    for (size_t i = 0; i < in->plan.operator_count; i++) {
        const struct plan_operator *a = &in->plan.operators[i], *b = &out->plan.operators[i];
        ck_assert(same_text(a->operator_id, b->operator_id) && same_text(a->kind, b->kind) &&
                  same_text(a->uid, b->uid));
        ck_assert(a->stateful == b->stateful && a->fingerprint == b->fingerprint && a->clause_count == b->clause_count);
        for (size_t k = 0; k < a->clause_count; k++) {
            const struct plan_clause *x = &a->clauses[k], *y = &b->clauses[k];
            ck_assert(same_text(x->code, y->code) && same_text(x->text, y->text) && same_text(x->source, y->source));
            ck_assert(x->line == y->line && x->column == y->column);
        }
        ck_assert_uint_eq(a->input_count, b->input_count);
        for (size_t k = 0; k < a->input_count; k++) ck_assert_str_eq(a->inputs[k], b->inputs[k]);
    }
    ck_assert_uint_eq(out->snapshot.part_count, in->snapshot.part_count);
    ck_assert(out->snapshot.rows == 7 && out->snapshot.turn == 1 && out->snapshot.turn_rows == 3 &&
              out->snapshot.ended);
    for (size_t i = 0; i < in->snapshot.part_count; i++) {
        const struct task_part *a = &in->snapshot.parts[i], *b = &out->snapshot.parts[i];
        ck_assert(a->kind == b->kind && same_text(a->operator_id, b->operator_id) && a->watermark == b->watermark);
        ck_assert(tide__str_eq(a->saved, b->saved) && a->watermark_reached == b->watermark_reached);
        ck_assert(a->watermark_let_out == b->watermark_let_out && a->rows == b->rows && a->rows_in == b->rows_in);
        ck_assert(a->rows_out == b->rows_out && a->late_rows == b->late_rows && a->windows_fired == b->windows_fired);
    }
    tide__savepoint_close(savepoint);
}
END_TEST

START_TEST(tables_are_described_and_counted) {
    sample_write(path, (struct sample_shape){.windows = 3, .keys = 4, .keyed = 5});
    struct savepoint *savepoint = open_ok();
    const struct savepoint_info *info = tide__savepoint_info(savepoint);
    ck_assert_uint_eq(info->table_count, 2);
    const struct savepoint_table *windowed = &info->tables[0], *keyed = &info->tables[1];
    ck_assert_str_eq(windowed->desc.name, "window-aggregate-1.acc");
    ck_assert_str_eq(windowed->desc.operator_id, "window-aggregate-1");
    ck_assert_int_eq(windowed->desc.kind, STATE_TABLE_WINDOWED);
    ck_assert_str_eq(windowed->desc.keys[0].name, "auction");
    ck_assert_str_eq(windowed->desc.values[0].type, "BIGINT");
    ck_assert_int_eq(windowed->desc.values[0].combiner, STATE_COMBINE_ADD);
    ck_assert_int_eq(keyed->desc.values[0].form, STATE_FORM_BYTES);
    ck_assert_uint_eq(windowed->entries, 12);
    ck_assert_uint_eq(windowed->key_bytes, 12 * 24);
    ck_assert_uint_eq(windowed->value_bytes, 12 * 8);
    ck_assert_uint_eq(windowed->window_count, 3);
    ck_assert_int_eq(windowed->windows[0].start_ms, -60000);
    ck_assert_int_eq(windowed->windows[2].end_ms, 120000);
    ck_assert_uint_eq(windowed->windows[1].entries, 4);
    ck_assert_uint_eq(windowed->windows[1].bytes, 4 * 32);
    ck_assert_uint_eq(keyed->entries, 5);
    ck_assert_uint_eq(keyed->window_count, 0);
    tide__savepoint_close(savepoint);
}
END_TEST

// Reads [lower, upper) of table 0 and compares it with what sample_write put there.
static void expect_range(struct savepoint *savepoint, struct sample_shape shape, size_t from, size_t to) {
    char lower[24], upper[24];
    sample_key(from / shape.keys, from % shape.keys, lower);
    sample_key(to / shape.keys, to % shape.keys, upper);
    struct state_source *source;
    struct str end = {upper, to == shape.windows * shape.keys ? 0 : 24};
    ck_assert_int_eq(tide__savepoint_entries(savepoint, 0, (struct str){lower, 24}, end, &source, NULL), TIDE_OK);
    struct state_entry entry;
    for (size_t i = from; i < to; i++) {
        char key[24];
        uint64_t value = sample_value(i / shape.keys, i % shape.keys);
        sample_key(i / shape.keys, i % shape.keys, key);
        ck_assert(source->next(source, &entry));
        ck_assert_int_eq(entry.op, STATE_REPLACE);
        ck_assert(tide__str_eq(entry.key, (struct str){key, 24}));
        ck_assert(tide__str_eq(entry.value, (struct str){(char *)&value, 8}));
    }
    ck_assert(!source->next(source, &entry));
    ck_assert(!source->next(source, &entry));
    source->free(source);
    ck_assert_int_eq(tide__savepoint_status(savepoint, NULL), TIDE_OK);
}

START_TEST(entries_come_back_over_many_chunks_and_in_ranges) {
    struct sample_shape shape = {.windows = 40, .keys = 5000, .keyed = 10};
    sample_write(path, shape);
    struct savepoint *savepoint = open_ok();
    const struct savepoint_table *table = &tide__savepoint_info(savepoint)->tables[0];
    ck_assert_uint_gt(table->chunk_count, 2);
    for (size_t i = 0; i < table->chunk_count; i++) ck_assert_uint_le(table->chunks[i].raw_length, 1 << 20);
    size_t all = shape.windows * shape.keys;
    expect_range(savepoint, shape, 0, all);
    expect_range(savepoint, shape, 1, 2);
    expect_range(savepoint, shape, all - 1, all);
    size_t second = (size_t)table->chunks[0].entries;  // around a chunk's edge
    expect_range(savepoint, shape, second - 1, second + 1);
    expect_range(savepoint, shape, second, second + 1);
    expect_range(savepoint, shape, second, second);
    tide__savepoint_close(savepoint);
}
END_TEST

START_TEST(an_entry_larger_than_a_chunk_has_one_for_itself) {
    sample_write(path, (struct sample_shape){.keyed = 100, .large_value = 3 << 20});
    struct savepoint *savepoint = open_ok();
    const struct savepoint_table *table = &tide__savepoint_info(savepoint)->tables[1];
    ck_assert_uint_eq(table->chunk_count, 2);
    ck_assert_uint_eq(table->chunks[1].entries, 1);
    struct state_source *source;
    ck_assert_int_eq(tide__savepoint_entries(savepoint, 1, STR_LIT("z"), (struct str){0}, &source, NULL), TIDE_OK);
    struct state_entry entry;
    ck_assert(source->next(source, &entry));
    ck_assert_uint_eq(entry.value.len, 3 << 20);
    ck_assert(!source->next(source, &entry));
    source->free(source);
    tide__savepoint_close(savepoint);
    ck_assert_int_eq(tide__savepoint_verify(path, NULL, NULL, NULL), TIDE_OK);
}
END_TEST

// The long keys [from, to) of table 1.
static void expect_long_keys(struct savepoint *savepoint, size_t from, size_t to, size_t all) {
    struct str lower = sample_long_key(from), upper = sample_long_key(to);
    struct state_source *source;
    struct str end = {upper.data, to == all ? 0 : upper.len};
    ck_assert_int_eq(tide__savepoint_entries(savepoint, 1, lower, end, &source, NULL), TIDE_OK);
    struct state_entry entry;
    for (size_t i = from; i < to; i++) {
        struct str key = sample_long_key(i);
        ck_assert(source->next(source, &entry));
        ck_assert(tide__str_eq(entry.key, key));
        tide__free((char *)(uintptr_t)key.data);
    }
    ck_assert(!source->next(source, &entry));
    source->free(source);
    ck_assert_int_eq(tide__savepoint_status(savepoint, NULL), TIDE_OK);
    tide__free((char *)(uintptr_t)lower.data);
    tide__free((char *)(uintptr_t)upper.data);
}

START_TEST(long_keys_do_not_make_the_index_long) {
    enum { KEYS = 8 };
    sample_write(path, (struct sample_shape){.keyed = 100, .long_keys = KEYS});
    struct savepoint *savepoint = open_ok();
    const struct savepoint_table *table = &tide__savepoint_info(savepoint)->tables[1];
    ck_assert_uint_eq(table->entries, 100 + KEYS);
    ck_assert_uint_ge(table->chunk_count, KEYS);
    for (size_t i = 0; i < table->chunk_count; i++) {
        ck_assert_uint_le(table->chunks[i].first_key.len, SAVEPOINT_INDEX_KEY);
        ck_assert_uint_le(table->chunks[i].last_key.len, SAVEPOINT_INDEX_KEY);
    }
    for (size_t from = 0; from < KEYS; from++)
        for (size_t to = from; to <= KEYS; to++) expect_long_keys(savepoint, from, to, KEYS);
    tide__savepoint_close(savepoint);
    ck_assert_int_eq(tide__savepoint_verify(path, NULL, NULL, NULL), TIDE_OK);
}
END_TEST

START_TEST(a_savepoint_without_state_is_one) {
    sample_write(path, (struct sample_shape){0});
    struct savepoint *savepoint = open_ok();
    ck_assert_uint_eq(tide__savepoint_info(savepoint)->tables[0].chunk_count, 0);
    struct state_source *source;
    struct state_entry entry;
    ck_assert_int_eq(tide__savepoint_entries(savepoint, 0, (struct str){0}, (struct str){0}, &source, NULL), TIDE_OK);
    ck_assert(!source->next(source, &entry));
    source->free(source);
    tide__savepoint_close(savepoint);
}
END_TEST

START_TEST(more_windows_than_the_list_holds_are_counted) {
    sample_write(path, (struct sample_shape){.windows = SAVEPOINT_WINDOWS_MAX + 5, .keys = 1});
    struct savepoint *savepoint = open_ok();
    const struct savepoint_table *table = &tide__savepoint_info(savepoint)->tables[0];
    ck_assert_uint_eq(table->window_count, SAVEPOINT_WINDOWS_MAX + 5);
    ck_assert_uint_eq(table->windows[SAVEPOINT_WINDOWS_MAX - 1].entries, 1);
    tide__savepoint_close(savepoint);
}
END_TEST

START_TEST(the_file_is_private_and_nothing_is_left_beside_it) {
    sample_write(path, (struct sample_shape){.windows = 1, .keys = 1});
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    char beside[300];
    snprintf(beside, sizeof beside, "%s.tmp-%ld", path, (long)getpid());
    ck_assert_int_ne(access(beside, F_OK), 0);
}
END_TEST

static void write_to(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    (void)err;
    tide_error *out = ctx;
    struct state_store *store = NULL;
    memcpy(&store, out->message, sizeof store);
    out->message[0] = '\0';
    uint64_t bytes;
    out->status = tide__savepoint_write("/nonexistent/a.savepoint", sample_info(), store, snapshot, &bytes, out);
    tide__state_snapshot_release(snapshot);
}

START_TEST(a_folder_that_is_missing_is_named) {
    struct state_store *store;
    struct memory_budget budget = {.limit = 64 << 20};
    struct state_options options = {.backend = STATE_BACKEND_MEMORY, .budget = &budget};
    ck_assert_int_eq(tide__state_open(&options, &store, NULL), TIDE_OK);
    tide_error err;
    tide__error_clear(&err);
    memcpy(err.message, &store, sizeof store);
    ck_assert_int_eq(tide__state_barrier(store, write_to, &err, NULL), TIDE_OK);
    ck_assert_int_eq(tide__state_sync(store, NULL), TIDE_OK);
    ck_assert_int_eq(err.status, TIDE_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "/nonexistent/a.savepoint"));
    tide__state_close(store);
}
END_TEST

START_TEST(values_of_secret_options_are_blanked) {
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"WITH ('password' = 'x', 'path' = 'y')", "WITH ('password' = '****', 'path' = 'y')"},
        {"WITH ('Sasl.JAAS.config'='a ''b'' c')", "WITH ('Sasl.JAAS.config'='****')"},
        {"SET 'my.Secret-key' = 'x';", "SET 'my.Secret-key' = '****';"},
        {"/*+ OPTIONS('token' = 'x') */", "/*+ OPTIONS('token' = '****') */"},
        {"-- don't: 'password' = 'x'\nWITH ('password'\n = 'y')",
         "-- don't: 'password' = '****'\nWITH ('password'\n = '****')"},
        {"/* it's */ 'password' = 'x'", "/* it's */ 'password' = '****'"},
        {"SELECT 'password', 'x'", "SELECT 'password', 'x'"},
        {"WHERE a = 'password' AND b = 'x'", "WHERE a = 'password' AND b = 'x'"},
        {"'password' = 'open", "'password' = '****'"},
        {"", ""},
    };
    struct arena arena;
    tide__arena_init(&arena);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str out = tide__savepoint_redact(tide__str(cases[i].in), &arena);
        ck_assert_str_eq(out.data, cases[i].out);
    }
    tide__arena_deinit(&arena);
}
END_TEST

TCase *make_savepoint_case(void) {
    TCase *tests = tcase_create("savepoint");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_field_of_the_manifest_comes_back);
    tcase_add_test(tests, tables_are_described_and_counted);
    tcase_add_test(tests, entries_come_back_over_many_chunks_and_in_ranges);
    tcase_add_test(tests, an_entry_larger_than_a_chunk_has_one_for_itself);
    tcase_add_test(tests, long_keys_do_not_make_the_index_long);
    tcase_add_test(tests, a_savepoint_without_state_is_one);
    tcase_add_test(tests, more_windows_than_the_list_holds_are_counted);
    tcase_add_test(tests, the_file_is_private_and_nothing_is_left_beside_it);
    tcase_add_test(tests, a_folder_that_is_missing_is_named);
    tcase_add_test(tests, values_of_secret_options_are_blanked);
    return tests;
}
