// FIRST_VALUE and LAST_VALUE: the first or last value in arrival order that is not NULL. Flink cannot merge them, so the
// planner keeps them out of HOP, CUMULATE and SESSION; merging here joins runs of one slice, which are in arrival order.
#include "engine/aggregates/held.h"

static void first_update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct held, in, a, acc, row, {
        if (!acc->is_set) tide__held_set(acc, in->column, row, &in->charge);
    });
}

static void last_update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct held, in, a, acc, row, tide__held_set(acc, in->column, row, &in->charge));
}

static void first_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    struct held *acc = into;
    if (!acc->is_set) tide__held_copy(acc, a->physical, from, charge);
}

static void last_merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    tide__held_copy(into, a->physical, from, charge);
}

static void result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                   struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) tide__held_get(ACC_AT(struct held, payloads, a, i), column, i);
}

static void encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    tide__held_encode(accumulator, a->argument, HELD_EXACT, out);
}

static bool decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    return tide__held_decode(accumulator, a->argument, HELD_EXACT, value, charge);
}

static void release(const struct aggregator *a, void *accumulator) {
    tide__held_release(accumulator, a->physical);
}

#define KERNEL(side, combiner_, release_)                                                                              \
    {                                                                                                                  \
        .size = sizeof(struct held), .combinable = true, .update = side##_update, .merge = side##_merge,               \
        .result = result, .field_count = 1, .fields = {{NULL, NULL, STATE_FORM_BYTES, combiner_}}, .encode = encode,   \
        .decode = decode, .release = release_                                                                          \
    }

static const struct aggregate_kernel first_kernel = KERNEL(first, STATE_COMBINE_FIRST, NULL);
static const struct aggregate_kernel last_kernel = KERNEL(last, STATE_COMBINE_LAST, NULL);
static const struct aggregate_kernel first_string_kernel = KERNEL(first, STATE_COMBINE_FIRST, release);
static const struct aggregate_kernel last_string_kernel = KERNEL(last, STATE_COMBINE_LAST, release);

static const struct aggregate_kernel *first_bind(const struct aggregator *a, bool retract) {
    (void)retract;
    return a->physical == PHYSICAL_STR ? &first_string_kernel : &first_kernel;
}

static const struct aggregate_kernel *last_bind(const struct aggregator *a, bool retract) {
    (void)retract;
    return a->physical == PHYSICAL_STR ? &last_string_kernel : &last_kernel;
}

const struct aggregate_class tide__first_value_class = {first_bind};
const struct aggregate_class tide__last_value_class = {last_bind};
