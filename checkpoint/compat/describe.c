// A script's plans as the list of their sources, stateful operators and sinks, each with the clauses that matter for its state.
//
// The walk goes from the sources up and carries, for each node, where its fields come from and which conditions have been
// applied since the last source or stateful operator. So calcs, views and sub-queries vanish: what they do shows in the clauses of the
// operator above them. Fields are expressions over leaves (columns of sources, results of aggregates); their texts are made from those.
#include "checkpoint/compat/describe.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define EXPR_NODES_MAX 2000

// --- clauses ----------------------------------------------------------------------------------------------------------------

struct model_clause *tide__describe_clause(struct describer *d, const char *code, const char *text,
                                           struct source_pos pos) {
    d->clauses = tide__grow(d->clauses, &d->clause_cap, d->clause_count + 1, sizeof *d->clauses);
    struct model_clause *clause = &d->clauses[d->clause_count++];
    const char *copy = tide__arena_strndup(d->arena, text, strlen(text));  // tables and their names may go before it
    *clause = (struct model_clause){.code = code, .text = copy, .bare = copy, .plain = copy, .pos = pos};
    return clause;
}

struct model_clause *tide__describe_lineage(struct describer *d, const char *code, const struct lineage *lineage) {
    struct model_clause *clause = tide__describe_clause(d, code, lineage->text, lineage->pos);
    clause->expr = lineage->expr;
    if (lineage->expr != NULL) clause->plain = tide__canon_plain(lineage->expr, d->model->leaf_lineages, d->arena);
    return clause;
}

const char *tide__describe_type(const struct type *type, struct arena *arena) {
    struct type bare = *type;
    bare.nullable = true;
    bare.time_attribute = TIME_ATTRIBUTE_NONE;
    return tide__type_text(arena, &bare);
}

struct model_clause *tide__describe_typed(struct describer *d, const char *code, const struct lineage *lineage,
                                          const struct type *type) {
    struct model_clause *clause = tide__describe_lineage(d, code, lineage);
    clause->type = type;
    clause->text = tide__arena_printf(d->arena, "%s %s", tide__canon_operand(lineage, d->arena),
                                      tide__describe_type(type, d->arena));
    return clause;
}

// --- operators --------------------------------------------------------------------------------------------------------------

static uint64_t hash_clauses(const struct model_clause *clauses, size_t count, uint64_t seed) {
    struct strbuf bytes = {0};
    for (size_t i = 0; i < count; i++) {
        tide__strbuf_append(&bytes, clauses[i].code, strlen(clauses[i].code) + 1);
        tide__strbuf_append(&bytes, clauses[i].text, strlen(clauses[i].text) + 1);
    }
    uint64_t hash = tide__hash_checksum(bytes.data != NULL ? bytes.data : "", bytes.len, seed);
    tide__strbuf_deinit(&bytes);
    return hash;
}

struct model_operator *tide__describe_finish(struct describer *d, const struct plan_node *node, const char *kind,
                                             const struct flow *const *inputs, uint32_t input_count) {
    struct model *model = d->model;
    struct model_clause *clauses = ARENA_ARRAY(d->arena, struct model_clause, d->clause_count + 1);
    if (d->clause_count > 0) memcpy(clauses, d->clauses, d->clause_count * sizeof *clauses);
    struct model_operator *op = &model->operators[model->operator_count];
    *op = (struct model_operator){
        .index = model->operator_count++,
        .plan = d->plan,
        .node = node,
        .kind = kind,
        .clause_count = d->clause_count,
        .clauses = clauses,
        .window_owner = -1,
        .signature = hash_clauses(clauses, d->clause_count, tide__hash_checksum(kind, strlen(kind), 0)),
    };
    uint32_t total = 0;
    for (uint32_t i = 0; i < input_count; i++) total += inputs[i]->input_count;
    op->inputs = ARENA_ARRAY(d->arena, uint32_t, total + 1);
    for (uint32_t i = 0; i < input_count; i++) {
        op->in[i] = inputs[i]->fields;
        op->in_count[i] = node->inputs[i]->field_count;
        for (uint32_t k = 0; k < inputs[i]->input_count; k++) {
            uint32_t input = inputs[i]->inputs[k];
            op->inputs[op->input_count++] = input;
            if (model->operators[input].node->kind != PLAN_SCAN)
                op->signature = op->signature * 31 + model->operators[input].signature;
        }
    }
    d->clause_count = 0;
    return op;
}

