// What has changed in sinks, in the columns that go there, and in the settings of the script.
#include "base/zone.h"
#include "checkpoint/compat/compare.h"

#include <string.h>

// --- the table ----------------------------------------------------------------------------------------------------------------

static bool same_text(struct str a, struct str b) {
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static const struct model_clause *option_clause(struct check *c, const struct option *option) {
    if (option == NULL) return NULL;
    struct model_clause *clause = ARENA_NEW(c->arena, struct model_clause);
    const char *text = tide__arena_printf(c->arena, "'%.*s' = '%.*s'", STR_ARG(option->key), STR_ARG(option->value));
    *clause = (struct model_clause){.code = "option", .text = text, .bare = text, .pos = option->value_pos};
    return clause;
}

static bool is_connector(const struct option *option) {
    return tide__str_eq_c(option->key, "connector");
}

static void compare_options(struct check *c, struct pair *pair, const struct table *old, const struct table *now) {
    for (uint32_t i = 0; i < old->option_count; i++) {
        const struct option *a = &old->options[i];
        const char *key = tide__arena_strndup(c->arena, a->key.data, a->key.len);
        const struct option *b = tide__table_option(now, key);
        if (is_connector(a) || (b != NULL && same_text(a->value, b->value))) continue;
        tide__compare_clause(c, pair, "sink.option", option_clause(c, a), option_clause(c, b), COMPAT_COMPATIBLE,
                             COMPAT_COMPATIBLE);
    }
    for (uint32_t i = 0; i < now->option_count; i++) {
        const char *key = tide__arena_strndup(c->arena, now->options[i].key.data, now->options[i].key.len);
        if (is_connector(&now->options[i]) || tide__table_option(old, key) != NULL) continue;
        tide__compare_clause(c, pair, "sink.option", NULL, option_clause(c, &now->options[i]), COMPAT_COMPATIBLE,
                             COMPAT_COMPATIBLE);
    }
}

static void compare_table(struct check *c, struct pair *pair) {
    const struct plan_sink *a = &pair->old_op->node->sink, *b = &pair->new_op->node->sink;
    const struct model_clause *old_table = tide__compare_first(pair->old_op, "sink.table"),
                              *new_table = tide__compare_first(pair->new_op, "sink.table");
    bool renamed = strcmp(old_table->bare, new_table->bare) != 0;
    if (renamed)
        tide__compare_clause(c, pair, "sink.renamed", old_table, new_table, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE);
    if (a->kind != SINK_TABLE || b->kind != SINK_TABLE) return;
    const struct model_clause *x = tide__compare_first(pair->old_op, "sink.connector"),
                              *y = tide__compare_first(pair->new_op, "sink.connector");
    if (strcmp(x->bare, y->bare) != 0) {
        tide__compare_clause(c, pair, "sink.connector", x, y, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE);
        return;  // other options come with it
    }
    if (!renamed) compare_options(c, pair, a->table, b->table);
}

// --- the columns --------------------------------------------------------------------------------------------------------------

static bool is_window_leaf(const struct model *model, const struct model_clause *clause) {
    return clause->expr != NULL && clause->expr->kind == EXPR_COLUMN &&
           model->leaves[clause->expr->column].kind == LEAF_WINDOW;
}

static bool is_rank_leaf(const struct model *model, const struct model_clause *clause) {
    return clause->expr != NULL && clause->expr->kind == EXPR_COLUMN &&
           model->leaves[clause->expr->column].kind == LEAF_RANK;
}

// Some ranking stands below.
static const struct model_operator *rank_below(const struct check *c, const struct model_operator *op) {
    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct model_operator *input = &c->news.operators[op->inputs[i]];
        if (input->node->kind == PLAN_WINDOW_RANK || input->node->kind == PLAN_RANK) return input;
    }
    return NULL;
}

