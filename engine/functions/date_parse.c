// Reading times by Java date patterns.
//
// DateTimeFormatter is strict about digits and wants the whole text; a day up to 31 that the month does not have
// becomes its last, 24:00 the next day. SimpleDateFormat skips blanks, takes as many digits as there are, lets
// fields overflow into the next higher ones, and ignores what follows.
#include "engine/functions/date_names.h"
#include "engine/functions/date_pattern.h"

#include "base/time.h"

#include <string.h>

enum field { YEAR, MONTH, DAY, DAY_OF_YEAR, HOUR, HOUR_12, MINUTE, SECOND, NANOS, PM, WEEKDAY, FIELD_COUNT };

struct reader {
    const struct date_pattern *pattern;
    struct str text;
    size_t at;
    bool zoned;         // the text has a zone
    int64_t offset_ms;  // of it
    bool has[FIELD_COUNT];
    int64_t fields[FIELD_COUNT];
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Whether the part is read as digits.
static bool is_number(const struct date_part *part) {
    switch (part->letter) {
    case 0:
    case 'E':
    case 'a':
    case 'G':
    case 'z':
    case 'Z':
    case 'X':
    case 'x':
    case 'O':
    case 'V':
    case 'v':
    case '[':
    case ']': return false;
    case 'M':
    case 'L': return part->count <= 2;
    default: return true;
    }
}

static bool take_digits(struct reader *r, size_t most, int64_t *out, size_t *out_count) {
    size_t n = 0;
    int64_t v = 0;
    while (n < most && r->at < r->text.len && is_digit(r->text.data[r->at])) {
        if (v < INT64_MAX / 100) v = v * 10 + (r->text.data[r->at] - '0');
        r->at++;
        n++;
    }
    *out = v;
    *out_count = n;
    return n > 0;
}

static void set(struct reader *r, enum field field, int64_t v) {
    r->has[field] = true;
    r->fields[field] = v;
}

// Matches one of the names, full or its first three letters; the longest wins.
static bool take_name(struct reader *r, const char *const *names, int count, bool any_case, int *out) {
    struct str rest = {r->text.data + r->at, r->text.len - r->at};
    for (int full = 1; full >= 0; full--) {
        for (int i = 0; i < count; i++) {
            size_t len = full ? strlen(names[i]) : 3;
            if (rest.len < len) continue;
            int differs = any_case ? strncasecmp(rest.data, names[i], len) : strncmp(rest.data, names[i], len);
            if (differs != 0) continue;
            r->at += len;
            *out = i;
            return true;
        }
    }
    return false;
}

static bool take_half(struct reader *r, bool any_case) {
    static const char *const halves[] = {"AM", "PM"};
    for (int i = 0; i < 2; i++) {
        if (r->text.len - r->at < 2 || strncasecmp(r->text.data + r->at, halves[i], 2) != 0) continue;
        if (!any_case && memcmp(r->text.data + r->at, halves[i], 2) != 0) continue;
        r->at += 2;
        set(r, PM, i);
        return true;
    }
    return false;
}

// Two-digit years lie between 80 years ago and 19 years ahead for SimpleDateFormat, in this century for
// DateTimeFormatter.
static int64_t full_year(int64_t year, bool simple) {
    if (!simple) return 2000 + year;
    return year < 46 ? 2000 + year : 1900 + year;
}

// Stores a number by its letter; false if the letter can't be read.
static bool store(struct reader *r, const struct date_part *part, int64_t v, size_t digits) {
    switch (part->letter) {
    case 'Y':
        if (!r->pattern->simple) return true;
        set(r, YEAR, v);
        return true;
    case 'Q':
    case 'q':
    case 'w':
    case 'W':
    case 'e':
    case 'c':
    case 'F': return true;
    case 'y': set(r, YEAR, part->count == 2 && digits == 2 ? full_year(v, r->pattern->simple) : v); return true;
    case 'u':
        if (!r->pattern->simple) set(r, YEAR, v);
        return true;
    case 'M':
    case 'L': set(r, MONTH, v); return true;
    case 'd': set(r, DAY, v); return true;
    case 'D': set(r, DAY_OF_YEAR, v); return true;
    case 'H': set(r, HOUR, v); return true;
    case 'k': set(r, HOUR, v == 24 ? 0 : v); return true;
    case 'h': set(r, HOUR_12, v == 12 ? 0 : v); return true;
    case 'K': set(r, HOUR_12, v); return true;
    case 'm': set(r, MINUTE, v); return true;
    case 's': set(r, SECOND, v); return true;
    case 'n': set(r, NANOS, v); return true;
    case 'S':
        if (r->pattern->simple) {
            v *= 1000000;
        } else {
            for (size_t i = digits; i < 9; i++) v *= 10;
        }
        set(r, NANOS, v);
        return true;
    default: return r->pattern->simple;
    }
}

// How many digits DateTimeFormatter takes: exact for two and more letters, `most` for one.
static bool strict_width(const struct date_part *part, size_t *least, size_t *most) {
    *least = part->count;
    *most = part->count;
    if (part->count == 1 && part->letter != 'S') *most = 19;
    return true;
}

static bool take_number(struct reader *r, size_t index) {
    const struct date_part *part = &r->pattern->parts[index];
    bool adjacent = index + 1 < r->pattern->count && is_number(&r->pattern->parts[index + 1]);
    size_t least = 1, most = 19, digits = 0;
    bool negative = false;
    if (!r->pattern->simple) {
        strict_width(part, &least, &most);
    } else {
        if (adjacent) most = part->count;
        if (r->at < r->text.len && r->text.data[r->at] == '-') {
            negative = true;
            r->at++;
        }
    }
    int64_t v = 0;
    if (!take_digits(r, most, &v, &digits) || digits < least) return false;
    return store(r, part, negative ? -v : v, digits);
}

// `Z`, `UTC`, `GMT`, `+hh`, `+hhmm`, `+hh:mm`, also behind UTC or GMT.
static bool take_zone(struct reader *r) {
    struct str rest = {r->text.data + r->at, r->text.len - r->at};
    bool named = rest.len >= 3 && (memcmp(rest.data, "UTC", 3) == 0 || memcmp(rest.data, "GMT", 3) == 0);
    bool zulu = rest.len >= 1 && rest.data[0] == 'Z';
    r->at += named ? 3 : zulu ? 1 : 0;
    r->zoned = true;
    r->offset_ms = 0;
    char sign = r->at < r->text.len ? r->text.data[r->at] : 0;
    if (zulu || (sign != '+' && sign != '-')) return named || zulu;
    r->at++;
    int64_t hours = 0, minutes = 0;
    size_t digits = 0;
    if (!take_digits(r, 2, &hours, &digits) || digits != 2) return false;
    bool colon = r->at < r->text.len && r->text.data[r->at] == ':';
    r->at += colon;
    bool more = r->at < r->text.len && is_digit(r->text.data[r->at]);
    if ((colon || more) && (!take_digits(r, 2, &minutes, &digits) || digits != 2)) return false;
    r->offset_ms = (hours * 60 + minutes) * MILLIS_PER_MINUTE * (sign == '-' ? -1 : 1);
    return true;
}

static bool take_part(struct reader *r, size_t index) {
    const struct date_part *part = &r->pattern->parts[index];
    bool simple = r->pattern->simple;
    if (part->letter == 0) {
        if (r->text.len - r->at < part->literal.len) return false;
        if (part->literal.len > 0 && memcmp(r->text.data + r->at, part->literal.data, part->literal.len) != 0)
            return false;
        r->at += part->literal.len;
        return true;
    }
    while (simple && r->at < r->text.len && (r->text.data[r->at] == ' ' || r->text.data[r->at] == '\t')) r->at++;
    int name = 0;
    switch (part->letter) {
    case 'M':
    case 'L':
        if (part->count <= 2) return take_number(r, index);
        if (!take_name(r, tide__month_names, 12, simple, &name)) return false;
        set(r, MONTH, name + 1);
        return true;
    case 'E':
        if (!take_name(r, tide__day_names, 7, simple, &name)) return false;
        set(r, WEEKDAY, name);
        return true;
    case 'a': return take_half(r, simple);
    case 'G':
        if (r->text.len - r->at < 2 || strncasecmp(r->text.data + r->at, "AD", 2) != 0) return false;
        r->at += 2;
        return true;
    case 'z':
    case 'Z':
    case 'X':
    case 'x':
    case 'O':
    case 'V':
    case 'v': return take_zone(r);
    default: return take_number(r, index);
    }
}

static size_t section_end(const struct date_pattern *pattern, size_t index) {
    size_t depth = 1;
    while (index < pattern->count) {
        char letter = pattern->parts[index].letter;
        depth += letter == '[' ? 1 : letter == ']' ? (size_t)-1 : 0;
        if (depth == 0) return index;
        index++;
    }
    return index;
}

// Parts [from, to). An optional section that does not fit is skipped, and what it has read is forgotten.
static bool take_parts(struct reader *r, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        char letter = r->pattern->parts[i].letter;
        if (letter == '[') {
            size_t end = section_end(r->pattern, i + 1);
            struct reader saved = *r;
            if (!take_parts(r, i + 1, end < to ? end : to)) *r = saved;
            i = end;
        } else if (letter != ']' && !take_part(r, i)) {
            return false;
        }
    }
    return true;
}

