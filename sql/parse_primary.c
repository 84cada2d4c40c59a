// What stands between operators: columns, calls, literals, parentheses, CASE, CAST, constructors; and behind
// each of them, fields and elements.
#include "sql/parse_private.h"

#include <assert.h>

// (a - b) DAY: the difference of two times as an interval
static struct ast_expr *parse_difference(struct parser *p, struct ast_expr *expr) {
    static const enum keyword units[] = {K_YEAR, K_QUARTER, K_MONTH, K_WEEK, K_DAY, K_HOUR, K_MINUTE, K_SECOND};
    if (expr->kind != AST_EXPR_BINARY || expr->op != OP_SUBTRACT || expr->interval.from != UNIT_NONE) return expr;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!at_word(p, units[i])) continue;
        return tide__parse_interval_qualifier(p, &expr->interval) ? tide__parse_close(p, expr) : NULL;
    }
    return expr;
}

// Behind "(". One expression in parentheses is itself; more are a row; a query is a value.
static struct ast_expr *parse_inside(struct parser *p, struct source_pos start) {
    if (tide__parse_at_query(p)) {
        struct ast_expr *expr = tide__parse_new(p, AST_EXPR_SUBQUERY, start);
        expr->query = tide__parse_query(p);
        if (!expr->query || !tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
        return tide__parse_close(p, expr);
    }
    struct ast_exprs list = {0};
    if (!tide__parse_expressions(p, &list)) return NULL;
    struct ast_expr *first = list.items[0];
    if (list.count == 1 && first->kind == AST_EXPR_SUBQUERY && tide__parse_at_query_tail(p)) {
        // ((SELECT ..) UNION ..)
        first->query = tide__parse_query_tail(p, first->query);
        if (!first->query) return NULL;
    }
    if (!tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    if (list.count == 1) {
        first->pos = tide__parser_span(p, start);
        return parse_difference(p, first);
    }
    struct ast_expr *row = tide__parse_new(p, AST_EXPR_ROW, start);
    row->args = list;
    return tide__parse_close(p, row);
}

static struct ast_expr *parse_parenthesis(struct parser *p) {
    struct source_pos start = p->token.pos;
    if (!tide__parser_enter(p)) return NULL;
    tide__parser_advance(p);
    struct ast_expr *expr = parse_inside(p, start);
    tide__parser_leave(p);
    return expr;
}

// WHEN a, b THEN r is two branches with one result.
static bool parse_when(struct parser *p, struct ast_expr *expr) {
    struct ast_exprs whens = {0};
    if (expr->has_operand) {
        if (!tide__parse_expressions(p, &whens)) return false;
    } else {
        struct ast_expr *when = tide__parse_expression(p);
        if (!when) return false;
        tide__parse_push(p, &whens, when);
    }
    if (!tide__parser_expect_word(p, K_THEN)) return false;
    struct ast_expr *then = tide__parse_expression(p);
    for (uint32_t i = 0; then && i < whens.count; i++) {
        tide__parse_push(p, &expr->args, whens.items[i]);
        tide__parse_push(p, &expr->args, then);
    }
    return then != NULL;
}

static struct ast_expr *parse_case(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_CASE, p->token.pos);
    tide__parser_advance(p);
    if (!at_word(p, K_WHEN)) {
        expr->has_operand = true;
        tide__parser_note(p, "WHEN");
        struct ast_expr *operand = tide__parse_expression(p);
        if (!operand) return NULL;
        tide__parse_push(p, &expr->args, operand);
    }
    if (!tide__parser_expect_word(p, K_WHEN)) return NULL;
    do {
        if (!parse_when(p, expr)) return NULL;
    } while (tide__parser_accept_word(p, K_WHEN));
    if (tide__parser_accept_word(p, K_ELSE)) {
        expr->has_else = true;
        struct ast_expr *value = tide__parse_expression(p);
        if (!value) return NULL;
        tide__parse_push(p, &expr->args, value);
    }
    if (!tide__parser_expect_word(p, K_END)) return NULL;
    return tide__parse_close(p, expr);
}

// CAST(x AS type), TRY_CAST(x AS type)
static struct ast_expr *parse_cast(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_CAST, p->token.pos);
    expr->try_cast = at_word(p, K_TRY_CAST);
    expr->op_pos = p->token.pos;
    tide__parser_advance(p);
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return NULL;
    struct ast_expr *operand = tide__parse_expression(p);
    if (!operand || !tide__parser_expect_word(p, K_AS)) return NULL;
    tide__parse_push(p, &expr->args, operand);
    if (!(expr->type = tide__parse_type(p))) return NULL;
    if (!tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_exists(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_EXISTS, p->token.pos);
    tide__parser_advance(p);
    if (!at_token(p, TOKEN_LPAREN)) {
        tide__parser_expect(p, TOKEN_LPAREN);
        return NULL;
    }
    struct ast_expr *query = parse_parenthesis(p);
    if (!query) return NULL;
    if (query->kind != AST_EXPR_SUBQUERY) {
        tide__parser_fail(p, TIDE_ERR_PARSE, query->pos, "write EXISTS (SELECT ...)",
                          "EXISTS wants a query in parentheses");
        return NULL;
    }
    expr->query = query->query;
    return tide__parse_close(p, expr);
}

// [a, b] of ARRAY and MAP; may be empty.
static bool parse_bracketed(struct parser *p, struct ast_expr *expr) {
    if (!tide__parser_expect(p, TOKEN_LBRACKET)) return false;
    if (tide__parser_accept(p, TOKEN_RBRACKET)) return true;
    return tide__parse_expressions(p, &expr->args) && tide__parser_expect(p, TOKEN_RBRACKET);
}

static struct ast_expr *parse_array(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_ARRAY, p->token.pos);
    tide__parser_advance(p);
    if (tide__parser_accept(p, TOKEN_LPAREN)) {
        expr->query = tide__parse_query(p);
        if (!expr->query || !tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    } else if (!parse_bracketed(p, expr)) {
        return NULL;
    }
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_map(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_MAP, p->token.pos);
    tide__parser_advance(p);
    if (!parse_bracketed(p, expr)) return NULL;
    if (expr->args.count % 2 != 0) {
        tide__parser_fail(p, TIDE_ERR_VALIDATE, tide__parser_span(p, expr->pos),
                          "write MAP[key, value, key, value, ...]", "MAP wants a value for each key");
        return NULL;
    }
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_row(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_ROW, p->token.pos);
    expr->text = STR_LIT("ROW");
    tide__parser_advance(p);
    if (!tide__parser_expect(p, TOKEN_LPAREN) || !tide__parse_expressions(p, &expr->args) ||
        !tide__parser_expect(p, TOKEN_RPAREN))
        return NULL;
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_descriptor(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_DESCRIPTOR, p->token.pos);
    tide__parser_advance(p);
    if (!tide__parser_names(p, &expr->names, "a column name")) return NULL;
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_default(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_DEFAULT, p->token.pos);
    tide__parser_advance(p);
    return tide__parse_close(p, expr);
}

// CURRENT_DATE and its like; some may have a precision behind them.
static struct ast_expr *parse_niladic(struct parser *p) {
    struct ast_path path = {.pos = p->token.pos};
    *PUSH(p, path.parts, path.count) = (struct ast_name){p->token.text, p->token.pos, false};
    tide__parser_advance(p);
    if (at_token(p, TOKEN_LPAREN)) return tide__parse_call(p, &path);
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_CALL, path.pos);
    expr->path = path;
    expr->op_pos = path.pos;
    expr->niladic = true;
    return tide__parse_close(p, expr);
}

