// Compact bytes of whole rows, for state that keeps rows (Top-N, joins, sessions): a NULL bitmap, then each non-NULL value:
// integers and times zig-zag LEB128, DOUBLE 8 bytes, DECIMAL over 18 digits 16 bytes, strings length + bytes.
#ifndef TIDE_ENGINE_CODEC_ROW_H
#define TIDE_ENGINE_CODEC_ROW_H

#include "engine/batch.h"

void tide__row_append(const struct batch *batch, size_t row, struct strbuf *out);
// Decodes one row into columns[*][row]; strings point into `bytes`. False if the bytes are malformed.
bool tide__row_decode(struct str bytes, struct column *columns, size_t column_count, size_t row);

#endif
