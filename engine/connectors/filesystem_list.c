// Which files a table has, in which order.
//
// The path is a file, a folder that is entered to any depth, or a pattern of the shell for such paths (an addition of ours,
// for which nothing of the very name may exist); names that begin with `.` or `_` are hidden, as for Flink. Of a folder's
// files `source.path.regex-pattern` takes those whose absolute path it matches. The order is that of the path's bytes: it
// numbers the rows, so it must not depend on the disk. A table that is watched is listed again and again: what is new comes
// behind what was there, in path order again.
#include "base/alloc.h"
#include "base/time.h"
#include "engine/connectors/filesystem.h"
#include "engine/functions/regex.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_DEPTH_MAX 64

struct str tide__partition_default(const struct table *table) {
    const struct option *option = tide__table_option(table, "partition.default-name");
    return option != NULL ? option->value : tide__str("__DEFAULT_PARTITION__");
}

static struct str without_scheme(struct str path) {
    static const char scheme[] = "file:";
    if (path.len < 5 || memcmp(path.data, scheme, 5) != 0) return path;
    path.data += 5;
    path.len -= 5;
    while (path.len > 1 && path.data[0] == '/' && path.data[1] == '/') {
        path.data++;
        path.len--;
    }
    return path;
}

char *tide__filesystem_path(const char *script_dir, struct str path) {
    struct strbuf out = {0};
    path = without_scheme(path);
    if (path.len > 0 && path.data[0] != '/' && script_dir != NULL && script_dir[0] != '\0') {
        tide__strbuf_append_c(&out, script_dir);
        if (out.data[out.len - 1] != '/') tide__strbuf_append_char(&out, '/');
    }
    tide__strbuf_append_str(&out, path);
    while (out.len > 1 && out.data[out.len - 1] == '/') out.data[--out.len] = '\0';
    return out.data != NULL ? out.data : tide__strdup("");
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

char *tide__partition_unescape(struct str text) {
    char *out = tide__alloc(text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len ? hex_value(text.data[i + 1]) : -1;
        int low = i + 2 < text.len ? hex_value(text.data[i + 2]) : -1;
        if (text.data[i] == '%' && high >= 0 && low >= 0 && high * 16 + low != 0) {
            out[len++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[len++] = text.data[i];
        }
    }
    out[len] = '\0';
    return out;
}

void tide__partition_escape(struct str text, struct strbuf *out) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < ' ' || c == 0x7F || strchr("\"#%'*/:=?\\{[]^", c) != NULL) {
            tide__strbuf_printf(out, "%%%02X", c);
        } else {
            tide__strbuf_append_char(out, (char)c);
        }
    }
}

// The values of the partition keys in `.../key=value/...`.
static char **partition_values(const struct table *table, const char *path) {
    if (table->partition_key_count == 0) return NULL;
    char **values = tide__calloc(table->partition_key_count, sizeof(*values));
    for (const char *part = path; part != NULL;) {
        const char *slash = strchr(part, '/');
        const char *equals = slash != NULL ? memchr(part, '=', (size_t)(slash - part)) : NULL;
        for (uint32_t i = 0; equals != NULL && i < table->partition_key_count; i++) {
            const char *name = table->columns[table->partition_keys[i]].name;
            struct str value = {equals + 1, (size_t)(slash - equals) - 1};
            if (!tide__str_eq_c((struct str){part, (size_t)(equals - part)}, name)) continue;
            if (tide__str_eq(value, tide__partition_default(table))) continue;
            tide__free(values[i]);
            values[i] = tide__partition_unescape(value);
        }
        part = slash != NULL ? slash + 1 : NULL;
    }
    return values;
}

static void add_file(const struct table *table, struct input_files *files, const char *path, const char *open_path,
                     const struct stat *info) {
    files->items = tide__grow(files->items, &files->capacity, files->count + 1, sizeof(*files->items));
    files->items[files->count++] = (struct input_file){
        .path = tide__strdup(path),
        .open_path = tide__strdup(open_path),
        .size = (uint64_t)info->st_size,
        .modified_ms = (int64_t)info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000,
        .partition_values = partition_values(table, path),
        .start_line = 1,
    };
}

// What a listing works with.
struct listing {
    const struct table *table;
    struct input_files *files;
    struct regex *pattern;  // NULL: all files
};

static bool is_wanted(const struct listing *listing, const char *open_path) {
    char absolute[PATH_MAX];
    if (listing->pattern == NULL) return true;
    const char *path = realpath(open_path, absolute) != NULL ? absolute : open_path;
    return tide__regex_match(listing->pattern, tide__str(path), true);
}

static char *join_path(const char *folder, const char *name) {
    struct strbuf out = {0};
    tide__strbuf_append_c(&out, folder);
    if (out.len > 0 && out.data[out.len - 1] != '/') tide__strbuf_append_char(&out, '/');
    tide__strbuf_append_c(&out, name);
    return out.data;
}

