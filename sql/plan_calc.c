// Calcs that stand on each other become one; calcs that do nothing go away.
#include "sql/bind.h"

#include <string.h>

#define CALC_WEIGHT_MAX 5000  // calls; also bounds how deep an expression gets

static uint32_t weight(const struct expr *expr) {
    if (expr == NULL) return 0;
    uint32_t sum = expr->kind == EXPR_CALL ? 1 : 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) sum += weight(expr->args[i]);
    return sum;
}

static bool nondeterministic(const struct expr *expr) {
    if (expr->kind == EXPR_CALL && expr->function->nondeterministic) return true;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (nondeterministic(expr->args[i])) return true;
    }
    return false;
}

static void count_uses(const struct expr *expr, uint32_t *uses) {
    if (expr == NULL) return;
    if (expr->kind == EXPR_COLUMN) uses[expr->column]++;
    for (uint32_t i = 0; i < expr->arg_count; i++) count_uses(expr->args[i], uses);
}

// Merging copies what is used twice: not if that is random, and not without end.
static bool may_merge(struct arena *arena, const struct plan_node *upper, const struct plan_node *lower) {
    uint32_t *uses = ARENA_ARRAY(arena, uint32_t, lower->field_count);
    uint64_t own = weight(upper->calc.condition), merged;
    for (uint32_t i = 0; i < upper->field_count; i++) {
        own += weight(upper->calc.outputs[i]);
        count_uses(upper->calc.outputs[i], uses);
    }
    count_uses(upper->calc.condition, uses);
    merged = own;
    for (uint32_t i = 0; i < lower->field_count; i++) {
        if (uses[i] > 1 && nondeterministic(lower->calc.outputs[i])) return false;
        uint64_t w = weight(lower->calc.outputs[i]);
        merged += w * uses[i];
        own += w;
    }
    return merged <= own * 4 + 64 && merged <= CALC_WEIGHT_MAX;
}

static tide_status and_conditions(struct arena *arena, struct expr *a, struct expr *b, struct expr **out) {
    if (a == NULL || b == NULL) {
        *out = a == NULL ? b : a;
        return TIDE_OK;
    }
    struct infer_context ctx = {.arena = arena};
    struct expr **args = ARENA_ARRAY(arena, struct expr *, 2);
    args[0] = a;
    args[1] = b;
    return tide__expr_call(&ctx, "AND", args, 2, b->pos, out, NULL);
}

static struct plan_node *merge(struct arena *arena, struct plan_node *upper, struct plan_node *lower) {
    struct plan_node *node = tide__node_calc(arena, lower->inputs[0], upper->field_count, upper->pos);
    for (uint32_t i = 0; i < upper->field_count; i++) {
        node->fields[i] = upper->fields[i];
        node->calc.outputs[i] = tide__expr_substitute(arena, upper->calc.outputs[i], lower->calc.outputs);
    }
    struct expr *condition = upper->calc.condition;
    if (condition != NULL) condition = tide__expr_substitute(arena, condition, lower->calc.outputs);
    if (and_conditions(arena, lower->calc.condition, condition, &node->calc.condition) != TIDE_OK) return NULL;
    node->updates = lower->updates;
    return node;
}

struct plan_node *tide__plan_merge_calcs(struct arena *arena, struct plan_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) node->inputs[i] = tide__plan_merge_calcs(arena, node->inputs[i]);
    while (node->kind == PLAN_CALC && node->inputs[0]->kind == PLAN_CALC && may_merge(arena, node, node->inputs[0])) {
        struct plan_node *merged = merge(arena, node, node->inputs[0]);
        if (merged == NULL) break;
        node = merged;
    }
    return node;
}

static bool does_nothing(const struct plan_node *node) {
    const struct plan_node *input = node->inputs[0];
    if (node->calc.condition != NULL || node->field_count != input->field_count) return false;
    for (uint32_t i = 0; i < node->field_count; i++) {
        const struct expr *output = node->calc.outputs[i];
        if (output->kind != EXPR_COLUMN || output->column != i) return false;
    }
    return true;
}

static bool only_moves_columns(const struct plan_node *node) {
    if (node->kind != PLAN_CALC || node->calc.condition != NULL) return false;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (node->calc.outputs[i]->kind != EXPR_COLUMN) return false;
    }
    return true;
}

static void move_columns(uint32_t *columns, uint32_t count, const struct plan_node *calc) {
    for (uint32_t i = 0; i < count; i++) columns[i] = calc->calc.outputs[columns[i]]->column;
}

