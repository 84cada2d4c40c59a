// Plans and folders for tests, made by hand.
#include "table_builder.h"

#include "base/alloc.h"
#include "engine/expr/eval.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    enum type_kind kind;
} kinds[] = {
    {"BOOLEAN", TYPE_BOOLEAN}, {"TINYINT", TYPE_TINYINT},     {"SMALLINT", TYPE_SMALLINT},
    {"INT", TYPE_INT},         {"BIGINT", TYPE_BIGINT},       {"FLOAT", TYPE_FLOAT},
    {"DOUBLE", TYPE_DOUBLE},   {"DECIMAL", TYPE_DECIMAL},     {"CHAR", TYPE_CHAR},
    {"STRING", TYPE_VARCHAR},  {"BYTES", TYPE_VARBINARY},     {"DATE", TYPE_DATE},
    {"TIME", TYPE_TIME},       {"TIMESTAMP", TYPE_TIMESTAMP}, {"LTZ", TYPE_TIMESTAMP_LTZ},
    {"MAP", TYPE_MAP},         {"ARRAY", TYPE_ARRAY},         {"ROW", TYPE_ROW},
};

static const struct type *parse_type(struct arena *arena, const char *text) {
    char name[32] = "";
    int precision = -1, scale = 0;
    sscanf(text, "%31[A-Z](%d,%d", name, &precision, &scale);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(name, kinds[i].name) != 0) continue;
        struct type type = tide__type_make(kinds[i].kind, true);
        if (precision >= 0) type = tide__type_make_sized(kinds[i].kind, true, precision, scale);
        bool nested = type.kind == TYPE_MAP || type.kind == TYPE_ARRAY || type.kind == TYPE_ROW;
        if (nested) {
            // Of INT; a ROW is <x INT, y STRING>.
            struct type_child *children = ARENA_ARRAY(arena, struct type_child, 2);
            children[0] = (struct type_child){type.kind == TYPE_ROW ? "x" : NULL, parse_type(arena, "INT")};
            children[1] = (struct type_child){"y", parse_type(arena, type.kind == TYPE_ROW ? "STRING" : "INT")};
            type.child_count = type.kind == TYPE_ARRAY ? 1 : 2;
            type.children = children;
        }
        return tide__type_copy(arena, &type);
    }
    fprintf(stderr, "no type %s\n", text);
    abort();
}

struct table *build_table(struct arena *arena, const char *columns, const char *const *options) {
    struct table *table = ARENA_NEW(arena, struct table);
    table->name = "t";
    table->pos = (struct source_pos){1, 14, 13, 1};
    table->columns = ARENA_ARRAY(arena, struct table_column, 32);
    char *copy = tide__arena_strndup(arena, columns, strlen(columns)), *state = NULL;
    for (char *part = strtok_r(copy, ";", &state); part != NULL; part = strtok_r(NULL, ";", &state)) {
        char name[32], type[64], extra[64] = "";
        if (sscanf(part, " %31s %63s %63s", name, type, extra) < 2) abort();
        struct table_column *column = &table->columns[table->column_count++];
        column->name = tide__arena_strndup(arena, name, strlen(name));
        column->type = parse_type(arena, type);
        if (strncmp(extra, "METADATA:", 9) == 0) {
            column->kind = TABLE_COLUMN_METADATA;
            column->metadata_key = tide__arena_strndup(arena, extra + 9, strlen(extra) - 9);
        } else if (strcmp(extra, "PARTITION") == 0) {
            if (table->partition_keys == NULL) table->partition_keys = ARENA_ARRAY(arena, uint32_t, 32);
            table->partition_keys[table->partition_key_count++] = table->column_count - 1;
        }
    }
    table->options = ARENA_ARRAY(arena, struct option, 32);
    for (; options != NULL && options[0] != NULL; options += 2) {
        struct option *option = &table->options[table->option_count++];
        option->key = tide__str(options[0]);
        option->value = tide__str(options[1]);
        option->key_pos = (struct source_pos){table->option_count + 1, 3, 0, 1};
        option->value_pos = (struct source_pos){table->option_count + 1, 30, 0, 1};
    }
    return table;
}