static tide_status enter(const struct listing *listing, const char *path, const char *open_path, int depth,
                         tide_error *err);

static tide_status look_at(const struct listing *listing, const char *path, const char *open_path, int depth,
                           tide_error *err) {
    struct stat info;
    if (stat(open_path, &info) != 0) {
        // A name that vanished between listing and looking was a temporary file.
        if (errno == ENOENT) return TIDE_OK;
        return tide__fail_errno(err, errno, "can't read \"%s\"", path);
    }
    if (S_ISDIR(info.st_mode)) return enter(listing, path, open_path, depth + 1, err);
    if (S_ISREG(info.st_mode) && is_wanted(listing, open_path)) {
        add_file(listing->table, listing->files, path, open_path, &info);
    }
    return TIDE_OK;
}

static tide_status enter(const struct listing *listing, const char *path, const char *open_path, int depth,
                         tide_error *err) {
    if (depth > FOLDER_DEPTH_MAX) {
        return tide__fail(err, TIDE_ERR_IO, "folders below \"%s\" are nested more than %d deep", path,
                          FOLDER_DEPTH_MAX);
    }
    DIR *folder = opendir(open_path);
    if (folder == NULL) return tide__fail_errno(err, errno, "can't read folder \"%s\"", path);
    tide_status status = TIDE_OK;
    for (struct dirent *entry; status == TIDE_OK && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
        char *below = join_path(path, entry->d_name), *open_below = join_path(open_path, entry->d_name);
        status = look_at(listing, below, open_below, depth, err);
        tide__free(below);
        tide__free(open_below);
    }
    closedir(folder);
    return status;
}

static int compare_files(const void *a, const void *b) {
    return strcmp(((const struct input_file *)a)->path, ((const struct input_file *)b)->path);
}

// Flink unpacks these by their names; reading them as text would give garbage.
static tide_status refuse_compressed(const struct input_files *files, tide_error *err) {
    static const char *const endings[] = {".gz", ".gzip", ".bz2", ".xz", ".deflate", ".zst", ".zstd"};
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->items[i].path;
        for (size_t e = 0; e < sizeof(endings) / sizeof(*endings); e++) {
            size_t len = strlen(path), ending = strlen(endings[e]);
            if (len < ending || strcmp(path + len - ending, endings[e]) != 0) continue;
            tide__fail(err, TIDE_ERR_PLAN, "compressed input is not supported: \"%s\"", path);
            return tide__fail_hint(err, "unpack it first");
        }
    }
    return TIDE_OK;
}

// --- the path ---------------------------------------------------------------------------------------------------

static bool has_wildcard(const char *path) {
    return strpbrk(path, "*?[") != NULL;
}

// What a pattern of the shell matches. The paths begin as `open_path` does; `prefix` bytes of that are not shown.
static tide_status expand(const struct listing *listing, const char *open_path, size_t prefix, tide_error *err) {
    glob_t found;
    int result = glob(open_path, GLOB_NOSORT, NULL, &found);
    if (result == GLOB_NOMATCH) return TIDE_OK;
    if (result != 0) return tide__fail(err, TIDE_ERR_IO, "can't expand \"%s\"", open_path + prefix);
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < found.gl_pathc && status == TIDE_OK; i++) {
        const char *path = found.gl_pathv[i], *slash = strrchr(path, '/');
        char first = slash != NULL ? slash[1] : path[0];
        if (first == '.' || first == '_') continue;
        status = look_at(listing, path + prefix, path, 0, err);
    }
    globfree(&found);
    return status;
}

// Says where a relative path was looked for.
static tide_status missing(const struct option *option, const char *path, const char *open_path, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_IO, option->value_pos, "file \"%s\" does not exist", path);
    if (path[0] == '/') return TIDE_ERR_IO;
    char folder[PATH_MAX];
    bool known = open_path[0] != '/' && getcwd(folder, sizeof(folder)) != NULL;
    while (strncmp(open_path, "./", 2) == 0) open_path += 2;
    return tide__fail_hint(err, "a relative 'path' is relative to the script's folder: \"%s%s%s\"", known ? folder : "",
                           known ? "/" : "", open_path);
}

