// The partitions of OVER and their frames.
//
//   rows of a partition   ... a b c d e f      the last rows, kept as far back as a frame or LAG can reach
//                               [ in_frame ]   those in the accumulators: d e f come in at the end, b leaves at the front
//
// Unbounded frames keep no rows (but for LAG), only accumulators. A row that leaves a bounded frame is decoded and
// retracted, as Flink does it, so that rounding is the same.
#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/over_rows.h"
#include "engine/operators/window_assign.h"

#include <assert.h>
#include <string.h>

enum { ARRIVAL_BYTES = 8 };

void tide__over_group_free(void *payload, void *ctx) {
    struct over *op = ctx;
    struct over_group *group = payload;
    for (uint32_t i = 0; i < group->count; i++) tide__ranked_free(&op->ranker, group->rows[group->first + i]);
    tide__budget_release(op->env.budget, group->capacity * sizeof *group->rows);
    tide__free(group->rows);
    tide__aggregators_release(group->accumulators, &op->aggregators);
}

tide_status tide__over_groups(struct over *op, const struct str *keys, size_t n, struct over_group ***out_groups,
                              tide_error *err) {
    uint64_t *hashes = tide__arena_alloc(&op->scratch, n * sizeof *hashes);
    void **payloads = tide__arena_alloc(&op->scratch, n * sizeof *payloads);
    for (size_t i = 0; i < n; i++) hashes[i] = tide__hash_bytes(keys[i].data, keys[i].len);
    TIDE_TRY(tide__keyed_find(&op->groups, keys, hashes, n, &op->scratch, payloads, err));
    struct over_group **groups = tide__arena_alloc(&op->scratch, n * sizeof(struct over_group *));
    for (size_t i = 0; i < n; i++) groups[i] = payloads[i];
    *out_groups = groups;
    return TIDE_OK;
}

void tide__over_group_push(struct over *op, struct over_group *group, struct ranked_row *row) {
    if (group->first > 0 && group->first + group->count == group->capacity) {
        memmove(group->rows, group->rows + group->first, group->count * sizeof *group->rows);
        group->first = 0;
    }
    size_t capacity = group->capacity;
    group->rows = tide__grow(group->rows, &capacity, group->first + group->count + 1, sizeof *group->rows);
    tide__budget_charge(op->env.budget, (capacity - group->capacity) * sizeof *group->rows);
    group->capacity = (uint32_t)capacity;
    group->rows[group->first + group->count++] = row;
}

// Lets rows go that nobody can reach any more.
static void trim(struct over *op, struct over_group *group) {
    uint32_t wanted = group->in_frame > op->lag ? group->in_frame : op->lag;
    while (group->count > wanted) {
        struct ranked_row *row = group->rows[group->first++];
        group->count--;
        tide__over_state_left(op, group, row);
        tide__ranked_free(&op->ranker, row);
    }
}

static tide_status decode_one(struct over *op, const struct ranked_row *row, tide_error *err) {
    if (tide__row_decode(tide__ranked_bytes(row), op->one.columns, op->fields, 0)) return TIDE_OK;
    return tide__fail_at(err, TIDE_ERR_SAVEPOINT, op->base.node->pos, "a row in the state of %s is damaged",
                         op->base.node->operator_id);
}

// --- the frame --------------------------------------------------------------------------------------------------------------

static tide_status leave_frame(struct over *op, struct over_group *group, tide_error *err) {
    TIDE_TRY(decode_one(op, group->rows[group->first + group->count - group->in_frame], err));
    unsigned char *payload = group->accumulators;
    uint32_t row = 0;
    int64_t charge = 0;
    if (op->aggregators.count > 0)
        charge = tide__aggregators_retract(&op->aggregators, &op->one, &payload, &row, 1, &op->scratch);
    tide__keyed_charge(&op->groups, charge);
    group->in_frame--;
    return TIDE_OK;
}

// The sort column of a bounded RANGE as a number that grows in rank order: the last one of the key, before the arrival number.
static uint64_t range_position(const struct over *op, const struct ranked_row *row) {
    const struct sort_key *sort = &op->plan->sorts[0];
    bool wide = tide__type_physical(op->base.node->inputs[0]->fields[sort->column].type) == PHYSICAL_TIME;
    size_t behind = ARRIVAL_BYTES + (wide ? 12 : 8);
    uint64_t position = 0;
    if (row->key_len >= behind) memcpy(&position, row->bytes + row->key_len - behind, 8);
    return __builtin_bswap64(position);
}

