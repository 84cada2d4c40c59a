// tidemark run JOB.sql
#include "tools/tools.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct run_command {
    tide_options options;
    struct tool_output output;
    enum progress_mode progress;
    bool after_given, quiet;
    double flushed;  // when standard output last was
};

#define FLUSH_SECONDS 0.1

enum {
    OPT_TYPES = 256,
    OPT_NO_HEADER,
    OPT_STATE_DIR,
    OPT_RESTART,
    OPT_FROM,
    OPT_POLICY,
    OPT_ON_INCOMPATIBLE,
    OPT_ACCEPT_UNSOUND,
    OPT_ACCEPT_CHANGED,
    OPT_INTERVAL,
    OPT_EVERY,
    OPT_RETAIN,
    OPT_STOP,
    OPT_AFTER,
    OPT_PARALLELISM,
    OPT_MEMORY,
    OPT_BATCH,
    OPT_STRICT,
    OPT_PROGRESS,
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"types", no_argument, NULL, OPT_TYPES},
    {"no-header", no_argument, NULL, OPT_NO_HEADER},
    {"state-dir", required_argument, NULL, OPT_STATE_DIR},
    {"restart", no_argument, NULL, OPT_RESTART},
    {"from", required_argument, NULL, OPT_FROM},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"on-incompatible", required_argument, NULL, OPT_ON_INCOMPATIBLE},
    {"accept-unsound", no_argument, NULL, OPT_ACCEPT_UNSOUND},
    {"accept-changed-input", no_argument, NULL, OPT_ACCEPT_CHANGED},
    {"checkpoint-interval", required_argument, NULL, OPT_INTERVAL},
    {"checkpoint-every", required_argument, NULL, OPT_EVERY},
    {"retain", required_argument, NULL, OPT_RETAIN},
    {"stop-with-savepoint", required_argument, NULL, OPT_STOP},
    {"after", required_argument, NULL, OPT_AFTER},
    {"parallelism", required_argument, NULL, OPT_PARALLELISM},
    {"memory", required_argument, NULL, OPT_MEMORY},
    {"batch-rows", required_argument, NULL, OPT_BATCH},
    {"strict-windows", no_argument, NULL, OPT_STRICT},
    {"progress", required_argument, NULL, OPT_PROGRESS},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: tidemark run [OPTION...] JOB.sql\n\n"
    "Runs the statements of a Flink SQL script in order. `-` reads the script from standard input.\n"
    "SELECT prints its rows; INSERT INTO and EXECUTE STATEMENT SET are jobs with sinks.\n\n"
    "Output\n"
    "  -o, --output FORMAT           table (default), tsv, csv, json (one object a line)\n"
    "      --types                   tsv, csv: a second header line with Flink's types\n"
    "      --no-header               no header\n"
    "      --progress WHEN           auto (default: on a terminal), always, never\n"
    "  -q, --quiet                   no summary and no notes on stderr\n"
    "  -h, --help                    this text\n\n"
    "State\n"
    "      --state-dir DIR           the job's home: it resumes from the newest checkpoint in it\n"
    "      --restart                 forget the state directory's checkpoints and begin anew\n"
    "      --from SAVEPOINT          start from this file (`-`: standard input), or from the newest of a state "
    "directory\n"
    "      --checkpoint-interval D   as `10 s`, plain numbers are ms; default: the script's SET, else 10 s with a "
    "state\n"
    "                                directory\n"
    "      --checkpoint-every ROWS   a checkpoint every so many source rows\n"
    "      --retain N                checkpoints kept (default 3)\n"
    "      --stop-with-savepoint F   with --after ROWS: stop after exactly so many source rows, with a savepoint in F\n"
    "      --after ROWS              where --stop-with-savepoint stops\n"
    "      --policy P                strict (default) or exact: the check before a restore\n"
    "      --on-incompatible WHAT    fail (default), partial, reset\n"
    "      --accept-unsound          restore where the published rules allow more than is sound\n"
    "      --accept-changed-input    restore though an input file was changed\n\n"
    "Running\n"
    "      --parallelism N           threads (default: the cores); never changes the output\n"
    "      --memory SIZE             one budget for all memory (default 512MB)\n"
    "      --batch-rows N            rows a batch (for tests)\n"
    "      --strict-windows          a query that lost its window columns is an error\n\n"
    "SIGINT or SIGTERM: stop with a checkpoint; a second one: stop now.\n"
    "Exit: 0 the input ended or the asked savepoint was taken, 1 failed, 2 wrong script or options, 3 a savepoint "
    "can't\n"
    "be read, 4 refused, 5 stopped by a signal after a checkpoint, 6 no checkpoint could be taken.\n";

// --- options ---------------------------------------------------------------------------------------------------------

static int bad_value(const char *option, const char *value, const char *wanted) {
    return tool_usage_error("run", "--%s %s: %s", option, value, wanted);
}

// One of two words; -1 if neither.
static int choose(const char *value, const char *const *words) {
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(value, words[i]) == 0) return i;
    return -1;
}

