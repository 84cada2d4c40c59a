// What all parsing is made of: the current token, looking ahead, names, and saying what was expected.
//
// "Expected" collects itself: each accept() that fails notes what it looked for, and moving on forgets it.
// So a message lists what could really have stood at the place, in the order in which the grammar asked.
// Operators are not noted, for they could follow anywhere.
#include "sql/parse_private.h"

#include "base/alloc.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tide__parser_advance(struct parser *p) {
    p->previous = p->token;
    if (p->ahead_count > 0) {
        p->token = p->ahead[0];
        p->ahead_count--;
        memmove(p->ahead, p->ahead + 1, p->ahead_count * sizeof *p->ahead);
    } else {
        p->token = tide__scanner_next(&p->scanner);
    }
    p->expected_count = 0;
}

const struct token *tide__parser_peek(struct parser *p, uint32_t n) {
    assert(n >= 1 && n <= LOOKAHEAD);
    while (p->ahead_count < n) {
        // Nothing is scanned beyond the end or an error, so that its message stays.
        const struct token *last = p->ahead_count ? &p->ahead[p->ahead_count - 1] : &p->token;
        bool stop = last->kind == TOKEN_ERROR || last->kind == TOKEN_END;
        p->ahead[p->ahead_count] = stop ? *last : tide__scanner_next(&p->scanner);
        p->ahead_count++;
    }
    return &p->ahead[n - 1];
}

void tide__parser_note(struct parser *p, const char *what) {
    for (uint32_t i = 0; i < p->expected_count; i++)
        if (strcmp(p->expected[i], what) == 0) return;
    if (p->expected_count < EXPECTED_MAX) p->expected[p->expected_count++] = what;
}

bool tide__parser_accept(struct parser *p, enum token_kind kind) {
    if (p->token.kind == kind) {
        tide__parser_advance(p);
        return true;
    }
    tide__parser_note(p, tide__token_text(kind));
    return false;
}

bool tide__parser_accept_word(struct parser *p, enum keyword keyword) {
    if (at_word(p, keyword)) {
        tide__parser_advance(p);
        return true;
    }
    tide__parser_note(p, keyword == K_ORDER       ? "ORDER BY"
                         : keyword == K_GROUP     ? "GROUP BY"
                         : keyword == K_PARTITION ? "PARTITION BY"
                                                  : tide__keyword_text(keyword));
    return false;
}

bool tide__parser_take_word(struct parser *p, enum keyword keyword) {
    if (!at_word(p, keyword)) return false;
    tide__parser_advance(p);
    return true;
}

bool tide__parser_expect(struct parser *p, enum token_kind kind) {
    return tide__parser_accept(p, kind) || tide__parser_unexpected(p);
}

bool tide__parser_expect_word(struct parser *p, enum keyword keyword) {
    return tide__parser_accept_word(p, keyword) || tide__parser_unexpected(p);
}

bool tide__parser_fail(struct parser *p, tide_status status, struct source_pos pos, const char *hint,
                       const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    tide__fail_at(p->err, status, pos, "%s", message);
    if (hint && p->err) tide__fail_hint(p->err, "%s", hint);
    return false;
}

// --- Unexpected tokens ---

static bool is_plain_word(const struct token *token) {
    return token->kind == TOKEN_WORD && token->keyword == KEYWORD_NONE;
}

static const char *nearest_expected(const struct parser *p, struct str word, const char *const *more) {
    const char *candidates[EXPECTED_MAX + 8];
    size_t count = 0;
    if (word.len < 3) return NULL;
    for (uint32_t i = 0; i < p->expected_count; i++)
        if (p->expected[i][0] >= 'A' && p->expected[i][0] <= 'Z') candidates[count++] = p->expected[i];
    for (size_t i = 0; more && more[i]; i++) candidates[count++] = more[i];
    return tide__nearest(word, candidates, count);
}

// A misspelt keyword is often taken for a name, and the trouble shows one word later: SELECT a FORM t.
static const char *misspelt_previous(const struct parser *p) {
    static const char *const clauses[] = {"FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "JOIN", "LIMIT", NULL};
    if (!is_plain_word(&p->previous) || p->previous.pos.length < 4) return NULL;
    return nearest_expected(p, p->previous.text, clauses);
}

static bool expects(const struct parser *p, const char *what) {
    for (uint32_t i = 0; i < p->expected_count; i++)
        if (strcmp(p->expected[i], what) == 0) return true;
    return false;
}

// A missing ")" comes first: where it may stand, so may most other words.
static void list_expected(const struct parser *p, char *out, size_t size) {
    enum { SHOWN_MAX = 6 };
    static const char closing[] = "\")\"";
    const char *shown[SHOWN_MAX];
    uint32_t count = 0;
    bool closes = expects(p, closing);
    if (closes) shown[count++] = closing;
    for (uint32_t i = 0; i < p->expected_count && count < SHOWN_MAX; i++)
        if (!closes || strcmp(p->expected[i], closing) != 0) shown[count++] = p->expected[i];
    bool more = count < p->expected_count;
    size_t len = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const char *joint = i == 0 ? "" : i + 1 < count || more ? ", " : " or ";
        int n = snprintf(out + len, size - len, "%s%s", joint, shown[i]);
        if (n < 0 || (size_t)n >= size - len) return;
        len += (size_t)n;
    }
    if (more) snprintf(out + len, size - len, " or something else");
}

