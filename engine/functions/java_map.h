// The order of Java's HashMap, in which Flink shows maps that its functions make.
#ifndef TIDE_ENGINE_FUNCTIONS_JAVA_MAP_H
#define TIDE_ENGINE_FUNCTIONS_JAVA_MAP_H

#include "base/str.h"
#include "engine/batch.h"

// String.hashCode.
uint32_t tide__java_hash(struct str s);
// What the hash code of a value is in Flink's internal form. False: it is a nested value, whose hash is not known here.
bool tide__java_value_hash(const struct column *column, size_t row, uint32_t *out);
// Keys with these hash codes, put in this order into `new HashMap(capacity)` (0: the default of 16): the order in which it
// gives them back.
void tide__java_map_order(const uint32_t *hashes, size_t count, size_t capacity, uint32_t *out_order);

#endif
