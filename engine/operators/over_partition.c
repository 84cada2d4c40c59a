// OVER in batch mode with all of a partition at hand: frames that reach forward, LEAD, NTILE, PERCENT_RANK, CUME_DIST. What goes
// along the rows in one direction is over.c's.
//
// Rows are kept in the form and the state of the regular Top-N (rank_rows.h). When the input ends, partitions go out in the
// order of their keys. A frame that moves is added up anew for each row, as in Flink, so that rounding is the same.
#include "engine/operators/over_partition.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/aggregates/aggregate.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/over_rows.h"
#include "engine/operators/rank_rows.h"

#include <assert.h>
#include <string.h>

enum { ARRIVAL_BYTES = 8 };

struct over_partition {
    struct rank rank;  // first: the Top-N's state works on it
    const struct plan_over *plan;
    struct aggregators aggregators;
    unsigned char *payload;
};

// A partition while its results are computed.
struct partition {
    struct ranked_row **rows;
    size_t count;
    struct batch batch;
    uint32_t *peer_start, *peer_end, *dense;  // of each row
    struct column *results;                   // one a call
};

static struct over_partition *self(struct operator *op) {
    return (struct over_partition *)op;
}

static void free_group(void *payload, void *ctx) {
    struct over_partition *op = ctx;
    tide__ranked_list_deinit(&((struct rank_group *)payload)->list, &op->rank.ranker);
}

static void close(struct operator *base) {
    struct over_partition *op = self(base);
    struct rank *rank = &op->rank;
    tide__rank_state_close(rank);
    tide__ranker_deinit(&rank->ranker);
    tide__strbuf_deinit(&rank->key);
    tide__strbuf_deinit(&rank->value);
    tide__arena_deinit(&rank->arena);
    tide__arena_deinit(&rank->scratch);
    tide__free(op);
}

static tide_status open_parts(struct over_partition *op, tide_error *err) {
    struct rank *rank = &op->rank;
    const struct plan_over *plan = op->plan;
    struct plan_rank *keeper = ARENA_NEW(&rank->arena, struct plan_rank);
    *keeper = (struct plan_rank){.partition_count = plan->partition_count,
                                 .partitions = plan->partitions,
                                 .sort_count = plan->sort_count,
                                 .sorts = plan->sorts,
                                 .rank_first = 1,
                                 .rank_last = INT64_MAX / 4,
                                 .input_updates = true};
    rank->plan = keeper;
    rank->last = (uint64_t)keeper->rank_last;
    tide__ranker_init(&rank->ranker, plan->sorts, plan->sort_count, TIE_FIRST_ARRIVED, rank->env.budget);
    struct aggregate_call *calls = ARENA_ARRAY(&rank->arena, struct aggregate_call, plan->call_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->call_count; i++)
        if (plan->calls[i].kind == OVER_CALL_AGGREGATE) calls[count++] = plan->calls[i].aggregate;
    TIDE_TRY(tide__aggregators_bind(&op->aggregators, calls, count, false, &rank->arena, err));
    op->payload = tide__arena_zalloc(&rank->arena, op->aggregators.payload_size + 16);
    return tide__rank_state_open(rank, sizeof(struct rank_group), free_group, err);
}

tide_status tide__over_partition_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct over_partition *op = tide__calloc(1, sizeof *op);
    op->plan = &env->node->over;
    op->rank.env = *env;
    op->rank.head.base.node = env->node;
    op->rank.head.class = &tide__over_partition_class;
    op->rank.fields = env->node->inputs[0]->field_count;
    tide__arena_init(&op->rank.arena);
    tide__arena_init(&op->rank.scratch);
    tide_status status = open_parts(op, err);
    if (status != TIDE_OK) {
        close(&op->rank.head.base);
        return status;
    }
    *out = &op->rank.head.base;
    return TIDE_OK;
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    (void)out;
    (void)err;
    struct rank *rank = &self(base)->rank;
    const struct plan_over *plan = self(base)->plan;
    tide__arena_reset(&rank->scratch);
    uint64_t *prefixes = tide__arena_alloc(&rank->scratch, batch->rows * sizeof *prefixes);
    tide__ranker_prefixes(&rank->ranker, batch, prefixes);
    struct str *keys = tide__arena_alloc(&rank->scratch, batch->rows * sizeof *keys);
    tide__key_encode(batch, plan->partitions, plan->partition_count, (struct str){0}, &rank->scratch, keys);
    for (size_t i = 0; i < batch->rows; i++) {
        struct rank_group *group = tide__rank_group(rank, keys[i]);
        struct str key = tide__ranker_key(&rank->ranker, batch, i, rank->ranker.arrival++);
        struct ranked_at at = tide__ranked_list_find(&group->list, prefixes[i], key);
        struct ranked_row *row = tide__ranked_new(&rank->ranker, batch, i, prefixes[i]);
        tide__ranked_list_insert(&group->list, at, row, rank->env.budget);
        tide__rank_state_entered(rank, group, row);
    }
    return TIDE_OK;
}

