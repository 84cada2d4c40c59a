// Which files a table has, in which order.
//
// The path is a file or a folder that is entered to any depth; names that begin with `.` or `_` are hidden, as for
// Flink. The order is that of the path's bytes: it numbers the rows, so it must not depend on the disk.
#include "base/alloc.h"
#include "engine/connectors/filesystem.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER_DEPTH_MAX 64

const char tide__partition_default[] = "__DEFAULT_PARTITION__";

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
            if (tide__str_eq_c(value, tide__partition_default)) continue;
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

static char *join_path(const char *folder, const char *name) {
    struct strbuf out = {0};
    tide__strbuf_append_c(&out, folder);
    if (out.len > 0 && out.data[out.len - 1] != '/') tide__strbuf_append_char(&out, '/');
    tide__strbuf_append_c(&out, name);
    return out.data;
}

static tide_status enter(const struct table *table, struct input_files *files, const char *path, const char *open_path,
                         int depth, tide_error *err);

static tide_status look_at(const struct table *table, struct input_files *files, const char *path,
                           const char *open_path, int depth, tide_error *err) {
    struct stat info;
    if (stat(open_path, &info) != 0) {
        // A name that vanished between listing and looking was a temporary file.
        if (errno == ENOENT) return TIDE_OK;
        return tide__fail_errno(err, errno, "can't read \"%s\"", path);
    }
    if (S_ISDIR(info.st_mode)) return enter(table, files, path, open_path, depth + 1, err);
    if (S_ISREG(info.st_mode)) add_file(table, files, path, open_path, &info);
    return TIDE_OK;
}

static tide_status enter(const struct table *table, struct input_files *files, const char *path, const char *open_path,
                         int depth, tide_error *err) {
    if (depth > FOLDER_DEPTH_MAX) {
        return tide__fail(err, TIDE_ERR_IO, "folders below \"%s\" are nested more than %d deep", path, FOLDER_DEPTH_MAX);
    }
    DIR *folder = opendir(open_path);
    if (folder == NULL) return tide__fail_errno(err, errno, "can't read folder \"%s\"", path);
    tide_status status = TIDE_OK;
    for (struct dirent *entry; status == TIDE_OK && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
        char *below = join_path(path, entry->d_name), *open_below = join_path(open_path, entry->d_name);
        status = look_at(table, files, below, open_below, depth, err);
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

tide_status tide__filesystem_list(const struct table *table, const char *script_dir, struct input_files *out,
                                  tide_error *err) {
    *out = (struct input_files){.partition_count = table->partition_key_count};
    const struct option *option = tide__table_option(table, "path");
    assert(option != NULL);
    char *open_path = tide__filesystem_path(script_dir, option->value);
    char *path = tide__filesystem_path(NULL, option->value);
    struct stat info;
    tide_status status = TIDE_OK;
    if (stat(open_path, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            tide__fail_at(err, TIDE_ERR_IO, option->value_pos, "file \"%s\" does not exist", path);
            status = tide__fail_hint(err, "a relative 'path' is relative to the script's folder");
        } else {
            status = tide__fail_errno(err, errno, "can't read \"%s\"", path);
        }
    } else if (S_ISDIR(info.st_mode)) {
        status = enter(table, out, path, open_path, 0, err);
    } else if (S_ISREG(info.st_mode)) {
        add_file(table, out, path, open_path, &info);
    } else {
        status = tide__fail_at(err, TIDE_ERR_IO, option->value_pos, "\"%s\" is neither a file nor a folder", path);
    }
    if (status == TIDE_OK && out->count > 1) qsort(out->items, out->count, sizeof(*out->items), compare_files);
    if (status == TIDE_OK) status = refuse_compressed(out, err);
    tide__free(open_path);
    tide__free(path);
    if (status != TIDE_OK) tide__filesystem_list_free(out);
    return status;
}

void tide__filesystem_list_free(struct input_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        struct input_file *file = &files->items[i];
        for (uint32_t p = 0; file->partition_values != NULL && p < files->partition_count; p++) {
            tide__free(file->partition_values[p]);
        }
        tide__free(file->partition_values);
        tide__free(file->path);
        tide__free(file->open_path);
    }
    tide__free(files->items);
    *files = (struct input_files){0};
}
