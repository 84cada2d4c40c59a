// The state of the group aggregate: one entry a group.
//
//   key    the grouping keys (order-preserving)
//   value  the number of rows, then the accumulators' fields, always whole (REPLACE)
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/operators/group_rows.h"

#include <string.h>

static struct group_aggregate *self(struct operator *op) {
    return (struct group_aggregate *)op;
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
    };
    return tide__state_table(op->env.store, &op->desc, &op->table, err);
}

tide_status tide__group_barrier(struct operator *base, tide_error *err) {
    (void)err;
    struct group_aggregate *op = self(base);
    for (size_t i = 0; i < op->dirty_count; i++) {
        struct group *group = op->dirty[i];
        struct str key = {group->key, group->key_len};
        group->dirty = false;
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
    op->dirty_count = 0;
    tide__bundle_barrier(op);
    return TIDE_OK;
}

static bool restore_group(struct group_aggregate *op, struct str key, struct str value) {
    struct group *group = tide__group_find(op, key, tide__hash_bytes(key.data, key.len));
    if (value.len < sizeof group->rows) return false;
    memcpy(&group->rows, value.data, sizeof group->rows);
    group->in_state = true;
    struct str rest = {value.data + sizeof group->rows, value.len - sizeof group->rows};
    int64_t charge = 0;
    bool good = tide__aggregators_decode(&op->aggregators, rest, group->accumulators, &charge);
    tide__memtable_charge(op->groups, charge);
    return good && group->rows != 0;
}

tide_status tide__group_restore(struct operator *base, struct str saved, tide_error *err) {
    struct group_aggregate *op = self(base);
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, value;
    bool good = true;
    while (good && tide__state_iter_next(iter, &key, &value)) good = restore_group(op, key, value);
    TIDE_TRY(tide__state_iter_close(iter, err));
    if (good) return tide__bundle_restore(op, saved, err);
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", op->desc.name);
}
