// What the fields of a node are: window columns keep that role through calcs, whatever their names, through aggregations
// that group by them, ranks and unions of equal windows.
#include "sql/bind.h"

#include <string.h>

bool tide__plan_same_window(const struct window *a, const struct window *b) {
    return a->kind == b->kind && a->size_ms == b->size_ms && a->slide_ms == b->slide_ms &&
           a->offset_ms == b->offset_ms && a->proctime == b->proctime && a->ltz == b->ltz;
}

static void tvf_roles(struct arena *arena, const struct plan_node *node, struct role *roles) {
    const struct window *window = &node->window_tvf.window;
    uint32_t fields = node->inputs[0]->field_count;
    // Window columns of the input are plain columns from here on.
    (void)arena;
    for (uint32_t i = 0; i < window->partition_count; i++) {
        roles[window->partitions[i]] = (struct role){ROLE_SESSION_KEY, i, window};
    }
    roles[fields] = (struct role){ROLE_WINDOW_START, 0, window};
    roles[fields + 1] = (struct role){ROLE_WINDOW_END, 0, window};
    roles[fields + 2] = (struct role){ROLE_WINDOW_TIME, 0, window};
}

static void aggregate_roles(struct arena *arena, const struct plan_node *node, struct role *roles) {
    const struct plan_window_aggregate *w = &node->window_aggregate;
    if (w->legacy) return;
    static const enum role_kind kinds[] = {ROLE_WINDOW_START, ROLE_WINDOW_END, ROLE_WINDOW_TIME};
    uint32_t first = w->key_count + w->aggregate_count;
    for (uint32_t i = 0; i < w->property_count; i++) {
        roles[first + i] = (struct role){kinds[w->properties[i]], 0, &w->window};
    }
    for (uint32_t i = 0; i < w->key_count; i++) {
        for (uint32_t p = 0; p < w->window.partition_count; p++) {
            if (w->window.kind == WINDOW_SESSION) roles[i] = (struct role){ROLE_SESSION_KEY, i, &w->window};
        }
    }
    (void)arena;
}

static void union_roles(struct arena *arena, const struct plan_node *node, struct role *roles) {
    struct role *first = tide__plan_roles(arena, node->inputs[0]);
    memcpy(roles, first, node->field_count * sizeof(roles[0]));
    for (uint32_t i = 1; i < node->input_count; i++) {
        struct role *other = tide__plan_roles(arena, node->inputs[i]);
        for (uint32_t f = 0; f < node->field_count; f++) {
            if (roles[f].kind == ROLE_NONE) continue;
            if (other[f].kind != roles[f].kind || roles[f].kind == ROLE_SESSION_KEY ||
                !tide__plan_same_window(other[f].window, roles[f].window)) {
                roles[f] = (struct role){.kind = ROLE_NONE};
            }
        }
    }
}

// Both sides' window columns stay window columns, unless they may be padded with NULL.
static void join_roles(struct arena *arena, const struct plan_node *node, struct role *roles) {
    uint32_t n = node->inputs[0]->field_count;
    enum join_kind kind = node->window_join.kind;
    for (uint32_t side = 0; side < 2; side++) {
        if (side == 1 && (kind == JOIN_SEMI || kind == JOIN_ANTI)) break;
        if (kind == JOIN_FULL || kind == (side == 0 ? JOIN_RIGHT : JOIN_LEFT)) continue;
        struct role *input = tide__plan_roles(arena, node->inputs[side]);
        memcpy(roles + (side == 0 ? 0 : n), input, node->inputs[side]->field_count * sizeof(roles[0]));
    }
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (roles[i].kind == ROLE_SESSION_KEY) roles[i] = (struct role){.kind = ROLE_NONE};
    }
}

// A field keeps its role if each grouping set passes it through.
static void expand_roles(struct arena *arena, const struct plan_node *node, struct role *roles) {
    struct role *input = tide__plan_roles(arena, node->inputs[0]);
    for (uint32_t f = 0; f < node->field_count; f++) {
        const struct expr *first = node->expand.outputs[f];
        bool passes = first->kind == EXPR_COLUMN;
        for (uint32_t set = 1; passes && set < node->expand.set_count; set++) {
            const struct expr *other = node->expand.outputs[set * node->field_count + f];
            passes = other->kind == EXPR_COLUMN && other->column == first->column;
        }
        if (passes) roles[f] = input[first->column];
    }
}

