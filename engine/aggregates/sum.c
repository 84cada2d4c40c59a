// SUM. Integers wrap in 64 bits (narrower results are cut at the end: the same bits). FLOAT and DOUBLE add in arrival
// order. DECIMAL adds in 128 bits; up to 19 digits no sum of 2^63 rows can pass 38 digits, so the check is left out there and
// the sum is combinable. A wider sum that overflows is NULL and, as in Flink, starts again with the next value.
#include "engine/aggregates/sums.h"

#include "base/decimal.h"

// --- integers ---------------------------------------------------------------------------------------------------

static void i64_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                       struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct sum_i64 *acc = ACC_AT(struct sum_i64, payloads, a, i);
        column->nulls[i] = acc->count == 0;
        column->i64[i] = wrap_to(a->type, acc->sum);
    }
}

static const struct aggregate_kernel i64_kernel = {
    .size = sizeof(struct sum_i64),
    .combinable = true,
    .update = sum_i64_update,
    .retract = sum_i64_retract,
    .merge = sum_i64_merge,
    .unmerge = sum_i64_unmerge,
    .result = i64_result,
    .field_count = 2,
    .fields = {{NULL, NULL, STATE_FORM_I64, STATE_COMBINE_ADD},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD}},
    .encode = sum_i64_encode,
    .decode = sum_i64_decode,
};

// --- FLOAT, DOUBLE ----------------------------------------------------------------------------------------------

// The first value is taken as it is: -0.0 stays -0.0.
static void f64_update(const struct aggregator *a, struct aggregate_rows *in) {
    const double *values = in->column->f64;
    if (a->type->kind == TYPE_FLOAT) {
        FOR_EACH_VALUE(struct sum_f64, in, a, acc, row,
                       acc->sum = acc->count++ == 0 ? values[row] : (double)((float)acc->sum + (float)values[row]));
    } else {
        FOR_EACH_VALUE(struct sum_f64, in, a, acc, row,
                       acc->sum = acc->count++ == 0 ? values[row] : acc->sum + values[row]);
    }
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
    if (other->count == 0) return;
    acc->sum = acc->count == 0 ? other->sum : round_to(a->type, acc->sum + other->sum);
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

// --- DECIMAL ----------------------------------------------------------------------------------------------------

struct sum_decimal {
    int128_unaligned sum;
    int64_t count;
};

static void decimal_update(const struct aggregator *a, struct aggregate_rows *in) {
    if (a->physical == PHYSICAL_I64) {
        const int64_t *values = in->column->i64;
        FOR_EACH_VALUE(struct sum_decimal, in, a, acc, row, (acc->sum += values[row], acc->count++));
    } else {
        const int128 *values = in->column->i128;
        FOR_EACH_VALUE(struct sum_decimal, in, a, acc, row, (acc->sum += values[row], acc->count++));
    }
}

static void decimal_retract(const struct aggregator *a, struct aggregate_rows *in) {
    if (a->physical == PHYSICAL_I64) {
        const int64_t *values = in->column->i64;
        FOR_EACH_VALUE(struct sum_decimal, in, a, acc, row, (acc->sum -= values[row], acc->count--));
    } else {
        const int128 *values = in->column->i128;
        FOR_EACH_VALUE(struct sum_decimal, in, a, acc, row, (acc->sum -= values[row], acc->count--));
    }
}

static void decimal_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_decimal *acc = into;
    const struct sum_decimal *other = from;
    acc->sum += other->sum;
    acc->count += other->count;
}

static void decimal_unmerge(const struct aggregator *a, void *into, const void *from) {
    (void)a;
    struct sum_decimal *acc = into;
    const struct sum_decimal *other = from;
    acc->sum -= other->sum;
    acc->count -= other->count;
}

static void decimal_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                           struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct sum_decimal *acc = ACC_AT(struct sum_decimal, payloads, a, i);
        column->nulls[i] = acc->count == 0;
        column->i128[i] = acc->sum;
    }
}

static void decimal_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct sum_decimal *acc = accumulator;
    field_put_i128(out, acc->sum);
    field_put_i64(out, acc->count);
}

static bool decimal_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_decimal *acc = accumulator;
    return field_take(value, &acc->sum, 16) && field_get_i64(value, &acc->count);
}

static const struct aggregate_kernel decimal_kernel = {
    .size = sizeof(struct sum_decimal),
    .combinable = true,
    .update = decimal_update,
    .retract = decimal_retract,
    .merge = decimal_merge,
    .unmerge = decimal_unmerge,
    .result = decimal_result,
    .field_count = 2,
    .fields = {{NULL, NULL, STATE_FORM_I128, STATE_COMBINE_ADD},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD}},
    .encode = decimal_encode,
    .decode = decimal_decode,
};

// --- DECIMAL that may overflow ----------------------------------------------------------------------------------

// flag 0: NULL, by overflow or for want of values.
static void wide_add(struct sum_wide *acc, int128 value) {
    if (!acc->flag) {
        acc->sum = value;
        acc->flag = 1;
    } else {
        acc->sum += value;  // |sum|, |value| < 10^38 < 2^127 / 1.7
        acc->flag = tide__decimal_fits(acc->sum, DECIMAL_PRECISION_MAX);
        if (!acc->flag) acc->sum = 0;
    }
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
    if (other->flag) wide_add(acc, other->sum);
    acc->count += other->count;
}

static void wide_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                        struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct sum_wide *acc = ACC_AT(struct sum_wide, payloads, a, i);
        column->nulls[i] = acc->count == 0 || !acc->flag;
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
               {" valid", "BOOLEAN", STATE_FORM_I64, STATE_COMBINE_REPLACE}},
    .encode = sum_wide_encode,
    .decode = sum_wide_decode,
};

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retract) {
    (void)retract;
    if (a->argument->kind == TYPE_DECIMAL)
        return a->argument->precision <= DECIMAL_SAFE_DIGITS ? &decimal_kernel : &wide_kernel;
    return a->physical == PHYSICAL_F64 ? &f64_kernel : &i64_kernel;
}

const struct aggregate_class tide__sum_class = {bind};
