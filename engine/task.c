// The driver: graph, reading order, end of input, memory relief. See engine/task.h.
//
// Pushing is depth first and synchronous: when tide__task_push returns, every consequence of the rows has happened.
// So between two segments the pipeline holds nothing, and a barrier or a stop may stand at any row.
#include "engine/task.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/task_internal.h"
#include "engine/task_late.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// --- routing -------------------------------------------------------------------------------------------------------

tide_status tide__task_push(struct task_node *node, const struct batch *batch, tide_error *err) {
    if (batch->rows == 0) return TIDE_OK;
    if (node->op != NULL) node->op->stats.rows_out += batch->rows;
    for (size_t i = 0; i < node->consumer_count; i++) {
        struct task_node *to = node->consumers[i].node;
        to->op->stats.rows_in += batch->rows;
        TIDE_TRY(to->op->class->on_batch(to->op, node->consumers[i].input, batch, &to->emitter, err));
    }
    return TIDE_OK;
}

tide_status tide__emit(struct emitter *out, const struct batch *batch, tide_error *err) {
    return tide__task_push(out->node, batch, err);
}

static int64_t input_watermark(struct task_node *node) {
    int64_t lowest = WATERMARK_END, largest = WATERMARK_NONE;
    node->idle = true;
    for (uint32_t i = 0; i < node->plan->input_count; i++) {
        const struct task_node *input = &node->task->nodes[node->plan->inputs[i]->id];
        int64_t w = input->watermark_out;
        if (w > largest) largest = w;
        if (input->idle) continue;
        node->idle = false;
        if (w < lowest) lowest = w;
    }
    if (!node->idle) return lowest;
    return node->plan->kind == PLAN_UNION || node->plan->input_count == 1 ? largest : WATERMARK_NONE;
}

tide_status tide__task_deliver(struct task *task, tide_error *err) {
    for (size_t i = 0; i < task->node_count; i++) {
        struct task_node *node = &task->nodes[i];
        if (node->source != NULL) {
            node->idle = node->source->idle && !node->source->ended;
            if (node->source->ended)
                node->watermark_out = WATERMARK_END;
            else if (node->source->any_let_out)
                node->watermark_out = node->source->let_out;
            continue;
        }
        if (node->plan->input_count == 0) continue;
        int64_t watermark = input_watermark(node);
        if (watermark <= node->op->watermark) continue;
        if (node->op->class->on_watermark != NULL)
            TIDE_TRY(node->op->class->on_watermark(node->op, watermark, &node->emitter, err));
        node->op->watermark = watermark;
        node->watermark_out = watermark;
    }
    return TIDE_OK;
}

// --- open and close --------------------------------------------------------------------------------------------------

static bool reads_watermark(const struct expr *expr) {
    if (expr == NULL || expr->kind != EXPR_CALL) return false;
    if (strcmp(expr->function->name, "CURRENT_WATERMARK") == 0) return true;
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (reads_watermark(expr->args[i])) return true;
    return false;
}

static bool node_reads_watermark(const struct plan_node *node) {
    if (node->kind != PLAN_CALC) return false;
    if (reads_watermark(node->calc.condition)) return true;
    for (uint32_t i = 0; i < node->field_count; i++)
        if (reads_watermark(node->calc.outputs[i])) return true;
    return false;
}

static tide_status open_source(struct task *task, struct task_node *node, tide_error *err) {
    struct source *source = ARENA_NEW(&task->arena, struct source);
    source->node = node;
    source->idle_timeout_ms = tide__source_idle_timeout_ms(task->env.plan, node->plan);
    node->source = source;
    task->sources[task->source_count++] = source;
    struct source_env env = {
        .plan = task->env.plan,
        .node = node->plan,
        .script_dir = task->env.script_dir,
        .workers = task->env.parallelism > 1 ? task->env.parallelism - 1 : 0,
        .batch_rows_max = task->env.batch_rows_max,
        .budget = task->env.budget,
        .row_sources = task->env.row_sources,
    };
    return tide__source_open(&env, &source->reader, err);
}

