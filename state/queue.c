// The background thread: it takes tasks in the order in which they were submitted and is the only one that writes.
//
// Because there is one writer and one queue, a barrier needs no further care: what was submitted before it has been
// written when it is reached, and nothing later has. The first failure is kept; after it runs are only freed and
// barriers say why they have no snapshot.
#include "base/alloc.h"
#include "state/store_private.h"

#include <assert.h>
#include <string.h>

static void discard_task(struct task *task) {
    if (task->kind == TASK_RUN) task->source->free(task->source);
    tide__free(task);
}

static void run_barrier(struct state_store *store, const struct task *task, tide_error *err) {
    struct state_snapshot *snapshot = NULL;
    if (err->status == TIDE_OK && store->ops->settle(store->backend, BACKEND_BEFORE_BARRIER, err) == TIDE_OK) {
        snapshot = tide__alloc(sizeof *snapshot);
        snapshot->backend = store->ops->snapshot_new(store->backend);
    }
    task->ready(task->ctx, snapshot, snapshot ? NULL : err);
}

// A run that is watched while it is read.
struct watched {
    struct state_source source;
    struct state_source *inner;
    struct state_watcher *watcher;
    struct state_table *table;
};

static bool next_watched(struct state_source *source, struct state_entry *out_entry) {
    struct watched *watched = (struct watched *)source;
    if (!watched->inner->next(watched->inner, out_entry)) return false;
    watched->watcher->entry(watched->watcher, watched->table, out_entry);
    return true;
}

static tide_status write_run(struct state_store *store, struct task *task, struct backend_counts *counts,
                             tide_error *err) {
    struct state_watcher *watcher = store->watcher;
    if (!watcher) return store->ops->write_run(task->table->backend, task->source, counts, err);
    struct watched watched = {{.next = next_watched}, task->source, watcher, task->table};
    TIDE_TRY(store->ops->write_run(task->table->backend, &watched.source, counts, err));
    watcher->run_end(watcher, task->table);
    return TIDE_OK;
}

static tide_status drop_range(struct state_store *store, struct task *task, struct backend_counts *counts,
                              tide_error *err) {
    struct str lower = {task->bounds, task->lower_len}, upper = {task->bounds + task->lower_len, task->upper_len};
    TIDE_TRY(store->ops->drop_range(task->table->backend, lower, upper, counts, err));
    struct state_watcher *watcher = store->watcher;
    if (watcher && counts->ranges_dropped > 0) watcher->drop(watcher, task->table, lower, upper);
    return TIDE_OK;
}

// Does one task; err holds the store's failure before and after.
static void run_task(struct state_store *store, struct task *task, struct backend_counts *counts, tide_error *err) {
    tide_status status = err->status;
    switch (task->kind) {
    case TASK_RUN:
        if (status == TIDE_OK) status = write_run(store, task, counts, err);
        task->source->free(task->source);
        break;
    case TASK_DROP:
        if (status == TIDE_OK) status = drop_range(store, task, counts, err);
        break;
    case TASK_BARRIER: run_barrier(store, task, err); break;
    }
    assert(status == TIDE_OK || err->status != TIDE_OK);
}

static void finish_task(struct state_store *store, struct task *task, const struct backend_counts *counts,
                        const tide_error *err) {
    if (store->failure.status == TIDE_OK && err->status != TIDE_OK) store->failure = *err;
    store->pending--;
    store->pending_bytes -= task->bytes;
    if (task->table) task->table->pending--;
    if (task->kind == TASK_RUN) store->stats.runs++;
    store->stats.entries += counts->entries;
    store->stats.bytes_written += counts->bytes;
    store->stats.windows_dropped += counts->windows_dropped;
    pthread_cond_broadcast(&store->done);
}

// The backend's housekeeping comes after the task is reported as done: readers need not wait for runs to be merged.
// The lock is held on entry and on return.
static void settle(struct state_store *store) {
    if (store->failure.status != TIDE_OK || (store->closing && !store->first)) return;
    pthread_mutex_unlock(&store->lock);
    tide_error err = {0};
    tide_status status = store->ops->settle(store->backend, BACKEND_AFTER_WRITE, &err);
    pthread_mutex_lock(&store->lock);
    if (status != TIDE_OK) store->failure = err;
}

