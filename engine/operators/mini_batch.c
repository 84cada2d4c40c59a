// Mini-batch: a changelog is held back for a number of changes, then what is left of it goes out: of each key the row that was
// there before and the one that is there now. (What table.exec.mini-batch does to Flink's unbounded aggregations.)
//
//   +I a 1, -U a 1, +U a 2, +I b 1, -D b 1   ->   +I a 2
//
// Keys go out in the order in which they were first touched. What is held back is state, an entry a key:
//
//   key    the key columns (order-preserving)
//   value  number of the touch, both rows
#include "engine/operators/mini_batch.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/changes.h"
#include "engine/operators/ranked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct held_key {
    uint64_t number;        // keys are numbered as they are touched
    struct strbuf rows[2];  // before, now
    bool there[2];
    bool in_state, dirty;
};

struct mini_batch {
    struct operator base;
    const struct plan_mini_batch *plan;
    struct operator_env env;
    uint32_t fields;
    struct memtable *keys;  // key -> struct held_key
    uint64_t changes_held, next_number;
    struct changes changes;
    struct state_table *table;
    struct state_table_desc desc;
    struct arena arena;    // descriptors
    struct arena scratch;  // of one batch
    struct strbuf value, row;
};

static struct mini_batch *self(struct operator* op) {
    return (struct mini_batch *)op;
}

static void free_key(void *payload, void *ctx) {
    (void)ctx;
    struct held_key *held = payload;
    for (int i = 0; i < 2; i++) tide__strbuf_deinit(&held->rows[i]);
}

static void new_keys(struct mini_batch *op) {
    op->keys = tide__memtable_new(op->env.budget, sizeof(struct held_key));
    tide__memtable_on_free(op->keys, free_key, NULL);
}

static void close(struct operator* base) {
    struct mini_batch *op = self(base);
    if (op->keys != NULL) tide__memtable_release(op->keys);
    tide__changes_deinit(&op->changes);
    tide__strbuf_deinit(&op->value);
    tide__strbuf_deinit(&op->row);
    tide__arena_deinit(&op->arena);
    tide__arena_deinit(&op->scratch);
    tide__free(op);
}

static tide_status open_state(struct mini_batch *op, tide_error *err) {
    const struct plan_node *node = op->env.node;
    const struct plan_field *fields = node->inputs[0]->fields;
    struct state_field *keys = ARENA_ARRAY(&op->arena, struct state_field, op->plan->key_count + 1);
    for (uint32_t i = 0; i < op->plan->key_count; i++) {
        const struct plan_field *field = &fields[op->plan->keys[i]];
        keys[i] = (struct state_field){.name = field->name, .type = tide__type_text(&op->arena, field->type)};
    }
    struct state_field *value = ARENA_NEW(&op->arena, struct state_field);
    *value = (struct state_field){.name = "changes",
                                  .type = tide__row_type_text(fields, op->fields, &op->arena),
                                  .form = STATE_FORM_BYTES,
                                  .combiner = STATE_COMBINE_REPLACE};
    op->desc = (struct state_table_desc){
        .name = tide__arena_printf(&op->arena, "%s.held", node->operator_id),
        .operator_id = node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = op->plan->key_count,
        .value_count = 1,
        .keys = keys,
        .values = value,
    };
    return tide__state_table(op->env.store, &op->desc, &op->table, err);
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    struct mini_batch *op = tide__calloc(1, sizeof *op);
    op->base.node = env->node;
    op->plan = &env->node->mini_batch;
    op->env = *env;
    op->fields = env->node->inputs[0]->field_count;
    tide__changes_init(&op->changes);
    tide__arena_init(&op->arena);
    tide__arena_init(&op->scratch);
    new_keys(op);
    tide_status status = open_state(op, err);
    if (status != TIDE_OK) {
        close(&op->base);
        return status;
    }
    *out = &op->base;
    return TIDE_OK;
}

// --- changes ----------------------------------------------------------------------------------------------------------------

