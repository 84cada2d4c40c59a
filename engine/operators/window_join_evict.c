// A window join when memory is short: the rows of all windows go to the state tables, for they are wanted only when their window
// fires. Then both sides are read side by side, a piece of the window's keys after the other.
#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/operators/window_join.h"

#include <string.h>

void tide__window_join_clear(struct window_join *op, struct join_window *window) {
    tide__memtable_release(window->groups);
    tide__window_join_new_groups(op, window);
    tide__budget_release(op->env.budget, window->fresh_capacity * sizeof *window->fresh);
    tide__free(window->fresh);
    window->fresh = NULL;
    window->fresh_count = window->fresh_capacity = window->row_bytes = 0;
}

static tide_status flush(struct window_join *op, tide_error *err) {
    TIDE_TRY(tide__state_flush(op->tables[0], err));
    return tide__state_flush(op->tables[1], err);
}

static size_t evict(struct window_join *op, struct join_window *window) {
    if (tide__memtable_count(window->groups) == 0) return 0;
    size_t bytes = tide__memtable_bytes(window->groups) + window->row_bytes +
                   window->fresh_capacity * sizeof *window->fresh;
    tide__window_join_put_fresh(op, window);
    tide__window_join_clear(op, window);
    window->evicted = true;
    return bytes;
}

size_t tide__window_join_shrink(struct operator *base, size_t bytes, tide_error *err) {
    struct window_join *op = (struct window_join *)base;
    size_t freed = 0;
    // Those that fire last first.
    for (size_t i = op->windows.count; i-- > 0 && freed < bytes;)
        freed += evict(op, (struct join_window *)tide__window_list_at(&op->windows, i));
    return flush(op, err) == TIDE_OK ? freed : 0;
}

// --- reading an evicted window ------------------------------------------------------------------------------------------

// One side's entries of a window.
struct reading {
    struct state_iter *iter;
    bool has;               // an entry of the window; false at its end
    struct str key, value;  // the key without the window
};

static void next_entry(struct reading *reading, struct str window) {
    reading->has = tide__state_iter_next(reading->iter, &reading->key, &reading->value) &&
                   reading->key.len >= window.len + ARRIVAL_BYTES &&
                   memcmp(reading->key.data, window.data, window.len) == 0;
    if (!reading->has) return;
    reading->key.data += window.len;
    reading->key.len -= window.len;
}

static struct str group_key(const struct reading *reading) {
    return (struct str){reading->key.data, reading->key.len - ARRIVAL_BYTES};
}

static bool is_of(const struct reading *reading, struct str group) {
    return reading->has && tide__str_eq(group_key(reading), group);
}

// The rows of the next key, of both sides. False if an entry is damaged.
static bool read_group(struct window_join *op, struct join_window *window, struct str prefix, struct reading sides[2],
                       size_t *rows) {
    const struct reading *first = sides[0].has ? &sides[0] : &sides[1];
    if (sides[0].has && sides[1].has && tide__str_cmp(group_key(&sides[1]), group_key(&sides[0])) < 0)
        first = &sides[1];
    struct str key = group_key(first);
    struct join_group *group = tide__window_join_group(op, window, key, tide__hash_bytes(key.data, key.len));
    for (uint32_t side = 0; side < 2; side++) {
        for (; is_of(&sides[side], group->key); next_entry(&sides[side], prefix), ++*rows) {
            struct str row, arrival = {sides[side].key.data + sides[side].key.len - ARRIVAL_BYTES, ARRIVAL_BYTES};
            if (!tide__row_value_parse(sides[side].value, &row)) return false;
            tide__window_join_put(op, window, group, side, tide__ranked_restore(&op->ranker, arrival, row, 0));
        }
    }
    return true;
}

static tide_status fire_pieces(struct window_join *op, struct join_window *window, struct str prefix,
                               struct reading sides[2], struct emitter *out, tide_error *err) {
    for (int side = 0; side < 2; side++) next_entry(&sides[side], prefix);
    while (sides[0].has || sides[1].has) {
        size_t rows = 0;
        while ((sides[0].has || sides[1].has) && rows < op->env.batch_rows_max)
            if (!read_group(op, window, prefix, sides, &rows))
                return tide__fail(err, TIDE_ERR_SAVEPOINT, "a state table of %s holds an entry that is damaged",
                                  op->base.node->operator_id);
        TIDE_TRY(tide__window_join_fire_groups(op, window, out, err));
        tide__window_join_clear(op, window);
    }
    return TIDE_OK;
}

tide_status tide__window_join_fire_evicted(struct window_join *op, struct join_window *window, struct emitter *out,
                                           tide_error *err) {
    tide__window_join_put_fresh(op, window);
    tide__window_join_clear(op, window);
    TIDE_TRY(flush(op, err));
    char bytes[WINDOW_KEY_BYTES];
    tide__key_put_time(bytes, window->bounds.start);
    tide__key_put_time(bytes + 8, window->bounds.end);
    struct str prefix = {bytes, sizeof bytes};
    struct reading sides[2] = {0};
    TIDE_TRY(tide__state_iter_open_flushed(op->tables[0], prefix, (struct str){0}, &sides[0].iter, err));
    tide_status status = tide__state_iter_open_flushed(op->tables[1], prefix, (struct str){0}, &sides[1].iter, err);
    if (status == TIDE_OK) {
        status = fire_pieces(op, window, prefix, sides, out, err);
        tide_status closed = tide__state_iter_close(sides[1].iter, status == TIDE_OK ? err : NULL);
        if (status == TIDE_OK) status = closed;
    }
    tide_status closed = tide__state_iter_close(sides[0].iter, status == TIDE_OK ? err : NULL);
    return status == TIDE_OK ? closed : status;
}
