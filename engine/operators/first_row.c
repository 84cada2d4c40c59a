// Deduplication that keeps the first row a key by event time: the row goes out when the watermark reaches its time, for
// then none can come before it; so the output is insert-only. (Flink's RowTimeDeduplicateKeepFirstRowFunction.)
//
// A key waits with its best row so far, or has given its row out and remembers only that. Rows behind the watermark
// are late. Waiting keys stand in a heap by (time, arrival) of their rows; an entry whose key has a better row by now is
// stale and skipped. When memory is short, keys that no row has come to for a while are in the state table only, those that wait as
// well as those whose row is out (keyed_cache.h); the heap stays in memory.
#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/keyed_cache.h"
#include "engine/operators/rank_rows.h"

#include <assert.h>
#include <string.h>

struct first_key {
    struct timestamp time;
    uint64_t arrival;
    char *row;  // row codec bytes; NULL: not there, or given out
    uint32_t row_len;
    bool is_out;     // the row was given out
    uint32_t dirty;  // tide__keyed_mark_dirty: changed since it was written
    struct str key;
};

struct first_timer {
    int64_t ms;
    uint64_t arrival;
    char *key;  // owned
    size_t key_len;
};

struct first_row {
    struct rank_operator head;
    const struct plan_rank *plan;
    struct operator_env env;
    uint32_t fields;
    uint64_t arrival;
    struct keyed_cache keys;     // partition key -> struct first_key
    struct first_timer *timers;  // a heap, the earliest on top
    size_t timer_count, timer_capacity;
    struct changes changes;
    struct state_table *table;
    struct state_table_desc desc;
    struct arena arena, scratch;
    struct column *columns;  // of a row that is read
    struct strbuf bytes;
};

static struct first_row *self(struct operator *op) {
    return (struct first_row *)op;
}

static const struct operator_class first_row_class;

static void free_key(void *payload, void *ctx) {
    struct first_row *op = ctx;
    struct first_key *key = payload;
    tide__budget_release(op->env.budget, key->row_len);
    tide__free(key->row);
}

static void free_timer(struct first_row *op, struct first_timer *timer) {
    tide__budget_release(op->env.budget, timer->key_len);
    tide__free(timer->key);
}

static void close_first_row(struct operator *base) {
    struct first_row *op = self(base);
    tide__keyed_deinit(&op->keys);
    for (size_t i = 0; i < op->timer_count; i++) free_timer(op, &op->timers[i]);
    tide__budget_release(op->env.budget, op->timer_capacity * sizeof *op->timers);
    tide__free(op->timers);
    tide__changes_deinit(&op->changes);
    tide__strbuf_deinit(&op->bytes);
    tide__arena_deinit(&op->arena);
    tide__arena_deinit(&op->scratch);
    tide__free(op);
}

static tide_status open_table(struct first_row *op, tide_error *err) {
    const struct plan_node *node = op->env.node, *input = node->inputs[0];
    struct state_field *keys = ARENA_ARRAY(&op->arena, struct state_field, op->plan->partition_count + 1);
    for (uint32_t i = 0; i < op->plan->partition_count; i++) {
        const struct plan_field *field = &input->fields[op->plan->partitions[i]];
        keys[i] = (struct state_field){.name = field->name, .type = tide__type_text(&op->arena, field->type)};
    }
    struct state_field *values = ARENA_ARRAY(&op->arena, struct state_field, 3);
    values[0] = (struct state_field){"is_out", "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    values[1] = (struct state_field){"arrival", "BIGINT NOT NULL", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    values[2] = (struct state_field){"row", tide__row_type_text(input->fields, op->fields, &op->arena),
                                     STATE_FORM_BYTES, STATE_COMBINE_REPLACE};
    op->desc = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.first", node->operator_id),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = op->plan->partition_count,
        .value_count = 3,
        .keys = keys,
        .values = values,
        .read_singly = true,
    };
    return tide__state_table(op->env.store, &op->desc, &op->table, err);
}

// --- timers -----------------------------------------------------------------------------------------------------------------

static bool is_before(const struct first_timer *a, const struct first_timer *b) {
    return a->ms != b->ms ? a->ms < b->ms : a->arrival < b->arrival;
}

