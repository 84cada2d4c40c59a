// Times the state layer alone: upserts, sorting a frozen table, writing and ingesting a run, reading it back.
//
//   state_bench [rows] [keys] [dir]
#include "base/alloc.h"
#include "base/hash.h"
#include "state/memtable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

enum { BATCH = 1024 };

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

int main(int argc, char **argv) {
    size_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000, keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 60000;
    struct memory_budget budget = {.limit = 64 << 20};
    double ns;
    struct memtable *table = fill(&budget, rows, keys, &ns);
    size_t n = tide__memtable_count(table);
    printf("upsert   %7.1f ns/row   (%zu rows, %zu keys, %zu bytes/key)\n", ns / (double)rows, rows, n,
           tide__memtable_bytes(table) / n);
    tide__memtable_freeze(table);
    double start = now_ns();
    tide__memtable_sorted(table);
    printf("sort     %7.1f ns/entry\n", (now_ns() - start) / (double)n);
    tide__memtable_release(table);
    return 0;
}
