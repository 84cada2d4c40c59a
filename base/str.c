// Slices, the growing buffer, UTF-8, and the nearest name for "did you mean".
#include "base/str.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NEAREST_NAME_MAX 64  // longer names have no neighbours; bounds the stack of the distance

static unsigned char lower(unsigned char c) {
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
}

struct str tide__str(const char *c_string) {
    assert(c_string != NULL);
    return (struct str){c_string, strlen(c_string)};
}

bool tide__str_eq(struct str a, struct str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool tide__str_eq_c(struct str a, const char *b) {
    return tide__str_eq(a, tide__str(b));
}

bool tide__str_ieq_c(struct str a, const char *b) {
    for (size_t i = 0; i < a.len; i++) {
        if (b[i] == '\0' || lower((unsigned char)a.data[i]) != lower((unsigned char)b[i])) return false;
    }
    return b[a.len] == '\0';
}

int tide__str_cmp(struct str a, struct str b) {
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len == 0 ? 0 : memcmp(a.data, b.data, len);
    if (order != 0) return order;
    return (a.len > b.len) - (a.len < b.len);
}

void tide__strbuf_deinit(struct strbuf *buf) {
    tide__free(buf->data);
    *buf = (struct strbuf){0};
}

void tide__strbuf_clear(struct strbuf *buf) {
    buf->len = 0;
    if (buf->data != NULL) buf->data[0] = '\0';
}

char *tide__strbuf_reserve(struct strbuf *buf, size_t extra) {
    if (__builtin_expect(extra >= buf->cap - buf->len, 0)) {
        size_t needed = 0;
        // An impossible size must reach the allocator as one, not wrapped around.
        if (__builtin_add_overflow(buf->len + 1, extra, &needed)) needed = SIZE_MAX;
        if (needed < 32) needed = 32;
        buf->data = tide__grow(buf->data, &buf->cap, needed, 1);
    }
    return buf->data + buf->len;
}

void tide__strbuf_append(struct strbuf *buf, const void *data, size_t len) {
    char *at = tide__strbuf_reserve(buf, len);
    if (len > 0) memcpy(at, data, len);
    at[len] = '\0';
    buf->len += len;
}

void tide__strbuf_append_c(struct strbuf *buf, const char *c_string) {
    tide__strbuf_append(buf, c_string, strlen(c_string));
}

void tide__strbuf_append_str(struct strbuf *buf, struct str s) {
    tide__strbuf_append(buf, s.data, s.len);
}

void tide__strbuf_append_char(struct strbuf *buf, char c) {
    char *at = tide__strbuf_reserve(buf, 1);
    at[0] = c;
    at[1] = '\0';
    buf->len++;
}

void tide__strbuf_printf(struct strbuf *buf, const char *format, ...) {
    char *at = tide__strbuf_reserve(buf, 0);
    size_t room = buf->cap - buf->len;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(at, room, format, args);
    va_end(args);
    assert(len >= 0);
    if ((size_t)len >= room) {
        at = tide__strbuf_reserve(buf, (size_t)len);
        va_start(args, format);
        vsnprintf(at, (size_t)len + 1, format, args);
        va_end(args);
    }
    buf->len += (size_t)len;
}

struct str tide__strbuf_str(const struct strbuf *buf) {
    return (struct str){buf->data != NULL ? buf->data : "", buf->len};
}

// Bytes of the well-formed sequence at p (RFC 3629: no overlong forms, no surrogates), or 0.
static size_t utf8_sequence(const unsigned char *p, size_t len, uint32_t *out) {
    unsigned char c = p[0];
    size_t need = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (need == 0 || need > len) return 0;
    uint32_t code = need == 1 ? c : need == 2 ? c & 0x1FU : need == 3 ? c & 0x0FU : c & 0x07U;
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (p[i] & 0x3FU);
    }
    if (need == 3 && (code < 0x800 || (code >= 0xD800 && code <= 0xDFFF))) return 0;
    if (need == 4 && (code < 0x10000 || code > 0x10FFFF)) return 0;
    *out = code;
    return need;
}

uint32_t tide__utf8_next(struct str s, size_t *at) {
    assert(*at < s.len);
    uint32_t code = 0xFFFD;
    size_t used = utf8_sequence((const unsigned char *)s.data + *at, s.len - *at, &code);
    if (used == 0) {
        *at += 1;
        return 0xFFFD;
    }
    *at += used;
    return code;
}

// The end of the run of ASCII bytes that starts at `at`.
static size_t skip_ascii(struct str s, size_t at) {
    while (at + 8 <= s.len) {
        uint64_t word = 0;
        memcpy(&word, s.data + at, 8);
        if ((word & UINT64_C(0x8080808080808080)) != 0) break;
        at += 8;
    }
    while (at < s.len && (unsigned char)s.data[at] < 0x80) at++;
    return at;
}

bool tide__utf8_valid(struct str s) {
    size_t at = skip_ascii(s, 0);
    while (at < s.len) {
        uint32_t code = 0;
        size_t used = utf8_sequence((const unsigned char *)s.data + at, s.len - at, &code);
        if (used == 0) return false;
        at = skip_ascii(s, at + used);
    }
    return true;
}

size_t tide__utf8_length(struct str s) {
    size_t at = 0, count = 0;
    while (at < s.len) {
        size_t ascii_end = skip_ascii(s, at);
        count += ascii_end - at;
        at = ascii_end;
        if (at < s.len) {
            tide__utf8_next(s, &at);
            count++;
        }
    }
    return count;
}

// Optimal string alignment: edits and swaps of neighbours. With fold_case, letters are compared without case.
static size_t edit_distance(struct str a, struct str b, bool fold_case) {
    assert(a.len <= NEAREST_NAME_MAX && b.len <= NEAREST_NAME_MAX);
    unsigned rows[3][NEAREST_NAME_MAX + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++) above[j] = (unsigned)j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = (unsigned)i;
        unsigned char ca = (unsigned char)a.data[i - 1];
        if (fold_case) ca = lower(ca);
        for (size_t j = 1; j <= b.len; j++) {
            unsigned char cb = (unsigned char)b.data[j - 1];
            if (fold_case) cb = lower(cb);
            unsigned best = above[j - 1] + (ca != cb);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && ca != cb &&
                           tide__str_ieq_c((struct str){&a.data[i - 2], 1}, (char[]){b.data[j - 1], 0}) &&
                           tide__str_ieq_c((struct str){&a.data[i - 1], 1}, (char[]){b.data[j - 2], 0});
            if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b.len];
}

const char *tide__nearest(struct str name, const char *const *candidates, size_t count) {
    if (name.len == 0 || name.len > NEAREST_NAME_MAX) return NULL;
    size_t limit = name.len / 3 > 1 ? name.len / 3 : 1;
    const char *best = NULL;
    size_t best_score = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == NULL) continue;
        struct str candidate = tide__str(candidates[i]);
        size_t gap = candidate.len > name.len ? candidate.len - name.len : name.len - candidate.len;
        if (candidate.len == 0 || candidate.len > NEAREST_NAME_MAX || gap > limit) continue;
        size_t distance = edit_distance(name, candidate, true);
        // Nothing in common is not near, however short the names are.
        if (distance > limit || (distance > 0 && distance >= name.len)) continue;
        size_t score = distance * (NEAREST_NAME_MAX + 1) + edit_distance(name, candidate, false);
        if (score < best_score) {
            best_score = score;
            best = candidates[i];
        }
    }
    return best;
}
