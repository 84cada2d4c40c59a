// Times from and to text. A cursor walks over the text; each reader either takes what it wants or says no.
//
// The rules are those of java.time: a year has four digits, or a sign and up to nine ("+" only past 9999); other
// fields have two.
#include "base/time.h"

#include <assert.h>
#include <string.h>

#define YEAR_DIGITS_MAX     9
#define FRACTION_DIGITS_MAX 9
#define NANOS_PER_MILLI     1000000

static const uint32_t powers[10] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

struct cursor {
    const char *at, *end;
};

static struct cursor cursor_of(struct str text) {
    return (struct cursor){text.data, text.data + text.len};
}

static bool take(struct cursor *c, char wanted) {
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

// Between `least` and `most` digits; returns how many, 0 if too few.
static int take_digits(struct cursor *c, int least, int most, uint32_t *out) {
    int count = 0;
    uint32_t value = 0;
    while (count < most && c->at < c->end && (unsigned)(*c->at - '0') <= 9) {
        value = value * 10 + (uint32_t)(*c->at++ - '0');
        count++;
    }
    *out = value;
    return count >= least ? count : 0;
}

static bool take_two(struct cursor *c, int *out) {
    uint32_t value = 0;
    if (take_digits(c, 2, 2, &value) == 0) return false;
    *out = (int)value;
    return true;
}

static bool take_year(struct cursor *c, int64_t *out) {
    bool minus = take(c, '-');
    bool plus = !minus && take(c, '+');
    uint32_t value = 0;
    int count = take_digits(c, 4, YEAR_DIGITS_MAX, &value);
    if (count == 0) return false;
    if (plus ? count <= 4 : !minus && count > 4) return false;
    if (minus && value == 0) return false;
    *out = minus ? -(int64_t)value : (int64_t)value;
    return true;
}

enum day_rule { DAY_STRICT, DAY_CLAMPED };

static bool take_date(struct cursor *c, enum day_rule rule, int64_t *out_days) {
    int64_t year = 0;
    int month = 0, day = 0;
    if (!take_year(c, &year) || !take(c, '-') || !take_two(c, &month) || !take(c, '-') || !take_two(c, &day)) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    int last = tide__days_in_month(year, month);
    if (day > last) {
        if (rule == DAY_STRICT) return false;
        day = last;
    }
    *out_days = tide__days_from_civil(year, month, day);
    return true;
}

struct clock {
    int64_t ms;  // of the day; MILLIS_PER_DAY for 24:00:00
    int32_t nanos;
};

enum seconds_rule { SECONDS_NEEDED, SECONDS_OPTIONAL };

// HH:mm:ss[.fraction]. A point without digits behind it is a fraction of 0, as in Java.
static bool take_clock(struct cursor *c, enum seconds_rule rule, struct clock *out) {
    int hour = 0, minute = 0, second = 0;
    uint32_t fraction = 0;
    if (!take_two(c, &hour) || !take(c, ':') || !take_two(c, &minute)) return false;
    if (rule == SECONDS_NEEDED || c->at < c->end) {
        if (!take(c, ':') || !take_two(c, &second)) return false;
        if (take(c, '.')) {
            int count = take_digits(c, 0, FRACTION_DIGITS_MAX, &fraction);
            fraction *= powers[FRACTION_DIGITS_MAX - count];
        }
    }
    bool midnight = hour == 24 && minute == 0 && second == 0 && fraction == 0;
    if ((hour > 23 && !midnight) || minute > 59 || second > 59) return false;
    out->ms = ((hour * 60 + minute) * 60 + second) * MILLIS_PER_SECOND + fraction / NANOS_PER_MILLI;
    out->nanos = (int32_t)(fraction % NANOS_PER_MILLI);
    return true;
}

// Java's String.trim.
static struct str trim(struct str text) {
    while (text.len > 0 && (unsigned char)text.data[0] <= ' ') {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (unsigned char)text.data[text.len - 1] <= ' ') text.len--;
    return text;
}

bool tide__timestamp_parse_sql(struct str text, struct timestamp *out) {
    if (tide__timestamp_parse_fast(text.data, text.len, &out->ms)) {
        out->nanos = 0;
        return true;
    }
    struct cursor c = cursor_of(trim(text));
    int64_t days = 0;
    struct clock clock = {0};
    if (!take_date(&c, DAY_CLAMPED, &days) || !take(&c, ' ') || !take_clock(&c, SECONDS_NEEDED, &clock) ||
        c.at != c.end) {
        return false;
    }
    *out = (struct timestamp){days * MILLIS_PER_DAY + clock.ms, clock.nanos};
    return true;
}

bool tide__date_parse(struct str text, int64_t *out_days) {
    struct cursor c = cursor_of(text);
    int64_t days = 0;
    if (!take_date(&c, DAY_STRICT, &days) || c.at != c.end) return false;
    *out_days = days;
    return true;
}

static bool parse_clock(struct str text, enum seconds_rule rule, int64_t *out_ms) {
    struct cursor c = cursor_of(text);
    struct clock clock = {0};
    if (!take_clock(&c, rule, &clock) || c.at != c.end || clock.ms >= MILLIS_PER_DAY) return false;
    *out_ms = clock.ms;
    return true;
}

bool tide__time_parse(struct str text, int64_t *out_ms) {
    return parse_clock(text, SECONDS_NEEDED, out_ms);
}

bool tide__time_parse_csv(struct str text, int64_t *out_ms) {
    return parse_clock(text, SECONDS_OPTIONAL, out_ms);
}

bool tide__date_parse_csv(struct str text, int64_t *out_days) {
    struct cursor c = cursor_of(text);
    uint32_t year = 0, month = 0, day = 0;
    if (take_digits(&c, 4, 4, &year) == 0 || !take(&c, '-') || take_digits(&c, 1, 2, &month) == 0 || !take(&c, '-') ||
        take_digits(&c, 1, 2, &day) == 0 || c.at != c.end) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    *out_days = tide__days_from_civil(year, (int)month, 1) + (int64_t)day - 1;
    return true;
}

// `count` digits of value, zeros in front; returns the end.
static char *put_digits(char *to, uint64_t value, int count) {
    for (int i = count; i-- > 0; value /= 10) to[i] = (char)('0' + value % 10);
    return to + count;
}

static char *put_date(char *to, int64_t days) {
    int64_t year = 0;
    int month = 0, day = 0;
    tide__civil_from_days(days, &year, &month, &day);
    uint64_t value = year < 0 ? -(uint64_t)year : (uint64_t)year;
    int count = 4;
    for (uint64_t left = value / 10000; left > 0; left /= 10) count++;
    if (year < 0)
        *to++ = '-';
    else if (count > 4)
        *to++ = '+';
    to = put_digits(to, value, count);
    *to++ = '-';
    to = put_digits(to, (uint64_t)month, 2);
    *to++ = '-';
    return put_digits(to, (uint64_t)day, 2);
}

// ms of the day, and nanoseconds of the millisecond; digits past the precision are cut.
static char *put_clock(char *to, int64_t ms, int32_t nanos, int precision) {
    assert(precision >= 0 && precision <= FRACTION_DIGITS_MAX);
    uint32_t seconds = (uint32_t)(ms / MILLIS_PER_SECOND);
    to = put_digits(to, seconds / 3600, 2);
    *to++ = ':';
    to = put_digits(to, seconds / 60 % 60, 2);
    *to++ = ':';
    to = put_digits(to, seconds % 60, 2);
    if (precision == 0) return to;
    uint32_t fraction = (uint32_t)(ms % MILLIS_PER_SECOND) * NANOS_PER_MILLI + (uint32_t)nanos;
    *to++ = '.';
    return put_digits(to, fraction / powers[FRACTION_DIGITS_MAX - precision], precision);
}

static void finish(struct strbuf *out, char *end) {
    *end = '\0';
    out->len = (size_t)(end - out->data);
}

void tide__timestamp_print(struct timestamp t, int precision, struct strbuf *out) {
    int64_t days = tide__floor_div(t.ms, MILLIS_PER_DAY);
    char *to = put_date(tide__strbuf_reserve(out, 64), days);
    *to++ = ' ';
    finish(out, put_clock(to, t.ms - days * MILLIS_PER_DAY, t.nanos, precision));
}

void tide__date_print(int64_t days, struct strbuf *out) {
    finish(out, put_date(tide__strbuf_reserve(out, 64), days));
}

void tide__time_print(int64_t ms, int precision, struct strbuf *out) {
    char *to = tide__strbuf_reserve(out, 64);
    finish(out, put_clock(to, tide__floor_mod(ms, MILLIS_PER_DAY), 0, precision));
}
