// An open savepoint file and its frames. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_READER_H
#define TIDE_CHECKPOINT_READER_H

#include "base/arena.h"
#include "base/error.h"
#include "checkpoint/chunk.h"
#include "checkpoint/savepoint.h"

#include <pthread.h>

struct savepoint {
    int fd;
    char *path;
    uint64_t size;
    uint64_t manifest_offset;
    struct arena arena;
    struct savepoint_info info;
    pthread_mutex_t lock;  // guards failure
    tide_error failure;    // of a stream of entries; the first one
};

// Buffers for reading frames one after the other. {0} is valid.
struct frame_reader {
    void *zstd;
    struct strbuf frame, raw;
};

// Reads a frame, checks it and unpacks it: out_raw is valid until the next call. NULL, or what is wrong. The frame must lie
// in the file, and raw_length must be within its limit: the caller has checked both.
const char *tide__frame_read(int fd, uint64_t offset, uint32_t length, uint32_t raw_length, uint64_t checksum,
                             struct frame_reader *reader, struct str *out_raw);
// Only the checksum.
const char *tide__frame_check(int fd, uint64_t offset, uint32_t length, uint64_t checksum, struct frame_reader *reader);
void tide__frame_reader_deinit(struct frame_reader *reader);

// One chunk of a table, checked, into the arena.
const char *tide__savepoint_chunk(const struct savepoint *savepoint, size_t table, size_t chunk,
                                  struct frame_reader *reader, struct arena *arena, struct chunk *out);
// The error of a broken chunk.
tide_status tide__savepoint_fail_chunk(const struct savepoint *savepoint, size_t table, size_t chunk, const char *what,
                                       tide_error *err);

// From an open file, which is taken. `path` is for messages.
tide_status tide__savepoint_open_fd(int fd, const char *path, struct savepoint **out, tide_error *err) TIDE_CHECKED;
// Every checksum of the chunks, without unpacking them: is the file whole?
tide_status tide__savepoint_check_frames(const struct savepoint *savepoint, tide_error *err) TIDE_CHECKED;

#endif
