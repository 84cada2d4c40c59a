// Writing a sorted run as SST files and ingesting them.
//
// How a run is cut into files decides how cheaply its windows can be dropped: a window of 1 MiB or more has files of its
// own, smaller ones share a file of up to 1 MiB. Whether a window is small is known only at its end, so the
// entries of a window that could share are held back until then.
#include "base/alloc.h"
#include "base/hash.h"
#include "base/killpoint.h"
#include "state/backends/rocksdb/rocks.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

void tide__run_writer_init(struct run_writer *writer, struct rocks_table *table) {
    *writer = (struct run_writer){.table = table, .only_concat = table->only_concat};
}

static tide_status close_file(struct run_writer *writer, tide_error *err) {
    if (!writer->is_open) return TIDE_OK;
    char *message = NULL;
    rocksdb_sstfilewriter_finish(writer->sst, &message);
    writer->is_open = false;
    writer->file_bytes = 0;
    if (message) return tide__rocks_fail(message, err, "cannot write a run of state");
    return TIDE_OK;
}

static tide_status open_file(struct run_writer *writer, tide_error *err) {
    if (writer->is_open) return TIDE_OK;
    struct rocks *rocks = writer->table->owner;
    if (!writer->sst) writer->sst = rocksdb_sstfilewriter_create(rocks->env_options, writer->table->options);
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/run-%llu.sst", rocks->dir, (unsigned long long)rocks->next_file++);
    char *message = NULL;
    rocksdb_sstfilewriter_open(writer->sst, path.data, &message);
    writer->files = tide__grow(writer->files, &writer->file_cap, writer->file_count + 1, sizeof *writer->files);
    writer->files[writer->file_count++] = path.data;
    if (message) return tide__rocks_fail(message, err, "cannot write a run of state");
    writer->is_open = true;
    return TIDE_OK;
}

static tide_status emit(struct run_writer *writer, enum rocks_write write, struct str key, struct str value,
                        tide_error *err) {
    if (writer->file_bytes >= FILE_MAX) TIDE_TRY(close_file(writer, err));
    TIDE_TRY(open_file(writer, err));
    char *message = NULL;
    switch (write) {
    case ROCKS_PUT: rocksdb_sstfilewriter_put(writer->sst, key.data, key.len, value.data, value.len, &message); break;
    case ROCKS_MERGE:
        rocksdb_sstfilewriter_merge(writer->sst, key.data, key.len, value.data, value.len, &message);
        break;
    case ROCKS_DELETE: rocksdb_sstfilewriter_delete(writer->sst, key.data, key.len, &message); break;
    }
    if (message) return tide__rocks_fail(message, err, "cannot write a run of state");
    writer->file_bytes += key.len + value.len;
    return TIDE_OK;
}

// A held-back entry: this header, then key and value.
struct staged {
    uint32_t write, key_len, value_len;
};

static void stage(struct run_writer *writer, enum rocks_write write, struct str key, struct str value) {
    struct staged header = {write, (uint32_t)key.len, (uint32_t)value.len};
    char *to = tide__strbuf_reserve(&writer->stage, sizeof header + key.len + value.len);
    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, key.data, key.len);
    if (value.len) memcpy(to + sizeof header + key.len, value.data, value.len);
    writer->stage.len += sizeof header + key.len + value.len;
}

static tide_status emit_staged(struct run_writer *writer, tide_error *err) {
    writer->staging = false;
    for (size_t at = 0; at < writer->stage.len;) {
        struct staged header;
        memcpy(&header, writer->stage.data + at, sizeof header);
        struct str key = {writer->stage.data + at + sizeof header, header.key_len};
        struct str value = {key.data + key.len, header.value_len};
        TIDE_TRY(emit(writer, (enum rocks_write)header.write, key, value, err));
        at += sizeof header + key.len + value.len;
    }
    tide__strbuf_clear(&writer->stage);
    return TIDE_OK;
}

