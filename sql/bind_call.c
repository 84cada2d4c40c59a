// Calls: scalar functions, aggregates, ROW_NUMBER() OVER (..), GROUPING(..), and the legacy window functions with their
// auxiliaries. All but the first become virtual columns of the SELECT that is being bound.
#include "sql/bind.h"
#include "sql/bind_json.h"

#include <ctype.h>
#include <string.h>

static struct str call_name(const struct ast_expr *ast) {
    return ast->path.parts[ast->path.count - 1].text;
}

// --- Legacy group windows ---

static const struct window_aux {
    const char *name, *group;
    enum window_property property;
    bool proctime;
} window_auxes[] = {
    {"TUMBLE_START", "TUMBLE", WINDOW_PROPERTY_START, false},
    {"TUMBLE_END", "TUMBLE", WINDOW_PROPERTY_END, false},
    {"TUMBLE_ROWTIME", "TUMBLE", WINDOW_PROPERTY_TIME, false},
    {"TUMBLE_PROCTIME", "TUMBLE", WINDOW_PROPERTY_TIME, true},
    {"HOP_START", "HOP", WINDOW_PROPERTY_START, false},
    {"HOP_END", "HOP", WINDOW_PROPERTY_END, false},
    {"HOP_ROWTIME", "HOP", WINDOW_PROPERTY_TIME, false},
    {"HOP_PROCTIME", "HOP", WINDOW_PROPERTY_TIME, true},
    {"SESSION_START", "SESSION", WINDOW_PROPERTY_START, false},
    {"SESSION_END", "SESSION", WINDOW_PROPERTY_END, false},
    {"SESSION_ROWTIME", "SESSION", WINDOW_PROPERTY_TIME, false},
    {"SESSION_PROCTIME", "SESSION", WINDOW_PROPERTY_TIME, true},
};

bool tide__bind_is_window_property(struct str name, const char **out_group, enum window_property *out_property,
                                   bool *out_proctime) {
    for (size_t i = 0; i < sizeof(window_auxes) / sizeof(window_auxes[0]); i++) {
        if (!tide__str_ieq_c(name, window_auxes[i].name)) continue;
        *out_group = window_auxes[i].group;
        *out_property = window_auxes[i].property;
        *out_proctime = window_auxes[i].proctime;
        return true;
    }
    return false;
}

bool tide__bind_is_window_group(const struct ast_expr *ast) {
    if (ast->kind != AST_EXPR_CALL || ast->path.count != 1) return false;
    struct str name = call_name(ast);
    return tide__str_ieq_c(name, "TUMBLE") || tide__str_ieq_c(name, "HOP") || tide__str_ieq_c(name, "SESSION");
}

static bool names_equal(const struct ast_path *a, const struct ast_path *b, bool ignore_case) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        struct str x = a->parts[i].text, y = b->parts[i].text;
        if (x.len != y.len) return false;
        for (size_t j = 0; j < x.len; j++) {
            int cx = (unsigned char)x.data[j], cy = (unsigned char)y.data[j];
            if (ignore_case ? toupper(cx) != toupper(cy) : cx != cy) return false;
        }
    }
    return true;
}

bool tide__ast_equal(const struct ast_expr *a, const struct ast_expr *b) {
    if (a->kind != b->kind || a->op != b->op || a->literal != b->literal || a->is != b->is ||
        a->negated != b->negated || a->distinct != b->distinct || a->args.count != b->args.count) {
        return false;
    }
    if (!names_equal(&a->path, &b->path, a->kind == AST_EXPR_CALL)) return false;
    if (!tide__str_eq(a->text, b->text) || a->query != b->query || a->over != b->over) return false;
    if (a->kind == AST_EXPR_LITERAL && a->literal == LITERAL_INTERVAL &&
        (a->interval.from != b->interval.from || a->interval.to != b->interval.to ||
         a->interval.negative != b->interval.negative)) {
        return false;
    }
    if ((a->type == NULL) != (b->type == NULL) || (a->type != NULL && !tide__type_same(a->type, b->type))) return false;
    for (uint32_t i = 0; i < a->args.count; i++) {
        if (!tide__ast_equal(a->args.items[i], b->args.items[i])) return false;
    }
    return true;
}

static bool same_args(struct select_scope *s, const struct ast_expr *a, const struct ast_expr *b) {
    if (a->args.count != b->args.count) return false;
    for (uint32_t i = 0; i < a->args.count; i++) {
        if (tide__ast_equal(a->args.items[i], b->args.items[i])) continue;
        struct expr *x, *y;  // INTERVAL '60' SECOND is INTERVAL '1' MINUTE; t.ts is ts
        if (tide__bind_expr(s, a->args.items[i], &x) != TIDE_OK ||
            tide__bind_expr(s, b->args.items[i], &y) != TIDE_OK || !tide__expr_equal(x, y)) {
            return false;
        }
    }
    return true;
}

