// The summary of a savepoint, from its index alone: nothing is unpacked, nothing is written.
#include "api/inspect.h"

#include "api/script.h"
#include "base/time.h"

#include <string.h>
#include <sys/stat.h>

#define WINDOWS_SHOWN 10

tide_status tide__api_savepoint_find(const char *path, struct arena *arena, struct savepoint **out,
                                     const char **out_path, const char **out_skipped, tide_error *err) {
    *out = NULL;
    *out_path = path;
    *out_skipped = NULL;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return tide__savepoint_open(path, out, err);
    TIDE_TRY(tide__state_dir_latest(path, arena, out, out_path, out_skipped, err));
    if (*out != NULL) return TIDE_OK;
    tide__fail(err, TIDE_ERR_SAVEPOINT, "%s holds no checkpoint", path);
    tide__error_set_file(err, path);
    return TIDE_ERR_SAVEPOINT;
}

void tide__api_put_time(int64_t ms, struct strbuf *out) {
    if (ms == WATERMARK_NONE)
        tide__strbuf_append_c(out, "none");
    else if (ms == WATERMARK_END)
        tide__strbuf_append_c(out, "end");
    else
        tide__timestamp_print((struct timestamp){.ms = ms}, 3, out);
}

const char *tide__api_part_kind(enum task_part_kind kind) {
    switch (kind) {
    case TASK_PART_SOURCE: return "source";
    case TASK_PART_OPERATOR: return "operator";
    case TASK_PART_SINK: return "sink";
    }
    return "operator";
}

const struct plan_operator *tide__api_operator(const struct savepoint_info *info, const char *operator_id) {
    for (size_t i = 0; i < info->plan.operator_count; i++)
        if (strcmp(info->plan.operators[i].operator_id, operator_id) == 0) return &info->plan.operators[i];
    return NULL;
}

const char *tide__api_clause(const struct plan_operator *op, const char *code) {
    for (size_t i = 0; op != NULL && i < op->clause_count; i++)
        if (strcmp(op->clauses[i].code, code) == 0) return op->clauses[i].text;
    return NULL;
}

// --- text for people ----------------------------------------------------------------------------------------------

static void put_bytes(uint64_t bytes, struct strbuf *out) {
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    if (unit == 0)
        tide__strbuf_printf(out, "%llu bytes", (unsigned long long)bytes);
    else
        tide__strbuf_printf(out, "%.1f %s", value, units[unit]);
}

static void put_head(const struct inspected *in, struct strbuf *out) {
    const struct savepoint_info *info = in->info;
    tide__strbuf_printf(out, "savepoint   %s\n", in->path);
    if (in->skipped != NULL) tide__strbuf_printf(out, "passed over %s\n", in->skipped);
    tide__strbuf_printf(out, "job         %s, statement %u of %s\n", info->job_name, info->statement_index + 1,
                        info->script_name);
    tide__strbuf_append_c(out, "taken       ");
    tide__api_put_time(info->created_ms, out);
    tide__strbuf_printf(out, " UTC, checkpoint %llu\n", (unsigned long long)info->checkpoint_id);
    tide__strbuf_printf(out, "format      version %u, written by tidemark %s\n", info->format_version,
                        info->writer_version);
    tide__strbuf_append_c(out, "size        ");
    put_bytes(in->bytes, out);
    if (info->depth > 0)
        tide__strbuf_printf(out, " in %u files: it holds what changed since checkpoint %llu, and so on",
                            info->depth + 1, (unsigned long long)info->parent_id);
    tide__strbuf_printf(out, "\nrows        %llu read%s\n", (unsigned long long)info->snapshot.rows,
                        info->snapshot.ended ? ", the input has ended: the job is finished" : "");
    if (info->rows_before > 0)
        tide__strbuf_printf(out, "            %llu by earlier statements of the script\n",
                            (unsigned long long)info->rows_before);
}

static void put_parts(const struct savepoint_info *info, enum task_part_kind kind, struct strbuf *out) {
    for (size_t i = 0; i < info->snapshot.part_count; i++) {
        const struct task_part *part = &info->snapshot.parts[i];
        if (part->kind != kind) continue;
        tide__strbuf_printf(out, "  %-24s", part->operator_id);
        if (kind == TASK_PART_SOURCE)
            tide__strbuf_printf(out, " %llu rows given out, position of %zu bytes", (unsigned long long)part->rows,
                                part->saved.len);
        else
            tide__strbuf_printf(out, " %llu rows in, %llu out", (unsigned long long)part->rows_in,
                                (unsigned long long)part->rows_out);
        if (part->late_rows > 0) tide__strbuf_printf(out, ", %llu late", (unsigned long long)part->late_rows);
        if (part->windows_fired > 0)
            tide__strbuf_printf(out, ", %llu windows fired", (unsigned long long)part->windows_fired);
        tide__strbuf_append_c(out, ", watermark ");
        tide__api_put_time(part->watermark, out);
        tide__strbuf_append_c(out, "\n");
        const struct plan_operator *op = tide__api_operator(info, part->operator_id);
        for (size_t k = 0; op != NULL && k < op->clause_count; k++)
            tide__strbuf_printf(out, "    %-24s %s\n", op->clauses[k].code, op->clauses[k].text);
    }
}

