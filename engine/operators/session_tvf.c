// SESSION as a table function: rows are kept until their session ends, then leave in the order of session ends with
// window_start, window_end and window_time; inside a session in arrival order. Late rows are dropped.
//
// A session's rows are (number, length, bytes) one after the other, numbered in arrival order. State: one entry a row, keyed
// (partition key, number); sessions are formed again from their rows when the job resumes.
//
// When memory is short all rows so far go there and are read back when their session ends: of the partition's rows those of its span of
// time, which no other session of the partition shares. The sessions themselves stay in memory.
#include "engine/operators/ranked.h"
#include "engine/operators/session_store.h"
#include "engine/operators/window.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"

#include <assert.h>
#include <string.h>

struct row_list {
    char *data;
    size_t len, cap;
    bool has_evicted;  // rows that are in the state table only
};

struct row_header {
    uint64_t number;
    uint32_t len;
} __attribute__((packed));

struct session_tvf {
    struct window_operator base;
    const struct window *window;
    const struct plan_node *node;
    struct late_sink *late;
    size_t batch_rows_max;
    bool skip_null_time;
    struct window_cut cut;
    struct session_store sessions;
    struct memory_budget *budget;
    struct state_table *table;  // NULL: no state
    uint64_t next_number;       // of rows
    uint64_t saved_number;      // rows below are in the state table
    uint64_t evicted_number;    // and those below this one there only
    size_t row_bytes;           // of rows in memory, about
    struct arena scratch, output;
    struct strbuf row;
    // The batch being put together.
    struct batch result;
};

static struct session_tvf *session_tvf(struct operator *op) {
    return (struct session_tvf *)(void *)op;
}

static struct row_list *rows_of(struct session *session) {
    return (struct row_list *)(void *)session->payload;
}

// --- row lists --------------------------------------------------------------------------------------------------

static void list_reserve(struct session_tvf *t, struct row_list *list, size_t extra) {
    size_t before = list->cap;
    list->data = tide__grow(list->data, &list->cap, list->len + extra, 1);
    tide__budget_charge(t->budget, list->cap - before);
    t->row_bytes += list->cap - before;
}

static void list_append(struct session_tvf *t, struct row_list *list, uint64_t number, struct str row) {
    list_reserve(t, list, sizeof(struct row_header) + row.len);
    struct row_header header = {number, (uint32_t)row.len};
    memcpy(list->data + list->len, &header, sizeof header);
    if (row.len > 0) memcpy(list->data + list->len + sizeof header, row.data, row.len);
    list->len += sizeof header + row.len;
}

// Takes the row at *at and steps over it.
static struct str list_row(const struct row_list *list, size_t *at, uint64_t *out_number) {
    struct row_header header;
    memcpy(&header, list->data + *at, sizeof header);
    struct str row = {list->data + *at + sizeof header, header.len};
    *at += sizeof header + header.len;
    *out_number = header.number;
    return row;
}

static void list_clear(struct session_tvf *t, struct row_list *list) {
    tide__budget_release(t->budget, list->cap);
    t->row_bytes -= list->cap;
    tide__free(list->data);
    *list = (struct row_list){.has_evicted = list->has_evicted};
}

static void list_free(struct session_tvf *t, struct row_list *list) {
    list_clear(t, list);
    tide__budget_release(t->budget, sizeof *list);
    tide__free(list);
}

static struct row_list *list_new(struct session_tvf *t) {
    tide__budget_charge(t->budget, sizeof(struct row_list));
    return tide__calloc(1, sizeof(struct row_list));
}

static void free_rows(void *ctx, struct session *session) {
    if (session->payload != NULL) list_free(ctx, rows_of(session));
    session->payload = NULL;
}

