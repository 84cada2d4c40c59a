// Writing a savepoint: all tables of the store, streamed as they are in a snapshot, chunk by chunk.
//
// The file is written beside its place, fsynced and renamed, so that under its own name it is whole or absent; the
// folder is fsynced last. Memory: one chunk, its frame, and the index.
#include "base/alloc.h"
#include "base/killpoint.h"
#include "base/hash.h"
#include "checkpoint/chunk.h"
#include "checkpoint/format.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ZSTD_LEVEL 1

// A table while it is written.
struct table_writer {
    struct savepoint_table out;
    struct savepoint_chunk *chunks;
    size_t chunk_count, chunk_cap;
    struct savepoint_window *windows;
    size_t window_cap;
};

struct writer {
    const char *path;
    int fd;
    uint64_t offset;
    ZSTD_CCtx *zstd;
    struct strbuf raw, frame;
    struct chunk_builder chunk;
    struct arena arena;  // keys of the index
    struct table_writer *tables;
    size_t table_count;
};

static tide_status fail_write(const struct writer *writer, int error, const char *what, tide_error *err) {
    tide__fail_errno(err, error, "can't %s %s", what, writer->path);
    if (error == ENOSPC || error == EDQUOT)
        tide__fail_hint(err, "Make room on that disk; what was kept before is whole.");
    return TIDE_ERR_IO;
}

static tide_status put(struct writer *writer, const char *data, size_t len, tide_error *err) {
    while (len > 0) {
        ssize_t done = write(writer->fd, data, len);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_write(writer, errno, "write", err);
        data += done;
        len -= (size_t)done;
        writer->offset += (uint64_t)done;
    }
    return TIDE_OK;
}

// writer->raw as one zstd frame; its checksum.
static tide_status put_frame(struct writer *writer, uint32_t *out_length, uint64_t *out_checksum, tide_error *err) {
    size_t bound = ZSTD_compressBound(writer->raw.len);
    tide__strbuf_clear(&writer->frame);
    char *at = tide__strbuf_reserve(&writer->frame, bound);
    size_t size = ZSTD_compressCCtx(writer->zstd, at, bound, writer->raw.data, writer->raw.len, ZSTD_LEVEL);
    if (ZSTD_isError(size) || size > UINT32_MAX)
        return tide__fail(err, TIDE_ERR_IO, "can't compress %zu bytes for %s: %s", writer->raw.len, writer->path,
                          ZSTD_isError(size) ? ZSTD_getErrorName(size) : "too large");
    *out_length = (uint32_t)size;
    *out_checksum = tide__hash_checksum(at, size, 0);
    return put(writer, at, size, err);
}

static struct str keep(struct writer *writer, const struct strbuf *key) {
    return (struct str){tide__arena_strndup(&writer->arena, key->data, key->len), key->len};
}

static tide_status put_chunk(struct writer *writer, struct table_writer *table, tide_error *err) {
    if (writer->chunk.entries == 0) return TIDE_OK;
    tide__strbuf_clear(&writer->raw);
    tide__chunk_pack(&writer->chunk, &writer->raw);
    table->chunks = tide__grow(table->chunks, &table->chunk_cap, table->chunk_count + 1, sizeof *table->chunks);
    struct savepoint_chunk *index = &table->chunks[table->chunk_count++];
    *index = (struct savepoint_chunk){
        .offset = writer->offset,
        .raw_length = (uint32_t)writer->raw.len,
        .entries = writer->chunk.entries,
        .first_key = keep(writer, &writer->chunk.first_key),
        .last_key = keep(writer, &writer->chunk.last_key),
    };
    tide__chunk_clear(&writer->chunk);
    return put_frame(writer, &index->length, &index->checksum, err);
}

// --- tables -------------------------------------------------------------------------------------------------------

static int64_t window_bound(const char *at) {
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | (unsigned char)at[i];
    return (int64_t)(v ^ (UINT64_C(1) << 63));
}

