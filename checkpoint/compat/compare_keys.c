// What aggregations and other windowed operators are cut and kept by: windows, keys, grouping sets.
#include "checkpoint/compat/compare.h"

#include <string.h>

// --- windows ----------------------------------------------------------------------------------------------------------------

enum cut { CUT_OTHERWISE, CUT_SAME, CUT_FROM_PANES };

static int64_t modulo(int64_t a, int64_t b) {
    return b > 0 ? (a % b + b) % b : a;
}

// A TUMBLE is a HOP that slides by its size, and so is a CUMULATE of one step.
static enum window_kind plain_kind(const struct window *w) {
    if (w->kind == WINDOW_TUMBLE) return WINDOW_HOP;
    if (w->kind == WINDOW_CUMULATE && w->slide_ms == w->size_ms) return WINDOW_HOP;
    return w->kind;
}

static int64_t slide_of(const struct window *w) {
    return w->kind == WINDOW_TUMBLE ? w->size_ms : w->slide_ms;
}

static enum cut compare_hops(const struct window *a, const struct window *b) {
    int64_t pane = slide_of(a), slide = slide_of(b);
    if (pane <= 0 || slide <= 0 || modulo(a->offset_ms - b->offset_ms, pane) != 0) return CUT_OTHERWISE;
    if (a->size_ms == b->size_ms && pane == slide) return CUT_SAME;
    bool panes = a->size_ms % pane == 0 && slide % pane == 0 && b->size_ms % pane == 0;
    return panes && b->size_ms <= a->size_ms ? CUT_FROM_PANES : CUT_OTHERWISE;
}

// How the new windows come out of the old ones' panes.
static enum cut compare_cuts(const struct window *a, const struct window *b) {
    enum window_kind from = plain_kind(a), to = plain_kind(b);
    if (from == WINDOW_SESSION || to == WINDOW_SESSION) return CUT_OTHERWISE;
    if (from == WINDOW_HOP && to == WINDOW_HOP) return compare_hops(a, b);
    if (from != WINDOW_CUMULATE || a->size_ms != b->size_ms) return CUT_OTHERWISE;
    if (modulo(a->offset_ms - b->offset_ms, a->size_ms) != 0) return CUT_OTHERWISE;
    if (to == WINDOW_CUMULATE && a->slide_ms == b->slide_ms) return CUT_SAME;
    if (to == WINDOW_CUMULATE) return b->slide_ms % a->slide_ms == 0 ? CUT_FROM_PANES : CUT_OTHERWISE;
    return slide_of(b) == b->size_ms ? CUT_FROM_PANES : CUT_OTHERWISE;
}

static bool can_merge(const struct pair *pair);

static void window_change(struct check *c, struct pair *pair, const char *code, enum cut cut) {
    const struct model_clause *a = tide__compare_first(pair->old_op, code),
                              *b = tide__compare_first(pair->new_op, code);
    if ((a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a->bare, b->bare) == 0)) return;
    // Panes are put together in another order than rows came in: sums of DOUBLE would have other last bits.
    bool panes = cut == CUT_FROM_PANES && tide__compare_is(pair, PLAN_WINDOW_AGGREGATE) && can_merge(pair);
    bool fits = cut == CUT_SAME || panes;
    struct change *change = tide__compare_clause(c, pair, code, a, b, COMPAT_INCOMPATIBLE,
                                                 fits ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->needs = cut == CUT_SAME ? COMPAT_CAN_SAME_WINDOWS : fits ? COMPAT_CAN_WINDOWS : 0;
    change->rows = cut != CUT_SAME;
}

static const char *right_time(const struct model_operator *op) {
    if (op->node->kind != PLAN_WINDOW_JOIN) return NULL;
    return op->in[1][op->node->window_join.start_column[1]].window_time;
}

// l JOIN r has become r JOIN l.
static bool is_other_side(const struct pair *pair) {
    const char *old_right = right_time(pair->old_op), *new_right = right_time(pair->new_op);
    if (old_right == NULL || new_right == NULL || pair->old_op->window_time == NULL ||
        pair->new_op->window_time == NULL)
        return false;
    return strcmp(old_right, pair->new_op->window_time) == 0 && strcmp(new_right, pair->old_op->window_time) == 0;
}

