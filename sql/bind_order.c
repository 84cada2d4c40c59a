// ORDER BY, OFFSET and LIMIT. With a LIMIT they are a Top-N without a number (a raw PLAN_RANK), without one a PLAN_SORT; a
// subquery's order without a limit means nothing, in SQL and in Flink.
#include "sql/bind.h"

#include <string.h>

// --- What is ordered by ---

static struct sort_key sort_key(const struct ast_order_item *item, uint32_t column) {
    bool nulls_last = item->nulls == NULLS_DEFAULT ? item->descending : item->nulls == NULLS_LAST;
    return (struct sort_key){column, item->descending, nulls_last};
}

// ORDER BY 2. *out_found: it is an ordinal.
static tide_status ordinal(struct binder *b, const struct ast_expr *ast, uint32_t count, uint32_t *out_column,
                           bool *out_found) {
    *out_found = ast->kind == AST_EXPR_LITERAL && ast->literal == LITERAL_INTEGER;
    if (!*out_found) return TIDE_OK;
    uint64_t number = 0;
    for (size_t i = 0; i < ast->text.len && number <= count; i++)
        number = number * 10 + (uint64_t)(ast->text.data[i] - '0');
    *out_column = (uint32_t)number - 1;
    if (number >= 1 && number <= count) return TIDE_OK;
    return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "ORDER BY %.*s: the query has %u column%s",
                         STR_ARG(ast->text), count, count == 1 ? "" : "s");
}

// The column of an item, or of one more that only the order needs.
tide_status tide__bind_order_item(struct order_by *order, const struct ast_order_item *item) {
    struct select_scope *s = order->scope;
    struct binder *b = s->binder;
    uint32_t column;
    bool found;
    TIDE_TRY(ordinal(b, item->expr, order->visible_count, &column, &found));
    struct expr *expr = NULL;
    if (!found) {
        TIDE_TRY(tide__bind_expr(s, item->expr, &expr));
        column = 0;
        while (column < order->item_count && !tide__expr_equal(order->items[column], expr)) column++;
    }
    if (column == order->item_count) {
        if (order->distinct) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, item->pos,
                                 "a SELECT DISTINCT is ordered by what it selects only");
        }
        order->items[order->item_count++] = expr;
    }
    order->keys[order->key_count++] = sort_key(item, column);
    return TIDE_OK;
}

// --- OFFSET, LIMIT ---

static tide_status row_count(struct binder *b, const struct ast_expr *ast, const char *what, int64_t *out) {
    struct select_scope scope = {.binder = b, .clause = what};
    struct expr *expr;
    TIDE_TRY(tide__bind_expr(&scope, ast, &expr));
    if (expr->kind == EXPR_LITERAL && tide__type_is_integer(expr->type) && !expr->literal.is_null &&
        expr->literal.i64 >= 0) {
        *out = expr->literal.i64;
        return TIDE_OK;
    }
    return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%s must be a number of rows", what);
}

static struct plan_node *no_rows(struct binder *b, struct plan_node *input, struct source_pos pos) {
    return tide__node_filter(b->arena, input, tide__bind_boolean(b, false, pos), pos);
}

static tide_status limited(struct binder *b, const struct ast_query *query, const struct sort_key *keys,
                           uint32_t key_count, struct plan_node *input, struct plan_node **out) {
    int64_t limit = 0, offset = 0;
    struct source_pos pos = query->order_by.count > 0 ? query->order_pos : query->limit->pos;
    TIDE_TRY(row_count(b, query->limit, "LIMIT", &limit));
    if (query->offset != NULL) TIDE_TRY(row_count(b, query->offset, "OFFSET", &offset));
    if (limit == 0) {
        *out = no_rows(b, input, pos);
        return TIDE_OK;
    }
    struct plan_node *node = tide__node_new(b->arena, PLAN_RANK, pos, 1, input->field_count);
    node->inputs[0] = input;
    memcpy(node->fields, input->fields, input->field_count * sizeof(node->fields[0]));
    node->rank = (struct plan_rank){.sort_count = key_count, .rank_first = offset + 1};
    node->rank.rank_last = limit > INT64_MAX / 4 - offset ? INT64_MAX / 4 : offset + limit;
    node->rank.sorts = ARENA_ARRAY(b->arena, struct sort_key, key_count);
    if (key_count > 0) memcpy(node->rank.sorts, keys, key_count * sizeof(keys[0]));
    *out = node;
    return TIDE_OK;
}