static int64_t get(const struct reader *r, enum field field, int64_t otherwise) {
    return r->has[field] ? r->fields[field] : otherwise;
}

static int64_t hour_of(const struct reader *r) {
    if (r->has[HOUR]) return r->fields[HOUR];
    // DateTimeFormatter does not know the hour of the day from the hour alone of a half.
    if (!r->pattern->simple && (!r->has[HOUR_12] || !r->has[PM])) return 0;
    return get(r, HOUR_12, 0) + 12 * get(r, PM, 0);
}

static bool in_range(const struct reader *r) {
    static const struct {
        enum field field;
        int64_t least, most;
    } ranges[] = {
        {YEAR, 1, 999999999}, {MONTH, 1, 12},  {DAY, 1, 31},    {DAY_OF_YEAR, 1, 366}, {HOUR, 0, 24},
        {HOUR_12, 0, 11},     {MINUTE, 0, 59}, {SECOND, 0, 59}, {NANOS, 0, 999999999},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        int64_t v = r->fields[ranges[i].field];
        if (r->has[ranges[i].field] && (v < ranges[i].least || v > ranges[i].most)) return false;
    }
    bool midnight = get(r, MINUTE, 0) == 0 && get(r, SECOND, 0) == 0 && get(r, NANOS, 0) == 0;
    return !r->has[HOUR] || r->fields[HOUR] < 24 || midnight;
}

