// What differs between two savepoints: facts, counts, windows, entries.
//
// State tables that have the same name (or uid) and the same key columns are merged in key order, twice: once to count, so that the
// summary comes first, and once to show. Values are compared as they are shown, column by column by name; how the bytes of a set
// happen to lie, how many threads there were, and columns that only one side has make no difference.
#include "api/inspect.h"
#include "api/script.h"
#include "api/view.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/expr/eval.h"

#include <stdio.h>
#include <string.h>

enum { WINDOW_BYTES = 16, PIECE_BYTES = 8 };

struct side {
    struct savepoint *savepoint;
    const char *path;
    struct state_view *views;
    size_t view_count;
};

// One side of a table while it is walked.
struct walker {
    const struct state_view *view;  // NULL: the side has no such table
    struct view_scan *scan;
    struct view_decoder *decoder;
    uint32_t *columns;     // of the view, in the order of the pair's columns
    struct column *cells;  // one row
    struct str key, value;
    uint64_t rank;
    bool found;
    struct arena arena;
};

struct counts {
    uint64_t old_entries, new_entries, added, removed, changed;
};

struct pair {
    const struct state_view *view;  // of the newer side if it is there, for names and types
    const struct state_view *old, *new;
    bool comparable;
    size_t column_count;
    const struct view_column **columns;  // of both sides
};

struct diff {
    struct side sides[2];
    const tide_handler *handler;
    struct arena arena;
    uint64_t left;  // entries that may still be shown
    struct strbuf texts[2];
};

// --- showing ------------------------------------------------------------------------------------------------------------------------

static const struct type text_type = {.kind = TYPE_VARCHAR, .nullable = true, .precision = TYPE_STRING_LENGTH};
static const struct type count_type = {.kind = TYPE_BIGINT, .nullable = true};

static void begin_result(struct diff *d, const char *const *names, size_t texts, size_t count) {
    tide_column *columns = ARENA_ARRAY(&d->arena, tide_column, count);
    for (size_t i = 0; i < count; i++)
        columns[i] = tide__api_column(names[i], i < texts ? &text_type : &count_type, &d->arena);
    if (d->handler->on_result != NULL) d->handler->on_result(d->handler->ctx, columns, count, false);
}

static void end_result(struct diff *d) {
    if (d->handler->on_result_end != NULL) d->handler->on_result_end(d->handler->ctx);
}

static tide_text text_of(struct diff *d, const char *text) {
    if (text == NULL) return (tide_text){NULL, 0};
    size_t len = strlen(text);
    return (tide_text){tide__arena_strndup(&d->arena, text, len), len};
}

static tide_text number_text(struct diff *d, uint64_t number) {
    return text_of(d, tide__arena_printf(&d->arena, "%llu", (unsigned long long)number));
}

static tide_text time_text(struct diff *d, int64_t ms) {
    struct strbuf text = {0};
    tide__api_put_time(ms, &text);
    tide_text out = text_of(d, text.data);
    tide__strbuf_deinit(&text);
    return out;
}

static tide_status show(struct diff *d, const tide_text *values, size_t count, tide_error *err) {
    if (d->handler->on_row(d->handler->ctx, "+I", values, count)) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_IO, "the output can't be written");
}

// --- facts --------------------------------------------------------------------------------------------------------------------------

static tide_status show_fact(struct diff *d, const char *what, const char *name, tide_text old, tide_text new,
                             tide_error *err) {
    bool same = old.len == new.len && (old.data == NULL) == (new.data == NULL) &&
                (old.data == NULL || memcmp(old.data, new.data, old.len) == 0);
    if (same) return TIDE_OK;
    tide_text values[] = {text_of(d, what), text_of(d, name), old, new};
    return show(d, values, 4, err);
}

static const struct task_part *part_of(const struct savepoint_info *info, const char *operator_id) {
    for (size_t i = 0; i < info->snapshot.part_count; i++)
        if (strcmp(info->snapshot.parts[i].operator_id, operator_id) == 0) return &info->snapshot.parts[i];
    return NULL;
}

