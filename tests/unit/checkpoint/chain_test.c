// Deltas: a random history of runs, puts, deletions and drops, a checkpoint now and then, and each of them read back as what
// the state held at its barrier: merged, rewritten as one file, and loaded into another store.
#include "checkpoint_tests.h"
#include "sample.h"

#include "base/alloc.h"
#include "checkpoint/checkpointer.h"
#include "checkpoint/state_dir.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOWS = 12, KEYS = 700, USERS = 3000 };

static char *dir_path;

static void set_up(void) {
    dir_path = sample_dir();
}

static void tear_down(void) {
    sample_dir_remove(dir_path);
}

// --- a job ---------------------------------------------------------------------------------------------------------

struct fake_job {
    struct state_dir *dir;
    struct memory_budget budget;
    struct state_store *store;
    struct state_table *windowed, *keyed;
    struct checkpointer *checkpointer;
    uint64_t next_id;
    uint32_t random;
    // Of the last checkpoint.
    struct strbuf expected[2];
    struct checkpoint_written written;
    bool full;
    tide_error err;
};

static uint32_t draw(struct fake_job *job, uint32_t below) {
    job->random = job->random * 1664525u + 1013904223u;
    return (job->random >> 8) % below;
}

static const struct state_table_desc *desc_of(bool windowed) {
    static const struct state_field keys[] = {{"auction", "BIGINT", STATE_FORM_BYTES, STATE_COMBINE_REPLACE}};
    static const struct state_field values[] = {{"SUM(price)", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},
                                                {"LISTAGG(c)", "STRING", STATE_FORM_BYTES, STATE_COMBINE_CONCAT}};
    static const struct state_field texts[] = {{"name", "STRING", STATE_FORM_BYTES, STATE_COMBINE_LAST}};
    static const struct state_table_desc windowed_desc = {
        "window-aggregate-1.acc", "window-aggregate-1", STATE_TABLE_WINDOWED, 1, 2, keys, values};
    static const struct state_table_desc keyed_desc = {
        "group-aggregate-2.acc", "group-aggregate-2", STATE_TABLE_KEYED, 1, 1, texts, texts};
    return windowed ? &windowed_desc : &keyed_desc;
}

static void open_store(struct fake_job *job, enum state_backend backend) {
    char work[300];
    snprintf(work, sizeof work, "%s/work", dir_path);
    job->budget.limit = 64 << 20;
    struct state_options options = {.backend = backend, .dir = work, .budget = &job->budget};
    ck_assert_int_eq(tide__state_open(&options, &job->store, NULL), TIDE_OK);
    ck_assert_int_eq(tide__state_table(job->store, desc_of(true), &job->windowed, NULL), TIDE_OK);
    ck_assert_int_eq(tide__state_table(job->store, desc_of(false), &job->keyed, NULL), TIDE_OK);
}

static void open_job(struct fake_job *job, enum state_backend backend, uint32_t seed) {
    *job = (struct fake_job){.next_id = 1, .random = seed};
    ck_assert_int_eq(tide__state_dir_open(dir_path, &job->dir, NULL), TIDE_OK);
    open_store(job, backend);
    job->checkpointer = tide__checkpointer_new(job->dir, 1, job->store, 3, 0, 1);
}

static void close_job(struct fake_job *job) {
    tide__state_close(job->store);
    tide__checkpointer_free(job->checkpointer);
    tide__state_dir_close(job->dir);
    tide__strbuf_deinit(&job->expected[0]);
    tide__strbuf_deinit(&job->expected[1]);
}

// A run of given entries.
struct run {
    struct state_source source;
    size_t count, at;
    struct run_entry {
        enum state_op op;
        char key[24], value[32];
        size_t value_len;
    } entries[];
};

static bool run_next(struct state_source *source, struct state_entry *out) {
    struct run *run = (struct run *)source;
    if (run->at == run->count) return false;
    const struct run_entry *entry = &run->entries[run->at++];
    *out = (struct state_entry){entry->op, {entry->key, 24}, {entry->value, entry->value_len}};
    return true;
}

static void run_free(struct state_source *source) {
    tide__free((struct run *)source);
}

