// A HashMap keeps its keys in buckets by the low bits of their mixed hash codes, and in a bucket in the order in which they came;
// growing keeps that order. See engine/functions/java_map.h.
#include "engine/functions/java_map.h"

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
