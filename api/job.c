// One job from its first row (or from a savepoint) to its end, to a stop, or to a failure.
#include "api/job.h"
#include "api/migrate.h"

#include "api/status.h"
#include "base/alloc.h"
#include "base/killpoint.h"
#include "base/time.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define CHECKPOINT_INTERVAL_DEFAULT_MS 10000
#define PROGRESS_SECONDS               0.2
#define HARD_LIMIT_MORE                ((size_t)64 << 20)
#define SAMPLE_SECONDS                 1.0

// --- the working folder ------------------------------------------------------------------------------------------------

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at) {
    (void)info, (void)type, (void)at;
    return remove(path);
}

static tide_status make_temporary_dir(struct job *job, tide_error *err) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0') base = "/tmp";
    job->temporary_dir = tide__strdup(tide__arena_printf(&job->arena, "%s/tidemark-XXXXXX", base));
    if (mkdtemp(job->temporary_dir) != NULL) return TIDE_OK;
    int error = errno;
    tide__free(job->temporary_dir);
    job->temporary_dir = NULL;
    tide__fail_errno(err, error, "can't make a temporary folder in %s", base);
    return tide__fail_hint(err, "Set TMPDIR to a folder that can be written, or give the job a --state-dir.");
}

// Names this run's files. Later runs sort behind earlier ones: milliseconds, the job's number, the process, in base 36.
static const char *make_run_id(struct arena *arena, uint32_t job_index) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    struct timeval now;
    gettimeofday(&now, NULL);
    uint64_t parts[] = {(uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_usec / 1000, job_index, (uint64_t)getpid()};
    const int widths[] = {9, 2, 3};
    char *id = tide__arena_zalloc(arena, 16);
    int at = 0;
    for (int p = 0; p < 3; p++) {
        for (int i = widths[p] - 1; i >= 0; i--) {
            id[at + i] = digits[parts[p] % 36];
            parts[p] /= 36;
        }
        at += widths[p];
    }
    return id;
}

// --- open and close ------------------------------------------------------------------------------------------------------

static bool resuming(const struct job *job) {
    const struct script_run *run = job->run;
    return run->resume.savepoint != NULL &&
           tide__savepoint_info(run->resume.savepoint)->statement_index == job->plan->statement_index;
}

static tide_status open_dirs(struct job *job, const char **out_work, tide_error *err) {
    const tide_options *options = job->run->options;
    bool wanted = options->checkpoint_every_rows > 0 || options->checkpoint_interval_ms > 0;
    if (job->run->state_dir == NULL) {
        TIDE_TRY(make_temporary_dir(job, err));
        *out_work = tide__arena_printf(&job->arena, "%s/work", job->temporary_dir);
        if (wanted) TIDE_TRY(tide__state_dir_open(job->temporary_dir, &job->run->state_dir, err));
    }
    if (job->run->state_dir != NULL)
        *out_work = tide__state_dir_work(job->run->state_dir, job->plan->statement_index + 1);
    job->checkpoints = job->run->state_dir != NULL;
    job->every_rows = options->checkpoint_every_rows;
    job->interval_ms = options->checkpoint_interval_ms;
    if (job->interval_ms < 0) {
        job->interval_ms = job->plan->settings.checkpoint_interval_ms;
        if (job->interval_ms == 0 && job->every_rows == 0) job->interval_ms = CHECKPOINT_INTERVAL_DEFAULT_MS;
    }
    return TIDE_OK;
}

static uint32_t parallelism(const tide_options *options) {
    if (options->parallelism > 0) return options->parallelism;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 && cores < 256 ? (uint32_t)cores : 1;
}

// What may be held in all, if nothing can be given back. Nobody chose the default: then what the machine has counts.
static size_t hard_limit(const tide_options *options) {
    size_t limit = options->memory_bytes + options->memory_bytes / 2 + HARD_LIMIT_MORE;
    if (options->memory_bytes != TIDE__MEMORY_DEFAULT) return limit;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t machine = pages > 0 && page > 0 ? (size_t)pages / 4 * 3 * (size_t)page : 0;
    return machine > limit ? machine : limit;
}

