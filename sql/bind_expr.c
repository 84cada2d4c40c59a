// Expressions: names become columns, operators become calls of functions, special forms are spelled out in terms of them
// (engine/functions/README.md lists under which names). Types, coercions and their errors come from the functions.
#include "sql/bind.h"
#include "sql/bind_json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

tide_status tide__bind_function(struct binder *b, const char *name, struct expr **args, uint32_t count,
                                struct source_pos pos, struct expr **out) {
    return tide__expr_call(&b->infer, name, args, count, pos, out, b->err);
}

struct expr *tide__bind_virtual(struct select_scope *s, enum virtual_kind kind, uint32_t index, const struct type *type,
                                struct source_pos pos) {
    for (uint32_t i = 0; i < s->virtual_count; i++) {
        if (s->virtuals[i].kind == kind && s->virtuals[i].index == index) {
            return tide__expr_column(s->binder->arena, VIRTUAL_COLUMN_FIRST + i, type, pos);
        }
    }
    s->virtuals = tide__bind_grow(s->binder->arena, s->virtuals, s->virtual_count, &s->virtual_capacity,
                                  sizeof(s->virtuals[0]));
    s->virtuals[s->virtual_count] = (struct virtual_column){kind, index, type};
    return tide__expr_column(s->binder->arena, VIRTUAL_COLUMN_FIRST + s->virtual_count++, type, pos);
}

// --- Columns ---

static bool table_matches(struct str table, const struct ast_path *path, uint32_t qualifiers) {
    // catalog.database.table.column: the last qualifier is what counts.
    return qualifiers == 0 || (table.data != NULL && tide__str_eq(table, path->parts[qualifiers - 1].text));
}

// How many columns are called so; *out is the first.
static uint32_t count_columns(const struct relation *relation, const struct ast_path *path, uint32_t qualifiers,
                              uint32_t *out) {
    uint32_t found = 0;
    if (relation == NULL) return 0;
    struct str name = path->parts[qualifiers].text;
    for (uint32_t i = 0; i < relation->node->field_count; i++) {
        if (!tide__str_eq_c(name, relation->node->fields[i].name)) continue;
        if (!table_matches(relation->tables[i], path, qualifiers)) continue;
        if (qualifiers == 0 && relation->hidden != NULL && relation->hidden[i]) continue;
        if (found++ == 0) *out = i;
    }
    return found;
}

static tide_status bind_fields(struct binder *b, const struct ast_path *path, uint32_t from, struct expr *base,
                               struct expr **out) {
    *out = base;
    for (uint32_t i = from; i < path->count; i++) {
        struct ast_name *part = &path->parts[i];
        if ((*out)->type->kind != TYPE_ROW) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, part->pos, "\"%.*s\" is no row: it has no field \"%.*s\"",
                                 STR_ARG(path->parts[i - 1].text), STR_ARG(part->text));
        }
        struct expr *args[2] = {*out, tide__bind_string(b, tide__bind_name(b, part->text), part->pos)};
        TIDE_TRY(tide__bind_function(b, "FIELD", args, 2, path->pos, out));
    }
    return TIDE_OK;
}

static const struct ast_select_item *find_alias(const struct select_scope *s, struct str name, uint32_t *out) {
    if (s->alias_query == NULL) return NULL;
    for (uint32_t i = 0; i < s->alias_query->item_count; i++) {
        const struct ast_select_item *item = &s->alias_query->items[i];
        if (item->alias.text.len == 0 || !tide__str_eq(item->alias.text, name)) continue;
        *out = i;
        return item;
    }
    return NULL;
}

static bool has_table(const struct relation *relation, struct str table) {
    for (uint32_t i = 0; relation != NULL && i < relation->node->field_count; i++) {
        if (relation->tables[i].data != NULL && tide__str_eq(relation->tables[i], table)) return true;
    }
    return false;
}

