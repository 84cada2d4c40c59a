// From a piece of a block to a batch: parse the columns, compute the outputs and the watermark.
//
// Everything here runs in any number of threads side by side, so nothing depends on rows before. A row that fails ends
// the batch before it and leaves its error in the batch, to be told when the row's turn comes. An expression's failure does
// not say which row it was; the longest prefix without failure is found by bisection, once.
#include "base/alloc.h"
#include "base/time.h"
#include "engine/connectors/source.h"

#include <assert.h>
#include <string.h>
#include <time.h>

// Flink's words for what it knows about a file.
static const struct {
    const char *key;
    enum read_kind kind;
} metadata[] = {
    {"file.path", READ_PATH},
    {"file.name", READ_NAME},
    {"file.size", READ_SIZE},
    {"file.modification-time", READ_MODIFIED},
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool partition_index(const struct table *table, uint32_t column, uint32_t *out) {
    for (uint32_t i = 0; i < table->partition_key_count; i++) {
        if (table->partition_keys[i] != column) continue;
        *out = i;
        return true;
    }
    return false;
}

// How column `index` of the table is read. `position`: its place in the file's rows, if it is one of their fields.
static void init_read(struct scan *scan, const struct table *table, uint32_t index, uint32_t position,
                      struct scan_read *out) {
    const struct table_column *column = &table->columns[index];
    out->column = column;
    if (column->kind == TABLE_COLUMN_METADATA) {
        const char *key = column->metadata_key != NULL ? column->metadata_key : column->name;
        for (size_t i = 0; i < sizeof(metadata) / sizeof(*metadata); i++) {
            if (strcmp(key, metadata[i].key) == 0) out->kind = metadata[i].kind;
        }
    } else if (partition_index(table, index, &out->index)) {
        out->kind = READ_PARTITION;
    } else {
        out->kind = READ_FIELD;
        out->index = scan->field_read_count;
        scan->field_reads[scan->field_read_count++] = (struct format_read){position, column->name, column->type};
    }
}

tide_status tide__scan_init(struct scan *scan, const struct source_env *env, tide_error *err) {
    const struct plan_scan *plan_scan = &env->node->scan;
    const struct table *table = plan_scan->table;
    *scan = (struct scan){.node = env->node, .plan = env->plan, .started_ms = now_ms()};
    scan->batch_rows_max = env->batch_rows_max > 0 ? env->batch_rows_max : 1;
    const struct option *format = tide__table_option(table, "format");
    scan->format = format != NULL ? tide__format_find(format->value) : NULL;
    if (tide__is_datagen(table)) scan->format = &tide__datagen_format;
    const struct row_source_class *row_source = tide__row_source_find(env->row_sources, table);
    if (row_source != NULL) scan->format = &tide__row_source_format;
    if (scan->format == NULL) return tide__fail(err, TIDE_ERR_PLAN, "table \"%s\" has no known 'format'", table->name);
    scan->field_reads = tide__calloc(plan_scan->read_count + 1, sizeof(*scan->field_reads));
    scan->reads = tide__calloc(plan_scan->read_count + 1, sizeof(*scan->reads));
    uint32_t position = 0, next = 0, partition = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        for (uint32_t r = next; r < plan_scan->read_count; r++) {
            if (plan_scan->reads[r] == i) init_read(scan, table, i, position, &scan->reads[r]);
        }
        position += table->columns[i].kind == TABLE_COLUMN_PHYSICAL && !partition_index(table, i, &partition);
    }
    struct format_env format_env = {table, position, scan->field_read_count, scan->field_reads};
    if (row_source != NULL)
        return tide__row_source_open(row_source, env->script_dir, &format_env, &scan->format_reader, err);
    return scan->format->reader_open(&format_env, &scan->format_reader, err);
}

void tide__scan_deinit(struct scan *scan) {
    if (scan->format_reader != NULL) scan->format->reader_close(scan->format_reader);
    tide__free(scan->field_reads);
    tide__free(scan->reads);
    *scan = (struct scan){0};
}

void tide__scan_parser_init(struct scan_parser *parser, const struct scan *scan) {
    parser->scan = scan;
    parser->parser = scan->format->parser_new(scan->format_reader);
}

void tide__scan_parser_deinit(struct scan_parser *parser) {
    if (parser->parser != NULL) parser->scan->format->parser_free(parser->parser);
    parser->parser = NULL;
}

// --- errors -----------------------------------------------------------------------------------------------------

static tide_error *new_error(struct parsed_batch *out, bool in_data) {
    if (out->error == NULL) out->error = tide__alloc(sizeof(*out->error));
    out->error_in_data = in_data;
    tide__error_clear(out->error);
    return out->error;
}

