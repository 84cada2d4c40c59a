// The session aggregate and its state table, and sessions that memory has no room for.
//
// The table is keyed (group key, session start, part): the session's last row time and its accumulators, whole. Changed
// sessions are written at a barrier; a session that merged or fired is deleted.
//
// When memory is short, all sessions are written and forgotten (*spilled*), and nothing is read back for rows to come: they
// begin new pieces in memory, whose `part` is the next number. When the earliest spilled end is due, one pass over the table
// puts pieces together (*settles*): the sessions that end soonest come back to memory, as many as may, and fire from there;
// those due beyond them go through a second table that sorts them by (end, start, key). Only a row that would be late
// looks for spilled sessions of its key at once. Pieces are added up in any order, so only operators whose aggregates
// allow that spill; the others keep all sessions in memory.
#include "engine/operators/session_aggregate.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/key.h"

#include <assert.h>
#include <string.h>

// SESSION_BYTES: about what one takes in memory, with what points at it. DROP_STEP: of the table, let go of at a time at the end.
enum { KEY_TAIL = 16, SESSION_BYTES = 320, DROP_STEP = 16 << 20 };

static struct session_aggregate *self(struct operator *op) {
    return (struct session_aggregate *)(void *)op;
}

static tide_status fail_damaged(tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state of a session is damaged");
}

// --- the table --------------------------------------------------------------------------------------------------

static bool adds_up(const struct aggregator *a) {
    if (a->inner != NULL) return !a->multiset && adds_up(a->inner);
    for (size_t i = 0; i < a->kernel->field_count; i++) {
        enum state_combiner combiner = a->kernel->fields[i].combiner;
        if (combiner != STATE_COMBINE_ADD && combiner != STATE_COMBINE_MIN && combiner != STATE_COMBINE_MAX)
            return false;
    }
    return a->kernel->combinable;
}

static tide_status register_ended(struct session_aggregate *a, struct state_store *store, struct arena *arena,
                                  const struct state_table_desc *sessions, tide_error *err) {
    struct state_table_desc *desc = ARENA_NEW(arena, struct state_table_desc);
    *desc = *sessions;
    desc->name = tide__arena_printf(arena, "%s.ended", a->node->operator_id);
    desc->key_count = 0;  // (end, start, group key)
    desc->scanned_once = true;
    return tide__state_table(store, desc, &a->ended, err);
}