static void *run_queue(void *arg) {
    struct state_store *store = arg;
    pthread_mutex_lock(&store->lock);
    for (;;) {
        while (!store->first && !store->closing) pthread_cond_wait(&store->work, &store->lock);
        struct task *task = store->first;
        if (!task) break;
        store->first = task->next;
        if (!store->first) store->last = NULL;
        tide_error err = store->failure;
        pthread_mutex_unlock(&store->lock);
        struct backend_counts counts = {0};
        run_task(store, task, &counts, &err);
        pthread_mutex_lock(&store->lock);
        finish_task(store, task, &counts, &err);
        if (task->kind != TASK_BARRIER) settle(store);
        tide__free(task);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

// The lock is held.
static tide_status fail_if_failed(const struct state_store *store, tide_error *err) {
    if (store->failure.status == TIDE_OK) return TIDE_OK;
    if (err && err->status == TIDE_OK) *err = store->failure;
    return store->failure.status;
}

static tide_status start_thread(struct state_store *store, tide_error *err) {
    if (store->started) return TIDE_OK;
    int error = pthread_create(&store->thread, NULL, run_queue, store);
    if (error) return tide__fail_errno(err, error, "cannot start the state thread");
    store->started = true;
    return TIDE_OK;
}

tide_status tide__store_enqueue(struct state_store *store, struct task *task, tide_error *err) {
    assert(!task->next && (task->kind != TASK_RUN || task->source));
    pthread_mutex_lock(&store->lock);
    assert(!store->closing);
    tide_status status = fail_if_failed(store, err);
    if (status == TIDE_OK) status = start_thread(store, err);
    // One run larger than the bound is let in alone.
    while (status == TIDE_OK && store->pending_bytes > 0 && store->pending_bytes + task->bytes > store->queue_max &&
           task->bytes > 0) {
        pthread_cond_wait(&store->done, &store->lock);
        status = fail_if_failed(store, err);
    }
    if (status == TIDE_OK) {
        store->pending++;
        store->pending_bytes += task->bytes;
        if (task->table) task->table->pending++;
        if (task->kind == TASK_RUN) task->table->has_runs = true;
        if (store->last) {
            store->last->next = task;
        } else {
            store->first = task;
        }
        store->last = task;
        pthread_cond_signal(&store->work);
    }
    pthread_mutex_unlock(&store->lock);
    if (status != TIDE_OK) discard_task(task);
    return status;
}

bool tide__store_has_runs(const struct state_table *table) {
    pthread_mutex_lock(&table->store->lock);
    bool has_runs = table->has_runs;
    pthread_mutex_unlock(&table->store->lock);
    return has_runs;
}

tide_status tide__store_wait(struct state_store *store, const struct state_table *table, tide_error *err) {
    pthread_mutex_lock(&store->lock);
    while ((table ? table->pending : store->pending) > 0) pthread_cond_wait(&store->done, &store->lock);
    tide_status status = fail_if_failed(store, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

void tide__store_stop(struct state_store *store) {
    pthread_mutex_lock(&store->lock);
    store->closing = true;
    // The directory goes away: only what a barrier waits for is still worth writing.
    struct task **keep_end = &store->first, *last = NULL, *tail;
    for (struct task **at = &store->first; *at; at = &(*at)->next) {
        if ((*at)->kind != TASK_BARRIER) continue;
        keep_end = &(*at)->next;
        last = *at;
    }
    tail = *keep_end;
    *keep_end = NULL;
    store->last = last;
    pthread_cond_signal(&store->work);
    bool started = store->started;
    pthread_mutex_unlock(&store->lock);
    while (tail) {
        struct task *next = tail->next;
        discard_task(tail);
        tail = next;
    }
    if (started) pthread_join(store->thread, NULL);
}
