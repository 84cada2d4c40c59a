// The reference backend: each table is one sorted array, and each write makes a new version of it.
//
// Versions are immutable and counted, so a snapshot is a reference. It is as slow as it is plain; tests
// compare RocksDB with it, and `state.backend = memory` runs without a directory.
#include "base/alloc.h"
#include "base/arena.h"
#include "state/backend.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct blob {
    atomic_size_t references;
    size_t key_len, value_len;
    char bytes[];
};

struct version {
    atomic_size_t references;
    size_t count, cap;
    struct blob **blobs;
};

struct memory_table {
    struct backend_table base;
    struct memory_backend *owner;
    struct memory_table *next;
    struct version *version;  // under owner->lock
};

struct memory_backend {
    struct backend base;
    pthread_mutex_t lock;
    struct memory_table *tables;
};

struct snapshot_part {
    struct snapshot_part *next;
    const struct memory_table *table;
    struct version *version;
};

struct memory_snapshot {
    struct backend_snapshot base;
    struct snapshot_part *parts;
};

struct memory_iter {
    struct backend_iter base;
    struct version *version;
    size_t at, end;
};

static struct str blob_key(const struct blob *blob) {
    return (struct str){blob->bytes, blob->key_len};
}
static struct str blob_value(const struct blob *blob) {
    return (struct str){blob->bytes + blob->key_len, blob->value_len};
}

static struct blob *new_blob(struct str key, struct str value) {
    struct blob *blob = tide__alloc(sizeof *blob + key.len + value.len);
    blob->references = 1;
    blob->key_len = key.len;
    blob->value_len = value.len;
    if (key.len) memcpy(blob->bytes, key.data, key.len);
    if (value.len) memcpy(blob->bytes + key.len, value.data, value.len);
    return blob;
}

static void release_blob(struct blob *blob) {
    if (atomic_fetch_sub(&blob->references, 1) == 1) tide__free(blob);
}

static struct version *new_version(void) {
    struct version *version = tide__calloc(1, sizeof *version);
    version->references = 1;
    return version;
}

static void release_version(struct version *version) {
    if (!version || atomic_fetch_sub(&version->references, 1) != 1) return;
    for (size_t i = 0; i < version->count; i++) release_blob(version->blobs[i]);
    tide__free(version->blobs);
    tide__free(version);
}

// Takes the reference to the blob.
static void append(struct version *version, struct blob *blob) {
    version->blobs = tide__grow(version->blobs, &version->cap, version->count + 1, sizeof *version->blobs);
    version->blobs[version->count++] = blob;
}

static void append_shared(struct version *version, struct blob *blob) {
    atomic_fetch_add(&blob->references, 1);
    append(version, blob);
}

static struct version *retain_current(struct memory_table *table) {
    pthread_mutex_lock(&table->owner->lock);
    struct version *version = table->version;
    atomic_fetch_add(&version->references, 1);
    pthread_mutex_unlock(&table->owner->lock);
    return version;
}

static void publish(struct memory_table *table, struct version *version) {
    pthread_mutex_lock(&table->owner->lock);
    struct version *old = table->version;
    table->version = version;
    pthread_mutex_unlock(&table->owner->lock);
    release_version(old);
}

