// What has to be done to the old state so that it is the new operator's: see check.h. Only where exact lets it go on.
#include "base/alloc.h"
#include "checkpoint/compat/compare.h"

#include <string.h>

static struct compat_step *add(struct check *c, struct pair *pair, enum compat_step_kind kind, const char *text) {
    pair->steps = tide__grow(pair->steps, &pair->step_cap, pair->step_count + 1, sizeof *pair->steps);
    struct compat_step *step = &pair->steps[pair->step_count++];
    *step = (struct compat_step){.kind = kind, .from = -1, .from2 = -1, .text = text};
    (void)c;
    return step;
}

// Of the new key's or column's type.
static const struct expr *typed(struct check *c, const struct expr *expr, const struct type *type) {
    if (expr == NULL || type == NULL || tide__type_same(expr->type, type)) return expr;
    struct infer_context infer = {.arena = c->arena, .zone = c->request->new_script.plans[0]->settings.zone};
    struct expr *copy = ARENA_NEW(c->arena, struct expr), *out = NULL;
    *copy = *expr;
    return tide__expr_cast(&infer, copy, type, &out, NULL) == TIDE_OK ? out : NULL;
}

// For a column that nothing reads.
static const struct expr *nothing(struct check *c, const struct type *type) {
    struct value null = {.is_null = true};
    return tide__expr_literal(c->arena, null, tide__type_with_nullable(c->arena, type, true), (struct source_pos){0});
}

// The first row by arrival has gone out: of what is stored only the key counts.
static bool keys_only(const struct pair *pair) {
    const struct plan_node *node = pair->new_op->node;
    if (node->kind != PLAN_RANK || !node->rank.deduplicate || node->rank.ties != TIE_FIRST_ARRIVED) return false;
    return node->inputs[0]->fields[node->rank.sorts[0].column].type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
}

// One step a new clause of this code, if any is not what and where it was.
static void map_columns(struct check *c, struct pair *pair, enum compat_step_kind kind, const char *code,
                        const char *old_code, const char *columns, uint32_t side) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, old_code),
                       news = tide__compare_list(c, pair->new_op, code);
    bool same = olds.count == news.count;
    for (size_t i = 0; same && i < news.count; i++) same = strcmp(olds.items[i]->text, news.items[i]->text) == 0;
    if (same) return;
    for (size_t i = 0; i < news.count; i++) {
        bool needed = tide__compare_needed(&c->news, pair->new_op, news.items[i]) && !keys_only(pair);
        const struct expr *expr = typed(c, tide__compare_over(c, pair, news.items[i]->expr, columns),
                                        news.items[i]->type);
        if (expr == NULL && needed) pair->unsupported = true;
        if (expr == NULL) expr = nothing(c, news.items[i]->type);
        struct compat_step *step = add(c, pair, kind,
                                       tide__arena_printf(c->arena, "%s %zu is %s",
                                                          kind == COMPAT_STEP_KEY ? "key" : "column", i + 1,
                                                          news.items[i]->bare));
        step->at = (uint32_t)i;
        step->side = side;
        step->expr = expr;
    }
}

static bool has_code(const struct pair *pair, const char *const *codes) {
    for (size_t i = 0; i < pair->change_count; i++)
        for (const char *const *code = codes; *code != NULL; code++)
            if (strcmp(pair->changes[i].code, *code) == 0) return true;
    return false;
}

// Conditions that the old state was not filtered by.
static void purge(struct check *c, struct pair *pair, const char *columns, uint32_t side) {
    for (size_t i = 0; i < pair->change_count; i++) {
        const struct change *change = &pair->changes[i];
        if ((change->needs & COMPAT_CAN_PURGE) == 0 || change->new_clause == NULL || change->new_clause->side != side)
            continue;
        struct compat_step *step = add(
            c, pair, COMPAT_STEP_PURGE,
            tide__arena_printf(c->arena, "leave out what does not satisfy %s", change->new_clause->bare));
        step->side = side;
        step->expr = tide__compare_over(c, pair, change->new_clause->expr, columns);
        if (step->expr == NULL) pair->unsupported = true;
    }
}

