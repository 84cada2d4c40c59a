// JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_QUOTE, JSON_UNQUOTE: values as JSON text.
#include "engine/codec/json.h"
#include "engine/expr/nested.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

#include "base/time.h"
#include "base/zone.h"

#include <math.h>

static void put_json(const struct column *column, size_t row, bool raw, const struct zone *zone, struct strbuf *out);

// Flink writes members in the order of their names; of equal names the last value counts.
struct named {
    struct str name;
    size_t index;  // of the value
};

static size_t put_named(struct named *members, size_t count, struct str name, size_t index) {
    size_t at = count;
    while (at > 0 && tide__str_cmp(name, members[at - 1].name) < 0) at--;
    if (at > 0 && tide__str_eq(name, members[at - 1].name)) {
        members[at - 1].index = index;
        return count;
    }
    memmove(members + at + 1, members + at, (count - at) * sizeof *members);
    members[at] = (struct named){name, index};
    return count + 1;
}

static void put_array(const struct column *elements, size_t count, const struct zone *zone, struct strbuf *out) {
    tide__strbuf_append_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) tide__strbuf_append_char(out, ',');
        put_json(&elements[i], 0, false, zone, out);
    }
    tide__strbuf_append_char(out, ']');
}

static void put_nested(const struct column *column, size_t row, const struct zone *zone, struct strbuf *out) {
    const struct type *type = column->type;
    struct arena arena;
    struct column *elements = NULL;
    size_t count = 0, members = 0;
    tide__arena_init(&arena);
    if (!tide__nested_decode(column->str[row], type, &arena, &elements, &count)) count = 0;
    if (type->kind == TYPE_ARRAY) {
        put_array(elements, count, zone, out);
        tide__arena_deinit(&arena);
        return;
    }
    struct named *named = ARENA_ARRAY(&arena, struct named, count + 1);
    for (size_t i = 0; i < count; i += type->kind == TYPE_ROW ? 1 : 2) {
        if (type->kind == TYPE_ROW) {
            members = put_named(named, members, tide__str(type->children[i].name), i);
        } else if (elements[i].physical == PHYSICAL_STR && !tide__column_is_null(&elements[i], 0)) {
            members = put_named(named, members, elements[i].str[0], i + 1);
        }
    }
    tide__strbuf_append_char(out, '{');
    for (size_t i = 0; i < members; i++) {
        if (i > 0) tide__strbuf_append_char(out, ',');
        tide__json_quote(named[i].name, out);
        tide__strbuf_append_char(out, ':');
        put_json(&elements[named[i].index], 0, false, zone, out);
    }
    tide__strbuf_append_char(out, '}');
    tide__arena_deinit(&arena);
}

// Times in ISO form: with a T, fraction digits only as far as there are some.
static void put_time(const struct column *column, size_t row, struct strbuf *out) {
    struct strbuf text = {0};
    struct timestamp t = tide__timestamp_at(column, row);
    int64_t nanos = tide__floor_mod(t.ms, 1000) * 1000000 + t.nanos;
    int digits = nanos == 0 ? 0 : 9;
    for (int64_t rest = nanos; digits > 0 && rest % 10 == 0; rest /= 10) digits--;
    tide__timestamp_print(t, digits, &text);
    char *blank = memchr(text.data, ' ', text.len);
    if (blank != NULL) *blank = 'T';
    if (column->type->kind == TYPE_TIMESTAMP_LTZ) tide__strbuf_append_char(&text, 'Z');
    tide__json_quote(tide__strbuf_str(&text), out);
    tide__strbuf_deinit(&text);
}

