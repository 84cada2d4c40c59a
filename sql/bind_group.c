// GROUP BY: its keys, its grouping sets, and the aggregation's node over a calc that computes keys and arguments:
//
//   input -> calc [keys | arguments, filters | group window's time] -> (expand: a copy a grouping set) -> aggregate
//
// Keys have their own columns beside arguments, because grouping sets turn keys to NULL, not arguments.
#include "sql/bind.h"
#include "sql/names.h"

#include <assert.h>
#include <string.h>

#define SETS_MAX 4096

// --- Keys ---

static tide_status add_key(struct select_scope *s, const struct ast_expr *ast, uint32_t *out_key) {
    struct binder *b = s->binder;
    struct expr *expr;
    TIDE_TRY(tide__bind_expr(s, ast, &expr));
    for (uint32_t i = 0; i < s->key_count; i++) {
        if (tide__expr_equal(s->keys[i], expr)) {
            *out_key = i;
            return TIDE_OK;
        }
    }
    if (s->key_count == BIND_KEYS_MAX) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "GROUP BY has more than %d keys", BIND_KEYS_MAX);
    }
    s->keys[s->key_count] = expr;
    *out_key = s->key_count++;
    return TIDE_OK;
}

static tide_status add_keys_of(struct select_scope *s, const struct ast_group *group, bool plain) {
    for (uint32_t i = 0; i < group->exprs.count; i++) {
        const struct ast_expr *ast = group->exprs.items[i];
        if (tide__bind_is_window_group(ast)) {
            if (!plain) {
                return tide__fail_at(s->binder->err, TIDE_ERR_PLAN, ast->pos,
                                     "a group window does not stand in GROUPING SETS, ROLLUP or CUBE");
            }
            s->window_place = s->key_count;
            TIDE_TRY(tide__bind_group_window(s, ast));
            continue;
        }
        uint32_t key;
        TIDE_TRY(add_key(s, ast, &key));
    }
    for (uint32_t i = 0; i < group->child_count; i++) TIDE_TRY(add_keys_of(s, &group->children[i], false));
    return TIDE_OK;
}

tide_status tide__bind_group_by(struct select_scope *s, const struct ast_query *query) {
    s->keys = ARENA_ARRAY(s->binder->arena, struct expr *, BIND_KEYS_MAX);
    s->clause = "GROUP BY clause";
    bool aggregates = s->allow_aggregates;
    s->allow_aggregates = s->allow_subqueries = false;
    for (uint32_t i = 0; i < query->group_by.count; i++) TIDE_TRY(add_keys_of(s, &query->group_by.items[i], true));
    s->allow_aggregates = aggregates;
    s->allow_subqueries = true;
    return TIDE_OK;
}

// --- Grouping sets ---

static struct group_sets one_set(struct select_scope *s) {
    struct group_sets sets = {1, ARENA_ARRAY(s->binder->arena, bool *, 1)};
    sets.sets[0] = ARENA_ARRAY(s->binder->arena, bool, BIND_KEYS_MAX);
    return sets;
}

static tide_status too_many_sets(struct select_scope *s, struct source_pos pos) {
    return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, pos, "GROUP BY has more than %d grouping sets", SETS_MAX);
}

// Every set of a joined with every set of b.
static tide_status cross(struct select_scope *s, struct source_pos pos, struct group_sets a, struct group_sets b,
                         struct group_sets *out) {
    if ((uint64_t)a.set_count * b.set_count > SETS_MAX) return too_many_sets(s, pos);
    struct group_sets product = {0, ARENA_ARRAY(s->binder->arena, bool *, a.set_count *b.set_count)};
    for (uint32_t i = 0; i < a.set_count; i++) {
        for (uint32_t j = 0; j < b.set_count; j++) {
            bool *set = ARENA_ARRAY(s->binder->arena, bool, BIND_KEYS_MAX);
            for (uint32_t k = 0; k < BIND_KEYS_MAX; k++) set[k] = a.sets[i][k] || b.sets[j][k];
            product.sets[product.set_count++] = set;
        }
    }
    *out = product;
    return TIDE_OK;
}

