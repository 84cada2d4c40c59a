// One SELECT. Its clauses are bound in the order in which SQL evaluates them, and each adds a node:
//
//   FROM -> joins with subqueries, filter (WHERE) -> calc, aggregate (GROUP BY) -> joins with subqueries, filter (HAVING) ->
//   calc, over (ROW_NUMBER) -> filter (QUALIFY) -> calc (select list) -> aggregate (DISTINCT)
//
// The select list is bound before the aggregation is built, because it says which aggregates there are.
#include "sql/bind.h"
#include "sql/names.h"

#include <assert.h>
#include <string.h>

struct select {
    struct binder *binder;
    const struct ast_query *query;
    struct select_scope scope;
    struct relation input;           // FROM at first; each clause puts nodes on it that keep its fields, or replaces it
    bool window_function;            // FROM is one
    bool is_subquery;                // of EXISTS, IN, or as a value
    uint32_t joined;                 // subqueries that are in the input already
    struct expr **outer_conditions;  // of WHERE, with columns of the query around this one
    uint32_t outer_condition_count;
    // The select list, stars expanded.
    uint32_t item_count, item_capacity;
    struct item {
        struct expr *expr;
        const char *name;
        struct str table;  // of a plain column, so that SELECT t.a FROM t stays t.a for ORDER BY
    } * items;
    struct name_set names;
    struct expr **item_exprs;  // one an AST item, NULL for stars (QUALIFY's aliases)
    struct expr *having, *qualify;
    struct order_by order;
};

// --- The select list ---

static struct item *add_item(struct select *select) {
    select->items = tide__bind_grow(select->binder->arena, select->items, select->item_count, &select->item_capacity,
                                    sizeof(select->items[0]));
    return &select->items[select->item_count++];
}

static bool has_twin(const struct plan_node *node, uint32_t field) {
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (i != field && strcmp(node->fields[i].name, node->fields[field].name) == 0) return true;
    }
    return false;
}

static tide_status expand_star(struct select *select, const struct ast_select_item *ast) {
    struct binder *b = select->binder;
    const struct relation *input = &select->input;
    const struct ast_path *path = &ast->expr->path;
    uint32_t before = select->item_count;
    if (select->query->from == NULL) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "SELECT * needs a FROM clause");
    }
    for (uint32_t i = 0; i < input->node->field_count; i++) {
        if (path->count == 0 && input->hidden != NULL && input->hidden[i]) continue;
        if (path->count > 0 &&
            (input->tables[i].data == NULL || !tide__str_eq(input->tables[i], path->parts[path->count - 1].text))) {
            continue;
        }
        if (select->window_function && has_twin(input->node, i)) {
            tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "column \"%s\" is ambiguous",
                          input->node->fields[i].name);
            return tide__fail_hint(b->err,
                                   "the window function's input has a column of this name: rename it in a view");
        }
        struct item *item = add_item(select);
        item->expr = tide__node_column(b->arena, input->node, i, ast->pos);
        // One that is called as an earlier item gets a number: k, k0.
        item->name = tide__names_unique(&select->names, input->node->fields[i].name);
        item->table = input->tables[i];
    }
    if (path->count > 0 && select->item_count == before) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "table \"%.*s\" not found in this query",
                             STR_ARG(path->parts[path->count - 1].text));
    }
    return TIDE_OK;
}

static const char *item_name(struct select *select, const struct ast_select_item *ast) {
    struct binder *b = select->binder;
    if (ast->alias.text.len > 0) return tide__bind_name(b, ast->alias.text);
    if (ast->expr->kind == AST_EXPR_COLUMN) {
        return tide__bind_name(b, ast->expr->path.parts[ast->expr->path.count - 1].text);
    }
    // CURRENT_DATE without parentheses is a name to Flink's parser, as it is written.
    if (ast->expr->niladic) return tide__bind_name(b, ast->expr->path.parts[0].text);
    return tide__arena_printf(b->arena, "EXPR$%u", select->item_count - 1);
}

