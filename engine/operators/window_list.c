// See window_list.h.
#include "engine/operators/window_list.h"

#include "base/alloc.h"
#include "engine/codec/key.h"

#include <assert.h>
#include <string.h>

void tide__window_list_init(struct window_list *list, bool ltz, const struct zone *zone) {
    *list = (struct window_list){0};
    if (ltz && !tide__zone_is_utc(zone)) list->cut.zone = zone;
}

void tide__window_list_deinit(struct window_list *list) {
    assert(list->count == 0);
    tide__free(list->items);
}

// Where (end, start) stands or would stand. Most rows belong to the last windows.
static size_t find_place(const struct window_list *list, int64_t start, int64_t end) {
    size_t low = list->first, high = list->first + list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct open_window *window = list->items[middle];
        if (window->end < end || (window->end == end && window->start < start)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct open_window *tide__window_list_find(const struct window_list *list, int64_t start, int64_t end,
                                           int64_t watermark, bool *out_late) {
    size_t at = find_place(list, start, end);
    *out_late = false;
    if (at < list->first + list->count && list->items[at]->end == end && list->items[at]->start == start)
        return list->items[at];
    *out_late = tide__window_trigger(&list->cut, end) <= watermark;
    return NULL;
}

void tide__window_list_add(struct window_list *list, struct open_window *window) {
    window->trigger = tide__window_trigger(&list->cut, window->end);
    if (list->first > 0 && list->first + list->count == list->capacity) {
        memmove(list->items, list->items + list->first, list->count * sizeof *list->items);
        list->first = 0;
    }
    size_t at = find_place(list, window->start, window->end);
    list->items = tide__grow(list->items, &list->capacity, list->first + list->count + 1, sizeof *list->items);
    memmove(list->items + at + 1, list->items + at, (list->first + list->count - at) * sizeof *list->items);
    list->items[at] = window;
    list->count++;
}

void tide__window_list_drop(struct window_list *list, size_t count) {
    assert(count <= list->count);
    list->first += count;
    list->count -= count;
    if (list->count == 0) list->first = 0;
}

int64_t tide__window_list_next_trigger(const struct window_list *list, int64_t watermark, int64_t earliest,
                                       bool waits) {
    int64_t at = list->count > 0 ? list->items[list->first]->trigger : WATERMARK_END;
    if (waits && earliest < at) at = earliest;
    return at > watermark || watermark == WATERMARK_END ? at : watermark + 1;
}

void tide__window_key_append(const struct open_window *window, struct strbuf *out) {
    char *at = tide__strbuf_reserve(out, WINDOW_KEY_BYTES);
    tide__key_put_time(at, window->start);
    tide__key_put_time(at + 8, window->end);
    out->len += WINDOW_KEY_BYTES;
    out->data[out->len] = 0;
}

tide_status tide__window_key_drop(const struct open_window *window, struct state_table *table, tide_error *err) {
    unsigned char lower[WINDOW_KEY_BYTES], upper[WINDOW_KEY_BYTES];
    tide__key_put_time((char *)lower, window->start);
    tide__key_put_time((char *)lower + 8, window->end);
    memcpy(upper, lower, sizeof upper);
    // The next key after all of the window's: one more, as a number of 16 bytes.
    for (size_t i = sizeof upper; i-- > 0 && ++upper[i] == 0;) {}
    return tide__state_drop_range(table, (struct str){(char *)lower, sizeof lower},
                                  (struct str){(char *)upper, sizeof upper}, err);
}
