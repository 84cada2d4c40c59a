// Aggregation over TUMBLE, HOP and CUMULATE windows, and over windows that rows bring along (attached).
//
//   batch --> slice of each row --> rows of a slice: keys, hash table, one loop an aggregate
//   watermark --> windows that have ended, in (end, start) order --> groups in key order
//
// A row is added once, to its slice; windows are put together from slices when they fire (window_fire.c). What a slice
// holds and how it gets to disk: window_slices.h.
#include "engine/operators/window_slices.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash.h"
#include "engine/codec/key.h"

#include <assert.h>
#include <string.h>

static struct window_aggregate *window_aggregate(struct operator *op) {
    return (struct window_aggregate *)(void *)op;
}

// --- rows -------------------------------------------------------------------------------------------------------

enum { NO_SLICE = UINT32_MAX };

// The slices that a batch touches, in order of appearance, and the number of the slice of each row.
struct routing {
    struct slice **slices;
    uint32_t *counts;
    uint32_t slice_count;
    uint32_t *of_row;  // NO_SLICE: late or in no window
    size_t taken;      // rows that have one
};

static uint32_t routing_number(struct routing *routing, struct slice *slice) {
    for (uint32_t i = routing->slice_count; i-- > 0;)
        if (routing->slices[i] == slice) return i;
    routing->slices[routing->slice_count] = slice;
    routing->counts[routing->slice_count] = 0;
    return routing->slice_count++;
}

static tide_status fail_null_time(const struct window_aggregate *w, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_RUNTIME, w->plan->window.pos, "the time attribute of a row is NULL");
    return tide__fail_hint(err, "filter such rows out before the window, or give the column a default in a view");
}

static void drop_late(struct window_aggregate *w, const struct batch *batch, size_t row, int64_t start, int64_t end) {
    tide__late_row(&w->base.base, w->late, batch, row, start, end);
}

static tide_status route_by_time(struct window_aggregate *w, const struct batch *batch, struct routing *routing,
                                 tide_error *err) {
    const struct column *column = &batch->columns[w->plan->window.time_column];
    const int64_t *times = tide__window_times(column, batch->rows, &w->scratch);
    if (w->proctime) {
        int64_t *now = tide__arena_alloc(&w->scratch, batch->rows * sizeof *now);
        now[0] = tide__window_clock();
        for (size_t i = 1; i < batch->rows; i++) now[i] = now[0];
        times = now;
    }
    // The slice of the row before; rows mostly stay in it.
    int64_t start = 0, end = 0;
    uint32_t number = NO_SLICE;
    for (size_t i = 0; i < batch->rows; i++) {
        routing->of_row[i] = NO_SLICE;
        if (tide__column_is_null(column, i) && !w->proctime) {
            if (w->skip_null_time) continue;
            return fail_null_time(w, err);
        }
        int64_t local = tide__window_local(&w->cut, times[i]);
        if (local < start || local >= end) {
            bool late;
            struct slice *slice = tide__slice_for_time(w, local, &late);
            struct slice_bounds bounds = tide__window_slice(&w->cut, local);
            if (late)
                drop_late(w, batch, i, tide__window_start(&w->cut, bounds.start, bounds.last_end), bounds.last_end);
            if (slice == NULL) continue;
            start = bounds.start;
            end = bounds.end;
            number = routing_number(routing, slice);
        }
        routing->of_row[i] = number;
        routing->counts[number]++;
        routing->taken++;
    }
    return TIDE_OK;
}

