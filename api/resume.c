// Where a script goes on: its state directory's newest checkpoint, or the savepoint that --from names.
#include "api/script.h"
#include "api/plans.h"
#include "base/file.h"
#include "base/time.h"
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
                      "%s was salvaged from a damaged savepoint: up to %llu keys of state are missing",
                      run->resume.path, (unsigned long long)entries);
}

static tide_status open_from(struct script_run *run, tide_error *err) {
    const char *from = run->options->from;
    if (run->options->state_dir != NULL && tide__state_dir_has_checkpoints(run->options->state_dir)) {
        tide__fail(err, TIDE_ERR_OPTION, "--from %s, but the state directory %s holds checkpoints already", from,
                   run->options->state_dir);
        return tide__fail_hint(
            err, "Resume without --from, choose a new --state-dir, or give up its checkpoints with --restart.");
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
    const char *folder = slash == NULL   ? "."
                         : slash == path ? "/"
                                         : tide__arena_strndup(arena, path, (size_t)(slash - path));
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
        tide__api_message(run, TIDE_NOTE, NULL, "no checkpoint in %s yet: begins with the first row",
                          run->options->state_dir);
    return TIDE_OK;
}

void tide__api_resume_close(struct script_run *run) {
    tide__api_plans_close(&run->resume.old_plans);
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

// What the options allow of a change: true if the operator's state goes on.
static bool is_accepted(const struct script_run *run, const struct compat_change *change) {
    if (change->missing != 0) return false;  // nothing can be loaded
    if (!change->sound && !run->options->accept_unsound) return false;
    switch (change->verdict) {
    case COMPAT_COMPATIBLE: return true;
    case COMPAT_PARTIAL: return run->options->on_incompatible != TIDE_INCOMPATIBLE_FAIL;
    case COMPAT_INCOMPATIBLE:
    case COMPAT_UNKNOWN: return false;
    }
    return false;
}

static void refuse(const struct script_run *run, const struct compat_change *change, const char *text,
                   tide_error *err) {
    tide__fail_at(err, TIDE_ERR_REFUSED, clause_pos(change->new_clause), "the script does not fit the savepoint %s: %s",
                  run->resume.path, text);
    const char *anew = run->resume.same_job ? "anew with --restart" : "without --from";
    if (change->missing == 0 && change->verdict == COMPAT_PARTIAL && change->sound)
        tide__fail_hint(err, "Accept it with --on-incompatible partial, undo the change, or start %s.", anew);
    else if (change->missing == 0 && change->verdict < COMPAT_UNKNOWN)
        tide__fail_hint(
            err, "Results may differ from a run from the start: accept that with --accept-unsound, or start %s.", anew);
    else if (run->options->policy == TIDE_POLICY_STRICT && change->exact < COMPAT_UNKNOWN)
        tide__fail_hint(err, "The state can be carried over: --policy exact%s. Or undo the change, or start %s.",
                        change->exact == COMPAT_PARTIAL ? " --on-incompatible partial" : "", anew);
    else
        tide__fail_hint(
            err, "Undo the change, let the changed operators start empty with --on-incompatible reset, or start %s.",
            anew);
}

// --- what begins empty ---------------------------------------------------------------------------------------------------

static void reset_operator(struct script_run *run, const struct compat_operator *op) {
    struct resume *resume = &run->resume;
    const char *id = op->new_node != NULL ? op->new_node->operator_id : op->old_node->operator_id;
    if (tide__api_is_reset(resume, id)) return;
    resume->resets[resume->reset_count++] = id;
}

static bool is_above(const struct plan_node *node, const struct plan_node *below) {
    for (uint32_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] == below || is_above(node->inputs[i], below)) return true;
    return false;
}

// A source's position means nothing any more.
static bool loses_position(const char *code) {
    return strcmp(code, "source.connector") == 0 || strcmp(code, "source.values") == 0 ||
           strcmp(code, "source.renamed") == 0 || strcmp(code, "source.path") == 0;
}

// The operator, or what a source or a setting feeds.
static void reset_for(struct script_run *run, const struct compat_report *report, const struct compat_operator *op,
                      const char *code) {
    if (op->stateful || (op->new_node != NULL && loses_position(code))) reset_operator(run, op);
    if (op->stateful) return;
    for (size_t i = 0; i < report->operator_count; i++) {
        const struct compat_operator *other = &report->operators[i];
        if (!other->stateful || other->new_node == NULL) continue;
        if (op->new_node == NULL || is_above(other->new_node, op->new_node)) reset_operator(run, other);
    }
}

// Begins empty, or counts something from here on.
static bool begins_anew(const struct resume *resume, const char *operator_id) {
    if (tide__api_is_reset(resume, operator_id)) return true;
    for (size_t i = 0; resume->report != NULL && i < resume->report->operator_count; i++) {
        const struct compat_operator *op = &resume->report->operators[i];
        if (op->verdict == COMPAT_PARTIAL && op->old_node != NULL &&
            strcmp(op->old_node->operator_id, operator_id) == 0)
            return true;
    }
    return false;
}

// Until when windows may hold rows of before: the end of the last one in the state of an operator that begins anew.
static void say_when_whole(const struct script_run *run) {
    const struct savepoint_info *info = tide__savepoint_info(run->resume.savepoint);
    int64_t end = INT64_MIN;
    bool unbounded = false;
    for (size_t i = 0; i < info->table_count; i++) {
        const struct savepoint_table *table = &info->tables[i];
        if (!begins_anew(&run->resume, table->desc.operator_id)) continue;
        unbounded |= table->entries > 0 && table->window_count == 0;
        for (size_t w = 0; w < table->window_count && w < SAVEPOINT_WINDOWS_MAX; w++)
            if (table->windows[w].end_ms > end) end = table->windows[w].end_ms;
        unbounded |= table->window_count > SAVEPOINT_WINDOWS_MAX;
    }
    if (unbounded) {
        tide__api_message(run, TIDE_NOTE, NULL,
                          "what begins anew counts from here on; where there is no window, that stays so");
        return;
    }
    if (end == INT64_MIN) return;
    struct strbuf text = {0};
    tide__timestamp_print((struct timestamp){.ms = end}, 3, &text);
    tide__api_message(run, TIDE_NOTE, NULL, "results are whole again for windows that begin at %.*s or later",
                      (int)text.len, text.data);
    tide__strbuf_deinit(&text);
}

// --- all ------------------------------------------------------------------------------------------------------------------

struct check_state {
    struct script_run *run;
    const struct compat_report *report;
    size_t refused;
    tide_error *err;
};

static void check_change(struct check_state *state, const struct compat_operator *op,
                         const struct compat_change *change) {
    struct script_run *run = state->run;
    const char *text = tide__arena_printf(&run->arena, "%s (%s): %s; %s", op->name, change->code, change->message,
                                          change->state);
    struct source_pos pos = clause_pos(change->new_clause);
    if (is_accepted(run, change)) {
        if (change->verdict == COMPAT_PARTIAL)
            tide__api_message_at(run, TIDE_WARNING, pos, "It counts from here on; the other columns go on.", text);
        else if (!change->sound)
            tide__api_message_at(run, TIDE_WARNING, pos, "Results may differ from a run from the start.", text);
        return;
    }
    if (run->options->on_incompatible == TIDE_INCOMPATIBLE_RESET) {
        bool itself = op->stateful || loses_position(change->code);
        tide__api_message_at(run, TIDE_WARNING, pos,
                             itself ? "This operator starts empty." : "What it feeds starts empty.", text);
        reset_for(run, state->report, op, change->code);
    } else if (state->refused++ == 0) {
        refuse(run, change, text, state->err);
    } else {
        tide__api_message_at(run, TIDE_NOTE, pos, NULL, text);
    }
}

// State and positions are found by the operator's id.
static void check_id(struct check_state *state, const struct compat_operator *op) {
    if (op->old_node == NULL || op->new_node == NULL || (tide__compat_features() & COMPAT_CAN_MATCH) != 0) return;
    if (strcmp(op->old_node->operator_id, op->new_node->operator_id) == 0 || op->new_node->kind == PLAN_SINK) return;
    if (state->run->options->on_incompatible == TIDE_INCOMPATIBLE_RESET) {
        reset_operator(state->run, op);
    } else if (state->refused++ == 0) {
        tide__fail_at(state->err, TIDE_ERR_REFUSED, op->new_node->pos,
                      "the script does not fit the savepoint %s: %s is %s there", state->run->resume.path,
                      op->new_node->operator_id, op->old_node->operator_id);
        tide__fail_hint(state->err,
                        "Keep the order of the queries, or let it start empty with --on-incompatible reset.");
    }
}

// What no change tells: the state is laid out in another way.
static void check_missing(struct check_state *state, const struct compat_operator *op) {
    if (op->missing == 0 || state->refused > 0 || op->new_node == NULL) return;
    if (tide__api_is_reset(&state->run->resume, op->new_node->operator_id)) return;
    if (state->run->options->on_incompatible == TIDE_INCOMPATIBLE_RESET) {
        reset_operator(state->run, op);
        return;
    }
    state->refused++;
    tide__fail_at(state->err, TIDE_ERR_REFUSED, op->new_node->pos,
                  "the script does not fit the savepoint %s: the state of %s can't be carried over yet",
                  state->run->resume.path, op->name);
    tide__fail_hint(state->err, "Undo the change, or let it start empty with --on-incompatible reset.");
}

// The script has not changed in what matters: then nothing has to be compiled and compared.
static bool is_same_plan(const struct plan_description *a, const struct plan_description *b) {
    if (a->operator_count != b->operator_count) return false;
    for (size_t i = 0; i < a->operator_count; i++)
        if (strcmp(a->operators[i].operator_id, b->operators[i].operator_id) != 0 ||
            a->operators[i].fingerprint != b->operators[i].fingerprint)
            return false;
    return true;
}

// Grouping sets have numbers in the state, which are those of their order; and that the description leaves out.
static bool has_sets(const struct plan *plan) {
    for (uint32_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i]->kind == PLAN_EXPAND) return true;
    return false;
}

