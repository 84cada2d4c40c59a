// A plan as the list of its sources, stateful operators and sinks, each with the clauses that matter for its state.
//
// The walk goes from the sources up and carries, for each node, where its fields come from in source columns and which
// conditions have been applied since the last source or stateful operator. So calcs, views and sub-queries vanish: what they
// do shows in the clauses of the operator above them.
#include "base/alloc.h"
#include "base/hash.h"
#include "base/zone.h"
#include "checkpoint/compat/canon.h"
#include "checkpoint/savepoint.h"

#include <stdlib.h>
#include <string.h>

// What leaves a node.
struct flow {
    struct lineage *fields;
    const struct lineage *filters;  // sorted
    size_t filter_count;
    const char **inputs;  // operators that it comes from
    size_t input_count;
    bool above_state;  // some of them are stateful
};

struct describer {
    const struct plan *plan;
    struct arena *arena;
    struct flow *flows;  // by node id
    struct plan_operator *operators;
    size_t operator_count;
    // clauses of the operator that is being described
    struct plan_clause *clauses;
    size_t clause_count, clause_cap;
};

// --- clauses ------------------------------------------------------------------------------------------------------

// What the user wrote there: the first line of it, at most 200 bytes.
static const char *source_text(const struct describer *d, struct source_pos pos) {
    struct str sql = d->plan->sql;
    if (pos.line == 0 || pos.length == 0 || pos.offset >= sql.len) return NULL;
    size_t len = pos.length < sql.len - pos.offset ? pos.length : sql.len - pos.offset;
    const char *text = sql.data + pos.offset;
    const char *newline = memchr(text, '\n', len);
    if (newline != NULL) len = (size_t)(newline - text);
    if (len > 200) len = 200;
    while (len > 0 && ((unsigned char)text[len - 1] >= 0x80 || text[len - 1] == '\r') && len == 200) len--;
    return len > 0 ? tide__arena_strndup(d->arena, text, len) : NULL;
}

static const char *copy(const struct describer *d, const char *text) {
    return text != NULL ? tide__arena_strndup(d->arena, text, strlen(text)) : NULL;
}

static void clause(struct describer *d, const char *code, const char *text, struct source_pos pos) {
    d->clauses = tide__grow(d->clauses, &d->clause_cap, d->clause_count + 1, sizeof *d->clauses);
    d->clauses[d->clause_count++] = (struct plan_clause){
        .code = code,
        .text = copy(d, text),  // tables and their names may go before the description
        .line = pos.line,
        .column = pos.column,
        .source = source_text(d, pos),
    };
}

static uint64_t fingerprint(const struct plan_clause *clauses, size_t count) {
    struct strbuf bytes = {0};
    for (size_t i = 0; i < count; i++) {
        tide__strbuf_append(&bytes, clauses[i].code, strlen(clauses[i].code) + 1);
        tide__strbuf_append(&bytes, clauses[i].text, strlen(clauses[i].text) + 1);
    }
    uint64_t hash = tide__hash_checksum(bytes.data != NULL ? bytes.data : "", bytes.len, 0);
    tide__strbuf_deinit(&bytes);
    return hash;
}

static void finish_operator(struct describer *d, const struct plan_node *node, const struct flow *input) {
    struct plan_clause *clauses = ARENA_ARRAY(d->arena, struct plan_clause, d->clause_count + 1);
    if (d->clause_count > 0) memcpy(clauses, d->clauses, d->clause_count * sizeof *clauses);
    d->operators[d->operator_count++] = (struct plan_operator){
        .operator_id = copy(d, node->operator_id),
        .kind = tide__plan_kind_name(node->kind),
        .uid = copy(d, node->uid),
        .stateful = node->stateful,
        .fingerprint = fingerprint(clauses, d->clause_count),
        .clause_count = d->clause_count,
        .clauses = clauses,
        .input_count = input != NULL ? input->input_count : 0,
        .inputs = input != NULL ? input->inputs : NULL,
    };
    d->clause_count = 0;
}

