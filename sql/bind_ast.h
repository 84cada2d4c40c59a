// The syntax tree under names that do not collide with the plan's: both call some of their enumerators EXPR_COLUMN or
// JOIN_INNER. Files of the binder see the tree's as AST_EXPR_COLUMN, AST_JOIN_INNER.
#ifndef TIDE_SQL_BIND_AST_H
#define TIDE_SQL_BIND_AST_H

#define EXPR_LITERAL AST_EXPR_LITERAL
#define EXPR_COLUMN AST_EXPR_COLUMN
#define EXPR_CALL AST_EXPR_CALL
#define JOIN_INNER AST_JOIN_INNER
#define JOIN_LEFT AST_JOIN_LEFT
#define JOIN_RIGHT AST_JOIN_RIGHT
#define JOIN_FULL AST_JOIN_FULL
#include "sql/parse.h"
#undef EXPR_LITERAL
#undef EXPR_COLUMN
#undef EXPR_CALL
#undef JOIN_INNER
#undef JOIN_LEFT
#undef JOIN_RIGHT
#undef JOIN_FULL

#endif
