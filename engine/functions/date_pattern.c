// Compiling Java date patterns, and formatting. Parsing is in date_parse.c.
#include "engine/functions/date_pattern.h"

#include "base/time.h"
#include "engine/functions/date_names.h"
#include "engine/functions/temporal.h"

#include <string.h>

const char *const tide__month_names[12] = {"January", "February", "March",     "April",   "May",      "June",
                                           "July",    "August",   "September", "October", "November", "December"};
const char *const tide__day_names[7] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

// --- compiling -----------------------------------------------------------------------------------------------------

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Letters that may not stand more often than this in DateTimeFormatter.
static int letter_limit(char c) {
    switch (c) {
    case 'd':
    case 'h':
    case 'H':
    case 'k':
    case 'K':
    case 'm':
    case 's':
    case 'w': return 2;
    case 'W':
    case 'F':
    case 'a': return 1;
    case 'D': return 3;
    case 'M':
    case 'L':
    case 'Q':
    case 'q':
    case 'E':
    case 'e':
    case 'c':
    case 'G': return 5;
    case 'S': return 9;
    default: return 19;
    }
}

static const char *check_letter(char c, size_t count, bool simple, struct arena *arena) {
    const char *known = simple ? "GyYMLwWDdFEuaHkKhmsSzZX" : "GuyYDMLdQqwWEecFaBhHkKmsSAnNg";
    if (strchr(known, c) == NULL) {
        if (!simple && strchr("VvzOXxZ", c) != NULL) return NULL;
        return tide__arena_printf(arena, "unknown pattern letter '%c'", c);
    }
    if (!simple && count > (size_t)letter_limit(c)) {
        return tide__arena_printf(arena, "too many pattern letters '%c'", c);
    }
    return NULL;
}

// 'text' with '' for a quote; *at stands at the opening quote.
static bool take_quoted(struct str text, size_t *at, struct arena *arena, struct str *out) {
    char *copy = tide__arena_alloc(arena, text.len);
    size_t n = 0, i = *at + 1;
    if (i < text.len && text.data[i] == '\'') {
        *at = i + 1;
        *out = (struct str){"'", 1};
        return true;
    }
    for (; i < text.len; i++) {
        if (text.data[i] == '\'') {
            if (i + 1 < text.len && text.data[i + 1] == '\'') {
                i++;
            } else {
                *at = i + 1;
                *out = (struct str){copy, n};
                return true;
            }
        }
        copy[n++] = text.data[i];
    }
    return false;
}

bool tide__date_pattern_compile(struct str text, bool simple, struct arena *arena, struct date_pattern *out,
                                const char **out_problem) {
    *out = (struct date_pattern){.simple = simple};
    out->parts = ARENA_ARRAY(arena, struct date_part, text.len);
    size_t depth = 0;
    for (size_t at = 0; at < text.len;) {
        struct date_part *part = &out->parts[out->count++];
        char c = text.data[at];
        if (is_letter(c)) {
            size_t end = at;
            while (end < text.len && text.data[end] == c) end++;
            *out_problem = check_letter(c, end - at, simple, arena);
            if (*out_problem != NULL) return false;
            if (!simple && strchr("VvzOXxZ", c) != NULL) out->zone = c;
            *part = (struct date_part){c, (uint8_t)(end - at > 200 ? 200 : end - at), {0}};
            at = end;
        } else if (c == '\'') {
            if (!take_quoted(text, &at, arena, &part->literal)) {
                *out_problem = "a quote is not closed";
                return false;
            }
        } else if (!simple && (c == '[' || c == ']')) {
            if (c == ']' && depth == 0) {
                *out_problem = "']' without '['";
                return false;
            }
            depth += c == '[' ? 1 : (size_t)-1;
            *part = (struct date_part){c, 1, {0}};
            at++;
        } else if (!simple && (c == '{' || c == '}' || c == '#')) {
            *out_problem = tide__arena_printf(arena, "reserved character '%c'", c);
            return false;
        } else {
            part->literal = (struct str){text.data + at, 1};
            at++;
        }
    }
    return true;
}

// --- formatting ----------------------------------------------------------------------------------------------------

struct fields {
    int64_t days, year, week_year;
    int month, day, week, weekday;  // weekday: 1 Monday to 7 Sunday
    int64_t clock_ms, nanos;        // of the day; nanoseconds of the second
    int hour, minute, second;
};