static const char *type_text(const struct type *type, struct arena *arena) {
    struct type bare = *type;
    bare.nullable = true;
    bare.time_attribute = TIME_ATTRIBUTE_NONE;
    return tide__type_text(arena, &bare);
}

// A column that is stored: its type is a part of the layout.
static const char *typed(const struct describer *d, const struct lineage *lineage, const struct type *type) {
    return tide__arena_printf(d->arena, "%s %s", tide__canon_operand(lineage, d->arena), type_text(type, d->arena));
}

static void filter_clauses(struct describer *d, const struct flow *input, const char *below_code,
                           const char *above_code) {
    for (size_t i = 0; i < input->filter_count; i++)
        clause(d, input->above_state ? above_code : below_code, input->filters[i].text, input->filters[i].pos);
}

static void window_clauses(struct describer *d, const struct window *window, const char *time, const char *session_keys,
                           struct source_pos pos) {
    static const char *const kinds[] = {"TUMBLE", "HOP", "CUMULATE", "SESSION"};
    if (window->pos.line > 0) pos = window->pos;
    clause(d, "window.type", kinds[window->kind], pos);
    bool session = window->kind == WINDOW_SESSION;
    clause(d, session ? "window.session_gap" : "window.size", tide__canon_duration(window->size_ms, d->arena), pos);
    if (window->kind == WINDOW_HOP) clause(d, "window.slide", tide__canon_duration(window->slide_ms, d->arena), pos);
    if (window->kind == WINDOW_CUMULATE)
        clause(d, "window.step", tide__canon_duration(window->slide_ms, d->arena), pos);
    int64_t grid = window->kind == WINDOW_HOP ? window->slide_ms : window->size_ms;
    int64_t offset = session || grid <= 0 ? window->offset_ms : (window->offset_ms % grid + grid) % grid;
    if (offset != 0) clause(d, "window.offset", tide__canon_duration(offset, d->arena), pos);
    clause(d, "window.time_attribute", window->proctime ? "PROCTIME()" : time, pos);
    if (window->ltz) clause(d, "config.time_zone", tide__zone_name(d->plan->settings.zone), pos);
    if (session && session_keys != NULL && *session_keys != '\0')
        clause(d, "window.session_partition", session_keys, pos);
}

// The window of a field that holds a window's bound; nothing if that is not known.
static void attached_window_clauses(struct describer *d, const struct flow *input, uint32_t start_column,
                                    struct source_pos pos) {
    const struct lineage *start = &input->fields[start_column];
    if (start->window != NULL)
        window_clauses(d, start->window, start->window_time, start->session_keys, pos);
    else
        clause(d, "window.type", start->text, pos);
}

// --- fields -------------------------------------------------------------------------------------------------------

static const char *joined_columns(const struct describer *d, const struct lineage *fields, const uint32_t *columns,
                                  uint32_t count, bool sorted) {
    const char **texts = ARENA_ARRAY(d->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        texts[i] = fields[columns[i]].text;
        for (uint32_t k = i; sorted && k > 0 && strcmp(texts[k - 1], texts[k]) > 0; k--) {
            const char *swap = texts[k];
            texts[k] = texts[k - 1];
            texts[k - 1] = swap;
        }
    }
    const char *text = "";
    for (uint32_t i = 0; i < count; i++)
        text = i == 0 ? texts[0] : tide__arena_printf(d->arena, "%s, %s", text, texts[i]);
    return text;
}

// All fields of a node: rows that are stored as they are.
static void stored_columns(struct describer *d, const char *code, const struct plan_node *node,
                           const struct flow *flow) {
    for (uint32_t i = 0; i < node->field_count; i++)
        clause(d, code, typed(d, &flow->fields[i], node->fields[i].type), flow->fields[i].pos);
}

