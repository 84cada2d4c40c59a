// Entries of a savepoint's state tables, decoded, for `tidemark inspect --operator ... --key ...`. What a damaged chunk
// holds is left out and said; the rest is shown.
#include "api/inspect.h"
#include "api/script.h"
#include "api/view.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/codec/key.h"
#include "engine/expr/eval.h"
#include "engine/formats/format.h"

#include <string.h>

#define ROWS_A_BATCH 1024

struct listing {
    struct savepoint *savepoint;
    const char *path;
    const tide_entry_filter *filter;
    const tide_handler *handler;
    struct arena arena;
    struct state_view *views;
    size_t view_count;
    bool several;  // of all operators: the first column says which
    int64_t start_ms, end_ms;
    uint64_t left;  // rows that may still be shown
    bool damaged;   // a broken chunk was met; what is broken is passed over from then on
    tide_error damage;
    uint64_t again;  // rows at the start of a scan that have been shown
};

// --- what was asked for ---------------------------------------------------------------------------------------------------------

bool tide__api_parse_time(struct str text, int64_t *out) {
    char bytes[48];
    while (text.len > 0 && (*text.data == ' ' || *text.data == '[')) text.data++, text.len--;
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == ')')) text.len--;
    if (text.len < 10 || text.len > 32) return false;
    memcpy(bytes, text.data, text.len);
    size_t len = text.len;
    if (len > 10 && bytes[10] == 'T') bytes[10] = ' ';
    if (len == 10) memcpy(bytes + len, " 00:00", 6), len += 6;
    if (len == 16) memcpy(bytes + len, ":00", 3), len += 3;
    struct timestamp t;
    if (!tide__timestamp_parse_sql((struct str){bytes, len}, &t)) return false;
    *out = t.ms;
    return true;
}

static tide_status parse_window(struct listing *l, tide_error *err) {
    l->end_ms = INT64_MIN;
    const char *text = l->filter->window;
    if (text == NULL) return TIDE_OK;
    const char *comma = strchr(text, ',');
    struct str start = {text, comma != NULL ? (size_t)(comma - text) : strlen(text)};
    bool good = tide__api_parse_time(start, &l->start_ms);
    if (good && comma != NULL) good = tide__api_parse_time(tide__str(comma + 1), &l->end_ms);
    if (good && comma != NULL && l->end_ms <= l->start_ms)
        return tide__fail(err, TIDE_ERR_OPTION, "'%s' is no window: it ends before it starts", text);
    if (good) return TIDE_OK;
    tide__fail(err, TIDE_ERR_OPTION, "'%s' is no window", text);
    return tide__fail_hint(err, "write its start, or start and end: '2024-01-01 00:00:00,2024-01-01 00:01:00'");
}

static void list_names(const struct listing *l, struct strbuf *out) {
    for (size_t i = 0; i < l->view_count; i++)
        if (!l->views[i].passing) tide__strbuf_printf(out, "%s%s", out->len > 0 ? ", " : "", l->views[i].name);
}

static tide_status find_view(const struct listing *l, const struct state_view **out, tide_error *err) {
    bool ambiguous;
    const char *name = l->filter->operator_name;
    *out = tide__view_find(l->views, l->view_count, name, &ambiguous);
    if (*out != NULL) return TIDE_OK;
    struct strbuf names = {0};
    list_names(l, &names);
    if (ambiguous)
        tide__fail(err, TIDE_ERR_OPTION, "operator \"%s\" has several state tables", name);
    else
        tide__fail(err, TIDE_ERR_OPTION, "the savepoint has no operator \"%s\" with state", name);
    tide__fail_hint(err, l->view_count > 0 ? "there are: %s" : "no operator of the job keeps state%s",
                    names.data != NULL ? names.data : "");
    tide__strbuf_deinit(&names);
    return TIDE_ERR_OPTION;
}

static tide_status no_such_column(const struct state_view *view, struct str name, tide_error *err) {
    struct strbuf names = {0};
    for (size_t i = 0; i < view->column_count; i++)
        tide__strbuf_printf(&names, "%s%s", i > 0 ? ", " : "", view->columns[i].name);
    tide__fail(err, TIDE_ERR_OPTION, "the state of %s has no column \"%.*s\"", view->operator_id, STR_ARG(name));
    tide__fail_hint(err, "there are: %s", names.data != NULL ? names.data : "");
    tide__strbuf_deinit(&names);
    return TIDE_ERR_OPTION;
}

