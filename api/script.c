// Running a script: statement by statement, as Flink's client does with -f. See include/tidemark.h.
#include "api/script.h"

#include "api/savepoint_source.h"
#include "base/time.h"
#include "engine/connectors/connector.h"
#include "sql/parse.h"
#include "sql/sql.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int tide_status_exit_code(tide_status status) {
    switch (status) {
    case TIDE_OK: return 0;
    case TIDE_ERR_PARSE:
    case TIDE_ERR_VALIDATE:
    case TIDE_ERR_PLAN:
    case TIDE_ERR_OPTION: return 2;
    case TIDE_ERR_RUNTIME:
    case TIDE_ERR_IO: return 1;
    case TIDE_ERR_SAVEPOINT: return 3;
    case TIDE_ERR_REFUSED: return 4;
    case TIDE_ERR_STOPPED: return 5;
    case TIDE_ERR_NO_CHECKPOINT: return 6;
    }
    return 1;
}

void tide_options_init(tide_options *options) {
    *options = (tide_options){
        .struct_size = sizeof *options,
        .checkpoint_interval_ms = -1,
        .retain = 3,
        .stop_after_rows = UINT64_MAX,
        .memory_bytes = TIDE__MEMORY_DEFAULT,
        .batch_rows = 2048,
    };
}

double tide__api_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void send_message(const struct script_run *run, enum tide_severity severity, tide_error *message,
                         const char *hint) {
    if (run->handler == NULL || run->handler->on_message == NULL) return;
    if (hint != NULL) snprintf(message->hint, sizeof message->hint, "%s", hint);
    tide__error_set_file(message, run->name);
    tide__error_set_excerpt(message, run->sql.data, run->sql.len);
    run->handler->on_message(run->handler->ctx, severity, message);
}

void tide__api_message(const struct script_run *run, enum tide_severity severity, const char *hint, const char *format,
                       ...) {
    tide_error message;
    tide__error_clear(&message);
    va_list args;
    va_start(args, format);
    vsnprintf(message.message, sizeof message.message, format, args);
    va_end(args);
    send_message(run, severity, &message, hint);
}

void tide__api_message_at(const struct script_run *run, enum tide_severity severity, struct source_pos pos,
                          const char *hint, const char *text) {
    tide_error message;
    tide__error_clear(&message);
    snprintf(message.message, sizeof message.message, "%s", text);
    message.line = pos.line;
    message.column = pos.column;
    message.length = pos.length;
    send_message(run, severity, &message, hint);
}

// --- results that are ready ------------------------------------------------------------------------------------------

tide_column tide__api_column(const char *name, const struct type *type, struct arena *arena) {
    bool text = tide__type_is_string(type);
    tide_column column = {
        .name = name,
        .type = tide__type_text(arena, type),
        .right_aligned = true,
        .is_number = tide__type_is_numeric(type),
        .is_boolean = type->kind == TYPE_BOOLEAN,
        .display_width = text ? 30 : 23,
    };
    switch (type->kind) {
    case TYPE_BOOLEAN: column.display_width = 7; break;
    case TYPE_TINYINT: column.display_width = 4; break;
    case TYPE_SMALLINT: column.display_width = 6; break;
    case TYPE_INT: column.display_width = 11; break;
    case TYPE_BIGINT: column.display_width = 20; break;
    case TYPE_DECIMAL: column.display_width = type->precision + 2; break;
    case TYPE_DATE: column.display_width = 10; break;
    case TYPE_TIME: column.display_width = 8 + (type->precision > 0 ? 1 + type->precision : 0); break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: column.display_width = 19 + (type->precision > 0 ? 1 + type->precision : 0); break;
    default: column.display_width = 30; break;
    }
    return column;
}

tide_column *tide__api_columns(const struct plan_field *fields, uint32_t count, struct arena *arena) {
    tide_column *columns = ARENA_ARRAY(arena, tide_column, count + 1);
    for (uint32_t i = 0; i < count; i++) columns[i] = tide__api_column(fields[i].name, fields[i].type, arena);
    return columns;
}

