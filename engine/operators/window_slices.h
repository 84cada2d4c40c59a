// The sliced window aggregate's data: open slices and what they hold. Inside the window aggregate only.
//
//   slice   parts, oldest first:   [ state table ]  [ frozen tables ]  [ active table ]
//                                    if evicted       submitted          being written
//
// Two ways to write a slice to its state table:
//  - adding (combinable aggregates): the active table is frozen and submitted as increments; a new one begins. Frozen tables
//    stay in memory as a cache until memory is short; then all of them go together and the slice is *evicted*.
//  - replacing (any sequential aggregate, and the running total of a CUMULATE window): one table stays; changed entries are
//    submitted as whole values (window_sealing.h). When evicted, entries are read back before they go on changing, so that memory overrides; rows
//    wait for that, so that many entries are read at a time, in key order.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_SLICES_H
#define TIDE_ENGINE_OPERATORS_WINDOW_SLICES_H

#include "engine/aggregates/aggregate.h"
#include "engine/operators/window.h"
#include "engine/operators/window_assign.h"
#include "engine/operators/window_known.h"
#include "engine/operators/window_merge.h"
#include "engine/operators/window_running.h"
#include "engine/operators/window_sealing.h"
#include "engine/operators/window_top.h"

enum { FROZEN_MAX = 15 };

struct slice {
    int64_t start, end;
    int64_t next_end, last_end;  // of the windows that have not fired
    bool replacing;
    bool evicted;             // the state table holds entries that memory does not
    bool in_state;            // something was submitted: drop the range at the end
    bool in_running;          // what it holds is in the running window too
    struct memtable *active;  // NULL: empty
    struct memtable *frozen[FROZEN_MAX + 1];
    uint32_t frozen_count;
    struct memtable *united;  // being made of frozen[unite_first, unite_end); NULL: none
    uint32_t unite_first, unite_end;
    uint32_t unite_table;  // where it has come to
    struct memtable_cursor unite_cursor;
    struct memtable_entry **dirty;  // replacing: changed since the last barrier; their flags are `mark`
    size_t dirty_count, dirty_cap;
    uint32_t mark;                   // another after each barrier; 0: nothing was changed yet
    struct window_sealing *sealing;  // of the last barrier, if it may not be through; NULL: none
    struct window_known *known;      // replacing and evicted: keys that the state table may hold; NULL: any
    struct memtable_entry **sorted;  // the active table in key order, as long as no key is added
    size_t sorted_count;
};

// Rows of slices whose entries must be read back first (window_waiting.c).
struct window_waiting {
    struct arena arena;  // copies of what the aggregates need of them
    struct waiting_rows *first, *last;
    uint8_t *is_used;  // a flag an input column, of the first ones: some aggregate needs it
    size_t column_count, column_cap;
    size_t charged;  // bytes
};

struct window_aggregate {
    struct window_operator base;
    const struct plan_window_aggregate *plan;
    const struct plan_node *node;
    struct memory_budget *budget;
    struct late_sink *late;
    size_t batch_rows_max;
    bool skip_null_time;  // batch mode; otherwise a NULL time fails
    struct window_cut cut;
    bool proctime;             // the clock at the arrival of a batch is the rows' time, and fires windows
    struct arena *plan_arena;  // outlives the store, which borrows the description of the state table
    struct arena scratch;      // one call
    struct arena output;       // one emitted batch
    struct aggregators aggregators;
    struct aggregators outputs;  // without a hidden COUNT(*)
    bool runs;                   // HOP with a running window
    bool pieces;                 // large groups go to the state table in pieces
    struct window_running running;
    struct window_waiting waiting;
    struct window_top top;   // the Top-N above
    size_t groups_expected;  // in a new slice: what the last one had

    struct slice **slices;  // ascending by (end, start)
    size_t slice_count, slice_cap;
    struct slice *last;  // the one found last

    struct state_store *store;
    struct state_table *table;
    bool used_state;

    // One batch of groups on its way out.
    struct str *group_keys;
    unsigned char **group_payloads;
};

