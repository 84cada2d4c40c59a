// What kind of join a PLAN_JOIN is, and by which columns it finds partners. Equalities between the sides are its keys; what
// is computed for one is computed below the join. Both bounds of one window among the keys: a window join. Time attributes
// within a span of each other: an interval join. All others keep both sides for ever.
#include "sql/bind.h"

#include <assert.h>
#include <string.h>

#define CONJUNCTS_MAX 256

struct joining {
    struct binder *binder;
    struct plan_node *node, *inputs[2];
    uint32_t counts[2];  // fields of the inputs at first
    uint32_t conjunct_count;
    struct expr *conjuncts[CONJUNCTS_MAX];
    // Equalities: an expression over each input.
    uint32_t pair_count;
    struct expr *pairs[CONJUNCTS_MAX][2];
    // Interval
    bool has_lower, has_upper;
    uint32_t time_columns[2];
    int64_t lower_ms, upper_ms;
};

static bool is_call(const struct expr *expr, const char *name) {
    return expr->kind == EXPR_CALL && strcmp(expr->function->name, name) == 0;
}

static uint32_t uses(const struct expr *expr, uint32_t left_count) {
    if (expr->kind == EXPR_COLUMN) return expr->column < left_count ? 1 : 2;
    uint32_t bits = expr->kind == EXPR_CALL && expr->function->nondeterministic ? 4 : 0;
    for (uint32_t i = 0; i < expr->arg_count; i++) bits |= uses(expr->args[i], left_count);
    return bits;
}

static struct expr *move_columns(struct arena *arena, const struct expr *expr, uint32_t from, int32_t by) {
    struct expr *copy = ARENA_NEW(arena, struct expr);
    *copy = *expr;
    if (expr->kind == EXPR_COLUMN && expr->column >= from) copy->column = (uint32_t)((int32_t)expr->column + by);
    copy->args = ARENA_ARRAY(arena, struct expr *, expr->arg_count);
    for (uint32_t i = 0; i < expr->arg_count; i++) copy->args[i] = move_columns(arena, expr->args[i], from, by);
    return copy;
}

static tide_status collect(struct joining *j, struct expr *expr) {
    if (is_call(expr, "AND")) {
        for (uint32_t i = 0; i < expr->arg_count; i++) TIDE_TRY(collect(j, expr->args[i]));
        return TIDE_OK;
    }
    if (j->conjunct_count == CONJUNCTS_MAX) {
        return tide__fail_at(j->binder->err, TIDE_ERR_PLAN, expr->pos, "the join has more than %d conditions",
                             CONJUNCTS_MAX);
    }
    j->conjuncts[j->conjunct_count++] = expr;
    return TIDE_OK;
}

static void drop_conjunct(struct joining *j, uint32_t i) {
    j->conjunct_count--;
    memmove(&j->conjuncts[i], &j->conjuncts[i + 1], (j->conjunct_count - i) * sizeof(j->conjuncts[0]));
}

// --- Equalities ---

// Keys are compared as bytes: both sides in one form.
static bool same_form(struct joining *j, struct expr **sides) {
    const struct type *a = sides[0]->type, *b = sides[1]->type;
    bool strings = tide__type_is_string(a) && tide__type_is_string(b);
    if (strings || (a->kind == b->kind && (a->kind != TYPE_DECIMAL || tide__type_same(a, b)))) return true;
    const struct type *types[2] = {a, b}, *common;
    if (!tide__type_common(j->binder->arena, types, 2, &common)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const struct type *type = tide__type_with_nullable(j->binder->arena, common, types[i]->nullable);
        if (tide__expr_cast(&j->binder->infer, sides[i], type, &sides[i], NULL) != TIDE_OK) return false;
    }
    return true;
}