// Names the file and the line of an error at an offset of the block, and shows the line.
static void locate(tide_error *error, const struct input_file *file, const struct source_block *block, size_t place) {
    const char *data = block->bytes.data;
    size_t len = block->bytes.len, from = place, to = place;
    while (from > 0 && data[from - 1] != '\n' && data[from - 1] != '\r') from--;
    while (to < len && data[to] != '\n' && data[to] != '\r') to++;
    uint32_t line = 1;
    for (size_t i = 0; i < from; i++) line += data[i] == '\n' || (data[i] == '\r' && data[i + 1] != '\n');
    tide__error_set_file(error, file->path);
    error->line = 1;
    error->column = (uint32_t)tide__utf8_length((struct str){data + from, place - from}) + 1;
    tide__error_set_excerpt(error, data + from, to - from);
    error->line = line;
}

static void format_error(const struct format_fault *fault, const struct input_file *file,
                         const struct source_block *block, struct parsed_batch *out) {
    tide_error *error = new_error(out, true);
    tide__fail(error, TIDE_ERR_RUNTIME, "%s", fault->message);
    if (fault->hint[0] != '\0') tide__fail_hint(error, "%s", fault->hint);
    locate(error, file, block, fault->place);
}

// --- columns that are the same for a whole file -----------------------------------------------------------------

static void repeat_value(struct column *column, size_t rows) {
    size_t size = tide__physical_size(column->physical);
    for (size_t i = 1; i < rows; i++) memcpy((char *)column->data + i * size, column->data, size);
    if (column->nulls != NULL) memset(column->nulls, column->nulls[0], rows);
}

static struct str file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return tide__str(slash != NULL ? slash + 1 : path);
}

static void file_column(const struct scan *scan, const struct scan_read *read, const struct input_file *file,
                        size_t rows, struct arena *arena, struct column *out) {
    tide__column_init(out, read->column->type, rows, read->kind == READ_PARTITION, arena);
    if (rows == 0) return;
    switch (read->kind) {
    case READ_FIELD: assert(!"not of the file"); break;
    case READ_PATH: out->str[0] = tide__str(file->open_path); break;
    case READ_NAME: out->str[0] = file_name(file->path); break;
    case READ_SIZE: out->i64[0] = (int64_t)file->size; break;
    case READ_MODIFIED:
        if (out->physical == PHYSICAL_TIME) {
            out->time[0] = (struct timestamp){file->modified_ms, 0};
        } else {
            out->i64[0] = file->modified_ms;
        }
        break;
    case READ_PARTITION: {
        const char *value = file->partition_values != NULL ? file->partition_values[read->index] : NULL;
        bool ok = value != NULL && scan->format->parse_value(read->column->type, tide__str(value), arena, out, 0);
        if (!ok) memset(out->data, 0, tide__physical_size(out->physical));
        out->nulls[0] = !ok;
        break;
    }
    }
    repeat_value(out, rows);
}

// --- computed columns -------------------------------------------------------------------------------------------

static tide_status eval_all(const struct scan *scan, struct eval_context *ctx, const struct batch *in,
                            struct column *outputs, struct column *watermark, tide_error *err) {
    const struct plan_scan *plan_scan = &scan->node->scan;
    for (uint32_t i = 0; i < scan->node->field_count; i++) {
        TIDE_TRY(tide__eval(ctx, plan_scan->outputs[i], in, &outputs[i], err));
    }
    if (plan_scan->watermark != NULL) TIDE_TRY(tide__eval(ctx, plan_scan->watermark, in, watermark, err));
    return TIDE_OK;
}

// The first row at which an expression fails, given that one does; err tells why.
static size_t failing_row(const struct scan *scan, struct eval_context *ctx, struct batch in, struct column *outputs,
                          struct column *watermark, tide_error *err) {
    size_t good = 0, bad = in.rows;
    while (bad - good > 1) {
        in.rows = good + (bad - good) / 2;
        tide_error ignored;
        tide__error_clear(&ignored);
        if (eval_all(scan, ctx, &in, outputs, watermark, &ignored) == TIDE_OK) {
            good = in.rows;
        } else {
            bad = in.rows;
        }
    }
    in.rows = bad;
    tide__error_clear(err);
    (void)!eval_all(scan, ctx, &in, outputs, watermark, err);
    return bad - 1;
}

// Row of the first NULL in the time attribute, or `rows`. Sets the smallest time before it.
static size_t check_times(const struct column *time, size_t rows, int64_t *out_min) {
    size_t end = rows;
    if (time->nulls != NULL) {
        const uint8_t *null = memchr(time->nulls, 1, rows);
        if (null != NULL) end = (size_t)(null - time->nulls);
    }
    int64_t min = INT64_MAX;
    if (time->physical == PHYSICAL_I64) {
        for (size_t i = 0; i < end; i++) min = time->i64[i] < min ? time->i64[i] : min;
    } else {
        for (size_t i = 0; i < end; i++) min = time->time[i].ms < min ? time->time[i].ms : min;
    }
    *out_min = end > 0 ? min : INT64_MIN;
    return end;
}

