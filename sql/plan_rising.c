// Can a Top-N over a changing input keep just its best rows? It can if a row of the input replaces the one with the same key
// and can only rise by that: then what falls out never comes back. Flink's planner asks the same of its metadata
// (UpdateFastStrategy: upsert keys, modified monotonicity, column intervals), and the changes that go out depend on the
// answer; so the rules here are Flink's, not the strongest ones.
#include "sql/bind.h"

#include <math.h>
#include <string.h>

enum monotonicity { NOT_MONOTONIC, CONSTANT, INCREASING, DECREASING };

// The values of a column lie in [lower, upper], as far as one knows.
struct range {
    double lower, upper;
};

static const struct range all_values = {-INFINITY, INFINITY};

static struct range range_of(struct binder *b, const struct plan_node *node, uint32_t column);

static bool is_call(const struct expr *expr, const char *name) {
    return expr->kind == EXPR_CALL && strcmp(expr->function->name, name) == 0;
}

// --- Ranges ---

static struct range unite(struct range a, struct range b) {
    return (struct range){fmin(a.lower, b.lower), fmax(a.upper, b.upper)};
}

static struct range intersect(struct range a, struct range b) {
    return (struct range){fmax(a.lower, b.lower), fmin(a.upper, b.upper)};
}

static bool number_of(struct binder *b, const struct expr *expr, double *out) {
    struct value value;
    tide_error ignored = {0};
    if (expr->kind == EXPR_COLUMN || !tide__type_is_numeric(expr->type)) return false;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (!number_of(b, expr->args[i], out)) return false;
    if (tide__expr_constant(&b->infer, expr, &value, &ignored) != TIDE_OK) return false;
    if (value.is_null) return false;
    if (expr->type->kind == TYPE_DECIMAL) {
        *out = tide__type_physical(expr->type) == PHYSICAL_I64 ? (double)value.i64 : (double)value.i128;
        *out /= pow(10, expr->type->scale);
    } else {
        *out = tide__type_is_integer(expr->type) ? (double)value.i64 : value.f64;
    }
    return true;
}

static bool is_column(const struct expr *expr, uint32_t column) {
    return expr->kind == EXPR_COLUMN && expr->column == column;
}

// What a condition lets through of a column.
static struct range range_by(struct binder *b, const struct expr *condition, uint32_t column) {
    if (condition != NULL && is_call(condition, "IS TRUE")) condition = condition->args[0];
    if (condition == NULL || condition->kind != EXPR_CALL || condition->arg_count < 2) return all_values;
    if (is_call(condition, "AND") || is_call(condition, "OR")) {
        struct range range = range_by(b, condition->args[0], column);
        for (uint32_t i = 1; i < condition->arg_count; i++) {
            struct range next = range_by(b, condition->args[i], column);
            range = is_call(condition, "AND") ? intersect(range, next) : unite(range, next);
        }
        return range;
    }
    bool flipped = is_column(condition->args[1], column);
    double number;
    if (!flipped && !is_column(condition->args[0], column)) return all_values;
    if (!number_of(b, condition->args[flipped ? 0 : 1], &number)) return all_values;
    bool less = is_call(condition, "<") || is_call(condition, "<=");
    bool more = is_call(condition, ">") || is_call(condition, ">=");
    if (is_call(condition, "=")) return (struct range){number, number};
    if (flipped ? more : less) return (struct range){-INFINITY, number};
    if (flipped ? less : more) return (struct range){number, INFINITY};
    return all_values;
}

static struct range range_of_expr(struct binder *b, const struct plan_node *calc, const struct expr *expr) {
    double number;
    if (expr->kind == EXPR_COLUMN) return range_of(b, calc->inputs[0], expr->column);
    if (expr->kind == EXPR_LITERAL) return number_of(b, expr, &number) ? (struct range){number, number} : all_values;
    if (!is_call(expr, "CASE")) return all_values;
    struct range range = {INFINITY, -INFINITY};  // empty: a NULL adds nothing
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        const struct expr *result = expr->args[i];
        bool condition = i % 2 == 0 && i + 1 < expr->arg_count;
        bool null = result->kind == EXPR_LITERAL && result->literal.is_null;
        if (!condition && !null) range = unite(range, range_of_expr(b, calc, result));
    }
    return range;
}

