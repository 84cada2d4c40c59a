// ARRAY, MAP and ROW: making them, taking parts out of them; TYPEOF; OVERLAPS.
#include "engine/expr/nested.h"

#include "engine/expr/kernel.h"
#include "engine/functions/compare.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

// --- making --------------------------------------------------------------------------------------------------------

static tide_status run_construct(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    struct strbuf bytes = {0};
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        tide__strbuf_clear(&bytes);
        tide__nested_append(call->type, args, call->arg_count, i, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
    tide__strbuf_deinit(&bytes);
    return TIDE_OK;
}

static bool equal_values(const struct column *a, size_t a_row, const struct column *b, size_t b_row);

// MAP[...]: of equal keys the last value counts, at the place of the first.
static tide_status run_construct_map(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                     struct selection rows, struct column *out, tide_error *err) {
    struct strbuf bytes = {0};
    struct column *pairs = ARENA_ARRAY(ctx->scratch, struct column, call->arg_count);
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), count = 0;
        for (uint32_t a = 0; a < call->arg_count; a += 2) {
            size_t at = 0;
            for (bool null = tide__column_is_null(&args[a], i); at < count; at += 2) {
                bool other = tide__column_is_null(&pairs[at], i);
                if (null || other ? null && other : equal_values(&pairs[at], i, &args[a], i)) break;
            }
            pairs[at] = args[a];
            pairs[at + 1] = args[a + 1];
            if (at == count) count += 2;
        }
        tide__strbuf_clear(&bytes);
        tide__nested_append(call->type, pairs, count, i, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
    tide__strbuf_deinit(&bytes);
    return TIDE_OK;
}

static void set_nested(struct infer_context *ctx, struct expr *call, enum type_kind kind, bool nullable,
                       const struct type_child *children, uint32_t count) {
    struct type type = tide__type_make(kind, nullable);
    type.child_count = count;
    type.children = children;
    call->type = tide__type_copy(ctx->arena, &type);
}

static tide_status no_type(const struct expr *call, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "a NULL of no type can't be all of %s", call->function->name);
    return tide__fail_hint(err, "write CAST(NULL AS INT)");
}

static tide_status infer_array(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *element = NULL;
    TIDE_TRY(tide__infer_common(ctx, call, 0, 1, &element, err));
    if (element->kind == TYPE_NULL) return no_type(call, err);
    struct type_child *child = ARENA_NEW(ctx->arena, struct type_child);
    child->type = element;
    set_nested(ctx, call, TYPE_ARRAY, false, child, 1);
    return TIDE_OK;
}

static tide_status infer_map(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (call->arg_count % 2 != 0) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "MAP needs pairs of keys and values");
    }
    struct type_child *children = ARENA_ARRAY(ctx->arena, struct type_child, 2);
    TIDE_TRY(tide__infer_common(ctx, call, 0, 2, &children[0].type, err));
    TIDE_TRY(tide__infer_common(ctx, call, 1, 2, &children[1].type, err));
    set_nested(ctx, call, TYPE_MAP, false, children, 2);
    return TIDE_OK;
}

static tide_status infer_row(struct infer_context *ctx, struct expr *call, tide_error *err) {
    struct type_child *children = ARENA_ARRAY(ctx->arena, struct type_child, call->arg_count);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->type->kind == TYPE_NULL) return no_type(call, err);
        children[i].name = tide__arena_printf(ctx->arena, "EXPR$%u", i);
        children[i].type = tide__type_without_time_attribute(ctx->arena, call->args[i]->type);
    }
    set_nested(ctx, call, TYPE_ROW, false, children, call->arg_count);
    return TIDE_OK;
}

// --- taking apart --------------------------------------------------------------------------------------------------

static tide_status broken(const struct expr *call, tide_error *err) {
    return tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "the bytes of a nested value are malformed");
}

static void take(const struct column *element, struct column *out, size_t row) {
    if (tide__column_is_null(element, 0)) {
        tide__put_null(out, row);
        return;
    }
    size_t size = tide__physical_size(out->physical);
    memcpy((char *)out->data + row * size, element->data, size);
}

