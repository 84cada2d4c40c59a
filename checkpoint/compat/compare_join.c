// What has changed in a join, in OVER and in ORDER BY.
#include "checkpoint/compat/compare.h"

#include <string.h>

// --- joins ------------------------------------------------------------------------------------------------------------------

static bool is_window_join(const struct pair *pair) {
    return tide__compare_is(pair, PLAN_WINDOW_JOIN);
}

static bool is_empty(const struct pair *pair) {
    return pair->new_op->finals && pair->old_op->finals;
}

// Both sides' stored columns, of the old join: the right ones behind the left ones.
static bool is_stored(const struct check *c, const struct pair *pair, const struct expr *expr) {
    const struct model_operator *old_op = pair->old_op;
    struct model_clause *columns = ARENA_ARRAY(c->arena, struct model_clause, old_op->clause_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < old_op->clause_count; i++)
        if (strncmp(old_op->clauses[i].code, "join.input_schema", 17) == 0) columns[count++] = old_op->clauses[i];
    return tide__model_over(&c->news, expr, columns, count, c->arena) != NULL;
}

static struct change *join_change(struct check *c, struct pair *pair, const char *code, const struct model_clause *a,
                                  const struct model_clause *b, bool fits) {
    bool possible = is_empty(pair) || (is_window_join(pair) && fits);
    struct change *change = tide__compare_clause(c, pair, code, a, b, COMPAT_INCOMPATIBLE,
                                                 possible ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->needs = is_empty(pair) ? 0 : COMPAT_CAN_BUFFERS;
    change->rows = true;
    if (is_window_join(pair) && !possible) change->note = "it reads columns that were not stored";
    return change;
}

static bool same_columns(const struct check *c, const struct model_operator *a, const char *code_a,
                         const struct model_operator *b, const char *code_b) {
    struct clause_list x = tide__compare_list(c, a, code_a), y = tide__compare_list(c, b, code_b);
    tide__compare_take_common(&x, &y);
    return x.count == 0 && y.count == 0;
}

// l JOIN r has become r JOIN l.
static bool is_swapped(const struct check *c, const struct pair *pair) {
    static const char left[] = "join.input_schema", right[] = "join.input_schema_right";
    const struct model_operator *a = pair->old_op, *b = pair->new_op;
    if (same_columns(c, a, left, b, left) && same_columns(c, a, right, b, right)) return false;
    return same_columns(c, a, left, b, right) && same_columns(c, a, right, b, left);
}

static enum join_kind mirrored(enum join_kind kind) {
    return kind == JOIN_LEFT ? JOIN_RIGHT : kind == JOIN_RIGHT ? JOIN_LEFT : kind;
}

static void compare_type(struct check *c, struct pair *pair, bool swapped) {
    const struct model_clause *a = tide__compare_first(pair->old_op, "join.type"),
                              *b = tide__compare_first(pair->new_op, "join.type");
    enum join_kind old_kind = (enum join_kind)a->number, new_kind = (enum join_kind)b->number;
    if (swapped) old_kind = mirrored(old_kind);
    // SEMI and ANTI joins give the left side only: their right columns may have been left out of the buffers.
    if (old_kind != new_kind) join_change(c, pair, "join.type", a, b, true);
}

static const char *turned(const struct check *c, const char *text) {
    const char *sign = strstr(text, " = ");
    if (sign == NULL) return text;
    return tide__arena_printf(c->arena, "%s = %.*s", sign + 3, (int)(sign - text), text);
}

// Which side stands where does not matter to a = b.
static struct clause_list equalities(const struct check *c, const struct model_operator *op, bool swapped) {
    struct clause_list list = tide__compare_list(c, op, "join.condition_equi");
    for (size_t i = 0; i < list.count && swapped; i++) {
        struct model_clause *copy = ARENA_NEW(c->arena, struct model_clause);
        *copy = *list.items[i];
        copy->bare = copy->text = turned(c, copy->bare);
        copy->expr = list.items[i]->expr2;
        copy->expr2 = list.items[i]->expr;
        list.items[i] = copy;
    }
    return list;
}

static void compare_conditions(struct check *c, struct pair *pair, bool swapped) {
    struct clause_list olds = equalities(c, pair->old_op, swapped), news = equalities(c, pair->new_op, false);
    tide__compare_take_common(&olds, &news);
    size_t most = olds.count > news.count ? olds.count : news.count;
    for (size_t i = 0; i < most; i++) {
        const struct model_clause *a = i < olds.count ? olds.items[i] : NULL,
                                  *b = i < news.count ? news.items[i] : NULL;
        bool fits = b == NULL || (is_stored(c, pair, b->expr) && is_stored(c, pair, b->expr2));
        join_change(c, pair, "join.condition_equi", a, b, fits);
    }
    struct clause_list other_olds = tide__compare_list(c, pair->old_op, "join.condition_nonequi"),
                       other_news = tide__compare_list(c, pair->new_op, "join.condition_nonequi");
    tide__compare_take_common(&other_olds, &other_news);
    most = other_olds.count > other_news.count ? other_olds.count : other_news.count;
    for (size_t i = 0; i < most; i++) {
        const struct model_clause *a = i < other_olds.count ? other_olds.items[i] : NULL,
                                  *b = i < other_news.count ? other_news.items[i] : NULL;
        join_change(c, pair, "join.condition_nonequi", a, b, b == NULL || is_stored(c, pair, b->expr));
    }
}

static bool is_part(void *ctx, const struct model *model, uint32_t leaf) {
    return strcmp(model->leaf_lineages[leaf].text, ctx) == 0;
}

// A changed condition needs the column: that has been said.
static bool is_in_condition(const struct check *c, const struct pair *pair, const struct model_clause *column,
                            bool old) {
    for (size_t i = 0; i < pair->change_count; i++) {
        const struct model_clause *clause = old ? pair->changes[i].old_clause : pair->changes[i].new_clause;
        if (clause == NULL || (strncmp(clause->code, "join.condition", 14) != 0 && strcmp(clause->code, "filter") != 0))
            continue;
        const struct model *model = old ? &c->olds : &c->news;
        if (tide__model_reads(model, clause->expr, is_part, (void *)(uintptr_t)column->bare) ||
            tide__model_reads(model, clause->expr2, is_part, (void *)(uintptr_t)column->bare))
            return true;
    }
    return false;
}

// Nothing reads it, or it is a key or an aggregate of what is below.
static bool is_plain_column(const struct model *model, const struct model_operator *op,
                            const struct model_clause *clause) {
    if (clause->expr == NULL) return false;
    return (op->finals && clause->expr->kind == EXPR_COLUMN) || !tide__compare_needed(model, op, clause);
}

static void compare_columns(struct check *c, struct pair *pair, const char *old_code, const char *new_code) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, old_code),
                       news = tide__compare_list(c, pair->new_op, new_code);
    tide__compare_take_common(&olds, &news);
    for (size_t i = 0; i < olds.count; i++)
        if (!is_in_condition(c, pair, olds.items[i], true) && !is_plain_column(&c->olds, pair->old_op, olds.items[i]))
            join_change(c, pair, "join.input_schema", olds.items[i], NULL, true)->rows = false;
    for (size_t i = 0; i < news.count; i++) {
        if (is_in_condition(c, pair, news.items[i], false) || is_plain_column(&c->news, pair->new_op, news.items[i]))
            continue;
        bool fits = tide__compare_over(c, pair, news.items[i]->expr, old_code) != NULL;
        struct change *change = join_change(c, pair, "join.input_schema", NULL, news.items[i], fits);
        change->needs |= is_empty(pair) ? 0 : COMPAT_CAN_COLUMNS;
    }
}