static void push_timer(struct first_row *op, struct str key, int64_t ms, uint64_t arrival) {
    size_t before = op->timer_capacity;
    op->timers = tide__grow(op->timers, &op->timer_capacity, op->timer_count + 1, sizeof *op->timers);
    tide__budget_charge(op->env.budget, (op->timer_capacity - before) * sizeof *op->timers);
    struct first_timer timer = {ms, arrival, tide__alloc(key.len + 1), key.len};
    if (key.len > 0) memcpy(timer.key, key.data, key.len);
    tide__budget_charge(op->env.budget, key.len);
    size_t at = op->timer_count++;
    for (; at > 0 && is_before(&timer, &op->timers[(at - 1) / 2]); at = (at - 1) / 2)
        op->timers[at] = op->timers[(at - 1) / 2];
    op->timers[at] = timer;
}

static struct first_timer pop_timer(struct first_row *op) {
    struct first_timer top = op->timers[0], timer = op->timers[--op->timer_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < op->timer_count; at = child) {
        if (child + 1 < op->timer_count && is_before(&op->timers[child + 1], &op->timers[child])) child++;
        if (!is_before(&op->timers[child], &timer)) break;
        op->timers[at] = op->timers[child];
    }
    if (op->timer_count > 0) op->timers[at] = timer;
    return top;
}

// --- rows -------------------------------------------------------------------------------------------------------------------

static void set_row(struct first_row *op, struct first_key *key, struct str bytes) {
    tide__budget_release(op->env.budget, key->row_len);
    tide__free(key->row);
    key->row = NULL;
    key->row_len = (uint32_t)bytes.len;
    if (bytes.len == 0) return;
    key->row = tide__alloc(bytes.len);
    memcpy(key->row, bytes.data, bytes.len);
    tide__budget_charge(op->env.budget, bytes.len);
}

static struct timestamp time_of(const struct column *column, size_t row) {
    if (column->physical == PHYSICAL_TIME) return column->time[row];
    return (struct timestamp){column->i64[row], 0};
}

// The keys of n encoded keys. The array lives in op->scratch.
static tide_status find_keys(struct first_row *op, const struct str *keys, size_t n, void ***out_keys,
                             tide_error *err) {
    uint64_t *hashes = tide__arena_alloc(&op->scratch, n * sizeof *hashes);
    *out_keys = tide__arena_alloc(&op->scratch, n * sizeof **out_keys);
    for (size_t i = 0; i < n; i++) hashes[i] = tide__hash_bytes(keys[i].data, keys[i].len);
    return tide__keyed_find(&op->keys, keys, hashes, n, &op->scratch, *out_keys, err);
}

static void offer(struct first_row *op, struct first_key *key, const struct batch *batch, size_t row,
                  struct timestamp time) {
    if (key->is_out) return;
    bool better = key->row == NULL || time.ms < key->time.ms ||
                  (time.ms == key->time.ms && time.nanos < key->time.nanos);
    if (!better) return;
    tide__strbuf_clear(&op->bytes);
    tide__row_append(batch, row, &op->bytes);
    set_row(op, key, tide__strbuf_str(&op->bytes));
    key->time = time;
    key->arrival = op->arrival++;
    push_timer(op, key->key, time.ms, key->arrival);
    tide__keyed_mark_dirty(&op->keys, key);
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input, (void)out;
    struct first_row *op = self(base);
    tide__arena_reset(&op->scratch);
    const struct column *times = &batch->columns[op->plan->sorts[0].column];
    struct str *keys = tide__arena_alloc(&op->scratch, batch->rows * sizeof *keys);
    size_t *rows = tide__arena_alloc(&op->scratch, batch->rows * sizeof *rows), count = 0;
    tide__key_encode(batch, op->plan->partitions, op->plan->partition_count, (struct str){0}, &op->scratch, keys);
    for (size_t i = 0; i < batch->rows; i++) {
        struct timestamp time = time_of(times, i);
        if (time.ms < base->watermark) {
            tide__late_row(base, op->env.late, batch, i, time.ms, time.ms);
            continue;
        }
        keys[count] = keys[i];
        rows[count++] = i;
    }
    void **found;
    TIDE_TRY(find_keys(op, keys, count, &found, err));
    for (size_t i = 0; i < count; i++) offer(op, found[i], batch, rows[i], time_of(times, rows[i]));
    return TIDE_OK;
}

