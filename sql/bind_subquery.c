// Subqueries become joins: [NOT] EXISTS and [NOT] IN in WHERE are SEMI and ANTI joins, all others LEFT joins with at most one
// row (bind_subquery_value.c).
//
// A subquery may see columns of the query around it in its WHERE. Such conditions are taken out and become conditions of the
// join; what they compare must then be in the subquery's result. Below an aggregation that means one more group key:
//
//   (SELECT MAX(v) FROM u WHERE u.k = t.k)  ->  SELECT MAX(v), u.k FROM u GROUP BY u.k, joined on u.k = t.k
//
// and where the condition is no equality, the subquery is first joined with all distinct outer values.
#include "sql/bind.h"

#include <string.h>

static bool is_outer_column(const struct expr *expr) {
    return expr->kind == EXPR_COLUMN && expr->column >= OUTER_COLUMN_FIRST && expr->column < VIRTUAL_COLUMN_FIRST;
}

bool tide__expr_has_outer(const struct expr *expr) {
    if (is_outer_column(expr)) return true;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (tide__expr_has_outer(expr->args[i])) return true;
    }
    return false;
}

static bool has_inner(const struct expr *expr) {
    if (expr->kind == EXPR_COLUMN) return !is_outer_column(expr);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (has_inner(expr->args[i])) return true;
    }
    return false;
}

// Moves inner columns up by `inner`, outer ones to `outer`; copies.
static struct expr *shift(struct arena *arena, const struct expr *expr, uint32_t inner, uint32_t outer) {
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (is_outer_column(expr)) {
        copy->column = expr->column - OUTER_COLUMN_FIRST + outer;
    } else if (expr->kind == EXPR_COLUMN) {
        copy->column += inner;
    }
    copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = shift(arena, expr->args[i], inner, outer);
    return copy;
}

bool tide__expr_has_virtual(const struct expr *expr) {
    if (expr->kind == EXPR_COLUMN && expr->column >= VIRTUAL_COLUMN_FIRST) return true;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (tide__expr_has_virtual(expr->args[i])) return true;
    }
    return false;
}

struct expr *tide__expr_move_inner(struct arena *arena, const struct expr *expr, int32_t by) {
    return shift(arena, expr, (uint32_t)by, OUTER_COLUMN_FIRST);
}

struct expr *tide__expr_outer(struct arena *arena, const struct expr *expr) {
    return shift(arena, expr, OUTER_COLUMN_FIRST, 0);
}

// --- Conditions that reach out ---

static void add_condition(struct binder *b, struct correlation *correlation, struct expr *condition) {
    correlation->conditions = tide__bind_grow(b->arena, correlation->conditions, correlation->condition_count,
                                              &correlation->condition_capacity, sizeof(correlation->conditions[0]));
    correlation->conditions[correlation->condition_count++] = condition;
}

static uint32_t add_item(struct correlated *c, struct expr *expr) {
    for (uint32_t i = 0; i < c->item_count; i++) {
        if (tide__expr_equal(c->items[i], expr)) return i;
    }
    c->items[c->item_count] = expr;
    return c->item_count++;
}

static uint32_t count_columns(const struct expr *expr) {
    uint32_t count = expr->kind == EXPR_COLUMN ? 1 : 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) count += count_columns(expr->args[i]);
    return count;
}

// Without an aggregation: each inner column that is compared is one more item.
static struct expr *over_items(struct correlated *c, const struct expr *expr) {
    struct arena *arena = c->scope->binder->arena;
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (expr->kind == EXPR_COLUMN && !is_outer_column(expr)) {
        struct expr *column = tide__expr_column(arena, expr->column, expr->type, expr->pos);
        copy->column = c->first_field + add_item(c, column);
    }
    copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = over_items(c, expr->args[i]);
    return copy;
}

static tide_status add_key(struct correlated *c, struct expr *expr) {
    struct select_scope *s = c->scope;
    if (s->keys == NULL) s->keys = ARENA_ARRAY(s->binder->arena, struct expr *, BIND_KEYS_MAX);
    if (s->key_count == BIND_KEYS_MAX) {
        return tide__fail_at(s->binder->err, TIDE_ERR_PLAN, expr->pos, "the subquery has too many keys");
    }
    s->keys[s->key_count++] = expr;
    s->implicit_keys++;
    return TIDE_OK;
}

// inner = outer, on either side.
static bool is_equality(const struct expr *condition, uint32_t *out_inner) {
    if (condition->kind != EXPR_CALL || strcmp(condition->function->name, "=") != 0) return false;
    for (uint32_t side = 0; side < 2; side++) {
        const struct expr *inner = condition->args[side], *outer = condition->args[1 - side];
        if (tide__expr_has_outer(inner) || has_inner(outer)) continue;
        *out_inner = side;
        return true;
    }
    return false;
}