static bool below_changed(const struct check *c, const struct model_operator *op) {
    for (uint32_t i = 0; i < op->input_count; i++) {
        const struct model_operator *input = &c->news.operators[op->inputs[i]];
        const struct pair *pair = tide__compare_pair(c, input);
        if (pair->old_op == NULL || pair->replaced || pair->other_input) return true;
        for (size_t k = 0; k < pair->change_count; k++)
            if (strncmp(pair->changes[k].code, "agg.", 4) == 0 || strncmp(pair->changes[k].code, "calc.", 5) == 0 ||
                strncmp(pair->changes[k].code, "group_by.", 9) == 0 ||
                strcmp(pair->changes[k].code, "cosmetic.commutative") == 0)
                return true;
        if (below_changed(c, input)) return true;
    }
    return false;
}

static bool has_column(const struct table *table, const char *name) {
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0) return true;
    return false;
}

// Other names in the same places; what follows from the columns of the query is said there.
static void compare_names(struct check *c, struct pair *pair) {
    const struct plan_sink *a = &pair->old_op->node->sink, *b = &pair->new_op->node->sink;
    if (a->kind != SINK_TABLE || b->kind != SINK_TABLE || below_changed(c, pair->new_op)) return;
    if (strcmp(a->table->name, b->table->name) != 0) return;
    struct clause_list olds = tide__compare_list(c, pair->old_op, "output.column"),
                       news = tide__compare_list(c, pair->new_op, "output.column");
    if (!tide__compare_same_order(&olds, &news)) return;
    const struct table *old = a->table, *now = b->table;
    if (old->column_count != now->column_count) return;
    for (uint32_t i = 0; i < now->column_count; i++) {
        if (strcmp(old->columns[i].name, now->columns[i].name) == 0 || has_column(now, old->columns[i].name)) continue;
        struct change *change = tide__compare_clause(c, pair, "sink.schema", NULL, NULL, COMPAT_COMPATIBLE,
                                                     COMPAT_COMPATIBLE);
        change->message = tide__arena_printf(c->arena, "the sink's column %s is called %s", old->columns[i].name,
                                             now->columns[i].name);
        return;
    }
}

static bool was_stored(const struct model_operator *old_op, const struct model_clause *column) {
    for (size_t i = 0; i < old_op->clause_count; i++) {
        const struct model_clause *clause = &old_op->clauses[i];
        bool stored = strcmp(clause->code, "topn.input") == 0;
        if (stored && strcmp(clause->bare, column->bare) == 0) return true;
    }
    return false;
}

// The expression stands where the rows are ranked, or below: it belongs to what is stored, even if the plan computes it above.
static bool is_computed_below(const struct model *model, const struct model_operator *rank,
                              const struct model_clause *column) {
    if (column->expr == NULL || column->expr->kind != EXPR_CALL) return false;
    struct source_pos expr = column->expr->pos, number = rank->node->pos;
    struct str sql = rank->plan->sql;
    (void)model;
    if (expr.line == 0 || number.line == 0) return false;
    uint32_t from = expr.offset < number.offset ? expr.offset : number.offset;
    uint32_t to = expr.offset < number.offset ? number.offset : expr.offset;
    int depth = 0, lowest = 0;
    for (uint32_t i = from; i < to && i < sql.len; i++) {
        if (sql.data[i] == ';') return false;
        depth += (sql.data[i] == '(') - (sql.data[i] == ')');
        if (depth < lowest) lowest = depth;
    }
    return lowest == 0 && (expr.offset > number.offset || depth == 0);
}

// The change of a column is one of the operator below, and has been said there.
static bool is_explained(const struct check *c, const struct model *model, const struct pair *below,
                         const struct model_clause *column) {
    (void)c;
    for (size_t i = 0; below != NULL && i < below->change_count; i++) {
        const struct model_clause *sides[] = {below->changes[i].old_clause, below->changes[i].new_clause};
        for (size_t k = 0; k < 2; k++)
            if (sides[k] != NULL && (strcmp(sides[k]->bare, column->bare) == 0)) return true;
    }
    (void)model;
    return false;
}

