// What formats of one row a line have in common.
#ifndef TIDE_ENGINE_FORMATS_LINE_H
#define TIDE_ENGINE_FORMATS_LINE_H

#include "engine/batch.h"

#include <stdbool.h>
#include <string.h>

// See format_class.split. Only LF ends a line.
static inline size_t tide__line_split(const char *data, size_t len) {
    const char *newline = len > 0 ? memrchr(data, '\n', len) : NULL;
    return newline != NULL ? (size_t)(newline - data) + 1 : 0;
}

// See format_class.parse_value: the value of a partition folder's name.
bool tide__partition_value(const struct type *type, struct str text, struct arena *arena, struct column *column,
                           size_t row);

#endif
