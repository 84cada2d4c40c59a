// OVER along a plain column of a stream: a row may come in between, or be taken back, and changes the functions of the rows
// behind it. (Flink's NonTimeRangeUnboundedPrecedingFunction and its sisters.)
//
//   partition, sorted      a  b  [new]  c  d          out: +I new, then -U/+U of c and d where their functions change
//
// All rows are kept, in the form and the state of the regular Top-N (rank_rows.h). A row that comes last, the common case, is
// added to the partition's accumulators; for any other all functions of the partition are computed anew, as in Flink.
#include "engine/operators/over_values.h"

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

// A partition; the list of its rows first, so that the Top-N's state finds it.
struct values_group {
    struct rank_group rows;
    uint64_t counted;  // rows that the numbers and accumulators stand for; else they are computed anew
    int64_t rank, dense_rank;
    _Alignas(16) unsigned char accumulators[];
};

struct over_values {
    struct rank rank;  // first: the Top-N's state works on it
    const struct plan_over *plan;
    struct aggregators aggregators;
    struct column *aggregate_results, *results;  // of one row: the aggregates', all calls'
    bool looks_back;                             // LAG
    struct arena out;                            // what the changes hold
};

// All rows of a partition as they go out, in order.
struct shown {
    uint64_t count;
    struct str *rows;
};

static struct over_values *self(struct operator *op) {
    return (struct over_values *)op;
}

static void free_group(void *payload, void *ctx) {
    struct over_values *op = ctx;
    struct values_group *group = payload;
    tide__ranked_list_deinit(&group->rows.list, &op->rank.ranker);
    tide__aggregators_release(group->accumulators, &op->aggregators);
}

static void close(struct operator *base) {
    struct over_values *op = self(base);
    struct rank *rank = &op->rank;
    tide__rank_state_close(rank);
    tide__changes_deinit(&rank->changes);
    tide__ranker_deinit(&rank->ranker);
    tide__strbuf_deinit(&rank->key);
    tide__strbuf_deinit(&rank->value);
    tide__arena_deinit(&rank->arena);
    tide__arena_deinit(&rank->scratch);
    tide__arena_deinit(&op->out);
    tide__free(op);
}

// --- opening ----------------------------------------------------------------------------------------------------------------

static tide_status bind_calls(struct over_values *op, tide_error *err) {
    const struct plan_over *plan = op->plan;
    struct arena *arena = &op->rank.arena;
    struct aggregate_call *calls = ARENA_ARRAY(arena, struct aggregate_call, plan->call_count + 1);
    uint32_t count = 0;
    op->results = ARENA_ARRAY(arena, struct column, plan->call_count + 1);
    op->aggregate_results = ARENA_ARRAY(arena, struct column, plan->call_count + 1);
    for (uint32_t i = 0; i < plan->call_count; i++) {
        const struct over_call *call = &plan->calls[i];
        tide__column_init(&op->results[i], call->type, 1, 1, arena);
        op->looks_back |= call->kind == OVER_CALL_LAG;
        if (call->kind == OVER_CALL_AGGREGATE) calls[count++] = call->aggregate;
    }
    return tide__aggregators_bind(&op->aggregators, calls, count, false, arena, err);
}

// The Top-N that keeps the rows: all of them, and any of them may leave.
static const struct plan_rank *keeper(struct over_values *op) {
    struct plan_rank *plan = ARENA_NEW(&op->rank.arena, struct plan_rank);
    *plan = (struct plan_rank){.partition_count = op->plan->partition_count,
                               .partitions = op->plan->partitions,
                               .sort_count = op->plan->sort_count,
                               .sorts = op->plan->sorts,
                               .rank_first = 1,
                               .rank_last = INT64_MAX / 4,
                               .input_updates = true};
    return plan;
}

static tide_status open_parts(struct over_values *op, tide_error *err) {
    struct rank *rank = &op->rank;
    rank->plan = keeper(op);
    rank->last = (uint64_t)rank->plan->rank_last;
    tide__ranker_init(&rank->ranker, op->plan->sorts, op->plan->sort_count, TIE_FIRST_ARRIVED, rank->env.budget);
    TIDE_TRY(bind_calls(op, err));
    return tide__rank_state_open(rank, sizeof(struct values_group) + op->aggregators.payload_size, free_group, err);
}

tide_status tide__over_values_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct over_values *op = tide__calloc(1, sizeof *op);
    op->plan = &env->node->over;
    op->rank.env = *env;
    op->rank.head.base.node = env->node;
    op->rank.head.class = &tide__over_values_class;
    op->rank.fields = env->node->inputs[0]->field_count;
    tide__changes_init(&op->rank.changes);
    tide__arena_init(&op->rank.arena);
    tide__arena_init(&op->rank.scratch);
    tide__arena_init(&op->out);
    tide_status status = open_parts(op, err);
    if (status != TIDE_OK) {
        close(&op->rank.head.base);
        return status;
    }
    *out = &op->rank.head.base;
    return TIDE_OK;
}

