// What has changed in a Top-N or a deduplication: who is ranked with whom, by what, how many stay, what is stored of them.
#include "checkpoint/compat/compare.h"

#include <string.h>

static bool is_dedup(const struct model_operator *op) {
    return strcmp(op->kind, "window-dedup") == 0 || strcmp(op->kind, "dedup") == 0;
}

static bool both_dedup(const struct pair *pair) {
    return is_dedup(pair->old_op) && is_dedup(pair->new_op);
}

// "topn.limit" or "dedup.limit"
static const char *code_of(const struct check *c, const struct pair *pair, const char *what) {
    return tide__arena_printf(c->arena, "%s.%s", both_dedup(pair) ? "dedup" : "topn", what);
}

static enum compat_verdict empty_or(const struct pair *pair, enum compat_verdict otherwise) {
    return pair->new_op->finals && pair->old_op->finals ? COMPAT_COMPATIBLE : otherwise;
}

static bool is_empty(const struct pair *pair) {
    return pair->new_op->finals && pair->old_op->finals;
}

// --- partitions -----------------------------------------------------------------------------------------------------------------

// Each new key can be computed from the old ones.
static bool partitions_follow(const struct check *c, const struct pair *pair) {
    for (size_t i = 0; i < pair->new_op->clause_count; i++) {
        const struct model_clause *clause = &pair->new_op->clauses[i];
        if (strcmp(clause->code, "topn.partition") != 0) continue;
        if (tide__compare_over(c, pair, clause->expr, "topn.partition") == NULL) return false;
    }
    return true;
}

static void partition_change(struct check *c, struct pair *pair, const struct model_clause *a,
                             const struct model_clause *b) {
    const char *what = a == NULL ? "partition_added" : b == NULL ? "partition_removed" : "partition_changed";
    bool follows = partitions_follow(c, pair);
    struct change *change = tide__compare_clause(c, pair, code_of(c, pair, what), a, b, COMPAT_INCOMPATIBLE,
                                                 empty_or(pair, follows ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE));
    change->needs = is_empty(pair) ? 0 : COMPAT_CAN_MERGE_ROWS;
    change->rows = true;
    if (change->exact == COMPAT_COMPATIBLE && pair->new_op->node->updates)
        change->note = "rows that were written for the old ranks stay in the sink";
}

static void compare_partitions(struct check *c, struct pair *pair) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, "topn.partition"),
                       news = tide__compare_list(c, pair->new_op, "topn.partition");
    bool same_order = tide__compare_same_order(&olds, &news) &&
                      pair->old_op->start_place == pair->new_op->start_place &&
                      pair->old_op->end_place == pair->new_op->end_place;
    const struct model_clause *first_old = olds.count > 0 ? olds.items[0] : NULL,
                              *first_new = news.count > 0 ? news.items[0] : NULL;
    tide__compare_take_common(&olds, &news);
    if (olds.count == 0 && news.count == 0) {
        if (same_order) return;
        tide__compare_clause(c, pair, code_of(c, pair, "partition_order"), first_old, first_new, COMPAT_COMPATIBLE,
                             COMPAT_COMPATIBLE)
            ->message = "the order of the partition keys has changed";
        return;
    }
    size_t both = olds.count < news.count ? olds.count : news.count;
    for (size_t i = 0; i < both; i++)
        if (!tide__compare_explained(c, pair, olds.items[i], news.items[i]))
            partition_change(c, pair, olds.items[i], news.items[i]);
    for (size_t i = both; i < olds.count; i++) partition_change(c, pair, olds.items[i], NULL);
    for (size_t i = both; i < news.count; i++) partition_change(c, pair, NULL, news.items[i]);
}

// --- the order, and how many ----------------------------------------------------------------------------------------------------

static void order_change(struct check *c, struct pair *pair, const struct model_clause *a,
                         const struct model_clause *b) {
    struct change *change = tide__compare_clause(c, pair, code_of(c, pair, "order_by"), a, b, COMPAT_INCOMPATIBLE,
                                                 empty_or(pair, COMPAT_INCOMPATIBLE));
    change->rows = true;
}

