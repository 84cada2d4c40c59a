// Fuzz target: the scanner and the parser over a hostile script. Every failure must have a message and a place inside it.
#include "base/arena.h"
#include "sql/parse.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct parser *parser = tide__parser_new((const char *)data, size);
    struct arena arena;
    tide__arena_init(&arena);
    for (;;) {
        struct statement *statement = NULL;
        tide_error err = {0};
        tide_status status = tide__parse_next(parser, &arena, &statement, &err);
        if (status != TIDE_OK) {
            if (err.message[0] == '\0' || err.line == 0 || err.column == 0 || err.status != status) abort();
            break;
        }
        if (statement == NULL) break;
    }
    tide__arena_deinit(&arena);
    tide__parser_free(parser);
    return 0;
}
