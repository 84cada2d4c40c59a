// Key filters: which chunks of a windowed table may hold a key, whatever its window. Inside checkpoint/ only.
//
// A table's filter is its chunks' filters one behind the other: LEB128 length, then so many bytes of bits. A key stands in it by the
// bytes of its first field; of their XXH3 the low half and the high half (made odd) give six places, low + i * high, modulo the bits.
#ifndef TIDE_CHECKPOINT_KEY_FILTER_H
#define TIDE_CHECKPOINT_KEY_FILTER_H

#include "base/str.h"
#include "state/state.h"

#include <stdbool.h>
#include <stdint.h>

#define KEY_FILTER_BYTES_MAX   ((size_t)32 << 20)  // of a table: larger ones have none
#define KEY_FILTER_WINDOWS_MIN 16                  // with fewer windows or chunks a look-up is quick without
#define KEY_FILTER_CHUNKS_MIN  4

// Bytes of the first field behind the window; 0: the table's keys are not known to begin with one.
size_t tide__key_filter_field(const struct state_table_desc *desc, struct str behind_window);

struct key_filter_builder {
    uint64_t *hashes;  // of the chunk being written
    size_t count, cap;
    struct strbuf out;
    bool given_up;  // it would be too large, or the keys are of another form
};
void tide__key_filter_add(struct key_filter_builder *builder, const struct state_table_desc *desc, struct str key);
// The keys added since the last call are those of one chunk.
void tide__key_filter_end_chunk(struct key_filter_builder *builder);
void tide__key_filter_deinit(struct key_filter_builder *builder);

// Takes the filter of the next chunk off `filters`; false: they are malformed.
bool tide__key_filter_take(struct str *filters, struct str *out);
// May the chunk have a key whose first field is these bytes?
bool tide__key_filter_may_have(struct str filter, struct str field);

#endif
