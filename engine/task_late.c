// Keeping late rows: SET 'tidemark.late-data.path' = 'FOLDER' writes each dropped row to CSV files there, with the operator,
// the window it would have been in, the watermark that had passed, and the reason. The files are made by the filesystem
// sink under the checkpoints of the job, so that they too hold each row exactly once.
#include "engine/task_late.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/expr/eval.h"
#include "engine/operator.h"

#include <string.h>

enum { LATE_COLUMNS = 6 };

struct late_sink {
    struct arena arena;    // table and node
    struct arena scratch;  // one row
    struct table table;
    struct plan_node node;
    struct sink *sink;
    const struct zone *zone;
    struct strbuf prepared;
    tide_error failure;  // of a write: tide__late_row can't return it
};

static void put_option(struct late_sink *late, uint32_t i, const char *key, const char *value) {
    late->table.options[i].key = tide__str(key);
    late->table.options[i].value = tide__str(value);
}

// The table that an INSERT INTO would write to.
static void describe(struct late_sink *late, const char *path) {
    static const char *const names[LATE_COLUMNS] = {"operator",  "window_start", "window_end",
                                                    "watermark", "reason",       "row"};
    struct arena *arena = &late->arena;
    struct type *text = ARENA_NEW(arena, struct type), *time = ARENA_NEW(arena, struct type);
    *text = tide__type_make(TYPE_VARCHAR, true);
    *time = tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0);
    struct plan_field *fields = ARENA_ARRAY(arena, struct plan_field, LATE_COLUMNS);
    uint32_t *columns = ARENA_ARRAY(arena, uint32_t, LATE_COLUMNS);
    late->table = (struct table){.name = "late data", .column_count = LATE_COLUMNS, .option_count = 3};
    late->table.columns = ARENA_ARRAY(arena, struct table_column, LATE_COLUMNS);
    late->table.options = ARENA_ARRAY(arena, struct option, 3);
    for (uint32_t i = 0; i < LATE_COLUMNS; i++) {
        const struct type *type = i >= 1 && i <= 3 ? time : text;
        late->table.columns[i] = (struct table_column){.name = names[i], .type = type};
        fields[i] = (struct plan_field){names[i], type};
        columns[i] = i;
    }
    put_option(late, 0, "connector", "filesystem");
    put_option(late, 1, "path", path);
    put_option(late, 2, "format", "csv");
    late->node = (struct plan_node){
        .kind = PLAN_SINK, .operator_id = LATE_PART, .field_count = LATE_COLUMNS, .fields = fields};
    late->node.sink = (struct plan_sink){.kind = SINK_TABLE, .table = &late->table, .columns = columns};
}

tide_status tide__late_open(const struct plan *plan, const char *script_dir, const char *run_id, struct late_sink **out,
                            tide_error *err) {
    *out = NULL;
    if (plan->settings.late_data_path == NULL) return TIDE_OK;
    struct late_sink *late = tide__calloc(1, sizeof *late);
    tide__arena_init(&late->arena);
    tide__arena_init(&late->scratch);
    tide__error_clear(&late->failure);
    late->zone = plan->settings.zone;
    describe(late, plan->settings.late_data_path);
    // The run's name with an "l": the folder may be one that a table of the job writes to as well.
    const char *name = run_id != NULL ? tide__arena_printf(&late->arena, "%sl", run_id) : NULL;
    struct sink_env env = {.plan = plan, .node = &late->node, .script_dir = script_dir, .run_id = name};
    tide_status status = tide__sink_class(STR_LIT("filesystem"))->open(&env, &late->sink, err);
    if (status == TIDE_OK) {
        *out = late;
    } else {
        tide__late_close(late);
    }
    return status;
}

void tide__late_close(struct late_sink *late) {
    if (late == NULL) return;
    if (late->sink != NULL) late->sink->class->close(late->sink);
    tide__strbuf_deinit(&late->prepared);
    tide__arena_deinit(&late->scratch);
    tide__arena_deinit(&late->arena);
    tide__free(late);
}

// --- rows ---------------------------------------------------------------------------------------------------------------

