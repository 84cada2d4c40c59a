// The joins.
#ifndef TIDE_ENGINE_OPERATORS_JOIN_H
#define TIDE_ENGINE_OPERATORS_JOIN_H

#include "engine/operator.h"

extern const struct operator_class tide__window_join_class;  // PLAN_WINDOW_JOIN
extern const struct operator_class tide__join_class;         // PLAN_JOIN: regular and interval joins

#endif