static tide_text clauses_text(struct diff *d, const struct plan_operator *op) {
    if (op == NULL) return (tide_text){NULL, 0};
    struct strbuf text = {0};
    for (size_t i = 0; i < op->clause_count; i++)
        tide__strbuf_printf(&text, "%s%s: %s", i > 0 ? "; " : "", op->clauses[i].code, op->clauses[i].text);
    tide_text out = text_of(d, text.data != NULL ? text.data : "");
    tide__strbuf_deinit(&text);
    return out;
}

static tide_status show_operator_facts(struct diff *d, const struct savepoint_info *old,
                                       const struct savepoint_info *new, const char *id, tide_error *err) {
    const struct task_part *a = part_of(old, id), *b = part_of(new, id);
    const tide_text none = {NULL, 0};
    TIDE_TRY(show_fact(d, "clauses", id, clauses_text(d, tide__api_operator(old, id)),
                       clauses_text(d, tide__api_operator(new, id)), err));
    TIDE_TRY(show_fact(d, "watermark", id, a ? time_text(d, a->watermark) : none, b ? time_text(d, b->watermark) : none,
                       err));
    bool source = (a != NULL ? a : b) != NULL && (a != NULL ? a : b)->kind == TASK_PART_SOURCE;
    TIDE_TRY(show_fact(d, source ? "rows read" : "rows in", id,
                       a ? number_text(d, source ? a->rows : a->rows_in) : none,
                       b ? number_text(d, source ? b->rows : b->rows_in) : none, err));
    TIDE_TRY(show_fact(d, "late rows", id, a ? number_text(d, a->late_rows) : none,
                       b ? number_text(d, b->late_rows) : none, err));
    return show_fact(d, "windows fired", id, a ? number_text(d, a->windows_fired) : none,
                     b ? number_text(d, b->windows_fired) : none, err);
}

static tide_status show_facts(struct diff *d, tide_error *err) {
    static const char *const names[] = {"what", "name", "old", "new"};
    const struct savepoint_info *old = tide__savepoint_info(d->sides[0].savepoint),
                                *new = tide__savepoint_info(d->sides[1].savepoint);
    begin_result(d, names, 4, 4);
    TIDE_TRY(show_fact(d, "savepoint", "file", text_of(d, d->sides[0].path), text_of(d, d->sides[1].path), err));
    TIDE_TRY(show_fact(d, "savepoint", "job", text_of(d, old->job_name), text_of(d, new->job_name), err));
    TIDE_TRY(show_fact(d, "savepoint", "taken", time_text(d, old->created_ms), time_text(d, new->created_ms), err));
    TIDE_TRY(show_fact(d, "savepoint", "checkpoint", number_text(d, old->checkpoint_id),
                       number_text(d, new->checkpoint_id), err));
    TIDE_TRY(
        show_fact(d, "savepoint", "rows", number_text(d, old->snapshot.rows), number_text(d, new->snapshot.rows), err));
    for (size_t i = 0; i < new->plan.operator_count; i++)
        TIDE_TRY(show_operator_facts(d, old, new, new->plan.operators[i].operator_id, err));
    for (size_t i = 0; i < old->plan.operator_count; i++)
        if (tide__api_operator(new, old->plan.operators[i].operator_id) == NULL)
            TIDE_TRY(show_operator_facts(d, old, new, old->plan.operators[i].operator_id, err));
    end_result(d);
    return TIDE_OK;
}

// --- pairs of tables ----------------------------------------------------------------------------------------------------------------

static bool same_keys(const struct state_view *a, const struct state_view *b) {
    if (a->windowed != b->windowed || a->sessions != b->sessions || a->desc->key_count != b->desc->key_count)
        return false;
    for (size_t i = 0; i < a->desc->key_count; i++) {
        const struct view_key *x = &a->keys[i], *y = &b->keys[i];
        if (x->form != y->form || x->type == NULL || y->type == NULL || !tide__type_same(x->type, y->type))
            return false;
    }
    return true;
}

