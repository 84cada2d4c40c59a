// Writing CSV as Flink's file sink does, which is Jackson's encoder with its quirks.
//
// Numbers and booleans are bare. A text is quoted when it is longer than 24 UTF-16 units, or holds a character that is not
// greater than the larger of delimiter and quote (so a blank, '+' or '#'; with ';' also digits), a backslash or the escape
// character. Inside quotes the quote is doubled, and so is an escape character. NULL is the bare null literal. DECIMALs
// lose trailing zeros and are printed as Java's BigDecimal prints them: `1.2E+6`.
#include "base/alloc.h"
#include "base/decimal.h"
#include "base/time.h"
#include "engine/expr/nested.h"
#include "engine/formats/csv.h"
#include "engine/formats/java_text.h"

#include <assert.h>
#include <string.h>

// Jackson gives up looking for a reason to quote here.
#define QUOTE_CHECK_MAX ((size_t)24)

struct format_writer {
    struct csv_options options;
    uint32_t field_count;
    const struct type **types;
    unsigned char unsafe_max;  // characters up to this one make a text quoted
    struct strbuf scratch;
};

tide_status tide__csv_writer_open(const struct table *table, uint32_t field_count, const struct type *const *fields,
                                  struct format_writer **out, tide_error *err) {
    *out = NULL;
    struct csv_options options;
    TIDE_TRY(tide__csv_options(table, &options, err));
    struct format_writer *writer = tide__calloc(1, sizeof(*writer));
    writer->options = options;
    writer->field_count = field_count;
    writer->types = tide__calloc(field_count + 1, sizeof(*writer->types));
    for (uint32_t i = 0; i < field_count; i++) writer->types[i] = fields[i];
    unsigned char delimiter = (unsigned char)options.delimiter;
    unsigned char quote = options.quote < 0 ? 0 : (unsigned char)options.quote;
    writer->unsafe_max = delimiter > quote ? delimiter : quote;
    if (writer->unsafe_max < '\n') writer->unsafe_max = '\n';
    *out = writer;
    return TIDE_OK;
}

void tide__csv_writer_close(struct format_writer *writer) {
    if (writer == NULL) return;
    tide__strbuf_deinit(&writer->scratch);
    tide__free(writer->types);
    tide__free(writer);
}

// UTF-16 units: a code point of four bytes takes two.
static size_t utf16_length(struct str text) {
    size_t units = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        units += (c & 0xC0) != 0x80;
        units += c >= 0xF0;
    }
    return units;
}

static bool needs_quotes(const struct format_writer *writer, struct str text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c <= writer->unsafe_max || c == '\\' || c == writer->options.escape) return true;
    }
    return text.len > QUOTE_CHECK_MAX && utf16_length(text) > QUOTE_CHECK_MAX;
}

static void write_text(const struct format_writer *writer, struct str text, struct strbuf *out) {
    int quote = writer->options.quote, escape = writer->options.escape;
    if (quote < 0 || !needs_quotes(writer, text)) {
        tide__strbuf_append_str(out, text);
        return;
    }
    tide__strbuf_append_char(out, (char)quote);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == quote || c == escape) tide__strbuf_append_char(out, (char)c);
        tide__strbuf_append_char(out, (char)c);
    }
    tide__strbuf_append_char(out, (char)quote);
}

static struct timestamp time_at(const struct column *column, size_t row) {
    if (column->physical == PHYSICAL_TIME) return column->time[row];
    return (struct timestamp){column->i64[row], 0};
}