// Weeks as in the United States: they begin on Sunday, and the one with January 1st is the first.
static int us_week(int64_t days, int64_t *out_year) {
    int month = 0, day = 0;
    int64_t sunday = days - tide__floor_mod(days + 4, 7), saturday = sunday + 6;
    tide__civil_from_days(saturday, out_year, &month, &day);
    int64_t first = tide__days_from_civil(*out_year, 1, 1);
    int64_t first_sunday = first - tide__floor_mod(first + 4, 7);
    return (int)((sunday - first_sunday) / 7) + 1;
}

int64_t tide__days_from_julian(int64_t year, int month, int day) {
    int64_t y = year - (month <= 2), m = month + (month <= 2 ? 12 : 0);
    return tide__floor_div(1461 * y, 4) + (153 * (m - 3) + 2) / 5 + day - 719471;
}

void tide__julian_from_days(int64_t days, int64_t *out_year, int *out_month, int *out_day) {
    int64_t shifted = days + 719470;  // since the 1st of March of the year 0
    int64_t y = tide__floor_div(4 * shifted + 3, 1461), rest = shifted - tide__floor_div(1461 * y, 4);
    int64_t m = (5 * rest + 2) / 153;
    *out_day = (int)(rest - (153 * m + 2) / 5 + 1);
    *out_month = (int)(m < 10 ? m + 3 : m - 9);
    *out_year = y + (m >= 10);
}

static struct fields fields_of(struct timestamp t, bool simple) {
    struct fields f = {.days = tide__floor_div(t.ms, MILLIS_PER_DAY)};
    f.clock_ms = tide__floor_mod(t.ms, MILLIS_PER_DAY);
    f.nanos = f.clock_ms % 1000 * 1000000 + t.nanos;
    if (simple && f.days < GREGORIAN_FIRST_DAY) {
        tide__julian_from_days(f.days, &f.year, &f.month, &f.day);
    } else {
        tide__civil_from_days(f.days, &f.year, &f.month, &f.day);
    }
    f.weekday = (int)tide__floor_mod(f.days + 3, 7) + 1;
    f.week = us_week(f.days, &f.week_year);
    f.hour = (int)(f.clock_ms / MILLIS_PER_HOUR);
    f.minute = (int)(f.clock_ms / MILLIS_PER_MINUTE % 60);
    f.second = (int)(f.clock_ms / MILLIS_PER_SECOND % 60);
    return f;
}

static void put_number(int64_t v, int width, struct strbuf *out) {
    if (v < 0) {
        tide__strbuf_append_char(out, '-');
        v = -v;
    }
    char digits[24];
    int n = 0;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    for (int i = n; i < width; i++) tide__strbuf_append_char(out, '0');
    while (n > 0) tide__strbuf_append_char(out, digits[--n]);
}

static void put_text(const char *text, int length, struct strbuf *out) {
    tide__strbuf_append(out, text, length == 0 ? strlen(text) : (size_t)length);
}

static void put_year(int64_t year, int count, bool simple, struct strbuf *out) {
    if (count == 2) {
        put_number(tide__floor_mod(year, 100), 2, out);
        return;
    }
    if (!simple && count >= 4 && year > 9999) tide__strbuf_append_char(out, '+');
    put_number(year, count, out);
}

// A text of 1 to 3 letters is short, 4 full, 5 one letter.
static void put_name(const char *name, int count, struct strbuf *out) {
    put_text(name, count == 4 ? 0 : count == 5 ? 1 : 3, out);
}

static void put_fraction(int64_t nanos, int count, struct strbuf *out) {
    char digits[10];
    for (int i = 8; i >= 0; i--) {
        digits[i] = (char)('0' + nanos % 10);
        nanos /= 10;
    }
    tide__strbuf_append(out, digits, (size_t)count);
}

static void put_quarter(const struct fields *f, int count, struct strbuf *out) {
    static const char *const full[] = {"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"};
    int quarter = (f->month + 2) / 3;
    if (count == 3) tide__strbuf_append_char(out, 'Q');
    if (count == 4) {
        put_text(full[quarter - 1], 0, out);
    } else {
        put_number(quarter, count == 2 ? 2 : 1, out);
    }
}

static void put_offset(int64_t offset_ms, char letter, int count, struct strbuf *out) {
    int64_t minutes = offset_ms / 60000;
    if (letter == 'X' && minutes == 0) {
        tide__strbuf_append_char(out, 'Z');
        return;
    }
    int64_t magnitude = minutes < 0 ? -minutes : minutes;
    if (letter == 'z') {
        if (minutes == 0) {
            tide__strbuf_append_c(out, "UTC");
            return;
        }
        tide__strbuf_append_c(out, "GMT");
    }
    tide__strbuf_append_char(out, minutes < 0 ? '-' : '+');
    put_number(magnitude / 60, 2, out);
    if (letter == 'X' && count == 1) return;
    if (letter == 'z' || (letter == 'X' && count == 3)) tide__strbuf_append_char(out, ':');
    put_number(magnitude % 60, 2, out);
}

