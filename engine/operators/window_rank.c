// Window Top-N: the best rows of each window and partition, given out when the window fires.
//
// Per window and partition a bounded heap (ranked.h). The columns of a batch are looked at in runs of one window; in a run
// without partition keys the loop that turns rows away compares two numbers a row. Windows stand in an array in the order
// they fire. Above an aggregation all rows of a window come within one watermark, so the heaps live for a moment only and
// the state table stays empty.
#include "engine/operators/window_rank.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/rank.h"

#include <assert.h>
#include <string.h>

enum { DIRTY_MAX = 16384 };

static void close(struct operator *base);

static struct window_rank *self(struct operator *op) {
    return (struct window_rank *)op;
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct window_rank *op = tide__calloc(1, sizeof *op);
    op->plan = &env->node->window_rank;
    op->env = *env;
    tide__window_list_init(&op->windows, op->plan->ltz, env->plan->settings.zone);
    op->limit = op->plan->rank_last > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)op->plan->rank_last;
    assert(op->limit > 0 && op->plan->rank_first >= 1);
    tide__ranker_init(&op->ranker, op->plan->sorts, op->plan->sort_count, op->plan->ties, env->budget);
    tide__arena_init(&op->scratch);
    tide__arena_init(&op->output);
    tide__arena_init(&op->copies);
    op->pending = tide__alloc(env->batch_rows_max * sizeof *op->pending);
    op->pending_ranks = tide__alloc(env->batch_rows_max * sizeof *op->pending_ranks);
    op->base.node = env->node;
    tide_status status = tide__window_rank_state_open(op, err);
    if (status != TIDE_OK) {
        close(&op->base);
        return status;
    }
    *out = &op->base;
    return TIDE_OK;
}

// --- windows --------------------------------------------------------------------------------------------------------------

static void free_top(void *payload, void *ctx) {
    struct window_rank *op = ctx;
    tide__ranked_heap_deinit(&((struct rank_top *)payload)->heap, &op->ranker);
}

static void start_window(struct window_rank *op, struct rank_window *window) {
    window->single = (struct rank_top){.heap.worst = UINT64_MAX};
    if (op->plan->partition_count == 0) return;
    window->partitions = tide__memtable_new(op->env.budget, sizeof(struct rank_top));
    tide__memtable_on_free(window->partitions, free_top, op);
}

static void empty_window(struct window_rank *op, struct rank_window *window) {
    tide__memtable_release(window->partitions);
    tide__ranked_heap_deinit(&window->single.heap, &op->ranker);
    tide__budget_release(op->env.budget, window->dirty_capacity * sizeof *window->dirty);
    tide__free(window->dirty);
    window->dirty = NULL;
    window->dirty_count = window->dirty_capacity = 0;
    window->rows = window->row_bytes = 0;
}

void tide__window_rank_clear(struct window_rank *op, struct rank_window *window) {
    empty_window(op, window);
    start_window(op, window);
}

static void free_window(struct window_rank *op, struct rank_window *window) {
    empty_window(op, window);
    tide__budget_release(op->env.budget, sizeof *window);
    tide__free(window);
}

static struct rank_window *at(const struct window_rank *op, size_t i) {
    return (struct rank_window *)tide__window_list_at(&op->windows, i);
}

struct rank_window *tide__window_rank_window(struct window_rank *op, int64_t start, int64_t end, int64_t watermark) {
    bool late;
    struct open_window *found = tide__window_list_find(&op->windows, start, end, watermark, &late);
    if (found != NULL || late) return (struct rank_window *)found;
    struct rank_window *window = tide__calloc(1, sizeof *window);
    tide__budget_charge(op->env.budget, sizeof *window);
    window->bounds.start = start;
    window->bounds.end = end;
    window->floor = UINT64_MAX;
    start_window(op, window);
    tide__window_list_add(&op->windows, &window->bounds);
    op->base.stats.windows_open = op->windows.count;
    return window;
}

struct rank_top *tide__window_rank_top(struct window_rank *op, struct rank_window *window, struct str partition,
                                       uint64_t hash) {
    if (op->plan->partition_count == 0) return &window->single;
    bool is_new = false;
    struct memtable_entry *entry = tide__memtable_upsert(window->partitions, partition, hash, &is_new);
    struct rank_top *top = tide__memtable_payload(window->partitions, entry);
    if (is_new) {
        top->heap.worst = UINT64_MAX;
        top->partition = tide__memtable_key(window->partitions, entry);
    }
    return top;
}

// --- rows -----------------------------------------------------------------------------------------------------------------