// Other columns stand in place of the aggregates: that has been said.
static bool lost_aggregates(const struct pair *below) {
    for (size_t i = 0; below != NULL && i < below->change_count; i++)
        if (strcmp(below->changes[i].code, "agg.all_removed") == 0) return true;
    return false;
}

static const struct pair *pair_below(const struct check *c, const struct model_operator *op) {
    return op->input_count == 1 ? tide__compare_pair(c, &c->news.operators[op->inputs[0]]) : NULL;
}

static void column_change(struct check *c, struct pair *pair, const struct model_clause *a,
                          const struct model_clause *b) {
    const struct model_operator *rank = rank_below(c, pair->new_op);
    const struct model_clause *column = b != NULL ? b : a;
    const struct model *model = b != NULL ? &c->news : &c->olds;
    const char *code = a == NULL ? "output.column_added" : b == NULL ? "output.column_removed" : "output.expression";
    const struct pair *ranked = rank != NULL ? tide__compare_pair(c, rank) : NULL;
    if (a != NULL && b != NULL && ranked != NULL && ranked->old_op != NULL && !rank->finals &&
        (is_computed_below(&c->news, rank, b) || is_computed_below(&c->olds, ranked->old_op, a))) {
        bool dedup = strstr(rank->kind, "dedup") != NULL;
        tide__compare_clause(c, pair, dedup ? "dedup.select_list" : "topn.input", a, b,
                             dedup ? COMPAT_COMPATIBLE : COMPAT_INCOMPATIBLE, COMPAT_COMPATIBLE)
            ->note = "the plan computes it above the state";
        return;
    }
    if (a == NULL || b == NULL) {
        const struct pair *below = rank != NULL ? tide__compare_pair(c, rank) : NULL;
        if (is_window_leaf(model, column))
            code = rank != NULL ? "topn.window_attr_output" : "output.window_attr";
        else if (is_rank_leaf(model, column))
            code = "topn.rank_output";
        else if (b != NULL && below != NULL && below->old_op != NULL && !rank->finals && was_stored(below->old_op, b))
            code = "topn.input";
    }
    tide__compare_clause(c, pair, code, a, b, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE);
}

static void drop_explained(const struct check *c, const struct model *model, const struct pair *below,
                           struct clause_list *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!is_explained(c, model, below, list->items[i])) list->items[kept++] = list->items[i];
    list->count = kept;
}

static bool is_literal(const struct model_clause *clause) {
    return clause->expr == NULL || clause->expr->kind == EXPR_LITERAL;
}

static void compare_columns(struct check *c, struct pair *pair) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, "output.column"),
                       news = tide__compare_list(c, pair->new_op, "output.column");
    bool same_order = tide__compare_same_order(&olds, &news);
    bool changed = below_changed(c, pair->new_op) || c->column_count > 0;
    const struct model_clause *first_old = olds.count > 0 ? olds.items[0] : NULL,
                              *first_new = news.count > 0 ? news.items[0] : NULL;
    tide__compare_take_common(&olds, &news);
    if (olds.count == 0 && news.count == 0) {
        if (!same_order && !changed)
            tide__compare_clause(c, pair, "output.column_order", first_old, first_new, COMPAT_COMPATIBLE,
                                 COMPAT_COMPATIBLE)
                ->message = "the order of the result columns has changed";
        return;
    }
    const struct pair *below = pair_below(c, pair->new_op);
    if (lost_aggregates(below)) return;
    drop_explained(c, &c->olds, below, &olds);
    drop_explained(c, &c->news, below, &news);
    // What follows from other aggregates or keys below is not said again.
    size_t both = olds.count < news.count ? olds.count : news.count;
    for (size_t i = 0; i < both; i++) {
        bool window = is_window_leaf(&c->olds, olds.items[i]) || is_window_leaf(&c->news, news.items[i]);
        if (changed && !window) continue;
        if (!window) {
            column_change(c, pair, olds.items[i], news.items[i]);
            continue;
        }
        if (!changed || is_window_leaf(&c->olds, olds.items[i])) column_change(c, pair, olds.items[i], NULL);
        if (!changed || is_window_leaf(&c->news, news.items[i])) column_change(c, pair, NULL, news.items[i]);
    }
    for (size_t i = both; i < olds.count; i++)
        if (!changed || is_window_leaf(&c->olds, olds.items[i])) column_change(c, pair, olds.items[i], NULL);
    for (size_t i = both; i < news.count; i++)
        if (!changed || is_window_leaf(&c->news, news.items[i]) || is_literal(news.items[i]))
            column_change(c, pair, NULL, news.items[i]);
}

