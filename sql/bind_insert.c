// Sinks: INSERT INTO with its column list, static partitions and implicit casts; and the query of a SELECT statement.
#include "sql/bind.h"
#include "sql/names.h"

#include <string.h>

tide_status tide__bind_sink_query(struct binder *b, const struct ast_query *query, struct source_pos pos,
                                  struct plan_node **out) {
    struct relation relation;
    TIDE_TRY(tide__bind_query(b, query, &relation));
    struct plan_node *input = relation.node;
    struct plan_node *sink = tide__node_new(b->arena, PLAN_SINK, pos, 1, input->field_count);
    sink->inputs[0] = input;
    sink->sink.kind = SINK_COLLECT;
    struct name_set names = {.arena = b->arena};
    for (uint32_t i = 0; i < input->field_count; i++) {
        const char *name = tide__names_unique(&names, input->fields[i].name);
        sink->fields[i] = (struct plan_field){name, input->fields[i].type};
    }
    *out = sink;
    return TIDE_OK;
}

// --- Implicit casts ---

static int integer_rank(const struct type *type) {
    switch (type->kind) {
    case TYPE_TINYINT: return 1;
    case TYPE_SMALLINT: return 2;
    case TYPE_INT: return 3;
    case TYPE_BIGINT: return 4;
    default: return 0;
    }
}

static bool casts_implicitly(const struct type *from, const struct type *to);

static bool casts_children(const struct type *from, const struct type *to) {
    if (from->kind != to->kind || from->child_count != to->child_count) return false;
    for (uint32_t i = 0; i < to->child_count; i++) {
        if (!casts_implicitly(from->children[i].type, to->children[i].type)) return false;
    }
    return true;
}

// What Flink converts on its own on the way into a sink.
static bool casts_implicitly(const struct type *from, const struct type *to) {
    if (from->kind == TYPE_NULL || tide__type_same(from, to)) return true;
    int a = integer_rank(from), z = integer_rank(to);
    switch (to->kind) {
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT: return a > 0 && a <= z;
    case TYPE_FLOAT: return a > 0 || from->kind == TYPE_FLOAT || from->kind == TYPE_DECIMAL;
    case TYPE_DOUBLE:
    case TYPE_DECIMAL: return tide__type_is_numeric(from);
    case TYPE_CHAR: return from->kind == TYPE_CHAR && from->precision <= to->precision;
    case TYPE_VARCHAR: return tide__type_is_string(from) && from->precision <= to->precision;
    case TYPE_BINARY: return from->kind == TYPE_BINARY && from->precision <= to->precision;
    case TYPE_VARBINARY:
        return (from->kind == TYPE_BINARY || from->kind == TYPE_VARBINARY) && from->precision <= to->precision;
    case TYPE_DATE:
    case TYPE_TIME: return from->kind == to->kind || from->kind == TYPE_TIMESTAMP;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: return tide__type_is_timestamp(from);
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: return casts_children(from, to);
    default: return false;
    }
}

static tide_status cast_column(struct binder *b, const struct plan_node *input, uint32_t from,
                               const struct table *table, uint32_t to, struct source_pos pos, struct expr **out) {
    const struct type *source = input->fields[from].type, *target = table->columns[to].type;
    struct expr *column = tide__node_column(b->arena, input, from, pos);
    if (!casts_implicitly(source, target)) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, pos,
                      "column %u of the query (\"%s\" %s) does not fit column \"%s\" %s of \"%s\"", from + 1,
                      input->fields[from].name, tide__type_text(b->arena, source), table->columns[to].name,
                      tide__type_text(b->arena, target), table->name);
        return tide__fail_hint(b->err, "CAST it in the query");
    }
    if (tide__type_same(source, target)) {
        *out = column;
        return TIDE_OK;
    }
    return tide__expr_cast(&b->infer, column, tide__type_with_nullable(b->arena, target, source->nullable), out,
                           b->err);
}

// --- Which column goes where ---

struct insert {
    struct binder *binder;
    const struct statement *statement;
    const struct catalog_entry *entry;
    uint32_t target_count;  // columns that the query fills, in its order
    uint32_t *targets;
};

static tide_status find_column(struct insert *insert, const struct ast_name *name, uint32_t *out) {
    const struct table *table = &insert->entry->table;
    struct binder *b = insert->binder;
    const char **names = ARENA_ARRAY(b->arena, const char *, table->column_count + 1);
    for (uint32_t i = 0; i < table->column_count; i++) {
        names[i] = table->columns[i].name;
        if (!tide__str_eq_c(name->text, names[i])) continue;
        if (table->columns[i].kind == TABLE_COLUMN_COMPUTED || table->columns[i].is_virtual) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, name->pos,
                                 "column \"%s\" is computed: it cannot be written", names[i]);
        }
        *out = i;
        return TIDE_OK;
    }
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, name->pos, "table \"%s\" has no column \"%.*s\"", table->name,
                  STR_ARG(name->text));
    const char *nearest = tide__nearest(name->text, names, table->column_count);
    if (nearest != NULL) return tide__fail_hint(b->err, "did you mean \"%s\"?", nearest);
    return TIDE_ERR_VALIDATE;
}

static const struct ast_partition *static_partition(const struct statement *statement, const char *column) {
    for (uint32_t i = 0; i < statement->partition_count; i++) {
        const struct ast_partition *p = &statement->partition[i];
        if (p->value != NULL && tide__str_eq_c(p->name.text, column)) return p;
    }
    return NULL;
}

