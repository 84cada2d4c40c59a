// Writing a full savepoint: all tables, streamed chunk by chunk from a snapshot of the state or from another savepoint.
#include "base/alloc.h"
#include "checkpoint/key_ranges.h"
#include "checkpoint/reader.h"
#include "checkpoint/writer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// --- windows and entries ------------------------------------------------------------------------------------------

static int64_t window_bound(const char *at) {
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | (unsigned char)at[i];
    return (int64_t)(v ^ (UINT64_C(1) << 63));
}

void tide__window_list_count(struct window_list *list, struct str key, size_t bytes) {
    assert(key.len >= WINDOW_KEY_BYTES);
    if (list->count == 0 || memcmp(list->last, key.data, WINDOW_KEY_BYTES) != 0) {
        list->count++;
        memcpy(list->last, key.data, WINDOW_KEY_BYTES);
        if (list->count > SAVEPOINT_WINDOWS_MAX) return;
        list->items = tide__grow(list->items, &list->cap, list->count, sizeof *list->items);
        list->items[list->count - 1] = (struct savepoint_window){.start_ms = window_bound(key.data),
                                                                 .end_ms = window_bound(key.data + 8)};
    }
    if (list->count > SAVEPOINT_WINDOWS_MAX) return;
    list->items[list->count - 1].entries++;
    list->items[list->count - 1].bytes += bytes;
}

tide_status tide__writer_check_entry(const struct state_table_desc *desc, const struct state_entry *entry,
                                     tide_error *err) {
    if (entry->key.len + entry->value.len > CHUNK_RAW_LIMIT - CHUNK_OVERHEAD_MAX)
        return tide__fail(err, TIDE_ERR_RUNTIME, "state \"%s\" has an entry of %zu bytes, too large for a savepoint",
                          desc->name, entry->key.len + entry->value.len);
    // Better no savepoint than one that can't be restored.
    if (entry->op != STATE_DELETE && !tide__chunk_value_fits(desc, entry->value))
        return tide__fail(err, TIDE_ERR_RUNTIME, "state \"%s\" has a value that is not the fields it is described with",
                          desc->name);
    return TIDE_OK;
}

// --- a table ------------------------------------------------------------------------------------------------------

void tide__table_writer_begin(struct file_writer *file, struct table_writer *table, uint32_t index,
                              const struct state_table_desc *desc) {
    *table = (struct table_writer){.out = {.desc = *desc}};
    tide__chunk_clear(&file->chunk);
    file->chunk.table = index;
}

static tide_status put_chunk(struct file_writer *file, struct table_writer *table, tide_error *err) {
    if (file->chunk.entries == 0) return TIDE_OK;
    if (table->out.desc.kind == STATE_TABLE_WINDOWED) tide__key_filter_end_chunk(&table->filter);
    table->chunks = tide__grow(table->chunks, &table->chunk_cap, table->chunk_count + 1, sizeof *table->chunks);
    return tide__file_writer_put_chunk(file, &table->chunks[table->chunk_count++], err);
}

tide_status tide__table_writer_add(struct file_writer *file, struct table_writer *table, struct str key,
                                   struct str value, tide_error *err) {
    struct state_entry entry = {.op = STATE_REPLACE, .key = key, .value = value};
    TIDE_TRY(tide__writer_check_entry(&table->out.desc, &entry, err));
    if (table->out.desc.kind == STATE_TABLE_WINDOWED)
        tide__window_list_count(&table->windows, key, key.len + value.len);
    table->out.entries++;
    table->out.key_bytes += key.len;
    table->out.value_bytes += value.len;
    if (!tide__chunk_add(&file->chunk, key, value)) {
        TIDE_TRY(put_chunk(file, table, err));
        bool fits = tide__chunk_add(&file->chunk, key, value);
        assert(fits);
        (void)fits;
    }
    if (table->out.desc.kind == STATE_TABLE_WINDOWED) tide__key_filter_add(&table->filter, &table->out.desc, key);
    return TIDE_OK;
}

tide_status tide__table_writer_end(struct file_writer *file, struct table_writer *table, tide_error *err) {
    TIDE_TRY(put_chunk(file, table, err));
    table->out.chunk_count = (uint32_t)table->chunk_count;
    table->out.chunks = table->chunks;
    table->out.window_count = table->windows.count;
    table->out.windows = table->windows.items;
    return TIDE_OK;
}

tide_status tide__table_writer_put_filter(struct file_writer *file, struct table_writer *table, tide_error *err) {
    const struct key_filter_builder *filter = &table->filter;
    bool useful = !filter->given_up && table->windows.count >= KEY_FILTER_WINDOWS_MIN &&
                  table->chunk_count >= KEY_FILTER_CHUNKS_MIN;
    if (!useful) return TIDE_OK;
    return tide__file_writer_put_filter(file, tide__strbuf_str(&filter->out), &table->out.filter, err);
}

void tide__table_writer_deinit(struct table_writer *table) {
    tide__key_filter_deinit(&table->filter);
    tide__free(table->chunks);
    tide__free(table->windows.items);
}

// --- all tables ---------------------------------------------------------------------------------------------------

