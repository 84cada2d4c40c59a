// Order-preserving bytes of column values: memcmp of two keys orders them as SQL's ASC NULLS FIRST does.
//
// A value is one marker byte (0 NULL, 1 value; 0xFF-complemented as a whole for DESC), then: integers and times 8 bytes
// big-endian with the sign flipped; DOUBLE 8 bytes IEEE, monotone (-0.0 is written as 0.0; NaN last); DECIMAL over 18 digits 16 bytes;
// nanoseconds 4 bytes more; BOOLEAN 1 byte; strings their bytes with 0x00 as 0x00 0xFF and 0x00 0x00 at the end. Fields of NOT
// NULL types have the marker too, so that a key's form does not depend on nullability.
#ifndef TIDE_ENGINE_CODEC_KEY_H
#define TIDE_ENGINE_CODEC_KEY_H

#include "engine/batch.h"
#include "engine/plan.h"

// Encodes the columns of rows [0, batch->rows) one after the other; out_keys[i] lies in the arena. `prefix` (may be empty) is
// put before each key.
void tide__key_encode(const struct batch *batch, const uint32_t *columns, size_t column_count, struct str prefix,
                      struct arena *arena, struct str *out_keys);
// Appends one row's key. `sorts` gives direction and place of NULLs; NULL: ascending, NULLs first.
void tide__key_append(const struct batch *batch, const struct sort_key *sorts, size_t sort_count, size_t row,
                      struct strbuf *out);
// Appends one value (ascending, NULLs first).
void tide__key_append_value(const struct column *column, size_t row, struct strbuf *out);
// Reads one value from *key (advancing it) into column[row]. Strings point into the key or, if they hold zero bytes, into
// the arena. False if the bytes are malformed.
bool tide__key_decode(struct str *key, struct arena *arena, struct column *column, size_t row);
// Window bounds: 8 bytes big-endian, sign flipped, without marker.
void tide__key_put_time(char out[8], int64_t ms);
int64_t tide__key_get_time(const char in[8]);

#endif
