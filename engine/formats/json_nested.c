// Objects and arrays: the members of a row, and ARRAY, MAP, MULTISET and ROW values.
//
// Members are taken as Flink takes them: as soon as as many were found as there are fields, whichever they were, the rest
// is only passed. So of a name that comes twice the first counts in a table of one column, but it takes another field's turn
// where there are more. The entries of a MAP stand in the order of the java.util.HashMap that Flink puts them in, by the hash
// of the key's bytes: whoever prints a MAP sees it.
#include "base/alloc.h"
#include "engine/expr/nested.h"
#include "engine/formats/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- members ----------------------------------------------------------------------------------------------------

static uint32_t find_field(const struct json_field *fields, uint32_t count, struct str name, uint32_t first) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = first + i < count ? first + i : first + i - count;
        if (fields[at].name.len == name.len && memcmp(fields[at].name.data, name.data, name.len) == 0) return at;
    }
    return count;
}

static void begin_fields(struct column *columns, uint32_t count, size_t row) {
    for (uint32_t i = 0; i < count; i++) {
        size_t size = tide__physical_size(columns[i].physical);
        columns[i].nulls[row] = 1;
        memset((char *)columns[i].data + row * size, 0, size);
    }
}

// Whether reading may go on. Out of step (see json_value.c) the text may end before the object does.
static bool goes_on(const struct json_scan *scan) {
    return scan->token != JSON_BROKEN && scan->token != JSON_NONE;
}

static enum json_result missing(struct format_parser *parser, const struct json_field *fields, uint32_t count,
                                const struct column *columns, size_t row) {
    struct str name = {"", 0};
    for (uint32_t i = 0; i < count && name.len == 0; i++) {
        if (columns[i].nulls[row]) name = fields[i].name;
    }
    tide__json_bad(parser, "field \"%.*s\" is missing", STR_ARG(name));
    snprintf(parser->fault->hint, sizeof(parser->fault->hint),
             "add it, or leave out 'json.fail-on-missing-field' to read it as NULL");
    return JSON_ROW_BAD;
}

enum json_result tide__json_members(struct format_parser *parser, const struct json_field *fields, uint32_t field_count,
                                    struct column *columns, size_t row) {
    struct json_scan *scan = &parser->scan;
    uint32_t done = 0, next = 0;
    begin_fields(columns, field_count, row);
    tide__json_next(scan);
    while (scan->token != JSON_OBJECT_END) {
        if (!goes_on(scan)) return JSON_ROW_BAD;
        uint32_t field = field_count;
        if (done < field_count) {
            // Whatever token it is: only out of step it is no name.
            field = find_field(fields, field_count, tide__json_text(scan, parser->arena), next);
            tide__json_next(scan);
            if (!goes_on(scan)) return JSON_ROW_BAD;
        }
        if (field == field_count) {
            tide__json_skip(scan);
            tide__json_next(scan);
            continue;
        }
        enum json_result result = tide__json_convert(parser, &fields[field], &columns[field], row);
        if (result == JSON_BAD) tide__json_bad_below(parser, ".", fields[field].name);
        if (result == JSON_BAD || result == JSON_ROW_BAD) return result;
        tide__json_next(scan);
        next = field + 1 < field_count ? field + 1 : 0;
        done++;
    }
    if (done < field_count && parser->reader->options.fail_on_missing) {
        return missing(parser, fields, field_count, columns, row);
    }
    return JSON_OK;
}

// --- the order of a HashMap -------------------------------------------------------------------------------------

static uint32_t rotate(uint32_t v, int by) {
    return v << by | v >> (32 - by);
}

static uint32_t murmur_mix(uint32_t hash, uint32_t word) {
    word *= 0xcc9e2d51u;
    word = rotate(word, 15);
    word *= 0x1b873593u;
    hash ^= word;
    return rotate(hash, 13) * 5 + 0xe6546b64u;
}

// Flink's hash of a string: Murmur3 of its bytes, the last ones taken one by one as signed numbers.
static uint32_t string_hash(struct str text) {
    uint32_t hash = 42;
    size_t at = 0;
    for (; at + 4 <= text.len; at += 4) {
        uint32_t word;
        memcpy(&word, text.data + at, 4);
        hash = murmur_mix(hash, word);
    }
    for (; at < text.len; at++) hash = murmur_mix(hash, (uint32_t)(int32_t)(signed char)text.data[at]);
    hash ^= (uint32_t)text.len;
    hash ^= hash >> 16;
    hash *= 0x85ebca6bu;
    hash ^= hash >> 13;
    hash *= 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

struct entry {
    struct str key;
    uint32_t bucket, order;
    struct column value;
};

static int by_key(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = tide__str_cmp(x->key, y->key);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_bucket(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->bucket != y->bucket) return x->bucket < y->bucket ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

// Of equal keys the last value stays, then the entries come in the map's order. Returns how many are left.
static size_t order_entries(struct entry *entries, size_t count) {
    qsort(entries, count, sizeof(*entries), by_key);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && tide__str_cmp(entries[kept - 1].key, entries[i].key) == 0) {
            entries[kept - 1].value = entries[i].value;
        } else {
            entries[kept++] = entries[i];
        }
    }
    uint32_t buckets = 16;
    while (kept > (size_t)buckets / 4 * 3) buckets *= 2;
    for (size_t i = 0; i < kept; i++) {
        uint32_t hash = string_hash(entries[i].key);
        entries[i].bucket = (hash ^ hash >> 16) & (buckets - 1);
    }
    qsort(entries, kept, sizeof(*entries), by_bucket);
    return kept;
}

