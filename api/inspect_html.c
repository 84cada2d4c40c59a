// The report of a savepoint: one page that needs nothing else, for a ticket or a mail. See api/html.h.
#include "api/html.h"

#include "api/inspect.h"
#include "api/key_text.h"
#include "api/savepoint_source.h"
#include "engine/expr/eval.h"

#include <string.h>

enum { LARGEST = 12, WINDOWS_LISTED = 40, KEY_TEXT_MAX = 200 };

// Colours are named once for light and once for dark; widths follow the screen.
static const char style[] =
    ":root{color-scheme:light "
    "dark;--page:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#5d6670;--rule:#dfe3e8;--blue:#2f6fde;--teal:#0f8f83;--amber:"
    "#b86e00;"
    "--red:#c8342b;--pale:#e8effc}"
    "@media(prefers-color-scheme:dark){:root{--page:#14171a;--card:#1c2024;--ink:#e6e9ec;--soft:#98a2ad;--rule:#30363d;"
    "--blue:#6ea1ff;"
    "--teal:#3fc4b4;--amber:#e2a23b;--red:#ff7a70;--pale:#22304a}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}"
    "main{max-width:1120px;margin:0 auto;padding:24px 16px 60px}h1{font-size:24px;margin:0 0 "
    "4px;overflow-wrap:anywhere}"
    "h2{font-size:18px;margin:36px 0 10px}h3{font-size:15px;margin:18px 0 2px}p{margin:2px 0 8px;color:var(--soft)}"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:18px 0}"
    ".fact{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 12px}"
    ".fact b{display:block;font-size:17px;font-weight:600;overflow-wrap:anywhere}.fact "
    "span{color:var(--soft);font-size:13px}"
    ".wide{overflow-x:auto;background:var(--card);border:1px solid var(--rule);border-radius:8px}"
    "svg{display:block}svg text{font:12px system-ui,sans-serif;fill:var(--soft)}svg "
    ".name{font-weight:600;fill:var(--ink)}"
    ".node rect{fill:var(--card);stroke:var(--rule);stroke-width:1.5}.stateful "
    "rect{stroke:var(--blue);fill:var(--pale)}"
    ".source rect{stroke:var(--teal)}.sink "
    "rect{stroke:var(--amber)}.edge{fill:none;stroke:var(--soft);stroke-width:1.4}.tip{fill:var(--soft)}"
    ".line{width:100%;height:96px;background:var(--card);border:1px solid var(--rule);border-radius:8px}"
    ".bar{fill:var(--blue)}.bar.due{fill:var(--soft)}.watermark{stroke:var(--red);stroke-width:2;vector-effect:non-"
    "scaling-stroke}"
    ".axis{display:flex;justify-content:space-between;gap:12px;color:var(--soft);font-size:12px}"
    "table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:6px 12px;border-bottom:1px "
    "solid var(--rule);"
    "vertical-align:top}th{color:var(--soft);font-weight:600;white-space:nowrap}td.n,th.n{text-align:right;font-"
    "variant-numeric:tabular-nums;"
    "white-space:nowrap}td.k{overflow-wrap:anywhere;min-width:160px;font-family:ui-monospace,monospace;font-size:13px}"
    "meter{width:90px;height:10px}pre{background:var(--card);border:1px solid "
    "var(--rule);border-radius:8px;padding:14px;overflow-x:auto;"
    "font:13px/1.45 ui-monospace,monospace;margin:0}.bad{color:var(--red)}";

struct report {
    struct savepoint *savepoint;
    const struct savepoint_info *info;
    const char *path, *skipped;
    struct arena arena;
    struct state_view *views;
    size_t view_count;
    struct strbuf *out;
};

// --- text -------------------------------------------------------------------------------------------------------------------------

void tide__html_text(struct str text, struct strbuf *out) {
    for (size_t i = 0; i < text.len; i++) {
        switch (text.data[i]) {
        case '&': tide__strbuf_append_c(out, "&amp;"); break;
        case '<': tide__strbuf_append_c(out, "&lt;"); break;
        case '>': tide__strbuf_append_c(out, "&gt;"); break;
        case '"': tide__strbuf_append_c(out, "&quot;"); break;
        default: tide__strbuf_append_char(out, text.data[i]); break;
        }
    }
}