static tide_status show_rows(const struct script_run *run, const struct sql_rows *rows, bool is_text, tide_error *err) {
    const tide_handler *handler = run->handler;
    if (handler == NULL) return TIDE_OK;
    struct arena arena;
    tide__arena_init(&arena);
    tide_column *columns = ARENA_ARRAY(&arena, tide_column, rows->column_count + 1);
    tide_text *values = ARENA_ARRAY(&arena, tide_text, rows->column_count + 1);
    for (uint32_t c = 0; c < rows->column_count; c++)
        columns[c] = tide__api_column(rows->names[c], rows->types[c], &arena);
    if (is_text) columns[0].is_text = true;
    if (handler->on_result != NULL) handler->on_result(handler->ctx, columns, rows->column_count, false);
    tide_status status = TIDE_OK;
    for (uint32_t r = 0; r < rows->row_count && status == TIDE_OK; r++) {
        for (uint32_t c = 0; c < rows->column_count; c++) {
            struct str cell = rows->cells[(size_t)r * rows->column_count + c];
            values[c] = (tide_text){cell.data, cell.len};
        }
        if (handler->on_row != NULL && !handler->on_row(handler->ctx, "+I", values, rows->column_count))
            status = tide__fail(err, TIDE_ERR_IO, "the output can't be written");
    }
    if (status == TIDE_OK && handler->on_result_end != NULL) handler->on_result_end(handler->ctx);
    tide__arena_deinit(&arena);
    return status;
}

// --- statements --------------------------------------------------------------------------------------------------------

// Each place is warned of once, however many statements use its table.
static void warn_of_option(void *ctx, struct source_pos pos, const char *message, const char *hint) {
    struct script_run *run = ctx;
    for (const struct warned *w = run->warned; w != NULL; w = w->next)
        if (w->offset == pos.offset) return;
    struct warned *warned = tide__arena_alloc(&run->arena, sizeof *warned);
    *warned = (struct warned){run->warned, pos.offset};
    run->warned = warned;
    tide__api_message_at(run, TIDE_WARNING, pos, hint, message);
}

static tide_status validate_tables(struct script_run *run, const struct plan *plan, tide_error *err) {
    struct connector_warnings warnings = {warn_of_option, run};
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct plan_node *node = plan->nodes[i];
        const struct row_source_class *rows = node->kind == PLAN_SCAN
                                                  ? tide__row_source_find(run->row_sources, node->scan.table)
                                                  : NULL;
        if (rows != NULL)
            TIDE_TRY(rows->validate(rows, node->scan.table, err));
        else if (node->kind == PLAN_SCAN)
            TIDE_TRY(tide__connector_validate(node->scan.table, TABLE_AS_SOURCE, &warnings, err));
        if (node->kind == PLAN_SINK && node->sink.kind == SINK_TABLE)
            TIDE_TRY(tide__connector_validate(node->sink.table, TABLE_AS_SINK, &warnings, err));
    }
    return TIDE_OK;
}

// The statement of the savepoint that the script goes on from; before it everything was done by an earlier process.
static bool already_done(const struct script_run *run) {
    if (run->resume.savepoint == NULL) return false;
    return run->job_index < tide__savepoint_info(run->resume.savepoint)->statement_index;
}

static bool before_resumed_job(const struct script_run *run) {
    if (run->resume.savepoint == NULL) return false;
    return run->job_index <= tide__savepoint_info(run->resume.savepoint)->statement_index;
}

static tide_status run_statement(struct script_run *run, struct sql_session *session, const struct statement *statement,
                                 tide_error *err) {
    struct sql_result result = {0};
    TIDE_TRY(tide__sql_compile(session, statement, run->sql, run->job_index, &run->arena, &result, err));
    for (const struct sql_warning *w = result.warnings; w != NULL; w = w->next)
        tide__api_message_at(run, TIDE_WARNING, w->pos, w->hint, w->message);
    switch (result.kind) {
    case SQL_DONE: return TIDE_OK;
    case SQL_ROWS: return before_resumed_job(run) ? TIDE_OK : show_rows(run, &result.rows, false, err);
    case SQL_EXPLAIN: {
        struct str text = tide__api_explain_text(result.plan, &run->arena);
        const char *names[] = {"result"};
        struct type string = tide__type_make(TYPE_VARCHAR, true);
        const struct type *types[] = {&string};
        struct sql_rows rows = {.column_count = 1, .names = names, .types = types, .row_count = 1, .cells = &text};
        return before_resumed_job(run) ? TIDE_OK : show_rows(run, &rows, true, err);
    }
    case SQL_JOB: break;
    }
    TIDE_TRY(validate_tables(run, result.plan, err));
    tide_status status = TIDE_OK;
    if (!already_done(run)) status = tide__api_job_run(run, result.plan, err);
    run->job_index++;
    return status;
}

