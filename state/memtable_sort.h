// Sorting the entries of a memtable by key. Inside state/.
#ifndef TIDE_STATE_MEMTABLE_SORT_H
#define TIDE_STATE_MEMTABLE_SORT_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

// A key and what it belongs to. `prefix` is the sort's own.
struct sort_item {
    uint64_t prefix;
    struct str key;
    void *owner;
};

// Sorts by memcmp of the keys (shorter first), not stable. `scratch` has room for n items.
void tide__memtable_sort(struct sort_item *items, struct sort_item *scratch, size_t n);

#endif