void tide__html_c(const char *text, struct strbuf *out) {
    tide__html_text(tide__str(text), out);
}

void tide__html_bytes(uint64_t bytes, struct strbuf *out) {
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++) value /= 1000;
    tide__strbuf_printf(out, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

void tide__html_number(uint64_t number, struct strbuf *out) {
    if (number >= 1000) {
        tide__html_number(number / 1000, out);
        tide__strbuf_printf(out, ",%03u", (unsigned)(number % 1000));
    } else {
        tide__strbuf_printf(out, "%u", (unsigned)number);
    }
}

static void fact_begin(struct report *r) {
    tide__strbuf_append_c(r->out, "<div class=\"fact\"><b>");
}

static void fact_end(struct report *r, const char *label) {
    tide__strbuf_printf(r->out, "</b><span>%s</span></div>\n", label);
}

static void number_fact(struct report *r, uint64_t number, const char *label) {
    fact_begin(r);
    tide__html_number(number, r->out);
    fact_end(r, label);
}

static void put_head(struct report *r) {
    const struct savepoint_info *info = r->info;
    uint64_t late = 0, fired = 0, entries = 0;
    int64_t watermark = INT64_MAX;
    for (size_t i = 0; i < info->snapshot.part_count; i++) {
        const struct task_part *part = &info->snapshot.parts[i];
        late += part->late_rows;
        fired += part->windows_fired;
        if (part->kind == TASK_PART_SOURCE && part->watermark < watermark) watermark = part->watermark;
    }
    for (size_t i = 0; i < info->table_count; i++) entries += info->tables[i].entries;
    tide__strbuf_append_c(r->out, "<h1>");
    tide__html_c(info->job_name, r->out);
    tide__strbuf_printf(r->out, "</h1>\n<p>Statement %u of ", info->statement_index + 1);
    tide__html_c(info->script_name, r->out);
    tide__strbuf_append_c(r->out, ", taken ");
    tide__api_put_time(info->created_ms, r->out);
    tide__strbuf_printf(r->out, " UTC as checkpoint %llu by Tidemark %s</p>\n<p>",
                        (unsigned long long)info->checkpoint_id, info->writer_version);
    tide__html_c(r->path, r->out);
    if (r->skipped != NULL) {
        tide__strbuf_append_c(r->out, "</p>\n<p class=\"bad\">Newer checkpoints were passed over: ");
        tide__html_c(r->skipped, r->out);
    }
    tide__strbuf_append_c(r->out, "</p>\n<div class=\"facts\">\n");
    number_fact(r, info->snapshot.rows, info->snapshot.ended ? "rows read; the input has ended" : "rows read");
    fact_begin(r);
    tide__api_put_time(watermark, r->out);
    fact_end(r, "watermark");
    number_fact(r, entries, info->counts_are_bounds ? "entries at most" : "entries");
    fact_begin(r);
    tide__html_bytes(tide__savepoint_bytes(r->savepoint), r->out);
    fact_end(r, "on disk");
    number_fact(r, fired, "windows fired");
    number_fact(r, late, "late rows dropped");
    tide__strbuf_append_c(r->out, "</div>\n");
}

// --- tables -----------------------------------------------------------------------------------------------------------------------

static void table_begin(struct report *r, const char *const *names, const bool *numbers, size_t count) {
    tide__strbuf_append_c(r->out, "<div class=\"wide\"><table><tr>");
    for (size_t i = 0; i < count; i++)
        tide__strbuf_printf(r->out, "<th%s>%s</th>", numbers[i] ? " class=\"n\"" : "", names[i]);
    tide__strbuf_append_c(r->out, "</tr>\n");
}

static void table_end(struct report *r) {
    tide__strbuf_append_c(r->out, "</table></div>\n");
}

static void number_cell(struct report *r, uint64_t number) {
    tide__strbuf_append_c(r->out, "<td class=\"n\">");
    tide__html_number(number, r->out);
    tide__strbuf_append_c(r->out, "</td>");
}

static void bytes_cell(struct report *r, uint64_t bytes) {
    tide__strbuf_append_c(r->out, "<td class=\"n\">");
    tide__html_bytes(bytes, r->out);
    tide__strbuf_append_c(r->out, "</td>");
}

static void put_state(struct report *r) {
    static const char *const names[] = {"state", "entries", "windows", "keys", "values", "share"};
    static const bool numbers[] = {false, true, true, true, true, false};
    uint64_t all = 1;
    for (size_t i = 0; i < r->info->table_count; i++)
        all += r->info->tables[i].key_bytes + r->info->tables[i].value_bytes;
    table_begin(r, names, numbers, 6);
    for (size_t i = 0; i < r->info->table_count; i++) {
        const struct savepoint_table *table = &r->info->tables[i];
        tide__strbuf_append_c(r->out, "<tr><td>");
        tide__html_c(table->desc.name, r->out);
        tide__strbuf_append_c(r->out, "</td>");
        number_cell(r, table->entries);
        number_cell(r, table->window_count);
        bytes_cell(r, table->key_bytes);
        bytes_cell(r, table->value_bytes);
        tide__strbuf_printf(r->out, "<td><meter max=\"1\" value=\"%.4f\"></meter></td></tr>\n",
                            (double)(table->key_bytes + table->value_bytes) / (double)all);
    }
    table_end(r);
}

static void put_window_table(struct report *r) {
    static const char *const names[] = {"operator", "from", "to", "entries", "bytes"};
    static const bool numbers[] = {false, false, false, true, true};
    size_t shown = 0;
    for (size_t i = 0; i < r->view_count; i++) {
        const struct savepoint_table *table = r->views[i].stored;
        for (size_t w = 0; w < table->window_count && w < WINDOWS_LISTED; w++) {
            if (shown++ == 0) table_begin(r, names, numbers, 5);
            tide__strbuf_append_c(r->out, "<tr><td>");
            tide__html_c(r->views[i].operator_id, r->out);
            tide__strbuf_append_c(r->out, "</td><td>");
            tide__api_put_time(table->windows[w].start_ms, r->out);
            tide__strbuf_append_c(r->out, "</td><td>");
            tide__api_put_time(table->windows[w].end_ms, r->out);
            tide__strbuf_append_c(r->out, "</td>");
            number_cell(r, table->windows[w].entries);
            bytes_cell(r, table->windows[w].bytes);
            tide__strbuf_append_c(r->out, "</tr>\n");
        }
    }
    if (shown > 0) table_end(r);
}

// --- the largest keys ---------------------------------------------------------------------------------------------------------------

struct large {
    uint64_t bytes;
    size_t table;
    const char *key;
};

static void note_large(struct report *r, struct large *items, size_t *count, size_t table,
                       const struct state_entry *entry) {
    uint64_t bytes = entry->key.len + entry->value.len;
    if (*count == LARGEST && bytes <= items[LARGEST - 1].bytes) return;
    struct strbuf text = {0};
    tide__api_put_key(&r->info->tables[table].desc, entry->key, &text);
    size_t at = *count < LARGEST ? (*count)++ : LARGEST - 1;
    for (; at > 0 && items[at - 1].bytes < bytes; at--) items[at] = items[at - 1];
    items[at] = (struct large){bytes, table, tide__arena_strndup(&r->arena, text.len > 0 ? text.data : "", text.len)};
    tide__strbuf_deinit(&text);
}

static tide_status find_large(struct report *r, struct large *items, size_t *count, tide_error *err) {
    for (size_t t = 0; t < r->info->table_count; t++) {
        struct state_source *source;
        TIDE_TRY(tide__savepoint_entries(r->savepoint, t, (struct str){0}, (struct str){0}, &source, err));
        for (struct state_entry entry; source->next(source, &entry);) note_large(r, items, count, t, &entry);
        source->free(source);
        TIDE_TRY(tide__savepoint_status(r->savepoint, err));
    }
    return TIDE_OK;
}

// *out_damage: why not everything could be read.
static void put_largest(struct report *r, tide_error *out_damage) {
    static const char *const names[] = {"state", "key", "bytes"};
    static const bool numbers[] = {false, false, true};
    struct large items[LARGEST];
    size_t count = 0;
    tide__error_clear(out_damage);
    if (find_large(r, items, &count, out_damage) != TIDE_OK) {
        tide__strbuf_append_c(r->out, "<p class=\"bad\">Not all of it can be read: ");
        tide__html_c(out_damage->message, r->out);
        tide__strbuf_append_c(r->out, "</p>\n");
    }
    if (count == 0) {
        tide__strbuf_append_c(r->out, "<p>There are no entries.</p>\n");
        return;
    }
    table_begin(r, names, numbers, 3);
    for (size_t i = 0; i < count; i++) {
        tide__strbuf_append_c(r->out, "<tr><td>");
        tide__html_c(r->info->tables[items[i].table].desc.name, r->out);
        tide__strbuf_append_c(r->out, "</td><td class=\"k\">");
        size_t len = strlen(items[i].key);
        tide__html_text((struct str){items[i].key, len < KEY_TEXT_MAX ? len : KEY_TEXT_MAX}, r->out);
        tide__strbuf_append_c(r->out, len < KEY_TEXT_MAX ? "</td>" : "...</td>");
        bytes_cell(r, items[i].bytes);
        tide__strbuf_append_c(r->out, "</tr>\n");
    }
    table_end(r);
}

// --- facts as they are ---------------------------------------------------------------------------------------------------------------

static void put_facts(struct report *r, const char *name) {
    const struct fact_table *facts = tide__fact_table(name);
    struct batch batch;
    tide__fact_read(facts, r->info, &r->arena, &batch);
    const char *names[12];
    bool numbers[12];
    for (size_t c = 0; c < facts->column_count; c++) {
        names[c] = facts->columns[c].name;
        numbers[c] = strcmp(facts->columns[c].type, "BIGINT") == 0;
    }
    table_begin(r, names, numbers, facts->column_count);
    for (size_t row = 0; row < batch.rows; row++) {
        tide__strbuf_append_c(r->out, "<tr>");
        for (size_t c = 0; c < facts->column_count; c++) {
            struct strbuf text = {0};
            tide__strbuf_append_c(r->out, numbers[c] ? "<td class=\"n\">" : "<td>");
            if (!tide__column_is_null(&batch.columns[c], row))
                tide__value_display_in_zone(&batch.columns[c], row, NULL, &text);
            tide__html_text(tide__strbuf_str(&text), r->out);
            tide__strbuf_append_c(r->out, "</td>");
            tide__strbuf_deinit(&text);
        }
        tide__strbuf_append_c(r->out, "</tr>\n");
    }
    table_end(r);
}

static void put_page(struct report *r, tide_error *out_damage) {
    tide__strbuf_append_c(r->out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    tide__html_c(r->info->job_name, r->out);
    tide__strbuf_printf(r->out, "</title>\n<style>%s</style></head>\n<body><main>\n", style);
    put_head(r);
    tide__strbuf_append_c(r->out, "<h2>Plan</h2>\n");
    tide__html_plan(r->info, r->out);
    tide__strbuf_append_c(r->out, "<h2>Windows</h2>\n");
    tide__html_windows(r->info, r->views, r->view_count, r->out);
    tide__strbuf_append_c(r->out, "<h2>State</h2>\n");
    put_state(r);
    tide__strbuf_append_c(r->out, "<h2>Largest keys</h2>\n");
    put_largest(r, out_damage);
    tide__strbuf_append_c(r->out, "<h2>Sources</h2>\n");
    put_facts(r, "sources");
    tide__strbuf_append_c(r->out, "<h2>Entries by window</h2>\n");
    put_window_table(r);
    tide__strbuf_append_c(r->out, "<h2>Script</h2>\n<pre>");
    tide__html_text(r->info->sql, r->out);
    tide__strbuf_append_c(r->out, "</pre>\n</main></body></html>\n");
}

tide_status tide_inspect_html(const char *path, tide_write_fn *write, void *ctx, tide_error *err) {
    tide_error unseen, damage;
    if (err == NULL) err = &unseen;
    tide__error_clear(err);
    struct strbuf out = {0};
    struct report report = {.out = &out};
    tide__arena_init(&report.arena);
    tide_status status = tide__api_savepoint_find(path, &report.arena, &report.savepoint, &report.path, &report.skipped,
                                                  err);
    if (status == TIDE_OK) {
        report.info = tide__savepoint_info(report.savepoint);
        tide__view_make_all(report.info, &report.arena, &report.views, &report.view_count);
        put_page(&report, &damage);
        write(ctx, out.data, out.len);
        status = damage.status;
        if (status != TIDE_OK) *err = damage;
    }
    tide__savepoint_close(report.savepoint);
    tide__arena_deinit(&report.arena);
    tide__strbuf_deinit(&out);
    return status;
}
