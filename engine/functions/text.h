// Strings as characters (code points), for the string functions.
#ifndef TIDE_ENGINE_FUNCTIONS_TEXT_H
#define TIDE_ENGINE_FUNCTIONS_TEXT_H

#include "engine/expr/kernel.h"

// Bytes of the first `count` characters, all bytes if there are fewer.
size_t tide__text_prefix(struct str s, int64_t count);
// Byte position of `part` in s from byte `from` on, or SIZE_MAX.
size_t tide__text_find(struct str s, struct str part, size_t from);
void tide__text_put_utf8(uint32_t code_point, struct strbuf *out);
// Java counts UTF-16 units. The units [from, to) of s; half of a pair becomes `?`.
int64_t tide__text_units(struct str s);
void tide__text_put_units(struct str s, int64_t from, int64_t to, struct strbuf *out);
// Runs a kernel that makes a string a row: `make` appends it to the buffer, or returns false for NULL.
typedef bool tide__text_make(const struct expr *call, const struct column *args, size_t row, struct strbuf *out);
tide_status tide__text_rows(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, tide__text_make *make, struct column *out);

#endif
