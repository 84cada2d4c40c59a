// The public interface of libtidemark: run Flink SQL window queries in this process.
//
// A script is opened from its text, its statements are run one after the other, and the rows of a
// SELECT are handed over one batch at a time as Flink's display strings. A job (an INSERT INTO, a
// statement set or a SELECT) can be checkpointed, stopped with a savepoint and resumed. Two engines in one
// process do not share anything. Every call that can fail returns a tide_status and, if given a
// tide_error, says in it what is wrong, where, and what to do. No call prints or exits, except that
// memory running out ends the process with status 1 (a job resumes from its newest checkpoint).
#ifndef TIDEMARK_H
#define TIDEMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDE_VERSION "0.1.0"

#if defined(__GNUC__)
#define TIDE_API __attribute__((visibility("default")))
#else
#define TIDE_API
#endif

// What went wrong, in the terms of docs/cli.md: the command exits with tide_status_exit_code().
typedef enum tide_status {
    TIDE_OK = 0,
    TIDE_ERR_PARSE,          // the script is not SQL: exit 2
    TIDE_ERR_VALIDATE,       // names, types or options are wrong: exit 2
    TIDE_ERR_PLAN,           // valid SQL that cannot be run as asked: exit 2
    TIDE_ERR_OPTION,         // a wrong command line or a conflict of options: exit 2
    TIDE_ERR_RUNTIME,        // the data stopped the job (bad row, failing cast): exit 1
    TIDE_ERR_IO,             // the machine stopped it (disk full, no such file): exit 1
    TIDE_ERR_SAVEPOINT,      // a savepoint can't be read or is damaged: exit 3
    TIDE_ERR_REFUSED,        // a savepoint does not fit the script: exit 4
    TIDE_ERR_STOPPED,        // stopped by a signal after a checkpoint: exit 5
    TIDE_ERR_NO_CHECKPOINT,  // stopped, but no checkpoint could be taken: exit 6
} tide_status;

// Owned by the caller; may be NULL wherever it is a parameter. Valid only after a failure.
// line and column count from 1, column in characters (code points); 0 means "no place".
typedef struct tide_error {
    tide_status status;
    uint32_t line, column, length;
    char file[512];      // the script or the data file, as the user named it; "" if none
    char message[1024];  // one line, lower case, no trailing period
    char hint[512];      // a sentence that says what to do; "" if none
    char excerpt[512];   // the source line (or a part of it) the place is in; "" if none
    uint32_t caret;      // 0-based character of excerpt that column stands at
} tide_error;

// The exit code of the command for a status.
TIDE_API int tide_status_exit_code(tide_status status);

// --- running a script ------------------------------------------------------------------------------------------------

enum tide_policy { TIDE_POLICY_STRICT, TIDE_POLICY_EXACT };
enum tide_on_incompatible { TIDE_INCOMPATIBLE_FAIL, TIDE_INCOMPATIBLE_PARTIAL, TIDE_INCOMPATIBLE_RESET };

// All strings are borrowed for the length of the call. tide_options_init sets the defaults.
typedef struct tide_options {
    size_t struct_size;     // sizeof(tide_options), set by tide_options_init
    const char *state_dir;  // the job's home; NULL: a temporary one, removed at the end
    bool restart;           // forget the state directory's checkpoints
    const char *from;       // savepoint file or state directory to start from; NULL: none
    enum tide_policy policy;
    enum tide_on_incompatible on_incompatible;
    bool accept_unsound, accept_changed_input;
    int64_t checkpoint_interval_ms;  // -1: the script's SET, else 10 s with a state directory, else none; 0: none
    uint64_t checkpoint_every_rows;  // 0: not by rows
    uint32_t retain;                 // checkpoints kept; default 3
    const char *stop_savepoint;      // stop with a savepoint here ...
    uint64_t stop_after_rows;        // ... after so many source rows of the script
    uint32_t parallelism;            // 0: the cores
    uint64_t memory_bytes;           // default 512 MiB
    uint32_t batch_rows;             // default 2048
    bool strict_windows;
} tide_options;
TIDE_API void tide_options_init(tide_options *options);

