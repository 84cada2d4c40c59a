// Casts from and to strings and bytes, and Flink's readers of numbers, dates and times: lenient where Flink is.
#include "base/time.h"
#include "base/zone.h"
#include "engine/functions/cast.h"

#include <ctype.h>
#include <math.h>

// --- reading -------------------------------------------------------------------------------------------------------

static struct str trim(struct str s) {
    while (s.len > 0 && (unsigned char)s.data[0] <= ' ') s.data++, s.len--;
    while (s.len > 0 && (unsigned char)s.data[s.len - 1] <= ' ') s.len--;
    return s;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Digits with a sign, then perhaps a fraction, which is dropped.
bool tide__text_to_integer(struct str text, int64_t *out) {
    text = trim(text);
    if (text.len == 0) return false;
    size_t i = 0;
    bool negative = text.data[0] == '-';
    if (negative || text.data[0] == '+') i++;
    if (i == text.len) return false;
    int64_t v = 0;
    for (; i < text.len && text.data[i] != '.'; i++) {
        if (!is_digit(text.data[i])) return false;
        int digit = text.data[i] - '0';
        if (__builtin_mul_overflow(v, 10, &v)) return false;
        if (__builtin_add_overflow(v, negative ? -digit : digit, &v)) return false;
    }
    for (i++; i < text.len; i++) {
        if (!is_digit(text.data[i])) return false;
    }
    *out = v;
    return true;
}

bool tide__text_to_boolean(struct str text, bool *out) {
    static const char *const yes[] = {"t", "true", "y", "yes", "1"};
    static const char *const no[] = {"f", "false", "n", "no", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (tide__str_ieq_c(text, yes[i])) return *out = true, true;
        if (tide__str_ieq_c(text, no[i])) return *out = false, true;
    }
    return false;
}

// Java's parseDouble also takes the suffixes of its literals: 1d, 0.1f.
static struct str without_suffix(struct str text) {
    text = trim(text);
    if (text.len < 2) return text;
    char last = text.data[text.len - 1], before = text.data[text.len - 2];
    bool suffix = last == 'd' || last == 'D' || last == 'f' || last == 'F';
    if (suffix && (is_digit(before) || before == '.')) text.len--;
    return text;
}

bool tide__text_to_double(struct str text, double *out) {
    return tide__double_parse(without_suffix(text), out);
}

// An integer with blanks around it; not more than nine digits.
static bool small_number(struct str text, int *out) {
    text = trim(text);
    if (text.len == 0 || text.len > 9) return false;
    int v = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.data[i])) return false;
        v = v * 10 + (text.data[i] - '0');
    }
    *out = v;
    return true;
}

// Cuts the part before the next `separator`; false if there is none.
static bool cut_at(struct str *rest, char separator, struct str *part) {
    const char *at = rest->len == 0 ? NULL : memchr(rest->data, separator, rest->len);
    if (at == NULL) return false;
    *part = (struct str){rest->data, (size_t)(at - rest->data)};
    rest->len -= part->len + 1;
    rest->data = at + 1;
    return true;
}

// `yyyy[-m[-d]]`, what follows a blank is ignored.
bool tide__text_to_date(struct str text, int64_t *out_days) {
    struct str part, rest = text;
    if (cut_at(&rest, ' ', &part) && part.len > 0) text = part;
    int year = 0, month = 1, day = 1;
    rest = text;
    if (!cut_at(&rest, '-', &part)) {
        if (!small_number(text, &year)) return false;
    } else {
        if (!small_number(part, &year)) return false;
        if (cut_at(&rest, '-', &part)) {
            if (!small_number(part, &month) || !small_number(rest, &day)) return false;
        } else if (!small_number(rest, &month)) {
            return false;
        }
    }
    if (year < 0 || year > 9999 || month < 1 || month > 12) return false;
    if (day < 1 || day > tide__days_in_month(year, month)) return false;
    *out_days = tide__days_from_civil(year, month, day);
    return true;
}

// `h[:m[:s[.fraction]]]`, perhaps with `+h[:m]` or `-h[:m]`, which moves the time.
bool tide__text_to_time(struct str text, int64_t *out_ms) {
    struct str part, zone = {0};
    int sign = 1, zone_hour = 0, zone_minute = 0;
    const char *at = memchr(text.data, '-', text.len);
    if (at != NULL) {
        sign = -1;
    } else {
        at = memchr(text.data, '+', text.len);
    }
    if (text.len == 0) return false;
    if (at != NULL) {
        zone = (struct str){at + 1, (size_t)(text.data + text.len - at - 1)};
        text.len = (size_t)(at - text.data);
        if (cut_at(&zone, ':', &part)) {
            if (!small_number(part, &zone_hour) || !small_number(zone, &zone_minute)) return false;
        } else if (!small_number(zone, &zone_hour)) {
            return false;
        }
    }
    int hour = 0, minute = 0, second = 0, milli = 0;
    if (!cut_at(&text, ':', &part)) {
        if (!small_number(text, &hour)) return false;
    } else {
        if (!small_number(part, &hour)) return false;
        if (!cut_at(&text, ':', &part)) {
            if (!small_number(text, &minute)) return false;
        } else {
            struct str whole;
            if (!small_number(part, &minute)) return false;
            if (cut_at(&text, '.', &whole)) {
                int unit = 100;
                for (size_t i = 0; i < text.len && unit > 0; i++, unit /= 10) {
                    milli += is_digit(text.data[i]) ? unit * (text.data[i] - '0') : 0;
                }
                text = whole;
            }
            if (!small_number(text, &second)) return false;
        }
    }
    hour += sign * zone_hour;
    minute += sign * zone_minute;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second > 59) return false;
    *out_ms = hour * MILLIS_PER_HOUR + minute * MILLIS_PER_MINUTE + second * MILLIS_PER_SECOND + milli;
    return true;
}

