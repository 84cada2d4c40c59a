// One conformance suite over both backends: what a store does must not depend on what it keeps its tables in.
#include "state_tests.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "state/state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// --- a source over copied entries

struct test_entry {
    enum state_op op;
    size_t key_len, value_len;
    char *key, *value;
};

struct test_source {
    struct state_source source;
    size_t count, cap, at;
    struct test_entry *entries;
};

static bool next_entry(struct state_source *base, struct state_entry *out) {
    struct test_source *source = (struct test_source *)base;
    if (source->at == source->count) return false;
    const struct test_entry *entry = &source->entries[source->at++];
    *out = (struct state_entry){entry->op, {entry->key, entry->key_len}, {entry->value, entry->value_len}};
    return true;
}

static void free_entries(struct state_source *base) {
    struct test_source *source = (struct test_source *)base;
    for (size_t i = 0; i < source->count; i++) {
        tide__free(source->entries[i].key);
        tide__free(source->entries[i].value);
    }
    tide__free(source->entries);
    tide__free(source);
}

static struct test_source *new_source(void) {
    struct test_source *source = tide__calloc(1, sizeof *source);
    source->source = (struct state_source){next_entry, free_entries};
    return source;
}

static void add(struct test_source *source, enum state_op op, struct str key, struct str value) {
    source->entries = tide__grow(source->entries, &source->cap, source->count + 1, sizeof *source->entries);
    struct test_entry *entry = &source->entries[source->count++];
    *entry = (struct test_entry){op, key.len, value.len, tide__alloc(key.len + 1), tide__alloc(value.len + 1)};
    memcpy(entry->key, key.data, key.len);
    if (value.len) memcpy(entry->value, value.data, value.len);
}

// --- tables

static const struct state_field count_and_names[] = {
    {"COUNT(*)", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},
    {"names", "STRING", STATE_FORM_BYTES, STATE_COMBINE_CONCAT},
};
static const struct state_table_desc windowed = {.name = "window-1.acc",
                                                 .operator_id = "window-1",
                                                 .kind = STATE_TABLE_WINDOWED,
                                                 .value_count = 2,
                                                 .values = count_and_names};
static const struct state_table_desc keyed = {.name = "rank-2.rows",
                                              .operator_id = "rank-2",
                                              .kind = STATE_TABLE_KEYED,
                                              .value_count = 2,
                                              .values = count_and_names};

static enum state_backend backend_of(int i) {
    return i == 0 ? STATE_BACKEND_MEMORY : STATE_BACKEND_ROCKSDB;
}

struct world {
    struct memory_budget budget;
    char dir[64];
    struct state_store *store;
    struct state_table *windowed, *keyed;
    tide_error err;
};

#define OK(world, call) ck_assert_msg((call) == TIDE_OK, "%s: %s", #call, (world)->err.message)

static void open_world(struct world *world, enum state_backend backend, const char *name) {
    memset(world, 0, sizeof *world);
    world->budget.limit = 16 << 20;
    snprintf(world->dir, sizeof world->dir, "/tmp/tide-state-%d-%s", (int)getpid(), name);
    struct state_options options = {backend, world->dir, &world->budget};
    OK(world, tide__state_open(&options, &world->store, &world->err));
    OK(world, tide__state_table(world->store, &windowed, &world->windowed, &world->err));
    OK(world, tide__state_table(world->store, &keyed, &world->keyed, &world->err));
}

static void close_world(struct world *world) {
    tide__state_close(world->store);
    ck_assert_uint_eq(world->budget.used, 0);
    ck_assert_int_ne(access(world->dir, F_OK), 0);
}

static size_t make_value(char *to, int64_t count, const char *names) {
    memcpy(to, &count, 8);
    to[8] = (char)strlen(names);
    memcpy(to + 9, names, strlen(names));
    return 9 + strlen(names);
}

static void add_text(struct test_source *source, enum state_op op, const char *key, int64_t count, const char *names) {
    char value[200];
    size_t len = op == STATE_DELETE ? 0 : make_value(value, count, names);
    add(source, op, (struct str){key, strlen(key)}, (struct str){value, len});
}

