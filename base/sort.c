// Radix sort of keys by their first 8 bytes, then by the next 8 among those that are equal, and so on.
//
// A range is sorted by the (at most) three most significant byte positions in which its prefixes differ, least
// significant first: with three bytes nearly all ranges of real keys fall apart into runs of a few items, which
// insertion sort finishes. Longer runs are sorted again, either by the bytes of the same prefix that are left
// or, when the prefixes are equal, by the next 8 bytes of the keys, which take the place of the prefix for that
// time. Positions where all items agree cost nothing, so a constant table number in front of a key is free.
#include "base/sort.h"

#include <assert.h>
#include <stdbool.h>

#define INSERTION_MAX   24
#define RADIX_BYTES_MAX 3
#define DEPTH_MAX       32  // beyond, keys are built against us: merge sort

// memcmp order of two keys whose first `offset` bytes (as far as they have them) and prefixes are equal.
static int compare_rest(const struct sort_item *a, const struct sort_item *b, size_t offset) {
    uint32_t len = a->key_len < b->key_len ? a->key_len : b->key_len;
    if (len > offset + 8) {
        int order = memcmp(a->key + offset + 8, b->key + offset + 8, len - offset - 8);
        if (order != 0) return order;
    }
    return (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

// `offset` is where in the key the items' prefixes come from.
static inline bool is_after(const struct sort_item *a, const struct sort_item *b, size_t offset) {
    if (a->prefix != b->prefix) return a->prefix > b->prefix;
    return compare_rest(a, b, offset) > 0;
}

static void insertion_sort(struct sort_item *items, size_t n, size_t offset) {
    for (size_t i = 1; i < n; i++) {
        if (!is_after(&items[i - 1], &items[i], offset)) continue;
        struct sort_item item = items[i];
        size_t hole = i;
        do {
            items[hole] = items[hole - 1];
            hole--;
        } while (hole > 0 && is_after(&items[hole - 1], &item, offset));
        items[hole] = item;
    }
}

static void merge_sort(struct sort_item *items, size_t n, struct sort_item *scratch, size_t offset) {
    for (size_t i = 0; i < n; i += INSERTION_MAX) {
        insertion_sort(items + i, n - i < INSERTION_MAX ? n - i : INSERTION_MAX, offset);
    }
    for (size_t width = INSERTION_MAX; width < n; width *= 2) {
        for (size_t from = 0; from < n; from += 2 * width) {
            size_t middle = from + width < n ? from + width : n;
            size_t end = from + 2 * width < n ? from + 2 * width : n;
            size_t left = from, right = middle;
            for (size_t out = from; out < end; out++) {
                bool take_right = left == middle || (right < end && is_after(&items[left], &items[right], offset));
                scratch[out] = items[take_right ? right++ : left++];
            }
        }
        memcpy(items, scratch, n * sizeof(*items));
    }
}

// One stable pass by the byte at `shift`.
static void radix_pass(const struct sort_item *from, size_t n, struct sort_item *to, unsigned shift) {
    uint32_t starts[256] = {0};
    for (size_t i = 0; i < n; i++) starts[from[i].prefix >> shift & 0xFF]++;
    uint32_t sum = 0;
    for (size_t byte = 0; byte < 256; byte++) {
        uint32_t count = starts[byte];
        starts[byte] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) to[starts[from[i].prefix >> shift & 0xFF]++] = from[i];
}

// Sorts by the most significant bytes set in `differing`; returns a mask of the bits that are in order then.
static uint64_t radix_sort(struct sort_item *items, size_t n, struct sort_item *scratch, uint64_t differing) {
    assert(differing != 0 && n <= UINT32_MAX);
    unsigned shifts[RADIX_BYTES_MAX], passes = 0;
    for (int shift = 56; shift >= 0 && passes < RADIX_BYTES_MAX; shift -= 8) {
        if ((differing >> shift & 0xFF) != 0) shifts[passes++] = (unsigned)shift;
    }
    uint64_t ordered = ~UINT64_C(0) << shifts[passes - 1];
    struct sort_item *from = items, *to = scratch;
    for (unsigned i = passes; i-- > 0;) {
        radix_pass(from, n, to, shifts[i]);
        struct sort_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, n * sizeof(*items));
    return ordered;
}

static uint64_t differing_bits(const struct sort_item *items, size_t n) {
    uint64_t differing = 0, first = items[0].prefix;
    for (size_t i = 1; i < n; i++) differing |= items[i].prefix ^ first;
    return differing;
}

static bool has_more(const struct sort_item *items, size_t n, size_t offset) {
    for (size_t i = 0; i < n; i++) {
        if (items[i].key_len > offset) return true;
    }
    return false;
}

// Puts the bytes at `offset` of the keys in place of the prefixes.
static void load_prefixes(struct sort_item *items, size_t n, size_t offset) {
    for (size_t i = 0; i < n; i++) {
        bool has = items[i].key_len > offset;
        items[i].prefix = has ? tide__sort_prefix(items[i].key + offset, items[i].key_len - offset) : 0;
    }
}

// Keys that are equal but for zero bytes at the end: the shorter first.
static void sort_by_length(struct sort_item *items, size_t n, struct sort_item *scratch) {
    for (size_t i = 0; i < n; i++) items[i].prefix = items[i].key_len;
    for (uint64_t left = differing_bits(items, n); left != 0;) {
        // A length has four bytes: the low ones first, then the rest, keeps the passes stable and few.
        unsigned shift = (unsigned)__builtin_ctzll(left) & ~7U;
        radix_pass(items, n, scratch, shift);
        memcpy(items, scratch, n * sizeof(*items));
        left &= ~(UINT64_C(0xFF) << shift);
    }
}

// Moves the 8 bytes that are looked at behind what all keys have in common: always when they are equal, and at
// first also when only some are, so that one round does for keys of 9 bytes that begin with the same byte.
// Returns how far; *differing is 0 if nothing but the lengths is left to sort by.
static size_t move_window(struct sort_item *items, size_t n, size_t offset, unsigned depth, uint64_t *differing) {
    size_t moved = 0;
    for (;;) {
        size_t common = *differing == 0 ? 8 : (size_t)__builtin_clzll(*differing) / 8;
        if (common == 0 || (common < 8 && depth > 0) || !has_more(items, n, offset + moved + 8)) break;
        moved += common;
        load_prefixes(items, n, offset + moved);
        *differing = differing_bits(items, n);
    }
    return moved;
}

// Undoes move_window; `prefix` is what an item had before. Needs no look at the keys.
static void restore_prefixes(struct sort_item *items, size_t n, uint64_t prefix, size_t moved) {
    if (moved == 0) return;
    if (moved >= 8) {
        for (size_t i = 0; i < n; i++) items[i].prefix = prefix;
        return;
    }
    uint64_t common = prefix & ~(~UINT64_C(0) >> 8 * moved);
    for (size_t i = 0; i < n; i++) items[i].prefix = common | items[i].prefix >> 8 * moved;
}

static void sort_range(struct sort_item *items, size_t n, struct sort_item *scratch, size_t offset, unsigned depth) {
    if (n <= INSERTION_MAX) {
        insertion_sort(items, n, offset);
        return;
    }
    if (depth >= DEPTH_MAX) {
        merge_sort(items, n, scratch, offset);
        return;
    }
    uint64_t prefix = items[0].prefix;
    uint64_t differing = differing_bits(items, n);
    size_t moved = move_window(items, n, offset, depth, &differing);
    if (differing == 0) {
        sort_by_length(items, n, scratch);
    } else {
        uint64_t ordered = radix_sort(items, n, scratch, differing);
        for (size_t from = 0, end = 0; from < n; from = end) {
            uint64_t group = items[from].prefix & ordered;
            for (end = from + 1; end < n && (items[end].prefix & ordered) == group;) end++;
            if (end - from > 1) sort_range(items + from, end - from, scratch, offset + moved, depth + 1);
        }
    }
    restore_prefixes(items, n, prefix, differing == 0 ? 8 : moved);
}

void tide__sort_keys(struct sort_item *items, size_t n, struct sort_item *scratch) {
    assert(n <= UINT32_MAX);
    if (n > 1) sort_range(items, n, scratch, 0, 0);
}