static tide_status open_node(struct task *task, struct task_node *node, tide_error *err) {
    if (node->plan->kind == PLAN_SCAN) return open_source(task, node, err);
    const struct operator_class *class = tide__operator_class(node->plan->kind);
    if (class == NULL)
        return tide__fail_at(err, TIDE_ERR_PLAN, node->plan->pos, "%s is not supported yet",
                             tide__plan_kind_name(node->plan->kind));
    struct operator_env env = {
        .plan = task->env.plan,
        .node = node->plan,
        .store = task->env.store,
        .budget = task->env.budget,
        .batch_rows_max = task->env.batch_rows_max,
        .script_dir = task->env.script_dir,
        .late = task->late,
        .run_id = task->env.run_id,
        .collect = task->env.collect,
        .collect_ctx = task->env.collect_ctx,
    };
    TIDE_TRY(class->open(&env, &node->op, err));
    node->op->class = class;
    node->op->node = node->plan;
    node->op->watermark = WATERMARK_NONE;
    return TIDE_OK;
}

static void connect(struct task *task) {
    for (size_t i = 0; i < task->node_count; i++) {
        struct task_node *node = &task->nodes[i];
        for (uint32_t input = 0; input < node->plan->input_count; input++) {
            struct task_node *from = &task->nodes[node->plan->inputs[input]->id];
            assert(from < node);
            from->consumers[from->consumer_count++] = (struct consumer){node, input};
        }
    }
}

tide_status tide__task_open(const struct task_env *env, struct task **out, tide_error *err) {
    struct task *task = tide__calloc(1, sizeof *task);
    *out = task;
    task->env = *env;
    // For tests: operators give back all that they can, after every batch.
    if (getenv("TIDE_SHORT_OF_MEMORY") != NULL && env->budget != NULL) env->budget->limit = 1;
    tide__arena_init(&task->arena);
    tide__arena_init(&task->scratch);
    const struct plan *plan = env->plan;
    size_t edges = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) edges += plan->nodes[i]->input_count;
    task->nodes = ARENA_ARRAY(&task->arena, struct task_node, plan->node_count);
    task->sources = ARENA_ARRAY(&task->arena, struct source *, plan->node_count);
    task->node_count = plan->node_count;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        struct task_node *node = &task->nodes[i];
        node->task = task;
        node->plan = plan->nodes[i];
        node->emitter.node = node;
        node->watermark_out = WATERMARK_NONE;
        node->consumers = ARENA_ARRAY(&task->arena, struct consumer, edges);
        if (node_reads_watermark(node->plan)) task->exact_watermarks = true;
    }
    connect(task);
    tide_status status = tide__late_open(plan, env->script_dir, env->run_id, &task->late, err);
    for (size_t i = 0; i < task->node_count && status == TIDE_OK; i++) status = open_node(task, &task->nodes[i], err);
    if (status != TIDE_OK) {
        tide__task_close(task);
        *out = NULL;
    }
    return status;
}

void tide__task_close(struct task *task) {
    if (task == NULL) return;
    for (size_t i = 0; i < task->source_count; i++) {
        struct source *source = task->sources[i];
        if (source->batch != NULL) tide__source_release(source->reader, source->batch);
        tide__source_close(source->reader);
    }
    for (size_t i = 0; i < task->node_count; i++)
        if (task->nodes[i].op != NULL) task->nodes[i].op->class->close(task->nodes[i].op);
    tide__late_close(task->late);
    tide__arena_deinit(&task->scratch);
    tide__arena_deinit(&task->arena);
    tide__free(task);
}

// --- memory ------------------------------------------------------------------------------------------------------------

// Not enough could be given back: there are operators that keep all their state in memory (rather an error that names the way out
// than a process that the system ends; the newest checkpoint stays).
static tide_status check_hard_limit(const struct task *task, tide_error *err) {
    const struct memory_budget *budget = task->env.budget;
    size_t used = budget->used;
    if (budget->hard == 0 || used <= budget->hard) return TIDE_OK;
    tide__fail(err, TIDE_ERR_RUNTIME,
               "the state of the job does not fit: it holds %zu MB in memory, with --memory %zu MB", used >> 20,
               budget->limit >> 20);
    return tide__fail_hint(
        err,
        "give more memory; or bound the state: interval joins, joins in batch mode, rows that wait for their turn and "
        "some SESSION aggregates can't be written to disk. A job with a state directory goes on from its last "
        "checkpoint");
}

