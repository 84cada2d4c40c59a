// Queries around SELECTs: WITH, VALUES, TABLE t, set operations, ORDER BY and LIMIT.
#include "sql/bind.h"

#include <string.h>

static tide_status bind_body(struct binder *b, const struct ast_query *query, struct relation *out);

// --- VALUES ---

static tide_status constant_cell(struct binder *b, struct expr *expr, struct expr **out) {
    *out = expr;
    if (expr->kind == EXPR_LITERAL) return TIDE_OK;
    if (expr->kind == EXPR_CALL && expr->function->nondeterministic) return TIDE_OK;
    struct value value;
    TIDE_TRY(tide__expr_constant(&b->infer, expr, &value, b->err));
    *out = tide__expr_literal(b->arena, value, expr->type, expr->pos);
    return TIDE_OK;
}

static tide_status bind_value_rows(struct binder *b, const struct ast_query *query, uint32_t columns,
                                   struct expr **cells) {
    struct select_scope scope = {.binder = b, .clause = "VALUES"};
    for (uint32_t r = 0; r < query->rows.count; r++) {
        const struct ast_expr *row = query->rows.items[r];
        if (row->args.count != columns) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, row->pos, "this row has %u values, the first one %u",
                                 row->args.count, columns);
        }
        for (uint32_t c = 0; c < columns; c++) {
            TIDE_TRY(tide__bind_expr(&scope, row->args.items[c], &cells[r * columns + c]));
        }
    }
    return TIDE_OK;
}

static tide_status values_column(struct binder *b, const struct ast_query *query, uint32_t columns, uint32_t c,
                                 struct plan_node *node) {
    struct expr **cells = node->values.cells;
    uint32_t rows = query->rows.count;
    const struct type **types = ARENA_ARRAY(b->arena, const struct type *, rows);
    bool nullable = false;
    for (uint32_t r = 0; r < rows; r++) {
        types[r] = cells[r * columns + c]->type;
        nullable |= types[r]->nullable;
    }
    const struct type *type;
    if (!tide__type_common(b->arena, types, rows, &type)) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, query->rows.items[0]->args.items[c]->pos,
                             "the values of column %u have no common type", c + 1);
    }
    type = tide__type_with_nullable(b->arena, type, nullable);
    node->fields[c] = (struct plan_field){tide__arena_printf(b->arena, "EXPR$%u", c), type};
    for (uint32_t r = 0; r < rows; r++) {
        struct expr **cell = &cells[r * columns + c];
        TIDE_TRY(tide__expr_cast(&b->infer, *cell, type, cell, b->err));
        TIDE_TRY(constant_cell(b, *cell, cell));
    }
    return TIDE_OK;
}

static tide_status bind_values(struct binder *b, const struct ast_query *query, struct relation *out) {
    uint32_t columns = query->rows.items[0]->args.count;
    struct plan_node *node = tide__node_new(b->arena, PLAN_VALUES, query->pos, 0, columns);
    node->values.row_count = query->rows.count;
    node->values.cells = ARENA_ARRAY(b->arena, struct expr *, query->rows.count * columns);
    TIDE_TRY(bind_value_rows(b, query, columns, node->values.cells));
    for (uint32_t c = 0; c < columns; c++) TIDE_TRY(values_column(b, query, columns, c, node));
    out->node = node;
    out->tables = ARENA_ARRAY(b->arena, struct str, columns);
    return TIDE_OK;
}

// --- Set operations ---

static tide_status cast_to(struct binder *b, struct plan_node *input, struct plan_node *like, struct plan_node **out) {
    bool same = true;
    for (uint32_t i = 0; i < input->field_count; i++)
        same &= tide__type_same(input->fields[i].type, like->fields[i].type);
    *out = input;
    if (same) return TIDE_OK;
    struct plan_node *calc = tide__node_calc(b->arena, input, input->field_count, input->pos);
    for (uint32_t i = 0; i < input->field_count; i++) {
        struct expr *column = tide__node_column(b->arena, input, i, input->pos);
        TIDE_TRY(tide__expr_cast(&b->infer, column, like->fields[i].type, &calc->calc.outputs[i], b->err));
        calc->fields[i] = (struct plan_field){like->fields[i].name, calc->calc.outputs[i]->type};
    }
    *out = calc;
    return TIDE_OK;
}