// The first index whose key is not less than `key`.
static size_t lower_bound(const struct version *version, struct str key) {
    size_t low = 0, high = version->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tide__str_cmp(blob_key(version->blobs[middle]), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct backend *memory_open(const struct state_options *options) {
    (void)options;
    struct memory_backend *backend = tide__calloc(1, sizeof *backend);
    backend->base.ops = &tide__memory_backend;
    pthread_mutex_init(&backend->lock, NULL);
    return &backend->base;
}

static void memory_close(struct backend *base) {
    struct memory_backend *backend = (struct memory_backend *)base;
    pthread_mutex_destroy(&backend->lock);
    tide__free(backend);
}

static struct backend_table *memory_table_new(struct backend *base, const struct state_table_desc *desc) {
    struct memory_backend *backend = (struct memory_backend *)base;
    struct memory_table *table = tide__calloc(1, sizeof *table);
    table->base = (struct backend_table){base, desc};
    table->owner = backend;
    table->version = new_version();
    pthread_mutex_lock(&backend->lock);
    table->next = backend->tables;
    backend->tables = table;
    pthread_mutex_unlock(&backend->lock);
    return &table->base;
}

static void memory_table_free(struct backend_table *base) {
    struct memory_table *table = (struct memory_table *)base;
    struct memory_table **at = &table->owner->tables;
    while (*at != table) at = &(*at)->next;
    *at = table->next;
    release_version(table->version);
    tide__free(table);
}

// Appends what `entry` makes of `older` (NULL: there is none). False if the values cannot be combined.
static bool append_applied(const struct state_table_desc *desc, struct version *to, struct blob *older,
                           const struct state_entry *entry) {
    if (entry->op == STATE_DELETE) return true;
    if (entry->op == STATE_REPLACE || !older) {
        append(to, new_blob(entry->key, entry->value));
        return true;
    }
    struct strbuf value = {0};
    bool ok = tide__state_combine(desc, blob_value(older), entry->value, &value);
    if (ok) append(to, new_blob(entry->key, tide__strbuf_str(&value)));
    tide__strbuf_deinit(&value);
    return ok;
}

static tide_status memory_write_run(struct backend_table *base, struct state_source *source,
                                    struct backend_counts *out_counts, tide_error *err) {
    struct memory_table *table = (struct memory_table *)base;
    struct version *from = retain_current(table), *to = new_version();
    tide_status status = TIDE_OK;
    struct state_entry entry;
    size_t at = 0;
    while (source->next(source, &entry)) {
        while (at < from->count && tide__str_cmp(blob_key(from->blobs[at]), entry.key) < 0)
            append_shared(to, from->blobs[at++]);
        struct blob *older = NULL;
        if (at < from->count && tide__str_eq(blob_key(from->blobs[at]), entry.key)) older = from->blobs[at++];
        assert(to->count == 0 || tide__str_cmp(blob_key(to->blobs[to->count - 1]), entry.key) < 0);
        if (!append_applied(base->desc, to, older, &entry)) {
            status = tide__fail(err, TIDE_ERR_IO, "malformed value in state table %s", base->desc->name);
            break;
        }
        out_counts->entries++;
        out_counts->bytes += entry.key.len + entry.value.len;
    }
    while (at < from->count) append_shared(to, from->blobs[at++]);
    release_version(from);
    if (status == TIDE_OK) {
        publish(table, to);
    } else {
        release_version(to);
    }
    return status;
}

static tide_status memory_drop_range(struct backend_table *base, struct str lower, struct str upper,
                                     struct backend_counts *out_counts, tide_error *err) {
    (void)err;
    struct memory_table *table = (struct memory_table *)base;
    struct version *from = retain_current(table), *to = new_version();
    size_t first = lower_bound(from, lower), end = upper.len ? lower_bound(from, upper) : from->count;
    for (size_t i = 0; i < from->count; i++) {
        if (i < first || i >= end) append_shared(to, from->blobs[i]);
    }
    if (first < end) {
        out_counts->windows_dropped++;
        out_counts->ranges_dropped++;
    }
    release_version(from);
    publish(table, to);
    return TIDE_OK;
}

static tide_status memory_settle(struct backend *backend, enum backend_moment moment, tide_error *err) {
    return TIDE_OK;
}

static struct backend_snapshot *memory_snapshot_new(struct backend *base) {
    struct memory_backend *backend = (struct memory_backend *)base;
    struct memory_snapshot *snapshot = tide__calloc(1, sizeof *snapshot);
    snapshot->base.ops = &tide__memory_backend;
    pthread_mutex_lock(&backend->lock);
    for (struct memory_table *table = backend->tables; table; table = table->next) {
        struct snapshot_part *part = tide__alloc(sizeof *part);
        *part = (struct snapshot_part){snapshot->parts, table, table->version};
        atomic_fetch_add(&table->version->references, 1);
        snapshot->parts = part;
    }
    pthread_mutex_unlock(&backend->lock);
    return &snapshot->base;
}

static void memory_snapshot_release(struct backend_snapshot *base) {
    struct memory_snapshot *snapshot = (struct memory_snapshot *)base;
    for (struct snapshot_part *part = snapshot->parts, *next; part; part = next) {
        next = part->next;
        release_version(part->version);
        tide__free(part);
    }
    tide__free(snapshot);
}

static struct version *retain_of_snapshot(struct backend_snapshot *base, const struct memory_table *table) {
    struct memory_snapshot *snapshot = (struct memory_snapshot *)base;
    for (struct snapshot_part *part = snapshot->parts; part; part = part->next) {
        if (part->table != table) continue;
        atomic_fetch_add(&part->version->references, 1);
        return part->version;
    }
    return new_version();
}

static tide_status memory_iter_open(struct backend_table *base, struct backend_snapshot *snapshot, struct str lower,
                                    struct str upper, struct backend_iter **out_iter, tide_error *err) {
    (void)err;
    struct memory_table *table = (struct memory_table *)base;
    struct memory_iter *iter = tide__alloc(sizeof *iter);
    iter->base.ops = &tide__memory_backend;
    iter->version = snapshot ? retain_of_snapshot(snapshot, table) : retain_current(table);
    iter->at = lower_bound(iter->version, lower);
    iter->end = upper.len ? lower_bound(iter->version, upper) : iter->version->count;
    *out_iter = &iter->base;
    return TIDE_OK;
}

static bool memory_iter_next(struct backend_iter *base, struct str *out_key, struct str *out_value) {
    struct memory_iter *iter = (struct memory_iter *)base;
    if (iter->at >= iter->end) return false;
    const struct blob *blob = iter->version->blobs[iter->at++];
    *out_key = blob_key(blob);
    *out_value = blob_value(blob);
    return true;
}

static void memory_iter_seek(struct backend_iter *base, struct str key) {
    struct memory_iter *iter = (struct memory_iter *)base;
    size_t at = lower_bound(iter->version, key);
    if (at > iter->at) iter->at = at;
}

static tide_status memory_iter_close(struct backend_iter *base, tide_error *err) {
    (void)err;
    struct memory_iter *iter = (struct memory_iter *)base;
    release_version(iter->version);
    tide__free(iter);
    return TIDE_OK;
}

static tide_status memory_multi_get(struct backend_table *base, const struct str *keys, size_t n, struct arena *arena,
                                    struct str *out_values, tide_error *err) {
    (void)err;
    struct version *version = retain_current((struct memory_table *)base);
    for (size_t i = 0; i < n; i++) {
        size_t at = lower_bound(version, keys[i]);
        out_values[i] = (struct str){NULL, 0};
        if (at == version->count || !tide__str_eq(blob_key(version->blobs[at]), keys[i])) continue;
        struct str value = blob_value(version->blobs[at]);
        out_values[i] = (struct str){tide__arena_strndup(arena, value.data, value.len), value.len};
    }
    release_version(version);
    return TIDE_OK;
}

static uint64_t memory_disk_bytes(struct backend *backend) {
    return 0;
}

const struct backend_ops tide__memory_backend = {
    .name = "memory",
    .open = memory_open,
    .close = memory_close,
    .table_new = memory_table_new,
    .table_free = memory_table_free,
    .write_run = memory_write_run,
    .drop_range = memory_drop_range,
    .settle = memory_settle,
    .snapshot_new = memory_snapshot_new,
    .snapshot_release = memory_snapshot_release,
    .iter_open = memory_iter_open,
    .iter_next = memory_iter_next,
    .iter_seek = memory_iter_seek,
    .iter_close = memory_iter_close,
    .multi_get = memory_multi_get,
    .disk_bytes = memory_disk_bytes,
};
