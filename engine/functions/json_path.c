// Parsing and following JSON paths. See engine/functions/json_path.h.
#include "engine/functions/json_path.h"

#include "base/alloc.h"

#include <ctype.h>
#include <string.h>

// --- parsing -------------------------------------------------------------------------------------------------------

static bool take_mode(struct str *text, const char *mode) {
    size_t len = strlen(mode);
    if (text->len <= len || strncasecmp(text->data, mode, len) != 0 || !isspace((unsigned char)text->data[len]))
        return false;
    text->data += len;
    text->len -= len;
    return true;
}

static void trim_left(struct str *text) {
    while (text->len > 0 && isspace((unsigned char)text->data[0])) text->data++, text->len--;
}

// `[...]`: an index, a star or a quoted name; *at stands behind the bracket.
static const char *take_bracket(struct str text, size_t *at, struct json_step *step) {
    size_t i = *at;
    if (i < text.len && (text.data[i] == '\'' || text.data[i] == '"')) {
        char quote = text.data[i++];
        size_t begin = i;
        while (i < text.len && text.data[i] != quote) i++;
        *step = (struct json_step){.kind = JSON_STEP_NAME, .name = {text.data + begin, i - begin}};
        if (i == text.len) return "a quote is not closed";
        i++;
    } else if (i < text.len && text.data[i] == '*') {
        *step = (struct json_step){.kind = JSON_STEP_ALL};
        i++;
    } else {
        bool negative = i < text.len && text.data[i] == '-';
        int64_t index = 0;
        size_t begin = i += negative;
        while (i < text.len && isdigit((unsigned char)text.data[i]) && index < INT32_MAX)
            index = index * 10 + text.data[i++] - '0';
        if (i == begin) return "an index or a quoted name is missing behind '['";
        *step = (struct json_step){.kind = JSON_STEP_INDEX, .index = negative ? -index : index};
    }
    if (i == text.len || text.data[i] != ']') return "a ']' is missing";
    *at = i + 1;
    return NULL;
}

// `.name`, `.['name']`, `.*` or `..name`; *at stands behind the first dot.
static const char *take_name(struct str text, size_t *at, struct json_step *step) {
    if (*at < text.len && text.data[*at] == '[') {
        ++*at;
        return take_bracket(text, at, step);
    }
    bool deep = *at < text.len && text.data[*at] == '.';
    size_t begin = *at += deep;
    while (*at < text.len && text.data[*at] != '.' && text.data[*at] != '[') ++*at;
    struct str name = {text.data + begin, *at - begin};
    if (name.len == 0) return "a name is missing behind '.'";
    bool all = tide__str_eq_c(name, "*");
    *step = (struct json_step){.kind = deep ? JSON_STEP_DEEP : all ? JSON_STEP_ALL : JSON_STEP_NAME, .name = name};
    return NULL;
}

bool tide__json_path_parse(struct str text, struct arena *arena, struct json_path *out, const char **out_problem) {
    *out = (struct json_path){0};
    *out_problem = NULL;
    trim_left(&text);
    if (take_mode(&text, "lax")) {
        out->lax = true;
    } else {
        take_mode(&text, "strict");
    }
    trim_left(&text);
    while (text.len > 0 && isspace((unsigned char)text.data[text.len - 1])) text.len--;
    if (text.len == 0 || text.data[0] != '$') {
        *out_problem = "it must begin with '$'";
        return false;
    }
    out->steps = ARENA_ARRAY(arena, struct json_step, text.len);
    for (size_t at = 1; at < text.len && *out_problem == NULL;) {
        struct json_step *step = &out->steps[out->count++];
        char c = text.data[at++];
        if (c == '[') {
            *out_problem = take_bracket(text, &at, step);
        } else if (c == '.') {
            *out_problem = take_name(text, &at, step);
        } else {
            *out_problem = "'.' or '[' is expected";
        }
        if (step->kind == JSON_STEP_ALL || step->kind == JSON_STEP_DEEP) out->many = true;
    }
    return *out_problem == NULL;
}

// --- following -----------------------------------------------------------------------------------------------------

struct found {
    const struct json **values;
    size_t count, capacity;
};

static void add(struct found *found, const struct json *value) {
    found->values = tide__grow(found->values, &found->capacity, found->count + 1, sizeof(*found->values));
    found->values[found->count++] = value;
}

static void add_deep(struct found *found, const struct json *json, struct str name) {
    const struct json *member = tide__json_member(json, name);
    if (member != NULL) add(found, member);
    for (size_t i = 0; i < json->count; i++) add_deep(found, &json->members[i].value, name);
}

static void step_into(const struct json_step *step, const struct json *from, struct found *found) {
    bool array = from->kind == JSON_KIND_ARRAY;
    switch (step->kind) {
    case JSON_STEP_NAME: {
        const struct json *member = tide__json_member(from, step->name);
        if (member != NULL) add(found, member);
        break;
    }
    case JSON_STEP_INDEX: {
        int64_t index = step->index < 0 ? (int64_t)from->count + step->index : step->index;
        if (array && index >= 0 && index < (int64_t)from->count) add(found, &from->members[index].value);
        break;
    }
    case JSON_STEP_ALL:
        for (size_t i = 0; i < from->count; i++) add(found, &from->members[i].value);
        break;
    case JSON_STEP_DEEP: add_deep(found, from, step->name); break;
    }
}

bool tide__json_path_find(const struct json_path *path, const struct json *root, struct arena *arena,
                          struct json *out) {
    struct found now = {0}, next = {0};
    add(&now, root);
    for (size_t s = 0; s < path->count; s++) {
        next.count = 0;
        for (size_t i = 0; i < now.count; i++) step_into(&path->steps[s], now.values[i], &next);
        struct found swap = now;
        now = next;
        next = swap;
    }
    bool ok = path->many || now.count > 0;
    if (path->many) {
        *out = (struct json){.kind = JSON_KIND_ARRAY, .count = now.count};
        out->members = ARENA_ARRAY(arena, struct json_member, now.count);
        for (size_t i = 0; i < now.count; i++) out->members[i].value = *now.values[i];
    } else if (ok) {
        *out = *now.values[0];
    }
    tide__free(now.values);
    tide__free(next.values);
    return ok;
}