static tide_status route_attached(struct window_aggregate *w, const struct batch *batch, struct routing *routing,
                                  tide_error *err) {
    const int64_t *starts = tide__window_times(&batch->columns[w->plan->start_column], batch->rows, &w->scratch);
    const int64_t *ends = tide__window_times(&batch->columns[w->plan->end_column], batch->rows, &w->scratch);
    (void)err;
    struct slice *slice = NULL;
    uint32_t number = NO_SLICE;
    for (size_t i = 0; i < batch->rows; i++) {
        routing->of_row[i] = NO_SLICE;
        if (slice == NULL || slice->start != starts[i] || slice->end != ends[i]) {
            if (tide__window_trigger(&w->cut, ends[i]) <= w->base.base.watermark) {
                drop_late(w, batch, i, starts[i], ends[i]);
                continue;
            }
            slice = tide__slice_for_bounds(w, (struct slice_bounds){starts[i], ends[i], ends[i], ends[i]});
            number = routing_number(routing, slice);
        }
        routing->of_row[i] = number;
        routing->counts[number]++;
        routing->taken++;
    }
    return TIDE_OK;
}

// Adds rows of the batch to a slice.
static tide_status add_rows(struct window_aggregate *w, struct slice *slice, const struct batch *batch,
                            struct slice_rows rows, tide_error *err) {
    if (slice->replacing && slice->evicted) tide__window_wait(w, slice, batch, &rows);
    if (rows.n == 0) return TIDE_OK;
    size_t n = rows.n;
    struct memtable_entry **entries = tide__arena_alloc(&w->scratch, n * sizeof *entries);
    TIDE_TRY(tide__slice_upsert(w, slice, rows.keys, rows.hashes, n, entries, err));
    unsigned char **payloads = (unsigned char **)(void *)entries;  // in place: entry i becomes its payload
    for (size_t i = 0; i < n; i++) payloads[i] = entries[i]->bytes;
    int64_t charge = tide__aggregators_update(&w->aggregators, batch, payloads, rows.rows, n, &w->scratch);
    if (charge != 0) tide__memtable_charge(slice->active, charge);
    if (!slice->in_running) return TIDE_OK;
    tide__window_running_upsert(&w->running, rows.keys, rows.hashes, n, entries);
    for (size_t i = 0; i < n; i++) payloads[i] = entries[i]->bytes;
    tide__aggregators_update(&w->aggregators, batch, payloads, rows.rows, n, &w->scratch);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct memtable_entry *)(void *)(payloads[i] - offsetof(struct memtable_entry, bytes));
    tide__window_running_changed(&w->running, entries, n);
    return TIDE_OK;
}

static tide_status add_batch(struct window_aggregate *w, const struct batch *batch, const struct routing *routing,
                             tide_error *err) {
    size_t n = batch->rows;
    struct str *keys = tide__arena_alloc(&w->scratch, n * sizeof *keys);
    uint64_t *hashes = tide__arena_alloc(&w->scratch, n * sizeof *hashes);
    uint32_t *rows = tide__arena_alloc(&w->scratch, n * sizeof *rows);
    if (w->plan->key_count == 0) {
        for (size_t i = 0; i < n; i++) keys[i] = (struct str){"", 0};
    } else {
        tide__key_encode(batch, w->plan->keys, w->plan->key_count, (struct str){"", 0}, &w->scratch, keys);
    }
    for (size_t i = 0; i < n; i++) hashes[i] = tide__hash_bytes(keys[i].data, keys[i].len);
    if (routing->slice_count == 1 && routing->taken == n) {
        for (size_t i = 0; i < n; i++) rows[i] = (uint32_t)i;
        return add_rows(w, routing->slices[0], batch, (struct slice_rows){rows, keys, hashes, n}, err);
    }
    struct str *some_keys = tide__arena_alloc(&w->scratch, n * sizeof *some_keys);
    uint64_t *some_hashes = tide__arena_alloc(&w->scratch, n * sizeof *some_hashes);
    // Counting sort: rows of a slice together, in arrival order.
    size_t *at = tide__arena_alloc(&w->scratch, (routing->slice_count + 1) * sizeof *at);
    size_t *from = tide__arena_alloc(&w->scratch, (routing->slice_count + 1) * sizeof *from);
    size_t sum = 0;
    for (uint32_t s = 0; s < routing->slice_count; s++) {
        at[s] = from[s] = sum;
        sum += routing->counts[s];
    }
    for (size_t i = 0; i < n; i++) {
        if (routing->of_row[i] == NO_SLICE) continue;
        size_t to = at[routing->of_row[i]]++;
        rows[to] = (uint32_t)i;
        some_keys[to] = keys[i];
        some_hashes[to] = hashes[i];
    }
    for (uint32_t s = 0; s < routing->slice_count; s++) {
        struct slice_rows some = {rows + from[s], some_keys + from[s], some_hashes + from[s], routing->counts[s]};
        TIDE_TRY(add_rows(w, routing->slices[s], batch, some, err));
    }
    return TIDE_OK;
}

