// Facts about a job as a page for people, JSON, and lines. See api/status.h.
#include "api/status.h"

#include "engine/codec/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value_or(const struct status_facts *facts, const char *section, const char *name, const char *field,
                            const char *otherwise) {
    const char *value = tide__status_get(facts, section, name, field);
    return value != NULL ? value : otherwise;
}

static double number_of(const struct status_facts *facts, const char *section, const char *name, const char *field) {
    return strtod(value_or(facts, section, name, field, "0"), NULL);
}

static bool is_true(const struct status_facts *facts, const char *section, const char *name, const char *field) {
    return strcmp(value_or(facts, section, name, field, ""), "true") == 0;
}

// The names of a section, each once, in order of their first fact. Calls `show` for each.
typedef void show_name(const struct status_facts *facts, const char *section, const char *name, struct strbuf *out);

static bool is_first(const struct status_facts *facts, size_t at) {
    const struct status_fact *fact = &facts->items[at];
    for (size_t i = 0; i < at; i++)
        if (strcmp(facts->items[i].section, fact->section) == 0 && strcmp(facts->items[i].name, fact->name) == 0)
            return false;
    return true;
}

static size_t each_name(const struct status_facts *facts, const char *section, show_name *show, struct strbuf *out) {
    size_t count = 0;
    for (size_t i = 0; i < facts->count; i++) {
        if (strcmp(facts->items[i].section, section) != 0 || !is_first(facts, i)) continue;
        count++;
        if (show != NULL) show(facts, section, facts->items[i].name, out);
    }
    return count;
}

// --- for people ----------------------------------------------------------------------------------------------------------------

