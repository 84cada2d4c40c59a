// Proof by replay: what NEW prints when it goes on from a savepoint of OLD, against what NEW prints from the start.
//
//   OLD    rows 1 ............ p ....... q ....        a savepoint after each of p, q, ...
//   NEW    rows 1 ............ p ....... q .... end    what it prints behind p, behind q, ...
//   NEW from OLD's savepoint   p .............. end    must print the same rows, in whatever order
//
// Under a partial verdict the columns that begin anew are left out of the comparison, on both sides. What is claimed, and what
// is not compared, stands in docs/compatibility-claims.md.
//
// The scripts' sources read the given files; their sinks are not touched: their rows come here. All in this process, the savepoints in a
// temporary folder.
#include "api/job.h"
#include "api/restarts.h"
#include "base/alloc.h"
#include "base/time.h"
#include "engine/expr/eval.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPLITS_DEFAULT = 3, LINES_SHOWN_DEFAULT = 5 };

// What the sinks got, a line a row: `TABLE<TAB>+I<TAB>value<TAB>...`.
struct lines {
    char **items;
    size_t count, cap;
};

// What matters of a sink's columns.
struct mask {
    const char *sink;
    const bool *hidden;  // they begin anew
    bool whole;          // all of them do
    uint32_t count;
    int32_t window_end;  // the column that shows it; -1: none
};

struct replay {
    const tide_replay *options;
    tide_write_fn *write;
    void *write_ctx;
    const char *folder;  // of the savepoints
    struct arena arena;
    uint64_t *splits;  // ascending
    size_t split_count;
    struct mask *masks;  // of the restore in hand, one a sink
    size_t mask_count;
    bool any_hidden;
    bool windowed;           // the new script has windows
    bool sources_moved;      // sources are read in another order: the first rows are others
    const char *closed_end;  // windows that end by then were closed in one of the runs: not compared. NULL: all are
};

// One run of one of the scripts.
struct replay_run {
    struct replay *replay;
    const struct plan *plan;
    bool partial;
    struct lines lines;
    bool savepoints;  // write one at each split
    bool *reached;    // of each split; NULL: nobody wants to stop
    size_t *marks;    // lines printed until then
    int64_t *watermarks;
    uint64_t rows;
};

static void put(const struct replay *replay, struct strbuf *text) {
    if (replay->write != NULL && text->len > 0) replay->write(replay->write_ctx, text->data, text->len);
    tide__strbuf_clear(text);
}

static void lines_deinit(struct lines *lines) {
    for (size_t i = 0; i < lines->count; i++) tide__free(lines->items[i]);
    tide__free(lines->items);
    *lines = (struct lines){0};
}

// --- sources and sinks -----------------------------------------------------------------------------------------------------

// `TABLE=PATH`, or a path alone for the tables that no other input names. NULL: none.
static const char *input_of(const struct replay *replay, const char *table) {
    const char *alone = NULL;
    size_t len = strlen(table);
    for (size_t i = 0; i < replay->options->input_count; i++) {
        const char *input = replay->options->inputs[i], *equal = strchr(input, '=');
        if (equal == NULL)
            alone = input;
        else if ((size_t)(equal - input) == len && strncmp(input, table, len) == 0)
            return equal + 1;
    }
    return alone;
}

static tide_status absolute(const char *path, struct arena *arena, const char **out, tide_error *err) {
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) return tide__fail_errno(err, errno, "can't read %s", path);
    *out = tide__arena_strndup(arena, real, strlen(real));
    return TIDE_OK;
}

// A source that reads `path`, once, to its end.
static const struct table *reading(const struct table *table, const char *path, struct arena *arena) {
    struct table *other = ARENA_NEW(arena, struct table);
    *other = *table;
    other->options = ARENA_ARRAY(arena, struct option, table->option_count + 1);
    other->option_count = 0;
    for (uint32_t i = 0; i < table->option_count; i++) {
        const struct option *option = &table->options[i];
        if (tide__str_eq_c(option->key, "source.monitor-interval") || tide__str_eq_c(option->key, "path")) continue;
        other->options[other->option_count++] = *option;
    }
    other->options[other->option_count++] = (struct option){.key = tide__str("path"), .value = tide__str(path)};
    return other;
}

