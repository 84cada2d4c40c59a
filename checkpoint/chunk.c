// Chunks: entries to columns and back.
//
// Writing counts the message's bytes as entries come, so that a chunk stays under 1 MiB without packing it twice.
// Reading checks a whole chunk before it gives out its first entry: the lengths must add up to the data, no key may
// borrow more than the one before has, and keys must ascend. After that the cursor needs no checks.
#include "checkpoint/chunk.h"

#include "base/alloc.h"
#include "checkpoint/format.h"
#include "checkpoint/key_ranges.h"
#include "checkpoint/pb_arena.h"
#include "checkpoint/savepoint.pb-c.h"

#include <assert.h>
#include <string.h>

static size_t varint_size(size_t v) {
    size_t size = 1;
    while (v >= 0x80) {
        v >>= 7;
        size++;
    }
    return size;
}

static size_t common_prefix(struct str a, struct str b) {
    size_t n = a.len < b.len ? a.len : b.len, i = 0;
    while (i < n && a.data[i] == b.data[i]) i++;
    return i;
}

static const unsigned char op_bytes[] = {
    [STATE_ADD] = CHUNK_OP_ADD, [STATE_REPLACE] = CHUNK_OP_REPLACE, [STATE_DELETE] = CHUNK_OP_DELETE};

bool tide__chunk_add(struct chunk_builder *chunk, struct str key, struct str value) {
    struct state_entry entry = {.op = STATE_REPLACE, .key = key, .value = value};
    return tide__chunk_add_op(chunk, &entry);
}

bool tide__chunk_add_op(struct chunk_builder *chunk, const struct state_entry *entry) {
    struct str key = entry->key, value = entry->value;
    size_t max = chunk->with_ops ? CHUNK_DELTA_MAX : CHUNK_RAW_MAX;
    size_t shared = chunk->entries > 0 ? common_prefix(tide__strbuf_str(&chunk->last_key), key) : 0;
    size_t unshared = key.len - shared;
    size_t size = varint_size(shared) + varint_size(unshared) + unshared + varint_size(value.len) + value.len +
                  (chunk->with_ops ? 1 : 0);
    if (chunk->entries > 0 && chunk->raw + size > max - CHUNK_OVERHEAD_MAX) return false;
    assert(chunk->entries == 0 || tide__str_cmp(tide__strbuf_str(&chunk->last_key), key) < 0);
    if (chunk->entries == chunk->cap) {
        chunk->cap = chunk->cap > 0 ? chunk->cap * 2 : 256;
        chunk->shared = tide__realloc_array(chunk->shared, chunk->cap, sizeof *chunk->shared);
        chunk->unshared = tide__realloc_array(chunk->unshared, chunk->cap, sizeof *chunk->unshared);
        chunk->value_lengths = tide__realloc_array(chunk->value_lengths, chunk->cap, sizeof *chunk->value_lengths);
    }
    chunk->shared[chunk->entries] = (uint32_t)shared;
    chunk->unshared[chunk->entries] = (uint32_t)unshared;
    chunk->value_lengths[chunk->entries] = (uint32_t)value.len;
    if (chunk->with_ops) tide__strbuf_append_char(&chunk->ops, (char)op_bytes[entry->op]);
    tide__strbuf_append(&chunk->key_data, key.data + shared, unshared);
    tide__strbuf_append(&chunk->value_data, value.data, value.len);
    chunk->last_key.len = shared;
    tide__strbuf_append(&chunk->last_key, key.data + shared, unshared);
    if (chunk->entries == 0) {
        tide__strbuf_clear(&chunk->first_key);
        tide__strbuf_append_str(&chunk->first_key, key);
    }
    chunk->entries++;
    chunk->raw += size;
    return true;
}

// As short as they can be said: see the schema.
static ProtobufCBinaryData shortest_ops(const struct chunk_builder *chunk) {
    ProtobufCBinaryData all = {chunk->ops.len, (uint8_t *)chunk->ops.data};
    if (all.len == 0) return all;
    for (size_t i = 1; i < all.len; i++)
        if (all.data[i] != all.data[0]) return all;
    all.len = all.data[0] == CHUNK_OP_REPLACE ? 0 : 1;
    return all;
}

