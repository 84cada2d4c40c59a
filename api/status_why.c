// Why a window has not fired: its end, the watermark, and the source that holds it back. See api/status.h.
#include "api/status.h"

#include "api/script.h"
#include "api/view.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

struct question {
    const struct status_facts *facts;
    struct savepoint *savepoint;
    const struct savepoint_info *info;
    const char *window, *key;
    int64_t start_ms, end_ms;
    int64_t watermark;  // of the operator
    struct strbuf *out;
    bool answered;
    struct strbuf nearest;  // a window that there is, where the one that was asked for can't be
};

static int64_t time_of(const struct status_facts *facts, const char *section, const char *name, const char *field) {
    const char *text = tide__status_get(facts, section, name, field);
    int64_t ms = WATERMARK_NONE;
    if (text != NULL && strcmp(text, "end") == 0) return WATERMARK_END;
    if (text == NULL || !tide__api_parse_time(tide__str(text), &ms)) return WATERMARK_NONE;
    return ms;
}

static void put_span(int64_t ms, struct strbuf *out) {
    if (ms >= MILLIS_PER_DAY)
        tide__strbuf_printf(out, "%.1f days", (double)ms / MILLIS_PER_DAY);
    else if (ms >= MILLIS_PER_HOUR)
        tide__strbuf_printf(out, "%.1f h", (double)ms / MILLIS_PER_HOUR);
    else if (ms >= MILLIS_PER_MINUTE)
        tide__strbuf_printf(out, "%.1f min", (double)ms / MILLIS_PER_MINUTE);
    else
        tide__strbuf_printf(out, "%.3f s", (double)ms / MILLIS_PER_SECOND);
}

// --- sources -----------------------------------------------------------------------------------------------------------------------

static bool says(const struct status_facts *facts, const char *name, const char *field) {
    const char *value = tide__status_get(facts, "source", name, field);
    return value != NULL && strcmp(value, "true") == 0;
}

// The sources that the operator gets its rows from, however far below.
static bool feeds(const struct question *q, const char *source, const char *operator_id, int depth) {
    const struct plan_operator *op = tide__api_operator(q->info, operator_id);
    if (op == NULL || depth > 64) return false;
    for (size_t i = 0; i < op->input_count; i++)
        if (strcmp(op->inputs[i], source) == 0 || feeds(q, source, op->inputs[i], depth + 1)) return true;
    return false;
}

static void explain_source(const struct question *q, const char *name) {
    int64_t watermark = time_of(q->facts, "source", name, "watermark"),
            reached = time_of(q->facts, "source", name, "reached");
    const char *expression = tide__api_clause(tide__api_operator(q->info, name), "source.watermark");
    tide__strbuf_printf(q->out, "  %-10s", name);
    if (says(q->facts, name, "ended") || watermark == WATERMARK_END) {
        tide__strbuf_append_c(q->out, " has ended and holds nothing back\n");
        return;
    }
    if (says(q->facts, name, "idle")) {
        tide__strbuf_append_c(q->out, " is idle: its watermark does not count\n");
        return;
    }
    tide__strbuf_append_c(q->out, " watermark ");
    tide__api_put_time(watermark, q->out);
    if (expression != NULL) tide__strbuf_printf(q->out, " (%s)", expression);
    if (watermark >= q->end_ms - 1) {
        tide__strbuf_append_c(q->out, ", which is enough\n");
        return;
    }
    if (reached != WATERMARK_NONE && reached >= q->end_ms - 1) {
        tide__strbuf_append_c(q->out, ", has reached ");
        tide__api_put_time(reached, q->out);
        tide__strbuf_append_c(q->out, ": the next one let out is enough\n");
        return;
    }
    tide__strbuf_append_c(q->out, watermark == WATERMARK_NONE ? ": no row yet" : ", lacks ");
    if (watermark != WATERMARK_NONE) put_span(q->end_ms - 1 - watermark, q->out);
    if (says(q->facts, name, "waiting")) tide__strbuf_append_c(q->out, "; it waits for rows that do not come");
    tide__strbuf_append_c(q->out, "  <- holds the window back\n");
}

