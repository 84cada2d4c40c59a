#include "engine/operators/session_store.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// OVERHEAD: of a session, what the heap, the list of dirty ones, the hash slots and malloc take.
enum { SLOTS_FIRST = 64, OVERHEAD = 80 };

void tide__session_store_init(struct session_store *store, int64_t gap, struct memory_budget *budget,
                              struct session_owner owner) {
    *store = (struct session_store){.gap = gap, .budget = budget, .owner = owner};
    store->slot_count = SLOTS_FIRST;
    store->slots = tide__calloc(SLOTS_FIRST, sizeof *store->slots);
}

// --- keys -------------------------------------------------------------------------------------------------------

static size_t key_size(const struct session_key *key) {
    return sizeof *key + key->len;
}

static void grow_slots(struct session_store *store) {
    size_t count = store->slot_count * 2;
    struct session_key **slots = tide__calloc(count, sizeof *slots);
    for (size_t i = 0; i < store->slot_count; i++) {
        for (struct session_key *key = store->slots[i], *next; key != NULL; key = next) {
            next = key->next;
            struct session_key **slot = &slots[key->hash & (count - 1)];
            key->next = *slot;
            *slot = key;
        }
    }
    tide__free(store->slots);
    store->slots = slots;
    store->slot_count = count;
}

static struct session_key *find_key(struct session_store *store, struct str bytes, uint64_t hash) {
    for (struct session_key *key = store->slots[hash & (store->slot_count - 1)]; key != NULL; key = key->next) {
        if (key->hash != hash || key->len != bytes.len) continue;
        if (bytes.len == 0 || memcmp(key->bytes, bytes.data, bytes.len) == 0) return key;
    }
    return NULL;
}

static struct session_key *add_key(struct session_store *store, struct str bytes, uint64_t hash) {
    if (store->key_count >= store->slot_count) grow_slots(store);
    struct session_key *key = tide__alloc(sizeof *key + bytes.len);
    struct session_key **slot = &store->slots[hash & (store->slot_count - 1)];
    *key = (struct session_key){.next = *slot, .hash = hash, .len = (uint32_t)bytes.len};
    if (bytes.len > 0) memcpy(key->bytes, bytes.data, bytes.len);
    *slot = key;
    store->key_count++;
    tide__budget_charge(store->budget, key_size(key));
    return key;
}

static void remove_key(struct session_store *store, struct session_key *key) {
    struct session_key **slot = &store->slots[key->hash & (store->slot_count - 1)];
    while (*slot != key) slot = &(*slot)->next;
    *slot = key->next;
    store->key_count--;
    tide__budget_release(store->budget, key_size(key));
    tide__free(key);
}

// --- the heap of ends -------------------------------------------------------------------------------------------

static void sift_down(struct session_store *store, size_t at) {
    struct session **heap = store->heap, *moved = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= store->heap_count) break;
        if (child + 1 < store->heap_count && heap[child + 1]->queued_end < heap[child]->queued_end) child++;
        if (heap[child]->queued_end >= moved->queued_end) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void heap_push(struct session_store *store, struct session *session) {
    store->heap = tide__grow(store->heap, &store->heap_cap, store->heap_count + 1, sizeof *store->heap);
    size_t at = store->heap_count++;
    session->queued_end = tide__session_end(store, session);
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (store->heap[parent]->queued_end <= session->queued_end) break;
        store->heap[at] = store->heap[parent];
        at = parent;
    }
    store->heap[at] = session;
}

static void heap_pop(struct session_store *store) {
    store->heap[0] = store->heap[--store->heap_count];
    if (store->heap_count > 0) sift_down(store, 0);
}

// --- dirty sessions ---------------------------------------------------------------------------------------------

void tide__session_mark_dirty(struct session_store *store, struct session *session) {
    if (session->dirty_at != 0) return;
    store->dirty = tide__grow(store->dirty, &store->dirty_cap, store->dirty_count + 1, sizeof *store->dirty);
    store->dirty[store->dirty_count++] = session;
    session->dirty_at = store->dirty_count;
}

static void unmark(struct session_store *store, struct session *session) {
    if (session->dirty_at == 0) return;
    struct session *last = store->dirty[--store->dirty_count];
    store->dirty[session->dirty_at - 1] = last;
    last->dirty_at = session->dirty_at;
    session->dirty_at = 0;
}

void tide__session_clean(struct session_store *store) {
    for (size_t i = 0; i < store->dirty_count; i++) store->dirty[i]->dirty_at = 0;
    store->dirty_count = 0;
}

// --- sessions ---------------------------------------------------------------------------------------------------

static void free_session(struct session_store *store, struct session *session) {
    tide__budget_release(store->budget, sizeof *session + OVERHEAD);
    tide__free(session);
}

// Out of its key's list; freed when the heap lets go of it.
static void bury(struct session_store *store, struct session *session) {
    store->owner.forget(store->owner.ctx, session);
    unmark(store, session);
    struct session **at = &session->key->sessions;
    while (*at != session) at = &(*at)->next;
    *at = session->next;
    session->is_dead = true;
    store->session_count--;
}

static struct session *new_session(struct session_store *store, struct session_key *key, struct session **at,
                                   int64_t local) {
    struct session *session = tide__calloc(1, sizeof *session);
    tide__budget_charge(store->budget, sizeof *session + OVERHEAD);
    session->key = key;
    key->references++;
    session->start = session->last = local;
    session->next = *at;
    *at = session;
    store->session_count++;
    heap_push(store, session);
    return session;
}

