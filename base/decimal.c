// DECIMAL arithmetic as java.math.BigDecimal and Flink's DecimalDataUtils do it.
//
// Most decimals are small: every operation first tries plain 128-bit arithmetic with overflow checks, and only
// when that overflows goes through 256 bits. Magnitudes below 10^38 at scales up to 38 never need more: aligned
// operands, products and scaled dividends are all below 10^77 < 2^256.
//
// Rounding half up by 10^k needs no wide divisor: floor(n / 10^(k-1)), plus 5, divided by 10 gives the same, for
// adding 5 * 10^(k-1) before the first division does not touch its remainder.
#include "base/decimal.h"

#include "base/u256.h"

#include <assert.h>

#define DIGITS_MAX DECIMAL_PRECISION_MAX
#define E19        UINT64_C(10000000000000000000)

static const uint64_t powers[20] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    E19,
};

int128 tide__pow10(int n) {
    assert(n >= 0 && n <= DIGITS_MAX);
    if (n <= 19) return powers[n];
    return (int128)((uint128)E19 * powers[n - 19]);
}

static inline uint128 magnitude(int128 v) {
    return v < 0 ? -(uint128)v : (uint128)v;
}

// Gives the magnitude its sign; false if it has more than 38 digits.
static inline bool finish(bool negative, uint128 value, int128 *out) {
    if (value >= (uint128)tide__pow10(DIGITS_MAX)) return false;
    *out = negative ? -(int128)value : (int128)value;
    return true;
}

bool tide__decimal_fits(int128 v, int precision) {
    assert(precision >= 1 && precision <= DIGITS_MAX);
    return magnitude(v) < (uint128)tide__pow10(precision);
}

// v / 10^k, half up.
static uint128 shrink(uint128 v, int k) {
    if (k <= 0) return v;
    if (k > DIGITS_MAX + 1) return 0;
    uint128 before = 0;
    if (v >> 64 == 0 && k <= 20)
        before = (uint64_t)v / powers[k - 1];
    else
        before = v / (uint128)tide__pow10(k - 1);
    if (before >> 64 == 0 && before <= UINT64_MAX - 5) return ((uint64_t)before + 5) / 10;
    return (before + 5) / 10;
}

// The same for 256 bits; false if the result does not fit 128.
static bool shrink_wide(struct u256 v, int k, uint128 *out) {
    assert(k >= 0);
    uint128 remainder = 0;
    for (int left = k - 1; left > 0; left -= 19) {
        v = tide__u256_div(v, powers[left < 19 ? left : 19], &remainder);
    }
    if (k > 0) v = tide__u256_div(u256_add(v, (struct u256){0, 5}), 10, &remainder);
    *out = v.low;
    return v.high == 0;
}

bool tide__decimal_rescale(int128 v, int from_scale, int to_scale, int128 *out) {
    uint128 value = magnitude(v);
    if (to_scale > from_scale) {
        int k = to_scale - from_scale;
        if (value == 0) return finish(false, 0, out);
        if (k > DIGITS_MAX || __builtin_mul_overflow(value, (uint128)tide__pow10(k), &value)) return false;
    } else if (to_scale < from_scale) {
        value = shrink(value, from_scale - to_scale);
    }
    return finish(v < 0, value, out);
}

// A number brought to a finer scale: sign and 256-bit magnitude.
struct wide {
    bool negative;
    struct u256 value;
};

static struct wide widen(int128 v, int from_scale, int to_scale) {
    assert(to_scale >= from_scale && to_scale - from_scale <= DIGITS_MAX);
    return (struct wide){v < 0, u256_mul(magnitude(v), (uint128)tide__pow10(to_scale - from_scale))};
}

static bool add_wide(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out) {
    int scale = a_scale > b_scale ? a_scale : b_scale;
    struct wide wa = widen(a, a_scale, scale), wb = widen(b, b_scale, scale), sum = wa;
    if (wa.negative == wb.negative) {
        sum.value = u256_add(wa.value, wb.value);
    } else if (u256_cmp(wa.value, wb.value) >= 0) {
        sum.value = u256_sub(wa.value, wb.value);
    } else {
        sum = (struct wide){wb.negative, u256_sub(wb.value, wa.value)};
    }
    if (out_scale < scale) {
        uint128 value = 0;
        if (!shrink_wide(sum.value, scale - out_scale, &value)) return false;
        return finish(sum.negative, value, out);
    }
    if (sum.value.high != 0 || !finish(sum.negative, sum.value.low, out)) return false;
    return tide__decimal_rescale(*out, scale, out_scale, out);
}

bool tide__decimal_add(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out) {
    int128 left = a, right = b, sum = 0;
    int scale = a_scale > b_scale ? a_scale : b_scale;
    bool overflow = false;
    if (a_scale < scale) overflow |= __builtin_mul_overflow(a, tide__pow10(scale - a_scale), &left);
    if (b_scale < scale) overflow |= __builtin_mul_overflow(b, tide__pow10(scale - b_scale), &right);
    overflow |= __builtin_add_overflow(left, right, &sum);
    if (__builtin_expect(overflow, 0)) return add_wide(a, a_scale, b, b_scale, out_scale, out);
    return tide__decimal_rescale(sum, scale, out_scale, out);
}