static tide_status bind_window_property(struct select_scope *s, const struct ast_expr *ast, const char *group,
                                        enum window_property property, bool proctime, struct expr **out) {
    struct binder *b = s->binder;
    if (!s->allow_aggregates || s->query == NULL || !s->query->has_group_by) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "%.*s needs GROUP BY %s(..)", STR_ARG(call_name(ast)), group);
        return tide__fail_hint(b->err, "group by %s with the same arguments", group);
    }
    if (s->window_call == NULL || !tide__str_ieq_c(call_name(s->window_call), group) ||
        !same_args(s, s->window_call, ast)) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "no %s with these arguments in GROUP BY", group);
        return tide__fail_hint(b->err, "%.*s must repeat the arguments of GROUP BY %s", STR_ARG(call_name(ast)), group);
    }
    struct type type = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0);
    if (property == WINDOW_PROPERTY_TIME) {
        if (proctime != s->window.proctime) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%s is over %s time", group,
                                 s->window.proctime ? "processing" : "event");
        }
        if (s->window.ltz) type.kind = TYPE_TIMESTAMP_LTZ;
        type.nullable = !proctime;
        type.time_attribute = proctime ? TIME_ATTRIBUTE_PROCTIME : TIME_ATTRIBUTE_ROWTIME;
        if (b->infer.batch_mode && !proctime) type.time_attribute = TIME_ATTRIBUTE_NONE;
    }
    s->has_aggregate = true;
    *out = tide__bind_virtual(s, VIRTUAL_WINDOW, property, tide__type_copy(b->arena, &type), ast->pos);
    return TIDE_OK;
}

// --- GROUPING, GROUPING_ID ---

static tide_status bind_grouping(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    if (!s->allow_aggregates || s->query == NULL || !s->query->has_group_by) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%.*s is only for queries with GROUP BY",
                             STR_ARG(call_name(ast)));
    }
    struct bound_grouping grouping = {.key_count = ast->args.count,
                                      .keys = ARENA_ARRAY(b->arena, uint32_t, ast->args.count)};
    for (uint32_t i = 0; i < ast->args.count; i++) {
        struct expr *arg;
        TIDE_TRY(tide__bind_expr(s, ast->args.items[i], &arg));
        uint32_t key = 0;
        while (key < s->key_count && !tide__expr_equal(s->keys[key], arg)) key++;
        if (key == s->key_count) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->args.items[i]->pos,
                                 "the argument of %.*s is not in GROUP BY", STR_ARG(call_name(ast)));
        }
        grouping.keys[i] = key;
    }
    s->groupings = tide__bind_grow(b->arena, s->groupings, s->grouping_count, &s->grouping_capacity,
                                   sizeof(s->groupings[0]));
    s->groupings[s->grouping_count] = grouping;
    struct type type = tide__type_make(TYPE_BIGINT, false);
    s->has_aggregate = true;
    *out = tide__bind_virtual(s, VIRTUAL_GROUPING, s->grouping_count++, tide__type_copy(b->arena, &type), ast->pos);
    return TIDE_OK;
}

// --- Scalar functions ---

