// "did you mean": the word of a list that is nearest to a misspelt one, by the Damerau-Levenshtein distance.
#include "tools/tools.h"

#include <getopt.h>
#include <string.h>

enum { WORD_MAX = 40 };

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

// Insertions, deletions, changes and swaps of neighbours that make b of a.
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t rows[3][WORD_MAX + 1];  // of the table: the one before last, the last, this
    for (size_t j = 0; j <= b_len; j++) rows[1][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        rows[2][0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t changed = rows[1][j - 1] + (a[i - 1] != b[j - 1]);
            rows[2][j] = min(changed, min(rows[1][j], rows[2][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[2][j] = min(rows[2][j], rows[0][j - 2] + 1);
        }
        memcpy(rows[0], rows[1], sizeof rows[0]);
        memcpy(rows[1], rows[2], sizeof rows[1]);
    }
    return rows[1][b_len];
}

const char *tool_nearest(const char *word, size_t len, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t best_distance = len / 3 + 1;  // of a third of the letters at most, and of one in any case
    if (len < 2 || len > WORD_MAX) return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t name_len = strlen(names[i]);
        if (name_len > WORD_MAX) continue;
        size_t d = distance(word, len, names[i], name_len);
        if (d > best_distance || d >= len || (best != NULL && d == best_distance)) continue;
        best = names[i];
        best_distance = d;
    }
    return best;
}

// What getopt_long did not like: argv[optind - 1], with `options` the long ones.
int tool_option_error(const char *subcommand, int found, char **argv, const struct option *options) {
    const char *word = argv[optind - 1];
    if (found == ':') return tool_usage_error(subcommand, "%s wants a value", word);
    bool is_long = optopt == 0;  // getopt_long's way to say so
    const char *names[64];
    size_t count = 0;
    for (; options[count].name != NULL && count < 64; count++) {
        names[count] = options[count].name;
        if (optopt != 0 && options[count].val == optopt)
            return tool_usage_error(subcommand, "--%s takes no value", names[count]);
    }
    if (!is_long) return tool_usage_error(subcommand, "unknown option -%c", optopt);
    size_t len = strcspn(word + 2, "=");
    const char *near = tool_nearest(word + 2, len, names, count);
    if (near != NULL) return tool_usage_error(subcommand, "unknown option %s: did you mean --%s?", word, near);
    return tool_usage_error(subcommand, "unknown option %s", word);
}
