// Showing plans: text for people, JSON for tools, DOT for pictures.
#include "api/script.h"
#include "engine/expr/describe.h"
#include "sql/parse.h"
#include "sql/sql.h"

#include <string.h>

static const char *column_name(const struct plan_node *node, uint32_t column) {
    return column < node->field_count ? node->fields[column].name : "?";
}

static void append_columns(const struct plan_node *input, const uint32_t *columns, uint32_t count, struct strbuf *out) {
    for (uint32_t i = 0; i < count; i++)
        tide__strbuf_printf(out, "%s%s", i > 0 ? ", " : "", column_name(input, columns[i]));
}

static void append_duration(int64_t ms, struct strbuf *out) {
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "min"}, {1000, "s"}};
    for (size_t i = 0; i < 4; i++) {
        if (ms == 0 || ms % units[i].ms != 0) continue;
        tide__strbuf_printf(out, "%lld %s", (long long)(ms / units[i].ms), units[i].name);
        return;
    }
    tide__strbuf_printf(out, "%lld ms", (long long)ms);
}

static void append_window(const struct window *window, const struct plan_node *input, struct strbuf *out) {
    static const char *const kinds[] = {"TUMBLE", "HOP", "CUMULATE", "SESSION"};
    tide__strbuf_printf(out, "%s(%s, ", kinds[window->kind], column_name(input, window->time_column));
    if (window->kind == WINDOW_HOP || window->kind == WINDOW_CUMULATE) {
        append_duration(window->slide_ms, out);
        tide__strbuf_append_c(out, ", ");
    }
    append_duration(window->size_ms, out);
    if (window->offset_ms != 0) {
        tide__strbuf_append_c(out, ", offset ");
        append_duration(window->offset_ms, out);
    }
    tide__strbuf_append_c(out, ")");
    if (window->partition_count > 0) {
        tide__strbuf_append_c(out, " by ");
        append_columns(input, window->partitions, window->partition_count, out);
    }
}

static void append_aggregates(const struct aggregate_call *calls, uint32_t count, struct strbuf *out) {
    for (uint32_t i = 0; i < count; i++) tide__strbuf_printf(out, "%s%s", i > 0 ? ", " : "", calls[i].name);
}

static void append_sorts(const struct plan_node *input, const struct sort_key *sorts, uint32_t count,
                         struct strbuf *out) {
    for (uint32_t i = 0; i < count; i++)
        tide__strbuf_printf(out, "%s%s %s", i > 0 ? ", " : "", column_name(input, sorts[i].column),
                            sorts[i].descending ? "DESC" : "ASC");
}

static void append_rank(const struct plan_node *input, int64_t first, int64_t last, const uint32_t *partitions,
                        uint32_t partition_count, const struct sort_key *sorts, uint32_t sort_count,
                        struct strbuf *out) {
    if (first > 1)
        tide__strbuf_printf(out, "ranks %lld to %lld", (long long)first, (long long)last);
    else
        tide__strbuf_printf(out, "top %lld", (long long)last);
    if (partition_count > 0) {
        tide__strbuf_append_c(out, " for each ");
        append_columns(input, partitions, partition_count, out);
    }
    tide__strbuf_append_c(out, " by ");
    append_sorts(input, sorts, sort_count, out);
}