static struct lineage window_lineage(enum window_property property, const struct window *window, const char *time,
                                     const char *session_keys, struct source_pos pos) {
    static const char *const texts[] = {"window_start", "window_end", "window_time"};
    static const enum lineage_role roles[] = {LINEAGE_WINDOW_START, LINEAGE_WINDOW_END, LINEAGE_WINDOW_TIME};
    return (struct lineage){.text = texts[property],
                            .role = roles[property],
                            .window = window,
                            .window_time = time,
                            .session_keys = session_keys,
                            .pos = pos};
}

static const char *window_time_of(const struct window *window, const struct flow *input) {
    return window->proctime ? "PROCTIME()" : input->fields[window->time_column].text;
}

// A window column of an earlier window is a plain column for a later one.
static struct lineage earlier(const struct describer *d, struct lineage lineage) {
    if (lineage.role < LINEAGE_WINDOW_START) return lineage;
    return (struct lineage){.text = tide__arena_printf(d->arena, "inner.%s", lineage.text), .pos = lineage.pos};
}

static struct lineage aggregate_lineage(const struct describer *d, const struct aggregate_call *call,
                                        const struct flow *input) {
    struct strbuf out = {0};
    const char *name = call->aggregate->name;
    tide__strbuf_printf(&out, "%s(%s", name, call->distinct ? "DISTINCT " : "");
    bool counts_rows = strcmp(name, "COUNT") == 0 && !call->distinct &&
                       (call->arg_count == 0 ||
                        (call->arg_count == 1 && input->fields[call->args[0]].role == LINEAGE_LITERAL &&
                         strcmp(input->fields[call->args[0]].text, "NULL") != 0));
    if (counts_rows)
        tide__strbuf_append_char(&out, '*');
    else
        tide__strbuf_append_c(&out, joined_columns(d, input->fields, call->args, call->arg_count, false));
    if (!call->parameter.is_null && strcmp(name, "LISTAGG") == 0)
        tide__strbuf_printf(&out, ", '%.*s'", STR_ARG(call->parameter.str));
    tide__strbuf_append_char(&out, ')');
    if (call->filter >= 0) tide__strbuf_printf(&out, " FILTER (WHERE %s)", input->fields[call->filter].text);
    struct lineage lineage = {.text = tide__canon_bounded(tide__arena_strndup(d->arena, out.data, out.len), d->arena),
                              .pos = call->pos};
    tide__strbuf_deinit(&out);
    return lineage;
}

static void aggregate_clauses(struct describer *d, const struct aggregate_call *calls, uint32_t count,
                              const struct flow *input) {
    for (uint32_t i = 0; i < count; i++) {
        struct lineage lineage = aggregate_lineage(d, &calls[i], input);
        const char *text = calls[i].arg_count == 0 || calls[i].type == NULL
                               ? lineage.text
                               : tide__arena_printf(d->arena, "%s %s", lineage.text,
                                                    type_text(calls[i].type, d->arena));
        clause(d, calls[i].distinct ? "agg.distinct" : "agg", text, calls[i].pos);
    }
}

static void key_clauses(struct describer *d, const char *code, const struct plan_node *input_node,
                        const struct flow *input, const uint32_t *keys, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        clause(d, code, typed(d, &input->fields[keys[i]], input_node->fields[keys[i]].type),
               input->fields[keys[i]].pos);
}

static void sort_clauses(struct describer *d, const struct flow *input, const struct sort_key *sorts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct sort_key *sort = &sorts[i];
        bool usual = sort->nulls_last == sort->descending;
        const struct lineage *lineage = &input->fields[sort->column];
        clause(d, "topn.order_by",
               tide__arena_printf(d->arena, "%s %s%s", tide__canon_operand(lineage, d->arena),
                                  sort->descending ? "DESC" : "ASC",
                                  usual              ? ""
                                  : sort->nulls_last ? " NULLS LAST"
                                                     : " NULLS FIRST"),
               lineage->pos);
    }
}

// --- nodes --------------------------------------------------------------------------------------------------------

static const struct flow *input_flow(const struct describer *d, const struct plan_node *node, uint32_t i) {
    return &d->flows[node->inputs[i]->id];
}

