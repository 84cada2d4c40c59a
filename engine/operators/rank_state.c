// The state of the regular Top-N: one entry a kept row.
//
//   key    partition keys, sort columns, arrival number   (order-preserving)
//   value  the row
//
// Rows are put at the barrier after they entered and deleted as soon as they leave; a row that does both between two
// barriers is never written. The list of rows to put is exact: whoever leaves is taken off it.
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/rank_rows.h"

#include <assert.h>
#include <string.h>

enum { ARRIVAL_BYTES = 8 };

static struct rank *self(struct operator *op) {
    return (struct rank *)op;
}

static struct state_field key_field(struct rank *op, uint32_t column) {
    const struct plan_field *field = &op->env.node->inputs[0]->fields[column];
    return (struct state_field){.name = field->name, .type = tide__type_text(&op->arena, field->type)};
}

tide_status tide__rank_state_open(struct rank *op, tide_error *err) {
    const struct plan_node *node = op->env.node;
    const struct plan_rank *plan = op->plan;
    struct state_field *keys = ARENA_ARRAY(&op->arena, struct state_field,
                                           plan->partition_count + plan->sort_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < plan->partition_count; i++) keys[count++] = key_field(op, plan->partitions[i]);
    for (uint32_t i = 0; i < op->ranker.sort_count; i++) keys[count++] = key_field(op, plan->sorts[i].column);
    keys[count++] = (struct state_field){.name = "arrival", .type = "BIGINT NOT NULL"};
    struct state_field *value = ARENA_NEW(&op->arena, struct state_field);
    *value = (struct state_field){.name = "row",
                                  .type = tide__row_type_text(node->inputs[0]->fields, op->fields, &op->arena),
                                  .form = STATE_FORM_BYTES,
                                  .combiner = STATE_COMBINE_REPLACE};
    op->desc = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.rows", node->operator_id),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = count,
        .value_count = 1,
        .keys = keys,
        .values = value,
    };
    return tide__state_table(op->env.store, &op->desc, &op->table, err);
}

static struct str row_key(struct rank *op, const struct rank_group *group, const struct ranked_row *row) {
    tide__strbuf_clear(&op->key);
    tide__strbuf_append_str(&op->key, group->key);
    tide__strbuf_append_str(&op->key, tide__ranked_key(row));
    return tide__strbuf_str(&op->key);
}

void tide__rank_state_entered(struct rank *op, struct rank_group *group, struct ranked_row *row) {
    size_t before = op->fresh_capacity;
    op->fresh = tide__grow(op->fresh, &op->fresh_capacity, op->fresh_count + 1, sizeof *op->fresh);
    tide__budget_charge(op->env.budget, (op->fresh_capacity - before) * sizeof *op->fresh);
    op->fresh[op->fresh_count++] = (struct rank_fresh){group, row};
    row->fresh = (uint32_t)op->fresh_count;
}

void tide__rank_state_left(struct rank *op, const struct rank_group *group, struct ranked_row *row) {
    if (row->in_state) tide__state_delete(op->table, row_key(op, group, row));
    if (row->fresh == 0) return;
    struct rank_fresh last = op->fresh[--op->fresh_count];
    op->fresh[row->fresh - 1] = last;
    last.row->fresh = row->fresh;
    row->fresh = 0;
}

tide_status tide__rank_barrier(struct operator *base, tide_error *err) {
    (void)err;
    struct rank *op = self(base);
    for (size_t i = 0; i < op->fresh_count; i++) {
        struct ranked_row *row = op->fresh[i].row;
        tide__strbuf_clear(&op->value);
        tide__row_value_append(tide__ranked_bytes(row), &op->value);
        tide__state_put(op->table, row_key(op, op->fresh[i].group, row), tide__strbuf_str(&op->value));
        row->in_state = true;
        row->fresh = 0;
    }
    op->fresh_count = 0;
    return TIDE_OK;
}

void tide__rank_save(struct operator *base, struct strbuf *out) {
    uint64_t arrival = self(base)->ranker.arrival;
    tide__strbuf_append(out, &arrival, sizeof arrival);
}

// --- restoring --------------------------------------------------------------------------------------------------------------

static bool restore_entry(struct rank *op, struct batch *one, struct str key, struct str value) {
    struct str bytes, rest = key, partition = key;
    if (!tide__row_value_parse(value, &bytes)) return false;
    for (uint32_t i = 0; i < op->plan->partition_count; i++)
        if (!tide__key_decode(&rest, &op->scratch, &one->columns[op->plan->partitions[i]], 0)) return false;
    if (rest.len < ARRIVAL_BYTES) return false;
    partition.len -= rest.len;
    if (!tide__row_decode(bytes, one->columns, one->column_count, 0)) return false;
    uint64_t prefix;
    tide__ranker_prefixes(&op->ranker, one, &prefix);
    struct rank_group *group = tide__rank_group(op, partition, tide__hash_bytes(partition.data, partition.len));
    struct ranked_row *row = tide__ranked_restore(&op->ranker, rest, bytes, prefix);
    struct ranked_at at = tide__ranked_list_find(&group->list, prefix, rest);
    tide__ranked_list_insert(&group->list, at, row, op->env.budget);
    if (op->rows != NULL) tide__rank_risen_before(op, one, row);
    // Only if this plan keeps fewer rows than the one that wrote the state.
    if (op->plan->input_updates || group->list.count <= op->last) return true;
    row = tide__ranked_list_pop(&group->list, op->env.budget);
    tide__rank_state_left(op, group, row);
    tide__ranked_free(&op->ranker, row);
    return true;
}

static tide_status restore_rows(struct rank *op, struct batch *one, tide_error *err) {
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, value;
    bool good = true;
    while (good && tide__state_iter_next(iter, &key, &value)) {
        good = restore_entry(op, one, key, value);
        tide__arena_reset(&op->scratch);
    }
    TIDE_TRY(tide__state_iter_close(iter, err));
    if (good) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", op->desc.name);
}

tide_status tide__rank_restore(struct operator *base, struct str saved, tide_error *err) {
    struct rank *op = self(base);
    if (saved.len != 0 && saved.len != sizeof op->ranker.arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->ranker.arrival, saved.data, saved.len);
    struct arena arena;
    tide__arena_init(&arena);
    struct batch one = {.rows = 1, .column_count = op->fields};
    one.columns = ARENA_ARRAY(&arena, struct column, op->fields + 1);
    for (uint32_t f = 0; f < op->fields; f++)
        tide__column_init(&one.columns[f], base->node->inputs[0]->fields[f].type, 1, 1, &arena);
    tide_status status = restore_rows(op, &one, err);
    tide__arena_deinit(&arena);
    return status;
}