// Asks the operators, the last first (finals and lists are small, so the first ones hold most), until enough comes free.
tide_status tide__task_relieve(struct task *task, tide_error *err) {
    struct memory_budget *budget = task->env.budget;
    size_t used = budget->used;
    if (used <= budget->limit) return TIDE_OK;
    size_t wanted = used - budget->limit + budget->limit / 4;
    for (size_t i = 0; i < task->node_count && wanted > 0; i++) {
        struct operator *op = task->nodes[i].op;
        if (op == NULL || op->class->shrink == NULL) continue;
        size_t freed = op->class->shrink(op, wanted, err);
        if (err != NULL && err->status != TIDE_OK) return err->status;
        wanted = freed >= wanted ? 0 : wanted - freed;
    }
    return wanted > 0 ? check_hard_limit(task, err) : TIDE_OK;
}

// --- reading -------------------------------------------------------------------------------------------------------------

// Its turn is another's now.
static void pass_turn(struct task *task) {
    task->turn = (uint32_t)((task->turn + 1) % task->source_count);
    task->turn_rows = 0;
}

// The source whose turn it is, moving on when its numbered batch is full or it has ended. NULL: all have ended.
static struct source *take_turn(struct task *task) {
    for (size_t tried = 0; tried <= task->source_count; tried++) {
        struct source *source = task->sources[task->turn];
        if (!source->ended && (task->source_count == 1 || task->turn_rows < TURN_ROWS)) return source;
        pass_turn(task);
    }
    return NULL;
}

static bool all_wait(const struct task *task) {
    for (size_t i = 0; i < task->source_count; i++) {
        if (!task->sources[i]->ended && !task->sources[i]->waiting) return false;
    }
    return true;
}

static tide_status end_source(struct task *task, struct source *source, tide_error *err) {
    source->ended = true;
    tide__task_awake(source);
    return tide__task_deliver(task, err);
}

static tide_status end_task(struct task *task, tide_error *err) {
    TIDE_TRY(tide__task_deliver(task, err));
    for (size_t i = 0; i < task->node_count; i++) {
        struct task_node *node = &task->nodes[i];
        if (node->op == NULL) continue;
        if (node->plan->input_count == 0 && node->op->class->on_watermark != NULL) {
            TIDE_TRY(node->op->class->on_watermark(node->op, WATERMARK_END, &node->emitter, err));
            node->op->watermark = node->watermark_out = WATERMARK_END;
        }
        if (node->op->class->on_end != NULL) TIDE_TRY(node->op->class->on_end(node->op, &node->emitter, err));
    }
    TIDE_TRY(tide__task_deliver(task, err));
    task->ended = true;
    return TIDE_OK;
}

// Rows that may be given out now without passing a turn or `rows_until`.
static size_t rows_to_give(const struct task *task, const struct source *source, uint64_t rows_until) {
    size_t rows = source->batch->batch.rows - source->batch_at;
    if (task->source_count > 1 && rows > TURN_ROWS - task->turn_rows) rows = TURN_ROWS - task->turn_rows;
    if (rows > rows_until - task->rows) rows = (size_t)(rows_until - task->rows);
    return rows;
}

// One step: makes sure the source has a batch and gives out as much of it as may be. A used-up batch is kept until
// the next one is wanted, for the source's position is told by it.
static tide_status read_some(struct task *task, struct source *source, uint64_t rows_until, tide_error *err) {
    if (source->batch == NULL || source->batch_at == source->batch->batch.rows) {
        if (source->batch != NULL) tide__source_release(source->reader, source->batch);
        source->batch = NULL;
        enum source_state state;
        TIDE_TRY(tide__source_next(source->reader, &source->batch, &state, err));
        source->batch_at = 0;
        if (state == SOURCE_END) return end_source(task, source, err);
        if (state == SOURCE_WAITING) return tide__task_wait(task, source, err);
        tide__task_awake(source);
        task->naps = 0;
    }
    size_t rows = rows_to_give(task, source, rows_until);
    TIDE_TRY(tide__task_give(task, source, rows, err));
    source->batch_at += rows;
    source->rows += rows;
    task->rows += rows;
    task->turn_rows += (uint32_t)rows;
    TIDE_TRY(tide__late_check(task->late, err));
    return tide__task_relieve(task, err);
}

