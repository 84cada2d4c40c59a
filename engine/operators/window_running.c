#include "engine/operators/window_running.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <assert.h>
#include <string.h>

enum { GROUP = 64, AHEAD = 16, DEAD_MIN = 64 };

void tide__window_running_init(struct window_running *running, const struct aggregators *aggregators,
                               struct memory_budget *budget, uint32_t count_offset, const struct window_top *top) {
    *running = (struct window_running){.aggregators = aggregators, .budget = budget, .count_offset = count_offset};
    if (top->limit == 0) return;
    running->top = top;
    tide__window_top_list_init(&running->list, top, budget);
}

static struct memtable *table_of(struct window_running *running) {
    if (running->table == NULL)
        running->table = tide__memtable_new(running->budget, running->aggregators->payload_size);
    return running->table;
}

static inline bool is_alive(const struct memtable_entry *entry) {
    return (entry->flags & TOP_ENTRY_ALIVE) != 0;
}

void tide__window_running_changed(struct window_running *running, struct memtable_entry *const *entries, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool alive = *(const int64_t *)(const void *)(entries[i]->bytes + running->count_offset) != 0;
        if (alive == is_alive(entries[i])) continue;
        entries[i]->flags ^= TOP_ENTRY_ALIVE;
        running->alive += alive ? 1 : (size_t)-1;
    }
    if (running->top != NULL)
        tide__window_top_list_changed(&running->list, running->top, running->aggregators, entries, n);
}

void tide__window_running_upsert(struct window_running *running, const struct str *keys, const uint64_t *hashes,
                                 size_t n, struct memtable_entry **out_entries) {
    tide__memtable_upsert_batch(table_of(running), keys, hashes, n, out_entries, NULL);
}

// --- parts --------------------------------------------------------------------------------------------------------

// Running entries of a part's groups.
static void upsert_groups(struct window_running *running, const struct memtable *part,
                          struct memtable_entry *const *groups, size_t n, struct memtable_entry **out) {
    struct str keys[GROUP];
    uint64_t hashes[GROUP];
    for (size_t i = 0; i < n; i++) {
        keys[i] = tide__memtable_key(part, groups[i]);
        hashes[i] = groups[i]->hash;
    }
    tide__memtable_upsert_batch(table_of(running), keys, hashes, n, out, NULL);
}

void tide__window_running_add(struct window_running *running, struct memtable *part) {
    size_t count = tide__memtable_count(part), at = 0;
    running->parts = tide__grow(running->parts, &running->part_cap, running->part_count + 1, sizeof *running->parts);
    struct running_part *added = &running->parts[running->part_count++];
    *added = (struct running_part){part, tide__alloc(count * sizeof *added->entries), count};
    tide__budget_charge(running->budget, count * sizeof *added->entries);
    struct memtable_cursor cursor = {0};
    struct memtable_entry *from[GROUP];
    for (size_t n; (n = tide__memtable_walk(part, &cursor, GROUP, from)) > 0; at += n) {
        struct memtable_entry **into = added->entries + at;
        upsert_groups(running, part, from, n, into);
        for (size_t i = 0; i < n; i++) tide__aggregators_merge(running->aggregators, into[i]->bytes, from[i]->bytes);
        tide__window_running_changed(running, into, n);
    }
}

static void free_part(struct window_running *running, struct running_part *part) {
    tide__budget_release(running->budget, part->count * sizeof(struct memtable_entry *));
    tide__free(part->entries);
    *part = running->parts[--running->part_count];
}

static struct running_part *find_part(const struct window_running *running, const struct memtable *part) {
    for (size_t i = 0; i < running->part_count; i++)
        if (running->parts[i].part == part) return &running->parts[i];
    return NULL;
}

void tide__window_running_forget(struct window_running *running, const struct memtable *part) {
    struct running_part *known = find_part(running, part);
    if (known != NULL) free_part(running, known);
}

