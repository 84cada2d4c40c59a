// Pushing conditions down to joins: what looks at one side becomes a filter of that side, what compares both a condition of
// the join. A filter that no padded row can pass turns an outer join into a smaller one. A stream that is filtered early
// joins fewer rows and, where results are updated, gives the changes that Flink gives.
#include "sql/bind.h"

#include <string.h>

struct pushed {
    struct binder *binder;
    struct plan_node *join;
    uint32_t left_count;
    struct expr *sides[2];   // filters of the inputs, over their fields
    struct expr *condition;  // of the join
    struct expr *above;      // stays, over the join's fields
};

static bool is_call(const struct expr *expr, const char *name) {
    return expr->kind == EXPR_CALL && strcmp(expr->function->name, name) == 0;
}

// Bit 0: uses left columns, bit 1: right ones, bit 2: gives another value each time.
static uint32_t uses(const struct expr *expr, uint32_t left_count) {
    if (expr->kind == EXPR_COLUMN) return expr->column < left_count ? 1 : 2;
    uint32_t bits = expr->kind == EXPR_CALL && expr->function->nondeterministic ? 4 : 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) bits |= uses(expr->args[i], left_count);
    return bits;
}

static struct expr *to_right(struct arena *arena, const struct expr *expr, uint32_t left_count) {
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (expr->kind == EXPR_COLUMN) copy->column -= left_count;
    copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = to_right(arena, expr->args[i], left_count);
    return copy;
}

// --- Conditions that a NULL fails ---

// NULL if one of the side's columns is NULL and all others are too.
static bool is_null_with(const struct expr *expr, uint32_t left_count, uint32_t side) {
    static const char *const strict[] = {"=", "<>",     "<",   "<=",   ">",    ">=",  "+",     "-",     "*",  "/",
                                         "%", "NEGATE", "NOT", "LIKE", "CAST", "ABS", "UPPER", "LOWER", "||", "MOD"};
    if (expr->kind == EXPR_COLUMN) return (expr->column < left_count ? 0u : 1u) == side;
    if (expr->kind != EXPR_CALL) return false;
    bool found = false;
    for (size_t i = 0; i < sizeof(strict) / sizeof(strict[0]); i++) found |= is_call(expr, strict[i]);
    for (uint32_t i = 0; found && i < expr->arg_count; i++) {
        if (is_null_with(expr->args[i], left_count, side)) return true;
    }
    return false;
}

// Never TRUE for a row whose `side` is padded with NULL.
static bool rejects_null(const struct expr *expr, uint32_t left_count, uint32_t side) {
    if (is_call(expr, "AND") || is_call(expr, "OR")) {
        bool all = true, any = false;
        for (uint32_t i = 0; i < expr->arg_count; i++) {
            bool rejects = rejects_null(expr->args[i], left_count, side);
            all &= rejects;
            any |= rejects;
        }
        return is_call(expr, "AND") ? any : all;
    }
    if (is_call(expr, "IS NOT NULL") || is_call(expr, "IS TRUE") || is_call(expr, "IS FALSE")) {
        return is_null_with(expr->args[0], left_count, side);
    }
    return is_null_with(expr, left_count, side);
}

static void weaken(struct pushed *p, const struct expr *filter) {
    enum join_kind *kind = &p->join->join.kind;
    bool left = rejects_null(filter, p->left_count, 0), right = rejects_null(filter, p->left_count, 1);
    if (right && *kind == JOIN_LEFT) *kind = JOIN_INNER;
    if (left && *kind == JOIN_RIGHT) *kind = JOIN_INNER;
    if (*kind != JOIN_FULL) return;
    if (left && right) {
        *kind = JOIN_INNER;
    } else if (left) {
        *kind = JOIN_LEFT;
    } else if (right) {
        *kind = JOIN_RIGHT;
    }
}

// --- Splitting ---

