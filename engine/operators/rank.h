// The Top-N operators.
#ifndef TIDE_ENGINE_OPERATORS_RANK_H
#define TIDE_ENGINE_OPERATORS_RANK_H

#include "engine/operator.h"

extern const struct operator_class tide__window_rank_class;  // PLAN_WINDOW_RANK
extern const struct operator_class tide__rank_class;         // PLAN_RANK

#endif
