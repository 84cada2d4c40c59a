// One running job: its task, its state, its checkpoints.
#ifndef TIDE_API_JOB_H
#define TIDE_API_JOB_H

#include "api/script.h"
#include "checkpoint/checkpointer.h"
#include "engine/task.h"

#include <pthread.h>

enum checkpoint_form { CHECKPOINT_ANY, CHECKPOINT_FULL };  // a delta will do; it must be one file

// A checkpoint on its way: made on the job's thread, written on the state's background thread.
struct checkpoint {
    struct job *job;
    struct arena arena;  // of info
    struct savepoint_info info;
    const char *path;  // where it is written; NULL: it is one of the state directory's
    enum checkpoint_form form;
    double began;
};

// How long the job stood still at its barriers: the last milliseconds of them all, for the summary.
struct pauses {
    float *items;
    size_t count, cap;
    double began;  // of the pause that goes on; 0: none
};

struct job {
    struct script_run *run;
    const struct plan *plan;
    struct arena arena;
    struct memory_budget budget;
    char *temporary_dir;              // removed at the end; NULL: none
    const char *checkpoint_dir_kind;  // for messages
    struct state_store *store;
    struct task *task;
    struct plan_description description;
    const char *run_id;

    bool checkpoints;                   // there is a place for them
    int64_t interval_ms;                // 0: not by time
    uint64_t every_rows;                // 0: not by rows
    struct checkpointer *checkpointer;  // NULL: no place
    uint64_t next_id;
    struct pauses pauses;
    double last_started;           // of the last checkpoint
    struct task_stats last_stats;  // when it was taken
    double last_finished;          // 0: none yet

    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t idle;
    uint32_t in_flight;
    tide_error failure;          // of the background thread; the first one
    uint64_t done, deltas;       // checkpoints written; of them deltas
    uint64_t last_bytes, bytes;  // of the last one; of all
    double seconds_max;          // from barrier to durable
    double last_seconds;         // of the last one

    // collecting rows
    tide_column *columns;
    tide_text *values;
    struct strbuf *texts;  // one a column
    bool result_open;

    double last_progress;
    int interrupted;            // 0, 1 or 2
    bool asked_to_stop;         // over the socket
    bool asked_for_checkpoint;  // a client waits for one that has not begun
    bool answers_checkpoint;    // it waits for the one on its way
    double began;               // when the job started in this process, and the rows it had then
    uint64_t rows_began;
    struct {
        double seconds;
        uint64_t rows;
    } samples[2];  // about a second apart: how fast it is now
};

// Takes a checkpoint: barrier now, the rest in the background. `path` NULL: the next one of the state directory.
tide_status tide__api_checkpoint_begin(struct job *job, const char *path, enum checkpoint_form form,
                                       tide_error *err) TIDE_CHECKED;
// The job stands still from now on, or goes on.
void tide__api_pause_begin(struct job *job);
void tide__api_pause_end(struct job *job);
// Adds what the job's checkpoints cost to the summary.
void tide__api_checkpoint_sum(struct job *job, tide_summary *summary);
// Waits for those on their way; returns the first failure.
tide_status tide__api_checkpoint_wait(struct job *job, tide_error *err) TIDE_CHECKED;
// A failure of the background, without waiting.
tide_status tide__api_checkpoint_poll(struct job *job, tide_error *err) TIDE_CHECKED;
bool tide__api_checkpoint_busy(struct job *job);

// Writes a savepoint of the job as it is between two segments, and waits for it.
tide_status tide__api_job_savepoint(struct job *job, const char *path, tide_error *err) TIDE_CHECKED;

// Receives the rows of a SELECT.
tide_status tide__api_collect(void *ctx, const struct plan_node *sink, const struct batch *batch, tide_error *err);

#endif
