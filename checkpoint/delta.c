// Collecting a delta while the state is written: each run becomes a section of chunks, each dropped range a line of the
// manifest. What is not worth keeping is noticed early: the next checkpoint is a full one then.
#include "checkpoint/delta.h"

#include "base/alloc.h"
#include "base/killpoint.h"
#include "checkpoint/window_set.h"
#include "checkpoint/writer.h"

#include <assert.h>

#define DROPS_MAX ((size_t)100000)  // a line of the manifest each

struct delta_table {
    uint64_t entries, key_bytes, value_bytes;
    struct window_set windows;
};

struct delta_writer {
    struct state_watcher watcher;
    struct state_store *store;
    char *beside;
    uint64_t bytes_max;
    size_t runs_max, runs;
    bool useless, is_open;  // is_open: the file is there
    struct file_writer file;
    struct savepoint_section *sections;
    size_t section_count, section_cap;
    struct delta_table *tables;
    size_t table_count;
    // The run in hand.
    bool in_run;
    uint32_t table;
    struct savepoint_chunk *chunks;
    size_t chunk_count, chunk_cap;
    struct window_list windows;
};

static void give_up(struct delta_writer *delta) {
    delta->useless = true;
    if (delta->is_open) tide__file_writer_deinit(&delta->file);
    delta->is_open = false;
}

static tide_status open_file(struct delta_writer *delta, tide_error *err) {
    if (delta->is_open) return TIDE_OK;
    delta->is_open = true;
    return tide__file_writer_open(&delta->file, delta->beside, delta->beside, SAVEPOINT_FLAG_DELTA, err);
}

static uint32_t table_index(const struct delta_writer *delta, const struct state_table *table) {
    size_t i = 0;
    while (tide__state_table_at(delta->store, i) != table) i++;
    return (uint32_t)i;
}

static struct savepoint_section *add_section(struct delta_writer *delta, uint32_t table) {
    delta->sections = tide__grow(delta->sections, &delta->section_cap, delta->section_count + 1,
                                 sizeof *delta->sections);
    struct savepoint_section *section = &delta->sections[delta->section_count++];
    *section = (struct savepoint_section){.table = table};
    return section;
}

// --- runs ---------------------------------------------------------------------------------------------------------

static tide_status begin_run(struct delta_writer *delta, const struct state_table *table, tide_error *err) {
    TIDE_TRY(open_file(delta, err));
    delta->in_run = true;
    delta->table = table_index(delta, table);
    delta->chunk_count = 0;
    delta->windows.count = 0;
    delta->file.chunk.with_ops = true;
    delta->file.chunk.table = delta->table;
    tide__chunk_clear(&delta->file.chunk);
    if (++delta->runs > delta->runs_max) return tide__fail(err, TIDE_ERR_IO, "too many runs for a delta");
    return TIDE_OK;
}

static tide_status put_chunk(struct delta_writer *delta, tide_error *err) {
    if (delta->file.chunk.entries == 0) return TIDE_OK;
    delta->chunks = tide__grow(delta->chunks, &delta->chunk_cap, delta->chunk_count + 1, sizeof *delta->chunks);
    TIDE_TRY(tide__file_writer_put_chunk(&delta->file, &delta->chunks[delta->chunk_count++], err));
    tide__kill_point("delta.writing");
    if (delta->file.offset > delta->bytes_max) return tide__fail(err, TIDE_ERR_IO, "too large for a delta");
    return TIDE_OK;
}

static tide_status add_entry(struct delta_writer *delta, struct state_table *table, const struct state_entry *entry,
                             tide_error *err) {
    if (!delta->in_run) TIDE_TRY(begin_run(delta, table, err));
    const struct state_table_desc *desc = tide__state_table_desc(table);
    TIDE_TRY(tide__writer_check_entry(desc, entry, err));
    if (entry->op != STATE_DELETE) {
        struct delta_table *counts = &delta->tables[delta->table];
        size_t bytes = entry->key.len + entry->value.len;
        if (desc->kind == STATE_TABLE_WINDOWED) tide__window_list_count(&delta->windows, entry->key, bytes);
        counts->entries++;
        counts->key_bytes += entry->key.len;
        counts->value_bytes += entry->value.len;
    }
    if (tide__chunk_add_op(&delta->file.chunk, entry)) return TIDE_OK;
    TIDE_TRY(put_chunk(delta, err));
    bool fits = tide__chunk_add_op(&delta->file.chunk, entry);
    assert(fits);
    (void)fits;
    return TIDE_OK;
}

static void on_entry(struct state_watcher *watcher, struct state_table *table, const struct state_entry *entry) {
    struct delta_writer *delta = (struct delta_writer *)watcher;
    if (delta->useless) return;
    tide_error why;  // that a delta can't be had is no failure
    tide__error_clear(&why);
    if (add_entry(delta, table, entry, &why) != TIDE_OK) give_up(delta);
}

