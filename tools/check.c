// tidemark check OLD NEW
#include "tools/tools.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_POLICY = 256,
    OPTION_FAIL_ON,
    OPTION_WAIVERS,
    OPTION_EXPLAIN,
    OPTION_RULES,
    OPTION_DOCUMENT,
    OPTION_REPLAY,
    OPTION_REPLAY_AFTER
};

static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                             {"format", required_argument, NULL, 'f'},
                                             {"policy", required_argument, NULL, OPTION_POLICY},
                                             {"fail-on", required_argument, NULL, OPTION_FAIL_ON},
                                             {"waivers", required_argument, NULL, OPTION_WAIVERS},
                                             {"explain", required_argument, NULL, OPTION_EXPLAIN},
                                             {"rules", no_argument, NULL, OPTION_RULES},
                                             {"rules-document", no_argument, NULL, OPTION_DOCUMENT},
                                             {"replay", no_argument, NULL, OPTION_REPLAY},
                                             {"replay-after", required_argument, NULL, OPTION_REPLAY_AFTER},
                                             {NULL, 0, NULL, 0}};

static const char help[] =
    "usage: tidemark check [OPTION...] OLD NEW\n"
    "       tidemark check [OPTION...] OLD NEW --replay INPUT...\n\n"
    "Can the script NEW go on from OLD: a script, a savepoint file or a state directory? Needs no data and no running "
    "job.\n"
    "A comment `-- uid: NAME` before an INSERT or a view names its operators across versions.\n\n"
    "      --policy strict|exact   strict (default): the published rules; exact: the strongest sound verdict\n"
    "  -f, --format FORMAT         text (default), json, sarif, junit, github\n"
    "      --fail-on partial|incompatible\n"
    "                              what exits with 10 (default partial); incompatible turns 10 into 0, never 30\n"
    "      --waivers FILE          YAML: changes that stay listed but don't count (fingerprint, reason, until)\n"
    "      --replay INPUT...       prove it: run OLD over the input, go on with NEW from savepoints on the way, and "
    "compare with\n"
    "                              NEW from the start. INPUT is TABLE=FILE, or a file for all source tables; sinks are "
    "not written to\n"
    "      --replay-after ROWS     a savepoint after so many rows (repeatable; default: after each quarter)\n"
    "      --explain CODE          one rule, with an example\n"
    "      --rules                 the table of rules\n"
    "  -h, --help                  this text\n\n"
    "Exit: 0 compatible, 10 partially compatible, 20 incompatible, 30 can't tell; 1 a replay gave other rows; 2 wrong "
    "script\n"
    "or options, 3 a savepoint can't be read.\n";

enum { REPLAY_AFTER_MAX = 64 };

struct arguments {
    tide_check check;
    const char *explain, *waivers;
    bool rules, document, replay;
    uint64_t after[REPLAY_AFTER_MAX];
    size_t after_count;
};

static int find_word(const char *text, const char *const *words) {
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0) return i;
    return -1;
}

// The option's word as a number; -1 with a message.
static int word_option(const char *option, const char *text, const char *const *words, const char *wants) {
    int found = find_word(text, words);
    if (found < 0) tool_usage_error("check", "--%s %.80s: wants %s", option, text, wants);
    return found;
}

static int take_option(struct arguments *args, int option, char **argv) {
    static const char *const formats[] = {"text", "json", "sarif", "junit", "github", NULL};
    static const char *const policies[] = {"strict", "exact", NULL};
    static const char *const fails[] = {"partial", "incompatible", NULL};
    int word = 0;
    switch (option) {
    case 'f':
        word = word_option("format", optarg, formats, "text, json, sarif, junit or github");
        args->check.format = (enum tide_check_format)word;
        break;
    case OPTION_POLICY:
        word = word_option("policy", optarg, policies, "strict or exact");
        args->check.policy = (enum tide_policy)word;
        break;
    case OPTION_FAIL_ON:
        word = word_option("fail-on", optarg, fails, "partial or incompatible");
        args->check.fail_on = (enum tide_fail_on)word;
        break;
    case OPTION_WAIVERS: args->waivers = optarg; break;
    case OPTION_EXPLAIN: args->explain = optarg; break;
    case OPTION_RULES: args->rules = true; break;
    case OPTION_DOCUMENT: args->document = true; break;
    case OPTION_REPLAY: args->replay = true; break;
    case OPTION_REPLAY_AFTER:
        if (args->after_count == REPLAY_AFTER_MAX)
            return tool_usage_error("check", "--replay-after: at most %d times", REPLAY_AFTER_MAX);
        if (!tool_parse_count(optarg, &args->after[args->after_count]) || args->after[args->after_count] == 0)
            return tool_usage_error("check", "--replay-after %.80s: wants a number of rows", optarg);
        args->after_count++;
        break;
    default: return tool_option_error("check", option, argv, long_options);
    }
    return word < 0 ? 2 : 0;
}

