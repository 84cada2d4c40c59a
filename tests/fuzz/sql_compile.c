// Fuzz target: a whole script through scanner, parser, binder and planner. Nothing is run.
#include "base/arena.h"
#include "sql/parse.h"
#include "sql/sql.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct parser *parser = tide__parser_new((const char *)data, size);
    struct sql_session *session = tide__sql_session_new();
    struct arena arena;
    tide__arena_init(&arena);
    uint32_t jobs = 0;
    for (;;) {
        struct statement *statement = NULL;
        struct sql_result result = {0};
        tide_error err = {0};
        tide_status status = tide__parse_next(parser, &arena, &statement, &err);
        if (status == TIDE_OK && statement == NULL) break;
        if (status == TIDE_OK)
            status = tide__sql_compile(session, statement, (struct str){(const char *)data, size}, jobs, &arena,
                                       &result, &err);
        if (status != TIDE_OK) {
            if (err.message[0] == '\0' || err.status != status) abort();
            break;
        }
        jobs += result.kind == SQL_JOB;
    }
    tide__sql_session_free(session);
    tide__arena_deinit(&arena);
    tide__parser_free(parser);
    return 0;
}
