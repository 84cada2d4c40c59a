// State directories: the lock, and which checkpoints there are.
//
// The lock is a flock on DIR/lock, so that it goes with its process however that ends; the pid inside is only for
// messages. What is not named as below is left alone.
#include "checkpoint/state_dir.h"

#include "base/alloc.h"
#include "base/str.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".savepoint"

struct state_dir {
    char *path;
    int lock;
    struct arena arena;
};

// --- names --------------------------------------------------------------------------------------------------------

// PREFIX<number>SUFFIX, the number without leading zeros; false if the name is not one.
static bool parse_name(const char *name, const char *prefix, const char *suffix, uint64_t max, uint64_t *out) {
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0) return false;
    const char *at = name + len;
    if (*at < '1' || *at > '9') return false;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (number > (max - (uint64_t)(*at - '0')) / 10) return false;
        number = number * 10 + (uint64_t)(*at - '0');
    }
    *out = number;
    return strcmp(at, suffix) == 0;
}

struct numbers {
    uint64_t *items;
    size_t count, cap;
};

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// The numbers of a folder's entries of this form, ascending. A folder that is missing is empty; errno otherwise.
static bool list_numbers(const char *folder, const char *prefix, const char *suffix, uint64_t max,
                         struct numbers *out) {
    *out = (struct numbers){0};
    DIR *dir = opendir(folder);
    if (dir == NULL) return errno == ENOENT || errno == ENOTDIR;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        uint64_t number;
        if (!parse_name(entry->d_name, prefix, suffix, max, &number)) continue;
        out->items = tide__grow(out->items, &out->cap, out->count + 1, sizeof *out->items);
        out->items[out->count++] = number;
    }
    closedir(dir);
    if (out->count > 0) qsort(out->items, out->count, sizeof *out->items, compare_numbers);
    return true;
}

static bool list_jobs(const char *path, struct numbers *out) {
    return list_numbers(path, "job-", "", UINT32_MAX, out);
}

static bool list_checkpoints(const char *path, uint64_t job, struct numbers *out) {
    struct strbuf folder = {0};
    tide__strbuf_printf(&folder, "%s/job-%" PRIu64 "/checkpoints", path, job);
    bool ok = list_numbers(folder.data, "chk-", SUFFIX, UINT64_MAX, out);
    tide__strbuf_deinit(&folder);
    return ok;
}

static void checkpoint_name(const char *path, uint64_t job, uint64_t id, struct strbuf *out) {
    tide__strbuf_clear(out);
    tide__strbuf_printf(out, "%s/job-%" PRIu64 "/checkpoints/chk-%" PRIu64 SUFFIX, path, job, id);
}

// --- open and close -----------------------------------------------------------------------------------------------

// A savepoint is only as durable as the folders above it.
static tide_status make_folder(const char *path, tide_error *err) {
    if (mkdir(path, 0700) == 0) return tide__savepoint_sync_folder(path, err);
    if (errno == EEXIST) return TIDE_OK;
    return tide__fail_errno(err, errno, "can't make the folder %s", path);
}

// With the folders above it.
static tide_status make_folders(const char *path, tide_error *err) {
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return TIDE_OK;
        return tide__fail(err, TIDE_ERR_OPTION, "the state directory %s is not a folder", path);
    }
    char *copy = tide__strdup(path);
    tide_status status = TIDE_OK;
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && status == TIDE_OK; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (stat(copy, &info) != 0) status = make_folder(copy, err);
        *slash = '/';
    }
    if (status == TIDE_OK) status = make_folder(copy, err);
    tide__free(copy);
    return status;
}

static tide_status fail_locked(const struct state_dir *dir, tide_error *err) {
    char text[32] = "";
    ssize_t got = pread(dir->lock, text, sizeof text - 1, 0);
    long pid = got > 0 ? strtol(text, NULL, 10) : 0;
    if (pid > 0)
        tide__fail(err, TIDE_ERR_OPTION, "state directory %s is in use by process %ld", dir->path, pid);
    else
        tide__fail(err, TIDE_ERR_OPTION, "state directory %s is in use by another process", dir->path);
    tide__fail_hint(err, "Stop that process first (tidemark stop DIR), or choose another --state-dir.");
    return TIDE_ERR_OPTION;
}

