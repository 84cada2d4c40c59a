// Trees as text; see the header.
#include "sql_parse_dump.h"

static void text(struct strbuf *out, const char *s) {
    tide__strbuf_append_c(out, s);
}

static void path(struct strbuf *out, const struct ast_path *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (i > 0) text(out, ".");
        tide__strbuf_append_str(out, p->parts[i].text);
    }
}

static void names(struct strbuf *out, const struct ast_names *list) {
    text(out, "[");
    for (uint32_t i = 0; i < list->count; i++) {
        if (i > 0) text(out, " ");
        tide__strbuf_append_str(out, list->items[i].text);
    }
    text(out, "]");
}

static void exprs(struct strbuf *out, const struct ast_exprs *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        text(out, " ");
        dump_expr(out, list->items[i]);
    }
}

static void order(struct strbuf *out, const struct ast_order *list) {
    text(out, " (order");
    for (uint32_t i = 0; i < list->count; i++) {
        text(out, " ");
        dump_expr(out, list->items[i].expr);
        if (list->items[i].descending) text(out, " desc");
        if (list->items[i].nulls == NULLS_FIRST) text(out, " nulls-first");
        if (list->items[i].nulls == NULLS_LAST) text(out, " nulls-last");
    }
    text(out, ")");
}

static const char *const unit_names[] = {"", "year", "quarter", "month", "week", "day", "hour", "minute", "second"};

static void interval(struct strbuf *out, const struct ast_interval *v) {
    tide__strbuf_printf(out, " %s", unit_names[v->from]);
    if (v->precision >= 0) tide__strbuf_printf(out, "(%d)", v->precision);
    if (v->to) tide__strbuf_printf(out, "-%s", unit_names[v->to]);
    if (v->fraction >= 0) tide__strbuf_printf(out, "(,%d)", v->fraction);
}

static void literal(struct strbuf *out, const struct ast_expr *e) {
    static const char *const prefixes[] = {"",  "",   "",      "",      "",           "",
                                           "'", "x'", "date'", "time'", "timestamp'", "interval'"};
    text(out, prefixes[e->literal]);
    if (e->literal == LITERAL_INTERVAL && e->interval.negative) text(out, "-");
    tide__strbuf_append_str(out, e->text);
    if (e->literal >= LITERAL_STRING) text(out, "'");
    if (e->literal == LITERAL_INTERVAL) interval(out, &e->interval);
}

static void window(struct strbuf *out, const struct ast_window *w) {
    static const char *const bounds[] = {"unbounded-preceding", "preceding", "current", "following",
                                         "unbounded-following"};
    text(out, " (over");
    if (w->base.text.len) tide__strbuf_printf(out, " %.*s", STR_ARG(w->base.text));
    if (w->partition_by.count) {
        text(out, " (by");
        exprs(out, &w->partition_by);
        text(out, ")");
    }
    if (w->order_by.count) order(out, &w->order_by);
    if (w->has_frame) {
        tide__strbuf_printf(out, " (%s %s %s)", w->rows ? "rows" : "range", bounds[w->lower], bounds[w->upper]);
        if (w->lower_value) {
            text(out, " ");
            dump_expr(out, w->lower_value);
        }
    }
    text(out, ")");
}

static void call(struct strbuf *out, const struct ast_expr *e) {
    path(out, &e->path);
    text(out, "(");
    if (e->niladic) text(out, "niladic");
    if (e->distinct) text(out, "distinct");
    exprs(out, &e->args);
    if (e->order_by.count) order(out, &e->order_by);
    if (e->filter) {
        text(out, " (filter ");
        dump_expr(out, e->filter);
        text(out, ")");
    }
    if (e->over) window(out, e->over);
    if (e->json) {
        tide__strbuf_printf(out, " (json empty=%d error=%d wrapper=%d null=%d%d", (int)e->json->on_empty,
                            (int)e->json->on_error, (int)e->json->wrapper, e->json->has_on_null,
                            e->json->absent_on_null);
        if (e->json->returning) {
            text(out, " ");
            tide__type_print(e->json->returning, out);
        }
        text(out, ")");
    }
    text(out, ")");
}