static struct flow own_flow(const struct describer *d, const struct plan_node *node) {
    struct flow flow = {.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1)};
    flow.inputs = ARENA_ARRAY(d->arena, const char *, 1);
    flow.inputs[0] = copy(d, node->operator_id);
    flow.input_count = 1;
    flow.above_state = node->stateful;
    return flow;
}

static struct str option_value(const struct table *table, const char *key) {
    const struct option *option = tide__table_option(table, key);
    return option != NULL ? option->value : (struct str){"", 0};
}

static const char *text_of(const struct describer *d, struct str s) {
    return tide__arena_strndup(d->arena, s.data, s.len);
}

static void describe_scan(struct describer *d, const struct plan_node *node) {
    const struct plan_scan *scan = &node->scan;
    const struct table *table = scan->table;
    struct flow flow = own_flow(d, node);
    struct lineage *reads = ARENA_ARRAY(d->arena, struct lineage, scan->read_count + 1);
    clause(d, "source.table", table->name, table->pos);
    clause(d, "source.connector", text_of(d, option_value(table, "connector")), table->pos);
    for (uint32_t i = 0; i < scan->read_count; i++) {
        const struct table_column *column = &table->columns[scan->reads[i]];
        reads[i] = (struct lineage){.text = tide__arena_printf(d->arena, "%s.%s", table->name, column->name),
                                    .pos = column->pos};
        clause(d, "source.column",
               tide__arena_printf(d->arena, "%s %s", column->name, type_text(column->type, d->arena)), column->pos);
    }
    if (scan->watermark != NULL) {
        struct lineage watermark = tide__canon_expr(scan->watermark, reads, d->arena);
        clause(d, "source.watermark", watermark.text, scan->watermark->pos);
    }
    finish_operator(d, node, NULL);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = tide__canon_expr(scan->outputs[i], reads, d->arena);
    d->flows[node->id] = flow;
}

static void describe_values(struct describer *d, const struct plan_node *node) {
    struct flow flow = own_flow(d, node);
    struct strbuf all = {0};
    for (uint32_t i = 0; i < node->values.row_count * node->field_count; i++)
        tide__strbuf_printf(&all, "%s%s", i > 0 ? ", " : "",
                            tide__canon_expr(node->values.cells[i], NULL, d->arena).text);
    clause(d, "source.values",
           tide__canon_bounded(tide__arena_strndup(d->arena, all.data != NULL ? all.data : "", all.len), d->arena),
           node->pos);
    tide__strbuf_deinit(&all);
    finish_operator(d, node, NULL);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = (struct lineage){.text = tide__arena_printf(d->arena, "VALUES.%u", i + 1), .pos = node->pos};
    d->flows[node->id] = flow;
}

static int compare_filters(const void *a, const void *b) {
    return strcmp(((const struct lineage *)a)->text, ((const struct lineage *)b)->text);
}

static void describe_calc(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    struct flow flow = *input;
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = tide__canon_expr(node->calc.outputs[i], input->fields, d->arena);
    if (node->calc.condition != NULL) {
        size_t count;
        const struct lineage *own = tide__canon_conjuncts(node->calc.condition, input->fields, d->arena, &count);
        struct lineage *all = ARENA_ARRAY(d->arena, struct lineage, input->filter_count + count + 1);
        if (input->filter_count > 0) memcpy(all, input->filters, input->filter_count * sizeof *all);
        memcpy(all + input->filter_count, own, count * sizeof *all);
        qsort(all, input->filter_count + count, sizeof *all, compare_filters);
        flow.filters = all;
        flow.filter_count = input->filter_count + count;
    }
    d->flows[node->id] = flow;
}

