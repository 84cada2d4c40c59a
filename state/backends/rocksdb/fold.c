// Merging runs, dropping windows, and getting the space back.
//
// RocksDB can delete files that lie wholly in a range, atomically and without reading them; it cannot take back part of
// a file. So:
//
//   drop   the windows are marked dead, which hides them from readers at once
//   purge  files that hold nothing but dead windows are deleted; what is left shares files with the living
//   fold   a range of windows and everything else that lies in their files is read merged, written anew without the dead,
//          and exchanged for the old files
//
// A fold works on a *closure*: a key range that no file straddles. Deleting all files in it then deletes all data in
// it, never a part of a key's increments. Readers are kept from opening iterators between the deletion and the
// ingestion; those that are open keep the old files. Snapshots do not, so none of this happens while there are any.
#include "base/alloc.h"
#include "state/backends/rocksdb/rocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIB = 1 << 20,
    PURGE_COUNT = 256,  // dead windows that make a purge worth it between barriers
    PURGE_BYTES = 4 * MIB,
    GARBAGE_MAX = 8 * MIB,    // dead bytes to live with anyway
    GROUP_BYTES = 256 * MIB,  // neighbouring windows that are folded together
    TAIL = 64,
};

struct file_range {
    struct str low, high;  // malloced by RocksDB
    uint64_t bytes;
    bool level0, taken;
};

struct closure {
    struct file_range *files;
    size_t count, cap;
    struct str low, high;  // both inclusive; of the taken files
    uint64_t bytes;
    bool any, level0;
};

static struct str own_key(char *data, size_t len) {
    return (struct str){data, len};
}

static void load_level(struct closure *closure, rocksdb_level_metadata_t *level) {
    size_t count = rocksdb_level_metadata_get_file_count(level);
    for (size_t i = 0; i < count; i++) {
        rocksdb_sst_file_metadata_t *meta = rocksdb_level_metadata_get_sst_file_metadata(level, i);
        struct file_range file = {.level0 = rocksdb_level_metadata_get_level(level) == 0};
        size_t len;
        char *data = rocksdb_sst_file_metadata_get_smallestkey(meta, &len);
        file.low = own_key(data, len);
        data = rocksdb_sst_file_metadata_get_largestkey(meta, &len);
        file.high = own_key(data, len);
        file.bytes = rocksdb_sst_file_metadata_get_size(meta);
        rocksdb_sst_file_metadata_destroy(meta);
        closure->files = tide__grow(closure->files, &closure->cap, closure->count + 1, sizeof *closure->files);
        closure->files[closure->count++] = file;
    }
}

static void take(struct closure *closure, struct file_range *file) {
    file->taken = true;
    if (!closure->any || tide__str_cmp(file->low, closure->low) < 0) closure->low = file->low;
    if (!closure->any || tide__str_cmp(file->high, closure->high) > 0) closure->high = file->high;
    closure->any = true;
    closure->bytes += file->bytes;
    closure->level0 |= file->level0;
}

// All files that overlap [lower, upper), and all that overlap those.
static void find_closure(struct rocks_table *table, struct str lower, struct str upper, struct closure *closure) {
    *closure = (struct closure){0};
    rocksdb_column_family_metadata_t *meta = rocksdb_get_column_family_metadata_cf(table->owner->db, table->cf);
    size_t levels = rocksdb_column_family_metadata_get_level_count(meta);
    for (size_t i = 0; i < levels; i++) {
        rocksdb_level_metadata_t *level = rocksdb_column_family_metadata_get_level_metadata(meta, i);
        load_level(closure, level);
        rocksdb_level_metadata_destroy(level);
    }
    rocksdb_column_family_metadata_destroy(meta);
    for (size_t i = 0; i < closure->count; i++) {
        struct file_range *file = &closure->files[i];
        if (tide__str_cmp(file->high, lower) >= 0 && (upper.len == 0 || tide__str_cmp(file->low, upper) < 0))
            take(closure, file);
    }
    for (bool changed = closure->any; changed;) {
        changed = false;
        for (size_t i = 0; i < closure->count; i++) {
            struct file_range *file = &closure->files[i];
            if (file->taken || tide__str_cmp(file->high, closure->low) < 0 ||
                tide__str_cmp(file->low, closure->high) > 0)
                continue;
            take(closure, file);
            changed = true;
        }
    }
}

