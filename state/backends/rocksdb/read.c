// Reading: snapshots, iterators, point reads.
//
// A dropped window may still lie in files that it shares with living ones. Such windows are "dead": every reader carries a
// list of them, as of now or as of its snapshot, and steps over them. The list is nearly always empty or short.
#include "base/alloc.h"
#include "base/arena.h"
#include "state/backends/rocksdb/rocks.h"

#include <assert.h>
#include <string.h>

enum { GET_CHUNK = 256 };

// Prefixes of dead windows, ascending.
struct dead_list {
    unsigned char *prefixes;
    size_t count;
};

struct snapshot_part {
    const struct rocks_table *table;
    struct dead_list dead;
};

struct rocks_snapshot {
    struct backend_snapshot base;
    struct rocks *owner;
    const rocksdb_snapshot_t *snapshot;  // NULL: there was no database yet
    size_t part_count, part_cap;
    struct snapshot_part *parts;  // tables with dead windows
};

struct rocks_iter {
    struct backend_iter base;
    const char *table_name;
    rocksdb_iterator_t *iter;  // NULL: nothing to read
    rocksdb_readoptions_t *options;
    bool fresh;  // the iterator stands on an entry that next has not given yet
    struct dead_list dead;
    unsigned char live[WINDOW_PREFIX];  // a prefix known not to be dead
    bool has_live;
    bool is_malformed;
    size_t lower_len, upper_len;
    char bounds[];  // lower, then upper: RocksDB borrows them
};