static void compare_order(struct check *c, struct pair *pair) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, "topn.order_by"),
                       news = tide__compare_list(c, pair->new_op, "topn.order_by");
    size_t most = olds.count > news.count ? olds.count : news.count;
    size_t before = pair->change_count;
    for (size_t i = 0; i < most; i++) {
        const struct model_clause *a = i < olds.count ? olds.items[i] : NULL,
                                  *b = i < news.count ? news.items[i] : NULL;
        if (a != NULL && b != NULL && (strcmp(a->bare, b->bare) == 0 || tide__compare_explained(c, pair, a, b)))
            continue;
        order_change(c, pair, a, b);
    }
    if (pair->change_count > before || !both_dedup(pair)) return;
    const struct model_clause *a = tide__compare_first(pair->old_op, "dedup.order_by"),
                              *b = tide__compare_first(pair->new_op, "dedup.order_by");
    if ((a == NULL) != (b == NULL)) order_change(c, pair, a, b);
}

static void compare_bounds(struct check *c, struct pair *pair) {
    const struct model_clause *a = tide__compare_first(pair->old_op, "topn.limit"),
                              *b = tide__compare_first(pair->new_op, "topn.limit");
    const struct model_clause *from = tide__compare_first(pair->old_op, "topn.offset"),
                              *to = tide__compare_first(pair->new_op, "topn.offset");
    if (a->number != b->number) {
        bool fewer = b->number < a->number;
        struct change *change = tide__compare_clause(c, pair, "topn.limit", a, b, COMPAT_INCOMPATIBLE,
                                                     empty_or(pair, fewer ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE));
        change->needs = is_empty(pair) ? 0 : COMPAT_CAN_TRUNCATE;
        change->rows = true;
        if (!is_empty(pair))
            change->note = fewer ? "the ranks below are cut"
                                 : tide__arena_printf(c->arena, "rows below rank %lld were not kept",
                                                      (long long)a->number);
    }
    if ((from != NULL ? from->number : 0) == (to != NULL ? to->number : 0)) return;
    struct change *change = tide__compare_clause(c, pair, "topn.offset", from != NULL ? from : a, to != NULL ? to : b,
                                                 COMPAT_INCOMPATIBLE, COMPAT_COMPATIBLE);
    change->message = tide__arena_printf(c->arena, "the first rank was %lld and is %lld",
                                         (long long)(from != NULL ? from->number : 0) + 1,
                                         (long long)(to != NULL ? to->number : 0) + 1);
    change->rows = true;
}

// --- what is stored -------------------------------------------------------------------------------------------------------------

// The first row by arrival is out at once: what stays is that its key was there.
static bool keeps_keys_only(const struct model_operator *op) {
    if (op->node->kind != PLAN_RANK || !op->node->rank.deduplicate || op->node->rank.ties != TIE_FIRST_ARRIVED)
        return false;
    const struct plan_rank *rank = &op->node->rank;
    return rank->sort_count == 1 &&
           op->node->inputs[0]->fields[rank->sorts[0].column].type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
}

// Above an aggregation keys and window columns come and go with what the query shows; aggregates that come or go are reported below.
static bool is_carried(const struct model *model, const struct model_operator *op, const struct model_clause *clause) {
    if (!op->finals || clause->expr == NULL) return false;
    if (clause->expr->kind == EXPR_COLUMN) return true;
    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct model_operator *input = &model->operators[op->inputs[i]];
        for (size_t k = 0; k < input->clause_count; k++)
            if (strcmp(input->clauses[k].code, "group_by") == 0 && strcmp(input->clauses[k].bare, clause->bare) == 0)
                return true;
    }
    return false;
}

