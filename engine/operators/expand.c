// Grouping sets: each row goes out once for each set, with the keys outside the set NULL and the set's number added.
// A row's copies follow each other, so arrival order inside a group does not depend on the batch size.
#include "base/alloc.h"
#include "engine/expr/eval.h"
#include "engine/operators/rows.h"

#include <string.h>

struct expand {
    struct operator base;
    struct arena arena;  // of one batch
    struct eval_context eval;
};

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    (void)err;
    struct expand *op = tide__calloc(1, sizeof *op);
    tide__arena_init(&op->arena);
    op->eval = (struct eval_context){.zone = env->plan->settings.zone, .scratch = &op->arena};
    *out = &op->base;
    return TIDE_OK;
}

// out[row * sets + set] = in[set][row]
static void interleave(const struct column *in, size_t sets, size_t rows, const struct type *type, struct arena *arena,
                       struct column *out) {
    tide__column_init(out, type, rows * sets, 1, arena);
    size_t size = tide__physical_size(out->physical);
    for (size_t set = 0; set < sets; set++) {
        for (size_t row = 0; row < rows; row++) {
            size_t to = row * sets + set;
            out->nulls[to] = (uint8_t)tide__column_is_null(&in[set], row);
            memcpy((char *)out->data + to * size, (const char *)in[set].data + row * size, size);
        }
    }
}

static const uint8_t *interleave_kinds(const uint8_t *kinds, size_t sets, size_t rows, struct arena *arena) {
    if (kinds == NULL) return NULL;
    uint8_t *out = tide__arena_alloc(arena, rows * sets);
    for (size_t row = 0; row < rows; row++) memset(out + row * sets, kinds[row], sets);
    return out;
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct expand *op = (struct expand *)base;
    const struct plan_node *node = base->node;
    const struct plan_expand *plan = &node->expand;
    tide__arena_reset(&op->arena);
    struct batch result = {.rows = batch->rows * plan->set_count, .column_count = node->field_count};
    result.columns = ARENA_ARRAY(&op->arena, struct column, node->field_count);
    result.kinds = interleave_kinds(batch->kinds, plan->set_count, batch->rows, &op->arena);
    struct column *in = ARENA_ARRAY(&op->arena, struct column, plan->set_count);
    for (uint32_t field = 0; field < node->field_count; field++) {
        for (uint32_t set = 0; set < plan->set_count; set++)
            TIDE_TRY(tide__eval(&op->eval, plan->outputs[set * node->field_count + field], batch, &in[set], err));
        interleave(in, plan->set_count, batch->rows, node->fields[field].type, &op->arena, &result.columns[field]);
    }
    return tide__emit(out, &result, err);
}

static void close(struct operator *op) {
    tide__arena_deinit(&((struct expand *)op)->arena);
    tide__free(op);
}

const struct operator_class tide__expand_class = {
    .kind = PLAN_EXPAND,
    .open = open,
    .on_batch = on_batch,
    .close = close,
};
