// A set around another aggregate. DISTINCT keeps each value once, in the order of first appearance, and runs the inner
// aggregate over the set when a result is wanted. The same set with its counters lets MIN and MAX take rows back (`multiset`).
//
// Elements are order-preserving key bytes, so that values of every type are compared and hashed alike. In state the
// set is one field: (varint count, varint length, bytes) an element, concatenated; elements that occur twice are united when
// the field is read.
#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"

#include <assert.h>

struct element {
    uint64_t hash;
    uint32_t offset, len;  // in bytes
    int64_t count;         // of occurrences; 0: taken back
};

struct set {
    struct element *elements;
    size_t element_cap;
    uint32_t element_count, live;
    uint32_t *slots;  // 1 + index of an element; 0: free
    uint32_t mask;
    char *bytes;
    size_t byte_count, byte_cap;
};

struct distinct {
    struct set *set;  // owned; NULL: empty
};

enum { SLOTS_FIRST = 8 };

static int64_t set_memory(const struct set *set) {
    return set == NULL ? 0
                       : (int64_t)(sizeof *set + set->element_cap * sizeof *set->elements + set->byte_cap +
                                   (set->mask + 1) * sizeof *set->slots);
}

static void set_free(struct set *set) {
    if (set == NULL) return;
    tide__free(set->elements);
    tide__free(set->slots);
    tide__free(set->bytes);
    tide__free(set);
}

static void place(struct set *set, uint32_t index) {
    uint32_t at = (uint32_t)set->elements[index].hash & set->mask;
    while (set->slots[at]) at = (at + 1) & set->mask;
    set->slots[at] = index + 1;
}

static void grow(struct set *set) {
    set->mask = set->mask * 2 + 1;
    tide__free(set->slots);
    set->slots = tide__calloc((size_t)set->mask + 1, sizeof *set->slots);
    for (uint32_t i = 0; i < set->element_count; i++) place(set, i);
}

static struct element *set_find(const struct set *set, struct str bytes, uint64_t hash) {
    for (uint32_t at = (uint32_t)hash & set->mask; set->slots[at]; at = (at + 1) & set->mask) {
        struct element *element = &set->elements[set->slots[at] - 1];
        if (element->hash == hash && element->len == bytes.len &&
            memcmp(set->bytes + element->offset, bytes.data, bytes.len) == 0)
            return element;
    }
    return NULL;
}

static void set_insert(struct set *set, struct str bytes, uint64_t hash, int64_t count) {
    if (set->element_count + 1 > (set->mask + 1) / 4 * 3) grow(set);
    set->elements = tide__grow(set->elements, &set->element_cap, (size_t)set->element_count + 1, sizeof *set->elements);
    set->bytes = tide__grow(set->bytes, &set->byte_cap, set->byte_count + bytes.len, 1);
    memcpy(set->bytes + set->byte_count, bytes.data, bytes.len);
    set->elements[set->element_count] = (struct element){hash, (uint32_t)set->byte_count, (uint32_t)bytes.len, count};
    set->byte_count += bytes.len;
    assert(set->byte_count <= UINT32_MAX);
    place(set, set->element_count++);
    set->live++;
}

static struct set *set_new(void) {
    struct set *set = tide__calloc(1, sizeof *set);
    set->mask = SLOTS_FIRST - 1;
    set->slots = tide__calloc(SLOTS_FIRST, sizeof *set->slots);
    return set;
}

static void set_add(struct distinct *acc, struct str bytes, uint64_t hash, int64_t count, int64_t *charge) {
    int64_t before = set_memory(acc->set);
    if (acc->set == NULL) acc->set = set_new();
    struct element *element = set_find(acc->set, bytes, hash);
    if (element == NULL) {
        set_insert(acc->set, bytes, hash, count);
    } else {
        acc->set->live += element->count == 0 && count != 0;
        element->count += count;
        acc->set->live -= element->count == 0 && count != 0;
    }
    *charge += set_memory(acc->set) - before;
}

