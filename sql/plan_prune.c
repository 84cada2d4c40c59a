// Column pruning, from the sink down: each node is rebuilt with the columns that somebody above needs. A scan parses only those,
// so that a bad value in a column that nobody reads does not matter.
#include "sql/bind.h"

#include <assert.h>
#include <string.h>

// prune() gives a node and where each old field is in it (-1: gone). Fields may stay that nobody asked for.
struct pruned {
    struct plan_node *node;
    int32_t *map;
};

static struct pruned prune(struct arena *arena, struct plan_node *node, const bool *needed);

static struct plan_node *copy_node(struct arena *arena, const struct plan_node *node) {
    struct plan_node *copy = ARENA_NEW(arena, struct plan_node);
    *copy = *node;
    copy->inputs = ARENA_ARRAY(arena, struct plan_node *, node->input_count);
    copy->fields = ARENA_ARRAY(arena, struct plan_field, node->field_count);
    return copy;
}

static int32_t *new_map(struct arena *arena, uint32_t count) {
    int32_t *map = ARENA_ARRAY(arena, int32_t, count);
    for (uint32_t i = 0; i < count; i++) map[i] = -1;
    return map;
}

static void keep_field(struct plan_node *copy, const struct plan_node *node, int32_t *map, uint32_t field) {
    copy->fields[copy->field_count] = node->fields[field];
    map[field] = (int32_t)copy->field_count++;
}

static struct pruned prune_scan(struct arena *arena, struct plan_node *node, const bool *needed) {
    struct plan_node *copy = copy_node(arena, node);
    int32_t *map = new_map(arena, node->field_count);
    const struct plan_scan *scan = &node->scan;
    bool *read = ARENA_ARRAY(arena, bool, scan->read_count);
    copy->field_count = 0;
    copy->scan.outputs = ARENA_ARRAY(arena, struct expr *, node->field_count);
    struct expr **kept = ARENA_ARRAY(arena, struct expr *, node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (!needed[i] && (int32_t)i != scan->time_column) continue;
        kept[copy->field_count] = scan->outputs[i];
        keep_field(copy, node, map, i);
        tide__expr_mark(scan->outputs[i], read);
    }
    tide__expr_mark(scan->watermark, read);
    int32_t *read_map = new_map(arena, scan->read_count);
    copy->scan.reads = ARENA_ARRAY(arena, uint32_t, scan->read_count);
    copy->scan.read_count = 0;
    for (uint32_t i = 0; i < scan->read_count; i++) {
        if (!read[i]) continue;
        copy->scan.reads[copy->scan.read_count] = scan->reads[i];
        read_map[i] = (int32_t)copy->scan.read_count++;
    }
    for (uint32_t i = 0; i < copy->field_count; i++) copy->scan.outputs[i] = tide__expr_remap(arena, kept[i], read_map);
    if (scan->watermark != NULL) copy->scan.watermark = tide__expr_remap(arena, scan->watermark, read_map);
    if (scan->time_column >= 0) copy->scan.time_column = map[scan->time_column];
    return (struct pruned){copy, map};
}

static struct pruned prune_values(struct arena *arena, struct plan_node *node, const bool *needed) {
    struct plan_node *copy = copy_node(arena, node);
    int32_t *map = new_map(arena, node->field_count);
    copy->field_count = 0;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (needed[i]) keep_field(copy, node, map, i);
    }
    copy->values.cells = ARENA_ARRAY(arena, struct expr *, node->values.row_count * copy->field_count);
    for (uint32_t r = 0; r < node->values.row_count; r++) {
        for (uint32_t i = 0; i < node->field_count; i++) {
            if (map[i] < 0) continue;
            copy->values.cells[r * copy->field_count + (uint32_t)map[i]] = node->values
                                                                               .cells[r * node->field_count + i];
        }
    }
    return (struct pruned){copy, map};
}