static int set_count(const char *option, const char *value, uint64_t min, uint64_t max, uint64_t *out) {
    if (tool_parse_count(value, out) && *out >= min && *out <= max) return 0;
    return tool_usage_error("run", "--%s %s: wants a whole number from %llu to %llu", option, value,
                            (unsigned long long)min, (unsigned long long)max);
}

static int set_counted_option(struct run_command *command, int option, const char *value) {
    uint64_t n = 0;
    int status = 0;
    switch (option) {
    case OPT_EVERY:
        return set_count("checkpoint-every", value, 1, UINT64_MAX / 2, &command->options.checkpoint_every_rows);
    case OPT_AFTER:
        command->after_given = true;
        return set_count("after", value, 0, UINT64_MAX / 2, &command->options.stop_after_rows);
    case OPT_RETAIN:
        status = set_count("retain", value, 1, 100000, &n);
        command->options.retain = (uint32_t)n;
        return status;
    case OPT_PARALLELISM:
        status = set_count("parallelism", value, 1, 256, &n);
        command->options.parallelism = (uint32_t)n;
        return status;
    case OPT_BATCH:
        status = set_count("batch-rows", value, 1, 65536, &n);
        command->options.batch_rows = (uint32_t)n;
        return status;
    }
    return 2;
}

static int set_worded_option(struct run_command *command, int option, const char *value) {
    static const char *const policies[] = {"strict", "exact", NULL};
    static const char *const reactions[] = {"fail", "partial", "reset", NULL};
    static const char *const modes[] = {"auto", "always", "never", NULL};
    int chosen;
    switch (option) {
    case OPT_POLICY:
        if ((chosen = choose(value, policies)) < 0) return bad_value("policy", value, "wants strict or exact");
        command->options.policy = (enum tide_policy)chosen;
        return 0;
    case OPT_ON_INCOMPATIBLE:
        if ((chosen = choose(value, reactions)) < 0)
            return bad_value("on-incompatible", value, "wants fail, partial or reset");
        command->options.on_incompatible = (enum tide_on_incompatible)chosen;
        return 0;
    case OPT_PROGRESS:
        if ((chosen = choose(value, modes)) < 0) return bad_value("progress", value, "wants auto, always or never");
        command->progress = (enum progress_mode)chosen;
        return 0;
    }
    return 2;
}

static int set_option(struct run_command *command, int option, const char *value) {
    switch (option) {
    case 'o':
        if (tool_parse_format(value, &command->output.format)) return 0;
        return bad_value("output", value, "wants table, tsv, csv or json");
    case 'q': command->quiet = true; return 0;
    case OPT_TYPES: command->output.types = true; return 0;
    case OPT_NO_HEADER: command->output.header = false; return 0;
    case OPT_STATE_DIR: command->options.state_dir = value; return 0;
    case OPT_RESTART: command->options.restart = true; return 0;
    case OPT_FROM: command->options.from = value; return 0;
    case OPT_ACCEPT_UNSOUND: command->options.accept_unsound = true; return 0;
    case OPT_ACCEPT_CHANGED: command->options.accept_changed_input = true; return 0;
    case OPT_STRICT: command->options.strict_windows = true; return 0;
    case OPT_STOP: command->options.stop_savepoint = value; return 0;
    case OPT_INTERVAL:
        if (tool_parse_duration(value, &command->options.checkpoint_interval_ms)) return 0;
        return bad_value("checkpoint-interval", value, "wants a duration such as 10s or 500ms");
    case OPT_MEMORY:
        if (!tool_parse_size(value, &command->options.memory_bytes))
            return bad_value("memory", value, "wants a size such as 512MB");
        if (command->options.memory_bytes < (1 << 20)) return bad_value("memory", value, "wants at least 1MB");
        return 0;
    case OPT_POLICY:
    case OPT_ON_INCOMPATIBLE:
    case OPT_PROGRESS: return set_worded_option(command, option, value);
    case OPT_EVERY:
    case OPT_AFTER:
    case OPT_RETAIN:
    case OPT_PARALLELISM:
    case OPT_BATCH: return set_counted_option(command, option, value);
    }
    return tool_usage_error("run", "unknown option");
}

static int check_together(const struct run_command *command, const char *path) {
    if (command->after_given && command->options.stop_savepoint == NULL)
        return tool_usage_error("run", "--after needs --stop-with-savepoint FILE");
    if (command->options.stop_savepoint != NULL && !command->after_given)
        return tool_usage_error("run", "--stop-with-savepoint needs --after ROWS");
    if (command->options.restart && command->options.state_dir == NULL)
        return tool_usage_error("run", "--restart needs --state-dir DIR");
    const char *stop = command->options.stop_savepoint, *from = command->options.from;
    if (stop != NULL && (strcmp(stop, "-") == 0 || stop[0] == '\0'))
        return tool_usage_error("run", "--stop-with-savepoint wants the name of a file");
    if (from != NULL && from[0] == '\0')
        return tool_usage_error("run", "--from wants a savepoint or a state directory");
    if (from != NULL && strcmp(from, "-") == 0 && strcmp(path, "-") == 0)
        return tool_usage_error("run", "the script and the savepoint can't both come from standard input");
    return 0;
}

