// Functions from arrays to arrays and values. An array is taken apart into one column of one row an element.
#include "engine/expr/nested.h"
#include "engine/functions/compare.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

struct list {
    struct column *items;
    size_t count;
};

// --- elements ------------------------------------------------------------------------------------------------------

static struct list load(const struct column *column, size_t row, struct arena *arena) {
    struct list list = {0};
    if (!tide__nested_decode(column->str[row], column->type, arena, &list.items, &list.count)) list.count = 0;
    return list;
}

// One value of a column as a column of one row.
static struct column element_of(const struct column *column, size_t row) {
    struct column element = *column;
    element.data = (char *)column->data + row * tide__physical_size(column->physical);
    element.nulls = column->nulls == NULL ? NULL : column->nulls + row;
    return element;
}

static bool is_null(const struct column *element) {
    return tide__column_is_null(element, 0);
}

static bool compares(const struct column *a, enum compare_op op, const struct column *b) {
    uint8_t result = 0;
    tide__compare(a, b, op, (struct selection){NULL, 1}, &result);
    return result;
}

// NULL equals NULL.
static bool same(const struct column *a, const struct column *b) {
    if (is_null(a) || is_null(b)) return is_null(a) && is_null(b);
    return compares(a, COMPARE_EQ, b);
}

static size_t find(const struct list *list, const struct column *element) {
    for (size_t i = 0; i < list->count; i++) {
        if (same(&list->items[i], element)) return i;
    }
    return SIZE_MAX;
}

static struct list room_for(size_t count, struct arena *arena) {
    return (struct list){tide__arena_alloc(arena, (count + 1) * sizeof(struct column)), 0};
}

static void add(struct list *list, const struct column *element) {
    list->items[list->count++] = *element;
}

static void add_new(struct list *list, const struct column *element) {
    if (find(list, element) == SIZE_MAX) add(list, element);
}

// --- array to array ------------------------------------------------------------------------------------------------

// Makes the result of a row; false: NULL.
typedef bool make_list(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                       struct list *out);

