// Which watermark goes out after which row, exactly as Flink's assigner does it on bounded input, without paying a row
// at a time for it.
//
// After each row: reached = max(reached, watermark expression); when reached is more than the interval ahead of the
// last one let out, it is let out. Both start at 0, so before 1970 nothing is let out. (Flink 2.3,
// WatermarkAssignerOperator; its wall-clock timer plays no part here.)
//
// A watermark that was let out is *delivered* to the operators only when that can matter: when an operator asked for
// it (next_trigger), or before a row that is not ahead of it and so might be late. All rows between two deliveries
// are pushed as one segment. A barrier may fall between letting out and delivering: both are saved.
#include "base/time.h"
#include "engine/task_internal.h"

#include <assert.h>

// The smallest watermark that any operator wants to see, if rows to come have event times >= earliest.
static int64_t next_trigger(const struct task *task, int64_t earliest) {
    int64_t lowest = WATERMARK_END;
    for (size_t i = 0; i < task->node_count; i++) {
        const struct operator *op = task->nodes[i].op;
        if (op == NULL || op->class->next_trigger == NULL) continue;
        int64_t at = op->class->next_trigger(op, earliest);
        if (at < lowest) lowest = at;
    }
    return lowest;
}

static tide_status push_rows(struct task *task, struct source *source, size_t from, size_t to, tide_error *err) {
    if (from == to) return TIDE_OK;
    tide__arena_reset(&task->scratch);
    const struct batch *batch = &source->batch->batch;
    if (from == 0 && to == batch->rows) return tide__task_push(source->node, batch, err);
    struct batch slice = tide__batch_slice(batch, from, to - from, &task->scratch);
    return tide__task_push(source->node, &slice, err);
}

// The event times of a scan's rows in milliseconds, whatever the column's precision.
struct time_view {
    const int64_t *ms;
    const struct timestamp *times;
};

static struct time_view view_times(const struct source *source) {
    struct time_view view = {0};
    int32_t column = source->node->plan->scan.time_column;
    if (column < 0) return view;
    const struct column *c = &source->batch->batch.columns[column];
    if (c->physical == PHYSICAL_I64) view.ms = c->i64;
    if (c->physical == PHYSICAL_TIME) view.times = c->time;
    return view;
}

static int64_t time_at(struct time_view view, size_t row) {
    if (view.ms != NULL) return view.ms[row];
    return view.times != NULL ? view.times[row].ms : INT64_MIN;
}

static int64_t let_out_by(const struct source *source) {
    return source->any_let_out ? source->let_out : WATERMARK_NONE;
}

// What another source let out counts too: together with this one's it may be what makes a row late.
static bool all_delivered(const struct task *task) {
    for (size_t i = 0; i < task->source_count; i++)
        if (let_out_by(task->sources[i]) > task->sources[i]->node->watermark_out) return false;
    return true;
}

tide_status tide__task_give(struct task *task, struct source *source, size_t rows, tide_error *err) {
    const struct source_batch *in = source->batch;
    size_t from = source->batch_at, end = from + rows;
    if (in->watermarks == NULL) return push_rows(task, source, from, end, err);

    struct time_view times = view_times(source);
    int64_t interval = task->env.plan->settings.auto_watermark_interval_ms;
    int64_t trigger = task->exact_watermarks ? WATERMARK_NONE : next_trigger(task, in->time_min);
    // Rows at or behind this one may be late: this source's watermark, while what any source let out is not delivered yet.
    int64_t undelivered = all_delivered(task) ? WATERMARK_NONE : let_out_by(source);
    for (size_t i = from; i < end; i++) {
        if (undelivered != WATERMARK_NONE && time_at(times, i) <= undelivered) {
            TIDE_TRY(push_rows(task, source, from, i, err));
            from = i;
            TIDE_TRY(tide__task_deliver(task, err));
            undelivered = WATERMARK_NONE;
            if (!task->exact_watermarks) trigger = next_trigger(task, in->time_min);
        }
        bool null = in->watermark_nulls != NULL && in->watermark_nulls[i];
        if (!null && in->watermarks[i] > source->reached) source->reached = in->watermarks[i];
        if (source->reached - source->let_out <= interval) continue;
        source->let_out = source->reached;
        source->any_let_out = true;
        undelivered = source->let_out;
        if (undelivered < trigger) continue;
        TIDE_TRY(push_rows(task, source, from, i + 1, err));
        from = i + 1;
        TIDE_TRY(tide__task_deliver(task, err));
        undelivered = WATERMARK_NONE;
        if (!task->exact_watermarks) trigger = next_trigger(task, in->time_min);
    }
    return push_rows(task, source, from, end, err);
}
