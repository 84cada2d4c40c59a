// The class of PLAN_OVER that the table of operators knows. Functions along time, and most of batch mode, are over.c's: each
// row goes out once. Along any other column of a stream results change (over_values.c); in batch mode some look ahead
// (over_partition.c). Each call goes on to the one at hand.
#include "engine/operators/over.h"

#include "base/time.h"
#include "engine/operators/over_partition.h"
#include "engine/operators/over_rows.h"
#include "engine/operators/over_values.h"
#include "engine/operators/rank_rows.h"

static const struct operator_class *class_of(const struct operator *op) {
    return ((const struct rank_operator *)(const void *)op)->class;
}

static bool is_along_values(const struct operator_env *env) {
    const struct plan_over *plan = &env->node->over;
    if (env->plan->settings.batch_mode || plan->sort_count != 1 || plan->preceding >= 0) return false;
    return env->node->inputs[0]->fields[plan->sorts[0].column].type->time_attribute == TIME_ATTRIBUTE_NONE;
}

static bool looks_ahead(const struct operator_env *env) {
    const struct plan_over *plan = &env->node->over;
    bool ahead = plan->general;
    for (uint32_t i = 0; i < plan->call_count; i++) ahead |= plan->calls[i].kind >= OVER_CALL_LEAD;
    return ahead && env->plan->settings.batch_mode;
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    if (looks_ahead(env)) return tide__over_partition_open(env, out, err);
    return is_along_values(env) ? tide__over_values_open(env, out, err) : tide__over_along_time.open(env, out, err);
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    return class_of(op)->on_batch(op, input, batch, out, err);
}

static tide_status on_watermark(struct operator *op, int64_t watermark, struct emitter *out, tide_error *err) {
    return class_of(op)->on_watermark == NULL ? TIDE_OK : class_of(op)->on_watermark(op, watermark, out, err);
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

const struct operator_class tide__over_class = {
    .kind = PLAN_OVER,
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
