#include "engine/aggregates/value_set.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <assert.h>
#include <string.h>

enum { SMALL_ELEMENTS = 8, SMALL_BYTES = 512, SMALL_FIRST = 40, SLOTS_FIRST = 16 };

// Of a large set.
struct element {
    uint64_t hash;
    uint32_t offset, len;  // in bytes
    int64_t count;         // of occurrences; 0: taken back
};

struct table {
    struct element *elements;
    size_t element_cap;
    uint32_t *slots;  // 1 + index of an element; 0: free
    uint32_t mask;
    char *bytes;
    size_t byte_count, byte_cap;
};

// Of a small set: elements one after the other, each with its bytes.
struct small_element {
    int64_t count;
    uint32_t len;
} __attribute__((packed));

struct value_set {
    uint32_t count, live;
    uint32_t used, cap;   // small: bytes behind this struct
    struct table *table;  // NULL: small
    char data[];
};

int64_t tide__value_set_memory(const struct value_set *set) {
    if (set == NULL) return 0;
    size_t bytes = sizeof *set + set->cap;
    const struct table *t = set->table;
    if (t != NULL)
        bytes += sizeof *t + t->element_cap * sizeof *t->elements + t->byte_cap + (t->mask + 1) * sizeof *t->slots;
    return (int64_t)bytes;
}

static void free_table(struct table *table) {
    if (table == NULL) return;
    tide__free(table->elements);
    tide__free(table->slots);
    tide__free(table->bytes);
    tide__free(table);
}

void tide__value_set_free(struct value_set *set) {
    if (set == NULL) return;
    free_table(set->table);
    tide__free(set);
}

uint32_t tide__value_set_live(const struct value_set *set) {
    return set == NULL ? 0 : set->live;
}

size_t tide__value_set_bytes(const struct value_set *set) {
    if (set == NULL) return 0;
    return set->table != NULL ? set->table->byte_count : set->used;
}

// --- small ----------------------------------------------------------------------------------------------------------

// The place of an element, or NULL.
static char *small_find(const struct value_set *set, struct str bytes) {
    struct small_element e;
    for (uint32_t at = 0; at < set->used; at += (uint32_t)sizeof e + e.len) {
        memcpy(&e, set->data + at, sizeof e);
        if (e.len == bytes.len && memcmp(set->data + at + sizeof e, bytes.data, bytes.len) == 0)
            return (char *)(uintptr_t)(set->data + at);
    }
    return NULL;
}

static void small_append(struct value_set **set, struct str bytes, int64_t count) {
    struct value_set *s = *set;
    size_t needed = s->used + sizeof(struct small_element) + bytes.len;
    if (needed > s->cap) {
        size_t cap = s->cap * 3 / 2;
        if (cap < needed) cap = needed;
        cap = (cap + 7) & ~(size_t)7;
        *set = s = tide__realloc(s, sizeof *s + cap);
        s->cap = (uint32_t)cap;
    }
    struct small_element e = {count, (uint32_t)bytes.len};
    memcpy(s->data + s->used, &e, sizeof e);
    memcpy(s->data + s->used + sizeof e, bytes.data, bytes.len);
    s->used += (uint32_t)(sizeof e + bytes.len);
    s->count++;
    s->live++;
}

// --- large ----------------------------------------------------------------------------------------------------------

static void place(struct table *table, uint32_t index) {
    uint32_t at = (uint32_t)table->elements[index].hash & table->mask;
    while (table->slots[at]) at = (at + 1) & table->mask;
    table->slots[at] = index + 1;
}

static void resize_slots(struct table *table, uint32_t count, uint32_t slots) {
    tide__free(table->slots);
    table->mask = slots - 1;
    table->slots = tide__calloc(slots, sizeof *table->slots);
    for (uint32_t i = 0; i < count; i++) place(table, i);
}

static struct element *large_find(const struct table *table, struct str bytes, uint64_t hash) {
    for (uint32_t at = (uint32_t)hash & table->mask; table->slots[at]; at = (at + 1) & table->mask) {
        struct element *element = &table->elements[table->slots[at] - 1];
        if (element->hash == hash && element->len == bytes.len &&
            memcmp(table->bytes + element->offset, bytes.data, bytes.len) == 0)
            return element;
    }
    return NULL;
}

static void large_append(struct value_set *set, struct str bytes, uint64_t hash, int64_t count) {
    struct table *t = set->table;
    if (set->count + 1 > (t->mask + 1) / 4 * 3) resize_slots(t, set->count, (t->mask + 1) * 2);
    t->elements = tide__grow(t->elements, &t->element_cap, (size_t)set->count + 1, sizeof *t->elements);
    t->bytes = tide__grow(t->bytes, &t->byte_cap, t->byte_count + bytes.len, 1);
    if (bytes.len > 0) memcpy(t->bytes + t->byte_count, bytes.data, bytes.len);
    t->elements[set->count] = (struct element){hash, (uint32_t)t->byte_count, (uint32_t)bytes.len, count};
    t->byte_count += bytes.len;
    assert(t->byte_count <= UINT32_MAX);
    place(t, set->count++);
    set->live++;
}