static void describe_tvf(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    const struct window *window = &node->window_tvf.window;
    const char *time = window_time_of(window, input);
    const char *keys = joined_columns(d, input->fields, window->partitions, window->partition_count, true);
    struct flow flow = *input;
    uint32_t n = node->inputs[0]->field_count;
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    for (uint32_t i = 0; i < n; i++) flow.fields[i] = earlier(d, input->fields[i]);
    for (uint32_t i = n; i < node->field_count; i++)
        flow.fields[i] = window_lineage((enum window_property)(i - n), window, time, keys, node->pos);
    if (node->stateful) {
        window_clauses(d, window, time, keys, node->pos);
        filter_clauses(d, input, "filter", "having");
        stored_columns(d, "window.input", node->inputs[0], input);
        finish_operator(d, node, input);
        struct flow own = own_flow(d, node);
        own.fields = flow.fields;
        flow = own;
    }
    d->flows[node->id] = flow;
}

// One grouping set: the canonical texts of its columns.
struct grouping_set {
    const char *key;  // all of them, to sort by
    const struct lineage *fields;
};

static int compare_sets(const void *a, const void *b) {
    return strcmp(((const struct grouping_set *)a)->key, ((const struct grouping_set *)b)->key);
}

static struct grouping_set grouping_set(const struct describer *d, const struct plan_node *node, uint32_t set) {
    const struct flow *input = input_flow(d, node, 0);
    struct lineage *fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    struct strbuf key = {0};
    for (uint32_t f = 0; f < node->field_count; f++) {
        fields[f] = tide__canon_expr(node->expand.outputs[set * node->field_count + f], input->fields, d->arena);
        tide__strbuf_append(&key, fields[f].text, strlen(fields[f].text));
        tide__strbuf_append_char(&key, '\n');
    }
    struct grouping_set result = {tide__arena_strndup(d->arena, key.data != NULL ? key.data : "", key.len), fields};
    tide__strbuf_deinit(&key);
    return result;
}

// The order of the sets does not matter: they are sorted.
static void describe_expand(struct describer *d, const struct plan_node *node) {
    struct flow flow = *input_flow(d, node, 0);
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    struct grouping_set *sets = ARENA_ARRAY(d->arena, struct grouping_set, node->expand.set_count + 1);
    for (uint32_t s = 0; s < node->expand.set_count; s++) sets[s] = grouping_set(d, node, s);
    struct grouping_set first = sets[0];
    qsort(sets, node->expand.set_count, sizeof *sets, compare_sets);
    for (uint32_t f = 0; f < node->field_count; f++) {
        struct strbuf text = {0};
        bool differ = false;
        for (uint32_t s = 0; s < node->expand.set_count; s++) {
            differ |= strcmp(sets[s].fields[f].text, first.fields[f].text) != 0;
            tide__strbuf_printf(&text, "%s%s", s > 0 ? " | " : "", sets[s].fields[f].text);
        }
        flow.fields[f] = first.fields[f];
        if (differ)
            flow.fields[f] = (struct lineage){
                .text = tide__canon_bounded(
                    tide__arena_printf(d->arena, "GROUPING SETS(%.*s)", (int)text.len, text.data), d->arena),
                .pos = first.fields[f].pos};
        tide__strbuf_deinit(&text);
    }
    d->flows[node->id] = flow;
}

static void describe_window_aggregate(struct describer *d, const struct plan_node *node) {
    const struct plan_window_aggregate *plan = &node->window_aggregate;
    const struct plan_node *input_node = node->inputs[0];
    const struct flow *input = input_flow(d, node, 0);
    const struct window *window = &plan->window;
    const char *time = NULL, *session_keys = NULL;
    if (plan->legacy) clause(d, "window.syntax", "GROUP BY", node->pos);
    if (plan->attached) {
        attached_window_clauses(d, input, plan->start_column, node->pos);
        const struct lineage *start = &input->fields[plan->start_column];
        if (start->window != NULL) window = start->window;
        time = start->window_time;
        session_keys = start->session_keys;
    } else {
        time = window_time_of(window, input);
        session_keys = joined_columns(d, input->fields, window->partitions, window->partition_count, true);
        window_clauses(d, window, time, session_keys, node->pos);
    }
    key_clauses(d, "group_by", input_node, input, plan->keys, plan->key_count);
    aggregate_clauses(d, plan->aggregates, plan->aggregate_count, input);
    if (plan->early_fire) clause(d, "config.early_fire", "on", node->pos);
    filter_clauses(d, input, "filter", "having");
    finish_operator(d, node, input);
    struct flow flow = own_flow(d, node);
    uint32_t at = 0;
    for (uint32_t i = 0; i < plan->key_count; i++) flow.fields[at++] = input->fields[plan->keys[i]];
    for (uint32_t i = 0; i < plan->aggregate_count; i++)
        flow.fields[at++] = aggregate_lineage(d, &plan->aggregates[i], input);
    for (uint32_t i = 0; i < plan->property_count && at < node->field_count; i++)
        flow.fields[at++] = window_lineage(plan->properties[i], window, time, session_keys, node->pos);
    d->flows[node->id] = flow;
}

