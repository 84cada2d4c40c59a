// The CSV format's table of functions, and what is decided when a table is opened.
#include "base/alloc.h"
#include "engine/formats/csv.h"
#include "engine/formats/line.h"

#include <assert.h>
#include <string.h>

static tide_status check_column(const struct table_column *column, tide_error *err) {
    struct csv_options options = {0};
    struct csv_field field = {0};
    bool ok = tide__csv_field_init(&field, column->type);
    if (ok && field.kind == CSV_NESTED) ok = tide__csv_nested_init(&field, &options);
    tide__free(field.elements);
    if (ok) return TIDE_OK;
    struct arena arena;
    tide__arena_init(&arena);
    const char *text = tide__type_text(&arena, column->type);
    if (column->type->kind == TYPE_TIME) {
        tide__fail_at(err, TIDE_ERR_PLAN, column->pos, "csv has times to the millisecond; column \"%s\" is %s",
                      column->name, text);
        tide__fail_hint(err, "use TIME(3)");
    } else {
        tide__fail_at(err, TIDE_ERR_PLAN, column->pos, "csv can't hold column \"%s\" of type %s", column->name, text);
    }
    tide__arena_deinit(&arena);
    return TIDE_ERR_PLAN;
}

static tide_status csv_validate(const struct table *table, enum format_use use, tide_error *err) {
    struct csv_options options;
    TIDE_TRY(tide__csv_options(table, &options, err));
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == TABLE_COLUMN_PHYSICAL) TIDE_TRY(check_column(&table->columns[i], err));
    }
    return TIDE_OK;
}

static void csv_reader_close(struct format_reader *reader) {
    if (reader == NULL) return;
    tide__free(reader->fields);
    tide__free(reader);
}

static tide_status csv_reader_open(const struct format_env *env, struct format_reader **out, tide_error *err) {
    *out = NULL;
    struct csv_options options;
    TIDE_TRY(tide__csv_options(env->table, &options, err));
    struct format_reader *reader = tide__calloc(1, sizeof(*reader));
    reader->options = options;
    reader->table = env->table;
    reader->field_count = env->field_count;
    reader->read_count = env->read_count;
    reader->fields = tide__calloc(env->field_count + 1, sizeof(*reader->fields));
    for (uint32_t i = 0; i < env->read_count; i++) {
        const struct format_read *read = &env->reads[i];
        assert(read->position < env->field_count);
        struct csv_field *field = &reader->fields[read->position];
        field->position = read->position;
        field->read = i;
        field->name = read->name;
        if (!tide__csv_field_init(field, read->type)) {
            csv_reader_close(reader);
            return tide__fail(err, TIDE_ERR_PLAN, "csv can't hold column \"%s\"", read->name);
        }
    }
    *out = reader;
    return TIDE_OK;
}

static size_t csv_split(const struct format_reader *reader, const char *data, size_t len, bool at_end) {
    return tide__csv_split(&reader->options, data, len, at_end);
}

bool tide__partition_value(const struct type *type, struct str text, struct arena *arena, struct column *column,
                           size_t row) {
    struct csv_field field = {.column = *column};
    return tide__csv_field_init(&field, type) && field.kind != CSV_NESTED &&
           tide__csv_cell(&field, text, arena, row) == CSV_CELL_OK;
}

const struct format_class tide__csv_format = {
    .name = "csv",
    .options = tide__csv_option_names,
    .validate = csv_validate,
    .reader_open = csv_reader_open,
    .split = csv_split,
    .reader_close = csv_reader_close,
    .parser_new = tide__csv_parser_new,
    .parse = tide__csv_parse,
    .parse_value = tide__partition_value,
    .parser_free = tide__csv_parser_free,
    .writer_open = tide__csv_writer_open,
    .write = tide__csv_write,
    .writer_close = tide__csv_writer_close,
};
