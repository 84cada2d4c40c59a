// + - * / % and unary minus: on numbers, intervals, and dates with intervals.
//
// Flink's result types: the wider integer, which wraps; DECIMAL by the SQL rules, cut to 38 digits, NULL on
// overflow; FLOAT and DOUBLE take the left operand's type; a FLOAT with a DECIMAL is DOUBLE. A division by zero of
// exact numbers fails the job.
#include "engine/expr/kernel.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/temporal.h"

#include "base/checked.h"
#include "base/time.h"

#include <math.h>

enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO };

// --- kernels -------------------------------------------------------------------------------------------------------

static int integer_bits(enum type_kind kind) {
    switch (kind) {
    case TYPE_TINYINT: return 8;
    case TYPE_SMALLINT: return 16;
    case TYPE_INT:
    case TYPE_INTERVAL_MONTHS: return 32;
    default: return 64;
    }
}

// Wraps to the type by shifting, which vectorises.
#define INTEGER_LOOP(expression)                                                                                       \
    EACH_ROW(rows, i, int64_t v = (expression); out->i64[i] = (int64_t)((uint64_t)v << shift) >> shift;)

static tide_status zero_division(const struct expr *call, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "division by zero");
    return tide__fail_hint(err, "guard it, for example with NULLIF(divisor, 0)");
}

static tide_status run_integer(enum operation op, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    const int64_t *a = args[0].i64, *b = args[1].i64;
    int shift = 64 - integer_bits(call->type->kind);
    switch (op) {
    case ADD: INTEGER_LOOP(tide__wrapping_add(a[i], b[i])); return TIDE_OK;
    case SUBTRACT: INTEGER_LOOP(tide__wrapping_sub(a[i], b[i])); return TIDE_OK;
    case MULTIPLY: INTEGER_LOOP(tide__wrapping_mul(a[i], b[i])); return TIDE_OK;
    case DIVIDE:
    case MODULO: break;
    }
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        if (b[i] == 0) return zero_division(call, err);
    }
    if (op == DIVIDE) {
        INTEGER_LOOP(b[i] == -1 ? tide__wrapping_sub(0, a[i]) : a[i] / b[i]);
    } else {
        INTEGER_LOOP(b[i] == -1 ? 0 : a[i] % b[i]);
    }
    return TIDE_OK;
}

static double double_result(enum operation op, double a, double b) {
    switch (op) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case MODULO: return fmod(a, b);
    }
    return NAN;
}

#define DOUBLE_LOOP(operator) EACH_ROW(rows, i, out->f64[i] = a[i] operator b[i];)

static tide_status run_double(enum operation op, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out) {
    if (call->type->kind == TYPE_FLOAT) {
        for (size_t nth = 0; nth < rows.n; nth++) {
            size_t i = tide__row_at(rows, nth);
            float a = (float)tide__double_at(&args[0], i);
            float b = (float)tide__double_at(&args[1], i);
            out->f64[i] = (float)double_result(op, a, b);
        }
        return TIDE_OK;
    }
    bool plain = args[0].physical == PHYSICAL_F64 && args[1].physical == PHYSICAL_F64 && op != MODULO;
    if (!plain) {
        EACH_ROW(rows, i, out->f64[i] = double_result(op, tide__double_at(&args[0], i), tide__double_at(&args[1], i)););
        return TIDE_OK;
    }
    const double *a = args[0].f64, *b = args[1].f64;
    switch (op) {
    case ADD: DOUBLE_LOOP(+); break;
    case SUBTRACT: DOUBLE_LOOP(-); break;
    case MULTIPLY: DOUBLE_LOOP(*); break;
    case DIVIDE:
    case MODULO: DOUBLE_LOOP(/); break;
    }
    return TIDE_OK;
}

static bool decimal_result(enum operation op, int128 a, int a_scale, int128 b, int b_scale, int scale, int128 *v) {
    switch (op) {
    case ADD: return tide__decimal_add(a, a_scale, b, b_scale, scale, v);
    case SUBTRACT: return tide__decimal_sub(a, a_scale, b, b_scale, scale, v);
    case MULTIPLY: return tide__decimal_mul(a, a_scale, b, b_scale, scale, v);
    case DIVIDE: return tide__decimal_div(a, a_scale, b, b_scale, scale, v);
    case MODULO: return tide__decimal_mod(a, a_scale, b, b_scale, scale, v);
    }
    return false;
}

