// = <> < <= > >=, IS [NOT] DISTINCT FROM, IN, GREATEST, LEAST.
//
// Numbers of all kinds compare with each other, strings by their bytes, times of different precision; a string
// compares with a date or time by being read as one. Strings and numbers do not compare, except in an IN list.
#include "engine/functions/compare.h"

#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

// --- kernels -------------------------------------------------------------------------------------------------------

#define COMPARE_CASES(A, B)                                                                                            \
    switch (op) {                                                                                                      \
    case COMPARE_EQ: EACH_ROW(rows, i, out[i] = (A) == (B);); break;                                                   \
    case COMPARE_NE: EACH_ROW(rows, i, out[i] = (A) != (B);); break;                                                   \
    case COMPARE_LT: EACH_ROW(rows, i, out[i] = (A) < (B);); break;                                                    \
    case COMPARE_LE: EACH_ROW(rows, i, out[i] = (A) <= (B);); break;                                                   \
    case COMPARE_GT: EACH_ROW(rows, i, out[i] = (A) > (B);); break;                                                    \
    case COMPARE_GE: EACH_ROW(rows, i, out[i] = (A) >= (B);); break;                                                   \
    }

static bool str_equal(struct str a, struct str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static void compare_strings(const struct str *a, const struct str *b, enum compare_op op, struct selection rows,
                            uint8_t *out) {
    if (op == COMPARE_EQ) {
        EACH_ROW(rows, i, out[i] = str_equal(a[i], b[i]););
    } else if (op == COMPARE_NE) {
        EACH_ROW(rows, i, out[i] = !str_equal(a[i], b[i]););
    } else {
        COMPARE_CASES(tide__str_cmp(a[i], b[i]), 0)
    }
}

static int timestamp_cmp(struct timestamp a, struct timestamp b) {
    if (a.ms != b.ms) return a.ms < b.ms ? -1 : 1;
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos;
}

void tide__compare(const struct column *a, const struct column *b, enum compare_op op, struct selection rows,
                   uint8_t *out) {
    int a_scale = tide__decimal_scale(a->type), b_scale = tide__decimal_scale(b->type);
    if (a->physical == PHYSICAL_STR) {
        compare_strings(a->str, b->str, op, rows, out);
    } else if (a->physical == PHYSICAL_BOOL) {
        COMPARE_CASES(a->bools[i], b->bools[i])
    } else if (a->physical == PHYSICAL_F64 || b->physical == PHYSICAL_F64) {
        COMPARE_CASES(tide__double_at(a, i), tide__double_at(b, i))
    } else if (a->physical == PHYSICAL_TIME || b->physical == PHYSICAL_TIME) {
        COMPARE_CASES(timestamp_cmp(tide__timestamp_at(a, i), tide__timestamp_at(b, i)), 0)
    } else if (a_scale != b_scale) {
        COMPARE_CASES(tide__decimal_cmp(tide__decimal_at(a, i), a_scale, tide__decimal_at(b, i), b_scale), 0)
    } else if (a->physical == PHYSICAL_I128 || b->physical == PHYSICAL_I128) {
        COMPARE_CASES(tide__decimal_at(a, i), tide__decimal_at(b, i))
    } else {
        const int64_t *x = a->i64, *y = b->i64;
        COMPARE_CASES(x[i], y[i])
    }
}

#define KERNEL(name, op)                                                                                               \
    static tide_status name(struct eval_context *ctx, const struct expr *call, const struct column *args,              \
                            struct selection rows, struct column *out, tide_error *err) {                              \
        tide__compare(&args[0], &args[1], op, rows, out->bools);                                                       \
        return TIDE_OK;                                                                                                \
    }
KERNEL(run_eq, COMPARE_EQ)
KERNEL(run_ne, COMPARE_NE)
KERNEL(run_lt, COMPARE_LT)
KERNEL(run_le, COMPARE_LE)
KERNEL(run_gt, COMPARE_GT)
KERNEL(run_ge, COMPARE_GE)

static void distinct(const struct column *args, struct selection rows, struct column *out) {
    // Rows with a NULL hold initialised values, so comparing them is harmless.
    tide__compare(&args[0], &args[1], COMPARE_NE, rows, out->bools);
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        bool a = tide__column_is_null(&args[0], i);
        bool b = tide__column_is_null(&args[1], i);
        if (a || b) out->bools[i] = a != b;
    }
}

