// Texts to values by the rules of Java's classes, which are the rules of Flink's formats.
//
// One reader a kind of value, shared by the formats: Long.parseLong, Double.parseDouble, new BigDecimal, the ISO formatters of
// java.time in their two moods (STRICT knows the calendar; SMART cuts a day past the month's end to its last day and takes
// 24:00:00 for the next midnight), Base64. What is trimmed before differs between formats and is theirs to do, but for
// numbers, which all of them trim.
#include "base/decimal.h"
#include "base/time.h"
#include "engine/formats/java_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct str tide__java_trim(struct str text) {
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

bool tide__java_integer(struct str text, int64_t min, int64_t max, int64_t *out) {
    text = tide__java_trim(text);
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

bool tide__java_float(struct str text, bool single, double *out) {
    text = tide__java_trim(text);
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

bool tide__java_is_decimal(struct str text) {
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

// `yyyy-MM-dd`. SMART: a day past the month's end but not past 31 becomes its last day.
static bool iso_date(struct str text, size_t *at, bool strict, int64_t *out_days) {
    int64_t year = 0;
    int month = 0, day = 0;
    if (!year_parse(text, at, &year)) return false;
    if (!literal(text, at, '-') || !two_digits(text, at, &month)) return false;
    if (!literal(text, at, '-') || !two_digits(text, at, &day)) return false;
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    int last = tide__days_in_month(year, month);
    if (day > last && strict) return false;
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

// `HH:mm:ss[.fraction]`. SMART: 24:00:00 is midnight, *out_day says that it is the next day's.
static bool iso_time(struct str text, size_t *at, const struct java_time_format *format, int64_t *out_nanos,
                     int *out_day) {
    int hour = 0, minute = 0, second = 0;
    int64_t nanos = 0;
    if (!two_digits(text, at, &hour) || !literal(text, at, ':') || !two_digits(text, at, &minute)) return false;
    if (literal(text, at, ':')) {
        if (!two_digits(text, at, &second)) return false;
        fraction_parse(text, at, &nanos);
    } else if (!format->seconds_optional) {
        return false;
    }
    if (minute > 59 || second > 59) return false;
    *out_day = hour == 24 && minute == 0 && second == 0 && nanos == 0 && !format->strict;
    if (hour > 23 && !*out_day) return false;
    int64_t seconds = ((int64_t)(*out_day ? 0 : hour) * 60 + minute) * 60 + second;
    *out_nanos = seconds * 1000000000 + nanos;
    return true;
}

bool tide__java_date(struct str text, int64_t *out_days) {
    size_t at = 0;
    return iso_date(text, &at, true, out_days) && at == text.len;
}

bool tide__java_time(struct str text, const struct java_time_format *format, int64_t *out_ms) {
    size_t at = 0;
    int64_t nanos = 0;
    int day = 0;
    if (!iso_time(text, &at, format, &nanos, &day) || at != text.len) return false;
    *out_ms = nanos / 1000000;
    return true;
}

bool tide__java_timestamp(struct str text, const struct java_time_format *format, struct timestamp *out) {
    size_t at = 0;
    int64_t days = 0, nanos = 0;
    int day = 0;
    if (!iso_date(text, &at, format->strict, &days)) return false;
    char separator = at < text.len ? text.data[at++] : '\0';
    if (separator != format->separator && !(format->strict && separator == 't' && format->separator == 'T'))
        return false;
    if (!iso_time(text, &at, format, &nanos, &day)) return false;
    if (format->zulu && !literal(text, &at, 'Z')) return false;
    if (at != text.len) return false;
    out->ms = (days + day) * MILLIS_PER_DAY + nanos / 1000000;
    out->nanos = (int32_t)(nanos % 1000000);
    return true;
}

bool tide__java_sql_date(struct str text, int64_t *out_days) {
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

bool tide__base64_decode(struct str text, char *out, size_t *out_len) {
    text = tide__java_trim(text);
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