static tide_status add_rows_of_batch(struct window_aggregate *w, const struct batch *batch, tide_error *err) {
    struct routing routing = {
        .slices = tide__arena_alloc(&w->scratch, batch->rows * sizeof *routing.slices),
        .counts = tide__arena_alloc(&w->scratch, batch->rows * sizeof *routing.counts),
        .of_row = tide__arena_alloc(&w->scratch, batch->rows * sizeof *routing.of_row),
    };
    TIDE_TRY(w->plan->attached ? route_attached(w, batch, &routing, err) : route_by_time(w, batch, &routing, err));
    return routing.taken > 0 ? add_batch(w, batch, &routing, err) : TIDE_OK;
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct window_aggregate *w = window_aggregate(op);
    assert(batch->kinds == NULL);
    if (w->proctime) TIDE_TRY(tide__window_fire(w, tide__window_clock() - 1, out, err));
    tide__arena_reset(&w->scratch);
    if (batch->rows > 0) TIDE_TRY(add_rows_of_batch(w, batch, err));
    return tide__window_waiting_is_full(w) ? tide__window_waiting_add(w, err) : TIDE_OK;
}

// --- time -------------------------------------------------------------------------------------------------------

static tide_status on_watermark(struct operator *op, int64_t watermark, struct emitter *out, tide_error *err) {
    // Processing-time windows that are open at the end of the input are dropped, as in Flink.
    if (window_aggregate(op)->proctime) return TIDE_OK;
    return tide__window_fire(window_aggregate(op), watermark, out, err);
}

// The first open window, or the one around the earliest row to come.
static int64_t next_trigger(const struct operator *op, int64_t earliest) {
    const struct window_aggregate *w = (const struct window_aggregate *)(const void *)op;
    if (w->proctime) return INT64_MAX;
    int64_t least = tide__saturating_add(op->watermark, 1);
    int64_t time = earliest > least ? earliest : least;
    int64_t trigger = time;
    // Windows that rows bring along lie on the same grid as assigned ones, except those of sessions.
    if (w->cut.slice > 0 && w->cut.kind != WINDOW_SESSION) {
        struct slice_bounds bounds = tide__window_slice(&w->cut, tide__window_local(&w->cut, time));
        trigger = tide__window_trigger(&w->cut, bounds.end);
    }
    if (w->slice_count > 0) {
        int64_t open = tide__window_trigger(&w->cut, w->slices[0]->next_end);
        if (open < trigger) trigger = open;
    }
    return trigger > least ? trigger : least;
}

// --- state ------------------------------------------------------------------------------------------------------

static tide_status on_barrier(struct operator *op, tide_error *err) {
    return tide__window_barrier(window_aggregate(op), err);
}

static tide_status restore(struct operator *op, struct str saved, tide_error *err) {
    (void)saved;
    return tide__window_restore(window_aggregate(op), err);
}

static size_t shrink(struct operator *op, size_t bytes, tide_error *err) {
    return tide__window_shrink(window_aggregate(op), bytes, err);
}

static void close_operator(struct operator *op) {
    struct window_aggregate *w = window_aggregate(op);
    if (w->used_state) {
        // Runs that are on their way use the aggregators and the tables.
        tide_error ignored;
        tide__error_clear(&ignored);
        tide_status status = tide__state_sync(w->store, &ignored);
        (void)status;
    }
    tide__window_waiting_deinit(w);
    tide__window_running_deinit(&w->running);
    tide__window_top_deinit(&w->top);
    for (size_t i = 0; i < w->slice_count; i++) tide__slice_free(w->slices[i]);
    tide__free(w->slices);
    tide__free(w->group_keys);
    tide__free(w->group_payloads);
    tide__arena_deinit(&w->scratch);
    tide__arena_deinit(&w->output);
    tide__free(w);
}

