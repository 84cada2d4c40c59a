// What has changed in a list of aggregates: which go on, which can be read from others, which begin empty.
#include "checkpoint/compat/compare.h"

#include <string.h>

// --- where an argument is computed --------------------------------------------------------------------------------------------

static bool contains(struct source_pos outer, struct source_pos inner) {
    return inner.offset >= outer.offset && inner.offset < outer.offset + outer.length;
}

// No parenthesis that was open at `from` is closed, and no statement ends, before `to`.
static bool in_same_query(struct str sql, uint32_t from, uint32_t to) {
    int depth = 0;
    char quote = '\0';
    for (uint32_t i = from; i < to && i < sql.len; i++) {
        char ch = sql.data[i];
        if (quote != '\0') {
            if (ch == quote) quote = '\0';
            continue;
        }
        if (ch == '\'' || ch == '`') quote = ch;
        if (ch == '(') depth++;
        if (ch == ')' && --depth < 0) return false;
        if (ch == ';') return false;
    }
    return true;
}

bool tide__compare_between(const struct model *model, const struct model_operator *op,
                           const struct model_clause *clause) {
    if (op->window == NULL || clause->expr == NULL || clause->expr->kind != EXPR_CALL) return false;
    struct source_pos expr = clause->expr->pos, window = op->window->pos;
    if (expr.line == 0 || window.line == 0 || expr.offset >= window.offset) return false;
    if (clause->call != NULL && contains(clause->call->pos, expr)) return false;
    (void)model;
    return in_same_query(op->plan->sql, expr.offset, window.offset);
}

// --- one aggregate beside another ---------------------------------------------------------------------------------------------

// "(price)", "(DISTINCT item) FILTER (...)"
static const char *arguments(const struct model_clause *clause) {
    const char *open = strchr(clause->bare, '(');
    return open != NULL ? open : clause->bare;
}

static bool same_function(const struct model_clause *a, const struct model_clause *b) {
    size_t n = (size_t)(arguments(a) - a->bare), m = (size_t)(arguments(b) - b->bare);
    return n == m && strncmp(a->bare, b->bare, n) == 0;
}

static const char *filter_text(const struct model_clause *clause) {
    const char *filter = clause->filter != NULL ? strstr(clause->bare, " FILTER (WHERE ") : NULL;
    return filter != NULL ? filter : "";
}

// The same but for the FILTER.
static bool same_but_filter(const struct model_clause *a, const struct model_clause *b) {
    const char *fa = filter_text(a), *fb = filter_text(b);
    size_t n = *fa != '\0' ? (size_t)(fa - a->bare) : strlen(a->bare),
           m = *fb != '\0' ? (size_t)(fb - b->bare) : strlen(b->bare);
    return n == m && strncmp(a->bare, b->bare, n) == 0;
}

static bool is(const struct model_clause *clause, const char *name) {
    return clause->call != NULL && strcmp(clause->call->aggregate->name, name) == 0;
}

static bool is_exact_number(const struct model_clause *clause) {
    if (clause->call == NULL || clause->call->arg_count != 1) return false;
    const struct type *type = clause->call->arg_types[0];
    return tide__type_is_integer(type) || type->kind == TYPE_DECIMAL;
}

// --- the lists ----------------------------------------------------------------------------------------------------------------

struct lists {
    struct clause_list olds, news;  // in the order of the node
    bool *old_used, *new_used;
    size_t kept, derived, by_source;
};

static struct clause_list all_aggregates(const struct check *c, const struct model_operator *op) {
    struct clause_list list = {.items = ARENA_ARRAY(c->arena, const struct model_clause *, op->clause_count + 1)};
    for (size_t i = 0; i < op->clause_count; i++)
        if (strcmp(op->clauses[i].code, "agg") == 0 || strcmp(op->clauses[i].code, "agg.distinct") == 0)
            list.items[list.count++] = &op->clauses[i];
    return list;
}

static bool is_distinct(const struct model_clause *clause) {
    return strcmp(clause->code, "agg.distinct") == 0;
}

static enum compat_verdict strict_of(const struct check *c, const struct pair *pair, enum compat_verdict verdict) {
    return tide__compare_below_topn(c, pair) ? COMPAT_INCOMPATIBLE : verdict;
}

