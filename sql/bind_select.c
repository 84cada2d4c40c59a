// One SELECT. Its clauses are bound in the order in which SQL evaluates them, and each adds a node:
//
//   FROM -> filter (WHERE) -> calc, aggregate (GROUP BY) -> filter (HAVING) -> calc, over (ROW_NUMBER) ->
//   filter (QUALIFY) -> calc (select list) -> aggregate (DISTINCT)
//
// The select list is bound before the aggregation is built, because it says which aggregates there are.
#include "sql/bind.h"

#include <assert.h>
#include <string.h>

struct select {
    struct binder *binder;
    const struct ast_query *query;
    struct select_scope scope;
    struct relation input;  // after WHERE
    // The select list, stars expanded.
    uint32_t item_count, item_capacity;
    struct item {
        struct expr *expr;
        const char *name;
        struct str table;  // of a plain column, so that SELECT t.a FROM t stays t.a for ORDER BY
    } * items;
    struct expr **item_exprs;  // one an AST item, NULL for stars (QUALIFY's aliases)
    struct expr *having, *qualify;
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
        if (path->count > 0 &&
            (input->tables[i].data == NULL || !tide__str_eq(input->tables[i], path->parts[path->count - 1].text))) {
            continue;
        }
        if (input->node->kind == PLAN_WINDOW_TVF && has_twin(input->node, i)) {
            tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "column \"%s\" is ambiguous",
                          input->node->fields[i].name);
            return tide__fail_hint(b->err,
                                   "the window function's input has a column of this name: rename it in a view");
        }
        struct item *item = add_item(select);
        item->expr = tide__node_column(b->arena, input->node, i, ast->pos);
        item->name = input->node->fields[i].name;
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

// --- Aggregation ---

static tide_status rewrite_over(struct select_scope *scope, const struct aggregated *aggregated,
                                struct bound_over *over) {
    for (uint32_t i = 0; i < over->partition_count; i++) {
        TIDE_TRY(tide__bind_after_aggregation(scope, aggregated, over->partitions[i], &over->partitions[i]));
    }
    for (uint32_t i = 0; i < over->sort_count; i++) {
        TIDE_TRY(tide__bind_after_aggregation(scope, aggregated, over->sort_exprs[i], &over->sort_exprs[i]));
    }
    return TIDE_OK;
}

static tide_status aggregate(struct select *select) {
    struct select_scope *scope = &select->scope;
    struct aggregated aggregated;
    TIDE_TRY(tide__bind_aggregation(scope, select->query, &aggregated));
    for (uint32_t i = 0; i < select->item_count; i++) {
        TIDE_TRY(tide__bind_after_aggregation(scope, &aggregated, select->items[i].expr, &select->items[i].expr));
    }
    for (uint32_t i = 0; i < scope->over_count; i++) TIDE_TRY(rewrite_over(scope, &aggregated, &scope->overs[i]));
    if (select->qualify != NULL) {
        TIDE_TRY(tide__bind_after_aggregation(scope, &aggregated, select->qualify, &select->qualify));
    }
    select->input = aggregated.relation;
    if (select->having != NULL) {
        TIDE_TRY(tide__bind_after_aggregation(scope, &aggregated, select->having, &select->having));
        select->input.node = tide__node_filter(select->binder->arena, select->input.node, select->having,
                                               select->query->having->pos);
    }
    return TIDE_OK;
}

// --- OVER ---

static uint32_t over_column(struct select *select, struct plan_node *calc, uint32_t *count, struct expr *expr) {
    for (uint32_t i = 0; i < *count; i++) {
        if (tide__expr_equal(calc->calc.outputs[i], expr)) return i;
    }
    calc->calc.outputs[*count] = expr;
    const char *name = tide__arena_printf(select->binder->arena, "$o%u", *count);
    calc->fields[*count] = (struct plan_field){name, expr->type};
    return (*count)++;
}

static struct plan_node *over_node(struct select *select, struct plan_node *input, const struct bound_over *bound) {
    struct arena *arena = select->binder->arena;
    uint32_t capacity = input->field_count + bound->partition_count + bound->sort_count;
    struct plan_node *calc = tide__node_calc(arena, input, capacity, bound->pos);
    uint32_t count = input->field_count;
    for (uint32_t i = 0; i < count; i++) {
        calc->fields[i] = input->fields[i];
        calc->calc.outputs[i] = tide__node_column(arena, input, i, bound->pos);
    }
    struct over_node over = {.function = bound->function,
                             .name = bound->name,
                             .partition_count = bound->partition_count,
                             .sort_count = bound->sort_count};
    over.partitions = ARENA_ARRAY(arena, uint32_t, bound->partition_count);
    over.sorts = ARENA_ARRAY(arena, struct sort_key, bound->sort_count);
    for (uint32_t i = 0; i < bound->partition_count; i++) {
        over.partitions[i] = over_column(select, calc, &count, bound->partitions[i]);
    }
    for (uint32_t i = 0; i < bound->sort_count; i++) {
        over.sorts[i] = bound->sorts[i];
        over.sorts[i].column = over_column(select, calc, &count, bound->sort_exprs[i]);
    }
    calc->field_count = count;
    struct plan_node *below = count == input->field_count ? input : calc;
    struct plan_node *node = tide__node_new(arena, PLAN_OVER, bound->pos, 1, count + 1);
    struct plan_node made = *node;
    over.node = made;
    *(struct over_node *)node = over;
    node->inputs[0] = below;
    memcpy(node->fields, below->fields, count * sizeof(node->fields[0]));
    node->fields[count] = (struct plan_field){"$rank", bound->type};
    return node;
}

