// Groups of windows that have ended: where one of the keys is the time of a window (early results of group windows), no row can come
// to a group any more once the watermark is `lateness` past it, for such rows are dropped before. The group goes then, silently: what
// it gave out stays. Groups are looked through when the watermark passes the earliest of their ends, those that are in the state table
// only as well; the dead are swept out of memory when they are most of what is there.
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
static int64_t end_of(struct group_aggregate *op, struct str key, struct column *columns) {
    for (uint32_t k = 0; k <= op->plan->time_key; k++)
        if (!tide__key_decode(&key, &op->scratch, &columns[k], 0)) return WATERMARK_END;
    return time_at(&columns[op->plan->time_key], 0);
}

static void let_go(struct group_aggregate *op, struct group *group) {
    group->rows = 0;
    tide__aggregators_release(group->accumulators, &op->aggregators);
    if (group->in_state) tide__keyed_mark_dirty(&op->groups, group);  // the next barrier deletes its entry
    op->dead++;
}

// A look through all groups.
struct look {
    struct group_aggregate *op;
    struct column *columns;  // room for a key
    int64_t last;            // ends that have passed
};

static void expire_group(void *ctx, void *payload) {
    struct look *look = ctx;
    struct group_aggregate *op = look->op;
    struct group *group = payload;
    if (group->rows == 0) return;
    int64_t end = end_of(op, (struct str){group->key, group->key_len}, look->columns);
    if (end <= look->last)
        let_go(op, group);
    else if (end < op->next_end)
        op->next_end = end;
}

static bool is_dead(void *ctx, const void *payload) {
    (void)ctx;
    const struct group *group = payload;
    return group->rows == 0 && group->pending == 0;
}

// The dead that the state still has are kept until the next barrier.
static void sweep(struct group_aggregate *op) {
    if (op->dead < DEAD_MIN || op->dead * 2 < tide__keyed_count(&op->groups) || op->groups.dirty_count > 0) return;
    tide__keyed_sweep(&op->groups, is_dead, NULL);
    op->dead = 0;
}

// The groups that are in the state table only. What was let go in memory is deleted there by now.
static tide_status expire_entries(struct look *look, tide_error *err) {
    struct group_aggregate *op = look->op;
    tide__group_put_dirty(op);
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, value;
    while (tide__state_iter_next(iter, &key, &value)) {
        int64_t end = end_of(op, key, look->columns);
        if (end <= look->last)
            tide__state_delete(op->table, key);
        else if (end < op->next_end)
            op->next_end = end;
        tide__arena_reset(&op->scratch);
    }
    return tide__state_iter_close(iter, err);
}

tide_status tide__group_expire(struct group_aggregate *op, int64_t watermark, tide_error *err) {
    if (!op->plan->expires || op->next_end == WATERMARK_END || watermark == WATERMARK_NONE) return TIDE_OK;
    struct look look = {.op = op, .last = watermark - op->plan->lateness_ms};
    if (op->next_end > look.last) return TIDE_OK;
    tide__arena_reset(&op->output);
    look.columns = ARENA_ARRAY(&op->output, struct column, op->plan->key_count);
    for (uint32_t k = 0; k < op->plan->key_count; k++)
        tide__column_init(&look.columns[k], op->base.node->fields[k].type, 1, 1, &op->output);
    op->next_end = WATERMARK_END;
    tide__keyed_each(&op->groups, expire_group, &look);
    if (op->groups.spilled) TIDE_TRY(expire_entries(&look, err));
    sweep(op);
    return TIDE_OK;
}
