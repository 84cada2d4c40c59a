// Binding SQL's JSON functions and IS JSON.
#ifndef TIDE_SQL_BIND_JSON_H
#define TIDE_SQL_BIND_JSON_H

#include "sql/bind.h"

// JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_OBJECT, JSON_ARRAY: ast->json is set.
TIDE_CHECKED tide_status tide__bind_json_call(struct select_scope *s, const struct ast_expr *ast, struct str name,
                                              struct expr **out);
TIDE_CHECKED tide_status tide__bind_is_json(struct select_scope *s, const struct ast_expr *ast, struct expr **out);

#endif
