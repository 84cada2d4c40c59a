// Top-N: a filter on the rank of a ROW_NUMBER() below it. Which conditions bound the rank is Flink's list: comparisons of the
// rank with a constant, on either side, under NOT, joined by AND. What else stands beside them is applied to ranked rows.
#include "sql/bind.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define RANK_NO_BOUND    INT64_MAX
#define RANK_WITHOUT_END ((int64_t)1 << 62)  // bounds are cut to it, so that adding to them, or a digit, is safe

struct rank_filter {
    struct binder *binder;
    const struct plan_node *node;  // the OVER call
    const struct plan_over *over;
    uint32_t rank;  // column of the rank in the calc's input
    bool bounded, has_lower, has_upper;
    int64_t lower, upper;
    int32_t scale;          // the largest of the bounds
    struct source_pos pos;  // of the first bound
    uint32_t rest_count;
    struct expr *rest[64];
};

// --- Conditions ---

static bool has_columns(const struct expr *expr) {
    if (expr->kind == EXPR_COLUMN) return true;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (has_columns(expr->args[i])) return true;
    }
    return false;
}

static bool is_call(const struct expr *expr, const char *name) {
    return expr->kind == EXPR_CALL && strcmp(expr->function->name, name) == 0;
}

// The rank, or the rank cast to another numeric type by coercion.
static bool is_rank_expr(const struct rank_filter *filter, const struct expr *expr) {
    while (is_call(expr, "CAST") && tide__type_is_numeric(expr->type)) expr = expr->args[0];
    return expr->kind == EXPR_COLUMN && expr->column == filter->rank;
}

static bool uses_rank(const struct rank_filter *filter, const struct expr *expr) {
    if (expr->kind == EXPR_COLUMN) return expr->column == filter->rank;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (uses_rank(filter, expr->args[i])) return true;
    }
    return false;
}

enum comparison {
    COMPARE_NONE,
    COMPARE_EQUAL,
    COMPARE_LESS,
    COMPARE_LESS_EQUAL,
    COMPARE_GREATER,
    COMPARE_GREATER_EQUAL
};

static enum comparison comparison_of(const struct expr *expr) {
    static const char *const names[] = {"", "=", "<", "<=", ">", ">="};
    for (int i = 1; i <= COMPARE_GREATER_EQUAL; i++) {
        if (is_call(expr, names[i])) return (enum comparison)i;
    }
    return COMPARE_NONE;
}

static enum comparison flipped(enum comparison c) {
    static const enum comparison to[] = {COMPARE_NONE,          COMPARE_EQUAL, COMPARE_GREATER,
                                         COMPARE_GREATER_EQUAL, COMPARE_LESS,  COMPARE_LESS_EQUAL};
    return to[c];
}

static enum comparison negated(enum comparison c) {
    static const enum comparison to[] = {COMPARE_NONE,    COMPARE_NONE,       COMPARE_GREATER_EQUAL,
                                         COMPARE_GREATER, COMPARE_LESS_EQUAL, COMPARE_LESS};
    return to[c];
}

// Flink takes the digits of a DECIMAL for the rank, without its point: `rn <= 2.5` keeps ranks up to 25, and with
// BETWEEN 1.5 AND 3 those from 15 to 30. False if the constant is NULL or neither a whole number nor a DECIMAL.
static bool rank_of(const struct type *type, const struct value *value, int32_t scale, int64_t *out) {
    bool decimal = type->kind == TYPE_DECIMAL;
    if (value->is_null || (!decimal && !tide__type_is_integer(type))) return false;
    int128 digits = decimal && tide__type_physical(type) != PHYSICAL_I64 ? value->i128 : value->i64;
    for (int32_t i = decimal ? type->scale : 0; i < scale; i++) {
        if (digits > RANK_WITHOUT_END || digits < -RANK_WITHOUT_END) break;
        digits *= 10;
    }
    *out = digits > RANK_WITHOUT_END    ? RANK_WITHOUT_END
           : digits < -RANK_WITHOUT_END ? -RANK_WITHOUT_END
                                        : (int64_t)digits;
    return true;
}