static void put_text(struct state_table *table, const char *key, int64_t count, const char *names) {
    char value[200];
    size_t len = make_value(value, count, names);
    tide__state_put(table, (struct str){key, strlen(key)}, (struct str){value, len});
}

// "key=count:names ..." of everything in the range.
static const char *show(struct world *world, struct state_table *table, struct state_snapshot *snapshot,
                        const char *lower, const char *upper, struct strbuf *out) {
    tide__strbuf_clear(out);
    tide__strbuf_append_c(out, "");
    struct state_iter *iter;
    OK(world, tide__state_iter_open(table, snapshot, (struct str){lower, strlen(lower)},
                                    (struct str){upper, strlen(upper)}, &iter, &world->err));
    struct str key, value;
    while (tide__state_iter_next(iter, &key, &value)) {
        int64_t count;
        ck_assert_uint_ge(value.len, 9);
        memcpy(&count, value.data, 8);
        tide__strbuf_printf(out, "%.*s=%lld:%.*s ", STR_ARG(key), (long long)count, (int)value.len - 9, value.data + 9);
    }
    OK(world, tide__state_iter_close(iter, &world->err));
    return out->data;
}

struct barrier_result {
    atomic_bool done;
    struct state_snapshot *snapshot;
    tide_status status;
};

static void barrier_ready(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    struct barrier_result *result = ctx;
    result->snapshot = snapshot;
    result->status = err ? err->status : TIDE_OK;
    atomic_store(&result->done, true);
}

static struct state_snapshot *barrier(struct world *world) {
    struct barrier_result result = {0};
    OK(world, tide__state_barrier(world->store, barrier_ready, &result, &world->err));
    OK(world, tide__state_sync(world->store, &world->err));
    ck_assert(result.done);
    ck_assert_ptr_nonnull(result.snapshot);
    return result.snapshot;
}

// --- the suite

START_TEST(an_unused_store_makes_no_file) {
    struct world w;
    open_world(&w, backend_of(_i), "unused");
    struct strbuf text = {0};
    ck_assert_str_eq(show(&w, w.windowed, NULL, "", "", &text), "");
    OK(&w, tide__state_drop_range(w.windowed, STR_LIT("a"), STR_LIT("b"), &w.err));
    struct state_snapshot *snapshot = barrier(&w);
    ck_assert_int_ne(access(w.dir, F_OK), 0);
    put_text(w.keyed, "later", 1, "");
    ck_assert_str_eq(show(&w, w.keyed, NULL, "", "", &text), "later=1: ");
    ck_assert_str_eq(show(&w, w.keyed, snapshot, "", "", &text), "");
    tide__state_snapshot_release(snapshot);
    tide__strbuf_deinit(&text);
    close_world(&w);
}
END_TEST

START_TEST(adds_are_combined_in_order) {
    struct world w;
    open_world(&w, backend_of(_i), "adds");
    struct strbuf text = {0};
    for (int run = 0; run < 30; run++) {
        struct test_source *source = new_source();
        if (run % 3 == 0) add_text(source, STATE_ADD, "window-of-16-by.a", 1, "x");
        if (run == 20)
            add_text(source, STATE_REPLACE, "window-of-16-by.b", 100, "r");
        else if (run == 22)
            add_text(source, STATE_DELETE, "window-of-16-by.b", 0, "");
        else
            add_text(source, STATE_ADD, "window-of-16-by.b", run, "y");
        OK(&w, tide__state_submit_run(w.windowed, &source->source, 100, &w.err));
    }
    ck_assert_str_eq(show(&w, w.windowed, NULL, "", "", &text),
                     "window-of-16-by.a=10:xxxxxxxxxx window-of-16-by.b=182:yyyyyyy ");
    ck_assert(tide__state_is_idle(w.windowed));
    struct state_stats stats;
    tide__state_stats(w.store, &stats);
    ck_assert_uint_eq(stats.runs, 30);
    tide__strbuf_deinit(&text);
    close_world(&w);
}
END_TEST

