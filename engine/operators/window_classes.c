// The classes that the table of operators knows: they pass each call on to the kind of window at hand.
#include "engine/operators/window.h"

static const struct operator_class *class_of(const struct operator *op) {
    return ((const struct window_operator *)(const void *)op)->class;
}

static tide_status open_aggregate(const struct operator_env *env, struct operator** out, tide_error *err) {
    const struct plan_window_aggregate *plan = &env->node->window_aggregate;
    *out = NULL;
    if (plan->early_fire) {
        tide__fail_at(err, TIDE_ERR_PLAN, env->node->pos, "early firing of windows is not supported");
        return tide__fail_hint(err, "remove the table.exec.emit.* settings");
    }
    bool session = plan->window.kind == WINDOW_SESSION && !plan->attached;
    return session ? tide__session_aggregate_open(env, out, err) : tide__sliced_aggregate_open(env, out, err);
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    return class_of(op)->on_batch(op, input, batch, out, err);
}

static tide_status on_watermark(struct operator *op, int64_t watermark, struct emitter *out, tide_error *err) {
    return class_of(op)->on_watermark == NULL ? TIDE_OK : class_of(op)->on_watermark(op, watermark, out, err);
}

static int64_t next_trigger(const struct operator *op, int64_t earliest) {
    return class_of(op)->next_trigger == NULL ? INT64_MAX : class_of(op)->next_trigger(op, earliest);
}

static tide_status on_barrier(struct operator *op, tide_error *err) {
    return class_of(op)->on_barrier == NULL ? TIDE_OK : class_of(op)->on_barrier(op, err);
}

static void save(struct operator *op, struct strbuf *out) {
    if (class_of(op)->save != NULL) class_of(op)->save(op, out);
}

static tide_status restore(struct operator *op, struct str saved, tide_error *err) {
    return class_of(op)->restore == NULL ? TIDE_OK : class_of(op)->restore(op, saved, err);
}

static size_t shrink(struct operator *op, size_t bytes, tide_error *err) {
    return class_of(op)->shrink == NULL ? 0 : class_of(op)->shrink(op, bytes, err);
}

static void close_operator(struct operator *op) {
    if (op != NULL) class_of(op)->close(op);
}

#define WINDOW_CLASS(kind_, open_)                                                                                     \
    {                                                                                                                  \
        .kind = kind_, .open = open_, .on_batch = on_batch, .on_watermark = on_watermark,                              \
        .next_trigger = next_trigger, .on_barrier = on_barrier, .save = save, .restore = restore, .shrink = shrink,    \
        .close = close_operator                                                                                        \
    }

const struct operator_class tide__window_aggregate_class = WINDOW_CLASS(PLAN_WINDOW_AGGREGATE, open_aggregate);
const struct operator_class tide__window_tvf_class = WINDOW_CLASS(PLAN_WINDOW_TVF, tide__window_tvf_open);
