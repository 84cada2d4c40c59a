// The state of the window join: two tables, left and right, one entry a row that waits.
//
//   key    window start, window end, join keys, arrival number
//   value  the row
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/operators/window_join.h"

#include <string.h>

static struct window_join *self(struct operator *op) {
    return (struct window_join *)op;
}

static tide_status open_side(struct window_join *op, uint32_t side, tide_error *err) {
    const struct plan_node *node = op->env.node, *input = node->inputs[side];
    uint32_t count = op->plan->key_count;
    struct state_field *keys = ARENA_ARRAY(&op->arena, struct state_field, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_field *field = &input->fields[op->plan->keys[side][i]];
        keys[i] = (struct state_field){.name = field->name, .type = tide__type_text(&op->arena, field->type)};
    }
    keys[count] = (struct state_field){.name = "arrival", .type = "BIGINT NOT NULL"};
    struct state_field *value = ARENA_NEW(&op->arena, struct state_field);
    *value = (struct state_field){"row", tide__row_type_text(input->fields, input->field_count, &op->arena),
                                  STATE_FORM_BYTES, STATE_COMBINE_REPLACE};
    op->descs[side] = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.%s", node->operator_id, side == 0 ? "left" : "right"),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_WINDOWED,
        .key_count = count + 1,
        .value_count = 1,
        .keys = keys,
        .values = value,
    };
    return tide__state_table(op->env.store, &op->descs[side], &op->tables[side], err);
}

tide_status tide__window_join_state_open(struct window_join *op, tide_error *err) {
    TIDE_TRY(open_side(op, 0, err));
    return open_side(op, 1, err);
}

void tide__window_join_put_fresh(struct window_join *op, struct join_window *window) {
    for (size_t f = 0; f < window->fresh_count; f++) {
        const struct join_fresh *fresh = &window->fresh[f];
        tide__strbuf_clear(&op->key);
        tide__window_key_append(&window->bounds, &op->key);
        tide__strbuf_append_str(&op->key, fresh->group->key);
        tide__strbuf_append_str(&op->key, tide__ranked_key(fresh->row));
        tide__strbuf_clear(&op->value);
        tide__row_value_append(tide__ranked_bytes(fresh->row), &op->value);
        tide__state_put(op->tables[fresh->side], tide__strbuf_str(&op->key), tide__strbuf_str(&op->value));
        window->in_state[fresh->side] = true;
    }
    window->fresh_count = 0;
}

tide_status tide__window_join_barrier(struct operator *base, tide_error *err) {
    (void)err;
    struct window_join *op = self(base);
    for (size_t i = 0; i < op->windows.count; i++)
        tide__window_join_put_fresh(op, (struct join_window *)tide__window_list_at(&op->windows, i));
    return TIDE_OK;
}

void tide__window_join_save(struct operator *base, struct strbuf *out) {
    uint64_t arrival = self(base)->ranker.arrival;
    if (arrival > 0) tide__strbuf_append(out, &arrival, sizeof arrival);
}

static bool is_full(const struct window_join *op) {
    const struct memory_budget *budget = op->env.budget;
    return budget != NULL && budget->used > budget->limit / 2;
}

// The rows that there is room for; of the others it is only noted which windows they are of.
static bool restore_row(struct window_join *op, uint32_t side, struct str key, struct str value) {
    struct str row;
    if (key.len < WINDOW_KEY_BYTES + ARRIVAL_BYTES || !tide__row_value_parse(value, &row)) return false;
    struct join_window *window = tide__window_join_window(op, tide__key_get_time(key.data),
                                                          tide__key_get_time(key.data + 8), WATERMARK_NONE);
    if (window == NULL) return false;
    window->in_state[side] = true;
    if (window->evicted || is_full(op)) {
        window->evicted = true;
        return true;
    }
    struct str group_key = {key.data + WINDOW_KEY_BYTES, key.len - WINDOW_KEY_BYTES - ARRIVAL_BYTES};
    struct str arrival = {key.data + key.len - ARRIVAL_BYTES, ARRIVAL_BYTES};
    struct join_group *group = tide__window_join_group(op, window, group_key,
                                                       tide__hash_bytes(group_key.data, group_key.len));
    tide__window_join_put(op, window, group, side, tide__ranked_restore(&op->ranker, arrival, row, 0));
    return true;
}

tide_status tide__window_join_restore(struct operator *base, struct str saved, tide_error *err) {
    struct window_join *op = self(base);
    if (saved.len != 0 && saved.len != sizeof op->ranker.arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->ranker.arrival, saved.data, saved.len);
    for (uint32_t side = 0; side < 2; side++) {
        struct state_iter *iter;
        TIDE_TRY(tide__state_iter_open(op->tables[side], NULL, (struct str){0}, (struct str){0}, &iter, err));
        struct str key, value;
        bool good = true;
        while (good && tide__state_iter_next(iter, &key, &value)) good = restore_row(op, side, key, value);
        TIDE_TRY(tide__state_iter_close(iter, err));
        if (!good)
            return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                              op->descs[side].name);
    }
    return TIDE_OK;
}
