// Order-preserving keys. See engine/codec/key.h for the form.
//
// Keys of a whole batch are made column by column: the lengths first, then one buffer, then each column's values are
// written behind the cursors of all rows, so that the loop over a column has one branch a value at most.
#include "engine/codec/key.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MARKER_NULL = 0, MARKER_VALUE = 1, MARKER_NULL_LAST = 2 };

#define SIGN_BIT UINT64_C(0x8000000000000000)

static void put_u64(char *out, uint64_t v) {
    v = __builtin_bswap64(v);
    memcpy(out, &v, 8);
}

static uint64_t get_u64(const char *in) {
    uint64_t v = 0;
    memcpy(&v, in, 8);
    return __builtin_bswap64(v);
}

static void put_u32(char *out, uint32_t v) {
    v = __builtin_bswap32(v);
    memcpy(out, &v, 4);
}

static uint32_t get_u32(const char *in) {
    uint32_t v = 0;
    memcpy(&v, in, 4);
    return __builtin_bswap32(v);
}

// Bits that order as the numbers do: negative ones complemented, positive ones with the sign set.
static uint64_t double_bits(double d) {
    if (d == 0) d = 0;  // -0.0
    if (isnan(d)) return UINT64_MAX;
    uint64_t bits = 0;
    memcpy(&bits, &d, 8);
    return bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
}

static double double_of_bits(uint64_t bits) {
    if (bits == UINT64_MAX) return NAN;
    bits = bits & SIGN_BIT ? bits & ~SIGN_BIT : ~bits;
    double d = 0;
    memcpy(&d, &bits, 8);
    return d;
}

static size_t string_size(struct str s) {
    size_t size = s.len + 2;
    const char *at = s.data, *end = s.data + s.len;
    while (at < end && (at = memchr(at, 0, (size_t)(end - at))) != NULL) {
        size++;
        at++;
    }
    return size;
}

static char *put_string(char *out, struct str s) {
    const char *at = s.data, *end = s.data + s.len;
    while (at < end) {
        const char *zero = memchr(at, 0, (size_t)(end - at));
        size_t part = (size_t)((zero == NULL ? end : zero) - at);
        memcpy(out, at, part);
        out += part;
        at += part;
        if (zero != NULL) {
            *out++ = 0;
            *out++ = (char)0xFF;
            at++;
        }
    }
    *out++ = 0;
    *out++ = 0;
    return out;
}

// Bytes of a value without its marker.
static size_t value_size(const struct column *column, size_t row) {
    switch (column->physical) {
    case PHYSICAL_BOOL: return 1;
    case PHYSICAL_I64:
    case PHYSICAL_F64: return 8;
    case PHYSICAL_I128: return 16;
    case PHYSICAL_TIME: return 12;
    case PHYSICAL_STR: return string_size(column->str[row]);
    }
    return 0;
}

static char *put_value(char *out, const struct column *column, size_t row) {
    switch (column->physical) {
    case PHYSICAL_BOOL: *out = (char)(column->bools[row] != 0); return out + 1;
    case PHYSICAL_I64: put_u64(out, (uint64_t)column->i64[row] ^ SIGN_BIT); return out + 8;
    case PHYSICAL_F64: put_u64(out, double_bits(column->f64[row])); return out + 8;
    case PHYSICAL_I128: {
        unsigned __int128 v = (unsigned __int128)column->i128[row];
        put_u64(out, (uint64_t)(v >> 64) ^ SIGN_BIT);
        put_u64(out + 8, (uint64_t)v);
        return out + 16;
    }
    case PHYSICAL_TIME:
        put_u64(out, (uint64_t)column->time[row].ms ^ SIGN_BIT);
        put_u32(out + 8, (uint32_t)column->time[row].nanos);
        return out + 12;
    case PHYSICAL_STR: return put_string(out, column->str[row]);
    }
    return out;
}

static void add_sizes(const struct column *column, size_t rows, size_t *sizes) {
    if (column->nulls == NULL && column->physical != PHYSICAL_STR) {
        size_t size = 1 + value_size(column, 0);
        for (size_t i = 0; i < rows; i++) sizes[i] += size;
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        sizes[i] += tide__column_is_null(column, i) ? 1 : 1 + value_size(column, i);
    }
}

static void put_column(const struct column *column, size_t rows, char **cursors) {
    if (column->physical == PHYSICAL_I64 && column->nulls == NULL) {
        for (size_t i = 0; i < rows; i++) {
            char *out = cursors[i];
            *out = MARKER_VALUE;
            put_u64(out + 1, (uint64_t)column->i64[i] ^ SIGN_BIT);
            cursors[i] = out + 9;
        }
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        char *out = cursors[i];
        if (tide__column_is_null(column, i)) {
            *out++ = MARKER_NULL;
        } else {
            *out++ = MARKER_VALUE;
            out = put_value(out, column, i);
        }
        cursors[i] = out;
    }
}