static tide_status key_set(struct select_scope *s, const struct ast_exprs *exprs, bool *set) {
    for (uint32_t i = 0; i < exprs->count; i++) {
        if (tide__bind_is_window_group(exprs->items[i])) continue;
        uint32_t key;
        TIDE_TRY(add_key(s, exprs->items[i], &key));
        set[key] = true;
    }
    return TIDE_OK;
}

static tide_status group_sets_of(struct select_scope *s, const struct ast_group *group, struct group_sets *out);

// ROLLUP (a, b): (a, b), (a), (). CUBE (a, b): (a, b), (a), (b), ().
static tide_status rollup_or_cube(struct select_scope *s, const struct ast_group *group, struct group_sets *out) {
    uint32_t n = group->child_count;
    bool cube = group->kind == GROUP_CUBE;
    if (cube && n > 12) return too_many_sets(s, group->pos);
    uint32_t count = cube ? 1u << n : n + 1;
    struct group_sets sets = {0, ARENA_ARRAY(s->binder->arena, bool *, count)};
    for (uint32_t i = 0; i < count; i++) {
        bool *set = ARENA_ARRAY(s->binder->arena, bool, BIND_KEYS_MAX);
        for (uint32_t child = 0; child < n; child++) {
            bool in = cube ? ((count - 1 - i) >> (n - 1 - child) & 1) != 0 : child < n - i;
            if (in) TIDE_TRY(key_set(s, &group->children[child].exprs, set));
        }
        sets.sets[sets.set_count++] = set;
    }
    *out = sets;
    return TIDE_OK;
}

static tide_status group_sets_of(struct select_scope *s, const struct ast_group *group, struct group_sets *out) {
    switch (group->kind) {
    case GROUP_EXPR: *out = one_set(s); return key_set(s, &group->exprs, out->sets[0]);
    case GROUP_ROLLUP:
    case GROUP_CUBE: return rollup_or_cube(s, group, out);
    case GROUP_SETS: break;
    }
    struct group_sets all = {0, ARENA_ARRAY(s->binder->arena, bool *, SETS_MAX)};
    for (uint32_t i = 0; i < group->child_count; i++) {
        struct group_sets sets;
        TIDE_TRY(group_sets_of(s, &group->children[i], &sets));
        if (all.set_count + sets.set_count > SETS_MAX) return too_many_sets(s, group->pos);
        for (uint32_t j = 0; j < sets.set_count; j++) all.sets[all.set_count++] = sets.sets[j];
    }
    *out = all;
    return TIDE_OK;
}

tide_status tide__bind_group_sets(struct select_scope *s, const struct ast_query *query, struct group_sets *out) {
    *out = one_set(s);
    for (uint32_t i = 0; i < query->group_by.count; i++) {
        struct group_sets sets;
        TIDE_TRY(group_sets_of(s, &query->group_by.items[i], &sets));
        TIDE_TRY(cross(s, query->group_pos, *out, sets, out));
    }
    for (uint32_t i = 0; i < out->set_count; i++) {
        for (uint32_t k = 0; k < s->implicit_keys; k++) out->sets[i][s->key_count - 1 - k] = true;
    }
    return TIDE_OK;
}

// --- The aggregation's nodes ---

struct columns {
    struct plan_node *calc;
    struct name_set names;
    uint32_t count;
};

static uint32_t add_column(struct columns *columns, struct expr *expr, const char *name) {
    uint32_t i = columns->count++;
    columns->calc->calc.outputs[i] = expr;
    columns->calc->fields[i].type = expr->type;
    columns->calc->fields[i].name = tide__names_unique(&columns->names, name);
    return i;
}

static const char *column_name(struct select_scope *s, const struct expr *expr, const char *prefix, uint32_t i) {
    if (expr->kind == EXPR_COLUMN) return s->input->node->fields[expr->column].name;
    return tide__arena_printf(s->binder->arena, "%s%u", prefix, i);
}

// An argument may share the column of an equal one, never that of a key.
static uint32_t add_argument(struct select_scope *s, struct columns *columns, struct expr *expr, bool share_keys) {
    for (uint32_t i = share_keys ? 0 : s->key_count; i < columns->count; i++) {
        if (tide__expr_equal(columns->calc->calc.outputs[i], expr)) return i;
    }
    return add_column(columns, expr, column_name(s, expr, "$f", columns->count));
}

