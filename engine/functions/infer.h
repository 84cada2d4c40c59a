// What the inference of functions has in common: checking argument classes, coercing, naming the result.
#ifndef TIDE_ENGINE_FUNCTIONS_INFER_H
#define TIDE_ENGINE_FUNCTIONS_INFER_H

#include "engine/plan.h"

// The error for wrong argument types: names the function, the types given and the form it takes.
tide_status tide__infer_fail(struct infer_context *ctx, const struct expr *call, tide_error *err);

// Checks the arguments against a string of classes, one letter each: S string, B boolean, N number, I integer, T
// timestamp of either kind, D date, Y bytes, Z string or bytes, V interval, A anything; a `*` repeats the letter before it for all
// further arguments. NULL literals get the class' plain type. Fewer arguments than letters are fine (arg_min has
// been checked).
bool tide__infer_matches(const struct expr *call, const char *classes);
tide_status tide__infer_args(struct infer_context *ctx, struct expr *call, const char *classes,
                             tide_error *err) TIDE_CHECKED;

bool tide__infer_any_nullable(const struct expr *call);
// Sets call->type.
void tide__infer_result(struct infer_context *ctx, struct expr *call, enum type_kind kind, bool nullable);
void tide__infer_result_sized(struct infer_context *ctx, struct expr *call, enum type_kind kind, bool nullable,
                              int precision, int scale);
void tide__infer_result_like(struct infer_context *ctx, struct expr *call, const struct type *type, bool nullable);
// Casts argument `i` to a plain type of this kind.
tide_status tide__infer_cast(struct infer_context *ctx, struct expr *call, uint32_t i, struct type type,
                             tide_error *err) TIDE_CHECKED;
// Casts arguments [from, ...) to their common type, which is given back without nullability change; fails if there
// is none.
tide_status tide__infer_common(struct infer_context *ctx, struct expr *call, uint32_t from, uint32_t step,
                               const struct type **out, tide_error *err) TIDE_CHECKED;
// An ARRAY and a value of its elements' type; casts the value to it.
tide_status tide__infer_element(struct infer_context *ctx, struct expr *call, tide_error *err) TIDE_CHECKED;
// The value of a constant integer argument (also `-2`, which is a call); false if it is none, or NULL.
bool tide__infer_constant_integer(struct infer_context *ctx, const struct expr *arg, int64_t *out);
// The text of a constant CHAR argument; false if it is not one.
bool tide__infer_literal_text(const struct expr *arg, struct str *out);

#endif