// A name that only the select list gives, or that a window function would.
static bool hint_of_name(struct select_scope *s, struct str name) {
    static const char *const windows[] = {"window_start", "window_end", "window_time"};
    for (size_t i = 0; i < 3; i++) {
        if (!tide__str_eq_c(name, windows[i])) continue;
        tide__fail_hint(s->binder->err,
                        "it comes from a window function: FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)");
        return true;
    }
    bool groups = strcmp(s->clause, "GROUP BY clause") == 0;
    if (s->query == NULL || (!groups && strcmp(s->clause, "WHERE clause") != 0)) return false;
    for (uint32_t i = 0; i < s->query->item_count; i++) {
        const struct ast_select_item *item = &s->query->items[i];
        if (item->alias.text.len == 0 || !tide__str_eq(item->alias.text, name)) continue;
        tide__fail_hint(s->binder->err, "it is an alias of this SELECT, which the %s does not know: %s", s->clause,
                        groups ? "repeat what stands before AS"
                               : "filter in an outer query, aggregates in HAVING, ranks in QUALIFY");
        return true;
    }
    return false;
}

static tide_status column_not_found(struct select_scope *s, const struct ast_expr *ast) {
    struct binder *b = s->binder;
    const struct ast_path *path = &ast->path;
    struct str name = path->parts[path->count > 1 && has_table(s->input, path->parts[0].text) ? 1 : 0].text;
    if (path->count > 1 && !has_table(s->input, path->parts[0].text)) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, path->parts[0].pos, "table \"%.*s\" not found in this query",
                             STR_ARG(path->parts[0].text));
    }
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, path->count > 1 ? path->parts[path->count - 1].pos : ast->pos,
                  "column \"%.*s\" not found%s", STR_ARG(name), s->input == NULL ? ": there is no FROM" : "");
    if (path->count == 1 && hint_of_name(s, name)) return TIDE_ERR_VALIDATE;
    const char *nearest = s->input != NULL ? tide__bind_nearest_column(b, s->input, name) : NULL;
    if (nearest != NULL) return tide__fail_hint(b->err, "did you mean \"%s\"?", nearest);
    return TIDE_ERR_VALIDATE;
}

// *out stays NULL if the relation has no such column.
static tide_status find_column(struct binder *b, const struct relation *relation, const struct ast_expr *ast,
                               uint32_t first, struct expr **out) {
    const struct ast_path *path = &ast->path;
    uint32_t column = 0;
    *out = NULL;
    // The table first: b.k is a column of b, whatever else is called b.
    for (uint32_t qualifiers = path->count < 4 ? path->count : 4; qualifiers-- > 0;) {
        uint32_t found = count_columns(relation, path, qualifiers, &column);
        if (found > 1) {
            tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "column \"%.*s\" is ambiguous",
                          STR_ARG(path->parts[qualifiers].text));
            return tide__fail_hint(b->err, "several columns have this name: rename one with AS, or qualify it");
        }
        if (found == 1) {
            struct expr *base = tide__node_column(b->arena, relation->node, column, ast->pos);
            base->column += first;
            return bind_fields(b, path, qualifiers + 1, base, out);
        }
    }
    return TIDE_OK;
}

tide_status tide__bind_column(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    const struct ast_path *path = &ast->path;
    uint32_t item = 0;
    if (s->aliases_first && path->count == 1 && find_alias(s, path->parts[0].text, &item) != NULL &&
        s->alias_exprs[item] != NULL) {
        *out = s->alias_exprs[item];
        return TIDE_OK;
    }
    TIDE_TRY(find_column(b, s->input, ast, 0, out));
    if (*out != NULL) return TIDE_OK;
    if (s->correlation != NULL) TIDE_TRY(find_column(b, s->correlation->scope->input, ast, OUTER_COLUMN_FIRST, out));
    if (*out != NULL) return TIDE_OK;
    if (path->count == 1 && find_alias(s, path->parts[0].text, &item) != NULL && s->alias_exprs[item] != NULL) {
        *out = s->alias_exprs[item];
        return TIDE_OK;
    }
    return column_not_found(s, ast);
}

