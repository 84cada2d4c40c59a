// What Flink's planner does to the aggregates of a SELECT that has a STDDEV_* or VAR_* among them (Calcite's rule
// AggregateReduceFunctions, which begins with those and then takes the others too): AVG(x) becomes SUM(x) / COUNT(x), whose
// sum has the type of x and so wraps or overflows where AVG's own would not. If there is a SUM as well, sums begin at 0
// ($SUM0): -0.0 becomes 0.0, and a DECIMAL that has overflowed stays NULL. DISTINCT ones are plain sums.
#include "sql/bind.h"

#include <string.h>

struct reduced_calls {
    uint32_t count;
    struct bound_aggregate *calls;
};

static bool is_named(const struct bound_aggregate *bound, const char *name) {
    return strcmp(bound->call.aggregate->name, name) == 0;
}

static uint32_t place(struct reduced_calls *calls, const struct bound_aggregate *bound) {
    for (uint32_t i = 0; i < calls->count; i++) {
        if (tide__bind_same_aggregate(&calls->calls[i], bound)) return i;
    }
    calls->calls[calls->count] = *bound;
    return calls->count++;
}

// The function `name` over what `from` (an AVG or SUM) goes over.
static tide_status place_other(struct select_scope *s, struct reduced_calls *calls, const struct bound_aggregate *from,
                               const char *name, uint32_t *out) {
    struct binder *b = s->binder;
    struct bound_aggregate made = *from;
    const char *shown = name[0] == '$' ? "SUM" : name;
    made.call.aggregate = tide__aggregate_find((struct str){name, strlen(name)});
    made.call.name = tide__arena_printf(b->arena, "%s%s", shown, from->call.name + 3);  // behind SUM or AVG
    // See tide__bind_aggregate_call: counting what cannot be NULL is counting rows.
    bool rows = strcmp(name, "COUNT") == 0 && !made.call.distinct && !made.call.arg_types[0]->nullable;
    if (rows) made.call.arg_count = 0;
    const struct expr *args[4] = {made.args[0], NULL, NULL, NULL};
    TIDE_TRY(made.call.aggregate->infer(&b->infer, &made.call, args, b->err));
    if (!from->call.type->nullable) made.call.type = tide__type_with_nullable(b->arena, made.call.type, false);
    *out = place(calls, &made);
    return TIDE_OK;
}

static const char *sum_of(const struct bound_aggregate *bound, bool from_zero) {
    if (!from_zero || bound->call.distinct || tide__type_is_integer(bound->call.arg_types[0])) return "SUM";
    return "$SUM0";
}

// Is the function `name` there over what this AVG goes over?
static bool has_other(const struct select_scope *s, const struct bound_aggregate *avg, const char *name) {
    for (uint32_t i = 0; i < s->aggregate_count; i++) {
        const struct bound_aggregate *other = &s->aggregates[i];
        bool rows = is_named(other, "COUNT") && other->call.arg_count == 0 && !avg->call.arg_types[0]->nullable;
        if (!is_named(other, name) || other->call.distinct != avg->call.distinct) continue;
        if ((other->filter == NULL) != (avg->filter == NULL)) continue;
        if (other->filter != NULL && !tide__expr_equal(other->filter, avg->filter)) continue;
        if (rows || (other->call.arg_count == 1 && tide__expr_equal(other->args[0], avg->args[0]))) return true;
    }
    return false;
}

// An AVG beside the SUM and the COUNT of the same is their quotient, too: so it wraps as the SUM does. A check sees what is written.
static bool is_quotient(const struct select_scope *s, const struct bound_aggregate *bound, bool all) {
    return is_named(bound, "AVG") && (all || (has_other(s, bound, "SUM") && has_other(s, bound, "COUNT")));
}

tide_status tide__bind_reduce(struct select_scope *s, struct aggregated *out) {
    struct arena *arena = s->binder->arena;
    bool reduces = false, from_zero = false, reuses = false;
    for (uint32_t i = 0; i < s->aggregate_count; i++) {
        const char *name = s->aggregates[i].call.aggregate->name;
        reduces |= strncmp(name, "STDDEV", 6) == 0 || strncmp(name, "VAR", 3) == 0;
        from_zero |= strcmp(name, "SUM") == 0 && !s->aggregates[i].call.distinct;
        reuses |= !s->binder->session->checking && is_quotient(s, &s->aggregates[i], false);
    }
    if (!reduces && !reuses) return TIDE_OK;
    from_zero &= reduces;
    struct reduced_calls calls = {0, ARENA_ARRAY(arena, struct bound_aggregate, s->aggregate_count * 2)};
    out->reduced = ARENA_ARRAY(arena, struct reduced_aggregate, s->aggregate_count);
    for (uint32_t i = 0; i < s->aggregate_count; i++) {
        const struct bound_aggregate *bound = &s->aggregates[i];
        struct reduced_aggregate *reduced = &out->reduced[i];
        reduced->is_quotient = is_quotient(s, bound, reduces);
        reduced->type = bound->call.type;
        if (!reduced->is_quotient && !is_named(bound, "SUM")) {
            reduced->value = place(&calls, bound);
            continue;
        }
        TIDE_TRY(place_other(s, &calls, bound, sum_of(bound, from_zero), &reduced->value));
        if (reduced->is_quotient) TIDE_TRY(place_other(s, &calls, bound, "COUNT", &reduced->count));
    }
    s->aggregates = calls.calls;
    s->aggregate_count = calls.count;
    s->aggregate_capacity = calls.count;
    return TIDE_OK;
}

tide_status tide__bind_reduced(struct select_scope *s, const struct aggregated *aggregated, uint32_t index,
                               struct source_pos pos, struct expr **out) {
    struct binder *b = s->binder;
    const struct plan_node *node = aggregated->relation.node;
    if (aggregated->reduced == NULL) {
        *out = tide__node_column(b->arena, node, aggregated->aggregate_first + index, pos);
        return TIDE_OK;
    }
    const struct reduced_aggregate *reduced = &aggregated->reduced[index];
    *out = tide__node_column(b->arena, node, aggregated->aggregate_first + reduced->value, pos);
    if (!reduced->is_quotient) return TIDE_OK;
    struct expr *sides[2] = {*out,
                             tide__node_column(b->arena, node, aggregated->aggregate_first + reduced->count, pos)};
    // The sum is made AVG's type first: a DECIMAL that does not fit is NULL.
    const struct type *wide = tide__type_with_nullable(b->arena, reduced->type, true);
    TIDE_TRY(tide__expr_cast(&b->infer, sides[0], wide, &sides[0], b->err));
    struct expr *quotient;
    TIDE_TRY(tide__bind_function(b, "/", sides, 2, pos, &quotient));
    TIDE_TRY(tide__expr_cast(&b->infer, quotient, reduced->type, out, b->err));
    if ((*out)->type->nullable == reduced->type->nullable) return TIDE_OK;
    struct expr *copy = ARENA_NEW(b->arena, struct expr);
    *copy = **out;
    copy->type = reduced->type;
    *out = copy;
    return TIDE_OK;
}
