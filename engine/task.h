// The driver of one job: opens an operator for each node of a plan, reads the sources in order, pushes batches,
// watermarks and barriers through the graph, and takes its snapshots.
//
// One thread owns a task. Parse workers of the sources and the state's background thread run beside it.
#ifndef TIDE_ENGINE_TASK_H
#define TIDE_ENGINE_TASK_H

#include "base/error.h"
#include "engine/batch.h"
#include "engine/connectors/connector.h"
#include "engine/operator.h"
#include "engine/plan.h"
#include "engine/snapshot.h"
#include "state/state.h"

struct task;

struct task_env {
    const struct plan *plan;
    struct state_store *store;
    struct memory_budget *budget;
    const char *script_dir;
    const char *run_id;    // names the sinks' files
    uint32_t parallelism;  // 1: everything but the state's background thread in the caller's thread
    size_t batch_rows_max;
    enum changed_input changed_input;
    const struct row_source_class *const *row_sources;  // sources outside of the engine; NULL: none
    operator_collect_fn *collect;                       // may be NULL if the plan has no SINK_COLLECT
    void *collect_ctx;
};

tide_status tide__task_open(const struct task_env *env, struct task **out, tide_error *err) TIDE_CHECKED;
// Leaves nothing that looks whole unless tide__task_finish succeeded or the sinks were committed.
void tide__task_close(struct task *task);

enum task_event {
    TASK_ENDED,   // the input ended, the last watermark went through
    TASK_ROWS,    // exactly rows_until source rows have been processed
    TASK_PAUSED,  // `pause` returned true between two segments
};

// Processes source rows until one of the events. `rows_until` counts all rows since the start of the job (not only of this
// process); UINT64_MAX: no bound. `pause` is asked after each batch; NULL: never. May be called again after TASK_ROWS and TASK_PAUSED.
tide_status tide__task_run(struct task *task, uint64_t rows_until, bool (*pause)(void *ctx), void *pause_ctx,
                           enum task_event *out_event, tide_error *err) TIDE_CHECKED;
// Source rows processed since the start of the job.
uint64_t tide__task_rows(const struct task *task);
// Publishes the sinks' output without a checkpoint (job without a state directory).
tide_status tide__task_finish(struct task *task, tide_error *err) TIDE_CHECKED;

// --- snapshots ---------------------------------------------------------------------------------------------------

// A barrier: every operator hands its changes to its state tables, then says what else it holds. Memory comes from `arena`.
// The caller submits tide__state_barrier right after it.
tide_status tide__task_barrier(struct task *task, struct arena *arena, struct task_snapshot *out,
                               tide_error *err) TIDE_CHECKED;
// Goes on from a snapshot whose state tables are loaded. Before the first run. Parts whose operator_id the plan does not have
// are ignored; nodes without a part start empty, at the watermark of their inputs.
tide_status tide__task_restore(struct task *task, const struct task_snapshot *snapshot, tide_error *err) TIDE_CHECKED;
// Begins without a snapshot, before the first run: removes what an earlier process under the same run_id left hidden.
tide_status tide__task_begin(struct task *task, tide_error *err) TIDE_CHECKED;
// The savepoint with this snapshot is durable: sinks publish. May run on a background thread, in order of snapshots.
tide_status tide__task_commit(struct task *task, const struct task_snapshot *snapshot, tide_error *err) TIDE_CHECKED;

// --- metrics -------------------------------------------------------------------------------------------------------

struct task_stats {
    uint64_t rows_in, rows_out, rows_skipped, late_rows, windows_fired, windows_open;
    uint64_t bytes_total, bytes_read;  // of the sources' files
    int64_t watermark;                 // smallest over the sources, WATERMARK_NONE before the first
    int64_t watermark_reached;         // of the rows so far, let out or not; likewise
};
void tide__task_stats(const struct task *task, struct task_stats *out);

// One node of the plan.
struct task_node_stats {
    enum task_part_kind kind;
    const char *operator_id;
    int64_t watermark;     // that has passed it
    int64_t next_trigger;  // the watermark that will fire the next open window; WATERMARK_END: there is none
    uint64_t rows_in, rows_out, late_rows, windows_fired, windows_open;
    // sources: rows given out are rows_out
    int64_t reached;  // the largest watermark seen so far; WATERMARK_NONE: none
    bool waiting, idle, ended;
};
// False: there is no node `index`.
bool tide__task_node_stats(const struct task *task, size_t index, struct task_node_stats *out);

#endif
