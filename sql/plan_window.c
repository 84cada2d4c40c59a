// Which aggregations are window aggregations: those that group by both bounds of one window, whatever the columns are called
// by then. Directly above a window function, a calc and grouping sets apart, the function is folded into the aggregation, which
// then puts rows into slices by itself; else rows carry their windows in two columns ("attached").
#include "base/time.h"
#include "sql/bind.h"

#include <assert.h>
#include <string.h>

struct window_keys {
    bool has_start, has_end, has_time;
    uint32_t start, end, time;        // columns of the input
    uint32_t start_place, end_place;  // among the keys
    const struct window *window;
    uint32_t key_count;  // the other keys, columns of the input
    uint32_t *keys;
    bool session_mismatch;     // the other keys are not the session's
    uint32_t *session_places;  // of each key in the session's PARTITION BY
};

static struct window_keys find_keys(struct arena *arena, const struct plan_node *node, const struct role *roles) {
    const struct plan_group_aggregate *group = &node->group_aggregate;
    struct window_keys found = {.keys = ARENA_ARRAY(arena, uint32_t, group->key_count)};
    for (uint32_t i = 0; i < group->key_count; i++) {
        uint32_t column = group->keys[i];
        switch (roles[column].kind) {
        case ROLE_WINDOW_START:
            if (!found.has_start) found.start = column;
            if (!found.has_start) found.start_place = 2 * found.key_count + found.has_end;
            found.has_start = true;
            found.window = roles[column].window;
            break;
        case ROLE_WINDOW_END:
            if (!found.has_end) found.end = column;
            if (!found.has_end) found.end_place = 2 * found.key_count + found.has_start;
            found.has_end = true;
            break;
        case ROLE_WINDOW_TIME:
            if (!found.has_time) found.time = column;
            found.has_time = true;
            break;
        case ROLE_NONE:
        case ROLE_SESSION_KEY: found.keys[found.key_count++] = column; break;
        }
    }
    if (found.window == NULL || found.window->kind != WINDOW_SESSION) return found;
    found.session_places = ARENA_ARRAY(arena, uint32_t, found.key_count + 1);
    for (uint32_t i = 0; i < found.key_count; i++) found.session_places[i] = roles[found.keys[i]].session_key;
    for (uint32_t p = 0; p < found.window->partition_count; p++) {
        bool covered = false;
        for (uint32_t i = 0; i < found.key_count; i++) {
            const struct role *role = &roles[found.keys[i]];
            covered |= role->kind == ROLE_SESSION_KEY && role->session_key == p;
        }
        found.session_mismatch |= !covered;
    }
    for (uint32_t i = 0; i < found.key_count; i++) {
        found.session_mismatch |= roles[found.keys[i]].kind != ROLE_SESSION_KEY;
    }
    return found;
}

// --- What Flink refuses ---

// `legacy`: the group window; it merges whole panes and takes nothing back, so it may have any DISTINCT.
static tide_status check_calls(struct binder *b, const struct window *window, bool legacy,
                               const struct aggregate_call *calls, uint32_t count) {
    static const char *const kinds[] = {"TUMBLE", "HOP", "CUMULATE", "SESSION"};
    for (uint32_t i = 0; i < count; i++) {
        const struct aggregate_call *call = &calls[i];
        const char *name = call->aggregate->name;
        if (window->kind != WINDOW_TUMBLE && !call->aggregate->mergeable) {
            tide__fail_at(b->err, TIDE_ERR_VALIDATE, call->pos,
                          "%s cannot be computed over %s: parts of a window cannot be merged", name,
                          kinds[window->kind]);
            return tide__fail_hint(b->err, "use it over TUMBLE, or MIN and MAX instead");
        }
        bool extreme = strcmp(name, "MIN") == 0 || strcmp(name, "MAX") == 0;  // DISTINCT changes nothing of them
        if (legacy && b->infer.batch_mode && call->distinct && !extreme) {
            tide__fail_at(b->err, TIDE_ERR_PLAN, call->pos,
                          "%s(DISTINCT) is not supported in a group window of batch mode", name);
            return tide__fail_hint(b->err, "use a window function: FROM TUMBLE(TABLE t, DESCRIPTOR(ts), ..) GROUP BY "
                                           "window_start, window_end");
        }
        if (window->kind == WINDOW_HOP && !legacy && call->distinct &&
            (strcmp(name, "SUM") == 0 || strcmp(name, "LISTAGG") == 0)) {
            return tide__fail_at(b->err, TIDE_ERR_PLAN, call->pos, "%s(DISTINCT) is not supported over HOP", name);
        }
    }
    return TIDE_OK;
}

