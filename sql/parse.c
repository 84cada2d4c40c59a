// The entry points: a script, statement by statement.
//
// The parser is written by hand, as recursive descent with operator precedence for expressions, and not in
// bison. Flink's grammar is Calcite's, which leans on unlimited lookahead: a parenthesis may open a row, an expression, a
// subquery or a join; NOT, BETWEEN, IN, LIKE and IS chain into each other; `t`, `f(..)`, TABLE(f(..)) and TABLE t share
// their beginnings; most keywords are names elsewhere. As LALR(1) that is a heap of conflicts and lexer feedback, and the
// messages would have to be rebuilt from state numbers. By hand each rule is a short function that reads like the manual.
//
//   scanner.c          text -> tokens                 keywords.h       which words are reserved
//   parse_token.c      expect, names, messages        parse_type.c     INT, ROW<a INT>, ...
//   parse_expr.c       operators, by precedence       parse_primary.c  what operators stand between
//   parse_literal.c    literals and intervals         parse_call.c     calls, OVER; parse_json.c
//   parse_query.c      SELECT .. LIMIT                parse_table.c    FROM
//   parse_statement.c  all statements                 parse_create.c   CREATE
//
// Nothing recurses without tide__parser_enter, and no tree gets deeper than AST_DEPTH_MAX; so hostile text ends in an
// error. A parenthesis is decided without going back: its inside is parsed, and if it was a query and a word like
// UNION follows, the parser goes on as a query.
#include "sql/parse.h"

#include "base/alloc.h"
#include "sql/parse_private.h"

#include <assert.h>
#include <string.h>

struct parser *tide__parser_new(const char *text, size_t len) {
    assert(text || len == 0);
    struct parser *p = tide__calloc(1, sizeof *p);
    tide__scanner_init(&p->resume, text ? text : "", len);
    return p;
}

void tide__parser_free(struct parser *p) {
    tide__free(p);
}

// The script must be UTF-8 without NUL bytes; then the scanner need not care.
static tide_status check_text(struct parser *p, tide_error *err) {
    struct str text = {p->resume.text, p->resume.len};
    if (text.len > UINT32_MAX / 4) return tide__fail(err, TIDE_ERR_PARSE, "the script is longer than 1 GiB");
    bool valid = tide__utf8_valid(text);
    if (valid && !memchr(text.data, '\0', text.len)) return TIDE_OK;
    struct source_pos pos = {1, 1, 0, 1};
    for (size_t at = 0; at < text.len;) {
        size_t start = at;
        uint32_t code = tide__utf8_next(text, &at);
        pos.offset = (uint32_t)start;
        if (code == 0) {
            tide__fail_at(err, TIDE_ERR_PARSE, pos, "the script holds a NUL byte");
            return tide__fail_hint(err, "save it as UTF-8 text");
        }
        if (code == 0xFFFD && !tide__utf8_valid((struct str){text.data + start, at - start})) {
            tide__fail_at(err, TIDE_ERR_PARSE, pos, "the script is not UTF-8 here");
            return tide__fail_hint(err, "save it as UTF-8 text");
        }
        if (code == '\n') {
            pos.line++;
            pos.column = 1;
        } else {
            pos.column++;
        }
    }
    return tide__fail(err, TIDE_ERR_PARSE, "the script is not UTF-8");
}

// Empty statements (;;) are skipped. The comment of a statement is one between it and the semicolon before.
static void begin_statement(struct parser *p, struct arena *arena, tide_error *err) {
    p->arena = arena;
    p->err = err;
    p->scanner = p->resume;
    p->scanner.arena = arena;
    p->scanner.uid = (struct str){0};
    p->ahead_count = 0;
    p->nesting = 0;
    p->token = (struct token){0};
    tide__parser_advance(p);
    while (at_token(p, TOKEN_SEMICOLON)) {
        p->scanner.uid = (struct str){0};
        tide__parser_advance(p);
    }
    p->statement_start = p->token.pos.offset;
}

static bool check_length(struct parser *p) {
    const struct scanner *s = &p->scanner;
    if (s->len - p->statement_start <= STATEMENT_BYTES_MAX) return true;
    // Only the end of the statement tells its length.
    struct scanner probe = *s;
    struct token token = p->token;
    struct arena scratch;
    tide__arena_init(&scratch);
    probe.arena = &scratch;
    while (token.kind != TOKEN_SEMICOLON && token.kind != TOKEN_END && token.kind != TOKEN_ERROR &&
           probe.at - p->statement_start <= STATEMENT_BYTES_MAX)
        token = tide__scanner_next(&probe);
    tide__arena_deinit(&scratch);
    if (probe.at - p->statement_start <= STATEMENT_BYTES_MAX) return true;
    return tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos,
                             "put long lists of values into a file and read it as a table",
                             "this statement is longer than %u bytes", STATEMENT_BYTES_MAX);
}

tide_status tide__parse_next(struct parser *p, struct arena *arena, struct statement **out, tide_error *err) {
    tide_error unseen;
    if (!err) {
        tide__error_clear(&unseen);
        err = &unseen;
    }
    assert(p && arena && out);
    *out = NULL;
    if (!p->checked) TIDE_TRY(check_text(p, err));
    p->checked = true;
    begin_statement(p, arena, err);
    if (at_token(p, TOKEN_END)) return TIDE_OK;
    if (!check_length(p)) return err->status;
    struct str uid = p->scanner.uid;
    struct source_pos uid_pos = p->scanner.uid_pos;
    struct statement *statement = tide__parse_statement(p);
    if (!statement) return err->status;
    if (!at_token(p, TOKEN_SEMICOLON) && !at_token(p, TOKEN_END)) {
        tide__parser_note(p, tide__token_text(TOKEN_SEMICOLON));
        tide__parser_unexpected(p);
        return err->status;
    }
    statement->uid = uid;
    statement->uid_pos = uid_pos;
    // The next one begins behind the semicolon, with its own arena.
    struct scanner *s = &p->resume;
    s->line = p->token.pos.line;
    s->column = p->token.pos.column + p->token.pos.length;
    s->at = p->token.pos.offset + p->token.pos.length;
    *out = statement;
    return TIDE_OK;
}

tide_status tide__parse_expr(const char *text, size_t len, struct arena *arena, struct ast_expr **out,
                             tide_error *err) {
    tide_error unseen;
    if (!err) {
        tide__error_clear(&unseen);
        err = &unseen;
    }
    struct parser p = {0};
    tide__scanner_init(&p.resume, text, len);
    TIDE_TRY(check_text(&p, err));
    begin_statement(&p, arena, err);
    *out = tide__parse_expression(&p);
    if (!*out) return err->status;
    if (!at_token(&p, TOKEN_END)) {
        tide__parser_unexpected(&p);
        return err->status;
    }
    return TIDE_OK;
}

const struct type *tide__parse_type_text(const char *text, size_t len, struct arena *arena) {
    tide_error unseen;
    tide__error_clear(&unseen);
    struct parser p = {0};
    tide__scanner_init(&p.resume, text, len);
    if (check_text(&p, &unseen) != TIDE_OK) return NULL;
    begin_statement(&p, arena, &unseen);
    const struct type *type = tide__parse_type(&p);
    return type != NULL && at_token(&p, TOKEN_END) ? type : NULL;
}