static void hold(struct mini_batch *op, struct str key, struct str row, enum row_kind kind) {
    bool is_new = false;
    struct memtable_entry *entry = tide__memtable_upsert(op->keys, key, tide__hash_bytes(key.data, key.len), &is_new);
    struct held_key *held = tide__memtable_payload(op->keys, entry);
    bool leaves = kind == ROW_UPDATE_BEFORE || kind == ROW_DELETE;
    size_t before = held->rows[0].cap + held->rows[1].cap;
    if (is_new) {
        held->number = op->next_number++;
        held->there[0] = leaves;
        if (leaves) tide__strbuf_append_str(&held->rows[0], row);
    }
    held->there[1] = !leaves;
    tide__strbuf_clear(&held->rows[1]);
    if (!leaves) tide__strbuf_append_str(&held->rows[1], row);
    held->dirty = true;
    tide__memtable_charge(op->keys, (int64_t)(held->rows[0].cap + held->rows[1].cap - before));
    op->changes_held += kind != ROW_UPDATE_BEFORE;
}

static void add_changes(struct mini_batch *op, const struct held_key *held) {
    struct str before = tide__strbuf_str(&held->rows[0]), now = tide__strbuf_str(&held->rows[1]);
    if (held->there[0] && held->there[1]) {
        if (tide__str_eq(before, now)) return;
        tide__changes_add(&op->changes, before, ROW_UPDATE_BEFORE, 0);
        tide__changes_add(&op->changes, now, ROW_UPDATE_AFTER, 0);
    } else if (held->there[0]) {
        tide__changes_add(&op->changes, before, ROW_DELETE, 0);
    } else if (held->there[1]) {
        tide__changes_add(&op->changes, now, ROW_INSERT, 0);
    }
}

// The keys in memory are in the order in which they were touched: new ones come last, and restoring sorts.
static tide_status let_out(struct mini_batch *op, struct emitter *out, tide_error *err) {
    struct memtable_entry *const *entries = tide__memtable_entries(op->keys);
    size_t count = tide__memtable_count(op->keys);
    for (size_t i = 0; i < count; i++) {
        const struct held_key *held = tide__memtable_payload(op->keys, entries[i]);
        add_changes(op, held);
        if (held->in_state) tide__state_delete(op->table, tide__memtable_key(op->keys, entries[i]));
    }
    tide_status status = tide__changes_send(&op->changes, op->base.node, op->fields, op->env.batch_rows_max, out, err);
    op->changes_held = 0;
    if (count == 0) return status;
    tide__memtable_release(op->keys);
    new_keys(op);
    return status;
}

static tide_status on_batch(struct operator* base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct mini_batch *op = self(base);
    tide__arena_reset(&op->scratch);
    struct str *keys = tide__arena_alloc(&op->scratch, batch->rows * sizeof *keys);
    tide__key_encode(batch, op->plan->keys, op->plan->key_count, (struct str){0}, &op->scratch, keys);
    for (size_t i = 0; i < batch->rows; i++) {
        tide__strbuf_clear(&op->row);
        tide__row_append(batch, i, &op->row);
        hold(op, keys[i], tide__strbuf_str(&op->row), batch->kinds == NULL ? ROW_INSERT : batch->kinds[i]);
        if (op->changes_held >= op->plan->rows) TIDE_TRY(let_out(op, out, err));
    }
    return TIDE_OK;
}

static tide_status on_watermark(struct operator* base, int64_t watermark, struct emitter *out, tide_error *err) {
    return watermark == WATERMARK_END ? let_out(self(base), out, err) : TIDE_OK;
}

static int64_t next_trigger(const struct operator* base, int64_t earliest) {
    (void)base;
    (void)earliest;
    return WATERMARK_END;
}

// --- state ------------------------------------------------------------------------------------------------------------------

static void append_number(struct strbuf *out, uint64_t number) {
    tide__strbuf_append(out, &number, sizeof number);
}

static void encode(struct mini_batch *op, const struct held_key *held) {
    tide__strbuf_clear(&op->row);
    append_number(&op->row, held->number);
    append_number(&op->row, (uint64_t)held->there[0] | (uint64_t)held->there[1] << 1);
    append_number(&op->row, held->rows[0].len);
    tide__strbuf_append_str(&op->row, tide__strbuf_str(&held->rows[0]));
    tide__strbuf_append_str(&op->row, tide__strbuf_str(&held->rows[1]));
    tide__strbuf_clear(&op->value);
    tide__row_value_append(tide__strbuf_str(&op->row), &op->value);
}