static void describe_group_aggregate(struct describer *d, const struct plan_node *node) {
    const struct plan_group_aggregate *plan = &node->group_aggregate;
    const struct flow *input = input_flow(d, node, 0);
    key_clauses(d, "group_by", node->inputs[0], input, plan->keys, plan->key_count);
    aggregate_clauses(d, plan->aggregates, plan->aggregate_count, input);
    if (plan->bundle_rows > 0) clause(d, "config.mini_batch", "on", node->pos);
    filter_clauses(d, input, "filter", "having");
    finish_operator(d, node, input);
    struct flow flow = own_flow(d, node);
    uint32_t at = 0;
    for (uint32_t i = 0; i < plan->key_count; i++) flow.fields[at++] = input->fields[plan->keys[i]];
    for (uint32_t i = 0; i < plan->aggregate_count; i++)
        flow.fields[at++] = aggregate_lineage(d, &plan->aggregates[i], input);
    d->flows[node->id] = flow;
}

static void rank_flow(struct describer *d, const struct plan_node *node, const struct flow *input, bool has_rank) {
    struct flow flow = own_flow(d, node);
    uint32_t n = node->inputs[0]->field_count;
    memcpy(flow.fields, input->fields, n * sizeof *flow.fields);
    if (has_rank && node->field_count > n) flow.fields[n] = (struct lineage){.text = "ROW_NUMBER()", .pos = node->pos};
    d->flows[node->id] = flow;
}

static void rank_clauses(struct describer *d, const struct plan_node *node, const struct flow *input, int64_t first,
                         int64_t last, enum tie_rule ties) {
    clause(d, "topn.limit", tide__arena_printf(d->arena, "%lld", (long long)last), node->pos);
    if (first > 1) clause(d, "topn.offset", tide__arena_printf(d->arena, "%lld", (long long)first - 1), node->pos);
    if (ties == TIE_LAST_ARRIVED) clause(d, "dedup.order_by", "the last row is kept", node->pos);
    filter_clauses(d, input, "filter", "having");
    stored_columns(d, "topn.input", node->inputs[0], input);
    finish_operator(d, node, input);
}

static void describe_window_rank(struct describer *d, const struct plan_node *node) {
    const struct plan_window_rank *plan = &node->window_rank;
    const struct flow *input = input_flow(d, node, 0);
    attached_window_clauses(d, input, plan->start_column, node->pos);
    key_clauses(d, "topn.partition", node->inputs[0], input, plan->partitions, plan->partition_count);
    sort_clauses(d, input, plan->sorts, plan->sort_count);
    rank_clauses(d, node, input, plan->rank_first, plan->rank_last, plan->ties);
    rank_flow(d, node, input, plan->has_rank);
}

static void describe_rank(struct describer *d, const struct plan_node *node) {
    const struct plan_rank *plan = &node->rank;
    const struct flow *input = input_flow(d, node, 0);
    key_clauses(d, "topn.partition", node->inputs[0], input, plan->partitions, plan->partition_count);
    sort_clauses(d, input, plan->sorts, plan->sort_count);
    rank_clauses(d, node, input, plan->rank_first, plan->rank_last, plan->ties);
    rank_flow(d, node, input, plan->has_rank);
}