// --- a partition ------------------------------------------------------------------------------------------------------------

static tide_status decode(struct over_partition *op, struct partition *p, tide_error *err) {
    const struct plan_node *node = op->rank.head.base.node;
    struct arena *arena = &op->rank.scratch;
    p->batch = (struct batch){.rows = p->count, .column_count = op->rank.fields};
    p->batch.columns = ARENA_ARRAY(arena, struct column, op->rank.fields + 1);
    for (uint32_t f = 0; f < op->rank.fields; f++)
        tide__column_init(&p->batch.columns[f], node->inputs[0]->fields[f].type, p->count, 1, arena);
    for (size_t i = 0; i < p->count; i++) {
        if (!tide__row_decode(tide__ranked_bytes(p->rows[i]), p->batch.columns, op->rank.fields, i))
            return tide__fail_at(err, TIDE_ERR_SAVEPOINT, node->pos, "a row in the state of %s is damaged",
                                 node->operator_id);
    }
    return TIDE_OK;
}

static bool are_peers(const struct ranked_row *a, const struct ranked_row *b) {
    return a->key_len == b->key_len && memcmp(a->bytes, b->bytes, a->key_len - ARRIVAL_BYTES) == 0;
}

static void find_peers(struct over_partition *op, struct partition *p) {
    struct arena *arena = &op->rank.scratch;
    p->peer_start = tide__arena_alloc(arena, (p->count + 1) * sizeof *p->peer_start);
    p->peer_end = tide__arena_alloc(arena, (p->count + 1) * sizeof *p->peer_end);
    p->dense = tide__arena_alloc(arena, (p->count + 1) * sizeof *p->dense);
    uint32_t dense = 0;
    for (uint32_t first = 0, end; first < p->count; first = end) {
        for (end = first + 1; end < p->count && are_peers(p->rows[first], p->rows[end]);) end++;
        dense++;
        for (uint32_t i = first; i < end; i++) {
            p->peer_start[i] = first;
            p->peer_end[i] = end;
            p->dense[i] = dense;
        }
    }
}

// --- frames -----------------------------------------------------------------------------------------------------------------

struct frame {
    size_t from, to;  // rows [from, to)
};

static int64_t scaled(const struct type *type, int64_t distance) {
    for (int32_t i = 0; type->kind == TYPE_DECIMAL && i < type->scale; i++) distance *= 10;
    return distance;
}

// Does row `row` lie at least (or more than) `distance` behind row `at` along the sort column?
static bool lies_behind(const struct over_partition *op, const struct partition *p, size_t row, size_t at,
                        int64_t distance, bool strictly) {
    const struct sort_key *sort = &op->plan->sorts[0];
    const struct column *column = &p->batch.columns[sort->column];
    if (tide__column_is_null(column, row)) return sort->nulls_last;
    if (column->physical == PHYSICAL_F64) {
        double by = column->f64[row] - column->f64[at];
        if (sort->descending) by = -by;
        return strictly ? by > (double)distance : by >= (double)distance;
    }
    int64_t a = column->physical == PHYSICAL_TIME ? column->time[row].ms : column->i64[row];
    int64_t b = column->physical == PHYSICAL_TIME ? column->time[at].ms : column->i64[at];
    int128 by = sort->descending ? (int128)b - a : (int128)a - b;
    int128 limit = scaled(column->type, distance);
    return strictly ? by > limit : by >= limit;
}

static struct frame range_frame(const struct over_partition *op, const struct partition *p, size_t row, int64_t from,
                                int64_t to) {
    const struct plan_over *plan = op->plan;
    struct frame frame = {p->peer_start[row], p->peer_end[row]};
    bool null = plan->sort_count > 0 && tide__column_is_null(&p->batch.columns[plan->sorts[0].column], row);
    if (from != 0 && !null) {
        for (frame.from = 0; frame.from < p->count && !lies_behind(op, p, frame.from, row, from, false);) frame.from++;
    }
    if (to != 0 && !null) {
        for (frame.to = p->count; frame.to > 0 && lies_behind(op, p, frame.to - 1, row, to, true);) frame.to--;
    }
    return frame;
}