static void partition(struct binder *b, struct plan_node *node, uint32_t first, uint32_t count) {
    node->rank.partition_count = count;
    node->rank.partitions = ARENA_ARRAY(b->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) node->rank.partitions[i] = first + i;
}

static struct plan_node *sorted(struct binder *b, const struct ast_query *query, const struct sort_key *keys,
                                uint32_t key_count, struct plan_node *input) {
    struct plan_node *node = tide__node_new(b->arena, PLAN_SORT, query->order_pos, 1, input->field_count);
    node->inputs[0] = input;
    memcpy(node->fields, input->fields, input->field_count * sizeof(node->fields[0]));
    node->over = (struct plan_over){.sort_count = key_count, .rows = true, .preceding = -1};
    node->over.sorts = ARENA_ARRAY(b->arena, struct sort_key, key_count);
    memcpy(node->over.sorts, keys, key_count * sizeof(keys[0]));
    return node;
}

tide_status tide__bind_ordered(struct binder *b, const struct ast_query *query, const struct sort_key *keys,
                               uint32_t key_count, uint32_t visible_count, uint32_t group_count,
                               struct relation *inout) {
    struct plan_node *input = inout->node;
    if (query->limit != NULL) {
        TIDE_TRY(limited(b, query, keys, key_count, input, &inout->node));
        if (inout->node->kind == PLAN_RANK) partition(b, inout->node, visible_count - group_count, group_count);
    } else if (query->offset != NULL) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, query->offset->pos, "OFFSET needs a LIMIT");
        return tide__fail_hint(b->err, "add LIMIT or FETCH NEXT n ROWS ONLY");
    } else if (key_count > 0 && b->depth <= 1) {
        inout->node = sorted(b, query, keys, key_count, input);
    }
    if (visible_count == input->field_count) return TIDE_OK;
    struct plan_node *calc = tide__node_calc(b->arena, inout->node, visible_count, query->pos);
    for (uint32_t i = 0; i < visible_count; i++) {
        calc->fields[i] = inout->node->fields[i];
        calc->calc.outputs[i] = tide__node_column(b->arena, inout->node, i, query->pos);
    }
    inout->node = calc;
    return TIDE_OK;
}

// Of set operations, VALUES and queries in parentheses: by their columns.
tide_status tide__bind_tail(struct binder *b, const struct ast_query *query, struct relation *inout) {
    uint32_t count = inout->node->field_count;
    if (query->order_by.count == 0 && query->limit == NULL && query->offset == NULL) return TIDE_OK;
    struct select_scope scope = {.binder = b, .input = inout, .clause = "ORDER BY clause"};
    struct order_by order = {.scope = &scope, .visible_count = count, .item_count = count};
    order.items = ARENA_ARRAY(b->arena, struct expr *, count + query->order_by.count);
    order.keys = ARENA_ARRAY(b->arena, struct sort_key, query->order_by.count);
    for (uint32_t i = 0; i < count; i++) order.items[i] = tide__node_column(b->arena, inout->node, i, query->pos);
    for (uint32_t i = 0; i < query->order_by.count; i++)
        TIDE_TRY(tide__bind_order_item(&order, &query->order_by.items[i]));
    if (order.item_count > count) {
        struct plan_node *calc = tide__node_calc(b->arena, inout->node, order.item_count, query->order_pos);
        for (uint32_t i = 0; i < order.item_count; i++) {
            calc->calc.outputs[i] = order.items[i];
            calc->fields[i] = (struct plan_field){i < count ? inout->node->fields[i].name : "$s", order.items[i]->type};
        }
        inout->node = calc;
    }
    return tide__bind_ordered(b, query, order.keys, order.key_count, count, 0, inout);
}

// --- Planning ---

tide_status tide__plan_sort(struct binder *b, struct plan_node *node) {
    const struct plan_node *input = node->inputs[0];
    const struct sort_key *first = &node->over.sorts[0];
    node->updates = false;
    if (b->infer.batch_mode) return TIDE_OK;
    if (first->descending || !tide__plan_is_time_attribute(input, first->column)) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "a stream can be sorted by its time attribute only, ascending");
        return tide__fail_hint(
            b->err, "add a LIMIT for the first rows, or use batch mode: SET 'execution.runtime-mode' = 'batch'");
    }
    if (!input->updates) return TIDE_OK;
    return tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "rows that are updated cannot be sorted by time");
}
