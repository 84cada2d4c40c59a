// See join_pairs.h.
#include "engine/operators/join_pairs.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/codec/row.h"

#include <assert.h>
#include <string.h>
#include <sys/time.h>

void tide__join_pairs_init(struct join_pairs *pairs, const struct operator_env *env, enum join_kind kind,
                           const struct expr *condition) {
    *pairs = (struct join_pairs){
        .node = env->node,
        .condition = condition,
        .fields = {env->node->inputs[0]->field_count, env->node->inputs[1]->field_count},
        .left_only = kind == JOIN_SEMI || kind == JOIN_ANTI,
        .rows_max = env->batch_rows_max,
    };
    tide__arena_init(&pairs->arena);
    pairs->eval = (struct eval_context){
        .zone = env->plan->settings.zone, .watermark = WATERMARK_NONE, .scratch = &pairs->arena};
}

void tide__join_pairs_deinit(struct join_pairs *pairs) {
    tide__arena_deinit(&pairs->arena);
    tide__free(pairs->items);
}

static bool decode_side(struct str bytes, struct column *columns, uint32_t count, size_t row) {
    if (bytes.data != NULL) return tide__row_decode(bytes, columns, count, row);
    for (uint32_t c = 0; c < count; c++) {
        size_t size = tide__physical_size(columns[c].physical);
        columns[c].nulls[row] = 1;
        memset((char *)columns[c].data + row * size, 0, size);
    }
    return true;
}

// Both sides' columns, in the types of the inputs.
static tide_status decode(struct join_pairs *pairs, const struct join_pair *items, size_t count, bool left_only,
                          struct batch *out, tide_error *err) {
    uint32_t left = pairs->fields[0], right = left_only ? 0 : pairs->fields[1];
    *out = (struct batch){.rows = count, .column_count = left + right};
    out->columns = ARENA_ARRAY(&pairs->arena, struct column, left + right + 1);
    for (uint32_t f = 0; f < left + right; f++) {
        const struct plan_node *input = pairs->node->inputs[f < left ? 0 : 1];
        const struct type *type = input->fields[f < left ? f : f - left].type;
        tide__column_init(&out->columns[f], type, count, 1, &pairs->arena);
    }
    for (size_t i = 0; i < count; i++)
        if (!decode_side(items[i].left, out->columns, left, i) ||
            (right > 0 && !decode_side(items[i].right, out->columns + left, right, i)))
            return tide__fail_at(err, TIDE_ERR_SAVEPOINT, pairs->node->pos, "a row in the state of %s is damaged",
                                 pairs->node->operator_id);
    return TIDE_OK;
}

static tide_status test_some(struct join_pairs *pairs, const struct join_pair *items, size_t count, uint8_t *keep,
                             tide_error *err) {
    tide__arena_reset(&pairs->arena);
    struct batch batch;
    TIDE_TRY(decode(pairs, items, count, false, &batch, err));
    uint32_t *rows;
    size_t kept;
    TIDE_TRY(tide__eval_filter(&pairs->eval, pairs->condition, &batch, &rows, &kept, err));
    memset(keep, 0, count);
    for (size_t i = 0; i < kept; i++) keep[rows[i]] = 1;
    return TIDE_OK;
}

tide_status tide__join_pairs_test(struct join_pairs *pairs, const struct join_pair *items, size_t count, uint8_t *keep,
                                  tide_error *err) {
    if (pairs->condition == NULL) {
        memset(keep, 1, count);
        return TIDE_OK;
    }
    struct timeval now;
    gettimeofday(&now, NULL);
    pairs->eval.now_ms = (int64_t)now.tv_sec * MILLIS_PER_SECOND + now.tv_usec / 1000;
    for (size_t from = 0; from < count; from += pairs->rows_max) {
        size_t some = count - from < pairs->rows_max ? count - from : pairs->rows_max;
        TIDE_TRY(test_some(pairs, items + from, some, keep + from, err));
    }
    return TIDE_OK;
}

void tide__join_pairs_add(struct join_pairs *pairs, struct str left, struct str right, enum row_kind kind) {
    if (pairs->count == pairs->capacity)
        pairs->items = tide__grow(pairs->items, &pairs->capacity, pairs->count + 1, sizeof *pairs->items);
    pairs->items[pairs->count++] = (struct join_pair){left, right, (uint8_t)kind};
}

static tide_status send_some(struct join_pairs *pairs, const struct join_pair *items, size_t count, struct emitter *out,
                             tide_error *err) {
    tide__arena_reset(&pairs->arena);
    struct batch batch;
    TIDE_TRY(decode(pairs, items, count, pairs->left_only, &batch, err));
    assert(batch.column_count == pairs->node->field_count);
    for (uint32_t f = 0; f < pairs->node->field_count; f++) batch.columns[f].type = pairs->node->fields[f].type;
    uint8_t *kinds = tide__arena_alloc(&pairs->arena, count);
    bool updates = false;
    for (size_t i = 0; i < count; i++) {
        kinds[i] = items[i].kind;
        updates = updates || kinds[i] != ROW_INSERT;
    }
    if (updates) batch.kinds = kinds;
    return tide__emit(out, &batch, err);
}

tide_status tide__join_pairs_send(struct join_pairs *pairs, struct emitter *out, tide_error *err) {
    size_t count = pairs->count;
    pairs->count = 0;
    for (size_t from = 0; from < count; from += pairs->rows_max) {
        size_t some = count - from < pairs->rows_max ? count - from : pairs->rows_max;
        TIDE_TRY(send_some(pairs, pairs->items + from, some, out, err));
    }
    return TIDE_OK;
}