static void compare_time(struct check *c, struct pair *pair) {
    const char *code = "window.time_attribute";
    const struct model_clause *a = tide__compare_first(pair->old_op, code),
                              *b = tide__compare_first(pair->new_op, code);
    if (a == NULL || b == NULL || pair->other_input) return;
    if (strcmp(a->bare, b->bare) != 0 && is_other_side(pair)) return;
    bool zones = pair->old_op->window->ltz != pair->new_op->window->ltz;
    if (strcmp(a->bare, b->bare) == 0 && !zones) return;
    struct change *change = tide__compare_clause(c, pair, code, a, b, COMPAT_INCOMPATIBLE, COMPAT_INCOMPATIBLE);
    change->rows = true;
    if (zones && strcmp(a->bare, b->bare) == 0)
        change->message = tide__arena_printf(c->arena, "the time attribute %s was %s and is %s", b->bare,
                                             pair->old_op->window->ltz ? "TIMESTAMP_LTZ" : "TIMESTAMP",
                                             pair->new_op->window->ltz ? "TIMESTAMP_LTZ" : "TIMESTAMP");
}

static const uint32_t *session_places(const struct model_operator *op) {
    return op->node->kind == PLAN_WINDOW_AGGREGATE ? op->node->window_aggregate.session_places : NULL;
}

static void compare_session_keys(struct check *c, struct pair *pair) {
    const char *code = "window.session_partition";
    const struct model_clause *a = tide__compare_first(pair->old_op, code),
                              *b = tide__compare_first(pair->new_op, code);
    if (a == NULL && b == NULL) return;
    if (a == NULL || b == NULL || strcmp(a->bare, b->bare) != 0) {
        tide__compare_clause(c, pair, code, a, b, COMPAT_INCOMPATIBLE, COMPAT_INCOMPATIBLE)->rows = true;
        return;
    }
    const uint32_t *old_places = session_places(pair->old_op), *new_places = session_places(pair->new_op);
    if (old_places == NULL || new_places == NULL) return;
    struct clause_list olds = tide__compare_list(c, pair->old_op, "group_by"),
                       news = tide__compare_list(c, pair->new_op, "group_by");
    for (size_t i = 0; i < olds.count; i++) {
        for (size_t k = 0; k < news.count; k++) {
            if (strcmp(olds.items[i]->bare, news.items[k]->bare) != 0 || old_places[i] == new_places[k]) continue;
            tide__compare_clause(c, pair, code, a, b, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE)
                ->message = "the order of the session's keys has changed";
            return;
        }
    }
}

void tide__compare_windows(struct check *c, struct pair *pair) {
    const struct model_operator *a = pair->old_op, *b = pair->new_op;
    if (a->window == NULL || b->window == NULL || (a->window_owner >= 0 && b->window_owner >= 0)) return;
    enum cut cut = compare_cuts(a->window, b->window);
    const struct model_clause *old_syntax = tide__compare_first(a, "window.syntax"),
                              *new_syntax = tide__compare_first(b, "window.syntax");
    if ((old_syntax == NULL) != (new_syntax == NULL)) {
        struct change *change = tide__compare_clause(c, pair, "window.syntax", tide__compare_first(a, "window.type"),
                                                     tide__compare_first(b, "window.type"), COMPAT_INCOMPATIBLE,
                                                     cut != CUT_OTHERWISE ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
        change->needs = COMPAT_CAN_SAME_WINDOWS;
        change->message = old_syntax != NULL ? "the window was in GROUP BY and is a window table function"
                                             : "the window was a window table function and is in GROUP BY";
    }
    if (a->window->kind != b->window->kind) {
        window_change(c, pair, "window.type", cut);
    } else {
        static const char *const codes[] = {"window.size", "window.slide", "window.step", "window.session_gap"};
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) window_change(c, pair, codes[i], cut);
        window_change(c, pair, "window.offset", cut);
        compare_session_keys(c, pair);
    }
    compare_time(c, pair);
}

// --- what UNION ALL puts together ---------------------------------------------------------------------------------------------

