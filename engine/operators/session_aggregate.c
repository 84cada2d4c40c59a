// Aggregation over SESSION windows, one accumulator payload a session. The group keys are the session's keys.
//
// What is in memory and what in the state: session_state.c.
#include "engine/operators/session_aggregate.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"

#include <assert.h>
#include <string.h>

static struct session_aggregate *session_aggregate(struct operator *op) {
    return (struct session_aggregate *)(void *)op;
}

void tide__session_charge(struct session_aggregate *a, int64_t bytes) {
    a->extra += bytes;
    if (bytes > 0) tide__budget_charge(a->budget, (size_t)bytes);
    if (bytes < 0) tide__budget_release(a->budget, (size_t)-bytes);
}

// --- what sessions hold -----------------------------------------------------------------------------------------

static void flush_pending(struct session_aggregate *a) {
    if (a->pending_count == 0) return;
    tide__session_charge(a, tide__aggregators_update(&a->aggregators, a->batch, a->pending, a->pending_rows,
                                                     a->pending_count, &a->scratch));
    a->pending_count = 0;
}

// The place of a window in the small Java HashSet that Flink takes the merged sessions from: TimeWindow.hashCode, which has
// the inverse of 2 * end + 1 modulo 2^32, as HashMap spreads it.
static uint32_t bucket_of(int64_t start, int64_t end) {
    uint32_t odd = ((uint32_t)(uint64_t)end << 1) + 1;
    uint32_t inverse = odd * odd * odd;
    for (int i = 0; i < 3; i++) inverse *= 2 - odd * inverse;
    uint32_t hash = (uint32_t)(uint64_t)start + inverse;
    return (hash ^ hash >> 16) & 15;
}

// LISTAGG and sums of floating point show which session comes first. Of equal places the later session does: it went in first.
static void merge_sessions(void *ctx, struct session *into, struct session *from) {
    struct session_aggregate *a = ctx;
    flush_pending(a);
    uint32_t earlier = bucket_of(into->start, tide__session_end(&a->sessions, into));
    uint32_t later = bucket_of(from->start, tide__session_end(&a->sessions, from));
    if (later <= earlier) {
        unsigned char *payload = into->payload;
        into->payload = from->payload;
        from->payload = payload;
    }
    tide__session_charge(a, tide__aggregators_merge(&a->aggregators, into->payload, from->payload));
}

unsigned char *tide__session_payload_new(struct session_aggregate *a) {
    tide__budget_charge(a->budget, a->aggregators.payload_size);
    return tide__calloc(1, a->aggregators.payload_size + 1);
}

void tide__session_payload_free(struct session_aggregate *a, unsigned char *payload) {
    if (payload == NULL) return;
    tide__aggregators_release(payload, &a->aggregators);
    tide__free(payload);
    tide__budget_release(a->budget, a->aggregators.payload_size);
}

// The bytes that this payload owned elsewhere are not known one by one; they are given back in proportion.
static void free_payload(void *ctx, struct session *session) {
    struct session_aggregate *a = ctx;
    if (session->payload == NULL) return;
    if (a->extra > 0) tide__session_charge(a, -(a->extra / (int64_t)(a->sessions.session_count + 1)));
    tide__session_payload_free(a, session->payload);
    session->payload = NULL;
}

// --- rows -------------------------------------------------------------------------------------------------------

