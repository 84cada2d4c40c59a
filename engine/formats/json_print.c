// JSON text from values: strings, and a part of a text printed anew as Jackson's tree would print it.
#include "base/alloc.h"
#include "base/decimal.h"
#include "engine/formats/java_text.h"
#include "engine/formats/json_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tide__json_print_string(struct str text, struct strbuf *out) {
    static const char names[] = "btn fr";  // of the characters from 8 on
    tide__strbuf_append_char(out, '"');
    for (size_t at = 0, from = 0; at <= text.len; at++) {
        unsigned char c = at < text.len ? (unsigned char)text.data[at] : 0;
        if (at < text.len && c >= ' ' && c != '"' && c != '\\') continue;
        tide__strbuf_append(out, text.data + from, at - from);
        from = at + 1;
        if (at == text.len) break;
        if (c == '"' || c == '\\') {
            tide__strbuf_append_char(out, '\\');
            tide__strbuf_append_char(out, (char)c);
        } else if (c >= 8 && c <= 13 && c != 11) {
            tide__strbuf_append_char(out, '\\');
            tide__strbuf_append_char(out, names[c - 8]);
        } else {
            tide__strbuf_printf(out, "\\u%04X", c);
        }
    }
    tide__strbuf_append_char(out, '"');
}

static void print_number(struct str text, enum json_token token, bool decimals, struct strbuf *out) {
    double value = 0;
    if (token == JSON_INTEGER) {
        tide__strbuf_append_str(out, tide__str_eq_c(text, "-0") ? tide__str("0") : text);
    } else if (decimals) {
        tide__java_print_number(text, out);
    } else if (tide__java_float(text, false, &value) && isfinite(value)) {
        tide__double_print(value, out);
    } else {
        tide__strbuf_append_c(out, text.data[0] == '-' ? "\"-Infinity\"" : "\"Infinity\"");
    }
}

// A member that has been printed.
struct member {
    struct str name;
    size_t from, to;  // `"name":value` in the output
    uint32_t order;   // of coming
};

static int by_name(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    int order = tide__str_cmp(x->name, y->name);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

// Of equal names the last value stays, in the place of the first.
static void merge_members(struct member *members, size_t count, size_t start, struct strbuf *out) {
    qsort(members, count, sizeof(*members), by_name);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && tide__str_cmp(members[kept - 1].name, members[i].name) == 0) {
            members[kept - 1].from = members[i].from;
            members[kept - 1].to = members[i].to;
        } else {
            members[kept++] = members[i];
        }
    }
    if (kept == count) return;
    qsort(members, kept, sizeof(*members), by_order);
    struct strbuf copy = {0};
    for (size_t i = 0; i < kept; i++) {
        if (i > 0) tide__strbuf_append_char(&copy, ',');
        tide__strbuf_append(&copy, out->data + members[i].from, members[i].to - members[i].from);
    }
    out->len = start;
    tide__strbuf_append_str(out, tide__strbuf_str(&copy));
    tide__strbuf_deinit(&copy);
}

// Recursion ends at JSON_DEPTH_MAX.
static bool print_object(struct json_scan *scan, bool decimals, struct arena *arena, struct strbuf *out) {
    struct member *members = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    tide__strbuf_append_char(out, '{');
    size_t start = out->len;
    while (ok && tide__json_next(scan) == JSON_NAME) {
        if (count > 0) tide__strbuf_append_char(out, ',');
        members = tide__grow(members, &capacity, count + 1, sizeof(*members));
        struct member *member = &members[count];
        *member = (struct member){.name = tide__json_text(scan, arena), .from = out->len, .order = (uint32_t)count};
        tide__json_print_string(member->name, out);
        tide__strbuf_append_char(out, ':');
        tide__json_next(scan);
        ok = tide__json_print_value(scan, decimals, arena, out);
        members[count++].to = out->len;
    }
    ok = ok && scan->token == JSON_OBJECT_END;
    if (ok && count > 1) merge_members(members, count, start, out);
    tide__free(members);
    tide__strbuf_append_char(out, '}');
    return ok;
}

static bool print_array(struct json_scan *scan, bool decimals, struct arena *arena, struct strbuf *out) {
    tide__strbuf_append_char(out, '[');
    for (size_t i = 0; tide__json_next(scan) != JSON_ARRAY_END; i++) {
        if (i > 0) tide__strbuf_append_char(out, ',');
        if (!tide__json_print_value(scan, decimals, arena, out)) return false;
    }
    tide__strbuf_append_char(out, ']');
    return true;
}

bool tide__json_print_value(struct json_scan *scan, bool decimals, struct arena *arena, struct strbuf *out) {
    switch (scan->token) {
    case JSON_OBJECT: return print_object(scan, decimals, arena, out);
    case JSON_ARRAY: return print_array(scan, decimals, arena, out);
    case JSON_STRING: tide__json_print_string(tide__json_text(scan, arena), out); return true;
    case JSON_INTEGER:
    case JSON_FLOAT: print_number(tide__json_text(scan, arena), scan->token, decimals, out); return true;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL: tide__strbuf_append_str(out, tide__json_text(scan, arena)); return true;
    case JSON_NONE:
    case JSON_NAME:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_BROKEN: return false;
    }
    return false;
}
