// Carrying a savepoint's state over to a changed plan: the steps of the compatibility check, done entry by entry.
//
//   old table --read--> batches of entries --convert--> new keys and values --sort, combine--> runs of the new table
//
// Memory is bounded by one batch. A table that is kept as it is goes the short way: one sorted load. Both ways end in the
// tables of a state store, from which a job goes on, or from which a new savepoint is written.
#ifndef TIDE_API_MIGRATE_H
#define TIDE_API_MIGRATE_H

#include "api/job.h"
#include "checkpoint/compat/check.h"
#include "checkpoint/savepoint.h"
#include "engine/aggregates/aggregate.h"
#include "engine/batch.h"
#include "state/state.h"

// Loads all tables of the savepoint that the job goes on from into its store, whose tables are registered. Operators without a
// usable old state stay empty.
tide_status tide__api_migrate_tables(const struct job *job, tide_error *err) TIDE_CHECKED;
// The savepoint's snapshot in terms of the job's plan.
tide_status tide__api_migrate_snapshot(struct job *job, struct task_snapshot *out, tide_error *err) TIDE_CHECKED;

// --- inside ------------------------------------------------------------------------------------------------------------

// New entries on their way into a table.
struct entry_loader {
    struct state_table *table;
    // Combines two values of one key, the older first, into `out`; NULL: keys are unique.
    bool (*combine)(void *ctx, struct str older, struct str newer, struct strbuf *out);
    void *ctx;
    struct arena arena;  // the batch
    struct state_entry *entries;
    size_t count, cap, bytes;
};
// Copies key and value.
tide_status tide__entry_loader_add(struct entry_loader *loader, struct str key, struct str value,
                                   tide_error *err) TIDE_CHECKED;
// Hands over what is still here, and frees the loader in any case.
tide_status tide__entry_loader_end(struct entry_loader *loader, tide_status status, tide_error *err) TIDE_CHECKED;

// One table of one operator.
struct table_step {
    const struct job *job;
    const struct compat_operator *op;
    const struct savepoint_table *old_table;
    uint32_t side;  // of a join: the new one
    struct entry_loader loader;
    struct arena arena;    // lives as long as the step
    struct arena scratch;  // of one batch
};
// Converts a batch of old entries and adds the new ones to step->loader.
typedef tide_status convert_fn(void *ctx, const struct state_entry *entries, size_t count, tide_error *err);
// Runs all entries of the old table through `convert`.
tide_status tide__table_step_run(struct table_step *step, convert_fn *convert, void *ctx, tide_error *err) TIDE_CHECKED;
tide_status tide__table_step_damaged(const struct table_step *step, tide_error *err);
// The operator's change can't be followed here: the check should not have said so.
tide_status tide__table_step_unsupported(const struct table_step *step, const char *what, tide_error *err);

// Tables of groups: `.groups`, `.sessions`. Of stored rows: `.rows`, `.left`, `.right`, `.first`.
tide_status tide__migrate_groups(struct table_step *step, tide_error *err) TIDE_CHECKED;
tide_status tide__migrate_rows(struct table_step *step, tide_error *err) TIDE_CHECKED;

// The columns of the stored rows (of an input) that stand first in their keys: partitions of a Top-N, the equal columns of a window
// join. None for other kinds.
void tide__migrate_row_keys(const struct plan_node *node, uint32_t side, const uint32_t **out_keys,
                            uint32_t *out_count);
// Both aggregate grouping sets, whose numbers in the keys are not the same.
bool tide__migrate_sets_moved(const struct plan_node *old_node, const struct plan_node *new_node);

// The entries' keys from `prefix` bytes on as columns of the given types. What is behind them goes to out_tails (may be NULL).
// False: damaged.
bool tide__migrate_decode_keys(const struct state_entry *entries, size_t count, size_t prefix, struct batch *batch,
                               struct arena *arena, struct str *out_tails);
// The n-th step of a kind, or NULL.
const struct compat_step *tide__migrate_step(const struct compat_operator *op, enum compat_step_kind kind, size_t n);
// Which of the rows pass all PURGE steps (of that side): 1 a row, in the arena.
tide_status tide__migrate_purge(const struct table_step *step, const struct batch *batch, struct arena *arena,
                                const uint8_t **out_keep, tide_error *err) TIDE_CHECKED;
tide_status tide__migrate_eval(const struct table_step *step, const struct expr *expr, const struct batch *batch,
                               struct arena *arena, struct column *out, tide_error *err) TIDE_CHECKED;

#endif