static tide_status open_store(struct job *job, const char *work, tide_error *err) {
    job->budget.limit = job->run->options->memory_bytes;
    job->budget.hard = hard_limit(job->run->options);
    struct state_options state = {.backend = STATE_BACKEND_ROCKSDB, .dir = work, .budget = &job->budget};
    return tide__state_open(&state, &job->store, err);
}

static tide_status open_task(struct job *job, const char *work, tide_error *err) {
    const struct script_run *run = job->run;
    TIDE_TRY(open_store(job, work, err));
    struct task_env env = {
        .plan = job->plan,
        .store = job->store,
        .budget = &job->budget,
        .script_dir = run->dir,
        .run_id = job->run_id,
        .parallelism = parallelism(run->options),
        .batch_rows_max = run->options->batch_rows,
        .changed_input = run->options->accept_changed_input ? CHANGED_INPUT_ACCEPT : CHANGED_INPUT_REFUSE,
        .collect = run->around.watch != NULL ? run->around.watch->collect : tide__api_collect,
        .collect_ctx = run->around.watch != NULL ? run->around.watch->ctx : job,
        .row_sources = run->row_sources,
    };
    return tide__task_open(&env, &job->task, err);
}

static void close_task(struct job *job) {
    if (job->task != NULL) tide__task_close(job->task);
    tide__state_close(job->store);
    job->task = NULL;
    job->store = NULL;
}