static void explain_sources(const struct question *q, const char *operator_id) {
    for (size_t i = 0; i < q->info->snapshot.part_count; i++) {
        const struct task_part *part = &q->info->snapshot.parts[i];
        if (part->kind == TASK_PART_SOURCE && feeds(q, part->operator_id, operator_id, 0))
            explain_source(q, part->operator_id);
    }
}

// --- entries -----------------------------------------------------------------------------------------------------------------------

struct counting {
    uint64_t rows;
    struct strbuf *out;
    tide_column columns[64];
    size_t column_count;
};

static void on_result(void *ctx, const tide_column *columns, size_t count, bool continued) {
    (void)continued;
    struct counting *c = ctx;
    c->column_count = count < 64 ? count : 64;
    memcpy(c->columns, columns, c->column_count * sizeof *columns);
}

static bool on_row(void *ctx, const char *op, const tide_text *values, size_t count) {
    (void)op;
    struct counting *c = ctx;
    if (c->rows++ > 0) return true;
    tide__strbuf_append_c(c->out, "  in the checkpoint:");
    for (size_t i = 0; i < count && i < c->column_count; i++)
        tide__strbuf_printf(c->out, "%s %s=%.*s", i > 0 ? "," : "", c->columns[i].name,
                            values[i].data != NULL ? (int)values[i].len : 4,
                            values[i].data != NULL ? values[i].data : "NULL");
    tide__strbuf_append_c(c->out, "\n");
    return true;
}

static tide_status explain_key(const struct question *q, const struct state_view *view, tide_error *err) {
    const char *file = tide__status_get(q->facts, "checkpoint", "", "file");
    if (q->key == NULL || file == NULL) return TIDE_OK;
    struct counting counting = {.out = q->out};
    const char *keys[] = {q->key};
    tide_entry_filter filter = {
        .operator_name = view->table_name, .window = q->window, .keys = keys, .key_count = 1, .limit = UINT64_MAX};
    tide_handler handler = {.ctx = &counting, .on_result = on_result, .on_row = on_row};
    TIDE_TRY(tide_inspect_entries(file, &filter, &handler, err));
    if (counting.rows > 1)
        tide__strbuf_printf(q->out, "  and %llu more entries with %s\n", (unsigned long long)counting.rows - 1, q->key);
    if (counting.rows == 0)
        tide__strbuf_printf(q->out, "  the checkpoint has nothing with %s in this window\n", q->key);
    return TIDE_OK;
}

static uint64_t entries_in_window(const struct question *q, const struct state_view *view) {
    const struct savepoint_table *table = view->stored;
    size_t listed = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
    uint64_t entries = 0;
    for (size_t i = 0; i < listed; i++) {
        const struct savepoint_window *window = &table->windows[i];
        bool inside = view->sliced ? window->start_ms >= q->start_ms && window->start_ms < q->end_ms
                                   : window->start_ms == q->start_ms && window->end_ms == q->end_ms;
        if (inside) entries += window->entries;
    }
    return entries;
}

// --- the answer ---------------------------------------------------------------------------------------------------------------------

static void explain_fired(const struct question *q, const char *operator_id) {
    tide__strbuf_append_c(q->out, "  It has fired, or there were no rows for it: the watermark is past its end. A row "
                                  "that comes for it now is late and is dropped.\n");
    const char *late = tide__status_get(q->facts, "operator", operator_id, "late_rows");
    if (late != NULL && strcmp(late, "0") != 0)
        tide__strbuf_printf(q->out, "  Rows dropped as late by %s so far: %s\n", operator_id, late);
}

static bool is_window(const struct question *q, const struct state_view *view) {
    if (view->sessions || view->grid_ms <= 0) return q->end_ms > q->start_ms;
    int64_t length = q->end_ms - q->start_ms;
    if (tide__time_floor(q->start_ms, view->offset_ms, view->grid_ms) != q->start_ms || length <= 0) return false;
    return length == view->size_ms || (view->step_ms > 0 && length < view->size_ms && length % view->step_ms == 0);
}

