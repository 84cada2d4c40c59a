// Functions of one or two numbers with a DOUBLE result, constants and random numbers.
#include "engine/expr/kernel.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

#include <math.h>
#include <sys/random.h>

#define JAVA_RADIANS_TO_DEGREES 57.29577951308232
#define JAVA_DEGREES_TO_RADIANS 0.017453292519943295

static double cotangent(double x) {
    return 1.0 / tan(x);
}

static double log_base_2(double x) {
    return log(x) / log(2.0);
}

static double to_degrees(double x) {
    return x * JAVA_RADIANS_TO_DEGREES;
}

static double to_radians(double x) {
    return x * JAVA_DEGREES_TO_RADIANS;
}

// LOG(base, x)
static double log_with_base(double base, double x) {
    return log(x) / log(base);
}

static tide_status infer_double(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "N*", err));
    tide__infer_result(ctx, call, TYPE_DOUBLE, tide__infer_any_nullable(call));
    return TIDE_OK;
}

#define UNARY(symbol, sql, function_, summary_, example_, result_)                                                     \
    static tide_status run_##symbol(struct eval_context *ctx, const struct expr *call, const struct column *args,      \
                                    struct selection rows, struct column *out, tide_error *err) {                      \
        EACH_ROW(rows, i, out->f64[i] = function_(tide__double_at(&args[0], i)););                                     \
        return TIDE_OK;                                                                                                \
    }                                                                                                                  \
    static const struct function_kernel kernel_##symbol = {.null_if_any = true, .run = run_##symbol};                  \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 1,                                                                                                  \
        .arg_max = 1,                                                                                                  \
        .infer = infer_double,                                                                                         \
        .kernel = &kernel_##symbol,                                                                                    \
        .signature = sql "(number)",                                                                                   \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
UNARY(acos, "ACOS", acos, "The arc cosine.", "ACOS(1)", "0.0");
UNARY(asin, "ASIN", asin, "The arc sine.", "ASIN(0)", "0.0");
UNARY(atan, "ATAN", atan, "The arc tangent.", "ATAN(0)", "0.0");
UNARY(cos, "COS", cos, "The cosine.", "COS(0)", "1.0");
UNARY(cosh, "COSH", cosh, "The hyperbolic cosine.", "COSH(0)", "1.0");
UNARY(cot, "COT", cotangent, "The cotangent.", "ROUND(COT(1), 6)", "0.642093");
UNARY(degrees, "DEGREES", to_degrees, "Radians in degrees.", "DEGREES(PI())", "180.0");
UNARY(exp, "EXP", exp, "e to this power.", "EXP(0)", "1.0");
UNARY(ln, "LN", log, "The natural logarithm.", "LN(1)", "0.0");
UNARY(log10, "LOG10", log10, "The logarithm to base 10.", "LOG10(100)", "2.0");
UNARY(log2, "LOG2", log_base_2, "The logarithm to base 2.", "LOG2(8)", "3.0");
UNARY(radians, "RADIANS", to_radians, "Degrees in radians.", "ROUND(RADIANS(180), 6)", "3.141593");
UNARY(sin, "SIN", sin, "The sine.", "SIN(0)", "0.0");
UNARY(sinh, "SINH", sinh, "The hyperbolic sine.", "SINH(0)", "0.0");
UNARY(sqrt, "SQRT", sqrt, "The square root; NaN of a negative number.", "SQRT(4)", "2.0");
UNARY(tan, "TAN", tan, "The tangent.", "TAN(0)", "0.0");
UNARY(tanh, "TANH", tanh, "The hyperbolic tangent.", "TANH(0)", "0.0");

#define BINARY(symbol, function_)                                                                                      \
    static tide_status run_##symbol(struct eval_context *ctx, const struct expr *call, const struct column *args,      \
                                    struct selection rows, struct column *out, tide_error *err) {                      \
        EACH_ROW(rows, i, out->f64[i] = function_(tide__double_at(&args[0], i), tide__double_at(&args[1], i)););       \
        return TIDE_OK;                                                                                                \
    }                                                                                                                  \
    static const struct function_kernel kernel_##symbol = {.null_if_any = true, .run = run_##symbol};