static tide_status union_field(struct binder *b, const struct ast_query *query, const struct plan_node *left,
                               const struct plan_node *right, uint32_t i, struct plan_field *out) {
    const struct type *types[2] = {left->fields[i].type, right->fields[i].type};
    const struct type *common;
    if (!tide__type_common(b->arena, types, 2, &common)) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, query->op_pos, "column %u is %s on one side of UNION, %s on the other",
                      i + 1, tide__type_text(b->arena, types[0]), tide__type_text(b->arena, types[1]));
        return tide__fail_hint(b->err, "cast one of them");
    }
    bool attribute = types[0]->time_attribute == types[1]->time_attribute && tide__type_same(types[0], types[1]);
    struct type type = *common;
    type.nullable = types[0]->nullable || types[1]->nullable;
    type.time_attribute = attribute ? types[0]->time_attribute : TIME_ATTRIBUTE_NONE;
    *out = (struct plan_field){left->fields[i].name, tide__type_copy(b->arena, &type)};
    return TIDE_OK;
}

static tide_status bind_set_op(struct binder *b, const struct ast_query *query, struct relation *out) {
    if (query->set_op != SET_UNION) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, query->op_pos, "%s is not supported yet",
                             query->set_op == SET_INTERSECT ? "INTERSECT" : "EXCEPT");
    }
    struct relation left, right;
    TIDE_TRY(tide__bind_query(b, query->left, &left));
    TIDE_TRY(tide__bind_query(b, query->right, &right));
    if (left.node->field_count != right.node->field_count) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, query->op_pos, "the sides of UNION have %u and %u columns",
                             left.node->field_count, right.node->field_count);
    }
    struct plan_node *node = tide__node_new(b->arena, PLAN_UNION, query->op_pos, 2, left.node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) {
        TIDE_TRY(union_field(b, query, left.node, right.node, i, &node->fields[i]));
    }
    TIDE_TRY(cast_to(b, left.node, node, &node->inputs[0]));
    TIDE_TRY(cast_to(b, right.node, node, &node->inputs[1]));
    out->node = node;
    out->tables = ARENA_ARRAY(b->arena, struct str, node->field_count);
    if (query->all) return TIDE_OK;
    out->node = tide__node_distinct(b->arena, node, query->op_pos);
    return TIDE_OK;
}

// --- ORDER BY, LIMIT ---

static tide_status refuse_order(struct binder *b, const struct ast_query *query) {
    if (query->order_by.items[0].descending && !b->infer.batch_mode) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, query->order_pos,
                      "a stream can be sorted by its time attribute only, ascending");
        return tide__fail_hint(b->err, "for the first N rows use ROW_NUMBER() OVER (.. ORDER BY ..) <= N");
    }
    return tide__fail_at(b->err, TIDE_ERR_PLAN, query->order_pos, "ORDER BY is not supported yet");
}

static tide_status bind_tail(struct binder *b, const struct ast_query *query) {
    if (query->order_by.count > 0) return refuse_order(b, query);
    if (query->limit != NULL) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, query->limit->pos, "LIMIT is not supported yet");
    }
    if (query->offset != NULL) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, query->offset->pos, "OFFSET is not supported yet");
    }
    return TIDE_OK;
}

// --- Queries ---

static tide_status bind_body(struct binder *b, const struct ast_query *query, struct relation *out) {
    *out = (struct relation){0};
    if (query->kind != QUERY_SELECT && query->kind != QUERY_NESTED) b->correlation = NULL;
    switch (query->kind) {
    case QUERY_SELECT: return tide__bind_select(b, query, out);
    case QUERY_VALUES: return bind_values(b, query, out);
    case QUERY_TABLE: return tide__bind_named_table(b, &query->path, NULL, out);
    case QUERY_SET_OP: return bind_set_op(b, query, out);
    case QUERY_NESTED: return tide__bind_query(b, query->left, out);
    }
    return TIDE_OK;
}

static void add_ctes(struct binder *b, const struct ast_query *query) {
    for (uint32_t i = 0; i < query->cte_count; i++) {
        struct cte *cte = ARENA_NEW(b->arena, struct cte);
        cte->ast = &query->ctes[i];
        cte->visible = b->ctes;
        cte->outer = b->ctes;
        b->ctes = cte;
    }
}

tide_status tide__bind_query(struct binder *b, const struct ast_query *query, struct relation *out) {
    if (b->depth >= BIND_DEPTH_MAX) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, query->pos, "queries and views are nested more than %d deep",
                             BIND_DEPTH_MAX);
    }
    if (++b->query_count > BIND_QUERIES_MAX) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, query->pos,
                             "the statement has more than %d queries in it, those of views counted", BIND_QUERIES_MAX);
    }
    struct cte *outer = b->ctes;
    add_ctes(b, query);
    b->depth++;
    tide_status status = bind_body(b, query, out);
    if (status == TIDE_OK) status = bind_tail(b, query);
    b->depth--;
    b->ctes = outer;
    return status;
}
