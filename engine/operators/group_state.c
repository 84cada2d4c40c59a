// The state of the group aggregate: one entry a group.
//
//   key    the grouping keys (order-preserving)
//   value  the number of rows, then the accumulators' fields, always whole (REPLACE)
//
// When memory is short, groups that no row has come to for a while are in the state table only (keyed_cache.h).
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/operators/group_rows.h"

#include <string.h>

static struct group_aggregate *self(struct operator *op) {
    return (struct group_aggregate *)op;
}

// --- the cache --------------------------------------------------------------------------------------------------------------

static void place_group(void *ctx, void *payload, struct str key) {
    (void)ctx;
    struct group *group = payload;
    group->key = key.data;
    group->key_len = (uint32_t)key.len;
}

static int64_t move_group(void *ctx, void *payload, void *from) {
    struct group_aggregate *op = ctx;
    struct group *group = payload;
    if (group->pending != 0) op->bundle.entries[group->pending - 1].group = group;
    return tide__aggregators_move(&op->aggregators, group->accumulators, ((struct group *)from)->accumulators,
                                  &op->value);
}

static void free_group(void *payload, void *ctx) {
    struct group_aggregate *op = ctx;
    tide__aggregators_release(((struct group *)payload)->accumulators, &op->aggregators);
}

bool tide__group_decode(struct group_aggregate *op, struct str value, struct group *group, int64_t *charge) {
    if (value.len < sizeof group->rows) return false;
    memcpy(&group->rows, value.data, sizeof group->rows);
    group->in_state = true;
    struct str rest = {value.data + sizeof group->rows, value.len - sizeof group->rows};
    return tide__aggregators_decode(&op->aggregators, rest, group->accumulators, charge) && group->rows != 0;
}

tide_status tide__group_damaged(const struct group_aggregate *op, tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", op->desc.name);
}

static tide_status load_groups(void *ctx, void *const *payloads, const struct str *keys, size_t n, int64_t *out_charge,
                               tide_error *err) {
    struct group_aggregate *op = ctx;
    struct str *values = tide__arena_alloc(&op->scratch, n * sizeof *values);
    TIDE_TRY(tide__state_multi_get_flushed(op->table, keys, n, &op->scratch, values, err));
    for (size_t i = 0; i < n; i++)
        if (values[i].data != NULL && !tide__group_decode(op, values[i], payloads[i], out_charge))
            return tide__group_damaged(op, err);
    return TIDE_OK;
}

tide_status tide__group_restored(struct group_aggregate *op, struct str key, struct group **out_group,
                                 tide_error *err) {
    void *payload = tide__keyed_restore(&op->groups, key);
    *out_group = payload;
    if ((*out_group)->in_state || !op->groups.spilled) return TIDE_OK;
    int64_t charge = 0;
    TIDE_TRY(load_groups(op, &payload, &key, 1, &charge, err));
    tide__keyed_charge(&op->groups, charge);
    return TIDE_OK;
}

void tide__group_put_dirty(struct group_aggregate *op) {
    for (size_t i = 0; i < op->groups.dirty_count; i++) {
        struct group *group = op->groups.dirty[i];
        struct str key = {group->key, group->key_len};
        group->dirty = 0;
        if (group->rows == 0) {
            if (group->in_state) tide__state_delete(op->table, key);
            group->in_state = false;
            continue;
        }
        tide__strbuf_clear(&op->value);
        tide__strbuf_append(&op->value, &group->rows, sizeof group->rows);
        tide__aggregators_encode(&op->aggregators, group->accumulators, &op->value);
        tide__state_put(op->table, key, tide__strbuf_str(&op->value));
        group->in_state = true;
    }
    op->groups.dirty_count = 0;
}

static tide_status flush_groups(void *ctx, tide_error *err) {
    struct group_aggregate *op = ctx;
    tide__group_put_dirty(op);
    tide__bundle_keep(op);
    return tide__state_flush(op->table, err);
}

static void open_cache(struct group_aggregate *op) {
    struct keyed_owner owner = {
        .payload_size = sizeof(struct group) + op->aggregators.payload_size,
        .dirty_at = offsetof(struct group, dirty),
        .place = place_group,
        .move = move_group,
        .load = load_groups,
        .flush = flush_groups,
        .free = op->aggregators.owns_memory ? free_group : NULL,
        .ctx = op,
    };
    tide__keyed_init(&op->groups, op->env.budget, owner);
}

size_t tide__group_shrink(struct operator *base, size_t bytes, tide_error *err) {
    struct group_aggregate *op = self(base);
    tide__arena_reset(&op->scratch);
    return tide__keyed_shrink(&op->groups, bytes, err);
}

tide_status tide__group_state_open(struct group_aggregate *op, tide_error *err) {
    const struct plan_node *node = op->env.node;
    const struct plan_group_aggregate *plan = op->plan;
    struct state_field *keys = ARENA_ARRAY(&op->arena, struct state_field, plan->key_count + 1);
    for (uint32_t i = 0; i < plan->key_count; i++) {
        const struct plan_field *field = &node->inputs[0]->fields[plan->keys[i]];
        keys[i] = (struct state_field){.name = field->name, .type = tide__type_text(&op->arena, field->type)};
    }
    size_t count = 1 + op->aggregators.field_count;
    struct state_field *values = ARENA_ARRAY(&op->arena, struct state_field, count);
    values[0] = (struct state_field){"rows of the group", "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    for (size_t i = 1; i < count; i++) {
        values[i] = op->aggregators.fields[i - 1];
        values[i].combiner = STATE_COMBINE_REPLACE;
    }
    op->desc = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.groups", node->operator_id),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = plan->key_count,
        .value_count = count,
        .keys = keys,
        .values = values,
        .read_singly = true,
    };
    open_cache(op);
    return tide__state_table(op->env.store, &op->desc, &op->table, err);
}

// --- barriers ---------------------------------------------------------------------------------------------------------------

tide_status tide__group_barrier(struct operator *base, tide_error *err) {
    (void)err;
    struct group_aggregate *op = self(base);
    tide__group_put_dirty(op);
    tide__bundle_barrier(op);
    return TIDE_OK;
}

// As many groups as there is room for.
tide_status tide__group_restore(struct operator *base, struct str saved, tide_error *err) {
    struct group_aggregate *op = self(base);
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, value;
    bool good = true;
    while (good && !tide__keyed_is_full(&op->groups) && tide__state_iter_next(iter, &key, &value)) {
        int64_t charge = 0;
        good = tide__group_decode(op, value, tide__keyed_restore(&op->groups, key), &charge);
        tide__keyed_charge(&op->groups, charge);
    }
    TIDE_TRY(tide__state_iter_close(iter, err));
    return good ? tide__bundle_restore(op, saved, err) : tide__group_damaged(op, err);
}
