#include "engine/operators/window_merge.h"

#include "base/alloc.h"
#include "engine/operators/window_run.h"

#include <assert.h>
#include <string.h>

// What the groups of a batch may hold, so that many large ones are not in memory at a time.
enum { DECODED_MAX = 4 << 20 };

#define STATE_KEY_PREFIX 16

void tide__window_merge_init(struct window_merge *merge, const struct aggregators *aggregators) {
    *merge = (struct window_merge){.aggregators = aggregators};
    merge->payload_size = (aggregators->payload_size + 7) & ~(size_t)7;
    tide__arena_init(&merge->arena);
    tide__arena_init(&merge->pieces);
}

static struct merge_part *add_part(struct window_merge *merge) {
    merge->parts = tide__grow(merge->parts, &merge->part_cap, merge->part_count + 1, sizeof *merge->parts);
    struct merge_part *part = &merge->parts[merge->part_count++];
    *part = (struct merge_part){0};
    return part;
}

void tide__window_merge_add_table(struct window_merge *merge, struct memtable_entry *const *entries, size_t count) {
    struct merge_part *part = add_part(merge);
    part->entries = entries;
    part->count = count;
}

void tide__window_merge_add_state(struct window_merge *merge, struct state_iter *iter, bool overridden) {
    struct merge_part *part = add_part(merge);
    part->iter = iter;
    part->overridden = overridden;
}

static unsigned __int128 prefix_of(struct str key) {
    unsigned char bytes[16] = {0};
    if (key.len > 0) memcpy(bytes, key.data, key.len < 16 ? key.len : 16);
    uint64_t high, low;
    memcpy(&high, bytes, 8);
    memcpy(&low, bytes + 8, 8);
    return (unsigned __int128)__builtin_bswap64(high) << 64 | __builtin_bswap64(low);
}

static struct str entry_key(const struct window_merge *merge, const struct memtable_entry *entry) {
    return (struct str){(const char *)entry->bytes + merge->payload_size, entry->key_len};
}

// Loads the part's current key.
static void load(struct window_merge *merge, struct merge_part *part) {
    if (part->iter == NULL) {
        part->is_done = part->at >= part->count;
        if (part->is_done) return;
        if (part->at + 8 < part->count) __builtin_prefetch(part->entries[part->at + 8]);
        part->key = entry_key(merge, part->entries[part->at]);
    } else {
        struct str key;
        part->is_done = !tide__state_iter_next(part->iter, &key, &part->value);
        if (part->is_done) return;
        assert(key.len >= STATE_KEY_PREFIX);
        part->key = (struct str){key.data + STATE_KEY_PREFIX, key.len - STATE_KEY_PREFIX};
    }
    part->prefix = prefix_of(part->key);
}

static void advance(struct window_merge *merge, struct merge_part *part) {
    part->at++;
    load(merge, part);
}