// Some keys of the windows [from, to), ascending; one in `rare` of them.
static void submit_run(struct fake_job *job, size_t from, size_t to, uint32_t rare) {
    struct run *run = tide__calloc(1, sizeof *run + (to - from) * KEYS * sizeof *run->entries);
    run->source = (struct state_source){run_next, run_free};
    for (size_t w = from; w < to; w++) {
        for (size_t k = 0; k < KEYS; k++) {
            if (draw(job, rare) != 0) continue;
            struct run_entry *entry = &run->entries[run->count++];
            uint64_t sum = draw(job, 1000);
            static const enum state_op ops[] = {STATE_ADD, STATE_ADD, STATE_REPLACE, STATE_DELETE};
            entry->op = ops[draw(job, 4)];
            sample_key(w, k, entry->key);
            if (entry->op == STATE_DELETE) continue;
            memcpy(entry->value, &sum, 8);
            size_t len = draw(job, 4);
            entry->value[8] = (char)len;
            memset(entry->value + 9, 'a' + (char)draw(job, 26), len);
            entry->value_len = 9 + len;
        }
    }
    ck_assert_int_eq(tide__state_submit_run(job->windowed, &run->source, 1000, NULL), TIDE_OK);
}

static void drop_window(struct fake_job *job, size_t window) {
    char lower[24], upper[24];
    sample_key(window, 0, lower);
    sample_key(window + 1, 0, upper);
    ck_assert_int_eq(tide__state_drop_range(job->windowed, (struct str){lower, 16}, (struct str){upper, 16}, NULL),
                     TIDE_OK);
}

static void put_user(struct fake_job *job, size_t user) {
    char key[32], value[32];
    int key_len = snprintf(key, sizeof key, "user-%06zu", user);
    if (draw(job, 5) == 0) {
        tide__state_delete(job->keyed, (struct str){key, (size_t)key_len});
        return;
    }
    int len = snprintf(value + 1, sizeof value - 1, "#%u", draw(job, 100000));
    value[0] = (char)len;
    tide__state_put(job->keyed, (struct str){key, (size_t)key_len}, (struct str){value, (size_t)len + 1});
}

static void begin(struct fake_job *job) {
    submit_run(job, 0, WINDOWS, 1);
    for (size_t i = 0; i < USERS; i++) put_user(job, i);
}

static void change(struct fake_job *job) {
    uint32_t what = draw(job, 8);
    size_t window = draw(job, WINDOWS);
    if (what < 2) submit_run(job, window, window + 1, 30);
    if (what == 2) submit_run(job, 0, WINDOWS, 200);
    if (what == 3) drop_window(job, window);
    if (what == 4) {  // dropped, and written again at once
        drop_window(job, window);
        submit_run(job, window, window + 1, 20);
    }
    if (what >= 5)
        for (int i = 0; i < 40; i++) put_user(job, draw(job, USERS));
}

// --- what it holds ---------------------------------------------------------------------------------------------------

static void put_entry(struct strbuf *out, struct str key, struct str value) {
    uint32_t lengths[2] = {(uint32_t)key.len, (uint32_t)value.len};
    tide__strbuf_append(out, lengths, sizeof lengths);
    tide__strbuf_append_str(out, key);
    tide__strbuf_append_str(out, value);
}

static void dump_state(struct state_store *store, struct state_snapshot *snapshot, struct strbuf out[2]) {
    for (size_t t = 0; t < 2; t++) {
        tide__strbuf_clear(&out[t]);
        struct state_iter *iter;
        ck_assert_int_eq(tide__state_iter_open(tide__state_table_at(store, t), snapshot, (struct str){0},
                                               (struct str){0}, &iter, NULL),
                         TIDE_OK);
        struct str key, value;
        while (tide__state_iter_next(iter, &key, &value)) put_entry(&out[t], key, value);
        ck_assert_int_eq(tide__state_iter_close(iter, NULL), TIDE_OK);
    }
}

