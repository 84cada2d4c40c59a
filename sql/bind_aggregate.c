// Aggregate calls of a SELECT: each distinct one is bound once, with its arguments as expressions over the SELECT's input, and
// is a virtual column for the expression around it.
#include "sql/bind.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static struct str call_name(const struct ast_expr *ast) {
    return ast->path.parts[ast->path.count - 1].text;
}

// `sum( price )` -> "SUM(price)", as a user would write it.
const char *tide__bind_call_name(struct binder *b, const struct ast_expr *ast, const char *function) {
    struct str text = {"", 0};
    if ((size_t)ast->pos.offset + ast->pos.length <= b->sql.len) {
        text = (struct str){b->sql.data + ast->pos.offset, ast->pos.length};
    }
    const char *open = text.len > 0 ? memchr(text.data, '(', text.len) : NULL;
    struct strbuf out = {0};
    tide__strbuf_append_c(&out, function);
    bool blank = false;
    for (const char *p = open; p != NULL && p < text.data + text.len && out.len < 200; p++) {
        if (isspace((unsigned char)*p)) {
            blank = true;
            continue;
        }
        char last = out.len > 0 ? out.data[out.len - 1] : '(';
        if (blank && last != '(' && *p != ')' && *p != ',') tide__strbuf_append_char(&out, ' ');
        blank = false;
        tide__strbuf_append_char(&out, *p);
    }
    if (open == NULL) tide__strbuf_append_c(&out, "()");
    const char *name = tide__arena_strndup(b->arena, out.data, out.len);
    tide__strbuf_deinit(&out);
    return name;
}

// --- Aggregates ---

static tide_status check_place(struct select_scope *s, const struct ast_expr *ast) {
    struct binder *b = s->binder;
    if (s->in_aggregate) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "aggregates cannot be nested");
    }
    if (!s->allow_aggregates) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "an aggregate is not allowed in the %s", s->clause);
        if (strcmp(s->clause, "WHERE clause") == 0) return tide__fail_hint(b->err, "use HAVING");
        return TIDE_ERR_VALIDATE;
    }
    // Flink takes an order in JSON_ARRAYAGG, but does not sort.
    if (ast->order_by.count > 0 && !tide__str_ieq_c(call_name(ast), "JSON_ARRAYAGG")) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%.*s takes no WITHIN GROUP",
                             STR_ARG(call_name(ast)));
    }
    return TIDE_OK;
}

static bool is_count_star(const struct ast_expr *ast) {
    return ast->args.count == 1 && ast->args.items[0]->kind == AST_EXPR_STAR;
}

static tide_status bind_args(struct select_scope *s, const struct ast_expr *ast, struct bound_aggregate *bound) {
    struct binder *b = s->binder;
    const struct aggregate *aggregate = bound->call.aggregate;
    bool count = strcmp(aggregate->name, "COUNT") == 0;
    if (count && is_count_star(ast)) return TIDE_OK;
    if (count && ast->args.count > 1) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "COUNT counts one column");
    }
    if (count && ast->args.count == 0) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "COUNT takes 1 argument, not 0");
        return tide__fail_hint(b->err, "write COUNT(*) to count rows");
    }
    if (ast->args.count < aggregate->arg_min || ast->args.count > aggregate->arg_max || ast->args.count > 4) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%s takes %u argument%s, not %u", aggregate->name,
                             aggregate->arg_min, aggregate->arg_min == 1 ? "" : "s", ast->args.count);
    }
    for (uint32_t i = 0; i < ast->args.count; i++) {
        TIDE_TRY(tide__bind_expr(s, ast->args.items[i], &bound->args[i]));
        if (bound->args[i]->type->kind == TYPE_NULL) {
            tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->args.items[i]->pos, "a NULL of no type cannot be aggregated");
            return tide__fail_hint(b->err, "write CAST(NULL AS INT)");
        }
        bound->call.arg_types[i] = bound->args[i]->type;
    }
    bound->call.arg_count = ast->args.count;
    // Counting what cannot be NULL is counting rows: the column need not be read.
    if (count && !ast->distinct && !bound->args[0]->type->nullable) bound->call.arg_count = 0;
    return TIDE_OK;
}