void tide__chunk_pack(const struct chunk_builder *chunk, struct strbuf *out) {
    Tide__Pb__Chunk message = TIDE__PB__CHUNK__INIT;
    message.table = chunk->table;
    message.entries = (uint32_t)chunk->entries;
    message.key_data = (ProtobufCBinaryData){chunk->key_data.len, (uint8_t *)chunk->key_data.data};
    message.n_shared = message.n_unshared = message.n_value_lengths = chunk->entries;
    message.shared = chunk->shared;
    message.unshared = chunk->unshared;
    message.value_data = (ProtobufCBinaryData){chunk->value_data.len, (uint8_t *)chunk->value_data.data};
    message.value_lengths = chunk->value_lengths;
    message.ops = shortest_ops(chunk);
    char *at = tide__strbuf_reserve(out, chunk->raw + CHUNK_OVERHEAD_MAX);
    size_t size = tide__pb__chunk__pack(&message, (uint8_t *)at);
    assert(size <= chunk->raw + CHUNK_OVERHEAD_MAX);
    out->len += size;
}

void tide__chunk_clear(struct chunk_builder *chunk) {
    chunk->entries = 0;
    chunk->raw = 0;
    tide__strbuf_clear(&chunk->ops);
    tide__strbuf_clear(&chunk->key_data);
    tide__strbuf_clear(&chunk->value_data);
    tide__strbuf_clear(&chunk->first_key);
    tide__strbuf_clear(&chunk->last_key);
}

void tide__chunk_deinit(struct chunk_builder *chunk) {
    tide__free(chunk->shared);
    tide__free(chunk->unshared);
    tide__free(chunk->value_lengths);
    tide__strbuf_deinit(&chunk->ops);
    tide__strbuf_deinit(&chunk->key_data);
    tide__strbuf_deinit(&chunk->value_data);
    tide__strbuf_deinit(&chunk->first_key);
    tide__strbuf_deinit(&chunk->last_key);
    *chunk = (struct chunk_builder){0};
}

// --- reading ------------------------------------------------------------------------------------------------------

static bool sums_to(const uint32_t *lengths, size_t n, size_t total) {
    uint64_t sum = 0;  // n is at most 2^32, so that it can't overflow
    for (size_t i = 0; i < n; i++) sum += lengths[i];
    return sum == total;
}

// Skips a LEB128 length and the bytes behind it; false if they are not all there.
static bool skip_bytes(struct str value, size_t *at) {
    uint64_t len = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        if (*at == value.len) return false;
        unsigned char byte = (unsigned char)value.data[(*at)++];
        len |= (uint64_t)(byte & 0x7f) << shift;
        if (byte >= 0x80) continue;
        if (len > value.len - *at) return false;
        *at += (size_t)len;
        return true;
    }
    return false;
}

bool tide__chunk_value_fits(const struct state_table_desc *desc, struct str value) {
    size_t at = 0;
    for (size_t i = 0; i < desc->value_count; i++) {
        size_t fixed = desc->values[i].form == STATE_FORM_I128 ? 16 : 8;
        if (desc->values[i].form == STATE_FORM_BYTES) {
            if (!skip_bytes(value, &at)) return false;
        } else if (value.len - at < fixed) {
            return false;
        } else {
            at += fixed;
        }
    }
    return at == value.len;
}

static enum chunk_op op_at(const struct chunk *chunk, size_t i) {
    if (chunk->ops.len == 0) return CHUNK_OP_REPLACE;
    return (enum chunk_op)chunk->ops.data[chunk->ops.len == 1 ? 0 : i];
}

static const char *check_ops(const struct chunk *chunk, bool delta) {
    if (chunk->ops.len == 0) return NULL;
    if (!delta) return "it has operations, which only a delta may have";
    if (chunk->ops.len != 1 && chunk->ops.len != chunk->entries) return "its columns differ in length";
    for (size_t i = 0; i < chunk->ops.len; i++)
        if ((unsigned char)chunk->ops.data[i] > CHUNK_OP_DELETE) return "it has an unknown operation";
    return NULL;
}

