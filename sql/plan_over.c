// OVER calls that are no Top-N. On a stream they go along event time or processing time, each row out once; or, ordered by any
// other column and without a beginning of the frame, they are computed anew when a row comes in between.
#include "sql/bind.h"

#include <assert.h>

static tide_status refuse(struct binder *b, const struct plan_node *node, const char *why) {
    const struct over_call *call = &node->over.calls[0];
    if (call->kind == OVER_CALL_LAG) return tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "LAG() OVER: %s", why);
    if (!tide__over_is_rank(call->kind)) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "%s: %s", call->name, why);
    }
    tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "%s is no Top-N here: no constant bounds its rank", call->name);
    return tide__fail_hint(b->err, "filter its rank by a constant in an outer query or in QUALIFY: WHERE rn <= 3 "
                                   "(or =, <, BETWEEN)");
}

// The operator tells a time attribute by its type; one that a join has made a plain column must not look like one.
static void forget_time_attribute(struct binder *b, struct plan_node *input, uint32_t column) {
    const struct type **type = &input->fields[column].type;
    *type = tide__type_without_time_attribute(b->arena, *type);
}

static tide_status along_time(struct binder *b, struct plan_node *node) {
    if (!node->inputs[0]->updates) return TIDE_OK;
    return refuse(b, node, "rows that are updated cannot be ordered by time");
}

// Numbers over the rows of windows that change with each row: most likely a bound was forgotten.
static tide_status warn_unbounded(struct binder *b, const struct plan_node *node) {
    const struct role *roles = tide__plan_roles(b->arena, node->inputs[0]);
    bool windowed = false;
    for (uint32_t i = 0; i < node->over.partition_count; i++) {
        enum role_kind kind = roles[node->over.partitions[i]].kind;
        windowed |= kind == ROLE_WINDOW_START || kind == ROLE_WINDOW_END;
    }
    if (!windowed || !tide__over_is_rank(node->over.calls[0].kind)) return TIDE_OK;
    const char
        *hint = "bound the rank by a constant, WHERE rn <= 3 (or =, <, BETWEEN), to get a Window Top-N with final "
                "results";
    if (b->session->strict_windows) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "no constant bounds this rank over window rows");
        return tide__fail_hint(b->err, "%s", hint);
    }
    tide__bind_warn(b, node->pos, hint,
                    "no constant bounds this rank over window rows: it numbers all of them and updates its results");
    return TIDE_OK;
}

static tide_status along_values(struct binder *b, struct plan_node *node) {
    struct plan_over *over = &node->over;
    if (over->preceding >= 0) return refuse(b, node, "a frame with a beginning must be ordered by a time attribute");
    TIDE_TRY(warn_unbounded(b, node));
    forget_time_attribute(b, node->inputs[0], over->sorts[0].column);
    node->updates = true;
    return TIDE_OK;
}

// `node` is a PLAN_OVER whose input is planned already.
tide_status tide__plan_over(struct binder *b, struct plan_node *node) {
    const struct plan_over *over = &node->over;
    node->updates = false;
    if (b->infer.batch_mode) return TIDE_OK;
    if (over->sort_count != 1)
        return refuse(b, node, "on a stream it must be ordered by a single column, best a time attribute");
    if (over->sorts[0].descending) return refuse(b, node, "on a stream it can be ordered in ascending order only");
    if (tide__plan_is_time_attribute(node->inputs[0], over->sorts[0].column)) return along_time(b, node);
    return along_values(b, node);
}
