// The check: models of both scripts, their operators matched, what has changed in each, the judgement, and the report.
#include "checkpoint/compat/compare.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tide__compat_verdict_name(enum compat_verdict verdict) {
    switch (verdict) {
    case COMPAT_COMPATIBLE: return "compatible";
    case COMPAT_PARTIAL: return "partial";
    case COMPAT_INCOMPATIBLE: return "incompatible";
    case COMPAT_UNKNOWN: return "unknown";
    }
    return "unknown";
}

static enum compat_verdict worse(enum compat_verdict a, enum compat_verdict b) {
    return a > b ? a : b;
}

// --- changes ----------------------------------------------------------------------------------------------------------------

struct change *tide__compare_add(struct check *c, struct pair *pair, const char *code, enum compat_verdict strict,
                                 enum compat_verdict exact) {
    pair->changes = tide__grow(pair->changes, &pair->change_cap, pair->change_count + 1, sizeof *pair->changes);
    struct change *change = &pair->changes[pair->change_count++];
    *change = (struct change){.code = code, .strict = strict, .exact = exact, .restarts = -1};
    (void)c;
    return change;
}

struct change *tide__compare_clause(struct check *c, struct pair *pair, const char *code,
                                    const struct model_clause *old_clause, const struct model_clause *new_clause,
                                    enum compat_verdict strict, enum compat_verdict exact) {
    struct change *change = tide__compare_add(c, pair, code, strict, exact);
    change->old_clause = old_clause;
    change->new_clause = new_clause;
    return change;
}

// --- clauses ----------------------------------------------------------------------------------------------------------------

struct clause_list tide__compare_list(const struct check *c, const struct model_operator *op, const char *code) {
    struct clause_list list = {.items = ARENA_ARRAY(c->arena, const struct model_clause *, op->clause_count + 1)};
    for (size_t i = 0; i < op->clause_count; i++)
        if (strcmp(op->clauses[i].code, code) == 0) list.items[list.count++] = &op->clauses[i];
    return list;
}

const struct model_clause *tide__compare_first(const struct model_operator *op, const char *code) {
    for (size_t i = 0; i < op->clause_count; i++)
        if (strcmp(op->clauses[i].code, code) == 0) return &op->clauses[i];
    return NULL;
}

void tide__compare_take_common(struct clause_list *a, struct clause_list *b) {
    size_t kept = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t at = 0;
        while (at < b->count && strcmp(a->items[i]->bare, b->items[at]->bare) != 0) at++;
        if (at == b->count) {
            a->items[kept++] = a->items[i];
            continue;
        }
        memmove(&b->items[at], &b->items[at + 1], (b->count - at - 1) * sizeof *b->items);
        b->count--;
    }
    a->count = kept;
}

bool tide__compare_same_order(const struct clause_list *a, const struct clause_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i]->bare, b->items[i]->bare) != 0) return false;
    return true;
}

struct changed_leaves {
    const struct check *c;
    enum source_state worst;
};

static bool note_changed(void *ctx, const struct model *model, uint32_t leaf) {
    struct changed_leaves *found = ctx;
    const struct leaf *l = &model->leaves[leaf];
    if (l->kind != LEAF_COLUMN || l->op == UINT32_MAX) return false;
    const struct plan_node *node = model->operators[l->op].node;
    if (node->kind != PLAN_SCAN) return false;
    for (size_t i = 0; i < found->c->column_count; i++) {
        const struct source_column *column = &found->c->columns[i];
        if (strcmp(column->table->name, node->scan.table->name) != 0 || column->column != l->index) continue;
        if (column->state > found->worst) found->worst = column->state;
    }
    return false;
}

enum source_state tide__compare_reads_changed(const struct check *c, const struct model_clause *clause) {
    struct changed_leaves found = {c, SOURCE_SAME};
    tide__model_reads(&c->news, clause->expr, note_changed, &found);
    tide__model_reads(&c->news, clause->expr2, note_changed, &found);
    tide__model_reads(&c->news, clause->filter, note_changed, &found);
    return found.worst;
}

