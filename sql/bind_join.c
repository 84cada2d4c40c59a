// Joins in FROM. A join is a raw PLAN_JOIN node: the fields of both sides and the whole of ON as its condition; what kind of
// join it is (of windows, of an interval of time, regular) and which of its conditions are keys is seen in planning.
#include "sql/bind.h"

#include <string.h>

static enum join_kind join_kind(enum ast_join join) {
    switch (join) {
    case AST_JOIN_LEFT: return JOIN_LEFT;
    case AST_JOIN_RIGHT: return JOIN_RIGHT;
    case AST_JOIN_FULL: return JOIN_FULL;
    case AST_JOIN_INNER:
    case AST_JOIN_CROSS:
    case AST_JOIN_COMMA: break;
    }
    return JOIN_INNER;
}

// A condition joined to the others with AND.
tide_status tide__bind_and(struct binder *b, struct expr *more, struct expr **inout) {
    if (*inout == NULL) {
        *inout = more;
        return TIDE_OK;
    }
    struct expr *args[2] = {*inout, more};
    return tide__bind_function(b, "AND", args, 2, more->pos, inout);
}

// All of them joined with AND; NULL if there is none.
tide_status tide__bind_conjunction(struct binder *b, struct expr **conditions, uint32_t count, struct expr **out) {
    *out = count == 0 ? NULL : conditions[0];
    if (count <= 1) return TIDE_OK;
    return tide__bind_function(b, "AND", conditions, count, conditions[0]->pos, out);
}

struct plan_node *tide__node_join(struct arena *arena, enum join_kind kind, struct plan_node *left,
                                  struct plan_node *right, struct source_pos pos) {
    bool left_only = kind == JOIN_SEMI || kind == JOIN_ANTI;
    uint32_t n = left->field_count, m = left_only ? 0 : right->field_count;
    struct plan_node *node = tide__node_new(arena, PLAN_JOIN, pos, 2, n + m);
    node->inputs[0] = left;
    node->inputs[1] = right;
    node->join.kind = kind;
    for (uint32_t i = 0; i < n + m; i++) {
        bool padded = kind == JOIN_FULL || (i < n ? kind == JOIN_RIGHT : kind == JOIN_LEFT);
        node->fields[i] = i < n ? left->fields[i] : right->fields[i - n];
        if (padded) node->fields[i].type = tide__type_with_nullable(arena, node->fields[i].type, true);
    }
    return node;
}

// --- USING, NATURAL ---

static bool is_hidden(const struct relation *relation, uint32_t field) {
    return relation->hidden != NULL && relation->hidden[field];
}

static uint32_t count_name(const struct relation *relation, struct str name, uint32_t *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < relation->node->field_count; i++) {
        if (is_hidden(relation, i) || !tide__str_eq_c(name, relation->node->fields[i].name)) continue;
        if (found++ == 0) *out = i;
    }
    return found;
}

struct using_columns {
    struct binder *binder;
    const struct ast_table_ref *ref;
    const struct relation *left, *right;
    uint32_t count;
    uint32_t *columns[2];  // of the left and of the right side
};

static tide_status using_column(struct using_columns *u, const struct ast_name *name) {
    const struct relation *sides[2] = {u->left, u->right};
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t found = count_name(sides[side], name->text, &u->columns[side][u->count]);
        if (found == 1) continue;
        return tide__fail_at(u->binder->err, TIDE_ERR_VALIDATE, name->pos, "column \"%.*s\" of USING %s the %s side",
                             STR_ARG(name->text), found == 0 ? "is not on" : "is ambiguous on",
                             side == 0 ? "left" : "right");
    }
    u->count++;
    return TIDE_OK;
}