static tide_status list_rows(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, make_list *make, struct column *out) {
    struct strbuf bytes = {0};
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct list list = {0};
        if (!make(call, args, i, ctx->scratch, &list)) {
            tide__put_null(out, i);
            continue;
        }
        tide__strbuf_clear(&bytes);
        tide__nested_append(call->type, list.items, list.count, 0, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
    tide__strbuf_deinit(&bytes);
    return TIDE_OK;
}

static bool make_append(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                        struct list *out) {
    if (tide__column_is_null(&args[0], row)) return false;
    struct list list = load(&args[0], row, arena);
    struct column element = element_of(&args[1], row);
    *out = room_for(list.count + 1, arena);
    for (size_t i = 0; i < list.count; i++) add(out, &list.items[i]);
    add(out, &element);
    return true;
}

static bool make_prepend(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                         struct list *out) {
    if (tide__column_is_null(&args[0], row)) return false;
    struct list list = load(&args[0], row, arena);
    struct column element = element_of(&args[1], row);
    *out = room_for(list.count + 1, arena);
    add(out, &element);
    for (size_t i = 0; i < list.count; i++) add(out, &list.items[i]);
    return true;
}

static bool make_remove(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                        struct list *out) {
    if (tide__column_is_null(&args[0], row)) return false;
    struct list list = load(&args[0], row, arena);
    struct column element = element_of(&args[1], row);
    *out = room_for(list.count, arena);
    for (size_t i = 0; i < list.count; i++) {
        if (!same(&list.items[i], &element)) add(out, &list.items[i]);
    }
    return true;
}

static bool make_concat(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                        struct list *out) {
    size_t total = 0;
    struct list *lists = tide__arena_alloc(arena, call->arg_count * sizeof *lists);
    for (uint32_t a = 0; a < call->arg_count; a++) {
        if (tide__column_is_null(&args[a], row)) return false;
        lists[a] = load(&args[a], row, arena);
        total += lists[a].count;
    }
    *out = room_for(total, arena);
    for (uint32_t a = 0; a < call->arg_count; a++) {
        for (size_t i = 0; i < lists[a].count; i++) add(out, &lists[a].items[i]);
    }
    return true;
}

static bool make_distinct(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                          struct list *out) {
    struct list list = load(&args[0], row, arena);
    *out = room_for(list.count, arena);
    for (size_t i = 0; i < list.count; i++) add_new(out, &list.items[i]);
    return true;
}

static bool make_reverse(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                         struct list *out) {
    struct list list = load(&args[0], row, arena);
    *out = room_for(list.count, arena);
    for (size_t i = list.count; i > 0; i--) add(out, &list.items[i - 1]);
    return true;
}

// ARRAY_SLICE(array, start[, end]): counted from 1, negative from the end, both inclusive.
static bool make_slice(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                       struct list *out) {
    struct list list = load(&args[0], row, arena);
    int64_t count = (int64_t)list.count, from = args[1].i64[row];
    int64_t to = call->arg_count > 2 ? args[2].i64[row] : count;
    if (from < 0) from += count + 1;
    if (to < 0) to += count + 1;
    if (from < 1) from = 1;
    if (call->arg_count > 2 && args[2].i64[row] == 0) to = 1;
    if (to > count) to = count;
    *out = room_for(list.count, arena);
    for (int64_t i = from; i <= to; i++) add(out, &list.items[i - 1]);
    return true;
}

static bool make_union(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                       struct list *out) {
    struct list a = load(&args[0], row, arena), b = load(&args[1], row, arena);
    *out = room_for(a.count + b.count, arena);
    for (size_t i = 0; i < a.count; i++) add_new(out, &a.items[i]);
    for (size_t i = 0; i < b.count; i++) add_new(out, &b.items[i]);
    return true;
}

static bool make_intersect(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                           struct list *out) {
    struct list a = load(&args[0], row, arena), b = load(&args[1], row, arena);
    *out = room_for(a.count, arena);
    for (size_t i = 0; i < a.count; i++) {
        if (find(&b, &a.items[i]) != SIZE_MAX) add_new(out, &a.items[i]);
    }
    return true;
}

static bool make_except(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                        struct list *out) {
    struct list a = load(&args[0], row, arena), b = load(&args[1], row, arena);
    *out = room_for(a.count, arena);
    for (size_t i = 0; i < a.count; i++) {
        if (find(&b, &a.items[i]) == SIZE_MAX) add_new(out, &a.items[i]);
    }
    return true;
}

// ARRAY_SORT(array[, ascending[, nulls_first]]). Stable insertion: arrays in rows are short.
static bool make_sort(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                      struct list *out) {
    struct list list = load(&args[0], row, arena);
    bool ascending = call->arg_count < 2 || args[1].bools[row];
    bool nulls_first = call->arg_count < 3 ? ascending : args[2].bools[row];
    *out = room_for(list.count, arena);
    for (size_t i = 0; i < list.count; i++) {
        const struct column *element = &list.items[i];
        size_t at = out->count++;
        for (; at > 0; at--) {
            const struct column *left = &out->items[at - 1];
            bool swap = is_null(element) || is_null(left)
                            ? !(is_null(element) && is_null(left)) && is_null(element) == nulls_first
                            : compares(element, ascending ? COMPARE_LT : COMPARE_GT, left);
            if (!swap) break;
            out->items[at] = *left;
        }
        out->items[at] = *element;
    }
    return true;
}

static bool make_map(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                     struct list *out) {
    struct list keys = load(&args[0], row, arena), values = load(&args[1], row, arena);
    *out = room_for(2 * keys.count, arena);
    for (size_t i = 0; i < keys.count; i++) {
        add(out, &keys.items[i]);
        add(out, &values.items[i]);
    }
    return true;
}

// SPLIT(text, separator).
// An empty separator gives all characters.
static bool make_split(const struct expr *call, const struct column *args, size_t row, struct arena *arena,
                       struct list *out) {
    struct str rest = args[0].str[row], separator = args[1].str[row];
    *out = room_for(rest.len + 1, arena);
    while (separator.len > 0 || rest.len > 0) {
        size_t end = 0;
        if (separator.len > 0) {
            end = tide__text_find(rest, separator, 0);
        } else {
            tide__utf8_next(rest, &end);
        }
        struct column element;
        tide__column_init(&element, call->type->children[0].type, 1, 1, arena);
        element.str[0] = (struct str){rest.data, end == SIZE_MAX ? rest.len : end};
        add(out, &element);
        if (end == SIZE_MAX) return true;
        rest.data += end + separator.len;
        rest.len -= end + separator.len;
    }
    return true;
}

// --- array to value ------------------------------------------------------------------------------------------------

static tide_status run_array_position(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                      struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct list list = load(&args[0], i, ctx->scratch);
        struct column element = element_of(&args[1], i);
        out->i64[i] = (int64_t)(find(&list, &element) + 1);
    }
    return TIDE_OK;
}

