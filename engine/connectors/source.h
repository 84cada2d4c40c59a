// Inside of the source reader: what its parts know of each other.
#ifndef TIDE_ENGINE_CONNECTORS_SOURCE_H
#define TIDE_ENGINE_CONNECTORS_SOURCE_H

#include "engine/connectors/connector.h"
#include "engine/connectors/datagen.h"
#include "engine/connectors/filesystem.h"
#include "engine/connectors/row_source.h"
#include "engine/connectors/stream.h"
#include "engine/expr/eval.h"
#include "engine/formats/format.h"

#include <pthread.h>

// A batch with what the reader keeps of it. One piece of one block.
struct parsed_batch {
    struct source_batch batch;  // the first member: what callers see
    struct parsed_batch *next;  // of the free list, or of the block's batches
    struct source_block *block;
    size_t start;              // offset in the block of the first row
    size_t end;                // offset behind the last row and what was skipped behind it
    uint64_t lines_after;      // line ends of the block before `end`
    const uint32_t *row_ends;  // offset in the block behind each row
    const uint32_t *skips;     // see struct format_rows
    size_t skip_count;
    tide_error *error;                     // of the row behind the last one
    bool error_in_data;                    // its line counts from the block's first, which is 1
    uint64_t rows_before, skipped_before;  // in the whole input; set when the batch's turn comes
    size_t charged;                        // bytes charged to the budget
};

enum read_kind { READ_FIELD, READ_PARTITION, READ_PATH, READ_NAME, READ_SIZE, READ_MODIFIED };

// A column of the scan's `reads`: a field of the file's rows, or the same for all rows of a file.
struct scan_read {
    enum read_kind kind;
    const struct table_column *column;
    uint32_t index;  // READ_FIELD: among the format's reads; READ_PARTITION: the partition key
};

// What a scan needs to know to parse; shared by all threads, never changed.
struct scan {
    const struct plan_node *node;
    const struct plan *plan;
    const struct format_class *format;
    struct format_reader *format_reader;
    uint32_t field_read_count;
    struct format_read *field_reads;
    struct scan_read *reads;  // node->scan.read_count
    size_t batch_rows_max;
    int64_t started_ms;  // batch mode: CURRENT_TIMESTAMP of all rows
};
tide_status tide__scan_init(struct scan *scan, const struct source_env *env, tide_error *err) TIDE_CHECKED;
void tide__scan_deinit(struct scan *scan);

// One thread's tools.
struct scan_parser {
    const struct scan *scan;
    struct format_parser *parser;
};
void tide__scan_parser_init(struct scan_parser *parser, const struct scan *scan);
void tide__scan_parser_deinit(struct scan_parser *parser);
// Parses the next piece of a block into an empty parsed_batch.
void tide__scan_parse(struct scan_parser *parser, const struct input_file *file, struct source_block *block,
                      struct parsed_batch *out);

// A block being parsed, or parsed and waiting for its turn.
struct source_slot {
    struct source_block *block;  // its length is 0 at the end of input
    struct parsed_batch *first, *last;
    tide_status status;  // reading failed
    tide_error error;
    bool done;
};

struct source_reader {
    struct scan scan;
    struct file_reader file_reader;  // of a stream only its list, with one file
    bool is_stream;
    struct stream_reader stream;
    bool is_datagen;
    struct datagen datagen;
    const struct row_source_class *row_source;  // NULL: it is none of those
    char *script_dir;
    int64_t monitor_interval_ms;  // 0: files are read once
    int64_t looked_ms;            // when new files were last looked for
    struct memory_budget *budget;
    uint32_t workers_wanted;
    uint32_t workers;  // of the files known now
    // Free blocks and batches.
    pthread_mutex_t lock;  // of all that follows
    struct source_block *free_blocks;
    struct parsed_batch *free_batches;
    // Parsing in threads (source_workers.c).
    pthread_mutex_t read_lock;  // held while a block is read; blocks are numbered in that order
    pthread_cond_t has_room, has_batch;
    struct source_slot *slots;  // a ring by block number
    uint32_t slot_count;
    uint64_t read_number, given_number;  // next block to be read, to be given out
    bool stop, read_ended;
    pthread_t *threads;
    uint32_t thread_count;
    // The caller's side.
    bool started, ended;
    struct scan_parser parser;           // workers == 0
    struct source_block *block;          // workers == 0: being parsed
    struct parsed_batch *given_batches;  // of the block whose turn it is
    struct source_place place;           // behind what was given out
    uint64_t line;                       // at the end of the counted blocks of the current file
    size_t line_file;
    tide_status failed;
    tide_error failure;
    uint64_t bytes_read;
};

struct source_block *tide__source_take_block(struct source_reader *reader);
struct parsed_batch *tide__source_take_batch(struct source_reader *reader);
// Parses the block's next piece and charges its memory.
struct parsed_batch *tide__source_parse_piece(struct source_reader *reader, struct scan_parser *parser,
                                              struct source_block *block);
void tide__source_drop_block(struct source_reader *reader, struct source_block *block);

void tide__workers_start(struct source_reader *reader);
// The next batch of the next block. *out NULL: the end of input, or a failed read (status).
tide_status tide__workers_next(struct source_reader *reader, struct parsed_batch **out, tide_error *err) TIDE_CHECKED;
void tide__workers_stop(struct source_reader *reader);
// A block's turn has come: gives its first line its number.
void tide__source_count_block(struct source_reader *reader, struct source_block *block);

#endif
