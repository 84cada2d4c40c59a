// Inside of the CSV format.
#ifndef TIDE_ENGINE_FORMATS_CSV_H
#define TIDE_ENGINE_FORMATS_CSV_H

#include "engine/formats/format.h"

struct csv_options {
    char delimiter;
    int quote;   // -1: quotes are data
    int escape;  // -1: there is none
    bool allow_comments, ignore_errors;
    bool has_null;
    struct str null_literal;       // points into the table's options
    struct str element_delimiter;  // likewise
};

// Reads and checks the csv.* options of a table.
tide_status tide__csv_options(const struct table *table, struct csv_options *out, tide_error *err) TIDE_CHECKED;
extern const char *const tide__csv_option_names[];

// See format_class.split.
size_t tide__csv_split(const struct csv_options *options, const char *data, size_t len, bool at_end);

enum csv_kind {
    CSV_SKIP,  // not read
    CSV_BOOLEAN,
    CSV_INTEGER,
    CSV_DOUBLE,
    CSV_FLOAT,
    CSV_DECIMAL,       // to 18 digits
    CSV_DECIMAL_WIDE,  // i128
    CSV_STRING,
    CSV_BYTES,
    CSV_DATE,
    CSV_TIME,
    CSV_TIMESTAMP,       // milliseconds
    CSV_TIMESTAMP_WIDE,  // struct timestamp
    CSV_INSTANT,         // TIMESTAMP_LTZ, milliseconds
    CSV_INSTANT_WIDE,
    CSV_NESTED,  // ARRAY or ROW of plain values
};

// What a parser knows of one field of a file row.
struct csv_field {
    enum csv_kind kind;
    uint32_t position;
    uint32_t read;  // index among the columns that are read
    const char *name;
    const struct type *type;
    int64_t min, max;  // CSV_INTEGER
    int precision, scale;
    // CSV_NESTED: the element of an ARRAY, the fields of a ROW.
    struct csv_field *elements;
    const struct csv_options *options;
    // The column being filled.
    struct column column;
    bool has_nulls;
    // The last timestamp's `yyyy-MM-dd HH:mm:ss` and its milliseconds: times of neighbours are alike.
    char second_text[19];
    bool second_known;
    int64_t second_ms;
    char day_text[11];  // `yyyy-MM-dd `
    bool day_known;
    int64_t day_ms;
};

// False if the format can't read columns of this type. The elements of nested ones are tide__csv_nested_init's.
bool tide__csv_field_init(struct csv_field *field, const struct type *type);

enum csv_cell { CSV_CELL_OK, CSV_CELL_NULL, CSV_CELL_BAD };
// Converts one field's text (unquoted, not the null literal) and stores it in the column at `row`. CSV_CELL_NULL: valid,
// but NULL (DECIMAL overflow); nothing is stored then.
enum csv_cell tide__csv_cell(struct csv_field *field, struct str text, struct arena *arena, size_t row);
// The same for CSV_NESTED.
enum csv_cell tide__csv_nested_cell(struct csv_field *field, struct str text, struct arena *arena, size_t row);
// Makes field->elements. False if the elements are no plain values.
bool tide__csv_nested_init(struct csv_field *field, const struct csv_options *options);
// Whether a text is the null literal.
bool tide__csv_is_null(const struct csv_options *options, struct str text);
// `yyyy-MM-dd HH:mm:ss[.fraction]`, with a final Z if `zulu`, as java.time's formatter takes it in Flink.
bool tide__csv_timestamp(struct str text, bool zulu, struct timestamp *out);

struct format_parser *tide__csv_parser_new(const struct format_reader *reader);
void tide__csv_parser_free(struct format_parser *parser);
void tide__csv_parse(struct format_parser *parser, struct format_block *block, size_t rows_max, struct arena *arena,
                     struct format_rows *out);

struct format_reader {
    struct csv_options options;
    const struct table *table;
    uint32_t field_count;
    uint32_t read_count;
    struct csv_field *fields;  // field_count: what parsers begin with
};

tide_status tide__csv_writer_open(const struct table *table, uint32_t field_count, const struct type *const *fields,
                                  struct format_writer **out, tide_error *err) TIDE_CHECKED;
tide_status tide__csv_write(struct format_writer *writer, const struct column *const *columns, size_t row,
                            struct strbuf *out, tide_error *err) TIDE_CHECKED;
void tide__csv_writer_close(struct format_writer *writer);

extern const struct format_class tide__csv_format;

#endif
