// What has changed in the tables that are read. A column's change counts by what reads it: a key or a stored row, an aggregate, nothing.
#include "checkpoint/compat/compare.h"

#include "base/alloc.h"

#include <string.h>

static bool same_text(struct str a, struct str b) {
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static struct str option_of(const struct table *table, const char *key) {
    const struct option *option = tide__table_option(table, key);
    return option != NULL ? option->value : (struct str){"", 0};
}

static const struct model_clause *pseudo(struct check *c, const char *code, const char *text, struct source_pos pos) {
    struct model_clause *clause = ARENA_NEW(c->arena, struct model_clause);
    *clause = (struct model_clause){.code = code, .text = text, .bare = text, .pos = pos};
    return clause;
}

static const struct model_clause *option_clause(struct check *c, const struct option *option) {
    if (option == NULL) return NULL;
    const char *text = tide__arena_printf(c->arena, "'%.*s' = '%.*s'", STR_ARG(option->key), STR_ARG(option->value));
    return pseudo(c, "option", text, option->value_pos);
}

static const struct model_clause *column_clause(struct check *c, const struct table_column *column) {
    const char *text = tide__arena_printf(c->arena, "%s %s", column->name, tide__type_text(c->arena, column->type));
    return pseudo(c, "source.column", text, column->pos);
}

// --- options ------------------------------------------------------------------------------------------------------------------

static bool is_place(const char *key) {
    static const char *const keys[] = {"path", "topic", "topic-pattern", "properties.bootstrap.servers", "url"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

// How bytes are read; what only decides about broken rows is none.
static bool is_meaning(const char *key) {
    if (strcmp(key, "format") == 0 || strcmp(key, "value.format") == 0) return true;
    if (strstr(key, "ignore-parse-errors") != NULL || strstr(key, "fail-on-missing-field") != NULL) return false;
    return strncmp(key, "csv.", 4) == 0 || strncmp(key, "json.", 5) == 0 || strncmp(key, "value.", 6) == 0;
}

static void option_change(struct check *c, struct pair *pair, const char *key, const struct option *a,
                          const struct option *b) {
    bool place = is_place(key);
    tide__compare_clause(c, pair, place ? "source.path" : "source.option", option_clause(c, a), option_clause(c, b),
                         COMPAT_COMPATIBLE, place || is_meaning(key) ? COMPAT_UNKNOWN : COMPAT_COMPATIBLE);
}

static void compare_options(struct check *c, struct pair *pair, const struct table *old, const struct table *now) {
    for (uint32_t i = 0; i < old->option_count; i++) {
        const struct option *a = &old->options[i];
        const char *key = tide__arena_strndup(c->arena, a->key.data, a->key.len);
        const struct option *b = tide__table_option(now, key);
        if (strcmp(key, "connector") != 0 && (b == NULL || !same_text(a->value, b->value)))
            option_change(c, pair, key, a, b);
    }
    for (uint32_t i = 0; i < now->option_count; i++) {
        const char *key = tide__arena_strndup(c->arena, now->options[i].key.data, now->options[i].key.len);
        if (strcmp(key, "connector") != 0 && tide__table_option(old, key) == NULL)
            option_change(c, pair, key, NULL, &now->options[i]);
    }
}

// --- what reads a column --------------------------------------------------------------------------------------------------------

struct wanted {
    const char *table;
    uint32_t column;
};

static bool is_wanted(void *ctx, const struct model *model, uint32_t leaf) {
    const struct wanted *w = ctx;
    const struct leaf *l = &model->leaves[leaf];
    if (l->kind != LEAF_COLUMN || l->op == UINT32_MAX || l->index != w->column) return false;
    const struct plan_node *node = model->operators[l->op].node;
    return node->kind == PLAN_SCAN && strcmp(node->scan.table->name, w->table) == 0;
}

struct reading {
    bool key, stored, aggregate;
};

// `declared`: what reads it by its name, where the table computes it.
static struct reading readers(const struct check *c, const struct table *table, uint32_t column, const char *declared) {
    static const char *const keys[] = {"group_by",       "topn.partition", "topn.order_by", "filter",
                                       "over.partition", "over.order_by",  "sort.order_by"};
    struct wanted wanted = {table->name, column};
    struct reading reading = {0};
    for (uint32_t i = 0; i < c->news.operator_count; i++) {
        const struct model_operator *op = &c->news.operators[i];
        for (size_t k = 0; k < op->clause_count; k++) {
            const struct model_clause *clause = &op->clauses[k];
            bool reads = tide__model_reads(&c->news, clause->expr, is_wanted, &wanted) ||
                         tide__model_reads(&c->news, clause->expr2, is_wanted, &wanted) ||
                         tide__model_reads(&c->news, clause->filter, is_wanted, &wanted) ||
                         (declared != NULL && clause->declared != NULL && strstr(clause->declared, declared) != NULL);
            if (!reads) continue;
            if (strncmp(clause->code, "agg", 3) == 0) reading.aggregate = true;
            for (size_t n = 0; n < sizeof keys / sizeof *keys; n++) reading.key |= strcmp(clause->code, keys[n]) == 0;
            if (!op->finals && (strstr(clause->code, ".input") != NULL || strncmp(clause->code, "join.", 5) == 0))
                reading.stored = true;
        }
    }
    return reading;
}

static bool is_read(const struct check *c, const struct model *model, const struct table *table, uint32_t column) {
    (void)c;
    for (uint32_t i = 0; i < model->operator_count; i++) {
        const struct plan_node *node = model->operators[i].node;
        if (node->kind != PLAN_SCAN || strcmp(node->scan.table->name, table->name) != 0) continue;
        for (uint32_t k = 0; k < node->scan.read_count; k++)
            if (node->scan.reads[k] == column) return true;
    }
    return false;
}

// --- columns --------------------------------------------------------------------------------------------------------------------

static bool is_positional(const struct table *table) {
    struct str format = option_of(table, "format");
    return format.len == 0 || tide__str_eq_c(format, "csv") || tide__str_eq_c(format, "raw");
}

static int32_t ordinal(const struct table *table, uint32_t column) {
    int32_t n = 0;
    for (uint32_t i = 0; i < column; i++) n += table->columns[i].kind == TABLE_COLUMN_PHYSICAL;
    return n;
}

// A column that is read stands elsewhere now.
static bool moved(const struct check *c, const struct naming_table *named) {
    for (uint32_t i = 0; i < named->table->column_count; i++) {
        int32_t old = named->columns[i].old;
        if (old < 0 || named->table->columns[i].kind != TABLE_COLUMN_PHYSICAL || !is_read(c, &c->news, named->table, i))
            continue;
        if (ordinal(named->table, i) != ordinal(named->old, (uint32_t)old)) return true;
    }
    return false;
}

static bool order_differs(const struct naming_table *named) {
    int32_t last = -1;
    for (uint32_t i = 0; i < named->table->column_count; i++) {
        int32_t old = named->columns[i].old;
        if (old < 0 || named->table->columns[i].kind != TABLE_COLUMN_PHYSICAL) continue;
        if (old < last) return true;
        last = old;
    }
    return false;
}

static void note_column(struct check *c, const struct table *table, uint32_t column, enum source_state state,
                        bool computed) {
    c->columns = tide__grow(c->columns, &c->column_cap, c->column_count + 1, sizeof *c->columns);
    c->columns[c->column_count++] = (struct source_column){table, column, state, computed};
}

static bool is_wider(const struct type *a, const struct type *b) {
    if (tide__type_is_integer(a) && tide__type_is_integer(b)) return b->kind >= a->kind;
    if (a->kind == TYPE_DECIMAL && b->kind == TYPE_DECIMAL) return a->scale == b->scale && b->precision >= a->precision;
    if (a->kind == TYPE_VARCHAR && b->kind == TYPE_VARCHAR) return b->precision >= a->precision;
    return false;
}

static bool is_window_time(const struct check *c, const struct table *table, uint32_t column) {
    const char *text = tide__arena_printf(c->arena, "%s.%s", table->name, table->columns[column].name);
    for (uint32_t i = 0; i < c->news.operator_count; i++) {
        const struct model_operator *op = &c->news.operators[i];
        if (op->window_time != NULL && strcmp(op->window_time, text) == 0) return true;
    }
    return false;
}

static enum compat_verdict strict_for(struct reading reading) {
    if (reading.key || reading.stored) return COMPAT_INCOMPATIBLE;
    return reading.aggregate ? COMPAT_PARTIAL : COMPAT_COMPATIBLE;
}

static void type_change(struct check *c, struct pair *pair, const struct naming_table *named, uint32_t column) {
    const struct table_column *a = &named->old->columns[named->columns[column].old],
                              *b = &named->table->columns[column];
    struct type bare_a = *a->type, bare_b = *b->type;
    bare_a.nullable = bare_b.nullable = true;
    bool same = tide__type_same(&bare_a, &bare_b), nullable = a->type->nullable != b->type->nullable;
    if ((same && !nullable) || is_window_time(c, named->table, column)) return;
    bool wider = (same || is_wider(a->type, b->type)) && (!nullable || b->type->nullable);
    struct reading reading = readers(c, named->table, column, NULL);
    bool used = reading.key || reading.stored || reading.aggregate;
    enum compat_verdict strict = strict_for(reading), exact = wider ? COMPAT_COMPATIBLE : strict;
    if (same && used) strict = COMPAT_UNKNOWN;
    if (same && used && !b->type->nullable) exact = COMPAT_UNKNOWN;
    note_column(c, named->table, column, wider || same ? SOURCE_WIDENED : SOURCE_CHANGED, false);
    struct change *change = tide__compare_clause(c, pair, "source.column_type", column_clause(c, a),
                                                 column_clause(c, b), strict, exact);
    change->needs = !used ? 0 : wider ? COMPAT_CAN_WIDEN | (reading.key ? COMPAT_CAN_KEYS : 0) : COMPAT_CAN_AGGREGATES;
}

// What a column of the table is in the scan's outputs; NULL: it is not among them.
static const char *output_text(const struct check *c, const struct model *model, const struct pair *pair, bool old,
                               const char *name) {
    const struct model_operator *op = old ? pair->old_op : pair->new_op;
    const struct plan_scan *scan = &op->node->scan;
    struct lineage *reads = ARENA_ARRAY(c->arena, struct lineage, scan->read_count + 1);
    for (uint32_t i = 0; i < scan->read_count; i++)
        for (uint32_t leaf = 0; leaf < model->leaf_count; leaf++)
            if (model->leaves[leaf].op == op->index && model->leaves[leaf].index == scan->reads[i] &&
                model->leaves[leaf].kind == LEAF_COLUMN)
                reads[i] = model->leaf_lineages[leaf];
    for (uint32_t i = 0; i < op->node->field_count; i++)
        if (strcmp(op->node->fields[i].name, name) == 0)
            return tide__canon_expr(scan->outputs[i], reads, c->arena).text;
    return NULL;
}

static void computed_change(struct check *c, struct pair *pair, const struct naming_table *named, uint32_t column) {
    const struct table_column *a = &named->old->columns[named->columns[column].old],
                              *b = &named->table->columns[column];
    const char *x = output_text(c, &c->olds, pair, true, a->name), *y = output_text(c, &c->news, pair, false, b->name);
    if (x == NULL || y == NULL || strcmp(x, y) == 0) return;
    note_column(c, named->table, column, SOURCE_CHANGED, true);
    struct change *change = tide__compare_clause(c, pair, "source.computed_column", column_clause(c, a),
                                                 column_clause(c, b), COMPAT_PARTIAL, COMPAT_PARTIAL);
    change->message = tide__arena_printf(c->arena, "the column %s was %s and is %s", b->name, x, y);
    change->needs = COMPAT_CAN_AGGREGATES;
}

static void compare_columns(struct check *c, struct pair *pair, const struct naming_table *named) {
    bool places = is_positional(named->table) && moved(c, named);
    enum compat_verdict exact = places ? COMPAT_UNKNOWN : COMPAT_COMPATIBLE;
    bool *seen = ARENA_ARRAY(c->arena, bool, named->old->column_count + 1);
    for (uint32_t i = 0; i < named->table->column_count; i++) {
        const struct naming_column *column = &named->columns[i];
        const struct table_column *now = &named->table->columns[i];
        if (column->old >= 0) seen[column->old] = true;
        if (column->old < 0) {
            bool said = is_read(c, &c->news, named->table, i) && !places;  // by what reads it
            if (now->kind == TABLE_COLUMN_PHYSICAL && !said)
                tide__compare_clause(c, pair, "source.column_added", NULL, column_clause(c, now), COMPAT_COMPATIBLE,
                                     exact);
            continue;
        }
        const struct table_column *old = &named->old->columns[column->old];
        if (column->renamed)
            tide__compare_clause(c, pair, "source.column_renamed", column_clause(c, old), column_clause(c, now),
                                 is_read(c, &c->news, named->table, i) ? COMPAT_UNKNOWN : COMPAT_COMPATIBLE,
                                 is_positional(named->table) || !is_read(c, &c->news, named->table, i)
                                     ? COMPAT_COMPATIBLE
                                     : COMPAT_INCOMPATIBLE);
        if (old->kind != TABLE_COLUMN_PHYSICAL || now->kind != TABLE_COLUMN_PHYSICAL)
            computed_change(c, pair, named, i);
        else
            type_change(c, pair, named, i);
    }
    for (uint32_t i = 0; i < named->old->column_count; i++)
        if (!seen[i] && named->old->columns[i].kind == TABLE_COLUMN_PHYSICAL)
            tide__compare_clause(c, pair, "source.column_removed", column_clause(c, &named->old->columns[i]), NULL,
                                 COMPAT_COMPATIBLE, exact);
    if (order_differs(named))
        tide__compare_clause(c, pair, "source.column_order", column_clause(c, &named->old->columns[0]),
                             column_clause(c, &named->table->columns[0]), COMPAT_COMPATIBLE, exact)
            ->message = "the order of the columns has changed";
}

// --- the watermark --------------------------------------------------------------------------------------------------------------

static bool sums_floats(const struct plan_window_aggregate *plan) {
    for (uint32_t i = 0; i < plan->aggregate_count; i++) {
        const struct aggregate_call *call = &plan->aggregates[i];
        const char *name = call->aggregate->name;
        bool exact = strcmp(name, "COUNT") == 0 || strcmp(name, "MIN") == 0 || strcmp(name, "MAX") == 0;
        if (call->arg_count == 0 || exact) continue;
        enum type_kind kind = call->arg_types[0]->kind;
        if (kind == TYPE_FLOAT || kind == TYPE_DOUBLE) return true;
    }
    return false;
}

// The order of its additions, and so the last bits of sums, depends on when panes are put together, or on when the rows come that
// other windows give.
static bool adds_by_watermark(const struct check *c, const struct model_operator *op) {
    if (op->node->kind != PLAN_WINDOW_AGGREGATE || !sums_floats(&op->node->window_aggregate)) return false;
    if (op->window == NULL || op->window->kind != WINDOW_TUMBLE) return true;
    for (uint32_t i = 0; i < op->input_count; i++)
        if (c->news.operators[op->inputs[i]].node->stateful) return true;
    return false;
}

// Whether what is in some state depends on when the watermark came: sessions, and what waits for it.
static bool depends_on_watermark(const struct check *c) {
    for (uint32_t i = 0; i < c->news.operator_count; i++) {
        const struct model_operator *op = &c->news.operators[i];
        if (op->window != NULL && op->window->kind == WINDOW_SESSION) return true;
        if (adds_by_watermark(c, op)) return true;
        enum plan_kind kind = op->node->kind;
        if (kind == PLAN_OVER || kind == PLAN_SORT || (kind == PLAN_JOIN && op->node->join.interval)) return true;
        if (kind == PLAN_RANK && op->node->rank.deduplicate) return true;
    }
    return false;
}

static void compare_watermarks(struct check *c, struct pair *pair) {
    const struct model_clause *a = tide__compare_first(pair->old_op, "source.watermark"),
                              *b = tide__compare_first(pair->new_op, "source.watermark");
    if ((a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a->bare, b->bare) == 0)) return;
    bool window = false;  // then another time attribute is the change
    for (uint32_t i = 0; i < c->news.operator_count; i++) {
        const struct pair *other = tide__compare_pair(c, &c->news.operators[i]);
        if (other->old_op == NULL || other->old_op->window_time == NULL || other->new_op->window_time == NULL) continue;
        window |= strcmp(other->old_op->window_time, other->new_op->window_time) != 0;
        window |= other->old_op->window != NULL && other->new_op->window != NULL &&
                  other->old_op->window->proctime != other->new_op->window->proctime;
    }
    if (window) return;
    bool harmful = a == NULL || b == NULL || depends_on_watermark(c);
    struct change *change = tide__compare_clause(c, pair, "source.watermark_delay", a, b, COMPAT_COMPATIBLE,
                                                 harmful ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE);
    if (harmful) change->note = "what is in the state depends on when it came";
}

static const struct model_clause *key_clause(struct check *c, const struct table *table) {
    if (table->primary_key_count == 0) return NULL;
    const char *text = "";
    for (uint32_t i = 0; i < table->primary_key_count; i++)
        text = tide__arena_printf(c->arena, "%s%s%s", text, i > 0 ? ", " : "",
                                  table->columns[table->primary_key[i]].name);
    return pseudo(c, "source.primary_key", text, table->primary_key_pos);
}

// It is not enforced, and sources give new rows only: nothing follows from it.
static void compare_primary_keys(struct check *c, struct pair *pair, const struct naming_table *named) {
    const struct model_clause *a = key_clause(c, named->old), *b = key_clause(c, named->table);
    if ((a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a->bare, b->bare) == 0)) return;
    tide__compare_clause(c, pair, "source.primary_key", a, b, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE);
}

// --- all --------------------------------------------------------------------------------------------------------------------------

static void compare_table(struct check *c, struct pair *pair) {
    const struct naming_table *named = tide__model_table(&c->naming, pair->new_op->node->scan.table);
    if (named == NULL || named->old == NULL) return;
    const struct model_clause *old_table = tide__compare_first(pair->old_op, "source.table");
    if (strcmp(named->old->name, named->table->name) != 0)
        tide__compare_clause(c, pair, "source.renamed", old_table,
                             pseudo(c, "source.table", named->table->name, named->table->pos), COMPAT_INCOMPATIBLE,
                             COMPAT_COMPATIBLE)
            ->needs = COMPAT_CAN_MATCH;
    if (!same_text(option_of(named->old, "connector"), option_of(named->table, "connector"))) {
        tide__compare_clause(c, pair, "source.connector", option_clause(c, tide__table_option(named->old, "connector")),
                             option_clause(c, tide__table_option(named->table, "connector")), COMPAT_INCOMPATIBLE,
                             COMPAT_INCOMPATIBLE);
    } else {
        compare_options(c, pair, named->old, named->table);
    }
    compare_columns(c, pair, named);
    compare_primary_keys(c, pair, named);
    compare_watermarks(c, pair);
}

static bool is_first_scan(const struct check *c, const struct pair *pair) {
    for (uint32_t i = 0; i < pair->new_op->index; i++) {
        const struct plan_node *node = c->news.operators[i].node;
        if (node->kind == PLAN_SCAN && strcmp(node->scan.table->name, pair->new_op->node->scan.table->name) == 0)
            return false;
    }
    return true;
}

void tide__compare_sources(struct check *c) {
    for (size_t p = 0; p < c->pair_count; p++) {
        struct pair *pair = &c->pairs[p];
        if (pair->old_op == NULL || pair->new_op == NULL) continue;
        if (pair->new_op->node->kind == PLAN_VALUES) {
            const struct model_clause *a = tide__compare_first(pair->old_op, "source.values"),
                                      *b = tide__compare_first(pair->new_op, "source.values");
            if (a != NULL && b != NULL && strcmp(a->bare, b->bare) != 0)
                tide__compare_clause(c, pair, "source.values", a, b, COMPAT_INCOMPATIBLE, COMPAT_INCOMPATIBLE);
        }
        if (pair->new_op->node->kind == PLAN_SCAN && is_first_scan(c, pair)) compare_table(c, pair);
    }
}
