// What the files of the group aggregate share: group_aggregate.c (the operator), group_rounds.c (a batch row by row, but
// vectorised), group_state.c (barriers, restoring).
#ifndef TIDE_ENGINE_OPERATORS_GROUP_ROWS_H
#define TIDE_ENGINE_OPERATORS_GROUP_ROWS_H

#include "engine/aggregates/aggregate.h"
#include "engine/operator.h"

// One group: the head of its payload, the accumulators lie behind it.
struct group {
    int64_t rows;       // accumulated minus retracted; 0: the group is not there
    uint64_t batch;     // number of the last batch that had a row of it
    uint32_t last_row;  // of that batch
    uint32_t key_len;
    const char *key;
    bool dirty;  // in the list of changed groups
    bool in_state;
    _Alignas(16) unsigned char accumulators[];
};

struct group_aggregate {
    struct operator base;
    const struct plan_group_aggregate *plan;
    struct operator_env env;
    struct aggregators aggregators;
    struct memtable *groups;
    uint64_t batches;
    struct group **dirty;
    size_t dirty_count, dirty_capacity;
    struct state_table *table;
    struct state_table_desc desc;
    struct arena arena;    // aggregators, descriptors
    struct arena scratch;  // of one batch
    struct arena output;
    struct strbuf value;
};

struct group *tide__group_find(struct group_aggregate *op, struct str key, uint64_t hash);
void tide__group_mark_dirty(struct group_aggregate *op, struct group *group);

// What became of the rows of a batch. Columns have 2 * rows places: the result after row i stands at i, the one
// before it at before[i] (it is that of the group's last row in the batch, or one of the places behind `rows`).
struct group_results {
    struct column *columns;
    uint32_t *before;
    uint8_t *was_there, *is_there;  // did the group have rows before row i, has it after?
};
// Adds the rows of a batch to their groups. Everything lives in op->scratch.
void tide__group_rounds(struct group_aggregate *op, const struct batch *batch, struct group_results *out);

tide_status tide__group_state_open(struct group_aggregate *op, tide_error *err) TIDE_CHECKED;
tide_status tide__group_barrier(struct operator* base, tide_error *err) TIDE_CHECKED;
tide_status tide__group_restore(struct operator* base, struct str saved, tide_error *err) TIDE_CHECKED;

#endif