static tide_status pick(struct eval_context *ctx, const struct column *args, struct selection rows, enum compare_op op,
                        struct column *out) {
    size_t size = tide__physical_size(out->physical);
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct list list = load(&args[0], i, ctx->scratch);
        const struct column *best = NULL;
        for (size_t k = 0; k < list.count; k++) {
            if (is_null(&list.items[k])) continue;
            if (best == NULL || compares(&list.items[k], op, best)) best = &list.items[k];
        }
        if (best == NULL) {
            tide__put_null(out, i);
        } else {
            memcpy((char *)out->data + i * size, best->data, size);
        }
    }
    return TIDE_OK;
}

static tide_status run_array_max(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    return pick(ctx, args, rows, COMPARE_GT, out);
}

static tide_status run_array_min(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    return pick(ctx, args, rows, COMPARE_LT, out);
}

// ARRAY_JOIN(array, separator[, text for NULL]).
static tide_status run_array_join(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct list list = load(&args[0], i, ctx->scratch);
        bool first = true;
        tide__strbuf_clear(&text);
        for (size_t k = 0; k < list.count; k++) {
            if (is_null(&list.items[k]) && call->arg_count < 3) continue;
            if (!first) tide__strbuf_append_str(&text, args[1].str[i]);
            tide__strbuf_append_str(&text, is_null(&list.items[k]) ? args[2].str[i] : list.items[k].str[0]);
            first = false;
        }
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
    tide__strbuf_deinit(&text);
    return TIDE_OK;
}

// --- types ---------------------------------------------------------------------------------------------------------

static void set_array(struct infer_context *ctx, struct expr *call, const struct type *element, bool nullable) {
    struct type_child *child = ARENA_NEW(ctx->arena, struct type_child);
    child->type = element;
    struct type type = tide__type_make(TYPE_ARRAY, nullable);
    type.child_count = 1;
    type.children = child;
    call->type = tide__type_copy(ctx->arena, &type);
}

static bool is_array(const struct expr *arg) {
    return arg->type->kind == TYPE_ARRAY;
}

// An element is brought to the type of an array's elements: a number to one that is not narrower.
static bool fits_element(const struct type *from, const struct type *element) {
    if (from->kind == TYPE_NULL) return true;
    if (tide__type_is_string(from)) return tide__type_is_string(element);
    if (tide__type_is_integer(from) && tide__type_is_integer(element)) return from->kind <= element->kind;
    if (tide__type_is_numeric(from)) return tide__type_is_numeric(element) && !tide__type_is_integer(element);
    return from->child_count > 0 ? tide__type_same(from, element) : from->kind == element->kind;
}

tide_status tide__infer_element(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (!is_array(call->args[0])) return tide__infer_fail(ctx, call, err);
    const struct type *element = call->args[0]->type->children[0].type;
    if (!fits_element(call->args[1]->type, element)) return tide__infer_fail(ctx, call, err);
    return tide__infer_cast(ctx, call, 1, *element, err);
}

// ARRAY_APPEND, ARRAY_PREPEND.
static tide_status infer_longer(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_element(ctx, call, err));
    const struct type *element = call->args[0]->type->children[0].type;
    bool null = call->args[1]->type->nullable;
    element = tide__type_with_nullable(ctx->arena, element, element->nullable || null);
    set_array(ctx, call, element, call->args[0]->type->nullable || null);
    return TIDE_OK;
}

static tide_status infer_remove(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_element(ctx, call, err));
    set_array(ctx, call, call->args[0]->type->children[0].type, call->args[0]->type->nullable);
    return TIDE_OK;
}

