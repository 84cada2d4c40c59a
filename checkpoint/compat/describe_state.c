// The clauses of stateful operators: windows, keys, aggregates, rankings, joins. A clause that is missing makes a change invisible: when
// in doubt, describe it. Savepoints hold these texts, so the form of one never changes.
#include "base/str.h"
#include "base/zone.h"
#include "checkpoint/compat/describe.h"

#include <stdlib.h>
#include <string.h>

static const struct flow *input_flow(const struct describer *d, const struct plan_node *node, uint32_t i) {
    return &d->flows[node->inputs[i]->id];
}

// --- windows ----------------------------------------------------------------------------------------------------------------

static void duration_clause(struct describer *d, const char *code, int64_t ms, struct source_pos pos) {
    tide__describe_clause(d, code, tide__canon_duration(ms, d->arena), pos)->number = ms;
}

static void window_clauses(struct describer *d, const struct window *window, const char *time, const char *session_keys,
                           struct source_pos pos) {
    static const char *const kinds[] = {"TUMBLE", "HOP", "CUMULATE", "SESSION"};
    if (window->pos.line > 0) pos = window->pos;
    tide__describe_clause(d, "window.type", kinds[window->kind], pos);
    bool session = window->kind == WINDOW_SESSION;
    duration_clause(d, session ? "window.session_gap" : "window.size", window->size_ms, pos);
    if (window->kind == WINDOW_HOP) duration_clause(d, "window.slide", window->slide_ms, pos);
    if (window->kind == WINDOW_CUMULATE) duration_clause(d, "window.step", window->slide_ms, pos);
    int64_t grid = window->kind == WINDOW_HOP ? window->slide_ms : window->size_ms;
    int64_t offset = session || grid <= 0 ? window->offset_ms : (window->offset_ms % grid + grid) % grid;
    if (offset != 0) duration_clause(d, "window.offset", offset, pos);
    tide__describe_clause(d, "window.time_attribute", window->proctime ? "PROCTIME()" : time, pos);
    if (window->ltz) tide__describe_clause(d, "config.time_zone", tide__zone_name(d->plan->settings.zone), pos);
    if (session && session_keys != NULL && *session_keys != '\0')
        tide__describe_clause(d, "window.session_partition", session_keys, pos);
}

struct lineage tide__describe_window(struct describer *d, enum window_property property, const struct window *window,
                                     const char *time, const char *session_keys, int32_t owner, struct source_pos pos) {
    static const char *const texts[] = {"window_start", "window_end", "window_time"};
    static const enum lineage_role roles[] = {LINEAGE_WINDOW_START, LINEAGE_WINDOW_END, LINEAGE_WINDOW_TIME};
    struct type *type = ARENA_NEW(d->arena, struct type);
    *type = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0);
    struct lineage lineage = tide__describe_leaf(d, LEAF_WINDOW, owner >= 0 ? (uint32_t)owner : UINT32_MAX, property,
                                                 texts[property], type, pos);
    lineage.role = roles[property];
    lineage.window = window;
    lineage.window_time = time;
    lineage.session_keys = session_keys;
    lineage.owner = owner + 1;
    return lineage;
}

static const char *window_time_of(const struct window *window, const struct flow *input) {
    return window->proctime ? "PROCTIME()" : input->fields[window->time_column].text;
}

// A window column of an earlier window is a plain column for a later one.
static struct lineage earlier(struct describer *d, struct lineage lineage, const struct type *type) {
    if (lineage.role < LINEAGE_WINDOW_START) return lineage;
    return tide__describe_leaf(d, LEAF_OTHER, UINT32_MAX, 0, tide__arena_printf(d->arena, "inner.%s", lineage.text),
                               type, lineage.pos);
}

static void filter_clauses(struct describer *d, const struct flow *input, uint32_t side, const char *below,
                           const char *above) {
    for (size_t i = 0; i < input->filter_count; i++)
        tide__describe_lineage(d, input->above_state ? above : below, &input->filters[i])->side = side;
    for (size_t i = 0; i < input->branch_count; i++)
        tide__describe_lineage(d, "union.input", &input->branches[i])->side = side;
}

