// Subqueries that give a value: (SELECT ..), and EXISTS and IN anywhere but as a whole condition of WHERE. Each is a LEFT join
// with at most one row and a virtual column until the join is made.
#include "sql/bind.h"

#include <string.h>

static struct expr *add_subquery(struct select_scope *s, const struct bound_subquery *sub, const struct type *type) {
    struct binder *b = s->binder;
    s->subqueries = tide__bind_grow(b->arena, s->subqueries, s->subquery_count, &s->subquery_capacity,
                                    sizeof(s->subqueries[0]));
    s->subqueries[s->subquery_count] = *sub;
    return tide__bind_virtual(s, VIRTUAL_SUBQUERY, s->subquery_count++, tide__type_with_nullable(b->arena, type, true),
                              sub->pos);
}

static tide_status check_place(struct select_scope *s, const struct ast_expr *ast, const char *what) {
    if (s->allow_subqueries && !s->in_aggregate && !s->in_over) return TIDE_OK;
    return tide__fail_at(s->binder->err, TIDE_ERR_PLAN, ast->pos, "%s is not supported in %s", what,
                         s->in_aggregate ? "an aggregate"
                         : s->in_over    ? "OVER"
                                         : s->clause);
}

// --- (SELECT ..) ---

// One row, or one for each value that the query around it asks for.
static bool has_one_row(const struct plan_node *node, bool correlated) {
    while (node->kind == PLAN_CALC && node->calc.condition == NULL) node = node->inputs[0];
    if (node->kind == PLAN_RANK) {
        return (correlated || node->rank.partition_count == 0) && node->rank.rank_first == node->rank.rank_last;
    }
    if (correlated) return false;
    if (node->kind == PLAN_VALUES) return node->values.row_count == 1;
    return node->kind == PLAN_GROUP_AGGREGATE && node->group_aggregate.key_count == 0;
}

// Else an outer row might meet several inner ones.
static tide_status check_equalities(struct binder *b, const struct correlation *correlation, struct source_pos pos) {
    for (uint32_t i = 0; i < correlation->condition_count; i++) {
        const struct expr *condition = correlation->conditions[i];
        if (condition->kind == EXPR_CALL && strcmp(condition->function->name, "=") == 0) continue;
        return tide__fail_at(b->err, TIDE_ERR_PLAN, pos,
                             "here a subquery may compare columns of the query around it by = only");
    }
    return TIDE_OK;
}

static tide_status add_call(struct binder *b, const struct plan_node *input, const char *name, int32_t column,
                            struct source_pos pos, struct aggregate_call *out) {
    const struct aggregate *aggregate = tide__aggregate_find(tide__str(name));
    *out = (struct aggregate_call){
        .aggregate = aggregate, .pos = pos, .name = name, .parameter = {.is_null = true}, .filter = -1};
    const struct expr *args[1] = {NULL};
    if (column >= 0) {
        args[0] = tide__node_column(b->arena, input, (uint32_t)column, pos);
        out->arg_count = 1;
        out->args[0] = (uint32_t)column;
        out->arg_types[0] = args[0]->type;
    }
    return aggregate->infer(&b->infer, out, args, b->err);
}

// Grouped by what the conditions need (its last fields): the keys, then COUNT(*) and another call over the first field.
static tide_status grouped(struct binder *b, struct plan_node *input, uint32_t items, const char *other,
                           struct source_pos pos, struct plan_node **out) {
    uint32_t first = input->field_count - items;
    struct plan_node *node = tide__node_new(b->arena, PLAN_GROUP_AGGREGATE, pos, 1, items + 2);
    struct plan_group_aggregate *group = &node->group_aggregate;
    node->inputs[0] = input;
    group->key_count = items;
    group->keys = ARENA_ARRAY(b->arena, uint32_t, items);
    group->aggregate_count = 2;
    group->aggregates = ARENA_ARRAY(b->arena, struct aggregate_call, 2);
    TIDE_TRY(add_call(b, input, "COUNT", -1, pos, &group->aggregates[0]));
    TIDE_TRY(add_call(b, input, other, 0, pos, &group->aggregates[1]));
    for (uint32_t i = 0; i < items; i++) {
        group->keys[i] = first + i;
        node->fields[i] = input->fields[first + i];
    }
    for (uint32_t i = 0; i < 2; i++) node->fields[items + i] = (struct plan_field){"$n", group->aggregates[i].type};
    *out = node;
    return TIDE_OK;
}

