// VALUES: a few constant rows, given out once, when the input ends (it has no other input).
#include "base/alloc.h"
#include "engine/expr/eval.h"
#include "engine/operators/rows.h"

#include <string.h>

struct values {
    struct operator base;
    const struct plan *plan;
    bool done;
};

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    (void)err;
    struct values *op = tide__calloc(1, sizeof *op);
    op->plan = env->plan;
    *out = &op->base;
    return TIDE_OK;
}

// One row's cell into the column.
static tide_status put_cell(struct eval_context *eval, const struct expr *cell, struct column *column, size_t row,
                            tide_error *err) {
    struct batch one = {.rows = 1};
    struct column value;
    TIDE_TRY(tide__eval(eval, cell, &one, &value, err));
    size_t size = tide__physical_size(column->physical);
    column->nulls[row] = (uint8_t)tide__column_is_null(&value, 0);
    memcpy((char *)column->data + row * size, value.data, size);
    return TIDE_OK;
}

static tide_status emit_all(struct values *op, struct arena *arena, struct emitter *out, tide_error *err) {
    const struct plan_node *node = op->base.node;
    struct eval_context eval = {.zone = op->plan->settings.zone, .scratch = arena};
    struct batch result = {.rows = node->values.row_count, .column_count = node->field_count};
    result.columns = ARENA_ARRAY(arena, struct column, node->field_count + 1);
    for (uint32_t f = 0; f < node->field_count; f++) {
        tide__column_init(&result.columns[f], node->fields[f].type, result.rows, 1, arena);
        for (uint32_t row = 0; row < node->values.row_count; row++)
            TIDE_TRY(put_cell(&eval, node->values.cells[row * node->field_count + f], &result.columns[f], row, err));
    }
    return tide__emit(out, &result, err);
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    (void)watermark;
    struct values *op = (struct values *)base;
    if (op->done) return TIDE_OK;
    op->done = true;
    struct arena arena;
    tide__arena_init(&arena);
    tide_status status = emit_all(op, &arena, out, err);
    tide__arena_deinit(&arena);
    return status;
}

static void save(struct operator *op, struct strbuf *out) {
    tide__strbuf_append_char(out, ((struct values *)op)->done ? 1 : 0);
}

static tide_status restore(struct operator *op, struct str saved, tide_error *err) {
    (void)err;
    ((struct values *)op)->done = saved.len > 0 && saved.data[0] == 1;
    return TIDE_OK;
}

static void close(struct operator *op) {
    tide__free(op);
}

const struct operator_class tide__values_class = {
    .kind = PLAN_VALUES,
    .open = open,
    .on_watermark = on_watermark,
    .save = save,
    .restore = restore,
    .close = close,
};