static tide_status bind_items(struct select *select) {
    const struct ast_query *query = select->query;
    select->item_exprs = ARENA_ARRAY(select->binder->arena, struct expr *, query->item_count);
    for (uint32_t i = 0; i < query->item_count; i++) {
        const struct ast_select_item *ast = &query->items[i];
        if (ast->expr->kind == AST_EXPR_STAR) {
            TIDE_TRY(expand_star(select, ast));
            continue;
        }
        struct expr *expr;
        select->scope.clause = "select list";
        TIDE_TRY(tide__bind_expr(&select->scope, ast->expr, &expr));
        select->item_exprs[i] = expr;
        struct item *item = add_item(select);
        item->expr = expr;
        item->name = item_name(select, ast);
        tide__names_note(&select->names, item->name);
        if (expr->kind == EXPR_COLUMN && expr->column < VIRTUAL_COLUMN_FIRST && ast->alias.text.len == 0) {
            item->table = select->input.tables[expr->column];
        }
    }
    return TIDE_OK;
}

static tide_status find_empty_group(struct select *select) {
    struct select_scope *scope = &select->scope;
    struct group_sets sets;
    TIDE_TRY(tide__bind_group_sets(scope, select->query, &sets));
    scope->groups_have_rows = true;
    for (uint32_t i = 0; i < sets.set_count; i++) {
        bool any = scope->window_call != NULL;
        for (uint32_t k = 0; k < scope->key_count; k++) any |= sets.sets[i][k];
        scope->groups_have_rows &= any;
    }
    return TIDE_OK;
}

// Names in ORDER BY are those of the select list first.
static tide_status bind_order(struct select *select) {
    // The order of a subquery means nothing without a limit.
    if (select->query->order_by.count == 0 || (select->query->limit == NULL && select->is_subquery)) return TIDE_OK;
    const struct ast_order *asts = &select->query->order_by;
    struct select_scope *scope = &select->scope;
    struct arena *arena = select->binder->arena;
    struct order_by *order = &select->order;
    uint32_t count = select->item_count;
    *order = (struct order_by){
        .scope = scope, .distinct = select->query->distinct, .visible_count = count, .item_count = count};
    order->items = ARENA_ARRAY(arena, struct expr *, count + asts->count);
    order->keys = ARENA_ARRAY(arena, struct sort_key, asts->count);
    for (uint32_t i = 0; i < count; i++) order->items[i] = select->items[i].expr;
    scope->clause = "ORDER BY clause";
    scope->alias_query = select->query;
    scope->alias_exprs = select->item_exprs;
    scope->aliases_first = true;
    for (uint32_t i = 0; i < asts->count; i++) TIDE_TRY(tide__bind_order_item(order, &asts->items[i]));
    scope->alias_query = NULL;
    scope->aliases_first = false;
    for (uint32_t i = count; i < order->item_count; i++) {
        struct item *item = add_item(select);
        *item = (struct item){.expr = order->items[i]};
        item->name = tide__arena_printf(arena, "$s%u", i);
    }
    return TIDE_OK;
}

static tide_status bind_clauses(struct select *select) {
    const struct ast_query *query = select->query;
    struct select_scope *scope = &select->scope;
    scope->allow_aggregates = scope->allow_overs = true;
    if (query->has_group_by) {
        TIDE_TRY(tide__bind_group_by(scope, query));
        TIDE_TRY(find_empty_group(select));
    }
    TIDE_TRY(bind_items(select));
    if (query->having != NULL) {
        scope->clause = "HAVING clause";
        scope->allow_overs = false;
        scope->has_aggregate = true;
        TIDE_TRY(tide__bind_condition(scope, query->having, &select->having));
        scope->allow_overs = true;
    }
    if (query->qualify != NULL) {
        scope->clause = "QUALIFY clause";
        scope->alias_query = query;
        scope->alias_exprs = select->item_exprs;
        TIDE_TRY(tide__bind_condition(scope, query->qualify, &select->qualify));
        scope->alias_query = NULL;
    }
    return TIDE_OK;
}

// --- Virtual columns become real ones ---

static struct expr *replace(struct select *select, const struct expr *expr, enum virtual_kind kind,
                            const uint32_t *columns) {
    struct arena *arena = select->binder->arena;
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (expr->kind == EXPR_COLUMN && expr->column >= VIRTUAL_COLUMN_FIRST) {
        const struct virtual_column *v = &select->scope.virtuals[expr->column - VIRTUAL_COLUMN_FIRST];
        if (v->kind == kind) copy->column = columns[v->index];
    }
    copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = replace(select, expr->args[i], kind, columns);
    return copy;
}

