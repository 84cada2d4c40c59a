// ARRAY, MULTISET, MAP and ROW values: one string of bytes. A ROW is its fields in row codec form; an ARRAY a count
// (unsigned LEB128) and then a row codec row of all elements; a MAP or MULTISET the same with keys and values in
// turn.
#ifndef TIDE_ENGINE_EXPR_NESTED_H
#define TIDE_ENGINE_EXPR_NESTED_H

#include "engine/expr/eval.h"

// Appends the bytes of a nested value made of row `row` of `elements` (count columns: fields, elements, or keys and
// values in turn).
void tide__nested_append(const struct type *type, const struct column *elements, size_t count, size_t row,
                         struct strbuf *out);
// Takes it apart: one column of one row each, in the arena. False if the bytes are malformed.
bool tide__nested_decode(struct str bytes, const struct type *type, struct arena *arena, struct column **out_elements,
                         size_t *out_count);
// Flink's display: `[1, NULL]`, `{k=1}`, `(1, x)`.
void tide__nested_display(struct str bytes, const struct type *type, const struct zone *zone, struct strbuf *out);
// What CAST to STRING gives: the same, but the bytes of BINARY themselves.
void tide__nested_text(struct str bytes, const struct type *type, const struct zone *zone, struct strbuf *out);

#endif
