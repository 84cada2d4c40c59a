// The folders that a sink's files are in. A file is only as safe as the names of the folders above it, so whoever makes a
// folder syncs the one above it before going on.
//
// Then at most the deepest folder of a path can be there and not be safe: a process that died between the two. It is
// empty, or it is the sink's own, which is synced at each start.
#include "base/alloc.h"
#include "engine/connectors/pending.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// `len` bytes of path are the folder; "" is the script's.
static tide_status sync_folder(const char *path, size_t len, tide_error *err) {
    char *folder = len > 0 ? tide__strndup(path, len) : tide__strdup(path[0] == '/' ? "/" : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tide_status status = TIDE_OK;
    // One that may be searched and not be read can't be synced; nor can any on some file systems, which say EINVAL.
    bool ok = fd < 0 ? errno == EACCES : fsync(fd) == 0 || errno == EINVAL;
    if (!ok) status = tide__fail_errno(err, errno, "can't sync folder \"%s\"", folder);
    if (fd >= 0) close(fd);
    tide__free(folder);
    return status;
}

static bool is_empty(const char *path) {
    DIR *listing = opendir(path);
    if (listing == NULL) return false;
    int entries = 0;
    while (entries < 3 && readdir(listing) != NULL) entries++;
    closedir(listing);
    return entries < 3;  // . and ..
}

static tide_status make_one(const char *path, size_t above, bool sync_anyway, tide_error *err) {
    bool made = mkdir(path, 0777) == 0;
    if (!made && errno != EEXIST) return tide__fail_errno(err, errno, "can't create folder \"%s\"", path);
    return made || sync_anyway || is_empty(path) ? sync_folder(path, above, err) : TIDE_OK;
}

tide_status tide__sink_folder_make(const char *path, size_t base_len, tide_error *err) {
    char *copy = tide__strdup(path);
    tide_status status = TIDE_OK;
    size_t above = base_len;
    for (char *slash = strchr(copy + base_len + 1, '/'); status == TIDE_OK; slash = strchr(slash + 1, '/')) {
        if (slash != NULL) *slash = '\0';
        status = make_one(copy, above, slash == NULL && base_len == 0, err);
        if (slash == NULL) break;
        *slash = '/';
        above = (size_t)(slash - copy);
    }
    tide__free(copy);
    struct stat info;
    if (status == TIDE_OK && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
        tide__fail(err, TIDE_ERR_IO, "\"%s\" is a file, but a table is written to a folder", path);
        status = tide__fail_hint(err, "name another 'path' or remove the file");
    }
    return status;
}