static void put_month(const struct fields *f, int count, bool simple, struct strbuf *out) {
    if (count <= 2) {
        put_number(f->month, count, out);
    } else {
        put_name(tide__month_names[f->month - 1], simple && count > 4 ? 4 : count, out);
    }
}

static void put_weekday(const struct fields *f, char letter, int count, bool simple, struct strbuf *out) {
    if (letter == 'u') {
        put_number(f->weekday, count, out);
    } else if (letter != 'E' && count <= 2) {
        put_number(f->weekday % 7 + 1, count, out);
    } else {
        put_name(tide__day_names[f->weekday - 1], simple && count > 4 ? 4 : count, out);
    }
}

static const char *day_period(const struct fields *f) {
    int minutes = f->hour * 60 + f->minute;
    if (minutes == 0) return "midnight";
    if (minutes == 720) return "noon";
    if (f->hour < 6 || f->hour >= 21) return "at night";
    return f->hour < 12 ? "in the morning" : f->hour < 18 ? "in the afternoon" : "in the evening";
}

static void put_part(const struct date_part *part, const struct fields *f, bool simple, int64_t offset_ms,
                     struct strbuf *out) {
    int count = part->count;
    switch (part->letter) {
    case 'y': put_year(simple && f->year <= 0 ? 1 - f->year : f->year, count, simple, out); break;
    case 'u':
        if (simple) {
            put_weekday(f, 'u', count, simple, out);
        } else {
            put_year(f->year, count, simple, out);
        }
        break;
    case 'Y': put_year(f->week_year, count, simple, out); break;
    case 'M':
    case 'L': put_month(f, count, simple, out); break;
    case 'd': put_number(f->day, count, out); break;
    case 'D': put_number(f->days - tide__days_from_civil(f->year, 1, 1) + 1, count, out); break;
    case 'Q':
    case 'q': put_quarter(f, count, out); break;
    case 'w': put_number(f->week, count, out); break;
    case 'W': put_number((f->day + (int)tide__floor_mod(f->days - f->day + 5, 7) - 1) / 7 + 1, count, out); break;
    case 'F': put_number(simple ? (f->day - 1) / 7 + 1 : (f->day - 1) % 7 + 1, count, out); break;
    case 'g': put_number(f->days + 40587, count, out); break;
    case 'B': put_text(day_period(f), 0, out); break;
    case 'E':
    case 'e':
    case 'c': put_weekday(f, part->letter, count, simple, out); break;
    case 'G':
        put_text(f->year > 0 ? (count == 4 && !simple ? "Anno Domini" : "AD") : "BC", count == 5 && !simple, out);
        break;
    case 'a': put_text(f->hour < 12 ? "AM" : "PM", 0, out); break;
    case 'h': put_number(f->hour % 12 == 0 ? 12 : f->hour % 12, count, out); break;
    case 'K': put_number(f->hour % 12, count, out); break;
    case 'k': put_number(f->hour == 0 ? 24 : f->hour, count, out); break;
    case 'H': put_number(f->hour, count, out); break;
    case 'm': put_number(f->minute, count, out); break;
    case 's': put_number(f->second, count, out); break;
    case 'S':
        if (simple) {
            put_number(f->nanos / 1000000, count, out);
        } else {
            put_fraction(f->nanos, count, out);
        }
        break;
    case 'A': put_number(f->clock_ms, count, out); break;
    case 'n': put_number(f->nanos, count, out); break;
    case 'N': put_number(f->clock_ms * 1000000 + f->nanos % 1000000, count, out); break;
    case 'z':
    case 'Z':
    case 'X': put_offset(offset_ms, part->letter, count, out); break;
    default: break;
    }
}

void tide__date_pattern_format(const struct date_pattern *pattern, struct timestamp t, int64_t offset_ms,
                               struct strbuf *out) {
    struct fields f = fields_of(t, pattern->simple);
    for (size_t i = 0; i < pattern->count; i++) {
        const struct date_part *part = &pattern->parts[i];
        if (part->letter == 0) {
            tide__strbuf_append_str(out, part->literal);
        } else {
            put_part(part, &f, pattern->simple, offset_ms, out);
        }
    }
}
