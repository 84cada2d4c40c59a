// tidemark inspect SAVEPOINT|STATE_DIR
#include "tools/tools.h"

#include <getopt.h>
#include <string.h>

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};

static const char help[] =
    "usage: tidemark inspect [OPTION...] SAVEPOINT|STATE_DIR\n\n"
    "A summary of a savepoint file, or of a state directory's newest checkpoint, from its index alone: job,\n"
    "operators, state tables, windows, keys, bytes, watermarks, sources. Works offline, on a copy, while a job\n"
    "runs; changes nothing. `-` reads a savepoint from standard input.\n\n"
    "  -o, --output FORMAT   table (default), tsv, csv, json\n"
    "  -h, --help            this text\n\n"
    "Exit 3: the file can't be read or is damaged.\n";

static int inspect(const char *path, enum tool_format format) {
    tide_error err = {0};
    tide_status status = tide_inspect_summary(path, (enum tide_inspect_format)format, tool_write_file, stdout, &err);
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", &err);
    return tide_status_exit_code(status);
}

int tool_inspect(int argc, char **argv) {
    enum tool_format format = TOOL_TABLE;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option != 'o') return tool_option_error("inspect", option, argv, long_options);
        if (!tool_parse_format(optarg, &format))
            return tool_usage_error("inspect", "--output %s: wants table, tsv, csv or json", optarg);
    }
    if (optind + 1 != argc) return tool_usage_error("inspect", "wants one savepoint or state directory");
    if (strcmp(argv[optind], "-") != 0) return inspect(argv[optind], format);
    struct tool_temporary temporary;
    int code = tool_temporary_from_stdin(&temporary) ? inspect(temporary.path, format) : 1;
    tool_temporary_close(&temporary);
    return code;
}
