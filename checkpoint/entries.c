// The entries of one file as a stream, chunk by chunk.
#include "base/alloc.h"
#include "checkpoint/format.h"
#include "checkpoint/key_filter.h"
#include "checkpoint/reader.h"

#include <string.h>

tide_status tide__savepoint_fail_chunk(const struct savepoint *savepoint, uint32_t table,
                                       const struct savepoint_chunk *index, const char *what, tide_error *err) {
    struct chunk_walk walk = {.savepoint = savepoint};
    while (tide__chunk_walk_next(&walk) && walk.index != index) continue;
    struct strbuf place = {0};
    if (walk.section != UINT32_MAX) tide__strbuf_printf(&place, "section %u, ", walk.section);
    tide__fail(err, TIDE_ERR_SAVEPOINT, "broken savepoint %s: state \"%s\", %schunk %u at offset %llu: %s",
               savepoint->path, savepoint->info.tables[table].desc.name, place.len > 0 ? place.data : "", walk.chunk,
               (unsigned long long)index->offset, what);
    tide__strbuf_deinit(&place);
    tide__error_set_file(err, savepoint->path);
    return TIDE_ERR_SAVEPOINT;
}

void tide__savepoint_remember(struct savepoint *savepoint, const tide_error *failure) {
    pthread_mutex_lock(&savepoint->lock);
    if (savepoint->failure.status == TIDE_OK) savepoint->failure = *failure;
    pthread_mutex_unlock(&savepoint->lock);
}

tide_status tide__savepoint_status(const struct savepoint *savepoint, tide_error *err) {
    struct savepoint *locked = (struct savepoint *)savepoint;  // only its lock changes
    pthread_mutex_lock(&locked->lock);
    tide_status status = savepoint->failure.status;
    if (status != TIDE_OK && err != NULL) *err = savepoint->failure;
    pthread_mutex_unlock(&locked->lock);
    return status;
}

void tide__savepoint_pass_over(struct savepoint *savepoint, size_t table, const struct savepoint_chunk *chunk) {
    if (savepoint->passed == NULL)
        savepoint->passed = ARENA_ARRAY(&savepoint->arena, struct key_ranges, savepoint->info.table_count + 1);
    // The chunk may be that of another opening of the file.
    struct arena *arena = &savepoint->arena;
    struct str first = {tide__arena_strndup(arena, chunk->first_key.data, chunk->first_key.len), chunk->first_key.len};
    struct str end = {chunk->end.len > 0 ? tide__arena_strndup(arena, chunk->end.data, chunk->end.len) : "",
                      chunk->end.len};
    tide__key_ranges_add(&savepoint->passed[table], first, end);
    pthread_mutex_lock(&savepoint->lock);
    tide__error_clear(&savepoint->failure);
    pthread_mutex_unlock(&savepoint->lock);
}

const char *tide__savepoint_chunk(const struct savepoint *savepoint, uint32_t table,
                                  const struct savepoint_chunk *index, struct frame_reader *reader, struct arena *arena,
                                  struct chunk *out) {
    struct str raw;
    const char *bad = tide__frame_read(savepoint->fd, index->offset, index->length, index->raw_length, index->checksum,
                                       reader, &raw);
    if (bad != NULL) return bad;
    return tide__chunk_unpack(raw, table, &savepoint->info.tables[table].desc, index, savepoint->info.depth > 0, arena,
                              out);
}

const char *tide__savepoint_filter(const struct savepoint *savepoint, size_t table, struct frame_reader *reader,
                                   struct str *out) {
    const struct savepoint_table *of = &savepoint->info.tables[table];
    const char *bad = tide__frame_read(savepoint->fd, of->filter.offset, of->filter.length, of->filter.raw_length,
                                       of->filter.checksum, reader, out);
    struct str rest = bad == NULL ? *out : (struct str){0}, one;
    for (uint32_t i = 0; bad == NULL && i < of->chunk_count; i++)
        if (!tide__key_filter_take(&rest, &one)) bad = "it has fewer filters than the table has chunks";
    if (bad == NULL && rest.len > 0) bad = "it has more filters than the table has chunks";
    return bad;
}