static tide_status bind_filter(struct select_scope *s, const struct ast_expr *ast, struct bound_aggregate *bound) {
    bound->call.filter = -1;
    if (ast->filter == NULL) return TIDE_OK;
    const char *clause = s->clause;
    s->clause = "FILTER clause";
    tide_status status = tide__bind_condition(s, ast->filter, &bound->filter);
    s->clause = clause;
    TIDE_TRY(status);
    if (!bound->filter->type->nullable) return TIDE_OK;
    struct expr *args[1] = {bound->filter};
    return tide__bind_function(s->binder, "IS TRUE", args, 1, ast->filter->pos, &bound->filter);
}

// JSON_ARRAYAGG and JSON_OBJECTAGG gather JSON texts; the clause ON NULL is a parameter.
static tide_status wrap_json(struct select_scope *s, const struct ast_expr *ast, struct bound_aggregate *bound) {
    bool array = strcmp(bound->call.aggregate->name, "JSON_ARRAYAGG") == 0;
    if (!array && strcmp(bound->call.aggregate->name, "JSON_OBJECTAGG") != 0) return TIDE_OK;
    struct expr **value = &bound->args[array ? 0 : 1];
    TIDE_TRY(tide__bind_function(s->binder, "JSON_STRING", value, 1, (*value)->pos, value));
    bound->call.arg_types[array ? 0 : 1] = (*value)->type;
    bool absent = ast->json != NULL && ast->json->has_on_null ? ast->json->absent_on_null : array;
    bound->call.parameter = (struct value){.str = absent ? STR_LIT("ABSENT") : STR_LIT("NULL")};
    return TIDE_OK;
}

// Shares must lie in [0, 1]. Flink finds that out when the first row comes.
static tide_status check_shares(struct binder *b, const struct expr *expr) {
    while (expr->kind == EXPR_CALL && strcmp(expr->function->name, "CAST") == 0) expr = expr->args[0];
    if (expr->type->kind == TYPE_ARRAY) {
        for (uint32_t i = 0; i < expr->arg_count; i++) TIDE_TRY(check_shares(b, expr->args[i]));
        return TIDE_OK;
    }
    struct type share = tide__type_make(TYPE_DOUBLE, true);
    struct expr *number = NULL;
    struct value value;
    if (!tide__type_is_numeric(expr->type)) return TIDE_OK;
    struct expr *copy = ARENA_NEW(b->arena, struct expr);
    *copy = *expr;
    TIDE_TRY(tide__expr_cast(&b->infer, copy, tide__type_copy(b->arena, &share), &number, b->err));
    TIDE_TRY(tide__expr_constant(&b->infer, number, &value, b->err));
    if (value.is_null || (value.f64 >= 0 && value.f64 <= 1)) return TIDE_OK;
    return tide__fail_at(b->err, TIDE_ERR_RUNTIME, expr->pos, "the share of PERCENTILE must be from 0 to 1, not %g",
                         value.f64);
}

// PERCENTILE's share, or array of shares, is a parameter.
static tide_status take_share(struct select_scope *s, const struct ast_expr *ast, struct bound_aggregate *bound) {
    if (strcmp(bound->call.aggregate->name, "PERCENTILE") != 0) return TIDE_OK;
    struct binder *b = s->binder;
    struct type share = tide__type_make(TYPE_DOUBLE, true);
    const struct type *type = tide__type_copy(b->arena, &share);
    if (bound->args[1]->type->kind == TYPE_ARRAY) {
        struct type_child *child = ARENA_NEW(b->arena, struct type_child);
        child->type = type;
        struct type array = tide__type_make(TYPE_ARRAY, true);
        array.child_count = 1;
        array.children = child;
        type = tide__type_copy(b->arena, &array);
        bound->call.type = type;
    }
    const struct type *given = bound->args[1]->type;
    if (given->kind == TYPE_ARRAY) given = given->children[0].type;
    if (tide__type_is_numeric(given)) {
        TIDE_TRY(tide__expr_cast(&b->infer, bound->args[1], type, &bound->args[1], b->err));
    }
    tide_error ignored;
    tide__error_clear(&ignored);
    if (tide__expr_constant(&b->infer, bound->args[1], &bound->call.parameter, &ignored) != TIDE_OK ||
        bound->call.parameter.is_null || !tide__type_same(bound->args[1]->type, type)) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->args.items[1]->pos,
                             "the share of PERCENTILE must be a constant from 0 to 1");
    }
    TIDE_TRY(check_shares(b, bound->args[1]));
    bound->args[1] = bound->args[2];
    bound->call.arg_types[1] = bound->call.arg_types[2];
    bound->args[2] = NULL;
    bound->call.arg_count--;
    return TIDE_OK;
}

