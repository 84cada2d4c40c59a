#include "checkpoint/window_set.h"

#include "base/alloc.h"
#include "checkpoint/format.h"

#include <string.h>

static int compare(const struct savepoint_window *a, const struct savepoint_window *b) {
    if (a->start_ms != b->start_ms) return a->start_ms < b->start_ms ? -1 : 1;
    return (a->end_ms > b->end_ms) - (a->end_ms < b->end_ms);
}

void tide__window_set_init(struct window_set *set, const struct savepoint_table *table) {
    *set = (struct window_set){.complete = true};
    if (table != NULL) tide__window_set_add(set, table->windows, table->window_count);
}

void tide__window_set_add(struct window_set *set, const struct savepoint_window *windows, uint64_t count) {
    if (count == 0) return;
    size_t n = count < SAVEPOINT_WINDOWS_MAX ? (size_t)count : SAVEPOINT_WINDOWS_MAX;
    struct window_set out = {.complete = set->complete && n == count};
    size_t a = 0, b = 0;
    while (a < set->count || b < n) {
        int order = a == set->count ? 1 : b == n ? -1 : compare(&set->items[a], &windows[b]);
        struct savepoint_window window = order <= 0 ? set->items[a] : windows[b];
        if (order == 0) {
            window.entries += windows[b].entries;
            window.bytes += windows[b].bytes;
        }
        a += order <= 0;
        b += order >= 0;
        if (window.entries == 0) continue;
        out.items = tide__grow(out.items, &out.cap, out.count + 1, sizeof *out.items);
        out.items[out.count++] = window;
    }
    if (out.count > 2 * SAVEPOINT_WINDOWS_MAX) {
        out.count = 2 * SAVEPOINT_WINDOWS_MAX;
        out.complete = false;
    }
    tide__free(set->items);
    *set = out;
}

static void put_bound(int64_t ms, char *out) {
    uint64_t bits = (uint64_t)ms ^ (UINT64_C(1) << 63);
    for (int i = 0; i < 8; i++) out[i] = (char)(bits >> (56 - 8 * i));
}

static int compare_key(const struct savepoint_window *window, struct str key) {
    char bytes[WINDOW_KEY_BYTES];
    put_bound(window->start_ms, bytes);
    put_bound(window->end_ms, bytes + 8);
    return tide__str_cmp((struct str){bytes, sizeof bytes}, key);
}

static bool ends_inside(const struct savepoint_window *window, struct str upper) {
    if (upper.len <= WINDOW_KEY_BYTES) return false;
    return compare_key(window, (struct str){upper.data, WINDOW_KEY_BYTES}) == 0;
}

void tide__window_set_drop(struct window_set *set, struct str lower, struct str upper) {
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_key(&set->items[middle], lower) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < set->count; low++) {
        struct savepoint_window *window = &set->items[low];
        if (upper.len > 0 && compare_key(window, upper) >= 0) return;
        if (!ends_inside(window, upper)) window->entries = 0;
    }
}

void tide__window_set_list(const struct window_set *set, struct arena *arena, struct savepoint_table *table) {
    size_t living = 0, max = SAVEPOINT_WINDOWS_MAX;
    uint64_t entries = 0;
    for (size_t i = 0; i < set->count; i++) {
        living += set->items[i].entries > 0;
        entries += set->items[i].entries;
    }
    if (set->complete) {
        table->window_count = living;
        table->entries = entries;
    }
    if (table->window_count < max) max = (size_t)table->window_count;
    struct savepoint_window *windows = ARENA_ARRAY(arena, struct savepoint_window, max + 1);
    size_t count = 0;
    for (size_t i = 0; i < set->count && count < max; i++)
        if (set->items[i].entries > 0) windows[count++] = set->items[i];
    // What is not listed can't be counted as if it were.
    if (count < SAVEPOINT_WINDOWS_MAX) table->window_count = count;
    table->windows = windows;
}

void tide__window_set_deinit(struct window_set *set) {
    tide__free(set->items);
}