// Without a UNION ALL: the one input.
static struct clause_list branches_of(struct check *c, const struct model *model, const struct model_operator *op,
                                      uint32_t side) {
    struct clause_list all = tide__compare_list(c, op, "union.input"), list = all;
    list.count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i]->side == side) list.items[list.count++] = all.items[i];
    if (list.count > 0 || op->node->input_count != 1) return list;
    const char *text = "UNION ALL of";
    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct model_operator *input = &model->operators[op->inputs[i]];
        text = tide__arena_printf(c->arena, "%s%s %s", text, i > 0 ? "," : "",
                                  input->node->kind == PLAN_SCAN ? input->clauses[0].text : input->kind);
    }
    struct model_clause *clause = ARENA_NEW(c->arena, struct model_clause);
    *clause = (struct model_clause){.code = "union.input", .text = text, .bare = text, .pos = op->node->pos};
    list.items[list.count++] = clause;
    return list;
}

void tide__compare_unions(struct check *c, struct pair *pair) {
    for (uint32_t side = 0; side < pair->new_op->node->input_count; side++) {
        struct clause_list olds = branches_of(c, &c->olds, pair->old_op, side),
                           news = branches_of(c, &c->news, pair->new_op, side);
        if (olds.count < 2 && news.count < 2) continue;
        bool same_order = tide__compare_same_order(&olds, &news);
        const struct model_clause *first_old = olds.items[0], *first_new = news.items[0];
        tide__compare_take_common(&olds, &news);
        if (olds.count == 0 && news.count == 0 && !same_order)
            tide__compare_clause(c, pair, "union.order", first_old, first_new, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE)
                ->message = "the order of the inputs of UNION ALL has changed";
        bool state = pair->new_op->node->stateful;
        enum compat_verdict verdict = state ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE;
        for (size_t i = 0; i < olds.count; i++)
            tide__compare_clause(c, pair, "union.removed", olds.items[i], NULL, verdict, verdict)->rows = true;
        for (size_t i = 0; i < news.count; i++)
            tide__compare_clause(c, pair, "union.added", NULL, news.items[i], verdict, verdict)->rows = true;
        pair->other_input |= olds.count + news.count > 0;
    }
}

// --- grouping sets ------------------------------------------------------------------------------------------------------------

static struct model_set *sets_of(struct check *c, const struct model_operator *op, uint32_t *out_count) {
    *out_count = op->set_count > 0 ? op->set_count : 1;
    if (op->set_count > 0) return op->sets;
    struct clause_list keys = tide__compare_list(c, op, "group_by");
    struct model_set *set = ARENA_NEW(c->arena, struct model_set);
    set->keys = ARENA_ARRAY(c->arena, const char *, keys.count + 1);
    for (size_t i = 0; i < keys.count; i++) {
        uint32_t at = set->key_count++;
        for (; at > 0 && strcmp(set->keys[at - 1], keys.items[i]->bare) > 0; at--) set->keys[at] = set->keys[at - 1];
        set->keys[at] = keys.items[i]->bare;
    }
    set->text = "(";
    for (uint32_t i = 0; i < set->key_count; i++)
        set->text = tide__arena_printf(c->arena, "%s%s%s", set->text, i > 0 ? ", " : "", set->keys[i]);
    set->text = tide__arena_printf(c->arena, "%s)", set->text);
    return set;
}

static bool has_set(const struct model_set *sets, uint32_t count, const char *text) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sets[i].text, text) == 0) return true;
    return false;
}

// A set may stand there twice: each gives its own rows.
static uint32_t times(const struct model_set *sets, uint32_t count, const char *text) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) found += strcmp(sets[i].text, text) == 0;
    return found;
}

static bool is_coarser(const struct model_set *coarse, const struct model_set *fine) {
    for (uint32_t i = 0; i < coarse->key_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < fine->key_count; k++) found |= strcmp(coarse->keys[i], fine->keys[k]) == 0;
        if (!found) return false;
    }
    return true;
}

static bool is_mergeable(const struct aggregate_call *call) {
    static const char *const merges[] = {"COUNT", "SUM", "$SUM0", "SUM0", "AVG", "MIN", "MAX"};
    if (call == NULL || !call->aggregate->mergeable) return false;
    bool known = false;
    for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) known |= strcmp(call->aggregate->name, merges[i]) == 0;
    if (!known) return false;
    if (strcmp(call->aggregate->name, "COUNT") == 0 || call->arg_count == 0) return true;
    enum type_kind kind = call->arg_types[0]->kind;
    return kind != TYPE_FLOAT && kind != TYPE_DOUBLE;
}

