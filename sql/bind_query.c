// Queries around SELECTs: WITH, VALUES, TABLE t, set operations.
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

static const char *set_op_name(const struct ast_query *query) {
    return query->set_op == SET_UNION ? "UNION" : query->set_op == SET_INTERSECT ? "INTERSECT" : "EXCEPT";
}

static tide_status common_field(struct binder *b, const struct ast_query *query, const struct plan_node *left,
                                const struct plan_node *right, uint32_t i, struct plan_field *out) {
    const struct type *types[2] = {left->fields[i].type, right->fields[i].type};
    const struct type *common;
    if (!tide__type_common(b->arena, types, 2, &common)) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, query->op_pos, "column %u is %s on one side of %s, %s on the other",
                      i + 1, tide__type_text(b->arena, types[0]), set_op_name(query),
                      tide__type_text(b->arena, types[1]));
        return tide__fail_hint(b->err, "cast one of them");
    }
    bool attribute = types[0]->time_attribute == types[1]->time_attribute && tide__type_same(types[0], types[1]);
    struct type type = *common;
    type.nullable = types[0]->nullable || types[1]->nullable;
    type.time_attribute = attribute ? types[0]->time_attribute : TIME_ATTRIBUTE_NONE;
    *out = (struct plan_field){left->fields[i].name, tide__type_copy(b->arena, &type)};
    return TIDE_OK;
}

// The rows of a side with a number among equal ones, so that ALL can tell the first from the second.
static struct plan_node *numbered(struct binder *b, struct plan_node *input, struct source_pos pos) {
    uint32_t fields = input->field_count;
    struct type bigint = tide__type_make(TYPE_BIGINT, false);
    struct plan_node *node = tide__node_new(b->arena, PLAN_RANK, pos, 1, fields + 1);
    node->inputs[0] = input;
    memcpy(node->fields, input->fields, fields * sizeof(node->fields[0]));
    node->fields[fields] = (struct plan_field){"$n", tide__type_copy(b->arena, &bigint)};
    node->rank = (struct plan_rank){
        .partition_count = fields, .rank_first = 1, .rank_last = INT64_MAX / 4, .has_rank = true};
    node->rank.partitions = ARENA_ARRAY(b->arena, uint32_t, fields);
    for (uint32_t i = 0; i < fields; i++) node->rank.partitions[i] = i;
    return node;
}

static bool zero_value(const struct type *type, struct value *out) {
    *out = (struct value){0};
    if (tide__type_is_string(type)) out->str = STR_LIT("");
    return tide__type_is_string(type) || tide__type_is_numeric(type) || tide__type_is_timestamp(type) ||
           type->kind == TYPE_DATE || type->kind == TYPE_TIME || type->kind == TYPE_BOOLEAN;
}

// x = y where NULL equals NULL: as two equalities, so that they can be keys.
static tide_status same_value(struct binder *b, struct expr *left, struct expr *right, struct expr **inout) {
    struct expr *sides[2] = {left, right}, *nulls[2], *equal;
    struct value zero;
    if (!left->type->nullable && !right->type->nullable) {
        TIDE_TRY(tide__bind_function(b, "=", sides, 2, left->pos, &equal));
        return tide__bind_and(b, equal, inout);
    }
    if (!zero_value(left->type, &zero)) {
        TIDE_TRY(tide__bind_function(b, "IS NOT DISTINCT FROM", sides, 2, left->pos, &equal));
        return tide__bind_and(b, equal, inout);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const struct type *type = tide__type_with_nullable(b->arena, left->type, false);
        struct expr *filled[2] = {sides[i], tide__expr_literal(b->arena, zero, type, left->pos)};
        TIDE_TRY(tide__bind_function(b, "IS NULL", &sides[i], 1, left->pos, &nulls[i]));
        TIDE_TRY(tide__bind_function(b, "COALESCE", filled, 2, left->pos, &sides[i]));
    }
    TIDE_TRY(tide__bind_function(b, "=", nulls, 2, left->pos, &equal));
    TIDE_TRY(tide__bind_and(b, equal, inout));
    TIDE_TRY(tide__bind_function(b, "=", sides, 2, left->pos, &equal));
    return tide__bind_and(b, equal, inout);
}

// INTERSECT is a SEMI join on all columns, EXCEPT an ANTI join.
static tide_status semi_join(struct binder *b, const struct ast_query *query, struct plan_node *const *sides,
                             struct plan_node **out) {
    enum join_kind kind = query->set_op == SET_INTERSECT ? JOIN_SEMI : JOIN_ANTI;
    struct plan_node *left = sides[0], *right = sides[1];
    uint32_t fields = left->field_count;
    if (query->all) {
        left = numbered(b, left, query->op_pos);
        right = numbered(b, right, query->op_pos);
    }
    struct plan_node *join = tide__node_join(b->arena, kind, left, right, query->op_pos);
    for (uint32_t i = 0; i < left->field_count; i++) {
        struct expr *other = tide__node_column(b->arena, right, i, query->op_pos);
        other->column += left->field_count;
        TIDE_TRY(same_value(b, tide__node_column(b->arena, left, i, query->op_pos), other, &join->join.condition));
    }
    struct plan_node *calc = tide__node_calc(b->arena, join, fields, query->op_pos);
    for (uint32_t i = 0; i < fields; i++) {
        calc->calc.outputs[i] = tide__node_column(b->arena, join, i, query->op_pos);
        calc->fields[i] = join->fields[i];
    }
    *out = calc;
    return TIDE_OK;
}

static tide_status bind_set_op(struct binder *b, const struct ast_query *query, struct relation *out) {
    struct relation left, right;
    TIDE_TRY(tide__bind_query(b, query->left, &left));
    TIDE_TRY(tide__bind_query(b, query->right, &right));
    if (left.node->field_count != right.node->field_count) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, query->op_pos, "the sides of %s have %u and %u columns",
                             set_op_name(query), left.node->field_count, right.node->field_count);
    }
    struct plan_node *node = tide__node_new(b->arena, PLAN_UNION, query->op_pos, 2, left.node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) {
        TIDE_TRY(common_field(b, query, left.node, right.node, i, &node->fields[i]));
    }
    TIDE_TRY(cast_to(b, left.node, node, &node->inputs[0]));
    TIDE_TRY(cast_to(b, right.node, node, &node->inputs[1]));
    out->tables = ARENA_ARRAY(b->arena, struct str, node->field_count);
    const struct plan_node *typed = node;
    if (query->set_op != SET_UNION) TIDE_TRY(semi_join(b, query, node->inputs, &node));
    for (uint32_t i = 0; i < node->field_count; i++) node->fields[i] = typed->fields[i];
    out->node = query->all ? node : tide__node_distinct(b->arena, node, query->op_pos);
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
    if (status == TIDE_OK && query->kind != QUERY_SELECT) status = tide__bind_tail(b, query, out);
    b->depth--;
    b->ctes = outer;
    return status;
}
