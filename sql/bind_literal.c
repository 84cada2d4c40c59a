// Literals: their types are Flink's ('abc' is CHAR(3), 1.5 is DECIMAL(2, 1)), their values are checked here, so that a bad
// one is shown at its place.
#include "base/time.h"
#include "sql/bind.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_LITERAL_DIGITS_MAX 19  // Flink reads the digits into 64 bits

static const struct type *type_of(struct binder *b, enum type_kind kind, int32_t precision, int32_t scale) {
    struct type type = tide__type_make_sized(kind, false, precision, scale);
    return tide__type_copy(b->arena, &type);
}

static struct expr *literal(struct binder *b, struct value value, const struct type *type, struct source_pos pos) {
    return tide__expr_literal(b->arena, value, type, pos);
}

struct expr *tide__bind_null(struct binder *b, struct source_pos pos) {
    struct type type = tide__type_make(TYPE_NULL, true);
    struct value value = {.is_null = true};
    return literal(b, value, tide__type_copy(b->arena, &type), pos);
}

static int32_t utf16_length(struct str s) {
    int32_t length = 0;
    for (size_t at = 0; at < s.len;) length += tide__utf8_next(s, &at) > 0xFFFF ? 2 : 1;
    return length;
}

struct expr *tide__bind_string(struct binder *b, const char *text, struct source_pos pos) {
    struct value value = {.str = tide__str(text)};
    return literal(b, value, type_of(b, TYPE_CHAR, utf16_length(value.str), 0), pos);
}

struct expr *tide__bind_integer(struct binder *b, enum type_kind kind, int64_t number, struct source_pos pos) {
    struct type type = tide__type_make(kind, false);
    struct value value = {.i64 = number};
    return literal(b, value, tide__type_copy(b->arena, &type), pos);
}

struct expr *tide__bind_boolean(struct binder *b, bool truth, struct source_pos pos) {
    struct type type = tide__type_make(TYPE_BOOLEAN, false);
    struct value value = {.boolean = truth};
    return literal(b, value, tide__type_copy(b->arena, &type), pos);
}

static tide_status out_of_range(struct binder *b, const struct ast_expr *ast) {
    const int shown = ast->text.len > 60 ? 50 : (int)ast->text.len;
    return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "number %.*s%s is out of range", shown, ast->text.data,
                         (size_t)shown < ast->text.len ? "..." : "");
}

static tide_status bind_integer(struct binder *b, const struct ast_expr *ast, struct expr **out) {
    int64_t number = 0;
    for (size_t i = 0; i < ast->text.len; i++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, ast->text.data[i] - '0', &number)) {
            return out_of_range(b, ast);
        }
    }
    *out = tide__bind_integer(b, number > INT32_MAX ? TYPE_BIGINT : TYPE_INT, number, ast->pos);
    return TIDE_OK;
}

static tide_status bind_decimal(struct binder *b, const struct ast_expr *ast, struct expr **out) {
    int128 unscaled = 0;
    int32_t digits = 0, written = 0, scale = 0;
    bool fraction = false;
    for (size_t i = 0; i < ast->text.len; i++) {
        char c = ast->text.data[i];
        if (c == '.') {
            fraction = true;
            continue;
        }
        written++;  // 0.1 is DECIMAL(2, 1), .1 is DECIMAL(1, 1)
        if (digits > 0 || c != '0') digits++;
        if (fraction) scale++;
        if (digits > DECIMAL_LITERAL_DIGITS_MAX || scale > DECIMAL_PRECISION_MAX) return out_of_range(b, ast);
        unscaled = unscaled * 10 + (c - '0');
    }
    if (written > DECIMAL_PRECISION_MAX) written = DECIMAL_PRECISION_MAX;
    const struct type *type = type_of(b, TYPE_DECIMAL, written, scale);
    struct value value = {.is_null = false};
    if (tide__type_physical(type) == PHYSICAL_I64) {
        value.i64 = (int64_t)unscaled;
    } else {
        value.i128 = unscaled;
    }
    *out = literal(b, value, type, ast->pos);
    return TIDE_OK;
}

static tide_status bind_double(struct binder *b, const struct ast_expr *ast, struct expr **out) {
    char *text = tide__arena_strndup(b->arena, ast->text.data, ast->text.len);
    struct value value = {.f64 = strtod(text, NULL)};
    if (isinf(value.f64)) return out_of_range(b, ast);
    *out = literal(b, value, type_of(b, TYPE_DOUBLE, 0, 0), ast->pos);
    return TIDE_OK;
}

static tide_status bad_literal(struct binder *b, const struct ast_expr *ast, const char *kind, const char *format) {
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "'%.*s' is no %s literal", STR_ARG(ast->text), kind);
    return tide__fail_hint(b->err, "write it as %s", format);
}