// a, a.b, a.b.*, a.b(..)
static struct ast_expr *parse_column(struct parser *p) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_COLUMN, p->token.pos);
    struct ast_path *path = &expr->path;
    struct ast_name *first = PUSH(p, path->parts, path->count);
    *first = (struct ast_name){p->token.text, p->token.pos, at_token(p, TOKEN_QUOTED)};
    if (first->text.len == 0 && !tide__parser_name(p, first, "an expression")) return NULL;
    tide__parser_advance(p);
    while (at_token(p, TOKEN_DOT)) {
        if (peek_token(p, 1, TOKEN_STAR) && expr->pos.offset == p->star_at) {
            path->pos = tide__parser_span(p, expr->pos);
            tide__parser_advance(p);
            tide__parser_advance(p);
            expr->kind = AST_EXPR_STAR;
            return tide__parse_close(p, expr);
        }
        tide__parser_advance(p);
        if (!tide__parser_name(p, PUSH(p, path->parts, path->count), "a column name")) return NULL;
    }
    path->pos = tide__parser_span(p, expr->pos);
    if (at_token(p, TOKEN_LPAREN)) return tide__parse_call(p, path);
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_word(struct parser *p) {
    switch ((int)p->token.keyword) {
    case K_CASE: return parse_case(p);
    case K_CAST:
    case K_TRY_CAST: return parse_cast(p);
    case K_EXISTS: return parse_exists(p);
    case K_INTERVAL: return tide__parse_interval(p);
    case K_ROW: return parse_row(p);
    case K_ARRAY: return parse_array(p);
    case K_DEFAULT: return parse_default(p);
    case K_MAP:
        if (peek_token(p, 1, TOKEN_LBRACKET)) return parse_map(p);
        break;
    case K_DESCRIPTOR:
        if (peek_token(p, 1, TOKEN_LPAREN)) return parse_descriptor(p);
        break;
    case K_MULTISET:
        tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, "use ARRAY[...]", "MULTISET values are not supported");
        return NULL;
    default: break;
    }
    enum keyword_class class = tide__keyword_class(p->token.keyword);
    if (class == KEYWORD_NILADIC) return parse_niladic(p);
    if (class == KEYWORD_FREE) return parse_column(p);
    if (class == KEYWORD_CALLABLE && peek_token(p, 1, TOKEN_LPAREN)) return parse_column(p);
    tide__parser_note(p, "an expression");
    tide__parser_unexpected(p);
    return NULL;
}

