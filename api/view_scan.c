// Entries of a view, one after the other: which ranges of keys to read, conditions, ranks, pieces of sessions. See api/view.h.
//
// A look-up of a key asks for one range of keys a window, so that only chunks are read that can hold it. The windows come from
// the index; where it does not list them all, the whole table is read and the condition does the rest.
#include "api/view.h"

#include "base/alloc.h"
#include "engine/codec/key.h"

#include <string.h>

enum { WINDOW_BYTES = 16, TIME_BYTES = 8, SESSION_TAIL = 16 };

struct view_scan {
    struct savepoint *savepoint;
    const struct state_view *view;
    struct arena arena;
    uint32_t *wanted;
    size_t wanted_count;
    struct view_decoder *decoder;
    struct view_range range;
    // conditions
    struct view_decoder *tester;
    uint32_t *tested;
    struct column *cells;
    struct strbuf cell_key;
    // ranges of keys
    struct strbuf prefix;    // of the key, behind the window
    struct str first_field;  // of the prefix
    bool by_window;          // one range a window of the index
    size_t next_window;
    bool opened, ended;  // the only range was opened; there is none left
    struct strbuf lower, upper;
    struct state_source *source;
    // what was read last
    struct strbuf key, value;  // of sessions: put together
    bool pending;              // sessions: key and value hold a piece
    struct strbuf partition;
    uint64_t rank;
    bool ranks;                            // the rank is wanted
    struct strbuf given_key, given_value;  // tide__view_scan_entry
};

// --- ranges of keys -----------------------------------------------------------------------------------------------------------

static const struct view_condition *condition_on(const struct view_scan *scan, uint32_t field) {
    for (size_t i = 0; i < scan->range.condition_count; i++) {
        const struct view_column *column = &scan->view->columns[scan->range.conditions[i].column];
        if (column->part == VIEW_KEY && column->field == field) return &scan->range.conditions[i];
        if (column->part == VIEW_CHILD && strcmp(column->name, scan->view->desc->keys[field].name) == 0)
            return &scan->range.conditions[i];
    }
    return NULL;
}

static void put_time(int64_t ms, struct strbuf *out) {
    char bytes[TIME_BYTES];
    tide__key_put_time(bytes, ms);
    tide__strbuf_append(out, bytes, sizeof bytes);
}

// The least key above all that begin with `prefix`; empty: there is none.
static void put_above(struct str prefix, struct strbuf *out) {
    while (prefix.len > 0 && (unsigned char)prefix.data[prefix.len - 1] == 0xFF) prefix.len--;
    tide__strbuf_append_str(out, prefix);
    if (prefix.len > 0) out->data[prefix.len - 1]++;
}

static bool in_range(const struct view_scan *scan, const struct savepoint_window *window) {
    const struct view_range *range = &scan->range;
    if (!range->has_window) return true;
    if (scan->view->sliced) return window->start_ms >= range->start_ms && window->start_ms < range->end_ms;
    return window->start_ms == range->start_ms && (range->end_ms == INT64_MIN || window->end_ms == range->end_ms);
}

// The bounds of the next range; false: there is none.
static bool next_range(struct view_scan *scan) {
    tide__strbuf_clear(&scan->lower);
    tide__strbuf_clear(&scan->upper);
    const struct savepoint_table *table = scan->view->stored;
    if (scan->by_window) {
        while (scan->next_window < table->window_count && !in_range(scan, &table->windows[scan->next_window]))
            scan->next_window++;
        if (scan->next_window == table->window_count) return false;
        const struct savepoint_window *window = &table->windows[scan->next_window++];
        put_time(window->start_ms, &scan->lower);
        put_time(window->end_ms, &scan->lower);
        tide__strbuf_append_str(&scan->lower, tide__strbuf_str(&scan->prefix));
        put_above(tide__strbuf_str(&scan->lower), &scan->upper);
        return true;
    }
    if (scan->opened) return false;
    scan->opened = true;
    if (scan->view->windowed && scan->range.has_window) {
        put_time(scan->range.start_ms, &scan->lower);
        if (scan->view->sliced) {
            put_time(scan->range.end_ms, &scan->upper);
        } else {
            if (scan->range.end_ms != INT64_MIN) put_time(scan->range.end_ms, &scan->lower);
            put_above(tide__strbuf_str(&scan->lower), &scan->upper);
        }
    } else if (!scan->view->windowed && scan->prefix.len > 0) {
        tide__strbuf_append_str(&scan->lower, tide__strbuf_str(&scan->prefix));
        put_above(tide__strbuf_str(&scan->lower), &scan->upper);
    }
    return true;
}

