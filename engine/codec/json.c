// A JSON reader with one pass and a depth limit. See engine/codec/json.h.
#include "engine/codec/json.h"

#include "base/alloc.h"

#include <string.h>

enum { DEPTH_MAX = 1000 };

struct reader {
    struct str text;
    size_t at;
    size_t depth;
    struct arena *arena;
    const char *problem;
};

static bool fail(struct reader *r, const char *problem) {
    if (r->problem == NULL) r->problem = problem;
    return false;
}

static void skip_blanks(struct reader *r) {
    while (r->at < r->text.len && strchr(" \t\r\n", r->text.data[r->at]) != NULL && r->text.data[r->at] != 0) r->at++;
}

static char peek(const struct reader *r) {
    return r->at < r->text.len ? r->text.data[r->at] : 0;
}

static bool take_word(struct reader *r, const char *word) {
    size_t len = strlen(word);
    if (r->text.len - r->at < len || memcmp(r->text.data + r->at, word, len) != 0) return fail(r, "unknown word");
    r->at += len;
    return true;
}

// --- strings -------------------------------------------------------------------------------------------------------

static bool take_hex4(struct reader *r, uint32_t *out) {
    uint32_t v = 0;
    if (r->text.len - r->at < 4) return fail(r, "a \\u escape needs four digits");
    for (int i = 0; i < 4; i++) {
        char c = r->text.data[r->at++];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return fail(r, "a \\u escape needs four digits");
        v = v << 4 | (uint32_t)digit;
    }
    *out = v;
    return true;
}

static size_t put_utf8(uint32_t c, char *out) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3, n = 0;
    out[n++] = (char)((0xFF00 >> (more + 1) & 0xFF) | c >> (6 * more));
    while (more-- > 0) out[n++] = (char)(0x80 | (c >> (6 * more) & 0x3F));
    return n;
}

// After `\`. At most as many bytes as the escape has.
static bool take_escape(struct reader *r, char *out, size_t *n) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = peek(r);
    r->at++;
    if (c == 'u') {
        uint32_t high = 0, low = 0;
        if (!take_hex4(r, &high)) return false;
        bool pair = high >= 0xD800 && high < 0xDC00 && r->text.len - r->at >= 6 && r->text.data[r->at] == '\\' &&
                    r->text.data[r->at + 1] == 'u';
        if (pair) {
            r->at += 2;
            if (!take_hex4(r, &low)) return false;
            bool good = low >= 0xDC00 && low < 0xE000;
            high = good ? 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
        } else if (high >= 0xD800 && high < 0xE000) {
            high = 0xFFFD;
        }
        *n += put_utf8(high, out + *n);
        return true;
    }
    const char *known = c == 0 ? NULL : strchr(from, c);
    if (known == NULL) return fail(r, "unknown escape");
    out[(*n)++] = to[known - from];
    return true;
}

static bool take_string(struct reader *r, struct str *out) {
    r->at++;  // the quote
    size_t begin = r->at;
    while (r->at < r->text.len && r->text.data[r->at] != '"' && r->text.data[r->at] != '\\') {
        if ((unsigned char)r->text.data[r->at] < ' ') return fail(r, "a control character in a string must be escaped");
        r->at++;
    }
    if (r->at == r->text.len) return fail(r, "a string is not closed");
    if (r->text.data[r->at] == '"') {
        *out = (struct str){r->text.data + begin, r->at - begin};
        r->at++;
        return true;
    }
    const char *end = memchr(r->text.data + r->at, '"', r->text.len - r->at);
    size_t room = end == NULL ? 0 : r->text.len - begin;
    char *copy = tide__arena_alloc(r->arena, room);
    size_t n = r->at - begin;
    if (end != NULL) memcpy(copy, r->text.data + begin, n);
    while (end != NULL && r->at < r->text.len) {
        char c = r->text.data[r->at++];
        if (c == '"') {
            *out = (struct str){copy, n};
            return true;
        }
        if ((unsigned char)c < ' ') return fail(r, "a control character in a string must be escaped");
        if (c != '\\') {
            copy[n++] = c;
        } else if (!take_escape(r, copy, &n)) {
            return false;
        }
    }
    return fail(r, "a string is not closed");
}

// --- values --------------------------------------------------------------------------------------------------------

static bool take_digits(struct reader *r) {
    size_t begin = r->at;
    while (peek(r) >= '0' && peek(r) <= '9') r->at++;
    return r->at > begin || fail(r, "a digit is missing");
}

