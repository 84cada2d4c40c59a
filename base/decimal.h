// DECIMAL(p, s) as an unscaled 128-bit integer and a scale. Overflow past 38 digits is a false return (SQL: NULL).
// Products, quotients and rounding go through 256-bit intermediates; rounding is half up (away from zero).
#ifndef TIDE_BASE_DECIMAL_H
#define TIDE_BASE_DECIMAL_H

#include "base/str.h"
#include "base/type.h"

#include <stdbool.h>
#include <stdint.h>

// 10^n, 0 <= n <= 38.
int128 tide__pow10(int n);
// |v| < 10^precision
bool tide__decimal_fits(int128 v, int precision);
// v * 10^(to - from), rounded half up when to < from. False if |result| >= 10^38.
bool tide__decimal_rescale(int128 v, int from_scale, int to_scale, int128 *out);
bool tide__decimal_add(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out);
bool tide__decimal_sub(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out);
bool tide__decimal_mul(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out);
// b != 0.
bool tide__decimal_div(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out);
// Java's BigDecimal remainder (sign of a). b != 0.
bool tide__decimal_mod(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out);
int tide__decimal_cmp(int128 a, int a_scale, int128 b, int b_scale);

// `[+-]digits[.digits][e[+-]digits]`; rounded half up to `scale`. False if not a number, or more than `precision`.
bool tide__decimal_parse(struct str text, int precision, int scale, int128 *out);
// Plain notation with exactly `scale` fraction digits: `-0.50`.
void tide__decimal_print(int128 v, int scale, struct strbuf *out);
double tide__decimal_to_double(int128 v, int scale);
// As Java's BigDecimal(double) rounded half up. False for NaN, infinity or overflow.
bool tide__decimal_from_double(double d, int precision, int scale, int128 *out);

// Java 17's Double.toString and Float.toString: `1.0`, `1.0E7`, `NaN`, `-0.0` (float_digits.h).
void tide__double_print(double d, struct strbuf *out);
void tide__float_print(double f, struct strbuf *out);
// Java's Double.parseDouble on trimmed text (no hex, no suffix). False if not a number.
bool tide__double_parse(struct str text, double *out);

#endif