// Two lists as one, by number.
static void merge_sessions(void *ctx, struct session *into, struct session *from) {
    struct session_tvf *t = ctx;
    struct row_list *a = rows_of(into), *b = rows_of(from), *merged = list_new(t);
    list_reserve(t, merged, a->len + b->len);
    merged->has_evicted = a->has_evicted || b->has_evicted;
    size_t at_a = 0, at_b = 0;
    while (at_a < a->len || at_b < b->len) {
        uint64_t number_a = UINT64_MAX, number_b = UINT64_MAX;
        size_t next_a = at_a, next_b = at_b;
        struct str row_a = {0}, row_b = {0};
        if (at_a < a->len) row_a = list_row(a, &next_a, &number_a);
        if (at_b < b->len) row_b = list_row(b, &next_b, &number_b);
        if (number_a < number_b) {
            list_append(t, merged, number_a, row_a);
            at_a = next_a;
        } else {
            list_append(t, merged, number_b, row_b);
            at_b = next_b;
        }
    }
    list_free(t, a);
    into->payload = (unsigned char *)merged;
}

static void state_key(const struct session *session, uint64_t number, struct strbuf *out) {
    tide__strbuf_clear(out);
    if (session->key->len > 0) tide__strbuf_append(out, session->key->bytes, session->key->len);
    char bytes[8];
    tide__key_put_time(bytes, (int64_t)number);
    tide__strbuf_append(out, bytes, sizeof bytes);
}

// Rows stay in the state table when sessions merge: only their number names them. They are deleted when they leave.
static void forget(void *ctx, struct session *session) {
    (void)ctx, (void)session;
}

// --- rows -------------------------------------------------------------------------------------------------------

static void add_row(struct session_tvf *t, const struct batch *batch, size_t row, struct str key, int64_t time) {
    int64_t local = tide__window_local(&t->cut, time);
    struct session *session = tide__session_for_row(&t->sessions, &t->cut, key, tide__hash_bytes(key.data, key.len),
                                                    local, t->base.base.watermark);
    if (session == NULL) {
        tide__late_row(&t->base.base, t->late, batch, row, local, local + t->sessions.gap);
        return;
    }
    if (session->payload == NULL) session->payload = (unsigned char *)list_new(t);
    if (t->table != NULL) tide__session_mark_dirty(&t->sessions, session);
    tide__strbuf_clear(&t->row);
    tide__row_append(batch, row, &t->row);
    list_append(t, rows_of(session), t->next_number++, tide__strbuf_str(&t->row));
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input, (void)out;
    struct session_tvf *t = session_tvf(op);
    size_t n = batch->rows;
    if (n == 0) return TIDE_OK;
    tide__arena_reset(&t->scratch);
    struct str *keys = ARENA_ARRAY(&t->scratch, struct str, n);
    if (t->window->partition_count > 0)
        tide__key_encode(batch, t->window->partitions, t->window->partition_count, (struct str){"", 0}, &t->scratch,
                         keys);
    const struct column *column = &batch->columns[t->window->time_column];
    const int64_t *times = tide__window_times(column, n, &t->scratch);
    for (size_t i = 0; i < n; i++) {
        if (tide__column_is_null(column, i)) {
            if (t->skip_null_time) continue;
            tide__fail_at(err, TIDE_ERR_RUNTIME, t->window->pos, "the time attribute of a row is NULL");
            return tide__fail_hint(err,
                                   "filter such rows out before the window, or give the column a default in a view");
        }
        add_row(t, batch, i, keys[i], times[i]);
    }
    op->stats.windows_open = t->sessions.session_count;
    return TIDE_OK;
}

// --- firing -----------------------------------------------------------------------------------------------------

static void start_result(struct session_tvf *t) {
    tide__arena_reset(&t->output);
    t->result = (struct batch){.column_count = t->node->field_count};
    t->result.columns = ARENA_ARRAY(&t->output, struct column, t->result.column_count);
    for (uint32_t i = 0; i < t->node->field_count; i++) {
        tide__column_init(&t->result.columns[i], t->node->fields[i].type, t->batch_rows_max,
                          i + 3 < t->node->field_count, &t->output);
    }
}

static tide_status flush_result(struct session_tvf *t, struct emitter *out, tide_error *err) {
    if (t->result.rows > 0) TIDE_TRY(tide__emit(out, &t->result, err));
    start_result(t);
    return TIDE_OK;
}

static void set_time(struct column *column, size_t row, int64_t ms) {
    if (column->physical == PHYSICAL_TIME) {
        column->time[row] = (struct timestamp){ms, 0};
    } else {
        column->i64[row] = ms;
    }
}

