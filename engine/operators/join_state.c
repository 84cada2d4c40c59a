// The state of the regular and the interval join: two tables, left and right, one entry a kept row.
//
//   key    join keys, arrival number
//   value  the number of its matches, the row
#include "base/alloc.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/join_rows.h"
#include "engine/operators/ranked.h"

#include <string.h>

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
        .read_singly = !op->deferred,
    };
    return tide__state_table(op->env.store, &op->descs[side], &op->tables[side], err);
}

tide_status tide__join_state_open(struct join *op, tide_error *err) {
    TIDE_TRY(open_side(op, 0, err));
    return open_side(op, 1, err);
}

static struct str row_key(struct join *op, struct str group_key, uint64_t arrival) {
    tide__strbuf_clear(&op->key);
    tide__strbuf_append_str(&op->key, group_key);
    uint64_t number = __builtin_bswap64(arrival);
    tide__strbuf_append(&op->key, &number, ARRIVAL_BYTES);
    return tide__strbuf_str(&op->key);
}

void tide__join_state_changed(struct join *op, struct kept_row *row) {
    if (row->fresh != 0) return;
    size_t before = op->fresh_capacity;
    op->fresh = tide__grow(op->fresh, &op->fresh_capacity, op->fresh_count + 1, sizeof *op->fresh);
    tide__budget_charge(op->env.budget, (op->fresh_capacity - before) * sizeof *op->fresh);
    op->fresh[op->fresh_count++] = row;
    row->fresh = (uint32_t)op->fresh_count;
}

// Its entry is deleted when rows are put: until then its group is in memory, and nobody reads the state.
static void add_left(struct join *op, const struct kept_row *row) {
    size_t before = op->left_capacity;
    op->left = tide__grow(op->left, &op->left_capacity, op->left_count + 1, sizeof *op->left);
    tide__budget_charge(op->env.budget, (op->left_capacity - before) * sizeof *op->left);
    op->left[op->left_count++] = (struct left_row){row->group->key, row->arrival, row->side};
}

void tide__join_state_left(struct join *op, struct kept_row *row) {
    if (row->in_state) add_left(op, row);
    if (row->fresh == 0) return;
    struct kept_row *last = op->fresh[--op->fresh_count];
    op->fresh[row->fresh - 1] = last;
    last->fresh = row->fresh;
    row->fresh = 0;
}

void tide__join_state_put(struct join *op) {
    for (size_t i = 0; i < op->left_count; i++) {
        const struct left_row *row = &op->left[i];
        tide__state_delete(op->tables[row->side], row_key(op, row->key, row->arrival));
    }
    op->left_count = 0;
    for (size_t i = 0; i < op->fresh_count; i++) {
        struct kept_row *row = op->fresh[i];
        int64_t matches = row->matches;
        tide__strbuf_clear(&op->value);
        tide__strbuf_append(&op->value, &matches, sizeof matches);
        tide__row_value_append(tide__kept_bytes(row), &op->value);
        tide__state_put(op->tables[row->side], row_key(op, row->group->key, row->arrival),
                        tide__strbuf_str(&op->value));
        row->in_state = true;
        row->fresh = 0;
    }
    op->fresh_count = 0;
}

tide_status tide__join_barrier(struct operator *base, tide_error *err) {
    (void)err;
    tide__join_state_put(self(base));
    return TIDE_OK;
}

void tide__join_save(struct operator *base, struct strbuf *out) {
    tide__strbuf_append(out, &self(base)->arrival, sizeof(uint64_t));
}