static const char *head(const struct ast_expr *e) {
    static const char *const ops[] = {"",  "-",  "+",  "not", "+",  "-", "*",  "/",        "%",    "||",
                                      "=", "<>", "!=", "<",   "<=", ">", ">=", "overlaps", "like", "similar"};
    static const char *const is[] = {"is-null", "is-true",        "is-false",      "is-unknown",
                                     "is-json", "is-json-object", "is-json-array", "is-json-scalar"};
    switch ((int)e->kind) {
    case AST_EXPR_UNARY:
    case AST_EXPR_BINARY:
    case AST_EXPR_LIKE: return ops[e->op];
    case AST_EXPR_QUANTIFIED: return e->all ? "all" : "any";
    case AST_EXPR_AND: return "and";
    case AST_EXPR_OR: return "or";
    case AST_EXPR_IS: return is[e->is];
    case AST_EXPR_IS_DISTINCT: return "distinct-from";
    case AST_EXPR_BETWEEN: return e->symmetric ? "between-symmetric" : "between";
    case AST_EXPR_IN_LIST:
    case AST_EXPR_IN_QUERY: return "in";
    case AST_EXPR_EXISTS: return "exists";
    case AST_EXPR_SUBQUERY: return "query";
    case AST_EXPR_CASE: return e->has_operand ? "case-of" : "case";
    case AST_EXPR_CAST: return e->try_cast ? "try-cast" : "cast";
    case AST_EXPR_ROW: return "row";
    case AST_EXPR_ARRAY: return "array";
    case AST_EXPR_MAP: return "map";
    case AST_EXPR_ELEMENT: return "element";
    case AST_EXPR_FIELD: return "field";
    case AST_EXPR_NAMED_ARG: return "named";
    case AST_EXPR_TABLE_ARG: return e->has_table_word ? "table-arg" : "query-arg";
    case AST_EXPR_DESCRIPTOR: return "descriptor";
    case AST_EXPR_INTERVAL: return "interval";
    default: return "?";
    }
}

void dump_expr(struct strbuf *out, const struct ast_expr *e) {
    switch ((int)e->kind) {
    case AST_EXPR_LITERAL: literal(out, e); return;
    case AST_EXPR_COLUMN: path(out, &e->path); return;
    case AST_EXPR_SYMBOL: tide__strbuf_printf(out, ":%.*s", STR_ARG(e->text)); return;
    case AST_EXPR_DEFAULT: text(out, "default"); return;
    case AST_EXPR_CALL: call(out, e); return;
    case AST_EXPR_STAR:
        path(out, &e->path);
        text(out, e->path.count ? ".*" : "*");
        return;
    default: break;
    }
    tide__strbuf_printf(out, "(%s%s", e->negated ? "not-" : "", head(e));
    if (e->kind == AST_EXPR_QUANTIFIED) tide__strbuf_printf(out, " op%d", (int)e->op);
    if (e->name.text.len) tide__strbuf_printf(out, " %.*s", STR_ARG(e->name.text));
    if (e->names.count) {
        text(out, " ");
        names(out, &e->names);
    }
    exprs(out, &e->args);
    if (e->kind == AST_EXPR_INTERVAL || (e->kind == AST_EXPR_BINARY && e->interval.from)) interval(out, &e->interval);
    if (e->type) {
        text(out, " ");
        tide__type_print(e->type, out);
    }
    if (e->query) {
        text(out, " ");
        dump_query(out, e->query);
    }
    if (e->partition_by.count) {
        text(out, " (by");
        exprs(out, &e->partition_by);
        text(out, ")");
    }
    if (e->order_by.count) order(out, &e->order_by);
    text(out, ")");
}

