// Mini-batches of the group aggregate (table.exec.mini-batch.*): the changes of a group are held back, and what goes out is the
// difference between its results at the end of the bundle and those that went out last. (Flink's MiniBatchGroupAggFunction.)
//
// In Flink a bundle ends after `size` elements or when `allow-latency` is over. Where parts of groups can be merged the rows are
// first put together by a local operator, whose bundle (here: part) ends after `size` rows and hands on one element a group;
// elsewhere rows are the elements. So do we, but a bundle ends at the end of a part, not among its groups, whose order in
// Flink is that of a hash table; and the clock is looked at only while no row comes, so that a bounded input gives the same
// changes in each run.
#include "base/alloc.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/group_rows.h"
#include "engine/operators/window_assign.h"

#include <assert.h>

void tide__bundle_open(struct group_aggregate *op) {
    struct group_bundle *bundle = &op->bundle;
    tide__arena_init(&bundle->arena);
    bundle->part = 1;
    bundle->has_parts = true;
    for (uint32_t i = 0; i < op->plan->aggregate_count; i++)
        bundle->has_parts &= op->plan->aggregates[i].aggregate->mergeable;
}

void tide__bundle_close(struct group_aggregate *op) {
    tide__budget_release(op->env.budget, op->bundle.capacity * sizeof *op->bundle.entries);
    tide__free(op->bundle.entries);
    tide__arena_deinit(&op->bundle.arena);
}

// --- rows -------------------------------------------------------------------------------------------------------

static void hold(struct group_aggregate *op, struct group *group) {
    struct group_bundle *bundle = &op->bundle;
    size_t before = bundle->capacity;
    bundle->entries = tide__grow(bundle->entries, &bundle->capacity, bundle->count + 1, sizeof *bundle->entries);
    tide__budget_charge(op->env.budget, (bundle->capacity - before) * sizeof *bundle->entries);
    if (bundle->count == 0) bundle->since_ms = tide__window_clock();
    bundle->entries[bundle->count++] = (struct bundle_entry){.group = group, .was_there = group->rows != 0};
    group->pending = (uint32_t)bundle->count;
}

static struct column *new_columns(struct group_aggregate *op, size_t rows) {
    struct column *columns = ARENA_ARRAY(&op->scratch, struct column, op->aggregators.count + 1);
    for (uint32_t a = 0; a < op->aggregators.count; a++)
        tide__column_init(&columns[a], op->plan->aggregates[a].type, rows, 1, &op->scratch);
    return columns;
}

// The results of groups that are held from now on, as they went out last.
static void keep_results(struct group_aggregate *op, size_t first) {
    struct group_bundle *bundle = &op->bundle;
    size_t most = bundle->count - first, n = 0;
    if (most == 0 || op->aggregators.count == 0) return;
    unsigned char **payloads = tide__arena_alloc(&op->scratch, most * sizeof *payloads);
    for (size_t i = first; i < bundle->count; i++)
        if (bundle->entries[i].was_there) payloads[n++] = bundle->entries[i].group->accumulators;
    if (n == 0) return;
    struct batch results = {.rows = n, .column_count = op->aggregators.count, .columns = new_columns(op, n)};
    tide__aggregators_result(&op->aggregators, payloads, n, results.columns, &op->scratch);
    size_t row = 0;
    for (size_t i = first; i < bundle->count; i++) {
        if (!bundle->entries[i].was_there) continue;
        tide__strbuf_clear(&op->value);
        tide__row_append(&results, row++, &op->value);
        const char *bytes = tide__arena_strndup(&bundle->arena, op->value.data, op->value.len);
        bundle->entries[i].before = (struct str){bytes, op->value.len};
    }
}

static void hold_groups(struct group_aggregate *op, struct group *const *groups, size_t n) {
    struct group_bundle *bundle = &op->bundle;
    size_t first = bundle->count;
    for (size_t i = 0; i < n; i++) {
        if (groups[i]->pending == 0) hold(op, groups[i]);
        struct bundle_entry *entry = &bundle->entries[groups[i]->pending - 1];
        if (entry->part != bundle->part) bundle->part_groups++;
        entry->part = bundle->part;
        tide__keyed_mark_dirty(&op->groups, groups[i]);
    }
    keep_results(op, first);
}

static int64_t take_back(struct group_aggregate *op, const struct batch *batch, struct group *group, uint32_t row) {
    if (group->rows == 0) return 0;  // not there: Flink skips it too
    unsigned char *payload = group->accumulators;
    group->rows--;
    int64_t charge = 0;
    if (op->aggregators.count > 0)
        charge = tide__aggregators_retract(&op->aggregators, batch, &payload, &row, 1, &op->scratch);
    if (group->rows == 0) tide__aggregators_release(group->accumulators, &op->aggregators);
    return charge;
}

