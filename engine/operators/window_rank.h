// What the files of the Window Top-N share: window_rank.c (ranking, firing), window_rank_state.c (barriers, restoring) and
// window_rank_evict.c (windows larger than memory).
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_RANK_H
#define TIDE_ENGINE_OPERATORS_WINDOW_RANK_H

#include "engine/operator.h"
#include "engine/operators/ranked.h"
#include "engine/operators/window_list.h"

// The best rows of one partition of one window.
struct rank_top {
    struct ranked_heap heap;
    struct str partition;  // its key bytes
    bool dirty;            // in its window's list
};

struct rank_window {
    struct open_window bounds;
    struct memtable *partitions;  // partition key -> struct rank_top; NULL: there are no partition keys
    struct rank_top single;       // then this
    struct rank_top **dirty;      // those with rows that the state table does not have
    size_t dirty_count, dirty_capacity;
    bool in_state;     // the state table has rows of it
    bool evicted;      // some of them are not in memory any more
    uint64_t floor;    // without partition keys: rows with a greater prefix can't be among the best
    size_t rows;       // in memory
    size_t row_bytes;  // that they take
    uint64_t written;  // evicted: rows that the table has, at most
    uint64_t kept;     // what it had when it was last rid of rows beyond the best
};

struct window_rank {
    struct operator base;
    const struct plan_window_rank *plan;
    struct operator_env env;
    struct ranker ranker;
    uint32_t limit;              // rows kept a partition
    struct window_list windows;  // of struct rank_window
    struct state_table *table;
    const struct state_table_desc *desc;
    struct arena scratch;  // of one batch
    struct arena output;   // of one batch that goes out
    struct str *pending;   // rows that go out next: in heaps, or in `copies`
    struct arena copies;   // of rows from the state table
    int64_t *pending_ranks;
    size_t pending_count;
    struct strbuf key, value;  // of the state
    bool had_barrier;          // there will be more
};

// The window, made if it is new; NULL if it has fired already.
struct rank_window *tide__window_rank_window(struct window_rank *op, int64_t start, int64_t end, int64_t watermark);
// The partition's rows, made if they are new. Without partition keys the key is not looked at.
struct rank_top *tide__window_rank_top(struct window_rank *op, struct rank_window *window, struct str partition,
                                       uint64_t hash);
// A row entered `top` and `evicted` (may be NULL) left it.
void tide__window_rank_entered(struct window_rank *op, struct rank_window *window, struct rank_top *top,
                               struct ranked_row *evicted);

tide_status tide__window_rank_state_open(struct window_rank *op, tide_error *err) TIDE_CHECKED;
void tide__window_rank_delete(struct window_rank *op, const struct rank_window *window, const struct rank_top *top,
                              const struct ranked_row *row);
tide_status tide__window_rank_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
// Puts what the window's state table does not have.
void tide__window_rank_put_dirty(struct window_rank *op, struct rank_window *window);
void tide__window_rank_save(struct operator *base, struct strbuf *out);
tide_status tide__window_rank_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;
// Steps over the partition columns at the front of *key, whose values go to columns; they may point into op->scratch.
bool tide__window_rank_skip_partition(struct window_rank *op, struct column *columns, struct str *key);

// Adds a row to those that go out, and lets them go when they are many. The row must stay where it is until then.
tide_status tide__window_rank_emit(struct window_rank *op, struct str row, int64_t rank, struct emitter *out,
                                   tide_error *err) TIDE_CHECKED;
// Lets go of what memory holds of a window.
void tide__window_rank_clear(struct window_rank *op, struct rank_window *window);

// --- window_rank_evict.c
size_t tide__window_rank_shrink(struct operator *base, size_t bytes, tide_error *err);
// Evicts if memory is short and much of it is ours: for rows that all come within one watermark.
tide_status tide__window_rank_relieve(struct window_rank *op, tide_error *err) TIDE_CHECKED;
// Gives out the best rows of an evicted window.
tide_status tide__window_rank_emit_evicted(struct window_rank *op, struct rank_window *window, struct emitter *out,
                                           tide_error *err) TIDE_CHECKED;

#endif
