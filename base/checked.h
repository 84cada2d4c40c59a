// 64-bit arithmetic that says what it does on overflow: notices it, stops at the limit, or wraps as SQL does.
#ifndef TIDE_BASE_CHECKED_H
#define TIDE_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

// Each stores the wrapped result and returns true if it is the right one.
static inline bool tide__checked_add(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static inline bool tide__checked_sub(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_sub_overflow(a, b, out);
}

static inline bool tide__checked_mul(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

// Stop at INT64_MIN and INT64_MAX instead of overflowing.
static inline int64_t tide__saturating_add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t tide__saturating_sub(int64_t a, int64_t b) {
    int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b < 0 ? INT64_MAX : INT64_MIN;
}

// C adds signed numbers without a promise on overflow; SQL integers wrap like Java's.
static inline int64_t tide__wrapping_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t tide__wrapping_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t tide__wrapping_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

#endif
