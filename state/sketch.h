// How many different keys there were, about: a HyperLogLog of 1,024 registers, with a standard error of 3 %
// (Flajolet and others, 2007).
#ifndef TIDE_STATE_SKETCH_H
#define TIDE_STATE_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { SKETCH_REGISTERS = 1024 };

// Registers that are zero have seen nothing.
struct sketch {
    unsigned char registers[SKETCH_REGISTERS];
};

void tide__sketch_add(struct sketch *sketch, uint64_t hash);
// `sketch` is then what it would be if it had seen the other's keys too.
void tide__sketch_unite(struct sketch *sketch, const struct sketch *other);
double tide__sketch_count(const struct sketch *sketch);

#endif
