// Making, slicing and gathering batches. See engine/batch.h.
//
// A slice shares the buffers of its batch; a gather copies the values but never the bytes of strings, which live as
// long as the batch that was gathered from.
#include "engine/batch.h"

#include <assert.h>
#include <string.h>

void tide__column_init(struct column *column, const struct type *type, size_t rows, int nullable, struct arena *arena) {
    column->type = type;
    column->physical = tide__type_physical(type);
    column->nulls = nullable ? tide__arena_zalloc(arena, rows) : NULL;
    column->data = tide__arena_alloc(arena, rows * tide__physical_size(column->physical));
}

struct batch tide__batch_slice(const struct batch *batch, size_t from, size_t count, struct arena *arena) {
    assert(from <= batch->rows && count <= batch->rows - from);
    struct batch slice = {.rows = count, .column_count = batch->column_count};
    slice.columns = tide__arena_alloc(arena, batch->column_count * sizeof(struct column));
    slice.kinds = batch->kinds == NULL ? NULL : batch->kinds + from;
    for (size_t i = 0; i < batch->column_count; i++) {
        struct column *column = &slice.columns[i];
        *column = batch->columns[i];
        column->data = (char *)column->data + from * tide__physical_size(column->physical);
        if (column->nulls != NULL) column->nulls += from;
    }
    return slice;
}

#define GATHER(member)                                                                                                 \
    do {                                                                                                               \
        for (size_t i = 0; i < count; i++) out->member[i] = column->member[rows[i]];                                   \
    } while (0)

void tide__column_gather(const struct column *column, const uint32_t *rows, size_t count, struct arena *arena,
                         struct column *out) {
    tide__column_init(out, column->type, count, column->nulls != NULL, arena);
    if (column->nulls != NULL) GATHER(nulls);
    switch (column->physical) {
    case PHYSICAL_BOOL: GATHER(bools); break;
    case PHYSICAL_I64: GATHER(i64); break;
    case PHYSICAL_F64: GATHER(f64); break;
    case PHYSICAL_I128: GATHER(i128); break;
    case PHYSICAL_STR: GATHER(str); break;
    case PHYSICAL_TIME: GATHER(time); break;
    }
}

struct batch tide__batch_gather(const struct batch *batch, const uint32_t *rows, size_t count, struct arena *arena) {
    struct batch out = {.rows = count, .column_count = batch->column_count};
    out.columns = tide__arena_alloc(arena, batch->column_count * sizeof(struct column));
    for (size_t i = 0; i < batch->column_count; i++) {
        tide__column_gather(&batch->columns[i], rows, count, arena, &out.columns[i]);
    }
    if (batch->kinds != NULL) {
        uint8_t *kinds = tide__arena_alloc(arena, count);
        for (size_t i = 0; i < count; i++) kinds[i] = batch->kinds[rows[i]];
        out.kinds = kinds;
    }
    return out;
}
