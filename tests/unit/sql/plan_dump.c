#include "plan_dump.h"

#include <inttypes.h>
#include <string.h>

void plan_dump_type(const struct type *type, struct strbuf *out) {
    tide__type_print(type, out);
}

static void dump_literal(const struct expr *e, struct strbuf *out) {
    if (e->literal.is_null) {
        tide__strbuf_append_c(out, "NULL");
        return;
    }
    switch (tide__type_physical(e->type)) {
    case PHYSICAL_BOOL: tide__strbuf_append_c(out, e->literal.boolean ? "TRUE" : "FALSE"); break;
    case PHYSICAL_I64: tide__strbuf_printf(out, "%" PRId64, e->literal.i64); break;
    case PHYSICAL_F64: tide__strbuf_printf(out, "%g", e->literal.f64); break;
    case PHYSICAL_I128: tide__strbuf_printf(out, "%" PRId64, (int64_t)e->literal.i128); break;
    case PHYSICAL_STR: tide__strbuf_printf(out, "'%.*s'", STR_ARG(e->literal.str)); break;
    case PHYSICAL_TIME: tide__strbuf_printf(out, "%" PRId64, e->literal.time.ms); break;
    }
}

static void dump_expr(const struct expr *e, const struct plan_field *fields, uint32_t field_count, struct strbuf *out) {
    switch (e->kind) {
    case EXPR_COLUMN:
        if (fields != NULL && e->column < field_count) {
            tide__strbuf_append_c(out, fields[e->column].name);
        } else {
            tide__strbuf_printf(out, "$%u", e->column);
        }
        break;
    case EXPR_LITERAL: dump_literal(e, out); break;
    case EXPR_CALL:
        tide__strbuf_printf(out, "%s(", e->function->name);
        for (uint32_t i = 0; i < e->arg_count; i++) {
            if (i > 0) tide__strbuf_append_c(out, ", ");
            dump_expr(e->args[i], fields, field_count, out);
        }
        tide__strbuf_append_char(out, ')');
        if (strcmp(e->function->name, "CAST") == 0) {
            tide__strbuf_append_char(out, ':');
            plan_dump_type(e->type, out);
        }
        break;
    }
}

static void dump_column(const struct plan_node *input, uint32_t column, struct strbuf *out) {
    tide__strbuf_append_c(out, column < input->field_count ? input->fields[column].name : "?");
}

static void dump_columns(const char *label, const struct plan_node *input, const uint32_t *columns, uint32_t count,
                         struct strbuf *out) {
    if (count == 0) return;
    tide__strbuf_printf(out, " %s=", label);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) tide__strbuf_append_char(out, ',');
        dump_column(input, columns[i], out);
    }
}

static void dump_window(const struct window *w, const struct plan_node *input, bool attached, struct strbuf *out) {
    static const char *const kinds[] = {"TUMBLE", "HOP", "CUMULATE", "SESSION"};
    tide__strbuf_printf(out, " %s(", kinds[w->kind]);
    if (!attached) {
        dump_column(input, w->time_column, out);
        tide__strbuf_append_c(out, ", ");
    }
    if (w->slide_ms != w->size_ms) tide__strbuf_printf(out, "%" PRId64 ", ", w->slide_ms);
    tide__strbuf_printf(out, "%" PRId64, w->size_ms);
    if (w->offset_ms != 0) tide__strbuf_printf(out, ", offset %" PRId64, w->offset_ms);
    if (w->ltz) tide__strbuf_append_c(out, ", ltz");
    if (w->proctime) tide__strbuf_append_c(out, ", proctime");
    tide__strbuf_append_char(out, ')');
    dump_columns("partition", input, w->partitions, w->partition_count, out);
}

static void dump_calls(const struct aggregate_call *calls, uint32_t count, struct strbuf *out) {
    for (uint32_t i = 0; i < count; i++) {
        tide__strbuf_printf(out, " %s%s", calls[i].name, calls[i].filter >= 0 ? "?" : "");
    }
}

static void dump_sorts(const struct plan_node *input, const struct sort_key *sorts, uint32_t count,
                       struct strbuf *out) {
    tide__strbuf_append_c(out, " order=");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) tide__strbuf_append_char(out, ',');
        dump_column(input, sorts[i].column, out);
        if (sorts[i].descending) tide__strbuf_append_c(out, " desc");
        if (sorts[i].nulls_last != sorts[i].descending)
            tide__strbuf_append_c(out, sorts[i].nulls_last ? " nulls last" : " nulls first");
    }
}

