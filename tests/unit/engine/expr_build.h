// Building and showing expressions in tests.
#ifndef TIDE_TESTS_EXPR_BUILD_H
#define TIDE_TESTS_EXPR_BUILD_H

#include "engine/expr/eval.h"
#include "engine/functions/functions.h"

#include "base/decimal.h"
#include "base/time.h"

#include <check.h>
#include <stdarg.h>
#include <string.h>

static struct arena arena;
static struct infer_context infer;

static void expr_setup(void) {
    tide__arena_init(&arena);
    infer = (struct infer_context){.arena = &arena};
}

static void expr_teardown(void) {
    tide__arena_deinit(&arena);
}

static inline const struct type *type_of(enum type_kind kind, bool nullable, int precision, int scale) {
    struct type type = tide__type_make_sized(kind, nullable, precision, scale);
    return tide__type_copy(&arena, &type);
}

static inline const struct type *plain(enum type_kind kind) {
    struct type type = tide__type_make(kind, true);
    return tide__type_copy(&arena, &type);
}

static inline struct expr *literal(struct value value, const struct type *type) {
    return tide__expr_literal(&arena, value, type, (struct source_pos){1, 1, 0, 1});
}

static inline struct expr *I(int64_t v) {
    struct value value = {.i64 = v};
    return literal(value, type_of(v == (int32_t)v ? TYPE_INT : TYPE_BIGINT, false, 0, 0));
}

static inline struct expr *S(const char *text) {
    struct value value = {.str = tide__str(text)};
    int length = (int)tide__utf8_length(value.str);
    return literal(value, type_of(TYPE_CHAR, false, length, 0));
}

static inline struct expr *F(double d) {
    struct value value = {.f64 = d};
    return literal(value, type_of(TYPE_DOUBLE, false, 0, 0));
}

static inline struct expr *NIL(void) {
    struct value value = {.is_null = true};
    return literal(value, type_of(TYPE_NULL, true, 0, 0));
}

static inline struct expr *BOOL(bool v) {
    struct value value = {.boolean = v};
    return literal(value, type_of(TYPE_BOOLEAN, false, 0, 0));
}

// A decimal literal: D("1.50") is DECIMAL(3, 2).
static inline struct expr *D(const char *text) {
    const char *point = strchr(text, '.');
    int scale = point == NULL ? 0 : (int)strlen(point + 1), digits = 0;
    for (const char *c = text; *c; c++) digits += *c >= '0' && *c <= '9';
    struct value value = {0};
    int128 v = 0;
    ck_assert(tide__decimal_parse(tide__str(text), digits, scale, &v));
    if (digits > 18) {
        value.i128 = v;
    } else {
        value.i64 = (int64_t)v;
    }
    return literal(value, type_of(TYPE_DECIMAL, false, digits, scale));
}

static inline struct expr *TS(const char *text, int precision) {
    struct timestamp t;
    ck_assert(tide__timestamp_parse_sql(tide__str(text), &t));
    struct value value = {0};
    if (precision > 3) {
        value.time = t;
    } else {
        value.i64 = t.ms;
    }
    return literal(value, type_of(TYPE_TIMESTAMP, false, precision, 0));
}

static inline struct expr *DATE(const char *text) {
    struct value value = {0};
    ck_assert(tide__date_parse(tide__str(text), &value.i64));
    return literal(value, type_of(TYPE_DATE, false, 0, 0));
}

static inline struct expr *TIME(const char *text) {
    struct value value = {0};
    ck_assert(tide__time_parse(tide__str(text), &value.i64));
    return literal(value, type_of(TYPE_TIME, false, 0, 0));
}

static inline struct expr *MILLIS(int64_t ms) {
    struct value value = {.i64 = ms};
    return literal(value, type_of(TYPE_INTERVAL_MILLIS, false, 0, 0));
}

static inline struct expr *MONTHS(int64_t months) {
    struct value value = {.i64 = months};
    return literal(value, type_of(TYPE_INTERVAL_MONTHS, false, 0, 0));
}

// A text of `!status message` in a literal: what a failing build shows as.
static inline struct expr *failure(const tide_error *err) {
    struct value value = {.str = tide__str(tide__arena_printf(&arena, "!%s", err->message))};
    struct expr *expr = literal(value, type_of(TYPE_NULL, false, 0, 0));
    expr->kind = EXPR_LITERAL;
    return expr;
}

static inline bool failed(const struct expr *expr) {
    return expr->type->kind == TYPE_NULL && !expr->literal.is_null;
}

static inline struct expr *call_args(const char *name, struct expr **args, uint32_t count) {
    tide_error err;
    tide__error_clear(&err);
    for (uint32_t i = 0; i < count; i++) {
        if (failed(args[i])) return args[i];
    }
    struct expr *out = NULL;
    struct source_pos pos = {1, 1, 0, 1};
    if (tide__expr_call(&infer, name, args, count, pos, &out, &err) != TIDE_OK) return failure(&err);
    return out;
}

#define CALL(name, ...)                                                                                                \
    call_args(name, (struct expr *[]){__VA_ARGS__}, sizeof((struct expr *[]){__VA_ARGS__}) / sizeof(struct expr *))

static inline struct expr *cast_to(struct expr *expr, bool is_try, const struct type *type) {
    tide_error err;
    tide__error_clear(&err);
    struct expr *out = NULL;
    struct source_pos pos = {1, 1, 0, 1};
    if (tide__expr_cast_explicit(&infer, expr, type, is_try, pos, &out, &err) != TIDE_OK) return failure(&err);
    return out;
}

#define CAST(expr, kind)                 cast_to(expr, false, plain(kind))
#define CAST_SIZED(expr, kind, p, s)     cast_to(expr, false, type_of(kind, true, p, s))
#define TRY_CAST(expr, kind)             cast_to(expr, true, plain(kind))
#define TRY_CAST_SIZED(expr, kind, p, s) cast_to(expr, true, type_of(kind, true, p, s))

// Evaluates an expression without columns: `value : TYPE`, or `!message`.
static inline const char *show(const struct expr *expr) {
    if (failed(expr)) return tide__arena_printf(&arena, "%.*s", STR_ARG(expr->literal.str));
    tide_error err;
    tide__error_clear(&err);
    struct arena scratch;
    tide__arena_init(&scratch);
    struct eval_context ctx = {.zone = infer.zone, .watermark = INT64_MIN, .scratch = &scratch};
    struct batch batch = {.rows = 1};
    struct column column;
    struct strbuf text = {0};
    if (tide__eval(&ctx, expr, &batch, &column, &err) != TIDE_OK) {
        tide__strbuf_printf(&text, "!%s", err.message);
    } else {
        if (tide__column_is_null(&column, 0)) {
            tide__strbuf_append_c(&text, "<NULL>");
        } else {
            tide__value_display_in_zone(&column, 0, infer.zone, &text);
        }
        tide__strbuf_append_c(&text, " : ");
        tide__type_print(expr->type, &text);
    }
    const char *shown = tide__arena_strndup(&arena, text.data, text.len);
    tide__strbuf_deinit(&text);
    tide__arena_deinit(&scratch);
    return shown;
}

#define SHOWS(expr, expected) ck_assert_str_eq(show(expr), expected)

static inline int run_suite(TCase *tests) {
    Suite *suite = suite_create("expr");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return count > 0;
}

#endif