static void free_closure(struct closure *closure) {
    for (size_t i = 0; i < closure->count; i++) {
        rocksdb_free((void *)(uintptr_t)closure->files[i].low.data);
        rocksdb_free((void *)(uintptr_t)closure->files[i].high.data);
    }
    tide__free(closure->files);
}

// A key below `upper` that (nearly) all keys below it are not above: RocksDB's range of files includes its end.
static void append_just_below(struct str upper, struct strbuf *out) {
    tide__strbuf_append_str(out, upper);
    size_t last = out->len;
    while (last > 0 && out->data[last - 1] == 0) last--;
    out->len = last;
    if (last == 0) return;
    out->data[last - 1] = (char)((unsigned char)out->data[last - 1] - 1);
    memset(tide__strbuf_reserve(out, TAIL), 0xFF, TAIL);
    out->len += TAIL;
}

static struct strbuf end_key(struct str upper) {
    struct strbuf end = {0};
    if (upper.len > 0) {
        append_just_below(upper, &end);
    } else {
        memset(tide__strbuf_reserve(&end, 4 * TAIL), 0xFF, 4 * TAIL);
        end.len = 4 * TAIL;
    }
    return end;
}

static tide_status delete_files(struct rocks_table *table, struct str low, struct str high, tide_error *err) {
    char *message = NULL;
    rocksdb_delete_file_in_range_cf(table->owner->db, table->cf, low.data, low.len, high.data, high.len, &message);
    if (message) return tide__rocks_fail(message, err, "cannot drop files of the working state");
    return TIDE_OK;
}

tide_status tide__rocks_delete_range(struct rocks_table *table, struct str lower, struct str upper, tide_error *err) {
    struct rocks *rocks = table->owner;
    struct strbuf end = {0};
    if (upper.len > 0) {
        tide__strbuf_append_str(&end, upper);
    } else {
        end = end_key(upper);
    }
    char *message = NULL;
    rocksdb_delete_range_cf(rocks->db, rocks->no_wal, table->cf, lower.data ? lower.data : "", lower.len, end.data,
                            end.len, &message);
    tide__strbuf_deinit(&end);
    if (message) return tide__rocks_fail(message, err, "cannot drop a range of the working state");
    table->tombstones = true;
    return TIDE_OK;
}

// --- drop

static bool covers(struct str lower, struct str upper, const unsigned char *prefix) {
    unsigned char next[WINDOW_PREFIX];
    if (tide__str_cmp(lower, (struct str){(const char *)prefix, WINDOW_PREFIX}) > 0) return false;
    if (upper.len == 0) return true;
    return tide__windows_successor(prefix, next) &&
           tide__str_cmp((struct str){(const char *)next, WINDOW_PREFIX}, upper) <= 0;
}

// Marks the windows in the range dead. Sets out_partial if the range cuts a living window.
static size_t kill_windows(struct rocks_table *table, struct str lower, struct str upper, bool *out_partial) {
    unsigned char prefix[WINDOW_PREFIX];
    tide__windows_prefix(true, lower, prefix);
    struct windows *windows = &table->windows;
    size_t killed = 0;
    pthread_rwlock_wrlock(&table->lock);
    for (size_t i = tide__windows_lower_bound(windows, prefix); i < windows->count; i++) {
        struct window *window = &windows->items[i];
        struct str start = {(const char *)window->prefix, WINDOW_PREFIX};
        if (upper.len > 0 && tide__str_cmp(start, upper) >= 0) break;
        if (window->dead) continue;
        if (covers(lower, upper, window->prefix)) {
            tide__windows_kill(windows, window);
            killed++;
        } else {
            *out_partial = true;
        }
    }
    pthread_rwlock_unlock(&table->lock);
    return killed;
}