static tide_status exchange_source(struct replay *replay, struct plan_node *node, tide_error *err) {
    const struct table *table = node->scan.table;
    const struct option *connector = tide__table_option(table, "connector");
    const char *input = input_of(replay, table->name), *path = NULL;
    bool is_file = connector != NULL && tide__str_eq_c(connector->value, "filesystem");
    if (!is_file || input == NULL) {
        if (tide__table_option(table, "source.monitor-interval") == NULL && (is_file || connector == NULL))
            return TIDE_OK;
        tide__fail_at(err, TIDE_ERR_OPTION, table->pos, "can't replay the table \"%s\": it has no input that ends",
                      table->name);
        return tide__fail_hint(err, "Give a file for each filesystem table: --replay TABLE=FILE.");
    }
    TIDE_TRY(absolute(input, &replay->arena, &path, err));
    node->scan.table = reading(table, path, &replay->arena);
    return TIDE_OK;
}

static const char *sink_name(const struct plan_node *sink) {
    return sink->sink.table != NULL ? sink->sink.table->name : "result";
}

static void note_masks(struct replay *replay, const struct plan *plan, const struct compat_report *report);

// Its rows come here. NULL is refused where the table refuses it.
static void exchange_sink(struct replay *replay, struct plan_node *node) {
    for (uint32_t i = 0; node->sink.kind == SINK_TABLE && i < node->field_count; i++) {
        bool nullable = node->sink.table->columns[node->sink.columns[i]].type->nullable;
        node->fields[i].type = tide__type_with_nullable(&replay->arena, node->fields[i].type, nullable);
    }
    node->sink.kind = SINK_COLLECT;
}

static tide_status prepare(void *ctx, const struct job *job, tide_error *err) {
    struct replay_run *run = ctx;
    const struct plan *plan = run->plan = job->plan;
    bool resumed = job->run->resume.savepoint != NULL;
    if (resumed) note_masks(run->replay, plan, job->run->resume.report);
    run->partial = resumed && run->replay->any_hidden;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        struct plan_node *node = plan->nodes[i];
        if (node->kind == PLAN_SCAN) TIDE_TRY(exchange_source(run->replay, node, err));
        if (node->kind == PLAN_SINK) exchange_sink(run->replay, node);
    }
    return TIDE_OK;
}

static tide_status collect(void *ctx, const struct plan_node *sink, const struct batch *batch, tide_error *err) {
    (void)err;
    static const char *const row_ops[] = {"+I", "-U", "+U", "-D"};
    struct replay_run *run = ctx;
    struct strbuf line = {0};
    for (size_t row = 0; row < batch->rows; row++) {
        tide__strbuf_clear(&line);
        tide__strbuf_printf(&line, "%s\t%s", sink_name(sink),
                            row_ops[batch->kinds != NULL ? batch->kinds[row] : ROW_INSERT]);
        for (size_t c = 0; c < batch->column_count; c++) {
            tide__strbuf_append_char(&line, '\t');
            if (tide__column_is_null(&batch->columns[c], row))
                tide__strbuf_append_c(&line, "<NULL>");
            else
                tide__value_display_in_zone(&batch->columns[c], row, run->plan->settings.zone, &line);
        }
        struct lines *lines = &run->lines;
        lines->items = tide__grow(lines->items, &lines->cap, lines->count + 1, sizeof *lines->items);
        lines->items[lines->count++] = tide__strndup(line.data, line.len);
    }
    tide__strbuf_deinit(&line);
    return TIDE_OK;
}

// --- runs ------------------------------------------------------------------------------------------------------------------

static uint64_t next_stop(void *ctx, uint64_t rows) {
    const struct replay_run *run = ctx;
    for (size_t i = 0; run->reached != NULL && i < run->replay->split_count; i++)
        if (run->replay->splits[i] > rows) return run->replay->splits[i];
    return UINT64_MAX;
}

static const char *savepoint_path(struct replay *replay, size_t split) {
    return tide__arena_printf(&replay->arena, "%s/%zu", replay->folder, split);
}

static tide_status at_stop(void *ctx, struct job *job, uint64_t rows, tide_error *err) {
    struct replay_run *run = ctx;
    for (size_t i = 0; i < run->replay->split_count; i++) {
        if (run->replay->splits[i] != rows) continue;
        run->reached[i] = true;
        struct task_stats stats;
        tide__task_stats(job->task, &stats);
        run->marks[i] = run->lines.count;
        run->watermarks[i] = stats.watermark_reached;
        if (run->savepoints) TIDE_TRY(tide__api_job_savepoint(job, savepoint_path(run->replay, i), err));
    }
    return TIDE_OK;
}

