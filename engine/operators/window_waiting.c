// Rows that wait for their groups to be read back.
//
// A row of a slice that replaces and is evicted needs the value that the state table has of its group, unless memory has it, or the
// table can't have it (window_known.h). Rows come in any order of keys, and reading their groups batch by batch would read a
// block of the table for nearly each of them. So they wait, keys and arguments copied, until they take WAITING_SHARE of the
// memory; their groups are then read together, in key order, and the rows are added in the order in which they came.
#include "engine/operators/window_slices.h"

#include "base/alloc.h"

#include <string.h>

enum { WAITING_SHARE = 16, WAITING_MAX = 4 << 20 };

struct waiting_rows {
    struct waiting_rows *next;
    struct slice *slice;
    struct batch batch;  // only the columns that some aggregate needs
    struct str *keys;
    uint64_t *hashes;
    size_t n;
    bool is_added;
    struct memtable_entry **entries;
};

static void use_column(struct window_waiting *waiting, uint32_t column) {
    for (; waiting->column_count <= column; waiting->column_count++) {
        waiting->is_used = tide__grow(waiting->is_used, &waiting->column_cap, waiting->column_count + 1, 1);
        waiting->is_used[waiting->column_count] = 0;
    }
    waiting->is_used[column] = 1;
}

void tide__window_waiting_init(struct window_aggregate *w) {
    for (uint32_t i = 0; i < w->aggregators.count; i++) {
        const struct aggregate_call *call = w->aggregators.items[i].call;
        for (uint32_t k = 0; k < call->arg_count; k++) use_column(&w->waiting, call->args[k]);
        if (call->filter >= 0) use_column(&w->waiting, (uint32_t)call->filter);
    }
}

static void set_charged(struct window_aggregate *w, size_t bytes) {
    struct window_waiting *waiting = &w->waiting;
    if (bytes > waiting->charged) tide__budget_charge(w->budget, bytes - waiting->charged);
    if (bytes < waiting->charged) tide__budget_release(w->budget, waiting->charged - bytes);
    waiting->charged = bytes;
}

void tide__window_waiting_deinit(struct window_aggregate *w) {
    tide__free(w->waiting.is_used);
    tide__arena_deinit(&w->waiting.arena);
    set_charged(w, 0);
}

// --- waiting ----------------------------------------------------------------------------------------------------

static void copy_strings(struct column *column, size_t n, struct arena *arena) {
    for (size_t i = 0; i < n; i++) {
        if (tide__column_is_null(column, i)) {
            column->str[i] = (struct str){"", 0};
        } else {
            column->str[i].data = tide__arena_strndup(arena, column->str[i].data, column->str[i].len);
        }
    }
}

static void copy_columns(struct window_waiting *waiting, const struct batch *batch, const uint32_t *rows,
                         struct waiting_rows *to) {
    struct arena *arena = &waiting->arena;
    to->batch = (struct batch){.rows = to->n, .column_count = batch->column_count};
    to->batch.columns = ARENA_ARRAY(arena, struct column, batch->column_count + 1);
    for (size_t i = 0; i < waiting->column_count; i++) {
        if (!waiting->is_used[i]) continue;
        tide__column_gather(&batch->columns[i], rows, to->n, arena, &to->batch.columns[i]);
        if (to->batch.columns[i].physical == PHYSICAL_STR) copy_strings(&to->batch.columns[i], to->n, arena);
    }
}

static void copy_keys(struct window_waiting *waiting, const struct str *keys, const uint64_t *hashes,
                      struct waiting_rows *to) {
    size_t bytes = 0;
    for (size_t i = 0; i < to->n; i++) bytes += keys[i].len;
    char *at = tide__arena_alloc(&waiting->arena, bytes + 1);
    to->keys = tide__arena_alloc(&waiting->arena, to->n * sizeof *to->keys);
    to->hashes = tide__arena_alloc(&waiting->arena, to->n * sizeof *to->hashes);
    memcpy(to->hashes, hashes, to->n * sizeof *to->hashes);
    for (size_t i = 0; i < to->n; i++) {
        if (keys[i].len > 0) memcpy(at, keys[i].data, keys[i].len);
        to->keys[i] = (struct str){at, keys[i].len};
        at += keys[i].len;
    }
}

static size_t waiting_max(const struct window_aggregate *w) {
    size_t share = w->budget == NULL ? WAITING_MAX : w->budget->limit / WAITING_SHARE;
    return share < WAITING_MAX ? share : WAITING_MAX;
}

static void keep(struct window_aggregate *w, struct slice *slice, const struct batch *batch,
                 const struct slice_rows *rows) {
    struct window_waiting *waiting = &w->waiting;
    struct waiting_rows *to = ARENA_NEW(&waiting->arena, struct waiting_rows);
    to->slice = slice;
    to->n = rows->n;
    copy_keys(waiting, rows->keys, rows->hashes, to);
    copy_columns(waiting, batch, rows->rows, to);
    *(waiting->last == NULL ? &waiting->first : &waiting->last->next) = to;
    waiting->last = to;
    set_charged(w, tide__arena_bytes(&waiting->arena));
}