static bool equal_values(const struct column *a, size_t a_row, const struct column *b, size_t b_row) {
    struct column left = *a, right = *b;
    size_t size = tide__physical_size(a->physical);
    left.data = (char *)a->data + a_row * size;
    right.data = (char *)b->data + b_row * tide__physical_size(b->physical);
    uint8_t equal = 0;
    tide__compare(&left, &right, COMPARE_EQ, (struct selection){NULL, 1}, &equal);
    return equal;
}

// What Flink shows for an element that an array without NULLs does not have.
static void put_default(struct column *out, size_t row) {
    enum type_kind kind = out->type->kind;
    bool whole = tide__type_is_integer(out->type) || kind == TYPE_DATE || kind == TYPE_TIME;
    bool real = kind == TYPE_FLOAT || kind == TYPE_DOUBLE;
    if (whole) out->i64[row] = -1;
    if (real) out->f64[row] = -1;
    if (whole || real || kind == TYPE_BOOLEAN || tide__type_is_string(out->type)) out->nulls[row] = 0;
}

static tide_status run_item(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    bool map = args[0].type->kind == TYPE_MAP;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct column *elements = NULL;
        size_t count = 0;
        size_t at = SIZE_MAX;
        if (!tide__nested_decode(args[0].str[i], args[0].type, ctx->scratch, &elements, &count)) {
            return broken(call, err);
        }
        if (map) {
            for (size_t k = 0; k < count && at == SIZE_MAX; k += 2) {
                if (!elements[k].nulls[0] && equal_values(&elements[k], 0, &args[1], i)) at = k + 1;
            }
        } else {
            int64_t index = args[1].i64[i];
            if (index >= 1 && index <= (int64_t)count) at = (size_t)index - 1;
        }
        if (at == SIZE_MAX) {
            tide__put_null(out, i);
            if (!map && !args[0].type->children[0].type->nullable) put_default(out, i);
        } else {
            take(&elements[at], out, i);
        }
    }
    return TIDE_OK;
}

static tide_status infer_item(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *type = call->args[0]->type;
    if (type->kind == TYPE_MAP) {
        const struct type *key = type->children[0].type, *given = call->args[1]->type;
        bool fits = tide__type_is_numeric(key)  ? tide__type_is_numeric(given)
                    : tide__type_is_string(key) ? tide__type_is_string(given)
                                                : key->kind == given->kind;
        if (!fits) return tide__infer_fail(ctx, call, err);
        TIDE_TRY(tide__infer_cast(ctx, call, 1, *type->children[0].type, err));
        tide__infer_result_like(ctx, call, type->children[1].type, true);
        return TIDE_OK;
    }
    if (type->kind != TYPE_ARRAY || call->args[1]->type->kind != TYPE_INT) return tide__infer_fail(ctx, call, err);
    int64_t index = 1;
    if (tide__infer_constant_integer(ctx, call->args[1], &index) && index < 1) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[1]->pos,
                      "the elements of an ARRAY are counted from 1, not %lld", (long long)index);
        return tide__fail_hint(err, "write [1] for the first element");
    }
    tide__infer_result_like(ctx, call, type->children[0].type, true);
    return TIDE_OK;
}

static tide_status run_field(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    uint32_t field = *(const uint32_t *)call->prepared;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct column *elements = NULL;
        size_t count = 0;
        if (!tide__nested_decode(args[0].str[i], args[0].type, ctx->scratch, &elements, &count)) {
            return broken(call, err);
        }
        take(&elements[field], out, i);
    }
    return TIDE_OK;
}

static tide_status infer_field(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *type = call->args[0]->type;
    struct str name;
    if (type->kind != TYPE_ROW || !tide__infer_literal_text(call->args[1], &name)) {
        return tide__infer_fail(ctx, call, err);
    }
    const char **names = ARENA_ARRAY(ctx->arena, const char *, type->child_count);
    for (uint32_t i = 0; i < type->child_count; i++) {
        names[i] = type->children[i].name;
        if (!tide__str_eq_c(name, names[i])) continue;
        uint32_t *field = ARENA_NEW(ctx->arena, uint32_t);
        *field = i;
        call->prepared = field;
        tide__infer_result_like(ctx, call, type->children[i].type, type->nullable || type->children[i].type->nullable);
        return TIDE_OK;
    }
    const char *near = tide__nearest(name, names, type->child_count);
    tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[1]->pos, "the ROW has no field \"%.*s\"", STR_ARG(name));
    return near == NULL ? TIDE_ERR_VALIDATE : tide__fail_hint(err, "did you mean \"%s\"?", near);
}