struct flow tide__describe_own_flow(struct describer *d, const struct plan_node *node) {
    struct flow flow = {.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1)};
    flow.inputs = ARENA_ARRAY(d->arena, uint32_t, 1);
    flow.inputs[0] = d->model->operator_count - 1;
    flow.input_count = 1;
    flow.above_state = node->stateful;
    return flow;
}

// --- fields -----------------------------------------------------------------------------------------------------------------

struct lineage tide__describe_leaf(struct describer *d, enum leaf_kind kind, uint32_t op, uint32_t index,
                                   const char *text, const struct type *type, struct source_pos pos) {
    struct model *model = d->model;
    if (model->leaf_count == d->leaf_cap) {
        uint32_t cap = d->leaf_cap == 0 ? 64 : d->leaf_cap * 2;
        struct leaf *leaves = ARENA_ARRAY(d->arena, struct leaf, cap);
        struct lineage *lineages = ARENA_ARRAY(d->arena, struct lineage, cap);
        if (model->leaf_count > 0) {
            memcpy(leaves, model->leaves, model->leaf_count * sizeof *leaves);
            memcpy(lineages, model->leaf_lineages, model->leaf_count * sizeof *lineages);
        }
        model->leaves = leaves;
        model->leaf_lineages = lineages;
        d->leaf_cap = cap;
    }
    struct lineage lineage = {.text = text, .pos = pos};
    lineage.expr = tide__expr_column(d->arena, model->leaf_count, type, pos);
    model->leaf_lineages[model->leaf_count] = lineage;
    model->leaves[model->leaf_count++] = (struct leaf){lineage, kind, op, index, type};
    return lineage;
}

static uint32_t count_nodes(const struct expr *expr, uint32_t limit) {
    uint32_t n = 1;
    for (uint32_t i = 0; i < expr->arg_count && n < limit; i++) n += count_nodes(expr->args[i], limit - n);
    return n;
}

// The expression over leaves instead of over fields; NULL if a field is none.
static struct expr *compose(const struct describer *d, const struct expr *expr, const struct lineage *fields) {
    if (expr->kind == EXPR_COLUMN) {
        const struct expr *field = fields[expr->column].expr;
        if (field == NULL) return NULL;
        struct expr *copy = ARENA_NEW(d->arena, struct expr);
        *copy = *field;
        return copy;
    }
    struct expr *copy = ARENA_NEW(d->arena, struct expr);
    *copy = *expr;
    copy->args = ARENA_ARRAY(d->arena, struct expr *, expr->arg_count + 1);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        copy->args[i] = compose(d, expr->args[i], fields);
        if (copy->args[i] == NULL) return NULL;
    }
    return copy;
}

struct lineage tide__describe_expr(struct describer *d, const struct expr *expr, const struct lineage *fields) {
    if (expr->kind == EXPR_COLUMN) {
        struct lineage field = fields[expr->column];
        if (expr->pos.line > 0) field.pos = expr->pos;
        return field;
    }
    struct expr *composed = compose(d, expr, fields);
    if (composed == NULL || count_nodes(composed, EXPR_NODES_MAX) >= EXPR_NODES_MAX)
        return tide__canon_expr(expr, fields, d->arena);
    struct lineage lineage = tide__canon_expr(composed, d->model->leaf_lineages, d->arena);
    lineage.expr = composed;
    if (expr->pos.line > 0) lineage.pos = expr->pos;
    return lineage;
}

static int compare_lineages(const void *a, const void *b) {
    return strcmp(((const struct lineage *)a)->text, ((const struct lineage *)b)->text);
}

