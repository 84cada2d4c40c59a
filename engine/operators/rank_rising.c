// Regular Top-N over rows that only rise: each row of the input replaces the one with its unique key and never ranks lower
// than that did. So only the best N are kept. (Flink's UpdatableTopN; with N = 1 its FastTop1.)
//
// What Flink keeps shows in its changes, so the same is kept here: a row that ties with the worst one does not enter a full
// Top-N, and when ranks are shown, the row that has just fallen out stays, with all that tie with it.
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/rank_rows.h"

#include <assert.h>
#include <string.h>

enum { ARRIVAL_BYTES = 8 };

// <0: a ranks before b, whatever their arrival.
static int compare_sorts(struct str a, struct str b) {
    a.len -= ARRIVAL_BYTES;
    b.len -= ARRIVAL_BYTES;
    return tide__str_cmp(a, b);
}

static uint32_t hash_of(struct str key) {
    return (uint32_t)tide__hash_bytes(key.data, key.len);
}

// The unique key of the row in op->one.
static struct str unique_key(struct rank *op) {
    struct str key;
    tide__key_encode(&op->one, op->plan->unique_keys, op->plan->unique_key_count, (struct str){0}, &op->scratch, &key);
    return key;
}

static bool has_key(struct rank *op, const struct ranked_row *row, struct str key) {
    bool good = tide__row_decode(tide__ranked_bytes(row), op->one.columns, op->fields, 0);
    assert(good);
    (void)good;
    return tide__str_eq(unique_key(op), key);
}

// The kept row with the unique key. Partitions are part of it, so it can't be in another group.
static struct ranked_row *find_row(struct rank *op, const struct rank_group *group, struct str key) {
    uint32_t hash = hash_of(key);
    for (uint32_t c = 0; c < group->list.chunk_count; c++) {
        const struct ranked_chunk *chunk = &group->list.chunks[c];
        for (uint32_t i = 0; i < chunk->count; i++)
            if (chunk->rows[i]->unique == hash && has_key(op, chunk->rows[i], key)) return chunk->rows[i];
    }
    return NULL;
}

static struct ranked_at place_of(const struct rank_group *group, const struct ranked_row *row) {
    struct ranked_at at = tide__ranked_list_find(&group->list, row->prefix, tide__ranked_key(row));
    if (at.index > 0) return (struct ranked_at){at.chunk, at.index - 1};
    return (struct ranked_at){at.chunk - 1, group->list.chunks[at.chunk - 1].count - 1};
}

static uint64_t rank_of(const struct rank_group *group, const struct ranked_row *row) {
    return 1 + tide__ranked_list_before(&group->list, place_of(group, row), UINT64_MAX);
}

// Takes the old row out of the list, if there is one, and puts the new one in; its key is in the ranker's scratch.
static struct ranked_row *put(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row,
                              uint64_t prefix, struct ranked_row *old, struct str key) {
    struct ranked_row *entered = tide__ranked_new(&op->ranker, batch, row, prefix);
    if (old != NULL) {
        tide__ranked_list_remove(&group->list, place_of(group, old), op->env.budget);
        tide__rank_bury(op, group, old);
    }
    struct ranked_at at = tide__ranked_list_find(&group->list, prefix, tide__ranked_key(entered));
    tide__ranked_list_insert(&group->list, at, entered, op->env.budget);
    tide__rank_state_entered(op, group, entered);
    entered->unique = hash_of(key);
    return entered;
}

// --- with ranks -------------------------------------------------------------------------------------------------------------

// The new row stands in the list at `rank`; what it passed moves down, to where the old row was, or to the end.
static void pass(struct rank *op, const struct rank_group *group, const struct ranked_row *row, uint64_t rank,
                 const struct ranked_row *old, uint64_t old_rank) {
    struct ranked_at at = tide__ranked_list_next(&group->list, place_of(group, row));
    const struct ranked_row *next;
    bool taken_back = old == NULL;
    for (; rank <= op->last && (old == NULL || rank < old_rank); rank++) {
        if ((next = tide__ranked_list_get(&group->list, at)) == NULL) break;
        tide__rank_change(op, next, ROW_UPDATE_BEFORE, rank);
        if (!taken_back) tide__rank_change(op, old, ROW_UPDATE_BEFORE, old_rank);
        taken_back = true;
        tide__rank_change(op, row, ROW_UPDATE_AFTER, rank);
        row = next;
        at = tide__ranked_list_next(&group->list, at);
    }
    if (rank > op->last) return;
    if (!taken_back) tide__rank_change(op, old, ROW_UPDATE_BEFORE, old_rank);
    tide__rank_change(op, row, old == NULL ? ROW_INSERT : ROW_UPDATE_AFTER, rank);
}