bool tide__compare_is(const struct pair *pair, enum plan_kind kind) {
    return pair->new_op != NULL && pair->new_op->node->kind == kind;
}

struct pair *tide__compare_pair(const struct check *c, const struct model_operator *new_op) {
    return &c->pairs[c->pair_of_new[new_op->index] - 1];
}

const struct model_operator *tide__compare_above(const struct model *model, const struct model_operator *op) {
    const struct model_operator *above = NULL;
    for (uint32_t i = op->index + 1; i < model->operator_count; i++) {
        for (uint32_t k = 0; k < model->operators[i].input_count; k++) {
            if (model->operators[i].inputs[k] != op->index) continue;
            if (above != NULL && above != &model->operators[i]) return NULL;
            above = &model->operators[i];
        }
    }
    return above;
}

bool tide__compare_below_topn(const struct check *c, const struct pair *pair) {
    const struct model_operator *above = pair->new_op != NULL ? tide__compare_above(&c->news, pair->new_op)
                                                              : tide__compare_above(&c->olds, pair->old_op);
    return above != NULL && above->node->kind == PLAN_WINDOW_RANK && above->finals;
}

const struct expr *tide__compare_over(const struct check *c, const struct pair *pair, const struct expr *expr,
                                      const char *code) {
    const struct model_operator *old_op = pair->old_op;
    struct model_clause *columns = ARENA_ARRAY(c->arena, struct model_clause, old_op->clause_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < old_op->clause_count; i++)
        if (strcmp(old_op->clauses[i].code, code) == 0) columns[count++] = old_op->clauses[i];
    return tide__model_over(&c->news, expr, columns, count, c->arena);
}

// --- what follows from what -----------------------------------------------------------------------------------------------

static const char *replace_all(struct arena *arena, const char *text, const char *from, const char *to) {
    struct strbuf out = {0};
    size_t len = strlen(from);
    const char *at = text;
    for (const char *found; len > 0 && (found = strstr(at, from)) != NULL; at = found + len) {
        tide__strbuf_append(&out, at, (size_t)(found - at));
        tide__strbuf_append_c(&out, to);
    }
    tide__strbuf_append_c(&out, at);
    const char *result = tide__arena_strndup(arena, out.data != NULL ? out.data : "", out.len);
    tide__strbuf_deinit(&out);
    return result;
}

// Whether it reads what the change has added or taken away.
static bool follows_from(const struct check *c, const struct change *change, const struct model_clause *a,
                         const struct model_clause *b) {
    const struct model_clause *old = change->old_clause, *now = change->new_clause;
    if (a != NULL && b != NULL && old != NULL && now != NULL)
        return strcmp(replace_all(c->arena, a->bare, old->bare, now->bare), b->bare) == 0;
    if (a == NULL && b != NULL && now != NULL) return strstr(b->bare, now->bare) != NULL;
    if (b == NULL && a != NULL && old != NULL) return strstr(a->bare, old->bare) != NULL;
    return false;
}

bool tide__compare_explained(const struct check *c, const struct pair *pair, const struct model_clause *a,
                             const struct model_clause *b) {
    for (uint32_t i = 0; i < pair->new_op->input_count; i++) {
        const struct model_operator *input = &c->news.operators[pair->new_op->inputs[i]];
        const struct pair *below = tide__compare_pair(c, input);
        for (size_t k = 0; k < below->change_count; k++) {
            bool made = strncmp(below->changes[k].code, "agg.", 4) == 0 ||
                        strncmp(below->changes[k].code, "calc.", 5) == 0 ||
                        strncmp(below->changes[k].code, "group_by.", 9) == 0 || below->changes[k].by_source;
            if (!made) continue;
            if (follows_from(c, &below->changes[k], a, b)) return true;
            for (size_t m = 0; m < below->change_count; m++) {  // one is gone, another is new
                struct change both = {.old_clause = below->changes[k].old_clause,
                                      .new_clause = below->changes[m].new_clause};
                if (m != k && follows_from(c, &both, a, b)) return true;
            }
        }
        if (below->new_op->node->kind != PLAN_SCAN && tide__compare_explained(c, below, a, b)) return true;
    }
    return false;
}

