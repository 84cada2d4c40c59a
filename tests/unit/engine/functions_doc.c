// Prints docs/functions.md from the tables of scalar and aggregate functions. With an argument it compares that
// file with what it would print: `functions_doc docs/functions.md` is the test, `./dev docs` the
// cure.
#include "engine/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// `|` ends a cell of a table.
static void put_cell(const char *text, bool code, struct strbuf *out) {
    tide__strbuf_append_c(out, code ? " `" : " ");
    for (const char *c = text; *c != 0; c++) {
        if (*c == '|') tide__strbuf_append_char(out, '\\');
        tide__strbuf_append_char(out, *c);
    }
    tide__strbuf_append_c(out, code ? "` |" : " |");
}

static void put_row(const char *signature, const char *summary, const char *example, const char *result,
                    struct strbuf *out) {
    tide__strbuf_append_char(out, '|');
    put_cell(signature, true, out);
    put_cell(summary, false, out);
    put_cell(example, true, out);
    put_cell(result, true, out);
    tide__strbuf_append_char(out, '\n');
}

static void put_all(struct strbuf *out) {
    size_t count = 0;
    tide__strbuf_append_c(
        out, "# Functions\n\n"
             "Made from the tables in engine/functions and engine/aggregates by `./dev docs`; a test keeps it so,\n"
             "and another one runs the examples of the scalar functions. Types, results and errors\n"
             "are those of Flink 2.3. Patterns of dates are Java's, regular expressions too.\n\n"
             "## Scalar functions and operators\n\n"
             "| function | what | example | result |\n|---|---|---|---|\n");
    const char *const *names = tide__function_names(&count);
    for (size_t i = 0; i < count; i++) {
        const struct function *f = tide__function_find(tide__str(names[i]));
        put_row(f->signature, f->summary, f->example, f->example_result, out);
    }
    tide__strbuf_append_c(
        out, "\n## Aggregate functions\n\n"
             "They skip NULLs, and give NULL where there is no value, but for COUNT. DISTINCT and FILTER (WHERE ...)\n"
             "stand as in Flink.\n\n"
             "| function | what | example | result |\n|---|---|---|---|\n");
    names = tide__aggregate_names(&count);
    for (size_t i = 0; i < count; i++) {
        const struct aggregate *a = tide__aggregate_find(tide__str(names[i]));
        put_row(a->signature, a->summary, a->example, a->example_result, out);
    }
}

static int compare(const char *path, const struct strbuf *wanted) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s can't be read\n", path);
        return 1;
    }
    char *text = malloc(wanted->len + 2);
    size_t got = fread(text, 1, wanted->len + 1, file);
    fclose(file);
    bool same = got == wanted->len && memcmp(text, wanted->data, got) == 0;
    free(text);
    if (!same) fprintf(stderr, "%s is not up to date: ./dev docs\n", path);
    return !same;
}

int main(int argc, char **argv) {
    struct strbuf text = {0};
    put_all(&text);
    int failed = 0;
    if (argc > 1) {
        failed = compare(argv[1], &text);
    } else {
        fwrite(text.data, 1, text.len, stdout);
    }
    tide__strbuf_deinit(&text);
    return failed;
}