// --- Operators ---

static tide_status unsupported(struct select_scope *s, const struct ast_expr *ast, const char *what) {
    return tide__fail_at(s->binder->err, TIDE_ERR_PLAN, ast->pos, "%s is not supported yet", what);
}

static const char *operator_name(enum ast_op op) {
    switch (op) {
    case OP_ADD: return "+";
    case OP_SUBTRACT: return "-";
    case OP_MULTIPLY: return "*";
    case OP_DIVIDE: return "/";
    case OP_MODULO: return "%";
    case OP_CONCAT: return "||";
    case OP_EQUAL: return "=";
    case OP_NOT_EQUAL:
    case OP_BANG_NOT_EQUAL: return "<>";
    case OP_LESS: return "<";
    case OP_LESS_EQUAL: return "<=";
    case OP_GREATER: return ">";
    case OP_GREATER_EQUAL: return ">=";
    case OP_OVERLAPS: return "OVERLAPS";
    case OP_LIKE: return "LIKE";
    case OP_SIMILAR: return "SIMILAR TO";
    case OP_NEGATE: return "NEGATE";
    case OP_PLUS: return "+";
    case OP_NOT: return "NOT";
    case OP_NONE: break;
    }
    return "?";
}

const char *tide__bind_comparison_name(enum ast_op op, bool inverse) {
    static const struct {
        enum ast_op op, inverse;
    } pairs[] = {{OP_EQUAL, OP_NOT_EQUAL},    {OP_NOT_EQUAL, OP_EQUAL},    {OP_LESS, OP_GREATER_EQUAL},
                 {OP_LESS_EQUAL, OP_GREATER}, {OP_GREATER, OP_LESS_EQUAL}, {OP_GREATER_EQUAL, OP_LESS}};
    for (size_t i = 0; inverse && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (pairs[i].op == op) return operator_name(pairs[i].inverse);
    }
    return operator_name(op);
}

static bool is_comparison(enum ast_op op) {
    return op >= OP_EQUAL && op <= OP_GREATER_EQUAL;
}

static tide_status bind_all(struct select_scope *s, const struct ast_exprs *asts, struct expr ***out) {
    *out = ARENA_ARRAY(s->binder->arena, struct expr *, asts->count + 1);
    for (uint32_t i = 0; i < asts->count; i++) TIDE_TRY(tide__bind_expr(s, asts->items[i], &(*out)[i]));
    return TIDE_OK;
}

static tide_status negate_if(struct select_scope *s, bool negated, struct source_pos pos, struct expr **inout) {
    if (!negated) return TIDE_OK;
    struct expr *args[1] = {*inout};
    return tide__bind_function(s->binder, "NOT", args, 1, pos, inout);
}

static bool is_rank(const struct select_scope *s, const struct expr *expr) {
    if (expr->kind != EXPR_COLUMN) return false;
    if (expr->column >= VIRTUAL_COLUMN_FIRST) {
        return s->virtuals[expr->column - VIRTUAL_COLUMN_FIRST].kind == VIRTUAL_OVER;
    }
    return expr->column < OUTER_COLUMN_FIRST && s->input != NULL && tide__plan_is_rank(s->input->node, expr->column);
}

// Flink converts strings beside a rank: rn <= '2'.
static tide_status convert_rank_bounds(struct select_scope *s, struct expr **args) {
    for (uint32_t i = 0; i < 2; i++) {
        if (!is_rank(s, args[1 - i]) || !tide__type_is_string(args[i]->type)) continue;
        struct type bigint = tide__type_make(TYPE_BIGINT, true);
        TIDE_TRY(tide__expr_cast_explicit(&s->binder->infer, args[i], tide__type_copy(s->binder->arena, &bigint), false,
                                          args[i]->pos, &args[i], s->binder->err));
    }
    return TIDE_OK;
}

