// Sources and sinks, by the `connector` option. A connector is a const table of functions; api/ may register more.
#ifndef TIDE_ENGINE_CONNECTORS_CONNECTOR_H
#define TIDE_ENGINE_CONNECTORS_CONNECTOR_H

#include "base/error.h"
#include "engine/batch.h"
#include "engine/plan.h"

// --- reading: ordered batches, parsed side by side -----------------------------------------------------------------
//
// A reader cuts the table's files into blocks at row ends, in path order, and parses the blocks in worker threads (or
// in the caller when workers == 0), but gives the batches out in order. A row's place in that order never depends on
// the number of workers.

struct source_reader;

// A source that lives outside of the engine. The caller of the engine registers such classes (NULL-terminated lists).
struct row_source;
struct source_column {
    const char *name;
    const struct type *type;
};
struct row_source_class {
    const char *connector;  // value of the option
    // Options; errors at their place in the script.
    tide_status (*validate)(const struct row_source_class *class, const struct table *table, tide_error *err);
    // For these columns, in this order.
    tide_status (*open)(const struct row_source_class *class, const struct table *table, const char *script_dir,
                        const struct source_column *columns, size_t count, struct row_source **out, tide_error *err);
    // The next rows, at most rows_max; 0: the end. columns[i].type is given; arrays and what they point to come from the arena.
    tide_status (*read)(struct row_source *source, size_t rows_max, struct arena *arena, struct column *columns,
                        size_t *out_rows, tide_error *err);
    void (*close)(struct row_source *source);
};
// The class of a table's connector; NULL: none of these.
const struct row_source_class *tide__row_source_find(const struct row_source_class *const *classes,
                                                     const struct table *table);

struct source_env {
    const struct plan *plan;
    const struct plan_node *node;  // PLAN_SCAN
    const char *script_dir;
    uint32_t workers;  // extra threads; 0: parse in next()
    size_t batch_rows_max;
    struct memory_budget *budget;
    const struct row_source_class *const *row_sources;  // NULL: none
};

// One parsed batch. `batch` has the scan's output fields.
struct source_batch {
    struct batch batch;
    const int64_t *watermarks;       // the watermark expression a row, milliseconds (floored); NULL: table has none
    const uint8_t *watermark_nulls;  // rows whose watermark expression is NULL; NULL: none
    int64_t time_min;                // smallest non-NULL event time in the batch (INT64_MIN if unknown)
    struct arena arena;              // owns everything above
    // the reader's own data follow (block, row ends, error of a row: delivered when the row is reached)
    void *reader_private;
};

tide_status tide__source_open(const struct source_env *env, struct source_reader **out, tide_error *err) TIDE_CHECKED;
enum source_state {
    SOURCE_BATCH,
    SOURCE_WAITING,  // nothing is there now, but more may come: ask again after a while
    SOURCE_END,
};
// The next batch, owned by the caller until tide__source_release; *out NULL unless *out_state is SOURCE_BATCH. A bad row fails
// only when it is reached: the batch before it is given out first. May block on workers, never on input that is yet to come.
tide_status tide__source_next(struct source_reader *reader, struct source_batch **out, enum source_state *out_state,
                              tide_error *err) TIDE_CHECKED;
// Whether reading the table never ends by itself.
bool tide__source_is_endless(const struct table *table);
// How long a source must have given nothing to be idle; 0: it is never.
int64_t tide__source_idle_timeout_ms(const struct plan *plan, const struct plan_node *node);
void tide__source_release(struct source_reader *reader, struct source_batch *batch);
// Appends the position after the first `rows` rows of `batch` (NULL: of the end of input; or before the first batch). The
// bytes are a protobuf-free, versioned encoding of the connector's own: files with path, size, hashes, offset.
// Only the newest batch that was given out may be asked about.
// TIDE_ERR_IO: a file can't be read to make its hashes.
tide_status tide__source_save(struct source_reader *reader, const struct source_batch *batch, size_t rows,
                              struct strbuf *out, tide_error *err) TIDE_CHECKED;
// Before the first next: go on from a saved position. Changed files are an error (TIDE_ERR_REFUSED) unless accepted.
enum changed_input { CHANGED_INPUT_REFUSE, CHANGED_INPUT_ACCEPT };
tide_status tide__source_restore(struct source_reader *reader, struct str saved, enum changed_input changed,
                                 tide_error *err) TIDE_CHECKED;
void tide__source_close(struct source_reader *reader);
struct source_stats {
    uint64_t rows_skipped;  // unreadable rows that the format's option lets pass
    uint64_t bytes_total, bytes_read;
};
void tide__source_stats(const struct source_reader *reader, struct source_stats *out);

// --- writing ---------------------------------------------------------------------------------------------------------

struct sink;
struct sink_env {
    const struct plan *plan;
    const struct plan_node *node;  // PLAN_SINK of a table
    const char *script_dir;
    const char *run_id;  // names this run's files: [0-9a-z]+, new for each --from
};

struct sink_class {
    const char *connector;  // value of the option
    tide_status (*open)(const struct sink_env *env, struct sink **out, tide_error *err);
    tide_status (*write)(struct sink *sink, const struct batch *batch, tide_error *err);
    // Barrier: what was written until now becomes pending. Appends what restore needs to `out`.
    tide_status (*prepare)(struct sink *sink, struct strbuf *out, tide_error *err);
    // Savepoint `prepared` (what prepare gave) is durable: publish. Called on a background thread, in order; idempotent.
    tide_status (*commit)(struct sink *sink, struct str prepared, tide_error *err);
    // Before the first write, when resuming: finishes the commit of `prepared`, removes what it does not list.
    tide_status (*restore)(struct sink *sink, struct str prepared, tide_error *err);
    // The input has ended and all rows have been written; called before the last prepare. NULL: nothing to do.
    tide_status (*end)(struct sink *sink, tide_error *err);
    // End without checkpoints: publish everything (prepare + commit in one).
    tide_status (*finish)(struct sink *sink, tide_error *err);
    // Without finish: nothing that looks whole is left.
    void (*close)(struct sink *sink);
};
struct sink {
    const struct sink_class *class;
};
const struct sink_class *tide__sink_class(struct str connector);
// What is said about a table's options besides errors.
struct connector_warnings {
    void (*warn)(void *ctx, struct source_pos pos, const char *message, const char *hint);  // hint NULL: none
    void *ctx;
};
// Whether a table's options are complete and known; positions in errors. Called at plan time by api/. warnings may be NULL.
enum table_use { TABLE_AS_SOURCE, TABLE_AS_SINK };
tide_status tide__connector_validate(const struct table *table, enum table_use use,
                                     const struct connector_warnings *warnings, tide_error *err) TIDE_CHECKED;

#endif