void dump_table(struct strbuf *out, const struct ast_table_ref *t) {
    static const char *const joins[] = {"inner", "left", "right", "full", "cross", "comma"};
    if (t->lateral) text(out, "lateral ");
    switch (t->kind) {
    case TABLE_NAME: path(out, &t->path); break;
    case TABLE_SUBQUERY: dump_query(out, t->query); break;
    case TABLE_FUNCTION:
    case TABLE_UNNEST: dump_expr(out, t->call); break;
    case TABLE_JOIN:
        tide__strbuf_printf(out, "(%s%s ", t->natural ? "natural-" : "", joins[t->join]);
        dump_table(out, t->left);
        text(out, " ");
        dump_table(out, t->right);
        if (t->on) {
            text(out, " on ");
            dump_expr(out, t->on);
        }
        if (t->using_columns.count) names(out, &t->using_columns);
        text(out, ")");
        break;
    }
    if (t->with_ordinality) text(out, " ordinality");
    for (uint32_t i = 0; i < t->options.count; i++)
        tide__strbuf_printf(out, " {%.*s=%.*s}", STR_ARG(t->options.items[i].key), STR_ARG(t->options.items[i].value));
    if (t->system_time) {
        text(out, " as-of ");
        dump_expr(out, t->system_time);
    }
    if (t->alias.text.len) tide__strbuf_printf(out, " as %.*s", STR_ARG(t->alias.text));
    if (t->columns.count) names(out, &t->columns);
}

static void group(struct strbuf *out, const struct ast_group *g) {
    static const char *const kinds[] = {"", "sets", "rollup", "cube"};
    tide__strbuf_printf(out, "(%s", kinds[g->kind]);
    exprs(out, &g->exprs);
    for (uint32_t i = 0; i < g->child_count; i++) group(out, &g->children[i]);
    text(out, ")");
}

static void select(struct strbuf *out, const struct ast_query *q) {
    text(out, q->distinct ? "select-distinct" : "select");
    for (uint32_t i = 0; i < q->item_count; i++) {
        text(out, " ");
        dump_expr(out, q->items[i].expr);
        if (q->items[i].alias.text.len) tide__strbuf_printf(out, ":%.*s", STR_ARG(q->items[i].alias.text));
    }
    if (q->from) {
        text(out, " from ");
        dump_table(out, q->from);
    }
    const struct ast_expr *const clauses[] = {q->where, q->having, q->qualify};
    static const char *const words[] = {"where", "having", "qualify"};
    for (size_t i = 0; i < 3; i++) {
        if (!clauses[i]) continue;
        tide__strbuf_printf(out, " %s ", words[i]);
        dump_expr(out, clauses[i]);
    }
    if (q->has_group_by) text(out, " group ");
    for (uint32_t i = 0; i < q->group_by.count; i++) group(out, &q->group_by.items[i]);
    for (uint32_t i = 0; i < q->window_count; i++) {
        tide__strbuf_printf(out, " window %.*s", STR_ARG(q->windows[i].name.text));
        window(out, q->windows[i].window);
    }
}

void dump_query(struct strbuf *out, const struct ast_query *q) {
    static const char *const set_ops[] = {"union", "intersect", "except"};
    text(out, "{");
    for (uint32_t i = 0; i < q->cte_count; i++) {
        tide__strbuf_printf(out, "with %.*s", STR_ARG(q->ctes[i].name.text));
        if (q->ctes[i].columns.count) names(out, &q->ctes[i].columns);
        text(out, " ");
        dump_query(out, q->ctes[i].query);
        text(out, " ");
    }
    switch (q->kind) {
    case QUERY_SELECT: select(out, q); break;
    case QUERY_VALUES:
        text(out, "values");
        exprs(out, &q->rows);
        break;
    case QUERY_TABLE:
        text(out, "table ");
        path(out, &q->path);
        break;
    case QUERY_SET_OP:
        tide__strbuf_printf(out, "%s%s ", set_ops[q->set_op], q->all ? "-all" : "");
        dump_query(out, q->left);
        text(out, " ");
        dump_query(out, q->right);
        break;
    case QUERY_NESTED:
        text(out, "nested ");
        dump_query(out, q->left);
        break;
    }
    if (q->order_by.count) order(out, &q->order_by);
    if (q->limit) tide__strbuf_printf(out, " limit %.*s", STR_ARG(q->limit->text));
    if (q->offset) tide__strbuf_printf(out, " offset %.*s", STR_ARG(q->offset->text));
    text(out, "}");
}

