// Which windows a table holds and how much, while runs come and ranges are dropped. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_WINDOW_SET_H
#define TIDE_CHECKPOINT_WINDOW_SET_H

#include "base/arena.h"
#include "checkpoint/savepoint.h"

struct window_set {
    struct savepoint_window *items;  // ascending; one without entries is dropped
    size_t count, cap;
    bool complete;  // no window was too many to be listed
};

// With the windows of `table`; NULL: none.
void tide__window_set_init(struct window_set *set, const struct savepoint_table *table);
// Adds ascending windows, of which the first SAVEPOINT_WINDOWS_MAX are listed.
void tide__window_set_add(struct window_set *set, const struct savepoint_window *windows, uint64_t count);
void tide__window_set_drop(struct window_set *set, struct str lower, struct str upper);
// Fills the table's windows, window_count and, if all are known, entries. window_count must be an upper bound.
void tide__window_set_list(const struct window_set *set, struct arena *arena, struct savepoint_table *table);
void tide__window_set_deinit(struct window_set *set);

#endif
