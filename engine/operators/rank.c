// Regular Top-N: the best rows of each partition so far, as a changelog. (Flink's AppendOnlyTopN, FastTop1, RetractableTopN,
// UpdatableTopN.)
//
//   input            kept                  goes out
//   insert only      the best N            N = 1: +I, then -U/+U when a better row comes
//   with updates     all rows              the rank is wanted, or the ranks do not begin with 1: -U/+U for each rank that
//                                          now holds another row, +I or -D at the end
//                                          else: -D of the row that falls out, +I of the one that comes in
//   rows only rise   the best N        rank_rising.c
//
// In batch mode only the last state goes out, when the input ends. The first row by event time is first_row.c's.
#include "engine/operators/rank.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/rank_rows.h"

#include <assert.h>
#include <string.h>

static struct rank *self(struct operator *op) {
    return (struct rank *)op;
}

static void free_group(void *payload, void *ctx) {
    struct rank *op = ctx;
    tide__ranked_list_deinit(&((struct rank_group *)payload)->list, &op->ranker);
}

static void close_rank(struct operator *base) {
    struct rank *op = self(base);
    tide__rank_state_close(op);
    for (size_t i = 0; i < op->gone_count; i++) tide__ranked_free(&op->ranker, op->gone[i]);
    tide__free(op->gone);
    tide__changes_deinit(&op->changes);
    tide__ranker_deinit(&op->ranker);
    tide__strbuf_deinit(&op->key);
    tide__strbuf_deinit(&op->value);
    tide__arena_deinit(&op->arena);
    tide__arena_deinit(&op->scratch);
    tide__free(op);
}

static bool sorts_by_processing_time(const struct plan_node *node) {
    const struct plan_rank *plan = &node->rank;
    return plan->sort_count > 0 &&
           node->inputs[0]->fields[plan->sorts[0].column].type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
}

static void init_ranker(struct rank *op) {
    const struct plan_rank *plan = op->plan;
    // Processing time is the order of arrival: no clock plays a part.
    if (sorts_by_processing_time(op->env.node)) {
        tide__ranker_init(&op->ranker, plan->sorts, 0, plan->sorts[0].descending ? TIE_LAST_ARRIVED : TIE_FIRST_ARRIVED,
                          op->env.budget);
    } else {
        tide__ranker_init(&op->ranker, plan->sorts, plan->sort_count, plan->ties, op->env.budget);
    }
}

static const struct operator_class rank_rows_class;

tide_status tide__rank_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct rank *op = tide__calloc(1, sizeof *op);
    op->plan = &env->node->rank;
    op->env = *env;
    op->head.base.node = env->node;
    op->head.class = &rank_rows_class;
    op->first = (uint64_t)op->plan->rank_first;
    op->last = (uint64_t)op->plan->rank_last;
    assert(op->first >= 1 && op->last >= 1);
    op->fields = env->node->inputs[0]->field_count;
    // A rank that is always 1 is none.
    op->numbered = (op->plan->has_rank && op->last > 1) || op->first > 1;
    // Seen on Flink: a Top-1 over insert-only rows is the one Top-N that leaves -U out if only a sink is behind it, and
    // only if it does not rank by one descending column. Its planner takes every other Top-1 for a first-row deduplication.
    bool descending = op->plan->sort_count == 1 && op->plan->sorts[0].descending;
    bool top1 = op->last == 1 && !op->plan->limit && !op->plan->input_updates && !op->plan->deduplicate && !descending;
    op->update_before = !top1 || tide__plan_needs_update_before(env->plan, env->node);
    init_ranker(op);
    tide__changes_init(&op->changes);
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    tide_status status = tide__rank_state_open(op, sizeof(struct rank_group), free_group, err);
    if (status != TIDE_OK) {
        close_rank(&op->head.base);
        return status;
    }
    *out = &op->head.base;
    return TIDE_OK;
}

// --- changes ----------------------------------------------------------------------------------------------------------------

void tide__rank_change(struct rank *op, const struct ranked_row *row, enum row_kind kind, uint64_t rank) {
    if (op->env.plan->settings.batch_mode || rank < op->first || rank > op->last) return;
    if (kind == ROW_UPDATE_BEFORE && !op->update_before) return;
    tide__changes_add(&op->changes, tide__ranked_bytes(row), kind, (int64_t)rank);
}

void tide__rank_bury(struct rank *op, struct rank_group *group, struct ranked_row *row) {
    tide__rank_state_left(op, group, row);
    op->gone = tide__grow(op->gone, &op->gone_capacity, op->gone_count + 1, sizeof *op->gone);
    op->gone[op->gone_count++] = row;
}

tide_status tide__rank_send(struct rank *op, struct emitter *out, tide_error *err) {
    TIDE_TRY(tide__changes_send(&op->changes, op->head.base.node, op->fields, op->env.batch_rows_max, out, err));
    for (size_t i = 0; i < op->gone_count; i++) tide__ranked_free(&op->ranker, op->gone[i]);
    op->gone_count = 0;
    return TIDE_OK;
}

