// Durations and sizes in options, with the units of Flink's TimeUtils and MemorySize: a number, blanks or none, and
// a unit in any case.
#include "base/time.h"

#include <stdint.h>

struct unit {
    const char *name;
    int64_t factor;
};

// Milliseconds. What is below comes out of its own table, for it divides.
static const struct unit duration_units[] = {
    {"", 1},
    {"ms", 1},
    {"milli", 1},
    {"millis", 1},
    {"millisecond", 1},
    {"milliseconds", 1},
    {"s", MILLIS_PER_SECOND},
    {"sec", MILLIS_PER_SECOND},
    {"secs", MILLIS_PER_SECOND},
    {"second", MILLIS_PER_SECOND},
    {"seconds", MILLIS_PER_SECOND},
    {"m", MILLIS_PER_MINUTE},
    {"min", MILLIS_PER_MINUTE},
    {"mins", MILLIS_PER_MINUTE},
    {"minute", MILLIS_PER_MINUTE},
    {"minutes", MILLIS_PER_MINUTE},
    {"h", MILLIS_PER_HOUR},
    {"hour", MILLIS_PER_HOUR},
    {"hours", MILLIS_PER_HOUR},
    {"d", MILLIS_PER_DAY},
    {"day", MILLIS_PER_DAY},
    {"days", MILLIS_PER_DAY},
};

static const struct unit small_duration_units[] = {
    {"\xC2\xB5s", 1000},  // U+00B5
    {"micro", 1000},     {"micros", 1000},   {"microsecond", 1000},   {"microseconds", 1000},   {"ns", 1000000},
    {"nano", 1000000},   {"nanos", 1000000}, {"nanosecond", 1000000}, {"nanoseconds", 1000000},
};

static const struct unit size_units[] = {
    {"", 1},
    {"b", 1},
    {"bytes", 1},
    {"k", INT64_C(1) << 10},
    {"kb", INT64_C(1) << 10},
    {"kibibytes", INT64_C(1) << 10},
    {"m", INT64_C(1) << 20},
    {"mb", INT64_C(1) << 20},
    {"mebibytes", INT64_C(1) << 20},
    {"g", INT64_C(1) << 30},
    {"gb", INT64_C(1) << 30},
    {"gibibytes", INT64_C(1) << 30},
    {"t", INT64_C(1) << 40},
    {"tb", INT64_C(1) << 40},
    {"tebibytes", INT64_C(1) << 40},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// The factor of the unit, or 0.
static int64_t find_unit(const struct unit *units, size_t count, struct str name) {
    for (size_t i = 0; i < count; i++) {
        if (tide__str_ieq_c(name, units[i].name)) return units[i].factor;
    }
    return 0;
}

// digits, blanks, and what is left; blanks around are ignored.
static bool split(struct str text, int64_t *out_number, struct str *out_unit) {
    const char *at = text.data, *end = text.data + text.len;
    while (at < end && (unsigned char)*at <= ' ') at++;
    while (end > at && (unsigned char)end[-1] <= ' ') end--;
    const char *digits = at;
    int64_t number = 0;
    for (; at < end && (unsigned)(*at - '0') <= 9; at++) {
        if (__builtin_mul_overflow(number, 10, &number)) return false;
        if (__builtin_add_overflow(number, *at - '0', &number)) return false;
    }
    if (at == digits) return false;
    while (at < end && (unsigned char)*at <= ' ') at++;
    *out_number = number;
    *out_unit = (struct str){at, (size_t)(end - at)};
    return true;
}

bool tide__duration_parse(struct str text, int64_t *out_ms) {
    int64_t number = 0, ms = 0;
    struct str unit = {0};
    if (!split(text, &number, &unit)) return false;
    int64_t factor = find_unit(duration_units, COUNT(duration_units), unit);
    int64_t divisor = find_unit(small_duration_units, COUNT(small_duration_units), unit);
    if (factor == 0 && divisor == 0) return false;
    if (divisor != 0)
        ms = number / divisor;
    else if (__builtin_mul_overflow(number, factor, &ms))
        return false;
    *out_ms = ms;
    return true;
}

bool tide__size_parse(struct str text, uint64_t *out_bytes) {
    int64_t number = 0, bytes = 0;
    struct str unit = {0};
    if (!split(text, &number, &unit)) return false;
    int64_t factor = find_unit(size_units, COUNT(size_units), unit);
    if (factor == 0 || __builtin_mul_overflow(number, factor, &bytes)) return false;
    *out_bytes = (uint64_t)bytes;
    return true;
}