// One value in key form; `<NULL>` is NULL.
static bool encode_value(const struct type *type, struct str text, struct arena *arena, struct str *out) {
    struct column cell;
    tide__column_init(&cell, type, 1, 1, arena);
    if (tide__str_eq_c(text, "<NULL>")) {
        memset(cell.data, 0, tide__physical_size(cell.physical));
        cell.nulls[0] = 1;
    } else if (tide__type_is_string(type)) {
        cell.str[0] = text;
    } else if (type->kind == TYPE_TIMESTAMP && cell.physical == PHYSICAL_I64) {
        if (!tide__api_parse_time(text, &cell.i64[0])) return false;
    } else if (!tide__format_find(STR_LIT("csv"))->parse_value(type, text, arena, &cell, 0)) {
        return false;
    }
    struct strbuf bytes = {0};
    tide__key_append_value(&cell, 0, &bytes);
    *out = (struct str){tide__arena_strndup(arena, bytes.data, bytes.len), bytes.len};
    tide__strbuf_deinit(&bytes);
    return true;
}

static bool is_comparable(const struct type *type) {
    return type->kind != TYPE_ARRAY && type->kind != TYPE_MAP && type->kind != TYPE_MULTISET && type->kind != TYPE_ROW;
}

// *out_fits false: a view without such a column, where all are listed.
static tide_status add_condition(struct listing *l, const struct state_view *view, const char *key,
                                 struct view_condition *out, bool *out_fits, tide_error *err) {
    const char *equals = strchr(key, '=');
    *out_fits = true;
    if (equals == NULL || equals == key) {
        tide__fail(err, TIDE_ERR_OPTION, "'%s' is no condition on a key", key);
        return tide__fail_hint(err, "write it as NAME=VALUE: --key auction=1007");
    }
    struct str name = {key, (size_t)(equals - key)};
    int column = tide__view_column(view, name);
    if (column < 0 && l->several) {
        *out_fits = false;
        return TIDE_OK;
    }
    if (column < 0) return no_such_column(view, name, err);
    const struct type *type = view->columns[column].type;
    out->column = (uint32_t)column;
    if (is_comparable(type) && encode_value(type, tide__str(equals + 1), &l->arena, &out->key_form)) return TIDE_OK;
    *out_fits = !l->several;
    if (l->several) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_OPTION, "\"%s\" is no %s, which column %.*s holds", equals + 1,
                      tide__type_text(&l->arena, type), STR_ARG(name));
}

// A session's window is a condition on its columns; that of a windowed table a range of keys.
static tide_status window_range(struct listing *l, const struct state_view *view, struct view_range *range,
                                struct view_condition *conditions, bool *out_fits, tide_error *err) {
    if (l->filter->window == NULL) return TIDE_OK;
    if (view->windowed) {
        range->has_window = true;
        range->start_ms = l->start_ms;
        range->end_ms = l->end_ms;
        if (view->sliced && l->end_ms == INT64_MIN) range->end_ms = l->start_ms + view->size_ms;
        return TIDE_OK;
    }
    int start = tide__view_column(view, STR_LIT("window_start")), end = tide__view_column(view, STR_LIT("window_end"));
    *out_fits = view->sessions && start >= 0 && end >= 0;
    if (!*out_fits && l->several) return TIDE_OK;
    if (!*out_fits) return tide__fail(err, TIDE_ERR_OPTION, "the state of %s has no windows", view->operator_id);
    const struct {
        int column;
        int64_t ms;
    } bounds[] = {{start, l->start_ms}, {end, l->end_ms}};
    for (size_t i = 0; i < 2 && bounds[i].ms != INT64_MIN; i++) {
        struct column cell;
        tide__column_init(&cell, view->columns[bounds[i].column].type, 1, 1, &l->arena);
        cell.i64[0] = bounds[i].ms;
        struct strbuf bytes = {0};
        tide__key_append_value(&cell, 0, &bytes);
        conditions[range->condition_count++] = (struct view_condition){
            (uint32_t)bounds[i].column, {tide__arena_strndup(&l->arena, bytes.data, bytes.len), bytes.len}};
        tide__strbuf_deinit(&bytes);
    }
    return TIDE_OK;
}

