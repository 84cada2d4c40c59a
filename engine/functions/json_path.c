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

static void skip_blanks(struct str text, size_t *at) {
    while (*at < text.len && isspace((unsigned char)text.data[*at])) ++*at;
}

static bool take_integer(struct str text, size_t *at, int64_t *out) {
    bool negative = *at < text.len && text.data[*at] == '-';
    size_t begin = *at += negative;
    int64_t v = 0;
    while (*at < text.len && isdigit((unsigned char)text.data[*at]) && v < INT32_MAX)
        v = v * 10 + text.data[(*at)++] - '0';
    *out = negative ? -v : v;
    return *at > begin;
}

// `'name'` and further names behind commas.
static const char *take_names(struct str text, size_t *at, struct arena *arena, struct json_step *step) {
    *step = (struct json_step){.kind = JSON_STEP_NAME, .names = ARENA_ARRAY(arena, struct str, text.len)};
    for (;;) {
        skip_blanks(text, at);
        char quote = *at < text.len ? text.data[*at] : 0;
        if (quote != '\'' && quote != '"') return "a name in quotes is missing";
        size_t begin = ++*at;
        while (*at < text.len && text.data[*at] != quote) ++*at;
        if (*at == text.len) return "a quote is not closed";
        step->names[step->count++] = (struct str){text.data + begin, (*at)++ - begin};
        skip_blanks(text, at);
        if (*at == text.len || text.data[*at] != ',') break;
        ++*at;
    }
    step->name = step->names[0];
    if (step->count > 1) step->kind = JSON_STEP_NAMES;
    return NULL;
}

// `1`, `1, 2`, `1:3`, `:2` or `-2:`.
static const char *take_indexes(struct str text, size_t *at, struct arena *arena, struct json_step *step) {
    *step = (struct json_step){
        .kind = JSON_STEP_INDEX, .indexes = ARENA_ARRAY(arena, int64_t, text.len), .end = INT64_MAX};
    bool some = take_integer(text, at, &step->index);
    skip_blanks(text, at);
    if (*at < text.len && text.data[*at] == ':') {
        ++*at;
        step->kind = JSON_STEP_SLICE;
        skip_blanks(text, at);
        if (!take_integer(text, at, &step->end)) step->end = INT64_MAX;
        skip_blanks(text, at);
        return NULL;
    }
    if (!some) return "an index or a quoted name is missing behind '['";
    step->indexes[step->count++] = step->index;
    while (*at < text.len && text.data[*at] == ',') {
        ++*at;
        skip_blanks(text, at);
        if (!take_integer(text, at, &step->indexes[step->count++])) return "an index is missing behind ','";
        skip_blanks(text, at);
        step->kind = JSON_STEP_INDEXES;
    }
    return NULL;
}

// `[...]`: indexes, a star or quoted names; *at stands behind the bracket.
static const char *take_bracket(struct str text, size_t *at, struct arena *arena, struct json_step *step) {
    const char *problem = NULL;
    skip_blanks(text, at);
    char c = *at < text.len ? text.data[*at] : 0;
    if (c == '\'' || c == '"') {
        problem = take_names(text, at, arena, step);
    } else if (c == '*') {
        *step = (struct json_step){.kind = JSON_STEP_ALL};
        ++*at;
        skip_blanks(text, at);
    } else {
        problem = take_indexes(text, at, arena, step);
    }
    if (problem != NULL) return problem;
    if (*at == text.len || text.data[*at] != ']') return "a ']' is missing";
    ++*at;
    return NULL;
}

