// Where a script goes on: its state directory's newest checkpoint, or the savepoint that --from names.
#include "api/script.h"
#include "base/file.h"
#include "checkpoint/compat/compat.h"
#include "checkpoint/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void warn_skipped(const struct script_run *run, const char *skipped) {
    if (skipped == NULL) return;
    tide__api_message(run, TIDE_WARNING, "Look at it with: tidemark savepoint verify FILE",
                      "fell back to an older checkpoint: %s", skipped);
}

// Only its index is checked; the rest is when it is loaded.
static tide_status open_newest(struct script_run *run, const char *dir, tide_error *err) {
    const char *skipped = NULL;
    run->resume.dir = dir;
    TIDE_TRY(tide__state_dir_latest(dir, &run->arena, &run->resume.savepoint, &run->resume.path, &skipped, err));
    warn_skipped(run, skipped);
    return TIDE_OK;
}

tide_status tide__api_resume_fall_back(struct script_run *run, const tide_error *why, tide_error *err) {
    uint64_t id = tide__savepoint_info(run->resume.savepoint)->checkpoint_id;
    tide__savepoint_close(run->resume.savepoint);
    run->resume.savepoint = NULL;
    const char *skipped = NULL;
    TIDE_TRY(tide__state_dir_older(run->resume.dir, id, why->message, &run->arena, &run->resume.savepoint,
                                   &run->resume.path, &skipped, err));
    warn_skipped(run, skipped);
    return TIDE_OK;
}

static void warn_missing(struct script_run *run) {
    const struct savepoint_info *info = tide__savepoint_info(run->resume.savepoint);
    if (info->missing_count == 0) return;
    uint64_t entries = 0;
    for (size_t i = 0; i < info->missing_count; i++) entries += info->missing[i].entries;
    tide__api_message(run, TIDE_WARNING, "Results that depend on them will be wrong.",
                      "%s was salvaged from a damaged savepoint: up to %llu keys of state are missing", run->resume.path,
                      (unsigned long long)entries);
}

static tide_status open_from(struct script_run *run, tide_error *err) {
    const char *from = run->options->from;
    if (run->options->state_dir != NULL && tide__state_dir_has_checkpoints(run->options->state_dir)) {
        tide__fail(err, TIDE_ERR_OPTION, "--from %s, but the state directory %s holds checkpoints already", from,
                   run->options->state_dir);
        return tide__fail_hint(err, "Resume without --from, choose a new --state-dir, or give up its checkpoints with --restart.");
    }
    if (!is_folder(from)) {
        run->resume.path = from;
        return tide__savepoint_open(from, &run->resume.savepoint, err);
    }
    TIDE_TRY(open_newest(run, from, err));
    if (run->resume.savepoint == NULL) return tide__fail(err, TIDE_ERR_SAVEPOINT, "%s holds no checkpoint", from);
    return TIDE_OK;
}

static tide_status open_state_dir(struct script_run *run, tide_error *err) {
    TIDE_TRY(tide__state_dir_open(run->options->state_dir, &run->state_dir, err));
    if (run->options->restart) TIDE_TRY(tide__state_dir_clear(run->state_dir, err));
    TIDE_TRY(tide__api_control_open(run->options->state_dir, &run->control, err));
    if (run->options->from != NULL) return TIDE_OK;
    TIDE_TRY(open_newest(run, run->options->state_dir, err));
    run->resume.same_job = run->resume.savepoint != NULL;
    return TIDE_OK;
}

// A savepoint may replace a savepoint and nothing else; and that it can be written is better known before the job than at its end.
tide_status tide__api_savepoint_path_check(const char *path, struct arena *arena, tide_error *err) {
    struct stat info;
    if (stat(path, &info) == 0) {
        char magic[sizeof SAVEPOINT_MAGIC - 1] = "";
        int fd = S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        ssize_t got = fd >= 0 ? read(fd, magic, sizeof magic) : -1;
        if (fd >= 0) close(fd);
        if (got != (ssize_t)sizeof magic || memcmp(magic, SAVEPOINT_MAGIC, sizeof magic) != 0) {
            tide__fail(err, TIDE_ERR_OPTION, "%s exists and is no savepoint: it is not overwritten", path);
            return tide__fail_hint(err, "Choose another name for the savepoint.");
        }
    }
    const char *slash = strrchr(path, '/');
    const char *folder = slash == NULL ? "." : slash == path ? "/" : tide__arena_strndup(arena, path, (size_t)(slash - path));
    if (access(folder, W_OK | X_OK) == 0) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_OPTION, "the savepoint %s can't be written: %s", path, strerror(errno));
}

tide_status tide__api_resume_open(struct script_run *run, tide_error *err) {
    if (run->options->stop_savepoint != NULL)
        TIDE_TRY(tide__api_savepoint_path_check(run->options->stop_savepoint, &run->arena, err));
    if (run->options->from != NULL && !run->options->restart) TIDE_TRY(open_from(run, err));
    if (run->options->state_dir != NULL) TIDE_TRY(open_state_dir(run, err));
    if (run->options->from != NULL && run->resume.savepoint == NULL) TIDE_TRY(open_from(run, err));
    if (run->resume.savepoint != NULL) return TIDE_OK;
    if (run->options->restart)
        tide__api_message(run, TIDE_NOTE, NULL, "begins anew; what earlier runs have written to the sinks stays there");
    else if (run->options->state_dir != NULL)
        tide__api_message(run, TIDE_NOTE, NULL, "no checkpoint in %s yet: begins with the first row", run->options->state_dir);
    return TIDE_OK;
}