static size_t clamp(int64_t place, size_t count) {
    return place < 0 ? 0 : (uint64_t)place > count ? count : (size_t)place;
}

static struct frame frame_of(const struct over_partition *op, const struct partition *p, size_t row) {
    const struct plan_over *plan = op->plan;
    bool from_start = plan->general ? plan->from_start : plan->preceding < 0;
    bool to_end = plan->general && plan->to_end;
    int64_t from = from_start ? 0 : plan->general ? plan->from : -plan->preceding, to = plan->general ? plan->to : 0;
    struct frame frame;
    if (plan->rows) {
        frame = (struct frame){clamp((int64_t)row + from, p->count), clamp((int64_t)row + to + 1, p->count)};
    } else {
        frame = range_frame(op, p, row, from, to_end ? 0 : to);
    }
    if (from_start) frame.from = 0;
    if (to_end) frame.to = p->count;
    if (frame.to < frame.from) frame.to = frame.from;
    return frame;
}

// --- functions --------------------------------------------------------------------------------------------------------------

static void copy_value(struct over_partition *op, const struct column *from, size_t at, struct column *to, size_t row) {
    size_t size = tide__physical_size(to->physical);
    to->nulls[row] = (uint8_t)tide__column_is_null(from, at);
    if (to->nulls[row]) return;
    memcpy((char *)to->data + row * size, (const char *)from->data + at * size, size);
    if (to->physical == PHYSICAL_STR)  // the next row may free it
        to->str[row].data = tide__arena_strndup(&op->rank.scratch, from->str[at].data, from->str[at].len);
}

static void put_constant(const struct value *value, struct column *to, size_t row) {
    to->nulls[row] = value->is_null;
    if (value->is_null) return;
    switch (to->physical) {
    case PHYSICAL_BOOL: to->bools[row] = value->boolean; break;
    case PHYSICAL_I64: to->i64[row] = value->i64; break;
    case PHYSICAL_F64: to->f64[row] = value->f64; break;
    case PHYSICAL_I128: to->i128[row] = value->i128; break;
    case PHYSICAL_STR: to->str[row] = value->str; break;
    case PHYSICAL_TIME: to->time[row] = value->time; break;
    }
}

static void add_rows(struct over_partition *op, const struct partition *p, size_t from, size_t to) {
    size_t count = to - from;
    if (count == 0) return;
    unsigned char **payloads = tide__arena_alloc(&op->rank.scratch, count * sizeof *payloads);
    uint32_t *rows = tide__arena_alloc(&op->rank.scratch, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        payloads[i] = op->payload;
        rows[i] = (uint32_t)(from + i);
    }
    // What the one accumulator owns is gone with the partition: not worth telling the budget.
    tide__aggregators_update(&op->aggregators, &p->batch, payloads, rows, count, &op->rank.scratch);
}

static void put_aggregates(struct over_partition *op, struct partition *p) {
    if (op->aggregators.count == 0) return;
    struct column *results = ARENA_ARRAY(&op->rank.scratch, struct column, op->aggregators.count);
    struct frame in = {0, 0};
    for (size_t row = 0; row < p->count; row++) {
        struct frame frame = frame_of(op, p, row);
        if (frame.from != in.from || frame.to < in.to) {
            tide__aggregators_release(op->payload, &op->aggregators);
            in = (struct frame){frame.from, frame.from};
        }
        add_rows(op, p, in.to, frame.to);
        in.to = frame.to;
        uint32_t a = 0;
        for (uint32_t c = 0; c < op->plan->call_count; c++) {
            if (op->plan->calls[c].kind != OVER_CALL_AGGREGATE) continue;
            tide__column_init(&results[a++], op->plan->calls[c].type, 1, 1, &op->rank.scratch);
        }
        tide__aggregators_result(&op->aggregators, &op->payload, 1, results, &op->rank.scratch);
        a = 0;
        for (uint32_t c = 0; c < op->plan->call_count; c++) {
            if (op->plan->calls[c].kind == OVER_CALL_AGGREGATE) copy_value(op, &results[a++], 0, &p->results[c], row);
        }
    }
    tide__aggregators_release(op->payload, &op->aggregators);
}

// The first buckets have one row more.
static int64_t bucket(size_t row, size_t count, int64_t buckets) {
    int64_t small = (int64_t)count / buckets, more = (int64_t)count % buckets, at = (int64_t)row;
    if (at < more * (small + 1)) return at / (small + 1) + 1;
    return more + (small == 0 ? 0 : (at - more * (small + 1)) / small) + 1;
}

