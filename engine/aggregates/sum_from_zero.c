// $SUM0, the SUM that Flink's planner puts beside STDDEV and VAR (sql/bind_reduce.c): it begins at 0, so that -0.0 becomes 0.0,
// and a DECIMAL sum that has overflowed stays NULL. Without values it is NULL here: Flink writes that as a CASE around it.
// Sums that are exact are SUM's own.
#include "engine/aggregates/sums.h"

#include "base/decimal.h"

// --- FLOAT, DOUBLE ----------------------------------------------------------------------------------------------

static void f64_update(const struct aggregator *a, struct aggregate_rows *in) {
    const double *values = in->column->f64;
    FOR_EACH_VALUE(struct sum_f64, in, a, acc, row,
                   (acc->sum = round_to(a->type, acc->sum + values[row]), acc->count++));
}

static void f64_retract(const struct aggregator *a, struct aggregate_rows *in) {
    const double *values = in->column->f64;
    FOR_EACH_VALUE(struct sum_f64, in, a, acc, row,
                   (acc->sum = round_to(a->type, acc->sum - values[row]), acc->count--));
}

static void f64_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)charge;
    struct sum_f64 *acc = into;
    const struct sum_f64 *other = from;
    acc->sum = round_to(a->type, acc->sum + other->sum);
    acc->count += other->count;
}

static void f64_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                       struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct sum_f64 *acc = ACC_AT(struct sum_f64, payloads, a, i);
        column->nulls[i] = acc->count == 0;
        column->f64[i] = acc->sum;
    }
}

static const struct aggregate_kernel f64_kernel = {
    .size = sizeof(struct sum_f64),
    .combinable = false,
    .update = f64_update,
    .retract = f64_retract,
    .merge = f64_merge,
    .result = f64_result,
    .field_count = 2,
    .fields = {{NULL, NULL, STATE_FORM_F64, STATE_COMBINE_REPLACE},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE}},
    .encode = sum_f64_encode,
    .decode = sum_f64_decode,
};

// --- DECIMAL that may overflow ----------------------------------------------------------------------------------

// flag: it has overflowed.
static void wide_add(struct sum_wide *acc, int128 value) {
    if (acc->flag) return;
    acc->sum += value;  // |sum|, |value| < 10^38 < 2^127 / 1.7
    acc->flag = !tide__decimal_fits(acc->sum, DECIMAL_PRECISION_MAX);
    if (acc->flag) acc->sum = 0;
}

static void wide_update(const struct aggregator *a, struct aggregate_rows *in) {
    const int128 *values = in->column->i128;
    FOR_EACH_VALUE(struct sum_wide, in, a, acc, row, (wide_add(acc, values[row]), acc->count++));
}

static void wide_retract(const struct aggregator *a, struct aggregate_rows *in) {
    const int128 *values = in->column->i128;
    FOR_EACH_VALUE(struct sum_wide, in, a, acc, row, (wide_add(acc, -values[row]), acc->count--));
}

static void wide_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_wide *acc = into;
    const struct sum_wide *other = from;
    acc->flag |= other->flag;
    wide_add(acc, other->sum);
    if (acc->flag) acc->sum = 0;
    acc->count += other->count;
}

static void wide_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                        struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct sum_wide *acc = ACC_AT(struct sum_wide, payloads, a, i);
        column->nulls[i] = acc->count == 0 || acc->flag;
        column->i128[i] = acc->sum;
    }
}

static const struct aggregate_kernel wide_kernel = {
    .size = sizeof(struct sum_wide),
    .combinable = false,
    .update = wide_update,
    .retract = wide_retract,
    .merge = wide_merge,
    .result = wide_result,
    .field_count = 3,
    .fields = {{NULL, NULL, STATE_FORM_I128, STATE_COMBINE_REPLACE},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE},
               {" overflowed", "BOOLEAN", STATE_FORM_I64, STATE_COMBINE_REPLACE}},
    .encode = sum_wide_encode,
    .decode = sum_wide_decode,
};

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retract) {
    const struct aggregate_kernel *plain = tide__sum_class.bind(a, retract);
    if (plain->combinable) return plain;
    return a->physical == PHYSICAL_F64 ? &f64_kernel : &wide_kernel;
}

const struct aggregate_class tide__sum_from_zero_class = {bind};
