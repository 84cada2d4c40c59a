// What a Window Top-N above lets the window aggregate leave out.
//
// When the only consumer is a Window Top-N that ranks all groups of a window by an aggregate first, groups that cannot be
// among its best rows need no keys, no other results and no place in the order. The aggregate keeps the best prefixes
// (ranked.h) seen in the window that fires; a group with a worse one than the last of them is dropped. Equal prefixes say
// nothing, so that ties, NULLs and all that a prefix cannot hold remain the Top-N's business, and its output is the
// same, byte for byte. A matter of the running job alone: the plan, its fingerprint and the state know nothing of it.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_TOP_H
#define TIDE_ENGINE_OPERATORS_WINDOW_TOP_H

#include "engine/aggregates/aggregate.h"
#include "engine/operators/ranked.h"
#include "state/memtable.h"

struct window_top {
    uint32_t limit;        // rows that the Top-N wants; 0: there is none, or it has to see all groups
    uint32_t aggregate;    // whose result it sorts by first
    struct sort_key sort;  // by column 0
    struct ranker ranker;
    uint64_t *best;  // a heap of the best prefixes, the worst of them on top
    uint32_t best_count;
    uint64_t bar;  // a group with a greater prefix is out
};

// Looks for the Top-N in the plan.
void tide__window_top_init(struct window_top *top, const struct plan *plan, const struct plan_node *aggregate);
void tide__window_top_deinit(struct window_top *top);

// A window begins to fire.
void tide__window_top_start(struct window_top *top);
// Drops groups that are out by now from keys and payloads; returns how many are left.
size_t tide__window_top_filter(struct window_top *top, const struct aggregators *aggregators, struct str *keys,
                               unsigned char **payloads, size_t n, struct arena *arena);

// The groups of a table that may be among the best, in key order.
struct window_top_groups {
    struct memtable_entry **entries;  // the caller frees them
    size_t count;
    size_t seen;  // groups that were looked at
};
// `alive` >= 0: only groups whose 64-bit counter at this place of the payload is not 0.
struct window_top_groups tide__window_top_of_table(struct window_top *top, const struct aggregators *aggregators,
                                                   const struct memtable *table, int64_t alive,
                                                   struct memory_budget *budget);

#endif