static void stored_columns(struct describer *d, const char *code, const struct plan_node *node, const struct flow *flow,
                           uint32_t side) {
    for (uint32_t i = 0; i < node->field_count; i++) {
        struct model_clause *clause = tide__describe_typed(d, code, &flow->fields[i], node->fields[i].type);
        clause->index = i;
        clause->side = side;
    }
}

static struct flow tvf_flow(struct describer *d, const struct plan_node *node, const struct flow *input,
                            int32_t owner) {
    const struct window *window = &node->window_tvf.window;
    const char *time = window_time_of(window, input);
    const char *keys = tide__describe_columns(d, input->fields, window->partitions, window->partition_count, true);
    struct flow flow = *input;
    uint32_t n = node->inputs[0]->field_count;
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    flow.finals = false;
    for (uint32_t i = 0; i < n; i++) flow.fields[i] = earlier(d, input->fields[i], node->fields[i].type);
    for (uint32_t i = n; i < node->field_count; i++)
        flow.fields[i] = tide__describe_window(d, (enum window_property)(i - n), window, time, keys, owner, node->pos);
    return flow;
}

void tide__describe_tvf(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    const struct window *window = &node->window_tvf.window;
    if (!node->stateful) {
        d->flows[node->id] = tvf_flow(d, node, input, -1);
        return;
    }
    const char *time = window_time_of(window, input);
    const char *keys = tide__describe_columns(d, input->fields, window->partitions, window->partition_count, true);
    window_clauses(d, window, time, keys, node->pos);
    filter_clauses(d, input, 0, "filter", "having");
    stored_columns(d, "window.input", node->inputs[0], input, 0);
    struct model_operator *op = tide__describe_finish(d, node, "window", &input, 1);
    op->window = window;
    op->window_time = time;
    struct flow flow = tvf_flow(d, node, input, (int32_t)op->index), own = tide__describe_own_flow(d, node);
    own.fields = flow.fields;
    own.finals = true;
    d->flows[node->id] = own;
}

// The window of a field that holds a window's bound; nothing if that is not known.
static void attached_window_clauses(struct describer *d, const struct flow *input, uint32_t start_column,
                                    struct source_pos pos) {
    const struct lineage *start = &input->fields[start_column];
    if (start->window != NULL)
        window_clauses(d, start->window, start->window_time, start->session_keys, pos);
    else
        tide__describe_clause(d, "window.type", start->text, pos);
}

static void attach_window(struct model_operator *op, const struct flow *input, uint32_t start_column) {
    const struct lineage *start = &input->fields[start_column];
    op->window = start->window;
    op->window_time = start->window_time;
    op->window_owner = start->owner - 1;
    op->finals = input->finals && start->owner > 0;
}

// --- aggregates -------------------------------------------------------------------------------------------------------------

// An aggregate as a text; `which`: the texts of the arguments.
static const char *aggregate_text(struct describer *d, const struct aggregate_call *call, const struct flow *input,
                                  bool plain) {
    struct strbuf out = {0};
    const char *name = call->aggregate->name;
    tide__strbuf_printf(&out, "%s(%s", name, call->distinct ? "DISTINCT " : "");
    bool counts_rows = strcmp(name, "COUNT") == 0 && !call->distinct &&
                       (call->arg_count == 0 ||
                        (call->arg_count == 1 && input->fields[call->args[0]].role == LINEAGE_LITERAL &&
                         strcmp(input->fields[call->args[0]].text, "NULL") != 0));
    if (counts_rows) tide__strbuf_append_char(&out, '*');
    for (uint32_t i = 0; i < call->arg_count && !counts_rows; i++) {
        const struct lineage *arg = &input->fields[call->args[i]];
        const char *text = plain && arg->expr != NULL ? tide__canon_plain(arg->expr, d->model->leaf_lineages, d->arena)
                                                      : arg->text;
        tide__strbuf_printf(&out, "%s%s", i > 0 ? ", " : "", text);
    }
    if (!call->parameter.is_null && strcmp(name, "LISTAGG") == 0)
        tide__strbuf_printf(&out, ", '%.*s'", STR_ARG(call->parameter.str));
    tide__strbuf_append_char(&out, ')');
    if (call->filter >= 0) tide__strbuf_printf(&out, " FILTER (WHERE %s)", input->fields[call->filter].text);
    const char *text = tide__canon_bounded(tide__arena_strndup(d->arena, out.data, out.len), d->arena);
    tide__strbuf_deinit(&out);
    return text;
}

