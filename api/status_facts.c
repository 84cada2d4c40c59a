// Facts about a job: a list, its lines on the socket, and what the running job says. See api/status.h.
#include "api/job.h"
#include "api/status.h"

#include "base/alloc.h"
#include "base/time.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void tide__status_init(struct status_facts *facts) {
    *facts = (struct status_facts){0};
    tide__arena_init(&facts->arena);
}

void tide__status_deinit(struct status_facts *facts) {
    tide__free(facts->items);
    tide__arena_deinit(&facts->arena);
}

static const struct status_fact *find(const struct status_facts *facts, const char *section, const char *name,
                                      const char *field) {
    for (size_t i = 0; i < facts->count; i++) {
        const struct status_fact *fact = &facts->items[i];
        if (strcmp(fact->section, section) == 0 && strcmp(fact->name, name) == 0 && strcmp(fact->field, field) == 0)
            return fact;
    }
    return NULL;
}

const char *tide__status_get(const struct status_facts *facts, const char *section, const char *name,
                             const char *field) {
    const struct status_fact *fact = find(facts, section, name, field);
    return fact != NULL ? fact->value : NULL;
}

static const char *keep(struct status_facts *facts, const char *text) {
    return text != NULL ? tide__arena_strndup(&facts->arena, text, strlen(text)) : NULL;
}

static void put(struct status_facts *facts, const char *section, const char *name, const char *field, const char *value,
                bool is_text) {
    if (find(facts, section, name, field) != NULL) return;
    facts->items = tide__grow(facts->items, &facts->cap, facts->count + 1, sizeof *facts->items);
    facts->items[facts->count++] = (struct status_fact){keep(facts, section), keep(facts, name), keep(facts, field),
                                                        keep(facts, value), is_text};
}

void tide__status_text(struct status_facts *facts, const char *section, const char *name, const char *field,
                       const char *value) {
    put(facts, section, name, field, value, true);
}

void tide__status_number(struct status_facts *facts, const char *section, const char *name, const char *field,
                         double value) {
    char text[40];
    if (value == floor(value) && fabs(value) < 1e15)
        snprintf(text, sizeof text, "%.0f", value);
    else
        snprintf(text, sizeof text, "%.3f", value);
    put(facts, section, name, field, text, false);
}

void tide__status_bool(struct status_facts *facts, const char *section, const char *name, const char *field,
                       bool value) {
    put(facts, section, name, field, value ? "true" : "false", false);
}

void tide__status_time(struct status_facts *facts, const char *section, const char *name, const char *field,
                       int64_t ms) {
    struct strbuf text = {0};
    tide__api_put_time(ms, &text);
    put(facts, section, name, field, ms == WATERMARK_NONE ? NULL : text.data, true);
    tide__strbuf_deinit(&text);
}

// --- on the socket ----------------------------------------------------------------------------------------------------------

static void put_escaped(const char *text, struct strbuf *out) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\t' || *c == '\n' || *c == '\\')
            tide__strbuf_printf(out, "\\%c", *c == '\t' ? 't' : *c == '\n' ? 'n' : '\\');
        else
            tide__strbuf_append_char(out, *c);
    }
}

void tide__status_write(const struct status_facts *facts, struct strbuf *out) {
    for (size_t i = 0; i < facts->count; i++) {
        const struct status_fact *fact = &facts->items[i];
        tide__strbuf_append_char(out, fact->value == NULL ? '0' : fact->is_text ? 't' : 'n');
        const char *parts[] = {fact->section, fact->name, fact->field, fact->value != NULL ? fact->value : ""};
        for (size_t p = 0; p < 4; p++) {
            tide__strbuf_append_char(out, '\t');
            put_escaped(parts[p], out);
        }
        tide__strbuf_append_char(out, '\n');
    }
}

// Takes the text up to a tab or the end of the line, unescaped.
static const char *take_part(struct status_facts *facts, struct str *rest) {
    struct strbuf text = {0};
    size_t i = 0;
    for (; i < rest->len && rest->data[i] != '\t' && rest->data[i] != '\n'; i++) {
        char c = rest->data[i];
        if (c == '\\' && i + 1 < rest->len) {
            c = rest->data[++i];
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
        }
        tide__strbuf_append_char(&text, c);
    }
    if (i < rest->len) i++;
    rest->data += i;
    rest->len -= i;
    const char *copy = tide__arena_strndup(&facts->arena, text.len > 0 ? text.data : "", text.len);
    tide__strbuf_deinit(&text);
    return copy;
}

bool tide__status_read(struct status_facts *facts, struct str text) {
    while (text.len > 0) {
        const char *parts[5];
        for (size_t p = 0; p < 5; p++) {
            if (text.len == 0 && p < 4) return false;
            parts[p] = take_part(facts, &text);
        }
        if (strlen(parts[0]) != 1 || strchr("0tn", parts[0][0]) == NULL) return false;
        put(facts, parts[1], parts[2], parts[3], parts[0][0] == '0' ? NULL : parts[4], parts[0][0] != 'n');
    }
    return true;
}