static bool take_pair(struct joining *j, const struct expr *expr) {
    if (!is_call(expr, "=")) return false;
    uint32_t first = uses(expr->args[0], j->counts[0]), second = uses(expr->args[1], j->counts[0]);
    if (!((first == 1 && second == 2) || (first == 2 && second == 1))) return false;
    struct expr **pair = j->pairs[j->pair_count];
    pair[0] = first == 1 ? expr->args[0] : expr->args[1];
    pair[1] = move_columns(j->binder->arena, first == 1 ? expr->args[1] : expr->args[0], 0, -(int32_t)j->counts[0]);
    if (!same_form(j, pair)) return false;
    j->pair_count++;
    return true;
}

static void take_pairs(struct joining *j) {
    for (uint32_t i = 0; i < j->conjunct_count;) {
        if (take_pair(j, j->conjuncts[i])) {
            drop_conjunct(j, i);
        } else {
            i++;
        }
    }
}

// Computed keys become further columns of the inputs.
static void compute_keys(struct joining *j, uint32_t **keys) {
    struct arena *arena = j->binder->arena;
    for (uint32_t side = 0; side < 2; side++) {
        struct plan_node *input = j->inputs[side];
        struct plan_node *calc = tide__node_calc(arena, input, input->field_count + j->pair_count, j->node->pos);
        uint32_t count = input->field_count;
        for (uint32_t i = 0; i < count; i++) {
            calc->fields[i] = input->fields[i];
            calc->calc.outputs[i] = tide__node_column(arena, input, i, j->node->pos);
        }
        keys[side] = ARENA_ARRAY(arena, uint32_t, j->pair_count);
        for (uint32_t i = 0; i < j->pair_count; i++) {
            struct expr *expr = j->pairs[i][side];
            uint32_t column = 0;
            while (column < count && !tide__expr_equal(calc->calc.outputs[column], expr)) column++;
            keys[side][i] = column;
            if (column < count) continue;
            calc->calc.outputs[count] = expr;
            calc->fields[count++] = (struct plan_field){tide__arena_printf(arena, "$k%u", i), expr->type};
        }
        calc->field_count = count;
        calc->updates = input->updates;
        if (count > input->field_count) j->inputs[side] = calc;
    }
}

// --- Window joins ---

static bool take_bound(struct joining *j, struct role *const *roles, enum role_kind kind, uint32_t *columns,
                       const struct window **out) {
    for (uint32_t i = 0; i < j->pair_count; i++) {
        const struct expr *left = j->pairs[i][0], *right = j->pairs[i][1];
        if (left->kind != EXPR_COLUMN || right->kind != EXPR_COLUMN) continue;
        const struct role *a = &roles[0][left->column], *b = &roles[1][right->column];
        if (a->kind != kind || b->kind != kind || !tide__plan_same_window(a->window, b->window)) continue;
        columns[0] = left->column;
        columns[1] = right->column;
        *out = a->window;
        return true;
    }
    return false;
}

static void drop_bound(struct joining *j, const uint32_t *columns) {
    for (uint32_t i = 0; i < j->pair_count; i++) {
        const struct expr *left = j->pairs[i][0], *right = j->pairs[i][1];
        if (left->kind != EXPR_COLUMN || left->column != columns[0]) continue;
        if (right->kind != EXPR_COLUMN || right->column != columns[1]) continue;
        j->pair_count--;
        memmove(&j->pairs[i], &j->pairs[i + 1], (j->pair_count - i) * sizeof(j->pairs[0]));
        return;
    }
}

struct window_bounds {
    bool both, has_start, has_end;
    uint32_t start[2], end[2];
    const struct window *window;
};

static bool has_window(const struct role *roles, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (roles[i].kind == ROLE_WINDOW_START || roles[i].kind == ROLE_WINDOW_END) return true;
    }
    return false;
}

static void find_window(struct joining *j, struct window_bounds *out) {
    struct role *roles[2];
    const struct window *other;
    *out = (struct window_bounds){0};
    if (j->binder->infer.batch_mode) return;
    for (uint32_t side = 0; side < 2; side++) roles[side] = tide__plan_roles(j->binder->arena, j->inputs[side]);
    bool start = take_bound(j, roles, ROLE_WINDOW_START, out->start, &out->window);
    bool end = take_bound(j, roles, ROLE_WINDOW_END, out->end, &other);
    out->both = start && end;
    out->has_start = start;
    out->has_end = end;
}

