// The decimal digits of a DOUBLE or FLOAT, as Double.toString and Float.toString of Java 17 give them.
//
// Flink prints through them, and rounds and casts to DECIMAL by that text. Mostly they are the shortest digits that read back,
// but not always: 2E23 is 1.9999999999999998E23, and the FLOAT 1E16 is 1.00000003E16. (Java 19 and later print
// the shortest.) So the way there is done in the same steps, by Steele and White's algorithm:
//
//   value = b / s * 10^exponent,  0 < b / s < 10;  m / s is half the distance to the next number
//   digit = b / s;  b = b % s * 10;  m = m * 10;  stop when b < m (low) or b + m > 10 s (high): then the rest does not tell numbers apart
//
// in the smallest of three widths that holds b and 10 s: 31 bits, 63 bits (there m may wrap around, and that is Java's answer), or
// many limbs (where high also includes equality). Whole numbers that are exact in 63 bits go another way: their last digits are rounded
// away as far as the bits of the significand cannot tell them.
#include "base/float_digits.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SIGNIFICAND_BITS = 53, POWERS_OF_5 = 27, LIMBS = 80 };

// --- what the number is ---------------------------------------------------------------------------------------------

// value = bits / 2^(fraction_bits - 1) * 2^exponent, bits odd, 1 <= bits / 2^(fraction_bits - 1) < 2
struct number {
    uint64_t bits;         // without zero bits at the end
    uint64_t significand;  // with them: 53 bits
    int exponent;
    int fraction_bits;
    int tiny_bits;  // how many of them are behind the point
    int precision;  // bits of the type that the number uses: 53, 24, less if it is subnormal
};

static struct number take_apart(double d, bool single) {
    int exponent;
    double fraction = frexp(d, &exponent);
    struct number n = {.exponent = exponent - 1};
    n.significand = (uint64_t)ldexp(fraction, SIGNIFICAND_BITS);
    int trailing = __builtin_ctzll(n.significand);
    n.bits = n.significand >> trailing;
    n.fraction_bits = SIGNIFICAND_BITS - trailing;
    n.tiny_bits = n.fraction_bits - n.exponent - 1 > 0 ? n.fraction_bits - n.exponent - 1 : 0;
    int smallest = single ? -126 : -1022, full = single ? 24 : SIGNIFICAND_BITS;
    n.precision = n.exponent < smallest ? full - (smallest - n.exponent) : full;
    return n;
}

static int bits_of_5(int power) {
    // 5^power has floor(power * log2(5)) + 1 bits; Java takes three bits a power from 27 on.
    return power < POWERS_OF_5 ? (int)(power * 2.321928094887362) + 1 : power * 3;
}

static uint64_t power_of_5(int power) {
    uint64_t value = 1;
    while (power-- > 0) value *= 5;
    return value;
}

// --- digits -----------------------------------------------------------------------------------------------------------

// The integer's digits behind `exponent` zeros.
static void put_integer(uint64_t value, int exponent, struct float_digits *out) {
    for (; value % 10 == 0; value /= 10) exponent++;
    char reversed[20];
    int count = 0;
    for (; value > 0; value /= 10) reversed[count++] = (char)('0' + value % 10);
    for (int i = 0; i < count; i++) out->text[i] = reversed[count - 1 - i];
    out->count = count;
    out->point = count + exponent;
}

static void develop_integer(const struct number *n, struct float_digits *out) {
    uint64_t value = n->exponent >= SIGNIFICAND_BITS - 1 ? n->significand << (n->exponent - SIGNIFICAND_BITS + 1)
                                                         : n->significand >> (SIGNIFICAND_BITS - 1 - n->exponent);
    int untold = n->exponent > n->precision ? n->exponent - n->precision - 1 : 0;  // bits
    int places = 0;
    uint64_t unit = 1;
    for (; untold < 63 && unit * 10 <= UINT64_C(1) << untold; unit *= 10) places++;
    if (places > 0) value = value / unit + (value % unit >= unit / 2);
    put_integer(value, places, out);
}

static void round_up(struct float_digits *out) {
    int at = out->count - 1;
    while (at >= 0 && out->text[at] == '9') at--;
    if (at < 0) {
        out->text[0] = '1';
        out->count = 1;
        out->point++;
        return;
    }
    out->text[at]++;
    out->count = at + 1;
}

// After the last digit: `above` compares twice the rest with one unit of it.
static void finish(struct float_digits *out, bool low, bool high, int above) {
    bool odd = (out->text[out->count - 1] - '0') & 1;
    if (high && (!low || above > 0 || (above == 0 && odd))) round_up(out);
    while (out->count > 1 && out->text[out->count - 1] == '0') out->count--;
}

// Below 10^-3 and from 10^8 on the text has an exponent, and Java wants two digits before it looks whether to stop.
static bool wants_two(int exponent) {
    return exponent < -3 || exponent >= 8;
}

static void put_first(struct float_digits *out, int digit, bool high, int exponent) {
    out->count = 0;
    if (digit == 0 && !high)
        exponent--;
    else
        out->text[out->count++] = (char)('0' + digit);
    out->point = exponent + 1;
}

// --- in 31 or 63 bits ---------------------------------------------------------------------------------------------------

static int64_t fold(uint64_t value, bool narrow) {
    return narrow ? (int32_t)(uint32_t)value : (int64_t)value;
}