static tide_status compare(struct script_run *run, const struct compat_request *request, tide_error *err) {
    struct compat_report *report = ARENA_NEW(&run->arena, struct compat_report);
    tide__compat_check(request, &run->arena, report);
    run->resume.report = report;
    run->resume.resets = ARENA_ARRAY(&run->arena, const char *, report->operator_count + 1);
    struct check_state state = {run, report, 0, err};
    for (size_t i = 0; i < report->operator_count; i++) {
        const struct compat_operator *op = &report->operators[i];
        for (size_t k = 0; k < op->change_count; k++) check_change(&state, op, &op->changes[k]);
        check_id(&state, op);
        check_missing(&state, op);
    }
    return state.refused > 0 ? err->status : TIDE_OK;
}

static tide_status check_changed(struct script_run *run, const struct plan *plan, tide_error *err) {
    const struct savepoint_info *info = tide__savepoint_info(run->resume.savepoint);
    const char *name = run->resume.path;
    tide__api_plans_close(&run->resume.old_plans);
    TIDE_TRY(tide__api_plans_of_savepoint(info, name, &run->arena, &run->resume.old_plans, err));
    struct compat_request request = {
        .old_script = run->resume.old_plans.script,
        .new_script = {.name = run->name, .sql = run->sql, .plan_count = 1, .plans = &plan},
        .policy = run->options->policy == TIDE_POLICY_EXACT ? COMPAT_EXACT : COMPAT_STRICT,
        .features = tide__compat_features(),
    };
    tide__api_plans_settings(run->session, &run->arena, &request.new_script);
    return compare(run, &request, err);
}