static tide_status check_window(struct binder *b, const struct plan_node *node, const struct window *window) {
    if (window->kind == WINDOW_HOP && window->size_ms % window->slide_ms != 0) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, window->pos,
                      "an aggregation over HOP needs a size (%s) that is a multiple of the slide (%s)",
                      tide__bind_duration_text(b->arena, window->size_ms),
                      tide__bind_duration_text(b->arena, window->slide_ms));
        if (window->size_ms < window->slide_ms)
            return tide__fail_hint(b->err, "the slide comes first: HOP(TABLE t, DESCRIPTOR(ts), slide, size)");
        return tide__bind_hint_sizes(b, window);
    }
    return check_calls(b, window, false, node->group_aggregate.aggregates, node->group_aggregate.aggregate_count);
}

static const struct plan_node *window_function_below(const struct plan_node *node) {
    while (node->kind == PLAN_CALC || node->kind == PLAN_EXPAND) node = node->inputs[0];
    return node->kind == PLAN_WINDOW_TVF ? node : NULL;
}

// An unbounded aggregation over window rows: most likely a window column was forgotten.
static tide_status warn_forgotten(struct binder *b, const struct plan_node *node, const struct window_keys *keys) {
    if (window_function_below(node->inputs[0]) == NULL && keys->has_start == keys->has_end) return TIDE_OK;
    const char *what = keys->has_start ? "window_end" : keys->has_end ? "window_start" : "window_start and window_end";
    const char *message = tide__arena_printf(b->arena, "this GROUP BY over window rows does not group by %s", what);
    const char *hint = "GROUP BY window_start, window_end makes it a window aggregation with final results";
    if (keys->session_mismatch && keys->has_start && keys->has_end) {
        message = "the keys of this GROUP BY are not the PARTITION BY keys of its SESSION";
        hint = "group by window_start, window_end and exactly the session's keys";
    }
    if (b->session->strict_windows) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "%s", message);
        return tide__fail_hint(b->err, "%s", hint);
    }
    tide__bind_warn(b, node->pos, hint, "%s: it runs over all of the stream and updates its results", message);
    return TIDE_OK;
}

// --- Folding ---

static bool uses_from(const struct expr *expr, uint32_t first) {
    if (expr == NULL) return false;
    if (expr->kind == EXPR_COLUMN) return expr->column >= first;
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        if (uses_from(expr->args[i], first)) return true;
    }
    return false;
}

// What stands between the function and the aggregation, from above: grouping sets, a calc. NULL: not there.
struct fold {
    struct plan_node *expand, *calc, *tvf;
};

static struct fold find_fold(struct plan_node *input) {
    struct fold fold = {0};
    if (input->kind == PLAN_EXPAND) {
        fold.expand = input;
        input = input->inputs[0];
    }
    if (input->kind == PLAN_CALC) {
        fold.calc = input;
        input = input->inputs[0];
    }
    if (input->kind == PLAN_WINDOW_TVF) fold.tvf = input;
    return fold;
}