static tide_status key_conditions(struct correlated *c, struct correlation *correlation) {
    struct arena *arena = c->scope->binder->arena;
    for (uint32_t i = 0; i < c->condition_count; i++) {
        uint32_t side = 0;
        is_equality(c->conditions[i], &side);
        struct expr *inner = c->conditions[i]->args[side], *copy = ARENA_NEW(arena, struct expr);
        uint32_t before = c->item_count, item = add_item(c, inner);
        if (item == before) TIDE_TRY(add_key(c, inner));
        *copy = *c->conditions[i];
        copy->args = ARENA_ARRAY(arena, struct expr *, 2);
        copy->args[side] = tide__expr_column(arena, c->first_field + item, inner->type, inner->pos);
        copy->args[1 - side] = c->conditions[i]->args[1 - side];
        add_condition(c->scope->binder, correlation, copy);
    }
    return TIDE_OK;
}

// --- Distinct outer values ---

static void collect_outer(const struct expr *expr, uint32_t *columns, uint32_t *count) {
    if (is_outer_column(expr)) {
        uint32_t column = expr->column - OUTER_COLUMN_FIRST, i = 0;
        while (i < *count && columns[i] != column) i++;
        columns[i] = column;
        if (i == *count) (*count)++;
    }
    for (uint32_t i = 0; i < expr->arg_count; i++) collect_outer(expr->args[i], columns, count);
}

static struct expr *over_values(struct arena *arena, const struct expr *expr, const uint32_t *columns, uint32_t first) {
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (is_outer_column(expr)) {
        uint32_t i = 0;
        while (columns[i] != expr->column - OUTER_COLUMN_FIRST) i++;
        copy->column = first + i;
    }
    copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = over_values(arena, expr->args[i], columns, first);
    return copy;
}

static struct plan_node *distinct_values(struct binder *b, struct plan_node *outer, const uint32_t *columns,
                                         uint32_t count, struct source_pos pos) {
    struct plan_node *calc = tide__node_calc(b->arena, tide__node_copy(b->arena, outer), count, pos);
    for (uint32_t i = 0; i < count; i++) {
        calc->calc.outputs[i] = tide__node_column(b->arena, outer, columns[i], pos);
        calc->fields[i] = outer->fields[columns[i]];
    }
    return tide__node_distinct(b->arena, calc, pos);
}

static tide_status value_conditions(struct correlated *c, struct correlation *correlation) {
    struct binder *b = c->scope->binder;
    struct source_pos pos = c->conditions[0]->pos;
    uint32_t most = 0, count = 0, n = c->input->field_count;
    for (uint32_t i = 0; i < c->condition_count; i++) most += count_columns(c->conditions[i]);
    uint32_t *columns = ARENA_ARRAY(b->arena, uint32_t, most + 1);
    for (uint32_t i = 0; i < c->condition_count; i++) collect_outer(c->conditions[i], columns, &count);
    struct plan_node *values = distinct_values(b, correlation->outer, columns, count, pos);
    struct plan_node *join = tide__node_join(b->arena, JOIN_INNER, c->input, values, pos);
    for (uint32_t i = 0; i < c->condition_count; i++) {
        struct expr *condition = over_values(b->arena, c->conditions[i], columns, n);
        TIDE_TRY(tide__bind_and(b, condition, &join->join.condition));
    }
    c->input = join;
    for (uint32_t i = 0; i < count; i++) {
        struct expr *key = tide__node_column(b->arena, join, n + i, pos), *equal;
        TIDE_TRY(add_key(c, key));
        struct expr *sides[2] = {tide__expr_column(b->arena, c->first_field + add_item(c, key), key->type, pos),
                                 tide__expr_column(b->arena, OUTER_COLUMN_FIRST + columns[i], key->type, pos)};
        TIDE_TRY(tide__bind_function(b, "=", sides, 2, pos, &equal));
        add_condition(b, correlation, equal);
    }
    return TIDE_OK;
}

tide_status tide__bind_correlate(struct correlated *c, struct correlation *correlation) {
    struct arena *arena = c->scope->binder->arena;
    uint32_t most = 0;
    bool equalities = true;
    for (uint32_t i = 0; i < c->condition_count; i++) {
        uint32_t side;
        most += count_columns(c->conditions[i]) + 1;
        equalities &= is_equality(c->conditions[i], &side);
    }
    c->items = ARENA_ARRAY(arena, struct expr *, most);
    if (c->aggregated && equalities) return key_conditions(c, correlation);
    if (c->aggregated) return value_conditions(c, correlation);
    for (uint32_t i = 0; i < c->condition_count; i++) {
        add_condition(c->scope->binder, correlation, over_items(c, c->conditions[i]));
    }
    return TIDE_OK;
}

