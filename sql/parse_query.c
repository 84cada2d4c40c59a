// Queries: WITH, SELECT, VALUES, TABLE t, set operations, ORDER BY, LIMIT.
#include "sql/parse_private.h"

#include <assert.h>

bool tide__parse_at_query(struct parser *p) {
    return at_word(p, K_SELECT) || at_word(p, K_WITH) || at_word(p, K_VALUES);
}

bool tide__parse_at_query_tail(struct parser *p) {
    return at_word(p, K_UNION) || at_word(p, K_INTERSECT) || at_word(p, K_EXCEPT) || at_word(p, K_MINUS) ||
           at_word(p, K_ORDER) || at_word(p, K_LIMIT) || at_word(p, K_OFFSET) || at_word(p, K_FETCH);
}

// --- Depth ---

static void deepest(uint32_t *depth, uint32_t other) {
    if (other > *depth) *depth = other;
}

static void deepest_exprs(uint32_t *depth, const struct ast_exprs *list) {
    for (uint32_t i = 0; i < list->count; i++) deepest(depth, list->items[i]->depth);
}

static void deepest_group(uint32_t *depth, const struct ast_group *group) {
    // Bounded: groups nest only as deep as the parser went.
    deepest_exprs(depth, &group->exprs);
    for (uint32_t i = 0; i < group->child_count; i++) {
        uint32_t inner = 0;
        deepest_group(&inner, &group->children[i]);
        deepest(depth, inner + 1);
    }
}

static void deepest_select(uint32_t *depth, const struct ast_query *query) {
    for (uint32_t i = 0; i < query->item_count; i++) deepest(depth, query->items[i].expr->depth);
    if (query->from) deepest(depth, query->from->depth);
    if (query->where) deepest(depth, query->where->depth);
    if (query->having) deepest(depth, query->having->depth);
    if (query->qualify) deepest(depth, query->qualify->depth);
    for (uint32_t i = 0; i < query->group_by.count; i++) deepest_group(depth, &query->group_by.items[i]);
    for (uint32_t i = 0; i < query->window_count; i++) {
        const struct ast_window *window = query->windows[i].window;
        deepest_exprs(depth, &window->partition_by);
        for (uint32_t j = 0; j < window->order_by.count; j++) deepest(depth, window->order_by.items[j].expr->depth);
        if (window->lower_value) deepest(depth, window->lower_value->depth);
        if (window->upper_value) deepest(depth, window->upper_value->depth);
    }
}

struct ast_query *tide__parse_close_query(struct parser *p, struct ast_query *query, struct source_pos from) {
    uint32_t depth = 0;
    deepest_select(&depth, query);
    deepest_exprs(&depth, &query->rows);
    for (uint32_t i = 0; i < query->cte_count; i++) deepest(&depth, query->ctes[i].query->depth);
    for (uint32_t i = 0; i < query->order_by.count; i++) deepest(&depth, query->order_by.items[i].expr->depth);
    if (query->left) deepest(&depth, query->left->depth);
    if (query->right) deepest(&depth, query->right->depth);
    query->depth = depth + 1;
    query->pos = tide__parser_span(p, from);
    return tide__parse_check_depth(p, query->depth, query->pos) ? query : NULL;
}

// --- SELECT ---

static bool parse_item(struct parser *p, struct ast_select_item *item) {
    struct source_pos start = p->token.pos;
    p->star_at = start.offset;
    if (at_token(p, TOKEN_STAR)) {
        struct ast_expr *star = tide__parse_new(p, AST_EXPR_STAR, start);
        tide__parser_advance(p);
        item->expr = tide__parse_close(p, star);
    } else {
        tide__parser_note(p, "*");
        item->expr = tide__parse_expression(p);
    }
    if (!item->expr) return false;
    if (item->expr->kind == AST_EXPR_STAR) {
        item->pos = tide__parser_span(p, start);
        return true;
    }
    if (tide__parser_accept_word(p, K_AS)) {
        if (!tide__parser_name(p, &item->alias, "a column name")) return false;
    } else if (tide__parser_at_name(p)) {
        if (!tide__parser_name(p, &item->alias, "a column name")) return false;
    }
    item->pos = tide__parser_span(p, start);
    return true;
}

