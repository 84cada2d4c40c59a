// Entries of state tables into columns: keys, accumulators, rows. See api/view.h.
#include "base/alloc.h"
#include "api/view.h"
#include "base/time.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/json.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/expr/nested.h"

#include <string.h>

enum { WINDOW_BYTES = 16, NUMBER_BYTES = 8 };
#define NO_TARGET UINT32_MAX

struct view_decoder {
    const struct state_view *view;
    const uint32_t *wanted;
    size_t wanted_count;
    uint32_t *key_targets, *value_targets, *element_targets;  // a field: the wanted column, or NO_TARGET
    uint32_t *child_targets;                                  // a field of the row
    uint32_t key_fields;                                      // so many must be read
    bool values, rest, times;  // anything of the value, behind the key, of the window's bounds is wanted
    struct column *row;        // the row's fields, one row each
    uint32_t row_count;
    int64_t *numbers;       // value fields of form I64, for null_if_zero
    struct arena arena;     // of what stands above
    struct arena scratch;   // one entry
    struct strbuf flipped;  // a key that sorts downwards
};

// --- making one -------------------------------------------------------------------------------------------------------------

static uint32_t *targets_new(struct arena *arena, size_t count) {
    uint32_t *targets = tide__arena_alloc(arena, (count + 1) * sizeof *targets);
    for (size_t i = 0; i <= count; i++) targets[i] = NO_TARGET;
    return targets;
}

static void aim(struct view_decoder *d, uint32_t target, const struct view_column *column) {
    switch (column->part) {
    case VIEW_START:
    case VIEW_END: d->times = true; return;
    case VIEW_RANK: return;
    case VIEW_KEY:
        d->key_targets[column->field] = target;
        if (column->field >= d->key_fields) d->key_fields = column->field + 1;
        return;
    case VIEW_REST:
        d->rest = true;
        d->key_fields = (uint32_t)d->view->desc->key_count;
        return;
    case VIEW_SESSION_END: d->values = true; return;
    case VIEW_VALUE: d->value_targets[column->field] = target; break;
    case VIEW_ELEMENTS: d->element_targets[column->field] = target; break;
    case VIEW_CHILD: d->child_targets[column->child] = target; break;
    }
    d->values = true;
}

struct view_decoder *tide__view_decoder_new(const struct state_view *view, const uint32_t *wanted,
                                            size_t wanted_count) {
    struct view_decoder *d = tide__calloc(1, sizeof *d);
    d->view = view;
    d->wanted = wanted;
    d->wanted_count = wanted_count;
    tide__arena_init(&d->arena);
    tide__arena_init(&d->scratch);
    d->key_targets = targets_new(&d->arena, view->desc->key_count);
    d->value_targets = targets_new(&d->arena, view->desc->value_count);
    d->element_targets = targets_new(&d->arena, view->desc->value_count);
    d->numbers = ARENA_ARRAY(&d->arena, int64_t, view->desc->value_count + 1);
    for (size_t i = 0; i < view->desc->value_count; i++) {
        const struct type *type = view->values[i].type;
        if (view->values[i].form != VIEW_ROW) continue;
        d->row_count = type->child_count;
        d->row = ARENA_ARRAY(&d->arena, struct column, type->child_count + 1);
        for (uint32_t c = 0; c < type->child_count; c++)
            tide__column_init(&d->row[c], type->children[c].type, 1, 1, &d->arena);
    }
    d->child_targets = targets_new(&d->arena, d->row_count);
    for (size_t i = 0; i < wanted_count; i++) aim(d, (uint32_t)i, &view->columns[wanted[i]]);
    return d;
}

void tide__view_decoder_free(struct view_decoder *d) {
    if (d == NULL) return;
    tide__arena_deinit(&d->arena);
    tide__arena_deinit(&d->scratch);
    tide__strbuf_deinit(&d->flipped);
    tide__free(d);
}

// --- single values -------------------------------------------------------------------------------------------------------------

static void put_null(struct column *column, size_t row) {
    column->nulls[row] = 1;
    memset((char *)column->data + row * tide__physical_size(column->physical), 0,
           tide__physical_size(column->physical));
}

// The value is borrowed from an entry: what it points to must be copied.
static void keep(struct column *column, size_t row, struct arena *arena) {
    if (column->physical != PHYSICAL_STR || tide__column_is_null(column, row)) return;
    struct str s = column->str[row];
    column->str[row] = (struct str){tide__arena_strndup(arena, s.len > 0 ? s.data : "", s.len), s.len};
}

