// An accumulator that keeps all values in arrival order: (varint length, bytes) one after the other, so that the concatenation
// of two lists is the concatenation of their bytes.
#ifndef TIDE_ENGINE_AGGREGATES_LIST_H
#define TIDE_ENGINE_AGGREGATES_LIST_H

#include "engine/aggregates/accumulator.h"

struct list {
    char *data;  // owned
    size_t len, cap;
};

void tide__list_append(struct list *list, struct str s, int64_t *charge);
// The kernel's steps that every list shares.
void tide__list_merge(const struct aggregator *aggregator, void *into, const void *from, int64_t *charge);
void tide__list_encode(const struct aggregator *aggregator, const void *accumulator, struct strbuf *out);
bool tide__list_decode(const struct aggregator *aggregator, struct str *value, void *accumulator, int64_t *charge);
void tide__list_release(const struct aggregator *aggregator, void *accumulator);

#endif
