// Sorting byte-string keys in memcmp order, shorter first. Stable.
#ifndef TIDE_BASE_SORT_H
#define TIDE_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sort_item {
    uint64_t prefix;           // tide__sort_prefix(key, key_len)
    const unsigned char *key;  // borrowed
    uint32_t key_len;
    uint32_t index;  // the caller's
};

// The first 8 bytes as a big-endian number, zeros behind a shorter key.
static inline uint64_t tide__sort_prefix(const unsigned char *key, size_t key_len) {
    uint64_t prefix = 0;
    if (__builtin_expect(key_len >= 8, 1)) {
        memcpy(&prefix, key, 8);
    } else if (key_len > 0) {
        memcpy(&prefix, key, key_len);
    }
    return __builtin_bswap64(prefix);
}

// Sorts items[0..n); scratch has room for n items and holds nothing of use afterwards.
void tide__sort_keys(struct sort_item *items, size_t n, struct sort_item *scratch);

#endif
