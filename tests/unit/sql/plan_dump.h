// A plan as short text, one node a line, inputs below their consumers and indented: what the binder's tests compare.
#ifndef TIDE_TESTS_PLAN_DUMP_H
#define TIDE_TESTS_PLAN_DUMP_H

#include "base/str.h"
#include "engine/plan.h"

void plan_dump(const struct plan *plan, struct strbuf *out);
void plan_dump_type(const struct type *type, struct strbuf *out);

#endif