// The parts that AND joins, each by itself.
static size_t split(struct describer *d, const struct expr *condition, const struct lineage *fields,
                    struct lineage *out) {
    if (condition->kind == EXPR_CALL && strcmp(condition->function->name, "AND") == 0) {
        size_t count = 0;
        for (uint32_t i = 0; i < condition->arg_count; i++)
            count += split(d, condition->args[i], fields, out != NULL ? out + count : NULL);
        return count;
    }
    if (out != NULL) *out = tide__describe_expr(d, condition, fields);
    return 1;
}

const struct lineage *tide__describe_conjuncts(struct describer *d, const struct expr *condition,
                                               const struct lineage *fields, size_t *out_count) {
    size_t count = split(d, condition, fields, NULL);
    struct lineage *parts = ARENA_ARRAY(d->arena, struct lineage, count + 1);
    split(d, condition, fields, parts);
    // What NOT (a OR b) hides is found by canon.c, as texts.
    size_t texts;
    const struct lineage *whole = tide__canon_conjuncts(condition, fields, d->arena, &texts);
    qsort(parts, count, sizeof *parts, compare_lineages);
    if (texts > count) {
        *out_count = texts;
        return whole;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(parts[kept - 1].text, parts[i].text) != 0) parts[kept++] = parts[i];
    *out_count = kept;
    return parts;
}

const char *tide__describe_columns(const struct describer *d, const struct lineage *fields, const uint32_t *columns,
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

// --- sources ----------------------------------------------------------------------------------------------------------------

static struct str option_value(const struct table *table, const char *key) {
    const struct option *option = tide__table_option(table, key);
    return option != NULL ? option->value : (struct str){"", 0};
}

static const char *column_text(const struct describer *d, const struct table *table, uint32_t column) {
    const struct naming_table *named = tide__model_table(d->naming, table);
    if (named == NULL) return tide__arena_printf(d->arena, "%s.%s", table->name, table->columns[column].name);
    return tide__arena_printf(d->arena, "%s.%s", named->name, named->columns[column].name);
}

// The column of the table that a field of the scan is; -1: not found.
static int32_t table_column(const struct table *table, const char *name) {
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0) return (int32_t)i;
    return -1;
}

static void describe_scan(struct describer *d, const struct plan_node *node) {
    const struct plan_scan *scan = &node->scan;
    const struct table *table = scan->table;
    const struct naming_table *named = tide__model_table(d->naming, table);
    struct lineage *reads = ARENA_ARRAY(d->arena, struct lineage, scan->read_count + 1);
    struct str connector = option_value(table, "connector");
    tide__describe_clause(d, "source.table", named != NULL ? named->name : table->name, table->pos);
    tide__describe_clause(d, "source.connector", tide__arena_strndup(d->arena, connector.data, connector.len),
                          table->pos);
    uint32_t op = d->model->operator_count;
    for (uint32_t i = 0; i < scan->read_count; i++) {
        const struct table_column *column = &table->columns[scan->reads[i]];
        reads[i] = tide__describe_leaf(d, LEAF_COLUMN, op, scan->reads[i], column_text(d, table, scan->reads[i]),
                                       column->type, column->pos);
        tide__describe_clause(d, "source.column",
                              tide__arena_printf(d->arena, "%s %s",
                                                 named != NULL ? named->columns[scan->reads[i]].name : column->name,
                                                 tide__describe_type(column->type, d->arena)),
                              column->pos);
    }
    if (scan->watermark != NULL) {
        struct lineage watermark = tide__describe_expr(d, scan->watermark, reads);
        watermark.pos = scan->watermark->pos;
        tide__describe_lineage(d, "source.watermark", &watermark);
    }
    tide__describe_finish(d, node, "source", NULL, 0);
    struct flow flow = tide__describe_own_flow(d, node);
    for (uint32_t i = 0; i < node->field_count; i++) {
        flow.fields[i] = tide__describe_expr(d, scan->outputs[i], reads);
        int32_t column = table_column(table, node->fields[i].name);
        if (d->computed && column >= 0 && table->columns[column].kind == TABLE_COLUMN_COMPUTED)
            flow.fields[i] = tide__describe_leaf(d, LEAF_COLUMN, op, (uint32_t)column,
                                                 column_text(d, table, (uint32_t)column), node->fields[i].type,
                                                 table->columns[column].pos);
    }
    d->flows[node->id] = flow;
}