static tide_status run_distinct(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    distinct(args, rows, out);
    return TIDE_OK;
}

static tide_status run_not_distinct(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                    struct selection rows, struct column *out, tide_error *err) {
    distinct(args, rows, out);
    EACH_ROW(rows, i, out->bools[i] = !out->bools[i];);
    return TIDE_OK;
}

// TRUE if an element is equal, else NULL if one is NULL, else FALSE.
static tide_status run_in(struct eval_context *ctx, const struct expr *call, const struct column *args,
                          struct selection rows, struct column *out, tide_error *err) {
    uint8_t *equal = NULL;
    size_t slots = 0;
    EACH_ROW(rows, i, slots = i + 1 > slots ? i + 1 : slots; out->bools[i] = 0;);
    equal = tide__arena_alloc(ctx->scratch, slots);
    for (uint32_t a = 1; a < call->arg_count; a++) {
        tide__compare(&args[0], &args[a], COMPARE_EQ, rows, equal);
        if (args[a].nulls == NULL) {
            EACH_ROW(rows, i, out->bools[i] |= equal[i];);
        } else {
            EACH_ROW(rows, i, out->bools[i] |= equal[i] & !args[a].nulls[i]; out->nulls[i] |= args[a].nulls[i];);
        }
    }
    EACH_ROW(rows, i, out->nulls[i] = tide__column_is_null(&args[0], i) || (out->nulls[i] && !out->bools[i]););
    return TIDE_OK;
}

static tide_status pick_extreme(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, enum compare_op op, struct column *out) {
    size_t slots = 0;
    EACH_ROW(rows, i, slots = i + 1 > slots ? i + 1 : slots;);
    uint8_t *better = tide__arena_alloc(ctx->scratch, slots);
    tide__column_copy(&args[0], rows, out);
    for (uint32_t a = 1; a < call->arg_count; a++) {
        tide__compare(&args[a], out, op, rows, better);
        tide__column_copy(&args[a], tide__select(ctx, rows, better, 1), out);
    }
    return TIDE_OK;
}

static tide_status run_greatest(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    return pick_extreme(ctx, call, args, rows, COMPARE_GT, out);
}

static tide_status run_least(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    return pick_extreme(ctx, call, args, rows, COMPARE_LT, out);
}

// --- types ---------------------------------------------------------------------------------------------------------

static bool is_time(const struct type *type) {
    return tide__type_is_timestamp(type) || type->kind == TYPE_DATE || type->kind == TYPE_TIME;
}

static bool is_bytes(const struct type *type) {
    return type->kind == TYPE_BINARY || type->kind == TYPE_VARBINARY;
}

// Both as they are.
static bool comparable(const struct type *a, const struct type *b) {
    if (tide__type_is_numeric(a)) return tide__type_is_numeric(b);
    if (tide__type_is_string(a)) return tide__type_is_string(b);
    if (is_bytes(a)) return is_bytes(b);
    if (a->child_count > 0) return tide__type_same(a, b);
    return a->kind == b->kind;
}

static tide_status cannot_compare(struct infer_context *ctx, struct expr *call, const struct type *a,
                                  const struct type *b, tide_error *err) {
    bool mixed = (tide__type_is_string(a) && tide__type_is_numeric(b)) ||
                 (tide__type_is_numeric(a) && tide__type_is_string(b));
    tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "cannot compare %s with %s by %s",
                  tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, a, true)),
                  tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, b, true)), call->function->name);
    if (mixed) {
        return tide__fail_hint(err, "strings and numbers are not converted silently: write CAST(... AS ...)");
    }
    return tide__fail_hint(err, "CAST one side to the other's type");
}

