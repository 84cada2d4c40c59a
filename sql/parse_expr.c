// Expressions: operators by precedence, Calcite's.
//
//   80  unary + -
//   60  * / % ||          (yes: || binds like *)
//   40  + -
//   32  BETWEEN, IN, LIKE, SIMILAR TO
//   30  = <> < <= > >=, IS DISTINCT FROM, OVERLAPS
//   28  IS NULL, IS TRUE, ...
//   26  NOT
//   24  AND
//   22  OR
//
// All are left-associative. Chains are loops, not recursion; only operands in front of which an operator stands
// recurse, and they count as nesting.
#include "sql/parse_private.h"

#include <assert.h>

enum precedence {
    PREC_OR = 22,
    PREC_AND = 24,
    PREC_NOT = 26,
    PREC_IS = 28,
    PREC_COMPARE = 30,
    PREC_RANGE = 32,
    PREC_ADD = 40,
    PREC_MULTIPLY = 60,
    PREC_UNARY = 80,
};

// --- Building nodes ---

struct ast_expr *tide__parse_new(struct parser *p, enum ast_expr_kind kind, struct source_pos pos) {
    struct ast_expr *expr = ARENA_NEW(p->arena, struct ast_expr);
    expr->kind = kind;
    expr->pos = pos;
    return expr;
}

void tide__parse_push(struct parser *p, struct ast_exprs *list, struct ast_expr *expr) {
    *PUSH(p, list->items, list->count) = expr;
}

static void deepest_one(uint32_t *depth, const struct ast_expr *expr) {
    if (expr && expr->depth > *depth) *depth = expr->depth;
}

static void deepest(uint32_t *depth, const struct ast_exprs *list) {
    for (uint32_t i = 0; i < list->count; i++) deepest_one(depth, list->items[i]);
}

static void deepest_order(uint32_t *depth, const struct ast_order *order) {
    for (uint32_t i = 0; i < order->count; i++) deepest_one(depth, order->items[i].expr);
}

struct ast_expr *tide__parse_close(struct parser *p, struct ast_expr *expr) {
    uint32_t depth = 0;
    deepest(&depth, &expr->args);
    deepest(&depth, &expr->partition_by);
    deepest_order(&depth, &expr->order_by);
    if (expr->query && expr->query->depth > depth) depth = expr->query->depth;
    deepest_one(&depth, expr->filter);
    if (expr->over) {
        deepest(&depth, &expr->over->partition_by);
        deepest_order(&depth, &expr->over->order_by);
        deepest_one(&depth, expr->over->lower_value);
        deepest_one(&depth, expr->over->upper_value);
    }
    if (expr->json) {
        deepest_one(&depth, expr->json->empty_value);
        deepest_one(&depth, expr->json->error_value);
    }
    expr->depth = depth + 1;
    expr->pos = tide__parser_span(p, expr->pos);
    return tide__parse_check_depth(p, expr->depth, expr->pos) ? expr : NULL;
}

// The margin is for what stands above the last node that is checked.
bool tide__parse_check_depth(struct parser *p, uint32_t depth, struct source_pos pos) {
    enum { LIMIT = AST_DEPTH_MAX - 100 };
    if (depth <= LIMIT) return true;
    return tide__parser_fail(p, TIDE_ERR_PARSE, pos, "split it with views or WITH",
                             "this is more than %d operations deep", LIMIT);
}

// --- Operators ---

static struct ast_expr *parse_binary(struct parser *p, int min);

struct ast_expr *tide__parse_expression(struct parser *p) {
    if (!tide__parser_enter(p)) return NULL;
    struct ast_expr *expr = parse_binary(p, 0);
    tide__parser_leave(p);
    return expr;
}

bool tide__parse_expressions(struct parser *p, struct ast_exprs *out) {
    do {
        struct ast_expr *expr = tide__parse_expression(p);
        if (!expr) return false;
        tide__parse_push(p, out, expr);
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return true;
}

static struct ast_expr *parse_operand(struct parser *p, int min) {
    if (!tide__parser_enter(p)) return NULL;
    struct ast_expr *expr = parse_binary(p, min);
    tide__parser_leave(p);
    return expr;
}

struct ast_expr *tide__parse_term(struct parser *p) {
    return parse_operand(p, PREC_RANGE + 1);
}

static struct ast_expr *parse_prefix(struct parser *p) {
    enum ast_op op = at_word(p, K_NOT)          ? OP_NOT
                     : at_token(p, TOKEN_MINUS) ? OP_NEGATE
                     : at_token(p, TOKEN_PLUS)  ? OP_PLUS
                                                : OP_NONE;
    if (op == OP_NONE) return tide__parse_primary(p);
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_UNARY, p->token.pos);
    expr->op = op;
    expr->op_pos = p->token.pos;
    tide__parser_advance(p);
    struct ast_expr *operand = parse_operand(p, op == OP_NOT ? PREC_NOT : PREC_UNARY);
    if (!operand) return NULL;
    tide__parse_push(p, &expr->args, operand);
    return tide__parse_close(p, expr);
}

