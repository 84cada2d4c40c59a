// Window join: rows of both sides with the same window and equal keys meet when the window fires. Insert-only.
//
// A firing window becomes a list of steps, group by group in key order: pairs in arrival order of the left rows, then of
// the right ones (RIGHT: the other way round), and behind the pairs of a row its end, where outer joins pad it and SEMI and
// ANTI decide. Steps are worked off in batches, so that the residual condition runs over many pairs at once.
#include "engine/operators/window_join.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/operators/join.h"

#include <assert.h>
#include <string.h>

static struct window_join *self(struct operator *op) {
    return (struct window_join *)op;
}

static struct join_window *at(const struct window_join *op, size_t i) {
    return (struct join_window *)tide__window_list_at(&op->windows, i);
}

// --- windows and groups ---------------------------------------------------------------------------------------------------

static void free_group(void *payload, void *ctx) {
    struct window_join *op = ctx;
    struct join_group *group = payload;
    for (int side = 0; side < 2; side++) {
        struct join_rows *rows = &group->sides[side];
        for (uint32_t i = 0; i < rows->count; i++) tide__ranked_free(&op->ranker, rows->rows[i]);
        tide__budget_release(op->env.budget, rows->capacity * sizeof *rows->rows);
        tide__free(rows->rows);
    }
}

static void free_first(struct window_join *op, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct join_window *window = at(op, i);
        tide__memtable_release(window->groups);
        tide__budget_release(op->env.budget, window->fresh_capacity * sizeof *window->fresh + sizeof *window);
        tide__free(window->fresh);
        tide__free(window);
    }
    tide__window_list_drop(&op->windows, count);
    op->base.stats.windows_open = op->windows.count;
}

static void close(struct operator *base) {
    struct window_join *op = self(base);
    free_first(op, op->windows.count);
    tide__window_list_deinit(&op->windows);
    tide__ranker_deinit(&op->ranker);
    tide__join_pairs_deinit(&op->pairs);
    tide__free(op->steps);
    tide__strbuf_deinit(&op->key);
    tide__strbuf_deinit(&op->value);
    tide__arena_deinit(&op->arena);
    tide__arena_deinit(&op->scratch);
    tide__free(op);
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct window_join *op = tide__calloc(1, sizeof *op);
    op->base.node = env->node;
    op->plan = &env->node->window_join;
    op->env = *env;
    tide__window_list_init(&op->windows, op->plan->ltz, env->plan->settings.zone);
    tide__ranker_init(&op->ranker, NULL, 0, TIE_FIRST_ARRIVED, env->budget);
    tide__join_pairs_init(&op->pairs, env, op->plan->kind, op->plan->condition);
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    tide_status status = tide__window_join_state_open(op, err);
    if (status != TIDE_OK) {
        close(&op->base);
        return status;
    }
    *out = &op->base;
    return TIDE_OK;
}

void tide__window_join_new_groups(struct window_join *op, struct join_window *window) {
    window->groups = tide__memtable_new(op->env.budget, sizeof(struct join_group));
    tide__memtable_on_free(window->groups, free_group, op);
}

struct join_window *tide__window_join_window(struct window_join *op, int64_t start, int64_t end, int64_t watermark) {
    bool late;
    struct open_window *found = tide__window_list_find(&op->windows, start, end, watermark, &late);
    if (found != NULL || late) return (struct join_window *)found;
    struct join_window *window = tide__calloc(1, sizeof *window);
    tide__budget_charge(op->env.budget, sizeof *window);
    window->bounds.start = start;
    window->bounds.end = end;
    tide__window_join_new_groups(op, window);
    tide__window_list_add(&op->windows, &window->bounds);
    op->base.stats.windows_open = op->windows.count;
    return window;
}

// A NULL anywhere among the keys: fields are told apart by their markers, so the key is walked.
static bool key_has_null(struct window_join *op, struct str key) {
    for (uint32_t i = 0; i < op->plan->key_count; i++) {
        if (key.len > 0 && key.data[0] == 0) return true;
        struct column value;
        tide__column_init(&value, op->env.node->inputs[0]->fields[op->plan->keys[0][i]].type, 1, 1, &op->scratch);
        if (!tide__key_decode(&key, &op->scratch, &value, 0)) return true;
    }
    return false;
}

struct join_group *tide__window_join_group(struct window_join *op, struct join_window *window, struct str key,
                                           uint64_t hash) {
    struct memtable_entry *entry = tide__memtable_upsert(window->groups, key, hash, NULL);
    struct join_group *group = tide__memtable_payload(window->groups, entry);
    if (!group->seen) {
        group->seen = true;
        group->key = tide__memtable_key(window->groups, entry);
        group->has_null = key_has_null(op, group->key);
    }
    return group;
}

