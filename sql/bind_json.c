// SQL's JSON functions: their clauses become literal arguments of plain calls, as engine/functions/README.md lists them.
#include "sql/bind_json.h"

static struct expr *word(struct binder *b, const char *text, struct source_pos pos) {
    struct value value = {.str = tide__str(text)};
    struct type type = tide__type_make_sized(TYPE_CHAR, false, (int32_t)value.str.len, 0);
    return tide__expr_literal(b->arena, value, tide__type_copy(b->arena, &type), pos);
}

// A NULL that carries a type: that of RETURNING, or none.
static struct expr *null_of(struct binder *b, const struct type *type, struct source_pos pos) {
    struct value value = {.is_null = true};
    struct type none = tide__type_make(TYPE_NULL, true);
    const struct type *of = type == NULL ? tide__type_copy(b->arena, &none) : type;
    return tide__expr_literal(b->arena, value, tide__type_with_nullable(b->arena, of, true), pos);
}

static const char *behavior_word(enum ast_json_behavior behavior, const char *otherwise) {
    switch (behavior) {
    case JSON_NULL: return "NULL";
    case JSON_ERROR: return "ERROR";
    case JSON_DEFAULT: return "DEFAULT";
    case JSON_EMPTY_ARRAY: return "EMPTY ARRAY";
    case JSON_EMPTY_OBJECT: return "EMPTY OBJECT";
    case JSON_TRUE: return "TRUE";
    case JSON_FALSE: return "FALSE";
    case JSON_UNKNOWN: return "UNKNOWN";
    case JSON_UNSET: break;
    }
    return otherwise;
}

static const char *wrapper_word(enum ast_json_wrapper wrapper) {
    if (wrapper == WRAPPER_CONDITIONAL) return "CONDITIONAL";
    return wrapper == WRAPPER_UNCONDITIONAL ? "UNCONDITIONAL" : "WITHOUT";
}

static tide_status bind_default(struct select_scope *s, const struct ast_expr *value, struct source_pos pos,
                                struct expr **out) {
    if (value != NULL) return tide__bind_expr(s, value, out);
    *out = null_of(s->binder, NULL, pos);
    return TIDE_OK;
}

static tide_status bind_value(struct select_scope *s, const struct ast_expr *ast, struct expr **args, uint32_t *n) {
    const struct ast_json *json = ast->json;
    struct binder *b = s->binder;
    args[(*n)++] = null_of(b, json->returning, ast->pos);
    args[(*n)++] = word(b, behavior_word(json->on_empty, "NULL"), ast->pos);
    TIDE_TRY(bind_default(s, json->empty_value, ast->pos, &args[(*n)++]));
    args[(*n)++] = word(b, behavior_word(json->on_error, "NULL"), ast->pos);
    return bind_default(s, json->error_value, ast->pos, &args[(*n)++]);
}

tide_status tide__bind_json_call(struct select_scope *s, const struct ast_expr *ast, struct str function,
                                 struct expr **out) {
    const struct ast_json *json = ast->json;
    struct binder *b = s->binder;
    struct expr **args = ARENA_ARRAY(b->arena, struct expr *, ast->args.count + 6);
    uint32_t n = 0;
    bool object = tide__str_ieq_c(function, "JSON_OBJECT");
    if (object || tide__str_ieq_c(function, "JSON_ARRAY")) {
        bool absent = json->has_on_null ? json->absent_on_null : !object;
        args[n++] = word(b, absent ? "ABSENT" : "NULL", ast->pos);
    }
    for (uint32_t i = 0; i < ast->args.count; i++) TIDE_TRY(tide__bind_expr(s, ast->args.items[i], &args[n++]));
    if (tide__str_ieq_c(function, "JSON_VALUE")) {
        TIDE_TRY(bind_value(s, ast, args, &n));
    } else if (tide__str_ieq_c(function, "JSON_QUERY")) {
        args[n++] = null_of(b, json->returning, ast->pos);
        args[n++] = word(b, wrapper_word(json->wrapper), ast->pos);
        args[n++] = word(b, behavior_word(json->on_empty, "NULL"), ast->pos);
        args[n++] = word(b, behavior_word(json->on_error, "NULL"), ast->pos);
    } else if (tide__str_ieq_c(function, "JSON_EXISTS")) {
        args[n++] = word(b, behavior_word(json->on_error, "FALSE"), ast->pos);
    }
    const char *name = tide__arena_strndup(b->arena, function.data, function.len);
    return tide__bind_function(b, name, args, n, ast->pos, out);
}

tide_status tide__bind_is_json(struct select_scope *s, const struct ast_expr *ast, struct expr **out) {
    static const char *const kinds[] = {"VALUE", "OBJECT", "ARRAY", "SCALAR"};
    struct expr *args[2];
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &args[0]));
    args[1] = word(s->binder, kinds[ast->is - IS_JSON_VALUE], ast->pos);
    TIDE_TRY(tide__bind_function(s->binder, "IS JSON", args, 2, ast->pos, out));
    if (!ast->negated) return TIDE_OK;
    return tide__bind_function(s->binder, "NOT", out, 1, ast->pos, out);
}