static tide_status take_lock(struct state_dir *dir, tide_error *err) {
    char *path = tide__arena_printf(&dir->arena, "%s/lock", dir->path);
    dir->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (dir->lock < 0) return tide__fail_errno(err, errno, "can't open %s", path);
    if (flock(dir->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return fail_locked(dir, err);
        return tide__fail_errno(err, errno, "can't lock %s", path);
    }
    char text[32];
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(dir->lock, 0) != 0 || pwrite(dir->lock, text, (size_t)len, 0) != len)
        return tide__fail_errno(err, errno, "can't write %s", path);
    return TIDE_OK;
}

tide_status tide__state_dir_open(const char *path, struct state_dir **out, tide_error *err) {
    *out = NULL;
    struct state_dir *dir = tide__calloc(1, sizeof *dir);
    dir->path = tide__strdup(path);
    dir->lock = -1;
    tide__arena_init(&dir->arena);
    tide_status status = make_folders(path, err);
    if (status == TIDE_OK) status = take_lock(dir, err);
    if (status != TIDE_OK) {
        tide__state_dir_close(dir);
        return status;
    }
    *out = dir;
    return TIDE_OK;
}

void tide__state_dir_close(struct state_dir *dir) {
    if (dir == NULL) return;
    if (dir->lock >= 0) close(dir->lock);  // and with it the lock goes
    tide__arena_deinit(&dir->arena);
    tide__free(dir->path);
    tide__free(dir);
}

const char *tide__state_dir_path(const struct state_dir *dir) {
    return dir->path;
}

const char *tide__state_dir_work(struct state_dir *dir, uint32_t job) {
    const char *folder = tide__arena_printf(&dir->arena, "%s/job-%u", dir->path, job);
    tide_error ignored;  // a failure shows when the store makes its own folder inside
    tide__error_clear(&ignored);
    make_folder(folder, &ignored);
    return tide__arena_printf(&dir->arena, "%s/work", folder);
}

tide_status tide__state_dir_checkpoint_path(struct state_dir *dir, uint32_t job, uint64_t id, struct strbuf *out,
                                            tide_error *err) {
    tide__strbuf_clear(out);
    tide__strbuf_printf(out, "%s/job-%u", dir->path, job);
    TIDE_TRY(make_folder(out->data, err));
    tide__strbuf_append_c(out, "/checkpoints");
    TIDE_TRY(make_folder(out->data, err));
    checkpoint_name(dir->path, job, id, out);
    return TIDE_OK;
}

// --- looking ------------------------------------------------------------------------------------------------------

tide_status tide__state_dir_each(const char *path, state_dir_each_fn *fn, void *ctx, tide_error *err) {
    struct numbers jobs;
    if (!list_jobs(path, &jobs)) return tide__fail_errno(err, errno, "can't read the state directory %s", path);
    struct strbuf name = {0};
    tide_status status = TIDE_OK;
    for (size_t j = 0; j < jobs.count && status == TIDE_OK; j++) {
        struct numbers ids;
        if (!list_checkpoints(path, jobs.items[j], &ids))
            status = tide__fail_errno(err, errno, "can't read the checkpoints of job %" PRIu64 " in %s", jobs.items[j],
                                      path);
        for (size_t i = 0; i < ids.count; i++) {
            checkpoint_name(path, jobs.items[j], ids.items[i], &name);
            fn(ctx, (uint32_t)jobs.items[j], ids.items[i], name.data);
        }
        tide__free(ids.items);
    }
    tide__strbuf_deinit(&name);
    tide__free(jobs.items);
    return status;
}

struct found {
    struct arena *arena;
    size_t count;
    const char **paths;
    size_t cap;
};

static void remember(void *ctx, uint32_t job, uint64_t id, const char *path) {
    (void)job, (void)id;
    struct found *found = ctx;
    found->paths = tide__grow(found->paths, &found->cap, found->count + 1, sizeof *found->paths);
    found->paths[found->count++] = tide__arena_strndup(found->arena, path, strlen(path));
}

bool tide__state_dir_has_checkpoints(const char *path) {
    struct arena arena;
    tide__arena_init(&arena);
    struct found found = {.arena = &arena};
    tide_error ignored;
    tide__error_clear(&ignored);
    // What can't be read is treated as full: nobody may begin anew over it.
    bool has = tide__state_dir_each(path, remember, &found, &ignored) != TIDE_OK || found.count > 0;
    tide__free(found.paths);
    tide__arena_deinit(&arena);
    return has;
}

