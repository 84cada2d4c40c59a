// The operator contract. One operator a plan node; the driver (engine/task.c) owns the graph, calls the operators and
// routes what they emit. An operator never calls another one.
//
// Order of calls: open, [restore], then any mix of on_batch / on_watermark / on_barrier, then close. All on one
// thread. Between two calls of the driver the whole pipeline is quiet, so a barrier needs no alignment.
#ifndef TIDE_ENGINE_OPERATOR_H
#define TIDE_ENGINE_OPERATOR_H

#include "base/error.h"
#include "engine/batch.h"
#include "engine/plan.h"
#include "state/state.h"

struct emitter;  // where an operator's output goes; private to the driver
struct operator;

// Counters of one operator; written by it, read by the driver (one thread).
struct operator_stats {
    uint64_t rows_in, rows_out;  // kept by the driver
    uint64_t late_rows;          // dropped because their window had fired
    uint64_t windows_fired;
    uint64_t windows_open;  // now
};

// Late rows, if the job keeps them.
struct late_sink;

// Receives the rows of a SINK_COLLECT. The batch is borrowed.
typedef tide_status operator_collect_fn(void *ctx, const struct plan_node *sink, const struct batch *batch,
                                        tide_error *err);

struct operator_env {
    const struct plan *plan;
    const struct plan_node *node;
    struct state_store *store;     // register tables here in open
    struct memory_budget *budget;  // charge what is held between calls
    size_t batch_rows_max;         // largest batch to emit
    const char *script_dir;        // relative paths of tables are relative to it
    struct late_sink *late;        // NULL: not kept
    // Sinks only.
    const char *run_id;            // names this run's files
    operator_collect_fn *collect;  // receives the rows of a SINK_COLLECT
    void *collect_ctx;
};

struct operator_class {
    enum plan_kind kind;
    // Allocates the operator (its struct begins with struct operator), registers its state tables.
    tide_status (*open)(const struct operator_env *env, struct operator** out, tide_error *err);
    // Rows of input number `input`. The batch is borrowed. May emit. May be NULL for sources.
    tide_status (*on_batch)(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err);
    // The watermark has advanced to watermark_ms (the minimum over the inputs); op->watermark still holds the older one
    // and is set by the driver afterwards, when the watermark is passed on. May emit. NULL: nothing to do.
    tide_status (*on_watermark)(struct operator *op, int64_t watermark_ms, struct emitter *out, tide_error *err);
    // A watermark below the returned one changes nothing here, provided rows to come have event times >= earliest_ms.
    // Always > op->watermark. The driver skips watermarks that no operator asks for. NULL: never asks.
    int64_t (*next_trigger)(const struct operator *op, int64_t earliest_ms);
    // Hands all that changed since the last barrier to its state tables. NULL: stateless.
    tide_status (*on_barrier)(struct operator *op, tide_error *err);
    // Small state without a key (a counter, a pending file), appended to `out` at a barrier, and taken back. NULL: none.
    void (*save)(struct operator *op, struct strbuf *out);
    // Called after open when resuming; the state tables are loaded already. `saved` is what save gave ("" if none).
    tide_status (*restore)(struct operator *op, struct str saved, tide_error *err);
    // Memory is short: give back up to `bytes` by writing state out. Returns bytes that will become free. NULL: can't.
    size_t (*shrink)(struct operator *op, size_t bytes, tide_error *err);
    // End of input, after the last watermark. NULL: nothing.
    tide_status (*on_end)(struct operator *op, struct emitter *out, tide_error *err);
    void (*close)(struct operator *op);
};

struct operator{
    const struct operator_class *class;
    const struct plan_node *node;
    int64_t watermark;  // kept by the driver; WATERMARK_NONE at first, restored by it
    struct operator_stats stats;
};

// Passes a batch on; returns the consumers' failure. Batches without rows are dropped.
tide_status tide__emit(struct emitter *out, const struct batch *batch, tide_error *err) TIDE_CHECKED;
// Counts a late row and keeps it if the job asks for that. window bounds in milliseconds (wall clock of the window).
void tide__late_row(struct operator *op, struct late_sink *late, const struct batch *batch, size_t row,
                    int64_t window_start, int64_t window_end);

// The class of a kind of node; NULL if the engine has none. All classes stand in engine/operators/operators.c.
const struct operator_class *tide__operator_class(enum plan_kind kind);

#endif