static bool expects_name(const struct parser *p) {
    for (uint32_t i = 0; i < p->expected_count; i++)
        if (strstr(p->expected[i], "name") || strcmp(p->expected[i], "an expression") == 0) return true;
    return false;
}

static void describe(const struct parser *p, char *out, size_t size) {
    const struct token *token = &p->token;
    struct str text = tide__parser_text(p, token->pos);
    int shown = text.len > 40 ? 40 : (int)text.len;
    while (shown > 0 && shown < (int)text.len && ((unsigned char)text.data[shown] & 0xC0) == 0x80) shown--;
    for (int i = 0; i < shown; i++)
        if (text.data[i] == '\n') shown = i;
    const char *dots = shown < (int)text.len ? "..." : "";
    if (token->kind == TOKEN_END)
        snprintf(out, size, "the end of the script");
    else if (token->kind == TOKEN_SEMICOLON)
        snprintf(out, size, "the end of the statement");
    else if (token->kind == TOKEN_STRING)
        snprintf(out, size, "the string %.*s%s", shown, text.data, dots);
    else
        snprintf(out, size, "\"%.*s%s\"", shown, text.data, dots);
}

// Words that nobody means as a name: they end a list too early (SELECT a, FROM t) or begin the next clause.
static bool is_clause(struct parser *p) {
    static const enum keyword words[] = {K_FROM, K_WHERE, K_HAVING, K_LIMIT, K_AS,   K_ON,   K_USING,  K_UNION,
                                         K_JOIN, K_AND,   K_OR,     K_WHEN,  K_THEN, K_ELSE, K_END,    K_SELECT,
                                         K_BY,   K_IN,    K_IS,     K_LIKE,  K_INTO, K_OVER, K_BETWEEN};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (at_word(p, words[i])) return true;
    return (at_word(p, K_GROUP) || at_word(p, K_ORDER) || at_word(p, K_PARTITION)) && peek_word(p, 1, K_BY);
}

static bool is_time_unit(const struct token *token) {
    static const char *const units[] = {"SECOND", "SECONDS", "MINUTE", "MINUTES", "HOUR", "HOURS", "DAY", "DAYS"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (token->kind == TOKEN_WORD && tide__str_ieq_c(token->text, units[i])) return true;
    return false;
}

bool tide__parser_unexpected(struct parser *p) {
    const struct token *token = &p->token;
    if (token->kind == TOKEN_ERROR)
        return tide__parser_fail(p, TIDE_ERR_PARSE, token->pos, p->scanner.hint, "%s", p->scanner.message);
    if (token->kind == TOKEN_BANG_EQUAL)
        return tide__parser_fail(p, TIDE_ERR_PARSE, token->pos, "write <> for not equal", "\"!=\" is not Flink SQL");
    if (token->kind == TOKEN_EQUAL && p->previous.kind == TOKEN_EQUAL)
        return tide__parser_fail(p, TIDE_ERR_PARSE, p->previous.pos, "write = for equal", "\"==\" is not Flink SQL");
    char found[128], expected[300], hint[200] = "";
    describe(p, found, sizeof found);
    list_expected(p, expected, sizeof expected);
    bool reserved = token->kind == TOKEN_WORD && tide__keyword_class(token->keyword) != KEYWORD_FREE && expects_name(p);
    const char *near = is_plain_word(token) ? nearest_expected(p, token->text, NULL) : NULL;
    const char *before = near || reserved ? NULL : misspelt_previous(p);
    bool clause = is_clause(p);
    if (reserved && !clause) {
        snprintf(hint, sizeof hint, "write it in backticks: `%.*s`", STR_ARG(token->text));
        return tide__parser_fail(p, TIDE_ERR_PARSE, token->pos, hint, "%s is a reserved word", found);
    }
    if (near)
        snprintf(hint, sizeof hint, "did you mean %s?", near);
    else if (before)
        snprintf(hint, sizeof hint, "did you mean %s instead of \"%.*s\"?", before, STR_ARG(p->previous.text));
    else if (clause && expects(p, "FROM"))
        snprintf(hint, sizeof hint, "FROM is missing before it");
    else if (p->previous.kind == TOKEN_STRING && is_time_unit(token))
        snprintf(hint, sizeof hint, "an interval is written INTERVAL '%.*s' %.*s", STR_ARG(p->previous.text),
                 STR_ARG(token->text));
    else if (p->previous.kind == TOKEN_COMMA && clause)
        snprintf(hint, sizeof hint, "remove the comma before it");
    return tide__parser_fail(p, TIDE_ERR_PARSE, token->pos, hint[0] ? hint : NULL,
                             p->expected_count ? "unexpected %s, expected %s" : "unexpected %s%s", found, expected);
}

bool tide__parser_enter(struct parser *p) {
    if (p->nesting >= NESTING_MAX)
        return tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "split the query with views or WITH",
                                 "this is nested too deeply");
    p->nesting++;
    return true;
}