struct leaf_set {
    bool *in;
};

static bool add_leaf(void *ctx, const struct model *model, uint32_t leaf) {
    ((struct leaf_set *)ctx)->in[leaf] = true;
    (void)model;
    return false;
}

static bool is_in_set(void *ctx, const struct model *model, uint32_t leaf) {
    (void)model;
    return ((struct leaf_set *)ctx)->in[leaf];
}

static bool is_stored_column(const char *code) {
    return strstr(code, ".input") != NULL && strcmp(code, "union.input") != 0;
}

bool tide__compare_needed(const struct model *model, const struct model_operator *op,
                          const struct model_clause *column) {
    if (column->expr == NULL) return true;
    struct leaf_set set = {ARENA_ARRAY(model->arena, bool, model->leaf_count + 1)};
    tide__model_reads(model, column->expr, add_leaf, &set);
    for (uint32_t i = op->index; i < model->operator_count; i++) {
        const struct model_operator *other = &model->operators[i];
        if (other->plan != op->plan) continue;
        for (size_t k = 0; k < other->clause_count; k++) {
            const struct model_clause *clause = &other->clauses[k];
            if (is_stored_column(clause->code)) continue;
            if (tide__model_reads(model, clause->expr, is_in_set, &set) ||
                tide__model_reads(model, clause->expr2, is_in_set, &set) ||
                tide__model_reads(model, clause->filter, is_in_set, &set))
                return true;
        }
    }
    return false;
}

// --- operators --------------------------------------------------------------------------------------------------------------

static bool is_state(const struct model_operator *op) {
    return op->node->kind != PLAN_SCAN && op->node->kind != PLAN_VALUES && op->node->kind != PLAN_SINK;
}

static void compare_replaced(struct check *c, struct pair *pair) {
    const struct model_operator *old_op = pair->old_op, *new_op = pair->new_op;
    enum plan_kind from = old_op->node->kind, to = new_op->node->kind;
    const char *code = "operator.replaced";
    if ((from == PLAN_WINDOW_AGGREGATE && to == PLAN_GROUP_AGGREGATE) ||
        (from == PLAN_GROUP_AGGREGATE && to == PLAN_WINDOW_AGGREGATE))
        code = "group_by.window_cols";
    if ((from == PLAN_WINDOW_RANK && to == PLAN_RANK) || (from == PLAN_RANK && to == PLAN_WINDOW_RANK))
        code = "topn.window_cols";
    struct change *change = tide__compare_clause(c, pair, code, NULL, NULL, COMPAT_INCOMPATIBLE, COMPAT_INCOMPATIBLE);
    change->message = tide__arena_printf(c->arena, "it was a %s and is a %s", old_op->kind, new_op->kind);
    static const char *const places[] = {"group_by", "topn.partition", "join.type"};
    for (size_t i = 0; i < 3 && change->old_clause == NULL; i++)
        change->old_clause = tide__compare_first(old_op, places[i]);
    for (size_t i = 0; i < 3 && change->new_clause == NULL; i++)
        change->new_clause = tide__compare_first(new_op, places[i]);
    change->rows = true;
    pair->reset = pair->replaced = true;
}