static void aggregate_clause(struct describer *d, const struct aggregate_call *call, uint32_t index,
                             const struct flow *input) {
    const char *bare = aggregate_text(d, call, input, false);
    const char *text = call->arg_count == 0 || call->type == NULL
                           ? bare
                           : tide__arena_printf(d->arena, "%s %s", bare, tide__describe_type(call->type, d->arena));
    struct model_clause *clause = tide__describe_clause(d, call->distinct ? "agg.distinct" : "agg", text, call->pos);
    clause->bare = bare;
    clause->plain = aggregate_text(d, call, input, true);
    clause->type = call->type;
    clause->call = call;
    clause->index = index;
    if (call->arg_count > 0) clause->expr = input->fields[call->args[0]].expr;
    if (call->arg_count > 1) clause->expr2 = input->fields[call->args[1]].expr;
    if (call->filter >= 0) clause->filter = input->fields[call->filter].expr;
}

static struct lineage aggregate_leaf(struct describer *d, const struct model_operator *op,
                                     const struct aggregate_call *call, uint32_t index, const struct flow *input) {
    return tide__describe_leaf(d, LEAF_AGGREGATE, op->index, index, aggregate_text(d, call, input, false), call->type,
                               call->pos);
}

static void key_clauses(struct describer *d, const char *code, const struct plan_node *input_node,
                        const struct flow *input, const uint32_t *keys, uint32_t count, uint32_t side) {
    for (uint32_t i = 0; i < count; i++) {
        struct model_clause *clause = tide__describe_typed(d, code, &input->fields[keys[i]],
                                                           input_node->fields[keys[i]].type);
        clause->index = i;
        clause->side = side;
    }
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The keys of each grouping set: those that are not a NULL there, without the set's number.
static void grouping_sets(struct describer *d, const struct plan_node *node, const uint32_t *keys, uint32_t key_count,
                          struct model_operator *op) {
    const struct flow *flow = input_flow(d, node, 0);
    if (flow->set_count == 0) return;
    const struct plan_node *expand = flow->expand;
    op->sets = ARENA_ARRAY(d->arena, struct model_set, flow->set_count);
    op->set_count = flow->set_count;
    for (uint32_t s = 0; s < flow->set_count; s++) {
        struct model_set *set = &op->sets[s];
        set->keys = ARENA_ARRAY(d->arena, const char *, key_count + 1);
        for (uint32_t k = 0; k < key_count; k++) {
            const struct expr *output = expand->expand.outputs[s * expand->field_count + keys[k]];
            if (output->kind == EXPR_LITERAL) continue;
            set->keys[set->key_count++] = tide__describe_expr(d, output, flow->expand_input).text;
        }
        qsort(set->keys, set->key_count, sizeof *set->keys, compare_names);
        const char *text = "(";
        for (uint32_t k = 0; k < set->key_count; k++)
            text = tide__arena_printf(d->arena, "%s%s%s", text, k > 0 ? ", " : "", set->keys[k]);
        set->text = tide__arena_printf(d->arena, "%s)", text);
    }
}

// Keys, aggregates, then window columns.
static struct flow aggregate_flow(struct describer *d, const struct plan_node *node, const struct model_operator *op,
                                  const uint32_t *keys, uint32_t key_count, const struct aggregate_call *calls,
                                  uint32_t call_count) {
    const struct flow *input = input_flow(d, node, 0);
    struct flow flow = tide__describe_own_flow(d, node);
    uint32_t at = 0;
    for (uint32_t i = 0; i < key_count; i++) flow.fields[at++] = input->fields[keys[i]];
    for (uint32_t i = 0; i < call_count; i++) flow.fields[at++] = aggregate_leaf(d, op, &calls[i], i, input);
    flow.above_aggregation = true;
    return flow;
}

static void describe_window_aggregate(struct describer *d, const struct plan_node *node) {
    const struct plan_window_aggregate *plan = &node->window_aggregate;
    const struct flow *input = input_flow(d, node, 0);
    const struct window *window = &plan->window;
    const char *time = NULL, *session_keys = NULL;
    if (plan->legacy) tide__describe_clause(d, "window.syntax", "GROUP BY", node->pos);
    if (plan->attached) {
        attached_window_clauses(d, input, plan->start_column, node->pos);
        const struct lineage *start = &input->fields[plan->start_column];
        if (start->window != NULL) window = start->window;
        time = start->window_time;
        session_keys = start->session_keys;
    } else {
        time = window_time_of(window, input);
        session_keys = tide__describe_columns(d, input->fields, window->partitions, window->partition_count, true);
        window_clauses(d, window, time, session_keys, node->pos);
    }
    key_clauses(d, "group_by", node->inputs[0], input, plan->keys, plan->key_count, 0);
    for (uint32_t i = 0; i < plan->aggregate_count; i++) aggregate_clause(d, &plan->aggregates[i], i, input);
    if (plan->early_fire) tide__describe_clause(d, "config.early_fire", "on", node->pos);
    filter_clauses(d, input, 0, "filter", "having");
    const char *kind = plan->legacy ? "group-window-aggregate" : "window-aggregate";
    struct model_operator *op = tide__describe_finish(d, node, kind, &input, 1);
    grouping_sets(d, node, plan->keys, plan->key_count, op);
    op->window = window;
    op->window_time = time;
    op->start_place = plan->start_place;
    op->end_place = plan->end_place;
    if (plan->attached) attach_window(op, input, plan->start_column);
    struct flow flow = aggregate_flow(d, node, op, plan->keys, plan->key_count, plan->aggregates,
                                      plan->aggregate_count);
    uint32_t at = plan->key_count + plan->aggregate_count;
    for (uint32_t i = 0; i < plan->property_count && at < node->field_count; i++)
        flow.fields[at++] = tide__describe_window(d, plan->properties[i], window, time, session_keys,
                                                  (int32_t)op->index, node->pos);
    flow.finals = !plan->early_fire;
    op->out = flow.fields;
    op->out_count = node->field_count;
    d->flows[node->id] = flow;
}

static void describe_group_aggregate(struct describer *d, const struct plan_node *node) {
    const struct plan_group_aggregate *plan = &node->group_aggregate;
    const struct flow *input = input_flow(d, node, 0);
    key_clauses(d, "group_by", node->inputs[0], input, plan->keys, plan->key_count, 0);
    for (uint32_t i = 0; i < plan->aggregate_count; i++) aggregate_clause(d, &plan->aggregates[i], i, input);
    if (plan->bundle_rows > 0) tide__describe_clause(d, "config.mini_batch", "on", node->pos);
    filter_clauses(d, input, 0, "filter", "having");
    struct model_operator *op = tide__describe_finish(d, node, "group-aggregate", &input, 1);
    grouping_sets(d, node, plan->keys, plan->key_count, op);
    struct flow flow = aggregate_flow(d, node, op, plan->keys, plan->key_count, plan->aggregates,
                                      plan->aggregate_count);
    op->out = flow.fields;
    op->out_count = node->field_count;
    d->flows[node->id] = flow;
}

// --- rankings ---------------------------------------------------------------------------------------------------------------

static void sort_clauses(struct describer *d, const char *code, const struct flow *input, const struct sort_key *sorts,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct sort_key *sort = &sorts[i];
        bool usual = sort->nulls_last == sort->descending;
        const struct lineage *lineage = &input->fields[sort->column];
        const char *text = tide__arena_printf(d->arena, "%s %s%s", tide__canon_operand(lineage, d->arena),
                                              sort->descending ? "DESC" : "ASC",
                                              usual              ? ""
                                              : sort->nulls_last ? " NULLS LAST"
                                                                 : " NULLS FIRST");
        struct model_clause *clause = tide__describe_lineage(d, code, lineage);
        clause->text = clause->bare = clause->plain = text;
        clause->index = i;
    }
}