// The calc passes window columns through and does nothing else with them. Its filter goes below: then what it drops does not hold
// a session together any more. Flink does so too, and only where an aggregation folds.
static bool calc_folds(const struct fold *fold) {
    const struct plan_node *calc = fold->calc;
    uint32_t first = fold->tvf->inputs[0]->field_count;
    if (calc == NULL) return true;
    if (uses_from(calc->calc.condition, first)) return false;
    for (uint32_t i = 0; i < calc->field_count; i++) {
        const struct expr *output = calc->calc.outputs[i];
        if (output->kind != EXPR_COLUMN && uses_from(output, first)) return false;
    }
    return true;
}

static bool is_window_role(enum role_kind kind) {
    return kind != ROLE_NONE && kind != ROLE_SESSION_KEY;
}

// Each grouping set passes window columns through.
static bool expand_folds(struct arena *arena, const struct fold *fold) {
    const struct plan_node *expand = fold->expand;
    if (expand == NULL) return true;
    if (fold->tvf->window_tvf.window.kind == WINDOW_SESSION) return false;
    struct role *below = tide__plan_roles(arena, expand->inputs[0]), *above = tide__plan_roles(arena, expand);
    for (uint32_t i = 0; i < expand->expand.set_count * expand->field_count; i++) {
        const struct expr *output = expand->expand.outputs[i];
        bool window = output->kind == EXPR_COLUMN && is_window_role(below[output->column].kind);
        if (window && !is_window_role(above[i % expand->field_count].kind)) return false;
    }
    return true;
}

static bool can_fold(struct arena *arena, const struct plan_node *node, struct plan_node *input) {
    struct fold fold = find_fold(input);
    if (fold.tvf == NULL || !calc_folds(&fold) || !expand_folds(arena, &fold)) return false;
    struct role *roles = tide__plan_roles(arena, input);
    const struct plan_group_aggregate *group = &node->group_aggregate;
    for (uint32_t i = 0; i < group->aggregate_count; i++) {
        const struct aggregate_call *call = &group->aggregates[i];
        for (uint32_t a = 0; a < call->arg_count; a++) {
            if (is_window_role(roles[call->args[a]].kind)) return false;
        }
    }
    return true;
}

// Rebuilds what stands between without the window function. *map: column of `input` -> of the result, -1 for window columns.
static struct plan_node *calc_without_function(struct arena *arena, const struct fold *fold, int32_t *map,
                                               uint32_t *out_time) {
    const struct plan_node *old = fold->calc;
    struct plan_node *below = fold->tvf->inputs[0];
    uint32_t time = fold->tvf->window_tvf.window.time_column;
    if (old == NULL) {
        for (uint32_t i = 0; i < fold->tvf->field_count; i++) map[i] = i < below->field_count ? (int32_t)i : -1;
        *out_time = time;
        return below;
    }
    struct plan_node *calc = tide__node_calc(arena, below, old->field_count + 1, old->pos);
    calc->calc.condition = old->calc.condition;
    uint32_t count = 0;
    bool has_time = false;
    for (uint32_t i = 0; i < old->field_count; i++) {
        struct expr *output = old->calc.outputs[i];
        map[i] = -1;
        if (output->kind == EXPR_COLUMN && output->column >= below->field_count) continue;
        if (output->kind == EXPR_COLUMN && output->column == time && !has_time) {
            has_time = true;
            *out_time = count;
        }
        calc->calc.outputs[count] = output;
        calc->fields[count] = old->fields[i];
        map[i] = (int32_t)count++;
    }
    if (!has_time) {
        *out_time = count;
        calc->calc.outputs[count] = tide__node_column(arena, below, time, old->pos);
        calc->fields[count++] = below->fields[time];
    }
    calc->field_count = count;
    return calc;
}

// A field of the grouping sets with other columns below.
static void copy_sets(struct arena *arena, const struct plan_node *old, uint32_t field, const int32_t *map,
                      struct plan_node *expand, uint32_t to, uint32_t fields) {
    expand->fields[to] = old->fields[field];
    for (uint32_t set = 0; set < old->expand.set_count; set++) {
        struct expr *output = old->expand.outputs[set * old->field_count + field];
        if (output->kind == EXPR_COLUMN)
            output = tide__expr_column(arena, (uint32_t)map[output->column], output->type, output->pos);
        expand->expand.outputs[set * fields + to] = output;
    }
}