// Keys come in order, so that a window's entries are together.
static void count_window(struct table_writer *table, struct str key, size_t bytes, const char *last_window) {
    bool is_new = table->out.entries == 0 || memcmp(last_window, key.data, WINDOW_KEY_BYTES) != 0;
    if (is_new) {
        table->out.window_count++;
        if (table->out.window_count > SAVEPOINT_WINDOWS_MAX) return;
        table->windows = tide__grow(table->windows, &table->window_cap, table->out.window_count,
                                    sizeof *table->windows);
        table->windows[table->out.window_count - 1] = (struct savepoint_window){.start_ms = window_bound(key.data),
                                                                                .end_ms = window_bound(key.data + 8)};
    }
    if (table->out.window_count > SAVEPOINT_WINDOWS_MAX) return;
    struct savepoint_window *window = &table->windows[table->out.window_count - 1];
    window->entries++;
    window->bytes += bytes;
}

static tide_status put_entry(struct writer *writer, struct table_writer *table, struct str key, struct str value,
                             char *last_window, tide_error *err) {
    if (key.len + value.len > CHUNK_RAW_LIMIT - CHUNK_OVERHEAD_MAX)
        return tide__fail(err, TIDE_ERR_RUNTIME, "state \"%s\" has an entry of %zu bytes, too large for a savepoint",
                          table->out.desc.name, key.len + value.len);
    // Better no savepoint than one that can't be restored.
    if (!tide__chunk_value_fits(&table->out.desc, value))
        return tide__fail(err, TIDE_ERR_RUNTIME, "state \"%s\" has a value that is not the fields it is described with",
                          table->out.desc.name);
    if (table->out.desc.kind == STATE_TABLE_WINDOWED) {
        assert(key.len >= WINDOW_KEY_BYTES);
        count_window(table, key, key.len + value.len, last_window);
        memcpy(last_window, key.data, WINDOW_KEY_BYTES);
    }
    table->out.entries++;
    table->out.key_bytes += key.len;
    table->out.value_bytes += value.len;
    if (tide__chunk_add(&writer->chunk, key, value)) return TIDE_OK;
    TIDE_TRY(put_chunk(writer, table, err));
    bool fits = tide__chunk_add(&writer->chunk, key, value);
    assert(fits);
    (void)fits;
    return TIDE_OK;
}

static tide_status put_table(struct writer *writer, struct state_table *source, struct state_snapshot *snapshot,
                             struct table_writer *table, tide_error *err) {
    table->out.desc = *tide__state_table_desc(source);
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(source, snapshot, (struct str){0}, (struct str){0}, &iter, err));
    tide_status status = TIDE_OK;
    struct str key, value;
    char last_window[WINDOW_KEY_BYTES] = {0};
    while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value))
        status = put_entry(writer, table, key, value, last_window, err);
    tide_status closed = tide__state_iter_close(iter, err);
    if (status == TIDE_OK) status = closed;
    if (status == TIDE_OK) status = put_chunk(writer, table, err);
    table->out.chunk_count = (uint32_t)table->chunk_count;
    table->out.chunks = table->chunks;
    table->out.windows = table->windows;
    return status;
}

static tide_status put_tables(struct writer *writer, struct state_store *store, struct state_snapshot *snapshot,
                              tide_error *err) {
    writer->table_count = tide__state_table_count(store);
    writer->tables = tide__calloc(writer->table_count + 1, sizeof *writer->tables);
    for (size_t i = 0; i < writer->table_count; i++) {
        tide__chunk_clear(&writer->chunk);
        writer->chunk.table = (uint32_t)i;
        TIDE_TRY(put_table(writer, tide__state_table_at(store, i), snapshot, &writer->tables[i], err));
    }
    return TIDE_OK;
}

// --- the file -----------------------------------------------------------------------------------------------------

static tide_status put_header(struct writer *writer, tide_error *err) {
    char header[SAVEPOINT_HEADER_BYTES];
    memcpy(header, SAVEPOINT_MAGIC, SAVEPOINT_MAGIC_BYTES);
    format_put(header + 8, SAVEPOINT_FORMAT_VERSION, 4);
    format_put(header + 12, 0, 4);
    return put(writer, header, sizeof header, err);
}