static tide_status each_conjunct(struct pushed *p, struct expr *expr,
                                 tide_status (*visit)(struct pushed *p, struct expr *expr)) {
    if (!is_call(expr, "AND")) return visit(p, expr);
    for (uint32_t i = 0; i < expr->arg_count; i++) TIDE_TRY(each_conjunct(p, expr->args[i], visit));
    return TIDE_OK;
}

static tide_status weaken_by(struct pushed *p, struct expr *expr) {
    weaken(p, expr);
    return TIDE_OK;
}

static tide_status to_side(struct pushed *p, struct expr *expr, uint32_t side) {
    if (side == 1) expr = to_right(p->binder->arena, expr, p->left_count);
    return tide__bind_and(p->binder, expr, &p->sides[side]);
}

// A filter above the join.
static tide_status place_filter(struct pushed *p, struct expr *expr) {
    enum join_kind kind = p->join->join.kind;
    uint32_t bits = uses(expr, p->left_count);
    bool keeps_left = kind != JOIN_RIGHT && kind != JOIN_FULL, keeps_right = kind == JOIN_INNER || kind == JOIN_RIGHT;
    if (bits == 1 && keeps_left) return to_side(p, expr, 0);
    if (bits == 2 && keeps_right) return to_side(p, expr, 1);
    if (bits == 3 && kind == JOIN_INNER) return tide__bind_and(p->binder, expr, &p->condition);
    return tide__bind_and(p->binder, expr, &p->above);
}

// A condition of the join itself: the side that is never padded out for it may be filtered.
static tide_status place_condition(struct pushed *p, struct expr *expr) {
    enum join_kind kind = p->join->join.kind;
    uint32_t bits = uses(expr, p->left_count);
    bool left = kind == JOIN_INNER || kind == JOIN_SEMI || kind == JOIN_RIGHT;
    bool right = kind == JOIN_INNER || kind == JOIN_SEMI || kind == JOIN_ANTI || kind == JOIN_LEFT;
    if (bits == 1 && left) return to_side(p, expr, 0);
    if (bits == 2 && right) return to_side(p, expr, 1);
    return tide__bind_and(p->binder, expr, &p->condition);
}

// An outer join that became smaller pads less: its fields are NOT NULL again, and the columns read from it.
static void push_side(struct pushed *p, uint32_t side) {
    if (p->sides[side] == NULL) return;
    struct plan_node **input = &p->join->inputs[side];
    struct plan_node *filter = tide__node_filter(p->binder->arena, *input, p->sides[side], p->sides[side]->pos);
    *input = tide__plan_merge_calcs(p->binder->arena, filter);
}

static tide_status push(struct binder *b, struct plan_node *join, struct expr *filter, struct expr **out_above) {
    struct pushed p = {.binder = b, .join = join, .left_count = join->inputs[0]->field_count};
    if (filter != NULL) {
        TIDE_TRY(each_conjunct(&p, filter, weaken_by));
        TIDE_TRY(each_conjunct(&p, filter, place_filter));
    }
    struct expr *condition = join->join.condition;
    if (condition != NULL) TIDE_TRY(each_conjunct(&p, condition, place_condition));
    join->join.condition = p.condition;
    push_side(&p, 0);
    push_side(&p, 1);
    *out_above = p.above;
    return TIDE_OK;
}

tide_status tide__plan_push_filters(struct binder *b, struct plan_node *node) {
    struct expr *above;
    if (node->kind == PLAN_CALC && node->inputs[0]->kind == PLAN_JOIN) {
        TIDE_TRY(push(b, node->inputs[0], node->calc.condition, &above));
        node->calc.condition = above;
        node = node->inputs[0];
    } else if (node->kind == PLAN_JOIN) {
        TIDE_TRY(push(b, node, NULL, &above));
    }
    for (uint32_t i = 0; i < node->input_count; i++) TIDE_TRY(tide__plan_push_filters(b, node->inputs[i]));
    return TIDE_OK;
}