// The largest scale of what the rank is compared with.
static int32_t scale_of_bounds(const struct rank_filter *filter, const struct expr *expr) {
    int32_t scale = 0;
    if (expr->arg_count == 2 && (is_rank_expr(filter, expr->args[0]) || is_rank_expr(filter, expr->args[1]))) {
        const struct expr *other = expr->args[is_rank_expr(filter, expr->args[0]) ? 1 : 0];
        return other->type->kind == TYPE_DECIMAL && !has_columns(other) ? other->type->scale : 0;
    }
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        int32_t s = scale_of_bounds(filter, expr->args[i]);
        if (s > scale) scale = s;
    }
    return scale;
}

static void add_bound(struct rank_filter *filter, enum comparison c, int64_t rank) {
    int64_t low = INT64_MIN, high = RANK_NO_BOUND;
    switch (c) {
    case COMPARE_EQUAL: low = high = rank; break;
    case COMPARE_LESS: high = rank - 1; break;
    case COMPARE_LESS_EQUAL: high = rank; break;
    case COMPARE_GREATER: low = rank + 1; break;
    case COMPARE_GREATER_EQUAL: low = rank; break;
    case COMPARE_NONE: return;
    }
    if (low != INT64_MIN && (!filter->has_lower || low > filter->lower)) filter->lower = low;
    if (high != RANK_NO_BOUND && (!filter->has_upper || high < filter->upper)) filter->upper = high;
    filter->has_lower |= low != INT64_MIN;
    filter->has_upper |= high != RANK_NO_BOUND;
}

// Takes a comparison of the rank with a constant. *out_taken: it was one.
static tide_status take_bound(struct rank_filter *filter, const struct expr *expr, bool negate, bool *out_taken) {
    struct binder *b = filter->binder;
    *out_taken = false;
    while (is_call(expr, "NOT")) {
        expr = expr->args[0];
        negate = !negate;
    }
    enum comparison c = comparison_of(expr);
    if (c == COMPARE_NONE) return TIDE_OK;
    const struct expr *other = expr->args[1];
    if (!is_rank_expr(filter, expr->args[0])) {
        if (!is_rank_expr(filter, expr->args[1])) return TIDE_OK;
        other = expr->args[0];
        c = flipped(c);
    }
    if (negate) c = negated(c);
    if (c == COMPARE_NONE || uses_rank(filter, other)) return TIDE_OK;
    if (has_columns(other)) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, expr->pos, "the bound of a rank must be a constant");
        return tide__fail_hint(b->err, "write rn <= 3");
    }
    struct value value;
    TIDE_TRY(tide__expr_constant(&b->infer, other, &value, b->err));
    int64_t rank;
    bool equal_to_point = c == COMPARE_EQUAL && other->type->kind == TYPE_DECIMAL;
    if (!rank_of(other->type, &value, filter->scale, &rank) || equal_to_point) return TIDE_OK;
    if (!filter->bounded) filter->pos = expr->pos;
    filter->bounded = true;
    add_bound(filter, c, rank);
    *out_taken = true;
    return TIDE_OK;
}

static tide_status split(struct rank_filter *filter, struct expr *condition) {
    if (is_call(condition, "AND")) {
        for (uint32_t i = 0; i < condition->arg_count; i++) TIDE_TRY(split(filter, condition->args[i]));
        return TIDE_OK;
    }
    bool taken;
    TIDE_TRY(take_bound(filter, condition, false, &taken));
    if (taken) return TIDE_OK;
    if (filter->rest_count == 64) {
        return tide__fail_at(filter->binder->err, TIDE_ERR_PLAN, condition->pos, "too many conditions beside a rank");
    }
    filter->rest[filter->rest_count++] = condition;
    return TIDE_OK;
}

// --- Errors ---

