// CASE, COALESCE, and what is written as one of them: IF, NULLIF, IFNULL.
//
// Each branch is evaluated only for the rows that take it.
#include "engine/expr/kernel.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

static tide_status eval_case(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                             struct selection rows, struct column *out, tide_error *err) {
    tide__column_init(out, call->type, batch->rows, 1, ctx->scratch);
    uint8_t *taken = tide__arena_alloc(ctx->scratch, batch->rows);
    struct selection open = rows;
    struct column value;
    uint32_t a = 0;
    for (; a + 1 < call->arg_count && open.n > 0; a += 2) {
        TIDE_TRY(tide__eval_selected(ctx, call->args[a], batch, open, &value, err));
        EACH_ROW(open, i, taken[i] = !tide__column_is_null(&value, i) && value.bools[i];);
        struct selection hit = tide__select(ctx, open, taken, 1);
        if (hit.n == 0) continue;
        TIDE_TRY(tide__eval_selected(ctx, call->args[a + 1], batch, hit, &value, err));
        tide__column_copy(&value, hit, out);
        open = tide__select(ctx, open, taken, 0);
    }
    if (open.n == 0) return TIDE_OK;
    TIDE_TRY(tide__eval_selected(ctx, call->args[call->arg_count - 1], batch, open, &value, err));
    tide__column_copy(&value, open, out);
    return TIDE_OK;
}

static tide_status eval_coalesce(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                                 struct selection rows, struct column *out, tide_error *err) {
    tide__column_init(out, call->type, batch->rows, 1, ctx->scratch);
    struct selection open = rows;
    for (uint32_t a = 0; a < call->arg_count && open.n > 0; a++) {
        struct column value;
        TIDE_TRY(tide__eval_selected(ctx, call->args[a], batch, open, &value, err));
        tide__column_copy(&value, open, out);
        open = tide__select(ctx, open, out->nulls, 1);
    }
    return TIDE_OK;
}

// --- types ---------------------------------------------------------------------------------------------------------

static tide_status no_common_type(struct infer_context *ctx, const struct expr *call, const struct type *a,
                                  const struct type *b, struct source_pos pos, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_VALIDATE, pos, "the results of %s have no common type: %s and %s", call->function->name,
                  tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, a, true)),
                  tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, b, true)));
    return tide__fail_hint(err, "CAST the results to one type");
}

// Casts arguments from `first` on in steps of `step`, and the last one, to their common type.
static tide_status unify(struct infer_context *ctx, struct expr *call, uint32_t first, uint32_t step,
                         const struct type **out, tide_error *err) {
    uint32_t last = call->arg_count - 1;
    *out = call->args[first]->type;
    for (uint32_t i = first + step; i <= last + step - 1; i += step) {
        const struct expr *arg = call->args[i > last ? last : i];
        const struct type *pair[] = {*out, arg->type};
        if (!tide__type_common(ctx->arena, pair, 2, out)) {
            return no_common_type(ctx, call, pair[0], pair[1], arg->pos, err);
        }
    }
    struct type common = **out;
    if (common.kind == TYPE_NULL) common = tide__type_make(TYPE_INT, true);
    *out = tide__type_copy(ctx->arena, &common);
    for (uint32_t i = first; i < last; i += step) TIDE_TRY(tide__infer_cast(ctx, call, i, common, err));
    return tide__infer_cast(ctx, call, last, common, err);
}

static tide_status infer_conditions(struct infer_context *ctx, struct expr *call, tide_error *err) {
    for (uint32_t i = 0; i + 1 < call->arg_count; i += 2) {
        const struct type *type = call->args[i]->type;
        if (type->kind == TYPE_NULL) {
            TIDE_TRY(tide__infer_cast(ctx, call, i, tide__type_make(TYPE_BOOLEAN, true), err));
        } else if (type->kind != TYPE_BOOLEAN) {
            tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[i]->pos, "a condition of %s must be BOOLEAN, not %s",
                          call->function->name, tide__type_text(ctx->arena, type));
            return tide__fail_hint(err, "compare it with a value");
        }
    }
    return TIDE_OK;
}

static tide_status infer_case(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (call->arg_count % 2 == 0) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "CASE needs pairs of conditions and results");
    }
    TIDE_TRY(infer_conditions(ctx, call, err));
    bool none = call->args[call->arg_count - 1]->type->kind == TYPE_NULL;
    for (uint32_t i = 1; i < call->arg_count; i += 2) none = none && call->args[i]->type->kind == TYPE_NULL;
    if (none) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "a CASE of nothing but NULL has no type");
        return tide__fail_hint(err, "write CAST(NULL AS INT)");
    }
    const struct type *common = NULL;
    TIDE_TRY(unify(ctx, call, 1, 2, &common, err));
    bool nullable = call->args[call->arg_count - 1]->type->nullable;
    for (uint32_t i = 1; i < call->arg_count; i += 2) nullable = nullable || call->args[i]->type->nullable;
    tide__infer_result_like(ctx, call, common, nullable);
    return TIDE_OK;
}