static void put_number(struct over_partition *op, struct partition *p, uint32_t c, size_t row) {
    const struct over_call *call = &op->plan->calls[c];
    struct column *to = &p->results[c];
    int64_t other;
    switch (call->kind) {
    case OVER_CALL_AGGREGATE: break;
    case OVER_CALL_ROW_NUMBER: to->i64[row] = (int64_t)row + 1; break;
    case OVER_CALL_RANK: to->i64[row] = (int64_t)p->peer_start[row] + 1; break;
    case OVER_CALL_DENSE_RANK: to->i64[row] = p->dense[row]; break;
    case OVER_CALL_NTILE: to->i64[row] = bucket(row, p->count, call->offset); break;
    case OVER_CALL_CUME_DIST: to->f64[row] = (double)p->peer_end[row] / (double)p->count; break;
    case OVER_CALL_PERCENT_RANK:
        to->f64[row] = p->count == 1 ? 0 : (double)p->peer_start[row] / (double)(p->count - 1);
        break;
    case OVER_CALL_LAG:
    case OVER_CALL_LEAD:
        other = (int64_t)row + (call->kind == OVER_CALL_LAG ? -call->offset : call->offset);
        if (other < 0 || other >= (int64_t)p->count) {
            put_constant(&call->fallback, to, row);
        } else {
            copy_value(op, &p->batch.columns[call->column], (size_t)other, to, row);
        }
        break;
    }
}

static tide_status emit(struct over_partition *op, const struct partition *p, struct emitter *out, tide_error *err) {
    const struct plan_node *node = op->rank.head.base.node;
    struct batch all = {.rows = p->count, .column_count = node->field_count};
    all.columns = ARENA_ARRAY(&op->rank.scratch, struct column, node->field_count + 1);
    memcpy(all.columns, p->batch.columns, op->rank.fields * sizeof *all.columns);
    memcpy(all.columns + op->rank.fields, p->results, op->plan->call_count * sizeof *all.columns);
    size_t step = op->rank.env.batch_rows_max;
    for (size_t from = 0; from < p->count; from += step) {
        size_t count = p->count - from < step ? p->count - from : step;
        struct batch slice = tide__batch_slice(&all, from, count, &op->rank.scratch);
        TIDE_TRY(tide__emit(out, &slice, err));
    }
    return TIDE_OK;
}

static tide_status run(struct over_partition *op, const struct ranked_list *list, struct emitter *out,
                       tide_error *err) {
    struct arena *arena = &op->rank.scratch;
    struct partition p = {0};
    struct ranked_row *row;
    tide__arena_reset(arena);
    p.rows = tide__arena_alloc(arena, (size_t)(list->count + 1) * sizeof(struct ranked_row *));
    for (struct ranked_at at = {0, 0}; (row = tide__ranked_list_get(list, at)) != NULL;
         at = tide__ranked_list_next(list, at))
        p.rows[p.count++] = row;
    TIDE_TRY(decode(op, &p, err));
    find_peers(op, &p);
    p.results = ARENA_ARRAY(arena, struct column, op->plan->call_count + 1);
    for (uint32_t c = 0; c < op->plan->call_count; c++) {
        tide__column_init(&p.results[c], op->plan->calls[c].type, p.count, 1, arena);
        for (size_t i = 0; i < p.count; i++) put_number(op, &p, c, i);
    }
    put_aggregates(op, &p);
    return emit(op, &p, out, err);
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct over_partition *op = self(base);
    if (watermark != WATERMARK_END) return TIDE_OK;
    struct memtable *groups = op->rank.groups.young;
    tide__memtable_freeze(groups);
    struct memtable_entry *const *entries = tide__memtable_sorted(groups);
    size_t count = tide__memtable_count(groups);
    for (size_t i = 0; i < count; i++) {
        const struct rank_group *group = tide__memtable_payload(groups, entries[i]);
        TIDE_TRY(run(op, &group->list, out, err));
    }
    return TIDE_OK;
}

static int64_t next_trigger(const struct operator *base, int64_t earliest) {
    (void)base;
    (void)earliest;
    return WATERMARK_END;
}

const struct operator_class tide__over_partition_class = {
    .kind = PLAN_OVER,
    .open = tide__over_partition_open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = tide__rank_barrier,
    .save = tide__rank_save,
    .restore = tide__rank_restore,
    .close = close,
};
