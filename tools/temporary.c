// "-" where a savepoint's name is expected: the library reads and writes files, so the bytes go through one.
#include "tools/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fail(const char *what) {
    fprintf(stderr, "tidemark: %s: %s\n", what, strerror(errno));
    return false;
}

static bool copy(FILE *from, FILE *to) {
    char block[1 << 16];
    for (size_t got; (got = fread(block, 1, sizeof block, from)) > 0;)
        if (fwrite(block, 1, got, to) != got) return false;
    return !ferror(from) && fflush(to) == 0;
}

bool tool_temporary_open(struct tool_temporary *temporary, const char *name) {
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0' || strlen(parent) > 40) parent = "/tmp";
    temporary->path[0] = '\0';
    snprintf(temporary->folder, sizeof temporary->folder, "%s/tidemark-XXXXXX", parent);
    if (mkdtemp(temporary->folder) == NULL) {
        temporary->folder[0] = '\0';
        return fail("can't make a temporary folder");
    }
    snprintf(temporary->path, sizeof temporary->path, "%s/%s", temporary->folder, name);
    return true;
}

bool tool_temporary_from_stdin(struct tool_temporary *temporary) {
    if (!tool_temporary_open(temporary, "standard-input")) return false;
    FILE *file = fopen(temporary->path, "wb");
    bool fine = file != NULL && copy(stdin, file);
    if (!fine) fail("can't keep standard input");
    if (file != NULL) fclose(file);
    return fine;
}

bool tool_temporary_to_stdout(const struct tool_temporary *temporary) {
    FILE *file = fopen(temporary->path, "rb");
    bool fine = file != NULL && copy(file, stdout);
    if (!fine) fail("standard output can't be written");
    if (file != NULL) fclose(file);
    return fine;
}

void tool_temporary_close(struct tool_temporary *temporary) {
    if (temporary->path[0] != '\0') unlink(temporary->path);
    if (temporary->folder[0] != '\0') rmdir(temporary->folder);
    temporary->path[0] = temporary->folder[0] = '\0';
}