static struct pruned prune_calc(struct arena *arena, struct plan_node *node, const bool *needed) {
    struct plan_node *input = node->inputs[0], *copy = copy_node(arena, node);
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, input->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (needed[i]) tide__expr_mark(node->calc.outputs[i], below);
    }
    tide__expr_mark(node->calc.condition, below);
    struct pruned pruned = prune(arena, input, below);
    copy->inputs[0] = pruned.node;
    copy->field_count = 0;
    copy->calc.outputs = ARENA_ARRAY(arena, struct expr *, node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (!needed[i]) continue;
        copy->calc.outputs[copy->field_count] = tide__expr_remap(arena, node->calc.outputs[i], pruned.map);
        keep_field(copy, node, map, i);
    }
    if (node->calc.condition != NULL) copy->calc.condition = tide__expr_remap(arena, node->calc.condition, pruned.map);
    return (struct pruned){copy, map};
}

// The needed fields exactly, in order: with a calc on top if the node gives more.
static struct plan_node *prune_exactly(struct arena *arena, struct plan_node *node, const bool *needed) {
    struct pruned pruned = prune(arena, node, needed);
    uint32_t count = 0;
    bool exact = true;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (needed[i]) exact &= pruned.map[i] == (int32_t)count++;
    }
    if (exact && count == pruned.node->field_count) return pruned.node;
    struct plan_node *calc = tide__node_calc(arena, pruned.node, count, node->pos);
    count = 0;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (!needed[i]) continue;
        calc->calc.outputs[count] = tide__node_column(arena, pruned.node, (uint32_t)pruned.map[i], node->pos);
        calc->fields[count++] = node->fields[i];
    }
    return calc;
}

static struct pruned prune_union(struct arena *arena, struct plan_node *node, const bool *needed) {
    struct plan_node *copy = copy_node(arena, node);
    int32_t *map = new_map(arena, node->field_count);
    for (uint32_t i = 0; i < node->input_count; i++) copy->inputs[i] = prune_exactly(arena, node->inputs[i], needed);
    copy->field_count = 0;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (needed[i]) keep_field(copy, node, map, i);
    }
    return (struct pruned){copy, map};
}

static struct pruned prune_expand(struct arena *arena, struct plan_node *node, const bool *needed) {
    struct plan_node *input = node->inputs[0], *copy = copy_node(arena, node);
    int32_t *map = new_map(arena, node->field_count);
    uint32_t sets = node->expand.set_count, fields = node->field_count;
    bool *below = ARENA_ARRAY(arena, bool, input->field_count);
    copy->field_count = 0;
    for (uint32_t i = 0; i < fields; i++) {
        if (!needed[i]) continue;
        keep_field(copy, node, map, i);
        for (uint32_t s = 0; s < sets; s++) tide__expr_mark(node->expand.outputs[s * fields + i], below);
    }
    struct pruned pruned = prune(arena, input, below);
    copy->inputs[0] = pruned.node;
    copy->expand.outputs = ARENA_ARRAY(arena, struct expr *, sets * copy->field_count);
    for (uint32_t s = 0; s < sets; s++) {
        for (uint32_t i = 0; i < fields; i++) {
            if (map[i] < 0) continue;
            copy->expand.outputs[s * copy->field_count + (uint32_t)map[i]] = tide__expr_remap(
                arena, node->expand.outputs[s * fields + i], pruned.map);
        }
    }
    return (struct pruned){copy, map};
}

static uint32_t *remap_columns(struct arena *arena, const uint32_t *columns, uint32_t count, const int32_t *map) {
    uint32_t *out = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        assert(map[columns[i]] >= 0);
        out[i] = (uint32_t)map[columns[i]];
    }
    return out;
}

static void mark_columns(bool *used, const uint32_t *columns, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) used[columns[i]] = true;
}

// Fields of the input as they are after pruning, then `extra` more.
static void take_input_fields(struct arena *arena, struct plan_node *copy, const struct plan_node *node,
                              const struct pruned *input, uint32_t extra, int32_t *map) {
    uint32_t before = node->inputs[0]->field_count, after = input->node->field_count;
    copy->inputs[0] = input->node;
    copy->field_count = after + extra;
    copy->fields = ARENA_ARRAY(arena, struct plan_field, copy->field_count);
    for (uint32_t i = 0; i < after; i++) copy->fields[i] = input->node->fields[i];
    for (uint32_t i = 0; i < before; i++) map[i] = input->map[i];
    for (uint32_t i = 0; i < extra; i++) {
        copy->fields[after + i] = node->fields[before + i];
        map[before + i] = (int32_t)(after + i);
    }
}