bool tide__chunk_walk_next(struct chunk_walk *walk) {
    const struct savepoint_info *info = &walk->savepoint->info;
    bool delta = info->depth > 0;
    for (; walk->group < (delta ? info->section_count : info->table_count); walk->group++, walk->next = 0) {
        const struct savepoint_section *section = delta ? &info->sections[walk->group] : NULL;
        const struct savepoint_table *table = delta ? NULL : &info->tables[walk->group];
        if (walk->next == (delta ? section->chunk_count : table->chunk_count)) continue;
        walk->table = delta ? section->table : (uint32_t)walk->group;
        walk->section = delta ? (uint32_t)walk->group : UINT32_MAX;
        walk->chunk = walk->next++;
        walk->index = delta ? &section->chunks[walk->chunk] : &table->chunks[walk->chunk];
        return true;
    }
    return false;
}

// --- the stream ---------------------------------------------------------------------------------------------------

static void remember_failure(struct chunk_stream *stream, const struct savepoint_chunk *chunk, const char *what) {
    tide_error failure;
    tide__error_clear(&failure);
    tide_status status = tide__savepoint_fail_chunk(stream->file, stream->table, chunk, what, &failure);
    (void)status;
    stream->failed = true;
    tide__savepoint_remember(stream->owner, &failure);
}

// Does the key filter say that the chunk has nothing of what is looked for? To be asked of each chunk in turn.
static bool is_filtered(struct chunk_stream *stream) {
    struct str filter;
    if (stream->filters.data == NULL || !tide__key_filter_take(&stream->filters, &filter)) return false;
    return !tide__key_filter_may_have(filter, stream->field);
}

// Opens the next chunk; false if there is none in the range or it is broken.
static bool next_chunk(struct chunk_stream *stream) {
    const struct savepoint_chunk *index = NULL;
    while (stream->next < stream->count) {
        index = &stream->chunks[stream->next];
        bool passed = is_filtered(stream);
        passed |= stream->lower.len > 0 && index->end.len > 0 && tide__str_cmp(index->end, stream->lower) <= 0;
        if (!passed && !tide__key_ranges_cover(&stream->hidden, index->first_key, index->end)) break;
        stream->next++;
    }
    if (stream->next == stream->count) return false;
    stream->next++;
    if (stream->upper.len > 0 && tide__str_cmp(index->first_key, stream->upper) >= 0) return false;
    tide__arena_reset(&stream->arena);
    stream->cursor.at = stream->cursor.key_at = stream->cursor.value_at = 0;
    const char *bad = tide__savepoint_chunk(stream->file, stream->table, index, &stream->reader, &stream->arena,
                                            &stream->chunk);
    if (bad != NULL) remember_failure(stream, index, bad);
    return bad == NULL;
}

bool tide__chunk_stream_next(struct chunk_stream *stream, struct state_entry *out) {
    while (!stream->ended) {
        if (!stream->open) {
            stream->open = next_chunk(stream);
            stream->ended = !stream->open;
            continue;
        }
        if (!tide__chunk_next(&stream->chunk, &stream->cursor, out)) {
            stream->open = false;
            continue;
        }
        if (stream->lower.len > 0 && tide__str_cmp(out->key, stream->lower) < 0) continue;
        if (stream->upper.len > 0 && tide__str_cmp(out->key, stream->upper) >= 0) {
            stream->ended = true;
            return false;
        }
        if (stream->hidden.count > 0 && tide__key_ranges_has(&stream->hidden, &stream->hidden_at, out->key)) continue;
        return true;
    }
    return false;
}

void tide__chunk_stream_deinit(struct chunk_stream *stream) {
    tide__key_ranges_deinit(&stream->hidden);
    tide__strbuf_deinit(&stream->cursor.key);
    tide__frame_reader_deinit(&stream->reader);
    tide__arena_deinit(&stream->arena);
}
