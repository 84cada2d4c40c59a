// A hash set of strings. Each remembers which number to try next behind it, so that thousands of equal names take a time
// that is linear in their number.
#include "sql/names.h"

#include "base/hash.h"

#include <string.h>

struct name_slot {
    const char *name;
    uint32_t next;
};

static struct name_slot *find(const struct name_set *set, const char *name) {
    uint32_t at = (uint32_t)tide__hash_bytes(name, strlen(name)) & (set->capacity - 1);
    while (set->slots[at].name != NULL && strcmp(set->slots[at].name, name) != 0) at = (at + 1) & (set->capacity - 1);
    return &set->slots[at];
}

static void grow(struct name_set *set) {
    struct name_set bigger = {.arena = set->arena, .capacity = set->capacity == 0 ? 16 : set->capacity * 2};
    bigger.slots = ARENA_ARRAY(set->arena, struct name_slot, bigger.capacity);
    for (uint32_t i = 0; i < set->capacity; i++) {
        if (set->slots[i].name != NULL) *find(&bigger, set->slots[i].name) = set->slots[i];
    }
    bigger.count = set->count;
    *set = bigger;
}

bool tide__names_note(struct name_set *set, const char *name) {
    if (set->count * 2 >= set->capacity) grow(set);
    struct name_slot *slot = find(set, name);
    if (slot->name != NULL) return false;
    slot->name = name;
    set->count++;
    return true;
}

const char *tide__names_unique(struct name_set *set, const char *name) {
    if (tide__names_note(set, name)) return name;
    uint32_t next = find(set, name)->next;
    const char *candidate;
    do {
        candidate = tide__arena_printf(set->arena, "%s%u", name, next++);
    } while (!tide__names_note(set, candidate));
    find(set, name)->next = next;
    return candidate;
}
