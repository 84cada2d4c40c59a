// Which old operator belongs to which new one: by uid, by what it computes, by the sink of its query, by likeness; never by position.
// compat/README.md has the order. Sources are matched by their tables, sinks by their queries.
#include "checkpoint/compat/compare.h"

#include <stdlib.h>
#include <string.h>

static bool is_free(const struct check *c, const struct model_operator *old_op) {
    return c->pair_of_old[old_op->index] == 0;
}

static bool is_open(const struct check *c, const struct model_operator *new_op) {
    return c->pair_of_new[new_op->index] == 0;
}

static void pair_up(struct check *c, const struct model_operator *old_op, const struct model_operator *new_op,
                    const char *how) {
    c->pairs[c->pair_count] = (struct pair){.old_op = old_op, .new_op = new_op, .matched_by = how};
    c->pair_count++;
    if (old_op != NULL) c->pair_of_old[old_op->index] = (uint32_t)c->pair_count;
    if (new_op != NULL) c->pair_of_new[new_op->index] = (uint32_t)c->pair_count;
}

static bool is_source(const struct model_operator *op) {
    return op->node->kind == PLAN_SCAN || op->node->kind == PLAN_VALUES;
}

static bool is_state(const struct model_operator *op) {
    return !is_source(op) && op->node->kind != PLAN_SINK;
}

static const char *sink_name(const struct model *model, uint32_t root) {
    const struct plan_node *node = model->roots[root].node;
    return node->sink.kind == SINK_TABLE ? node->sink.table->name : "";
}

// --- by uid, by what it computes ----------------------------------------------------------------------------------------------

static bool same_uid(const struct model_operator *a, const struct model_operator *b) {
    return a->node->uid != NULL && b->node->uid != NULL && strcmp(a->node->uid, b->node->uid) == 0;
}

static void match_uids(struct check *c) {
    for (uint32_t i = 0; i < c->olds.operator_count; i++) {
        const struct model_operator *old_op = &c->olds.operators[i];
        for (uint32_t k = 0; k < c->news.operator_count && is_state(old_op) && is_free(c, old_op); k++) {
            const struct model_operator *new_op = &c->news.operators[k];
            if (!is_open(c, new_op) || !same_uid(old_op, new_op)) continue;
            if (strcmp(old_op->node->operator_id, new_op->node->operator_id) == 0) pair_up(c, old_op, new_op, "uid");
        }
    }
}

static void match_equal(struct check *c, bool same_sink) {
    for (uint32_t k = 0; k < c->news.operator_count; k++) {
        const struct model_operator *new_op = &c->news.operators[k];
        for (uint32_t i = 0; i < c->olds.operator_count && is_state(new_op) && is_open(c, new_op); i++) {
            const struct model_operator *old_op = &c->olds.operators[i];
            if (!is_free(c, old_op) || !is_state(old_op) || old_op->signature != new_op->signature) continue;
            if (same_sink && strcmp(sink_name(&c->olds, old_op->root), sink_name(&c->news, new_op->root)) != 0)
                continue;
            pair_up(c, old_op, new_op, "lineage");
        }
    }
}

// --- queries ------------------------------------------------------------------------------------------------------------------

struct likeness {
    int score;
    bool shared_source, shared_state;
};

static int same_clauses(const struct model_operator *a, const struct model_operator *b) {
    int same = 0;
    for (size_t i = 0; i < a->clause_count; i++) {
        for (size_t k = 0; k < b->clause_count; k++) {
            if (strcmp(a->clauses[i].code, b->clauses[k].code) != 0) continue;
            if (strcmp(a->clauses[i].bare, b->clauses[k].bare) != 0) continue;
            same++;
            break;
        }
    }
    return same;
}

static const char *source_text(const struct model_operator *op) {
    return op->clause_count > 0 ? op->clauses[0].text : "";
}