static void describe_values(struct describer *d, const struct plan_node *node) {
    struct strbuf all = {0};
    for (uint32_t i = 0; i < node->values.row_count * node->field_count; i++)
        tide__strbuf_printf(&all, "%s%s", i > 0 ? ", " : "",
                            tide__canon_expr(node->values.cells[i], NULL, d->arena).text);
    const char *text = tide__arena_strndup(d->arena, all.data != NULL ? all.data : "", all.len);
    tide__strbuf_deinit(&all);
    tide__describe_clause(d, "source.values", tide__canon_bounded(text, d->arena), node->pos);
    struct model_operator *op = tide__describe_finish(d, node, "source", NULL, 0);
    struct flow flow = tide__describe_own_flow(d, node);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = tide__describe_leaf(d, LEAF_COLUMN, op->index, i,
                                             tide__arena_printf(d->arena, "VALUES.%u", i + 1), node->fields[i].type,
                                             node->pos);
    d->flows[node->id] = flow;
}

// --- what keeps nothing -----------------------------------------------------------------------------------------------------

static const struct flow *input_flow(const struct describer *d, const struct plan_node *node, uint32_t i) {
    return &d->flows[node->inputs[i]->id];
}

static void describe_calc(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    struct flow flow = *input;
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    for (uint32_t i = 0; i < node->field_count; i++)
        flow.fields[i] = tide__describe_expr(d, node->calc.outputs[i], input->fields);
    flow.set_count = 0;
    if (node->calc.condition != NULL) {
        size_t count;
        const struct lineage *own = tide__describe_conjuncts(d, node->calc.condition, input->fields, &count);
        struct lineage *all = ARENA_ARRAY(d->arena, struct lineage, input->filter_count + count + 1);
        if (input->filter_count > 0) memcpy(all, input->filters, input->filter_count * sizeof *all);
        memcpy(all + input->filter_count, own, count * sizeof *all);
        qsort(all, input->filter_count + count, sizeof *all, compare_lineages);
        flow.filters = all;
        flow.filter_count = input->filter_count + count;
    }
    d->flows[node->id] = flow;
}

// The text of a field of grouping sets: what it is in each, sorted.
static const char *sets_text(struct describer *d, const struct plan_node *node, uint32_t field,
                             const struct lineage *fields, bool *out_differ) {
    uint32_t sets = node->expand.set_count;
    struct lineage *parts = ARENA_ARRAY(d->arena, struct lineage, sets + 1);
    for (uint32_t s = 0; s < sets; s++) {
        parts[s] = tide__describe_expr(d, node->expand.outputs[s * node->field_count + field], fields);
        *out_differ |= strcmp(parts[s].text, parts[0].text) != 0;
    }
    qsort(parts, sets, sizeof *parts, compare_lineages);
    const char *text = "";
    for (uint32_t s = 0; s < sets; s++)
        text = tide__arena_printf(d->arena, "%s%s%s", text, s > 0 ? " | " : "", parts[s].text);
    return tide__canon_bounded(tide__arena_printf(d->arena, "GROUPING SETS(%s)", text), d->arena);
}

// The order of the sets does not matter.
static void describe_expand(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    struct flow flow = *input;
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    for (uint32_t f = 0; f < node->field_count; f++) {
        bool differ = false;
        const char *text = sets_text(d, node, f, input->fields, &differ);
        flow.fields[f] = tide__describe_expr(d, node->expand.outputs[f], input->fields);
        if (differ)
            flow.fields[f] = tide__describe_leaf(d, LEAF_OTHER, UINT32_MAX, f, text, node->fields[f].type,
                                                 flow.fields[f].pos);
    }
    flow.set_count = node->expand.set_count;
    flow.expand = node;
    flow.expand_input = input->fields;
    d->flows[node->id] = flow;
}