// A column of a result.
typedef struct tide_column {
    const char *name;
    const char *type;            // Flink's text: "BIGINT NOT NULL"
    bool right_aligned;          // in tables
    bool is_number, is_boolean;  // for JSON
    bool is_text;                // a whole text of several lines (EXPLAIN): a table prints it as it is
    int display_width;           // of Flink's client, in characters
} tide_column;

// A value as Flink's client displays it. data NULL: NULL.
typedef struct tide_text {
    const char *data;
    size_t len;
} tide_text;

typedef struct tide_progress {
    uint64_t rows_in, bytes_read, bytes_total;
    int64_t watermark_ms;  // INT64_MIN: none yet
    uint64_t windows_open, checkpoints;
    double seconds;                  // since the job started
    double last_checkpoint_seconds;  // age of the last one; negative: none
} tide_progress;

typedef struct tide_summary {
    uint64_t rows_in, rows_out, rows_skipped, late_rows, windows_fired;
    uint64_t checkpoints, checkpoint_bytes;  // bytes of the last one
    double checkpoint_pause_ms_max;
    uint64_t jobs;
    double seconds;
    uint64_t memory_max_bytes;
    double checkpoint_pause_ms_p99;  // the job stands still from its last batch before a barrier to the first behind it
    uint64_t checkpoint_deltas;      // of `checkpoints` those that hold only what changed
    uint64_t checkpoint_bytes_all;
    double checkpoint_seconds_max;  // from a barrier until its checkpoint is durable
} tide_summary;

enum tide_severity { TIDE_NOTE, TIDE_WARNING };

// What the caller wants to hear. Every member may be NULL. Called on the thread of tide_script_run.
typedef struct tide_handler {
    void *ctx;
    // A result begins; `continued`: an earlier process has already printed its header and first rows.
    void (*on_result)(void *ctx, const tide_column *columns, size_t count, bool continued);
    // op: "+I", "-U", "+U", "-D". Return false to stop (the output is gone).
    bool (*on_row)(void *ctx, const char *op, const tide_text *values, size_t count);
    // The result is complete. Not called when the job stops before its end.
    void (*on_result_end)(void *ctx);
    // message->message, its place and hint.
    void (*on_message)(void *ctx, enum tide_severity severity, const tide_error *message);
    void (*on_progress)(void *ctx, const tide_progress *progress);
    // Asked often: 0 go on, 1 stop with a checkpoint, 2 stop at once.
    int (*interrupted)(void *ctx);
} tide_handler;

// Runs the statements of a script in order. `name` is the script's name for messages, `dir` the folder that relative paths
// are relative to. TIDE_OK: all done, or stopped as options->stop_savepoint asks. *summary is filled in any case.
TIDE_API tide_status tide_script_run(const char *name, const char *sql, size_t sql_len, const char *dir,
                                     const tide_options *options, const tide_handler *handler, tide_summary *summary,
                                     tide_error *err);

// Receives text piece by piece.
typedef void tide_write_fn(void *ctx, const char *data, size_t len);

// --- may a changed script go on? -----------------------------------------------------------------------------------------

enum tide_verdict { TIDE_COMPATIBLE, TIDE_PARTIAL, TIDE_UNKNOWN, TIDE_INCOMPATIBLE };
enum tide_check_format { TIDE_CHECK_TEXT, TIDE_CHECK_JSON, TIDE_CHECK_SARIF, TIDE_CHECK_JUNIT, TIDE_CHECK_GITHUB };
enum tide_fail_on { TIDE_FAIL_ON_PARTIAL, TIDE_FAIL_ON_INCOMPATIBLE };

// All strings are borrowed for the length of the call.
typedef struct tide_check_side {
    const char *name;  // for messages
    const char *sql;   // the script; NULL (old side only): `savepoint` is one
    size_t sql_len;
    const char *savepoint;  // a savepoint file or a state directory
} tide_check_side;

