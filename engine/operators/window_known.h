// Which keys the state table may hold of what was evicted (a slice, groups of a join): blocked Bloom filters, so that a new key
// need not be looked for.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_KNOWN_H
#define TIDE_ENGINE_OPERATORS_WINDOW_KNOWN_H

#include "state/memtable.h"

struct window_known;

// An empty set. The budget is borrowed and may be NULL.
struct window_known *tide__window_known_new(struct memory_budget *budget);
// NULL is allowed.
void tide__window_known_free(struct window_known *known);
// Adds all keys of the table. False if the set would then take more than its share of the memory: it is of no use any more.
bool tide__window_known_add(struct window_known *known, const struct memtable *table);
// False: none of the tables added had a key with this hash.
bool tide__window_known_may_have(const struct window_known *known, uint64_t hash);
// Asks for the memory that the question looks at.
void tide__window_known_prefetch(const struct window_known *known, uint64_t hash);

#endif
