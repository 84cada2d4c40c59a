// The scanner.
//
// It is written by hand: SQL has nine kinds of tokens, and most of this file is what a generator would not do: places
// in code points, quotes that are never closed, characters that only look like SQL (typographic quotes, no-break spaces).
//
// The text has been checked to be UTF-8 without NUL bytes before the first call. Letters beyond ASCII are part of
// words. Positions: `at` is in bytes, line and column are kept in step by skip().
#include "sql/scanner.h"

#include <assert.h>
#include <string.h>

void tide__scanner_init(struct scanner *s, const char *text, size_t len) {
    *s = (struct scanner){.text = text, .len = len, .line = 1, .column = 1};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) s->at = 3;  // a byte order mark has no column
}

static char look(const struct scanner *s, size_t ahead) {
    return s->at + ahead < s->len ? s->text[s->at + ahead] : '\0';
}

static void skip(struct scanner *s, size_t bytes) {
    assert(s->at + bytes <= s->len);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)s->text[s->at++];
        if (c == '\n') {
            s->line++;
            s->column = 1;
        } else if ((c & 0xC0) != 0x80) {
            s->column++;
        }
    }
}

static struct source_pos here(const struct scanner *s) {
    return (struct source_pos){s->line, s->column, (uint32_t)s->at, 0};
}

static struct token finish(const struct scanner *s, enum token_kind kind, struct source_pos start) {
    struct token token = {.kind = kind, .pos = start};
    token.pos.length = (uint32_t)(s->at - start.offset);
    token.text = (struct str){s->text + start.offset, token.pos.length};
    return token;
}

static struct token fail(struct scanner *s, struct source_pos start, const char *message, const char *hint) {
    s->message = message;
    s->hint = hint;
    struct token token = finish(s, TOKEN_ERROR, start);
    if (token.pos.length > 1) token.pos.length = 1;
    return token;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || ((unsigned char)c & 0x80);
}

// `-- uid: name`, a name for a statement that survives edits (for savepoints).
static void note_uid(struct scanner *s, struct source_pos start, struct str comment) {
    size_t at = 2;
    while (at < comment.len && (comment.data[at] == ' ' || comment.data[at] == '\t')) at++;
    if (comment.len - at < 4 || memcmp(comment.data + at, "uid:", 4) != 0) return;
    at += 4;
    while (at < comment.len && is_space(comment.data[at])) at++;
    size_t end = comment.len;
    while (end > at && is_space(comment.data[end - 1])) end--;
    s->uid = (struct str){comment.data + at, end - at};
    start.length = (uint32_t)end;
    s->uid_pos = start;
}

// False, with *token an error, for a comment without end.
static bool skip_blank(struct scanner *s, struct token *token) {
    for (;;) {
        char c = look(s, 0);
        if (s->at < s->len && is_space(c)) {
            skip(s, 1);
        } else if (c == '-' && look(s, 1) == '-') {
            struct source_pos start = here(s);
            const char *end = memchr(s->text + s->at, '\n', s->len - s->at);
            size_t len = end ? (size_t)(end - (s->text + s->at)) : s->len - s->at;
            note_uid(s, start, (struct str){s->text + s->at, len});
            skip(s, len);
        } else if (c == '/' && look(s, 1) == '*' && look(s, 2) != '+') {
            struct source_pos start = here(s);
            const char *end = memmem(s->text + s->at + 2, s->len - s->at - 2, "*/", 2);
            if (!end) {
                skip(s, s->len - s->at);
                *token = fail(s, start, "this comment is never closed", "close it with */");
                return false;
            }
            skip(s, (size_t)(end + 2 - (s->text + s->at)));
        } else {
            return true;
        }
    }
}

// 'text' or `name`; a doubled quote stands for itself. `at` is on the opening quote.
static struct token scan_quoted(struct scanner *s, enum token_kind kind, struct source_pos start) {
    char quote = look(s, 0);
    size_t from = s->at + 1, at = from, doubled = 0;
    for (;; at++) {
        const char *end = at < s->len ? memchr(s->text + at, quote, s->len - at) : NULL;
        if (!end) {
            skip(s, s->len - s->at);
            return quote == '`' ? fail(s, start, "this name is never closed", "close it with a backtick")
                                : fail(s, start, "this string is never closed", "close it with '");
        }
        at = (size_t)(end - s->text);
        if (at + 1 >= s->len || s->text[at + 1] != quote) break;
        doubled++;
        at++;
    }
    struct str raw = {s->text + from, at - from};
    skip(s, at + 1 - s->at);
    struct token token = finish(s, kind, start);
    token.text = raw;
    if (doubled > 0) {
        char *plain = tide__arena_alloc(s->arena, raw.len - doubled + 1);
        size_t len = 0;
        for (size_t i = 0; i < raw.len; i++) {
            plain[len++] = raw.data[i];
            if (raw.data[i] == quote) i++;
        }
        assert(len == raw.len - doubled);
        plain[len] = '\0';
        token.text = (struct str){plain, len};
    }
    return token;
}