static tide_status damaged(tide_error *err) {
    return tide__fail(err, TIDE_ERR_RUNTIME, "the state of a session is damaged: a row cannot be read");
}

// The row was decoded behind the others of the result: it is one of them now.
static tide_status add_result(struct session_tvf *t, const struct session *session, struct emitter *out,
                              tide_error *err) {
    size_t to = t->result.rows++, inputs = t->result.column_count - 3;
    int64_t end = tide__session_end(&t->sessions, session);
    set_time(&t->result.columns[inputs], to, session->start);
    set_time(&t->result.columns[inputs + 1], to, end);
    set_time(&t->result.columns[inputs + 2], to, tide__window_time(&t->cut, end));
    return t->result.rows == t->batch_rows_max ? flush_result(t, out, err) : TIDE_OK;
}

static bool is_in_session(const struct session_tvf *t, const struct session *session) {
    const struct column *column = &t->result.columns[t->window->time_column];
    size_t row = t->result.rows;
    if (tide__column_is_null(column, row)) return false;
    int64_t local = tide__window_local(&t->cut,
                                       column->physical == PHYSICAL_TIME ? column->time[row].ms : column->i64[row]);
    return local >= session->start && local <= session->last;
}

static tide_status emit_entry(struct session_tvf *t, const struct session *session, struct str key, struct str value,
                              struct emitter *out, tide_error *err) {
    struct str row;
    if (!field_get_bytes(&value, &row)) return damaged(err);
    row.data = tide__arena_strndup(&t->output, row.data, row.len);
    if (!tide__row_decode(row, t->result.columns, t->result.column_count - 3, t->result.rows)) return damaged(err);
    if (!is_in_session(t, session)) return TIDE_OK;
    tide__state_delete(t->table, key);
    return add_result(t, session, out, err);
}

static tide_status emit_evicted(struct session_tvf *t, const struct session *session, struct emitter *out,
                                tide_error *err) {
    struct strbuf lower = {0}, upper = {0};
    state_key(session, 0, &lower);
    state_key(session, t->evicted_number, &upper);
    struct state_iter *iter;
    tide_status status = tide__state_iter_open_flushed(t->table, tide__strbuf_str(&lower), tide__strbuf_str(&upper),
                                                       &iter, err);
    if (status == TIDE_OK) {
        struct str key, value;
        while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value))
            status = emit_entry(t, session, key, value, out, err);
        tide_status closed = tide__state_iter_close(iter, err);
        if (status == TIDE_OK) status = closed;
    }
    tide__strbuf_deinit(&lower);
    tide__strbuf_deinit(&upper);
    return status;
}

static tide_status emit_session(struct session_tvf *t, struct session *session, struct emitter *out, tide_error *err) {
    const struct row_list *list = rows_of(session);
    struct strbuf key = {0};
    tide_status status = list->has_evicted ? emit_evicted(t, session, out, err) : TIDE_OK;
    for (size_t at = 0; at < list->len && status == TIDE_OK;) {
        uint64_t number;
        struct str row = list_row(list, &at, &number);
        if (!tide__row_decode(row, t->result.columns, t->result.column_count - 3, t->result.rows)) {
            status = damaged(err);
            break;
        }
        if (number < t->saved_number) {
            state_key(session, number, &key);
            tide__state_delete(t->table, tide__strbuf_str(&key));
        }
        status = add_result(t, session, out, err);
    }
    tide__strbuf_deinit(&key);
    return status;
}

static tide_status on_watermark(struct operator *op, int64_t watermark, struct emitter *out, tide_error *err) {
    struct session_tvf *t = session_tvf(op);
    size_t count = 0;
    struct session **ended = tide__session_take_ended(&t->sessions, &t->cut, watermark, &count);
    tide_status status = TIDE_OK;
    if (count > 0) start_result(t);
    for (size_t i = 0; i < count && status == TIDE_OK; i++) status = emit_session(t, ended[i], out, err);
    if (count > 0 && status == TIDE_OK) status = flush_result(t, out, err);
    for (size_t i = 0; i < count; i++) tide__session_release(&t->sessions, ended[i]);
    tide__free(ended);
    op->stats.windows_fired += count;
    op->stats.windows_open = t->sessions.session_count;
    return status;
}

