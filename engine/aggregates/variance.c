// STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP by sums, as Flink rewrites them:
//
//   (SUM(x * x) - SUM(x) * SUM(x) / n) / n   or   / (n - 1), NULL for n = 1;   STDDEV is the power 0.5 of that
//
// in the arithmetic of the input: integers wrap to their type and divide toward zero, FLOAT rounds each step. DECIMAL is
// computed in DOUBLE and cast to its result type.
#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"

#include "base/checked.h"
#include "base/decimal.h"

#include <math.h>

enum { IS_SAMPLE = 1, IS_ROOT = 2 };

struct moments_i64 {
    int64_t sum, squares, count;
};

struct moments_f64 {
    double sum, squares;
    int64_t count;
};

static void i64_update(const struct aggregator *a, struct aggregate_rows *in) {
    const int64_t *values = in->column->i64;
    FOR_EACH_VALUE(struct moments_i64, in, a, acc, row, {
        acc->sum = tide__wrapping_add(acc->sum, values[row]);
        acc->squares = tide__wrapping_add(acc->squares, tide__wrapping_mul(values[row], values[row]));
        acc->count++;
    });
}

static void i64_retract(const struct aggregator *a, struct aggregate_rows *in) {
    const int64_t *values = in->column->i64;
    FOR_EACH_VALUE(struct moments_i64, in, a, acc, row, {
        acc->sum = tide__wrapping_sub(acc->sum, values[row]);
        acc->squares = tide__wrapping_sub(acc->squares, tide__wrapping_mul(values[row], values[row]));
        acc->count--;
    });
}

static void i64_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct moments_i64 *acc = into;
    const struct moments_i64 *other = from;
    acc->sum = tide__wrapping_add(acc->sum, other->sum);
    acc->squares = tide__wrapping_add(acc->squares, other->squares);
    acc->count += other->count;
}

static void i64_unmerge(const struct aggregator *a, void *into, const void *from) {
    (void)a;
    struct moments_i64 *acc = into;
    const struct moments_i64 *other = from;
    acc->sum = tide__wrapping_sub(acc->sum, other->sum);
    acc->squares = tide__wrapping_sub(acc->squares, other->squares);
    acc->count -= other->count;
}

// The sums cut to the input's type; the quotient by COUNT is BIGINT.
static void i64_results(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                        int form) {
    for (size_t i = 0; i < n; i++) {
        const struct moments_i64 *acc = ACC_AT(struct moments_i64, payloads, a, i);
        int64_t divisor = form & IS_SAMPLE ? acc->count - 1 : acc->count;
        column->nulls[i] = acc->count == 0 || divisor == 0;
        if (column->nulls[i]) {
            column->i64[i] = 0;
            continue;
        }
        int64_t sum = wrap_to(a->argument, acc->sum), squares = wrap_to(a->argument, acc->squares);
        int64_t square_of_sum = wrap_to(a->argument, tide__wrapping_mul(sum, sum));
        int64_t variance = tide__wrapping_sub(squares, square_of_sum / acc->count) / divisor;
        if (!(form & IS_ROOT)) {
            column->i64[i] = wrap_to(a->type, variance);
        } else {
            double root = pow((double)variance, 0.5);
            column->i64[i] = isnan(root) ? 0 : (int64_t)root;  // Java casts NaN to 0
        }
    }
}

static void i64_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    tide__strbuf_append(out, accumulator, sizeof(struct moments_i64));
}

static bool i64_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    return field_take(value, accumulator, sizeof(struct moments_i64));
}

static double value_at(const struct aggregator *a, const struct column *column, uint32_t row) {
    if (a->physical == PHYSICAL_F64) return column->f64[row];
    return tide__decimal_to_double(a->physical == PHYSICAL_I64 ? column->i64[row] : column->i128[row], a->argument->scale);
}

static void f64_update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct moments_f64, in, a, acc, row, {
        double value = value_at(a, in->column, row);
        acc->sum = round_to(a->argument, acc->sum + value);
        acc->squares = round_to(a->argument, acc->squares + round_to(a->argument, value * value));
        acc->count++;
    });
}

static void f64_retract(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct moments_f64, in, a, acc, row, {
        double value = value_at(a, in->column, row);
        acc->sum = round_to(a->argument, acc->sum - value);
        acc->squares = round_to(a->argument, acc->squares - round_to(a->argument, value * value));
        acc->count--;
    });
}

