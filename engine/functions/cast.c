// CAST and TRY_CAST: which casts there are, and the calls.
//
// A CAST call knows its target before inference (call->type). Inference looks the conversion up once and keeps it
// in `prepared`, so that evaluation is one indirect call a batch. Casts that change no value (INT to BIGINT, CHAR
// to STRING) pass the column on.
#include "engine/functions/cast.h"

#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

#include <assert.h>

static bool is_bytes(const struct type *type) {
    return type->kind == TYPE_BINARY || type->kind == TYPE_VARBINARY;
}

static bool is_time(const struct type *type) {
    return tide__type_is_timestamp(type) || type->kind == TYPE_DATE || type->kind == TYPE_TIME;
}

// The value is the same in memory.
static bool keeps_value(const struct type *from, const struct type *to) {
    if (from->kind == TYPE_NULL) return true;
    if (tide__type_same(from, to)) return true;
    if (tide__type_physical(from) != tide__type_physical(to)) return false;
    if (tide__type_is_integer(from) && tide__type_is_integer(to)) return from->kind <= to->kind;
    if (tide__type_is_string(from) && tide__type_is_string(to)) {
        return to->kind == TYPE_VARCHAR && from->precision <= to->precision;
    }
    if (is_bytes(from) && is_bytes(to)) return to->kind == TYPE_VARBINARY && from->precision <= to->precision;
    if (from->kind == TYPE_FLOAT && to->kind == TYPE_DOUBLE) return false;  // 0.1f is shown with other digits
    if (from->kind == to->kind && tide__type_is_timestamp(from)) return from->precision <= to->precision;
    if (from->kind == TYPE_DECIMAL && to->kind == TYPE_DECIMAL) {
        return from->scale == to->scale && from->precision <= to->precision;
    }
    if (from->kind == TYPE_TIME && to->kind == TYPE_TIME) return from->precision <= to->precision;
    return from->kind == to->kind && tide__type_is_interval(from);
}

bool tide__cast_find(const struct type *from, const struct type *to, cast_run **out) {
    *out = NULL;
    if (keeps_value(from, to)) return true;
    if (tide__type_is_string(to) || is_bytes(to)) {
        *out = tide__cast_to_text(from, to);
    } else if (tide__type_is_string(from)) {
        *out = tide__cast_from_text(to);
    } else if (from->child_count > 0) {
        *out = tide__cast_nested(from, to);
    } else if (is_time(from) && is_time(to)) {
        *out = tide__cast_time(from, to);
    } else {
        *out = tide__cast_number(from, to);
    }
    return *out != NULL;
}

tide_status tide__cast_failed(struct cast_job *job, size_t row) {
    if (job->is_try) {
        tide__put_null(job->out, row);
        return TIDE_OK;
    }
    struct strbuf value = {0};
    tide__value_display_in_zone(job->in, row, job->ctx->zone, &value);
    int shown = value.len > 80 ? 80 : (int)value.len;
    tide__fail_at(
        job->err, TIDE_ERR_RUNTIME, job->call->pos, "cannot cast '%.*s%s' to %s", shown,
        value.data == NULL ? "" : value.data, value.len > 80 ? "..." : "",
        tide__type_text(job->ctx->scratch, tide__type_with_nullable(job->ctx->scratch, job->out->type, true)));
    tide__strbuf_deinit(&value);
    return tide__fail_hint(job->err, "TRY_CAST gives NULL instead of failing");
}

static tide_status run_cast(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    const struct cast_plan *plan = call->prepared;
    struct cast_job job = {ctx, call, &args[0], rows, out, err, plan->is_try};
    return plan->run(&job);
}

static tide_status eval_cast(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                             struct selection rows, struct column *out, tide_error *err) {
    const struct cast_plan *plan = call->prepared;
    if (plan->run != NULL) return tide__eval_strict(ctx, call, batch, rows, run_cast, false, out, err);
    if (call->args[0]->type->kind == TYPE_NULL) {
        tide__column_init(out, call->type, batch->rows, 1, ctx->scratch);
        EACH_ROW(rows, i, tide__put_null(out, i););
        return TIDE_OK;
    }
    TIDE_TRY(tide__eval_selected(ctx, call->args[0], batch, rows, out, err));
    out->type = call->type;
    return TIDE_OK;
}

