// Pending files of the file sink: hidden ones that a savepoint lists, and how they become visible.
//
//   .part-<run>-<number>.open  --rename, once the savepoint is durable-->  part-<run>-<number>
//
// A rename may be repeated after a crash, so a missing hidden file with a visible one in its place is fine. Nothing is ever
// renamed over an existing file: a visible file never changes.
#include "engine/connectors/pending.h"

#include "base/alloc.h"
#include "base/killpoint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PENDING_VERSION  2
#define FOLDER_DEPTH_MAX 16  // partition keys

// --- encoding ---------------------------------------------------------------------------------------------------

static void put_varint(struct strbuf *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) tide__strbuf_append_char(out, (char)(value | 0x80));
    tide__strbuf_append_char(out, (char)value);
}

static void put_str(struct strbuf *out, struct str s) {
    put_varint(out, s.len);
    tide__strbuf_append_str(out, s);
}

void tide__pending_begin(struct strbuf *out, const char *run, uint64_t next_number, uint64_t count) {
    tide__strbuf_append_char(out, PENDING_VERSION);
    put_str(out, tide__str(run));
    put_varint(out, next_number);
    put_varint(out, count);
}

void tide__pending_add(struct strbuf *out, const struct pending_file *file) {
    put_str(out, file->folder);
    put_varint(out, file->number);
    put_varint(out, file->length);
    for (int i = 0; i < 8; i++) tide__strbuf_append_char(out, (char)(file->hash >> (8 * i)));
}

void tide__pending_again_begin(struct strbuf *out, uint64_t count) {
    put_varint(out, count);
}

