// From a JSON token to a value of a column, step by step as Flink's JsonParserToRowDataConverters.
//
// A number may stand in a string; a fraction in an INT or BIGINT column is cut, in a TINYINT or SMALLINT column it is an
// error; whatever is not true is a false BOOLEAN; a STRING takes everything, objects and arrays as their text. Flink's
// converters work on a stream of tokens and do not skip what they could not use: an object where a number should be is an
// error, but where errors are ignored reading goes on *inside* it. That is followed too, for it decides which rows there are.
#include "base/decimal.h"
#include "base/time.h"
#include "engine/formats/java_text.h"
#include "engine/formats/json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- what is wrong ----------------------------------------------------------------------------------------------

enum json_result tide__json_bad(struct format_parser *parser, const char *format, ...) {
    struct format_fault *fault = parser->fault;
    if (fault->is_set || parser->reader->options.ignore_errors) return JSON_BAD;
    fault->is_set = true;
    fault->place = parser->base + parser->scan.start;
    parser->path = "";
    va_list args;
    va_start(args, format);
    vsnprintf(fault->message, sizeof(fault->message), format, args);
    va_end(args);
    for (char *c = fault->message; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') *c = '?';
    }
    snprintf(fault->hint, sizeof(fault->hint),
             "correct the value, or set 'json.ignore-parse-errors' = 'true' to read it as NULL");
    return JSON_BAD;
}

void tide__json_bad_below(struct format_parser *parser, const char *separator, struct str name) {
    if (!parser->fault->is_set) return;
    parser->path = tide__arena_printf(parser->arena, "%s%.*s%s", separator, STR_ARG(name), parser->path);
}

static const char *token_name(enum json_token token) {
    switch (token) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER:
    case JSON_FLOAT: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    case JSON_NONE:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_NAME:
    case JSON_NULL:
    case JSON_BROKEN: break;
    }
    return "something else";
}

// The value has the wrong text, or is of a kind that no text helps.
static enum json_result not_a(struct format_parser *parser, const struct json_field *field) {
    const struct json_scan *scan = &parser->scan;
    if (parser->reader->options.ignore_errors) return JSON_BAD;
    const char *type = tide__type_text(parser->arena, field->type);
    if (scan->token == JSON_OBJECT || scan->token == JSON_ARRAY) {
        return tide__json_bad(parser, "%s is no %s", token_name(scan->token), type);
    }
    struct str text = tide__json_text(scan, parser->arena);
    size_t len = text.len < 60 ? text.len : 60;
    while (len < text.len && len > 0 && ((unsigned char)text.data[len] & 0xC0) == 0x80) len--;
    const char *quote = scan->token == JSON_STRING ? "\"" : "";
    return tide__json_bad(parser, "%s%.*s%s%s is no %s", quote, (int)len, text.data, len < text.len ? "..." : "", quote,
                          type);
}

// --- kinds ------------------------------------------------------------------------------------------------------

static struct str text_of(struct format_parser *parser) {
    return tide__json_text(&parser->scan, parser->arena);
}

static bool boolean_value(struct format_parser *parser) {
    if (parser->scan.token == JSON_TRUE || parser->scan.token == JSON_FALSE) return parser->scan.token == JSON_TRUE;
    return tide__str_ieq_c(tide__java_trim(text_of(parser)), "true");
}

// A fraction in INT and BIGINT is read as DOUBLE and cut.
static bool cut_fraction(struct str text, int64_t min, int64_t max, int64_t *out) {
    double value = 0;
    if (!tide__java_float(text, false, &value)) return false;
    if (!(value >= (double)min && value <= (double)max)) return false;
    *out = value >= 9223372036854775808.0 ? INT64_MAX : (int64_t)value;
    return true;
}

static bool integer_value(struct format_parser *parser, int64_t min, int64_t max, bool fractions, int64_t *out) {
    struct str text = text_of(parser);
    if (parser->scan.token == JSON_FLOAT && fractions) return cut_fraction(text, min, max, out);
    return tide__java_integer(text, min, max, out);
}

static bool float_value(struct format_parser *parser, bool single, double *out) {
    return tide__java_float(text_of(parser), single, out);
}

static enum json_result decimal_value(struct format_parser *parser, const struct type *type, struct column *column,
                                      size_t row) {
    enum json_token token = parser->scan.token;
    if (token != JSON_STRING && token != JSON_INTEGER && token != JSON_FLOAT) return JSON_BAD;
    struct str text = text_of(parser);
    if (token == JSON_STRING) text = tide__java_trim(text);
    if (!tide__java_is_decimal(text)) return JSON_BAD;
    int128 value = 0;
    if (!tide__decimal_parse(text, type->precision, type->scale, &value)) return JSON_IS_NULL;
    if (column->physical == PHYSICAL_I64) {
        column->i64[row] = (int64_t)value;
    } else {
        column->i128[row] = value;
    }
    return JSON_OK;
}

