// LISTAGG: the strings in arrival order. The accumulator keeps them as (varint length, bytes) one after the other, so that
// the concatenation of two lists is the concatenation of their bytes, whatever the separator, which joins them at the end only.
#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"

#include "base/alloc.h"

#include <assert.h>

struct list {
    char *data;  // owned
    uint32_t len, cap;
};

static char *list_reserve(struct list *list, size_t extra, int64_t *charge) {
    size_t needed = (size_t)list->len + extra;
    if (needed > list->cap) {
        size_t cap = list->cap ? list->cap : 32;
        while (cap < needed) cap *= 2;
        assert(cap <= UINT32_MAX);
        *charge += (int64_t)cap - list->cap;
        list->data = tide__realloc(list->data, cap);
        list->cap = (uint32_t)cap;
    }
    return list->data + list->len;
}

static void list_append(struct list *list, struct str s, int64_t *charge) {
    char *at = list_reserve(list, s.len + 10, charge);
    char *start = at;
    uint64_t len = s.len;
    for (; len >= 0x80; len >>= 7) *at++ = (char)(len | 0x80);
    *at++ = (char)len;
    if (s.len > 0) memcpy(at, s.data, s.len);
    list->len += (uint32_t)(at - start + (ptrdiff_t)s.len);
}

static void list_concat(struct list *list, const char *data, size_t len, int64_t *charge) {
    if (len == 0) return;
    memcpy(list_reserve(list, len, charge), data, len);
    list->len += (uint32_t)len;
}

static void update(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct list, in, a, acc, row, list_append(acc, in->column->str[row], &in->charge));
}

static void merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a;
    const struct list *other = from;
    list_concat(into, other->data, other->len, charge);
}

// Joins the elements; counts first, so that the text is allocated once.
static struct str join(const struct list *list, struct str separator, struct arena *arena) {
    size_t count = 0, bytes = 0;
    struct str element;
    for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element); count++) bytes += element.len;
    char *text = tide__arena_alloc(arena, bytes + (count - 1) * separator.len + 1), *at = text;
    for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element);) {
        if (element.len > 0) memcpy(at, element.data, element.len);
        at += element.len;
        if (rest.len > 0 && separator.len > 0) {
            memcpy(at, separator.data, separator.len);
            at += separator.len;
        }
    }
    return (struct str){text, (size_t)(at - text)};
}

static void result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                   struct arena *arena) {
    struct str separator = a->call->parameter.is_null ? STR_LIT(",") : a->call->parameter.str;
    for (size_t i = 0; i < n; i++) {
        const struct list *list = ACC_AT(struct list, payloads, a, i);
        column->nulls[i] = list->len == 0;
        column->str[i] = list->len == 0 ? (struct str){"", 0} : join(list, separator, arena);
    }
}

static void encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct list *list = accumulator;
    field_put_bytes(out, list->data, list->len);
}

static bool decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    (void)a;
    struct str bytes, element;
    if (!field_get_bytes(value, &bytes) || bytes.len > UINT32_MAX / 4) return false;
    struct str rest = bytes;
    while (rest.len > 0) {
        if (!field_get_bytes(&rest, &element)) return false;
    }
    list_concat(accumulator, bytes.data, bytes.len, charge);
    return true;
}

static void release(const struct aggregator *a, void *accumulator) {
    (void)a;
    struct list *list = accumulator;
    tide__free(list->data);
    *list = (struct list){0};
}

static const struct aggregate_kernel kernel = {
    .size = sizeof(struct list),
    .combinable = true,
    .update = update,
    .merge = merge,
    .result = result,
    .field_count = 1,
    .fields = {{NULL, NULL, STATE_FORM_BYTES, STATE_COMBINE_CONCAT}},
    .encode = encode,
    .decode = decode,
    .release = release,
};

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retract) {
    (void)a, (void)retract;
    return &kernel;
}

const struct aggregate_class tide__listagg_class = {bind};