static struct range range_of(struct binder *b, const struct plan_node *node, uint32_t column) {
    switch (node->kind) {
    case PLAN_CALC: {
        const struct expr *output = node->calc.outputs[column];
        struct range range = range_of_expr(b, node, output);
        if (output->kind != EXPR_COLUMN) return range;
        return intersect(range, range_by(b, node->calc.condition, output->column));
    }
    case PLAN_GROUP_AGGREGATE: {
        const struct plan_group_aggregate *plan = &node->group_aggregate;
        if (column < plan->key_count) return range_of(b, node->inputs[0], plan->keys[column]);
        bool count = strcmp(plan->aggregates[column - plan->key_count].aggregate->name, "COUNT") == 0;
        return count ? (struct range){0, INFINITY} : all_values;
    }
    case PLAN_RANK:
        if (column < node->inputs[0]->field_count) return range_of(b, node->inputs[0], column);
        return (struct range){(double)node->rank.rank_first, (double)node->rank.rank_last};
    case PLAN_UNION: {
        struct range range = range_of(b, node->inputs[0], column);
        for (uint32_t i = 1; i < node->input_count; i++) range = unite(range, range_of(b, node->inputs[i], column));
        return range;
    }
    default: return all_values;
    }
}

// --- Monotonicity ---

static bool monotonicity_of(struct binder *b, const struct plan_node *node, enum monotonicity *out);

static enum monotonicity of_sum(struct binder *b, const struct plan_node *input, const struct aggregate_call *call) {
    struct range range = range_of(b, input, call->args[0]);
    const struct expr *argument = input->kind == PLAN_CALC ? input->calc.outputs[call->args[0]] : NULL;
    if (call->filter >= 0 && argument != NULL && argument->kind == EXPR_COLUMN)
        range = intersect(range, range_by(b, input->calc.outputs[call->filter], argument->column));
    return range.lower >= 0 ? INCREASING : range.upper <= 0 ? DECREASING : NOT_MONOTONIC;
}

static enum monotonicity of_call(struct binder *b, const struct plan_node *input, const struct aggregate_call *call,
                                 const enum monotonicity *below) {
    const char *name = call->aggregate->name;
    if (strcmp(name, "COUNT") == 0) return INCREASING;
    enum monotonicity own = NOT_MONOTONIC;
    if (strcmp(name, "MAX") == 0) own = INCREASING;
    if (strcmp(name, "MIN") == 0) own = DECREASING;
    if (strcmp(name, "SUM") == 0) own = of_sum(b, input, call);
    return input->updates && below[call->args[0]] != own ? NOT_MONOTONIC : own;
}

static bool of_aggregate(struct binder *b, const struct plan_node *node, enum monotonicity *out) {
    const struct plan_group_aggregate *plan = &node->group_aggregate;
    const struct plan_node *input = node->inputs[0];
    enum monotonicity *below = ARENA_ARRAY(b->arena, enum monotonicity, input->field_count + 1);
    if (!monotonicity_of(b, input, below)) return false;
    for (uint32_t i = 0; i < plan->key_count; i++) {
        if (below[plan->keys[i]] != CONSTANT) return false;
        out[i] = CONSTANT;
    }
    for (uint32_t i = 0; i < plan->aggregate_count; i++)
        out[plan->key_count + i] = of_call(b, input, &plan->aggregates[i], below);
    return true;
}

static bool of_calc(struct binder *b, const struct plan_node *node, enum monotonicity *out) {
    enum monotonicity *below = ARENA_ARRAY(b->arena, enum monotonicity, node->inputs[0]->field_count + 1);
    if (!monotonicity_of(b, node->inputs[0], below)) return false;
    for (uint32_t i = 0; i < node->field_count; i++) {
        const struct expr *expr = node->calc.outputs[i];
        while (is_call(expr, "CAST")) expr = expr->args[0];
        out[i] = !node->inputs[0]->updates ? CONSTANT : expr->kind == EXPR_COLUMN ? below[expr->column] : NOT_MONOTONIC;
    }
    return true;
}

