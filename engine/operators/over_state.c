// The state of OVER: three tables.
//
//   waiting   sort columns, arrival number                   -> row that has not had its turn
//   rows      partition keys, sort columns, arrival number   -> row that a frame or LAG still reaches
//   groups    partition keys                                 -> numbers, rows in the frame, accumulators
//
// When memory is short, partitions that no row has come to for a while are there only (keyed_cache.h). Rows that wait stay in memory.
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/over_rows.h"
#include "engine/operators/window_assign.h"

#include <string.h>

enum { ARRIVAL_BYTES = 8, NUMBERS = 4 };

static struct over *self(struct operator *op) {
    return (struct over *)op;
}

static struct state_field key_field(struct over *op, uint32_t column) {
    const struct plan_field *field = &op->env.node->inputs[0]->fields[column];
    return (struct state_field){.name = field->name, .type = tide__type_text(&op->arena, field->type)};
}

static tide_status open_table(struct over *op, size_t index, const char *name, bool partitions, bool sorts,
                              const struct state_field *values, size_t value_count, struct state_table **out,
                              tide_error *err) {
    const struct plan_node *node = op->env.node;
    struct state_field *keys = ARENA_ARRAY(&op->arena, struct state_field,
                                           op->plan->partition_count + op->ranker.sort_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < op->plan->partition_count && partitions; i++)
        keys[count++] = key_field(op, op->plan->partitions[i]);
    for (uint32_t i = 0; i < op->ranker.sort_count && sorts; i++) keys[count++] = key_field(op, op->sorts[i].column);
    if (sorts) keys[count++] = (struct state_field){.name = "arrival", .type = "BIGINT NOT NULL"};
    op->descs[index] = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.%s", node->operator_id, name),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = count,
        .value_count = value_count,
        .keys = keys,
        .values = values,
        .read_singly = partitions,
    };
    return tide__state_table(op->env.store, &op->descs[index], out, err);
}

// --- barriers -----------------------------------------------------------------------------------------------------------------

static struct str row_key(struct over *op, const struct over_group *group, const struct ranked_row *row) {
    tide__strbuf_clear(&op->key);
    if (group != NULL) tide__strbuf_append_str(&op->key, group->key);
    tide__strbuf_append_str(&op->key, tide__ranked_key(row));
    return tide__strbuf_str(&op->key);
}

void tide__over_state_entered(struct over *op, struct over_group *group, struct ranked_row *row) {
    size_t before = op->fresh_capacity;
    op->fresh = tide__grow(op->fresh, &op->fresh_capacity, op->fresh_count + 1, sizeof *op->fresh);
    tide__budget_charge(op->env.budget, (op->fresh_capacity - before) * sizeof *op->fresh);
    op->fresh[op->fresh_count++] = (struct over_fresh){group, row};
    row->fresh = (uint32_t)op->fresh_count;
}

void tide__over_state_left(struct over *op, const struct over_group *group, struct ranked_row *row) {
    if (row->in_state) tide__state_delete(group == NULL ? op->waiting_table : op->rows_table, row_key(op, group, row));
    row->in_state = false;
    if (row->fresh == 0) return;
    struct over_fresh last = op->fresh[--op->fresh_count];
    op->fresh[row->fresh - 1] = last;
    last.row->fresh = row->fresh;
    row->fresh = 0;
}

// On a stream RANK and DENSE_RANK are row numbers, so that their own places are free: for the watermark at which a partition of
// a bounded RANGE is forgotten, told by a rank of 0.
static void put_group(struct over *op, struct over_group *group) {
    int64_t numbers[NUMBERS] = {group->row_number, group->rank, group->dense_rank, group->in_frame};
    if (group->forgotten_at != WATERMARK_NONE) numbers[1] = 0, numbers[2] = group->forgotten_at;
    tide__strbuf_clear(&op->value);
    tide__strbuf_append(&op->value, numbers, sizeof numbers);
    tide__aggregators_encode(&op->aggregators, group->accumulators, &op->value);
    tide__state_put(op->groups_table, group->key, tide__strbuf_str(&op->value));
    group->dirty = 0;
}

static void put_changed(struct over *op) {
    for (size_t i = 0; i < op->fresh_count; i++) {
        const struct over_fresh *fresh = &op->fresh[i];
        tide__strbuf_clear(&op->value);
        tide__row_value_append(tide__ranked_bytes(fresh->row), &op->value);
        tide__state_put(fresh->group == NULL ? op->waiting_table : op->rows_table,
                        row_key(op, fresh->group, fresh->row), tide__strbuf_str(&op->value));
        fresh->row->in_state = true;
        fresh->row->fresh = 0;
    }
    op->fresh_count = 0;
    for (size_t i = 0; i < op->groups.dirty_count; i++) put_group(op, op->groups.dirty[i]);
    op->groups.dirty_count = 0;
}