static void rank_flow(struct describer *d, const struct plan_node *node, struct model_operator *op,
                      const struct flow *input, bool has_rank) {
    struct flow flow = tide__describe_own_flow(d, node);
    uint32_t n = node->inputs[0]->field_count;
    memcpy(flow.fields, input->fields, n * sizeof *flow.fields);
    if (has_rank && node->field_count > n)
        flow.fields[n] = tide__describe_leaf(d, LEAF_RANK, op->index, 0, "ROW_NUMBER()", node->fields[n].type,
                                             node->pos);
    flow.finals = node->kind == PLAN_WINDOW_RANK;
    op->out = flow.fields;
    op->out_count = node->field_count;
    d->flows[node->id] = flow;
}

static void rank_bounds(struct describer *d, const struct plan_node *node, struct source_pos pos, int64_t first,
                        int64_t last, enum tie_rule ties) {
    if (pos.line == 0) pos = node->pos;
    tide__describe_clause(d, "topn.limit", tide__arena_printf(d->arena, "%lld", (long long)last), pos)->number = last;
    if (first > 1)
        tide__describe_clause(d, "topn.offset", tide__arena_printf(d->arena, "%lld", (long long)first - 1), pos)
            ->number = first - 1;
    if (ties == TIE_LAST_ARRIVED) tide__describe_clause(d, "dedup.order_by", "the last row is kept", node->pos);
}

