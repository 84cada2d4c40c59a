// Reading files in blocks that end at row ends.
//
// Plain pread, no mmap: a file that is cut short while it is read must be an end of input, not a SIGBUS. Bytes behind
// the last row end of a block are carried to the next one. One thread at a time may call.
#include "base/alloc.h"
#include "engine/connectors/filesystem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// Of a row that is too long so much is looked at for a message.
#define EXCERPT_BYTES ((size_t)4096)

static void block_reserve(struct source_block *block, size_t len) {
    if (block->capacity >= len + FORMAT_PADDING) return;
    block->data = tide__realloc(block->data, len + FORMAT_PADDING);
    block->capacity = len + FORMAT_PADDING;
}

static tide_status open_current(struct file_reader *reader, tide_error *err) {
    struct input_file *file = &reader->files.items[reader->current];
    reader->fd = open(file->open_path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0) return tide__fail_errno(err, errno, "can't open \"%s\"", file->path);
    posix_fadvise(reader->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    reader->offset = file->start;
    reader->carry_len = 0;
    return TIDE_OK;
}

static void close_current(struct file_reader *reader) {
    if (reader->fd >= 0) close(reader->fd);
    reader->fd = -1;
    reader->current++;
}

// Appends up to `want` bytes of the file; *out_end: the file ends there.
static tide_status append_bytes(struct file_reader *reader, struct source_block *block, size_t *len, size_t want,
                                bool *out_end, tide_error *err) {
    block_reserve(block, *len + want);
    *out_end = false;
    for (size_t goal = *len + want; *len < goal;) {
        ssize_t n = pread(reader->fd, block->data + *len, goal - *len, (off_t)(reader->offset + *len));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return tide__fail_errno(err, errno, "can't read \"%s\"", reader->files.items[reader->current].path);
        if (n == 0) {
            *out_end = true;
            return TIDE_OK;
        }
        *len += (size_t)n;
    }
    return TIDE_OK;
}

tide_status tide__row_too_long(const char *path, uint64_t line, struct str start, tide_error *err) {
    tide__fail(err, TIDE_ERR_RUNTIME, "the row that begins here is longer than %zu MiB, the most that one may have",
               FORMAT_ROW_BYTES_MAX >> 20);
    tide__fail_hint(err, "look for a quote that is not closed, or for line ends that are missing");
    if (err == NULL) return TIDE_ERR_RUNTIME;
    tide__error_set_file(err, path);
    err->line = err->column = 1;
    tide__error_set_excerpt(err, start.data, start.len < EXCERPT_BYTES ? start.len : EXCERPT_BYTES);
    err->line = (uint32_t)line;
    return TIDE_ERR_RUNTIME;
}

// A byte order mark is no data. The block begins behind it.
static void skip_bom(struct file_reader *reader, struct source_block *block, size_t *len, size_t *cut) {
    if (reader->format->keeps_bom || reader->offset != 0 || *cut < 3 || memcmp(block->data, "\xEF\xBB\xBF", 3) != 0)
        return;
    memmove(block->data, block->data + 3, *len - 3);
    *len -= 3;
    *cut -= 3;
    reader->offset = 3;
}

// Fills the block from the current file. Length 0: the file has ended.
static tide_status fill(struct file_reader *reader, struct source_block *block, tide_error *err) {
    struct input_file *file = &reader->files.items[reader->current];
    size_t len = reader->carry_len, cut = 0;
    block_reserve(block, len + reader->block_bytes);
    if (len > 0) memcpy(block->data, reader->carry, len);
    bool at_end = false;
    for (size_t want = reader->block_bytes; cut == 0 && !at_end; want = len) {
        TIDE_TRY(append_bytes(reader, block, &len, want, &at_end, err));
        cut = reader->format->split(reader->format_reader, block->data, len, at_end);
        if (cut == 0 && len >= FORMAT_ROW_BYTES_MAX) {
            uint64_t line = tide__line_at(file->open_path, reader->offset);
            return tide__row_too_long(file->path, line, (struct str){block->data, len}, err);
        }
    }
    if (at_end) {
        if (len > 0) __atomic_store_n(&file->unterminated, cut < len, __ATOMIC_RELAXED);
        cut = len;
        __atomic_store_n(&file->end, reader->offset + len, __ATOMIC_RELEASE);  // a barrier may look (position.c)
    }
    skip_bom(reader, block, &len, &cut);
    reader->carry_len = len - cut;
    reader->carry = tide__grow(reader->carry, &reader->carry_capacity, reader->carry_len + 1, 1);
    memcpy(reader->carry, block->data + cut, reader->carry_len);
    memset(block->data + cut, 0, FORMAT_PADDING);
    block->bytes = (struct format_block){.data = block->data, .len = cut};
    block->file = reader->current;
    block->offset = reader->offset;
    block->counted = false;
    block->last = at_end;
    reader->offset += cut;
    if (at_end) close_current(reader);
    return TIDE_OK;
}

tide_status tide__file_reader_next(struct file_reader *reader, struct source_block *block, tide_error *err) {
    assert(reader->block_bytes > 0);
    block->bytes = (struct format_block){.data = block->data};
    while (reader->current < reader->files.count) {
        if (reader->fd < 0) TIDE_TRY(open_current(reader, err));
        TIDE_TRY(fill(reader, block, err));
        if (block->bytes.len > 0) return TIDE_OK;
    }
    return TIDE_OK;
}

void tide__file_reader_deinit(struct file_reader *reader) {
    if (reader->fd >= 0) close(reader->fd);
    reader->fd = -1;
    tide__free(reader->carry);
    tide__filesystem_list_free(&reader->files);
}
