// What the files of api/ share: one run of a script, and one job of it.
#ifndef TIDE_API_SCRIPT_H
#define TIDE_API_SCRIPT_H

#include "api/plans.h"
#include "base/arena.h"
#include "checkpoint/savepoint.h"
#include "checkpoint/state_dir.h"
#include "engine/operator.h"
#include "engine/plan.h"
#include "state/state.h"
#include "tidemark.h"

#include <stdatomic.h>

#define TIDE__MEMORY_DEFAULT (UINT64_C(512) << 20)

// Where the script goes on: the savepoint it starts from.
struct resume {
    struct savepoint *savepoint;  // NULL: from the beginning
    const char *path;
    const char *dir;      // the state directory that it was found in; NULL: it was named
    bool same_job;        // resuming in its own state directory (else --from)
    size_t reset_count;   // operators that start empty (--on-incompatible reset)
    const char **resets;  // their ids
    // What has changed, and how the old state becomes the new one; NULL: nothing that matters. Its plans live in old_plans.
    const struct compat_report *report;
    struct script_plans old_plans;
};

struct control;
struct row_source_class;
struct job;

// Who looks on while the jobs of a script run: a replay (replay.c), a migration (migrate_file.c). Rows are counted over the script.
struct job_watch {
    void *ctx;
    // Called instead of running a job that goes on from a savepoint: checked, its state store open and empty. NULL: it is run.
    tide_status (*instead)(void *ctx, struct job *job, tide_error *err);
    // The others are needed only without it.
    // The job has been described and compared, and is about to be opened: its plan's sources and sinks may be exchanged.
    tide_status (*prepare)(void *ctx, const struct job *job, tide_error *err);
    // The next row after which at_stop is to be called; UINT64_MAX: none.
    uint64_t (*next_stop)(void *ctx, uint64_t rows);
    tide_status (*at_stop)(void *ctx, struct job *job, uint64_t rows, tide_error *err);
    // Receives the rows of each SINK_COLLECT.
    operator_collect_fn *collect;
};

// What surrounds a run that is not a user's own. All zero: nothing.
struct script_around {
    const char *prelude;                        // statements that are run first, in the same session; NULL: none
    const struct row_source_class *row_source;  // NULL: the usual one
    const struct job_watch *watch;              // NULL: nobody
};

// A place in the script that a warning was given of.
struct warned {
    struct warned *next;
    uint32_t offset;
};

struct script_run {
    const char *name, *dir;
    struct str sql;
    const tide_options *options;
    const tide_handler *handler;
    struct script_around around;
    tide_summary *summary;
    struct arena arena;           // lives as long as the run
    struct state_dir *state_dir;  // NULL: none was asked for
    struct control *control;      // the socket of a job with a state directory; NULL: none
    struct resume resume;
    struct sql_session *session;
    uint32_t job_index;                             // of the next job-starting statement
    uint64_t rows_before;                           // source rows of the script's earlier jobs
    double started;                                 // monotonic seconds
    struct warned *warned;                          // table options
    const struct row_source_class *row_sources[2];  // the connector that reads savepoints; NULL at the end
    bool stopped;                                   // by --after: the rest of the script is not run
    bool ended_before;                              // the last job run had ended in an earlier process
};

// tide_script_run, with what surrounds it (may be NULL).
tide_status tide__api_script_run(const char *name, struct str sql, const char *dir, const tide_options *options,
                                 const tide_handler *handler, tide_summary *summary, const struct script_around *around,
                                 tide_error *err) TIDE_CHECKED;

// Monotonic seconds.
double tide__api_seconds(void);
void tide__api_message(const struct script_run *run, enum tide_severity severity, const char *hint, const char *format,
                       ...) TIDE_PRINTF(4, 5);
void tide__api_message_at(const struct script_run *run, enum tide_severity severity, struct source_pos pos,
                          const char *hint, const char *message);

// Finds out where to go on from (state directory, --from) and takes the lock.
tide_status tide__api_resume_open(struct script_run *run, tide_error *err) TIDE_CHECKED;
// The savepoint turned out to be damaged, as `why` says: takes the next older one.
tide_status tide__api_resume_fall_back(struct script_run *run, const tide_error *why, tide_error *err) TIDE_CHECKED;
void tide__api_resume_close(struct script_run *run);
// Refuses a plan that can't go on from run->resume; with --on-incompatible reset notes which operators start empty instead.
tide_status tide__api_resume_check(struct script_run *run, const struct plan *plan, tide_error *err) TIDE_CHECKED;
// Whether the operator starts empty.
bool tide__api_is_reset(const struct resume *resume, const char *operator_id);

// Refuses a path that can't be written or where something stands that is no savepoint.
tide_status tide__api_savepoint_path_check(const char *path, struct arena *arena, tide_error *err) TIDE_CHECKED;
// Copies a savepoint file: written beside, fsynced, renamed; mode 0600.
tide_status tide__api_savepoint_copy(const char *from, const char *to, tide_error *err) TIDE_CHECKED;

// Runs one job from its beginning, or from run->resume if that is of this statement.
tide_status tide__api_job_run(struct script_run *run, const struct plan *plan, tide_error *err) TIDE_CHECKED;

// Flink's text of the columns of a sink, in the arena.
tide_column *tide__api_columns(const struct plan_field *fields, uint32_t count, struct arena *arena);
tide_column tide__api_column(const char *name, const struct type *type, struct arena *arena);

// The plan as text, in the arena.
struct str tide__api_explain_text(const struct plan *plan, struct arena *arena);

// --- the control socket ----------------------------------------------------------------------------------------------

enum control_request { CONTROL_NONE, CONTROL_SAVEPOINT, CONTROL_STOP, CONTROL_STATUS, CONTROL_CHECKPOINT };
tide_status tide__api_control_open(const char *state_dir, struct control **out, tide_error *err) TIDE_CHECKED;
void tide__api_control_close(struct control *control);
// A request that has come in, if any. out_path (CONTROL_SAVEPOINT) is valid until the reply.
enum control_request tide__api_control_poll(struct control *control, const char **out_path);
// Cheap: is there anything to poll for? Asks the system at most every 20 ms.
bool tide__api_control_pending(struct control *control);
// Answers the request and ends its connection. message: "" or the error.
void tide__api_control_reply(struct control *control, bool ok, const char *message);
// Answers with text.
void tide__api_control_send(struct control *control, struct str text);
// The other side: sends a request and reads the whole answer; *out is what follows the `ok`.
tide_status tide__api_control_read(const char *state_dir, const char *request, struct strbuf *out, bool *out_running,
                                   tide_error *err) TIDE_CHECKED;
// Sends a request to the job running in state_dir. *out_running false: nobody listens there.
tide_status tide__api_control_ask(const char *state_dir, const char *request, bool *out_running,
                                  tide_error *err) TIDE_CHECKED;

#endif
