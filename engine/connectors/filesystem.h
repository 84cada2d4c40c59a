// Inside of the filesystem connector: lists of files, reading them in order, saved positions.
#ifndef TIDE_ENGINE_CONNECTORS_FILESYSTEM_H
#define TIDE_ENGINE_CONNECTORS_FILESYSTEM_H

#include "engine/connectors/connector.h"
#include "engine/formats/format.h"

// One file of a table.
struct input_file {
    char *path;       // as positions and messages name it: the table's path and what lies below it
    char *open_path;  // with the script's folder
    uint64_t size;    // when it was listed
    int64_t modified_ms;
    char *
        *partition_values;  // one a partition key, from `key=value` folders; NULL: the default partition, or not there
    uint64_t start;         // where reading begins: > 0 after a restore
    uint64_t start_line;    // number of the line there, from 1
    uint64_t end;           // bytes read, once it has been read to its end
    bool unterminated;      // its last row had no line end
    bool finished;          // a watching job has read it to its end: it is not looked at again, whatever becomes of it
    // Checksums of what stands before an offset, kept because a finished file is in every position that follows.
    bool hashed;
    uint64_t hashed_offset, head_hash, tail_hash;
};

struct input_files {
    struct input_file *items;
    size_t count, capacity;
    uint32_t partition_count;
    bool watched;  // files may come while the job runs
};

// The path of an option: without `file:`, relative to the script's folder if it is not absolute. To be freed.
char *tide__filesystem_path(const char *script_dir, struct str path);
// All files of a table in path order. Hidden ones (a leading `.` or `_`) are left out, folders are entered.
tide_status tide__filesystem_list(const struct table *table, const char *script_dir, struct input_files *out,
                                  tide_error *err) TIDE_CHECKED;
// Looks again and appends what is new, in path order. *out_found: there was something.
tide_status tide__filesystem_look(const struct table *table, const char *script_dir, struct input_files *files,
                                  bool *out_found, tide_error *err) TIDE_CHECKED;
void tide__filesystem_list_free(struct input_files *files);
// `source.monitor-interval` in milliseconds; 0: the table is read once.
int64_t tide__monitor_interval_ms(const struct table *table);
// `%XX` as Flink escapes partition values in folder names, and back. The result is to be freed.
char *tide__partition_unescape(struct str text);
void tide__partition_escape(struct str text, struct strbuf *out);
// The folder's value for NULL and the empty string: `partition.default-name`.
struct str tide__partition_default(const struct table *table);

// The number of the line at an offset of a file, from 1. Reads all that is before it: for messages, and where it is not known.
uint64_t tide__line_at(const char *open_path, uint64_t offset);

// Whole rows of one file.
struct source_block {
    struct source_block *next;  // of the free list
    char *data;
    size_t capacity;
    struct format_block bytes;
    size_t file;          // index in the list
    uint64_t offset;      // of data[0] in the file
    uint64_t first_line;  // number of the line at data[0]; set when the block is reached in order
    bool counted;         // first_line is set
    bool last;            // of its file
    uint32_t references;
};

// Reads the files of a list one after the other, in blocks.
struct file_reader {
    struct input_files files;
    const struct format_class *format;
    const struct format_reader *format_reader;
    size_t block_bytes;
    size_t current;   // file
    int fd;           // -1: `current` is not open yet
    uint64_t offset;  // of the carried bytes in the file
    char *carry;      // begun rows of the block before
    size_t carry_len, carry_capacity;
};
// Fills a block; its length is 0 at the end of the last file.
tide_status tide__file_reader_next(struct file_reader *reader, struct source_block *block,
                                   tide_error *err) TIDE_CHECKED;
// The error of a row that has no end. `start`: its first bytes.
tide_status tide__row_too_long(const char *path, uint64_t line, struct str start, tide_error *err);
void tide__file_reader_deinit(struct file_reader *reader);

// A place in the input, between two rows.
struct source_place {
    size_t file;  // files.count: behind the last one
    uint64_t offset;
    uint64_t line;     // from 1
    uint64_t rows;     // given out before it
    uint64_t skipped;  // bad rows left out before it
};
#define POSITION_CHECKED_BYTES ((size_t)4096)
tide_status tide__position_save(struct input_files *files, const struct source_place *place, struct strbuf *out,
                                tide_error *err) TIDE_CHECKED;
// Orders the files anew and sets where each is to begin. out: the place to go on from.
tide_status tide__position_restore(struct input_files *files, struct str saved, enum changed_input changed,
                                   struct source_place *out, tide_error *err) TIDE_CHECKED;

// The files of a saved position, as far as they have been read.
struct position_file {
    struct str path;  // in `saved`
    uint64_t size, offset, line;
    bool finished, current;
};
// False: it is no position of files.
bool tide__position_list(struct str saved, struct arena *arena, struct position_file **out, size_t *out_count);

#endif
