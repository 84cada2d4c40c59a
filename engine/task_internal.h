// What the files of the driver share.
#ifndef TIDE_ENGINE_TASK_INTERNAL_H
#define TIDE_ENGINE_TASK_INTERNAL_H

#include "engine/operator.h"
#include "engine/task.h"

// Rows of a source that are read before the next source has its turn, whatever the batch size.
#define TURN_ROWS 1024u

struct task_node;

struct consumer {
    struct task_node *node;
    uint32_t input;
};

// What an operator emits goes to its node's consumers.
struct emitter {
    struct task_node *node;
};

struct task_node {
    struct task *task;
    const struct plan_node *plan;
    struct operator *op;         // NULL for sources
    struct source *source;       // NULL for all others
    struct emitter emitter;
    int64_t watermark_out;       // that has left this node
    size_t consumer_count;
    struct consumer *consumers;
};

// One PLAN_SCAN being read.
struct source {
    struct task_node *node;
    struct source_reader *reader;
    struct source_batch *batch;  // being given out; NULL: none
    size_t batch_at;             // rows of it already given out
    bool ended;
    int64_t reached;             // largest watermark value seen; starts at 0
    int64_t let_out;             // last watermark let out; 0: none yet
    bool any_let_out;
    uint64_t rows;
};

struct task {
    struct task_env env;
    struct arena arena;          // graph
    struct arena scratch;        // slices of the batch in hand
    size_t node_count;
    struct task_node *nodes;     // as in the plan: inputs before consumers
    size_t source_count;
    struct source **sources;
    uint32_t turn, turn_rows;    // round robin over the sources
    uint64_t rows;
    bool exact_watermarks;       // some expression reads CURRENT_WATERMARK: every one is delivered
    bool ended;
};

// Pushes rows of a source's batch to its consumers.
tide_status tide__task_push(struct task_node *node, const struct batch *batch, tide_error *err);
// Lets the sources' watermarks through the whole graph, operators first in plan order.
tide_status tide__task_deliver(struct task *task, tide_error *err);
// Gives out up to `rows` rows of the source's batch, with the watermarks between them.
tide_status tide__task_give(struct task *task, struct source *source, size_t rows, tide_error *err);
// Writes state out while the budget is exceeded.
tide_status tide__task_relieve(struct task *task, tide_error *err);

#endif
