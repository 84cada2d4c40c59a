// Which result columns count from the restore only, under a partial verdict.
#ifndef TIDE_API_RESTARTS_H
#define TIDE_API_RESTARTS_H

#include "base/arena.h"
#include "checkpoint/compat/check.h"
#include "engine/plan.h"

// One a root of the plan.
struct restarts {
    bool *columns;  // of its input: they come from an accumulator that begins empty
    bool whole;     // all rows come from an operator that the savepoint has nothing for
};

// `report` may be NULL: nothing begins anew. Everything lives in the arena.
const struct restarts *tide__api_restarts(const struct compat_report *report, const struct plan *plan,
                                          struct arena *arena);

#endif
