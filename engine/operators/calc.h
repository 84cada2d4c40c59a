// The calc operator: filter, then project.
#ifndef TIDE_ENGINE_OPERATORS_CALC_H
#define TIDE_ENGINE_OPERATORS_CALC_H

#include "engine/operator.h"

extern const struct operator_class tide__calc_class;

#endif