// A value's text without quotes. False if it is a bare one (number, boolean) that is never quoted.
static bool value_text(const struct column *column, const struct type *type, size_t row, struct strbuf *out) {
    switch (type->kind) {
    case TYPE_BOOLEAN: tide__strbuf_append_c(out, column->bools[row] ? "true" : "false"); return false;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INTERVAL_MILLIS: tide__strbuf_printf(out, "%lld", (long long)column->i64[row]); return false;
    case TYPE_FLOAT: tide__float_print((float)column->f64[row], out); return false;
    case TYPE_DOUBLE: tide__double_print(column->f64[row], out); return false;
    case TYPE_DECIMAL:
        tide__java_print_decimal(column->physical == PHYSICAL_I128 ? column->i128[row] : column->i64[row], type->scale,
                                 out);
        return false;
    case TYPE_CHAR:
    case TYPE_VARCHAR: tide__strbuf_append_str(out, column->str[row]); return true;
    case TYPE_BINARY:
    case TYPE_VARBINARY: tide__base64_encode(column->str[row], out); return true;
    case TYPE_DATE: tide__date_print(column->i64[row], out); return true;
    case TYPE_TIME: tide__java_print_time(column->i64[row], out); return true;
    case TYPE_TIMESTAMP: tide__java_print_timestamp(time_at(column, row), out); return true;
    case TYPE_TIMESTAMP_LTZ:
        tide__java_print_timestamp(time_at(column, row), out);
        tide__strbuf_append_char(out, 'Z');
        return true;
    case TYPE_NULL:
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: assert(!"refused by validate, or not a plain value"); return false;
    }
    return false;
}

// Elements, joined by the delimiter, are one text.
static tide_status write_nested(struct format_writer *writer, const struct column *column, const struct type *type,
                                size_t row, struct strbuf *out, tide_error *err) {
    struct arena arena;
    tide__arena_init(&arena);
    struct column *elements = NULL;
    size_t count = 0;
    tide_status status = TIDE_OK;
    if (!tide__nested_decode(column->str[row], type, &arena, &elements, &count)) {
        status = tide__fail(err, TIDE_ERR_RUNTIME, "a nested value can't be decoded");
    }
    struct strbuf element = {0};
    tide__strbuf_clear(&writer->scratch);
    for (size_t i = 0; status == TIDE_OK && i < count; i++) {
        if (i > 0) tide__strbuf_append_str(&writer->scratch, writer->options.element_delimiter);
        tide__strbuf_clear(&element);
        if (tide__column_is_null(&elements[i], 0)) {
            tide__strbuf_append_str(&element, writer->options.null_literal);
        } else {
            (void)value_text(&elements[i], elements[i].type, 0, &element);
        }
        tide__strbuf_append_str(&writer->scratch, tide__strbuf_str(&element));
    }
    if (status == TIDE_OK) write_text(writer, tide__strbuf_str(&writer->scratch), out);
    tide__strbuf_deinit(&element);
    tide__arena_deinit(&arena);
    return status;
}

static tide_status write_value(struct format_writer *writer, const struct column *column, const struct type *type,
                               size_t row, struct strbuf *out, tide_error *err) {
    if (type->kind == TYPE_CHAR || type->kind == TYPE_VARCHAR) {
        write_text(writer, column->str[row], out);
        return TIDE_OK;
    }
    if (type->kind == TYPE_ARRAY || type->kind == TYPE_ROW) return write_nested(writer, column, type, row, out, err);
    tide__strbuf_clear(&writer->scratch);
    if (value_text(column, type, row, &writer->scratch)) {
        write_text(writer, tide__strbuf_str(&writer->scratch), out);
    } else {
        tide__strbuf_append_str(out, tide__strbuf_str(&writer->scratch));
    }
    return TIDE_OK;
}

tide_status tide__csv_write(struct format_writer *writer, const struct column *const *columns, size_t row,
                            struct strbuf *out, tide_error *err) {
    for (uint32_t i = 0; i < writer->field_count; i++) {
        if (i > 0) tide__strbuf_append_char(out, writer->options.delimiter);
        if (columns[i] == NULL || tide__column_is_null(columns[i], row)) {
            tide__strbuf_append_str(out, writer->options.null_literal);
        } else {
            TIDE_TRY(write_value(writer, columns[i], writer->types[i], row, out, err));
        }
    }
    tide__strbuf_append_char(out, '\n');
    return TIDE_OK;
}