static void compare_interval(struct check *c, struct pair *pair) {
    const struct plan_join *a = &pair->old_op->node->join, *b = &pair->new_op->node->join;
    const struct model_clause *old_clause = tide__compare_first(pair->old_op, "join.interval"),
                              *new_clause = tide__compare_first(pair->new_op, "join.interval");
    if (old_clause == NULL && new_clause == NULL) return;
    if (old_clause != NULL && new_clause != NULL && strcmp(old_clause->bare, new_clause->bare) == 0) return;
    bool narrower = a->interval && b->interval && a->kind == JOIN_INNER && b->kind == JOIN_INNER &&
                    b->lower_ms >= a->lower_ms && b->upper_ms <= a->upper_ms &&
                    a->time_columns[0] == b->time_columns[0] && a->time_columns[1] == b->time_columns[1];
    struct change *change = tide__compare_clause(c, pair, "join.interval", old_clause, new_clause, COMPAT_INCOMPATIBLE,
                                                 narrower ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->needs = COMPAT_CAN_BUFFERS;
    change->rows = true;
}

void tide__compare_join(struct check *c, struct pair *pair) {
    static const char left[] = "join.input_schema", right[] = "join.input_schema_right";
    if (pair->other_input) return;
    bool swapped = is_swapped(c, pair);
    if (swapped) {
        struct change *change = join_change(c, pair, "join.side_swap", tide__compare_first(pair->old_op, "join.type"),
                                            tide__compare_first(pair->new_op, "join.type"), true);
        change->message = "the sides of the join have changed places";
        change->rows = false;
    }
    compare_interval(c, pair);
    compare_type(c, pair, swapped);
    compare_conditions(c, pair, swapped);
    compare_columns(c, pair, swapped ? right : left, left);
    compare_columns(c, pair, swapped ? left : right, right);
}

// --- OVER, ORDER BY ---------------------------------------------------------------------------------------------------------

static void list_change(struct check *c, struct pair *pair, const char *clause_code, const char *code, bool keys) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, clause_code),
                       news = tide__compare_list(c, pair->new_op, clause_code);
    if (tide__compare_same_order(&olds, &news)) return;
    const struct model_clause *a = olds.count > 0 ? olds.items[0] : NULL, *b = news.count > 0 ? news.items[0] : NULL;
    if (keys) {
        tide__compare_take_common(&olds, &news);
        if (olds.count == 0 && news.count == 0) {  // another order of the keys
            tide__compare_clause(c, pair, code, a, b, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE)->needs = COMPAT_CAN_KEYS;
            return;
        }
    }
    tide__compare_clause(c, pair, code, a, b, COMPAT_INCOMPATIBLE, COMPAT_INCOMPATIBLE)->rows = true;
}

