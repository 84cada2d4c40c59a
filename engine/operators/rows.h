// Small stateless operators that only rearrange rows: union, expand (grouping sets), values, unnest.
#ifndef TIDE_ENGINE_OPERATORS_ROWS_H
#define TIDE_ENGINE_OPERATORS_ROWS_H

#include "engine/operator.h"

extern const struct operator_class tide__union_class;
extern const struct operator_class tide__expand_class;
extern const struct operator_class tide__values_class;
extern const struct operator_class tide__unnest_class;

#endif
