// The class of PLAN_RANK that the table of operators knows: most are Top-N (rank.c); the first row a key by event time
// waits for the watermark instead of taking rows back (first_row.c). Each call goes on to the one at hand.
#include "engine/operators/rank.h"
#include "engine/operators/rank_rows.h"

#include "base/time.h"

static const struct operator_class *class_of(const struct operator *op) {
    return ((const struct rank_operator *)(const void *)op)->class;
}

static bool is_first_row(const struct operator_env *env) {
    const struct plan_rank *plan = &env->node->rank;
    if (!plan->deduplicate || plan->input_updates || plan->sort_count != 1 || plan->sorts[0].descending) return false;
    const struct type *type = env->node->inputs[0]->fields[plan->sorts[0].column].type;
    return type->time_attribute == TIME_ATTRIBUTE_ROWTIME && !env->plan->settings.batch_mode;
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    return is_first_row(env) ? tide__first_row_open(env, out, err) : tide__rank_open(env, out, err);
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    return class_of(op)->on_batch(op, input, batch, out, err);
}

static tide_status on_watermark(struct operator *op, int64_t watermark, struct emitter *out, tide_error *err) {
    return class_of(op)->on_watermark(op, watermark, out, err);
}

static int64_t next_trigger(const struct operator *op, int64_t earliest) {
    return class_of(op)->next_trigger == NULL ? WATERMARK_END : class_of(op)->next_trigger(op, earliest);
}

static tide_status on_barrier(struct operator *op, tide_error *err) {
    return class_of(op)->on_barrier(op, err);
}

static void save(struct operator *op, struct strbuf *out) {
    class_of(op)->save(op, out);
}

static tide_status restore(struct operator *op, struct str saved, tide_error *err) {
    return class_of(op)->restore(op, saved, err);
}

static size_t shrink(struct operator *op, size_t bytes, tide_error *err) {
    return class_of(op)->shrink == NULL ? 0 : class_of(op)->shrink(op, bytes, err);
}

static void close(struct operator *op) {
    class_of(op)->close(op);
}

const struct operator_class tide__rank_class = {
    .kind = PLAN_RANK,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = on_barrier,
    .save = save,
    .restore = restore,
    .shrink = shrink,
    .close = close,
};