static void ready(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    struct fake_job *job = ctx;
    ck_assert_msg(snapshot != NULL, "%s", err != NULL ? err->message : "");
    struct savepoint_info info = *sample_info();
    info.checkpoint_id = job->next_id++;
    dump_state(job->store, snapshot, job->expected);
    job->err.status = tide__checkpointer_write(job->checkpointer, &info, snapshot, job->full, &job->written, &job->err);
    tide__checkpointer_retain(job->checkpointer);
    tide__state_snapshot_release(snapshot);
}

static void checkpoint(struct fake_job *job) {
    tide__error_clear(&job->err);
    ck_assert_int_eq(tide__state_barrier(job->store, ready, job, NULL), TIDE_OK);
    ck_assert_int_eq(tide__state_sync(job->store, NULL), TIDE_OK);
    ck_assert_msg(job->err.status == TIDE_OK, "%s", job->err.message);
}

static void expect_savepoint(struct savepoint *savepoint, struct strbuf expected[2]) {
    const struct savepoint_info *info = tide__savepoint_info(savepoint);
    ck_assert_uint_eq(info->table_count, 2);
    for (size_t t = 0; t < 2; t++) {
        struct strbuf found = {0};
        struct state_source *source;
        ck_assert_int_eq(tide__savepoint_entries(savepoint, t, (struct str){0}, (struct str){0}, &source, NULL),
                         TIDE_OK);
        struct state_entry entry;
        uint64_t count = 0;
        while (source->next(source, &entry)) {
            ck_assert_int_eq(entry.op, STATE_REPLACE);
            put_entry(&found, entry.key, entry.value);
            count++;
        }
        source->free(source);
        tide_error err;
        tide__error_clear(&err);
        ck_assert_msg(tide__savepoint_status(savepoint, &err) == TIDE_OK, "%s", err.message);
        ck_assert_msg(tide__str_eq(tide__strbuf_str(&found), tide__strbuf_str(&expected[t])), "table %zu differs", t);
        if (info->counts_are_bounds)
            ck_assert_uint_ge(info->tables[t].entries, count);
        else
            ck_assert_uint_eq(info->tables[t].entries, count);
        tide__strbuf_deinit(&found);
    }
}

static void path_of(const struct fake_job *job, struct strbuf *out) {
    ck_assert_int_eq(tide__state_dir_checkpoint_path(job->dir, 1, job->next_id - 1, job->written.delta, out, NULL),
                     TIDE_OK);
}

static struct savepoint *open_last(const struct fake_job *job) {
    struct strbuf path = {0};
    path_of(job, &path);
    struct savepoint *savepoint;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(tide__savepoint_open(path.data, &savepoint, &err) == TIDE_OK, "%s", err.message);
    ck_assert_int_eq(tide__savepoint_verify(path.data, NULL, NULL, &err), TIDE_OK);
    tide__strbuf_deinit(&path);
    return savepoint;
}

static void expect_last(struct fake_job *job) {
    struct savepoint *savepoint = open_last(job);
    expect_savepoint(savepoint, job->expected);
    char path[300];
    uint64_t bytes;
    snprintf(path, sizeof path, "%s/one.savepoint", dir_path);
    ck_assert_int_eq(tide__savepoint_rewrite(savepoint, path, &bytes, NULL), TIDE_OK);
    tide__savepoint_close(savepoint);
    ck_assert_int_eq(tide__savepoint_open(path, &savepoint, NULL), TIDE_OK);
    ck_assert_uint_eq(tide__savepoint_info(savepoint)->depth, 0);
    expect_savepoint(savepoint, job->expected);
    tide__savepoint_close(savepoint);
}

// --- cases -----------------------------------------------------------------------------------------------------------

static void random_history(enum state_backend backend, uint32_t seed, int checkpoints) {
    struct fake_job job;
    open_job(&job, backend, seed);
    begin(&job);
    size_t deltas = 0, fulls = 0;
    uint32_t deepest = 0;
    for (int i = 0; i < checkpoints; i++) {
        uint32_t changes = draw(&job, 4);
        for (uint32_t c = 0; c < changes && i > 0; c++) change(&job);
        job.full = draw(&job, 10) == 0;
        checkpoint(&job);
        ck_assert(!job.full || !job.written.delta);
        deltas += job.written.delta;
        fulls += !job.written.delta;
        struct savepoint *savepoint = open_last(&job);
        uint32_t depth = tide__savepoint_info(savepoint)->depth;
        if (depth > deepest) deepest = depth;
        tide__savepoint_close(savepoint);
        expect_last(&job);
    }
    ck_assert_uint_gt(deltas, 10);
    ck_assert_uint_gt(fulls, 3);
    ck_assert_uint_gt(deepest, 3);
    close_job(&job);
}

