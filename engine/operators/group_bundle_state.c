// The state of a mini-batch that a barrier falls into: the groups whose changes are held back. A barrier lets nothing out, so
// that the changes do not depend on when checkpoints are taken.
//
//   key    the grouping keys
//   value  its place in the bundle, whether it is in the current part, whether it was there, its results that went out last
//
// Beside it: the rows of the current part and the elements of those before.
#include "engine/operators/group_rows.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/operators/ranked.h"
#include "engine/operators/window_assign.h"

#include <stdlib.h>
#include <string.h>

struct head {
    int64_t place, in_part, was_there;
};

tide_status tide__bundle_state_open(struct group_aggregate *op, tide_error *err) {
    if (op->plan->bundle_rows == 0) return TIDE_OK;
    const struct plan_node *node = op->env.node;
    struct state_field *values = ARENA_ARRAY(&op->arena, struct state_field, 4);
    values[0] = (struct state_field){"place", "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    values[1] = (struct state_field){"in this part", "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    values[2] = (struct state_field){"was there", "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    const char *row = tide__row_type_text(node->fields + op->plan->key_count, op->aggregators.count, &op->arena);
    values[3] = (struct state_field){"row", row, STATE_FORM_BYTES, STATE_COMBINE_REPLACE};
    op->bundle.desc = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.bundle", node->operator_id),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = op->desc.key_count,
        .value_count = 4,
        .keys = op->desc.keys,
        .values = values,
    };
    return tide__state_table(op->env.store, &op->bundle.desc, &op->bundle.table, err);
}

static struct str key_of(const struct bundle_entry *entry) {
    return (struct str){entry->group->key, entry->group->key_len};
}

void tide__bundle_forget(struct group_aggregate *op, const struct bundle_entry *entry) {
    tide__state_delete(op->bundle.table, key_of(entry));
}

void tide__bundle_barrier(struct group_aggregate *op) {
    struct group_bundle *bundle = &op->bundle;
    for (size_t i = 0; i < bundle->count; i++) {
        struct bundle_entry *entry = &bundle->entries[i];
        struct head head = {(int64_t)i, entry->part == bundle->part, entry->was_there};
        tide__strbuf_clear(&op->value);
        tide__strbuf_append(&op->value, &head, sizeof head);
        tide__row_value_append(entry->before, &op->value);
        tide__state_put(bundle->table, key_of(entry), tide__strbuf_str(&op->value));
        entry->in_state = true;
    }
}

void tide__bundle_keep(struct group_aggregate *op) {
    for (size_t i = 0; i < op->bundle.count; i++)
        op->bundle.entries[i].group = tide__keyed_keep(&op->groups, key_of(&op->bundle.entries[i]));
}

void tide__bundle_save(struct operator *base, struct strbuf *out) {
    const struct group_aggregate *op = (const struct group_aggregate *)base;
    if (op->plan->bundle_rows == 0) return;
    tide__strbuf_append(out, &op->bundle.part_rows, sizeof(int64_t));
    tide__strbuf_append(out, &op->bundle.elements, sizeof(int64_t));
}

// --- restoring --------------------------------------------------------------------------------------------------

// Entries come in the order of their keys; group->pending is the place that the value says until they are sorted.
static bool restore_entry(struct group_aggregate *op, struct str key, struct str value, tide_error *err) {
    struct group_bundle *bundle = &op->bundle;
    struct head head;
    struct str row;
    if (value.len < sizeof head) return false;
    memcpy(&head, value.data, sizeof head);
    if (!tide__row_value_parse((struct str){value.data + sizeof head, value.len - sizeof head}, &row)) return false;
    struct group *group;
    if (tide__group_restored(op, key, &group, err) != TIDE_OK) return false;
    if (head.place < 0 || head.place >= UINT32_MAX || group->pending != 0) return false;
    size_t before = bundle->capacity;
    bundle->entries = tide__grow(bundle->entries, &bundle->capacity, bundle->count + 1, sizeof *bundle->entries);
    tide__budget_charge(op->env.budget, (bundle->capacity - before) * sizeof *bundle->entries);
    bundle->entries[bundle->count++] = (struct bundle_entry){
        .group = group,
        .before = {tide__arena_strndup(&bundle->arena, row.data, row.len), row.len},
        .part = head.in_part != 0 ? bundle->part : 0,
        .was_there = head.was_there != 0,
        .in_state = true,
    };
    group->pending = (uint32_t)head.place + 1;
    bundle->part_groups += head.in_part != 0;
    return true;
}

static int compare_places(const void *a, const void *b) {
    uint32_t left = ((const struct bundle_entry *)a)->group->pending;
    uint32_t right = ((const struct bundle_entry *)b)->group->pending;
    return left < right ? -1 : left > right;
}

tide_status tide__bundle_restore(struct group_aggregate *op, struct str saved, tide_error *err) {
    struct group_bundle *bundle = &op->bundle;
    if (op->plan->bundle_rows == 0) return TIDE_OK;
    bool good = saved.len == 0 || saved.len == 2 * sizeof(int64_t);
    if (good && saved.len > 0) {
        memcpy(&bundle->part_rows, saved.data, sizeof(int64_t));
        memcpy(&bundle->elements, saved.data + sizeof(int64_t), sizeof(int64_t));
        // Bundles may be smaller than when it was saved.
        if (bundle->part_rows >= op->plan->bundle_rows) bundle->part_rows = op->plan->bundle_rows - 1;
        good = bundle->part_rows >= 0 && bundle->elements >= 0;
    }
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(bundle->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, value;
    while (good && tide__state_iter_next(iter, &key, &value)) good = restore_entry(op, key, value, err);
    TIDE_TRY(tide__state_iter_close(iter, err));
    if (bundle->count > 1) qsort(bundle->entries, bundle->count, sizeof *bundle->entries, compare_places);
    for (size_t i = 0; good && i < bundle->count; i++) good = bundle->entries[i].group->pending == i + 1;
    bundle->since_ms = tide__window_clock();
    if (good) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", bundle->desc.name);
}