static void put_base64(struct str s, struct strbuf *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    tide__strbuf_append_char(out, '"');
    for (size_t i = 0; i < s.len; i += 3) {
        size_t n = s.len - i < 3 ? s.len - i : 3;
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++) v = v << 8 | (k < n ? (unsigned char)s.data[i + k] : 0);
        for (size_t k = 0; k < 4; k++) tide__strbuf_append_char(out, k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
    tide__strbuf_append_char(out, '"');
}

// raw: the string is JSON already.
static void put_json(const struct column *column, size_t row, bool raw, const struct zone *zone, struct strbuf *out) {
    if (tide__column_is_null(column, row)) {
        tide__strbuf_append_c(out, "null");
        return;
    }
    const struct type *type = column->type;
    switch (type->kind) {
    case TYPE_BOOLEAN: tide__strbuf_append_c(out, column->bools[row] ? "true" : "false"); break;
    case TYPE_CHAR:
    case TYPE_VARCHAR:
        if (raw) {
            tide__strbuf_append_str(out, column->str[row]);
        } else {
            tide__json_quote(column->str[row], out);
        }
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: put_time(column, row, out); break;
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_MULTISET:
    case TYPE_ROW: put_nested(column, row, zone, out); break;
    case TYPE_BINARY:
    case TYPE_VARBINARY: put_base64(column->str[row], out); break;
    default: {
        bool number = tide__type_is_numeric(type);
        number = number && (column->physical != PHYSICAL_F64 || isfinite(column->f64[row]));
        struct strbuf text = {0};
        tide__value_text(column, row, zone, &text);
        if (number && column->physical == PHYSICAL_F64) {
            tide__json_print_number(tide__strbuf_str(&text), out);
        } else if (number) {
            tide__strbuf_append_str(out, tide__strbuf_str(&text));
        } else {
            tide__json_quote(tide__strbuf_str(&text), out);
        }
        tide__strbuf_deinit(&text);
        break;
    }
    }
}

// A call that makes JSON stands in another one as JSON, not as a string.
static bool makes_json(const struct expr *expr) {
    return expr->kind == EXPR_CALL && (expr->function == &tide__fn_json_object ||
                                       expr->function == &tide__fn_json_array || expr->function == &tide__fn_json);
}

static bool absent_on_null(const struct expr *call) {
    struct str clause;
    return tide__infer_literal_text(call->args[0], &clause) && tide__str_eq_c(clause, "ABSENT");
}

static tide_status run_json_object(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    bool absent = absent_on_null(call);
    struct named *members = ARENA_ARRAY(ctx->scratch, struct named, call->arg_count);
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), count = 0;
        for (uint32_t a = 1; a + 1 < call->arg_count; a += 2) {
            if (tide__column_is_null(&args[a], i)) {
                status = tide__fail_at(err, TIDE_ERR_RUNTIME, call->args[a]->pos, "a key of JSON_OBJECT is NULL");
                goto done;
            }
            if (absent && tide__column_is_null(&args[a + 1], i)) continue;
            count = put_named(members, count, args[a].str[i], a + 1);
        }
        tide__strbuf_clear(&text);
        tide__strbuf_append_char(&text, '{');
        for (size_t m = 0; m < count; m++) {
            size_t a = members[m].index;
            if (m > 0) tide__strbuf_append_char(&text, ',');
            tide__json_quote(members[m].name, &text);
            tide__strbuf_append_char(&text, ':');
            put_json(&args[a], i, makes_json(call->args[a]), ctx->zone, &text);
        }
        tide__strbuf_append_char(&text, '}');
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
done:
    tide__strbuf_deinit(&text);
    return status;
}

static tide_status run_json_array(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    bool absent = absent_on_null(call);
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        bool first = true;
        tide__strbuf_clear(&text);
        tide__strbuf_append_char(&text, '[');
        for (uint32_t a = 1; a < call->arg_count; a++) {
            if (absent && tide__column_is_null(&args[a], i)) continue;
            if (!first) tide__strbuf_append_char(&text, ',');
            first = false;
            put_json(&args[a], i, makes_json(call->args[a]), ctx->zone, &text);
        }
        tide__strbuf_append_char(&text, ']');
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
    tide__strbuf_deinit(&text);
    return TIDE_OK;
}

static tide_status run_json_string(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        tide__strbuf_clear(&text);
        put_json(&args[0], i, makes_json(call->args[0]), ctx->zone, &text);
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
    tide__strbuf_deinit(&text);
    return TIDE_OK;
}

// As Flink writes it: only ASCII, the code point (not the unit) of the first half of a surrogate pair, then the second half.
static bool make_json_quote(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    static const char plain[] = "\"\\/\b\f\n\r\t", letters[] = "\"\\/bfnrt";
    struct str s = args[0].str[row];
    tide__strbuf_append_char(out, '"');
    for (size_t at = 0; at < s.len;) {
        uint32_t c = tide__utf8_next(s, &at);
        const char *special = c > 0 && c < 0x80 ? strchr(plain, (int)c) : NULL;
        if (special != NULL) {
            tide__strbuf_printf(out, "\\%c", letters[special - plain]);
        } else if (c >= 0x20 && c < 0x7F) {
            tide__strbuf_append_char(out, (char)c);
        } else {
            tide__strbuf_printf(out, "\\u%04x", c);
            if (c >= 0x10000) tide__strbuf_printf(out, "\\u%04x", 0xDC00 + ((c - 0x10000) & 0x3FF));
        }
    }
    tide__strbuf_append_char(out, '"');
    return true;
}

// JSON(text): the text as JSON inside of JSON_OBJECT and JSON_ARRAY; blanks are null.
static tide_status run_json(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), at = 0;
        struct str s = args[0].str[i];
        struct json json = {0};
        const char *problem = NULL;
        while (s.len > 0 && s.data[0] == ' ') s.data++, s.len--;
        tide__strbuf_clear(&text);
        if (s.len > 0 && !tide__json_parse_first(s, ctx->scratch, &json, &problem, &at)) {
            TIDE_TRY_OR(status, tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "no JSON: %s", problem), done);
        }
        tide__json_print(&json, &text);
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
done:
    tide__strbuf_deinit(&text);
    return status;
}

static tide_status run_json_quote(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    return tide__text_rows(ctx, call, args, rows, make_json_quote, out);
}

// What is no string in quotes stays as it is.
static tide_status run_json_unquote(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                    struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct json json;
        const char *problem = NULL;
        size_t at = 0;
        struct str text = args[0].str[i];
        bool string = text.len > 1 && text.data[0] == '"' && tide__json_parse(text, ctx->scratch, &json, &problem, &at);
        out->str[i] = string && json.kind == JSON_KIND_STRING ? json.text : text;
    }
    return TIDE_OK;
}

