// Writing JSON as Flink's sink does: one object a line, all fields in the table's order, Jackson's spelling.
//
// DECIMALs lose trailing zeros and are printed as Java's BigDecimal prints them, unless json.encode.decimal-as-plain-number is
// set: then plainly and with all their digits. TIMEs have no fraction. NaN and infinities are strings, for JSON has none.
#include "base/alloc.h"
#include "base/decimal.h"
#include "base/time.h"
#include "engine/expr/nested.h"
#include "engine/formats/java_text.h"
#include "engine/formats/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct format_writer {
    struct json_options options;
    uint32_t field_count;
    struct str *names;
};

tide_status tide__json_writer_open(const struct table *table, uint32_t field_count, const struct type *const *fields,
                                   struct format_writer **out, tide_error *err) {
    *out = NULL;
    struct json_options options;
    TIDE_TRY(tide__json_options(table, FORMAT_WRITE, &options, err));
    struct format_writer *writer = tide__calloc(1, sizeof(*writer));
    writer->options = options;
    writer->field_count = field_count;
    writer->names = tide__calloc(field_count + 1, sizeof(*writer->names));
    uint32_t next = 0;
    for (uint32_t i = 0; i < table->column_count && next < field_count; i++) {
        bool partition = false;
        for (uint32_t p = 0; p < table->partition_key_count; p++) partition |= table->partition_keys[p] == i;
        if (partition || table->columns[i].kind != TABLE_COLUMN_PHYSICAL) continue;
        writer->names[next++] = tide__str(table->columns[i].name);
    }
    assert(next == field_count);
    *out = writer;
    return TIDE_OK;
}

void tide__json_writer_close(struct format_writer *writer) {
    if (writer == NULL) return;
    tide__free(writer->names);
    tide__free(writer);
}

// --- plain values -----------------------------------------------------------------------------------------------

static void print_float(double value, bool single, struct strbuf *out) {
    bool quoted = !isfinite(value);
    if (quoted) tide__strbuf_append_char(out, '"');
    if (single) {
        tide__float_print(value, out);
    } else {
        tide__double_print(value, out);
    }
    if (quoted) tide__strbuf_append_char(out, '"');
}

static void print_decimal(const struct json_options *options, const struct column *column, size_t row,
                          struct strbuf *out) {
    int128 value = column->physical == PHYSICAL_I128 ? column->i128[row] : column->i64[row];
    if (options->plain_decimals) {
        tide__decimal_print(value, column->type->scale, out);
    } else {
        tide__java_print_decimal(value, column->type->scale, out);
    }
}

static void print_timestamp(const struct json_options *options, const struct column *column, size_t row,
                            struct strbuf *out) {
    struct timestamp time = {0};
    if (column->physical == PHYSICAL_TIME) {
        time = column->time[row];
    } else {
        time.ms = column->i64[row];
    }
    size_t start = out->len;
    tide__java_print_timestamp(time, out);
    if (options->iso_times) *(char *)memchr(out->data + start, ' ', out->len - start) = 'T';
    if (column->type->kind == TYPE_TIMESTAMP_LTZ) tide__strbuf_append_char(out, 'Z');
}

static tide_status write_value(const struct json_options *options, const struct column *column, size_t row,
                               struct strbuf *out, tide_error *err);

// In quotes, of characters that need no escape.
static void print_quoted(const struct json_options *options, const struct column *column, size_t row,
                         struct strbuf *out) {
    tide__strbuf_append_char(out, '"');
    enum type_kind kind = column->type->kind;
    if (kind == TYPE_DATE) {
        tide__date_print(column->i64[row], out);
    } else if (kind == TYPE_TIME) {
        tide__time_print(column->i64[row], 0, out);
    } else if (kind == TYPE_BINARY || kind == TYPE_VARBINARY) {
        tide__base64_encode(column->str[row], out);
    } else {
        print_timestamp(options, column, row, out);
    }
    tide__strbuf_append_char(out, '"');
}

// --- nested values ----------------------------------------------------------------------------------------------

static tide_status write_array(const struct json_options *options, const struct column *elements, size_t count,
                               struct strbuf *out, tide_error *err) {
    tide__strbuf_append_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) tide__strbuf_append_char(out, ',');
        TIDE_TRY(write_value(options, &elements[i], 0, out, err));
    }
    tide__strbuf_append_char(out, ']');
    return TIDE_OK;
}

