// The plan: what the engine runs. sql/ makes it, the engine opens an operator for each node, checkpoint/ writes it
// into savepoints and compares it. Read-only once made; everything in it lives in the plan's arena.
//
// All names are resolved: expressions refer to columns of the node's input by index and carry their type and their
// place in the script. Nodes form a tree under each root (a sink); an input stands before its consumers in `nodes`.
#ifndef TIDE_ENGINE_PLAN_H
#define TIDE_ENGINE_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- expressions -----------------------------------------------------------------------------------------------

struct expr;
struct aggregate_call;
struct zone;             // a time zone (base/zone.h)
struct function_kernel;  // how a function computes (engine/expr)
struct aggregate_class;  // how an aggregate computes (engine/aggregates)

// A constant; the member is chosen by the type's physical form.
struct value {
    bool is_null;
    union {
        bool boolean;
        int64_t i64;
        double f64;
        int128 i128;
        struct str str;
        struct timestamp time;
    };
};

enum expr_kind { EXPR_COLUMN, EXPR_LITERAL, EXPR_CALL };

struct expr {
    enum expr_kind kind;
    struct source_pos pos;
    const struct type *type;
    uint32_t column;                  // EXPR_COLUMN: index into the input's fields
    struct value literal;             // EXPR_LITERAL
    const struct function *function;  // EXPR_CALL
    uint32_t arg_count;
    struct expr **args;
    const void *prepared;  // set by infer for constant arguments (a compiled pattern); in the arena
};

// What a function's type inference may use.
struct infer_context {
    struct arena *arena;
    const struct zone *zone;  // session time zone
    bool batch_mode;
};

// One row of the table of scalar functions (engine/functions/). Operators are functions too: "+", "=", "AND", "CASE",
// "CAST" (the target is the call's type, set before infer).
struct function {
    const char *name;          // upper case
    uint8_t arg_min, arg_max;  // UINT8_MAX: any number
    bool nondeterministic;
    // Checks argument types, wraps arguments in casts where Flink coerces (tide__expr_cast), and sets call->type, with
    // nullability. On a mismatch: an error at call->pos that says which types are supported.
    tide_status (*infer)(struct infer_context *ctx, struct expr *call, tide_error *err);
    const struct function_kernel *kernel;
    const char *signature;       // for docs: "ABS(numeric)"
    const char *summary;         // one sentence
    const char *example;         // an expression: "ABS(-3)"
    const char *example_result;  // its display: "3"
};

// Case-insensitive. NULL if there is none.
const struct function *tide__function_find(struct str name);
// All names, for "did you mean".
const char *const *tide__function_names(size_t *out_count);
// Convenience constructors. Types of calls come from infer.
struct expr *tide__expr_column(struct arena *arena, uint32_t column, const struct type *type, struct source_pos pos);
struct expr *tide__expr_literal(struct arena *arena, struct value value, const struct type *type,
                                struct source_pos pos);
tide_status tide__expr_call(struct infer_context *ctx, const char *name, struct expr **args, uint32_t arg_count,
                            struct source_pos pos, struct expr **out, tide_error *err);
// CAST(expr AS type); gives `expr` itself if the type is the same apart from nullability. implicit: no user asked.
tide_status tide__expr_cast(struct infer_context *ctx, struct expr *expr, const struct type *type, struct expr **out,
                            tide_error *err);
// What a user wrote as CAST(expr AS type) or TRY_CAST: refused if Flink has no such cast.
tide_status tide__expr_cast_explicit(struct infer_context *ctx, struct expr *expr, const struct type *type, bool is_try,
                                     struct source_pos pos, struct expr **out, tide_error *err);
// The common type of n types by Flink's rules (CASE, COALESCE, UNION, IN); false if there is none.
bool tide__type_common(struct arena *arena, const struct type *const *types, size_t n, const struct type **out);
// Evaluates an expression without columns, for constants (window sizes, VALUES).
tide_status tide__expr_constant(struct infer_context *ctx, const struct expr *expr, struct value *out, tide_error *err);
// Deep equality, positions ignored.
bool tide__expr_equal(const struct expr *a, const struct expr *b);

// --- aggregates --------------------------------------------------------------------------------------------------

// One row of the table of aggregate functions (engine/aggregates/).
struct aggregate {
    const char *name;
    uint8_t arg_min, arg_max;
    // Sets call->type from the arguments' types (may not change arguments). See struct aggregate_call.
    tide_status (*infer)(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                         tide_error *err);
    bool mergeable;    // partial accumulators of slices can be merged (HOP, CUMULATE, SESSION); FIRST_VALUE can't
    bool retractable;  // can take a row back (input with updates)
    const struct aggregate_class *class;
    const char *signature, *summary, *example, *example_result;
};

