// tidemark savepoint take|verify|salvage|list|migrate, tidemark stop
#include "tools/tools.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: tidemark savepoint take STATE_DIR [-o FILE]   one self-contained file of a running or a stopped job\n"
    "       tidemark savepoint verify FILE                check every byte; name what is damaged\n"
    "       tidemark savepoint salvage FILE -o FILE       what is whole of a damaged one to a new file; say what is "
    "missing\n"
    "       tidemark savepoint migrate FILE NEW.sql -o FILE   its state as a savepoint of a changed script\n"
    "       tidemark savepoint list STATE_DIR             the checkpoints of a state directory\n\n"
    "  -o, --output FILE   take, salvage: the file to write; take: `-` is standard output, and without it a name is "
    "made\n"
    "      --policy P      migrate: strict (default) or exact: the check of the change\n"
    "      --on-incompatible WHAT   migrate: fail (default), partial, reset\n"
    "      --accept-unsound         migrate: though results may differ\n"
    "  -h, --help          this text\n\n"
    "Exit: 0 done, 1 failed, 2 wrong options, 3 a savepoint can't be read or is damaged, 4 the change is refused.\n";

enum { OPT_POLICY = 256, OPT_ON_INCOMPATIBLE, OPT_ACCEPT_UNSOUND };

static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                             {"output", required_argument, NULL, 'o'},
                                             {"policy", required_argument, NULL, OPT_POLICY},
                                             {"on-incompatible", required_argument, NULL, OPT_ON_INCOMPATIBLE},
                                             {"accept-unsound", no_argument, NULL, OPT_ACCEPT_UNSOUND},
                                             {NULL, 0, NULL, 0}};

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

static void show_message(void *ctx, enum tide_severity severity, const tide_error *message) {
    (void)ctx;
    tool_show_error(severity == TIDE_WARNING ? "warning" : "note", message);
}

static int migrate(const char *from, const char *script_path, const char *output, const tide_options *options) {
    if (output == NULL) return tool_usage_error("savepoint", "migrate wants the new file: -o FILE");
    char *sql;
    tide_script script = {.name = script_path};
    if (!tool_read_file(script_path, &sql, &script.sql_len)) return 2;
    char *dir = tool_folder_of(script_path);
    script.sql = sql;
    script.dir = dir;
    tide_handler handler = {.on_message = show_message};
    tide_error err = {0};
    int code = finish(tide_savepoint_migrate(from, &script, output, options, &handler, &err), &err);
    free(sql);
    free(dir);
    return code;
}

// -1: not one of migrate's; else 0 or the exit code.
static int set_migrate_option(int option, const char *value, tide_options *options) {
    static const char *const policies[] = {"strict", "exact"}, *const answers[] = {"fail", "partial", "reset"};
    if (option == OPT_ACCEPT_UNSOUND) options->accept_unsound = true;
    for (int i = 0; option == OPT_POLICY && i <= 2; i++) {
        if (i == 2) return tool_usage_error("savepoint", "--policy %s: strict or exact", value);
        if (strcmp(value, policies[i]) != 0) continue;
        options->policy = (enum tide_policy)i;
        break;
    }
    for (int i = 0; option == OPT_ON_INCOMPATIBLE && i <= 3; i++) {
        if (i == 3) return tool_usage_error("savepoint", "--on-incompatible %s: fail, partial or reset", value);
        if (strcmp(value, answers[i]) != 0) continue;
        options->on_incompatible = (enum tide_on_incompatible)i;
        break;
    }
    return option >= OPT_POLICY && option <= OPT_ACCEPT_UNSOUND ? 0 : -1;
}

int tool_savepoint(int argc, char **argv) {
    const char *output = NULL;
    tide_options options;
    tide_options_init(&options);
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        int code = set_migrate_option(option, optarg, &options);
        if (code > 0) return code;
        if (code < 0 && option != 'o') return tool_option_error("savepoint", option, argv, long_options);
        if (option == 'o') output = optarg;
    }
    static const char *const verbs[] = {"take", "verify", "salvage", "list", "migrate"};
    const char *verb = optind < argc ? argv[optind] : "";
    bool known = false;
    for (size_t i = 0; i < 5; i++) known |= strcmp(verb, verbs[i]) == 0;
    if (verb[0] != '\0' && !known) {
        const char *near = tool_nearest(verb, strlen(verb), verbs, 5);
        if (near != NULL) return tool_usage_error("savepoint", "unknown verb \"%s\": did you mean %s?", verb, near);
        return tool_usage_error("savepoint",
                                "unknown verb \"%.80s\"; there are take, verify, salvage, list and migrate", verb);
    }
    if (strcmp(verb, "migrate") == 0) {
        if (argc - optind != 3) return tool_usage_error("savepoint", "migrate wants a savepoint and the new script");
        return migrate(argv[optind + 1], argv[optind + 2], output, &options);
    }
    if (argc - optind != 2)
        return tool_usage_error("savepoint", "wants take, verify, salvage, list or migrate, and a path");
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