BINARY(atan2, atan2)
BINARY(power, pow)
BINARY(log_base, log_with_base)

static tide_status run_log(struct eval_context *ctx, const struct expr *call, const struct column *args,
                           struct selection rows, struct column *out, tide_error *err) {
    if (call->arg_count == 2) return kernel_log_base.run(ctx, call, args, rows, out, err);
    return run_ln(ctx, call, args, rows, out, err);
}

static tide_status run_pi(struct eval_context *ctx, const struct expr *call, const struct column *args,
                          struct selection rows, struct column *out, tide_error *err) {
    EACH_ROW(rows, i, out->f64[i] = M_PI;);
    return TIDE_OK;
}

static tide_status run_e(struct eval_context *ctx, const struct expr *call, const struct column *args,
                         struct selection rows, struct column *out, tide_error *err) {
    EACH_ROW(rows, i, out->f64[i] = M_E;);
    return TIDE_OK;
}

// --- random numbers ------------------------------------------------------------------------------------------------

// Java's linear congruential generator, so that a seed gives Java's numbers (from the start of each batch).
struct java_random {
    uint64_t state;
};

static struct java_random java_random(bool seeded, int64_t seed) {
    uint64_t state = (uint64_t)seed;
    if (!seeded && getrandom(&state, sizeof state, 0) != sizeof state) state = (uint64_t)(uintptr_t)&state;
    return (struct java_random){(state ^ 0x5DEECE66DULL) & ((1ULL << 48) - 1)};
}

static uint32_t next_bits(struct java_random *random, int bits) {
    random->state = (random->state * 0x5DEECE66DULL + 0xB) & ((1ULL << 48) - 1);
    return (uint32_t)(random->state >> (48 - bits));
}

static double next_double(struct java_random *random) {
    uint64_t high = (uint64_t)next_bits(random, 26) << 27;
    return (double)(high + next_bits(random, 27)) * 0x1.0p-53;
}

static int64_t next_below(struct java_random *random, int64_t bound) {
    int64_t bits = next_bits(random, 31);
    if ((bound & -bound) == bound) return bound * bits >> 31;
    int64_t v = bits % bound;
    while (bits - v + (bound - 1) > INT32_MAX) {
        bits = next_bits(random, 31);
        v = bits % bound;
    }
    return v;
}

static size_t first_row(struct selection rows) {
    return rows.rows == NULL ? 0 : rows.rows[0];
}

static tide_status run_rand(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    bool seeded = call->arg_count == 1;
    struct java_random random = java_random(seeded, seeded ? args[0].i64[first_row(rows)] : 0);
    EACH_ROW(rows, i, out->f64[i] = next_double(&random););
    return TIDE_OK;
}

static tide_status run_rand_integer(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                    struct selection rows, struct column *out, tide_error *err) {
    bool seeded = call->arg_count == 2;
    const struct column *bounds = &args[call->arg_count - 1];
    struct java_random random = java_random(seeded, seeded ? args[0].i64[first_row(rows)] : 0);
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        if (bounds->i64[i] <= 0) {
            tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "the bound of RAND_INTEGER must be positive, not %lld",
                          (long long)bounds->i64[i]);
            return TIDE_ERR_RUNTIME;
        }
        out->i64[i] = next_below(&random, bounds->i64[i]);
    }
    return TIDE_OK;
}

static tide_status run_uuid(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    static const char digits[] = "0123456789abcdef";
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        unsigned char bytes[16];
        if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
            return tide__fail(err, TIDE_ERR_IO, "the system gives no random numbers");
        }
        bytes[6] = (unsigned char)((bytes[6] & 0x0F) | 0x40);
        bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80);
        char *text = tide__arena_alloc(ctx->scratch, 36);
        char *at = text;
        for (int b = 0; b < 16; b++) {
            if (b == 4 || b == 6 || b == 8 || b == 10) *at++ = '-';
            *at++ = digits[bytes[b] >> 4];
            *at++ = digits[bytes[b] & 15];
        }
        out->str[i] = (struct str){text, 36};
    }
    return TIDE_OK;
}