// Where the entries come from: the state, or another savepoint.
struct origin {
    struct state_store *store;
    struct state_snapshot *snapshot;
    struct savepoint *savepoint;       // NULL: the store
    const struct key_ranges *missing;  // of each table of the savepoint; NULL: nothing is
};

static tide_status copy_state(struct file_writer *file, struct table_writer *table, const struct origin *origin,
                              size_t index, tide_error *err) {
    struct state_table *source = tide__state_table_at(origin->store, index);
    tide__table_writer_begin(file, table, (uint32_t)index, tide__state_table_desc(source));
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(source, origin->snapshot, (struct str){0}, (struct str){0}, &iter, err));
    tide_status status = TIDE_OK;
    struct str key, value;
    while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value))
        status = tide__table_writer_add(file, table, key, value, err);
    tide_status closed = tide__state_iter_close(iter, err);
    return status != TIDE_OK ? status : closed;
}

static tide_status copy_savepoint(struct file_writer *file, struct table_writer *table, const struct origin *origin,
                                  size_t index, tide_error *err) {
    tide__table_writer_begin(file, table, (uint32_t)index, &origin->savepoint->info.tables[index].desc);
    struct state_source *source;
    const struct key_ranges *missing = origin->missing != NULL ? &origin->missing[index] : NULL;
    TIDE_TRY(tide__savepoint_entries_without(origin->savepoint, index, missing, &source, err));
    tide_status status = TIDE_OK;
    struct state_entry entry;
    while (status == TIDE_OK && source->next(source, &entry))
        status = tide__table_writer_add(file, table, entry.key, entry.value, err);
    source->free(source);
    return status == TIDE_OK ? tide__savepoint_status(origin->savepoint, err) : status;
}

static tide_status write_tables(struct file_writer *file, const struct savepoint_info *given,
                                struct table_writer *tables, size_t count, const struct origin *origin,
                                tide_error *err) {
    for (size_t i = 0; i < count; i++) {
        TIDE_TRY(origin->savepoint == NULL ? copy_state(file, &tables[i], origin, i, err)
                                           : copy_savepoint(file, &tables[i], origin, i, err));
        TIDE_TRY(tide__table_writer_end(file, &tables[i], err));
    }
    for (size_t i = 0; i < count; i++) TIDE_TRY(tide__table_writer_put_filter(file, &tables[i], err));
    struct savepoint_table *all = ARENA_ARRAY(&file->arena, struct savepoint_table, count + 1);
    for (size_t i = 0; i < count; i++) all[i] = tables[i].out;
    struct savepoint_info info = *given;
    info.depth = 0;
    info.section_count = 0;
    info.table_count = count;
    info.tables = all;
    return tide__file_writer_finish(file, &info, err);
}

static tide_status write_full(const char *path, const struct savepoint_info *info, size_t table_count,
                              const struct origin *origin, struct savepoint_written *out, tide_error *err) {
    *out = (struct savepoint_written){0};
    struct strbuf beside = {0};
    tide__strbuf_printf(&beside, "%s.tmp-%ld", path, (long)getpid());
    struct table_writer *tables = tide__calloc(table_count + 1, sizeof *tables);
    struct file_writer file;
    tide_status status = tide__file_writer_open(&file, path, beside.data, 0, err);
    if (status == TIDE_OK) status = write_tables(&file, info, tables, table_count, origin, err);
    if (status == TIDE_OK) *out = (struct savepoint_written){file.offset, file.manifest_checksum};
    for (size_t i = 0; i < table_count; i++) tide__table_writer_deinit(&tables[i]);
    tide__free(tables);
    tide__file_writer_deinit(&file);
    tide__strbuf_deinit(&beside);
    return status;
}

tide_status tide__savepoint_write_full(const char *path, const struct savepoint_info *info, struct state_store *store,
                                       struct state_snapshot *snapshot, struct savepoint_written *out,
                                       tide_error *err) {
    struct origin origin = {.store = store, .snapshot = snapshot};
    return write_full(path, info, tide__state_table_count(store), &origin, out, err);
}

tide_status tide__savepoint_write(const char *path, const struct savepoint_info *info, struct state_store *store,
                                  struct state_snapshot *snapshot, uint64_t *out_bytes, tide_error *err) {
    struct savepoint_written written;
    tide_status status = tide__savepoint_write_full(path, info, store, snapshot, &written, err);
    *out_bytes = written.bytes;
    return status;
}

tide_status tide__savepoint_write_copy(const char *path, struct savepoint *savepoint, const struct savepoint_info *info,
                                       const struct key_ranges *missing, uint64_t *out_bytes, tide_error *err) {
    struct origin origin = {.savepoint = savepoint, .missing = missing};
    struct savepoint_written written;
    tide_status status = write_full(path, info, savepoint->info.table_count, &origin, &written, err);
    *out_bytes = written.bytes;
    return status;
}

tide_status tide__savepoint_rewrite(struct savepoint *savepoint, const char *path, uint64_t *out_bytes,
                                    tide_error *err) {
    return tide__savepoint_write_copy(path, savepoint, &savepoint->info, NULL, out_bytes, err);
}