typedef struct tide_check {
    size_t struct_size;  // sizeof(tide_check)
    tide_check_side old_side, new_side;
    enum tide_policy policy;
    enum tide_check_format format;
    enum tide_fail_on fail_on;
    bool colour;          // text only
    const char *waivers;  // the text of a waiver file; NULL: none
    size_t waivers_len;
    const char *waivers_name;
} tide_check;

typedef struct tide_check_result {
    enum tide_verdict verdict;        // under the asked policy, without waived changes
    enum tide_verdict strict, exact;  // under each
    bool sound;
    int exit_code;  // 0, 10, 20, 30, as docs/cli.md says
} tide_check_result;

// Compares two scripts, or a savepoint and a script, and writes the report. TIDE_OK whatever the verdict.
TIDE_API tide_status tide_check_scripts(const tide_check *check, tide_write_fn *write, void *ctx,
                                        tide_check_result *out, tide_error *err);
// The table of rules; one rule with its example (TIDE_ERR_OPTION: there is none); all of them as docs/compatibility.md.
TIDE_API void tide_check_rules(tide_write_fn *write, void *ctx);
TIDE_API tide_status tide_check_explain(const char *code, tide_write_fn *write, void *ctx, tide_error *err);
TIDE_API void tide_check_document(tide_write_fn *write, void *ctx);

// A script in memory.
typedef struct tide_script {
    const char *name, *dir;  // for messages; what relative paths are relative to
    const char *sql;
    size_t sql_len;
} tide_script;

// --- proof by replay ---------------------------------------------------------------------------------------------------

// What a replay does: runs the old script over the input and takes savepoints on the way, goes on from each with the new script, and
// compares the rows with those that the new script prints from the start. Columns that a partial verdict names are left out.
// Nothing is written to the scripts' sinks. All strings are borrowed.
typedef struct tide_replay {
    size_t struct_size;  // sizeof(tide_replay)
    tide_script old_script, new_script;
    const char *const
        *inputs;  // `TABLE=FILE`, or a file alone for all tables without one; instead of the tables' paths
    size_t input_count;
    const uint64_t *after;  // source rows after which a savepoint is taken; none: after each quarter
    size_t after_count;
    enum tide_policy policy;  // of the restores
    size_t lines_shown;       // of what differs, a savepoint; 0: 5
} tide_replay;

typedef struct tide_replay_result {
    size_t same, differ, refused;  // savepoints
    size_t
        not_compared;  // the sources are read in another order; or watermarks differ, and results do not show their windows
    size_t partial;    // of `same` and `differ`: compared without the columns that begin anew
    size_t unchanged;  // savepoints behind which both scripts, each from the start, print the same
} tide_replay_result;

// Writes for each savepoint whether the rows are the same, and the first ones that are not. TIDE_OK also if they differ.
TIDE_API tide_status tide_check_replay(const tide_replay *replay, tide_write_fn *write, void *ctx,
                                       tide_replay_result *out, tide_error *err);

// --- looking ----------------------------------------------------------------------------------------------------------

enum tide_explain_format { TIDE_EXPLAIN_TEXT, TIDE_EXPLAIN_JSON, TIDE_EXPLAIN_DOT };
// The plans of all jobs of a script.
TIDE_API tide_status tide_script_explain(const char *name, const char *sql, size_t sql_len, const char *dir,
                                         enum tide_explain_format format, tide_write_fn *write, void *ctx,
                                         tide_error *err);

enum tide_inspect_format { TIDE_INSPECT_TABLE, TIDE_INSPECT_TSV, TIDE_INSPECT_CSV, TIDE_INSPECT_JSON };
// A summary of a savepoint file or of the newest checkpoint of a state directory, from its index alone.
TIDE_API tide_status tide_inspect_summary(const char *path, enum tide_inspect_format format, tide_write_fn *write,
                                          void *ctx, tide_error *err);