static void close_source(struct view_scan *scan) {
    if (scan->source != NULL) scan->source->free(scan->source);
    scan->source = NULL;
}

// *out_found false: the end.
static tide_status next_entry(struct view_scan *scan, struct state_entry *out, bool *out_found, tide_error *err) {
    *out_found = false;
    while (!scan->ended) {
        if (scan->source == NULL && scan->by_window && !scan->range.has_window && scan->next_window == 0) {
            // In all windows: the key filter, if there is one, says which chunks to read.
            bool filtered;
            TIDE_TRY(tide__savepoint_entries_with(scan->savepoint, scan->view->table, scan->first_field, &filtered,
                                                  &scan->source, err));
            scan->by_window = !filtered;
            scan->opened = filtered;
            if (!filtered) close_source(scan);
        }
        if (scan->source == NULL) {
            if (!next_range(scan)) break;
            TIDE_TRY(tide__savepoint_entries(scan->savepoint, scan->view->table, tide__strbuf_str(&scan->lower),
                                             tide__strbuf_str(&scan->upper), &scan->source, err));
        }
        if (scan->source->next(scan->source, out)) {
            *out_found = true;
            return TIDE_OK;
        }
        close_source(scan);
        TIDE_TRY(tide__savepoint_status(scan->savepoint, err));
    }
    scan->ended = true;
    return TIDE_OK;
}

// --- sessions -----------------------------------------------------------------------------------------------------------------

static int64_t le64(const char *bytes) {
    int64_t v;
    memcpy(&v, bytes, sizeof v);
    return v;
}

static bool is_session(struct str key, struct str value) {
    return key.len >= SESSION_TAIL && value.len >= TIME_BYTES;
}

// Does the entry touch the session that is held? Both are whole entries.
static bool touches(const struct view_scan *scan, const struct state_entry *entry) {
    struct str held = tide__strbuf_str(&scan->key);
    if (entry->key.len != held.len || memcmp(entry->key.data, held.data, held.len - SESSION_TAIL) != 0) return false;
    int64_t start = tide__key_get_time(entry->key.data + entry->key.len - SESSION_TAIL);
    return start <= le64(scan->value.data) + scan->view->size_ms;
}

static bool unite(struct view_scan *scan, const struct state_entry *entry) {
    struct state_table_desc tail = *scan->view->desc;
    tail.values++;
    tail.value_count--;
    int64_t last = le64(scan->value.data), other = le64(entry->value.data);
    if (other > last) last = other;
    struct strbuf both = {0};
    tide__strbuf_append(&both, &last, sizeof last);
    struct str older = {scan->value.data + TIME_BYTES, scan->value.len - TIME_BYTES};
    struct str newer = {entry->value.data + TIME_BYTES, entry->value.len - TIME_BYTES};
    bool good = tide__state_combine(&tail, older, newer, &both);
    tide__strbuf_deinit(&scan->value);
    scan->value = both;
    return good;
}

static tide_status fail_entry(const struct view_scan *scan, tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "an entry of \"%s\" can't be read: it has not the fields of its table",
                      scan->view->table_name);
}

static void hold(struct view_scan *scan, const struct state_entry *entry) {
    tide__strbuf_clear(&scan->key);
    tide__strbuf_clear(&scan->value);
    tide__strbuf_append_str(&scan->key, entry->key);
    tide__strbuf_append_str(&scan->value, entry->value);
    scan->pending = true;
}

