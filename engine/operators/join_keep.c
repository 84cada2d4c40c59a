// The rows that a regular or interval join keeps, by key, and when they expire. See join_rows.h.
#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/operators/join_rows.h"

#include <assert.h>
#include <string.h>

static void free_row(struct join *op, struct kept_row *row) {
    tide__budget_release(op->env.budget, sizeof *row + row->len);
    tide__free(row);
}

void tide__join_keep_deinit(struct join *op) {
    if (op->groups == NULL) return;
    struct memtable_entry *const *entries = tide__memtable_entries(op->groups);
    for (size_t i = 0; i < tide__memtable_count(op->groups); i++) {
        struct keyed_rows *group = tide__memtable_payload(op->groups, entries[i]);
        for (int side = 0; side < 2; side++) {
            struct kept_rows *rows = &group->sides[side];
            for (uint32_t r = 0; r < rows->count; r++) free_row(op, rows->rows[r]);
            tide__budget_release(op->env.budget, rows->capacity * sizeof *rows->rows);
            tide__free(rows->rows);
        }
    }
    tide__memtable_release(op->groups);
    tide__join_free_gone(op);
    tide__free(op->gone);
    tide__budget_release(op->env.budget, op->timer_capacity * sizeof *op->timers);
    tide__free(op->timers);
}

// A NULL anywhere among the keys: fields are told apart by their markers, so the key is walked.
static bool key_has_null(struct join *op, struct str key) {
    for (uint32_t i = 0; i < op->plan->key_count; i++) {
        if (key.len > 0 && key.data[0] == 0) return true;
        struct column value;
        tide__column_init(&value, op->env.node->inputs[0]->fields[op->plan->keys[0][i]].type, 1, 1, &op->scratch);
        if (!tide__key_decode(&key, &op->scratch, &value, 0)) return true;
    }
    return false;
}

struct keyed_rows *tide__join_group(struct join *op, struct str key) {
    struct memtable_entry *entry = tide__memtable_upsert(op->groups, key, tide__hash_bytes(key.data, key.len), NULL);
    struct keyed_rows *group = tide__memtable_payload(op->groups, entry);
    if (!group->seen) {
        group->seen = true;
        group->key = tide__memtable_key(op->groups, entry);
        group->has_null = key_has_null(op, group->key);
    }
    return group;
}

// --- timers -----------------------------------------------------------------------------------------------------------------

static bool is_before(const struct kept_ref *a, const struct kept_ref *b) {
    if (a->row->expires != b->row->expires) return a->row->expires < b->row->expires;
    return a->row->arrival < b->row->arrival;
}

static void push_timer(struct join *op, struct kept_ref ref) {
    size_t before = op->timer_capacity;
    op->timers = tide__grow(op->timers, &op->timer_capacity, op->timer_count + 1, sizeof *op->timers);
    tide__budget_charge(op->env.budget, (op->timer_capacity - before) * sizeof *op->timers);
    size_t at = op->timer_count++;
    for (; at > 0 && is_before(&ref, &op->timers[(at - 1) / 2]); at = (at - 1) / 2)
        op->timers[at] = op->timers[(at - 1) / 2];
    op->timers[at] = ref;
}

bool tide__join_expire(struct join *op, int64_t watermark, struct kept_ref *out) {
    if (op->timer_count == 0 || op->timers[0].row->expires > watermark) return false;
    *out = op->timers[0];
    struct kept_ref last = op->timers[--op->timer_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < op->timer_count; at = child) {
        if (child + 1 < op->timer_count && is_before(&op->timers[child + 1], &op->timers[child])) child++;
        if (!is_before(&op->timers[child], &last)) break;
        op->timers[at] = op->timers[child];
    }
    if (op->timer_count > 0) op->timers[at] = last;
    return true;
}

int64_t tide__join_expiry(const struct join *op, uint32_t side, int64_t time) {
    if (!op->plan->interval) return WATERMARK_END;
    // left partners: right.time <= left.time - lower; right partners: left.time <= right.time + upper.
    return side == 0 ? tide__saturating_sub(time, op->plan->lower_ms) : tide__saturating_add(time, op->plan->upper_ms);
}

// --- rows -------------------------------------------------------------------------------------------------------------------

struct kept_row *tide__join_keep(struct join *op, struct keyed_rows *group, uint32_t side, struct str bytes,
                                 uint64_t arrival, int64_t expires, uint32_t matches) {
    struct kept_row *row = tide__alloc(sizeof *row + bytes.len);
    *row = (struct kept_row){.arrival = arrival, .expires = expires, .len = (uint32_t)bytes.len, .matches = matches};
    if (bytes.len > 0) memcpy(row->bytes, bytes.data, bytes.len);
    tide__budget_charge(op->env.budget, sizeof *row + bytes.len);
    struct kept_rows *rows = &group->sides[side];
    size_t capacity = rows->capacity;
    rows->rows = tide__grow(rows->rows, &capacity, rows->count + 1, sizeof *rows->rows);
    tide__budget_charge(op->env.budget, (capacity - rows->capacity) * sizeof *rows->rows);
    rows->capacity = (uint32_t)capacity;
    rows->rows[rows->count++] = row;
    if (op->deferred) push_timer(op, (struct kept_ref){group, row, side});
    return row;
}

struct kept_row *tide__join_find(const struct keyed_rows *group, uint32_t side, struct str bytes) {
    const struct kept_rows *rows = &group->sides[side];
    for (uint32_t i = 0; i < rows->count; i++)
        if (tide__str_eq(tide__kept_bytes(rows->rows[i]), bytes)) return rows->rows[i];
    return NULL;
}

void tide__join_forget(struct join *op, struct keyed_rows *group, uint32_t side, struct kept_row *row) {
    struct kept_rows *rows = &group->sides[side];
    uint32_t at = 0;
    while (rows->rows[at] != row) at++;
    assert(at < rows->count);
    memmove(&rows->rows[at], &rows->rows[at + 1], (rows->count - at - 1) * sizeof *rows->rows);
    if (--rows->count == 0) {
        tide__budget_release(op->env.budget, rows->capacity * sizeof *rows->rows);
        tide__free(rows->rows);
        *rows = (struct kept_rows){0};
    }
    tide__join_state_left(op, group, side, row);
    op->gone = tide__grow(op->gone, &op->gone_capacity, op->gone_count + 1, sizeof *op->gone);
    op->gone[op->gone_count++] = row;
}

void tide__join_count(struct join *op, struct keyed_rows *group, uint32_t side, struct kept_row *row, int change) {
    if (!op->counts[side]) return;
    // Deferred joins only want to know whether there was a match; the state need not learn of more.
    bool news = !op->deferred || row->matches == 0;
    row->matches = (uint32_t)((int64_t)row->matches + change);
    if (news) tide__join_state_changed(op, group, side, row);
}

void tide__join_free_gone(struct join *op) {
    for (size_t i = 0; i < op->gone_count; i++) free_row(op, op->gone[i]);
    op->gone_count = 0;
}