static int64_t next_trigger(const struct operator *op, int64_t earliest) {
    const struct session_tvf *t = (const struct session_tvf *)(const void *)op;
    int64_t least = op->watermark == INT64_MAX ? INT64_MAX : op->watermark + 1;
    int64_t trigger = earliest > least ? earliest : least;
    if (t->cut.zone == NULL && trigger < INT64_MAX - t->sessions.gap) trigger += t->sessions.gap - 1;
    int64_t open = tide__session_next_trigger(&t->sessions, &t->cut);
    if (open < trigger) trigger = open;
    return trigger > least ? trigger : least;
}

// --- state ------------------------------------------------------------------------------------------------------

static void put_rows(struct session_tvf *t) {
    struct strbuf key = {0}, value = {0};
    for (size_t i = 0; i < t->sessions.dirty_count; i++) {
        struct session *session = t->sessions.dirty[i];
        const struct row_list *list = rows_of(session);
        for (size_t at = 0; at < list->len;) {
            uint64_t number;
            struct str row = list_row(list, &at, &number);
            if (number < t->saved_number) continue;
            state_key(session, number, &key);
            tide__strbuf_clear(&value);
            field_put_bytes(&value, row.data, row.len);
            tide__state_put(t->table, tide__strbuf_str(&key), tide__strbuf_str(&value));
        }
    }
    tide__session_clean(&t->sessions);
    t->saved_number = t->next_number;
    tide__strbuf_deinit(&key);
    tide__strbuf_deinit(&value);
}

static tide_status on_barrier(struct operator *op, tide_error *err) {
    (void)err;
    if (session_tvf(op)->table != NULL) put_rows(session_tvf(op));
    return TIDE_OK;
}

// The state table has all rows: none stays in memory.
static void let_rows_go(struct session_tvf *t) {
    for (size_t i = 0; i < t->sessions.slot_count; i++) {
        for (struct session_key *key = t->sessions.slots[i]; key != NULL; key = key->next) {
            for (struct session *session = key->sessions; session != NULL; session = session->next) {
                struct row_list *list = rows_of(session);
                list->has_evicted |= list->len > 0;
                list_clear(t, list);
            }
        }
    }
    t->evicted_number = t->next_number;
}

// Where sessions take most of the memory, there is nothing to be had.
static size_t shrink(struct operator *op, size_t bytes, tide_error *err) {
    (void)bytes;
    struct session_tvf *t = session_tvf(op);
    size_t held = t->row_bytes;
    if (t->table == NULL || held <= t->budget->limit / 16) return 0;
    put_rows(t);
    if (tide__state_flush(t->table, err) != TIDE_OK) return 0;
    let_rows_go(t);
    return held;
}

// The event time of an encoded row.
static bool row_time(struct session_tvf *t, struct str row, int64_t *out) {
    const struct column *column = &t->result.columns[t->window->time_column];
    if (!tide__row_decode(row, t->result.columns, t->result.column_count - 3, 0)) return false;
    if (tide__column_is_null(column, 0)) return false;
    *out = column->physical == PHYSICAL_TIME ? column->time[0].ms : column->i64[0];
    return true;
}

static tide_status restore_row(struct session_tvf *t, struct str key, struct str value, tide_error *err) {
    struct str row = {0};
    int64_t time = 0;
    bool ok = key.len >= 8 && field_get_bytes(&value, &row) && row_time(t, row, &time);
    if (!ok) return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state of a session is damaged: a row cannot be read");
    uint64_t number = (uint64_t)tide__key_get_time(key.data + key.len - 8);
    key.len -= 8;
    struct session *session = tide__session_for_row(&t->sessions, &t->cut, key, tide__hash_bytes(key.data, key.len),
                                                    tide__window_local(&t->cut, time), INT64_MIN);
    assert(session != NULL);
    if (session->payload == NULL) session->payload = (unsigned char *)list_new(t);
    rows_of(session)->has_evicted |= t->evicted_number != 0;
    if (t->evicted_number == 0) list_append(t, rows_of(session), number, row);
    if (number >= t->next_number) t->next_number = number + 1;
    return TIDE_OK;
}

