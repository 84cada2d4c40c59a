// Window Top-N larger than memory: windows whose rows are on disk.
//
//   shrink   all rows of the largest windows go to the state table as one run; the windows go on with empty heaps
//   fire     what memory holds follows, then the table's rows, in key order (partition, rank), are counted off
//
// An emptied heap takes rows again that a full one would have turned away. So the table holds more than the best rows; when it
// may have twice as many as were needed last time, it is gone through, and what is beyond the best is deleted. Without
// partition keys that also tells which rows need not be kept any more (`floor`).
#include "base/alloc.h"
#include "engine/codec/key.h"
#include "engine/codec/row.h"
#include "engine/operators/window_rank.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { RELIEF_SHARE = 8 };

// --- a window's rows as a run -------------------------------------------------------------------------------------------

struct rank_run {
    struct state_source source;
    struct memory_budget *budget;
    struct memtable *partitions;  // owned, frozen; NULL: no partition keys
    struct rank_top single;
    struct memtable_entry *const *entries;
    size_t entry_count, entry;
    uint32_t row;
    bool sorted;  // the heap at hand
    char prefix[WINDOW_KEY_BYTES];
    struct strbuf key, value;
};

static void drop_top(void *payload, void *budget) {
    tide__ranked_heap_drop(&((struct rank_top *)payload)->heap, budget);
}

// The next heap that has rows, or NULL.
static struct rank_top *heap_at_hand(struct rank_run *run) {
    if (run->partitions == NULL) return run->row < run->single.heap.count ? &run->single : NULL;
    if (run->entries == NULL) run->entries = tide__memtable_sorted(run->partitions);
    for (; run->entry < run->entry_count; run->entry++, run->row = 0, run->sorted = false) {
        if (run->entry + 8 < run->entry_count) tide__memtable_prefetch(run->entries[run->entry + 8]);
        struct rank_top *top = tide__memtable_payload(run->partitions, run->entries[run->entry]);
        if (run->row < top->heap.count) return top;
    }
    return NULL;
}

static bool run_next(struct state_source *source, struct state_entry *out) {
    struct rank_run *run = (struct rank_run *)source;
    struct rank_top *top;
    while ((top = heap_at_hand(run)) != NULL) {
        if (!run->sorted) tide__ranked_sort(top->heap.rows, top->heap.count);
        run->sorted = true;
        struct ranked_row *row = top->heap.rows[run->row++];
        if (row->in_state) continue;  // a barrier has put it
        tide__strbuf_clear(&run->key);
        tide__strbuf_append(&run->key, run->prefix, sizeof run->prefix);
        tide__strbuf_append_str(&run->key, top->partition);
        tide__strbuf_append_str(&run->key, tide__ranked_key(row));
        tide__strbuf_clear(&run->value);
        tide__row_value_append(tide__ranked_bytes(row), &run->value);
        *out = (struct state_entry){STATE_REPLACE, tide__strbuf_str(&run->key), tide__strbuf_str(&run->value)};
        return true;
    }
    return false;
}

static void run_free(struct state_source *source) {
    struct rank_run *run = (struct rank_run *)source;
    tide__memtable_release(run->partitions);
    tide__ranked_heap_drop(&run->single.heap, run->budget);
    tide__strbuf_deinit(&run->key);
    tide__strbuf_deinit(&run->value);
    tide__free(run);
}

static size_t held_bytes(const struct rank_window *window) {
    if (window->rows == 0) return 0;
    size_t bytes = window->row_bytes + window->single.heap.capacity * sizeof *window->single.heap.rows;
    return bytes + (window->partitions != NULL ? tide__memtable_bytes(window->partitions) : 0);
}

