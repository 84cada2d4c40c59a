// Holding a changelog back to fold it.
#ifndef TIDE_ENGINE_OPERATORS_MINI_BATCH_H
#define TIDE_ENGINE_OPERATORS_MINI_BATCH_H

#include "engine/operator.h"

extern const struct operator_class tide__mini_batch_class;  // PLAN_MINI_BATCH

#endif