void tide__key_encode(const struct batch *batch, const uint32_t *columns, size_t column_count, struct str prefix,
                      struct arena *arena, struct str *out_keys) {
    size_t rows = batch->rows;
    if (rows == 0) return;
    size_t *sizes = tide__arena_alloc(arena, rows * sizeof *sizes);
    for (size_t i = 0; i < rows; i++) sizes[i] = prefix.len;
    for (size_t c = 0; c < column_count; c++) add_sizes(&batch->columns[columns[c]], rows, sizes);
    size_t total = 0;
    for (size_t i = 0; i < rows; i++) total += sizes[i];
    char *buffer = tide__arena_alloc(arena, total);
    char **cursors = tide__arena_alloc(arena, rows * sizeof *cursors);
    for (size_t i = 0; i < rows; i++) {
        out_keys[i] = (struct str){buffer, sizes[i]};
        if (prefix.len > 0) memcpy(buffer, prefix.data, prefix.len);
        cursors[i] = buffer + prefix.len;
        buffer += sizes[i];
    }
    for (size_t c = 0; c < column_count; c++) put_column(&batch->columns[columns[c]], rows, cursors);
}

void tide__key_append_value(const struct column *column, size_t row, struct strbuf *out) {
    bool null = tide__column_is_null(column, row);
    size_t size = null ? 1 : 1 + value_size(column, row);
    char *at = tide__strbuf_reserve(out, size);
    *at = null ? MARKER_NULL : MARKER_VALUE;
    if (!null) put_value(at + 1, column, row);
    out->len += size;
    out->data[out->len] = 0;
}

void tide__key_append(const struct batch *batch, const struct sort_key *sorts, size_t sort_count, size_t row,
                      struct strbuf *out) {
    for (size_t s = 0; s < sort_count; s++) {
        const struct sort_key *sort = &sorts[s];
        size_t from = out->len;
        tide__key_append_value(&batch->columns[sort->column], row, out);
        char *at = out->data + from;
        // NULL's marker is below a value's as written, above it when complemented; MARKER_NULL_LAST turns that round.
        if (*at == MARKER_NULL && sort->nulls_last != sort->descending) *at = MARKER_NULL_LAST;
        if (!sort->descending) continue;
        for (char *end = out->data + out->len; at < end; at++) *at = (char)~*at;
    }
}

static bool decode_string(struct str *key, struct arena *arena, struct str *out) {
    const char *begin = key->data, *end = begin + key->len, *at = begin;
    size_t zeros = 0;
    for (;;) {
        at = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        if (at == NULL || end - at < 2) return false;
        if (at[1] == 0) break;
        if ((unsigned char)at[1] != 0xFF) return false;
        zeros++;
        at += 2;
    }
    size_t coded = (size_t)(at - begin);
    key->data = at + 2;
    key->len = (size_t)(end - key->data);
    *out = (struct str){begin, coded};
    if (zeros == 0) return true;
    char *copy = tide__arena_alloc(arena, coded - zeros);
    size_t n = 0;
    for (size_t i = 0; i < coded; i++) {
        copy[n++] = begin[i];
        if (begin[i] == 0) i++;
    }
    *out = (struct str){copy, n};
    return true;
}

bool tide__key_decode(struct str *key, struct arena *arena, struct column *column, size_t row) {
    if (key->len == 0) return false;
    unsigned char marker = (unsigned char)key->data[0];
    key->data++;
    key->len--;
    if (marker == MARKER_NULL || marker == MARKER_NULL_LAST) {
        if (column->nulls == NULL) return false;
        column->nulls[row] = 1;
        memset((char *)column->data + row * tide__physical_size(column->physical), 0,
               tide__physical_size(column->physical));
        return true;
    }
    if (marker != MARKER_VALUE) return false;
    if (column->nulls != NULL) column->nulls[row] = 0;
    if (column->physical == PHYSICAL_STR) return decode_string(key, arena, &column->str[row]);
    size_t size = value_size(column, row);
    if (key->len < size) return false;
    const char *in = key->data;
    switch (column->physical) {
    case PHYSICAL_BOOL:
        if ((unsigned char)*in > 1) return false;
        column->bools[row] = (uint8_t)*in;
        break;
    case PHYSICAL_I64: column->i64[row] = (int64_t)(get_u64(in) ^ SIGN_BIT); break;
    case PHYSICAL_F64: column->f64[row] = double_of_bits(get_u64(in)); break;
    case PHYSICAL_I128:
        column->i128[row] = (int128)((unsigned __int128)(get_u64(in) ^ SIGN_BIT) << 64 |
                                     (unsigned __int128)get_u64(in + 8));
        break;
    case PHYSICAL_TIME:
        column->time[row] = (struct timestamp){(int64_t)(get_u64(in) ^ SIGN_BIT), (int32_t)get_u32(in + 8)};
        if (column->time[row].nanos < 0 || column->time[row].nanos > 999999) return false;
        break;
    case PHYSICAL_STR: break;
    }
    key->data += size;
    key->len -= size;
    return true;
}

void tide__key_put_time(char out[8], int64_t ms) {
    put_u64(out, (uint64_t)ms ^ SIGN_BIT);
}

int64_t tide__key_get_time(const char in[8]) {
    return (int64_t)(get_u64(in) ^ SIGN_BIT);
}
