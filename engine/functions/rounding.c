// ABS, SIGN, FLOOR, CEIL, ROUND, TRUNCATE: they keep the kind of number.
//
// Flink rounds a DOUBLE by its shortest decimal text, half away from zero: ROUND(0.125, 2) is 0.13 and ROUND(1.005,
// 2) is 1.01.
#include "engine/expr/kernel.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

#include "base/checked.h"

#include <math.h>

static double sign_of(double d) {
    return isnan(d) || d == 0 ? d : d > 0 ? 1.0 : -1.0;
}

static void put_integer(struct column *out, size_t row, int128 v) {
    if (out->type->kind == TYPE_DECIMAL) {
        tide__put_decimal(out, row, v);
    } else {
        out->i64[row] = tide__wrap_integer(out->type->kind, (int64_t)v);
    }
}

static tide_status run_abs(struct eval_context *ctx, const struct expr *call, const struct column *args,
                           struct selection rows, struct column *out, tide_error *err) {
    if (out->physical == PHYSICAL_F64) {
        EACH_ROW(rows, i, out->f64[i] = fabs(args[0].f64[i]););
    } else {
        EACH_ROW(rows, i, int128 v = tide__decimal_at(&args[0], i); put_integer(out, i, v < 0 ? -v : v););
    }
    return TIDE_OK;
}

static tide_status run_sign(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    if (out->physical == PHYSICAL_F64) {
        EACH_ROW(rows, i, out->f64[i] = sign_of(args[0].f64[i]););
        return TIDE_OK;
    }
    int128 one = tide__pow10(tide__decimal_scale(call->type));
    EACH_ROW(rows, i, int128 v = tide__decimal_at(&args[0], i); put_integer(out, i, v > 0 ? one : v < 0 ? -one : 0););
    return TIDE_OK;
}

static tide_status run_floor_or_ceil(const struct column *arg, struct selection rows, bool up, struct column *out) {
    if (out->physical == PHYSICAL_F64) {
        EACH_ROW(rows, i, out->f64[i] = up ? ceil(arg->f64[i]) : floor(arg->f64[i]););
        return TIDE_OK;
    }
    int128 unit = tide__pow10(tide__decimal_scale(arg->type));
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int128 v = tide__decimal_at(arg, i);
        int128 whole = v / unit;
        int128 rest = v % unit;
        if (up && rest > 0) whole++;
        if (!up && rest < 0) whole--;
        put_integer(out, i, whole);
    }
    return TIDE_OK;
}

static tide_status run_floor(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    return run_floor_or_ceil(&args[0], rows, false, out);
}

static tide_status run_ceil(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    return run_floor_or_ceil(&args[0], rows, true, out);
}

// --- ROUND and TRUNCATE --------------------------------------------------------------------------------------------

// v with `from` fraction digits to `to` (perhaps negative), as an integer with max(to, 0) of them. False: overflow.
static bool round_unscaled(int128 v, int from, int to, bool cut, int128 *out) {
    int drop = from - to;
    if (drop <= 0) return *out = v, true;
    if (drop > 38) return *out = 0, true;
    int128 unit = tide__pow10(drop), whole = v / unit, rest = v % unit;
    if (!cut && (rest < 0 ? -rest : rest) >= unit - unit / 2) whole += v < 0 ? -1 : 1;
    if (to >= 0) return *out = whole, true;
    return tide__decimal_mul(whole, 0, tide__pow10(-to), 0, 0, out);
}

static double round_double(double d, int to, bool cut) {
    if (!isfinite(d) || d == 0 || to > 30) return d;
    struct strbuf text = {0};
    tide__double_print(d, &text);
    int128 v = 0, rounded = 0;
    int scale = 0;
    bool ok = false;
    // The most fraction digits with which the number still fits 38 digits.
    for (scale = 37; scale >= 0 && !ok; scale--) ok = tide__decimal_parse(tide__strbuf_str(&text), 38, scale, &v);
    scale++;
    tide__strbuf_deinit(&text);
    if (!ok || scale <= to || to < -38) return to < -38 ? 0 : d;
    if (!round_unscaled(v, scale, to, cut, &rounded)) return d;
    return tide__decimal_to_double(rounded, to > 0 ? to : 0);
}

static int digits_at(const struct expr *call, const struct column *args, size_t row) {
    int64_t n = call->arg_count > 1 ? args[1].i64[row] : 0;
    return n > 1000 ? 1000 : n < -1000 ? -1000 : (int)n;
}

