// DIR/job-<n>/newest: that the job has made checkpoints, and the name of the last one. Without it a job whose checkpoints were
// deleted would look like one that never made any: an earlier job of the script would be taken for the last one, or the
// first row be read again behind what is visible.
//
// That the file is there is what counts, so only the first writing of it is synced.
#include "base/file.h"
#include "checkpoint/format.h"
#include "checkpoint/state_dir_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_BYTES 64

static void path_of(const char *path, uint64_t job, struct strbuf *out) {
    tide__strbuf_clear(out);
    tide__strbuf_printf(out, "%s/job-%" PRIu64 "/newest", path, job);
}

static tide_status write_record(const char *path, const struct strbuf *name, tide_error *err) {
    struct stat info;
    bool is_new = stat(path, &info) != 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return tide__fail_errno(err, errno, "can't write %s", path);
    bool ok = tide__write_fully(fd, name->data, name->len) && (!is_new || fsync(fd) == 0);
    int error = errno;
    close(fd);
    if (!ok) return tide__fail_errno(err, error, "can't write %s", path);
    return is_new ? tide__savepoint_sync_folder(path, err) : TIDE_OK;
}

tide_status tide__state_dir_note(struct state_dir *dir, uint32_t job, uint64_t id, bool delta, tide_error *err) {
    struct strbuf path = {0}, name = {0};
    path_of(tide__state_dir_path(dir), job, &path);
    tide__checkpoint_file_name(id, delta, &name);
    tide__strbuf_append_char(&name, '\n');
    tide_status status = write_record(path.data, &name, err);
    tide__strbuf_deinit(&path);
    tide__strbuf_deinit(&name);
    return status;
}

bool tide__state_dir_noted(const char *path, uint64_t job, struct strbuf *out_name) {
    struct strbuf file = {0};
    path_of(path, job, &file);
    int fd = open(file.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    tide__strbuf_deinit(&file);
    if (fd < 0) return errno != ENOENT && errno != ENOTDIR;  // what can't be read is there
    char text[NAME_MAX_BYTES];
    ssize_t len = read(fd, text, sizeof text);
    close(fd);
    tide__strbuf_clear(out_name);
    for (ssize_t i = 0; i < len && text[i] > ' ' && text[i] < 0x7f; i++) tide__strbuf_append_char(out_name, text[i]);
    return true;
}

void tide__state_dir_forget(const char *path, uint64_t job) {
    struct strbuf file = {0};
    path_of(path, job, &file);
    unlink(file.data);
    tide__strbuf_deinit(&file);
}