// Those that stand in both: they go on.
static void keep_equal(struct check *c, struct pair *pair, struct lists *lists) {
    for (size_t k = 0; k < lists->news.count; k++) {
        const struct model_clause *now = lists->news.items[k];
        for (size_t i = 0; i < lists->olds.count && !lists->new_used[k]; i++) {
            const struct model_clause *old = lists->olds.items[i];
            if (lists->old_used[i] || strcmp(old->code, now->code) != 0 || strcmp(old->bare, now->bare) != 0) continue;
            lists->old_used[i] = lists->new_used[k] = true;
            lists->kept++;
            pair->from[now->index] = (int32_t)old->index;
            if (tide__compare_reads_changed(c, now) == SOURCE_CHANGED) {
                pair->from[now->index] = -1;
                pair->restarts[now->index] = true;
                struct change *change = tide__compare_clause(c, pair, "source.column_type", old, now, COMPAT_PARTIAL,
                                                             COMPAT_PARTIAL);
                change->by_source = true;
                change->restarts = (int32_t)now->index;
                change->needs = COMPAT_CAN_AGGREGATES;
                continue;
            }
            if (strcmp(old->plain, now->plain) != 0)
                tide__compare_clause(c, pair, "cosmetic.commutative", old, now, strict_of(c, pair, COMPAT_PARTIAL),
                                     COMPAT_COMPATIBLE);
        }
    }
}

// The table computes the argument differently: reported there.
static void keep_declared(struct check *c, struct pair *pair, struct lists *lists) {
    for (size_t k = 0; k < lists->news.count; k++) {
        const struct model_clause *now = lists->news.items[k];
        for (size_t i = 0; i < lists->olds.count && !lists->new_used[k]; i++) {
            const struct model_clause *old = lists->olds.items[i];
            if (lists->old_used[i] || old->declared == NULL || now->declared == NULL) continue;
            if (strcmp(old->code, now->code) != 0 || strcmp(old->declared, now->declared) != 0) continue;
            lists->old_used[i] = lists->new_used[k] = true;
            lists->by_source++;
            struct change *change = tide__compare_clause(c, pair, "source.computed_column", old, now, COMPAT_PARTIAL,
                                                         COMPAT_PARTIAL);
            change->by_source = true;
            change->restarts = (int32_t)now->index;
            change->needs = COMPAT_CAN_AGGREGATES;
        }
    }
}

static int32_t find_source(const struct lists *lists, const char *name, const struct model_clause *now) {
    for (size_t i = 0; i < lists->olds.count; i++)
        if (is(lists->olds.items[i], name) && strcmp(arguments(lists->olds.items[i]), arguments(now)) == 0)
            return (int32_t)i;
    return -1;
}

// Any DISTINCT aggregate has the set of values.
static int32_t find_set(const struct lists *lists, const struct model_clause *now) {
    for (size_t i = 0; i < lists->olds.count; i++) {
        const struct model_clause *old = lists->olds.items[i];
        if (is_distinct(old) && (is(old, "COUNT") || is(old, "SUM") || is(old, "AVG")) &&
            strcmp(arguments(old), arguments(now)) == 0)
            return (int32_t)i;
    }
    return -1;
}

static bool derive_from(const struct lists *lists, const struct model_clause *now, int32_t *out, int32_t *out2) {
    *out = *out2 = -1;
    if (is_distinct(now)) {
        if (!is(now, "COUNT") && !(is_exact_number(now) && (is(now, "SUM") || is(now, "AVG")))) return false;
        *out = find_set(lists, now);
        return *out >= 0;
    }
    if (!is_exact_number(now)) return false;
    if (is(now, "SUM") || is(now, "COUNT")) {
        *out = find_source(lists, "AVG", now);
        return *out >= 0;
    }
    if (!is(now, "AVG")) return false;
    *out = find_source(lists, "SUM", now);
    *out2 = find_source(lists, "COUNT", now);
    return *out >= 0 && *out2 >= 0;
}

static void derive(struct check *c, struct pair *pair, struct lists *lists) {
    for (size_t k = 0; k < lists->news.count; k++) {
        const struct model_clause *now = lists->news.items[k];
        int32_t from, from2;
        if (lists->new_used[k] || !derive_from(lists, now, &from, &from2)) continue;
        lists->new_used[k] = true;
        lists->derived++;
        pair->derived[now->index] = true;
        pair->from[now->index] = (int32_t)lists->olds.items[from]->index;
        if (from2 >= 0) pair->from2[now->index] = (int32_t)lists->olds.items[from2]->index;
        enum compat_verdict strict = is_distinct(now) ? COMPAT_INCOMPATIBLE : COMPAT_PARTIAL;
        struct change *change = tide__compare_clause(c, pair, "agg.derived", lists->olds.items[from], now,
                                                     strict_of(c, pair, strict), COMPAT_COMPATIBLE);
        change->needs = COMPAT_CAN_DERIVE;
        change->message = tide__arena_printf(c->arena, "the aggregate %s can be read from %s", now->bare,
                                             lists->olds.items[from]->bare);
        lists->old_used[from] = true;  // that it goes is no news
        if (from2 >= 0) lists->old_used[from2] = true;
    }
}