static enum ast_op comparison_op(enum token_kind kind) {
    switch ((int)kind) {
    case TOKEN_EQUAL: return OP_EQUAL;
    case TOKEN_NOT_EQUAL: return OP_NOT_EQUAL;
    case TOKEN_LESS: return OP_LESS;
    case TOKEN_LESS_EQUAL: return OP_LESS_EQUAL;
    case TOKEN_GREATER: return OP_GREATER;
    case TOKEN_GREATER_EQUAL: return OP_GREATER_EQUAL;
    default: return OP_NONE;
    }
}

// The binary operator at the current token and how strongly it binds.
static enum ast_op binary_op(const struct parser *p, int *precedence) {
    *precedence = PREC_MULTIPLY;
    switch ((int)p->token.kind) {
    case TOKEN_STAR: return OP_MULTIPLY;
    case TOKEN_SLASH: return OP_DIVIDE;
    case TOKEN_PERCENT: return OP_MODULO;
    case TOKEN_CONCAT: return OP_CONCAT;
    default: break;
    }
    *precedence = PREC_ADD;
    if (p->token.kind == TOKEN_PLUS) return OP_ADD;
    if (p->token.kind == TOKEN_MINUS) return OP_SUBTRACT;
    *precedence = PREC_COMPARE;
    if (at_word(p, K_OVERLAPS)) return OP_OVERLAPS;
    return comparison_op(p->token.kind);
}

static struct ast_expr *new_over(struct parser *p, enum ast_expr_kind kind, struct ast_expr *left) {
    struct ast_expr *expr = tide__parse_new(p, kind, left->pos);
    expr->op_pos = p->token.pos;
    tide__parse_push(p, &expr->args, left);
    return expr;
}