static void on_run_end(struct state_watcher *watcher, struct state_table *table) {
    (void)table;
    struct delta_writer *delta = (struct delta_writer *)watcher;
    if (!delta->in_run || delta->useless) return;
    delta->in_run = false;
    tide_error why;
    tide__error_clear(&why);
    if (put_chunk(delta, &why) != TIDE_OK) {
        give_up(delta);
        return;
    }
    struct savepoint_section *section = add_section(delta, delta->table);
    struct savepoint_chunk *chunks = ARENA_ARRAY(&delta->file.arena, struct savepoint_chunk, delta->chunk_count + 1);
    for (size_t i = 0; i < delta->chunk_count; i++) {
        chunks[i] = delta->chunks[i];
        section->entries += chunks[i].entries;
    }
    section->chunk_count = (uint32_t)delta->chunk_count;
    section->chunks = chunks;
    tide__window_set_add(&delta->tables[delta->table].windows, delta->windows.items, delta->windows.count);
}

static void on_drop(struct state_watcher *watcher, struct state_table *table, struct str lower, struct str upper) {
    struct delta_writer *delta = (struct delta_writer *)watcher;
    if (delta->useless) return;
    tide_error why;
    tide__error_clear(&why);
    if (delta->section_count - delta->runs > DROPS_MAX || open_file(delta, &why) != TIDE_OK) {
        give_up(delta);
        return;
    }
    struct savepoint_section *section = add_section(delta, table_index(delta, table));
    section->drop = true;
    section->lower = (struct str){tide__arena_strndup(&delta->file.arena, lower.data, lower.len), lower.len};
    section->upper = (struct str){tide__arena_strndup(&delta->file.arena, upper.data, upper.len), upper.len};
    tide__window_set_drop(&delta->tables[section->table].windows, lower, upper);
}

// --- the whole ----------------------------------------------------------------------------------------------------

struct delta_writer *tide__delta_new(struct state_store *store, const char *beside, uint64_t bytes_max,
                                     size_t runs_max) {
    struct delta_writer *delta = tide__calloc(1, sizeof *delta);
    delta->watcher = (struct state_watcher){.entry = on_entry, .run_end = on_run_end, .drop = on_drop};
    delta->store = store;
    delta->beside = tide__strdup(beside);
    delta->bytes_max = bytes_max;
    delta->runs_max = runs_max;
    delta->table_count = tide__state_table_count(store);
    delta->tables = tide__calloc(delta->table_count + 1, sizeof *delta->tables);
    for (size_t i = 0; i < delta->table_count; i++) tide__window_set_init(&delta->tables[i].windows, NULL);
    return delta;
}

struct state_watcher *tide__delta_watcher(struct delta_writer *delta) {
    return &delta->watcher;
}

bool tide__delta_is_useless(const struct delta_writer *delta) {
    return delta->useless;
}

size_t tide__delta_runs(const struct delta_writer *delta) {
    return delta->runs;
}

tide_status tide__delta_finish(struct delta_writer *delta, const char *path, const struct savepoint_info *given,
                               struct savepoint_written *out, tide_error *err) {
    assert(!delta->useless && !delta->in_run && given->depth > 0);
    TIDE_TRY(open_file(delta, err));
    struct file_writer *file = &delta->file;
    struct savepoint_table *tables = ARENA_ARRAY(&file->arena, struct savepoint_table, delta->table_count + 1);
    for (size_t i = 0; i < delta->table_count; i++) {
        const struct delta_table *from = &delta->tables[i];
        tables[i] = (struct savepoint_table){
            .desc = *tide__state_table_desc(tide__state_table_at(delta->store, i)),
            .entries = from->entries,
            .key_bytes = from->key_bytes,
            .value_bytes = from->value_bytes,
            .window_count = from->windows.count,
        };
        if (tables[i].desc.kind == STATE_TABLE_WINDOWED)
            tide__window_set_list(&from->windows, &file->arena, &tables[i]);
    }
    struct savepoint_info info = *given;
    info.table_count = delta->table_count;
    info.tables = tables;
    info.section_count = delta->section_count;
    info.sections = delta->sections;
    tide__free(file->path);
    file->path = tide__strdup(path);
    TIDE_TRY(tide__file_writer_finish(file, &info, err));
    *out = (struct savepoint_written){file->offset, file->manifest_checksum};
    return TIDE_OK;
}

void tide__delta_free(struct delta_writer *delta) {
    if (delta == NULL) return;
    if (delta->is_open) tide__file_writer_deinit(&delta->file);
    for (size_t i = 0; i < delta->table_count; i++) tide__window_set_deinit(&delta->tables[i].windows);
    tide__free(delta->tables);
    tide__free(delta->sections);
    tide__free(delta->chunks);
    tide__free(delta->windows.items);
    tide__free(delta->beside);
    tide__free(delta);
}