// A folder, or a file that begins as savepoints do.
static bool is_savepoint(const char *path) {
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0) return false;
    if (S_ISDIR(info.st_mode)) return true;
    char magic[8] = "";
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(magic, 1, sizeof magic, file) : 0;
    if (file != NULL) fclose(file);
    return got == sizeof magic && memcmp(magic, "TIDESAVE", sizeof magic) == 0;
}

static bool read_side(const char *path, tide_check_side *side, char **text) {
    side->name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (!tool_read_file(path, text, &side->sql_len)) return false;
    side->sql = *text;
    return true;
}

static bool stdout_has_colour(void) {
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no == NULL || no[0] == '\0');
}

static int check(struct arguments *args, const char *old_path, const char *new_path) {
    char *old_text = NULL, *new_text = NULL, *waivers = NULL;
    tide_error err = {0};
    tide_check_result result = {0};
    int code = 2;
    bool ok = true;
    if (is_savepoint(old_path)) {
        args->check.old_side.name = args->check.old_side.savepoint = old_path;
    } else {
        ok = read_side(old_path, &args->check.old_side, &old_text);
    }
    ok = ok && read_side(new_path, &args->check.new_side, &new_text);
    if (ok && args->waivers != NULL) {
        ok = tool_read_file(args->waivers, &waivers, &args->check.waivers_len);
        args->check.waivers = waivers;
        args->check.waivers_name = args->waivers;
    }
    if (ok) {
        tide_status status = tide_check_scripts(&args->check, tool_write_file, stdout, &result, &err);
        fflush(stdout);
        code = status == TIDE_OK ? result.exit_code : tide_status_exit_code(status);
        if (status == TIDE_ERR_REFUSED) code = 30;
        if (status != TIDE_OK) tool_show_error("error", &err);
    }
    free(old_text);
    free(new_text);
    free(waivers);
    return code;
}

static int explain(const char *code) {
    tide_error err = {0};
    tide_status status = tide_check_explain(code, tool_write_file, stdout, &err);
    if (status != TIDE_OK) tool_show_error("error", &err);
    return tide_status_exit_code(status);
}

int tool_check(int argc, char **argv) {
    struct arguments args = {.check = {.struct_size = sizeof(tide_check), .colour = stdout_has_colour()}};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":hf:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return 0;
        }
        int code = take_option(&args, option, argv);
        if (code != 0) return code;
    }
    if (args.rules) tide_check_rules(tool_write_file, stdout);
    if (args.document) tide_check_document(tool_write_file, stdout);
    if (args.rules || args.document) return 0;
    if (args.explain != NULL) return explain(args.explain);
    if (!args.replay && optind + 2 != argc) return tool_usage_error("check", "wants OLD and NEW");
    if (args.replay && optind + 2 > argc) return tool_usage_error("check", "wants OLD, NEW and the inputs to replay");
    const char *old_path = argv[optind], *new_path = argv[optind + 1];
    if (args.replay && is_savepoint(old_path))
        return tool_usage_error("check", "--replay wants OLD to be a script: it runs it");
    int code = check(&args, old_path, new_path);
    if (!args.replay || (code != 0 && code < 10)) return code;
    FILE *out = args.check.format == TIDE_CHECK_TEXT ? stdout : stderr;
    const char *const *inputs = (const char *const *)argv + optind + 2;
    int replayed = tool_replay(old_path, new_path, inputs, (size_t)(argc - optind - 2), args.after, args.after_count,
                               args.check.policy, out);
    return replayed != 0 && replayed != 4 ? replayed : code;
}
