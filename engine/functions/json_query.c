// JSON_VALUE, JSON_QUERY, JSON_EXISTS and IS JSON.
//
// A path is strict unless it says lax: there what is missing is an error, which the ON ERROR clause answers (by
// default with NULL); ON EMPTY is for lax paths and for a JSON null. The clauses come as literals: see README.md.
#include "engine/expr/nested.h"
#include "engine/functions/cast.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/json_path.h"
#include "engine/functions/text.h"

enum outcome { FOUND, EMPTY, FAILED };

// What these functions have in `prepared`.
struct json_plan {
    bool constant;
    struct json_path path;
    const char *problem;  // of the constant path
    struct str wrapper;
    struct str on_empty, on_error;
};

static struct str literal_text(const struct expr *call, uint32_t index, const char *otherwise) {
    struct str text = tide__str(otherwise);
    if (index < call->arg_count) tide__infer_literal_text(call->args[index], &text);
    return text;
}

static struct json_plan *make_plan(struct infer_context *ctx, struct expr *call) {
    struct json_plan *plan = ARENA_NEW(ctx->arena, struct json_plan);
    struct str path;
    plan->constant = tide__infer_literal_text(call->args[1], &path);
    if (plan->constant) tide__json_path_parse(path, ctx->arena, &plan->path, &plan->problem);
    call->prepared = plan;
    return plan;
}

// Looks a row's path up in a row's document. *out_problem: why it failed.
static enum outcome look_up(struct eval_context *ctx, const struct expr *call, const struct column *args, size_t row,
                            struct json *out, bool *out_lax, const char **out_problem) {
    const struct json_plan *plan = call->prepared;
    struct json_path path = plan->path;
    struct json root;
    size_t at = 0;
    const char *problem = plan->problem;
    if (!plan->constant) tide__json_path_parse(args[1].str[row], ctx->scratch, &path, &problem);
    *out_lax = path.lax;
    *out_problem = problem;
    if (problem != NULL) return FAILED;
    if (!tide__json_parse_first(args[0].str[row], ctx->scratch, &root, out_problem, &at)) {
        return path.lax ? EMPTY : FAILED;
    }
    if (tide__json_path_find(&path, &root, ctx->scratch, out)) {
        if (out->kind != JSON_KIND_NULL) return FOUND;
        *out_problem = "the value is null";
        return path.lax ? EMPTY : FAILED;
    }
    *out_problem = "the path finds nothing";
    return path.lax ? EMPTY : FAILED;
}

static tide_status json_error(const struct expr *call, const struct column *args, size_t row, enum outcome outcome,
                              const char *problem, tide_error *err) {
    const char *clause = outcome == EMPTY ? "EMPTY" : "ERROR";
    tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "%s of path '%.*s' fails: %s", call->function->name,
                  STR_ARG(args[1].str[row]), problem == NULL ? "there is no value" : problem);
    return tide__fail_hint(err, "ERROR ON %s asks for this; NULL ON %s gives NULL", clause, clause);
}

static bool is_scalar(const struct json *json) {
    return json->kind != JSON_KIND_ARRAY && json->kind != JSON_KIND_OBJECT;
}

// --- JSON_VALUE ----------------------------------------------------------------------------------------------------

static struct str scalar_text(const struct json *json, struct arena *arena) {
    if (json->kind == JSON_KIND_BOOLEAN) return json->boolean ? STR_LIT("true") : STR_LIT("false");
    if (json->kind != JSON_KIND_NUMBER) return json->text;
    struct strbuf text = {0};
    tide__json_print_number(json->text, &text);
    struct str copy = tide__str_copy(arena, text.data, text.len);
    tide__strbuf_deinit(&text);
    return copy;
}

// Stores a scalar in the type of RETURNING; false if it is none of that type. A DOUBLE takes a number with a point or an
// exponent only: Flink casts the object that its parser made.
static bool put_scalar(const struct json *json, struct arena *arena, struct column *out, size_t row) {
    bool whole = json->kind == JSON_KIND_NUMBER && memchr(json->text.data, '.', json->text.len) == NULL &&
                 memchr(json->text.data, 'e', json->text.len) == NULL &&
                 memchr(json->text.data, 'E', json->text.len) == NULL;
    switch (out->type->kind) {
    case TYPE_BOOLEAN: out->bools[row] = json->boolean; return json->kind == JSON_KIND_BOOLEAN;
    case TYPE_DOUBLE:
        return json->kind == JSON_KIND_NUMBER && !whole && tide__text_to_double(json->text, &out->f64[row]);
    case TYPE_INT:
        return whole && tide__text_to_integer(json->text, &out->i64[row]) && (int32_t)out->i64[row] == out->i64[row];
    default: out->str[row] = scalar_text(json, arena);
    }
    if (out->type->precision < TYPE_STRING_LENGTH) {
        out->str[row].len = tide__text_prefix(out->str[row], out->type->precision);
    }
    return true;
}

