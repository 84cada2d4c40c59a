// All rows of one partition in rank order, for Top-N that must know the neighbours of a row. A list of chunks, so that
// entering and leaving cost little however long it is.
#ifndef TIDE_ENGINE_OPERATORS_RANKED_LIST_H
#define TIDE_ENGINE_OPERATORS_RANKED_LIST_H

#include "engine/operators/ranked.h"

struct ranked_chunk {
    struct ranked_row **rows;
    uint32_t count, capacity;
};

// Zeroed memory is an empty list.
struct ranked_list {
    struct ranked_chunk *chunks;  // none is empty
    uint32_t chunk_count, chunk_capacity;
    uint64_t count;
};

// A place in a list; chunk == chunk_count is the end.
struct ranked_at {
    uint32_t chunk, index;
};

// The first row that ranks behind (prefix, key).
struct ranked_at tide__ranked_list_find(const struct ranked_list *list, uint64_t prefix, struct str key);
// Rows before `at`, counted up to `most` (then a number > most may come back).
uint64_t tide__ranked_list_before(const struct ranked_list *list, struct ranked_at at, uint64_t most);
// The row with rank - 1 rows before it, 1 <= rank; NULL past the end.
struct ranked_row *tide__ranked_list_nth(const struct ranked_list *list, uint64_t rank);
struct ranked_row *tide__ranked_list_get(const struct ranked_list *list, struct ranked_at at);  // NULL at the end
struct ranked_row *tide__ranked_list_last(const struct ranked_list *list);
struct ranked_at tide__ranked_list_next(const struct ranked_list *list, struct ranked_at at);
// Puts a row before `at`; gives its place.
struct ranked_at tide__ranked_list_insert(struct ranked_list *list, struct ranked_at at, struct ranked_row *row,
                                          struct memory_budget *budget);
// Takes a row out; the place of the row behind it.
struct ranked_at tide__ranked_list_remove(struct ranked_list *list, struct ranked_at at, struct memory_budget *budget);
struct ranked_row *tide__ranked_list_pop(struct ranked_list *list, struct memory_budget *budget);
void tide__ranked_list_deinit(struct ranked_list *list, struct ranker *ranker);

#endif
