// What the files of the regular Top-N share: rank_classes.c (which operator runs a node), rank.c (changelog), rank_rising.c (rows
// that only rise), rank_state.c (the state table, and groups that are let go), rank_final.c (batch mode), first_row.c (the first row by event time).
#ifndef TIDE_ENGINE_OPERATORS_RANK_ROWS_H
#define TIDE_ENGINE_OPERATORS_RANK_ROWS_H

#include "engine/operator.h"
#include "engine/operators/changes.h"
#include "engine/operators/keyed_cache.h"
#include "engine/operators/ranked_list.h"

// Both operators that run a PLAN_RANK begin with this.
struct rank_operator {
    struct operator base;
    const struct operator_class *class;
};

tide_status tide__rank_open(const struct operator_env *env, struct operator** out, tide_error *err) TIDE_CHECKED;
tide_status tide__first_row_open(const struct operator_env *env, struct operator** out, tide_error *err) TIDE_CHECKED;

// One partition.
struct rank_group {
    struct ranked_list list;
    struct str key;
    struct ranked_row *fresh;  // of its rows those that the state table does not have yet
    uint32_t dirty;            // tide__keyed_mark_dirty: may have some
};

struct rank {
    struct rank_operator head;
    const struct plan_rank *plan;
    struct operator_env env;
    struct ranker ranker;
    uint64_t first, last;       // ranks that go out
    uint32_t fields;            // of the input
    bool numbered;              // each shifted rank is a change
    bool update_before;         // somebody wants -U
    struct keyed_cache groups;  // partition key -> struct rank_group
    struct changes changes;
    struct ranked_row **gone;  // rows that left, kept until the changes are sent
    size_t gone_count, gone_capacity;
    struct state_table *table;
    struct state_table_desc desc;
    struct arena arena;        // descriptors
    struct arena scratch;      // of one batch
    struct batch one;          // a row that is read
    struct strbuf key, value;  // of the state
};

// A change goes out if its rank is wanted.
void tide__rank_change(struct rank *op, const struct ranked_row *row, enum row_kind kind, uint64_t rank);
// Keeps a row that has left until the changes that show it are sent.
void tide__rank_bury(struct rank *op, struct rank_group *group, struct ranked_row *row);
tide_status tide__rank_send(struct rank *op, struct emitter *out, tide_error *err) TIDE_CHECKED;

// rank_rising.c: one row of a batch, with its unique key; a restored row, which stands in op->one.
void tide__rank_rise(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row, uint64_t prefix,
                     struct str key);
void tide__rank_risen_before(struct rank *op, struct ranked_row *row);

// rank_final.c: batch mode, all that is kept.
tide_status tide__rank_emit_all(struct rank *op, struct emitter *out, tide_error *err) TIDE_CHECKED;

// group_size: of what begins with a struct rank_group; `free` frees what one owns, its ctx is op.
tide_status tide__rank_state_open(struct rank *op, size_t group_size, void (*free)(void *payload, void *ctx),
                                  tide_error *err) TIDE_CHECKED;
void tide__rank_state_close(struct rank *op);
// The group of a key, for operators that keep all groups in memory.
struct rank_group *tide__rank_group(struct rank *op, struct str key);
// The row stands in the group's list from now on; it has left it.
void tide__rank_state_entered(struct rank *op, struct rank_group *group, struct ranked_row *row);
void tide__rank_state_left(struct rank *op, struct rank_group *group, struct ranked_row *row);
// Hands all that changed to the state table.
void tide__rank_state_flush(struct rank *op);
// The length of the partition keys that a key of the state begins with, in *out_len. False if it is damaged.
bool tide__rank_partition_length(struct rank *op, struct str key, size_t *out_len);
tide_status tide__rank_damaged(const struct rank *op, tide_error *err);
size_t tide__rank_shrink(struct operator *base, size_t bytes, tide_error *err);
tide_status tide__rank_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
void tide__rank_save(struct operator *base, struct strbuf *out);
tide_status tide__rank_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;

#endif
