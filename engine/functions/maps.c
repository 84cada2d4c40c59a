// MAP_ENTRIES, MAP_UNION and STR_TO_MAP. A map's bytes hold keys and values in turn (engine/expr/nested.h).
#include "engine/expr/nested.h"
#include "engine/functions/compare.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/java_map.h"
#include "engine/functions/regex.h"
#include "engine/functions/text.h"

static bool load(const struct column *column, size_t row, struct arena *arena, struct column **out, size_t *out_count) {
    return tide__nested_decode(column->str[row], column->type, arena, out, out_count);
}

static tide_status broken(const struct expr *call, tide_error *err) {
    return tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "the bytes of a nested value are malformed");
}

// --- MAP_ENTRIES ---------------------------------------------------------------------------------------------------

static tide_status run_map_entries(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    struct strbuf bytes = {0};
    const struct type *entry = call->type->children[0].type;
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), count = 0;
        struct column *parts = NULL;
        if (!load(&args[0], i, ctx->scratch, &parts, &count)) {
            status = broken(call, err);
            break;
        }
        struct column *entries = tide__arena_alloc(ctx->scratch, (count / 2 + 1) * sizeof *entries);
        for (size_t k = 0; k < count / 2; k++) {
            tide__strbuf_clear(&bytes);
            tide__nested_append(entry, &parts[2 * k], 2, 0, &bytes);
            tide__column_init(&entries[k], entry, 1, 1, ctx->scratch);
            entries[k].str[0] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
        }
        tide__strbuf_clear(&bytes);
        tide__nested_append(call->type, entries, count / 2, 0, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
    tide__strbuf_deinit(&bytes);
    return status;
}

static tide_status infer_map_entries(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *map = call->args[0]->type;
    if (map->kind != TYPE_MAP) return tide__infer_fail(ctx, call, err);
    struct type_child *fields = ARENA_ARRAY(ctx->arena, struct type_child, 2);
    fields[0] = (struct type_child){"key", map->children[0].type};
    fields[1] = (struct type_child){"value", map->children[1].type};
    struct type row = tide__type_make(TYPE_ROW, true), array = tide__type_make(TYPE_ARRAY, map->nullable);
    row.child_count = 2;
    row.children = fields;
    struct type_child *child = ARENA_NEW(ctx->arena, struct type_child);
    child->type = tide__type_copy(ctx->arena, &row);
    array.child_count = 1;
    array.children = child;
    call->type = tide__type_copy(ctx->arena, &array);
    return TIDE_OK;
}

// --- MAP_UNION -----------------------------------------------------------------------------------------------------

static bool same_key(const struct column *a, const struct column *b) {
    bool a_null = tide__column_is_null(a, 0), b_null = tide__column_is_null(b, 0);
    if (a_null || b_null) return a_null && b_null;
    uint8_t equal = 0;
    tide__compare(a, b, COMPARE_EQ, (struct selection){NULL, 1}, &equal);
    return equal;
}

// Adds a key's value unless the key is there.
static void put(struct column *map, size_t *count, const struct column *key, const struct column *value) {
    size_t at = 0;
    while (at < *count && !same_key(&map[at], key)) at += 2;
    if (at < *count) return;
    map[at] = *key;
    map[at + 1] = *value;
    *count += 2;
}

static tide_status run_map_union(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    struct strbuf bytes = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), count = 0, total = 0;
        struct column **maps = tide__arena_alloc(ctx->scratch, call->arg_count * sizeof *maps);
        size_t *counts = tide__arena_alloc(ctx->scratch, call->arg_count * sizeof *counts);
        for (uint32_t a = 0; a < call->arg_count; a++) {
            if (!load(&args[a], i, ctx->scratch, &maps[a], &counts[a])) {
                TIDE_TRY_OR(status, broken(call, err), done);
            }
            total += counts[a];
        }
        struct column *all = tide__arena_alloc(ctx->scratch, (total + 2) * sizeof *all);
        for (uint32_t a = call->arg_count; a-- > 0;) {  // the last map goes first, in Flink too
            for (size_t k = 0; k < counts[a]; k += 2) put(all, &count, &maps[a][k], &maps[a][k + 1]);
        }
        tide__strbuf_clear(&bytes);
        tide__nested_append(call->type, all, count, 0, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
done:
    tide__strbuf_deinit(&bytes);
    return status;
}

static tide_status infer_map_union(struct infer_context *ctx, struct expr *call, tide_error *err) {
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->type->kind != TYPE_MAP) return tide__infer_fail(ctx, call, err);
    }
    const struct type *common = NULL;
    TIDE_TRY(tide__infer_common(ctx, call, 0, 1, &common, err));
    tide__infer_result_like(ctx, call, common, tide__infer_any_nullable(call));
    return TIDE_OK;
}

// --- STR_TO_MAP ----------------------------------------------------------------------------------------------------

struct part {
    struct str key, value;
    bool has_value;
};

// Java's String.split: the parts between matches, without empty ones at the end. An empty match at the beginning does not
// count. Gives the number of parts; at most `most`.
static size_t split(struct regex *regex, struct str text, size_t most, struct str *out) {
    size_t count = 0, from = 0, start = 0, end = 0;
    bool hit = regex != NULL && tide__regex_match(regex, text, false);
    for (; hit && count + 1 < most; hit = tide__regex_next(regex)) {
        if (!tide__regex_group(regex, 0, &start, &end)) break;
        if (end == 0 || (start == end && start >= text.len)) continue;
        out[count++] = (struct str){text.data + from, start - from};
        from = end;
    }
    out[count++] = (struct str){text.data + from, text.len - from};
    while (most == SIZE_MAX && count > 1 && out[count - 1].len == 0) count--;
    if (most == SIZE_MAX && count == 1 && out[0].len == 0 && text.len > 0) count = 0;
    return count;
}