static struct flow combined_inputs(const struct describer *d, const struct plan_node *node) {
    struct flow flow = {.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1)};
    size_t inputs = 0, filters = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs += input_flow(d, node, i)->input_count;
        filters += input_flow(d, node, i)->filter_count;
    }
    flow.inputs = ARENA_ARRAY(d->arena, const char *, inputs + 1);
    struct lineage *all = ARENA_ARRAY(d->arena, struct lineage, filters + 1);
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct flow *input = input_flow(d, node, i);
        for (size_t k = 0; k < input->input_count; k++) flow.inputs[flow.input_count++] = input->inputs[k];
        for (size_t k = 0; k < input->filter_count; k++) all[flow.filter_count++] = input->filters[k];
        flow.above_state |= input->above_state;
    }
    flow.filters = all;
    return flow;
}

// Each input with its own conditions: they do not hold for the others.
static void describe_union(struct describer *d, const struct plan_node *node) {
    struct flow flow = combined_inputs(d, node);
    struct lineage *branches = ARENA_ARRAY(d->arena, struct lineage, node->input_count + 1);
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct flow *input = input_flow(d, node, i);
        const char *text = "UNION ALL of";
        for (uint32_t f = 0; f < node->field_count; f++)
            text = tide__arena_printf(d->arena, "%s%s %s", text, f > 0 ? "," : "", input->fields[f].text);
        for (size_t k = 0; k < input->filter_count; k++)
            text = tide__arena_printf(d->arena, "%s%s%s", text, k > 0 ? " AND " : " WHERE ", input->filters[k].text);
        branches[i] = (struct lineage){.text = tide__canon_bounded(text, d->arena), .pos = node->inputs[i]->pos};
    }
    qsort(branches, node->input_count, sizeof *branches, compare_filters);
    flow.filters = branches;
    flow.filter_count = node->input_count;
    for (uint32_t f = 0; f < node->field_count; f++) {
        flow.fields[f] = input_flow(d, node, 0)->fields[f];
        for (uint32_t i = 1; i < node->input_count; i++)
            if (strcmp(input_flow(d, node, i)->fields[f].text, flow.fields[f].text) != 0)
                flow.fields[f] = (struct lineage){.text = tide__arena_printf(d->arena, "UNION.%u", f + 1),
                                                  .pos = node->pos};
    }
    d->flows[node->id] = flow;
}

static void describe_window_join(struct describer *d, const struct plan_node *node) {
    static const char *const kinds[] = {"INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"};
    const struct plan_window_join *plan = &node->window_join;
    const struct flow *left = input_flow(d, node, 0), *right = input_flow(d, node, 1);
    struct flow both = combined_inputs(d, node);
    uint32_t left_count = node->inputs[0]->field_count, right_count = node->inputs[1]->field_count;
    struct lineage *fields = ARENA_ARRAY(d->arena, struct lineage, left_count + right_count + 1);
    memcpy(fields, left->fields, left_count * sizeof *fields);
    memcpy(fields + left_count, right->fields, right_count * sizeof *fields);
    clause(d, "join.type", kinds[plan->kind], node->pos);
    attached_window_clauses(d, left, plan->start_column[0], node->pos);
    for (uint32_t i = 0; i < plan->key_count; i++) {
        const struct lineage *a = &left->fields[plan->keys[0][i]], *b = &right->fields[plan->keys[1][i]];
        clause(d, "join.condition_equi", tide__arena_printf(d->arena, "%s = %s", a->text, b->text), a->pos);
    }
    if (plan->condition != NULL) {
        size_t count;
        const struct lineage *parts = tide__canon_conjuncts(plan->condition, fields, d->arena, &count);
        for (size_t i = 0; i < count; i++) clause(d, "join.condition_nonequi", parts[i].text, parts[i].pos);
    }
    for (size_t i = 0; i < both.filter_count; i++) clause(d, "filter", both.filters[i].text, both.filters[i].pos);
    stored_columns(d, "join.input_schema", node->inputs[0], left);
    stored_columns(d, "join.input_schema_right", node->inputs[1], right);
    finish_operator(d, node, &both);
    struct flow flow = own_flow(d, node);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = i < left_count + right_count ? fields[i]
                                                      : (struct lineage){.text = "join.output", .pos = node->pos};
    d->flows[node->id] = flow;
}