static tide_status put_manifest(struct writer *writer, const struct savepoint_info *given, tide_error *err) {
    struct savepoint_info info = *given;
    struct savepoint_table *tables = ARENA_ARRAY(&writer->arena, struct savepoint_table, writer->table_count + 1);
    for (size_t i = 0; i < writer->table_count; i++) tables[i] = writer->tables[i].out;
    info.format_version = SAVEPOINT_FORMAT_VERSION;
    info.table_count = writer->table_count;
    info.tables = tables;
    tide__strbuf_clear(&writer->raw);
    tide__manifest_pack(&info, &writer->raw);
    if (writer->raw.len > MANIFEST_RAW_LIMIT)
        return tide__fail(err, TIDE_ERR_RUNTIME, "the index of %s is too large: %zu bytes", writer->path,
                          writer->raw.len);
    char footer[SAVEPOINT_FOOTER_BYTES];
    uint32_t length;
    uint64_t checksum;
    format_put(footer, writer->offset, 8);
    TIDE_TRY(put_frame(writer, &length, &checksum, err));
    format_put(footer + 8, length, 4);
    format_put(footer + 12, writer->raw.len, 4);
    format_put(footer + 16, checksum, 8);
    memcpy(footer + 24, SAVEPOINT_MAGIC, SAVEPOINT_MAGIC_BYTES);
    return put(writer, footer, sizeof footer, err);
}

tide_status tide__savepoint_sync_folder(const char *path, tide_error *err) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? tide__strdup(".")
                   : slash == path ? tide__strdup("/")
                                   : tide__strndup(path, (size_t)(slash - path));
    tide_status status = TIDE_OK;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Some file systems can't sync a folder and say EINVAL; on those the rename is as durable as it gets.
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        status = tide__fail_errno(err, errno, "can't sync the folder %s", folder);
    if (fd >= 0) close(fd);
    tide__free(folder);
    return status;
}

static void writer_deinit(struct writer *writer) {
    if (writer->fd >= 0) close(writer->fd);
    ZSTD_freeCCtx(writer->zstd);
    for (size_t i = 0; i < writer->table_count; i++) {
        tide__free(writer->tables[i].chunks);
        tide__free(writer->tables[i].windows);
    }
    tide__free(writer->tables);
    tide__strbuf_deinit(&writer->raw);
    tide__strbuf_deinit(&writer->frame);
    tide__chunk_deinit(&writer->chunk);
    tide__arena_deinit(&writer->arena);
}

static tide_status write_file(struct writer *writer, const struct savepoint_info *info, struct state_store *store,
                              struct state_snapshot *snapshot, tide_error *err) {
    TIDE_TRY(put_header(writer, err));
    TIDE_TRY(put_tables(writer, store, snapshot, err));
    TIDE_TRY(put_manifest(writer, info, err));
    if (fsync(writer->fd) != 0) return fail_write(writer, errno, "write", err);
    int fd = writer->fd;
    writer->fd = -1;
    if (close(fd) != 0) return fail_write(writer, errno, "write", err);
    return TIDE_OK;
}

tide_status tide__savepoint_write(const char *path, const struct savepoint_info *info, struct state_store *store,
                                  struct state_snapshot *snapshot, uint64_t *out_bytes, tide_error *err) {
    *out_bytes = 0;
    struct writer writer = {.path = path};
    const char *beside = tide__arena_printf(&writer.arena, "%s.tmp-%ld", path, (long)getpid());
    writer.fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (writer.fd < 0) {
        tide_status status = fail_write(&writer, errno, "write", err);
        writer_deinit(&writer);
        return status;
    }
    writer.zstd = ZSTD_createCCtx();
    tide_status status = TIDE_OK;
    if (writer.zstd == NULL) TIDE_TRY_OR(status, tide__fail(err, TIDE_ERR_IO, "no memory to compress %s", path), done);
    TIDE_TRY_OR(status, write_file(&writer, info, store, snapshot, err), done);
    tide__kill_point("savepoint.before-rename");
    if (rename(beside, path) != 0) TIDE_TRY_OR(status, fail_write(&writer, errno, "write", err), done);
    tide__kill_point("savepoint.after-rename");
    tide__kill_point("savepoint.before-dirsync");
    TIDE_TRY_OR(status, tide__savepoint_sync_folder(path, err), done);
    *out_bytes = writer.offset;
done:
    if (status != TIDE_OK) unlink(beside);
    writer_deinit(&writer);
    return status;
}