void tide__window_rank_entered(struct window_rank *op, struct rank_window *window, struct rank_top *top,
                               struct ranked_row *evicted) {
    window->rows++;
    window->row_bytes += tide__ranker_row_bytes(&op->ranker);
    if (evicted != NULL) {
        window->rows--;
        window->row_bytes -= tide__ranked_row_bytes(evicted);
        if (evicted->in_state) tide__window_rank_delete(op, window, top, evicted);
        tide__ranked_free(&op->ranker, evicted);
    }
    if (top->dirty || op->plan->above_aggregate) return;
    top->dirty = true;
    size_t before = window->dirty_capacity;
    window->dirty = tide__grow(window->dirty, &window->dirty_capacity, window->dirty_count + 1, sizeof *window->dirty);
    tide__budget_charge(op->env.budget, (window->dirty_capacity - before) * sizeof *window->dirty);
    window->dirty[window->dirty_count++] = top;
    // So that a barrier does not wait for all at once.
    if (window->dirty_count >= DIRTY_MAX && op->had_barrier) tide__window_rank_put_dirty(op, window);
}

static void offer(struct window_rank *op, struct rank_window *window, struct rank_top *top, const struct batch *batch,
                  size_t row, uint64_t prefix) {
    struct ranked_row *evicted = NULL;
    if (tide__ranked_heap_offer(&top->heap, &op->ranker, op->limit, batch, row, prefix, &evicted))
        tide__window_rank_entered(op, window, top, evicted);
}

// Rows [from, to) of one window, all in one partition.
static void rank_run(struct window_rank *op, struct rank_window *window, const struct batch *batch,
                     const uint64_t *prefixes, size_t from, size_t to) {
    struct rank_top *top = &window->single;
    for (size_t i = from; i < to; i++) {
        if (prefixes[i] > top->heap.worst || prefixes[i] > window->floor) continue;
        offer(op, window, top, batch, i, prefixes[i]);
    }
}

static void rank_partitions(struct window_rank *op, struct rank_window *window, const struct batch *batch,
                            const uint64_t *prefixes, const struct str *keys, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        struct rank_top *top = tide__window_rank_top(op, window, keys[i], tide__hash_bytes(keys[i].data, keys[i].len));
        if (prefixes[i] > top->heap.worst) continue;
        offer(op, window, top, batch, i, prefixes[i]);
    }
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input, (void)out, (void)err;
    assert(batch->kinds == NULL);
    struct window_rank *op = self(base);
    const struct plan_window_rank *plan = op->plan;
    tide__arena_reset(&op->scratch);
    size_t rows = batch->rows;
    const int64_t *starts = tide__window_times(&batch->columns[plan->start_column], rows, &op->scratch);
    const int64_t *ends = tide__window_times(&batch->columns[plan->end_column], rows, &op->scratch);
    uint64_t *prefixes = tide__arena_alloc(&op->scratch, rows * sizeof *prefixes);
    tide__ranker_prefixes(&op->ranker, batch, prefixes);
    struct str *keys = NULL;
    if (plan->partition_count > 0) {
        keys = tide__arena_alloc(&op->scratch, rows * sizeof *keys);
        tide__key_encode(batch, plan->partitions, plan->partition_count, (struct str){0}, &op->scratch, keys);
    }
    for (size_t from = 0, to; from < rows; from = to) {
        for (to = from + 1; to < rows && ends[to] == ends[from] && starts[to] == starts[from]; to++) {}
        struct rank_window *window = tide__window_rank_window(op, starts[from], ends[from], base->watermark);
        if (window == NULL) {
            for (size_t i = from; i < to; i++) tide__late_row(base, op->env.late, batch, i, starts[i], ends[i]);
        } else if (keys == NULL) {
            rank_run(op, window, batch, prefixes, from, to);
        } else {
            rank_partitions(op, window, batch, prefixes, keys, from, to);
        }
    }
    return plan->above_aggregate ? tide__window_rank_relieve(op, err) : TIDE_OK;
}

// --- firing -----------------------------------------------------------------------------------------------------------------

