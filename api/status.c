// tidemark status and query: the running job's facts, and what its newest checkpoint adds. See api/status.h.
#include "api/status.h"

#include "api/script.h"
#include "api/view.h"
#include "base/time.h"

#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define WINDOWS_SHOWN 10

static int64_t wall_clock_ms(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * MILLIS_PER_SECOND + now.tv_usec / 1000;
}

// --- what a checkpoint says ----------------------------------------------------------------------------------------------------

static void put_source_part(const struct savepoint_info *info, const struct task_part *part, int64_t least,
                            struct status_facts *out) {
    const char *name = part->operator_id;
    tide__status_number(out, "source", name, "rows", (double)part->rows);
    tide__status_time(out, "source", name, "watermark", part->watermark);
    tide__status_time(out, "source", name, "reached",
                      part->watermark_reached > 0 ? part->watermark_reached : WATERMARK_NONE);
    tide__status_bool(out, "source", name, "ended", info->snapshot.ended);
    tide__status_bool(out, "source", name, "holds_back", part->watermark == least && !info->snapshot.ended);
}

static void put_part(const struct task_part *part, struct status_facts *out) {
    const char *section = part->kind == TASK_PART_SINK ? "sink" : "operator", *name = part->operator_id;
    tide__status_time(out, section, name, "watermark", part->watermark);
    tide__status_number(out, section, name, "rows_in", (double)part->rows_in);
    tide__status_number(out, section, name, "rows_out", (double)part->rows_out);
    tide__status_number(out, section, name, "late_rows", (double)part->late_rows);
    tide__status_number(out, section, name, "windows_fired", (double)part->windows_fired);
}

static void put_parts(const struct savepoint_info *info, struct status_facts *out) {
    int64_t least = WATERMARK_END;
    uint64_t late = 0, fired = 0;
    for (size_t i = 0; i < info->snapshot.part_count; i++) {
        const struct task_part *part = &info->snapshot.parts[i];
        late += part->late_rows;
        fired += part->windows_fired;
        if (part->kind == TASK_PART_SOURCE && part->watermark < least) least = part->watermark;
    }
    tide__status_time(out, "job", "", "watermark", least);
    tide__status_number(out, "job", "", "late_rows", (double)late);
    tide__status_number(out, "job", "", "windows_fired", (double)fired);
    for (size_t i = 0; i < info->snapshot.part_count; i++) {
        const struct task_part *part = &info->snapshot.parts[i];
        if (part->kind == TASK_PART_SOURCE)
            put_source_part(info, part, least, out);
        else if (strchr(part->operator_id, '.') == NULL)  // a part of the driver's own is none of the plan
            put_part(part, out);
    }
}

// The windows in the checkpoint. Of slices it is the slices.
static void put_windows(const struct savepoint_info *info, const struct state_view *view, struct status_facts *out) {
    const struct savepoint_table *table = view->stored;
    size_t listed = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
    const char *type = tide__api_clause(tide__api_operator(info, view->operator_id), "window.type");
    for (size_t i = 0; i < listed && i < WINDOWS_SHOWN; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s %zu", view->operator_id, i + 1);
        tide__status_text(out, "window", name, "operator", view->operator_id);
        tide__status_text(out, "window", name, "kind", view->sliced ? "slice" : "window");
        tide__status_text(out, "window", name, "type", type != NULL ? type : "");
        tide__status_time(out, "window", name, "start", table->windows[i].start_ms);
        tide__status_time(out, "window", name, "end", table->windows[i].end_ms);
        tide__status_number(out, "window", name, "entries", (double)table->windows[i].entries);
    }
    tide__status_number(out, "state", view->table_name, "entries", (double)table->entries);
    tide__status_number(out, "state", view->table_name, "bytes", (double)(table->key_bytes + table->value_bytes));
    if (view->windowed)
        tide__status_number(out, "state", view->table_name, view->sliced ? "slices" : "windows",
                            (double)table->window_count);
}

