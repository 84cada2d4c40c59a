// A hash table of compact rows: key bytes -> a fixed-size payload (accumulators). The write buffer of window state.
//
// Keys are order-preserving encodings (engine/codec), so one byte comparison orders them everywhere: in a sorted
// view of the table, in a run, in RocksDB, in a savepoint. Payloads are zeroed when a key is new and never move.
// One thread writes. A frozen table is immutable and may be read (and sorted) by several threads.
#ifndef TIDE_STATE_MEMTABLE_H
#define TIDE_STATE_MEMTABLE_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

// The one budget for all memory of a job (--memory): a shared counter that consumers charge.
struct memory_budget {
    size_t limit;             // bytes
    _Atomic size_t used;      // bytes
    _Atomic size_t used_max;  // highest `used` seen
    size_t hard;              // a job that holds more and can give nothing back fails; 0: none
};
void tide__budget_charge(struct memory_budget *budget, size_t bytes);
void tide__budget_release(struct memory_budget *budget, size_t bytes);

struct memtable;

// One entry. The payload lies directly before it is used: see tide__memtable_payload.
struct memtable_entry {
    uint64_t hash;
    uint32_t key_len;
    uint32_t flags;         // free for the owner (dirty, evicted, ...)
    unsigned char bytes[];  // payload (payload_size, 16-byte aligned), then key_len key bytes
};

// payload_size is rounded up to 8. The budget may be NULL. Starts with one reference.
struct memtable *tide__memtable_new(struct memory_budget *budget, size_t payload_size);
struct memtable *tide__memtable_retain(struct memtable *table);
// Frees the table with its last reference; `free_payload` (may be NULL) runs once for each payload then.
void tide__memtable_release(struct memtable *table);
void tide__memtable_on_free(struct memtable *table, void (*free_payload)(void *payload, void *ctx), void *ctx);

// Finds or adds n keys (hashes by tide__hash_bytes), in order, duplicates allowed. out_entries[i] is key i's entry; if
// out_new is not NULL, out_new[i] is 1 for the first appearance of a new key. Prefetches: cost is a cache miss a key.
void tide__memtable_upsert_batch(struct memtable *table, const struct str *keys, const uint64_t *hashes, size_t n,
                                 struct memtable_entry **out_entries, uint8_t *out_new);
struct memtable_entry *tide__memtable_upsert(struct memtable *table, struct str key, uint64_t hash, bool *out_new);
// Asks for the memory that an upsert or find of a key with this hash looks at first, for those that come one by one.
void tide__memtable_prefetch_hash(const struct memtable *table, uint64_t hash);
// Makes room for `count` keys, so that the slots need not grow while they come.
void tide__memtable_reserve(struct memtable *table, size_t count);
// NULL if there is none.
struct memtable_entry *tide__memtable_find(const struct memtable *table, struct str key, uint64_t hash);

void *tide__memtable_payload(const struct memtable *table, struct memtable_entry *entry);
struct str tide__memtable_key(const struct memtable *table, const struct memtable_entry *entry);
size_t tide__memtable_count(const struct memtable *table);
size_t tide__memtable_bytes(const struct memtable *table);
// Charges memory that payloads own elsewhere (strings, sets); negative to give back.
void tide__memtable_charge(struct memtable *table, int64_t bytes);

// Entries in insertion order (arrival order of first rows).
struct memtable_entry *const *tide__memtable_entries(const struct memtable *table);
// The same order without an array, as entries lie in memory: the next ones after the cursor, `max` at most; 0 at the end.
// A zeroed cursor stands at the beginning.
struct memtable_cursor {
    const void *block;
    size_t at;
};
size_t tide__memtable_walk(const struct memtable *table, struct memtable_cursor *cursor, size_t max,
                           struct memtable_entry **out_entries);
// Sorts n entries of the table by key: items[i].index is the place in `entries` of the i-th one. There is room for 2 * n items.
struct sort_item;
void tide__memtable_sort_entries(const struct memtable *table, struct memtable_entry *const *entries, size_t n,
                                 struct sort_item *items);
// No more upserts from now on.
void tide__memtable_freeze(struct memtable *table);
// Entries in key order. Sorted once, on the first call; later calls return the same array. Frozen tables only;
// thread-safe. The array belongs to the table.
struct memtable_entry *const *tide__memtable_sorted(struct memtable *table);

// Entries in key order lie anywhere in memory: whoever walks the sorted array calls this some entries ahead, at 8 or so.
static inline void tide__memtable_prefetch(const struct memtable_entry *entry) {
    __builtin_prefetch(entry);
    __builtin_prefetch((const char *)entry + 64);
}

#endif
