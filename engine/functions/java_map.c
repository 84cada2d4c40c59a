// A HashMap keeps its keys in buckets by the low bits of their mixed hash codes, and in a bucket in the order in which they came;
// growing keeps that order. See engine/functions/java_map.h.
#include "engine/functions/java_map.h"

#include "engine/expr/kernel.h"

uint32_t tide__java_hash(struct str s) {
    uint32_t hash = 0;
    for (size_t at = 0; at < s.len;) {
        uint32_t c = tide__utf8_next(s, &at);
        if (c >= 0x10000) {
            hash = hash * 31 + 0xD800 + ((c - 0x10000) >> 10);
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        hash = hash * 31 + c;
    }
    return hash;
}

static uint32_t rotate(uint32_t v, int by) {
    return v << by | v >> (32 - by);
}

static uint32_t mix(uint32_t hash, uint32_t word) {
    word = rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
    return rotate(hash ^ word, 13) * 5 + 0xe6546b64u;
}

// Flink's Murmur hash of bytes: the bytes behind the last whole word count as words.
static uint32_t murmur(struct str s) {
    uint32_t hash = 42;
    size_t i = 0;
    for (; i + 4 <= s.len; i += 4) {
        uint32_t word = 0;
        memcpy(&word, s.data + i, 4);
        hash = mix(hash, word);
    }
    for (; i < s.len; i++) hash = mix(hash, (uint32_t)(int32_t)(signed char)s.data[i]);
    hash ^= (uint32_t)s.len;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

static uint32_t long_hash(int64_t v) {
    return (uint32_t)((uint64_t)v ^ (uint64_t)v >> 32);
}

// BigDecimal.hashCode: of the digits as BigInteger, and the scale.
static uint32_t decimal_hash(int128 v, int scale) {
    bool negative = v < 0;
    unsigned __int128 magnitude = negative ? -(unsigned __int128)v : (unsigned __int128)v;
    uint32_t hash = 0;
    for (int shift = 96; shift >= 0; shift -= 32) hash = hash * 31 + (uint32_t)(magnitude >> shift);
    return 31 * (negative ? 0 - hash : hash) + (uint32_t)scale;
}

bool tide__java_value_hash(const struct column *column, size_t row, uint32_t *out) {
    const struct type *type = column->type;
    float f = 0;
    if (type->child_count > 0) return false;
    switch (type->kind) {
    case TYPE_BOOLEAN: *out = column->bools[row] ? 1231 : 1237; break;
    case TYPE_CHAR:
    case TYPE_VARCHAR: *out = murmur(column->str[row]); break;
    case TYPE_BINARY:
    case TYPE_VARBINARY: return false;
    case TYPE_DECIMAL: *out = decimal_hash(tide__decimal_at(column, row), type->scale); break;
    case TYPE_DOUBLE: *out = long_hash(column->i64[row]); break;
    case TYPE_FLOAT:
        f = (float)column->f64[row];
        memcpy(out, &f, sizeof f);
        break;
    case TYPE_BIGINT:
    case TYPE_INTERVAL_MILLIS: *out = long_hash(column->i64[row]); break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: {
        struct timestamp t = tide__timestamp_at(column, row);
        *out = 31 * long_hash(t.ms) + (uint32_t)t.nanos;
        break;
    }
    default: *out = (uint32_t)column->i64[row];
    }
    return true;
}

static uint32_t bucket(uint32_t hash, size_t buckets) {
    return (hash ^ hash >> 16) & (uint32_t)(buckets - 1);
}

void tide__java_map_order(const uint32_t *hashes, size_t count, size_t capacity, uint32_t *out_order) {
    size_t buckets = 1;
    while (buckets < (capacity == 0 ? 16 : capacity)) buckets *= 2;
    while (count > buckets / 4 * 3 + (buckets < 4 ? buckets / 2 : 0)) buckets *= 2;
    for (size_t i = 0; i < count; i++) {  // insertion sort: maps are small
        size_t at = i;
        for (; at > 0 && bucket(hashes[out_order[at - 1]], buckets) > bucket(hashes[i], buckets); at--)
            out_order[at] = out_order[at - 1];
        out_order[at] = (uint32_t)i;
    }
}
