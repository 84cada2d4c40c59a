// JSON text as a tree, and back to compact text.
#ifndef TIDE_ENGINE_CODEC_JSON_H
#define TIDE_ENGINE_CODEC_JSON_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_BOOLEAN,
    JSON_KIND_NUMBER,
    JSON_KIND_STRING,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT
};

struct json_member;
struct json {
    enum json_kind kind;
    bool boolean;
    struct str text;  // a number as written; a string's characters
    size_t count;     // of an array's or object's members
    struct json_member *members;
};
struct json_member {
    struct str name;  // of an object's member
    struct json value;
};

// Reads one value that is all of the text but blanks. Of equal names the last value counts. False: *out_problem
// says what is wrong, *out_at where. Texts without escapes point into `text`.
bool tide__json_parse(struct str text, struct arena *arena, struct json *out, const char **out_problem, size_t *out_at);
// The same, but what follows the value does not matter, as in Flink's functions.
bool tide__json_parse_first(struct str text, struct arena *arena, struct json *out, const char **out_problem,
                            size_t *out_at);
// A number as Java's BigDecimal shows it: 1e2 is 1E+2.
void tide__json_print_number(struct str number, struct strbuf *out);
// Compact, members in the order of their names.
void tide__json_print(const struct json *json, struct strbuf *out);
// "text" with escapes, in quotes.
void tide__json_quote(struct str text, struct strbuf *out);
// NULL if the object has no such member.
const struct json *tide__json_member(const struct json *object, struct str name);

#endif
