#include "engine/operators/window_running.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <assert.h>
#include <string.h>

enum { GROUP = 256, DEAD_MIN = 64 };

void tide__window_running_init(struct window_running *running, const struct aggregators *aggregators,
                               struct memory_budget *budget, uint32_t count_offset) {
    *running = (struct window_running){.aggregators = aggregators, .budget = budget, .count_offset = count_offset};
}

void tide__window_running_clear(struct window_running *running) {
    tide__memtable_release(running->table);
    tide__budget_release(running->budget, running->sorted_cap * sizeof *running->sorted);
    tide__free(running->sorted);
    running->table = NULL;
    running->sorted = NULL;
    running->sorted_count = running->sorted_cap = 0;
}

void tide__window_running_deinit(struct window_running *running) {
    tide__window_running_clear(running);
}

static struct memtable *table_of(struct window_running *running) {
    if (running->table == NULL)
        running->table = tide__memtable_new(running->budget, running->aggregators->payload_size);
    return running->table;
}

static inline bool is_alive(const struct window_running *running, const struct memtable_entry *entry) {
    return *(const int64_t *)(const void *)(entry->bytes + running->count_offset) != 0;
}

void tide__window_running_upsert(struct window_running *running, const struct str *keys, const uint64_t *hashes,
                                 size_t n, struct memtable_entry **out_entries) {
    tide__memtable_upsert_batch(table_of(running), keys, hashes, n, out_entries, NULL);
}

// Calls `apply` with the running payload of each group of a part.
static void for_each_group(struct window_running *running, struct memtable *part,
                           void (*apply)(const struct aggregators *aggregators, unsigned char *into,
                                         const unsigned char *from)) {
    struct memtable_cursor cursor = {0};
    for (;;) {
        struct memtable_entry *from[GROUP], *into[GROUP];
        struct str keys[GROUP];
        uint64_t hashes[GROUP];
        size_t n = tide__memtable_walk(part, &cursor, GROUP, from);
        if (n == 0) return;
        for (size_t i = 0; i < n; i++) {
            keys[i] = tide__memtable_key(part, from[i]);
            hashes[i] = from[i]->hash;
        }
        tide__memtable_upsert_batch(table_of(running), keys, hashes, n, into, NULL);
        for (size_t i = 0; i < n; i++) apply(running->aggregators, into[i]->bytes, from[i]->bytes);
    }
}

static void merge_one(const struct aggregators *aggregators, unsigned char *into, const unsigned char *from) {
    tide__aggregators_merge(aggregators, into, from);
}

void tide__window_running_add(struct window_running *running, struct memtable *part) {
    for_each_group(running, part, merge_one);
}

void tide__window_running_remove(struct window_running *running, struct memtable *part) {
    for_each_group(running, part, tide__aggregators_unmerge);
}

// --- key order --------------------------------------------------------------------------------------------------

static int compare_keys(const struct window_running *running, const struct memtable_entry *a, struct str b) {
    return tide__str_cmp(tide__memtable_key(running->table, a), b);
}

// Where `key` belongs in sorted[0, high).
static size_t search(const struct window_running *running, struct str key, size_t high) {
    size_t low = 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_keys(running, running->sorted[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void reserve_sorted(struct window_running *running, size_t count) {
    size_t before = running->sorted_cap;
    running->sorted = tide__grow(running->sorted, &running->sorted_cap, count, sizeof *running->sorted);
    tide__budget_charge(running->budget, (running->sorted_cap - before) * sizeof *running->sorted);
}

// The entries that came since the last time are at the end of the insertion order.
static void take_new_entries(struct window_running *running) {
    size_t total = tide__memtable_count(table_of(running)), old = running->sorted_count, fresh = total - old;
    if (fresh == 0) return;
    struct memtable_entry *const *entries = tide__memtable_entries(running->table);
    struct sort_item *items = tide__alloc(2 * fresh * sizeof *items);
    for (size_t i = 0; i < fresh; i++) {
        struct str key = tide__memtable_key(running->table, entries[old + i]);
        const unsigned char *data = (const unsigned char *)key.data;
        items[i] = (struct sort_item){tide__sort_prefix(data, key.len), data, (uint32_t)key.len, (uint32_t)(old + i)};
    }
    tide__sort_keys(items, fresh, items + fresh);
    reserve_sorted(running, total);
    // From the back: blocks of old entries move up, new ones go between.
    size_t high = old;
    for (size_t i = fresh; i-- > 0;) {
        struct str key = {(const char *)items[i].key, items[i].key_len};
        size_t at = search(running, key, high);
        memmove(running->sorted + at + i + 1, running->sorted + at, (high - at) * sizeof *running->sorted);
        running->sorted[at + i] = entries[items[i].index];
        high = at;
    }
    running->sorted_count = total;
    tide__free(items);
}

// Copies living groups of `old` into the table; `entries` become the copies.
static size_t copy_living(struct window_running *running, const struct memtable *old, struct memtable_entry **entries,
                          size_t n) {
    struct memtable_entry *from[GROUP];
    struct str keys[GROUP];
    uint64_t hashes[GROUP];
    size_t living = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_alive(running, entries[i])) continue;
        from[living] = entries[i];
        keys[living] = tide__memtable_key(old, entries[i]);
        hashes[living++] = entries[i]->hash;
    }
    if (living == 0) return 0;
    tide__memtable_upsert_batch(running->table, keys, hashes, living, entries, NULL);
    for (size_t i = 0; i < living; i++) memcpy(entries[i]->bytes, from[i]->bytes, running->aggregators->payload_size);
    return living;
}

// Dead groups are only worth removing when they are many: they come back often.
void tide__window_running_counted(struct window_running *running, size_t alive) {
    size_t total = running->table == NULL ? 0 : tide__memtable_count(running->table), dead = total - alive;
    if (dead < DEAD_MIN || dead <= total / 2) return;
    struct memtable *old = running->table;
    running->table = tide__memtable_new(running->budget, running->aggregators->payload_size);
    tide__memtable_reserve(running->table, total);
    size_t sorted = 0;
    if (running->sorted_count > 0) {
        // In key order, so that the list goes on to be of use.
        for (size_t from = 0; from < running->sorted_count; from += GROUP) {
            size_t n = running->sorted_count - from < GROUP ? running->sorted_count - from : GROUP;
            struct memtable_entry **entries = running->sorted + from;
            n = copy_living(running, old, entries, n);
            memmove(running->sorted + sorted, entries, n * sizeof(struct memtable_entry *));
            sorted += n;
        }
    } else {
        struct memtable_cursor cursor = {0};
        struct memtable_entry *entries[GROUP];
        for (size_t n; (n = tide__memtable_walk(old, &cursor, GROUP, entries)) > 0;)
            copy_living(running, old, entries, n);
    }
    running->sorted_count = sorted;
    tide__memtable_release(old);
}

void tide__window_running_start(struct window_running *running) {
    take_new_entries(running);
    running->at = running->alive = 0;
}

size_t tide__window_running_next(struct window_running *running, size_t max, struct str *keys,
                                 unsigned char **payloads) {
    size_t n = 0;
    while (n < max && running->at < running->sorted_count) {
        struct memtable_entry *entry = running->sorted[running->at++];
        if (running->at + 16 < running->sorted_count) __builtin_prefetch(running->sorted[running->at + 16]);
        if (!is_alive(running, entry)) continue;
        keys[n] = tide__memtable_key(running->table, entry);
        payloads[n++] = entry->bytes;
    }
    running->alive += n;
    if (n == 0) tide__window_running_counted(running, running->alive);
    return n;
}