// --- functions --------------------------------------------------------------------------------------------------------------

static bool are_peers(const struct ranked_row *a, const struct ranked_row *b) {
    return a->key_len == b->key_len && memcmp(a->bytes, b->bytes, a->key_len - ARRIVAL_BYTES) == 0;
}

static void set_number(struct column *column, int64_t value) {
    column->nulls[0] = 0;
    column->i64[0] = value;
}

static void copy_value(const struct column *from, size_t row, struct column *to) {
    size_t size = tide__physical_size(to->physical);
    to->nulls[0] = (uint8_t)tide__column_is_null(from, row);
    if (!to->nulls[0]) memcpy(to->data, (const char *)from->data + row * size, size);
}

static void set_constant(struct column *to, const struct value *value) {
    to->nulls[0] = value->is_null;
    if (value->is_null) return;
    switch (to->physical) {
    case PHYSICAL_BOOL: to->bools[0] = value->boolean; break;
    case PHYSICAL_I64: to->i64[0] = value->i64; break;
    case PHYSICAL_F64: to->f64[0] = value->f64; break;
    case PHYSICAL_I128: to->i128[0] = value->i128; break;
    case PHYSICAL_STR: to->str[0] = value->str; break;
    case PHYSICAL_TIME: to->time[0] = value->time; break;
    }
}

static void add_rows(struct over_values *op, struct values_group *group, const struct batch *batch, size_t first,
                     size_t count) {
    struct arena *arena = &op->rank.scratch;
    unsigned char **payloads = tide__arena_alloc(arena, count * sizeof *payloads);
    uint32_t *rows = tide__arena_alloc(arena, count * sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        payloads[i] = group->accumulators;
        rows[i] = (uint32_t)(first + i);
    }
    int64_t charge = tide__aggregators_update(&op->aggregators, batch, payloads, rows, count, arena);
    if (charge > 0) tide__budget_charge(op->rank.env.budget, (size_t)charge);
    if (charge < 0) tide__budget_release(op->rank.env.budget, (size_t)-charge);
}

// The aggregates' results, as they are now, into op->results.
static void take_aggregates(struct over_values *op, struct values_group *group) {
    unsigned char *payload = group->accumulators;
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->plan->call_count; i++) {
        const struct over_call *call = &op->plan->calls[i];
        if (call->kind != OVER_CALL_AGGREGATE) continue;
        tide__column_init(&op->aggregate_results[count++], call->type, 1, 1, &op->rank.scratch);
    }
    if (count == 0) return;
    tide__aggregators_result(&op->aggregators, &payload, 1, op->aggregate_results, &op->rank.scratch);
    count = 0;
    for (uint32_t i = 0; i < op->plan->call_count; i++) {
        if (op->plan->calls[i].kind == OVER_CALL_AGGREGATE)
            copy_value(&op->aggregate_results[count++], 0, &op->results[i]);
    }
}

// Row `row` of the batch, number `number` of its partition, as it goes out.
static struct str show(struct over_values *op, const struct values_group *group, const struct batch *batch, size_t row,
                       uint64_t number) {
    const struct plan_over *plan = op->plan;
    uint32_t fields = op->rank.fields;
    struct arena *arena = &op->rank.scratch;
    for (uint32_t i = 0; i < plan->call_count; i++) {
        const struct over_call *call = &plan->calls[i];
        struct column *result = &op->results[i];
        switch (call->kind) {
        case OVER_CALL_AGGREGATE: break;
        case OVER_CALL_ROW_NUMBER: set_number(result, (int64_t)number); break;
        case OVER_CALL_RANK: set_number(result, group->rank); break;
        case OVER_CALL_DENSE_RANK: set_number(result, group->dense_rank); break;
        case OVER_CALL_LEAD:
        case OVER_CALL_NTILE:
        case OVER_CALL_PERCENT_RANK:
        case OVER_CALL_CUME_DIST: assert(false && "batch mode only"); break;
        case OVER_CALL_LAG:
            if ((uint64_t)call->offset <= row) {
                copy_value(&batch->columns[call->column], row - (size_t)call->offset, result);
            } else {
                set_constant(result, &call->fallback);
            }
            break;
        }
    }
    struct batch one = tide__batch_slice(batch, row, 1, arena),
                 all = {.rows = 1, .column_count = fields + plan->call_count};
    all.columns = tide__arena_alloc(arena, all.column_count * sizeof *all.columns);
    memcpy(all.columns, one.columns, fields * sizeof *all.columns);
    memcpy(all.columns + fields, op->results, plan->call_count * sizeof *all.columns);
    struct strbuf *value = &op->rank.value;
    tide__strbuf_clear(value);
    tide__row_append(&all, 0, value);
    return (struct str){tide__arena_strndup(&op->out, value->data, value->len), value->len};
}