// [value, the items]; the conditions are moved to it.
static struct plan_node *value_first(struct binder *b, struct plan_node *group, uint32_t items, struct expr *value,
                                     uint32_t items_before, struct correlation *correlation) {
    struct plan_node *calc = tide__node_calc(b->arena, group, items + 1, group->pos);
    for (uint32_t i = 0; i <= items; i++) {
        calc->calc.outputs[i] = i == 0 ? value : tide__node_column(b->arena, group, i - 1, group->pos);
        calc->fields[i] = (struct plan_field){tide__arena_printf(b->arena, "$n%u", i), calc->calc.outputs[i]->type};
    }
    for (uint32_t i = 0; i < correlation->condition_count; i++) {
        correlation->conditions[i] = tide__expr_move_inner(b->arena, correlation->conditions[i],
                                                           1 - (int32_t)items_before);
    }
    return calc;
}

// More than one row fails the job when it happens, as in Flink: there is no such BOOLEAN as this text.
static tide_status single_value(struct binder *b, const struct ast_expr *ast, struct bound_subquery *sub) {
    struct source_pos pos = ast->pos;
    uint32_t items = sub->correlation.item_count, first = sub->relation.node->field_count - items;
    struct plan_node *group;
    TIDE_TRY(check_equalities(b, &sub->correlation, pos));
    TIDE_TRY(grouped(b, sub->relation.node, items, "FIRST_VALUE", pos, &group));
    struct expr *value = tide__node_column(b->arena, group, items + 1, pos), *many[2], *args[3];
    struct expr *more[2] = {tide__node_column(b->arena, group, items, pos), tide__bind_integer(b, TYPE_BIGINT, 1, pos)};
    struct type boolean = tide__type_make(TYPE_BOOLEAN, true);
    TIDE_TRY(tide__bind_function(b, ">", more, 2, pos, &many[0]));
    many[1] = tide__bind_string(b, "more than one row of a query used as a value", pos);
    TIDE_TRY(tide__expr_cast_explicit(&b->infer, many[1], tide__type_copy(b->arena, &boolean), false, pos, &many[1],
                                      b->err));
    TIDE_TRY(tide__bind_function(b, "AND", many, 2, pos, &args[0]));
    args[1] = tide__bind_null(b, pos);
    args[2] = value;
    TIDE_TRY(tide__bind_function(b, "CASE", args, 3, pos, &value));
    sub->relation.node = value_first(b, group, items, value, first, &sub->correlation);
    return TIDE_OK;
}

tide_status tide__bind_subquery_value(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    TIDE_TRY(check_place(s, ast, "a query as a value"));
    struct bound_subquery sub = {.pos = ast->pos};
    TIDE_TRY(tide__bind_correlated(s, ast->query, &sub.relation, &sub.correlation));
    uint32_t values = sub.relation.node->field_count - sub.correlation.item_count;
    if (values != 1) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "a query used as a value has one column, not %u",
                             values);
    }
    bool one = has_one_row(sub.relation.node, sub.correlation.condition_count > 0) || sub.correlation.one_row;
    if (!one) TIDE_TRY(single_value(b, ast, &sub));
    *out = add_subquery(s, &sub, sub.relation.node->fields[0].type);
    return TIDE_OK;
}

// --- EXISTS, IN ---

// [first output, the other outputs.., what the conditions need]; the conditions are moved to it.
static struct plan_node *with_items(struct binder *b, struct plan_node *node, struct correlation *correlation,
                                    struct expr *const *outputs, uint32_t count) {
    uint32_t items = correlation->item_count, first = node->field_count - items;
    struct plan_node *calc = tide__node_calc(b->arena, node, count + items, node->pos);
    for (uint32_t i = 0; i < count + items; i++) {
        calc->calc.outputs[i] = i < count ? outputs[i]
                                          : tide__node_column(b->arena, node, first + i - count, node->pos);
        calc->fields[i] = (struct plan_field){tide__arena_printf(b->arena, "$v%u", i), calc->calc.outputs[i]->type};
    }
    for (uint32_t i = 0; i < correlation->condition_count; i++) {
        correlation->conditions[i] = tide__expr_move_inner(b->arena, correlation->conditions[i],
                                                           (int32_t)count - (int32_t)first);
    }
    return calc;
}