static struct ast_expr *parse_plain(struct parser *p) {
    struct ast_expr *expr = tide__parse_literal(p);
    if (expr || p->err->status != TIDE_OK) return expr;
    switch ((int)p->token.kind) {
    case TOKEN_LPAREN: return parse_parenthesis(p);
    case TOKEN_WORD: return parse_word(p);
    case TOKEN_QUOTED: return parse_column(p);
    case TOKEN_QUESTION:
        tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "write the value itself",
                          "parameters (?) are not supported");
        return NULL;
    default:
        tide__parser_note(p, "an expression");
        tide__parser_unexpected(p);
        return NULL;
    }
}

struct ast_expr *tide__parse_primary(struct parser *p) {
    struct ast_expr *expr = parse_plain(p);
    while (expr && expr->kind != AST_EXPR_STAR) {
        if (at_token(p, TOKEN_LBRACKET)) {
            struct ast_expr *element = tide__parse_new(p, AST_EXPR_ELEMENT, expr->pos);
            tide__parser_advance(p);
            struct ast_expr *index = tide__parse_expression(p);
            if (!index || !tide__parser_expect(p, TOKEN_RBRACKET)) return NULL;
            tide__parse_push(p, &element->args, expr);
            tide__parse_push(p, &element->args, index);
            expr = tide__parse_close(p, element);
        } else if (at_token(p, TOKEN_DOT) && expr->kind != AST_EXPR_LITERAL) {
            struct ast_expr *field = tide__parse_new(p, AST_EXPR_FIELD, expr->pos);
            tide__parser_advance(p);
            if (!tide__parser_name(p, &field->name, "a field name")) return NULL;
            tide__parse_push(p, &field->args, expr);
            expr = tide__parse_close(p, field);
        } else {
            break;
        }
    }
    return expr;
}