// Pieces of one session that lie on disk apart are one row. The entry that ends a session is read again by the next call.
static tide_status next_session(struct view_scan *scan, struct strbuf *out_key, struct strbuf *out_value,
                                bool *out_found, tide_error *err) {
    struct state_entry entry;
    bool found = true;
    while (found) {
        TIDE_TRY(next_entry(scan, &entry, &found, err));
        if (!found) break;
        if (!is_session(entry.key, entry.value)) return fail_entry(scan, err);
        if (scan->pending && touches(scan, &entry)) {
            if (!unite(scan, &entry)) return fail_entry(scan, err);
            continue;
        }
        bool whole = scan->pending;
        if (whole) {
            struct strbuf key = *out_key, value = *out_value;
            *out_key = scan->key;
            *out_value = scan->value;
            scan->key = key;
            scan->value = value;
        }
        hold(scan, &entry);
        if (!whole) continue;
        *out_found = true;
        return TIDE_OK;
    }
    *out_found = scan->pending;
    scan->pending = false;
    struct strbuf key = *out_key, value = *out_value;
    *out_key = scan->key;
    *out_value = scan->value;
    scan->key = key;
    scan->value = value;
    return TIDE_OK;
}

// --- conditions and ranks -------------------------------------------------------------------------------------------------------

static tide_status passes(struct view_scan *scan, struct str key, struct str value, uint64_t rank, bool *out,
                          tide_error *err) {
    *out = true;
    if (scan->tester == NULL) return TIDE_OK;
    struct arena arena;
    tide__arena_init(&arena);
    bool good = tide__view_decode(scan->tester, key, value, rank, &arena, scan->cells, 0);
    for (size_t i = 0; i < scan->range.condition_count && good && *out; i++) {
        tide__strbuf_clear(&scan->cell_key);
        tide__key_append_value(&scan->cells[i], 0, &scan->cell_key);
        *out = tide__str_eq(tide__strbuf_str(&scan->cell_key), scan->range.conditions[i].key_form);
    }
    tide__arena_deinit(&arena);
    return good ? TIDE_OK : fail_entry(scan, err);
}

static tide_status count_rank(struct view_scan *scan, struct str key, tide_error *err) {
    if (!scan->ranks) return TIDE_OK;
    size_t len = tide__view_key_prefix(scan->view, key, scan->view->leading_keys);
    if (len == 0 && (scan->view->leading_keys > 0 || scan->view->windowed)) return fail_entry(scan, err);
    struct str partition = {key.data, len};
    bool same = scan->rank > 0 && tide__str_eq(tide__strbuf_str(&scan->partition), partition);
    scan->rank = same ? scan->rank + 1 : 1;
    if (same) return TIDE_OK;
    tide__strbuf_clear(&scan->partition);
    tide__strbuf_append_str(&scan->partition, partition);
    return TIDE_OK;
}

// --- open, next, close ------------------------------------------------------------------------------------------------------------

static void make_prefix(struct view_scan *scan) {
    for (uint32_t f = 0; f < scan->view->leading_keys; f++) {
        const struct view_condition *condition = condition_on(scan, f);
        if (condition == NULL) break;
        tide__strbuf_append_str(&scan->prefix, condition->key_form);
        if (f == 0) scan->first_field = condition->key_form;
    }
    const struct savepoint_table *table = scan->view->stored;
    scan->by_window = scan->view->windowed && scan->prefix.len > 0 && table->window_count <= SAVEPOINT_WINDOWS_MAX;
}

static void make_tester(struct view_scan *scan) {
    size_t count = scan->range.condition_count;
    if (count == 0) return;
    scan->tested = ARENA_ARRAY(&scan->arena, uint32_t, count);
    scan->cells = ARENA_ARRAY(&scan->arena, struct column, count);
    for (size_t i = 0; i < count; i++) {
        scan->tested[i] = scan->range.conditions[i].column;
        tide__column_init(&scan->cells[i], scan->view->columns[scan->tested[i]].type, 1, 1, &scan->arena);
        scan->ranks |= scan->view->columns[scan->tested[i]].part == VIEW_RANK;
    }
    scan->tester = tide__view_decoder_new(scan->view, scan->tested, count);
}

