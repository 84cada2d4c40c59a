// JSON_ARRAYAGG and JSON_OBJECTAGG. Their values come as JSON text: the binder wraps them in JSON_STRING, as Flink's planner does.
//
// The accumulator is a list (list.h): of an array one element a value, of an object two elements a pair, the key first. A value
// is a byte, 1 or (NULL) 0, and its text. The parameter says what becomes of NULLs: 'NULL' or 'ABSENT'.
#include "engine/aggregates/fields.h"
#include "engine/aggregates/list.h"

#include "engine/codec/json.h"

static bool keeps_nulls(const struct aggregator *a) {
    return !a->call->parameter.is_null && tide__str_eq_c(a->call->parameter.str, "NULL");
}

static void append_value(struct list *list, const struct column *column, size_t row, struct strbuf *scratch,
                         int64_t *charge) {
    bool null = tide__column_is_null(column, row);
    tide__strbuf_clear(scratch);
    tide__strbuf_append_char(scratch, null ? 0 : 1);
    if (!null) tide__strbuf_append_str(scratch, column->str[row]);
    tide__list_append(list, tide__strbuf_str(scratch), charge);
}

static void put_value(struct str value, struct strbuf *out) {
    if (value.len == 0 || value.data[0] == 0) {
        tide__strbuf_append_c(out, "null");
    } else {
        tide__strbuf_append(out, value.data + 1, value.len - 1);
    }
}

static struct str finish(struct strbuf *text, struct arena *arena) {
    struct str copy = {tide__arena_strndup(arena, text->data, text->len), text->len};
    tide__strbuf_clear(text);
    return copy;
}

// --- JSON_ARRAYAGG ---

static void array_update(const struct aggregator *a, struct aggregate_rows *in) {
    struct strbuf scratch = {0};
    bool nulls = keeps_nulls(a);
    for (size_t i = 0; i < in->n; i++) {
        if (!nulls && tide__column_is_null(in->column, in->rows[i])) continue;
        struct list *list = (struct list *)(void *)(in->payloads[i] + a->offset);
        append_value(list, in->column, in->rows[i], &scratch, &in->charge);
    }
    tide__strbuf_deinit(&scratch);
}

static void array_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                         struct arena *arena) {
    struct strbuf text = {0};
    for (size_t i = 0; i < n; i++) {
        const struct list *list = ACC_AT(struct list, payloads, a, i);
        struct str value;
        bool first = true;
        tide__strbuf_append_char(&text, '[');
        for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &value); first = false) {
            if (!first) tide__strbuf_append_char(&text, ',');
            put_value(value, &text);
        }
        tide__strbuf_append_char(&text, ']');
        if (column->nulls != NULL) column->nulls[i] = 0;
        column->str[i] = finish(&text, arena);
    }
    tide__strbuf_deinit(&text);
}

// --- JSON_OBJECTAGG ---

static void object_update(const struct aggregator *a, struct aggregate_rows *in) {
    struct strbuf scratch = {0};
    const struct column *values = &in->batch->columns[a->call->args[1]];
    bool nulls = keeps_nulls(a);
    for (size_t i = 0; i < in->n; i++) {
        uint32_t row = in->rows[i];
        if (tide__column_is_null(in->column, row) || (!nulls && tide__column_is_null(values, row))) continue;
        struct list *list = (struct list *)(void *)(in->payloads[i] + a->offset);
        tide__list_append(list, in->column->str[row], &in->charge);
        append_value(list, values, row, &scratch, &in->charge);
    }
    tide__strbuf_deinit(&scratch);
}

// Members stand in the order of their keys; the last value of a key counts.
static size_t take_pair(struct str *pairs, size_t count, struct str key, struct str value) {
    size_t at = count;
    while (at > 0 && tide__str_cmp(key, pairs[at - 2]) < 0) at -= 2;
    if (at > 0 && tide__str_eq(key, pairs[at - 2])) {
        pairs[at - 1] = value;
        return count;
    }
    memmove(pairs + at + 2, pairs + at, (count - at) * sizeof *pairs);
    pairs[at] = key;
    pairs[at + 1] = value;
    return count + 2;
}

static void object_result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                          struct arena *arena) {
    struct strbuf text = {0};
    for (size_t i = 0; i < n; i++) {
        const struct list *list = ACC_AT(struct list, payloads, a, i);
        struct str key, value;
        size_t total = 0, count = 0;
        for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &key);) total++;
        struct str *pairs = ARENA_ARRAY(arena, struct str, total + 2);
        for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &key) && field_get_bytes(&rest, &value);)
            count = take_pair(pairs, count, key, value);
        tide__strbuf_append_char(&text, '{');
        for (size_t k = 0; k < count; k += 2) {
            if (k > 0) tide__strbuf_append_char(&text, ',');
            tide__json_quote(pairs[k], &text);
            tide__strbuf_append_char(&text, ':');
            put_value(pairs[k + 1], &text);
        }
        tide__strbuf_append_char(&text, '}');
        if (column->nulls != NULL) column->nulls[i] = 0;
        column->str[i] = finish(&text, arena);
    }
    tide__strbuf_deinit(&text);
}

#define KERNEL(update_, result_)                                                                                       \
    {                                                                                                                  \
        .size = sizeof(struct list), .combinable = true, .update = update_, .merge = tide__list_merge,                 \
        .result = result_, .field_count = 1, .fields = {{NULL, NULL, STATE_FORM_BYTES, STATE_COMBINE_CONCAT}},         \
        .encode = tide__list_encode, .decode = tide__list_decode, .release = tide__list_release                        \
    }

static const struct aggregate_kernel array_kernel = KERNEL(array_update, array_result);
static const struct aggregate_kernel object_kernel = KERNEL(object_update, object_result);

static const struct aggregate_kernel *array_bind(const struct aggregator *a, bool retract) {
    (void)a;
    return retract ? NULL : &array_kernel;
}

static const struct aggregate_kernel *object_bind(const struct aggregator *a, bool retract) {
    (void)a;
    return retract ? NULL : &object_kernel;
}

const struct aggregate_class tide__json_arrayagg_class = {array_bind};
const struct aggregate_class tide__json_objectagg_class = {object_bind};
