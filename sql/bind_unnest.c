// UNNEST(array) in FROM, alone or joined: it may look at the columns of the tables left of it. The value is computed in a calc,
// PLAN_UNNEST puts the elements beside each row.
#include "sql/bind.h"

#include <string.h>

struct unnesting {
    struct binder *binder;
    const struct ast_table_ref *ref;  // the TABLE_UNNEST
    const struct type *type;          // of the value
    bool outer;
    uint32_t count;
    struct plan_field *fields;  // the elements' columns
    bool rows;
};

// The elements' columns: those of a ROW, key and value of a MAP, else one that is called as the alias.
static tide_status element_fields(struct unnesting *u) {
    struct binder *b = u->binder;
    const struct type *type = u->type;
    if (type->kind != TYPE_ARRAY && type->kind != TYPE_MAP && type->kind != TYPE_MULTISET) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, u->ref->call->pos,
                             "UNNEST takes an ARRAY, a MAP or a MULTISET, not %s", tide__type_text(b->arena, type));
    }
    const struct type *element = type->children[0].type;
    const struct type_child *children = type->children;
    u->rows = type->kind != TYPE_MAP && element->kind == TYPE_ROW;
    bool nullable = u->outer || (u->rows && element->nullable);
    u->count = type->kind == TYPE_MAP ? 2 : 1;
    if (u->rows) {
        u->count = element->child_count;
        children = element->children;
    }
    u->fields = ARENA_ARRAY(b->arena, struct plan_field, u->count + 1);
    for (uint32_t i = 0; i < u->count; i++) {
        const char *name = children[i].name;
        if (type->kind == TYPE_MAP) name = i == 0 ? "KEY" : "VALUE";
        if (name == NULL) name = u->ref->alias.text.len > 0 ? tide__bind_name(b, u->ref->alias.text) : "EXPR$0";
        const struct type *field = children[i].type;
        u->fields[i] = (struct plan_field){name,
                                           tide__type_with_nullable(b->arena, field, field->nullable || nullable)};
    }
    if (!u->ref->with_ordinality) return TIDE_OK;
    struct type ordinal = tide__type_make(TYPE_INT, u->outer);
    u->fields[u->count] = (struct plan_field){"ORDINALITY", tide__type_copy(b->arena, &ordinal)};
    return TIDE_OK;
}

static tide_status name_columns(struct unnesting *u) {
    const struct ast_names *names = &u->ref->columns;
    uint32_t count = u->count + (u->ref->with_ordinality ? 1 : 0);
    if (names->count == 0) return TIDE_OK;
    if (names->count != count) {
        return tide__fail_at(u->binder->err, TIDE_ERR_VALIDATE, names->items[0].pos, "%u column names for %u columns",
                             names->count, count);
    }
    for (uint32_t i = 0; i < count; i++) u->fields[i].name = tide__bind_name(u->binder, names->items[i].text);
    return TIDE_OK;
}

// The input's fields and the value.
static struct plan_node *value_calc(struct unnesting *u, struct plan_node *input, struct expr *value) {
    struct arena *arena = u->binder->arena;
    uint32_t n = input->field_count;
    struct plan_node *calc = tide__node_calc(arena, input, n + 1, u->ref->pos);
    for (uint32_t i = 0; i < n; i++) {
        calc->fields[i] = input->fields[i];
        calc->calc.outputs[i] = tide__node_column(arena, input, i, u->ref->pos);
    }
    calc->fields[n] = (struct plan_field){"$u", value->type};
    calc->calc.outputs[n] = value;
    return calc;
}

static struct plan_node *unnest_node(struct unnesting *u, struct plan_node *calc) {
    uint32_t n = calc->field_count, more = u->count + (u->ref->with_ordinality ? 1 : 0);
    struct plan_node *node = tide__node_new(u->binder->arena, PLAN_UNNEST, u->ref->pos, 1, n + more);
    node->inputs[0] = calc;
    memcpy(node->fields, calc->fields, n * sizeof(node->fields[0]));
    memcpy(node->fields + n, u->fields, more * sizeof(node->fields[0]));
    node->unnest = (struct plan_unnest){n - 1, u->outer, u->ref->with_ordinality, u->rows, u->count};
    return node;
}

// The value itself is hidden: it stands between the input's fields and the elements'.
static void result(struct unnesting *u, const struct relation *left, struct plan_node *node, struct relation *out) {
    struct arena *arena = u->binder->arena;
    uint32_t n = left->node->field_count;
    *out = (struct relation){node, ARENA_ARRAY(arena, struct str, node->field_count),
                             ARENA_ARRAY(arena, bool, node->field_count)};
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (i < n) {
            out->tables[i] = left->tables[i];
            out->hidden[i] = left->hidden != NULL && left->hidden[i];
        } else if (i > n) {
            out->tables[i] = u->ref->alias.text;
        }
    }
    out->hidden[n] = true;
}

tide_status tide__bind_unnest(struct binder *b, const struct ast_table_ref *ref, const struct relation *left,
                              bool outer, struct relation *out) {
    struct unnesting u = {.binder = b, .ref = ref, .outer = outer};
    struct select_scope scope = {.binder = b, .input = left, .clause = "UNNEST"};
    struct expr *value;
    if (ref->call->args.count != 1) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ref->call->pos, "UNNEST takes one argument");
    }
    TIDE_TRY(tide__bind_expr(&scope, ref->call->args.items[0], &value));
    u.type = value->type;
    TIDE_TRY(element_fields(&u));
    TIDE_TRY(name_columns(&u));
    result(&u, left, unnest_node(&u, value_calc(&u, left->node, value)), out);
    return TIDE_OK;
}

// a JOIN UNNEST(..) [ON TRUE]
tide_status tide__bind_unnest_join(struct binder *b, const struct ast_table_ref *join, const struct relation *left,
                                   struct relation *out) {
    bool outer = join->join == AST_JOIN_LEFT;
    if (join->join == AST_JOIN_RIGHT || join->join == AST_JOIN_FULL || join->natural || join->using_columns.count > 0) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, join->join_pos,
                             "UNNEST is joined by CROSS, INNER or LEFT JOIN only");
    }
    TIDE_TRY(tide__bind_unnest(b, join->right, left, outer, out));
    if (join->on == NULL) return TIDE_OK;
    struct select_scope scope = {.binder = b, .input = out, .clause = "ON clause"};
    struct expr *condition;
    TIDE_TRY(tide__bind_condition(&scope, join->on, &condition));
    bool always = condition->kind == EXPR_LITERAL && !condition->literal.is_null && condition->literal.boolean;
    if (always) return TIDE_OK;
    if (outer) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, join->on->pos, "LEFT JOIN UNNEST takes ON TRUE only");
    }
    out->node = tide__node_filter(b->arena, out->node, condition, join->on->pos);
    return TIDE_OK;
}