static tide_status open_whole(const char *path, bool check_chunks, struct savepoint **out, tide_error *err) {
    TIDE_TRY(tide__savepoint_open(path, out, err));
    tide_status status = check_chunks ? tide__savepoint_check_frames(*out, err) : TIDE_OK;
    if (status == TIDE_OK) return TIDE_OK;
    tide__savepoint_close(*out);
    *out = NULL;
    return status;
}

static tide_status find_newest(const char *path, bool check_chunks, struct arena *arena, struct savepoint **out,
                               const char **out_path, const char **out_skipped, tide_error *err) {
    *out = NULL;
    *out_path = *out_skipped = NULL;
    struct found found = {.arena = arena};
    tide_status status = tide__state_dir_each(path, remember, &found, err);
    for (size_t i = found.count; i-- > 0 && status == TIDE_OK && *out == NULL;) {
        tide_error reason;
        tide__error_clear(&reason);
        if (open_whole(found.paths[i], check_chunks, out, &reason) == TIDE_OK) {
            *out_path = found.paths[i];
            continue;
        }
        const char *text = tide__arena_printf(arena, "%s%s%s", reason.message, reason.hint[0] != '\0' ? "; " : "",
                                              reason.hint);
        *out_skipped = *out_skipped == NULL ? text : tide__arena_printf(arena, "%s; %s", *out_skipped, text);
    }
    if (status == TIDE_OK && *out == NULL && found.count > 0) {
        status = tide__fail(err, TIDE_ERR_SAVEPOINT, "no checkpoint in %s can be read: %s", path, *out_skipped);
        tide__fail_hint(err, "Start from another savepoint with --from, or give the checkpoints up with --restart.");
        status = TIDE_ERR_SAVEPOINT;
    }
    tide__free(found.paths);
    return status;
}

tide_status tide__state_dir_newest(const char *path, struct arena *arena, struct savepoint **out, const char **out_path,
                                   const char **out_skipped, tide_error *err) {
    return find_newest(path, true, arena, out, out_path, out_skipped, err);
}

tide_status tide__state_dir_latest(const char *path, struct arena *arena, struct savepoint **out, const char **out_path,
                                   const char **out_skipped, tide_error *err) {
    return find_newest(path, false, arena, out, out_path, out_skipped, err);
}

// --- removing -----------------------------------------------------------------------------------------------------

// What a process that was killed left behind. Only the lock's holder writes here, and one file at a time.
static void remove_temporaries(const char *folder) {
    DIR *dir = opendir(folder);
    if (dir == NULL) return;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (strncmp(entry->d_name, "chk-", 4) == 0 && strstr(entry->d_name, SUFFIX ".tmp-") != NULL)
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
}

void tide__state_dir_retain(struct state_dir *dir, uint32_t job, uint32_t keep) {
    struct numbers ids;
    if (!list_checkpoints(dir->path, job, &ids)) return;  // nothing is removed; the next checkpoint tries again
    struct strbuf name = {0};
    if (keep == 0) keep = 1;
    for (size_t i = 0; i + keep < ids.count; i++) {
        checkpoint_name(dir->path, job, ids.items[i], &name);
        unlink(name.data);
    }
    tide__strbuf_clear(&name);
    tide__strbuf_printf(&name, "%s/job-%u/checkpoints", dir->path, job);
    remove_temporaries(name.data);
    tide__strbuf_deinit(&name);
    tide__free(ids.items);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at) {
    (void)info, (void)type, (void)at;
    return remove(path);
}

tide_status tide__state_dir_clear(struct state_dir *dir, tide_error *err) {
    struct numbers jobs;
    if (!list_jobs(dir->path, &jobs))
        return tide__fail_errno(err, errno, "can't read the state directory %s", dir->path);
    struct strbuf folder = {0};
    tide_status status = TIDE_OK;
    // The last job goes first: a crash in between leaves a state that is whole, only older.
    for (size_t j = jobs.count; j-- > 0 && status == TIDE_OK;) {
        tide__strbuf_clear(&folder);
        tide__strbuf_printf(&folder, "%s/job-%" PRIu64, dir->path, jobs.items[j]);
        if (nftw(folder.data, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
            status = tide__fail_errno(err, errno, "can't remove %s", folder.data);
    }
    // What is gone must not come back behind the checkpoints of a new run.
    if (status == TIDE_OK && jobs.count > 0) status = tide__savepoint_sync_folder(folder.data, err);
    tide__strbuf_deinit(&folder);
    tide__free(jobs.items);
    return status;
}