static void put_json_string(struct str s, struct strbuf *out) {
    tide__strbuf_append_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c == '"' || c == '\\') tide__strbuf_append_char(out, '\\');
        if (c < 0x20)
            tide__strbuf_printf(out, "\\u%04x", c);
        else
            tide__strbuf_append_char(out, (char)c);
    }
    tide__strbuf_append_char(out, '"');
}

// The row as one JSON object of texts, as Flink's client displays the values.
static struct str row_text(struct late_sink *late, const struct plan_node *node, const struct batch *batch,
                           size_t row) {
    struct strbuf out = {0}, value = {0};
    const struct plan_node *input = node->input_count > 0 ? node->inputs[0] : NULL;
    tide__strbuf_append_char(&out, '{');
    for (size_t c = 0; c < batch->column_count; c++) {
        if (c > 0) tide__strbuf_append_char(&out, ',');
        put_json_string(tide__str(input != NULL && c < input->field_count ? input->fields[c].name : "?"), &out);
        tide__strbuf_append_char(&out, ':');
        if (tide__column_is_null(&batch->columns[c], row)) {
            tide__strbuf_append_c(&out, "null");
            continue;
        }
        tide__strbuf_clear(&value);
        tide__value_display_in_zone(&batch->columns[c], row, late->zone, &value);
        put_json_string(tide__strbuf_str(&value), &out);
    }
    tide__strbuf_append_char(&out, '}');
    struct str text = {tide__arena_strndup(&late->scratch, out.data, out.len), out.len};
    tide__strbuf_deinit(&value);
    tide__strbuf_deinit(&out);
    return text;
}

static void write_row(struct late_sink *late, const struct operator *op, const struct batch *batch, size_t row,
                      int64_t window_start, int64_t window_end) {
    tide__arena_reset(&late->scratch);
    struct batch out = {.rows = 1, .column_count = LATE_COLUMNS};
    out.columns = ARENA_ARRAY(&late->scratch, struct column, LATE_COLUMNS);
    for (uint32_t i = 0; i < LATE_COLUMNS; i++)
        tide__column_init(&out.columns[i], late->node.fields[i].type, 1, 1, &late->scratch);
    bool window = window_end > window_start;
    out.columns[0].str[0] = tide__str(op->node->operator_id);
    out.columns[1].i64[0] = window_start;
    out.columns[2].i64[0] = window_end;
    out.columns[1].nulls[0] = out.columns[2].nulls[0] = !window;
    out.columns[3].i64[0] = op->watermark;
    out.columns[3].nulls[0] = op->watermark == WATERMARK_END || op->watermark == WATERMARK_NONE;
    out.columns[4].str[0] = window ? STR_LIT("the watermark had passed the window's last instant")
                                   : STR_LIT("the watermark had passed the row's time");
    out.columns[5].str[0] = row_text(late, op->node, batch, row);
    late->sink->class->write(late->sink, &out, &late->failure);
}

void tide__late_row(struct operator *op, struct late_sink *late, const struct batch *batch, size_t row,
                    int64_t window_start, int64_t window_end) {
    op->stats.late_rows++;
    if (late != NULL && late->failure.status == TIDE_OK) write_row(late, op, batch, row, window_start, window_end);
}

tide_status tide__late_check(const struct late_sink *late, tide_error *err) {
    if (late == NULL || late->failure.status == TIDE_OK) return TIDE_OK;
    if (err != NULL) *err = late->failure;
    return late->failure.status;
}

// --- checkpoints ----------------------------------------------------------------------------------------------------------

tide_status tide__late_prepare(struct late_sink *late, struct strbuf *out, tide_error *err) {
    return late->sink->class->prepare(late->sink, out, err);
}

tide_status tide__late_commit(struct late_sink *late, struct str prepared, tide_error *err) {
    return late->sink->class->commit(late->sink, prepared, err);
}

tide_status tide__late_restore(struct late_sink *late, struct str prepared, tide_error *err) {
    return late->sink->class->restore(late->sink, prepared, err);
}

tide_status tide__late_finish(struct late_sink *late, tide_error *err) {
    return late->sink->class->finish(late->sink, err);
}
