// Where a file table's reading stood, in a savepoint: version 1.
//
//   byte version; varint rows, rows skipped, files; a file:
//   varint flags (1: reading goes on here, 2: its last row had no line end, 4: a watching job has finished it), path length,
//   path, size, offset, line,
//   8 bytes XXH3 of the first 4 KiB, 8 bytes XXH3 of the 4 KiB before the offset (both only of what is before it)
//
// Every file is there of which something was read. A restore looks at each: one that is shorter than it was or whose
// checked bytes differ has been changed, and going on would give rows twice or never. What a watching job has finished may
// have been changed, moved or removed since: as in Flink each path is read once. The order of reading then is: the
// file that was being read, what sorts behind it, then what is new or has grown before it.
#include "base/alloc.h"
#include "engine/connectors/filesystem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POSITION_VERSION 1
#define CHECKED_BYTES    ((uint64_t)POSITION_CHECKED_BYTES)

enum { FLAG_CURRENT = 1, FLAG_UNTERMINATED = 2, FLAG_FINISHED = 4 };

static bool hash_range(int fd, uint64_t offset, uint64_t len, uint64_t *out) {
    char bytes[CHECKED_BYTES];
    size_t have = 0;
    while (have < len) {
        ssize_t n = pread(fd, bytes + have, len - have, (off_t)(offset + have));
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = 0;
        if (n <= 0) return false;
        have += (size_t)n;
    }
    *out = XXH3_64bits(bytes, have);
    return true;
}

