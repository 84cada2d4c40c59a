// Aggregate calls and OVER calls of a SELECT: each distinct one is bound once, with its arguments as expressions over the
// SELECT's input, and is a virtual column for the expression around it.
#include "sql/bind.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static struct str call_name(const struct ast_expr *ast) {
    return ast->path.parts[ast->path.count - 1].text;
}

// `sum( price )` -> "SUM(price)", as a user would write it.
static const char *display_name(struct binder *b, const struct ast_expr *ast, const char *function) {
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
    if (ast->order_by.count > 0) {
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

static bool same_aggregate(const struct bound_aggregate *a, const struct bound_aggregate *b) {
    if (a->call.aggregate != b->call.aggregate || a->call.distinct != b->call.distinct ||
        a->call.arg_count != b->call.arg_count || (a->filter == NULL) != (b->filter == NULL) ||
        a->call.parameter.is_null != b->call.parameter.is_null ||
        (!a->call.parameter.is_null && !tide__str_eq(a->call.parameter.str, b->call.parameter.str))) {
        return false;
    }
    if (a->filter != NULL && !tide__expr_equal(a->filter, b->filter)) return false;
    for (uint32_t i = 0; i < a->call.arg_count; i++) {
        if (!tide__expr_equal(a->args[i], b->args[i])) return false;
    }
    return true;
}

tide_status tide__bind_aggregate(struct select_scope *s, const struct ast_expr *ast, const struct aggregate *aggregate,
                                 struct expr **out) {
    struct binder *b = s->binder;
    TIDE_TRY(check_place(s, ast));
    struct bound_aggregate bound = {.call = {.aggregate = aggregate, .pos = ast->pos, .distinct = ast->distinct}};
    bound.call.parameter.is_null = true;
    s->in_aggregate = true;
    tide_status status = bind_args(s, ast, &bound);
    if (status == TIDE_OK) status = bind_filter(s, ast, &bound);
    s->in_aggregate = false;
    TIDE_TRY(status);
    TIDE_TRY(take_separator(s, ast, &bound));
    bound.call.name = display_name(b, ast, aggregate->name);
    const struct expr *args[4] = {bound.args[0], bound.args[1], bound.args[2], bound.args[3]};
    TIDE_TRY(aggregate->infer(&b->infer, &bound.call, args, b->err));
    // A group has at least one row; where nothing can be NULL, neither can the result.
    if (s->groups_have_rows && bound.filter == NULL && bound.call.arg_count > 0 && !bound.call.arg_types[0]->nullable) {
        bound.call.type = tide__type_with_nullable(b->arena, bound.call.type, false);
    }
    s->has_aggregate = true;
    for (uint32_t i = 0; i < s->aggregate_count; i++) {
        if (same_aggregate(&s->aggregates[i], &bound)) {
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

// --- OVER ---

static enum over_function over_function(struct str name) {
    if (tide__str_ieq_c(name, "ROW_NUMBER")) return OVER_ROW_NUMBER;
    if (tide__str_ieq_c(name, "RANK")) return OVER_RANK;
    if (tide__str_ieq_c(name, "DENSE_RANK")) return OVER_DENSE_RANK;
    return OVER_OTHER;
}

static tide_status find_window(struct select_scope *s, const struct ast_expr *ast, const struct ast_window **out) {
    const struct ast_window *window = ast->over;
    for (uint32_t depth = 0; window->base.text.len > 0 && depth < 32; depth++) {
        const struct ast_window *base = NULL;
        for (uint32_t i = 0; s->query != NULL && i < s->query->window_count; i++) {
            if (tide__str_eq(s->query->windows[i].name.text, window->base.text)) base = s->query->windows[i].window;
        }
        if (base == NULL) {
            return tide__fail_at(s->binder->err, TIDE_ERR_VALIDATE, window->base.pos, "window \"%.*s\" not found",
                                 STR_ARG(window->base.text));
        }
        if (window->partition_by.count > 0 || window->order_by.count > 0 || window->has_frame) {
            return tide__fail_at(s->binder->err, TIDE_ERR_PLAN, window->pos,
                                 "a window that refines another one is not supported yet");
        }
        window = base;
    }
    *out = window;
    return TIDE_OK;
}

static tide_status bind_sorts(struct select_scope *s, const struct ast_window *window, struct bound_over *over) {
    struct binder *b = s->binder;
    over->sort_exprs = ARENA_ARRAY(b->arena, struct expr *, window->order_by.count);
    over->sorts = ARENA_ARRAY(b->arena, struct sort_key, window->order_by.count);
    for (uint32_t i = 0; i < window->order_by.count; i++) {
        const struct ast_order_item *item = &window->order_by.items[i];
        struct expr *expr;
        TIDE_TRY(tide__bind_expr(s, item->expr, &expr));
        if (expr->kind == EXPR_LITERAL) continue;
        over->sort_exprs[over->sort_count] = expr;
        struct sort_key *sort = &over->sorts[over->sort_count++];
        sort->descending = item->descending;
        sort->nulls_last = item->nulls == NULLS_DEFAULT ? item->descending : item->nulls == NULLS_LAST;
    }
    return TIDE_OK;
}

static bool same_window(const struct bound_over *a, const struct bound_over *b) {
    if (a->partition_count != b->partition_count || a->sort_count != b->sort_count) return false;
    for (uint32_t i = 0; i < a->partition_count; i++) {
        if (!tide__expr_equal(a->partitions[i], b->partitions[i])) return false;
    }
    for (uint32_t i = 0; i < a->sort_count; i++) {
        if (!tide__expr_equal(a->sort_exprs[i], b->sort_exprs[i]) || a->sorts[i].descending != b->sorts[i].descending ||
            a->sorts[i].nulls_last != b->sorts[i].nulls_last) {
            return false;
        }
    }
    return true;
}

static tide_status bind_over_parts(struct select_scope *s, const struct ast_expr *ast, struct bound_over *over) {
    struct binder *b = s->binder;
    const struct ast_window *window = NULL;
    TIDE_TRY(find_window(s, ast, &window));
    over->partition_count = window->partition_by.count;
    over->partitions = ARENA_ARRAY(b->arena, struct expr *, over->partition_count);
    for (uint32_t i = 0; i < over->partition_count; i++) {
        TIDE_TRY(tide__bind_expr(s, window->partition_by.items[i], &over->partitions[i]));
    }
    TIDE_TRY(bind_sorts(s, window, over));
    if (over->sort_count == 0 && over->function != OVER_OTHER) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, window->order_by.count > 0 ? window->order_pos : ast->pos,
                      "%s needs ORDER BY over a column, not over a constant", over->name);
        return tide__fail_hint(b->err, "say which rows rank first: ORDER BY price DESC");
    }
    return TIDE_OK;
}

static tide_status check_over(struct select_scope *s, const struct ast_expr *ast, const struct bound_over *over) {
    struct binder *b = s->binder;
    for (uint32_t i = 0; i < s->over_count; i++) {
        if (same_window(&s->overs[i], over)) continue;
        tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "all OVER calls of a query must have the same window");
        return tide__fail_hint(b->err, "compute the second one in an outer query");
    }
    if (over->function != OVER_OTHER) return TIDE_OK;
    if (!b->infer.batch_mode && over->sort_count > 0 && over->sorts[0].descending) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "OVER windows can be ordered in ascending mode only");
    }
    if (!b->infer.batch_mode &&
        (over->sort_count != 1 || over->sort_exprs[0]->type->time_attribute == TIME_ATTRIBUTE_NONE)) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "OVER windows must be ordered by one time attribute");
    }
    return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "%s() OVER is not supported yet", over->name);
}