START_TEST(a_snapshot_sees_what_was_submitted_before_and_nothing_later) {
    struct world w;
    open_world(&w, backend_of(_i), "snapshot");
    struct strbuf text = {0};
    put_text(w.keyed, "a", 1, "old");
    put_text(w.keyed, "b", 2, "");
    put_text(w.keyed, "c", 3, "");
    struct state_snapshot *snapshot = barrier(&w);
    put_text(w.keyed, "a", 10, "new");
    tide__state_delete(w.keyed, STR_LIT("b"));
    OK(&w, tide__state_drop_range(w.keyed, STR_LIT("c"), STR_LIT("d"), &w.err));
    put_text(w.keyed, "d", 4, "");
    ck_assert_str_eq(show(&w, w.keyed, NULL, "", "", &text), "a=10:new d=4: ");
    ck_assert_str_eq(show(&w, w.keyed, snapshot, "", "", &text), "a=1:old b=2: c=3: ");
    struct state_snapshot *second = barrier(&w);
    for (int run = 0; run < 40; run++) {
        struct test_source *source = new_source();
        add_text(source, STATE_ADD, "a", 1, "");
        OK(&w, tide__state_submit_run(w.keyed, &source->source, 100, &w.err));
    }
    ck_assert_str_eq(show(&w, w.keyed, second, "", "", &text), "a=10:new d=4: ");
    tide__state_snapshot_release(second);
    ck_assert_str_eq(show(&w, w.keyed, snapshot, "b", "c", &text), "b=2: ");
    tide__state_snapshot_release(snapshot);
    ck_assert_str_eq(show(&w, w.keyed, NULL, "", "c", &text), "a=50:new ");
    tide__strbuf_deinit(&text);
    close_world(&w);
}
END_TEST

START_TEST(a_dropped_window_is_gone_and_its_neighbours_stay) {
    struct world w;
    open_world(&w, backend_of(_i), "drop");
    struct strbuf text = {0};
    for (int run = 0; run < 2; run++) {
        struct test_source *source = new_source();
        for (const char *key = "123456"; *key; key++) {
            char name[32];
            snprintf(name, sizeof name, "window-of-16-b-%c", *key);
            add_text(source, STATE_ADD, name, *key - '0', "");  // a key that is only the window
            strcat(name, "k");
            add_text(source, STATE_ADD, name, 1, "");
        }
        OK(&w, tide__state_submit_run(w.windowed, &source->source, 100, &w.err));
    }
    struct state_snapshot *snapshot = barrier(&w);
    OK(&w, tide__state_drop_range(w.windowed, STR_LIT("window-of-16-b-3"), STR_LIT("window-of-16-b-5"), &w.err));
    ck_assert_str_eq(show(&w, w.windowed, NULL, "window-of-16-b-2", "window-of-16-b-6", &text),
                     "window-of-16-b-2=4: window-of-16-b-2k=2: window-of-16-b-5=10: window-of-16-b-5k=2: ");
    tide__state_snapshot_release(barrier(&w));  // the older snapshot keeps the files
    ck_assert_str_eq(show(&w, w.windowed, snapshot, "window-of-16-b-4", "window-of-16-b-5", &text),
                     "window-of-16-b-4=8: window-of-16-b-4k=2: ");
    // Part of a window, and a window that is written again.
    OK(&w, tide__state_drop_range(w.windowed, STR_LIT("window-of-16-b-5"), STR_LIT("window-of-16-b-5k"), &w.err));
    struct test_source *source = new_source();
    add_text(source, STATE_ADD, "window-of-16-b-4z", 7, "");
    OK(&w, tide__state_submit_run(w.windowed, &source->source, 100, &w.err));
    const char *expected = "window-of-16-b-2=4: window-of-16-b-2k=2: window-of-16-b-4z=7: window-of-16-b-5k=2: ";
    ck_assert_str_eq(show(&w, w.windowed, NULL, "window-of-16-b-2", "window-of-16-b-6", &text), expected);
    tide__state_snapshot_release(snapshot);
    snapshot = barrier(&w);
    ck_assert_str_eq(show(&w, w.windowed, snapshot, "window-of-16-b-2", "window-of-16-b-6", &text), expected);
    tide__state_snapshot_release(snapshot);
    struct state_stats stats;
    tide__state_stats(w.store, &stats);
    ck_assert_uint_ge(stats.windows_dropped, 2);
    tide__strbuf_deinit(&text);
    close_world(&w);
}
END_TEST