// Checksums of the file's bytes before an offset. False if they can't be read: errno, 0 if the file ends before.
static bool hash_before(const char *open_path, uint64_t offset, uint64_t *out_head, uint64_t *out_tail) {
    int fd = open(open_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    uint64_t len = offset < CHECKED_BYTES ? offset : CHECKED_BYTES;
    bool ok = hash_range(fd, 0, len, out_head) && hash_range(fd, offset - len, len, out_tail);
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

// --- saving -----------------------------------------------------------------------------------------------------

static void put_varint(struct strbuf *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) tide__strbuf_append_char(out, (char)(value | 0x80));
    tide__strbuf_append_char(out, (char)value);
}

static void put_fixed(struct strbuf *out, uint64_t value) {
    for (int i = 0; i < 8; i++) tide__strbuf_append_char(out, (char)(value >> (8 * i)));
}

// Offset and line of file i at a place; false if it has not been begun.
static bool file_offset(const struct input_files *files, size_t i, const struct source_place *place,
                        uint64_t *out_offset, uint64_t *out_line) {
    const struct input_file *file = &files->items[i];
    *out_offset = i < place->file ? file->end : i == place->file ? place->offset : file->start;
    *out_line = i == place->file ? place->line : i < place->file ? 0 : file->start_line;
    return *out_offset > 0 || file->finished || (files->watched && i < place->file);
}

static tide_status put_file(struct input_file *file, uint64_t flags, uint64_t offset, uint64_t line, struct strbuf *out,
                            tide_error *err) {
    if (!file->hashed || file->hashed_offset != offset) {
        file->head_hash = file->tail_hash = 0;
        // A file that is gone or shorter by now has been read all the same; restoring will say so.
        if (!hash_before(file->open_path, offset, &file->head_hash, &file->tail_hash) && errno != ENOENT &&
            errno != 0) {
            return tide__fail_errno(err, errno, "can't read input file \"%s\"", file->path);
        }
        file->hashed = true;
        file->hashed_offset = offset;
    }
    struct stat info;
    uint64_t size = file->size;
    if (!(flags & FLAG_FINISHED) && stat(file->open_path, &info) == 0) size = (uint64_t)info.st_size;
    put_varint(out, flags);
    put_varint(out, strlen(file->path));
    tide__strbuf_append_c(out, file->path);
    put_varint(out, size);
    put_varint(out, offset);
    put_varint(out, line);
    put_fixed(out, file->head_hash);
    put_fixed(out, file->tail_hash);
    return TIDE_OK;
}

tide_status tide__position_save(struct input_files *files, const struct source_place *place, struct strbuf *out,
                                tide_error *err) {
    uint64_t count = 0, offset = 0, line = 0;
    for (size_t i = 0; i < files->count; i++) count += file_offset(files, i, place, &offset, &line);
    tide__strbuf_append_char(out, POSITION_VERSION);
    put_varint(out, place->rows);
    put_varint(out, place->skipped);
    put_varint(out, count);
    for (size_t i = 0; i < files->count; i++) {
        if (!file_offset(files, i, place, &offset, &line)) continue;
        struct input_file *file = &files->items[i];
        uint64_t flags = i == place->file ? FLAG_CURRENT : 0;
        if (file->finished || (files->watched && i < place->file)) flags |= FLAG_FINISHED;
        // The thread that reads may come to the file's end just now; it sets the end last.
        if (offset == __atomic_load_n(&file->end, __ATOMIC_ACQUIRE) &&
            __atomic_load_n(&file->unterminated, __ATOMIC_RELAXED))
            flags |= FLAG_UNTERMINATED;
        TIDE_TRY(put_file(file, flags, offset, line, out, err));
    }
    return TIDE_OK;
}

// --- restoring --------------------------------------------------------------------------------------------------

struct saved_file {
    uint64_t flags, size, offset, line, head_hash, tail_hash;
    struct str path;
};

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

static bool get_file(struct str *in, struct saved_file *out) {
    uint64_t path_len = 0;
    if (!get_varint(in, &out->flags) || !get_varint(in, &path_len) || path_len > in->len) return false;
    out->path = (struct str){in->data, (size_t)path_len};
    in->data += path_len;
    in->len -= (size_t)path_len;
    return get_varint(in, &out->size) && get_varint(in, &out->offset) && get_varint(in, &out->line) &&
           get_fixed(in, &out->head_hash) && get_fixed(in, &out->tail_hash);
}

static tide_status changed_error(tide_error *err, const struct saved_file *saved, const char *what) {
    tide__fail(err, TIDE_ERR_REFUSED, "input file \"%.*s\" has changed since the savepoint: %s", STR_ARG(saved->path),
               what);
    return tide__fail_hint(err, "bring the old file back, or go on from byte %llu with --accept-changed-input",
                           (unsigned long long)saved->offset);
}

// Whether what was read of a file still stands there. `what` says what is wrong, "" if nothing is.
static void compare_with_saved(const struct input_file *file, const struct saved_file *saved, char *what, size_t size) {
    unsigned long long offset = (unsigned long long)saved->offset, now = (unsigned long long)file->size;
    uint64_t head = 0, tail = 0;
    what[0] = '\0';
    if (file->size < saved->offset) {
        snprintf(what, size, "%llu bytes of %llu had been read, now it has %llu", offset,
                 (unsigned long long)saved->size, now);
    } else if (file->size < saved->size) {
        snprintf(what, size, "it had %llu bytes, now it has %llu", (unsigned long long)saved->size, now);
    } else if (!hash_before(file->open_path, saved->offset, &head, &tail)) {
        snprintf(what, size, "%llu bytes had been read, now it can't be read", offset);
    } else if (head != saved->head_hash || tail != saved->tail_hash) {
        snprintf(what, size, "the %s 4 KiB before byte %llu, where reading stopped, had checksum %016llx, now %016llx",
                 head != saved->head_hash ? "first" : "last", offset,
                 (unsigned long long)(head != saved->head_hash ? saved->head_hash : saved->tail_hash),
                 (unsigned long long)(head != saved->head_hash ? head : tail));
    }
}

// The byte at an offset, -1 if there is none.
static int byte_at(const char *open_path, uint64_t offset) {
    unsigned char c = 0;
    int fd = open(open_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t n = pread(fd, &c, 1, (off_t)offset);
    close(fd);
    return n == 1 ? c : -1;
}

// A last row without line end was taken for whole. If the file has grown, its line end may have come, but not more of it.
static void check_last_row(struct input_file *file, const struct saved_file *saved, char *what, size_t size) {
    if (file->size <= saved->offset || saved->offset == 0) return;
    int next = byte_at(file->open_path, saved->offset);
    bool open_cr = byte_at(file->open_path, saved->offset - 1) == '\r';
    if (next == '\n' && (open_cr || (saved->flags & FLAG_UNTERMINATED))) {
        file->start++;
        return;
    }
    if ((saved->flags & FLAG_UNTERMINATED) == 0) return;
    if (next == '\r') {
        file->start += byte_at(file->open_path, saved->offset + 1) == '\n' ? 2 : 1;
        return;
    }
    snprintf(what, size, "its last line had no line end at byte %llu and was read as it stood, now it is longer",
             (unsigned long long)saved->offset);
}

uint64_t tide__line_at(const char *open_path, uint64_t offset) {
    uint64_t line = 1;
    int fd = open(open_path, O_RDONLY | O_CLOEXEC);
    char bytes[1 << 14];
    char before = '\0';
    for (uint64_t at = 0; fd >= 0 && at < offset;) {
        size_t want = offset - at < sizeof(bytes) ? (size_t)(offset - at) : sizeof(bytes);
        ssize_t n = pread(fd, bytes, want, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        for (ssize_t i = 0; i < n; i++) {
            line += bytes[i] == '\r' || (bytes[i] == '\n' && before != '\r');
            before = bytes[i];
        }
        at += (uint64_t)n;
    }
    if (fd >= 0) close(fd);
    return line;
}

static struct input_file *find_file(struct input_files *files, struct str path) {
    for (size_t i = 0; i < files->count; i++) {
        if (tide__str_eq_c(path, files->items[i].path)) return &files->items[i];
    }
    return NULL;
}

static void restore_finished(struct input_files *files, const struct saved_file *saved) {
    struct input_file *file = find_file(files, saved->path);
    if (file == NULL) {
        files->items = tide__grow(files->items, &files->capacity, files->count + 1, sizeof(*files->items));
        file = &files->items[files->count++];
        char *path = tide__alloc(saved->path.len + 1);
        memcpy(path, saved->path.data, saved->path.len);
        path[saved->path.len] = '\0';
        *file = (struct input_file){.path = path, .open_path = tide__strdup(path)};
    }
    file->finished = file->hashed = true;
    file->size = saved->size;
    file->start = file->end = file->hashed_offset = saved->offset;
    file->head_hash = saved->head_hash;
    file->tail_hash = saved->tail_hash;
}

static tide_status restore_file(struct input_files *files, const struct saved_file *saved, enum changed_input changed,
                                tide_error *err) {
    struct input_file *file = find_file(files, saved->path);
    if (file == NULL) {
        if (changed == CHANGED_INPUT_ACCEPT) return TIDE_OK;
        return changed_error(err, saved, "it is gone");
    }
    char what[256];
    file->start = file->end = saved->offset;
    file->start_line = saved->line > 0              ? saved->line
                       : file->size > saved->offset ? tide__line_at(file->open_path, saved->offset)
                                                    : 1;
    file->unterminated = (saved->flags & FLAG_UNTERMINATED) != 0;
    compare_with_saved(file, saved, what, sizeof(what));
    if (what[0] == '\0') check_last_row(file, saved, what, sizeof(what));
    if (what[0] != '\0' && changed == CHANGED_INPUT_REFUSE) return changed_error(err, saved, what);
    return TIDE_OK;
}

// Groups of files in reading order; inside a group the path decides, which is how the list comes.
enum reading_group { GROUP_READ, GROUP_CURRENT, GROUP_BEHIND, GROUP_BEFORE };

static bool is_read(const struct input_file *file) {
    return file->finished || (file->start > 0 && file->size <= file->start);
}

static enum reading_group group_of(const struct input_file *file, struct str current) {
    int order = tide__str_cmp(tide__str(file->path), current);
    if (file->finished) return GROUP_READ;
    if (order == 0) return GROUP_CURRENT;
    if (is_read(file)) return GROUP_READ;
    return current.len > 0 && order < 0 ? GROUP_BEFORE : GROUP_BEHIND;
}

static void order_files(struct input_files *files, struct str current) {
    struct input_file *ordered = tide__calloc(files->count + 1, sizeof(*ordered));
    size_t count = 0;
    for (int group = GROUP_READ; group <= GROUP_BEFORE; group++) {
        for (size_t i = 0; i < files->count; i++) {
            if (group_of(&files->items[i], current) == (enum reading_group)group) ordered[count++] = files->items[i];
        }
    }
    assert(count == files->count);
    tide__free(files->items);
    files->items = ordered;
    files->capacity = files->count + 1;
}

static tide_status damaged(tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the savepoint's input position is damaged");
}

tide_status tide__position_restore(struct input_files *files, struct str saved, enum changed_input changed,
                                   struct source_place *out, tide_error *err) {
    *out = (struct source_place){.line = 1};
    if (saved.len == 0) return damaged(err);
    if (saved.data[0] != POSITION_VERSION) {
        return tide__fail(err, TIDE_ERR_SAVEPOINT,
                          "the savepoint's input position has format %d, this program reads %d", saved.data[0],
                          POSITION_VERSION);
    }
    struct str in = {saved.data + 1, saved.len - 1};
    uint64_t count = 0;
    if (!get_varint(&in, &out->rows) || !get_varint(&in, &out->skipped) || !get_varint(&in, &count))
        return damaged(err);
    struct str current = {"", 0};
    for (uint64_t i = 0; i < count; i++) {
        struct saved_file file = {0};
        if (!get_file(&in, &file)) return damaged(err);
        if (file.flags & FLAG_CURRENT) current = file.path;
        if (file.flags & FLAG_FINISHED) {
            restore_finished(files, &file);
        } else {
            TIDE_TRY(restore_file(files, &file, changed, err));
        }
    }
    if (in.len > 0) return damaged(err);
    order_files(files, current);
    // Finished files are in front; the first one that has more gives the place.
    while (out->file < files->count && is_read(&files->items[out->file])) out->file++;
    if (out->file < files->count) {
        out->offset = files->items[out->file].start;
        out->line = files->items[out->file].start_line;
    }
    return TIDE_OK;
}

bool tide__position_list(struct str saved, struct arena *arena, struct position_file **out, size_t *out_count) {
    uint64_t rows, skipped, count;
    *out = NULL;
    *out_count = 0;
    if (saved.len == 0 || saved.data[0] != POSITION_VERSION) return false;
    struct str in = {saved.data + 1, saved.len - 1};
    if (!get_varint(&in, &rows) || !get_varint(&in, &skipped) || !get_varint(&in, &count) || count > in.len)
        return false;
    struct position_file *files = ARENA_ARRAY(arena, struct position_file, count + 1);
    for (uint64_t i = 0; i < count; i++) {
        struct saved_file file;
        if (!get_file(&in, &file)) return false;
        files[i] = (struct position_file){file.path,
                                          file.size,
                                          file.offset,
                                          file.line,
                                          (file.flags & FLAG_FINISHED) != 0,
                                          (file.flags & FLAG_CURRENT) != 0};
    }
    *out = files;
    *out_count = count;
    return in.len == 0;
}