static struct pair make_pair(struct diff *d, const struct state_view *old, const struct state_view *new) {
    struct pair pair = {.view = new != NULL ? new : old, .old = old, .new = new};
    pair.comparable = old == NULL || new == NULL || same_keys(old, new);
    pair.columns = ARENA_ARRAY(&d->arena, const struct view_column *, pair.view->column_count + 1);
    const struct state_view *other = pair.view == new ? old : NULL;
    for (size_t i = 0; i < pair.view->column_count; i++) {
        const struct view_column *column = &pair.view->columns[i];
        int at = other != NULL ? tide__view_column(other, tide__str(column->name)) : 0;
        if (at >= 0 && (other == NULL || tide__type_same(other->columns[at].type, column->type)))
            pair.columns[pair.column_count++] = column;
    }
    return pair;
}

static const struct state_view *partner(const struct side *side, const struct state_view *view) {
    for (size_t i = 0; i < side->view_count; i++)
        if (strcmp(side->views[i].table_name, view->table_name) == 0) return &side->views[i];
    for (size_t i = 0; i < side->view_count && view->uid != NULL; i++)
        if (side->views[i].uid != NULL && strcmp(side->views[i].uid, view->uid) == 0 &&
            same_keys(&side->views[i], view))
            return &side->views[i];
    return NULL;
}

// --- walking ------------------------------------------------------------------------------------------------------------------------

static tide_status walker_next(struct walker *w, tide_error *err) {
    w->found = false;
    if (w->scan == NULL) return TIDE_OK;
    return tide__view_scan_entry(w->scan, &w->key, &w->value, &w->rank, &w->found, err);
}

static tide_status walker_open(struct walker *w, struct side *side, const struct state_view *view,
                               const struct pair *pair, tide_error *err) {
    *w = (struct walker){.view = view};
    tide__arena_init(&w->arena);
    if (view == NULL) return TIDE_OK;
    w->columns = ARENA_ARRAY(&w->arena, uint32_t, pair->column_count + 1);
    w->cells = ARENA_ARRAY(&w->arena, struct column, pair->column_count + 1);
    for (size_t i = 0; i < pair->column_count; i++) {
        w->columns[i] = (uint32_t)tide__view_column(view, tide__str(pair->columns[i]->name));
        tide__column_init(&w->cells[i], view->columns[w->columns[i]].type, 1, 1, &w->arena);
    }
    w->decoder = tide__view_decoder_new(view, w->columns, pair->column_count);
    TIDE_TRY(tide__view_scan_open(side->savepoint, view, w->columns, pair->column_count, NULL, &w->scan, err));
    return walker_next(w, err);
}

static void walker_close(struct walker *w) {
    tide__view_scan_close(w->scan);
    tide__view_decoder_free(w->decoder);
    tide__arena_deinit(&w->arena);
}

static tide_status decode(struct walker *w, struct arena *arena, tide_error *err) {
    if (tide__view_decode(w->decoder, w->key, w->value, w->rank, arena, w->cells, 0)) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "an entry of \"%s\" can't be read", w->view->table_name);
}

// The number of a session's piece tells nothing.
static struct str identity(const struct walker *w) {
    struct str key = w->key;
    if (w->view->sessions && key.len >= PIECE_BYTES) key.len -= PIECE_BYTES;
    return key;
}

static bool same_cell(struct diff *d, const struct column *a, const struct column *b) {
    bool null = tide__column_is_null(a, 0);
    if (null != (tide__column_is_null(b, 0) != 0)) return false;
    if (null) return true;
    const struct column *cells[] = {a, b};
    for (int i = 0; i < 2; i++) {
        tide__strbuf_clear(&d->texts[i]);
        tide__value_display_in_zone(cells[i], 0, NULL, &d->texts[i]);
    }
    return tide__str_eq(tide__strbuf_str(&d->texts[0]), tide__strbuf_str(&d->texts[1]));
}

