// Which values of updated rows only rise or only fall with each update, as Flink's planner derives it (FlinkRelMdModifiedMonotonicity):
// the counts and maxima of a stream that is only inserted to. Then a MAX of them never takes a
// row back, which shows in the changes that go out. (Top-N: plan_rising.c.)
#include "sql/bind.h"

#include <string.h>

static bool is_call(const struct expr *expr, const char *name) {
    return expr->kind == EXPR_CALL && strcmp(expr->function->name, name) == 0;
}

static bool is_zero_or_more(const struct expr *expr) {
    while (is_call(expr, "CAST")) expr = expr->args[0];
    return expr->kind == EXPR_LITERAL && !expr->literal.is_null && tide__type_is_integer(expr->type) &&
           expr->literal.i64 >= 0;
}

// Does the condition leave only rows where the column is 0 or more?
static bool keeps_positive(const struct expr *condition, const struct expr *column) {
    if (condition == NULL) return false;
    while (is_call(condition, "IS TRUE")) condition = condition->args[0];
    if (is_call(condition, "AND")) {
        for (uint32_t i = 0; i < condition->arg_count; i++)
            if (keeps_positive(condition->args[i], column)) return true;
        return false;
    }
    bool more = is_call(condition, ">") || is_call(condition, ">="),
         less = is_call(condition, "<") || is_call(condition, "<=");
    if (!more && !less) return false;
    return tide__expr_equal(condition->args[more ? 0 : 1], column) && is_zero_or_more(condition->args[more ? 1 : 0]);
}

// What a SUM adds up, where that is known to be 0 or more: by its FILTER, or by a WHERE below.
static bool sums_up(const struct plan_node *group, const struct aggregate_call *call) {
    const struct plan_node *input = group->inputs[0];
    if (input->kind != PLAN_CALC) return false;
    const struct expr *value = input->calc.outputs[call->args[0]];
    if (is_zero_or_more(value)) return true;
    if (call->filter >= 0 && keeps_positive(input->calc.outputs[call->filter], value)) return true;
    return keeps_positive(input->calc.condition, value);
}

static enum monotone of_aggregate(const struct plan_node *group, const struct aggregate_call *call) {
    const char *name = call->aggregate->name;
    enum monotone own = MONOTONE_NONE;
    if (strcmp(name, "COUNT") == 0 || strcmp(name, "MAX") == 0) own = MONOTONE_RISES;
    if (strcmp(name, "MIN") == 0) own = MONOTONE_FALLS;
    if (strcmp(name, "SUM") == 0 && sums_up(group, call)) own = MONOTONE_RISES;
    if (!group->inputs[0]->updates || own == MONOTONE_NONE) return own;
    if (call->arg_count != 1) return MONOTONE_NONE;
    enum monotone below = tide__plan_monotone(group->inputs[0], call->args[0]);
    return below == own || below == MONOTONE_CONSTANT ? own : MONOTONE_NONE;
}

static enum monotone of_group(const struct plan_node *node, uint32_t column) {
    const struct plan_group_aggregate *group = &node->group_aggregate;
    for (uint32_t i = 0; i < group->key_count; i++)
        if (tide__plan_monotone(node->inputs[0], group->keys[i]) != MONOTONE_CONSTANT) return MONOTONE_NONE;
    if (column < group->key_count) return MONOTONE_CONSTANT;
    return of_aggregate(node, &group->aggregates[column - group->key_count]);
}

enum monotone tide__plan_monotone(const struct plan_node *node, uint32_t column) {
    if (!node->updates) return MONOTONE_CONSTANT;
    if (node->kind == PLAN_GROUP_AGGREGATE) return of_group(node, column);
    if (node->kind != PLAN_CALC || node->calc.condition != NULL) return MONOTONE_NONE;
    const struct expr *output = node->calc.outputs[column];
    if (output->kind == EXPR_LITERAL) return MONOTONE_CONSTANT;
    return output->kind == EXPR_COLUMN ? tide__plan_monotone(node->inputs[0], output->column) : MONOTONE_NONE;
}

void tide__plan_mark_forward(struct plan_node *group) {
    if (!group->inputs[0]->updates) return;
    for (uint32_t i = 0; i < group->group_aggregate.aggregate_count; i++) {
        struct aggregate_call *call = &group->group_aggregate.aggregates[i];
        bool extreme = strcmp(call->aggregate->name, "MAX") == 0 || strcmp(call->aggregate->name, "MIN") == 0;
        call->forward = extreme && of_group(group, group->group_aggregate.key_count + i) != MONOTONE_NONE;
    }
}
