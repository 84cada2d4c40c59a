#include "checkpoint/key_ranges.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void tide__key_ranges_add(struct key_ranges *ranges, struct str lower, struct str upper) {
    if (upper.len > 0 && tide__str_cmp(lower, upper) >= 0) return;
    ranges->items = tide__grow(ranges->items, &ranges->cap, ranges->count + 1, sizeof *ranges->items);
    ranges->items[ranges->count++] = (struct key_range){lower, upper};
}

void tide__key_ranges_add_closed(struct key_ranges *ranges, struct str first, struct str last, struct arena *arena) {
    char *above = tide__arena_alloc(arena, last.len + 1);
    if (last.len > 0) memcpy(above, last.data, last.len);
    above[last.len] = '\0';
    tide__key_ranges_add(ranges, first, (struct str){above, last.len + 1});
}

static int compare_lower(const void *a, const void *b) {
    return tide__str_cmp(((const struct key_range *)a)->lower, ((const struct key_range *)b)->lower);
}

void tide__key_ranges_settle(struct key_ranges *ranges) {
    if (ranges->count == 0) return;
    qsort(ranges->items, ranges->count, sizeof *ranges->items, compare_lower);
    size_t last = 0;
    for (size_t i = 1; i < ranges->count; i++) {
        struct key_range *into = &ranges->items[last], *next = &ranges->items[i];
        if (into->upper.len > 0 && tide__str_cmp(next->lower, into->upper) > 0) {
            ranges->items[++last] = *next;
        } else if (into->upper.len > 0 && (next->upper.len == 0 || tide__str_cmp(next->upper, into->upper) > 0)) {
            into->upper = next->upper;
        }
    }
    ranges->count = last + 1;
}

void tide__key_ranges_deinit(struct key_ranges *ranges) {
    tide__free(ranges->items);
    *ranges = (struct key_ranges){0};
}

bool tide__key_ranges_has(const struct key_ranges *ranges, size_t *at, struct str key) {
    for (; *at < ranges->count; (*at)++) {
        const struct key_range *range = &ranges->items[*at];
        if (range->upper.len == 0 || tide__str_cmp(key, range->upper) < 0)
            return tide__str_cmp(key, range->lower) >= 0;
    }
    return false;
}

bool tide__key_ranges_cover(const struct key_ranges *ranges, struct str first, struct str last) {
    size_t low = 0, high = ranges->count;
    while (low < high) {  // the first range that begins behind `first`
        size_t middle = low + (high - low) / 2;
        if (tide__str_cmp(ranges->items[middle].lower, first) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return false;
    const struct key_range *range = &ranges->items[low - 1];
    return range->upper.len == 0 || tide__str_cmp(last, range->upper) < 0;
}