static tide_status compare_rows(struct diff *d, const struct pair *pair, struct walker *old, struct walker *new,
                                bool *out_same, tide_error *err) {
    *out_same = tide__str_eq(old->value, new->value) && old->rank == new->rank;
    if (*out_same) return TIDE_OK;
    struct arena arena;
    tide__arena_init(&arena);
    tide_status status = decode(old, &arena, err);
    if (status == TIDE_OK) status = decode(new, &arena, err);
    *out_same = status == TIDE_OK;
    for (size_t i = 0; i < pair->column_count && *out_same; i++)
        *out_same = same_cell(d, &old->cells[i], &new->cells[i]);
    tide__arena_deinit(&arena);
    return status;
}

static tide_status show_entry(struct diff *d, const struct pair *pair, struct walker *w, const char *change,
                              tide_error *err) {
    struct arena arena;
    tide__arena_init(&arena);
    tide_text *values = ARENA_ARRAY(&arena, tide_text, pair->column_count + 2);
    values[0] = (tide_text){change, strlen(change)};
    values[1] = (tide_text){pair->view->name, strlen(pair->view->name)};
    tide_status status = decode(w, &arena, err);
    for (size_t i = 0; i < pair->column_count && status == TIDE_OK; i++) {
        if (tide__column_is_null(&w->cells[i], 0)) continue;
        struct strbuf text = {0};
        tide__value_display_in_zone(&w->cells[i], 0, NULL, &text);
        values[2 + i] = (tide_text){tide__arena_strndup(&arena, text.len > 0 ? text.data : "", text.len), text.len};
        tide__strbuf_deinit(&text);
    }
    if (status == TIDE_OK) status = show(d, values, pair->column_count + 2, err);
    tide__arena_deinit(&arena);
    return status;
}

// What is done with each difference.
struct visitor {
    struct counts all;
    bool shows;                     // entries
    struct window_counts *windows;  // counting; NULL: not windowed
    size_t window_count, window_cap;
};
struct window_counts {
    int64_t start_ms, end_ms;
    struct counts counts;
};

static struct counts *window_of(struct visitor *v, const struct pair *pair, struct str key) {
    if (!pair->view->windowed || v->shows || key.len < WINDOW_BYTES) return NULL;
    int64_t start = tide__key_get_time(key.data), end = tide__key_get_time(key.data + 8);
    struct window_counts *last = v->window_count > 0 ? &v->windows[v->window_count - 1] : NULL;
    if (last != NULL && last->start_ms == start && last->end_ms == end) return &last->counts;
    v->windows = tide__grow(v->windows, &v->window_cap, v->window_count + 1, sizeof *v->windows);
    v->windows[v->window_count] = (struct window_counts){.start_ms = start, .end_ms = end};
    return &v->windows[v->window_count++].counts;
}

static void count(struct visitor *v, const struct pair *pair, struct str key, bool old, bool new, bool same) {
    struct counts *both[] = {&v->all, window_of(v, pair, key)};
    for (int i = 0; i < 2 && both[i] != NULL; i++) {
        both[i]->old_entries += old;
        both[i]->new_entries += new;
        both[i]->added += new && !old;
        both[i]->removed += old && !new;
        both[i]->changed += old && new && !same;
    }
}

static tide_status visit(struct diff *d, struct visitor *v, const struct pair *pair, struct walker *old,
                         struct walker *new, int order, tide_error *err) {
    bool same = false;
    if (order == 0) TIDE_TRY(compare_rows(d, pair, old, new, &same, err));
    count(v, pair, order <= 0 ? old->key : new->key, order <= 0, order >= 0, same);
    if (!v->shows || same || d->left == 0) return TIDE_OK;
    d->left--;
    if (order <= 0) TIDE_TRY(show_entry(d, pair, old, order < 0 ? "removed" : "old", err));
    return order >= 0 ? show_entry(d, pair, new, order > 0 ? "added" : "new", err) : TIDE_OK;
}

