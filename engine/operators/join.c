// Regular join: each row meets all rows of the other side so far; outer, SEMI and ANTI joins take back what a later row
// proves wrong. (Flink's StreamingJoinOperator and StreamingSemiAntiJoinOperator.) Interval join: rows pair within a span
// of event time and are forgotten when the watermark has passed it; what is padded goes out then, and nothing is taken back.
//
// While a batch of one side is worked off, the other side does not change: so the pairs of many rows are tested at once,
// and then each row's changes are written down in order.
//
// In batch mode inputs end, and padding waits for that.
#include "engine/operators/join.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/join_rows.h"
#include "engine/operators/window_assign.h"

#include <assert.h>
#include <string.h>

static struct join *self(struct operator *op) {
    return (struct join *)op;
}

static bool is_left_only(const struct join *op) {
    return op->plan->kind == JOIN_SEMI || op->plan->kind == JOIN_ANTI;
}

static bool is_outer(const struct join *op, uint32_t side) {
    return op->plan->kind == JOIN_FULL || op->plan->kind == (side == 0 ? JOIN_LEFT : JOIN_RIGHT);
}

static void close(struct operator *base) {
    struct join *op = self(base);
    tide__join_keep_deinit(op);
    tide__budget_release(op->env.budget, op->fresh_capacity * sizeof *op->fresh + op->left_capacity * sizeof *op->left);
    tide__free(op->fresh);
    tide__free(op->left);
    tide__join_pairs_deinit(&op->pairs);
    tide__strbuf_deinit(&op->key);
    tide__strbuf_deinit(&op->value);
    tide__arena_deinit(&op->arena);
    tide__arena_deinit(&op->scratch);
    tide__free(op);
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct join *op = tide__calloc(1, sizeof *op);
    op->base.node = env->node;
    op->plan = &env->node->join;
    op->env = *env;
    op->deferred = op->plan->interval || env->plan->settings.batch_mode;
    for (uint32_t side = 0; side < 2; side++) op->counts[side] = is_outer(op, side) || (side == 0 && is_left_only(op));
    tide__join_pairs_init(&op->pairs, env, op->plan->kind, op->plan->condition);
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    tide__join_keep_init(op);
    tide_status status = tide__join_state_open(op, err);
    if (status != TIDE_OK) {
        close(&op->base);
        return status;
    }
    *out = &op->base;
    return TIDE_OK;
}

// --- a batch ----------------------------------------------------------------------------------------------------------------

// A row of the batch and its partners [first, first + count) among the tested pairs.
struct arriving {
    struct keyed_rows *group;
    struct str bytes;
    int64_t time;  // interval join
    enum row_kind kind;
    size_t first, count;
};

struct arrivals {
    struct join *op;
    uint32_t side;
    struct arriving *rows;
    size_t row_count;
    struct join_pair *pairs;
    struct kept_row **partners;  // of each pair, the row of the other side
    size_t count, capacity, partner_capacity;
};

static bool accumulates(enum row_kind kind) {
    return kind == ROW_INSERT || kind == ROW_UPDATE_AFTER;
}

// The row's bytes as left or right, the other side's row (or NULL) as the other.
static void add_change(struct join *op, uint32_t side, struct str bytes, const struct kept_row *other,
                       enum row_kind kind) {
    struct str partner = other == NULL ? (struct str){0} : tide__kept_bytes(other);
    if (side == 0) {
        tide__join_pairs_add(&op->pairs, bytes, partner, kind);
    } else {
        tide__join_pairs_add(&op->pairs, partner, bytes, kind);
    }
}

static void pad(struct join *op, uint32_t side, struct str bytes, enum row_kind kind) {
    add_change(op, side, bytes, NULL, kind);
}

// SEMI and ANTI: a left row goes out with its own kind; a right row changes what left rows are worth.
static void change_left_only(struct join *op, uint32_t side, const struct arriving *row, struct kept_row **partners,
                             size_t count) {
    bool anti = op->plan->kind == JOIN_ANTI, more = accumulates(row->kind);
    if (side == 0) {
        if (!op->deferred && (count == 0) == anti) pad(op, 0, row->bytes, row->kind);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct kept_row *left = partners[i];
        bool turns = left->matches == (more ? 0 : 1);
        tide__join_count(op, left, more ? 1 : -1);
        if (!turns || op->deferred) continue;
        enum row_kind kind = row->kind;
        if (anti) kind = more ? ROW_DELETE : ROW_INSERT;
        pad(op, 0, tide__kept_bytes(left), kind);
    }
}