static void compare_pair(struct check *c, struct pair *pair) {
    if (pair->old_op->node->kind != pair->new_op->node->kind) {
        compare_replaced(c, pair);
        return;
    }
    tide__compare_unions(c, pair);
    switch (pair->new_op->node->kind) {
    case PLAN_WINDOW_TVF:
    case PLAN_WINDOW_AGGREGATE:
    case PLAN_GROUP_AGGREGATE:
        tide__compare_windows(c, pair);
        tide__compare_keys(c, pair);
        tide__compare_aggregates(c, pair);
        tide__compare_filters(c, pair);
        break;
    case PLAN_WINDOW_RANK:
    case PLAN_RANK:
        tide__compare_windows(c, pair);
        tide__compare_rank(c, pair);
        tide__compare_filters(c, pair);
        break;
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN:
        tide__compare_windows(c, pair);
        tide__compare_join(c, pair);
        tide__compare_filters(c, pair);
        break;
    case PLAN_OVER:
    case PLAN_SORT:
        tide__compare_over_sort(c, pair);
        tide__compare_aggregates(c, pair);
        tide__compare_filters(c, pair);
        break;
    case PLAN_SINK: tide__compare_sink(c, pair); break;
    default: break;
    }
}

// Whether anything below keeps state.
static bool has_state_below(const struct model *model, const struct model_operator *op) {
    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct model_operator *input = &model->operators[op->inputs[i]];
        if (is_state(input) || has_state_below(model, input)) return true;
    }
    return false;
}

