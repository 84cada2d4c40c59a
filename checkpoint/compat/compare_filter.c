// What has changed in the conditions that rows pass on the way to an operator's state.
#include "checkpoint/compat/compare.h"

#include <string.h>

// The columns of the state that a condition may read, so that what is stored can be filtered too.
static const char *column_code(const struct pair *pair, uint32_t side) {
    switch (pair->new_op->node->kind) {
    case PLAN_WINDOW_AGGREGATE:
    case PLAN_GROUP_AGGREGATE: return "group_by";
    case PLAN_WINDOW_RANK:
    case PLAN_RANK: return "topn.partition";
    case PLAN_WINDOW_JOIN: return side == 0 ? "join.input_schema" : "join.input_schema_right";
    case PLAN_OVER: return "over.partition";
    case PLAN_SORT: return "sort.input";
    default: return NULL;
    }
}

// A session that a condition cuts may fall apart: only whole keys may go.
static bool can_purge(const struct check *c, const struct pair *pair, const struct model_clause *condition) {
    const char *code = column_code(pair, condition->side);
    return code != NULL && tide__compare_over(c, pair, condition->expr, code) != NULL;
}

static bool by_keys(const struct pair *pair) {
    return pair->new_op->node->kind != PLAN_WINDOW_JOIN && pair->new_op->node->kind != PLAN_SORT;
}

static void added(struct check *c, struct pair *pair, const struct model_clause *condition) {
    bool purge = can_purge(c, pair, condition), empty = pair->new_op->finals;
    const char *code = purge && by_keys(pair) ? "filter.key_narrowed"
                       : c->ignore_filter     ? "filter.ignored"
                                              : "filter.added";
    struct change *change = tide__compare_clause(c, pair, code, NULL, condition,
                                                 c->ignore_filter ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE,
                                                 purge || empty ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->needs = purge && !empty ? COMPAT_CAN_PURGE : 0;
    change->rows = true;
    if (purge && pair->new_op->node->kind == PLAN_GROUP_AGGREGATE)
        change->note = "rows that were written for them stay in the sink";
}

static void lost(struct check *c, struct pair *pair, const char *code, const struct model_clause *a,
                 const struct model_clause *b) {
    struct change *change = tide__compare_clause(c, pair, c->ignore_filter ? "filter.ignored" : code, a, b,
                                                 c->ignore_filter ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE,
                                                 pair->new_op->finals ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->rows = true;
}

static struct clause_list side_of(const struct check *c, const struct model_operator *op, const char *code,
                                  uint32_t side) {
    struct clause_list all = tide__compare_list(c, op, code), list = all;
    list.count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i]->side == side) list.items[list.count++] = all.items[i];
    return list;
}

static void compare_below(struct check *c, struct pair *pair, uint32_t side) {
    struct clause_list olds = side_of(c, pair->old_op, "filter", side), news = side_of(c, pair->new_op, "filter", side);
    tide__compare_take_common(&olds, &news);
    size_t both = olds.count < news.count ? olds.count : news.count;
    for (size_t i = 0; i < both; i++) lost(c, pair, "filter.changed", olds.items[i], news.items[i]);
    for (size_t i = both; i < olds.count; i++) lost(c, pair, "filter.removed", olds.items[i], NULL);
    for (size_t i = both; i < news.count; i++) added(c, pair, news.items[i]);
}

// --- conditions on what an operator below has made ----------------------------------------------------------------------------

static bool is_made(void *ctx, const struct model *model, uint32_t leaf) {
    (void)ctx;
    return model->leaves[leaf].kind != LEAF_COLUMN;
}

// It reads nothing but keys of the aggregation below: Flink applies it to that one's input.
static bool reads_keys_only(const struct model *model, const struct model_clause *condition) {
    return condition->expr != NULL && !tide__model_reads(model, condition->expr, is_made, NULL);
}

static struct pair *aggregation_below(const struct check *c, const struct pair *pair) {
    for (uint32_t i = 0; i < pair->new_op->input_count; i++) {
        const struct model_operator *input = &c->news.operators[pair->new_op->inputs[i]];
        if (input->node->kind == PLAN_WINDOW_AGGREGATE || input->node->kind == PLAN_GROUP_AGGREGATE)
            return tide__compare_pair(c, input);
    }
    return NULL;
}

struct restarting {
    const struct check *c;
};

static bool begins_empty(void *ctx, const struct model *model, uint32_t leaf) {
    const struct restarting *r = ctx;
    const struct leaf *l = &model->leaves[leaf];
    if (l->kind != LEAF_AGGREGATE || l->op == UINT32_MAX) return false;
    const struct pair *pair = tide__compare_pair(r->c, &model->operators[l->op]);
    if (pair->old_op == NULL) return true;
    for (size_t i = 0; i < pair->change_count; i++)
        if (pair->changes[i].restarts == (int32_t)l->index) return true;
    return false;
}

// Above an aggregation: HAVING. `empty`: what it feeds holds nothing at a savepoint.
static void having(struct check *c, struct pair *pair, const struct model_clause *a, const struct model_clause *b,
                   bool empty) {
    bool topn = pair->new_op->node->kind == PLAN_WINDOW_RANK;
    struct restarting restarting = {c};
    bool restarts = b != NULL && tide__model_reads(&c->news, b->expr, begins_empty, &restarting);
    struct pair *below = aggregation_below(c, pair);
    bool keys = below != NULL && below->old_op != NULL && (a == NULL || reads_keys_only(&c->olds, a)) &&
                (b == NULL || reads_keys_only(&c->news, b));
    const char *code = !keys       ? "having.changed"
                       : a == NULL ? "filter.key_narrowed"
                       : b == NULL ? "filter.removed"
                                   : "filter.changed";
    enum compat_verdict strict = topn || keys || !empty ? COMPAT_INCOMPATIBLE
                                 : restarts             ? COMPAT_PARTIAL
                                                        : COMPAT_COMPATIBLE;
    if (keys && c->ignore_filter) strict = COMPAT_COMPATIBLE;
    struct change *change = tide__compare_clause(c, pair, code, a, b, strict,
                                                 empty && !restarts ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->rows = true;
    if (restarts) change->note = "it decides by an aggregate that begins empty";
    if (keys && empty) change->note = "here it works above the state, which holds all groups";
}

static void compare_above(struct check *c, struct pair *pair, const char *code, bool empty) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, code),
                       news = tide__compare_list(c, pair->new_op, code);
    tide__compare_take_common(&olds, &news);
    size_t both = olds.count < news.count ? olds.count : news.count;
    for (size_t i = 0; i < both; i++) having(c, pair, olds.items[i], news.items[i], empty);
    for (size_t i = both; i < olds.count; i++) having(c, pair, olds.items[i], NULL, empty);
    for (size_t i = both; i < news.count; i++) having(c, pair, NULL, news.items[i], empty);
}

void tide__compare_filters(struct check *c, struct pair *pair) {
    if (pair->new_op->node->kind == PLAN_SINK) {
        compare_above(c, pair, "having", true);
        return;
    }
    for (uint32_t side = 0; side < pair->new_op->node->input_count; side++) compare_below(c, pair, side);
    compare_above(c, pair, "having", pair->new_op->finals);
}
