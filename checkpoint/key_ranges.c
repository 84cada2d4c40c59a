#include "checkpoint/key_ranges.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void tide__key_ranges_add(struct key_ranges *ranges, struct str lower, struct str upper) {
    if (upper.len > 0 && tide__str_cmp(lower, upper) >= 0) return;
    ranges->items = tide__grow(ranges->items, &ranges->cap, ranges->count + 1, sizeof *ranges->items);
    ranges->items[ranges->count++] = (struct key_range){lower, upper};
}

struct str tide__index_key_cut(struct str key) {
    return (struct str){key.data, key.len < SAVEPOINT_INDEX_KEY ? key.len : SAVEPOINT_INDEX_KEY};
}

bool tide__index_key_fits(struct str index_key, struct str key) {
    if (index_key.len == SAVEPOINT_INDEX_KEY && key.len > index_key.len) key.len = index_key.len;
    return tide__str_eq(index_key, key);
}

struct str tide__index_key_end(struct str last, struct arena *arena) {
    char *end = tide__arena_alloc(arena, last.len + 1);
    if (last.len > 0) memcpy(end, last.data, last.len);
    end[last.len] = '\0';
    if (last.len != SAVEPOINT_INDEX_KEY) return (struct str){end, last.len + 1};
    // Above all keys that begin so: the last byte that can grow does.
    size_t len = last.len;
    while (len > 0 && (unsigned char)end[len - 1] == 0xFF) len--;
    if (len > 0) end[len - 1] = (char)((unsigned char)end[len - 1] + 1);
    return (struct str){end, len};
}

struct str tide__index_key_last(struct str end, struct arena *arena) {
    if (end.len > 0 && end.data[end.len - 1] == '\0') return (struct str){end.data, end.len - 1};
    char *last = tide__arena_alloc(arena, SAVEPOINT_INDEX_KEY);
    memset(last, 0xFF, SAVEPOINT_INDEX_KEY);
    if (end.len > 0) {
        memcpy(last, end.data, end.len);
        last[end.len - 1] = (char)((unsigned char)end.data[end.len - 1] - 1);
    }
    return (struct str){last, SAVEPOINT_INDEX_KEY};
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
        if (range->upper.len == 0 || tide__str_cmp(key, range->upper) < 0) return tide__str_cmp(key, range->lower) >= 0;
    }
    return false;
}

bool tide__key_ranges_cover(const struct key_ranges *ranges, struct str first, struct str end) {
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
    return range->upper.len == 0 || (end.len > 0 && tide__str_cmp(end, range->upper) <= 0);
}