static void describe_sink(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    if (node->sink.kind == SINK_TABLE) {
        clause(d, "sink.table", node->sink.table->name, node->sink.table->pos);
        clause(d, "sink.connector", text_of(d, option_value(node->sink.table, "connector")), node->sink.table->pos);
    } else {
        clause(d, "sink.table", "the result", node->pos);
    }
    for (uint32_t i = 0; i < node->inputs[0]->field_count; i++)
        clause(d, "output.column", input->fields[i].text, input->fields[i].pos);
    filter_clauses(d, input, "output.filter", "output.filter");
    finish_operator(d, node, input);
    d->flows[node->id] = *input;
}

// Operators that have no description of their own yet: their input is all that is known of them.
static void describe_other(struct describer *d, const struct plan_node *node) {
    struct flow both = combined_inputs(d, node);
    for (uint32_t i = 0; i < node->input_count; i++)
        stored_columns(d, "input", node->inputs[i], input_flow(d, node, i));
    for (size_t i = 0; i < both.filter_count; i++) clause(d, "filter", both.filters[i].text, both.filters[i].pos);
    finish_operator(d, node, &both);
    struct flow flow = own_flow(d, node);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = (struct lineage){.text = tide__arena_printf(d->arena, "%s.%u", node->operator_id, i + 1),
                                          .pos = node->pos};
    d->flows[node->id] = flow;
}

// Keeps nothing: its fields are the input's and what is in one of them.
static void describe_unnest(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    uint32_t fields = node->inputs[0]->field_count;
    struct flow flow = *input;
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (i < fields) {
            flow.fields[i] = input->fields[i];
            continue;
        }
        const char *text = tide__arena_printf(d->arena, "UNNEST(%s).%u", input->fields[node->unnest.column].text, i - fields);
        flow.fields[i] = (struct lineage){.text = tide__canon_bounded(text, d->arena), .pos = node->pos};
    }
    d->flows[node->id] = flow;
}

static void describe_node(struct describer *d, const struct plan_node *node) {
    switch (node->kind) {
    case PLAN_SCAN: describe_scan(d, node); break;
    case PLAN_VALUES: describe_values(d, node); break;
    case PLAN_CALC: describe_calc(d, node); break;
    case PLAN_UNION: describe_union(d, node); break;
    case PLAN_EXPAND: describe_expand(d, node); break;
    case PLAN_WINDOW_TVF: describe_tvf(d, node); break;
    case PLAN_WINDOW_AGGREGATE: describe_window_aggregate(d, node); break;
    case PLAN_WINDOW_RANK: describe_window_rank(d, node); break;
    case PLAN_GROUP_AGGREGATE: describe_group_aggregate(d, node); break;
    case PLAN_RANK: describe_rank(d, node); break;
    case PLAN_WINDOW_JOIN: describe_window_join(d, node); break;
    case PLAN_UNNEST: describe_unnest(d, node); break;
    case PLAN_SINK: describe_sink(d, node); break;
    case PLAN_JOIN:
    case PLAN_OVER:
    case PLAN_SORT: describe_other(d, node); break;
    }
}

void tide__plan_describe(const struct plan *plan, struct arena *arena, struct plan_description *out) {
    struct describer d = {.plan = plan, .arena = arena};
    d.flows = ARENA_ARRAY(arena, struct flow, plan->node_count + 1);
    d.operators = ARENA_ARRAY(arena, struct plan_operator, plan->node_count + 1);
    for (uint32_t i = 0; i < plan->node_count; i++) describe_node(&d, plan->nodes[i]);
    tide__free(d.clauses);
    *out = (struct plan_description){.operator_count = d.operator_count, .operators = d.operators};
}
