// What the files of the window join share: window_join.c (rows, firing), window_join_state.c (barriers, restoring),
// window_join_evict.c (windows that are in the state only).
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_JOIN_H
#define TIDE_ENGINE_OPERATORS_WINDOW_JOIN_H

#include "engine/operators/join_pairs.h"
#include "engine/operators/ranked.h"
#include "engine/operators/window_list.h"

// Rows of one side with equal keys, in order of arrival. Kept as ranked rows without sort columns: the key is the arrival
// number. `fresh` is 1 for a row that has found its match, while its window fires.
struct join_rows {
    struct ranked_row **rows;
    uint32_t count, capacity;
};

struct join_group {
    struct join_rows sides[2];
    struct str key;
    bool has_null;  // a key is NULL: its rows match nothing
    bool seen;
};

// A row that its state table does not have yet.
struct join_fresh {
    struct join_group *group;
    struct ranked_row *row;
    uint32_t side;
};

struct join_window {
    struct open_window bounds;
    struct memtable *groups;  // key -> struct join_group
    struct join_fresh *fresh;
    size_t fresh_count, fresh_capacity;
    size_t row_bytes;  // of the rows in memory and their lists
    bool in_state[2];
    bool evicted;  // the state has rows that are not in memory; all of them once the fresh ones are put
};

// A step of a firing window: a pair to test, or the end of a row's pairs, when it is known whether it found a match.
struct join_step {
    struct ranked_row *left, *right;  // a pair; or one of them: its end
};

struct window_join {
    struct operator base;
    const struct plan_window_join *plan;
    struct operator_env env;
    struct window_list windows;  // of struct join_window
    struct ranker ranker;
    struct join_pairs pairs;
    struct join_step *steps;
    size_t step_count, step_capacity;
    struct state_table *tables[2];
    struct state_table_desc descs[2];
    struct arena arena;    // descriptors
    struct arena scratch;  // of one batch
    struct strbuf key, value;
};

// The window, made if it is new; NULL if it has fired already.
struct join_window *tide__window_join_window(struct window_join *op, int64_t start, int64_t end, int64_t watermark);
struct join_group *tide__window_join_group(struct window_join *op, struct join_window *window, struct str key,
                                           uint64_t hash);
void tide__window_join_put(struct window_join *op, struct join_window *window, struct join_group *group, uint32_t side,
                           struct ranked_row *row);
void tide__window_join_new_groups(struct window_join *op, struct join_window *window);
// Lets the pairs of all rows in memory out, with those of windows before.
tide_status tide__window_join_fire_groups(struct window_join *op, struct join_window *window, struct emitter *out,
                                          tide_error *err) TIDE_CHECKED;

enum { ARRIVAL_BYTES = 8 };  // the end of an entry's key

// Frees the rows in memory.
void tide__window_join_clear(struct window_join *op, struct join_window *window);
size_t tide__window_join_shrink(struct operator *base, size_t bytes, tide_error *err);
tide_status tide__window_join_fire_evicted(struct window_join *op, struct join_window *window, struct emitter *out,
                                           tide_error *err) TIDE_CHECKED;

tide_status tide__window_join_state_open(struct window_join *op, tide_error *err) TIDE_CHECKED;
// Puts the rows that the state does not have yet.
void tide__window_join_put_fresh(struct window_join *op, struct join_window *window);
tide_status tide__window_join_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
void tide__window_join_save(struct operator *base, struct strbuf *out);
tide_status tide__window_join_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;

#endif
