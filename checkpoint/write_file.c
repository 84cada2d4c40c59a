// The file of a savepoint: header, frames, manifest, footer.
//
// It is written beside its place, fsynced and renamed, so that under its own name it is whole or absent; the folder is
// fsynced last.
#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/killpoint.h"
#include "checkpoint/key_ranges.h"
#include "checkpoint/writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ZSTD_LEVEL 1

static tide_status fail_write(const struct file_writer *writer, int error, const char *what, tide_error *err) {
    tide__fail_errno(err, error, "can't %s %s", what, writer->path);
    if (error == ENOSPC || error == EDQUOT)
        tide__fail_hint(err, "Make room on that disk; what was kept before is whole.");
    return TIDE_ERR_IO;
}

static tide_status put(struct file_writer *writer, const char *data, size_t len, tide_error *err) {
    if (!tide__write_fully(writer->fd, data, len)) return fail_write(writer, errno, "write", err);
    writer->offset += len;
    return TIDE_OK;
}

// writer->raw as one zstd frame; its checksum.
static tide_status put_frame(struct file_writer *writer, uint32_t *out_length, uint64_t *out_checksum,
                             tide_error *err) {
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

tide_status tide__file_writer_open(struct file_writer *writer, const char *path, const char *beside, uint32_t flags,
                                   tide_error *err) {
    *writer = (struct file_writer){.path = tide__strdup(path), .beside = tide__strdup(beside)};
    tide__arena_init(&writer->arena);
    writer->fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (writer->fd < 0) {
        tide_status status = fail_write(writer, errno, "write", err);
        tide__free(writer->beside);  // whatever stands there is not ours
        writer->beside = NULL;
        return status;
    }
    writer->zstd = ZSTD_createCCtx();
    if (writer->zstd == NULL) return tide__fail(err, TIDE_ERR_IO, "no memory to compress %s", path);
    char header[SAVEPOINT_HEADER_BYTES];
    memcpy(header, SAVEPOINT_MAGIC, SAVEPOINT_MAGIC_BYTES);
    format_put(header + 8, SAVEPOINT_FORMAT_VERSION, 4);
    format_put(header + 12, flags, 4);
    return put(writer, header, sizeof header, err);
}

static struct str keep(struct file_writer *writer, const struct strbuf *key) {
    struct str cut = tide__index_key_cut(tide__strbuf_str(key));
    return (struct str){tide__arena_strndup(&writer->arena, cut.data, cut.len), cut.len};
}

tide_status tide__file_writer_put_chunk(struct file_writer *writer, struct savepoint_chunk *out, tide_error *err) {
    assert(writer->chunk.entries > 0);
    tide__strbuf_clear(&writer->raw);
    tide__chunk_pack(&writer->chunk, &writer->raw);
    *out = (struct savepoint_chunk){
        .offset = writer->offset,
        .raw_length = (uint32_t)writer->raw.len,
        .entries = writer->chunk.entries,
        .first_key = keep(writer, &writer->chunk.first_key),
        .last_key = keep(writer, &writer->chunk.last_key),
    };
    tide__chunk_clear(&writer->chunk);
    return put_frame(writer, &out->length, &out->checksum, err);
}

tide_status tide__file_writer_put_filter(struct file_writer *writer, struct str filter, struct savepoint_chunk *out,
                                         tide_error *err) {
    tide__strbuf_clear(&writer->raw);
    tide__strbuf_append_str(&writer->raw, filter);
    *out = (struct savepoint_chunk){.offset = writer->offset, .raw_length = (uint32_t)filter.len};
    return put_frame(writer, &out->length, &out->checksum, err);
}

static tide_status put_manifest(struct file_writer *writer, const struct savepoint_info *given, tide_error *err) {
    struct savepoint_info info = *given;
    info.format_version = SAVEPOINT_FORMAT_VERSION;
    tide__strbuf_clear(&writer->raw);
    tide__manifest_pack(&info, &writer->raw);
    if (writer->raw.len > MANIFEST_RAW_LIMIT)
        return tide__fail(err, TIDE_ERR_RUNTIME, "the index of %s is too large: %zu bytes", writer->path,
                          writer->raw.len);
    char footer[SAVEPOINT_FOOTER_BYTES];
    uint32_t length;
    format_put(footer, writer->offset, 8);
    TIDE_TRY(put_frame(writer, &length, &writer->manifest_checksum, err));
    format_put(footer + 8, length, 4);
    format_put(footer + 12, writer->raw.len, 4);
    format_put(footer + 16, writer->manifest_checksum, 8);
    memcpy(footer + 24, SAVEPOINT_MAGIC, SAVEPOINT_MAGIC_BYTES);
    return put(writer, footer, sizeof footer, err);
}

tide_status tide__file_writer_finish(struct file_writer *writer, const struct savepoint_info *info, tide_error *err) {
    TIDE_TRY(put_manifest(writer, info, err));
    if (fsync(writer->fd) != 0) return fail_write(writer, errno, "write", err);
    int fd = writer->fd;
    writer->fd = -1;
    if (close(fd) != 0) return fail_write(writer, errno, "write", err);
    tide__kill_point(info->depth > 0 ? "delta.before-rename" : "savepoint.before-rename");
    if (rename(writer->beside, writer->path) != 0) return fail_write(writer, errno, "write", err);
    tide__free(writer->beside);
    writer->beside = NULL;
    tide__kill_point(info->depth > 0 ? "delta.after-rename" : "savepoint.after-rename");
    tide__kill_point("savepoint.before-dirsync");
    return tide__savepoint_sync_folder(writer->path, err);
}

void tide__file_writer_deinit(struct file_writer *writer) {
    if (writer->fd >= 0) close(writer->fd);
    if (writer->beside != NULL) unlink(writer->beside);
    ZSTD_freeCCtx(writer->zstd);
    tide__strbuf_deinit(&writer->raw);
    tide__strbuf_deinit(&writer->frame);
    tide__chunk_deinit(&writer->chunk);
    tide__arena_deinit(&writer->arena);
    tide__free(writer->path);
    tide__free(writer->beside);
    *writer = (struct file_writer){.fd = -1};
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