static void change_accumulated(struct join *op, uint32_t side, const struct arriving *row, struct kept_row **partners,
                               size_t count) {
    bool outer = is_outer(op, side), other_outer = is_outer(op, 1 - side);
    if (count == 0) {
        if (outer && !op->deferred) pad(op, side, row->bytes, ROW_INSERT);
        return;
    }
    enum row_kind kind = outer || other_outer || op->deferred ? ROW_INSERT : row->kind;
    for (size_t i = 0; i < count; i++) {
        if (other_outer && !op->deferred && partners[i]->matches == 0)
            pad(op, 1 - side, tide__kept_bytes(partners[i]), ROW_DELETE);
        add_change(op, side, row->bytes, partners[i], kind);
        tide__join_count(op, partners[i], 1);
    }
}

static void change_retracted(struct join *op, uint32_t side, const struct arriving *row, struct kept_row **partners,
                             size_t count) {
    bool outer = is_outer(op, side), other_outer = is_outer(op, 1 - side);
    if (count == 0) {
        if (outer) pad(op, side, row->bytes, ROW_DELETE);
        return;
    }
    for (size_t i = 0; i < count; i++) add_change(op, side, row->bytes, partners[i], outer ? ROW_DELETE : row->kind);
    for (size_t i = 0; i < count; i++) {
        if (other_outer && partners[i]->matches == 1) pad(op, 1 - side, tide__kept_bytes(partners[i]), ROW_INSERT);
        tide__join_count(op, partners[i], -1);
    }
}

// Rows that can never match or be padded are not kept.
static bool is_worth_keeping(const struct join *op, uint32_t side, const struct arriving *row) {
    return !row->group->has_null || op->counts[side];
}

static void keep_or_forget(struct join *op, uint32_t side, const struct arriving *row, size_t matches) {
    if (!accumulates(row->kind)) {
        struct kept_row *kept = tide__join_find(row->group, side, row->bytes);
        if (kept != NULL) tide__join_forget(op, kept);
        return;
    }
    int64_t expires = tide__join_expiry(op, side, row->time);
    if (op->plan->interval && expires <= op->base.watermark) {
        // Too late to wait for partners.
        if (matches == 0 && is_outer(op, side)) pad(op, side, row->bytes, ROW_INSERT);
        return;
    }
    if (!is_worth_keeping(op, side, row)) return;
    uint32_t counted = op->counts[side] ? (uint32_t)matches : 0;
    struct kept_row *kept = tide__join_keep(op, row->group, side, row->bytes, op->arrival++, expires, counted);
    tide__join_state_changed(op, kept);
}

static void apply(struct arrivals *a, const struct arriving *row, const uint8_t *keep) {
    struct join *op = a->op;
    struct kept_row **partners = a->partners + row->first;
    size_t count = 0;
    for (size_t i = 0; i < row->count; i++)
        if (keep[row->first + i]) partners[count++] = partners[i];
    if (is_left_only(op)) {
        change_left_only(op, a->side, row, partners, count);
    } else if (accumulates(row->kind)) {
        change_accumulated(op, a->side, row, partners, count);
    } else {
        change_retracted(op, a->side, row, partners, count);
    }
    keep_or_forget(op, a->side, row, count);
}

static tide_status work_off(struct arrivals *a, struct emitter *out, tide_error *err) {
    struct join *op = a->op;
    uint8_t *keep = tide__arena_alloc(&op->scratch, a->count);
    TIDE_TRY(tide__join_pairs_test(&op->pairs, a->pairs, a->count, keep, err));
    for (size_t i = 0; i < a->row_count; i++) {
        apply(a, &a->rows[i], keep);
        if (op->pairs.count >= 2 * op->env.batch_rows_max) TIDE_TRY(tide__join_pairs_send(&op->pairs, out, err));
    }
    a->row_count = a->count = 0;
    TIDE_TRY(tide__join_pairs_send(&op->pairs, out, err));
    tide__join_free_gone(op);
    return TIDE_OK;
}

static bool is_in_interval(const struct join *op, uint32_t side, int64_t time, const struct kept_row *other) {
    if (!op->plan->interval) return true;
    // The other row's time, from when it expires.
    int64_t other_time = side == 0 ? tide__saturating_sub(other->expires, op->plan->upper_ms)
                                   : tide__saturating_add(other->expires, op->plan->lower_ms);
    int64_t left = side == 0 ? time : other_time, right = side == 0 ? other_time : time;
    return tide__saturating_add(right, op->plan->lower_ms) <= left &&
           left <= tide__saturating_add(right, op->plan->upper_ms);
}