static tide_status run_script(struct replay_run *run, const tide_script *script, const tide_options *options,
                              tide_error *err) {
    struct job_watch watch = {
        .ctx = run, .prepare = prepare, .next_stop = next_stop, .at_stop = at_stop, .collect = collect};
    tide_summary summary;
    struct str sql = {script->sql, script->sql_len};
    struct script_around around = {.watch = &watch};
    TIDE_TRY(tide__api_script_run(script->name, sql, script->dir, options, NULL, &summary, &around, err));
    run->rows = summary.rows_in;
    return TIDE_OK;
}

static tide_options run_options(const struct replay *replay) {
    tide_options options;
    tide_options_init(&options);
    options.checkpoint_interval_ms = 0;
    options.parallelism = 1;
    options.policy = replay->options->policy;
    options.on_incompatible = TIDE_INCOMPATIBLE_PARTIAL;
    options.accept_unsound = true;
    return options;
}

// --- splits ----------------------------------------------------------------------------------------------------------------

static int compare_rows(const void *a, const void *b) {
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

// The rows after which a savepoint is taken: as asked, or quarters of the input.
static tide_status choose_splits(struct replay *replay, tide_error *err) {
    const tide_replay *options = replay->options;
    if (options->after_count > 0) {
        replay->splits = ARENA_ARRAY(&replay->arena, uint64_t, options->after_count);
        memcpy(replay->splits, options->after, options->after_count * sizeof *replay->splits);
        replay->split_count = options->after_count;
        qsort(replay->splits, replay->split_count, sizeof *replay->splits, compare_rows);
        return TIDE_OK;
    }
    struct replay_run counting = {.replay = replay};
    tide_options plain = run_options(replay);
    tide_status status = run_script(&counting, &options->old_script, &plain, err);
    lines_deinit(&counting.lines);
    TIDE_TRY(status);
    replay->splits = ARENA_ARRAY(&replay->arena, uint64_t, SPLITS_DEFAULT);
    for (uint64_t i = 1; i <= SPLITS_DEFAULT; i++) {
        uint64_t row = counting.rows * i / (SPLITS_DEFAULT + 1);
        if (row > 0 && (replay->split_count == 0 || replay->splits[replay->split_count - 1] < row))
            replay->splits[replay->split_count++] = row;
    }
    if (replay->split_count > 0) return TIDE_OK;
    tide__fail(err, TIDE_ERR_OPTION, "the input has %llu rows: too few to replay", (unsigned long long)counting.rows);
    return tide__fail_hint(err, "Give an input with at least four rows.");
}

// --- columns that begin anew -------------------------------------------------------------------------------------------------

// By what the sink's columns are described with.
static int32_t window_end_column(const struct plan_description *description, const struct plan_node *sink) {
    for (size_t i = 0; i < description->operator_count; i++) {
        const struct plan_operator *op = &description->operators[i];
        if (strcmp(op->operator_id, sink->operator_id) != 0) continue;
        int32_t column = 0;
        for (size_t k = 0; k < op->clause_count; k++) {
            if (strcmp(op->clauses[k].code, "output.column") != 0) continue;
            if (strcmp(op->clauses[k].text, "window_end") == 0) return column;
            column++;
        }
    }
    return -1;
}

static bool is_windowed(const struct plan *plan) {
    for (uint32_t i = 0; i < plan->node_count; i++) {
        enum plan_kind kind = plan->nodes[i]->kind;
        if (kind == PLAN_WINDOW_TVF || kind == PLAN_WINDOW_AGGREGATE || kind == PLAN_WINDOW_RANK ||
            kind == PLAN_WINDOW_JOIN)
            return true;
    }
    return false;
}

static uint32_t source_number(const struct plan *plan, const struct plan_node *node) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < plan->node_count && plan->nodes[i] != node; i++)
        number += plan->nodes[i]->kind == PLAN_SCAN;
    return number;
}

static bool have_sources_moved(const struct compat_report *report) {
    for (size_t i = 0; report != NULL && i < report->operator_count; i++) {
        const struct compat_operator *op = &report->operators[i];
        const struct plan_node *node = op->new_node != NULL ? op->new_node : op->old_node;
        if (node == NULL || node->kind != PLAN_SCAN) continue;
        if (op->old_node == NULL || op->new_node == NULL) return true;
        if (source_number(op->old_plan, op->old_node) != source_number(op->new_plan, op->new_node)) return true;
    }
    return false;
}

