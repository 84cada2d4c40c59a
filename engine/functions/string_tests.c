// What a string looks like: IS_ALPHA, IS_DIGIT, IS_DECIMAL; HASH_CODE.
#include "engine/functions/cast.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/java_map.h"
#include "engine/functions/text.h"

static bool all_of(struct str s, bool (*is)(unsigned char c)) {
    for (size_t i = 0; i < s.len; i++) {
        if (!is((unsigned char)s.data[i])) return false;
    }
    return s.len > 0;
}

// Letters beyond ASCII count as letters, but not what takes two units in UTF-16.
static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= 0x80 && c < 0xF0);
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

// Numbers answer for themselves: they are decimal, integers are digits. NULL is FALSE.
static tide_status test_rows(const struct column *arg, struct selection rows, struct column *out, bool number,
                             bool (*test)(struct str s)) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        bool text = arg->physical == PHYSICAL_STR;
        out->bools[i] = !tide__column_is_null(arg, i) && (text ? test(arg->str[i]) : number);
    }
    return TIDE_OK;
}

static bool alpha(struct str s) {
    return all_of(s, is_letter);
}

static bool digit(struct str s) {
    return all_of(s, is_digit);
}

static bool decimal(struct str s) {
    double d = 0;
    return s.len > 0 && tide__text_to_double(s, &d);
}

static tide_status run_is_alpha(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    return test_rows(&args[0], rows, out, false, alpha);
}

static tide_status run_is_digit(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    return test_rows(&args[0], rows, out, tide__type_is_integer(args[0].type), digit);
}

static tide_status run_is_decimal(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    return test_rows(&args[0], rows, out, true, decimal);
}

// The absolute value of Java's String.hashCode, which goes over UTF-16 units.
static tide_status run_hash_code(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int32_t signed_hash = (int32_t)tide__java_hash(args[0].str[i]);
        out->i64[i] = signed_hash < 0 ? (int32_t) - (uint32_t)signed_hash : signed_hash;
    }
    return TIDE_OK;
}

static tide_status infer_test(struct infer_context *ctx, struct expr *call, tide_error *err) {
    bool text = !tide__type_is_numeric(call->args[0]->type);
    TIDE_TRY(tide__infer_args(ctx, call, text ? "S" : "N", err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, false);
    return TIDE_OK;
}

static tide_status infer_hash_code(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "S", err));
    tide__infer_result(ctx, call, TYPE_INT, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static const struct function_kernel kernel_is_alpha = {.total = true, .run = run_is_alpha};
static const struct function_kernel kernel_is_digit = {.total = true, .run = run_is_digit};
static const struct function_kernel kernel_is_decimal = {.total = true, .run = run_is_decimal};
static const struct function_kernel kernel_hash_code = {.null_if_any = true, .run = run_hash_code};

#define TEXT_TEST(symbol, sql, infer_, summary_, example_, result_)                                                    \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 1,                                                                                                  \
        .arg_max = 1,                                                                                                  \
        .infer = infer_,                                                                                               \
        .kernel = &kernel_##symbol,                                                                                    \
        .signature = sql "(STRING)",                                                                                   \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
TEXT_TEST(is_alpha, "IS_ALPHA", infer_test, "Whether all characters are letters.", "IS_ALPHA('abc')", "TRUE");
TEXT_TEST(is_digit, "IS_DIGIT", infer_test, "Whether all characters are digits.", "IS_DIGIT('12a')", "FALSE");
TEXT_TEST(is_decimal, "IS_DECIMAL", infer_test, "Whether a string is a number.", "IS_DECIMAL('1.5')", "TRUE");
TEXT_TEST(hash_code, "HASH_CODE", infer_hash_code, "The absolute value of Java's hash of a string.", "HASH_CODE('abc')",
          "96354");