static void add_arriving(struct arrivals *a, struct arriving row) {
    struct join *op = a->op;
    row.first = a->count;
    const struct kept_rows *others = &row.group->sides[1 - a->side];
    for (uint32_t i = 0; i < others->count && !row.group->has_null; i++) {
        struct kept_row *other = others->rows[i];
        if (!is_in_interval(op, a->side, row.time, other)) continue;
        a->pairs = tide__grow(a->pairs, &a->capacity, a->count + 1, sizeof *a->pairs);
        a->partners = tide__grow(a->partners, &a->partner_capacity, a->count + 1, sizeof *a->partners);
        struct str bytes = tide__kept_bytes(other);
        a->pairs[a->count] = a->side == 0 ? (struct join_pair){row.bytes, bytes, ROW_INSERT}
                                          : (struct join_pair){bytes, row.bytes, ROW_INSERT};
        a->partners[a->count++] = other;
    }
    row.count = a->count - row.first;
    a->rows[a->row_count++] = row;
}

static struct str encode_row(struct join *op, const struct batch *batch, size_t row) {
    tide__strbuf_clear(&op->value);
    tide__row_append(batch, row, &op->value);
    return (struct str){tide__arena_strndup(&op->scratch, op->value.data, op->value.len), op->value.len};
}

static tide_status join_batch(struct arrivals *a, const struct batch *batch, struct emitter *out, tide_error *err) {
    struct join *op = a->op;
    const struct plan_join *plan = op->plan;
    struct str *keys = tide__arena_alloc(&op->scratch, batch->rows * sizeof *keys);
    tide__key_encode(batch, plan->keys[a->side], plan->key_count, (struct str){0}, &op->scratch, keys);
    const int64_t *times = NULL;
    if (plan->interval)
        times = tide__window_times(&batch->columns[plan->time_columns[a->side]], batch->rows, &op->scratch);
    struct keyed_rows **groups;
    TIDE_TRY(tide__join_groups(op, keys, batch->rows, &groups, err));
    a->rows = tide__arena_alloc(&op->scratch, batch->rows * sizeof *a->rows);
    for (size_t i = 0; i < batch->rows; i++) {
        struct arriving row = {
            .group = groups[i],
            .bytes = encode_row(op, batch, i),
            .time = times == NULL ? 0 : times[i],
            .kind = batch->kinds == NULL ? ROW_INSERT : batch->kinds[i],
        };
        add_arriving(a, row);
        if (a->count >= op->env.batch_rows_max) TIDE_TRY(work_off(a, out, err));
    }
    return work_off(a, out, err);
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    struct join *op = self(base);
    assert(input < 2 && (batch->kinds == NULL || op->plan->input_updates[input]));
    tide__arena_reset(&op->scratch);
    op->pairs.eval.watermark = base->watermark;
    struct arrivals a = {.op = op, .side = input};
    tide_status status = join_batch(&a, batch, out, err);
    tide__free(a.pairs);
    tide__free(a.partners);
    return status;
}

// --- the end of rows that waited ----------------------------------------------------------------------------------------------

static tide_status end_rows(struct join *op, struct kept_row *const *rows, size_t count, struct emitter *out,
                            tide_error *err) {
    for (size_t i = 0; i < count; i++) {
        struct kept_row *row = rows[i];
        bool matched = row->matches > 0;
        if (op->counts[row->side] && matched == (op->plan->kind == JOIN_SEMI))
            pad(op, row->side, tide__kept_bytes(row), ROW_INSERT);
        tide__join_forget(op, row);
    }
    TIDE_TRY(tide__join_pairs_send(&op->pairs, out, err));
    tide__join_free_gone(op);
    return TIDE_OK;
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct join *op = self(base);
    size_t most = op->env.batch_rows_max;
    while (op->timer_count > 0 && op->timers[0]->expires <= watermark) {
        tide__arena_reset(&op->scratch);
        struct kept_row **rows = tide__arena_alloc(&op->scratch, most * sizeof *rows);
        size_t count = tide__join_expire(op, watermark, most, rows);
        TIDE_TRY(end_rows(op, rows, count, out, err));
    }
    return TIDE_OK;
}

static int64_t next_trigger(const struct operator *base, int64_t earliest) {
    const struct join *op = (const struct join *)base;
    if (!op->plan->interval) return WATERMARK_END;
    int64_t at = op->timer_count > 0 ? op->timers[0]->expires : WATERMARK_END;
    for (uint32_t side = 0; side < 2; side++) {
        int64_t expires = tide__join_expiry(op, side, earliest);
        if (expires < at) at = expires;
    }
    return at > base->watermark || base->watermark == WATERMARK_END ? at : base->watermark + 1;
}

const struct operator_class tide__join_class = {
    .kind = PLAN_JOIN,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .shrink = tide__join_shrink,
    .on_barrier = tide__join_barrier,
    .save = tide__join_save,
    .restore = tide__join_restore,
    .close = close,
};