static void close_job(struct job *job) {
    tide_error ignored;
    tide__error_clear(&ignored);
    tide_status waited = tide__api_checkpoint_wait(job, &ignored);
    (void)waited;  // reported where it mattered; here only nothing may be on its way any more
    if (job->task != NULL) {
        struct task_stats stats;
        tide__task_stats(job->task, &stats);
        tide_summary *summary = job->run->summary;
        summary->rows_in += stats.rows_in;
        summary->rows_out += stats.rows_out;
        summary->rows_skipped += stats.rows_skipped;
        summary->late_rows += stats.late_rows;
        summary->windows_fired += stats.windows_fired;
        tide__api_checkpoint_sum(job, summary);
        if (job->budget.used_max > summary->memory_max_bytes) summary->memory_max_bytes = job->budget.used_max;
        summary->jobs++;
    }
    close_task(job);
    tide__checkpointer_free(job->checkpointer);
    if (job->temporary_dir != NULL) {
        if (job->run->state_dir != NULL) tide__state_dir_close(job->run->state_dir);
        job->run->state_dir = NULL;
        nftw(job->temporary_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        tide__free(job->temporary_dir);
    }
    const struct plan_node *root = job->plan->roots[0];
    for (uint32_t i = 0; job->texts != NULL && i < root->field_count; i++) tide__strbuf_deinit(&job->texts[i]);
    pthread_mutex_destroy(&job->lock);
    pthread_cond_destroy(&job->idle);
    tide__arena_deinit(&job->arena);
}

// --- going on from a savepoint ---------------------------------------------------------------------------------------------

// Damage shows while the tables are loaded, for nothing is read twice: then an older checkpoint is loaded instead.
static tide_status load(struct job *job, const char *work, tide_error *err) {
    struct script_run *run = job->run;
    for (;;) {
        tide_error failure;
        tide__error_clear(&failure);
        tide_status status = tide__api_migrate_tables(job, &failure);
        if (status == TIDE_OK) return TIDE_OK;
        if (status != TIDE_ERR_SAVEPOINT || run->resume.dir == NULL) {
            if (err != NULL) *err = failure;
            return status;
        }
        TIDE_TRY(tide__api_resume_fall_back(run, &failure, err));
        TIDE_TRY(tide__api_resume_check(run, job->plan, err));
        close_task(job);
        if (run->resume.same_job) job->run_id = tide__savepoint_info(run->resume.savepoint)->run_id;
        TIDE_TRY(open_task(job, work, err));
    }
}

static tide_status restore(struct job *job, const char *work, tide_error *err) {
    struct script_run *run = job->run;
    TIDE_TRY(load(job, work, err));
    const struct savepoint_info *info = tide__savepoint_info(run->resume.savepoint);
    struct task_snapshot snapshot;
    TIDE_TRY(tide__api_migrate_snapshot(job, &snapshot, err));
    TIDE_TRY(tide__task_restore(job->task, &snapshot, err));
    run->rows_before = info->rows_before;
    tide__kill_point("restore.done");
    return TIDE_OK;
}

// --- running ---------------------------------------------------------------------------------------------------------------

static void show_progress(struct job *job, double now) {
    const tide_handler *handler = job->run->handler;
    if (handler == NULL || handler->on_progress == NULL || now - job->last_progress < PROGRESS_SECONDS) return;
    job->last_progress = now;
    struct task_stats stats;
    tide__task_stats(job->task, &stats);
    pthread_mutex_lock(&job->lock);
    double last = job->last_finished;
    uint64_t done = job->done;
    pthread_mutex_unlock(&job->lock);
    tide_progress progress = {
        .rows_in = stats.rows_in,
        .bytes_read = stats.bytes_read,
        .bytes_total = stats.bytes_total,
        .watermark_ms = stats.watermark,
        .windows_open = stats.windows_open,
        .checkpoints = done,
        .seconds = now - job->run->started,
        .last_checkpoint_seconds = last > 0 ? now - last : -1,
    };
    handler->on_progress(handler->ctx, &progress);
}

static void sample_speed(struct job *job, double now) {
    if (now - job->samples[1].seconds < SAMPLE_SECONDS) return;
    job->samples[0] = job->samples[1];
    job->samples[1].seconds = now;
    job->samples[1].rows = tide__task_rows(job->task);
}

// Asked after each batch: is there anything but rows to see to?
static bool wants_attention(void *ctx) {
    struct job *job = ctx;
    const tide_handler *handler = job->run->handler;
    double now = tide__api_seconds();
    show_progress(job, now);
    sample_speed(job, now);
    if (job->answers_checkpoint && !tide__api_checkpoint_busy(job)) return true;
    if (handler != NULL && handler->interrupted != NULL) job->interrupted = handler->interrupted(handler->ctx);
    if (job->interrupted != 0) return true;
    if (job->checkpoints && job->interval_ms > 0 && (now - job->last_started) * 1000 >= (double)job->interval_ms)
        return true;
    return job->run->control != NULL && tide__api_control_pending(job->run->control);
}

static tide_status checkpoint_and_wait(struct job *job, const char *path, enum checkpoint_form form, tide_error *err) {
    TIDE_TRY(tide__api_checkpoint_begin(job, path, form, err));
    tide__api_pause_end(job);  // what the job waits for here is no pause of a periodic one
    return tide__api_checkpoint_wait(job, err);
}

// A savepoint publishes the sinks' rows, so the state directory must know of it too: there it is a full checkpoint first,
// and the file a copy of that. Otherwise a crash would go back behind what is already visible.
tide_status tide__api_job_savepoint(struct job *job, const char *path, tide_error *err) {
    TIDE_TRY(tide__api_checkpoint_wait(job, err));
    if (!job->checkpoints) return checkpoint_and_wait(job, path, CHECKPOINT_FULL, err);
    uint64_t id = job->next_id;
    TIDE_TRY(checkpoint_and_wait(job, NULL, CHECKPOINT_FULL, err));
    struct strbuf from = {0};
    tide_status status = tide__state_dir_checkpoint_path(job->run->state_dir, job->plan->statement_index + 1, id, false,
                                                         &from, err);
    if (status == TIDE_OK) status = tide__api_savepoint_copy(from.data, path, err);
    tide__strbuf_deinit(&from);
    return status;
}

static tide_status stop_with_checkpoint(struct job *job, tide_error *err) {
    if (!job->checkpoints) {
        tide__fail(err, TIDE_ERR_NO_CHECKPOINT, "stopped; nothing was kept, for the job has no state directory");
        return tide__fail_hint(err, "Run it with --state-dir DIR to be able to resume.");
    }
    tide_status status = checkpoint_and_wait(job, NULL, CHECKPOINT_ANY, err);
    if (status != TIDE_OK) {
        if (err != NULL) err->status = TIDE_ERR_NO_CHECKPOINT;
        return TIDE_ERR_NO_CHECKPOINT;
    }
    tide__fail(err, TIDE_ERR_STOPPED, "stopped after a checkpoint at row %llu",
               (unsigned long long)tide__task_rows(job->task));
    return tide__fail_hint(err, "The same command resumes the job.");
}

static void send_status(struct job *job) {
    struct status_facts facts;
    struct strbuf text = {0};
    tide__status_init(&facts);
    tide__status_text(&facts, "job", "", "script", job->run->name);
    tide__status_text(&facts, "job", "", "job", job->plan->settings.job_name);
    tide__api_status_live(job, &facts);
    tide__status_write(&facts, &text);
    tide__api_control_send(job->run->control, tide__strbuf_str(&text));
    tide__strbuf_deinit(&text);
    tide__status_deinit(&facts);
}

// Nothing has come since the newest checkpoint, so that it shows what another would. (A query must not push older ones out.)
static bool is_fresh(const struct job *job) {
    struct task_stats now;
    tide__task_stats(job->task, &now);
    const struct task_stats *then = &job->last_stats;
    return job->done > 0 && now.rows_in == then->rows_in && now.late_rows == then->late_rows &&
           now.windows_fired == then->windows_fired && now.watermark == then->watermark;
}

// A client wants a checkpoint to read: the job goes on while it is written.
static tide_status serve_checkpoint(struct job *job, tide_error *err) {
    if (tide__api_checkpoint_busy(job)) return TIDE_OK;
    if (job->answers_checkpoint) {
        job->answers_checkpoint = false;
        tide__api_control_reply(job->run->control, true, "");
    }
    if (!job->asked_for_checkpoint) return TIDE_OK;
    job->asked_for_checkpoint = false;
    if (is_fresh(job)) {
        tide__api_control_reply(job->run->control, true, "");
        return TIDE_OK;
    }
    job->answers_checkpoint = true;
    return tide__api_checkpoint_begin(job, NULL, CHECKPOINT_ANY, err);
}

static tide_status answer_request(struct job *job, tide_error *err) {
    const char *path;
    switch (tide__api_control_poll(job->run->control, &path)) {
    case CONTROL_NONE: return TIDE_OK;
    case CONTROL_STOP:
        tide__api_control_reply(job->run->control, true, "");
        job->asked_to_stop = true;
        return TIDE_OK;
    case CONTROL_STATUS: send_status(job); return TIDE_OK;
    case CONTROL_CHECKPOINT: job->asked_for_checkpoint = true; return TIDE_OK;
    case CONTROL_SAVEPOINT: break;
    }
    tide_error failure;
    tide__error_clear(&failure);
    tide_status status = tide__api_job_savepoint(job, path, &failure);  // a failing copy does not stop the job
    tide__api_control_reply(job->run->control, status == TIDE_OK, failure.message);
    return tide__api_checkpoint_poll(job, err);
}

// Between two segments.
static tide_status see_to(struct job *job, tide_error *err) {
    TIDE_TRY(tide__api_checkpoint_poll(job, err));
    if (job->run->control != NULL && !job->asked_for_checkpoint && !job->answers_checkpoint)
        TIDE_TRY(answer_request(job, err));
    if (job->run->control != NULL) TIDE_TRY(serve_checkpoint(job, err));
    if (job->interrupted >= 2) return tide__fail(err, TIDE_ERR_NO_CHECKPOINT, "stopped at once, without a checkpoint");
    if (job->interrupted == 1 || job->asked_to_stop) return stop_with_checkpoint(job, err);
    bool due = job->interval_ms > 0 && (tide__api_seconds() - job->last_started) * 1000 >= (double)job->interval_ms;
    if (job->checkpoints && due && !tide__api_checkpoint_busy(job))
        return tide__api_checkpoint_begin(job, NULL, CHECKPOINT_ANY, err);
    return TIDE_OK;
}

// The row count at which the next checkpoint by rows is due.
static uint64_t next_checkpoint_row(const struct job *job) {
    if (!job->checkpoints || job->every_rows == 0) return UINT64_MAX;
    return (tide__task_rows(job->task) / job->every_rows + 1) * job->every_rows;
}

static tide_status stop_with_savepoint(struct job *job, tide_error *err) {
    job->run->stopped = true;
    return tide__api_job_savepoint(job, job->run->options->stop_savepoint, err);
}

// The next row that somebody who looks on wants to hear of.
static uint64_t next_watched_row(const struct job *job) {
    const struct script_run *run = job->run;
    if (run->around.watch == NULL) return UINT64_MAX;
    uint64_t row = run->around.watch->next_stop(run->around.watch->ctx, run->rows_before + tide__task_rows(job->task));
    return row == UINT64_MAX ? row : row - run->rows_before;
}

static tide_status run_to_end(struct job *job, uint64_t stop_row, tide_error *err) {
    const struct job_watch *watch = job->run->around.watch;
    for (;;) {
        uint64_t checkpoint_row = next_checkpoint_row(job), watched_row = next_watched_row(job);
        enum task_event event;
        uint64_t until = checkpoint_row < stop_row ? checkpoint_row : stop_row;
        if (watched_row < until) until = watched_row;
        tide__api_pause_end(job);
        TIDE_TRY(tide__task_run(job->task, until, wants_attention, job, &event, err));
        if (event == TASK_ENDED) return TIDE_OK;
        if (event == TASK_ROWS && tide__task_rows(job->task) == watched_row) {
            TIDE_TRY(watch->at_stop(watch->ctx, job, job->run->rows_before + watched_row, err));
            if (watched_row < stop_row && watched_row < checkpoint_row) continue;
        }
        if (event == TASK_ROWS && tide__task_rows(job->task) >= stop_row) return stop_with_savepoint(job, err);
        if (event == TASK_ROWS) {
            tide__api_pause_begin(job);
            TIDE_TRY(tide__api_checkpoint_wait(job, err));
            TIDE_TRY(tide__api_checkpoint_begin(job, NULL, CHECKPOINT_ANY, err));
        }
        TIDE_TRY(see_to(job, err));
    }
}

// The input has ended and everything has come out.
static tide_status finish(struct job *job, tide_error *err) {
    TIDE_TRY(tide__api_checkpoint_wait(job, err));
    if (job->run->options->stop_savepoint != NULL)
        return tide__api_job_savepoint(job, job->run->options->stop_savepoint, err);
    if (job->checkpoints) return checkpoint_and_wait(job, NULL, CHECKPOINT_ANY, err);
    return tide__task_finish(job->task, err);
}

static void begin_result(struct job *job) {
    const struct plan_node *root = job->plan->roots[0];
    const tide_handler *handler = job->run->handler;
    if (root->sink.kind != SINK_COLLECT) return;
    job->columns = tide__api_columns(root->fields, root->field_count, &job->arena);
    job->values = ARENA_ARRAY(&job->arena, tide_text, root->field_count + 1);
    job->texts = ARENA_ARRAY(&job->arena, struct strbuf, root->field_count + 1);
    job->result_open = true;
    if (handler != NULL && handler->on_result != NULL)
        handler->on_result(handler->ctx, job->columns, root->field_count, resuming(job));
}

static void end_result(struct job *job) {
    const tide_handler *handler = job->run->handler;
    if (job->result_open && handler != NULL && handler->on_result_end != NULL) handler->on_result_end(handler->ctx);
}

// Files become visible at checkpoints and at the end of the input.
static void warn_of_unpublished(struct job *job) {
    bool endless = false;
    for (uint32_t i = 0; i < job->plan->node_count; i++) {
        const struct plan_node *node = job->plan->nodes[i];
        endless |= node->kind == PLAN_SCAN && tide__source_is_endless(node->scan.table);
    }
    if (!endless || job->checkpoints || job->plan->roots[0]->sink.kind != SINK_TABLE) return;
    tide__api_message(job->run, TIDE_WARNING, "Run it with --state-dir DIR.",
                      "this job never ends and takes no checkpoints, so files that it writes never become visible");
}

static tide_status run_opened(struct job *job, tide_error *err) {
    struct script_run *run = job->run;
    warn_of_unpublished(job);
    uint64_t stop_row = UINT64_MAX;
    if (run->options->stop_savepoint != NULL) {
        uint64_t done = tide__task_rows(job->task);
        stop_row = run->options->stop_after_rows > run->rows_before ? run->options->stop_after_rows - run->rows_before
                                                                    : 0;
        if (stop_row < done) stop_row = done;
    }
    begin_result(job);
    job->last_started = job->began = tide__api_seconds();
    job->rows_began = tide__task_rows(job->task);
    TIDE_TRY(run_to_end(job, stop_row, err));
    if (run->stopped) return TIDE_OK;
    TIDE_TRY(finish(job, err));
    end_result(job);
    return TIDE_OK;
}

// The savepoint is of the end of this job: only what a crash kept from being published is made up for.
static tide_status run_ended(struct job *job, tide_error *err) {
    if (job->run->options->stop_savepoint != NULL)
        TIDE_TRY(tide__api_job_savepoint(job, job->run->options->stop_savepoint, err));
    if (!job->run->resume.same_job) return finish(job, err);
    return TIDE_OK;
}

static tide_status choose_run_id(struct job *job, bool resumed, tide_error *err) {
    const struct resume *resume = &job->run->resume;
    if (resumed && resume->same_job) {
        job->run_id = tide__savepoint_info(resume->savepoint)->run_id;
        return TIDE_OK;
    }
    job->run_id = make_run_id(&job->arena, job->plan->statement_index);
    if (resumed || job->run->state_dir == NULL) return TIDE_OK;
    return tide__state_dir_run_id(job->run->state_dir, job->plan->statement_index + 1, job->run_id, &job->arena,
                                  &job->run_id, err);
}

static void number_checkpoints(struct job *job, bool resumed) {
    const struct script_run *run = job->run;
    uint32_t number = job->plan->statement_index + 1;
    job->next_id = 1;
    if (!job->checkpoints) return;
    job->next_id = tide__state_dir_last_id(run->state_dir, number) + 1;
    uint64_t from = resumed && run->resume.same_job ? tide__savepoint_info(run->resume.savepoint)->checkpoint_id : 0;
    job->checkpointer = tide__checkpointer_new(run->state_dir, number, job->store, run->options->retain, from,
                                               job->next_id);
}

static tide_status open_and_run(struct job *job, tide_error *err) {
    struct script_run *run = job->run;
    const char *work = NULL;
    bool resumed = resuming(job);
    if (resumed) TIDE_TRY(tide__api_resume_check(run, job->plan, err));
    TIDE_TRY(open_dirs(job, &work, err));
    TIDE_TRY(choose_run_id(job, resumed, err));
    tide__plan_describe(job->plan, &job->arena, &job->description);
    if (run->around.watch != NULL && run->around.watch->instead != NULL) {
        if (!resumed)
            return tide__fail(err, TIDE_ERR_REFUSED, "the script has a job before the one that the savepoint is of");
        TIDE_TRY(open_store(job, work, err));
        return run->around.watch->instead(run->around.watch->ctx, job, err);
    }
    if (run->around.watch != NULL) TIDE_TRY(run->around.watch->prepare(run->around.watch->ctx, job, err));
    TIDE_TRY(open_task(job, work, err));
    TIDE_TRY(resumed ? restore(job, work, err) : tide__task_begin(job->task, err));
    number_checkpoints(job, resumed);
    bool ended = resumed && tide__savepoint_info(run->resume.savepoint)->snapshot.ended;
    tide_status status = ended ? run_ended(job, err) : run_opened(job, err);
    run->ended_before = ended;
    run->rows_before += tide__task_rows(job->task);
    return status;
}

tide_status tide__api_job_run(struct script_run *run, const struct plan *plan, tide_error *err) {
    struct job job = {.run = run, .plan = plan};
    tide__arena_init(&job.arena);
    tide__error_clear(&job.failure);
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.idle, NULL);
    tide_status status = open_and_run(&job, err);
    close_job(&job);
    return status;
}