static struct pruned prune_tvf(struct arena *arena, struct plan_node *node, const bool *needed) {
    struct plan_node *input = node->inputs[0], *copy = copy_node(arena, node);
    struct window *window = &copy->window_tvf.window;
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, input->field_count);
    memcpy(below, needed, input->field_count * sizeof(bool));
    below[window->time_column] = true;
    mark_columns(below, window->partitions, window->partition_count);
    struct pruned pruned = prune(arena, input, below);
    take_input_fields(arena, copy, node, &pruned, 3, map);
    window->time_column = (uint32_t)pruned.map[window->time_column];
    window->partitions = remap_columns(arena, window->partitions, window->partition_count, pruned.map);
    return (struct pruned){copy, map};
}

// --- Aggregations ---

static void mark_calls(bool *below, const struct aggregate_call *calls, uint32_t count, const bool *needed) {
    for (uint32_t i = 0; i < count; i++) {
        if (!needed[i]) continue;
        mark_columns(below, calls[i].args, calls[i].arg_count);
        if (calls[i].filter >= 0) below[calls[i].filter] = true;
    }
}

static struct aggregate_call *keep_calls(struct arena *arena, const struct aggregate_call *calls, uint32_t count,
                                         const bool *needed, const int32_t *map, uint32_t *out_count) {
    struct aggregate_call *kept = ARENA_ARRAY(arena, struct aggregate_call, count);
    *out_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!needed[i]) continue;
        struct aggregate_call *call = &kept[(*out_count)++];
        *call = calls[i];
        for (uint32_t a = 0; a < call->arg_count; a++) call->args[a] = (uint32_t)map[call->args[a]];
        if (call->filter >= 0) call->filter = map[call->filter];
    }
    return kept;
}

static struct pruned prune_group_aggregate(struct arena *arena, struct plan_node *node, const bool *needed) {
    const struct plan_group_aggregate *old = &node->group_aggregate;
    struct plan_node *copy = copy_node(arena, node);
    struct plan_group_aggregate *group = &copy->group_aggregate;
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, node->inputs[0]->field_count);
    mark_columns(below, old->keys, old->key_count);
    mark_calls(below, old->aggregates, old->aggregate_count, needed + old->key_count);
    struct pruned pruned = prune(arena, node->inputs[0], below);
    copy->inputs[0] = pruned.node;
    group->keys = remap_columns(arena, old->keys, old->key_count, pruned.map);
    group->aggregates = keep_calls(arena, old->aggregates, old->aggregate_count, needed + old->key_count, pruned.map,
                                   &group->aggregate_count);
    copy->field_count = 0;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (i < old->key_count || needed[i]) keep_field(copy, node, map, i);
    }
    return (struct pruned){copy, map};
}

static void prune_window(struct arena *arena, struct plan_window_aggregate *w, const int32_t *map) {
    w->window.partitions = remap_columns(arena, w->window.partitions, w->window.partition_count, map);
    if (w->attached) {
        w->start_column = (uint32_t)map[w->start_column];
        w->end_column = (uint32_t)map[w->end_column];
    } else {
        w->window.time_column = (uint32_t)map[w->window.time_column];
    }
}

static struct pruned prune_window_aggregate(struct arena *arena, struct plan_node *node, const bool *needed) {
    const struct plan_window_aggregate *old = &node->window_aggregate;
    struct plan_node *copy = copy_node(arena, node);
    struct plan_window_aggregate *w = &copy->window_aggregate;
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, node->inputs[0]->field_count);
    mark_columns(below, old->keys, old->key_count);
    mark_columns(below, old->window.partitions, old->window.partition_count);
    mark_calls(below, old->aggregates, old->aggregate_count, needed + old->key_count);
    if (old->attached) {
        below[old->start_column] = below[old->end_column] = true;
    } else {
        below[old->window.time_column] = true;
    }
    struct pruned pruned = prune(arena, node->inputs[0], below);
    copy->inputs[0] = pruned.node;
    w->keys = remap_columns(arena, old->keys, old->key_count, pruned.map);
    w->aggregates = keep_calls(arena, old->aggregates, old->aggregate_count, needed + old->key_count, pruned.map,
                               &w->aggregate_count);
    prune_window(arena, w, pruned.map);
    uint32_t first_property = old->key_count + old->aggregate_count;
    w->properties = ARENA_ARRAY(arena, enum window_property, old->property_count);
    w->property_count = 0;
    copy->field_count = 0;
    for (uint32_t i = 0; i < node->field_count; i++) {
        if (i >= old->key_count && !needed[i]) continue;
        if (i >= first_property) w->properties[w->property_count++] = old->properties[i - first_property];
        keep_field(copy, node, map, i);
    }
    return (struct pruned){copy, map};
}

