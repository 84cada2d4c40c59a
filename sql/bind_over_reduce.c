// AVG, STDDEV_* and VAR_* over a window, as Flink's planner writes them (Calcite's AvgVarianceConvertlet):
//
//   AVG(x)      SUM(x) / COUNT(x)
//   VAR_POP(x)  (SUM(x * x) - SUM(x) * SUM(x) / COUNT(x)) / COUNT(x); VAR_SAMP divides by COUNT(x) - 1; STDDEV is its power 0.5
//
// with a cast to the result's type after each step. So integers wrap, and digits are lost that the aggregates of a GROUP BY
// keep: that is what Flink gives. A SUM begins at 0 ($SUM0): -0.0 becomes 0.0, and a DECIMAL that has overflowed stays NULL.
#include "sql/bind.h"

#include <string.h>

struct parts {
    struct select_scope *scope;
    const struct bound_over *over;  // of the call that is written out
    const struct type *type;        // of its result, nullable
};

static const char *sum_of(const struct aggregate_call *call) {
    return call->distinct ? "SUM" : "$SUM0";
}

static tide_status part(const struct parts *p, const char *name, struct expr *argument, struct expr **out) {
    struct binder *b = p->scope->binder;
    struct bound_over made = *p->over;
    struct aggregate_call *call = &made.aggregate.call;
    made.aggregate.args[0] = argument;
    const char *found = strcmp(name, "SUM") == 0 ? sum_of(call) : name;
    call->aggregate = tide__aggregate_find((struct str){found, strlen(found)});
    call->arg_types[0] = argument->type;
    bool rows = strcmp(name, "COUNT") == 0 && !call->distinct && !argument->type->nullable;
    call->arg_count = rows ? 0 : 1;
    const char *open = strchr(p->over->call.name, '(');
    made.call.name = call->name = tide__arena_printf(b->arena, "%s%s", name, open == NULL ? "" : open);
    made.name = name;
    const struct expr *args[4] = {argument, NULL, NULL, NULL};
    TIDE_TRY(call->aggregate->infer(&b->infer, call, args, b->err));
    made.call.type = call->type;
    TIDE_TRY(tide__bind_add_over(p->scope, &made, out));
    return tide__expr_cast(&b->infer, *out, p->type, out, b->err);
}

static tide_status step(const struct parts *p, const char *name, struct expr *left, struct expr *right,
                        struct expr **out) {
    struct binder *b = p->scope->binder;
    struct expr *sides[2] = {left, right};
    TIDE_TRY(tide__bind_function(b, name, sides, 2, p->over->pos, out));
    return tide__expr_cast(&b->infer, *out, p->type, out, b->err);
}

// COUNT - 1, NULL for one row.
static tide_status sample_count(const struct parts *p, struct expr *count, struct expr **out) {
    struct binder *b = p->scope->binder;
    struct source_pos pos = p->over->pos;
    struct expr *one, *is_one, *less, *cases[3];
    TIDE_TRY(tide__expr_cast(&b->infer, tide__bind_integer(b, TYPE_INT, 1, pos), p->type, &one, b->err));
    struct expr *sides[2] = {count, one};
    TIDE_TRY(tide__bind_function(b, "=", sides, 2, pos, &is_one));
    TIDE_TRY(step(p, "-", count, one, &less));
    cases[0] = is_one;
    TIDE_TRY(tide__expr_cast(&b->infer, tide__bind_null(b, pos), p->type, &cases[1], b->err));
    cases[2] = less;
    return tide__bind_function(b, "CASE", cases, 3, pos, out);
}

static tide_status variance(const struct parts *p, bool sample, bool root, struct expr **out) {
    struct binder *b = p->scope->binder;
    struct expr *x, *square, *sum_of_squares, *sum, *count, *value;
    TIDE_TRY(tide__expr_cast(&b->infer, p->over->aggregate.args[0], p->type, &x, b->err));
    TIDE_TRY(step(p, "*", x, x, &square));
    TIDE_TRY(part(p, "SUM", square, &sum_of_squares));
    TIDE_TRY(part(p, "SUM", x, &sum));
    TIDE_TRY(part(p, "COUNT", x, &count));
    TIDE_TRY(step(p, "*", sum, sum, &value));
    TIDE_TRY(step(p, "/", value, count, &value));
    TIDE_TRY(step(p, "-", sum_of_squares, value, &value));
    if (sample) TIDE_TRY(sample_count(p, count, &count));
    TIDE_TRY(step(p, "/", value, count, &value));
    *out = value;
    if (!root) return TIDE_OK;
    struct type type = tide__type_make_sized(TYPE_DECIMAL, false, 2, 1);
    struct expr *half = tide__expr_literal(b->arena, (struct value){.i64 = 5}, tide__type_copy(b->arena, &type),
                                           p->over->pos);
    return step(p, "POWER", value, half, out);
}

tide_status tide__bind_reduced_over(struct select_scope *s, const struct bound_over *over, struct expr **out) {
    if (over->call.kind != OVER_CALL_AGGREGATE) return tide__bind_add_over(s, over, out);
    const char *name = over->aggregate.call.aggregate->name;
    if (strcmp(name, "SUM") == 0) {
        struct bound_over made = *over;
        const char *found = sum_of(&over->aggregate.call);
        made.aggregate.call.aggregate = tide__aggregate_find((struct str){found, strlen(found)});
        made.call.type = made.aggregate.call.type = tide__type_with_nullable(s->binder->arena, over->call.type, true);
        return tide__bind_add_over(s, &made, out);
    }
    struct parts p = {s, over, tide__type_with_nullable(s->binder->arena, over->call.type, true)};
    if (strcmp(name, "AVG") == 0) {
        struct expr *sum, *count;
        TIDE_TRY(part(&p, "SUM", over->aggregate.args[0], &sum));
        TIDE_TRY(part(&p, "COUNT", over->aggregate.args[0], &count));
        return step(&p, "/", sum, count, out);
    }
    bool root = strncmp(name, "STDDEV", 6) == 0;
    if (!root && strncmp(name, "VAR", 3) != 0) return tide__bind_add_over(s, over, out);
    return variance(&p, strstr(name, "_POP") == NULL, root, out);
}
