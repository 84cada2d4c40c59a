// A batch, as if row by row. Each row's change needs the results before and after it, but groups do not touch each
// other: so the first rows of all groups are added together, then the second rows, and so on. With many groups there are
// few rounds; with one group each row is a round.
#include "base/hash.h"
#include "engine/codec/key.h"
#include "engine/operators/group_rows.h"

#include <assert.h>
#include <string.h>

#define NO_ROW UINT32_MAX

struct rounds {
    struct group_aggregate *op;
    const struct batch *batch;
    struct group **groups;  // of each row
    uint32_t *previous;     // the group's row before it in this batch, or NO_ROW
    uint32_t *order;        // rows by round, then by number
    uint32_t *starts;       // of each round in `order`
    uint32_t count;
    struct column *results;    // of one round
    unsigned char **payloads;  // likewise
    uint32_t *rows;            // likewise
};

tide_status tide__group_of_rows(struct group_aggregate *op, const struct batch *batch, struct group ***out_groups,
                                tide_error *err) {
    size_t rows = batch->rows;
    struct str *keys = tide__arena_alloc(&op->scratch, rows * sizeof *keys);
    uint64_t *hashes = tide__arena_alloc(&op->scratch, rows * sizeof *hashes);
    void **payloads = tide__arena_alloc(&op->scratch, rows * sizeof *payloads);
    tide__key_encode(batch, op->plan->keys, op->plan->key_count, (struct str){0}, &op->scratch, keys);
    for (size_t i = 0; i < rows; i++) hashes[i] = tide__hash_bytes(keys[i].data, keys[i].len);
    TIDE_TRY(tide__keyed_find(&op->groups, keys, hashes, rows, &op->scratch, payloads, err));
    struct group **groups = tide__arena_alloc(&op->scratch, rows * sizeof *groups);
    for (size_t i = 0; i < rows; i++) groups[i] = payloads[i];
    *out_groups = groups;
    return TIDE_OK;
}

// Which round each row belongs to: the number of rows of its group before it.
static void sort_by_round(struct rounds *r) {
    struct group_aggregate *op = r->op;
    uint32_t rows = (uint32_t)r->batch->rows;
    uint32_t *round = tide__arena_alloc(&op->scratch, rows * sizeof *round);
    r->previous = tide__arena_alloc(&op->scratch, rows * sizeof *r->previous);
    r->order = tide__arena_alloc(&op->scratch, rows * sizeof *r->order);
    r->starts = tide__arena_zalloc(&op->scratch, (rows + 2) * sizeof *r->starts);
    uint64_t batch = ++op->batches;
    for (uint32_t i = 0; i < rows; i++) {
        struct group *group = r->groups[i];
        r->previous[i] = group->batch == batch ? group->last_row : NO_ROW;
        round[i] = r->previous[i] == NO_ROW ? 0 : round[r->previous[i]] + 1;
        group->batch = batch;
        group->last_row = i;
        r->starts[round[i] + 2]++;
        if (round[i] >= r->count) r->count = round[i] + 1;
    }
    for (uint32_t k = 2; k < r->count + 2; k++) r->starts[k] += r->starts[k - 1];
    for (uint32_t i = 0; i < rows; i++) r->order[r->starts[round[i] + 1]++] = i;
}

// Copies results 0..n-1 of a round to places[i]. Strings are copied: the next round may free them.
static void keep_results(struct rounds *r, struct column *to, const uint32_t *places, size_t n) {
    for (uint32_t a = 0; a < r->op->aggregators.count; a++) {
        const struct column *from = &r->results[a];
        size_t size = tide__physical_size(from->physical);
        for (size_t i = 0; i < n; i++) {
            uint32_t place = places[i];
            to[a].nulls[place] = (uint8_t)tide__column_is_null(from, i);
            memcpy((char *)to[a].data + place * size, (const char *)from->data + i * size, size);
            if (from->physical != PHYSICAL_STR || to[a].nulls[place] || from->str[i].len == 0) continue;
            struct str s = from->str[i];
            to[a].str[place].data = memcpy(tide__arena_alloc(&r->op->scratch, s.len), s.data, s.len);
        }
    }
}