// The accumulators that go on can be merged with those of other groups.
static bool can_merge(const struct pair *pair) {
    const struct model_operator *op = pair->new_op;
    for (size_t i = 0; i < op->clause_count; i++) {
        const struct model_clause *clause = &op->clauses[i];
        if (strcmp(clause->code, "agg") != 0 && strcmp(clause->code, "agg.distinct") != 0) continue;
        if (!is_mergeable(clause->call)) return false;
    }
    return op->window == NULL || op->window->kind != WINDOW_SESSION;
}

static const char *list_sets(struct check *c, const struct model_set *sets, uint32_t count) {
    const char *text = "";
    for (uint32_t i = 0; i < count; i++)
        text = tide__arena_printf(c->arena, "%s%s%s", text, i > 0 ? ", " : "", sets[i].text);
    return text;
}

static const struct model_clause *sets_clause(struct check *c, const struct model_operator *op, const char *text) {
    struct model_clause *clause = ARENA_NEW(c->arena, struct model_clause);
    *clause = (struct model_clause){.code = "group_by.grouping_sets", .text = text, .bare = text, .pos = op->node->pos};
    return clause;
}

// Whether they differ; then nothing else of the keys is compared.
static bool compare_sets(struct check *c, struct pair *pair) {
    uint32_t old_count, new_count;
    struct model_set *olds = sets_of(c, pair->old_op, &old_count), *news = sets_of(c, pair->new_op, &new_count);
    if (pair->old_op->set_count == 0 && pair->new_op->set_count == 0) return false;
    bool merged = false, restarted = false, differ = old_count != new_count;
    for (uint32_t i = 0; i < old_count; i++)
        differ |= times(news, new_count, olds[i].text) != times(olds, old_count, olds[i].text);
    for (uint32_t i = 0; i < new_count; i++) {
        if (has_set(olds, old_count, news[i].text)) continue;
        differ = true;
        bool coarser = false;
        for (uint32_t k = 0; k < old_count; k++) coarser |= is_coarser(&news[i], &olds[k]);
        merged |= coarser && can_merge(pair);
        restarted |= !(coarser && can_merge(pair));
    }
    if (!differ) return true;
    bool survives = false;
    for (uint32_t i = 0; i < new_count; i++) survives |= has_set(olds, old_count, news[i].text);
    enum compat_verdict exact = !restarted ? COMPAT_COMPATIBLE : survives ? COMPAT_PARTIAL : COMPAT_INCOMPATIBLE;
    struct change *change = tide__compare_clause(
        c, pair, "group_by.grouping_sets", sets_clause(c, pair->old_op, list_sets(c, olds, old_count)),
        sets_clause(c, pair->new_op, list_sets(c, news, new_count)), COMPAT_INCOMPATIBLE, exact);
    change->needs = COMPAT_CAN_SETS | (merged ? COMPAT_CAN_MERGE_GROUPS : 0);
    change->rows = true;
    if (restarted && survives) change->note = "rows of a new set count from the restore";
    return true;
}

// --- keys -------------------------------------------------------------------------------------------------------------------

// What stands in the GROUP BY, in its order.
static const struct model_clause *order_clause(struct check *c, const struct model_operator *op) {
    struct clause_list keys = tide__compare_list(c, op, "group_by");
    const char *text = "";
    for (uint32_t place = 0; place <= 2 * keys.count + 1; place++) {
        if (op->start_place == place) text = tide__arena_printf(c->arena, "%s%swindow_start", text, *text ? ", " : "");
        if (op->end_place == place) text = tide__arena_printf(c->arena, "%s%swindow_end", text, *text ? ", " : "");
        if (place % 2 == 1 && place / 2 < keys.count)
            text = tide__arena_printf(c->arena, "%s%s%s", text, *text ? ", " : "", keys.items[place / 2]->bare);
    }
    struct model_clause *clause = ARENA_NEW(c->arena, struct model_clause);
    *clause = (struct model_clause){.code = "group_by.window_order", .text = text, .bare = text, .pos = op->node->pos};
    return clause;
}