static tide_status bind_comparison(struct select_scope *s, const char *name, struct expr *left, struct expr *right,
                                   struct source_pos pos, struct expr **out) {
    struct expr *args[2] = {left, right};
    TIDE_TRY(convert_rank_bounds(s, args));
    return tide__bind_function(s->binder, name, args, 2, pos, out);
}

static tide_status bind_overlaps(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr *args[4];
    for (uint32_t side = 0; side < 2; side++) {
        const struct ast_expr *row = ast->args.items[side];
        if (row->kind != AST_EXPR_ROW || row->args.count != 2) {
            return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, row->pos, "OVERLAPS compares pairs (start, end)");
        }
        TIDE_TRY(tide__bind_expr(s, row->args.items[0], &args[side * 2]));
        TIDE_TRY(tide__bind_expr(s, row->args.items[1], &args[side * 2 + 1]));
    }
    return tide__bind_function(s->binder, "OVERLAPS", args, 4, ast->pos, out);
}

static tide_status bind_binary(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    if (ast->op == OP_OVERLAPS) return bind_overlaps(s, ast, out);
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    if (ast->interval.from != UNIT_NONE) {  // (a - b) DAY
        static const char *const units[] = {"", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"};
        struct expr *with_unit[3] = {tide__bind_string(s->binder, units[ast->interval.from], ast->pos), args[0],
                                     args[1]};
        return tide__bind_function(s->binder, "MINUS_DATE", with_unit, 3, ast->pos, out);
    }
    if (is_comparison(ast->op)) return bind_comparison(s, operator_name(ast->op), args[0], args[1], ast->pos, out);
    return tide__bind_function(s->binder, operator_name(ast->op), args, 2, ast->pos, out);
}

// The least BIGINT and the least INT: without their sign they are out of range, or of a wider type.
static bool is_least_integer(const struct ast_expr *ast, const char *digits) {
    const struct ast_expr *number = ast->args.items[0];
    return ast->op == OP_NEGATE && number->kind == AST_EXPR_LITERAL && number->literal == LITERAL_INTEGER &&
           tide__str_eq_c(number->text, digits);
}

static tide_status bind_unary(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr *args[1];
    if (is_least_integer(ast, "9223372036854775808")) {
        *out = tide__bind_integer(s->binder, TYPE_BIGINT, INT64_MIN, ast->pos);
        return TIDE_OK;
    }
    if (is_least_integer(ast, "2147483648")) {
        *out = tide__bind_integer(s->binder, TYPE_INT, INT32_MIN, ast->pos);
        return TIDE_OK;
    }
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &args[0]));
    if (ast->op == OP_PLUS) {
        const struct type *type = args[0]->type;
        if (!tide__type_is_numeric(type) && !tide__type_is_interval(type)) {
            return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, ast->pos, "+ stands before a number only");
        }
        *out = args[0];
        return TIDE_OK;
    }
    return tide__bind_function(s->binder, operator_name(ast->op), args, 1, ast->pos, out);
}

static tide_status bind_is(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    static const char *const names[4][2] = {{"IS NULL", "IS NOT NULL"},
                                            {"IS TRUE", "IS NOT TRUE"},
                                            {"IS FALSE", "IS NOT FALSE"},
                                            {"IS UNKNOWN", "IS NOT UNKNOWN"}};
    if (ast->is > IS_UNKNOWN) return tide__bind_is_json(s, ast, out);
    struct expr *args[1];
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &args[0]));
    return tide__bind_function(s->binder, names[ast->is][ast->negated], args, 1, ast->pos, out);
}

// value >= low AND value <= high
static tide_status between(struct select_scope *s, struct source_pos pos, struct expr *value, struct expr *low,
                           struct expr *high, struct expr **out) {
    struct expr *sides[2];
    TIDE_TRY(bind_comparison(s, ">=", value, low, pos, &sides[0]));
    TIDE_TRY(bind_comparison(s, "<=", value, high, pos, &sides[1]));
    return tide__bind_function(s->binder, "AND", sides, 2, pos, out);
}

