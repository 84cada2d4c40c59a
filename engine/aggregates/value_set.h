// A multiset of byte strings that keeps the order of first appearance. A small one (most are) is a single block of memory
// that is searched from end to end; a large one has a hash table.
#ifndef TIDE_ENGINE_AGGREGATES_VALUE_SET_H
#define TIDE_ENGINE_AGGREGATES_VALUE_SET_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct value_set;

// Adds `count` occurrences (negative: takes them back) to *set, which is made if it is NULL. *charge grows by the memory taken.
void tide__value_set_add(struct value_set **set, struct str bytes, uint64_t hash, int64_t count, int64_t *charge);
void tide__value_set_free(struct value_set *set);  // NULL is allowed
int64_t tide__value_set_memory(const struct value_set *set);
bool tide__value_set_has(const struct value_set *set, struct str bytes, uint64_t hash);
// Elements whose count is not 0.
uint32_t tide__value_set_live(const struct value_set *set);
// Bytes of all elements, about.
size_t tide__value_set_bytes(const struct value_set *set);

// A walk in order of first appearance; elements of count 0 are passed over. The bytes point into the set.
struct value_set_walk {
    const struct value_set *set;
    uint32_t at, offset;
    struct str bytes;
    int64_t count;
};
bool tide__value_set_next(struct value_set_walk *walk);
// The hash of a walk's element.
uint64_t tide__value_set_hash(const struct value_set_walk *walk);

// The elements by the first byte of their hashes: piece p has order[offsets[p]] to order[offsets[p + 1] - 1], in order of
// first appearance.
enum { VALUE_SET_PIECES = 256 };
struct value_set_pieces {
    uint32_t offsets[VALUE_SET_PIECES + 1];
    uint32_t order[];
};
// Of a large set only. Freed by tide__free.
struct value_set_pieces *tide__value_set_cut(const struct value_set *set);
// The element of a number that the cut gave. False: it was taken back.
bool tide__value_set_at(const struct value_set *set, uint32_t number, struct str *out_bytes, int64_t *out_count);

#endif
