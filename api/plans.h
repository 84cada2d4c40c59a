// The plans of a script's jobs, compiled but not run: what the compatibility check compares.
#ifndef TIDE_API_PLANS_H
#define TIDE_API_PLANS_H

#include "base/arena.h"
#include "base/error.h"
#include "checkpoint/compat/check.h"
#include "checkpoint/savepoint.h"
#include "engine/plan.h"

struct parser;
struct sql_session;

// Everything lives in `arena` and in the session, until tide__api_plans_close.
struct script_plans {
    struct compat_script script;
    bool
        as_run;  // set before it is opened: planned as `run` plans it, not as a check does (AVG as a quotient, early results)
    // private
    struct parser *parser;
    struct sql_session *session;
};

// Compiles the statements of a script in order. `sql` and `name` are borrowed. `only`: the one job (from 0) whose plan is wanted;
// UINT32_MAX: all of them.
tide_status tide__api_plans_open(const char *name, struct str sql, uint32_t only, struct arena *arena,
                                 struct script_plans *out, tide_error *err) TIDE_CHECKED;
// The same of a savepoint: the one job that it is of, from the script's text in it, `as_run`: a script to compare it with is opened in
// the same way, so that `check` says what `run` will do. TIDE_ERR_REFUSED: this program plans it differently from the one that wrote
// it, so that its state can't be told.
tide_status tide__api_plans_of_savepoint(const struct savepoint_info *info, const char *name, struct arena *arena,
                                         struct script_plans *out, tide_error *err) TIDE_CHECKED;
// Leaves only the plan of one job; none if there is no such job.
void tide__api_plans_only(struct compat_script *script, uint32_t job);
void tide__api_plans_close(struct script_plans *plans);
// The SET options that the check reads, as the session has them now.
void tide__api_plans_settings(const struct sql_session *session, struct arena *arena, struct compat_script *out);

#endif
