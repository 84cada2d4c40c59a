// Deduplication that keeps the first row a key by event time: the row goes out when the watermark reaches its time, for
// then none can come before it; so the output is insert-only. (Flink's RowTimeDeduplicateKeepFirstRowFunction.)
//
// A key waits with its best row so far, or has given its row out and remembers only that. Rows behind the watermark
// are late. Waiting keys stand in a heap by (time, arrival) of their rows; an entry whose key has a better row by now is
// stale and skipped.
#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/rank_rows.h"

#include <assert.h>
#include <string.h>

struct first_key {
    struct timestamp time;
    uint64_t arrival;
    char *row;  // row codec bytes; NULL: not there, or given out
    uint32_t row_len;
    bool is_out;  // the row was given out
    bool dirty;   // in the list of changed keys
    struct str key;
};

struct first_timer {
    int64_t ms;
    uint64_t arrival;
    struct first_key *key;
};

struct first_row {
    struct rank_operator head;
    const struct plan_rank *plan;
    struct operator_env env;
    uint32_t fields;
    uint64_t arrival;
    struct memtable *keys;       // partition key -> struct first_key
    struct first_timer *timers;  // a heap, the earliest on top
    size_t timer_count, timer_capacity;
    struct first_key **dirty;
    size_t dirty_count, dirty_capacity;
    struct changes changes;
    struct state_table *table;
    struct state_table_desc desc;
    struct arena arena, scratch;
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

static void close_first_row(struct operator *base) {
    struct first_row *op = self(base);
    tide__memtable_release(op->keys);
    tide__budget_release(op->env.budget, op->timer_capacity * sizeof *op->timers);
    tide__free(op->timers);
    tide__budget_release(op->env.budget, op->dirty_capacity * sizeof *op->dirty);
    tide__free(op->dirty);
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
    };
    return tide__state_table(op->env.store, &op->desc, &op->table, err);
}

tide_status tide__first_row_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct first_row *op = tide__calloc(1, sizeof *op);
    op->head.class = &first_row_class;
    op->head.base.node = env->node;
    op->plan = &env->node->rank;
    op->env = *env;
    op->fields = env->node->inputs[0]->field_count;
    op->keys = tide__memtable_new(env->budget, sizeof(struct first_key));
    tide__memtable_on_free(op->keys, free_key, op);
    tide__changes_init(&op->changes);
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    tide_status status = open_table(op, err);
    if (status != TIDE_OK) {
        close_first_row(&op->head.base);
        return status;
    }
    *out = &op->head.base;
    return TIDE_OK;
}

// --- timers -----------------------------------------------------------------------------------------------------------------

static bool is_before(const struct first_timer *a, const struct first_timer *b) {
    return a->ms != b->ms ? a->ms < b->ms : a->arrival < b->arrival;
}