// The time goes through the grouping sets in a field of its own, which none of them turns to NULL.
static struct plan_node *without_function(struct arena *arena, struct plan_node *input, int32_t *map,
                                          uint32_t *out_time) {
    struct fold fold = find_fold(input);
    const struct plan_node *old = fold.expand;
    if (old == NULL) return calc_without_function(arena, &fold, map, out_time);
    int32_t *below_map = ARENA_ARRAY(arena, int32_t, old->inputs[0]->field_count);
    uint32_t time, count = 0, fields = 1;
    struct plan_node *below = calc_without_function(arena, &fold, below_map, &time);
    struct role *roles = tide__plan_roles(arena, old);
    for (uint32_t f = 0; f < old->field_count; f++) fields += !is_window_role(roles[f].kind);
    struct plan_node *expand = tide__node_new(arena, PLAN_EXPAND, old->pos, 1, fields);
    expand->inputs[0] = below;
    expand->expand.set_count = old->expand.set_count;
    expand->expand.outputs = ARENA_ARRAY(arena, struct expr *, old->expand.set_count * fields);
    for (uint32_t f = 0; f < old->field_count; f++) {
        map[f] = -1;
        if (is_window_role(roles[f].kind)) continue;
        copy_sets(arena, old, f, below_map, expand, count, fields);
        map[f] = (int32_t)count++;
    }
    expand->fields[count] = below->fields[time];
    for (uint32_t set = 0; set < old->expand.set_count; set++)
        expand->expand.outputs[set * fields + count] = tide__node_column(arena, below, time, old->pos);
    *out_time = count;
    return expand;
}

static void remap_calls(struct plan_window_aggregate *w, const int32_t *map) {
    for (uint32_t i = 0; i < w->key_count; i++) w->keys[i] = (uint32_t)map[w->keys[i]];
    for (uint32_t i = 0; i < w->aggregate_count; i++) {
        struct aggregate_call *call = &w->aggregates[i];
        for (uint32_t a = 0; a < call->arg_count; a++) call->args[a] = (uint32_t)map[call->args[a]];
        if (call->filter >= 0) call->filter = map[call->filter];
    }
}

// --- The node ---

static struct plan_node *window_aggregate(struct binder *b, struct plan_node *node, const struct window_keys *keys) {
    struct arena *arena = b->arena;
    struct plan_node *input = node->inputs[0];
    const struct plan_group_aggregate *group = &node->group_aggregate;
    uint32_t properties = keys->has_time ? 3 : 2;
    uint32_t first_property = keys->key_count + group->aggregate_count;
    struct plan_node *made = tide__node_new(arena, PLAN_WINDOW_AGGREGATE, node->pos, 1, first_property + properties);
    struct plan_window_aggregate *w = &made->window_aggregate;
    made->uid = node->uid;
    w->window = *keys->window;
    w->key_count = keys->key_count;
    w->keys = keys->keys;
    w->session_places = keys->session_places;
    w->start_place = keys->start_place;
    w->end_place = keys->end_place;
    w->aggregate_count = group->aggregate_count;
    w->aggregates = group->aggregates;
    w->property_count = properties;
    w->properties = ARENA_ARRAY(arena, enum window_property, 3);
    for (uint32_t i = 0; i < properties; i++) w->properties[i] = (enum window_property)i;
    for (uint32_t i = 0; i < keys->key_count; i++) made->fields[i] = input->fields[keys->keys[i]];
    for (uint32_t i = 0; i < group->aggregate_count; i++)
        made->fields[keys->key_count + i] = node->fields[group->key_count + i];
    made->fields[first_property] = (struct plan_field){"window_start", input->fields[keys->start].type};
    made->fields[first_property + 1] = (struct plan_field){"window_end", input->fields[keys->end].type};
    if (keys->has_time)
        made->fields[first_property + 2] = (struct plan_field){"window_time", input->fields[keys->time].type};
    w->attached = true;
    w->start_column = keys->start;
    w->end_column = keys->end;
    w->window.time_column = 0;
    made->inputs[0] = input;
    if (can_fold(arena, node, input)) {
        int32_t *map = ARENA_ARRAY(arena, int32_t, input->field_count);
        w->attached = false;
        w->start_column = w->end_column = 0;
        made->inputs[0] = without_function(arena, input, map, &w->window.time_column);
        remap_calls(w, map);
    }
    w->window.partition_count = w->window.kind == WINDOW_SESSION ? w->key_count : 0;
    w->window.partitions = w->keys;
    return made;
}