static tide_status infer_rand(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "I", err));
    tide__infer_result(ctx, call, TYPE_DOUBLE, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_rand_integer(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "II", err));
    tide__infer_result(ctx, call, TYPE_INT, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_uuid(struct infer_context *ctx, struct expr *call, tide_error *err) {
    tide__infer_result_sized(ctx, call, TYPE_CHAR, false, 36, 0);
    return TIDE_OK;
}

static const struct function_kernel kernel_log = {.null_if_any = true, .run = run_log};
static const struct function_kernel kernel_pi = {.null_if_any = true, .total = true, .run = run_pi};
static const struct function_kernel kernel_e = {.null_if_any = true, .total = true, .run = run_e};
static const struct function_kernel kernel_rand = {.null_if_any = true, .run = run_rand};
static const struct function_kernel kernel_rand_integer = {.null_if_any = true, .run = run_rand_integer};
static const struct function_kernel kernel_uuid = {.null_if_any = true, .run = run_uuid};

const struct function tide__fn_atan2 = {
    .name = "ATAN2",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_double,
    .kernel = &kernel_atan2,
    .signature = "ATAN2(y, x)",
    .summary = "The angle of the point (x, y).",
    .example = "ATAN2(0, 1)",
    .example_result = "0.0",
};
const struct function tide__fn_power = {
    .name = "POWER",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_double,
    .kernel = &kernel_power,
    .signature = "POWER(number, number)",
    .summary = "The first to the power of the second.",
    .example = "POWER(2, 10)",
    .example_result = "1024.0",
};
const struct function tide__fn_log = {
    .name = "LOG",
    .arg_min = 1,
    .arg_max = 2,
    .infer = infer_double,
    .kernel = &kernel_log,
    .signature = "LOG([base,] number)",
    .summary = "The logarithm, natural without a base.",
    .example = "LOG(2, 8)",
    .example_result = "3.0",
};
const struct function tide__fn_pi = {
    .name = "PI",
    .infer = infer_double,
    .kernel = &kernel_pi,
    .signature = "PI()",
    .summary = "The number pi.",
    .example = "PI()",
    .example_result = "3.141592653589793",
};
const struct function tide__fn_e = {
    .name = "E",
    .infer = infer_double,
    .kernel = &kernel_e,
    .signature = "E()",
    .summary = "Euler's number.",
    .example = "E()",
    .example_result = "2.718281828459045",
};
const struct function tide__fn_rand = {
    .name = "RAND",
    .arg_min = 0,
    .arg_max = 1,
    .nondeterministic = true,
    .infer = infer_rand,
    .kernel = &kernel_rand,
    .signature = "RAND([seed])",
    .summary = "A random DOUBLE from 0 to below 1.",
    .example = "RAND() < 1",
    .example_result = "TRUE",
};
const struct function tide__fn_rand_integer = {
    .name = "RAND_INTEGER",
    .arg_min = 1,
    .arg_max = 2,
    .nondeterministic = true,
    .infer = infer_rand_integer,
    .kernel = &kernel_rand_integer,
    .signature = "RAND_INTEGER([seed,] bound)",
    .summary = "A random INT from 0 to below the bound.",
    .example = "RAND_INTEGER(1)",
    .example_result = "0",
};
const struct function tide__fn_uuid = {
    .name = "UUID",
    .nondeterministic = true,
    .infer = infer_uuid,
    .kernel = &kernel_uuid,
    .signature = "UUID()",
    .summary = "A random UUID (version 4).",
    .example = "CHAR_LENGTH(UUID())",
    .example_result = "36",
};