static enum json_result string_value(struct format_parser *parser, struct str *out) {
    if (parser->scan.token != JSON_OBJECT && parser->scan.token != JSON_ARRAY) {
        *out = text_of(parser);
        return JSON_OK;
    }
    tide__strbuf_clear(&parser->scratch);
    if (!tide__json_print_value(&parser->scan, parser->reader->has_decimal, parser->arena, &parser->scratch)) {
        return JSON_ROW_BAD;
    }
    *out = (struct str){tide__arena_strndup(parser->arena, parser->scratch.data, parser->scratch.len),
                        parser->scratch.len};
    return JSON_OK;
}

static bool bytes_value(struct format_parser *parser, struct str *out) {
    if (parser->scan.token != JSON_STRING) return false;
    struct str text = text_of(parser);
    char *bytes = tide__arena_alloc(parser->arena, (text.len / 4 + 1) * 3);
    *out = (struct str){bytes, 0};
    return tide__base64_decode(text, bytes, &out->len);
}

static bool timestamp_value(struct format_parser *parser, const struct type *type, struct column *column, size_t row) {
    bool iso = parser->reader->options.iso_times, zulu = type->kind == TYPE_TIMESTAMP_LTZ;
    struct java_time_format format = {
        .separator = iso ? 'T' : ' ', .strict = iso && !zulu, .seconds_optional = iso, .zulu = zulu};
    struct str text = text_of(parser);
    struct timestamp time = {0};
    bool fast = !iso && !zulu && tide__timestamp_parse_fast(text.data, text.len, &time.ms);
    if (!fast && !tide__java_timestamp(text, &format, &time)) return false;
    if (column->physical == PHYSICAL_TIME) {
        column->time[row] = time;
    } else {
        column->i64[row] = time.ms;
    }
    return true;
}

static bool time_value(struct format_parser *parser, int64_t *out_ms) {
    struct java_time_format format = {0};
    return tide__java_time(text_of(parser), &format, out_ms);
}

static enum json_result stored(bool is_value) {
    return is_value ? JSON_OK : JSON_BAD;
}

static enum json_result plain_value(struct format_parser *parser, const struct json_field *field, struct column *column,
                                    size_t row) {
    int64_t *i64 = column->i64 + row;
    switch (field->type->kind) {
    case TYPE_NULL: return JSON_IS_NULL;
    case TYPE_BOOLEAN: column->bools[row] = boolean_value(parser); return JSON_OK;
    case TYPE_TINYINT: return stored(integer_value(parser, INT8_MIN, INT8_MAX, false, i64));
    case TYPE_SMALLINT: return stored(integer_value(parser, INT16_MIN, INT16_MAX, false, i64));
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INT: return stored(integer_value(parser, INT32_MIN, INT32_MAX, true, i64));
    case TYPE_INTERVAL_MILLIS:
    case TYPE_BIGINT: return stored(integer_value(parser, INT64_MIN, INT64_MAX, true, i64));
    case TYPE_FLOAT: return stored(float_value(parser, true, &column->f64[row]));
    case TYPE_DOUBLE: return stored(float_value(parser, false, &column->f64[row]));
    case TYPE_DECIMAL: return decimal_value(parser, field->type, column, row);
    case TYPE_CHAR:
    case TYPE_VARCHAR: return string_value(parser, &column->str[row]);
    case TYPE_BINARY:
    case TYPE_VARBINARY: return stored(bytes_value(parser, &column->str[row]));
    case TYPE_DATE: return stored(tide__java_date(text_of(parser), i64));
    case TYPE_TIME: return stored(time_value(parser, i64));
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: return stored(timestamp_value(parser, field->type, column, row));
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: return tide__json_nested(parser, field, column, row);
    }
    return JSON_BAD;
}

enum json_result tide__json_convert(struct format_parser *parser, const struct json_field *field, struct column *column,
                                    size_t row) {
    assert(column->nulls != NULL);
    enum json_result result = JSON_IS_NULL;
    bool ignore = parser->reader->options.ignore_errors;
    enum json_token token = parser->scan.token;
    if (token == JSON_BROKEN) return JSON_ROW_BAD;
    if (token != JSON_NULL && token != JSON_NONE) result = plain_value(parser, field, column, row);
    if (parser->scan.token == JSON_BROKEN || result == JSON_ROW_BAD) return JSON_ROW_BAD;
    column->nulls[row] = result != JSON_OK;
    if (result == JSON_OK) return JSON_OK;
    size_t size = tide__physical_size(column->physical);
    memset((char *)column->data + row * size, 0, size);
    if (result == JSON_IS_NULL || ignore) return JSON_IS_NULL;
    return not_a(parser, field);
}
