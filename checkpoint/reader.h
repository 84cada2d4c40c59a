// An open savepoint file and its frames. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_READER_H
#define TIDE_CHECKPOINT_READER_H

#include "base/arena.h"
#include "base/error.h"
#include "checkpoint/chunk.h"
#include "checkpoint/key_ranges.h"
#include "checkpoint/savepoint.h"

#include <pthread.h>

struct savepoint {
    int fd;
    char *path;
    uint64_t size;
    uint64_t manifest_offset, manifest_checksum;
    struct savepoint *parent;  // of a delta; owned
    struct arena arena;
    struct savepoint_info info;
    pthread_mutex_t lock;       // guards failure
    tide_error failure;         // of a stream of entries; the first one
    struct key_ranges *passed;  // of each table: keys that streams leave out; NULL: none
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

// One chunk, checked, into the arena. Its desc is that of the table in the file's own manifest.
const char *tide__savepoint_chunk(const struct savepoint *savepoint, uint32_t table,
                                  const struct savepoint_chunk *index, struct frame_reader *reader, struct arena *arena,
                                  struct chunk *out);
// The key filter of a table, checked: as many as it has chunks. Valid until the reader reads again. NULL, or what is wrong.
const char *tide__savepoint_filter(const struct savepoint *savepoint, size_t table, struct frame_reader *reader,
                                   struct str *out);
// The error of a broken chunk.
tide_status tide__savepoint_fail_chunk(const struct savepoint *savepoint, uint32_t table,
                                       const struct savepoint_chunk *index, const char *what, tide_error *err);
// Remembers it as the failure of the savepoint that is read.
void tide__savepoint_remember(struct savepoint *savepoint, const tide_error *failure);

// The chunks of a file one by one, in the order of the file: of its tables, or of a delta's sections.
struct chunk_walk {
    const struct savepoint *savepoint;
    uint32_t table, section, chunk;  // of the one given; section: UINT32_MAX in a full file
    const struct savepoint_chunk *index;
    size_t group;  // of tables or sections
    uint32_t next;
};
bool tide__chunk_walk_next(struct chunk_walk *walk);

// Sorted entries of one file: the chunks of a table, or of a delta's section.
struct chunk_stream {
    const struct savepoint *file;
    struct savepoint *owner;  // remembers failures: the savepoint that was asked for
    uint32_t table;
    const struct savepoint_chunk *chunks;
    size_t count, next;
    bool open, ended;           // a chunk is open; nothing comes any more
    bool failed;                // because a chunk is broken
    struct str lower, upper;    // borrowed
    struct str filters, field;  // key filters of the chunks from `next` on; none: data NULL. Borrowed
    struct key_ranges hidden;   // entries in here are passed over, chunks of nothing else not even read; owned
    size_t hidden_at;
    struct frame_reader reader;
    struct arena arena;  // of the open chunk
    struct chunk chunk;
    struct chunk_cursor cursor;
};
bool tide__chunk_stream_next(struct chunk_stream *stream, struct state_entry *out);
void tide__chunk_stream_deinit(struct chunk_stream *stream);

// All entries of a table but those in `missing` (settled; NULL: none). For writing a copy.
tide_status tide__savepoint_entries_without(struct savepoint *savepoint, size_t table, const struct key_ranges *missing,
                                            struct state_source **out, tide_error *err) TIDE_CHECKED;

// A full file of what is in `savepoint` but not in `missing` (one a table; NULL: none), described by `info`.
tide_status tide__savepoint_write_copy(const char *path, struct savepoint *savepoint, const struct savepoint_info *info,
                                       const struct key_ranges *missing, uint64_t *out_bytes,
                                       tide_error *err) TIDE_CHECKED;

// Opens what lies below a delta, and works out what its tables hold at most.
tide_status tide__savepoint_open_parents(struct savepoint *savepoint, tide_error *err) TIDE_CHECKED;
// Only this file.
tide_status tide__savepoint_open_one(const char *path, struct savepoint **out, tide_error *err) TIDE_CHECKED;

// From an open file, which is taken. `path` is for messages.
tide_status tide__savepoint_open_fd(int fd, const char *path, struct savepoint **out, tide_error *err) TIDE_CHECKED;
// Every checksum of the chunks, without unpacking them: is the file whole, and what it builds on?
tide_status tide__savepoint_check_frames(const struct savepoint *savepoint, tide_error *err) TIDE_CHECKED;

#endif