static tide_status check_function(struct rank_filter *filter, bool window) {
    struct binder *b = filter->binder;
    const struct over_call *call = &filter->over->calls[0];
    if (call->kind == OVER_CALL_ROW_NUMBER || b->session->checking) return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_PLAN, filter->node->pos, "%s is not supported in a %sTop-N, only ROW_NUMBER() is",
                  call->name, window ? "Window " : "");
    return tide__fail_hint(b->err, "use ROW_NUMBER(); ties keep arrival order");
}

static tide_status check_bounds(struct rank_filter *filter) {
    struct binder *b = filter->binder;
    if (!filter->has_upper) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, filter->pos, "a Top-N needs an upper bound of its rank");
        return tide__fail_hint(b->err, "add AND rn <= 10");
    }
    if (filter->upper > 0) return TIDE_OK;
    return tide__fail_at(b->err, TIDE_ERR_PLAN, filter->pos, "the upper bound of a rank must be at least 1, not %lld",
                         (long long)filter->upper);
}

// --- Nodes ---

static uint32_t find_place(const struct role *roles, const struct plan_over *over, enum role_kind kind) {
    uint32_t place = 0;  // a column that stands twice counts once
    for (uint32_t i = 0; i < over->partition_count; i++) {
        if (roles[over->partitions[i]].kind == kind) break;
        bool seen = false;
        for (uint32_t k = 0; k < i; k++) seen |= over->partitions[k] == over->partitions[i];
        place += !seen;
    }
    return place;
}

static uint32_t find_role(const struct role *roles, const struct plan_over *over, enum role_kind kind,
                          bool *out_found) {
    for (uint32_t i = 0; i < over->partition_count; i++) {
        if (roles[over->partitions[i]].kind == kind) {
            *out_found = true;
            return over->partitions[i];
        }
    }
    *out_found = false;
    return 0;
}

static bool above_aggregate(const struct plan_node *node) {
    while (node->kind == PLAN_CALC) node = node->inputs[0];
    return node->kind == PLAN_WINDOW_AGGREGATE;
}

// Columns that identify a row of an input with updates.
static uint32_t unique_keys(struct arena *arena, const struct plan_node *node, uint32_t **out) {
    uint32_t count, found = 0;
    uint32_t *keys;
    switch (node->kind) {
    case PLAN_GROUP_AGGREGATE:
        *out = ARENA_ARRAY(arena, uint32_t, node->group_aggregate.key_count);
        for (uint32_t i = 0; i < node->group_aggregate.key_count; i++) (*out)[i] = i;
        return node->group_aggregate.key_count;
    case PLAN_RANK: return unique_keys(arena, node->inputs[0], out);
    case PLAN_CALC:
        count = unique_keys(arena, node->inputs[0], &keys);
        *out = ARENA_ARRAY(arena, uint32_t, count);
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t i = 0; i < node->field_count; i++) {
                const struct expr *output = node->calc.outputs[i];
                if (output->kind != EXPR_COLUMN || output->column != keys[k]) continue;
                (*out)[found++] = i;
                break;
            }
        }
        return found == count ? count : 0;
    default: *out = NULL; return 0;
    }
}

static uint32_t other_partitions(struct arena *arena, const struct plan_over *over, const struct role *roles,
                                 bool window, uint32_t **out) {
    uint32_t count = 0;
    *out = ARENA_ARRAY(arena, uint32_t, over->partition_count);
    for (uint32_t i = 0; i < over->partition_count; i++) {
        enum role_kind kind = roles[over->partitions[i]].kind;
        bool seen = window && (kind == ROLE_WINDOW_START || kind == ROLE_WINDOW_END || kind == ROLE_WINDOW_TIME);
        for (uint32_t j = 0; j < count; j++) seen |= (*out)[j] == over->partitions[i];
        if (!seen) (*out)[count++] = over->partitions[i];
    }
    return count;
}