// --- what is left -------------------------------------------------------------------------------------------------------------

static int likeness(const struct model_clause *a, const struct model_clause *b) {
    return 4 * (is_distinct(a) == is_distinct(b)) + 3 * same_function(a, b) +
           2 * (strcmp(arguments(a), arguments(b)) == 0) + (a->index == b->index);
}

static const struct model_clause *most_alike(struct lists *lists, const struct model_clause *now) {
    int best = -1;
    size_t at = 0;
    for (size_t i = 0; i < lists->olds.count; i++) {
        if (lists->old_used[i] || is_distinct(lists->olds.items[i]) != is_distinct(now)) continue;
        int score = likeness(lists->olds.items[i], now);
        if (score <= best) continue;
        best = score;
        at = i;
    }
    if (best < 0) return NULL;
    lists->old_used[at] = true;
    return lists->olds.items[at];
}

// A modified one's code; NULL `old`: it is new.
static const char *code_of(const struct check *c, const struct pair *pair, const struct lists *lists,
                           const struct model_clause *old, const struct model_clause *now) {
    if (lists->olds.count == 0) return "agg.first_added";
    if (tide__compare_between(&c->news, pair->new_op, now) ||
        (old != NULL && tide__compare_between(&c->olds, pair->old_op, old)))
        return "calc.between_window_and_group";
    bool survives = lists->kept + lists->derived + lists->by_source > 0;
    if (!survives && lists->olds.count == 1 && lists->news.count == 1 && !is_distinct(now)) return "agg.only_modified";
    if (!survives) return "agg.all_replaced";
    if (is_distinct(now)) return old != NULL ? "agg.distinct_modified" : "agg.distinct_added";
    if (old == NULL) return "agg.added";
    if (same_but_filter(old, now)) return "agg.filter";
    if (same_function(old, now)) return "agg.input";
    return strcmp(arguments(old), arguments(now)) == 0 ? "agg.modified" : "agg.replaced";
}

static enum compat_verdict verdict_of(const char *code) {
    static const char *const partial[] = {"agg.added", "agg.modified", "agg.input", "agg.filter", "agg.replaced"};
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
        if (strcmp(code, partial[i]) == 0) return COMPAT_PARTIAL;
    return COMPAT_INCOMPATIBLE;
}

struct uses {
    uint32_t op, index;
};

static bool is_this_leaf(void *ctx, const struct model *model, uint32_t leaf) {
    const struct uses *use = ctx;
    const struct leaf *l = &model->leaves[leaf];
    return l->kind == LEAF_AGGREGATE && l->op == use->op && l->index == use->index;
}

// Nothing reads it but conditions: then those are what has changed.
static bool only_in_conditions(const struct check *c, const struct model_operator *op, uint32_t index) {
    struct uses use = {op->index, index};
    bool condition = false;
    for (uint32_t i = op->index + 1; i < c->news.operator_count; i++) {
        const struct model_operator *above = &c->news.operators[i];
        for (size_t k = 0; k < above->clause_count; k++) {
            if (!tide__model_reads(&c->news, above->clauses[k].expr, is_this_leaf, &use)) continue;
            if (strcmp(above->clauses[k].code, "having") != 0) return false;
            condition = true;
        }
    }
    return condition;
}

// An aggregate that begins empty is NULL, or 0 for a count, where nothing arrives any more. A column that is NOT NULL can't show the former.
static bool must_have_a_value(const struct aggregate_call *call) {
    if (call == NULL || call->type == NULL || call->type->nullable) return false;
    return strcmp(call->aggregate->name, "COUNT") != 0 && strcmp(call->aggregate->name, "$SUM0") != 0;
}

// A SELECT, and a table with columns that are NOT NULL.
static bool refuses_null(const struct check *c, const struct model_operator *op) {
    const struct plan_node *sink = c->news.roots[op->root].node;
    if (sink->sink.kind != SINK_TABLE) return true;
    for (uint32_t i = 0; i < sink->inputs[0]->field_count; i++)
        if (!sink->sink.table->columns[sink->sink.columns[i]].type->nullable) return true;
    return false;
}

