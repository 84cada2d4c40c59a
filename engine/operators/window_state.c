// The sliced window aggregate and its state table: barriers, eviction, reading back, restoring.
#include "engine/operators/window_slices.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sort.h"
#include "engine/codec/key.h"
#include "engine/operators/window_run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// The description outlives the operator, hence the plan's arena.
tide_status tide__window_register(struct window_aggregate *w, tide_error *err) {
    if (w->store == NULL) return TIDE_OK;
    struct arena *arena = w->plan_arena;
    struct state_field *keys = ARENA_ARRAY(arena, struct state_field, w->plan->key_count);
    for (uint32_t i = 0; i < w->plan->key_count; i++) {
        const struct plan_field *field = &w->node->fields[i];
        keys[i] = (struct state_field){field->name, tide__type_text(arena, field->type), STATE_FORM_BYTES,
                                       STATE_COMBINE_REPLACE};
    }
    struct state_table_desc *desc = ARENA_NEW(arena, struct state_table_desc);
    *desc = (struct state_table_desc){
        .name = tide__arena_printf(arena, "%s.groups", w->node->operator_id),
        .operator_id = w->node->operator_id,
        .kind = STATE_TABLE_WINDOWED,
        .key_count = w->plan->key_count,
        .value_count = w->aggregators.field_count,
        .keys = keys,
        .values = w->aggregators.fields,
        // Read back by key are: the running total of a CUMULATE window, and accumulators that can't be combined.
        .only_scanned = w->aggregators.combinable && (w->cut.kind != WINDOW_CUMULATE || w->plan->attached),
    };
    return tide__state_table(w->store, desc, &w->table, err);
}

struct range {
    char lower[16], upper[16];
};

static struct range range_of(const struct slice *slice) {
    struct range range;
    tide__window_prefix(range.lower, slice->start, slice->end);
    tide__window_prefix(range.upper, slice->start, slice->end + 1);
    return range;
}

tide_status tide__window_open_range(struct window_aggregate *w, const struct slice *slice, struct state_iter **out_iter,
                                    tide_error *err) {
    struct range range = range_of(slice);
    return tide__state_iter_open(w->table, NULL, (struct str){range.lower, 16}, (struct str){range.upper, 16}, out_iter,
                                 err);
}

tide_status tide__window_drop_range(struct window_aggregate *w, const struct slice *slice, tide_error *err) {
    struct range range = range_of(slice);
    return tide__state_drop_range(w->table, (struct str){range.lower, 16}, (struct str){range.upper, 16}, err);
}

// --- sealing ----------------------------------------------------------------------------------------------------

// Dirty entries, encoded: the accumulators go on changing while the run is written, which sorts them.
static void encode_dirty(struct window_aggregate *w, struct slice *slice, struct strbuf *out) {
    enum { AHEAD = 8 };
    struct strbuf value = {0};
    size_t n = slice->dirty_count;
    bool is_locked = tide__slice_lock_entries(slice);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) tide__memtable_prefetch(slice->dirty[i + AHEAD]);
        struct memtable_entry *entry = slice->dirty[i];
        entry->flags = 0;
        tide__window_encode_entry(&w->aggregators, slice->active, entry, &value, out);
    }
    tide__slice_unlock_entries(slice, is_locked);
    tide__strbuf_deinit(&value);
    slice->dirty_count = 0;
}

// Adds the dirty entries to a run, to be encoded later. Not if accumulators point elsewhere, where changes could not be
// told from what was; nor if entries of the barrier before are still to be encoded, for each has one mark.
static void seal_dirty(struct window_aggregate *w, struct slice *slice, struct window_run *run) {
    bool is_locked = tide__slice_lock_entries(slice);
    tide__slice_unlock_entries(slice, is_locked);
    if (is_locked || w->aggregators.owns_memory) {
        struct strbuf encoded = {0};
        encode_dirty(w, slice, &encoded);
        tide__window_run_add_encoded(run, slice->start, slice->end, &encoded);
        return;
    }
    slice->sealing = tide__window_sealing_new(&w->aggregators, slice->active, slice->dirty, slice->dirty_count,
                                              slice->mark);
    tide__window_run_add_sealing(run, slice->start, slice->end, slice->sealing);
    slice->dirty = NULL;
    slice->dirty_count = slice->dirty_cap = 0;
    slice->mark++;
}