tide_status tide__rocks_drop_range(struct backend_table *base, struct str lower, struct str upper,
                                   struct backend_counts *out_counts, tide_error *err) {
    struct rocks_table *table = (struct rocks_table *)base;
    if (!table->cf || (upper.len > 0 && tide__str_cmp(lower, upper) >= 0)) return TIDE_OK;
    bool by_range = !table->windowed;
    if (table->windowed) out_counts->windows_dropped += kill_windows(table, lower, upper, &by_range);
    out_counts->ranges_dropped += by_range || out_counts->windows_dropped > 0;
    if (!by_range) return TIDE_OK;
    TIDE_TRY(tide__rocks_delete_range(table, lower, upper, err));
    if (table->owner->snapshots > 0) return TIDE_OK;
    struct strbuf end = end_key(upper);
    tide_status status = delete_files(table, lower, tide__strbuf_str(&end), err);
    tide__strbuf_deinit(&end);
    return status;
}

// --- fold

static rocksdb_iterator_t *open_raw(struct rocks_table *table, rocksdb_readoptions_t *options, struct str lower) {
    rocksdb_readoptions_set_fill_cache(options, 0);
    rocksdb_iterator_t *iter = rocksdb_create_iterator_cf(table->owner->db, options, table->cf);
    rocksdb_iter_seek(iter, lower.data ? lower.data : "", lower.len);
    return iter;
}

static tide_status close_raw(rocksdb_iterator_t *iter, rocksdb_readoptions_t *options, tide_error *err) {
    char *message = NULL;
    rocksdb_iter_get_error(iter, &message);
    rocksdb_iter_destroy(iter);
    rocksdb_readoptions_destroy(options);
    if (message) return tide__rocks_fail(message, err, "cannot read the working state");
    return TIDE_OK;
}

static bool is_dead_key(const struct rocks_table *table, struct str key) {
    unsigned char prefix[WINDOW_PREFIX];
    tide__windows_prefix(table->windowed, key, prefix);
    const struct window *window = tide__windows_find(&table->windows, prefix);
    return window && window->dead;
}

// Writes what lives between low and high (inclusive) as whole values.
static tide_status write_merged(struct run_writer *writer, const struct closure *closure, tide_error *err) {
    struct rocks_table *table = writer->table;
    struct strbuf upper = {0};
    tide__strbuf_append_str(&upper, closure->high);
    tide__strbuf_append_char(&upper, 0);
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_iterate_upper_bound(options, upper.data, upper.len);
    rocksdb_iterator_t *iter = open_raw(table, options, closure->low);
    tide_status status = TIDE_OK;
    unsigned char window[WINDOW_PREFIX];
    bool known = false, dead = false;
    for (; status == TIDE_OK && rocksdb_iter_valid(iter); rocksdb_iter_next(iter)) {
        struct str key, value;
        key.data = rocksdb_iter_key(iter, &key.len);
        if (table->windowed && (!known || memcmp(window, key.data, WINDOW_PREFIX) != 0)) {
            tide__windows_prefix(true, key, window);
            dead = is_dead_key(table, key);
            known = true;
        }
        if (dead) continue;
        value.data = rocksdb_iter_value(iter, &value.len);
        status = tide__run_writer_add(writer, ROCKS_PUT, key, value, err);
    }
    tide_status read_status = close_raw(iter, options, err);
    tide__strbuf_deinit(&upper);
    if (status == TIDE_OK) status = read_status;
    return status == TIDE_OK ? tide__run_writer_finish(writer, err) : status;
}