static tide_status bind_between(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    TIDE_TRY(between(s, ast->pos, args[0], args[1], args[2], out));
    if (ast->symmetric) {
        struct expr *either[2] = {*out, NULL};
        TIDE_TRY(between(s, ast->pos, args[0], args[2], args[1], &either[1]));
        TIDE_TRY(tide__bind_function(s->binder, "OR", either, 2, ast->pos, out));
    }
    return negate_if(s, ast->negated, ast->pos, out);
}

static tide_status bind_case(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    struct expr **bound;
    TIDE_TRY(bind_all(s, &ast->args, &bound));
    uint32_t first = ast->has_operand ? 1 : 0, count = 0;
    uint32_t pairs = (ast->args.count - first) / 2;
    struct expr **args = ARENA_ARRAY(b->arena, struct expr *, pairs * 2 + 1);
    for (uint32_t i = 0; i < pairs; i++) {
        struct expr *when = bound[first + i * 2];
        if (ast->has_operand) TIDE_TRY(bind_comparison(s, "=", bound[0], when, when->pos, &when));
        args[count++] = when;
        args[count++] = bound[first + i * 2 + 1];
    }
    args[count++] = ast->has_else ? bound[ast->args.count - 1] : tide__bind_null(b, ast->pos);
    return tide__bind_function(b, "CASE", args, count, ast->pos, out);
}

static tide_status bind_construct(struct select_scope *s, const struct ast_expr *ast, const char *name,
                                  struct expr **out) {
    if (ast->query != NULL) return unsupported(s, ast, "ARRAY over a query");
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    return tide__bind_function(s->binder, name, args, ast->args.count, ast->pos, out);
}

static tide_status bind_field(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr *args[2];
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &args[0]));
    args[1] = tide__bind_string(s->binder, tide__bind_name(s->binder, ast->name.text), ast->name.pos);
    return tide__bind_function(s->binder, "FIELD", args, 2, ast->pos, out);
}

static tide_status bind_quantified(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    if (ast->query != NULL)
        return unsupported(s, ast, "a comparison with ANY or ALL of a query, other than as a condition of WHERE,");
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    struct expr **sides = ARENA_ARRAY(b->arena, struct expr *, ast->args.count);
    for (uint32_t i = 1; i < ast->args.count; i++) {
        TIDE_TRY(bind_comparison(s, operator_name(ast->op), args[0], args[i], ast->pos, &sides[i - 1]));
    }
    if (ast->args.count == 2) {
        *out = sides[0];
        return TIDE_OK;
    }
    return tide__bind_function(b, ast->all ? "AND" : "OR", sides, ast->args.count - 1, ast->pos, out);
}

static tide_status bind_cast(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr *arg;
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &arg));
    return tide__expr_cast_explicit(&s->binder->infer, arg, ast->type, ast->try_cast, ast->pos, out, s->binder->err);
}

static tide_status bind_in_list(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    TIDE_TRY(tide__bind_function(s->binder, "IN", args, ast->args.count, ast->pos, out));
    return negate_if(s, ast->negated, ast->pos, out);
}

static tide_status bind_like(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    TIDE_TRY(tide__bind_function(s->binder, operator_name(ast->op), args, ast->args.count, ast->pos, out));
    return negate_if(s, ast->negated, ast->pos, out);
}

static tide_status bind_logic(struct select_scope *s, const struct ast_expr *ast, const char *name, struct expr **out) {
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    return tide__bind_function(s->binder, name, args, ast->args.count, ast->pos, out);
}

static tide_status bind_distinct_from(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct expr **args;
    TIDE_TRY(bind_all(s, &ast->args, &args));
    return tide__bind_function(s->binder, ast->negated ? "IS NOT DISTINCT FROM" : "IS DISTINCT FROM", args, 2, ast->pos,
                               out);
}

