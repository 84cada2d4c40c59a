// What the files of the regular and the interval join share: join.c (rows and changes), join_keep.c (what is kept),
// join_state.c (barriers, restoring).
#ifndef TIDE_ENGINE_OPERATORS_JOIN_ROWS_H
#define TIDE_ENGINE_OPERATORS_JOIN_ROWS_H

#include "engine/operators/join_pairs.h"

struct kept_row {
    uint64_t arrival;
    int64_t expires;  // interval join: the watermark that says that no partner can come any more
    uint32_t len;
    uint32_t fresh;    // 1 + its place in the list of rows to put at the next barrier; 0: not in it
    uint32_t matches;  // rows of the other side that it is joined with; kept only where somebody wants to know
    bool in_state;
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
    bool seen, has_null;  // a key is NULL: its rows match nothing
};

struct kept_ref {
    struct keyed_rows *group;
    struct kept_row *row;
    uint32_t side;
};

struct join {
    struct operator base;
    const struct plan_join *plan;
    struct operator_env env;
    bool deferred;            // padding waits until a row's matches are final: interval joins and batch mode
    bool counts[2];           // the side's rows know their matches
    struct memtable *groups;  // key -> struct keyed_rows
    uint64_t arrival;
    struct join_pairs pairs;
    struct kept_ref *fresh;
    size_t fresh_count, fresh_capacity;
    struct kept_ref *timers;  // deferred: a heap by (expires, arrival)
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

struct keyed_rows *tide__join_group(struct join *op, struct str key);
void tide__join_keep_deinit(struct join *op);
struct kept_row *tide__join_keep(struct join *op, struct keyed_rows *group, uint32_t side, struct str bytes,
                                 uint64_t arrival, int64_t expires, uint32_t matches);
// The oldest row with these bytes; NULL if there is none.
struct kept_row *tide__join_find(const struct keyed_rows *group, uint32_t side, struct str bytes);
void tide__join_forget(struct join *op, struct keyed_rows *group, uint32_t side, struct kept_row *row);
void tide__join_count(struct join *op, struct keyed_rows *group, uint32_t side, struct kept_row *row, int change);
// Frees the rows that were forgotten: nothing shows them any more.
void tide__join_free_gone(struct join *op);
// Takes the row that expires first if it does so by the watermark.
bool tide__join_expire(struct join *op, int64_t watermark, struct kept_ref *out);
// When a row of the side with this event time expires.
int64_t tide__join_expiry(const struct join *op, uint32_t side, int64_t time);

// --- state --------------------------------------------------------------------------------------------------------------

tide_status tide__join_state_open(struct join *op, tide_error *err) TIDE_CHECKED;
void tide__join_state_changed(struct join *op, struct keyed_rows *group, uint32_t side, struct kept_row *row);
void tide__join_state_left(struct join *op, const struct keyed_rows *group, uint32_t side, struct kept_row *row);
tide_status tide__join_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
void tide__join_save(struct operator *base, struct strbuf *out);
tide_status tide__join_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;

#endif
