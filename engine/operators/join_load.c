// Rows of the regular and the interval join that come from the state: of groups that were let go, and after a restore. See
// join_rows.h. The entries of a group lie together, and no key of a group begins with another group's.
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/row.h"
#include "engine/operators/join_rows.h"
#include "engine/operators/ranked.h"

#include <string.h>

// One side's table, read in order of its keys.
struct reading {
    struct join *op;
    uint32_t side;
    struct state_iter *iter;
    bool has;  // an entry; false at the end
    struct str key, value;
    struct column *columns;  // one row
};

// What is let go is flushed; what was put since is in memory as well.
static tide_status open_reading(struct join *op, uint32_t side, struct reading *out, tide_error *err) {
    const struct plan_node *input = op->env.node->inputs[side];
    *out = (struct reading){.op = op, .side = side};
    out->columns = ARENA_ARRAY(&op->scratch, struct column, input->field_count + 1);
    for (uint32_t f = 0; f < input->field_count; f++)
        tide__column_init(&out->columns[f], input->fields[f].type, 1, 1, &op->scratch);
    TIDE_TRY(tide__state_iter_open_flushed(op->tables[side], (struct str){0}, (struct str){0}, &out->iter, err));
    return TIDE_OK;
}

static void next_entry(struct reading *reading) {
    reading->has = tide__state_iter_next(reading->iter, &reading->key, &reading->value);
}

static tide_status close_reading(struct reading *reading, bool good, tide_error *err) {
    tide_status status = tide__state_iter_close(reading->iter, err);
    if (status != TIDE_OK || good) return status;
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                      reading->op->descs[reading->side].name);
}

static bool is_of(const struct reading *reading, struct str group) {
    return reading->key.len == group.len + ARRIVAL_BYTES && memcmp(reading->key.data, group.data, group.len) == 0;
}

static int64_t time_of(const struct column *column) {
    return column->physical == PHYSICAL_TIME ? column->time[0].ms : column->i64[0];
}

static bool add_row(struct reading *reading, struct keyed_rows *group) {
    struct join *op = reading->op;
    struct str key = reading->key, value = reading->value, row;
    int64_t matches;
    uint64_t arrival;
    if (value.len < sizeof matches) return false;
    memcpy(&matches, value.data, sizeof matches);
    memcpy(&arrival, key.data + key.len - ARRIVAL_BYTES, ARRIVAL_BYTES);
    if (!tide__row_value_parse((struct str){value.data + sizeof matches, value.len - sizeof matches}, &row))
        return false;
    if (!tide__row_decode(row, reading->columns, op->pairs.fields[reading->side], 0)) return false;
    int64_t time = op->plan->interval ? time_of(&reading->columns[op->plan->time_columns[reading->side]]) : 0;
    struct kept_row *kept = tide__join_keep(op, group, reading->side, row, __builtin_bswap64(arrival),
                                            tide__join_expiry(op, reading->side, time), (uint32_t)matches);
    kept->in_state = true;
    return true;
}

// The entries of a group, if the reading stands at them.
static bool add_rows(struct reading *reading, struct keyed_rows *group) {
    bool good = true;
    while (good && reading->has && is_of(reading, group->key)) {
        good = add_row(reading, group);
        next_entry(reading);
    }
    return good;
}

// --- groups that were let go ------------------------------------------------------------------------------------------------

static tide_status load_side(struct join *op, uint32_t side, struct keyed_rows *const *groups, size_t n,
                             tide_error *err) {
    struct reading reading;
    TIDE_TRY(open_reading(op, side, &reading, err));
    bool good = true;
    for (size_t i = 0; i < n && good && (i == 0 || reading.has); i++) {
        if (i == 0 || tide__str_cmp(reading.key, groups[i]->key) < 0) {
            tide__state_iter_seek(reading.iter, groups[i]->key);
            next_entry(&reading);
        }
        good = add_rows(&reading, groups[i]);
    }
    return close_reading(&reading, good, err);
}

tide_status tide__join_load(void *ctx, void *const *payloads, const struct str *keys, size_t n, int64_t *out_charge,
                            tide_error *err) {
    (void)out_charge;  // rows are charged one by one
    struct join *op = ctx;
    struct keyed_rows **groups = tide__arena_alloc(&op->scratch, n * sizeof *groups);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = tide__hash_bytes(keys[i].data, keys[i].len);
        if (op->known == NULL || tide__window_known_may_have(op->known, hash)) groups[count++] = payloads[i];
    }
    if (count == 0) return TIDE_OK;
    TIDE_TRY(load_side(op, 0, groups, count, err));
    return load_side(op, 1, groups, count, err);
}

// --- restoring --------------------------------------------------------------------------------------------------------------

// The smaller of the keys at which the sides stand, without the arrival number. False if one is damaged.
static bool next_group_key(const struct reading sides[2], struct str *out_key) {
    const struct reading *first = sides[0].has ? &sides[0] : &sides[1];
    if (sides[0].has && sides[1].has && tide__str_cmp(sides[1].key, sides[0].key) < 0) first = &sides[1];
    if (first->key.len < ARRIVAL_BYTES) return false;
    *out_key = (struct str){first->key.data, first->key.len - ARRIVAL_BYTES};
    return true;
}

static bool is_full(struct join *op) {
    return !op->deferred && tide__keyed_is_full(&op->groups);
}

// Group by group, both sides together: as many as there is room for. The side that is damaged is in *out_bad; 2: none.
static void restore_groups(struct join *op, struct reading sides[2], uint32_t *out_bad) {
    struct str key;
    *out_bad = 2;
    while ((sides[0].has || sides[1].has) && *out_bad == 2 && !is_full(op)) {
        if (!next_group_key(sides, &key)) {
            *out_bad = sides[0].has && sides[0].key.len < ARRIVAL_BYTES ? 0 : 1;
            return;
        }
        struct keyed_rows *group = tide__keyed_restore(&op->groups, key);
        for (uint32_t side = 0; side < 2 && *out_bad == 2; side++)
            if (!add_rows(&sides[side], group)) *out_bad = side;
    }
}

tide_status tide__join_restore(struct operator *base, struct str saved, tide_error *err) {
    struct join *op = (struct join *)base;
    if (saved.len != 0 && saved.len != sizeof op->arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->arrival, saved.data, saved.len);
    tide__arena_reset(&op->scratch);
    struct reading sides[2];
    TIDE_TRY(open_reading(op, 0, &sides[0], err));
    tide_status status = open_reading(op, 1, &sides[1], err);
    uint32_t bad = 2;
    if (status == TIDE_OK) {
        next_entry(&sides[0]);
        next_entry(&sides[1]);
        restore_groups(op, sides, &bad);
        status = close_reading(&sides[1], bad != 1, err);
    }
    tide_status closed = close_reading(&sides[0], bad != 0, status == TIDE_OK ? err : NULL);
    return status == TIDE_OK ? closed : status;
}
