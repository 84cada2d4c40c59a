// Regular expressions through ICU's C API. See engine/functions/regex.h.
//
// Java's \\d, \\s, \\w and POSIX classes are ASCII, ICU's are not: they are written out before ICU sees the pattern.
//
// ICU works on UTF-16. The text is converted, and the byte offset of each of its units is kept to translate matches
// back. The library stays loaded until the process ends: unloading it would make every batch pay for loading it
// again.
#include "engine/functions/regex.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ICU_OLDEST = 50, ICU_NEWEST = 99 };

struct icu {
    void *(*open)(const uint16_t *pattern, int32_t len, uint32_t flags, void *parse_error, int *status);
    void (*close)(void *handle);
    void (*set_text)(void *handle, const uint16_t *text, int32_t len, int *status);
    int8_t (*matches)(void *handle, int32_t start, int *status);
    int8_t (*find)(void *handle, int32_t start, int *status);
    int8_t (*find_next)(void *handle, int *status);
    int32_t (*group_count)(void *handle, int *status);
    int32_t (*start)(void *handle, int32_t group, int *status);
    int32_t (*end)(void *handle, int32_t group, int *status);
};

struct regex {
    struct icu icu;
    void *handle;
    uint16_t *units;    // of the text
    uint32_t *offsets;  // byte offset of each unit, and of the end
    size_t unit_capacity, offset_capacity;
};

static bool load(void *library, const char *name, int version, void *out) {
    char versioned[64];
    snprintf(versioned, sizeof versioned, "uregex_%s_%d", name, version);
    void *function = dlsym(library, versioned);
    if (function == NULL) return false;
    memcpy(out, &function, sizeof function);
    return true;
}

static bool load_icu(struct icu *icu) {
    for (int version = ICU_NEWEST; version >= ICU_OLDEST; version--) {
        char path[64];
        snprintf(path, sizeof path, "libicui18n.so.%d", version);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == NULL) continue;
        if (load(library, "open", version, &icu->open) && load(library, "close", version, &icu->close) &&
            load(library, "setText", version, &icu->set_text) && load(library, "matches", version, &icu->matches) &&
            load(library, "find", version, &icu->find) && load(library, "findNext", version, &icu->find_next) &&
            load(library, "groupCount", version, &icu->group_count) && load(library, "start", version, &icu->start) &&
            load(library, "end", version, &icu->end)) {
            return true;
        }
        dlclose(library);
    }
    return false;
}