static tide_status find_targets(struct insert *insert) {
    const struct table *table = &insert->entry->table;
    const struct statement *statement = insert->statement;
    struct arena *arena = insert->binder->arena;
    insert->targets = ARENA_ARRAY(arena, uint32_t, table->column_count + statement->columns.count);
    for (uint32_t i = 0; i < statement->partition_count; i++) {
        uint32_t column;
        TIDE_TRY(find_column(insert, &statement->partition[i].name, &column));
    }
    for (uint32_t i = 0; i < statement->columns.count; i++) {
        uint32_t column;
        TIDE_TRY(find_column(insert, &statement->columns.items[i], &column));
        for (uint32_t j = 0; j < insert->target_count; j++) {
            if (insert->targets[j] != column) continue;
            return tide__fail_at(insert->binder->err, TIDE_ERR_VALIDATE, statement->columns.items[i].pos,
                                 "column \"%s\" is named twice", table->columns[column].name);
        }
        insert->targets[insert->target_count++] = column;
    }
    for (uint32_t i = 0; statement->columns.count == 0 && i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (column->kind == TABLE_COLUMN_COMPUTED || column->is_virtual) continue;
        if (static_partition(statement, column->name) != NULL) continue;
        insert->targets[insert->target_count++] = i;
    }
    return TIDE_OK;
}

static tide_status other_value(struct insert *insert, uint32_t column, struct expr **out) {
    struct binder *b = insert->binder;
    const struct table_column *target = &insert->entry->table.columns[column];
    const struct ast_partition *partition = static_partition(insert->statement, target->name);
    if (partition != NULL) {
        struct select_scope scope = {.binder = b, .clause = "PARTITION clause"};
        TIDE_TRY(tide__bind_expr(&scope, partition->value, out));
        return tide__expr_cast(&b->infer, *out, target->type, out, b->err);
    }
    if (!target->type->nullable) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, insert->statement->path.pos,
                             "column \"%s\" is NOT NULL, but the INSERT does not fill it", target->name);
    }
    struct value null = {.is_null = true};
    *out = tide__expr_literal(b->arena, null, target->type, insert->statement->path.pos);
    return TIDE_OK;
}

// A calc with all columns of the table that can be written, in its order.
static tide_status sink_calc(struct insert *insert, struct plan_node *input, struct plan_node **out_calc,
                             uint32_t **out_columns) {
    struct binder *b = insert->binder;
    const struct table *table = &insert->entry->table;
    struct plan_node *calc = tide__node_calc(b->arena, input, table->column_count, insert->statement->pos);
    *out_columns = ARENA_ARRAY(b->arena, uint32_t, table->column_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == TABLE_COLUMN_COMPUTED || table->columns[i].is_virtual) continue;
        uint32_t from = 0;
        while (from < insert->target_count && insert->targets[from] != i) from++;
        if (from < insert->target_count) {
            TIDE_TRY(cast_column(b, input, from, table, i, insert->statement->query->pos, &calc->calc.outputs[count]));
        } else {
            TIDE_TRY(other_value(insert, i, &calc->calc.outputs[count]));
        }
        calc->fields[count] = (struct plan_field){table->columns[i].name, calc->calc.outputs[count]->type};
        (*out_columns)[count++] = i;
    }
    calc->field_count = count;
    *out_calc = calc;
    return TIDE_OK;
}

static tide_status find_sink(struct binder *b, const struct statement *statement, struct catalog_entry **out) {
    tide_status status = tide__catalog_get(b->session, &statement->path, out, b->err);
    if (status != TIDE_OK) return tide__fail_hint(b->err, "create it first: CREATE TABLE ... WITH ('connector' = ...)");
    if ((*out)->is_view) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "\"%s\" is a view: it cannot be written",
                             (*out)->name);
    }
    if (tide__table_option(&(*out)->table, "connector") == NULL) {
        TIDE_TRY(tide__bind_misspelt_connector(b, &(*out)->table));
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "table \"%s\" has no option 'connector'",
                             (*out)->name);
    }
    if (statement->overwrite && !b->infer.batch_mode) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, statement->pos, "INSERT OVERWRITE is for batch mode only");
    }
    return TIDE_OK;
}

tide_status tide__bind_insert(struct binder *b, const struct statement *statement, struct plan_node **out) {
    struct catalog_entry *entry;
    TIDE_TRY(find_sink(b, statement, &entry));
    struct insert insert = {.binder = b, .statement = statement, .entry = entry};
    TIDE_TRY(find_targets(&insert));
    struct relation relation;
    TIDE_TRY(tide__bind_query(b, statement->query, &relation));
    struct plan_node *input = relation.node, *calc;
    if (input->field_count != insert.target_count) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->query->pos,
                             "the query has %u column%s, \"%s\" takes %u", input->field_count,
                             input->field_count == 1 ? "" : "s", entry->name, insert.target_count);
    }
    uint32_t *columns;
    TIDE_TRY(sink_calc(&insert, input, &calc, &columns));
    struct plan_node *sink = tide__node_new(b->arena, PLAN_SINK, statement->pos, 1, calc->field_count);
    sink->inputs[0] = calc;
    sink->sink = (struct plan_sink){.kind = SINK_TABLE, .columns = columns, .overwrite = statement->overwrite};
    struct table *table = ARENA_NEW(b->arena, struct table);
    *table = entry->table;
    sink->sink.table = table;
    for (uint32_t i = 0; i < calc->field_count; i++) {
        sink->fields[i] = (struct plan_field){table->columns[columns[i]].name, table->columns[columns[i]].type};
    }
    *out = sink;
    return TIDE_OK;
}
