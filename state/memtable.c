// The hash table behind window state. What it is built for: millions of upserts a second into tables of any size from one
// key to millions, and ten thousand tables open at once.
//
//   slots   a power of two, linear probing, two thirds full at most; one word each: the entry's address, and in the bits
//           that an address leaves free a tag out of the hash, so that few entries are looked at in vain
//   blocks  a chain of memory blocks, 512 bytes first, doubling to 1 MiB; entries lie in them in insertion order and
//           never move, so that walking the blocks is the insertion order and costs no index
//
// A lookup costs two cache misses in a large table (slot, entry). upsert_batch overlaps them: it touches the slots of
// a group of keys, then the entries that the slots name, and only then compares. The budget is charged by the block.
#include "state/memtable.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SLOTS_FIRST = 16,
    BLOCK_FIRST = 512,
    BLOCK_MAX = 1 << 20,
    GROUP = 32,        // keys whose cache misses are overlapped
    WALK_AHEAD = 512,  // bytes
    ENTRY_ALIGN = 16,  // payloads hold int128
    CACHE_LINE = 64,
};

struct block {
    struct block *next;
    size_t size, used;     // of `bytes`
    unsigned char *bytes;  // behind this struct, at the beginning of a cache line: short entries then lie in one
};

// Of a block: the struct, and what aligning may take. malloc aligns to 16.
#define BLOCK_HEAD (sizeof(struct block) + CACHE_LINE - ENTRY_ALIGN)

struct memtable {
    uint64_t *slots;  // 0: free
    uint64_t mask;
    uint32_t shift;         // 64 - log2(slots)
    uint32_t payload_size;  // rounded up to 8
    size_t count, grow_at;
    struct block *last;
    struct block *first;
    struct memory_budget *budget;
    _Atomic size_t bytes;    // of blocks, slots and this struct
    _Atomic int64_t extra;   // charged by the owner for what payloads point at
    _Atomic int64_t unsaid;  // the part of extra that the budget has not been told
    _Atomic uint32_t references;
    bool frozen;
    void (*free_payload)(void *payload, void *ctx);
    void *free_ctx;
    pthread_mutex_t lock;  // of the arrays below
    struct memtable_entry **ordered;
    size_t ordered_count, ordered_cap;
    struct block *ordered_block;  // where the walk goes on
    size_t ordered_at;
    struct memtable_entry **sorted;
};

static void account(struct memtable *table, size_t bytes) {
    atomic_fetch_add_explicit(&table->bytes, bytes, memory_order_relaxed);
    tide__budget_charge(table->budget, bytes);
}

struct memtable *tide__memtable_new(struct memory_budget *budget, size_t payload_size) {
    assert(payload_size <= UINT32_MAX - 8);
    struct memtable *table = tide__calloc(1, sizeof *table);
    table->payload_size = (uint32_t)((payload_size + 7) & ~(size_t)7);
    table->budget = budget;
    table->slots = tide__calloc(SLOTS_FIRST, sizeof *table->slots);
    table->mask = SLOTS_FIRST - 1;
    table->shift = 60;
    table->grow_at = SLOTS_FIRST * 2 / 3;
    atomic_store_explicit(&table->references, 1, memory_order_relaxed);
    pthread_mutex_init(&table->lock, NULL);
    account(table, sizeof *table + SLOTS_FIRST * sizeof *table->slots);
    return table;
}

struct memtable *tide__memtable_retain(struct memtable *table) {
    assert(table);
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    return table;
}

static size_t entry_size(const struct memtable *table, size_t key_len) {
    size_t size = sizeof(struct memtable_entry) + table->payload_size + key_len;
    return (size + ENTRY_ALIGN - 1) & ~(size_t)(ENTRY_ALIGN - 1);
}

static void free_payloads(struct memtable *table) {
    for (struct block *block = table->first; block; block = block->next) {
        for (size_t at = 0; at < block->used;) {
            struct memtable_entry *entry = (struct memtable_entry *)(void *)(block->bytes + at);
            table->free_payload(entry->bytes, table->free_ctx);
            at += entry_size(table, entry->key_len);
        }
    }
}

void tide__memtable_release(struct memtable *table) {
    if (!table) return;
    if (atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) != 1) return;
    if (table->free_payload) free_payloads(table);
    for (struct block *block = table->first, *next; block; block = next) {
        next = block->next;
        tide__free(block);
    }
    int64_t said = atomic_load(&table->extra) - atomic_load(&table->unsaid);
    tide__budget_release(table->budget, table->bytes);
    if (said > 0) tide__budget_release(table->budget, (size_t)said);
    if (said < 0) tide__budget_charge(table->budget, (size_t)-said);
    tide__free(table->slots);
    tide__free(table->ordered);
    tide__free(table->sorted);
    pthread_mutex_destroy(&table->lock);
    tide__free(table);
}