void tide__api_resume_close(struct script_run *run) {
    tide__savepoint_close(run->resume.savepoint);
    tide__api_control_close(run->control);
    tide__state_dir_close(run->state_dir);
}

// --- the check -----------------------------------------------------------------------------------------------------------

static struct source_pos clause_pos(const struct plan_clause *clause) {
    struct source_pos pos = {0};
    if (clause == NULL) return pos;
    pos.line = clause->line;
    pos.column = clause->column;
    pos.length = clause->source != NULL ? (uint32_t)strlen(clause->source) : 1;
    return pos;
}

bool tide__api_is_reset(const struct resume *resume, const char *operator_id) {
    for (size_t i = 0; i < resume->reset_count; i++)
        if (strcmp(resume->resets[i], operator_id) == 0) return true;
    return false;
}

// What the options allow of a change: true if the restore may go on.
static bool is_accepted(const struct script_run *run, const struct compat_change *change) {
    switch (change->verdict) {
    case COMPAT_COMPATIBLE: return true;
    case COMPAT_PARTIAL: return run->options->on_incompatible != TIDE_INCOMPATIBLE_FAIL;
    case COMPAT_INCOMPATIBLE:
    case COMPAT_UNKNOWN: return run->options->on_incompatible == TIDE_INCOMPATIBLE_RESET;
    }
    return false;
}

static void refuse(const struct script_run *run, const struct compat_change *change, const char *text, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_REFUSED, clause_pos(change->new_clause), "the script does not fit the savepoint %s: %s",
                  run->resume.path, text);
    tide__fail_hint(err, "Undo the change, let the changed operators start empty with --on-incompatible reset, or start %s.",
                    run->resume.same_job ? "anew with --restart" : "without --from");
}

tide_status tide__api_resume_check(struct script_run *run, const struct plan *plan, tide_error *err) {
    struct plan_description description;
    tide__plan_describe(plan, &run->arena, &description);
    struct compat_report report;
    const struct savepoint_info *info = tide__savepoint_info(run->resume.savepoint);
    tide__compat_compare(&info->plan, &description, &run->arena, &report);
    run->resume.reset_count = 0;
    run->resume.resets = ARENA_ARRAY(&run->arena, const char *, report.change_count + 1);
    size_t refused = 0;
    for (size_t i = 0; i < report.change_count; i++) {
        const struct compat_change *change = &report.changes[i];
        if (change->verdict == COMPAT_COMPATIBLE) continue;
        const char *text = tide__arena_printf(&run->arena, "%s (%s): %s; %s", change->operator_id, change->code,
                                              change->message, change->state);
        if (!is_accepted(run, change)) {
            if (refused++ == 0) refuse(run, change, text, err);
            else tide__api_message_at(run, TIDE_NOTE, clause_pos(change->new_clause), NULL, text);
            continue;
        }
        tide__api_message_at(run, TIDE_WARNING, clause_pos(change->new_clause), "This operator starts empty.", text);
        run->resume.resets[run->resume.reset_count++] = change->operator_id;
    }
    if (refused > 0) return err->status;
    warn_missing(run);
    tide__api_message(run, TIDE_NOTE, NULL, "goes on from %s, after row %llu", run->resume.path,
                      (unsigned long long)info->snapshot.rows);
    return TIDE_OK;
}

// --- copying ---------------------------------------------------------------------------------------------------------------

static tide_status copy_bytes(int in, int out, const char *from, const char *to, tide_error *err) {
    char block[1 << 16];
    for (;;) {
        ssize_t got = read(in, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tide__fail_errno(err, errno, "can't read %s", from);
        if (got == 0) break;
        if (!tide__write_fully(out, block, (size_t)got)) return tide__fail_errno(err, errno, "can't write %s", to);
    }
    if (fsync(out) != 0) return tide__fail_errno(err, errno, "can't write %s", to);
    return TIDE_OK;
}

static void sync_folder_of(const char *path, struct arena *arena) {
    char *folder = tide__arena_strndup(arena, path, strlen(path));
    char *slash = strrchr(folder, '/');
    if (slash != NULL) *slash = '\0';
    int fd = open(slash == NULL ? "." : slash == folder ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

tide_status tide__api_savepoint_copy(const char *from, const char *to, tide_error *err) {
    struct arena arena;
    tide__arena_init(&arena);
    const char *beside = tide__arena_printf(&arena, "%s.tmp-%ld", to, (long)getpid());
    tide_status status = TIDE_OK;
    int out = -1, in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) TIDE_TRY_OR(status, tide__fail_errno(err, errno, "can't read %s", from), done);
    out = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (out < 0) TIDE_TRY_OR(status, tide__fail_errno(err, errno, "can't write %s", beside), done);
    TIDE_TRY_OR(status, copy_bytes(in, out, from, to, err), done);
    if (rename(beside, to) != 0) TIDE_TRY_OR(status, tide__fail_errno(err, errno, "can't write %s", to), done);
    sync_folder_of(to, &arena);
done:
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    if (out >= 0 && status != TIDE_OK) unlink(beside);
    tide__arena_deinit(&arena);
    return status;
}