static void move_calls(struct aggregate_call *calls, uint32_t count, const struct plan_node *calc) {
    for (uint32_t i = 0; i < count; i++) {
        move_columns(calls[i].args, calls[i].arg_count, calc);
        if (calls[i].filter >= 0) calls[i].filter = (int32_t)calc->calc.outputs[calls[i].filter]->column;
    }
}

static void move_sorts(struct sort_key *sorts, uint32_t count, const struct plan_node *calc) {
    for (uint32_t i = 0; i < count; i++) sorts[i].column = calc->calc.outputs[sorts[i].column]->column;
}

static void move_rank(struct plan_node *node, const struct plan_node *calc) {
    if (node->kind == PLAN_WINDOW_RANK) {
        struct plan_window_rank *rank = &node->window_rank;
        move_columns(&rank->start_column, 1, calc);
        move_columns(&rank->end_column, 1, calc);
        move_columns(rank->partitions, rank->partition_count, calc);
        move_sorts(rank->sorts, rank->sort_count, calc);
    } else {
        struct plan_rank *rank = &node->rank;
        move_columns(rank->partitions, rank->partition_count, calc);
        move_columns(rank->unique_keys, rank->unique_key_count, calc);
        move_sorts(rank->sorts, rank->sort_count, calc);
    }
}

// rank over calc that only moves columns -> calc over rank: fewer rows are moved, and the order of an inner select list is
// none of the rank's business.
static struct plan_node *lift_moves(struct arena *arena, struct plan_node *node) {
    struct plan_node *calc = node->inputs[0], *input = calc->inputs[0];
    bool has_rank = node->field_count > calc->field_count;
    struct plan_node *above = tide__node_calc(arena, node, node->field_count, node->pos);
    memcpy(above->fields, node->fields, node->field_count * sizeof(above->fields[0]));
    struct plan_field rank = node->fields[node->field_count - 1];
    node->inputs[0] = input;
    node->field_count = input->field_count + (has_rank ? 1 : 0);
    node->fields = ARENA_ARRAY(arena, struct plan_field, node->field_count);
    if (input->field_count > 0) memcpy(node->fields, input->fields, input->field_count * sizeof(node->fields[0]));
    if (has_rank) node->fields[input->field_count] = rank;
    move_rank(node, calc);
    for (uint32_t i = 0; i < above->field_count; i++) {
        uint32_t column = i < calc->field_count ? calc->calc.outputs[i]->column : input->field_count;
        above->calc.outputs[i] = tide__node_column(arena, node, column, node->pos);
    }
    above->uid = calc->uid;
    return above;
}

struct plan_node *tide__plan_lift_calcs(struct arena *arena, struct plan_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) node->inputs[i] = tide__plan_lift_calcs(arena, node->inputs[i]);
    bool is_rank = node->kind == PLAN_WINDOW_RANK || node->kind == PLAN_RANK;
    return is_rank && only_moves_columns(node->inputs[0]) ? lift_moves(arena, node) : node;
}

// An aggregation can find its columns by itself.
static void absorb(struct plan_node *node) {
    const struct plan_node *calc = node->inputs[0];
    if (node->kind == PLAN_GROUP_AGGREGATE && only_moves_columns(calc)) {
        move_columns(node->group_aggregate.keys, node->group_aggregate.key_count, calc);
        move_calls(node->group_aggregate.aggregates, node->group_aggregate.aggregate_count, calc);
        node->inputs[0] = calc->inputs[0];
    } else if (node->kind == PLAN_WINDOW_AGGREGATE && only_moves_columns(calc)) {
        struct plan_window_aggregate *w = &node->window_aggregate;
        move_columns(w->keys, w->key_count, calc);
        move_columns(w->window.partitions, w->window.partition_count, calc);
        move_calls(w->aggregates, w->aggregate_count, calc);
        if (w->attached) {
            move_columns(&w->start_column, 1, calc);
            move_columns(&w->end_column, 1, calc);
        } else {
            move_columns(&w->window.time_column, 1, calc);
        }
        node->inputs[0] = calc->inputs[0];
    }
}

struct plan_node *tide__plan_drop_calcs(struct arena *arena, struct plan_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) node->inputs[i] = tide__plan_drop_calcs(arena, node->inputs[i]);
    if (node->input_count == 1) absorb(node);
    while (node->kind == PLAN_CALC && does_nothing(node)) node = node->inputs[0];
    return node;
}
