// Batch mode: the results of all groups, once, in the order of their keys.
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/operators/group_rows.h"

#include <assert.h>
#include <string.h>

static tide_status emit_groups(struct group_aggregate *op, struct group *const *groups, size_t count,
                               struct emitter *out, tide_error *err) {
    tide__arena_reset(&op->output);
    const struct plan_node *node = op->base.node;
    struct batch result = {.rows = count, .column_count = node->field_count};
    result.columns = ARENA_ARRAY(&op->output, struct column, node->field_count + 1);
    for (uint32_t f = 0; f < node->field_count; f++)
        tide__column_init(&result.columns[f], node->fields[f].type, count, 1, &op->output);
    unsigned char **payloads = tide__arena_alloc(&op->output, count * sizeof *payloads);
    for (size_t i = 0; i < count; i++) {
        struct str key = {groups[i]->key, groups[i]->key_len};
        for (uint32_t k = 0; k < op->plan->key_count; k++)
            if (!tide__key_decode(&key, &op->output, &result.columns[k], i))
                return tide__fail_at(err, TIDE_ERR_SAVEPOINT, node->pos, "a key in the state of %s is damaged",
                                     node->operator_id);
        payloads[i] = groups[i]->accumulators;
    }
    if (op->aggregators.count > 0)
        tide__aggregators_result(&op->aggregators, payloads, count, result.columns + op->plan->key_count, &op->output);
    return tide__emit(out, &result, err);
}

// A global aggregate has a row even if the input had none.
static tide_status emit_global(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    struct str key = {0};
    uint64_t hash = tide__hash_bytes(NULL, 0);
    void *payload;
    TIDE_TRY(tide__keyed_find(&op->groups, &key, &hash, 1, &op->scratch, &payload, err));
    struct group *group = payload;
    return emit_groups(op, &group, 1, out, err);
}

static tide_status emit_from_memory(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    struct memtable *table = op->groups.young;
    tide__memtable_freeze(table);
    struct memtable_entry *const *entries = tide__memtable_sorted(table);
    size_t total = tide__memtable_count(table), count = 0;
    struct group **groups = tide__arena_alloc(&op->scratch, op->env.batch_rows_max * sizeof *groups);
    for (size_t i = 0; i < total; i++) {
        struct group *group = tide__memtable_payload(table, entries[i]);
        if (group->rows == 0) continue;
        groups[count++] = group;
        if (count < op->env.batch_rows_max) continue;
        TIDE_TRY(emit_groups(op, groups, count, out, err));
        count = 0;
    }
    return count > 0 ? emit_groups(op, groups, count, out, err) : TIDE_OK;
}

// Groups that were read from the state, a batch of them.
struct read_groups {
    struct group **groups;
    size_t count, size;  // size: of one
};

static tide_status emit_read(struct group_aggregate *op, struct read_groups *read, struct emitter *out,
                             tide_error *err) {
    tide_status status = read->count == 0 ? TIDE_OK : emit_groups(op, read->groups, read->count, out, err);
    for (size_t i = 0; i < read->count; i++) tide__aggregators_release(read->groups[i]->accumulators, &op->aggregators);
    read->count = 0;
    return status;
}

static bool read_group(struct group_aggregate *op, struct read_groups *read, struct str key, struct str value) {
    struct group *group = read->groups[read->count++];
    memset(group, 0, read->size);
    group->key = tide__arena_strndup(&op->scratch, key.data, key.len);
    group->key_len = (uint32_t)key.len;
    int64_t charge = 0;  // they are few and live for a moment
    return tide__group_decode(op, value, group, &charge);
}

static tide_status emit_entries(struct group_aggregate *op, struct state_iter *iter, struct emitter *out,
                                tide_error *err) {
    size_t most = op->env.batch_rows_max;
    struct read_groups read = {.size = sizeof(struct group) + op->aggregators.payload_size};
    struct arena arena;
    tide__arena_init(&arena);
    read.groups = ARENA_ARRAY(&arena, struct group *, most);
    for (size_t i = 0; i < most; i++) read.groups[i] = tide__arena_zalloc(&arena, read.size);
    struct str key, value;
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value)) {
        if (!read_group(op, &read, key, value)) status = tide__group_damaged(op, err);
        if (status != TIDE_OK || read.count < most) continue;
        status = emit_read(op, &read, out, err);
        tide__arena_reset(&op->scratch);
    }
    if (status == TIDE_OK) status = emit_read(op, &read, out, err);
    for (size_t i = 0; i < read.count; i++) tide__aggregators_release(read.groups[i]->accumulators, &op->aggregators);
    tide__arena_deinit(&arena);
    return status;
}

static tide_status emit_from_state(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    tide__group_put_dirty(op);
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    tide_status status = emit_entries(op, iter, out, err);
    tide_status closed = tide__state_iter_close(iter, err);
    return status == TIDE_OK ? closed : status;
}

tide_status tide__group_emit_all(struct group_aggregate *op, struct emitter *out, tide_error *err) {
    if (op->plan->key_count == 0) return emit_global(op, out, err);
    // In one table in memory they can be sorted; in more they are sorted in the state.
    if (op->groups.old == NULL && !op->groups.spilled) return emit_from_memory(op, out, err);
    return emit_from_state(op, out, err);
}