struct aggregate_call {
    const struct aggregate *aggregate;
    struct source_pos pos;
    const struct type *type;
    const char *name;  // as a user knows it: "SUM(price)", "COUNT(*)"
    uint32_t arg_count;
    uint32_t args[4];  // input columns
    const struct type *arg_types[4];
    struct value parameter;  // LISTAGG's separator; else is_null
    int32_t filter;          // input column (BOOLEAN) of FILTER (WHERE ...), or -1
    bool distinct;
    bool forward;  // MAX of what only rises, MIN of what only falls: takes no row back
};

const struct aggregate *tide__aggregate_find(struct str name);
const char *const *tide__aggregate_names(size_t *out_count);

// --- tables ------------------------------------------------------------------------------------------------------

struct option {
    struct str key, value;
    struct source_pos key_pos, value_pos;
};

enum table_column_kind { TABLE_COLUMN_PHYSICAL, TABLE_COLUMN_COMPUTED, TABLE_COLUMN_METADATA };

struct table_column {
    const char *name;
    enum table_column_kind kind;
    const struct type *type;
    struct source_pos pos;
    const char *metadata_key;  // TABLE_COLUMN_METADATA
    bool is_virtual;
};

// A table of the catalogue as connectors see it.
struct table {
    const char *name;
    struct source_pos pos;
    uint32_t column_count;
    struct table_column *columns;  // as declared; computed ones too
    uint32_t option_count;
    struct option *options;
    uint32_t partition_key_count;
    uint32_t *partition_keys;  // column indexes
    uint32_t primary_key_count;
    uint32_t *primary_key;  // column indexes
    struct source_pos primary_key_pos;
};

// NULL if the table has no such option.
const struct option *tide__table_option(const struct table *table, const char *key);

// --- nodes -------------------------------------------------------------------------------------------------------

enum plan_kind {
    PLAN_SCAN,
    PLAN_VALUES,
    PLAN_CALC,
    PLAN_UNION,
    PLAN_EXPAND,            // one copy of each row a grouping set
    PLAN_WINDOW_TVF,        // adds window_start, window_end, window_time
    PLAN_WINDOW_AGGREGATE,  // also GROUP BY TUMBLE(ts, ...)
    PLAN_WINDOW_RANK,       // Window Top-N, window deduplication
    PLAN_GROUP_AGGREGATE,   // unbounded
    PLAN_RANK,              // regular Top-N, deduplication
    PLAN_WINDOW_JOIN,
    PLAN_JOIN,
    PLAN_OVER,
    PLAN_SORT,    // ORDER BY without LIMIT: a plan_over without calls and partitions
    PLAN_UNNEST,  // one row for each element of an array
    PLAN_SINK,
};

struct plan_field {
    const char *name;
    const struct type *type;
};

// Reads a table: parses the physical columns that are needed, computes the output columns and the watermark. Runs in
// the parse workers, before the order of rows matters.
struct plan_scan {
    const struct table *table;
    uint32_t read_count;
    uint32_t *reads;          // columns of the table (physical, metadata) that are parsed, ascending
    struct expr **outputs;    // one a field of the node; columns are indexes into `reads`
    int32_t time_column;      // output field with the event time attribute, or -1
    struct expr *watermark;   // over `reads`; type TIMESTAMP or TIMESTAMP_LTZ; NULL: no watermark
    bool time_column_needed;  // a NULL in the time column fails the job (always in streaming)
};

struct plan_values {
    uint32_t row_count;
    struct expr **cells;  // row_count x field_count constants
};

// Filter, then project.
struct plan_calc {
    struct expr *condition;  // NULL: all rows
    struct expr **outputs;   // one a field
};

struct plan_expand {
    uint32_t set_count;
    struct expr **outputs;  // set_count x field_count
};

enum window_kind { WINDOW_TUMBLE, WINDOW_HOP, WINDOW_CUMULATE, WINDOW_SESSION };

struct window {
    enum window_kind kind;
    int64_t size_ms;   // SESSION: the gap
    int64_t slide_ms;  // HOP: slide, CUMULATE: step; TUMBLE: = size
    int64_t offset_ms;
    bool proctime;
    bool ltz;              // the time column is TIMESTAMP_LTZ: windows are cut in the session zone's wall clock
    uint32_t time_column;  // of the input
    uint32_t partition_count;
    uint32_t *partitions;  // SESSION: key columns of the input
    struct source_pos pos;
};

struct plan_window_tvf {
    struct window window;  // output: all input fields, window_start, window_end, window_time
    bool drops_late;       // rows whose windows have all ended, lateness_ms ago or more
    int64_t lateness_ms;
};

