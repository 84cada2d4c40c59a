// Batch mode of the regular Top-N: the rows that are kept at the end go out, partition by partition, in the order of their keys.
#include "engine/operators/rank_rows.h"

#include <string.h>

static tide_status emit_group(struct rank *op, const struct rank_group *group, struct emitter *out, tide_error *err) {
    struct ranked_at at = {0, 0};
    for (uint64_t rank = 1; rank <= op->last && rank <= group->list.count; rank++) {
        const struct ranked_row *row = tide__ranked_list_get(&group->list, at);
        if (rank >= op->first) tide__changes_add(&op->changes, tide__ranked_bytes(row), ROW_INSERT, (int64_t)rank);
        if (op->changes.count >= op->env.batch_rows_max) TIDE_TRY(tide__rank_send(op, out, err));
        at = tide__ranked_list_next(&group->list, at);
    }
    return TIDE_OK;
}

static tide_status emit_from_memory(struct rank *op, struct emitter *out, tide_error *err) {
    struct memtable *table = op->groups.young;
    tide__memtable_freeze(table);
    struct memtable_entry *const *entries = tide__memtable_sorted(table);
    size_t count = tide__memtable_count(table);
    for (size_t i = 0; i < count; i++) TIDE_TRY(emit_group(op, tide__memtable_payload(table, entries[i]), out, err));
    return tide__rank_send(op, out, err);
}

// The partition whose rows are being read.
struct run {
    struct strbuf partition;
    uint64_t rank;  // of its last row
};

static bool begins_with(struct str key, const struct strbuf *prefix) {
    return key.len >= prefix->len && (prefix->len == 0 || memcmp(key.data, prefix->data, prefix->len) == 0);
}

static tide_status emit_entry(struct rank *op, struct run *run, struct str key, struct str value, struct emitter *out,
                              tide_error *err) {
    struct str row;
    size_t len;
    if (!tide__row_value_parse(value, &row)) return tide__rank_damaged(op, err);
    if (run->rank == 0 || !begins_with(key, &run->partition)) {
        if (!tide__rank_partition_length(op, key, &len)) return tide__rank_damaged(op, err);
        tide__strbuf_clear(&run->partition);
        tide__strbuf_append(&run->partition, key.data, len);
        run->rank = 0;
    }
    run->rank++;
    if (run->rank < op->first || run->rank > op->last) return TIDE_OK;
    row.data = tide__arena_strndup(&op->scratch, row.data, row.len);
    tide__changes_add(&op->changes, row, ROW_INSERT, (int64_t)run->rank);
    if (op->changes.count < op->env.batch_rows_max) return TIDE_OK;
    TIDE_TRY(tide__rank_send(op, out, err));
    tide__arena_reset(&op->scratch);
    return TIDE_OK;
}

static tide_status emit_from_state(struct rank *op, struct emitter *out, tide_error *err) {
    tide__rank_state_flush(op);
    tide__arena_reset(&op->scratch);
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct run run = {0};
    struct str key, value;
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value))
        status = emit_entry(op, &run, key, value, out, err);
    tide__strbuf_deinit(&run.partition);
    tide_status closed = tide__state_iter_close(iter, status == TIDE_OK ? err : NULL);
    TIDE_TRY(status == TIDE_OK ? closed : status);
    return tide__rank_send(op, out, err);
}

tide_status tide__rank_emit_all(struct rank *op, struct emitter *out, tide_error *err) {
    // In one table in memory they can be sorted; in more they are sorted in the state.
    if (op->groups.old == NULL && !op->groups.spilled) return emit_from_memory(op, out, err);
    return emit_from_state(op, out, err);
}
