// The JSON format's table of functions, and what is decided when a table is opened.
#include "base/alloc.h"
#include "engine/formats/java_text.h"
#include "engine/formats/json.h"
#include "engine/formats/line.h"

#include <string.h>

static const struct type count_type = {.kind = TYPE_INT};

struct json_field *tide__json_field(struct arena *arena, struct str name, const struct type *type,
                                    const char **out_why) {
    struct json_field *field = ARENA_NEW(arena, struct json_field);
    *field = (struct json_field){.name = name, .type = type};
    bool pairs = type->kind == TYPE_MAP || type->kind == TYPE_MULTISET;
    if (pairs && !tide__type_is_string(type->children[0].type)) {
        *out_why = tide__arena_printf(arena, "json has names for keys, so the keys of a %s must be strings",
                                      type->kind == TYPE_MAP ? "MAP" : "MULTISET");
        return NULL;
    }
    field->child_count = pairs ? 2 : type->child_count;
    field->children = ARENA_ARRAY(arena, struct json_field, field->child_count + 1);
    for (uint32_t i = 0; i < field->child_count; i++) {
        bool counted = i >= type->child_count;
        const char *child_name = counted ? NULL : type->children[i].name;
        const struct type *child = counted ? &count_type : type->children[i].type;
        struct json_field *made = tide__json_field(arena, tide__str(child_name != NULL ? child_name : ""), child,
                                                   out_why);
        if (made == NULL) return NULL;
        field->children[i] = *made;
    }
    return field;
}

static bool has_decimal(const struct type *type) {
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (has_decimal(type->children[i].type)) return true;
    }
    return type->kind == TYPE_DECIMAL;
}

static tide_status json_validate(const struct table *table, enum format_use use, tide_error *err) {
    struct json_options options;
    TIDE_TRY(tide__json_options(table, use, &options, err));
    struct arena arena;
    tide__arena_init(&arena);
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < table->column_count && status == TIDE_OK; i++) {
        const struct table_column *column = &table->columns[i];
        const char *why = NULL;
        if (column->kind != TABLE_COLUMN_PHYSICAL) continue;
        if (tide__json_field(&arena, tide__str(column->name), column->type, &why) != NULL) continue;
        status = tide__fail_at(err, TIDE_ERR_PLAN, column->pos, "column \"%s\" of type %s: %s", column->name,
                               tide__type_text(&arena, column->type), why);
    }
    tide__arena_deinit(&arena);
    return status;
}

static void json_reader_close(struct format_reader *reader) {
    if (reader == NULL) return;
    tide__arena_deinit(&reader->arena);
    tide__free(reader);
}

static tide_status json_reader_open(const struct format_env *env, struct format_reader **out, tide_error *err) {
    *out = NULL;
    struct json_options options;
    TIDE_TRY(tide__json_options(env->table, FORMAT_READ, &options, err));
    struct format_reader *reader = tide__calloc(1, sizeof(*reader));
    tide__arena_init(&reader->arena);
    reader->options = options;
    reader->table = env->table;
    reader->field_count = env->read_count;
    reader->fields = ARENA_ARRAY(&reader->arena, struct json_field, env->read_count + 1);
    for (uint32_t i = 0; i < env->read_count; i++) {
        const struct format_read *read = &env->reads[i];
        const char *why = NULL;
        struct json_field *field = tide__json_field(&reader->arena, tide__str(read->name), read->type, &why);
        if (field == NULL) {
            tide__fail(err, TIDE_ERR_PLAN, "column \"%s\": %s", read->name, why);
            json_reader_close(reader);
            return TIDE_ERR_PLAN;
        }
        reader->fields[i] = *field;
        reader->has_decimal |= has_decimal(read->type);
    }
    *out = reader;
    return TIDE_OK;
}

static size_t json_split(const struct format_reader *reader, const char *data, size_t len, bool at_end) {
    return tide__line_split(data, len);
}

const struct format_class tide__json_format = {
    .name = "json",
    .options = tide__json_option_names,
    .validate = json_validate,
    .reader_open = json_reader_open,
    .split = json_split,
    .reader_close = json_reader_close,
    .parser_new = tide__json_parser_new,
    .parse = tide__json_parse_rows,
    .parse_value = tide__partition_value,
    .parser_free = tide__json_parser_free,
    .writer_open = tide__json_writer_open,
    .write = tide__json_write,
    .writer_close = tide__json_writer_close,
};
