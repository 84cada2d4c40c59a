// Event-time arithmetic and the calendar. All times are milliseconds since 1970-01-01 00:00:00.
//
// C divides toward zero; windows before 1970 need floors. tide__time_floor is the only place where a time is
// cut to a multiple.
#ifndef TIDE_BASE_TIME_H
#define TIDE_BASE_TIME_H

#include "base/str.h"
#include "base/type.h"

#include <stdbool.h>
#include <stdint.h>

#define MILLIS_PER_SECOND INT64_C(1000)
#define MILLIS_PER_MINUTE INT64_C(60000)
#define MILLIS_PER_HOUR   INT64_C(3600000)
#define MILLIS_PER_DAY    INT64_C(86400000)
#define WATERMARK_NONE    INT64_MIN  // nothing is known yet
#define WATERMARK_END     INT64_MAX  // end of bounded input

// The largest t' <= t with t' = offset (mod step), step > 0. Saturates instead of overflowing.
int64_t tide__time_floor(int64_t t, int64_t offset, int64_t step);
// floor(a / b) and a - b * floor(a / b), b > 0.
int64_t tide__floor_div(int64_t a, int64_t b);
int64_t tide__floor_mod(int64_t a, int64_t b);

// Proleptic Gregorian calendar, as java.time has it.
int64_t tide__days_from_civil(int64_t year, int month, int day);
void tide__civil_from_days(int64_t days, int64_t *out_year, int *out_month, int *out_day);
int tide__days_in_month(int64_t year, int month);

// `yyyy-MM-dd HH:mm:ss[.fraction]` exactly as Flink's CSV format reads it: blank, no T, seconds needed, up to 9
// fraction digits, blanks around. As in Java's SMART resolving, a day past the end of its month (but not past
// 31) is the last day, and 24:00:00 is the next midnight. Returns false if it is not one.
bool tide__timestamp_parse_sql(struct str text, struct timestamp *out);
// `yyyy-MM-dd` and `HH:mm:ss[.fraction]`, strictly; what is below a millisecond is cut.
bool tide__date_parse(struct str text, int64_t *out_days);
bool tide__time_parse(struct str text, int64_t *out_ms);
// The DATE and TIME of Flink's CSV format: `yyyy-[M]M-[d]d`, where a day past the end of its month goes on into
// the next one (java.sql.Date.valueOf), and `HH:mm[:ss[.fraction]]` (LocalTime.parse).
bool tide__date_parse_csv(struct str text, int64_t *out_days);
bool tide__time_parse_csv(struct str text, int64_t *out_ms);

// `2024-01-01 00:00:00.123` with exactly `precision` (0..9) fraction digits; years past 9999 as java.time.
void tide__timestamp_print(struct timestamp t, int precision, struct strbuf *out);
void tide__date_print(int64_t days, struct strbuf *out);
void tide__time_print(int64_t ms, int precision, struct strbuf *out);

// A duration option: `200 ms`, `10s`, `1 min`, `2 h`, `1 d`; a bare number is milliseconds.
bool tide__duration_parse(struct str text, int64_t *out_ms);
// A memory size option: `64MB`, `512 mb`, `1g`, `4096`.
bool tide__size_parse(struct str text, uint64_t *out_bytes);

// tide__days_from_civil where the year is 0..9999 and month and day are known to be good.
static inline int64_t tide__days_from_civil_fast(unsigned year, unsigned month, unsigned day) {
    // Years begin in March, so that the leap day is the last; 400 is added to stay above zero.
    unsigned y = year + 400 - (month <= 2);
    unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    unsigned century = y / 100;
    return (int64_t)(365 * y + y / 4 - century + century / 4 + day_of_year) - (719468 + 146097);
}

// The value of two digits; sets bits of *bad if they are none.
static inline unsigned tide__two_digits(const char *p, unsigned *bad) {
    unsigned tens = (unsigned char)p[0] - (unsigned)'0', ones = (unsigned char)p[1] - (unsigned)'0';
    *bad |= (tens > 9) | (ones > 9);
    return tens * 10 + ones;
}

// `yyyy-MM-dd HH:mm:ss` or `yyyy-MM-dd HH:mm:ss.fff`, nothing else: the layouts nearly all files have. False
// means "ask tide__timestamp_parse_sql", not "bad".
static inline bool tide__timestamp_parse_fast(const char *text, size_t len, int64_t *out_ms) {
    if (len != 19 && len != 23) return false;
    unsigned bad = 0, millis = 0;
    unsigned year = tide__two_digits(text, &bad) * 100 + tide__two_digits(text + 2, &bad);
    unsigned month = tide__two_digits(text + 5, &bad), day = tide__two_digits(text + 8, &bad);
    unsigned hour = tide__two_digits(text + 11, &bad), minute = tide__two_digits(text + 14, &bad);
    unsigned second = tide__two_digits(text + 17, &bad);
    bad |= (unsigned)(text[4] ^ '-') | (unsigned)(text[7] ^ '-') | (unsigned)(text[10] ^ ' ') |
           (unsigned)(text[13] ^ ':') | (unsigned)(text[16] ^ ':');
    if (len == 23) {
        unsigned last = (unsigned char)text[22] - (unsigned)'0';
        bad |= (unsigned)(text[19] ^ '.') | (last > 9);
        millis = tide__two_digits(text + 20, &bad) * 10 + last;
    }
    bad |= (month - 1 > 11) | (day - 1 > 30) | (hour > 23) | (minute > 59) | (second > 59);
    if (bad != 0 || (day > 28 && (int)day > tide__days_in_month(year, (int)month))) return false;
    int64_t days = tide__days_from_civil_fast(year, month, day);
    *out_ms = days * MILLIS_PER_DAY + (int64_t)((hour * 60 + minute) * 60 + second) * 1000 + millis;
    return true;
}

#endif