// Key order, then folding order.
static bool is_before(const struct window_merge *merge, uint32_t a, uint32_t b) {
    const struct merge_part *left = &merge->parts[a], *right = &merge->parts[b];
    if (left->prefix != right->prefix) return left->prefix < right->prefix;
    int order = tide__str_cmp(left->key, right->key);
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(struct window_merge *merge, size_t at) {
    uint32_t *heap = merge->heap, moved = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->heap_count) break;
        if (child + 1 < merge->heap_count && is_before(merge, heap[child + 1], heap[child])) child++;
        if (!is_before(merge, heap[child], moved)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void build_heap(struct window_merge *merge) {
    merge->heap = tide__alloc((merge->part_count + 1) * sizeof *merge->heap);
    for (uint32_t i = 0; i < merge->part_count; i++) {
        load(merge, &merge->parts[i]);
        if (!merge->parts[i].is_done) merge->heap[merge->heap_count++] = i;
    }
    for (size_t i = merge->heap_count / 2; i-- > 0;) sift_down(merge, i);
}

static void step_top(struct window_merge *merge) {
    struct merge_part *part = &merge->parts[merge->heap[0]];
    advance(merge, part);
    if (part->is_done) merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count > 0) sift_down(merge, 0);
}

static unsigned char *new_payload(struct window_merge *merge) {
    unsigned char *payload = tide__arena_zalloc(&merge->arena, merge->payload_size);
    if (merge->aggregators->owns_memory) {
        merge->owned = tide__grow(merge->owned, &merge->owned_cap, merge->owned_count + 1, sizeof *merge->owned);
        merge->owned[merge->owned_count++] = payload;
    }
    return payload;
}

static void release_owned(struct window_merge *merge) {
    for (size_t i = 0; i < merge->owned_count; i++)
        tide__aggregators_release(merge->owned[i], (void *)(uintptr_t)merge->aggregators);
    merge->owned_count = 0;
}

static tide_status decode_value(struct window_merge *merge, struct str value, unsigned char *payload, tide_error *err) {
    int64_t charge = 0;
    if (!tide__aggregators_decode(merge->aggregators, value, payload, &charge))
        return tide__fail(err, TIDE_ERR_RUNTIME, "the state of a window is damaged: an accumulator cannot be read");
    merge->decoded += (size_t)charge;
    return TIDE_OK;
}

// The accumulator that the part on top holds. Of a table: its own place, which must not be written to.
static tide_status take_payload(struct window_merge *merge, struct merge_part *part, unsigned char **out,
                                bool *out_owned, tide_error *err) {
    *out_owned = part->iter != NULL;
    if (part->iter == NULL) {
        *out = part->entries[part->at]->bytes;
        return TIDE_OK;
    }
    *out = new_payload(merge);
    return decode_value(merge, part->value, *out, err);
}

static struct str keep_key(struct window_merge *merge, struct merge_part *part) {
    if (part->iter == NULL) return part->key;
    return (struct str){tide__arena_strndup(&merge->arena, part->key.data, part->key.len), part->key.len};
}

static bool same_key(struct str a, struct str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

// The next part has a newer value of the same group.
static bool is_overridden(const struct window_merge *merge, const struct merge_part *part) {
    if (!part->overridden || part + 1 == merge->parts + merge->part_count) return false;
    return !part[1].is_done && same_key(part->key, part[1].key);
}

// Makes the accumulator one that may be written to.
static void own(struct window_merge *merge, unsigned char **payload, bool *owned) {
    if (*owned) return;
    unsigned char *copy = new_payload(merge);
    merge->decoded += (size_t)tide__aggregators_merge(merge->aggregators, copy, *payload);
    *payload = copy;
    *owned = true;
}

// Adds one more accumulator of the group.
static tide_status fold_part(struct window_merge *merge, struct merge_part *part, unsigned char **payload, bool *owned,
                             tide_error *err) {
    if (*payload == NULL) return take_payload(merge, part, payload, owned, err);
    own(merge, payload, owned);
    unsigned char *other;
    bool other_owned;
    TIDE_TRY(take_payload(merge, part, &other, &other_owned, err));
    tide__aggregators_merge(merge->aggregators, *payload, other);
    return TIDE_OK;
}

static bool is_piece_of(struct str key, struct str group) {
    return key.len == group.len + WINDOW_PIECE_BYTES &&
           (group.len == 0 || memcmp(key.data, group.data, group.len) == 0);
}

// All parts of the piece at the smallest key, as one accumulator that holds nothing else.
static tide_status merge_piece(struct window_merge *merge, struct str key, unsigned char *piece, tide_error *err) {
    const struct aggregators *aggregators = merge->aggregators;
    unsigned char *other = tide__arena_zalloc(&merge->pieces, merge->payload_size);
    tide_status status = TIDE_OK;
    for (bool first = true; status == TIDE_OK; first = false) {
        struct merge_part *part = &merge->parts[merge->heap[0]];
        assert(part->iter != NULL);
        status = decode_value(merge, part->value, first ? piece : other, err);
        if (!first) tide__aggregators_merge(aggregators, piece, other);
        if (!first) tide__aggregators_release(other, (void *)(uintptr_t)aggregators);
        step_top(merge);
        if (merge->heap_count == 0 || !same_key(merge->parts[merge->heap[0]].key, key)) break;
    }
    return status;
}

// Folds the pieces of a group into its accumulator.
static tide_status absorb_pieces(struct window_merge *merge, struct str group, unsigned char *payload,
                                 tide_error *err) {
    const struct aggregators *aggregators = merge->aggregators;
    size_t decoded = merge->decoded;
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && merge->heap_count > 0 && is_piece_of(merge->parts[merge->heap[0]].key, group)) {
        tide__arena_reset(&merge->pieces);
        struct str top = merge->parts[merge->heap[0]].key;
        struct str key = {tide__arena_strndup(&merge->pieces, top.data, top.len), top.len};
        uint32_t index = (uint32_t)(unsigned char)key.data[group.len] - 1;
        if (index >= aggregators->count || aggregators->items[index].kernel->absorb == NULL)
            return tide__fail(err, TIDE_ERR_RUNTIME,
                              "the state of a window is damaged: a piece belongs to no aggregate");
        unsigned char *piece = tide__arena_zalloc(&merge->pieces, merge->payload_size);
        status = merge_piece(merge, key, piece, err);
        const struct aggregator *a = &aggregators->items[index];
        if (status == TIDE_OK) a->kernel->absorb(a, payload + a->offset, piece + a->offset, &merge->pieces);
        tide__aggregators_release(piece, (void *)(uintptr_t)aggregators);
    }
    merge->decoded = decoded;
    return status;
}

// Folds all parts that stand at the smallest key.
static tide_status next_group(struct window_merge *merge, struct str *out_key, unsigned char **out_payload,
                              tide_error *err) {
    struct merge_part *part = &merge->parts[merge->heap[0]];
    struct str key = keep_key(merge, part);
    unsigned char *payload = NULL;
    bool owned = false;
    do {
        part = &merge->parts[merge->heap[0]];
        if (!is_overridden(merge, part)) TIDE_TRY(fold_part(merge, part, &payload, &owned, err));
        step_top(merge);
    } while (merge->heap_count > 0 && same_key(merge->parts[merge->heap[0]].key, key));
    if (merge->aggregators->has_pieces && merge->heap_count > 0 && is_piece_of(merge->parts[merge->heap[0]].key, key)) {
        own(merge, &payload, &owned);
        TIDE_TRY(absorb_pieces(merge, key, payload, err));
    }
    *out_key = key;
    *out_payload = payload;
    return TIDE_OK;
}

// One table: nothing to compare.
static size_t next_of_table(struct window_merge *merge, size_t max, struct str *keys, unsigned char **payloads) {
    struct merge_part *part = &merge->parts[0];
    size_t n = part->count - part->at < max ? part->count - part->at : max;
    for (size_t i = 0; i < n; i++) {
        struct memtable_entry *entry = part->entries[part->at + i];
        if (part->at + i + 16 < part->count) __builtin_prefetch(part->entries[part->at + i + 16]);
        keys[i] = entry_key(merge, entry);
        payloads[i] = entry->bytes;
    }
    part->at += n;
    return n;
}

static tide_status close_parts(struct window_merge *merge, tide_error *err) {
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < merge->part_count; i++) {
        if (merge->parts[i].iter == NULL) continue;
        tide_status closed = tide__state_iter_close(merge->parts[i].iter, err);
        if (status == TIDE_OK) status = closed;
        merge->parts[i].iter = NULL;
        merge->parts[i].is_done = true;
    }
    return status;
}