// Which entries of a savepoint's state are listed. Strings are borrowed for the length of the call; NULL: any.
typedef struct tide_entry_filter {
    const char *operator_name;  // or a state table, or a uid; NULL: all, with a first column that says which
    const char *window;         // "START" or "START,END"
    const char *const *keys;    // "NAME=VALUE"; `<NULL>` is NULL
    size_t key_count;
    uint64_t limit;  // rows in all
} tide_entry_filter;
// Entries as results: on_result once an operator, on_row, on_result_end; on_message for what is damaged.
TIDE_API tide_status tide_inspect_entries(const char *path, const tide_entry_filter *filter,
                                          const tide_handler *handler, tide_error *err);

// A report as one page of HTML that needs nothing else. What is damaged is said in it; then the call fails, but the page is written.
TIDE_API tide_status tide_inspect_html(const char *path, tide_write_fn *write, void *ctx, tide_error *err);
// What differs between two savepoints: facts, then counts by operator, then windows, then (at most filter->limit) entries, each with its
// old and its new row. filter->operator_name: only that one.
TIDE_API tide_status tide_inspect_diff(const char *old_path, const char *new_path, const tide_entry_filter *filter,
                                       const tide_handler *handler, tide_error *err);
// Runs SQL in batch mode over the savepoint: a table a state table (named as its operator, `-` as `_`), and `operators`,
// `windows`, `sources`, `chunks`. Results go to the handler.
TIDE_API tide_status tide_inspect_sql(const char *path, const char *sql, size_t sql_len, const tide_handler *handler,
                                      tide_error *err);

// Writes one self-contained savepoint of a running or stopped job. out_path NULL: a name in the current folder is made and
// reported through `write`.
TIDE_API tide_status tide_savepoint_take(const char *state_dir, const char *out_path, tide_write_fn *write, void *ctx,
                                         tide_error *err);
// Checks every byte; writes a line for each damaged part. TIDE_ERR_SAVEPOINT if there is any.
TIDE_API tide_status tide_savepoint_verify(const char *path, tide_write_fn *write, void *ctx, tide_error *err);
// Writes what is whole of a damaged savepoint to a new one, and what is missing there through `write`. TIDE_OK also if
// nothing was. Going on from such a file is up to the user: the missing keys begin anew.
TIDE_API tide_status tide_savepoint_salvage(const char *path, const char *out_path, tide_write_fn *write, void *ctx,
                                            tide_error *err);
// Writes the state of `from` (a savepoint file or a state directory) as a savepoint of the new script, if the compatibility check lets
// it go on (options->policy, on_incompatible, accept_unsound, memory_bytes; the others are ignored). No source and no sink is
// opened. TIDE_ERR_REFUSED: it does not fit.
TIDE_API tide_status tide_savepoint_migrate(const char *from, const tide_script *script, const char *out_path,
                                            const tide_options *options, const tide_handler *handler, tide_error *err);
// Lists the checkpoints of a state directory.
TIDE_API tide_status tide_savepoint_list(const char *state_dir, tide_write_fn *write, void *ctx, tide_error *err);
// What a job is doing: of a running one as it says itself, of a stopped one as its newest checkpoint has it. window: explains why
// that window ("START" or "START,END") has not fired, key ("NAME=VALUE") what it holds of that key; both may be NULL.
TIDE_API tide_status tide_job_status(const char *state_dir, const char *window, const char *key,
                                     enum tide_inspect_format format, tide_write_fn *write, void *ctx, tide_error *err);
// SQL over the state of a running job as of now (it takes a checkpoint and goes on), of a stopped one as of its newest checkpoint.
TIDE_API tide_status tide_job_query(const char *state_dir, const char *sql, size_t sql_len, const tide_handler *handler,
                                    tide_error *err);
// Asks a running job to stop with a checkpoint.
TIDE_API tide_status tide_stop(const char *state_dir, tide_error *err);

#ifdef __cplusplus
}
#endif
#endif