static void dump_outputs(struct expr *const *outputs, uint32_t count, const struct plan_node *input,
                         struct strbuf *out) {
    tide__strbuf_append_c(out, " [");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) tide__strbuf_append_c(out, ", ");
        dump_expr(outputs[i], input->fields, input->field_count, out);
    }
    tide__strbuf_append_char(out, ']');
}

static void dump_scan(const struct plan_node *node, struct strbuf *out) {
    const struct plan_scan *s = &node->scan;
    struct plan_field reads[256];
    for (uint32_t i = 0; i < s->read_count && i < 256; i++)
        reads[i] = (struct plan_field){s->table->columns[s->reads[i]].name, NULL};
    tide__strbuf_printf(out, " %s reads=", s->table->name);
    for (uint32_t i = 0; i < s->read_count; i++) tide__strbuf_printf(out, "%s%s", i > 0 ? "," : "", reads[i].name);
    tide__strbuf_append_c(out, " [");
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (i > 0) tide__strbuf_append_c(out, ", ");
        dump_expr(s->outputs[i], reads, s->read_count, out);
    }
    tide__strbuf_append_char(out, ']');
    if (s->time_column >= 0) tide__strbuf_printf(out, " time=%s", node->fields[s->time_column].name);
    if (s->watermark != NULL) {
        tide__strbuf_append_c(out, " watermark=");
        dump_expr(s->watermark, reads, s->read_count, out);
    }
}

static void dump_condition(const struct plan_node *node, const struct expr *condition, struct strbuf *out) {
    if (condition == NULL) return;
    struct plan_field fields[512];
    uint32_t count = 0;
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < node->inputs[side]->field_count && count < 512; i++) {
            fields[count++] = node->inputs[side]->fields[i];
        }
    }
    tide__strbuf_append_c(out, " on ");
    dump_expr(condition, fields, count, out);
}

static void dump_join(const struct plan_node *node, struct strbuf *out) {
    static const char *const kinds[] = {"inner", "left", "right", "full", "semi", "anti"};
    const struct plan_window_join *w = &node->window_join;
    const struct plan_join *j = &node->join;
    bool window = node->kind == PLAN_WINDOW_JOIN;
    uint32_t *const *keys = window ? w->keys : j->keys;
    tide__strbuf_printf(out, " %s", kinds[window ? w->kind : j->kind]);
    for (uint32_t i = 0; i < (window ? w->key_count : j->key_count); i++) {
        tide__strbuf_append_char(out, ' ');
        dump_column(node->inputs[0], keys[0][i], out);
        tide__strbuf_append_char(out, '=');
        dump_column(node->inputs[1], keys[1][i], out);
    }
    if (!window && j->interval) {
        tide__strbuf_append_c(out, " interval ");
        dump_column(node->inputs[0], j->time_columns[0], out);
        tide__strbuf_append_char(out, ',');
        dump_column(node->inputs[1], j->time_columns[1], out);
        tide__strbuf_printf(out, " %" PRId64 "..%" PRId64, j->lower_ms, j->upper_ms);
    }
    dump_condition(node, window ? w->condition : j->condition, out);
}

static void dump_over(const struct plan_node *node, struct strbuf *out) {
    const struct plan_over *o = &node->over;
    dump_columns("partition", node->inputs[0], o->partitions, o->partition_count, out);
    if (o->sort_count > 0) dump_sorts(node->inputs[0], o->sorts, o->sort_count, out);
    if (node->kind == PLAN_SORT) return;
    tide__strbuf_append_c(out, o->rows ? " rows" : " range");
    if (o->preceding >= 0) tide__strbuf_printf(out, " %" PRId64 " preceding", o->preceding);
    for (uint32_t i = 0; i < o->call_count; i++) tide__strbuf_printf(out, " %s", o->calls[i].name);
}

