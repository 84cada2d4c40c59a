// A pull parser for JSON: one pass, no tree, no allocation but for texts with escapes.
//
// Why not a library: the results must be Jackson's to the digit and to the duplicate. Debian's C libraries make a tree in which
// of equal names the last one has won, numbers beyond 64 bits and all fractions have become doubles, and a value no longer
// knows where it stood, so that neither DECIMAL(38, 10) nor `file:line:column` nor Flink's way with names that come twice can be
// had from them. What is taken for JSON is what Jackson takes in Flink's configuration: strict, but for control
// characters inside strings. Strings are checked when they are passed, decoded when somebody asks.
#include "engine/formats/json_scan.h"

#include <assert.h>
#include <emmintrin.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { EXPECT_ROOT, EXPECT_VALUE, EXPECT_FIRST_ELEMENT, EXPECT_FIRST_NAME, EXPECT_NAME, EXPECT_COLON, EXPECT_COMMA };

void tide__json_scan_init(struct json_scan *scan, struct str text) {
    scan->data = text.data;
    scan->len = text.len;
    scan->at = scan->start = scan->end = 0;
    scan->token = JSON_NONE;
    scan->escaped = false;
    scan->expect = EXPECT_ROOT;
    scan->depth = 0;
    scan->fault[0] = '\0';
    scan->fault_place = 0;
}

// --- faults -----------------------------------------------------------------------------------------------------

static enum json_token broken(struct json_scan *scan, size_t place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum json_token broken(struct json_scan *scan, size_t place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(scan->fault, sizeof(scan->fault), format, args);
    va_end(args);
    for (char *c = scan->fault; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') *c = '?';
    }
    scan->fault_place = place;
    return scan->token = JSON_BROKEN;
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool in_object(const struct json_scan *scan) {
    uint32_t level = scan->depth - 1;
    return scan->depth > 0 && (scan->objects[level / 64] >> (level % 64) & 1);
}

// Something else stands at scan->at than what may stand there.
static enum json_token unexpected(struct json_scan *scan, const char *expected) {
    size_t from = scan->at, to = from;
    if (from >= scan->len) {
        if (scan->depth == 0) return broken(scan, from, "the JSON text ends here, expected %s", expected);
        return broken(scan, from, "the JSON text ends inside an %s, expected %s", in_object(scan) ? "object" : "array",
                      expected);
    }
    while (to < scan->len && to - from < 40 && is_word(scan->data[to])) to++;
    if (to == from) tide__utf8_next((struct str){scan->data, scan->len}, &to);
    while (to > from + 1 && to < scan->len && ((unsigned char)scan->data[to] & 0xC0) == 0x80) to--;
    struct str found = {scan->data + from, to - from};
    if (!tide__utf8_valid(found))
        return broken(scan, from, "byte 0x%02x is not UTF-8", (unsigned char)scan->data[from]);
    return broken(scan, from, "%s%.*s%s is unexpected in JSON here, expected %s", found.data[0] == '"' ? "'" : "\"",
                  STR_ARG(found), found.data[0] == '"' ? "'" : "\"", expected);
}

// --- strings ----------------------------------------------------------------------------------------------------

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

// Four hexadecimal digits at `at`; -1 if there are none.
static int hex4(const char *data, size_t at, size_t len) {
    if (at + 4 > len) return -1;
    int value = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = hex_value(data[at + i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

// From `at` to the next quote or backslash; *high: a byte that is not ASCII was passed.
static size_t plain_run(const char *data, size_t at, size_t len, bool *high) {
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; at + 16 <= len; at += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(data + at));
        unsigned stops = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)));
        unsigned highs = (unsigned)_mm_movemask_epi8(v);
        if (stops != 0) {
            unsigned n = (unsigned)__builtin_ctz(stops);
            *high |= (highs & ((1u << n) - 1)) != 0;
            return at + n;
        }
        *high |= highs != 0;
    }
    for (; at < len && data[at] != '"' && data[at] != '\\'; at++) *high |= (unsigned char)data[at] >= 0x80;
    return at;
}

static size_t bad_utf8_at(struct str text) {
    for (size_t at = 0; at < text.len;) {
        size_t place = at;
        uint32_t c = tide__utf8_next(text, &at);
        if (c == 0xFFFD && !(at - place == 3 && memcmp(text.data + place, "\xEF\xBF\xBD", 3) == 0)) return place;
    }
    return text.len;
}