void tide__pending_again_add(struct strbuf *out, struct str folder, uint64_t number, uint64_t offset) {
    put_str(out, folder);
    put_varint(out, number);
    put_varint(out, offset);
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

static bool get_str(struct str *in, struct str *out) {
    uint64_t len = 0;
    if (!get_varint(in, &len) || len > in->len) return false;
    *out = (struct str){in->data, (size_t)len};
    in->data += len;
    in->len -= (size_t)len;
    return true;
}

static tide_status damaged(tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the savepoint's list of output files is damaged");
}

tide_status tide__pending_open(struct str encoded, struct pending_reader *out, tide_error *err) {
    *out = (struct pending_reader){0};
    if (encoded.len == 0) return damaged(err);
    out->version = (unsigned char)encoded.data[0];
    if (out->version < 1 || out->version > PENDING_VERSION) {
        return tide__fail(err, TIDE_ERR_SAVEPOINT,
                          "the savepoint's list of output files has format %d, this program reads up to %d",
                          out->version, PENDING_VERSION);
    }
    out->rest = (struct str){encoded.data + 1, encoded.len - 1};
    bool ok = get_str(&out->rest, &out->run) && get_varint(&out->rest, &out->next_number) &&
              get_varint(&out->rest, &out->count);
    return ok ? TIDE_OK : damaged(err);
}

// The folder comes from the savepoint: it may not lead out of the sink's.
static bool folder_is_inside(struct str folder) {
    if (folder.len > 0 && (folder.data[0] == '/' || folder.data[folder.len - 1] != '/')) return false;
    for (size_t from = 0; from < folder.len;) {
        const char *slash = memchr(folder.data + from, '/', folder.len - from);
        struct str part = {folder.data + from, (size_t)(slash - folder.data) - from};
        if (part.len == 0 || tide__str_eq_c(part, "..") || tide__str_eq_c(part, ".")) return false;
        if (memchr(part.data, '\0', part.len) != NULL) return false;
        from += part.len + 1;
    }
    return true;
}

tide_status tide__pending_next(struct pending_reader *reader, struct pending_file *out, tide_error *err) {
    struct str *in = &reader->rest;
    if (!get_str(in, &out->folder) || !get_varint(in, &out->number) || !get_varint(in, &out->length))
        return damaged(err);
    if (in->len < 8 || !folder_is_inside(out->folder)) return damaged(err);
    out->hash = 0;
    for (int i = 0; i < 8; i++) out->hash |= (uint64_t)(unsigned char)in->data[i] << (8 * i);
    in->data += 8;
    in->len -= 8;
    return TIDE_OK;
}

tide_status tide__pending_again_count(struct pending_reader *reader, uint64_t *out, tide_error *err) {
    *out = 0;
    if (reader->version < 2) return TIDE_OK;
    return get_varint(&reader->rest, out) ? TIDE_OK : damaged(err);
}

tide_status tide__pending_again_next(struct pending_reader *reader, struct pending_file *out, tide_error *err) {
    *out = (struct pending_file){0};
    struct str *in = &reader->rest;
    bool ok = get_str(in, &out->folder) && get_varint(in, &out->number) && get_varint(in, &out->length);
    return ok && folder_is_inside(out->folder) ? TIDE_OK : damaged(err);
}

tide_status tide__pending_check(struct str encoded, tide_error *err) {
    struct pending_reader reader;
    struct pending_file file;
    uint64_t again = 0;
    TIDE_TRY(tide__pending_open(encoded, &reader, err));
    for (uint64_t i = 0; i < reader.count; i++) TIDE_TRY(tide__pending_next(&reader, &file, err));
    TIDE_TRY(tide__pending_again_count(&reader, &again, err));
    for (uint64_t i = 0; i < again; i++) TIDE_TRY(tide__pending_again_next(&reader, &file, err));
    return reader.rest.len == 0 ? TIDE_OK : damaged(err);
}

// --- files ------------------------------------------------------------------------------------------------------

static char *file_name(const char *base, const struct pending_file *file, struct str run, const char *prefix,
                       const char *suffix) {
    struct strbuf out = {0};
    tide__strbuf_printf(&out, "%s/%.*s%s%.*s-%08llu%s", base, STR_ARG(file->folder), prefix, STR_ARG(run),
                        (unsigned long long)file->number, suffix);
    return out.data;
}

char *tide__pending_hidden(const char *base, const struct pending_file *file, struct str run) {
    return file_name(base, file, run, ".part-", ".open");
}

char *tide__pending_visible(const char *base, const struct pending_file *file, struct str run) {
    return file_name(base, file, run, "part-", "");
}

static tide_status verify_file(const char *path, const struct pending_file *file, tide_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tide__fail_errno(err, errno, "can't read output file \"%s\"", path);
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    char *buffer = tide__alloc(1 << 16);
    uint64_t length = 0;
    ssize_t n = 0;
    while ((n = read(fd, buffer, 1 << 16)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0) continue;
        XXH3_64bits_update(state, buffer, (size_t)n);
        length += (uint64_t)n;
    }
    int error_number = n < 0 ? errno : 0;
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    tide__free(buffer);
    close(fd);
    if (error_number != 0) return tide__fail_errno(err, error_number, "can't read output file \"%s\"", path);
    if (length == file->length && hash == file->hash) return TIDE_OK;
    tide__fail(err, TIDE_ERR_IO,
               "output file \"%s\" is not what the savepoint says: %llu bytes, checksum %016llx, "
               "but it should have %llu bytes, checksum %016llx",
               path, (unsigned long long)length, (unsigned long long)hash, (unsigned long long)file->length,
               (unsigned long long)file->hash);
    return tide__fail_hint(err,
                           "something else has written there; move it away and start with --from and an empty folder");
}

static bool exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static tide_status rename_file(const char *hidden, const char *visible, tide_error *err) {
    if (exists(visible)) {
        tide__fail(err, TIDE_ERR_IO, "output file \"%s\" exists already", visible);
        return tide__fail_hint(err, "move it away: a finished output file is never overwritten");
    }
    tide__kill_point("sink.before-rename");
    if (rename(hidden, visible) != 0) return tide__fail_errno(err, errno, "can't rename \"%s\"", hidden);
    tide__kill_point("sink.after-rename");
    return TIDE_OK;
}

tide_status tide__pending_publish(const char *base, const struct pending_file *file, struct str run, bool verify,
                                  tide_error *err) {
    char *hidden = tide__pending_hidden(base, file, run), *visible = tide__pending_visible(base, file, run);
    tide_status status = TIDE_OK;
    if (exists(hidden)) {
        if (verify) status = verify_file(hidden, file, err);
        if (status == TIDE_OK) status = rename_file(hidden, visible, err);
    } else if (exists(visible)) {
        if (verify) status = verify_file(visible, file, err);
    } else {
        tide__fail(err, TIDE_ERR_IO, "output file \"%s\", which the savepoint lists, is gone", visible);
        status = tide__fail_hint(err, "put it back, or start anew from the savepoint with --from");
    }
    tide__free(hidden);
    tide__free(visible);
    return status;
}

tide_status tide__pending_sync_folder(const char *base, struct str folder, tide_error *err) {
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/%.*s", base, STR_ARG(folder));
    int fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tide_status status = TIDE_OK;
    if (fd < 0 || fsync(fd) != 0) status = tide__fail_errno(err, errno, "can't sync folder \"%s\"", path.data);
    if (fd >= 0) close(fd);
    tide__strbuf_deinit(&path);
    return status;
}

static bool is_hidden_of(const char *name, const char *run) {
    size_t len = strlen(name), run_len = strlen(run);
    return len > run_len + 12 && memcmp(name, ".part-", 6) == 0 && memcmp(name + 6, run, run_len) == 0 &&
           name[6 + run_len] == '-' && strcmp(name + len - 5, ".open") == 0;
}

// `path` is the sink's folder (its first `base_len` bytes) and a `key=value` folder below it.
static tide_status walk(struct strbuf *path, size_t base_len, int depth, pending_visit_fn *visit, void *ctx,
                        tide_error *err) {
    DIR *listing = opendir(path->data);
    if (listing == NULL) {
        return errno == ENOENT ? TIDE_OK : tide__fail_errno(err, errno, "can't read folder \"%s\"", path->data);
    }
    struct strbuf folder = {0};
    if (path->len > base_len) tide__strbuf_printf(&folder, "%s/", path->data + base_len + 1);
    tide_status status = TIDE_OK;
    for (struct dirent *entry; status == TIDE_OK && (entry = readdir(listing)) != NULL;) {
        struct stat info;
        bool below = entry->d_name[0] != '.' && strchr(entry->d_name, '=') != NULL && depth < FOLDER_DEPTH_MAX &&
                     fstatat(dirfd(listing), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
        if (!below) {
            status = visit(ctx, path->data, tide__strbuf_str(&folder), entry->d_name, err);
            continue;
        }
        size_t len = path->len;
        tide__strbuf_printf(path, "/%s", entry->d_name);
        status = walk(path, base_len, depth + 1, visit, ctx, err);
        path->len = len;
        path->data[len] = '\0';
    }
    closedir(listing);
    tide__strbuf_deinit(&folder);
    return status;
}

tide_status tide__pending_walk(const char *base, pending_visit_fn *visit, void *ctx, tide_error *err) {
    struct strbuf path = {0};
    tide__strbuf_append_c(&path, base);
    tide_status status = walk(&path, path.len, 0, visit, ctx, err);
    tide__strbuf_deinit(&path);
    return status;
}

static tide_status remove_hidden(void *run, const char *folder_path, struct str folder, const char *name,
                                 tide_error *err) {
    (void)folder;
    if (!is_hidden_of(name, run)) return TIDE_OK;
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/%s", folder_path, name);
    tide_status status = TIDE_OK;
    if (unlink(path.data) != 0) status = tide__fail_errno(err, errno, "can't remove \"%s\"", path.data);
    tide__strbuf_deinit(&path);
    return status;
}

tide_status tide__pending_sweep(const char *base, const char *run, tide_error *err) {
    return tide__pending_walk(base, remove_hidden, (void *)run, err);
}

tide_status tide__pending_overwrite(const char *base, struct str folder, const char *run, tide_error *err) {
    struct strbuf path = {0}, own = {0};
    tide__strbuf_printf(&path, "%s/%.*s", base, STR_ARG(folder));
    tide__strbuf_printf(&own, "part-%s-", run);
    DIR *listing = opendir(path.data);
    tide_status status = TIDE_OK;
    if (listing == NULL && errno != ENOENT)
        status = tide__fail_errno(err, errno, "can't read folder \"%s\"", path.data);
    for (struct dirent *entry; status == TIDE_OK && listing != NULL && (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_' || strncmp(entry->d_name, own.data, own.len) == 0)
            continue;
        struct stat info;
        bool file = fstatat(dirfd(listing), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode);
        if (file && unlinkat(dirfd(listing), entry->d_name, 0) != 0 && errno != ENOENT) {
            status = tide__fail_errno(err, errno, "can't overwrite \"%s/%s\"", path.data, entry->d_name);
        }
    }
    if (listing != NULL) closedir(listing);
    tide__strbuf_deinit(&path);
    tide__strbuf_deinit(&own);
    return status;
}
