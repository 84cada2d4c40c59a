// The state of operators that keep whole rows (Top-N, deduplication, window joins) with other columns, keys or sides.
//
//   key    [window]  partition or join keys  [sort columns]  [arrival number]
//   value  [head]  row                                 the head: of a deduplication `is_out` and the arrival number
//
// A new row is computed from the old one, and its key from the new row. Arrival numbers stay, so that ties stay as they were.
#include "api/migrate.h"

#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/ranked.h"

#include <string.h>

enum { WINDOW_BYTES = 16, ARRIVAL_BYTES = 8 };

struct rows_step {
    struct table_step *step;
    size_t prefix, head, tail;  // bytes
    const struct plan_node *old_input, *new_input;
    const uint32_t *old_keys, *new_keys;  // columns of the rows
    uint32_t old_key_count, new_key_count;
    const struct sort_key *sorts;  // of the new key
    uint32_t sort_count;
    struct strbuf key, value, row;
};

void tide__migrate_row_keys(const struct plan_node *node, uint32_t side, const uint32_t **out_keys,
                            uint32_t *out_count) {
    *out_keys = NULL;
    switch (node->kind) {
    case PLAN_WINDOW_RANK:
        *out_keys = node->window_rank.partitions;
        *out_count = node->window_rank.partition_count;
        break;
    case PLAN_RANK:
        *out_keys = node->rank.partitions;
        *out_count = node->rank.partition_count;
        break;
    case PLAN_WINDOW_JOIN:
        *out_keys = node->window_join.keys[side];
        *out_count = node->window_join.key_count;
        break;
    default: *out_count = 0; break;
    }
}

static const struct sort_key *sorts_of(const struct plan_node *node) {
    if (node->kind == PLAN_WINDOW_RANK) return node->window_rank.sorts;
    return node->kind == PLAN_RANK ? node->rank.sorts : NULL;
}

static void row_batch(const struct plan_node *input, size_t rows, struct arena *arena, struct batch *out) {
    *out = (struct batch){.rows = rows, .column_count = input->field_count};
    out->columns = ARENA_ARRAY(arena, struct column, input->field_count + 1);
    for (uint32_t i = 0; i < input->field_count; i++) {
        const struct type *type = tide__type_with_nullable(arena, input->fields[i].type, true);
        tide__column_init(&out->columns[i], type, rows, 1, arena);
    }
}

// A key whose row has gone out already has no row any more, but its key columns.
static bool decode(const struct rows_step *r, const struct state_entry *entry, size_t row, struct batch *batch,
                   bool *out_whole) {
    struct str key = entry->key, bytes;
    if (key.len < r->prefix + r->tail || entry->value.len < r->head) return false;
    key = (struct str){key.data + r->prefix, key.len - r->prefix - r->tail};
    for (uint32_t i = 0; i < r->old_key_count; i++)
        if (!tide__key_decode(&key, &r->step->scratch, &batch->columns[r->old_keys[i]], row)) return false;
    if (!tide__row_value_parse((struct str){entry->value.data + r->head, entry->value.len - r->head}, &bytes))
        return false;
    *out_whole = bytes.len > 0 || r->head == 0;
    if (*out_whole) return tide__row_decode(bytes, batch->columns, batch->column_count, row);
    for (size_t c = 0; c < batch->column_count; c++) {
        bool is_key = false;
        for (uint32_t i = 0; i < r->old_key_count; i++) is_key |= r->old_keys[i] == c;
        if (!is_key) batch->columns[c].nulls[row] = 1;
    }
    return true;
}

static tide_status new_rows(const struct rows_step *r, const struct batch *old_rows, struct batch *out,
                            tide_error *err) {
    struct table_step *step = r->step;
    *out = (struct batch){.rows = old_rows->rows, .column_count = r->new_input->field_count};
    out->columns = ARENA_ARRAY(&step->scratch, struct column, r->new_input->field_count + 1);
    bool *known = ARENA_ARRAY(&step->scratch, bool, r->new_input->field_count + 1);
    bool any = false;
    const struct compat_step *column;
    for (size_t n = 0; (column = tide__migrate_step(step->op, COMPAT_STEP_COLUMN, n)) != NULL; n++) {
        if (column->side != step->side || column->at >= out->column_count) continue;
        TIDE_TRY(tide__migrate_eval(step, column->expr, old_rows, &step->scratch, &out->columns[column->at], err));
        known[column->at] = any = true;
    }
    for (uint32_t c = 0; c < out->column_count; c++) {
        if (known[c]) continue;
        if (any || r->new_input->field_count != r->old_input->field_count)
            return tide__table_step_unsupported(step, "a stored column is not known", err);
        out->columns[c] = old_rows->columns[c];
    }
    return TIDE_OK;
}