static tide_status make_range(struct listing *l, const struct state_view *view, struct view_range *out, bool *out_fits,
                              tide_error *err) {
    struct view_condition *conditions = ARENA_ARRAY(&l->arena, struct view_condition, l->filter->key_count + 2);
    *out = (struct view_range){.conditions = conditions};
    *out_fits = true;
    for (size_t i = 0; i < l->filter->key_count && *out_fits; i++)
        TIDE_TRY(add_condition(l, view, l->filter->keys[i], &conditions[out->condition_count++], out_fits, err));
    if (*out_fits) TIDE_TRY(window_range(l, view, out, conditions, out_fits, err));
    return TIDE_OK;
}

// --- showing --------------------------------------------------------------------------------------------------------------------

struct display {
    const struct state_view *view;
    tide_column *columns;
    tide_text *values;
    struct strbuf *texts;
    size_t first;  // 1: the first column is the operator
};

static tide_status show_rows(struct listing *l, const struct display *display, const struct column *columns,
                             size_t rows, tide_error *err) {
    size_t count = display->view->column_count;
    for (size_t row = 0; row < rows && l->left > 0; row++) {
        if (l->again > 0) {
            l->again--;
            continue;
        }
        l->left--;
        if (display->first > 0) display->values[0] = (tide_text){display->view->name, strlen(display->view->name)};
        for (size_t c = 0; c < count; c++) {
            tide_text *value = &display->values[display->first + c];
            *value = (tide_text){NULL, 0};
            if (tide__column_is_null(&columns[c], row)) continue;
            tide__strbuf_clear(&display->texts[c]);
            tide__value_display_in_zone(&columns[c], row, NULL, &display->texts[c]);
            *value = (tide_text){display->texts[c].data != NULL ? display->texts[c].data : "", display->texts[c].len};
        }
        if (!l->handler->on_row(l->handler->ctx, "+I", display->values, count + display->first))
            return tide__fail(err, TIDE_ERR_IO, "the output can't be written");
    }
    return TIDE_OK;
}

static tide_status show_scan(struct listing *l, const struct display *display, struct view_scan *scan,
                             tide_error *err) {
    struct column *columns = ARENA_ARRAY(&l->arena, struct column, display->view->column_count + 1);
    struct arena batch;
    tide__arena_init(&batch);
    tide_status status = TIDE_OK;
    for (size_t rows = 1; rows > 0 && l->left > 0 && status == TIDE_OK;) {
        size_t most = l->again == 0 && l->left < ROWS_A_BATCH ? (size_t)l->left : ROWS_A_BATCH;
        tide__arena_reset(&batch);
        status = tide__view_scan_next(scan, most, &batch, columns, &rows, err);
        tide_status shown = show_rows(l, display, columns, rows, status == TIDE_OK ? err : NULL);
        if (status == TIDE_OK) status = shown;
    }
    tide__arena_deinit(&batch);
    return status;
}

static void note_damage(void *ctx, const struct savepoint_damage *damage) {
    struct listing *l = ctx;
    if (damage->desc == NULL) return;
    l->damaged = true;
    const struct savepoint_info *info = tide__savepoint_info(l->savepoint);
    for (size_t i = 0; i < info->table_count; i++)
        if (strcmp(info->tables[i].desc.name, damage->desc->name) == 0)
            tide__savepoint_pass_over(l->savepoint, i, damage->index);
    if (l->handler->on_message == NULL) return;
    tide_error message;
    tide__error_clear(&message);
    tide__fail(&message, TIDE_ERR_SAVEPOINT, "not shown: %llu entries of \"%s\" in chunk %u at offset %llu of %s: %s",
               (unsigned long long)damage->index->entries, damage->desc->name, damage->chunk,
               (unsigned long long)damage->index->offset, damage->path, damage->what);
    l->handler->on_message(l->handler->ctx, TIDE_WARNING, &message);
}

static tide_status scan_view(struct listing *l, const struct display *display, const struct view_range *range,
                             tide_error *err) {
    uint32_t *wanted = ARENA_ARRAY(&l->arena, uint32_t, display->view->column_count + 1);
    for (uint32_t i = 0; i < display->view->column_count; i++) wanted[i] = i;
    struct view_scan *scan;
    TIDE_TRY(tide__view_scan_open(l->savepoint, display->view, wanted, display->view->column_count, range, &scan, err));
    tide_status status = show_scan(l, display, scan, err);
    tide__view_scan_close(scan);
    return status;
}

