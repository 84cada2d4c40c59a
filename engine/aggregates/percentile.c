// PERCENTILE: the value below which a share of the values lies, with linear interpolation between neighbours.
//
// The accumulator is a list (list.h) of values, each with how often it counts; they are sorted for the result, so that partial
// accumulators merge exactly. The parameter is the share, or an array of them.
#include "engine/aggregates/fields.h"
#include "engine/aggregates/list.h"

#include "engine/expr/kernel.h"
#include "engine/expr/nested.h"

#include <math.h>
#include <stdlib.h>

struct weighted {
    double value;
    int64_t count;
};

static void add(struct list *list, double value, int64_t count, int64_t *charge) {
    struct weighted item = {value, count};
    if (count > 0) tide__list_append(list, (struct str){(const char *)&item, sizeof item}, charge);
}

static int64_t count_at(const struct column *counts, size_t row) {
    if (counts == NULL) return 1;
    return tide__column_is_null(counts, row) ? 0 : counts->i64[row];
}

static void update(const struct aggregator *a, struct aggregate_rows *in) {
    const struct column *counts = a->call->arg_count > 1 ? &in->batch->columns[a->call->args[1]] : NULL;
    FOR_EACH_VALUE(struct list, in, a, acc, row,
                   add(acc, tide__double_at(in->column, row), count_at(counts, row), &in->charge));
}

static int by_value(const void *a, const void *b) {
    double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

// The value at a place in the sorted values, counted from 0.
static double value_at(const struct weighted *items, size_t n, int64_t place) {
    size_t i = 0;
    for (int64_t before = items[0].count; i + 1 < n && before <= place; before += items[i].count) i++;
    return items[i].value;
}

// With places counted from 1 and the two terms in this order: the last digits are Flink's.
static double percentile(const struct weighted *items, size_t n, int64_t total, double share) {
    double place = share * (double)(total - 1) + 1, below = floor(place), above = ceil(place);
    double low = value_at(items, n, (int64_t)below - 1), high = value_at(items, n, (int64_t)above - 1);
    if (below == above || low == high) return low;
    return (above - place) * low + (place - below) * high;
}

static struct weighted *sorted(const struct list *list, size_t *out_count, int64_t *out_total, struct arena *arena) {
    struct weighted *items = tide__arena_alloc(arena, (list->len / sizeof *items + 1) * sizeof *items);
    struct str element;
    size_t n = 0;
    *out_total = 0;
    for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element);) {
        if (element.len != sizeof *items) continue;
        memcpy(&items[n], element.data, sizeof *items);
        *out_total += items[n++].count;
    }
    qsort(items, n, sizeof *items, by_value);
    *out_count = n;
    return items;
}

static void put_array(const struct aggregator *a, const struct weighted *items, size_t n, int64_t total,
                      struct column *column, size_t row, struct arena *arena) {
    struct column *shares = NULL;
    size_t count = 0;
    if (!tide__nested_decode(a->call->parameter.str, a->type, arena, &shares, &count)) count = 0;
    struct column *values = ARENA_ARRAY(arena, struct column, count + 1);
    for (size_t i = 0; i < count; i++) {
        tide__column_init(&values[i], a->type->children[0].type, 1, 1, arena);
        values[i].f64[0] = percentile(items, n, total, tide__double_at(&shares[i], 0));
    }
    struct strbuf bytes = {0};
    if (count == 0) {  // seen on Flink: no shares, no array
        set_null(column, row);
        return;
    }
    tide__nested_append(a->type, values, count, 0, &bytes);
    column->str[row] = (struct str){tide__arena_strndup(arena, bytes.data, bytes.len), bytes.len};
    tide__strbuf_deinit(&bytes);
}

static void result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                   struct arena *arena) {
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        int64_t total = 0;
        struct weighted *items = sorted(ACC_AT(struct list, payloads, a, i), &count, &total, arena);
        if (count == 0) {
            set_null(column, i);
            continue;
        }
        column->nulls[i] = 0;
        if (a->type->kind == TYPE_ARRAY) {
            put_array(a, items, count, total, column, i, arena);
        } else {
            column->f64[i] = percentile(items, count, total, a->call->parameter.f64);
        }
    }
}

static const struct aggregate_kernel kernel = {
    .size = sizeof(struct list),
    .combinable = true,
    .update = update,
    .merge = tide__list_merge,
    .result = result,
    .field_count = 1,
    .fields = {{NULL, NULL, STATE_FORM_BYTES, STATE_COMBINE_CONCAT}},
    .encode = tide__list_encode,
    .decode = tide__list_decode,
    .release = tide__list_release,
};

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retract) {
    (void)a;
    return retract ? NULL : &kernel;
}

const struct aggregate_class tide__percentile_class = {bind};
