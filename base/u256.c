// Long division of a 256-bit number by one of up to 128 bits.
#include "base/u256.h"

// Short division by one 64-bit digit.
static struct u256 divide_by_digit(struct u256 a, uint64_t b, uint128 *out_remainder) {
    uint64_t digits[4] = {(uint64_t)(a.high >> 64), (uint64_t)a.high, (uint64_t)(a.low >> 64), (uint64_t)a.low};
    uint128 rest = 0;
    for (int i = 0; i < 4; i++) {
        rest = rest << 64 | digits[i];
        digits[i] = (uint64_t)(rest / b);
        rest %= b;
    }
    *out_remainder = rest;
    return (struct u256){(uint128)digits[0] << 64 | digits[1], (uint128)digits[2] << 64 | digits[3]};
}

// The next digit of the quotient: (rest * 2^64 + digit) / b, where rest < b and the top bit of b is set.
// Leaves the new rest. The guess from the top digits is at most 2 too large (Knuth 4.3.1, theorem B).
static uint64_t next_digit(uint128 *rest, uint64_t digit, uint128 b) {
    uint64_t b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    uint64_t top = (uint64_t)(*rest >> 64);
    uint128 guess = top >= b1 ? (uint128)UINT64_MAX : *rest / b1;
    uint128 left = *rest - guess * b1;  // with guess * b0 to be taken off (left * 2^64 + digit)
    while (left >> 64 == 0 && guess * b0 > (left << 64 | digit)) {
        guess--;
        left += b1;
    }
    // Modulo 2^128 this is exact, for the true rest is below b.
    *rest = (*rest << 64 | digit) - guess * b0 - ((guess * b1) << 64);
    return (uint64_t)guess;
}

struct u256 tide__u256_div(struct u256 a, uint128 b, uint128 *out_remainder) {
    assert(b != 0);
    if (a.high == 0) {
        *out_remainder = a.low % b;
        return (struct u256){0, a.low / b};
    }
    if (b >> 64 == 0) return divide_by_digit(a, (uint64_t)b, out_remainder);

    // Shift so that the top bit of b is set; the digits of a become five, the first below b's first.
    int shift = __builtin_clzll((uint64_t)(b >> 64));
    uint128 scaled = b << shift;
    uint128 high = a.high << shift, low = a.low << shift;
    uint64_t over = 0;
    if (shift > 0) {
        over = (uint64_t)(a.high >> (128 - shift));
        high |= a.low >> (128 - shift);
    }
    uint64_t digits[4] = {(uint64_t)(high >> 64), (uint64_t)high, (uint64_t)(low >> 64), (uint64_t)low};
    uint128 rest = over;
    uint64_t quotient[4];
    for (int i = 0; i < 4; i++) quotient[i] = next_digit(&rest, digits[i], scaled);
    *out_remainder = rest >> shift;
    return (struct u256){(uint128)quotient[0] << 64 | quotient[1], (uint128)quotient[2] << 64 | quotient[3]};
}
