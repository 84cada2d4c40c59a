// Groups of a window in key order: a k-way merge over the sorted parts that make it up.
//
// Parts stand in the order in which their accumulators are folded (oldest run first inside a slice; slices as Flink merges
// them). A group that only one table holds is handed out as it lies there; otherwise it is folded into scratch memory. The
// pieces of a large group (window_run.h) are folded one at a time.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_MERGE_H
#define TIDE_ENGINE_OPERATORS_WINDOW_MERGE_H

#include "engine/aggregates/aggregate.h"
#include "state/memtable.h"
#include "state/state.h"

struct merge_part {
    // A table: its entries in key order.
    struct memtable_entry *const *entries;
    size_t count, at;
    // Or entries of a state table, decoded as they come.
    struct state_iter *iter;
    struct str value;
    bool overridden;  // the next part's accumulator replaces this one's under the same key

    bool is_done;
    struct str key;
    unsigned __int128 prefix;  // first 16 key bytes, big-endian
};

struct window_merge {
    const struct aggregators *aggregators;
    size_t payload_size;  // of memtable entries: where their key begins
    struct merge_part *parts;
    size_t part_count, part_cap;
    uint32_t *heap;  // indexes of parts that are not done
    size_t heap_count;
    struct arena arena;     // keys and folded payloads of the last batch
    struct arena pieces;    // of one piece
    size_t decoded;         // bytes of the last batch that payloads own elsewhere
    unsigned char **owned;  // payloads of the last batch that need a release
    size_t owned_count, owned_cap;
};

void tide__window_merge_init(struct window_merge *merge, const struct aggregators *aggregators);
// Entries are borrowed until deinit. Call in folding order.
void tide__window_merge_add_table(struct window_merge *merge, struct memtable_entry *const *entries, size_t count);
// Takes the iterator. Keys are what follows the first 16 bytes (the window) of state keys.
void tide__window_merge_add_state(struct window_merge *merge, struct state_iter *iter, bool overridden);
// Up to `max` groups, ascending by key; 0 in *out_n at the end. Keys and payloads are valid until the next call. Fails if a
// state value is malformed or the state can't be read.
tide_status tide__window_merge_next(struct window_merge *merge, size_t max, struct str *keys, unsigned char **payloads,
                                    size_t *out_n, tide_error *err) TIDE_CHECKED;
void tide__window_merge_deinit(struct window_merge *merge);

#endif