static tide_status run_decimal(enum operation op, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    int a_scale = tide__decimal_scale(args[0].type), b_scale = tide__decimal_scale(args[1].type);
    int scale = call->type->scale;
    // The result type of up to 18 digits holds every sum and product of its operands.
    bool small = args[0].physical == PHYSICAL_I64 && args[1].physical == PHYSICAL_I64 && out->physical == PHYSICAL_I64;
    if (small && op <= MULTIPLY) {
        const int64_t *a = args[0].i64, *b = args[1].i64;
        int64_t a_unit = (int64_t)tide__pow10(op == MULTIPLY ? 0 : scale - a_scale);
        int64_t b_unit = (int64_t)tide__pow10(op == MULTIPLY ? 0 : scale - b_scale);
        switch (op) {
        case ADD: EACH_ROW(rows, i, out->i64[i] = a[i] * a_unit + b[i] * b_unit;); break;
        case SUBTRACT: EACH_ROW(rows, i, out->i64[i] = a[i] * a_unit - b[i] * b_unit;); break;
        default: EACH_ROW(rows, i, out->i64[i] = tide__wrapping_mul(a[i], b[i]);); break;
        }
        return TIDE_OK;
    }
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int128 a = tide__decimal_at(&args[0], i);
        int128 b = tide__decimal_at(&args[1], i);
        int128 v = 0;
        if (op >= DIVIDE && b == 0) return zero_division(call, err);
        if (decimal_result(op, a, a_scale, b, b_scale, scale, &v)) {
            tide__put_decimal(out, i, v);
        } else {
            tide__put_null(out, i);
        }
    }
    return TIDE_OK;
}

// A date, time or timestamp (first argument) plus or minus an interval.
static tide_status run_time(enum operation op, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out) {
    int sign = op == SUBTRACT ? -1 : 1;
    bool months = args[1].type->kind == TYPE_INTERVAL_MONTHS;
    enum type_kind from = args[0].type->kind, to = call->type->kind;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int64_t by = sign * args[1].i64[i];
        struct timestamp t = {0, 0};
        if (from == TYPE_TIME) {
            out->i64[i] = months ? args[0].i64[i] : tide__floor_mod(args[0].i64[i] + by, MILLIS_PER_DAY);
        } else if (to == TYPE_DATE) {
            int64_t days = args[0].i64[i];
            out->i64[i] = months ? tide__add_months(days, by) : days + by / MILLIS_PER_DAY;
        } else {
            if (from == TYPE_DATE) {
                t.ms = args[0].i64[i] * MILLIS_PER_DAY;
            } else {
                t = tide__timestamp_at(&args[0], i);
            }
            t.ms = months ? tide__add_months_millis(t.ms, by) : tide__wrapping_add(t.ms, by);
            tide__put_timestamp(out, i, t);
        }
    }
    return TIDE_OK;
}

static tide_status run(enum operation op, const struct expr *call, const struct column *args, struct selection rows,
                       struct column *out, tide_error *err) {
    switch (call->type->kind) {
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return run_double(op, call, args, rows, out);
    case TYPE_DECIMAL: return run_decimal(op, call, args, rows, out, err);
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: return run_time(op, call, args, rows, out);
    default: return run_integer(op, call, args, rows, out, err);
    }
}

#define KERNEL(name, op)                                                                                               \
    static tide_status name(struct eval_context *ctx, const struct expr *call, const struct column *args,              \
                            struct selection rows, struct column *out, tide_error *err) {                              \
        return run(op, call, args, rows, out, err);                                                                    \
    }
KERNEL(run_add, ADD)
KERNEL(run_subtract, SUBTRACT)
KERNEL(run_multiply, MULTIPLY)
KERNEL(run_divide, DIVIDE)
KERNEL(run_modulo, MODULO)

static tide_status run_negate(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    int shift = 64 - integer_bits(call->type->kind);
    switch (out->physical) {
    case PHYSICAL_F64: EACH_ROW(rows, i, out->f64[i] = -args[0].f64[i];); break;
    case PHYSICAL_I128: EACH_ROW(rows, i, out->i128[i] = -args[0].i128[i];); break;
    default: INTEGER_LOOP(tide__wrapping_sub(0, args[0].i64[i])); break;
    }
    return TIDE_OK;
}

// --- types ---------------------------------------------------------------------------------------------------------

