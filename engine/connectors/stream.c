// Reading standard input, as far as there is any.
//
// Nothing here waits: what poll says is there is read, and when there is no whole row yet the caller is told to come again,
// so that watermarks, checkpoints and signals are seen to meanwhile. There is no going back in a stream. So a savepoint holds
// how many bytes had been used, checksums of the first 4 KiB and the last 4 KiB of them, and the bytes that were read ahead.
// A resumed job wants the same input from its beginning (`cat file |`, `tail -n +1 -f file |`) and passes over what it has
// had, once the checksums agree; with --accept-changed-input the new input is what follows the old one, and the bytes that
// had been read ahead come first.
//
//   byte version (2); varint rows, rows skipped, line, offset; 8 bytes XXH3 of the first 4 KiB, 8 bytes XXH3 of the 4 KiB
//   before the offset; varint length and bytes of what was read ahead
#include "base/alloc.h"
#include "engine/connectors/stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define STREAM_VERSION 2

bool tide__is_stream(const struct table *table) {
    const struct option *path = tide__table_option(table, "path");
    return path != NULL && tide__str_eq_c(path->value, "-");
}

void tide__stream_deinit(struct stream_reader *reader) {
    tide__strbuf_deinit(&reader->carry);
}

// --- what has passed --------------------------------------------------------------------------------------------

static void tail_add(struct stream_tail *tail, const char *bytes, size_t len) {
    if (len >= sizeof(tail->bytes)) {
        memcpy(tail->bytes, bytes + len - sizeof(tail->bytes), sizeof(tail->bytes));
        tail->len = sizeof(tail->bytes);
        return;
    }
    size_t keep = tail->len + len > sizeof(tail->bytes) ? sizeof(tail->bytes) - len : tail->len;
    memmove(tail->bytes, tail->bytes + tail->len - keep, keep);
    memcpy(tail->bytes + keep, bytes, len);
    tail->len = keep + len;
}

static void head_add(struct stream_reader *reader, const char *bytes, size_t len) {
    size_t room = sizeof(reader->head) - reader->head_len, n = len < room ? len : room;
    memcpy(reader->head + reader->head_len, bytes, n);
    reader->head_len += n;
}

// --- reading ----------------------------------------------------------------------------------------------------

// Appends what is there now, up to `want` bytes. *out_bytes 0: nothing, or the end.
static tide_status read_some(struct stream_reader *reader, size_t want, size_t *out_bytes, tide_error *err) {
    struct pollfd ready = {.fd = reader->fd, .events = POLLIN};
    *out_bytes = 0;
    int count = poll(&ready, 1, 0);
    if (count < 0 && errno != EINTR) return tide__fail_errno(err, errno, "can't read standard input");
    if (count <= 0) return TIDE_OK;
    char *room = tide__strbuf_reserve(&reader->carry, want);
    ssize_t n = read(reader->fd, room, want);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return TIDE_OK;
    if (n < 0) return tide__fail_errno(err, errno, "can't read standard input");
    reader->ended = n == 0;
    reader->carry.len += (size_t)n;
    *out_bytes = (size_t)n;
    head_add(reader, room, (size_t)n);
    return TIDE_OK;
}

static void drop_carry(struct stream_reader *reader, size_t len) {
    memmove(reader->carry.data, reader->carry.data + len, reader->carry.len - len);
    reader->carry.len -= len;
}

static tide_status other_input(const struct stream_reader *reader, tide_error *err) {
    tide__fail(err, TIDE_ERR_REFUSED, "standard input does not begin with the %llu bytes that had been read before",
               (unsigned long long)reader->skip_offset);
    return tide__fail_hint(
        err, "feed the same input from its beginning, or use --accept-changed-input if it goes on where the "
             "old one stopped");
}

