// Uniting frozen tables of a slice, a little with each batch.
//
// Every barrier leaves a frozen table behind, and a key that goes on changing is in many of them. They are put together like
// the levels of a log: the youngest ones, as long as the next older one is not larger than all of them, so that a key is
// moved a few times only. The sources stay as they are and in their place until the united table is whole, so that whoever
// needs the slice meanwhile, or throws it away, just forgets the one being made. No barrier waits for it.
#include "engine/operators/window_slices.h"

#include <assert.h>

enum { UNITE_FROM = 4, ENTRIES_A_ROW = 6, GROUP = 32 };

void tide__slice_stop_uniting(struct slice *slice) {
    tide__memtable_release(slice->united);
    slice->united = NULL;
}

static size_t count_of(const struct slice *slice, uint32_t table) {
    return tide__memtable_count(slice->frozen[table]);
}

// The youngest tables that are worth uniting: from here on. All when there are too many.
static uint32_t first_to_unite(const struct slice *slice) {
    uint32_t first = slice->frozen_count - 1;
    size_t sum = count_of(slice, first);
    while (first > 0 && (slice->frozen_count > FROZEN_MAX || count_of(slice, first - 1) <= sum))
        sum += count_of(slice, --first);
    return first;
}

static void begin(struct window_aggregate *w, struct slice *slice, uint32_t first) {
    slice->united = tide__memtable_new(w->budget, w->aggregators.payload_size);
    if (w->aggregators.owns_memory) tide__memtable_on_free(slice->united, tide__aggregators_release, &w->aggregators);
    slice->unite_first = slice->unite_table = first;
    slice->unite_end = slice->frozen_count;
    slice->unite_cursor = (struct memtable_cursor){0};
}

static void end(struct slice *slice) {
    tide__memtable_freeze(slice->united);
    for (uint32_t i = slice->unite_first; i < slice->unite_end; i++) tide__memtable_release(slice->frozen[i]);
    slice->frozen[slice->unite_first] = slice->united;
    slice->united = NULL;
    uint32_t to = slice->unite_first + 1;
    for (uint32_t i = slice->unite_end; i < slice->frozen_count; i++) slice->frozen[to++] = slice->frozen[i];
    slice->frozen_count = to;
}

// Moves about `entries` entries; ends when all are.
static void step(struct window_aggregate *w, struct slice *slice, size_t entries) {
    struct memtable_entry *from[GROUP], *into[GROUP];
    struct str keys[GROUP];
    uint64_t hashes[GROUP];
    int64_t charge = 0;
    size_t moved = 0;
    while (slice->unite_table < slice->unite_end && moved < entries) {
        struct memtable *table = slice->frozen[slice->unite_table];
        size_t n = tide__memtable_walk(table, &slice->unite_cursor, GROUP, from);
        if (n == 0) {
            slice->unite_table++;
            slice->unite_cursor = (struct memtable_cursor){0};
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            keys[i] = tide__memtable_key(table, from[i]);
            hashes[i] = from[i]->hash;
        }
        tide__memtable_upsert_batch(slice->united, keys, hashes, n, into, NULL);
        for (size_t i = 0; i < n; i++)
            charge += tide__aggregators_merge(&w->aggregators, into[i]->bytes, from[i]->bytes);
        moved += n;
    }
    if (charge != 0) tide__memtable_charge(slice->united, charge);
    if (slice->unite_table == slice->unite_end) end(slice);
}

void tide__slice_add_frozen(struct window_aggregate *w, struct slice *slice, struct memtable *table) {
    assert(slice->frozen_count <= FROZEN_MAX);
    slice->frozen[slice->frozen_count++] = table;
    if (slice->frozen_count <= FROZEN_MAX) return;
    // Only if hardly any rows came between so many barriers: the array must not overflow.
    if (slice->united == NULL) begin(w, slice, first_to_unite(slice));
    step(w, slice, SIZE_MAX);
}

void tide__slice_unite(struct window_aggregate *w, struct slice *slice, size_t rows) {
    if (slice->united == NULL) {
        if (slice->frozen_count < UNITE_FROM) return;
        uint32_t first = first_to_unite(slice);
        if (slice->frozen_count - first < 2) return;
        begin(w, slice, first);
    }
    step(w, slice, rows * ENTRIES_A_ROW);
}
