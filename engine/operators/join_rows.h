// What the files of the regular and the interval join share: join.c (rows and changes), join_keep.c (what is kept),
// join_state.c (the state tables, barriers), join_load.c (rows that come from there).
#ifndef TIDE_ENGINE_OPERATORS_JOIN_ROWS_H
#define TIDE_ENGINE_OPERATORS_JOIN_ROWS_H

#include "engine/operators/join_pairs.h"
#include "engine/operators/keyed_cache.h"
#include "engine/operators/window_known.h"

struct keyed_rows;

struct kept_row {
    uint64_t arrival;
    int64_t expires;  // interval join: the watermark that says that no partner can come any more
    struct keyed_rows *group;
    uint32_t len;
    uint32_t fresh;    // 1 + its place in the list of rows to put; 0: not in it
    uint32_t matches;  // rows of the other side that it is joined with; kept only where somebody wants to know
    bool in_state;
    uint8_t side;
    char bytes[];  // row codec
};

static inline struct str tide__kept_bytes(const struct kept_row *row) {
    return (struct str){row->bytes, row->len};
}

struct kept_rows {
    struct kept_row **rows;  // in order of arrival
    uint32_t count, capacity;
};

// Rows of both sides with equal keys.
struct keyed_rows {
    struct kept_rows sides[2];
    struct str key;
    int64_t bytes;        // of the rows and their lists
    bool seen, has_null;  // a key is NULL: its rows match nothing
};

// A row that left, while its entry is still in the state table.
struct left_row {
    struct str key;  // of its group; memory of the group's table
    uint64_t arrival;
    uint32_t side;
};

struct join {
    struct operator base;
    const struct plan_join *plan;
    struct operator_env env;
    bool deferred;               // padding waits until a row's matches are final: interval joins and batch mode
    bool counts[2];              // the side's rows know their matches
    struct keyed_cache groups;   // key -> struct keyed_rows
    struct window_known *known;  // keys that the state may have of groups that were let go; NULL: all
    uint64_t arrival;
    struct join_pairs pairs;
    struct kept_row **fresh;  // the state does not have them, or has another number of matches
    size_t fresh_count, fresh_capacity;
    struct left_row *left;
    size_t left_count, left_capacity;
    struct kept_row **timers;  // deferred: a heap by (expires, arrival)
    size_t timer_count, timer_capacity;
    struct kept_row **gone;  // rows that left, kept until what shows them is sent
    size_t gone_count, gone_capacity;
    struct state_table *tables[2];
    struct state_table_desc descs[2];
    struct arena arena;    // descriptors
    struct arena scratch;  // of one batch
    struct strbuf key, value;
};

// --- what is kept -----------------------------------------------------------------------------------------------------

void tide__join_keep_init(struct join *op);
void tide__join_keep_deinit(struct join *op);
// The groups of n keys (see tide__keyed_find).
tide_status tide__join_groups(struct join *op, const struct str *keys, size_t n, struct keyed_rows ***out_groups,
                              tide_error *err) TIDE_CHECKED;
struct kept_row *tide__join_keep(struct join *op, struct keyed_rows *group, uint32_t side, struct str bytes,
                                 uint64_t arrival, int64_t expires, uint32_t matches);
// The oldest row with these bytes; NULL if there is none.
struct kept_row *tide__join_find(const struct keyed_rows *group, uint32_t side, struct str bytes);
void tide__join_forget(struct join *op, struct kept_row *row);
void tide__join_count(struct join *op, struct kept_row *row, int change);
// Frees the rows that were forgotten: nothing shows them any more.
void tide__join_free_gone(struct join *op);
// Takes rows that expire by the watermark, the first `max` of them, in order. Returns their number.
size_t tide__join_expire(struct join *op, int64_t watermark, size_t max, struct kept_row **out_rows);
// When a row of the side with this event time expires.
int64_t tide__join_expiry(const struct join *op, uint32_t side, int64_t time);
size_t tide__join_shrink(struct operator *base, size_t bytes, tide_error *err);

// --- state --------------------------------------------------------------------------------------------------------------

tide_status tide__join_state_open(struct join *op, tide_error *err) TIDE_CHECKED;
void tide__join_state_changed(struct join *op, struct kept_row *row);
void tide__join_state_left(struct join *op, struct kept_row *row);
// Hands over what has changed.
void tide__join_state_put(struct join *op);
tide_status tide__join_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
void tide__join_save(struct operator *base, struct strbuf *out);

// --- rows from the state --------------------------------------------------------------------------------------------------

enum { ARRIVAL_BYTES = 8 };  // the end of an entry's key

// Of the cache: the rows of groups.
tide_status tide__join_load(void *ctx, void *const *payloads, const struct str *keys, size_t n, int64_t *out_charge,
                            tide_error *err) TIDE_CHECKED;
tide_status tide__join_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;

#endif