START_TEST(a_chain_holds_what_the_state_held) {
    random_history(STATE_BACKEND_MEMORY, 1u + (uint32_t)_i * 77u, 40);
}
END_TEST

START_TEST(a_chain_of_rocksdb_holds_what_the_state_held) {
    random_history(STATE_BACKEND_ROCKSDB, 5, 30);
}
END_TEST

START_TEST(a_loaded_chain_goes_on) {
    struct fake_job job;
    open_job(&job, STATE_BACKEND_ROCKSDB, 9);
    begin(&job);
    checkpoint(&job);
    for (int i = 0; i < 3; i++) {
        change(&job);
        change(&job);
        checkpoint(&job);
        ck_assert(job.written.delta);
    }
    struct savepoint *savepoint = open_last(&job);
    tide__state_close(job.store);
    tide__checkpointer_free(job.checkpointer);
    open_store(&job, STATE_BACKEND_ROCKSDB);
    for (size_t t = 0; t < 2; t++) {
        struct state_source *source;
        ck_assert_int_eq(tide__savepoint_entries(savepoint, t, (struct str){0}, (struct str){0}, &source, NULL),
                         TIDE_OK);
        ck_assert_int_eq(tide__state_load(tide__state_table_at(job.store, t), source, NULL), TIDE_OK);
    }
    tide__savepoint_close(savepoint);
    job.checkpointer = tide__checkpointer_new(job.dir, 1, job.store, 3, job.next_id - 1, job.next_id);
    struct strbuf before[2] = {job.expected[0], job.expected[1]};
    job.expected[0] = job.expected[1] = (struct strbuf){0};
    checkpoint(&job);
    for (size_t t = 0; t < 2; t++) {
        ck_assert(tide__str_eq(tide__strbuf_str(&before[t]), tide__strbuf_str(&job.expected[t])));
        tide__strbuf_deinit(&before[t]);
    }
    ck_assert(!job.written.delta);
    change(&job);
    checkpoint(&job);
    ck_assert(job.written.delta);
    expect_last(&job);
    close_job(&job);
}
END_TEST

START_TEST(an_unchanged_state_costs_an_index) {
    struct fake_job job;
    open_job(&job, STATE_BACKEND_MEMORY, 3);
    begin(&job);
    checkpoint(&job);
    uint64_t full = job.written.bytes;
    checkpoint(&job);
    ck_assert(job.written.delta);
    ck_assert_uint_lt(job.written.bytes * 10, full);
    expect_last(&job);
    close_job(&job);
}
END_TEST

START_TEST(all_changed_is_a_full_one) {
    struct fake_job job;
    open_job(&job, STATE_BACKEND_MEMORY, 3);
    begin(&job);
    checkpoint(&job);
    submit_run(&job, 0, WINDOWS, 1);
    checkpoint(&job);
    ck_assert(!job.written.delta);
    expect_last(&job);
    close_job(&job);
}
END_TEST

// --- damage ------------------------------------------------------------------------------------------------------------

static void flip(const char *path, uint64_t at) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char byte;
    ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= 1;
    ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

static void count_damage(void *ctx, const struct savepoint_damage *damage) {
    (void)damage;
    (*(int *)ctx)++;
}

