// tidemark savepoint take|verify|salvage|list, tidemark stop
#include "tools/tools.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: tidemark savepoint take STATE_DIR [-o FILE]   one self-contained file of a running or a stopped job\n"
    "       tidemark savepoint verify FILE                check every byte; name what is damaged\n"
    "       tidemark savepoint salvage FILE -o FILE       what is whole of a damaged one to a new file; say what is "
    "missing\n"
    "       tidemark savepoint list STATE_DIR             the checkpoints of a state directory\n\n"
    "  -o, --output FILE   take, salvage: the file to write; take: `-` is standard output, and without it a name is "
    "made\n"
    "  -h, --help          this text\n\n"
    "Exit: 0 done, 1 failed, 2 wrong options, 3 a savepoint can't be read or is damaged.\n";

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};

static int finish(tide_status status, const tide_error *err) {
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", err);
    return tide_status_exit_code(status);
}

static int take_to_stdout(const char *state_dir) {
    if (isatty(STDOUT_FILENO)) return tool_usage_error("savepoint", "a savepoint is not for a terminal: name a file");
    struct tool_temporary temporary;
    int code = 1;
    if (tool_temporary_open(&temporary, "savepoint")) {
        tide_error err = {0};
        tide_status status = tide_savepoint_take(state_dir, temporary.path, NULL, NULL, &err);
        code = finish(status, &err);
        if (status == TIDE_OK && !tool_temporary_to_stdout(&temporary)) code = 1;
    }
    tool_temporary_close(&temporary);
    return code;
}

static int run_verb(const char *verb, const char *path, const char *output) {
    tide_error err = {0};
    if (strcmp(verb, "take") == 0) {
        if (output != NULL && strcmp(output, "-") == 0) return take_to_stdout(path);
        return finish(tide_savepoint_take(path, output, tool_write_file, stdout, &err), &err);
    }
    if (strcmp(verb, "salvage") == 0) {
        if (output == NULL) return tool_usage_error("savepoint", "salvage wants the new file: -o FILE");
        return finish(tide_savepoint_salvage(path, output, tool_write_file, stdout, &err), &err);
    }
    if (output != NULL) return tool_usage_error("savepoint", "-o is for `savepoint take` and `savepoint salvage`");
    if (strcmp(verb, "verify") == 0) return finish(tide_savepoint_verify(path, tool_write_file, stdout, &err), &err);
    return finish(tide_savepoint_list(path, tool_write_file, stdout, &err), &err);
}

int tool_savepoint(int argc, char **argv) {
    const char *output = NULL;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option != 'o') return tool_option_error("savepoint", option, argv, long_options);
        output = optarg;
    }
    static const char *const verbs[] = {"take", "verify", "salvage", "list"};
    const char *verb = optind < argc ? argv[optind] : "";
    bool known = false;
    for (size_t i = 0; i < 4; i++) known |= strcmp(verb, verbs[i]) == 0;
    if (verb[0] != '\0' && !known) {
        const char *near = tool_nearest(verb, strlen(verb), verbs, 4);
        if (near != NULL) return tool_usage_error("savepoint", "unknown verb \"%s\": did you mean %s?", verb, near);
        return tool_usage_error("savepoint", "unknown verb \"%.80s\"; there are take, verify, salvage and list", verb);
    }
    if (argc - optind != 2) return tool_usage_error("savepoint", "wants take, verify, salvage or list, and one path");
    return run_verb(verb, argv[optind + 1], output);
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