// Values of DISTINCT that an earlier run in memory has are not written again.
static void drop_known_values(struct window_aggregate *w, struct slice *slice) {
    struct memtable_entry *const *entries = tide__memtable_entries(slice->active);
    size_t n = tide__memtable_count(slice->active);
    int64_t charge = 0;
    for (uint32_t f = 0; f < slice->frozen_count; f++) {
        for (size_t i = 0; i < n; i++) {
            struct str key = tide__memtable_key(slice->active, entries[i]);
            const struct memtable_entry *older = tide__memtable_find(slice->frozen[f], key, entries[i]->hash);
            if (older == NULL) continue;
            charge += tide__aggregators_drop_known(&w->aggregators, entries[i]->bytes, older->bytes);
        }
    }
    if (charge != 0) tide__memtable_charge(slice->active, charge);
}

// The keys of a table that memory forgets are now only in the state table.
static void note_known(struct window_aggregate *w, struct slice *slice) {
    if (!slice->replacing || slice->active == NULL) return;
    if (!slice->evicted) slice->known = tide__window_known_new(w->budget);
    if (slice->known == NULL || tide__window_known_add(slice->known, slice->active)) return;
    tide__window_known_free(slice->known);
    slice->known = NULL;
}

// Adds what a slice has not handed over yet to a run. With `evict` memory forgets the slice afterwards.
static void seal(struct window_aggregate *w, struct slice *slice, struct window_run *run, bool evict) {
    bool changed = slice->active != NULL && (!slice->replacing || slice->dirty_count > 0);
    if (changed && !slice->replacing && w->aggregators.drops_known) drop_known_values(w, slice);
    if (changed && slice->replacing && !evict) {
        seal_dirty(w, slice, run);
    } else if (changed) {
        tide__window_run_add_table(run, slice->start, slice->end, slice->active,
                                   slice->replacing ? WINDOW_RUN_REPLACE_DIRTY : WINDOW_RUN_ADD, slice->mark);
    }
    slice->in_state |= changed;
    if (evict) {
        note_known(w, slice);
        tide__slice_clear(slice);
        slice->evicted = slice->in_state;
    } else if (changed && !slice->replacing) {
        struct memtable *sealed = tide__slice_take_active(slice);
        if (slice->evicted) {
            tide__memtable_release(sealed);
        } else {
            tide__slice_add_frozen(w, slice, sealed);
        }
    }
}

static int compare_bounds(const void *a, const void *b) {
    const struct slice *left = *(struct slice *const *)a, *right = *(struct slice *const *)b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return (left->end > right->end) - (left->end < right->end);
}

// Seals the given slices as one run.
static tide_status seal_slices(struct window_aggregate *w, struct slice **slices, size_t count, bool evict,
                               tide_error *err) {
    qsort(slices, count, sizeof *slices, compare_bounds);
    struct window_run *run = tide__window_run_new(&w->aggregators, w->pieces);
    for (size_t i = 0; i < count; i++) seal(w, slices[i], run, evict);
    w->used_state = true;
    return tide__window_run_submit(run, w->table, err);
}

tide_status tide__window_barrier(struct window_aggregate *w, tide_error *err) {
    if (w->slice_count == 0) return TIDE_OK;
    TIDE_TRY(tide__window_waiting_add(w, err));
    tide__arena_reset(&w->scratch);
    struct slice **slices = tide__arena_alloc(&w->scratch, w->slice_count * sizeof *slices);
    memcpy(slices, w->slices, w->slice_count * sizeof *slices);
    return seal_slices(w, slices, w->slice_count, false, err);
}