static void replace_everywhere(struct select *select, enum virtual_kind kind, const uint32_t *columns) {
    for (uint32_t i = 0; i < select->item_count; i++) {
        select->items[i].expr = replace(select, select->items[i].expr, kind, columns);
    }
    if (select->having != NULL) select->having = replace(select, select->having, kind, columns);
    if (select->qualify != NULL) select->qualify = replace(select, select->qualify, kind, columns);
}

// Subqueries that stand in the select list, HAVING or QUALIFY.
static tide_status join_subqueries(struct select *select) {
    struct select_scope *scope = &select->scope;
    if (select->joined == scope->subquery_count) return TIDE_OK;
    uint32_t *columns = ARENA_ARRAY(select->binder->arena, uint32_t, scope->subquery_count);
    TIDE_TRY(tide__bind_join_subqueries(scope, select->joined, select->input.node, columns, &select->input.node));
    select->joined = scope->subquery_count;
    replace_everywhere(select, VIRTUAL_SUBQUERY, columns);
    return TIDE_OK;
}

// --- Aggregation ---

static tide_status rewrite_over(struct select_scope *scope, const struct aggregated *aggregated,
                                struct bound_over *over) {
    struct arena *arena = scope->binder->arena;
    // The calls that one AVG is computed by share their window: each gets its own copy.
    struct expr **partitions = ARENA_ARRAY(arena, struct expr *, over->partition_count);
    struct expr **sorts = ARENA_ARRAY(arena, struct expr *, over->sort_count);
    for (uint32_t i = 0; i < over->partition_count; i++) {
        TIDE_TRY(tide__bind_after_aggregation(scope, aggregated, over->partitions[i], &partitions[i]));
    }
    for (uint32_t i = 0; i < over->sort_count; i++) {
        TIDE_TRY(tide__bind_after_aggregation(scope, aggregated, over->sort_exprs[i], &sorts[i]));
    }
    over->partitions = partitions;
    over->sort_exprs = sorts;
    struct bound_aggregate *call = &over->aggregate;
    for (uint32_t i = 0; i < 4 && call->args[i] != NULL; i++) {
        TIDE_TRY(tide__bind_after_aggregation(scope, aggregated, call->args[i], &call->args[i]));
    }
    if (call->filter != NULL) TIDE_TRY(tide__bind_after_aggregation(scope, aggregated, call->filter, &call->filter));
    return TIDE_OK;
}

// The outer columns in a subquery's condition are those of the aggregation now.
static tide_status rewrite_outer(struct select_scope *scope, const struct aggregated *aggregated, struct expr *expr) {
    for (uint32_t i = 0; i < expr->arg_count; i++) TIDE_TRY(rewrite_outer(scope, aggregated, expr->args[i]));
    if (expr->kind != EXPR_COLUMN || expr->column < OUTER_COLUMN_FIRST) return TIDE_OK;
    struct expr *column = tide__expr_column(scope->binder->arena, expr->column - OUTER_COLUMN_FIRST, expr->type,
                                            expr->pos);
    TIDE_TRY(tide__bind_after_aggregation(scope, aggregated, column, &column));
    expr->column = column->column + OUTER_COLUMN_FIRST;
    return TIDE_OK;
}

static tide_status rewrite_subqueries(struct select *select, const struct aggregated *aggregated) {
    struct select_scope *scope = &select->scope;
    for (uint32_t i = select->joined; i < scope->subquery_count; i++) {
        const struct correlation *correlation = &scope->subqueries[i].correlation;
        for (uint32_t c = 0; c < correlation->condition_count; c++) {
            TIDE_TRY(rewrite_outer(scope, aggregated, correlation->conditions[c]));
        }
    }
    return TIDE_OK;
}