// How much two queries have in common.
static struct likeness compare_roots(const struct check *c, uint32_t old_root, uint32_t new_root) {
    struct likeness likeness = {0};
    for (uint32_t i = 0; i < c->olds.operator_count; i++) {
        const struct model_operator *a = &c->olds.operators[i];
        if (a->root != old_root) continue;
        for (uint32_t k = 0; k < c->news.operator_count; k++) {
            const struct model_operator *b = &c->news.operators[k];
            if (b->root != new_root) continue;
            if (is_source(a) && is_source(b) && strcmp(source_text(a), source_text(b)) == 0)
                likeness.shared_source = true;
            if (c->pair_of_new[b->index] != 0 && c->pair_of_new[b->index] == c->pair_of_old[a->index])
                likeness.shared_state = true;
            if (a->node->kind == b->node->kind && !is_source(a)) likeness.score += 1 + 2 * same_clauses(a, b);
        }
    }
    if (likeness.shared_state) likeness.score += 1000;
    return likeness;
}

static bool old_root_taken(const struct check *c, uint32_t old_root) {
    for (uint32_t r = 0; r < c->news.root_count; r++)
        if (c->root_of_new[r] == (int32_t)old_root) return true;
    return false;
}

static bool same_root_uid(const struct check *c, uint32_t old_root, uint32_t new_root) {
    return same_uid(&c->olds.operators[c->olds.roots[old_root].op], &c->news.operators[c->news.roots[new_root].op]);
}

enum root_rule { ROOT_UID, ROOT_STATE, ROOT_EQUAL_NAMED, ROOT_EQUAL, ROOT_NAMED };

static bool roots_fit(const struct check *c, uint32_t old_root, uint32_t new_root, enum root_rule rule) {
    bool named = strcmp(sink_name(&c->olds, old_root), sink_name(&c->news, new_root)) == 0;
    bool equal = c->olds.roots[old_root].signature == c->news.roots[new_root].signature;
    switch (rule) {
    case ROOT_UID: return same_root_uid(c, old_root, new_root);
    case ROOT_STATE: return compare_roots(c, old_root, new_root).shared_state;
    case ROOT_EQUAL_NAMED: return named && equal;
    case ROOT_EQUAL: return equal;
    case ROOT_NAMED: return named;
    }
    return false;
}

static void match_roots_by(struct check *c, enum root_rule rule) {
    for (uint32_t n = 0; n < c->news.root_count; n++) {
        int best = -1, best_score = -1;
        for (uint32_t o = 0; o < c->olds.root_count && c->root_of_new[n] < 0; o++) {
            if (old_root_taken(c, o) || !roots_fit(c, o, n, rule)) continue;
            int score = compare_roots(c, o, n).score +
                        (strcmp(sink_name(&c->olds, o), sink_name(&c->news, n)) == 0 ? 1 : 0);
            if (score <= best_score) continue;
            best = (int)o;
            best_score = score;
        }
        if (best >= 0) c->root_of_new[n] = best;
    }
}

// The most alike first. Two that are equally alike and not equal themselves: it can't be told.
static bool match_most_alike(struct check *c) {
    int best = 0, best_old = -1, best_new = -1;
    bool tie = false;
    for (uint32_t n = 0; n < c->news.root_count; n++) {
        for (uint32_t o = 0; o < c->olds.root_count && c->root_of_new[n] < 0; o++) {
            if (old_root_taken(c, o)) continue;
            struct likeness likeness = compare_roots(c, o, n);
            if (!likeness.shared_source || likeness.score < best || likeness.score == 0) continue;
            bool touches = (int)o == best_old || (int)n == best_new;
            bool twin = best_old >= 0 && c->olds.roots[o].signature == c->olds.roots[best_old].signature &&
                        c->news.roots[n].signature == c->news.roots[best_new].signature;
            if (likeness.score == best) {
                tie |= touches && !twin;
                continue;
            }
            best = likeness.score;
            best_old = (int)o;
            best_new = (int)n;
            tie = false;
        }
    }
    if (best_old < 0) return false;
    c->root_of_new[best_new] = best_old;
    c->root_ambiguous[best_new] = tie;
    return true;
}

static void match_roots(struct check *c) {
    match_roots_by(c, ROOT_UID);
    match_roots_by(c, ROOT_STATE);
    match_roots_by(c, ROOT_EQUAL_NAMED);
    match_roots_by(c, ROOT_EQUAL);
    match_roots_by(c, ROOT_NAMED);
    while (match_most_alike(c)) {}
    for (uint32_t n = 0; n < c->news.root_count; n++) {
        if (c->root_of_new[n] < 0) continue;
        struct likeness likeness = compare_roots(c, (uint32_t)c->root_of_new[n], n);
        c->root_replaced[n] = !likeness.shared_source && !likeness.shared_state;
    }
    // One query each, and nothing in common: the script was given another one.
    if (c->news.root_count == 1 && c->olds.root_count == 1 && c->root_of_new[0] < 0) {
        c->root_of_new[0] = 0;
        c->root_replaced[0] = true;
    }
}