// Rows in their order of arrival don't wait.
static bool is_by_proctime(const struct model_operator *op) {
    const struct plan_over *sort = &op->node->over;
    return sort->sort_count == 1 &&
           op->node->inputs[0]->fields[sort->sorts[0].column].type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
}

static void stored_columns(struct check *c, struct pair *pair, const char *clause_code, const char *code) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, clause_code),
                       news = tide__compare_list(c, pair->new_op, clause_code);
    tide__compare_take_common(&olds, &news);
    bool empty = is_by_proctime(pair->old_op) && is_by_proctime(pair->new_op);
    enum compat_verdict strict = empty ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE;
    for (size_t i = 0; i < olds.count; i++) {
        if (!tide__compare_needed(&c->olds, pair->old_op, olds.items[i])) continue;
        tide__compare_clause(c, pair, code, olds.items[i], NULL, strict, COMPAT_COMPATIBLE)
            ->needs = empty ? 0 : COMPAT_CAN_COLUMNS;
    }
    for (size_t i = 0; i < news.count; i++) {
        if (!tide__compare_needed(&c->news, pair->new_op, news.items[i])) continue;
        bool fits = empty || tide__compare_over(c, pair, news.items[i]->expr, clause_code) != NULL;
        tide__compare_clause(c, pair, code, NULL, news.items[i], strict, fits ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE)
            ->needs = empty ? 0 : COMPAT_CAN_COLUMNS;
    }
}

static bool is_argument(void *ctx, const struct model *model, uint32_t leaf) {
    return strcmp(model->leaf_lineages[leaf].text, ctx) == 0;
}

// The columns that only aggregates read come and go with them.
static bool only_for_calls(const struct model *model, const struct model_operator *op,
                           const struct model_clause *column) {
    for (size_t i = 0; i < op->clause_count; i++) {
        const struct model_clause *clause = &op->clauses[i];
        if (strncmp(clause->code, "agg", 3) != 0) continue;
        if (tide__model_reads(model, clause->expr, is_argument, (void *)(uintptr_t)column->bare)) return true;
    }
    return false;
}

// That the keys have changed has been said.
static bool is_partition(const struct check *c, const struct model_operator *op, const struct model_clause *column) {
    struct clause_list keys = tide__compare_list(c, op, "over.partition");
    for (size_t i = 0; i < keys.count; i++)
        if (strcmp(keys.items[i]->bare, column->bare) == 0) return true;
    return false;
}

static void over_columns(struct check *c, struct pair *pair) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, "over.input"),
                       news = tide__compare_list(c, pair->new_op, "over.input");
    tide__compare_take_common(&olds, &news);
    for (size_t i = 0; i < olds.count; i++) {
        if (only_for_calls(&c->olds, pair->old_op, olds.items[i]) ||
            !tide__compare_needed(&c->olds, pair->old_op, olds.items[i]))
            continue;
        tide__compare_clause(c, pair, "over.input", olds.items[i], NULL, COMPAT_INCOMPATIBLE, COMPAT_COMPATIBLE)
            ->needs = COMPAT_CAN_COLUMNS;
    }
    for (size_t i = 0; i < news.count; i++) {
        if (!tide__compare_needed(&c->news, pair->new_op, news.items[i]) ||
            is_partition(c, pair->new_op, news.items[i]))
            continue;
        bool call = only_for_calls(&c->news, pair->new_op, news.items[i]);
        bool fits = tide__compare_over(c, pair, news.items[i]->expr, "over.input") != NULL;
        struct change *change = tide__compare_clause(c, pair, "over.input", NULL, news.items[i], COMPAT_INCOMPATIBLE,
                                                     fits ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
        change->needs = COMPAT_CAN_COLUMNS;
        change->hidden = call;
    }
}

void tide__compare_over_sort(struct check *c, struct pair *pair) {
    if (pair->other_input) return;
    if (pair->new_op->node->kind == PLAN_SORT) {
        list_change(c, pair, "sort.order_by", "sort.order_by", false);
        stored_columns(c, pair, "sort.input", "sort.select_list");
        return;
    }
    list_change(c, pair, "over.partition", "over.partition", true);
    list_change(c, pair, "over.order_by", "over.order_by", false);
    list_change(c, pair, "over.frame", "over.frame", false);
    over_columns(c, pair);
}