static void develop_words(uint64_t bits, uint64_t unit, uint64_t half, bool narrow, int exponent,
                          struct float_digits *out) {
    int64_t b = (int64_t)bits, s = (int64_t)unit, tens = fold(unit * 10, narrow);
    int64_t digit = b / s, m = fold(half * 10, narrow);
    b = fold((uint64_t)(b % s) * 10, narrow);
    bool low = b<m, high = fold((uint64_t)b + (uint64_t)m, narrow)> tens;
    put_first(out, (int)digit, high, exponent);
    if (wants_two(out->point - 1)) low = high = false;
    while (!low && !high) {
        digit = b / s;
        b = fold((uint64_t)(b % s) * 10, narrow);
        m = fold((uint64_t)m * 10, narrow);
        low = m <= 0 || b < m;
        high = m <= 0 || fold((uint64_t)b + (uint64_t)m, narrow) > tens;
        out->text[out->count++] = (char)('0' + digit);
        assert(out->count < TIDE_FLOAT_DIGITS_MAX);
    }
    int64_t above = fold(((uint64_t)b << 1) - (uint64_t)tens, narrow);
    finish(out, low, high, (above > 0) - (above < 0));
}

// --- in many limbs --------------------------------------------------------------------------------------------------------

struct big {
    uint32_t limb[LIMBS];
    int count;  // the last one is not 0
};

static void big_multiply(struct big *a, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < a->count; i++) {
        carry += (uint64_t)a->limb[i] * factor;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry == 0) return;
    assert(a->count < LIMBS);
    a->limb[a->count++] = (uint32_t)carry;
}

// value * 5^power_5 * 2^power_2
static void big_set(struct big *a, uint64_t value, int power_5, int power_2) {
    *a = (struct big){.limb = {(uint32_t)value, (uint32_t)(value >> 32)}};
    a->count = a->limb[1] != 0 ? 2 : 1;
    for (; power_5 >= 13; power_5 -= 13) big_multiply(a, 1220703125);
    while (power_5-- > 0) big_multiply(a, 5);
    for (; power_2 >= 31; power_2 -= 31) big_multiply(a, UINT32_C(1) << 31);
    big_multiply(a, UINT32_C(1) << power_2);
}

static int big_compare(const struct big *a, const struct big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static struct big big_add(const struct big *a, const struct big *b) {
    struct big sum = {.count = a->count > b->count ? a->count : b->count};
    uint64_t carry = 0;
    for (int i = 0; i < sum.count; i++) {
        carry += (uint64_t)a->limb[i] + b->limb[i];
        sum.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) sum.limb[sum.count++] = (uint32_t)carry;
    return sum;
}

static void big_subtract(struct big *a, const struct big *b) {
    int64_t borrow = 0;
    for (int i = 0; i < a->count; i++) {
        borrow += (int64_t)a->limb[i] - b->limb[i];
        a->limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    while (a->count > 0 && a->limb[a->count - 1] == 0) a->count--;
}

// -> b / s, below 10; *b becomes 10 (b % s).
static int big_digit(struct big *b, const struct big *s) {
    int digit = 0;
    for (; big_compare(b, s) >= 0; digit++) big_subtract(b, s);
    assert(digit < 10);
    big_multiply(b, 10);
    return digit;
}

static void develop_limbs(struct big *b, const struct big *s, struct big *m, int exponent, struct float_digits *out) {
    struct big tens = *s, both;
    big_multiply(&tens, 10);
    int digit = big_digit(b, s);
    big_multiply(m, 10);
    both = big_add(b, m);
    bool low = big_compare(b, m) < 0, high = big_compare(&tens, &both) <= 0;
    put_first(out, digit, high, exponent);
    if (wants_two(out->point - 1)) low = high = false;
    while (!low && !high) {
        out->text[out->count++] = (char)('0' + big_digit(b, s));
        assert(out->count < TIDE_FLOAT_DIGITS_MAX);
        big_multiply(m, 10);
        both = big_add(b, m);
        low = big_compare(b, m) < 0;
        high = big_compare(&tens, &both) <= 0;
    }
    big_multiply(b, 2);
    finish(out, low, high, low && high ? big_compare(b, &tens) : 0);
}

// --- all ------------------------------------------------------------------------------------------------------------------

// Of 10^x <= value, or one more; by the tangent of the logarithm at 1.5.
static int estimate_exponent(const struct number *n) {
    double fraction = ldexp((double)n->significand, 1 - SIGNIFICAND_BITS);
    return (int)floor((fraction - 1.5) * 0.289529654 + 0.176091259 + (double)n->exponent * 0.301029995663981);
}

void tide__float_digits(double d, bool single, struct float_digits *out) {
    assert(isfinite(d) && d > 0);
    struct number n = take_apart(d, single);
    if (n.tiny_bits == 0 && n.exponent <= 62) {
        develop_integer(&n, out);
        return;
    }
    int exponent = estimate_exponent(&n);
    int b5 = exponent < 0 ? -exponent : 0, s5 = exponent > 0 ? exponent : 0;
    int b2 = b5 + n.tiny_bits + n.exponent, s2 = s5 + n.tiny_bits, m2 = b2 - n.precision;
    b2 -= n.fraction_bits - 1;
    int common = b2 < s2 ? b2 : s2;
    b2 -= common, s2 -= common, m2 -= common;
    if (n.fraction_bits == 1) m2--;  // below a power of two the numbers are closer
    if (m2 < 0) b2 -= m2, s2 -= m2, m2 = 0;
    int b_bits = n.fraction_bits + b2 + bits_of_5(b5);
    int tens_bits = s2 + 1 + bits_of_5(s5 + 1);
    if (b_bits < 64 && tens_bits < 64) {
        bool narrow = b_bits < 32 && tens_bits < 32;
        develop_words((n.bits * power_of_5(b5)) << b2, power_of_5(s5) << s2, power_of_5(b5) << m2, narrow, exponent,
                      out);
        return;
    }
    struct big b, s, m;
    big_set(&b, n.bits, b5, b2);
    big_set(&s, 1, s5, s2);
    big_set(&m, 1, b5, m2);
    develop_limbs(&b, &s, &m, exponent, out);
}
