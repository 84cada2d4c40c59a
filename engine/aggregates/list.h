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
// Takes the first element out that has these bytes (or the last one); none: nothing happens.
enum list_end { LIST_FIRST, LIST_LAST };
void tide__list_remove(struct list *list, struct str s, enum list_end which);
// The value of column[row] as an element, and back: a row of one column.
void tide__list_append_value(struct list *list, const struct column *column, size_t row, int64_t *charge);
void tide__list_remove_value(struct list *list, const struct column *column, size_t row, enum list_end which);
void tide__list_read_value(struct str element, const struct type *type, struct column *out, struct arena *arena);
// The kernel's steps that every list shares.
void tide__list_merge(const struct aggregator *aggregator, void *into, const void *from, int64_t *charge);
void tide__list_encode(const struct aggregator *aggregator, const void *accumulator, struct strbuf *out);
bool tide__list_decode(const struct aggregator *aggregator, struct str *value, void *accumulator, int64_t *charge);
void tide__list_release(const struct aggregator *aggregator, void *accumulator);

#endif
