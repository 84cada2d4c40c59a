// Compact rows. See engine/codec/row.h for the form.
#include "engine/codec/row.h"

#include <assert.h>
#include <string.h>

enum { VARINT_MAX = 10 };

static char *put_varint(char *out, uint64_t v) {
    while (v >= 0x80) {
        *out++ = (char)(v | 0x80);
        v >>= 7;
    }
    *out++ = (char)v;
    return out;
}

static bool get_varint(struct str *in, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < in->len && i < VARINT_MAX; i++) {
        unsigned char byte = (unsigned char)in->data[i];
        if (i == VARINT_MAX - 1 && byte > 1) return false;
        v |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            in->data += i + 1;
            in->len -= i + 1;
            *out = v;
            return true;
        }
    }
    return false;
}

static uint64_t zigzag(int64_t v) {
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static int64_t unzigzag(uint64_t v) {
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

void tide__row_append(const struct batch *batch, size_t row, struct strbuf *out) {
    size_t bitmap = (batch->column_count + 7) / 8;
    size_t most = bitmap;
    for (size_t c = 0; c < batch->column_count; c++) {
        const struct column *column = &batch->columns[c];
        most += 2 * VARINT_MAX;
        if (column->physical == PHYSICAL_STR && !tide__column_is_null(column, row)) most += column->str[row].len;
    }
    char *start = tide__strbuf_reserve(out, most);
    memset(start, 0, bitmap);
    char *at = start + bitmap;
    for (size_t c = 0; c < batch->column_count; c++) {
        const struct column *column = &batch->columns[c];
        if (tide__column_is_null(column, row)) {
            start[c / 8] = (char)(start[c / 8] | 1 << c % 8);
            continue;
        }
        switch (column->physical) {
        case PHYSICAL_BOOL: *at++ = (char)(column->bools[row] != 0); break;
        case PHYSICAL_I64: at = put_varint(at, zigzag(column->i64[row])); break;
        case PHYSICAL_F64:
            memcpy(at, &column->f64[row], 8);
            at += 8;
            break;
        case PHYSICAL_I128:
            memcpy(at, &column->i128[row], 16);
            at += 16;
            break;
        case PHYSICAL_TIME:
            at = put_varint(at, zigzag(column->time[row].ms));
            at = put_varint(at, (uint64_t)(uint32_t)column->time[row].nanos);
            break;
        case PHYSICAL_STR:
            at = put_varint(at, column->str[row].len);
            if (column->str[row].len > 0) memcpy(at, column->str[row].data, column->str[row].len);
            at += column->str[row].len;
            break;
        }
    }
    assert((size_t)(at - start) <= most);
    out->len += (size_t)(at - start);
    out->data[out->len] = 0;
}

static bool get_fixed(struct str *in, void *out, size_t size) {
    if (in->len < size) return false;
    memcpy(out, in->data, size);
    in->data += size;
    in->len -= size;
    return true;
}

static bool decode_value(struct str *in, struct column *column, size_t row) {
    uint64_t v = 0;
    switch (column->physical) {
    case PHYSICAL_BOOL: return get_fixed(in, &column->bools[row], 1) && column->bools[row] <= 1;
    case PHYSICAL_I64:
        if (!get_varint(in, &v)) return false;
        column->i64[row] = unzigzag(v);
        return true;
    case PHYSICAL_F64: return get_fixed(in, &column->f64[row], 8);
    case PHYSICAL_I128: return get_fixed(in, &column->i128[row], 16);
    case PHYSICAL_TIME:
        if (!get_varint(in, &v)) return false;
        column->time[row].ms = unzigzag(v);
        if (!get_varint(in, &v) || v > 999999) return false;
        column->time[row].nanos = (int32_t)v;
        return true;
    case PHYSICAL_STR:
        if (!get_varint(in, &v) || v > in->len) return false;
        column->str[row] = (struct str){in->data, (size_t)v};
        in->data += v;
        in->len -= (size_t)v;
        return true;
    }
    return false;
}

bool tide__row_decode(struct str bytes, struct column *columns, size_t column_count, size_t row) {
    size_t bitmap = (column_count + 7) / 8;
    if (bytes.len < bitmap) return false;
    const char *nulls = bytes.data;
    bytes.data += bitmap;
    bytes.len -= bitmap;
    for (size_t c = 0; c < column_count; c++) {
        struct column *column = &columns[c];
        if (nulls[c / 8] >> (c % 8) & 1) {
            if (column->nulls == NULL) return false;
            column->nulls[row] = 1;
            size_t size = tide__physical_size(column->physical);
            memset((char *)column->data + row * size, 0, size);
            continue;
        }
        if (column->nulls != NULL) column->nulls[row] = 0;
        if (!decode_value(&bytes, column, row)) return false;
    }
    return bytes.len == 0;
}
