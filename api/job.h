// One running job: its task, its state, its checkpoints.
#ifndef TIDE_API_JOB_H
#define TIDE_API_JOB_H

#include "api/script.h"
#include "engine/task.h"

#include <pthread.h>

// A checkpoint on its way: made on the job's thread, written on the state's background thread.
struct checkpoint {
    struct job *job;
    struct arena arena;              // of info
    struct savepoint_info info;
    const char *path;                // where it is written
    bool periodic;                   // counts for retention
};

struct job {
    struct script_run *run;
    const struct plan *plan;
    struct arena arena;
    struct memory_budget budget;
    char *temporary_dir;             // removed at the end; NULL: none
    const char *checkpoint_dir_kind; // for messages
    struct state_store *store;
    struct task *task;
    struct plan_description description;
    const char *run_id;

    bool checkpoints;                // there is a place for them
    int64_t interval_ms;             // 0: not by time
    uint64_t every_rows;             // 0: not by rows
    uint64_t next_id;
    double last_started;             // of the last checkpoint
    double last_finished;            // 0: none yet

    pthread_mutex_t lock;            // guards what follows
    pthread_cond_t idle;
    uint32_t in_flight;
    tide_error failure;              // of the background thread; the first one
    uint64_t done;                   // checkpoints written
    uint64_t last_bytes;

    // collecting rows
    tide_column *columns;
    tide_text *values;
    struct strbuf *texts;            // one a column
    bool result_open;

    double last_progress;
    int interrupted;                 // 0, 1 or 2
    bool asked_to_stop;              // over the socket
};

// Takes a checkpoint: barrier now, the rest in the background. `path` NULL: the next periodic one.
tide_status tide__api_checkpoint_begin(struct job *job, const char *path, tide_error *err) TIDE_CHECKED;
// Waits for those on their way; returns the first failure.
tide_status tide__api_checkpoint_wait(struct job *job, tide_error *err) TIDE_CHECKED;
// A failure of the background, without waiting.
tide_status tide__api_checkpoint_poll(struct job *job, tide_error *err) TIDE_CHECKED;
bool tide__api_checkpoint_busy(struct job *job);

// Receives the rows of a SELECT.
tide_status tide__api_collect(void *ctx, const struct plan_node *sink, const struct batch *batch, tide_error *err);

#endif