static tide_status infer_coalesce(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *common = NULL;
    TIDE_TRY(unify(ctx, call, 0, 1, &common, err));
    bool nullable = true;
    for (uint32_t i = 0; i < call->arg_count; i++) nullable = nullable && call->args[i]->type->nullable;
    tide__infer_result_like(ctx, call, common, nullable);
    return TIDE_OK;
}

// IF(condition, a, b) has a's type, unless both are numbers.
static tide_status infer_if(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *then = call->args[1]->type, *otherwise = call->args[2]->type;
    if (call->args[0]->type->kind == TYPE_NULL || then->kind == TYPE_NULL || otherwise->kind == TYPE_NULL) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "IF takes no NULL of no type");
        return tide__fail_hint(err, "write CAST(NULL AS STRING), or whatever type it has; or CASE");
    }
    TIDE_TRY(infer_conditions(ctx, call, err));
    bool date = then->kind == TYPE_DATE, other_date = otherwise->kind == TYPE_DATE;
    if ((date && tide__type_is_timestamp(otherwise)) || (other_date && tide__type_is_timestamp(then))) {
        return tide__infer_fail(ctx, call, err);
    }
    bool nullable = tide__infer_any_nullable(call);
    // Among FLOAT and DOUBLE, and among times, the first value's type counts.
    bool first = (tide__type_is_timestamp(then) && tide__type_is_timestamp(otherwise)) ||
                 ((then->kind == TYPE_FLOAT || then->kind == TYPE_DOUBLE) &&
                  (otherwise->kind == TYPE_FLOAT || otherwise->kind == TYPE_DOUBLE));
    if (first) TIDE_TRY(tide__infer_cast(ctx, call, 2, *then, err));
    const struct type *common = NULL;
    TIDE_TRY(unify(ctx, call, 1, 1, &common, err));
    call->function = &tide__fn_case;
    tide__infer_result_like(ctx, call, common, nullable);
    return TIDE_OK;
}

static tide_status infer_ifnull(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(infer_coalesce(ctx, call, err));
    call->function = &tide__fn_coalesce;
    return TIDE_OK;
}

// NULLIF(a, b) is CASE WHEN a = b THEN NULL ELSE a END.
static tide_status infer_nullif(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (call->args[0]->type->kind == TYPE_NULL) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "NULLIF of a NULL of no type");
        return tide__fail_hint(err, "write CAST(NULL AS INT)");
    }
    struct expr *equal = NULL, *value = call->args[0];
    TIDE_TRY(tide__expr_call(ctx, "=", call->args, 2, call->pos, &equal, err));
    const struct type *type = tide__type_with_nullable(
        ctx->arena, tide__type_without_time_attribute(ctx->arena, value->type), true);
    struct value null = {.is_null = true};
    struct expr **args = ARENA_ARRAY(ctx->arena, struct expr *, 3);
    args[0] = equal;
    args[1] = tide__expr_literal(ctx->arena, null, type, call->pos);
    args[2] = value;
    call->args = args;
    call->arg_count = 3;
    call->function = &tide__fn_case;
    return infer_case(ctx, call, err);
}

static const struct function_kernel kernel_case = {.total = true, .run_lazy = eval_case};
static const struct function_kernel kernel_coalesce = {.total = true, .run_lazy = eval_coalesce};

const struct function tide__fn_case = {
    .name = "CASE",
    .arg_min = 3,
    .arg_max = UINT8_MAX,
    .infer = infer_case,
    .kernel = &kernel_case,
    .signature = "CASE WHEN BOOLEAN THEN value ... ELSE value END",
    .summary = "The value behind the first condition that is TRUE.",
    .example = "CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END",
    .example_result = "b",
};
const struct function tide__fn_coalesce = {
    .name = "COALESCE",
    .arg_min = 1,
    .arg_max = UINT8_MAX,
    .infer = infer_coalesce,
    .kernel = &kernel_coalesce,
    .signature = "COALESCE(value, ...)",
    .summary = "The first value that is not NULL.",
    .example = "COALESCE(NULL, 5)",
    .example_result = "5",
};
const struct function tide__fn_if = {
    .name = "IF",
    .arg_min = 3,
    .arg_max = 3,
    .infer = infer_if,
    .kernel = &kernel_case,
    .signature = "IF(BOOLEAN, value, value)",
    .summary = "The first value if the condition is TRUE, else the second.",
    .example = "IF(1 > 2, 'a', 'b')",
    .example_result = "b",
};
const struct function tide__fn_ifnull = {
    .name = "IFNULL",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_ifnull,
    .kernel = &kernel_coalesce,
    .signature = "IFNULL(value, value)",
    .summary = "The second value if the first is NULL.",
    .example = "IFNULL(NULL, 5)",
    .example_result = "5",
};
const struct function tide__fn_nullif = {
    .name = "NULLIF",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_nullif,
    .kernel = &kernel_case,
    .signature = "NULLIF(value, value)",
    .summary = "NULL if both are equal, else the first.",
    .example = "NULLIF(1, 1)",
    .example_result = "<NULL>",
};