// `.name`, `.['name']`, `.*` or `..name`; *at stands behind the first dot.
static const char *take_name(struct str text, size_t *at, struct arena *arena, struct json_step *step) {
    if (*at < text.len && text.data[*at] == '[') {
        ++*at;
        return take_bracket(text, at, arena, step);
    }
    bool deep = *at < text.len && text.data[*at] == '.';
    size_t begin = *at += deep;
    while (*at < text.len && text.data[*at] != '.' && text.data[*at] != '[') ++*at;
    struct str name = {text.data + begin, *at - begin};
    if (name.len == 0) return "a name is missing behind '.'";
    if (!deep && tide__str_eq_c(name, "length()")) {
        *step = (struct json_step){.kind = JSON_STEP_LENGTH};
        return NULL;
    }
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
    if (text.len == 0) {
        *out_problem = "it must begin with '$'";
        return false;
    }
    if (text.data[0] != '$') {  // a bare name
        char *copy = tide__arena_alloc(arena, text.len + 2);
        memcpy(copy, "$.", 2);
        memcpy(copy + 2, text.data, text.len);
        text = (struct str){copy, text.len + 2};
    }
    out->steps = ARENA_ARRAY(arena, struct json_step, text.len);
    for (size_t at = 1; at < text.len && *out_problem == NULL;) {
        struct json_step *step = &out->steps[out->count++];
        char c = text.data[at++];
        if (c == '[') {
            *out_problem = take_bracket(text, &at, arena, step);
        } else if (c == '.') {
            *out_problem = take_name(text, &at, arena, step);
        } else {
            *out_problem = "'.' or '[' is expected";
        }
        bool many = step->kind == JSON_STEP_ALL || step->kind == JSON_STEP_DEEP || step->kind == JSON_STEP_INDEXES ||
                    step->kind == JSON_STEP_SLICE;
        out->many |= many;
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

static void add_element(struct found *found, const struct json *array, int64_t index) {
    if (index < 0) index += (int64_t)array->count;
    if (index >= 0 && index < (int64_t)array->count) add(found, &array->members[index].value);
}

// An object with these members, as far as there are any.
static const struct json *pick(const struct json *from, const struct json_step *step, struct arena *arena) {
    struct json *object = ARENA_NEW(arena, struct json);
    object->kind = JSON_KIND_OBJECT;
    object->members = ARENA_ARRAY(arena, struct json_member, step->count);
    for (size_t i = 0; i < step->count; i++) {
        const struct json *member = tide__json_member(from, step->names[i]);
        if (member != NULL) object->members[object->count++] = (struct json_member){step->names[i], *member};
    }
    return object;
}

static const struct json *length_of(const struct json *from, struct arena *arena) {
    struct json *length = ARENA_NEW(arena, struct json);
    length->kind = JSON_KIND_NUMBER;
    length->text = tide__str(tide__arena_printf(arena, "%zu", from->count));
    return length;
}

static void step_into(const struct json_step *step, const struct json *from, struct arena *arena, struct found *found) {
    bool array = from->kind == JSON_KIND_ARRAY;
    int64_t count = (int64_t)from->count;
    switch (step->kind) {
    case JSON_STEP_NAME: {
        const struct json *member = tide__json_member(from, step->name);
        if (member != NULL) add(found, member);
        break;
    }
    case JSON_STEP_NAMES:
        if (from->kind == JSON_KIND_OBJECT) add(found, pick(from, step, arena));
        break;
    case JSON_STEP_INDEX:
        if (array) add_element(found, from, step->index);
        break;
    case JSON_STEP_INDEXES:
        for (size_t i = 0; array && i < step->count; i++) add_element(found, from, step->indexes[i]);
        break;
    case JSON_STEP_SLICE: {
        int64_t first = step->index < 0 ? step->index + count : step->index;
        int64_t end = step->end < 0 ? step->end + count : step->end;
        for (int64_t i = first < 0 ? 0 : first; array && i < end && i < count; i++) add_element(found, from, i);
        break;
    }
    case JSON_STEP_LENGTH:
        if (array || from->kind == JSON_KIND_OBJECT) add(found, length_of(from, arena));
        break;
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
        for (size_t i = 0; i < now.count; i++) step_into(&path->steps[s], now.values[i], arena, &next);
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
