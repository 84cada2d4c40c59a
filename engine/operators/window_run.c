#include "engine/operators/window_run.h"

#include "base/alloc.h"
#include "base/sort.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/key.h"
#include "engine/operators/window_slices.h"

#include <assert.h>

struct run_part {
    char prefix[16];
    enum window_run_kind kind;
    uint32_t mark;                   // of WINDOW_RUN_REPLACE_DIRTY
    struct memtable *table;          // retained
    struct window_sealing *sealing;  // makes `encoded`; NULL: that is there
    struct strbuf encoded;
    struct sort_item *items;  // its entries in key order, once they are read; the value lies behind the key
    size_t item_count;
};

struct window_run {
    struct state_source source;
    const struct aggregators *aggregators;
    struct run_part *parts;
    size_t part_count, part_cap;
    size_t bytes;
    bool pieces;  // large groups are cut
    // Reading.
    size_t part, entry;
    const struct memtable_entry *cut_entry;  // NULL: whose pieces come next
    uint32_t aggregate, piece;               // the next one
    void *cut;                               // NULL: its aggregate is not cut yet
    struct strbuf key, value;
};

void tide__window_prefix(char out[16], int64_t start, int64_t end) {
    tide__key_put_time(out, start);
    tide__key_put_time(out + 8, end);
}

static void set_key(struct window_run *run, const struct run_part *part, struct str key) {
    tide__strbuf_clear(&run->key);
    tide__strbuf_append(&run->key, part->prefix, sizeof part->prefix);
    if (key.len > 0) tide__strbuf_append(&run->key, key.data, key.len);
}

// The value begins behind a byte for the state's header.
static void begin_value(struct window_run *run) {
    tide__strbuf_clear(&run->value);
    tide__strbuf_append_char(&run->value, 0);
}

static struct state_entry entry_of(const struct window_run *run, enum state_op op) {
    struct str value = {run->value.data + 1, run->value.len - 1};
    return (struct state_entry){op, tide__strbuf_str(&run->key), value, true};
}

// Goes on to the next aggregate of the entry.
static void end_cut(struct window_run *run) {
    tide__free(run->cut);
    run->cut = NULL;
    run->piece = 0;
    run->aggregate++;
}

static bool next_piece(struct window_run *run, struct run_part *part, struct state_entry *out) {
    const struct memtable_entry *entry = run->cut_entry;
    for (; run->aggregate < run->aggregators->count; end_cut(run)) {
        const struct aggregator *a = &run->aggregators->items[run->aggregate];
        const unsigned char *accumulator = entry->bytes + a->offset;
        if (a->kernel->cut == NULL || !a->kernel->wants_pieces(a, accumulator)) continue;
        if (run->cut == NULL) run->cut = a->kernel->cut(a, accumulator);
        while (run->piece < AGGREGATE_PIECES) {
            uint32_t piece = run->piece++;
            begin_value(run);
            if (!tide__aggregators_encode_piece(run->aggregators, run->aggregate, entry->bytes, run->cut, piece,
                                                &run->value))
                continue;
            set_key(run, part, tide__memtable_key(part->table, entry));
            tide__strbuf_append_char(&run->key, (char)(1 + run->aggregate));
            tide__strbuf_append_char(&run->key, (char)piece);
            *out = entry_of(run, STATE_ADD);
            return true;
        }
    }
    run->cut_entry = NULL;
    return false;
}

static bool next_of_table(struct window_run *run, struct run_part *part, struct state_entry *out) {
    struct memtable_entry *const *sorted = tide__memtable_sorted(part->table);
    size_t count = tide__memtable_count(part->table);
    bool dirty_only = part->kind == WINDOW_RUN_REPLACE_DIRTY;
    if (run->cut_entry != NULL && next_piece(run, part, out)) return true;
    while (run->entry < count && dirty_only && sorted[run->entry]->flags != part->mark) run->entry++;
    if (run->entry == count) return false;
    struct memtable_entry *entry = sorted[run->entry++];
    if (run->entry + 16 < count) tide__memtable_prefetch(sorted[run->entry + 16]);
    if (run->aggregators->owns_memory && run->entry + 8 < count)
        tide__aggregators_prefetch(run->aggregators, sorted[run->entry + 8]->bytes);
    set_key(run, part, tide__memtable_key(part->table, entry));
    begin_value(run);
    if (run->pieces && !dirty_only && tide__aggregators_want_pieces(run->aggregators, entry->bytes)) {
        tide__aggregators_encode_rest(run->aggregators, entry->bytes, &run->value);
        run->cut_entry = entry;
        run->aggregate = 0;
    } else {
        tide__aggregators_encode(run->aggregators, entry->bytes, &run->value);
    }
    *out = entry_of(run, dirty_only ? STATE_REPLACE : STATE_ADD);
    return true;
}