// One or two digits at *at.
static bool take_two(struct str s, size_t *at, int *out) {
    if (*at >= s.len || !is_digit(s.data[*at])) return false;
    *out = s.data[(*at)++] - '0';
    if (*at < s.len && is_digit(s.data[*at])) *out = *out * 10 + (s.data[(*at)++] - '0');
    return true;
}

static bool take_char(struct str s, size_t *at, char c) {
    if (*at >= s.len || s.data[*at] != c) return false;
    (*at)++;
    return true;
}

// ` HH:mm:ss[.fraction]` to the end of the text.
static bool take_clock(struct str s, size_t at, int64_t *out_ms, int32_t *out_nanos) {
    int hour = 0, minute = 0, second = 0;
    int64_t nanos = 0;
    if (!take_char(s, &at, ' ') || !take_two(s, &at, &hour) || !take_char(s, &at, ':')) return false;
    if (!take_two(s, &at, &minute) || !take_char(s, &at, ':') || !take_two(s, &at, &second)) return false;
    if (take_char(s, &at, '.')) {
        int64_t unit = 100000000;
        for (; at < s.len && is_digit(s.data[at]) && unit > 0; at++, unit /= 10) nanos += unit * (s.data[at] - '0');
    }
    if (at != s.len || minute > 59 || second > 59 || hour > 24) return false;
    if (hour == 24 && (minute > 0 || second > 0 || nanos > 0)) return false;
    *out_ms = hour * MILLIS_PER_HOUR + minute * MILLIS_PER_MINUTE + second * MILLIS_PER_SECOND + nanos / 1000000;
    *out_nanos = (int32_t)(nanos % 1000000);
    return true;
}

// `yyyy-[M]M-[d]d[ [H]H:[m]m:[s]s[.fraction]]`; a day up to 31 that its month does not have is the month's last.
bool tide__text_to_timestamp(struct str text, int precision, struct timestamp *out) {
    size_t at = 0;
    int year = 0, month = 0, day = 0;
    for (; at < 4; at++) {
        if (at >= text.len || !is_digit(text.data[at])) return false;
        year = year * 10 + (text.data[at] - '0');
    }
    if (!take_char(text, &at, '-') || !take_two(text, &at, &month)) return false;
    if (!take_char(text, &at, '-') || !take_two(text, &at, &day)) return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
    int64_t clock = 0;
    int32_t nanos = 0;
    if (at < text.len && !take_clock(text, at, &clock, &nanos)) return false;
    int last = tide__days_in_month(year, month);
    if (day > last) day = last;
    int64_t ms = tide__days_from_civil(year, month, day) * MILLIS_PER_DAY + clock;
    if (precision < 3) ms = tide__time_floor(ms, 0, (int64_t)tide__pow10(3 - precision));
    if (precision <= 3) nanos = 0;
    if (precision > 3 && precision < 9) nanos -= nanos % (int32_t)tide__pow10(9 - precision);
    *out = (struct timestamp){ms, nanos};
    return true;
}

// --- from text -----------------------------------------------------------------------------------------------------

// One loop for all readers: `take` stores the value of a row and says whether the text was one.
#define FROM_TEXT(name, take)                                                                                          \
    static tide_status name(struct cast_job *job) {                                                                    \
        EACH_ROW(job->rows, i, struct str text = job->in->str[i]; if (!(take)) TIDE_TRY(tide__cast_failed(job, i)););  \
        return TIDE_OK;                                                                                                \
    }

static bool take_integer(struct cast_job *job, struct str text, size_t row) {
    int64_t v = 0;
    if (!tide__text_to_integer(text, &v)) return false;
    if (tide__wrap_integer(job->out->type->kind, v) != v) return false;
    job->out->i64[row] = v;
    return true;
}

static bool take_boolean(struct cast_job *job, struct str text, size_t row) {
    bool v = false;
    if (!tide__text_to_boolean(text, &v)) return false;
    job->out->bools[row] = v;
    return true;
}

static bool take_double(struct cast_job *job, struct str text, size_t row) {
    double d = 0;
    if (!tide__text_to_double(text, &d)) return false;
    job->out->f64[row] = job->out->type->kind == TYPE_FLOAT ? (float)d : d;
    return true;
}

