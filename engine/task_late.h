// Keeping late rows in files: see task_late.c.
#ifndef TIDE_ENGINE_TASK_LATE_H
#define TIDE_ENGINE_TASK_LATE_H

#include "engine/connectors/connector.h"

// The name of its part in a snapshot. No operator has it: ids end in a number.
#define LATE_PART "late-data"

struct late_sink;

// *out NULL: the job does not keep late rows.
tide_status tide__late_open(const struct plan *plan, const char *script_dir, const char *run_id, struct late_sink **out,
                            tide_error *err) TIDE_CHECKED;
void tide__late_close(struct late_sink *late);
// The failure of a write since the last call.
tide_status tide__late_check(const struct late_sink *late, tide_error *err) TIDE_CHECKED;
// As a sink's.
tide_status tide__late_prepare(struct late_sink *late, struct strbuf *out, tide_error *err) TIDE_CHECKED;
tide_status tide__late_commit(struct late_sink *late, struct str prepared, tide_error *err) TIDE_CHECKED;
tide_status tide__late_restore(struct late_sink *late, struct str prepared, tide_error *err) TIDE_CHECKED;
tide_status tide__late_finish(struct late_sink *late, tide_error *err) TIDE_CHECKED;

#endif
