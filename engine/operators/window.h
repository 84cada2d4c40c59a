// The window operators: aggregation over windows, and the window table functions.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_H
#define TIDE_ENGINE_OPERATORS_WINDOW_H

#include "engine/operator.h"

extern const struct operator_class tide__window_aggregate_class;  // PLAN_WINDOW_AGGREGATE, all kinds of windows
extern const struct operator_class tide__window_tvf_class;        // PLAN_WINDOW_TVF, all kinds of windows

// One class stands for a kind of node in the table of operators, but SESSION and the other windows share no code: both
// structs begin with this, and the class above calls through `class`.
struct window_operator {
    struct operator base;
    const struct operator_class *class;
};

tide_status tide__sliced_aggregate_open(const struct operator_env *env, struct operator** out, tide_error *err);
tide_status tide__session_aggregate_open(const struct operator_env *env, struct operator** out, tide_error *err);
// Both kinds of window TVF: TUMBLE, HOP and CUMULATE are stateless, SESSION keeps rows until the session ends.
tide_status tide__window_tvf_open(const struct operator_env *env, struct operator** out, tide_error *err);
tide_status tide__session_tvf_open(const struct operator_env *env, struct operator** out, tide_error *err);

#endif
