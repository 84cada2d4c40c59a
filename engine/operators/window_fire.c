// Firing windows: which ones, their groups in key order, and the rows that leave.
#include "engine/operators/window_slices.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash.h"
#include "engine/codec/key.h"

#include <assert.h>

struct window_span {
    int64_t start, end;
};

static void fill_property(const struct window_aggregate *w, enum window_property property, struct window_span span,
                          struct column *column, size_t n) {
    int64_t ms = 0;
    switch (property) {
    case WINDOW_PROPERTY_START: ms = span.start; break;
    case WINDOW_PROPERTY_END: ms = span.end; break;
    case WINDOW_PROPERTY_TIME: ms = tide__window_time(&w->cut, span.end); break;
    }
    if (column->physical == PHYSICAL_TIME) {
        for (size_t i = 0; i < n; i++) column->time[i] = (struct timestamp){ms, 0};
    } else {
        for (size_t i = 0; i < n; i++) column->i64[i] = ms;
    }
}

static tide_status decode_keys(struct window_aggregate *w, struct column *columns, struct str *keys, size_t n,
                               tide_error *err) {
    for (uint32_t k = 0; k < w->plan->key_count; k++) {
        for (size_t i = 0; i < n; i++) {
            if (!tide__key_decode(&keys[i], &w->output, &columns[k], i))
                return tide__fail(err, TIDE_ERR_RUNTIME, "the state of a window is damaged: a key cannot be read");
        }
    }
    return TIDE_OK;
}

// Keys, aggregates, properties. Uses up the keys.
static tide_status emit_groups(struct window_aggregate *w, struct window_span span, struct str *keys,
                               unsigned char *const *payloads, size_t n, struct emitter *out, tide_error *err) {
    tide__arena_reset(&w->output);
    const struct plan_window_aggregate *plan = w->plan;
    uint32_t first_property = plan->key_count + plan->aggregate_count;
    struct batch batch = {.rows = n, .column_count = w->node->field_count};
    assert(batch.column_count == first_property + plan->property_count);
    batch.columns = ARENA_ARRAY(&w->output, struct column, batch.column_count);
    for (uint32_t i = 0; i < batch.column_count; i++) {
        tide__column_init(&batch.columns[i], w->node->fields[i].type, n, i < first_property, &w->output);
    }
    TIDE_TRY(decode_keys(w, batch.columns, keys, n, err));
    tide__aggregators_result(&w->outputs, payloads, n, batch.columns + plan->key_count, &w->output);
    for (uint32_t i = 0; i < plan->property_count; i++)
        fill_property(w, plan->properties[i], span, &batch.columns[first_property + i], n);
    return tide__emit(out, &batch, err);
}

static tide_status emit_merge(struct window_aggregate *w, struct window_span span, struct window_merge *merge,
                              struct emitter *out, tide_error *err) {
    for (;;) {
        size_t n = 0;
        TIDE_TRY(tide__window_merge_next(merge, w->batch_rows_max, w->group_keys, w->group_payloads, &n, err));
        if (n == 0) return TIDE_OK;
        if (w->top.limit > 0) {
            tide__arena_reset(&w->output);
            n = tide__window_top_filter(&w->top, &w->aggregators, w->group_keys, w->group_payloads, n, &w->output);
        }
        if (n > 0) TIDE_TRY(emit_groups(w, span, w->group_keys, w->group_payloads, n, out, err));
    }
}

// Emits groups of a table that a Top-N above may take.
static tide_status emit_top(struct window_aggregate *w, struct window_span span, const struct memtable *table,
                            struct window_top_groups groups, struct emitter *out, tide_error *err) {
    tide_status status = TIDE_OK;
    for (size_t at = 0, n = 0; at < groups.count && status == TIDE_OK; at += n) {
        n = groups.count - at < w->batch_rows_max ? groups.count - at : w->batch_rows_max;
        for (size_t i = 0; i < n; i++) {
            if (at + i + 16 < groups.count) tide__memtable_prefetch(groups.entries[at + i + 16]);
            w->group_keys[i] = tide__memtable_key(table, groups.entries[at + i]);
            w->group_payloads[i] = groups.entries[at + i]->bytes;
        }
        status = emit_groups(w, span, w->group_keys, w->group_payloads, n, out, err);
    }
    tide__free(groups.entries);
    return status;
}

// The only table of a slice; NULL if it has none, several, or a part on disk.
static struct memtable *only_table(const struct slice *slice) {
    if (slice->evicted) return NULL;
    if (slice->frozen_count == 0) return slice->active;
    return slice->frozen_count == 1 && slice->active == NULL ? slice->frozen[0] : NULL;
}