// The tables and operators below, and the conditions.
static const char *branch_text(struct describer *d, const struct flow *input) {
    const char *text = "UNION ALL of";
    for (uint32_t i = 0; i < input->input_count; i++) {
        const struct model_operator *op = &d->model->operators[input->inputs[i]];
        text = tide__arena_printf(d->arena, "%s%s %s", text, i > 0 ? "," : "",
                                  op->node->kind == PLAN_SCAN ? op->clauses[0].text : op->kind);
    }
    for (size_t k = 0; k < input->filter_count; k++)
        text = tide__arena_printf(d->arena, "%s%s%s", text, k > 0 ? " AND " : " WHERE ", input->filters[k].text);
    return tide__canon_bounded(text, d->arena);
}

static void union_field(struct describer *d, const struct plan_node *node, uint32_t f, struct flow *flow) {
    struct lineage *parts = ARENA_ARRAY(d->arena, struct lineage, node->input_count + 1);
    bool same = true;
    for (uint32_t i = 0; i < node->input_count; i++) {
        parts[i] = input_flow(d, node, i)->fields[f];
        same &= strcmp(parts[i].text, parts[0].text) == 0 && parts[i].role == parts[0].role;
    }
    flow->fields[f] = parts[0];
    if (same) return;
    qsort(parts, node->input_count, sizeof *parts, compare_lineages);
    const char *text = "UNION(";
    for (uint32_t i = 0; i < node->input_count; i++)
        text = tide__arena_printf(d->arena, "%s%s%s", text, i > 0 ? " | " : "", parts[i].text);
    text = tide__canon_bounded(tide__arena_printf(d->arena, "%s)", text), d->arena);
    flow->fields[f] = tide__describe_leaf(d, LEAF_OTHER, UINT32_MAX, f, text, node->fields[f].type, node->pos);
}

static struct flow combined_inputs(struct describer *d, const struct plan_node *node) {
    struct flow flow = {.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1),
                        .finals = node->input_count == 1};  // inputs have watermarks of their own
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < node->input_count; i++) inputs += input_flow(d, node, i)->input_count;
    flow.inputs = ARENA_ARRAY(d->arena, uint32_t, inputs + 1);
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct flow *input = input_flow(d, node, i);
        for (uint32_t k = 0; k < input->input_count; k++) flow.inputs[flow.input_count++] = input->inputs[k];
        flow.above_state |= input->above_state;
        flow.above_aggregation |= input->above_aggregation;
        flow.finals &= input->finals;
    }
    return flow;
}

// Each input with its own conditions: they do not hold for the others.
static void describe_union(struct describer *d, const struct plan_node *node) {
    struct flow flow = combined_inputs(d, node);
    size_t most = node->input_count;
    for (uint32_t i = 0; i < node->input_count; i++) most += input_flow(d, node, i)->branch_count;
    struct lineage *branches = ARENA_ARRAY(d->arena, struct lineage, most + 1);
    flow.branches = branches;  // in their order: that of the inputs is a change too
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct flow *input = input_flow(d, node, i);
        bool nested = input->branch_count > 0 && input->filter_count == 0;
        for (size_t k = 0; nested && k < input->branch_count; k++) branches[flow.branch_count++] = input->branches[k];
        if (!nested)
            branches[flow.branch_count++] = (struct lineage){.text = branch_text(d, input),
                                                             .pos = node->inputs[i]->pos};
    }
    for (uint32_t f = 0; f < node->field_count; f++) union_field(d, node, f, &flow);
    d->flows[node->id] = flow;
}

static void describe_unnest(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    uint32_t fields = node->inputs[0]->field_count;
    struct flow flow = *input;
    flow.fields = ARENA_ARRAY(d->arena, struct lineage, node->field_count + 1);
    flow.set_count = 0;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (i < fields) {
            flow.fields[i] = input->fields[i];
            continue;
        }
        const char *text = tide__arena_printf(d->arena, "UNNEST(%s).%u", input->fields[node->unnest.column].text,
                                              i - fields);
        flow.fields[i] = tide__describe_leaf(d, LEAF_OTHER, UINT32_MAX, i, tide__canon_bounded(text, d->arena),
                                             node->fields[i].type, node->pos);
    }
    d->flows[node->id] = flow;
}

