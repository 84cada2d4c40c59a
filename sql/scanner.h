// Text to tokens, on demand. Private to sql/parse*.c.
#ifndef TIDE_SQL_SCANNER_H
#define TIDE_SQL_SCANNER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "sql/keywords.h"

enum token_kind {
    TOKEN_END,             // of the script
    TOKEN_ERROR,           // scanner.message and hint say what is wrong at pos
    TOKEN_WORD,            // keyword says which, or KEYWORD_NONE
    TOKEN_QUOTED,          // `name`
    TOKEN_STRING,          // text: the value
    TOKEN_UNICODE_STRING,  // U&'..': text: quotes undone, escapes not
    TOKEN_BINARY,          // X'..': text: the hexadecimal digits
    TOKEN_INTEGER,
    TOKEN_DECIMAL,
    TOKEN_DOUBLE,
    TOKEN_HINT_OPEN,   // /*+
    TOKEN_HINT_CLOSE,  // */
    TOKEN_LPAREN,
    TOKEN_RPAREN,
    TOKEN_LBRACKET,
    TOKEN_RBRACKET,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_SEMICOLON,
    TOKEN_COLON,
    TOKEN_QUESTION,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_PERCENT,
    TOKEN_CONCAT,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_BANG_EQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_ARROW,  // =>
};

struct token {
    enum token_kind kind;
    enum keyword keyword;
    struct source_pos pos;
    struct str text;
};

// A copy of a scanner is a place to come back to.
struct scanner {
    const char *text;
    size_t len;
    size_t at;
    uint32_t line, column;
    struct arena *arena;  // for values that differ from the text
    // The last `-- uid: name` that was skipped
    struct str uid;
    struct source_pos uid_pos;
    // Of the last TOKEN_ERROR
    const char *message, *hint;
};

void tide__scanner_init(struct scanner *scanner, const char *text, size_t len);
struct token tide__scanner_next(struct scanner *scanner);
// The rest of a word that is not SQL (a bare value of SET): up to white space or a semicolon.
struct token tide__scanner_next_raw(struct scanner *scanner);
// How a kind is called in messages.
const char *tide__token_text(enum token_kind kind);

#endif
