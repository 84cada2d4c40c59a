// The sink operator. NOT NULL columns are checked here, as Flink does at run time for sinks and printed results alike.
#include "engine/operators/sink.h"

#include "base/alloc.h"
#include "engine/connectors/connector.h"

#include <string.h>

struct sink_operator {
    struct operator base;
    struct sink *sink;  // NULL: SINK_COLLECT
    struct strbuf run_id;
    struct strbuf prepared;  // what the sink's prepare gave at the last barrier
    operator_collect_fn *collect;
    void *collect_ctx;
};

static struct sink_operator *self(struct operator *op) {
    return (struct sink_operator *)op;
}

// Several sinks of a job may write to one folder: all but the first have their number behind the run's name.
static const char *sink_run_id(const struct operator_env *env, struct sink_operator *op) {
    const struct plan *plan = env->plan;
    uint32_t root = 0;
    while (root < plan->root_count && plan->roots[root] != env->node) root++;
    if (root == 0 || env->run_id == NULL) return env->run_id;
    tide__strbuf_printf(&op->run_id, "%sx%u", env->run_id, root);
    return op->run_id.data;
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    const struct plan_sink *plan = &env->node->sink;
    const struct sink_class *class = NULL;
    if (plan->kind == SINK_TABLE) {
        const struct option *connector = tide__table_option(plan->table, "connector");
        if (connector != NULL) class = tide__sink_class(connector->value);
        if (class == NULL)
            return tide__fail_at(err, TIDE_ERR_VALIDATE, plan->table->pos, "table \"%s\" can't be written to",
                                 plan->table->name);
    }
    struct sink_operator *op = tide__calloc(1, sizeof *op);
    op->collect = env->collect;
    op->collect_ctx = env->collect_ctx;
    if (class != NULL) {
        struct sink_env sink_env = {
            .plan = env->plan, .node = env->node, .script_dir = env->script_dir, .run_id = sink_run_id(env, op)};
        tide_status status = class->open(&sink_env, &op->sink, err);
        if (status != TIDE_OK) {
            tide__strbuf_deinit(&op->run_id);
            tide__free(op);
            return status;
        }
    }
    *out = &op->base;
    return TIDE_OK;
}

static tide_status check_not_null(const struct plan_node *node, const struct batch *batch, tide_error *err) {
    const struct plan_sink *plan = &node->sink;
    for (size_t c = 0; c < batch->column_count; c++) {
        const struct column *column = &batch->columns[c];
        const struct type *type = plan->kind == SINK_TABLE ? plan->table->columns[plan->columns[c]].type
                                                           : node->fields[c].type;
        if (type->nullable || column->nulls == NULL) continue;
        const uint8_t *null = memchr(column->nulls, 1, batch->rows);
        if (null == NULL) continue;
        const char *name = plan->kind == SINK_TABLE ? plan->table->columns[plan->columns[c]].name
                                                    : node->fields[c].name;
        tide__fail_at(err, TIDE_ERR_RUNTIME, node->pos, "column \"%s\" is NOT NULL, but a row has NULL in it", name);
        return tide__fail_hint(err, "Filter such rows out, or declare the column without NOT NULL.");
    }
    return TIDE_OK;
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input, (void)out;
    TIDE_TRY(check_not_null(op->node, batch, err));
    struct sink_operator *s = self(op);
    if (s->sink != NULL) return s->sink->class->write(s->sink, batch, err);
    return s->collect != NULL ? s->collect(s->collect_ctx, op->node, batch, err) : TIDE_OK;
}

static tide_status on_barrier(struct operator *op, tide_error *err) {
    struct sink_operator *s = self(op);
    tide__strbuf_clear(&s->prepared);
    return s->sink != NULL ? s->sink->class->prepare(s->sink, &s->prepared, err) : TIDE_OK;
}

static void save(struct operator *op, struct strbuf *out) {
    tide__strbuf_append_str(out, tide__strbuf_str(&self(op)->prepared));
}

static tide_status restore(struct operator *op, struct str saved, tide_error *err) {
    struct sink_operator *s = self(op);
    return s->sink != NULL ? s->sink->class->restore(s->sink, saved, err) : TIDE_OK;
}

tide_status tide__sink_operator_commit(struct operator *op, struct str saved, tide_error *err) {
    struct sink_operator *s = self(op);
    return s->sink != NULL ? s->sink->class->commit(s->sink, saved, err) : TIDE_OK;
}

tide_status tide__sink_operator_end(struct operator *op, tide_error *err) {
    struct sink_operator *s = self(op);
    return s->sink != NULL && s->sink->class->end != NULL ? s->sink->class->end(s->sink, err) : TIDE_OK;
}

tide_status tide__sink_operator_finish(struct operator *op, tide_error *err) {
    struct sink_operator *s = self(op);
    return s->sink != NULL ? s->sink->class->finish(s->sink, err) : TIDE_OK;
}

static void close(struct operator *op) {
    struct sink_operator *s = self(op);
    if (s->sink != NULL) s->sink->class->close(s->sink);
    tide__strbuf_deinit(&s->prepared);
    tide__strbuf_deinit(&s->run_id);
    tide__free(s);
}

const struct operator_class tide__sink_operator_class = {
    .kind = PLAN_SINK,
    .open = open,
    .on_batch = on_batch,
    .on_barrier = on_barrier,
    .save = save,
    .restore = restore,
    .close = close,
};
