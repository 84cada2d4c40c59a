// Java's patterns of dates and times. Flink uses two classes that understand them differently: DateTimeFormatter
// (strict) and the older SimpleDateFormat (lenient, reads a prefix, knows milliseconds only).
#ifndef TIDE_ENGINE_FUNCTIONS_DATE_PATTERN_H
#define TIDE_ENGINE_FUNCTIONS_DATE_PATTERN_H

#include "base/arena.h"
#include "base/str.h"
#include "base/type.h"

struct date_part {
    char letter;  // 0: a literal; '[' and ']': an optional section
    uint8_t count;
    struct str literal;
};

struct date_pattern {
    bool simple;  // SimpleDateFormat
    char zone;    // DateTimeFormatter: the letter of a zone in it, which can be read but not formatted; 0: none
    size_t count;
    struct date_part *parts;
};

// False: *out_problem says what is wrong ("unknown pattern letter 'b'").
bool tide__date_pattern_compile(struct str text, bool simple, struct arena *arena, struct date_pattern *out,
                                const char **out_problem);
// t: wall clock. offset_ms: of the zone, for Z and X in SimpleDateFormat.
void tide__date_pattern_format(const struct date_pattern *pattern, struct timestamp t, int64_t offset_ms,
                               struct strbuf *out);
// The wall clock; missing fields as Flink fills them. False: the text does not fit.
bool tide__date_pattern_parse(const struct date_pattern *pattern, struct str text, struct timestamp *out);
// The same, but where the pattern has read a zone (X, Z or z), *out is an instant and *out_zoned true.
bool tide__date_pattern_parse_zoned(const struct date_pattern *pattern, struct str text, struct timestamp *out,
                                    bool *out_zoned);

// SimpleDateFormat has Julian dates before 1582-10-15. Days since 1970 of one, and back.
#define GREGORIAN_FIRST_DAY (-141427)
int64_t tide__days_from_julian(int64_t year, int month, int day);
void tide__julian_from_days(int64_t days, int64_t *out_year, int *out_month, int *out_day);

#endif
