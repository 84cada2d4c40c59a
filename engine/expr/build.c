// Making and comparing expressions. Types of calls come from the functions' infer.
#include "engine/expr/eval.h"

#include "base/zone.h"
#include "engine/expr/kernel.h"
#include "engine/functions/cast.h"

#include <assert.h>
#include <time.h>

struct expr *tide__expr_column(struct arena *arena, uint32_t column, const struct type *type, struct source_pos pos) {
    struct expr *expr = ARENA_NEW(arena, struct expr);
    expr->kind = EXPR_COLUMN;
    expr->pos = pos;
    expr->type = type;
    expr->column = column;
    return expr;
}

struct expr *tide__expr_literal(struct arena *arena, struct value value, const struct type *type,
                                struct source_pos pos) {
    struct expr *expr = ARENA_NEW(arena, struct expr);
    expr->kind = EXPR_LITERAL;
    expr->pos = pos;
    expr->type = type;
    expr->literal = value;
    return expr;
}

static tide_status check_arg_count(const struct function *function, uint32_t arg_count, struct source_pos pos,
                                   tide_error *err) {
    if (arg_count >= function->arg_min && (function->arg_max == UINT8_MAX || arg_count <= function->arg_max)) {
        return TIDE_OK;
    }
    if (function->arg_min == function->arg_max) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, pos, "%s takes %u argument%s, not %u", function->name, function->arg_min,
                      function->arg_min == 1 ? "" : "s", arg_count);
    } else if (function->arg_max == UINT8_MAX) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, pos, "%s takes at least %u argument%s, not %u", function->name,
                      function->arg_min, function->arg_min == 1 ? "" : "s", arg_count);
    } else {
        tide__fail_at(err, TIDE_ERR_VALIDATE, pos, "%s takes %u to %u arguments, not %u", function->name,
                      function->arg_min, function->arg_max, arg_count);
    }
    return tide__fail_hint(err, "its form is %s", function->signature);
}

tide_status tide__expr_call(struct infer_context *ctx, const char *name, struct expr **args, uint32_t arg_count,
                            struct source_pos pos, struct expr **out, tide_error *err) {
    // *out may be one of the arguments, so it is written last.
    const struct function *function = tide__function_find(tide__str(name));
    if (function == NULL) {
        size_t count = 0;
        const char *const *names = tide__function_names(&count);
        const char *near = tide__nearest(tide__str(name), names, count);
        tide__fail_at(err, TIDE_ERR_VALIDATE, pos, "there is no function %s", name);
        if (near != NULL) return tide__fail_hint(err, "did you mean %s?", near);
        return TIDE_ERR_VALIDATE;
    }
    TIDE_TRY(check_arg_count(function, arg_count, pos, err));
    struct expr *call = ARENA_NEW(ctx->arena, struct expr);
    call->kind = EXPR_CALL;
    call->pos = pos;
    call->function = function;
    call->arg_count = arg_count;
    // A copy: inference wraps arguments in casts.
    call->args = ARENA_ARRAY(ctx->arena, struct expr *, arg_count);
    for (uint32_t i = 0; i < arg_count; i++) call->args[i] = args[i];
    TIDE_TRY(function->infer(ctx, call, err));
    assert(call->type != NULL);
    *out = call;
    return TIDE_OK;
}

static struct value value_at(const struct column *column, size_t row, struct arena *arena) {
    struct value v = {.is_null = tide__column_is_null(column, row)};
    if (v.is_null) return v;
    switch (column->physical) {
    case PHYSICAL_BOOL: v.boolean = column->bools[row]; break;
    case PHYSICAL_I64: v.i64 = column->i64[row]; break;
    case PHYSICAL_F64: v.f64 = column->f64[row]; break;
    case PHYSICAL_I128: v.i128 = column->i128[row]; break;
    case PHYSICAL_TIME: v.time = column->time[row]; break;
    case PHYSICAL_STR: v.str = tide__str_copy(arena, column->str[row].data, column->str[row].len); break;
    }
    return v;
}

static bool has_column(const struct expr *expr) {
    if (expr->kind == EXPR_COLUMN) return true;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (has_column(expr->args[i])) return true;
    }
    return false;
}

tide_status tide__expr_constant(struct infer_context *ctx, const struct expr *expr, struct value *out,
                                tide_error *err) {
    if (has_column(expr)) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, expr->pos, "this must be a constant");
    }
    if (expr->kind == EXPR_LITERAL) {
        *out = expr->literal;
        return TIDE_OK;
    }
    struct arena scratch;
    tide__arena_init(&scratch);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct eval_context eval = {.zone = ctx->zone, .watermark = INT64_MIN, .scratch = &scratch};
    eval.now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    struct batch batch = {.rows = 1};
    struct column column;
    tide_status status = tide__eval(&eval, expr, &batch, &column, err);
    if (status == TIDE_OK) *out = value_at(&column, 0, ctx->arena);
    tide__arena_deinit(&scratch);
    return status;
}

static bool values_equal(const struct value *a, const struct value *b, enum physical physical) {
    if (a->is_null || b->is_null) return a->is_null == b->is_null;
    switch (physical) {
    case PHYSICAL_BOOL: return a->boolean == b->boolean;
    case PHYSICAL_I64: return a->i64 == b->i64;
    case PHYSICAL_F64: return memcmp(&a->f64, &b->f64, sizeof a->f64) == 0;
    case PHYSICAL_I128: return a->i128 == b->i128;
    case PHYSICAL_TIME: return a->time.ms == b->time.ms && a->time.nanos == b->time.nanos;
    case PHYSICAL_STR: return tide__str_eq(a->str, b->str);
    }
    return false;
}

bool tide__expr_equal(const struct expr *a, const struct expr *b) {
    if (a == b) return true;
    if (a == NULL || b == NULL || a->kind != b->kind || !tide__type_same(a->type, b->type)) return false;
    switch (a->kind) {
    case EXPR_COLUMN: return a->column == b->column;
    case EXPR_LITERAL: return values_equal(&a->literal, &b->literal, tide__type_physical(a->type));
    case EXPR_CALL: break;
    }
    if (a->function != b->function || a->arg_count != b->arg_count) return false;
    for (uint32_t i = 0; i < a->arg_count; i++) {
        if (!tide__expr_equal(a->args[i], b->args[i])) return false;
    }
    return true;
}