static bool take_number(struct reader *r, struct str *out) {
    size_t begin = r->at;
    if (peek(r) == '-') r->at++;
    if (peek(r) == '0') {
        r->at++;
        if (peek(r) >= '0' && peek(r) <= '9') return fail(r, "a number begins with 0");
    } else if (!take_digits(r)) {
        return false;
    }
    if (peek(r) == '.') {
        r->at++;
        if (!take_digits(r)) return false;
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        if (peek(r) == '+' || peek(r) == '-') r->at++;
        if (!take_digits(r)) return false;
    }
    *out = (struct str){r->text.data + begin, r->at - begin};
    return true;
}

static bool take_value(struct reader *r, struct json *out);

// Adds a member, or gives the one with this name.
static struct json_member *add_member(struct json_member **members, size_t *count, size_t *capacity, bool named,
                                      struct str name) {
    for (size_t i = 0; named && i < *count; i++) {
        if (tide__str_eq((*members)[i].name, name)) return &(*members)[i];
    }
    *members = tide__grow(*members, capacity, *count + 1, sizeof **members);
    (*members)[*count] = (struct json_member){.name = name};
    return &(*members)[(*count)++];
}

static bool take_members(struct reader *r, bool object, struct json_member **members, size_t *count) {
    char close = object ? '}' : ']';
    size_t capacity = 0;
    r->at++;
    skip_blanks(r);
    if (peek(r) == close) return r->at++, true;
    for (;;) {
        struct str name = {0};
        struct json value;
        skip_blanks(r);
        if (object) {
            if (peek(r) != '"') return fail(r, "a member's name in quotes is missing");
            if (!take_string(r, &name)) return false;
            skip_blanks(r);
            if (peek(r) != ':') return fail(r, "a ':' is missing");
            r->at++;
        }
        if (!take_value(r, &value)) return false;
        add_member(members, count, &capacity, object, name)->value = value;
        skip_blanks(r);
        if (peek(r) == close) return r->at++, true;
        if (peek(r) != ',') return fail(r, object ? "a ',' or '}' is missing" : "a ',' or ']' is missing");
        r->at++;
    }
}

static bool take_container(struct reader *r, struct json *out) {
    bool object = peek(r) == '{';
    if (++r->depth > DEPTH_MAX) return fail(r, "it is nested too deeply");
    struct json_member *members = NULL;
    size_t count = 0;
    bool ok = take_members(r, object, &members, &count);
    *out = (struct json){.kind = object ? JSON_KIND_OBJECT : JSON_KIND_ARRAY, .count = ok ? count : 0};
    if (ok && count > 0) {
        out->members = tide__arena_alloc(r->arena, count * sizeof *members);
        memcpy(out->members, members, count * sizeof *members);
    }
    tide__free(members);
    r->depth--;
    return ok;
}

static bool take_value(struct reader *r, struct json *out) {
    *out = (struct json){0};
    skip_blanks(r);
    char c = peek(r);
    switch (c) {
    case '{':
    case '[': return take_container(r, out);
    case '"': out->kind = JSON_KIND_STRING; return take_string(r, &out->text);
    case 't': *out = (struct json){.kind = JSON_KIND_BOOLEAN, .boolean = true}; return take_word(r, "true");
    case 'f': out->kind = JSON_KIND_BOOLEAN; return take_word(r, "false");
    case 'n': return take_word(r, "null");
    default: break;
    }
    if (c != '-' && (c < '0' || c > '9'))
        return fail(r, r->at == r->text.len ? "a value is missing" : "this is no value");
    out->kind = JSON_KIND_NUMBER;
    return take_number(r, &out->text);
}

bool tide__json_parse(struct str text, struct arena *arena, struct json *out, const char **out_problem,
                      size_t *out_at) {
    struct reader r = {.text = text, .arena = arena};
    bool ok = take_value(&r, out);
    skip_blanks(&r);
    if (ok && r.at < text.len) ok = fail(&r, "something follows the value");
    *out_problem = r.problem;
    *out_at = r.at;
    return ok;
}

bool tide__json_parse_first(struct str text, struct arena *arena, struct json *out, const char **out_problem,
                            size_t *out_at) {
    struct reader r = {.text = text, .arena = arena};
    bool ok = take_value(&r, out);
    *out_problem = r.problem;
    *out_at = r.at;
    return ok;
}

// --- printing ------------------------------------------------------------------------------------------------------

void tide__json_quote(struct str text, struct strbuf *out) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    tide__strbuf_append_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        const char *special = c == 0 ? NULL : strchr(from, c);
        if (special != NULL) {
            tide__strbuf_append_char(out, '\\');
            tide__strbuf_append_char(out, to[special - from]);
        } else if ((unsigned char)c < ' ') {
            tide__strbuf_printf(out, "\\u%04X", (unsigned)c);
        } else {
            tide__strbuf_append_char(out, c);
        }
    }
    tide__strbuf_append_char(out, '"');
}