static tide_status end_window(struct run_writer *writer, tide_error *err) {
    struct window_note *note = writer->note_count > 0 ? &writer->notes[writer->note_count - 1] : NULL;
    if (writer->table->windowed && note != NULL && note->sketch == NULL && note->bytes >= SKETCHED_FROM) {
        note->sketch = tide__alloc(sizeof *note->sketch);
        *note->sketch = writer->sketch;
    }
    if (writer->staging && writer->file_bytes + writer->stage.len > SHARED_FILE_MAX) TIDE_TRY(close_file(writer, err));
    TIDE_TRY(emit_staged(writer, err));
    if (writer->file_bytes >= SHARED_FILE_MAX) TIDE_TRY(close_file(writer, err));
    return TIDE_OK;
}

static tide_status begin_window(struct run_writer *writer, const unsigned char *prefix, tide_error *err) {
    TIDE_TRY(end_window(writer, err));
    writer->staging = writer->is_open;
    writer->notes = tide__grow(writer->notes, &writer->note_cap, writer->note_count + 1, sizeof *writer->notes);
    struct window_note *note = &writer->notes[writer->note_count++];
    *note = (struct window_note){0};
    memcpy(note->prefix, prefix, WINDOW_PREFIX);
    writer->sketch = (struct sketch){0};
    return TIDE_OK;
}

static bool is_new_window(const struct run_writer *writer, struct str key) {
    if (writer->note_count == 0) return true;
    if (!writer->table->windowed) return false;
    return memcmp(writer->notes[writer->note_count - 1].prefix, key.data, WINDOW_PREFIX) != 0;
}

// What an entry takes on disk: keys share the window's bounds with the one before, and have a trailer and lengths.
static void note_entry(struct run_writer *writer, enum rocks_write write, struct str key, struct str value) {
    enum { ENTRY_BYTES = 11 };
    struct window_note *note = &writer->notes[writer->note_count - 1];
    size_t key_bytes = key.len + ENTRY_BYTES - (writer->table->windowed ? WINDOW_PREFIX : 0);
    note->bytes += key_bytes + value.len;
    note->entries++;
    note->spare += key_bytes + (write == ROCKS_MERGE && writer->only_concat ? 0 : value.len);
    if (writer->table->windowed) tide__sketch_add(&writer->sketch, tide__hash_bytes(key.data, key.len));
}

tide_status tide__run_writer_add(struct run_writer *writer, enum rocks_write write, struct str key, struct str value,
                                 tide_error *err) {
    if (is_new_window(writer, key)) {
        unsigned char prefix[WINDOW_PREFIX];
        tide__windows_prefix(writer->table->windowed, key, prefix);
        TIDE_TRY(begin_window(writer, prefix, err));
    }
    note_entry(writer, write, key, value);
    writer->entries++;
    writer->bytes += key.len + value.len;
    if (!writer->staging) return emit(writer, write, key, value, err);
    stage(writer, write, key, value);
    if (writer->stage.len < SHARED_FILE_MAX) return TIDE_OK;
    // A large one after all: it gets files of its own.
    TIDE_TRY(close_file(writer, err));
    return emit_staged(writer, err);
}

tide_status tide__run_writer_finish(struct run_writer *writer, tide_error *err) {
    TIDE_TRY(end_window(writer, err));
    return close_file(writer, err);
}

tide_status tide__run_writer_ingest(struct run_writer *writer, tide_error *err) {
    assert(!writer->is_open && !writer->staging);
    if (writer->file_count == 0) return TIDE_OK;
    struct rocks *rocks = writer->table->owner;
    tide__kill_point("state.ingesting");
    char *message = NULL;
    rocksdb_ingest_external_file_cf(rocks->db, writer->table->cf, (const char *const *)writer->files,
                                    writer->file_count, rocks->ingest, &message);
    if (message) return tide__rocks_fail(message, err, "cannot ingest a run of state");
    return TIDE_OK;
}

void tide__run_writer_deinit(struct run_writer *writer) {
    if (writer->sst) rocksdb_sstfilewriter_destroy(writer->sst);
    for (size_t i = 0; i < writer->file_count; i++) {
        unlink(writer->files[i]);  // fails for those that were ingested: they have moved
        tide__free(writer->files[i]);
    }
    tide__free(writer->files);
    for (size_t i = 0; i < writer->note_count; i++) tide__free(writer->notes[i].sketch);
    tide__free(writer->notes);
    tide__strbuf_deinit(&writer->stage);
}