static tide_status decode(struct over_values *op, struct ranked_row *const *rows, size_t count, struct batch *out,
                          tide_error *err) {
    const struct plan_node *node = op->rank.head.base.node;
    *out = (struct batch){.rows = count, .column_count = op->rank.fields};
    out->columns = ARENA_ARRAY(&op->rank.scratch, struct column, op->rank.fields + 1);
    for (uint32_t f = 0; f < op->rank.fields; f++)
        tide__column_init(&out->columns[f], node->inputs[0]->fields[f].type, count, 1, &op->rank.scratch);
    for (size_t i = 0; i < count; i++) {
        if (!tide__row_decode(tide__ranked_bytes(rows[i]), out->columns, op->rank.fields, i))
            return tide__fail_at(err, TIDE_ERR_SAVEPOINT, node->pos, "a row in the state of %s is damaged",
                                 node->operator_id);
    }
    return TIDE_OK;
}

// Computes the whole partition anew.
static tide_status show_all(struct over_values *op, struct values_group *group, struct shown *out, tide_error *err) {
    const struct ranked_list *list = &group->rows.list;
    struct arena *arena = &op->rank.scratch;
    size_t count = (size_t)list->count, at = 0;
    struct ranked_row **rows = tide__arena_alloc(arena, (count + 1) * sizeof(struct ranked_row *));
    struct ranked_row *row;
    for (struct ranked_at place = {0, 0}; (row = tide__ranked_list_get(list, place)) != NULL;
         place = tide__ranked_list_next(list, place))
        rows[at++] = row;
    struct batch batch;
    TIDE_TRY(decode(op, rows, count, &batch, err));
    tide__aggregators_release(group->accumulators, &op->aggregators);
    group->rank = group->dense_rank = 0;
    *out = (struct shown){count, tide__arena_alloc(arena, (count + 1) * sizeof(struct str))};
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && are_peers(rows[first], rows[end]);) end++;
        // Flink (2.3) numbers peers here too, and looks at all of them before it shows the first: RANK and DENSE_RANK
        // are the number of rows up to the last peer.
        group->rank = group->dense_rank = (int64_t)end;
        if (!op->plan->rows) add_rows(op, group, &batch, first, end - first);
        for (size_t i = first; i < end; i++) {
            if (op->plan->rows) add_rows(op, group, &batch, i, 1);
            if (op->plan->rows || i == first) take_aggregates(op, group);
            out->rows[i] = show(op, group, &batch, i, i + 1);
        }
    }
    group->counted = count;
    return TIDE_OK;
}

// --- rows -------------------------------------------------------------------------------------------------------------------

static tide_status send(struct over_values *op, struct emitter *out, tide_error *err) {
    struct rank *rank = &op->rank;
    TIDE_TRY(tide__changes_send(&rank->changes, rank->head.base.node, rank->head.base.node->field_count,
                                rank->env.batch_rows_max, out, err));
    tide__arena_reset(&op->out);
    return TIDE_OK;
}

static void change(struct over_values *op, struct str before, struct str after) {
    if (tide__str_eq(before, after)) return;
    tide__changes_add(&op->rank.changes, before, ROW_UPDATE_BEFORE, 0);
    tide__changes_add(&op->rank.changes, after, ROW_UPDATE_AFTER, 0);
}

// A row that stands behind all others and has no peer changes nothing but itself.
static void append(struct over_values *op, struct values_group *group, const struct batch *batch, size_t row,
                   enum row_kind kind) {
    group->rank = group->dense_rank = (int64_t)group->rows.list.count;
    group->counted++;
    add_rows(op, group, batch, row, 1);
    take_aggregates(op, group);
    tide__changes_add(&op->rank.changes, show(op, group, batch, row, group->rows.list.count), kind, 0);
}

