// A radix sort on eight key bytes at a time.
//
// Keys of one table share their beginning (the window, the leading bytes of an integer), so the common prefix is found
// first and the next eight bytes become one big-endian word. Words are sorted by counting, one pass a byte and
// none for a byte that all words agree in; what is equal in the word is sorted again, eight bytes further. Few items are
// merged instead: a pass over 256 counters costs more than they do.
#include "state/memtable_sort.h"

#include <assert.h>
#include <string.h>

enum {
    MERGE_BELOW = 256,  // items
    INSERT_RUN = 12,
    ROUNDS_MAX = 16,    // equal words in a row before comparing whole keys, which bounds the recursion
};

static inline uint64_t word_at(struct str key, size_t at) {
    if (at >= key.len) return 0;
    size_t left = key.len - at;
    uint64_t word = 0;
    memcpy(&word, key.data + at, left < 8 ? left : 8);
    return __builtin_bswap64(word);
}

// Equal words may still differ: a short key is padded with zeros.
static inline int compare(const struct sort_item *a, const struct sort_item *b) {
    if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
    return tide__str_cmp(a->key, b->key);
}

static void insert_sort(struct sort_item *items, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct sort_item item = items[i];
        size_t at = i;
        for (; at > 0 && compare(&item, &items[at - 1]) < 0; at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void merge_sort(struct sort_item *items, struct sort_item *scratch, size_t n) {
    for (size_t at = 0; at < n; at += INSERT_RUN) insert_sort(items + at, n - at < INSERT_RUN ? n - at : INSERT_RUN);
    struct sort_item *from = items, *to = scratch;
    for (size_t width = INSERT_RUN; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            size_t a = low, b = middle, out = low;
            while (a < middle && b < high) to[out++] = compare(&from[b], &from[a]) < 0 ? from[b++] : from[a++];
            while (a < middle) to[out++] = from[a++];
            while (b < high) to[out++] = from[b++];
        }
        struct sort_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

// Bytes that all keys share from `depth` on (they agree before it).
static size_t common_prefix(const struct sort_item *items, size_t n, size_t depth) {
    struct str first = items[0].key;
    size_t common = first.len;
    for (size_t i = 1; i < n && common > depth; i++) {
        struct str key = items[i].key;
        if (key.len < common) common = key.len;
        if (common >= depth + 8 && word_at(key, common - 8) == word_at(first, common - 8) &&
            (common - 8 <= depth || memcmp(key.data + depth, first.data + depth, common - 8 - depth) == 0))
            continue;
        size_t at = depth;
        while (at < common && key.data[at] == first.data[at]) at++;
        common = at;
    }
    return common;
}

static void radix_words(struct sort_item *items, struct sort_item *scratch, size_t n) {
    size_t counts[8][256];
    memset(counts, 0, sizeof counts);
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = items[i].prefix;
        differ |= word ^ items[0].prefix;
        for (int byte = 0; byte < 8; byte++) counts[byte][(word >> (8 * byte)) & 255]++;
    }
    struct sort_item *from = items, *to = scratch;
    for (int byte = 0; byte < 8; byte++) {
        if (((differ >> (8 * byte)) & 255) == 0) continue;
        size_t *count = counts[byte], at = 0;
        for (int digit = 0; digit < 256; digit++) {
            size_t here = count[digit];
            count[digit] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++) to[count[(from[i].prefix >> (8 * byte)) & 255]++] = from[i];
        struct sort_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

static void sort_from(struct sort_item *items, struct sort_item *scratch, size_t n, size_t depth, int rounds) {
    if (n < 2) return;
    depth = common_prefix(items, n, depth);
    for (size_t i = 0; i < n; i++) items[i].prefix = word_at(items[i].key, depth);
    if (n < MERGE_BELOW || rounds == ROUNDS_MAX) {
        merge_sort(items, scratch, n);
        return;
    }
    radix_words(items, scratch, n);
    for (size_t low = 0, high; low < n; low = high) {
        for (high = low + 1; high < n && items[high].prefix == items[low].prefix;) high++;
        if (high - low < 2) continue;
        // Keys that end inside the word are padded with zeros and may tie with others that hold real zeros: these few
        // agree before `depth` only.
        sort_from(items + low, scratch + low, high - low, depth, rounds + 1);
    }
}

void tide__memtable_sort(struct sort_item *items, struct sort_item *scratch, size_t n) {
    assert(n == 0 || (items && scratch));
    // Often sorted already: keys that rise with time.
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++) sorted = tide__str_cmp(items[i - 1].key, items[i].key) <= 0;
    if (!sorted) sort_from(items, scratch, n, 0, 0);
}
