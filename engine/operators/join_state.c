// The state of the regular and the interval join: two tables, left and right, one entry a kept row.
//
//   key    join keys, arrival number
//   value  the number of its matches, the row
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/join_rows.h"
#include "engine/operators/ranked.h"

#include <string.h>

enum { ARRIVAL_BYTES = 8 };

static struct join *self(struct operator *op) {
    return (struct join *)op;
}

static tide_status open_side(struct join *op, uint32_t side, tide_error *err) {
    const struct plan_node *node = op->env.node, *input = node->inputs[side];
    uint32_t count = op->plan->key_count;
    struct state_field *keys = ARENA_ARRAY(&op->arena, struct state_field, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_field *field = &input->fields[op->plan->keys[side][i]];
        keys[i] = (struct state_field){.name = field->name, .type = tide__type_text(&op->arena, field->type)};
    }
    keys[count] = (struct state_field){.name = "arrival", .type = "BIGINT NOT NULL"};
    struct state_field *values = ARENA_ARRAY(&op->arena, struct state_field, 2);
    values[0] = (struct state_field){"matches", "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    values[1] = (struct state_field){"row", tide__row_type_text(input->fields, input->field_count, &op->arena),
                                     STATE_FORM_BYTES, STATE_COMBINE_REPLACE};
    op->descs[side] = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.%s", node->operator_id, side == 0 ? "left" : "right"),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = count + 1,
        .value_count = 2,
        .keys = keys,
        .values = values,
    };
    return tide__state_table(op->env.store, &op->descs[side], &op->tables[side], err);
}

tide_status tide__join_state_open(struct join *op, tide_error *err) {
    TIDE_TRY(open_side(op, 0, err));
    return open_side(op, 1, err);
}

static struct str row_key(struct join *op, const struct keyed_rows *group, const struct kept_row *row) {
    tide__strbuf_clear(&op->key);
    tide__strbuf_append_str(&op->key, group->key);
    uint64_t number = __builtin_bswap64(row->arrival);
    tide__strbuf_append(&op->key, &number, ARRIVAL_BYTES);
    return tide__strbuf_str(&op->key);
}

void tide__join_state_changed(struct join *op, struct keyed_rows *group, uint32_t side, struct kept_row *row) {
    if (row->fresh != 0) return;
    size_t before = op->fresh_capacity;
    op->fresh = tide__grow(op->fresh, &op->fresh_capacity, op->fresh_count + 1, sizeof *op->fresh);
    tide__budget_charge(op->env.budget, (op->fresh_capacity - before) * sizeof *op->fresh);
    op->fresh[op->fresh_count++] = (struct kept_ref){group, row, side};
    row->fresh = (uint32_t)op->fresh_count;
}

void tide__join_state_left(struct join *op, const struct keyed_rows *group, uint32_t side, struct kept_row *row) {
    if (row->in_state) tide__state_delete(op->tables[side], row_key(op, group, row));
    if (row->fresh == 0) return;
    struct kept_ref last = op->fresh[--op->fresh_count];
    op->fresh[row->fresh - 1] = last;
    last.row->fresh = row->fresh;
    row->fresh = 0;
}

tide_status tide__join_barrier(struct operator *base, tide_error *err) {
    (void)err;
    struct join *op = self(base);
    for (size_t i = 0; i < op->fresh_count; i++) {
        struct kept_ref *ref = &op->fresh[i];
        int64_t matches = ref->row->matches;
        tide__strbuf_clear(&op->value);
        tide__strbuf_append(&op->value, &matches, sizeof matches);
        tide__row_value_append(tide__kept_bytes(ref->row), &op->value);
        tide__state_put(op->tables[ref->side], row_key(op, ref->group, ref->row), tide__strbuf_str(&op->value));
        ref->row->in_state = true;
        ref->row->fresh = 0;
    }
    op->fresh_count = 0;
    return TIDE_OK;
}

void tide__join_save(struct operator *base, struct strbuf *out) {
    tide__strbuf_append(out, &self(base)->arrival, sizeof(uint64_t));
}

// --- restoring --------------------------------------------------------------------------------------------------------------

static int64_t time_of(const struct column *column) {
    return column->physical == PHYSICAL_TIME ? column->time[0].ms : column->i64[0];
}

static bool restore_row(struct join *op, uint32_t side, struct column *columns, struct str key, struct str value) {
    int64_t matches;
    uint64_t arrival;
    struct str row;
    if (key.len < ARRIVAL_BYTES || value.len < sizeof matches) return false;
    memcpy(&matches, value.data, sizeof matches);
    memcpy(&arrival, key.data + key.len - ARRIVAL_BYTES, ARRIVAL_BYTES);
    if (!tide__row_value_parse((struct str){value.data + sizeof matches, value.len - sizeof matches}, &row))
        return false;
    if (!tide__row_decode(row, columns, op->pairs.fields[side], 0)) return false;
    int64_t time = op->plan->interval ? time_of(&columns[op->plan->time_columns[side]]) : 0;
    struct keyed_rows *group = tide__join_group(op, (struct str){key.data, key.len - ARRIVAL_BYTES});
    struct kept_row *kept = tide__join_keep(op, group, side, row, __builtin_bswap64(arrival),
                                            tide__join_expiry(op, side, time), (uint32_t)matches);
    kept->in_state = true;
    return true;
}

static tide_status restore_side(struct join *op, uint32_t side, tide_error *err) {
    const struct plan_node *input = op->env.node->inputs[side];
    struct arena arena;
    tide__arena_init(&arena);
    struct column *columns = ARENA_ARRAY(&arena, struct column, input->field_count + 1);
    for (uint32_t f = 0; f < input->field_count; f++)
        tide__column_init(&columns[f], input->fields[f].type, 1, 1, &arena);
    struct state_iter *iter;
    tide_status status = tide__state_iter_open(op->tables[side], NULL, (struct str){0}, (struct str){0}, &iter, err);
    bool good = true;
    if (status == TIDE_OK) {
        struct str key, value;
        while (good && tide__state_iter_next(iter, &key, &value)) good = restore_row(op, side, columns, key, value);
        status = tide__state_iter_close(iter, err);
    }
    tide__arena_deinit(&arena);
    if (status != TIDE_OK || good) return status;
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                      op->descs[side].name);
}

tide_status tide__join_restore(struct operator *base, struct str saved, tide_error *err) {
    struct join *op = self(base);
    if (saved.len != 0 && saved.len != sizeof op->arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->arrival, saved.data, saved.len);
    tide__arena_reset(&op->scratch);
    TIDE_TRY(restore_side(op, 0, err));
    return restore_side(op, 1, err);
}
