// The store: its tables, what is submitted to them, and reading. See queue.c for the thread behind it.
#include "base/alloc.h"
#include "base/arena.h"
#include "state/store_private.h"

#include <assert.h>
#include <string.h>

enum { MIB = 1 << 20 };

struct state_iter {
    struct backend_iter *backend;
};

tide_status tide__state_open(const struct state_options *options, struct state_store **out_store, tide_error *err) {
    *out_store = NULL;
    struct state_store *store = tide__calloc(1, sizeof *store);
    switch (options->backend) {
    case STATE_BACKEND_ROCKSDB: store->ops = &tide__rocksdb_backend; break;
    case STATE_BACKEND_MEMORY: store->ops = &tide__memory_backend; break;
    }
    if (options->backend == STATE_BACKEND_ROCKSDB && (!options->dir || !*options->dir)) {
        tide__free(store);
        return tide__fail(err, TIDE_ERR_OPTION, "the state has no working directory");
    }
    size_t limit = options->budget ? options->budget->limit : 0;
    store->budget = options->budget;
    store->queue_max = limit / 4 > MIB ? limit / 4 : MIB;
    store->put_max = limit / 16 > 32 * MIB ? 32 * MIB : limit / 16 < MIB / 4 ? MIB / 4 : limit / 16;
    store->backend = store->ops->open(options);
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->work, NULL);
    pthread_cond_init(&store->done, NULL);
    *out_store = store;
    return TIDE_OK;
}

void tide__state_close(struct state_store *store) {
    if (!store) return;
    tide__store_stop(store);
    for (size_t i = 0; i < store->table_count; i++) {
        struct state_table *table = store->tables[i];
        tide__put_buffer_free(table->puts);
        store->ops->table_free(table->backend);
        pthread_mutex_destroy(&table->put_lock);
        tide__free(table);
    }
    store->ops->close(store->backend);
    pthread_mutex_destroy(&store->lock);
    pthread_cond_destroy(&store->work);
    pthread_cond_destroy(&store->done);
    tide__free(store->tables);
    tide__free(store);
}

static bool is_table_name(const char *name) {
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");
    return len > 0 && name[len] == 0 && strcmp(name, "default") != 0;
}

tide_status tide__state_table(struct state_store *store, const struct state_table_desc *desc,
                              struct state_table **out_table, tide_error *err) {
    *out_table = NULL;
    if (!is_table_name(desc->name)) return tide__fail(err, TIDE_ERR_PLAN, "bad name of a state table: %s", desc->name);
    struct state_table *table = tide__calloc(1, sizeof *table);
    pthread_mutex_lock(&store->lock);
    bool is_double = false;
    for (size_t i = 0; i < store->table_count; i++) is_double |= strcmp(store->tables[i]->desc->name, desc->name) == 0;
    if (!is_double) {
        *table = (struct state_table){
            .store = store, .desc = desc, .backend = store->ops->table_new(store->backend, desc)};
        pthread_mutex_init(&table->put_lock, NULL);
        store->tables = tide__grow(store->tables, &store->table_cap, store->table_count + 1, sizeof *store->tables);
        store->tables[store->table_count++] = table;
    }
    pthread_mutex_unlock(&store->lock);
    if (is_double) {
        tide__free(table);
        return tide__fail(err, TIDE_ERR_PLAN, "two state tables have the name %s", desc->name);
    }
    *out_table = table;
    return TIDE_OK;
}

size_t tide__state_table_count(const struct state_store *store) {
    return store->table_count;
}

struct state_table *tide__state_table_at(const struct state_store *store, size_t index) {
    assert(index < store->table_count);
    return store->tables[index];
}

const struct state_table_desc *tide__state_table_desc(const struct state_table *table) {
    return table->desc;
}

tide_status tide__state_submit_run(struct state_table *table, struct state_source *source, size_t bytes,
                                   tide_error *err) {
    assert(source && source->next && source->free);
    struct task *task = tide__calloc(1, sizeof *task);
    *task = (struct task){.kind = TASK_RUN, .table = table, .source = source, .bytes = bytes};
    tide_status status = tide__store_flush_puts(table, err);
    if (status == TIDE_OK) return tide__store_enqueue(table->store, task, err);
    source->free(source);
    tide__free(task);
    return status;
}

tide_status tide__state_flush(struct state_table *table, tide_error *err) {
    return tide__store_flush_puts(table, err);
}

tide_status tide__state_drop_range(struct state_table *table, struct str lower, struct str upper, tide_error *err) {
    TIDE_TRY(tide__store_flush_puts(table, err));
    // Most windows open and fire between two barriers: nothing of them is here, and nobody is woken for it.
    if (!tide__store_has_runs(table)) return TIDE_OK;
    struct task *task = tide__calloc(1, sizeof *task + lower.len + upper.len);
    *task = (struct task){.kind = TASK_DROP, .table = table, .lower_len = lower.len, .upper_len = upper.len};
    if (lower.len) memcpy(task->bounds, lower.data, lower.len);
    if (upper.len) memcpy(task->bounds + lower.len, upper.data, upper.len);
    return tide__store_enqueue(table->store, task, err);
}

