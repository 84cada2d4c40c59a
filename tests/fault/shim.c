// A library to preload (LD_PRELOAD) between a program and its file system. It makes one call fail, or writes down all of them.
//
//   TIDE_SHIM_UNDER=DIR          only files below this folder count; the others pass
//   TIDE_SHIM_FAULT=OP:ERROR:N   the Nth call of OP (as in `ops` below; `any`: of all that change something) fails, once. ERROR: EIO,
//                                ENOSPC, EINTR, SHORT (half of a read or write is done), KILL (before the call the process dies)
//   TIDE_SHIM_DONE=FILE          made when the fault was injected; OP, N and the path are in it
//   TIDE_SHIM_RECORD=FILE        each change and each sync, in the order in which they came to be (power.py reads it)
//
// A full disk is not one failure: with ENOSPC all later writes, opens that create and mkdirs fail too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum op {
    OP_WRITE,
    OP_READ,
    OP_FSYNC,
    OP_FDATASYNC,
    OP_OPEN,
    OP_RENAME,
    OP_LINK,
    OP_UNLINK,
    OP_FTRUNCATE,
    OP_MKDIR,
    OP_CLOSE,
    OP_COUNT
};
static const char *const ops[OP_COUNT] = {"write", "read",   "fsync",     "fdatasync", "open", "rename",
                                          "link",  "unlink", "ftruncate", "mkdir",     "close"};

#define FDS_MAX 4096
#define KILL    9999  // as an error number
#define OP_ANY  OP_COUNT

// One program, one shim: everything is of the process. The lock makes the order of the record that of the calls.
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char under[PATH_MAX];
static char *paths[FDS_MAX];  // of the open files that count
static uint32_t handles[FDS_MAX], last_handle;
static int fault_op = -1, fault_error, record_fd = -1;
static long fault_left;
static bool is_full;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) _exit(127);
    return found;
}

static void read_fault(const char *text) {
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"SHORT", 0}, {"KILL", KILL}};
    char op[32] = "", error[32] = "";
    if (sscanf(text, "%31[^:]:%31[^:]:%ld", op, error, &fault_left) != 3) _exit(127);
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(ops[i], op) == 0) fault_op = i;
    if (strcmp(op, "any") == 0) fault_op = OP_ANY;
    fault_error = -1;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(errors[i].name, error) == 0) fault_error = errors[i].number;
    if (fault_op < 0 || fault_error < 0) _exit(127);
}

