// The bytes of accumulators in state values: the forms of state/state.h, written and read.
#ifndef TIDE_ENGINE_AGGREGATES_FIELDS_H
#define TIDE_ENGINE_AGGREGATES_FIELDS_H

#include "base/str.h"
#include "base/type.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void field_put_i64(struct strbuf *out, int64_t v) {
    tide__strbuf_append(out, &v, sizeof v);
}
static inline void field_put_f64(struct strbuf *out, double v) {
    tide__strbuf_append(out, &v, sizeof v);
}
static inline void field_put_i128(struct strbuf *out, int128 v) {
    tide__strbuf_append(out, &v, sizeof v);
}

static inline void field_put_varint(struct strbuf *out, uint64_t v) {
    char bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    tide__strbuf_append(out, bytes, n);
}

static inline void field_put_bytes(struct strbuf *out, const void *data, size_t len) {
    field_put_varint(out, len);
    if (len > 0) tide__strbuf_append(out, data, len);
}

static inline bool field_take(struct str *value, void *out, size_t size) {
    if (value->len < size) return false;
    memcpy(out, value->data, size);
    value->data += size;
    value->len -= size;
    return true;
}

static inline bool field_get_i64(struct str *value, int64_t *out) {
    return field_take(value, out, sizeof *out);
}
static inline bool field_get_f64(struct str *value, double *out) {
    return field_take(value, out, sizeof *out);
}

static inline bool field_get_varint(struct str *value, uint64_t *out) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && value->len > 0; shift += 7) {
        uint8_t byte = (uint8_t)*value->data;
        value->data++;
        value->len--;
        v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = v;
            return true;
        }
    }
    return false;
}

static inline bool field_get_bytes(struct str *value, struct str *out) {
    uint64_t len = 0;
    if (!field_get_varint(value, &len) || len > value->len) return false;
    *out = (struct str){value->data, (size_t)len};
    value->data += len;
    value->len -= len;
    return true;
}

#endif
