// OVER: each row goes out once, with functions over itself and the rows of its partition before it. (Flink's
// RowTime*OverFunction.)
//
// Rows wait in a heap until nothing can come before them: event time until the watermark reaches them, processing time not
// at all, batch mode until the input ends. Then they have their turn in order of (time, arrival), whatever their partition; which
// rows come too late for that is in over_late.c. Rows with equal sort columns are peers: RANGE takes them into the frame together.
#include "engine/operators/over.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/over_rows.h"
#include "engine/operators/window_assign.h"

#include <assert.h>
#include <string.h>

enum { ARRIVAL_BYTES = 8 };

static struct over *self(struct operator *op) {
    return (struct over *)op;
}

static void close(struct operator *base) {
    struct over *op = self(base);
    for (size_t i = 0; i < op->waiting_count; i++) tide__ranked_free(&op->ranker, op->waiting[i]);
    tide__budget_release(op->env.budget, op->waiting_capacity * sizeof *op->waiting);
    tide__free(op->waiting);
    tide__keyed_deinit(&op->groups);
    tide__budget_release(op->env.budget, op->fresh_capacity * sizeof *op->fresh);
    tide__free(op->fresh);
    tide__ranker_deinit(&op->ranker);
    tide__strbuf_deinit(&op->key);
    tide__strbuf_deinit(&op->value);
    tide__arena_deinit(&op->arena);
    tide__arena_deinit(&op->scratch);
    tide__free(op);
}

// --- opening ----------------------------------------------------------------------------------------------------------------

static tide_status choose_order(struct over *op, tide_error *err) {
    const struct plan_over *plan = op->plan;
    const struct plan_node *node = op->env.node;
    if (!plan->rows && plan->preceding >= 0) {
        enum physical physical = PHYSICAL_STR;
        if (plan->sort_count == 1) physical = tide__type_physical(node->inputs[0]->fields[plan->sorts[0].column].type);
        if (physical != PHYSICAL_I64 && physical != PHYSICAL_TIME)
            return tide__fail_at(err, TIDE_ERR_PLAN, node->pos,
                                 "OVER with a RANGE must be ordered by one time or whole number");
    }
    op->order = OVER_BY_SORT;
    if (op->env.plan->settings.batch_mode) return TIDE_OK;
    enum time_attribute time = TIME_ATTRIBUTE_NONE;
    bool alone = plan->sort_count == 1 || op->env.node->kind == PLAN_SORT;
    if (alone && !plan->sorts[0].descending) time = node->inputs[0]->fields[plan->sorts[0].column].type->time_attribute;
    if (time == TIME_ATTRIBUTE_NONE)
        return tide__fail_at(err, TIDE_ERR_PLAN, node->pos,
                             "OVER on a stream must be ordered by a time attribute, ascending");
    op->order = time == TIME_ATTRIBUTE_ROWTIME ? OVER_BY_TIME : OVER_BY_ARRIVAL;
    if (op->order == OVER_BY_ARRIVAL && !plan->rows && plan->preceding >= 0)
        return tide__fail_at(err, TIDE_ERR_PLAN, node->pos, "OVER with a RANGE of processing time is not supported");
    return TIDE_OK;
}

static void init_ranker(struct over *op) {
    const struct plan_over *plan = op->plan;
    op->sorts = ARENA_ARRAY(&op->arena, struct sort_key, plan->partition_count + plan->sort_count + 1);
    uint32_t count = 0;
    if (op->order == OVER_BY_SORT)
        for (uint32_t i = 0; i < plan->partition_count; i++)
            op->sorts[count++] = (struct sort_key){plan->partitions[i], false, false};
    if (op->order != OVER_BY_ARRIVAL)
        for (uint32_t i = 0; i < plan->sort_count; i++) op->sorts[count++] = plan->sorts[i];
    tide__ranker_init(&op->ranker, op->sorts, count, TIE_FIRST_ARRIVED, op->env.budget);
}

static tide_status bind_calls(struct over *op, tide_error *err) {
    const struct plan_over *plan = op->plan;
    uint32_t count = 0;
    op->bounded = plan->preceding >= 0;
    op->calls = ARENA_ARRAY(&op->arena, struct aggregate_call, plan->call_count + 1);
    for (uint32_t i = 0; i < plan->call_count; i++) {
        const struct over_call *call = &plan->calls[i];
        if (call->kind == OVER_CALL_AGGREGATE) op->calls[count++] = call->aggregate;
        if (call->kind == OVER_CALL_LAG && call->offset > op->lag)
            op->lag = call->offset > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)call->offset;
    }
    return tide__aggregators_bind(&op->aggregators, op->calls, count, op->bounded, &op->arena, err);
}

