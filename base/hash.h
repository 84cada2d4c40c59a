// A fast 64-bit hash of short byte strings for in-memory tables, and the end-to-end checksum of files (XXH3).
#ifndef TIDE_BASE_HASH_H
#define TIDE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Multiply-fold of 64x64 -> 128 bits (the core of wyhash).
static inline uint64_t tide__hash_mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// Not stable across versions and machines: never write it to disk.
static inline uint64_t tide__hash_bytes(const void *data, size_t len) {
    const unsigned char *p = data;
    uint64_t h = 0x9E3779B97F4A7C15ULL ^ len, a = 0, b = 0;
    while (len > 16) {
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, 8);
        h = tide__hash_mix(a ^ 0xA0761D6478BD642FULL, b ^ h);
        p += 16;
        len -= 16;
    }
    if (len >= 8) {
        memcpy(&a, p, 8);
        memcpy(&b, p + len - 8, 8);
    } else if (len >= 4) {
        uint32_t low = 0, high = 0;
        memcpy(&low, p, 4);
        memcpy(&high, p + len - 4, 4);
        a = low;
        b = high;
    } else if (len > 0) {
        a = ((uint64_t)p[0] << 16) | ((uint64_t)p[len >> 1] << 8) | p[len - 1];
        b = 0;
    } else {
        a = b = 0;
    }
    return tide__hash_mix(a ^ 0xE7037ED1A0B428DBULL, tide__hash_mix(b ^ 0x8EBC6AF09C88C6E3ULL, h));
}

// XXH3 of 64 bits: the same everywhere and for ever, so that it may be written to files.
uint64_t tide__hash_checksum(const void *data, size_t len, uint64_t seed);

#endif