static struct plan_node *expand(struct select_scope *s, struct plan_node *calc, const struct group_sets *sets,
                                struct source_pos pos, int32_t *out_set_column) {
    struct arena *arena = s->binder->arena;
    uint32_t fields = calc->field_count + 1;
    struct plan_node *node = tide__node_new(arena, PLAN_EXPAND, pos, 1, fields);
    node->inputs[0] = calc;
    node->expand.set_count = sets->set_count;
    node->expand.outputs = ARENA_ARRAY(arena, struct expr *, sets->set_count * fields);
    struct type bigint = tide__type_make(TYPE_BIGINT, false);
    for (uint32_t f = 0; f < calc->field_count; f++) {
        node->fields[f] = calc->fields[f];
        bool everywhere = true;
        for (uint32_t set = 0; f < s->key_count && set < sets->set_count; set++) everywhere &= sets->sets[set][f];
        if (!everywhere) node->fields[f].type = tide__type_with_nullable(arena, calc->fields[f].type, true);
    }
    node->fields[fields - 1] = (struct plan_field){"$e", tide__type_copy(arena, &bigint)};
    for (uint32_t set = 0; set < sets->set_count; set++) {
        struct expr **outputs = &node->expand.outputs[set * fields];
        for (uint32_t f = 0; f < calc->field_count; f++) {
            struct value null = {.is_null = true};
            outputs[f] = f >= s->key_count || sets->sets[set][f]
                             ? tide__expr_column(arena, f, calc->fields[f].type, pos)
                             : tide__expr_literal(arena, null, node->fields[f].type, pos);
        }
        outputs[fields - 1] = tide__bind_integer(s->binder, TYPE_BIGINT, set, pos);
    }
    *out_set_column = (int32_t)fields - 1;
    return node;
}

static void place_arguments(struct select_scope *s, struct columns *columns, bool share_keys) {
    for (uint32_t i = 0; i < s->aggregate_count; i++) {
        struct bound_aggregate *bound = &s->aggregates[i];
        for (uint32_t a = 0; a < bound->call.arg_count; a++) {
            bound->call.args[a] = add_argument(s, columns, bound->args[a], share_keys);
        }
        if (bound->filter != NULL) bound->call.filter = (int32_t)add_argument(s, columns, bound->filter, share_keys);
    }
}

static struct plan_node *aggregate_node(struct select_scope *s, struct plan_node *input, int32_t set_column,
                                        const struct ast_query *query) {
    struct arena *arena = s->binder->arena;
    bool window = s->window_call != NULL;
    uint32_t keys = s->key_count + (set_column >= 0 ? 1 : 0);
    uint32_t fields = keys + s->aggregate_count + (window ? 3 : 0);
    struct plan_node *node = tide__node_new(arena, window ? PLAN_WINDOW_AGGREGATE : PLAN_GROUP_AGGREGATE,
                                            query->has_group_by ? query->group_pos : query->pos, 1, fields);
    node->inputs[0] = input;
    uint32_t *columns = ARENA_ARRAY(arena, uint32_t, keys);
    struct aggregate_call *calls = ARENA_ARRAY(arena, struct aggregate_call, s->aggregate_count);
    struct name_set names = {.arena = arena};
    for (uint32_t i = 0; i < keys; i++) {
        columns[i] = i < s->key_count ? i : (uint32_t)set_column;
        node->fields[i] = input->fields[columns[i]];
        tide__names_note(&names, node->fields[i].name);
    }
    for (uint32_t i = 0; i < s->aggregate_count; i++) {
        calls[i] = s->aggregates[i].call;
        node->fields[keys + i].name = tide__names_unique(&names, calls[i].name);
        node->fields[keys + i].type = calls[i].type;
    }
    if (!window) {
        node->group_aggregate.key_count = keys;
        node->group_aggregate.keys = columns;
        node->group_aggregate.aggregate_count = s->aggregate_count;
        node->group_aggregate.aggregates = calls;
        return node;
    }
    struct plan_window_aggregate *w = &node->window_aggregate;
    w->window = s->window;
    w->legacy = true;
    w->start_place = 2 * s->window_place;
    w->end_place = 2 * s->window_place + 1;
    w->key_count = keys;
    w->keys = columns;
    w->aggregate_count = s->aggregate_count;
    w->aggregates = calls;
    return node;
}