// Two windowed sides that are joined without their windows: most likely a condition was forgotten.
static tide_status warn_forgotten(struct joining *j, const struct window_bounds *bounds) {
    struct binder *b = j->binder;
    for (uint32_t side = 0; side < 2; side++) {
        if (b->infer.batch_mode || !has_window(tide__plan_roles(b->arena, j->inputs[side]), j->counts[side]))
            return TIDE_OK;
    }
    const char *what = bounds->has_start ? "window_end"
                       : bounds->has_end ? "window_start"
                                         : "window_start and window_end";
    const char *hint = "compare window_start and window_end of the same window to get a window join with final results";
    if (b->session->strict_windows) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, j->node->pos, "this join of window rows does not compare %s", what);
        return tide__fail_hint(b->err, "%s", hint);
    }
    tide__bind_warn(b, j->node->pos, hint,
                    "this join of window rows does not compare %s of the same window: it keeps all rows of both sides",
                    what);
    return TIDE_OK;
}

// --- Interval joins ---

// time attribute [+ constant]...: the column and the constant in milliseconds.
static bool time_plus(struct joining *j, const struct expr *expr, uint32_t *out_column, int64_t *out_ms) {
    if (expr->kind == EXPR_COLUMN) {
        uint32_t side = expr->column < j->counts[0] ? 0 : 1;
        uint32_t column = side == 0 ? expr->column : expr->column - j->counts[0];
        *out_column = expr->column;
        *out_ms = 0;
        return tide__plan_is_time_attribute(j->inputs[side], column);
    }
    if (is_call(expr, "CAST") && tide__type_is_timestamp(expr->type))
        return time_plus(j, expr->args[0], out_column, out_ms);
    bool plus = is_call(expr, "+");
    if ((!plus && !is_call(expr, "-")) || expr->arg_count != 2) return false;
    const struct expr *time = expr->args[0], *distance = expr->args[1];
    if (plus && distance->type->kind != TYPE_INTERVAL_MILLIS) {
        time = expr->args[1];
        distance = expr->args[0];
    }
    struct value value;
    if (distance->type->kind != TYPE_INTERVAL_MILLIS || uses(distance, 0) != 0) return false;
    if (!time_plus(j, time, out_column, out_ms)) return false;
    if (tide__expr_constant(&j->binder->infer, distance, &value, NULL) != TIDE_OK || value.is_null) return false;
    *out_ms += plus ? value.i64 : -value.i64;
    return true;
}

enum direction {
    DIRECTION_NONE,
    DIRECTION_LESS,
    DIRECTION_LESS_EQUAL,
    DIRECTION_GREATER,
    DIRECTION_GREATER_EQUAL,
    DIRECTION_EQUAL
};

static enum direction direction_of(const struct expr *expr) {
    static const char *const names[] = {"", "<", "<=", ">", ">=", "="};
    for (int i = DIRECTION_LESS; i <= DIRECTION_EQUAL; i++) {
        if (is_call(expr, names[i])) return (enum direction)i;
    }
    return DIRECTION_NONE;
}

static enum direction flipped(enum direction d) {
    static const enum direction to[] = {DIRECTION_NONE, DIRECTION_GREATER,    DIRECTION_GREATER_EQUAL,
                                        DIRECTION_LESS, DIRECTION_LESS_EQUAL, DIRECTION_EQUAL};
    return to[d];
}