// --- Ranks ---

static struct sort_key *remap_sorts(struct arena *arena, const struct sort_key *sorts, uint32_t count,
                                    const int32_t *map) {
    struct sort_key *out = ARENA_ARRAY(arena, struct sort_key, count);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = sorts[i];
        out[i].column = (uint32_t)map[sorts[i].column];
    }
    return out;
}

static struct pruned prune_window_rank(struct arena *arena, struct plan_node *node, const bool *needed) {
    const struct plan_window_rank *old = &node->window_rank;
    uint32_t fields = node->inputs[0]->field_count;
    struct plan_node *copy = copy_node(arena, node);
    struct plan_window_rank *rank = &copy->window_rank;
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, fields);
    memcpy(below, needed, fields * sizeof(bool));
    below[old->start_column] = below[old->end_column] = true;
    mark_columns(below, old->partitions, old->partition_count);
    for (uint32_t i = 0; i < old->sort_count; i++) below[old->sorts[i].column] = true;
    struct pruned pruned = prune(arena, node->inputs[0], below);
    rank->has_rank = needed[fields];
    take_input_fields(arena, copy, node, &pruned, rank->has_rank ? 1 : 0, map);
    rank->start_column = (uint32_t)pruned.map[old->start_column];
    rank->end_column = (uint32_t)pruned.map[old->end_column];
    rank->partitions = remap_columns(arena, old->partitions, old->partition_count, pruned.map);
    rank->sorts = remap_sorts(arena, old->sorts, old->sort_count, pruned.map);
    return (struct pruned){copy, map};
}

static struct pruned prune_rank(struct arena *arena, struct plan_node *node, const bool *needed) {
    const struct plan_rank *old = &node->rank;
    uint32_t fields = node->inputs[0]->field_count;
    struct plan_node *copy = copy_node(arena, node);
    struct plan_rank *rank = &copy->rank;
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, fields);
    memcpy(below, needed, fields * sizeof(bool));
    mark_columns(below, old->partitions, old->partition_count);
    mark_columns(below, old->unique_keys, old->unique_key_count);
    for (uint32_t i = 0; i < old->sort_count; i++) below[old->sorts[i].column] = true;
    struct pruned pruned = prune(arena, node->inputs[0], below);
    rank->has_rank = old->has_rank && needed[fields];
    take_input_fields(arena, copy, node, &pruned, rank->has_rank ? 1 : 0, map);
    rank->partitions = remap_columns(arena, old->partitions, old->partition_count, pruned.map);
    rank->unique_keys = remap_columns(arena, old->unique_keys, old->unique_key_count, pruned.map);
    rank->sorts = remap_sorts(arena, old->sorts, old->sort_count, pruned.map);
    return (struct pruned){copy, map};
}

// --- OVER ---

