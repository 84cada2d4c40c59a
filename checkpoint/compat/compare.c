// The comparison of two plan descriptions: operators are matched, then their clauses, code by code.
//
// A code stands once or is a list (keys, aggregates, sort columns, conditions). Of a list the order matters too: keys and
// accumulators are stored by position. What differs in a stateful operator makes its state unusable; sources differ
// incompatibly only where the position in them loses its meaning; sinks hold no state.
#include "checkpoint/compat/compat.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// What a code is called in a message, and what its change does to the state.
struct code_words {
    const char *code;
    const char *name;                     // "the Top-N limit"; of a list: one item
    const char *added, *removed, *order;  // codes of the changes of a list; NULL: it is no list
    const char *state;                    // what happens to a stateful operator's state
};

static const struct code_words words[] = {
    {"window.type", "the window", NULL, NULL, NULL, "the windows are cut differently, so the state can't be used"},
    {"window.size", "the window size", NULL, NULL, NULL, "the windows are cut differently, so the state can't be used"},
    {"window.slide", "the window slide", NULL, NULL, NULL,
     "the windows are cut differently, so the state can't be used"},
    {"window.step", "the window step", NULL, NULL, NULL, "the windows are cut differently, so the state can't be used"},
    {"window.offset", "the window offset", NULL, NULL, NULL,
     "the windows are cut differently, so the state can't be used"},
    {"window.session_gap", "the session gap", NULL, NULL, NULL,
     "sessions that were closed or joined can't be told apart again"},
    {"window.session_partition", "the session's keys", NULL, NULL, NULL,
     "sessions are kept per key, so the state can't be used"},
    {"window.time_attribute", "the time attribute", NULL, NULL, NULL, "rows would fall into other windows"},
    {"window.syntax", "the window's syntax", NULL, NULL, NULL, "another operator is used, so the state can't be used"},
    {"window.input", "the stored column", "window.input", "window.input", "window.input",
     "rows are stored as they came"},
    {"config.time_zone", "the time zone", NULL, NULL, NULL, "rows would fall into other windows"},
    {"config.mini_batch", "mini-batches", NULL, NULL, NULL, "changes that are held back would be lost or come again"},
    {"config.early_fire", "early firing", NULL, NULL, NULL, "the result turns from final rows into updates"},
    {"group_by", "the group key", "group_by.added", "group_by.removed", "group_by.order",
     "the state is kept by the old keys"},
    {"agg", "the aggregate", "agg.added", "agg.removed", "agg.order",
     "the accumulators in the state are of the old aggregates"},
    {"agg.distinct", "the distinct aggregate", "agg.distinct_added", "agg.distinct_removed", "agg.distinct_order",
     "the accumulators in the state are of the old aggregates"},
    {"topn.limit", "the Top-N limit", NULL, NULL, NULL, NULL},
    {"topn.offset", "the ranks that are skipped", NULL, NULL, NULL, "other rows were kept"},
    {"topn.partition", "the partition key", "topn.partition_added", "topn.partition_removed", "topn.partition_order",
     "the rows are kept by the old keys"},
    {"topn.order_by", "the ranking", "topn.order_by", "topn.order_by", "topn.order_by",
     "the rows that rank high now may not have been kept"},
    {"topn.input", "the stored column", "topn.input", "topn.input", "topn.input",
     "the stored rows have the old columns"},
    {"dedup.order_by", "the row that is kept", NULL, NULL, NULL, "the other row was not kept"},
    {"filter", "the condition", "filter.added", "filter.removed", NULL,
     "the state is of rows that the old condition let through"},
    {"having", "the condition", "having.changed", "having.changed", NULL,
     "the state is of rows that the old condition let through"},
    {"join.type", "the join", NULL, NULL, NULL, "the buffered rows can't be used"},
    {"join.condition_equi", "the join condition", "join.condition_equi", "join.condition_equi", "join.condition_equi",
     "the rows are kept by the old keys"},
    {"join.condition_nonequi", "the join condition", "join.condition_nonequi", "join.condition_nonequi", NULL,
     "the buffered rows can't be used"},
    {"join.input_schema", "the stored column", "join.input_schema", "join.input_schema", "join.input_schema",
     "the buffered rows have the old columns"},
    {"join.input_schema_right", "the stored column", "join.input_schema", "join.input_schema", "join.input_schema",
     "the buffered rows have the old columns"},
    {"input", "the input column", "input", "input", "input", "the state is of the old input"},
    {"source.table", "the source table", NULL, NULL, NULL, "the position is that of another table"},
    {"source.connector", "the connector", NULL, NULL, NULL, "the position in the source has no meaning there"},
    {"source.values", "the list of values", NULL, NULL, NULL, "the position is that of another list"},
    {"source.watermark", "the watermark", NULL, NULL, NULL,
     "the watermark that was reached is kept and does not go back"},
    {"source.column", "the column", "source.column_added", "source.column_removed", "source.column_order",
     "the source keeps no columns"},
    {"sink.table", "the sink", NULL, NULL, NULL, "sinks hold no state"},
    {"sink.connector", "the sink's connector", NULL, NULL, NULL, "sinks hold no state"},
    {"output.column", "the output column", "output.column_added", "output.column_removed", "output.column_order",
     "it is made above the state"},
    {"output.filter", "the output condition", "output.filter", "output.filter", NULL, "it works above the state"},
};

