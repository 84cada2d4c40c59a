// What the files of the group aggregate share: group_aggregate.c (the operator), group_rounds.c (a batch row by row, but
// vectorised), group_state.c (the cache of groups, barriers, restoring), group_final.c (batch mode), group_expiry.c (windows that end),
// group_bundle*.c (mini-batches).
#ifndef TIDE_ENGINE_OPERATORS_GROUP_ROWS_H
#define TIDE_ENGINE_OPERATORS_GROUP_ROWS_H

#include "engine/aggregates/aggregate.h"
#include "engine/operator.h"
#include "engine/operators/keyed_cache.h"

// One group: the head of its payload, the accumulators lie behind it.
struct group {
    int64_t rows;       // accumulated minus retracted; 0: the group is not there
    uint64_t batch;     // number of the last batch that had a row of it
    uint32_t last_row;  // of that batch
    uint32_t key_len;
    const char *key;
    uint32_t dirty;  // tide__keyed_mark_dirty: changed since it was written
    bool in_state;
    uint32_t pending;  // 1 + its place in the bundle; 0: all its changes have gone out
    _Alignas(16) unsigned char accumulators[];
};

// A group whose changes are held back.
struct bundle_entry {
    struct group *group;
    struct str before;  // its results that went out last, as a row; in the bundle's arena
    uint64_t part;      // the last one that had a row of it
    bool was_there, in_state;
};

struct group_bundle {
    struct bundle_entry *entries;  // in the order in which the groups came
    size_t count, capacity;
    bool has_parts;
    uint64_t part;                             // number
    int64_t part_rows, part_groups, elements;  // elements: what ended parts have handed on
    int64_t since_ms;                          // when its first row came, wall clock
    struct arena arena;
    struct state_table *table;
    struct state_table_desc desc;
};

struct group_aggregate {
    struct operator base;
    const struct plan_group_aggregate *plan;
    struct operator_env env;
    struct aggregators aggregators;
    struct keyed_cache groups;  // key -> struct group
    uint64_t batches;
    int64_t next_end;  // of the groups' windows, where they expire
    size_t dead;       // groups that have expired since they were swept
    struct state_table *table;
    struct state_table_desc desc;
    struct arena arena;    // aggregators, descriptors
    struct arena scratch;  // of one batch
    struct arena output;
    struct strbuf value;
    struct group_bundle bundle;
};

// What became of the rows of a batch. Columns have 2 * rows places: the result after row i stands at i, the one
// before it at before[i] (it is that of the group's last row in the batch, or one of the places behind `rows`).
struct group_results {
    struct column *columns;
    uint32_t *before;
    uint8_t *was_there, *is_there;  // did the group have rows before row i, has it after?
};
// The groups of a batch's rows; the array lives in op->scratch.
tide_status tide__group_of_rows(struct group_aggregate *op, const struct batch *batch, struct group ***out_groups,
                                tide_error *err) TIDE_CHECKED;
static inline bool group_row_takes_back(const struct batch *batch, uint32_t row) {
    return batch->kinds != NULL && (batch->kinds[row] == ROW_UPDATE_BEFORE || batch->kinds[row] == ROW_DELETE);
}
// Adds the rows of a batch to their groups. Everything lives in op->scratch.
tide_status tide__group_rounds(struct group_aggregate *op, const struct batch *batch, struct group_results *out,
                               tide_error *err) TIDE_CHECKED;

// Emits what has changed: keys are the batch's, row by row.
tide_status tide__group_emit_changes(struct group_aggregate *op, const struct batch *batch,
                                     const struct group_results *results, struct emitter *out,
                                     tide_error *err) TIDE_CHECKED;

// --- group_final.c: batch mode
// Lets the results of all groups out, in the order of their keys.
tide_status tide__group_emit_all(struct group_aggregate *op, struct emitter *out, tide_error *err) TIDE_CHECKED;

// --- group_expiry.c: groups of windows that end
void tide__group_note_ends(struct group_aggregate *op, const struct batch *batch);
// Lets groups go that no row can reach any more.
tide_status tide__group_expire(struct group_aggregate *op, int64_t watermark, tide_error *err) TIDE_CHECKED;

// --- mini-batches
void tide__bundle_open(struct group_aggregate *op);
tide_status tide__bundle_add(struct group_aggregate *op, const struct batch *batch, struct emitter *out,
                             tide_error *err) TIDE_CHECKED;
// No row has come for a while.
tide_status tide__bundle_tick(struct group_aggregate *op, struct emitter *out, tide_error *err) TIDE_CHECKED;
// Lets all held changes out.
tide_status tide__bundle_flush(struct group_aggregate *op, struct emitter *out, tide_error *err) TIDE_CHECKED;
void tide__bundle_close(struct group_aggregate *op);
tide_status tide__bundle_state_open(struct group_aggregate *op, tide_error *err) TIDE_CHECKED;
void tide__bundle_barrier(struct group_aggregate *op);
// Groups whose changes are held back stay in memory.
void tide__bundle_keep(struct group_aggregate *op);
void tide__bundle_forget(struct group_aggregate *op, const struct bundle_entry *entry);  // in the state
void tide__bundle_save(struct operator *base, struct strbuf *out);
// After the groups.
tide_status tide__bundle_restore(struct group_aggregate *op, struct str saved, tide_error *err) TIDE_CHECKED;

tide_status tide__group_state_open(struct group_aggregate *op, tide_error *err) TIDE_CHECKED;
// Puts the groups that changed.
void tide__group_put_dirty(struct group_aggregate *op);
// While restoring: the group, which may not have been restored for want of room.
tide_status tide__group_restored(struct group_aggregate *op, struct str key, struct group **out_group,
                                 tide_error *err) TIDE_CHECKED;
// A value of the state into a zeroed group. False if it is damaged.
bool tide__group_decode(struct group_aggregate *op, struct str value, struct group *group, int64_t *charge);
tide_status tide__group_damaged(const struct group_aggregate *op, tide_error *err);
tide_status tide__group_barrier(struct operator *base, tide_error *err) TIDE_CHECKED;
size_t tide__group_shrink(struct operator *base, size_t bytes, tide_error *err);
tide_status tide__group_restore(struct operator *base, struct str saved, tide_error *err) TIDE_CHECKED;

#endif