// A window that was dropped is written again: what is left of it in the files must go for good.
static tide_status revive(struct rocks_table *table, const unsigned char *prefix, tide_error *err) {
    unsigned char end[WINDOW_PREFIX];
    struct str upper = {NULL, 0};
    if (tide__windows_successor(prefix, end)) upper = (struct str){(const char *)end, WINDOW_PREFIX};
    TIDE_TRY(tide__rocks_delete_range(table, (struct str){(const char *)prefix, WINDOW_PREFIX}, upper, err));
    pthread_rwlock_wrlock(&table->lock);
    tide__windows_erase(&table->windows, tide__windows_lower_bound(&table->windows, prefix), 1);
    pthread_rwlock_unlock(&table->lock);
    return TIDE_OK;
}

// Whether the files hold nothing of the key's window. Adding to nothing is the value itself, so that all entries of a
// window's first run are whole values: most windows have no other run, and stock tools read them.
static tide_status find_fresh(struct rocks_table *table, struct str key, bool *out_fresh, tide_error *err) {
    unsigned char prefix[WINDOW_PREFIX];
    tide__windows_prefix(table->windowed, key, prefix);
    const struct window *window = tide__windows_find(&table->windows, prefix);
    *out_fresh = !window || window->dead;
    return window && window->dead ? revive(table, prefix, err) : TIDE_OK;
}

static tide_status write_entries(struct run_writer *writer, struct state_source *source, struct state_entry entry,
                                 struct strbuf *value, tide_error *err) {
    bool fresh = false;
    unsigned char window[WINDOW_PREFIX] = {0};
    bool first = true;
    do {
        if (writer->table->windowed && entry.key.len < WINDOW_PREFIX)
            return tide__fail(err, TIDE_ERR_RUNTIME, "a key of state table %s has no window",
                              writer->table->base.desc->name);
        if (first || (writer->table->windowed && memcmp(window, entry.key.data, WINDOW_PREFIX) != 0)) {
            if (writer->table->windowed) memcpy(window, entry.key.data, WINDOW_PREFIX);
            TIDE_TRY(find_fresh(writer->table, entry.key, &fresh, err));
            first = false;
        }
        bool is_add = entry.op == STATE_ADD && !fresh;
        if (entry.op == STATE_DELETE) {
            if (!fresh) TIDE_TRY(tide__run_writer_add(writer, ROCKS_DELETE, entry.key, (struct str){NULL, 0}, err));
            continue;
        }
        char *to = entry.has_room ? (char *)(uintptr_t)(entry.value.data - 1)
                                  : tide__strbuf_reserve(value, entry.value.len + 1);
        to[0] = is_add ? VALUE_ADD : VALUE_REPLACE;
        if (entry.value.len && !entry.has_room) memcpy(to + 1, entry.value.data, entry.value.len);
        struct str with_header = {to, entry.value.len + 1};
        TIDE_TRY(tide__run_writer_add(writer, is_add ? ROCKS_MERGE : ROCKS_PUT, entry.key, with_header, err));
    } while (source->next(source, &entry));
    return TIDE_OK;
}

tide_status tide__rocks_write_run(struct backend_table *base, struct state_source *source,
                                  struct backend_counts *out_counts, tide_error *err) {
    struct rocks_table *table = (struct rocks_table *)base;
    struct state_entry entry = {0};
    if (!source->next(source, &entry)) return TIDE_OK;
    tide__kill_point("state.sealing");
    TIDE_TRY(tide__rocks_prepare(table, err));
    struct strbuf value = {0};
    struct run_writer writer;
    tide__run_writer_init(&writer, table);
    tide_status status = write_entries(&writer, source, entry, &value, err);
    if (status == TIDE_OK) status = tide__run_writer_finish(&writer, err);
    if (status == TIDE_OK) status = tide__run_writer_ingest(&writer, err);
    if (status == TIDE_OK) {
        pthread_rwlock_wrlock(&table->lock);
        for (size_t i = 0; i < writer.note_count; i++) {
            const struct window *window = tide__windows_add_run(&table->windows, &writer.notes[i]);
            table->fold_due |= tide__windows_wants_fold(table, window);
        }
        pthread_rwlock_unlock(&table->lock);
        out_counts->entries += writer.entries;
        out_counts->bytes += writer.bytes;
    }
    tide__run_writer_deinit(&writer);
    tide__strbuf_deinit(&value);
    return status;
}
