// The rows that a regular or interval join keeps, by key, and when they expire. See join_rows.h. Groups of rows are working copies
// (keyed_cache.h): those of a regular join go to the state when memory is short.
#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/operators/join_rows.h"

#include <assert.h>
#include <string.h>

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

static void place_group(void *ctx, void *payload, struct str key) {
    struct keyed_rows *group = payload;
    group->key = key;
    if (!group->seen) group->has_null = key_has_null(ctx, key);
    group->seen = true;
}

static int64_t move_group(void *ctx, void *payload, void *from) {
    (void)ctx, (void)from;
    struct keyed_rows *group = payload;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < group->sides[side].count; i++) group->sides[side].rows[i]->group = group;
    return group->bytes;
}

static void free_group(void *payload, void *ctx) {
    (void)ctx;
    struct keyed_rows *group = payload;
    for (int side = 0; side < 2; side++) {
        struct kept_rows *rows = &group->sides[side];
        for (uint32_t i = 0; i < rows->count; i++) tide__free(rows->rows[i]);
        tide__free(rows->rows);
    }
}

// The old ones are about to go.
static tide_status flush_groups(void *ctx, tide_error *err) {
    struct join *op = ctx;
    tide__join_state_put(op);
    for (int side = 0; side < 2; side++) TIDE_TRY(tide__state_flush(op->tables[side], err));
    if (!op->groups.spilled) op->known = tide__window_known_new(op->env.budget);
    if (op->known == NULL || tide__window_known_add(op->known, op->groups.old)) return TIDE_OK;
    tide__window_known_free(op->known);
    op->known = NULL;
    return TIDE_OK;
}

void tide__join_keep_init(struct join *op) {
    struct keyed_owner owner = {
        .payload_size = sizeof(struct keyed_rows),
        .place = place_group,
        .move = move_group,
        .load = tide__join_load,
        .flush = op->deferred ? NULL : flush_groups,  // rows that wait for their time must be in memory
        .free = free_group,
        .ctx = op,
    };
    tide__keyed_init(&op->groups, op->env.budget, owner);
}

void tide__join_keep_deinit(struct join *op) {
    tide__keyed_deinit(&op->groups);
    tide__window_known_free(op->known);
    tide__join_free_gone(op);
    tide__free(op->gone);
    tide__budget_release(op->env.budget, op->timer_capacity * sizeof(struct kept_row *));
    tide__free(op->timers);
}

size_t tide__join_shrink(struct operator *base, size_t bytes, tide_error *err) {
    struct join *op = (struct join *)base;
    if (op->deferred) return 0;
    tide__arena_reset(&op->scratch);
    return tide__keyed_shrink(&op->groups, bytes, err);
}

tide_status tide__join_groups(struct join *op, const struct str *keys, size_t n, struct keyed_rows ***out_groups,
                              tide_error *err) {
    uint64_t *hashes = tide__arena_alloc(&op->scratch, n * sizeof *hashes);
    void **payloads = tide__arena_alloc(&op->scratch, n * sizeof *payloads);
    for (size_t i = 0; i < n; i++) hashes[i] = tide__hash_bytes(keys[i].data, keys[i].len);
    TIDE_TRY(tide__keyed_find(&op->groups, keys, hashes, n, &op->scratch, payloads, err));
    struct keyed_rows **groups = tide__arena_alloc(&op->scratch, n * sizeof *groups);
    for (size_t i = 0; i < n; i++) groups[i] = payloads[i];
    *out_groups = groups;
    return TIDE_OK;
}

// --- timers -----------------------------------------------------------------------------------------------------------------

static bool is_before(const struct kept_row *a, const struct kept_row *b) {
    return a->expires != b->expires ? a->expires < b->expires : a->arrival < b->arrival;
}

static void push_timer(struct join *op, struct kept_row *row) {
    size_t before = op->timer_capacity;
    op->timers = tide__grow(op->timers, &op->timer_capacity, op->timer_count + 1, sizeof(struct kept_row *));
    tide__budget_charge(op->env.budget, (op->timer_capacity - before) * sizeof(struct kept_row *));
    size_t at = op->timer_count++;
    for (; at > 0 && is_before(row, op->timers[(at - 1) / 2]); at = (at - 1) / 2)
        op->timers[at] = op->timers[(at - 1) / 2];
    op->timers[at] = row;
}

