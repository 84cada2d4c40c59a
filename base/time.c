// Floors and the calendar. Days are counted in eras of 400 years (146097 days) that begin on March 1st, so that
// the leap day is the last of its year and the month lengths follow one line: (153 * month + 2) / 5.
#include "base/time.h"

#include "base/checked.h"

#include <assert.h>

#define DAYS_PER_ERA  146097
#define DAYS_TO_EPOCH 719468  // from 0000-03-01 to 1970-01-01

int64_t tide__floor_div(int64_t a, int64_t b) {
    assert(b > 0);
    return a / b - (a % b < 0);
}

int64_t tide__floor_mod(int64_t a, int64_t b) {
    assert(b > 0);
    int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

int64_t tide__time_floor(int64_t t, int64_t offset, int64_t step) {
    assert(step > 0);
    int64_t shifted = 0, rest = 0;
    if (__builtin_expect(tide__checked_sub(t, offset, &shifted), 1)) {
        rest = tide__floor_mod(shifted, step);
    } else {
        __int128 wide = ((__int128)t - offset) % step;
        rest = (int64_t)(wide < 0 ? wide + step : wide);
    }
    return tide__saturating_sub(t, rest);
}

int64_t tide__days_from_civil(int64_t year, int month, int day) {
    assert(month >= 1 && month <= 12);
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = tide__floor_div(y, 400);
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_EPOCH;
}

void tide__civil_from_days(int64_t days, int64_t *out_year, int *out_month, int *out_day) {
    int64_t shifted = tide__saturating_add(days, DAYS_TO_EPOCH);
    int64_t era = tide__floor_div(shifted, DAYS_PER_ERA);
    uint32_t day_of_era = (uint32_t)(shifted - era * DAYS_PER_ERA);
    uint32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t month = (5 * day_of_year + 2) / 153;  // 0 is March
    *out_day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    *out_month = (int)(month < 10 ? month + 3 : month - 9);
    *out_year = (int64_t)year_of_era + era * 400 + (*out_month <= 2);
}

int tide__days_in_month(int64_t year, int month) {
    assert(month >= 1 && month <= 12);
    static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}