tide_status tide__bind_over(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    if (!s->allow_overs || s->in_over || s->in_aggregate) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "OVER is not allowed in %s",
                             s->in_over        ? "OVER"
                             : s->in_aggregate ? "an aggregate"
                                               : s->clause);
    }
    struct type type = tide__type_make(TYPE_BIGINT, false);
    struct bound_over over = {
        .function = over_function(call_name(ast)), .pos = ast->pos, .type = tide__type_copy(b->arena, &type)};
    char *name = tide__arena_strndup(b->arena, call_name(ast).data, call_name(ast).len);
    for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    over.name = name;
    s->in_over = true;
    tide_status status = bind_over_parts(s, ast, &over);
    s->in_over = false;
    TIDE_TRY(status);
    TIDE_TRY(check_over(s, ast, &over));
    s->has_over = true;
    for (uint32_t i = 0; i < s->over_count; i++) {
        if (s->overs[i].function == over.function) {
            *out = tide__bind_virtual(s, VIRTUAL_OVER, i, over.type, ast->pos);
            return TIDE_OK;
        }
    }
    s->overs = tide__bind_grow(b->arena, s->overs, s->over_count, &s->over_capacity, sizeof(s->overs[0]));
    s->overs[s->over_count] = over;
    *out = tide__bind_virtual(s, VIRTUAL_OVER, s->over_count++, over.type, ast->pos);
    return TIDE_OK;
}
