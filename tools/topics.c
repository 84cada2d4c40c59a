// What `tidemark help TOPIC` shows: what belongs to more than one subcommand.
#include "tools/tools.h"

static const struct tool_topic topics[] = {
    {"exit", "exit codes",
     "0   done\n"
     "1   failed: the data or the machine stopped it\n"
     "2   wrong script or options\n"
     "3   a savepoint can't be read or is damaged\n"
     "4   run: the savepoint does not fit the script\n"
     "5   run: stopped by a signal after a checkpoint; the same command resumes\n"
     "6   run: stopped, and no checkpoint could be taken\n"
     "10  check: partially compatible (0 with --fail-on incompatible)\n"
     "20  check: incompatible\n"
     "30  check: can't tell\n"},
    {"formats", "table, tsv, csv, json",
     "table   for people: the layout of Flink's SQL client; what is too long ends in ...\n"
     "tsv     a header, then a row a line; <NULL> is NULL; tab, newline, carriage return and backslash inside a value "
     "are\n"
     "        \\t, \\n, \\r and \\\\; an empty line after each result. --types adds a line of types, --no-header "
     "leaves it out\n"
     "csv     RFC 4180: NULL is an empty field, an empty string \"\"\n"
     "json    an object a line; a byte that is no UTF-8 is U+DC00 and the byte\n"
     "Changes of a result (run) have a first column op: +I, -U, +U, -D.\n"},
    {"state", "state directories, checkpoints, savepoints",
     "A state directory (run --state-dir DIR) is a job's home: a lock, the socket it answers on, its working state, "
     "and its\n"
     "checkpoints, the newest of which it resumes from. A savepoint (tidemark savepoint take, run "
     "--stop-with-savepoint) is\n"
     "one file that holds everything: it can be copied, inspected, compared, and started from (run --from).\n"
     "docs/savepoint-format.md has every byte of it.\n"},
    {"watermarks", "when windows fire, and why they do not",
     "A window [start, end) fires when the watermark reaches the millisecond before its end. A table's watermark "
     "follows\n"
     "from WATERMARK FOR ts AS ...: with `ts - INTERVAL '5' SECOND` it is five seconds behind the latest row. With "
     "several\n"
     "sources the least watermark counts; `tidemark status` says which source that is, and which are idle and do not "
     "count.\n"
     "`tidemark status DIR --why '2024-01-01 00:00'` explains one window. A row whose window has fired is late and "
     "dropped.\n"},
};

const struct tool_topic *tool_topic(size_t index) {
    return index < sizeof topics / sizeof *topics ? &topics[index] : NULL;
}