// --- within a query ---------------------------------------------------------------------------------------------------------

// Kinds that stand for each other when a query is edited: with a window or without.
static enum plan_kind family_of(enum plan_kind kind) {
    switch (kind) {
    case PLAN_GROUP_AGGREGATE: return PLAN_WINDOW_AGGREGATE;
    case PLAN_RANK: return PLAN_WINDOW_RANK;
    case PLAN_JOIN: return PLAN_WINDOW_JOIN;
    default: return kind;
    }
}

static const char *root_reason(const struct check *c, uint32_t new_root) {
    uint32_t old_root = (uint32_t)c->root_of_new[new_root];
    if (same_root_uid(c, old_root, new_root)) return "uid";
    if (strcmp(sink_name(&c->olds, old_root), sink_name(&c->news, new_root)) == 0) return "sink";
    return "likeness";
}

// The free old operator of the query that fits best; the first of those that fit equally well.
static const struct model_operator *best_old(const struct check *c, const struct model_operator *new_op, bool family) {
    const struct model_operator *best = NULL;
    int best_score = -1;
    for (uint32_t i = 0; i < c->olds.operator_count; i++) {
        const struct model_operator *old_op = &c->olds.operators[i];
        if (!is_free(c, old_op) || !is_state(old_op) || (int32_t)old_op->root != c->root_of_new[new_op->root]) continue;
        if (family ? family_of(old_op->node->kind) != family_of(new_op->node->kind)
                   : old_op->node->kind != new_op->node->kind)
            continue;
        int score = same_clauses(old_op, new_op);
        if (score <= best_score) continue;
        best = old_op;
        best_score = score;
    }
    return best;
}

static uint32_t count_kind(const struct check *c, const struct model *model, uint32_t root, enum plan_kind kind,
                           const uint32_t *pairs) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->operator_count; i++)
        n += model->operators[i].root == root && model->operators[i].node->kind == kind && pairs[i] == 0;
    (void)c;
    return n;
}

static const struct model_operator *first_old(const struct check *c, const struct model_operator *new_op) {
    for (uint32_t i = 0; i < c->olds.operator_count; i++) {
        const struct model_operator *old_op = &c->olds.operators[i];
        if (is_free(c, old_op) && (int32_t)old_op->root == c->root_of_new[new_op->root] &&
            old_op->node->kind == new_op->node->kind)
            return old_op;
    }
    return NULL;
}

static void match_within(struct check *c, bool family) {
    for (uint32_t k = 0; k < c->news.operator_count; k++) {
        const struct model_operator *new_op = &c->news.operators[k];
        if (!is_state(new_op) || !is_open(c, new_op) || c->root_of_new[new_op->root] < 0) continue;
        if (c->root_replaced[new_op->root]) continue;
        uint32_t old_root = (uint32_t)c->root_of_new[new_op->root];
        enum plan_kind kind = new_op->node->kind;
        bool as_many = count_kind(c, &c->olds, old_root, kind, c->pair_of_old) ==
                       count_kind(c, &c->news, new_op->root, kind, c->pair_of_new);
        const struct model_operator *old_op = as_many && !family ? first_old(c, new_op) : best_old(c, new_op, family);
        if (old_op != NULL) pair_up(c, old_op, new_op, root_reason(c, new_op->root));
    }
}

// --- sources and sinks ------------------------------------------------------------------------------------------------------

// What reads the source, if that is one filter or projection.
static const struct plan_node *reader_of(const struct model_operator *op) {
    const struct plan_node *reader = NULL;
    const struct plan *plan = op->plan;
    for (uint32_t i = 0; i < plan->node_count; i++)
        for (uint32_t k = 0; k < plan->nodes[i]->input_count; k++)
            if (plan->nodes[i]->inputs[k] == op->node) reader = plan->nodes[i];
    return reader;
}

static bool same_expr(const struct expr *a, const struct expr *b) {
    return a == NULL || b == NULL ? a == b : tide__expr_equal(a, b);
}