tide_status tide__task_run(struct task *task, uint64_t rows_until, bool (*pause)(void *ctx), void *pause_ctx,
                           enum task_event *out_event, tide_error *err) {
    while (!task->ended) {
        if (task->rows >= rows_until) {
            *out_event = TASK_ROWS;
            return TIDE_OK;
        }
        struct source *source = task->source_count > 0 ? take_turn(task) : NULL;
        if (source == NULL) {
            TIDE_TRY(end_task(task, err));
            break;
        }
        TIDE_TRY(read_some(task, source, rows_until, err));
        if (source->waiting) {
            pass_turn(task);
            if (all_wait(task)) tide__task_rest(task);
        }
        if (pause != NULL && pause(pause_ctx)) {
            *out_event = TASK_PAUSED;
            return TIDE_OK;
        }
    }
    *out_event = TASK_ENDED;
    return TIDE_OK;
}

uint64_t tide__task_rows(const struct task *task) {
    return task->rows;
}

// --- metrics -----------------------------------------------------------------------------------------------------------

void tide__task_stats(const struct task *task, struct task_stats *out) {
    *out = (struct task_stats){.rows_in = task->rows, .watermark = WATERMARK_END, .watermark_reached = WATERMARK_END};
    for (size_t i = 0; i < task->source_count; i++) {
        const struct source *source = task->sources[i];
        struct source_stats stats = {0};
        tide__source_stats(source->reader, &stats);
        out->rows_skipped += stats.rows_skipped;
        out->bytes_total += stats.bytes_total;
        out->bytes_read += stats.bytes_read;
        int64_t watermark = source->any_let_out ? source->let_out : WATERMARK_NONE;
        if (watermark < out->watermark) out->watermark = watermark;
        if (source->reached < out->watermark_reached) out->watermark_reached = source->reached;
    }
    for (size_t i = 0; i < task->node_count; i++) {
        const struct operator *op = task->nodes[i].op;
        if (op == NULL) continue;
        out->late_rows += op->stats.late_rows;
        out->windows_fired += op->stats.windows_fired;
        out->windows_open += op->stats.windows_open;
        if (task->nodes[i].plan->kind == PLAN_SINK) out->rows_out += op->stats.rows_in;
    }
    if (task->source_count == 0) out->watermark = WATERMARK_NONE;
}

// Later than any row: what is asked for is the windows that are open.
#define FAR_AWAY_MS (INT64_C(1) << 52)

static int64_t next_trigger(const struct operator *op) {
    if (op->class->next_trigger == NULL || op->stats.windows_open == 0) return WATERMARK_END;
    int64_t trigger = op->class->next_trigger(op, FAR_AWAY_MS);
    return trigger < FAR_AWAY_MS / 2 ? trigger : WATERMARK_END;
}

bool tide__task_node_stats(const struct task *task, size_t index, struct task_node_stats *out) {
    if (index >= task->node_count) return false;
    const struct task_node *node = &task->nodes[index];
    *out = (struct task_node_stats){.operator_id = node->plan->operator_id, .next_trigger = WATERMARK_END};
    if (node->source != NULL) {
        const struct source *source = node->source;
        out->kind = TASK_PART_SOURCE;
        out->watermark = node->watermark_out;
        out->reached = source->reached > 0 ? source->reached : WATERMARK_NONE;
        out->rows_out = source->rows;
        out->waiting = source->waiting;
        out->idle = source->idle;
        out->ended = source->ended;
        return true;
    }
    const struct operator *op = node->op;
    out->kind = node->plan->kind == PLAN_SINK ? TASK_PART_SINK : TASK_PART_OPERATOR;
    out->watermark = op->watermark;
    out->next_trigger = next_trigger(op);
    out->rows_in = op->stats.rows_in;
    out->rows_out = op->stats.rows_out;
    out->late_rows = op->stats.late_rows;
    out->windows_fired = op->stats.windows_fired;
    out->windows_open = op->stats.windows_open;
    return true;
}
