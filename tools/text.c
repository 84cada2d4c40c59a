// Messages, progress, files and numbers for the command.
#include "tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool tool_colour(void) {
    const char *no = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && (no == NULL || no[0] == '\0');
}

// --- messages ----------------------------------------------------------------------------------------------------------

static bool progress_shown;

void tool_clear_progress(void) {
    if (!progress_shown) return;
    fputs(isatty(STDERR_FILENO) ? "\r\033[K" : "", stderr);
    progress_shown = false;
}

static void show_excerpt(const tide_error *err, bool colour) {
    fprintf(stderr, "  %s\n  ", err->excerpt);
    // The caret stands under the character, so tabs before it are repeated and wide ones are counted as one.
    uint32_t at = 0;
    for (const char *c = err->excerpt; *c != '\0' && at < err->caret; c++) {
        if (((unsigned char)*c & 0xC0) == 0x80) continue;
        fputc(*c == '\t' ? '\t' : ' ', stderr);
        at++;
    }
    fprintf(stderr, "%s^%s\n", colour ? "\033[1;32m" : "", colour ? "\033[0m" : "");
}

void tool_show_error(const char *label, const tide_error *err) {
    tool_clear_progress();
    bool colour = tool_colour();
    const char *shade = strcmp(label, "error") == 0     ? "\033[1;31m"
                        : strcmp(label, "warning") == 0 ? "\033[1;35m"
                                                        : "\033[1;36m";
    if (err->file[0] != '\0' && err->line > 0) {
        fprintf(stderr, "%s:%u:", err->file, err->line);
        if (err->column > 0) fprintf(stderr, "%u:", err->column);
        fputc(' ', stderr);
    } else {
        fputs("tidemark: ", stderr);
    }
    fprintf(stderr, "%s%s:%s %s\n", colour ? shade : "", label, colour ? "\033[0m" : "", err->message);
    if (err->excerpt[0] != '\0' && err->line > 0) show_excerpt(err, colour);
    if (err->hint[0] != '\0') fprintf(stderr, "  hint: %s\n", err->hint);
}

int tool_usage_error(const char *subcommand, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "tidemark %s: ", subcommand);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n`tidemark %s --help` tells its options\n", subcommand);
    return 2;
}

// --- progress ------------------------------------------------------------------------------------------------------------

static void format_time(int64_t ms, char *out, size_t size) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    if (ms < 0 || gmtime_r(&seconds, &parts) == NULL || strftime(out, size, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        snprintf(out, size, "-");
}

void tool_show_progress(const tide_progress *progress) {
    char watermark[32];
    format_time(progress->watermark_ms, watermark, sizeof watermark);
    double rate = progress->seconds > 0 ? (double)progress->rows_in / progress->seconds : 0;
    bool terminal = isatty(STDERR_FILENO);
    fprintf(stderr, "%s%llu rows, %.0f rows/s, watermark %s, %llu windows open", terminal ? "\r\033[K" : "",
            (unsigned long long)progress->rows_in, rate, watermark, (unsigned long long)progress->windows_open);
    if (progress->last_checkpoint_seconds >= 0)
        fprintf(stderr, ", checkpoint %llu %.1f s ago", (unsigned long long)progress->checkpoints,
                progress->last_checkpoint_seconds);
    if (progress->bytes_total > progress->bytes_read && progress->bytes_read > 0) {
        double left = progress->seconds * (double)(progress->bytes_total - progress->bytes_read) /
                      (double)progress->bytes_read;
        fprintf(stderr, ", about %.0f s left", left);
    }
    if (!terminal) fputc('\n', stderr);
    fflush(stderr);
    progress_shown = terminal;
}

// --- files -----------------------------------------------------------------------------------------------------------------

bool tool_read_file(const char *path, char **out, size_t *out_len) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "tidemark: can't read %.1000s: %s\n", path, strerror(errno));
        return false;
    }
    size_t cap = 1 << 16, len = 0;
    char *data = malloc(cap);
    while (data != NULL) {
        size_t got = fread(data + len, 1, cap - len, file);
        len += got;
        if (got == 0) break;
        if (len == cap) {
            char *larger = realloc(data, cap * 2);
            if (larger == NULL) free(data);
            data = larger;
            cap *= 2;
        }
    }
    bool fine = data != NULL && !ferror(file);
    if (!fine) {
        fprintf(stderr, "tidemark: can't read %s: %s\n", path, data == NULL ? "out of memory" : strerror(errno));
        free(data);
    }
    if (file != stdin) fclose(file);
    *out = data;
    *out_len = len;
    return fine;
}

char *tool_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL || strcmp(path, "-") == 0) return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

void tool_write_file(void *ctx, const char *data, size_t len) {
    fwrite(data, 1, len, ctx);
}

// --- numbers -----------------------------------------------------------------------------------------------------------------

struct unit {
    const char *name;
    uint64_t factor;
};

// NUMBER [blank] UNIT, any case.
static bool parse_with_unit(const char *text, const struct unit *units, uint64_t *out) {
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0) return false;
    while (*end == ' ') end++;
    for (const struct unit *unit = units; unit->name != NULL; unit++) {
        if (strcasecmp(end, unit->name) != 0) continue;
        return !__builtin_mul_overflow(number, unit->factor, out);
    }
    return false;
}

bool tool_parse_duration(const char *text, int64_t *out_ms) {
    static const struct unit units[] = {{"", 1},           {"ms", 1},          {"milli", 1},       {"millis", 1},
                                        {"s", 1000},       {"sec", 1000},      {"second", 1000},   {"seconds", 1000},
                                        {"m", 60000},      {"min", 60000},     {"minute", 60000},  {"minutes", 60000},
                                        {"h", 3600000},    {"hour", 3600000},  {"hours", 3600000}, {"d", 86400000},
                                        {"day", 86400000}, {"days", 86400000}, {NULL, 0}};
    uint64_t ms;
    if (!parse_with_unit(text, units, &ms) || ms > INT64_MAX / 2) return false;
    *out_ms = (int64_t)ms;
    return true;
}

bool tool_parse_size(const char *text, uint64_t *out_bytes) {
    static const struct unit units[] = {{"", 1},
                                        {"b", 1},
                                        {"k", 1 << 10},
                                        {"kb", 1 << 10},
                                        {"kib", 1 << 10},
                                        {"m", 1 << 20},
                                        {"mb", 1 << 20},
                                        {"mib", 1 << 20},
                                        {"g", 1 << 30},
                                        {"gb", 1 << 30},
                                        {"gib", 1 << 30},
                                        {"t", UINT64_C(1) << 40},
                                        {"tb", UINT64_C(1) << 40},
                                        {NULL, 0}};
    return parse_with_unit(text, units, out_bytes);
}

bool tool_parse_count(const char *text, uint64_t *out) {
    static const struct unit units[] = {{"", 1}, {NULL, 0}};
    return parse_with_unit(text, units, out);
}
