// The connector 'tidemark-savepoint'. See api/savepoint_source.h.
//
//   WITH ('connector' = 'tidemark-savepoint', 'path' = 'FILE OR STATE DIRECTORY', 'table' = 'window_aggregate_1')
//
// A column is found by its name and must have the type that the state has; those that are not declared are left out.
#include "api/savepoint_source.h"

#include "api/inspect.h"
#include "base/alloc.h"
#include "engine/connectors/filesystem.h"

#include <string.h>

struct row_source {
    struct arena arena;
    struct savepoint *own;  // opened here; NULL: shared
    struct savepoint *savepoint;
    uint32_t *wanted;
    size_t count;
    struct view_scan *scan;  // a state table; or
    struct batch facts;      // facts, given out from `at` on
    size_t at;
};

// --- options --------------------------------------------------------------------------------------------------------------------

static tide_status need(const struct table *table, const char *key, tide_error *err) {
    const struct option *option = tide__table_option(table, key);
    if (option != NULL && option->value.len > 0) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_VALIDATE, option != NULL ? option->value_pos : table->pos,
                  "table \"%s\" has no '%s' option", table->name, key);
    return tide__fail_hint(err, "%s",
                           strcmp(key, "path") == 0 ? "add 'path' = 'SAVEPOINT OR STATE DIRECTORY' to its WITH (...)"
                                                    : "add 'table' = 'OPERATOR' to its WITH (...)");
}

static tide_status validate(const struct row_source_class *class, const struct table *table, tide_error *err) {
    static const char *const names[] = {"connector", "path", "table"};
    (void)class;
    for (uint32_t i = 0; i < table->option_count; i++) {
        const struct option *option = &table->options[i];
        bool known = false;
        for (size_t n = 0; n < 3; n++) known |= tide__str_ieq_c(option->key, names[n]);
        if (known) continue;
        tide__fail_at(err, TIDE_ERR_VALIDATE, option->key_pos, "unknown option '%.*s'", STR_ARG(option->key));
        const char *near = tide__nearest(option->key, names, 3);
        return near != NULL ? tide__fail_hint(err, "did you mean '%s'?", near)
                            : tide__fail_hint(err, "connector 'tidemark-savepoint' has 'path' and 'table'");
    }
    TIDE_TRY(need(table, "path", err));
    return need(table, "table", err);
}

// --- open -----------------------------------------------------------------------------------------------------------------------

static tide_status open_savepoint(const struct savepoint_sources *sources, const struct table *table,
                                  const char *script_dir, struct row_source *source, tide_error *err) {
    struct str path = tide__table_option(table, "path")->value;
    if (sources->savepoint != NULL && tide__str_eq_c(path, sources->path)) {
        source->savepoint = sources->savepoint;
        return TIDE_OK;
    }
    char *full = tide__filesystem_path(script_dir, path);
    const char *found = NULL, *skipped = NULL;
    tide_status status = tide__api_savepoint_find(full, &source->arena, &source->own, &found, &skipped, err);
    tide__free(full);
    source->savepoint = source->own;
    return status;
}

static tide_status no_table(const struct table *table, const struct state_view *views, size_t count, tide_error *err) {
    const struct option *option = tide__table_option(table, "table");
    struct strbuf names = {0};
    for (size_t i = 0; i < count; i++) tide__strbuf_printf(&names, "%s, ", views[i].name);
    tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos, "the savepoint has no state table '%.*s'",
                  STR_ARG(option->value));
    tide__fail_hint(err, "there are %soperators, windows, sources, chunks", names.data != NULL ? names.data : "");
    tide__strbuf_deinit(&names);
    return TIDE_ERR_VALIDATE;
}

static tide_status no_column(const struct table *table, const char *name, tide_error *err) {
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            tide__fail_at(err, TIDE_ERR_VALIDATE, table->columns[i].pos, "the state table has no column \"%s\"", name);
    return tide__fail_hint(err, "tidemark inspect SAVEPOINT --sql 'DESCRIBE %.*s' tells them",
                           STR_ARG(tide__table_option(table, "table")->value));
}

static tide_status check_type(const struct table *table, const struct source_column *column, const struct type *type,
                              tide_error *err) {
    if (tide__type_same(column->type, type)) return TIDE_OK;
    struct arena arena;
    tide__arena_init(&arena);
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, column->name) == 0)
            tide__fail_at(err, TIDE_ERR_VALIDATE, table->columns[i].pos, "column \"%s\" of the state is %s, not %s",
                          column->name, tide__type_text(&arena, type), tide__type_text(&arena, column->type));
    tide__arena_deinit(&arena);
    return TIDE_ERR_VALIDATE;
}

static tide_status open_facts(struct row_source *source, const struct fact_table *facts, const struct table *table,
                              const struct source_column *columns, tide_error *err) {
    tide__fact_read(facts, tide__savepoint_info(source->savepoint), &source->arena, &source->facts);
    for (size_t i = 0; i < source->count; i++) {
        size_t c = 0;
        while (c < facts->column_count && strcmp(facts->columns[c].name, columns[i].name) != 0) c++;
        if (c == facts->column_count) return no_column(table, columns[i].name, err);
        TIDE_TRY(check_type(table, &columns[i], source->facts.columns[c].type, err));
        source->wanted[i] = (uint32_t)c;
    }
    return TIDE_OK;
}

