// Rows in rank order: what the Top-N operators share.
//
// A row that enters a Top-N is kept as one block: its sort key (order-preserving, with its arrival number behind it, so that
// memcmp alone decides every tie) and its row codec bytes. To turn most rows away without building a key, the first sort
// column of a whole batch is mapped to *prefixes*: 64-bit numbers, smaller is better, that never contradict the keys.
// Equal prefixes say nothing; then the keys decide.
#ifndef TIDE_ENGINE_OPERATORS_RANKED_H
#define TIDE_ENGINE_OPERATORS_RANKED_H

#include "base/str.h"
#include "engine/batch.h"
#include "engine/plan.h"
#include "state/memtable.h"

#include <stdbool.h>
#include <stdint.h>

struct ranked_row {
    uint64_t prefix;
    uint32_t key_len;  // sort key and arrival number
    uint32_t row_len;
    uint32_t capacity : 31;
    uint32_t in_state : 1;  // the state table has it
    union {
        uint32_t unique;  // hash of its unique key (rank_rising.c)
        uint32_t fresh;  // 1 + its place in the owner's list of rows that the state table lacks; 0: none (over_state.c)
    };
    struct ranked_row *fresh_next, *fresh_before;  // the rows of its group that the state table lacks (rank_state.c)
    char bytes[];                                  // the key, then the row
};

static inline struct str tide__ranked_key(const struct ranked_row *row) {
    return (struct str){row->bytes, row->key_len};
}
static inline struct str tide__ranked_bytes(const struct ranked_row *row) {
    return (struct str){row->bytes + row->key_len, row->row_len};
}

// <0: a ranks before b. Two rows are never equal.
int tide__ranked_compare(const struct ranked_row *a, const struct ranked_row *b);

// How rows of one operator are ranked, and the memory they come from.
struct ranker {
    const struct sort_key *sorts;
    uint32_t sort_count;
    enum tie_rule ties;
    uint64_t arrival;  // number of the next row that asks for one
    struct memory_budget *budget;
    struct strbuf scratch;     // a key being built
    struct ranked_row *spare;  // the last row that was thrown out: its memory serves the next one
};

void tide__ranker_init(struct ranker *ranker, const struct sort_key *sorts, uint32_t sort_count, enum tie_rule ties,
                       struct memory_budget *budget);
void tide__ranker_deinit(struct ranker *ranker);

// The prefixes of all rows of a batch.
void tide__ranker_prefixes(const struct ranker *ranker, const struct batch *batch, uint64_t *out);
// True if rows of equal prefix have equal sort columns.
bool tide__ranker_prefix_is_exact(const struct ranker *ranker, const struct batch *batch, uint64_t prefix);
// The key of a row with the given arrival number, in the ranker's scratch.
struct str tide__ranker_key(struct ranker *ranker, const struct batch *batch, size_t row, uint64_t arrival);
// A block for the row whose key is in the scratch.
struct ranked_row *tide__ranked_new(struct ranker *ranker, const struct batch *batch, size_t row, uint64_t prefix);
// A block from stored bytes: `in_state`. The prefix comes from the decoded row.
struct ranked_row *tide__ranked_restore(struct ranker *ranker, struct str key, struct str row, uint64_t prefix);
void tide__ranked_free(struct ranker *ranker, struct ranked_row *row);
// Memory of a row; of the one that was made last.
size_t tide__ranked_row_bytes(const struct ranked_row *row);
size_t tide__ranker_row_bytes(const struct ranker *ranker);
void tide__ranked_sort(struct ranked_row **rows, size_t count);

// --- a bounded heap: the best `limit` rows, the worst of them on top ------------------------------------------------

struct ranked_heap {
    struct ranked_row **rows;
    uint32_t count, capacity;
    uint64_t worst;  // rows with a greater prefix can't enter; UINT64_MAX while there is room
};

// Offers a row. True if it entered: *out_evicted is the row that had to go, or NULL.
bool tide__ranked_heap_offer(struct ranked_heap *heap, struct ranker *ranker, uint32_t limit, const struct batch *batch,
                             size_t row, uint64_t prefix, struct ranked_row **out_evicted);
// Puts a block in; gives back the row that had to go (perhaps the same), or NULL.
struct ranked_row *tide__ranked_heap_put(struct ranked_heap *heap, struct ranker *ranker, uint32_t limit,
                                         struct ranked_row *row);
void tide__ranked_heap_deinit(struct ranked_heap *heap, struct ranker *ranker);
// The same without a ranker, from any thread.
void tide__ranked_heap_drop(struct ranked_heap *heap, struct memory_budget *budget);

// --- state ------------------------------------------------------------------------------------------------------------

// The value of a state table that keeps rows: one field of bytes.
void tide__row_value_append(struct str row, struct strbuf *out);
bool tide__row_value_parse(struct str value, struct str *out_row);
// Text of the type of a row with these fields: ROW<`item` STRING, ...>. In the arena.
const char *tide__row_type_text(const struct plan_field *fields, uint32_t count, struct arena *arena);

#endif