enum window_property { WINDOW_PROPERTY_START, WINDOW_PROPERTY_END, WINDOW_PROPERTY_TIME };

// Output: keys, aggregates, then the window properties.
struct plan_window_aggregate {
    struct window window;
    bool attached;  // rows carry their window in two columns (a TVF below was not folded in): no assignment
    uint32_t start_column, end_column;  // attached: of the input
    bool legacy;                        // GROUP BY TUMBLE(ts, ...)
    // Where the window columns stand in GROUP BY: twice the number of keys before it, + 1 if the other one is before it too.
    uint32_t start_place, end_place;
    uint32_t *session_places;  // of each key in the PARTITION BY of a SESSION; NULL: not known
    uint32_t key_count;
    uint32_t *keys;  // input columns, in GROUP BY order
    uint32_t aggregate_count;
    struct aggregate_call *aggregates;
    uint32_t property_count;
    enum window_property *properties;
    bool early_fire;  // table.exec.emit.*
};

struct sort_key {
    uint32_t column;
    bool descending;
    bool nulls_last;  // ASC: false, DESC: true by default
};

enum tie_rule {
    TIE_FIRST_ARRIVED,  // among equals the earlier row ranks first
    TIE_LAST_ARRIVED,   // deduplication DESC by time: the later row ranks first
};

// Output: the input's fields, then the rank (BIGINT NOT NULL) if has_rank.
struct plan_window_rank {
    uint32_t start_column, end_column;  // window bounds, of the input
    bool ltz;
    uint32_t partition_count;
    uint32_t *partitions;  // further keys
    uint32_t sort_count;
    struct sort_key *sorts;
    enum tie_rule ties;
    int64_t rank_first, rank_last;  // 1-based, inclusive
    bool has_rank;
    bool above_aggregate;             // only finals of a window aggregation reach it: empty between fires
    bool deduplicate;                 // ORDER BY the time attribute with N = 1 (for names in explain)
    uint32_t start_place, end_place;  // where the window columns stand in PARTITION BY, among all keys
    struct source_pos bound_pos;      // of the condition on the rank
    const char *function;             // another one than ROW_NUMBER(): planned to be compared, can't be run; NULL: none
};

// Regular Top-N. Output as above, with a changelog.
struct plan_rank {
    uint32_t partition_count;
    uint32_t *partitions;
    uint32_t sort_count;
    struct sort_key *sorts;
    enum tie_rule ties;
    int64_t rank_first, rank_last;
    bool has_rank;
    bool limit;                   // of an ORDER BY ... LIMIT, not of a ROW_NUMBER()
    bool deduplicate;             // keeps the first or last row a key by time attribute
    bool input_updates;           // the input has -U/+U/-D
    struct source_pos bound_pos;  // of the condition on the rank
    const char *function;         // as above
    bool
        only_rises;  // a row of the input replaces the one with its unique keys and never ranks lower: the best are kept
    uint32_t unique_key_count;  // of the input with updates: columns that identify a row; 0: the whole row
    uint32_t *unique_keys;
};

// Output: keys, aggregates. Emits +I, -U/+U, -D.
struct plan_group_aggregate {
    uint32_t key_count;
    uint32_t *keys;
    uint32_t aggregate_count;
    struct aggregate_call *aggregates;
    bool input_updates;
    // Key time_key is the time of a window: a group goes when the watermark has passed it by lateness_ms.
    bool expires;
    uint32_t time_key;
    int64_t lateness_ms;
    // Mini-batches (table.exec.mini-batch.*): a group's changes are held back and folded until so many rows have come, or this
    // time has passed while no row came. 0: each row's change goes out by itself.
    int64_t bundle_rows, bundle_latency_ms;
};

enum join_kind { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT, JOIN_FULL, JOIN_SEMI, JOIN_ANTI };

struct plan_window_join {
    enum join_kind kind;
    uint32_t start_column[2], end_column[2];
    uint32_t key_count;
    uint32_t *keys[2];       // equal columns of the left and the right input
    struct expr *condition;  // over left fields, then right fields; NULL: none
    bool ltz;
};

// Joins all rows so far, with a changelog. Output: left fields, then right fields; SEMI and ANTI: left fields only.
struct plan_join {
    enum join_kind kind;
    uint32_t key_count;
    uint32_t *keys[2];  // equal columns of the left and the right input, of the same physical form; NULL equals nothing
    struct expr *condition;  // over left fields, then right fields; NULL: none
    bool input_updates[2];
    // Interval join (insert-only inputs, insert-only output, equal conditions may be missing): rows pair only if
    // right.time + lower_ms <= left.time <= right.time + upper_ms, and are forgotten when that can't be any more.
    bool interval;
    uint32_t time_columns[2];
    int64_t lower_ms, upper_ms;
};