static void describe_window_rank(struct describer *d, const struct plan_node *node) {
    const struct plan_window_rank *plan = &node->window_rank;
    const struct flow *input = input_flow(d, node, 0);
    attached_window_clauses(d, input, plan->start_column, node->pos);
    key_clauses(d, "topn.partition", node->inputs[0], input, plan->partitions, plan->partition_count, 0);
    sort_clauses(d, "topn.order_by", input, plan->sorts, plan->sort_count);
    rank_bounds(d, node, plan->bound_pos, plan->rank_first, plan->rank_last, plan->ties);
    if (plan->function != NULL) tide__describe_clause(d, "topn.function", plan->function, node->pos);
    filter_clauses(d, input, 0, "filter", "having");
    stored_columns(d, "topn.input", node->inputs[0], input, 0);
    struct model_operator *op = tide__describe_finish(d, node, plan->deduplicate ? "window-dedup" : "window-topn",
                                                      &input, 1);
    op->start_place = plan->start_place;
    op->end_place = plan->end_place;
    attach_window(op, input, plan->start_column);
    rank_flow(d, node, op, input, plan->has_rank);
}

static void describe_rank(struct describer *d, const struct plan_node *node) {
    const struct plan_rank *plan = &node->rank;
    const struct flow *input = input_flow(d, node, 0);
    key_clauses(d, "topn.partition", node->inputs[0], input, plan->partitions, plan->partition_count, 0);
    sort_clauses(d, "topn.order_by", input, plan->sorts, plan->sort_count);
    rank_bounds(d, node, plan->bound_pos, plan->rank_first, plan->rank_last, plan->ties);
    if (plan->function != NULL) tide__describe_clause(d, "topn.function", plan->function, node->pos);
    filter_clauses(d, input, 0, "filter", "having");
    stored_columns(d, "topn.input", node->inputs[0], input, 0);
    struct model_operator *op = tide__describe_finish(d, node, plan->deduplicate ? "dedup" : "topn", &input, 1);
    rank_flow(d, node, op, input, plan->has_rank);
}

// --- joins ------------------------------------------------------------------------------------------------------------------

struct join_parts {
    enum join_kind kind;
    uint32_t key_count;
    uint32_t *const *keys;
    const struct expr *condition;
};