static void put_integer(struct column *column, size_t row, int128 v) {
    if (column->nulls != NULL) column->nulls[row] = 0;
    switch (column->physical) {
    case PHYSICAL_BOOL: column->bools[row] = v != 0; break;
    case PHYSICAL_I64: column->i64[row] = (int64_t)v; break;
    case PHYSICAL_F64: column->f64[row] = (double)v; break;
    case PHYSICAL_I128: column->i128[row] = v; break;
    case PHYSICAL_TIME: column->time[row] = (struct timestamp){(int64_t)v, 0}; break;
    case PHYSICAL_STR: break;
    }
}

static void put_bytes(struct column *column, size_t row, struct str bytes, struct arena *arena) {
    if (column->nulls != NULL) column->nulls[row] = 0;
    column->str[row] = (struct str){tide__arena_strndup(arena, bytes.len > 0 ? bytes.data : "", bytes.len), bytes.len};
}

// --- keys --------------------------------------------------------------------------------------------------------------------

// One field of a key: upwards or downwards.
static bool take_key_value(struct str *key, struct strbuf *flipped, struct arena *scratch, struct column *column,
                           size_t row) {
    if (key->len > 0 && (unsigned char)key->data[0] >= 0xFD) {
        tide__strbuf_clear(flipped);
        char *at = tide__strbuf_reserve(flipped, key->len);
        for (size_t i = 0; i < key->len; i++) at[i] = (char)~key->data[i];
        struct str rest = {at, key->len};
        if (!tide__key_decode(&rest, scratch, column, row)) return false;
        keep(column, row, scratch);
        key->data += key->len - rest.len;
        key->len = rest.len;
        return true;
    }
    return tide__key_decode(key, scratch, column, row);
}

static bool take_number(struct str *key, enum view_key_form form, struct column *column, size_t row) {
    if (key->len < NUMBER_BYTES) return false;
    int64_t v = tide__key_get_time(key->data);
    if (form == VIEW_KEY_NUMBER) {
        v = (int64_t)((uint64_t)v ^ UINT64_C(1) << 63);
        if (v < 0) v = ~v;  // the last one to come counts: it is written inverted
    }
    key->data += NUMBER_BYTES;
    key->len -= NUMBER_BYTES;
    put_integer(column, row, v);
    return true;
}

static bool take_key_field(const struct view_key *field, struct str *key, struct strbuf *flipped, struct arena *scratch,
                           struct column *column, size_t row) {
    if (field->type == NULL) return false;
    if (field->form != VIEW_KEY_VALUE) return take_number(key, field->form, column, row);
    return take_key_value(key, flipped, scratch, column, row);
}

size_t tide__view_key_prefix(const struct state_view *view, struct str key, uint32_t fields) {
    struct arena scratch;
    struct strbuf flipped = {0};
    tide__arena_init(&scratch);
    struct str rest = key;
    bool good = true;
    if (view->windowed) {
        good = rest.len >= WINDOW_BYTES;
        rest.data += good ? WINDOW_BYTES : 0;
        rest.len -= good ? WINDOW_BYTES : 0;
    }
    for (uint32_t i = 0; i < fields && good; i++) {
        struct column cell;
        good = view->keys[i].type != NULL;
        if (!good) break;
        tide__column_init(&cell, view->keys[i].type, 1, 1, &scratch);
        good = take_key_field(&view->keys[i], &rest, &flipped, &scratch, &cell, 0);
    }
    tide__arena_deinit(&scratch);
    tide__strbuf_deinit(&flipped);
    return good ? key.len - rest.len : 0;
}

static bool decode_key(struct view_decoder *d, struct str key, struct arena *arena, struct column *columns,
                       size_t row) {
    for (uint32_t i = 0; i < d->key_fields; i++) {
        uint32_t target = d->key_targets[i];
        struct column cell;
        if (target == NO_TARGET) tide__column_init(&cell, d->view->keys[i].type, 1, 1, &d->scratch);
        struct column *into = target == NO_TARGET ? &cell : &columns[target];
        size_t at = target == NO_TARGET ? 0 : row;
        if (!take_key_field(&d->view->keys[i], &key, &d->flipped, &d->scratch, into, at)) return false;
        if (target != NO_TARGET) keep(into, at, arena);
    }
    for (size_t i = 0; d->rest && i < d->wanted_count; i++)
        if (d->view->columns[d->wanted[i]].part == VIEW_REST) put_bytes(&columns[i], row, key, arena);
    return true;
}

// --- values ------------------------------------------------------------------------------------------------------------------

static bool copy_cell(const struct column *from, struct column *to, size_t row, struct arena *arena) {
    if (tide__column_is_null(from, 0)) {
        put_null(to, row);
        return true;
    }
    if (to->nulls != NULL) to->nulls[row] = 0;
    size_t size = tide__physical_size(from->physical);
    memcpy((char *)to->data + row * size, from->data, size);
    keep(to, row, arena);
    return true;
}