static void compare_output_filters(struct check *c, struct pair *pair) {
    struct clause_list olds = tide__compare_list(c, pair->old_op, "output.filter"),
                       news = tide__compare_list(c, pair->new_op, "output.filter");
    tide__compare_take_common(&olds, &news);
    size_t most = olds.count > news.count ? olds.count : news.count;
    for (size_t i = 0; i < most; i++)
        tide__compare_clause(c, pair, "output.filter", i < olds.count ? olds.items[i] : NULL,
                             i < news.count ? news.items[i] : NULL, COMPAT_COMPATIBLE, COMPAT_COMPATIBLE);
}

void tide__compare_sink(struct check *c, struct pair *pair) {
    compare_table(c, pair);
    compare_names(c, pair);
    compare_columns(c, pair);
    compare_output_filters(c, pair);
    tide__compare_filters(c, pair);
}

// --- settings -----------------------------------------------------------------------------------------------------------------

static const char *const setting_keys[] = {
    "table.optimizer.state-compatibility.ignore-filter",
    "table.exec.state.ttl",
    "table.exec.mini-batch.enabled",
    "table.exec.emit.early-fire.enabled",
    "table.exec.emit.late-fire.enabled",
    "parallelism.default",
    "table.exec.resource.default-parallelism",
    "execution.runtime-mode",
    NULL,
};

const char *const *tide__compat_setting_keys(void) {
    return setting_keys;
}

static struct str setting(const struct compat_script *script, const char *key) {
    for (size_t i = 0; i < script->setting_count; i++)
        if (strcmp(script->settings[i].key, key) == 0) return script->settings[i].value;
    return (struct str){"", 0};
}

static bool differs(const struct check *c, const char *key, const char *usual) {
    struct str a = setting(&c->request->old_script, key), b = setting(&c->request->new_script, key);
    if (a.len == 0) a = (struct str){usual, strlen(usual)};
    if (b.len == 0) b = (struct str){usual, strlen(usual)};
    return a.len != b.len || strncasecmp(a.data, b.data, a.len) != 0;
}

static void setting_change(struct check *c, const char *key, const char *code, enum compat_verdict strict,
                           enum compat_verdict exact) {
    struct change *change = tide__compare_add(c, c->script, code, strict, exact);
    struct str a = setting(&c->request->old_script, key), b = setting(&c->request->new_script, key);
    change->message = tide__arena_printf(c->arena, "%s was %.*s and is %.*s", key, a.len > 0 ? (int)a.len : 7,
                                         a.len > 0 ? a.data : "not set", b.len > 0 ? (int)b.len : 7,
                                         b.len > 0 ? b.data : "not set");
}