// A table that is read twice, as by the inputs of a UNION ALL, has two positions: each goes to where the same is done with its rows.
static bool same_reader(const struct model_operator *old_op, const struct model_operator *new_op) {
    const struct plan_node *a = reader_of(old_op), *b = reader_of(new_op);
    if (a == NULL || b == NULL || a->kind != b->kind) return a == b;
    if (a->kind != PLAN_CALC) return true;
    if (a->field_count != b->field_count || !same_expr(a->calc.condition, b->calc.condition)) return false;
    for (uint32_t i = 0; i < a->field_count; i++)
        if (!same_expr(a->calc.outputs[i], b->calc.outputs[i])) return false;
    return true;
}

static void match_sources(struct check *c, bool same_query, bool alike) {
    for (uint32_t k = 0; k < c->news.operator_count; k++) {
        const struct model_operator *new_op = &c->news.operators[k];
        for (uint32_t i = 0; i < c->olds.operator_count && is_source(new_op) && is_open(c, new_op); i++) {
            const struct model_operator *old_op = &c->olds.operators[i];
            if (!is_free(c, old_op) || old_op->node->kind != new_op->node->kind) continue;
            if (same_query && (int32_t)old_op->root != c->root_of_new[new_op->root]) continue;
            bool values = new_op->node->kind == PLAN_VALUES;
            if (values ? !same_query : strcmp(source_text(old_op), source_text(new_op)) != 0) continue;
            if (alike && !same_reader(old_op, new_op)) continue;
            pair_up(c, old_op, new_op, "lineage");
        }
    }
}

static void match_sinks(struct check *c) {
    for (uint32_t n = 0; n < c->news.root_count; n++)
        if (c->root_of_new[n] >= 0 && !c->root_replaced[n])
            pair_up(c, &c->olds.operators[c->olds.roots[c->root_of_new[n]].op], &c->news.operators[c->news.roots[n].op],
                    root_reason(c, n));
}

static int by_new_operator(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    uint32_t i = x->new_op != NULL ? x->new_op->index : UINT32_MAX,
             k = y->new_op != NULL ? y->new_op->index : UINT32_MAX;
    if (i != k) return i < k ? -1 : 1;
    if (i != UINT32_MAX) return 0;
    return x->old_op->index < y->old_op->index ? -1 : 1;
}

void tide__compare_match(struct check *c) {
    size_t all = c->olds.operator_count + c->news.operator_count;
    c->pairs = ARENA_ARRAY(c->arena, struct pair, all + 2);
    c->pair_of_old = ARENA_ARRAY(c->arena, uint32_t, c->olds.operator_count + 1);
    c->pair_of_new = ARENA_ARRAY(c->arena, uint32_t, c->news.operator_count + 1);
    c->root_of_new = ARENA_ARRAY(c->arena, int32_t, c->news.root_count + 1);
    c->root_replaced = ARENA_ARRAY(c->arena, bool, c->news.root_count + 1);
    c->root_ambiguous = ARENA_ARRAY(c->arena, bool, c->news.root_count + 1);
    for (uint32_t n = 0; n < c->news.root_count; n++) c->root_of_new[n] = -1;
    match_uids(c);
    match_equal(c, true);
    match_equal(c, false);
    match_roots(c);
    match_within(c, false);
    match_within(c, true);
    match_sources(c, true, true);
    match_sources(c, true, false);
    match_sources(c, false, false);
    match_sinks(c);
    for (uint32_t k = 0; k < c->news.operator_count; k++)
        if (is_open(c, &c->news.operators[k])) pair_up(c, NULL, &c->news.operators[k], NULL);
    for (uint32_t i = 0; i < c->olds.operator_count; i++)
        if (is_free(c, &c->olds.operators[i])) pair_up(c, &c->olds.operators[i], NULL, NULL);
    qsort(c->pairs, c->pair_count, sizeof *c->pairs, by_new_operator);
    for (size_t p = 0; p < c->pair_count; p++) {
        if (c->pairs[p].old_op != NULL) c->pair_of_old[c->pairs[p].old_op->index] = (uint32_t)p + 1;
        if (c->pairs[p].new_op != NULL) c->pair_of_new[c->pairs[p].new_op->index] = (uint32_t)p + 1;
    }
}
