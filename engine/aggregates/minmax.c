// MIN and MAX. Strings compare by bytes. A comparison with NaN is false, so a NaN stays only when it came first; that makes
// MIN and MAX of FLOAT and DOUBLE sequential. All other types are exact and combinable.
#include "engine/aggregates/fields.h"
#include "engine/aggregates/held.h"

struct extreme {  // the first two members of struct held
    union {
        int64_t i64;
        double f64;
    };
    int64_t is_set;
};

// --- 64-bit integers and doubles: loops of their own ------------------------------------------------------------

#define UPDATE(name, member, op)                                                                                       \
    static void name(const struct aggregator *a, struct aggregate_rows *in) {                                          \
        FOR_EACH_VALUE(struct extreme, in, a, acc, row, {                                                              \
            if (!acc->is_set || in->column->member[row] op acc->member) acc->member = in->column->member[row];         \
            acc->is_set = 1;                                                                                           \
        });                                                                                                            \
    }

#define MERGE(name, member, op)                                                                                        \
    static void name(const struct aggregator *a, void *into, const void *from, int64_t *charge) {                      \
        (void)a, (void)charge;                                                                                         \
        struct extreme *acc = into;                                                                                    \
        const struct extreme *other = from;                                                                            \
        if (other->is_set && (!acc->is_set || other->member op acc->member)) *acc = *other;                            \
    }

UPDATE(min_i64_update, i64, <)
UPDATE(max_i64_update, i64, >)
UPDATE(min_f64_update, f64, <)
UPDATE(max_f64_update, f64, >)
MERGE(min_i64_merge, i64, <)
MERGE(max_i64_merge, i64, >)
MERGE(min_f64_merge, f64, <)
MERGE(max_f64_merge, f64, >)

// I64 and F64 share their bits.
static void extreme_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                           struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) {
        const struct extreme *acc = ACC_AT(struct extreme, payloads, a, i);
        column->nulls[i] = !acc->is_set;
        column->i64[i] = acc->i64;
    }
}

static void extreme_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    const struct extreme *acc = accumulator;
    struct held held = {.i64 = acc->i64, .is_set = acc->is_set};
    tide__held_encode(&held, a->argument, HELD_ORDERED, out);
}

static bool extreme_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    struct extreme *acc = accumulator;
    struct held held = {0};
    if (!tide__held_decode(&held, a->argument, HELD_ORDERED, value, charge)) return false;
    acc->i64 = held.i64;
    acc->is_set = held.is_set;
    return true;
}

static void f64_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct extreme *acc = accumulator;
    field_put_f64(out, acc->f64);
    field_put_i64(out, acc->is_set);
}

static bool f64_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a, (void)charge;
    struct extreme *acc = accumulator;
    return field_get_f64(value, &acc->f64) && field_get_i64(value, &acc->is_set);
}

#define I64_KERNEL(side, combiner_)                                                                                    \
    {                                                                                                                  \
        .size = sizeof(struct extreme), .combinable = true, .update = side##_i64_update, .merge = side##_i64_merge,    \
        .result = extreme_result, .field_count = 1, .fields = {{NULL, NULL, STATE_FORM_BYTES, combiner_}},             \
        .encode = extreme_encode, .decode = extreme_decode                                                             \
    }
#define F64_KERNEL(side)                                                                                               \
    {                                                                                                                  \
        .size = sizeof(struct extreme), .combinable = false, .update = side##_f64_update, .merge = side##_f64_merge,   \
        .result = extreme_result, .field_count = 2,                                                                    \
        .fields = {{NULL, NULL, STATE_FORM_F64, STATE_COMBINE_REPLACE},                                                \
                   {" set", "BOOLEAN", STATE_FORM_I64, STATE_COMBINE_REPLACE}},                                        \
        .encode = f64_encode, .decode = f64_decode                                                                     \
    }

static const struct aggregate_kernel min_i64_kernel = I64_KERNEL(min, STATE_COMBINE_MIN);
static const struct aggregate_kernel max_i64_kernel = I64_KERNEL(max, STATE_COMBINE_MAX);
static const struct aggregate_kernel min_f64_kernel = F64_KERNEL(min);
static const struct aggregate_kernel max_f64_kernel = F64_KERNEL(max);

// --- everything else --------------------------------------------------------------------------------------------

static void min_held_update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct held, in, a, acc, row, {
        if (!acc->is_set || tide__held_cmp_value(acc, in->column, row) > 0)
            tide__held_set(acc, in->column, row, &in->charge);
    });
}

static void max_held_update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct held, in, a, acc, row, {
        if (!acc->is_set || tide__held_cmp_value(acc, in->column, row) < 0)
            tide__held_set(acc, in->column, row, &in->charge);
    });
}

static void min_held_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    struct held *acc = into;
    const struct held *other = from;
    if (other->is_set && (!acc->is_set || tide__held_cmp(acc, other, a->physical) > 0))
        tide__held_copy(acc, a->physical, other, charge);
}

static void max_held_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    struct held *acc = into;
    const struct held *other = from;
    if (other->is_set && (!acc->is_set || tide__held_cmp(acc, other, a->physical) < 0))
        tide__held_copy(acc, a->physical, other, charge);
}

static void held_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                        struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) tide__held_get(ACC_AT(struct held, payloads, a, i), column, i);
}

static void held_encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    tide__held_encode(accumulator, a->argument, HELD_ORDERED, out);
}

static bool held_decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    return tide__held_decode(accumulator, a->argument, HELD_ORDERED, value, charge);
}

static void held_release(const struct aggregator *a, void *accumulator) {
    tide__held_release(accumulator, a->physical);
}

#define HELD_KERNEL(side, combiner_, release_)                                                                         \
    {                                                                                                                  \
        .size = sizeof(struct held), .combinable = true, .update = side##_held_update, .merge = side##_held_merge,     \
        .result = held_result, .field_count = 1, .fields = {{NULL, NULL, STATE_FORM_BYTES, combiner_}},                \
        .encode = held_encode, .decode = held_decode, .release = release_                                              \
    }

static const struct aggregate_kernel min_value_kernel = HELD_KERNEL(min, STATE_COMBINE_MIN, NULL);
static const struct aggregate_kernel max_value_kernel = HELD_KERNEL(max, STATE_COMBINE_MAX, NULL);
static const struct aggregate_kernel min_string_kernel = HELD_KERNEL(min, STATE_COMBINE_MIN, held_release);
static const struct aggregate_kernel max_string_kernel = HELD_KERNEL(max, STATE_COMBINE_MAX, held_release);

static const struct aggregate_kernel *min_bind(const struct aggregator *a, bool retract) {
    (void)retract;
    if (a->physical == PHYSICAL_I64) return &min_i64_kernel;
    if (a->physical == PHYSICAL_F64) return &min_f64_kernel;
    return a->physical == PHYSICAL_STR ? &min_string_kernel : &min_value_kernel;
}

static const struct aggregate_kernel *max_bind(const struct aggregator *a, bool retract) {
    (void)retract;
    if (a->physical == PHYSICAL_I64) return &max_i64_kernel;
    if (a->physical == PHYSICAL_F64) return &max_f64_kernel;
    return a->physical == PHYSICAL_STR ? &max_string_kernel : &max_value_kernel;
}

const struct aggregate_class tide__min_class = {min_bind};
const struct aggregate_class tide__max_class = {max_bind};