// Keys whose time has come, `count` timers of them.
static tide_status fire(struct first_row *op, const struct first_timer *timers, size_t count, struct emitter *out,
                        tide_error *err) {
    struct str *keys = tide__arena_alloc(&op->scratch, count * sizeof *keys);
    for (size_t i = 0; i < count; i++) keys[i] = (struct str){timers[i].key, timers[i].key_len};
    void **found;
    TIDE_TRY(find_keys(op, keys, count, &found, err));
    size_t fired = 0;
    for (size_t i = 0; i < count; i++) {
        struct first_key *key = found[i];
        if (key->is_out || key->arrival != timers[i].arrival) continue;
        key->is_out = true;
        tide__keyed_mark_dirty(&op->keys, key);
        tide__changes_add(&op->changes, (struct str){key->row, key->row_len}, ROW_INSERT, 1);
        found[fired++] = key;
    }
    TIDE_TRY(tide__changes_send(&op->changes, op->head.base.node, op->fields, op->env.batch_rows_max, out, err));
    for (size_t i = 0; i < fired; i++) set_row(op, found[i], (struct str){0});
    return TIDE_OK;
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct first_row *op = self(base);
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && op->timer_count > 0 && op->timers[0].ms <= watermark) {
        tide__arena_reset(&op->scratch);
        struct first_timer *timers = tide__arena_alloc(&op->scratch, op->env.batch_rows_max * sizeof *timers);
        size_t count = 0;
        while (count < op->env.batch_rows_max && op->timer_count > 0 && op->timers[0].ms <= watermark)
            timers[count++] = pop_timer(op);
        status = fire(op, timers, count, out, err);
        for (size_t i = 0; i < count; i++) free_timer(op, &timers[i]);
    }
    return status;
}

static int64_t next_trigger(const struct operator *base, int64_t earliest) {
    const struct first_row *op = (const struct first_row *)base;
    int64_t at = op->timer_count > 0 && op->timers[0].ms < earliest ? op->timers[0].ms : earliest;
    return at > base->watermark || base->watermark == WATERMARK_END ? at : base->watermark + 1;
}

// --- state ------------------------------------------------------------------------------------------------------------------

static void put_dirty(struct first_row *op) {
    for (size_t i = 0; i < op->keys.dirty_count; i++) {
        struct first_key *key = op->keys.dirty[i];
        int64_t numbers[2] = {key->is_out, key->is_out ? 0 : (int64_t)key->arrival};
        tide__strbuf_clear(&op->bytes);
        tide__strbuf_append(&op->bytes, numbers, sizeof numbers);
        tide__row_value_append((struct str){key->row, key->row_len}, &op->bytes);
        tide__state_put(op->table, key->key, tide__strbuf_str(&op->bytes));
        key->dirty = 0;
    }
    op->keys.dirty_count = 0;
}

static tide_status on_barrier(struct operator *base, tide_error *err) {
    (void)err;
    put_dirty(self(base));
    return TIDE_OK;
}

static void save(struct operator *base, struct strbuf *out) {
    tide__strbuf_append(out, &self(base)->arrival, sizeof(uint64_t));
}

// What a value says; the row still lies in it.
struct first_value {
    bool is_out;
    uint64_t arrival;
    struct timestamp time;
    struct str row;
};

static bool parse_value(struct first_row *op, struct str value, struct first_value *out) {
    int64_t numbers[2];
    *out = (struct first_value){0};
    if (value.len < sizeof numbers) return false;
    memcpy(numbers, value.data, sizeof numbers);
    if (!tide__row_value_parse((struct str){value.data + sizeof numbers, value.len - sizeof numbers}, &out->row))
        return false;
    out->is_out = numbers[0] != 0;
    out->arrival = (uint64_t)numbers[1];
    if (out->is_out) return out->row.len == 0;
    if (!tide__row_decode(out->row, op->columns, op->fields, 0)) return false;
    out->time = time_of(&op->columns[op->plan->sorts[0].column], 0);
    return true;
}