static const struct operator_class sliced_class = {
    .kind = PLAN_WINDOW_AGGREGATE,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = on_barrier,
    .restore = restore,
    .shrink = shrink,
    .close = close_operator,
};

static bool is_count_rows(const struct aggregate_call *call) {
    return call->aggregate->class == &tide__count_class && call->arg_count == 0 && call->filter < 0;
}

// A HOP of more than two slices keeps a running window if every aggregate has an inverse. Then there is a COUNT(*), which
// tells which groups are alive.
static tide_status bind_aggregates(struct window_aggregate *w, const struct plan_window_aggregate *plan,
                                   tide_error *err) {
    struct aggregators *all = &w->aggregators;
    TIDE_TRY(tide__aggregators_bind(all, plan->aggregates, plan->aggregate_count, false, w->plan_arena, err));
    w->outputs = *all;
    // The running total of a CUMULATE window is read back by key.
    bool total = w->cut.kind == WINDOW_CUMULATE && !plan->attached;
    w->pieces = all->has_pieces && all->combinable && all->count < UINT8_MAX && !total;
    w->runs = w->cut.kind == WINDOW_HOP && !plan->attached && all->unmergeable && w->cut.size / w->cut.slice > 2;
    if (!w->runs) return TIDE_OK;
    uint32_t count = 0;
    while (count < plan->aggregate_count && !is_count_rows(&plan->aggregates[count])) count++;
    if (count == plan->aggregate_count) {
        struct aggregate_call *calls = ARENA_ARRAY(w->plan_arena, struct aggregate_call, plan->aggregate_count + 1);
        for (uint32_t i = 0; i < count; i++) calls[i] = plan->aggregates[i];
        struct type bigint = tide__type_make(TYPE_BIGINT, false);
        calls[count] = (struct aggregate_call){.aggregate = tide__aggregate_find(STR_LIT("COUNT")),
                                               .name = "COUNT(*)",
                                               .type = tide__type_copy(w->plan_arena, &bigint),
                                               .filter = -1};
        TIDE_TRY(tide__aggregators_bind(all, calls, count + 1, false, w->plan_arena, err));
        w->outputs = *all;
        w->outputs.count = count;
    }
    tide__window_running_init(&w->running, all, w->budget, all->items[count].offset, &w->top);
    return TIDE_OK;
}

tide_status tide__sliced_aggregate_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    *out = NULL;
    const struct plan_window_aggregate *plan = &env->node->window_aggregate;
    struct window_aggregate *w = tide__calloc(1, sizeof *w);
    w->base.class = &sliced_class;
    w->base.base.node = env->node;
    w->base.base.watermark = WATERMARK_NONE;
    w->plan = plan;
    w->node = env->node;
    w->plan_arena = env->plan->arena;
    w->budget = env->budget;
    w->late = env->late;
    w->store = env->store;
    w->batch_rows_max = env->batch_rows_max;
    w->skip_null_time = env->plan->settings.batch_mode;
    w->cut = tide__window_cut(&plan->window, env->plan->settings.zone);
    w->proctime = plan->window.proctime && !plan->attached;
    tide__window_top_init(&w->top, env->plan, env->node);
    w->group_keys = tide__realloc_array(NULL, w->batch_rows_max, sizeof *w->group_keys);
    w->group_payloads = tide__realloc_array(NULL, w->batch_rows_max, sizeof *w->group_payloads);
    tide__arena_init(&w->scratch);
    tide__arena_init(&w->output);
    tide_status status = bind_aggregates(w, plan, err);
    if (status == TIDE_OK) status = tide__window_register(w, err);
    tide__window_waiting_init(w);
    if (status != TIDE_OK) {
        close_operator(&w->base.base);
        return status;
    }
    *out = &w->base.base;
    return TIDE_OK;
}
