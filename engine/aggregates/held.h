// One value kept by an accumulator (MIN, MAX, FIRST_VALUE, LAST_VALUE). Strings are copied into memory of their own.
#ifndef TIDE_ENGINE_AGGREGATES_HELD_H
#define TIDE_ENGINE_AGGREGATES_HELD_H

#include "engine/aggregates/accumulator.h"

struct held {
    union {
        int64_t i64;  // also BOOLEAN
        double f64;
        int128_unaligned i128;
        struct timestamp time;
        struct {
            char *data;  // owned
            uint32_t len, cap;
        } bytes;
    };
    int64_t is_set;
};

// How a value is written: memcmp order for MIN and MAX (-0.0 becomes 0.0), or with its very bits.
enum held_form { HELD_ORDERED, HELD_EXACT };

void tide__held_set(struct held *held, const struct column *column, size_t row, int64_t *charge);
void tide__held_copy(struct held *held, enum physical physical, const struct held *from, int64_t *charge);
// <0, 0, >0 against column[row]; by bytes for strings.
int tide__held_cmp_value(const struct held *held, const struct column *column, size_t row);
int tide__held_cmp(const struct held *a, const struct held *b, enum physical physical);
// Into column[row], NULL if nothing is held. Strings point into the held value.
void tide__held_get(const struct held *held, struct column *column, size_t row);
// One BYTES field; empty if nothing is held.
void tide__held_encode(const struct held *held, const struct type *type, enum held_form form, struct strbuf *out);
bool tide__held_decode(struct held *held, const struct type *type, enum held_form form, struct str *value,
                       int64_t *charge);
void tide__held_release(struct held *held, enum physical physical);

#endif