static bool is_zoned_function(const char *name) {
    static const char *const names[] = {"CURRENT_TIMESTAMP",
                                        "CURRENT_ROW_TIMESTAMP",
                                        "NOW",
                                        "LOCALTIME",
                                        "LOCALTIMESTAMP",
                                        "CURRENT_DATE",
                                        "CURRENT_TIME",
                                        "PROCTIME",
                                        "FROM_UNIXTIME",
                                        "UNIX_TIMESTAMP",
                                        "TO_TIMESTAMP_LTZ",
                                        "CONVERT_TZ"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool expr_depends(const struct expr *expr, uint32_t *visits) {
    if (expr == NULL) return false;
    if (++*visits > 20000 || expr->type->kind == TYPE_TIMESTAMP_LTZ) return true;
    if (expr->kind == EXPR_CALL && is_zoned_function(expr->function->name)) return true;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (expr_depends(expr->args[i], visits)) return true;
    return false;
}

// Whether a window or an expression reads local time.
static bool depends_on_zone(const struct model *model) {
    uint32_t visits = 0;
    for (uint32_t i = 0; i < model->operator_count; i++) {
        const struct model_operator *op = &model->operators[i];
        if (op->window != NULL && op->window->ltz) return true;
        for (size_t k = 0; k < op->clause_count; k++)
            if (expr_depends(op->clauses[k].expr, &visits) || expr_depends(op->clauses[k].filter, &visits)) return true;
    }
    return false;
}

static void compare_zone(struct check *c) {
    const struct compat_script *a = &c->request->old_script, *b = &c->request->new_script;
    if (a->plan_count == 0 || b->plan_count == 0) return;
    const char *old_zone = tide__zone_name(a->plans[0]->settings.zone),
               *new_zone = tide__zone_name(b->plans[0]->settings.zone);
    if (strcmp(old_zone, new_zone) == 0) return;
    bool depends = depends_on_zone(&c->olds) || depends_on_zone(&c->news);
    struct change *change = tide__compare_add(c, c->script, "config.time_zone", COMPAT_UNKNOWN,
                                              depends ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE);
    change->message = tide__arena_printf(c->arena, "the time zone was %s and is %s", old_zone, new_zone);
}

static bool all_windowed(const struct model *model) {
    for (uint32_t i = 0; i < model->operator_count; i++) {
        enum plan_kind kind = model->operators[i].node->kind;
        if (kind == PLAN_GROUP_AGGREGATE || kind == PLAN_RANK || kind == PLAN_JOIN || kind == PLAN_OVER ||
            kind == PLAN_SORT)
            return false;
    }
    return true;
}

static bool has_unbounded_aggregate(const struct model *model) {
    for (uint32_t i = 0; i < model->operator_count; i++)
        if (model->operators[i].node->kind == PLAN_GROUP_AGGREGATE) return true;
    return false;
}

void tide__compare_settings(struct check *c) {
    compare_zone(c);
    if (differs(c, "table.exec.state.ttl", "0"))
        setting_change(c, "table.exec.state.ttl", "config.state_ttl", COMPAT_UNKNOWN,
                       all_windowed(&c->news) && all_windowed(&c->olds) ? COMPAT_COMPATIBLE : COMPAT_UNKNOWN);
    if (differs(c, "table.exec.mini-batch.enabled", "false"))
        setting_change(c, "table.exec.mini-batch.enabled", "config.mini_batch", COMPAT_UNKNOWN,
                       has_unbounded_aggregate(&c->news) ? COMPAT_INCOMPATIBLE : COMPAT_COMPATIBLE);
    if (differs(c, "table.exec.emit.early-fire.enabled", "false"))
        setting_change(c, "table.exec.emit.early-fire.enabled", "config.early_fire", COMPAT_INCOMPATIBLE,
                       COMPAT_INCOMPATIBLE);
    if (differs(c, "table.exec.emit.late-fire.enabled", "false"))
        setting_change(c, "table.exec.emit.late-fire.enabled", "config.early_fire", COMPAT_INCOMPATIBLE,
                       COMPAT_INCOMPATIBLE);
    if (differs(c, "execution.runtime-mode", "streaming"))
        setting_change(c, "execution.runtime-mode", "config.runtime_mode", COMPAT_INCOMPATIBLE, COMPAT_INCOMPATIBLE);
    if (differs(c, "parallelism.default", "") || differs(c, "table.exec.resource.default-parallelism", ""))
        setting_change(c, "parallelism.default", "config.parallelism", COMPAT_COMPATIBLE, COMPAT_COMPATIBLE);
}