static bool is_collection(const struct type *type) {
    return type->kind == TYPE_ARRAY || type->kind == TYPE_MAP || type->kind == TYPE_MULTISET;
}

static tide_status run_cardinality(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    int per = args[0].type->kind == TYPE_ARRAY ? 1 : 2;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct column *elements = NULL;
        size_t count = 0;
        if (!tide__nested_decode(args[0].str[i], args[0].type, ctx->scratch, &elements, &count)) {
            return broken(call, err);
        }
        out->i64[i] = (int64_t)count / per;
    }
    return TIDE_OK;
}

static tide_status infer_cardinality(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (!is_collection(call->args[0]->type)) return tide__infer_fail(ctx, call, err);
    tide__infer_result(ctx, call, TYPE_INT, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status run_element(struct eval_context *ctx, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct column *elements = NULL;
        size_t count = 0;
        if (!tide__nested_decode(args[0].str[i], args[0].type, ctx->scratch, &elements, &count)) {
            return broken(call, err);
        }
        if (count > 1) {
            return tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "ELEMENT wants one element, the ARRAY has %zu",
                                 count);
        }
        if (count == 0) {
            tide__put_null(out, i);
        } else {
            take(&elements[0], out, i);
        }
    }
    return TIDE_OK;
}

static tide_status infer_element(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *type = call->args[0]->type;
    if (type->kind != TYPE_ARRAY) return tide__infer_fail(ctx, call, err);
    const struct type *element = type->children[0].type;
    tide__infer_result_like(ctx, call, element, type->nullable || element->nullable);
    return TIDE_OK;
}

static tide_status run_array_contains(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                      struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct column *elements = NULL;
        size_t count = 0;
        bool found = false;
        if (tide__column_is_null(&args[0], i)) {
            tide__put_null(out, i);
            continue;
        }
        if (!tide__nested_decode(args[0].str[i], args[0].type, ctx->scratch, &elements, &count)) {
            return broken(call, err);
        }
        bool null = tide__column_is_null(&args[1], i);
        for (size_t k = 0; k < count && !found; k++) {
            bool element_null = elements[k].nulls[0];
            found = null || element_null ? null && element_null : equal_values(&elements[k], 0, &args[1], i);
        }
        out->bools[i] = found;
    }
    return TIDE_OK;
}

static tide_status infer_array_contains(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_element(ctx, call, err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, call->args[0]->type->nullable);
    return TIDE_OK;
}