// Puts the columns back into the order of the GROUP BY.
static struct plan_node *restore_order(struct binder *b, const struct plan_node *node, struct plan_node *made,
                                       const struct role *roles) {
    const struct plan_group_aggregate *group = &node->group_aggregate;
    const struct plan_window_aggregate *w = &made->window_aggregate;
    uint32_t first_property = w->key_count + w->aggregate_count, key = 0;
    struct plan_node *calc = tide__node_calc(b->arena, made, node->field_count, node->pos);
    for (uint32_t i = 0; i < node->field_count; i++) {
        uint32_t column;
        if (i >= group->key_count) {
            column = w->key_count + (i - group->key_count);
        } else {
            switch (roles[group->keys[i]].kind) {
            case ROLE_WINDOW_START: column = first_property; break;
            case ROLE_WINDOW_END: column = first_property + 1; break;
            case ROLE_WINDOW_TIME: column = first_property + 2; break;
            case ROLE_NONE:
            case ROLE_SESSION_KEY:
            default: column = key++; break;
            }
        }
        calc->calc.outputs[i] = tide__node_column(b->arena, made, column, node->pos);
        calc->fields[i] = node->fields[i];
    }
    return calc;
}

static tide_status positive(struct binder *b, const struct plan_node *node, const char *key, int64_t value) {
    if (value > 0) return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos, "mini-batches need \"%s\" to be more than 0", key);
    return tide__fail_hint(b->err, "SET '%s' = '%s', or switch table.exec.mini-batch.enabled off", key,
                           strstr(key, "size") != NULL ? "1000" : "5 s");
}

// table.exec.mini-batch.*: see struct plan_group_aggregate.
static tide_status set_bundle(struct binder *b, struct plan_node *node) {
    static const char latency_key[] = "table.exec.mini-batch.allow-latency", size_key[] = "table.exec.mini-batch.size";
    struct plan_group_aggregate *group = &node->group_aggregate;
    if (!b->session->mini_batch || b->infer.batch_mode) return TIDE_OK;
    struct str latency = tide__settings_get(b->session, latency_key), size = tide__settings_get(b->session, size_key);
    if (latency.data == NULL || !tide__duration_parse(latency, &group->bundle_latency_ms)) group->bundle_latency_ms = 0;
    TIDE_TRY(positive(b, node, latency_key, group->bundle_latency_ms));
    for (size_t i = 0; i < size.len && i < 18 && size.data[i] >= '0' && size.data[i] <= '9'; i++)
        group->bundle_rows = group->bundle_rows * 10 + (size.data[i] - '0');
    return positive(b, node, size_key, group->bundle_rows);
}

