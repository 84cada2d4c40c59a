// The `--replay` of `tidemark check`.
#include "tools/tools.h"

#include <stdlib.h>

static bool read_script(const char *path, tide_script *out) {
    char *sql;
    if (!tool_read_file(path, &sql, &out->sql_len)) return false;
    out->name = path;
    out->sql = sql;
    out->dir = tool_folder_of(path);
    return true;
}

static void free_script(const tide_script *script) {
    free((void *)script->sql);
    free((void *)script->dir);
}

int tool_replay(const char *old_path, const char *new_path, const char *const *inputs, size_t input_count,
                const uint64_t *after, size_t after_count, enum tide_policy policy, FILE *out) {
    tide_replay replay = {
        .struct_size = sizeof replay,
        .inputs = inputs,
        .input_count = input_count,
        .after = after,
        .after_count = after_count,
        .policy = policy,
    };
    tide_replay_result result = {0};
    tide_error err = {0};
    int code = 1;
    if (read_script(old_path, &replay.old_script) && read_script(new_path, &replay.new_script)) {
        tide_status status = tide_check_replay(&replay, tool_write_file, out, &result, &err);
        if (status == TIDE_OK)
            fprintf(out,
                    "replay: %zu savepoints the same, %zu differ, %zu refused, %zu not compared; OLD itself goes on as "
                    "NEW does after %zu\n",
                    result.same, result.differ, result.refused, result.not_compared, result.unchanged);
        fflush(out);
        if (status != TIDE_OK) tool_show_error("error", &err);
        code = status != TIDE_OK ? tide_status_exit_code(status) : result.differ > 0 ? 1 : result.refused > 0 ? 4 : 0;
    }
    free_script(&replay.old_script);
    free_script(&replay.new_script);
    return code;
}