// All three properties; those that nobody reads are pruned.
static void add_properties(struct select_scope *s, struct plan_node *node, uint32_t first) {
    struct arena *arena = s->binder->arena;
    struct plan_window_aggregate *w = &node->window_aggregate;
    static const char *const names[3] = {"w$start", "w$end", "w$rowtime"};
    w->property_count = 3;
    w->properties = ARENA_ARRAY(arena, enum window_property, 3);
    for (uint32_t i = 0; i < 3; i++) {
        w->properties[i] = (enum window_property)i;
        struct type type = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0);
        if (i == WINDOW_PROPERTY_TIME) {
            if (w->window.ltz) type.kind = TYPE_TIMESTAMP_LTZ;
            type.nullable = !w->window.proctime;
            type.time_attribute = w->window.proctime ? TIME_ATTRIBUTE_PROCTIME : TIME_ATTRIBUTE_ROWTIME;
            if (s->binder->infer.batch_mode && !w->window.proctime) type.time_attribute = TIME_ATTRIBUTE_NONE;
        }
        node->fields[first + i] = (struct plan_field){names[i], tide__type_copy(arena, &type)};
    }
}

tide_status tide__bind_aggregation(struct select_scope *s, const struct ast_query *query, struct aggregated *out) {
    struct arena *arena = s->binder->arena;
    struct source_pos pos = query->has_group_by ? query->group_pos : query->pos;
    TIDE_TRY(tide__bind_group_sets(s, query, &out->sets));
    TIDE_TRY(tide__bind_reduce(s, out));
    bool sets = out->sets.set_count > 1;
    for (uint32_t k = 0; !sets && k < s->key_count; k++) sets = !out->sets.sets[0][k];
    uint32_t capacity = s->key_count + s->aggregate_count * 5 + 1;
    struct columns columns = {.calc = tide__node_calc(arena, s->input->node, capacity, pos), .names = {.arena = arena}};
    for (uint32_t i = 0; i < s->key_count; i++) {
        add_column(&columns, s->keys[i], column_name(s, s->keys[i], "$g", i));
    }
    place_arguments(s, &columns, !sets);
    if (s->window_call != NULL) s->window.time_column = add_argument(s, &columns, s->window_time, true);
    columns.calc->field_count = columns.count;
    struct plan_node *input = columns.calc;
    out->set_column = -1;
    if (sets) input = expand(s, input, &out->sets, pos, &out->set_column);
    struct plan_node *node = aggregate_node(s, input, out->set_column, query);
    out->aggregate_first = s->key_count + (sets ? 1 : 0);
    out->property_first = out->aggregate_first + s->aggregate_count;
    if (sets) out->set_column = (int32_t)s->key_count;
    if (s->window_call != NULL) {
        if (s->window.kind == WINDOW_SESSION) {
            node->window_aggregate.window.partition_count = node->window_aggregate.key_count;
            node->window_aggregate.window.partitions = node->window_aggregate.keys;
        }
        add_properties(s, node, out->property_first);
    }
    out->relation.node = node;
    out->relation.tables = ARENA_ARRAY(arena, struct str, node->field_count);
    return TIDE_OK;
}

// --- Expressions above the aggregation ---

static int64_t grouping_value(const struct select_scope *s, const struct bound_grouping *grouping, const bool *set) {
    int64_t value = 0;
    (void)s;
    for (uint32_t i = 0; i < grouping->key_count; i++) value = value * 2 + (set[grouping->keys[i]] ? 0 : 1);
    return value;
}

