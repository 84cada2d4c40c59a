// Times the state layer alone: upserts, sorting a frozen table, writing and ingesting a run, reading it back.
//
//   state_bench [rows] [keys] [dir]         defaults: 5000000 60000 /tmp/tidemark-state-bench
//   state_bench windows [windows] [dir]     as many windows open at once, 50 keys each, in 60 runs; disk use
//   state_bench spill [keys] [dir]          one window, `keys` keys, 64 MiB of memory, ten million rows; disk use
#include "base/alloc.h"
#include "base/hash.h"
#include "state/memtable.h"
#include "state/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t next_random(uint64_t *state) {
    uint64_t x = (*state += 0x9E3779B97F4A7C15ULL);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

enum { BATCH = 1024, AHEAD = 8, SPILL_ROWS = 10000000 };

static const struct state_field sums[] = {
    {"COUNT(*)", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},
    {"SUM(price)", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},
};
static const struct state_table_desc desc = {
    .name = "window-1.acc", .operator_id = "window-1", .kind = STATE_TABLE_WINDOWED, .value_count = 2, .values = sums};

static void die_if(tide_status status, const tide_error *err) {
    if (status == TIDE_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

// A frozen memtable as a run of one window.
struct bench_source {
    struct state_source source;
    struct memtable *table;
    struct memtable_entry *const *sorted;
    size_t at;
    char key[16 + 16], value[16];
};

static bool next_entry(struct state_source *base, struct state_entry *out) {
    struct bench_source *source = (struct bench_source *)base;
    size_t count = tide__memtable_count(source->table);
    if (source->at == count) return false;
    if (!source->sorted) source->sorted = tide__memtable_sorted(source->table);
    if (count - source->at > AHEAD) tide__memtable_prefetch(source->sorted[source->at + AHEAD]);
    struct memtable_entry *entry = source->sorted[source->at++];
    struct str key = tide__memtable_key(source->table, entry);
    memcpy(source->key + 16, key.data, key.len);
    memcpy(source->value, tide__memtable_payload(source->table, entry), 16);
    *out = (struct state_entry){STATE_ADD, {source->key, 16 + key.len}, {source->value, 16}};
    return true;
}

static void free_source(struct state_source *base) {
    struct bench_source *source = (struct bench_source *)base;
    tide__memtable_release(source->table);
    tide__free(source);
}

static struct state_source *new_source(struct memtable *table, char window) {
    struct bench_source *source = tide__calloc(1, sizeof *source);
    source->source = (struct state_source){next_entry, free_source};
    source->table = table;
    source->key[7] = window;
    return &source->source;
}

static void put_key(char *to, uint64_t value) {
    to[0] = 1;
    uint64_t big = __builtin_bswap64(value ^ (UINT64_C(1) << 63));
    memcpy(to + 1, &big, 8);
}

static struct memtable *fill(struct memory_budget *budget, size_t rows, size_t keys, double *out_ns) {
    struct memtable *table = tide__memtable_new(budget, 16);
    char bytes[BATCH][9];
    struct str batch[BATCH];
    uint64_t hashes[BATCH], seed = 1;
    struct memtable_entry *entries[BATCH];
    double spent = 0;
    for (size_t row = 0; row < rows; row += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            put_key(bytes[i], 1000 + next_random(&seed) % keys);
            batch[i] = (struct str){bytes[i], 9};
            hashes[i] = tide__hash_bytes(bytes[i], 9);
        }
        double start = now_ns();
        tide__memtable_upsert_batch(table, batch, hashes, BATCH, entries, NULL);
        for (size_t i = 0; i < BATCH; i++) {
            int64_t *payload = tide__memtable_payload(table, entries[i]);
            payload[0]++;
            payload[1] += (int64_t)i;
        }
        spent += now_ns() - start;
    }
    *out_ns = spent;
    return table;
}

static struct state_store *open_store(struct memory_budget *budget, const char *dir, struct state_table **out_table) {
    tide_error err = {0};
    struct state_store *store;
    struct state_options options = {STATE_BACKEND_ROCKSDB, dir, budget};
    die_if(tide__state_open(&options, &store, &err), &err);
    die_if(tide__state_table(store, &desc, out_table, &err), &err);
    return store;
}

static size_t scan(struct state_table *table, char window, double *out_ns) {
    tide_error err = {0};
    char lower[16] = {0}, upper[16] = {0};
    lower[7] = window;
    upper[7] = (char)(window + 1);
    double start = now_ns();
    struct state_iter *iter;
    die_if(tide__state_iter_open(table, NULL, (struct str){lower, 16}, (struct str){upper, 16}, &iter, &err), &err);
    struct str key, value;
    size_t count = 0;
    while (tide__state_iter_next(iter, &key, &value)) count++;
    die_if(tide__state_iter_close(iter, &err), &err);
    *out_ns = now_ns() - start;
    return count;
}

static void bench_run(struct state_table *table, struct state_store *store, struct memtable *rows, char window,
                      const char *name) {
    tide_error err = {0};
    size_t n = tide__memtable_count(rows);
    tide__memtable_retain(rows);
    double start = now_ns();
    die_if(tide__state_submit_run(table, new_source(rows, window), tide__memtable_bytes(rows), &err), &err);
    die_if(tide__state_sync(store, &err), &err);
    printf("%-8s %7.1f ns/entry\n", name, (now_ns() - start) / (double)n);
}

static void release(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    tide__state_snapshot_release(snapshot);
}

// A barrier waits for the housekeeping that is under way.
static void bench_fold(struct state_store *store, size_t n) {
    tide_error err = {0};
    double start = now_ns();
    die_if(tide__state_barrier(store, release, NULL, &err), &err);
    die_if(tide__state_sync(store, &err), &err);
    printf("fold     %7.1f ns/key    (nine runs into one)\n", (now_ns() - start) / (double)n);
}

static void bench_parts(size_t rows, size_t keys, const char *dir) {
    struct memory_budget budget = {.limit = 64 << 20};
    double ns;
    struct memtable *filled = fill(&budget, rows, keys, &ns);
    size_t n = tide__memtable_count(filled);
    printf("upsert   %7.1f ns/row   (%zu rows, %zu keys, %zu bytes/key)\n", ns / (double)rows, rows, n,
           tide__memtable_bytes(filled) / n);
    tide__memtable_freeze(filled);
    double start = now_ns();
    tide__memtable_sorted(filled);
    printf("sort     %7.1f ns/entry\n", (now_ns() - start) / (double)n);
    struct state_table *table;
    struct state_store *store = open_store(&budget, dir, &table);
    bench_run(table, store, filled, 1, "ingest0");  // with opening the database
    bench_run(table, store, filled, 2, "ingest1");
    size_t count = scan(table, 2, &ns);
    printf("iterate  %7.1f ns/entry (one run)\n", ns / (double)count);
    for (int i = 0; i < 3; i++) bench_run(table, store, filled, 2, "merge");
    count = scan(table, 2, &ns);
    printf("iterate  %7.1f ns/entry (four runs)\n", ns / (double)count);
    for (int i = 0; i < 5; i++) bench_run(table, store, filled, 2, "merge");
    bench_fold(store, n);
    count = scan(table, 2, &ns);
    printf("iterate  %7.1f ns/entry (folded)\n", ns / (double)count);
    tide__state_close(store);
    tide__memtable_release(filled);
}

// Watches the working directory, also while the background thread merges.
struct watch {
    struct state_store *store;
    atomic_bool stop;
    uint64_t disk_max;
};

static void *watch_disk(void *arg) {
    struct watch *watch = arg;
    while (!atomic_load(&watch->stop)) {
        struct state_stats stats;
        tide__state_stats(watch->store, &stats);
        if (stats.disk_bytes > watch->disk_max) watch->disk_max = stats.disk_bytes;
        usleep(5000);
    }
    return NULL;
}

static void bench_spill(size_t keys, const char *dir) {
    struct memory_budget budget = {.limit = 64 << 20};
    struct state_table *table;
    struct state_store *store = open_store(&budget, dir, &table);
    tide_error err = {0};
    struct memtable *active = tide__memtable_new(&budget, 16);
    uint64_t seed = 3;
    struct watch watch = {.store = store};
    pthread_t watcher;
    pthread_create(&watcher, NULL, watch_disk, &watch);
    double start = now_ns();
    for (size_t row = 0; row < SPILL_ROWS; row++) {
        char key[9];
        put_key(key, next_random(&seed) % keys);
        struct str s = {key, 9};
        int64_t *payload = tide__memtable_payload(active,
                                                  tide__memtable_upsert(active, s, tide__hash_bytes(key, 9), NULL));
        payload[0]++;
        payload[1] += (int64_t)row;
        if (tide__memtable_bytes(active) < 16 << 20) continue;
        tide__memtable_freeze(active);
        die_if(tide__state_submit_run(table, new_source(active, 1), tide__memtable_bytes(active), &err), &err);
        active = tide__memtable_new(&budget, 16);
    }
    tide__memtable_freeze(active);
    die_if(tide__state_submit_run(table, new_source(active, 1), 1, &err), &err);
    die_if(tide__state_sync(store, &err), &err);
    printf("spill    %7.1f ns/row, all threads\n", (now_ns() - start) / SPILL_ROWS);
    atomic_store(&watch.stop, true);
    pthread_join(watcher, NULL);
    struct state_stats stats;
    tide__state_stats(store, &stats);
    double ns, encoded;
    size_t count = scan(table, 1, &ns);
    encoded = (double)count * (25 + 17);
    printf("state    %zu keys, %.0f MB encoded; %llu runs, %llu entries; disk %.0f MB now, %.0f MB at most (%.1fx)\n",
           count, encoded / 1e6, (unsigned long long)stats.runs, (unsigned long long)stats.entries,
           (double)stats.disk_bytes / 1e6, (double)watch.disk_max / 1e6, (double)watch.disk_max / encoded);
    printf("iterate  %7.1f ns/entry\nmemory   %.1f MiB at most\n", ns / (double)count,
           (double)budget.used_max / (1 << 20));
    tide__state_close(store);
}

// Windows first..first+count-1 with KEYS_EACH keys each.
enum { KEYS_EACH = 50, WINDOW_RUNS = 60 };
struct windows_source {
    struct state_source source;
    uint64_t window, end;
    int key;
    char bytes[16 + 9], value[16];
};

static bool next_window_entry(struct state_source *base, struct state_entry *out) {
    struct windows_source *source = (struct windows_source *)base;
    if (source->key == KEYS_EACH) {
        source->key = 0;
        source->window++;
    }
    if (source->window == source->end) return false;
    uint64_t big = __builtin_bswap64(source->window);
    memcpy(source->bytes, &big, 8);
    put_key(source->bytes + 16, (uint64_t)source->key++);
    source->value[0] = 1;
    *out = (struct state_entry){STATE_ADD, {source->bytes, sizeof source->bytes}, {source->value, 16}};
    return true;
}

static void free_windows(struct state_source *base) {
    tide__free(base);
}

// Each run touches all open windows; between runs a sixtieth of them fire and are dropped and as many open.
static void bench_windows(size_t open, const char *dir) {
    struct memory_budget budget = {.limit = 64 << 20};
    struct state_table *table;
    struct state_store *store = open_store(&budget, dir, &table);
    tide_error err = {0};
    struct watch watch = {.store = store};
    pthread_t watcher;
    pthread_create(&watcher, NULL, watch_disk, &watch);
    size_t step = open / WINDOW_RUNS + 1, fired = 0, read = 0;
    double start = now_ns(), fire_ns = 0;
    for (size_t run = 0; run < WINDOW_RUNS; run++) {
        struct windows_source *source = tide__calloc(1, sizeof *source);
        *source = (struct windows_source){
            .source = {next_window_entry, free_windows}, .window = fired, .end = fired + open};
        die_if(tide__state_submit_run(table, &source->source, 1 << 20, &err), &err);
        double fire_start = now_ns();
        for (size_t i = 0; i < step; i++, fired++) {
            char lower[16] = {0}, upper[16] = {0};
            uint64_t big = __builtin_bswap64(fired), next = __builtin_bswap64(fired + 1);
            memcpy(lower, &big, 8);
            memcpy(upper, &next, 8);
            struct state_iter *iter;
            struct str key, value;
            die_if(tide__state_iter_open(table, NULL, (struct str){lower, 16}, (struct str){upper, 16}, &iter, &err),
                   &err);
            while (tide__state_iter_next(iter, &key, &value)) read++;
            die_if(tide__state_iter_close(iter, &err), &err);
            die_if(tide__state_drop_range(table, (struct str){lower, 16}, (struct str){upper, 16}, &err), &err);
        }
        fire_ns += now_ns() - fire_start;
    }
    die_if(tide__state_sync(store, &err), &err);
    double spent = now_ns() - start;
    atomic_store(&watch.stop, true);
    pthread_join(watcher, NULL);
    struct state_stats stats;
    tide__state_stats(store, &stats);
    double encoded = (double)open * KEYS_EACH * (25 + 17);
    printf("windows  %7.1f ns/entry in all, %.0f us/window fired and dropped; %zu keys read, %llu windows dropped\n",
           spent / (double)stats.entries, fire_ns / 1e3 / (double)fired, read,
           (unsigned long long)stats.windows_dropped);
    printf("state    %.1f MB encoded; disk %.1f MB now, %.1f MB at most (%.1fx)\n", encoded / 1e6,
           (double)stats.disk_bytes / 1e6, (double)watch.disk_max / 1e6, (double)watch.disk_max / encoded);
    tide__state_close(store);
}

int main(int argc, char **argv) {
    const char *dir = argc > 3 ? argv[3] : "/tmp/tidemark-state-bench";
    if (argc > 1 && strcmp(argv[1], "windows") == 0) {
        bench_windows(argc > 2 ? strtoull(argv[2], NULL, 10) : 10000, dir);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "spill") == 0) {
        bench_spill(argc > 2 ? strtoull(argv[2], NULL, 10) : 4000000, dir);
        return 0;
    }
    bench_parts(argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000, argc > 2 ? strtoull(argv[2], NULL, 10) : 60000, dir);
    return 0;
}