// --- nested values ----------------------------------------------------------------------------------------------

static void store(struct format_parser *parser, const struct json_field *field, const struct column *elements,
                  size_t count, struct str *out) {
    tide__strbuf_clear(&parser->scratch);
    tide__nested_append(field->type, elements, count, 0, &parser->scratch);
    const char *bytes = parser->scratch.data != NULL ? parser->scratch.data : "";
    *out = (struct str){tide__arena_strndup(parser->arena, bytes, parser->scratch.len), parser->scratch.len};
}

static enum json_result array_value(struct format_parser *parser, const struct json_field *field, struct str *out) {
    struct column *elements = NULL;
    size_t count = 0, capacity = 0;
    enum json_result result = JSON_OK;
    const struct json_field *element = &field->children[0];
    while (result != JSON_BAD && result != JSON_ROW_BAD && tide__json_next(&parser->scan) != JSON_ARRAY_END) {
        if (!goes_on(&parser->scan)) {
            result = JSON_ROW_BAD;
            break;
        }
        elements = tide__grow(elements, &capacity, count + 1, sizeof(*elements));
        tide__column_init(&elements[count], element->type, 1, 1, parser->arena);
        result = tide__json_convert(parser, element, &elements[count], 0);
        count++;
    }
    if (result == JSON_BAD) {
        char index[32];
        snprintf(index, sizeof(index), "%zu]", count);
        tide__json_bad_below(parser, "[", tide__str(index));
    } else if (result != JSON_ROW_BAD) {
        store(parser, field, elements, count, out);
        result = JSON_OK;
    }
    tide__free(elements);
    return result;
}

static enum json_result map_entries(struct format_parser *parser, const struct json_field *value,
                                    struct entry **entries, size_t *count) {
    size_t capacity = 0;
    while (tide__json_next(&parser->scan) != JSON_OBJECT_END) {
        if (!goes_on(&parser->scan)) return JSON_ROW_BAD;
        *entries = tide__grow(*entries, &capacity, *count + 1, sizeof(**entries));
        struct entry *entry = &(*entries)[*count];
        *entry = (struct entry){.key = tide__json_text(&parser->scan, parser->arena), .order = (uint32_t)*count};
        (*count)++;
        tide__column_init(&entry->value, value->type, 1, 1, parser->arena);
        tide__json_next(&parser->scan);
        if (!goes_on(&parser->scan)) return JSON_ROW_BAD;
        enum json_result result = tide__json_convert(parser, value, &entry->value, 0);
        if (result == JSON_BAD) tide__json_bad_below(parser, ".", entry->key);
        if (result == JSON_BAD || result == JSON_ROW_BAD) return result;
    }
    return JSON_OK;
}

static enum json_result map_value(struct format_parser *parser, const struct json_field *field, struct str *out) {
    struct entry *entries = NULL;
    size_t count = 0;
    enum json_result result = map_entries(parser, &field->children[1], &entries, &count);
    if (result == JSON_OK) {
        count = count > 0 ? order_entries(entries, count) : 0;
        struct column *columns = tide__calloc(count * 2 + 1, sizeof(*columns));
        for (size_t i = 0; i < count; i++) {
            tide__column_init(&columns[i * 2], field->children[0].type, 1, 0, parser->arena);
            columns[i * 2].str[0] = entries[i].key;
            columns[i * 2 + 1] = entries[i].value;
        }
        store(parser, field, columns, count * 2, out);
        tide__free(columns);
    }
    tide__free(entries);
    return result;
}

static enum json_result row_value(struct format_parser *parser, const struct json_field *field, struct str *out) {
    struct column *columns = ARENA_ARRAY(parser->arena, struct column, field->child_count + 1);
    for (uint32_t i = 0; i < field->child_count; i++) {
        tide__column_init(&columns[i], field->children[i].type, 1, 1, parser->arena);
    }
    enum json_result result = tide__json_members(parser, field->children, field->child_count, columns, 0);
    if (result == JSON_OK) store(parser, field, columns, field->child_count, out);
    return result;
}

enum json_result tide__json_nested(struct format_parser *parser, const struct json_field *field, struct column *column,
                                   size_t row) {
    assert(column->physical == PHYSICAL_STR);
    bool is_array = field->type->kind == TYPE_ARRAY;
    if (parser->scan.token != (is_array ? JSON_ARRAY : JSON_OBJECT)) return JSON_BAD;
    if (is_array) return array_value(parser, field, &column->str[row]);
    if (field->type->kind == TYPE_ROW) return row_value(parser, field, &column->str[row]);
    return map_value(parser, field, &column->str[row]);
}