// Without the elements that were taken back: they would pile up.
static void set_compact(struct distinct *acc, int64_t *charge) {
    struct set *old = acc->set;
    if (old->element_count < 32 || old->live > old->element_count / 2) return;
    *charge -= set_memory(old);
    struct distinct fresh = {0};
    for (uint32_t i = 0; i < old->element_count; i++) {
        const struct element *e = &old->elements[i];
        if (e->count != 0) set_add(&fresh, (struct str){old->bytes + e->offset, e->len}, e->hash, e->count, charge);
    }
    acc->set = fresh.set;
    set_free(old);
}

// ARRAY_AGG is the one that takes NULLs.
static void apply(const struct aggregator *a, struct aggregate_rows *in, int64_t count) {
    struct strbuf scratch = {0};
    bool nulls = a->call->aggregate->class == &tide__array_agg_class;
    for (size_t i = 0; i < in->n; i++) {
        uint32_t row = in->rows[i];
        if (!nulls && tide__column_is_null(in->column, row)) continue;
        struct distinct *acc = (struct distinct *)(void *)(in->payloads[i] + a->offset);
        tide__strbuf_clear(&scratch);
        tide__key_append_value(in->column, row, &scratch);
        uint64_t hash = tide__hash_bytes(scratch.data, scratch.len);
        set_add(acc, tide__strbuf_str(&scratch), hash, count, &in->charge);
        if (count < 0) set_compact(acc, &in->charge);
    }
    tide__strbuf_deinit(&scratch);
}

static void update(const struct aggregator *a, struct aggregate_rows *in) {
    apply(a, in, 1);
}

static void retract(const struct aggregator *a, struct aggregate_rows *in) {
    apply(a, in, -1);
}

static void merge(const struct aggregator *a, void *into, const void *from, int64_t *charge) {
    (void)a;
    const struct set *other = ((const struct distinct *)from)->set;
    if (other == NULL) return;
    for (uint32_t i = 0; i < other->element_count; i++) {
        const struct element *e = &other->elements[i];
        if (e->count != 0) set_add(into, (struct str){other->bytes + e->offset, e->len}, e->hash, e->count, charge);
    }
}

// Only for DISTINCT, where one occurrence is as good as many.
static void drop_known(const struct aggregator *a, void *accumulator, const void *older, int64_t *charge) {
    struct distinct *acc = accumulator;
    const struct set *known = ((const struct distinct *)older)->set;
    if (a->multiset || acc->set == NULL || known == NULL) return;
    struct set *old = acc->set;
    struct distinct fresh = {0};
    *charge -= set_memory(old);
    for (uint32_t i = 0; i < old->element_count; i++) {
        const struct element *e = &old->elements[i];
        struct str bytes = {old->bytes + e->offset, e->len};
        if (e->count == 0 || set_find(known, bytes, e->hash) != NULL) continue;
        set_add(&fresh, bytes, e->hash, e->count, charge);
    }
    acc->set = fresh.set;
    set_free(old);
}

// Runs the inner aggregate over the elements of one set.
static void fold(const struct aggregator *a, const struct set *set, unsigned char *payload, struct arena *arena) {
    const struct aggregator *inner = a->inner;
    size_t n = 0, rows = 0;
    for (uint32_t i = 0; i < set->element_count; i++) {
        int64_t count = set->elements[i].count;
        if (count > 0) rows += a->multiset ? (size_t)count : 1;
    }
    struct column column;
    tide__column_init(&column, a->argument, set->live ? set->live : 1, 1, arena);
    uint32_t *numbers = tide__arena_alloc(arena, (rows + 1) * sizeof *numbers);
    unsigned char **payloads = tide__arena_alloc(arena, (rows + 1) * sizeof *payloads);
    size_t at = 0;
    for (uint32_t i = 0; i < set->element_count; i++) {
        const struct element *e = &set->elements[i];
        if (e->count <= 0) continue;
        struct str key = {set->bytes + e->offset, e->len};
        bool ok = tide__key_decode(&key, arena, &column, n);
        assert(ok);
        (void)ok;
        for (int64_t k = a->multiset ? e->count : 1; k > 0; k--) {
            numbers[at] = (uint32_t)n;
            payloads[at++] = payload;
        }
        n++;
    }
    struct batch batch = {.rows = n, .column_count = 1, .columns = &column};
    struct aggregate_rows in = {payloads, numbers, at, &batch, &column, arena, 0};
    inner->kernel->update(inner, &in);
}