static void put_default(const struct column *value, struct column *out, size_t row) {
    size_t size = tide__physical_size(out->physical);
    if (tide__column_is_null(value, row)) {
        tide__put_null(out, row);
    } else {
        memcpy((char *)out->data + row * size, (char *)value->data + row * size, size);
    }
}

// Arguments: document, path, NULL of the result's type, ON EMPTY, its default, ON ERROR, its default.
static tide_status run_json_value(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    const struct json_plan *plan = call->prepared;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct json found = {0};
        bool lax = false;
        const char *problem = NULL;
        if (tide__column_is_null(&args[0], i) || tide__column_is_null(&args[1], i)) {
            tide__put_null(out, i);
            continue;
        }
        enum outcome outcome = look_up(ctx, call, args, i, &found, &lax, &problem);
        if (outcome == FOUND && lax && !is_scalar(&found)) outcome = EMPTY;
        if (outcome == FOUND && !is_scalar(&found)) {
            outcome = FAILED;
            problem = "the value is an array or an object";
        }
        if (outcome == FOUND) {
            if (put_scalar(&found, ctx->scratch, out, i)) continue;
            tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos,
                          "JSON_VALUE of path '%.*s' finds a value of another type than %s", STR_ARG(args[1].str[i]),
                          tide__type_text(ctx->scratch, call->type));
            return tide__fail_hint(err, "return STRING and TRY_CAST it");
        }
        struct str behavior = outcome == EMPTY ? plan->on_empty : plan->on_error;
        if (tide__str_eq_c(behavior, "ERROR")) return json_error(call, args, i, outcome, problem, err);
        uint32_t value = outcome == EMPTY ? 4 : 6;
        if (tide__str_eq_c(behavior, "DEFAULT") && value < call->arg_count) {
            put_default(&args[value], out, i);
        } else {
            tide__put_null(out, i);
        }
    }
    return TIDE_OK;
}

static tide_status infer_json_value(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSASASA", err));
    struct json_plan *plan = make_plan(ctx, call);
    plan->on_empty = literal_text(call, 3, "NULL");
    plan->on_error = literal_text(call, 5, "NULL");
    struct type type = tide__type_make(TYPE_VARCHAR, true);
    if (call->arg_count > 2 && call->args[2]->type->kind != TYPE_NULL) type = *call->args[2]->type;
    bool supported = type.kind == TYPE_VARCHAR || type.kind == TYPE_BOOLEAN || type.kind == TYPE_INT ||
                     type.kind == TYPE_DOUBLE;
    if (!supported) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[2]->pos, "JSON_VALUE can't return %s",
                      tide__type_text(ctx->arena, &type));
        return tide__fail_hint(err, "it returns STRING, BOOLEAN, INTEGER or DOUBLE; CAST that");
    }
    for (uint32_t i = 4; i < call->arg_count; i += 2) TIDE_TRY(tide__infer_cast(ctx, call, i, type, err));
    tide__infer_result_like(ctx, call, &type, true);
    return TIDE_OK;
}

// --- JSON_QUERY ----------------------------------------------------------------------------------------------------

