// Windows on a line of time: one bar a window, as high as it has entries, and the watermark. A line of more windows than can be told
// apart shows how many entries there are at each time.
#include "api/html.h"

#include "api/inspect.h"
#include "base/time.h"

#include <stdio.h>
#include <string.h>

#define LINE_WIDTH  1000.0
#define LINE_HEIGHT 90.0

struct line {
    int64_t from_ms, to_ms;
    int64_t watermark_ms;
    uint64_t entries_max;
};

static double x_of(const struct line *line, int64_t ms) {
    if (line->to_ms <= line->from_ms) return 0;
    return LINE_WIDTH * ((double)ms - (double)line->from_ms) / ((double)line->to_ms - (double)line->from_ms);
}

static bool is_time(int64_t ms) {
    return ms != WATERMARK_NONE && ms != WATERMARK_END;
}

static void measure(const struct savepoint_table *table, size_t listed, struct line *line) {
    line->from_ms = table->windows[0].start_ms;
    line->to_ms = table->windows[0].end_ms;
    for (size_t i = 0; i < listed; i++) {
        const struct savepoint_window *window = &table->windows[i];
        if (window->start_ms < line->from_ms) line->from_ms = window->start_ms;
        if (window->end_ms > line->to_ms) line->to_ms = window->end_ms;
        if (window->entries > line->entries_max) line->entries_max = window->entries;
    }
    // The watermark is shown if it is not so far away that the windows would become one stroke.
    double span = (double)line->to_ms - (double)line->from_ms;
    if (!is_time(line->watermark_ms)) return;
    double before = (double)line->from_ms - (double)line->watermark_ms,
           behind = (double)line->watermark_ms - (double)line->to_ms;
    if (before > 0 && before < 4 * span) line->from_ms = line->watermark_ms;
    if (behind > 0 && behind < 4 * span) line->to_ms = line->watermark_ms;
}

static void put_bar(const struct line *line, const struct savepoint_window *window, struct strbuf *out) {
    double x = x_of(line, window->start_ms), width = x_of(line, window->end_ms) - x;
    double height = line->entries_max > 0 ? (LINE_HEIGHT - 14) * (double)window->entries / (double)line->entries_max
                                          : 0;
    if (height < 2) height = 2;
    bool fired = is_time(line->watermark_ms) && window->end_ms - 1 <= line->watermark_ms;
    tide__strbuf_printf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"><title>[",
                        fired ? "bar due" : "bar", x, LINE_HEIGHT - height, width > 1.5 ? width - 0.8 : width, height);
    tide__api_put_time(window->start_ms, out);
    tide__strbuf_append_c(out, ", ");
    tide__api_put_time(window->end_ms, out);
    tide__strbuf_append_c(out, ") ");
    tide__html_number(window->entries, out);
    tide__strbuf_append_c(out, " entries, ");
    tide__html_bytes(window->bytes, out);
    tide__strbuf_append_c(out, "</title></rect>\n");
}

static void put_labels(const struct line *line, struct strbuf *out) {
    tide__strbuf_append_c(out, "<div class=\"axis\"><span>");
    tide__api_put_time(line->from_ms, out);
    tide__strbuf_append_c(out, "</span><span>");
    tide__api_put_time(line->to_ms, out);
    tide__strbuf_append_c(out, "</span></div>\n");
}

static void put_line(const struct savepoint_info *info, const struct state_view *view, struct strbuf *out) {
    const struct savepoint_table *table = view->stored;
    size_t listed = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
    struct line line = {.watermark_ms = WATERMARK_NONE};
    for (size_t i = 0; i < info->snapshot.part_count; i++)
        if (strcmp(info->snapshot.parts[i].operator_id, view->operator_id) == 0)
            line.watermark_ms = info->snapshot.parts[i].watermark;
    measure(table, listed, &line);
    tide__strbuf_append_c(out, "<h3>");
    tide__html_c(view->operator_id, out);
    tide__strbuf_append_c(out, "</h3>\n<p>");
    tide__html_number(table->window_count, out);
    tide__strbuf_printf(out, " %s%s, watermark ", view->sliced ? "slice" : "window",
                        table->window_count == 1 ? "" : "s");
    tide__api_put_time(line.watermark_ms, out);
    if (listed < table->window_count) tide__strbuf_printf(out, ". Shown are the first %zu", listed);
    if (is_time(line.watermark_ms))
        tide__strbuf_append_c(out, " (red). Grey is behind it; bars are as high as there are entries");
    tide__strbuf_printf(out,
                        "</p>\n<svg class=\"line\" role=\"img\" aria-label=\"Windows\" viewBox=\"0 0 %.0f %.0f\" "
                        "preserveAspectRatio=\"none\">\n",
                        LINE_WIDTH, LINE_HEIGHT);
    for (size_t i = 0; i < listed; i++) put_bar(&line, &table->windows[i], out);
    if (is_time(line.watermark_ms) && line.watermark_ms >= line.from_ms && line.watermark_ms <= line.to_ms)
        tide__strbuf_printf(out, "<line class=\"watermark\" x1=\"%.2f\" x2=\"%.2f\" y1=\"0\" y2=\"%.0f\"/>\n",
                            x_of(&line, line.watermark_ms), x_of(&line, line.watermark_ms), LINE_HEIGHT);
    tide__strbuf_append_c(out, "</svg>\n");
    put_labels(&line, out);
}

void tide__html_windows(const struct savepoint_info *info, const struct state_view *views, size_t count,
                        struct strbuf *out) {
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        if (!views[i].windowed || views[i].stored->window_count == 0) continue;
        put_line(info, &views[i], out);
        shown++;
    }
    if (shown == 0) tide__strbuf_append_c(out, "<p>No windows are open.</p>\n");
}
