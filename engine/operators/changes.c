// See changes.h.
#include "engine/operators/changes.h"

#include "base/alloc.h"
#include "engine/codec/row.h"

#include <assert.h>

void tide__changes_init(struct changes *changes) {
    *changes = (struct changes){0};
    tide__arena_init(&changes->arena);
}

void tide__changes_deinit(struct changes *changes) {
    tide__free(changes->items);
    tide__arena_deinit(&changes->arena);
}

void tide__changes_add(struct changes *changes, struct str row, enum row_kind kind, int64_t rank) {
    if (changes->count == changes->capacity)
        changes->items = tide__grow(changes->items, &changes->capacity, changes->count + 1, sizeof *changes->items);
    changes->items[changes->count++] = (struct change){row, rank, (uint8_t)kind};
}

static tide_status send_some(struct changes *changes, const struct plan_node *node, uint32_t row_fields, size_t from,
                             size_t rows, struct emitter *out, tide_error *err) {
    tide__arena_reset(&changes->arena);
    const struct change *items = changes->items + from;
    struct batch batch = {.rows = rows, .column_count = node->field_count};
    batch.columns = ARENA_ARRAY(&changes->arena, struct column, node->field_count + 1);
    for (uint32_t f = 0; f < row_fields; f++)
        tide__column_init(&batch.columns[f], node->fields[f].type, rows, 1, &changes->arena);
    uint8_t *kinds = tide__arena_alloc(&changes->arena, rows);
    bool updates = false;
    for (size_t i = 0; i < rows; i++) {
        kinds[i] = items[i].kind;
        updates = updates || kinds[i] != ROW_INSERT;
        if (!tide__row_decode(items[i].row, batch.columns, row_fields, i))
            return tide__fail_at(err, TIDE_ERR_SAVEPOINT, node->pos, "a row in the state of %s is damaged",
                                 node->operator_id);
    }
    if (updates) batch.kinds = kinds;
    if (node->field_count > row_fields) {
        struct column *rank = &batch.columns[row_fields];
        tide__column_init(rank, node->fields[row_fields].type, rows, 0, &changes->arena);
        for (size_t i = 0; i < rows; i++) rank->i64[i] = items[i].rank;
    }
    return tide__emit(out, &batch, err);
}

tide_status tide__changes_send(struct changes *changes, const struct plan_node *node, uint32_t row_fields,
                               size_t rows_max, struct emitter *out, tide_error *err) {
    size_t count = changes->count;
    changes->count = 0;
    for (size_t from = 0; from < count; from += rows_max)
        TIDE_TRY(
            send_some(changes, node, row_fields, from, count - from < rows_max ? count - from : rows_max, out, err));
    return TIDE_OK;
}

static bool consumes(const struct plan_node *consumer, const struct plan_node *node) {
    for (uint32_t i = 0; i < consumer->input_count; i++)
        if (consumer->inputs[i] == node) return true;
    return false;
}

bool tide__plan_needs_update_before(const struct plan *plan, const struct plan_node *node) {
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct plan_node *consumer = plan->nodes[i];
        if (!consumes(consumer, node) || consumer->kind == PLAN_SINK) continue;
        bool passes = consumer->kind == PLAN_UNION || (consumer->kind == PLAN_CALC && consumer->calc.condition == NULL);
        if (!passes || tide__plan_needs_update_before(plan, consumer)) return true;
    }
    return false;
}