// From `rank` on, the rows from `at` on have moved: `row` holds the rank now, and each of them the next one.
static void shift_down(struct rank *op, const struct rank_group *group, struct ranked_at at,
                       const struct ranked_row *row, uint64_t rank) {
    const struct ranked_row *next;
    for (; rank <= op->last && (next = tide__ranked_list_get(&group->list, at)) != NULL; rank++) {
        tide__rank_change(op, next, ROW_UPDATE_BEFORE, rank);
        tide__rank_change(op, row, ROW_UPDATE_AFTER, rank);
        row = next;
        at = tide__ranked_list_next(&group->list, at);
    }
    tide__rank_change(op, row, ROW_INSERT, rank);
}

// `row` held the rank until now; each row from `at` on has moved up by one.
static void shift_up(struct rank *op, const struct rank_group *group, struct ranked_at at, const struct ranked_row *row,
                     uint64_t rank) {
    const struct ranked_row *next;
    for (; rank <= op->last && (next = tide__ranked_list_get(&group->list, at)) != NULL; rank++) {
        tide__rank_change(op, row, ROW_UPDATE_BEFORE, rank);
        tide__rank_change(op, next, ROW_UPDATE_AFTER, rank);
        row = next;
        at = tide__ranked_list_next(&group->list, at);
    }
    tide__rank_change(op, row, ROW_DELETE, rank);
}

static void changes_of_entering(struct rank *op, const struct rank_group *group, struct ranked_at at,
                                const struct ranked_row *row, uint64_t rank) {
    if (rank > op->last) return;
    struct ranked_at next = tide__ranked_list_next(&group->list, at);
    if (op->last == 1 && !op->plan->input_updates) {
        const struct ranked_row *old = tide__ranked_list_get(&group->list, next);
        if (old != NULL) tide__rank_change(op, old, ROW_UPDATE_BEFORE, 1);
        tide__rank_change(op, row, old != NULL ? ROW_UPDATE_AFTER : ROW_INSERT, 1);
    } else if (op->numbered) {
        shift_down(op, group, next, row, rank);
    } else {
        // Without numbers a row is in or out, whatever its rank.
        const struct ranked_row *out = tide__ranked_list_nth(&group->list, op->last + 1);
        if (out != NULL) tide__rank_change(op, out, ROW_DELETE, rank);
        tide__rank_change(op, row, ROW_INSERT, rank);
    }
}

static void changes_of_leaving(struct rank *op, const struct rank_group *group, struct ranked_at next,
                               const struct ranked_row *row, uint64_t rank) {
    if (rank > op->last) return;
    if (op->numbered) {
        shift_up(op, group, next, row, rank);
    } else {
        tide__rank_change(op, row, ROW_DELETE, rank);
        const struct ranked_row *in = tide__ranked_list_nth(&group->list, op->last);
        if (in != NULL) tide__rank_change(op, in, ROW_INSERT, rank);
    }
}

// --- rows -------------------------------------------------------------------------------------------------------------------

// False if the row can't be among the best N: only rows of an insert-only input are turned away for ever.
static bool may_enter(struct rank *op, const struct rank_group *group, const struct batch *batch, size_t row,
                      uint64_t prefix) {
    if (op->plan->input_updates || group->list.count < op->last) return true;
    const struct ranked_row *worst = tide__ranked_list_last(&group->list);
    if (prefix != worst->prefix) return prefix < worst->prefix;
    if (op->ranker.ties == TIE_FIRST_ARRIVED && tide__ranker_prefix_is_exact(&op->ranker, batch, prefix)) return false;
    struct str key = tide__ranker_key(&op->ranker, batch, row, op->ranker.arrival);
    return tide__str_cmp(key, tide__ranked_key(worst)) < 0;
}

static void enter(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row, uint64_t prefix) {
    struct str key = tide__ranker_key(&op->ranker, batch, row, op->ranker.arrival++);
    struct ranked_at at = tide__ranked_list_find(&group->list, prefix, key);
    struct ranked_row *entered = tide__ranked_new(&op->ranker, batch, row, prefix);
    uint64_t rank = 1 + tide__ranked_list_before(&group->list, at, op->last);
    at = tide__ranked_list_insert(&group->list, at, entered, op->env.budget);
    tide__rank_state_entered(op, group, entered);
    changes_of_entering(op, group, at, entered, rank);
    if (!op->plan->input_updates && group->list.count > op->last)
        tide__rank_bury(op, group, tide__ranked_list_pop(&group->list, op->env.budget));
}