tide_status tide__session_register(struct session_aggregate *a, const struct operator_env *env, tide_error *err) {
    if (env->store == NULL) return TIDE_OK;
    struct arena *arena = env->plan->arena;
    size_t key_count = a->plan->key_count + 1, value_count = a->aggregators.field_count + 1;
    struct state_field *keys = ARENA_ARRAY(arena, struct state_field, key_count);
    for (uint32_t i = 0; i < a->plan->key_count; i++) {
        const struct plan_field *field = &a->node->fields[i];
        keys[i] = (struct state_field){field->name, tide__type_text(arena, field->type), STATE_FORM_BYTES, 0};
    }
    keys[key_count - 1] = (struct state_field){"window_start", "TIMESTAMP(3)", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    struct state_field *values = ARENA_ARRAY(arena, struct state_field, value_count);
    values[0] = (struct state_field){"last row", "TIMESTAMP(3)", STATE_FORM_I64, STATE_COMBINE_REPLACE};
    for (size_t i = 1; i < value_count; i++) values[i] = a->aggregators.fields[i - 1];
    struct state_table_desc *desc = ARENA_NEW(arena, struct state_table_desc);
    *desc = (struct state_table_desc){
        .name = tide__arena_printf(arena, "%s.sessions", a->node->operator_id),
        .operator_id = a->node->operator_id,
        .kind = STATE_TABLE_KEYED,
        .key_count = key_count,
        .value_count = value_count,
        .keys = keys,
        .values = values,
    };
    TIDE_TRY(tide__state_table(env->store, desc, &a->table, err));
    a->can_spill = true;
    for (uint32_t i = 0; i < a->aggregators.count; i++) a->can_spill &= adds_up(&a->aggregators.items[i]);
    return a->can_spill ? register_ended(a, env->store, arena, desc, err) : TIDE_OK;
}

static void put_u64(struct strbuf *out, uint64_t v) {
    char bytes[8];
    tide__key_put_time(bytes, (int64_t)v);
    tide__strbuf_append(out, bytes, sizeof bytes);
}

static void state_key(struct str key, int64_t start, uint64_t part, struct strbuf *out) {
    tide__strbuf_clear(out);
    if (key.len > 0) tide__strbuf_append(out, key.data, key.len);
    put_u64(out, (uint64_t)start);
    put_u64(out, part);
}

static struct str key_of(const struct session *session) {
    return (struct str){session->key->bytes, session->key->len};
}

static void delete_entry(struct session_aggregate *a, struct str key, int64_t start, uint64_t part) {
    struct strbuf bytes = {0};
    state_key(key, start, part, &bytes);
    tide__state_delete(a->table, tide__strbuf_str(&bytes));
    tide__strbuf_deinit(&bytes);
}

void tide__session_forget(void *ctx, struct session *session) {
    if (!session->is_saved) return;
    delete_entry(ctx, key_of(session), session->saved_start, session->saved_part);
    session->is_saved = false;
}

static void put_entry(struct session_aggregate *a, struct str key, const struct session *session, struct strbuf *bytes,
                      struct strbuf *value) {
    state_key(key, session->saved_start, session->saved_part, bytes);
    tide__strbuf_clear(value);
    field_put_i64(value, session->last);
    tide__aggregators_encode(&a->aggregators, session->payload, value);
    tide__state_put(a->table, tide__strbuf_str(bytes), tide__strbuf_str(value));
}

static void write_session(struct session_aggregate *a, struct session *session, struct strbuf *bytes,
                          struct strbuf *value) {
    if (session->is_saved && session->saved_start != session->start) tide__session_forget(a, session);
    if (!session->is_saved) {
        session->is_saved = true;
        session->saved_start = session->start;
        session->saved_part = a->part;
    }
    put_entry(a, key_of(session), session, bytes, value);
}

tide_status tide__session_barrier(struct operator *op, tide_error *err) {
    (void)err;
    struct session_aggregate *a = self(op);
    if (a->table == NULL) return TIDE_OK;
    struct strbuf bytes = {0}, value = {0};
    for (size_t i = 0; i < a->sessions.dirty_count; i++) write_session(a, a->sessions.dirty[i], &bytes, &value);
    tide__session_clean(&a->sessions);
    tide__strbuf_deinit(&bytes);
    tide__strbuf_deinit(&value);
    return TIDE_OK;
}

// Takes an entry apart; *value is left with the accumulators.
static bool parse_entry(struct str *key, struct str *value, struct session *out) {
    if (key->len < KEY_TAIL) return false;
    key->len -= KEY_TAIL;
    *out = (struct session){.is_saved = true};
    out->start = out->saved_start = tide__key_get_time(key->data + key->len);
    out->saved_part = (uint64_t)tide__key_get_time(key->data + key->len + 8);
    return field_get_i64(value, &out->last) && out->last >= out->start;
}

static unsigned char *decode_payload(struct session_aggregate *a, struct str value) {
    unsigned char *payload = tide__session_payload_new(a);
    int64_t bytes = 0;
    bool ok = tide__aggregators_decode(&a->aggregators, value, payload, &bytes);
    tide__session_charge(a, bytes);
    if (ok) return payload;
    tide__session_payload_free(a, payload);
    return NULL;
}

// --- spilling ---------------------------------------------------------------------------------------------------

static const struct session_spilled nothing = {.end_min = INT64_MAX, .last_max = INT64_MIN, .loose_end = INT64_MAX};

static void note_spilled(struct session_aggregate *a, const struct session *session) {
    struct session_spilled *s = &a->spilled;
    if (s->count++ == 0) *s = nothing, s->count = 1;
    int64_t end = tide__session_end(&a->sessions, session);
    if (end < s->end_min) s->end_min = end;
    if (session->last > s->last_max) s->last_max = session->last;
}

static size_t spill(struct session_aggregate *a) {
    struct strbuf bytes = {0}, value = {0};
    size_t freed = 0;
    for (size_t i = 0; i < a->sessions.heap_count; i++) {
        struct session *session = a->sessions.heap[i];
        if (session->is_dead) continue;
        if (session->dirty_at != 0 || !session->is_saved) write_session(a, session, &bytes, &value);
        note_spilled(a, session);
        tide__session_payload_free(a, session->payload);
        session->payload = NULL;
        freed += SESSION_BYTES;
    }
    tide__strbuf_deinit(&bytes);
    tide__strbuf_deinit(&value);
    tide__session_clear(&a->sessions);
    tide__session_charge(a, -a->extra);
    a->part++;
    a->spilled.loose_end = INT64_MAX;
    return freed;
}

size_t tide__session_shrink(struct operator *op, size_t bytes, tide_error *err) {
    (void)bytes, (void)err;
    struct session_aggregate *a = self(op);
    return a->can_spill && a->sessions.session_count > 0 ? spill(a) : 0;
}

static bool is_in_memory(struct session_aggregate *a, struct str key, uint64_t hash, const struct session *piece) {
    const struct session *session = tide__session_first(&a->sessions, key, hash);
    for (; session != NULL; session = session->next) {
        if (session->is_saved && session->saved_start == piece->saved_start && session->saved_part == piece->saved_part)
            return true;
    }
    return false;
}

struct pieces {
    struct session *items;
    size_t count, cap;
};

// The pieces of a key that memory does not have. Later ones are not told from what the first ones become once they are in
// memory: hence all of them at once.
static tide_status find_pieces(struct session_aggregate *a, struct str key, uint64_t hash, struct pieces *out,
                               tide_error *err) {
    struct strbuf upper = {0};
    if (key.len > 0) tide__strbuf_append(&upper, key.data, key.len);
    for (size_t i = 0; i <= KEY_TAIL; i++) tide__strbuf_append_char(&upper, (char)0xFF);
    struct state_iter *iter = NULL;
    tide_status status = tide__state_iter_open(a->table, NULL, key, tide__strbuf_str(&upper), &iter, err);
    tide__strbuf_deinit(&upper);
    TIDE_TRY(status);
    struct str bytes, value;
    while (status == TIDE_OK && tide__state_iter_next(iter, &bytes, &value)) {
        struct session piece;
        bool ok = parse_entry(&bytes, &value, &piece);
        if (ok && is_in_memory(a, key, hash, &piece)) continue;
        piece.payload = ok ? decode_payload(a, value) : NULL;
        if (piece.payload == NULL) {
            status = fail_damaged(err);
            break;
        }
        out->items = tide__grow(out->items, &out->cap, out->count + 1, sizeof *out->items);
        out->items[out->count++] = piece;
    }
    tide_status closed = tide__state_iter_close(iter, err);
    return status == TIDE_OK ? closed : status;
}

tide_status tide__session_load_key(struct session_aggregate *a, struct str key, tide_error *err) {
    struct pieces pieces = {0};
    uint64_t hash = tide__hash_bytes(key.data, key.len);
    tide_status status = find_pieces(a, key, hash, &pieces, err);
    for (size_t i = 0; i < pieces.count; i++) {
        if (status == TIDE_OK) {
            tide__session_adopt(&a->sessions, key, hash, &pieces.items[i]);
            a->spilled.count--;
        } else {
            tide__session_payload_free(a, pieces.items[i].payload);
        }
    }
    tide__free(pieces.items);
    return status;
}

// --- settling ---------------------------------------------------------------------------------------------------

// A session on its way to memory.
struct found {
    struct session session;
    struct str key;  // allocated
};

struct scan {
    struct session_aggregate *a;
    int64_t watermark;
    // The session being put together.
    bool any;
    struct session current;
    struct strbuf key;
    size_t pieces;
    size_t passed;  // bytes of entries since the last ones were let go of
    // A heap of those that end soonest, the last of them on top.
    struct found *soonest;
    size_t count, cap, max;
    struct strbuf bytes, value;
};

static int compare_found(const struct session *a, struct str a_key, const struct session *b, struct str b_key) {
    if (a->last != b->last) return a->last < b->last ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return tide__str_cmp(a_key, b_key);
}

static bool is_after(const struct found *a, const struct found *b) {
    return compare_found(&a->session, a->key, &b->session, b->key) > 0;
}

static void sift_up(struct scan *scan, size_t at) {
    struct found moved = scan->soonest[at];
    while (at > 0 && is_after(&moved, &scan->soonest[(at - 1) / 2])) {
        scan->soonest[at] = scan->soonest[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    scan->soonest[at] = moved;
}

static void sift_down(struct scan *scan, size_t at) {
    struct found moved = scan->soonest[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= scan->count) break;
        if (child + 1 < scan->count && is_after(&scan->soonest[child + 1], &scan->soonest[child])) child++;
        if (!is_after(&scan->soonest[child], &moved)) break;
        scan->soonest[at] = scan->soonest[child];
        at = child;
    }
    scan->soonest[at] = moved;
}

// Memory has no room for it: it stays where it is, or goes to the other table if it is due.
static void put_aside(struct scan *scan, struct session *session, struct str key) {
    struct session_aggregate *a = scan->a;
    int64_t end = tide__session_end(&a->sessions, session);
    if (tide__window_trigger(&a->cut, end) > scan->watermark) {
        note_spilled(a, session);
    } else {
        tide__strbuf_clear(&scan->bytes);
        put_u64(&scan->bytes, (uint64_t)end);
        put_u64(&scan->bytes, (uint64_t)session->start);
        tide__strbuf_append(&scan->bytes, key.data, key.len);
        tide__strbuf_clear(&scan->value);
        field_put_i64(&scan->value, session->last);
        tide__aggregators_encode(&a->aggregators, session->payload, &scan->value);
        tide__state_put(a->ended, tide__strbuf_str(&scan->bytes), tide__strbuf_str(&scan->value));
        // At the end of the input the whole table goes.
        if (scan->watermark != WATERMARK_END) delete_entry(a, key, session->saved_start, session->saved_part);
        a->has_ended = true;
    }
    tide__session_payload_free(a, session->payload);
}

static void finish_session(struct scan *scan) {
    if (!scan->any) return;
    scan->any = false;
    struct session *session = &scan->current;
    struct str key = tide__strbuf_str(&scan->key);
    if (scan->pieces > 1 && scan->watermark != WATERMARK_END) {
        session->saved_start = session->start;
        session->saved_part = scan->a->part;
        put_entry(scan->a, key, session, &scan->bytes, &scan->value);
    }
    bool full = scan->count >= scan->max;
    if (full && compare_found(session, key, &scan->soonest[0].session, scan->soonest[0].key) > 0) {
        put_aside(scan, session, key);
        return;
    }
    struct found found = {*session, {tide__strndup(key.data == NULL ? "" : key.data, key.len), key.len}};
    if (full) {
        put_aside(scan, &scan->soonest[0].session, scan->soonest[0].key);
        tide__free((char *)(uintptr_t)scan->soonest[0].key.data);
        scan->soonest[0] = found;
        sift_down(scan, 0);
        return;
    }
    scan->soonest = tide__grow(scan->soonest, &scan->cap, scan->count + 1, sizeof *scan->soonest);
    scan->soonest[scan->count++] = found;
    sift_up(scan, scan->count - 1);
}

// Entries come by key and start: a piece belongs to the session at hand or begins the next.
static bool add_piece(struct scan *scan, struct str key, struct str value) {
    struct session_aggregate *a = scan->a;
    struct session piece, *current = &scan->current;
    if (!parse_entry(&key, &value, &piece)) return false;
    piece.payload = decode_payload(a, value);
    if (piece.payload == NULL) return false;
    bool joins = scan->any && tide__str_eq(key, tide__strbuf_str(&scan->key)) &&
                 piece.start <= tide__session_end(&a->sessions, current);
    if (!joins) {
        finish_session(scan);
        scan->any = true;
        scan->current = piece;
        scan->pieces = 1;
        tide__strbuf_clear(&scan->key);
        if (key.len > 0) tide__strbuf_append(&scan->key, key.data, key.len);
        return true;
    }
    if (scan->watermark != WATERMARK_END) {
        if (scan->pieces == 1) delete_entry(a, key, current->saved_start, current->saved_part);
        delete_entry(a, key, piece.saved_start, piece.saved_part);
    }
    scan->pieces++;
    tide__session_charge(a, tide__aggregators_merge(&a->aggregators, current->payload, piece.payload));
    tide__session_payload_free(a, piece.payload);
    if (piece.last > current->last) current->last = piece.last;
    return true;
}

static void take_soonest(struct scan *scan) {
    struct session_aggregate *a = scan->a;
    for (size_t i = 0; i < scan->count; i++) {
        struct found *found = &scan->soonest[i];
        tide__session_adopt(&a->sessions, found->key, tide__hash_bytes(found->key.data, found->key.len),
                            &found->session);
        tide__free((char *)(uintptr_t)found->key.data);
    }
    tide__free(scan->soonest);
}

// At the end of the input everything leaves: what has been read makes room for what is put aside. Goes on at `key`.
static tide_status let_go(struct scan *scan, struct state_iter **iter, struct str key, tide_error *err) {
    struct state_table *table = scan->a->table;
    struct strbuf from = {0};
    tide__strbuf_append_str(&from, key);
    tide_status status = tide__state_iter_close(*iter, err);
    *iter = NULL;
    struct str at = tide__strbuf_str(&from);
    if (status == TIDE_OK) status = tide__state_drop_range(table, (struct str){"", 0}, at, err);
    if (status == TIDE_OK) status = tide__state_iter_open(table, NULL, at, (struct str){"", 0}, iter, err);
    tide__strbuf_deinit(&from);
    scan->passed = 0;
    return status;
}

// Puts all pieces together, in key order. *out_ok: none was damaged.
static tide_status scan_pieces(struct scan *scan, bool *out_ok, tide_error *err) {
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(scan->a->table, NULL, (struct str){"", 0}, (struct str){"", 0}, &iter, err));
    struct str key, value;
    *out_ok = true;
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && *out_ok && tide__state_iter_next(iter, &key, &value)) {
        if (scan->passed >= DROP_STEP && scan->watermark == WATERMARK_END) {
            status = let_go(scan, &iter, key, err);
            continue;
        }
        scan->passed += key.len + value.len;
        *out_ok = add_piece(scan, key, value);
    }
    finish_session(scan);
    return status == TIDE_OK ? tide__state_iter_close(iter, err) : status;
}