// The smallest non-NULL time, for scans that let NULL pass.
static int64_t time_min(const struct column *time, size_t rows) {
    int64_t min = INT64_MAX;
    for (size_t i = 0; i < rows; i++) {
        if (tide__column_is_null(time, i)) continue;
        int64_t ms = time->physical == PHYSICAL_I64 ? time->i64[i] : time->time[i].ms;
        if (ms < min) min = ms;
    }
    return min != INT64_MAX ? min : INT64_MIN;
}

static void null_time_error(const struct scan *scan, const struct input_file *file, const struct source_block *block,
                            struct parsed_batch *out, size_t row) {
    tide_error *error = new_error(out, true);
    tide__fail(error, TIDE_ERR_RUNTIME, "the event time in column \"%s\" is NULL",
               scan->node->fields[scan->node->scan.time_column].name);
    tide__fail_hint(error,
                    "a row without event time belongs to no window: correct the line or take it out of the input");
    size_t place = row > 0 ? out->row_ends[row - 1] : out->start;
    locate(error, file, block, place);
}

static void take_watermarks(struct parsed_batch *out, const struct column *watermark, size_t rows) {
    out->batch.watermark_nulls = watermark->nulls;
    out->batch.watermarks = watermark->i64;
    if (watermark->physical != PHYSICAL_TIME) return;
    int64_t *ms = tide__arena_alloc(&out->batch.arena, rows * sizeof(*ms) + 1);
    for (size_t i = 0; i < rows; i++) ms[i] = watermark->time[i].ms;
    out->batch.watermarks = ms;
}

static void compute(const struct scan *scan, const struct input_file *file, const struct source_block *block,
                    struct batch in, struct parsed_batch *out) {
    const struct plan_scan *plan_scan = &scan->node->scan;
    struct arena *arena = &out->batch.arena;
    struct eval_context ctx = {.zone = scan->plan->settings.zone, .watermark = WATERMARK_NONE, .scratch = arena};
    ctx.now_ms = scan->plan->settings.batch_mode ? scan->started_ms : now_ms();
    struct column *outputs = ARENA_ARRAY(arena, struct column, scan->node->field_count + 1);
    struct column watermark = {0};
    tide_error err;
    tide__error_clear(&err);
    if (in.rows > 0 && eval_all(scan, &ctx, &in, outputs, &watermark, &err) != TIDE_OK) {
        in.rows = failing_row(scan, &ctx, in, outputs, &watermark, &err);
        *new_error(out, false) = err;
        if (in.rows > 0 && eval_all(scan, &ctx, &in, outputs, &watermark, &err) != TIDE_OK) in.rows = 0;
    }
    out->batch.time_min = INT64_MIN;
    if (plan_scan->time_column >= 0 && in.rows > 0) {
        const struct column *time = &outputs[plan_scan->time_column];
        if (plan_scan->time_column_needed) {
            size_t rows = check_times(time, in.rows, &out->batch.time_min);
            if (rows < in.rows) null_time_error(scan, file, block, out, rows);
            in.rows = rows;
        } else {
            out->batch.time_min = time_min(time, in.rows);
        }
    }
    out->batch.batch = (struct batch){.rows = in.rows, .column_count = scan->node->field_count, .columns = outputs};
    if (plan_scan->watermark != NULL && in.rows > 0) take_watermarks(out, &watermark, in.rows);
}

void tide__scan_parse(struct scan_parser *parser, const struct input_file *file, struct source_block *block,
                      struct parsed_batch *out) {
    const struct scan *scan = parser->scan;
    struct arena *arena = &out->batch.arena;
    uint32_t read_count = scan->node->scan.read_count;
    out->block = block;
    out->start = block->bytes.at;
    struct column *fields = ARENA_ARRAY(arena, struct column, scan->field_read_count + 1);
    for (uint32_t i = 0; i < scan->field_read_count; i++) {
        fields[i].type = scan->field_reads[i].type;
        fields[i].physical = tide__type_physical(fields[i].type);
    }
    struct format_rows rows = {.columns = fields};
    scan->format->parse(parser->parser, &block->bytes, scan->batch_rows_max, arena, &rows);
    out->row_ends = rows.row_ends;
    out->skips = rows.skips;
    out->skip_count = rows.skip_count;
    out->end = block->bytes.at;
    out->lines_after = block->bytes.lines;
    if (rows.fault.is_set) format_error(&rows.fault, file, block, out);
    const tide_error *failure = scan->format == &tide__row_source_format ? tide__row_source_failure(scan->format_reader)
                                                                         : NULL;
    if (failure != NULL) *new_error(out, false) = *failure;
    struct batch in = {.rows = rows.rows, .column_count = read_count};
    in.columns = ARENA_ARRAY(arena, struct column, read_count + 1);
    for (uint32_t i = 0; i < read_count; i++) {
        const struct scan_read *read = &scan->reads[i];
        if (read->kind == READ_FIELD) {
            in.columns[i] = fields[read->index];
        } else {
            file_column(scan, read, file, rows.rows, arena, &in.columns[i]);
        }
    }
    compute(scan, file, block, in, out);
}
