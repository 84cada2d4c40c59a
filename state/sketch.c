#include "state/sketch.h"

#include <math.h>

enum { INDEX_BITS = 10 };

void tide__sketch_add(struct sketch *sketch, uint64_t hash) {
    uint64_t rest = hash << INDEX_BITS | 1 << (INDEX_BITS - 1);
    unsigned char rank = (unsigned char)(__builtin_clzll(rest) + 1),
                  *at = &sketch->registers[hash >> (64 - INDEX_BITS)];
    if (rank > *at) *at = rank;
}

void tide__sketch_unite(struct sketch *sketch, const struct sketch *other) {
    for (size_t i = 0; i < SKETCH_REGISTERS; i++)
        if (other->registers[i] > sketch->registers[i]) sketch->registers[i] = other->registers[i];
}

double tide__sketch_count(const struct sketch *sketch) {
    double m = SKETCH_REGISTERS, sum = 0;
    size_t zeros = 0;
    for (size_t i = 0; i < SKETCH_REGISTERS; i++) {
        sum += ldexp(1, -sketch->registers[i]);
        zeros += sketch->registers[i] == 0;
    }
    double count = 0.7213 / (1 + 1.079 / m) * m * m / sum;
    // Few keys are counted better by the registers that none has hit.
    return count <= 2.5 * m && zeros > 0 ? m * log(m / (double)zeros) : count;
}