static void describe_sink(struct describer *d, const struct plan_node *node) {
    const struct flow *input = input_flow(d, node, 0);
    if (node->sink.kind == SINK_TABLE) {
        struct str connector = option_value(node->sink.table, "connector");
        tide__describe_clause(d, "sink.table", node->sink.table->name, node->pos);
        tide__describe_clause(d, "sink.connector", tide__arena_strndup(d->arena, connector.data, connector.len),
                              node->sink.table->pos);
    } else {
        tide__describe_clause(d, "sink.table", "the result", node->pos);
    }
    uint32_t count = node->inputs[0]->field_count;
    uint32_t columns = node->sink.kind == SINK_TABLE && node->sink.columns != NULL ? node->sink.table->column_count
                                                                                   : count;
    for (uint32_t column = 0; column < columns; column++) {  // in the table's order, whatever that of the query
        for (uint32_t i = 0; i < count; i++) {
            if ((node->sink.kind == SINK_TABLE && node->sink.columns != NULL ? node->sink.columns[i] : i) != column)
                continue;
            struct model_clause *clause = tide__describe_lineage(d, "output.column", &input->fields[i]);
            clause->index = i;
            clause->type = node->inputs[0]->fields[i].type;
        }
    }
    for (size_t i = 0; i < input->filter_count; i++)
        tide__describe_lineage(d, input->above_aggregation ? "having" : "output.filter", &input->filters[i]);
    for (size_t i = 0; i < input->branch_count; i++) tide__describe_lineage(d, "union.input", &input->branches[i]);
    struct model_operator *op = tide__describe_finish(d, node, "sink", &input, 1);
    struct model *model = d->model;
    uint64_t signature = op->input_count + 1;  // what it computes, wherever that goes
    for (uint32_t i = 0; i < op->input_count; i++)
        if (model->operators[op->inputs[i]].node->kind != PLAN_SCAN)
            signature = signature * 31 + model->operators[op->inputs[i]].signature;
    size_t sink_clauses = node->sink.kind == SINK_TABLE ? 2 : 1;
    signature = hash_clauses(op->clauses + sink_clauses, op->clause_count - sink_clauses, signature);
    model->roots[model->root_count++] = (struct model_root){node, op->index, signature};
    d->flows[node->id] = *input;
}

// --- all ----------------------------------------------------------------------------------------------------------------------

static void describe_node(struct describer *d, const struct plan_node *node) {
    switch (node->kind) {
    case PLAN_SCAN: describe_scan(d, node); break;
    case PLAN_VALUES: describe_values(d, node); break;
    case PLAN_CALC: describe_calc(d, node); break;
    case PLAN_UNION: describe_union(d, node); break;
    case PLAN_EXPAND: describe_expand(d, node); break;
    case PLAN_UNNEST: describe_unnest(d, node); break;
    case PLAN_SINK: describe_sink(d, node); break;
    case PLAN_WINDOW_TVF: tide__describe_tvf(d, node); break;
    case PLAN_WINDOW_AGGREGATE:
    case PLAN_WINDOW_RANK:
    case PLAN_GROUP_AGGREGATE:
    case PLAN_RANK:
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN:
    case PLAN_OVER:
    case PLAN_SORT: tide__describe_stateful(d, node); break;
    }
}

// Operators belong to the first sink that they feed.
static void set_roots(struct model *model) {
    bool *seen = ARENA_ARRAY(model->arena, bool, model->operator_count + 1);
    for (uint32_t r = 0; r < model->root_count; r++) {
        uint32_t sink = model->roots[r].op;
        uint32_t *stack = ARENA_ARRAY(model->arena, uint32_t, model->operator_count + 1), depth = 0;
        if (!seen[sink]) stack[depth++] = sink;
        seen[sink] = true;
        while (depth > 0) {
            struct model_operator *op = &model->operators[stack[--depth]];
            op->root = r;
            for (uint32_t i = 0; i < op->input_count; i++) {
                if (seen[op->inputs[i]]) continue;
                seen[op->inputs[i]] = true;
                stack[depth++] = op->inputs[i];
            }
        }
    }
}

