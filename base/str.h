// Strings are a pointer and a length: user text may hold any byte, also NUL.
#ifndef TIDE_BASE_STR_H
#define TIDE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A borrowed slice of bytes. Not NUL-terminated.
struct str {
    const char *data;
    size_t len;
};

// For printf: "%.*s", STR_ARG(s)
#define STR_ARG(s)       (int)(s).len, (s).data
#define STR_LIT(literal) ((struct str){(literal), sizeof(literal) - 1})

struct str tide__str(const char *c_string);
bool tide__str_eq(struct str a, struct str b);
bool tide__str_eq_c(struct str a, const char *b);
// ASCII case is ignored.
bool tide__str_ieq_c(struct str a, const char *b);
// memcmp order, shorter first: <0, 0, >0.
int tide__str_cmp(struct str a, struct str b);

// A growing byte buffer. {0} is a valid empty one. `data` is NUL-terminated after each call.
struct strbuf {
    char *data;
    size_t len, cap;
};

void tide__strbuf_deinit(struct strbuf *buf);
void tide__strbuf_clear(struct strbuf *buf);
// Room for `extra` more bytes (and a NUL); returns where to write; then add to len.
char *tide__strbuf_reserve(struct strbuf *buf, size_t extra);
void tide__strbuf_append(struct strbuf *buf, const void *data, size_t len);
void tide__strbuf_append_c(struct strbuf *buf, const char *c_string);
void tide__strbuf_append_str(struct strbuf *buf, struct str s);
void tide__strbuf_append_char(struct strbuf *buf, char c);
void tide__strbuf_printf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct str tide__strbuf_str(const struct strbuf *buf);

// UTF-8. Decodes one code point at data[*at], advances *at by at least 1; invalid bytes give U+FFFD.
uint32_t tide__utf8_next(struct str s, size_t *at);
bool tide__utf8_valid(struct str s);
// Code points in s (an invalid byte counts as one).
size_t tide__utf8_length(struct str s);

// The candidate nearest to `name` (Damerau-Levenshtein, case counts a little), or NULL if none is near.
const char *tide__nearest(struct str name, const char *const *candidates, size_t count);

#endif