void tide__window_join_put(struct window_join *op, struct join_window *window, struct join_group *group, uint32_t side,
                           struct ranked_row *row) {
    struct join_rows *rows = &group->sides[side];
    size_t capacity = rows->capacity;
    rows->rows = tide__grow(rows->rows, &capacity, rows->count + 1, sizeof *rows->rows);
    tide__budget_charge(op->env.budget, (capacity - rows->capacity) * sizeof *rows->rows);
    window->row_bytes += (capacity - rows->capacity) * sizeof *rows->rows + tide__ranked_row_bytes(row);
    rows->capacity = (uint32_t)capacity;
    rows->rows[rows->count++] = row;
}

// --- rows -----------------------------------------------------------------------------------------------------------------

// Also rows that match nothing here are kept until the window fires, so that what is in a savepoint does not depend on the kind of join.
static void add_row(struct window_join *op, struct join_window *window, uint32_t side, const struct batch *batch,
                    size_t row, struct str key) {
    struct join_group *group = tide__window_join_group(op, window, key, tide__hash_bytes(key.data, key.len));
    tide__ranker_key(&op->ranker, batch, row, op->ranker.arrival++);
    struct ranked_row *kept = tide__ranked_new(&op->ranker, batch, row, 0);
    tide__window_join_put(op, window, group, side, kept);
    size_t before = window->fresh_capacity;
    window->fresh = tide__grow(window->fresh, &window->fresh_capacity, window->fresh_count + 1, sizeof *window->fresh);
    tide__budget_charge(op->env.budget, (window->fresh_capacity - before) * sizeof *window->fresh);
    window->fresh[window->fresh_count++] = (struct join_fresh){group, kept, side};
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)out, (void)err;
    assert(batch->kinds == NULL && input < 2);
    struct window_join *op = self(base);
    tide__arena_reset(&op->scratch);
    size_t rows = batch->rows;
    const int64_t *starts = tide__window_times(&batch->columns[op->plan->start_column[input]], rows, &op->scratch);
    const int64_t *ends = tide__window_times(&batch->columns[op->plan->end_column[input]], rows, &op->scratch);
    struct str *keys = tide__arena_alloc(&op->scratch, rows * sizeof *keys);
    tide__key_encode(batch, op->plan->keys[input], op->plan->key_count, (struct str){0}, &op->scratch, keys);
    struct join_window *window = NULL;
    for (size_t i = 0; i < rows; i++) {
        if (window == NULL || window->bounds.start != starts[i] || window->bounds.end != ends[i])
            window = tide__window_join_window(op, starts[i], ends[i], base->watermark);
        if (window == NULL) {
            tide__late_row(base, op->env.late, batch, i, starts[i], ends[i]);
        } else {
            add_row(op, window, input, batch, i, keys[i]);
        }
    }
    return TIDE_OK;
}

// --- firing -----------------------------------------------------------------------------------------------------------------

static struct str bytes_of(const struct ranked_row *row) {
    return row == NULL ? (struct str){0} : tide__ranked_bytes(row);
}

static void end_row(struct window_join *op, const struct join_step *step) {
    enum join_kind kind = op->plan->kind;
    const struct ranked_row *row = step->left != NULL ? step->left : step->right;
    bool matched = row->fresh != 0;
    if (matched == (kind == JOIN_SEMI))
        tide__join_pairs_add(&op->pairs, bytes_of(step->left), bytes_of(step->right), ROW_INSERT);
}

static tide_status run_steps(struct window_join *op, struct emitter *out, tide_error *err) {
    tide__arena_reset(&op->scratch);
    struct join_pair *pairs = tide__arena_alloc(&op->scratch, op->step_count * sizeof *pairs);
    uint8_t *keep = tide__arena_alloc(&op->scratch, op->step_count);
    size_t count = 0, tested = 0;
    for (size_t i = 0; i < op->step_count; i++)
        if (op->steps[i].left != NULL && op->steps[i].right != NULL)
            pairs[count++] = (struct join_pair){bytes_of(op->steps[i].left), bytes_of(op->steps[i].right), ROW_INSERT};
    TIDE_TRY(tide__join_pairs_test(&op->pairs, pairs, count, keep, err));
    for (size_t i = 0; i < op->step_count; i++) {
        struct join_step *step = &op->steps[i];
        if (step->left == NULL || step->right == NULL) {
            end_row(op, step);
        } else if (keep[tested++]) {
            step->left->fresh = step->right->fresh = 1;
            if (!op->pairs.left_only)
                tide__join_pairs_add(&op->pairs, bytes_of(step->left), bytes_of(step->right), ROW_INSERT);
        }
    }
    op->step_count = 0;
    return tide__join_pairs_send(&op->pairs, out, err);
}

