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

// The best prefixes seen.
struct top_bar {
    uint32_t limit, count;
    uint64_t *best;  // a heap, the worst of them on top
    uint64_t bar;    // a group with a greater prefix is not among the best `limit`
};

struct window_top {
    uint32_t limit;        // rows that the Top-N wants; 0: there is none, or it has to see all groups
    uint32_t aggregate;    // whose result it sorts by first
    struct sort_key sort;  // by column 0
    struct ranker ranker;
    struct top_bar bar;
};

// Looks for the Top-N in the plan.
void tide__window_top_init(struct window_top *top, const struct plan *plan, const struct plan_node *aggregate);
void tide__window_top_deinit(struct window_top *top);

// A window begins to fire.
void tide__window_top_start(struct window_top *top);
// Drops groups that are out by now from keys and payloads; returns how many are left.
size_t tide__window_top_filter(struct window_top *top, const struct aggregators *aggregators, struct str *keys,
                               unsigned char **payloads, size_t n, struct arena *arena);

// Groups that may be among the best, in key order.
struct window_top_groups {
    struct memtable_entry **entries;  // the caller frees them
    size_t count;
};
struct window_top_groups tide__window_top_of_table(struct window_top *top, const struct aggregators *aggregators,
                                                   const struct memtable *table, struct memory_budget *budget);

// --- a table that fires again and again ------------------------------------------------------------------------------
//
// Most groups of a running window stay what they are from one fire to the next. So the groups up to some bar, a few times
// as many as the Top-N wants, are kept as a list, and each group that changes is looked at while it is at hand. Then all
// groups that are not in the list are above its bar, and as long as the list holds enough, a fire need not look at them.

// Flags of the table's entries.
enum { TOP_ENTRY_ALIVE = 1, TOP_ENTRY_LISTED = 2 };

struct top_candidate {
    uint64_t prefix;
    struct memtable_entry *entry;
};

struct window_top_list {
    struct top_candidate *items;  // prefixes are those of the last fire
    size_t count, capacity;
    struct top_bar wide;  // wide.bar: the list's
    bool complete;        // no group below the bar is missing
    struct memory_budget *budget;
    struct arena arena;
};

void tide__window_top_list_init(struct window_top_list *list, const struct window_top *top,
                                struct memory_budget *budget);
void tide__window_top_list_deinit(struct window_top_list *list);
void tide__window_top_list_clear(struct window_top_list *list);
// Accumulators of these entries have changed.
void tide__window_top_list_changed(struct window_top_list *list, const struct window_top *top,
                                   const struct aggregators *aggregators, struct memtable_entry *const *entries,
                                   size_t n);
// Living entries have moved: the hash of each old one is its new address.
void tide__window_top_list_moved(struct window_top_list *list);
// Those of the living groups that may be among the best.
struct window_top_groups tide__window_top_of_list(struct window_top_list *list, struct window_top *top,
                                                  const struct aggregators *aggregators, const struct memtable *table);

#endif
