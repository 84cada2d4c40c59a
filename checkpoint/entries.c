// The entries of a savepoint as a stream, chunk by chunk; and the check of all chunks.
#include "base/alloc.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <string.h>

tide_status tide__savepoint_fail_chunk(const struct savepoint *savepoint, size_t table, size_t chunk, const char *what,
                                       tide_error *err) {
    const struct savepoint_table *of = &savepoint->info.tables[table];
    tide__fail(err, TIDE_ERR_SAVEPOINT, "broken savepoint %s: state \"%s\", chunk %zu at offset %llu: %s",
               savepoint->path, of->desc.name, chunk, (unsigned long long)of->chunks[chunk].offset, what);
    tide__error_set_file(err, savepoint->path);
    return TIDE_ERR_SAVEPOINT;
}

const char *tide__savepoint_chunk(const struct savepoint *savepoint, size_t table, size_t chunk,
                                  struct frame_reader *reader, struct arena *arena, struct chunk *out) {
    const struct savepoint_table *of = &savepoint->info.tables[table];
    const struct savepoint_chunk *index = &of->chunks[chunk];
    struct str raw;
    const char *bad = tide__frame_read(savepoint->fd, index->offset, index->length, index->raw_length, index->checksum,
                                       reader, &raw);
    if (bad != NULL) return bad;
    return tide__chunk_unpack(raw, (uint32_t)table, &of->desc, index, arena, out);
}

// --- the stream ---------------------------------------------------------------------------------------------------

struct entries {
    struct state_source source;
    struct savepoint *savepoint;
    size_t table, next_chunk;
    bool open, ended;  // a chunk is open; nothing comes any more
    struct strbuf lower, upper;
    struct frame_reader reader;
    struct arena arena;  // of the open chunk
    struct chunk chunk;
    struct chunk_cursor cursor;
};

static void remember_failure(struct entries *entries, size_t chunk, const char *what) {
    struct savepoint *savepoint = entries->savepoint;
    pthread_mutex_lock(&savepoint->lock);
    tide__savepoint_fail_chunk(savepoint, entries->table, chunk, what, &savepoint->failure);
    pthread_mutex_unlock(&savepoint->lock);
}

// Opens the next chunk; false if there is none in the range or it is broken.
static bool next_chunk(struct entries *entries) {
    const struct savepoint_table *table = &entries->savepoint->info.tables[entries->table];
    if (entries->next_chunk >= table->chunk_count) return false;
    size_t at = entries->next_chunk++;
    if (entries->upper.len > 0 && tide__str_cmp(table->chunks[at].first_key, tide__strbuf_str(&entries->upper)) >= 0)
        return false;
    tide__arena_reset(&entries->arena);
    entries->cursor.at = entries->cursor.key_at = entries->cursor.value_at = 0;
    const char *bad = tide__savepoint_chunk(entries->savepoint, entries->table, at, &entries->reader, &entries->arena,
                                            &entries->chunk);
    if (bad != NULL) remember_failure(entries, at, bad);
    return bad == NULL;
}

static bool entries_next(struct state_source *source, struct state_entry *out) {
    struct entries *entries = (struct entries *)source;
    while (!entries->ended) {
        if (!entries->open) {
            entries->open = next_chunk(entries);
            entries->ended = !entries->open;
            continue;
        }
        struct str key, value;
        if (!tide__chunk_next(&entries->chunk, &entries->cursor, &key, &value)) {
            entries->open = false;
            continue;
        }
        if (entries->lower.len > 0 && tide__str_cmp(key, tide__strbuf_str(&entries->lower)) < 0) continue;
        if (entries->upper.len > 0 && tide__str_cmp(key, tide__strbuf_str(&entries->upper)) >= 0) {
            entries->ended = true;
            return false;
        }
        *out = (struct state_entry){.op = STATE_REPLACE, .key = key, .value = value};
        return true;
    }
    return false;
}

