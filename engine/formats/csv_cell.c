// From a CSV field's text to a value, by the rules of Flink's converters, which are Java's.
//
// Every kind of column has one reader here and it decides alone what is a value: the fast loop in csv_read.c has shortcuts
// for plain spellings only, and comes here for all others. Numbers, booleans and times are trimmed as
// String.trim does (all characters up to the blank); DATE, TIME and DECIMAL are not: that is how Flink has it.
#include "base/alloc.h"
#include "base/decimal.h"
#include "base/time.h"
#include "engine/formats/csv.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct str trim(struct str text) {
    while (text.len > 0 && (unsigned char)text.data[0] <= ' ') {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (unsigned char)text.data[text.len - 1] <= ' ') text.len--;
    return text;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Java's Long.parseLong and its smaller sisters.
static bool integer_parse(struct str text, int64_t min, int64_t max, int64_t *out) {
    text = trim(text);
    bool negative = text.len > 0 && text.data[0] == '-';
    size_t at = negative || (text.len > 0 && text.data[0] == '+') ? 1 : 0;
    if (at == text.len) return false;
    uint64_t value = 0;
    for (; at < text.len; at++) {
        if (!is_digit(text.data[at])) return false;
        uint64_t digit = (uint64_t)(text.data[at] - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (value > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return *out >= min && *out <= max;
}

// --- floating point ---------------------------------------------------------------------------------------------

// A number with a mantissa below 2^53 and a small power of ten is one exact product or quotient.
static bool double_parse_exact(struct str text, double *out) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    size_t at = 0, digits = 0, fraction = 0;
    bool negative = text.len > 0 && text.data[0] == '-';
    if (negative) at = 1;
    uint64_t mantissa = 0;
    bool point = false;
    for (; at < text.len; at++) {
        if (is_digit(text.data[at])) {
            mantissa = mantissa * 10 + (uint64_t)(text.data[at] - '0');
            digits++;
            fraction += point;
        } else if (text.data[at] == '.' && !point) {
            point = true;
        } else {
            return false;
        }
    }
    if (digits == 0 || digits > 15) return false;
    double value = (double)mantissa / powers[fraction];
    *out = negative ? -value : value;
    return true;
}

// Java's hexadecimal literals, `0x1.8p3`: strtod takes them too, but also without the exponent that Java demands.
static bool hex_parse(const char *text, bool single, double *out) {
    const char *body = text + (text[0] == '-' || text[0] == '+');
    if (body[0] != '0' || (body[1] != 'x' && body[1] != 'X')) return false;
    if (strchr(body, 'p') == NULL && strchr(body, 'P') == NULL) return false;
    char *end = NULL;
    *out = single ? (double)strtof(text, &end) : strtod(text, &end);
    return *end == '\0';
}

static bool float_parse(struct str text, bool single, double *out) {
    text = trim(text);
    if (!single && double_parse_exact(text, out)) return true;
    if (text.len > 0 && text.len < 1000 && strchr("dDfF", text.data[text.len - 1]) != NULL &&
        text.data[text.len - 1] != '\0') {
        bool hex = memchr(text.data, 'x', text.len) != NULL || memchr(text.data, 'X', text.len) != NULL;
        bool power = memchr(text.data, 'p', text.len) != NULL || memchr(text.data, 'P', text.len) != NULL;
        if (!hex || power) text.len--;
    }
    if (text.len == 0 || text.len >= 1000) return false;
    char copy[1000];
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    if (hex_parse(copy, single, out)) return true;
    if (!tide__double_parse(text, out)) return false;
    // A float is rounded once, from the text: by way of a double it could be rounded twice.
    if (single && isfinite(*out)) *out = (double)strtof(copy, NULL);
    return true;
}

// --- DECIMAL ----------------------------------------------------------------------------------------------------

// Java's `new BigDecimal(text)`.
static bool is_decimal(struct str text) {
    size_t at = 0, digits = 0;
    if (at < text.len && (text.data[at] == '-' || text.data[at] == '+')) at++;
    for (; at < text.len && is_digit(text.data[at]); at++) digits++;
    if (at < text.len && text.data[at] == '.') {
        for (at++; at < text.len && is_digit(text.data[at]); at++) digits++;
    }
    if (digits == 0) return false;
    if (at == text.len) return true;
    if (text.data[at] != 'e' && text.data[at] != 'E') return false;
    at++;
    if (at < text.len && (text.data[at] == '-' || text.data[at] == '+')) at++;
    size_t first = at;
    while (at < text.len && is_digit(text.data[at])) at++;
    return at == text.len && at > first && at - first <= 10;
}

static enum csv_cell decimal_cell(struct csv_field *field, struct str text, size_t row) {
    if (!is_decimal(text)) return CSV_CELL_BAD;
    int128 value = 0;
    if (!tide__decimal_parse(text, field->precision, field->scale, &value)) return CSV_CELL_NULL;
    if (field->kind == CSV_DECIMAL) {
        field->column.i64[row] = (int64_t)value;
    } else {
        field->column.i128[row] = value;
    }
    return CSV_CELL_OK;
}

// --- dates and times --------------------------------------------------------------------------------------------

// Exactly two digits at *at.
static bool two_digits(struct str text, size_t *at, int *out) {
    if (*at + 2 > text.len || !is_digit(text.data[*at]) || !is_digit(text.data[*at + 1])) return false;
    *out = (text.data[*at] - '0') * 10 + (text.data[*at + 1] - '0');
    *at += 2;
    return true;
}

static bool literal(struct str text, size_t *at, char c) {
    if (*at >= text.len || text.data[*at] != c) return false;
    (*at)++;
    return true;
}

// Four digits; more only with a sign, fewer never.
static bool year_parse(struct str text, size_t *at, int64_t *out) {
    char sign = *at < text.len && (text.data[*at] == '-' || text.data[*at] == '+') ? text.data[*at] : '\0';
    if (sign != '\0') (*at)++;
    size_t first = *at;
    int64_t year = 0;
    while (*at < text.len && is_digit(text.data[*at]) && *at - first < 10) {
        year = year * 10 + (text.data[*at] - '0');
        (*at)++;
    }
    size_t digits = *at - first;
    if (digits < 4 || (digits > 4 && sign == '\0') || (digits == 4 && sign == '+')) return false;
    if (sign == '-' && year == 0) return false;
    *out = sign == '-' ? -year : year;
    return year <= 999999999;
}

// `yyyy-MM-dd`; a day past the month's end but not past 31 becomes its last day (java.time's SMART resolver).
static bool iso_date(struct str text, size_t *at, int64_t *out_days) {
    int64_t year = 0;
    int month = 0, day = 0;
    if (!year_parse(text, at, &year)) return false;
    if (!literal(text, at, '-') || !two_digits(text, at, &month)) return false;
    if (!literal(text, at, '-') || !two_digits(text, at, &day)) return false;
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    int last = tide__days_in_month(year, month);
    *out_days = tide__days_from_civil(year, month, day < last ? day : last);
    return true;
}

// `.` and up to nine digits, or nothing.
static void fraction_parse(struct str text, size_t *at, int64_t *out_nanos) {
    int64_t nanos = 0;
    if (*at < text.len && text.data[*at] == '.') {
        (*at)++;
        int digits = 0;
        for (; digits < 9 && *at < text.len && is_digit(text.data[*at]); digits++) {
            nanos = nanos * 10 + (text.data[*at] - '0');
            (*at)++;
        }
        for (; digits < 9; digits++) nanos *= 10;
    }
    *out_nanos = nanos;
}

bool tide__csv_timestamp(struct str text, bool zulu, struct timestamp *out) {
    text = trim(text);
    size_t at = 0;
    int64_t days = 0, nanos = 0;
    int hour = 0, minute = 0, second = 0;
    if (!iso_date(text, &at, &days) || !literal(text, &at, ' ')) return false;
    if (!two_digits(text, &at, &hour) || !literal(text, &at, ':')) return false;
    if (!two_digits(text, &at, &minute) || !literal(text, &at, ':')) return false;
    if (!two_digits(text, &at, &second)) return false;
    fraction_parse(text, &at, &nanos);
    if (zulu && !literal(text, &at, 'Z')) return false;
    if (at != text.len || minute > 59 || second > 59) return false;
    // 24:00 is the next day's midnight.
    if (hour > 23 && !(hour == 24 && minute == 0 && second == 0 && nanos == 0)) return false;
    int64_t seconds = ((int64_t)hour * 60 + minute) * 60 + second;
    out->ms = days * MILLIS_PER_DAY + seconds * MILLIS_PER_SECOND + nanos / 1000000;
    out->nanos = (int32_t)(nanos % 1000000);
    return true;
}

// java.time.LocalTime.parse, then cut to the column's precision.
static bool time_parse(struct str text, int precision, int64_t *out_ms) {
    size_t at = 0;
    int64_t nanos = 0;
    int hour = 0, minute = 0, second = 0;
    if (!two_digits(text, &at, &hour) || !literal(text, &at, ':') || !two_digits(text, &at, &minute)) return false;
    if (literal(text, &at, ':')) {
        if (!two_digits(text, &at, &second)) return false;
        fraction_parse(text, &at, &nanos);
    }
    if (at != text.len || hour > 23 || minute > 59 || second > 59) return false;
    static const int64_t units[] = {1000, 100, 10, 1};
    int64_t unit = units[precision < 3 ? precision : 3];
    int64_t ms = (((int64_t)hour * 60 + minute) * 60 + second) * MILLIS_PER_SECOND + nanos / 1000000;
    *out_ms = ms / unit * unit;
    return true;
}

// java.sql.Date.valueOf: month and day of one or two digits; a day past the month's end runs into the next month.
static bool sql_date_parse(struct str text, int64_t *out_days) {
    const char *first = memchr(text.data, '-', text.len);
    if (first == NULL || first - text.data != 4) return false;
    const char *end = text.data + text.len;
    const char *second = memchr(first + 1, '-', (size_t)(end - first - 1));
    if (second == NULL) return false;
    int64_t year = 0, month = 0, day = 0;
    for (const char *p = text.data; p < first; p++) {
        if (!is_digit(*p)) return false;
        year = year * 10 + (*p - '0');
    }
    if (second - first < 2 || second - first > 3 || end - second < 2 || end - second > 3) return false;
    for (const char *p = first + 1; p < second; p++) {
        if (!is_digit(*p)) return false;
        month = month * 10 + (*p - '0');
    }
    for (const char *p = second + 1; p < end; p++) {
        if (!is_digit(*p)) return false;
        day = day * 10 + (*p - '0');
    }
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    *out_days = tide__days_from_civil(year, (int)month, 1) + day - 1;
    return true;
}

// --- bytes ------------------------------------------------------------------------------------------------------

static int base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (is_digit(c)) return c - '0' + 52;
    if (c == '+') return 62;
    if (c == '/') return 63;
    return -1;
}

bool tide__csv_base64_decode(struct str text, char *out, size_t *out_len) {
    text = trim(text);
    size_t len = 0;
    uint32_t bits = 0;
    int have = 0;
    size_t padding = 0;
    while (padding < 2 && text.len > 0 && text.data[text.len - 1] == '=') {
        text.len--;
        padding++;
    }
    if ((text.len + padding) % 4 != 0) return false;
    for (size_t i = 0; i < text.len; i++) {
        int value = base64_value(text.data[i]);
        if (value < 0) return false;
        bits = (bits << 6) | (uint32_t)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[len++] = (char)(bits >> have);
        }
    }
    *out_len = len;
    return true;
}

