// Accumulators of more than one value: lists, sets, what JSON is made of. See api/view.h.
#include "api/view.h"

#include "base/alloc.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/json.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/expr/nested.h"

#include <stdlib.h>
#include <string.h>

static const struct type count_type = {.kind = TYPE_INT};

// The elements that make a nested value: one column of one row each.
struct cells {
    struct column *items;
    size_t count, cap;
};

static struct column *next_cell(struct cells *cells, const struct type *type, struct arena *arena) {
    cells->items = tide__grow(cells->items, &cells->cap, cells->count + 1, sizeof *cells->items);
    struct column *cell = &cells->items[cells->count++];
    tide__column_init(cell, type, 1, 1, arena);
    return cell;
}

static void add_count(struct cells *cells, uint64_t count, struct arena *arena) {
    struct column *cell = next_cell(cells, &count_type, arena);
    cell->i64[0] = (int64_t)count;
}

static bool take_string(struct cells *cells, struct str *rest, const struct view_value *field, struct arena *arena) {
    struct str element;
    if (!field_get_bytes(rest, &element)) return false;
    next_cell(cells, field->element, arena)->str[0] = element;
    return true;
}

static bool take_cell(struct cells *cells, struct str *rest, const struct view_value *field, struct arena *arena) {
    struct str element;
    return field_get_bytes(rest, &element) && tide__row_decode(element, next_cell(cells, field->element, arena), 1, 0);
}

// The same value in several runs is one element.
static bool take_counted(struct cells *cells, struct str *rest, const struct view_value *field, struct arena *arena) {
    uint64_t count = 0;
    struct str element;
    if (!field_get_varint(rest, &count) || !field_get_bytes(rest, &element)) return false;
    bool good = tide__key_decode(&element, arena, next_cell(cells, field->element, arena), 0) && element.len == 0;
    add_count(cells, count, arena);
    return good;
}

static bool take_weighted(struct cells *cells, struct str *rest, const struct view_value *field, struct arena *arena) {
    struct str element;
    int64_t count = 0;
    if (!field_get_bytes(rest, &element)) return false;
    bool good = field_get_f64(&element, next_cell(cells, field->element, arena)->f64) &&
                field_get_i64(&element, &count);
    add_count(cells, (uint64_t)count, arena);
    return good && element.len == 0;
}

// --- sets -------------------------------------------------------------------------------------------------------------------

static int compare_str(const void *a, const void *b) {
    return tide__str_cmp(*(const struct str *)a, *(const struct str *)b);
}

// The key bytes of a set's elements, sorted, in an array to be freed. False if malformed.
static bool sorted_elements(struct str bytes, struct str **out, size_t *out_count) {
    struct str *elements = NULL, element;
    size_t count = 0, cap = 0;
    while (bytes.len > 0) {
        uint64_t times = 0;
        if (!field_get_varint(&bytes, &times) || !field_get_bytes(&bytes, &element)) {
            tide__free(elements);
            return false;
        }
        elements = tide__grow(elements, &cap, count + 1, sizeof *elements);
        elements[count++] = element;
    }
    if (count > 1) qsort(elements, count, sizeof *elements, compare_str);
    *out = elements;
    *out_count = count;
    return true;
}

bool tide__view_count_elements(struct str bytes, int64_t *out) {
    struct str *elements = NULL;
    size_t count = 0;
    if (!sorted_elements(bytes, &elements, &count)) return false;
    *out = count > 0;
    for (size_t i = 1; i < count; i++) *out += !tide__str_eq(elements[i - 1], elements[i]);
    tide__free(elements);
    return true;
}

static bool same_value(const struct column *a, const struct column *b) {
    struct strbuf x = {0}, y = {0};
    tide__key_append_value(a, 0, &x);
    tide__key_append_value(b, 0, &y);
    bool same = tide__str_eq(tide__strbuf_str(&x), tide__strbuf_str(&y));
    tide__strbuf_deinit(&x);
    tide__strbuf_deinit(&y);
    return same;
}

static int compare_cells(const void *a, const void *b) {
    struct strbuf x = {0}, y = {0};
    tide__key_append_value(a, 0, &x);
    tide__key_append_value(b, 0, &y);
    int order = tide__str_cmp(tide__strbuf_str(&x), tide__strbuf_str(&y));
    tide__strbuf_deinit(&x);
    tide__strbuf_deinit(&y);
    return order;
}

