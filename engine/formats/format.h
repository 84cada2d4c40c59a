// Formats: bytes of a file to rows and back. A format is a const table of functions, chosen by the `format` option.
//
// A reader is shared by all threads and never changes once open; each thread has its own parser. The connector cuts
// files into blocks at row ends (split) and gives each block to one parser, which turns it into rows piece by piece.
#ifndef TIDE_ENGINE_FORMATS_FORMAT_H
#define TIDE_ENGINE_FORMATS_FORMAT_H

#include "base/error.h"
#include "engine/batch.h"
#include "engine/plan.h"

// Readable bytes behind a block, whatever they hold: parsers load whole words.
#define FORMAT_PADDING ((size_t)64)
// No row may be longer: an unclosed quote must not swallow a file of any size.
#define FORMAT_ROW_BYTES_MAX ((size_t)16 << 20)

// A column that is read: its place among a file row's fields.
struct format_read {
    uint32_t position;  // from 0
    const char *name;
    const struct type *type;
};

struct format_env {
    const struct table *table;
    uint32_t field_count;  // fields of a whole row in the file
    uint32_t read_count;
    const struct format_read *reads;  // ascending positions
};

// Whole rows in memory; `at` moves on as rows are parsed.
struct format_block {
    const char *data;
    size_t len;
    size_t at;
    uint64_t lines;  // line ends in [0, at)
};

// Why a row can't be read, and where.
struct format_fault {
    bool is_set;
    size_t place;  // offset in the block
    char message[512], hint[256];
};

// What one call of parse gives.
struct format_rows {
    struct column *columns;  // one a read, with type and physical set; parse allocates the arrays
    uint32_t *row_ends;      // offset in the block behind each row; parse allocates it
    size_t rows;
    // Rows that were skipped under the format's option: for each, how many rows of this call stand before it.
    uint32_t *skips;
    size_t skip_count, skip_capacity;  // capacity is in the arena
    struct format_fault fault;         // set: the row behind the last one given is bad, parsing ends
};

struct format_reader;
struct format_parser;
struct format_writer;

enum format_use { FORMAT_READ, FORMAT_WRITE };

struct format_class {
    const char *name;
    const char *const *options;  // names of its options with prefix, NULL-terminated
    bool keeps_bom;              // a byte order mark at the start of a file is data
    // Options and column types; errors at their place in the script.
    tide_status (*validate)(const struct table *table, enum format_use use, tide_error *err);

    tide_status (*reader_open)(const struct format_env *env, struct format_reader **out, tide_error *err);
    // Bytes of data[0..len) up to and with the last row end; data begins at a row. 0: there is none, more bytes are needed.
    // at_end: nothing follows, so that a CR or a quote at the end is what it seems.
    size_t (*split)(const struct format_reader *reader, const char *data, size_t len, bool at_end);
    void (*reader_close)(struct format_reader *reader);

    struct format_parser *(*parser_new)(const struct format_reader *reader);
    // Parses up to `rows_max` rows from block->at on. Memory comes from the arena; strings may point into the block.
    void (*parse)(struct format_parser *parser, struct format_block *block, size_t rows_max, struct arena *arena,
                  struct format_rows *out);
    // One value by the format's rules, for partition columns: stored in column[row]. False if it is none.
    bool (*parse_value)(const struct type *type, struct str text, struct arena *arena, struct column *column,
                        size_t row);
    void (*parser_free)(struct format_parser *parser);

    // fields[i]: the type of a file row's field i.
    tide_status (*writer_open)(const struct table *table, uint32_t field_count, const struct type *const *fields,
                               struct format_writer **out, tide_error *err);
    // Appends one row; columns[i] is field i, NULL for a field that is not given.
    tide_status (*write)(struct format_writer *writer, const struct column *const *columns, size_t row,
                         struct strbuf *out, tide_error *err);
    void (*writer_close)(struct format_writer *writer);
};

// NULL if there is none.
const struct format_class *tide__format_find(struct str name);
const char *const *tide__format_names(size_t *out_count);

#endif
