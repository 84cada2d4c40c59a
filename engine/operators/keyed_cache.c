#include "engine/operators/keyed_cache.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sort.h"

#include <assert.h>
#include <string.h>

enum {
    OLD_SHARE = 3,  // the young ones become old when they have a third of the budget and there are no old ones
    MOVED = 1,      // flag of an entry: its payload has gone to another table
};

static struct memtable *new_table(struct keyed_cache *cache) {
    struct memtable *table = tide__memtable_new(cache->budget, cache->owner.payload_size);
    if (cache->owner.free != NULL) tide__memtable_on_free(table, cache->owner.free, cache->owner.ctx);
    return table;
}

void tide__keyed_init(struct keyed_cache *cache, struct memory_budget *budget, struct keyed_owner owner) {
    *cache = (struct keyed_cache){.owner = owner, .budget = budget};
    cache->young = new_table(cache);
}

void tide__keyed_deinit(struct keyed_cache *cache) {
    if (cache->young != NULL) tide__memtable_release(cache->young);
    if (cache->old != NULL) tide__memtable_release(cache->old);
    tide__budget_release(cache->budget, cache->dirty_capacity * sizeof *cache->dirty);
    tide__free(cache->dirty);
}

static uint32_t *dirty_of(const struct keyed_cache *cache, void *payload) {
    return (uint32_t *)(void *)((char *)payload + cache->owner.dirty_at);
}

void tide__keyed_mark_dirty(struct keyed_cache *cache, void *payload) {
    uint32_t *dirty = dirty_of(cache, payload);
    if (*dirty != 0) return;
    size_t before = cache->dirty_capacity;
    cache->dirty = tide__grow(cache->dirty, &cache->dirty_capacity, cache->dirty_count + 1, sizeof *cache->dirty);
    tide__budget_charge(cache->budget, (cache->dirty_capacity - before) * sizeof *cache->dirty);
    cache->dirty[cache->dirty_count++] = payload;
    *dirty = (uint32_t)cache->dirty_count;
}

// --- looking up -------------------------------------------------------------------------------------------------------

// What the payload owned stays charged to the other table too, until that one is let go.
static void move(struct keyed_cache *cache, struct memtable *table, struct memtable_entry *from,
                 struct memtable_entry *to) {
    const struct keyed_owner *owner = &cache->owner;
    void *source = tide__memtable_payload(table, from), *payload = tide__memtable_payload(cache->young, to);
    memcpy(payload, source, owner->payload_size);
    owner->place(owner->ctx, payload, tide__memtable_key(cache->young, to));
    if (owner->dirty_at != 0 && *dirty_of(cache, payload) != 0) cache->dirty[*dirty_of(cache, payload) - 1] = payload;
    if (owner->move != NULL) tide__memtable_charge(cache->young, owner->move(owner->ctx, payload, source));
    memset(source, 0, owner->payload_size);
    from->flags |= MOVED;
}

// An entry that is new in the young table. False if the state must be asked.
static bool settle(struct keyed_cache *cache, struct memtable_entry *entry) {
    struct str key = tide__memtable_key(cache->young, entry);
    struct memtable_entry *old = cache->old == NULL ? NULL : tide__memtable_find(cache->old, key, entry->hash);
    if (old != NULL && !(old->flags & MOVED)) {
        move(cache, cache->old, old, entry);
        return true;
    }
    cache->owner.place(cache->owner.ctx, tide__memtable_payload(cache->young, entry), key);
    return !cache->spilled;
}

static tide_status load(struct keyed_cache *cache, struct memtable_entry *const *entries, size_t n, struct arena *arena,
                        tide_error *err) {
    struct sort_item *items = tide__arena_alloc(arena, 2 * n * sizeof *items);
    tide__memtable_sort_entries(cache->young, entries, n, items);
    struct str *keys = tide__arena_alloc(arena, n * sizeof *keys);
    void **payloads = tide__arena_alloc(arena, n * sizeof *payloads);
    for (size_t i = 0; i < n; i++) {
        keys[i] = (struct str){(const char *)items[i].key, items[i].key_len};
        payloads[i] = tide__memtable_payload(cache->young, entries[items[i].index]);
    }
    int64_t charge = 0;
    TIDE_TRY(cache->owner.load(cache->owner.ctx, payloads, keys, n, &charge, err));
    tide__memtable_charge(cache->young, charge);
    return TIDE_OK;
}

static void grow_old(struct keyed_cache *cache) {
    cache->old = cache->young;
    cache->young = new_table(cache);
}

// Where nobody counts what the young ones own, what the whole job holds stands for it.
static bool young_are_many(const struct keyed_cache *cache) {
    if (cache->budget == NULL || tide__memtable_count(cache->young) == 0) return false;
    size_t held = cache->owner.charges ? cache->budget->used : tide__memtable_bytes(cache->young);
    return held > cache->budget->limit / OLD_SHARE;
}