static struct pruned prune_over(struct arena *arena, struct plan_node *node, const bool *needed) {
    const struct plan_over *old = &node->over;
    uint32_t fields = node->inputs[0]->field_count, before = node->inputs[0]->field_count;
    struct plan_node *copy = copy_node(arena, node);
    struct plan_over *over = &copy->over;
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, fields);
    memcpy(below, needed, fields * sizeof(bool));
    mark_columns(below, old->partitions, old->partition_count);
    for (uint32_t i = 0; i < old->sort_count; i++) below[old->sorts[i].column] = true;
    for (uint32_t i = 0; i < old->call_count; i++) {
        const struct over_call *call = &old->calls[i];
        if (call->kind == OVER_CALL_LAG || call->kind == OVER_CALL_LEAD) below[call->column] = true;
        if (call->kind == OVER_CALL_AGGREGATE) mark_calls(below, &call->aggregate, 1, (const bool[]){true});
    }
    struct pruned pruned = prune(arena, node->inputs[0], below);
    take_input_fields(arena, copy, node, &pruned, old->call_count, map);
    over->partitions = remap_columns(arena, old->partitions, old->partition_count, pruned.map);
    over->sorts = remap_sorts(arena, old->sorts, old->sort_count, pruned.map);
    over->calls = ARENA_ARRAY(arena, struct over_call, old->call_count);
    copy->field_count -= old->call_count;
    over->call_count = 0;
    for (uint32_t i = 0; i < old->call_count; i++) {
        map[before + i] = -1;
        if (!needed[before + i]) continue;
        struct over_call call = old->calls[i];
        if (call.kind == OVER_CALL_LAG || call.kind == OVER_CALL_LEAD) call.column = (uint32_t)pruned.map[call.column];
        for (uint32_t a = 0; call.kind == OVER_CALL_AGGREGATE && a < call.aggregate.arg_count; a++) {
            call.aggregate.args[a] = (uint32_t)pruned.map[call.aggregate.args[a]];
        }
        if (call.kind == OVER_CALL_AGGREGATE && call.aggregate.filter >= 0) {
            call.aggregate.filter = pruned.map[call.aggregate.filter];
        }
        over->calls[over->call_count++] = call;
        keep_field(copy, node, map, before + i);
    }
    return (struct pruned){copy, map};
}

// --- UNNEST ---

static struct pruned prune_unnest(struct arena *arena, struct plan_node *node, const bool *needed) {
    uint32_t fields = node->inputs[0]->field_count;
    struct plan_node *copy = copy_node(arena, node);
    int32_t *map = new_map(arena, node->field_count);
    bool *below = ARENA_ARRAY(arena, bool, fields);
    memcpy(below, needed, fields * sizeof(bool));
    below[node->unnest.column] = true;
    struct pruned pruned = prune(arena, node->inputs[0], below);
    take_input_fields(arena, copy, node, &pruned, node->field_count - fields, map);
    copy->unnest.column = (uint32_t)pruned.map[node->unnest.column];
    return (struct pruned){copy, map};
}

// --- Joins ---

// What both kinds of joins have.
struct join_parts {
    bool left_only;
    uint32_t key_count;
    uint32_t *keys[2];
    struct expr *condition;
    uint32_t extra_count, extra[2][2];  // window bounds, or times
};

static struct join_parts join_parts(const struct plan_node *node) {
    const struct plan_window_join *w = &node->window_join;
    const struct plan_join *j = &node->join;
    bool window = node->kind == PLAN_WINDOW_JOIN;
    enum join_kind kind = window ? w->kind : j->kind;
    struct join_parts parts = {.left_only = kind == JOIN_SEMI || kind == JOIN_ANTI,
                               .key_count = window ? w->key_count : j->key_count,
                               .condition = window ? w->condition : j->condition,
                               .extra_count = window        ? 2
                                              : j->interval ? 1
                                                            : 0};
    for (uint32_t side = 0; side < 2; side++) {
        parts.keys[side] = window ? w->keys[side] : j->keys[side];
        parts.extra[side][0] = window ? w->start_column[side] : j->time_columns[side];
        parts.extra[side][1] = window ? w->end_column[side] : 0;
    }
    return parts;
}

static void set_join_parts(struct plan_node *node, const struct join_parts *parts) {
    struct plan_window_join *w = &node->window_join;
    struct plan_join *j = &node->join;
    if (node->kind == PLAN_WINDOW_JOIN) {
        w->condition = parts->condition;
    } else {
        j->condition = parts->condition;
    }
    for (uint32_t side = 0; side < 2; side++) {
        if (node->kind == PLAN_WINDOW_JOIN) {
            w->keys[side] = parts->keys[side];
            w->start_column[side] = parts->extra[side][0];
            w->end_column[side] = parts->extra[side][1];
        } else {
            j->keys[side] = parts->keys[side];
            j->time_columns[side] = parts->extra[side][0];
        }
    }
}