static tide_status put_row(struct rows_step *r, const struct state_entry *entry, const struct batch *rows, size_t row,
                           bool whole, tide_error *err) {
    tide__strbuf_clear(&r->key);
    tide__strbuf_append(&r->key, entry->key.data, r->prefix);
    for (uint32_t i = 0; i < r->new_key_count; i++)
        tide__key_append_value(&rows->columns[r->new_keys[i]], row, &r->key);
    if (r->sort_count > 0) tide__key_append(rows, r->sorts, r->sort_count, row, &r->key);
    tide__strbuf_append(&r->key, entry->key.data + entry->key.len - r->tail, r->tail);
    tide__strbuf_clear(&r->row);
    if (whole) tide__row_append(rows, row, &r->row);
    tide__strbuf_clear(&r->value);
    tide__strbuf_append(&r->value, entry->value.data, r->head);
    tide__row_value_append(tide__strbuf_str(&r->row), &r->value);
    return tide__entry_loader_add(&r->step->loader, tide__strbuf_str(&r->key), tide__strbuf_str(&r->value), err);
}

static tide_status convert(void *ctx, const struct state_entry *entries, size_t count, tide_error *err) {
    struct rows_step *r = ctx;
    struct table_step *step = r->step;
    struct batch old_rows, rows;
    row_batch(r->old_input, count, &step->scratch, &old_rows);
    bool *whole = ARENA_ARRAY(&step->scratch, bool, count + 1);
    for (size_t i = 0; i < count; i++)
        if (!decode(r, &entries[i], i, &old_rows, &whole[i])) return tide__table_step_damaged(step, err);
    const uint8_t *keep;
    TIDE_TRY(tide__migrate_purge(step, &old_rows, &step->scratch, &keep, err));
    TIDE_TRY(new_rows(r, &old_rows, &rows, err));
    for (size_t i = 0; i < count; i++)
        if (keep[i]) TIDE_TRY(put_row(r, &entries[i], &rows, i, whole[i], err));
    return TIDE_OK;
}

// Two keys of a deduplication have become one: if one's row has gone out, the row of both has, for rows go out in time order. Else
// the earlier one stays.
static bool combine_first(void *ctx, struct str older, struct str newer, struct strbuf *out) {
    struct rows_step *r = ctx;
    struct str values[2] = {older, newer}, rows[2];
    int64_t is_out[2], arrival[2];
    struct batch batch;
    struct arena arena;
    tide__arena_init(&arena);
    row_batch(r->new_input, 2, &arena, &batch);
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        good = values[i].len >= r->head &&
               tide__row_value_parse((struct str){values[i].data + r->head, values[i].len - r->head}, &rows[i]);
        if (!good) break;
        memcpy(&is_out[i], values[i].data, sizeof is_out[i]);
        memcpy(&arrival[i], values[i].data + sizeof is_out[i], sizeof arrival[i]);
        if (is_out[i] == 0) good = tide__row_decode(rows[i], batch.columns, batch.column_count, (size_t)i);
    }
    if (good) {
        int first = is_out[1] != 0;
        if (is_out[0] == 0 && is_out[1] == 0) {
            const struct column *times = &batch.columns[r->sorts[0].column];
            int64_t ms[2];
            for (int i = 0; i < 2; i++) ms[i] = times->physical == PHYSICAL_TIME ? times->time[i].ms : times->i64[i];
            first = ms[1] < ms[0] || (ms[1] == ms[0] && arrival[1] < arrival[0]);
        }
        tide__strbuf_append_str(out, values[first]);
    }
    tide__arena_deinit(&arena);
    return good;
}

tide_status tide__migrate_rows(struct table_step *step, tide_error *err) {
    const struct compat_operator *op = step->op;
    const struct plan_node *old_node = op->old_node, *new_node = op->new_node;
    bool swapped = tide__migrate_step(op, COMPAT_STEP_SWAP, 0) != NULL;
    uint32_t old_side = swapped ? 1 - step->side : step->side;
    bool is_join = new_node->kind == PLAN_WINDOW_JOIN,
         is_rank = new_node->kind == PLAN_WINDOW_RANK || new_node->kind == PLAN_RANK;
    if (old_node->kind != new_node->kind || (!is_join && !is_rank))
        return tide__table_step_unsupported(step, "this kind of operator can only go on unchanged", err);
    struct rows_step r = {
        .step = step, .old_input = old_node->inputs[old_side], .new_input = new_node->inputs[step->side]};
    const struct state_table_desc *desc = tide__state_table_desc(step->loader.table);
    bool has_arrival = desc->key_count > 0 && strcmp(desc->keys[desc->key_count - 1].name, "arrival") == 0;
    r.prefix = new_node->kind == PLAN_RANK ? 0 : WINDOW_BYTES;
    r.tail = has_arrival ? ARRIVAL_BYTES : 0;
    r.head = (desc->value_count - 1) * sizeof(int64_t);
    tide__migrate_row_keys(old_node, old_side, &r.old_keys, &r.old_key_count);
    tide__migrate_row_keys(new_node, step->side, &r.new_keys, &r.new_key_count);
    r.sorts = sorts_of(new_node);
    // The sort columns are what is left of the key: none if the order is that of arrival.
    r.sort_count = is_rank && has_arrival ? (uint32_t)desc->key_count - r.new_key_count - 1 : 0;
    if (r.head > sizeof(int64_t) && !has_arrival) step->loader.combine = combine_first;
    step->loader.ctx = &r;
    tide_status status = tide__table_step_run(step, convert, &r, err);
    tide__strbuf_deinit(&r.key);
    tide__strbuf_deinit(&r.value);
    tide__strbuf_deinit(&r.row);
    return status;
}
