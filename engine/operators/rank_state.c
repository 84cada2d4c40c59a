// The state of the regular Top-N: one entry a kept row.
//
//   key    partition keys, sort columns, arrival number   (order-preserving)
//   value  the row
//
// Rows are put at the barrier after they entered; a row that leaves before that is never written, for it is taken off its group's
// list of those.
//
// When memory is short, groups that no row has come to for a while are in the state table only (keyed_cache.h), and a group that is
// wanted again is read back whole.
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

static void open_groups(struct rank *op, size_t group_size, void (*free)(void *payload, void *ctx));

tide_status tide__rank_state_open(struct rank *op, size_t group_size, void (*free)(void *payload, void *ctx),
                                  tide_error *err) {
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
        .read_singly = true,
    };
    op->one = (struct batch){.rows = 1, .column_count = op->fields};
    op->one.columns = ARENA_ARRAY(&op->arena, struct column, op->fields + 1);
    for (uint32_t f = 0; f < op->fields; f++)
        tide__column_init(&op->one.columns[f], node->inputs[0]->fields[f].type, 1, 1, &op->arena);
    open_groups(op, group_size, free);
    return tide__state_table(op->env.store, &op->desc, &op->table, err);
}

void tide__rank_state_close(struct rank *op) {
    tide__keyed_deinit(&op->groups);
}

static struct str row_key(struct rank *op, const struct rank_group *group, const struct ranked_row *row) {
    tide__strbuf_clear(&op->key);
    tide__strbuf_append_str(&op->key, group->key);
    tide__strbuf_append_str(&op->key, tide__ranked_key(row));
    return tide__strbuf_str(&op->key);
}

void tide__rank_state_entered(struct rank *op, struct rank_group *group, struct ranked_row *row) {
    tide__keyed_mark_dirty(&op->groups, group);
    row->fresh_before = NULL;
    row->fresh_next = group->fresh;
    if (group->fresh != NULL) group->fresh->fresh_before = row;
    group->fresh = row;
}

void tide__rank_state_left(struct rank *op, struct rank_group *group, struct ranked_row *row) {
    if (row->in_state) {
        tide__state_delete(op->table, row_key(op, group, row));
        return;
    }
    *(row->fresh_before == NULL ? &group->fresh : &row->fresh_before->fresh_next) = row->fresh_next;
    if (row->fresh_next != NULL) row->fresh_next->fresh_before = row->fresh_before;
    row->fresh_next = row->fresh_before = NULL;
}

void tide__rank_state_flush(struct rank *op) {
    for (size_t i = 0; i < op->groups.dirty_count; i++) {
        struct rank_group *group = op->groups.dirty[i];
        for (struct ranked_row *row = group->fresh, *next; row != NULL; row = next) {
            next = row->fresh_next;
            tide__strbuf_clear(&op->value);
            tide__row_value_append(tide__ranked_bytes(row), &op->value);
            tide__state_put(op->table, row_key(op, group, row), tide__strbuf_str(&op->value));
            row->in_state = true;
            row->fresh_next = row->fresh_before = NULL;
        }
        group->fresh = NULL;
        group->dirty = 0;
    }
    op->groups.dirty_count = 0;
}

tide_status tide__rank_barrier(struct operator *base, tide_error *err) {
    (void)err;
    tide__rank_state_flush(self(base));
    return TIDE_OK;
}

void tide__rank_save(struct operator *base, struct strbuf *out) {
    uint64_t arrival = self(base)->ranker.arrival;
    tide__strbuf_append(out, &arrival, sizeof arrival);
}

// --- reading ----------------------------------------------------------------------------------------------------------------

tide_status tide__rank_damaged(const struct rank *op, tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", op->desc.name);
}

bool tide__rank_partition_length(struct rank *op, struct str key, size_t *out_len) {
    struct str rest = key;
    for (uint32_t i = 0; i < op->plan->partition_count; i++)
        if (!tide__key_decode(&rest, &op->scratch, &op->one.columns[op->plan->partitions[i]], 0)) return false;
    *out_len = key.len - rest.len;
    return rest.len >= ARRIVAL_BYTES;
}

// Keys of partitions mark their own ends: none is the beginning of another.
static bool is_of(const struct rank_group *group, struct str key) {
    return key.len >= group->key.len && (group->key.len == 0 || memcmp(key.data, group->key.data, group->key.len) == 0);
}

