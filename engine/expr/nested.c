// Nested values as bytes. See engine/expr/nested.h for the form.
#include "engine/expr/nested.h"

#include "engine/codec/row.h"

#include <string.h>

static const struct type *element_type(const struct type *type, size_t i) {
    static const struct type count_type = {.kind = TYPE_INT};
    switch (type->kind) {
    case TYPE_ROW: return type->children[i].type;
    case TYPE_MAP: return type->children[i % 2].type;
    case TYPE_MULTISET: return i % 2 == 0 ? type->children[0].type : &count_type;
    default: return type->children[0].type;
    }
}

void tide__nested_append(const struct type *type, const struct column *elements, size_t count, size_t row,
                         struct strbuf *out) {
    if (type->kind != TYPE_ROW) {
        uint64_t n = count;
        while (n >= 0x80) {
            tide__strbuf_append_char(out, (char)(n | 0x80));
            n >>= 7;
        }
        tide__strbuf_append_char(out, (char)n);
    }
    struct batch batch = {.rows = row + 1, .column_count = count, .columns = (struct column *)elements};
    tide__row_append(&batch, row, out);
}

bool tide__nested_decode(struct str bytes, const struct type *type, struct arena *arena, struct column **out_elements,
                         size_t *out_count) {
    size_t count = type->child_count;
    if (type->kind != TYPE_ROW) {
        uint64_t n = 0;
        int shift = 0;
        for (;;) {
            if (bytes.len == 0 || shift > 35) return false;
            unsigned char byte = (unsigned char)bytes.data[0];
            bytes.data++;
            bytes.len--;
            n |= (uint64_t)(byte & 0x7F) << shift;
            shift += 7;
            if (byte < 0x80) break;
        }
        if (n / 8 > bytes.len) return false;  // one bit an element at least
        count = (size_t)n;
    }
    struct column *elements = tide__arena_zalloc(arena, count * sizeof *elements);
    for (size_t i = 0; i < count; i++) tide__column_init(&elements[i], element_type(type, i), 1, 1, arena);
    *out_elements = elements;
    *out_count = count;
    return tide__row_decode(bytes, elements, count, 0);
}

typedef void put_value(const struct column *column, size_t row, const struct zone *zone, struct strbuf *out);

static void put_nested(struct str bytes, const struct type *type, const struct zone *zone, put_value *put,
                       struct strbuf *out) {
    struct arena arena;
    tide__arena_init(&arena);
    struct column *elements = NULL;
    size_t count = 0;
    bool pairs = type->kind == TYPE_MAP || type->kind == TYPE_MULTISET;
    const char *brackets = type->kind == TYPE_ROW ? "()" : pairs ? "{}" : "[]";
    tide__strbuf_append_char(out, brackets[0]);
    if (!tide__nested_decode(bytes, type, &arena, &elements, &count)) count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) tide__strbuf_append_c(out, pairs && i % 2 == 1 ? "=" : ", ");
        if (tide__column_is_null(&elements[i], 0)) {
            tide__strbuf_append_c(out, "NULL");
        } else {
            put(&elements[i], 0, zone, out);
        }
    }
    tide__strbuf_append_char(out, brackets[1]);
    tide__arena_deinit(&arena);
}

void tide__nested_display(struct str bytes, const struct type *type, const struct zone *zone, struct strbuf *out) {
    put_nested(bytes, type, zone, tide__value_display_in_zone, out);
}

void tide__nested_text(struct str bytes, const struct type *type, const struct zone *zone, struct strbuf *out) {
    put_nested(bytes, type, zone, tide__value_text, out);
}