static void note_nearest(struct question *q, const struct state_view *view) {
    if (q->nearest.len > 0 || view->grid_ms <= 0) return;
    int64_t start = tide__time_floor(q->start_ms, view->offset_ms, view->grid_ms);
    tide__strbuf_printf(&q->nearest, "%s has '", view->operator_id);
    tide__api_put_time(start, &q->nearest);
    tide__strbuf_append_c(&q->nearest, ",");
    tide__api_put_time(start + view->size_ms, &q->nearest);
    tide__strbuf_append_c(&q->nearest, "'");
}

static tide_status explain_view(struct question *q, const struct state_view *view, tide_error *err) {
    if (!view->windowed && !view->sessions) return TIDE_OK;
    int64_t asked_end = q->end_ms;
    if (q->end_ms == INT64_MIN && !view->sessions) q->end_ms = q->start_ms + view->size_ms;
    if (q->end_ms == INT64_MIN || view->size_ms == 0) {
        q->end_ms = asked_end;
        return TIDE_OK;
    }
    if (!is_window(q, view)) {
        note_nearest(q, view);
        q->end_ms = asked_end;
        return TIDE_OK;
    }
    q->answered = true;
    q->watermark = time_of(q->facts, "operator", view->operator_id, "watermark");
    tide__strbuf_printf(q->out, "%s, window [", view->operator_id);
    tide__api_put_time(q->start_ms, q->out);
    tide__strbuf_append_c(q->out, ", ");
    tide__api_put_time(q->end_ms, q->out);
    tide__strbuf_append_c(q->out, ")\n  It fires when the watermark reaches ");
    tide__api_put_time(q->end_ms - 1, q->out);
    tide__strbuf_append_c(q->out, "; the watermark here is ");
    tide__api_put_time(q->watermark, q->out);
    tide__strbuf_append_c(q->out, ".\n");
    if (q->watermark >= q->end_ms - 1) {
        explain_fired(q, view->operator_id);
    } else {
        uint64_t entries = entries_in_window(q, view);
        if (entries == 0 && !view->sessions)
            tide__strbuf_append_c(q->out, "  The checkpoint has no rows for it yet.\n");
        else if (!view->sessions)
            tide__strbuf_printf(q->out, "  The checkpoint has %llu entries for it.\n", (unsigned long long)entries);
        explain_sources(q, view->operator_id);
    }
    tide_status status = explain_key(q, view, err);
    q->end_ms = asked_end;
    return status;
}

tide_status tide__api_status_why(const struct status_facts *facts, struct savepoint *savepoint, const char *window,
                                 const char *key, struct strbuf *out, tide_error *err) {
    struct question q = {
        .facts = facts, .savepoint = savepoint, .window = window, .key = key, .end_ms = INT64_MIN, .out = out};
    const char *comma = strchr(window, ',');
    struct str start = {window, comma != NULL ? (size_t)(comma - window) : strlen(window)};
    if (!tide__api_parse_time(start, &q.start_ms) ||
        (comma != NULL && !tide__api_parse_time(tide__str(comma + 1), &q.end_ms)))
        return tide__fail(err, TIDE_ERR_OPTION, "'%s' is no window: write its start, or start and end with a comma",
                          window);
    if (savepoint == NULL) {
        tide__fail(err, TIDE_ERR_OPTION, "there is no checkpoint yet that tells the plan");
        return tide__fail_hint(err, "Ask again after the first checkpoint.");
    }
    q.info = tide__savepoint_info(savepoint);
    struct arena arena;
    tide__arena_init(&arena);
    struct state_view *views;
    size_t count;
    tide__view_make_all(q.info, &arena, &views, &count);
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < count && status == TIDE_OK; i++) status = explain_view(&q, &views[i], err);
    tide__arena_deinit(&arena);
    if (status == TIDE_OK && !q.answered) {
        status = tide__fail(err, TIDE_ERR_OPTION,
                            "no operator of the job has such windows (sessions need both bounds)");
        if (q.nearest.len > 0) tide__fail_hint(err, "%s", q.nearest.data);
    }
    tide__strbuf_deinit(&q.nearest);
    return status;
}
