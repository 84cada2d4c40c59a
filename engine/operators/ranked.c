// See ranked.h.
#include "engine/operators/ranked.h"

#include "base/alloc.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARRIVAL_BYTES = 8, BLOCK_STEP = 32 };

#define SIGN_BIT UINT64_C(0x8000000000000000)

int tide__ranked_compare(const struct ranked_row *a, const struct ranked_row *b) {
    if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
    return tide__str_cmp(tide__ranked_key(a), tide__ranked_key(b));
}

void tide__ranker_init(struct ranker *ranker, const struct sort_key *sorts, uint32_t sort_count, enum tie_rule ties,
                       struct memory_budget *budget) {
    *ranker = (struct ranker){.sorts = sorts, .sort_count = sort_count, .ties = ties, .budget = budget};
}

size_t tide__ranked_row_bytes(const struct ranked_row *row) {
    return sizeof *row + row->capacity;
}

static size_t capacity_for(size_t bytes) {
    return (bytes + BLOCK_STEP - 1) & ~(size_t)(BLOCK_STEP - 1);
}

size_t tide__ranker_row_bytes(const struct ranker *ranker) {
    return sizeof(struct ranked_row) + capacity_for(ranker->scratch.len);
}

void tide__ranker_deinit(struct ranker *ranker) {
    if (ranker->spare != NULL) {
        tide__budget_release(ranker->budget, tide__ranked_row_bytes(ranker->spare));
        tide__free(ranker->spare);
    }
    tide__strbuf_deinit(&ranker->scratch);
}

// --- prefixes ---------------------------------------------------------------------------------------------------------

static uint64_t of_i64(int64_t v) {
    return (uint64_t)v ^ SIGN_BIT;
}

static uint64_t of_f64(double d) {
    if (d == 0) d = 0;  // -0.0
    if (isnan(d)) return UINT64_MAX;
    uint64_t bits = 0;
    memcpy(&bits, &d, 8);
    return bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
}

static uint64_t of_i128(int128 v) {
    if (v > INT64_MAX) return UINT64_MAX;
    if (v < INT64_MIN) return 0;
    return of_i64((int64_t)v);
}

static uint64_t of_str(struct str s) {
    unsigned char first[8] = {0};
    if (s.len > 0) memcpy(first, s.data, s.len < 8 ? s.len : 8);
    uint64_t prefix = 0;
    memcpy(&prefix, first, 8);
    return __builtin_bswap64(prefix);
}

static void map_values(const struct column *column, size_t rows, uint64_t *out) {
    switch (column->physical) {
    case PHYSICAL_BOOL:
        for (size_t i = 0; i < rows; i++) out[i] = column->bools[i] != 0;
        break;
    case PHYSICAL_I64:
        for (size_t i = 0; i < rows; i++) out[i] = of_i64(column->i64[i]);
        break;
    case PHYSICAL_F64:
        for (size_t i = 0; i < rows; i++) out[i] = of_f64(column->f64[i]);
        break;
    case PHYSICAL_I128:
        for (size_t i = 0; i < rows; i++) out[i] = of_i128(column->i128[i]);
        break;
    case PHYSICAL_STR:
        for (size_t i = 0; i < rows; i++) out[i] = tide__column_is_null(column, i) ? 0 : of_str(column->str[i]);
        break;
    case PHYSICAL_TIME:
        for (size_t i = 0; i < rows; i++) out[i] = of_i64(column->time[i].ms);
        break;
    }
}

void tide__ranker_prefixes(const struct ranker *ranker, const struct batch *batch, uint64_t *out) {
    if (ranker->sort_count == 0) {
        memset(out, 0, batch->rows * sizeof *out);
        return;
    }
    const struct sort_key *sort = &ranker->sorts[0];
    const struct column *column = &batch->columns[sort->column];
    map_values(column, batch->rows, out);
    if (sort->descending)
        for (size_t i = 0; i < batch->rows; i++) out[i] = ~out[i];
    if (column->nulls == NULL) return;
    uint64_t null = sort->nulls_last ? UINT64_MAX : 0;
    for (size_t i = 0; i < batch->rows; i++)
        if (column->nulls[i]) out[i] = null;
}