// Emits the union of slices [0, count): a HOP folds the newest first, the legacy one the oldest.
static tide_status fire_slices(struct window_aggregate *w, struct window_span span, size_t count, struct emitter *out,
                               tide_error *err) {
    w->base.base.stats.windows_fired++;
    struct memtable *table = count == 1 ? only_table(w->slices[0]) : NULL;
    if (w->top.limit > 0 && table != NULL) {
        struct window_top_groups groups = tide__window_top_of_table(&w->top, &w->aggregators, table, w->budget);
        return emit_top(w, span, table, groups, out, err);
    }
    struct window_merge merge;
    tide__window_merge_init(&merge, &w->aggregators);
    if (w->top.limit > 0) tide__window_top_start(&w->top);
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < count && status == TIDE_OK; i++) {
        struct slice *slice = w->slices[w->plan->legacy ? i : count - 1 - i];
        status = tide__window_evict_rest(w, slice, err);
        if (status == TIDE_OK) status = tide__slice_add_parts(w, slice, &merge, err);
    }
    if (status == TIDE_OK) status = emit_merge(w, span, &merge, out, err);
    tide__window_merge_deinit(&merge);
    return status;
}

static tide_status merge_table_into(struct window_aggregate *w, struct slice *total, const struct memtable *table,
                                    tide_error *err) {
    struct memtable_entry **from = tide__arena_alloc(&w->scratch, w->batch_rows_max * sizeof *from);
    struct memtable_entry **entries = tide__arena_alloc(&w->scratch, w->batch_rows_max * sizeof *entries);
    uint64_t *hashes = tide__arena_alloc(&w->scratch, w->batch_rows_max * sizeof *hashes);
    struct memtable_cursor cursor = {0};
    size_t n;
    while ((n = tide__memtable_walk(table, &cursor, w->batch_rows_max, from)) > 0) {
        for (size_t i = 0; i < n; i++) {
            w->group_keys[i] = tide__memtable_key(table, from[i]);
            hashes[i] = from[i]->hash;
        }
        TIDE_TRY(tide__slice_upsert(w, total, w->group_keys, hashes, n, entries, err));
        int64_t charge = 0;
        for (size_t i = 0; i < n; i++)
            charge += tide__aggregators_merge(&w->aggregators, entries[i]->bytes, from[i]->bytes);
        if (charge != 0) tide__memtable_charge(total->active, charge);
    }
    return TIDE_OK;
}

static tide_status merge_into(struct window_aggregate *w, struct slice *total, struct window_merge *merge,
                              tide_error *err) {
    struct memtable_entry **entries = tide__arena_alloc(&w->scratch, w->batch_rows_max * sizeof *entries);
    uint64_t *hashes = tide__arena_alloc(&w->scratch, w->batch_rows_max * sizeof *hashes);
    for (;;) {
        size_t n = 0;
        TIDE_TRY(tide__window_merge_next(merge, w->batch_rows_max, w->group_keys, w->group_payloads, &n, err));
        if (n == 0) return TIDE_OK;
        for (size_t i = 0; i < n; i++) hashes[i] = tide__hash_bytes(w->group_keys[i].data, w->group_keys[i].len);
        TIDE_TRY(tide__slice_upsert(w, total, w->group_keys, hashes, n, entries, err));
        int64_t charge = 0;
        for (size_t i = 0; i < n; i++)
            charge += tide__aggregators_merge(&w->aggregators, entries[i]->bytes, w->group_payloads[i]);
        if (charge != 0) tide__memtable_charge(total->active, charge);
    }
}

// The slice that has just ended joins the running total of its CUMULATE window.
static tide_status join_total(struct window_aggregate *w, struct slice *total, size_t index, tide_error *err) {
    struct memtable *table = only_table(w->slices[index]);
    if (table != NULL) {
        TIDE_TRY(merge_table_into(w, total, table, err));
        return tide__slices_drop(w, index, 1, err);
    }
    struct window_merge merge;
    tide__window_merge_init(&merge, &w->aggregators);
    tide_status status = tide__slice_add_parts(w, w->slices[index], &merge, err);
    if (status == TIDE_OK) status = merge_into(w, total, &merge, err);
    tide__window_merge_deinit(&merge);
    return status == TIDE_OK ? tide__slices_drop(w, index, 1, err) : status;
}