static void put_bytes(double bytes, struct strbuf *out) {
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++) bytes /= 1000;
    tide__strbuf_printf(out, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

static void put_age(double seconds, struct strbuf *out) {
    if (seconds < 120)
        tide__strbuf_printf(out, "%.1f s", seconds);
    else if (seconds < 7200)
        tide__strbuf_printf(out, "%.0f min", seconds / 60);
    else if (seconds < 172800)
        tide__strbuf_printf(out, "%.1f h", seconds / 3600);
    else
        tide__strbuf_printf(out, "%.0f days", seconds / 86400);
}

static void put_head(const struct status_facts *facts, struct strbuf *out) {
    tide__strbuf_printf(out, "job         %s, statement %s of %s\n", value_or(facts, "job", "", "job", "?"),
                        value_or(facts, "job", "", "statement", "?"), value_or(facts, "job", "", "script", "?"));
    if (is_true(facts, "job", "", "running")) {
        tide__strbuf_printf(out, "state       running, process %s, for ", value_or(facts, "job", "", "pid", "?"));
        put_age(number_of(facts, "job", "", "seconds"), out);
        tide__strbuf_append_c(out, "\n");
    } else if (is_true(facts, "job", "", "ended")) {
        tide__strbuf_append_c(out,
                              "state       finished: the input has ended. What follows is from its last checkpoint\n");
    } else {
        tide__strbuf_append_c(out, "state       stopped. What follows is from its newest checkpoint\n");
    }
    tide__strbuf_printf(out, "rows        %s read", value_or(facts, "job", "", "rows", "0"));
    const char *now = tide__status_get(facts, "job", "", "rows_per_second_now");
    const char *rate = tide__status_get(facts, "job", "", "rows_per_second");
    if (rate != NULL) tide__strbuf_printf(out, ", %s rows/s", now != NULL ? now : rate);
    if (now != NULL) tide__strbuf_printf(out, " (%s on average)", rate);
    double total = number_of(facts, "job", "", "bytes_total"), read = number_of(facts, "job", "", "bytes_read");
    if (total > 0 && read <= total) tide__strbuf_printf(out, ", %.0f %% of the files", 100 * read / total);
    tide__strbuf_printf(out, "\nwatermark   %s\n", value_or(facts, "job", "", "watermark", "none yet"));
    tide__strbuf_printf(out, "windows     %s fired", value_or(facts, "job", "", "windows_fired", "0"));
    const char *open = tide__status_get(facts, "job", "", "windows_open");
    if (open != NULL) tide__strbuf_printf(out, ", %s open", open);
    tide__strbuf_printf(out, "\nlate rows   %s dropped\n", value_or(facts, "job", "", "late_rows", "0"));
}

static void put_checkpoint(const struct status_facts *facts, struct strbuf *out) {
    tide__strbuf_append_c(out, "checkpoint  ");
    if (tide__status_get(facts, "checkpoint", "", "age_seconds") == NULL) {
        tide__strbuf_append_c(out, "none yet\n");
        return;
    }
    const char *id = tide__status_get(facts, "checkpoint", "", "id");
    if (id != NULL) tide__strbuf_printf(out, "%s, ", id);
    put_age(number_of(facts, "checkpoint", "", "age_seconds"), out);
    tide__strbuf_append_c(out, " ago, ");
    put_bytes(number_of(facts, "checkpoint", "", "bytes"), out);
    const char *duration = tide__status_get(facts, "checkpoint", "", "duration_seconds");
    if (duration != NULL) tide__strbuf_printf(out, ", durable after %s s", duration);
    const char *pause = tide__status_get(facts, "checkpoint", "", "pause_ms_max");
    if (pause != NULL) tide__strbuf_printf(out, ", longest pause %.1f ms", strtod(pause, NULL));
    const char *taken = tide__status_get(facts, "checkpoint", "", "taken");
    if (taken != NULL)
        tide__strbuf_printf(out, "; %s since the start, %s of them deltas", taken,
                            value_or(facts, "checkpoint", "", "deltas", "0"));
    tide__strbuf_append_c(out, is_true(facts, "checkpoint", "", "under_way") ? "; one is under way\n" : "\n");
}

static void show_source(const struct status_facts *facts, const char *section, const char *name, struct strbuf *out) {
    tide__strbuf_printf(out, "  %-24s %s rows, watermark %s", name, value_or(facts, section, name, "rows", "0"),
                        value_or(facts, section, name, "watermark", "none yet"));
    const char *reached = tide__status_get(facts, section, name, "reached"),
               *watermark = tide__status_get(facts, section, name, "watermark");
    if (reached != NULL && (watermark == NULL || strcmp(reached, watermark) != 0))
        tide__strbuf_printf(out, " (reached %s)", reached);
    if (is_true(facts, section, name, "ended")) tide__strbuf_append_c(out, ", ended");
    if (is_true(facts, section, name, "idle"))
        tide__strbuf_append_c(out, ", idle: its watermark does not count");
    else if (is_true(facts, section, name, "waiting"))
        tide__strbuf_append_c(out, ", waits for rows");
    if (is_true(facts, section, name, "holds_back")) tide__strbuf_append_c(out, "  <- the job's watermark");
    tide__strbuf_append_c(out, "\n");
}

static void show_operator(const struct status_facts *facts, const char *section, const char *name, struct strbuf *out) {
    if (number_of(facts, section, name, "windows_fired") == 0 && number_of(facts, section, name, "windows_open") == 0 &&
        number_of(facts, section, name, "late_rows") == 0 && strncmp(name, "calc-", 5) == 0)
        return;
    tide__strbuf_printf(out, "  %-24s %s rows in, %s out", name, value_or(facts, section, name, "rows_in", "0"),
                        value_or(facts, section, name, "rows_out", "0"));
    if (number_of(facts, section, name, "late_rows") > 0)
        tide__strbuf_printf(out, ", %s late", value_or(facts, section, name, "late_rows", "0"));
    if (number_of(facts, section, name, "windows_fired") > 0)
        tide__strbuf_printf(out, ", %s windows fired", value_or(facts, section, name, "windows_fired", "0"));
    if (number_of(facts, section, name, "windows_open") > 0)
        tide__strbuf_printf(out, ", %s open", value_or(facts, section, name, "windows_open", "0"));
    const char *next = tide__status_get(facts, section, name, "next_window_end");
    if (next != NULL) tide__strbuf_printf(out, ", the next ends %s", next);
    tide__strbuf_append_c(out, "\n");
}

static void show_window(const struct status_facts *facts, const char *section, const char *name, struct strbuf *out) {
    tide__strbuf_printf(out, "  %-24s %s [%s, %s)  %s entries\n", value_or(facts, section, name, "operator", ""),
                        value_or(facts, section, name, "kind", ""), value_or(facts, section, name, "start", ""),
                        value_or(facts, section, name, "end", ""), value_or(facts, section, name, "entries", "0"));
}

void tide__api_status_table(const struct status_facts *facts, struct strbuf *out) {
    put_head(facts, out);
    put_checkpoint(facts, out);
    tide__strbuf_append_c(out, "\nsources\n");
    each_name(facts, "source", show_source, out);
    tide__strbuf_append_c(out, "\noperators\n");
    each_name(facts, "operator", show_operator, out);
    if (each_name(facts, "window", NULL, NULL) == 0) return;
    tide__strbuf_append_c(out, "\nwindows in the checkpoint, the first of each operator\n");
    each_name(facts, "window", show_window, out);
}

// --- JSON and lines --------------------------------------------------------------------------------------------------------------

static void put_value(const struct status_fact *fact, struct strbuf *out) {
    if (fact->value == NULL)
        tide__strbuf_append_c(out, "null");
    else if (fact->is_text)
        tide__json_quote(tide__str(fact->value), out);
    else
        tide__strbuf_append_c(out, fact->value);
}

static void put_object(const struct status_facts *facts, const char *section, const char *name, struct strbuf *out) {
    bool any = name[0] != '\0';
    tide__strbuf_append_char(out, '{');
    if (any) {
        tide__strbuf_append_c(out, "\"name\":");
        tide__json_quote(tide__str(name), out);
    }
    for (size_t i = 0; i < facts->count; i++) {
        const struct status_fact *fact = &facts->items[i];
        if (strcmp(fact->section, section) != 0 || strcmp(fact->name, name) != 0) continue;
        if (any) tide__strbuf_append_char(out, ',');
        any = true;
        tide__json_quote(tide__str(fact->field), out);
        tide__strbuf_append_char(out, ':');
        put_value(fact, out);
    }
    tide__strbuf_append_char(out, '}');
}

static void put_member(const struct status_facts *facts, const char *section, const char *name, struct strbuf *out) {
    if (out->len > 0 && out->data[out->len - 1] == '}') tide__strbuf_append_char(out, ',');
    put_object(facts, section, name, out);
}

void tide__api_status_json(const struct status_facts *facts, struct strbuf *out) {
    static const struct {
        const char *section, *member;
    } lists[] = {
        {"source", "sources"}, {"operator", "operators"}, {"sink", "sinks"}, {"state", "state"}, {"window", "windows"}};
    tide__strbuf_append_c(out, "{\"job\":");
    put_object(facts, "job", "", out);
    tide__strbuf_append_c(out, ",\"checkpoint\":");
    put_object(facts, "checkpoint", "", out);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        tide__strbuf_printf(out, ",\"%s\":[", lists[i].member);
        each_name(facts, lists[i].section, put_member, out);
        tide__strbuf_append_char(out, ']');
    }
    tide__strbuf_append_c(out, "}\n");
}

