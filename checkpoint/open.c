// Opening a savepoint: header, footer, manifest.
//
// Of a delta the files below it are opened too (chain.c). Chunks, manifest and footer must lie one behind the other without a gap, so that every byte of the file is covered by
// a checksum or compared with what it must be.
#include "base/alloc.h"
#include "base/hash.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static tide_status broken(const struct savepoint *savepoint, uint64_t offset, const char *what, tide_error *err) {
    tide__fail(err, TIDE_ERR_SAVEPOINT, "broken savepoint %s: at offset %llu: %s", savepoint->path,
               (unsigned long long)offset, what);
    tide__error_set_file(err, savepoint->path);
    return TIDE_ERR_SAVEPOINT;
}

static tide_status fail_open(const char *path, tide_error *err, int error) {
    errno = error;
    tide__fail(err, TIDE_ERR_SAVEPOINT, "can't read the savepoint %s: %m", path);
    tide__error_set_file(err, path);
    return TIDE_ERR_SAVEPOINT;
}

static bool read_at(int fd, uint64_t offset, char *out, size_t len) {
    for (size_t done = 0; done < len;) {
        ssize_t got = pread(fd, out + done, len - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static tide_status check_header(const struct savepoint *savepoint, uint32_t *out_flags, tide_error *err) {
    char header[SAVEPOINT_HEADER_BYTES];
    uint64_t size = savepoint->size < sizeof header ? savepoint->size : sizeof header;
    if (!read_at(savepoint->fd, 0, header, size)) return fail_open(savepoint->path, err, errno);
    if (size < SAVEPOINT_MAGIC_BYTES || memcmp(header, SAVEPOINT_MAGIC, SAVEPOINT_MAGIC_BYTES) != 0) {
        tide__fail(err, TIDE_ERR_SAVEPOINT, "%s is not a savepoint: it does not begin with %s", savepoint->path,
                   SAVEPOINT_MAGIC);
        tide__error_set_file(err, savepoint->path);
        return TIDE_ERR_SAVEPOINT;
    }
    if (savepoint->size < SAVEPOINT_HEADER_BYTES + SAVEPOINT_FOOTER_BYTES)
        return broken(savepoint, savepoint->size, "the file ends here, too early for a savepoint", err);
    uint32_t version = (uint32_t)format_get(header + 8, 4), flags = (uint32_t)format_get(header + 12, 4);
    if (version == 0 || version > SAVEPOINT_FORMAT_VERSION) {
        tide__fail(err, TIDE_ERR_SAVEPOINT,
                   "the savepoint %s was written by format version %u, this program reads up to %u", savepoint->path,
                   version, SAVEPOINT_FORMAT_VERSION);
        tide__error_set_file(err, savepoint->path);
        tide__fail_hint(err, version > 0 ? "Read it with a newer tidemark."
                                         : "There is no such version: the file is broken.");
        return TIDE_ERR_SAVEPOINT;
    }
    if ((flags & ~SAVEPOINT_FLAG_DELTA) != 0) return broken(savepoint, 12, "unknown flags", err);
    *out_flags = flags;
    return TIDE_OK;
}

// Chunks follow each other from the header to the manifest.
static tide_status check_layout(const struct savepoint *savepoint, tide_error *err) {
    uint64_t at = SAVEPOINT_HEADER_BYTES;
    struct chunk_walk walk = {.savepoint = savepoint};
    while (tide__chunk_walk_next(&walk)) {
        if (walk.index->offset != at || walk.index->length > savepoint->manifest_offset - at)
            return tide__savepoint_fail_chunk(savepoint, walk.table, walk.index, "the index has it at a wrong place",
                                              err);
        at += walk.index->length;
    }
    for (size_t i = 0; i < savepoint->info.table_count; i++) {
        const struct savepoint_chunk *filter = &savepoint->info.tables[i].filter;
        if (filter->length == 0) continue;
        if (filter->offset != at || filter->length > savepoint->manifest_offset - at)
            return broken(savepoint, at, "the index has a key filter at a wrong place", err);
        at += filter->length;
    }
    if (at != savepoint->manifest_offset) return broken(savepoint, at, "these bytes belong to nothing", err);
    return TIDE_OK;
}

static tide_status read_manifest(struct savepoint *savepoint, uint32_t flags, tide_error *err) {
    char footer[SAVEPOINT_FOOTER_BYTES];
    uint64_t footer_at = savepoint->size - SAVEPOINT_FOOTER_BYTES;
    if (!read_at(savepoint->fd, footer_at, footer, sizeof footer)) return fail_open(savepoint->path, err, errno);
    if (memcmp(footer + 24, SAVEPOINT_MAGIC, SAVEPOINT_MAGIC_BYTES) != 0)
        return broken(savepoint, footer_at, "the footer is missing: the file was cut or is not whole", err);
    uint64_t offset = format_get(footer, 8), checksum = format_get(footer + 16, 8);
    uint32_t length = (uint32_t)format_get(footer + 8, 4), raw_length = (uint32_t)format_get(footer + 12, 4);
    if (offset < SAVEPOINT_HEADER_BYTES || offset > footer_at || length != footer_at - offset)
        return broken(savepoint, footer_at, "the footer does not point to the manifest", err);
    if (raw_length > MANIFEST_RAW_LIMIT)
        return broken(savepoint, footer_at, "the manifest's raw length is too large", err);
    struct frame_reader reader = {0};
    struct str raw;
    const char *bad = tide__frame_read(savepoint->fd, offset, length, raw_length, checksum, &reader, &raw);
    if (bad == NULL) bad = tide__manifest_unpack(raw, &savepoint->arena, &savepoint->info);
    tide__frame_reader_deinit(&reader);
    if (bad != NULL) {
        const char *what = tide__arena_printf(&savepoint->arena, "the manifest: %s", bad);
        return broken(savepoint, offset, what, err);
    }
    if ((savepoint->info.depth > 0) != ((flags & SAVEPOINT_FLAG_DELTA) != 0))
        return broken(savepoint, 12, "header and manifest differ in whether it is a delta", err);
    savepoint->manifest_offset = offset;
    savepoint->manifest_checksum = checksum;
    return check_layout(savepoint, err);
}

tide_status tide__savepoint_open_fd(int fd, const char *path, struct savepoint **out, tide_error *err) {
    *out = NULL;
    struct savepoint *savepoint = tide__calloc(1, sizeof *savepoint);
    savepoint->fd = fd;
    savepoint->path = tide__strdup(path);
    tide__arena_init(&savepoint->arena);
    pthread_mutex_init(&savepoint->lock, NULL);
    tide__error_clear(&savepoint->failure);
    struct stat info;
    tide_status status = TIDE_OK;
    if (fstat(fd, &info) != 0) TIDE_TRY_OR(status, fail_open(path, err, errno), done);
    if (!S_ISREG(info.st_mode))
        TIDE_TRY_OR(status, fail_open(path, err, S_ISDIR(info.st_mode) ? EISDIR : EINVAL), done);
    savepoint->size = (uint64_t)info.st_size;
    uint32_t flags = 0;
    TIDE_TRY_OR(status, check_header(savepoint, &flags, err), done);
    TIDE_TRY_OR(status, read_manifest(savepoint, flags, err), done);
    *out = savepoint;
    savepoint = NULL;
done:
    tide__savepoint_close(savepoint);
    return status;
}

tide_status tide__savepoint_open_one(const char *path, struct savepoint **out, tide_error *err) {
    *out = NULL;
    // Not blocking: a named pipe would wait for its writer.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail_open(path, err, errno);
    return tide__savepoint_open_fd(fd, path, out, err);
}

tide_status tide__savepoint_open(const char *path, struct savepoint **out, tide_error *err) {
    TIDE_TRY(tide__savepoint_open_one(path, out, err));
    tide_status status = tide__savepoint_open_parents(*out, err);
    if (status == TIDE_OK) return TIDE_OK;
    tide__savepoint_close(*out);
    *out = NULL;
    return status;
}

const struct savepoint_info *tide__savepoint_info(const struct savepoint *savepoint) {
    return &savepoint->info;
}

uint64_t tide__savepoint_bytes(const struct savepoint *savepoint) {
    uint64_t bytes = 0;
    for (const struct savepoint *file = savepoint; file != NULL; file = file->parent) bytes += file->size;
    return bytes;
}

uint64_t tide__savepoint_file_bytes(const struct savepoint *savepoint) {
    return savepoint->size;
}

uint64_t tide__savepoint_base_id(const struct savepoint *savepoint) {
    while (savepoint->parent != NULL) savepoint = savepoint->parent;
    return savepoint->info.checkpoint_id;
}

void tide__savepoint_close(struct savepoint *savepoint) {
    while (savepoint != NULL) {
        struct savepoint *parent = savepoint->parent;
        close(savepoint->fd);
        tide__free(savepoint->path);
        for (size_t i = 0; savepoint->passed != NULL && i < savepoint->info.table_count; i++)
            tide__key_ranges_deinit(&savepoint->passed[i]);
        tide__arena_deinit(&savepoint->arena);
        pthread_mutex_destroy(&savepoint->lock);
        tide__free(savepoint);
        savepoint = parent;
    }
}