static int max_int(int a, int b) {
    return a > b ? a : b;
}

static int min_int(int a, int b) {
    return a < b ? a : b;
}

// Flink keeps the digits before the point and cuts the scale, but not below 6.
static void set_decimal(struct infer_context *ctx, struct expr *call, int precision, int scale) {
    if (precision > DECIMAL_PRECISION_MAX) {
        int digits = precision - scale;
        scale = max_int(DECIMAL_PRECISION_MAX - digits, min_int(scale, 6));
        precision = DECIMAL_PRECISION_MAX;
    }
    tide__infer_result_sized(ctx, call, TYPE_DECIMAL, tide__infer_any_nullable(call), precision, scale);
}

static void infer_decimal(struct infer_context *ctx, struct expr *call, enum operation op) {
    const struct type *a = call->args[0]->type, *b = call->args[1]->type;
    int p1 = tide__decimal_precision(a), s1 = tide__decimal_scale(a);
    int p2 = tide__decimal_precision(b), s2 = tide__decimal_scale(b);
    int scale = max_int(s1, s2);
    switch (op) {
    case ADD:
    case SUBTRACT: set_decimal(ctx, call, max_int(p1 - s1, p2 - s2) + scale + 1, scale); break;
    case MULTIPLY: set_decimal(ctx, call, p1 + p2 + 1, s1 + s2); break;
    case DIVIDE:
        scale = max_int(6, s1 + p2 + 1);
        set_decimal(ctx, call, p1 - s1 + s2 + scale, scale);
        break;
    case MODULO: set_decimal(ctx, call, min_int(p1 - s1, p2 - s2) + scale, scale); break;
    }
}

static bool is_float(const struct type *type) {
    return type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE;
}

static void infer_number(struct infer_context *ctx, struct expr *call, enum operation op) {
    const struct type *a = call->args[0]->type, *b = call->args[1]->type;
    bool nullable = tide__infer_any_nullable(call);
    if (is_float(a) || is_float(b)) {
        enum type_kind kind = is_float(a) ? a->kind : b->kind;
        if (a->kind == TYPE_DECIMAL || b->kind == TYPE_DECIMAL) kind = TYPE_DOUBLE;
        tide__infer_result(ctx, call, kind, nullable);
    } else if (a->kind == TYPE_DECIMAL || b->kind == TYPE_DECIMAL) {
        infer_decimal(ctx, call, op);
    } else if (op == MODULO) {
        tide__infer_result(ctx, call, b->kind, nullable);
    } else {
        tide__infer_result(ctx, call, a->kind > b->kind ? a->kind : b->kind, nullable);
    }
}

// A DATE stays one: it moves by the whole days of an interval.
static void infer_time(struct infer_context *ctx, struct expr *call) {
    tide__infer_result_like(ctx, call, call->args[0]->type, tide__infer_any_nullable(call));
}

static bool is_time(const struct type *type) {
    return tide__type_is_timestamp(type) || type->kind == TYPE_DATE || type->kind == TYPE_TIME;
}

// A bare NULL is refused, as by Flink.
static tide_status type_nulls(struct infer_context *ctx, struct expr *call, tide_error *err) {
    for (uint32_t i = 0; i < 2; i++) {
        if (call->args[i]->type->kind != TYPE_NULL) continue;
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[i]->pos, "%s takes no NULL of no type", call->function->name);
        return tide__fail_hint(err, "write CAST(NULL AS INT), or whatever type it has");
    }
    return TIDE_OK;
}

static tide_status infer(struct infer_context *ctx, struct expr *call, enum operation op, tide_error *err) {
    TIDE_TRY(type_nulls(ctx, call, err));
    const struct type *a = call->args[0]->type, *b = call->args[1]->type;
    if (op == MODULO && (is_float(a) || is_float(b))) return tide__infer_fail(ctx, call, err);
    if (tide__type_is_numeric(a) && tide__type_is_numeric(b)) {
        infer_number(ctx, call, op);
        return TIDE_OK;
    }
    bool sum = op == ADD || op == SUBTRACT;
    if (sum && tide__type_is_interval(a) && a->kind == b->kind) {
        tide__infer_result_like(ctx, call, a, tide__infer_any_nullable(call));
        return TIDE_OK;
    }
    if (op == ADD && tide__type_is_interval(a) && is_time(b)) {
        struct expr *time = call->args[1];
        call->args[1] = call->args[0];
        call->args[0] = time;
        infer_time(ctx, call);
        return TIDE_OK;
    }
    if (sum && is_time(a) && tide__type_is_interval(b)) {
        infer_time(ctx, call);
        return TIDE_OK;
    }
    bool scaled = tide__type_is_interval(a) && tide__type_is_integer(b) && op == MULTIPLY;
    if (scaled || (op == MULTIPLY && tide__type_is_integer(a) && tide__type_is_interval(b))) {
        tide__infer_result_like(ctx, call, tide__type_is_interval(a) ? a : b, tide__infer_any_nullable(call));
        return TIDE_OK;
    }
    return tide__infer_fail(ctx, call, err);
}

