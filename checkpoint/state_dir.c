// State directories: the lock, and which checkpoints there are.
//
// The lock is a flock on DIR/lock, so that it goes with its process however that ends; the pid inside is only for
// messages. What is not named as below is left alone.
#include "checkpoint/state_dir.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/killpoint.h"
#include "base/str.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"
#include "checkpoint/state_dir_private.h"

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

#define SUFFIX       ".savepoint"
#define SUFFIX_DELTA ".delta"
#define OPEN_DELTA   "chk-next.delta.tmp"

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

struct checkpoint_file {
    uint64_t id;
    bool delta;
};

struct checkpoint_files {
    struct checkpoint_file *items;
    size_t count, cap;
};

static void add_files(struct checkpoint_files *files, struct numbers *numbers, bool delta) {
    for (size_t i = 0; i < numbers->count; i++) {
        files->items = tide__grow(files->items, &files->cap, files->count + 1, sizeof *files->items);
        files->items[files->count++] = (struct checkpoint_file){numbers->items[i], delta};
    }
    tide__free(numbers->items);
}

static int compare_files(const void *a, const void *b) {
    const struct checkpoint_file *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->delta - y->delta;
}

static bool list_checkpoints(const char *path, uint64_t job, struct checkpoint_files *out) {
    *out = (struct checkpoint_files){0};
    struct strbuf folder = {0};
    tide__strbuf_printf(&folder, "%s/job-%" PRIu64 "/checkpoints", path, job);
    struct numbers full, deltas = {0};
    bool ok = list_numbers(folder.data, "chk-", SUFFIX, UINT64_MAX, &full) &&
              list_numbers(folder.data, "chk-", SUFFIX_DELTA, UINT64_MAX, &deltas);
    add_files(out, &full, false);
    add_files(out, &deltas, true);
    if (out->count > 0) qsort(out->items, out->count, sizeof *out->items, compare_files);
    tide__strbuf_deinit(&folder);
    return ok;
}

void tide__checkpoint_file_name(uint64_t id, bool delta, struct strbuf *out) {
    tide__strbuf_printf(out, "chk-%" PRIu64 "%s", id, delta ? SUFFIX_DELTA : SUFFIX);
}

