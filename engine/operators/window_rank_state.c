// The state of the Window Top-N: one entry a kept row.
//
//   key    window start, window end, partition keys, sort columns, arrival number   (all order-preserving)
//   value  the row
//
// At a barrier the rows that entered since the last one are put; rows that were put and are thrown out later are deleted;
// a fired window is one key range and is dropped whole. Above an aggregation the table is never touched.
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/window_rank.h"

#include <assert.h>
#include <string.h>

enum { ARRIVAL_BYTES = 8, RESTORE_GROUP = 64 };

static struct window_rank *self(struct operator *op) {
    return (struct window_rank *)op;
}

// The description outlives the operator, hence the plan's arena.
tide_status tide__window_rank_state_open(struct window_rank *op, tide_error *err) {
    struct arena *arena = op->env.plan->arena;
    const struct plan_node *node = op->env.node;
    const struct plan_field *fields = node->inputs[0]->fields;
    const struct plan_window_rank *plan = op->plan;
    struct state_field *keys = ARENA_ARRAY(arena, struct state_field, plan->partition_count + plan->sort_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < plan->partition_count; i++) {
        const struct plan_field *field = &fields[plan->partitions[i]];
        keys[count++] = (struct state_field){.name = field->name, .type = tide__type_text(arena, field->type)};
    }
    for (uint32_t i = 0; i < plan->sort_count; i++) {
        const struct plan_field *field = &fields[plan->sorts[i].column];
        keys[count++] = (struct state_field){.name = field->name, .type = tide__type_text(arena, field->type)};
    }
    keys[count++] = (struct state_field){.name = "arrival", .type = "BIGINT NOT NULL"};
    struct state_field *value = ARENA_NEW(arena, struct state_field);
    *value = (struct state_field){.name = "row",
                                  .type = tide__row_type_text(fields, node->inputs[0]->field_count, arena),
                                  .form = STATE_FORM_BYTES,
                                  .combiner = STATE_COMBINE_REPLACE};
    struct state_table_desc *desc = ARENA_NEW(arena, struct state_table_desc);
    op->desc = desc;
    *desc = (struct state_table_desc){
        .name = tide__arena_printf(arena, "%s.rows", node->operator_id),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_WINDOWED,
        .key_count = count,
        .value_count = 1,
        .keys = keys,
        .values = value,
        .bulky = true,
    };
    return tide__state_table(op->env.store, desc, &op->table, err);
}

static struct str row_key(struct window_rank *op, const struct rank_window *window, const struct rank_top *top,
                          const struct ranked_row *row) {
    tide__strbuf_clear(&op->key);
    tide__window_key_append(&window->bounds, &op->key);
    tide__strbuf_append_str(&op->key, top->partition);
    tide__strbuf_append_str(&op->key, tide__ranked_key(row));
    return tide__strbuf_str(&op->key);
}

void tide__window_rank_delete(struct window_rank *op, const struct rank_window *window, const struct rank_top *top,
                              const struct ranked_row *row) {
    tide__state_delete(op->table, row_key(op, window, top, row));
}

static void put_top(struct window_rank *op, struct rank_window *window, struct rank_top *top) {
    top->dirty = false;
    for (uint32_t i = 0; i < top->heap.count; i++) {
        struct ranked_row *row = top->heap.rows[i];
        if (row->in_state) continue;
        tide__strbuf_clear(&op->value);
        tide__row_value_append(tide__ranked_bytes(row), &op->value);
        tide__state_put(op->table, row_key(op, window, top, row), tide__strbuf_str(&op->value));
        row->in_state = true;
        window->in_state = true;
    }
}

// What changed lies anywhere in memory, a row behind its heap behind its partition: each is asked for some steps ahead.
void tide__window_rank_put_dirty(struct window_rank *op, struct rank_window *window) {
    enum { ROW_AHEAD = 4, HEAP_AHEAD = 8, TOP_AHEAD = 16, ROWS_MAX = 8 };
    size_t n = window->dirty_count;
    for (size_t d = 0; d < n; d++) {
        if (d + TOP_AHEAD < n) {
            __builtin_prefetch(window->dirty[d + TOP_AHEAD]);
            __builtin_prefetch((const char *)window->dirty[d + TOP_AHEAD] + 64);
        }
        if (d + HEAP_AHEAD < n) __builtin_prefetch(window->dirty[d + HEAP_AHEAD]->heap.rows);
        if (d + ROW_AHEAD < n) {
            const struct ranked_heap *heap = &window->dirty[d + ROW_AHEAD]->heap;
            for (uint32_t i = 0; i < heap->count && i < ROWS_MAX; i++) {
                __builtin_prefetch(heap->rows[i]);
                __builtin_prefetch((const char *)heap->rows[i] + 64);
            }
        }
        put_top(op, window, window->dirty[d]);
    }
    window->dirty_count = 0;
}

tide_status tide__window_rank_barrier(struct operator *base, tide_error *err) {
    (void)err;
    struct window_rank *op = self(base);
    for (size_t i = 0; i < op->windows.count; i++) {
        struct rank_window *window = (struct rank_window *)tide__window_list_at(&op->windows, i);
        tide__window_rank_put_dirty(op, window);
    }
    op->had_barrier = true;
    return TIDE_OK;
}

void tide__window_rank_save(struct operator *base, struct strbuf *out) {
    uint64_t arrival = self(base)->ranker.arrival;
    if (arrival > 0) tide__strbuf_append(out, &arrival, sizeof arrival);
}

// --- restoring --------------------------------------------------------------------------------------------------------------