static tide_status bind_parts(struct select_scope *s, const struct ast_expr *ast, struct bound_subquery *sub) {
    TIDE_TRY(check_place(s, ast, ast->kind == AST_EXPR_EXISTS ? "EXISTS" : "IN with a query"));
    sub->pos = ast->pos;
    TIDE_TRY(tide__bind_correlated(s, ast->query, &sub->relation, &sub->correlation));
    return check_equalities(s->binder, &sub->correlation, ast->pos);
}

tide_status tide__bind_exists_value(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    struct bound_subquery sub = {0};
    TIDE_TRY(bind_parts(s, ast, &sub));
    struct expr *yes = tide__bind_boolean(b, true, ast->pos);
    sub.relation.node = tide__node_distinct(b->arena, with_items(b, sub.relation.node, &sub.correlation, &yes, 1),
                                            ast->pos);
    struct expr *found = add_subquery(s, &sub, yes->type);
    return tide__bind_function(b, ast->negated ? "IS NULL" : "IS NOT NULL", &found, 1, ast->pos, out);
}

// x = v as a condition of the join: the columns of x are outer ones.
static tide_status add_equality(struct binder *b, struct expr *value, const struct plan_node *node, uint32_t column,
                                struct correlation *correlation) {
    struct expr *sides[2] = {tide__expr_outer(b->arena, value), tide__node_column(b->arena, node, column, value->pos)},
                *equal;
    TIDE_TRY(tide__bind_function(b, "=", sides, 2, value->pos, &equal));
    uint32_t count = correlation->condition_count;
    struct expr **conditions = ARENA_ARRAY(b->arena, struct expr *, count + 1);
    if (count > 0) memcpy(conditions, correlation->conditions, count * sizeof(conditions[0]));
    conditions[count] = equal;
    correlation->conditions = conditions;
    correlation->condition_count = correlation->condition_capacity = count + 1;
    return TIDE_OK;
}

// The values that are not NULL, once each.
static tide_status add_values(struct select_scope *s, const struct bound_subquery *sub, struct expr *value,
                              struct expr **out) {
    struct binder *b = s->binder;
    struct bound_subquery values = *sub;
    struct plan_node *node = values.relation.node;
    struct expr *outputs[2] = {tide__bind_boolean(b, true, sub->pos), tide__node_column(b->arena, node, 0, sub->pos)},
                *given;
    TIDE_TRY(tide__bind_function(b, "IS NOT NULL", &outputs[1], 1, sub->pos, &given));
    node = with_items(b, node, &values.correlation, outputs, 2);
    node->calc.condition = given;
    values.relation.node = tide__node_distinct(b->arena, node, sub->pos);
    TIDE_TRY(add_equality(b, value, values.relation.node, 1, &values.correlation));
    *out = add_subquery(s, &values, outputs[0]->type);
    return TIDE_OK;
}

// Whether a NULL is among the values: COUNT(v) < COUNT(*). No row: there are no values.
static tide_status add_nulls(struct select_scope *s, const struct bound_subquery *sub, struct expr **out) {
    struct binder *b = s->binder;
    struct bound_subquery nulls = *sub;
    uint32_t items = sub->correlation.item_count, first = sub->relation.node->field_count - items;
    struct plan_node *group;
    TIDE_TRY(grouped(b, tide__node_copy(b->arena, sub->relation.node), items, "COUNT", sub->pos, &group));
    struct expr *all = tide__node_column(b->arena, group, items, sub->pos), *less;
    struct expr *counts[2] = {tide__node_column(b->arena, group, items + 1, sub->pos), all};
    struct expr *any[2] = {all, tide__bind_integer(b, TYPE_BIGINT, 0, sub->pos)};
    TIDE_TRY(tide__bind_function(b, "<", counts, 2, sub->pos, &less));
    nulls.relation.node = value_first(b, group, items, less, first, &nulls.correlation);
    TIDE_TRY(tide__bind_function(b, ">", any, 2, sub->pos, &nulls.relation.node->calc.condition));
    *out = add_subquery(s, &nulls, less->type);
    return TIDE_OK;
}

