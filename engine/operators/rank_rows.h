// What the files of the regular Top-N share: rank_classes.c (which operator runs a node), rank.c (changelog), rank_rising.c (rows
// that only rise), rank_state.c (barriers, restoring), first_row.c (the first row by event time).
#ifndef TIDE_ENGINE_OPERATORS_RANK_ROWS_H
#define TIDE_ENGINE_OPERATORS_RANK_ROWS_H

#include "engine/operator.h"
#include "engine/operators/changes.h"
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
};

// A row that the state table does not have yet.
struct rank_fresh {
    struct rank_group *group;
    struct ranked_row *row;
};

struct rank {
    struct rank_operator head;
    const struct plan_rank *plan;
    struct operator_env env;
    struct ranker ranker;
    uint64_t first, last;     // ranks that go out
    uint32_t fields;          // of the input
    bool numbered;            // each shifted rank is a change
    bool update_before;       // somebody wants -U
    struct memtable *groups;  // partition key -> struct rank_group
    struct memtable *rows;    // rows that only rise: unique key -> struct ranked_row * or NULL; else NULL
    struct changes changes;
    struct ranked_row **gone;  // rows that left, kept until the changes are sent
    size_t gone_count, gone_capacity;
    struct rank_fresh *fresh;
    size_t fresh_count, fresh_capacity;
    struct state_table *table;
    struct state_table_desc desc;
    struct arena arena;        // descriptors
    struct arena scratch;      // of one batch
    struct strbuf key, value;  // of the state
};

struct rank_group *tide__rank_group(struct rank *op, struct str key, uint64_t hash);

// A change goes out if its rank is wanted.
void tide__rank_change(struct rank *op, const struct ranked_row *row, enum row_kind kind, uint64_t rank);
// Keeps a row that has left until the changes that show it are sent.
void tide__rank_bury(struct rank *op, const struct rank_group *group, struct ranked_row *row);
tide_status tide__rank_send(struct rank *op, struct emitter *out, tide_error *err) TIDE_CHECKED;

// rank_rising.c: one row of a batch, with its unique key; a restored row (row 0 of `one`).
void tide__rank_rise(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row, uint64_t prefix,
                     struct str key);
void tide__rank_risen_before(struct rank *op, const struct batch *one, struct ranked_row *row);

tide_status tide__rank_state_open(struct rank *op, tide_error *err) TIDE_CHECKED;
// The row stands in the group's list from now on; it has left it.
void tide__rank_state_entered(struct rank *op, struct rank_group *group, struct ranked_row *row);
void tide__rank_state_left(struct rank *op, const struct rank_group *group, struct ranked_row *row);
tide_status tide__rank_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
void tide__rank_save(struct operator *base, struct strbuf *out);
tide_status tide__rank_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;

#endif