static bool of_rank(struct binder *b, const struct plan_node *node, enum monotonicity *out) {
    const struct plan_rank *plan = &node->rank;
    uint32_t fields = node->inputs[0]->field_count;
    enum monotonicity *below = ARENA_ARRAY(b->arena, enum monotonicity, fields + 1);
    if (!monotonicity_of(b, node->inputs[0], below)) return false;
    for (uint32_t i = 0; i < node->field_count; i++) out[i] = i < fields ? NOT_MONOTONIC : CONSTANT;
    for (uint32_t i = 0; i < plan->partition_count; i++) {
        if (below[plan->partitions[i]] != CONSTANT) return false;
        out[plan->partitions[i]] = CONSTANT;
    }
    if (plan->sort_count == 0) return true;
    const struct sort_key *sort = &plan->sorts[0];
    enum monotonicity first = below[sort->column], wanted = sort->descending ? INCREASING : DECREASING;
    out[sort->column] = first == CONSTANT || first == wanted ? wanted : NOT_MONOTONIC;
    return true;
}

// How a row's columns change when it is replaced by one with the same key. False: rows may also be deleted, or Flink can't say.
static bool monotonicity_of(struct binder *b, const struct plan_node *node, enum monotonicity *out) {
    switch (node->kind) {
    case PLAN_CALC: return of_calc(b, node, out);
    case PLAN_GROUP_AGGREGATE: return of_aggregate(b, node, out);
    case PLAN_RANK: return of_rank(b, node, out);
    case PLAN_WINDOW_TVF:
    case PLAN_WINDOW_RANK: return false;
    case PLAN_WINDOW_AGGREGATE:
        if (!node->window_aggregate.legacy) return false;
        break;
    default: break;
    }
    for (uint32_t i = 0; i < node->field_count; i++) out[i] = CONSTANT;
    return !node->updates;
}

// --- The question ---

static bool all_constant(const struct expr *expr, const enum monotonicity *columns) {
    if (expr->kind == EXPR_COLUMN) return columns[expr->column] == CONSTANT;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (!all_constant(expr->args[i], columns)) return false;
    return true;
}

// Conditions above what changes need the old row too; those on keys pass through an aggregation.
static bool filters_changes(struct binder *b, const struct plan_node *node) {
    for (; node->kind == PLAN_CALC; node = node->inputs[0]) {
        if (node->calc.condition == NULL) continue;
        enum monotonicity *columns = ARENA_ARRAY(b->arena, enum monotonicity, node->inputs[0]->field_count + 1);
        if (!monotonicity_of(b, node->inputs[0], columns) || !all_constant(node->calc.condition, columns)) return true;
    }
    return false;
}

static bool is_one_of(uint32_t column, const uint32_t *columns, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (columns[i] == column) return true;
    return false;
}

bool tide__plan_only_rises(struct binder *b, const struct plan_node *input, const struct plan_rank *rank) {
    if (b->infer.batch_mode || !input->updates || rank->unique_key_count == 0 || rank->sort_count == 0) return false;
    if (filters_changes(b, input)) return false;
    for (uint32_t i = 0; i < rank->partition_count; i++)
        if (!is_one_of(rank->partitions[i], rank->unique_keys, rank->unique_key_count)) return false;
    enum monotonicity *columns = ARENA_ARRAY(b->arena, enum monotonicity, input->field_count + 1);
    if (!monotonicity_of(b, input, columns)) return false;
    for (uint32_t i = 0; i < rank->sort_count; i++) {
        enum monotonicity wanted = rank->sorts[i].descending ? INCREASING : DECREASING;
        enum monotonicity have = columns[rank->sorts[i].column];
        if (have != CONSTANT && have != wanted) return false;
    }
    return true;
}