static void put_cell(const char *text, bool csv, struct strbuf *out) {
    if (!csv) {
        for (const char *c = text; *c != '\0'; c++) {
            if (*c == '\t' || *c == '\n' || *c == '\\')
                tide__strbuf_printf(out, "\\%c", *c == '\t' ? 't' : *c == '\n' ? 'n' : '\\');
            else
                tide__strbuf_append_char(out, *c);
        }
        return;
    }
    bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (quoted) tide__strbuf_append_char(out, '"');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') tide__strbuf_append_char(out, '"');
        tide__strbuf_append_char(out, *c);
    }
    if (quoted) tide__strbuf_append_char(out, '"');
}

void tide__api_status_lines(const struct status_facts *facts, bool csv, struct strbuf *out) {
    const char *head[] = {"section", "name", "field", "value"};
    for (size_t i = 0; i <= facts->count; i++) {
        const struct status_fact *fact = i > 0 ? &facts->items[i - 1] : NULL;
        const char *cells[] = {fact ? fact->section : head[0], fact ? fact->name : head[1],
                               fact ? fact->field : head[2],
                               fact == NULL          ? head[3]
                               : fact->value != NULL ? fact->value
                               : csv                 ? ""
                                                     : "<NULL>"};
        for (size_t c = 0; c < 4; c++) {
            if (c > 0) tide__strbuf_append_char(out, csv ? ',' : '\t');
            put_cell(cells[c], csv, out);
        }
        tide__strbuf_append_char(out, '\n');
    }
}
