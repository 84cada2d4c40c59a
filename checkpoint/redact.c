// Secrets in scripts. A savepoint holds the script's text, and savepoints are copied around, so the values of options
// whose keys look like a secret's are blanked: 'key' = 'value' wherever it stands (WITH, SET, hints, comments).
//
// This knows just enough of SQL's text to tell where literals begin and end.
#include "checkpoint/format.h"

#include <ctype.h>

struct cursor {
    struct str sql;
    size_t at;
};

static bool is_secret_key(struct str key) {
    static const char *const parts[] = {"password",    "passwd",     "secret",       "token",       "jaas",
                                        "credential",  "apikey",     "api-key",      "account.key", "auth-params",
                                        "service-key", "basic-auth", "http-headers", "private-key"};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        size_t len = strlen(parts[p]);
        for (size_t i = 0; i + len <= key.len; i++)
            if (tide__str_ieq_c((struct str){key.data + i, len}, parts[p])) return true;
    }
    return false;
}

static bool starts(const struct cursor *c, const char *what) {
    size_t len = strlen(what);
    return c->sql.len - c->at >= len && memcmp(c->sql.data + c->at, what, len) == 0;
}

// The place behind the quoted text that begins at `at`; a doubled quote is a quote. The end of the text if it is open.
static size_t quoted_end(struct str sql, size_t at) {
    char quote = sql.data[at++];
    while (at < sql.len) {
        if (sql.data[at++] != quote) continue;
        if (at == sql.len || sql.data[at] != quote) return at;
        at++;
    }
    return sql.len;
}

static size_t find(struct str sql, size_t at, const char *what) {
    size_t len = strlen(what);
    for (; at + len <= sql.len; at++)
        if (memcmp(sql.data + at, what, len) == 0) return at;
    return sql.len;
}

static void redact(struct str sql, bool in_comment, struct strbuf *out);

// A comment, redacted by itself: a quote that stands alone in it must not swallow what follows. Hints are SQL.
static bool take_comment(struct cursor *c, struct strbuf *out) {
    if (starts(c, "/*+")) return false;
    size_t end;
    if (starts(c, "--"))
        end = find(c->sql, c->at, "\n");
    else if (starts(c, "/*"))
        end = find(c->sql, c->at + 2, "*/");
    else
        return false;
    tide__strbuf_append(out, c->sql.data + c->at, 2);
    redact((struct str){c->sql.data + c->at + 2, end - c->at - 2}, true, out);
    c->at = end;
    return true;
}

static void redact(struct str sql, bool in_comment, struct strbuf *out) {
    struct cursor c = {sql, 0};
    bool secret = false, equals = false;  // the last literal was a secret's key; an = came behind it
    while (c.at < sql.len) {
        char byte = sql.data[c.at];
        if (!in_comment && take_comment(&c, out)) continue;
        if (byte == '\'' || byte == '"' || byte == '`') {
            size_t end = quoted_end(sql, c.at);
            struct str inside = {sql.data + c.at + 1, end - c.at > 2 ? end - c.at - 2 : 0};
            bool blank = secret && equals && byte == '\'';
            if (in_comment && !blank && !is_secret_key(inside)) end = c.at + 1;  // in prose a quote opens nothing
            if (blank)
                tide__strbuf_append_c(out, "'****'");
            else
                tide__strbuf_append(out, sql.data + c.at, end - c.at);
            secret = !blank && byte == '\'' && end > c.at + 1 && is_secret_key(inside);
            equals = false;
            c.at = end;
            continue;
        }
        if (byte == '=' && !equals)
            equals = true;
        else if (!isspace((unsigned char)byte))
            secret = equals = false;
        tide__strbuf_append_char(out, byte);
        c.at++;
    }
}

struct str tide__savepoint_redact(struct str sql, struct arena *arena) {
    struct strbuf out = {0};
    redact(sql, false, &out);
    struct str text = {tide__arena_strndup(arena, out.data != NULL ? out.data : "", out.len), out.len};
    tide__strbuf_deinit(&out);
    return text;
}
