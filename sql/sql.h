// The semantic half of the SQL front end, as api/ sees it: a session with a catalogue and SET options, and one call that
// turns a parsed statement into something done, into rows that are ready, or into a plan for the engine.
//
// A statement's tree (and the script's text under it) must stay in place as long as the session: tables and views keep
// pointers into it.
#ifndef TIDE_SQL_SQL_H
#define TIDE_SQL_SQL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/type.h"
#include "engine/plan.h"

struct statement;
struct sql_session;  // catalogue and SET options; one per script run

struct sql_session *tide__sql_session_new(void) __attribute__((returns_nonnull));
void tide__sql_session_free(struct sql_session *session);
// A GROUP BY or a Top-N that forgets a window column is an error instead of a warning.
void tide__sql_session_set_strict_windows(struct sql_session *session, bool strict);
// The script is only compared: what can be planned but not run yet is no error.
void tide__sql_session_set_checking(struct sql_session *session);
// The value of a SET option; data NULL if it is not set. For options that only the caller knows.
struct str tide__sql_session_option(const struct sql_session *session, const char *key);

enum sql_result_kind {
    SQL_DONE,     // DDL, SET: nothing to show
    SQL_ROWS,     // DESCRIBE, SHOW, a bare SET: the rows are ready
    SQL_JOB,      // SELECT, INSERT, a statement set: plan
    SQL_EXPLAIN,  // EXPLAIN: the plan is to be shown, not run
};

// A small result that is ready: cells[row * column_count + column], data NULL for NULL.
struct sql_rows {
    uint32_t column_count;
    const char **names;
    const struct type **types;
    uint32_t row_count, row_capacity;
    struct str *cells;
};

struct sql_warning {
    struct source_pos pos;
    const char *message, *hint;  // hint NULL if there is none
    struct sql_warning *next;
};

struct sql_result {
    enum sql_result_kind kind;
    struct sql_rows rows;          // SQL_ROWS
    struct plan *plan;             // SQL_JOB, SQL_EXPLAIN
    struct sql_warning *warnings;  // in order of discovery
};

// `sql` is the whole script, `job_index` counts the job-starting statements before this one. Everything in *out lives in
// `arena`. A failed statement leaves the session as it was. TIDE_ERR_VALIDATE: names, types, options;
// TIDE_ERR_PLAN: valid SQL that cannot be run as asked; both with a place.
TIDE_CHECKED tide_status tide__sql_compile(struct sql_session *session, const struct statement *statement,
                                           struct str sql, uint32_t job_index, struct arena *arena,
                                           struct sql_result *out, tide_error *err);

#endif
