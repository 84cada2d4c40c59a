// Evaluating expressions over batches.
#ifndef TIDE_ENGINE_EXPR_EVAL_H
#define TIDE_ENGINE_EXPR_EVAL_H

#include "base/error.h"
#include "engine/batch.h"
#include "engine/plan.h"

// What expressions may look at besides their input. One a thread; nothing in it is shared.
struct eval_context {
    const struct zone *zone;
    int64_t watermark;      // CURRENT_WATERMARK; WATERMARK_NONE: NULL
    int64_t now_ms;         // of CURRENT_TIMESTAMP and friends: the query's start in batch mode, else the row's
    struct arena *scratch;  // intermediates; reset by the caller between batches
};

// Computes expr for all rows of `batch` into *out. Columns of the input are passed by pointer, not copied. Memory
// comes from `ctx->scratch`. A failing row (division by zero, bad CAST) gives TIDE_ERR_RUNTIME at the expression's
// place.
tide_status tide__eval(struct eval_context *ctx, const struct expr *expr, const struct batch *batch, struct column *out,
                       tide_error *err) TIDE_CHECKED;
// Rows for which the condition is TRUE: indexes, ascending, in scratch.
tide_status tide__eval_filter(struct eval_context *ctx, const struct expr *condition, const struct batch *batch,
                              uint32_t **out_rows, size_t *out_count, tide_error *err) TIDE_CHECKED;

// --- for kernels ---------------------------------------------------------------------------------------------------

// Rows [0, n) of `rows` are computed, or 0..n-1 if `rows` is NULL; results stand at the row's own index. Lazy
// kernels get the call and evaluate their arguments themselves, for as few rows as SQL demands (CASE, AND,
// COALESCE).
struct selection {
    const uint32_t *rows;
    size_t n;
};
struct function_kernel {
    // A row is NULL as soon as one argument is: the caller does that and gives the kernel the other rows only, or,
    // if it is `total`, all rows. A kernel may set more rows to NULL: `out` always has a nulls array.
    bool null_if_any;
    // No input makes it fail, and it is cheap: it may be run for rows whose value is not wanted.
    bool total;
    tide_status (*run)(struct eval_context *ctx, const struct expr *call, const struct column *args,
                       struct selection rows, struct column *out, tide_error *err);
    tide_status (*run_lazy)(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                            struct selection rows, struct column *out, tide_error *err);
};
tide_status tide__eval_selected(struct eval_context *ctx, const struct expr *expr, const struct batch *batch,
                                struct selection rows, struct column *out, tide_error *err) TIDE_CHECKED;

// Flink's display of one value, as its SQL client prints it (NULL is the caller's business at top level). Instants
// are shown in `zone` (NULL: UTC).
void tide__value_display_in_zone(const struct column *column, size_t row, const struct zone *zone, struct strbuf *out);
void tide__value_display(const struct column *column, size_t row, struct strbuf *out);
// What CAST(value AS STRING) gives: as above, but the bytes of BINARY themselves.
void tide__value_text(const struct column *column, size_t row, const struct zone *zone, struct strbuf *out);

#endif
