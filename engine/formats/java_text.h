// Texts of values as Java's classes read and print them: what Flink's formats have in common.
#ifndef TIDE_ENGINE_FORMATS_JAVA_TEXT_H
#define TIDE_ENGINE_FORMATS_JAVA_TEXT_H

#include "base/str.h"
#include "base/type.h"

#include <stdbool.h>

// String.trim: all characters up to the blank.
struct str tide__java_trim(struct str text);
// Long.parseLong and its smaller sisters, trimmed.
bool tide__java_integer(struct str text, int64_t min, int64_t max, int64_t *out);
// Double.parseDouble, or Float.parseFloat if `single`: with hexadecimal literals and suffixes, trimmed.
bool tide__java_float(struct str text, bool single, double *out);
// Whether `new BigDecimal(text)` takes it; tide__decimal_parse then fails by overflow only. Not trimmed.
bool tide__java_is_decimal(struct str text);

// A formatter of java.time. strict: ResolverStyle.STRICT, else SMART.
struct java_time_format {
    char separator;  // between date and time
    bool strict, seconds_optional;
    bool zulu;  // a Z stands at the end
};
// ISO_LOCAL_DATE (strict).
bool tide__java_date(struct str text, int64_t *out_days);
bool tide__java_time(struct str text, const struct java_time_format *format, int64_t *out_ms);
bool tide__java_timestamp(struct str text, const struct java_time_format *format, struct timestamp *out);
// java.sql.Date.valueOf: month and day of one or two digits; a day past the month's end runs into the next month.
bool tide__java_sql_date(struct str text, int64_t *out_days);

// Decoding, trimmed: false if it is no Base64; out has room for (len / 4 + 1) * 3 bytes.
bool tide__base64_decode(struct str text, char *out, size_t *out_len);
void tide__base64_encode(struct str bytes, struct strbuf *out);

// BigDecimal.stripTrailingZeros().toString(): `1.2E+6`. Zero of any scale is `0`.
void tide__java_print_decimal(int128 value, int scale, struct strbuf *out);
// The same of a number's text, of any length: `-?digits[.digits][(e|E)[+-]digits]`.
void tide__java_print_number(struct str number, struct strbuf *out);
// `yyyy-MM-dd HH:mm:ss` and as many fraction digits as it takes.
void tide__java_print_timestamp(struct timestamp time, struct strbuf *out);
// `HH:mm:ss` and as many fraction digits as it takes; `out` is empty before.
void tide__java_print_time(int64_t ms, struct strbuf *out);

#endif
