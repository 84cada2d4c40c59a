// A set around another aggregate. DISTINCT keeps each value once, in the order of first appearance, and runs the inner
// aggregate over the set when a result is wanted. The same set with its counters lets MIN and MAX take rows back (`multiset`).
//
// A large set is written to state in pieces (by the hashes of its elements), so that a window of one huge group is folded
// piece by piece when it fires: what has been folded is in `folded`. Only where the order of the elements plays no part.
//
// Elements are order-preserving key bytes, so that values of every type are compared and hashed alike. In state the
// set is one field: (varint count, varint length, bytes) an element, concatenated; elements that occur twice are united when
// the field is read.
#include "engine/aggregates/accumulator.h"
#include "engine/aggregates/fields.h"
#include "engine/aggregates/value_set.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "engine/codec/key.h"

#include <assert.h>

struct distinct {
    struct value_set *set;  // owned; NULL: empty
    void *folded;           // owned; an accumulator of the inner aggregate with values that are in no set. NULL: none
};

enum { PIECES_FROM = 16 << 10 };  // bytes of elements

// ARRAY_AGG is the one that takes NULLs.
static void apply(const struct aggregator *a, struct aggregate_rows *in, int64_t count) {
    struct strbuf scratch = {0};
    bool nulls = a->call->aggregate->class == &tide__array_agg_class;
    tide__aggregator_prefetch(a, in);
    for (size_t i = 0; i < in->n; i++) {
        uint32_t row = in->rows[i];
        if (!nulls && tide__column_is_null(in->column, row)) continue;
        struct distinct *acc = (struct distinct *)(void *)(in->payloads[i] + a->offset);
        tide__strbuf_clear(&scratch);
        tide__key_append_value(in->column, row, &scratch);
        uint64_t hash = tide__hash_bytes(scratch.data, scratch.len);
        tide__value_set_add(&acc->set, tide__strbuf_str(&scratch), hash, count, &in->charge);
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
    struct distinct *acc = into;
    struct value_set_walk walk = {.set = ((const struct distinct *)from)->set};
    while (tide__value_set_next(&walk))
        tide__value_set_add(&acc->set, walk.bytes, tide__value_set_hash(&walk), walk.count, charge);
}

// Only for DISTINCT, where one occurrence is as good as many.
static void drop_known(const struct aggregator *a, void *accumulator, const void *older, int64_t *charge) {
    struct distinct *acc = accumulator;
    const struct value_set *known = ((const struct distinct *)older)->set;
    if (a->multiset || acc->set == NULL || known == NULL) return;
    struct value_set *fresh = NULL;
    *charge -= tide__value_set_memory(acc->set);
    struct value_set_walk walk = {.set = acc->set};
    while (tide__value_set_next(&walk)) {
        uint64_t hash = tide__value_set_hash(&walk);
        if (!tide__value_set_has(known, walk.bytes, hash))
            tide__value_set_add(&fresh, walk.bytes, hash, walk.count, charge);
    }
    tide__value_set_free(acc->set);
    acc->set = fresh;
}

// Runs the inner aggregate over the elements of a set that are not in `without`.
static void fold(const struct aggregator *a, const struct value_set *set, const struct value_set *without,
                 unsigned char *payload, struct arena *arena) {
    const struct aggregator *inner = a->inner;
    size_t n = 0, rows = 0, at = 0;
    struct value_set_walk walk = {.set = set};
    while (tide__value_set_next(&walk))
        if (walk.count > 0) rows += a->multiset ? (size_t)walk.count : 1;
    struct column column;
    uint32_t live = tide__value_set_live(set);
    tide__column_init(&column, a->argument, live ? live : 1, 1, arena);
    uint32_t *numbers = tide__arena_alloc(arena, (rows + 1) * sizeof *numbers);
    unsigned char **payloads = tide__arena_alloc(arena, (rows + 1) * sizeof *payloads);
    for (walk = (struct value_set_walk){.set = set}; tide__value_set_next(&walk);) {
        if (walk.count <= 0) continue;
        if (without != NULL && tide__value_set_has(without, walk.bytes, tide__value_set_hash(&walk))) continue;
        struct str key = walk.bytes;
        bool ok = tide__key_decode(&key, arena, &column, n);
        assert(ok);
        (void)ok;
        for (int64_t k = a->multiset ? walk.count : 1; k > 0; k--) {
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
            const struct distinct *acc = ACC_AT(struct distinct, payloads, a, i);
            column->i64[i] = tide__value_set_live(acc->set) + (acc->folded != NULL ? *(const int64_t *)acc->folded : 0);
        }
        return;
    }
    size_t size = a->inner->kernel->size;
    unsigned char *space = tide__arena_zalloc(arena, size * n);
    unsigned char **inner_payloads = tide__arena_alloc(arena, n * sizeof *inner_payloads);
    for (size_t i = 0; i < n; i++) {
        inner_payloads[i] = space + i * size;
        const struct distinct *acc = ACC_AT(struct distinct, payloads, a, i);
        if (acc->folded != NULL) memcpy(inner_payloads[i], acc->folded, size);
        if (acc->set != NULL) fold(a, acc->set, NULL, inner_payloads[i], arena);
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

static void put_element(struct strbuf *out, struct str bytes, int64_t count) {
    field_put_varint(out, (uint64_t)count);
    field_put_bytes(out, bytes.data, bytes.len);
}

static void encode(const struct aggregator *a, const void *accumulator, struct strbuf *out) {
    (void)a;
    struct strbuf bytes = {0};
    struct value_set_walk walk = {.set = ((const struct distinct *)accumulator)->set};
    while (tide__value_set_next(&walk)) put_element(&bytes, walk.bytes, walk.count);
    field_put_bytes(out, bytes.data, bytes.len);
    tide__strbuf_deinit(&bytes);
}

// Whether the bytes are one value of the argument's form. Results then need not check.
static bool is_value(const struct aggregator *a, struct str bytes, struct column *column, struct arena *arena) {
    if (a->physical == PHYSICAL_I64 && bytes.len == 9) return bytes.data[0] == 1;
    if (column->data == NULL) tide__column_init(column, a->argument, 1, 1, arena);
    return tide__key_decode(&bytes, arena, column, 0) && bytes.len == 0;
}

static bool decode(const struct aggregator *a, struct str *value, void *accumulator, int64_t *charge) {
    struct str bytes, element;
    if (!field_get_bytes(value, &bytes)) return false;
    struct arena arena;
    tide__arena_init(&arena);
    struct column column = {0};
    bool ok = true;
    while (ok && bytes.len > 0) {
        uint64_t count = 0;
        ok = field_get_varint(&bytes, &count) && field_get_bytes(&bytes, &element);
        ok = ok && is_value(a, element, &column, &arena);
        uint64_t hash = ok ? tide__hash_bytes(element.data, element.len) : 0;
        if (ok) tide__value_set_add(&((struct distinct *)accumulator)->set, element, hash, (int64_t)count, charge);
    }
    tide__arena_deinit(&arena);
    return ok;
}

static void release(const struct aggregator *a, void *accumulator) {
    (void)a;
    struct distinct *acc = accumulator;
    tide__value_set_free(acc->set);
    tide__free(acc->folded);
    *acc = (struct distinct){0};
}

// --- pieces -----------------------------------------------------------------------------------------------------------

static bool wants_pieces(const struct aggregator *a, const void *accumulator) {
    (void)a;
    return tide__value_set_bytes(((const struct distinct *)accumulator)->set) >= PIECES_FROM;
}

static void *cut(const struct aggregator *a, const void *accumulator) {
    (void)a;
    return tide__value_set_cut(((const struct distinct *)accumulator)->set);
}

static bool encode_piece(const struct aggregator *a, const void *accumulator, const void *cut_, uint32_t piece,
                         struct strbuf *out) {
    (void)a;
    const struct value_set *set = ((const struct distinct *)accumulator)->set;
    const struct value_set_pieces *pieces = cut_;
    struct strbuf bytes = {0};
    for (uint32_t i = pieces->offsets[piece]; i < pieces->offsets[piece + 1]; i++) {
        struct str element;
        int64_t count;
        if (tide__value_set_at(set, pieces->order[i], &element, &count)) put_element(&bytes, element, count);
    }
    bool any = bytes.len > 0;
    if (any) field_put_bytes(out, bytes.data, bytes.len);
    tide__strbuf_deinit(&bytes);
    return any;
}

static void absorb(const struct aggregator *a, void *accumulator, const void *piece, struct arena *arena) {
    struct distinct *acc = accumulator;
    if (acc->folded == NULL) acc->folded = tide__calloc(1, a->inner->kernel->size);
    fold(a, ((const struct distinct *)piece)->set, acc->set, acc->folded, arena);
}

#define DISTINCT_KERNEL                                                                                                \
    .size = sizeof(struct distinct), .combinable = true, .update = update, .retract = retract, .merge = merge,         \
    .drop_known = drop_known, .result = result, .field_count = 1,                                                      \
    .fields = {{" values", "MULTISET", STATE_FORM_BYTES, STATE_COMBINE_CONCAT}}, .encode = encode, .decode = decode,   \
    .release = release

static const struct aggregate_kernel kernel = {DISTINCT_KERNEL};
static const struct aggregate_kernel pieces_kernel = {DISTINCT_KERNEL, .wants_pieces = wants_pieces, .cut = cut,
                                                      .encode_piece = encode_piece, .absorb = absorb};

// What adds up exactly does so in any order, and so piece by piece.
static bool adds_up(const struct aggregate_kernel *inner) {
    for (size_t i = 0; i < inner->field_count; i++)
        if (inner->fields[i].combiner != STATE_COMBINE_ADD) return false;
    return inner->combinable && inner->release == NULL;
}

const struct aggregate_kernel *tide__distinct_kernel(const struct aggregator *aggregator) {
    bool in_pieces = !aggregator->multiset && adds_up(aggregator->inner->kernel);
    return in_pieces ? &pieces_kernel : &kernel;
}
