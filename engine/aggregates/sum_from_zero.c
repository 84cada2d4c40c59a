// $SUM0, the SUM that Flink's planner puts beside STDDEV and VAR (sql/bind_reduce.c): it begins at 0, so that -0.0 becomes 0.0,
// and a DECIMAL sum that has overflowed stays NULL. Without values it is NULL here: Flink writes that as a CASE around it.
// Sums that are exact are SUM's own.
#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"

#include "base/decimal.h"

// --- FLOAT, DOUBLE ----------------------------------------------------------------------------------------------

struct zero_f64 {
    double sum;
    int64_t count;  // of values; 0: the sum is NULL
};

static void f64_update(const struct aggregator *a, struct aggregate_rows *in) {
    const double *values = in->column->f64;
    FOR_EACH_VALUE(struct zero_f64, in, a, acc, row,
                   (acc->sum = round_to(a->type, acc->sum + values[row]), acc->count++));
}

static void f64_retract(const struct aggregator *a, struct aggregate_rows *in) {
    const double *values = in->column->f64;
    FOR_EACH_VALUE(struct zero_f64, in, a, acc, row,
                   (acc->sum = round_to(a->type, acc->sum - values[row]), acc->count--));
}

static void f64_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)charge;
    struct zero_f64 *acc = into;
    const struct zero_f64 *other = from;
    acc->sum = round_to(a->type, acc->sum + other->sum);
    acc->count += other->count;
}

static void f64_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                       struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct zero_f64 *acc = ACC_AT(struct zero_f64, payloads, a, i);
        column->nulls[i] = acc->count == 0;
        column->f64[i] = acc->sum;
    }
}

static void f64_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct zero_f64 *acc = accumulator;
    field_put_f64(out, acc->sum);
    field_put_i64(out, acc->count);
}

static bool f64_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    struct zero_f64 *acc = accumulator;
    return field_get_f64(value, &acc->sum) && field_get_i64(value, &acc->count);
}

static const struct aggregate_kernel f64_kernel = {
    .size = sizeof(struct zero_f64),
    .combinable = false,
    .update = f64_update,
    .retract = f64_retract,
    .merge = f64_merge,
    .result = f64_result,
    .field_count = 2,
    .fields = {{NULL, NULL, STATE_FORM_F64, STATE_COMBINE_REPLACE},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE}},
    .encode = f64_encode,
    .decode = f64_decode,
};

// --- DECIMAL that may overflow ----------------------------------------------------------------------------------

struct zero_wide {
    int128_unaligned sum;
    int64_t count;
    int64_t overflowed;
};

static void wide_add(struct zero_wide *acc, int128 value) {
    if (acc->overflowed) return;
    acc->sum += value;  // |sum|, |value| < 10^38 < 2^127 / 1.7
    acc->overflowed = !tide__decimal_fits(acc->sum, DECIMAL_PRECISION_MAX);
    if (acc->overflowed) acc->sum = 0;
}

static void wide_update(const struct aggregator *a, struct aggregate_rows *in) {
    const int128 *values = in->column->i128;
    FOR_EACH_VALUE(struct zero_wide, in, a, acc, row, (wide_add(acc, values[row]), acc->count++));
}

static void wide_retract(const struct aggregator *a, struct aggregate_rows *in) {
    const int128 *values = in->column->i128;
    FOR_EACH_VALUE(struct zero_wide, in, a, acc, row, (wide_add(acc, -values[row]), acc->count--));
}

static void wide_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct zero_wide *acc = into;
    const struct zero_wide *other = from;
    acc->overflowed |= other->overflowed;
    wide_add(acc, other->sum);
    if (acc->overflowed) acc->sum = 0;
    acc->count += other->count;
}

static void wide_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                        struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct zero_wide *acc = ACC_AT(struct zero_wide, payloads, a, i);
        column->nulls[i] = acc->count == 0 || acc->overflowed;
        column->i128[i] = acc->sum;
    }
}

static void wide_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct zero_wide *acc = accumulator;
    field_put_i128(out, acc->sum);
    field_put_i64(out, acc->count);
    field_put_i64(out, acc->overflowed);
}

static bool wide_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    struct zero_wide *acc = accumulator;
    return field_take(value, &acc->sum, 16) && field_get_i64(value, &acc->count) &&
           field_get_i64(value, &acc->overflowed);
}

static const struct aggregate_kernel wide_kernel = {
    .size = sizeof(struct zero_wide),
    .combinable = false,
    .update = wide_update,
    .retract = wide_retract,
    .merge = wide_merge,
    .result = wide_result,
    .field_count = 3,
    .fields = {{NULL, NULL, STATE_FORM_I128, STATE_COMBINE_REPLACE},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE},
               {" overflowed", "BOOLEAN", STATE_FORM_I64, STATE_COMBINE_REPLACE}},
    .encode = wide_encode,
    .decode = wide_decode,
};

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retract) {
    const struct aggregate_kernel *plain = tide__sum_class.bind(a, retract);
    if (plain->combinable) return plain;
    return a->physical == PHYSICAL_F64 ? &f64_kernel : &wide_kernel;
}

const struct aggregate_class tide__sum_from_zero_class = {bind};
