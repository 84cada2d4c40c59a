// See ranked_list.h.
#include "engine/operators/ranked_list.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

enum { CHUNK_ROWS_MAX = 256 };

static bool is_behind(const struct ranked_row *row, uint64_t prefix, struct str key) {
    if (row->prefix != prefix) return row->prefix > prefix;
    return tide__str_cmp(tide__ranked_key(row), key) > 0;
}

struct ranked_at tide__ranked_list_find(const struct ranked_list *list, uint64_t prefix, struct str key) {
    // The first chunk whose last row is behind, then the first such row in it.
    uint32_t low = 0, high = list->chunk_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct ranked_chunk *chunk = &list->chunks[middle];
        if (is_behind(chunk->rows[chunk->count - 1], prefix, key)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    struct ranked_at at = {low, 0};
    if (at.chunk == list->chunk_count) return at;
    const struct ranked_chunk *chunk = &list->chunks[at.chunk];
    for (low = 0, high = chunk->count - 1; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (is_behind(chunk->rows[middle], prefix, key)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    at.index = low;
    return at;
}

uint64_t tide__ranked_list_before(const struct ranked_list *list, struct ranked_at at, uint64_t most) {
    uint64_t before = at.index;
    for (uint32_t i = 0; i < at.chunk && before <= most; i++) before += list->chunks[i].count;
    return before;
}

struct ranked_row *tide__ranked_list_nth(const struct ranked_list *list, uint64_t rank) {
    assert(rank >= 1);
    if (rank > list->count) return NULL;
    uint64_t left = rank - 1;
    for (uint32_t i = 0; i < list->chunk_count; i++) {
        if (left < list->chunks[i].count) return list->chunks[i].rows[left];
        left -= list->chunks[i].count;
    }
    return NULL;
}

struct ranked_row *tide__ranked_list_get(const struct ranked_list *list, struct ranked_at at) {
    return at.chunk < list->chunk_count ? list->chunks[at.chunk].rows[at.index] : NULL;
}

struct ranked_row *tide__ranked_list_last(const struct ranked_list *list) {
    if (list->chunk_count == 0) return NULL;
    const struct ranked_chunk *chunk = &list->chunks[list->chunk_count - 1];
    return chunk->rows[chunk->count - 1];
}

struct ranked_at tide__ranked_list_next(const struct ranked_list *list, struct ranked_at at) {
    if (++at.index < list->chunks[at.chunk].count) return at;
    return (struct ranked_at){at.chunk + 1, 0};
}

// A new, empty chunk at `place`.
static void add_chunk(struct ranked_list *list, uint32_t place, struct memory_budget *budget) {
    size_t capacity = list->chunk_capacity;
    list->chunks = tide__grow(list->chunks, &capacity, list->chunk_count + 1, sizeof *list->chunks);
    tide__budget_charge(budget, (capacity - list->chunk_capacity) * sizeof *list->chunks);
    list->chunk_capacity = (uint32_t)capacity;
    memmove(&list->chunks[place + 1], &list->chunks[place], (list->chunk_count - place) * sizeof *list->chunks);
    list->chunks[place] = (struct ranked_chunk){0};
    list->chunk_count++;
}

static void reserve_rows(struct ranked_chunk *chunk, uint32_t needed, struct memory_budget *budget) {
    size_t capacity = chunk->capacity;
    chunk->rows = tide__grow(chunk->rows, &capacity, needed, sizeof *chunk->rows);
    tide__budget_charge(budget, (capacity - chunk->capacity) * sizeof *chunk->rows);
    chunk->capacity = (uint32_t)capacity;
}

// Moves the upper half of a full chunk behind it. At its end only one row moves: rows that come in order fill chunks.
static struct ranked_at split(struct ranked_list *list, struct ranked_at at, struct memory_budget *budget) {
    add_chunk(list, at.chunk + 1, budget);
    struct ranked_chunk *full = &list->chunks[at.chunk], *next = full + 1;
    uint32_t kept = at.index == full->count ? full->count - 1 : full->count / 2, moved = full->count - kept;
    reserve_rows(next, moved, budget);
    memcpy(next->rows, full->rows + kept, moved * sizeof *next->rows);
    next->count = moved;
    full->count = kept;
    if (at.index <= kept) return at;
    return (struct ranked_at){at.chunk + 1, at.index - kept};
}

struct ranked_at tide__ranked_list_insert(struct ranked_list *list, struct ranked_at at, struct ranked_row *row,
                                          struct memory_budget *budget) {
    if (list->chunk_count == 0) add_chunk(list, 0, budget);
    if (at.chunk == list->chunk_count || (list->chunks[at.chunk].count == 0 && at.chunk > 0))
        at = (struct ranked_at){list->chunk_count - 1, list->chunks[list->chunk_count - 1].count};
    if (list->chunks[at.chunk].count == CHUNK_ROWS_MAX) at = split(list, at, budget);
    struct ranked_chunk *chunk = &list->chunks[at.chunk];
    reserve_rows(chunk, chunk->count + 1, budget);
    memmove(&chunk->rows[at.index + 1], &chunk->rows[at.index], (chunk->count - at.index) * sizeof *chunk->rows);
    chunk->rows[at.index] = row;
    chunk->count++;
    list->count++;
    return at;
}

struct ranked_at tide__ranked_list_remove(struct ranked_list *list, struct ranked_at at, struct memory_budget *budget) {
    struct ranked_chunk *chunk = &list->chunks[at.chunk];
    assert(at.chunk < list->chunk_count && at.index < chunk->count);
    memmove(&chunk->rows[at.index], &chunk->rows[at.index + 1], (chunk->count - at.index - 1) * sizeof *chunk->rows);
    chunk->count--;
    list->count--;
    if (chunk->count > 0) {
        if (at.index < chunk->count) return at;
        return (struct ranked_at){at.chunk + 1, 0};
    }
    tide__budget_release(budget, chunk->capacity * sizeof *chunk->rows);
    tide__free(chunk->rows);
    list->chunk_count--;
    memmove(chunk, chunk + 1, (list->chunk_count - at.chunk) * sizeof *chunk);
    return (struct ranked_at){at.chunk, 0};
}

struct ranked_row *tide__ranked_list_pop(struct ranked_list *list, struct memory_budget *budget) {
    struct ranked_at at = {list->chunk_count - 1, list->chunks[list->chunk_count - 1].count - 1};
    struct ranked_row *row = tide__ranked_list_get(list, at);
    tide__ranked_list_remove(list, at, budget);
    return row;
}

void tide__ranked_list_deinit(struct ranked_list *list, struct ranker *ranker) {
    for (uint32_t c = 0; c < list->chunk_count; c++) {
        struct ranked_chunk *chunk = &list->chunks[c];
        for (uint32_t i = 0; i < chunk->count; i++) tide__ranked_free(ranker, chunk->rows[i]);
        tide__budget_release(ranker->budget, chunk->capacity * sizeof *chunk->rows);
        tide__free(chunk->rows);
    }
    tide__budget_release(ranker->budget, list->chunk_capacity * sizeof *list->chunks);
    tide__free(list->chunks);
    *list = (struct ranked_list){0};
}