static void note_masks(struct replay *replay, const struct plan *plan, const struct compat_report *report) {
    replay->sources_moved = have_sources_moved(report);
    struct plan_description description;
    tide__plan_describe(plan, &replay->arena, &description);
    replay->mask_count = 0;
    replay->any_hidden = false;
    replay->windowed = is_windowed(plan);
    replay->masks = ARENA_ARRAY(&replay->arena, struct mask, plan->root_count + 1);
    const struct restarts *restarts = tide__api_restarts(report, plan, &replay->arena);
    for (uint32_t r = 0; r < plan->root_count; r++) {
        const struct plan_node *sink = plan->roots[r];
        struct mask *mask = &replay->masks[replay->mask_count++];
        mask->sink = tide__arena_printf(&replay->arena, "%s", sink_name(sink));
        mask->count = sink->field_count;
        mask->window_end = window_end_column(&description, sink);
        mask->hidden = restarts[r].columns;
        mask->whole = restarts[r].whole;
        replay->any_hidden |= mask->whole;
        for (uint32_t i = 0; i < sink->field_count; i++) replay->any_hidden |= mask->hidden[i];
    }
}

static const struct mask *mask_of(const struct replay *replay, const char *line) {
    size_t len = strcspn(line, "\t");
    for (size_t i = 0; i < replay->mask_count; i++)
        if (strlen(replay->masks[i].sink) == len && strncmp(replay->masks[i].sink, line, len) == 0)
            return &replay->masks[i];
    return NULL;
}

// The line without what its columns that begin anew hold. NULL: it is of a sink or a window that is not compared.
static char *masked(const struct replay *replay, const char *line) {
    const struct mask *mask = mask_of(replay, line);
    if (mask == NULL) return tide__strdup(line);
    if (mask->whole) return NULL;
    struct strbuf out = {0};
    bool closed = false;
    size_t field = 0;
    for (const char *at = line;; field++) {
        size_t end = strcspn(at, "\t");
        bool hidden = field >= 2 && field - 2 < mask->count && mask->hidden[field - 2];
        bool is_end = replay->closed_end != NULL && mask->window_end >= 0 && field == (size_t)mask->window_end + 2;
        // Times of one form sort as texts.
        if (is_end && end == strlen(replay->closed_end) && strncmp(at, replay->closed_end, end) <= 0) closed = true;
        if (field > 0) tide__strbuf_append_char(&out, '\t');
        tide__strbuf_append(&out, hidden ? "*" : at, hidden ? 1 : end);
        if (at[end] == '\0') break;
        at += end + 1;
    }
    char *text = closed ? NULL : tide__strndup(out.data, out.len);
    tide__strbuf_deinit(&out);
    return text;
}

static struct lines masked_from(const struct replay *replay, const struct lines *lines, size_t from) {
    struct lines out = {.items = tide__calloc(lines->count + 1, sizeof *out.items)};
    for (size_t i = from; i < lines->count; i++) {
        out.items[out.count] = masked(replay, lines->items[i]);
        out.count += out.items[out.count] != NULL;
    }
    return out;
}

// Scripts with other watermarks have closed other windows at the savepoint: those that one of them had closed are left out. False:
// a sink does not show its windows' ends, so it can't be told.
static bool leave_out_closed(struct replay *replay, int64_t old_watermark, int64_t new_watermark) {
    replay->closed_end = NULL;
    if (!replay->windowed || old_watermark == new_watermark) return true;
    for (size_t i = 0; i < replay->mask_count; i++)
        if (replay->masks[i].window_end < 0) return false;
    int64_t later = old_watermark > new_watermark ? old_watermark : new_watermark;
    if (later == INT64_MAX) return false;
    struct strbuf text = {0};
    tide__timestamp_print((struct timestamp){.ms = later + 1}, 3, &text);
    replay->closed_end = tide__arena_strndup(&replay->arena, text.data, text.len);
    tide__strbuf_deinit(&text);
    return true;
}

// --- comparing -------------------------------------------------------------------------------------------------------------

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(char **lines, size_t count) {
    if (count > 0) qsort(lines, count, sizeof *lines, compare_lines);
}