static void dump_body(const struct plan_node *node, struct strbuf *out) {
    const struct plan_node *input = node->input_count > 0 ? node->inputs[0] : NULL;
    switch (node->kind) {
    case PLAN_SCAN: dump_scan(node, out); break;
    case PLAN_VALUES: tide__strbuf_printf(out, " %u rows", node->values.row_count); break;
    case PLAN_CALC:
        if (node->calc.condition != NULL) {
            tide__strbuf_append_c(out, " where ");
            dump_expr(node->calc.condition, input->fields, input->field_count, out);
        }
        dump_outputs(node->calc.outputs, node->field_count, input, out);
        break;
    case PLAN_EXPAND:
        for (uint32_t i = 0; i < node->expand.set_count; i++) {
            dump_outputs(&node->expand.outputs[i * node->field_count], node->field_count, input, out);
        }
        break;
    case PLAN_WINDOW_TVF: dump_window(&node->window_tvf.window, input, false, out); break;
    case PLAN_WINDOW_AGGREGATE:
        dump_window(&node->window_aggregate.window, input, node->window_aggregate.attached, out);
        if (node->window_aggregate.attached) tide__strbuf_append_c(out, " attached");
        if (node->window_aggregate.legacy) tide__strbuf_append_c(out, " legacy");
        dump_columns("keys", input, node->window_aggregate.keys, node->window_aggregate.key_count, out);
        dump_calls(node->window_aggregate.aggregates, node->window_aggregate.aggregate_count, out);
        for (uint32_t i = 0; i < node->window_aggregate.property_count; i++) {
            static const char *const names[] = {"start", "end", "time"};
            tide__strbuf_printf(out, " %s", names[node->window_aggregate.properties[i]]);
        }
        break;
    case PLAN_GROUP_AGGREGATE:
        dump_columns("keys", input, node->group_aggregate.keys, node->group_aggregate.key_count, out);
        dump_calls(node->group_aggregate.aggregates, node->group_aggregate.aggregate_count, out);
        break;
    case PLAN_WINDOW_RANK:
        dump_columns("window", input, (uint32_t[]){node->window_rank.start_column, node->window_rank.end_column}, 2,
                     out);
        dump_columns("partition", input, node->window_rank.partitions, node->window_rank.partition_count, out);
        dump_sorts(input, node->window_rank.sorts, node->window_rank.sort_count, out);
        tide__strbuf_printf(out, " %" PRId64 "..%" PRId64, node->window_rank.rank_first, node->window_rank.rank_last);
        if (node->window_rank.has_rank) tide__strbuf_append_c(out, " rank");
        if (node->window_rank.above_aggregate) tide__strbuf_append_c(out, " above-aggregate");
        if (node->window_rank.deduplicate) tide__strbuf_append_c(out, " deduplicate");
        if (node->window_rank.ties == TIE_LAST_ARRIVED) tide__strbuf_append_c(out, " ties-last");
        break;
    case PLAN_RANK:
        dump_columns("partition", input, node->rank.partitions, node->rank.partition_count, out);
        dump_sorts(input, node->rank.sorts, node->rank.sort_count, out);
        tide__strbuf_printf(out, " %" PRId64 "..%" PRId64, node->rank.rank_first, node->rank.rank_last);
        if (node->rank.has_rank) tide__strbuf_append_c(out, " rank");
        if (node->rank.deduplicate) tide__strbuf_append_c(out, " deduplicate");
        dump_columns("unique", input, node->rank.unique_keys, node->rank.unique_key_count, out);
        break;
    case PLAN_SINK:
        if (node->sink.kind == SINK_TABLE) tide__strbuf_printf(out, " %s", node->sink.table->name);
        break;
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN: dump_join(node, out); break;
    case PLAN_OVER:
    case PLAN_SORT: dump_over(node, out); break;
    case PLAN_UNNEST:
        dump_columns("of", input, &node->unnest.column, 1, out);
        if (node->unnest.outer) tide__strbuf_append_c(out, " outer");
        break;
    case PLAN_UNION: break;
    }
}

static void dump_node(const struct plan_node *node, int indent, struct strbuf *out) {
    tide__strbuf_printf(out, "%*s%s", indent * 2, "", node->operator_id);
    dump_body(node, out);
    if (node->updates) tide__strbuf_append_c(out, " updates");
    tide__strbuf_append_char(out, '\n');
    for (uint32_t i = 0; i < node->input_count; i++) dump_node(node->inputs[i], indent + 1, out);
}

void plan_dump(const struct plan *plan, struct strbuf *out) {
    for (uint32_t i = 0; i < plan->root_count; i++) dump_node(plan->roots[i], 0, out);
}
