// The open windows of an operator whose rows carry their windows: sorted by (end, start), which is the order they fire in.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_LIST_H
#define TIDE_ENGINE_OPERATORS_WINDOW_LIST_H

#include "base/error.h"
#include "engine/operators/window_assign.h"
#include "state/state.h"

enum { WINDOW_KEY_BYTES = 16 };

// The first member of an operator's own struct.
struct open_window {
    int64_t start, end;
    int64_t trigger;  // the watermark that fires it
};

struct window_list {
    struct window_cut cut;       // only its zone is used: when windows fire
    struct open_window **items;  // [first, first + count)
    size_t first, count, capacity;
};

void tide__window_list_init(struct window_list *list, bool ltz, const struct zone *zone);
// The list must be empty.
void tide__window_list_deinit(struct window_list *list);
// The window; or NULL, and *out_late tells whether it has fired, else it is for the caller to add.
struct open_window *tide__window_list_find(const struct window_list *list, int64_t start, int64_t end,
                                           int64_t watermark, bool *out_late);
// Takes the window, whose bounds are set; sets its trigger.
void tide__window_list_add(struct window_list *list, struct open_window *window);
static inline struct open_window *tide__window_list_at(const struct window_list *list, size_t i) {
    return list->items[list->first + i];
}
// Forgets the first `count` windows: the caller has freed them.
void tide__window_list_drop(struct window_list *list, size_t count);
// For operator_class.next_trigger. `waits`: rows come on their own, not only with a watermark that fires.
int64_t tide__window_list_next_trigger(const struct window_list *list, int64_t watermark, int64_t earliest, bool waits);

// --- in a windowed state table ------------------------------------------------------------------------------------------

void tide__window_key_append(const struct open_window *window, struct strbuf *out);
// Drops all entries of the window.
tide_status tide__window_key_drop(const struct open_window *window, struct state_table *table,
                                  tide_error *err) TIDE_CHECKED;

#endif