static bool is_dead(const struct dead_list *dead, const unsigned char *prefix) {
    size_t low = 0, high = dead->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(dead->prefixes + middle * WINDOW_PREFIX, prefix, WINDOW_PREFIX);
        if (order == 0) return true;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

// --- snapshots

struct backend_snapshot *tide__rocks_snapshot_new(struct backend *base) {
    struct rocks *rocks = (struct rocks *)base;
    struct rocks_snapshot *snapshot = tide__calloc(1, sizeof *snapshot);
    snapshot->base.ops = &tide__rocksdb_backend;
    snapshot->owner = rocks;
    if (!rocks->db) return &snapshot->base;
    atomic_fetch_add(&rocks->snapshots, 1);
    snapshot->snapshot = rocksdb_create_snapshot(rocks->db);
    pthread_mutex_lock(&rocks->lock);
    for (struct rocks_table *table = rocks->tables; table; table = table->next) {
        struct dead_list dead;
        dead.prefixes = tide__windows_copy_dead(&table->windows, &dead.count);
        if (!dead.prefixes) continue;
        snapshot->parts = tide__grow(snapshot->parts, &snapshot->part_cap, snapshot->part_count + 1,
                                     sizeof *snapshot->parts);
        snapshot->parts[snapshot->part_count++] = (struct snapshot_part){table, dead};
    }
    pthread_mutex_unlock(&rocks->lock);
    return &snapshot->base;
}

void tide__rocks_snapshot_release(struct backend_snapshot *base) {
    struct rocks_snapshot *snapshot = (struct rocks_snapshot *)base;
    if (snapshot->snapshot) {
        rocksdb_release_snapshot(snapshot->owner->db, snapshot->snapshot);
        atomic_fetch_sub(&snapshot->owner->snapshots, 1);
    }
    for (size_t i = 0; i < snapshot->part_count; i++) tide__free(snapshot->parts[i].dead.prefixes);
    tide__free(snapshot->parts);
    tide__free(snapshot);
}

static struct dead_list copy_dead(struct rocks_table *table, const struct rocks_snapshot *snapshot) {
    struct dead_list copy = {0};
    if (!snapshot) {
        copy.prefixes = tide__windows_copy_dead(&table->windows, &copy.count);
        return copy;
    }
    for (size_t i = 0; i < snapshot->part_count; i++) {
        const struct snapshot_part *part = &snapshot->parts[i];
        if (part->table != table) continue;
        copy.count = part->dead.count;
        copy.prefixes = tide__alloc(copy.count * WINDOW_PREFIX);
        memcpy(copy.prefixes, part->dead.prefixes, copy.count * WINDOW_PREFIX);
    }
    return copy;
}

// --- iterators

tide_status tide__rocks_iter_open(struct backend_table *base, struct backend_snapshot *snapshot_base, struct str lower,
                                  struct str upper, struct backend_iter **out_iter, tide_error *err) {
    (void)err;
    struct rocks_table *table = (struct rocks_table *)base;
    struct rocks_snapshot *snapshot = (struct rocks_snapshot *)snapshot_base;
    struct rocks_iter *iter = tide__calloc(1, sizeof *iter + lower.len + upper.len);
    iter->base.ops = &tide__rocksdb_backend;
    iter->table_name = base->desc->name;
    iter->lower_len = lower.len;
    iter->upper_len = upper.len;
    if (lower.len) memcpy(iter->bounds, lower.data, lower.len);
    if (upper.len) memcpy(iter->bounds + lower.len, upper.data, upper.len);
    *out_iter = &iter->base;
    rocksdb_column_family_handle_t *cf = table->cf;
    bool is_empty = upper.len > 0 && tide__str_cmp(lower, upper) >= 0;
    if (!cf || (snapshot && !snapshot->snapshot) || is_empty) return TIDE_OK;

    iter->options = rocksdb_readoptions_create();
    if (snapshot) rocksdb_readoptions_set_snapshot(iter->options, snapshot->snapshot);
    if (lower.len) rocksdb_readoptions_set_iterate_lower_bound(iter->options, iter->bounds, lower.len);
    if (upper.len) rocksdb_readoptions_set_iterate_upper_bound(iter->options, iter->bounds + lower.len, upper.len);
    rocksdb_readoptions_set_fill_cache(iter->options, 0);  // a scan reads a block once
    pthread_rwlock_rdlock(&table->lock);
    iter->dead = copy_dead(table, snapshot);
    iter->iter = rocksdb_create_iterator_cf(table->owner->db, iter->options, cf);
    pthread_rwlock_unlock(&table->lock);
    rocksdb_iter_seek(iter->iter, iter->bounds, lower.len);
    iter->fresh = true;
    return TIDE_OK;
}

static struct str current_key(const struct rocks_iter *iter) {
    struct str key;
    key.data = rocksdb_iter_key(iter->iter, &key.len);
    return key;
}

// Leaves dead windows. False at the end.
static bool reach_living(struct rocks_iter *iter) {
    while (rocksdb_iter_valid(iter->iter)) {
        if (iter->dead.count == 0) return true;
        struct str key = current_key(iter);
        const unsigned char *prefix = (const unsigned char *)key.data;
        if (key.len < WINDOW_PREFIX) return true;
        if (iter->has_live && memcmp(prefix, iter->live, WINDOW_PREFIX) == 0) return true;
        if (!is_dead(&iter->dead, prefix)) {
            memcpy(iter->live, prefix, WINDOW_PREFIX);
            iter->has_live = true;
            return true;
        }
        unsigned char next[WINDOW_PREFIX];
        if (!tide__windows_successor(prefix, next)) return false;
        rocksdb_iter_seek(iter->iter, (const char *)next, WINDOW_PREFIX);
    }
    return false;
}

bool tide__rocks_iter_next(struct backend_iter *base, struct str *out_key, struct str *out_value) {
    struct rocks_iter *iter = (struct rocks_iter *)base;
    if (!iter->iter) return false;
    if (!iter->fresh && rocksdb_iter_valid(iter->iter)) rocksdb_iter_next(iter->iter);
    iter->fresh = false;
    if (!reach_living(iter)) return false;
    *out_key = current_key(iter);
    struct str value;
    value.data = rocksdb_iter_value(iter->iter, &value.len);
    if (value.len == 0) {
        iter->is_malformed = true;
        return false;
    }
    *out_value = (struct str){value.data + 1, value.len - 1};
    return true;
}

void tide__rocks_iter_seek(struct backend_iter *base, struct str key) {
    struct rocks_iter *iter = (struct rocks_iter *)base;
    if (!iter->iter || !rocksdb_iter_valid(iter->iter)) return;
    if (tide__str_cmp(current_key(iter), key) >= 0) return;  // only forward
    rocksdb_iter_seek(iter->iter, key.data, key.len);
    iter->fresh = true;
}

tide_status tide__rocks_iter_close(struct backend_iter *base, tide_error *err) {
    struct rocks_iter *iter = (struct rocks_iter *)base;
    tide_status status = TIDE_OK;
    if (iter->is_malformed)
        status = tide__fail(err, TIDE_ERR_IO, "malformed value in state table %s", iter->table_name);
    if (iter->iter) {
        char *message = NULL;
        rocksdb_iter_get_error(iter->iter, &message);
        if (message) status = tide__rocks_fail(message, err, "cannot read the working state");
        rocksdb_iter_destroy(iter->iter);
    }
    if (iter->options) rocksdb_readoptions_destroy(iter->options);
    tide__free(iter->dead.prefixes);
    tide__free(iter);
    return status;
}

// --- point reads

static tide_status take_value(rocksdb_pinnableslice_t *slice, struct arena *arena, struct str *out_value,
                              const char *table_name, tide_error *err) {
    size_t len;
    const char *data = rocksdb_pinnableslice_value(slice, &len);
    if (len == 0) return tide__fail(err, TIDE_ERR_IO, "malformed value in state table %s", table_name);
    *out_value = (struct str){tide__arena_strndup(arena, data + 1, len - 1), len - 1};
    return TIDE_OK;
}

static tide_status get_chunk(struct rocks_table *table, rocksdb_readoptions_t *options, const struct str *keys,
                             size_t n, const struct dead_list *dead, struct arena *arena, struct str *out_values,
                             tide_error *err) {
    assert(n <= GET_CHUNK);
    const char *data[GET_CHUNK] = {NULL};
    size_t lengths[GET_CHUNK] = {0};
    rocksdb_pinnableslice_t *slices[GET_CHUNK] = {NULL};
    char *messages[GET_CHUNK] = {NULL};
    for (size_t i = 0; i < n; i++) {
        data[i] = keys[i].data;
        lengths[i] = keys[i].len;
    }
    rocksdb_batched_multi_get_cf(table->owner->db, options, table->cf, n, data, lengths, slices, messages, true);
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < n; i++) {
        out_values[i] = (struct str){NULL, 0};
        if (messages[i]) status = tide__rocks_fail(messages[i], err, "cannot read the working state");
        if (!slices[i]) continue;
        bool hidden = keys[i].len >= WINDOW_PREFIX && is_dead(dead, (const unsigned char *)keys[i].data);
        if (status == TIDE_OK && !hidden)
            status = take_value(slices[i], arena, &out_values[i], table->base.desc->name, err);
        rocksdb_pinnableslice_destroy(slices[i]);
    }
    return status;
}

tide_status tide__rocks_multi_get(struct backend_table *base, const struct str *keys, size_t n, struct arena *arena,
                                  struct str *out_values, tide_error *err) {
    struct rocks_table *table = (struct rocks_table *)base;
    if (!table->cf) {
        for (size_t i = 0; i < n; i++) out_values[i] = (struct str){NULL, 0};
        return TIDE_OK;
    }
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    tide_status status = TIDE_OK;
    pthread_rwlock_rdlock(&table->lock);
    struct dead_list dead = copy_dead(table, NULL);
    for (size_t at = 0; status == TIDE_OK && at < n; at += GET_CHUNK) {
        size_t count = n - at < GET_CHUNK ? n - at : GET_CHUNK;
        status = get_chunk(table, options, keys + at, count, &dead, arena, out_values + at, err);
    }
    pthread_rwlock_unlock(&table->lock);
    tide__free(dead.prefixes);
    rocksdb_readoptions_destroy(options);
    return status;
}