static struct state_source *take_rows(struct window_rank *op, struct rank_window *window) {
    struct rank_run *run = tide__calloc(1, sizeof *run);
    run->source = (struct state_source){run_next, run_free};
    run->budget = op->env.budget;
    tide__key_put_time(run->prefix, window->bounds.start);
    tide__key_put_time(run->prefix + 8, window->bounds.end);
    run->single = window->single;
    window->single.heap = (struct ranked_heap){.worst = UINT64_MAX};
    if (window->partitions == NULL) return &run->source;
    run->partitions = window->partitions;
    window->partitions = NULL;
    tide__memtable_freeze(run->partitions);
    tide__memtable_on_free(run->partitions, drop_top, op->env.budget);
    run->entry_count = tide__memtable_count(run->partitions);
    return &run->source;
}

// All rows of the window to the state table.
static tide_status evict(struct window_rank *op, struct rank_window *window, tide_error *err) {
    if (window->rows == 0) return TIDE_OK;
    size_t bytes = held_bytes(window);
    window->written += window->rows;
    if (!window->evicted) window->kept = window->written;  // nothing but the best yet
    window->evicted = window->in_state = true;
    struct state_source *run = take_rows(op, window);
    tide__window_rank_clear(op, window);
    return tide__state_submit_run(op->table, run, bytes, err);
}

// --- reading --------------------------------------------------------------------------------------------------------------

// The rows of a window in the state table, partition by partition.
struct rank_scan {
    struct window_rank *op;
    struct state_iter *iter;
    struct batch one;  // for stepping over partition columns
    struct arena arena;
    struct strbuf partition;
    int64_t rank;          // of the row at hand in its partition, from 1
    struct str key, rest;  // of the row: its whole key; what follows the partition
    struct str row;
};

static tide_status scan_open(struct rank_scan *scan, struct window_rank *op, const struct rank_window *window,
                             tide_error *err) {
    *scan = (struct rank_scan){.op = op};
    tide__arena_init(&scan->arena);
    const struct plan_node *input = op->base.node->inputs[0];
    scan->one = (struct batch){.rows = 1, .column_count = input->field_count};
    scan->one.columns = ARENA_ARRAY(&scan->arena, struct column, input->field_count + 1);
    for (uint32_t f = 0; f < input->field_count; f++)
        tide__column_init(&scan->one.columns[f], input->fields[f].type, 1, 1, &scan->arena);
    char lower[WINDOW_KEY_BYTES], upper[WINDOW_KEY_BYTES];
    tide__key_put_time(lower, window->bounds.start);
    tide__key_put_time(lower + 8, window->bounds.end);
    tide__key_put_time(upper, window->bounds.start);
    tide__key_put_time(upper + 8, window->bounds.end + 1);
    return tide__state_iter_open(op->table, NULL, (struct str){lower, sizeof lower}, (struct str){upper, sizeof upper},
                                 &scan->iter, err);
}

// False at the end, on failure (scan_close tells) and, with *out_bad, at a damaged entry.
static bool scan_next(struct rank_scan *scan, bool *out_bad) {
    struct str value;
    *out_bad = false;
    if (!tide__state_iter_next(scan->iter, &scan->key, &value)) return false;
    struct str rest = {scan->key.data + WINDOW_KEY_BYTES, scan->key.len - WINDOW_KEY_BYTES};
    size_t known = scan->partition.len;
    // Encoded columns end by themselves: a key that begins with a partition's bytes belongs to it.
    if (scan->rank > 0 && rest.len > known && (known == 0 || memcmp(rest.data, scan->partition.data, known) == 0)) {
        scan->rank++;
        scan->rest = (struct str){rest.data + known, rest.len - known};
    } else {
        scan->rest = rest;
        *out_bad = !tide__window_rank_skip_partition(scan->op, scan->one.columns, &scan->rest);
        tide__arena_reset(&scan->op->scratch);
        tide__strbuf_clear(&scan->partition);
        if (rest.len > scan->rest.len) tide__strbuf_append(&scan->partition, rest.data, rest.len - scan->rest.len);
        scan->rank = 1;
    }
    *out_bad |= !tide__row_value_parse(value, &scan->row);
    return !*out_bad;
}

