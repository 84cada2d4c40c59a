// Checkpoints of a running job.
//
// On the job's thread: the barrier, which collects what the operators hold and hands their changes to the state store.
// On the store's background thread, once all of that is ingested: the savepoint file is written; then, and only then,
// the sinks publish what the checkpoint covers; then old checkpoints go. Processing goes on meanwhile.
#include "api/job.h"

#include "base/alloc.h"
#include "base/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static int64_t wall_clock_ms(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * MILLIS_PER_SECOND + now.tv_usec / 1000;
}

static void finished(struct job *job, const tide_error *failure, const struct checkpoint_written *written,
                     double seconds) {
    pthread_mutex_lock(&job->lock);
    job->in_flight--;
    if (failure->status != TIDE_OK && job->failure.status == TIDE_OK) job->failure = *failure;
    if (failure->status == TIDE_OK) {
        job->done++;
        job->deltas += written->delta;
        job->last_bytes = written->bytes;
        job->bytes += written->bytes;
        job->last_finished = tide__api_seconds();
        job->last_seconds = seconds;
        if (seconds > job->seconds_max) job->seconds_max = seconds;
    }
    pthread_cond_broadcast(&job->idle);
    pthread_mutex_unlock(&job->lock);
}

static tide_status write_and_publish(struct checkpoint *checkpoint, struct state_snapshot *snapshot,
                                     struct checkpoint_written *out, tide_error *err) {
    struct job *job = checkpoint->job;
    if (checkpoint->path != NULL) {
        TIDE_TRY(tide__savepoint_write(checkpoint->path, &checkpoint->info, job->store, snapshot, &out->bytes, err));
        return tide__task_commit(job->task, &checkpoint->info.snapshot, err);
    }
    TIDE_TRY(tide__checkpointer_write(job->checkpointer, &checkpoint->info, snapshot,
                                      checkpoint->form == CHECKPOINT_FULL, out, err));
    TIDE_TRY(tide__task_commit(job->task, &checkpoint->info.snapshot, err));
    tide__checkpointer_retain(job->checkpointer);
    return TIDE_OK;
}

// Runs on the store's background thread.
static void snapshot_ready(void *ctx, struct state_snapshot *snapshot, const tide_error *store_error) {
    struct checkpoint *checkpoint = ctx;
    tide_error failure;
    tide__error_clear(&failure);
    struct checkpoint_written written = {0};
    if (snapshot == NULL)
        failure = *store_error;
    else
        failure.status = write_and_publish(checkpoint, snapshot, &written, &failure);
    if (snapshot != NULL) tide__state_snapshot_release(snapshot);
    struct job *job = checkpoint->job;
    double seconds = tide__api_seconds() - checkpoint->began;
    tide__arena_deinit(&checkpoint->arena);
    tide__free(checkpoint);
    finished(job, &failure, &written, seconds);
}

static tide_status fill(struct job *job, struct checkpoint *checkpoint, const char *path, tide_error *err) {
    checkpoint->job = job;
    tide__arena_init(&checkpoint->arena);
    if (path != NULL) checkpoint->path = tide__arena_strndup(&checkpoint->arena, path, strlen(path));
    uint64_t id = path == NULL ? job->next_id++ : job->next_id;
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

tide_status tide__api_checkpoint_begin(struct job *job, const char *path, enum checkpoint_form form, tide_error *err) {
    tide__api_pause_begin(job);
    job->last_started = tide__api_seconds();
    if (path == NULL) tide__task_stats(job->task, &job->last_stats);
    struct checkpoint *checkpoint = tide__calloc(1, sizeof *checkpoint);
    checkpoint->form = form;
    checkpoint->began = job->last_started;
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
        finished(job, err != NULL ? err : &failure, &(struct checkpoint_written){0}, 0);
    }
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

// --- what it cost -------------------------------------------------------------------------------------------------

void tide__api_pause_begin(struct job *job) {
    if (job->pauses.began == 0) job->pauses.began = tide__api_seconds();
}

void tide__api_pause_end(struct job *job) {
    struct pauses *pauses = &job->pauses;
    if (pauses->began == 0) return;
    pauses->items = tide__grow(pauses->items, &pauses->cap, pauses->count + 1, sizeof *pauses->items);
    pauses->items[pauses->count++] = (float)((tide__api_seconds() - pauses->began) * 1000);
    pauses->began = 0;
}

static int compare_pauses(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void tide__api_checkpoint_sum(struct job *job, tide_summary *summary) {
    struct pauses *pauses = &job->pauses;
    if (pauses->count > 0) {
        qsort(pauses->items, pauses->count, sizeof *pauses->items, compare_pauses);
        double max = pauses->items[pauses->count - 1], p99 = pauses->items[(pauses->count * 99 + 99) / 100 - 1];
        if (max > summary->checkpoint_pause_ms_max) summary->checkpoint_pause_ms_max = max;
        if (p99 > summary->checkpoint_pause_ms_p99) summary->checkpoint_pause_ms_p99 = p99;
    }
    summary->checkpoints += job->done;
    summary->checkpoint_deltas += job->deltas;
    summary->checkpoint_bytes = job->last_bytes;
    summary->checkpoint_bytes_all += job->bytes;
    if (job->seconds_max > summary->checkpoint_seconds_max) summary->checkpoint_seconds_max = job->seconds_max;
    tide__free(pauses->items);
    *pauses = (struct pauses){0};
}
