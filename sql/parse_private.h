// Shared by the parser's files (parse*.c) and nobody else.
//
// A function that parses returns its node, or true; NULL or false means failure, and then the error is in p->err.
#ifndef TIDE_SQL_PARSE_PRIVATE_H
#define TIDE_SQL_PARSE_PRIVATE_H

#include "sql/ast.h"
#include "sql/scanner.h"

// Levels of parentheses, subqueries, types, ... the parser calls itself for.
#define NESTING_MAX         500
#define STATEMENT_BYTES_MAX (1u << 20)
#define LOOKAHEAD           4
#define EXPECTED_MAX        48

struct parser {
    struct scanner scanner;  // behind the last token of `ahead`
    struct scanner resume;   // where the next statement begins
    struct arena *arena;
    tide_error *err;
    struct token token;     // the current one
    struct token previous;  // the last one that was consumed
    struct token ahead[LOOKAHEAD];
    uint32_t ahead_count;
    uint32_t nesting;
    uint32_t statement_start;  // offset
    uint32_t star_at;          // offset of the select item that may be `t.*`
    bool checked;              // the text is UTF-8
    // What was looked for at `token` in vain: words and symbols for messages.
    const char *expected[EXPECTED_MAX];
    uint32_t expected_count;
};

// --- Tokens (parse_token.c) ---

void tide__parser_advance(struct parser *p);
// The nth token after the current one, n from 1 to LOOKAHEAD.
const struct token *tide__parser_peek(struct parser *p, uint32_t n);
// A word or symbol for "expected ..." if the current token turns out wrong.
void tide__parser_note(struct parser *p, const char *what);

static inline bool at_token(const struct parser *p, enum token_kind kind) {
    return p->token.kind == kind;
}

static inline bool at_word(const struct parser *p, enum keyword keyword) {
    return p->token.kind == TOKEN_WORD && p->token.keyword == keyword;
}

static inline bool is_word(const struct token *token, enum keyword keyword) {
    return token->kind == TOKEN_WORD && token->keyword == keyword;
}

static inline bool peek_word(struct parser *p, uint32_t n, enum keyword keyword) {
    return is_word(tide__parser_peek(p, n), keyword);
}

static inline bool peek_token(struct parser *p, uint32_t n, enum token_kind kind) {
    return tide__parser_peek(p, n)->kind == kind;
}

// Consumes the token if it is there; otherwise notes it as expected.
bool tide__parser_accept(struct parser *p, enum token_kind kind);
bool tide__parser_accept_word(struct parser *p, enum keyword keyword);
// The same without a note, for words that would only crowd a message.
bool tide__parser_take_word(struct parser *p, enum keyword keyword);
// The same as accept, and fails without it.
bool tide__parser_expect(struct parser *p, enum token_kind kind);
bool tide__parser_expect_word(struct parser *p, enum keyword keyword);
// Fails at the current token: found this, expected what was noted.
bool tide__parser_unexpected(struct parser *p);
// Fails with a message of its own.
bool tide__parser_fail(struct parser *p, tide_status status, struct source_pos pos, const char *hint,
                       const char *format, ...) TIDE_PRINTF(5, 6);
// Before a function calls itself: false when that would be too deep. Pair with leave.
bool tide__parser_enter(struct parser *p);
void tide__parser_leave(struct parser *p);

// From the start of `from` to the end of the last consumed token.
struct source_pos tide__parser_span(const struct parser *p, struct source_pos from);
// The text of a place.
struct str tide__parser_text(const struct parser *p, struct source_pos pos);

// A list in the arena that doubles: returns the array with room for one more.
void *tide__parser_grow(struct parser *p, void *items, uint32_t count, size_t size);
#define PUSH(p, items, count) ((items) = tide__parser_grow((p), (items), (count), sizeof *(items)), &(items)[(count)++])

