// FROM: tables, views, WITH queries, subqueries, window functions.
#include "sql/bind.h"

#include <string.h>

static void rename_tables(struct binder *b, struct relation *relation, struct str alias) {
    relation->tables = ARENA_ARRAY(b->arena, struct str, relation->node->field_count);
    relation->hidden = NULL;
    for (uint32_t i = 0; i < relation->node->field_count; i++) relation->tables[i] = alias;
}

// AS t (a, b): a calc that only renames.
static tide_status rename_columns(struct binder *b, const struct ast_names *names, struct source_pos pos,
                                  struct relation *inout) {
    if (names->count == 0) return TIDE_OK;
    if (names->count != inout->node->field_count) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, names->items[0].pos, "%u column names for %u columns",
                             names->count, inout->node->field_count);
    }
    struct plan_node *calc = tide__node_calc(b->arena, inout->node, names->count, pos);
    for (uint32_t i = 0; i < names->count; i++) {
        calc->calc.outputs[i] = tide__node_column(b->arena, inout->node, i, pos);
        calc->fields[i] = (struct plan_field){tide__bind_name(b, names->items[i].text), inout->node->fields[i].type};
    }
    inout->node = calc;
    return TIDE_OK;
}

// Nodes keep the uid of the innermost view that they come from.
static void set_uid(struct plan_node *node, const char *uid) {
    if (uid == NULL || node->uid != NULL) return;
    node->uid = uid;
    for (uint32_t i = 0; i < node->input_count; i++) set_uid(node->inputs[i], uid);
}

static tide_status bind_view(struct binder *b, const struct catalog_entry *entry, struct source_pos pos,
                             struct relation *out) {
    struct cte *ctes = b->ctes;
    b->ctes = NULL;
    tide_status status = tide__bind_query(b, entry->query, out);
    b->ctes = ctes;
    TIDE_TRY(status);
    set_uid(out->node, entry->uid);
    return rename_columns(b, &entry->view_columns, pos, out);
}

static struct cte *find_cte(struct binder *b, const struct ast_path *path) {
    if (path->count != 1) return NULL;
    for (struct cte *cte = b->ctes; cte != NULL; cte = cte->outer) {
        if (tide__str_eq(cte->ast->name.text, path->parts[0].text)) return cte;
    }
    return NULL;
}

tide_status tide__bind_named_table(struct binder *b, const struct ast_path *path, const struct ast_options *options,
                                   struct relation *out) {
    struct cte *cte = find_cte(b, path);
    struct catalog_entry *entry = NULL;
    if (cte != NULL) {
        struct cte *ctes = b->ctes;
        b->ctes = cte->visible;
        tide_status status = tide__bind_query(b, cte->ast->query, out);
        b->ctes = ctes;
        TIDE_TRY(status);
        TIDE_TRY(rename_columns(b, &cte->ast->columns, path->pos, out));
    } else {
        TIDE_TRY(tide__catalog_get(b->session, path, &entry, b->err));
        if (entry->is_view) {
            TIDE_TRY(bind_view(b, entry, path->pos, out));
        } else {
            TIDE_TRY(tide__bind_scan(b, entry, options, path->pos, out));
        }
    }
    rename_tables(b, out, path->parts[path->count - 1].text);
    return TIDE_OK;
}

static tide_status bind_function(struct binder *b, const struct ast_table_ref *ref, struct relation *out) {
    const struct ast_expr *call = ref->call;
    struct str name = call->path.parts[call->path.count - 1].text;
    static const char *const names[] = {"TUMBLE", "HOP", "CUMULATE", "SESSION"};
    for (size_t i = 0; i < 4; i++) {
        if (tide__str_ieq_c(name, names[i])) return tide__bind_window_function(b, call, out);
    }
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, call->pos, "unknown table function \"%.*s\"", STR_ARG(name));
    const char *nearest = tide__nearest(name, names, 4);
    if (nearest != NULL) return tide__fail_hint(b->err, "did you mean %s?", nearest);
    return tide__fail_hint(b->err, "the window functions are TUMBLE, HOP, CUMULATE and SESSION");
}

// Over one row without columns.
static tide_status bind_lone_unnest(struct binder *b, const struct ast_table_ref *ref, struct relation *out) {
    struct plan_node *row = tide__node_new(b->arena, PLAN_VALUES, ref->pos, 0, 0);
    row->values.row_count = 1;
    struct relation nothing = {.node = row};
    return tide__bind_unnest(b, ref, &nothing, false, out);
}

tide_status tide__bind_from(struct binder *b, const struct ast_table_ref *ref, struct relation *out) {
    *out = (struct relation){0};
    switch (ref->kind) {
    case TABLE_NAME:
        if (ref->system_time != NULL) {
            return tide__fail_at(b->err, TIDE_ERR_PLAN, ref->system_time->pos,
                                 "FOR SYSTEM_TIME AS OF is not supported yet");
        }
        TIDE_TRY(tide__bind_named_table(b, &ref->path, &ref->options, out));
        break;
    case TABLE_SUBQUERY:
        TIDE_TRY(tide__bind_query(b, ref->query, out));
        rename_tables(b, out, (struct str){NULL, 0});
        break;
    case TABLE_FUNCTION: TIDE_TRY(bind_function(b, ref, out)); break;
    case TABLE_UNNEST: return bind_lone_unnest(b, ref, out);
    case TABLE_JOIN: TIDE_TRY(tide__bind_join(b, ref, out)); break;
    }
    TIDE_TRY(rename_columns(b, &ref->columns, ref->pos, out));
    if (ref->alias.text.len > 0) rename_tables(b, out, ref->alias.text);
    return TIDE_OK;
}