static tide_status add_step(struct window_join *op, struct ranked_row *left, struct ranked_row *right,
                            struct emitter *out, tide_error *err) {
    if (op->step_count == op->step_capacity)
        op->steps = tide__grow(op->steps, &op->step_capacity, op->step_count + 1, sizeof *op->steps);
    op->steps[op->step_count++] = (struct join_step){left, right};
    return op->step_count >= op->env.batch_rows_max ? run_steps(op, out, err) : TIDE_OK;
}

// The steps of one row of `side` against all rows of the other side.
static tide_status add_row_steps(struct window_join *op, const struct join_group *group, uint32_t side,
                                 struct ranked_row *row, struct emitter *out, tide_error *err) {
    enum join_kind kind = op->plan->kind;
    const struct join_rows *others = &group->sides[1 - side];
    uint32_t count = group->has_null ? 0 : others->count;
    if (op->pairs.left_only && op->plan->condition == NULL) {
        row->fresh = count > 0;
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        TIDE_TRY(side == 0 ? add_step(op, row, others->rows[i], out, err)
                           : add_step(op, others->rows[i], row, out, err));
    if (kind == JOIN_INNER) return TIDE_OK;
    return side == 0 ? add_step(op, row, NULL, out, err) : add_step(op, NULL, row, out, err);
}

static tide_status add_group_steps(struct window_join *op, const struct join_group *group, struct emitter *out,
                                   tide_error *err) {
    uint32_t side = op->plan->kind == JOIN_RIGHT ? 1 : 0;
    for (uint32_t i = 0; i < group->sides[side].count; i++)
        TIDE_TRY(add_row_steps(op, group, side, group->sides[side].rows[i], out, err));
    if (op->plan->kind != JOIN_FULL) return TIDE_OK;
    for (uint32_t i = 0; i < group->sides[1].count; i++)
        TIDE_TRY(add_step(op, NULL, group->sides[1].rows[i], out, err));
    return TIDE_OK;
}

static tide_status add_window_steps(struct window_join *op, struct join_window *window, struct emitter *out,
                                    tide_error *err) {
    tide__memtable_freeze(window->groups);
    struct memtable_entry *const *entries = tide__memtable_sorted(window->groups);
    size_t count = tide__memtable_count(window->groups);
    for (size_t i = 0; i < count; i++)
        TIDE_TRY(add_group_steps(op, tide__memtable_payload(window->groups, entries[i]), out, err));
    return TIDE_OK;
}

tide_status tide__window_join_fire_groups(struct window_join *op, struct join_window *window, struct emitter *out,
                                          tide_error *err) {
    TIDE_TRY(add_window_steps(op, window, out, err));
    return run_steps(op, out, err);
}

static tide_status fire_window(struct window_join *op, struct join_window *window, struct emitter *out,
                               tide_error *err) {
    TIDE_TRY(window->evicted ? tide__window_join_fire_evicted(op, window, out, err)
                             : add_window_steps(op, window, out, err));
    for (int side = 0; side < 2; side++)
        if (window->in_state[side]) TIDE_TRY(tide__window_key_drop(&window->bounds, op->tables[side], err));
    op->base.stats.windows_fired++;
    return TIDE_OK;
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct window_join *op = self(base);
    op->pairs.eval.watermark = base->watermark;
    size_t fired = 0;  // whose rows may stand in steps
    while (fired < op->windows.count && at(op, fired)->bounds.trigger <= watermark) {
        TIDE_TRY(fire_window(op, at(op, fired++), out, err));
        if (op->step_count > 0 && op->step_count < op->env.batch_rows_max / 2) continue;
        TIDE_TRY(run_steps(op, out, err));
        free_first(op, fired);
        fired = 0;
    }
    TIDE_TRY(run_steps(op, out, err));
    free_first(op, fired);
    if (op->windows.count == 0) op->ranker.arrival = 0;
    return TIDE_OK;
}

static int64_t next_trigger(const struct operator *base, int64_t earliest) {
    const struct window_join *op = (const struct window_join *)base;
    return tide__window_list_next_trigger(&op->windows, base->watermark, earliest, true);
}

const struct operator_class tide__window_join_class = {
    .kind = PLAN_WINDOW_JOIN,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .shrink = tide__window_join_shrink,
    .on_barrier = tide__window_join_barrier,
    .save = tide__window_join_save,
    .restore = tide__window_join_restore,
    .close = close,
};