static tide_status add_row(struct session_aggregate *a, size_t row, struct str key, int64_t time, tide_error *err) {
    int64_t local = tide__window_local(&a->cut, time);
    uint64_t hash = tide__hash_bytes(key.data, key.len);
    int64_t watermark = a->base.base.watermark;
    struct session *session = tide__session_for_row(&a->sessions, &a->cut, key, hash, local, watermark);
    if (session == NULL && tide__session_may_touch(a, local)) {
        TIDE_TRY(tide__session_load_key(a, key, err));
        session = tide__session_for_row(&a->sessions, &a->cut, key, hash, local, watermark);
    }
    if (session == NULL) {
        tide__late_row(&a->base.base, a->late, a->batch, row, local, local + a->sessions.gap);
        return TIDE_OK;
    }
    if (session->payload == NULL) session->payload = tide__session_payload_new(a);
    tide__session_row_added(a, local);
    if (a->table != NULL) tide__session_mark_dirty(&a->sessions, session);
    a->pending[a->pending_count] = session->payload;
    a->pending_rows[a->pending_count++] = (uint32_t)row;
    return TIDE_OK;
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input, (void)out;
    struct session_aggregate *a = session_aggregate(op);
    size_t n = batch->rows;
    if (n == 0) return TIDE_OK;
    tide__arena_reset(&a->scratch);
    a->batch = batch;
    a->pending = tide__arena_alloc(&a->scratch, n * sizeof *a->pending);
    a->pending_rows = tide__arena_alloc(&a->scratch, n * sizeof *a->pending_rows);
    a->pending_count = 0;
    struct str *keys = ARENA_ARRAY(&a->scratch, struct str, n);
    if (a->plan->key_count > 0)
        tide__key_encode(batch, a->plan->keys, a->plan->key_count, (struct str){"", 0}, &a->scratch, keys);
    const struct column *column = &batch->columns[a->plan->window.time_column];
    const int64_t *times = tide__window_times(column, n, &a->scratch);
    for (size_t i = 0; i < n; i++) {
        if (tide__column_is_null(column, i)) {
            if (a->skip_null_time) continue;
            tide__fail_at(err, TIDE_ERR_RUNTIME, a->plan->window.pos, "the time attribute of a row is NULL");
            return tide__fail_hint(err,
                                   "filter such rows out before the window, or give the column a default in a view");
        }
        TIDE_TRY(add_row(a, i, keys[i], times[i], err));
    }
    flush_pending(a);
    op->stats.windows_open = a->sessions.session_count + a->spilled.count;
    return TIDE_OK;
}

// --- firing -----------------------------------------------------------------------------------------------------

static int64_t property_of(const struct session_aggregate *a, enum window_property property,
                           const struct session_result *result) {
    int64_t end = result->last + a->sessions.gap;
    switch (property) {
    case WINDOW_PROPERTY_START: return result->start;
    case WINDOW_PROPERTY_END: return end;
    case WINDOW_PROPERTY_TIME: return tide__window_time(&a->cut, end);
    }
    return 0;
}

static void fill_properties(struct session_aggregate *a, struct column *columns, const struct session_result *results,
                            size_t n) {
    for (uint32_t p = 0; p < a->plan->property_count; p++) {
        for (size_t i = 0; i < n; i++) {
            int64_t ms = property_of(a, a->plan->properties[p], &results[i]);
            if (columns[p].physical == PHYSICAL_TIME) {
                columns[p].time[i] = (struct timestamp){ms, 0};
            } else {
                columns[p].i64[i] = ms;
            }
        }
    }
}

tide_status tide__session_emit(struct session_aggregate *a, const struct session_result *results, size_t n,
                               struct emitter *out, tide_error *err) {
    tide__arena_reset(&a->output);
    const struct plan_window_aggregate *plan = a->plan;
    uint32_t first_property = plan->key_count + plan->aggregate_count;
    struct batch batch = {.rows = n, .column_count = a->node->field_count};
    batch.columns = ARENA_ARRAY(&a->output, struct column, batch.column_count);
    for (uint32_t i = 0; i < batch.column_count; i++)
        tide__column_init(&batch.columns[i], a->node->fields[i].type, n, i < first_property, &a->output);
    unsigned char **payloads = tide__arena_alloc(&a->output, n * sizeof *payloads);
    for (size_t i = 0; i < n; i++) {
        struct str key = results[i].key;
        for (uint32_t k = 0; k < plan->key_count; k++) {
            if (!tide__key_decode(&key, &a->output, &batch.columns[k], i))
                return tide__fail(err, TIDE_ERR_RUNTIME, "the state of a session is damaged: a key cannot be read");
        }
        payloads[i] = results[i].payload;
    }
    tide__aggregators_result(&a->aggregators, payloads, n, batch.columns + plan->key_count, &a->output);
    fill_properties(a, batch.columns + first_property, results, n);
    a->base.base.stats.windows_fired += n;
    return tide__emit(out, &batch, err);
}