START_TEST(point_reads_see_buffered_puts_and_runs) {
    struct world w;
    open_world(&w, backend_of(_i), "get");
    put_text(w.keyed, "a", 1, "");
    put_text(w.keyed, "b", 2, "");
    OK(&w, tide__state_sync(w.store, &w.err));
    put_text(w.keyed, "b", 20, "");
    tide__state_delete(w.keyed, STR_LIT("c"));
    struct str keys[] = {STR_LIT("a"), STR_LIT("aa"), STR_LIT("b"), STR_LIT("c")}, values[4];
    struct arena arena;
    tide__arena_init(&arena);
    OK(&w, tide__state_multi_get(w.keyed, keys, 4, &arena, values, &w.err));
    ck_assert_int_eq(values[0].data[0], 1);
    ck_assert_ptr_null(values[1].data);
    ck_assert_int_eq(values[2].data[0], 20);
    ck_assert_ptr_null(values[3].data);
    tide__arena_deinit(&arena);
    close_world(&w);
}
END_TEST

START_TEST(a_failure_is_reported_from_then_on) {
    struct world w;
    open_world(&w, backend_of(_i), "failure");
    struct barrier_result result = {0};
    for (int run = 0; run < 2; run++) {
        struct test_source *source = new_source();
        add(source, STATE_ADD, STR_LIT("a"), STR_LIT("not a value"));
        OK(&w, tide__state_submit_run(w.keyed, &source->source, 100, &w.err));
    }
    // RocksDB finds out when it reads.
    struct strbuf text = {0};
    tide_status status = tide__state_sync(w.store, &w.err);
    if (status == TIDE_OK) {
        struct state_iter *iter;
        struct str key, value;
        OK(&w, tide__state_iter_open(w.keyed, NULL, STR_LIT(""), STR_LIT(""), &iter, &w.err));
        ck_assert(!tide__state_iter_next(iter, &key, &value));
        status = tide__state_iter_close(iter, &w.err);
    } else {
        ck_assert_int_eq(tide__state_barrier(w.store, barrier_ready, &result, &w.err), TIDE_ERR_IO);
        ck_assert(!result.done);
    }
    ck_assert_int_eq(status, TIDE_ERR_IO);
    ck_assert_str_ne(w.err.message, "");
    tide__strbuf_deinit(&text);
    close_world(&w);
}
END_TEST

START_TEST(a_directory_that_cannot_be_made_is_named) {
    struct world w;
    open_world(&w, STATE_BACKEND_ROCKSDB, "unwritable");
    int fd = open(w.dir, O_CREAT | O_WRONLY, 0600);  // a file is in the way
    ck_assert_int_ge(fd, 0);
    close(fd);
    struct barrier_result result = {0};
    put_text(w.keyed, "a", 1, "");
    if (tide__state_barrier(w.store, barrier_ready, &result, &w.err) == TIDE_OK)
        ck_assert_int_eq(tide__state_sync(w.store, &w.err), TIDE_ERR_IO);
    ck_assert_ptr_null(result.snapshot);
    ck_assert_msg(strstr(w.err.message, w.dir) != NULL, "%s", w.err.message);
    unlink(w.dir);
    close_world(&w);
}
END_TEST

START_TEST(what_is_not_ours_stays_in_the_directory) {
    struct world w;
    open_world(&w, STATE_BACKEND_ROCKSDB, "foreign");
    char path[100], stale[100];
    ck_assert_int_eq(mkdir(w.dir, 0700), 0);
    snprintf(path, sizeof path, "%s/thesis.txt", w.dir);
    snprintf(stale, sizeof stale, "%s/000007.sst", w.dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    close(open(stale, O_CREAT | O_WRONLY, 0600));
    put_text(w.keyed, "a", 1, "");
    OK(&w, tide__state_sync(w.store, &w.err));
    ck_assert_int_ne(access(stale, F_OK), 0);
    tide__state_close(w.store);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(w.dir), 0);
}
END_TEST

