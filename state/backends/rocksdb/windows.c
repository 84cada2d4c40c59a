// Which windows the files of a table hold, and in how many overlapping runs: a sorted array, for windows come and go at
// its ends.
#include "base/alloc.h"
#include "state/backends/rocksdb/rocks.h"

#include <assert.h>
#include <string.h>

enum {
    RUNS_WELCOME = 8,  // overlapping runs that are not worth merging
    RUNS_MAX = 37,     // the levels end here
    FOLD_EARLY = 48 << 20,
};

void tide__windows_prefix(bool windowed, struct str key, unsigned char out_prefix[WINDOW_PREFIX]) {
    memset(out_prefix, 0, WINDOW_PREFIX);
    if (windowed) memcpy(out_prefix, key.data, key.len < WINDOW_PREFIX ? key.len : WINDOW_PREFIX);
}

size_t tide__windows_lower_bound(const struct windows *windows, const unsigned char *prefix) {
    size_t low = 0, high = windows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(windows->items[middle].prefix, prefix, WINDOW_PREFIX) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct window *tide__windows_find(const struct windows *windows, const unsigned char *prefix) {
    size_t at = tide__windows_lower_bound(windows, prefix);
    if (at == windows->count || memcmp(windows->items[at].prefix, prefix, WINDOW_PREFIX) != 0) return NULL;
    return &windows->items[at];
}

static void set_first(struct window *window, struct window_note *note) {
    tide__free(window->sketch);
    window->base = note->bytes;
    window->base_entries = note->entries;
    window->sketch = note->sketch;
    note->sketch = NULL;
    window->delta = window->delta_entries = window->spare = 0;
    window->runs = 1;
}

struct window *tide__windows_add_run(struct windows *windows, struct window_note *note) {
    size_t at = tide__windows_lower_bound(windows, note->prefix);
    if (at == windows->count || memcmp(windows->items[at].prefix, note->prefix, WINDOW_PREFIX) != 0) {
        windows->items = tide__grow(windows->items, &windows->cap, windows->count + 1, sizeof *windows->items);
        memmove(&windows->items[at + 1], &windows->items[at], (windows->count - at) * sizeof *windows->items);
        windows->count++;
        windows->items[at] = (struct window){0};
        memcpy(windows->items[at].prefix, note->prefix, WINDOW_PREFIX);
    }
    struct window *window = &windows->items[at];
    assert(!window->dead);
    windows->live_bytes += note->bytes;
    if (window->runs == 0) {
        set_first(window, note);
        return window;
    }
    window->delta += note->bytes;
    window->delta_entries += note->entries;
    window->spare += note->spare;
    window->runs++;
    if (window->sketch != NULL && note->sketch != NULL) tide__sketch_unite(window->sketch, note->sketch);
    return window;
}

void tide__windows_kill(struct windows *windows, struct window *window) {
    assert(!window->dead);
    window->dead = true;
    windows->dead_count++;
    windows->dead_bytes += window->base + window->delta;
    windows->live_bytes -= window->base + window->delta;
}

void tide__windows_set_merged(struct windows *windows, struct window *window, struct window_note *note) {
    assert(!window->dead);
    windows->live_bytes += note->bytes - window->base - window->delta;
    set_first(window, note);
}

void tide__windows_erase(struct windows *windows, size_t first, size_t count) {
    assert(first + count <= windows->count);
    for (size_t i = first; i < first + count; i++) {
        const struct window *window = &windows->items[i];
        tide__free(window->sketch);
        if (window->dead) {
            windows->dead_count--;
            windows->dead_bytes -= window->base + window->delta;
        } else {
            windows->live_bytes -= window->base + window->delta;
        }
    }
    memmove(&windows->items[first], &windows->items[first + count],
            (windows->count - first - count) * sizeof *windows->items);
    windows->count -= count;
}

bool tide__windows_successor(const unsigned char *prefix, unsigned char out[WINDOW_PREFIX]) {
    memcpy(out, prefix, WINDOW_PREFIX);
    for (size_t i = WINDOW_PREFIX; i-- > 0;) {
        if (++out[i] != 0) return true;
    }
    return false;
}

// The bytes that merging would save: those of later entries whose keys are in older runs. Without a sketch that is taken for all.
static double bytes_saved(const struct window *window) {
    if (window->sketch == NULL || window->delta_entries == 0) return (double)window->spare;
    double later = (double)window->delta_entries, entries = (double)window->base_entries + later;
    double again = entries - tide__sketch_count(window->sketch);
    if (again <= 0) return 0;
    return (double)window->spare * (again < later ? again / later : 1);
}

// Merging rewrites the whole window, which costs as much as reading it three times. So it waits until that would save 0.9 times
// what is left (the files then never take more than three times what the window would), or until reads get
// slow: soon in a keyed table, which is read by key in every run, late in a window, which is scanned once, when it fires.
// Small tables need not be so tidy.
bool tide__windows_wants_fold(const struct rocks_table *table, const struct window *window) {
    if (window->dead || window->runs < 2) return false;
    if (window->runs >= RUNS_MAX) return true;
    if (table->scanned_once) return false;
    if (window->runs > RUNS_WELCOME && !table->windowed && window->delta >= window->base / 4) return true;
    bool is_large = table->windows.live_bytes + table->windows.dead_bytes > FOLD_EARLY;
    if (window->runs <= RUNS_WELCOME && (window->runs <= 2 || !is_large)) return false;
    double saved = bytes_saved(window);
    return saved > 0.9 * ((double)(window->base + window->delta) - saved);
}

unsigned char *tide__windows_copy_dead(const struct windows *windows, size_t *out_count) {
    *out_count = windows->dead_count;
    if (windows->dead_count == 0) return NULL;
    unsigned char *copy = tide__alloc(windows->dead_count * WINDOW_PREFIX), *at = copy;
    for (size_t i = 0; i < windows->count; i++) {
        if (!windows->items[i].dead) continue;
        memcpy(at, windows->items[i].prefix, WINDOW_PREFIX);
        at += WINDOW_PREFIX;
    }
    return copy;
}
