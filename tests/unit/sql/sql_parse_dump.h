// Trees as text, so that a test says in one line what it expects: `a + b * c` is (+ a (* b c)).
#ifndef TIDE_TESTS_SQL_PARSE_DUMP_H
#define TIDE_TESTS_SQL_PARSE_DUMP_H

#include "sql/ast.h"

void dump_expr(struct strbuf *out, const struct ast_expr *expr);
void dump_query(struct strbuf *out, const struct ast_query *query);
void dump_table(struct strbuf *out, const struct ast_table_ref *table);
void dump_statement(struct strbuf *out, const struct statement *statement);

#endif