static tide_status find_using(struct using_columns *u) {
    struct arena *arena = u->binder->arena;
    const struct ast_names *names = &u->ref->using_columns;
    const struct plan_node *left = u->left->node;
    uint32_t most = names->count + left->field_count;
    for (uint32_t side = 0; side < 2; side++) u->columns[side] = ARENA_ARRAY(arena, uint32_t, most);
    for (uint32_t i = 0; i < names->count; i++) TIDE_TRY(using_column(u, &names->items[i]));
    for (uint32_t i = 0; u->ref->natural && i < left->field_count; i++) {
        uint32_t other;
        if (is_hidden(u->left, i)) continue;
        struct ast_name name = {.text = tide__str(left->fields[i].name), .pos = u->ref->join_pos};
        if (count_name(u->right, name.text, &other) > 0) TIDE_TRY(using_column(u, &name));
    }
    return TIDE_OK;
}

static tide_status using_condition(const struct using_columns *u, struct plan_node *join) {
    struct binder *b = u->binder;
    for (uint32_t i = 0; i < u->count; i++) {
        struct source_pos pos = u->ref->natural ? u->ref->join_pos : u->ref->using_columns.items[i].pos;
        struct expr *sides[2] = {tide__node_column(b->arena, join, u->columns[0][i], pos),
                                 tide__node_column(b->arena, join, u->left->node->field_count + u->columns[1][i], pos)};
        struct expr *equal;
        TIDE_TRY(tide__bind_function(b, "=", sides, 2, pos, &equal));
        TIDE_TRY(tide__bind_and(b, equal, &join->join.condition));
    }
    return TIDE_OK;
}

// The value that both sides have; of an outer join the side that is there.
static tide_status merged_column(const struct using_columns *u, struct plan_node *join, uint32_t i, struct expr **out) {
    struct binder *b = u->binder;
    struct expr *sides[2] = {
        tide__node_column(b->arena, join, u->columns[0][i], u->ref->join_pos),
        tide__node_column(b->arena, join, u->left->node->field_count + u->columns[1][i], u->ref->join_pos)};
    if (join->join.kind == JOIN_FULL) return tide__bind_function(b, "COALESCE", sides, 2, u->ref->join_pos, out);
    *out = sides[join->join.kind == JOIN_RIGHT ? 1 : 0];
    return TIDE_OK;
}

// The merged columns first, then the others; the sides' own copies of the merged ones are found under their table's name only.
static tide_status using_relation(const struct using_columns *u, struct plan_node *join, const struct relation *all,
                                  struct relation *out) {
    struct binder *b = u->binder;
    uint32_t fields = join->field_count + u->count, count = 0, n = u->left->node->field_count;
    struct plan_node *calc = tide__node_calc(b->arena, join, fields, join->pos);
    bool *merged = ARENA_ARRAY(b->arena, bool, join->field_count);
    out->node = calc;
    out->tables = ARENA_ARRAY(b->arena, struct str, fields);
    out->hidden = ARENA_ARRAY(b->arena, bool, fields);
    for (uint32_t i = 0; i < u->count; i++) {
        merged[u->columns[0][i]] = merged[n + u->columns[1][i]] = true;
        TIDE_TRY(merged_column(u, join, i, &calc->calc.outputs[count]));
        calc->fields[count] = (struct plan_field){join->fields[u->columns[0][i]].name, calc->calc.outputs[count]->type};
        count++;
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < join->field_count; i++) {
            if (merged[i] != (pass == 1)) continue;
            calc->calc.outputs[count] = tide__node_column(b->arena, join, i, join->pos);
            calc->fields[count] = join->fields[i];
            out->tables[count] = all->tables[i];
            out->hidden[count++] = merged[i] || is_hidden(all, i);
        }
    }
    return TIDE_OK;
}

// --- The join ---