static void map_sets(struct check *c, struct pair *pair) {
    static const char *const codes[] = {"group_by.grouping_sets", NULL};
    if (!has_code(pair, codes)) return;
    const struct model_operator *a = pair->old_op, *b = pair->new_op;
    for (uint32_t i = 0; i < b->set_count || i < 1; i++) {
        int32_t from = -1;
        const char *text = b->set_count > 0 ? b->sets[i].text : "()";
        for (uint32_t k = 0; k < a->set_count; k++)
            if (strcmp(a->sets[k].text, text) == 0) from = (int32_t)k;
        if (a->set_count == 0 && b->set_count > 0) {  // the old keys were one set of all
            struct clause_list keys = tide__compare_list(c, a, "group_by");
            if (keys.count == b->sets[i].key_count) from = 0;
        }
        struct compat_step *step = add(
            c, pair, COMPAT_STEP_SET,
            tide__arena_printf(c->arena, "grouping set %s %s", text,
                               from >= 0 ? "goes on" : "is made of the others, or begins empty"));
        step->at = i;
        step->from = from;
    }
}

static void map_aggregates(struct check *c, struct pair *pair) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, "agg"),
                       distinct = tide__compare_list(c, pair->old_op, "agg.distinct");
    size_t old_count = olds.count + distinct.count, count = 0;
    bool same = true;
    for (size_t i = 0; i < pair->new_op->clause_count; i++) {
        const struct model_clause *clause = &pair->new_op->clauses[i];
        if (strncmp(clause->code, "agg", 3) != 0) continue;
        count++;
        same &= pair->from[clause->index] == (int32_t)clause->index && !pair->derived[clause->index];
    }
    for (size_t i = 0; i < pair->change_count; i++)
        same &= (pair->changes[i].needs & (COMPAT_CAN_AGGREGATES | COMPAT_CAN_WIDEN)) == 0;
    if (same && count == old_count) return;
    for (size_t i = 0; i < pair->new_op->clause_count; i++) {
        const struct model_clause *clause = &pair->new_op->clauses[i];
        if (strncmp(clause->code, "agg", 3) != 0) continue;
        bool derived = pair->derived[clause->index];
        int32_t from = pair->from[clause->index];
        const char *what = derived ? "is read from others" : from >= 0 ? "goes on" : "begins empty";
        struct compat_step *step = add(c, pair, derived ? COMPAT_STEP_DERIVE : COMPAT_STEP_AGGREGATE,
                                       tide__arena_printf(c->arena, "%s %s", clause->bare, what));
        step->at = clause->index;
        step->from = from;
        step->from2 = pair->from2[clause->index];
    }
}

static void aggregation(struct check *c, struct pair *pair) {
    purge(c, pair, "group_by", 0);
    map_sets(c, pair);
    uint32_t needs = 0;
    for (size_t i = 0; i < pair->change_count; i++) needs |= pair->changes[i].needs;
    if (pair->new_op->set_count == 0 && pair->old_op->set_count == 0)
        map_columns(c, pair, COMPAT_STEP_KEY, "group_by", "group_by", "group_by", 0);
    if ((needs & COMPAT_CAN_MERGE_GROUPS) != 0)
        add(c, pair, COMPAT_STEP_MERGE, "merge the groups that have one key now");
    if ((needs & (COMPAT_CAN_WINDOWS | COMPAT_CAN_SAME_WINDOWS)) != 0)
        add(c, pair, COMPAT_STEP_WINDOWS, "put the old panes into the new windows");
    map_aggregates(c, pair);
}

