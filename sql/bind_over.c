// OVER calls: each is bound with its window, and those with equal windows become one raw PLAN_OVER node over a calc that
// computes what they look at. A ROW_NUMBER() whose rank is bounded above becomes a Top-N in planning (plan_rank.c).
#include "sql/bind.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static struct str call_name(const struct ast_expr *ast) {
    return ast->path.parts[ast->path.count - 1].text;
}

bool tide__over_is_rank(enum over_call_kind kind) {
    return kind == OVER_CALL_ROW_NUMBER || kind == OVER_CALL_RANK || kind == OVER_CALL_DENSE_RANK;
}

// --- The window ---

// OVER w, OVER (w ORDER BY ..): what the named window says, and what is added to it.
static tide_status resolve_window(struct select_scope *s, const struct ast_window *window, struct ast_window *out,
                                  uint32_t depth) {
    *out = *window;
    if (window->base.text.len == 0) return TIDE_OK;
    struct binder *b = s->binder;
    const struct ast_window *named = NULL;
    for (uint32_t i = 0; s->query != NULL && i < s->query->window_count; i++) {
        if (tide__str_eq(s->query->windows[i].name.text, window->base.text)) named = s->query->windows[i].window;
    }
    if (named == NULL || depth > 32) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, window->base.pos, "window \"%.*s\" not found",
                             STR_ARG(window->base.text));
    }
    struct ast_window base;
    TIDE_TRY(resolve_window(s, named, &base, depth + 1));
    if (window->partition_by.count > 0) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, window->partition_pos,
                             "PARTITION BY cannot be added to a named window");
    }
    if (window->order_by.count > 0 && base.order_by.count > 0) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, window->order_pos, "window \"%.*s\" has an ORDER BY already",
                             STR_ARG(window->base.text));
    }
    out->partition_by = base.partition_by;
    if (window->order_by.count == 0) out->order_by = base.order_by;
    if (window->has_frame || !base.has_frame) return TIDE_OK;
    out->has_frame = true;
    out->rows = base.rows;
    out->lower = base.lower;
    out->upper = base.upper;
    out->lower_value = base.lower_value;
    out->upper_value = base.upper_value;
    out->frame_pos = base.frame_pos;
    return TIDE_OK;
}

static tide_status bind_sorts(struct select_scope *s, const struct ast_window *window, struct bound_over *over) {
    struct binder *b = s->binder;
    over->sort_exprs = ARENA_ARRAY(b->arena, struct expr *, window->order_by.count);
    over->sorts = ARENA_ARRAY(b->arena, struct sort_key, window->order_by.count);
    for (uint32_t i = 0; i < window->order_by.count; i++) {
        const struct ast_order_item *item = &window->order_by.items[i];
        struct expr *expr;
        TIDE_TRY(tide__bind_expr(s, item->expr, &expr));
        if (expr->kind == EXPR_LITERAL) continue;
        over->sort_exprs[over->sort_count] = expr;
        struct sort_key *sort = &over->sorts[over->sort_count++];
        sort->descending = item->descending;
        sort->nulls_last = item->nulls == NULLS_DEFAULT ? item->descending : item->nulls == NULLS_LAST;
    }
    return TIDE_OK;
}

static tide_status frame_distance(struct select_scope *s, const struct ast_window *window, const struct ast_expr *ast,
                                  int64_t *out) {
    struct binder *b = s->binder;
    struct expr *expr;
    struct value value;
    TIDE_TRY(tide__bind_expr(s, ast, &expr));
    bool interval = expr->type->kind == TYPE_INTERVAL_MILLIS;
    if (expr->kind != EXPR_LITERAL || !(interval || tide__type_is_integer(expr->type)) || (window->rows && interval)) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "the frame's distance must be %s",
                             window->rows ? "a number of rows" : "an interval such as INTERVAL '5' MINUTE");
    }
    TIDE_TRY(tide__expr_constant(&b->infer, expr, &value, b->err));
    *out = value.i64;
    if (!value.is_null && value.i64 >= 0) return TIDE_OK;
    return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "the frame's distance must not be negative");
}

// Batch mode: a bound as a distance behind the row.
static tide_status general_bound(struct select_scope *s, const struct ast_window *window, enum ast_bound bound,
                                 const struct ast_expr *value, bool *out_unbounded, int64_t *out) {
    *out_unbounded = bound == BOUND_UNBOUNDED_PRECEDING || bound == BOUND_UNBOUNDED_FOLLOWING;
    *out = 0;
    if (*out_unbounded || bound == BOUND_CURRENT_ROW) return TIDE_OK;
    TIDE_TRY(frame_distance(s, window, value, out));
    if (bound == BOUND_PRECEDING) *out = -*out;
    return TIDE_OK;
}

