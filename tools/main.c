// tidemark: finds the subcommand.
#include "tools/tools.h"

#include <malloc.h>
#include <string.h>

// Windows come and go by the megabyte. glibc would give each one's memory back to the system and fault it in again for the
// next one: a third of a Top-N job's time. What stays is bounded by --memory.
static void keep_freed_memory(void) {
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} subcommands[] = {
    {"run", tool_run, "run the statements of a Flink SQL script"},
    {"check", tool_check, "may a changed script go on from the old one's state?"},
    {"explain", tool_explain, "show a script's plan"},
    {"inspect", tool_inspect, "look into a savepoint or a state directory"},
    {"savepoint", tool_savepoint, "take, verify, salvage or list savepoints"},
    {"status", tool_status, "what a job is doing, and why a window has not fired"},
    {"query", tool_query, "SQL over the state of a running job"},
    {"stop", tool_stop, "stop a running job with a checkpoint"},
};
#define SUBCOMMAND_COUNT (sizeof subcommands / sizeof subcommands[0])

static void print_help(FILE *file) {
    fputs("usage: tidemark SUBCOMMAND [OPTION...]\n\n"
          "Runs Flink SQL window queries as one native process, with checkpoints and savepoints.\n\n",
          file);
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
        fprintf(file, "  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
    fputs("\nHelp topics, `tidemark help TOPIC`:\n\n", file);
    for (size_t i = 0; tool_topic(i) != NULL; i++)
        fprintf(file, "  %-10s %s\n", tool_topic(i)->name, tool_topic(i)->summary);
    fputs("\n`tidemark help SUBCOMMAND` tells its options; `tidemark --version` the version.\n"
          "stdout carries data, stderr messages. Exit: 0 done, 1 failed, 2 wrong script or options, 3 a savepoint\n"
          "can't be read; run: 4 refused, 5 stopped after a checkpoint, 6 stopped without one; check: 10, 20, 30.\n",
          file);
}

static int run_subcommand(int argc, char **argv) {
    const char *names[SUBCOMMAND_COUNT] = {0};
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(argv[0], subcommands[i].name) == 0) return subcommands[i].run(argc, argv);
        names[i] = subcommands[i].name;
    }
    const char *near = tool_nearest(argv[0], strlen(argv[0]), names, SUBCOMMAND_COUNT);
    if (near != NULL)
        fprintf(stderr, "tidemark: unknown subcommand \"%.80s\": did you mean %s?\n", argv[0], near);
    else
        fprintf(stderr, "tidemark: unknown subcommand \"%.80s\"; `tidemark --help` lists them\n", argv[0]);
    return 2;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    bool help = strcmp(argv[1], "help") == 0;
    if (help && argc == 3 && argv[2][0] != '-') {
        for (size_t i = 0; tool_topic(i) != NULL; i++)
            if (strcmp(tool_topic(i)->name, argv[2]) == 0) return fputs(tool_topic(i)->text, stdout) < 0;
        char *words[] = {argv[2], (char[]){"--help"}, NULL};
        return run_subcommand(2, words);
    }
    if (help || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("tidemark " TIDE_VERSION);
        return 0;
    }
    keep_freed_memory();
    return run_subcommand(argc - 1, argv + 1);
}