struct difference {
    size_t missing, unexpected;
};

// Both sorted. What stands on one side only is written, at most `shown` lines of it.
static struct difference differ(const struct replay *replay, const struct lines *fresh, const struct lines *resumed,
                                size_t shown) {
    struct difference difference = {0};
    struct strbuf text = {0};
    size_t a = 0, b = 0;
    while (a < fresh->count || b < resumed->count) {
        int order = a == fresh->count ? 1 : b == resumed->count ? -1 : strcmp(fresh->items[a], resumed->items[b]);
        if (order == 0) {
            a++, b++;
            continue;
        }
        bool missing = order < 0;
        if (difference.missing + difference.unexpected < shown)
            tide__strbuf_printf(&text, "%c %s\n", missing ? '-' : '+', missing ? fresh->items[a] : resumed->items[b]);
        difference.missing += missing;
        difference.unexpected += !missing;
        missing ? a++ : b++;
    }
    put(replay, &text);
    tide__strbuf_deinit(&text);
    return difference;
}

// +1 for what comes in, -1 for what is taken back; the line is left without it.
static int take_sign(char *line) {
    char *op = line + strcspn(line, "\t") + 1;
    int sign = op[0] == '-' ? -1 : 1;
    op[0] = op[1] = '*';
    return sign;
}

static void put_sign(char *line, int sign) {
    char *op = line + strcspn(line, "\t") + 1;
    memcpy(op, sign < 0 ? "-D" : "+I", 2);
}

// What all changes add up to. Columns that begin anew make rows change that do not change otherwise, and keep others from it: so
// under a partial verdict the single changes say nothing.
static void add_up(struct lines *lines) {
    struct signed_line {
        char *text;
        int sign;
    };
    struct signed_line *items = tide__alloc((lines->count + 1) * sizeof *items);
    for (size_t i = 0; i < lines->count; i++)
        items[i] = (struct signed_line){lines->items[i], take_sign(lines->items[i])};
    qsort(items, lines->count, sizeof *items, compare_lines);  // by their first member
    size_t count = lines->count, kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        int sum = 0;
        for (end = i; end < count && strcmp(items[end].text, items[i].text) == 0; end++) sum += items[end].sign;
        for (size_t k = i; k < end; k++) {
            if (sum == 0) {
                tide__free(items[k].text);
                continue;
            }
            put_sign(items[k].text, sum);
            sum += sum < 0 ? 1 : -1;
            lines->items[kept++] = items[k].text;
        }
    }
    lines->count = kept;
    tide__free(items);
}

static void compare_split(struct replay *replay, size_t split, const struct replay_run *old_run,
                          const struct replay_run *fresh, const struct replay_run *resumed, tide_replay_result *out) {
    struct strbuf text = {0};
    tide__strbuf_printf(&text, "after row %llu: ", (unsigned long long)replay->splits[split]);
    const char *why_not = NULL;
    if (replay->sources_moved)
        why_not = "the sources are read in another order, so the rows before the savepoint are others";
    else if (!leave_out_closed(replay, old_run->watermarks[split], fresh->watermarks[split]))
        why_not = "the watermarks differ, and a result does not show window_end";
    if (why_not != NULL) {
        tide__strbuf_printf(&text, "not compared: %s\n", why_not);
        put(replay, &text);
        tide__strbuf_deinit(&text);
        out->not_compared++;
        return;
    }
    struct lines a = masked_from(replay, &fresh->lines, fresh->marks[split]),
                 b = masked_from(replay, &resumed->lines, 0);
    if (resumed->partial) {
        add_up(&a);
        add_up(&b);
    }
    sort_lines(a.items, a.count);
    sort_lines(b.items, b.count);
    size_t shown = replay->options->lines_shown > 0 ? replay->options->lines_shown : LINES_SHOWN_DEFAULT;
    struct difference difference = differ(replay, &a, &b, shown);
    if (difference.missing == 0 && difference.unexpected == 0) {
        tide__strbuf_printf(&text, "the same %zu rows%s\n", a.count,
                            resumed->partial ? ", but for the columns that begin anew" : "");
        out->same++;
    } else {
        tide__strbuf_printf(&text, "%zu rows are missing (-), %zu should not be there (+), of %zu\n",
                            difference.missing, difference.unexpected, a.count);
        out->differ++;
    }
    out->partial += resumed->partial;
    put(replay, &text);
    tide__strbuf_deinit(&text);
    lines_deinit(&a);
    lines_deinit(&b);
}