// Groups that came after the part was added have to be looked up.
void tide__window_running_remove(struct window_running *running, struct memtable *part) {
    struct running_part *known = find_part(running, part);
    size_t known_count = known == NULL ? 0 : known->count, at = 0;
    struct memtable_cursor cursor = {0};
    struct memtable_entry *from[GROUP], *into[GROUP];
    for (size_t n; (n = tide__memtable_walk(part, &cursor, GROUP, from)) > 0; at += n) {
        size_t some = at >= known_count ? 0 : known_count - at < n ? known_count - at : n;
        if (some > 0) memcpy(into, known->entries + at, some * sizeof(struct memtable_entry *));
        if (some < n) upsert_groups(running, part, from + some, n - some, into + some);
        for (size_t i = 0; i < n; i++) {
            if (at + i + AHEAD < known_count) tide__memtable_prefetch(known->entries[at + i + AHEAD]);
            tide__aggregators_unmerge(running->aggregators, into[i]->bytes, from[i]->bytes);
        }
        tide__window_running_changed(running, into, n);
    }
    if (known != NULL) free_part(running, known);
}

void tide__window_running_clear(struct window_running *running) {
    tide__memtable_release(running->table);
    tide__budget_release(running->budget, running->sorted_cap * sizeof *running->sorted);
    tide__free(running->sorted);
    while (running->part_count > 0) free_part(running, &running->parts[0]);
    tide__free(running->parts);
    running->parts = NULL;
    running->part_cap = 0;
    running->table = NULL;
    running->sorted = NULL;
    running->sorted_count = running->sorted_cap = 0;
    running->alive = 0;
    if (running->top != NULL) tide__window_top_list_clear(&running->list);
}

void tide__window_running_deinit(struct window_running *running) {
    tide__window_running_clear(running);
    if (running->top != NULL) tide__window_top_list_deinit(&running->list);
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

// Copies living groups of `old` into the table; `entries` become the copies, and the hashes of the old ones tell where they
// are.
static size_t copy_living(struct window_running *running, const struct memtable *old, struct memtable_entry **entries,
                          size_t n) {
    struct memtable_entry *from[GROUP];
    struct str keys[GROUP];
    uint64_t hashes[GROUP];
    size_t living = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_alive(entries[i])) continue;
        from[living] = entries[i];
        keys[living] = tide__memtable_key(old, entries[i]);
        hashes[living++] = entries[i]->hash;
    }
    if (living == 0) return 0;
    tide__memtable_upsert_batch(running->table, keys, hashes, living, entries, NULL);
    for (size_t i = 0; i < living; i++) {
        memcpy(entries[i]->bytes, from[i]->bytes, running->aggregators->payload_size);
        entries[i]->flags = from[i]->flags;
        from[i]->hash = (uintptr_t)entries[i];
    }
    return living;
}

// Dead groups are only worth removing when they are many: they come back often.
void tide__window_running_tidy(struct window_running *running) {
    size_t total = running->table == NULL ? 0 : tide__memtable_count(running->table), dead = total - running->alive;
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
    tide__window_top_list_moved(&running->list);
    // A part's groups are alive: it has a row of each.
    for (size_t p = 0; p < running->part_count; p++) {
        struct memtable_entry **entries = running->parts[p].entries;
        for (size_t i = 0; i < running->parts[p].count; i++)
            entries[i] = (struct memtable_entry *)(uintptr_t)entries[i]->hash;
    }
    tide__memtable_release(old);
}

void tide__window_running_start(struct window_running *running) {
    take_new_entries(running);
    running->at = 0;
}

size_t tide__window_running_next(struct window_running *running, size_t max, struct str *keys,
                                 unsigned char **payloads) {
    size_t n = 0;
    while (n < max && running->at < running->sorted_count) {
        struct memtable_entry *entry = running->sorted[running->at++];
        if (running->at + 16 < running->sorted_count) __builtin_prefetch(running->sorted[running->at + 16]);
        if (!is_alive(entry)) continue;
        keys[n] = tide__memtable_key(running->table, entry);
        payloads[n++] = entry->bytes;
    }
    return n;
}
