// Unsigned 256-bit integers, only as much as decimals need: products, sums, quotients by 128-bit numbers.
#ifndef TIDE_BASE_U256_H
#define TIDE_BASE_U256_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 uint128;

struct u256 {
    uint128 high, low;
};

static inline struct u256 u256_mul(uint128 a, uint128 b) {
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    uint128 p00 = (uint128)a0 * b0, p01 = (uint128)a0 * b1;
    uint128 p10 = (uint128)a1 * b0, p11 = (uint128)a1 * b1;
    uint128 middle = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;
    return (struct u256){p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64), middle << 64 | (uint64_t)p00};
}

static inline int u256_cmp(struct u256 a, struct u256 b) {
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return (a.low > b.low) - (a.low < b.low);
}

// The sum must fit, as that of two numbers below 10^76 does.
static inline struct u256 u256_add(struct u256 a, struct u256 b) {
    uint128 low = a.low + b.low;
    return (struct u256){a.high + b.high + (low < a.low), low};
}

// a >= b
static inline struct u256 u256_sub(struct u256 a, struct u256 b) {
    return (struct u256){a.high - b.high - (a.low < b.low), a.low - b.low};
}

// a / b with the remainder, b != 0: Knuth's algorithm D on 64-bit digits, after the easy cases.
struct u256 tide__u256_div(struct u256 a, uint128 b, uint128 *out_remainder);

#endif
