// Sources that have nothing now but will have more: watched folders, standard input.
//
// How long they wait is nobody's to foretell, so what waiting changes is kept small. A source that has waited for
// `pipeline.auto-watermark-interval` of real time lets out the watermark that it has reached, as Flink's timer would; one that has
// waited for its idle timeout is left out where watermarks come together. Its turn passes to the next source at once. While all
// wait the task sleeps in small steps, so that its owner is asked for checkpoints, signals and requests as ever.
#include "base/time.h"
#include "engine/task_internal.h"

#include <assert.h>
#include <time.h>

#define NAP_MAX_MS 10u

static int64_t monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Windows of processing time and mini-batches look at the clock when rows come. While none come they are given an empty batch
// instead.
static bool looks_at_clock(const struct plan_node *plan) {
    if (plan->kind == PLAN_WINDOW_AGGREGATE) return plan->window_aggregate.window.proctime;
    return plan->kind == PLAN_GROUP_AGGREGATE && plan->group_aggregate.bundle_rows > 0;
}

static tide_status tick(struct task *task, tide_error *err) {
    static const struct batch nothing = {0};
    for (size_t i = 0; i < task->node_count; i++) {
        struct task_node *node = &task->nodes[i];
        if (!looks_at_clock(node->plan)) continue;
        TIDE_TRY(node->op->class->on_batch(node->op, 0, &nothing, &node->emitter, err));
    }
    return TIDE_OK;
}

tide_status tide__task_wait(struct task *task, struct source *source, tide_error *err) {
    TIDE_TRY(tick(task, err));
    int64_t now = monotonic_ms();
    if (!source->waiting) source->waiting_since_ms = now;
    source->waiting = true;
    int64_t waited = now - source->waiting_since_ms;
    bool becomes_idle = source->idle_timeout_ms > 0 && waited >= source->idle_timeout_ms && !source->idle;
    bool lets_out = source->reached > source->let_out && waited >= task->env.plan->settings.auto_watermark_interval_ms;
    if (becomes_idle) source->idle = true;
    if (lets_out) {
        source->let_out = source->reached;
        source->any_let_out = true;
    }
    bool undelivered = source->any_let_out && source->let_out > source->node->watermark_out;
    return becomes_idle || undelivered ? tide__task_deliver(task, err) : TIDE_OK;
}

void tide__task_awake(struct source *source) {
    source->waiting = source->idle = source->node->idle = false;
}

void tide__task_rest(struct task *task) {
    // Short naps first: rows that come at a steady pace are not held up.
    if (task->naps < NAP_MAX_MS) task->naps++;
    struct timespec nap = {.tv_nsec = (long)task->naps * 1000000};
    nanosleep(&nap, NULL);
}