static void f64_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)charge;
    struct moments_f64 *acc = into;
    const struct moments_f64 *other = from;
    if (other->count == 0) return;
    acc->sum = acc->count == 0 ? other->sum : round_to(a->argument, acc->sum + other->sum);
    acc->squares = acc->count == 0 ? other->squares : round_to(a->argument, acc->squares + other->squares);
    acc->count += other->count;
}

// As CAST(double AS DECIMAL): through the shortest decimal text.
static bool to_decimal(const struct type *type, double value, int128 *out) {
    struct strbuf text = {0};
    tide__double_print(value, &text);
    bool ok = tide__decimal_parse(tide__strbuf_str(&text), type->precision, type->scale, out);
    tide__strbuf_deinit(&text);
    return ok;
}

static void f64_results(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                        int form) {
    const struct type *step = a->argument;
    for (size_t i = 0; i < n; i++) {
        const struct moments_f64 *acc = ACC_AT(struct moments_f64, payloads, a, i);
        int64_t divisor = form & IS_SAMPLE ? acc->count - 1 : acc->count;
        column->nulls[i] = acc->count == 0 || divisor == 0;
        double value = 0;
        if (!column->nulls[i]) {
            double square_of_sum = round_to(step, acc->sum * acc->sum);
            double difference = round_to(step, acc->squares - round_to(step, square_of_sum / (double)acc->count));
            value = round_to(step, difference / (double)divisor);
            if (form & IS_ROOT) value = round_to(step, pow(value, 0.5));
        }
        if (column->physical == PHYSICAL_F64) {
            column->f64[i] = value;
        } else {
            int128 decimal = 0;
            if (!column->nulls[i] && !to_decimal(a->type, value, &decimal)) column->nulls[i] = 1;
            column->i128[i] = decimal;
        }
    }
}

static void f64_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    tide__strbuf_append(out, accumulator, sizeof(struct moments_f64));
}

static bool f64_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    return field_take(value, accumulator, sizeof(struct moments_f64));
}

#define DEFINE(name, form)                                                                                             \
    static void name##_i64_result(const struct aggregator *a, unsigned char *const *payloads, size_t n,                \
                                  struct column *column, struct arena *arena) {                                        \
        (void)arena;                                                                                                   \
        i64_results(a, payloads, n, column, form);                                                                     \
    }                                                                                                                  \
    static void name##_f64_result(const struct aggregator *a, unsigned char *const *payloads, size_t n,                \
                                  struct column *column, struct arena *arena) {                                        \
        (void)arena;                                                                                                   \
        f64_results(a, payloads, n, column, form);                                                                     \
    }                                                                                                                  \
    static const struct aggregate_kernel name##_i64_kernel = {                                                         \
        .size = sizeof(struct moments_i64), .combinable = true, .update = i64_update, .retract = i64_retract,          \
        .merge = i64_merge, .unmerge = i64_unmerge, .result = name##_i64_result, .field_count = 3,                     \
        .fields = {{" sum", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},                                              \
                   {" squares", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},                                          \
                   {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD}},                                           \
        .encode = i64_encode, .decode = i64_decode};                                                                   \
    static const struct aggregate_kernel name##_f64_kernel = {                                                         \
        .size = sizeof(struct moments_f64), .combinable = false, .update = f64_update, .retract = f64_retract,         \
        .merge = f64_merge, .result = name##_f64_result, .field_count = 3,                                             \
        .fields = {{" sum", "DOUBLE", STATE_FORM_F64, STATE_COMBINE_REPLACE},                                          \
                   {" squares", "DOUBLE", STATE_FORM_F64, STATE_COMBINE_REPLACE},                                      \
                   {" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE}},                                       \
        .encode = f64_encode, .decode = f64_decode};                                                                   \
    static const struct aggregate_kernel *name##_bind(const struct aggregator *a, bool retract) {                      \
        (void)retract;                                                                                                 \
        return tide__type_is_integer(a->argument) ? &name##_i64_kernel : &name##_f64_kernel;                           \
    }

DEFINE(var_pop, 0)
DEFINE(var_samp, IS_SAMPLE)
DEFINE(stddev_pop, IS_ROOT)
DEFINE(stddev_samp, IS_ROOT | IS_SAMPLE)

const struct aggregate_class tide__var_pop_class = {var_pop_bind};
const struct aggregate_class tide__var_samp_class = {var_samp_bind};
const struct aggregate_class tide__stddev_pop_class = {stddev_pop_bind};
const struct aggregate_class tide__stddev_samp_class = {stddev_samp_bind};
