// Calendar arithmetic and units. See engine/functions/temporal.h.
#include "engine/functions/temporal.h"

#include "base/time.h"

int64_t tide__add_months(int64_t days, int64_t months) {
    int64_t year = 0;
    int month = 0, day = 0;
    tide__civil_from_days(days, &year, &month, &day);
    int64_t count = year * 12 + month - 1 + months;
    year = tide__floor_div(count, 12);
    month = (int)tide__floor_mod(count, 12) + 1;
    int last = tide__days_in_month(year, month);
    return tide__days_from_civil(year, month, day < last ? day : last);
}

int64_t tide__add_months_millis(int64_t ms, int64_t months) {
    int64_t days = tide__floor_div(ms, MILLIS_PER_DAY);
    return tide__add_months(days, months) * MILLIS_PER_DAY + tide__floor_mod(ms, MILLIS_PER_DAY);
}

// Whole months between two dates; a clamped month end counts as reached.
static int64_t months_between_days(int64_t from, int64_t to) {
    if (to < from) return -months_between_days(to, from);
    int64_t months = (to - from) / 31;
    for (;;) {
        if (tide__add_months(from, months) >= to) return months;
        if (tide__add_months(from, months + 1) > to) return months;
        months++;
    }
}

int64_t tide__months_between(int64_t from_ms, int64_t to_ms) {
    int64_t from = tide__floor_div(from_ms, MILLIS_PER_DAY), to = tide__floor_div(to_ms, MILLIS_PER_DAY);
    int64_t months = months_between_days(from, to);
    bool same_day = tide__add_months(from, months) == to;
    if (same_day && tide__floor_mod(to_ms, MILLIS_PER_DAY) < tide__floor_mod(from_ms, MILLIS_PER_DAY)) months--;
    return months;
}

static const char *const unit_names[UNIT_COUNT] = {
    [UNIT_YEAR] = "YEAR",
    [UNIT_QUARTER] = "QUARTER",
    [UNIT_MONTH] = "MONTH",
    [UNIT_WEEK] = "WEEK",
    [UNIT_DAY] = "DAY",
    [UNIT_DOW] = "DOW",
    [UNIT_ISODOW] = "ISODOW",
    [UNIT_DOY] = "DOY",
    [UNIT_ISOYEAR] = "ISOYEAR",
    [UNIT_HOUR] = "HOUR",
    [UNIT_MINUTE] = "MINUTE",
    [UNIT_SECOND] = "SECOND",
    [UNIT_MILLISECOND] = "MILLISECOND",
    [UNIT_MICROSECOND] = "MICROSECOND",
    [UNIT_NANOSECOND] = "NANOSECOND",
    [UNIT_EPOCH] = "EPOCH",
    [UNIT_DECADE] = "DECADE",
    [UNIT_CENTURY] = "CENTURY",
    [UNIT_MILLENNIUM] = "MILLENNIUM",
};

bool tide__time_unit_find(struct str name, enum time_unit *out) {
    for (int unit = 0; unit < UNIT_COUNT; unit++) {
        if (tide__str_ieq_c(name, unit_names[unit])) return *out = (enum time_unit)unit, true;
    }
    return false;
}

const char *tide__time_unit_name(enum time_unit unit) {
    return unit_names[unit];
}

int tide__iso_week(int64_t days, int64_t *out_year) {
    // The week belongs to the year of its Thursday. 1970-01-01 was one.
    int64_t thursday = days - tide__floor_mod(days + 3, 7) + 3;
    int month = 0, day = 0;
    tide__civil_from_days(thursday, out_year, &month, &day);
    return (int)((thursday - tide__days_from_civil(*out_year, 1, 1)) / 7) + 1;
}
