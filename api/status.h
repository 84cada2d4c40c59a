// What a job is doing, as facts: (section, name, field, value). The running job sends its own over the socket; the newest
// checkpoint adds what only it knows, and of a stopped job it is all there is. Inside api/ only.
#ifndef TIDE_API_STATUS_H
#define TIDE_API_STATUS_H

#include "api/inspect.h"

struct status_fact {
    const char *section, *name, *field, *value;  // value NULL: there is none
    bool is_text;                                // in JSON: in quotes
};

struct status_facts {
    struct arena arena;
    struct status_fact *items;
    size_t count, cap;
};

void tide__status_init(struct status_facts *facts);
void tide__status_deinit(struct status_facts *facts);
// Strings are copied. A fact that is there already stays.
void tide__status_text(struct status_facts *facts, const char *section, const char *name, const char *field,
                       const char *value);
void tide__status_number(struct status_facts *facts, const char *section, const char *name, const char *field,
                         double value);
void tide__status_bool(struct status_facts *facts, const char *section, const char *name, const char *field,
                       bool value);
// Event times; none and the end of the input have no value or "end".
void tide__status_time(struct status_facts *facts, const char *section, const char *name, const char *field,
                       int64_t ms);
const char *tide__status_get(const struct status_facts *facts, const char *section, const char *name,
                             const char *field);

// One line a fact, for the socket: type, section, name, field, value. And back; false if malformed.
void tide__status_write(const struct status_facts *facts, struct strbuf *out);
bool tide__status_read(struct status_facts *facts, struct str text);

struct job;
// The running job's own facts.
void tide__api_status_live(struct job *job, struct status_facts *out);

void tide__api_status_table(const struct status_facts *facts, struct strbuf *out);
void tide__api_status_json(const struct status_facts *facts, struct strbuf *out);
void tide__api_status_lines(const struct status_facts *facts, bool csv, struct strbuf *out);

// Why a window has not fired, and a key's part in it.
tide_status tide__api_status_why(const struct status_facts *facts, struct savepoint *savepoint, const char *window,
                                 const char *key, struct strbuf *out, tide_error *err) TIDE_CHECKED;

#endif