// Lets the rows go that the frame of `row`, which comes next, does not reach. Before it enters, as in Flink: the order of
// subtracting and adding shows in DOUBLE sums.
static tide_status shrink_frame(struct over *op, struct over_group *group, const struct ranked_row *row,
                                tide_error *err) {
    int64_t preceding = op->plan->preceding;
    while (group->in_frame > 0) {
        const struct ranked_row *oldest = group->rows[group->first + group->count - group->in_frame];
        bool reached = op->plan->rows ? (int64_t)group->in_frame <= preceding
                                      : range_position(op, row) - range_position(op, oldest) <= (uint64_t)preceding;
        if (reached) break;
        TIDE_TRY(leave_frame(op, group, err));
    }
    return TIDE_OK;
}

static void enter_frame(struct over *op, struct over_group *group, const struct batch *batch, uint32_t row) {
    unsigned char *payload = group->accumulators;
    if (op->aggregators.count > 0)
        tide__keyed_charge(&op->groups,
                           tide__aggregators_update(&op->aggregators, batch, &payload, &row, 1, &op->scratch));
    if (op->bounded) group->in_frame++;
}

// --- results ------------------------------------------------------------------------------------------------------------------

static void copy_value(const struct column *from, size_t from_row, struct column *to, size_t to_row,
                       struct arena *arena) {
    size_t size = tide__physical_size(to->physical);
    to->nulls[to_row] = (uint8_t)tide__column_is_null(from, from_row);
    memcpy((char *)to->data + to_row * size, (const char *)from->data + from_row * size, size);
    if (to->physical != PHYSICAL_STR || to->nulls[to_row] || to->str[to_row].len == 0) return;
    struct str s = to->str[to_row];
    to->str[to_row].data = memcpy(tide__arena_alloc(arena, s.len), s.data, s.len);
}

static void put_constant(const struct value *value, struct column *to, size_t row) {
    to->nulls[row] = value->is_null;
    switch (to->physical) {
    case PHYSICAL_BOOL: to->bools[row] = !value->is_null && value->boolean; break;
    case PHYSICAL_I64: to->i64[row] = value->is_null ? 0 : value->i64; break;
    case PHYSICAL_F64: to->f64[row] = value->is_null ? 0 : value->f64; break;
    case PHYSICAL_I128: to->i128[row] = value->is_null ? 0 : value->i128; break;
    case PHYSICAL_STR: to->str[row] = value->is_null ? (struct str){0} : value->str; break;
    case PHYSICAL_TIME: to->time[row] = value->is_null ? (struct timestamp){0} : value->time; break;
    }
}

static tide_status put_lag(struct over *op, const struct over_group *group, const struct over_call *call,
                           const struct over_turn *turn, uint32_t row, struct column *to, tide_error *err) {
    if (call->offset == 0) {
        copy_value(&turn->batch.columns[call->column], row, to, row, &op->scratch);
        return TIDE_OK;
    }
    // The row itself is not among the kept ones yet.
    if (call->offset > group->count) {
        put_constant(&call->fallback, to, row);
        return TIDE_OK;
    }
    TIDE_TRY(decode_one(op, group->rows[group->first + group->count - (uint32_t)call->offset], err));
    copy_value(&op->one.columns[call->column], 0, to, row, &op->scratch);
    return TIDE_OK;
}

// All but the aggregates: they do not depend on peers to come.
static tide_status put_numbers(struct over *op, const struct over_group *group, const struct over_turn *turn,
                               uint32_t row, tide_error *err) {
    for (uint32_t c = 0; c < op->plan->call_count; c++) {
        const struct over_call *call = &op->plan->calls[c];
        struct column *to = &turn->results[c];
        switch (call->kind) {
        case OVER_CALL_AGGREGATE: break;
        case OVER_CALL_ROW_NUMBER: to->i64[row] = group->row_number; break;
        case OVER_CALL_RANK: to->i64[row] = group->rank; break;
        case OVER_CALL_DENSE_RANK: to->i64[row] = group->dense_rank; break;
        case OVER_CALL_LEAD:
        case OVER_CALL_NTILE:
        case OVER_CALL_PERCENT_RANK:
        case OVER_CALL_CUME_DIST: assert(false && "see over_partition.c"); break;
        case OVER_CALL_LAG: TIDE_TRY(put_lag(op, group, call, turn, row, to, err)); break;
        }
    }
    return TIDE_OK;
}