static tide_status on_barrier(struct operator* base, tide_error *err) {
    (void)err;
    struct mini_batch *op = self(base);
    struct memtable_entry *const *entries = tide__memtable_entries(op->keys);
    size_t count = tide__memtable_count(op->keys);
    for (size_t i = 0; i < count; i++) {
        struct held_key *held = tide__memtable_payload(op->keys, entries[i]);
        if (!held->dirty) continue;
        encode(op, held);
        tide__state_put(op->table, tide__memtable_key(op->keys, entries[i]), tide__strbuf_str(&op->value));
        held->dirty = false;
        held->in_state = true;
    }
    return TIDE_OK;
}

static void save(struct operator* base, struct strbuf *out) {
    append_number(out, self(base)->changes_held);
    append_number(out, self(base)->next_number);
}

struct stored_key {
    uint64_t number, flags, first_len;
    struct str key, rows;
};

static bool decode(struct arena *arena, struct str key, struct str value, struct stored_key *out) {
    struct str bytes;
    if (!tide__row_value_parse(value, &bytes) || bytes.len < 3 * sizeof(uint64_t)) return false;
    memcpy(&out->number, bytes.data, sizeof out->number);
    memcpy(&out->flags, bytes.data + sizeof(uint64_t), sizeof out->flags);
    memcpy(&out->first_len, bytes.data + 2 * sizeof(uint64_t), sizeof out->first_len);
    size_t rest = bytes.len - 3 * sizeof(uint64_t);
    if (out->flags > 3 || out->first_len > rest) return false;
    out->key = (struct str){tide__arena_strndup(arena, key.data, key.len), key.len};
    out->rows = (struct str){tide__arena_strndup(arena, bytes.data + 3 * sizeof(uint64_t), rest), rest};
    return true;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = ((const struct stored_key *)a)->number, y = ((const struct stored_key *)b)->number;
    return (x > y) - (x < y);
}

static void put_back(struct mini_batch *op, const struct stored_key *stored) {
    struct memtable_entry *entry = tide__memtable_upsert(op->keys, stored->key,
                                                         tide__hash_bytes(stored->key.data, stored->key.len), NULL);
    struct held_key *held = tide__memtable_payload(op->keys, entry);
    held->number = stored->number;
    for (int i = 0; i < 2; i++) held->there[i] = stored->flags >> i & 1;
    tide__strbuf_append(&held->rows[0], stored->rows.data, stored->first_len);
    tide__strbuf_append(&held->rows[1], stored->rows.data + stored->first_len, stored->rows.len - stored->first_len);
    tide__memtable_charge(op->keys, (int64_t)(held->rows[0].cap + held->rows[1].cap));
    held->in_state = true;
}

static tide_status restore(struct operator* base, struct str saved, tide_error *err) {
    struct mini_batch *op = self(base);
    if (saved.len != 0 && saved.len != 2 * sizeof(uint64_t))
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the saved counters of %s are damaged", base->node->operator_id);
    if (saved.len != 0) {
        memcpy(&op->changes_held, saved.data, sizeof(uint64_t));
        memcpy(&op->next_number, saved.data + sizeof(uint64_t), sizeof(uint64_t));
    }
    struct state_iter *iter;
    struct stored_key *stored = NULL;
    size_t count = 0, capacity = 0;
    struct str key, value;
    bool good = true;
    TIDE_TRY(tide__state_iter_open(op->table, NULL, (struct str){0}, (struct str){0}, &iter, err));
    tide__arena_reset(&op->scratch);
    while (good && tide__state_iter_next(iter, &key, &value)) {
        stored = tide__grow(stored, &capacity, count + 1, sizeof *stored);
        good = decode(&op->scratch, key, value, &stored[count++]);
    }
    tide_status status = tide__state_iter_close(iter, err);
    if (status == TIDE_OK && !good)
        status = tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                            op->desc.name);
    if (status == TIDE_OK && count > 0) {
        qsort(stored, count, sizeof *stored, by_number);
        for (size_t i = 0; i < count; i++) put_back(op, &stored[i]);
    }
    tide__free(stored);
    return status;
}

const struct operator_class tide__mini_batch_class = {
    .kind = PLAN_MINI_BATCH,
    .open = open,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = on_barrier,
    .save = save,
    .restore = restore,
    .close = close,
};