static tide_status aggregate(struct select *select) {
    struct select_scope *scope = &select->scope;
    struct aggregated aggregated = {0};
    TIDE_TRY(tide__bind_aggregation(scope, select->query, &aggregated));
    for (uint32_t i = 0; i < select->item_count; i++) {
        TIDE_TRY(tide__bind_after_aggregation(scope, &aggregated, select->items[i].expr, &select->items[i].expr));
    }
    for (uint32_t i = 0; i < scope->over_count; i++) TIDE_TRY(rewrite_over(scope, &aggregated, &scope->overs[i]));
    TIDE_TRY(rewrite_subqueries(select, &aggregated));
    if (select->qualify != NULL) {
        TIDE_TRY(tide__bind_after_aggregation(scope, &aggregated, select->qualify, &select->qualify));
    }
    select->input = aggregated.relation;
    if (select->having == NULL) return TIDE_OK;
    return tide__bind_after_aggregation(scope, &aggregated, select->having, &select->having);
}

// --- OVER ---

static void apply_overs(struct select *select) {
    struct select_scope *scope = &select->scope;
    uint32_t *columns = ARENA_ARRAY(select->binder->arena, uint32_t, scope->over_count);
    select->input.node = tide__bind_over_nodes(scope, select->input.node, columns);
    replace_everywhere(select, VIRTUAL_OVER, columns);
}

// --- Putting it together ---

struct where {
    struct select *select;
    uint32_t count;
    struct expr **filters;
};

static tide_status bind_conjunct(struct where *where, const struct ast_expr *ast) {
    struct select *select = where->select;
    struct select_scope *scope = &select->scope;
    if (tide__bind_is_semi_join(ast)) {
        return tide__bind_semi_join(scope, ast, select->input.node, &select->input.node);
    }
    struct expr *condition;
    TIDE_TRY(tide__bind_condition(scope, ast, &condition));
    if (tide__expr_has_outer(condition)) {
        select->outer_conditions[select->outer_condition_count++] = condition;
    } else {
        where->filters[where->count++] = condition;
    }
    return TIDE_OK;
}

static tide_status add_filters(struct where *where) {
    struct select *select = where->select;
    struct select_scope *scope = &select->scope;
    uint32_t *columns = ARENA_ARRAY(select->binder->arena, uint32_t, scope->subquery_count);
    TIDE_TRY(tide__bind_join_subqueries(scope, 0, select->input.node, columns, &select->input.node));
    select->joined = scope->subquery_count;
    struct expr *condition = NULL;
    for (uint32_t i = 0; i < where->count; i++) {
        where->filters[i] = replace(select, where->filters[i], VIRTUAL_SUBQUERY, columns);
    }
    TIDE_TRY(tide__bind_conjunction(select->binder, where->filters, where->count, &condition));
    if (condition == NULL) return TIDE_OK;
    select->input.node = tide__node_filter(select->binder->arena, select->input.node, condition,
                                           select->query->where->pos);
    return TIDE_OK;
}

// What is added to the input here keeps the fields of FROM where they are.
static tide_status bind_where(struct select *select, struct correlation *correlation) {
    const struct ast_expr *ast = select->query->where;
    struct select_scope *scope = &select->scope;
    struct arena *arena = select->binder->arena;
    if (ast == NULL) return TIDE_OK;
    bool many = ast->kind == AST_EXPR_AND;
    uint32_t count = many ? ast->args.count : 1;
    struct where where = {.select = select, .filters = ARENA_ARRAY(arena, struct expr *, count)};
    select->outer_conditions = ARENA_ARRAY(arena, struct expr *, count);
    scope->clause = "WHERE clause";
    scope->correlation = correlation;
    for (uint32_t i = 0; i < count; i++) TIDE_TRY(bind_conjunct(&where, many ? ast->args.items[i] : ast));
    scope->correlation = NULL;
    return add_filters(&where);
}

static bool is_count(const struct select *select) {
    const struct expr *expr = select->items[0].expr;
    if (expr->kind != EXPR_COLUMN || expr->column < VIRTUAL_COLUMN_FIRST) return false;
    const struct virtual_column *v = &select->scope.virtuals[expr->column - VIRTUAL_COLUMN_FIRST];
    return v->kind == VIRTUAL_AGGREGATE &&
           strcmp(select->scope.aggregates[v->index].call.aggregate->name, "COUNT") == 0;
}