static tide_status round_rows(const struct expr *call, const struct column *args, struct selection rows, bool cut,
                              struct column *out) {
    if (out->physical == PHYSICAL_F64) {
        bool is_float = call->type->kind == TYPE_FLOAT;
        EACH_ROW(rows, i, double d = round_double(args[0].f64[i], digits_at(call, args, i), cut);
                 out->f64[i] = is_float ? (float)d : d;);
        return TIDE_OK;
    }
    int from = tide__decimal_scale(args[0].type), to_scale = tide__decimal_scale(call->type);
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int digits = digits_at(call, args, i);
        int128 v = 0;
        int to = digits > from ? from : digits;
        bool ok = round_unscaled(tide__decimal_at(&args[0], i), from, to, cut, &v) &&
                  tide__decimal_rescale(v, to > 0 ? to : 0, to_scale, &v);
        if (ok) {
            put_integer(out, i, v);
        } else {
            tide__put_null(out, i);
        }
    }
    return TIDE_OK;
}

static tide_status run_round(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    return round_rows(call, args, rows, false, out);
}

static tide_status run_truncate(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    return round_rows(call, args, rows, true, out);
}

// --- types ---------------------------------------------------------------------------------------------------------

static tide_status infer_same(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "N", err));
    tide__infer_result_like(ctx, call, call->args[0]->type, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_whole(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(infer_same(ctx, call, err));
    if (call->type->kind == TYPE_DECIMAL) {
        tide__infer_result_sized(ctx, call, TYPE_DECIMAL, call->type->nullable, call->type->precision, 0);
    }
    return TIDE_OK;
}

static tide_status infer_round(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "NI", err));
    const struct type *type = call->args[0]->type;
    bool nullable = tide__infer_any_nullable(call);
    int64_t digits = 0;
    bool literal = call->arg_count == 1 || tide__infer_constant_integer(ctx, call->args[1], &digits);
    if (type->kind != TYPE_DECIMAL || !literal || digits >= type->scale) {
        tide__infer_result_like(ctx, call, type, nullable);
        return TIDE_OK;
    }
    int scale = digits < 0 ? 0 : (int)digits, precision = 1 + type->precision - type->scale + scale;
    tide__infer_result_sized(ctx, call, TYPE_DECIMAL, nullable,
                             precision > DECIMAL_PRECISION_MAX ? DECIMAL_PRECISION_MAX : precision, scale);
    return TIDE_OK;
}

static const struct function_kernel kernel_abs = {.null_if_any = true, .total = true, .run = run_abs};
static const struct function_kernel kernel_sign = {.null_if_any = true, .total = true, .run = run_sign};
static const struct function_kernel kernel_floor = {.null_if_any = true, .total = true, .run = run_floor};
static const struct function_kernel kernel_ceil = {.null_if_any = true, .total = true, .run = run_ceil};
static const struct function_kernel kernel_round = {.null_if_any = true, .run = run_round};
static const struct function_kernel kernel_truncate = {.null_if_any = true, .run = run_truncate};

#define ONE_NUMBER(symbol, sql, infer_, kernel_, summary_, example_, result_)                                          \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 1,                                                                                                  \
        .arg_max = 1,                                                                                                  \
        .infer = infer_,                                                                                               \
        .kernel = &kernel_,                                                                                            \
        .signature = sql "(number)",                                                                                   \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
ONE_NUMBER(abs, "ABS", infer_same, kernel_abs, "The number without its sign.", "ABS(-3)", "3");
ONE_NUMBER(sign, "SIGN", infer_same, kernel_sign, "-1, 0 or 1.", "SIGN(-2.5)", "-1.0");
ONE_NUMBER(floor, "FLOOR", infer_whole, kernel_floor, "The next whole number below.", "FLOOR(-2.5)", "-3");
ONE_NUMBER(ceil, "CEIL", infer_whole, kernel_ceil, "The next whole number above.", "CEIL(2.1)", "3");
ONE_NUMBER(ceiling, "CEILING", infer_whole, kernel_ceil, "The next whole number above.", "CEILING(2.1)", "3");
const struct function tide__fn_round = {
    .name = "ROUND",
    .arg_min = 1,
    .arg_max = 2,
    .infer = infer_round,
    .kernel = &kernel_round,
    .signature = "ROUND(number[, digits])",
    .summary = "Rounds to digits behind the point, half away from zero.",
    .example = "ROUND(2.345, 2)",
    .example_result = "2.35",
};
const struct function tide__fn_truncate = {
    .name = "TRUNCATE",
    .arg_min = 1,
    .arg_max = 2,
    .infer = infer_round,
    .kernel = &kernel_truncate,
    .signature = "TRUNCATE(number[, digits])",
    .summary = "Cuts to digits behind the point.",
    .example = "TRUNCATE(42.345, 2)",
    .example_result = "42.34",
};