START_TEST(two_tables_cannot_share_a_name) {
    struct world w;
    open_world(&w, backend_of(_i), "names");
    struct state_table *table;
    ck_assert_int_eq(tide__state_table(w.store, &keyed, &table, &w.err), TIDE_ERR_PLAN);
    ck_assert_ptr_null(table);
    ck_assert_uint_eq(tide__state_table_count(w.store), 2);
    ck_assert_ptr_eq(tide__state_table_desc(tide__state_table_at(w.store, 1)), &keyed);
    close_world(&w);
}
END_TEST

// --- both backends do the same

static void random_key(uint64_t *seed, bool is_windowed, char *to, size_t *out_len) {
    size_t len = 0;
    if (is_windowed) {
        memset(to, 0, 16);
        to[0] = (char)0x80;
        to[7] = (char)(next_random(seed) % 12);
        to[15] = (char)(to[7] + 1);
        len = 16;
    }
    size_t more = next_random(seed) % 4;
    for (size_t i = 0; i < more; i++) to[len++] = (char)(next_random(seed) % 5);
    if (len == 0) to[len++] = 1;
    *out_len = len;
}

static void random_value(uint64_t *seed, char *to, size_t *out_len) {
    char names[4] = {(char)('a' + next_random(seed) % 26), 0};
    *out_len = make_value(to, (int64_t)(next_random(seed) % 1000), next_random(seed) % 2 ? names : "");
}

static int compare_entries(const void *a, const void *b) {
    const struct test_entry *x = a, *y = b;
    return tide__str_cmp((struct str){x->key, x->key_len}, (struct str){y->key, y->key_len});
}

static struct test_source *random_run(uint64_t seed, bool is_windowed, size_t n, size_t value_extra) {
    struct test_source *source = new_source();
    for (size_t i = 0; i < n; i++) {
        char key[32], value[400];
        size_t key_len, value_len;
        random_key(&seed, is_windowed, key, &key_len);
        random_value(&seed, value, &value_len);
        uint64_t dice = next_random(&seed) % 10;
        enum state_op op = dice < 7 ? STATE_ADD : dice < 9 ? STATE_REPLACE : STATE_DELETE;
        if (value_extra > 0 && value_len == 9) {
            value[8] = (char)value_extra;
            memset(value + 9, 'z', value_extra);
            value_len += value_extra;
        }
        add(source, op, (struct str){key, key_len}, (struct str){value, op == STATE_DELETE ? 0 : value_len});
    }
    qsort(source->entries, source->count, sizeof *source->entries, compare_entries);
    size_t kept = 0;
    for (size_t i = 0; i < source->count; i++) {
        if (kept > 0 && compare_entries(&source->entries[kept - 1], &source->entries[i]) == 0) {
            tide__free(source->entries[i].key);
            tide__free(source->entries[i].value);
        } else {
            source->entries[kept++] = source->entries[i];
        }
    }
    source->count = kept;
    return source;
}