// What cannot be there when the job starts may still come to a table that is watched, if its folder is there.
static tide_status list_path(const struct listing *listing, const struct option *option, const char *script_dir,
                             tide_error *err) {
    char *open_path = tide__filesystem_path(script_dir, option->value),
         *path = tide__filesystem_path(NULL, option->value);
    struct stat info;
    tide_status status = TIDE_OK;
    bool there = stat(open_path, &info) == 0;
    if (!there && has_wildcard(path)) {
        status = expand(listing, open_path, strlen(open_path) - strlen(path), err);
        if (status == TIDE_OK && listing->files->count == 0 && !listing->files->watched) {
            status = tide__fail_at(err, TIDE_ERR_IO, option->value_pos, "no file matches \"%s\"", path);
        }
    } else if (!there && (errno == ENOENT || errno == ENOTDIR)) {
        status = missing(option, path, open_path, err);
    } else if (!there) {
        status = tide__fail_errno(err, errno, "can't read \"%s\"", path);
    } else if (S_ISDIR(info.st_mode)) {
        status = enter(listing, path, open_path, 0, err);
    } else if (S_ISREG(info.st_mode)) {
        add_file(listing->table, listing->files, path, open_path, &info);
    } else {
        tide__fail_at(err, TIDE_ERR_IO, option->value_pos, "\"%s\" is neither a file nor a folder", path);
        status = tide__fail_hint(err, "'path' = '-' reads standard input");
    }
    tide__free(open_path);
    tide__free(path);
    return status;
}

int64_t tide__monitor_interval_ms(const struct table *table) {
    const struct option *option = tide__table_option(table, "source.monitor-interval");
    int64_t ms = 0;
    return option != NULL && tide__duration_parse(option->value, &ms) ? ms : 0;
}

tide_status tide__filesystem_list(const struct table *table, const char *script_dir, struct input_files *out,
                                  tide_error *err) {
    *out = (struct input_files){.partition_count = table->partition_key_count};
    out->watched = tide__monitor_interval_ms(table) > 0;
    const struct option *path = tide__table_option(table, "path");
    const struct option *pattern = tide__table_option(table, "source.path.regex-pattern");
    assert(path != NULL);
    struct listing listing = {.table = table, .files = out};
    if (pattern != NULL) {
        TIDE_TRY(tide__regex_open(pattern->value, &listing.pattern, err));
        if (listing.pattern == NULL) {
            return tide__fail_at(err, TIDE_ERR_VALIDATE, pattern->value_pos, "'%.*s' is no regular expression",
                                 STR_ARG(pattern->value));
        }
    }
    tide_status status = list_path(&listing, path, script_dir, err);
    if (listing.pattern != NULL) tide__regex_close(listing.pattern);
    if (status == TIDE_OK && out->count > 1) qsort(out->items, out->count, sizeof(*out->items), compare_files);
    if (status == TIDE_OK) status = refuse_compressed(out, err);
    if (status != TIDE_OK) tide__filesystem_list_free(out);
    return status;
}

// --- looking again ----------------------------------------------------------------------------------------------

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void free_file(struct input_file *file, uint32_t partition_count) {
    for (uint32_t p = 0; file->partition_values != NULL && p < partition_count; p++)
        tide__free(file->partition_values[p]);
    tide__free(file->partition_values);
    tide__free(file->path);
    tide__free(file->open_path);
}

// Moves what is not known yet from `now`, which is in path order.
static void append_new(struct input_files *files, struct input_files *now) {
    size_t known_count = files->count;
    const char **known = tide__calloc(known_count + 1, sizeof(*known));
    for (size_t i = 0; i < known_count; i++) known[i] = files->items[i].path;
    qsort(known, known_count, sizeof(*known), compare_paths);
    for (size_t i = 0; i < now->count; i++) {
        const char *path = now->items[i].path;
        if (bsearch(&path, known, known_count, sizeof(*known), compare_paths) != NULL) {
            free_file(&now->items[i], now->partition_count);
            continue;
        }
        files->items = tide__grow(files->items, &files->capacity, files->count + 1, sizeof(*files->items));
        files->items[files->count++] = now->items[i];
    }
    tide__free(known);
    tide__free(now->items);
}

tide_status tide__filesystem_look(const struct table *table, const char *script_dir, struct input_files *files,
                                  bool *out_found, tide_error *err) {
    struct input_files now;
    tide_error problem;
    tide__error_clear(&problem);
    size_t before = files->count;
    *out_found = false;
    char *open_path = tide__filesystem_path(script_dir, tide__table_option(table, "path")->value);
    // A folder that has gone may come back.
    bool gone = access(open_path, F_OK) != 0 && errno == ENOENT && !has_wildcard(open_path);
    tide__free(open_path);
    if (gone) return TIDE_OK;
    if (tide__filesystem_list(table, script_dir, &now, &problem) != TIDE_OK) {
        if (err != NULL && err->status == TIDE_OK) *err = problem;
        return problem.status;
    }
    append_new(files, &now);
    *out_found = files->count > before;
    return TIDE_OK;
}

void tide__filesystem_list_free(struct input_files *files) {
    for (size_t i = 0; i < files->count; i++) free_file(&files->items[i], files->partition_count);
    tide__free(files->items);
    *files = (struct input_files){0};
}