static void restart(struct check *c, struct pair *pair, const struct lists *lists, const struct model_clause *old,
                    const struct model_clause *now) {
    const char *code = code_of(c, pair, lists, old, now);
    struct change *change = tide__compare_clause(c, pair, code, old, now, strict_of(c, pair, verdict_of(code)),
                                                 COMPAT_PARTIAL);
    change->needs = COMPAT_CAN_AGGREGATES;
    change->restarts = (int32_t)now->index;
    change->hidden = only_in_conditions(c, pair->new_op, now->index);
    if (pair->new_op->node->kind == PLAN_OVER && now->call == NULL) change->exact = COMPAT_INCOMPATIBLE;
    if (must_have_a_value(now->call) && refuses_null(c, pair->new_op)) {
        change->exact = COMPAT_INCOMPATIBLE;
        change->note = "it is NOT NULL, and the groups of before have no value for it";
    }
}

static void removed(struct check *c, struct pair *pair, const struct lists *lists, const struct model_clause *old) {
    bool distinct = is_distinct(old), all = lists->news.count == 0;
    const char *code = all ? "agg.all_removed" : distinct ? "agg.distinct_removed" : "agg.removed";
    enum compat_verdict strict = distinct || all ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE;
    bool survives = lists->kept + lists->derived + lists->by_source > 0;
    if (!survives && !all) return;  // said with the new ones
    tide__compare_clause(c, pair, code, old, NULL, strict_of(c, pair, strict), COMPAT_COMPATIBLE)
        ->needs = COMPAT_CAN_AGGREGATES;
}

// They go to the same columns of the same sink: only the query is written in another order.
static bool same_result(const struct check *c, const struct pair *pair) {
    const struct model_operator *old_sink = tide__compare_above(&c->olds, pair->old_op),
                                *new_sink = tide__compare_above(&c->news, pair->new_op);
    if (old_sink == NULL || new_sink == NULL || old_sink->node->kind != PLAN_SINK || new_sink->node->kind != PLAN_SINK)
        return false;
    struct clause_list olds = tide__compare_list(c, old_sink, "output.column"),
                       news = tide__compare_list(c, new_sink, "output.column");
    return tide__compare_same_order(&olds, &news);
}

static void compare_order(struct check *c, struct pair *pair, const struct lists *lists, bool distinct) {
    int32_t last = -1;
    for (size_t k = 0; k < lists->news.count; k++) {
        const struct model_clause *now = lists->news.items[k];
        if (is_distinct(now) != distinct || pair->from[now->index] < 0 || pair->derived[now->index]) continue;
        if (pair->from[now->index] < last) {
            struct change *change = tide__compare_clause(
                c, pair, distinct ? "agg.distinct_order" : "agg.order", lists->olds.items[0], lists->news.items[0],
                strict_of(c, pair, distinct ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE), COMPAT_COMPATIBLE);
            change->needs = COMPAT_CAN_AGGREGATES;
            change->hidden = same_result(c, pair);
            change->message = distinct ? "the order of the DISTINCT aggregates has changed"
                                       : "the order of the aggregates has changed";
            return;
        }
        last = pair->from[now->index];
    }
}

static void make_room(struct check *c, struct pair *pair, uint32_t count) {
    pair->from = ARENA_ARRAY(c->arena, int32_t, count + 1);
    pair->from2 = ARENA_ARRAY(c->arena, int32_t, count + 1);
    pair->derived = ARENA_ARRAY(c->arena, bool, count + 1);
    pair->restarts = ARENA_ARRAY(c->arena, bool, count + 1);
    for (uint32_t i = 0; i <= count; i++) pair->from[i] = pair->from2[i] = -1;
}

void tide__compare_aggregates(struct check *c, struct pair *pair) {
    struct lists lists = {all_aggregates(c, pair->old_op), all_aggregates(c, pair->new_op)};
    make_room(c, pair, (uint32_t)lists.news.count);
    if (pair->other_input) return;
    lists.old_used = ARENA_ARRAY(c->arena, bool, lists.olds.count + 1);
    lists.new_used = ARENA_ARRAY(c->arena, bool, lists.news.count + 1);
    keep_equal(c, pair, &lists);
    keep_declared(c, pair, &lists);
    derive(c, pair, &lists);
    for (size_t k = 0; k < lists.news.count; k++)
        if (!lists.new_used[k]) restart(c, pair, &lists, most_alike(&lists, lists.news.items[k]), lists.news.items[k]);
    for (size_t i = 0; i < lists.olds.count; i++)
        if (!lists.old_used[i]) removed(c, pair, &lists, lists.olds.items[i]);
    compare_order(c, pair, &lists, false);
    compare_order(c, pair, &lists, true);
}