static void compute_results(struct rounds *r, size_t n) {
    if (n == 0 || r->op->aggregators.count == 0) return;
    for (uint32_t a = 0; a < r->op->aggregators.count; a++) memset(r->results[a].nulls, 0, n);
    tide__aggregators_result(&r->op->aggregators, r->payloads, n, r->results, &r->op->scratch);
}

// The results that stand when the batch comes, behind those of its rows.
static void results_before(struct rounds *r, struct group_results *out) {
    uint32_t rows = (uint32_t)r->batch->rows;
    uint32_t *places = tide__arena_alloc(&r->op->scratch, rows * sizeof *places);
    size_t n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        out->before[i] = r->previous[i] == NO_ROW ? rows + i : r->previous[i];
        if (r->previous[i] != NO_ROW || r->groups[i]->rows == 0) continue;
        r->payloads[n] = r->groups[i]->accumulators;
        places[n++] = rows + i;
    }
    compute_results(r, n);
    keep_results(r, out->columns, places, n);
}

// Adds or takes back those rows of a round that do it.
static int64_t apply(struct rounds *r, const uint32_t *order, size_t count, bool back) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        struct group *group = r->groups[order[i]];
        if (group_row_takes_back(r->batch, order[i]) != back) continue;
        // A row of a group that is not there can't be taken back: Flink skips it too.
        if (back && group->rows == 0) continue;
        group->rows += back ? -1 : 1;
        r->payloads[n] = group->accumulators;
        r->rows[n++] = order[i];
    }
    if (n == 0 || r->op->aggregators.count == 0) return 0;
    struct group_aggregate *op = r->op;
    return back ? tide__aggregators_retract(&op->aggregators, r->batch, r->payloads, r->rows, n, &op->scratch)
                : tide__aggregators_update(&op->aggregators, r->batch, r->payloads, r->rows, n, &op->scratch);
}

static void run_round(struct rounds *r, const uint32_t *order, size_t count, struct group_results *out) {
    struct group_aggregate *op = r->op;
    for (size_t i = 0; i < count; i++) out->was_there[order[i]] = r->groups[order[i]]->rows != 0;
    int64_t charge = apply(r, order, count, false);
    if (r->batch->kinds != NULL) charge += apply(r, order, count, true);
    tide__keyed_charge(&op->groups, charge);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        struct group *group = r->groups[order[i]];
        tide__keyed_mark_dirty(&op->groups, group);
        out->is_there[order[i]] = group->rows != 0;
        if (group->rows == 0) {
            // An emptied group begins anew, whatever an aggregate remembers. What it held elsewhere is given back.
            tide__aggregators_release(group->accumulators, &op->aggregators);
            continue;
        }
        r->payloads[n] = group->accumulators;
        r->rows[n++] = order[i];
    }
    compute_results(r, n);
    keep_results(r, out->columns, r->rows, n);
}

static struct column *new_columns(struct group_aggregate *op, size_t rows) {
    struct column *columns = ARENA_ARRAY(&op->scratch, struct column, op->aggregators.count + 1);
    for (uint32_t a = 0; a < op->aggregators.count; a++)
        tide__column_init(&columns[a], op->plan->aggregates[a].type, rows, 1, &op->scratch);
    return columns;
}

tide_status tide__group_rounds(struct group_aggregate *op, const struct batch *batch, struct group_results *out,
                               tide_error *err) {
    size_t rows = batch->rows;
    assert(rows < NO_ROW / 2);
    struct rounds r = {.op = op, .batch = batch};
    *out = (struct group_results){
        .columns = new_columns(op, 2 * rows),
        .before = tide__arena_alloc(&op->scratch, rows * sizeof *out->before),
        .was_there = tide__arena_zalloc(&op->scratch, rows),
        .is_there = tide__arena_zalloc(&op->scratch, rows),
    };
    r.results = new_columns(op, rows);
    r.payloads = tide__arena_alloc(&op->scratch, rows * sizeof *r.payloads);
    r.rows = tide__arena_alloc(&op->scratch, rows * sizeof *r.rows);
    TIDE_TRY(tide__group_of_rows(op, batch, &r.groups, err));
    sort_by_round(&r);
    results_before(&r, out);
    for (uint32_t k = 0; k < r.count; k++) run_round(&r, r.order + r.starts[k], r.starts[k + 1] - r.starts[k], out);
    return TIDE_OK;
}
