// Calendar arithmetic and units shared by the functions of dates and times.
#ifndef TIDE_ENGINE_FUNCTIONS_TEMPORAL_H
#define TIDE_ENGINE_FUNCTIONS_TEMPORAL_H

#include "base/str.h"
#include "base/type.h"

#include <stdbool.h>
#include <stdint.h>

// Days since 1970 moved by months; a day that the new month does not have becomes its last.
int64_t tide__add_months(int64_t days, int64_t months);
int64_t tide__add_months_millis(int64_t ms, int64_t months);
// Whole months from `from` to `to`, by which the clock counts as well.
int64_t tide__months_between(int64_t from_ms, int64_t to_ms);

enum time_unit {
    UNIT_YEAR,
    UNIT_QUARTER,
    UNIT_MONTH,
    UNIT_WEEK,
    UNIT_DAY,
    UNIT_DOW,
    UNIT_ISODOW,
    UNIT_DOY,
    UNIT_ISOYEAR,
    UNIT_HOUR,
    UNIT_MINUTE,
    UNIT_SECOND,
    UNIT_MILLISECOND,
    UNIT_MICROSECOND,
    UNIT_NANOSECOND,
    UNIT_EPOCH,
    UNIT_DECADE,
    UNIT_CENTURY,
    UNIT_MILLENNIUM,
    UNIT_COUNT,
};
bool tide__time_unit_find(struct str name, enum time_unit *out);
const char *tide__time_unit_name(enum time_unit unit);
// ISO 8601 week of the year, and the year it belongs to.
int tide__iso_week(int64_t days, int64_t *out_year);

#endif