static tide_status general_frame(struct select_scope *s, const struct ast_window *window, struct bound_over *over) {
    struct over_frame *frame = &over->frame;
    if (!s->binder->infer.batch_mode) {
        tide__fail_at(s->binder->err, TIDE_ERR_PLAN, window->frame_pos,
                      "frames that do not end at CURRENT ROW are not supported on a stream");
        return tide__fail_hint(s->binder->err, "write ROWS BETWEEN n PRECEDING AND CURRENT ROW");
    }
    frame->general = true;
    TIDE_TRY(general_bound(s, window, window->lower, window->lower_value, &frame->from_start, &frame->from));
    return general_bound(s, window, window->upper, window->upper_value, &frame->to_end, &frame->to);
}

static tide_status bind_frame(struct select_scope *s, const struct ast_window *window, struct bound_over *over) {
    enum over_call_kind kind = over->call.kind;
    over->frame.preceding = -1;
    over->any_frame = kind == OVER_CALL_LAG || kind >= OVER_CALL_LEAD;
    over->frame.rows = kind == OVER_CALL_ROW_NUMBER;
    if (!window->has_frame || kind != OVER_CALL_AGGREGATE) return TIDE_OK;
    over->frame.rows = window->rows;
    if (window->upper != BOUND_CURRENT_ROW || window->lower == BOUND_FOLLOWING) return general_frame(s, window, over);
    if (window->lower == BOUND_UNBOUNDED_PRECEDING) return TIDE_OK;
    if (window->lower == BOUND_CURRENT_ROW) {
        over->frame.preceding = 0;
        return TIDE_OK;
    }
    return frame_distance(s, window, window->lower_value, &over->frame.preceding);
}

static tide_status bind_window(struct select_scope *s, const struct ast_expr *ast, struct bound_over *over) {
    struct binder *b = s->binder;
    struct ast_window window;
    TIDE_TRY(resolve_window(s, ast->over, &window, 0));
    over->partition_count = window.partition_by.count;
    over->partitions = ARENA_ARRAY(b->arena, struct expr *, over->partition_count);
    for (uint32_t i = 0; i < over->partition_count; i++) {
        TIDE_TRY(tide__bind_expr(s, window.partition_by.items[i], &over->partitions[i]));
    }
    TIDE_TRY(bind_sorts(s, &window, over));
    if (over->sort_count == 0 && over->call.kind != OVER_CALL_AGGREGATE) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, window.order_by.count > 0 ? window.order_pos : ast->pos,
                      "%s needs ORDER BY over a column, not over a constant", over->name);
        return tide__fail_hint(b->err, "say which rows rank first: ORDER BY price DESC");
    }
    return bind_frame(s, &window, over);
}

// --- The call ---

static tide_status bind_lag(struct select_scope *s, const struct ast_expr *ast, struct bound_over *over) {
    struct binder *b = s->binder;
    const struct ast_exprs *args = &ast->args;
    if (args->count < 1 || args->count > 3) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%s takes 1 to 3 arguments, not %u", over->name,
                             args->count);
    }
    struct over_call *call = &over->call;
    TIDE_TRY(tide__bind_expr(s, args->items[0], &over->aggregate.args[0]));
    call->type = tide__type_with_nullable(b->arena, over->aggregate.args[0]->type, true);
    call->offset = 1;
    call->fallback.is_null = true;
    struct expr *expr;
    struct value value;
    if (args->count > 1) {
        TIDE_TRY(tide__bind_expr(s, args->items[1], &expr));
        if (expr->kind != EXPR_LITERAL || !tide__type_is_integer(expr->type) || expr->literal.i64 < 0) {
            return tide__fail_at(b->err, TIDE_ERR_PLAN, args->items[1]->pos, "the offset of %s must be a whole number",
                                 over->name);
        }
        call->offset = expr->literal.i64;
    }
    if (args->count < 3) return TIDE_OK;
    TIDE_TRY(tide__bind_expr(s, args->items[2], &expr));
    TIDE_TRY(tide__expr_cast(&b->infer, expr, call->type, &expr, b->err));
    if (tide__expr_constant(&b->infer, expr, &value, NULL) != TIDE_OK) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, args->items[2]->pos, "the default of %s must be a constant",
                             over->name);
    }
    call->fallback = value;
    return TIDE_OK;
}

