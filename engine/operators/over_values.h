// OVER along a plain column of a stream (over_values.c). over_classes.c chooses it.
#ifndef TIDE_ENGINE_OPERATORS_OVER_VALUES_H
#define TIDE_ENGINE_OPERATORS_OVER_VALUES_H

#include "engine/operator.h"

extern const struct operator_class tide__over_values_class;
tide_status tide__over_values_open(const struct operator_env *env, struct operator** out, tide_error *err) TIDE_CHECKED;

#endif
