// Reading a table: its columns, computed ones included, its time attribute and its watermark. The scan made here reads
// every column; what nobody needs is pruned at the end of planning.
#include "sql/bind.h"

#include <assert.h>
#include <string.h>

static struct table *with_options(struct binder *b, const struct table *table, const struct ast_options *options) {
    struct table *copy = ARENA_NEW(b->arena, struct table);
    *copy = *table;
    uint32_t extra = options == NULL ? 0 : options->count;
    copy->options = ARENA_ARRAY(b->arena, struct option, table->option_count + extra);
    if (table->option_count > 0) memcpy(copy->options, table->options, table->option_count * sizeof(struct option));
    for (uint32_t i = 0; i < extra; i++) {
        const struct ast_option *hint = &options->items[i];
        uint32_t at = 0;
        while (at < copy->option_count && !tide__str_eq(copy->options[at].key, hint->key)) at++;
        if (at == copy->option_count) copy->option_count++;
        copy->options[at] = (struct option){hint->key, hint->value, hint->key_pos, hint->value_pos};
    }
    return copy;
}

// A time attribute has milliseconds, also if it was declared with fewer digits, and is read so.
static void widen_time_column(struct binder *b, const struct catalog_entry *entry, struct table *table) {
    if (entry->watermark_column < 0) return;
    struct table_column *columns = ARENA_ARRAY(b->arena, struct table_column, table->column_count);
    memcpy(columns, table->columns, table->column_count * sizeof(columns[0]));
    struct type type = *columns[entry->watermark_column].type;
    type.precision = 3;
    columns[entry->watermark_column].type = tide__type_copy(b->arena, &type);
    table->columns = columns;
}

// 'conector' = ..: said at the key, not at the query that found it missing.
tide_status tide__bind_misspelt_connector(struct binder *b, const struct table *table) {
    static const char *const names[] = {"connector"};
    for (uint32_t i = 0; i < table->option_count; i++) {
        const struct option *option = &table->options[i];
        if (tide__nearest(option->key, names, 1) == NULL) continue;
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, option->key_pos, "unknown option '%.*s'", STR_ARG(option->key));
        return tide__fail_hint(b->err, "did you mean 'connector'?");
    }
    return TIDE_OK;
}

static tide_status check_connector(struct binder *b, const struct table *table, struct source_pos pos) {
    for (uint32_t i = 0; i < table->option_count; i++) {
        if (tide__str_eq_c(table->options[i].key, "connector")) return TIDE_OK;
    }
    TIDE_TRY(tide__bind_misspelt_connector(b, table));
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, pos, "table \"%s\" has no option 'connector'", table->name);
    return tide__fail_hint(b->err, "add WITH ('connector' = 'filesystem', 'path' = '..', 'format' = 'csv')");
}

// file.name and its like; what other connectors know they check themselves.
static tide_status check_metadata(struct binder *b, const struct table *table) {
    static const char *const keys[] = {"file.path", "file.name", "file.size", "file.modification-time"};
    bool filesystem = false;
    for (uint32_t i = 0; i < table->option_count; i++) {
        filesystem |= tide__str_eq_c(table->options[i].key, "connector") &&
                      tide__str_eq_c(table->options[i].value, "filesystem");
    }
    for (uint32_t i = 0; filesystem && i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (column->kind != TABLE_COLUMN_METADATA) continue;
        bool known = false;
        for (size_t k = 0; k < 4; k++) known |= strcmp(keys[k], column->metadata_key) == 0;
        if (known) continue;
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, column->pos, "unknown metadata key \"%s\" of table \"%s\"",
                      column->metadata_key, table->name);
        return tide__fail_hint(b->err, "files have file.path, file.name, file.size and file.modification-time");
    }
    return TIDE_OK;
}

// A relation of the columns that are read, for binding computed columns.
static struct relation read_relation(struct binder *b, const struct table *table, const uint32_t *reads,
                                     uint32_t count) {
    struct relation relation = {tide__node_new(b->arena, PLAN_SCAN, table->pos, 0, count),
                                ARENA_ARRAY(b->arena, struct str, count)};
    for (uint32_t i = 0; i < count; i++) {
        const struct table_column *column = &table->columns[reads[i]];
        relation.node->fields[i] = (struct plan_field){column->name, column->type};
        relation.tables[i] = tide__str(table->name);
    }
    return relation;
}