static int compare_bytes(const void *a, const void *b) {
    size_t left = tide__slice_bytes(*(struct slice *const *)a), right = tide__slice_bytes(*(struct slice *const *)b);
    return (left < right) - (left > right);
}

tide_status tide__window_evict_rest(struct window_aggregate *w, struct slice *slice, tide_error *err) {
    if (!w->pieces || !slice->evicted || slice->replacing) return TIDE_OK;
    if (slice->active == NULL && slice->frozen_count == 0) return TIDE_OK;
    return seal_slices(w, &slice, 1, true, err);
}

// Evicts the largest slices until they have held so many bytes; fewer, if memory has no more of them.
static size_t evict_largest(struct window_aggregate *w, size_t bytes, tide_error *err) {
    tide__arena_reset(&w->scratch);
    struct slice **slices = tide__arena_alloc(&w->scratch, w->slice_count * sizeof *slices);
    memcpy(slices, w->slices, w->slice_count * sizeof *slices);
    qsort(slices, w->slice_count, sizeof *slices, compare_bytes);
    size_t count = 0, freed = 0;
    for (; count < w->slice_count && freed < bytes; count++) {
        size_t held = tide__slice_bytes(slices[count]);
        if (held == 0) break;
        freed += held;
    }
    if (count == 0) return 0;
    tide_status status = seal_slices(w, slices, count, true, err);
    return status == TIDE_OK ? freed : 0;
}

size_t tide__window_shrink(struct window_aggregate *w, size_t bytes, tide_error *err) {
    if (w->table == NULL || w->slice_count == 0) return 0;
    tide__window_stop_running(w);
    size_t freed = evict_largest(w, bytes, err);
    // Rows that wait take little, and go on waiting unless nothing else is left.
    if (freed >= bytes || w->waiting.first == NULL || (err != NULL && err->status != TIDE_OK)) return freed;
    if (tide__window_waiting_add(w, err) != TIDE_OK) return 0;
    return freed + evict_largest(w, bytes - freed, err);
}

// --- the running total of a CUMULATE window ----------------------------------------------------------------------

tide_status tide__window_make_total(struct window_aggregate *w, struct slice *slice, tide_error *err) {
    assert(!slice->replacing);
    if (slice->evicted) {
        // The increments complete the values in the state table; from then on whole values replace them.
        TIDE_TRY(seal_slices(w, &slice, 1, true, err));
        slice->replacing = true;
        return TIDE_OK;
    }
    tide__slice_stop_uniting(slice);
    if (slice->active != NULL) slice->frozen[slice->frozen_count++] = tide__slice_take_active(slice);
    struct memtable *frozen[FROZEN_MAX + 1];
    uint32_t count = slice->frozen_count;
    memcpy(frozen, slice->frozen, sizeof frozen);
    slice->frozen_count = 0;
    slice->replacing = true;
    int64_t charge = 0;
    for (uint32_t f = 0; f < count; f++) {
        struct memtable_entry *const *entries = tide__memtable_entries(frozen[f]);
        size_t n = tide__memtable_count(frozen[f]);
        for (size_t i = 0; i < n; i++) {
            struct str key = tide__memtable_key(frozen[f], entries[i]);
            struct memtable_entry *into;
            TIDE_TRY(tide__slice_upsert(w, slice, &key, &entries[i]->hash, 1, &into, err));
            charge += tide__aggregators_merge(&w->aggregators, into->bytes, entries[i]->bytes);
        }
        tide__memtable_release(frozen[f]);
    }
    if (charge != 0) tide__memtable_charge(slice->active, charge);
    return TIDE_OK;
}

// --- reading ----------------------------------------------------------------------------------------------------

