// tidemark inspect SAVEPOINT|STATE_DIR
#include "tools/tools.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    OPT_OPERATOR = 256,
    OPT_WINDOW,
    OPT_KEY,
    OPT_LIMIT,
    OPT_ENTRIES,
    OPT_NO_HEADER,
    OPT_TYPES,
    OPT_SQL,
    OPT_DIFF,
    OPT_HTML
};

static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                             {"output", required_argument, NULL, 'o'},
                                             {"entries", no_argument, NULL, OPT_ENTRIES},
                                             {"operator", required_argument, NULL, OPT_OPERATOR},
                                             {"window", required_argument, NULL, OPT_WINDOW},
                                             {"key", required_argument, NULL, OPT_KEY},
                                             {"limit", required_argument, NULL, OPT_LIMIT},
                                             {"sql", required_argument, NULL, OPT_SQL},
                                             {"diff", required_argument, NULL, OPT_DIFF},
                                             {"html", required_argument, NULL, OPT_HTML},
                                             {"types", no_argument, NULL, OPT_TYPES},
                                             {"no-header", no_argument, NULL, OPT_NO_HEADER},
                                             {NULL, 0, NULL, 0}};

static const char help[] =
    "usage: tidemark inspect [OPTION...] SAVEPOINT|STATE_DIR\n\n"
    "Without options a summary of a savepoint file, or of a state directory's newest checkpoint, from its index\n"
    "alone: job, operators, state tables, windows, keys, bytes, watermarks, sources. Works offline, on a copy, while\n"
    "a job runs; changes nothing. `-` reads a savepoint from standard input.\n\n"
    "  -o, --output FORMAT   table (default), tsv, csv, json\n"
    "      --entries         list the entries of all operators, decoded\n"
    "      --operator NAME   those of one: window-aggregate-1, a state table, or the name of a uid comment\n"
    "      --window START[,END]  those of one window\n"
    "      --key NAME=VALUE  those with this key; may be repeated. VALUE <NULL> is NULL\n"
    "      --limit N         at most N rows\n"
    "      --sql QUERY       SQL over the state: a table an operator (window_aggregate_1), and operators, windows,\n"
    "                        sources, chunks; SHOW TABLES and DESCRIBE tell more. `-` reads standard input\n"
    "      --diff OTHER      what differs in OTHER, a later one: facts, counts, windows, entries with both values\n"
    "                        (--operator NAME: of one operator; --limit N: at most N entries, 0 for counts only)\n"
    "      --html FILE       a report as one page of HTML; `-`: to standard output\n"
    "      --types, --no-header  tsv, csv: a second header line with Flink's types; no header\n"
    "  -h, --help            this text\n\n"
    "Exit 3: the file can't be read or is damaged; what can be read is shown.\n";

struct inspect_command {
    struct tool_output output;
    bool entries;
    tide_entry_filter filter;
    const char **keys;
    const char *sql, *diff, *html;
};

static void on_result(void *ctx, const tide_column *columns, size_t count, bool continued) {
    struct inspect_command *command = ctx;
    tool_output_begin(&command->output, columns, count, continued);
}

static bool on_row(void *ctx, const char *op, const tide_text *values, size_t count) {
    struct inspect_command *command = ctx;
    return tool_output_row(&command->output, op, values, count);
}

static void on_result_end(void *ctx) {
    struct inspect_command *command = ctx;
    tool_output_end(&command->output);
}

static void on_message(void *ctx, enum tide_severity severity, const tide_error *message) {
    (void)ctx;
    fflush(stdout);
    tool_show_error(severity == TIDE_WARNING ? "warning" : "note", message);
}

static int run_sql(struct inspect_command *command, const char *path, const tide_handler *handler) {
    char *text = NULL;
    size_t len = strlen(command->sql);
    if (strcmp(command->sql, "-") == 0 && !tool_read_file("-", &text, &len)) return 1;
    tide_error err = {0};
    tide_status status = tide_inspect_sql(path, text != NULL ? text : command->sql, len, handler, &err);
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", &err);
    free(text);
    return tide_status_exit_code(status);
}

// Over an empty file or an older report, and over nothing else.
static bool may_replace(const char *path) {
    char start[sizeof "<!doctype html" - 1] = "";
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return true;  // to be made, or a device
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    size_t got = fread(start, 1, sizeof start, file);
    fclose(file);
    return got == 0 || (got == sizeof start && memcmp(start, "<!doctype html", sizeof start) == 0);
}

