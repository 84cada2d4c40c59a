// OVER in batch mode with all of a partition at hand (over_partition.c). over_classes.c chooses it.
#ifndef TIDE_ENGINE_OPERATORS_OVER_PARTITION_H
#define TIDE_ENGINE_OPERATORS_OVER_PARTITION_H

#include "engine/operator.h"

extern const struct operator_class tide__over_partition_class;
tide_status tide__over_partition_open(const struct operator_env *env, struct operator** out,
                                      tide_error *err) TIDE_CHECKED;

#endif
