// Checkpoints of a running job.
//
// On the job's thread: the barrier, which collects what the operators hold and hands their changes to the state store.
// On the store's background thread, once all of that is ingested: the savepoint file is written; then, and only then,
// the sinks publish what the checkpoint covers; then old checkpoints go. Processing goes on meanwhile.
#include "api/job.h"

#include "base/alloc.h"
#include "base/time.h"

#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static int64_t wall_clock_ms(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * MILLIS_PER_SECOND + now.tv_usec / 1000;
}

static void finished(struct job *job, const tide_error *failure, bool counts, uint64_t bytes) {
    pthread_mutex_lock(&job->lock);
    job->in_flight--;
    if (failure->status != TIDE_OK && job->failure.status == TIDE_OK) job->failure = *failure;
    if (failure->status == TIDE_OK && counts) {
        job->done++;
        job->last_bytes = bytes;
        job->last_finished = tide__api_seconds();
    }
    pthread_cond_broadcast(&job->idle);
    pthread_mutex_unlock(&job->lock);
}

static tide_status write_and_publish(struct checkpoint *checkpoint, struct state_snapshot *snapshot, uint64_t *out_bytes,
                                     tide_error *err) {
    struct job *job = checkpoint->job;
    TIDE_TRY(tide__savepoint_write(checkpoint->path, &checkpoint->info, job->store, snapshot, out_bytes, err));
    TIDE_TRY(tide__task_commit(job->task, &checkpoint->info.snapshot, err));
    if (checkpoint->periodic && job->run->state_dir != NULL)
        tide__state_dir_retain(job->run->state_dir, job->plan->statement_index + 1, job->run->options->retain);
    return TIDE_OK;
}

// Runs on the store's background thread.
static void snapshot_ready(void *ctx, struct state_snapshot *snapshot, const tide_error *store_error) {
    struct checkpoint *checkpoint = ctx;
    tide_error failure;
    tide__error_clear(&failure);
    uint64_t bytes = 0;
    if (snapshot == NULL)
        failure = *store_error;
    else
        failure.status = write_and_publish(checkpoint, snapshot, &bytes, &failure);
    if (snapshot != NULL) tide__state_snapshot_release(snapshot);
    struct job *job = checkpoint->job;
    tide__arena_deinit(&checkpoint->arena);
    tide__free(checkpoint);
    finished(job, &failure, true, bytes);
}

static tide_status fill(struct job *job, struct checkpoint *checkpoint, const char *path, tide_error *err) {
    checkpoint->job = job;
    checkpoint->periodic = path == NULL;
    tide__arena_init(&checkpoint->arena);
    uint64_t id = job->next_id;
    if (path == NULL) {
        struct strbuf buf = {0};
        tide_status status =
            tide__state_dir_checkpoint_path(job->run->state_dir, job->plan->statement_index + 1, id, &buf, err);
        if (status == TIDE_OK) checkpoint->path = tide__arena_strndup(&checkpoint->arena, buf.data, buf.len);
        tide__strbuf_deinit(&buf);
        TIDE_TRY(status);
        job->next_id++;
    } else {
        checkpoint->path = tide__arena_strndup(&checkpoint->arena, path, strlen(path));
    }
    checkpoint->info = (struct savepoint_info){
        .format_version = SAVEPOINT_FORMAT_VERSION,
        .writer_version = TIDE_VERSION,
        .job_name = job->plan->settings.job_name,
        .script_name = job->run->name,
        .sql = job->run->sql,
        .statement_index = job->plan->statement_index,
        .rows_before = job->run->rows_before,
        .checkpoint_id = id,
        .created_ms = wall_clock_ms(),
        .run_id = job->run_id,
        .plan = job->description,
    };
    return tide__task_barrier(job->task, &checkpoint->arena, &checkpoint->info.snapshot, err);
}

tide_status tide__api_checkpoint_begin(struct job *job, const char *path, tide_error *err) {
    double began = tide__api_seconds();
    job->last_started = began;
    struct checkpoint *checkpoint = tide__calloc(1, sizeof *checkpoint);
    tide_status status = fill(job, checkpoint, path, err);
    if (status != TIDE_OK) {
        tide__arena_deinit(&checkpoint->arena);
        tide__free(checkpoint);
        return status;
    }
    pthread_mutex_lock(&job->lock);
    job->in_flight++;
    pthread_mutex_unlock(&job->lock);
    status = tide__state_barrier(job->store, snapshot_ready, checkpoint, err);
    if (status != TIDE_OK) {  // not queued: snapshot_ready will not be called
        tide_error failure;
        tide__error_clear(&failure);
        failure.status = status;
        tide__arena_deinit(&checkpoint->arena);
        tide__free(checkpoint);
        finished(job, err != NULL ? err : &failure, false, 0);
        return status;
    }
    double pause_ms = (tide__api_seconds() - began) * 1000;
    if (pause_ms > job->run->summary->checkpoint_pause_ms_max) job->run->summary->checkpoint_pause_ms_max = pause_ms;
    return status;
}

static tide_status take_failure(struct job *job, tide_error *err) {
    if (job->failure.status == TIDE_OK) return TIDE_OK;
    if (err != NULL) *err = job->failure;
    return job->failure.status;
}

tide_status tide__api_checkpoint_wait(struct job *job, tide_error *err) {
    pthread_mutex_lock(&job->lock);
    while (job->in_flight > 0) pthread_cond_wait(&job->idle, &job->lock);
    tide_status status = take_failure(job, err);
    pthread_mutex_unlock(&job->lock);
    return status;
}

tide_status tide__api_checkpoint_poll(struct job *job, tide_error *err) {
    pthread_mutex_lock(&job->lock);
    tide_status status = take_failure(job, err);
    pthread_mutex_unlock(&job->lock);
    return status;
}

bool tide__api_checkpoint_busy(struct job *job) {
    pthread_mutex_lock(&job->lock);
    bool busy = job->in_flight > 0;
    pthread_mutex_unlock(&job->lock);
    return busy;
}
