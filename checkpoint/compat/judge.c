// What a change does further up. An aggregate that begins empty is harmless as a result column and ruins what decides about rows; rows
// that are others than before ruin the state of whatever has kept the old ones.
#include "checkpoint/compat/compare.h"

#include <string.h>

// --- aggregates that begin empty ----------------------------------------------------------------------------------------------

// [operator][aggregate]: it begins empty, or is computed from such a one.
struct marks {
    bool **of;
};

static bool is_marked(void *ctx, const struct model *model, uint32_t leaf) {
    const struct marks *marks = ctx;
    const struct leaf *l = &model->leaves[leaf];
    return l->kind == LEAF_AGGREGATE && l->op != UINT32_MAX && marks->of[l->op][l->index];
}

static bool clause_reads(const struct check *c, const struct model_clause *clause, struct marks *marks) {
    return tide__model_reads(&c->news, clause->expr, is_marked, marks) ||
           tide__model_reads(&c->news, clause->expr2, is_marked, marks) ||
           tide__model_reads(&c->news, clause->filter, is_marked, marks);
}

static bool is_decisive(const char *code) {
    static const char *const codes[] = {
        "group_by",       "topn.partition", "topn.order_by",       "filter",
        "having",         "output.filter",  "join.condition_equi", "join.condition_nonequi",
        "over.partition", "over.order_by",  "sort.order_by"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(code, codes[i]) == 0) return true;
    return false;
}

static struct marks no_marks(const struct check *c) {
    struct marks marks = {ARENA_ARRAY(c->arena, bool *, c->news.operator_count + 1)};
    for (uint32_t i = 0; i < c->news.operator_count; i++)
        marks.of[i] = ARENA_ARRAY(c->arena, bool, c->news.operators[i].clause_count + 1);
    return marks;
}

// Marks what is computed from what is marked; gives the operator where it decides about rows, or NULL.
static const struct model_operator *spread(const struct check *c, struct marks *marks) {
    for (uint32_t i = 0; i < c->news.operator_count; i++) {
        const struct model_operator *op = &c->news.operators[i];
        for (size_t k = 0; k < op->clause_count; k++) {
            const struct model_clause *clause = &op->clauses[k];
            if (!clause_reads(c, clause, marks)) continue;
            if (is_decisive(clause->code)) return op;
            if (strncmp(clause->code, "agg", 3) == 0) marks->of[i][clause->index] = true;
        }
    }
    return NULL;
}

static void judge_restart(struct check *c, const struct pair *pair, struct change *change) {
    struct marks marks = no_marks(c);
    marks.of[pair->new_op->index][change->restarts] = true;
    const struct model_operator *where = spread(c, &marks);
    if (where == NULL) return;
    change->exact = COMPAT_INCOMPATIBLE;
    change->note = tide__arena_printf(c->arena, "%s decides by it which rows there are", where->node->operator_id);
}

// --- rows that are others -----------------------------------------------------------------------------------------------------

// SUM over SUM or COUNT, MIN over MIN, MAX over MAX: merged groups below change nothing.
static bool is_associative(const struct check *c, const struct model_clause *outer, uint32_t below) {
    if (outer->call == NULL || outer->call->distinct || outer->filter != NULL || outer->expr == NULL) return false;
    if (outer->expr->kind != EXPR_COLUMN) return false;
    const struct leaf *leaf = &c->news.leaves[outer->expr->column];
    if (leaf->kind != LEAF_AGGREGATE || leaf->op != below) return false;
    const struct model_operator *op = &c->news.operators[below];
    const char *inner = NULL, *name = outer->call->aggregate->name;
    for (size_t i = 0; i < op->clause_count; i++) {
        const struct model_clause *clause = &op->clauses[i];
        if (strncmp(clause->code, "agg", 3) == 0 && clause->index == leaf->index && clause->call != NULL &&
            !clause->call->distinct)
            inner = clause->call->aggregate->name;
    }
    if (inner == NULL || outer->call->arg_types[0]->kind == TYPE_DOUBLE ||
        outer->call->arg_types[0]->kind == TYPE_FLOAT)
        return false;
    if (strcmp(name, "SUM") == 0) return strcmp(inner, "SUM") == 0 || strcmp(inner, "COUNT") == 0;
    return (strcmp(name, "MIN") == 0 || strcmp(name, "MAX") == 0) && strcmp(inner, name) == 0;
}