static const struct lineage *join_clauses(struct describer *d, const struct plan_node *node,
                                          const struct join_parts *join) {
    static const char *const kinds[] = {"INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"};
    const struct flow *left = input_flow(d, node, 0), *right = input_flow(d, node, 1);
    uint32_t left_count = node->inputs[0]->field_count, right_count = node->inputs[1]->field_count;
    struct lineage *fields = ARENA_ARRAY(d->arena, struct lineage, left_count + right_count + 1);
    memcpy(fields, left->fields, left_count * sizeof *fields);
    memcpy(fields + left_count, right->fields, right_count * sizeof *fields);
    tide__describe_clause(d, "join.type", kinds[join->kind], node->pos)->number = join->kind;
    for (uint32_t i = 0; i < join->key_count; i++) {
        const struct lineage *a = &left->fields[join->keys[0][i]], *b = &right->fields[join->keys[1][i]];
        const char *text = tide__arena_printf(d->arena, "%s = %s", a->text, b->text);
        struct model_clause *clause = tide__describe_clause(d, "join.condition_equi", text, a->pos);
        clause->index = i;
        clause->expr = a->expr;
        clause->expr2 = b->expr;
    }
    if (join->condition != NULL) {
        size_t count;
        const struct lineage *parts = tide__describe_conjuncts(d, join->condition, fields, &count);
        for (size_t i = 0; i < count; i++) tide__describe_lineage(d, "join.condition_nonequi", &parts[i]);
    }
    for (uint32_t side = 0; side < 2; side++) filter_clauses(d, input_flow(d, node, side), side, "filter", "filter");
    stored_columns(d, "join.input_schema", node->inputs[0], left, 0);
    stored_columns(d, "join.input_schema_right", node->inputs[1], right, 1);
    return fields;
}

static void join_flow(struct describer *d, const struct plan_node *node, struct model_operator *op,
                      const struct lineage *fields, bool finals) {
    uint32_t count = node->inputs[0]->field_count + node->inputs[1]->field_count;
    struct flow flow = tide__describe_own_flow(d, node);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = i < count ? fields[i]
                                   : tide__describe_leaf(d, LEAF_OTHER, op->index, i, "join.output",
                                                         node->fields[i].type, node->pos);
    flow.finals = finals;
    op->out = flow.fields;
    op->out_count = node->field_count;
    d->flows[node->id] = flow;
}

static void describe_window_join(struct describer *d, const struct plan_node *node) {
    const struct plan_window_join *plan = &node->window_join;
    const struct flow *inputs[2] = {input_flow(d, node, 0), input_flow(d, node, 1)};
    attached_window_clauses(d, inputs[0], plan->start_column[0], node->pos);
    struct join_parts parts = {plan->kind, plan->key_count, plan->keys, plan->condition};
    const struct lineage *fields = join_clauses(d, node, &parts);
    struct model_operator *op = tide__describe_finish(d, node, "window-join", inputs, 2);
    attach_window(op, inputs[0], plan->start_column[0]);
    op->finals = false;  // one side may be ahead of the other, by the watermark of its source
    join_flow(d, node, op, fields, true);
}

static void describe_join(struct describer *d, const struct plan_node *node) {
    const struct plan_join *plan = &node->join;
    const struct flow *inputs[2] = {input_flow(d, node, 0), input_flow(d, node, 1)};
    if (plan->interval) {
        const char *text = tide__arena_printf(
            d->arena, "%s - %s BETWEEN %s AND %s", inputs[0]->fields[plan->time_columns[0]].text,
            inputs[1]->fields[plan->time_columns[1]].text, tide__canon_duration(plan->lower_ms, d->arena),
            tide__canon_duration(plan->upper_ms, d->arena));
        tide__describe_clause(d, "join.interval", text, node->pos);
    }
    struct join_parts parts = {plan->kind, plan->key_count, plan->keys, plan->condition};
    const struct lineage *fields = join_clauses(d, node, &parts);
    struct model_operator *op = tide__describe_finish(d, node, plan->interval ? "interval-join" : "join", inputs, 2);
    join_flow(d, node, op, fields, false);
}

// --- OVER and ORDER BY ------------------------------------------------------------------------------------------------------