static tide_status walk(struct diff *d, const struct pair *pair, struct visitor *v, tide_error *err) {
    struct walker old = {0}, new = {0};
    tide_status status = walker_open(&old, &d->sides[0], pair->old, pair, err);
    if (status == TIDE_OK)
        status = walker_open(&new, &d->sides[1], pair->new, pair, err);
    else
        tide__arena_init(&new.arena);
    while (status == TIDE_OK && (old.found || new.found) && !(v->shows && d->left == 0)) {
        int order = !old.found ? 1 : !new.found ? -1 : tide__str_cmp(identity(&old), identity(&new));
        status = visit(d, v, pair, &old, &new, order, err);
        if (status == TIDE_OK && order <= 0) status = walker_next(&old, err);
        if (status == TIDE_OK && order >= 0) status = walker_next(&new, err);
    }
    walker_close(&old);
    walker_close(&new);
    return status;
}

// --- all ----------------------------------------------------------------------------------------------------------------------------

static void put_counts(struct diff *d, const struct counts *counts, tide_text *values) {
    const uint64_t numbers[] = {counts->old_entries, counts->new_entries, counts->added, counts->removed,
                                counts->changed};
    for (size_t i = 0; i < 5; i++) values[i] = number_text(d, numbers[i]);
}

static bool differs(const struct counts *counts) {
    return counts->added > 0 || counts->removed > 0 || counts->changed > 0;
}

static tide_status show_counts(struct diff *d, const struct pair *pairs, const struct visitor *visitors, size_t n,
                               tide_error *err) {
    static const char *const names[] = {"operator", "old_entries", "new_entries", "added", "removed", "changed"};
    begin_result(d, names, 1, 6);
    for (size_t i = 0; i < n; i++) {
        tide_text values[6] = {text_of(d, pairs[i].view->name)};
        if (pairs[i].comparable) put_counts(d, &visitors[i].all, values + 1);
        TIDE_TRY(show(d, values, 6, err));
    }
    end_result(d);
    return TIDE_OK;
}

static tide_status show_windows(struct diff *d, const struct pair *pairs, const struct visitor *visitors, size_t n,
                                tide_error *err) {
    static const char *const names[] = {"operator",    "window", "window_start", "window_end", "old_entries",
                                        "new_entries", "added",  "removed",      "changed"};
    begin_result(d, names, 4, 9);
    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < visitors[i].window_count; w++) {
            const struct window_counts *window = &visitors[i].windows[w];
            if (!differs(&window->counts)) continue;
            const char *what = window->counts.old_entries == 0   ? "added"
                               : window->counts.new_entries == 0 ? "removed"
                                                                 : "changed";
            tide_text values[9] = {text_of(d, pairs[i].view->name), text_of(d, what), time_text(d, window->start_ms),
                                   time_text(d, window->end_ms)};
            put_counts(d, &window->counts, values + 4);
            TIDE_TRY(show(d, values, 9, err));
        }
    }
    end_result(d);
    return TIDE_OK;
}

static tide_status show_entries(struct diff *d, const struct pair *pair, const struct counts *counts, tide_error *err) {
    if (!pair->comparable || !differs(counts) || d->left == 0) return TIDE_OK;
    tide_column *columns = ARENA_ARRAY(&d->arena, tide_column, pair->column_count + 2);
    columns[0] = tide__api_column("change", &text_type, &d->arena);
    columns[1] = tide__api_column("operator", &text_type, &d->arena);
    for (size_t i = 0; i < pair->column_count; i++)
        columns[2 + i] = tide__api_column(pair->columns[i]->name, pair->columns[i]->type, &d->arena);
    if (d->handler->on_result != NULL) d->handler->on_result(d->handler->ctx, columns, pair->column_count + 2, false);
    struct visitor shower = {.shows = true};
    TIDE_TRY(walk(d, pair, &shower, err));
    end_result(d);
    return TIDE_OK;
}