static void set_key(struct first_row *op, struct first_key *key, const struct first_value *value) {
    key->is_out = value->is_out;
    key->arrival = value->arrival;
    key->time = value->time;
    set_row(op, key, value->row);
}

static tide_status damaged(const struct first_row *op, tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", op->desc.name);
}

// All that wait get their timers; keys themselves as far as there is room.
static tide_status restore_keys(struct first_row *op, tide_error *err) {
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, bytes;
    struct first_value value;
    bool good = true;
    while (good && tide__state_iter_next(iter, &key, &bytes)) {
        good = parse_value(op, bytes, &value);
        if (!good) break;
        if (!value.is_out) push_timer(op, key, value.time.ms, value.arrival);
        if (!tide__keyed_is_full(&op->keys)) set_key(op, tide__keyed_restore(&op->keys, key), &value);
    }
    TIDE_TRY(tide__state_iter_close(iter, err));
    return good ? TIDE_OK : damaged(op, err);
}

static tide_status restore(struct operator *base, struct str saved, tide_error *err) {
    struct first_row *op = self(base);
    if (saved.len != 0 && saved.len != sizeof op->arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->arrival, saved.data, saved.len);
    return restore_keys(op, err);
}

// --- the cache --------------------------------------------------------------------------------------------------------------

static void place_key(void *ctx, void *payload, struct str key) {
    (void)ctx;
    ((struct first_key *)payload)->key = key;
}

static tide_status load_keys(void *ctx, void *const *payloads, const struct str *keys, size_t n, int64_t *out_charge,
                             tide_error *err) {
    (void)out_charge;
    struct first_row *op = ctx;
    struct str *values = tide__arena_alloc(&op->scratch, n * sizeof *values);
    TIDE_TRY(tide__state_multi_get_flushed(op->table, keys, n, &op->scratch, values, err));
    for (size_t i = 0; i < n; i++) {
        struct first_value value;
        if (values[i].data == NULL) continue;
        if (!parse_value(op, values[i], &value)) return damaged(op, err);
        set_key(op, payloads[i], &value);
    }
    return TIDE_OK;
}

static tide_status flush_keys(void *ctx, tide_error *err) {
    struct first_row *op = ctx;
    put_dirty(op);
    return tide__state_flush(op->table, err);
}

static void open_cache(struct first_row *op) {
    struct keyed_owner owner = {
        .payload_size = sizeof(struct first_key),
        .dirty_at = offsetof(struct first_key, dirty),
        .place = place_key,
        .load = load_keys,
        .flush = flush_keys,
        .free = free_key,
        .charges = true,
        .ctx = op,
    };
    tide__keyed_init(&op->keys, op->env.budget, owner);
}

static size_t shrink(struct operator *base, size_t bytes, tide_error *err) {
    return tide__keyed_shrink(&self(base)->keys, bytes, err);
}

tide_status tide__first_row_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct first_row *op = tide__calloc(1, sizeof *op);
    op->head.class = &first_row_class;
    op->head.base.node = env->node;
    op->plan = &env->node->rank;
    op->env = *env;
    op->fields = env->node->inputs[0]->field_count;
    tide__changes_init(&op->changes);
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    op->columns = ARENA_ARRAY(&op->arena, struct column, op->fields + 1);
    for (uint32_t f = 0; f < op->fields; f++)
        tide__column_init(&op->columns[f], env->node->inputs[0]->fields[f].type, 1, 1, &op->arena);
    open_cache(op);
    tide_status status = open_table(op, err);
    if (status != TIDE_OK) {
        close_first_row(&op->head.base);
        return status;
    }
    *out = &op->head.base;
    return TIDE_OK;
}

static const struct operator_class first_row_class = {
    .kind = PLAN_RANK,
    .open = tide__first_row_open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = on_barrier,
    .save = save,
    .restore = restore,
    .shrink = shrink,
    .close = close_first_row,
};
