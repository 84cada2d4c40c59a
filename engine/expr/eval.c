// Evaluating expressions column by column.
//
// Every intermediate column has one slot for each row of the batch, whatever the selection: values stand at the
// row's own index, so that columns of the input and intermediates mix freely. Rows outside of a selection are
// undefined.
#include "engine/expr/eval.h"

#include "engine/expr/kernel.h"

#include <assert.h>
#include <time.h>

static void fill_literal(const struct expr *expr, size_t batch_rows, struct selection rows, struct arena *arena,
                         struct column *out) {
    tide__column_init(out, expr->type, batch_rows, expr->literal.is_null, arena);
    if (expr->literal.is_null) {
        memset(out->nulls, 1, batch_rows);
        memset(out->data, 0, batch_rows * tide__physical_size(out->physical));
        return;
    }
    const struct value *v = &expr->literal;
    switch (out->physical) {
    case PHYSICAL_BOOL: EACH_ROW(rows, i, out->bools[i] = v->boolean;); break;
    case PHYSICAL_I64: EACH_ROW(rows, i, out->i64[i] = v->i64;); break;
    case PHYSICAL_F64: EACH_ROW(rows, i, out->f64[i] = v->f64;); break;
    case PHYSICAL_I128: EACH_ROW(rows, i, out->i128[i] = v->i128;); break;
    case PHYSICAL_STR: EACH_ROW(rows, i, out->str[i] = v->str;); break;
    case PHYSICAL_TIME: EACH_ROW(rows, i, out->time[i] = v->time;); break;
    }
}

// ORs the arguments' NULLs into `nulls`; true if there is one.
static bool merge_nulls(const struct column *args, uint32_t arg_count, struct selection rows, uint8_t *nulls) {
    uint8_t any = 0;
    for (uint32_t a = 0; a < arg_count; a++) {
        const uint8_t *from = args[a].nulls;
        if (from == NULL) continue;
        EACH_ROW(rows, i, nulls[i] |= from[i]; any |= from[i];);
    }
    return any != 0;
}

struct selection tide__select(struct eval_context *ctx, struct selection rows, const uint8_t *flags, uint8_t wanted) {
    uint32_t *picked = tide__arena_alloc(ctx->scratch, (rows.n + 1) * sizeof *picked);
    size_t n = 0;
    EACH_ROW(rows, i, picked[n] = (uint32_t)i; n += flags[i] == wanted;);
    return (struct selection){picked, n};
}

tide_status tide__eval_strict(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                              struct selection rows, tide__kernel_run *run, bool total, struct column *out,
                              tide_error *err) {
    struct column *args = tide__arena_alloc(ctx->scratch, call->arg_count * sizeof *args);
    for (uint32_t a = 0; a < call->arg_count; a++) {
        TIDE_TRY(tide__eval_selected(ctx, call->args[a], batch, rows, &args[a], err));
    }
    tide__column_init(out, call->type, batch->rows, 1, ctx->scratch);
    if (merge_nulls(args, call->arg_count, rows, out->nulls)) {
        if (total) {
            EACH_ROW(rows, i, if (out->nulls[i]) tide__put_null(out, i););
        } else {
            struct selection all = rows;
            rows = tide__select(ctx, all, out->nulls, 0);
            EACH_ROW(all, i, if (out->nulls[i]) tide__put_null(out, i););
        }
    }
    if (rows.n == 0) return TIDE_OK;
    return run(ctx, call, args, rows, out, err);
}

