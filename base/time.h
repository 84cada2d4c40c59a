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
#define MILLIS_PER_HOUR INT64_C(3600000)
#define MILLIS_PER_DAY INT64_C(86400000)
#define WATERMARK_NONE INT64_MIN   // nothing is known yet
#define WATERMARK_END INT64_MAX    // end of bounded input

// The largest t' <= t with t' = offset (mod step), step > 0. Saturates instead of overflowing.
int64_t tide__time_floor(int64_t t, int64_t offset, int64_t step);
// floor(a / b) and a - b * floor(a / b), b > 0.
int64_t tide__floor_div(int64_t a, int64_t b);
int64_t tide__floor_mod(int64_t a, int64_t b);

// Proleptic Gregorian calendar, as java.time has it.
int64_t tide__days_from_civil(int64_t year, int month, int day);
void tide__civil_from_days(int64_t days, int64_t *out_year, int *out_month, int *out_day);
int tide__days_in_month(int64_t year, int month);

// `yyyy-MM-dd HH:mm:ss[.fraction]` exactly as Flink's CSV format reads it (blank, no T, seconds needed;
// digits past 9 are cut). Returns false if it is not one.
bool tide__timestamp_parse_sql(struct str text, struct timestamp *out);
// `yyyy-MM-dd` and `HH:mm:ss[.fraction]`.
bool tide__date_parse(struct str text, int64_t *out_days);
bool tide__time_parse(struct str text, int64_t *out_ms);

// `2024-01-01 00:00:00.123` with exactly `precision` (0..9) fraction digits; years past 9999 as java.time.
void tide__timestamp_print(struct timestamp t, int precision, struct strbuf *out);
void tide__date_print(int64_t days, struct strbuf *out);
void tide__time_print(int64_t ms, int precision, struct strbuf *out);

// A duration option: `200 ms`, `10s`, `1 min`, `2 h`, `1 d`; a bare number is milliseconds.
bool tide__duration_parse(struct str text, int64_t *out_ms);
// A memory size option: `64MB`, `512 mb`, `1g`, `4096`.
bool tide__size_parse(struct str text, uint64_t *out_bytes);

#endif
