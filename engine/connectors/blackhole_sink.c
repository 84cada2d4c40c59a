// 'connector' = 'blackhole': takes rows and forgets them.
#include "base/alloc.h"
#include "engine/connectors/sinks.h"

static tide_status blackhole_open(const struct sink_env *env, struct sink **out, tide_error *err) {
    struct sink *sink = tide__calloc(1, sizeof(*sink));
    sink->class = &tide__blackhole_sink;
    *out = sink;
    return TIDE_OK;
}

static tide_status blackhole_write(struct sink *sink, const struct batch *batch, tide_error *err) {
    return TIDE_OK;
}

static tide_status blackhole_prepare(struct sink *sink, struct strbuf *out, tide_error *err) {
    return TIDE_OK;
}

static tide_status blackhole_commit(struct sink *sink, struct str prepared, tide_error *err) {
    return TIDE_OK;
}

static tide_status blackhole_finish(struct sink *sink, tide_error *err) {
    return TIDE_OK;
}

static void blackhole_close(struct sink *sink) {
    tide__free(sink);
}

const struct sink_class tide__blackhole_sink = {
    .connector = "blackhole",
    .open = blackhole_open,
    .write = blackhole_write,
    .prepare = blackhole_prepare,
    .commit = blackhole_commit,
    .restore = blackhole_commit,
    .finish = blackhole_finish,
    .close = blackhole_close,
};