enum over_call_kind {
    OVER_CALL_AGGREGATE,
    OVER_CALL_ROW_NUMBER,
    OVER_CALL_RANK,
    OVER_CALL_DENSE_RANK,
    OVER_CALL_LAG,
    // Batch mode only.
    OVER_CALL_LEAD,
    OVER_CALL_NTILE,
    OVER_CALL_PERCENT_RANK,
    OVER_CALL_CUME_DIST,
};

struct over_call {
    enum over_call_kind kind;
    const struct type *type;
    const char *name;                 // as a user knows it: "SUM(v)", "ROW_NUMBER()"
    struct aggregate_call aggregate;  // OVER_CALL_AGGREGATE
    uint32_t column;                  // LAG, LEAD: of the input
    int64_t offset;                   // LAG, LEAD: rows back or forward, >= 0; NTILE: the number of buckets
    struct value fallback;            // LAG, LEAD: if there is no such row
};

// Functions over each row and the rows before it. Output: the input's fields, then the calls. Insert-only, but for a stream
// along a column that is no time attribute: there rows may come in between, and be taken back.
struct plan_over {
    uint32_t partition_count;
    uint32_t *partitions;
    uint32_t sort_count;
    struct sort_key *sorts;  // streaming: one column, ascending; batch mode: any columns, or none
    bool rows;               // ROWS, else RANGE: rows with equal sort columns come into the frame together
    int64_t preceding;  // the frame begins so many rows (RANGE: milliseconds) before; -1: UNBOUNDED. It ends at the row
    // Batch mode only: any frame. From and to so many rows (RANGE: of the sort column) behind the row, negative: before it.
    bool general, from_start, to_end;
    int64_t from, to;
    uint32_t call_count;
    struct over_call *calls;
};

// Output: the input's fields, then an element's values, then its number from 1 (INT).
struct plan_unnest {
    uint32_t column;  // of the input: an ARRAY, MULTISET or MAP
    bool outer;       // a row without elements goes out too, with NULLs
    bool with_ordinality;
    bool rows;             // elements are ROWs: their fields are the values
    uint32_t value_count;  // fields of a ROW; 2 for a MAP (key, value); else 1
};

enum sink_kind {
    SINK_TABLE,    // INSERT INTO
    SINK_COLLECT,  // SELECT: rows go to the caller
};

struct plan_sink {
    enum sink_kind kind;
    const struct table *table;  // SINK_TABLE
    uint32_t *columns;          // SINK_TABLE: the table's physical column of each input field
    bool overwrite;
};

struct plan_node {
    enum plan_kind kind;
    uint32_t id;              // index in plan->nodes
    const char *operator_id;  // [a-z0-9-]+: names it in state, savepoints, explain: "window-rank-7" or from its uid
    const char *uid;          // from a `-- uid: NAME` comment; NULL: none
    struct source_pos pos;    // the clause it comes from
    uint32_t input_count;
    struct plan_node **inputs;
    uint32_t field_count;
    struct plan_field *fields;
    bool updates;  // its output has other kinds than +I
    bool stateful;
    union {
        struct plan_scan scan;
        struct plan_values values;
        struct plan_calc calc;
        struct plan_expand expand;
        struct plan_window_tvf window_tvf;
        struct plan_window_aggregate window_aggregate;
        struct plan_window_rank window_rank;
        struct plan_rank rank;
        struct plan_group_aggregate group_aggregate;
        struct plan_window_join window_join;
        struct plan_join join;
        struct plan_over over;
        struct plan_unnest unnest;
        struct plan_sink sink;
    };
};

struct plan_settings {
    const struct zone *zone;             // table.local-time-zone
    int64_t auto_watermark_interval_ms;  // pipeline.auto-watermark-interval, default 200
    int64_t checkpoint_interval_ms;      // execution.checkpointing.interval; 0: not set
    int64_t idle_timeout_ms;             // table.exec.source.idle-timeout; 0: no source is idle
    bool batch_mode;
    const char *job_name;        // pipeline.name or derived
    const char *late_data_path;  // tidemark.late-data.path; NULL: late rows are only counted
};

struct plan {
    struct arena *arena;
    uint32_t node_count;
    struct plan_node **nodes;  // inputs before consumers
    uint32_t root_count;
    struct plan_node **roots;  // sinks, in statement order
    struct plan_settings settings;
    struct str sql;            // the whole script
    uint32_t statement_index;  // which job-starting statement of the script, from 0
    struct source_pos statement_pos;
};

const char *tide__plan_kind_name(enum plan_kind kind);  // "window-aggregate"

#endif