// left.time + a  <direction>  right.time + b, so left.time <direction> right.time + (b - a).
static bool take_span(struct joining *j, const struct expr *expr) {
    enum direction d = direction_of(expr);
    uint32_t columns[2];
    int64_t ms[2];
    if (d == DIRECTION_NONE) return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (!time_plus(j, expr->args[i], &columns[i], &ms[i])) return false;
    }
    bool first_left = columns[0] < j->counts[0], second_left = columns[1] < j->counts[0];
    if (first_left == second_left) return false;
    if (!first_left) d = flipped(d);
    uint32_t left = first_left ? columns[0] : columns[1], right = (first_left ? columns[1] : columns[0]) - j->counts[0];
    int64_t distance = first_left ? ms[1] - ms[0] : ms[0] - ms[1];
    if ((j->has_lower || j->has_upper) && (left != j->time_columns[0] || right != j->time_columns[1])) return false;
    j->time_columns[0] = left;
    j->time_columns[1] = right;
    if (d == DIRECTION_LESS || d == DIRECTION_LESS_EQUAL || d == DIRECTION_EQUAL) {
        int64_t upper = d == DIRECTION_LESS ? distance - 1 : distance;
        if (!j->has_upper || upper < j->upper_ms) j->upper_ms = upper;
        j->has_upper = true;
    }
    if (d == DIRECTION_GREATER || d == DIRECTION_GREATER_EQUAL || d == DIRECTION_EQUAL) {
        int64_t lower = d == DIRECTION_GREATER ? distance + 1 : distance;
        if (!j->has_lower || lower > j->lower_ms) j->lower_ms = lower;
        j->has_lower = true;
    }
    return true;
}

// Only a span with both ends makes an interval join; else its conditions stay what they are.
static bool take_interval(struct joining *j) {
    enum join_kind kind = j->node->join.kind;
    if (j->binder->infer.batch_mode || kind == JOIN_SEMI || kind == JOIN_ANTI) return false;
    bool taken[CONJUNCTS_MAX] = {false};
    for (uint32_t i = 0; i < j->conjunct_count; i++) taken[i] = take_span(j, j->conjuncts[i]);
    if (!j->has_lower || !j->has_upper) return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->conjunct_count; i++) {
        if (!taken[i]) j->conjuncts[count++] = j->conjuncts[i];
    }
    j->conjunct_count = count;
    return true;
}

static bool is_proctime(const struct joining *j, uint32_t side) {
    return j->inputs[side]->fields[j->time_columns[side]].type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
}

static tide_status check_interval(struct joining *j) {
    tide_error *err = j->binder->err;
    if (is_proctime(j, 0) != is_proctime(j, 1)) {
        return tide__fail_at(err, TIDE_ERR_PLAN, j->node->pos,
                             "an interval join compares two event times or two processing times, not one of each");
    }
    if (is_proctime(j, 0)) {
        return tide__fail_at(err, TIDE_ERR_PLAN, j->node->pos,
                             "interval joins over processing time are not supported yet");
    }
    if (!j->inputs[0]->updates && !j->inputs[1]->updates) return TIDE_OK;
    return tide__fail_at(err, TIDE_ERR_PLAN, j->node->pos,
                         "an interval join cannot be computed over rows that are updated");
}

// --- The node ---

// The fields of the join as they were, above inputs that got further columns.
static struct plan_node *restore_fields(struct joining *j, const struct plan_node *old, struct plan_node *made) {
    struct arena *arena = j->binder->arena;
    int32_t more = (int32_t)(j->inputs[0]->field_count - j->counts[0]);
    struct plan_node *calc = tide__node_calc(arena, made, old->field_count, old->pos);
    for (uint32_t i = 0; i < old->field_count; i++) {
        uint32_t column = i < j->counts[0] ? i : i + (uint32_t)more;
        calc->calc.outputs[i] = tide__node_column(arena, made, column, old->pos);
        calc->fields[i] = (struct plan_field){old->fields[i].name, calc->calc.outputs[i]->type};
    }
    calc->updates = made->updates;
    return calc;
}

static tide_status residual(struct joining *j, struct expr **out) {
    *out = NULL;
    int32_t more = (int32_t)(j->inputs[0]->field_count - j->counts[0]);
    for (uint32_t i = 0; i < j->conjunct_count; i++) {
        struct expr *expr = j->conjuncts[i];
        if (more != 0) expr = move_columns(j->binder->arena, expr, j->counts[0], more);
        TIDE_TRY(tide__bind_and(j->binder, expr, out));
    }
    return TIDE_OK;
}