static tide_status settle(struct session_aggregate *a, int64_t watermark, tide_error *err) {
    assert(a->sessions.session_count == 0);
    a->spilled = nothing;
    struct scan scan = {.a = a, .watermark = watermark, .max = SIZE_MAX};
    if (a->can_spill && a->budget != NULL)
        scan.max = a->budget->limit / 4 / (SESSION_BYTES + a->aggregators.payload_size) + 1;
    bool ok = true;
    tide_status status = scan_pieces(&scan, &ok, err);
    take_soonest(&scan);
    a->drops_all |= watermark == WATERMARK_END;
    tide__strbuf_deinit(&scan.key);
    tide__strbuf_deinit(&scan.bytes);
    tide__strbuf_deinit(&scan.value);
    a->part++;  // that one was for sessions made of pieces
    TIDE_TRY(status);
    return ok ? TIDE_OK : fail_damaged(err);
}

tide_status tide__session_settle(struct session_aggregate *a, int64_t watermark, tide_error *err) {
    const struct session_spilled *s = &a->spilled;
    if (s->count == 0) return TIDE_OK;
    int64_t first = s->loose_end < s->end_min ? s->loose_end : s->end_min;
    if (tide__window_trigger(&a->cut, first) > watermark) return TIDE_OK;
    spill(a);
    return settle(a, watermark, err);
}