#define INFER(name, op)                                                                                                \
    static tide_status name(struct infer_context *ctx, struct expr *call, tide_error *err) {                           \
        return infer(ctx, call, op, err);                                                                              \
    }
INFER(infer_add, ADD)
INFER(infer_subtract, SUBTRACT)
INFER(infer_multiply, MULTIPLY)
INFER(infer_divide, DIVIDE)
INFER(infer_modulo, MODULO)

static tide_status infer_negate(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *type = call->args[0]->type;
    if (!tide__type_is_numeric(type) && !tide__type_is_interval(type)) {
        return tide__infer_fail(ctx, call, err);
    }
    struct expr *arg = call->args[0];
    if (arg->kind == EXPR_LITERAL && arg->type->kind == TYPE_DOUBLE && arg->literal.f64 == 0 && !arg->literal.is_null) {
        *call = *arg;  // a literal has no negative zero
        return TIDE_OK;
    }
    tide__infer_result_like(ctx, call, call->args[0]->type, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static const struct function_kernel kernel_add = {.null_if_any = true, .total = true, .run = run_add};
static const struct function_kernel kernel_subtract = {.null_if_any = true, .total = true, .run = run_subtract};
static const struct function_kernel kernel_multiply = {.null_if_any = true, .total = true, .run = run_multiply};
static const struct function_kernel kernel_divide = {.null_if_any = true, .run = run_divide};
static const struct function_kernel kernel_modulo = {.null_if_any = true, .run = run_modulo};
static const struct function_kernel kernel_negate = {.null_if_any = true, .total = true, .run = run_negate};

const struct function tide__fn_add = {
    .name = "+",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_add,
    .kernel = &kernel_add,
    .signature = "number + number, time + INTERVAL, INTERVAL + INTERVAL",
    .summary = "Adds; integers wrap on overflow.",
    .example = "1 + 2.5",
    .example_result = "3.5",
};
const struct function tide__fn_subtract = {
    .name = "-",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_subtract,
    .kernel = &kernel_subtract,
    .signature = "number - number, time - INTERVAL, INTERVAL - INTERVAL",
    .summary = "Subtracts; integers wrap on overflow.",
    .example = "1 - 2",
    .example_result = "-1",
};
const struct function tide__fn_multiply = {
    .name = "*",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_multiply,
    .kernel = &kernel_multiply,
    .signature = "number * number, INTERVAL * integer",
    .summary = "Multiplies; integers wrap on overflow.",
    .example = "1.5 * 3",
    .example_result = "4.5",
};
const struct function tide__fn_divide = {
    .name = "/",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_divide,
    .kernel = &kernel_divide,
    .signature = "number / number, INTERVAL / integer",
    .summary = "Divides; integers truncate toward zero, and zero as divisor fails the job unless it is a DOUBLE.",
    .example = "-7 / 2",
    .example_result = "-3",
};
const struct function tide__fn_percent = {
    .name = "%",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_modulo,
    .kernel = &kernel_modulo,
    .signature = "number % number",
    .summary = "The remainder, with the sign of the dividend.",
    .example = "-7 % 3",
    .example_result = "-1",
};
const struct function tide__fn_mod = {
    .name = "MOD",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_modulo,
    .kernel = &kernel_modulo,
    .signature = "MOD(number, number)",
    .summary = "The remainder, with the sign of the dividend.",
    .example = "MOD(-7, 3)",
    .example_result = "-1",
};
const struct function tide__fn_negate = {
    .name = "NEGATE",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_negate,
    .kernel = &kernel_negate,
    .signature = "-number, -INTERVAL",
    .summary = "Changes the sign.",
    .example = "-(2.5)",
    .example_result = "-2.5",
};
