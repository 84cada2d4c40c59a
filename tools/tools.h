// What the files of the command share. They see include/tidemark.h and nothing else of the project.
#ifndef TIDE_TOOLS_TOOLS_H
#define TIDE_TOOLS_TOOLS_H

#include "tidemark.h"

#include <stdio.h>

// Subcommands: argv[0] is the subcommand's name. They return the exit code.
int tool_run(int argc, char **argv);
int tool_explain(int argc, char **argv);
int tool_check(int argc, char **argv);
int tool_inspect(int argc, char **argv);
int tool_savepoint(int argc, char **argv);
int tool_stop(int argc, char **argv);
int tool_status(int argc, char **argv);
int tool_query(int argc, char **argv);

// `check OLD NEW --replay INPUT...`: runs both and compares. `after`: rows at which savepoints are taken; none: the default. Writes to `out`. Returns
// 0 if all savepoints give the same rows, 1 if some do not, 4 if the restore is refused, else the exit code of the error.
int tool_replay(const char *old_path, const char *new_path, const char *const *inputs, size_t input_count,
                const uint64_t *after, size_t after_count, enum tide_policy policy, FILE *out);

// What `tidemark help TOPIC` shows; NULL behind the last one.
struct tool_topic {
    const char *name, *summary, *text;
};
const struct tool_topic *tool_topic(size_t index);

// --- text on stderr -----------------------------------------------------------------------------------------------------

// Whether stderr takes colour: a terminal, and no NO_COLOR.
bool tool_colour(void);
// `FILE:LINE:COLUMN: error: MESSAGE`, the line with a caret, the hint. label: "error", "warning", "note".
void tool_show_error(const char *label, const tide_error *err);
// A wrong command line: message and where to find help; returns 2.
int tool_usage_error(const char *subcommand, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The name nearest to a misspelt word, NULL if none is near.
const char *tool_nearest(const char *word, size_t len, const char *const *names, size_t count);
// What getopt_long refused (`found`: '?' or ':'), with the option that was meant; returns 2.
struct option;
int tool_option_error(const char *subcommand, int found, char **argv, const struct option *options);
// Clears the progress line before other text goes to stderr.
void tool_clear_progress(void);
void tool_show_progress(const tide_progress *progress);

// A whole file, or standard input for "-". The caller frees *out. False: a message was shown.
bool tool_read_file(const char *path, char **out, size_t *out_len);
// The folder of a path ("." if it has none), to be freed.
char *tool_folder_of(const char *path);
// tide_write_fn to a FILE *.
void tool_write_file(void *ctx, const char *data, size_t len);

// "-" for a savepoint: a file of a given name in a folder of its own, removed by tool_temporary_close. False: a message was
// shown.
struct tool_temporary {
    char folder[64], path[96];  // "" while there is none
};
bool tool_temporary_open(struct tool_temporary *temporary, const char *name);
bool tool_temporary_from_stdin(struct tool_temporary *temporary);
bool tool_temporary_to_stdout(const struct tool_temporary *temporary);
void tool_temporary_close(struct tool_temporary *temporary);

// `10s`, `200 ms`, `1 min`; `64MB`, `1g`; whole numbers. False: not one.
bool tool_parse_duration(const char *text, int64_t *out_ms);
bool tool_parse_size(const char *text, uint64_t *out_bytes);
bool tool_parse_count(const char *text, uint64_t *out);

// --- signals ------------------------------------------------------------------------------------------------------------

// From now on the first SIGINT or SIGTERM asks for a stop with a checkpoint, the second for a stop at once.
void tool_catch_signals(void);
int tool_signals_seen(void);

// --- printing results -----------------------------------------------------------------------------------------------------

enum tool_format { TOOL_TABLE, TOOL_TSV, TOOL_CSV, TOOL_JSON };
bool tool_parse_format(const char *text, enum tool_format *out);

struct tool_output {
    enum tool_format format;
    bool types, header;
    bool no_op;  // rows of a table, not changes: no column for the kind of change
    FILE *file;
    // private
    tide_column *columns;
    size_t column_count;
    uint64_t rows;
};
void tool_output_begin(struct tool_output *output, const tide_column *columns, size_t count, bool continued);
bool tool_output_row(struct tool_output *output, const char *op, const tide_text *values, size_t count);
void tool_output_end(struct tool_output *output);

#endif