// The oldest kept row with these very bytes.
static bool find_row(struct rank *op, const struct rank_group *group, const struct batch *batch, size_t row,
                     uint64_t prefix, struct ranked_at *out_at) {
    struct str key = tide__ranker_key(&op->ranker, batch, row, op->ranker.ties == TIE_LAST_ARRIVED ? UINT64_MAX : 0);
    size_t sort_len = key.len - sizeof(uint64_t);
    struct ranked_at at = tide__ranked_list_find(&group->list, prefix, key);
    // The key of arrival number 0 may itself be there.
    struct strbuf *scratch = &op->ranker.scratch;
    size_t key_len = key.len;
    tide__row_append(batch, row, scratch);
    struct str bytes = {scratch->data + key_len, scratch->len - key_len};
    if (at.chunk > 0 || at.index > 0) {
        struct ranked_at before = at.index > 0
                                      ? (struct ranked_at){at.chunk, at.index - 1}
                                      : (struct ranked_at){at.chunk - 1, group->list.chunks[at.chunk - 1].count - 1};
        struct str other = tide__ranked_key(tide__ranked_list_get(&group->list, before));
        if (other.len == key_len && memcmp(other.data, scratch->data, key_len) == 0) at = before;
    }
    for (const struct ranked_row *kept; (kept = tide__ranked_list_get(&group->list, at)) != NULL;
         at = tide__ranked_list_next(&group->list, at)) {
        struct str other = tide__ranked_key(kept);
        if (other.len != key_len || memcmp(other.data, scratch->data, sort_len) != 0) return false;
        if (!tide__str_eq(tide__ranked_bytes(kept), bytes)) continue;
        *out_at = at;
        return true;
    }
    return false;
}

static void leave(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row, uint64_t prefix) {
    struct ranked_at at;
    // A row that never came is not an error: upstream state may have been cleared. Flink skips it too.
    if (!find_row(op, group, batch, row, prefix, &at)) return;
    struct ranked_row *left = tide__ranked_list_get(&group->list, at);
    uint64_t rank = 1 + tide__ranked_list_before(&group->list, at, op->last);
    struct ranked_at next = tide__ranked_list_remove(&group->list, at, op->env.budget);
    changes_of_leaving(op, group, next, left, rank);
    tide__rank_bury(op, group, left);
}

// The groups of a batch's rows. The array lives in op->scratch.
static tide_status groups_of_rows(struct rank *op, const struct batch *batch, void ***out_groups, tide_error *err) {
    struct str *keys = tide__arena_alloc(&op->scratch, batch->rows * sizeof *keys);
    uint64_t *hashes = tide__arena_alloc(&op->scratch, batch->rows * sizeof *hashes);
    *out_groups = tide__arena_alloc(&op->scratch, batch->rows * sizeof **out_groups);
    tide__key_encode(batch, op->plan->partitions, op->plan->partition_count, (struct str){0}, &op->scratch, keys);
    for (size_t i = 0; i < batch->rows; i++) hashes[i] = tide__hash_bytes(keys[i].data, keys[i].len);
    return tide__keyed_find(&op->groups, keys, hashes, batch->rows, &op->scratch, *out_groups, err);
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct rank *op = self(base);
    tide__arena_reset(&op->scratch);
    uint64_t *prefixes = tide__arena_alloc(&op->scratch, batch->rows * sizeof *prefixes);
    tide__ranker_prefixes(&op->ranker, batch, prefixes);
    void **groups;
    TIDE_TRY(groups_of_rows(op, batch, &groups, err));
    struct str *rows = NULL;
    if (op->plan->only_rises) {
        rows = tide__arena_alloc(&op->scratch, batch->rows * sizeof *rows);
        tide__key_encode(batch, op->plan->unique_keys, op->plan->unique_key_count, (struct str){0}, &op->scratch, rows);
    }
    for (size_t i = 0; i < batch->rows; i++) {
        struct rank_group *group = groups[i];
        enum row_kind kind = batch->kinds == NULL ? ROW_INSERT : batch->kinds[i];
        if (rows != NULL) {
            // The row that comes says what it replaces. A -D is taken for a row too: so does Flink.
            if (kind != ROW_UPDATE_BEFORE) tide__rank_rise(op, group, batch, i, prefixes[i], rows[i]);
        } else if (kind == ROW_UPDATE_BEFORE || kind == ROW_DELETE) {
            leave(op, group, batch, i, prefixes[i]);
        } else if (may_enter(op, group, batch, i, prefixes[i])) {
            enter(op, group, batch, i, prefixes[i]);
        }
        if (op->changes.count >= op->env.batch_rows_max) TIDE_TRY(tide__rank_send(op, out, err));
    }
    return tide__rank_send(op, out, err);
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct rank *op = self(base);
    if (!op->env.plan->settings.batch_mode || watermark != WATERMARK_END) return TIDE_OK;
    return tide__rank_emit_all(op, out, err);
}

static const struct operator_class rank_rows_class = {
    .kind = PLAN_RANK,
    .open = tide__rank_open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .on_barrier = tide__rank_barrier,
    .save = tide__rank_save,
    .restore = tide__rank_restore,
    .shrink = tide__rank_shrink,
    .close = close_rank,
};