tide_status tide__view_scan_open(struct savepoint *savepoint, const struct state_view *view, const uint32_t *wanted,
                                 size_t wanted_count, const struct view_range *range, struct view_scan **out,
                                 tide_error *err) {
    (void)err;
    struct view_scan *scan = tide__calloc(1, sizeof *scan);
    scan->savepoint = savepoint;
    scan->view = view;
    tide__arena_init(&scan->arena);
    scan->wanted = ARENA_ARRAY(&scan->arena, uint32_t, wanted_count + 1);
    scan->wanted_count = wanted_count;
    if (range != NULL) scan->range = *range;
    for (size_t i = 0; i < wanted_count; i++) {
        scan->wanted[i] = wanted[i];
        scan->ranks |= view->columns[wanted[i]].part == VIEW_RANK;
    }
    scan->decoder = tide__view_decoder_new(view, scan->wanted, wanted_count);
    make_tester(scan);
    make_prefix(scan);
    *out = scan;
    return TIDE_OK;
}

static tide_status next_row(struct view_scan *scan, struct strbuf *held_key, struct strbuf *held_value,
                            struct str *out_key, struct str *out_value, bool *out_found, tide_error *err) {
    if (scan->view->sessions) {
        TIDE_TRY(next_session(scan, held_key, held_value, out_found, err));
        *out_key = tide__strbuf_str(held_key);
        *out_value = tide__strbuf_str(held_value);
        return TIDE_OK;
    }
    struct state_entry entry = {0};
    TIDE_TRY(next_entry(scan, &entry, out_found, err));
    *out_key = entry.key;
    *out_value = entry.value;
    return TIDE_OK;
}

static tide_status fill(struct view_scan *scan, size_t rows_max, struct arena *arena, struct column *columns,
                        size_t *rows, struct strbuf *held_key, struct strbuf *held_value, tide_error *err) {
    while (*rows < rows_max) {
        struct str key, value;
        bool found = false, passed = true;
        TIDE_TRY(next_row(scan, held_key, held_value, &key, &value, &found, err));
        if (!found) break;
        TIDE_TRY(count_rank(scan, key, err));
        TIDE_TRY(passes(scan, key, value, scan->rank, &passed, err));
        if (!passed) continue;
        if (!tide__view_decode(scan->decoder, key, value, scan->rank, arena, columns, *rows))
            return fail_entry(scan, err);
        (*rows)++;
    }
    return TIDE_OK;
}

tide_status tide__view_scan_next(struct view_scan *scan, size_t rows_max, struct arena *arena, struct column *columns,
                                 size_t *out_rows, tide_error *err) {
    *out_rows = 0;
    for (size_t i = 0; i < scan->wanted_count; i++)
        tide__column_init(&columns[i], scan->view->columns[scan->wanted[i]].type, rows_max, 1, arena);
    struct strbuf key = {0}, value = {0};
    tide_status status = fill(scan, rows_max, arena, columns, out_rows, &key, &value, err);
    tide__strbuf_deinit(&key);
    tide__strbuf_deinit(&value);
    return status;
}

tide_status tide__view_scan_entry(struct view_scan *scan, struct str *out_key, struct str *out_value,
                                  uint64_t *out_rank, bool *out_found, tide_error *err) {
    TIDE_TRY(next_row(scan, &scan->given_key, &scan->given_value, out_key, out_value, out_found, err));
    if (*out_found) TIDE_TRY(count_rank(scan, *out_key, err));
    *out_rank = scan->rank;
    return TIDE_OK;
}

void tide__view_scan_close(struct view_scan *scan) {
    if (scan == NULL) return;
    tide__strbuf_deinit(&scan->given_key);
    tide__strbuf_deinit(&scan->given_value);
    close_source(scan);
    tide__view_decoder_free(scan->decoder);
    tide__view_decoder_free(scan->tester);
    tide__strbuf_deinit(&scan->cell_key);
    tide__strbuf_deinit(&scan->prefix);
    tide__strbuf_deinit(&scan->lower);
    tide__strbuf_deinit(&scan->upper);
    tide__strbuf_deinit(&scan->key);
    tide__strbuf_deinit(&scan->value);
    tide__strbuf_deinit(&scan->partition);
    tide__arena_deinit(&scan->arena);
    tide__free(scan);
}