static tide_status bind_ntile(struct select_scope *s, const struct ast_expr *ast, struct bound_over *over) {
    struct expr *expr;
    if (ast->args.count == 1) {
        TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &expr));
        over->call.offset = expr->literal.i64;
        if (expr->kind == EXPR_LITERAL && tide__type_is_integer(expr->type) && over->call.offset > 0) return TIDE_OK;
    }
    return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, ast->pos, "NTILE takes the number of its buckets");
}

// A frame holds its own row at least.
static tide_status bind_aggregate(struct select_scope *s, const struct ast_expr *ast, const struct aggregate *aggregate,
                                  struct bound_over *over) {
    struct bound_aggregate *bound = &over->aggregate;
    TIDE_TRY(tide__bind_aggregate_call(s, ast, aggregate, bound));
    if (bound->filter == NULL && bound->call.arg_count > 0 && !bound->call.arg_types[0]->nullable) {
        bound->call.type = tide__type_with_nullable(s->binder->arena, bound->call.type, false);
    }
    over->call.type = bound->call.type;
    return TIDE_OK;
}

static tide_status not_supported(struct select_scope *s, const struct ast_expr *ast, const char *name) {
    return tide__fail_at(s->binder->err, TIDE_ERR_PLAN, ast->pos, "%s() OVER is not supported%s", name,
                         s->binder->infer.batch_mode ? "" : " on a stream");
}

static const struct over_function {
    const char *name;
    enum over_call_kind kind;
    enum type_kind type;
} functions[] = {
    {"ROW_NUMBER", OVER_CALL_ROW_NUMBER, TYPE_BIGINT},
    {"RANK", OVER_CALL_RANK, TYPE_BIGINT},
    {"DENSE_RANK", OVER_CALL_DENSE_RANK, TYPE_BIGINT},
    {"LAG", OVER_CALL_LAG, TYPE_NULL},
    {"LEAD", OVER_CALL_LEAD, TYPE_NULL},
    {"NTILE", OVER_CALL_NTILE, TYPE_BIGINT},
    {"PERCENT_RANK", OVER_CALL_PERCENT_RANK, TYPE_DOUBLE},
    {"CUME_DIST", OVER_CALL_CUME_DIST, TYPE_DOUBLE},
};

static tide_status bind_number(struct select_scope *s, const struct ast_expr *ast, const struct over_function *function,
                               struct bound_over *over) {
    struct binder *b = s->binder;
    struct type type = tide__type_make(function->type, false);
    over->call.kind = function->kind;
    over->call.type = tide__type_copy(b->arena, &type);
    over->call.name = tide__over_is_rank(function->kind) ? tide__arena_printf(b->arena, "%s()", over->name)
                                                         : tide__bind_call_name(b, ast, over->name);
    if (function->kind >= OVER_CALL_LEAD && !b->infer.batch_mode) return not_supported(s, ast, over->name);
    if (function->kind == OVER_CALL_LAG || function->kind == OVER_CALL_LEAD) return bind_lag(s, ast, over);
    return function->kind == OVER_CALL_NTILE ? bind_ntile(s, ast, over) : TIDE_OK;
}

static tide_status bind_function(struct select_scope *s, const struct ast_expr *ast, struct bound_over *over) {
    struct binder *b = s->binder;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(over->name, functions[i].name) == 0) return bind_number(s, ast, &functions[i], over);
    }
    if (strcmp(over->name, "NTH_VALUE") == 0) return not_supported(s, ast, over->name);
    over->call.kind = OVER_CALL_AGGREGATE;
    over->call.name = tide__bind_call_name(b, ast, over->name);
    const struct aggregate *aggregate = tide__aggregate_find(call_name(ast));
    if (aggregate != NULL) return bind_aggregate(s, ast, aggregate, over);
    if (tide__function_find(call_name(ast)) == NULL) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "unknown function \"%s\"", over->name);
    }
    return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%s is no aggregate function: it takes no OVER",
                         over->name);
}

// --- Equal calls ---

static bool same_frame(const struct over_frame *a, const struct over_frame *b) {
    return a->rows == b->rows && a->preceding == b->preceding && a->general == b->general &&
           a->from_start == b->from_start && a->to_end == b->to_end && a->from == b->from && a->to == b->to;
}

static bool same_window(const struct bound_over *a, const struct bound_over *b) {
    if (a->partition_count != b->partition_count || a->sort_count != b->sort_count) return false;
    if (!a->any_frame && !b->any_frame && !same_frame(&a->frame, &b->frame)) return false;
    for (uint32_t i = 0; i < a->partition_count; i++) {
        if (!tide__expr_equal(a->partitions[i], b->partitions[i])) return false;
    }
    for (uint32_t i = 0; i < a->sort_count; i++) {
        if (!tide__expr_equal(a->sort_exprs[i], b->sort_exprs[i]) || a->sorts[i].descending != b->sorts[i].descending ||
            a->sorts[i].nulls_last != b->sorts[i].nulls_last) {
            return false;
        }
    }
    return true;
}

