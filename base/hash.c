// XXH3 from xxhash's header, compiled into this file alone.
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tide__hash_checksum(const void *data, size_t len, uint64_t seed) {
    return XXH3_64bits_withSeed(data, len, seed);
}
