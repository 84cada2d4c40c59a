// tidemark explain JOB.sql
#include "tools/tools.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'}, {"format", required_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};

static const char help[] =
    "usage: tidemark explain [OPTION...] JOB.sql\n\n"
    "Shows the plan of each job of a script: operators, keys, windows, state, fingerprints (json).\n"
    "Nothing is run and no data is read. `-` reads the script from standard input.\n\n"
    "  -f, --format FORMAT   text (default), json, dot\n"
    "  -h, --help            this text\n";

static bool parse_format(const char *text, enum tide_explain_format *out) {
    static const char *const names[] = {"text", "json", "dot"};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = (enum tide_explain_format)i;
        return true;
    }
    return false;
}

// Counts what is written, on its way to standard output.
static void write_counted(void *ctx, const char *data, size_t len) {
    *(size_t *)ctx += len;
    tool_write_file(stdout, data, len);
}

static int explain(const char *path, const char *sql, size_t len, const char *folder, enum tide_explain_format format) {
    tide_error err = {0};
    size_t written = 0;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    tide_status status = tide_script_explain(name, sql, len, folder, format, write_counted, &written, &err);
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", &err);
    if (status != TIDE_OK || written > 0) return tide_status_exit_code(status);
    fprintf(stderr, "tidemark: %.400s holds no job: no SELECT and no INSERT\n", name);
    return 2;
}

int tool_explain(int argc, char **argv) {
    enum tide_explain_format format = TIDE_EXPLAIN_TEXT;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":hf:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option != 'f') return tool_option_error("explain", option, argv, long_options);
        if (!parse_format(optarg, &format))
            return tool_usage_error("explain", "--format %s: wants text, json or dot", optarg);
    }
    if (optind + 1 != argc) return tool_usage_error("explain", "wants one script");
    char *sql, *folder = tool_folder_of(argv[optind]);
    size_t len;
    int code = 2;
    if (tool_read_file(argv[optind], &sql, &len)) {
        code = explain(argv[optind], sql, len, folder, format);
        free(sql);
    }
    free(folder);
    return code;
}