static const char *upper_name(struct binder *b, struct str name) {
    char *text = tide__arena_strndup(b->arena, name.data, name.len);
    for (char *p = text; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    return text;
}

// FLOOR(x, SYMBOL u) -> FLOOR_TO('U', x); TRIM(SYMBOL f, c, s) -> TRIM_f(s, c).
static tide_status bind_symbol_call(struct select_scope *s, const struct ast_expr *ast, const char *name,
                                    struct expr **out) {
    struct binder *b = s->binder;
    struct expr *args[8];
    uint32_t count = 0;
    if (strcmp(name, "TRIM") == 0 && ast->args.count == 3) {
        TIDE_TRY(tide__bind_expr(s, ast->args.items[2], &args[0]));
        TIDE_TRY(tide__bind_expr(s, ast->args.items[1], &args[1]));
        name = tide__arena_printf(b->arena, "TRIM_%.*s", STR_ARG(ast->args.items[0]->text));
        return tide__bind_function(b, name, args, 2, ast->pos, out);
    }
    for (uint32_t i = 0; i < ast->args.count && count < 8; i++) {
        const struct ast_expr *arg = ast->args.items[i];
        if (arg->kind == AST_EXPR_SYMBOL) {
            for (uint32_t j = count; j > 0; j--) args[j] = args[j - 1];
            args[0] = tide__bind_string(b, tide__bind_name(b, arg->text), arg->pos);
            count++;
        } else {
            TIDE_TRY(tide__bind_expr(s, arg, &args[count++]));
        }
    }
    if (strcmp(name, "FLOOR") == 0) name = "FLOOR_TO";
    if (strcmp(name, "CEIL") == 0 || strcmp(name, "CEILING") == 0) name = "CEIL_TO";
    return tide__bind_function(b, name, args, count, ast->pos, out);
}

static tide_status misplaced_star(struct binder *b, const struct ast_expr *ast) {
    static const char *const names[] = {"COUNT"};
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%.*s takes no *, only COUNT does", STR_ARG(call_name(ast)));
    return tide__nearest(call_name(ast), names, 1) != NULL ? tide__fail_hint(b->err, "did you mean COUNT(*)?")
                                                           : TIDE_ERR_VALIDATE;
}

static tide_status bind_scalar(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    const char *name = upper_name(b, call_name(ast));
    for (uint32_t i = 0; i < ast->args.count; i++) {
        if (ast->args.items[i]->kind == AST_EXPR_SYMBOL) return bind_symbol_call(s, ast, name, out);
        if (ast->args.items[i]->kind == AST_EXPR_STAR) return misplaced_star(b, ast);
    }
    struct expr **args = ARENA_ARRAY(b->arena, struct expr *, ast->args.count);
    for (uint32_t i = 0; i < ast->args.count; i++) TIDE_TRY(tide__bind_expr(s, ast->args.items[i], &args[i]));
    return tide__bind_function(b, name, args, ast->args.count, ast->pos, out);
}

static bool is_rank_function(struct str name) {
    static const char *const names[] = {"ROW_NUMBER", "RANK", "DENSE_RANK",   "NTILE",
                                        "LAG",        "LEAD", "PERCENT_RANK", "CUME_DIST"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (tide__str_ieq_c(name, names[i])) return true;
    }
    return false;
}

// In batch mode only, as in Flink, and exact.
static tide_status bind_approximate_count(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    if (!b->infer.batch_mode) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "APPROX_COUNT_DISTINCT is for batch mode only");
        return tide__fail_hint(b->err, "use COUNT(DISTINCT ..)");
    }
    struct ast_expr *exact = ARENA_NEW(b->arena, struct ast_expr);
    *exact = *ast;
    exact->distinct = true;
    return tide__bind_aggregate(s, exact, tide__aggregate_find(STR_LIT("COUNT")), out);
}

tide_status tide__bind_call(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    struct binder *b = s->binder;
    struct str name = call_name(ast);
    if (ast->over != NULL) return tide__bind_over(s, ast, out);
    const char *group;
    enum window_property property;
    bool proctime;
    if (tide__bind_is_window_property(name, &group, &property, &proctime)) {
        return bind_window_property(s, ast, group, property, proctime, out);
    }
    if (tide__str_ieq_c(name, "GROUPING") || tide__str_ieq_c(name, "GROUPING_ID")) return bind_grouping(s, ast, out);
    if (tide__bind_is_window_group(ast)) {
        if (s->window_call != NULL && same_args(s, s->window_call, ast)) {
            return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "%.*s stands only in GROUP BY; select %.*s_START",
                                 STR_ARG(name), STR_ARG(name));
        }
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%.*s is no scalar function", STR_ARG(name));
        return tide__fail_hint(b->err, "use it in FROM: %.*s(TABLE t, DESCRIPTOR(ts), ..), or alone in GROUP BY",
                               STR_ARG(name));
    }
    if (is_rank_function(name)) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "%.*s needs OVER (..)", STR_ARG(name));
        return tide__fail_hint(b->err, "write %.*s() OVER (PARTITION BY window_start, window_end ORDER BY ..)",
                               STR_ARG(name));
    }
    const struct aggregate *aggregate = tide__aggregate_find(name);
    if (aggregate != NULL && tide__function_find(name) == NULL) return tide__bind_aggregate(s, ast, aggregate, out);
    if (tide__str_ieq_c(name, "APPROX_COUNT_DISTINCT")) return bind_approximate_count(s, ast, out);
    if (ast->distinct || ast->filter != NULL) {
        if (tide__function_find(name) != NULL) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%.*s is no aggregate function", STR_ARG(name));
        }
    }
    if (ast->json != NULL && tide__function_find(name) != NULL) return tide__bind_json_call(s, ast, name, out);
    if (ast->json != NULL) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "%.*s is not supported yet", STR_ARG(name));
    }
    return bind_scalar(s, ast, out);
}