void tide__csv_base64_encode(struct str bytes, struct strbuf *out) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++) bits = (bits << 8) | (j < n ? (unsigned char)bytes.data[i + j] : 0);
        for (size_t j = 0; j < 4; j++) {
            tide__strbuf_append_char(out, j <= n ? alphabet[(bits >> (18 - 6 * j)) & 63] : '=');
        }
    }
}

static enum csv_cell bytes_cell(struct csv_field *field, struct str text, struct arena *arena, size_t row) {
    char *bytes = tide__arena_alloc(arena, (text.len / 4 + 1) * 3);
    size_t len = 0;
    if (!tide__csv_base64_decode(text, bytes, &len)) return CSV_CELL_BAD;
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
        column->bools[row] = tide__str_ieq_c(trim(text), "true");
        return CSV_CELL_OK;
    case CSV_INTEGER: return stored(integer_parse(text, field->min, field->max, &column->i64[row]));
    case CSV_DOUBLE: return stored(float_parse(text, false, &column->f64[row]));
    case CSV_FLOAT: return stored(float_parse(text, true, &column->f64[row]));
    case CSV_DECIMAL:
    case CSV_DECIMAL_WIDE: return decimal_cell(field, text, row);
    case CSV_STRING: column->str[row] = text; return CSV_CELL_OK;
    case CSV_BYTES: return bytes_cell(field, text, arena, row);
    case CSV_DATE: return stored(sql_date_parse(text, &column->i64[row]));
    case CSV_TIME: return stored(time_parse(text, field->precision, &column->i64[row]));
    case CSV_TIMESTAMP:
    case CSV_TIMESTAMP_WIDE:
    case CSV_INSTANT:
    case CSV_INSTANT_WIDE: return timestamp_cell(field, text, row);
    case CSV_NESTED: return tide__csv_nested_cell(field, text, arena, row);
    }
    return CSV_CELL_BAD;
}