// True if the current token can be a name (reserved words cannot).
bool tide__parser_at_name(const struct parser *p);
// A name; `what` says which for the message ("a column name").
bool tide__parser_name(struct parser *p, struct ast_name *out, const char *what);
bool tide__parser_path(struct parser *p, struct ast_path *out, const char *what);
// (a, b, c)
bool tide__parser_names(struct parser *p, struct ast_names *out, const char *what);
bool tide__parser_string(struct parser *p, struct str *out, struct source_pos *pos, const char *what);
// An unsigned number that fits in int32.
bool tide__parser_int(struct parser *p, int32_t *out, const char *what);
// ('k' = 'v', ...)
bool tide__parser_options(struct parser *p, struct ast_options *out, bool bare_keys);

// --- Expressions (parse_expr.c, parse_primary.c, parse_literal.c, parse_call.c, parse_json.c) ---

struct ast_expr *tide__parse_expression(struct parser *p);
struct ast_expr *tide__parse_term(struct parser *p);     // no IN, comparison, AND, ... outside parentheses
struct ast_expr *tide__parse_primary(struct parser *p);  // with fields and elements behind it
bool tide__parse_expressions(struct parser *p, struct ast_exprs *out);  // a, b, c
struct ast_expr *tide__parse_new(struct parser *p, enum ast_expr_kind kind, struct source_pos pos);
void tide__parse_push(struct parser *p, struct ast_exprs *list, struct ast_expr *expr);
// Closes a node: pos from its start to here, depth from its children. NULL if that is too deep.
struct ast_expr *tide__parse_close(struct parser *p, struct ast_expr *expr);
// False, with an error, for a depth that is too much.
bool tide__parse_check_depth(struct parser *p, uint32_t depth, struct source_pos pos);
struct ast_expr *tide__parse_literal(struct parser *p);   // NULL without error if none is here
struct ast_expr *tide__parse_interval(struct parser *p);  // at INTERVAL
// DAY TO SECOND(3) and its like
bool tide__parse_interval_qualifier(struct parser *p, struct ast_interval *out);
// At the "(" behind a function's name.
struct ast_expr *tide__parse_call(struct parser *p, const struct ast_path *path);
// The same in FROM: queries among the arguments are tables.
struct ast_expr *tide__parse_table_call(struct parser *p, const struct ast_path *path);
// Special argument lists behind "(", up to and with ")". *known is false if the name is not special.
bool tide__parse_special_args(struct parser *p, struct ast_expr *call, bool *known);
bool tide__parse_json_args(struct parser *p, struct ast_expr *call, enum keyword name);
bool tide__parse_order_by(struct parser *p, struct ast_order *out);  // behind ORDER BY
struct ast_window *tide__parse_window(struct parser *p);             // at "(" of OVER (..)

// --- Types (parse_type.c) ---

const struct type *tide__parse_type(struct parser *p);

// --- Queries (parse_query.c, parse_table.c) ---

// True at SELECT, WITH, VALUES and TABLE name.
bool tide__parse_at_query(struct parser *p);
// True at a token that goes on with a query behind a parenthesised one: UNION, ORDER BY, LIMIT, ...
bool tide__parse_at_query_tail(struct parser *p);
struct ast_query *tide__parse_query(struct parser *p);
// Goes on behind a query that was in parentheses.
struct ast_query *tide__parse_query_tail(struct parser *p, struct ast_query *first);
struct ast_table_ref *tide__parse_from(struct parser *p);
// Sets pos and depth. NULL if too deep.
struct ast_query *tide__parse_close_query(struct parser *p, struct ast_query *query, struct source_pos from);

// --- Statements (parse_statement.c, parse_create.c) ---

struct statement *tide__parse_statement(struct parser *p);
bool tide__parse_create(struct parser *p, struct statement *statement);  // behind CREATE
// Columns, keys and watermarks in parentheses, or one of them without.
bool tide__parse_table_elements(struct parser *p, struct statement *statement);
bool tide__parse_if_not_exists(struct parser *p, struct statement *statement);
// Skips to the end of the statement.
bool tide__parse_skip_statement(struct parser *p);

#endif