// MAP_KEYS and MAP_VALUES: every second element.
static tide_status map_part(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, size_t part, struct column *out, tide_error *err) {
    struct strbuf bytes = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct column *elements = NULL;
        size_t count = 0;
        if (!tide__nested_decode(args[0].str[i], args[0].type, ctx->scratch, &elements, &count)) {
            status = broken(call, err);
            break;
        }
        for (size_t k = 0; k < count / 2; k++) elements[k] = elements[2 * k + part];
        tide__strbuf_clear(&bytes);
        tide__nested_append(call->type, elements, count / 2, 0, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
    tide__strbuf_deinit(&bytes);
    return status;
}

static tide_status run_map_keys(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    return map_part(ctx, call, args, rows, 0, out, err);
}

static tide_status run_map_values(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    return map_part(ctx, call, args, rows, 1, out, err);
}

static tide_status infer_map_part(struct infer_context *ctx, struct expr *call, uint32_t part, tide_error *err) {
    const struct type *type = call->args[0]->type;
    if (type->kind != TYPE_MAP) return tide__infer_fail(ctx, call, err);
    struct type_child *child = ARENA_NEW(ctx->arena, struct type_child);
    child->type = type->children[part].type;
    set_nested(ctx, call, TYPE_ARRAY, type->nullable, child, 1);
    return TIDE_OK;
}

static tide_status infer_map_keys(struct infer_context *ctx, struct expr *call, tide_error *err) {
    return infer_map_part(ctx, call, 0, err);
}

static tide_status infer_map_values(struct infer_context *ctx, struct expr *call, tide_error *err) {
    return infer_map_part(ctx, call, 1, err);
}

// --- TYPEOF and OVERLAPS -------------------------------------------------------------------------------------------

static tide_status run_typeof(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    struct str text = *(const struct str *)call->prepared;
    EACH_ROW(rows, i, out->str[i] = text;);
    return TIDE_OK;
}

// The type as a script may write it: without Flink's short names.
static const char *serializable(struct infer_context *ctx, const struct type *type) {
    const char *end = type->nullable ? "" : " NOT NULL";
    bool text = type->kind == TYPE_VARCHAR, bytes = type->kind == TYPE_VARBINARY;
    if ((text || bytes) && type->precision == TYPE_STRING_LENGTH) {
        return tide__arena_printf(ctx->arena, "%s(%d)%s", text ? "VARCHAR" : "VARBINARY", TYPE_STRING_LENGTH, end);
    }
    if (type->kind == TYPE_TIMESTAMP_LTZ) {
        return tide__arena_printf(ctx->arena, "TIMESTAMP(%d) WITH LOCAL TIME ZONE%s", type->precision, end);
    }
    return tide__type_text(ctx->arena, type);
}

// CURRENT_DATABASE(): there is one only.
static tide_status run_current_database(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                        struct selection rows, struct column *out, tide_error *err) {
    EACH_ROW(rows, i, out->str[i] = STR_LIT("default_database"););
    return TIDE_OK;
}

static tide_status infer_current_database(struct infer_context *ctx, struct expr *call, tide_error *err) {
    tide__infer_result(ctx, call, TYPE_VARCHAR, false);
    return TIDE_OK;
}

static tide_status infer_typeof(struct infer_context *ctx, struct expr *call, tide_error *err) {
    struct str *text = ARENA_NEW(ctx->arena, struct str);
    bool long_form = call->arg_count > 1 && call->args[1]->kind == EXPR_LITERAL &&
                     call->args[1]->type->kind == TYPE_BOOLEAN && call->args[1]->literal.boolean;
    *text = tide__str(long_form ? serializable(ctx, call->args[0]->type)
                                : tide__type_text(ctx->arena, call->args[0]->type));
    call->prepared = text;
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

// (s1, e1) OVERLAPS (s2, e2) with each pair put in order: e1 >= s2 AND e2 >= s1.
static tide_status infer_overlaps(struct infer_context *ctx, struct expr *call, tide_error *err) {
    struct expr *bounds[4], *both[2], *out = NULL;
    for (int pair = 0; pair < 2; pair++) {
        struct expr **args = &call->args[2 * pair];
        if (tide__type_is_interval(args[1]->type)) {
            TIDE_TRY(tide__expr_call(ctx, "+", args, 2, call->pos, &args[1], err));
        }
        TIDE_TRY(tide__expr_call(ctx, "LEAST", args, 2, call->pos, &bounds[2 * pair], err));
        TIDE_TRY(tide__expr_call(ctx, "GREATEST", args, 2, call->pos, &bounds[2 * pair + 1], err));
    }
    struct expr *first[] = {bounds[1], bounds[2]}, *second[] = {bounds[3], bounds[0]};
    TIDE_TRY(tide__expr_call(ctx, ">=", first, 2, call->pos, &both[0], err));
    TIDE_TRY(tide__expr_call(ctx, ">=", second, 2, call->pos, &both[1], err));
    TIDE_TRY(tide__expr_call(ctx, "AND", both, 2, call->pos, &out, err));
    *call = *out;
    return TIDE_OK;
}

// --- table ---------------------------------------------------------------------------------------------------------

static const struct function_kernel kernel_construct = {.run = run_construct};
static const struct function_kernel kernel_construct_map = {.run = run_construct_map};
static const struct function_kernel kernel_item = {.null_if_any = true, .run = run_item};
static const struct function_kernel kernel_field = {.null_if_any = true, .run = run_field};
static const struct function_kernel kernel_cardinality = {.null_if_any = true, .run = run_cardinality};
static const struct function_kernel kernel_element = {.null_if_any = true, .run = run_element};
static const struct function_kernel kernel_array_contains = {.run = run_array_contains};
static const struct function_kernel kernel_map_keys = {.null_if_any = true, .run = run_map_keys};
static const struct function_kernel kernel_map_values = {.null_if_any = true, .run = run_map_values};
static const struct function_kernel kernel_typeof = {.run = run_typeof};
static const struct function_kernel kernel_current_database = {.run = run_current_database};

#define NESTED(symbol, sql, least, most, infer_, kernel_, signature_, summary_, example_, result_)                     \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = least,                                                                                              \
        .arg_max = most,                                                                                               \
        .infer = infer_,                                                                                               \
        .kernel = &kernel_,                                                                                            \
        .signature = signature_,                                                                                       \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
NESTED(array, "ARRAY", 1, UINT8_MAX, infer_array, kernel_construct, "ARRAY[value, ...]", "An array.", "ARRAY[1, 2]",
       "[1, 2]");
NESTED(map, "MAP", 2, UINT8_MAX, infer_map, kernel_construct_map, "MAP[key, value, ...]", "A map.", "MAP['k', 1]",
       "{k=1}");
NESTED(row, "ROW", 1, UINT8_MAX, infer_row, kernel_construct, "ROW(value, ...)", "A row.", "ROW(1, 'x')", "(1, x)");
NESTED(item, "ITEM", 2, 2, infer_item, kernel_item, "ARRAY[index] or MAP[key]",
       "An element of an array, from 1, or a map's value; NULL if there is none.", "ARRAY[1, 2][2]", "2");
NESTED(field, "FIELD", 2, 2, infer_field, kernel_field, "row.field", "A field of a row.", "r.f", "1");
NESTED(cardinality, "CARDINALITY", 1, 1, infer_cardinality, kernel_cardinality, "CARDINALITY(ARRAY or MAP)",
       "The number of elements.", "CARDINALITY(ARRAY[1, 2])", "2");
NESTED(element, "ELEMENT", 1, 1, infer_element, kernel_element, "ELEMENT(ARRAY)",
       "The only element of an array; NULL if it is empty.", "ELEMENT(ARRAY['z'])", "z");
NESTED(array_contains, "ARRAY_CONTAINS", 2, 2, infer_array_contains, kernel_array_contains,
       "ARRAY_CONTAINS(ARRAY, value)", "Whether an array has an element.", "ARRAY_CONTAINS(ARRAY[1, 2], 2)", "TRUE");
NESTED(map_keys, "MAP_KEYS", 1, 1, infer_map_keys, kernel_map_keys, "MAP_KEYS(MAP)", "The keys of a map.",
       "MAP_KEYS(MAP['k', 1])", "[k]");
NESTED(map_values, "MAP_VALUES", 1, 1, infer_map_values, kernel_map_values, "MAP_VALUES(MAP)", "The values of a map.",
       "MAP_VALUES(MAP['k', 1])", "[1]");
NESTED(current_database, "CURRENT_DATABASE", 0, 0, infer_current_database, kernel_current_database,
       "CURRENT_DATABASE()", "The name of the current database.", "CURRENT_DATABASE()", "default_database");
NESTED(typeof, "TYPEOF", 1, 2, infer_typeof, kernel_typeof, "TYPEOF(value)", "The type of an expression as text.",
       "TYPEOF('abc')", "CHAR(3) NOT NULL");
NESTED(overlaps, "OVERLAPS", 4, 4, infer_overlaps, kernel_construct, "(start, end) OVERLAPS (start, end)",
       "Whether two spans of time have a moment in common.",
       "(TIME '02:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '03:30:00', INTERVAL '2' HOUR)", "TRUE");
