// Moving expressions from one input to another.
#include "sql/bind.h"

#include <assert.h>

struct expr *tide__expr_remap(struct arena *arena, const struct expr *expr, const int32_t *map) {
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (expr->kind == EXPR_COLUMN) {
        assert(map[expr->column] >= 0);
        copy->column = (uint32_t)map[expr->column];
    }
    if (expr->arg_count > 0) copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = tide__expr_remap(arena, expr->args[i], map);
    return copy;
}

struct expr *tide__expr_substitute(struct arena *arena, const struct expr *expr, struct expr *const *by) {
    if (expr->kind == EXPR_COLUMN) return by[expr->column];
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (expr->arg_count > 0) copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = tide__expr_substitute(arena, expr->args[i], by);
    return copy;
}

void tide__expr_mark(const struct expr *expr, bool *used) {
    if (expr == NULL) return;
    if (expr->kind == EXPR_COLUMN) used[expr->column] = true;
    for (uint32_t i = 0; i < expr->arg_count; i++) tide__expr_mark(expr->args[i], used);
}