static void put_windows(const struct savepoint_table *table, bool at_most, struct strbuf *out) {
    size_t listed = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
    for (size_t i = 0; i < listed && i < WINDOWS_SHOWN; i++) {
        const struct savepoint_window *window = &table->windows[i];
        tide__strbuf_append_c(out, "    [");
        tide__api_put_time(window->start_ms, out);
        tide__strbuf_append_c(out, ", ");
        tide__api_put_time(window->end_ms, out);
        tide__strbuf_printf(out, ")  %s%llu keys, ", at_most ? "at most " : "", (unsigned long long)window->entries);
        put_bytes(window->bytes, out);
        tide__strbuf_append_c(out, "\n");
    }
    if (table->window_count > WINDOWS_SHOWN)
        tide__strbuf_printf(out, "    and %llu more\n", (unsigned long long)(table->window_count - WINDOWS_SHOWN));
}

static void put_fields(const char *what, const struct state_field *fields, size_t count, struct strbuf *out) {
    if (count == 0) return;
    tide__strbuf_printf(out, "    %s ", what);
    for (size_t i = 0; i < count; i++)
        tide__strbuf_printf(out, "%s%s %s", i > 0 ? ", " : "", fields[i].name, fields[i].type);
    tide__strbuf_append_c(out, "\n");
}

static void put_table(const struct savepoint_table *table, bool at_most, struct strbuf *out) {
    tide__strbuf_printf(out, "  %-24s %s%llu keys, ", table->desc.name, at_most ? "at most " : "",
                        (unsigned long long)table->entries);
    put_bytes(table->key_bytes + table->value_bytes, out);
    if (table->desc.kind == STATE_TABLE_WINDOWED)
        tide__strbuf_printf(out, ", %llu window%s", (unsigned long long)table->window_count,
                            table->window_count == 1 ? "" : "s");
    tide__strbuf_append_c(out, "\n");
    put_fields("key  ", table->desc.keys, table->desc.key_count, out);
    put_fields("value", table->desc.values, table->desc.value_count, out);
    put_windows(table, at_most, out);
}

static void put_text(const struct inspected *in, struct strbuf *out) {
    const struct savepoint_info *info = in->info;
    put_head(in, out);
    tide__strbuf_append_c(out, "\nsources\n");
    put_parts(info, TASK_PART_SOURCE, out);
    tide__strbuf_append_c(out, "\noperators\n");
    put_parts(info, TASK_PART_OPERATOR, out);
    tide__strbuf_append_c(out, "\nsinks\n");
    put_parts(info, TASK_PART_SINK, out);
    tide__strbuf_append_c(out, info->table_count > 0 ? "\nstate\n" : "\nno state\n");
    for (size_t i = 0; i < info->table_count; i++) put_table(&info->tables[i], info->counts_are_bounds, out);
    tide__strbuf_append_c(out, "\nscript\n");
    tide__strbuf_append_str(out, info->sql);
    if (info->sql.len == 0 || info->sql.data[info->sql.len - 1] != '\n') tide__strbuf_append_c(out, "\n");
}

tide_status tide_inspect_summary(const char *path, enum tide_inspect_format format, tide_write_fn *write, void *ctx,
                                 tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    struct arena arena;
    tide__arena_init(&arena);
    struct savepoint *savepoint;
    struct inspected in = {0};
    tide_status status = tide__api_savepoint_find(path, &arena, &savepoint, &in.path, &in.skipped, err);
    if (status == TIDE_OK) {
        in.bytes = tide__savepoint_bytes(savepoint);
        in.info = tide__savepoint_info(savepoint);
        struct strbuf out = {0};
        switch (format) {
        case TIDE_INSPECT_TABLE: put_text(&in, &out); break;
        case TIDE_INSPECT_TSV: tide__api_inspect_lines(&in, false, &out); break;
        case TIDE_INSPECT_CSV: tide__api_inspect_lines(&in, true, &out); break;
        case TIDE_INSPECT_JSON: tide__api_inspect_json(&in, &out); break;
        }
        write(ctx, out.data, out.len);
        tide__strbuf_deinit(&out);
        tide__savepoint_close(savepoint);
    }
    tide__arena_deinit(&arena);
    return status;
}