// Hints of SELECT are for Flink's planner only.
static bool skip_hint(struct parser *p) {
    if (!at_token(p, TOKEN_HINT_OPEN)) return true;
    struct source_pos start = p->token.pos;
    while (!at_token(p, TOKEN_HINT_CLOSE)) {
        if (at_token(p, TOKEN_END))
            return tide__parser_fail(p, TIDE_ERR_PARSE, start, "close it with */", "this hint is never closed");
        if (at_token(p, TOKEN_ERROR)) return tide__parser_unexpected(p);
        tide__parser_advance(p);
    }
    tide__parser_advance(p);
    return true;
}

static bool parse_group(struct parser *p, struct ast_group *group);

// ( group, group, ... ) of GROUPING SETS, ROLLUP, CUBE
static bool parse_group_children(struct parser *p, struct ast_group *group) {
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return false;
    struct ast_group *children = NULL;
    uint32_t count = 0;
    do {
        struct ast_group child = {0};
        if (!parse_group(p, &child)) return false;
        if (group->kind != GROUP_SETS && child.kind != GROUP_EXPR)
            return tide__parser_fail(p, TIDE_ERR_PARSE, child.pos, NULL,
                                     "ROLLUP and CUBE take plain columns and lists of columns");
        *PUSH(p, children, count) = child;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    group->children = children;
    group->child_count = count;
    return tide__parser_expect(p, TOKEN_RPAREN);
}

static bool parse_group_kind(struct parser *p, struct ast_group *group) {
    if (at_word(p, K_GROUPING) && peek_word(p, 1, K_SETS)) {
        group->kind = GROUP_SETS;
        tide__parser_advance(p);
    } else if (at_word(p, K_ROLLUP)) {
        group->kind = GROUP_ROLLUP;
    } else if (at_word(p, K_CUBE)) {
        group->kind = GROUP_CUBE;
    } else if (at_token(p, TOKEN_LPAREN) && peek_token(p, 1, TOKEN_RPAREN)) {
        tide__parser_advance(p);
        tide__parser_advance(p);
        return true;
    } else {
        struct ast_expr *expr = tide__parse_expression(p);
        if (!expr) return false;
        // (a, b) is a list here, ROW(a, b) is a value.
        if (expr->kind == AST_EXPR_ROW && expr->text.len == 0)
            group->exprs = expr->args;
        else
            tide__parse_push(p, &group->exprs, expr);
        return true;
    }
    tide__parser_advance(p);
    return parse_group_children(p, group);
}

static bool parse_group(struct parser *p, struct ast_group *group) {
    struct source_pos start = p->token.pos;
    if (!tide__parser_enter(p)) return false;
    bool ok = parse_group_kind(p, group);
    tide__parser_leave(p);
    group->pos = tide__parser_span(p, start);
    return ok;
}

static bool parse_group_by(struct parser *p, struct ast_query *query) {
    struct source_pos start = p->previous.pos;
    if (!tide__parser_expect_word(p, K_BY)) return false;
    query->has_group_by = true;
    query->group_by.distinct = tide__parser_accept_word(p, K_DISTINCT);
    if (!query->group_by.distinct) tide__parser_accept_word(p, K_ALL);
    do {
        if (!parse_group(p, PUSH(p, query->group_by.items, query->group_by.count))) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    query->group_pos = tide__parser_span(p, start);
    return true;
}

static bool parse_windows(struct parser *p, struct ast_query *query) {
    do {
        struct ast_named_window *named = PUSH(p, query->windows, query->window_count);
        if (!tide__parser_name(p, &named->name, "a window name")) return false;
        if (!tide__parser_expect_word(p, K_AS)) return false;
        if (!(named->window = tide__parse_window(p))) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return true;
}

static bool parse_clauses(struct parser *p, struct ast_query *query) {
    if (!tide__parser_accept_word(p, K_FROM)) return true;
    if (!(query->from = tide__parse_from(p))) return false;
    if (tide__parser_accept_word(p, K_WHERE) && !(query->where = tide__parse_expression(p))) return false;
    if (tide__parser_accept_word(p, K_GROUP) && !parse_group_by(p, query)) return false;
    if (tide__parser_accept_word(p, K_HAVING) && !(query->having = tide__parse_expression(p))) return false;
    if (tide__parser_accept_word(p, K_WINDOW) && !parse_windows(p, query)) return false;
    return !tide__parser_accept_word(p, K_QUALIFY) || (query->qualify = tide__parse_expression(p)) != NULL;
}

static struct ast_query *parse_select(struct parser *p) {
    struct ast_query *query = ARENA_NEW(p->arena, struct ast_query);
    struct source_pos start = p->token.pos;
    query->kind = QUERY_SELECT;
    tide__parser_advance(p);
    if (!skip_hint(p)) return NULL;
    query->distinct_pos = p->token.pos;
    query->distinct = tide__parser_accept_word(p, K_DISTINCT);
    if (!query->distinct) tide__parser_accept_word(p, K_ALL);
    do {
        if (!parse_item(p, PUSH(p, query->items, query->item_count))) return NULL;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return parse_clauses(p, query) ? tide__parse_close_query(p, query, start) : NULL;
}

// --- VALUES, TABLE t ---

static struct ast_query *parse_values(struct parser *p) {
    struct ast_query *query = ARENA_NEW(p->arena, struct ast_query);
    struct source_pos start = p->token.pos;
    query->kind = QUERY_VALUES;
    tide__parser_advance(p);
    do {
        struct ast_expr *row = tide__parse_expression(p);
        if (!row) return NULL;
        if (row->kind != AST_EXPR_ROW) {
            struct ast_expr *lone = tide__parse_new(p, AST_EXPR_ROW, row->pos);
            tide__parse_push(p, &lone->args, row);
            if (!(row = tide__parse_close(p, lone))) return NULL;
        }
        tide__parse_push(p, &query->rows, row);
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return tide__parse_close_query(p, query, start);
}

static struct ast_query *parse_table_query(struct parser *p) {
    struct ast_query *query = ARENA_NEW(p->arena, struct ast_query);
    struct source_pos start = p->token.pos;
    query->kind = QUERY_TABLE;
    tide__parser_advance(p);
    if (!tide__parser_path(p, &query->path, "a table name")) return NULL;
    return tide__parse_close_query(p, query, start);
}

static struct ast_query *parse_simple(struct parser *p) {
    if (at_word(p, K_SELECT)) return parse_select(p);
    if (at_word(p, K_VALUES)) return parse_values(p);
    if (at_word(p, K_TABLE)) return parse_table_query(p);
    if (at_token(p, TOKEN_LPAREN)) {
        tide__parser_advance(p);
        struct ast_query *query = tide__parse_query(p);
        return query && tide__parser_expect(p, TOKEN_RPAREN) ? query : NULL;
    }
    tide__parser_note(p, "SELECT");
    tide__parser_note(p, "VALUES");
    tide__parser_note(p, "a query in parentheses");
    tide__parser_unexpected(p);
    return NULL;
}

// --- Set operations ---

static bool at_set_op(const struct parser *p, enum ast_set_op *op) {
    if (at_word(p, K_UNION))
        *op = SET_UNION;
    else if (at_word(p, K_EXCEPT) || at_word(p, K_MINUS))
        *op = SET_EXCEPT;
    else if (at_word(p, K_INTERSECT))
        *op = SET_INTERSECT;
    else
        return false;
    return true;
}

static struct ast_query *parse_set_rest(struct parser *p, struct ast_query *left, bool intersect_only);

// left op right; INTERSECT binds more strongly than the others.
static struct ast_query *parse_set_op(struct parser *p, struct ast_query *left, enum ast_set_op op) {
    struct ast_query *query = ARENA_NEW(p->arena, struct ast_query);
    query->kind = QUERY_SET_OP;
    query->set_op = op;
    query->op_pos = p->token.pos;
    if (at_word(p, K_MINUS)) {
        tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "write EXCEPT", "MINUS is not Flink SQL");
        return NULL;
    }
    tide__parser_advance(p);
    query->all = tide__parser_accept_word(p, K_ALL);
    if (!query->all) tide__parser_accept_word(p, K_DISTINCT);
    query->op_pos = tide__parser_span(p, query->op_pos);
    query->left = left;
    struct ast_query *right = parse_simple(p);
    if (right && op != SET_INTERSECT) right = parse_set_rest(p, right, true);
    if (!(query->right = right)) return NULL;
    return tide__parse_close_query(p, query, left->pos);
}

static struct ast_query *parse_set_rest(struct parser *p, struct ast_query *left, bool intersect_only) {
    enum ast_set_op op;
    while (left && at_set_op(p, &op)) {
        if (intersect_only && op != SET_INTERSECT) break;
        left = parse_set_op(p, left, op);
    }
    return left;
}

// --- WITH, ORDER BY, LIMIT ---

static bool parse_ctes(struct parser *p, struct ast_cte **ctes, uint32_t *count) {
    if (at_word(p, K_RECURSIVE))
        return tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, NULL, "WITH RECURSIVE is not supported");
    do {
        struct ast_cte *cte = PUSH(p, *ctes, *count);
        if (!tide__parser_name(p, &cte->name, "a name for the query")) return false;
        if (at_token(p, TOKEN_LPAREN) && !tide__parser_names(p, &cte->columns, "a column name")) return false;
        if (!tide__parser_expect_word(p, K_AS) || !tide__parser_expect(p, TOKEN_LPAREN)) return false;
        if (!(cte->query = tide__parse_query(p))) return false;
        if (!tide__parser_expect(p, TOKEN_RPAREN)) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return true;
}

static bool parse_count(struct parser *p, struct ast_expr **out) {
    if (!at_token(p, TOKEN_INTEGER)) {
        tide__parser_note(p, "a whole number");
        return tide__parser_unexpected(p);
    }
    return (*out = tide__parse_literal(p)) != NULL;
}

static void skip_rows(struct parser *p) {
    if (!tide__parser_accept_word(p, K_ROW)) tide__parser_accept_word(p, K_ROWS);
}

static bool parse_fetch(struct parser *p, struct ast_expr **limit) {
    if (!tide__parser_accept_word(p, K_FIRST) && !tide__parser_expect_word(p, K_NEXT)) return false;
    if (!parse_count(p, limit)) return false;
    skip_rows(p);
    return tide__parser_expect_word(p, K_ONLY);
}

static bool has_order(const struct ast_query *query) {
    return query->order_by.count > 0 || query->limit || query->offset;
}

static struct ast_query *nest(struct parser *p, struct ast_query *inner) {
    struct ast_query *query = ARENA_NEW(p->arena, struct ast_query);
    query->kind = QUERY_NESTED;
    query->left = inner;
    return tide__parse_close_query(p, query, inner->pos);
}

static struct ast_query *parse_order_and_limit(struct parser *p, struct ast_query *query) {
    if (has_order(query) &&
        (at_word(p, K_ORDER) || at_word(p, K_LIMIT) || at_word(p, K_OFFSET) || at_word(p, K_FETCH)) &&
        !(query = nest(p, query)))
        return NULL;
    struct source_pos start = p->token.pos;
    if (tide__parser_accept_word(p, K_ORDER)) {
        if (!tide__parser_expect_word(p, K_BY)) return NULL;
        if (!tide__parse_order_by(p, &query->order_by)) return NULL;
        query->order_pos = tide__parser_span(p, start);
    }
    if (tide__parser_accept_word(p, K_LIMIT) && !tide__parser_accept_word(p, K_ALL) && !parse_count(p, &query->limit))
        return NULL;
    if (tide__parser_accept_word(p, K_OFFSET)) {
        if (!parse_count(p, &query->offset)) return NULL;
        skip_rows(p);
    }
    if (!query->limit && tide__parser_accept_word(p, K_FETCH) && !parse_fetch(p, &query->limit)) return NULL;
    return query;
}

static struct ast_query *parse_query_body(struct parser *p) {
    struct source_pos start = p->token.pos;
    struct ast_cte *ctes = NULL;
    uint32_t cte_count = 0;
    if (tide__parser_accept_word(p, K_WITH) && !parse_ctes(p, &ctes, &cte_count)) return NULL;
    struct ast_query *query = parse_simple(p);
    if (query) query = parse_set_rest(p, query, false);
    if (query) query = parse_order_and_limit(p, query);
    if (!query) return NULL;
    if (cte_count > 0) {
        if (query->cte_count > 0 && !(query = nest(p, query))) return NULL;
        query->ctes = ctes;
        query->cte_count = cte_count;
    }
    return tide__parse_close_query(p, query, start);
}

struct ast_query *tide__parse_query(struct parser *p) {
    if (!tide__parser_enter(p)) return NULL;
    struct ast_query *query = parse_query_body(p);
    tide__parser_leave(p);
    return query;
}

struct ast_query *tide__parse_query_tail(struct parser *p, struct ast_query *first) {
    struct source_pos start = first->pos;
    struct ast_query *query = parse_set_rest(p, first, false);
    if (query) query = parse_order_and_limit(p, query);
    return query ? tide__parse_close_query(p, query, start) : NULL;
}
