// What the check asks of models: which table is which, what can be computed from what.
#include "checkpoint/compat/model.h"

#include <string.h>

#define VISITS_MAX 20000

// --- which table is which -----------------------------------------------------------------------------------------------------

static bool same_option(const struct table *a, const struct table *b, const char *key) {
    const struct option *x = tide__table_option(a, key), *y = tide__table_option(b, key);
    if (x == NULL || y == NULL) return x == y;
    return x->value.len == y->value.len && memcmp(x->value.data, y->value.data, x->value.len) == 0;
}

// Where the rows come from.
static bool same_place(const struct table *a, const struct table *b) {
    static const char *const keys[] = {"connector", "path", "topic", "topic-pattern", "properties.bootstrap.servers",
                                       "format"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!same_option(a, b, keys[i])) return false;
    return true;
}

static bool same_columns(const struct table *a, const struct table *b) {
    if (a->column_count != b->column_count) return false;
    for (uint32_t i = 0; i < a->column_count; i++)
        if (strcmp(a->columns[i].name, b->columns[i].name) != 0) return false;
    return true;
}

struct tables {
    const struct table **items;
    size_t count;
};

// Each table once, in the order in which it is read.
static struct tables tables_of(const struct compat_script *script, struct arena *arena) {
    size_t nodes = 0;
    for (size_t p = 0; p < script->plan_count; p++) nodes += script->plans[p]->node_count;
    struct tables tables = {.items = ARENA_ARRAY(arena, const struct table *, nodes + 1)};
    for (size_t p = 0; p < script->plan_count; p++) {
        for (uint32_t i = 0; i < script->plans[p]->node_count; i++) {
            const struct plan_node *node = script->plans[p]->nodes[i];
            if (node->kind != PLAN_SCAN) continue;
            size_t k = 0;
            while (k < tables.count && strcmp(tables.items[k]->name, node->scan.table->name) != 0) k++;
            if (k == tables.count) tables.items[tables.count++] = node->scan.table;
        }
    }
    return tables;
}

typedef bool same_fn(const struct table *a, const struct table *b);

static bool same_name_and_place(const struct table *a, const struct table *b) {
    return strcmp(a->name, b->name) == 0 && same_place(a, b);
}

static bool same_place_and_columns(const struct table *a, const struct table *b) {
    return same_place(a, b) && same_columns(a, b);
}

static bool same_name(const struct table *a, const struct table *b) {
    return strcmp(a->name, b->name) == 0;
}

static bool same_columns_only(const struct table *a, const struct table *b) {
    return same_option(a, b, "connector") && same_columns(a, b);
}

static void match_tables(const struct tables *olds, bool *taken, struct naming *naming, same_fn *same) {
    for (size_t i = 0; i < naming->table_count; i++) {
        for (size_t k = 0; k < olds->count && naming->tables[i].old == NULL; k++) {
            if (taken[k] || !same(naming->tables[i].table, olds->items[k])) continue;
            naming->tables[i].old = olds->items[k];
            naming->tables[i].name = olds->items[k]->name;
            taken[k] = true;
        }
    }
}

static int32_t find_column(const struct table *table, const char *name) {
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0) return (int32_t)i;
    return -1;
}

// By name; then, in a table whose other columns stand where they stood, by place and type.
static void match_columns(struct naming_table *table, struct arena *arena) {
    const struct table *now = table->table, *old = table->old;
    table->columns = ARENA_ARRAY(arena, struct naming_column, now->column_count + 1);
    for (uint32_t i = 0; i < now->column_count; i++) {
        const char *name = now->columns[i].name;
        table->columns[i] = (struct naming_column){name, old != NULL ? find_column(old, name) : -1, false};
    }
    if (old == NULL || old->column_count != now->column_count) return;
    for (uint32_t i = 0; i < now->column_count; i++) {
        struct naming_column *column = &table->columns[i];
        if (column->old >= 0 || find_column(now, old->columns[i].name) >= 0) continue;
        if (now->columns[i].kind != old->columns[i].kind || now->columns[i].type->kind != old->columns[i].type->kind)
            continue;
        *column = (struct naming_column){old->columns[i].name, (int32_t)i, true};
    }
}

void tide__model_names(const struct compat_script *old_script, const struct compat_script *new_script,
                       struct arena *arena, struct naming *out) {
    struct tables olds = tables_of(old_script, arena), news = tables_of(new_script, arena);
    bool *taken = ARENA_ARRAY(arena, bool, olds.count + 1);
    *out = (struct naming){news.count, ARENA_ARRAY(arena, struct naming_table, news.count + 1)};
    for (size_t i = 0; i < news.count; i++)
        out->tables[i] = (struct naming_table){.table = news.items[i], .name = news.items[i]->name};
    match_tables(&olds, taken, out, same_name_and_place);
    match_tables(&olds, taken, out, same_place_and_columns);
    match_tables(&olds, taken, out, same_name);
    match_tables(&olds, taken, out, same_place);
    match_tables(&olds, taken, out, same_columns_only);
    for (size_t i = 0; i < news.count; i++) match_columns(&out->tables[i], arena);
}

const struct naming_table *tide__model_table(const struct naming *naming, const struct table *table) {
    for (size_t i = 0; naming != NULL && i < naming->table_count; i++)
        if (strcmp(naming->tables[i].table->name, table->name) == 0) return &naming->tables[i];
    return NULL;
}

// --- what can be computed from what -------------------------------------------------------------------------------------------

struct rewriting {
    const struct model *model;
    const struct model_clause *columns;
    size_t column_count;
    struct arena *arena;
    uint32_t visits;
};

static const struct expr *rewrite(struct rewriting *r, const struct expr *expr) {
    if (++r->visits > VISITS_MAX) return NULL;
    if (expr->kind == EXPR_LITERAL) return expr;
    const char *text = tide__canon_expr(expr, r->model->leaf_lineages, r->arena).text;
    for (size_t i = 0; i < r->column_count; i++) {
        const struct model_clause *column = &r->columns[i];
        if (column->expr != NULL && strcmp(column->bare, text) == 0)
            return tide__expr_column(r->arena, column->index, column->type != NULL ? column->type : expr->type,
                                     expr->pos);
    }
    if (expr->kind == EXPR_COLUMN || expr->function->nondeterministic) return NULL;
    struct expr *copy = ARENA_NEW(r->arena, struct expr);
    *copy = *expr;
    copy->args = ARENA_ARRAY(r->arena, struct expr *, expr->arg_count + 1);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        const struct expr *arg = rewrite(r, expr->args[i]);
        if (arg == NULL) return NULL;
        struct expr *own = ARENA_NEW(r->arena, struct expr);
        *own = *arg;
        copy->args[i] = own;
    }
    return copy;
}

const struct expr *tide__model_over(const struct model *model, const struct expr *expr,
                                    const struct model_clause *columns, size_t column_count, struct arena *arena) {
    struct rewriting r = {model, columns, column_count, arena, 0};
    return expr != NULL ? rewrite(&r, expr) : NULL;
}

static bool reads(const struct model *model, const struct expr *expr, leaf_fn *is, void *ctx, uint32_t *visits) {
    if (++*visits > VISITS_MAX) return true;
    if (expr->kind == EXPR_COLUMN) return is(ctx, model, expr->column);
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (reads(model, expr->args[i], is, ctx, visits)) return true;
    return false;
}

bool tide__model_reads(const struct model *model, const struct expr *expr, leaf_fn *is, void *ctx) {
    uint32_t visits = 0;
    return expr != NULL && reads(model, expr, is, ctx, &visits);
}