static void result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                   struct arena *arena) {
    if (a->call->aggregate->class == &tide__count_class) {
        for (size_t i = 0; i < n; i++) {
            const struct set *set = ACC_AT(struct distinct, payloads, a, i)->set;
            column->i64[i] = set == NULL ? 0 : set->live;
        }
        return;
    }
    size_t size = a->inner->kernel->size;
    unsigned char *space = tide__arena_zalloc(arena, size * n);
    unsigned char **inner_payloads = tide__arena_alloc(arena, n * sizeof *inner_payloads);
    for (size_t i = 0; i < n; i++) {
        inner_payloads[i] = space + i * size;
        const struct set *set = ACC_AT(struct distinct, payloads, a, i)->set;
        if (set != NULL) fold(a, set, inner_payloads[i], arena);
    }
    a->inner->kernel->result(a->inner, inner_payloads, n, column, arena);
    if (a->inner->kernel->release == NULL) return;
    // Strings may lie in the inner accumulators, which go now.
    for (size_t i = 0; i < n; i++) {
        if (column->physical == PHYSICAL_STR && !column->nulls[i]) {
            struct str s = column->str[i];
            column->str[i].data = tide__arena_strndup(arena, s.data, s.len);
        }
        a->inner->kernel->release(a->inner, inner_payloads[i]);
    }
}

static void encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    const struct set *set = ((const struct distinct *)accumulator)->set;
    struct strbuf bytes = {0};
    for (uint32_t i = 0; set != NULL && i < set->element_count; i++) {
        const struct element *e = &set->elements[i];
        if (e->count == 0) continue;
        field_put_varint(&bytes, (uint64_t)e->count);
        field_put_bytes(&bytes, set->bytes + e->offset, e->len);
    }
    field_put_bytes(out, bytes.data, bytes.len);
    tide__strbuf_deinit(&bytes);
}

// The value's bytes are checked against the argument's form here, so that results need not.
static bool decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    struct str bytes, element;
    if (!field_get_bytes(value, &bytes)) return false;
    struct arena arena;
    tide__arena_init(&arena);
    struct column column;
    tide__column_init(&column, a->argument, 1, 1, &arena);
    bool ok = true;
    while (ok && bytes.len > 0) {
        uint64_t count = 0;
        ok = field_get_varint(&bytes, &count) && field_get_bytes(&bytes, &element);
        struct str key = element;
        ok = ok && tide__key_decode(&key, &arena, &column, 0) && key.len == 0;
        if (ok) set_add(accumulator, element, tide__hash_bytes(element.data, element.len), (int64_t)count, charge);
    }
    tide__arena_deinit(&arena);
    return ok;
}

static void release(const struct aggregator *a, void *accumulator) {
    (void)a;
    struct distinct *acc = accumulator;
    set_free(acc->set);
    acc->set = NULL;
}

static const struct aggregate_kernel kernel = {
    .size = sizeof(struct distinct),
    .combinable = true,
    .update = update,
    .retract = retract,
    .merge = merge,
    .drop_known = drop_known,
    .result = result,
    .field_count = 1,
    .fields = {{" values", "MULTISET", STATE_FORM_BYTES, STATE_COMBINE_CONCAT}},
    .encode = encode,
    .decode = decode,
    .release = release,
};

const struct aggregate_kernel *tide__distinct_kernel(const struct aggregator *aggregator) {
    (void)aggregator;
    return &kernel;
}