static tide_status eval_call(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                             struct selection rows, struct column *out, tide_error *err) {
    const struct function_kernel *kernel = call->function->kernel;
    if (kernel->run_lazy != NULL) return kernel->run_lazy(ctx, call, batch, rows, out, err);
    if (kernel->null_if_any) {
        return tide__eval_strict(ctx, call, batch, rows, kernel->run, kernel->total, out, err);
    }
    struct column *args = tide__arena_alloc(ctx->scratch, call->arg_count * sizeof *args);
    for (uint32_t a = 0; a < call->arg_count; a++) {
        TIDE_TRY(tide__eval_selected(ctx, call->args[a], batch, rows, &args[a], err));
    }
    tide__column_init(out, call->type, batch->rows, 1, ctx->scratch);
    if (rows.n == 0) return TIDE_OK;
    return kernel->run(ctx, call, args, rows, out, err);
}

tide_status tide__eval_selected(struct eval_context *ctx, const struct expr *expr, const struct batch *batch,
                                struct selection rows, struct column *out, tide_error *err) {
    switch (expr->kind) {
    case EXPR_COLUMN:
        assert(expr->column < batch->column_count);
        *out = batch->columns[expr->column];
        assert(out->physical == tide__type_physical(expr->type));
        return TIDE_OK;
    case EXPR_LITERAL: fill_literal(expr, batch->rows, rows, ctx->scratch, out); return TIDE_OK;
    case EXPR_CALL: return eval_call(ctx, expr, batch, rows, out, err);
    }
    return tide__fail(err, TIDE_ERR_RUNTIME, "unknown kind of expression %d", (int)expr->kind);
}

tide_status tide__eval(struct eval_context *ctx, const struct expr *expr, const struct batch *batch, struct column *out,
                       tide_error *err) {
    return tide__eval_selected(ctx, expr, batch, (struct selection){NULL, batch->rows}, out, err);
}

tide_status tide__eval_filter(struct eval_context *ctx, const struct expr *condition, const struct batch *batch,
                              uint32_t **out_rows, size_t *out_count, tide_error *err) {
    struct column flags;
    TIDE_TRY(tide__eval(ctx, condition, batch, &flags, err));
    uint32_t *rows = tide__arena_alloc(ctx->scratch, (batch->rows + 1) * sizeof *rows);
    size_t n = 0;
    if (flags.nulls == NULL) {
        for (size_t i = 0; i < batch->rows; i++) {
            rows[n] = (uint32_t)i;
            n += flags.bools[i] != 0;
        }
    } else {
        for (size_t i = 0; i < batch->rows; i++) {
            rows[n] = (uint32_t)i;
            n += flags.bools[i] != 0 && !flags.nulls[i];
        }
    }
    *out_rows = rows;
    *out_count = n;
    return TIDE_OK;
}

bool tide__expr_is_total(const struct expr *expr) {
    if (expr->kind != EXPR_CALL) return true;
    if (!expr->function->kernel->total) return false;
    for (uint32_t a = 0; a < expr->arg_count; a++) {
        if (!tide__expr_is_total(expr->args[a])) return false;
    }
    return true;
}

void tide__column_copy(const struct column *from, struct selection rows, struct column *out) {
    assert(from->physical == out->physical);
    if (from->nulls == NULL) {
        EACH_ROW(rows, i, out->nulls[i] = 0;);
    } else {
        EACH_ROW(rows, i, out->nulls[i] = from->nulls[i];);
    }
    switch (out->physical) {
    case PHYSICAL_BOOL: EACH_ROW(rows, i, out->bools[i] = from->bools[i];); break;
    case PHYSICAL_I64: EACH_ROW(rows, i, out->i64[i] = from->i64[i];); break;
    case PHYSICAL_F64: EACH_ROW(rows, i, out->f64[i] = from->f64[i];); break;
    case PHYSICAL_I128: EACH_ROW(rows, i, out->i128[i] = from->i128[i];); break;
    case PHYSICAL_STR: EACH_ROW(rows, i, out->str[i] = from->str[i];); break;
    case PHYSICAL_TIME: EACH_ROW(rows, i, out->time[i] = from->time[i];); break;
    }
}

int64_t tide__eval_now(const struct eval_context *ctx) {
    if (ctx->now_ms != 0) return ctx->now_ms;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