static int write_html(const char *name, const char *path) {
    bool to_stdout = strcmp(name, "-") == 0;
    if (!to_stdout && !may_replace(name))
        return tool_usage_error("inspect", "--html %.200s: that file is there and is no report; it is not overwritten",
                                name);
    FILE *file = to_stdout ? stdout : fopen(name, "wb");
    if (file == NULL) {
        fprintf(stderr, "tidemark: can't write %.1000s: %s\n", name, strerror(errno));
        return 1;
    }
    tide_error err = {0};
    tide_status status = tide_inspect_html(path, tool_write_file, file, &err);
    bool written = fflush(file) == 0 && !ferror(file);
    if (!to_stdout) written &= fclose(file) == 0;
    if (status != TIDE_OK) tool_show_error("error", &err);
    if (!written) fprintf(stderr, "tidemark: can't write %.1000s: %s\n", name, strerror(errno));
    return status != TIDE_OK ? tide_status_exit_code(status) : written ? 0 : 1;
}

static int inspect(struct inspect_command *command, const char *path) {
    tide_error err = {0};
    tide_handler handler = {command, on_result, on_row, on_result_end, on_message, NULL, NULL};
    if (command->sql != NULL) return run_sql(command, path, &handler);
    if (command->html != NULL) return write_html(command->html, path);
    tide_status status = command->diff != NULL
                             ? tide_inspect_diff(path, command->diff, &command->filter, &handler, &err)
                         : command->entries
                             ? tide_inspect_entries(path, &command->filter, &handler, &err)
                             : tide_inspect_summary(path, (enum tide_inspect_format)command->output.format,
                                                    tool_write_file, stdout, &err);
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", &err);
    return tide_status_exit_code(status);
}

// 0: go on; else the exit code.
static int take_option(struct inspect_command *command, int option, char **argv) {
    switch (option) {
    case 'o':
        if (tool_parse_format(optarg, &command->output.format)) return 0;
        return tool_usage_error("inspect", "--output %s: wants table, tsv, csv or json", optarg);
    case OPT_TYPES: command->output.types = true; return 0;
    case OPT_NO_HEADER: command->output.header = false; return 0;
    case OPT_SQL: command->sql = optarg; return 0;
    case OPT_HTML: command->html = optarg; return 0;
    case OPT_DIFF: command->diff = optarg; return 0;
    case OPT_ENTRIES: break;
    case OPT_OPERATOR: command->filter.operator_name = optarg; break;
    case OPT_WINDOW: command->filter.window = optarg; break;
    case OPT_KEY: command->keys[command->filter.key_count++] = optarg; break;
    case OPT_LIMIT:
        if (!tool_parse_count(optarg, &command->filter.limit))
            return tool_usage_error("inspect", "--limit %s: wants a number of rows", optarg);
        break;
    default: return tool_option_error("inspect", option, argv, long_options);
    }
    command->entries = true;
    return 0;
}

static int run_command(struct inspect_command *command, int argc, char **argv) {
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        int code = take_option(command, option, argv);
        if (code != 0) return code;
    }
    if (optind + 1 != argc) return tool_usage_error("inspect", "wants one savepoint or state directory");
    if ((command->sql != NULL) + (command->html != NULL) + (command->diff != NULL) > 1)
        return tool_usage_error("inspect", "--sql, --html and --diff go one at a time");
    if (command->html != NULL && command->entries)
        return tool_usage_error("inspect", "--html goes without --entries and its like");
    if (command->sql != NULL && command->entries)
        return tool_usage_error("inspect", "--sql goes without --entries and its like");
    const char *path = argv[optind];
    bool first = strcmp(path, "-") == 0, second = command->diff != NULL && strcmp(command->diff, "-") == 0;
    if (first && second) return tool_usage_error("inspect", "standard input can be one of the two savepoints");
    if (!first && !second) return inspect(command, path);
    struct tool_temporary temporary;
    bool there = tool_temporary_from_stdin(&temporary);
    if (second) command->diff = temporary.path;
    int code = there ? inspect(command, first ? temporary.path : path) : 1;
    tool_temporary_close(&temporary);
    return code;
}

int tool_inspect(int argc, char **argv) {
    struct inspect_command command = {.output = {.header = true, .no_op = true, .file = stdout},
                                      .filter = {.limit = UINT64_MAX}};
    command.keys = calloc((size_t)argc + 1, sizeof *command.keys);
    if (command.keys == NULL) return 1;
    command.filter.keys = command.keys;
    int code = run_command(&command, argc, argv);
    free(command.output.columns);
    free(command.keys);
    return code;
}