static void compare_orders(struct check *c, struct pair *pair, const struct clause_list *olds,
                           const struct clause_list *news) {
    const struct model_operator *a = pair->old_op, *b = pair->new_op;
    bool legacy = tide__compare_first(b, "window.syntax") != NULL;
    if (!tide__compare_same_order(olds, news)) {
        struct change *change = tide__compare_clause(c, pair, "group_by.order", olds->items[0], news->items[0],
                                                     legacy ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE,
                                                     COMPAT_COMPATIBLE);
        change->needs = COMPAT_CAN_KEYS;
        change->message = "the order of the group keys has changed";
    }
    if (b->node->kind != PLAN_WINDOW_AGGREGATE) return;
    if (a->start_place == b->start_place && a->end_place == b->end_place) return;
    if ((tide__compare_first(a, "window.syntax") != NULL) != legacy) return;
    tide__compare_clause(c, pair, "group_by.window_order", order_clause(c, a), order_clause(c, b),
                         tide__compare_below_topn(c, pair) ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE, COMPAT_COMPATIBLE)
        ->message = "the window columns stand elsewhere in GROUP BY";
}

// Each new key can be computed from the old ones.
static bool keys_follow(const struct check *c, const struct pair *pair) {
    const struct model_operator *op = pair->new_op;
    if (op->window != NULL && op->window->kind == WINDOW_SESSION) return false;
    for (size_t i = 0; i < op->clause_count; i++) {
        if (strcmp(op->clauses[i].code, "group_by") != 0) continue;
        if (tide__compare_over(c, pair, op->clauses[i].expr, "group_by") == NULL) return false;
    }
    return true;
}

// Old keys that the new list does not have: then groups merge.
static bool keys_merge(const struct check *c, const struct pair *pair) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, "group_by"),
                       news = tide__compare_list(c, pair->new_op, "group_by");
    tide__compare_take_common(&olds, &news);
    return olds.count > 0;
}

static void key_change(struct check *c, struct pair *pair, const struct model_clause *a, const struct model_clause *b) {
    const char *code = a == NULL ? "group_by.added" : b == NULL ? "group_by.removed" : "group_by.changed";
    bool by_source = a != NULL && b != NULL && a->declared != NULL && b->declared != NULL &&
                     strcmp(a->declared, b->declared) == 0;
    if ((b != NULL && tide__compare_between(&c->news, pair->new_op, b)) ||
        (a != NULL && tide__compare_between(&c->olds, pair->old_op, a)))
        code = "calc.between_window_and_group";
    bool merges = keys_merge(c, pair), follows = keys_follow(c, pair) && (!merges || can_merge(pair));
    struct change *change = tide__compare_clause(c, pair, code, a, b, COMPAT_INCOMPATIBLE,
                                                 follows ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->needs = COMPAT_CAN_KEYS | (merges ? COMPAT_CAN_MERGE_GROUPS : 0);
    change->rows = true;
    change->merges = follows;
    change->by_source = by_source;
    if (merges && !follows && keys_follow(c, pair)) change->note = "these aggregates can't be merged bit for bit";
    if (follows && pair->new_op->node->kind == PLAN_GROUP_AGGREGATE)
        change->note = "rows that were written for the old groups stay in the sink";
}

void tide__compare_keys(struct check *c, struct pair *pair) {
    if (pair->other_input || compare_sets(c, pair)) return;
    struct clause_list olds = tide__compare_list(c, pair->old_op, "group_by"),
                       news = tide__compare_list(c, pair->new_op, "group_by");
    struct clause_list all_olds = tide__compare_list(c, pair->old_op, "group_by"),
                       all_news = tide__compare_list(c, pair->new_op, "group_by");
    tide__compare_take_common(&olds, &news);
    if (olds.count == 0 && news.count == 0) {
        compare_orders(c, pair, &all_olds, &all_news);
        return;
    }
    // The session's keys are its group keys: they are reported there.
    bool session = pair->new_op->window != NULL && pair->new_op->window->kind == WINDOW_SESSION;
    if (session && pair->old_op->window != NULL && pair->old_op->window->kind == WINDOW_SESSION) return;
    size_t both = olds.count < news.count ? olds.count : news.count;
    for (size_t i = 0; i < both; i++) key_change(c, pair, olds.items[i], news.items[i]);
    for (size_t i = both; i < olds.count; i++) key_change(c, pair, olds.items[i], NULL);
    for (size_t i = both; i < news.count; i++) key_change(c, pair, NULL, news.items[i]);
}
