// All scalar functions, sorted by name (strcmp). One line here and one `const struct function tide__fn_...` in a family's
// file make a function.
#ifndef TIDE_ENGINE_FUNCTIONS_LIST_H
#define TIDE_ENGINE_FUNCTIONS_LIST_H

#include "engine/plan.h"

#define FUNCTIONS(X)                                                                                                   \
    X(percent, "%")                                                                                                    \
    X(multiply, "*")                                                                                                   \
    X(add, "+")                                                                                                        \
    X(subtract, "-")                                                                                                   \
    X(divide, "/")                                                                                                     \
    X(lt, "<")                                                                                                         \
    X(le, "<=")                                                                                                        \
    X(ne, "<>")                                                                                                        \
    X(eq, "=")                                                                                                         \
    X(gt, ">")                                                                                                         \
    X(ge, ">=")                                                                                                        \
    X(and, "AND")                                                                                                      \
    X(case, "CASE")                                                                                                    \
    X(cast, "CAST")                                                                                                    \
    X(coalesce, "COALESCE")                                                                                            \
    X(greatest, "GREATEST")                                                                                            \
    X(if, "IF")                                                                                                        \
    X(ifnull, "IFNULL")                                                                                                \
    X(in, "IN")                                                                                                        \
    X(is_distinct, "IS DISTINCT FROM")                                                                                 \
    X(is_false, "IS FALSE")                                                                                            \
    X(is_not_distinct, "IS NOT DISTINCT FROM")                                                                         \
    X(is_not_false, "IS NOT FALSE")                                                                                    \
    X(is_not_null, "IS NOT NULL")                                                                                      \
    X(is_not_true, "IS NOT TRUE")                                                                                      \
    X(is_not_unknown, "IS NOT UNKNOWN")                                                                                \
    X(is_null, "IS NULL")                                                                                              \
    X(is_true, "IS TRUE")                                                                                              \
    X(is_unknown, "IS UNKNOWN")                                                                                        \
    X(least, "LEAST")                                                                                                  \
    X(mod, "MOD")                                                                                                      \
    X(negate, "NEGATE")                                                                                                \
    X(not, "NOT")                                                                                                      \
    X(nullif, "NULLIF")                                                                                                \
    X(or, "OR")                                                                                                        \
    X(try_cast, "TRY_CAST")

#define DECLARE_FUNCTION(symbol, name) extern const struct function tide__fn_##symbol;
FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

#endif