// The string whose opening quote is at scan->at.
static enum json_token string_token(struct json_scan *scan, enum json_token token) {
    const char *data = scan->data;
    size_t len = scan->len, open = scan->at, at = open + 1;
    bool high = false;
    scan->escaped = false;
    for (;;) {
        at = plain_run(data, at, len, &high);
        if (at == len) return broken(scan, open, "a string begins here and is never closed");
        if (data[at] == '"') break;
        scan->escaped = true;
        char c = at + 1 < len ? data[at + 1] : '\0';
        if (c == 'u') {
            if (hex4(data, at + 2, len) < 0) return broken(scan, at, "\\u needs four hexadecimal digits");
            at += 6;
        } else if (c != '\0' && strchr("\"\\/bfnrt", c) != NULL) {
            at += 2;
        } else {
            return broken(scan, at, "an escape JSON does not have; a backslash is written \\\\");
        }
    }
    scan->start = open + 1;
    scan->end = at;
    struct str text = {data + open + 1, at - open - 1};
    if (high && !tide__utf8_valid(text)) {
        size_t place = open + 1 + bad_utf8_at(text);
        return broken(scan, place, "byte 0x%02x is not UTF-8", (unsigned char)data[place]);
    }
    scan->at = at + 1;
    return scan->token = token;
}

static char *put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