bool tide__window_rank_skip_partition(struct window_rank *op, struct column *columns, struct str *key) {
    for (uint32_t i = 0; i < op->plan->partition_count; i++)
        if (!tide__key_decode(key, &op->scratch, &columns[op->plan->partitions[i]], 0)) return false;
    return true;
}

// An entry that is about to be restored. The table of partitions is larger than any cache: the slots of a group of entries
// are asked for before the first one is used.
struct pending {
    int64_t start, end;
    struct str partition, rest, bytes;
    uint64_t hash;
};

static bool read_entry(struct window_rank *op, struct batch *one, struct str key, struct str value,
                       struct pending *out) {
    struct str bytes;
    if (key.len < WINDOW_KEY_BYTES + ARRIVAL_BYTES || !tide__row_value_parse(value, &bytes)) return false;
    char *copy = tide__arena_alloc(&op->scratch, key.len + bytes.len);
    memcpy(copy, key.data, key.len);
    if (bytes.len > 0) memcpy(copy + key.len, bytes.data, bytes.len);
    out->bytes = (struct str){copy + key.len, bytes.len};
    out->start = tide__key_get_time(copy);
    out->end = tide__key_get_time(copy + 8);
    out->partition = out->rest = (struct str){copy + WINDOW_KEY_BYTES, key.len - WINDOW_KEY_BYTES};
    if (!tide__window_rank_skip_partition(op, one->columns, &out->rest) || out->rest.len < ARRIVAL_BYTES) return false;
    out->partition.len -= out->rest.len;
    out->hash = tide__hash_bytes(out->partition.data, out->partition.len);
    return true;
}

static bool restore_entry(struct window_rank *op, struct batch *one, struct rank_window *window,
                          const struct pending *entry) {
    if (!tide__row_decode(entry->bytes, one->columns, one->column_count, 0)) return false;
    uint64_t prefix;
    tide__ranker_prefixes(&op->ranker, one, &prefix);
    struct rank_top *top = tide__window_rank_top(op, window, entry->partition, entry->hash);
    struct ranked_row *row = tide__ranked_restore(&op->ranker, entry->rest, entry->bytes, prefix);
    window->rows++;
    window->row_bytes += tide__ranked_row_bytes(row);
    struct ranked_row *evicted = tide__ranked_heap_put(&top->heap, &op->ranker, op->limit, row);
    // If this plan keeps fewer rows than the one that wrote the state, or that one did not hold the window in memory.
    if (evicted != NULL) {
        window->rows--;
        window->row_bytes -= tide__ranked_row_bytes(evicted);
        tide__window_rank_delete(op, window, top, evicted);
        tide__ranked_free(&op->ranker, evicted);
    }
    return true;
}

static bool restore_group(struct window_rank *op, struct batch *one, const struct pending *group, size_t count) {
    struct rank_window *windows[RESTORE_GROUP];
    for (size_t i = 0; i < count; i++) {
        windows[i] = tide__window_rank_window(op, group[i].start, group[i].end, WATERMARK_NONE);
        if (windows[i] == NULL) return false;
        windows[i]->in_state = true;
        if (windows[i]->partitions != NULL) tide__memtable_prefetch_hash(windows[i]->partitions, group[i].hash);
    }
    for (size_t i = 0; i < count; i++)
        if (!restore_entry(op, one, windows[i], &group[i])) return false;
    tide__arena_reset(&op->scratch);
    return true;
}

// Half of the budget is in use: the window stays where it is, and so do those behind it.
static void skip_large(struct window_rank *op, struct state_iter *iter, const struct pending *last) {
    if (op->env.budget->used < op->env.budget->limit / 2) return;
    struct rank_window *window = tide__window_rank_window(op, last->start, last->end, WATERMARK_NONE);
    window->evicted = true;
    window->written = window->rows;  // and what follows: `kept` is 0, so that it is counted before long
    tide__window_rank_clear(op, window);
    char next[WINDOW_KEY_BYTES];
    tide__key_put_time(next, window->bounds.start);
    tide__key_put_time(next + 8, window->bounds.end + 1);
    tide__state_iter_seek(iter, (struct str){next, sizeof next});
}

static tide_status restore_rows(struct window_rank *op, struct batch *one, tide_error *err) {
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct pending group[RESTORE_GROUP];
    struct str key, value;
    size_t count = 0;
    bool good = true;
    while (good && tide__state_iter_next(iter, &key, &value)) {
        good = read_entry(op, one, key, value, &group[count++]);
        if (!good || count < RESTORE_GROUP) continue;
        good = restore_group(op, one, group, count);
        if (good) skip_large(op, iter, &group[count - 1]);
        count = 0;
    }
    good = good && restore_group(op, one, group, count);
    TIDE_TRY(tide__state_iter_close(iter, err));
    if (good) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", op->desc->name);
}

tide_status tide__window_rank_restore(struct operator *base, struct str saved, tide_error *err) {
    struct window_rank *op = self(base);
    if (saved.len != 0 && saved.len != sizeof op->ranker.arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->ranker.arrival, saved.data, saved.len);
    const struct plan_node *input = base->node->inputs[0];
    struct arena arena;
    tide__arena_init(&arena);
    struct batch one = {.rows = 1, .column_count = input->field_count};
    one.columns = ARENA_ARRAY(&arena, struct column, input->field_count + 1);
    for (uint32_t f = 0; f < input->field_count; f++)
        tide__column_init(&one.columns[f], input->fields[f].type, 1, 1, &arena);
    tide_status status = restore_rows(op, &one, err);
    tide__arena_deinit(&arena);
    tide__arena_reset(&op->scratch);
    return status;
}