static void column(struct strbuf *out, const struct column_def *c) {
    tide__strbuf_printf(out, " (%.*s ", STR_ARG(c->name.text));
    if (c->type) tide__type_print(c->type, out);
    if (c->expr) dump_expr(out, c->expr);
    if (c->kind == COLUMN_METADATA) tide__strbuf_printf(out, " metadata %.*s", STR_ARG(c->metadata_key));
    if (c->is_virtual) text(out, " virtual");
    if (c->comment.data) tide__strbuf_printf(out, " '%.*s'", STR_ARG(c->comment));
    text(out, ")");
}

static void table_parts(struct strbuf *out, const struct statement *s) {
    for (uint32_t i = 0; i < s->column_def_count; i++) column(out, &s->column_defs[i]);
    if (s->watermark) {
        text(out, " watermark ");
        path(out, &s->watermark->column);
        text(out, " ");
        dump_expr(out, s->watermark->expr);
    }
    if (s->primary_key.count) {
        text(out, s->primary_key_enforced ? " enforced-key " : " key ");
        names(out, &s->primary_key);
    }
    if (s->partitioned_by.count) {
        text(out, " partitioned ");
        names(out, &s->partitioned_by);
    }
    if (s->has_like) {
        text(out, " like ");
        path(out, &s->like_path);
        for (uint32_t i = 0; i < s->like_option_count; i++)
            tide__strbuf_printf(out, " %d:%.*s", (int)s->like_options[i].merge, STR_ARG(s->like_options[i].what));
    }
}

void dump_statement(struct strbuf *out, const struct statement *s) {
    static const char *const kinds[] = {"query",      "insert",          "set-of",        "create-table", "create-view",
                                        "drop-table", "drop-view",       "set",           "reset",        "describe",
                                        "show",       "explain",         "use",           "alter-rename", "alter-add",
                                        "alter-set",  "create-database", "drop-database", "unsupported"};
    tide__strbuf_printf(out, "%s", kinds[s->kind]);
    if (s->temporary) text(out, " temporary");
    if (s->if_not_exists) text(out, " if-not-exists");
    if (s->if_exists) text(out, " if-exists");
    if (s->overwrite) text(out, " overwrite");
    if (s->extended) text(out, " extended");
    if (s->what.len) tide__strbuf_printf(out, " <%.*s>", STR_ARG(s->what));
    if (s->path.count) {
        text(out, " ");
        path(out, &s->path);
    }
    if (s->new_path.count) {
        text(out, " -> ");
        path(out, &s->new_path);
    }
    if (s->columns.count) names(out, &s->columns);
    for (uint32_t i = 0; i < s->partition_count; i++) {
        tide__strbuf_printf(out, " partition %.*s=", STR_ARG(s->partition[i].name.text));
        if (s->partition[i].value) dump_expr(out, s->partition[i].value);
    }
    table_parts(out, s);
    if (s->comment.data) tide__strbuf_printf(out, " '%.*s'", STR_ARG(s->comment));
    for (uint32_t i = 0; i < s->options.count; i++)
        tide__strbuf_printf(out, " {%.*s=%.*s}", STR_ARG(s->options.items[i].key), STR_ARG(s->options.items[i].value));
    if (s->like.data) tide__strbuf_printf(out, " like '%.*s'", STR_ARG(s->like));
    if (s->uid.data) tide__strbuf_printf(out, " uid=%.*s", STR_ARG(s->uid));
    if (s->query) {
        text(out, " ");
        dump_query(out, s->query);
    }
    for (uint32_t i = 0; i < s->statement_count; i++) {
        text(out, " (");
        dump_statement(out, s->statements[i]);
        text(out, ")");
    }
}