// The window's slices at the front are its running total, if there is one yet, and the slice that ends now.
static tide_status fire_cumulate(struct window_aggregate *w, struct window_span span, struct emitter *out,
                                 tide_error *err) {
    struct slice_bounds bounds = tide__window_slice_at(&w->cut, span.start, span.start + w->cut.slice);
    struct slice *total = tide__slice_for_bounds(w, bounds);
    assert(total == w->slices[0]);
    if (!total->replacing) TIDE_TRY(tide__window_make_total(w, total, err));
    total->replacing = true;
    while (w->slice_count > 1 && w->slices[1]->next_end == span.end) TIDE_TRY(join_total(w, total, 1, err));
    total->next_end = span.end;
    return fire_slices(w, span, 1, out, err);
}

// --- the running window of a HOP ----------------------------------------------------------------------------------

void tide__window_stop_running(struct window_aggregate *w) {
    if (!w->runs) return;
    for (size_t i = 0; i < w->slice_count; i++) w->slices[i]->in_running = false;
    tide__window_running_clear(&w->running);
}

static void for_each_part(struct window_aggregate *w, struct slice *slice,
                          void (*apply)(struct window_running *running, struct memtable *part)) {
    for (uint32_t i = 0; i < slice->frozen_count; i++) apply(&w->running, slice->frozen[i]);
    if (slice->active != NULL) apply(&w->running, slice->active);
}

static bool can_run(const struct window_aggregate *w, size_t count) {
    if (!w->runs) return false;
    for (size_t i = 0; i < count; i++)
        if (w->slices[i]->evicted) return false;
    return true;
}

static tide_status emit_running(struct window_aggregate *w, struct window_span span, struct emitter *out,
                                tide_error *err) {
    struct window_running *running = &w->running;
    if (running->table == NULL) return TIDE_OK;
    if (w->top.limit > 0) {
        struct window_top_groups groups = tide__window_top_of_list(&running->list, &w->top, &w->aggregators,
                                                                   running->table);
        return emit_top(w, span, running->table, groups, out, err);
    }
    tide__window_running_start(running);
    for (;;) {
        size_t n = tide__window_running_next(running, w->batch_rows_max, w->group_keys, w->group_payloads);
        if (n == 0) return TIDE_OK;
        TIDE_TRY(emit_groups(w, span, w->group_keys, w->group_payloads, n, out, err));
    }
}

static tide_status fire_running(struct window_aggregate *w, struct window_span span, size_t count, struct emitter *out,
                                tide_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (w->slices[i]->in_running) continue;
        for_each_part(w, w->slices[i], tide__window_running_add);
        w->slices[i]->in_running = true;
    }
    w->base.base.stats.windows_fired++;
    TIDE_TRY(emit_running(w, span, out, err));
    tide__window_running_tidy(&w->running);
    return TIDE_OK;
}

static tide_status fire_hop(struct window_aggregate *w, struct window_span span, size_t count, struct emitter *out,
                            tide_error *err) {
    if (can_run(w, count)) return fire_running(w, span, count, out, err);
    tide__window_stop_running(w);
    return fire_slices(w, span, count, out, err);
}

// Moves the slices of a fired window on to their next one; those that have none are dropped.
static tide_status finish_window(struct window_aggregate *w, int64_t end, size_t count, tide_error *err) {
    size_t done = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice *slice = w->slices[i];
        if (end >= slice->last_end) {
            done++;  // slices end one after the other, so these are the first ones
            if (slice->in_running) for_each_part(w, slice, tide__window_running_remove);
        } else {
            slice->next_end = tide__saturating_add(end, w->cut.slide);
        }
    }
    return done > 0 ? tide__slices_drop(w, 0, done, err) : TIDE_OK;
}

tide_status tide__window_fire(struct window_aggregate *w, int64_t watermark, struct emitter *out, tide_error *err) {
    while (w->slice_count > 0) {
        struct slice *first = w->slices[0];
        struct window_span span = {first->start, first->next_end};
        if (tide__window_trigger(&w->cut, span.end) > watermark) break;
        TIDE_TRY(tide__window_waiting_add(w, err));
        tide__arena_reset(&w->scratch);
        size_t count = 1;
        if (!w->plan->attached && w->cut.kind != WINDOW_TUMBLE) {
            span.start = tide__window_start(&w->cut, first->start, span.end);
            while (count < w->slice_count && w->slices[count]->next_end == span.end) count++;
        }
        if (!w->plan->attached && w->cut.kind == WINDOW_CUMULATE) {
            TIDE_TRY(fire_cumulate(w, span, out, err));
            count = 1;
        } else if (!w->plan->attached && w->cut.kind == WINDOW_HOP) {
            TIDE_TRY(fire_hop(w, span, count, out, err));
        } else {
            TIDE_TRY(fire_slices(w, span, count, out, err));
        }
        TIDE_TRY(finish_window(w, span.end, count, err));
    }
    return TIDE_OK;
}