static void fill_window_rank(struct rank_filter *filter, const struct role *roles, struct plan_node *node) {
    struct arena *arena = filter->binder->arena;
    const struct plan_over *over = filter->over;
    struct plan_window_rank *rank = &node->window_rank;
    bool found;
    rank->start_column = find_role(roles, over, ROLE_WINDOW_START, &found);
    rank->end_column = find_role(roles, over, ROLE_WINDOW_END, &found);
    rank->start_place = find_place(roles, over, ROLE_WINDOW_START);
    rank->end_place = find_place(roles, over, ROLE_WINDOW_END);
    rank->bound_pos = filter->pos;
    if (over->calls[0].kind != OVER_CALL_ROW_NUMBER) rank->function = over->calls[0].name;
    rank->ltz = roles[rank->start_column].window->ltz;
    rank->partition_count = other_partitions(arena, over, roles, true, &rank->partitions);
    rank->sort_count = over->sort_count;
    rank->sorts = over->sorts;
    rank->rank_first = filter->lower;
    rank->rank_last = filter->upper;
    rank->has_rank = true;
    rank->above_aggregate = above_aggregate(node->inputs[0]);
}

static void fill_rank(struct rank_filter *filter, const struct role *roles, struct plan_node *node) {
    struct arena *arena = filter->binder->arena;
    const struct plan_over *over = filter->over;
    struct plan_rank *rank = &node->rank;
    rank->bound_pos = filter->pos;
    if (over->calls[0].kind != OVER_CALL_ROW_NUMBER) rank->function = over->calls[0].name;
    rank->partition_count = other_partitions(arena, over, roles, false, &rank->partitions);
    rank->sort_count = over->sort_count;
    rank->sorts = over->sorts;
    rank->rank_first = filter->lower;
    rank->rank_last = filter->upper;
    rank->has_rank = true;
    rank->input_updates = node->inputs[0]->updates;
    if (rank->input_updates) rank->unique_key_count = unique_keys(arena, node->inputs[0], &rank->unique_keys);
    rank->only_rises = tide__plan_only_rises(filter->binder, node->inputs[0], rank);
}

static void mark_deduplicate(struct rank_filter *filter, struct plan_node *node) {
    const struct plan_over *over = filter->over;
    const struct plan_node *input = node->inputs[0];
    bool is = !filter->binder->infer.batch_mode && over->sort_count == 1 && filter->lower == 1 && filter->upper == 1 &&
              tide__plan_is_time_attribute(input, over->sorts[0].column);
    enum tie_rule ties = is && over->sorts[0].descending ? TIE_LAST_ARRIVED : TIE_FIRST_ARRIVED;
    if (node->kind == PLAN_WINDOW_RANK) {
        node->window_rank.deduplicate = is;
        node->window_rank.ties = ties;
    } else {
        node->rank.deduplicate = is && !input->updates;
        node->rank.ties = node->rank.deduplicate ? ties : TIE_FIRST_ARRIVED;
        // The first row by time is out only when the watermark says that none can come before it.
        node->updates = !(node->rank.deduplicate && !over->sorts[0].descending);
    }
}

static tide_status warn_forgotten(struct rank_filter *filter, const struct role *roles, bool start, bool end) {
    struct binder *b = filter->binder;
    bool windowed = false;
    for (uint32_t i = 0; i + 1 < filter->node->field_count; i++)
        windowed |= roles[i].kind == ROLE_WINDOW_START || roles[i].kind == ROLE_WINDOW_END;
    if (!windowed) return TIDE_OK;
    const char *what = start ? "window_end" : end ? "window_start" : "window_start and window_end";
    const char *hint = "PARTITION BY window_start, window_end makes it a Window Top-N with final results";
    if (b->session->strict_windows) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, filter->node->pos,
                      "this Top-N over window rows forgets %s in PARTITION BY", what);
        return tide__fail_hint(b->err, "%s", hint);
    }
    tide__bind_warn(
        b, filter->node->pos, hint,
        "this Top-N over window rows does not partition by %s: it ranks all windows together and updates its results",
        what);
    return TIDE_OK;
}