// LISTAGG's separator is a parameter, not a column.
static tide_status take_separator(struct select_scope *s, const struct ast_expr *ast, struct bound_aggregate *bound) {
    if (strcmp(bound->call.aggregate->name, "LISTAGG") != 0 || bound->args[1] == NULL) return TIDE_OK;
    if (bound->args[1]->kind != EXPR_LITERAL || !tide__type_is_string(bound->args[1]->type)) {
        return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, ast->args.items[1]->pos,
                             "the separator of LISTAGG must be a string literal");
    }
    bound->call.parameter = bound->args[1]->literal;
    bound->call.arg_count = 1;
    bound->args[1] = NULL;
    return TIDE_OK;
}

static bool same_parameter(const struct bound_aggregate *a, const struct bound_aggregate *b) {
    if (a->call.type->kind == TYPE_DOUBLE) return a->call.parameter.f64 == b->call.parameter.f64;
    return tide__str_eq(a->call.parameter.str, b->call.parameter.str);
}

bool tide__bind_same_aggregate(const struct bound_aggregate *a, const struct bound_aggregate *b) {
    if (a->call.aggregate != b->call.aggregate || a->call.distinct != b->call.distinct ||
        a->call.arg_count != b->call.arg_count || (a->filter == NULL) != (b->filter == NULL) ||
        a->call.parameter.is_null != b->call.parameter.is_null ||
        (!a->call.parameter.is_null && !same_parameter(a, b))) {
        return false;
    }
    if (a->filter != NULL && !tide__expr_equal(a->filter, b->filter)) return false;
    for (uint32_t i = 0; i < a->call.arg_count; i++) {
        if (!tide__expr_equal(a->args[i], b->args[i])) return false;
    }
    return true;
}

tide_status tide__bind_aggregate_call(struct select_scope *s, const struct ast_expr *ast,
                                      const struct aggregate *aggregate, struct bound_aggregate *bound) {
    struct binder *b = s->binder;
    *bound = (struct bound_aggregate){.call = {.aggregate = aggregate, .pos = ast->pos, .distinct = ast->distinct}};
    bound->call.parameter.is_null = true;
    TIDE_TRY(bind_args(s, ast, bound));
    TIDE_TRY(bind_filter(s, ast, bound));
    TIDE_TRY(take_separator(s, ast, bound));
    TIDE_TRY(wrap_json(s, ast, bound));
    TIDE_TRY(take_share(s, ast, bound));
    bound->call.name = tide__bind_call_name(b, ast, aggregate->name);
    const struct expr *args[4] = {bound->args[0], bound->args[1], bound->args[2], bound->args[3]};
    return aggregate->infer(&b->infer, &bound->call, args, b->err);
}

tide_status tide__bind_aggregate(struct select_scope *s, const struct ast_expr *ast, const struct aggregate *aggregate,
                                 struct expr **out) {
    struct binder *b = s->binder;
    struct bound_aggregate bound;
    TIDE_TRY(check_place(s, ast));
    s->in_aggregate = true;
    tide_status status = tide__bind_aggregate_call(s, ast, aggregate, &bound);
    s->in_aggregate = false;
    TIDE_TRY(status);
    // A group has at least one row; where nothing can be NULL, neither can the result.
    if (s->groups_have_rows && bound.filter == NULL && bound.call.arg_count > 0 && !bound.call.arg_types[0]->nullable) {
        bound.call.type = tide__type_with_nullable(b->arena, bound.call.type, false);
    }
    s->has_aggregate = true;
    for (uint32_t i = 0; i < s->aggregate_count; i++) {
        if (tide__bind_same_aggregate(&s->aggregates[i], &bound)) {
            *out = tide__bind_virtual(s, VIRTUAL_AGGREGATE, i, s->aggregates[i].call.type, ast->pos);
            return TIDE_OK;
        }
    }
    s->aggregates = tide__bind_grow(b->arena, s->aggregates, s->aggregate_count, &s->aggregate_capacity,
                                    sizeof(s->aggregates[0]));
    s->aggregates[s->aggregate_count] = bound;
    *out = tide__bind_virtual(s, VIRTUAL_AGGREGATE, s->aggregate_count++, bound.call.type, ast->pos);
    return TIDE_OK;
}