// A string beside a date or a time is read as one. A literal that is none is found now.
static tide_status read_as_time(struct infer_context *ctx, struct expr *call, uint32_t i, const struct type *type,
                                tide_error *err) {
    struct expr *arg = call->args[i];
    const struct type *to = tide__type_with_nullable(ctx->arena, type, true);
    TIDE_TRY(tide__expr_cast_explicit(ctx, arg, to, false, arg->pos, &call->args[i], err));
    struct value value;
    tide_error why;
    tide__error_clear(&why);
    if (arg->kind != EXPR_LITERAL || tide__expr_constant(ctx, call->args[i], &value, &why) == TIDE_OK) return TIDE_OK;
    return tide__fail_at(err, TIDE_ERR_VALIDATE, arg->pos, "the string is no %s", tide__type_text(ctx->arena, to));
}

// Rows, arrays and maps compare if their parts have a common type.
static tide_status coerce_nested(struct infer_context *ctx, struct expr *call, uint32_t i, uint32_t j,
                                 tide_error *err) {
    const struct type *pair[] = {call->args[i]->type, call->args[j]->type};
    const struct type *common = NULL;
    if (pair[0]->kind != pair[1]->kind || !tide__type_common(ctx->arena, pair, 2, &common))
        return cannot_compare(ctx, call, pair[0], pair[1], err);
    TIDE_TRY(tide__infer_cast(ctx, call, i, *common, err));
    return tide__infer_cast(ctx, call, j, *common, err);
}

tide_status tide__compare_coerce(struct infer_context *ctx, struct expr *call, uint32_t i, uint32_t j,
                                 tide_error *err) {
    struct type a = *call->args[i]->type, b = *call->args[j]->type;
    if (a.kind == TYPE_NULL && b.kind == TYPE_NULL) a = tide__type_make(TYPE_INT, true);
    if (a.kind == TYPE_NULL) return tide__infer_cast(ctx, call, i, b, err);
    if (b.kind == TYPE_NULL) {
        TIDE_TRY(tide__infer_cast(ctx, call, i, a, err));
        return tide__infer_cast(ctx, call, j, a, err);
    }
    if (comparable(&a, &b)) return TIDE_OK;
    if (tide__type_is_string(&a) && is_time(&b)) return read_as_time(ctx, call, i, &b, err);
    if (is_time(&a) && tide__type_is_string(&b)) return read_as_time(ctx, call, j, &a, err);
    if (a.child_count > 0 && b.child_count > 0) return coerce_nested(ctx, call, i, j, err);
    if (!tide__type_is_timestamp(&a) || !tide__type_is_timestamp(&b)) return cannot_compare(ctx, call, &a, &b, err);
    const struct type *pair[] = {&a, &b};
    const struct type *common = NULL;
    if (!tide__type_common(ctx->arena, pair, 2, &common)) return cannot_compare(ctx, call, &a, &b, err);
    TIDE_TRY(tide__infer_cast(ctx, call, i, *common, err));
    return tide__infer_cast(ctx, call, j, *common, err);
}