static bool same_call(const struct bound_over *a, const struct bound_over *b) {
    if (a->call.kind != b->call.kind || !same_window(a, b)) return false;
    if (a->call.kind == OVER_CALL_AGGREGATE) return tide__bind_same_aggregate(&a->aggregate, &b->aggregate);
    return a->call.kind < OVER_CALL_LAG || a->call.kind == OVER_CALL_PERCENT_RANK ||
           a->call.kind == OVER_CALL_CUME_DIST;
}

// Flink says that LAG with a default is NOT NULL, and where the row before holds a NULL gives what its generated code keeps in a
// variable of the type: -1, FALSE, an empty string.
static tide_status fill_lag(struct select_scope *s, const struct bound_over *over, struct expr **inout) {
    const struct type *type = over->call.type;
    bool lag = over->call.kind == OVER_CALL_LAG || over->call.kind == OVER_CALL_LEAD;
    if (!lag || over->call.fallback.is_null) return TIDE_OK;
    struct value value = {.i64 = -1};
    if (tide__type_is_string(type)) {
        value = (struct value){.str = STR_LIT("")};
    } else if (type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT) {
        value = (struct value){.f64 = -1};
    } else if (type->kind == TYPE_BOOLEAN) {
        value = (struct value){.boolean = false};
    } else if (!tide__type_is_integer(type) && type->kind != TYPE_DATE && type->kind != TYPE_TIME) {
        return TIDE_OK;
    }
    struct expr *args[2] = {*inout, NULL};
    type = tide__type_with_nullable(s->binder->arena, type, false);
    args[1] = tide__expr_literal(s->binder->arena, value, type, over->pos);
    return tide__bind_function(s->binder, "COALESCE", args, 2, over->pos, inout);
}

tide_status tide__bind_add_over(struct select_scope *s, const struct bound_over *over, struct expr **out) {
    struct binder *b = s->binder;
    for (uint32_t i = 0; i < s->over_count; i++) {
        if (same_call(&s->overs[i], over)) {
            *out = tide__bind_virtual(s, VIRTUAL_OVER, i, over->call.type, over->pos);
            return TIDE_OK;
        }
        if (same_window(&s->overs[i], over) || b->infer.batch_mode) continue;
        tide__fail_at(b->err, TIDE_ERR_PLAN, over->pos, "all OVER calls of a query must have the same window");
        return tide__fail_hint(b->err, "compute the second one in an outer query");
    }
    s->overs = tide__bind_grow(b->arena, s->overs, s->over_count, &s->over_capacity, sizeof(s->overs[0]));
    s->overs[s->over_count] = *over;
    *out = tide__bind_virtual(s, VIRTUAL_OVER, s->over_count++, over->call.type, over->pos);
    return fill_lag(s, over, out);
}

tide_status tide__bind_over(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    if (!s->allow_overs || s->in_over || s->in_aggregate) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "OVER is not allowed in %s",
                             s->in_over        ? "OVER"
                             : s->in_aggregate ? "an aggregate"
                                               : s->clause);
    }
    struct bound_over over = {.pos = ast->pos};
    char *name = tide__arena_strndup(b->arena, call_name(ast).data, call_name(ast).len);
    for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    over.name = name;
    s->in_over = true;
    tide_status status = bind_function(s, ast, &over);
    if (status == TIDE_OK) status = bind_window(s, ast, &over);
    s->in_over = false;
    TIDE_TRY(status);
    s->has_over = true;
    return tide__bind_reduced_over(s, &over, out);
}

// --- Nodes ---

struct columns {
    struct arena *arena;
    struct plan_node *calc;
    uint32_t count;
};

static uint32_t column_of(struct columns *columns, struct expr *expr) {
    struct plan_node *calc = columns->calc;
    for (uint32_t i = 0; i < columns->count; i++) {
        if (tide__expr_equal(calc->calc.outputs[i], expr)) return i;
    }
    calc->calc.outputs[columns->count] = expr;
    calc->fields[columns->count] = (struct plan_field){tide__arena_printf(columns->arena, "$o%u", columns->count),
                                                       expr->type};
    return columns->count++;
}

