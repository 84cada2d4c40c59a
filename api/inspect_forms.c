// The summary of a savepoint for machines: one JSON object, or lines of section, name, field, value (docs/inspect.md).
#include "api/inspect.h"

#include "base/time.h"

#include <string.h>

// --- lines --------------------------------------------------------------------------------------------------------

struct lines {
    bool csv;
    struct strbuf *out;
    struct strbuf text;  // scratch for values that are made
};

static void put_cell(const struct lines *lines, struct str s) {
    struct strbuf *out = lines->out;
    if (!lines->csv) {
        for (size_t i = 0; i < s.len; i++) {
            switch (s.data[i]) {
            case '\t': tide__strbuf_append_c(out, "\\t"); break;
            case '\n': tide__strbuf_append_c(out, "\\n"); break;
            case '\r': tide__strbuf_append_c(out, "\\r"); break;
            case '\\': tide__strbuf_append_c(out, "\\\\"); break;
            default: tide__strbuf_append_char(out, s.data[i]); break;
            }
        }
        return;
    }
    bool quote = s.len == 0;
    for (size_t i = 0; i < s.len; i++) quote |= strchr(",\"\r\n", s.data[i]) != NULL;
    if (!quote) {
        tide__strbuf_append_str(out, s);
        return;
    }
    tide__strbuf_append_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '"') tide__strbuf_append_char(out, '"');
        tide__strbuf_append_char(out, s.data[i]);
    }
    tide__strbuf_append_char(out, '"');
}

static void line(const struct lines *lines, const char *section, const char *name, const char *field,
                 struct str value) {
    char separator = lines->csv ? ',' : '\t';
    put_cell(lines, tide__str(section));
    tide__strbuf_append_char(lines->out, separator);
    put_cell(lines, tide__str(name));
    tide__strbuf_append_char(lines->out, separator);
    put_cell(lines, tide__str(field));
    tide__strbuf_append_char(lines->out, separator);
    put_cell(lines, value);
    tide__strbuf_append_char(lines->out, '\n');
}

static void number_line(struct lines *lines, const char *section, const char *name, const char *field, uint64_t value) {
    tide__strbuf_clear(&lines->text);
    tide__strbuf_printf(&lines->text, "%llu", (unsigned long long)value);
    line(lines, section, name, field, tide__strbuf_str(&lines->text));
}

static void time_line(struct lines *lines, const char *section, const char *name, const char *field, int64_t ms) {
    tide__strbuf_clear(&lines->text);
    tide__api_put_time(ms, &lines->text);
    line(lines, section, name, field, tide__strbuf_str(&lines->text));
}

static void head_lines(struct lines *lines, const struct inspected *in) {
    const struct savepoint_info *info = in->info;
    line(lines, "savepoint", "", "path", tide__str(in->path));
    if (in->skipped != NULL) line(lines, "savepoint", "", "passed_over", tide__str(in->skipped));
    line(lines, "savepoint", "", "job", tide__str(info->job_name));
    line(lines, "savepoint", "", "script", tide__str(info->script_name));
    number_line(lines, "savepoint", "", "statement", info->statement_index + 1);
    time_line(lines, "savepoint", "", "taken", info->created_ms);
    number_line(lines, "savepoint", "", "checkpoint", info->checkpoint_id);
    if (info->depth > 0) number_line(lines, "savepoint", "", "builds_on", info->parent_id);
    if (info->depth > 0) number_line(lines, "savepoint", "", "files", info->depth + 1);
    if (info->counts_are_bounds) line(lines, "savepoint", "", "counts", tide__str("at most"));
    number_line(lines, "savepoint", "", "format_version", info->format_version);
    line(lines, "savepoint", "", "writer_version", tide__str(info->writer_version));
    number_line(lines, "savepoint", "", "bytes", in->bytes);
    number_line(lines, "savepoint", "", "rows", info->snapshot.rows);
    number_line(lines, "savepoint", "", "rows_before", info->rows_before);
    line(lines, "savepoint", "", "ended", tide__str(info->snapshot.ended ? "true" : "false"));
    line(lines, "savepoint", "", "run_id", tide__str(info->run_id));
    line(lines, "savepoint", "", "sql", info->sql);
}

static void part_lines(struct lines *lines, const struct savepoint_info *info, const struct task_part *part) {
    const char *section = tide__api_part_kind(part->kind), *name = part->operator_id;
    time_line(lines, section, name, "watermark", part->watermark);
    if (part->kind == TASK_PART_SOURCE) number_line(lines, section, name, "rows", part->rows);
    number_line(lines, section, name, "rows_in", part->rows_in);
    number_line(lines, section, name, "rows_out", part->rows_out);
    number_line(lines, section, name, "late_rows", part->late_rows);
    number_line(lines, section, name, "windows_fired", part->windows_fired);
    number_line(lines, section, name, "saved_bytes", part->saved.len);
    const struct plan_operator *op = tide__api_operator(info, name);
    if (op == NULL) return;
    line(lines, section, name, "kind", tide__str(op->kind));
    if (op->uid != NULL) line(lines, section, name, "uid", tide__str(op->uid));
    for (size_t i = 0; i < op->clause_count; i++)
        line(lines, section, name, op->clauses[i].code, tide__str(op->clauses[i].text));
}

