// JSON text, one token after the other.
#ifndef TIDE_ENGINE_FORMATS_JSON_SCAN_H
#define TIDE_ENGINE_FORMATS_JSON_SCAN_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

// Deeper texts are refused, as by Jackson.
#define JSON_DEPTH_MAX 1000

enum json_token {
    JSON_NONE,  // before the first token, and behind the last one outside of everything
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_NAME,  // of an object's member
    JSON_STRING,
    JSON_INTEGER,
    JSON_FLOAT,  // a number with a point or an exponent
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_BROKEN,  // no JSON: fault and fault_place say why. It stays so.
};

struct json_scan {
    const char *data;
    size_t len, at;
    enum json_token token;
    size_t start, end;  // of the token's text; of names and strings what is between the quotes
    bool escaped;       // names and strings: there are escapes in it
    // What may come next; private.
    uint8_t expect;
    uint32_t depth;
    uint64_t objects[JSON_DEPTH_MAX / 64 + 1];  // bit i: level i is an object, else an array
    char fault[200];
    size_t fault_place;
};

void tide__json_scan_init(struct json_scan *scan, struct str text);
enum json_token tide__json_next(struct json_scan *scan);
// Behind the value that begins at the current token: the current token is its last then.
enum json_token tide__json_skip(struct json_scan *scan);
// The current token's text: decoded for names and strings (in the arena if there are escapes; a lone surrogate is `?`, as
// Java writes it in UTF-8), as written for numbers and the words, and `{`, `}`, `[`, `]`.
struct str tide__json_text(const struct json_scan *scan, struct arena *arena);
// The value that begins at the current token as compact text, as Jackson's tree prints itself: the last of equal names wins
// but stands in the first one's place, numbers with a point are DOUBLEs, or decimals without trailing zeros if `decimals`.
// False if the text is broken. The current token is the value's last then.
bool tide__json_print_value(struct json_scan *scan, bool decimals, struct arena *arena, struct strbuf *out);
// `text` in quotes.
void tide__json_print_string(struct str text, struct strbuf *out);

#endif