// Would it have made no difference?
static bool prints_the_same(const struct replay *replay, size_t split, const struct replay_run *old_run,
                            const struct replay_run *fresh) {
    const struct replay bare = {.options = replay->options};
    struct lines a = masked_from(&bare, &old_run->lines, old_run->marks[split]),
                 b = masked_from(&bare, &fresh->lines, fresh->marks[split]);
    sort_lines(a.items, a.count);
    sort_lines(b.items, b.count);
    struct difference difference = differ(&bare, &a, &b, 0);
    lines_deinit(&a);
    lines_deinit(&b);
    return difference.missing == 0 && difference.unexpected == 0;
}

static tide_status replay_split(struct replay *replay, size_t split, const struct replay_run *old_run,
                                const struct replay_run *fresh, tide_replay_result *out, tide_error *err) {
    tide_options options = run_options(replay);
    options.from = savepoint_path(replay, split);
    struct replay_run resumed = {.replay = replay};
    tide_status status = run_script(&resumed, &replay->options->new_script, &options, err);
    if (status == TIDE_OK) compare_split(replay, split, old_run, fresh, &resumed, out);
    lines_deinit(&resumed.lines);
    if (status != TIDE_ERR_REFUSED) return status;
    struct strbuf text = {0};
    tide__strbuf_printf(&text, "after row %llu: refused: %s\n", (unsigned long long)replay->splits[split],
                        err->message);
    put(replay, &text);
    tide__strbuf_deinit(&text);
    out->refused++;
    return TIDE_OK;
}

static tide_status replay_all(struct replay *replay, struct replay_run *old_run, struct replay_run *fresh,
                              tide_replay_result *out, tide_error *err) {
    TIDE_TRY(choose_splits(replay, err));
    size_t n = replay->split_count;
    old_run->reached = ARENA_ARRAY(&replay->arena, bool, n);
    old_run->marks = ARENA_ARRAY(&replay->arena, size_t, n);
    fresh->reached = ARENA_ARRAY(&replay->arena, bool, n);
    fresh->marks = ARENA_ARRAY(&replay->arena, size_t, n);
    old_run->watermarks = ARENA_ARRAY(&replay->arena, int64_t, n);
    fresh->watermarks = ARENA_ARRAY(&replay->arena, int64_t, n);
    old_run->savepoints = true;
    tide_options options = run_options(replay);
    TIDE_TRY(run_script(old_run, &replay->options->old_script, &options, err));
    TIDE_TRY(run_script(fresh, &replay->options->new_script, &options, err));
    for (size_t i = 0; i < n; i++) {
        if (!old_run->reached[i] || !fresh->reached[i]) continue;
        TIDE_TRY(replay_split(replay, i, old_run, fresh, out, err));
        out->unchanged += prints_the_same(replay, i, old_run, fresh);
    }
    if (out->same + out->differ + out->refused + out->not_compared > 0) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_OPTION, "the input ended before the row after which a savepoint should be taken");
}

static tide_status make_folder(struct replay *replay, tide_error *err) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0') base = "/tmp";
    char *folder = tide__arena_printf(&replay->arena, "%s/tidemark-replay-XXXXXX", base);
    if (mkdtemp(folder) == NULL) return tide__fail_errno(err, errno, "can't make a temporary folder in %s", base);
    replay->folder = folder;
    return TIDE_OK;
}

static void remove_folder(struct replay *replay) {
    if (replay->folder == NULL) return;
    for (size_t i = 0; i < replay->split_count; i++) unlink(savepoint_path(replay, i));
    rmdir(replay->folder);
}

tide_status tide_check_replay(const tide_replay *options, tide_write_fn *write, void *ctx, tide_replay_result *out,
                              tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    *out = (tide_replay_result){0};
    struct replay replay = {.options = options, .write = write, .write_ctx = ctx};
    tide__arena_init(&replay.arena);
    struct replay_run old_run = {.replay = &replay}, fresh = {.replay = &replay};
    tide_status status = make_folder(&replay, err);
    if (status == TIDE_OK) status = replay_all(&replay, &old_run, &fresh, out, err);
    lines_deinit(&old_run.lines);
    lines_deinit(&fresh.lines);
    remove_folder(&replay);
    tide__arena_deinit(&replay.arena);
    return status;
}