void tide__memtable_on_free(struct memtable *table, void (*free_payload)(void *payload, void *ctx), void *ctx) {
    table->free_payload = free_payload;
    table->free_ctx = ctx;
}

// Addresses have 48 bits at most, of which the alignment leaves 4 at zero: 16 bits above and 4 below are the tag's.
#define TAG_BITS (UINT64_C(0xFFFF) << 48 | (ENTRY_ALIGN - 1))

static inline uint64_t slot_of(const struct memtable_entry *entry, uint64_t hash) {
    assert(((uintptr_t)entry & TAG_BITS) == 0);
    return (uint64_t)(uintptr_t)entry | (hash & TAG_BITS);
}

static inline struct memtable_entry *entry_of(uint64_t slot) {
    return (struct memtable_entry *)(uintptr_t)(slot & ~TAG_BITS);
}

// The multiplication makes every bit of the hash count: whatever bits an exchange chose its threads by are constant here.
static inline uint64_t home_of(const struct memtable *table, uint64_t hash) {
    return (hash * 0x9E3779B97F4A7C15ULL) >> table->shift;
}

static void resize_slots(struct memtable *table, size_t new_count) {
    size_t old_count = (size_t)table->mask + 1;
    tide__free(table->slots);  // the entries know their hashes
    table->slots = tide__calloc(new_count, sizeof *table->slots);
    table->mask = new_count - 1;
    table->shift = 64 - (uint32_t)__builtin_ctzll(new_count);
    table->grow_at = new_count / 3 * 2;
    struct memtable_cursor cursor = {0};
    struct memtable_entry *entries[GROUP];
    for (size_t n; (n = tide__memtable_walk(table, &cursor, GROUP, entries)) > 0;) {
        for (size_t i = 0; i < n; i++) __builtin_prefetch(&table->slots[home_of(table, entries[i]->hash)], 1);
        for (size_t i = 0; i < n; i++) {
            uint64_t at = home_of(table, entries[i]->hash);
            while (table->slots[at]) at = (at + 1) & table->mask;
            table->slots[at] = slot_of(entries[i], entries[i]->hash);
        }
    }
    account(table, (new_count - old_count) * sizeof *table->slots);
}

static __attribute__((noinline)) void grow_slots(struct memtable *table) {
    resize_slots(table, ((size_t)table->mask + 1) * 2);
}

void tide__memtable_reserve(struct memtable *table, size_t count) {
    size_t slots = (size_t)table->mask + 1;
    while (slots / 3 * 2 < count) slots *= 2;
    if (slots > (size_t)table->mask + 1) resize_slots(table, slots);
}

static __attribute__((noinline)) void add_block(struct memtable *table, size_t needed) {
    size_t size = table->last ? (table->last->size + BLOCK_HEAD) * 2 : BLOCK_FIRST;
    if (size > BLOCK_MAX) size = BLOCK_MAX;
    size -= BLOCK_HEAD;
    if (size < needed) size = needed;
    struct block *block = tide__alloc(BLOCK_HEAD + size);
    uintptr_t bytes = ((uintptr_t)(block + 1) + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1);
    *block = (struct block){.size = size, .bytes = (unsigned char *)bytes};
    if (table->last) {
        table->last->next = block;
    } else {
        table->first = block;
    }
    table->last = block;
    account(table, BLOCK_HEAD + size);
}

static inline struct memtable_entry *add_entry(struct memtable *table, struct str key, uint64_t hash) {
    size_t size = entry_size(table, key.len);
    if (!table->last || table->last->size - table->last->used < size) add_block(table, size);
    struct memtable_entry *entry = (struct memtable_entry *)(void *)(table->last->bytes + table->last->used);
    table->last->used += size;
    entry->hash = hash;
    entry->key_len = (uint32_t)key.len;
    entry->flags = 0;
    memset(entry->bytes, 0, table->payload_size);
    if (key.len) memcpy(entry->bytes + table->payload_size, key.data, key.len);
    table->count++;
    return entry;
}