// What a node does, in a line.
static void append_details(const struct plan_node *node, struct strbuf *out) {
    const struct plan_node *input = node->input_count > 0 ? node->inputs[0] : NULL;
    switch (node->kind) {
    case PLAN_SCAN:
        tide__strbuf_printf(out, "table %s, reads", node->scan.table->name);
        for (uint32_t i = 0; i < node->scan.read_count; i++)
            tide__strbuf_printf(out, "%s %s", i > 0 ? "," : "", node->scan.table->columns[node->scan.reads[i]].name);
        if (node->scan.read_count == 0) tide__strbuf_append_c(out, " no column");
        break;
    case PLAN_VALUES: tide__strbuf_printf(out, "%u rows", node->values.row_count); break;
    case PLAN_CALC:
        if (node->calc.condition != NULL) {
            tide__strbuf_append_c(out, "where ");
            tide__expr_describe(node->calc.condition, input, out);
            tide__strbuf_append_c(out, "; ");
        }
        for (uint32_t i = 0; i < node->field_count; i++) {
            if (i > 0) tide__strbuf_append_c(out, ", ");
            tide__expr_describe(node->calc.outputs[i], input, out);
        }
        break;
    case PLAN_EXPAND: tide__strbuf_printf(out, "%u grouping sets", node->expand.set_count); break;
    case PLAN_WINDOW_TVF: append_window(&node->window_tvf.window, input, out); break;
    case PLAN_WINDOW_AGGREGATE: {
        const struct plan_window_aggregate *plan = &node->window_aggregate;
        if (plan->attached)
            tide__strbuf_printf(out, "window [%s, %s)", column_name(input, plan->start_column),
                                column_name(input, plan->end_column));
        else
            append_window(&plan->window, input, out);
        tide__strbuf_append_c(out, "; keys ");
        append_columns(input, plan->keys, plan->key_count, out);
        if (plan->key_count == 0) tide__strbuf_append_c(out, "none");
        tide__strbuf_append_c(out, "; ");
        append_aggregates(plan->aggregates, plan->aggregate_count, out);
        break;
    }
    case PLAN_GROUP_AGGREGATE:
        tide__strbuf_append_c(out, "keys ");
        append_columns(input, node->group_aggregate.keys, node->group_aggregate.key_count, out);
        tide__strbuf_append_c(out, "; ");
        append_aggregates(node->group_aggregate.aggregates, node->group_aggregate.aggregate_count, out);
        break;
    case PLAN_WINDOW_RANK: {
        const struct plan_window_rank *plan = &node->window_rank;
        tide__strbuf_printf(out, "window [%s, %s); ", column_name(input, plan->start_column),
                            column_name(input, plan->end_column));
        append_rank(input, plan->rank_first, plan->rank_last, plan->partitions, plan->partition_count, plan->sorts,
                    plan->sort_count, out);
        break;
    }
    case PLAN_RANK:
        append_rank(input, node->rank.rank_first, node->rank.rank_last, node->rank.partitions,
                    node->rank.partition_count, node->rank.sorts, node->rank.sort_count, out);
        break;
    case PLAN_SINK:
        tide__strbuf_append_c(out, node->sink.kind == SINK_COLLECT ? "result" : node->sink.table->name);
        break;
    case PLAN_UNNEST: tide__strbuf_append_c(out, column_name(input, node->unnest.column)); break;
    case PLAN_UNION:
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN:
    case PLAN_OVER:
    case PLAN_SORT: break;
    }
}

static void append_tree(const struct plan_node *node, int depth, struct strbuf *out) {
    tide__strbuf_printf(out, "%*s%s  ", depth * 2, "", node->operator_id);
    append_details(node, out);
    tide__strbuf_printf(out, "%s%s\n", node->stateful ? "  [state]" : "", node->updates ? "  [updates]" : "");
    for (uint32_t i = 0; i < node->input_count; i++) append_tree(node->inputs[i], depth + 1, out);
}

struct str tide__api_explain_text(const struct plan *plan, struct arena *arena) {
    struct strbuf out = {0};
    for (uint32_t i = 0; i < plan->root_count; i++) append_tree(plan->roots[i], 0, &out);
    struct str text = {tide__arena_strndup(arena, out.data, out.len), out.len};
    tide__strbuf_deinit(&out);
    return text;
}

// --- JSON and DOT --------------------------------------------------------------------------------------------------------

static void append_quoted(struct str s, struct strbuf *out) {
    tide__strbuf_append_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c == '"' || c == '\\')
            tide__strbuf_printf(out, "\\%c", c);
        else if (c < 0x20)
            tide__strbuf_printf(out, "\\u%04x", c);
        else
            tide__strbuf_append_char(out, (char)c);
    }
    tide__strbuf_append_char(out, '"');
}

static void append_node_json(const struct plan_node *node, const struct plan_description *description,
                             struct arena *arena, struct strbuf *out) {
    struct strbuf details = {0};
    append_details(node, &details);
    tide__strbuf_append_c(out, "{\"id\": ");
    append_quoted(tide__str(node->operator_id), out);
    tide__strbuf_printf(
        out, ", \"kind\": \"%s\", \"stateful\": %s, \"updates\": %s, \"line\": %u, \"column\": %u, \"details\": ",
        tide__plan_kind_name(node->kind), node->stateful ? "true" : "false", node->updates ? "true" : "false",
        node->pos.line, node->pos.column);
    append_quoted(tide__strbuf_str(&details), out);
    tide__strbuf_append_c(out, ", \"inputs\": [");
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (i > 0) tide__strbuf_append_c(out, ", ");
        append_quoted(tide__str(node->inputs[i]->operator_id), out);
    }
    tide__strbuf_append_c(out, "], \"fields\": [");
    for (uint32_t i = 0; i < node->field_count; i++) {
        tide__strbuf_append_c(out, i > 0 ? ", {\"name\": " : "{\"name\": ");
        append_quoted(tide__str(node->fields[i].name), out);
        tide__strbuf_append_c(out, ", \"type\": ");
        append_quoted(tide__str(tide__type_text(arena, node->fields[i].type)), out);
        tide__strbuf_append_c(out, "}");
    }
    tide__strbuf_append_c(out, "]");
    for (size_t i = 0; i < description->operator_count; i++)
        if (strcmp(description->operators[i].operator_id, node->operator_id) == 0)
            tide__strbuf_printf(out, ", \"fingerprint\": \"%016llx\"",
                                (unsigned long long)description->operators[i].fingerprint);
    tide__strbuf_append_c(out, "}");
    tide__strbuf_deinit(&details);
}