static const char *check_values(const struct chunk *chunk, const struct state_table_desc *desc) {
    const char *at = chunk->value_data;
    for (size_t i = 0; i < chunk->entries; i++) {
        if (op_at(chunk, i) == CHUNK_OP_DELETE) {
            if (chunk->value_lengths[i] > 0) return "a deletion has a value";
        } else if (!tide__chunk_value_fits(desc, (struct str){at, chunk->value_lengths[i]}))
            return "a value has not the fields of its table";
        at += chunk->value_lengths[i];
    }
    return NULL;
}

static const char *check_keys(const struct chunk *chunk, size_t key_bytes_min, const struct savepoint_chunk *index) {
    struct strbuf previous = {0};
    const char *bad = NULL;
    const char *at = chunk->key_data;
    for (size_t i = 0; i < chunk->entries && bad == NULL; i++) {
        size_t shared = chunk->shared[i], unshared = chunk->unshared[i];
        if (shared > previous.len) {
            bad = "a key borrows more than the key before it has";
            break;
        }
        if (i > 0 &&
            tide__str_cmp((struct str){previous.data + shared, previous.len - shared}, (struct str){at, unshared}) >= 0)
            bad = "its keys do not ascend";
        previous.len = shared;
        tide__strbuf_append(&previous, at, unshared);
        at += unshared;
        if (previous.len < key_bytes_min) bad = "a key is shorter than its window";
        if (i == 0 && !tide__index_key_fits(index->first_key, tide__strbuf_str(&previous)))
            bad = "its first key is not the index's";
    }
    if (bad == NULL && !tide__index_key_fits(index->last_key, tide__strbuf_str(&previous)))
        bad = "its last key is not the index's";
    tide__strbuf_deinit(&previous);
    return bad;
}

const char *tide__chunk_unpack(struct str raw, uint32_t table, const struct state_table_desc *desc,
                               const struct savepoint_chunk *index, bool delta, struct arena *arena,
                               struct chunk *out) {
    struct pb_arena memory = {.arena = arena, .left = 16 * raw.len + ((size_t)1 << 16)};
    ProtobufCAllocator allocator = tide__pb_allocator(&memory);
    Tide__Pb__Chunk *message = tide__pb__chunk__unpack(&allocator, raw.len, (const uint8_t *)raw.data);
    if (message == NULL) return "it is not a chunk message";
    size_t n = message->entries;
    if (message->table != table) return "it belongs to another table";
    if (n == 0 || n != index->entries) return "its number of entries is not the index's";
    if (message->n_shared != n || message->n_unshared != n || message->n_value_lengths != n)
        return "its columns differ in length";
    if (!sums_to(message->unshared, n, message->key_data.len)) return "the lengths of its keys do not add up";
    if (!sums_to(message->value_lengths, n, message->value_data.len)) return "the lengths of its values do not add up";
    *out = (struct chunk){
        .entries = n,
        .shared = message->shared,
        .unshared = message->unshared,
        .value_lengths = message->value_lengths,
        .key_data = message->key_data.data != NULL ? (const char *)message->key_data.data : "",
        .value_data = message->value_data.data != NULL ? (const char *)message->value_data.data : "",
        .ops = {(const char *)message->ops.data, message->ops.len},
    };
    const char *bad = check_ops(out, delta);
    if (bad == NULL) bad = check_keys(out, desc->kind == STATE_TABLE_WINDOWED ? WINDOW_KEY_BYTES : 0, index);
    return bad != NULL ? bad : check_values(out, desc);
}

bool tide__chunk_next(const struct chunk *chunk, struct chunk_cursor *cursor, struct state_entry *out) {
    static const enum state_op ops[] = {
        [CHUNK_OP_REPLACE] = STATE_REPLACE, [CHUNK_OP_ADD] = STATE_ADD, [CHUNK_OP_DELETE] = STATE_DELETE};
    if (cursor->at == chunk->entries) return false;
    size_t i = cursor->at++;
    cursor->key.len = chunk->shared[i];
    tide__strbuf_append(&cursor->key, chunk->key_data + cursor->key_at, chunk->unshared[i]);
    cursor->key_at += chunk->unshared[i];
    out->has_room = false;
    out->op = ops[op_at(chunk, i)];
    out->key = tide__strbuf_str(&cursor->key);
    out->value = (struct str){chunk->value_data + cursor->value_at, chunk->value_lengths[i]};
    cursor->value_at += chunk->value_lengths[i];
    return true;
}