static bool take_decimal(struct cast_job *job, struct str text, size_t row) {
    const struct type *type = job->out->type;
    int128 v = 0, exact = 0;
    double d = 0;
    text = without_suffix(text);
    if (tide__decimal_parse(text, type->precision, type->scale, &v)) {
        tide__put_decimal(job->out, row, v);
        return true;
    }
    // Flink counts the digits before it rounds: 9999.995 as DECIMAL(6, 2) is 10000.00.
    bool small = type->precision < 18;
    if (small && tide__decimal_parse(text, type->precision + 1, type->scale, &v) &&
        tide__decimal_parse(text, 38, type->scale + 6, &exact) &&
        tide__decimal_fits(exact / tide__pow10(6), type->precision)) {
        job->out->i64[row] = (int64_t)v;
        return true;
    }
    // A number with too many digits is NULL, what is no number fails.
    if (!tide__double_parse(text, &d) || isnan(d) ||
        (text.len > 0 && isalpha((unsigned char)text.data[text.len - 1]))) {
        return false;
    }
    tide__put_null(job->out, row);
    return true;
}

static bool take_timestamp(struct cast_job *job, struct str text, size_t row) {
    struct timestamp t;
    if (!tide__text_to_timestamp(text, job->out->type->precision, &t)) return false;
    if (job->out->type->kind == TYPE_TIMESTAMP_LTZ) t.ms = tide__zone_to_utc(job->ctx->zone, t.ms);
    tide__put_timestamp(job->out, row, t);
    return true;
}

FROM_TEXT(text_to_integer, take_integer(job, text, i))
FROM_TEXT(text_to_boolean, take_boolean(job, text, i))
FROM_TEXT(text_to_double, take_double(job, text, i))
FROM_TEXT(text_to_decimal, take_decimal(job, text, i))
FROM_TEXT(text_to_date, tide__text_to_date(text, &job->out->i64[i]))
FROM_TEXT(text_to_time, tide__text_to_time(text, &job->out->i64[i]))
FROM_TEXT(text_to_timestamp, take_timestamp(job, text, i))

cast_run *tide__cast_from_text(const struct type *to) {
    switch (to->kind) {
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT: return text_to_integer;
    case TYPE_BOOLEAN: return text_to_boolean;
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return text_to_double;
    case TYPE_DECIMAL: return text_to_decimal;
    case TYPE_DATE: return text_to_date;
    case TYPE_TIME: return text_to_time;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: return text_to_timestamp;
    default: return NULL;
    }
}

// --- to text -------------------------------------------------------------------------------------------------------

// Cuts to `length` characters; CHAR is filled with blanks.
static struct str fit_text(struct arena *arena, struct str s, const struct type *type) {
    if (type->precision == TYPE_STRING_LENGTH) return s;
    size_t at = 0, count = 0, wanted = (size_t)type->precision;
    if (s.len > wanted || type->kind == TYPE_CHAR) {
        while (at < s.len && count < wanted) {
            tide__utf8_next(s, &at);
            count++;
        }
        s.len = at < s.len ? at : s.len;
    } else {
        return s;
    }
    if (type->kind != TYPE_CHAR || count == wanted) return s;
    char *padded = tide__arena_alloc(arena, s.len + wanted - count);
    if (s.len > 0) memcpy(padded, s.data, s.len);
    memset(padded + s.len, ' ', wanted - count);
    return (struct str){padded, s.len + wanted - count};
}

static struct str fit_bytes(struct arena *arena, struct str s, const struct type *type) {
    size_t wanted = (size_t)type->precision;
    if (type->precision == TYPE_STRING_LENGTH || (s.len <= wanted && type->kind == TYPE_VARBINARY)) return s;
    if (s.len >= wanted) return (struct str){s.data, wanted};
    char *padded = tide__arena_zalloc(arena, wanted);
    if (s.len > 0) memcpy(padded, s.data, s.len);
    return (struct str){padded, wanted};
}

static tide_status text_to_text(struct cast_job *job) {
    const struct type *type = job->out->type;
    bool bytes = type->kind == TYPE_BINARY || type->kind == TYPE_VARBINARY;
    struct arena *arena = job->ctx->scratch;
    EACH_ROW(job->rows, i, struct str s = job->in->str[i];
             job->out->str[i] = bytes ? fit_bytes(arena, s, type) : fit_text(arena, s, type););
    return TIDE_OK;
}

static tide_status value_to_text(struct cast_job *job) {
    struct strbuf text = {0};
    struct arena *arena = job->ctx->scratch;
    for (size_t nth = 0; nth < job->rows.n; nth++) {
        size_t i = tide__row_at(job->rows, nth);
        tide__strbuf_clear(&text);
        tide__value_text(job->in, i, job->ctx->zone, &text);
        job->out->str[i] = fit_text(arena, tide__str_copy(arena, text.data, text.len), job->out->type);
    }
    tide__strbuf_deinit(&text);
    return TIDE_OK;
}

cast_run *tide__cast_to_text(const struct type *from, const struct type *to) {
    bool text = tide__type_is_string(from) || from->kind == TYPE_BINARY || from->kind == TYPE_VARBINARY;
    if (text) return text_to_text;
    return tide__type_is_string(to) ? value_to_text : NULL;
}