// Arguments: document, path, NULL of the result's type, wrapper, ON EMPTY, ON ERROR.
static tide_status query_row(struct eval_context *ctx, const struct expr *call, const struct column *args, size_t row,
                             struct strbuf *out, bool *out_null, tide_error *err) {
    const struct json_plan *plan = call->prepared;
    struct json found = {0};
    bool lax = false;
    const char *problem = NULL;
    enum outcome outcome = look_up(ctx, call, args, row, &found, &lax, &problem);
    bool always = tide__str_eq_c(plan->wrapper, "UNCONDITIONAL");
    bool wrap = always || (tide__str_eq_c(plan->wrapper, "CONDITIONAL") && found.kind != JSON_KIND_ARRAY);
    if (outcome == FOUND && is_scalar(&found) && !wrap) {
        outcome = lax ? EMPTY : FAILED;
        problem = "the value is no array or object";
    }
    *out_null = false;
    if (outcome == FOUND) {
        if (wrap) tide__strbuf_append_char(out, '[');
        tide__json_print(&found, out);
        if (wrap) tide__strbuf_append_char(out, ']');
        return TIDE_OK;
    }
    struct str behavior = outcome == EMPTY ? plan->on_empty : plan->on_error;
    if (tide__str_eq_c(behavior, "ERROR")) return json_error(call, args, row, outcome, problem, err);
    if (tide__str_eq_c(behavior, "EMPTY ARRAY")) {
        tide__strbuf_append_c(out, "[]");
    } else if (tide__str_eq_c(behavior, "EMPTY OBJECT")) {
        tide__strbuf_append_c(out, "{}");
    } else {
        *out_null = true;
    }
    return TIDE_OK;
}

// RETURNING ARRAY<STRING>: the JSON text of an array as strings; what is no string stays JSON text. False: it is no array.
static bool put_strings(struct str text, const struct type *type, struct arena *arena, struct strbuf *out) {
    struct json array;
    const char *problem = NULL;
    size_t at = 0;
    if (!tide__json_parse(text, arena, &array, &problem, &at) || array.kind != JSON_KIND_ARRAY) return false;
    struct column *items = ARENA_ARRAY(arena, struct column, array.count + 1);
    struct strbuf item = {0};
    for (size_t i = 0; i < array.count; i++) {
        const struct json *value = &array.members[i].value;
        tide__column_init(&items[i], type->children[0].type, 1, 1, arena);
        tide__strbuf_clear(&item);
        if (value->kind == JSON_KIND_NULL) {
            tide__put_null(&items[i], 0);
        } else if (value->kind == JSON_KIND_STRING) {
            items[i].str[0] = value->text;
        } else {
            tide__json_print(value, &item);
            items[i].str[0] = tide__str_copy(arena, item.data, item.len);
        }
    }
    tide__strbuf_deinit(&item);
    tide__strbuf_clear(out);
    tide__nested_append(type, items, array.count, 0, out);
    return true;
}

static tide_status run_json_query(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        bool null = true;
        tide__strbuf_clear(&text);
        if (!tide__column_is_null(&args[0], i) && !tide__column_is_null(&args[1], i)) {
            TIDE_TRY_OR(status, query_row(ctx, call, args, i, &text, &null, err), done);
        }
        struct str json = tide__str_copy(ctx->scratch, text.data, text.len);
        bool array = call->type->kind == TYPE_ARRAY;
        if (null || (array && !put_strings(json, call->type, ctx->scratch, &text))) {
            tide__put_null(out, i);
        } else {
            out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
            if (!array) out->str[i].len = tide__text_prefix(out->str[i], call->type->precision);
        }
    }
done:
    tide__strbuf_deinit(&text);
    return status;
}

static tide_status infer_json_query(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSASSS", err));
    struct json_plan *plan = make_plan(ctx, call);
    plan->wrapper = literal_text(call, 3, "WITHOUT");
    plan->on_empty = literal_text(call, 4, "NULL");
    plan->on_error = literal_text(call, 5, "NULL");
    const struct type *returning = call->arg_count > 2 ? call->args[2]->type : NULL;
    if (returning != NULL && returning->kind == TYPE_ARRAY && tide__type_is_string(returning->children[0].type)) {
        if (tide__str_eq_c(plan->on_empty, "EMPTY OBJECT") || tide__str_eq_c(plan->on_error, "EMPTY OBJECT")) {
            return tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos,
                                 "JSON_QUERY that returns an ARRAY has no EMPTY OBJECT");
        }
        tide__infer_result_like(ctx, call, returning, true);
        return TIDE_OK;
    }
    if (returning != NULL && returning->kind != TYPE_NULL && !tide__type_is_string(returning)) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[2]->pos, "JSON_QUERY returns STRING or ARRAY<STRING>, not %s",
                      tide__type_text(ctx->arena, returning));
        return TIDE_ERR_VALIDATE;
    }
    if (returning != NULL && returning->kind != TYPE_NULL) {
        tide__infer_result_like(ctx, call, returning, true);
        return TIDE_OK;
    }
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

