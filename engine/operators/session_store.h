// Open sessions in memory: for each key the disjoint sessions in time order, and a heap of session ends.
//
// A session is the union of [t, t + gap] over its rows; sessions that touch are one (the gap met exactly still joins). What
// a session holds (accumulators, rows) is its owner's business.
#ifndef TIDE_ENGINE_OPERATORS_SESSION_STORE_H
#define TIDE_ENGINE_OPERATORS_SESSION_STORE_H

#include "base/str.h"
#include "engine/operators/window_assign.h"
#include "state/memtable.h"

struct session_key;

struct session {
    struct session *next;  // of the same key, later
    struct session_key *key;
    int64_t start, last;  // first and last row, wall clock; it ends at last + gap
    int64_t queued_end;   // what the heap knows: may be older than the real end, which only grows
    size_t dirty_at;      // 1 + index among the dirty ones; 0: unchanged since the last barrier
    bool is_dead;         // merged away or fired, but still in the heap
    bool is_saved;        // the state table has it, under saved_start and saved_part
    int64_t saved_start;
    uint64_t saved_part;
    unsigned char *payload;  // the owner's
};

struct session_key {
    struct session_key *next;  // of the same hash slot
    struct session *sessions;
    uint64_t hash;
    uint32_t len;
    uint32_t references;  // sessions, open or ended and not released yet
    char bytes[];
};

struct session_store;

struct session_owner {
    // `from` is later in time and goes away; `into` takes over what it holds.
    void (*merge)(void *ctx, struct session *into, struct session *from);
    void (*free_payload)(void *ctx, struct session *session);
    // The session leaves the store (merged or fired): forget it in the state table.
    void (*forget)(void *ctx, struct session *session);
    void *ctx;
};

struct session_store {
    int64_t gap;
    struct session_owner owner;
    struct memory_budget *budget;
    struct session_key **slots;
    size_t slot_count, key_count;  // slot_count is a power of two
    struct session **heap;         // by queued_end
    size_t heap_count, heap_cap;
    struct session **dirty;
    size_t dirty_count, dirty_cap;
    size_t session_count;
};

void tide__session_store_init(struct session_store *store, int64_t gap, struct memory_budget *budget,
                              struct session_owner owner);
void tide__session_store_deinit(struct session_store *store);
// The session that a row at `local` forms or joins, extended and merged as needed; its payload is NULL when it is new. NULL if
// the row is late: it joins no open session, and one of its own would have ended by `watermark`.
struct session *tide__session_for_row(struct session_store *store, const struct window_cut *cut, struct str key,
                                      uint64_t hash, int64_t local, int64_t watermark);
static inline int64_t tide__session_end(const struct session_store *store, const struct session *session) {
    return session->last + store->gap;
}
// The first session of a key, or NULL.
struct session *tide__session_first(struct session_store *store, struct str key, uint64_t hash);
// Puts in a session that is known as a whole, with its payload, which is taken. Sessions that it touches become one with it;
// then the result is dirty. Gives the session that holds it.
struct session *tide__session_adopt(struct session_store *store, struct str key, uint64_t hash,
                                    const struct session *from);
// Lets go of all sessions; none is told to be forgotten.
void tide__session_clear(struct session_store *store);
void tide__session_mark_dirty(struct session_store *store, struct session *session);
void tide__session_clean(struct session_store *store);  // none is dirty any more
// Takes out the sessions that have ended, in the order (end, start, key); they stay valid until tide__session_release. The
// array is allocated by tide__alloc.
struct session **tide__session_take_ended(struct session_store *store, const struct window_cut *cut, int64_t watermark,
                                          size_t *out_count);
void tide__session_release(struct session_store *store, struct session *session);
// A watermark that may end a session, or INT64_MAX.
int64_t tide__session_next_trigger(const struct session_store *store, const struct window_cut *cut);

#endif
