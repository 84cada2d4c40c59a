// What the files of OVER along time share: over.c (rows that wait, and their turn), over_frame.c (partitions and their frames),
// over_late.c (late rows), over_state.c (barriers, restoring).
#ifndef TIDE_ENGINE_OPERATORS_OVER_ROWS_H
#define TIDE_ENGINE_OPERATORS_OVER_ROWS_H

#include "engine/aggregates/aggregate.h"
#include "engine/operator.h"
#include "engine/operators/keyed_cache.h"
#include "engine/operators/ranked.h"

// A partition: the head of its payload, the accumulators of its frame lie behind it.
struct over_group {
    struct str key;
    struct ranked_row **rows;  // the last rows, as far back as a frame or LAG can reach: [first, first + count)
    uint32_t first, count, capacity;
    uint32_t in_frame;  // the last so many of `rows` are in the accumulators (bounded frames)
    int64_t row_number, rank, dense_rank;
    int64_t forgotten_at;  // bounded RANGE by event time: the watermark at which the partition is forgotten
    uint64_t turn;         // the last run of peers that had a row of it
    uint32_t dirty;        // tide__keyed_mark_dirty: changed since it was written
    _Alignas(16) unsigned char accumulators[];
};

// A row that a state table does not have yet; group NULL: it waits.
struct over_fresh {
    struct over_group *group;
    struct ranked_row *row;
};

// When a row has its turn.
enum over_order {
    OVER_BY_TIME,     // when the watermark reaches it
    OVER_BY_ARRIVAL,  // at once
    OVER_BY_SORT,     // when the input ends (batch mode)
};

struct over {
    struct operator base;
    const struct operator_class *class;  // for over_classes.c
    const struct plan_over *plan;
    struct operator_env env;
    enum over_order order;
    struct sort_key *sorts;  // of the ranker: batch mode has the partition columns before the others
    struct ranker ranker;
    struct aggregators aggregators;
    struct aggregate_call *calls;  // of the aggregates, in order
    uint32_t fields;               // of the input
    uint32_t lag;                  // rows that LAG looks back
    bool bounded;                  // rows leave the frame
    struct ranked_row **waiting;   // a heap, the first in rank order on top
    size_t waiting_count, waiting_capacity;
    struct keyed_cache groups;  // partition key -> struct over_group
    uint64_t turns;
    int64_t last_time;  // of the rows that had their turn, by event time
    struct over_fresh *fresh;
    size_t fresh_count, fresh_capacity;
    struct state_table *waiting_table, *rows_table, *groups_table;
    struct state_table_desc descs[3];
    struct arena arena;    // descriptors, aggregators
    struct arena scratch;  // of one batch of rows that have their turn
    struct batch one;      // a row that leaves a frame, or that LAG looks at
    struct strbuf key, value;
};

// Rows that have their turn: decoded, in order, whole runs of peers only.
struct over_turn {
    struct batch batch;  // the input's fields
    struct ranked_row **rows;
    struct column *results;  // one a call
};

extern const struct operator_class tide__over_along_time;

// --- over_frame.c -----------------------------------------------------------------------------------------------------

// The groups of n keys; the array lives in op->scratch. They stay where they are until it is called again.
tide_status tide__over_groups(struct over *op, const struct str *keys, size_t n, struct over_group ***out_groups,
                              tide_error *err) TIDE_CHECKED;
void tide__over_group_free(void *payload, void *ctx);
// Keeps a row as the group's last.
void tide__over_group_push(struct over *op, struct over_group *group, struct ranked_row *row);
// Computes the results of the rows, and takes the rows.
tide_status tide__over_run(struct over *op, struct over_turn *turn, tide_error *err) TIDE_CHECKED;

// --- over_late.c ------------------------------------------------------------------------------------------------------

// Event time: late[i] says whether a row comes too late; to be called once a batch, in order.
tide_status tide__over_find_late(struct over *op, const struct batch *batch, const int64_t *times, bool *late,
                                 tide_error *err) TIDE_CHECKED;
// Is lateness a matter of the partition, rather than of the watermark alone?
bool tide__over_goes_by_partition(const struct over *op);

// --- over_state.c -----------------------------------------------------------------------------------------------------

tide_status tide__over_state_open(struct over *op, tide_error *err) TIDE_CHECKED;
void tide__over_state_entered(struct over *op, struct over_group *group, struct ranked_row *row);
void tide__over_state_left(struct over *op, const struct over_group *group, struct ranked_row *row);
tide_status tide__over_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
void tide__over_save(struct operator *base, struct strbuf *out);
tide_status tide__over_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;
size_t tide__over_shrink(struct operator *base, size_t bytes, tide_error *err);
void tide__over_wait(struct over *op, struct ranked_row *row);

#endif