static void table_lines(struct lines *lines, const struct savepoint_table *table) {
    const char *name = table->desc.name;
    line(lines, "state", name, "operator", tide__str(table->desc.operator_id));
    line(lines, "state", name, "kind", tide__str(table->desc.kind == STATE_TABLE_WINDOWED ? "windowed" : "keyed"));
    number_line(lines, "state", name, "keys", table->entries);
    number_line(lines, "state", name, "key_bytes", table->key_bytes);
    number_line(lines, "state", name, "value_bytes", table->value_bytes);
    number_line(lines, "state", name, "chunks", table->chunk_count);
    number_line(lines, "state", name, "windows", table->window_count);
    size_t listed = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
    for (size_t i = 0; i < listed; i++) {
        tide__strbuf_clear(&lines->text);
        tide__api_put_time(table->windows[i].start_ms, &lines->text);
        tide__strbuf_append_c(&lines->text, " ");
        tide__api_put_time(table->windows[i].end_ms, &lines->text);
        tide__strbuf_printf(&lines->text, " %llu %llu", (unsigned long long)table->windows[i].entries,
                            (unsigned long long)table->windows[i].bytes);
        line(lines, "state", name, "window", tide__strbuf_str(&lines->text));
    }
}

void tide__api_inspect_lines(const struct inspected *in, bool csv, struct strbuf *out) {
    struct lines lines = {.csv = csv, .out = out};
    line(&lines, "section", "name", "field", tide__str("value"));
    head_lines(&lines, in);
    for (size_t i = 0; i < in->info->snapshot.part_count; i++)
        part_lines(&lines, in->info, &in->info->snapshot.parts[i]);
    for (size_t i = 0; i < in->info->table_count; i++) table_lines(&lines, &in->info->tables[i]);
    tide__strbuf_deinit(&lines.text);
}

// --- JSON ---------------------------------------------------------------------------------------------------------

// Bytes that are not UTF-8 become U+FFFD, so that the result always is JSON.
static void put_string(struct str s, struct strbuf *out) {
    tide__strbuf_append_char(out, '"');
    bool valid = tide__utf8_valid(s);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c == '"' || c == '\\')
            tide__strbuf_printf(out, "\\%c", c);
        else if (c == '\n')
            tide__strbuf_append_c(out, "\\n");
        else if (c == '\t')
            tide__strbuf_append_c(out, "\\t");
        else if (c < 0x20)
            tide__strbuf_printf(out, "\\u%04x", c);
        else if (c >= 0x80 && !valid)
            tide__strbuf_append_c(out, "\\ufffd");
        else
            tide__strbuf_append_char(out, (char)c);
    }
    tide__strbuf_append_char(out, '"');
}

// A comma unless it is the first member or element.
static void member(const char *name, struct strbuf *out) {
    char last = out->len > 0 ? out->data[out->len - 1] : '{';
    if (last != '{' && last != '[') tide__strbuf_append_c(out, ", ");
    if (name != NULL) tide__strbuf_printf(out, "\"%s\": ", name);
}

static void text_member(const char *name, const char *value, struct strbuf *out) {
    member(name, out);
    put_string(tide__str(value), out);
}

static void number_member(const char *name, uint64_t value, struct strbuf *out) {
    member(name, out);
    tide__strbuf_printf(out, "%llu", (unsigned long long)value);
}

static void time_member(const char *name, int64_t ms, struct strbuf *out) {
    member(name, out);
    if (ms == WATERMARK_NONE) {
        tide__strbuf_append_c(out, "null");
        return;
    }
    tide__strbuf_append_char(out, '"');
    tide__api_put_time(ms, out);
    tide__strbuf_append_char(out, '"');
}

static void bool_member(const char *name, bool value, struct strbuf *out) {
    member(name, out);
    tide__strbuf_append_c(out, value ? "true" : "false");
}

static void begin(const char *name, const char *bracket, struct strbuf *out) {
    member(name, out);
    tide__strbuf_append_c(out, bracket);
}