struct plan_node *build_scan(struct arena *arena, const struct table *table, int time_column) {
    struct plan_node *node = ARENA_NEW(arena, struct plan_node);
    node->kind = PLAN_SCAN;
    node->operator_id = "scan-1";
    node->field_count = table->column_count;
    node->fields = ARENA_ARRAY(arena, struct plan_field, table->column_count);
    node->scan.table = table;
    node->scan.read_count = table->column_count;
    node->scan.reads = ARENA_ARRAY(arena, uint32_t, table->column_count);
    node->scan.outputs = ARENA_ARRAY(arena, struct expr *, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        node->scan.reads[i] = i;
        node->fields[i] = (struct plan_field){table->columns[i].name, table->columns[i].type};
        node->scan.outputs[i] = tide__expr_column(arena, i, table->columns[i].type, (struct source_pos){0});
    }
    node->scan.time_column = time_column;
    if (time_column >= 0) {
        node->scan.watermark = node->scan.outputs[time_column];
        node->scan.time_column_needed = true;
    }
    return node;
}

struct plan *build_plan(struct arena *arena) {
    struct plan *plan = ARENA_NEW(arena, struct plan);
    plan->arena = arena;
    return plan;
}

struct plan_node *build_sink(struct arena *arena, const struct table *table) {
    struct plan_node *node = ARENA_NEW(arena, struct plan_node);
    node->kind = PLAN_SINK;
    node->operator_id = "sink-1";
    node->field_count = table->column_count;
    node->fields = ARENA_ARRAY(arena, struct plan_field, table->column_count);
    node->sink.kind = SINK_TABLE;
    node->sink.table = table;
    node->sink.columns = ARENA_ARRAY(arena, uint32_t, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        node->sink.columns[i] = i;
        node->fields[i] = (struct plan_field){table->columns[i].name, table->columns[i].type};
    }
    return node;
}

void print_rows(const struct batch *batch, struct strbuf *out) {
    for (size_t row = 0; row < batch->rows; row++) {
        for (size_t c = 0; c < batch->column_count; c++) {
            if (c > 0) tide__strbuf_append_char(out, '|');
            if (tide__column_is_null(&batch->columns[c], row)) {
                tide__strbuf_append_c(out, "<NULL>");
            } else {
                tide__value_display(&batch->columns[c], row, out);
            }
        }
        tide__strbuf_append_char(out, '\n');
    }
}

char *make_folder(void) {
    char *folder = tide__strdup("/tmp/tide-test-XXXXXX");
    if (mkdtemp(folder) == NULL) abort();
    return folder;
}

void remove_folder(char *folder) {
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        struct strbuf path = {0};
        tide__strbuf_printf(&path, "%s/%s", folder, entry->d_name);
        if (unlink(path.data) != 0) {
            remove_folder(path.data);
        } else {
            tide__strbuf_deinit(&path);
        }
    }
    if (dir != NULL) closedir(dir);
    rmdir(folder);
    tide__free(folder);
}

void write_file(const char *folder, const char *name, const char *content, size_t len) {
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/%s", folder, name);
    FILE *file = fopen(path.data, "wb");
    if (file == NULL || fwrite(content, 1, len, file) != len || fclose(file) != 0) abort();
    tide__strbuf_deinit(&path);
}

static int visible_first(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

void read_folder(const char *folder, struct strbuf *out, size_t *out_visible, size_t *out_hidden) {
    *out_visible = *out_hidden = 0;
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, visible_first);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        struct strbuf path = {0};
        tide__strbuf_printf(&path, "%s/%s", folder, name);
        if (entries[i]->d_type == DT_DIR && name[0] != '.') {
            size_t visible = 0, hidden = 0;
            tide__strbuf_printf(out, "## %s\n", name);
            read_folder(path.data, out, &visible, &hidden);
            *out_visible += visible;
            *out_hidden += hidden;
        } else if (entries[i]->d_type == DT_REG) {
            *out_visible += name[0] != '.';
            *out_hidden += name[0] == '.';
            FILE *file = name[0] != '.' ? fopen(path.data, "rb") : NULL;
            for (int c; file != NULL && (c = fgetc(file)) != EOF;) tide__strbuf_append_char(out, (char)c);
            if (file != NULL) fclose(file);
        }
        tide__strbuf_deinit(&path);
        free(entries[i]);
    }
    free(entries);
}