static tide_status correlate(struct select *select, struct correlation *correlation) {
    if (select->outer_condition_count == 0) return TIDE_OK;
    struct correlated c = {.scope = &select->scope,
                           .conditions = select->outer_conditions,
                           .condition_count = select->outer_condition_count,
                           .aggregated = select->query->has_group_by || select->scope.has_aggregate,
                           .first_field = select->item_count,
                           .input = select->input.node};
    correlation->one_row = c.aggregated && !select->query->has_group_by;
    correlation->counts = correlation->one_row && select->item_count == 1 && is_count(select);
    TIDE_TRY(tide__bind_correlate(&c, correlation));
    select->input.node = c.input;
    correlation->item_count = c.item_count;
    for (uint32_t i = 0; i < c.item_count; i++) {
        struct item *item = add_item(select);
        *item = (struct item){.expr = c.items[i]};
        item->name = tide__arena_printf(select->binder->arena, "$c%u", i);
    }
    return TIDE_OK;
}

static void select_calc(struct select *select, struct relation *out) {
    struct arena *arena = select->binder->arena;
    struct plan_node *calc = tide__node_calc(arena, select->input.node, select->item_count, select->query->pos);
    out->tables = ARENA_ARRAY(arena, struct str, select->item_count);
    for (uint32_t i = 0; i < select->item_count; i++) {
        calc->calc.outputs[i] = select->items[i].expr;
        calc->fields[i] = (struct plan_field){select->items[i].name, select->items[i].expr->type};
        out->tables[i] = select->items[i].table;
    }
    out->node = calc;
}

static void one_row(struct select *select) {
    struct plan_node *node = tide__node_new(select->binder->arena, PLAN_VALUES, select->query->pos, 0, 0);
    node->values.row_count = 1;
    select->input.node = node;
    select->input.tables = NULL;
}

static tide_status bind_input(struct select *select) {
    if (select->query->from == NULL) {
        one_row(select);
        return TIDE_OK;
    }
    TIDE_TRY(tide__bind_from(select->binder, select->query->from, &select->input));
    select->window_function = select->input.node->kind == PLAN_WINDOW_TVF;
    return TIDE_OK;
}

static tide_status qualify(struct select *select) {
    struct binder *b = select->binder;
    if (select->qualify == NULL) return TIDE_OK;
    if (select->scope.over_count == 0) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, select->query->qualify->pos,
                             "QUALIFY without an OVER call; use WHERE");
    }
    select->input.node = tide__node_filter(b->arena, select->input.node, select->qualify, select->query->qualify->pos);
    return TIDE_OK;
}

tide_status tide__bind_select(struct binder *b, const struct ast_query *query, struct relation *out) {
    struct correlation *correlation = b->correlation;
    struct select select = {
        .binder = b, .query = query, .is_subquery = correlation != NULL, .names = {.arena = b->arena}};
    b->correlation = NULL;
    TIDE_TRY(bind_input(&select));
    struct relation from = select.input;
    select.scope = (struct select_scope){.binder = b, .query = query, .input = &from, .allow_subqueries = true};
    TIDE_TRY(bind_where(&select, correlation));
    struct plan_node *filtered = select.input.node;
    select.input = from;  // what names and stars mean
    TIDE_TRY(bind_clauses(&select));
    select.input.node = filtered;
    if (correlation != NULL) TIDE_TRY(correlate(&select, correlation));
    TIDE_TRY(bind_order(&select));
    struct relation aggregation_input = select.input;
    select.scope.input = &aggregation_input;
    if (query->has_group_by || select.scope.has_aggregate) TIDE_TRY(aggregate(&select));
    TIDE_TRY(join_subqueries(&select));
    if (select.having != NULL) {
        select.input.node = tide__node_filter(b->arena, select.input.node, select.having, query->having->pos);
    }
    if (select.scope.over_count > 0) apply_overs(&select);
    TIDE_TRY(qualify(&select));
    select_calc(&select, out);
    if (query->distinct) out->node = tide__node_distinct(b->arena, out->node, query->distinct_pos);
    uint32_t visible = select.order.key_count > 0 ? select.order.visible_count : select.item_count;
    return tide__bind_ordered(b, query, select.order.keys, select.order.key_count, visible,
                              correlation == NULL ? 0 : correlation->item_count, out);
}