// The character of `\uXXXX` at *at, two of them for one beyond 16 bits.
static uint32_t unicode_escape(struct str text, size_t *at) {
    uint32_t c = (uint32_t)hex4(text.data, *at + 2, text.len);
    *at += 6;
    if (c < 0xD800 || c > 0xDFFF) return c;
    if (c > 0xDBFF || *at + 6 > text.len || text.data[*at] != '\\' || text.data[*at + 1] != 'u') return '?';
    uint32_t low = (uint32_t)hex4(text.data, *at + 2, text.len);
    if (low < 0xDC00 || low > 0xDFFF) return '?';
    *at += 6;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

static struct str decode(struct str text, struct arena *arena) {
    char *copy = tide__arena_alloc(arena, text.len + 1), *out = copy;  // decoding never lengthens
    for (size_t at = 0; at < text.len;) {
        if (text.data[at] != '\\') {
            *out++ = text.data[at++];
            continue;
        }
        char c = text.data[at + 1];
        if (c == 'u') {
            out = put_utf8(out, unicode_escape(text, &at));
            continue;
        }
        static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
        const char *name = strchr(names, c);
        *out++ = name != NULL ? values[name - names] : c;
        at += 2;
    }
    assert((size_t)(out - copy) <= text.len);
    return (struct str){copy, (size_t)(out - copy)};
}

struct str tide__json_text(const struct json_scan *scan, struct arena *arena) {
    struct str text = {scan->data + scan->start, scan->end - scan->start};
    bool is_string = scan->token == JSON_NAME || scan->token == JSON_STRING;
    return is_string && scan->escaped ? decode(text, arena) : text;
}

// --- numbers and words ------------------------------------------------------------------------------------------

static size_t digits_end(const struct json_scan *scan, size_t at) {
    while (at < scan->len && scan->data[at] >= '0' && scan->data[at] <= '9') at++;
    return at;
}

static enum json_token number_token(struct json_scan *scan) {
    size_t start = scan->at, at = start + (scan->data[start] == '-'), end = digits_end(scan, at);
    enum json_token token = JSON_INTEGER;
    if (end == at) {
        scan->at = at;
        return unexpected(scan, "a digit");
    }
    if (scan->data[at] == '0' && end > at + 1) return broken(scan, start, "a JSON number may not begin with 0");
    if (end < scan->len && scan->data[end] == '.') {
        token = JSON_FLOAT;
        at = end + 1;
        end = digits_end(scan, at);
    }
    if (end > at && end < scan->len && (scan->data[end] == 'e' || scan->data[end] == 'E')) {
        token = JSON_FLOAT;
        at = end + 1;
        if (at < scan->len && (scan->data[at] == '+' || scan->data[at] == '-')) at++;
        end = digits_end(scan, at);
    }
    if (end == at) {
        scan->at = at;
        return unexpected(scan, "a digit");
    }
    scan->start = start;
    scan->end = scan->at = end;
    return scan->token = token;
}

static const char a_value[] = "a string in double quotes, a number, an object, an array, true, false or null";

static enum json_token word_token(struct json_scan *scan, const char *word, enum json_token token) {
    size_t len = strlen(word), at = scan->at;
    bool is_it = scan->len - at >= len && memcmp(scan->data + at, word, len) == 0;
    if (!is_it || (at + len < scan->len && is_word(scan->data[at + len]))) return unexpected(scan, a_value);
    scan->start = at;
    scan->end = scan->at = at + len;
    return scan->token = token;
}

// --- structure --------------------------------------------------------------------------------------------------

static enum json_token open_level(struct json_scan *scan, bool object) {
    if (scan->depth == JSON_DEPTH_MAX) {
        return broken(scan, scan->at, "JSON is nested more than %d deep here", JSON_DEPTH_MAX);
    }
    uint64_t bit = UINT64_C(1) << (scan->depth % 64);
    if (object) {
        scan->objects[scan->depth / 64] |= bit;
    } else {
        scan->objects[scan->depth / 64] &= ~bit;
    }
    scan->depth++;
    scan->expect = object ? EXPECT_FIRST_NAME : EXPECT_FIRST_ELEMENT;
    scan->start = scan->at;
    scan->end = ++scan->at;
    return scan->token = object ? JSON_OBJECT : JSON_ARRAY;
}

static enum json_token close_level(struct json_scan *scan, enum json_token token) {
    assert(scan->depth > 0);
    scan->depth--;
    scan->expect = scan->depth > 0 ? EXPECT_COMMA : EXPECT_ROOT;
    scan->start = scan->at;
    scan->end = ++scan->at;
    return scan->token = token;
}

static enum json_token value_token(struct json_scan *scan) {
    char c = scan->data[scan->at];
    if (c == '{') return open_level(scan, true);
    if (c == '[') return open_level(scan, false);
    scan->expect = scan->depth > 0 ? EXPECT_COMMA : EXPECT_ROOT;
    switch (c) {
    case '"': return string_token(scan, JSON_STRING);
    case 't': return word_token(scan, "true", JSON_TRUE);
    case 'f': return word_token(scan, "false", JSON_FALSE);
    case 'n': return word_token(scan, "null", JSON_NULL);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return number_token(scan);
    return unexpected(scan, a_value);
}

static void skip_blanks(struct json_scan *scan) {
    const char *data = scan->data;
    size_t at = scan->at;
    while (at < scan->len && (data[at] == ' ' || data[at] == '\t' || data[at] == '\r' || data[at] == '\n')) at++;
    scan->at = at;
}

static enum json_token name_token(struct json_scan *scan) {
    if (scan->at >= scan->len || scan->data[scan->at] != '"') {
        return unexpected(scan,
                          scan->expect == EXPECT_NAME ? "a name in double quotes" : "a name in double quotes or }");
    }
    scan->expect = EXPECT_COLON;
    return string_token(scan, JSON_NAME);
}

enum json_token tide__json_next(struct json_scan *scan) {
    if (scan->token == JSON_BROKEN) return JSON_BROKEN;
    skip_blanks(scan);
    char c = scan->at < scan->len ? scan->data[scan->at] : '\0';
    if (scan->expect == EXPECT_COLON) {
        if (c != ':') return unexpected(scan, "a colon");
        scan->at++;
        skip_blanks(scan);
        scan->expect = EXPECT_VALUE;
    } else if (scan->expect == EXPECT_COMMA) {
        bool object = in_object(scan);
        if (c == (object ? '}' : ']')) return close_level(scan, object ? JSON_OBJECT_END : JSON_ARRAY_END);
        if (c != ',') return unexpected(scan, object ? "a comma or }" : "a comma or ]");
        scan->at++;
        skip_blanks(scan);
        scan->expect = object ? EXPECT_NAME : EXPECT_VALUE;
    } else if (scan->expect == EXPECT_FIRST_NAME && c == '}') {
        return close_level(scan, JSON_OBJECT_END);
    } else if (scan->expect == EXPECT_FIRST_ELEMENT && c == ']') {
        return close_level(scan, JSON_ARRAY_END);
    }
    if (scan->expect == EXPECT_NAME || scan->expect == EXPECT_FIRST_NAME) return name_token(scan);
    if (scan->at < scan->len) return value_token(scan);
    if (scan->expect == EXPECT_ROOT) {
        scan->start = scan->end = scan->at;
        return scan->token = JSON_NONE;
    }
    return unexpected(scan, a_value);
}

enum json_token tide__json_skip(struct json_scan *scan) {
    if (scan->token != JSON_OBJECT && scan->token != JSON_ARRAY) return scan->token;
    uint32_t outside = scan->depth - 1;
    while (scan->depth > outside && scan->token != JSON_BROKEN) tide__json_next(scan);
    return scan->token;
}