bool tide__ranker_prefix_is_exact(const struct ranker *ranker, const struct batch *batch, uint64_t prefix) {
    // NULL shares its prefix with the least or the greatest number.
    if (ranker->sort_count != 1 || prefix == 0 || prefix == UINT64_MAX) return false;
    enum physical physical = batch->columns[ranker->sorts[0].column].physical;
    return physical == PHYSICAL_I64 || physical == PHYSICAL_F64;
}

// --- rows -------------------------------------------------------------------------------------------------------------

struct str tide__ranker_key(struct ranker *ranker, const struct batch *batch, size_t row, uint64_t arrival) {
    tide__strbuf_clear(&ranker->scratch);
    tide__key_append(batch, ranker->sorts, ranker->sort_count, row, &ranker->scratch);
    uint64_t number = __builtin_bswap64(ranker->ties == TIE_LAST_ARRIVED ? ~arrival : arrival);
    tide__strbuf_append(&ranker->scratch, &number, ARRIVAL_BYTES);
    return tide__strbuf_str(&ranker->scratch);
}

static struct ranked_row *new_block(struct ranker *ranker, size_t bytes) {
    struct ranked_row *spare = ranker->spare;
    if (spare != NULL && spare->capacity >= bytes && spare->capacity / 4 <= bytes) {
        ranker->spare = NULL;
        spare->in_state = false;
        spare->fresh = 0;
        spare->fresh_next = spare->fresh_before = NULL;
        return spare;
    }
    size_t capacity = capacity_for(bytes);
    struct ranked_row *row = tide__alloc(sizeof *row + capacity);
    row->capacity = (uint32_t)capacity & 0x7FFFFFFF;
    row->in_state = false;
    row->fresh = 0;
    row->fresh_next = row->fresh_before = NULL;
    tide__budget_charge(ranker->budget, tide__ranked_row_bytes(row));
    return row;
}

struct ranked_row *tide__ranked_new(struct ranker *ranker, const struct batch *batch, size_t row, uint64_t prefix) {
    size_t key_len = ranker->scratch.len;
    tide__row_append(batch, row, &ranker->scratch);
    struct ranked_row *block = new_block(ranker, ranker->scratch.len);
    block->prefix = prefix;
    block->key_len = (uint32_t)key_len;
    block->row_len = (uint32_t)(ranker->scratch.len - key_len);
    memcpy(block->bytes, ranker->scratch.data, ranker->scratch.len);
    return block;
}

struct ranked_row *tide__ranked_restore(struct ranker *ranker, struct str key, struct str row, uint64_t prefix) {
    struct ranked_row *block = new_block(ranker, key.len + row.len);
    block->prefix = prefix;
    block->key_len = (uint32_t)key.len;
    block->row_len = (uint32_t)row.len;
    block->in_state = true;
    memcpy(block->bytes, key.data, key.len);
    memcpy(block->bytes + key.len, row.data, row.len);
    return block;
}

void tide__ranked_free(struct ranker *ranker, struct ranked_row *row) {
    if (row == NULL) return;
    if (ranker->spare == NULL) {
        ranker->spare = row;
        return;
    }
    tide__budget_release(ranker->budget, tide__ranked_row_bytes(row));
    tide__free(row);
}

static int compare_slots(const void *a, const void *b) {
    return tide__ranked_compare(*(struct ranked_row *const *)a, *(struct ranked_row *const *)b);
}

void tide__ranked_sort(struct ranked_row **rows, size_t count) {
    if (count > 1) qsort(rows, count, sizeof *rows, compare_slots);
}

// --- the heap -----------------------------------------------------------------------------------------------------------

static void sift_up(struct ranked_heap *heap, uint32_t at) {
    struct ranked_row *row = heap->rows[at];
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (tide__ranked_compare(heap->rows[parent], row) > 0) break;
        heap->rows[at] = heap->rows[parent];
        at = parent;
    }
    heap->rows[at] = row;
}

static void sift_down(struct ranked_heap *heap, uint32_t at) {
    struct ranked_row *row = heap->rows[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= heap->count) break;
        if (child + 1 < heap->count && tide__ranked_compare(heap->rows[child + 1], heap->rows[child]) > 0) child++;
        if (tide__ranked_compare(heap->rows[child], row) < 0) break;
        heap->rows[at] = heap->rows[child];
        at = child;
    }
    heap->rows[at] = row;
}

