// What the files of the check share: the two sides as they are shown, and the report in each form.
#ifndef TIDE_API_CHECK_H
#define TIDE_API_CHECK_H

#include "base/arena.h"
#include "base/str.h"
#include "checkpoint/compat/check.h"
#include "tidemark.h"

struct waiver {
    uint64_t fingerprint;
    const char *reason;
    const char *until;  // "2027-01-31"; NULL: for ever
    uint32_t line;
    bool expired, used;
};

struct waivers {
    size_t count;
    struct waiver *items;
};

struct shown_check {
    const struct compat_report *report;
    struct arena *arena;
    const char *old_name, *new_name;
    struct str old_sql, new_sql;
    const char *held;  // what the savepoint holds, lines of text; NULL: OLD is a script
    const struct waivers *waivers;
    bool colour;
    enum tide_fail_on fail_on;
};

// A clause's place as a message has it: file, line, column and the line's text with the caret. False: it has no place.
bool tide__api_check_place(const struct shown_check *check, const struct plan_clause *clause, bool old,
                           tide_error *out);
const struct waiver *tide__api_check_waiver(const struct shown_check *check, const struct compat_change *change);
void tide__api_check_text(const struct shown_check *check, struct strbuf *out);
void tide__api_check_json(const struct shown_check *check, struct strbuf *out);
void tide__api_check_sarif(const struct shown_check *check, struct strbuf *out);
void tide__api_check_junit(const struct shown_check *check, struct strbuf *out);
void tide__api_check_github(const struct shown_check *check, struct strbuf *out);
void tide__api_json_text(const char *text, struct strbuf *out);

// A YAML file of a tiny subset: a list of maps of three plain or quoted strings. `today`: days since 1970.
tide_status tide__api_waivers_parse(const char *name, struct str text, int64_t today, struct arena *arena,
                                    struct waivers *out, tide_error *err) TIDE_CHECKED;

#endif