bool tide__decimal_sub(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out) {
    return tide__decimal_add(a, a_scale, -b, b_scale, out_scale, out);
}

bool tide__decimal_mul(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out) {
    int scale = a_scale + b_scale;
    bool negative = (a < 0) != (b < 0);
    uint128 x = magnitude(a), y = magnitude(b), product = 0;
    if (!__builtin_mul_overflow(x, y, &product)) {
        if (out_scale > scale) {
            int k = out_scale - scale;
            if (product == 0) return finish(false, 0, out);
            if (k > DIGITS_MAX || __builtin_mul_overflow(product, (uint128)tide__pow10(k), &product)) {
                return false;
            }
        }
        return finish(negative, shrink(product, scale - out_scale), out);
    }
    if (out_scale >= scale) return false;
    return shrink_wide(u256_mul(x, y), scale - out_scale, &product) && finish(negative, product, out);
}

static int count_digits(uint128 v) {
    int digits = 1;
    while (digits < DIGITS_MAX && v >= (uint128)tide__pow10(digits)) digits++;
    return digits;
}

// v * 10^k, the product below 10^77.
static struct u256 grow(uint128 v, int k) {
    if (k <= DIGITS_MAX) return u256_mul(v, (uint128)tide__pow10(k));
    struct u256 first = u256_mul(v, (uint128)tide__pow10(DIGITS_MAX));
    uint128 factor = (uint128)tide__pow10(k - DIGITS_MAX);
    struct u256 high = u256_mul(first.high, factor), low = u256_mul(first.low, factor);
    assert(high.high == 0);
    return (struct u256){high.low + low.high, low.low};
}

// Flink divides with MathContext(38, HALF_UP) and then rounds to the scale. To round twice where that shows, the
// quotient is first brought to exactly 38 digits.
static bool divide_wide(bool negative, uint128 a, int a_scale, uint128 b, int b_scale, int out_scale, int128 *out) {
    assert(a > 0 && b > 0);
    int k = DIGITS_MAX - count_digits(a) + count_digits(b);  // gives 38 or 39 digits
    uint128 remainder = 0;
    struct u256 quotient = tide__u256_div(grow(a, k), b, &remainder);
    assert(quotient.high <= 2);
    int scale = a_scale - b_scale + k;
    if (quotient.high != 0 || quotient.low >= (uint128)tide__pow10(DIGITS_MAX)) {
        if (!shrink_wide(quotient, 1, &quotient.low)) return false;
        scale--;
    } else if (remainder >= b - remainder) {
        quotient.low++;
    }
    if (out_scale > scale) {
        if (out_scale - scale > DIGITS_MAX) return false;
        uint128 factor = (uint128)tide__pow10(out_scale - scale);
        if (__builtin_mul_overflow(quotient.low, factor, &quotient.low)) return false;
    }
    return finish(negative, shrink(quotient.low, scale - out_scale), out);
}

bool tide__decimal_div(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out) {
    assert(b != 0);
    if (a == 0) return finish(false, 0, out);
    bool negative = (a < 0) != (b < 0);
    uint128 x = magnitude(a), y = magnitude(b), dividend = 0;
    // With a dividend below 10^37 the quotient is so far from a tie, or on it, that 38 digits do not matter.
    int k = out_scale - a_scale + b_scale;
    bool small = k >= 0 && k <= 37 && !__builtin_mul_overflow(x, (uint128)tide__pow10(k), &dividend) &&
                 dividend < (uint128)tide__pow10(37);
    if (!small) return divide_wide(negative, x, a_scale, y, b_scale, out_scale, out);
    uint128 quotient = 0, remainder = 0;
    if (dividend >> 64 == 0 && y >> 64 == 0) {
        quotient = (uint64_t)dividend / (uint64_t)y;
        remainder = (uint64_t)dividend % (uint64_t)y;
    } else {
        quotient = dividend / y;
        remainder = dividend - quotient * y;
    }
    return finish(negative, quotient + (remainder >= y - remainder), out);
}

bool tide__decimal_mod(int128 a, int a_scale, int128 b, int b_scale, int out_scale, int128 *out) {
    assert(b != 0);
    int scale = a_scale > b_scale ? a_scale : b_scale;
    struct wide wa = widen(a, a_scale, scale), wb = widen(b, b_scale, scale);
    uint128 remainder = 0;
    if (u256_cmp(wa.value, wb.value) < 0) {
        return tide__decimal_rescale(a, a_scale, out_scale, out);
    }
    // Only one side was widened. If that is b, it is at most a now, and a fits 128 bits.
    assert(wb.value.high == 0);
    tide__u256_div(wa.value, wb.value.low, &remainder);
    int128 rest = (int128)remainder;
    return tide__decimal_rescale(wa.negative ? -rest : rest, scale, out_scale, out);
}

int tide__decimal_cmp(int128 a, int a_scale, int128 b, int b_scale) {
    if (a_scale == b_scale) return (a > b) - (a < b);
    int scale = a_scale > b_scale ? a_scale : b_scale;
    struct wide wa = widen(a, a_scale, scale), wb = widen(b, b_scale, scale);
    if (a < 0 && b < 0) return u256_cmp(wb.value, wa.value);
    if (a < 0 || b < 0) return a < 0 ? -1 : 1;
    return u256_cmp(wa.value, wb.value);
}
