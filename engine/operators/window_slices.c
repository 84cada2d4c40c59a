// Finding slices and writing to them.
#include "engine/operators/window_slices.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/sort.h"

#include <assert.h>
#include <string.h>

// The first slice at or after (end, start).
static size_t lower_bound(const struct window_aggregate *w, int64_t start, int64_t end) {
    size_t low = 0, high = w->slice_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct slice *s = w->slices[middle];
        if (s->end < end || (s->end == end && s->start < start)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct slice *tide__slice_find(const struct window_aggregate *w, int64_t start, int64_t end) {
    size_t at = lower_bound(w, start, end);
    if (at == w->slice_count || w->slices[at]->start != start || w->slices[at]->end != end) return NULL;
    return w->slices[at];
}

// Steps over the windows that have fired: the ends come in steps of `slide`.
static int64_t next_unfired(const struct window_aggregate *w, struct slice_bounds bounds) {
    int64_t end = bounds.first_end;
    while (end < bounds.last_end && tide__window_trigger(&w->cut, end) <= w->base.base.watermark)
        end = tide__saturating_add(end, w->cut.slide);
    return end;
}

struct slice *tide__slice_for_bounds(struct window_aggregate *w, struct slice_bounds bounds) {
    size_t at = lower_bound(w, bounds.start, bounds.end);
    if (at < w->slice_count && w->slices[at]->start == bounds.start && w->slices[at]->end == bounds.end) {
        return w->last = w->slices[at];
    }
    struct slice *slice = tide__calloc(1, sizeof *slice);
    slice->start = bounds.start;
    slice->end = bounds.end;
    slice->next_end = next_unfired(w, bounds);
    slice->last_end = bounds.last_end;
    slice->replacing = !w->aggregators.combinable;
    w->slices = tide__grow(w->slices, &w->slice_cap, w->slice_count + 1, sizeof *w->slices);
    memmove(w->slices + at + 1, w->slices + at, (w->slice_count - at) * sizeof *w->slices);
    w->slices[at] = slice;
    w->slice_count++;
    w->base.base.stats.windows_open = w->slice_count;
    return w->last = slice;
}

struct slice *tide__slice_for_time(struct window_aggregate *w, int64_t local, bool *out_late) {
    *out_late = false;
    struct slice_bounds bounds = tide__window_slice(&w->cut, local);
    if (bounds.first_end > bounds.last_end) return NULL;
    if (tide__window_trigger(&w->cut, bounds.last_end) <= w->base.base.watermark) {
        *out_late = true;
        return NULL;
    }
    // A CUMULATE slice that has fired is part of the running total, which is kept as the window's first slice.
    bool fired = w->cut.kind == WINDOW_CUMULATE && tide__window_trigger(&w->cut, bounds.end) <= w->base.base.watermark;
    if (!fired) return tide__slice_for_bounds(w, bounds);
    bounds.start = tide__window_start(&w->cut, bounds.start, bounds.end);
    bounds.end = bounds.start + w->cut.slice;
    bounds.first_end = bounds.end;
    struct slice *total = tide__slice_for_bounds(w, bounds);
    total->replacing = true;
    return total;
}

struct memtable *tide__slice_take_active(struct slice *slice) {
    struct memtable *active = slice->active;
    tide__window_sealing_release(slice->sealing);
    slice->sealing = NULL;
    tide__free(slice->dirty);
    tide__free(slice->sorted);
    slice->active = NULL;
    slice->dirty = slice->sorted = NULL;
    slice->dirty_count = slice->dirty_cap = slice->sorted_count = 0;
    return active;
}

void tide__slice_clear(struct slice *slice) {
    tide__memtable_release(tide__slice_take_active(slice));
    tide__slice_stop_uniting(slice);
    for (uint32_t i = 0; i < slice->frozen_count; i++) tide__memtable_release(slice->frozen[i]);
    slice->frozen_count = 0;
}

void tide__slice_free(struct slice *slice) {
    if (slice == NULL) return;
    tide__slice_clear(slice);
    tide__window_known_free(slice->known);
    tide__free(slice);
}

tide_status tide__slices_drop(struct window_aggregate *w, size_t index, size_t count, tide_error *err) {
    for (size_t i = index; i < index + count; i++) {
        if (w->slices[i]->in_state) TIDE_TRY(tide__window_drop_range(w, w->slices[i], err));
    }
    for (size_t i = index; i < index + count; i++) {
        if (w->slices[i]->active != NULL) w->groups_expected = tide__memtable_count(w->slices[i]->active);
        tide__slice_free(w->slices[i]);
    }
    memmove(w->slices + index, w->slices + index + count, (w->slice_count - index - count) * sizeof *w->slices);
    w->slice_count -= count;
    w->last = NULL;
    w->base.base.stats.windows_open = w->slice_count;
    return TIDE_OK;
}

// Slots for as many groups as the last slice had, so that they need not grow several times. A guess, hence only if memory
// is plenty.
static void reserve_slots(struct window_aggregate *w, struct slice *slice) {
    enum { SLOT_BYTES = 16, SHARE = 16 };
    if (slice->in_state || w->groups_expected == 0) return;
    size_t bytes = w->groups_expected * 3 * SLOT_BYTES;
    size_t limit = w->budget == NULL ? SIZE_MAX : w->budget->limit;
    if (bytes < limit / SHARE && (w->budget == NULL || w->budget->used + bytes < limit / 2))
        tide__memtable_reserve(slice->active, w->groups_expected);
}

struct memtable *tide__slice_active(struct window_aggregate *w, struct slice *slice) {
    if (slice->active == NULL) {
        slice->active = tide__memtable_new(w->budget, w->aggregators.payload_size);
        reserve_slots(w, slice);
        if (w->aggregators.owns_memory)
            tide__memtable_on_free(slice->active, tide__aggregators_release, &w->aggregators);
    }
    return slice->active;
}

bool tide__slice_lock_entries(struct slice *slice) {
    if (slice->sealing == NULL) return false;
    if (tide__window_sealing_lock(slice->sealing)) return true;
    tide__window_sealing_release(slice->sealing);
    slice->sealing = NULL;
    return false;
}

void tide__slice_unlock_entries(struct slice *slice, bool is_locked) {
    if (is_locked) tide__window_sealing_unlock(slice->sealing);
}

void tide__slice_mark_dirty(struct slice *slice, struct memtable_entry *const *entries, size_t n) {
    slice->dirty = tide__grow(slice->dirty, &slice->dirty_cap, slice->dirty_count + n, sizeof *slice->dirty);
    if (slice->mark == 0) slice->mark = 1;
    bool is_locked = tide__slice_lock_entries(slice);
    for (size_t i = 0; i < n; i++) {
        if (entries[i]->flags == slice->mark) continue;
        if (is_locked) tide__window_sealing_save(slice->sealing, entries[i]);
        entries[i]->flags = slice->mark;
        slice->dirty[slice->dirty_count++] = entries[i];
    }
    tide__slice_unlock_entries(slice, is_locked);
}

tide_status tide__slice_upsert(struct window_aggregate *w, struct slice *slice, const struct str *keys,
                               const uint64_t *hashes, size_t n, struct memtable_entry **out_entries, tide_error *err) {
    struct memtable *table = tide__slice_active(w, slice);
    uint8_t *is_new = NULL;
    bool read_back = slice->replacing && slice->evicted;
    if (read_back) is_new = tide__arena_alloc(&w->scratch, n);
    tide__memtable_upsert_batch(table, keys, hashes, n, out_entries, is_new);
    if (read_back) {
        struct memtable_entry **added = tide__arena_alloc(&w->scratch, n * sizeof *added);
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (is_new[i] && (slice->known == NULL || tide__window_known_may_have(slice->known, hashes[i])))
                added[count++] = out_entries[i];
        }
        TIDE_TRY(tide__window_read_back(w, slice, added, count, err));
    }
    if (slice->replacing) tide__slice_mark_dirty(slice, out_entries, n);
    if (slice->frozen_count > 1) tide__slice_unite(w, slice, n);
    return TIDE_OK;
}

// The active table goes on changing, so its sorted view is ours; it holds while no key is added.
static void sort_active(struct window_aggregate *w, struct slice *slice) {
    size_t n = tide__memtable_count(slice->active);
    if (slice->sorted != NULL && slice->sorted_count == n) return;
    struct memtable_entry *const *entries = tide__memtable_entries(slice->active);
    size_t bytes = 2 * n * sizeof(struct sort_item);
    tide__budget_charge(w->budget, bytes);
    struct sort_item *items = tide__alloc(bytes);
    tide__memtable_sort_entries(slice->active, entries, n, items);
    slice->sorted = tide__realloc_array(slice->sorted, n, sizeof *slice->sorted);
    for (size_t i = 0; i < n; i++) slice->sorted[i] = entries[items[i].index];
    slice->sorted_count = n;
    tide__free(items);
    tide__budget_release(w->budget, bytes);
}

tide_status tide__slice_add_parts(struct window_aggregate *w, struct slice *slice, struct window_merge *merge,
                                  tide_error *err) {
    if (slice->evicted) {
        struct state_iter *iter;
        TIDE_TRY(tide__window_open_range(w, slice, &iter, err));
        tide__window_merge_add_state(merge, iter, slice->replacing && slice->active != NULL);
    }
    for (uint32_t i = 0; i < slice->frozen_count; i++) {
        tide__window_merge_add_table(merge, tide__memtable_sorted(slice->frozen[i]),
                                     tide__memtable_count(slice->frozen[i]));
    }
    if (slice->active == NULL) return TIDE_OK;
    sort_active(w, slice);
    tide__window_merge_add_table(merge, slice->sorted, slice->sorted_count);
    return TIDE_OK;
}

size_t tide__slice_bytes(const struct slice *slice) {
    size_t bytes = slice->active == NULL ? 0 : tide__memtable_bytes(slice->active);
    for (uint32_t i = 0; i < slice->frozen_count; i++) bytes += tide__memtable_bytes(slice->frozen[i]);
    return bytes;
}