// Values of keys that are near each other in the table.
static tide_status read_group(struct window_aggregate *w, const struct slice *slice,
                              struct memtable_entry *const *entries, const struct sort_item *items, size_t n,
                              struct arena *arena, tide_error *err) {
    struct str *keys = tide__arena_alloc(arena, n * sizeof *keys);
    struct str *values = tide__arena_alloc(arena, n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        char *key = tide__arena_alloc(arena, 16 + items[i].key_len);
        tide__window_prefix(key, slice->start, slice->end);
        if (items[i].key_len > 0) memcpy(key + 16, items[i].key, items[i].key_len);
        keys[i] = (struct str){key, 16 + items[i].key_len};
    }
    TIDE_TRY(tide__state_multi_get(w->table, keys, n, arena, values, err));
    int64_t charge = 0;
    for (size_t i = 0; i < n; i++) {
        if (values[i].data == NULL) continue;
        if (!tide__aggregators_decode(&w->aggregators, values[i], entries[items[i].index]->bytes, &charge))
            return tide__fail(err, TIDE_ERR_RUNTIME, "the state of a window is damaged: an accumulator cannot be read");
    }
    if (charge != 0) tide__memtable_charge(slice->active, charge);
    return TIDE_OK;
}

// In key order, so that each block of the table is read once.
tide_status tide__window_read_back(struct window_aggregate *w, const struct slice *slice,
                                   struct memtable_entry *const *entries, size_t n, tide_error *err) {
    enum { GROUP = 1024 };
    if (n == 0) return TIDE_OK;
    size_t bytes = 2 * n * sizeof(struct sort_item);
    tide__budget_charge(w->budget, bytes);
    struct sort_item *items = tide__alloc(bytes);
    tide__memtable_sort_entries(slice->active, entries, n, items);
    struct arena arena;
    tide__arena_init(&arena);
    tide_status status = TIDE_OK;
    for (size_t at = 0; at < n && status == TIDE_OK; at += GROUP) {
        tide__arena_reset(&arena);
        status = read_group(w, slice, entries, items + at, n - at < GROUP ? n - at : GROUP, &arena, err);
    }
    tide__arena_deinit(&arena);
    tide__free(items);
    tide__budget_release(w->budget, bytes);
    return status;
}

static tide_status restore_slice(struct window_aggregate *w, int64_t start, int64_t end, tide_error *err) {
    struct slice_bounds bounds = {start, end, end, end};
    if (!w->plan->attached) bounds = tide__window_slice_at(&w->cut, start, end);
    struct slice *slice = tide__slice_for_bounds(w, bounds);
    slice->evicted = slice->in_state = true;
    if (w->cut.kind == WINDOW_CUMULATE && !w->plan->attached)
        slice->replacing |= tide__window_trigger(&w->cut, end) <= w->base.base.watermark;
    if (tide__window_trigger(&w->cut, slice->last_end) > w->base.base.watermark) return TIDE_OK;
    // Fired, and dropped only after the savepoint was taken.
    for (size_t i = 0; i < w->slice_count; i++) {
        if (w->slices[i] == slice) return tide__slices_drop(w, i, 1, err);
    }
    return TIDE_OK;
}

// Hops from one slice to the next.
tide_status tide__window_restore(struct window_aggregate *w, tide_error *err) {
    if (w->table == NULL) return TIDE_OK;
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(w->table, NULL, (struct str){"", 0}, (struct str){"", 0}, &iter, err));
    w->used_state = true;
    struct str key, value;
    tide_status status = TIDE_OK;
    struct slice_bounds *found = NULL;
    size_t count = 0, cap = 0;
    while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value)) {
        if (key.len < 16) {
            status = tide__fail(err, TIDE_ERR_SAVEPOINT, "the state of a window is damaged: a key is too short");
            break;
        }
        found = tide__grow(found, &cap, count + 1, sizeof *found);
        found[count] = (struct slice_bounds){tide__key_get_time(key.data), tide__key_get_time(key.data + 8), 0, 0};
        char next[16];
        tide__window_prefix(next, found[count].start, found[count].end + 1);
        count++;
        tide__state_iter_seek(iter, (struct str){next, 16});
    }
    tide_status closed = tide__state_iter_close(iter, err);
    if (status == TIDE_OK) status = closed;
    for (size_t i = 0; i < count && status == TIDE_OK; i++)
        status = restore_slice(w, found[i].start, found[i].end, err);
    tide__free(found);
    return status;
}
