// What the files of the session aggregate share: session_aggregate.c (rows, firing), session_state.c (state, sessions that are
// not in memory).
#ifndef TIDE_ENGINE_OPERATORS_SESSION_AGGREGATE_H
#define TIDE_ENGINE_OPERATORS_SESSION_AGGREGATE_H

#include "engine/aggregates/aggregate.h"
#include "engine/operators/session_store.h"
#include "engine/operators/window.h"

// Sessions that only the state table has: whole ones or pieces.
struct session_spilled {
    size_t count;
    int64_t end_min;    // none of them ends earlier
    int64_t last_max;   // no row of them is later
    int64_t loose_end;  // sessions in memory that end earlier touch none of them
};

struct session_aggregate {
    struct window_operator base;
    const struct plan_window_aggregate *plan;
    const struct plan_node *node;
    struct late_sink *late;
    size_t batch_rows_max;
    bool skip_null_time;
    struct window_cut cut;
    struct aggregators aggregators;
    struct session_store sessions;
    struct memory_budget *budget;
    struct state_table *table;  // NULL: no state
    struct state_table *ended;  // sessions on their way out that memory has no room for
    bool can_spill;             // pieces of sessions can be added up in any order
    uint64_t part;              // of the sessions in memory: pieces of a session differ in it
    struct session_spilled spilled;
    bool has_ended;  // there are some in `ended`
    bool drops_all;  // the input has ended: the table goes as a whole
    struct arena scratch, output;
    // Rows of the batch at hand whose update is still to be made.
    const struct batch *batch;
    unsigned char **pending;
    uint32_t *pending_rows;
    size_t pending_count;
    int64_t extra;  // bytes that payloads own elsewhere, as charged
};

// A session that leaves.
struct session_result {
    struct str key;
    int64_t start, last;
    unsigned char *payload;
};

// --- session_aggregate.c
tide_status tide__session_emit(struct session_aggregate *a, const struct session_result *results, size_t n,
                               struct emitter *out, tide_error *err) TIDE_CHECKED;
unsigned char *tide__session_payload_new(struct session_aggregate *a);
void tide__session_payload_free(struct session_aggregate *a, unsigned char *payload);
void tide__session_charge(struct session_aggregate *a, int64_t bytes);

// --- session_state.c
tide_status tide__session_register(struct session_aggregate *a, const struct operator_env *env,
                                   tide_error *err) TIDE_CHECKED;
void tide__session_forget(void *ctx, struct session *session);
void tide__session_save(struct operator *op, struct strbuf *out);
tide_status tide__session_barrier(struct operator *op, tide_error *err) TIDE_CHECKED;
tide_status tide__session_restore(struct operator *op, struct str saved, tide_error *err) TIDE_CHECKED;
size_t tide__session_shrink(struct operator *op, size_t bytes, tide_error *err);

// A row at `local` has been added to a session in memory.
static inline void tide__session_row_added(struct session_aggregate *a, int64_t local) {
    struct session_spilled *s = &a->spilled;
    if (s->count > 0 && local < s->last_max && local + a->sessions.gap < s->loose_end)
        s->loose_end = local + a->sessions.gap;
}
// A row at `local` may belong to a spilled session.
static inline bool tide__session_may_touch(const struct session_aggregate *a, int64_t local) {
    return a->spilled.count > 0 && local <= a->spilled.last_max + a->sessions.gap;
}
// Brings the spilled sessions of a key into memory.
tide_status tide__session_load_key(struct session_aggregate *a, struct str key, tide_error *err) TIDE_CHECKED;
// Before sessions fire: those that end by the watermark are in memory afterwards, and whole, or in `ended` if they are too
// many: then the ones in memory fire first.
tide_status tide__session_settle(struct session_aggregate *a, int64_t watermark, tide_error *err) TIDE_CHECKED;
// Emits what is in `ended`, in order. After the last watermark nothing is left in the table.
tide_status tide__session_emit_ended(struct session_aggregate *a, struct emitter *out, tide_error *err) TIDE_CHECKED;

#endif