static tide_status infer_position(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_element(ctx, call, err));
    tide__infer_result(ctx, call, TYPE_INT, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_arrays(struct infer_context *ctx, struct expr *call, tide_error *err) {
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (!is_array(call->args[i])) return tide__infer_fail(ctx, call, err);
    }
    bool null = false;
    for (uint32_t i = 0; i < call->arg_count; i++) null |= call->args[i]->type->children[0].type->nullable;
    const struct type *common = NULL;
    TIDE_TRY(tide__infer_common(ctx, call, 0, 1, &common, err));
    set_array(ctx, call, tide__type_with_nullable(ctx->arena, common->children[0].type, null),
              tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_same(struct infer_context *ctx, struct expr *call, const char *rest, tide_error *err) {
    if (!is_array(call->args[0])) return tide__infer_fail(ctx, call, err);
    TIDE_TRY(tide__infer_args(ctx, call, rest, err));
    set_array(ctx, call, call->args[0]->type->children[0].type, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_one(struct infer_context *ctx, struct expr *call, tide_error *err) {
    return infer_same(ctx, call, "A", err);
}

static tide_status infer_slice(struct infer_context *ctx, struct expr *call, tide_error *err) {
    return infer_same(ctx, call, "AII", err);
}

static bool is_ordered(const struct type *array) {
    if (array->kind != TYPE_ARRAY) return false;
    const struct type *element = array->children[0].type;
    return element->child_count == 0 && element->kind != TYPE_BOOLEAN && !tide__type_is_interval(element);
}

static tide_status infer_sort(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (!is_ordered(call->args[0]->type)) return tide__infer_fail(ctx, call, err);
    return infer_same(ctx, call, "ABB", err);
}

static tide_status infer_extreme(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (!is_ordered(call->args[0]->type)) return tide__infer_fail(ctx, call, err);
    tide__infer_result_like(ctx, call, call->args[0]->type->children[0].type, true);
    return TIDE_OK;
}

static tide_status infer_join(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (!is_array(call->args[0])) return tide__infer_fail(ctx, call, err);
    TIDE_TRY(tide__infer_args(ctx, call, "ASS", err));
    if (!tide__type_is_string(call->args[0]->type->children[0].type)) return tide__infer_fail(ctx, call, err);
    tide__infer_result(ctx, call, TYPE_VARCHAR, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status run_map(struct eval_context *ctx, const struct expr *call, const struct column *args,
                           struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct list keys = load(&args[0], i, ctx->scratch), values = load(&args[1], i, ctx->scratch);
        if (keys.count == values.count) continue;
        return tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "MAP_FROM_ARRAYS of %zu keys and %zu values", keys.count,
                             values.count);
    }
    return list_rows(ctx, call, args, rows, make_map, out);
}

static tide_status infer_map(struct infer_context *ctx, struct expr *call, tide_error *err) {
    if (!is_array(call->args[0]) || !is_array(call->args[1])) return tide__infer_fail(ctx, call, err);
    struct type_child *children = ARENA_ARRAY(ctx->arena, struct type_child, 2);
    for (int i = 0; i < 2; i++) children[i].type = call->args[i]->type->children[0].type;
    struct type type = tide__type_make(TYPE_MAP, tide__infer_any_nullable(call));
    type.child_count = 2;
    type.children = children;
    call->type = tide__type_copy(ctx->arena, &type);
    return TIDE_OK;
}

static tide_status infer_split(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SS", err));
    struct type text = tide__type_make(TYPE_VARCHAR, true);
    set_array(ctx, call, tide__type_copy(ctx->arena, &text), tide__infer_any_nullable(call));
    return TIDE_OK;
}

// --- table ---------------------------------------------------------------------------------------------------------

#define LIST_KERNEL(make, strict)                                                                                      \
    static tide_status run_##make(struct eval_context *ctx, const struct expr *call, const struct column *args,        \
                                  struct selection rows, struct column *out, tide_error *err) {                        \
        return list_rows(ctx, call, args, rows, make_##make, out);                                                     \
    }                                                                                                                  \
    static const struct function_kernel kernel_##make = {.null_if_any = strict, .run = run_##make}
LIST_KERNEL(append, false);
LIST_KERNEL(prepend, false);
LIST_KERNEL(remove, false);
LIST_KERNEL(concat, true);
LIST_KERNEL(distinct, true);
LIST_KERNEL(reverse, true);
LIST_KERNEL(slice, true);
LIST_KERNEL(union, true);
LIST_KERNEL(intersect, true);
LIST_KERNEL(except, true);
LIST_KERNEL(sort, true);
static const struct function_kernel kernel_map = {.null_if_any = true, .run = run_map};
LIST_KERNEL(split, true);
static const struct function_kernel kernel_array_position = {.null_if_any = true, .run = run_array_position};
static const struct function_kernel kernel_array_max = {.null_if_any = true, .run = run_array_max};
static const struct function_kernel kernel_array_min = {.null_if_any = true, .run = run_array_min};
static const struct function_kernel kernel_array_join = {.null_if_any = true, .run = run_array_join};

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
NESTED(array_append, "ARRAY_APPEND", 2, 2, infer_longer, kernel_append, "ARRAY_APPEND(ARRAY, value)",
       "With an element at the end.", "ARRAY_APPEND(ARRAY[1, 2], 3)", "[1, 2, 3]");
NESTED(array_prepend, "ARRAY_PREPEND", 2, 2, infer_longer, kernel_prepend, "ARRAY_PREPEND(ARRAY, value)",
       "With an element at the beginning.", "ARRAY_PREPEND(ARRAY[1, 2], 3)", "[3, 1, 2]");
NESTED(array_remove, "ARRAY_REMOVE", 2, 2, infer_remove, kernel_remove, "ARRAY_REMOVE(ARRAY, value)",
       "Without the elements that are equal to a value.", "ARRAY_REMOVE(ARRAY[1, 2, 1], 1)", "[2]");
NESTED(array_concat, "ARRAY_CONCAT", 1, UINT8_MAX, infer_arrays, kernel_concat, "ARRAY_CONCAT(ARRAY, ...)",
       "The elements of all arrays.", "ARRAY_CONCAT(ARRAY[1], ARRAY[2, 1])", "[1, 2, 1]");
NESTED(array_distinct, "ARRAY_DISTINCT", 1, 1, infer_one, kernel_distinct, "ARRAY_DISTINCT(ARRAY)",
       "Each element once.", "ARRAY_DISTINCT(ARRAY[1, 2, 1])", "[1, 2]");
NESTED(array_reverse, "ARRAY_REVERSE", 1, 1, infer_one, kernel_reverse, "ARRAY_REVERSE(ARRAY)", "Backwards.",
       "ARRAY_REVERSE(ARRAY[1, 2, 3])", "[3, 2, 1]");
NESTED(array_slice, "ARRAY_SLICE", 2, 3, infer_slice, kernel_slice, "ARRAY_SLICE(ARRAY, start[, end])",
       "The elements from start to end; negative positions count from the end.", "ARRAY_SLICE(ARRAY[1, 2, 3], 2)",
       "[2, 3]");
NESTED(array_sort, "ARRAY_SORT", 1, 3, infer_sort, kernel_sort, "ARRAY_SORT(ARRAY[, ascending[, nulls_first]])",
       "Sorted.", "ARRAY_SORT(ARRAY[2, 1, 3])", "[1, 2, 3]");
NESTED(array_union, "ARRAY_UNION", 2, 2, infer_arrays, kernel_union, "ARRAY_UNION(ARRAY, ARRAY)",
       "The elements of both arrays, each once.", "ARRAY_UNION(ARRAY[1, 2], ARRAY[2, 3])", "[1, 2, 3]");
NESTED(array_intersect, "ARRAY_INTERSECT", 2, 2, infer_arrays, kernel_intersect, "ARRAY_INTERSECT(ARRAY, ARRAY)",
       "The elements that are in both arrays, each once.", "ARRAY_INTERSECT(ARRAY[1, 2], ARRAY[2, 3])", "[2]");
NESTED(array_except, "ARRAY_EXCEPT", 2, 2, infer_arrays, kernel_except, "ARRAY_EXCEPT(ARRAY, ARRAY)",
       "The elements of the first array that are not in the second, each once.",
       "ARRAY_EXCEPT(ARRAY[1, 2], ARRAY[2, 3])", "[1]");
NESTED(array_position, "ARRAY_POSITION", 2, 2, infer_position, kernel_array_position, "ARRAY_POSITION(ARRAY, value)",
       "Where a value first stands, from 1; 0 if it is not there.", "ARRAY_POSITION(ARRAY['a', 'b'], 'b')", "2");
NESTED(array_max, "ARRAY_MAX", 1, 1, infer_extreme, kernel_array_max, "ARRAY_MAX(ARRAY)",
       "The greatest element; NULLs are skipped.", "ARRAY_MAX(ARRAY[1, 3, 2])", "3");
NESTED(array_min, "ARRAY_MIN", 1, 1, infer_extreme, kernel_array_min, "ARRAY_MIN(ARRAY)",
       "The least element; NULLs are skipped.", "ARRAY_MIN(ARRAY[2, 1, 3])", "1");
NESTED(array_join, "ARRAY_JOIN", 2, 3, infer_join, kernel_array_join, "ARRAY_JOIN(ARRAY, separator[, for_null])",
       "The strings of an array, joined; NULLs are skipped or shown as a text.", "ARRAY_JOIN(ARRAY['a', 'b'], '-')",
       "a-b");
NESTED(map_from_arrays, "MAP_FROM_ARRAYS", 2, 2, infer_map, kernel_map, "MAP_FROM_ARRAYS(keys, values)",
       "A map of an array of keys and one of values.", "MAP_FROM_ARRAYS(ARRAY['k'], ARRAY[1])", "{k=1}");
NESTED(split, "SPLIT", 2, 2, infer_split, kernel_split, "SPLIT(STRING, separator)", "The parts between separators.",
       "SPLIT('a-b', '-')", "[a, b]");