static void ranking(struct check *c, struct pair *pair) {
    uint32_t needs = 0;
    for (size_t i = 0; i < pair->change_count; i++) needs |= pair->changes[i].needs;
    purge(c, pair, "topn.input", 0);
    map_columns(c, pair, COMPAT_STEP_COLUMN, "topn.input", "topn.input", "topn.input", 0);
    if ((needs & COMPAT_CAN_MERGE_ROWS) != 0) {
        map_columns(c, pair, COMPAT_STEP_KEY, "topn.partition", "topn.partition", "topn.input", 0);
        add(c, pair, COMPAT_STEP_MERGE, "merge the partitions that have one key now");
    }
    const struct model_clause *limit = tide__compare_first(pair->new_op, "topn.limit");
    if ((needs & (COMPAT_CAN_TRUNCATE | COMPAT_CAN_MERGE_ROWS)) != 0 && limit != NULL)
        add(c, pair, COMPAT_STEP_TRUNCATE, tide__arena_printf(c->arena, "keep ranks up to %s", limit->text))
            ->value = limit->number;
}

static void join(struct check *c, struct pair *pair) {
    static const char *const swap[] = {"join.side_swap", NULL};
    static const char *const codes[] = {"join.input_schema", "join.input_schema_right"};
    bool swapped = has_code(pair, swap);
    if (swapped) add(c, pair, COMPAT_STEP_SWAP, "the sides change places");
    for (uint32_t side = 0; side < 2; side++) {
        const char *old_code = codes[swapped ? 1 - side : side];
        purge(c, pair, old_code, side);
        map_columns(c, pair, COMPAT_STEP_COLUMN, codes[side], old_code, old_code, side);
    }
}

// Sorted by arrival, rows don't wait.
static bool holds_nothing(const struct model_operator *op) {
    const struct plan_over *sort = &op->node->over;
    return op->node->kind == PLAN_SORT && sort->sort_count == 1 &&
           op->node->inputs[0]->fields[sort->sorts[0].column].type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
}

static void over(struct check *c, struct pair *pair) {
    bool sort = pair->new_op->node->kind == PLAN_SORT;
    if (holds_nothing(pair->old_op) && holds_nothing(pair->new_op)) {
        add(c, pair, COMPAT_STEP_EMPTY, "nothing is in it at a savepoint");
        return;
    }
    const char *columns = sort ? "sort.input" : "over.input";
    purge(c, pair, columns, 0);
    map_columns(c, pair, COMPAT_STEP_COLUMN, columns, columns, columns, 0);
    if (!sort) map_columns(c, pair, COMPAT_STEP_KEY, "over.partition", "over.partition", columns, 0);
    if (!sort) map_aggregates(c, pair);
}

static bool is_allowed(const struct pair *pair) {
    for (size_t i = 0; i < pair->change_count; i++)
        if (pair->changes[i].exact > COMPAT_PARTIAL) return false;
    return true;
}

static void take_steps(struct check *c, struct pair *pair) {
    switch (pair->new_op->node->kind) {
    case PLAN_WINDOW_AGGREGATE:
    case PLAN_GROUP_AGGREGATE: aggregation(c, pair); break;
    case PLAN_WINDOW_RANK:
    case PLAN_RANK: ranking(c, pair); break;
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN: join(c, pair); break;
    case PLAN_OVER:
    case PLAN_SORT: over(c, pair); break;
    default: break;
    }
}

void tide__steps(struct check *c, struct pair *pair) {
    const struct model_operator *op = pair->new_op != NULL ? pair->new_op : pair->old_op;
    if (!op->node->stateful) return;
    if (pair->new_op == NULL) {
        add(c, pair, COMPAT_STEP_DISCARD, "its state is dropped");
        return;
    }
    if (pair->old_op == NULL) {
        add(c, pair, op->finals ? COMPAT_STEP_EMPTY : COMPAT_STEP_NEW, "begins empty");
        return;
    }
    if (!is_allowed(pair) || pair->replaced) return;
    if (pair->new_op->finals && pair->old_op->finals) {
        add(c, pair, COMPAT_STEP_EMPTY, "nothing is in it at a savepoint");
        return;
    }
    take_steps(c, pair);
    if (pair->unsupported) {
        pair->step_count = 0;
        for (size_t i = 0; i < pair->change_count; i++) pair->changes[i].exact = COMPAT_INCOMPATIBLE;
        return;
    }
    if (pair->step_count == 0) add(c, pair, COMPAT_STEP_KEEP, "goes on as it is");
}