tide_status tide__window_merge_next(struct window_merge *merge, size_t max, struct str *keys, unsigned char **payloads,
                                    size_t *out_n, tide_error *err) {
    *out_n = 0;
    release_owned(merge);
    tide__arena_reset(&merge->arena);
    merge->decoded = 0;
    if (merge->part_count == 1 && merge->parts[0].entries != NULL) {
        *out_n = next_of_table(merge, max, keys, payloads);
        return TIDE_OK;
    }
    if (merge->heap == NULL) build_heap(merge);
    size_t n = 0;
    while (n < max && merge->heap_count > 0 && merge->decoded < DECODED_MAX) {
        TIDE_TRY(next_group(merge, &keys[n], &payloads[n], err));
        n++;
    }
    *out_n = n;
    // An iterator that failed looks like one that ended.
    return n == 0 ? close_parts(merge, err) : TIDE_OK;
}

void tide__window_merge_deinit(struct window_merge *merge) {
    tide_error ignored;
    tide__error_clear(&ignored);
    tide_status status = close_parts(merge, &ignored);
    (void)status;
    release_owned(merge);
    tide__free(merge->owned);
    tide__free(merge->parts);
    tide__free(merge->heap);
    tide__arena_deinit(&merge->arena);
    tide__arena_deinit(&merge->pieces);
}