// Every entry of the salvaged file is one of the whole, and those that are missing lie in the ranges it tells.
static void expect_salvaged(const char *path, const struct strbuf expected[2], uint64_t missing) {
    struct savepoint *savepoint;
    ck_assert_int_eq(tide__savepoint_open(path, &savepoint, NULL), TIDE_OK);
    const struct savepoint_info *info = tide__savepoint_info(savepoint);
    ck_assert_uint_gt(info->missing_count, 0);
    uint64_t left_out = 0;
    for (size_t t = 0; t < 2; t++) {
        struct state_source *source;
        ck_assert_int_eq(tide__savepoint_entries(savepoint, t, (struct str){0}, (struct str){0}, &source, NULL),
                         TIDE_OK);
        struct state_entry entry;
        bool more = source->next(source, &entry);
        for (size_t at = 0; at < expected[t].len;) {
            uint32_t lengths[2];
            memcpy(lengths, expected[t].data + at, sizeof lengths);
            struct str key = {expected[t].data + at + 8, lengths[0]}, value = {key.data + key.len, lengths[1]};
            at += 8 + key.len + value.len;
            if (more && tide__str_eq(entry.key, key)) {
                ck_assert(tide__str_eq(entry.value, value));
                more = source->next(source, &entry);
                continue;
            }
            bool told = false;
            for (size_t i = 0; i < info->missing_count; i++)
                told |= info->missing[i].table == t && tide__str_cmp(info->missing[i].first_key, key) <= 0 &&
                        tide__str_cmp(key, info->missing[i].last_key) <= 0;
            ck_assert(told);
            left_out++;
        }
        ck_assert(!more);
        source->free(source);
    }
    ck_assert_uint_gt(left_out, 0);
    ck_assert_uint_ge(missing, left_out);
    tide__savepoint_close(savepoint);
}

START_TEST(what_is_whole_of_a_chain_is_saved) {
    struct fake_job job;
    open_job(&job, STATE_BACKEND_MEMORY, 21);
    begin(&job);
    checkpoint(&job);
    struct strbuf full = {0}, last = {0};
    path_of(&job, &full);
    for (int i = 0; i < 3; i++) {
        submit_run(&job, 2, 4, 20);
        checkpoint(&job);
        ck_assert(job.written.delta);
    }
    path_of(&job, &last);
    flip(_i == 0 ? full.data : last.data, 40);
    int damaged = 0;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__savepoint_verify(last.data, count_damage, &damaged, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_int_eq(damaged, 1);
    char path[300];
    snprintf(path, sizeof path, "%s/saved.savepoint", dir_path);
    uint64_t missing;
    tide__error_clear(&err);
    ck_assert_msg(tide__savepoint_salvage(last.data, path, count_damage, &damaged, &missing, &err) == TIDE_OK, "%s",
                  err.message);
    expect_salvaged(path, job.expected, missing);
    tide__strbuf_deinit(&full);
    tide__strbuf_deinit(&last);
    close_job(&job);
}
END_TEST

START_TEST(another_file_is_not_taken_for_the_parent) {
    struct fake_job job;
    open_job(&job, STATE_BACKEND_MEMORY, 4);
    begin(&job);
    checkpoint(&job);
    struct strbuf full = {0}, last = {0};
    path_of(&job, &full);
    submit_run(&job, 1, 2, 10);
    checkpoint(&job);
    path_of(&job, &last);
    sample_write(full.data, (struct sample_shape){.windows = 2, .keys = 2, .id = 1});
    struct savepoint *savepoint;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__savepoint_open(last.data, &savepoint, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_nonnull(strstr(err.message, "another file than it was written for"));
    unlink(full.data);
    tide__error_clear(&err);
    ck_assert_int_eq(tide__savepoint_open(last.data, &savepoint, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_nonnull(strstr(err.message, "chk-1.savepoint"));
    ck_assert_ptr_null(savepoint);
    tide__strbuf_deinit(&full);
    tide__strbuf_deinit(&last);
    close_job(&job);
}
END_TEST

TCase *make_chain_case(void) {
    TCase *tests = tcase_create("chain");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, a_chain_holds_what_the_state_held, 0, 4);
    tcase_add_test(tests, a_chain_of_rocksdb_holds_what_the_state_held);
    tcase_add_test(tests, a_loaded_chain_goes_on);
    tcase_add_test(tests, an_unchanged_state_costs_an_index);
    tcase_add_test(tests, all_changed_is_a_full_one);
    tcase_add_loop_test(tests, what_is_whole_of_a_chain_is_saved, 0, 2);
    tcase_add_test(tests, another_file_is_not_taken_for_the_parent);
    return tests;
}
