// What kernels share: loops over a selection, readers of values in their logical meaning, writing NULL and strings.
#ifndef TIDE_ENGINE_EXPR_KERNEL_H
#define TIDE_ENGINE_EXPR_KERNEL_H

#include "engine/expr/eval.h"

#include "base/decimal.h"

#include <string.h>

// The nth selected row.
static inline size_t tide__row_at(struct selection rows, size_t nth) {
    return rows.rows == NULL ? nth : rows.rows[nth];
}

// Runs a short statement for each selected row `i`. Two loops, so that the one without a selection can be vectorised.
#define EACH_ROW(rows_, i, ...)                                                                                        \
    do {                                                                                                               \
        if ((rows_).rows == NULL) {                                                                                    \
            for (size_t i = 0; i < (rows_).n; i++) {                                                                   \
                __VA_ARGS__                                                                                            \
            }                                                                                                          \
        } else {                                                                                                       \
            for (size_t at_ = 0; at_ < (rows_).n; at_++) {                                                             \
                size_t i = (rows_).rows[at_];                                                                          \
                __VA_ARGS__                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

// The unscaled value of a DECIMAL or integer column.
static inline int128 tide__decimal_at(const struct column *column, size_t row) {
    return column->physical == PHYSICAL_I128 ? column->i128[row] : column->i64[row];
}

static inline int tide__decimal_scale(const struct type *type) {
    return type->kind == TYPE_DECIMAL ? type->scale : 0;
}

// Digits of an integer type as DECIMAL.
static inline int tide__decimal_precision(const struct type *type) {
    switch (type->kind) {
    case TYPE_TINYINT: return 3;
    case TYPE_SMALLINT: return 5;
    case TYPE_INT: return 10;
    case TYPE_BIGINT: return 19;
    default: return type->precision;
    }
}

// Any number as a double.
static inline double tide__double_at(const struct column *column, size_t row) {
    switch (column->physical) {
    case PHYSICAL_F64: return column->f64[row];
    case PHYSICAL_I128: return tide__decimal_to_double(column->i128[row], column->type->scale);
    default: break;
    }
    if (column->type->kind == TYPE_DECIMAL) return tide__decimal_to_double(column->i64[row], column->type->scale);
    return (double)column->i64[row];
}

// A TIMESTAMP of either form.
static inline struct timestamp tide__timestamp_at(const struct column *column, size_t row) {
    if (column->physical == PHYSICAL_TIME) return column->time[row];
    return (struct timestamp){column->i64[row], 0};
}

static inline int64_t tide__millis_at(const struct column *column, size_t row) {
    return column->physical == PHYSICAL_TIME ? column->time[row].ms : column->i64[row];
}

static inline void tide__put_timestamp(struct column *out, size_t row, struct timestamp t) {
    if (out->physical == PHYSICAL_TIME) {
        out->time[row] = t;
    } else {
        out->i64[row] = t.ms;
    }
}

// Kernels may set NULL anywhere: the evaluator gives every call a nulls array. The value is initialised too.
static inline void tide__put_null(struct column *out, size_t row) {
    size_t size = tide__physical_size(out->physical);
    out->nulls[row] = 1;
    memset((char *)out->data + row * size, 0, size);
}

// Stores a DECIMAL result, NULL if it has more digits than the type.
static inline void tide__put_decimal(struct column *out, size_t row, int128 v) {
    if (!tide__decimal_fits(v, out->type->precision)) {
        tide__put_null(out, row);
    } else if (out->physical == PHYSICAL_I128) {
        out->i128[row] = v;
    } else {
        out->i64[row] = (int64_t)v;
    }
}

static inline struct str tide__str_copy(struct arena *arena, const char *data, size_t len) {
    char *copy = tide__arena_alloc(arena, len);
    if (len > 0) memcpy(copy, data, len);
    return (struct str){copy, len};
}

// An integer result wraps to its type as Java's does.
static inline int64_t tide__wrap_integer(enum type_kind kind, int64_t v) {
    switch (kind) {
    case TYPE_TINYINT: return (int8_t)v;
    case TYPE_SMALLINT: return (int16_t)v;
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_INTERVAL_MONTHS: return (int32_t)v;
    default: return v;
    }
}

// The query's or row's time; the machine's if the caller of the evaluation has not set one.
int64_t tide__eval_now(const struct eval_context *ctx);

// Evaluates the arguments, makes `out` with the NULLs of the arguments and hands the other rows to `run`.
typedef tide_status tide__kernel_run(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                     struct selection rows, struct column *out, tide_error *err);
tide_status tide__eval_strict(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                              struct selection rows, tide__kernel_run *run, bool total, struct column *out,
                              tide_error *err) TIDE_CHECKED;
// True if no row can make the expression fail, so that it may be computed for rows whose value is not wanted.
bool tide__expr_is_total(const struct expr *expr);
// Copies the selected rows' values and NULLs. `out` has a nulls array and the physical form of `from`.
void tide__column_copy(const struct column *from, struct selection rows, struct column *out);
// The rows of `rows` for which flags[row] is `wanted`; `out` in scratch.
struct selection tide__select(struct eval_context *ctx, struct selection rows, const uint8_t *flags, uint8_t wanted);

#endif