struct ranked_row *tide__ranked_heap_put(struct ranked_heap *heap, struct ranker *ranker, uint32_t limit,
                                         struct ranked_row *row) {
    assert(limit > 0);
    struct ranked_row *evicted = NULL;
    if (heap->count < limit) {
        if (heap->count == heap->capacity) {
            size_t capacity = heap->capacity;
            heap->rows = tide__grow(heap->rows, &capacity, heap->count + 1, sizeof *heap->rows);
            tide__budget_charge(ranker->budget, (capacity - heap->capacity) * sizeof *heap->rows);
            heap->capacity = (uint32_t)capacity;
        }
        heap->rows[heap->count++] = row;
        sift_up(heap, heap->count - 1);
    } else {
        if (tide__ranked_compare(row, heap->rows[0]) > 0) return row;
        evicted = heap->rows[0];
        heap->rows[0] = row;
        sift_down(heap, 0);
    }
    heap->worst = heap->count == limit ? heap->rows[0]->prefix : UINT64_MAX;
    return evicted;
}

bool tide__ranked_heap_offer(struct ranked_heap *heap, struct ranker *ranker, uint32_t limit, const struct batch *batch,
                             size_t row, uint64_t prefix, struct ranked_row **out_evicted) {
    bool full = heap->count == limit;
    if (full && prefix == heap->rows[0]->prefix && ranker->ties == TIE_FIRST_ARRIVED &&
        tide__ranker_prefix_is_exact(ranker, batch, prefix))
        return false;
    struct str key = tide__ranker_key(ranker, batch, row, ranker->arrival);
    if (full && prefix >= heap->rows[0]->prefix && tide__str_cmp(key, tide__ranked_key(heap->rows[0])) > 0)
        return false;
    ranker->arrival++;
    *out_evicted = tide__ranked_heap_put(heap, ranker, limit, tide__ranked_new(ranker, batch, row, prefix));
    return true;
}

void tide__ranked_heap_deinit(struct ranked_heap *heap, struct ranker *ranker) {
    for (uint32_t i = 0; i < heap->count; i++) tide__ranked_free(ranker, heap->rows[i]);
    tide__budget_release(ranker->budget, heap->capacity * sizeof *heap->rows);
    tide__free(heap->rows);
    *heap = (struct ranked_heap){.worst = UINT64_MAX};
}

void tide__ranked_heap_drop(struct ranked_heap *heap, struct memory_budget *budget) {
    size_t bytes = heap->capacity * sizeof *heap->rows;
    for (uint32_t i = 0; i < heap->count; i++) {
        bytes += tide__ranked_row_bytes(heap->rows[i]);
        tide__free(heap->rows[i]);
    }
    tide__budget_release(budget, bytes);
    tide__free(heap->rows);
    *heap = (struct ranked_heap){.worst = UINT64_MAX};
}

// --- state ------------------------------------------------------------------------------------------------------------------

void tide__row_value_append(struct str row, struct strbuf *out) {
    for (size_t len = row.len;; len >>= 7) {
        tide__strbuf_append_char(out, (char)(len < 0x80 ? len : (len & 0x7F) | 0x80));
        if (len < 0x80) break;
    }
    tide__strbuf_append_str(out, row);
}

bool tide__row_value_parse(struct str value, struct str *out_row) {
    size_t len = 0, at = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (at == value.len) return false;
        unsigned char byte = (unsigned char)value.data[at++];
        len |= (size_t)(byte & 0x7F) << shift;
        if (byte >= 0x80) continue;
        *out_row = (struct str){value.data + at, len};
        return len == value.len - at;
    }
    return false;
}

const char *tide__row_type_text(const struct plan_field *fields, uint32_t count, struct arena *arena) {
    struct strbuf text = {0};
    tide__strbuf_append_c(&text, "ROW<");
    for (uint32_t i = 0; i < count; i++) {
        tide__strbuf_printf(&text, "%s`%s` ", i == 0 ? "" : ", ", fields[i].name);
        tide__type_print(fields[i].type, &text);
    }
    tide__strbuf_append_char(&text, '>');
    const char *copy = tide__arena_strndup(arena, text.data, text.len);
    tide__strbuf_deinit(&text);
    return copy;
}