static struct over_call place_call(struct columns *columns, const struct bound_over *bound) {
    struct over_call call = bound->call;
    if (call.kind == OVER_CALL_LAG || call.kind == OVER_CALL_LEAD)
        call.column = column_of(columns, bound->aggregate.args[0]);
    if (call.kind != OVER_CALL_AGGREGATE) return call;
    call.aggregate = bound->aggregate.call;
    call.name = call.aggregate.name;
    for (uint32_t i = 0; i < call.aggregate.arg_count; i++) {
        call.aggregate.args[i] = column_of(columns, bound->aggregate.args[i]);
    }
    if (bound->aggregate.filter != NULL) call.aggregate.filter = (int32_t)column_of(columns, bound->aggregate.filter);
    return call;
}

static void place_window(struct columns *columns, const struct bound_over *bound, struct plan_over *over) {
    over->partition_count = bound->partition_count;
    over->partitions = ARENA_ARRAY(columns->arena, uint32_t, bound->partition_count);
    for (uint32_t i = 0; i < bound->partition_count; i++) {
        over->partitions[i] = column_of(columns, bound->partitions[i]);
    }
    over->sort_count = bound->sort_count;
    over->sorts = ARENA_ARRAY(columns->arena, struct sort_key, bound->sort_count);
    for (uint32_t i = 0; i < bound->sort_count; i++) {
        over->sorts[i] = bound->sorts[i];
        over->sorts[i].column = column_of(columns, bound->sort_exprs[i]);
    }
}

static uint32_t most_columns(const struct select_scope *s) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->over_count; i++) most += s->overs[i].partition_count + s->overs[i].sort_count + 5;
    return most;
}

// Call `first` and all not yet done with the same window; at[i] becomes the number of call i among them.
static void take_calls(struct select_scope *s, uint32_t first, struct columns *columns, struct plan_over *over,
                       uint32_t *at, bool *done, bool *mine) {
    const struct bound_over *window = &s->overs[first];
    struct over_frame frame = window->frame;
    bool has_frame = !window->any_frame;
    for (uint32_t i = first; i < s->over_count; i++) {
        const struct bound_over *bound = &s->overs[i];
        if (done[i] || !same_window(window, bound)) continue;
        if (!bound->any_frame && has_frame && !same_frame(&frame, &bound->frame)) continue;
        if (!bound->any_frame) {
            frame = bound->frame;
            has_frame = true;
        }
        done[i] = mine[i] = true;
        at[i] = over->call_count;
        over->calls[over->call_count++] = place_call(columns, bound);
    }
    over->rows = frame.rows;
    over->preceding = frame.preceding;
    over->general = frame.general;
    over->from_start = frame.from_start;
    over->to_end = frame.to_end;
    over->from = frame.from;
    over->to = frame.to;
}

// One node for the window of call `first`. calls[i] becomes the column of each call that it has.
static struct plan_node *over_node(struct select_scope *s, uint32_t first, struct plan_node *input, uint32_t *calls,
                                   bool *done) {
    struct arena *arena = s->binder->arena;
    struct source_pos pos = s->overs[first].pos;
    struct columns columns = {arena, tide__node_calc(arena, input, input->field_count + most_columns(s), pos), 0};
    for (uint32_t i = 0; i < input->field_count; i++) {
        columns.calc->fields[i] = input->fields[i];
        columns.calc->calc.outputs[i] = tide__node_column(arena, input, i, pos);
    }
    columns.count = input->field_count;
    struct plan_over over = {.calls = ARENA_ARRAY(arena, struct over_call, s->over_count)};
    bool *mine = ARENA_ARRAY(arena, bool, s->over_count);
    place_window(&columns, &s->overs[first], &over);
    take_calls(s, first, &columns, &over, calls, done, mine);
    columns.calc->field_count = columns.count;
    struct plan_node *below = columns.count == input->field_count ? input : columns.calc;
    struct plan_node *node = tide__node_new(arena, PLAN_OVER, pos, 1, columns.count + over.call_count);
    node->inputs[0] = below;
    node->over = over;
    memcpy(node->fields, below->fields, columns.count * sizeof(node->fields[0]));
    for (uint32_t i = 0; i < over.call_count; i++) {
        const char *name = tide__over_is_rank(over.calls[i].kind) ? "$rank" : over.calls[i].name;
        node->fields[columns.count + i] = (struct plan_field){name, over.calls[i].type};
    }
    for (uint32_t i = first; i < s->over_count; i++) calls[i] += mine[i] ? columns.count : 0;
    return node;
}

struct plan_node *tide__bind_over_nodes(struct select_scope *s, struct plan_node *input, uint32_t *columns) {
    bool *done = ARENA_ARRAY(s->binder->arena, bool, s->over_count);
    for (uint32_t i = 0; i < s->over_count; i++) {
        if (!done[i]) input = over_node(s, i, input, columns, done);
    }
    return input;
}