static void put_aggregates(struct over *op, struct over_group *group, const struct over_turn *turn, uint32_t row) {
    if (op->aggregators.count == 0) return;
    struct column *results = ARENA_ARRAY(&op->scratch, struct column, op->aggregators.count);
    for (uint32_t a = 0; a < op->aggregators.count; a++)
        tide__column_init(&results[a], op->calls[a].type, 1, 1, &op->scratch);
    unsigned char *payload = group->accumulators;
    tide__aggregators_result(&op->aggregators, &payload, 1, results, &op->scratch);
    for (uint32_t c = 0, a = 0; c < op->plan->call_count; c++)
        if (op->plan->calls[c].kind == OVER_CALL_AGGREGATE)
            copy_value(&results[a++], 0, &turn->results[c], row, &op->scratch);
}

// Seen on Flink 2.3: on a stream RANK and DENSE_RANK are both the number of rows up to the last peer.
static void put_stream_ranks(const struct over *op, const struct over_group *group, const struct over_turn *turn,
                             uint32_t row) {
    for (uint32_t c = 0; c < op->plan->call_count; c++) {
        enum over_call_kind kind = op->plan->calls[c].kind;
        if (kind == OVER_CALL_RANK || kind == OVER_CALL_DENSE_RANK) turn->results[c].i64[row] = group->row_number;
    }
}

static tide_status enter(struct over *op, struct over_group *group, const struct over_turn *turn, uint32_t row,
                         tide_error *err) {
    group->row_number++;
    if (group->turn != op->turns) {
        group->turn = op->turns;
        group->rank = group->row_number;
        group->dense_rank++;
    }
    TIDE_TRY(put_numbers(op, group, turn, row, err));
    TIDE_TRY(shrink_frame(op, group, turn->rows[row], err));
    enter_frame(op, group, &turn->batch, row);
    tide__keyed_mark_dirty(&op->groups, group);
    if (!op->bounded && op->lag == 0) {
        tide__ranked_free(&op->ranker, turn->rows[row]);
        return TIDE_OK;
    }
    tide__over_group_push(op, group, turn->rows[row]);
    tide__over_state_entered(op, group, turn->rows[row]);
    trim(op, group);
    return TIDE_OK;
}

static bool are_peers(const struct ranked_row *a, const struct ranked_row *b) {
    if (a->key_len != b->key_len) return false;
    return memcmp(a->bytes, b->bytes, a->key_len - ARRIVAL_BYTES) == 0;
}

// Rows [from, to): one run of peers; `bytes` of freed rows may not be looked at, so the run's end was found before.
static tide_status run_peers(struct over *op, struct over_group *const *groups, const struct over_turn *turn,
                             uint32_t from, uint32_t to, tide_error *err) {
    bool together = !op->plan->rows && op->order != OVER_BY_ARRIVAL;
    op->turns++;
    for (uint32_t i = from; i < to; i++) {
        if (op->order == OVER_BY_ARRIVAL) op->turns++;
        TIDE_TRY(enter(op, groups[i], turn, i, err));
        if (!together) put_aggregates(op, groups[i], turn, i);
    }
    for (uint32_t i = from; i < to && together; i++) {
        put_aggregates(op, groups[i], turn, i);
        if (op->order == OVER_BY_TIME) put_stream_ranks(op, groups[i], turn, i);
    }
    return TIDE_OK;
}

tide_status tide__over_run(struct over *op, struct over_turn *turn, tide_error *err) {
    uint32_t rows = (uint32_t)turn->batch.rows;
    struct str *keys = tide__arena_alloc(&op->scratch, rows * sizeof *keys);
    tide__key_encode(&turn->batch, op->plan->partitions, op->plan->partition_count, (struct str){0}, &op->scratch,
                     keys);
    struct over_group **groups;
    TIDE_TRY(tide__over_groups(op, keys, rows, &groups, err));
    for (uint32_t from = 0, to; from < rows; from = to) {
        for (to = from + 1; to < rows && are_peers(turn->rows[to - 1], turn->rows[to]); to++) {}
        TIDE_TRY(run_peers(op, groups, turn, from, to, err));
    }
    return TIDE_OK;
}