tide_status tide__bind_correlated(struct select_scope *s, const struct ast_query *query, struct relation *out,
                                  struct correlation *correlation) {
    struct binder *b = s->binder;
    struct correlation *outer = b->correlation;
    *correlation = (struct correlation){.scope = s, .outer = s->input == NULL ? NULL : s->input->node};
    b->correlation = s->input == NULL ? NULL : correlation;
    tide_status status = tide__bind_query(b, query, out);
    b->correlation = outer;
    TIDE_TRY(status);
    if (query->limit == NULL) return TIDE_OK;
    for (uint32_t i = 0; i < correlation->condition_count; i++) {  // then the limit is one for each outer value
        uint32_t side;
        if (is_equality(correlation->conditions[i], &side)) continue;
        return tide__fail_at(b->err, TIDE_ERR_PLAN, query->pos,
                             "with a LIMIT a subquery may compare columns of the query around it by = only");
    }
    return TIDE_OK;
}

// The subquery's conditions, over `left_count` columns of the query around it and then the subquery's.
tide_status tide__bind_join_condition(struct binder *b, const struct correlation *correlation, uint32_t left_count,
                                      struct expr **inout) {
    for (uint32_t i = 0; i < correlation->condition_count; i++) {
        TIDE_TRY(tide__bind_and(b, shift(b->arena, correlation->conditions[i], left_count, 0), inout));
    }
    return TIDE_OK;
}

// --- EXISTS, IN ---

static const struct ast_expr *peel(const struct ast_expr *ast, bool *out_negated) {
    *out_negated = false;
    while (ast->kind == AST_EXPR_UNARY && ast->op == OP_NOT) {
        *out_negated = !*out_negated;
        ast = ast->args.items[0];
    }
    *out_negated ^= ast->negated;
    return ast;
}

bool tide__bind_is_semi_join(const struct ast_expr *ast) {
    bool negated;
    ast = peel(ast, &negated);
    bool quantified = ast->kind == AST_EXPR_QUANTIFIED && ast->query != NULL;
    return ast->kind == AST_EXPR_EXISTS || ast->kind == AST_EXPR_IN_QUERY || quantified;
}

static tide_status either(struct binder *b, struct expr *more, struct expr **inout) {
    struct expr *args[2] = {*inout, more};
    return tide__bind_function(b, "OR", args, 2, more->pos, inout);
}

// x op y. What is NULL might compare so: an ANTI join takes it for a match.
static tide_status in_condition(struct binder *b, const char *op, struct expr *left, struct expr *right, bool anti,
                                struct expr **inout) {
    struct expr *sides[2] = {left, right}, *match;
    TIDE_TRY(tide__bind_function(b, op, sides, 2, left->pos, &match));
    for (uint32_t i = 0; anti && i < 2; i++) {
        struct expr *arg[1] = {i == 0 ? left : right}, *is_null;
        if (!arg[0]->type->nullable) continue;
        TIDE_TRY(tide__bind_function(b, "IS NULL", arg, 1, left->pos, &is_null));
        TIDE_TRY(either(b, is_null, &match));
    }
    return tide__bind_and(b, match, inout);
}

static tide_status in_conditions(struct select_scope *s, const struct ast_expr *ast, const struct plan_node *left,
                                 const struct plan_node *right, uint32_t value_count, struct plan_node *join) {
    struct binder *b = s->binder;
    const struct ast_expr *value = ast->args.items[0];
    bool quantified = ast->kind == AST_EXPR_QUANTIFIED;
    const char *op = quantified ? tide__bind_comparison_name(ast->op, ast->all) : "=";
    uint32_t count = value->kind == AST_EXPR_ROW ? value->args.count : 1;
    if (count != value_count) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%s compares %u value%s with %u column%s",
                             quantified ? "ANY and ALL" : "IN", count, count == 1 ? "" : "s", value_count,
                             value_count == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < count; i++) {
        struct expr *own;
        TIDE_TRY(tide__bind_expr(s, value->kind == AST_EXPR_ROW ? value->args.items[i] : value, &own));
        struct expr *other = tide__node_column(b->arena, right, i, ast->pos);
        other->column += left->field_count;
        TIDE_TRY(in_condition(b, op, own, other, join->join.kind == JOIN_ANTI, &join->join.condition));
    }
    return TIDE_OK;
}

tide_status tide__bind_semi_join(struct select_scope *s, const struct ast_expr *ast, struct plan_node *input,
                                 struct plan_node **out) {
    struct binder *b = s->binder;
    bool negated;
    ast = peel(ast, &negated);
    struct relation right = {0};
    struct correlation correlation;
    TIDE_TRY(tide__bind_correlated(s, ast->query, &right, &correlation));
    // x > ALL (..): there is none that x is not greater than.
    bool anti = negated != (ast->kind == AST_EXPR_QUANTIFIED && ast->all);
    struct plan_node *node = tide__node_join(b->arena, anti ? JOIN_ANTI : JOIN_SEMI, input, right.node, ast->pos);
    *out = node;
    if (ast->kind != AST_EXPR_EXISTS) {
        uint32_t values = right.node->field_count - correlation.item_count;
        TIDE_TRY(in_conditions(s, ast, input, right.node, values, node));
    }
    return tide__bind_join_condition(b, &correlation, input->field_count, &node->join.condition);
}