// --- the running job --------------------------------------------------------------------------------------------------------

static void put_node(const struct task_node_stats *node, int64_t least, struct status_facts *out) {
    const char *name = node->operator_id;
    if (node->kind == TASK_PART_SOURCE) {
        tide__status_number(out, "source", name, "rows", (double)node->rows_out);
        tide__status_time(out, "source", name, "watermark", node->watermark);
        tide__status_time(out, "source", name, "reached", node->reached);
        tide__status_bool(out, "source", name, "waiting", node->waiting);
        tide__status_bool(out, "source", name, "idle", node->idle);
        tide__status_bool(out, "source", name, "ended", node->ended);
        tide__status_bool(out, "source", name, "holds_back", node->watermark == least && !node->idle && !node->ended);
        return;
    }
    const char *section = node->kind == TASK_PART_SINK ? "sink" : "operator";
    tide__status_time(out, section, name, "watermark", node->watermark);
    tide__status_number(out, section, name, "rows_in", (double)node->rows_in);
    tide__status_number(out, section, name, "rows_out", (double)node->rows_out);
    tide__status_number(out, section, name, "late_rows", (double)node->late_rows);
    tide__status_number(out, section, name, "windows_fired", (double)node->windows_fired);
    tide__status_number(out, section, name, "windows_open", (double)node->windows_open);
    if (node->next_trigger != WATERMARK_END && node->next_trigger != WATERMARK_NONE)
        tide__status_time(out, section, name, "next_window_end", node->next_trigger + 1);
}

static void put_nodes(const struct task *task, struct status_facts *out) {
    struct task_node_stats node;
    int64_t least = WATERMARK_END;
    for (size_t i = 0; tide__task_node_stats(task, i, &node); i++)
        if (node.kind == TASK_PART_SOURCE && !node.idle && !node.ended && node.watermark < least)
            least = node.watermark;
    for (size_t i = 0; tide__task_node_stats(task, i, &node); i++) put_node(&node, least, out);
}

static void put_checkpoints(struct job *job, double now, struct status_facts *out) {
    pthread_mutex_lock(&job->lock);
    double finished = job->last_finished, seconds = job->last_seconds;
    uint64_t done = job->done, deltas = job->deltas, bytes = job->last_bytes;
    pthread_mutex_unlock(&job->lock);
    tide_summary sum = {0};
    tide__api_checkpoint_sum(job, &sum);
    tide__status_number(out, "checkpoint", "", "taken", (double)done);
    tide__status_number(out, "checkpoint", "", "deltas", (double)deltas);
    tide__status_bool(out, "checkpoint", "", "under_way", tide__api_checkpoint_busy(job));
    tide__status_number(out, "checkpoint", "", "pause_ms_max", sum.checkpoint_pause_ms_max);
    if (done == 0) return;
    tide__status_number(out, "checkpoint", "", "age_seconds", now - finished);
    tide__status_number(out, "checkpoint", "", "bytes", (double)bytes);
    tide__status_number(out, "checkpoint", "", "duration_seconds", seconds);
}

void tide__api_status_live(struct job *job, struct status_facts *out) {
    struct task_stats stats;
    tide__task_stats(job->task, &stats);
    double now = tide__api_seconds(), seconds = now - job->began;
    tide__status_bool(out, "job", "", "running", true);
    tide__status_number(out, "job", "", "pid", getpid());
    tide__status_number(out, "job", "", "statement", job->plan->statement_index + 1);
    tide__status_number(out, "job", "", "rows", (double)stats.rows_in);
    tide__status_number(out, "job", "", "rows_out", (double)stats.rows_out);
    tide__status_number(out, "job", "", "seconds", seconds);
    uint64_t here = stats.rows_in - job->rows_began;
    tide__status_number(out, "job", "", "rows_per_second", seconds > 0 ? round((double)here / seconds) : 0);
    double span = now - job->samples[0].seconds;
    if (job->samples[0].seconds > 0 && span > 0)
        tide__status_number(out, "job", "", "rows_per_second_now",
                            round((double)(stats.rows_in - job->samples[0].rows) / span));
    tide__status_time(out, "job", "", "watermark", stats.watermark);
    tide__status_number(out, "job", "", "late_rows", (double)stats.late_rows);
    tide__status_number(out, "job", "", "windows_fired", (double)stats.windows_fired);
    tide__status_number(out, "job", "", "windows_open", (double)stats.windows_open);
    tide__status_number(out, "job", "", "bytes_read", (double)stats.bytes_read);
    tide__status_number(out, "job", "", "bytes_total", (double)stats.bytes_total);
    put_nodes(job->task, out);
    put_checkpoints(job, now, out);
}