// --- window_slices.c
// Where rows of this time go: an open slice (made if need be), or NULL with *out_late if its windows have all fired, NULL
// without if no window contains it.
struct slice *tide__slice_for_time(struct window_aggregate *w, int64_t local, bool *out_late);
struct slice *tide__slice_for_bounds(struct window_aggregate *w, struct slice_bounds bounds);
struct slice *tide__slice_find(const struct window_aggregate *w, int64_t start, int64_t end);
// Removes slices [0, count) and all that they hold, also in the state table.
tide_status tide__slices_drop(struct window_aggregate *w, size_t index, size_t count, tide_error *err) TIDE_CHECKED;
void tide__slice_clear(struct slice *slice);  // memory, not state
// The active table, which the slice forgets together with what belongs to it. NULL if there is none.
struct memtable *tide__slice_take_active(struct slice *slice);
void tide__slice_free(struct slice *slice);
struct memtable *tide__slice_active(struct window_aggregate *w, struct slice *slice);
// Entries of n keys in the active table, ready to be updated: read back if the slice was evicted (and they were not added by
// then), marked if replacing.
tide_status tide__slice_upsert(struct window_aggregate *w, struct slice *slice, const struct str *keys,
                               const uint64_t *hashes, size_t n, struct memtable_entry **out_entries,
                               tide_error *err) TIDE_CHECKED;
// Adds the slice's parts to a merge, in folding order.
tide_status tide__slice_add_parts(struct window_aggregate *w, struct slice *slice, struct window_merge *merge,
                                  tide_error *err) TIDE_CHECKED;
size_t tide__slice_bytes(const struct slice *slice);
// Replacing: the entries, which have not been changed yet, will be.
void tide__slice_mark_dirty(struct slice *slice, struct memtable_entry *const *entries, size_t n);
// Holds the background thread off the entries, if it is at them; lets it go on.
bool tide__slice_lock_entries(struct slice *slice);
void tide__slice_unlock_entries(struct slice *slice, bool is_locked);

// --- window_unite.c
// Appends a frozen table to the slice's.
void tide__slice_add_frozen(struct window_aggregate *w, struct slice *slice, struct memtable *table);
// Goes on uniting the slice's frozen tables, if there is a need: some entries for each of the rows that have come.
void tide__slice_unite(struct window_aggregate *w, struct slice *slice, size_t rows);
// Before frozen tables are taken away.
void tide__slice_stop_uniting(struct slice *slice);

// --- window_waiting.c
void tide__window_waiting_init(struct window_aggregate *w);
void tide__window_waiting_deinit(struct window_aggregate *w);
// Rows of one slice, and the keys of their groups.
struct slice_rows {
    uint32_t *rows;  // numbers in the batch
    struct str *keys;
    uint64_t *hashes;
    size_t n;
};
// Keeps the rows whose groups must be read back for later. Those that can be added now are left in *rows.
void tide__window_wait(struct window_aggregate *w, struct slice *slice, const struct batch *batch,
                       struct slice_rows *rows);
bool tide__window_waiting_is_full(const struct window_aggregate *w);
// Adds all rows that wait. Before whoever looks at what slices hold. Resets the scratch arena.
tide_status tide__window_waiting_add(struct window_aggregate *w, tide_error *err) TIDE_CHECKED;

// --- window_fire.c
tide_status tide__window_fire(struct window_aggregate *w, int64_t watermark, struct emitter *out,
                              tide_error *err) TIDE_CHECKED;

// The running window gives way to a merge of slices.
void tide__window_stop_running(struct window_aggregate *w);

// --- window_state.c
tide_status tide__window_register(struct window_aggregate *w, tide_error *err) TIDE_CHECKED;
tide_status tide__window_barrier(struct window_aggregate *w, tide_error *err) TIDE_CHECKED;
size_t tide__window_shrink(struct window_aggregate *w, size_t bytes, tide_error *err);
// Before a slice is folded that may have groups in pieces: what memory has of it joins them.
tide_status tide__window_evict_rest(struct window_aggregate *w, struct slice *slice, tide_error *err) TIDE_CHECKED;
tide_status tide__window_restore(struct window_aggregate *w, tide_error *err) TIDE_CHECKED;
tide_status tide__window_open_range(struct window_aggregate *w, const struct slice *slice, struct state_iter **out_iter,
                                    tide_error *err) TIDE_CHECKED;
tide_status tide__window_drop_range(struct window_aggregate *w, const struct slice *slice,
                                    tide_error *err) TIDE_CHECKED;
// Values of n new entries of the active table from the state table.
tide_status tide__window_read_back(struct window_aggregate *w, const struct slice *slice,
                                   struct memtable_entry *const *entries, size_t n, tide_error *err) TIDE_CHECKED;
// The first slice of a CUMULATE window becomes its running total: from adding to replacing.
tide_status tide__window_make_total(struct window_aggregate *w, struct slice *slice, tide_error *err) TIDE_CHECKED;

#endif
