// Text to tree, one statement at a time: a script runs in order, and its first error stops it there.
#ifndef TIDE_SQL_PARSE_H
#define TIDE_SQL_PARSE_H

#include "sql/ast.h"

struct parser;

// The whole script must stay in place while the parser and its trees are in use: names point into it.
struct parser *tide__parser_new(const char *text, size_t len) __attribute__((returns_nonnull));
void tide__parser_free(struct parser *parser);

// The next statement, or NULL in *out at the end of the script. After an error the parser must not be used again.
// Errors are TIDE_ERR_PARSE with a place; an unknown type name and what Flink's validator refuses
// while it builds the tree are TIDE_ERR_VALIDATE; syntax that is valid but not supported is TIDE_ERR_PLAN.
TIDE_CHECKED tide_status tide__parse_next(struct parser *parser, struct arena *arena, struct statement **out,
                                          tide_error *err);

// One expression or one query alone (tests; the binder for the text of saved views).
TIDE_CHECKED tide_status tide__parse_expr(const char *text, size_t len, struct arena *arena, struct ast_expr **out,
                                          tide_error *err);

// A type by its text, as tide__type_text gives it; NULL if it is none.
const struct type *tide__parse_type_text(const char *text, size_t len, struct arena *arena);

// The words of Flink's grammar that must be in backticks as names, upper case, sorted.
bool tide__parse_is_reserved(struct str word);

#endif