// Virtual columns of OVER calls -> columns of the over node.
static struct expr *replace_overs(struct select *select, const struct expr *expr, const uint32_t *columns) {
    struct arena *arena = select->binder->arena;
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (expr->kind == EXPR_COLUMN && expr->column >= VIRTUAL_COLUMN_FIRST) {
        const struct virtual_column *v = &select->scope.virtuals[expr->column - VIRTUAL_COLUMN_FIRST];
        assert(v->kind == VIRTUAL_OVER);
        copy->column = columns[v->index];
    }
    copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = replace_overs(select, expr->args[i], columns);
    return copy;
}

static tide_status apply_overs(struct select *select) {
    struct select_scope *scope = &select->scope;
    struct plan_node *node = select->input.node;
    uint32_t *columns = ARENA_ARRAY(select->binder->arena, uint32_t, scope->over_count);
    if (scope->over_count > 1) {
        return tide__fail_at(select->binder->err, TIDE_ERR_PLAN, scope->overs[1].pos,
                             "two rank functions in one query are not supported yet");
    }
    for (uint32_t i = 0; i < scope->over_count; i++) {
        node = over_node(select, node, &scope->overs[i]);
        columns[i] = node->field_count - 1;
    }
    for (uint32_t i = 0; i < select->item_count; i++) {
        select->items[i].expr = replace_overs(select, select->items[i].expr, columns);
    }
    if (select->qualify != NULL) select->qualify = replace_overs(select, select->qualify, columns);
    select->input.node = node;
    return TIDE_OK;
}

// --- Putting it together ---

static tide_status bind_where(struct select *select) {
    const struct ast_query *query = select->query;
    if (query->where == NULL) return TIDE_OK;
    struct expr *condition;
    select->scope.clause = "WHERE clause";
    TIDE_TRY(tide__bind_condition(&select->scope, query->where, &condition));
    select->input.node = tide__node_filter(select->binder->arena, select->input.node, condition, query->where->pos);
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

static void distinct(struct select *select, struct relation *inout) {
    struct arena *arena = select->binder->arena;
    struct plan_node *input = inout->node;
    struct plan_node *node = tide__node_new(arena, PLAN_GROUP_AGGREGATE, select->query->distinct_pos, 1,
                                            input->field_count);
    node->inputs[0] = input;
    node->group_aggregate.key_count = input->field_count;
    node->group_aggregate.keys = ARENA_ARRAY(arena, uint32_t, input->field_count);
    for (uint32_t i = 0; i < input->field_count; i++) {
        node->group_aggregate.keys[i] = i;
        node->fields[i] = input->fields[i];
    }
    inout->node = node;
}

static void one_row(struct select *select) {
    struct plan_node *node = tide__node_new(select->binder->arena, PLAN_VALUES, select->query->pos, 0, 0);
    node->values.row_count = 1;
    select->input.node = node;
    select->input.tables = NULL;
}

tide_status tide__bind_select(struct binder *b, const struct ast_query *query, struct relation *out) {
    struct select select = {.binder = b, .query = query};
    if (query->from != NULL) {
        TIDE_TRY(tide__bind_from(b, query->from, &select.input));
    } else {
        one_row(&select);
    }
    select.scope = (struct select_scope){.binder = b, .query = query};
    // The scope looks at what FROM gives: WHERE adds a filter on top, the columns stay.
    struct relation scope_input = select.input;
    select.scope.input = &scope_input;
    TIDE_TRY(bind_where(&select));
    bool star = select.input.node != scope_input.node;
    struct relation filtered = select.input;
    select.input = scope_input;  // so that a star sees a window function below a filter
    TIDE_TRY(bind_clauses(&select));
    if (star) select.input = filtered;
    struct relation aggregation_input = select.input;
    select.scope.input = &aggregation_input;
    if (query->has_group_by || select.scope.has_aggregate) {
        TIDE_TRY(aggregate(&select));
    }
    if (select.scope.over_count > 0) TIDE_TRY(apply_overs(&select));
    if (select.qualify != NULL) {
        if (select.scope.over_count == 0) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, query->qualify->pos,
                                 "QUALIFY without an OVER call; use WHERE");
        }
        select.input.node = tide__node_filter(b->arena, select.input.node, select.qualify, query->qualify->pos);
    }
    select_calc(&select, out);
    if (query->distinct) distinct(&select, out);
    return TIDE_OK;
}