static void read_environment(void) {
    const char *folder = getenv("TIDE_SHIM_UNDER"), *fault = getenv("TIDE_SHIM_FAULT"),
               *record = getenv("TIDE_SHIM_RECORD");
    if (folder == NULL || realpath(folder, under) == NULL) return;
    if (fault != NULL) read_fault(fault);
    if (record != NULL) record_fd = REAL(open)(record, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

// The path as a whole one if it lies under the folder, in `out`.
static bool counts(const char *path, char out[PATH_MAX]) {
    pthread_once(&once, read_environment);
    if (under[0] == '\0' || path == NULL) return false;
    if (path[0] == '/')
        snprintf(out, PATH_MAX, "%s", path);
    else if (getcwd(out, PATH_MAX) == NULL || strlen(out) + strlen(path) + 2 > PATH_MAX)
        return false;
    else
        snprintf(out + strlen(out), PATH_MAX - strlen(out), "/%s", path);
    size_t len = strlen(under);
    return strncmp(out, under, len) == 0 && (out[len] == '/' || out[len] == '\0');
}

static const char *path_of(int fd) {
    return fd >= 0 && fd < FDS_MAX ? paths[fd] : NULL;
}

static void tell(enum op op, const char *path) {
    const char *done = getenv("TIDE_SHIM_DONE");
    int fd = done != NULL ? REAL(open)(done, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    char line[PATH_MAX + 64];
    int len = snprintf(line, sizeof line, "%s %s\n", ops[op], path);
    ssize_t ignored = REAL(write)(fd, line, (size_t)len);
    (void)ignored;
    REAL(close)(fd);
}

// Is this the call that fails? Then errno is set; a short one has 0.
static bool is_due(enum op op, const char *path) {
    bool takes_room = op == OP_WRITE || op == OP_OPEN || op == OP_MKDIR;
    pthread_mutex_lock(&lock);
    bool due = is_full && takes_room;
    bool counted = (int)op == fault_op || (fault_op == OP_ANY && op != OP_READ && op != OP_CLOSE);
    if (!due && counted && fault_left > 0 && --fault_left == 0) {
        due = true;
        is_full = fault_error == ENOSPC;
        tell(op, path);
        if (fault_error == KILL) raise(SIGKILL);
    }
    pthread_mutex_unlock(&lock);
    if (due) errno = fault_error;
    return due;
}

// --- the record: byte op, u32 handle, u64 offset, u32 length, u32 length, bytes, bytes ------------------------------

static void put(char op, uint32_t handle, uint64_t offset, const void *a, size_t a_len, const void *b, size_t b_len) {
    if (record_fd < 0) return;
    char head[21];
    uint32_t lengths[2] = {(uint32_t)a_len, (uint32_t)b_len};
    head[0] = op;
    memcpy(head + 1, &handle, 4);
    memcpy(head + 5, &offset, 8);
    memcpy(head + 13, lengths, 8);
    struct iovec parts[3] = {{head, sizeof head}, {(void *)(uintptr_t)a, a_len}, {(void *)(uintptr_t)b, b_len}};
    if (REAL(writev)(record_fd, parts, 3) != (ssize_t)(sizeof head + a_len + b_len)) _exit(127);
}

static void put_paths(char op, const char *a, const char *b) {
    size_t skip = strlen(under) + 1;
    const char *x = strlen(a) < skip ? "" : a + skip, *y = b == NULL || strlen(b) < skip ? "" : b + skip;
    put(op, 0, 0, x, strlen(x), y, strlen(y));
}

// --- files -----------------------------------------------------------------------------------------------------------

static void remember(int fd, const char *path, int flags) {
    if (fd < 0 || fd >= FDS_MAX) return;
    struct stat info;
    bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (!is_file && !(info.st_mode & S_IFDIR)) return;
    free(paths[fd]);
    paths[fd] = strdup(path);
    handles[fd] = ++last_handle;
    size_t skip = strlen(under) + 1;
    const char *short_path = strlen(path) < skip ? "" : path + skip;
    if (is_file && (flags & O_ACCMODE) != O_RDONLY)
        put('o', handles[fd], (uint64_t)(flags & O_TRUNC), short_path, strlen(short_path), NULL, 0);
}

static int open_at(const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    if (!counts(path, whole)) return REAL(open)(path, flags, mode);
    // Opening a file to read it takes no room, so a full disk lets it pass; it still counts as a call.
    struct stat info;
    bool makes = (flags & O_CREAT) != 0 && lstat(whole, &info) != 0;
    bool was_full = is_full;
    if (was_full ? makes && is_due(OP_OPEN, whole) : is_due(OP_OPEN, whole))
        return errno = fault_error ? fault_error : EIO, -1;
    pthread_mutex_lock(&lock);
    int fd = REAL(open)(path, flags, mode);
    int error = errno;
    remember(fd, whole, flags);
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(path, flags, mode);
}

int close(int fd) {
    const char *path = path_of(fd);
    if (path == NULL) return REAL(close)(fd);
    bool due = is_due(OP_CLOSE, path);
    pthread_mutex_lock(&lock);
    free(paths[fd]);
    paths[fd] = NULL;
    int status = REAL(close)(fd);
    pthread_mutex_unlock(&lock);
    return due ? errno = fault_error, -1 : status;
}

static off_t place(int fd) {
    struct stat info;
    if ((fcntl(fd, F_GETFL) & O_APPEND) && fstat(fd, &info) == 0) return info.st_size;
    return lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *data, size_t len) {
    const char *path = path_of(fd);
    if (path == NULL) return REAL(write)(fd, data, len);
    if (is_due(OP_WRITE, path)) {
        if (errno != 0 || len < 2) return errno = fault_error ? fault_error : EINTR, -1;
        len /= 2;
    }
    pthread_mutex_lock(&lock);
    off_t at = place(fd);
    ssize_t done = REAL(write)(fd, data, len);
    if (done > 0) put('w', handles[fd], (uint64_t)at, NULL, 0, data, (size_t)done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at) {
    const char *path = path_of(fd);
    if (path == NULL) return REAL(pwrite)(fd, data, len, at);
    if (is_due(OP_WRITE, path)) {
        if (errno != 0 || len < 2) return errno = fault_error ? fault_error : EINTR, -1;
        len /= 2;
    }
    pthread_mutex_lock(&lock);
    ssize_t done = REAL(pwrite)(fd, data, len, at);
    if (done > 0) put('w', handles[fd], (uint64_t)at, NULL, 0, data, (size_t)done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t at) {
    return pwrite(fd, data, len, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (path_of(fd) == NULL || count == 0) return REAL(writev)(fd, parts, count);
    return write(fd, parts[0].iov_base, parts[0].iov_len);  // a short one, and the caller goes on
}

ssize_t read(int fd, void *data, size_t len) {
    const char *path = path_of(fd);
    if (path != NULL && is_due(OP_READ, path)) {
        if (errno != 0 || len < 2) return errno = fault_error ? fault_error : EINTR, -1;
        len /= 2;
    }
    return REAL(read)(fd, data, len);
}

ssize_t pread(int fd, void *data, size_t len, off_t at) {
    const char *path = path_of(fd);
    if (path != NULL && is_due(OP_READ, path)) {
        if (errno != 0 || len < 2) return errno = fault_error ? fault_error : EINTR, -1;
        len /= 2;
    }
    return REAL(pread)(fd, data, len, at);
}

ssize_t pread64(int fd, void *data, size_t len, off_t at) {
    return pread(fd, data, len, at);
}

static int sync_fd(int fd, enum op op, int (*sync)(int)) {
    const char *path = path_of(fd);
    if (path == NULL) return sync(fd);
    if (is_due(op, path)) return errno = fault_error ? fault_error : EIO, -1;
    pthread_mutex_lock(&lock);
    int status = sync(fd);
    struct stat info;
    if (status == 0 && fstat(fd, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            put_paths('D', path, NULL);
        else
            put('s', handles[fd], 0, NULL, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

int fsync(int fd) {
    return sync_fd(fd, OP_FSYNC, REAL(fsync));
}

int fdatasync(int fd) {
    return sync_fd(fd, OP_FDATASYNC, REAL(fdatasync));
}

int ftruncate(int fd, off_t len) {
    const char *path = path_of(fd);
    if (path == NULL) return REAL(ftruncate)(fd, len);
    if (is_due(OP_FTRUNCATE, path)) return errno = fault_error ? fault_error : EIO, -1;
    pthread_mutex_lock(&lock);
    int status = REAL(ftruncate)(fd, len);
    if (status == 0) put('t', handles[fd], (uint64_t)len, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return status;
}

int ftruncate64(int fd, off_t len) {
    return ftruncate(fd, len);
}

// --- names -----------------------------------------------------------------------------------------------------------

// A call on one or two paths, done and recorded as `letter`.
static int change(enum op op, char letter, const char *a, const char *b, int (*two)(const char *, const char *),
                  int (*one)(const char *)) {
    char from[PATH_MAX], to[PATH_MAX] = "";
    bool mine = counts(a, from) && (b == NULL || counts(b, to));
    if (mine && is_due(op, from)) return errno = fault_error ? fault_error : EIO, -1;
    pthread_mutex_lock(&lock);
    int status = two != NULL ? two(a, b) : one(a);
    int error = errno;
    if (mine && status == 0) put_paths(letter, from, b != NULL ? to : NULL);
    pthread_mutex_unlock(&lock);
    errno = error;
    return status;
}

int rename(const char *from, const char *to) {
    return change(OP_RENAME, 'r', from, to, REAL(rename), NULL);
}

int link(const char *from, const char *to) {
    return change(OP_LINK, 'l', from, to, REAL(link), NULL);
}

int unlink(const char *path) {
    return change(OP_UNLINK, 'u', path, NULL, NULL, REAL(unlink));
}

int rmdir(const char *path) {
    return change(OP_UNLINK, 'U', path, NULL, NULL, REAL(rmdir));
}

int remove(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) ? rmdir(path) : unlink(path);
}

int unlinkat(int folder, const char *name, int flags) {
    char link_path[64], path[PATH_MAX];
    if (folder == AT_FDCWD || name[0] == '/') return flags & AT_REMOVEDIR ? rmdir(name) : unlink(name);
    snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", folder);
    ssize_t len = readlink(link_path, path, sizeof path - 1);
    if (len < 0 || (size_t)len + strlen(name) + 2 > sizeof path) return REAL(unlinkat)(folder, name, flags);
    snprintf(path + len, sizeof path - (size_t)len, "/%s", name);
    return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
}

int mkdir(const char *path, mode_t mode) {
    char whole[PATH_MAX];
    bool mine = counts(path, whole);
    if (mine && is_due(OP_MKDIR, whole)) return errno = fault_error ? fault_error : EIO, -1;
    pthread_mutex_lock(&lock);
    int status = REAL(mkdir)(path, mode), error = errno;
    if (mine && status == 0) put_paths('m', whole, NULL);
    pthread_mutex_unlock(&lock);
    errno = error;
    return status;
}