static bool finish(const struct reader *r, struct timestamp *out) {
    if (!r->pattern->simple && !in_range(r)) return false;
    int64_t year = get(r, YEAR, 1970), month = get(r, MONTH, 1), day = get(r, DAY, 1);
    if (year > 999999999 || month > 1000000 || day > 1000000000) return false;
    year += tide__floor_div(month - 1, 12);
    month = tide__floor_mod(month - 1, 12) + 1;
    int last = tide__days_in_month(year, (int)month);
    if (!r->pattern->simple && day > last) {
        if (!r->has[YEAR]) return false;
        day = last;
    }
    int64_t days = tide__days_from_civil(year, (int)month, 1) + day - 1;
    if (r->pattern->simple && days < GREGORIAN_FIRST_DAY) {
        days = tide__days_from_julian(year, (int)month, 1) + day - 1;
    }
    if (!r->pattern->simple && r->has[WEEKDAY] && tide__floor_mod(days + 3, 7) != r->fields[WEEKDAY]) return false;
    if (r->has[DAY_OF_YEAR]) days = tide__days_from_civil(year, 1, 1) + r->fields[DAY_OF_YEAR] - 1;
    int64_t nanos = get(r, NANOS, 0);
    int64_t seconds = hour_of(r) * 3600 + get(r, MINUTE, 0) * 60 + get(r, SECOND, 0);
    out->ms = days * MILLIS_PER_DAY + seconds * 1000 + tide__floor_div(nanos, 1000000);
    out->nanos = (int32_t)tide__floor_mod(nanos, 1000000);
    return true;
}

bool tide__date_pattern_parse_zoned(const struct date_pattern *pattern, struct str text, struct timestamp *out,
                                    bool *out_zoned) {
    struct reader r = {.pattern = pattern, .text = text};
    if (pattern->simple && pattern->count == 0) return false;
    if (!take_parts(&r, 0, pattern->count)) return false;
    if (!pattern->simple && r.at != text.len) return false;
    if (!finish(&r, out)) return false;
    *out_zoned = r.zoned && pattern->simple;  // DateTimeFormatter gives the wall clock as it is written
    if (*out_zoned) out->ms -= r.offset_ms;
    return true;
}

bool tide__date_pattern_parse(const struct date_pattern *pattern, struct str text, struct timestamp *out) {
    bool zoned = false;
    return tide__date_pattern_parse_zoned(pattern, text, out, &zoned);
}