static tide_status restore(struct operator *op, struct str saved, tide_error *err) {
    (void)saved;
    struct session_tvf *t = session_tvf(op);
    if (t->table == NULL) return TIDE_OK;
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(t->table, NULL, (struct str){"", 0}, (struct str){"", 0}, &iter, err));
    struct str key, value;
    tide_status status = TIDE_OK;
    start_result(t);
    // Keys ascend by (partition key, number): each session sees its rows in arrival order.
    while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value)) {
        status = restore_row(t, key, value, err);
        // From here on sessions only.
        if (t->evicted_number == 0 && t->budget != NULL && t->row_bytes > t->budget->limit / 2) t->evicted_number = 1;
    }
    tide_status closed = tide__state_iter_close(iter, err);
    t->saved_number = t->next_number;
    if (t->evicted_number != 0) let_rows_go(t);
    op->stats.windows_open = t->sessions.session_count;
    return status == TIDE_OK ? closed : status;
}

static tide_status register_table(struct session_tvf *t, const struct operator_env *env, tide_error *err) {
    if (env->store == NULL) return TIDE_OK;
    struct arena *arena = env->plan->arena;
    size_t key_count = t->window->partition_count + 1;
    struct state_field *keys = ARENA_ARRAY(arena, struct state_field, key_count);
    for (uint32_t i = 0; i < t->window->partition_count; i++) {
        const struct plan_field *field = &t->node->fields[t->window->partitions[i]];
        keys[i] = (struct state_field){field->name, tide__type_text(arena, field->type), STATE_FORM_BYTES, 0};
    }
    keys[key_count - 1] = (struct state_field){"row number", "BIGINT", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    struct state_field *values = ARENA_NEW(arena, struct state_field);
    const char *row = tide__row_type_text(t->node->fields, t->node->field_count - 3,
                                          arena);  // without the window's columns
    *values = (struct state_field){"row", row, STATE_FORM_BYTES, STATE_COMBINE_REPLACE};
    struct state_table_desc *desc = ARENA_NEW(arena, struct state_table_desc);
    *desc = (struct state_table_desc){
        .name = tide__arena_printf(arena, "%s.rows", t->node->operator_id),
        .operator_id = t->node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = key_count,
        .value_count = 1,
        .keys = keys,
        .values = values,
        .read_singly = true,
    };
    return tide__state_table(env->store, desc, &t->table, err);
}

static void close_operator(struct operator *op) {
    struct session_tvf *t = session_tvf(op);
    tide__session_store_deinit(&t->sessions);
    tide__strbuf_deinit(&t->row);
    tide__arena_deinit(&t->scratch);
    tide__arena_deinit(&t->output);
    tide__free(t);
}

static const struct operator_class session_class = {
    .kind = PLAN_WINDOW_TVF,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = on_barrier,
    .restore = restore,
    .shrink = shrink,
    .close = close_operator,
};

tide_status tide__session_tvf_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    *out = NULL;
    const struct window *window = &env->node->window_tvf.window;
    if (window->proctime)
        return tide__fail_at(err, TIDE_ERR_PLAN, window->pos, "SESSION windows over processing time are not supported");
    struct session_tvf *t = tide__calloc(1, sizeof *t);
    t->base.class = &session_class;
    t->base.base.node = env->node;
    t->base.base.watermark = WATERMARK_NONE;
    t->window = window;
    t->node = env->node;
    t->late = env->late;
    t->budget = env->budget;
    t->batch_rows_max = env->batch_rows_max;
    t->skip_null_time = env->plan->settings.batch_mode;
    t->cut = tide__window_cut(window, env->plan->settings.zone);
    struct session_owner owner = {merge_sessions, free_rows, forget, t};
    tide__session_store_init(&t->sessions, window->size_ms, env->budget, owner);
    tide__arena_init(&t->scratch);
    tide__arena_init(&t->output);
    tide_status status = register_table(t, env, err);
    if (status != TIDE_OK) {
        close_operator(&t->base.base);
        return status;
    }
    *out = &t->base.base;
    return TIDE_OK;
}