// Passes over bytes that had been read before. *out_done: all of them have come.
static tide_status pass_over(struct stream_reader *reader, bool *out_done, tide_error *err) {
    *out_done = true;
    while (reader->skip > 0 && !reader->ended) {
        size_t bytes = 0;
        if (reader->carry.len == 0) TIDE_TRY(read_some(reader, reader->block_bytes, &bytes, err));
        if (reader->carry.len == 0 && !reader->ended) {
            *out_done = false;
            return TIDE_OK;
        }
        size_t n = reader->carry.len < reader->skip ? reader->carry.len : (size_t)reader->skip;
        tail_add(&reader->after, reader->carry.data, n);
        drop_carry(reader, n);
        reader->examined = false;
        reader->offset += n;
        reader->skip -= n;
    }
    if (reader->skip_offset == 0) return TIDE_OK;
    size_t head = reader->skip_offset < sizeof(reader->head) ? (size_t)reader->skip_offset : sizeof(reader->head);
    bool same = reader->skip == 0 && XXH3_64bits(reader->head, head) == reader->skip_head_hash &&
                XXH3_64bits(reader->after.bytes, reader->after.len) == reader->skip_tail_hash;
    if (!same) return other_input(reader, err);
    reader->skip_offset = 0;
    return TIDE_OK;
}

// Reads until there are whole rows, nothing more is there, or the end. *out_cut: bytes of whole rows.
static tide_status gather(struct stream_reader *reader, size_t *out_cut, tide_error *err) {
    *out_cut = 0;
    while (*out_cut == 0 && !reader->ended) {
        size_t before = reader->carry.len, bytes = 1;
        while (bytes > 0 && !reader->ended && reader->carry.len - before < reader->block_bytes) {
            TIDE_TRY(read_some(reader, reader->block_bytes, &bytes, err));
        }
        if (reader->carry.len == before && !reader->ended) return TIDE_OK;
        // Without a line end among what is new no row has ended.
        const char *fresh = reader->carry.data + before;
        size_t len = reader->carry.len - before;
        bool line_end = len > 0 && (memchr(fresh, '\n', len) != NULL || memchr(fresh, '\r', len) != NULL);
        if (line_end || reader->ended || before == 0) {
            *out_cut = reader->format->split(reader->format_reader, reader->carry.data, reader->carry.len,
                                             reader->ended);
        }
        if (*out_cut == 0 && reader->carry.len >= FORMAT_ROW_BYTES_MAX) {
            return tide__row_too_long("standard input", reader->line, tide__strbuf_str(&reader->carry), err);
        }
    }
    if (reader->ended) *out_cut = reader->carry.len;
    return TIDE_OK;
}

// Moves the whole rows into the block.
static void hand_over(struct stream_reader *reader, size_t cut, struct source_block *block) {
    const char *data = reader->carry.data;
    // A byte order mark is no data.
    bool bom = reader->offset == 0 && !reader->format->keeps_bom && cut >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0;
    size_t skip = bom ? 3 : 0;
    if (block->capacity < cut + FORMAT_PADDING) {
        block->capacity = cut + FORMAT_PADDING;
        block->data = tide__realloc(block->data, block->capacity);
    }
    memcpy(block->data, data + skip, cut - skip);
    memset(block->data + cut - skip, 0, FORMAT_PADDING);
    block->bytes = (struct format_block){.data = block->data, .len = cut - skip};
    block->file = 0;
    block->offset = reader->offset + skip;
    block->counted = false;
    block->last = reader->ended;
    reader->before = reader->after;
    tail_add(&reader->before, data, skip);
    tail_add(&reader->after, data, cut);
    drop_carry(reader, cut);
    reader->offset += cut;
}

tide_status tide__stream_next(struct stream_reader *reader, struct source_block *block, enum source_state *out_state,
                              tide_error *err) {
    block->bytes = (struct format_block){.data = block->data};
    *out_state = SOURCE_WAITING;
    bool passed = true;
    if (reader->skip_offset > 0) TIDE_TRY(pass_over(reader, &passed, err));
    if (!passed) return TIDE_OK;
    size_t cut = 0;
    // What came behind the bytes that were passed over, or was read ahead before a stop, may hold rows already.
    if (!reader->examined && reader->carry.len > 0) {
        cut = reader->format->split(reader->format_reader, reader->carry.data, reader->carry.len, reader->ended);
    }
    reader->examined = true;
    if (cut == 0) TIDE_TRY(gather(reader, &cut, err));
    if (cut > 0) {
        hand_over(reader, cut, block);
        *out_state = SOURCE_BATCH;
    } else if (reader->ended) {
        *out_state = SOURCE_END;
    }
    return TIDE_OK;
}