// --- JSON_EXISTS and IS JSON ---------------------------------------------------------------------------------------

// Arguments: document, path, ON ERROR.
static tide_status run_json_exists(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    const struct json_plan *plan = call->prepared;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct json found = {0};
        bool lax = false;
        const char *problem = NULL;
        enum outcome outcome = look_up(ctx, call, args, i, &found, &lax, &problem);
        if (outcome != FAILED) {
            out->bools[i] = outcome == FOUND;
        } else if (tide__str_eq_c(plan->on_error, "ERROR")) {
            return json_error(call, args, i, outcome, problem, err);
        } else if (tide__str_eq_c(plan->on_error, "UNKNOWN")) {
            tide__put_null(out, i);
        } else {
            out->bools[i] = tide__str_eq_c(plan->on_error, "TRUE");
        }
    }
    return TIDE_OK;
}

static tide_status infer_json_exists(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSS", err));
    struct json_plan *plan = make_plan(ctx, call);
    plan->on_error = literal_text(call, 2, "FALSE");
    tide__infer_result(ctx, call, TYPE_BOOLEAN, true);
    return TIDE_OK;
}

// Arguments: text, VALUE | OBJECT | ARRAY | SCALAR.
static tide_status run_is_json(struct eval_context *ctx, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    struct str wanted = literal_text(call, 1, "VALUE");
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct json json;
        const char *problem = NULL;
        size_t at = 0;
        bool ok = !tide__column_is_null(&args[0], i) &&
                  tide__json_parse_first(args[0].str[i], ctx->scratch, &json, &problem, &at);
        if (ok && tide__str_eq_c(wanted, "OBJECT")) ok = json.kind == JSON_KIND_OBJECT;
        if (ok && tide__str_eq_c(wanted, "ARRAY")) ok = json.kind == JSON_KIND_ARRAY;
        if (ok && tide__str_eq_c(wanted, "SCALAR")) ok = is_scalar(&json);
        out->bools[i] = ok;
    }
    return TIDE_OK;
}

static tide_status infer_is_json(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SS", err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, false);
    return TIDE_OK;
}

static const struct function_kernel kernel_json_value = {.run = run_json_value};
static const struct function_kernel kernel_json_query = {.run = run_json_query};
static const struct function_kernel kernel_json_exists = {.null_if_any = true, .run = run_json_exists};
static const struct function_kernel kernel_is_json = {.run = run_is_json};

const struct function tide__fn_json_value = {
    .name = "JSON_VALUE",
    .arg_min = 2,
    .arg_max = 7,
    .infer = infer_json_value,
    .kernel = &kernel_json_value,
    .signature = "JSON_VALUE(STRING, path [RETURNING type] [behaviour ON EMPTY] [behaviour ON ERROR])",
    .summary = "A scalar inside a JSON text.",
    .example = "JSON_VALUE('{\"a\": [1, 2]}', '$.a[1]')",
    .example_result = "2",
};
const struct function tide__fn_json_query = {
    .name = "JSON_QUERY",
    .arg_min = 2,
    .arg_max = 6,
    .infer = infer_json_query,
    .kernel = &kernel_json_query,
    .signature = "JSON_QUERY(STRING, path [wrapper] [behaviour ON EMPTY] [behaviour ON ERROR])",
    .summary = "An array or object inside a JSON text.",
    .example = "JSON_QUERY('{\"a\": [1, 2]}', '$.a')",
    .example_result = "[1,2]",
};
const struct function tide__fn_json_exists = {
    .name = "JSON_EXISTS",
    .arg_min = 2,
    .arg_max = 3,
    .infer = infer_json_exists,
    .kernel = &kernel_json_exists,
    .signature = "JSON_EXISTS(STRING, path [behaviour ON ERROR])",
    .summary = "Whether a path finds something.",
    .example = "JSON_EXISTS('{\"a\": 1}', '$.a')",
    .example_result = "TRUE",
};
const struct function tide__fn_is_json = {
    .name = "IS JSON",
    .arg_min = 1,
    .arg_max = 2,
    .infer = infer_is_json,
    .kernel = &kernel_is_json,
    .signature = "STRING IS JSON [VALUE | OBJECT | ARRAY | SCALAR]",
    .summary = "Whether a text is JSON.",
    .example = "'[1]' IS JSON",
    .example_result = "TRUE",
};
