// What SUM, $SUM0 and AVG share: accumulators of a sum and a count, in 64-bit integers, DOUBLE and wide DECIMAL, and how they
// lie in state.
#ifndef TIDE_ENGINE_AGGREGATES_SUMS_H
#define TIDE_ENGINE_AGGREGATES_SUMS_H

#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"

#include "base/checked.h"

// Of so many digits no sum of 2^63 values passes 38.
#define DECIMAL_SAFE_DIGITS 19

// --- integers: they wrap ----------------------------------------------------------------------------------------

struct sum_i64 {
    int64_t sum;
    int64_t count;  // of values; 0: the sum is NULL
};

static inline void sum_i64_update(const struct aggregator *a, struct aggregate_rows *in) {
    const int64_t *values = in->column->i64;
    FOR_EACH_VALUE(struct sum_i64, in, a, acc, row,
                   (acc->sum = tide__wrapping_add(acc->sum, values[row]), acc->count++));
}

static inline void sum_i64_retract(const struct aggregator *a, struct aggregate_rows *in) {
    const int64_t *values = in->column->i64;
    FOR_EACH_VALUE(struct sum_i64, in, a, acc, row,
                   (acc->sum = tide__wrapping_sub(acc->sum, values[row]), acc->count--));
}

static inline void sum_i64_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_i64 *acc = into;
    const struct sum_i64 *other = from;
    acc->sum = tide__wrapping_add(acc->sum, other->sum);
    acc->count += other->count;
}

static inline void sum_i64_unmerge(const struct aggregator *a, void *into, const void *from) {
    (void)a;
    struct sum_i64 *acc = into;
    const struct sum_i64 *other = from;
    acc->sum = tide__wrapping_sub(acc->sum, other->sum);
    acc->count -= other->count;
}

static inline void sum_i64_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct sum_i64 *acc = accumulator;
    field_put_i64(out, acc->sum);
    field_put_i64(out, acc->count);
}

static inline bool sum_i64_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_i64 *acc = accumulator;
    return field_get_i64(value, &acc->sum) && field_get_i64(value, &acc->count);
}

// --- FLOAT, DOUBLE ----------------------------------------------------------------------------------------------

struct sum_f64 {
    double sum;
    int64_t count;
};

static inline void sum_f64_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct sum_f64 *acc = accumulator;
    field_put_f64(out, acc->sum);
    field_put_i64(out, acc->count);
}

static inline bool sum_f64_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_f64 *acc = accumulator;
    return field_get_f64(value, &acc->sum) && field_get_i64(value, &acc->count);
}

// --- DECIMAL that may overflow ----------------------------------------------------------------------------------

struct sum_wide {
    int128_unaligned sum;
    int64_t count;  // of values
    int64_t flag;   // SUM: the sum is one; $SUM0: it has overflowed
};

static inline void sum_wide_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct sum_wide *acc = accumulator;
    field_put_i128(out, acc->sum);
    field_put_i64(out, acc->count);
    field_put_i64(out, acc->flag);
}

static inline bool sum_wide_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_wide *acc = accumulator;
    return field_take(value, &acc->sum, 16) && field_get_i64(value, &acc->count) && field_get_i64(value, &acc->flag);
}

#endif