static tide_status write_map(const struct json_options *options, const struct column *elements, size_t count,
                             struct strbuf *out, tide_error *err) {
    size_t written = 0;
    tide__strbuf_append_char(out, '{');
    for (size_t i = 0; i + 1 < count; i += 2) {
        bool null_key = tide__column_is_null(&elements[i], 0);
        struct str key = null_key ? options->null_key_literal : elements[i].str[0];
        if (null_key && options->null_key == JSON_NULL_KEY_FAIL) {
            tide__fail(err, TIDE_ERR_RUNTIME, "a MAP with a NULL key can't be written as JSON");
            return tide__fail_hint(err, "set 'json.map-null-key.mode' to 'DROP' or 'LITERAL'");
        }
        if (null_key && options->null_key == JSON_NULL_KEY_DROP) continue;
        if (written++ > 0) tide__strbuf_append_char(out, ',');
        tide__json_print_string(key, out);
        tide__strbuf_append_char(out, ':');
        TIDE_TRY(write_value(options, &elements[i + 1], 0, out, err));
    }
    tide__strbuf_append_char(out, '}');
    return TIDE_OK;
}

static tide_status write_member(const struct json_options *options, struct str name, const struct column *column,
                                size_t row, size_t *written, struct strbuf *out, tide_error *err) {
    bool null = column == NULL || tide__column_is_null(column, row);
    if (null && options->leave_out_nulls) return TIDE_OK;
    if ((*written)++ > 0) tide__strbuf_append_char(out, ',');
    tide__json_print_string(name, out);
    tide__strbuf_append_char(out, ':');
    if (!null) return write_value(options, column, row, out, err);
    tide__strbuf_append_c(out, "null");
    return TIDE_OK;
}

static tide_status write_nested(const struct json_options *options, const struct column *column, size_t row,
                                struct strbuf *out, tide_error *err) {
    const struct type *type = column->type;
    struct arena arena;
    tide__arena_init(&arena);
    struct column *elements = NULL;
    size_t count = 0, written = 0;
    tide_status status = TIDE_OK;
    if (!tide__nested_decode(column->str[row], type, &arena, &elements, &count)) {
        status = tide__fail(err, TIDE_ERR_RUNTIME, "a nested value can't be decoded");
    } else if (type->kind == TYPE_ARRAY) {
        status = write_array(options, elements, count, out, err);
    } else if (type->kind != TYPE_ROW) {
        status = write_map(options, elements, count, out, err);
    } else {
        tide__strbuf_append_char(out, '{');
        for (size_t i = 0; i < count && status == TIDE_OK; i++) {
            status = write_member(options, tide__str(type->children[i].name), &elements[i], 0, &written, out, err);
        }
        tide__strbuf_append_char(out, '}');
    }
    tide__arena_deinit(&arena);
    return status;
}

static tide_status write_value(const struct json_options *options, const struct column *column, size_t row,
                               struct strbuf *out, tide_error *err) {
    if (tide__column_is_null(column, row)) {
        tide__strbuf_append_c(out, "null");
        return TIDE_OK;
    }
    switch (column->type->kind) {
    case TYPE_NULL: tide__strbuf_append_c(out, "null"); break;
    case TYPE_BOOLEAN: tide__strbuf_append_c(out, column->bools[row] ? "true" : "false"); break;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INTERVAL_MILLIS: tide__strbuf_printf(out, "%lld", (long long)column->i64[row]); break;
    case TYPE_FLOAT: print_float(column->f64[row], true, out); break;
    case TYPE_DOUBLE: print_float(column->f64[row], false, out); break;
    case TYPE_DECIMAL: print_decimal(options, column, row, out); break;
    case TYPE_CHAR:
    case TYPE_VARCHAR: tide__json_print_string(column->str[row], out); break;
    case TYPE_BINARY:
    case TYPE_VARBINARY:
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: print_quoted(options, column, row, out); break;
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: return write_nested(options, column, row, out, err);
    }
    return TIDE_OK;
}

tide_status tide__json_write(struct format_writer *writer, const struct column *const *columns, size_t row,
                             struct strbuf *out, tide_error *err) {
    size_t written = 0;
    tide__strbuf_append_char(out, '{');
    for (uint32_t i = 0; i < writer->field_count; i++) {
        TIDE_TRY(write_member(&writer->options, writer->names[i], columns[i], row, &written, out, err));
    }
    tide__strbuf_append_c(out, "}\n");
    return TIDE_OK;
}