// A key that memory does not have and the table may have. Rows that wait are of such keys only, so that no row passes an
// earlier one of its group.
static bool must_wait(const struct slice *slice, struct str key, uint64_t hash) {
    if (slice->known != NULL && !tide__window_known_may_have(slice->known, hash)) return false;
    return slice->active == NULL || tide__memtable_find(slice->active, key, hash) == NULL;
}

void tide__window_wait(struct window_aggregate *w, struct slice *slice, const struct batch *batch,
                       struct slice_rows *rows) {
    enum { AHEAD = 16 };
    struct slice_rows wait = {
        .rows = tide__arena_alloc(&w->scratch, rows->n * sizeof *wait.rows),
        .keys = tide__arena_alloc(&w->scratch, rows->n * sizeof *wait.keys),
        .hashes = tide__arena_alloc(&w->scratch, rows->n * sizeof *wait.hashes),
    };
    size_t now = 0;
    for (size_t i = 0; i < rows->n; i++) {
        if (i + AHEAD < rows->n && slice->known != NULL)
            tide__window_known_prefetch(slice->known, rows->hashes[i + AHEAD]);
        if (i + AHEAD < rows->n && slice->active != NULL)
            tide__memtable_prefetch_hash(slice->active, rows->hashes[i + AHEAD]);
        struct slice_rows *to = must_wait(slice, rows->keys[i], rows->hashes[i]) ? &wait : rows;
        size_t at = to == rows ? now++ : wait.n++;
        to->rows[at] = rows->rows[i];
        to->keys[at] = rows->keys[i];
        to->hashes[at] = rows->hashes[i];
    }
    rows->n = now;
    if (wait.n > 0) keep(w, slice, batch, &wait);
}

bool tide__window_waiting_is_full(const struct window_aggregate *w) {
    return w->waiting.first != NULL && w->waiting.charged >= waiting_max(w);
}

// --- adding -----------------------------------------------------------------------------------------------------

// New entries of all rows from `rows` on that wait for this slice, with the values that the state table has of them.
static tide_status read_entries(struct window_aggregate *w, struct waiting_rows *rows, tide_error *err) {
    struct slice *slice = rows->slice;
    struct memtable *table = tide__slice_active(w, slice);
    struct memtable_entry **added = NULL;
    size_t count = 0, cap = 0;
    for (; rows != NULL; rows = rows->next) {
        if (rows->slice != slice) continue;
        uint8_t *is_new = tide__arena_alloc(&w->scratch, rows->n);
        rows->entries = tide__arena_alloc(&w->waiting.arena, rows->n * sizeof(struct memtable_entry *));
        tide__memtable_upsert_batch(table, rows->keys, rows->hashes, rows->n, rows->entries, is_new);
        added = tide__grow(added, &cap, count + rows->n, sizeof(struct memtable_entry *));
        for (size_t i = 0; i < rows->n; i++)
            if (is_new[i]) added[count++] = rows->entries[i];
    }
    tide_status status = tide__window_read_back(w, slice, added, count, err);
    tide__free(added);
    return status;
}

static void update_entries(struct window_aggregate *w, struct waiting_rows *rows) {
    struct slice *slice = rows->slice;
    for (; rows != NULL; rows = rows->next) {
        if (rows->slice != slice) continue;
        tide__slice_mark_dirty(slice, rows->entries, rows->n);
        unsigned char **payloads = tide__arena_alloc(&w->scratch, rows->n * sizeof *payloads);
        uint32_t *numbers = tide__arena_alloc(&w->scratch, rows->n * sizeof *numbers);
        for (size_t i = 0; i < rows->n; i++) {
            payloads[i] = rows->entries[i]->bytes;
            numbers[i] = (uint32_t)i;
        }
        int64_t charge = tide__aggregators_update(&w->aggregators, &rows->batch, payloads, numbers, rows->n,
                                                  &w->scratch);
        if (charge != 0) tide__memtable_charge(slice->active, charge);
        rows->is_added = true;
        tide__arena_reset(&w->scratch);
    }
}

tide_status tide__window_waiting_add(struct window_aggregate *w, tide_error *err) {
    struct window_waiting *waiting = &w->waiting;
    if (waiting->first == NULL) return TIDE_OK;
    tide_status status = TIDE_OK;
    for (struct waiting_rows *rows = waiting->first; rows != NULL && status == TIDE_OK; rows = rows->next) {
        if (rows->is_added) continue;
        tide__arena_reset(&w->scratch);
        status = read_entries(w, rows, err);
        if (status == TIDE_OK) update_entries(w, rows);
    }
    waiting->first = waiting->last = NULL;
    tide__arena_reset(&waiting->arena);
    set_charged(w, tide__arena_bytes(&waiting->arena));
    return status;
}
