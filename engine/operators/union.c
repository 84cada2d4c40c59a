// UNION ALL: rows pass in the order they come; the driver takes the minimum of the inputs' watermarks.
#include "base/alloc.h"
#include "engine/operators/rows.h"

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    (void)env, (void)err;
    *out = tide__calloc(1, sizeof **out);
    return TIDE_OK;
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)op, (void)input;
    return tide__emit(out, batch, err);
}

static void close(struct operator *op) {
    tide__free(op);
}

const struct operator_class tide__union_class = {
    .kind = PLAN_UNION,
    .open = open,
    .on_batch = on_batch,
    .close = close,
};