static tide_status scan_close(struct rank_scan *scan, bool bad, tide_error *err) {
    tide_status status = tide__state_iter_close(scan->iter, err);
    tide__strbuf_deinit(&scan->partition);
    tide__arena_deinit(&scan->arena);
    if (status == TIDE_OK && bad)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                          scan->op->desc->name);
    return status;
}

// --- firing ---------------------------------------------------------------------------------------------------------------

tide_status tide__window_rank_emit_evicted(struct window_rank *op, struct rank_window *window, struct emitter *out,
                                           tide_error *err) {
    TIDE_TRY(evict(op, window, err));
    struct rank_scan scan;
    bool bad = false;
    tide_status status = scan_open(&scan, op, window, err);
    while (status == TIDE_OK && scan_next(&scan, &bad)) {
        if (scan.rank < op->plan->rank_first || scan.rank > op->limit) continue;
        struct str copy = {tide__arena_strndup(&op->copies, scan.row.data, scan.row.len), scan.row.len};
        status = tide__window_rank_emit(op, copy, scan.rank, out, err);
    }
    tide_error ignored;
    tide__error_clear(&ignored);
    tide_status closed = scan_close(&scan, bad, status == TIDE_OK ? err : &ignored);
    return status == TIDE_OK ? closed : status;
}

// --- giving memory back -----------------------------------------------------------------------------------------------

// The prefix of a row's first sort column, from its decoded value.
static uint64_t prefix_of(struct rank_scan *scan) {
    uint64_t prefix = UINT64_MAX;
    if (!tide__row_decode(scan->row, scan->one.columns, scan->one.column_count, 0)) return prefix;
    tide__ranker_prefixes(&scan->op->ranker, &scan->one, &prefix);
    return prefix;
}

// Deletes the rows that can't come out any more.
static tide_status trim(struct window_rank *op, struct rank_window *window, tide_error *err) {
    struct rank_scan scan;
    bool bad = false;
    uint64_t kept = 0, deleted = 0;
    TIDE_TRY(scan_open(&scan, op, window, err));
    while (scan_next(&scan, &bad)) {
        if (scan.rank <= op->limit) {
            kept++;
            if (scan.rank == op->limit && window->partitions == NULL) window->floor = prefix_of(&scan);
        } else {
            tide__state_delete(op->table, scan.key);
            deleted++;
        }
    }
    window->kept = window->written = kept;
    return scan_close(&scan, bad, err);
}

static int compare_bytes(const void *a, const void *b) {
    size_t left = held_bytes(*(struct rank_window *const *)a), right = held_bytes(*(struct rank_window *const *)b);
    return (left < right) - (left > right);
}

size_t tide__window_rank_shrink(struct operator *base, size_t bytes, tide_error *err) {
    struct window_rank *op = (struct window_rank *)base;
    size_t count = op->windows.count, freed = 0;
    if (count == 0) return 0;
    struct rank_window **windows = tide__realloc_array(NULL, count, sizeof *windows);
    for (size_t i = 0; i < count; i++) windows[i] = (struct rank_window *)tide__window_list_at(&op->windows, i);
    qsort(windows, count, sizeof *windows, compare_bytes);
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < count && freed < bytes && status == TIDE_OK && windows[i]->rows > 0; i++) {
        freed += held_bytes(windows[i]);
        status = evict(op, windows[i], err);
        if (status == TIDE_OK && windows[i]->written - windows[i]->kept > windows[i]->kept)
            status = trim(op, windows[i], err);
    }
    tide__free(windows);
    return status == TIDE_OK ? freed : 0;
}

tide_status tide__window_rank_relieve(struct window_rank *op, tide_error *err) {
    const struct memory_budget *budget = op->env.budget;
    if (budget->used <= budget->limit) return TIDE_OK;
    size_t held = 0;
    for (size_t i = 0; i < op->windows.count; i++)
        held += held_bytes((const struct rank_window *)tide__window_list_at(&op->windows, i));
    if (held < budget->limit / RELIEF_SHARE) return TIDE_OK;
    tide__window_rank_shrink(&op->base, held, err);
    return err->status;
}