void tide__model_build(const struct compat_script *script, const struct naming *naming, bool computed,
                       struct arena *arena, struct model *out) {
    *out = (struct model){.script = script, .arena = arena};
    uint32_t nodes = 0;
    for (size_t p = 0; p < script->plan_count; p++) nodes += script->plans[p]->node_count;
    out->operators = ARENA_ARRAY(arena, struct model_operator, nodes + 1);
    out->roots = ARENA_ARRAY(arena, struct model_root, nodes + 1);
    struct describer d = {.model = out, .naming = naming, .computed = computed, .arena = arena};
    for (size_t p = 0; p < script->plan_count; p++) {
        d.plan = script->plans[p];
        d.flows = ARENA_ARRAY(arena, struct flow, d.plan->node_count + 1);
        for (uint32_t i = 0; i < d.plan->node_count; i++) describe_node(&d, d.plan->nodes[i]);
    }
    tide__free(d.clauses);
    set_roots(out);
}

// --- as savepoints hold it ------------------------------------------------------------------------------------------------------

// What the user wrote there: the first line of it, at most 200 bytes.
static const char *source_text(struct str sql, struct source_pos pos, struct arena *arena) {
    if (pos.line == 0 || pos.length == 0 || pos.offset >= sql.len) return NULL;
    size_t len = pos.length < sql.len - pos.offset ? pos.length : sql.len - pos.offset;
    const char *text = sql.data + pos.offset;
    const char *newline = memchr(text, '\n', len);
    if (newline != NULL) len = (size_t)(newline - text);
    if (len > 200) len = 200;
    while (len > 0 && ((unsigned char)text[len - 1] >= 0x80 || text[len - 1] == '\r') && len == 200) len--;
    return len > 0 ? tide__arena_strndup(arena, text, len) : NULL;
}

static void fill_clause(const struct model_operator *op, const struct model_clause *clause, struct arena *arena,
                        struct plan_clause *out) {
    *out = (struct plan_clause){
        .code = clause->code,
        .text = clause->text,
        .line = clause->pos.line,
        .column = clause->pos.column,
        .source = source_text(op->plan->sql, clause->pos, arena),
    };
}

const struct plan_clause *tide__model_clause(const struct model *model, const struct model_operator *op,
                                             const struct model_clause *clause) {
    if (clause == NULL) return NULL;
    struct plan_clause *out = ARENA_NEW(model->arena, struct plan_clause);
    fill_clause(op, clause, model->arena, out);
    return out;
}

static const char *copy(struct arena *arena, const char *text) {
    return text != NULL ? tide__arena_strndup(arena, text, strlen(text)) : NULL;
}

static void fill_operator(const struct model *model, const struct model_operator *op, struct plan_operator *out) {
    struct arena *arena = model->arena;
    struct plan_clause *clauses = ARENA_ARRAY(arena, struct plan_clause, op->clause_count + 1);
    for (size_t i = 0; i < op->clause_count; i++) fill_clause(op, &op->clauses[i], arena, &clauses[i]);
    const char **inputs = ARENA_ARRAY(arena, const char *, op->input_count + 1);
    for (uint32_t i = 0; i < op->input_count; i++)
        inputs[i] = copy(arena, model->operators[op->inputs[i]].node->operator_id);
    *out = (struct plan_operator){
        .operator_id = copy(arena, op->node->operator_id),
        .kind = tide__plan_kind_name(op->node->kind),
        .uid = copy(arena, op->node->uid),
        .stateful = op->node->stateful,
        .fingerprint = hash_clauses(op->clauses, op->clause_count, 0),
        .clause_count = op->clause_count,
        .clauses = clauses,
        .input_count = op->input_count,
        .inputs = inputs,
    };
}

void tide__plan_describe(const struct plan *plan, struct arena *arena, struct plan_description *out) {
    struct compat_script script = {.sql = plan->sql, .plan_count = 1, .plans = &plan};
    struct model model;
    tide__model_build(&script, NULL, false, arena, &model);
    struct plan_operator *operators = ARENA_ARRAY(arena, struct plan_operator, model.operator_count + 1);
    for (uint32_t i = 0; i < model.operator_count; i++) fill_operator(&model, &model.operators[i], &operators[i]);
    *out = (struct plan_description){.operator_count = model.operator_count, .operators = operators};
}
