// What the files of the store share: store.c (tables and reading), queue.c (the background thread), put_buffer.c.
#ifndef TIDE_STATE_STORE_PRIVATE_H
#define TIDE_STATE_STORE_PRIVATE_H

#include "state/backend.h"

#include <pthread.h>
#include <stdatomic.h>

enum task_kind { TASK_RUN, TASK_DROP, TASK_BARRIER };

// One operation that waits for the background thread.
struct task {
    struct task *next;
    enum task_kind kind;
    struct state_table *table;    // TASK_RUN, TASK_DROP
    struct state_source *source;  // TASK_RUN
    size_t bytes;
    state_ready_fn *ready;  // TASK_BARRIER
    void *ctx;
    size_t lower_len, upper_len;  // TASK_DROP: both follow in bounds
    char bounds[];
};

struct put_buffer;

struct state_table {
    struct state_store *store;
    const struct state_table_desc *desc;
    struct backend_table *backend;
    size_t pending;  // tasks submitted and not done; under store->lock
    bool has_runs;   // a run was submitted once; under store->lock
    pthread_mutex_t put_lock;
    struct put_buffer *puts;  // NULL: nothing buffered; under put_lock
    bool reads_puts;          // it is read by key, also what is buffered; under put_lock
};

struct state_store {
    const struct backend_ops *ops;
    struct backend *backend;
    struct memory_budget *budget;
    size_t queue_max;  // bytes that may wait
    size_t put_max;    // bytes of one table's put buffer

    pthread_mutex_t lock;
    pthread_cond_t work;  // a task was queued, or closing
    pthread_cond_t done;  // a task was finished
    struct task *first, *last;
    size_t pending;        // tasks not done
    size_t pending_bytes;  // of runs not done
    bool started, closing;
    pthread_t thread;
    tide_error failure;  // the first one; status TIDE_OK: none
    struct state_stats stats;
    struct state_watcher *watcher;  // NULL: none; of the background thread

    struct state_table **tables;
    size_t table_count, table_cap;
};

struct state_snapshot {
    struct backend_snapshot *backend;
};

// Queues a task (taken) and starts the thread if there is none. Waits while too much is queued. Returns the store's
// failure, if it has one; the task is then done away with.
tide_status tide__store_enqueue(struct state_store *store, struct task *task, tide_error *err) TIDE_CHECKED;
// Waits until the table (NULL: the store) has nothing pending; returns the store's failure.
tide_status tide__store_wait(struct state_store *store, const struct state_table *table, tide_error *err) TIDE_CHECKED;
// True once a run was submitted to the table.
bool tide__store_has_runs(const struct state_table *table);
// Ends the thread. Runs behind the last barrier are thrown away.
void tide__store_stop(struct state_store *store);

// Submits the table's buffered puts as a run, if there are any.
tide_status tide__store_flush_puts(struct state_table *table, tide_error *err) TIDE_CHECKED;
void tide__put_buffer_free(struct put_buffer *puts);
// True if the buffer knows the key; a deleted key gives {NULL, 0}. The value is copied into the arena.
bool tide__store_find_put(struct state_table *table, struct str key, struct arena *arena, struct str *out_value);

#endif