static void entries_free(struct state_source *source) {
    struct entries *entries = (struct entries *)source;
    tide__strbuf_deinit(&entries->lower);
    tide__strbuf_deinit(&entries->upper);
    tide__strbuf_deinit(&entries->cursor.key);
    tide__frame_reader_deinit(&entries->reader);
    tide__arena_deinit(&entries->arena);
    tide__free(entries);
}

// The first chunk that may hold a key at or behind `lower`.
static size_t first_chunk(const struct savepoint_table *table, struct str lower) {
    size_t low = 0, high = table->chunk_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tide__str_cmp(table->chunks[middle].last_key, lower) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

tide_status tide__savepoint_entries(struct savepoint *savepoint, size_t table, struct str lower, struct str upper,
                                    struct state_source **out, tide_error *err) {
    *out = NULL;
    if (table >= savepoint->info.table_count)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the savepoint has no such table");
    struct entries *entries = tide__calloc(1, sizeof *entries);
    entries->source = (struct state_source){.next = entries_next, .free = entries_free};
    entries->savepoint = savepoint;
    entries->table = table;
    tide__arena_init(&entries->arena);
    tide__strbuf_append_str(&entries->lower, lower);
    tide__strbuf_append_str(&entries->upper, upper);
    entries->next_chunk = lower.len > 0 ? first_chunk(&savepoint->info.tables[table], lower) : 0;
    *out = &entries->source;
    return TIDE_OK;
}

tide_status tide__savepoint_status(const struct savepoint *savepoint, tide_error *err) {
    struct savepoint *locked = (struct savepoint *)savepoint;  // only its lock changes
    pthread_mutex_lock(&locked->lock);
    tide_status status = savepoint->failure.status;
    if (status != TIDE_OK && err != NULL) *err = savepoint->failure;
    pthread_mutex_unlock(&locked->lock);
    return status;
}

// --- checking -----------------------------------------------------------------------------------------------------

tide_status tide__savepoint_check_frames(const struct savepoint *savepoint, tide_error *err) {
    struct frame_reader reader = {0};
    tide_status status = TIDE_OK;
    for (size_t t = 0; t < savepoint->info.table_count && status == TIDE_OK; t++) {
        const struct savepoint_table *table = &savepoint->info.tables[t];
        for (size_t c = 0; c < table->chunk_count && status == TIDE_OK; c++) {
            const struct savepoint_chunk *chunk = &table->chunks[c];
            const char *bad = tide__frame_check(savepoint->fd, chunk->offset, chunk->length, chunk->checksum, &reader);
            if (bad != NULL) status = tide__savepoint_fail_chunk(savepoint, t, c, bad, err);
        }
    }
    tide__frame_reader_deinit(&reader);
    return status;
}

tide_status tide__savepoint_verify(const char *path, savepoint_damage_fn *damaged, void *ctx, tide_error *err) {
    struct savepoint *savepoint;
    tide_error own_error;
    tide__error_clear(&own_error);
    if (err == NULL) err = &own_error;
    tide_status status = tide__savepoint_open(path, &savepoint, err);
    if (status != TIDE_OK) {
        if (damaged != NULL) damaged(ctx, NULL, UINT32_MAX, 0, err->message);
        return status;
    }
    struct frame_reader reader = {0};
    struct arena arena;
    tide__arena_init(&arena);
    for (size_t t = 0; t < savepoint->info.table_count; t++) {
        const struct savepoint_table *table = &savepoint->info.tables[t];
        for (size_t c = 0; c < table->chunk_count; c++) {
            struct chunk chunk;
            tide__arena_reset(&arena);
            const char *bad = tide__savepoint_chunk(savepoint, t, c, &reader, &arena, &chunk);
            if (bad == NULL) continue;
            status = tide__savepoint_fail_chunk(savepoint, t, c, bad, err);
            if (damaged != NULL) damaged(ctx, table->desc.name, (uint32_t)c, table->chunks[c].offset, bad);
        }
    }
    tide__arena_deinit(&arena);
    tide__frame_reader_deinit(&reader);
    tide__savepoint_close(savepoint);
    return status;
}