static tide_status infer_compare(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__compare_coerce(ctx, call, 0, 1, err));
    bool ordered = call->function->name[0] != '=' && strcmp(call->function->name, "<>") != 0;
    if (ordered && call->args[0]->type->child_count > 0) {
        return cannot_compare(ctx, call, call->args[0]->type, call->args[1]->type, err);
    }
    tide__infer_result(ctx, call, TYPE_BOOLEAN, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_distinct(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__compare_coerce(ctx, call, 0, 1, err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, false);
    return TIDE_OK;
}

// Strings and numbers mix here: the strings are read as numbers.
static tide_status infer_in(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *number = NULL;
    for (uint32_t i = 0; i < call->arg_count && number == NULL; i++) {
        if (tide__type_is_numeric(call->args[i]->type)) number = call->args[i]->type;
    }
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (number != NULL && tide__type_is_string(call->args[i]->type)) {
            TIDE_TRY(tide__infer_cast(ctx, call, i, *number, err));
        }
    }
    for (uint32_t i = 1; i < call->arg_count; i++) TIDE_TRY(tide__compare_coerce(ctx, call, 0, i, err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_extreme(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *common = NULL;
    TIDE_TRY(tide__infer_common(ctx, call, 0, 1, &common, err));
    if (common->child_count > 0 || common->kind == TYPE_NULL) return tide__infer_fail(ctx, call, err);
    tide__infer_result_like(ctx, call, common, common->nullable);
    return TIDE_OK;
}

static const struct function_kernel kernel_eq = {.null_if_any = true, .total = true, .run = run_eq};
static const struct function_kernel kernel_ne = {.null_if_any = true, .total = true, .run = run_ne};
static const struct function_kernel kernel_lt = {.null_if_any = true, .total = true, .run = run_lt};
static const struct function_kernel kernel_le = {.null_if_any = true, .total = true, .run = run_le};
static const struct function_kernel kernel_gt = {.null_if_any = true, .total = true, .run = run_gt};
static const struct function_kernel kernel_ge = {.null_if_any = true, .total = true, .run = run_ge};
static const struct function_kernel kernel_distinct = {.total = true, .run = run_distinct};
static const struct function_kernel kernel_not_distinct = {.total = true, .run = run_not_distinct};
static const struct function_kernel kernel_in = {.total = true, .run = run_in};
static const struct function_kernel kernel_greatest = {.null_if_any = true, .run = run_greatest};
static const struct function_kernel kernel_least = {.null_if_any = true, .run = run_least};

#define COMPARISON(symbol, sql, kernel_, infer_, signature_, summary_, example_, result_)                              \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 2,                                                                                                  \
        .arg_max = 2,                                                                                                  \
        .infer = infer_,                                                                                               \
        .kernel = kernel_,                                                                                             \
        .signature = signature_,                                                                                       \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
COMPARISON(eq, "=", &kernel_eq, infer_compare, "value = value", "Equal.", "1 = 1.0", "TRUE");
COMPARISON(ne, "<>", &kernel_ne, infer_compare, "value <> value", "Not equal.", "'a' <> 'b'", "TRUE");
COMPARISON(lt, "<", &kernel_lt, infer_compare, "value < value", "Less.", "1 < 2", "TRUE");
COMPARISON(le, "<=", &kernel_le, infer_compare, "value <= value", "Less or equal.", "2 <= 1", "FALSE");
COMPARISON(gt, ">", &kernel_gt, infer_compare, "value > value", "Greater.", "2 > 1", "TRUE");
COMPARISON(ge, ">=", &kernel_ge, infer_compare, "value >= value", "Greater or equal.", "1 >= 1", "TRUE");
COMPARISON(is_distinct, "IS DISTINCT FROM", &kernel_distinct, infer_distinct, "value IS DISTINCT FROM value",
           "Not equal, where NULL equals NULL.", "1 IS DISTINCT FROM NULL", "TRUE");
COMPARISON(is_not_distinct, "IS NOT DISTINCT FROM", &kernel_not_distinct, infer_distinct,
           "value IS NOT DISTINCT FROM value", "Equal, where NULL equals NULL.", "1 IS NOT DISTINCT FROM 1", "TRUE");
const struct function tide__fn_in = {
    .name = "IN",
    .arg_min = 2,
    .arg_max = UINT8_MAX,
    .infer = infer_in,
    .kernel = &kernel_in,
    .signature = "value IN (value, ...)",
    .summary = "Equal to one of the values.",
    .example = "2 IN (1, 2)",
    .example_result = "TRUE",
};
const struct function tide__fn_greatest = {
    .name = "GREATEST",
    .arg_min = 1,
    .arg_max = UINT8_MAX,
    .infer = infer_extreme,
    .kernel = &kernel_greatest,
    .signature = "GREATEST(value, ...)",
    .summary = "The greatest value; NULL if one is NULL.",
    .example = "GREATEST(1, 3, 2)",
    .example_result = "3",
};
const struct function tide__fn_least = {
    .name = "LEAST",
    .arg_min = 1,
    .arg_max = UINT8_MAX,
    .infer = infer_extreme,
    .kernel = &kernel_least,
    .signature = "LEAST(value, ...)",
    .summary = "The least value; NULL if one is NULL.",
    .example = "LEAST(1, 3, 2)",
    .example_result = "1",
};