// A row that fell after all: what stood behind it moves up.
static void fall(struct rank *op, const struct rank_group *group, const struct ranked_row *row, uint64_t rank,
                 const struct ranked_row *old, uint64_t old_rank) {
    tide__rank_change(op, old, ROW_UPDATE_BEFORE, old_rank);
    for (uint64_t r = old_rank; r < rank && r <= op->last; r++) {
        const struct ranked_row *up = tide__ranked_list_nth(&group->list, r);
        tide__rank_change(op, up, ROW_UPDATE_BEFORE, r + 1);
        tide__rank_change(op, up, ROW_UPDATE_AFTER, r);
    }
    tide__rank_change(op, row, ROW_UPDATE_AFTER, rank);
}

// Forgets the rows that rank behind the first one outside of the Top-N and do not tie with it.
static void cut(struct rank *op, struct rank_group *group) {
    const struct ranked_row *out = tide__ranked_list_nth(&group->list, op->last + 1);
    if (out == NULL) return;
    for (;;) {
        struct ranked_row *worst = tide__ranked_list_last(&group->list);
        if (compare_sorts(tide__ranked_key(worst), tide__ranked_key(out)) <= 0) return;
        tide__rank_bury(op, group, tide__ranked_list_pop(&group->list, op->env.budget));
    }
}

static void rise_numbered(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row,
                          uint64_t prefix, struct ranked_row *old, struct str key) {
    uint64_t old_rank = old == NULL ? 0 : rank_of(group, old);
    int order = old == NULL ? -1 : compare_sorts(tide__strbuf_str(&op->ranker.scratch), tide__ranked_key(old));
    const struct ranked_row *entered = put(op, group, batch, row, prefix, old, key);
    uint64_t rank = rank_of(group, entered);
    if (order == 0) {
        tide__rank_change(op, old, ROW_UPDATE_BEFORE, rank);
        tide__rank_change(op, entered, ROW_UPDATE_AFTER, rank);
    } else if (order > 0) {
        fall(op, group, entered, rank, old, old_rank);
    } else {
        pass(op, group, entered, rank, old, old_rank);
        if (old == NULL || old_rank > op->last) cut(op, group);
    }
}

// --- without ranks ----------------------------------------------------------------------------------------------------------

static void rise_unnumbered(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row,
                            uint64_t prefix, struct ranked_row *old, struct str key) {
    const struct ranked_row *entered = put(op, group, batch, row, prefix, old, key);
    if (old != NULL) {
        tide__rank_change(op, old, ROW_UPDATE_BEFORE, op->first);
        tide__rank_change(op, entered, ROW_UPDATE_AFTER, op->first);
        return;
    }
    if (group->list.count > op->last) {
        struct ranked_row *out = tide__ranked_list_pop(&group->list, op->env.budget);
        tide__rank_change(op, out, ROW_DELETE, op->first);
        tide__rank_bury(op, group, out);
    }
    tide__rank_change(op, entered, ROW_INSERT, op->first);
}

// --- rows -------------------------------------------------------------------------------------------------------------------

static void rise_to_the_top(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row,
                            uint64_t prefix, struct str key) {
    struct ranked_row *old = tide__ranked_list_last(&group->list);
    if (old != NULL && compare_sorts(tide__strbuf_str(&op->ranker.scratch), tide__ranked_key(old)) >= 0) return;
    const struct ranked_row *entered = put(op, group, batch, row, prefix, old, key);
    if (old != NULL) tide__rank_change(op, old, ROW_UPDATE_BEFORE, 1);
    tide__rank_change(op, entered, old != NULL ? ROW_UPDATE_AFTER : ROW_INSERT, 1);
}

void tide__rank_rise(struct rank *op, struct rank_group *group, const struct batch *batch, size_t row, uint64_t prefix,
                     struct str key) {
    struct str sort = tide__ranker_key(&op->ranker, batch, row, op->ranker.arrival);
    if (op->last == 1) {
        op->ranker.arrival++;
        rise_to_the_top(op, group, batch, row, prefix, key);
        return;
    }
    struct ranked_row *old = find_row(op, group, key), *worst = tide__ranked_list_last(&group->list);
    if (old == NULL && group->list.count >= op->last && compare_sorts(sort, tide__ranked_key(worst)) >= 0) return;
    if (old != NULL && compare_sorts(sort, tide__ranked_key(old)) == 0) {
        // It stays where it is: with the arrival number of the old one.
        struct strbuf *scratch = &op->ranker.scratch;
        memcpy(scratch->data + sort.len - ARRIVAL_BYTES, old->bytes + old->key_len - ARRIVAL_BYTES, ARRIVAL_BYTES);
    } else {
        op->ranker.arrival++;
    }
    if (op->numbered) {
        rise_numbered(op, group, batch, row, prefix, old, key);
    } else {
        rise_unnumbered(op, group, batch, row, prefix, old, key);
    }
}

void tide__rank_risen_before(struct rank *op, struct ranked_row *row) {
    row->unique = hash_of(unique_key(op));
}