// INTERVAL x MINUTE: x times a constant of one minute.
static tide_status bind_interval(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    struct ast_expr unit = {.kind = AST_EXPR_LITERAL,
                            .literal = LITERAL_INTERVAL,
                            .pos = ast->pos,
                            .text = STR_LIT("1"),
                            .interval = ast->interval};
    if (ast->interval.to != UNIT_NONE) return unsupported(s, ast, "INTERVAL of an expression with TO");
    struct expr *args[2];
    TIDE_TRY(tide__bind_literal(b, &unit, &args[0]));
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &args[1]));
    return tide__bind_function(b, "*", args, 2, ast->pos, out);
}

tide_status tide__bind_expr(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    switch (ast->kind) {
    case AST_EXPR_LITERAL: return tide__bind_literal(s->binder, ast, out);
    case AST_EXPR_COLUMN: return tide__bind_column(s, ast, out);
    case AST_EXPR_CALL: return tide__bind_call(s, ast, out);
    case AST_EXPR_UNARY: return bind_unary(s, ast, out);
    case AST_EXPR_BINARY: return bind_binary(s, ast, out);
    case AST_EXPR_AND: return bind_logic(s, ast, "AND", out);
    case AST_EXPR_OR: return bind_logic(s, ast, "OR", out);
    case AST_EXPR_IS: return bind_is(s, ast, out);
    case AST_EXPR_IS_DISTINCT: return bind_distinct_from(s, ast, out);
    case AST_EXPR_BETWEEN: return bind_between(s, ast, out);
    case AST_EXPR_LIKE: return bind_like(s, ast, out);
    case AST_EXPR_IN_LIST: return bind_in_list(s, ast, out);
    case AST_EXPR_CASE: return bind_case(s, ast, out);
    case AST_EXPR_CAST: return bind_cast(s, ast, out);
    case AST_EXPR_ROW: return bind_construct(s, ast, "ROW", out);
    case AST_EXPR_ARRAY: return bind_construct(s, ast, "ARRAY", out);
    case AST_EXPR_MAP: return bind_construct(s, ast, "MAP", out);
    case AST_EXPR_ELEMENT: return bind_construct(s, ast, "ITEM", out);
    case AST_EXPR_FIELD: return bind_field(s, ast, out);
    case AST_EXPR_QUANTIFIED: return bind_quantified(s, ast, out);
    case AST_EXPR_IN_QUERY: return tide__bind_in_value(s, ast, out);
    case AST_EXPR_EXISTS: return tide__bind_exists_value(s, ast, out);
    case AST_EXPR_SUBQUERY: return tide__bind_subquery_value(s, ast, out);
    case AST_EXPR_INTERVAL: return bind_interval(s, ast, out);
    case AST_EXPR_STAR:
        return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, ast->pos,
                             "* stands alone in a select list or in COUNT(*)");
    case AST_EXPR_SYMBOL:
    case AST_EXPR_DEFAULT:
    case AST_EXPR_NAMED_ARG:
    case AST_EXPR_TABLE_ARG:
    case AST_EXPR_DESCRIPTOR: return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, ast->pos, "this is no value");
    }
    return TIDE_OK;
}

tide_status tide__bind_condition(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    TIDE_TRY(tide__bind_expr(s, ast, out));
    if ((*out)->type->kind == TYPE_BOOLEAN) return TIDE_OK;
    if ((*out)->type->kind == TYPE_NULL) {
        (*out)->type = tide__bind_boolean(s->binder, false, ast->pos)->type;
        (*out)->type = tide__type_with_nullable(s->binder->arena, (*out)->type, true);
        return TIDE_OK;
    }
    return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, ast->pos, "the %s must be a condition, but this is %s",
                         s->clause, tide__type_text(s->binder->arena, (*out)->type));
}
