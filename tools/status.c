// tidemark status STATE_DIR, tidemark query STATE_DIR "SELECT ..."
#include "tools/tools.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPT_WATCH = 256, OPT_WHY, OPT_TYPES, OPT_NO_HEADER };

static const struct option status_options[] = {
    {"help", no_argument, NULL, 'h'},          {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'o'},  {"watch", no_argument, NULL, OPT_WATCH},
    {"why", required_argument, NULL, OPT_WHY}, {NULL, 0, NULL, 0}};
static const struct option query_options[] = {{"help", no_argument, NULL, 'h'},
                                              {"output", required_argument, NULL, 'o'},
                                              {"types", no_argument, NULL, OPT_TYPES},
                                              {"no-header", no_argument, NULL, OPT_NO_HEADER},
                                              {NULL, 0, NULL, 0}};

static const char status_help[] =
    "usage: tidemark status [OPTION...] STATE_DIR\n"
    "       tidemark status STATE_DIR --why WINDOW [KEY]\n\n"
    "What the job of a state directory is doing: rows and rows per second, the watermark and the source that holds it\n"
    "back, open windows and when the next one ends, checkpoints, late rows. Of a stopped job it is what its newest\n"
    "checkpoint has.\n\n"
    "      --watch             again each second, until it is interrupted or the job ends\n"
    "      --why START[,END]   why that window has not fired; KEY (NAME=VALUE): and what it holds of that key\n"
    "  -o, --output FORMAT     table (default), tsv, csv, json\n"
    "      --format FORMAT     the same\n"
    "  -h, --help              this text\n\n"
    "Exit 1: there is no such folder. Exit 3: no job runs there and there is no checkpoint, or it can't be read.\n";

static const char query_help[] =
    "usage: tidemark query [OPTION...] STATE_DIR QUERY\n\n"
    "SQL over the state of a running job as of now: the job takes a checkpoint and goes on, the query reads that. Of "
    "a\n"
    "stopped job it reads the newest checkpoint. The tables are those of `tidemark inspect --sql`: one an operator\n"
    "(window_aggregate_1), operators, windows, sources, chunks; SHOW TABLES lists them. The checkpoint counts as one "
    "of\n"
    "--retain; none is taken if nothing has come since the last. QUERY `-` reads standard input.\n\n"
    "  -o, --output FORMAT   table (default), tsv, csv, json\n"
    "      --types, --no-header  tsv, csv: a second header line with Flink's types; no header\n"
    "  -h, --help            this text\n";

struct status_command {
    const char *dir, *window, *key;
    enum tool_format format;
    bool watch;
};

static int show_status(const struct status_command *command) {
    tide_error err = {0};
    tide_status status = tide_job_status(command->dir, command->window, command->key,
                                         (enum tide_inspect_format)command->format, tool_write_file, stdout, &err);
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", &err);
    return tide_status_exit_code(status);
}

static int watch(const struct status_command *command) {
    bool terminal = isatty(STDOUT_FILENO);
    tool_catch_signals();
    int code = 0;
    while (tool_signals_seen() == 0 && code == 0) {
        if (terminal) fputs("\033[H\033[2J", stdout);
        code = show_status(command);
        if (!terminal && code == 0) fputc('\n', stdout);
        if (fflush(stdout) != 0 || ferror(stdout)) return 1;  // nobody reads any more
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    return code;
}

int tool_status(int argc, char **argv) {
    struct status_command command = {0};
    bool formatted = false;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:", status_options, NULL)) != -1;) {
        switch (option) {
        case 'h': fputs(status_help, stdout); return 0;
        case 'o':
            formatted = true;
            if (tool_parse_format(optarg, &command.format)) break;
            return tool_usage_error("status", "--output %s: wants table, tsv, csv or json", optarg);
        case OPT_WATCH: command.watch = true; break;
        case OPT_WHY: command.window = optarg; break;
        default: return tool_option_error("status", option, argv, status_options);
        }
    }
    if (optind == argc) return tool_usage_error("status", "wants a state directory");
    command.dir = argv[optind++];
    if (command.window != NULL && optind < argc) command.key = argv[optind++];
    if (optind < argc) return tool_usage_error("status", "\"%.200s\" is one word too many", argv[optind]);
    if (command.window != NULL && formatted)
        return tool_usage_error("status", "--why answers in words, without --output");
    return command.watch ? watch(&command) : show_status(&command);
}

static void on_result(void *ctx, const tide_column *columns, size_t count, bool continued) {
    tool_output_begin(ctx, columns, count, continued);
}

static bool on_row(void *ctx, const char *op, const tide_text *values, size_t count) {
    return tool_output_row(ctx, op, values, count);
}

static void on_result_end(void *ctx) {
    tool_output_end(ctx);
}

static void on_message(void *ctx, enum tide_severity severity, const tide_error *message) {
    (void)ctx;
    tool_show_error(severity == TIDE_WARNING ? "warning" : "note", message);
}

static int run_query(const char *dir, const char *sql, struct tool_output *output) {
    char *text = NULL;
    size_t len = strlen(sql);
    if (strcmp(sql, "-") == 0 && !tool_read_file("-", &text, &len)) return 1;
    tide_error err = {0};
    tide_handler handler = {output, on_result, on_row, on_result_end, on_message, NULL, NULL};
    tide_status status = tide_job_query(dir, text != NULL ? text : sql, len, &handler, &err);
    fflush(stdout);
    if (status != TIDE_OK) tool_show_error("error", &err);
    free(text);
    free(output->columns);
    return tide_status_exit_code(status);
}

int tool_query(int argc, char **argv) {
    struct tool_output output = {.header = true, .no_op = true, .file = stdout};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:", query_options, NULL)) != -1;) {
        switch (option) {
        case 'h': fputs(query_help, stdout); return 0;
        case 'o':
            if (tool_parse_format(optarg, &output.format)) break;
            return tool_usage_error("query", "--output %s: wants table, tsv, csv or json", optarg);
        case OPT_TYPES: output.types = true; break;
        case OPT_NO_HEADER: output.header = false; break;
        default: return tool_option_error("query", option, argv, query_options);
        }
    }
    if (optind + 2 != argc) return tool_usage_error("query", "wants a state directory and a query");
    return run_query(argv[optind], argv[optind + 1], &output);
}