static tide_status emit_sessions(struct session_aggregate *a, struct session *const *sessions, size_t count,
                                 struct emitter *out, tide_error *err) {
    struct session_result *results = tide__alloc(a->batch_rows_max * sizeof *results);
    tide_status status = TIDE_OK;
    for (size_t from = 0, n = 0; from < count && status == TIDE_OK; from += n) {
        n = count - from < a->batch_rows_max ? count - from : a->batch_rows_max;
        for (size_t i = 0; i < n; i++) {
            const struct session *session = sessions[from + i];
            results[i] = (struct session_result){
                {session->key->bytes, session->key->len}, session->start, session->last, session->payload};
        }
        status = tide__session_emit(a, results, n, out, err);
    }
    tide__free(results);
    return status;
}

static tide_status on_watermark(struct operator *op, int64_t watermark, struct emitter *out, tide_error *err) {
    struct session_aggregate *a = session_aggregate(op);
    TIDE_TRY(tide__session_settle(a, watermark, err));
    size_t count = 0;
    struct session **ended = tide__session_take_ended(&a->sessions, &a->cut, watermark, &count);
    tide_status status = emit_sessions(a, ended, count, out, err);
    for (size_t i = 0; i < count; i++) tide__session_release(&a->sessions, ended[i]);
    tide__free(ended);
    TIDE_TRY(status);
    TIDE_TRY(tide__session_emit_ended(a, out, err));
    op->stats.windows_open = a->sessions.session_count + a->spilled.count;
    return TIDE_OK;
}

static int64_t next_trigger(const struct operator *op, int64_t earliest) {
    const struct session_aggregate *a = (const struct session_aggregate *)(const void *)op;
    int64_t least = op->watermark == INT64_MAX ? INT64_MAX : op->watermark + 1;
    int64_t time = earliest > least ? earliest : least;
    // A row to come ends its session a gap later; with a time zone the wall clock may jump by some hours.
    int64_t trigger = time;
    if (a->cut.zone == NULL && time < INT64_MAX - a->sessions.gap) trigger = time + a->sessions.gap - 1;
    int64_t open = tide__session_next_trigger(&a->sessions, &a->cut);
    if (open < trigger) trigger = open;
    if (a->spilled.count > 0) {
        int64_t spilled = tide__window_trigger(&a->cut, a->spilled.end_min);
        if (spilled < trigger) trigger = spilled;
    }
    return trigger > least ? trigger : least;
}

static void close_operator(struct operator *op) {
    struct session_aggregate *a = session_aggregate(op);
    tide__session_store_deinit(&a->sessions);
    tide__session_charge(a, -a->extra);
    tide__arena_deinit(&a->scratch);
    tide__arena_deinit(&a->output);
    tide__free(a);
}

static const struct operator_class session_class = {
    .kind = PLAN_WINDOW_AGGREGATE,
    .on_batch = on_batch,
    .on_watermark = on_watermark,
    .next_trigger = next_trigger,
    .on_barrier = tide__session_barrier,
    .save = tide__session_save,
    .restore = tide__session_restore,
    .shrink = tide__session_shrink,
    .close = close_operator,
};

tide_status tide__session_aggregate_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    *out = NULL;
    const struct plan_window_aggregate *plan = &env->node->window_aggregate;
    if (plan->window.proctime)
        return tide__fail_at(err, TIDE_ERR_PLAN, plan->window.pos,
                             "SESSION windows over processing time are not supported");
    struct session_aggregate *a = tide__calloc(1, sizeof *a);
    a->base.class = &session_class;
    a->base.base.node = env->node;
    a->base.base.watermark = WATERMARK_NONE;
    a->plan = plan;
    a->node = env->node;
    a->late = env->late;
    a->budget = env->budget;
    a->batch_rows_max = env->batch_rows_max;
    a->skip_null_time = env->plan->settings.batch_mode;
    a->cut = tide__window_cut(&plan->window, env->plan->settings.zone);
    struct session_owner owner = {merge_sessions, free_payload, tide__session_forget, a};
    tide__session_store_init(&a->sessions, plan->window.size_ms, env->budget, owner);
    tide__arena_init(&a->scratch);
    tide__arena_init(&a->output);
    tide_status status = tide__aggregators_bind(&a->aggregators, plan->aggregates, plan->aggregate_count, false,
                                                env->plan->arena, err);
    if (status == TIDE_OK) status = tide__session_register(a, env, err);
    if (status != TIDE_OK) {
        close_operator(&a->base.base);
        return status;
    }
    *out = &a->base.base;
    return TIDE_OK;
}