static const struct code_words *words_of(const char *code) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].code, code) == 0) return &words[i];
    return NULL;
}

const char *tide__compat_verdict_name(enum compat_verdict verdict) {
    switch (verdict) {
    case COMPAT_COMPATIBLE: return "compatible";
    case COMPAT_PARTIAL: return "partial";
    case COMPAT_INCOMPATIBLE: return "incompatible";
    case COMPAT_UNKNOWN: return "unknown";
    }
    return "unknown";
}

// --- the report ---------------------------------------------------------------------------------------------------

struct comparer {
    struct arena *arena;
    struct compat_change *changes;
    size_t count, cap;
};

struct operator_pair {
    const struct plan_operator *old_op, *new_op;
};

// incompatible > unknown > partial > compatible
static int severity(enum compat_verdict verdict) {
    switch (verdict) {
    case COMPAT_COMPATIBLE: return 0;
    case COMPAT_PARTIAL: return 1;
    case COMPAT_UNKNOWN: return 2;
    case COMPAT_INCOMPATIBLE: return 3;
    }
    return 2;
}

static bool is_position(const char *code) {
    return strcmp(code, "source.table") == 0 || strcmp(code, "source.connector") == 0 ||
           strcmp(code, "source.values") == 0;
}

static void add(struct comparer *c, const struct operator_pair *pair, const char *clause_code, const char *code,
                const struct plan_clause *old_clause, const struct plan_clause *new_clause, const char *message,
                const char *state) {
    const struct plan_operator *op = pair->new_op != NULL ? pair->new_op : pair->old_op;
    bool matters = op->stateful || is_position(clause_code);
    c->changes = tide__grow(c->changes, &c->cap, c->count + 1, sizeof *c->changes);
    c->changes[c->count++] = (struct compat_change){
        .code = code,
        .verdict = matters ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE,
        .operator_id = op->operator_id,
        .old_clause = old_clause,
        .new_clause = new_clause,
        .message = message,
        .state = state,
    };
}

// --- one operator -------------------------------------------------------------------------------------------------

// The clauses of one code.
struct clause_list {
    const struct plan_clause **items;
    size_t count;
};

static struct clause_list clauses_of(const struct plan_operator *op, const char *code, struct arena *arena) {
    struct clause_list list = {.items = ARENA_ARRAY(arena, const struct plan_clause *, op->clause_count + 1)};
    for (size_t i = 0; i < op->clause_count; i++)
        if (strcmp(op->clauses[i].code, code) == 0) list.items[list.count++] = &op->clauses[i];
    return list;
}

static bool same_lists(const struct clause_list *a, const struct clause_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i]->text, b->items[i]->text) != 0) return false;
    return true;
}

static const char *limit_state(const struct comparer *c, const struct plan_clause *old_clause,
                               const struct plan_clause *new_clause) {
    if (old_clause == NULL || new_clause == NULL) return "other rows were kept";
    long long old_limit = strtoll(old_clause->text, NULL, 10), new_limit = strtoll(new_clause->text, NULL, 10);
    if (new_limit > old_limit)
        return tide__arena_printf(c->arena, "the rows below rank %lld were not kept, so the state can't be used",
                                  old_limit);
    return tide__arena_printf(c->arena, "the state holds ranks up to %lld, which the rules do not cut", old_limit);
}

