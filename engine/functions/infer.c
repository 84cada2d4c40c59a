// Shared type inference. See engine/functions/infer.h.
#include "engine/functions/infer.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

tide_status tide__infer_fail(struct infer_context *ctx, const struct expr *call, tide_error *err) {
    struct strbuf types = {0};
    for (uint32_t i = 0; i < call->arg_count; i++) {
        struct type plain = *call->args[i]->type;
        plain.nullable = true;
        if (i > 0) tide__strbuf_append_c(&types, ", ");
        tide__type_print(&plain, &types);
    }
    tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "cannot apply '%s' to arguments of type (%s)",
                  call->function->name, types.data == NULL ? "" : types.data);
    tide__strbuf_deinit(&types);
    return tide__fail_hint(err, "supported: %s; CAST the arguments where they differ", call->function->signature);
}

static bool class_matches(const struct type *type, char class) {
    if (type->kind == TYPE_NULL) return true;
    switch (class) {
    case 'S': return tide__type_is_string(type);
    case 'B': return type->kind == TYPE_BOOLEAN;
    case 'N': return tide__type_is_numeric(type);
    case 'I': return tide__type_is_integer(type);
    case 'T': return tide__type_is_timestamp(type);
    case 'D': return type->kind == TYPE_DATE;
    case 'Y': return type->kind == TYPE_BINARY || type->kind == TYPE_VARBINARY;
    case 'Z': return class_matches(type, 'S') || class_matches(type, 'Y');
    case 'V': return tide__type_is_interval(type);
    default: return true;
    }
}

static char class_at(const char *classes, uint32_t i) {
    size_t n = strlen(classes);
    if (n > 0 && classes[n - 1] == '*' && i >= n - 2) return classes[n - 2];
    return i < n ? classes[i] : 'A';
}

bool tide__infer_matches(const struct expr *call, const char *classes) {
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (!class_matches(call->args[i]->type, class_at(classes, i))) return false;
    }
    return true;
}

static struct type class_type(char class) {
    switch (class) {
    case 'B': return tide__type_make(TYPE_BOOLEAN, true);
    case 'N':
    case 'I': return tide__type_make(TYPE_INT, true);
    case 'T': return tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0);
    case 'D': return tide__type_make(TYPE_DATE, true);
    case 'Y': return tide__type_make(TYPE_VARBINARY, true);
    case 'V': return tide__type_make(TYPE_INTERVAL_MILLIS, true);
    default: return tide__type_make(TYPE_VARCHAR, true);
    }
}

// Flink's older functions refuse a bare NULL, the newer ones take it.
static bool takes_bare_null(const struct expr *call) {
    static const char *const families[] = {
        "ARRAY_",       "MAP_",          "URL_",  "INET_",   "JSON_",       "REGEXP_COUNT", "REGEXP_EXTRACT_ALL",
        "REGEXP_INSTR", "REGEXP_SUBSTR", "SPLIT", "BTRIM",   "STARTSWITH",  "ENDSWITH",     "PRINTF",
        "UNHEX",        "TRANSLATE",     "LIKE",  "IS NULL", "IS NOT NULL", "IS DISTINCT",  "IS NOT DISTINCT",
        "IS JSON",      "SIMILAR"};
    const char *name = call->function->name;
    if (strcmp(name, "SPLIT_INDEX") == 0) return false;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strncmp(name, families[i], strlen(families[i])) == 0) return true;
    }
    return false;
}

tide_status tide__infer_args(struct infer_context *ctx, struct expr *call, const char *classes, tide_error *err) {
    if (!tide__infer_matches(call, classes)) return tide__infer_fail(ctx, call, err);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->type->kind != TYPE_NULL) continue;
        if (!takes_bare_null(call)) {
            tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[i]->pos, "%s takes no NULL of no type",
                          call->function->name);
            return tide__fail_hint(err, "write CAST(NULL AS STRING), or whatever type it has");
        }
        TIDE_TRY(tide__infer_cast(ctx, call, i, class_type(class_at(classes, i)), err));
    }
    return TIDE_OK;
}

bool tide__infer_any_nullable(const struct expr *call) {
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->type->nullable) return true;
    }
    return false;
}

void tide__infer_result_sized(struct infer_context *ctx, struct expr *call, enum type_kind kind, bool nullable,
                              int precision, int scale) {
    struct type type = tide__type_make_sized(kind, nullable, precision, scale);
    call->type = tide__type_copy(ctx->arena, &type);
}

void tide__infer_result(struct infer_context *ctx, struct expr *call, enum type_kind kind, bool nullable) {
    struct type type = tide__type_make(kind, nullable);
    call->type = tide__type_copy(ctx->arena, &type);
}

void tide__infer_result_like(struct infer_context *ctx, struct expr *call, const struct type *type, bool nullable) {
    struct type plain = *type;
    plain.nullable = nullable;
    plain.time_attribute = TIME_ATTRIBUTE_NONE;
    call->type = tide__type_copy(ctx->arena, &plain);
}

tide_status tide__infer_cast(struct infer_context *ctx, struct expr *call, uint32_t i, struct type type,
                             tide_error *err) {
    type.nullable = call->args[i]->type->nullable;
    if (tide__type_same(call->args[i]->type, &type)) return TIDE_OK;
    return tide__expr_cast(ctx, call->args[i], tide__type_copy(ctx->arena, &type), &call->args[i], err);
}

tide_status tide__infer_common(struct infer_context *ctx, struct expr *call, uint32_t from, uint32_t step,
                               const struct type **out, tide_error *err) {
    const struct type **types = ARENA_ARRAY(ctx->arena, const struct type *, call->arg_count);
    size_t n = 0;
    for (uint32_t i = from; i < call->arg_count; i += step) types[n++] = call->args[i]->type;
    if (!tide__type_common(ctx->arena, types, n, out)) return tide__infer_fail(ctx, call, err);
    if ((*out)->kind == TYPE_NULL) return TIDE_OK;
    for (uint32_t i = from; i < call->arg_count; i += step) {
        TIDE_TRY(tide__infer_cast(ctx, call, i, **out, err));
    }
    return TIDE_OK;
}

bool tide__infer_literal_text(const struct expr *arg, struct str *out) {
    if (arg->kind != EXPR_LITERAL || !tide__type_is_string(arg->type) || arg->literal.is_null) return false;
    *out = arg->literal.str;
    return true;
}

bool tide__infer_constant_integer(struct infer_context *ctx, const struct expr *arg, int64_t *out) {
    if (!tide__type_is_integer(arg->type)) return false;
    tide_error ignored;
    tide__error_clear(&ignored);
    struct value value;
    if (tide__expr_constant(ctx, arg, &value, &ignored) != TIDE_OK || value.is_null) return false;
    *out = value.i64;
    return true;
}