static inline uint64_t load64(const void *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

// Most keys are 8 to 16 bytes long: two overlapping words instead of a call.
static inline bool same_key(const unsigned char *a, const char *b, size_t len) {
    if (len >= 8 && len <= 16) return ((load64(a) ^ load64(b)) | (load64(a + len - 8) ^ load64(b + len - 8))) == 0;
    return len == 0 || memcmp(a, b, len) == 0;
}

// NULL if the slot holds another key.
static inline struct memtable_entry *match(const struct memtable *table, uint64_t slot, struct str key, uint64_t hash) {
    if (((slot ^ hash) & TAG_BITS) != 0) return NULL;
    struct memtable_entry *entry = entry_of(slot);
    if (entry->hash != hash || entry->key_len != key.len) return NULL;
    return same_key(entry->bytes + table->payload_size, key.data, key.len) ? entry : NULL;
}

static inline struct memtable_entry *upsert(struct memtable *table, struct str key, uint64_t hash, bool *out_new) {
    uint64_t at = home_of(table, hash);
    for (; table->slots[at]; at = (at + 1) & table->mask) {
        struct memtable_entry *entry = match(table, table->slots[at], key, hash);
        if (!entry) continue;
        *out_new = false;
        return entry;
    }
    *out_new = true;
    if (table->count >= table->grow_at) {
        grow_slots(table);
        at = home_of(table, hash);
        while (table->slots[at]) at = (at + 1) & table->mask;
    }
    struct memtable_entry *entry = add_entry(table, key, hash);
    table->slots[at] = slot_of(entry, hash);
    return entry;
}

void tide__memtable_prefetch_hash(const struct memtable *table, uint64_t hash) {
    __builtin_prefetch(&table->slots[home_of(table, hash)], 1);
}

void tide__memtable_upsert_batch(struct memtable *table, const struct str *keys, const uint64_t *hashes, size_t n,
                                 struct memtable_entry **out_entries, uint8_t *out_new) {
    assert(!table->frozen);
    for (size_t from = 0; from < n; from += GROUP) {
        size_t to = from + GROUP < n ? from + GROUP : n;
        for (size_t i = from; i < to; i++) __builtin_prefetch(&table->slots[home_of(table, hashes[i])]);
        for (size_t i = from; i < to; i++) {
            // A guess: right unless the key is not in its home slot. Entries are aligned to 16, so that header and a
            // short payload mostly share a line with the key, else the key's line is wanted as well.
            uint64_t slot = table->slots[home_of(table, hashes[i])];
            if (((slot ^ hashes[i]) & TAG_BITS) != 0) continue;
            const struct memtable_entry *entry = entry_of(slot);
            __builtin_prefetch(entry);
            // Free slots give NULL, which may be prefetched but not looked into.
            __builtin_prefetch(
                (const void *)((uintptr_t)entry + offsetof(struct memtable_entry, bytes) + table->payload_size));
        }
        for (size_t i = from; i < to; i++) {
            bool is_new;
            out_entries[i] = upsert(table, keys[i], hashes[i], &is_new);
            if (out_new) out_new[i] = is_new;
        }
    }
}

struct memtable_entry *tide__memtable_upsert(struct memtable *table, struct str key, uint64_t hash, bool *out_new) {
    assert(!table->frozen);
    bool is_new;
    struct memtable_entry *entry = upsert(table, key, hash, &is_new);
    if (out_new) *out_new = is_new;
    return entry;
}

struct memtable_entry *tide__memtable_find(const struct memtable *table, struct str key, uint64_t hash) {
    for (uint64_t at = home_of(table, hash); table->slots[at]; at = (at + 1) & table->mask) {
        struct memtable_entry *entry = match(table, table->slots[at], key, hash);
        if (entry) return entry;
    }
    return NULL;
}

void *tide__memtable_payload(const struct memtable *table, struct memtable_entry *entry) {
    (void)table;
    return entry->bytes;
}

struct str tide__memtable_key(const struct memtable *table, const struct memtable_entry *entry) {
    return (struct str){(const char *)entry->bytes + table->payload_size, entry->key_len};
}

size_t tide__memtable_count(const struct memtable *table) {
    return table->count;
}

size_t tide__memtable_bytes(const struct memtable *table) {
    int64_t extra = atomic_load_explicit(&table->extra, memory_order_relaxed);
    return table->bytes + (extra > 0 ? (size_t)extra : 0);
}

// Called for single strings, so that the shared counter is only told when the difference is worth it.
void tide__memtable_charge(struct memtable *table, int64_t bytes) {
    atomic_fetch_add_explicit(&table->extra, bytes, memory_order_relaxed);
    int64_t unsaid = atomic_fetch_add_explicit(&table->unsaid, bytes, memory_order_relaxed) + bytes;
    int64_t slack = (int64_t)(table->bytes / 16);
    if (unsaid <= slack && unsaid >= -slack) return;
    unsaid = atomic_exchange_explicit(&table->unsaid, 0, memory_order_relaxed);
    if (unsaid > 0) tide__budget_charge(table->budget, (size_t)unsaid);
    if (unsaid < 0) tide__budget_release(table->budget, (size_t)-unsaid);
}

// Brings `ordered` up to date by walking on from where the last call stopped. The lock is held.
static void extend_ordered(struct memtable *table) {
    if (table->ordered_cap < table->count) {
        size_t before = table->ordered_cap;
        table->ordered = tide__grow(table->ordered, &table->ordered_cap, table->count, sizeof *table->ordered);
        account(table, (table->ordered_cap - before) * sizeof *table->ordered);
    }
    if (!table->ordered_block) table->ordered_block = table->first;
    while (table->ordered_count < table->count) {
        struct block *block = table->ordered_block;
        if (table->ordered_at == block->used) {
            table->ordered_block = block->next;
            table->ordered_at = 0;
            continue;
        }
        struct memtable_entry *entry = (struct memtable_entry *)(void *)(block->bytes + table->ordered_at);
        table->ordered[table->ordered_count++] = entry;
        table->ordered_at += entry_size(table, entry->key_len);
    }
}

struct memtable_entry *const *tide__memtable_entries(const struct memtable *const_table) {
    // The array is a cache: the table looks the same before and after.
    struct memtable *table = (struct memtable *)(uintptr_t)const_table;
    pthread_mutex_lock(&table->lock);
    extend_ordered(table);
    struct memtable_entry **entries = table->ordered;
    pthread_mutex_unlock(&table->lock);
    return entries;
}

size_t tide__memtable_walk(const struct memtable *table, struct memtable_cursor *cursor, size_t max,
                           struct memtable_entry **out_entries) {
    const struct block *block = cursor->block ? cursor->block : table->first;
    size_t n = 0, at = cursor->at;
    while (block && n < max) {
        if (at == block->used) {
            if (!block->next) break;  // later entries may still come to this block
            block = block->next;
            at = 0;
            continue;
        }
        struct memtable_entry *entry = (struct memtable_entry *)(uintptr_t)(block->bytes + at);
        __builtin_prefetch((const char *)entry + WALK_AHEAD);
        out_entries[n++] = entry;
        at += entry_size(table, entry->key_len);
    }
    *cursor = (struct memtable_cursor){block, at};
    return n;
}

void tide__memtable_freeze(struct memtable *table) {
    table->frozen = true;
}

static void build_sorted(struct memtable *table) {
    size_t n = table->count;
    size_t bytes = 2 * n * sizeof(struct sort_item);
    tide__budget_charge(table->budget, bytes);
    struct sort_item *items = tide__alloc(bytes);
    size_t at = 0;
    for (struct block *block = table->first; block; block = block->next) {
        for (size_t offset = 0; offset < block->used;) {
            struct memtable_entry *entry = (struct memtable_entry *)(void *)(block->bytes + offset);
            const unsigned char *key = entry->bytes + table->payload_size;
            items[at++] = (struct sort_item){tide__sort_prefix(key, entry->key_len), key, entry->key_len, 0};
            offset += entry_size(table, entry->key_len);
        }
    }
    assert(at == n);
    tide__sort_keys(items, n, items + n);
    struct memtable_entry **sorted = tide__alloc((n ? n : 1) * sizeof *sorted);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *entry = items[i].key - table->payload_size - offsetof(struct memtable_entry, bytes);
        sorted[i] = (struct memtable_entry *)(uintptr_t)entry;
    }
    tide__free(items);
    tide__budget_release(table->budget, bytes);
    account(table, (n ? n : 1) * sizeof *sorted);
    table->sorted = sorted;
}

struct memtable_entry *const *tide__memtable_sorted(struct memtable *table) {
    assert(table->frozen);
    pthread_mutex_lock(&table->lock);
    if (!table->sorted) build_sorted(table);
    struct memtable_entry **sorted = table->sorted;
    pthread_mutex_unlock(&table->lock);
    return sorted;
}

void tide__memtable_sort_entries(const struct memtable *table, struct memtable_entry *const *entries, size_t n,
                                 struct sort_item *items) {
    for (size_t i = 0; i < n; i++) {
        struct str key = tide__memtable_key(table, entries[i]);
        const unsigned char *bytes = (const unsigned char *)key.data;
        items[i] = (struct sort_item){tide__sort_prefix(bytes, key.len), bytes, (uint32_t)key.len, (uint32_t)i};
    }
    tide__sort_keys(items, n, items + n);
}