static struct window_note *find_note(const struct run_writer *writer, const unsigned char *prefix) {
    size_t low = 0, high = writer->note_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(writer->notes[middle].prefix, prefix, WINDOW_PREFIX);
        if (order == 0) return &writer->notes[middle];
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

// The windows first..last now are what the writer wrote. Others that shared their files keep their counts, which are
// then too high: they are folded earlier than needed.
static void note_folded(struct rocks_table *table, size_t first, size_t last, struct run_writer *writer) {
    for (size_t i = last + 1; i-- > first;) {
        struct window *window = &table->windows.items[i];
        struct window_note *note = window->dead ? NULL : find_note(writer, window->prefix);
        if (note) {
            tide__windows_set_merged(&table->windows, window, note);
        } else {
            tide__windows_erase(&table->windows, i, 1);
        }
    }
}

static tide_status exchange(struct rocks_table *table, size_t first, size_t last, const struct closure *closure,
                            struct run_writer *writer, tide_error *err) {
    pthread_rwlock_wrlock(&table->lock);
    tide_status status = delete_files(table, closure->low, closure->high, err);
    if (status == TIDE_OK) status = tide__run_writer_ingest(writer, err);
    if (status == TIDE_OK) note_folded(table, first, last, writer);
    pthread_rwlock_unlock(&table->lock);
    return status;
}

// Files of level 0 cannot be deleted by range. They come of range deletions (rare) and of more runs than there are levels,
// under a long-lived snapshot. RocksDB merges them; it costs more, and it respects snapshots.
static void compact(struct rocks_table *table, size_t first, size_t last, const struct closure *closure) {
    rocksdb_compact_range_cf(table->owner->db, table->cf, closure->low.data, closure->low.len, closure->high.data,
                             closure->high.len);
    pthread_rwlock_wrlock(&table->lock);
    for (size_t i = first; i <= last; i++) {
        struct window *window = &table->windows.items[i];
        struct window_note note = {.bytes = window->base + window->delta, .entries = window->base_entries};
        if (!window->dead) tide__windows_set_merged(&table->windows, window, &note);
    }
    pthread_rwlock_unlock(&table->lock);
}

// Merges the windows first..last into one run. Does nothing when that means rewriting more than bytes_max.
static tide_status fold(struct rocks_table *table, size_t first, size_t last, uint64_t bytes_max, tide_error *err) {
    assert(first <= last && last < table->windows.count && table->owner->snapshots == 0);
    unsigned char low[WINDOW_PREFIX], high[WINDOW_PREFIX];
    struct str lower = {NULL, 0}, upper = {NULL, 0};
    if (table->windowed) {
        memcpy(low, table->windows.items[first].prefix, WINDOW_PREFIX);
        lower = (struct str){(const char *)low, WINDOW_PREFIX};
        if (tide__windows_successor(table->windows.items[last].prefix, high))
            upper = (struct str){(const char *)high, WINDOW_PREFIX};
    }
    struct closure closure;
    find_closure(table, lower, upper, &closure);
    tide_status status = TIDE_OK;
    struct run_writer writer;
    tide__run_writer_init(&writer, table);
    if (!closure.any) {  // every file of theirs is gone already
        pthread_rwlock_wrlock(&table->lock);
        note_folded(table, first, last, &writer);
        pthread_rwlock_unlock(&table->lock);
    } else if (closure.bytes <= bytes_max && closure.level0) {
        compact(table, first, last, &closure);
    } else if (closure.bytes <= bytes_max) {
        status = write_merged(&writer, &closure, err);
        if (status == TIDE_OK) status = exchange(table, first, last, &closure, &writer, err);
    }
    tide__run_writer_deinit(&writer);
    free_closure(&closure);
    return status;
}

static tide_status fold_due_windows(struct rocks_table *table, tide_error *err) {
    struct windows *windows = &table->windows;
    table->fold_due = false;
    for (size_t i = 0; i < windows->count; i++) {
        if (!tide__windows_wants_fold(table, &windows->items[i])) continue;
        // Neighbours are mostly as far and share files.
        size_t last = i;
        uint64_t bytes = windows->items[i].base + windows->items[i].delta;
        while (last + 1 < windows->count && bytes < GROUP_BYTES &&
               (windows->items[last + 1].runs > 2 || windows->items[last + 1].dead)) {
            last++;
            bytes += windows->items[last].base + windows->items[last].delta;
        }
        size_t after = windows->count - 1 - last;
        TIDE_TRY(fold(table, i, last, UINT64_MAX, err));
        i = windows->count - after - 1;  // some of the group may be gone
    }
    return TIDE_OK;
}

// --- purge

// Erases what of the dead windows first..end-1 is no longer in any file; *end moves along.
static tide_status erase_gone(struct rocks_table *table, size_t first, size_t *end, struct str lower, struct str upper,
                              tide_error *err) {
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    if (upper.len > 0) rocksdb_readoptions_set_iterate_upper_bound(options, upper.data, upper.len);
    rocksdb_iterator_t *iter = open_raw(table, options, lower);
    size_t gone = *end - first;
    if (rocksdb_iter_valid(iter)) {
        struct str key;
        key.data = rocksdb_iter_key(iter, &key.len);
        unsigned char prefix[WINDOW_PREFIX];
        tide__windows_prefix(true, key, prefix);
        size_t at = tide__windows_lower_bound(&table->windows, prefix);
        gone = at > first ? at - first : 0;
    }
    TIDE_TRY(close_raw(iter, options, err));
    pthread_rwlock_wrlock(&table->lock);
    tide__windows_erase(&table->windows, first, gone);
    pthread_rwlock_unlock(&table->lock);
    *end -= gone;
    return TIDE_OK;
}

// Deletes the files of dead windows. With `thorough`, also rewrites files that they share with living ones unless
// that is out of proportion.
static tide_status purge(struct rocks_table *table, bool thorough, tide_error *err) {
    struct windows *windows = &table->windows;
    for (size_t first = 0; first < windows->count; first++) {
        if (!windows->items[first].dead) continue;
        size_t end = first + 1;
        while (end < windows->count && windows->items[end].dead) end++;
        unsigned char low[WINDOW_PREFIX], high[WINDOW_PREFIX];
        memcpy(low, windows->items[first].prefix, WINDOW_PREFIX);
        struct str lower = {(const char *)low, WINDOW_PREFIX}, upper = {NULL, 0};
        if (tide__windows_successor(windows->items[end - 1].prefix, high))
            upper = (struct str){(const char *)high, WINDOW_PREFIX};
        struct strbuf last = end_key(upper);
        tide_status status = delete_files(table, lower, tide__strbuf_str(&last), err);
        tide__strbuf_deinit(&last);
        if (status == TIDE_OK) status = erase_gone(table, first, &end, lower, upper, err);
        TIDE_TRY(status);
        uint64_t dead = 0;
        for (size_t i = first; i < end; i++) dead += windows->items[i].base + windows->items[i].delta;
        bool is_garbage = windows->dead_bytes > GARBAGE_MAX && windows->dead_bytes > windows->live_bytes / 2;
        size_t after = windows->count - end;
        if (first < end && is_garbage)
            TIDE_TRY(fold(table, first, end - 1, UINT64_MAX, err));
        else if (first < end && thorough)
            TIDE_TRY(fold(table, first, end - 1, 4 * dead > GARBAGE_MAX ? 4 * dead : GARBAGE_MAX, err));
        first = windows->count - after;  // the window behind the gap lives: the loop steps over it
    }
    table->purged_dead_count = windows->dead_count;
    table->purged_dead_bytes = windows->dead_bytes;
    return TIDE_OK;
}

static tide_status settle_table(struct rocks_table *table, enum backend_moment moment, tide_error *err) {
    bool barrier = moment == BACKEND_BEFORE_BARRIER;
    const struct windows *windows = &table->windows;
    if (table->owner->snapshots == 0) {
        bool purge_due = windows->dead_count >= table->purged_dead_count + PURGE_COUNT ||
                         windows->dead_bytes >= table->purged_dead_bytes + PURGE_BYTES;
        if (windows->dead_count > 0 && (barrier || purge_due)) TIDE_TRY(purge(table, barrier, err));
        if (table->fold_due) TIDE_TRY(fold_due_windows(table, err));
    }
    if (!barrier || !table->tombstones) return TIDE_OK;
    char *message = NULL;
    rocksdb_flush_cf(table->owner->db, table->owner->flush, table->cf, &message);
    if (message) return tide__rocks_fail(message, err, "cannot write the working state");
    table->tombstones = false;
    return TIDE_OK;
}

tide_status tide__rocks_settle(struct backend *base, enum backend_moment moment, tide_error *err) {
    struct rocks *rocks = (struct rocks *)base;
    pthread_mutex_lock(&rocks->lock);
    struct rocks_table *table = rocks->tables;
    pthread_mutex_unlock(&rocks->lock);
    // New tables are put in front, so that the rest of the list does not change.
    for (; table; table = table->next) {
        if (table->cf) TIDE_TRY(settle_table(table, moment, err));
    }
    return TIDE_OK;
}
