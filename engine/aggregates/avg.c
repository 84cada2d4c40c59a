// AVG: a sum and a count. Integers sum in BIGINT (wrapping) and divide toward zero; FLOAT and DOUBLE sum in DOUBLE
// starting from 0.0; DECIMAL sums in DECIMAL(38, s) and stays NULL once that overflowed, the quotient is rounded half up to
// DECIMAL(38, max(6, s)).
#include "engine/aggregates/sums.h"

#include "base/decimal.h"

static void i64_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                       struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct sum_i64 *acc = ACC_AT(struct sum_i64, payloads, a, i);
        column->nulls[i] = acc->count == 0;
        // INT64_MIN / -1 can't occur: counts are positive.
        column->i64[i] = acc->count == 0 ? 0 : wrap_to(a->type, acc->sum / acc->count);
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
    .fields = {{" sum", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD}},
    .encode = sum_i64_encode,
    .decode = sum_i64_decode,
};

// --- FLOAT, DOUBLE ----------------------------------------------------------------------------------------------

static void f64_update(const struct aggregator *a, struct aggregate_rows *in) {
    const double *values = in->column->f64;
    FOR_EACH_VALUE(struct sum_f64, in, a, acc, row, (acc->sum += values[row], acc->count++));
}

static void f64_retract(const struct aggregator *a, struct aggregate_rows *in) {
    const double *values = in->column->f64;
    FOR_EACH_VALUE(struct sum_f64, in, a, acc, row, (acc->sum -= values[row], acc->count--));
}

static void f64_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct sum_f64 *acc = into;
    const struct sum_f64 *other = from;
    acc->sum += other->sum;
    acc->count += other->count;
}

static void f64_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                       struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct sum_f64 *acc = ACC_AT(struct sum_f64, payloads, a, i);
        column->nulls[i] = acc->count == 0;
        column->f64[i] = acc->count == 0 ? 0 : round_to(a->type, acc->sum / (double)acc->count);
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
    .fields = {{" sum", "DOUBLE", STATE_FORM_F64, STATE_COMBINE_REPLACE},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE}},
    .encode = sum_f64_encode,
    .decode = sum_f64_decode,
};

// --- DECIMAL ----------------------------------------------------------------------------------------------------

struct avg_decimal {
    int128_unaligned sum;
    int64_t count;
    int64_t overflowed;
};

static inline int128 decimal_at(const struct aggregator *a, const struct column *column, uint32_t row) {
    return a->physical == PHYSICAL_I64 ? column->i64[row] : column->i128[row];
}

static void decimal_add(struct avg_decimal *acc, int128 value) {
    if (acc->overflowed) return;
    acc->sum += value;
    acc->overflowed = !tide__decimal_fits(acc->sum, DECIMAL_PRECISION_MAX);
}

static void decimal_update(const struct aggregator *a, struct aggregate_rows *in) {
    if (a->kernel->combinable) {
        FOR_EACH_VALUE(struct avg_decimal, in, a, acc, row, (acc->sum += decimal_at(a, in->column, row), acc->count++));
    } else {
        FOR_EACH_VALUE(struct avg_decimal, in, a, acc, row,
                       (decimal_add(acc, decimal_at(a, in->column, row)), acc->count++));
    }
}

static void decimal_retract(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct avg_decimal, in, a, acc, row,
                   (decimal_add(acc, -decimal_at(a, in->column, row)), acc->count--));
}

static void decimal_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct avg_decimal *acc = into;
    const struct avg_decimal *other = from;
    acc->overflowed |= other->overflowed;
    decimal_add(acc, other->sum);
    acc->count += other->count;
}

static void decimal_unmerge(const struct aggregator *a, void *into, const void *from) {
    (void)a;
    struct avg_decimal *acc = into;
    const struct avg_decimal *other = from;
    acc->sum -= other->sum;
    acc->count -= other->count;
}

static void decimal_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                           struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct avg_decimal *acc = ACC_AT(struct avg_decimal, payloads, a, i);
        int128 quotient = 0;
        bool ok = acc->count != 0 && !acc->overflowed &&
                  tide__decimal_div(acc->sum, a->argument->scale, acc->count, 0, a->type->scale, &quotient);
        column->nulls[i] = !ok;
        column->i128[i] = ok ? quotient : 0;
    }
}

static void decimal_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    const struct avg_decimal *acc = accumulator;
    field_put_i128(out, acc->sum);
    field_put_i64(out, acc->count);
    if (!a->kernel->combinable) field_put_i64(out, acc->overflowed);
}

static bool decimal_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)charge;
    struct avg_decimal *acc = accumulator;
    return field_take(value, &acc->sum, 16) && field_get_i64(value, &acc->count) &&
           (a->kernel->combinable || field_get_i64(value, &acc->overflowed));
}

static const struct aggregate_kernel decimal_kernel = {
    .size = sizeof(struct avg_decimal),
    .combinable = true,
    .update = decimal_update,
    .retract = decimal_retract,
    .merge = decimal_merge,
    .unmerge = decimal_unmerge,
    .result = decimal_result,
    .field_count = 2,
    .fields = {{" sum", NULL, STATE_FORM_I128, STATE_COMBINE_ADD},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD}},
    .encode = decimal_encode,
    .decode = decimal_decode,
};

static const struct aggregate_kernel wide_kernel = {
    .size = sizeof(struct avg_decimal),
    .combinable = false,
    .update = decimal_update,
    .retract = decimal_retract,
    .merge = decimal_merge,
    .result = decimal_result,
    .field_count = 3,
    .fields = {{" sum", NULL, STATE_FORM_I128, STATE_COMBINE_REPLACE},
               {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE},
               {" overflowed", "BOOLEAN", STATE_FORM_I64, STATE_COMBINE_REPLACE}},
    .encode = decimal_encode,
    .decode = decimal_decode,
};

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retract) {
    (void)retract;
    if (a->argument->kind == TYPE_DECIMAL)
        return a->argument->precision <= DECIMAL_SAFE_DIGITS ? &decimal_kernel : &wide_kernel;
    return a->physical == PHYSICAL_F64 ? &f64_kernel : &i64_kernel;
}

const struct aggregate_class tide__avg_class = {bind};
