// AND, OR, NOT and the IS tests: SQL's three-valued logic.
//
// AND and OR go from left to right and evaluate an argument only for the rows that are not decided yet, so that
// `b <> 0 AND a / b > 1` never fails. Arguments that can't fail are computed for all rows, which is faster.
#include "engine/expr/kernel.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

// In `state` a row is 0, 1 or 2 for FALSE, TRUE and NULL.
enum { FALSE_VALUE = 0, TRUE_VALUE = 1, NULL_VALUE = 2 };

static void merge(const struct column *value, struct selection rows, uint8_t decided, uint8_t *state) {
    EACH_ROW(rows, i, uint8_t v = tide__column_is_null(value, i) ? NULL_VALUE : value->bools[i] != 0;
             // The deciding value wins, then NULL, then the other one.
             if (state[i] != decided) state[i] = v == decided || state[i] != NULL_VALUE ? v : NULL_VALUE;);
}

static tide_status eval_chain(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                              struct selection rows, uint8_t decided, struct column *out, tide_error *err) {
    uint8_t *state = tide__arena_alloc(ctx->scratch, batch->rows);
    memset(state, !decided, batch->rows);
    for (uint32_t a = 0; a < call->arg_count; a++) {
        struct selection open = rows;
        if (a > 0 && !tide__expr_is_total(call->args[a])) {
            uint8_t *flags = tide__arena_alloc(ctx->scratch, batch->rows);
            EACH_ROW(rows, i, flags[i] = state[i] != decided;);
            open = tide__select(ctx, rows, flags, 1);
            if (open.n == rows.n) open = rows;
        }
        if (open.n == 0) break;
        struct column value;
        TIDE_TRY(tide__eval_selected(ctx, call->args[a], batch, open, &value, err));
        merge(&value, open, decided, state);
    }
    tide__column_init(out, call->type, batch->rows, 1, ctx->scratch);
    EACH_ROW(rows, i, out->nulls[i] = state[i] == NULL_VALUE; out->bools[i] = state[i] == TRUE_VALUE;);
    return TIDE_OK;
}

static tide_status eval_and(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                            struct selection rows, struct column *out, tide_error *err) {
    return eval_chain(ctx, call, batch, rows, FALSE_VALUE, out, err);
}

static tide_status eval_or(struct eval_context *ctx, const struct expr *call, const struct batch *batch,
                           struct selection rows, struct column *out, tide_error *err) {
    return eval_chain(ctx, call, batch, rows, TRUE_VALUE, out, err);
}

static tide_status run_not(struct eval_context *ctx, const struct expr *call, const struct column *args,
                           struct selection rows, struct column *out, tide_error *err) {
    EACH_ROW(rows, i, out->bools[i] = !args[0].bools[i];);
    return TIDE_OK;
}

#define TEST(name, condition)                                                                                          \
    static tide_status name(struct eval_context *ctx, const struct expr *call, const struct column *args,              \
                            struct selection rows, struct column *out, tide_error *err) {                              \
        const struct column *arg = &args[0];                                                                           \
        EACH_ROW(rows, i, bool null = tide__column_is_null(arg, i); out->bools[i] = (condition););                     \
        return TIDE_OK;                                                                                                \
    }
TEST(run_is_null, null)
TEST(run_is_not_null, !null)
TEST(run_is_true, !null && arg->bools[i])
TEST(run_is_not_true, null || !arg->bools[i])
TEST(run_is_false, !null && !arg->bools[i])
TEST(run_is_not_false, null || arg->bools[i])

static tide_status infer_logic(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "B*", err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_test(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "B", err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, false);
    return TIDE_OK;
}

static tide_status infer_null_test(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "A", err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, false);
    return TIDE_OK;
}

static const struct function_kernel kernel_and = {.total = true, .run_lazy = eval_and};
static const struct function_kernel kernel_or = {.total = true, .run_lazy = eval_or};
static const struct function_kernel kernel_not = {.null_if_any = true, .total = true, .run = run_not};
static const struct function_kernel kernel_is_null = {.total = true, .run = run_is_null};
static const struct function_kernel kernel_is_not_null = {.total = true, .run = run_is_not_null};
static const struct function_kernel kernel_is_true = {.total = true, .run = run_is_true};
static const struct function_kernel kernel_is_not_true = {.total = true, .run = run_is_not_true};
static const struct function_kernel kernel_is_false = {.total = true, .run = run_is_false};
static const struct function_kernel kernel_is_not_false = {.total = true, .run = run_is_not_false};

#define CHAIN(symbol, sql, summary_, example_, result_)                                                                \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 2,                                                                                                  \
        .arg_max = UINT8_MAX,                                                                                          \
        .infer = infer_logic,                                                                                          \
        .kernel = &kernel_##symbol,                                                                                    \
        .signature = "BOOLEAN " sql " BOOLEAN",                                                                        \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
#define TESTER(symbol, infer_, kernel_, sql, summary_, example_, result_)                                              \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 1,                                                                                                  \
        .arg_max = 1,                                                                                                  \
        .infer = infer_,                                                                                               \
        .kernel = &kernel_,                                                                                            \
        .signature = "value " sql,                                                                                     \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
CHAIN(and, "AND", "Both; NULL if that depends on a NULL.", "TRUE AND FALSE", "FALSE");
CHAIN(or, "OR", "One or both; NULL if that depends on a NULL.", "FALSE OR TRUE", "TRUE");
const struct function tide__fn_not = {
    .name = "NOT",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_logic,
    .kernel = &kernel_not,
    .signature = "NOT BOOLEAN",
    .summary = "The opposite; NULL stays NULL.",
    .example = "NOT TRUE",
    .example_result = "FALSE",
};
TESTER(is_null, infer_null_test, kernel_is_null, "IS NULL", "Whether there is no value.", "NULL IS NULL", "TRUE");
TESTER(is_not_null, infer_null_test, kernel_is_not_null, "IS NOT NULL", "Whether there is a value.", "1 IS NOT NULL",
       "TRUE");
TESTER(is_true, infer_test, kernel_is_true, "IS TRUE", "TRUE, and neither FALSE nor NULL.", "(1 = 1) IS TRUE", "TRUE");
TESTER(is_not_true, infer_test, kernel_is_not_true, "IS NOT TRUE", "FALSE or NULL.", "(1 = 1) IS NOT TRUE", "FALSE");
TESTER(is_false, infer_test, kernel_is_false, "IS FALSE", "FALSE, and neither TRUE nor NULL.", "(1 = 2) IS FALSE",
       "TRUE");
TESTER(is_not_false, infer_test, kernel_is_not_false, "IS NOT FALSE", "TRUE or NULL.", "(1 = 2) IS NOT FALSE", "FALSE");
TESTER(is_unknown, infer_test, kernel_is_null, "IS UNKNOWN", "Whether a BOOLEAN is NULL.",
       "CAST(NULL AS BOOLEAN) IS UNKNOWN", "TRUE");
TESTER(is_not_unknown, infer_test, kernel_is_not_null, "IS NOT UNKNOWN", "Whether a BOOLEAN is TRUE or FALSE.",
       "TRUE IS NOT UNKNOWN", "TRUE");
