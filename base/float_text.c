// DOUBLE and FLOAT from and to text, as Java's Double and Float have it.
//
// Printing: the digits are those of Java 17 (float_digits.h). Reading: few digits and a small power of ten are exact in a double,
// so that one division or product rounds right; all else is left to libc, in a form that does not depend on the process's
// locale.
#include "base/decimal.h"
#include "base/float_digits.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_POWER_MAX 22  // 10^22 is the last power of ten that is a double

static const double exact_powers[EXACT_POWER_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

// Plain from 10^-3 to below 10^7, else d.dddE[-]x.
static void print_digits(const struct float_digits *digits, struct strbuf *out) {
    const char *text = digits->text;
    int count = digits->count, point = digits->point;
    char *to = tide__strbuf_reserve(out, 40), *start = to;
    if (point > 7 || point < -2) {
        *to++ = text[0];
        *to++ = '.';
        if (count > 1)
            memcpy(to, text + 1, (size_t)count - 1);
        else
            *to = '0';
        to += count > 1 ? count - 1 : 1;
        to += snprintf(to, 8, "E%d", point - 1);
    } else if (point <= 0) {
        memcpy(to, "0.00", 4);
        to += 2 - point;
        memcpy(to, text, (size_t)count);
        to += count;
    } else {
        for (int i = 0; i < point; i++) *to++ = i < count ? text[i] : '0';
        *to++ = '.';
        if (count > point)
            memcpy(to, text + point, (size_t)(count - point));
        else
            *to = '0';
        to += count > point ? count - point : 1;
    }
    *to = '\0';
    out->len += (size_t)(to - start);
}

static void print_number(double d, bool single, struct strbuf *out) {
    if (isnan(d)) {
        tide__strbuf_append(out, "NaN", 3);
        return;
    }
    if (signbit(d)) {
        tide__strbuf_append_char(out, '-');
        d = -d;
    }
    if (isinf(d)) {
        tide__strbuf_append(out, "Infinity", 8);
    } else if (d == 0) {
        tide__strbuf_append(out, "0.0", 3);
    } else {
        struct float_digits digits;
        tide__float_digits(d, single, &digits);
        print_digits(&digits, out);
    }
}

void tide__double_print(double d, struct strbuf *out) {
    print_number(d, false, out);
}

void tide__float_print(double f, struct strbuf *out) {
    print_number((double)(float)f, true, out);
}

static bool is_digit(char c) {
    return (unsigned)(c - '0') <= 9;
}

// The digits of a number without the point, for libc: `123e-2`. Only for what does not fit 19 digits.
static double parse_slowly(const char *at, const char *end, int64_t exponent) {
    struct strbuf text = {0};
    for (; at < end; at++) {
        if (*at != '.') tide__strbuf_append_char(&text, *at);
    }
    tide__strbuf_printf(&text, "e%lld", (long long)exponent);
    double value = strtod(text.data, NULL);
    tide__strbuf_deinit(&text);
    return value;
}

static bool parse_words(struct str text, double *out) {
    bool negative = text.len > 0 && text.data[0] == '-';
    if (text.len > 0 && (text.data[0] == '-' || text.data[0] == '+')) {
        text.data++;
        text.len--;
    }
    if (tide__str_eq(text, STR_LIT("NaN")))
        *out = (double)NAN;
    else if (tide__str_eq(text, STR_LIT("Infinity")))
        *out = negative ? -HUGE_VAL : HUGE_VAL;
    else
        return false;
    return true;
}

// e[+-]digits up to the end, added to *exponent. Bounded, for past 10^9 there is only 0 and infinity.
static bool parse_exponent(const char *at, const char *end, int64_t *exponent) {
    if (at == end) return true;
    if (*at != 'e' && *at != 'E') return false;
    at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '+' || *at == '-')) at++;
    if (at == end) return false;
    int64_t value = 0;
    for (; at < end; at++) {
        if (!is_digit(*at)) return false;
        if (value < 1000000000) value = value * 10 + (*at - '0');
    }
    *exponent += negative ? -value : value;
    return true;
}

bool tide__double_parse(struct str text, double *out) {
    while (text.len > 0 && (unsigned char)text.data[0] <= ' ') text.data++, text.len--;
    while (text.len > 0 && (unsigned char)text.data[text.len - 1] <= ' ') text.len--;
    const char *at = text.data, *end = at + text.len;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '+' || *at == '-')) at++;

    const char *digits = at;
    uint64_t value = 0;
    int64_t count = 0, places = 0;
    bool point = false;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        value = value * 10 + (uint64_t)(*at - '0');  // of use only up to 19 digits
        count++;
        places += point;
    }
    if (count == 0) return parse_words(text, out);
    int64_t exponent = -places;
    if (!parse_exponent(at, end, &exponent)) return false;
    bool exact = count <= 19 && value <= UINT64_C(1) << 53;
    double result = 0;
    // Number and power are exact, so that there is one rounding.
    if (exact && exponent <= 0 && exponent >= -EXACT_POWER_MAX) {
        result = (double)value / exact_powers[-exponent];
    } else if (exact && exponent > 0 && exponent <= EXACT_POWER_MAX) {
        result = (double)value * exact_powers[exponent];
    } else {
        result = parse_slowly(digits, at, exponent);
    }
    *out = negative ? -result : result;
    return true;
}