// E'..': C escapes. `at` is on the quote. Invalid escapes end in an error.
static struct token scan_escaped(struct scanner *s, struct source_pos start) {
    size_t from = s->at + 1, at = from;
    while (at < s->len && (s->text[at] != '\'' || (at + 1 < s->len && s->text[at + 1] == '\''))) {
        bool pair = s->text[at] == '\\' || s->text[at] == '\'';
        at += pair && at + 1 < s->len ? 2 : 1;
    }
    if (at >= s->len) {
        skip(s, s->len - s->at);
        return fail(s, start, "this string is never closed", "close it with '");
    }
    struct str raw = {s->text + from, at - from};
    char *plain = tide__arena_alloc(s->arena, raw.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < raw.len; i++) {
        static const char letters[] = "bfnrt\\'", values[] = "\b\f\n\r\t\\'";
        char c = raw.data[i];
        if (c == '\'') i++;
        if (c == '\\') {
            const char *letter = memchr(letters, raw.data[++i], sizeof letters - 1);
            if (!letter) {
                skip(s, at + 1 - s->at);
                return fail(s, start, "this escape is not supported", "use \\n, \\t, \\r, \\b, \\f, \\\\ or \\'");
            }
            c = values[letter - letters];
        }
        plain[len++] = c;
    }
    skip(s, at + 1 - s->at);
    struct token token = finish(s, TOKEN_STRING, start);
    token.text = (struct str){plain, len};
    return token;
}

static struct token scan_number(struct scanner *s, struct source_pos start) {
    enum token_kind kind = TOKEN_INTEGER;
    size_t n = 0;
    while (is_digit(look(s, n))) n++;
    if (look(s, n) == '.') {
        kind = TOKEN_DECIMAL;
        n++;
        while (is_digit(look(s, n))) n++;
    }
    if (look(s, n) == 'e' || look(s, n) == 'E') {
        size_t exponent = n + 1;
        if (look(s, exponent) == '+' || look(s, exponent) == '-') exponent++;
        if (is_digit(look(s, exponent))) {
            kind = TOKEN_DOUBLE;
            while (is_digit(look(s, exponent))) exponent++;
            n = exponent;
        }
    }
    skip(s, n);
    return finish(s, kind, start);
}

// An error if the code point at `at` is one that people paste by accident; else TOKEN_WORD.
static struct token check_code_point(struct scanner *s, uint32_t code) {
    struct source_pos start = here(s);
    if (code == 0x2018 || code == 0x2019 || code == 0x201C || code == 0x201D || code == 0xB4) {
        skip(s, 1);
        return fail(s, start, "a typographic quote is not SQL", "use ' for strings and ` for names");
    }
    if (code == 0xA0 || code == 0x3000 || (code >= 0x2000 && code <= 0x200F) || code == 0xFEFF || code == 0x202F) {
        skip(s, 1);
        return fail(s, start, "an invisible character is not a blank in SQL", "replace it with a plain space");
    }
    if (code == 0x2212 || code == 0x2013 || code == 0x2014) {
        skip(s, 1);
        return fail(s, start, "a typographic dash is not SQL", "use -");
    }
    return (struct token){.kind = TOKEN_WORD};
}

// A word; _UTF16'text' is a string, for all text is Unicode here.
static struct token scan_word(struct scanner *s, struct source_pos start) {
    struct str text = {s->text, s->len};
    while (s->at < s->len && (is_word_start(look(s, 0)) || is_digit(look(s, 0)))) {
        size_t at = s->at;
        if ((unsigned char)look(s, 0) & 0x80) {
            struct token odd = check_code_point(s, tide__utf8_next(text, &at));
            if (odd.kind == TOKEN_ERROR) return odd;
            skip(s, at - s->at);
        } else {
            skip(s, 1);
        }
    }
    if (look(s, 0) == '\'' && s->text[start.offset] == '_') return scan_quoted(s, TOKEN_STRING, start);
    struct token token = finish(s, TOKEN_WORD, start);
    token.keyword = tide__keyword_find(token.text);
    return token;
}

