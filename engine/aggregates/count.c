// COUNT(*) and COUNT(x): a 64-bit counter.
#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"

static void count_rows(const struct aggregator *a, struct aggregate_rows *in) {
    const uint32_t offset = a->offset;
    for (size_t i = 0; i < in->n; i++) ++*(int64_t *)(void *)(in->payloads[i] + offset);
}

static void uncount_rows(const struct aggregator *a, struct aggregate_rows *in) {
    for (size_t i = 0; i < in->n; i++) --*(int64_t *)(void *)(in->payloads[i] + a->offset);
}

static void count_values(const struct aggregator *a, struct aggregate_rows *in) {
    const uint8_t *nulls = in->column->nulls;
    if (nulls == NULL) {
        count_rows(a, in);
        return;
    }
    for (size_t i = 0; i < in->n; i++) *(int64_t *)(void *)(in->payloads[i] + a->offset) += !nulls[in->rows[i]];
}

static void uncount_values(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(int64_t, in, a, count, row, ((void)row, --*count));
}

static void merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a, (void)charge;
    *(int64_t *)into += *(const int64_t *)from;
}

static void unmerge(const struct aggregator *a, void *into, const void *from) {
    (void)a;
    *(int64_t *)into -= *(const int64_t *)from;
}

static void result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                   struct arena *arena) {
    (void)arena;
    for (size_t i = 0; i < n; i++) column->i64[i] = *ACC_AT(int64_t, payloads, a, i);
}

static void encode(const struct aggregator *a, const void *acc, struct strbuf *out) {
    (void)a;
    field_put_i64(out, *(const int64_t *)acc);
}

static bool decode(const struct aggregator *a, struct str *value, void *acc, int64_t *charge) {
    (void)a, (void)charge;
    return field_get_i64(value, acc);
}

#define COUNT_KERNEL(update_fn, retract_fn)                                                                            \
    {                                                                                                                  \
        .size = 8, .combinable = true, .update = update_fn, .retract = retract_fn, .merge = merge, .unmerge = unmerge, \
        .result = result, .encode = encode, .decode = decode, .field_count = 1, .fields = {                            \
            {NULL, NULL, STATE_FORM_I64, STATE_COMBINE_ADD}                                                            \
        }                                                                                                              \
    }

static const struct aggregate_kernel rows_kernel = COUNT_KERNEL(count_rows, uncount_rows);
static const struct aggregate_kernel values_kernel = COUNT_KERNEL(count_values, uncount_values);

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retract) {
    (void)retract;
    return a->argument == NULL ? &rows_kernel : &values_kernel;
}

const struct aggregate_class tide__count_class = {bind};