// --- what the script says ----------------------------------------------------------------------------------------------

static void on_result(void *ctx, const tide_column *columns, size_t count, bool continued) {
    tool_clear_progress();
    tool_output_begin(&((struct run_command *)ctx)->output, columns, count, continued);
}

static bool on_row(void *ctx, const char *op, const tide_text *values, size_t count) {
    tool_clear_progress();
    return tool_output_row(&((struct run_command *)ctx)->output, op, values, count);
}

static void on_result_end(void *ctx) {
    tool_clear_progress();
    tool_output_end(&((struct run_command *)ctx)->output);
}

static void on_message(void *ctx, enum tide_severity severity, const tide_error *message) {
    if (severity == TIDE_NOTE && ((struct run_command *)ctx)->quiet) return;
    fflush(stdout);
    tool_show_error(severity == TIDE_WARNING ? "warning" : "note", message);
}

static void on_progress(void *ctx, const tide_progress *progress) {
    (void)ctx;
    tool_show_progress(progress);
}

// Asked often. Rows of a job that goes on for days must not lie in a buffer.
static int interrupted(void *ctx) {
    struct run_command *command = ctx;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    double seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    if (seconds - command->flushed > FLUSH_SECONDS) {
        fflush(stdout);
        command->flushed = seconds;
    }
    return tool_signals_seen();
}

static void put_count(uint64_t n, const char *noun, const char *behind) {
    fprintf(stderr, "%llu %s%s%s", (unsigned long long)n, noun, n == 1 ? "" : "s", behind);
}

static void show_summary(const tide_summary *s) {
    tool_clear_progress();
    put_count(s->rows_in, "row", " in, ");
    put_count(s->rows_out, "row", " out, ");
    put_count(s->late_rows, "late row", " dropped, ");
    if (s->rows_skipped > 0) put_count(s->rows_skipped, "unreadable row", " skipped, ");
    put_count(s->windows_fired, "window", " fired, ");
    put_count(s->checkpoints, "checkpoint", "");
    if (s->checkpoints > 0)
        fprintf(
            stderr,
            " (%llu of them deltas, %llu bytes in all, the last %llu; pauses: longest %.1f ms, 99 %% at most %.1f ms; "
            "durable after at most %.2f s)",
            (unsigned long long)s->checkpoint_deltas, (unsigned long long)s->checkpoint_bytes_all,
            (unsigned long long)s->checkpoint_bytes, s->checkpoint_pause_ms_max, s->checkpoint_pause_ms_p99,
            s->checkpoint_seconds_max);
    fprintf(stderr, ", %.2f s\n", s->seconds);
}

static int run_script(struct run_command *command, const char *path) {
    char *sql, *folder = tool_folder_of(path);
    size_t len;
    if (!tool_read_file(path, &sql, &len)) {
        free(folder);
        return 2;
    }
    bool progress = command->progress == PROGRESS_ALWAYS ||
                    (command->progress == PROGRESS_AUTO && isatty(STDERR_FILENO));
    tide_handler handler = {
        .ctx = command,
        .on_result = on_result,
        .on_row = on_row,
        .on_result_end = on_result_end,
        .on_message = on_message,
        .on_progress = progress ? on_progress : NULL,
        .interrupted = interrupted,
    };
    tool_catch_signals();
    tide_summary summary;
    tide_error err = {0};
    tide_status status = tide_script_run(strcmp(path, "-") == 0 ? "standard input" : path, sql, len, folder,
                                         &command->options, &handler, &summary, &err);
    errno = 0;
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (!written && (errno == EPIPE || errno == 0) && isatty(STDOUT_FILENO) == 0) {
        // The reader has seen enough (`| head`): that is no fault of anyone's.
    } else if (status != TIDE_OK)
        tool_show_error(status == TIDE_ERR_STOPPED ? "note" : "error", &err);
    else if (!written)
        fputs("tidemark: standard output can't be written\n", stderr);
    if (!command->quiet && summary.jobs > 0) show_summary(&summary);
    free(command->output.columns);
    free(sql);
    free(folder);
    return status == TIDE_OK && !written ? 1 : tide_status_exit_code(status);
}

int tool_run(int argc, char **argv) {
    struct run_command command = {.output = {.header = true, .file = stdout}};
    tide_options_init(&command.options);
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":ho:q", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (option == '?' || option == ':') return tool_option_error("run", option, argv, long_options);
        int status = set_option(&command, option, optarg);
        if (status != 0) return status;
    }
    if (optind + 1 != argc) return tool_usage_error("run", optind == argc ? "wants a script" : "wants just one script");
    int status = check_together(&command, argv[optind]);
    if (status != 0) return status;
    if (command.options.from == NULL || strcmp(command.options.from, "-") != 0)
        return run_script(&command, argv[optind]);
    struct tool_temporary temporary;
    bool kept = tool_temporary_from_stdin(&temporary);
    command.options.from = temporary.path;
    status = kept ? run_script(&command, argv[optind]) : 1;
    tool_temporary_close(&temporary);
    return status;
}