// A named savepoint begins new files: what another run has written behind it may lie there already. NULL: no such sink.
static const char *writes_again(const struct script_run *run, const struct plan *plan) {
    for (uint32_t i = 0; !run->resume.same_job && i < plan->root_count; i++) {
        const struct plan_node *sink = plan->roots[i];
        const struct option *connector = sink->sink.kind == SINK_TABLE
                                             ? tide__table_option(sink->sink.table, "connector")
                                             : NULL;
        if (connector != NULL && tide__str_eq_c(connector->value, "filesystem"))
            return "It writes new files: rows behind that one are there twice where another run has written them into "
                   "the same folder.";
    }
    return NULL;
}

tide_status tide__api_resume_check(struct script_run *run, const struct plan *plan, tide_error *err) {
    struct plan_description description;
    tide__plan_describe(plan, &run->arena, &description);
    const struct savepoint_info *info = tide__savepoint_info(run->resume.savepoint);
    run->resume.reset_count = 0;
    run->resume.report = NULL;
    if (has_sets(plan) || !is_same_plan(&info->plan, &description)) TIDE_TRY(check_changed(run, plan, err));
    warn_missing(run);
    say_when_whole(run);
    if (run->options->stop_savepoint != NULL && run->options->stop_after_rows < info->snapshot.rows) {
        tide__fail(err, TIDE_ERR_OPTION, "--after %llu is behind: the job goes on from row %llu",
                   (unsigned long long)run->options->stop_after_rows, (unsigned long long)info->snapshot.rows);
        return tide__fail_hint(err, "Rows are counted from the beginning of the input, over all runs.");
    }
    tide__api_message(run, TIDE_NOTE, writes_again(run, plan), "goes on from %s, after row %llu", run->resume.path,
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
    TIDE_TRY_OR(status, tide__savepoint_sync_folder(to, err), done);
done:
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    if (out >= 0 && status != TIDE_OK) unlink(beside);
    tide__arena_deinit(&arena);
    return status;
}