static tide_status window_join(struct joining *j, const struct window_bounds *bounds, struct plan_node **out) {
    for (uint32_t side = 0; side < 2; side++) {
        if (!j->inputs[side]->updates) continue;
        return tide__fail_at(j->binder->err, TIDE_ERR_PLAN, j->node->pos,
                             "a window join cannot be computed over rows that are updated");
    }
    drop_bound(j, bounds->start);
    drop_bound(j, bounds->end);
    uint32_t *keys[2];
    compute_keys(j, keys);
    struct plan_node *made = tide__node_join(j->binder->arena, j->node->join.kind, j->inputs[0], j->inputs[1],
                                             j->node->pos);
    made->kind = PLAN_WINDOW_JOIN;
    made->window_join = (struct plan_window_join){.kind = j->node->join.kind,
                                                  .start_column = {bounds->start[0], bounds->start[1]},
                                                  .end_column = {bounds->end[0], bounds->end[1]},
                                                  .key_count = j->pair_count,
                                                  .keys = {keys[0], keys[1]},
                                                  .ltz = bounds->window->ltz};
    TIDE_TRY(residual(j, &made->window_join.condition));
    *out = made;
    return TIDE_OK;
}

// A join that keeps its rows for ever gives times that are no time attributes any more.
static void forget_time_attributes(struct joining *j, struct plan_node *made) {
    for (uint32_t i = 0; i < made->field_count; i++) {
        made->fields[i].type = tide__type_without_time_attribute(j->binder->arena, made->fields[i].type);
    }
}

static tide_status other_join(struct joining *j, bool interval, struct plan_node **out) {
    uint32_t *keys[2];
    enum join_kind kind = j->node->join.kind;
    if (interval) TIDE_TRY(check_interval(j));
    compute_keys(j, keys);
    struct plan_node *made = tide__node_join(j->binder->arena, kind, j->inputs[0], j->inputs[1], j->node->pos);
    made->join = (struct plan_join){.kind = kind, .key_count = j->pair_count, .keys = {keys[0], keys[1]}};
    TIDE_TRY(residual(j, &made->join.condition));
    for (uint32_t side = 0; side < 2; side++) {
        made->join.input_updates[side] = j->inputs[side]->updates;
        made->updates |= j->inputs[side]->updates;
    }
    if (interval) {
        made->join.interval = true;
        memcpy(made->join.time_columns, j->time_columns, sizeof(j->time_columns));
        made->join.lower_ms = j->lower_ms;
        made->join.upper_ms = j->upper_ms;
    } else {
        forget_time_attributes(j, made);
        made->updates |= kind != JOIN_INNER && kind != JOIN_SEMI;
    }
    made->updates &= !j->binder->infer.batch_mode;
    *out = made;
    return TIDE_OK;
}

// `node` is a raw join whose inputs are planned already.
tide_status tide__plan_join(struct binder *b, struct plan_node *node, struct plan_node **out) {
    struct joining j = {.binder = b, .node = node, .inputs = {node->inputs[0], node->inputs[1]}};
    for (uint32_t side = 0; side < 2; side++) j.counts[side] = node->inputs[side]->field_count;
    if (node->join.condition != NULL) TIDE_TRY(collect(&j, node->join.condition));
    struct joining first = j;
    struct window_bounds bounds;
    struct plan_node *made = NULL;
    take_pairs(&j);
    find_window(&j, &bounds);
    if (bounds.both) {
        TIDE_TRY(window_join(&j, &bounds, &made));
    } else {
        j = first;
        bool interval = take_interval(&j);
        take_pairs(&j);
        if (!interval) TIDE_TRY(warn_forgotten(&j, &bounds));
        TIDE_TRY(other_join(&j, interval, &made));
    }
    made->uid = node->uid;
    *out = restore_fields(&j, node, made);
    return TIDE_OK;
}
