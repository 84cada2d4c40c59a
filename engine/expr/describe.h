// Expressions as text for people: explain, names of aggregates, canonical clauses.
#ifndef TIDE_ENGINE_EXPR_DESCRIBE_H
#define TIDE_ENGINE_EXPR_DESCRIBE_H

#include "engine/plan.h"

// Appends SQL-like text; columns by the names of `input`'s fields (NULL: $0, $1, ...).
void tide__expr_describe(const struct expr *expr, const struct plan_node *input, struct strbuf *out);

#endif