// A broken chunk ends a scan. What is broken is found out then, and the scan is made anew without it; the rows in front of the first
// broken chunk have been shown.
static tide_status show_view(struct listing *l, const struct display *display, const struct view_range *range,
                             tide_error *err) {
    uint64_t left = l->left;
    l->again = 0;
    tide_status status = scan_view(l, display, range, err);
    if (status != TIDE_ERR_SAVEPOINT || l->damaged) return status;
    if (err != NULL) l->damage = *err;
    tide_status verified = tide__savepoint_verify(l->path, note_damage, l, NULL);
    (void)verified;  // what it says has been noted
    if (!l->damaged) return status;
    tide__error_clear(err);
    l->again = left - l->left;
    return scan_view(l, display, range, err);
}

static tide_status list_view(struct listing *l, const struct state_view *view, const struct view_range *range,
                             tide_error *err) {
    size_t count = view->column_count;
    struct display display = {.view = view, .first = l->several ? 1 : 0};
    display.columns = ARENA_ARRAY(&l->arena, tide_column, count + 1);
    display.values = ARENA_ARRAY(&l->arena, tide_text, count + 1);
    display.texts = ARENA_ARRAY(&l->arena, struct strbuf, count + 1);
    static const struct type name_type = {.kind = TYPE_VARCHAR, .nullable = true, .precision = TYPE_STRING_LENGTH};
    if (l->several) display.columns[0] = tide__api_column("operator", &name_type, &l->arena);
    for (size_t c = 0; c < count; c++)
        display.columns[display.first + c] = tide__api_column(view->columns[c].name, view->columns[c].type, &l->arena);
    if (l->handler->on_result != NULL)
        l->handler->on_result(l->handler->ctx, display.columns, count + display.first, false);
    tide_status status = show_view(l, &display, range, err);
    if (status == TIDE_OK && l->handler->on_result_end != NULL) l->handler->on_result_end(l->handler->ctx);
    for (size_t c = 0; c < count; c++) tide__strbuf_deinit(&display.texts[c]);
    return status;
}

static tide_status list_all(struct listing *l, tide_error *err) {
    size_t shown = 0;
    for (size_t i = 0; i < l->view_count; i++) {
        struct view_range range;
        bool fits;
        TIDE_TRY(make_range(l, &l->views[i], &range, &fits, err));
        if (!fits) continue;
        shown++;
        if (l->views[i].stored->entries == 0) continue;
        TIDE_TRY(list_view(l, &l->views[i], &range, err));
    }
    if (shown > 0 || l->view_count == 0) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_OPTION, "no operator with state has what is asked for");
}

static tide_status list_one(struct listing *l, tide_error *err) {
    const struct state_view *view;
    struct view_range range;
    bool fits;
    TIDE_TRY(find_view(l, &view, err));
    TIDE_TRY(make_range(l, view, &range, &fits, err));
    return list_view(l, view, &range, err);
}

tide_status tide_inspect_entries(const char *path, const tide_entry_filter *filter, const tide_handler *handler,
                                 tide_error *err) {
    tide_error unseen;
    if (err == NULL) err = &unseen;
    tide__error_clear(err);
    struct listing l = {.filter = filter, .handler = handler, .left = filter->limit};
    l.several = filter->operator_name == NULL;
    tide__arena_init(&l.arena);
    const char *skipped = NULL;
    tide_status status = parse_window(&l, err);
    if (status == TIDE_OK) status = tide__api_savepoint_find(path, &l.arena, &l.savepoint, &l.path, &skipped, err);
    if (status == TIDE_OK) {
        tide__view_make_all(tide__savepoint_info(l.savepoint), &l.arena, &l.views, &l.view_count);
        status = l.several ? list_all(&l, err) : list_one(&l, err);
    }
    if (status == TIDE_OK && l.damaged) {
        *err = l.damage;
        status = TIDE_ERR_SAVEPOINT;
    }
    tide__savepoint_close(l.savepoint);
    tide__arena_deinit(&l.arena);
    return status;
}
