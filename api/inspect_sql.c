// SQL over a savepoint: its tables are created, then the query is run, in batch mode and one session.
#include "api/inspect.h"
#include "api/savepoint_source.h"
#include "api/script.h"

tide_status tide_inspect_sql(const char *path, const char *sql, size_t sql_len, const tide_handler *handler,
                             tide_error *err) {
    tide__error_clear(err);
    struct arena arena;
    tide__arena_init(&arena);
    struct savepoint *savepoint = NULL;
    const char *found = NULL, *skipped = NULL;
    struct strbuf prelude = {0};
    tide_status status = tide__api_savepoint_find(path, &arena, &savepoint, &found, &skipped, err);
    if (status == TIDE_OK) {
        tide__strbuf_append_c(&prelude, "SET 'execution.runtime-mode' = 'batch';\n");
        tide__savepoint_ddl(savepoint, found, &arena, &prelude);
        struct savepoint_sources sources = tide__savepoint_sources_shared(savepoint, found);
        tide_options options;
        tide_options_init(&options);
        options.parallelism = 1;
        struct script_around around = {.prelude = prelude.data, .row_source = &sources.class};
        status = tide__api_script_run("sql", (struct str){sql, sql_len}, ".", &options, handler, NULL, &around, err);
    }
    tide__strbuf_deinit(&prelude);
    tide__savepoint_close(savepoint);
    tide__arena_deinit(&arena);
    return status;
}