static tide_status emit_pending(struct window_rank *op, struct emitter *out, tide_error *err) {
    size_t rows = op->pending_count;
    op->pending_count = 0;
    if (rows == 0) return TIDE_OK;
    const struct plan_node *node = op->base.node;
    uint32_t fields = node->inputs[0]->field_count;
    tide__arena_reset(&op->output);
    struct batch batch = {.rows = rows, .column_count = node->field_count};
    batch.columns = ARENA_ARRAY(&op->output, struct column, node->field_count);
    for (uint32_t f = 0; f < fields; f++)
        tide__column_init(&batch.columns[f], node->fields[f].type, rows, 1, &op->output);
    for (size_t i = 0; i < rows; i++)
        if (!tide__row_decode(op->pending[i], batch.columns, fields, i))
            return tide__fail_at(err, TIDE_ERR_SAVEPOINT, node->pos, "a row in the state of %s is damaged",
                                 node->operator_id);
    if (op->plan->has_rank) {
        struct column *rank = &batch.columns[fields];
        tide__column_init(rank, node->fields[fields].type, rows, 0, &op->output);
        memcpy(rank->i64, op->pending_ranks, rows * sizeof *rank->i64);
    }
    tide_status status = tide__emit(out, &batch, err);
    tide__arena_reset(&op->copies);
    return status;
}

tide_status tide__window_rank_emit(struct window_rank *op, struct str row, int64_t rank, struct emitter *out,
                                   tide_error *err) {
    op->pending[op->pending_count] = row;
    op->pending_ranks[op->pending_count++] = rank;
    return op->pending_count == op->env.batch_rows_max ? emit_pending(op, out, err) : TIDE_OK;
}

static tide_status emit_top(struct window_rank *op, struct rank_top *top, struct emitter *out, tide_error *err) {
    // A heap turned into a sorted array: nothing enters it any more.
    tide__ranked_sort(top->heap.rows, top->heap.count);
    for (int64_t rank = op->plan->rank_first; rank <= top->heap.count; rank++)
        TIDE_TRY(tide__window_rank_emit(op, tide__ranked_bytes(top->heap.rows[rank - 1]), rank, out, err));
    return TIDE_OK;
}

static tide_status emit_window(struct window_rank *op, struct rank_window *window, struct emitter *out,
                               tide_error *err) {
    if (window->evicted) return tide__window_rank_emit_evicted(op, window, out, err);
    if (window->partitions == NULL) return emit_top(op, &window->single, out, err);
    tide__memtable_freeze(window->partitions);
    struct memtable_entry *const *entries = tide__memtable_sorted(window->partitions);
    size_t count = tide__memtable_count(window->partitions);
    for (size_t i = 0; i < count; i++)
        TIDE_TRY(emit_top(op, tide__memtable_payload(window->partitions, entries[i]), out, err));
    return TIDE_OK;
}

static void free_first(struct window_rank *op, size_t count) {
    for (size_t i = 0; i < count; i++) free_window(op, at(op, i));
    tide__window_list_drop(&op->windows, count);
    op->base.stats.windows_open = op->windows.count;
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct window_rank *op = self(base);
    size_t fired = 0;  // whose rows may be pending
    while (fired < op->windows.count && at(op, fired)->bounds.trigger <= watermark) {
        struct rank_window *window = at(op, fired++);
        TIDE_TRY(emit_window(op, window, out, err));
        if (window->in_state) TIDE_TRY(tide__window_key_drop(&window->bounds, op->table, err));
        base->stats.windows_fired++;
        if (op->pending_count > 0 && op->pending_count < op->env.batch_rows_max / 2) continue;
        TIDE_TRY(emit_pending(op, out, err));
        free_first(op, fired);
        fired = 0;
    }
    TIDE_TRY(emit_pending(op, out, err));
    free_first(op, fired);
    // Arrival numbers compare rows of one window only.
    if (op->windows.count == 0) op->ranker.arrival = 0;
    return TIDE_OK;
}

static int64_t next_trigger(const struct operator *base, int64_t earliest) {
    const struct window_rank *op = (const struct window_rank *)base;
    // Above an aggregation rows come with a watermark that the aggregation asked for.
    return tide__window_list_next_trigger(&op->windows, base->watermark, earliest, !op->plan->above_aggregate);
}

static void close(struct operator *base) {
    struct window_rank *op = self(base);
    free_first(op, op->windows.count);
    tide__window_list_deinit(&op->windows);
    tide__free(op->pending);
    tide__free(op->pending_ranks);
    tide__ranker_deinit(&op->ranker);
    tide__strbuf_deinit(&op->key);
    tide__strbuf_deinit(&op->value);
    tide__arena_deinit(&op->scratch);
    tide__arena_deinit(&op->output);
    tide__arena_deinit(&op->copies);
    tide__free(op);
}

const struct operator_class tide__window_rank_class = {
    .kind = PLAN_WINDOW_RANK,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = tide__window_rank_barrier,
    .save = tide__window_rank_save,
    .restore = tide__window_rank_restore,
    .shrink = tide__window_rank_shrink,
    .close = close,
};