static void compare_tables(struct world *a, struct state_table *table_a, struct state_snapshot *snapshot_a,
                           struct world *b, struct state_table *table_b, struct state_snapshot *snapshot_b,
                           uint64_t seed) {
    char bounds[2][32];
    size_t lens[2] = {0, 0};
    bool is_windowed = tide__state_table_desc(table_a)->kind == STATE_TABLE_WINDOWED;
    if (seed % 3 == 0) random_key(&seed, is_windowed, bounds[0], &lens[0]);
    if (seed % 2 == 0) random_key(&seed, is_windowed, bounds[1], &lens[1]);
    struct str lower = {bounds[0], lens[0]}, upper = {bounds[1], lens[1]};
    struct state_iter *iter_a, *iter_b;
    OK(a, tide__state_iter_open(table_a, snapshot_a, lower, upper, &iter_a, &a->err));
    OK(b, tide__state_iter_open(table_b, snapshot_b, lower, upper, &iter_b, &b->err));
    for (;;) {
        struct str key_a, key_b, value_a, value_b;
        if (next_random(&seed) % 40 == 0) {
            char key[32];
            size_t len;
            random_key(&seed, is_windowed, key, &len);
            tide__state_iter_seek(iter_a, (struct str){key, len});
            tide__state_iter_seek(iter_b, (struct str){key, len});
        }
        bool more_a = tide__state_iter_next(iter_a, &key_a, &value_a);
        bool more_b = tide__state_iter_next(iter_b, &key_b, &value_b);
        ck_assert_int_eq(more_a, more_b);
        if (!more_a) break;
        ck_assert(tide__str_eq(key_a, key_b));
        ck_assert(tide__str_eq(value_a, value_b));
    }
    OK(a, tide__state_iter_close(iter_a, &a->err));
    OK(b, tide__state_iter_close(iter_b, &b->err));
}

// One random operation; the same seed does the same.
static void random_step(struct world *w, uint64_t seed) {
    bool is_windowed = next_random(&seed) % 2;
    struct state_table *table = is_windowed ? w->windowed : w->keyed;
    uint64_t dice = next_random(&seed) % 100;
    char key[32], other[32], value[64];
    size_t key_len, other_len, value_len;
    random_key(&seed, is_windowed, key, &key_len);
    random_key(&seed, is_windowed, other, &other_len);
    if (dice < 60) {
        size_t n = 1 + next_random(&seed) % 60;
        struct test_source *source = random_run(next_random(&seed), is_windowed, n, 0);
        OK(w, tide__state_submit_run(table, &source->source, n * 50, &w->err));
    } else if (dice < 75) {
        random_value(&seed, value, &value_len);
        tide__state_put(table, (struct str){key, key_len}, (struct str){value, value_len});
        tide__state_delete(table, (struct str){other, other_len});
    } else if (dice < 90 && is_windowed) {
        // Whole windows.
        memcpy(other, key, 16);
        other[7] = (char)(key[7] + 1 + (char)(next_random(&seed) % 2));
        memset(key + 8, 0, 8);
        memset(other + 8, 0, 8);
        OK(w, tide__state_drop_range(table, (struct str){key, 16}, (struct str){other, 16}, &w->err));
    } else if (dice < 93) {
        OK(w, tide__state_drop_range(table, (struct str){key, key_len}, (struct str){other, other_len}, &w->err));
    }
}

#ifndef SAME_LOOPS
#define SAME_LOOPS 12  // seeds; more for a long search
#endif

enum { HELD_MAX = 3 };

START_TEST(both_backends_do_the_same) {
    uint64_t seed = (uint64_t)_i + 1;
    struct world a, b;
    char name[2][32];
    snprintf(name[0], sizeof name[0], "same-m%d", _i);
    snprintf(name[1], sizeof name[1], "same-r%d", _i);
    open_world(&a, STATE_BACKEND_MEMORY, name[0]);
    open_world(&b, STATE_BACKEND_ROCKSDB, name[1]);
    struct state_snapshot *held[2][HELD_MAX] = {{NULL}};
    for (int step = 0; step < 250; step++) {
        uint64_t step_seed = next_random(&seed);
        random_step(&a, step_seed);
        random_step(&b, step_seed);
        bool is_windowed = next_random(&seed) % 2;
        uint64_t dice = next_random(&seed) % 30;
        struct state_table *table_a = is_windowed ? a.windowed : a.keyed, *table_b = is_windowed ? b.windowed : b.keyed;
        if (dice == 0) compare_tables(&a, table_a, NULL, &b, table_b, NULL, next_random(&seed));
        size_t slot = next_random(&seed) % HELD_MAX;
        if (dice == 1 || dice == 2) {
            tide__state_snapshot_release(held[0][slot]);
            tide__state_snapshot_release(held[1][slot]);
            held[0][slot] = held[1][slot] = NULL;
        }
        if (dice == 1) {
            held[0][slot] = barrier(&a);
            held[1][slot] = barrier(&b);
        }
        if (dice == 3 && held[0][slot])
            compare_tables(&a, table_a, held[0][slot], &b, table_b, held[1][slot], next_random(&seed));
    }
    for (int slot = 0; slot < HELD_MAX; slot++) {
        if (held[0][slot]) compare_tables(&a, a.windowed, held[0][slot], &b, b.windowed, held[1][slot], 1);
        tide__state_snapshot_release(held[0][slot]);
        tide__state_snapshot_release(held[1][slot]);
    }
    compare_tables(&a, a.windowed, NULL, &b, b.windowed, NULL, 1);
    compare_tables(&a, a.keyed, NULL, &b, b.keyed, NULL, 1);
    close_world(&a);
    close_world(&b);
}
END_TEST