static tide_status drop_all(struct state_table *table, tide_error *err) {
    char upper[KEY_TAIL];
    memset(upper, 0xFF, sizeof upper);
    return tide__state_drop_range(table, (struct str){"", 0}, (struct str){upper, sizeof upper}, err);
}

static tide_status emit_some(struct session_aggregate *a, struct session_result *results, size_t n, struct emitter *out,
                             tide_error *err) {
    tide_status status = tide__session_emit(a, results, n, out, err);
    for (size_t i = 0; i < n; i++) tide__session_payload_free(a, results[i].payload);
    tide__arena_reset(&a->scratch);
    return status;
}

static tide_status emit_ended(struct session_aggregate *a, struct emitter *out, tide_error *err) {
    struct state_iter *iter;
    TIDE_TRY(tide__state_iter_open(a->ended, NULL, (struct str){"", 0}, (struct str){"", 0}, &iter, err));
    struct session_result *results = tide__alloc(a->batch_rows_max * sizeof *results);
    struct str key, value;
    tide_status status = TIDE_OK;
    size_t n = 0;
    tide__arena_reset(&a->scratch);
    while (status == TIDE_OK && tide__state_iter_next(iter, &key, &value)) {
        struct session_result *result = &results[n];
        result->start = tide__key_get_time(key.data + 8);
        result->key.len = key.len - KEY_TAIL;
        result->key.data = tide__arena_strndup(&a->scratch, key.data + KEY_TAIL, result->key.len);
        bool ok = field_get_i64(&value, &result->last);
        result->payload = ok ? decode_payload(a, value) : NULL;
        if (result->payload == NULL) {
            status = fail_damaged(err);
            break;
        }
        if (++n < a->batch_rows_max) continue;
        status = emit_some(a, results, n, out, err);
        n = 0;
    }
    if (status == TIDE_OK && n > 0) status = emit_some(a, results, n, out, err);
    tide__free(results);
    tide_status closed = tide__state_iter_close(iter, err);
    TIDE_TRY(status == TIDE_OK ? closed : status);
    a->has_ended = false;
    return drop_all(a->ended, err);
}

tide_status tide__session_emit_ended(struct session_aggregate *a, struct emitter *out, tide_error *err) {
    if (a->has_ended) TIDE_TRY(emit_ended(a, out, err));
    if (!a->drops_all) return TIDE_OK;
    a->drops_all = false;
    return drop_all(a->table, err);
}

// --- resuming ---------------------------------------------------------------------------------------------------

void tide__session_save(struct operator *op, struct strbuf *out) {
    field_put_i64(out, (int64_t)self(op)->part);
}

tide_status tide__session_restore(struct operator *op, struct str saved, tide_error *err) {
    struct session_aggregate *a = self(op);
    if (a->table == NULL) return TIDE_OK;
    int64_t part = 0;
    if (saved.len > 0 && !field_get_i64(&saved, &part)) return fail_damaged(err);
    a->part = (uint64_t)part + 1;
    TIDE_TRY(settle(a, WATERMARK_NONE, err));
    op->stats.windows_open = a->sessions.session_count + a->spilled.count;
    return TIDE_OK;
}