struct role *tide__plan_roles(struct arena *arena, const struct plan_node *node) {
    struct role *roles = ARENA_ARRAY(arena, struct role, node->field_count + 1);
    struct role *input;
    switch (node->kind) {
    case PLAN_CALC:
        input = tide__plan_roles(arena, node->inputs[0]);
        for (uint32_t i = 0; i < node->field_count; i++) {
            const struct expr *output = node->calc.outputs[i];
            if (output->kind == EXPR_COLUMN) roles[i] = input[output->column];
        }
        break;
    case PLAN_WINDOW_RANK:
        input = tide__plan_roles(arena, node->inputs[0]);
        memcpy(roles, input, node->inputs[0]->field_count * sizeof(roles[0]));
        break;
    case PLAN_SORT:
    case PLAN_UNNEST:
    case PLAN_OVER:
        input = tide__plan_roles(arena, node->inputs[0]);
        memcpy(roles, input, node->inputs[0]->field_count * sizeof(roles[0]));
        break;
    case PLAN_EXPAND: expand_roles(arena, node, roles); break;
    case PLAN_UNION: union_roles(arena, node, roles); break;
    case PLAN_WINDOW_TVF: tvf_roles(arena, node, roles); break;
    case PLAN_WINDOW_AGGREGATE: aggregate_roles(arena, node, roles); break;
    case PLAN_WINDOW_JOIN: join_roles(arena, node, roles); break;
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_GROUP_AGGREGATE:
    case PLAN_RANK:
    case PLAN_JOIN:
    case PLAN_SINK: break;
    }
    return roles;
}

bool tide__plan_is_rank(const struct plan_node *node, uint32_t column) {
    while (node->kind == PLAN_CALC) {
        const struct expr *output = node->calc.outputs[column];
        if (output->kind != EXPR_COLUMN) return false;
        column = output->column;
        node = node->inputs[0];
    }
    return node->kind == PLAN_OVER && node->over.call_count == 1 && tide__over_is_rank(node->over.calls[0].kind) &&
           column + 1 == node->field_count;
}

// Follows the column down to where it is made.
bool tide__plan_is_time_attribute(const struct plan_node *node, uint32_t column) {
    if (node->fields[column].type->time_attribute == TIME_ATTRIBUTE_NONE) return false;
    switch (node->kind) {
    case PLAN_CALC: {
        const struct expr *output = node->calc.outputs[column];
        if (output->kind == EXPR_COLUMN) return tide__plan_is_time_attribute(node->inputs[0], output->column);
        return output->kind == EXPR_CALL && output->arg_count == 0;  // PROCTIME()
    }
    case PLAN_WINDOW_TVF:
        if (column >= node->inputs[0]->field_count) return true;
        return tide__plan_is_time_attribute(node->inputs[0], column);
    case PLAN_OVER:
    case PLAN_SORT:
    case PLAN_UNNEST:
    case PLAN_RANK:
    case PLAN_WINDOW_RANK:
    case PLAN_EXPAND:
        if (column >= node->inputs[0]->field_count) return false;
        return tide__plan_is_time_attribute(node->inputs[0], column);
    case PLAN_GROUP_AGGREGATE:
        if (column >= node->group_aggregate.key_count) return false;
        return tide__plan_is_time_attribute(node->inputs[0], node->group_aggregate.keys[column]);
    case PLAN_WINDOW_AGGREGATE:
        if (column >= node->window_aggregate.key_count + node->window_aggregate.aggregate_count) return true;
        if (column >= node->window_aggregate.key_count) return false;
        return tide__plan_is_time_attribute(node->inputs[0], node->window_aggregate.keys[column]);
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN: {  // a planned regular join has plain times, see plan_join.c
        uint32_t n = node->inputs[0]->field_count;
        return tide__plan_is_time_attribute(node->inputs[column < n ? 0 : 1], column < n ? column : column - n);
    }
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_UNION:
    case PLAN_SINK: return true;
    }
    return true;
}
