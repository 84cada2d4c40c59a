// Savepoint files being written: the file, and a table's entries with their index and counts. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_WRITER_H
#define TIDE_CHECKPOINT_WRITER_H

#include "base/arena.h"
#include "base/error.h"
#include "checkpoint/chunk.h"
#include "checkpoint/format.h"
#include "checkpoint/key_filter.h"
#include "checkpoint/savepoint.h"

// A file that is written beside its place and renamed when it is whole. Memory: one chunk, its frame, and the index.
struct file_writer {
    char *path, *beside;
    int fd;  // -1: not open
    uint64_t offset;
    void *zstd;
    struct strbuf raw, frame;
    struct chunk_builder chunk;
    struct arena arena;  // keys of the index
    uint64_t manifest_checksum;
};

// Makes `beside` and writes the header. `path`, for messages until tide__file_writer_finish needs it.
tide_status tide__file_writer_open(struct file_writer *writer, const char *path, const char *beside, uint32_t flags,
                                   tide_error *err) TIDE_CHECKED;
// Writes writer->chunk, which is not empty, and clears it.
tide_status tide__file_writer_put_chunk(struct file_writer *writer, struct savepoint_chunk *out,
                                        tide_error *err) TIDE_CHECKED;
// A frame that is no chunk.
tide_status tide__file_writer_put_filter(struct file_writer *writer, struct str filter, struct savepoint_chunk *out,
                                         tide_error *err) TIDE_CHECKED;
// Manifest and footer; fsync, rename, folder fsync.
tide_status tide__file_writer_finish(struct file_writer *writer, const struct savepoint_info *info,
                                     tide_error *err) TIDE_CHECKED;
// Also removes what was not finished.
void tide__file_writer_deinit(struct file_writer *writer);

// Windows and how much they hold, by start: at most SAVEPOINT_WINDOWS_MAX are listed.
struct window_list {
    struct savepoint_window *items;
    size_t cap;
    uint64_t count;
    char last[WINDOW_KEY_BYTES];
};
// Counts an entry whose key is not less than the one before.
void tide__window_list_count(struct window_list *list, struct str key, size_t bytes);

// A table of a full file while it is written.
struct table_writer {
    struct savepoint_table out;
    struct savepoint_chunk *chunks;
    size_t chunk_count, chunk_cap;
    struct window_list windows;
    struct key_filter_builder filter;
};
void tide__table_writer_begin(struct file_writer *file, struct table_writer *table, uint32_t index,
                              const struct state_table_desc *desc);
tide_status tide__table_writer_add(struct file_writer *file, struct table_writer *table, struct str key,
                                   struct str value, tide_error *err) TIDE_CHECKED;
// table->out is complete then.
tide_status tide__table_writer_end(struct file_writer *file, struct table_writer *table, tide_error *err) TIDE_CHECKED;
// Behind all chunks of all tables: the table's key filter, if it is worth having.
tide_status tide__table_writer_put_filter(struct file_writer *file, struct table_writer *table,
                                          tide_error *err) TIDE_CHECKED;
void tide__table_writer_deinit(struct table_writer *table);

// Is the entry one that a savepoint can hold?
tide_status tide__writer_check_entry(const struct state_table_desc *desc, const struct state_entry *entry,
                                     tide_error *err) TIDE_CHECKED;

#endif
