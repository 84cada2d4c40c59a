// tidemark savepoint take|verify|salvage|list, tidemark stop
#include "tools/tools.h"

#include <getopt.h>
#include <string.h>

static const char help[] =
    "usage: tidemark savepoint take STATE_DIR [-o FILE]   one self-contained file of a running or a stopped job\n"
    "       tidemark savepoint verify FILE                check every byte; name what is damaged\n"
    "       tidemark savepoint salvage FILE -o FILE       what is whole of a damaged one to a new file; say what is missing\n"
    "       tidemark savepoint list STATE_DIR             the checkpoints of a state directory\n\n"
    "Exit: 0 done, 1 failed, 2 wrong options, 3 a savepoint can't be read or is damaged.\n";

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};

static int finish(tide_status status, const tide_error *err) {
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", err);
    return tide_status_exit_code(status);
}

int tool_savepoint(int argc, char **argv) {
    const char *output = NULL;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option != 'o') return tool_usage_error("savepoint", "unknown option or missing value: %s", argv[optind - 1]);
        output = optarg;
    }
    if (argc - optind != 2) return tool_usage_error("savepoint", "wants take, verify, salvage or list, and one path");
    const char *verb = argv[optind], *path = argv[optind + 1];
    tide_error err = {0};
    if (strcmp(verb, "take") == 0) return finish(tide_savepoint_take(path, output, tool_write_file, stdout, &err), &err);
    if (strcmp(verb, "salvage") == 0) {
        if (output == NULL) return tool_usage_error("savepoint", "salvage wants the new file: -o FILE");
        return finish(tide_savepoint_salvage(path, output, tool_write_file, stdout, &err), &err);
    }
    if (output != NULL) return tool_usage_error("savepoint", "-o is for `savepoint take` and `savepoint salvage`");
    if (strcmp(verb, "verify") == 0) return finish(tide_savepoint_verify(path, tool_write_file, stdout, &err), &err);
    if (strcmp(verb, "list") == 0) return finish(tide_savepoint_list(path, tool_write_file, stdout, &err), &err);
    return tool_usage_error("savepoint", "unknown verb \"%s\"", verb);
}

int tool_stop(int argc, char **argv) {
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs("usage: tidemark stop STATE_DIR\n\nAsks the job running there to stop with a checkpoint.\n", stdout);
        return 0;
    }
    if (argc != 2) return tool_usage_error("stop", "wants a state directory");
    tide_error err = {0};
    return finish(tide_stop(argv[1], &err), &err);
}
