// Can a plan go on from a savepoint? Compares canonical plan descriptions, operator by operator, clause by clause.
#ifndef TIDE_CHECKPOINT_COMPAT_COMPAT_H
#define TIDE_CHECKPOINT_COMPAT_COMPAT_H

#include "base/arena.h"
#include "checkpoint/compat/rules.h"
#include "checkpoint/savepoint.h"

struct compat_change {
    const char *code;  // "topn.limit"
    enum compat_verdict verdict;
    const char *operator_id;                            // of the new plan, or of the old one if it is gone
    const struct plan_clause *old_clause, *new_clause;  // NULL: added or removed
    const char *message;                                // one sentence: what changed
    const char *state;                                  // what happens to the state
};

struct compat_report {
    enum compat_verdict verdict;  // the worst
    size_t change_count;
    const struct compat_change *changes;
};

// Everything in the report lives in the arena.
void tide__compat_compare(const struct plan_description *old_plan, const struct plan_description *new_plan,
                          struct arena *arena, struct compat_report *out);

#endif