static void all_fields(struct binder *b, const struct relation *left, const struct relation *right,
                       struct plan_node *node, struct relation *out) {
    uint32_t n = left->node->field_count;
    *out = (struct relation){node, ARENA_ARRAY(b->arena, struct str, node->field_count),
                             ARENA_ARRAY(b->arena, bool, node->field_count)};
    for (uint32_t i = 0; i < node->field_count; i++) {
        const struct relation *side = i < n ? left : right;
        out->tables[i] = side->tables[i < n ? i : i - n];
        out->hidden[i] = is_hidden(side, i < n ? i : i - n);
    }
}

static tide_status check_join(struct binder *b, const struct ast_table_ref *ref) {
    const char *what = NULL;
    if (ref->right->system_time != NULL) what = "joins FOR SYSTEM_TIME AS OF are";
    if (ref->right->lateral && ref->right->kind != TABLE_UNNEST && ref->right->kind != TABLE_SUBQUERY)
        what = "LATERAL is";
    if (what == NULL) return TIDE_OK;
    return tide__fail_at(b->err, TIDE_ERR_PLAN, ref->join_pos, "%s not supported yet", what);
}

static tide_status on_condition(struct binder *b, const struct ast_table_ref *ref, const struct relation *all) {
    struct select_scope scope = {.binder = b, .input = all, .clause = "ON clause"};
    return tide__bind_condition(&scope, ref->on, &all->node->join.condition);
}

// LATERAL (SELECT ..): it may look at the left side in its WHERE. What its conditions need of it is hidden.
static tide_status lateral_query(struct binder *b, const struct ast_table_ref *ref, const struct relation *left,
                                 struct correlation *correlation, struct relation *out) {
    struct select_scope scope = {.binder = b, .input = left, .clause = "LATERAL query"};
    const struct ast_table_ref *right = ref->right;
    TIDE_TRY(tide__bind_correlated(&scope, right->query, out, correlation));
    uint32_t fields = out->node->field_count, visible = fields - correlation->item_count;
    out->tables = ARENA_ARRAY(b->arena, struct str, fields);
    out->hidden = ARENA_ARRAY(b->arena, bool, fields);
    for (uint32_t i = 0; i < fields; i++) {
        out->tables[i] = right->alias.text;
        out->hidden[i] = i >= visible;
    }
    if (right->columns.count == 0) return TIDE_OK;
    if (right->columns.count != visible) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, right->columns.items[0].pos, "%u column names for %u columns",
                             right->columns.count, visible);
    }
    for (uint32_t i = 0; i < visible; i++) {
        out->node->fields[i].name = tide__bind_name(b, right->columns.items[i].text);
    }
    return TIDE_OK;
}

tide_status tide__bind_join(struct binder *b, const struct ast_table_ref *ref, struct relation *out) {
    struct relation left, right, all;
    TIDE_TRY(tide__bind_from(b, ref->left, &left));
    TIDE_TRY(check_join(b, ref));
    if (ref->right->kind == TABLE_UNNEST) return tide__bind_unnest_join(b, ref, &left, out);
    struct correlation correlation = {0};
    bool lateral = ref->right->kind == TABLE_SUBQUERY && ref->right->lateral;
    if (lateral) {
        TIDE_TRY(lateral_query(b, ref, &left, &correlation, &right));
    } else {
        TIDE_TRY(tide__bind_from(b, ref->right, &right));
    }
    struct plan_node *node = tide__node_join(b->arena, join_kind(ref->join), left.node, right.node, ref->join_pos);
    all_fields(b, &left, &right, node, &all);
    *out = all;
    if (ref->on != NULL) TIDE_TRY(on_condition(b, ref, &all));
    TIDE_TRY(tide__bind_join_condition(b, &correlation, left.node->field_count, &node->join.condition));
    if (ref->on != NULL) return TIDE_OK;
    if (!ref->natural && ref->using_columns.count == 0) return TIDE_OK;
    struct using_columns u = {.binder = b, .ref = ref, .left = &left, .right = &right};
    TIDE_TRY(find_using(&u));
    TIDE_TRY(using_condition(&u, node));
    return using_relation(&u, node, &all, out);
}