// The same column stands in a clause that has been reported: the ranking or the partitions.
static bool is_reported(const struct pair *pair, const struct model_clause *clause) {
    for (size_t i = 0; i < pair->change_count; i++) {
        const struct model_clause *sides[] = {pair->changes[i].old_clause, pair->changes[i].new_clause};
        for (size_t k = 0; k < 2; k++) {
            if (sides[k] == NULL || strcmp(sides[k]->code, "topn.input") == 0) continue;
            size_t len = strlen(clause->bare);
            if (strncmp(sides[k]->bare, clause->bare, len) == 0 &&
                (sides[k]->bare[len] == '\0' || sides[k]->bare[len] == ' '))
                return true;
        }
    }
    return false;
}

static void drop_explained(const struct check *c, const struct model *model, const struct model_operator *op,
                           const struct pair *pair, struct clause_list *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct model_clause *column = list->items[i];
        bool old = model == &c->olds;
        if (is_carried(model, op, column) || is_reported(pair, column) || !tide__compare_needed(model, op, column))
            continue;
        if (tide__compare_explained(c, pair, old ? column : NULL, old ? NULL : column)) continue;
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

// Another expression of the same type in the same place.
static bool same_types(const struct clause_list *olds, const struct clause_list *news) {
    if (olds->count != news->count) return false;
    for (size_t i = 0; i < olds->count; i++)
        if (olds->items[i]->type->kind != news->items[i]->type->kind ||
            olds->items[i]->type->scale != news->items[i]->type->scale)
            return false;
    return true;
}

static void column_change(struct check *c, struct pair *pair, const struct model_clause *a,
                          const struct model_clause *b, bool same) {
    bool dedup = both_dedup(pair), keys_only = dedup && keeps_keys_only(pair->old_op) && keeps_keys_only(pair->new_op);
    bool follows = b == NULL || tide__compare_over(c, pair, b->expr, "topn.input") != NULL;
    enum compat_verdict strict = keys_only || (dedup && same) ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE;
    enum compat_verdict exact = keys_only || follows ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE;
    struct change *change = tide__compare_clause(c, pair, dedup ? "dedup.select_list" : "topn.input", a, b, strict,
                                                 empty_or(pair, exact));
    change->needs = is_empty(pair) ? 0 : COMPAT_CAN_COLUMNS;
    change->by_source = a != NULL && b != NULL && a->declared != NULL && b->declared != NULL &&
                        strcmp(a->declared, b->declared) == 0;
    if (keys_only) change->note = "only keys are kept";
}

static void compare_stored(struct check *c, struct pair *pair) {
    if (pair->other_input) return;
    struct clause_list olds = tide__compare_list(c, pair->old_op, "topn.input"),
                       news = tide__compare_list(c, pair->new_op, "topn.input");
    tide__compare_take_common(&olds, &news);
    drop_explained(c, &c->olds, pair->old_op, pair, &olds);
    drop_explained(c, &c->news, pair->new_op, pair, &news);
    bool same = same_types(&olds, &news);
    size_t both = olds.count < news.count ? olds.count : news.count;
    for (size_t i = 0; i < both; i++) column_change(c, pair, olds.items[i], news.items[i], same);
    for (size_t i = both; i < olds.count; i++) column_change(c, pair, olds.items[i], NULL, false);
    for (size_t i = both; i < news.count; i++) column_change(c, pair, NULL, news.items[i], false);
}

static void compare_functions(struct check *c, struct pair *pair) {
    const struct model_clause *a = tide__compare_first(pair->old_op, "topn.function"),
                              *b = tide__compare_first(pair->new_op, "topn.function");
    if ((a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a->bare, b->bare) == 0)) return;
    tide__compare_clause(c, pair, "topn.function", a, b, COMPAT_UNKNOWN, COMPAT_UNKNOWN)->message = tide__arena_printf(
        c->arena, "the ranking function was %s and is %s", a != NULL ? a->bare : "ROW_NUMBER()",
        b != NULL ? b->bare : "ROW_NUMBER()");
}

void tide__compare_rank(struct check *c, struct pair *pair) {
    compare_functions(c, pair);
    compare_partitions(c, pair);
    compare_order(c, pair);
    compare_bounds(c, pair);
    compare_stored(c, pair);
}
