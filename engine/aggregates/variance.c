// STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP: Welford's sum of squared distances from the mean (M2), in DOUBLE whatever the
// input, merged by Chan's formula; then M2 / n or M2 / (n - 1), its power 0.5 for STDDEV, and a cast to the type of the
// input. The order of the operations is Flink's, so that the last bit is the same. One row gives NULL for the sample forms.
#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"

#include "base/decimal.h"

#include <math.h>

enum { IS_SAMPLE = 1, IS_ROOT = 2 };

struct moments {
    int64_t count;
    double mean, m2;
};

static double value_at(const struct aggregator *a, const struct column *column, uint32_t row) {
    if (a->physical == PHYSICAL_F64) return column->f64[row];
    if (a->argument->kind != TYPE_DECIMAL) return (double)column->i64[row];
    return tide__decimal_to_double(a->physical == PHYSICAL_I64 ? column->i64[row] : column->i128[row],
                                   a->argument->scale);
}

static void update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct moments, in, a, acc, row, {
        if (++acc->count <= 0) continue;  // more was taken back than given
        double value = value_at(a, in->column, row);
        double before = value - acc->mean;
        acc->mean += before / (double)acc->count;
        acc->m2 += before * (value - acc->mean);
    });
}

static void retract(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct moments, in, a, acc, row, {
        if (--acc->count <= 0) {
            acc->mean = acc->m2 = 0;
            continue;
        }
        double value = value_at(a, in->column, row);
        double before = value - acc->mean;
        acc->mean -= before / (double)acc->count;
        acc->m2 -= (value - acc->mean) * before;
    });
}

static void merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    struct moments *acc = into;
    const struct moments *other = from;
    if (other->count <= 0) {
        acc->count += other->count;
        return;
    }
    if (acc->count == 0) {
        *acc = *other;
        return;
    }
    int64_t count = acc->count + other->count;
    double distance = other->mean - acc->mean;
    double mean = acc->mean + (double)other->count / (double)count * distance;
    double weight = (double)acc->count * (double)other->count / (double)count;
    acc->m2 = acc->m2 + other->m2 + weight * distance * distance;
    acc->mean = mean;
    acc->count = count;
}

// --- results ----------------------------------------------------------------------------------------------------

// As CAST(double AS DECIMAL): by its text.
static bool to_decimal(const struct type *type, double value, int128 *out) {
    struct strbuf text = {0};
    tide__double_print(value, &text);
    bool ok = tide__decimal_parse(tide__strbuf_str(&text), type->precision, type->scale, out);
    tide__strbuf_deinit(&text);
    return ok;
}

// As Java: toward zero, stopping at the ends of INT or BIGINT; NaN is 0.
static int64_t to_integer(const struct type *type, double value) {
    if (isnan(value)) return 0;
    if (type->kind == TYPE_BIGINT) {
        if (value >= 0x1p63) return INT64_MAX;
        return value < -0x1p63 ? INT64_MIN : (int64_t)value;
    }
    if (value >= 0x1p31) value = INT32_MAX;
    if (value < -0x1p31) value = INT32_MIN;
    return wrap_to(type, (int64_t)value);
}

static void set_result(const struct aggregator *a, struct column *column, size_t row, double value) {
    column->nulls[row] = 0;
    if (column->physical == PHYSICAL_F64) {
        column->f64[row] = round_to(a->type, value);
    } else if (column->physical == PHYSICAL_I64) {
        column->i64[row] = to_integer(a->type, value);
    } else {
        int128 decimal = 0;
        column->nulls[row] = !to_decimal(a->type, value, &decimal);
        column->i128[row] = decimal;
    }
}

static void results(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                    int form) {
    for (size_t i = 0; i < n; i++) {
        const struct moments *acc = ACC_AT(struct moments, payloads, a, i);
        int64_t divisor = form & IS_SAMPLE ? acc->count - 1 : acc->count;
        if (acc->count <= 0 || divisor == 0 || acc->m2 < 0) {
            set_null(column, i);
            continue;
        }
        double variance = acc->m2 / (double)divisor;
        set_result(a, column, i, form & IS_ROOT ? pow(variance, 0.5) : variance);
    }
}

static void encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    tide__strbuf_append(out, accumulator, sizeof(struct moments));
}

static bool decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    return field_take(value, accumulator, sizeof(struct moments));
}

#define DEFINE(name, form)                                                                                             \
    static void name##_result(const struct aggregator *a, unsigned char *const *payloads, size_t n,                    \
                              struct column *column, struct arena *arena) {                                            \
        (void)arena;                                                                                                   \
        results(a, payloads, n, column, form);                                                                         \
    }                                                                                                                  \
    static const struct aggregate_kernel name##_kernel = {                                                             \
        .size = sizeof(struct moments),                                                                                \
        .combinable = false,                                                                                           \
        .update = update,                                                                                              \
        .retract = retract,                                                                                            \
        .merge = merge,                                                                                                \
        .result = name##_result,                                                                                       \
        .field_count = 3,                                                                                              \
        .fields = {{" count", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE},                                        \
                   {" mean", "DOUBLE", STATE_FORM_F64, STATE_COMBINE_REPLACE},                                         \
                   {" m2", "DOUBLE", STATE_FORM_F64, STATE_COMBINE_REPLACE}},                                          \
        .encode = encode,                                                                                              \
        .decode = decode};                                                                                             \
    static const struct aggregate_kernel *name##_bind(const struct aggregator *a, bool retracts) {                     \
        (void)a, (void)retracts;                                                                                       \
        return &name##_kernel;                                                                                         \
    }                                                                                                                  \
    const struct aggregate_class tide__##name##_class = {name##_bind};

DEFINE(var_pop, 0)
DEFINE(var_samp, IS_SAMPLE)
DEFINE(stddev_pop, IS_ROOT)
DEFINE(stddev_samp, IS_ROOT | IS_SAMPLE)
