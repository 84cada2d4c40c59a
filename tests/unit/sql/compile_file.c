// Developers' tool: compiles a script and shows what each statement becomes: the header of its rows in the form of
// the golden files, the plan (with -p), rows, warnings, or the error.
#include "base/alloc.h"
#include "plan_dump.h"
#include "sql/parse.h"
#include "sql/sql.h"

#include <stdio.h>
#include <string.h>

static char *read_file(const char *path, size_t *out_len) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) return NULL;
    struct strbuf buf = {0};
    for (size_t n;;) {
        char *at = tide__strbuf_reserve(&buf, 65536);
        n = fread(at, 1, 65536, f);
        if (n == 0) break;
        buf.len += n;
    }
    fclose(f);
    *out_len = buf.len;
    return buf.data;
}

static void print_header(uint32_t count, const char *const *names, const struct type *const *types) {
    struct strbuf out = {0};
    for (uint32_t i = 0; i < count; i++) tide__strbuf_printf(&out, "%s%s", i == 0 ? "-- " : "\t", names[i]);
    tide__strbuf_append_char(&out, '\n');
    for (uint32_t i = 0; i < count; i++) {
        tide__strbuf_append_c(&out, i == 0 ? "-- " : "\t");
        plan_dump_type(types[i], &out);
    }
    printf("%s\n", out.data);
    tide__strbuf_deinit(&out);
}

static void print_rows(const struct sql_rows *rows) {
    print_header(rows->column_count, rows->names, rows->types);
    for (uint32_t r = 0; r < rows->row_count; r++) {
        printf("+I");
        for (uint32_t c = 0; c < rows->column_count; c++) {
            struct str cell = rows->cells[r * rows->column_count + c];
            putchar('\t');
            if (cell.data == NULL) printf("<NULL>");
            for (size_t i = 0; cell.data != NULL && i < cell.len; i++) {
                if (cell.data[i] == '\n') {
                    printf("\\n");
                } else {
                    putchar(cell.data[i]);
                }
            }
        }
        putchar('\n');
    }
}

static void print_plan(const struct plan *plan, bool dump) {
    for (uint32_t r = 0; r < plan->root_count; r++) {
        const struct plan_node *sink = plan->roots[r];
        if (sink->sink.kind != SINK_COLLECT) continue;
        const char **names = tide__calloc(sink->field_count + 1, sizeof(*names));
        const struct type **types = tide__calloc(sink->field_count + 1, sizeof(*types));
        for (uint32_t i = 0; i < sink->field_count; i++) {
            names[i] = sink->fields[i].name;
            types[i] = sink->fields[i].type;
        }
        print_header(sink->field_count, names, types);
        tide__free(names);
        tide__free(types);
    }
    if (!dump) return;
    struct strbuf out = {0};
    plan_dump(plan, &out);
    printf("%s", out.data);
    tide__strbuf_deinit(&out);
}

static int report(const tide_error *err) {
    static const char *const phases[] = {"ok", "parse", "validate", "plan", "option", "runtime", "io"};
    printf("ERROR %s: %u:%u %s%s%s\n", err->status <= TIDE_ERR_IO ? phases[err->status] : "?", err->line, err->column,
           err->message, err->hint[0] != '\0' ? " | " : "", err->hint);
    return 2;
}

int main(int argc, char **argv) {
    bool dump = argc > 2 && strcmp(argv[1], "-p") == 0;
    size_t len = 0;
    char *text = argc < 2 ? NULL : read_file(argv[argc - 1], &len);
    if (text == NULL) return 1;
    struct arena arena;
    tide__arena_init(&arena);
    struct parser *parser = tide__parser_new(text, len);
    struct sql_session *session = tide__sql_session_new();
    tide_error err;
    tide__error_clear(&err);
    int status = 0;
    for (uint32_t job = 0;;) {
        struct statement *statement;
        struct sql_result result = {0};
        if (tide__parse_next(parser, &arena, &statement, &err) != TIDE_OK) {
            status = report(&err);
            break;
        }
        if (statement == NULL) break;
        tide_status s = tide__sql_compile(session, statement, (struct str){text, len}, job, &arena, &result, &err);
        for (const struct sql_warning *w = result.warnings; w != NULL; w = w->next) {
            printf("WARNING %u:%u %s%s%s\n", w->pos.line, w->pos.column, w->message, w->hint != NULL ? " | " : "",
                   w->hint != NULL ? w->hint : "");
        }
        if (s != TIDE_OK) {
            status = report(&err);
            break;
        }
        if (result.kind == SQL_ROWS) print_rows(&result.rows);
        if (result.kind == SQL_JOB || result.kind == SQL_EXPLAIN) {
            print_plan(result.plan, dump);
            job++;
        }
    }
    tide__sql_session_free(session);
    tide__parser_free(parser);
    tide__arena_deinit(&arena);
    tide__free(text);
    return status;
}
