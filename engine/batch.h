// A batch of rows: what flows between operators.
//
// Columns are plain arrays, one value a row in the column's physical form (base/type.h), and one byte a row for
// NULL. A byte instead of Arrow's bit costs a little memory and saves the shifting in every kernel; widening all
// integers to 64 bits means six kernels instead of fourteen. A batch is borrowed by whoever receives it: nothing may
// keep a pointer into it after the call returns. Columns not computed by an operator are passed on by pointer.
#ifndef TIDE_ENGINE_BATCH_H
#define TIDE_ENGINE_BATCH_H

#include "base/arena.h"
#include "base/type.h"

#include <stddef.h>
#include <stdint.h>

enum row_kind { ROW_INSERT, ROW_UPDATE_BEFORE, ROW_UPDATE_AFTER, ROW_DELETE };

struct column {
    const struct type *type;
    enum physical physical;  // tide__type_physical(type)
    uint8_t *nulls;          // 1: the row is NULL (its value is unspecified but initialised); NULL: no row is
    union {
        void *data;
        uint8_t *bools;
        int64_t *i64;
        double *f64;
        int128 *i128;
        struct str *str;  // bytes live as long as the batch
        struct timestamp *time;
    };
};

struct batch {
    size_t rows;
    size_t column_count;
    struct column *columns;
    const uint8_t *kinds;  // enum row_kind a row; NULL: all ROW_INSERT
};

// A column of `rows` values in the arena. With `nullable` the nulls array is there and zeroed.
void tide__column_init(struct column *column, const struct type *type, size_t rows, int nullable, struct arena *arena);
// Rows [from, from + count) of a batch as a view; only the column array is new.
struct batch tide__batch_slice(const struct batch *batch, size_t from, size_t count, struct arena *arena);
// The selected rows, copied.
struct batch tide__batch_gather(const struct batch *batch, const uint32_t *rows, size_t count, struct arena *arena);
void tide__column_gather(const struct column *column, const uint32_t *rows, size_t count, struct arena *arena,
                         struct column *out);

static inline int tide__column_is_null(const struct column *column, size_t row) {
    return column->nulls != NULL && column->nulls[row];
}

#endif