static struct token scan_symbol(struct scanner *s, struct source_pos start) {
    static const struct {
        char text[4];
        enum token_kind kind;
    } symbols[] = {
        // The longer ones first
        {"/*+", TOKEN_HINT_OPEN}, {"*/", TOKEN_HINT_CLOSE}, {"||", TOKEN_CONCAT},   {"<>", TOKEN_NOT_EQUAL},
        {"!=", TOKEN_BANG_EQUAL}, {"<=", TOKEN_LESS_EQUAL}, {"=>", TOKEN_ARROW},    {">=", TOKEN_GREATER_EQUAL},
        {"(", TOKEN_LPAREN},      {")", TOKEN_RPAREN},      {"[", TOKEN_LBRACKET},  {"]", TOKEN_RBRACKET},
        {",", TOKEN_COMMA},       {".", TOKEN_DOT},         {";", TOKEN_SEMICOLON}, {":", TOKEN_COLON},
        {"?", TOKEN_QUESTION},    {"+", TOKEN_PLUS},        {"-", TOKEN_MINUS},     {"*", TOKEN_STAR},
        {"/", TOKEN_SLASH},       {"%", TOKEN_PERCENT},     {"=", TOKEN_EQUAL},     {"<", TOKEN_LESS},
        {">", TOKEN_GREATER},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        size_t len = strlen(symbols[i].text);
        if (s->len - s->at < len || memcmp(s->text + s->at, symbols[i].text, len) != 0) continue;
        skip(s, len);
        return finish(s, symbols[i].kind, start);
    }
    char c = look(s, 0);
    skip(s, 1);
    if (c == '"')
        return fail(s, start, "double quotes are not Flink SQL", "write strings as 'text' and names as `name`");
    if (c == '!') return fail(s, start, "\"!\" is not Flink SQL", "write NOT, or <> for not equal");
    if (c == '\\') return fail(s, start, "a backslash is not SQL outside a string", "remove it");
    if ((unsigned char)c < 0x20 || c == 0x7F) return fail(s, start, "a control character is not SQL", "remove it");
    return fail(s, start, "this character is not Flink SQL", "remove it, or put the name in backticks");
}

struct token tide__scanner_next(struct scanner *s) {
    struct token token;
    if (!skip_blank(s, &token)) return token;
    struct source_pos start = here(s);
    if (s->at == s->len) return finish(s, TOKEN_END, start);
    char c = look(s, 0);
    if (c == '\'') return scan_quoted(s, TOKEN_STRING, start);
    if (c == '`') return scan_quoted(s, TOKEN_QUOTED, start);
    if (is_digit(c) || (c == '.' && is_digit(look(s, 1)))) return scan_number(s, start);
    if ((c == 'x' || c == 'X') && look(s, 1) == '\'') {
        skip(s, 1);
        return scan_quoted(s, TOKEN_BINARY, start);
    }
    if ((c == 'n' || c == 'N') && look(s, 1) == '\'') {
        skip(s, 1);
        return scan_quoted(s, TOKEN_STRING, start);
    }
    if ((c == 'e' || c == 'E') && look(s, 1) == '\'') {
        skip(s, 1);
        return scan_escaped(s, start);
    }
    if ((c == 'u' || c == 'U') && look(s, 1) == '&' && look(s, 2) == '\'') {
        skip(s, 2);
        return scan_quoted(s, TOKEN_UNICODE_STRING, start);
    }
    if (is_word_start(c)) return scan_word(s, start);
    return scan_symbol(s, start);
}

struct token tide__scanner_next_raw(struct scanner *s) {
    struct token token;
    if (!skip_blank(s, &token)) return token;
    struct source_pos start = here(s);
    while (s->at < s->len && !is_space(look(s, 0)) && look(s, 0) != ';') skip(s, 1);
    return finish(s, TOKEN_WORD, start);
}

const char *tide__token_text(enum token_kind kind) {
    switch (kind) {
    case TOKEN_END: return "the end of the script";
    case TOKEN_ERROR: return "an error";
    case TOKEN_WORD: return "a name";
    case TOKEN_QUOTED: return "a name";
    case TOKEN_STRING:
    case TOKEN_UNICODE_STRING: return "a string";
    case TOKEN_BINARY: return "a binary string";
    case TOKEN_INTEGER: return "a whole number";
    case TOKEN_DECIMAL:
    case TOKEN_DOUBLE: return "a number";
    case TOKEN_HINT_OPEN: return "a hint";
    case TOKEN_HINT_CLOSE: return "\"*/\"";
    case TOKEN_LPAREN: return "\"(\"";
    case TOKEN_RPAREN: return "\")\"";
    case TOKEN_LBRACKET: return "\"[\"";
    case TOKEN_RBRACKET: return "\"]\"";
    case TOKEN_COMMA: return "\",\"";
    case TOKEN_DOT: return "\".\"";
    case TOKEN_SEMICOLON: return "\";\"";
    case TOKEN_COLON: return "\":\"";
    case TOKEN_QUESTION: return "\"?\"";
    case TOKEN_PLUS: return "\"+\"";
    case TOKEN_MINUS: return "\"-\"";
    case TOKEN_STAR: return "\"*\"";
    case TOKEN_SLASH: return "\"/\"";
    case TOKEN_PERCENT: return "\"%\"";
    case TOKEN_CONCAT: return "\"||\"";
    case TOKEN_EQUAL: return "\"=\"";
    case TOKEN_NOT_EQUAL: return "\"<>\"";
    case TOKEN_BANG_EQUAL: return "\"!=\"";
    case TOKEN_LESS: return "\"<\"";
    case TOKEN_LESS_EQUAL: return "\"<=\"";
    case TOKEN_GREATER: return "\">\"";
    case TOKEN_GREATER_EQUAL: return "\">=\"";
    case TOKEN_ARROW: return "\"=>\"";
    }
    return "?";
}
