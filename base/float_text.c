// DOUBLE and FLOAT from and to text, as Java's Double and Float have it.
//
// Printing finds the shortest digits that read back as the same number, and among those the nearest (the rule
// of Double.toString since JDK 19). Numbers with few digits, which is nearly all that people write, are found
// by scaling with exact powers of ten; the others by asking libc for more and more digits. libc is only given and
// only asked for digits and exponents in a form that does not depend on the process's locale.
#include "base/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_POWER_MAX 22  // 10^22 is the last power of ten that is a double
#define DIGITS_MAX      17

static const double exact_powers[EXACT_POWER_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

enum width { WIDTH_FLOAT, WIDTH_DOUBLE };

// 0.d1d2d3... * 10^point, no zero at the end.
struct digits {
    char text[DIGITS_MAX + 8];
    int count, point;
};

static void set_digits(struct digits *out, uint64_t value, int exponent) {
    assert(value > 0);
    while (value % 10 == 0) {
        value /= 10;
        exponent++;
    }
    char reversed[24];
    int count = 0;
    for (; value > 0; value /= 10) reversed[count++] = (char)('0' + value % 10);
    for (int i = 0; i < count; i++) out->text[i] = reversed[count - 1 - i];
    out->count = count;
    out->point = count + exponent;
}

// Finds a decimal of few places, if d > 0 is nearest to one. At most 15 digits (6 for floats) name each double
// once, so that the first that reads back is the shortest and the only one.
static bool find_short(double d, enum width width, struct digits *out) {
    double limit = width == WIDTH_DOUBLE ? 1e15 : 1e6;
    int places_max = width == WIDTH_DOUBLE ? EXACT_POWER_MAX : 9;
    if (d < 1e-5) return false;
    for (int places = 0; places <= places_max; places++) {
        double scaled = d * exact_powers[places];
        if (scaled >= limit) return false;
        double whole = nearbyint(scaled);
        if (whole < 1) continue;
        double back = whole / exact_powers[places];
        if (width == WIDTH_DOUBLE ? back == d : (float)back == (float)d) {
            set_digits(out, (uint64_t)whole, -places);
            return true;
        }
    }
    return false;
}

static bool reads_back(uint64_t value, int exponent, double d, enum width width) {
    char text[48];
    snprintf(text, sizeof(text), "%llue%d", (unsigned long long)value, exponent);
    return width == WIDTH_DOUBLE ? strtod(text, NULL) == d : strtof(text, NULL) == (float)d;
}

// d rounded to `count` digits: value * 10^exponent.
static void round_to(double d, int count, uint64_t *out_value, int *out_exponent) {
    char text[48];
    snprintf(text, sizeof(text), "%.*e", count - 1, d);
    uint64_t value = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9') value = value * 10 + (uint64_t)(*at - '0');
    }
    *out_value = value;
    *out_exponent = (int)strtol(at + 1, NULL, 10) - (count - 1);
}

static void find_shortest(double d, enum width width, struct digits *out) {
    if (find_short(d, width, out)) return;
    int count_max = width == WIDTH_DOUBLE ? DIGITS_MAX : 9;
    bool normal = width == WIDTH_DOUBLE ? d >= 0x1p-1022 : d >= 0x1p-126;
    int unique = width == WIDTH_DOUBLE ? 15 : 6;  // digits that name each normal number once
    int exponent_of_two = 0;
    bool power_of_two = frexp(d, &exponent_of_two) == 0.5;
    uint64_t value = 0;
    int exponent = 0;
    // Java wants the nearest of two digits rather than one digit, so that 4.9E-324 is not 5.0E-324.
    for (int count = normal ? unique : 2; count <= count_max; count++) {
        round_to(d, count, &value, &exponent);
        if (reads_back(value, exponent, d, width)) break;
        // Above a power of two the doubles are twice as far apart as below: a decimal that is farther away,
        // but above, may still read back where the nearest does not.
        if (power_of_two && reads_back(value + 1, exponent, d, width)) {
            value++;
            break;
        }
    }
    set_digits(out, value, exponent);
}

// Plain from 10^-3 to below 10^7, else d.dddE[-]x.
static void print_digits(const struct digits *digits, struct strbuf *out) {
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

static void print_number(double d, enum width width, struct strbuf *out) {
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
        struct digits digits;
        find_shortest(d, width, &digits);
        print_digits(&digits, out);
    }
}

void tide__double_print(double d, struct strbuf *out) {
    print_number(d, WIDTH_DOUBLE, out);
}

void tide__float_print(double f, struct strbuf *out) {
    print_number((double)(float)f, WIDTH_FLOAT, out);
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