tide_status tide__over_barrier(struct operator *base, tide_error *err) {
    (void)err;
    put_changed(self(base));
    return TIDE_OK;
}

void tide__over_save(struct operator *base, struct strbuf *out) {
    tide__strbuf_append(out, &self(base)->ranker.arrival, sizeof(uint64_t));
    tide__strbuf_append(out, &self(base)->last_time, sizeof(int64_t));
}

// --- restoring ----------------------------------------------------------------------------------------------------------------

static struct ranked_row *restore_row(struct over *op, struct str key, struct str value) {
    struct str bytes;
    if (key.len < ARRIVAL_BYTES || !tide__row_value_parse(value, &bytes)) return NULL;
    if (!tide__row_decode(bytes, op->one.columns, op->fields, 0)) return NULL;
    uint64_t prefix;
    tide__ranker_prefixes(&op->ranker, &op->one, &prefix);
    return tide__ranked_restore(&op->ranker, key, bytes, prefix);
}

static bool restore_waiting(struct over *op, struct str key, struct str value) {
    struct ranked_row *row = restore_row(op, key, value);
    if (row != NULL) tide__over_wait(op, row);
    return row != NULL;
}

static bool restore_numbers(struct over *op, struct over_group *group, struct str value, int64_t *charge) {
    int64_t numbers[NUMBERS];
    if (value.len < sizeof numbers) return false;
    memcpy(numbers, value.data, sizeof numbers);
    group->row_number = numbers[0];
    group->rank = numbers[1];
    group->dense_rank = numbers[2];
    group->in_frame = (uint32_t)numbers[3];
    if (numbers[1] == 0 && tide__over_goes_by_partition(op) && !op->plan->rows) group->forgotten_at = numbers[2];
    struct str rest = {value.data + sizeof numbers, value.len - sizeof numbers};
    bool good = tide__aggregators_decode(&op->aggregators, rest, group->accumulators, charge);
    return good && numbers[3] >= 0 && numbers[3] <= group->count;
}

// A walk through the rows, along with one through the groups.
struct rows_walk {
    struct state_iter *iter;  // NULL: no rows are kept
    struct str key, value;    // the row that it stands at
    bool began, stands;
};

static tide_status open_walk(struct over *op, struct rows_walk *walk, tide_error *err) {
    *walk = (struct rows_walk){0};
    if (!op->bounded && op->lag == 0) return TIDE_OK;
    return tide__state_iter_open_flushed(op->rows_table, (struct str){0}, (struct str){0}, &walk->iter, err);
}

static void next_row(struct rows_walk *walk) {
    walk->began = true;
    walk->stands = tide__state_iter_next(walk->iter, &walk->key, &walk->value);
}

static bool begins_with(struct str key, struct str prefix) {
    return key.len >= prefix.len && (prefix.len == 0 || memcmp(key.data, prefix.data, prefix.len) == 0);
}

// The rows of a partition; no partition's key is the beginning of another's. Partitions come in the order of their keys.
static bool restore_rows(struct over *op, struct rows_walk *walk, struct over_group *group) {
    if (walk->iter == NULL) return true;
    if (!walk->began || (walk->stands && tide__str_cmp(walk->key, group->key) < 0)) {
        tide__state_iter_seek(walk->iter, group->key);
        next_row(walk);
    }
    for (; walk->stands && begins_with(walk->key, group->key); next_row(walk)) {
        struct str rest = {walk->key.data + group->key.len, walk->key.len - group->key.len};
        struct ranked_row *row = restore_row(op, rest, walk->value);
        if (row == NULL) return false;
        row->in_state = true;
        tide__over_group_push(op, group, row);
    }
    return true;
}

// Rows before numbers: a group's frame reaches back over them.
static bool restore_group(struct over *op, struct rows_walk *walk, struct over_group *group, struct str value,
                          int64_t *charge) {
    return restore_rows(op, walk, group) && restore_numbers(op, group, value, charge);
}

static tide_status damaged(const struct state_table *table, tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                      tide__state_table_desc(table)->name);
}

// --- the cache ----------------------------------------------------------------------------------------------------------------

static void place_group(void *ctx, void *payload, struct str key) {
    (void)ctx;
    struct over_group *group = payload;
    if (group->key.data == NULL) group->forgotten_at = WATERMARK_NONE;
    group->key = key;
}

static int64_t move_group(void *ctx, void *payload, void *from) {
    struct over *op = ctx;
    struct over_group *group = payload;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct ranked_row *row = group->rows[group->first + i];
        if (row->fresh != 0) op->fresh[row->fresh - 1].group = group;
    }
    return tide__aggregators_move(&op->aggregators, group->accumulators, ((struct over_group *)from)->accumulators,
                                  &op->value);
}