// From small to large; or a large one anew, without the elements that were taken back: they would pile up.
static struct value_set *rebuild(struct value_set *old) {
    struct value_set *set = tide__calloc(1, sizeof *set);
    set->table = tide__calloc(1, sizeof *set->table);
    resize_slots(set->table, 0, SLOTS_FIRST);
    struct value_set_walk walk = {.set = old};
    while (tide__value_set_next(&walk)) large_append(set, walk.bytes, tide__value_set_hash(&walk), walk.count);
    tide__value_set_free(old);
    return set;
}

static void add_large(struct value_set **set, struct str bytes, uint64_t hash, int64_t count) {
    struct value_set *s = *set;
    struct element *element = large_find(s->table, bytes, hash);
    if (element == NULL) {
        large_append(s, bytes, hash, count);
        return;
    }
    s->live += element->count == 0 && count != 0;
    element->count += count;
    s->live -= element->count == 0 && count != 0;
    if (count < 0 && s->count >= 32 && s->live <= s->count / 2) *set = rebuild(s);
}

static void add_small(struct value_set **set, struct str bytes, uint64_t hash, int64_t count) {
    struct value_set *s = *set;
    char *found = small_find(s, bytes);
    if (found == NULL) {
        if (s->count < SMALL_ELEMENTS && s->used + bytes.len <= SMALL_BYTES) {
            small_append(set, bytes, count);
            return;
        }
        *set = rebuild(s);
        add_large(set, bytes, hash, count);
        return;
    }
    struct small_element e;
    memcpy(&e, found, sizeof e);
    s->live += e.count == 0 && count != 0;
    e.count += count;
    s->live -= e.count == 0 && count != 0;
    memcpy(found, &e, sizeof e);
}

void tide__value_set_add(struct value_set **set, struct str bytes, uint64_t hash, int64_t count, int64_t *charge) {
    int64_t before = tide__value_set_memory(*set);
    if (*set == NULL) {
        *set = tide__alloc(sizeof **set + SMALL_FIRST);
        **set = (struct value_set){.cap = SMALL_FIRST};
    }
    if ((*set)->table != NULL)
        add_large(set, bytes, hash, count);
    else
        add_small(set, bytes, hash, count);
    *charge += tide__value_set_memory(*set) - before;
}

bool tide__value_set_has(const struct value_set *set, struct str bytes, uint64_t hash) {
    if (set == NULL) return false;
    return set->table != NULL ? large_find(set->table, bytes, hash) != NULL : small_find(set, bytes) != NULL;
}

// --- walking ----------------------------------------------------------------------------------------------------------

bool tide__value_set_next(struct value_set_walk *walk) {
    const struct value_set *set = walk->set;
    if (set == NULL) return false;
    while (walk->at < set->count) {
        if (set->table != NULL) {
            const struct element *e = &set->table->elements[walk->at];
            walk->bytes = (struct str){set->table->bytes + e->offset, e->len};
            walk->count = e->count;
        } else {
            struct small_element e;
            memcpy(&e, set->data + walk->offset, sizeof e);
            walk->bytes = (struct str){set->data + walk->offset + sizeof e, e.len};
            walk->count = e.count;
            walk->offset += (uint32_t)sizeof e + e.len;
        }
        walk->at++;
        if (walk->count != 0) return true;
    }
    return false;
}

uint64_t tide__value_set_hash(const struct value_set_walk *walk) {
    if (walk->set->table != NULL) return walk->set->table->elements[walk->at - 1].hash;
    return tide__hash_bytes(walk->bytes.data, walk->bytes.len);
}

// --- pieces -----------------------------------------------------------------------------------------------------------

static uint32_t piece_of(uint64_t hash) {
    return (uint32_t)(hash >> 56);
}

struct value_set_pieces *tide__value_set_cut(const struct value_set *set) {
    assert(set->table != NULL);
    struct value_set_pieces *pieces = tide__alloc(sizeof *pieces + set->count * sizeof *pieces->order);
    memset(pieces->offsets, 0, sizeof pieces->offsets);
    const struct element *elements = set->table->elements;
    for (uint32_t i = 0; i < set->count; i++) pieces->offsets[piece_of(elements[i].hash) + 1]++;
    for (uint32_t p = 0; p < VALUE_SET_PIECES; p++) pieces->offsets[p + 1] += pieces->offsets[p];
    uint32_t at[VALUE_SET_PIECES];
    memcpy(at, pieces->offsets, sizeof at);
    for (uint32_t i = 0; i < set->count; i++) pieces->order[at[piece_of(elements[i].hash)]++] = i;
    return pieces;
}

bool tide__value_set_at(const struct value_set *set, uint32_t number, struct str *out_bytes, int64_t *out_count) {
    const struct element *e = &set->table->elements[number];
    *out_bytes = (struct str){set->table->bytes + e->offset, e->len};
    *out_count = e->count;
    return e->count != 0;
}
