// The calc operator: filter, then project. Columns that are only passed through are passed by pointer.
#include "engine/operators/calc.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/expr/eval.h"

#include <sys/time.h>

struct calc {
    struct operator base;
    struct arena arena;  // of one batch
    struct eval_context eval;
};

static struct calc *self(struct operator *op) {
    return (struct calc *)op;
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    (void)err;
    struct calc *calc = tide__calloc(1, sizeof *calc);
    tide__arena_init(&calc->arena);
    calc->eval = (struct eval_context){
        .zone = env->plan->settings.zone, .watermark = WATERMARK_NONE, .scratch = &calc->arena};
    *out = &calc->base;
    return TIDE_OK;
}

static int64_t now_ms(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * MILLIS_PER_SECOND + now.tv_usec / 1000;
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct calc *calc = self(op);
    const struct plan_node *node = op->node;
    tide__arena_reset(&calc->arena);
    calc->eval.watermark = op->watermark;
    calc->eval.now_ms = now_ms();
    struct batch rows = *batch;
    if (node->calc.condition != NULL) {
        uint32_t *kept;
        size_t count;
        TIDE_TRY(tide__eval_filter(&calc->eval, node->calc.condition, batch, &kept, &count, err));
        if (count == 0) return TIDE_OK;
        if (count < batch->rows) rows = tide__batch_gather(batch, kept, count, &calc->arena);
    }
    struct batch result = {.rows = rows.rows, .column_count = node->field_count, .kinds = rows.kinds};
    result.columns = ARENA_ARRAY(&calc->arena, struct column, node->field_count + 1);
    for (uint32_t i = 0; i < node->field_count; i++)
        TIDE_TRY(tide__eval(&calc->eval, node->calc.outputs[i], &rows, &result.columns[i], err));
    return tide__emit(out, &result, err);
}

static void close(struct operator *op) {
    tide__arena_deinit(&self(op)->arena);
    tide__free(op);
}

const struct operator_class tide__calc_class = {
    .kind = PLAN_CALC,
    .open = open,
    .on_batch = on_batch,
    .close = close,
};