static tide_status flush_all_puts(struct state_store *store, tide_error *err) {
    for (size_t i = 0; i < store->table_count; i++) TIDE_TRY(tide__store_flush_puts(store->tables[i], err));
    return TIDE_OK;
}

tide_status tide__state_barrier(struct state_store *store, state_ready_fn *ready, void *ctx, tide_error *err) {
    TIDE_TRY(flush_all_puts(store, err));
    struct task *task = tide__calloc(1, sizeof *task);
    *task = (struct task){.kind = TASK_BARRIER, .ready = ready, .ctx = ctx};
    return tide__store_enqueue(store, task, err);
}

tide_status tide__state_sync(struct state_store *store, tide_error *err) {
    TIDE_TRY(flush_all_puts(store, err));
    return tide__store_wait(store, NULL, err);
}

void tide__state_watch(struct state_store *store, struct state_watcher *watcher) {
    store->watcher = watcher;
}

bool tide__state_is_idle(const struct state_table *table) {
    pthread_mutex_lock(&table->store->lock);
    bool idle = table->pending == 0;
    pthread_mutex_unlock(&table->store->lock);
    return idle;
}

tide_status tide__state_load(struct state_table *table, struct state_source *source, tide_error *err) {
    TIDE_TRY(tide__state_submit_run(table, source, 0, err));
    return tide__store_wait(table->store, table, err);
}

tide_status tide__state_iter_open(struct state_table *table, struct state_snapshot *snapshot, struct str lower,
                                  struct str upper, struct state_iter **out_iter, tide_error *err) {
    *out_iter = NULL;
    const struct backend_ops *ops = table->store->ops;
    if (!snapshot) {
        TIDE_TRY(tide__store_flush_puts(table, err));
        TIDE_TRY(tide__store_wait(table->store, table, err));
    }
    struct backend_iter *backend = NULL;
    TIDE_TRY(ops->iter_open(table->backend, snapshot ? snapshot->backend : NULL, lower, upper, &backend, err));
    struct state_iter *iter = tide__alloc(sizeof *iter);
    iter->backend = backend;
    *out_iter = iter;
    return TIDE_OK;
}

tide_status tide__state_iter_open_flushed(struct state_table *table, struct str lower, struct str upper,
                                          struct state_iter **out_iter, tide_error *err) {
    *out_iter = NULL;
    TIDE_TRY(tide__store_wait(table->store, table, err));
    struct backend_iter *backend = NULL;
    TIDE_TRY(table->store->ops->iter_open(table->backend, NULL, lower, upper, &backend, err));
    struct state_iter *iter = tide__alloc(sizeof *iter);
    iter->backend = backend;
    *out_iter = iter;
    return TIDE_OK;
}

bool tide__state_iter_next(struct state_iter *iter, struct str *out_key, struct str *out_value) {
    return iter->backend->ops->iter_next(iter->backend, out_key, out_value);
}

void tide__state_iter_seek(struct state_iter *iter, struct str key) {
    iter->backend->ops->iter_seek(iter->backend, key);
}

tide_status tide__state_iter_close(struct state_iter *iter, tide_error *err) {
    if (!iter) return TIDE_OK;
    tide_status status = iter->backend->ops->iter_close(iter->backend, err);
    tide__free(iter);
    return status;
}

void tide__state_snapshot_release(struct state_snapshot *snapshot) {
    if (!snapshot) return;
    snapshot->backend->ops->snapshot_release(snapshot->backend);
    tide__free(snapshot);
}

// Buffered puts answer at once: flushing them for every read would leave a trail of tiny runs.
tide_status tide__state_multi_get(struct state_table *table, const struct str *keys, size_t n, struct arena *arena,
                                  struct str *out_values, tide_error *err) {
    struct str *missing = tide__alloc((n ? n : 1) * sizeof *missing);
    struct str *found = tide__alloc((n ? n : 1) * sizeof *found);
    size_t *place = tide__alloc((n ? n : 1) * sizeof *place), count = 0;
    for (size_t i = 0; i < n; i++) {
        if (tide__store_find_put(table, keys[i], arena, &out_values[i])) continue;
        missing[count] = keys[i];
        place[count++] = i;
    }
    tide_status status = TIDE_OK;
    if (count > 0) {
        status = tide__store_wait(table->store, table, err);
        if (status == TIDE_OK) status = table->store->ops->multi_get(table->backend, missing, count, arena, found, err);
        for (size_t i = 0; status == TIDE_OK && i < count; i++) out_values[place[i]] = found[i];
    }
    tide__free(missing);
    tide__free(found);
    tide__free(place);
    return status;
}

tide_status tide__state_multi_get_flushed(struct state_table *table, const struct str *keys, size_t n,
                                          struct arena *arena, struct str *out_values, tide_error *err) {
    TIDE_TRY(tide__store_wait(table->store, table, err));
    return table->store->ops->multi_get(table->backend, keys, n, arena, out_values, err);
}

void tide__state_stats(struct state_store *store, struct state_stats *out_stats) {
    pthread_mutex_lock(&store->lock);
    *out_stats = store->stats;
    pthread_mutex_unlock(&store->lock);
    out_stats->disk_bytes = store->ops->disk_bytes(store->backend);
}
