// The decimal digits of a DOUBLE or FLOAT, as Java 17 finds them.
#ifndef TIDE_BASE_FLOAT_DIGITS_H
#define TIDE_BASE_FLOAT_DIGITS_H

#include <stdbool.h>

#define TIDE_FLOAT_DIGITS_MAX 24

// 0.d1d2d3... * 10^point; no zero at the end, at least one digit.
struct float_digits {
    char text[TIDE_FLOAT_DIGITS_MAX];
    int count, point;
};

// `d` is finite and greater than 0; with `single` it is a FLOAT's value, and its digits are those of a FLOAT.
void tide__float_digits(double d, bool single, struct float_digits *out);

#endif
