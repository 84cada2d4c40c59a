// Groups of windows that have ended: where one of the keys is the time of a window (early results of group windows), no row can come
// to a group any more once the watermark is `lateness` past it, for such rows are dropped before. The group goes then, silently: what
// it gave out stays. Groups are looked through when the watermark passes the earliest of their ends; the table of groups is made anew
// when most of its entries are dead.
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/operators/group_rows.h"

#include <string.h>

enum { DEAD_MIN = 1024 };

static int64_t time_at(const struct column *column, size_t row) {
    return column->physical == PHYSICAL_TIME ? column->time[row].ms : column->i64[row];
}

void tide__group_note_ends(struct group_aggregate *op, const struct batch *batch) {
    if (!op->plan->expires) return;
    const struct column *times = &batch->columns[op->plan->keys[op->plan->time_key]];
    for (size_t i = 0; i < batch->rows; i++) {
        int64_t time = time_at(times, i);
        if (time < op->next_end) op->next_end = time;
    }
}

// The time of a group's window; WATERMARK_END if its key is damaged, which restoring has ruled out.
static int64_t end_of(struct group_aggregate *op, const struct group *group, struct column *columns) {
    struct str key = {group->key, group->key_len};
    for (uint32_t k = 0; k <= op->plan->time_key; k++)
        if (!tide__key_decode(&key, &op->output, &columns[k], 0)) return WATERMARK_END;
    return time_at(&columns[op->plan->time_key], 0);
}

static void let_go(struct group_aggregate *op, struct group *group) {
    group->rows = 0;
    tide__aggregators_release(group->accumulators, &op->aggregators);
    if (group->in_state) tide__group_mark_dirty(op, group);  // the next barrier deletes its entry
    op->dead++;
}

static void copy_group(struct group_aggregate *op, struct group *old, struct memtable *fresh) {
    struct str key = {old->key, old->key_len};
    struct memtable_entry *entry = tide__memtable_upsert(fresh, key, tide__hash_bytes(key.data, key.len), NULL);
    struct group *group = tide__memtable_payload(fresh, entry);
    memcpy(group, old, sizeof *group + op->aggregators.payload_size);
    group->key = tide__memtable_key(fresh, entry).data;
    // What the accumulators own has moved.
    memset(old->accumulators, 0, op->aggregators.payload_size);
}

// The dead that the state still has are kept until the next barrier. Memory that accumulators own is charged to the old table: what of
// it lives on is measured again as it changes.
static void compact(struct group_aggregate *op) {
    size_t count = tide__memtable_count(op->groups);
    if (op->dead < DEAD_MIN || op->dead * 2 < count || op->dirty_count > 0) return;
    struct memtable *fresh = tide__memtable_new(op->env.budget, sizeof(struct group) + op->aggregators.payload_size);
    tide__group_own(op, fresh);
    struct memtable_entry *const *entries = tide__memtable_entries(op->groups);
    for (size_t i = 0; i < count; i++) {
        struct group *group = tide__memtable_payload(op->groups, entries[i]);
        if (group->rows != 0) copy_group(op, group, fresh);
    }
    tide__memtable_release(op->groups);
    op->groups = fresh;
    op->dead = 0;
}

void tide__group_expire(struct group_aggregate *op, int64_t watermark) {
    if (!op->plan->expires || op->next_end == WATERMARK_END || watermark == WATERMARK_NONE) return;
    int64_t last = watermark - op->plan->lateness_ms;
    if (op->next_end > last) return;
    tide__arena_reset(&op->output);
    struct column *columns = ARENA_ARRAY(&op->output, struct column, op->plan->key_count);
    for (uint32_t k = 0; k < op->plan->key_count; k++)
        tide__column_init(&columns[k], op->base.node->fields[k].type, 1, 1, &op->output);
    op->next_end = WATERMARK_END;
    size_t count = tide__memtable_count(op->groups);
    struct memtable_entry *const *entries = tide__memtable_entries(op->groups);
    for (size_t i = 0; i < count; i++) {
        struct group *group = tide__memtable_payload(op->groups, entries[i]);
        if (group->rows == 0) continue;
        int64_t end = end_of(op, group, columns);
        if (end <= last)
            let_go(op, group);
        else if (end < op->next_end)
            op->next_end = end;
    }
    compact(op);
}
