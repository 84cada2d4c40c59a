// Working copies of keyed state: in memory as far as there is room, in the state table beyond.
//
// A copy is a payload of fixed size under its key; what it points at is its owner's business. Copies live in two memtables, young
// and old. A key that is wanted is looked for in both, and moves from old to young; once something has been let go, one that is in
// neither is read from the state table. When memory is short, what changed is handed to the state table and the old ones are let
// go, all at once (the first time, all); the young ones are the old ones from then on. So a copy that is used now and then stays, at no
// cost a use, and a job that fits pays nothing.
//
//   wanted --> young <-- moves -- old,  or <-- read -- state table
//              young --(memory is short)--> old --(memory is short)--> state table
#ifndef TIDE_ENGINE_OPERATORS_KEYED_CACHE_H
#define TIDE_ENGINE_OPERATORS_KEYED_CACHE_H

#include "base/arena.h"
#include "base/error.h"
#include "state/memtable.h"

#include <stdbool.h>

struct keyed_owner {
    size_t payload_size;
    size_t dirty_at;  // offset of the payload's uint32_t for tide__keyed_mark_dirty, not 0; 0: there is none
    // A payload that is zeroed apart from that is one that nothing is known of. Tells a payload its key, which lives as long as the
    // payload does; again when it has moved.
    void (*place)(void *ctx, void *payload, struct str key);
    // A payload has been copied from `from`, which is zeroed after the call: what leads there must lead here now. Returns the bytes
    // that it owns, to be charged to its new table. NULL: nothing leads there, and the owner charges by itself.
    int64_t (*move)(void *ctx, void *payload, void *from);
    // Reads new payloads from the state table; keys ascend. Returns the bytes that they own in *out_charge.
    tide_status (*load)(void *ctx, void *const *payloads, const struct str *keys, size_t n, int64_t *out_charge,
                        tide_error *err);
    // Hands all that changed to the state table and flushes that (tide__state_flush: what is let go is then read without a look at what
    // is buffered later), and takes what must stay in memory out of the old ones (tide__keyed_keep). NULL: everything stays in
    // memory, and nothing moves.
    tide_status (*flush)(void *ctx, tide_error *err);
    void (*free)(void *payload, void *ctx);  // what a payload owns; a zeroed one owns nothing. NULL: none does
    bool charges;  // what payloads own is charged to the budget by the owner, not to their tables
    void *ctx;
};

struct keyed_cache {
    struct keyed_owner owner;
    struct memory_budget *budget;  // borrowed
    struct memtable *young, *old;  // old NULL: there are none
    bool spilled;                  // the state table may hold what is in neither
    void **dirty;                  // payloads that have changed since they were written; the owner empties the list
    size_t dirty_count, dirty_capacity;
};

void tide__keyed_init(struct keyed_cache *cache, struct memory_budget *budget, struct keyed_owner owner);
void tide__keyed_deinit(struct keyed_cache *cache);

// The payloads of n keys (duplicates allowed; hashes by tide__hash_bytes); they stay where they are until tide__keyed_find,
// _shrink or _sweep is called again. Scratch memory comes from the arena.
tide_status tide__keyed_find(struct keyed_cache *cache, const struct str *keys, const uint64_t *hashes, size_t n,
                             struct arena *arena, void **out_payloads, tide_error *err) TIDE_CHECKED;
// One that is not looked for in the state: while restoring, which goes through all of it.
void *tide__keyed_restore(struct keyed_cache *cache, struct str key);
// While restoring: true if enough is in memory; what comes after it is read when it is wanted.
bool tide__keyed_is_full(struct keyed_cache *cache);
// Charges memory that payloads own.
void tide__keyed_charge(struct keyed_cache *cache, int64_t bytes);
// Puts the payload into the list of dirty ones, if it is not there: its uint32_t is 1 + its place, and 0 again when the owner takes it out.
void tide__keyed_mark_dirty(struct keyed_cache *cache, void *payload);
// Memory is short: lets copies go. Returns the bytes that come free.
size_t tide__keyed_shrink(struct keyed_cache *cache, size_t bytes, tide_error *err);
// Within owner.flush: takes the payload out of the old ones, if it is there. Gives its place.
void *tide__keyed_keep(struct keyed_cache *cache, struct str key);
// Calls `visit` for each payload in memory, in no order. It may not look for keys.
void tide__keyed_each(struct keyed_cache *cache, void (*visit)(void *ctx, void *payload), void *ctx);
// Number of payloads in memory, at most.
size_t tide__keyed_count(const struct keyed_cache *cache);
// Lets go of those of which `is_dead` says that they are nothing any more, and the state table does not have them either.
void tide__keyed_sweep(struct keyed_cache *cache, bool (*is_dead)(void *ctx, const void *payload), void *ctx);

#endif
