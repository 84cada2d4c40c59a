// `savepoint migrate`: the state of a savepoint under a new script, written as a new savepoint. No source is opened, no sink is
// touched: the new plan's operators are opened only to say what their tables look like.
#include "api/job.h"
#include "api/migrate.h"
#include "base/alloc.h"
#include "base/time.h"
#include "engine/operator.h"

#include <pthread.h>
#include <string.h>
#include <sys/time.h>

struct file_migration {
    const char *out_path;
    const char *from;
    bool done;
    // the write, on the state's background thread
    const struct savepoint_info *info;
    struct state_store *store;
    pthread_mutex_t lock;
    pthread_cond_t written;
    bool is_written;
    tide_error failure;
};

// --- operators -------------------------------------------------------------------------------------------------------------

static void close_operators(struct operator** ops, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (ops[i] != NULL) ops[i]->class->close(ops[i]);
}

static tide_status open_operators(struct job *job, struct operator** ops, tide_error *err) {
    for (uint32_t i = 0; i < job->plan->node_count; i++) {
        const struct plan_node *node = job->plan->nodes[i];
        if (!node->stateful || node->kind == PLAN_SCAN || node->kind == PLAN_SINK) continue;
        struct operator_env env = {
            .plan = job->plan,
            .node = node,
            .store = job->store,
            .budget = &job->budget,
            .batch_rows_max = job->run->options->batch_rows,
            .script_dir = job->run->dir,
            .run_id = job->run_id,
        };
        const struct operator_class *class = tide__operator_class(node->kind);
        TIDE_TRY(class->open(&env, &ops[i], err));
        ops[i]->class = class;
        ops[i]->node = node;
    }
    return TIDE_OK;
}

// --- writing ---------------------------------------------------------------------------------------------------------------

static void snapshot_ready(void *ctx, struct state_snapshot *snapshot, const tide_error *store_error) {
    struct file_migration *m = ctx;
    uint64_t bytes;
    tide_error failure;
    tide__error_clear(&failure);
    if (snapshot == NULL)
        failure = *store_error;
    else
        failure.status = tide__savepoint_write(m->out_path, m->info, m->store, snapshot, &bytes, &failure);
    if (snapshot != NULL) tide__state_snapshot_release(snapshot);
    pthread_mutex_lock(&m->lock);
    m->failure = failure;
    m->is_written = true;
    pthread_cond_signal(&m->written);
    pthread_mutex_unlock(&m->lock);
}

static tide_status write_file(struct file_migration *m, struct job *job, const struct task_snapshot *snapshot,
                              tide_error *err) {
    const struct savepoint_info *old_info = tide__savepoint_info(job->run->resume.savepoint);
    struct timeval now;
    gettimeofday(&now, NULL);
    struct savepoint_info info = {
        .format_version = SAVEPOINT_FORMAT_VERSION,
        .writer_version = TIDE_VERSION,
        .job_name = job->plan->settings.job_name,
        .script_name = job->run->name,
        .sql = job->run->sql,
        .statement_index = job->plan->statement_index,
        .rows_before = old_info->rows_before,
        .checkpoint_id = old_info->checkpoint_id,
        .created_ms = (int64_t)now.tv_sec * MILLIS_PER_SECOND + now.tv_usec / 1000,
        .run_id = old_info->run_id,
        .plan = job->description,
        .snapshot = *snapshot,
    };
    m->info = &info;
    m->store = job->store;
    TIDE_TRY(tide__state_barrier(job->store, snapshot_ready, m, err));
    pthread_mutex_lock(&m->lock);
    while (!m->is_written) pthread_cond_wait(&m->written, &m->lock);
    pthread_mutex_unlock(&m->lock);
    if (m->failure.status != TIDE_OK) *err = m->failure;
    return m->failure.status;
}

static tide_status migrate_opened(struct file_migration *m, struct job *job, tide_error *err) {
    struct task_snapshot snapshot;
    TIDE_TRY(tide__api_migrate_tables(job, err));
    TIDE_TRY(tide__api_migrate_snapshot(job, &snapshot, err));
    TIDE_TRY(write_file(m, job, &snapshot, err));
    m->done = true;
    job->run->stopped = true;
    return TIDE_OK;
}

// Instead of running the job.
static tide_status instead(void *ctx, struct job *job, tide_error *err) {
    struct file_migration *m = ctx;
    if (tide__savepoint_info(job->run->resume.savepoint)->missing_count > 0)
        return tide__fail(err, TIDE_ERR_OPTION,
                          "%s was salvaged from a damaged savepoint: it can be run, but not migrated", m->from);
    struct operator** ops = tide__calloc(job->plan->node_count + 1, sizeof *ops);
    tide_status status = open_operators(job, ops, err);
    if (status == TIDE_OK) status = migrate_opened(m, job, err);
    close_operators(ops, job->plan->node_count);
    tide__free(ops);
    return status;
}

static tide_status run_migration(struct file_migration *m, const tide_script *script, const tide_options *options,
                                 const tide_handler *handler, tide_error *err) {
    struct arena arena;
    tide__arena_init(&arena);
    tide_status status = tide__api_savepoint_path_check(m->out_path, &arena, err);
    tide__arena_deinit(&arena);
    TIDE_TRY(status);
    struct job_watch watch = {.ctx = m, .instead = instead};
    struct script_around around = {.watch = &watch};
    struct str sql = {script->sql, script->sql_len};
    TIDE_TRY(tide__api_script_run(script->name, sql, script->dir, options, handler, NULL, &around, err));
    return m->done ? TIDE_OK
                   : tide__fail(err, TIDE_ERR_REFUSED, "the script starts no job that could go on from %s", m->from);
}

tide_status tide_savepoint_migrate(const char *from, const tide_script *script, const char *out_path,
                                   const tide_options *given, const tide_handler *handler, tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    struct file_migration m = {.out_path = out_path, .from = from};
    tide__error_clear(&m.failure);
    pthread_mutex_init(&m.lock, NULL);
    pthread_cond_init(&m.written, NULL);
    tide_options options = *given;
    options.from = from;
    options.state_dir = options.stop_savepoint = NULL;
    options.checkpoint_interval_ms = 0;
    options.checkpoint_every_rows = 0;
    tide_status status = run_migration(&m, script, &options, handler, err);
    pthread_mutex_destroy(&m.lock);
    pthread_cond_destroy(&m.written);
    return status;
}
