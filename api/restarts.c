// From the accumulators that begin empty up to the sinks: a column restarts if it is computed from one that does.
#include "api/restarts.h"

#include <string.h>

struct flow {
    bool *fields;
    bool whole;
};

struct walk {
    const struct compat_report *report;
    const struct plan *plan;
    struct arena *arena;
    struct flow *flows;  // by node
};

static bool reads(const struct expr *expr, const bool *fields) {
    if (expr == NULL) return false;
    if (expr->kind == EXPR_COLUMN) return fields[expr->column];
    for (uint32_t i = 0; expr->kind == EXPR_CALL && i < expr->arg_count; i++)
        if (reads(expr->args[i], fields)) return true;
    return false;
}

static const struct compat_operator *operator_of(const struct walk *walk, const struct plan_node *node) {
    for (size_t i = 0; walk->report != NULL && i < walk->report->operator_count; i++)
        if (walk->report->operators[i].new_node == node) return &walk->report->operators[i];
    return NULL;
}

static bool begins_empty(const struct compat_operator *op, uint32_t aggregate) {
    for (size_t i = 0; op != NULL && i < op->step_count; i++)
        if (op->steps[i].kind == COMPAT_STEP_AGGREGATE && op->steps[i].at == aggregate && op->steps[i].from < 0)
            return true;
    return false;
}

static bool is_new(const struct compat_operator *op) {
    for (size_t i = 0; op != NULL && i < op->step_count; i++)
        if (op->steps[i].kind == COMPAT_STEP_NEW) return true;
    return false;
}

static void flow_aggregates(const struct walk *walk, const struct plan_node *node, const bool *input,
                            const uint32_t *keys, uint32_t key_count, const struct aggregate_call *calls,
                            uint32_t count, bool *out) {
    const struct compat_operator *op = operator_of(walk, node);
    for (uint32_t i = 0; i < key_count; i++) out[i] = input[keys[i]];
    for (uint32_t i = 0; i < count; i++) {
        bool restarts = begins_empty(op, i) || (calls[i].filter >= 0 && input[calls[i].filter]);
        for (uint32_t a = 0; a < calls[i].arg_count; a++) restarts |= input[calls[i].args[a]];
        out[key_count + i] = restarts;
    }
}

// Fields that are passed on come first, one input behind the other.
static void flow_passed(const struct walk *walk, const struct plan_node *node, bool *out) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct flow *input = &walk->flows[node->inputs[i]->id];
        for (uint32_t f = 0; f < node->inputs[i]->field_count && at < node->field_count; f++)
            out[at++] = input->fields[f];
    }
}

static void flow_node(const struct walk *walk, const struct plan_node *node) {
    struct flow *flow = &walk->flows[node->id];
    flow->fields = ARENA_ARRAY(walk->arena, bool, node->field_count + 1);
    flow->whole = node->stateful && is_new(operator_of(walk, node));
    for (uint32_t i = 0; i < node->input_count; i++) flow->whole |= walk->flows[node->inputs[i]->id].whole;
    const bool *input = node->input_count > 0 ? walk->flows[node->inputs[0]->id].fields : NULL;
    switch (node->kind) {
    case PLAN_SCAN:
    case PLAN_VALUES: break;
    case PLAN_CALC:
        for (uint32_t f = 0; f < node->field_count; f++) flow->fields[f] = reads(node->calc.outputs[f], input);
        break;
    case PLAN_EXPAND:
        for (uint32_t i = 0; i < node->expand.set_count * node->field_count; i++)
            flow->fields[i % node->field_count] |= reads(node->expand.outputs[i], input);
        break;
    case PLAN_UNION:
        for (uint32_t i = 0; i < node->input_count; i++)
            for (uint32_t f = 0; f < node->field_count; f++)
                flow->fields[f] |= walk->flows[node->inputs[i]->id].fields[f];
        break;
    case PLAN_WINDOW_AGGREGATE:
        flow_aggregates(walk, node, input, node->window_aggregate.keys, node->window_aggregate.key_count,
                        node->window_aggregate.aggregates, node->window_aggregate.aggregate_count, flow->fields);
        break;
    case PLAN_GROUP_AGGREGATE:
        flow_aggregates(walk, node, input, node->group_aggregate.keys, node->group_aggregate.key_count,
                        node->group_aggregate.aggregates, node->group_aggregate.aggregate_count, flow->fields);
        break;
    case PLAN_WINDOW_TVF:
    case PLAN_WINDOW_RANK:
    case PLAN_RANK:
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN:
    case PLAN_OVER:
    case PLAN_SORT:
    case PLAN_UNNEST:
    case PLAN_SINK: flow_passed(walk, node, flow->fields); break;
    }
}

const struct restarts *tide__api_restarts(const struct compat_report *report, const struct plan *plan,
                                          struct arena *arena) {
    struct walk walk = {.report = report, .plan = plan, .arena = arena};
    walk.flows = ARENA_ARRAY(arena, struct flow, plan->node_count + 1);
    for (uint32_t i = 0; i < plan->node_count; i++) flow_node(&walk, plan->nodes[i]);
    struct restarts *restarts = ARENA_ARRAY(arena, struct restarts, plan->root_count + 1);
    for (uint32_t r = 0; r < plan->root_count; r++) {
        const struct flow *flow = &walk.flows[plan->roots[r]->id];
        restarts[r] = (struct restarts){flow->fields, flow->whole};
    }
    return restarts;
}
