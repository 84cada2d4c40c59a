// Unbounded aggregation: one group a key, its results as a changelog in the order of the input rows. (Flink's
// GroupAggFunction.)
//
//   the group is new            +I
//   its results have changed    -U, +U (nothing if they are the same)
//   its last row was taken back -D
//
// A hidden count of rows a group says whether it is there. In batch mode results go out once, when the input ends, in key
// order; a global aggregate then has a row even if the input had none. With mini-batches see group_bundle.c.
#include "engine/operators/group_aggregate.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/operators/group_rows.h"

#include <assert.h>
#include <string.h>

static struct group_aggregate *self(struct operator *op) {
    return (struct group_aggregate *)op;
}

static void close(struct operator *base) {
    struct group_aggregate *op = self(base);
    tide__bundle_close(op);
    tide__keyed_deinit(&op->groups);
    tide__strbuf_deinit(&op->value);
    tide__arena_deinit(&op->output);
    tide__arena_deinit(&op->scratch);
    tide__arena_deinit(&op->arena);
    tide__free(op);
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct group_aggregate *op = tide__calloc(1, sizeof *op);
    op->base.node = env->node;
    op->plan = &env->node->group_aggregate;
    op->env = *env;
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    tide__arena_init(&op->output);
    tide_status status = tide__aggregators_bind(&op->aggregators, op->plan->aggregates, op->plan->aggregate_count,
                                                op->plan->input_updates, &op->arena, err);
    if (status == TIDE_OK) {
        op->next_end = op->plan->expires ? WATERMARK_NONE : WATERMARK_END;  // restored groups may have ended
        status = tide__group_state_open(op, err);
    }
    tide__bundle_open(op);
    if (status == TIDE_OK) status = tide__bundle_state_open(op, err);
    if (status != TIDE_OK) {
        close(&op->base);
        return status;
    }
    *out = &op->base;
    return TIDE_OK;
}

// --- the changelog ----------------------------------------------------------------------------------------------------------

static bool same_value(const struct column *column, uint32_t a, uint32_t b) {
    if (column->nulls[a] || column->nulls[b]) return column->nulls[a] == column->nulls[b];
    switch (column->physical) {
    case PHYSICAL_BOOL: return column->bools[a] == column->bools[b];
    case PHYSICAL_I64: return column->i64[a] == column->i64[b];
    case PHYSICAL_F64: return column->f64[a] == column->f64[b];
    case PHYSICAL_I128: return column->i128[a] == column->i128[b];
    case PHYSICAL_STR: return tide__str_eq(column->str[a], column->str[b]);
    case PHYSICAL_TIME:
        return column->time[a].ms == column->time[b].ms && column->time[a].nanos == column->time[b].nanos;
    }
    return false;
}

static bool same_results(const struct group_aggregate *op, const struct group_results *results, uint32_t a,
                         uint32_t b) {
    for (uint32_t i = 0; i < op->aggregators.count; i++)
        if (!same_value(&results->columns[i], a, b)) return false;
    return true;
}

// Rows that go out: the input row whose keys they have, the place of their results, their kind.
struct outgoing {
    uint32_t *keys, *results;
    uint8_t *kinds;
    size_t count;
    bool updates;
};

static void add_row(struct outgoing *rows, uint32_t key, uint32_t result, enum row_kind kind) {
    rows->keys[rows->count] = key;
    rows->results[rows->count] = result;
    rows->kinds[rows->count++] = (uint8_t)kind;
    rows->updates = rows->updates || kind != ROW_INSERT;
}

static void collect_changes(struct group_aggregate *op, uint32_t rows, const struct group_results *results,
                            struct outgoing *out) {
    for (uint32_t i = 0; i < rows; i++) {
        if (!results->was_there[i]) {
            if (results->is_there[i]) add_row(out, i, i, ROW_INSERT);
        } else if (!results->is_there[i]) {
            add_row(out, i, results->before[i], ROW_DELETE);
        } else if (!same_results(op, results, results->before[i], i)) {
            add_row(out, i, results->before[i], ROW_UPDATE_BEFORE);
            add_row(out, i, i, ROW_UPDATE_AFTER);
        }
    }
}

static tide_status emit_rows(struct group_aggregate *op, const struct batch *batch, const struct group_results *results,
                             const struct outgoing *rows, size_t from, size_t count, struct emitter *out,
                             tide_error *err) {
    tide__arena_reset(&op->output);
    const struct plan_node *node = op->base.node;
    uint32_t keys = op->plan->key_count;
    struct batch result = {.rows = count, .column_count = node->field_count};
    result.columns = ARENA_ARRAY(&op->output, struct column, node->field_count + 1);
    for (uint32_t k = 0; k < keys; k++)
        tide__column_gather(&batch->columns[op->plan->keys[k]], rows->keys + from, count, &op->output,
                            &result.columns[k]);
    for (uint32_t a = 0; a < op->aggregators.count; a++)
        tide__column_gather(&results->columns[a], rows->results + from, count, &op->output, &result.columns[keys + a]);
    if (rows->updates) result.kinds = rows->kinds + from;
    return tide__emit(out, &result, err);
}

tide_status tide__group_emit_changes(struct group_aggregate *op, const struct batch *batch,
                                     const struct group_results *results, struct emitter *out, tide_error *err) {
    size_t most = 2 * batch->rows;
    struct outgoing rows = {
        .keys = tide__arena_alloc(&op->scratch, most * sizeof(uint32_t)),
        .results = tide__arena_alloc(&op->scratch, most * sizeof(uint32_t)),
        .kinds = tide__arena_alloc(&op->scratch, most),
    };
    collect_changes(op, (uint32_t)batch->rows, results, &rows);
    size_t step = op->env.batch_rows_max;
    for (size_t from = 0; from < rows.count; from += step) {
        size_t n = rows.count - from < step ? rows.count - from : step;
        TIDE_TRY(emit_rows(op, batch, results, &rows, from, n, out, err));
    }
    return TIDE_OK;
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct group_aggregate *op = self(base);
    assert(batch->kinds == NULL || op->plan->input_updates);
    tide__arena_reset(&op->scratch);
    if (op->plan->bundle_rows > 0)
        return batch->rows > 0 ? tide__bundle_add(op, batch, out, err) : tide__bundle_tick(op, out, err);
    struct group_results results;
    tide__group_note_ends(op, batch);
    TIDE_TRY(tide__group_rounds(op, batch, &results, err));
    if (op->env.plan->settings.batch_mode) return TIDE_OK;
    return tide__group_emit_changes(op, batch, &results, out, err);
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct group_aggregate *op = self(base);
    TIDE_TRY(tide__group_expire(op, watermark, err));
    if (watermark != WATERMARK_END) return TIDE_OK;
    tide__arena_reset(&op->scratch);
    if (op->plan->bundle_rows > 0) return tide__bundle_flush(op, out, err);
    return op->env.plan->settings.batch_mode ? tide__group_emit_all(op, out, err) : TIDE_OK;
}

const struct operator_class tide__group_aggregate_class = {
    .kind = PLAN_GROUP_AGGREGATE,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .on_barrier = tide__group_barrier,
    .save = tide__bundle_save,
    .restore = tide__group_restore,
    .shrink = tide__group_shrink,
    .close = close,
};
