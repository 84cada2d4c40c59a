// Frames: bytes of the file, their checksum, and zstd. Nothing is unpacked before its checksum is right.
#include "base/alloc.h"
#include "base/hash.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <errno.h>
#include <unistd.h>
#include <zstd.h>

static const char *read_frame(int fd, uint64_t offset, uint32_t length, struct frame_reader *reader) {
    tide__strbuf_clear(&reader->frame);
    char *at = tide__strbuf_reserve(&reader->frame, length);
    for (size_t done = 0; done < length;) {
        ssize_t got = pread(fd, at + done, length - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return "the disk can't read it";
        if (got == 0) return "the file ends in it";
        done += (size_t)got;
    }
    reader->frame.len = length;
    return NULL;
}

const char *tide__frame_check(int fd, uint64_t offset, uint32_t length, uint64_t checksum,
                              struct frame_reader *reader) {
    const char *bad = read_frame(fd, offset, length, reader);
    if (bad != NULL) return bad;
    if (tide__hash_checksum(reader->frame.data, length, 0) != checksum) return "its checksum is wrong";
    return NULL;
}

const char *tide__frame_read(int fd, uint64_t offset, uint32_t length, uint32_t raw_length, uint64_t checksum,
                             struct frame_reader *reader, struct str *out_raw) {
    if (raw_length > length * ZSTD_RATIO_MAX) return "its raw length can't be right";
    const char *bad = tide__frame_check(fd, offset, length, checksum, reader);
    if (bad != NULL) return bad;
    if (ZSTD_getFrameContentSize(reader->frame.data, length) != raw_length) return "its raw length is wrong";
    if (reader->zstd == NULL) reader->zstd = ZSTD_createDCtx();
    if (reader->zstd == NULL) return "there is no memory to unpack it";
    tide__strbuf_clear(&reader->raw);
    char *at = tide__strbuf_reserve(&reader->raw, raw_length);
    size_t size = ZSTD_decompressDCtx(reader->zstd, at, raw_length, reader->frame.data, length);
    if (ZSTD_isError(size) || size != raw_length) return "it can't be unpacked";
    reader->raw.len = raw_length;
    *out_raw = (struct str){at, raw_length};
    return NULL;
}

void tide__frame_reader_deinit(struct frame_reader *reader) {
    ZSTD_freeDCtx(reader->zstd);
    tide__strbuf_deinit(&reader->frame);
    tide__strbuf_deinit(&reader->raw);
    *reader = (struct frame_reader){0};
}
