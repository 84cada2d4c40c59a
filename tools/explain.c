// tidemark explain JOB.sql
#include "tools/tools.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'}, {"format", required_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};

static const char help[] = "usage: tidemark explain [--format text|json|dot] JOB.sql\n\n"
                           "Shows the plan of each job of a script: operators, keys, windows, state, fingerprints (json).\n"
                           "Nothing is run and no data is read.\n";

static bool parse_format(const char *text, enum tide_explain_format *out) {
    static const char *const names[] = {"text", "json", "dot"};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = (enum tide_explain_format)i;
        return true;
    }
    return false;
}

int tool_explain(int argc, char **argv) {
    enum tide_explain_format format = TIDE_EXPLAIN_TEXT;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":hf:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option != 'f') return tool_usage_error("explain", "unknown option or missing value: %s", argv[optind - 1]);
        if (!parse_format(optarg, &format)) return tool_usage_error("explain", "--format %s: wants text, json or dot", optarg);
    }
    if (optind + 1 != argc) return tool_usage_error("explain", "wants one script");
    char *sql, *folder = tool_folder_of(argv[optind]);
    size_t len;
    int code = 2;
    if (tool_read_file(argv[optind], &sql, &len)) {
        tide_error err = {0};
        tide_status status = tide_script_explain(argv[optind], sql, len, folder, format, tool_write_file, stdout, &err);
        if (status != TIDE_OK) tool_show_error("error", &err);
        code = tide_status_exit_code(status);
        free(sql);
    }
    free(folder);
    return code;
}