// On the thread that writes the run: sorting is the larger part of the work.
static void sort_encoded(struct run_part *part) {
    struct str rest = tide__strbuf_str(&part->encoded), key = {0}, value = {0};
    size_t count = 0, cap = 0;
    while (rest.len > 0) {
        bool ok = field_get_bytes(&rest, &key) && field_get_bytes(&rest, &value);
        assert(ok);
        (void)ok;
        if (count == cap) {
            cap = cap > 0 ? 2 * cap : 256;
            part->items = tide__realloc_array(part->items, cap, sizeof *part->items);
        }
        const unsigned char *data = (const unsigned char *)key.data;
        part->items[count++] = (struct sort_item){tide__sort_prefix(data, key.len), data, (uint32_t)key.len, 0};
    }
    struct sort_item *scratch = tide__alloc((count + 1) * sizeof *scratch);
    if (count > 0) tide__sort_keys(part->items, count, scratch);
    tide__free(scratch);
    part->item_count = count;
}

static bool next_of_encoded(struct window_run *run, struct run_part *part, struct state_entry *out) {
    enum { AHEAD = 8 };
    if (part->items == NULL) {
        if (part->sealing != NULL) tide__window_sealing_finish(part->sealing, &part->encoded);
        sort_encoded(part);
    }
    if (run->entry == part->item_count) return false;
    if (run->entry + AHEAD < part->item_count) __builtin_prefetch(part->items[run->entry + AHEAD].key);
    const struct sort_item *item = &part->items[run->entry++];
    struct str key = {(const char *)item->key, item->key_len}, value = {0};
    struct str rest = {key.data + key.len, part->encoded.len - (size_t)(key.data + key.len - part->encoded.data)};
    bool ok = field_get_bytes(&rest, &value);
    assert(ok);
    (void)ok;
    set_key(run, part, key);
    *out = (struct state_entry){STATE_REPLACE, tide__strbuf_str(&run->key), value, false};
    return true;
}

static bool run_next(struct state_source *source, struct state_entry *out) {
    struct window_run *run = (struct window_run *)source;
    for (; run->part < run->part_count; run->part++) {
        struct run_part *part = &run->parts[run->part];
        bool more = part->kind == WINDOW_RUN_ENCODED ? next_of_encoded(run, part, out) : next_of_table(run, part, out);
        if (more) return true;
        run->entry = 0;
    }
    return false;
}

static void run_free(struct state_source *source) {
    struct window_run *run = (struct window_run *)source;
    for (size_t i = 0; i < run->part_count; i++) {
        tide__memtable_release(run->parts[i].table);
        tide__window_sealing_release(run->parts[i].sealing);
        tide__strbuf_deinit(&run->parts[i].encoded);
        tide__free(run->parts[i].items);
    }
    tide__free(run->parts);
    tide__free(run->cut);
    tide__strbuf_deinit(&run->key);
    tide__strbuf_deinit(&run->value);
    tide__free(run);
}

struct window_run *tide__window_run_new(const struct aggregators *aggregators, bool pieces) {
    struct window_run *run = tide__calloc(1, sizeof *run);
    run->source = (struct state_source){run_next, run_free};
    run->aggregators = aggregators;
    run->pieces = pieces;
    return run;
}

static struct run_part *add_part(struct window_run *run, int64_t start, int64_t end, enum window_run_kind kind) {
    run->parts = tide__grow(run->parts, &run->part_cap, run->part_count + 1, sizeof *run->parts);
    struct run_part *part = &run->parts[run->part_count++];
    *part = (struct run_part){.kind = kind};
    tide__window_prefix(part->prefix, start, end);
    return part;
}

void tide__window_run_add_table(struct window_run *run, int64_t start, int64_t end, struct memtable *table,
                                enum window_run_kind kind, uint32_t mark) {
    struct run_part *part = add_part(run, start, end, kind);
    part->mark = mark;
    tide__memtable_freeze(table);
    part->table = tide__memtable_retain(table);
    run->bytes += tide__memtable_bytes(table);
}

void tide__window_run_add_encoded(struct window_run *run, int64_t start, int64_t end, struct strbuf *entries) {
    struct run_part *part = add_part(run, start, end, WINDOW_RUN_ENCODED);
    part->encoded = *entries;
    *entries = (struct strbuf){0};
    run->bytes += part->encoded.cap;
}

void tide__window_run_add_sealing(struct window_run *run, int64_t start, int64_t end, struct window_sealing *sealing) {
    struct run_part *part = add_part(run, start, end, WINDOW_RUN_ENCODED);
    part->sealing = sealing;
    run->bytes += tide__window_sealing_bytes(sealing);
}

size_t tide__window_run_bytes(const struct window_run *run) {
    return run->bytes;
}

tide_status tide__window_run_submit(struct window_run *run, struct state_table *table, tide_error *err) {
    if (run->part_count == 0) {
        run_free(&run->source);
        return TIDE_OK;
    }
    return tide__state_submit_run(table, &run->source, run->bytes, err);
}
