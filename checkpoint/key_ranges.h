// Sets of key ranges: what was dropped, and what a damaged chunk makes unknown. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_KEY_RANGES_H
#define TIDE_CHECKPOINT_KEY_RANGES_H

#include "base/arena.h"
#include "base/str.h"

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
// Both bounds inclusive; the bytes of the bound above the last key lie in the arena.
void tide__key_ranges_add_closed(struct key_ranges *ranges, struct str first, struct str last, struct arena *arena);
void tide__key_ranges_settle(struct key_ranges *ranges);
void tide__key_ranges_deinit(struct key_ranges *ranges);

// Is the key in a range? *at is a cursor that begins at 0 and only moves forward: keys ascend.
bool tide__key_ranges_has(const struct key_ranges *ranges, size_t *at, struct str key);
// Are all keys from first to last in one range?
bool tide__key_ranges_cover(const struct key_ranges *ranges, struct str first, struct str last);

#endif