static int32_t fraction_digits(struct str text) {
    const char *dot = text.len > 0 ? memchr(text.data, '.', text.len) : NULL;
    return dot == NULL ? 0 : (int32_t)(text.data + text.len - dot - 1);
}

// '2024-2-9 1:2:3' -> '2024-02-09 01:02:03': Calcite takes parts of one digit.
static struct str two_digits(struct binder *b, struct str text) {
    char *out = tide__arena_alloc(b->arena, 2 * text.len + 1), *at = out;
    for (size_t i = 0; i < text.len;) {
        size_t end = i;
        while (end < text.len && isdigit((unsigned char)text.data[end])) end++;
        bool fraction = i > 0 && text.data[i - 1] == '.';
        if (end == i + 1 && !fraction) *at++ = '0';
        for (end += end == i; i < end; i++) *at++ = text.data[i];
    }
    return (struct str){out, (size_t)(at - out)};
}

static tide_status bind_timestamp(struct binder *b, const struct ast_expr *ast, struct expr **out) {
    struct timestamp time;
    struct str text = ast->text;
    int32_t precision = fraction_digits(text);
    if (precision > 9) {  // further digits are cut
        text.len -= (size_t)(precision - 9);
        precision = 9;
    }
    int64_t days = 0;
    text = two_digits(b, text);
    bool midnight = tide__date_parse(text, &days);  // TIMESTAMP '2024-01-31'
    time = (struct timestamp){days * MILLIS_PER_DAY, 0};
    if (!midnight && !tide__timestamp_parse_sql(text, &time)) {
        return bad_literal(b, ast, "TIMESTAMP",
                           "'2024-01-31 12:00:00' (a blank between date and time, seconds needed)");
    }
    const struct type *type = type_of(b, TYPE_TIMESTAMP, precision, 0);
    struct value value = {.is_null = false};
    if (tide__type_physical(type) == PHYSICAL_I64) {
        value.i64 = time.ms;
    } else {
        value.time = time;
    }
    *out = literal(b, value, type, ast->pos);
    return TIDE_OK;
}

// --- Intervals ---

static const char *unit_name(enum ast_unit unit) {
    static const char *const names[] = {"?", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"};
    return names[unit];
}

static int64_t unit_size(enum ast_unit unit) {
    switch (unit) {
    case UNIT_YEAR: return 12;
    case UNIT_QUARTER: return 3;
    case UNIT_MONTH: return 1;
    case UNIT_WEEK: return 7 * MILLIS_PER_DAY;
    case UNIT_DAY: return MILLIS_PER_DAY;
    case UNIT_HOUR: return MILLIS_PER_HOUR;
    case UNIT_MINUTE: return MILLIS_PER_MINUTE;
    case UNIT_SECOND: return MILLIS_PER_SECOND;
    case UNIT_NONE: return 0;
    }
    return 0;
}

static enum ast_unit unit_after(enum ast_unit unit) {
    return unit == UNIT_YEAR ? UNIT_MONTH : (enum ast_unit)(unit + 1);
}

static tide_status bad_interval(struct binder *b, const struct ast_expr *ast) {
    const struct ast_interval *i = &ast->interval;
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, i->text_pos, "'%.*s' is no interval of %s%s%s", STR_ARG(ast->text),
                  unit_name(i->from), i->to != UNIT_NONE ? " TO " : "", i->to != UNIT_NONE ? unit_name(i->to) : "");
    return tide__fail_hint(b->err, "write INTERVAL '10' MINUTE, INTERVAL '1:30' HOUR TO MINUTE");
}

// Reads digits at *at; false if there are none or too many.
static bool read_digits(struct str text, size_t *at, int64_t *out, int *out_count) {
    int64_t number = 0;
    size_t begin = *at;
    while (*at < text.len && isdigit((unsigned char)text.data[*at])) {
        if (*at - begin > 17) return false;
        number = number * 10 + (text.data[(*at)++] - '0');
    }
    *out = number;
    *out_count = (int)(*at - begin);
    return *at > begin;
}

static tide_status read_fraction(struct binder *b, const struct ast_expr *ast, size_t *at, int64_t *total) {
    if (*at >= ast->text.len || ast->text.data[*at] != '.') return TIDE_OK;
    (*at)++;
    int64_t number = 0;
    int digits = 0;
    if (!read_digits(ast->text, at, &number, &digits) || digits > 9) return bad_interval(b, ast);
    for (; digits < 3; digits++) number *= 10;
    for (; digits > 3; digits--) number /= 10;
    *total += number;
    return TIDE_OK;
}