static bool is_aggregate_of(void *ctx, const struct model *model, uint32_t leaf) {
    return model->leaves[leaf].kind == LEAF_AGGREGATE && model->leaves[leaf].op == *(const uint32_t *)ctx;
}

// The groups below were merged. Whether the aggregation above stands that; others of its aggregates than associative ones begin empty.
static bool stands_merging(struct check *c, struct pair *above, uint32_t below, struct change *change) {
    const struct model_operator *op = above->new_op;
    if (op->node->kind != PLAN_WINDOW_AGGREGATE && op->node->kind != PLAN_GROUP_AGGREGATE) return false;
    for (size_t i = 0; i < op->clause_count; i++) {
        const struct model_clause *clause = &op->clauses[i];
        bool key = strcmp(clause->code, "group_by") == 0 || strcmp(clause->code, "having") == 0;
        if (key && tide__model_reads(&c->news, clause->expr, is_aggregate_of, &below)) return false;
        if (strncmp(clause->code, "agg", 3) != 0 || above->from[clause->index] < 0) continue;
        if (is_associative(c, clause, below)) {
            change->needs |= COMPAT_CAN_SUM_OF_SUMS;
            continue;
        }
        struct marks marks = no_marks(c);
        marks.of[op->index][clause->index] = true;
        if (spread(c, &marks) != NULL) return false;
        above->from[clause->index] = -1;
        above->restarts[clause->index] = true;
        change->needs |= COMPAT_CAN_AGGREGATES;
        if (change->exact < COMPAT_PARTIAL) change->exact = COMPAT_PARTIAL;
        change->note = tide__arena_printf(c->arena, "%s of %s begins empty", clause->bare, op->node->operator_id);
    }
    return true;
}

static void judge_rows(struct check *c, const struct pair *pair, struct change *change,
                       const struct model_operator *from, bool merges) {
    for (uint32_t i = from->index + 1; i < c->news.operator_count && change->exact <= COMPAT_UNKNOWN; i++) {
        const struct model_operator *op = &c->news.operators[i];
        bool reads = false;
        for (uint32_t k = 0; k < op->input_count; k++) reads |= op->inputs[k] == from->index;
        if (!reads || op->node->kind == PLAN_SINK) continue;
        struct pair *above = tide__compare_pair(c, op);
        if (above->old_op == NULL && !op->finals) continue;  // new itself
        if (op->finals) {
            judge_rows(c, pair, change, op, false);
            continue;
        }
        if (merges && above->from != NULL && stands_merging(c, above, from->index, change)) continue;
        change->exact = COMPAT_INCOMPATIBLE;
        change->note = tide__arena_printf(c->arena, "%s has kept the old rows", op->node->operator_id);
    }
}

// --- all ----------------------------------------------------------------------------------------------------------------------

// What follows from a changed table is said there.
static void fold_sources(struct check *c) {
    enum compat_verdict strict = COMPAT_COMPATIBLE, exact = COMPAT_COMPATIBLE;
    const char *note = NULL;
    for (size_t p = 0; p < c->pair_count; p++) {
        for (size_t i = 0; i < c->pairs[p].change_count; i++) {
            const struct change *change = &c->pairs[p].changes[i];
            if (!change->by_source) continue;
            if (change->exact > exact) note = change->note;
            strict = change->strict > strict ? change->strict : strict;
            exact = change->exact > exact ? change->exact : exact;
        }
    }
    for (size_t p = 0; p < c->pair_count; p++) {
        for (size_t i = 0; i < c->pairs[p].change_count; i++) {
            struct change *change = &c->pairs[p].changes[i];
            if (change->by_source) continue;
            bool computed = strcmp(change->code, "source.computed_column") == 0;
            if (!computed && (strcmp(change->code, "source.column_type") != 0 || change->exact == COMPAT_COMPATIBLE))
                continue;
            if (computed) {
                change->strict = strict;
                change->exact = exact;
            }
            if (exact > change->exact) change->exact = exact;
            if (change->note == NULL) change->note = note;
        }
    }
}

void tide__judge(struct check *c) {
    for (size_t p = 0; p < c->pair_count; p++) {
        struct pair *pair = &c->pairs[p];
        for (size_t i = 0; i < pair->change_count; i++) {
            struct change *change = &pair->changes[i];
            if (change->restarts >= 0 && change->exact == COMPAT_PARTIAL) judge_restart(c, pair, change);
            if (change->rows && change->exact < COMPAT_INCOMPATIBLE && pair->new_op != NULL)
                judge_rows(c, pair, change, pair->new_op, change->merges);
        }
    }
    fold_sources(c);
}
