// Snapshots of a task: what its nodes hold besides their state tables, and taking it back.
#include "base/time.h"
#include "engine/operators/sink.h"
#include "engine/task_internal.h"
#include "engine/task_late.h"

#include <assert.h>
#include <string.h>

static struct str copy(struct arena *arena, const struct strbuf *buf) {
    return (struct str){tide__arena_strndup(arena, buf->data != NULL ? buf->data : "", buf->len), buf->len};
}

static tide_status snapshot_source(const struct source *source, struct strbuf *buf, struct task_part *part,
                                   tide_error *err) {
    part->kind = TASK_PART_SOURCE;
    part->watermark = source->node->watermark_out;
    part->watermark_reached = source->reached;
    part->watermark_let_out = source->any_let_out ? source->let_out : WATERMARK_NONE;
    part->rows = source->rows;
    return tide__source_save(source->reader, source->batch, source->batch_at, buf, err);
}

static tide_status snapshot_operator(struct task_node *node, struct strbuf *buf, struct task_part *part,
                                     tide_error *err) {
    struct operator *op = node->op;
    bool sink = node->plan->kind == PLAN_SINK;
    part->kind = sink ? TASK_PART_SINK : TASK_PART_OPERATOR;
    part->watermark = op->watermark;
    part->rows_in = op->stats.rows_in;
    part->rows_out = op->stats.rows_out;
    part->late_rows = op->stats.late_rows;
    part->windows_fired = op->stats.windows_fired;
    if (sink && node->task->ended) TIDE_TRY(tide__sink_operator_end(op, err));
    if (op->class->on_barrier != NULL) TIDE_TRY(op->class->on_barrier(op, err));
    if (op->class->save != NULL) op->class->save(op, buf);
    return TIDE_OK;
}

tide_status tide__task_barrier(struct task *task, struct arena *arena, struct task_snapshot *out, tide_error *err) {
    *out = (struct task_snapshot){
        .part_count = task->node_count,
        .parts = ARENA_ARRAY(arena, struct task_part, task->node_count + 1),
        .rows = task->rows,
        .turn = task->turn,
        .turn_rows = task->turn_rows,
        .ended = task->ended,
    };
    struct strbuf buf = {0};
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < task->node_count && status == TIDE_OK; i++) {
        struct task_node *node = &task->nodes[i];
        struct task_part *part = &out->parts[i];
        part->operator_id = node->plan->operator_id;
        tide__strbuf_clear(&buf);
        if (node->source != NULL)
            status = snapshot_source(node->source, &buf, part, err);
        else
            status = snapshot_operator(node, &buf, part, err);
        part->saved = copy(arena, &buf);
    }
    if (task->late != NULL && status == TIDE_OK) {
        tide__strbuf_clear(&buf);
        status = tide__late_prepare(task->late, &buf, err);
        out->parts[out->part_count++] = (struct task_part){
            .kind = TASK_PART_SINK, .operator_id = LATE_PART, .watermark = WATERMARK_NONE, .saved = copy(arena, &buf)};
    }
    tide__strbuf_deinit(&buf);
    return status;
}

static const struct task_part *find_part(const struct task_snapshot *snapshot, const char *operator_id) {
    for (size_t i = 0; i < snapshot->part_count; i++)
        if (strcmp(snapshot->parts[i].operator_id, operator_id) == 0) return &snapshot->parts[i];
    return NULL;
}

static tide_status restore_source(struct task *task, struct source *source, const struct task_part *part,
                                  tide_error *err) {
    source->reached = part->watermark_reached;
    source->any_let_out = part->watermark_let_out != WATERMARK_NONE;
    source->let_out = source->any_let_out ? part->watermark_let_out : 0;
    source->rows = part->rows;
    source->node->watermark_out = part->watermark;
    return tide__source_restore(source->reader, part->saved, task->env.changed_input, err);
}

static tide_status restore_operator(struct task_node *node, const struct task_part *part, tide_error *err) {
    struct operator *op = node->op;
    op->watermark = node->watermark_out = part->watermark;
    op->stats.rows_in = part->rows_in;
    op->stats.rows_out = part->rows_out;
    op->stats.late_rows = part->late_rows;
    op->stats.windows_fired = part->windows_fired;
    return op->class->restore != NULL ? op->class->restore(op, part->saved, err) : TIDE_OK;
}

// Starts empty, at the watermark of its inputs.
static tide_status restore_nothing(struct task *task, struct task_node *node, tide_error *err) {
    if (node->source != NULL) return TIDE_OK;
    struct operator *op = node->op;
    int64_t watermark = node->plan->input_count > 0 ? WATERMARK_END : WATERMARK_NONE;
    for (uint32_t i = 0; i < node->plan->input_count; i++) {
        int64_t input = task->nodes[node->plan->inputs[i]->id].watermark_out;
        if (input < watermark) watermark = input;
    }
    op->watermark = node->watermark_out = watermark;
    return node->plan->kind == PLAN_SINK ? op->class->restore(op, (struct str){0}, err) : TIDE_OK;
}

tide_status tide__task_restore(struct task *task, const struct task_snapshot *snapshot, tide_error *err) {
    assert(task->rows == 0);
    task->rows = snapshot->rows;
    task->turn = task->source_count > 0 ? snapshot->turn % (uint32_t)task->source_count : 0;
    task->turn_rows = snapshot->turn_rows;
    task->ended = snapshot->ended;
    for (size_t i = 0; i < task->node_count; i++) {
        struct task_node *node = &task->nodes[i];
        const struct task_part *part = find_part(snapshot, node->plan->operator_id);
        if (part == NULL)
            TIDE_TRY(restore_nothing(task, node, err));
        else if (node->source != NULL)
            TIDE_TRY(restore_source(task, node->source, part, err));
        else
            TIDE_TRY(restore_operator(node, part, err));
    }
    const struct task_part *late = find_part(snapshot, LATE_PART);
    return task->late != NULL ? tide__late_restore(task->late, late != NULL ? late->saved : (struct str){0}, err)
                              : TIDE_OK;
}

tide_status tide__task_begin(struct task *task, tide_error *err) {
    for (size_t i = 0; i < task->node_count; i++) {
        struct operator *op = task->nodes[i].op;
        if (task->nodes[i].plan->kind == PLAN_SINK) TIDE_TRY(op->class->restore(op, (struct str){0}, err));
    }
    return task->late != NULL ? tide__late_restore(task->late, (struct str){0}, err) : TIDE_OK;
}

tide_status tide__task_commit(struct task *task, const struct task_snapshot *snapshot, tide_error *err) {
    for (size_t i = 0; i < task->node_count; i++) {
        struct task_node *node = &task->nodes[i];
        if (node->plan->kind != PLAN_SINK) continue;
        const struct task_part *part = find_part(snapshot, node->plan->operator_id);
        if (part != NULL) TIDE_TRY(tide__sink_operator_commit(node->op, part->saved, err));
    }
    const struct task_part *late = find_part(snapshot, LATE_PART);
    return task->late != NULL && late != NULL ? tide__late_commit(task->late, late->saved, err) : TIDE_OK;
}

tide_status tide__task_finish(struct task *task, tide_error *err) {
    for (size_t i = 0; i < task->node_count; i++)
        if (task->nodes[i].plan->kind == PLAN_SINK) TIDE_TRY(tide__sink_operator_finish(task->nodes[i].op, err));
    return task->late != NULL ? tide__late_finish(task->late, err) : TIDE_OK;
}