static tide_status parse_interval(struct binder *b, const struct ast_expr *ast, int64_t *out) {
    const struct ast_interval *interval = &ast->interval;
    struct str text = ast->text;
    size_t at = 0;
    bool negative = interval->negative;
    if (text.len > 0 && (text.data[0] == '-' || text.data[0] == '+')) {
        if (text.data[0] == '-') negative = !negative;
        at++;
    }
    enum ast_unit last = interval->to == UNIT_NONE ? interval->from : interval->to;
    int64_t total = 0;
    for (enum ast_unit unit = interval->from;; unit = unit_after(unit)) {
        int64_t number = 0, part = 0;
        int digits = 0;
        if (!read_digits(text, &at, &number, &digits)) return bad_interval(b, ast);
        if (unit == interval->from) {
            int precision = interval->precision < 0 ? 2 : interval->precision;
            int64_t limit = 1;
            for (int i = 0; i < precision && i < 18; i++) limit *= 10;
            if (number >= limit) {
                tide__fail_at(b->err, TIDE_ERR_VALIDATE, interval->text_pos, "%lld has more digits than %s(%d) takes",
                              (long long)number, unit_name(unit), precision);
                return tide__fail_hint(b->err, "write INTERVAL '%.*s' %s(%d)", STR_ARG(text), unit_name(unit), digits);
            }
        } else if (number >= (unit == UNIT_MONTH ? 12 : unit == UNIT_HOUR ? 24 : 60)) {
            return bad_interval(b, ast);
        }
        if (__builtin_mul_overflow(number, unit_size(unit), &part) || __builtin_add_overflow(total, part, &total)) {
            return bad_interval(b, ast);
        }
        if (unit == UNIT_SECOND) TIDE_TRY(read_fraction(b, ast, &at, &total));
        if (unit == last || unit >= UNIT_SECOND) break;
        char separator = unit == UNIT_YEAR ? '-' : unit == UNIT_DAY ? ' ' : ':';
        if (at >= text.len || text.data[at] != separator) return bad_interval(b, ast);
        at++;
    }
    if (at != text.len) return bad_interval(b, ast);
    *out = negative ? -total : total;
    return TIDE_OK;
}

static tide_status bind_interval(struct binder *b, const struct ast_expr *ast, struct expr **out) {
    struct value value = {.is_null = false};
    TIDE_TRY(parse_interval(b, ast, &value.i64));
    bool months = ast->interval.from <= UNIT_MONTH;
    struct type type = tide__type_make(months ? TYPE_INTERVAL_MONTHS : TYPE_INTERVAL_MILLIS, false);
    *out = literal(b, value, tide__type_copy(b->arena, &type), ast->pos);
    return TIDE_OK;
}

tide_status tide__bind_literal(struct binder *b, const struct ast_expr *ast, struct expr **out) {
    struct value value = {.is_null = false};
    switch (ast->literal) {
    case LITERAL_NULL:
        *out = tide__bind_null(b, ast->pos);
        if (ast->text.len == 7) {  // UNKNOWN
            struct type type = tide__type_make(TYPE_BOOLEAN, true);
            (*out)->type = tide__type_copy(b->arena, &type);
        }
        return TIDE_OK;
    case LITERAL_TRUE:
    case LITERAL_FALSE: *out = tide__bind_boolean(b, ast->literal == LITERAL_TRUE, ast->pos); return TIDE_OK;
    case LITERAL_INTEGER: return bind_integer(b, ast, out);
    case LITERAL_DECIMAL: return bind_decimal(b, ast, out);
    case LITERAL_DOUBLE: return bind_double(b, ast, out);
    case LITERAL_STRING:
        value.str = ast->text;
        *out = literal(b, value, type_of(b, TYPE_CHAR, utf16_length(ast->text), 0), ast->pos);
        return TIDE_OK;
    case LITERAL_BINARY:
        value.str = ast->text;
        *out = literal(b, value, type_of(b, TYPE_BINARY, (int32_t)ast->text.len, 0), ast->pos);
        return TIDE_OK;
    case LITERAL_DATE:
        if (!tide__date_parse(two_digits(b, ast->text), &value.i64)) return bad_literal(b, ast, "DATE", "'2024-01-31'");
        *out = literal(b, value, type_of(b, TYPE_DATE, 0, 0), ast->pos);
        return TIDE_OK;
    case LITERAL_TIME:
        if (!tide__time_parse(two_digits(b, ast->text), &value.i64)) return bad_literal(b, ast, "TIME", "'12:00:00'");
        *out = literal(b, value,
                       type_of(b, TYPE_TIME, fraction_digits(ast->text) > 3 ? 3 : fraction_digits(ast->text), 0),
                       ast->pos);
        return TIDE_OK;
    case LITERAL_TIMESTAMP: return bind_timestamp(b, ast, out);
    case LITERAL_INTERVAL: return bind_interval(b, ast, out);
    }
    return TIDE_OK;
}