// --- types ---------------------------------------------------------------------------------------------------------

// Flink's JSON has no DATE, TIME and INTERVAL; keys of maps are strings.
static bool has_json(const struct type *type) {
    if (type->kind == TYPE_DATE || type->kind == TYPE_TIME || tide__type_is_interval(type)) return false;
    if (type->kind == TYPE_MAP && !tide__type_is_string(type->children[0].type)) return false;
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (!has_json(type->children[i].type)) return false;
    }
    return true;
}

static tide_status check_values(struct infer_context *ctx, const struct expr *call, uint32_t from, uint32_t step,
                                tide_error *err) {
    for (uint32_t i = from; i < call->arg_count; i += step) {
        if (call->args[i]->type->kind == TYPE_NULL) {
            tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[i]->pos, "a NULL of no type can't be written as JSON");
            return tide__fail_hint(err, "write CAST(NULL AS STRING)");
        }
        if (has_json(call->args[i]->type)) continue;
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[i]->pos, "%s can't be written as JSON",
                      tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, call->args[i]->type, true)));
        return tide__fail_hint(err, "CAST it to STRING; keys of a MAP must be STRING too");
    }
    return TIDE_OK;
}

static tide_status infer_object(struct infer_context *ctx, struct expr *call, tide_error *err) {
    for (uint32_t i = 1; i < call->arg_count; i += 2) {
        if (!tide__type_is_string(call->args[i]->type)) {
            return tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[i]->pos, "a key of JSON_OBJECT must be a STRING");
        }
    }
    TIDE_TRY(check_values(ctx, call, 2, 2, err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, false);
    return TIDE_OK;
}

static tide_status infer_array(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(check_values(ctx, call, 1, 1, err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, false);
    return TIDE_OK;
}

static tide_status infer_json_string(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "A", err));
    TIDE_TRY(check_values(ctx, call, 0, 1, err));
    if (call->args[0]->type->kind == TYPE_NULL) {
        TIDE_TRY(tide__infer_cast(ctx, call, 0, tide__type_make(TYPE_VARCHAR, true), err));
    }
    tide__infer_result(ctx, call, TYPE_VARCHAR, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_text(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "S", err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static const struct function_kernel kernel_json = {.null_if_any = true, .run = run_json};
static const struct function_kernel kernel_json_object = {.run = run_json_object};
static const struct function_kernel kernel_json_array = {.run = run_json_array};
static const struct function_kernel kernel_json_string = {.null_if_any = true, .run = run_json_string};
static const struct function_kernel kernel_json_quote = {.null_if_any = true, .run = run_json_quote};
static const struct function_kernel kernel_json_unquote = {.null_if_any = true, .run = run_json_unquote};

const struct function tide__fn_json_object = {
    .name = "JSON_OBJECT",
    .arg_min = 1,
    .arg_max = UINT8_MAX,
    .infer = infer_object,
    .kernel = &kernel_json_object,
    .signature = "JSON_OBJECT([KEY key VALUE value, ...] [NULL ON NULL | ABSENT ON NULL])",
    .summary = "A JSON object.",
    .example = "JSON_OBJECT(KEY 'k' VALUE 1)",
    .example_result = "{\"k\":1}",
};
const struct function tide__fn_json_array = {
    .name = "JSON_ARRAY",
    .arg_min = 1,
    .arg_max = UINT8_MAX,
    .infer = infer_array,
    .kernel = &kernel_json_array,
    .signature = "JSON_ARRAY([value, ...] [NULL ON NULL | ABSENT ON NULL])",
    .summary = "A JSON array.",
    .example = "JSON_ARRAY(1, 'x')",
    .example_result = "[1,\"x\"]",
};
const struct function tide__fn_json_string = {
    .name = "JSON_STRING",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_json_string,
    .kernel = &kernel_json_string,
    .signature = "JSON_STRING(value)",
    .summary = "A value as JSON.",
    .example = "JSON_STRING(TRUE)",
    .example_result = "true",
};
const struct function tide__fn_json_quote = {
    .name = "JSON_QUOTE",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_text,
    .kernel = &kernel_json_quote,
    .signature = "JSON_QUOTE(STRING)",
    .summary = "A text as a JSON string.",
    .example = "JSON_QUOTE('ab')",
    .example_result = "\"ab\"",
};
const struct function tide__fn_json_unquote = {
    .name = "JSON_UNQUOTE",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_text,
    .kernel = &kernel_json_unquote,
    .signature = "JSON_UNQUOTE(STRING)",
    .summary = "The text of a JSON string.",
    .example = "JSON_UNQUOTE('\"ab\"')",
    .example_result = "ab",
};
const struct function tide__fn_json = {
    .name = "JSON",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_text,
    .kernel = &kernel_json,
    .signature = "JSON(STRING)",
    .summary = "A text that is JSON already, as a value in JSON_OBJECT and JSON_ARRAY.",
    .example = "JSON_ARRAY(JSON('{\"a\": 1}'))",
    .example_result = "[{\"a\":1}]",
};
