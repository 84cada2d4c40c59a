// Emit strategies (table.exec.emit.*) of GROUP BY TUMBLE(ts, ..) and HOP. With a delay of 0 each row gives the result of its windows so far,
// and, with late fire too, so do rows that come up to allow-lateness after the end. That is an unbounded aggregation by the windows of
// the window function, which drops rows that come later; so it becomes one. Its results are the same as Flink's, change by change.
// Other delays go by the clock, so that no run would give the changes of another; late fire alone is not built.
#include "sql/bind.h"

#include "base/time.h"

static bool enabled(struct binder *b, const char *key) {
    struct str value = tide__settings_get(b->session, key);
    return value.data != NULL && tide__str_ieq_c(value, "true");
}

static int64_t duration(struct binder *b, const char *key) {
    struct str value = tide__settings_get(b->session, key);
    int64_t ms;
    return value.data != NULL && tide__duration_parse(value, &ms) ? ms : -1;
}

static tide_status check_delay(struct binder *b, const struct plan_node *node, const char *kind) {
    const char *key = tide__arena_printf(b->arena, "table.exec.emit.%s-fire.delay", kind);
    int64_t delay = duration(b, key);
    if (delay == 0) return TIDE_OK;
    if (delay < 0) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "table.exec.emit.%s-fire.enabled needs \"%s\", a duration",
                      kind, key);
        return tide__fail_hint(b->err, "SET '%s' = '0 s': a result for each row", key);
    }
    tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos,
                  "\"%s\" above 0 is not supported: results would depend on the clock", key);
    return tide__fail_hint(b->err, "SET '%s' = '0 s': a result for each row", key);
}

static tide_status check(struct binder *b, const struct plan_node *node, bool early, bool late) {
    if (node->window_aggregate.window.kind == WINDOW_SESSION)
        return tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos,
                             "SESSION windows give no early or late results: "
                             "table.exec.emit.* is for TUMBLE and HOP");
    if (early) TIDE_TRY(check_delay(b, node, "early"));
    if (!late) return TIDE_OK;
    TIDE_TRY(check_delay(b, node, "late"));
    if (duration(b, "table.exec.emit.allow-lateness") <= 0) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos,
                      "table.exec.emit.late-fire.enabled needs \"table.exec.emit.allow-lateness\", a duration above 0");
        return tide__fail_hint(b->err, "SET 'table.exec.emit.allow-lateness' = '1 min'");
    }
    if (early) return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "table.exec.emit.late-fire without early-fire is not supported");
    return tide__fail_hint(b->err, "late rows are dropped and counted; SET 'tidemark.late-data.path' keeps them");
}

// Keys, then window_start, window_end, window_time, then the aggregates.
static struct plan_node *group_by_windows(struct binder *b, const struct plan_node *node, struct plan_node *tvf) {
    const struct plan_window_aggregate *w = &node->window_aggregate;
    uint32_t keys = w->key_count + 3;
    struct plan_node *made = tide__node_new(b->arena, PLAN_GROUP_AGGREGATE, node->pos, 1, keys + w->aggregate_count);
    made->inputs[0] = tvf;
    made->uid = node->uid;
    made->updates = true;
    struct plan_group_aggregate *group = &made->group_aggregate;
    group->key_count = keys;
    group->keys = ARENA_ARRAY(b->arena, uint32_t, keys);
    group->aggregate_count = w->aggregate_count;
    group->aggregates = w->aggregates;
    group->expires = !w->window.proctime;
    group->time_key = keys - 1;
    group->lateness_ms = tvf->window_tvf.lateness_ms;
    for (uint32_t i = 0; i < w->key_count; i++) {
        group->keys[i] = w->keys[i];
        made->fields[i] = node->fields[i];
    }
    for (uint32_t i = 0; i < 3; i++) {
        group->keys[w->key_count + i] = tvf->field_count - 3 + i;
        made->fields[w->key_count + i] = tvf->fields[tvf->field_count - 3 + i];
    }
    for (uint32_t i = 0; i < w->aggregate_count; i++) made->fields[keys + i] = node->fields[w->key_count + i];
    return made;
}

static struct plan_node *window_function(struct binder *b, const struct plan_node *node, int64_t lateness_ms) {
    struct plan_node *input = node->inputs[0];
    const struct plan_window_aggregate *w = &node->window_aggregate;
    uint32_t columns = input->field_count, properties = w->key_count + w->aggregate_count;
    struct plan_node *tvf = tide__node_new(b->arena, PLAN_WINDOW_TVF, node->pos, 1, columns + 3);
    tvf->inputs[0] = input;
    tvf->window_tvf.window = w->window;
    tvf->window_tvf.drops_late = !w->window.proctime;
    tvf->window_tvf.lateness_ms = lateness_ms;
    for (uint32_t i = 0; i < columns; i++) tvf->fields[i] = input->fields[i];
    static const char *const names[3] = {"window_start", "window_end", "window_time"};
    for (uint32_t i = 0; i < 3; i++)
        tvf->fields[columns + i] = (struct plan_field){names[i], node->fields[properties + i].type};
    return tvf;
}

tide_status tide__plan_emit(struct binder *b, struct plan_node *node, struct plan_node **out) {
    bool early = enabled(b, "table.exec.emit.early-fire.enabled"),
         late = enabled(b, "table.exec.emit.late-fire.enabled");
    *out = node;
    if (b->infer.batch_mode || (!early && !late)) return TIDE_OK;
    TIDE_TRY(check(b, node, early, late));
    const struct plan_window_aggregate *w = &node->window_aggregate;
    int64_t lateness_ms = late ? duration(b, "table.exec.emit.allow-lateness") : 0;
    struct plan_node *group = group_by_windows(b, node, window_function(b, node, lateness_ms));
    struct plan_node *calc = tide__node_calc(b->arena, group, node->field_count, node->pos);
    for (uint32_t i = 0; i < node->field_count; i++) {
        bool key = i < w->key_count, property = i >= w->key_count + w->aggregate_count;
        uint32_t column = key ? i : property ? i - w->aggregate_count : i + 3;
        calc->calc.outputs[i] = tide__node_column(b->arena, group, column, node->pos);
        calc->fields[i] = node->fields[i];
    }
    calc->updates = true;
    *out = calc;
    return TIDE_OK;
}

tide_status tide__plan_emit_refused(struct binder *b, const struct plan_node *node) {
    bool early = enabled(b, "table.exec.emit.early-fire.enabled"),
         late = enabled(b, "table.exec.emit.late-fire.enabled");
    if (b->infer.batch_mode || (!early && !late)) return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos,
                  "table.exec.emit.%s-fire is not for aggregations of window functions", early ? "early" : "late");
    return tide__fail_hint(b->err, "write GROUP BY TUMBLE(ts, INTERVAL ..), or RESET the setting");
}