static const char *over_call_text(struct describer *d, const struct over_call *call, const struct flow *input) {
    if (call->kind == OVER_CALL_AGGREGATE) return aggregate_text(d, &call->aggregate, input, false);
    static const char *const names[] = {"AGGREGATE", "ROW_NUMBER", "RANK",         "DENSE_RANK", "LAG",
                                        "LEAD",      "NTILE",      "PERCENT_RANK", "CUME_DIST"};
    // Never the user's text: spelling is not meaning.
    const char *name = names[call->kind];
    if (call->kind == OVER_CALL_NTILE) return tide__arena_printf(d->arena, "NTILE(%lld)", (long long)call->offset);
    if (call->kind != OVER_CALL_LAG && call->kind != OVER_CALL_LEAD) return tide__arena_printf(d->arena, "%s()", name);
    const struct expr *fallback = tide__expr_literal(d->arena, call->fallback, call->type, (struct source_pos){0});
    return tide__arena_printf(d->arena, "%s(%s, %lld, %s)", name, input->fields[call->column].text,
                              (long long)call->offset, tide__canon_expr(fallback, NULL, d->arena).text);
}

static void over_clauses(struct describer *d, const struct plan_node *node) {
    const struct plan_over *plan = &node->over;
    const struct flow *input = input_flow(d, node, 0);
    bool sort = node->kind == PLAN_SORT;
    key_clauses(d, "over.partition", node->inputs[0], input, plan->partitions, plan->partition_count, 0);
    sort_clauses(d, sort ? "sort.order_by" : "over.order_by", input, plan->sorts, plan->sort_count);
    if (!sort) {
        const char *frame = tide__arena_printf(d->arena, "%s %lld PRECEDING", plan->rows ? "ROWS" : "RANGE",
                                               (long long)plan->preceding);
        if (plan->general)
            frame = tide__arena_printf(d->arena, "%s %s%lld TO %s%lld", plan->rows ? "ROWS" : "RANGE",
                                       plan->from_start ? "START " : "", (long long)plan->from,
                                       plan->to_end ? "END " : "", (long long)plan->to);
        else if (plan->preceding < 0)
            frame = plan->rows ? "ROWS UNBOUNDED PRECEDING" : "RANGE UNBOUNDED PRECEDING";
        tide__describe_clause(d, "over.frame", frame, node->pos)->number = plan->preceding;
    }
    for (uint32_t i = 0; i < plan->call_count; i++) {
        const struct over_call *call = &plan->calls[i];
        if (call->kind == OVER_CALL_AGGREGATE) {
            aggregate_clause(d, &call->aggregate, i, input);
            continue;
        }
        struct model_clause *clause = tide__describe_clause(d, "agg", over_call_text(d, call, input), node->pos);
        clause->type = call->type;
        if (call->kind == OVER_CALL_LAG || call->kind == OVER_CALL_LEAD)
            clause->expr = input->fields[call->column].expr;
        clause->index = i;
    }
    filter_clauses(d, input, 0, "filter", "having");
    stored_columns(d, sort ? "sort.input" : "over.input", node->inputs[0], input, 0);
}

static void describe_over(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    over_clauses(d, node);
    struct model_operator *op = tide__describe_finish(
        d, node, node->kind == PLAN_SORT ? "temporal-sort" : "over-aggregate", &input, 1);
    struct flow flow = tide__describe_own_flow(d, node);
    uint32_t n = node->inputs[0]->field_count;
    memcpy(flow.fields, input->fields, n * sizeof *flow.fields);
    for (uint32_t i = n; i < node->field_count; i++) {
        const struct over_call *call = &node->over.calls[i - n];
        flow.fields[i] = tide__describe_leaf(d, LEAF_AGGREGATE, op->index, i - n, over_call_text(d, call, input),
                                             call->type, node->pos);
    }
    op->out = flow.fields;
    op->out_count = node->field_count;
    d->flows[node->id] = flow;
}

void tide__describe_stateful(struct describer *d, const struct plan_node *node) {
    switch (node->kind) {
    case PLAN_WINDOW_AGGREGATE: describe_window_aggregate(d, node); break;
    case PLAN_WINDOW_RANK: describe_window_rank(d, node); break;
    case PLAN_GROUP_AGGREGATE: describe_group_aggregate(d, node); break;
    case PLAN_RANK: describe_rank(d, node); break;
    case PLAN_WINDOW_JOIN: describe_window_join(d, node); break;
    case PLAN_JOIN: describe_join(d, node); break;
    case PLAN_OVER:
    case PLAN_SORT: describe_over(d, node); break;
    default: break;  // keeps nothing: describe.c
    }
}
