// The shared counter of a job's memory. It never refuses: consumers look at `used` against `limit` between batches and
// seal or evict, which is where something can be done about it.
#include "state/memtable.h"

#include <assert.h>
#include <stdatomic.h>

void tide__budget_charge(struct memory_budget *budget, size_t bytes) {
    if (!budget || bytes == 0) return;
    size_t used = atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed) + bytes;
    size_t highest = atomic_load_explicit(&budget->used_max, memory_order_relaxed);
    while (used > highest && !atomic_compare_exchange_weak_explicit(&budget->used_max, &highest, used,
                                                                    memory_order_relaxed, memory_order_relaxed)) {}
}

void tide__budget_release(struct memory_budget *budget, size_t bytes) {
    if (!budget || bytes == 0) return;
    size_t before = atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    assert(before >= bytes);
    (void)before;
}
