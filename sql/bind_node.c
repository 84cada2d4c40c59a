// Making raw plan nodes, and the small things that all of the binder needs: names, warnings, ready rows.
#include "sql/bind.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct plan_node *tide__node_new(struct arena *arena, enum plan_kind kind, struct source_pos pos, uint32_t input_count,
                                 uint32_t field_count) {
    struct plan_node *node = ARENA_NEW(arena, struct plan_node);
    node->kind = kind;
    node->pos = pos;
    node->input_count = input_count;
    node->inputs = ARENA_ARRAY(arena, struct plan_node *, input_count);
    node->field_count = field_count;
    node->fields = ARENA_ARRAY(arena, struct plan_field, field_count);
    return node;
}

struct plan_node *tide__node_calc(struct arena *arena, struct plan_node *input, uint32_t field_count,
                                  struct source_pos pos) {
    struct plan_node *node = tide__node_new(arena, PLAN_CALC, pos, 1, field_count);
    node->inputs[0] = input;
    node->updates = input->updates;
    node->calc.outputs = ARENA_ARRAY(arena, struct expr *, field_count);
    return node;
}

struct plan_node *tide__node_filter(struct arena *arena, struct plan_node *input, struct expr *condition,
                                    struct source_pos pos) {
    struct plan_node *node = tide__node_calc(arena, input, input->field_count, pos);
    node->calc.condition = condition;
    for (uint32_t i = 0; i < input->field_count; i++) {
        node->fields[i] = input->fields[i];
        node->calc.outputs[i] = tide__node_column(arena, input, i, pos);
    }
    return node;
}

struct plan_node *tide__node_distinct(struct arena *arena, struct plan_node *input, struct source_pos pos) {
    struct plan_node *node = tide__node_new(arena, PLAN_GROUP_AGGREGATE, pos, 1, input->field_count);
    node->inputs[0] = input;
    node->group_aggregate.key_count = input->field_count;
    node->group_aggregate.keys = ARENA_ARRAY(arena, uint32_t, input->field_count);
    for (uint32_t i = 0; i < input->field_count; i++) {
        node->group_aggregate.keys[i] = i;
        node->fields[i] = input->fields[i];
    }
    return node;
}

struct plan_node *tide__node_copy(struct arena *arena, const struct plan_node *node) {
    struct plan_node *copy = tide__node_new(arena, node->kind, node->pos, node->input_count, node->field_count);
    *copy = *node;
    copy->inputs = ARENA_ARRAY(arena, struct plan_node *, node->input_count);
    for (uint32_t i = 0; i < node->input_count; i++) copy->inputs[i] = tide__node_copy(arena, node->inputs[i]);
    return copy;
}

struct expr *tide__node_column(struct arena *arena, const struct plan_node *node, uint32_t column,
                               struct source_pos pos) {
    return tide__expr_column(arena, column, node->fields[column].type, pos);
}

const char *tide__bind_name(struct binder *b, struct str name) {
    return tide__arena_strndup(b->arena, name.data, name.len);
}

const char *tide__bind_nearest_column(struct binder *b, const struct relation *relation, struct str name) {
    const char **names = ARENA_ARRAY(b->arena, const char *, relation->node->field_count + 1);
    for (uint32_t i = 0; i < relation->node->field_count; i++) names[i] = relation->node->fields[i].name;
    return tide__nearest(name, names, relation->node->field_count);
}

void tide__bind_warn(struct binder *b, struct source_pos pos, const char *hint, const char *format, ...) {
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    struct sql_warning *warning = ARENA_NEW(b->arena, struct sql_warning);
    warning->pos = pos;
    warning->message = tide__arena_strndup(b->arena, message, strlen(message));
    warning->hint = hint;
    struct sql_warning **at = &b->result->warnings;
    while (*at != NULL) at = &(*at)->next;
    *at = warning;
}

void *tide__bind_grow(struct arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return items;
    uint32_t grown = *capacity == 0 ? 8 : *capacity * 2;
    char *copy = tide__arena_zalloc(arena, grown * size);
    if (count > 0) memcpy(copy, items, count * size);
    *capacity = grown;
    return copy;
}

struct sql_rows *tide__rows_begin(struct binder *b, uint32_t column_count, const char *const *names,
                                  const struct type *const *types) {
    struct sql_rows *rows = &b->result->rows;
    *rows = (struct sql_rows){.column_count = column_count};
    rows->names = ARENA_ARRAY(b->arena, const char *, column_count);
    rows->types = ARENA_ARRAY(b->arena, const struct type *, column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        rows->names[i] = names[i];
        rows->types[i] = types[i];
    }
    b->result->kind = SQL_ROWS;
    return rows;
}

struct str *tide__rows_add(struct binder *b) {
    struct sql_rows *rows = &b->result->rows;
    rows->cells = tide__bind_grow(b->arena, rows->cells, rows->row_count, &rows->row_capacity,
                                  rows->column_count * sizeof(struct str));
    return &rows->cells[rows->row_count++ * rows->column_count];
}