static void put_operator(const struct plan_operator *op, struct strbuf *out) {
    text_member("kind", op->kind, out);
    if (op->uid != NULL) text_member("uid", op->uid, out);
    bool_member("stateful", op->stateful, out);
    member("fingerprint", out);
    tide__strbuf_printf(out, "\"%016llx\"", (unsigned long long)op->fingerprint);
    begin("inputs", "[", out);
    for (size_t i = 0; i < op->input_count; i++) text_member(NULL, op->inputs[i], out);
    tide__strbuf_append_c(out, "]");
    begin("clauses", "[", out);
    for (size_t i = 0; i < op->clause_count; i++) {
        begin(NULL, "{", out);
        text_member("code", op->clauses[i].code, out);
        text_member("text", op->clauses[i].text, out);
        if (op->clauses[i].line > 0) {
            number_member("line", op->clauses[i].line, out);
            number_member("column", op->clauses[i].column, out);
        }
        tide__strbuf_append_c(out, "}");
    }
    tide__strbuf_append_c(out, "]");
}

static void put_parts(const struct savepoint_info *info, enum task_part_kind kind, const char *name,
                      struct strbuf *out) {
    begin(name, "[", out);
    for (size_t i = 0; i < info->snapshot.part_count; i++) {
        const struct task_part *part = &info->snapshot.parts[i];
        if (part->kind != kind) continue;
        begin(NULL, "{", out);
        text_member("name", part->operator_id, out);
        time_member("watermark", part->watermark, out);
        if (kind == TASK_PART_SOURCE) number_member("rows", part->rows, out);
        number_member("rows_in", part->rows_in, out);
        number_member("rows_out", part->rows_out, out);
        number_member("late_rows", part->late_rows, out);
        number_member("windows_fired", part->windows_fired, out);
        number_member("saved_bytes", part->saved.len, out);
        const struct plan_operator *op = tide__api_operator(info, part->operator_id);
        if (op != NULL) put_operator(op, out);
        tide__strbuf_append_c(out, "}");
    }
    tide__strbuf_append_c(out, "]");
}

static void put_fields(const char *name, const struct state_field *fields, size_t count, struct strbuf *out) {
    begin(name, "[", out);
    for (size_t i = 0; i < count; i++) {
        begin(NULL, "{", out);
        text_member("name", fields[i].name, out);
        text_member("type", fields[i].type, out);
        tide__strbuf_append_c(out, "}");
    }
    tide__strbuf_append_c(out, "]");
}

static void put_table(const struct savepoint_table *table, struct strbuf *out) {
    begin(NULL, "{", out);
    text_member("name", table->desc.name, out);
    text_member("operator", table->desc.operator_id, out);
    text_member("kind", table->desc.kind == STATE_TABLE_WINDOWED ? "windowed" : "keyed", out);
    number_member("keys", table->entries, out);
    number_member("key_bytes", table->key_bytes, out);
    number_member("value_bytes", table->value_bytes, out);
    number_member("chunks", table->chunk_count, out);
    put_fields("key_fields", table->desc.keys, table->desc.key_count, out);
    put_fields("value_fields", table->desc.values, table->desc.value_count, out);
    number_member("window_count", table->window_count, out);
    begin("windows", "[", out);
    size_t listed = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
    for (size_t i = 0; i < listed; i++) {
        begin(NULL, "{", out);
        time_member("start", table->windows[i].start_ms, out);
        time_member("end", table->windows[i].end_ms, out);
        number_member("keys", table->windows[i].entries, out);
        number_member("bytes", table->windows[i].bytes, out);
        tide__strbuf_append_c(out, "}");
    }
    tide__strbuf_append_c(out, "]}");
}

void tide__api_inspect_json(const struct inspected *in, struct strbuf *out) {
    const struct savepoint_info *info = in->info;
    tide__strbuf_append_c(out, "{");
    text_member("path", in->path, out);
    if (in->skipped != NULL) text_member("passed_over", in->skipped, out);
    text_member("job", info->job_name, out);
    text_member("script", info->script_name, out);
    number_member("statement", info->statement_index + 1, out);
    time_member("taken", info->created_ms, out);
    number_member("checkpoint", info->checkpoint_id, out);
    if (info->depth > 0) number_member("builds_on", info->parent_id, out);
    if (info->depth > 0) number_member("files", info->depth + 1, out);
    if (info->counts_are_bounds) text_member("counts", "at most", out);
    number_member("format_version", info->format_version, out);
    text_member("writer_version", info->writer_version, out);
    number_member("bytes", in->bytes, out);
    number_member("rows", info->snapshot.rows, out);
    number_member("rows_before", info->rows_before, out);
    bool_member("ended", info->snapshot.ended, out);
    text_member("run_id", info->run_id, out);
    member("sql", out);
    put_string(info->sql, out);
    put_parts(info, TASK_PART_SOURCE, "sources", out);
    put_parts(info, TASK_PART_OPERATOR, "operators", out);
    put_parts(info, TASK_PART_SINK, "sinks", out);
    begin("state", "[", out);
    for (size_t i = 0; i < info->table_count; i++) put_table(&info->tables[i], out);
    tide__strbuf_append_c(out, "]}\n");
}
