// Writing errors. A message is one line of valid UTF-8 whatever user data it quotes: line ends and other
// control characters are replaced, and what does not fit is cut between code points and ends in "...".
#include "base/error.h"

#include "base/str.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXCERPT_CHARS_MAX    120  // widest window of the source line
#define EXCERPT_CHARS_BEFORE 60   // of them before the place, when there are as many

static const char ellipsis[] = "...";

// Makes `text` one printable line in place. Every replacement is one byte for one byte.
static void clean_line(char *text) {
    struct str s = tide__str(text);
    size_t at = 0;
    while (at < s.len) {
        size_t from = at;
        uint32_t code = tide__utf8_next(s, &at);
        bool invalid = code == 0xFFFD && at - from == 1;
        if (code == '\n' || code == '\r' || code == '\t')
            text[from] = ' ';
        else if (code < 0x20 || code == 0x7F || invalid)
            text[from] = '?';
    }
}

// Replaces the end of a full buffer by "...", not cutting a code point in two.
static void mark_cut(char *text, size_t size) {
    assert(size > sizeof(ellipsis));
    size_t end = size - sizeof(ellipsis);
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) end--;
    memcpy(text + end, ellipsis, sizeof(ellipsis));
}

TIDE_PRINTF(3, 0)
static void print_line(char *text, size_t size, const char *format, va_list args) {
    int len = vsnprintf(text, size, format, args);
    if (len < 0)
        text[0] = '\0';
    else if ((size_t)len >= size)
        mark_cut(text, size);
    clean_line(text);
}

static bool is_open(const tide_error *err) {
    return err != NULL && err->status == TIDE_OK;
}

void tide__error_clear(tide_error *err) {
    if (err == NULL) return;
    err->status = TIDE_OK;
    err->line = err->column = err->length = err->caret = 0;
    err->file[0] = err->message[0] = err->hint[0] = err->excerpt[0] = '\0';
}

tide_status tide__fail(tide_error *err, tide_status status, const char *format, ...) {
    assert(status != TIDE_OK);
    if (!is_open(err)) return status;
    tide__error_clear(err);
    va_list args;
    va_start(args, format);
    print_line(err->message, sizeof(err->message), format, args);
    va_end(args);
    err->status = status;
    return status;
}

tide_status tide__fail_at(tide_error *err, tide_status status, struct source_pos pos, const char *format, ...) {
    assert(status != TIDE_OK);
    if (!is_open(err)) return status;
    tide__error_clear(err);
    va_list args;
    va_start(args, format);
    print_line(err->message, sizeof(err->message), format, args);
    va_end(args);
    err->status = status;
    err->line = pos.line;
    err->column = pos.column;
    err->length = pos.length;
    return status;
}

tide_status tide__fail_hint(tide_error *err, const char *format, ...) {
    if (err == NULL) return TIDE_ERR_RUNTIME;
    if (err->hint[0] == '\0') {
        va_list args;
        va_start(args, format);
        print_line(err->hint, sizeof(err->hint), format, args);
        va_end(args);
    }
    return err->status;
}

tide_status tide__fail_errno(tide_error *err, int error_number, const char *format, ...) {
    if (!is_open(err)) return TIDE_ERR_IO;
    tide__error_clear(err);
    va_list args;
    va_start(args, format);
    print_line(err->message, sizeof(err->message), format, args);
    va_end(args);
    char reason[128];
    // GNU strerror_r: safe with threads, and may return a constant instead of filling the buffer.
    const char *text = strerror_r(error_number, reason, sizeof(reason));
    size_t len = strlen(err->message);
    int more = snprintf(err->message + len, sizeof(err->message) - len, ": %s", text);
    if (more >= 0 && (size_t)more >= sizeof(err->message) - len) {
        mark_cut(err->message, sizeof(err->message));
    }
    err->status = TIDE_ERR_IO;
    return TIDE_ERR_IO;
}

void tide__error_set_file(tide_error *err, const char *file) {
    if (err == NULL || file == NULL || err->file[0] != '\0') return;
    int len = snprintf(err->file, sizeof(err->file), "%s", file);
    if (len >= 0 && (size_t)len >= sizeof(err->file)) mark_cut(err->file, sizeof(err->file));
}

// Line number `line` (from 1) of the text, without its line end; false if there are not so many.
static bool find_line(struct str text, uint32_t line, struct str *out) {
    const char *at = text.data, *end = text.data + text.len;
    for (uint32_t i = 1; i < line; i++) {
        const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (newline == NULL) return false;
        at = newline + 1;
    }
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    const char *line_end = newline != NULL ? newline : end;
    if (line_end > at && line_end[-1] == '\r') line_end--;
    *out = (struct str){at, (size_t)(line_end - at)};
    return true;
}

// Appends the character at line[*at] in its printable form: blank for a tab, '?' for what can't be shown.
static void append_shown(char *excerpt, size_t *len, struct str line, size_t *at) {
    size_t from = *at;
    uint32_t code = tide__utf8_next(line, at);
    bool invalid = code == 0xFFFD && *at - from == 1;
    if (code == '\t') {
        excerpt[(*len)++] = ' ';
    } else if (code < 0x20 || code == 0x7F || invalid) {
        excerpt[(*len)++] = '?';
    } else {
        memcpy(excerpt + *len, line.data + from, *at - from);
        *len += *at - from;
    }
}

void tide__error_set_excerpt(tide_error *err, const char *text, size_t text_len) {
    static_assert(EXCERPT_CHARS_MAX * 4 + 2 * sizeof(ellipsis) <= sizeof((tide_error){0}.excerpt),
                  "a window of the widest characters fits");
    if (err == NULL || err->line == 0 || err->column == 0 || err->excerpt[0] != '\0') return;
    struct str line = {0};
    if (text == NULL || !find_line((struct str){text, text_len}, err->line, &line)) return;

    size_t chars = tide__utf8_length(line);
    size_t place = err->column - 1 < chars ? err->column - 1 : chars;
    size_t first = 0, count = chars;
    if (chars > EXCERPT_CHARS_MAX) {
        count = EXCERPT_CHARS_MAX;
        first = place > EXCERPT_CHARS_BEFORE ? place - EXCERPT_CHARS_BEFORE : 0;
        if (first + count > chars) first = chars - count;
    }
    size_t len = 0, at = 0;
    for (size_t i = 0; i < first; i++) tide__utf8_next(line, &at);
    if (first > 0) {
        memcpy(err->excerpt, ellipsis, sizeof(ellipsis) - 1);
        len = sizeof(ellipsis) - 1;
    }
    err->caret = (uint32_t)(place - first + len);
    for (size_t i = 0; i < count; i++) append_shown(err->excerpt, &len, line, &at);
    if (first + count < chars) {
        memcpy(err->excerpt + len, ellipsis, sizeof(ellipsis) - 1);
        len += sizeof(ellipsis) - 1;
    }
    err->excerpt[len] = '\0';
}