tide_status tide__keyed_find(struct keyed_cache *cache, const struct str *keys, const uint64_t *hashes, size_t n,
                             struct arena *arena, void **out_payloads, tide_error *err) {
    // Not before memory was short: a copy that moves takes its room twice until the old ones go.
    if (cache->spilled && cache->old == NULL && cache->owner.flush != NULL && young_are_many(cache)) grow_old(cache);
    struct memtable_entry **entries = tide__arena_alloc(arena, n * sizeof *entries);
    uint8_t *is_new = tide__arena_alloc(arena, n);
    tide__memtable_upsert_batch(cache->young, keys, hashes, n, entries, is_new);
    size_t count = 0;
    struct memtable_entry **wanted = NULL;
    for (size_t i = 0; i < n; i++) {
        out_payloads[i] = tide__memtable_payload(cache->young, entries[i]);
        if (!is_new[i] || settle(cache, entries[i])) continue;
        if (wanted == NULL) wanted = tide__arena_alloc(arena, n * sizeof *wanted);
        wanted[count++] = entries[i];
    }
    return count == 0 ? TIDE_OK : load(cache, wanted, count, arena, err);
}

void *tide__keyed_restore(struct keyed_cache *cache, struct str key) {
    bool is_new = false;
    struct memtable_entry *entry = tide__memtable_upsert(cache->young, key, tide__hash_bytes(key.data, key.len),
                                                         &is_new);
    if (is_new) settle(cache, entry);
    return tide__memtable_payload(cache->young, entry);
}

bool tide__keyed_is_full(struct keyed_cache *cache) {
    if (cache->budget == NULL || cache->budget->used <= cache->budget->limit / 2) return false;
    cache->spilled = true;
    return true;
}

void tide__keyed_charge(struct keyed_cache *cache, int64_t bytes) {
    tide__memtable_charge(cache->young, bytes);
}

size_t tide__keyed_count(const struct keyed_cache *cache) {
    return tide__memtable_count(cache->young) + (cache->old == NULL ? 0 : tide__memtable_count(cache->old));
}

// --- letting go -------------------------------------------------------------------------------------------------------

void *tide__keyed_keep(struct keyed_cache *cache, struct str key) {
    return tide__keyed_restore(cache, key);
}

static size_t let_old_go(struct keyed_cache *cache, tide_error *err) {
    if (cache->owner.flush(cache->owner.ctx, err) != TIDE_OK) return 0;
    size_t bytes = tide__memtable_bytes(cache->old), before = cache->budget == NULL ? 0 : cache->budget->used;
    tide__memtable_release(cache->old);
    cache->old = NULL;
    cache->spilled = true;
    size_t after = cache->budget == NULL ? 0 : cache->budget->used;
    return before > after + bytes ? before - after : bytes;
}

size_t tide__keyed_shrink(struct keyed_cache *cache, size_t bytes, tide_error *err) {
    size_t freed = 0;
    // Twice at most: what must stay has moved to the young ones then.
    for (int pass = 0; pass < 2 && freed < bytes; pass++) {
        if (cache->old == NULL && tide__memtable_count(cache->young) > 0) grow_old(cache);
        if (cache->old == NULL) return freed;
        freed += let_old_go(cache, err);
        if (err != NULL && err->status != TIDE_OK) return freed;
    }
    return freed;
}

// --- all of them ------------------------------------------------------------------------------------------------------

static void each_of(struct memtable *table, void (*visit)(void *ctx, void *payload), void *ctx) {
    struct memtable_cursor cursor = {0};
    struct memtable_entry *entries[64];
    for (size_t n; (n = tide__memtable_walk(table, &cursor, 64, entries)) > 0;)
        for (size_t i = 0; i < n; i++)
            if (!(entries[i]->flags & MOVED)) visit(ctx, tide__memtable_payload(table, entries[i]));
}

void tide__keyed_each(struct keyed_cache *cache, void (*visit)(void *ctx, void *payload), void *ctx) {
    if (cache->old != NULL) each_of(cache->old, visit, ctx);
    each_of(cache->young, visit, ctx);
}

static void move_live(struct keyed_cache *cache, struct memtable *table,
                      bool (*is_dead)(void *ctx, const void *payload), void *ctx) {
    struct memtable_cursor cursor = {0};
    struct memtable_entry *entries[64];
    for (size_t n; (n = tide__memtable_walk(table, &cursor, 64, entries)) > 0;) {
        for (size_t i = 0; i < n; i++) {
            if ((entries[i]->flags & MOVED) || is_dead(ctx, tide__memtable_payload(table, entries[i]))) continue;
            struct str key = tide__memtable_key(table, entries[i]);
            move(cache, table, entries[i], tide__memtable_upsert(cache->young, key, entries[i]->hash, NULL));
        }
    }
    tide__memtable_release(table);
}

void tide__keyed_sweep(struct keyed_cache *cache, bool (*is_dead)(void *ctx, const void *payload), void *ctx) {
    struct memtable *young = cache->young, *old = cache->old;
    cache->young = new_table(cache);
    cache->old = NULL;
    if (old != NULL) move_live(cache, old, is_dead, ctx);
    move_live(cache, young, is_dead, ctx);
}