// --- positions --------------------------------------------------------------------------------------------------

static void put_varint(struct strbuf *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) tide__strbuf_append_char(out, (char)(value | 0x80));
    tide__strbuf_append_char(out, (char)value);
}

static void put_fixed(struct strbuf *out, uint64_t value) {
    for (int i = 0; i < 8; i++) tide__strbuf_append_char(out, (char)(value >> (8 * i)));
}

void tide__stream_save(const struct stream_reader *reader, const struct source_block *block, size_t at,
                       const struct source_place *place, struct strbuf *out) {
    struct stream_tail tail = block != NULL ? reader->before : reader->after;
    uint64_t offset = block != NULL ? block->offset + at : reader->offset;
    size_t ahead = block != NULL ? block->bytes.len - at : 0;
    assert(block == NULL || block->offset + block->bytes.len == reader->offset);
    if (block != NULL) tail_add(&tail, block->bytes.data, at);
    // Not all of the bytes that are to be passed over have come again: the place is still the old one.
    bool passing = reader->skip_offset > 0;
    if (passing) offset = reader->skip_offset;
    size_t head = offset < reader->head_len ? (size_t)offset : reader->head_len;
    tide__strbuf_append_char(out, STREAM_VERSION);
    put_varint(out, place->rows);
    put_varint(out, place->skipped);
    put_varint(out, place->line);
    put_varint(out, offset);
    put_fixed(out, passing ? reader->skip_head_hash : XXH3_64bits(reader->head, head));
    put_fixed(out, passing ? reader->skip_tail_hash : XXH3_64bits(tail.bytes, tail.len));
    put_varint(out, passing ? 0 : ahead + reader->carry.len);
    if (passing) return;
    if (ahead > 0) tide__strbuf_append(out, block->bytes.data + at, ahead);
    tide__strbuf_append_str(out, tide__strbuf_str(&reader->carry));
}

static bool get_varint(struct str *in, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && in->len > 0; shift += 7) {
        unsigned char c = (unsigned char)*in->data++;
        in->len--;
        *out |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) return true;
    }
    return false;
}

static bool get_fixed(struct str *in, uint64_t *out) {
    if (in->len < 8) return false;
    *out = 0;
    for (int i = 0; i < 8; i++) *out |= (uint64_t)(unsigned char)in->data[i] << (8 * i);
    in->data += 8;
    in->len -= 8;
    return true;
}

tide_status tide__stream_restore(struct stream_reader *reader, struct str saved, enum changed_input changed,
                                 struct source_place *out, tide_error *err) {
    *out = (struct source_place){.line = 1};
    if (saved.len > 0 && saved.data[0] != STREAM_VERSION) {
        return tide__fail(err, TIDE_ERR_REFUSED,
                          "the savepoint is of a job that read files, this one reads standard input");
    }
    struct str in = {saved.data + 1, saved.len > 0 ? saved.len - 1 : 0};
    uint64_t ahead = 0;
    bool ok = saved.len > 0 && get_varint(&in, &out->rows) && get_varint(&in, &out->skipped) &&
              get_varint(&in, &out->line) && get_varint(&in, &reader->skip_offset) &&
              get_fixed(&in, &reader->skip_head_hash) && get_fixed(&in, &reader->skip_tail_hash) &&
              get_varint(&in, &ahead) && ahead == in.len;
    if (!ok) return tide__fail(err, TIDE_ERR_SAVEPOINT, "the savepoint's input position is damaged");
    out->offset = reader->skip = reader->skip_offset;
    if (changed == CHANGED_INPUT_REFUSE) return TIDE_OK;
    // What is fed now is taken for a stream that begins where the old one stopped; nothing is passed over.
    reader->skip = reader->skip_offset = out->offset = 0;
    reader->examined = false;
    tide__strbuf_append_str(&reader->carry, in);
    head_add(reader, in.data, in.len);
    return TIDE_OK;
}