// Rows [from, from + n), in runs of those that are added.
static void apply(struct group_aggregate *op, const struct batch *batch, struct group *const *groups, size_t from,
                  size_t n) {
    unsigned char **payloads = tide__arena_alloc(&op->scratch, n * sizeof *payloads);
    uint32_t *rows = tide__arena_alloc(&op->scratch, n * sizeof *rows);
    int64_t charge = 0;
    for (size_t at = from, end = from + n; at < end;) {
        size_t count = 0;
        for (; at < end && !group_row_takes_back(batch, (uint32_t)at); at++) {
            groups[at]->rows++;
            payloads[count] = groups[at]->accumulators;
            rows[count++] = (uint32_t)at;
        }
        if (count > 0 && op->aggregators.count > 0)
            charge += tide__aggregators_update(&op->aggregators, batch, payloads, rows, count, &op->scratch);
        for (; at < end && group_row_takes_back(batch, (uint32_t)at); at++)
            charge += take_back(op, batch, groups[at], (uint32_t)at);
    }
    tide__keyed_charge(&op->groups, charge);
}

// --- letting out ------------------------------------------------------------------------------------------------

static tide_status damaged(const struct group_aggregate *op, tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                      op->bundle.desc.name);
}

// Entries [first, first + n) as a batch of their keys and the results before and after.
static tide_status emit_entries(struct group_aggregate *op, size_t first, size_t n, struct emitter *out,
                                tide_error *err) {
    const struct bundle_entry *entries = op->bundle.entries + first;
    const struct plan_node *node = op->base.node;
    struct batch keys = {.rows = n, .column_count = node->inputs[0]->field_count};
    keys.columns = ARENA_ARRAY(&op->scratch, struct column, keys.column_count + 1);
    for (uint32_t k = 0; k < op->plan->key_count; k++)
        tide__column_init(&keys.columns[op->plan->keys[k]], node->fields[k].type, n, 1, &op->scratch);
    struct group_results results = {
        .columns = new_columns(op, 2 * n),
        .before = tide__arena_alloc(&op->scratch, n * sizeof *results.before),
        .was_there = tide__arena_alloc(&op->scratch, n),
        .is_there = tide__arena_alloc(&op->scratch, n),
    };
    unsigned char **payloads = tide__arena_alloc(&op->scratch, n * sizeof *payloads);
    for (size_t i = 0; i < n; i++) {
        const struct group *group = entries[i].group;
        struct str key = {group->key, group->key_len};
        for (uint32_t k = 0; k < op->plan->key_count; k++)
            if (!tide__key_decode(&key, &op->scratch, &keys.columns[op->plan->keys[k]], i)) return damaged(op, err);
        payloads[i] = entries[i].group->accumulators;
        results.before[i] = (uint32_t)(n + i);
        results.was_there[i] = entries[i].was_there;
        results.is_there[i] = group->rows != 0;
    }
    if (op->aggregators.count > 0)
        tide__aggregators_result(&op->aggregators, payloads, n, results.columns, &op->scratch);
    for (size_t i = 0; i < n && op->aggregators.count > 0; i++) {
        if (!entries[i].was_there) continue;
        if (!tide__row_decode(entries[i].before, results.columns, op->aggregators.count, n + i))
            return damaged(op, err);
    }
    return tide__group_emit_changes(op, &keys, &results, out, err);
}

static tide_status let_out(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    struct group_bundle *bundle = &op->bundle;
    size_t step = op->env.batch_rows_max;
    for (size_t at = 0; at < bundle->count; at += step)
        TIDE_TRY(emit_entries(op, at, bundle->count - at < step ? bundle->count - at : step, out, err));
    for (size_t i = 0; i < bundle->count; i++) {
        if (bundle->entries[i].in_state) tide__bundle_forget(op, &bundle->entries[i]);
        bundle->entries[i].group->pending = 0;
    }
    bundle->count = 0;
    tide__arena_reset(&bundle->arena);
    return TIDE_OK;
}

// --- bundles ------------------------------------------------------------------------------------------------------

static void begin_part(struct group_bundle *bundle) {
    bundle->part++;
    bundle->part_rows = bundle->part_groups = 0;
}

static tide_status end_part(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    struct group_bundle *bundle = &op->bundle;
    bundle->elements += bundle->has_parts ? bundle->part_groups : bundle->part_rows;
    begin_part(bundle);
    if (bundle->elements < op->plan->bundle_rows) return TIDE_OK;
    bundle->elements %= op->plan->bundle_rows;
    return let_out(op, out, err);
}

tide_status tide__bundle_add(struct group_aggregate *op, const struct batch *batch, struct emitter *out,
                             tide_error *err) {
    struct group_bundle *bundle = &op->bundle;
    struct group **groups;
    TIDE_TRY(tide__group_of_rows(op, batch, &groups, err));
    for (size_t from = 0, n; from < batch->rows; from += n) {
        int64_t room = op->plan->bundle_rows - bundle->part_rows;
        n = batch->rows - from;
        if ((int64_t)n > room) n = (size_t)room;
        hold_groups(op, groups + from, n);
        apply(op, batch, groups, from, n);
        bundle->part_rows += (int64_t)n;
        if (bundle->part_rows == op->plan->bundle_rows) TIDE_TRY(end_part(op, out, err));
    }
    return TIDE_OK;
}

tide_status tide__bundle_flush(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    op->bundle.elements = 0;
    begin_part(&op->bundle);
    return let_out(op, out, err);
}

tide_status tide__bundle_tick(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    bool is_due = op->bundle.count > 0 && tide__window_clock() - op->bundle.since_ms >= op->plan->bundle_latency_ms;
    return is_due ? tide__bundle_flush(op, out, err) : TIDE_OK;
}
