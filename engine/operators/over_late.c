// Which rows come too late for OVER and ORDER BY along event time.
//
// ORDER BY: those that are not younger than the last one that went out. An unbounded frame: those that the watermark has passed,
// whatever their partition. A bounded one goes by its partition, as in Flink
// (RowTime*BoundedPrecedingFunction): a row is late if one of its partition that is not older has had its turn; else it has its turn with
// the next watermark. A partition of a bounded RANGE is forgotten, rows and all, once the watermark is half a range behind all that
// its rows can reach, and then takes every row again. When that is, is set by a row that comes less than a range before:
//
//   forgotten_at = time + range * 1.5 + 1 ms,  unless the last one is at or behind time + range + 1 ms
//
// Flink takes the epoch for the time of a partition's last row if it has none, and so drops rows from before 1970; here they count
// (docs/flink-differences.md).
#include "engine/operators/over_rows.h"
#include "engine/operators/window_assign.h"

#include "base/checked.h"
#include "base/hash.h"
#include "engine/codec/key.h"

#include <string.h>

// Rows of a group are in order of time; the prefix of a row is its time, shifted so that numbers sort as unsigned ones.
static int64_t time_of(const struct ranked_row *row) {
    return (int64_t)(row->prefix ^ UINT64_C(0x8000000000000000));
}

static int64_t plus(int64_t time, int64_t distance) {
    return distance > INT64_MAX - 1 - time && time > 0 ? INT64_MAX - 1 : time + distance;
}

static void forget(struct over *op, struct over_group *group) {
    for (uint32_t i = 0; i < group->count; i++) {
        struct ranked_row *row = group->rows[group->first + i];
        tide__over_state_left(op, group, row);
        tide__ranked_free(&op->ranker, row);
    }
    group->first = group->count = group->in_frame = 0;
    group->row_number = 0;
    tide__aggregators_release(group->accumulators, &op->aggregators);
    memset(group->accumulators, 0, op->aggregators.payload_size);
}

static void set_forgotten_at(struct over *op, struct over_group *group, int64_t time) {
    int64_t range = op->plan->preceding;
    if (group->forgotten_at >= plus(plus(time, range), 1)) return;
    group->forgotten_at = plus(plus(time, range), (int64_t)((double)range * 1.5) - range + 1);
    tide__keyed_mark_dirty(&op->groups, group);
}

bool tide__over_goes_by_partition(const struct over *op) {
    return op->bounded && op->order == OVER_BY_TIME && op->env.node->kind == PLAN_OVER;
}

static bool takes(struct over *op, struct over_group *group, int64_t time) {
    bool range = !op->plan->rows;
    if (range && group->forgotten_at <= op->base.watermark) {
        if (group->forgotten_at != WATERMARK_NONE) forget(op, group);
        group->forgotten_at = WATERMARK_NONE;
    }
    const struct ranked_row *last = group->count > 0 ? group->rows[group->first + group->count - 1] : NULL;
    if (last != NULL && time <= time_of(last)) return false;
    if (range) set_forgotten_at(op, group, time);
    return true;
}

tide_status tide__over_find_late(struct over *op, const struct batch *batch, const int64_t *times, bool *late,
                                 tide_error *err) {
    // A late row does not go back behind one that went out: it has its turn with the next watermark.
    int64_t bound = op->env.node->kind == PLAN_SORT ? op->last_time : op->base.watermark;
    for (size_t i = 0; i < batch->rows; i++) late[i] = times[i] <= bound;
    if (!tide__over_goes_by_partition(op)) return TIDE_OK;
    struct str *keys = tide__arena_alloc(&op->scratch, batch->rows * sizeof *keys);
    tide__key_encode(batch, op->plan->partitions, op->plan->partition_count, (struct str){0}, &op->scratch, keys);
    // A row of ROWS that the watermark has not passed is not late: all that had their turn are older.
    size_t *asked = tide__arena_alloc(&op->scratch, batch->rows * sizeof *asked), count = 0;
    for (size_t i = 0; i < batch->rows; i++) {
        if (op->plan->rows && !late[i]) continue;
        keys[count] = keys[i];
        asked[count++] = i;
    }
    struct over_group **groups;
    TIDE_TRY(tide__over_groups(op, keys, count, &groups, err));
    for (size_t i = 0; i < count; i++) late[asked[i]] = !takes(op, groups[i], times[asked[i]]);
    return TIDE_OK;
}
