// OVER: functions over each row and the rows before it.
#ifndef TIDE_ENGINE_OPERATORS_OVER_H
#define TIDE_ENGINE_OPERATORS_OVER_H

#include "engine/operator.h"

extern const struct operator_class tide__over_class;  // PLAN_OVER
extern const struct operator_class tide__sort_class;  // PLAN_SORT: the same without functions, by several columns

#endif