static const struct type *rowtime_type(struct binder *b, const struct type *declared) {
    struct type type = *declared;
    type.precision = 3;  // whatever was declared, 0 to 3
    type.time_attribute = b->infer.batch_mode ? TIME_ATTRIBUTE_NONE : TIME_ATTRIBUTE_ROWTIME;
    if (b->infer.batch_mode) type.precision = declared->precision;
    return tide__type_copy(b->arena, &type);
}

static tide_status bind_outputs(struct binder *b, const struct catalog_entry *entry, struct plan_node *node,
                                const uint32_t *read_of, struct select_scope *scope) {
    const struct table *table = node->scan.table;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        struct expr *expr;
        if (column->kind == TABLE_COLUMN_COMPUTED) {
            scope->clause = "computed column";
            TIDE_TRY(tide__bind_expr(scope, entry->columns[i].expr, &expr));
        } else {
            expr = tide__expr_column(b->arena, read_of[i], column->type, column->pos);
        }
        if ((int32_t)i == entry->watermark_column) {
            struct expr *copy = ARENA_NEW(b->arena, struct expr);
            *copy = *expr;
            copy->type = rowtime_type(b, expr->type);
            expr = copy;
        }
        node->scan.outputs[i] = expr;
        node->fields[i] = (struct plan_field){column->name, expr->type};
    }
    return TIDE_OK;
}

static tide_status bind_watermark(struct binder *b, const struct catalog_entry *entry, struct plan_node *node) {
    if (entry->watermark_column < 0 || b->infer.batch_mode) return TIDE_OK;
    struct relation relation = {node, ARENA_ARRAY(b->arena, struct str, node->field_count)};
    for (uint32_t i = 0; i < node->field_count; i++) relation.tables[i] = tide__str(entry->name);
    struct select_scope scope = {.binder = b, .input = &relation, .clause = "watermark"};
    struct expr *expr;
    TIDE_TRY(tide__bind_expr(&scope, entry->watermark, &expr));
    node->scan.watermark = tide__expr_substitute(b->arena, expr, node->scan.outputs);
    node->scan.time_column = entry->watermark_column;
    node->scan.time_column_needed = true;
    return TIDE_OK;
}

tide_status tide__bind_scan(struct binder *b, const struct catalog_entry *entry, const struct ast_options *options,
                            struct source_pos pos, struct relation *out) {
    struct table *table = with_options(b, &entry->table, options);
    if (!b->infer.batch_mode) widen_time_column(b, entry, table);
    TIDE_TRY(check_connector(b, table, pos));
    TIDE_TRY(check_metadata(b, table));
    uint32_t columns = table->column_count, reads = 0;
    struct plan_node *node = tide__node_new(b->arena, PLAN_SCAN, pos, 0, columns);
    uint32_t *read_of = ARENA_ARRAY(b->arena, uint32_t, columns);
    node->scan.table = table;
    node->scan.time_column = -1;
    node->scan.reads = ARENA_ARRAY(b->arena, uint32_t, columns);
    node->scan.outputs = ARENA_ARRAY(b->arena, struct expr *, columns);
    for (uint32_t i = 0; i < columns; i++) {
        if (table->columns[i].kind == TABLE_COLUMN_COMPUTED) continue;
        read_of[i] = reads;
        node->scan.reads[reads++] = i;
    }
    node->scan.read_count = reads;
    struct relation read = read_relation(b, table, node->scan.reads, reads);
    struct select_scope scope = {.binder = b, .input = &read};
    TIDE_TRY(bind_outputs(b, entry, node, read_of, &scope));
    TIDE_TRY(bind_watermark(b, entry, node));
    out->node = node;
    out->tables = ARENA_ARRAY(b->arena, struct str, columns);
    for (uint32_t i = 0; i < columns; i++) out->tables[i] = tide__str(entry->name);
    return TIDE_OK;
}