static struct pruned prune_join(struct arena *arena, struct plan_node *node, const bool *needed) {
    uint32_t counts[2] = {node->inputs[0]->field_count, node->inputs[1]->field_count};
    struct plan_node *copy = copy_node(arena, node);
    struct join_parts parts = join_parts(node);
    int32_t *map = new_map(arena, node->field_count), *pair_map = new_map(arena, counts[0] + counts[1]);
    bool *below = ARENA_ARRAY(arena, bool, counts[0] + counts[1]);
    memcpy(below, needed, node->field_count * sizeof(bool));
    tide__expr_mark(parts.condition, below);
    copy->fields = ARENA_ARRAY(arena, struct plan_field, node->field_count);
    copy->field_count = 0;
    uint32_t after = 0;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t first = side == 0 ? 0 : counts[0];
        mark_columns(below + first, parts.keys[side], parts.key_count);
        mark_columns(below + first, parts.extra[side], parts.extra_count);
        struct pruned pruned = prune(arena, node->inputs[side], below + first);
        copy->inputs[side] = pruned.node;
        parts.keys[side] = remap_columns(arena, parts.keys[side], parts.key_count, pruned.map);
        for (uint32_t i = 0; i < parts.extra_count; i++) {
            parts.extra[side][i] = (uint32_t)pruned.map[parts.extra[side][i]];
        }
        for (uint32_t i = 0; i < counts[side]; i++) {
            if (pruned.map[i] >= 0) pair_map[first + i] = pruned.map[i] + (int32_t)after;
        }
        after += pruned.node->field_count;
    }
    if (parts.condition != NULL) parts.condition = tide__expr_remap(arena, parts.condition, pair_map);
    set_join_parts(copy, &parts);
    copy->field_count = parts.left_only ? copy->inputs[0]->field_count : after;
    copy->fields = ARENA_ARRAY(arena, struct plan_field, copy->field_count);
    for (uint32_t i = 0; i < copy->field_count; i++) {
        const struct plan_node *left = copy->inputs[0];
        copy->fields[i] = i < left->field_count ? left->fields[i] : copy->inputs[1]->fields[i - left->field_count];
    }
    for (uint32_t i = 0; i < node->field_count; i++) {
        map[i] = pair_map[i];
        if (map[i] >= 0) copy->fields[map[i]] = node->fields[i];  // an outer join's are nullable
    }
    return (struct pruned){copy, map};
}

static struct pruned prune(struct arena *arena, struct plan_node *node, const bool *needed) {
    switch (node->kind) {
    case PLAN_SCAN: return prune_scan(arena, node, needed);
    case PLAN_VALUES: return prune_values(arena, node, needed);
    case PLAN_CALC: return prune_calc(arena, node, needed);
    case PLAN_UNION: return prune_union(arena, node, needed);
    case PLAN_EXPAND: return prune_expand(arena, node, needed);
    case PLAN_WINDOW_TVF: return prune_tvf(arena, node, needed);
    case PLAN_WINDOW_AGGREGATE: return prune_window_aggregate(arena, node, needed);
    case PLAN_GROUP_AGGREGATE: return prune_group_aggregate(arena, node, needed);
    case PLAN_WINDOW_RANK: return prune_window_rank(arena, node, needed);
    case PLAN_RANK: return prune_rank(arena, node, needed);
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN: return prune_join(arena, node, needed);
    case PLAN_OVER:
    case PLAN_SORT: return prune_over(arena, node, needed);
    case PLAN_UNNEST: return prune_unnest(arena, node, needed);
    case PLAN_SINK: break;
    }
    assert(false && "a node that is not planned");
    int32_t *map = ARENA_ARRAY(arena, int32_t, node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) map[i] = (int32_t)i;
    return (struct pruned){node, map};
}

struct plan_node *tide__plan_prune(struct arena *arena, struct plan_node *root) {
    assert(root->kind == PLAN_SINK);
    bool *all = ARENA_ARRAY(arena, bool, root->inputs[0]->field_count);
    memset(all, true, root->inputs[0]->field_count);
    root->inputs[0] = prune_exactly(arena, root->inputs[0], all);
    return root;
}