// Converts to UTF-16; returns the number of units.
static size_t convert(struct regex *regex, struct str text) {
    regex->units = tide__grow(regex->units, &regex->unit_capacity, text.len + 1, sizeof *regex->units);
    regex->offsets = tide__grow(regex->offsets, &regex->offset_capacity, text.len + 2, sizeof *regex->offsets);
    size_t n = 0;
    for (size_t at = 0; at < text.len;) {
        uint32_t begin = (uint32_t)at;
        uint32_t c = tide__utf8_next(text, &at);
        if (c >= 0x10000) {
            regex->units[n] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
            regex->offsets[n++] = begin;
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        regex->units[n] = (uint16_t)c;
        regex->offsets[n++] = begin;
    }
    regex->offsets[n] = (uint32_t)text.len;
    return n;
}

// What a class of Java's stands for inside of brackets; NULL: ICU means the same.
static const char *ascii_class(struct str name) {
    static const char *const classes[][2] = {
        {"d", "0-9"},
        {"s", "\\t\\n\\x0B\\f\\r\\x20"},
        {"w", "a-zA-Z_0-9"},
        {"p{lower}", "a-z"},
        {"p{upper}", "A-Z"},
        {"p{ascii}", "\\x00-\\x7F"},
        {"p{alpha}", "a-zA-Z"},
        {"p{digit}", "0-9"},
        {"p{alnum}", "a-zA-Z0-9"},
        {"p{punct}", "\\x21-\\x2F\\x3A-\\x40\\x5B-\\x60\\x7B-\\x7E"},
        {"p{graph}", "\\x21-\\x7E"},
        {"p{print}", "\\x20-\\x7E"},
        {"p{blank}", "\\x20\\t"},
        {"p{cntrl}", "\\x00-\\x1F\\x7F"},
        {"p{xdigit}", "0-9a-fA-F"},
        {"p{space}", "\\t\\n\\x0B\\f\\r\\x20"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (tide__str_ieq_c(name, classes[i][0])) return classes[i][1];
    }
    return NULL;
}

// Bytes of the class behind a backslash at pattern[at]: `d`, `p{Alpha}`, ...
static size_t class_length(struct str pattern, size_t at) {
    char c = pattern.data[at];
    if (c != 'p' && c != 'P') return 1;
    const char *end = memchr(pattern.data + at, '}', pattern.len - at);
    return end == NULL ? 1 : (size_t)(end - pattern.data) + 1 - at;
}

static void append_escape(struct str pattern, size_t *at, struct strbuf *out) {
    char first = pattern.data[*at + 1];
    struct str name = {pattern.data + *at + 1, class_length(pattern, *at + 1)};
    const char *ascii = first != 0 && strchr("dswDSWpP", first) != NULL ? ascii_class(name) : NULL;
    if (ascii == NULL) {
        tide__strbuf_append(out, pattern.data + *at, 1 + name.len);
    } else {
        tide__strbuf_printf(out, "[%s%s]", first >= 'a' ? "" : "^", ascii);
    }
    *at += name.len;
}

static void java_pattern(struct str pattern, struct strbuf *out) {
    if (pattern.len == 0) tide__strbuf_append_c(out, "(?:)");
    for (size_t at = 0; at < pattern.len; at++) {
        bool escape = pattern.data[at] == '\\' && at + 1 < pattern.len;
        if (escape && pattern.data[at + 1] == 'Q') {  // quoted up to \E
            size_t end = at + 3;
            while (end < pattern.len && !(pattern.data[end - 1] == '\\' && pattern.data[end] == 'E')) end++;
            size_t stop = end < pattern.len ? end + 1 : pattern.len;
            tide__strbuf_append(out, pattern.data + at, stop - at);
            at = stop - 1;
        } else if (escape) {
            append_escape(pattern, &at, out);
        } else {
            tide__strbuf_append_char(out, pattern.data[at]);
        }
    }
}

tide_status tide__regex_open(struct str pattern, struct regex **out, tide_error *err) {
    *out = NULL;
    struct regex *regex = tide__calloc(1, sizeof *regex);
    if (!load_icu(&regex->icu)) {
        tide__free(regex);
        tide__fail(err, TIDE_ERR_RUNTIME, "regular expressions need the ICU library, which is not installed");
        return tide__fail_hint(err, "install libicu (libicu72 on Debian 12)");
    }
    int status = 0;
    struct strbuf java = {0};
    java_pattern(pattern, &java);
    size_t n = convert(regex, tide__strbuf_str(&java));
    regex->handle = regex->icu.open(regex->units, (int32_t)n, 0, NULL, &status);
    tide__strbuf_deinit(&java);
    if (regex->handle == NULL || status > 0) {
        tide__regex_close(regex);
        return TIDE_OK;
    }
    *out = regex;
    return TIDE_OK;
}

void tide__regex_close(struct regex *regex) {
    if (regex == NULL) return;
    if (regex->handle != NULL) regex->icu.close(regex->handle);
    tide__free(regex->units);
    tide__free(regex->offsets);
    tide__free(regex);
}

bool tide__regex_match(struct regex *regex, struct str text, bool whole) {
    int status = 0;
    if (text.len > INT32_MAX) return false;
    size_t n = convert(regex, text);
    regex->icu.set_text(regex->handle, regex->units, (int32_t)n, &status);
    int8_t hit = whole ? regex->icu.matches(regex->handle, 0, &status) : regex->icu.find(regex->handle, 0, &status);
    return hit && status <= 0;
}

bool tide__regex_next(struct regex *regex) {
    int status = 0;
    return regex->icu.find_next(regex->handle, &status) && status <= 0;
}

bool tide__regex_group(struct regex *regex, int group, size_t *out_start, size_t *out_end) {
    int status = 0;
    if (group < 0 || group > regex->icu.group_count(regex->handle, &status)) return false;
    int32_t start = regex->icu.start(regex->handle, group, &status),
            end = regex->icu.end(regex->handle, group, &status);
    if (status > 0 || start < 0 || end < start) return false;
    *out_start = regex->offsets[start];
    *out_end = regex->offsets[end];
    return true;
}

int tide__regex_group_count(struct regex *regex) {
    int status = 0;
    return regex->icu.group_count(regex->handle, &status);
}