static void warn_incomparable(struct diff *d, const struct pair *pair) {
    if (d->handler->on_message == NULL) return;
    tide_error message;
    tide__error_clear(&message);
    snprintf(message.message, sizeof message.message,
             "the entries of %s are not compared: their keys differ in columns or types", pair->view->name);
    d->handler->on_message(d->handler->ctx, TIDE_WARNING, &message);
}

static tide_status compare_all(struct diff *d, struct pair *pairs, size_t n, tide_error *err) {
    struct visitor *visitors = ARENA_ARRAY(&d->arena, struct visitor, n + 1);
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < n && status == TIDE_OK; i++) {
        if (pairs[i].comparable)
            status = walk(d, &pairs[i], &visitors[i], err);
        else
            warn_incomparable(d, &pairs[i]);
    }
    if (status == TIDE_OK) status = show_counts(d, pairs, visitors, n, err);
    if (status == TIDE_OK) status = show_windows(d, pairs, visitors, n, err);
    for (size_t i = 0; i < n && status == TIDE_OK; i++) status = show_entries(d, &pairs[i], &visitors[i].all, err);
    for (size_t i = 0; i < n; i++) tide__free(visitors[i].windows);
    return status;
}

static tide_status compare(struct diff *d, const char *operator_name, tide_error *err) {
    struct pair *pairs = ARENA_ARRAY(&d->arena, struct pair, d->sides[0].view_count + d->sides[1].view_count + 1);
    size_t n = 0;
    bool ambiguous;
    const struct state_view *only = NULL;
    for (int s = 1; s >= 0 && operator_name != NULL && only == NULL; s--)
        only = tide__view_find(d->sides[s].views, d->sides[s].view_count, operator_name, &ambiguous);
    if (operator_name != NULL && only == NULL)
        return tide__fail(err, TIDE_ERR_OPTION, "neither savepoint has an operator \"%s\" with state", operator_name);
    for (int s = 1; s >= 0; s--) {
        for (size_t i = 0; i < d->sides[s].view_count; i++) {
            const struct state_view *view = &d->sides[s].views[i];
            const struct state_view *other = partner(&d->sides[1 - s], view);
            if (view->passing || (only != NULL && strcmp(view->table_name, only->table_name) != 0)) continue;
            if (s == 0 && other != NULL) continue;
            pairs[n++] = s == 1 ? make_pair(d, other, view) : make_pair(d, view, NULL);
        }
    }
    TIDE_TRY(show_facts(d, err));
    return compare_all(d, pairs, n, err);
}

static tide_status open_side(struct diff *d, int s, const char *path, tide_error *err) {
    const char *skipped = NULL;
    TIDE_TRY(tide__api_savepoint_find(path, &d->arena, &d->sides[s].savepoint, &d->sides[s].path, &skipped, err));
    tide__view_make_all(tide__savepoint_info(d->sides[s].savepoint), &d->arena, &d->sides[s].views,
                        &d->sides[s].view_count);
    return TIDE_OK;
}

tide_status tide_inspect_diff(const char *old_path, const char *new_path, const tide_entry_filter *filter,
                              const tide_handler *handler, tide_error *err) {
    tide__error_clear(err);
    struct diff d = {.handler = handler, .left = filter->limit};
    tide__arena_init(&d.arena);
    tide_status status = open_side(&d, 0, old_path, err);
    if (status == TIDE_OK) status = open_side(&d, 1, new_path, err);
    if (status == TIDE_OK) status = compare(&d, filter->operator_name, err);
    for (int i = 0; i < 2; i++) {
        tide__savepoint_close(d.sides[i].savepoint);
        tide__strbuf_deinit(&d.texts[i]);
    }
    tide__arena_deinit(&d.arena);
    return status;
}
