#include "engine/aggregates/held.h"

#include "base/alloc.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/key.h"

#include <assert.h>

static void set_bytes(struct held *held, const char *data, size_t len, int64_t *charge) {
    assert(len <= UINT32_MAX / 2);
    if (held->bytes.cap < len || held->bytes.data == NULL) {
        uint32_t cap = (uint32_t)((len + 15) & ~(size_t)15);
        if (cap == 0) cap = 16;
        *charge += (int64_t)cap - held->bytes.cap;
        tide__free(held->bytes.data);
        held->bytes.data = tide__alloc(cap);
        held->bytes.cap = cap;
    }
    if (len > 0) memcpy(held->bytes.data, data, len);
    held->bytes.len = (uint32_t)len;
}

void tide__held_set(struct held *held, const struct column *column, size_t row, int64_t *charge) {
    switch (column->physical) {
    case PHYSICAL_BOOL: held->i64 = column->bools[row]; break;
    case PHYSICAL_I64: held->i64 = column->i64[row]; break;
    case PHYSICAL_F64: held->f64 = column->f64[row]; break;
    case PHYSICAL_I128: held->i128 = column->i128[row]; break;
    case PHYSICAL_TIME: held->time = column->time[row]; break;
    case PHYSICAL_STR: set_bytes(held, column->str[row].data, column->str[row].len, charge); break;
    }
    held->is_set = 1;
}

void tide__held_copy(struct held *held, enum physical physical, const struct held *from, int64_t *charge) {
    if (!from->is_set) return;
    if (physical == PHYSICAL_STR) {
        set_bytes(held, from->bytes.data, from->bytes.len, charge);
        held->is_set = 1;
    } else {
        *held = *from;
    }
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_times(struct timestamp a, struct timestamp b) {
    return a.ms != b.ms ? COMPARE(a.ms, b.ms) : COMPARE(a.nanos, b.nanos);
}

int tide__held_cmp_value(const struct held *held, const struct column *column, size_t row) {
    switch (column->physical) {
    case PHYSICAL_BOOL: return COMPARE(held->i64, column->bools[row]);
    case PHYSICAL_I64: return COMPARE(held->i64, column->i64[row]);
    case PHYSICAL_F64: return COMPARE(held->f64, column->f64[row]);
    case PHYSICAL_I128: return COMPARE(held->i128, column->i128[row]);
    case PHYSICAL_TIME: return compare_times(held->time, column->time[row]);
    case PHYSICAL_STR: return tide__str_cmp((struct str){held->bytes.data, held->bytes.len}, column->str[row]);
    }
    return 0;
}

int tide__held_cmp(const struct held *a, const struct held *b, enum physical physical) {
    switch (physical) {
    case PHYSICAL_BOOL:
    case PHYSICAL_I64: return COMPARE(a->i64, b->i64);
    case PHYSICAL_F64: return COMPARE(a->f64, b->f64);
    case PHYSICAL_I128: return COMPARE(a->i128, b->i128);
    case PHYSICAL_TIME: return compare_times(a->time, b->time);
    case PHYSICAL_STR:
        return tide__str_cmp((struct str){a->bytes.data, a->bytes.len}, (struct str){b->bytes.data, b->bytes.len});
    }
    return 0;
}

void tide__held_get(const struct held *held, struct column *column, size_t row) {
    if (!held->is_set) {
        set_null(column, row);
        return;
    }
    column->nulls[row] = 0;
    switch (column->physical) {
    case PHYSICAL_BOOL: column->bools[row] = (uint8_t)held->i64; break;
    case PHYSICAL_I64: column->i64[row] = held->i64; break;
    case PHYSICAL_F64: column->f64[row] = held->f64; break;
    case PHYSICAL_I128: column->i128[row] = held->i128; break;
    case PHYSICAL_TIME: column->time[row] = held->time; break;
    case PHYSICAL_STR: column->str[row] = (struct str){held->bytes.data, held->bytes.len}; break;
    }
}

// The value as a column of one row, over `storage` where its form differs.
union cell {
    uint8_t boolean;
    int128 i128;
    struct str str;
};

static struct column cell_column(const struct held *held, const struct type *type, union cell *cell) {
    struct column column = {.type = type, .physical = tide__type_physical(type)};
    switch (column.physical) {
    case PHYSICAL_BOOL:
        cell->boolean = (uint8_t)held->i64;
        column.data = cell;
        break;
    case PHYSICAL_STR:
        cell->str = (struct str){held->bytes.data, held->bytes.len};
        column.data = cell;
        break;
    case PHYSICAL_I128:
        cell->i128 = held->i128;
        column.data = cell;
        break;
    case PHYSICAL_I64:
    case PHYSICAL_F64:
    case PHYSICAL_TIME: column.data = (void *)(uintptr_t)held; break;
    }
    return column;
}

// Writes one length byte and corrects it afterwards: nearly all values are shorter than 128 bytes.
void tide__held_encode(const struct held *held, const struct type *type, enum held_form form, struct strbuf *out) {
    if (!held->is_set) {
        field_put_varint(out, 0);
        return;
    }
    if (form == HELD_EXACT && type->kind != TYPE_NULL && tide__type_physical(type) == PHYSICAL_F64) {
        field_put_bytes(out, &held->f64, sizeof held->f64);
        return;
    }
    union cell cell;
    struct column column = cell_column(held, type, &cell);
    size_t start = out->len;
    tide__strbuf_append_char(out, 0);
    tide__key_append_value(&column, 0, out);
    size_t len = out->len - start - 1;
    if (len < 0x80) {
        out->data[start] = (char)len;
        return;
    }
    struct strbuf value = {0};
    tide__strbuf_append(&value, out->data + start + 1, len);
    out->len = start;
    field_put_bytes(out, value.data, value.len);
    tide__strbuf_deinit(&value);
}

bool tide__held_decode(struct held *held, const struct type *type, enum held_form form, struct str *value,
                       int64_t *charge) {
    struct str bytes;
    if (!field_get_bytes(value, &bytes)) return false;
    if (bytes.len == 0) return true;
    enum physical physical = tide__type_physical(type);
    if (form == HELD_EXACT && physical == PHYSICAL_F64) {
        held->is_set = 1;
        return field_get_f64(&bytes, &held->f64) && bytes.len == 0;
    }
    union cell cell = {0};
    uint8_t null = 0;
    struct timestamp time = {0, 0};
    struct column column = {.type = type, .physical = physical, .nulls = &null};
    column.data = physical == PHYSICAL_TIME ? (void *)&time : (void *)&cell;
    struct arena arena;
    tide__arena_init(&arena);
    bool ok = tide__key_decode(&bytes, &arena, &column, 0) && bytes.len == 0 && !null;
    if (ok) tide__held_set(held, &column, 0, charge);
    tide__arena_deinit(&arena);
    return ok;
}

void tide__held_release(struct held *held, enum physical physical) {
    if (physical == PHYSICAL_STR) tide__free(held->bytes.data);
    *held = (struct held){0};
}
