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
    struct operator *op;    // NULL for sources
    struct source *source;  // NULL for all others
    struct emitter emitter;
    int64_t watermark_out;  // that has left this node
    bool idle;              // all its sources are
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
    int64_t reached;  // largest watermark value seen; starts at 0
    int64_t let_out;  // last watermark let out; 0: none yet
    bool any_let_out;
    uint64_t rows;
    bool waiting;              // it has nothing now
    int64_t waiting_since_ms;  // on the monotonic clock
    int64_t idle_timeout_ms;   // 0: never idle
    bool idle;                 // it waits for so long that others need not mind its watermark
};

struct task {
    struct task_env env;
    struct arena arena;    // graph
    struct arena scratch;  // slices of the batch in hand
    size_t node_count;
    struct task_node *nodes;  // as in the plan: inputs before consumers
    size_t source_count;
    struct source **sources;
    uint32_t turn, turn_rows;  // round robin over the sources
    uint64_t rows;
    uint32_t naps;           // rests since there was a row
    struct late_sink *late;  // keeps late rows; NULL: they are only counted
    bool exact_watermarks;   // some expression reads CURRENT_WATERMARK: every one is delivered
    bool ended;
};

// Pushes rows of a source's batch to its consumers.
tide_status tide__task_push(struct task_node *node, const struct batch *batch, tide_error *err);
// Lets the sources' watermarks through the whole graph, operators first in plan order.
tide_status tide__task_deliver(struct task *task, tide_error *err);
// Gives out up to `rows` rows of the source's batch, with the watermarks between them.
tide_status tide__task_give(struct task *task, struct source *source, size_t rows, tide_error *err);
// The source has nothing now: what its watermark has reached goes out, and in time it is idle.
tide_status tide__task_wait(struct task *task, struct source *source, tide_error *err);
// It has something again.
void tide__task_awake(struct source *source);
// All sources wait: sleeps a little, a few milliseconds at most.
void tide__task_rest(struct task *task);
// Writes state out while the budget is exceeded.
tide_status tide__task_relieve(struct task *task, tide_error *err);

#endif