// --- reading while the background thread folds

static struct test_source *big_run(int run, int windows, int keys) {
    struct test_source *source = new_source();
    for (int window = 0; window < windows; window++) {
        for (int k = 0; k < keys; k++) {
            if ((k + run) % 3 == 0) continue;
            char key[40], value[64];
            int len = snprintf(key, sizeof key, "window-of-16-%03d%07d", window, k);
            add(source, STATE_ADD, (struct str){key, (size_t)len}, (struct str){value, make_value(value, 1, "")});
        }
    }
    return source;
}

struct reader {
    struct state_table *table;
    struct state_snapshot *snapshot;
    atomic_bool *stop;
    int64_t expected;
    bool ok;
};

static void *read_snapshot(void *arg) {
    struct reader *reader = arg;
    reader->ok = true;
    tide_error err = {0};
    while (!atomic_load(reader->stop) && reader->ok) {
        struct state_iter *iter;
        struct str key, value;
        int64_t sum = 0;
        reader->ok &= tide__state_iter_open(reader->table, reader->snapshot, STR_LIT(""), STR_LIT(""), &iter, &err) ==
                      TIDE_OK;
        while (tide__state_iter_next(iter, &key, &value)) {
            int64_t count;
            memcpy(&count, value.data, 8);
            sum += count;
        }
        reader->ok &= tide__state_iter_close(iter, &err) == TIDE_OK;
        if (reader->expected >= 0) reader->ok &= sum == reader->expected;
    }
    return NULL;
}

static int64_t total(struct world *w, struct state_snapshot *snapshot) {
    struct state_iter *iter;
    struct str key, value;
    int64_t sum = 0;
    OK(w, tide__state_iter_open(w->windowed, snapshot, STR_LIT(""), STR_LIT(""), &iter, &w->err));
    while (tide__state_iter_next(iter, &key, &value)) {
        int64_t count;
        memcpy(&count, value.data, 8);
        sum += count;
    }
    OK(w, tide__state_iter_close(iter, &w->err));
    return sum;
}

START_TEST(readers_are_not_disturbed_by_folding) {
    struct world w;
    open_world(&w, backend_of(_i), "fold");
    int64_t entries = 0;
    atomic_bool stop = false;
    pthread_t thread;
    struct reader reader = {w.windowed, NULL, &stop, -1, false};
    pthread_create(&thread, NULL, read_snapshot, &reader);
    for (int run = 0; run < 25; run++) {
        struct test_source *source = big_run(run, 20, 300);
        entries += (int64_t)source->count;
        OK(&w, tide__state_submit_run(w.windowed, &source->source, 100000, &w.err));
    }
    ck_assert_int_eq(total(&w, NULL), entries);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    ck_assert(reader.ok);
    atomic_store(&stop, false);
    struct state_snapshot *snapshot = barrier(&w);
    reader = (struct reader){w.windowed, snapshot, &stop, entries, false};
    pthread_create(&thread, NULL, read_snapshot, &reader);
    int64_t later = entries;
    for (int run = 0; run < 25; run++) {
        struct test_source *source = big_run(run, 20, 300);
        later += (int64_t)source->count;
        OK(&w, tide__state_submit_run(w.windowed, &source->source, 100000, &w.err));
        OK(&w, tide__state_drop_range(w.windowed, STR_LIT("a"), STR_LIT("b"), &w.err));
    }
    ck_assert_int_eq(total(&w, NULL), later);
    OK(&w, tide__state_drop_range(w.windowed, STR_LIT("window-of-16-000"), STR_LIT("window-of-16-019"), &w.err));
    ck_assert_int_lt(total(&w, NULL), later / 10);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    ck_assert(reader.ok);
    tide__state_snapshot_release(snapshot);
    tide__state_snapshot_release(barrier(&w));
    ck_assert_int_lt(total(&w, NULL), later / 10);
    close_world(&w);
}
END_TEST

