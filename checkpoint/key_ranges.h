// Sets of key ranges: what was dropped, and what a damaged chunk makes unknown. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_KEY_RANGES_H
#define TIDE_CHECKPOINT_KEY_RANGES_H

#include "base/arena.h"
#include "base/str.h"
#include "checkpoint/savepoint.h"

#include <stdbool.h>
#include <stddef.h>

struct key_range {
    struct str lower, upper;  // lower <= key < upper; an empty upper has no end. Borrowed
};

// {0} is empty. After tide__key_ranges_settle ascending, without overlaps.
struct key_ranges {
    struct key_range *items;
    size_t count, cap;
};

void tide__key_ranges_add(struct key_ranges *ranges, struct str lower, struct str upper);
void tide__key_ranges_settle(struct key_ranges *ranges);
void tide__key_ranges_deinit(struct key_ranges *ranges);

// Is the key in a range? *at is a cursor that begins at 0 and only moves forward: keys ascend.
bool tide__key_ranges_has(const struct key_ranges *ranges, size_t *at, struct str key);
// Are all keys with first <= key < end in one range? An empty end is none.
bool tide__key_ranges_cover(const struct key_ranges *ranges, struct str first, struct str end);

// --- keys in an index ---------------------------------------------------------------------------------------------

// A key as an index holds it: its first SAVEPOINT_INDEX_KEY bytes, so that an index is small whatever the keys are.
struct str tide__index_key_cut(struct str key);
// Is it the index's key, or begins with it if that one was cut?
bool tide__index_key_fits(struct str index_key, struct str key);
// The bound above all keys that a last key of an index may stand for, in the arena; empty: there is none.
struct str tide__index_key_end(struct str last, struct arena *arena);
// The last key again; perhaps in the arena.
struct str tide__index_key_last(struct str end, struct arena *arena);

#endif