// ANY (..), SOME (..), ALL (..) behind a comparison
static struct ast_expr *parse_quantified(struct parser *p, struct ast_expr *expr) {
    expr->kind = AST_EXPR_QUANTIFIED;
    expr->all = at_word(p, K_ALL);
    tide__parser_advance(p);
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return NULL;
    if (tide__parse_at_query(p)) {
        if (!(expr->query = tide__parse_query(p))) return NULL;
    } else if (!tide__parse_expressions(p, &expr->args)) {
        return NULL;
    }
    if (!tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_operator(struct parser *p, struct ast_expr *left, enum ast_op op, int precedence) {
    struct ast_expr *expr = new_over(p, AST_EXPR_BINARY, left);
    expr->op = op;
    tide__parser_advance(p);
    if (precedence == PREC_COMPARE && peek_token(p, 1, TOKEN_LPAREN) &&
        (at_word(p, K_ANY) || at_word(p, K_SOME) || at_word(p, K_ALL)))
        return parse_quantified(p, expr);
    struct ast_expr *right = parse_operand(p, precedence + 1);
    if (!right) return NULL;
    tide__parse_push(p, &expr->args, right);
    return tide__parse_close(p, expr);
}

// a AND b AND c: one node. `word` is AND or OR.
static struct ast_expr *parse_chain(struct parser *p, struct ast_expr *left, enum keyword word) {
    struct ast_expr *expr = new_over(p, word == K_AND ? AST_EXPR_AND : AST_EXPR_OR, left);
    while (at_word(p, word)) {
        tide__parser_advance(p);
        struct ast_expr *right = parse_operand(p, word == K_AND ? PREC_AND + 1 : PREC_OR + 1);
        if (!right) return NULL;
        tide__parse_push(p, &expr->args, right);
    }
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_is_json(struct parser *p, struct ast_expr *expr) {
    tide__parser_advance(p);
    expr->is = IS_JSON_VALUE;
    if (tide__parser_accept_word(p, K_VALUE)) return tide__parse_close(p, expr);
    if (tide__parser_accept_word(p, K_OBJECT))
        expr->is = IS_JSON_OBJECT;
    else if (tide__parser_accept_word(p, K_ARRAY))
        expr->is = IS_JSON_ARRAY;
    else if (tide__parser_accept_word(p, K_SCALAR))
        expr->is = IS_JSON_SCALAR;
    return tide__parse_close(p, expr);
}

// Behind IS [NOT]; PREC_IS, but DISTINCT FROM has an operand.
static struct ast_expr *parse_is(struct parser *p, struct ast_expr *left) {
    struct ast_expr *expr = new_over(p, AST_EXPR_IS, left);
    tide__parser_advance(p);
    expr->negated = tide__parser_accept_word(p, K_NOT);
    if (at_word(p, K_JSON)) return parse_is_json(p, expr);
    if (tide__parser_accept_word(p, K_DISTINCT)) {
        expr->kind = AST_EXPR_IS_DISTINCT;
        if (!tide__parser_expect_word(p, K_FROM)) return NULL;
        struct ast_expr *right = parse_operand(p, PREC_COMPARE + 1);
        if (!right) return NULL;
        tide__parse_push(p, &expr->args, right);
        return tide__parse_close(p, expr);
    }
    if (tide__parser_accept_word(p, K_NULL))
        expr->is = IS_NULL;
    else if (tide__parser_accept_word(p, K_TRUE))
        expr->is = IS_TRUE;
    else if (tide__parser_accept_word(p, K_FALSE))
        expr->is = IS_FALSE;
    else if (tide__parser_accept_word(p, K_UNKNOWN))
        expr->is = IS_UNKNOWN;
    else {
        tide__parser_unexpected(p);
        return NULL;
    }
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_between(struct parser *p, struct ast_expr *expr) {
    expr->kind = AST_EXPR_BETWEEN;
    expr->symmetric = tide__parser_accept_word(p, K_SYMMETRIC);
    if (!expr->symmetric) tide__parser_accept_word(p, K_ASYMMETRIC);
    struct ast_expr *low = parse_operand(p, PREC_RANGE + 1);
    if (!low || !tide__parser_expect_word(p, K_AND)) return NULL;
    struct ast_expr *high = parse_operand(p, PREC_RANGE + 1);
    if (!high) return NULL;
    tide__parse_push(p, &expr->args, low);
    tide__parse_push(p, &expr->args, high);
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_in(struct parser *p, struct ast_expr *expr) {
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return NULL;
    struct ast_exprs list = {0};
    if (tide__parse_at_query(p)) {
        if (!(expr->query = tide__parse_query(p))) return NULL;
    } else {
        if (!tide__parse_expressions(p, &list)) return NULL;
        // IN ((SELECT ..) UNION (SELECT ..)) and IN ((SELECT ..))
        if (list.count == 1 && list.items[0]->kind == AST_EXPR_SUBQUERY)
            expr->query = tide__parse_at_query_tail(p) ? tide__parse_query_tail(p, list.items[0]->query)
                                                       : list.items[0]->query;
        if (list.count == 1 && list.items[0]->kind == AST_EXPR_SUBQUERY && !expr->query) return NULL;
    }
    if (!tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    expr->kind = expr->query ? AST_EXPR_IN_QUERY : AST_EXPR_IN_LIST;
    for (uint32_t i = 0; !expr->query && i < list.count; i++) tide__parse_push(p, &expr->args, list.items[i]);
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_like(struct parser *p, struct ast_expr *expr, enum ast_op op) {
    expr->kind = AST_EXPR_LIKE;
    expr->op = op;
    if (op == OP_SIMILAR && !tide__parser_expect_word(p, K_TO)) return NULL;
    struct ast_expr *pattern = parse_operand(p, PREC_RANGE + 1);
    if (!pattern) return NULL;
    tide__parse_push(p, &expr->args, pattern);
    if (at_word(p, K_ESCAPE)) {
        tide__parser_advance(p);
        struct ast_expr *escape = parse_operand(p, PREC_RANGE + 1);
        if (!escape) return NULL;
        tide__parse_push(p, &expr->args, escape);
    }
    return tide__parse_close(p, expr);
}

// [NOT] BETWEEN | IN | LIKE | SIMILAR TO
static struct ast_expr *parse_range(struct parser *p, struct ast_expr *left) {
    struct ast_expr *expr = new_over(p, AST_EXPR_BETWEEN, left);
    if (at_word(p, K_NOT)) {
        expr->negated = true;
        tide__parser_advance(p);
    }
    if (tide__parser_accept_word(p, K_BETWEEN)) return parse_between(p, expr);
    if (tide__parser_accept_word(p, K_IN)) return parse_in(p, expr);
    if (tide__parser_accept_word(p, K_LIKE)) return parse_like(p, expr, OP_LIKE);
    if (tide__parser_accept_word(p, K_SIMILAR)) return parse_like(p, expr, OP_SIMILAR);
    tide__parser_unexpected(p);
    return NULL;
}

static bool is_range_word(const struct token *token) {
    return is_word(token, K_BETWEEN) || is_word(token, K_IN) || is_word(token, K_LIKE) || is_word(token, K_SIMILAR);
}

static bool at_range(struct parser *p) {
    if (at_word(p, K_NOT)) return is_range_word(tide__parser_peek(p, 1));
    return is_range_word(&p->token);
}

// The next operator that binds at least as strongly as `min`, applied to *left; false if there is none.
static bool extend(struct parser *p, struct ast_expr **left, int min) {
    int precedence;
    enum ast_op op = binary_op(p, &precedence);
    if (op != OP_NONE) {
        if (precedence < min) return false;
        *left = parse_operator(p, *left, op, precedence);
    } else if (at_token(p, TOKEN_BANG_EQUAL)) {
        *left = NULL;
        tide__parser_unexpected(p);
    } else if (at_word(p, K_IS) && PREC_IS >= min) {
        *left = parse_is(p, *left);
    } else if (PREC_RANGE >= min && at_range(p)) {
        *left = parse_range(p, *left);
    } else if (at_word(p, K_AND) && PREC_AND >= min) {
        *left = parse_chain(p, *left, K_AND);
    } else if (at_word(p, K_OR) && PREC_OR >= min) {
        *left = parse_chain(p, *left, K_OR);
    } else {
        return false;
    }
    return true;
}

static struct ast_expr *parse_binary(struct parser *p, int min) {
    struct ast_expr *left = parse_prefix(p);
    while (left && extend(p, &left, min)) continue;
    return left;
}