static tide_status load_groups(void *ctx, void *const *payloads, const struct str *keys, size_t n, int64_t *out_charge,
                               tide_error *err) {
    struct over *op = ctx;
    struct str *values = tide__arena_alloc(&op->scratch, n * sizeof *values);
    TIDE_TRY(tide__state_multi_get_flushed(op->groups_table, keys, n, &op->scratch, values, err));
    size_t first = 0;
    while (first < n && values[first].data == NULL) first++;
    if (first == n) return TIDE_OK;
    struct rows_walk walk;
    TIDE_TRY(open_walk(op, &walk, err));
    bool good = true;
    for (size_t i = first; i < n && good; i++)
        if (values[i].data != NULL) good = restore_group(op, &walk, payloads[i], values[i], out_charge);
    TIDE_TRY(tide__state_iter_close(walk.iter, err));
    return good ? TIDE_OK : damaged(op->groups_table, err);
}

static tide_status flush_groups(void *ctx, tide_error *err) {
    struct over *op = ctx;
    put_changed(op);
    TIDE_TRY(tide__state_flush(op->rows_table, err));
    return tide__state_flush(op->groups_table, err);
}

static void open_cache(struct over *op) {
    struct keyed_owner owner = {
        .payload_size = sizeof(struct over_group) + op->aggregators.payload_size,
        .dirty_at = offsetof(struct over_group, dirty),
        .place = place_group,
        .move = move_group,
        .load = load_groups,
        .flush = flush_groups,
        .free = tide__over_group_free,
        .ctx = op,
    };
    tide__keyed_init(&op->groups, op->env.budget, owner);
}

size_t tide__over_shrink(struct operator *base, size_t bytes, tide_error *err) {
    struct over *op = self(base);
    tide__arena_reset(&op->scratch);
    return tide__keyed_shrink(&op->groups, bytes, err);
}

static tide_status restore_all_waiting(struct over *op, tide_error *err) {
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->waiting_table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, value;
    bool good = true;
    while (good && tide__state_iter_next(iter, &key, &value)) good = restore_waiting(op, key, value);
    TIDE_TRY(tide__state_iter_close(iter, err));
    return good ? TIDE_OK : damaged(op->waiting_table, err);
}

// As many partitions as there is room for.
static tide_status restore_groups(struct over *op, tide_error *err) {
    struct rows_walk walk;
    TIDE_TRY(open_walk(op, &walk, err));
    struct state_iter *iter = NULL;
    tide_status status = tide__state_iter_open(op->groups_table, NULL, (struct str){0}, (struct str){0}, &iter, err);
    struct str key, value;
    bool good = true;
    while (status == TIDE_OK && good && !tide__keyed_is_full(&op->groups) &&
           tide__state_iter_next(iter, &key, &value)) {
        int64_t charge = 0;
        good = restore_group(op, &walk, tide__keyed_restore(&op->groups, key), value, &charge);
        tide__keyed_charge(&op->groups, charge);
    }
    tide_status closed = tide__state_iter_close(iter, err), rows_closed = tide__state_iter_close(walk.iter, err);
    if (status == TIDE_OK) status = closed == TIDE_OK ? rows_closed : closed;
    return status == TIDE_OK && !good ? damaged(op->groups_table, err) : status;
}

tide_status tide__over_state_open(struct over *op, tide_error *err) {
    open_cache(op);
    const struct plan_node *input = op->env.node->inputs[0];
    struct state_field *row = ARENA_NEW(&op->arena, struct state_field);
    *row = (struct state_field){"row", tide__row_type_text(input->fields, op->fields, &op->arena), STATE_FORM_BYTES,
                                STATE_COMBINE_REPLACE};
    TIDE_TRY(open_table(op, 0, "waiting", false, true, row, 1, &op->waiting_table, err));
    TIDE_TRY(open_table(op, 1, "rows", true, true, row, 1, &op->rows_table, err));
    size_t count = NUMBERS + op->aggregators.field_count;
    struct state_field *values = ARENA_ARRAY(&op->arena, struct state_field, count);
    static const char *const names[NUMBERS] = {"row_number", "rank", "dense_rank", "rows in the frame"};
    for (size_t i = 0; i < NUMBERS; i++)
        values[i] = (struct state_field){names[i], "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    for (size_t i = NUMBERS; i < count; i++) {
        values[i] = op->aggregators.fields[i - NUMBERS];
        values[i].combiner = STATE_COMBINE_REPLACE;
    }
    return open_table(op, 2, "groups", true, false, values, count, &op->groups_table, err);
}

tide_status tide__over_restore(struct operator *base, struct str saved, tide_error *err) {
    struct over *op = self(base);
    size_t one = sizeof op->ranker.arrival, both = one + sizeof op->last_time;  // older savepoints have but the first
    if (saved.len != 0 && saved.len != one && saved.len != both)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->ranker.arrival, saved.data, one);
    if (saved.len == both) memcpy(&op->last_time, saved.data + one, sizeof op->last_time);
    TIDE_TRY(restore_all_waiting(op, err));
    return restore_groups(op, err);
}