static tide_status no_cast(struct infer_context *ctx, const struct expr *call, tide_error *err) {
    const struct type *from = call->args[0]->type, *to = call->type;
    tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "there is no cast from %s to %s",
                  tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, from, true)),
                  tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, to, true)));
    if (tide__type_is_numeric(from) && tide__type_is_timestamp(to)) {
        return tide__fail_hint(err, "use TO_TIMESTAMP_LTZ(number, 3) for milliseconds since 1970, or "
                                    "TO_TIMESTAMP(FROM_UNIXTIME(number)) for seconds");
    }
    if (tide__type_is_interval(to)) return tide__fail_hint(err, "multiply: n * INTERVAL '1' DAY");
    if (tide__type_is_timestamp(from) && tide__type_is_numeric(to)) {
        return tide__fail_hint(err, "use UNIX_TIMESTAMP(CAST(timestamp AS STRING))");
    }
    return TIDE_ERR_VALIDATE;
}

static tide_status infer_cast_as(struct infer_context *ctx, struct expr *call, bool is_try, tide_error *err) {
    assert(call->type != NULL);
    const struct type *from = call->args[0]->type;
    struct type to = *call->type;
    to.nullable = from->nullable || is_try;
    to.time_attribute = TIME_ATTRIBUTE_NONE;
    call->type = tide__type_copy(ctx->arena, &to);
    cast_run *run = NULL;
    if (!tide__cast_find(from, &to, &run)) return no_cast(ctx, call, err);
    struct cast_plan *plan = ARENA_NEW(ctx->arena, struct cast_plan);
    *plan = (struct cast_plan){run, is_try, false};
    call->prepared = plan;
    return TIDE_OK;
}

static tide_status infer_cast(struct infer_context *ctx, struct expr *call, tide_error *err) {
    return infer_cast_as(ctx, call, false, err);
}

static tide_status infer_try_cast(struct infer_context *ctx, struct expr *call, tide_error *err) {
    return infer_cast_as(ctx, call, true, err);
}

static struct expr *cast_call(struct infer_context *ctx, struct expr *expr, const struct type *type, bool is_try,
                              struct source_pos pos) {
    struct expr *call = ARENA_NEW(ctx->arena, struct expr);
    call->kind = EXPR_CALL;
    call->pos = pos;
    call->type = type;
    call->function = is_try ? &tide__fn_try_cast : &tide__fn_cast;
    call->arg_count = 1;
    call->args = ARENA_ARRAY(ctx->arena, struct expr *, 1);
    call->args[0] = expr;
    return call;
}

tide_status tide__expr_cast(struct infer_context *ctx, struct expr *expr, const struct type *type, struct expr **out,
                            tide_error *err) {
    *out = expr;
    if (tide__type_same(expr->type, type)) return TIDE_OK;
    struct expr *call = cast_call(ctx, expr, type, false, expr->pos);
    TIDE_TRY(infer_cast_as(ctx, call, false, err));
    *out = call;
    if (expr->kind != EXPR_LITERAL) return TIDE_OK;
    // A literal is converted here and now; one that can't be converted fails when a row needs it.
    struct value value;
    tide_error ignored;
    tide__error_clear(&ignored);
    if (tide__expr_constant(ctx, call, &value, &ignored) == TIDE_OK) {
        *out = tide__expr_literal(ctx->arena, value, call->type, expr->pos);
    }
    return TIDE_OK;
}

tide_status tide__expr_cast_explicit(struct infer_context *ctx, struct expr *expr, const struct type *type, bool is_try,
                                     struct source_pos pos, struct expr **out, tide_error *err) {
    *out = expr;
    bool same = tide__type_same(expr->type, type) && expr->type->time_attribute == TIME_ATTRIBUTE_NONE;
    if (same && (!is_try || expr->type->nullable)) return TIDE_OK;
    struct expr *call = cast_call(ctx, expr, type, is_try, pos);
    bool interval = tide__type_is_interval(expr->type)
                        ? tide__type_is_numeric(type)
                        : tide__type_is_interval(type) && tide__type_is_numeric(expr->type);
    if (interval) return no_cast(ctx, call, err);
    TIDE_TRY(infer_cast_as(ctx, call, is_try, err));
    *out = call;
    return TIDE_OK;
}

static const struct function_kernel kernel_cast = {.run_lazy = eval_cast};

const struct function tide__fn_cast = {
    .name = "CAST",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_cast,
    .kernel = &kernel_cast,
    .signature = "CAST(value AS type)",
    .summary = "Converts a value; a text that is no such value fails the job.",
    .example = "CAST('12.9' AS INT)",
    .example_result = "12",
};
const struct function tide__fn_try_cast = {
    .name = "TRY_CAST",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_try_cast,
    .kernel = &kernel_cast,
    .signature = "TRY_CAST(value AS type)",
    .summary = "Converts a value; what can't be converted is NULL.",
    .example = "TRY_CAST('abc' AS INT)",
    .example_result = "<NULL>",
};
