#include "checkpoint/key_filter.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { BITS_A_KEY = 10, PROBES = 6, WINDOW_BYTES = 16, MARKER_NULL_FIRST = 0, MARKER_VALUE = 1, MARKER_NULL_LAST = 2 };

// --- the first field ------------------------------------------------------------------------------------------------------

static bool is_type(const char *type, const char *name) {
    size_t len = strlen(name);
    return strncmp(type, name, len) == 0 && (type[len] < 'A' || type[len] > 'Z') && type[len] != '_';
}

static long parameter(const char *type, long otherwise) {
    const char *at = strchr(type, '(');
    return at != NULL ? strtol(at + 1, NULL, 10) : otherwise;
}

// Bytes behind the marker of a value of fixed width; 0: it is a string; SIZE_MAX: unknown.
static size_t width_of(const char *type) {
    static const char *const words[] = {"TINYINT", "SMALLINT", "INT", "BIGINT", "DATE", "TIME", "DOUBLE", "FLOAT"};
    static const char *const strings[] = {"STRING", "VARCHAR", "CHAR", "BYTES", "VARBINARY", "BINARY"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_type(type, words[i])) return 8;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (is_type(type, strings[i])) return 0;
    if (is_type(type, "DECIMAL")) return parameter(type, 10) > 18 ? 16 : 8;
    if (is_type(type, "TIMESTAMP") || is_type(type, "TIMESTAMP_LTZ")) return parameter(type, 6) > 3 ? 12 : 8;
    return is_type(type, "BOOLEAN") ? 1 : SIZE_MAX;
}

// A string ends with two zero bytes; inside a zero byte has FF behind it.
static size_t string_end(struct str key) {
    for (size_t at = 1; at + 1 < key.len; at++) {
        const char *zero = memchr(key.data + at, 0, key.len - at);
        if (zero == NULL) return 0;
        at = (size_t)(zero - key.data);
        if (at + 1 < key.len && key.data[at + 1] == 0) return at + 2;
        at++;
    }
    return 0;
}

size_t tide__key_filter_field(const struct state_table_desc *desc, struct str key) {
    if (desc->key_count == 0 || key.len == 0) return 0;
    size_t width = width_of(desc->keys[0].type);
    unsigned char marker = (unsigned char)key.data[0];
    if (width == SIZE_MAX) return 0;
    if (marker == MARKER_NULL_FIRST || marker == MARKER_NULL_LAST) return 1;
    if (marker != MARKER_VALUE) return 0;  // it sorts downwards
    size_t len = width > 0 ? 1 + width : string_end(key);
    return len <= key.len ? len : 0;
}

// --- building -------------------------------------------------------------------------------------------------------------

static uint64_t hash_of(struct str field) {
    return tide__hash_checksum(field.data, field.len, 0);
}

void tide__key_filter_add(struct key_filter_builder *builder, const struct state_table_desc *desc, struct str key) {
    if (builder->given_up) return;
    struct str behind = {key.data + WINDOW_BYTES, key.len - WINDOW_BYTES};
    size_t len = tide__key_filter_field(desc, behind);
    if (len == 0) {
        builder->given_up = true;
        return;
    }
    uint64_t hash = hash_of((struct str){behind.data, len});
    if (builder->count > 0 && builder->hashes[builder->count - 1] == hash) return;
    builder->hashes = tide__grow(builder->hashes, &builder->cap, builder->count + 1, sizeof *builder->hashes);
    builder->hashes[builder->count++] = hash;
}

static size_t place(uint64_t hash, unsigned i, size_t bits) {
    uint32_t low = (uint32_t)hash, high = (uint32_t)(hash >> 32) | 1;
    return (low + (uint64_t)i * high) % bits;
}

void tide__key_filter_end_chunk(struct key_filter_builder *builder) {
    size_t bytes = (builder->count * BITS_A_KEY + 7) / 8;
    if (builder->given_up || builder->out.len + bytes + 10 > KEY_FILTER_BYTES_MAX) {
        builder->given_up = true;
        return;
    }
    for (size_t v = bytes;; v >>= 7) {
        tide__strbuf_append_char(&builder->out, (char)(v < 0x80 ? v : (v & 0x7F) | 0x80));
        if (v < 0x80) break;
    }
    char *bits = tide__strbuf_reserve(&builder->out, bytes);
    memset(bits, 0, bytes);
    for (size_t k = 0; k < builder->count; k++) {
        for (unsigned i = 0; i < PROBES; i++) {
            size_t at = place(builder->hashes[k], i, bytes * 8);
            bits[at / 8] = (char)(bits[at / 8] | 1 << at % 8);
        }
    }
    builder->out.len += bytes;
    builder->count = 0;
}

void tide__key_filter_deinit(struct key_filter_builder *builder) {
    tide__free(builder->hashes);
    tide__strbuf_deinit(&builder->out);
}

// --- asking ---------------------------------------------------------------------------------------------------------------

bool tide__key_filter_take(struct str *filters, struct str *out) {
    uint64_t len = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (filters->len == 0) return false;
        unsigned char byte = (unsigned char)*filters->data++;
        filters->len--;
        len |= (uint64_t)(byte & 0x7F) << shift;
        if (byte >= 0x80) continue;
        if (len > filters->len) return false;
        *out = (struct str){filters->data, (size_t)len};
        filters->data += len;
        filters->len -= (size_t)len;
        return true;
    }
    return false;
}

bool tide__key_filter_may_have(struct str filter, struct str field) {
    if (filter.len == 0) return true;
    uint64_t hash = hash_of(field);
    for (unsigned i = 0; i < PROBES; i++) {
        size_t at = place(hash, i, filter.len * 8);
        if ((filter.data[at / 8] >> at % 8 & 1) == 0) return false;
    }
    return true;
}