static void changed(struct comparer *c, const struct operator_pair *pair, const struct code_words *w, const char *code,
                    const struct plan_clause *old_clause, const struct plan_clause *new_clause) {
    const char *message;
    if (old_clause == NULL)
        message = tide__arena_printf(c->arena, "%s %s is new", w->name, new_clause->text);
    else if (new_clause == NULL)
        message = tide__arena_printf(c->arena, "%s %s is gone", w->name, old_clause->text);
    else
        message = tide__arena_printf(c->arena, "%s was %s and is %s", w->name, old_clause->text, new_clause->text);
    add(c, pair, w->code, code, old_clause, new_clause, message,
        w->state != NULL ? w->state : limit_state(c, old_clause, new_clause));
}

// Takes out of both lists what stands in both, in whatever order.
static void take_out_common(struct clause_list *a, struct clause_list *b) {
    size_t kept = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t at = 0;
        while (at < b->count && strcmp(a->items[i]->text, b->items[at]->text) != 0) at++;
        if (at == b->count) {
            a->items[kept++] = a->items[i];
            continue;
        }
        memmove(&b->items[at], &b->items[at + 1], (b->count - at - 1) * sizeof *b->items);
        b->count--;
    }
    a->count = kept;
}

static void compare_list(struct comparer *c, const struct operator_pair *pair, const struct code_words *w,
                         struct clause_list olds, struct clause_list news) {
    const struct plan_clause *first_old = olds.items[0], *first_new = news.items[0];
    size_t old_count = olds.count, new_count = news.count;
    take_out_common(&olds, &news);
    if (olds.count == 0 && news.count == 0) {
        if (w->order == NULL || old_count != new_count) return;  // conditions are a set
        add(c, pair, w->code, w->order, first_old, first_new,
            tide__arena_printf(c->arena, "the order of %ss has changed", w->name), w->state);
        return;
    }
    size_t both = olds.count < news.count ? olds.count : news.count;
    const char *changed_code = tide__arena_printf(c->arena, "%s.changed", w->code);
    if (strcmp(w->added, w->removed) == 0) changed_code = w->added;
    if (strncmp(w->code, "agg", 3) == 0)
        changed_code = strcmp(w->code, "agg") == 0 ? "agg.modified" : "agg.distinct_modified";
    if (strcmp(w->code, "topn.partition") == 0) changed_code = "topn.partition_changed";
    if (strcmp(w->code, "source.column") == 0) changed_code = "source.column_type";
    if (strcmp(w->code, "output.column") == 0) changed_code = "output.expression";
    for (size_t i = 0; i < both; i++) changed(c, pair, w, changed_code, olds.items[i], news.items[i]);
    for (size_t i = both; i < olds.count; i++) changed(c, pair, w, w->removed, olds.items[i], NULL);
    for (size_t i = both; i < news.count; i++) changed(c, pair, w, w->added, NULL, news.items[i]);
}

static void compare_code(struct comparer *c, const struct operator_pair *pair, const char *code) {
    struct clause_list olds = clauses_of(pair->old_op, code, c->arena), news = clauses_of(pair->new_op, code, c->arena);
    if (same_lists(&olds, &news)) return;
    const struct code_words *w = words_of(code);
    if (w == NULL) {  // of a newer program: it can't be judged, only seen
        struct code_words *unknown = ARENA_NEW(c->arena, struct code_words);
        *unknown = (struct code_words){.code = code,
                                       .name = code,
                                       .added = code,
                                       .removed = code,
                                       .order = code,
                                       .state = "it is not known what that means for the state"};
        w = unknown;
    }
    if (w->added != NULL)
        compare_list(c, pair, w, olds, news);
    else
        changed(c, pair, w, code, olds.count > 0 ? olds.items[0] : NULL, news.count > 0 ? news.items[0] : NULL);
}

static bool seen_before(const struct plan_operator *op, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (strcmp(op->clauses[k].code, op->clauses[i].code) == 0) return true;
    return false;
}

static bool has_code(const struct plan_operator *op, const char *code) {
    for (size_t i = 0; i < op->clause_count; i++)
        if (strcmp(op->clauses[i].code, code) == 0) return true;
    return false;
}

