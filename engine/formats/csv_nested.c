// ARRAY and ROW columns: one field's text, cut at csv.array-element-delimiter.
//
// As in Jackson the null literal is looked for in the elements, not in the whole field; a blank field is an empty ARRAY
// (and a ROW that is NULL); a ROW may have more elements than fields, which are left out, but not fewer.
#include "base/alloc.h"
#include "engine/expr/nested.h"
#include "engine/formats/csv.h"

#include <assert.h>
#include <string.h>

bool tide__csv_is_null(const struct csv_options *options, struct str text) {
    return options->has_null && text.len == options->null_literal.len &&
           (text.len == 0 || memcmp(text.data, options->null_literal.data, text.len) == 0);
}

bool tide__csv_nested_init(struct csv_field *field, const struct csv_options *options) {
    const struct type *type = field->type;
    field->options = options;
    field->elements = tide__calloc(type->child_count + 1, sizeof(*field->elements));
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (!tide__csv_field_init(&field->elements[i], type->children[i].type)) return false;
        if (field->elements[i].kind == CSV_NESTED) return false;
    }
    return true;
}

// The element at *at; moves behind its delimiter, or to SIZE_MAX behind the last.
static struct str next_element(struct str text, struct str delimiter, size_t *at) {
    struct str element = {text.data + *at, text.len - *at};
    const char *end = delimiter.len > 0 ? memmem(element.data, element.len, delimiter.data, delimiter.len) : NULL;
    if (end == NULL) {
        *at = SIZE_MAX;
        return element;
    }
    element.len = (size_t)(end - element.data);
    *at += element.len + delimiter.len;
    return element;
}

static bool is_blank(struct str text) {
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.data[i] > ' ') return false;
    }
    return true;
}

static size_t count_elements(struct str text, struct str delimiter) {
    size_t count = 0;
    if (is_blank(text)) return 0;
    for (size_t at = 0; at != SIZE_MAX; count++) next_element(text, delimiter, &at);
    return count;
}

static bool element_value(struct csv_field *element, const struct csv_options *options, struct str text,
                          struct arena *arena, struct column *out) {
    tide__column_init(out, element->type, 1, 1, arena);
    memset(out->data, 0, tide__physical_size(out->physical));
    element->column = *out;
    enum csv_cell cell = CSV_CELL_NULL;
    if (!tide__csv_is_null(options, text)) cell = tide__csv_cell(element, text, arena, 0);
    if (cell == CSV_CELL_BAD && !options->ignore_errors) return false;
    out->nulls[0] = cell != CSV_CELL_OK;
    return true;
}

enum csv_cell tide__csv_nested_cell(struct csv_field *field, struct str text, struct arena *arena, size_t row) {
    const struct csv_options *options = field->options;
    bool is_row = field->type->kind == TYPE_ROW;
    size_t given = count_elements(text, options->element_delimiter), count = is_row ? field->type->child_count : given;
    if (is_row && given == 0) return CSV_CELL_NULL;
    if (given < count && !options->ignore_errors) return CSV_CELL_BAD;
    struct column *columns = ARENA_ARRAY(arena, struct column, count + 1);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        struct csv_field *element = &field->elements[is_row ? i : 0];
        if (i >= given) {
            tide__column_init(&columns[i], element->type, 1, 1, arena);
            memset(columns[i].data, 0, tide__physical_size(columns[i].physical));
            columns[i].nulls[0] = 1;
            continue;
        }
        struct str part = next_element(text, options->element_delimiter, &at);
        if (!element_value(element, options, part, arena, &columns[i])) return CSV_CELL_BAD;
    }
    struct strbuf bytes = {0};
    tide__nested_append(field->type, columns, count, 0, &bytes);
    char *copy = tide__arena_strndup(arena, bytes.data != NULL ? bytes.data : "", bytes.len);
    field->column.str[row] = (struct str){copy, bytes.len};
    tide__strbuf_deinit(&bytes);
    return CSV_CELL_OK;
}
