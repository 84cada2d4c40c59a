// A chunk: a sorted range of one table's entries as one protobuf message of columns. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_CHUNK_H
#define TIDE_CHECKPOINT_CHUNK_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "checkpoint/savepoint.h"
#include "state/state.h"

#define CHUNK_RAW_MAX ((size_t)1 << 20)  // of a chunk with more than one entry
#define CHUNK_DELTA_MAX                                                                                                \
    ((size_t)1 << 17)  // as our writer makes them in deltas: many are open at once when they are merged
#define CHUNK_RAW_LIMIT    ((size_t)1 << 30)  // of any chunk
#define CHUNK_OVERHEAD_MAX ((size_t)64)       // tags and lengths of the message's fields

// --- building -----------------------------------------------------------------------------------------------------

// {0} and a table is a valid empty one.
struct chunk_builder {
    uint32_t table;
    size_t entries, cap;
    uint32_t *shared, *unshared, *value_lengths;
    bool with_ops;      // of a delta: entries do different things
    struct strbuf ops;  // a byte an entry
    struct strbuf key_data, value_data;
    struct strbuf first_key, last_key;
    size_t raw;  // bytes of the message so far
};

// False: the entry does not fit any more (the chunk is not empty then); pack and clear, then add it again.
bool tide__chunk_add(struct chunk_builder *chunk, struct str key, struct str value);
// The same for a delta's chunk (with_ops).
bool tide__chunk_add_op(struct chunk_builder *chunk, const struct state_entry *entry);
// Appends the message to out.
void tide__chunk_pack(const struct chunk_builder *chunk, struct strbuf *out);
void tide__chunk_clear(struct chunk_builder *chunk);
void tide__chunk_deinit(struct chunk_builder *chunk);

// --- reading ------------------------------------------------------------------------------------------------------

// A chunk whose every length has been checked. It lives in the arena that it was read into.
struct chunk {
    size_t entries;
    const uint32_t *shared, *unshared, *value_lengths;
    const char *key_data, *value_data;
    struct str ops;  // none, one for all, or one an entry
};

// What an entry does, as a byte of the file.
enum chunk_op { CHUNK_OP_REPLACE, CHUNK_OP_ADD, CHUNK_OP_DELETE };

// NULL: it is good; else what is wrong with it. desc: of its table, for the form of keys and values. Only a delta's chunks
// may have ops.
const char *tide__chunk_unpack(struct str raw, uint32_t table, const struct state_table_desc *desc,
                               const struct savepoint_chunk *index, bool delta, struct arena *arena, struct chunk *out);
// Is the value the fields that desc says, one after the other?
bool tide__chunk_value_fits(const struct state_table_desc *desc, struct str value);

// Walks a chunk's entries.
struct chunk_cursor {
    size_t at, key_at, value_at;
    struct strbuf key;
};
bool tide__chunk_next(const struct chunk *chunk, struct chunk_cursor *cursor, struct state_entry *out);

#endif
