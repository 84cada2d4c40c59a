// Inside of the JSON format.
#ifndef TIDE_ENGINE_FORMATS_JSON_H
#define TIDE_ENGINE_FORMATS_JSON_H

#include "engine/formats/format.h"
#include "engine/formats/json_scan.h"

enum json_null_key { JSON_NULL_KEY_FAIL, JSON_NULL_KEY_DROP, JSON_NULL_KEY_LITERAL };

struct json_options {
    bool fail_on_missing, ignore_errors;
    bool iso_times;  // `2020-01-01T00:00:00`, else `2020-01-01 00:00:00`
    enum json_null_key null_key;
    struct str null_key_literal;  // points into the table's options
    bool plain_decimals, leave_out_nulls;
};
// Reads and checks the json.* options of a table.
tide_status tide__json_options(const struct table *table, enum format_use use, struct json_options *out,
                               tide_error *err) TIDE_CHECKED;
extern const char *const tide__json_option_names[];

// A column that is read, or a part of one: the fields of a ROW, the element of an ARRAY, key and value of a MAP or MULTISET.
struct json_field {
    struct str name;  // of a column or a ROW's field
    const struct type *type;
    uint32_t child_count;
    struct json_field *children;
};
// In the arena. NULL if the format has no such type; *out_why says which part of it.
struct json_field *tide__json_field(struct arena *arena, struct str name, const struct type *type,
                                    const char **out_why);

struct format_reader {
    struct json_options options;
    const struct table *table;
    struct arena arena;
    uint32_t field_count;
    struct json_field *fields;  // one a read
    bool has_decimal;           // some column has one: then fractions printed into STRINGs are exact
};

struct format_parser {
    const struct format_reader *reader;
    struct json_scan scan;
    struct arena *arena;
    struct strbuf scratch;
    struct format_fault *fault;
    size_t base;       // of the row in the block
    const char *path;  // of a bad value, below the place that passes the failure on
};

enum json_result {
    JSON_OK,
    JSON_IS_NULL,  // valid, but NULL; nothing is stored
    JSON_BAD,      // not of the type: the fault is set unless such values are ignored
    JSON_ROW_BAD,  // the text is broken, or read out of step: nothing more can be read of this row
};
// Converts the value at the current token and stores it in column[row]. As in Flink's converters, after JSON_BAD the scan
// stands where they would have left it. Sets the NULL flag, which must be there.
enum json_result tide__json_convert(struct format_parser *parser, const struct json_field *field, struct column *column,
                                    size_t row);
// The members of the object at the current token into `row` of the fields' columns.
enum json_result tide__json_members(struct format_parser *parser, const struct json_field *fields, uint32_t field_count,
                                    struct column *columns, size_t row);
// ARRAY, MAP, MULTISET and ROW, without the NULL flag.
enum json_result tide__json_nested(struct format_parser *parser, const struct json_field *field, struct column *column,
                                   size_t row);
// Says what is wrong with the current token, unless errors are ignored; returns JSON_BAD.
enum json_result tide__json_bad(struct format_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The failure was in this part of a value.
void tide__json_bad_below(struct format_parser *parser, const char *separator, struct str name);

struct format_parser *tide__json_parser_new(const struct format_reader *reader);
void tide__json_parser_free(struct format_parser *parser);
void tide__json_parse_rows(struct format_parser *parser, struct format_block *block, size_t rows_max,
                           struct arena *arena, struct format_rows *out);

tide_status tide__json_writer_open(const struct table *table, uint32_t field_count, const struct type *const *fields,
                                   struct format_writer **out, tide_error *err) TIDE_CHECKED;
tide_status tide__json_write(struct format_writer *writer, const struct column *const *columns, size_t row,
                             struct strbuf *out, tide_error *err) TIDE_CHECKED;
void tide__json_writer_close(struct format_writer *writer);

extern const struct format_class tide__json_format;

#endif