// `later` follows `into` and touches it.
static void unite(struct session_store *store, struct session *into, struct session *later) {
    store->owner.merge(store->owner.ctx, into, later);
    if (later->last > into->last) into->last = later->last;
    bury(store, later);
    later->key->references--;
    store->owner.free_payload(store->owner.ctx, later);
}

struct session *tide__session_for_row(struct session_store *store, const struct window_cut *cut, struct str bytes,
                                      uint64_t hash, int64_t local, int64_t watermark) {
    int64_t end = tide__saturating_add(local, store->gap);
    struct session_key *key = find_key(store, bytes, hash);
    struct session **at = key == NULL ? NULL : &key->sessions;
    // The first session that does not end before the row.
    while (at != NULL && *at != NULL && tide__session_end(store, *at) < local) at = &(*at)->next;
    struct session *session = at == NULL ? NULL : *at;
    if (session == NULL || session->start > end) {
        if (tide__window_trigger(cut, end) <= watermark) return NULL;
        if (key == NULL) {
            key = add_key(store, bytes, hash);
            at = &key->sessions;
        }
        return new_session(store, key, at, local);
    }
    struct session *later = session->next;
    // The row closes the gap between two sessions; at most two touch it.
    if (later != NULL && later->start <= end) unite(store, session, later);
    if (local < session->start) session->start = local;
    if (local > session->last) session->last = local;
    return session;
}

struct session *tide__session_first(struct session_store *store, struct str bytes, uint64_t hash) {
    struct session_key *key = find_key(store, bytes, hash);
    return key == NULL ? NULL : key->sessions;
}

struct session *tide__session_adopt(struct session_store *store, struct str bytes, uint64_t hash,
                                    const struct session *from) {
    struct session_key *key = find_key(store, bytes, hash);
    if (key == NULL) key = add_key(store, bytes, hash);
    struct session **at = &key->sessions, *before = NULL;
    for (; *at != NULL && (*at)->start <= from->start; at = &(*at)->next) before = *at;
    struct session *session = new_session(store, key, at, from->start);
    session->last = from->last;
    session->payload = from->payload;
    session->is_saved = from->is_saved;
    session->saved_start = from->saved_start;
    session->saved_part = from->saved_part;
    bool united = false;
    if (before != NULL && tide__session_end(store, before) >= session->start) {
        unite(store, before, session);
        session = before;
        united = true;
    }
    while (session->next != NULL && session->next->start <= tide__session_end(store, session)) {
        unite(store, session, session->next);
        united = true;
    }
    if (united) tide__session_mark_dirty(store, session);
    return session;
}

static int compare_ended(const void *a, const void *b) {
    const struct session *left = *(struct session *const *)a, *right = *(struct session *const *)b;
    if (left->last != right->last) return left->last < right->last ? -1 : 1;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return tide__str_cmp((struct str){left->key->bytes, left->key->len},
                         (struct str){right->key->bytes, right->key->len});
}

struct session **tide__session_take_ended(struct session_store *store, const struct window_cut *cut, int64_t watermark,
                                          size_t *out_count) {
    struct session **ended = NULL;
    size_t count = 0, cap = 0;
    while (store->heap_count > 0) {
        struct session *session = store->heap[0];
        if (session->is_dead) {
            heap_pop(store);
            free_session(store, session);
            continue;
        }
        if (tide__window_trigger(cut, session->queued_end) > watermark) break;
        int64_t end = tide__session_end(store, session);
        if (end > session->queued_end) {
            session->queued_end = end;
            sift_down(store, 0);
            continue;
        }
        heap_pop(store);
        ended = tide__grow(ended, &cap, count + 1, sizeof *ended);
        ended[count++] = session;
    }
    if (count > 1) qsort(ended, count, sizeof *ended, compare_ended);
    for (size_t i = 0; i < count; i++) bury(store, ended[i]);
    *out_count = count;
    return ended;
}

void tide__session_release(struct session_store *store, struct session *session) {
    store->owner.free_payload(store->owner.ctx, session);
    if (--session->key->references == 0) remove_key(store, session->key);
    free_session(store, session);
}

int64_t tide__session_next_trigger(const struct session_store *store, const struct window_cut *cut) {
    return store->heap_count == 0 ? INT64_MAX : tide__window_trigger(cut, store->heap[0]->queued_end);
}

void tide__session_clear(struct session_store *store) {
    for (size_t i = 0; i < store->heap_count; i++) {
        if (!store->heap[i]->is_dead) store->owner.free_payload(store->owner.ctx, store->heap[i]);
        free_session(store, store->heap[i]);
    }
    for (size_t i = 0; i < store->slot_count; i++) {
        for (struct session_key *key = store->slots[i], *next; key != NULL; key = next) {
            next = key->next;
            tide__budget_release(store->budget, key_size(key));
            tide__free(key);
        }
    }
    tide__free(store->slots);
    tide__free(store->heap);
    tide__free(store->dirty);
    store->slots = tide__calloc(SLOTS_FIRST, sizeof *store->slots);
    store->slot_count = SLOTS_FIRST;
    store->heap = store->dirty = NULL;
    store->key_count = store->heap_count = store->heap_cap = 0;
    store->dirty_count = store->dirty_cap = store->session_count = 0;
}

void tide__session_store_deinit(struct session_store *store) {
    tide__session_clear(store);
    tide__free(store->slots);
}