// Pairs of value and count, sorted by value; equal ones become one.
static void unite_pairs(struct cells *cells) {
    size_t pairs = cells->count / 2, last = 0;
    if (pairs < 2) return;
    qsort(cells->items, pairs, 2 * sizeof *cells->items, compare_cells);
    for (size_t i = 1; i < pairs; i++) {
        if (same_value(&cells->items[2 * last], &cells->items[2 * i])) {
            cells->items[2 * last + 1].i64[0] += cells->items[2 * i + 1].i64[0];
        } else if (++last != i) {
            memcpy(&cells->items[2 * last], &cells->items[2 * i], 2 * sizeof *cells->items);
        }
    }
    cells->count = 2 * (last + 1);
}

// --- JSON -------------------------------------------------------------------------------------------------------------------

static bool take_json(struct str *rest, struct strbuf *out) {
    struct str text;
    if (!field_get_bytes(rest, &text) || text.len == 0) return false;
    if (text.data[0] == 0)
        tide__strbuf_append_c(out, "null");
    else
        tide__strbuf_append(out, text.data + 1, text.len - 1);
    return true;
}

static bool put_json(enum view_value_form form, struct str rest, struct strbuf *out) {
    bool object = form == VIEW_JSON_OBJECT;
    tide__strbuf_append_char(out, object ? '{' : '[');
    for (bool first = true; rest.len > 0; first = false) {
        struct str name;
        if (!first) tide__strbuf_append_char(out, ',');
        if (object) {
            if (!field_get_bytes(&rest, &name)) return false;
            tide__json_quote(name, out);
            tide__strbuf_append_char(out, ':');
        }
        if (!take_json(&rest, out)) return false;
    }
    tide__strbuf_append_char(out, object ? '}' : ']');
    return true;
}

// --- all --------------------------------------------------------------------------------------------------------------------

typedef bool take_element(struct cells *cells, struct str *rest, const struct view_value *field, struct arena *arena);

static bool decode_list(const struct view_value *field, take_element *take, bool pairs, struct str bytes,
                        struct strbuf *out) {
    struct arena arena;
    tide__arena_init(&arena);
    struct cells cells = {0};
    bool good = true;
    while (good && bytes.len > 0) {
        good = take(&cells, &bytes, field, &arena);
        if (field->form == VIEW_BAG) add_count(&cells, 1, &arena);
    }
    if (good && pairs) unite_pairs(&cells);
    if (good) tide__nested_append(field->type, cells.items, cells.count, 0, out);
    tide__free(cells.items);
    tide__arena_deinit(&arena);
    return good;
}

static bool decode_single(const struct view_value *field, struct str bytes, struct arena *arena, struct column *out,
                          size_t row) {
    if (bytes.len == 0) {
        out->nulls[row] = 1;
        memset((char *)out->data + row * tide__physical_size(out->physical), 0, tide__physical_size(out->physical));
        return true;
    }
    if (field->form == VIEW_EXACT && out->physical == PHYSICAL_F64) {
        out->nulls[row] = 0;
        return field_get_f64(&bytes, &out->f64[row]) && bytes.len == 0;
    }
    if (!tide__key_decode(&bytes, arena, out, row) || bytes.len > 0) return false;
    if (out->physical == PHYSICAL_STR && !out->nulls[row])
        out->str[row].data = tide__arena_strndup(arena, out->str[row].data, out->str[row].len);
    return true;
}

static bool decode_into(const struct view_value *field, struct str bytes, struct strbuf *out) {
    switch (field->form) {
    case VIEW_STRINGS: return decode_list(field, take_string, false, bytes, out);
    case VIEW_CELLS: return decode_list(field, take_cell, false, bytes, out);
    case VIEW_BAG: return decode_list(field, take_cell, true, bytes, out);
    case VIEW_COUNTED: return decode_list(field, take_counted, true, bytes, out);
    case VIEW_WEIGHTED: return decode_list(field, take_weighted, true, bytes, out);
    case VIEW_JSON_ARRAY:
    case VIEW_JSON_OBJECT: return put_json(field->form, bytes, out);
    case VIEW_OPAQUE: tide__strbuf_append_str(out, bytes); return true;
    case VIEW_PLAIN:
    case VIEW_ORDERED:
    case VIEW_EXACT:
    case VIEW_ROW: break;
    }
    return false;
}

bool tide__view_decode_bytes(const struct view_value *field, struct str bytes, struct arena *arena, struct column *out,
                             size_t row) {
    if (field->form == VIEW_ORDERED || field->form == VIEW_EXACT) return decode_single(field, bytes, arena, out, row);
    struct strbuf text = {0};
    bool good = decode_into(field, bytes, &text);
    if (good) {
        out->nulls[row] = 0;
        out->str[row] = (struct str){tide__arena_strndup(arena, text.len > 0 ? text.data : "", text.len), text.len};
    }
    tide__strbuf_deinit(&text);
    return good;
}