static tide_status run_statements(struct script_run *run, struct sql_session *session, struct parser *parser,
                                  tide_error *err) {
    while (!run->stopped) {
        struct statement *statement;
        TIDE_TRY(tide__parse_next(parser, &run->arena, &statement, err));
        if (statement == NULL) break;
        TIDE_TRY(run_statement(run, session, statement, err));
    }
    if (run->resume.savepoint != NULL &&
        run->job_index <= tide__savepoint_info(run->resume.savepoint)->statement_index) {
        tide__fail(err, TIDE_ERR_REFUSED,
                   "the savepoint was taken in job %u of its script, but this script has only %u",
                   tide__savepoint_info(run->resume.savepoint)->statement_index + 1, run->job_index);
        return tide__fail_hint(err, "Use the script that the savepoint was taken from, or start without it.");
    }
    if (run->ended_before) tide__api_message(run, TIDE_NOTE, "Use --restart to run it anew.", "the job is finished");
    if (run->stopped || run->options->stop_savepoint == NULL) return TIDE_OK;
    if (run->job_index == 0)
        tide__api_message(run, TIDE_NOTE, NULL, "the script starts no job, so there is no savepoint");
    else
        tide__api_message(run, TIDE_NOTE, NULL, "the input ended before row %llu: the savepoint is of the end",
                          (unsigned long long)run->options->stop_after_rows);
    return TIDE_OK;
}

static tide_status run_prelude(struct script_run *run, struct sql_session *session, const char *prelude,
                               struct parser **parser, tide_error *err) {
    struct str script = run->sql;
    run->sql = tide__str(prelude);
    *parser = tide__parser_new(prelude, strlen(prelude));
    tide_status status = TIDE_OK;
    for (struct statement *statement = NULL; status == TIDE_OK;) {
        status = tide__parse_next(*parser, &run->arena, &statement, err);
        if (status != TIDE_OK || statement == NULL) break;
        status = run_statement(run, session, statement, err);
    }
    run->sql = script;
    return status;
}

tide_status tide__api_script_run(const char *name, struct str sql, const char *dir, const tide_options *options,
                                 const tide_handler *handler, tide_summary *summary, const struct script_around *around,
                                 tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    tide_summary own_summary;
    struct script_run run = {
        .name = name,
        .dir = dir,
        .sql = sql,
        .options = options,
        .handler = handler,
        .around = around != NULL ? *around : (struct script_around){0},
        .summary = summary != NULL ? summary : &own_summary,
        .row_sources = {around != NULL && around->row_source != NULL ? around->row_source : tide__savepoint_source,
                        NULL},
        .started = tide__api_seconds(),
    };
    *run.summary = (tide_summary){0};
    tide__arena_init(&run.arena);
    struct sql_session *session = tide__sql_session_new();
    run.session = session;
    tide__sql_session_set_strict_windows(session, options->strict_windows);
    struct parser *parser = tide__parser_new(sql.data, sql.len), *first = NULL;
    tide_status status = tide__api_resume_open(&run, err);
    if (status == TIDE_OK && run.around.prelude != NULL)
        status = run_prelude(&run, session, run.around.prelude, &first, err);
    if (status == TIDE_OK) status = run_statements(&run, session, parser, err);
    if (status != TIDE_OK) {
        if (err->line > 0) tide__error_set_file(err, name);
        if (strcmp(err->file, name) == 0 && err->line > 0 && err->excerpt[0] == '\0')
            tide__error_set_excerpt(err, sql.data, sql.len);
    }
    tide__api_resume_close(&run);
    tide__parser_free(parser);
    tide__parser_free(first);
    tide__sql_session_free(session);
    tide__arena_deinit(&run.arena);
    run.summary->seconds = tide__api_seconds() - run.started;
    return status;
}

tide_status tide_script_run(const char *name, const char *sql, size_t sql_len, const char *dir,
                            const tide_options *options, const tide_handler *handler, tide_summary *summary,
                            tide_error *err) {
    return tide__api_script_run(name, (struct str){sql, sql_len}, dir, options, handler, summary, NULL, err);
}