static void push_timer(struct first_row *op, struct first_key *key) {
    size_t before = op->timer_capacity;
    op->timers = tide__grow(op->timers, &op->timer_capacity, op->timer_count + 1, sizeof *op->timers);
    tide__budget_charge(op->env.budget, (op->timer_capacity - before) * sizeof *op->timers);
    struct first_timer timer = {key->time.ms, key->arrival, key};
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

static void mark_dirty(struct first_row *op, struct first_key *key) {
    if (key->dirty) return;
    key->dirty = true;
    size_t before = op->dirty_capacity;
    op->dirty = tide__grow(op->dirty, &op->dirty_capacity, op->dirty_count + 1, sizeof *op->dirty);
    tide__budget_charge(op->env.budget, (op->dirty_capacity - before) * sizeof *op->dirty);
    op->dirty[op->dirty_count++] = key;
}

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

static struct first_key *find_key(struct first_row *op, struct str bytes) {
    bool is_new = false;
    struct memtable_entry *entry = tide__memtable_upsert(op->keys, bytes, tide__hash_bytes(bytes.data, bytes.len),
                                                         &is_new);
    struct first_key *key = tide__memtable_payload(op->keys, entry);
    if (is_new) key->key = tide__memtable_key(op->keys, entry);
    return key;
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input, (void)out, (void)err;
    struct first_row *op = self(base);
    tide__arena_reset(&op->scratch);
    const struct column *times = &batch->columns[op->plan->sorts[0].column];
    struct str *keys = tide__arena_alloc(&op->scratch, batch->rows * sizeof *keys);
    tide__key_encode(batch, op->plan->partitions, op->plan->partition_count, (struct str){0}, &op->scratch, keys);
    for (size_t i = 0; i < batch->rows; i++) {
        struct timestamp time = time_of(times, i);
        if (time.ms < base->watermark) {
            tide__late_row(base, op->env.late, batch, i, time.ms, time.ms);
            continue;
        }
        struct first_key *key = find_key(op, keys[i]);
        if (key->is_out) continue;
        bool better = key->row == NULL || time.ms < key->time.ms ||
                      (time.ms == key->time.ms && time.nanos < key->time.nanos);
        if (!better) continue;
        tide__strbuf_clear(&op->bytes);
        tide__row_append(batch, i, &op->bytes);
        set_row(op, key, tide__strbuf_str(&op->bytes));
        key->time = time;
        key->arrival = op->arrival++;
        push_timer(op, key);
        mark_dirty(op, key);
    }
    return TIDE_OK;
}

static tide_status send(struct first_row *op, struct emitter *out, tide_error *err) {
    TIDE_TRY(tide__changes_send(&op->changes, op->head.base.node, op->fields, op->env.batch_rows_max, out, err));
    // The rows of the keys that were given out since: nobody looks at them any more.
    for (size_t i = 0; i < op->dirty_count; i++)
        if (op->dirty[i]->is_out) set_row(op, op->dirty[i], (struct str){0});
    return TIDE_OK;
}

static tide_status on_watermark(struct operator *base, int64_t watermark, struct emitter *out, tide_error *err) {
    struct first_row *op = self(base);
    while (op->timer_count > 0 && op->timers[0].ms <= watermark) {
        struct first_timer timer = pop_timer(op);
        struct first_key *key = timer.key;
        if (key->is_out || key->arrival != timer.arrival) continue;
        key->is_out = true;
        mark_dirty(op, key);
        tide__changes_add(&op->changes, (struct str){key->row, key->row_len}, ROW_INSERT, 1);
    }
    return send(op, out, err);
}

static int64_t next_trigger(const struct operator *base, int64_t earliest) {
    const struct first_row *op = (const struct first_row *)base;
    int64_t at = op->timer_count > 0 && op->timers[0].ms < earliest ? op->timers[0].ms : earliest;
    return at > base->watermark || base->watermark == WATERMARK_END ? at : base->watermark + 1;
}

// --- state ------------------------------------------------------------------------------------------------------------------

static tide_status on_barrier(struct operator *base, tide_error *err) {
    (void)err;
    struct first_row *op = self(base);
    for (size_t i = 0; i < op->dirty_count; i++) {
        struct first_key *key = op->dirty[i];
        int64_t numbers[2] = {key->is_out, key->is_out ? 0 : (int64_t)key->arrival};
        tide__strbuf_clear(&op->bytes);
        tide__strbuf_append(&op->bytes, numbers, sizeof numbers);
        tide__row_value_append((struct str){key->row, key->row_len}, &op->bytes);
        tide__state_put(op->table, key->key, tide__strbuf_str(&op->bytes));
        key->dirty = false;
    }
    op->dirty_count = 0;
    return TIDE_OK;
}

static void save(struct operator *base, struct strbuf *out) {
    tide__strbuf_append(out, &self(base)->arrival, sizeof(uint64_t));
}

static bool restore_entry(struct first_row *op, struct column *columns, struct str bytes, struct str value) {
    int64_t numbers[2];
    struct str row;
    if (value.len < sizeof numbers) return false;
    memcpy(numbers, value.data, sizeof numbers);
    if (!tide__row_value_parse((struct str){value.data + sizeof numbers, value.len - sizeof numbers}, &row))
        return false;
    struct first_key *key = find_key(op, bytes);
    key->is_out = numbers[0] != 0;
    key->arrival = (uint64_t)numbers[1];
    if (key->is_out) return row.len == 0;
    if (!tide__row_decode(row, columns, op->fields, 0)) return false;
    key->time = time_of(&columns[op->plan->sorts[0].column], 0);
    set_row(op, key, row);
    push_timer(op, key);
    return true;
}

static tide_status restore_keys(struct first_row *op, struct column *columns, tide_error *err) {
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    struct str key, value;
    bool good = true;
    while (good && tide__state_iter_next(iter, &key, &value)) good = restore_entry(op, columns, key, value);
    TIDE_TRY(tide__state_iter_close(iter, err));
    if (good) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged", op->desc.name);
}

static tide_status restore(struct operator *base, struct str saved, tide_error *err) {
    struct first_row *op = self(base);
    if (saved.len != 0 && saved.len != sizeof op->arrival)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counter of %s is damaged", base->node->operator_id);
    if (saved.len != 0) memcpy(&op->arrival, saved.data, saved.len);
    tide__arena_reset(&op->scratch);
    struct column *columns = ARENA_ARRAY(&op->scratch, struct column, op->fields + 1);
    for (uint32_t f = 0; f < op->fields; f++)
        tide__column_init(&columns[f], base->node->inputs[0]->fields[f].type, 1, 1, &op->scratch);
    return restore_keys(op, columns, err);
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
    .close = close_first_row,
};