static tide_status insert(struct over_values *op, struct values_group *group, const struct batch *batch, size_t row,
                          uint64_t prefix, enum row_kind kind, tide_error *err) {
    struct rank *rank = &op->rank;
    struct shown before = {0}, after = {0};
    struct ranked_list *list = &group->rows.list;
    struct str key = tide__ranker_key(&rank->ranker, batch, row, rank->ranker.arrival++);
    struct ranked_at at = tide__ranked_list_find(list, prefix, key);
    struct ranked_row *entered = tide__ranked_new(&rank->ranker, batch, row, prefix);
    const struct ranked_row *last = tide__ranked_list_last(list);
    bool is_last = tide__ranked_list_get(list, at) == NULL;
    bool alone = last == NULL || !are_peers(last, entered);
    bool simple = is_last && alone && !op->looks_back && group->counted == list->count;
    uint64_t place = simple ? 0 : tide__ranked_list_before(list, at, UINT64_MAX);
    if (!simple) {
        tide_status status = show_all(op, group, &before, err);
        if (status != TIDE_OK) {
            tide__ranked_free(&rank->ranker, entered);
            return status;
        }
    }
    tide__ranked_list_insert(list, at, entered, rank->env.budget);
    tide__rank_state_entered(rank, &group->rows, entered);
    if (simple) {
        append(op, group, batch, row, kind);
        return TIDE_OK;
    }
    TIDE_TRY(show_all(op, group, &after, err));
    for (uint64_t i = 0; i < after.count; i++) {
        if (i == place) {
            tide__changes_add(&rank->changes, after.rows[i], kind, 0);
        } else {
            change(op, before.rows[i < place ? i : i - 1], after.rows[i]);
        }
    }
    return TIDE_OK;
}

// The oldest kept row with these very bytes.
static bool find_row(struct over_values *op, const struct values_group *group, const struct batch *batch, size_t row,
                     struct ranked_at *out_at, uint64_t *out_place) {
    struct strbuf *value = &op->rank.value;
    const struct ranked_row *kept;
    tide__strbuf_clear(value);
    tide__row_append(batch, row, value);
    *out_place = 0;
    for (struct ranked_at at = {0, 0}; (kept = tide__ranked_list_get(&group->rows.list, at)) != NULL;
         at = tide__ranked_list_next(&group->rows.list, at)) {
        *out_at = at;
        if (tide__str_eq(tide__ranked_bytes(kept), tide__strbuf_str(value))) return true;
        ++*out_place;
    }
    return false;
}

static tide_status take_back(struct over_values *op, struct values_group *group, const struct batch *batch, size_t row,
                             tide_error *err) {
    struct rank *rank = &op->rank;
    struct shown before = {0}, after = {0};
    struct ranked_at at;
    uint64_t place;
    // A row that never came is not an error: upstream state may have been cleared. Flink skips it too.
    if (!find_row(op, group, batch, row, &at, &place)) return TIDE_OK;
    TIDE_TRY(show_all(op, group, &before, err));
    struct ranked_row *left = tide__ranked_list_get(&group->rows.list, at);
    tide__ranked_list_remove(&group->rows.list, at, rank->env.budget);
    tide__rank_state_left(rank, &group->rows, left);
    tide__ranked_free(&rank->ranker, left);
    TIDE_TRY(show_all(op, group, &after, err));
    for (uint64_t i = 0; i < before.count; i++) {
        if (i == place) {
            tide__changes_add(&rank->changes, before.rows[i], ROW_DELETE, 0);
        } else {
            change(op, before.rows[i], after.rows[i < place ? i : i - 1]);
        }
    }
    return TIDE_OK;
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct over_values *op = self(base);
    struct rank *rank = &op->rank;
    struct arena arena;  // of the batch; the scratch is of one row
    tide_status status = TIDE_OK;
    tide__arena_init(&arena);
    uint64_t *prefixes = tide__arena_alloc(&arena, batch->rows * sizeof *prefixes);
    tide__ranker_prefixes(&rank->ranker, batch, prefixes);
    struct str *keys = tide__arena_alloc(&arena, batch->rows * sizeof *keys);
    tide__key_encode(batch, op->plan->partitions, op->plan->partition_count, (struct str){0}, &arena, keys);
    for (size_t i = 0; status == TIDE_OK && i < batch->rows; i++) {
        struct values_group *group = (struct values_group *)(void *)tide__rank_group(rank, keys[i]);
        enum row_kind kind = batch->kinds == NULL ? ROW_INSERT : batch->kinds[i];
        tide__arena_reset(&rank->scratch);
        if (kind == ROW_UPDATE_BEFORE || kind == ROW_DELETE) {
            status = take_back(op, group, batch, i, err);
        } else {
            status = insert(op, group, batch, i, prefixes[i], kind, err);
        }
        if (status == TIDE_OK && rank->changes.count >= rank->env.batch_rows_max) status = send(op, out, err);
    }
    tide__arena_deinit(&arena);
    return status == TIDE_OK ? send(op, out, err) : status;
}

const struct operator_class tide__over_values_class = {
    .kind = PLAN_OVER,
    .open = tide__over_values_open,
    .on_batch = on_batch,
    .on_barrier = tide__rank_barrier,
    .save = tide__rank_save,
    .restore = tide__rank_restore,
    .close = close,
};
