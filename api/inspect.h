// The summary of a savepoint in its four forms. Inside api/ only.
#ifndef TIDE_API_INSPECT_H
#define TIDE_API_INSPECT_H

#include "checkpoint/savepoint.h"
#include "tidemark.h"

struct inspected {
    const char *path;     // of the file
    const char *skipped;  // newer checkpoints that could not be read; NULL: none
    uint64_t bytes;
    const struct savepoint_info *info;
};

// The file itself, or the newest checkpoint of a state directory. *out must be closed; strings live in the arena.
tide_status tide__api_savepoint_find(const char *path, struct arena *arena, struct savepoint **out,
                                     const char **out_path, const char **out_skipped, tide_error *err) TIDE_CHECKED;

void tide__api_inspect_json(const struct inspected *in, struct strbuf *out);
// Lines of section, name, field, value.
void tide__api_inspect_lines(const struct inspected *in, bool csv, struct strbuf *out);

// Reads `2024-01-01 00:00:00.000`; seconds, the time of day may be left out, T may stand for the blank.
bool tide__api_parse_time(struct str text, int64_t *out);
// "2024-01-01 00:00:00.000"; "none" and "end" for watermarks that are none.
void tide__api_put_time(int64_t ms, struct strbuf *out);
const char *tide__api_part_kind(enum task_part_kind kind);
// NULL: the plan has no such operator.
const struct plan_operator *tide__api_operator(const struct savepoint_info *info, const char *operator_id);
// The text of an operator's first clause of that code; NULL: it has none. `op` may be NULL.
const char *tide__api_clause(const struct plan_operator *op, const char *code);

#endif