void tide__parser_leave(struct parser *p) {
    assert(p->nesting > 0);
    p->nesting--;
}

// --- Places and lists ---

struct source_pos tide__parser_span(const struct parser *p, struct source_pos from) {
    uint32_t end = p->previous.pos.offset + p->previous.pos.length;
    from.length = end > from.offset ? end - from.offset : 0;
    return from;
}

struct str tide__parser_text(const struct parser *p, struct source_pos pos) {
    return (struct str){p->scanner.text + pos.offset, pos.length};
}

void *tide__parser_grow(struct parser *p, void *items, uint32_t count, size_t size) {
    if (items && (count < 4 || (count & (count - 1)) != 0)) return items;
    size_t capacity = count < 4 ? 4 : (size_t)count * 2;
    void *bigger = tide__arena_zalloc(p->arena, capacity * size);
    if (count > 0) memcpy(bigger, items, count * size);
    return bigger;
}

// --- Names ---

bool tide__parser_at_name(const struct parser *p) {
    return p->token.kind == TOKEN_QUOTED ||
           (p->token.kind == TOKEN_WORD && tide__keyword_class(p->token.keyword) == KEYWORD_FREE);
}

bool tide__parser_name(struct parser *p, struct ast_name *out, const char *what) {
    if (!tide__parser_at_name(p)) {
        tide__parser_note(p, what);
        return tide__parser_unexpected(p);
    }
    if (p->token.text.len == 0)
        return tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, NULL, "a name cannot be empty");
    *out = (struct ast_name){p->token.text, p->token.pos, p->token.kind == TOKEN_QUOTED};
    tide__parser_advance(p);
    return true;
}

bool tide__parser_path(struct parser *p, struct ast_path *out, const char *what) {
    struct source_pos start = p->token.pos;
    *out = (struct ast_path){0};
    do {
        if (!tide__parser_name(p, PUSH(p, out->parts, out->count), what)) return false;
    } while (at_token(p, TOKEN_DOT) && (tide__parser_advance(p), true));
    out->pos = tide__parser_span(p, start);
    return true;
}

bool tide__parser_names(struct parser *p, struct ast_names *out, const char *what) {
    *out = (struct ast_names){0};
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return false;
    do {
        if (!tide__parser_name(p, PUSH(p, out->items, out->count), what)) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return tide__parser_expect(p, TOKEN_RPAREN);
}

bool tide__parser_string(struct parser *p, struct str *out, struct source_pos *pos, const char *what) {
    if (!at_token(p, TOKEN_STRING)) {
        tide__parser_note(p, what);
        return tide__parser_unexpected(p);
    }
    *out = p->token.text;
    if (pos) *pos = p->token.pos;
    tide__parser_advance(p);
    return true;
}

bool tide__parser_int(struct parser *p, int32_t *out, const char *what) {
    if (!at_token(p, TOKEN_INTEGER)) {
        tide__parser_note(p, what);
        return tide__parser_unexpected(p);
    }
    int64_t value = 0;
    for (size_t i = 0; i < p->token.text.len; i++) {
        value = value * 10 + (p->token.text.data[i] - '0');
        if (value > INT32_MAX)
            return tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, NULL, "%s must be at most %d", what, INT32_MAX);
    }
    *out = (int32_t)value;
    tide__parser_advance(p);
    return true;
}

// Keys of OPTIONS hints may be bare words: OPTIONS(key = 'value').
static bool option_key(struct parser *p, struct ast_option *option, bool bare) {
    if (!bare && tide__parser_at_name(p)) {
        char hint[160];
        snprintf(hint, sizeof hint, "write it in quotes: '%.*s' = '...'",
                 (int)(p->token.text.len < 60 ? p->token.text.len : 60), p->token.text.data);
        return tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, hint, "keys of options are strings");
    }
    if (!bare || !tide__parser_at_name(p))
        return tide__parser_string(p, &option->key, &option->key_pos, "'key' = 'value'");
    struct ast_path path;
    if (!tide__parser_path(p, &path, "'key' = 'value'")) return false;
    option->key = tide__parser_text(p, path.pos);
    option->key_pos = path.pos;
    return true;
}

bool tide__parser_options(struct parser *p, struct ast_options *out, bool bare_keys) {
    struct source_pos start = p->token.pos;
    *out = (struct ast_options){0};
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return false;
    do {
        struct ast_option *option = PUSH(p, out->items, out->count);
        if (!option_key(p, option, bare_keys)) return false;
        if (!tide__parser_expect(p, TOKEN_EQUAL)) return false;
        if (!tide__parser_string(p, &option->value, &option->value_pos, "a 'value'")) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    if (!tide__parser_expect(p, TOKEN_RPAREN)) return false;
    out->pos = tide__parser_span(p, start);
    return true;
}