// `node` is a PLAN_GROUP_AGGREGATE or a legacy PLAN_WINDOW_AGGREGATE whose input is planned already.
tide_status tide__plan_aggregate(struct binder *b, struct plan_node *node, struct plan_node **out) {
    struct plan_node *input = node->inputs[0];
    *out = node;
    if (node->kind == PLAN_WINDOW_AGGREGATE) {
        if (input->updates) {
            return tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos,
                                 "a group window cannot be computed over rows that are updated");
        }
        struct str early = tide__settings_get(b->session, "table.exec.emit.early-fire.enabled");
        node->window_aggregate.early_fire = !b->infer.batch_mode && early.data != NULL &&
                                            tide__str_ieq_c(early, "true");
        TIDE_TRY(check_calls(b, &node->window_aggregate.window, true, node->window_aggregate.aggregates,
                             node->window_aggregate.aggregate_count));
        return b->session->checking ? TIDE_OK : tide__plan_emit(b, node, out);
    }
    struct role *roles = tide__plan_roles(b->arena, input);
    struct window_keys keys = find_keys(b->arena, node, roles);
    node->group_aggregate.input_updates = input->updates;
    node->updates = !b->infer.batch_mode && (node->group_aggregate.aggregate_count > 0 || input->updates);
    bool window = !input->updates && keys.has_start && keys.has_end && !keys.session_mismatch;
    if (!window) TIDE_TRY(set_bundle(b, node));
    tide__plan_mark_forward(node);
    if (input->updates) return TIDE_OK;
    if (!window) return warn_forgotten(b, node, &keys);
    TIDE_TRY(check_window(b, node, keys.window));
    TIDE_TRY(tide__plan_emit_refused(b, node));
    *out = restore_order(b, node, window_aggregate(b, node, &keys), roles);
    return TIDE_OK;
}

// A join in between may have made the time a plain column.
static tide_status check_time(struct binder *b, const struct plan_node *node) {
    const struct window *window = &node->window_tvf.window;
    if (b->infer.batch_mode || tide__plan_is_time_attribute(node->inputs[0], window->time_column)) return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_PLAN, window->pos,
                  "the time column of this window function is no time attribute any more");
    return tide__fail_hint(
        b->err, "a join that is neither a window join nor an interval join keeps rows for ever and loses it");
}

tide_status tide__plan_recognise(struct binder *b, struct plan_node *node, struct plan_node **out) {
    *out = node;
    if (node->kind == PLAN_CALC && node->inputs[0]->kind == PLAN_OVER) {
        struct plan_node *over = node->inputs[0];
        bool ranks = over->over.call_count == 1 && tide__over_is_rank(over->over.calls[0].kind);
        TIDE_TRY(tide__plan_recognise(b, over->inputs[0], &over->inputs[0]));
        over->updates = over->inputs[0]->updates;
        if (ranks) TIDE_TRY(tide__plan_rank(b, node, out));
        if (ranks && *out != NULL) return TIDE_OK;
        *out = node;
        TIDE_TRY(tide__plan_over(b, over));
        node->updates = over->updates;
        return TIDE_OK;
    }
    bool updates = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        TIDE_TRY(tide__plan_recognise(b, node->inputs[i], &node->inputs[i]));
        node->inputs[i] = tide__plan_merge_calcs(b->arena, node->inputs[i]);
        updates |= node->inputs[i]->updates;
    }
    node->updates = updates;
    switch (node->kind) {
    case PLAN_OVER: return tide__plan_over(b, node);
    case PLAN_SORT: return tide__plan_sort(b, node);
    case PLAN_RANK: tide__plan_limit(b, node); return TIDE_OK;
    case PLAN_JOIN: return tide__plan_join(b, node, out);
    case PLAN_GROUP_AGGREGATE:
    case PLAN_WINDOW_AGGREGATE: return tide__plan_aggregate(b, node, out);
    case PLAN_WINDOW_TVF:
        if (!updates) return check_time(b, node);
        tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos,
                      "a window function cannot be computed over rows that are updated");
        return tide__fail_hint(
            b->err, "its input is an unbounded aggregation or a regular Top-N; make that a window operation");
    case PLAN_CALC:
        if (node->inputs[0]->kind == PLAN_CALC) *out = tide__plan_merge_calcs(b->arena, node);
        return TIDE_OK;
    default: return TIDE_OK;
    }
}
