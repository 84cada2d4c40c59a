// A line of 64 bytes a key, in which some bits are set. A set that is full is followed by one that is as large as all before
// it, so that there are few of them.
#include "engine/operators/window_known.h"

#include "base/alloc.h"

#include <assert.h>

enum {
    LINE_WORDS = 8,
    KEYS_A_LINE = 48,  // of 512 bits: about one key in a hundred that is not there seems to be
    BITS = 6,
    PARTS_MAX = 24,
    MEMORY_SHARE = 8,
    GROUP = 32,
};

struct known_part {
    uint64_t *words;
    uint64_t lines;
    size_t count, room;  // keys
};

struct window_known {
    struct memory_budget *budget;
    size_t charged;
    uint32_t part_count;
    struct known_part parts[PARTS_MAX];
};

struct window_known *tide__window_known_new(struct memory_budget *budget) {
    struct window_known *known = tide__calloc(1, sizeof *known);
    known->budget = budget;
    return known;
}

void tide__window_known_free(struct window_known *known) {
    if (known == NULL) return;
    for (uint32_t i = 0; i < known->part_count; i++) tide__free(known->parts[i].words);
    tide__budget_release(known->budget, known->charged);
    tide__free(known);
}

static inline uint64_t *line_of(const struct known_part *part, uint64_t hash) {
    // The upper bits of a product choose the line; the hash is mixed so that tables that went by its bits do not matter.
    uint64_t mixed = hash * 0x9E3779B97F4A7C15ULL;
    return part->words + (uint64_t)(((unsigned __int128)mixed * part->lines) >> 64) * LINE_WORDS;
}

static inline uint64_t bits_of(uint64_t hash) {
    return (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ULL;
}

static void add_key(struct known_part *part, uint64_t hash) {
    uint64_t *line = line_of(part, hash), bits = bits_of(hash);
    for (int i = 0; i < BITS; i++, bits >>= 9) line[bits >> 6 & 7] |= UINT64_C(1) << (bits & 63);
}

static bool part_may_have(const struct known_part *part, uint64_t hash) {
    const uint64_t *line = line_of(part, hash);
    uint64_t bits = bits_of(hash);
    for (int i = 0; i < BITS; i++, bits >>= 9)
        if (!(line[bits >> 6 & 7] >> (bits & 63) & 1)) return false;
    return true;
}

bool tide__window_known_may_have(const struct window_known *known, uint64_t hash) {
    for (uint32_t i = known->part_count; i-- > 0;)
        if (part_may_have(&known->parts[i], hash)) return true;
    return false;
}

void tide__window_known_prefetch(const struct window_known *known, uint64_t hash) {
    for (uint32_t i = 0; i < known->part_count; i++) __builtin_prefetch(line_of(&known->parts[i], hash));
}

// The part that takes `count` more keys, or NULL.
static struct known_part *part_for(struct window_known *known, size_t count) {
    struct known_part *last = known->part_count > 0 ? &known->parts[known->part_count - 1] : NULL;
    if (last != NULL && last->room - last->count >= count) return last;
    size_t room = count;
    for (uint32_t i = 0; i < known->part_count; i++) room += known->parts[i].count;
    size_t lines = room / KEYS_A_LINE + 1, bytes = lines * LINE_WORDS * sizeof(uint64_t);
    bool too_large = known->budget != NULL && known->charged + bytes > known->budget->limit / MEMORY_SHARE;
    if (known->part_count == PARTS_MAX || too_large) return NULL;
    tide__budget_charge(known->budget, bytes);
    known->charged += bytes;
    last = &known->parts[known->part_count++];
    *last = (struct known_part){.lines = lines, .room = room};
    last->words = tide__calloc(lines * LINE_WORDS, sizeof *last->words);
    return last;
}

bool tide__window_known_add(struct window_known *known, const struct memtable *table) {
    struct known_part *part = part_for(known, tide__memtable_count(table));
    if (part == NULL) return false;
    struct memtable_cursor cursor = {0};
    struct memtable_entry *entries[GROUP];
    for (size_t n; (n = tide__memtable_walk(table, &cursor, GROUP, entries)) > 0;) {
        for (size_t i = 0; i < n; i++) tide__window_known_prefetch(known, entries[i]->hash);
        for (size_t i = 0; i < n; i++) {
            if (tide__window_known_may_have(known, entries[i]->hash)) continue;
            add_key(part, entries[i]->hash);
            part->count++;
        }
    }
    return true;
}