static tide_status open_table(struct row_source *source, const struct table *table, const struct source_column *columns,
                              tide_error *err) {
    struct state_view *views;
    size_t count;
    tide__view_make_all(tide__savepoint_info(source->savepoint), &source->arena, &views, &count);
    struct str value = tide__table_option(table, "table")->value;
    const char *name = tide__arena_strndup(&source->arena, value.data, value.len);
    const struct fact_table *facts = tide__fact_table(name);
    if (facts != NULL) return open_facts(source, facts, table, columns, err);
    bool ambiguous;
    const struct state_view *view = tide__view_find(views, count, name, &ambiguous);
    if (view == NULL) return no_table(table, views, count, err);
    for (size_t i = 0; i < source->count; i++) {
        int c = tide__view_column(view, tide__str(columns[i].name));
        if (c < 0) return no_column(table, columns[i].name, err);
        TIDE_TRY(check_type(table, &columns[i], view->columns[c].type, err));
        source->wanted[i] = (uint32_t)c;
    }
    return tide__view_scan_open(source->savepoint, view, source->wanted, source->count, NULL, &source->scan, err);
}

static void close_source(struct row_source *source) {
    tide__view_scan_close(source->scan);
    tide__savepoint_close(source->own);
    tide__arena_deinit(&source->arena);
    tide__free(source);
}

static tide_status open_source(const struct row_source_class *class, const struct table *table, const char *script_dir,
                               const struct source_column *columns, size_t count, struct row_source **out,
                               tide_error *err) {
    *out = NULL;
    struct row_source *source = tide__calloc(1, sizeof *source);
    tide__arena_init(&source->arena);
    source->wanted = ARENA_ARRAY(&source->arena, uint32_t, count + 1);
    source->count = count;
    const struct savepoint_sources *sources = (const struct savepoint_sources *)(const void *)class;
    tide_status status = open_savepoint(sources, table, script_dir, source, err);
    if (status == TIDE_OK) status = open_table(source, table, columns, err);
    if (status != TIDE_OK) {
        close_source(source);
        return status;
    }
    *out = source;
    return TIDE_OK;
}

static tide_status read_rows(struct row_source *source, size_t rows_max, struct arena *arena, struct column *columns,
                             size_t *out_rows, tide_error *err) {
    if (source->scan != NULL) return tide__view_scan_next(source->scan, rows_max, arena, columns, out_rows, err);
    size_t left = source->facts.rows - source->at, rows = left < rows_max ? left : rows_max;
    struct batch slice = tide__batch_slice(&source->facts, source->at, rows, arena);
    for (size_t i = 0; i < source->count; i++) columns[i] = slice.columns[source->wanted[i]];
    source->at += rows;
    *out_rows = rows;
    return TIDE_OK;
}

#define CLASS                                                                                                          \
    {                                                                                                                  \
        .connector = "tidemark-savepoint", .validate = validate, .open = open_source, .read = read_rows,               \
        .close = close_source                                                                                          \
    }
static const struct savepoint_sources unshared = {.class = CLASS};
const struct row_source_class *const tide__savepoint_source = &unshared.class;

struct savepoint_sources tide__savepoint_sources_shared(struct savepoint *savepoint, const char *path) {
    return (struct savepoint_sources){.class = CLASS, .path = path, .savepoint = savepoint};
}

// --- DDL ------------------------------------------------------------------------------------------------------------------------

static void put_quoted(const char *text, char quote, struct strbuf *out) {
    tide__strbuf_append_char(out, quote);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == quote) tide__strbuf_append_char(out, quote);
        tide__strbuf_append_char(out, *c);
    }
    tide__strbuf_append_char(out, quote);
}

static void put_with(const char *path, const char *table, struct strbuf *out) {
    tide__strbuf_append_c(out, ") WITH ('connector' = 'tidemark-savepoint', 'path' = ");
    put_quoted(path, '\'', out);
    tide__strbuf_append_c(out, ", 'table' = ");
    put_quoted(table, '\'', out);
    tide__strbuf_append_c(out, ");\n");
}

void tide__savepoint_ddl(struct savepoint *savepoint, const char *path, struct arena *arena, struct strbuf *out) {
    struct state_view *views;
    size_t count, fact_count;
    tide__view_make_all(tide__savepoint_info(savepoint), arena, &views, &count);
    const struct fact_table *const *facts = tide__fact_tables(&fact_count);
    for (size_t i = 0; i < count; i++) {
        if (tide__fact_table(views[i].name) != NULL || views[i].column_count == 0) continue;
        tide__strbuf_append_c(out, "CREATE TEMPORARY TABLE ");
        put_quoted(views[i].name, '`', out);
        for (size_t c = 0; c < views[i].column_count; c++) {
            tide__strbuf_append_c(out, c == 0 ? " (" : ", ");
            put_quoted(views[i].columns[c].name, '`', out);
            tide__strbuf_printf(out, " %s", tide__type_text(arena, views[i].columns[c].type));
        }
        put_with(path, views[i].name, out);
    }
    for (size_t i = 0; i < fact_count; i++) {
        tide__strbuf_printf(out, "CREATE TEMPORARY TABLE `%s`", facts[i]->name);
        for (size_t c = 0; c < facts[i]->column_count; c++)
            tide__strbuf_printf(out, "%s`%s` %s", c == 0 ? " (" : ", ", facts[i]->columns[c].name,
                                facts[i]->columns[c].type);
        put_with(path, facts[i]->name, out);
    }
}
