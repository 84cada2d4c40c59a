// Aggregation without windows: GROUP BY over all rows so far, as a changelog.
#ifndef TIDE_ENGINE_OPERATORS_GROUP_AGGREGATE_H
#define TIDE_ENGINE_OPERATORS_GROUP_AGGREGATE_H

#include "engine/operator.h"

extern const struct operator_class tide__group_aggregate_class;  // PLAN_GROUP_AGGREGATE

#endif
