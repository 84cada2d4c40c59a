// DIR/job-<n>/run-id: the name of the job's sink files before there is a checkpoint that holds it. A job that died before
// its first checkpoint is begun anew under the same name, and so its left-over hidden files are found and removed.
#include "checkpoint/state_dir.h"

#include "base/file.h"
#include "checkpoint/format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_ID_MAX 32

static bool is_run_id(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (strchr("0123456789abcdefghijklmnopqrstuvwxyz", text[i]) == NULL) return false;
    return len > 0 && len < RUN_ID_MAX;
}

static const char *read_run_id(const char *path, struct arena *arena) {
    char text[RUN_ID_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return NULL;
    ssize_t len;
    do len = read(fd, text, sizeof text);
    while (len < 0 && errno == EINTR);
    close(fd);
    // Without its line end it was not written whole: then it was not synced either, and nothing bears that name.
    if (len < 2 || text[len - 1] != '\n' || !is_run_id(text, (size_t)len - 1)) return NULL;
    return tide__arena_strndup(arena, text, (size_t)len - 1);
}

static tide_status write_run_id(const char *path, const char *run_id, tide_error *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return tide__fail_errno(err, errno, "can't write %s", path);
    bool synced = tide__write_fully(fd, run_id, strlen(run_id)) && tide__write_fully(fd, "\n", 1) && fsync(fd) == 0;
    int error = errno;
    close(fd);
    if (!synced) return tide__fail_errno(err, error, "can't write %s", path);
    return tide__savepoint_sync_folder(path, err);
}

tide_status tide__state_dir_run_id(struct state_dir *dir, uint32_t job, const char *fresh, struct arena *arena,
                                   const char **out_run_id, tide_error *err) {
    const char *folder = tide__arena_printf(arena, "%s/job-%u", tide__state_dir_path(dir), job);
    const char *path = tide__arena_printf(arena, "%s/run-id", folder);
    *out_run_id = read_run_id(path, arena);
    if (*out_run_id != NULL) return TIDE_OK;
    *out_run_id = fresh;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return tide__fail_errno(err, errno, "can't make %s", folder);
    return write_run_id(path, fresh, err);
}
