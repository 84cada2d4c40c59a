#include "bind_text.h"

#include "plan_dump.h"
#include "sql/parse.h"
#include "sql/sql.h"

#include <check.h>
#include <string.h>

static const char table[] =
    "CREATE TABLE t (id INT, k STRING, g STRING, v INT, w DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS "
    "ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = 't.csv', 'format' = 'csv');\n";

static void write_error(const tide_error *err, struct strbuf *out) {
    static const char *const phases[] = {"ok", "parse", "validate", "plan"};
    ck_assert_msg(err->status <= TIDE_ERR_PLAN, "unexpected status %d", (int)err->status);
    tide__strbuf_printf(out, "ERROR %s: %u:%u %s", phases[err->status], err->line, err->column, err->message);
    if (err->hint[0] != '\0') tide__strbuf_printf(out, " | %s", err->hint);
    tide__strbuf_append_char(out, '\n');
}

static void write_result(const struct sql_result *result, struct strbuf *out) {
    for (const struct sql_warning *w = result->warnings; w != NULL; w = w->next) {
        tide__strbuf_printf(out, "WARNING %u:%u %s", w->pos.line, w->pos.column, w->message);
        if (w->hint != NULL) tide__strbuf_printf(out, " | %s", w->hint);
        tide__strbuf_append_char(out, '\n');
    }
    if (result->plan != NULL) plan_dump(result->plan, out);
    for (uint32_t i = 0; result->kind == SQL_ROWS && i < result->rows.row_count * result->rows.column_count; i++) {
        struct str cell = result->rows.cells[i];
        tide__strbuf_printf(out, "%.*s", cell.data == NULL ? 6 : (int)cell.len,
                            cell.data == NULL ? "<NULL>" : cell.data);
        tide__strbuf_append_char(out, (i + 1) % result->rows.column_count == 0 ? '\n' : '\t');
    }
}

void bind_text(const char *script, bool strict_windows, struct strbuf *out) {
    struct strbuf sql = {0};
    tide__strbuf_append_c(&sql, table);
    tide__strbuf_append_c(&sql, script);
    struct arena arena;
    tide__arena_init(&arena);
    struct parser *parser = tide__parser_new(sql.data, sql.len);
    struct sql_session *session = tide__sql_session_new();
    tide__sql_session_set_strict_windows(session, strict_windows);
    tide_error err;
    tide__error_clear(&err);
    for (uint32_t job = 0;;) {
        struct statement *statement;
        struct sql_result result = {0};
        tide_status status = tide__parse_next(parser, &arena, &statement, &err);
        if (status == TIDE_OK && statement == NULL) break;
        if (status == TIDE_OK) {
            status = tide__sql_compile(session, statement, tide__strbuf_str(&sql), job, &arena, &result, &err);
        }
        if (status != TIDE_OK) {
            ck_assert_int_eq((int)status, (int)err.status);
            write_error(&err, out);
            break;
        }
        write_result(&result, out);
        if (result.plan != NULL) job++;
    }
    tide__sql_session_free(session);
    tide__parser_free(parser);
    tide__arena_deinit(&arena);
    tide__strbuf_deinit(&sql);
}
