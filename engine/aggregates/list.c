#include "engine/aggregates/list.h"

#include "base/alloc.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/row.h"

static char *reserve(struct list *list, size_t extra, int64_t *charge) {
    size_t needed = list->len + extra;
    if (needed > list->cap) {
        size_t cap = list->cap ? list->cap : 32;
        while (cap < needed) cap *= 2;
        *charge += (int64_t)(cap - list->cap);
        list->data = tide__realloc(list->data, cap);
        list->cap = cap;
    }
    return list->data + list->len;
}

void tide__list_append(struct list *list, struct str s, int64_t *charge) {
    char *start = reserve(list, s.len + 10, charge), *at = start;
    uint64_t len = s.len;
    for (; len >= 0x80; len >>= 7) *at++ = (char)(len | 0x80);
    *at++ = (char)len;
    if (s.len > 0) memcpy(at, s.data, s.len);
    list->len += (size_t)(at - start) + s.len;
}

void tide__list_remove(struct list *list, struct str s, enum list_end which) {
    struct str element;
    size_t from = 0, to = 0;
    for (struct str rest = {list->data, list->len}; rest.len > 0 && (to == 0 || which == LIST_LAST);) {
        size_t start = list->len - rest.len;
        if (!field_get_bytes(&rest, &element)) return;
        if (tide__str_eq(element, s)) from = start, to = list->len - rest.len;
    }
    if (to == 0) return;
    memmove(list->data + from, list->data + to, list->len - to);
    list->len -= to - from;
}

static void row_bytes(const struct column *column, size_t row, struct strbuf *out) {
    struct column cell = *column;
    struct batch batch = {.rows = row + 1, .column_count = 1, .columns = &cell};
    tide__row_append(&batch, row, out);
}

void tide__list_append_value(struct list *list, const struct column *column, size_t row, int64_t *charge) {
    struct strbuf bytes = {0};
    row_bytes(column, row, &bytes);
    tide__list_append(list, tide__strbuf_str(&bytes), charge);
    tide__strbuf_deinit(&bytes);
}

void tide__list_remove_value(struct list *list, const struct column *column, size_t row, enum list_end which) {
    struct strbuf bytes = {0};
    row_bytes(column, row, &bytes);
    tide__list_remove(list, tide__strbuf_str(&bytes), which);
    tide__strbuf_deinit(&bytes);
}

void tide__list_read_value(struct str element, const struct type *type, struct column *out, struct arena *arena) {
    tide__column_init(out, type, 1, 1, arena);
    if (!tide__row_decode(element, out, 1, 0)) set_null(out, 0);
}

static void concat(struct list *list, const char *data, size_t len, int64_t *charge) {
    if (len == 0) return;
    memcpy(reserve(list, len, charge), data, len);
    list->len += len;
}

void tide__list_merge(const struct aggregator *aggregator, void *into, const void *from, int64_t *charge) {
    (void)aggregator;
    const struct list *other = from;
    concat(into, other->data, other->len, charge);
}

void tide__list_encode(const struct aggregator *aggregator, const void *accumulator, struct strbuf *out) {
    (void)aggregator;
    const struct list *list = accumulator;
    field_put_bytes(out, list->data, list->len);
}

bool tide__list_decode(const struct aggregator *aggregator, struct str *value, void *accumulator, int64_t *charge) {
    (void)aggregator;
    struct str bytes, element;
    if (!field_get_bytes(value, &bytes)) return false;
    for (struct str rest = bytes; rest.len > 0;)
        if (!field_get_bytes(&rest, &element)) return false;
    concat(accumulator, bytes.data, bytes.len, charge);
    return true;
}

void tide__list_release(const struct aggregator *aggregator, void *accumulator) {
    (void)aggregator;
    struct list *list = accumulator;
    tide__free(list->data);
    *list = (struct list){0};
}