static bool take_plain(struct str *value, enum state_form form, struct column *column, size_t row, int64_t *number) {
    int128 wide = 0;
    double real = 0;
    switch (form) {
    case STATE_FORM_I64:
        if (!field_get_i64(value, number)) return false;
        if (column != NULL) put_integer(column, row, *number);
        return true;
    case STATE_FORM_I128:
        if (!field_take(value, &wide, sizeof wide)) return false;
        if (column != NULL) put_integer(column, row, wide);
        return true;
    case STATE_FORM_F64:
        if (!field_get_f64(value, &real)) return false;
        if (column == NULL) return true;
        if (column->physical != PHYSICAL_F64) return false;
        column->nulls[row] = 0;
        column->f64[row] = real;
        return true;
    case STATE_FORM_BYTES: break;
    }
    return false;
}

static bool decode_row(struct view_decoder *d, struct str bytes, struct arena *arena, struct column *columns,
                       size_t row) {
    if (!tide__row_decode(bytes, d->row, d->row_count, 0)) return false;
    for (uint32_t c = 0; c < d->row_count; c++)
        if (d->child_targets[c] != NO_TARGET) (void)copy_cell(&d->row[c], &columns[d->child_targets[c]], row, arena);
    return true;
}

static bool decode_field(struct view_decoder *d, size_t i, struct str *value, struct arena *arena,
                         struct column *columns, size_t row) {
    const struct view_value *field = &d->view->values[i];
    uint32_t target = d->value_targets[i];
    struct column *column = target != NO_TARGET ? &columns[target] : NULL;
    if (field->form == VIEW_PLAIN) return take_plain(value, d->view->desc->values[i].form, column, row, &d->numbers[i]);
    struct str bytes;
    if (d->view->desc->values[i].form != STATE_FORM_BYTES || !field_get_bytes(value, &bytes)) return false;
    if (field->form == VIEW_ROW) return decode_row(d, bytes, arena, columns, row);
    if (d->element_targets[i] != NO_TARGET) {
        int64_t count = 0;
        if (!tide__view_count_elements(bytes, &count)) return false;
        put_integer(&columns[d->element_targets[i]], row, count);
    }
    return column == NULL || tide__view_decode_bytes(field, bytes, arena, column, row);
}

// Of a field that has no value yet the accumulator is zero, which is not the result.
static void null_empty(const struct view_decoder *d, struct column *columns, size_t row) {
    for (size_t i = 0; i < d->view->desc->value_count; i++) {
        int32_t by = d->view->values[i].null_if_zero;
        if (by >= 0 && d->value_targets[i] != NO_TARGET && d->numbers[by] == 0)
            put_null(&columns[d->value_targets[i]], row);
    }
}

static bool decode_value(struct view_decoder *d, struct str value, struct arena *arena, struct column *columns,
                         size_t row) {
    for (size_t i = 0; i < d->view->desc->value_count; i++)
        if (!decode_field(d, i, &value, arena, columns, row)) return false;
    null_empty(d, columns, row);
    return value.len == 0;
}

// --- entries -----------------------------------------------------------------------------------------------------------------

// Columns that are neither a field of the key nor of the value.
static void put_derived(const struct view_decoder *d, struct str key, uint64_t rank, struct column *columns,
                        size_t row) {
    for (size_t i = 0; i < d->wanted_count; i++) {
        switch (d->view->columns[d->wanted[i]].part) {
        case VIEW_START: put_integer(&columns[i], row, tide__key_get_time(key.data)); break;
        case VIEW_END: put_integer(&columns[i], row, tide__key_get_time(key.data + NUMBER_BYTES)); break;
        case VIEW_SESSION_END: put_integer(&columns[i], row, (int128)d->numbers[0] + d->view->size_ms); break;
        case VIEW_RANK: put_integer(&columns[i], row, (int128)rank); break;
        case VIEW_KEY:
        case VIEW_VALUE:
        case VIEW_ELEMENTS:
        case VIEW_CHILD:
        case VIEW_REST: break;
        }
    }
}

bool tide__view_decode(struct view_decoder *d, struct str key, struct str value, uint64_t rank, struct arena *arena,
                       struct column *columns, size_t row) {
    struct str behind = key;
    if (d->view->windowed) {
        if (key.len < WINDOW_BYTES) return false;
        behind = (struct str){key.data + WINDOW_BYTES, key.len - WINDOW_BYTES};
    }
    if (d->key_fields > 0 || d->values) tide__arena_reset(&d->scratch);
    if (d->key_fields > 0 && !decode_key(d, behind, arena, columns, row)) return false;
    if (d->values && !decode_value(d, value, arena, columns, row)) return false;
    put_derived(d, key, rank, columns, row);
    return true;
}