static struct kept_row *pop_timer(struct join *op) {
    struct kept_row *first = op->timers[0], *last = op->timers[--op->timer_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < op->timer_count; at = child) {
        if (child + 1 < op->timer_count && is_before(op->timers[child + 1], op->timers[child])) child++;
        if (!is_before(op->timers[child], last)) break;
        op->timers[at] = op->timers[child];
    }
    if (op->timer_count > 0) op->timers[at] = last;
    return first;
}

size_t tide__join_expire(struct join *op, int64_t watermark, size_t max, struct kept_row **out_rows) {
    size_t count = 0;
    while (count < max && op->timer_count > 0 && op->timers[0]->expires <= watermark) out_rows[count++] = pop_timer(op);
    return count;
}

int64_t tide__join_expiry(const struct join *op, uint32_t side, int64_t time) {
    if (!op->plan->interval) return WATERMARK_END;
    // left partners: right.time <= left.time - lower; right partners: left.time <= right.time + upper.
    return side == 0 ? tide__saturating_sub(time, op->plan->lower_ms) : tide__saturating_add(time, op->plan->upper_ms);
}

// --- rows -------------------------------------------------------------------------------------------------------------------

static void charge(struct join *op, struct keyed_rows *group, int64_t bytes) {
    group->bytes += bytes;
    tide__keyed_charge(&op->groups, bytes);
}

static int64_t row_bytes(const struct kept_row *row) {
    return (int64_t)(sizeof *row + row->len);
}

struct kept_row *tide__join_keep(struct join *op, struct keyed_rows *group, uint32_t side, struct str bytes,
                                 uint64_t arrival, int64_t expires, uint32_t matches) {
    struct kept_row *row = tide__alloc(sizeof *row + bytes.len);
    *row = (struct kept_row){
        .arrival = arrival,
        .expires = expires,
        .group = group,
        .len = (uint32_t)bytes.len,
        .matches = matches,
        .side = (uint8_t)side,
    };
    if (bytes.len > 0) memcpy(row->bytes, bytes.data, bytes.len);
    struct kept_rows *rows = &group->sides[side];
    size_t capacity = rows->capacity;
    rows->rows = tide__grow(rows->rows, &capacity, rows->count + 1, sizeof *rows->rows);
    charge(op, group, row_bytes(row) + (int64_t)((capacity - rows->capacity) * sizeof *rows->rows));
    rows->capacity = (uint32_t)capacity;
    rows->rows[rows->count++] = row;
    if (op->deferred) push_timer(op, row);
    return row;
}

struct kept_row *tide__join_find(const struct keyed_rows *group, uint32_t side, struct str bytes) {
    const struct kept_rows *rows = &group->sides[side];
    for (uint32_t i = 0; i < rows->count; i++)
        if (tide__str_eq(tide__kept_bytes(rows->rows[i]), bytes)) return rows->rows[i];
    return NULL;
}

void tide__join_forget(struct join *op, struct kept_row *row) {
    struct kept_rows *rows = &row->group->sides[row->side];
    uint32_t at = 0;
    while (rows->rows[at] != row) at++;
    assert(at < rows->count);
    memmove(&rows->rows[at], &rows->rows[at + 1], (rows->count - at - 1) * sizeof *rows->rows);
    int64_t bytes = row_bytes(row);
    if (--rows->count == 0) {
        bytes += (int64_t)(rows->capacity * sizeof *rows->rows);
        tide__free(rows->rows);
        *rows = (struct kept_rows){0};
    }
    charge(op, row->group, -bytes);
    tide__join_state_left(op, row);
    op->gone = tide__grow(op->gone, &op->gone_capacity, op->gone_count + 1, sizeof *op->gone);
    op->gone[op->gone_count++] = row;
}

void tide__join_count(struct join *op, struct kept_row *row, int change) {
    if (!op->counts[row->side]) return;
    // Deferred joins only want to know whether there was a match; the state need not learn of more.
    bool news = !op->deferred || row->matches == 0;
    row->matches = (uint32_t)((int64_t)row->matches + change);
    if (news) tide__join_state_changed(op, row);
}

void tide__join_free_gone(struct join *op) {
    for (size_t i = 0; i < op->gone_count; i++) tide__free(op->gone[i]);
    op->gone_count = 0;
}
