// Where a block of CSV may be cut: behind the last row end that is not inside quotes, behind an escape or in a comment.
//
// A quote opens a quoted field only as a field's first character, so what counts as one depends on the character before
// it; that one is outside quotes, for the scan runs from the block's first row. Blocks without a quote, the usual case, need
// one memchr and one memrchr. Escapes and comments go through a byte-wise machine: who uses them pays for them.
#include "engine/formats/csv.h"

#include <assert.h>
#include <string.h>

// The end of the last row in data[from, to), where all bytes are outside quotes. A CR ends a row too; one that is the
// last byte may be half of a CR LF unless nothing follows.
static size_t last_row_end(const char *data, size_t from, size_t to, size_t len, bool at_end) {
    const char *newline = memrchr(data + from, '\n', to - from);
    if (newline != NULL) return (size_t)(newline - data) + 1;
    const char *cr = memrchr(data + from, '\r', to - from);
    if (cr != NULL && cr == data + len - 1 && !at_end) {
        cr = memrchr(data + from, '\r', (size_t)(cr - data) - from);
    }
    return cr != NULL ? (size_t)(cr - data) + 1 : 0;
}

// Behind the closing quote of the field that opens at data[at], or len if it does not close.
static size_t quoted_end(const char *data, size_t at, size_t len, char quote, bool at_end) {
    for (at++; at < len;) {
        const char *close = memchr(data + at, quote, len - at);
        if (close == NULL) return len;
        at = (size_t)(close - data) + 1;
        if (at == len) return len;  // open, or at the end of all: no row end follows either way
        if (data[at] != quote) return at;
        at++;
    }
    return len;
}

static size_t split_quoted(const char *data, size_t len, char quote, char delimiter, bool at_end) {
    size_t end = 0, from = 0, look = 0;
    while (look < len) {
        const char *open = memchr(data + look, quote, len - look);
        if (open == NULL) break;
        size_t at = (size_t)(open - data);
        char before = at == 0 ? '\n' : data[at - 1];
        if (before != delimiter && before != '\n' && before != '\r') {
            look = at + 1;
            continue;
        }
        size_t row_end = last_row_end(data, from, at, len, at_end);
        if (row_end > 0) end = row_end;
        from = look = quoted_end(data, at, len, quote, at_end);
    }
    size_t row_end = from < len ? last_row_end(data, from, len, len, at_end) : 0;
    return row_end > 0 ? row_end : end;
}

// With escapes or comments: one byte after the other.
static size_t split_slow(const struct csv_options *options, const char *data, size_t len, bool at_end) {
    enum { ROW_START, FIELD_START, PLAIN, QUOTED, COMMENT } state = ROW_START;
    size_t end = 0;
    for (size_t at = 0; at < len; at++) {
        int c = (unsigned char)data[at];
        if (state == QUOTED) {
            if (c == options->escape && c != options->quote) {
                at++;
            } else if (c == options->quote) {
                if (at + 1 < len && (unsigned char)data[at + 1] == options->quote) {
                    at++;
                } else {
                    state = PLAIN;
                }
            }
            continue;
        }
        if (c == '\n' || c == '\r') {
            state = ROW_START;
            if (c == '\n' || at + 1 < len || at_end) end = at + 1;
            continue;
        }
        if (state == COMMENT) continue;
        if (state == ROW_START && options->allow_comments && c == ' ') continue;
        if (state == ROW_START && options->allow_comments && c == '#') {
            state = COMMENT;
        } else if (state != PLAIN && c == options->quote) {
            state = QUOTED;
        } else if (c == options->escape) {
            at++;
            state = PLAIN;
        } else {
            state = c == (unsigned char)options->delimiter ? FIELD_START : PLAIN;
        }
    }
    return end;
}

size_t tide__csv_split(const struct csv_options *options, const char *data, size_t len, bool at_end) {
    assert(len == 0 || data != NULL);
    if (len == 0) return 0;
    if (options->escape >= 0 || options->allow_comments) return split_slow(options, data, len, at_end);
    if (options->quote < 0 || memchr(data, options->quote, len) == NULL) {
        return last_row_end(data, 0, len, len, at_end);
    }
    return split_quoted(data, len, (char)options->quote, options->delimiter, at_end);
}