// An entry of the group; entries come in the order of their keys.
static bool take_entry(struct rank *op, struct rank_group *group, struct str key, struct str value) {
    struct str bytes, rest = {key.data + group->key.len, key.len - group->key.len};
    if (rest.len < ARRIVAL_BYTES || !tide__row_value_parse(value, &bytes)) return false;
    if (!tide__row_decode(bytes, op->one.columns, op->one.column_count, 0)) return false;
    uint64_t prefix;
    tide__ranker_prefixes(&op->ranker, &op->one, &prefix);
    struct ranked_row *row = tide__ranked_restore(&op->ranker, rest, bytes, prefix);
    struct ranked_at at = tide__ranked_list_find(&group->list, prefix, rest);
    tide__ranked_list_insert(&group->list, at, row, op->env.budget);
    if (op->plan->only_rises) tide__rank_risen_before(op, row);
    // Only if this plan keeps fewer rows than the one that wrote the state.
    if (op->plan->input_updates || group->list.count <= op->last) return true;
    row = tide__ranked_list_pop(&group->list, op->env.budget);
    tide__rank_state_left(op, group, row);
    tide__ranked_free(&op->ranker, row);
    return true;
}

static bool take_groups(struct rank *op, struct state_iter *iter, void *const *groups, size_t n) {
    struct str key, value;
    bool any = tide__state_iter_next(iter, &key, &value);
    for (size_t i = 0; i < n && any; i++) {
        struct rank_group *group = groups[i];
        if (tide__str_cmp(key, group->key) < 0) {
            tide__state_iter_seek(iter, group->key);
            any = tide__state_iter_next(iter, &key, &value);
        }
        for (; any && is_of(group, key); any = tide__state_iter_next(iter, &key, &value))
            if (!take_entry(op, group, key, value)) return false;
    }
    return true;
}

static tide_status load_groups(void *ctx, void *const *payloads, const struct str *keys, size_t n, int64_t *out_charge,
                               tide_error *err) {
    (void)out_charge;
    struct rank *op = ctx;
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open_flushed(op->table, keys[0], (struct str){0}, &iter, err));
    bool good = take_groups(op, iter, payloads, n);
    TIDE_TRY(tide__state_iter_close(iter, err));
    return good ? TIDE_OK : tide__rank_damaged(op, err);
}

// --- groups in memory -------------------------------------------------------------------------------------------------------

static void place_group(void *ctx, void *payload, struct str key) {
    (void)ctx;
    ((struct rank_group *)payload)->key = key;
}

static tide_status flush(void *ctx, tide_error *err) {
    struct rank *op = ctx;
    tide__rank_state_flush(op);
    return tide__state_flush(op->table, err);
}

static void open_groups(struct rank *op, size_t group_size, void (*free)(void *payload, void *ctx)) {
    struct keyed_owner owner = {
        .payload_size = group_size,
        .dirty_at = offsetof(struct rank_group, dirty),
        .place = place_group,
        .load = load_groups,
        .flush = flush,
        .free = free,
        .charges = true,
        .ctx = op,
    };
    tide__keyed_init(&op->groups, op->env.budget, owner);
}

struct rank_group *tide__rank_group(struct rank *op, struct str key) {
    return tide__keyed_restore(&op->groups, key);
}

size_t tide__rank_shrink(struct operator *base, size_t bytes, tide_error *err) {
    return tide__keyed_shrink(&self(base)->groups, bytes, err);
}

// --- restoring --------------------------------------------------------------------------------------------------------------

// Groups that there is room for, whole. `may_spill`: the others are read when they are wanted.
static bool restore_groups(struct rank *op, struct state_iter *iter, bool may_spill) {
    struct rank_group *group = NULL;
    struct str key, value;
    while (tide__state_iter_next(iter, &key, &value)) {
        tide__arena_reset(&op->scratch);
        if (group == NULL || !is_of(group, key)) {
            size_t len;
            if (may_spill && tide__keyed_is_full(&op->groups)) return true;
            if (!tide__rank_partition_length(op, key, &len)) return false;
            group = tide__rank_group(op, (struct str){key.data, len});
        }
        if (!take_entry(op, group, key, value)) return false;
    }
    return true;
}

tide_status tide__rank_restore(struct operator *base, struct str saved, tide_error *err) {
    struct rank *op = self(base);
    if (saved.len != 0 && saved.len != sizeof op->ranker.arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->ranker.arrival, saved.data, saved.len);
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    bool good = restore_groups(op, iter, op->head.class->shrink != NULL);
    TIDE_TRY(tide__state_iter_close(iter, err));
    return good ? TIDE_OK : tide__rank_damaged(op, err);
}