static tide_status open_parts(struct over *op, tide_error *err) {
    const struct plan_node *input = op->env.node->inputs[0];
    TIDE_TRY(choose_order(op, err));
    init_ranker(op);
    TIDE_TRY(bind_calls(op, err));
    op->one = (struct batch){.rows = 1, .column_count = op->fields};
    op->one.columns = ARENA_ARRAY(&op->arena, struct column, op->fields + 1);
    for (uint32_t f = 0; f < op->fields; f++)
        tide__column_init(&op->one.columns[f], input->fields[f].type, 1, 1, &op->arena);
    return tide__over_state_open(op, err);
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct over *op = tide__calloc(1, sizeof *op);
    op->base.node = env->node;
    op->class = &tide__over_along_time;
    op->plan = &env->node->over;
    op->env = *env;
    op->fields = env->node->inputs[0]->field_count;
    op->last_time = WATERMARK_NONE;
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    tide_status status = open_parts(op, err);
    if (status != TIDE_OK) {
        close(&op->base);
        return status;
    }
    *out = &op->base;
    return TIDE_OK;
}

// --- waiting ----------------------------------------------------------------------------------------------------------------

void tide__over_wait(struct over *op, struct ranked_row *row) {
    size_t before = op->waiting_capacity;
    op->waiting = tide__grow(op->waiting, &op->waiting_capacity, op->waiting_count + 1, sizeof *op->waiting);
    tide__budget_charge(op->env.budget, (op->waiting_capacity - before) * sizeof *op->waiting);
    size_t at = op->waiting_count++;
    for (; at > 0 && tide__ranked_compare(row, op->waiting[(at - 1) / 2]) < 0; at = (at - 1) / 2)
        op->waiting[at] = op->waiting[(at - 1) / 2];
    op->waiting[at] = row;
}

static struct ranked_row *next_waiting(struct over *op) {
    struct ranked_row *top = op->waiting[0], *row = op->waiting[--op->waiting_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < op->waiting_count; at = child) {
        if (child + 1 < op->waiting_count && tide__ranked_compare(op->waiting[child + 1], op->waiting[child]) < 0)
            child++;
        if (tide__ranked_compare(op->waiting[child], row) > 0) break;
        op->waiting[at] = op->waiting[child];
    }
    if (op->waiting_count > 0) op->waiting[at] = row;
    return top;
}

// A row's time is its prefix: times map to numbers one to one.
static uint64_t prefix_of(int64_t time) {
    return (uint64_t)time ^ UINT64_C(0x8000000000000000);
}

static bool is_due(const struct over *op, int64_t watermark) {
    if (op->waiting_count == 0) return false;
    switch (op->order) {
    case OVER_BY_TIME: return op->waiting[0]->prefix <= prefix_of(watermark);
    case OVER_BY_ARRIVAL: return true;
    case OVER_BY_SORT: return watermark == WATERMARK_END;
    }
    return false;
}

static bool are_peers(const struct ranked_row *a, const struct ranked_row *b) {
    return a->key_len == b->key_len && a->key_len > ARRIVAL_BYTES &&
           memcmp(a->bytes, b->bytes, a->key_len - ARRIVAL_BYTES) == 0;
}

// --- turns ------------------------------------------------------------------------------------------------------------------

// Takes due rows: at least one run of peers, then more until a batch is full.
static size_t take_due(struct over *op, int64_t watermark, struct ranked_row ***out_rows) {
    size_t count = 0, capacity = 0;
    struct ranked_row **rows = NULL;
    // Without sort columns all rows of a batch-mode partition are peers; across partitions that is no matter.
    while (is_due(op, watermark)) {
        bool ends_run = count > 0 && op->order != OVER_BY_ARRIVAL && !are_peers(rows[count - 1], op->waiting[0]);
        bool may_stop = op->order == OVER_BY_ARRIVAL || ends_run;
        if (count >= op->env.batch_rows_max && may_stop && !(op->order == OVER_BY_SORT && op->ranker.sort_count == 0))
            break;
        rows = tide__grow(rows, &capacity, count + 1, sizeof *rows);
        rows[count] = next_waiting(op);
        if (op->order == OVER_BY_TIME) op->last_time = (int64_t)(rows[count]->prefix ^ prefix_of(0));
        tide__over_state_left(op, NULL, rows[count]);
        count++;
    }
    *out_rows = rows;
    return count;
}

