// Parses each file of the command line: "FILE: ok, N statements" or "FILE:LINE:COLUMN: message (hint)".
// Exits 1 if one failed. A test tool, not installed.
#include "base/alloc.h"
#include "sql/parse.h"

#include <stdio.h>
#include <string.h>

static char *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t capacity = 1 << 16, used = 0, got;
    char *text = tide__alloc(capacity);
    while ((got = fread(text + used, 1, capacity - used, file)) > 0) {
        used += got;
        if (used == capacity) text = tide__realloc(text, capacity *= 2);
    }
    fclose(file);
    *len = used;
    return text;
}

static bool parse_file(const char *path) {
    size_t len = 0, count = 0;
    char *text = read_file(path, &len);
    if (!text) {
        printf("%s: cannot be read\n", path);
        return false;
    }
    struct parser *parser = tide__parser_new(text, len);
    struct arena arena;
    tide_error err;
    tide__arena_init(&arena);
    tide__error_clear(&err);
    struct statement *statement;
    do {
        if (tide__parse_next(parser, &arena, &statement, &err) != TIDE_OK) break;
        if (statement) count++;
    } while (statement);
    bool ok = err.status == TIDE_OK;
    if (ok) {
        printf("%s: ok, %zu statements\n", path, count);
    } else {
        tide__error_set_excerpt(&err, text, len);
        printf("%s:%u:%u: status %d: %s%s%s%s\n  %s\n  %*s^\n", path, err.line, err.column, (int)err.status,
               err.message, err.hint[0] ? " (" : "", err.hint, err.hint[0] ? ")" : "", err.excerpt, (int)err.caret, "");
    }
    tide__arena_deinit(&arena);
    tide__parser_free(parser);
    tide__free(text);
    return ok;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (!parse_file(argv[i])) failed = 1;
    return failed;
}
