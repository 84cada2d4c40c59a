// FIRST_VALUE and LAST_VALUE: the first or last value in arrival order that is not NULL. Flink cannot merge them, so the
// planner keeps them out of HOP, CUMULATE and SESSION; merging here joins runs of one slice, which are in arrival order.
//
// Where rows are taken back, all values are kept in arrival order: the first that is equal goes, and the ends of the list are the
// results. (Flink's keeps them by the clock's milliseconds, which comes to the same.)
#include "engine/aggregates/fields.h"
#include "engine/aggregates/held.h"
#include "engine/aggregates/list.h"

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

// --- with rows that are taken back ------------------------------------------------------------------------------------

static void back_update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct list, in, a, acc, row, tide__list_append_value(acc, in->column, row, &in->charge));
}

static void back_retract(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct list, in, a, acc, row, tide__list_remove_value(acc, in->column, row, LIST_FIRST));
}

static void back_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                        struct arena *arena) {
    bool last = a->call->aggregate->class == &tide__last_value_class;
    for (size_t i = 0; i < n; i++) {
        const struct list *list = ACC_AT(struct list, payloads, a, i);
        struct str element = {0};
        struct column value;
        set_null(column, i);
        if (list->len == 0) continue;
        for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element) && last;) {}
        tide__list_read_value(element, a->argument, &value, arena);
        size_t size = tide__physical_size(column->physical);
        column->nulls[i] = 0;
        memcpy((char *)column->data + i * size, value.data, size);
    }
}

static const struct aggregate_kernel back_kernel = {
    .size = sizeof(struct list),
    .update = back_update,
    .retract = back_retract,
    .merge = tide__list_merge,
    .result = back_result,
    .field_count = 1,
    .fields = {{" values", "BYTES", STATE_FORM_BYTES, STATE_COMBINE_REPLACE}},
    .encode = tide__list_encode,
    .decode = tide__list_decode,
    .release = tide__list_release,
};

static const struct aggregate_kernel *first_bind(const struct aggregator *a, bool retract) {
    if (retract) return &back_kernel;
    return a->physical == PHYSICAL_STR ? &first_string_kernel : &first_kernel;
}

static const struct aggregate_kernel *last_bind(const struct aggregator *a, bool retract) {
    if (retract) return &back_kernel;
    return a->physical == PHYSICAL_STR ? &last_string_kernel : &last_kernel;
}

const struct aggregate_class tide__first_value_class = {first_bind};
const struct aggregate_class tide__last_value_class = {last_bind};
