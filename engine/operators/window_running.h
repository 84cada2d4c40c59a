// The running window of a HOP: the sum of the slices of the window that fires next. When the window moves on, the new slice
// is added and the oldest is taken out, so that a fire costs one pass over the groups, however many slices a window has.
//
// Only for aggregates with an exact inverse. A row for a slice that is in already is added here too. A group is alive while
// its COUNT(*) is not 0; there always is one, if need be a hidden one. With a slice that is not wholly in memory there is no
// running window: the slices are merged then.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_RUNNING_H
#define TIDE_ENGINE_OPERATORS_WINDOW_RUNNING_H

#include "engine/aggregates/aggregate.h"
#include "engine/operators/window_top.h"
#include "state/memtable.h"

struct slice;

// A table that was added, and where its first `count` groups are in the running window: to take them out needs no lookup.
struct running_part {
    const struct memtable *part;
    struct memtable_entry **entries;
    size_t count;
};

struct window_running {
    const struct aggregators *aggregators;
    struct memory_budget *budget;
    uint32_t count_offset;  // of COUNT(*) in the payload
    struct memtable *table;
    struct running_part *parts;
    size_t part_count, part_cap;
    struct memtable_entry **sorted;  // in key order, dead groups among them
    size_t sorted_count, sorted_cap;
    size_t at;                     // reading
    size_t alive;                  // groups
    const struct window_top *top;  // NULL: all groups are read
    struct window_top_list list;   // then the best ones
};

void tide__window_running_init(struct window_running *running, const struct aggregators *aggregators,
                               struct memory_budget *budget, uint32_t count_offset, const struct window_top *top);
void tide__window_running_deinit(struct window_running *running);
// Forgets everything.
void tide__window_running_clear(struct window_running *running);
void tide__window_running_add(struct window_running *running, struct memtable *part);
void tide__window_running_remove(struct window_running *running, struct memtable *part);
// The part's groups remain, but the table goes.
void tide__window_running_forget(struct window_running *running, const struct memtable *part);
// Entries of keys, for rows that come to a slice that is in already; and what to call when the rows have been added.
void tide__window_running_upsert(struct window_running *running, const struct str *keys, const uint64_t *hashes,
                                 size_t n, struct memtable_entry **out_entries);
void tide__window_running_changed(struct window_running *running, struct memtable_entry *const *entries, size_t n);
// Drops the dead groups if they are many.
void tide__window_running_tidy(struct window_running *running);
// Reads the living groups in key order: start, then next until it gives 0.
void tide__window_running_start(struct window_running *running);
size_t tide__window_running_next(struct window_running *running, size_t max, struct str *keys,
                                 unsigned char **payloads);

#endif
