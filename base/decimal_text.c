// DECIMAL from and to text, and from and to DOUBLE by way of text, as BigDecimal.valueOf and doubleValue do.
#include "base/decimal.h"
#include "base/u256.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Exponents past this are overflow or zero whatever the digits are; keeps the sums below in range.
#define EXPONENT_MAX 1000000000

static bool is_digit(char c) {
    return (unsigned)(c - '0') <= 9;
}

// [+-]digits up to the end of the text.
static bool parse_exponent(const char *at, const char *end, int64_t *out) {
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '+' || *at == '-')) at++;
    if (at == end) return false;
    int64_t value = 0;
    for (; at < end; at++) {
        if (!is_digit(*at)) return false;
        if (value < EXPONENT_MAX) value = value * 10 + (*at - '0');
    }
    *out = negative ? -value : value;
    return true;
}

// The parts of a number's text: digits with at most one point among them, and the exponent.
struct number_text {
    const char *digits, *digits_end;
    int64_t whole_digits;  // before the point
    int64_t exponent;
    bool negative;
};

static bool split_number(struct str text, struct number_text *out) {
    const char *at = text.data, *end = text.data + text.len;
    *out = (struct number_text){0};
    if (at < end && (*at == '+' || *at == '-')) out->negative = *at++ == '-';
    out->digits = at;
    while (at < end && is_digit(*at)) at++;
    out->whole_digits = at - out->digits;
    int64_t digits = out->whole_digits;
    if (at < end && *at == '.') {
        const char *point = at++;
        while (at < end && is_digit(*at)) at++;
        digits += at - point - 1;
    }
    out->digits_end = at;
    if (digits == 0) return false;
    if (at == end) return true;
    return (*at == 'e' || *at == 'E') && parse_exponent(at + 1, end, &out->exponent);
}

bool tide__decimal_parse(struct str text, int precision, int scale, int128 *out) {
    assert(precision >= 1 && precision <= DECIMAL_PRECISION_MAX);
    struct number_text number = {0};
    if (!split_number(text, &number)) return false;

    uint128 value = 0;
    bool round_up = false;
    // Of the digit at hand: value * 10^position is its worth in units of the result's last digit.
    int64_t position = number.whole_digits + number.exponent + scale;
    for (const char *at = number.digits; at < number.digits_end; at++) {
        if (*at == '.') continue;
        position--;
        if (position < 0) {
            round_up = position == -1 && *at >= '5';
            break;
        }
        if (value >= (uint128)tide__pow10(DECIMAL_PRECISION_MAX - 1)) return false;
        value = value * 10 + (unsigned)(*at - '0');
    }
    if (position > 0 && value > 0) {
        uint128 factor = position <= DECIMAL_PRECISION_MAX ? (uint128)tide__pow10((int)position) : 0;
        if (factor == 0 || __builtin_mul_overflow(value, factor, &value)) return false;
    }
    value += round_up;
    if (value >= (uint128)tide__pow10(precision)) return false;
    *out = number.negative ? -(int128)value : (int128)value;
    return true;
}

// Writes the digits of v so that they end at `end`; returns where they start. At least one digit.
static char *write_digits_before(char *end, uint128 v) {
    while (v >> 64 != 0) {
        const uint64_t e19 = UINT64_C(10000000000000000000);
        uint64_t low = (uint64_t)(v % e19);
        v /= e19;
        for (int i = 0; i < 19; i++, low /= 10) *--end = (char)('0' + low % 10);
    }
    uint64_t left = (uint64_t)v;
    do {
        *--end = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    return end;
}

void tide__decimal_print(int128 v, int scale, struct strbuf *out) {
    assert(scale >= 0 && scale <= DECIMAL_PRECISION_MAX);
    char digits[48], *end = digits + sizeof(digits);
    char *at = write_digits_before(end, v < 0 ? -(uint128)v : (uint128)v);
    while (end - at <= scale) *--at = '0';
    char *to = tide__strbuf_reserve(out, sizeof(digits) + 2), *start = to;
    if (v < 0) *to++ = '-';
    size_t whole = (size_t)(end - at) - (size_t)scale;
    memcpy(to, at, whole);
    to += whole;
    if (scale > 0) {
        *to++ = '.';
        memcpy(to, at + whole, (size_t)scale);
        to += scale;
    }
    *to = '\0';
    out->len += (size_t)(to - start);
}

double tide__decimal_to_double(int128 v, int scale) {
    static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    assert(scale >= 0 && scale <= DECIMAL_PRECISION_MAX);
    const int64_t exact_max = INT64_C(1) << 53;
    // Both numbers are exact, so that the division rounds once.
    if (v >= -exact_max && v <= exact_max && scale <= 22) return (double)(int64_t)v / exact_powers[scale];
    char text[64], *end = text + 48;
    char *at = write_digits_before(end, v < 0 ? -(uint128)v : (uint128)v);
    if (v < 0) *--at = '-';
    // No point, so that the process's locale does not matter.
    snprintf(end, sizeof(text) - 48, "e-%d", scale);
    return strtod(at, NULL);
}

bool tide__decimal_from_double(double d, int precision, int scale, int128 *out) {
    if (!isfinite(d)) return false;
    struct strbuf text = {0};
    tide__double_print(d, &text);
    bool done = tide__decimal_parse(tide__strbuf_str(&text), precision, scale, out);
    tide__strbuf_deinit(&text);
    return done;
}