static tide_status emit_turn(struct over *op, const struct over_turn *turn, struct emitter *out, tide_error *err) {
    struct batch batch = {.rows = turn->batch.rows, .column_count = op->base.node->field_count};
    batch.columns = ARENA_ARRAY(&op->scratch, struct column, batch.column_count + 1);
    memcpy(batch.columns, turn->batch.columns, op->fields * sizeof *batch.columns);
    memcpy(batch.columns + op->fields, turn->results, op->plan->call_count * sizeof *batch.columns);
    for (uint32_t f = 0; f < op->fields; f++) batch.columns[f].type = op->base.node->fields[f].type;
    for (size_t from = 0; from < batch.rows; from += op->env.batch_rows_max) {
        size_t count = batch.rows - from < op->env.batch_rows_max ? batch.rows - from : op->env.batch_rows_max;
        struct batch slice = tide__batch_slice(&batch, from, count, &op->scratch);
        TIDE_TRY(tide__emit(out, &slice, err));
    }
    return TIDE_OK;
}

static tide_status decode_turn(struct over *op, size_t count, struct over_turn *turn, tide_error *err) {
    turn->batch = (struct batch){.rows = count, .column_count = op->fields};
    turn->batch.columns = ARENA_ARRAY(&op->scratch, struct column, op->fields + 1);
    for (uint32_t f = 0; f < op->fields; f++)
        tide__column_init(&turn->batch.columns[f], op->base.node->inputs[0]->fields[f].type, count, 1, &op->scratch);
    for (size_t i = 0; i < count; i++) {
        // The bytes are copied: a row may be freed before the batch is sent.
        struct str bytes = tide__ranked_bytes(turn->rows[i]);
        bytes.data = tide__arena_strndup(&op->scratch, bytes.data, bytes.len);
        if (!tide__row_decode(bytes, turn->batch.columns, op->fields, i))
            return tide__fail_at(err, TIDE_ERR_SAVEPOINT, op->base.node->pos, "a row in the state of %s is damaged",
                                 op->base.node->operator_id);
    }
    turn->results = ARENA_ARRAY(&op->scratch, struct column, op->plan->call_count + 1);
    for (uint32_t c = 0; c < op->plan->call_count; c++)
        tide__column_init(&turn->results[c], op->plan->calls[c].type, count, 1, &op->scratch);
    return TIDE_OK;
}

static tide_status take_turns(struct over *op, int64_t watermark, struct emitter *out, tide_error *err) {
    for (;;) {
        struct over_turn turn = {0};
        size_t count = take_due(op, watermark, &turn.rows);
        if (count == 0) return TIDE_OK;
        tide__arena_reset(&op->scratch);
        tide_status status = decode_turn(op, count, &turn, err);
        if (status == TIDE_OK) status = tide__over_run(op, &turn, err);
        tide__free(turn.rows);
        TIDE_TRY(status);
        TIDE_TRY(emit_turn(op, &turn, out, err));
    }
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    assert(batch->kinds == NULL);
    struct over *op = self(base);
    tide__arena_reset(&op->scratch);
    uint64_t *prefixes = tide__arena_alloc(&op->scratch, batch->rows * sizeof *prefixes);
    tide__ranker_prefixes(&op->ranker, batch, prefixes);
    const int64_t *times = NULL;
    bool *late = NULL;
    if (op->order == OVER_BY_TIME) {
        times = tide__window_times(&batch->columns[op->plan->sorts[0].column], batch->rows, &op->scratch);
        late = tide__arena_alloc(&op->scratch, batch->rows * sizeof *late);
        TIDE_TRY(tide__over_find_late(op, batch, times, late, err));
    }
    for (size_t i = 0; i < batch->rows; i++) {
        if (late != NULL && late[i]) {
            tide__late_row(base, op->env.late, batch, i, times[i], times[i]);
            continue;
        }
        tide__ranker_key(&op->ranker, batch, i, op->ranker.arrival++);
        struct ranked_row *row = tide__ranked_new(&op->ranker, batch, i, prefixes[i]);
        tide__over_wait(op, row);
        tide__over_state_entered(op, NULL, row);
    }
    return op->order == OVER_BY_ARRIVAL ? take_turns(op, WATERMARK_NONE, out, err) : TIDE_OK;
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    return take_turns(self(base), watermark, out, err);
}

static int64_t next_trigger(const struct operator *base, int64_t earliest) {
    const struct over *op = (const struct over *)base;
    if (op->order != OVER_BY_TIME) return WATERMARK_END;
    int64_t at = earliest;
    if (op->waiting_count > 0 && op->waiting[0]->prefix < prefix_of(at))
        at = (int64_t)(op->waiting[0]->prefix ^ prefix_of(0));
    return at > base->watermark || base->watermark == WATERMARK_END ? at : base->watermark + 1;
}

const struct operator_class tide__over_along_time = {
    .kind = PLAN_OVER,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = tide__over_barrier,
    .save = tide__over_save,
    .restore = tide__over_restore,
    .shrink = tide__over_shrink,
    .close = close,
};

const struct operator_class tide__sort_class = {
    .kind = PLAN_SORT,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = tide__over_barrier,
    .save = tide__over_save,
    .restore = tide__over_restore,
    .close = close,
};