// CASE WHEN found THEN TRUE WHEN no values THEN FALSE WHEN x IS NULL OR a value is NULL THEN NULL ELSE FALSE END
static tide_status in_result(struct select_scope *s, struct expr *value, struct expr *found, struct expr *nulls,
                             struct expr **out) {
    struct binder *b = s->binder;
    struct source_pos pos = found->pos;
    struct expr *args[7], *unknown[2] = {value, nulls};
    TIDE_TRY(tide__bind_function(b, "IS NOT NULL", &found, 1, pos, &args[0]));
    args[1] = tide__bind_boolean(b, true, pos);
    TIDE_TRY(tide__bind_function(b, "IS NULL", &nulls, 1, pos, &args[2]));
    args[3] = tide__bind_boolean(b, false, pos);
    TIDE_TRY(tide__bind_function(b, "IS NULL", &value, 1, pos, &unknown[0]));
    TIDE_TRY(tide__bind_function(b, "IS TRUE", &nulls, 1, pos, &unknown[1]));
    TIDE_TRY(tide__bind_function(b, "OR", unknown, 2, pos, &args[4]));
    args[5] = tide__bind_null(b, pos);
    args[6] = tide__bind_boolean(b, false, pos);
    return tide__bind_function(b, "CASE", args, 7, pos, out);
}

tide_status tide__bind_in_value(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    struct bound_subquery sub = {0};
    struct expr *value, *found, *nulls;
    TIDE_TRY(bind_parts(s, ast, &sub));
    uint32_t columns = sub.relation.node->field_count - sub.correlation.item_count;
    if (columns != 1 || ast->args.items[0]->kind == AST_EXPR_ROW) {
        return tide__fail_at(b->err, columns != 1 ? TIDE_ERR_VALIDATE : TIDE_ERR_PLAN, ast->pos,
                             "IN used as a value compares one column");
    }
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &value));
    if (tide__expr_has_virtual(value)) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "an aggregate before IN with a query is not supported");
    }
    bool nullable = value->type->nullable || sub.relation.node->fields[0].type->nullable;
    struct correlation copy = sub.correlation;
    sub.correlation.conditions = ARENA_ARRAY(b->arena, struct expr *, copy.condition_count);
    if (copy.condition_count > 0) {
        memcpy(sub.correlation.conditions, copy.conditions, copy.condition_count * sizeof(copy.conditions[0]));
    }
    TIDE_TRY(add_values(s, &sub, value, &found));
    sub.correlation = copy;
    if (nullable) {
        TIDE_TRY(add_nulls(s, &sub, &nulls));
        TIDE_TRY(in_result(s, value, found, nulls, out));
    } else {
        TIDE_TRY(tide__bind_function(b, "IS NOT NULL", &found, 1, ast->pos, out));
    }
    if (!ast->negated) return TIDE_OK;
    return tide__bind_function(b, "NOT", out, 1, ast->pos, out);
}

// --- Joining ---

// Where there is no row to count, the count is 0.
static tide_status count_zero(struct binder *b, struct plan_node *join, uint32_t column, struct plan_node **out) {
    struct plan_node *calc = tide__node_calc(b->arena, join, join->field_count, join->pos);
    memcpy(calc->fields, join->fields, join->field_count * sizeof(calc->fields[0]));
    for (uint32_t i = 0; i < join->field_count; i++) {
        calc->calc.outputs[i] = tide__node_column(b->arena, join, i, join->pos);
    }
    struct expr *args[2] = {calc->calc.outputs[column], tide__bind_integer(b, TYPE_BIGINT, 0, join->pos)};
    TIDE_TRY(tide__bind_function(b, "COALESCE", args, 2, join->pos, &calc->calc.outputs[column]));
    *out = calc;
    return TIDE_OK;
}

tide_status tide__bind_join_subqueries(struct select_scope *s, uint32_t first, struct plan_node *input,
                                       uint32_t *columns, struct plan_node **out) {
    struct binder *b = s->binder;
    for (uint32_t i = first; i < s->subquery_count; i++) {
        const struct bound_subquery *sub = &s->subqueries[i];
        struct plan_node *join = tide__node_join(b->arena, JOIN_LEFT, input, sub->relation.node, sub->pos);
        TIDE_TRY(tide__bind_join_condition(b, &sub->correlation, input->field_count, &join->join.condition));
        columns[i] = input->field_count;
        input = join;
        if (sub->correlation.counts) TIDE_TRY(count_zero(b, join, columns[i], &input));
    }
    *out = input;
    return TIDE_OK;
}