void tide__json_print_number(struct str number, struct strbuf *out) {
    struct strbuf digits = {0};
    size_t i = 0;
    int64_t scale = 0, exponent = 0;
    bool negative = number.len > 0 && number.data[0] == '-', fraction = false, scaled = false, down = false;
    for (i += negative; i < number.len; i++) {
        char c = number.data[i];
        if (c == '.') {
            fraction = true;
        } else if (c == 'e' || c == 'E') {
            scaled = true;
        } else if (scaled && (c == '+' || c == '-')) {
            down = c == '-';
        } else if (scaled) {
            if (exponent < INT32_MAX) exponent = exponent * 10 + (c - '0');
        } else {
            if (digits.len > 0 || c != '0') tide__strbuf_append_char(&digits, c);
            scale += fraction;
        }
    }
    if (digits.len == 0) tide__strbuf_append_char(&digits, '0');
    scale -= down ? -exponent : exponent;
    int64_t count = (int64_t)digits.len, adjusted = count - 1 - scale;
    if (scale >= 0 && adjusted >= -6) {
        tide__strbuf_deinit(&digits);
        if (!scaled) {
            tide__strbuf_append_str(out, number);
            return;
        }
        scaled = false;
        // Written with an exponent, shown without: as digits and a point.
        struct strbuf plain = {0};
        for (size_t k = negative; k < number.len && number.data[k] != 'e' && number.data[k] != 'E'; k++)
            if (number.data[k] != '.') tide__strbuf_append_char(&plain, number.data[k]);
        size_t zeros = 0;
        while (zeros + 1 < plain.len && plain.data[zeros] == '0') zeros++;
        struct str rest = {plain.data + zeros, plain.len - zeros};
        if (negative) tide__strbuf_append_char(out, '-');
        for (int64_t k = (int64_t)rest.len; k <= scale; k++) {
            tide__strbuf_append_char(out, '0');
            if (k == (int64_t)rest.len) tide__strbuf_append_char(out, '.');
        }
        for (size_t k = 0; k < rest.len; k++) {
            if (scale > 0 && k > 0 && (int64_t)(rest.len - k) == scale) tide__strbuf_append_char(out, '.');
            tide__strbuf_append_char(out, rest.data[k]);
        }
        tide__strbuf_deinit(&plain);
        return;
    }
    if (negative) tide__strbuf_append_char(out, '-');
    tide__strbuf_append_char(out, digits.data[0]);
    if (count > 1) tide__strbuf_append_char(out, '.');
    tide__strbuf_append(out, digits.data + 1, digits.len - 1);
    if (adjusted != 0) tide__strbuf_printf(out, "E%+lld", (long long)adjusted);
    tide__strbuf_deinit(&digits);
}

// The member whose name comes next behind `last` (NULL: the first of all).
static const struct json_member *next_member(const struct json *object, const struct json_member *last) {
    const struct json_member *next = NULL;
    for (size_t i = 0; i < object->count; i++) {
        const struct json_member *m = &object->members[i];
        if (last != NULL && tide__str_cmp(m->name, last->name) <= 0) continue;
        if (next == NULL || tide__str_cmp(m->name, next->name) < 0) next = m;
    }
    return next;
}

void tide__json_print(const struct json *json, struct strbuf *out) {
    switch (json->kind) {
    case JSON_KIND_NULL: tide__strbuf_append_c(out, "null"); break;
    case JSON_KIND_BOOLEAN: tide__strbuf_append_c(out, json->boolean ? "true" : "false"); break;
    case JSON_KIND_NUMBER: tide__json_print_number(json->text, out); break;
    case JSON_KIND_STRING: tide__json_quote(json->text, out); break;
    case JSON_KIND_ARRAY:
        tide__strbuf_append_char(out, '[');
        for (size_t i = 0; i < json->count; i++) {
            if (i > 0) tide__strbuf_append_char(out, ',');
            tide__json_print(&json->members[i].value, out);
        }
        tide__strbuf_append_char(out, ']');
        break;
    case JSON_KIND_OBJECT: {
        const struct json_member *m = next_member(json, NULL);
        tide__strbuf_append_char(out, '{');
        for (bool first = true; m != NULL; m = next_member(json, m), first = false) {
            if (!first) tide__strbuf_append_char(out, ',');
            tide__json_quote(m->name, out);
            tide__strbuf_append_char(out, ':');
            tide__json_print(&m->value, out);
        }
        tide__strbuf_append_char(out, '}');
        break;
    }
    }
}

const struct json *tide__json_member(const struct json *object, struct str name) {
    if (object->kind != JSON_KIND_OBJECT) return NULL;
    for (size_t i = 0; i < object->count; i++) {
        if (tide__str_eq(object->members[i].name, name)) return &object->members[i].value;
    }
    return NULL;
}