static void checkpoint_name(const char *path, uint64_t job, struct checkpoint_file file, struct strbuf *out) {
    tide__strbuf_clear(out);
    tide__strbuf_printf(out, "%s/job-%" PRIu64 "/checkpoints/", path, job);
    tide__checkpoint_file_name(file.id, file.delta, out);
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
    if (ftruncate(dir->lock, 0) != 0 || !tide__write_fully(dir->lock, text, (size_t)len))
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

tide_status tide__state_dir_checkpoint_path(struct state_dir *dir, uint32_t job, uint64_t id, bool delta,
                                            struct strbuf *out, tide_error *err) {
    tide__strbuf_clear(out);
    tide__strbuf_printf(out, "%s/job-%u", dir->path, job);
    TIDE_TRY(make_folder(out->data, err));
    tide__strbuf_append_c(out, "/checkpoints");
    TIDE_TRY(make_folder(out->data, err));
    checkpoint_name(dir->path, job, (struct checkpoint_file){id, delta}, out);
    return TIDE_OK;
}

void tide__state_dir_open_delta_path(struct state_dir *dir, uint32_t job, struct strbuf *out) {
    tide__strbuf_clear(out);
    tide__strbuf_printf(out, "%s/job-%u/checkpoints/" OPEN_DELTA, dir->path, job);
}

uint64_t tide__state_dir_last_id(struct state_dir *dir, uint32_t job) {
    struct checkpoint_files files;
    bool ok = list_checkpoints(dir->path, job, &files);
    uint64_t last = ok && files.count > 0 ? files.items[files.count - 1].id : 0;
    tide__free(files.items);
    return last;
}

// --- looking ------------------------------------------------------------------------------------------------------

tide_status tide__state_dir_each(const char *path, state_dir_each_fn *fn, void *ctx, tide_error *err) {
    struct numbers jobs;
    if (!list_jobs(path, &jobs)) return tide__fail_errno(err, errno, "can't read the state directory %s", path);
    struct strbuf name = {0};
    tide_status status = TIDE_OK;
    for (size_t j = 0; j < jobs.count && status == TIDE_OK; j++) {
        struct checkpoint_files files;
        if (!list_checkpoints(path, jobs.items[j], &files))
            status = tide__fail_errno(err, errno, "can't read the checkpoints of job %" PRIu64 " in %s", jobs.items[j],
                                      path);
        for (size_t i = 0; i < files.count; i++) {
            checkpoint_name(path, jobs.items[j], files.items[i], &name);
            fn(ctx, (uint32_t)jobs.items[j], files.items[i].id, name.data);
        }
        tide__free(files.items);
    }
    tide__strbuf_deinit(&name);
    tide__free(jobs.items);
    return status;
}

// The checkpoints of the highest job that has any.
struct found {
    struct arena *arena;
    uint32_t job;
    size_t count;
    const char **paths;
    uint64_t *ids;
    size_t cap;
};

static void remember(void *ctx, uint32_t job, uint64_t id, const char *path) {
    struct found *found = ctx;
    if (job != found->job) found->count = 0;  // jobs ascend
    found->job = job;
    size_t cap = found->cap;
    found->paths = tide__grow(found->paths, &found->cap, found->count + 1, sizeof *found->paths);
    if (found->cap != cap) found->ids = tide__realloc_array(found->ids, found->cap, sizeof *found->ids);
    found->ids[found->count] = id;
    found->paths[found->count++] = tide__arena_strndup(found->arena, path, strlen(path));
}

static void forget(struct found *found) {
    tide__free(found->paths);
    tide__free(found->ids);
}

bool tide__state_dir_has_checkpoints(const char *path) {
    struct arena arena;
    tide__arena_init(&arena);
    struct found found = {.arena = &arena};
    tide_error ignored;
    tide__error_clear(&ignored);
    // What can't be read is treated as full: nobody may begin anew over it.
    bool has = tide__state_dir_each(path, remember, &found, &ignored) != TIDE_OK || found.count > 0;
    forget(&found);
    tide__arena_deinit(&arena);
    return has;
}

static tide_status open_whole(const char *path, uint64_t id, bool check_chunks, struct savepoint **out,
                              tide_error *err) {
    TIDE_TRY(tide__savepoint_open(path, out, err));
    tide_status status = TIDE_OK;
    if (tide__savepoint_info(*out)->checkpoint_id != id)
        status = tide__fail(err, TIDE_ERR_SAVEPOINT, "%s holds checkpoint %" PRIu64 ", which its name does not say",
                            path, tide__savepoint_info(*out)->checkpoint_id);
    if (status == TIDE_OK && check_chunks) status = tide__savepoint_check_frames(*out, err);
    if (status == TIDE_OK) return TIDE_OK;
    tide__savepoint_close(*out);
    *out = NULL;
    return status;
}

struct search {
    const char *path;
    uint64_t below;  // only checkpoints with a smaller number
    bool check_chunks;
    struct arena *arena;
    struct savepoint **out;
    const char **out_path, **out_skipped;
};

static void skip(const struct search *search, const tide_error *reason) {
    const char *text = tide__arena_printf(search->arena, "%s%s%s", reason->message, reason->hint[0] != '\0' ? "; " : "",
                                          reason->hint);
    *search->out_skipped = *search->out_skipped == NULL
                               ? text
                               : tide__arena_printf(search->arena, "%s; %s", *search->out_skipped, text);
}

static tide_status fail_none(const struct search *search, uint32_t job, tide_error *err) {
    tide__fail(err, TIDE_ERR_SAVEPOINT, "no checkpoint of job %u in %s can be read: %s", job, search->path,
               *search->out_skipped);
    tide__error_set_file(err, search->path);
    return tide__fail_hint(err,
                           "Save what is whole of one with `tidemark savepoint salvage`, start from another savepoint "
                           "with --from, or give the checkpoints up with --restart.");
}

// The highest job that has made checkpoints must have some.
static tide_status check_not_gone(const struct search *search, const struct found *found, tide_error *err) {
    struct numbers jobs;
    if (!list_jobs(search->path, &jobs))
        return tide__fail_errno(err, errno, "can't read the state directory %s", search->path);
    struct strbuf name = {0};
    tide_status status = TIDE_OK;
    for (size_t j = jobs.count; j-- > 0 && jobs.items[j] > (found->count > 0 ? found->job : 0) && status == TIDE_OK;) {
        if (!tide__state_dir_noted(search->path, jobs.items[j], &name)) continue;
        tide__fail(err, TIDE_ERR_SAVEPOINT,
                   "job %" PRIu64 " in %s has made checkpoints, and all of them are gone; the newest was %s",
                   jobs.items[j], search->path, name.len > 0 ? name.data : "not noted");
        tide__error_set_file(err, search->path);
        status = tide__fail_hint(
            err, "Put them back, start from a savepoint with --from and another --state-dir, or give them up with "
                 "--restart.");
    }
    tide__strbuf_deinit(&name);
    tide__free(jobs.items);
    return status;
}

static tide_status find(const struct search *search, struct found *found, tide_error *err) {
    TIDE_TRY(tide__state_dir_each(search->path, remember, found, err));
    TIDE_TRY(check_not_gone(search, found, err));
    for (size_t i = found->count; i-- > 0 && *search->out == NULL;) {
        if (found->ids[i] >= search->below) continue;
        tide_error reason;
        tide__error_clear(&reason);
        if (open_whole(found->paths[i], found->ids[i], search->check_chunks, search->out, &reason) == TIDE_OK)
            *search->out_path = found->paths[i];
        else
            skip(search, &reason);
    }
    if (*search->out == NULL && found->count > 0) return fail_none(search, found->job, err);
    return TIDE_OK;
}

// A running job writes and removes checkpoints meanwhile: what can't be read may just be gone.
static tide_status find_newest(const struct search *search, tide_error *err) {
    const char *skipped = *search->out_skipped;
    uint64_t last = 0;
    for (int attempt = 0;; attempt++) {
        *search->out = NULL;
        *search->out_path = NULL;
        *search->out_skipped = skipped;
        struct found found = {.arena = search->arena};
        tide_error failure;
        tide__error_clear(&failure);
        tide_status status = find(search, &found, &failure);
        uint64_t newest = found.count > 0 ? found.ids[found.count - 1] : 0;
        forget(&found);
        bool moved = newest != last;
        last = newest;
        if (status == TIDE_OK) return TIDE_OK;
        if (attempt < 5 && moved && failure.status == TIDE_ERR_SAVEPOINT) continue;
        if (err != NULL) *err = failure;
        return status;
    }
}

tide_status tide__state_dir_newest(const char *path, struct arena *arena, struct savepoint **out, const char **out_path,
                                   const char **out_skipped, tide_error *err) {
    *out_skipped = NULL;
    struct search search = {path, UINT64_MAX, true, arena, out, out_path, out_skipped};
    return find_newest(&search, err);
}

tide_status tide__state_dir_latest(const char *path, struct arena *arena, struct savepoint **out, const char **out_path,
                                   const char **out_skipped, tide_error *err) {
    *out_skipped = NULL;
    struct search search = {path, UINT64_MAX, false, arena, out, out_path, out_skipped};
    return find_newest(&search, err);
}

tide_status tide__state_dir_older(const char *path, uint64_t below, const char *why, struct arena *arena,
                                  struct savepoint **out, const char **out_path, const char **out_skipped,
                                  tide_error *err) {
    *out_skipped = tide__arena_strndup(arena, why, strlen(why));
    struct search search = {path, below, false, arena, out, out_path, out_skipped};
    return find_newest(&search, err);
}

// --- removing -----------------------------------------------------------------------------------------------------

// What a process that was killed left behind. Only the lock's holder writes here, one file at a time, and none just now.
static void remove_temporaries(const char *folder) {
    DIR *dir = opendir(folder);
    if (dir == NULL) return;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (strncmp(entry->d_name, "chk-", 4) == 0 &&
            (strstr(entry->d_name, SUFFIX ".tmp-") != NULL || strcmp(entry->d_name, OPEN_DELTA) == 0))
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
}

static bool counts(struct checkpoint_file file, uint64_t good_until, uint64_t good_from) {
    return file.id <= good_until || file.id >= good_from;
}

// The number of the full checkpoint that the oldest one to keep builds on: a delta builds on what is before it. 0: all stay.
static uint64_t first_kept(const struct checkpoint_files *files, uint32_t keep, uint64_t good_until,
                           uint64_t good_from) {
    uint32_t seen = 0;
    for (size_t i = files->count; i-- > 0;) {
        if (!counts(files->items[i], good_until, good_from)) continue;
        seen++;
        if (seen >= keep && !files->items[i].delta) return files->items[i].id;
    }
    return 0;
}

void tide__state_dir_retain(struct state_dir *dir, uint32_t job, uint32_t keep, uint64_t good_until,
                            uint64_t good_from) {
    struct checkpoint_files files;
    if (!list_checkpoints(dir->path, job, &files)) {  // nothing is removed; the next checkpoint tries again
        tide__free(files.items);
        return;
    }
    struct strbuf name = {0};
    uint64_t first = first_kept(&files, keep > 0 ? keep : 1, good_until, good_from);
    for (size_t i = 0; i < files.count && files.items[i].id < first; i++) {
        checkpoint_name(dir->path, job, files.items[i], &name);
        tide__kill_point("retain.before-remove");
        unlink(name.data);
        tide__kill_point("retain.after-remove");
    }
    tide__strbuf_clear(&name);
    tide__strbuf_printf(&name, "%s/job-%u/checkpoints", dir->path, job);
    remove_temporaries(name.data);
    tide__strbuf_deinit(&name);
    tide__free(files.items);
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
        tide__state_dir_forget(dir->path,
                               jobs.items[j]);  // first: what is then left of the job is as if it had never begun
        if (nftw(folder.data, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
            status = tide__fail_errno(err, errno, "can't remove %s", folder.data);
    }
    // What is gone must not come back behind the checkpoints of a new run.
    if (status == TIDE_OK && jobs.count > 0) status = tide__savepoint_sync_folder(folder.data, err);
    tide__strbuf_deinit(&folder);
    tide__free(jobs.items);
    return status;
}