// GROUPING(k) -> CASE WHEN $e = 0 THEN 0 WHEN $e = 1 THEN 1 ... END
static tide_status grouping_expr(struct select_scope *s, const struct aggregated *aggregated, uint32_t index,
                                 struct source_pos pos, struct expr **out) {
    struct binder *b = s->binder;
    const struct bound_grouping *grouping = &s->groupings[index];
    const struct group_sets *sets = &aggregated->sets;
    if (aggregated->set_column < 0) {
        *out = tide__bind_integer(b, TYPE_BIGINT, grouping_value(s, grouping, sets->sets[0]), pos);
        return TIDE_OK;
    }
    struct expr **args = ARENA_ARRAY(b->arena, struct expr *, sets->set_count * 2 + 1);
    uint32_t count = 0;
    for (uint32_t set = 0; set + 1 < sets->set_count; set++) {
        struct expr *sides[2] = {
            tide__node_column(b->arena, aggregated->relation.node, (uint32_t)aggregated->set_column, pos),
            tide__bind_integer(b, TYPE_BIGINT, set, pos)};
        TIDE_TRY(tide__bind_function(b, "=", sides, 2, pos, &args[count++]));
        args[count++] = tide__bind_integer(b, TYPE_BIGINT, grouping_value(s, grouping, sets->sets[set]), pos);
    }
    args[count++] = tide__bind_integer(b, TYPE_BIGINT, grouping_value(s, grouping, sets->sets[sets->set_count - 1]),
                                       pos);
    if (count == 1) {
        *out = args[0];
        return TIDE_OK;
    }
    return tide__bind_function(b, "CASE", args, count, pos, out);
}

static tide_status virtual_expr(struct select_scope *s, const struct aggregated *aggregated, const struct expr *expr,
                                struct expr **out) {
    struct arena *arena = s->binder->arena;
    const struct virtual_column *v = &s->virtuals[expr->column - VIRTUAL_COLUMN_FIRST];
    uint32_t column = 0;
    switch (v->kind) {
    case VIRTUAL_AGGREGATE: return tide__bind_reduced(s, aggregated, v->index, expr->pos, out);
    case VIRTUAL_WINDOW: column = aggregated->property_first + v->index; break;
    case VIRTUAL_GROUPING: return grouping_expr(s, aggregated, v->index, expr->pos, out);
    case VIRTUAL_OVER:
    case VIRTUAL_SUBQUERY:
        *out = tide__expr_column(arena, expr->column, expr->type, expr->pos);  // later
        return TIDE_OK;
    }
    *out = tide__node_column(arena, aggregated->relation.node, column, expr->pos);
    return TIDE_OK;
}

tide_status tide__bind_after_aggregation(struct select_scope *s, const struct aggregated *aggregated, struct expr *expr,
                                         struct expr **out) {
    struct binder *b = s->binder;
    for (uint32_t i = 0; i < s->key_count; i++) {
        if (expr->kind == EXPR_LITERAL || !tide__expr_equal(s->keys[i], expr)) continue;
        *out = tide__node_column(b->arena, aggregated->relation.node, i, expr->pos);
        return TIDE_OK;
    }
    if (expr->kind == EXPR_LITERAL) {
        *out = expr;
        return TIDE_OK;
    }
    if (expr->kind == EXPR_COLUMN) {
        if (expr->column >= VIRTUAL_COLUMN_FIRST) return virtual_expr(s, aggregated, expr, out);
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, expr->pos, "column \"%s\" is neither in GROUP BY nor in an aggregate",
                      s->input->node->fields[expr->column].name);
        const char *name = s->input->node->fields[expr->column].name;
        if (strcmp(name, "window_start") == 0 || strcmp(name, "window_end") == 0)
            return tide__fail_hint(b->err,
                                   "add it to GROUP BY: results of a window need GROUP BY window_start, window_end");
        return tide__fail_hint(b->err, "add it to GROUP BY, or aggregate it: MAX(%s)", name);
    }
    struct expr *copy = ARENA_NEW(b->arena, struct expr);
    *copy = *expr;
    copy->args = ARENA_ARRAY(b->arena, struct expr *, expr->arg_count);
    bool became_nullable = false;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        TIDE_TRY(tide__bind_after_aggregation(s, aggregated, expr->args[i], &copy->args[i]));
        became_nullable |= copy->args[i]->type->nullable && !expr->args[i]->type->nullable;
    }
    // A key that grouping sets turn to NULL makes what is computed from it nullable.
    if (became_nullable && !copy->type->nullable) copy->type = tide__type_with_nullable(b->arena, copy->type, true);
    *out = copy;
    return TIDE_OK;
}