START_TEST(large_and_small_windows_are_dropped_from_the_disk) {
    struct world w;
    open_world(&w, STATE_BACKEND_ROCKSDB, "sizes");
    for (int run = 0; run < 3; run++) {
        struct test_source *source = big_run(run, 40, 500);  // small: shared files
        struct test_source *large = new_source();
        for (int k = 0; k < 60000; k++) {
            char key[40], value[64];
            int len = snprintf(key, sizeof key, "window-of-16-100%07d", k);
            add(large, STATE_ADD, (struct str){key, (size_t)len}, (struct str){value, make_value(value, 1, "")});
        }
        OK(&w, tide__state_submit_run(w.windowed, &source->source, 100000, &w.err));
        OK(&w, tide__state_submit_run(w.windowed, &large->source, 100000, &w.err));
    }
    struct state_stats stats;
    OK(&w, tide__state_sync(w.store, &w.err));
    tide__state_stats(w.store, &stats);
    ck_assert_uint_gt(stats.disk_bytes, 5 << 20);
    OK(&w, tide__state_drop_range(w.windowed, STR_LIT("window-of-16-100"), STR_LIT("window-of-16-101"), &w.err));
    OK(&w, tide__state_drop_range(w.windowed, STR_LIT("window-of-16-000"), STR_LIT("window-of-16-039"), &w.err));
    tide__state_snapshot_release(barrier(&w));
    tide__state_stats(w.store, &stats);
    ck_assert_uint_lt(stats.disk_bytes, 400000);
    ck_assert_int_eq(total(&w, NULL), 3 * 500 * 2 / 3);
    OK(&w, tide__state_drop_range(w.windowed, STR_LIT("window-of-16-039"), STR_LIT("window-of-16-040"), &w.err));
    tide__state_snapshot_release(barrier(&w));
    ck_assert_int_eq(total(&w, NULL), 0);
    close_world(&w);
}
END_TEST

Suite *make_store_suite(void) {
    Suite *suite = suite_create("state_store");
    TCase *tcase = tcase_create("both");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, an_unused_store_makes_no_file, 0, 2);
    tcase_add_loop_test(tcase, adds_are_combined_in_order, 0, 2);
    tcase_add_loop_test(tcase, a_snapshot_sees_what_was_submitted_before_and_nothing_later, 0, 2);
    tcase_add_loop_test(tcase, a_dropped_window_is_gone_and_its_neighbours_stay, 0, 2);
    tcase_add_loop_test(tcase, point_reads_see_buffered_puts_and_runs, 0, 2);
    tcase_add_loop_test(tcase, a_failure_is_reported_from_then_on, 0, 2);
    tcase_add_test(tcase, a_directory_that_cannot_be_made_is_named);
    tcase_add_test(tcase, what_is_not_ours_stays_in_the_directory);
    tcase_add_loop_test(tcase, two_tables_cannot_share_a_name, 0, 2);
    tcase_add_loop_test(tcase, readers_are_not_disturbed_by_folding, 0, 2);
    tcase_add_loop_test(tcase, both_backends_do_the_same, 0, SAME_LOOPS);
    tcase_add_test(tcase, large_and_small_windows_are_dropped_from_the_disk);
    suite_add_tcase(suite, tcase);
    return suite;
}