static void put_checkpoint(struct savepoint *savepoint, const char *path, struct status_facts *out) {
    const struct savepoint_info *info = tide__savepoint_info(savepoint);
    tide__status_text(out, "job", "", "script", info->script_name);
    tide__status_text(out, "job", "", "job", info->job_name);
    tide__status_number(out, "job", "", "statement", info->statement_index + 1);
    tide__status_number(out, "job", "", "rows", (double)info->snapshot.rows);
    tide__status_bool(out, "job", "", "ended", info->snapshot.ended);
    tide__status_text(out, "checkpoint", "", "file", path);
    tide__status_number(out, "checkpoint", "", "id", (double)info->checkpoint_id);
    tide__status_time(out, "checkpoint", "", "at", info->created_ms);
    tide__status_number(out, "checkpoint", "", "age_seconds", (double)(wall_clock_ms() - info->created_ms) / 1000);
    tide__status_number(out, "checkpoint", "", "bytes", (double)tide__savepoint_bytes(savepoint));
    tide__status_number(out, "checkpoint", "", "rows", (double)info->snapshot.rows);
    put_parts(info, out);
    struct state_view *views;
    size_t count;
    tide__view_make_all(info, &out->arena, &views, &count);
    for (size_t i = 0; i < count; i++)
        if (!views[i].passing) put_windows(info, &views[i], out);
}

// --- all -----------------------------------------------------------------------------------------------------------------------

static tide_status show(const struct status_facts *facts, struct savepoint *savepoint, const char *window,
                        const char *key, enum tide_inspect_format format, struct strbuf *out, tide_error *err) {
    if (window != NULL) return tide__api_status_why(facts, savepoint, window, key, out, err);
    switch (format) {
    case TIDE_INSPECT_TABLE: tide__api_status_table(facts, out); break;
    case TIDE_INSPECT_JSON: tide__api_status_json(facts, out); break;
    case TIDE_INSPECT_TSV:
    case TIDE_INSPECT_CSV: tide__api_status_lines(facts, format == TIDE_INSPECT_CSV, out); break;
    }
    return TIDE_OK;
}

static tide_status collect(const char *state_dir, struct status_facts *facts, struct savepoint **out_savepoint,
                           tide_error *err) {
    struct strbuf answer = {0};
    bool running = false;
    tide__status_text(facts, "job", "", "state_dir", state_dir);
    tide_status status = tide__api_control_read(state_dir, "status\n", &answer, &running, err);
    if (status == TIDE_OK && running && !tide__status_read(facts, tide__strbuf_str(&answer)))
        status = tide__fail(err, TIDE_ERR_IO, "the running job's answer can't be read");
    tide__strbuf_deinit(&answer);
    TIDE_TRY(status);
    tide__status_bool(facts, "job", "", "running", running);
    const char *path = NULL, *skipped = NULL;
    TIDE_TRY(tide__state_dir_latest(state_dir, &facts->arena, out_savepoint, &path, &skipped, err));
    if (*out_savepoint != NULL) put_checkpoint(*out_savepoint, path, facts);
    if (*out_savepoint != NULL || running) return TIDE_OK;
    tide__fail(err, TIDE_ERR_SAVEPOINT, "no job runs in %s, and it holds no checkpoint", state_dir);
    return TIDE_ERR_SAVEPOINT;
}

tide_status tide_job_status(const char *state_dir, const char *window, const char *key, enum tide_inspect_format format,
                            tide_write_fn *write, void *ctx, tide_error *err) {
    tide__error_clear(err);
    struct status_facts facts;
    struct strbuf out = {0};
    struct savepoint *savepoint = NULL;
    tide__status_init(&facts);
    tide_status status = collect(state_dir, &facts, &savepoint, err);
    if (status == TIDE_OK) status = show(&facts, savepoint, window, key, format, &out, err);
    if (status == TIDE_OK) write(ctx, out.data != NULL ? out.data : "", out.len);
    tide__strbuf_deinit(&out);
    tide__savepoint_close(savepoint);
    tide__status_deinit(&facts);
    return status;
}

tide_status tide_job_query(const char *state_dir, const char *sql, size_t sql_len, const tide_handler *handler,
                           tide_error *err) {
    tide_error unseen;
    if (err == NULL) err = &unseen;
    tide__error_clear(err);
    bool running;
    tide_status status = tide__api_control_ask(state_dir, "checkpoint\n", &running, err);
    // A job that ended in between has taken its last checkpoint.
    if (status == TIDE_ERR_IO && running && strstr(err->message, "did not answer") != NULL) status = TIDE_OK;
    TIDE_TRY(status);
    tide__error_clear(err);
    if (!running && handler->on_message != NULL) {
        tide_error note;
        tide__error_clear(&note);
        snprintf(note.message, sizeof note.message, "no job runs in %s: this is its newest checkpoint", state_dir);
        handler->on_message(handler->ctx, TIDE_NOTE, &note);
    }
    return tide_inspect_sql(state_dir, sql, sql_len, handler, err);
}