static void compare_operators(struct comparer *c, const struct operator_pair *pair) {
    const struct plan_operator *old_op = pair->old_op, *new_op = pair->new_op;
    for (size_t i = 0; i < old_op->clause_count; i++)
        if (!seen_before(old_op, i)) compare_code(c, pair, old_op->clauses[i].code);
    for (size_t i = 0; i < new_op->clause_count; i++)
        if (!seen_before(new_op, i) && !has_code(old_op, new_op->clauses[i].code))
            compare_code(c, pair, new_op->clauses[i].code);
}

// --- matching -----------------------------------------------------------------------------------------------------

static bool same_uid(const struct plan_operator *a, const struct plan_operator *b) {
    return a->uid != NULL && b->uid != NULL && strcmp(a->uid, b->uid) == 0 && strcmp(a->kind, b->kind) == 0;
}

static bool same_id(const struct plan_operator *a, const struct plan_operator *b) {
    return strcmp(a->operator_id, b->operator_id) == 0 && strcmp(a->kind, b->kind) == 0;
}

typedef bool match_fn(const struct plan_operator *a, const struct plan_operator *b);

// partner[i]: index + 1 of the new operator of old operator i.
static void match(const struct plan_description *olds, const struct plan_description *news, match_fn *matches,
                  size_t *partner, bool *taken) {
    for (size_t i = 0; i < olds->operator_count; i++) {
        for (size_t k = 0; k < news->operator_count && partner[i] == 0; k++) {
            if (taken[k] || !matches(&olds->operators[i], &news->operators[k])) continue;
            partner[i] = k + 1;
            taken[k] = true;
        }
    }
}

static bool is_sink(const struct plan_operator *op) {
    return strcmp(op->kind, "sink") == 0;
}

static void operator_gone(struct comparer *c, const struct plan_operator *op) {
    struct operator_pair pair = {op, NULL};
    const char *code = is_sink(op) ? "sink.removed" : op->stateful ? "operator.removed" : "source.table";
    const char *state = is_sink(op)    ? "sinks hold no state"
                        : op->stateful ? "its state would be lost"
                                       : "its position would be lost";
    add(c, &pair, code, code, op->clause_count > 0 ? &op->clauses[0] : NULL, NULL,
        tide__arena_printf(c->arena, "the script has no such %s any more", op->kind), state);
}

static void operator_new(struct comparer *c, const struct plan_operator *op) {
    struct operator_pair pair = {NULL, op};
    const char *code = is_sink(op) ? "sink.added_stateless" : op->stateful ? "sink.added_stateful" : "source.table";
    const char *state = is_sink(op) ? "sinks hold no state" : "the savepoint has nothing for it";
    add(c, &pair, code, code, NULL, op->clause_count > 0 ? &op->clauses[0] : NULL,
        tide__arena_printf(c->arena, "this %s is new in the script", op->kind), state);
}

void tide__compat_compare(const struct plan_description *old_plan, const struct plan_description *new_plan,
                          struct arena *arena, struct compat_report *out) {
    struct comparer c = {.arena = arena};
    size_t *partner = ARENA_ARRAY(arena, size_t, old_plan->operator_count + 1);
    bool *taken = ARENA_ARRAY(arena, bool, new_plan->operator_count + 1);
    match(old_plan, new_plan, same_uid, partner, taken);
    match(old_plan, new_plan, same_id, partner, taken);
    for (size_t i = 0; i < old_plan->operator_count; i++) {
        if (partner[i] == 0) {
            operator_gone(&c, &old_plan->operators[i]);
            continue;
        }
        struct operator_pair pair = {&old_plan->operators[i], &new_plan->operators[partner[i] - 1]};
        compare_operators(&c, &pair);
    }
    for (size_t k = 0; k < new_plan->operator_count; k++)
        if (!taken[k]) operator_new(&c, &new_plan->operators[k]);
    struct compat_change *changes = ARENA_ARRAY(arena, struct compat_change, c.count + 1);
    if (c.count > 0) memcpy(changes, c.changes, c.count * sizeof *changes);
    tide__free(c.changes);
    *out = (struct compat_report){.verdict = COMPAT_COMPATIBLE, .change_count = c.count, .changes = changes};
    for (size_t i = 0; i < c.count; i++)
        if (severity(changes[i].verdict) > severity(out->verdict)) out->verdict = changes[i].verdict;
}
