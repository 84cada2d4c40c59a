// What the binder may use of the scalar functions besides engine/plan.h.
#ifndef TIDE_ENGINE_FUNCTIONS_FUNCTIONS_H
#define TIDE_ENGINE_FUNCTIONS_FUNCTIONS_H

#include "engine/plan.h"

// CAST or TRY_CAST written by a user: checked against Flink's matrix of explicit casts. Gives `expr` itself when
// nothing changes. The result's nullability is expr's (TRY_CAST: nullable).
tide_status tide__expr_cast_explicit(struct infer_context *ctx, struct expr *expr, const struct type *type, bool is_try,
                                     struct source_pos pos, struct expr **out, tide_error *err) TIDE_CHECKED;

#endif