static struct expr *join_rest(struct rank_filter *filter) {
    if (filter->rest_count == 0) return NULL;
    if (filter->rest_count == 1) return filter->rest[0];
    struct binder *b = filter->binder;
    struct expr **args = ARENA_ARRAY(b->arena, struct expr *, filter->rest_count);
    memcpy(args, filter->rest, filter->rest_count * sizeof(args[0]));
    struct expr *out = NULL;
    if (tide__bind_function(b, "AND", args, filter->rest_count, args[0]->pos, &out) != TIDE_OK) return NULL;
    return out;
}

static void fill(struct rank_filter *filter, const struct role *roles, struct plan_node *node) {
    node->inputs[0] = filter->node->inputs[0];
    node->uid = filter->node->uid;
    memcpy(node->fields, filter->node->fields, node->field_count * sizeof(node->fields[0]));
    if (node->kind == PLAN_WINDOW_RANK) {
        fill_window_rank(filter, roles, node);
    } else {
        fill_rank(filter, roles, node);
    }
    mark_deduplicate(filter, node);
}

void tide__plan_limit(struct binder *b, struct plan_node *node) {
    struct plan_rank *rank = &node->rank;
    const struct plan_node *input = node->inputs[0];
    rank->limit = true;
    rank->input_updates = input->updates;
    if (rank->input_updates) rank->unique_key_count = unique_keys(b->arena, input, &rank->unique_keys);
    rank->only_rises = tide__plan_only_rises(b, input, rank);
    // The first rows that come stay the first.
    node->updates = !b->infer.batch_mode && (input->updates || rank->sort_count > 0);
}

// `calc` stands on a PLAN_OVER node whose input is planned already and whose only call is a rank. *out stays NULL if the
// calc's condition makes no Top-N of it.
tide_status tide__plan_rank(struct binder *b, struct plan_node *calc, struct plan_node **out) {
    struct plan_node *over = calc->inputs[0], *input = over->inputs[0];
    struct rank_filter filter = {
        .binder = b, .node = over, .over = &over->over, .rank = over->field_count - 1, .lower = 1};
    *out = NULL;
    if (calc->calc.condition != NULL) {
        filter.scale = scale_of_bounds(&filter, calc->calc.condition);
        TIDE_TRY(split(&filter, calc->calc.condition));
        if (filter.bounded && filter.scale > 0)
            tide__bind_warn(b, filter.pos, "compare the rank with a whole number",
                            "Flink takes the digits of a bound with a point for the rank: the 25 of rn <= 2.5");
    }
    if (!filter.bounded) return TIDE_OK;
    bool number = over->over.calls[0].kind == OVER_CALL_ROW_NUMBER;
    if (b->infer.batch_mode && (!number || !filter.has_upper || filter.upper < 1)) return TIDE_OK;
    struct role *roles = tide__plan_roles(b->arena, input);
    bool start, end;
    find_role(roles, &over->over, ROLE_WINDOW_START, &start);
    find_role(roles, &over->over, ROLE_WINDOW_END, &end);
    bool window = start && end && !input->updates;
    TIDE_TRY(check_function(&filter, window));
    TIDE_TRY(check_bounds(&filter));
    if (filter.lower < 1) filter.lower = 1;
    if (filter.lower > filter.upper) {  // no rank is in the range
        filter.rest[0] = tide__bind_boolean(b, false, filter.pos);
        filter.rest_count = 1;
        filter.lower = filter.upper;
    }
    struct plan_node *node = tide__node_new(b->arena, window ? PLAN_WINDOW_RANK : PLAN_RANK, over->pos, 1,
                                            over->field_count);
    fill(&filter, roles, node);
    if (!window && !input->updates) TIDE_TRY(warn_forgotten(&filter, roles, start, end));
    struct plan_node *above = tide__node_calc(b->arena, node, calc->field_count, calc->pos);
    memcpy(above->fields, calc->fields, calc->field_count * sizeof(calc->fields[0]));
    above->uid = calc->uid;
    above->calc.outputs = calc->calc.outputs;
    above->calc.condition = join_rest(&filter);
    above->updates = node->updates;
    *out = above;
    return TIDE_OK;
}