static size_t put_part(struct part *parts, size_t count, struct part part) {
    size_t at = 0;
    while (at < count && !tide__str_eq(parts[at].key, part.key)) at++;
    parts[at] = part;
    return at == count ? count + 1 : count;
}

// The bytes of the map, in the order of Flink's HashMap.
static void put_parts(const struct type *type, const struct part *parts, size_t count, size_t capacity,
                      struct arena *arena, struct strbuf *bytes) {
    uint32_t *hashes = ARENA_ARRAY(arena, uint32_t, count + 1), *order = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (size_t i = 0; i < count; i++) hashes[i] = tide__java_hash(parts[i].key);
    tide__java_map_order(hashes, count, capacity, order);
    struct column *elements = ARENA_ARRAY(arena, struct column, 2 * count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct part *part = &parts[order[i]];
        for (int k = 0; k < 2; k++) tide__column_init(&elements[2 * i + k], type->children[k].type, 1, 1, arena);
        elements[2 * i].str[0] = part->key;
        if (part->has_value) {
            elements[2 * i + 1].str[0] = part->value;
        } else {
            tide__put_null(&elements[2 * i + 1], 0);
        }
    }
    tide__strbuf_clear(bytes);
    tide__nested_append(type, elements, 2 * count, 0, bytes);
}

static tide_status run_str_to_map(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    struct strbuf bytes = {0};
    struct regex *pair_end = NULL, *key_end = NULL;
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), count = 0;
        struct str text = args[0].str[i];
        tide__regex_close(pair_end);
        tide__regex_close(key_end);
        pair_end = key_end = NULL;
        TIDE_TRY_OR(status, tide__regex_open(call->arg_count > 1 ? args[1].str[i] : STR_LIT(","), &pair_end, err),
                    done);
        TIDE_TRY_OR(status, tide__regex_open(call->arg_count > 2 ? args[2].str[i] : STR_LIT("="), &key_end, err), done);
        struct str *pairs = ARENA_ARRAY(ctx->scratch, struct str, text.len + 2);
        size_t pair_count = text.len == 0 ? 0 : split(pair_end, text, SIZE_MAX, pairs);
        struct part *parts = ARENA_ARRAY(ctx->scratch, struct part, pair_count + 1);
        for (size_t k = 0; k < pair_count; k++) {
            struct str halves[2];
            bool both = split(key_end, pairs[k], 2, halves) > 1;
            count = put_part(parts, count, (struct part){both ? halves[0] : pairs[k], halves[1], both});
        }
        put_parts(call->type, parts, count, pair_count, ctx->scratch, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
done:
    tide__regex_close(pair_end);
    tide__regex_close(key_end);
    tide__strbuf_deinit(&bytes);
    return status;
}

static tide_status infer_str_to_map(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSS", err));
    struct type text = tide__type_make(TYPE_VARCHAR, true), map = tide__type_make(TYPE_MAP, true);
    struct type_child *children = ARENA_ARRAY(ctx->arena, struct type_child, 2);
    children[0].type = children[1].type = tide__type_copy(ctx->arena, &text);
    map.child_count = 2;
    map.children = children;
    call->type = tide__type_copy(ctx->arena, &map);
    return TIDE_OK;
}

// --- table ---------------------------------------------------------------------------------------------------------

static const struct function_kernel kernel_map_entries = {.null_if_any = true, .run = run_map_entries};
static const struct function_kernel kernel_map_union = {.null_if_any = true, .run = run_map_union};

static const struct function_kernel kernel_str_to_map = {.null_if_any = true, .run = run_str_to_map};

const struct function tide__fn_map_entries = {
    .name = "MAP_ENTRIES",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_map_entries,
    .kernel = &kernel_map_entries,
    .signature = "MAP_ENTRIES(MAP)",
    .summary = "An array of the map's pairs as ROW<key, value>.",
    .example = "MAP_ENTRIES(MAP['k', 1])",
    .example_result = "[(k, 1)]",
};
const struct function tide__fn_map_union = {
    .name = "MAP_UNION",
    .arg_min = 1,
    .arg_max = UINT8_MAX,
    .infer = infer_map_union,
    .kernel = &kernel_map_union,
    .signature = "MAP_UNION(MAP, ...)",
    .summary = "The pairs of all maps; of the same key the last value stays.",
    .example = "MAP_UNION(MAP['a', 1], MAP['b', 2], MAP['a', 3])",
    .example_result = "{a=3, b=2}",
};
const struct function tide__fn_str_to_map = {
    .name = "STR_TO_MAP",
    .arg_min = 1,
    .arg_max = 3,
    .infer = infer_str_to_map,
    .kernel = &kernel_str_to_map,
    .signature = "STR_TO_MAP(STRING[, pair_separator, key_separator])",
    .summary = "A map of strings from a text; separators are regular expressions.",
    .example = "STR_TO_MAP('a=1,b=2')['b']",
    .example_result = "2",
};