static void append_plan_json(const struct plan *plan, struct arena *arena, struct strbuf *out) {
    struct plan_description description;
    tide__plan_describe(plan, arena, &description);
    tide__strbuf_append_c(out, "{\"operators\": [");
    for (uint32_t i = 0; i < plan->node_count; i++) {
        tide__strbuf_append_c(out, i > 0 ? ",\n  " : "\n  ");
        append_node_json(plan->nodes[i], &description, arena, out);
    }
    tide__strbuf_append_c(out, "]}");
}

static void append_plan_dot(const struct plan *plan, uint32_t job, struct strbuf *out) {
    tide__strbuf_printf(out, "digraph job_%u {\n  rankdir=BT;\n  node [shape=box];\n", job + 1);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct plan_node *node = plan->nodes[i];
        struct strbuf label = {0};
        tide__strbuf_printf(&label, "%s\n", node->operator_id);
        append_details(node, &label);
        tide__strbuf_printf(out, "  n%u [label=", i);
        append_quoted(tide__strbuf_str(&label), out);
        tide__strbuf_append_c(out, node->stateful ? ", style=bold];\n" : "];\n");
        for (uint32_t k = 0; k < node->input_count; k++)
            tide__strbuf_printf(out, "  n%u -> n%u;\n", node->inputs[k]->id, i);
        tide__strbuf_deinit(&label);
    }
    tide__strbuf_append_c(out, "}\n");
}

static void append_job(const struct plan *plan, uint32_t job, enum tide_explain_format format, struct arena *arena,
                       struct strbuf *out) {
    switch (format) {
    case TIDE_EXPLAIN_TEXT:
        tide__strbuf_printf(out, "%sjob %u (line %u)\n", job > 0 ? "\n" : "", job + 1, plan->statement_pos.line);
        tide__strbuf_append_str(out, tide__api_explain_text(plan, arena));
        break;
    case TIDE_EXPLAIN_JSON:
        tide__strbuf_append_c(out, job > 0 ? ",\n" : "");
        append_plan_json(plan, arena, out);
        break;
    case TIDE_EXPLAIN_DOT: append_plan_dot(plan, job, out); break;
    }
}

static tide_status explain_all(struct sql_session *session, struct parser *parser, struct str sql,
                               enum tide_explain_format format, struct arena *arena, struct strbuf *out,
                               tide_error *err) {
    uint32_t jobs = 0;
    for (;;) {
        struct statement *statement;
        TIDE_TRY(tide__parse_next(parser, arena, &statement, err));
        if (statement == NULL) return TIDE_OK;
        struct sql_result result = {0};
        TIDE_TRY(tide__sql_compile(session, statement, sql, jobs, arena, &result, err));
        if (result.kind == SQL_JOB) append_job(result.plan, jobs++, format, arena, out);
    }
}

tide_status tide_script_explain(const char *name, const char *sql, size_t sql_len, const char *dir,
                                enum tide_explain_format format, tide_write_fn *write, void *ctx, tide_error *err) {
    (void)dir;
    struct arena arena;
    tide__arena_init(&arena);
    struct strbuf out = {0};
    struct sql_session *session = tide__sql_session_new();
    struct parser *parser = tide__parser_new(sql, sql_len);
    if (format == TIDE_EXPLAIN_JSON) tide__strbuf_append_c(&out, "{\"jobs\": [");
    tide_status status = explain_all(session, parser, (struct str){sql, sql_len}, format, &arena, &out, err);
    if (format == TIDE_EXPLAIN_JSON) tide__strbuf_append_c(&out, "]}\n");
    if (status == TIDE_OK) {
        write(ctx, out.data != NULL ? out.data : "", out.len);
    } else {
        tide__error_set_file(err, name);
        tide__error_set_excerpt(err, sql, sql_len);
    }
    tide__parser_free(parser);
    tide__sql_session_free(session);
    tide__strbuf_deinit(&out);
    tide__arena_deinit(&arena);
    return status;
}