static void compare_added(struct check *c, struct pair *pair) {
    const struct model_operator *op = pair->new_op;
    int32_t old_root = c->root_of_new[op->root];
    bool replaced = old_root >= 0 && c->root_replaced[op->root];
    pair->reset = is_state(op) && !op->finals;
    if (op->node->kind == PLAN_SINK) {
        if (replaced) {
            tide__compare_clause(c, pair, "query.replaced", NULL, tide__compare_first(op, "sink.table"),
                                 COMPAT_INCOMPATIBLE, COMPAT_INCOMPATIBLE);
            return;
        }
        bool state = has_state_below(&c->news, op);
        tide__compare_clause(c, pair, state ? "sink.added_stateful" : "sink.added_stateless", NULL,
                             tide__compare_first(op, "sink.table"), state ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE,
                             state ? COMPAT_PARTIAL : COMPAT_COMPATIBLE)
            ->needs = state ? COMPAT_CAN_PARTIAL_NEW : 0;
        return;
    }
    if (!is_state(op) || old_root < 0 || replaced) return;
    struct change *change = tide__compare_clause(c, pair, "operator.added", NULL, &op->clauses[0], COMPAT_INCOMPATIBLE,
                                                 op->finals ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->needs = op->finals ? COMPAT_CAN_PARTIAL_NEW : 0;
    change->message = tide__arena_printf(c->arena, "a %s is new", op->kind);
    change->rows = true;
}

// Is its query still there?
static int32_t new_root_of(const struct check *c, uint32_t old_root) {
    for (uint32_t n = 0; n < c->news.root_count; n++)
        if (c->root_of_new[n] == (int32_t)old_root) return (int32_t)n;
    return -1;
}

// Rows of the new script's operators above do not come through it any more.
static void compare_removed(struct check *c, struct pair *pair) {
    const struct model_operator *op = pair->old_op;
    int32_t new_root = new_root_of(c, op->root);
    if (op->node->kind == PLAN_SINK) {
        if (new_root < 0)
            tide__compare_clause(c, pair, "sink.removed", tide__compare_first(op, "sink.table"), NULL,
                                 COMPAT_COMPATIBLE, COMPAT_COMPATIBLE);
        return;
    }
    if (!is_state(op) || new_root < 0 || c->root_replaced[new_root]) return;
    const struct model_operator *above = tide__compare_above(&c->olds, op);
    bool harmless = op->finals && above != NULL && above->node->kind == PLAN_SINK;
    struct change *change = tide__compare_clause(c, pair, "operator.removed", &op->clauses[0], NULL,
                                                 COMPAT_INCOMPATIBLE,
                                                 harmless ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE);
    change->needs = harmless ? COMPAT_CAN_PARTIAL_NEW : 0;
    change->message = tide__arena_printf(c->arena, "the %s is gone", op->kind);
}

static void compare_ambiguous(struct check *c) {
    for (uint32_t n = 0; n < c->news.root_count; n++) {
        if (!c->root_ambiguous[n]) continue;
        const struct model_operator *sink = &c->news.operators[c->news.roots[n].op];
        struct pair *pair = tide__compare_pair(c, sink);
        tide__compare_clause(c, pair, "operator.ambiguous", NULL, tide__compare_first(sink, "sink.table"),
                             COMPAT_UNKNOWN, COMPAT_UNKNOWN);
    }
}

// --- several kinds of change at once ----------------------------------------------------------------------------------------

static bool begins(const char *code, const char *prefix) {
    return strncmp(code, prefix, strlen(prefix)) == 0;
}

// The published checks can't tell where aggregates, sinks and conditions have changed together.
static void compare_multi(struct check *c) {
    bool aggregates = false, sinks = false, filters = false, incompatible = false;
    for (size_t p = 0; p < c->pair_count; p++) {
        for (size_t i = 0; i < c->pairs[p].change_count; i++) {
            const struct change *change = &c->pairs[p].changes[i];
            aggregates |= begins(change->code, "agg.");
            sinks |= begins(change->code, "sink.") && strcmp(change->code, "sink.schema") != 0;
            filters |= begins(change->code, "filter.");
            incompatible |= change->strict == COMPAT_INCOMPATIBLE;
        }
    }
    if (incompatible || aggregates + sinks + filters < 2) return;
    struct change *change = tide__compare_add(c, c->script, "multi", COMPAT_UNKNOWN, COMPAT_COMPATIBLE);
    change->message = tide__arena_printf(c->arena, "%s%s%s have changed together", aggregates ? "aggregates" : "sinks",
                                         aggregates && sinks ? " and sinks" : "", filters ? " and conditions" : "");
}

// --- the report -------------------------------------------------------------------------------------------------------------

static uint64_t fingerprint(const struct pair *pair, const struct change *change) {
    const struct model_operator *op = pair->new_op != NULL ? pair->new_op : pair->old_op;
    const char *parts[] = {change->code, op != NULL ? op->kind : "script",
                           change->old_clause != NULL ? change->old_clause->text : "",
                           change->new_clause != NULL ? change->new_clause->text : ""};
    uint64_t hash = 0;
    for (size_t i = 0; i < 4; i++) hash = tide__hash_checksum(parts[i], strlen(parts[i]) + 1, hash);
    return hash;
}

static const char *message_of(struct check *c, const struct compat_rule *rule, const struct change *change) {
    if (change->message != NULL) return change->message;
    const struct model_clause *a = change->old_clause, *b = change->new_clause;
    if (a == NULL && b == NULL) return tide__arena_printf(c->arena, "%s has changed", rule->what);
    if (a == NULL) return tide__arena_printf(c->arena, "%s %s is new", rule->what, b->text);
    if (b == NULL) return tide__arena_printf(c->arena, "%s %s is gone", rule->what, a->text);
    if (strcmp(a->text, b->text) == 0) return tide__arena_printf(c->arena, "%s has changed", rule->what);
    return tide__arena_printf(c->arena, "%s was %s and is %s", rule->what, a->text, b->text);
}

static bool is_waived(const struct compat_request *request, uint64_t fingerprint_) {
    for (size_t i = 0; i < request->waived_count; i++)
        if (request->waived[i] == fingerprint_) return true;
    return false;
}

// Kinds of state that are loaded as they are or not at all.
static bool goes_on_unchanged_only(const struct pair *pair) {
    enum plan_kind kind = pair->new_op != NULL ? pair->new_op->node->kind : PLAN_CALC;
    return kind == PLAN_OVER || kind == PLAN_SORT || kind == PLAN_JOIN || kind == PLAN_WINDOW_TVF;
}

static void report_change(struct check *c, const struct pair *pair, const struct change *change,
                          struct compat_change *out) {
    const struct compat_rule *rule = tide__compat_rule(change->code);
    if (rule == NULL) rule = tide__compat_rule("operator.changed");
    bool exact = c->request->policy == COMPAT_EXACT;
    uint32_t needs = change->needs;
    if ((needs & ~(uint32_t)(COMPAT_CAN_MATCH | COMPAT_CAN_PARTIAL_NEW)) != 0 && goes_on_unchanged_only(pair))
        needs |= COMPAT_CAN_OTHER_KINDS;
    uint32_t missing = change->exact < COMPAT_UNKNOWN ? needs & ~c->request->features : 0;
    *out = (struct compat_change){
        .rule = rule,
        .code = change->code,
        .strict = change->strict,
        .exact = missing != 0 ? COMPAT_INCOMPATIBLE : change->exact,
        .sound = change->exact <= change->strict,
        .needs = needs,
        .missing = missing,
        .old_clause = pair->old_op != NULL ? tide__model_clause(&c->olds, pair->old_op, change->old_clause) : NULL,
        .new_clause = pair->new_op != NULL ? tide__model_clause(&c->news, pair->new_op, change->new_clause) : NULL,
        .fingerprint = fingerprint(pair, change),
        .message = message_of(c, rule, change),
        .state = rule->state,
        .advice = rule->advice,
    };
    if (change->note != NULL) out->state = tide__arena_printf(c->arena, "%s; %s", rule->state, change->note);
    out->verdict = exact ? out->exact : out->strict;
    if (exact) out->sound = true;
    out->waived = is_waived(c->request, out->fingerprint);
    if (!exact && out->exact < out->strict)
        out->advice = out->exact == COMPAT_COMPATIBLE
                          ? "keep the clause as it was, or let --policy exact carry the state over"
                          : "keep the clause as it was, or go on in part with --policy exact --on-incompatible partial";
    if (out->verdict == COMPAT_COMPATIBLE) out->advice = NULL;
}

static void report_operator(struct check *c, const struct pair *pair, struct compat_operator *out) {
    const struct model_operator *op = pair->new_op != NULL ? pair->new_op : pair->old_op;
    struct compat_change *changes = ARENA_ARRAY(c->arena, struct compat_change, pair->change_count + 1);
    *out = (struct compat_operator){
        .name = op != NULL ? op->node->operator_id : "script",
        .kind = op != NULL ? op->kind : "script",
        .matched_by = pair->matched_by,
        .old_plan = pair->old_op != NULL ? pair->old_op->plan : NULL,
        .new_plan = pair->new_op != NULL ? pair->new_op->plan : NULL,
        .old_node = pair->old_op != NULL ? pair->old_op->node : NULL,
        .new_node = pair->new_op != NULL ? pair->new_op->node : NULL,
        .stateful = op != NULL && is_state(op),
        .changes = changes,
        .step_count = pair->step_count,
    };
    struct compat_step *steps = ARENA_ARRAY(c->arena, struct compat_step, pair->step_count + 1);
    if (pair->step_count > 0) memcpy(steps, pair->steps, pair->step_count * sizeof *steps);
    out->steps = steps;
    for (size_t i = 0; i < pair->change_count; i++) {
        struct compat_change *change = &changes[out->change_count];
        report_change(c, pair, &pair->changes[i], change);
        out->missing |= change->missing;
        // What follows from another one is left out, unless the state can't be carried over for it alone.
        if (pair->changes[i].by_source ||
            (pair->changes[i].hidden && (change->missing == 0 || c->request->policy == COMPAT_STRICT)))
            continue;
        out->change_count++;
        if (change->waived) continue;
        out->verdict = worse(out->verdict, change->verdict);
        out->strict = worse(out->strict, change->strict);
        out->exact = worse(out->exact, change->exact);
    }
    if (out->exact > COMPAT_PARTIAL) out->step_count = 0;
}

static void report(struct check *c, struct compat_report *out) {
    struct compat_operator *operators = ARENA_ARRAY(c->arena, struct compat_operator, c->pair_count + 2);
    *out = (struct compat_report){.policy = c->request->policy, .sound = true, .operators = operators};
    for (size_t p = 0; p <= c->pair_count; p++) {
        const struct pair *pair = p == c->pair_count ? c->script : &c->pairs[p];
        if (pair == c->script && pair->change_count == 0) continue;
        struct compat_operator *op = &operators[out->operator_count++];
        report_operator(c, pair, op);
        for (size_t i = 0; i < op->change_count; i++)
            if (!op->changes[i].waived) out->sound &= op->changes[i].sound;
        out->verdict = worse(out->verdict, op->verdict);
        out->strict = worse(out->strict, op->strict);
        out->exact = worse(out->exact, op->exact);
    }
    // What a rule of several changes makes unknown is no more than that.
    if (out->exact <= out->strict) out->sound = true;
}

// --- all ----------------------------------------------------------------------------------------------------------------------

static bool setting_is(const struct compat_script *script, const char *key, const char *value) {
    for (size_t i = 0; i < script->setting_count; i++)
        if (strcmp(script->settings[i].key, key) == 0) return tide__str_ieq_c(script->settings[i].value, value);
    return false;
}

// The same clauses, with computed columns of tables unopened: so a changed column is told from a changed query.
static void add_declared(struct model *model, const struct naming *naming) {
    struct model other;
    tide__model_build(model->script, naming, true, model->arena, &other);
    for (uint32_t i = 0; i < model->operator_count && i < other.operator_count; i++) {
        struct model_operator *op = &model->operators[i], *twin = &other.operators[i];
        for (size_t k = 0; k < op->clause_count && k < twin->clause_count; k++)
            if (strcmp(op->clauses[k].code, twin->clauses[k].code) == 0)
                op->clauses[k].declared = twin->clauses[k].bare;
    }
}

void tide__compat_check(const struct compat_request *request, struct arena *arena, struct compat_report *out) {
    struct check c = {.request = request, .arena = arena, .script = ARENA_NEW(arena, struct pair)};
    c.ignore_filter = setting_is(&request->new_script, "table.optimizer.state-compatibility.ignore-filter", "true") ||
                      setting_is(&request->old_script, "table.optimizer.state-compatibility.ignore-filter", "true");
    tide__model_names(&request->old_script, &request->new_script, arena, &c.naming);
    tide__model_build(&request->old_script, NULL, false, arena, &c.olds);
    tide__model_build(&request->new_script, &c.naming, false, arena, &c.news);
    tide__compare_match(&c);
    tide__compare_sources(&c);
    bool computed = false;
    for (size_t i = 0; i < c.column_count; i++) computed |= c.columns[i].computed;
    if (computed) {
        add_declared(&c.olds, NULL);
        add_declared(&c.news, &c.naming);
    }
    for (size_t p = 0; p < c.pair_count; p++) {
        struct pair *pair = &c.pairs[p];
        if (pair->old_op != NULL && pair->new_op != NULL)
            compare_pair(&c, pair);
        else if (pair->new_op != NULL)
            compare_added(&c, pair);
        else
            compare_removed(&c, pair);
    }
    compare_ambiguous(&c);
    tide__compare_settings(&c);
    tide__judge(&c);
    compare_multi(&c);
    for (size_t p = 0; p < c.pair_count; p++) tide__steps(&c, &c.pairs[p]);
    report(&c, out);
    for (size_t p = 0; p < c.pair_count; p++) {
        tide__free(c.pairs[p].changes);
        tide__free(c.pairs[p].steps);
    }
    tide__free(c.script->changes);
    tide__free(c.columns);
}
