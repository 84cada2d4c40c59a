// From a CSV field's text to a value, by the rules of Flink's converters, which are Java's (java_read.c).
//
// Every kind of column has one reader and it decides alone what is a value: the fast loop in csv_read.c has shortcuts
// for plain spellings only, and comes here for all others. Numbers, booleans and timestamps are trimmed as
// String.trim does (all characters up to the blank); DATE, TIME and DECIMAL are not: that is how Flink has it.
#include "base/alloc.h"
#include "base/decimal.h"
#include "engine/formats/csv.h"
#include "engine/formats/java_text.h"

#include <assert.h>
#include <string.h>

static enum csv_cell decimal_cell(struct csv_field *field, struct str text, size_t row) {
    if (!tide__java_is_decimal(text)) return CSV_CELL_BAD;
    int128 value = 0;
    if (!tide__decimal_parse(text, field->precision, field->scale, &value)) return CSV_CELL_NULL;
    if (field->kind == CSV_DECIMAL) {
        field->column.i64[row] = (int64_t)value;
    } else {
        field->column.i128[row] = value;
    }
    return CSV_CELL_OK;
}

bool tide__csv_timestamp(struct str text, bool zulu, struct timestamp *out) {
    struct java_time_format format = {.separator = ' ', .zulu = zulu};
    return tide__java_timestamp(tide__java_trim(text), &format, out);
}

// java.time.LocalTime.parse, then cut to the column's precision.
static bool time_cell(struct str text, int precision, int64_t *out_ms) {
    static const struct java_time_format local_time = {.strict = true, .seconds_optional = true};
    static const int64_t units[] = {1000, 100, 10, 1};
    int64_t unit = units[precision < 3 ? precision : 3];
    if (!tide__java_time(text, &local_time, out_ms)) return false;
    *out_ms = *out_ms / unit * unit;
    return true;
}

static enum csv_cell bytes_cell(struct csv_field *field, struct str text, struct arena *arena, size_t row) {
    char *bytes = tide__arena_alloc(arena, (text.len / 4 + 1) * 3);
    size_t len = 0;
    if (!tide__base64_decode(text, bytes, &len)) return CSV_CELL_BAD;
    field->column.str[row] = (struct str){bytes, len};
    return CSV_CELL_OK;
}

// --- all kinds --------------------------------------------------------------------------------------------------

static bool integer_field(struct csv_field *field, int64_t min, int64_t max) {
    field->kind = CSV_INTEGER;
    field->min = min;
    field->max = max;
    return true;
}

bool tide__csv_field_init(struct csv_field *field, const struct type *type) {
    field->type = type;
    field->precision = type->precision;
    field->scale = type->scale;
    bool wide = tide__type_physical(type) == PHYSICAL_TIME;
    switch (type->kind) {
    case TYPE_BOOLEAN: field->kind = CSV_BOOLEAN; return true;
    case TYPE_TINYINT: return integer_field(field, INT8_MIN, INT8_MAX);
    case TYPE_SMALLINT: return integer_field(field, INT16_MIN, INT16_MAX);
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INT: return integer_field(field, INT32_MIN, INT32_MAX);
    case TYPE_INTERVAL_MILLIS:
    case TYPE_BIGINT: return integer_field(field, INT64_MIN, INT64_MAX);
    case TYPE_FLOAT: field->kind = CSV_FLOAT; return true;
    case TYPE_DOUBLE: field->kind = CSV_DOUBLE; return true;
    case TYPE_DECIMAL:
        field->kind = tide__type_physical(type) == PHYSICAL_I64 ? CSV_DECIMAL : CSV_DECIMAL_WIDE;
        return true;
    case TYPE_CHAR:
    case TYPE_VARCHAR: field->kind = CSV_STRING; return true;
    case TYPE_BINARY:
    case TYPE_VARBINARY: field->kind = CSV_BYTES; return true;
    case TYPE_DATE: field->kind = CSV_DATE; return true;
    case TYPE_TIME: field->kind = CSV_TIME; return type->precision <= 3;
    case TYPE_TIMESTAMP: field->kind = wide ? CSV_TIMESTAMP_WIDE : CSV_TIMESTAMP; return true;
    case TYPE_TIMESTAMP_LTZ: field->kind = wide ? CSV_INSTANT_WIDE : CSV_INSTANT; return true;
    case TYPE_ARRAY:
    case TYPE_ROW: field->kind = CSV_NESTED; return true;
    case TYPE_NULL:
    case TYPE_MULTISET:
    case TYPE_MAP: break;
    }
    return false;
}

static enum csv_cell timestamp_cell(struct csv_field *field, struct str text, size_t row) {
    bool zulu = field->kind == CSV_INSTANT || field->kind == CSV_INSTANT_WIDE;
    struct timestamp time = {0};
    if (!tide__csv_timestamp(text, zulu, &time)) return CSV_CELL_BAD;
    if (field->kind == CSV_TIMESTAMP || field->kind == CSV_INSTANT) {
        field->column.i64[row] = time.ms;
    } else {
        field->column.time[row] = time;
    }
    return CSV_CELL_OK;
}

static enum csv_cell stored(bool is_value) {
    return is_value ? CSV_CELL_OK : CSV_CELL_BAD;
}

enum csv_cell tide__csv_cell(struct csv_field *field, struct str text, struct arena *arena, size_t row) {
    struct column *column = &field->column;
    switch (field->kind) {
    case CSV_SKIP: return CSV_CELL_OK;
    case CSV_BOOLEAN:  // Boolean.parseBoolean: whatever is not `true` is false
        column->bools[row] = tide__str_ieq_c(tide__java_trim(text), "true");
        return CSV_CELL_OK;
    case CSV_INTEGER: return stored(tide__java_integer(text, field->min, field->max, &column->i64[row]));
    case CSV_DOUBLE: return stored(tide__java_float(text, false, &column->f64[row]));
    case CSV_FLOAT: return stored(tide__java_float(text, true, &column->f64[row]));
    case CSV_DECIMAL:
    case CSV_DECIMAL_WIDE: return decimal_cell(field, text, row);
    case CSV_STRING: column->str[row] = text; return CSV_CELL_OK;
    case CSV_BYTES: return bytes_cell(field, text, arena, row);
    case CSV_DATE: return stored(tide__java_sql_date(text, &column->i64[row]));
    case CSV_TIME: return stored(time_cell(text, field->precision, &column->i64[row]));
    case CSV_TIMESTAMP:
    case CSV_TIMESTAMP_WIDE:
    case CSV_INSTANT:
    case CSV_INSTANT_WIDE: return timestamp_cell(field, text, row);
    case CSV_NESTED: return tide__csv_nested_cell(field, text, arena, row);
    }
    return CSV_CELL_BAD;
}
