// Literals, and the qualifiers of intervals. The text of dates and intervals is checked by the binder, which
// knows the types.
#include "sql/parse_private.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct ast_expr *literal(struct parser *p, enum ast_literal kind) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_LITERAL, p->token.pos);
    expr->literal = kind;
    expr->text = p->token.text;
    tide__parser_advance(p);
    return tide__parse_close(p, expr);
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// X'4142'
static struct ast_expr *binary_literal(struct parser *p) {
    struct str digits = p->token.text;
    if (digits.len % 2 != 0) {
        tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "write two digits for each byte",
                          "a binary literal needs an even number of digits");
        return NULL;
    }
    char *bytes = tide__arena_alloc(p->arena, digits.len / 2 + 1);
    for (size_t i = 0; i < digits.len; i += 2) {
        int high = hex_value(digits.data[i]), low = hex_value(digits.data[i + 1]);
        if (high < 0 || low < 0) {
            tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "use 0-9 and A-F",
                              "a binary literal holds hexadecimal digits only");
            return NULL;
        }
        bytes[i / 2] = (char)(high * 16 + low);
    }
    struct ast_expr *expr = literal(p, LITERAL_BINARY);
    if (expr) expr->text = (struct str){bytes, digits.len / 2};
    return expr;
}

static size_t put_utf8(char *out, uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

// Four hexadecimal digits; false if they are not there.
static bool hex4(struct str text, size_t at, uint32_t *code) {
    if (text.len - at < 4) return false;
    *code = 0;
    for (size_t i = at; i < at + 4; i++) {
        int digit = hex_value(text.data[i]);
        if (digit < 0) return false;
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

// \00e9 for one UTF-16 unit, a doubled escape for itself. Two units that belong together make one character.
static bool undo_unicode(struct parser *p, struct source_pos pos, struct str text, char escape, struct str *out) {
    char *plain = tide__arena_alloc(p->arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len;) {
        if (text.data[i] != escape) {
            plain[len++] = text.data[i++];
            continue;
        }
        if (i + 1 < text.len && text.data[i + 1] == escape) {
            plain[len++] = escape;
            i += 2;
            continue;
        }
        uint32_t code, low;
        if (!hex4(text, i + 1, &code))
            return tide__parser_fail(p, TIDE_ERR_PARSE, pos, "write four hexadecimal digits, as in \\00e9",
                                     "a unicode escape is incomplete");
        i += 5;
        if (code >= 0xD800 && code < 0xDC00 && i < text.len && text.data[i] == escape && hex4(text, i + 1, &low) &&
            low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            i += 5;
        }
        if (code >= 0xD800 && code < 0xE000)
            return tide__parser_fail(p, TIDE_ERR_PARSE, pos, NULL, "a unicode escape is half a character");
        len += put_utf8(plain + len, code);
    }
    *out = (struct str){plain, len};
    return true;
}

static struct ast_expr *unicode_literal(struct parser *p) {
    struct token token = p->token;
    struct ast_expr *expr = literal(p, LITERAL_STRING);
    if (!expr) return NULL;
    char escape = '\\';
    if (at_word(p, K_UESCAPE)) {
        tide__parser_advance(p);
        struct str text;
        if (!tide__parser_string(p, &text, NULL, "'an escape character'")) return NULL;
        if (text.len != 1 || hex_value(text.data[0]) >= 0 || strchr("+'\" \t\n", text.data[0])) {
            tide__parser_fail(p, TIDE_ERR_PARSE, p->previous.pos, NULL,
                              "UESCAPE wants one character that is no digit, blank, + or quote");
            return NULL;
        }
        escape = text.data[0];
    }
    if (!undo_unicode(p, token.pos, token.text, escape, &expr->text)) return NULL;
    return tide__parse_close(p, expr);
}

// 'a' and, on the next line, 'b' are one string 'ab'.
static struct ast_expr *string_literal(struct parser *p) {
    struct ast_expr *expr = literal(p, LITERAL_STRING);
    if (!expr || !at_token(p, TOKEN_STRING)) return expr;
    struct strbuf whole = {0};
    tide__strbuf_append_str(&whole, expr->text);
    while (at_token(p, TOKEN_STRING)) {
        struct str between = {p->scanner.text + p->previous.pos.offset + p->previous.pos.length,
                              p->token.pos.offset - p->previous.pos.offset - p->previous.pos.length};
        if (!memchr(between.data, '\n', between.len)) {
            tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "a quote inside a string is written twice: ''",
                              "two strings side by side");
            break;
        }
        tide__strbuf_append_str(&whole, p->token.text);
        tide__parser_advance(p);
    }
    bool ok = !at_token(p, TOKEN_STRING);
    expr->text = (struct str){tide__arena_strndup(p->arena, whole.data, whole.len), whole.len};
    tide__strbuf_deinit(&whole);
    return ok ? tide__parse_close(p, expr) : NULL;
}

// DATE '..', TIME '..', TIMESTAMP '..': the word is current, the string is next.
static struct ast_expr *time_literal(struct parser *p, enum ast_literal kind) {
    struct source_pos start = p->token.pos;
    tide__parser_advance(p);
    struct ast_expr *expr = literal(p, kind);
    if (!expr) return NULL;
    expr->pos = start;
    return tide__parse_close(p, expr);
}

static struct ast_expr *word_literal(struct parser *p) {
    switch ((int)p->token.keyword) {
    case K_NULL:
    case K_UNKNOWN: return literal(p, LITERAL_NULL);
    case K_TRUE: return literal(p, LITERAL_TRUE);
    case K_FALSE: return literal(p, LITERAL_FALSE);
    case K_DATE:
    case K_TIME:
    case K_TIMESTAMP:
        if (!peek_token(p, 1, TOKEN_STRING)) return NULL;
        return time_literal(p, p->token.keyword == K_DATE   ? LITERAL_DATE
                               : p->token.keyword == K_TIME ? LITERAL_TIME
                                                            : LITERAL_TIMESTAMP);
    default: return NULL;
    }
}

struct ast_expr *tide__parse_literal(struct parser *p) {
    switch ((int)p->token.kind) {
    case TOKEN_INTEGER: return literal(p, LITERAL_INTEGER);
    case TOKEN_DECIMAL: return literal(p, LITERAL_DECIMAL);
    case TOKEN_DOUBLE: return literal(p, LITERAL_DOUBLE);
    case TOKEN_STRING: return string_literal(p);
    case TOKEN_UNICODE_STRING: return unicode_literal(p);
    case TOKEN_BINARY: return binary_literal(p);
    case TOKEN_WORD: return word_literal(p);
    default: return NULL;
    }
}

// --- Intervals ---

static enum ast_unit interval_unit(const struct parser *p) {
    if (p->token.kind != TOKEN_WORD) return UNIT_NONE;
    switch ((int)p->token.keyword) {
    case K_YEAR:
    case K_YEARS: return UNIT_YEAR;
    case K_QUARTER:
    case K_QUARTERS: return UNIT_QUARTER;
    case K_MONTH:
    case K_MONTHS: return UNIT_MONTH;
    case K_WEEK:
    case K_WEEKS: return UNIT_WEEK;
    case K_DAY:
    case K_DAYS: return UNIT_DAY;
    case K_HOUR:
    case K_HOURS: return UNIT_HOUR;
    case K_MINUTE:
    case K_MINUTES: return UNIT_MINUTE;
    case K_SECOND:
    case K_SECONDS: return UNIT_SECOND;
    default: return UNIT_NONE;
    }
}

static bool accept_unit(struct parser *p, enum ast_unit *unit) {
    *unit = interval_unit(p);
    if (*unit == UNIT_NONE) {
        static const char *const words[] = {"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) tide__parser_note(p, words[i]);
        return tide__parser_unexpected(p);
    }
    tide__parser_advance(p);
    return true;
}

static bool can_end_at(enum ast_unit from, enum ast_unit to) {
    if (from == UNIT_YEAR) return to == UNIT_MONTH;
    return from >= UNIT_DAY && to > from;
}

// (3) behind a unit, or (3, 6) behind SECOND
static bool unit_precision(struct parser *p, struct ast_interval *out) {
    if (!tide__parser_accept(p, TOKEN_LPAREN)) return true;
    if (!tide__parser_int(p, &out->precision, "a number of digits")) return false;
    if (out->from == UNIT_SECOND && tide__parser_accept(p, TOKEN_COMMA) &&
        !tide__parser_int(p, &out->fraction, "a number of digits"))
        return false;
    return tide__parser_expect(p, TOKEN_RPAREN);
}

bool tide__parse_interval_qualifier(struct parser *p, struct ast_interval *out) {
    out->precision = out->fraction = -1;
    out->to = UNIT_NONE;
    if (!accept_unit(p, &out->from) || !unit_precision(p, out)) return false;
    if (!at_word(p, K_TO)) return true;
    tide__parser_advance(p);
    struct source_pos pos = p->token.pos;
    if (!accept_unit(p, &out->to)) return false;
    if (!can_end_at(out->from, out->to))
        return tide__parser_fail(p, TIDE_ERR_PARSE, pos,
                                 "write YEAR TO MONTH, DAY TO HOUR, MINUTE or SECOND, and so on",
                                 "an interval cannot go to this unit");
    if (out->to != UNIT_SECOND || !tide__parser_accept(p, TOKEN_LPAREN)) return true;
    return tide__parser_int(p, &out->fraction, "a number of digits") && tide__parser_expect(p, TOKEN_RPAREN);
}

// What stands between INTERVAL and the unit if it is no string: 5, (a + 1), a.b
static struct ast_expr *interval_operand(struct parser *p) {
    if (at_token(p, TOKEN_LPAREN)) {
        tide__parser_advance(p);
        struct ast_expr *expr = tide__parse_expression(p);
        return expr && tide__parser_expect(p, TOKEN_RPAREN) ? expr : NULL;
    }
    if (at_token(p, TOKEN_INTEGER) || at_token(p, TOKEN_DECIMAL)) return tide__parse_literal(p);
    struct ast_expr *column = tide__parse_new(p, AST_EXPR_COLUMN, p->token.pos);
    if (!tide__parser_path(p, &column->path, "a string such as '10'")) return NULL;
    return tide__parse_close(p, column);
}

// INTERVAL '1 MINUTE' is what other systems write.
static bool unit_in_string(struct parser *p, const struct ast_expr *expr) {
    struct str text = expr->text;
    size_t digits = 0;
    while (digits < text.len && isdigit((unsigned char)text.data[digits])) digits++;
    size_t unit = digits;
    while (unit < text.len && text.data[unit] == ' ') unit++;
    size_t end = unit;
    while (end < text.len && isalpha((unsigned char)text.data[end])) end++;
    if (at_token(p, TOKEN_WORD) || digits == 0 || digits > 18 || unit == end || end < text.len || end - unit > 12)
        return false;
    char hint[80];
    snprintf(hint, sizeof hint, "write INTERVAL '%.*s' %.*s", (int)digits, text.data, (int)(end - unit),
             text.data + unit);
    tide__parser_fail(p, TIDE_ERR_PARSE, expr->interval.text_pos, hint,
                      "the unit of an interval stands behind the string");
    return true;
}

struct ast_expr *tide__parse_interval(struct parser *p) {
    assert(at_word(p, K_INTERVAL));
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_LITERAL, p->token.pos);
    expr->literal = LITERAL_INTERVAL;
    tide__parser_advance(p);
    if (at_token(p, TOKEN_MINUS) || at_token(p, TOKEN_PLUS)) {
        expr->interval.negative = at_token(p, TOKEN_MINUS);
        tide__parser_advance(p);
    }
    if (at_token(p, TOKEN_STRING)) {
        expr->text = p->token.text;
        expr->interval.text_pos = p->token.pos;
        tide__parser_advance(p);
    } else {
        struct ast_expr *operand = interval_operand(p);
        if (!operand) return NULL;
        expr->kind = AST_EXPR_INTERVAL;
        tide__parse_push(p, &expr->args, operand);
    }
    if (expr->kind == AST_EXPR_LITERAL && unit_in_string(p, expr)) return NULL;
    if (!tide__parse_interval_qualifier(p, &expr->interval)) return NULL;
    return tide__parse_close(p, expr);
}
