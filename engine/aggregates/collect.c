// ARRAY_AGG: all values in arrival order, NULLs too. COLLECT: the values that are not NULL with their number of occurrences,
// in the order of Java's HashMap, as Flink shows them (nested values: of first appearance). Elements are rows of one column in row codec bytes.
#include "engine/aggregates/fields.h"
#include "engine/aggregates/list.h"

#include "base/sort.h"
#include "engine/expr/nested.h"
#include "engine/functions/java_map.h"

static void array_update(const struct aggregator *a, struct aggregate_rows *in) {
    for (size_t i = 0; i < in->n; i++) {
        struct list *list = (struct list *)(void *)(in->payloads[i] + a->offset);
        tide__list_append_value(list, in->column, in->rows[i], &in->charge);
    }
}

static void array_retract(const struct aggregator *a, struct aggregate_rows *in) {
    for (size_t i = 0; i < in->n; i++) {
        struct list *list = (struct list *)(void *)(in->payloads[i] + a->offset);
        tide__list_remove_value(list, in->column, in->rows[i], LIST_FIRST);
    }
}

static void collect_update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct list, in, a, acc, row, tide__list_append_value(acc, in->column, row, &in->charge));
}

// The last one goes: an entry of Flink's map has the place of its first value until its counter is 0.
static void collect_retract(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct list, in, a, acc, row, tide__list_remove_value(acc, in->column, row, LIST_LAST));
}

static size_t list_count(const struct list *list) {
    size_t count = 0;
    struct str element;
    for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element);) count++;
    return count;
}

static struct str nested_value(const struct type *type, const struct column *elements, size_t count,
                               struct arena *arena) {
    struct strbuf bytes = {0};
    tide__nested_append(type, elements, count, 0, &bytes);
    struct str value = {tide__arena_strndup(arena, bytes.data, bytes.len), bytes.len};
    tide__strbuf_deinit(&bytes);
    return value;
}

static void array_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                         struct arena *arena) {
    for (size_t i = 0; i < n; i++) {
        const struct list *list = ACC_AT(struct list, payloads, a, i);
        if (list->len == 0) {
            set_null(column, i);
            continue;
        }
        size_t count = list_count(list), at = 0;
        struct column *elements = ARENA_ARRAY(arena, struct column, count);
        struct str element;
        for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element);)
            tide__list_read_value(element, a->argument, &elements[at++], arena);
        column->nulls[i] = 0;
        column->str[i] = nested_value(a->type, elements, count, arena);
    }
}

// Sorted stably by bytes, equal elements are neighbours and the first of them came first: counts[first] is their number, the
// others get 0.
static void count_equals(const struct list *list, size_t count, struct str *elements, int64_t *counts,
                         struct arena *arena) {
    struct sort_item *items = tide__arena_alloc(arena, 2 * (count + 1) * sizeof *items);
    size_t n = 0;
    for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &elements[n]); n++) {
        const unsigned char *data = (const unsigned char *)elements[n].data;
        items[n] = (struct sort_item){tide__sort_prefix(data, elements[n].len), data, (uint32_t)elements[n].len,
                                      (uint32_t)n};
    }
    tide__sort_keys(items, n, items + n);
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        if (!tide__str_eq(elements[items[i].index], elements[items[first].index])) first = i;
        counts[items[i].index] = 0;
        counts[items[first].index]++;
    }
}

// Puts pairs (value, count) into the order in which Flink's map has them.
static void order_pairs(struct column *pairs, size_t count, struct arena *arena) {
    uint32_t *hashes = ARENA_ARRAY(arena, uint32_t, count + 1), *order = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        if (!tide__java_value_hash(&pairs[2 * i], 0, &hashes[i])) return;
    }
    tide__java_map_order(hashes, count, 0, order);
    struct column *sorted = ARENA_ARRAY(arena, struct column, 2 * count + 1);
    for (size_t i = 0; i < count; i++) memcpy(&sorted[2 * i], &pairs[2 * order[i]], 2 * sizeof *sorted);
    memcpy(pairs, sorted, 2 * count * sizeof *sorted);
}

static void collect_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                           struct arena *arena) {
    static const struct type count_type = {.kind = TYPE_INT};
    for (size_t i = 0; i < n; i++) {
        const struct list *list = ACC_AT(struct list, payloads, a, i);
        size_t count = list_count(list), at = 0;
        struct str *elements = ARENA_ARRAY(arena, struct str, count + 1);
        int64_t *counts = ARENA_ARRAY(arena, int64_t, count + 1);
        count_equals(list, count, elements, counts, arena);
        struct column *pairs = ARENA_ARRAY(arena, struct column, 2 * count + 1);
        for (size_t e = 0; e < count; e++) {
            if (counts[e] == 0) continue;
            tide__list_read_value(elements[e], a->argument, &pairs[at++], arena);
            tide__column_init(&pairs[at], &count_type, 1, 0, arena);
            pairs[at++].i64[0] = counts[e];
        }
        order_pairs(pairs, at / 2, arena);
        if (column->nulls != NULL) column->nulls[i] = 0;
        column->str[i] = nested_value(a->type, pairs, at, arena);
    }
}

// Rows that are taken back can't be merged: then the state is the whole list.
#define KERNEL(update_, retract_, result_)                                                                             \
    {                                                                                                                  \
        .size = sizeof(struct list), .combinable = (retract_) == NULL, .update = update_, .retract = retract_,         \
        .merge = tide__list_merge, .result = result_, .field_count = 1,                                                \
        .fields = {{NULL, NULL, STATE_FORM_BYTES, STATE_COMBINE_CONCAT}}, .encode = tide__list_encode,                 \
        .decode = tide__list_decode, .release = tide__list_release                                                     \
    }

static const struct aggregate_kernel array_kernel = KERNEL(array_update, NULL, array_result);
static const struct aggregate_kernel array_back_kernel = KERNEL(array_update, array_retract, array_result);
static const struct aggregate_kernel collect_kernel = KERNEL(collect_update, NULL, collect_result);
static const struct aggregate_kernel collect_back_kernel = KERNEL(collect_update, collect_retract, collect_result);

static const struct aggregate_kernel *array_bind(const struct aggregator *a, bool retract) {
    (void)a;
    return retract ? &array_back_kernel : &array_kernel;
}

static const struct aggregate_kernel *collect_bind(const struct aggregator *a, bool retract) {
    (void)a;
    return retract ? &collect_back_kernel : &collect_kernel;
}

const struct aggregate_class tide__array_agg_class = {array_bind};
const struct aggregate_class tide__collect_class = {collect_bind};
