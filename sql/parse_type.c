// Type syntax, turned into base types at once by Flink's rules: bare DECIMAL is DECIMAL(10, 0), bare VARCHAR is
// STRING, bare TIMESTAMP is TIMESTAMP(6); precisions that are too large are cut down silently.
#include "sql/parse_private.h"

#include <assert.h>
#include <string.h>

struct type_word {
    const char *word;
    enum type_kind kind;
    int32_t precision;  // by default
    bool sized;         // may have (n)
};

static const struct type_word type_words[] = {
    {"BOOLEAN", TYPE_BOOLEAN, 0, false},
    {"TINYINT", TYPE_TINYINT, 0, false},
    {"SMALLINT", TYPE_SMALLINT, 0, false},
    {"INT", TYPE_INT, 0, false},
    {"INTEGER", TYPE_INT, 0, false},
    {"BIGINT", TYPE_BIGINT, 0, false},
    {"FLOAT", TYPE_FLOAT, 0, false},
    {"REAL", TYPE_FLOAT, 0, false},
    {"DOUBLE", TYPE_DOUBLE, 0, false},
    {"DECIMAL", TYPE_DECIMAL, 10, true},
    {"DEC", TYPE_DECIMAL, 10, true},
    {"NUMERIC", TYPE_DECIMAL, 10, true},
    {"CHAR", TYPE_CHAR, 1, true},
    {"CHARACTER", TYPE_CHAR, 1, true},
    {"VARCHAR", TYPE_VARCHAR, TYPE_STRING_LENGTH, true},
    {"STRING", TYPE_VARCHAR, TYPE_STRING_LENGTH, false},
    {"BINARY", TYPE_BINARY, 1, true},
    {"VARBINARY", TYPE_VARBINARY, TYPE_STRING_LENGTH, true},
    {"BYTES", TYPE_VARBINARY, TYPE_STRING_LENGTH, false},
    {"DATE", TYPE_DATE, 0, false},
    {"TIME", TYPE_TIME, 0, true},
    {"TIMESTAMP", TYPE_TIMESTAMP, 6, true},
    {"TIMESTAMP_LTZ", TYPE_TIMESTAMP_LTZ, 6, true},
    {"NULL", TYPE_NULL, 0, false},
};

enum { TYPE_WORDS = sizeof type_words / sizeof *type_words };

static const struct type_word *find_type(struct str word) {
    for (size_t i = 0; i < TYPE_WORDS; i++)
        if (tide__str_ieq_c(word, type_words[i].word)) return &type_words[i];
    return NULL;
}

static struct type *new_type(struct parser *p, enum type_kind kind) {
    struct type *type = ARENA_NEW(p->arena, struct type);
    *type = tide__type_make(kind, true);
    return type;
}

// Children by way of a growing array, since `struct type` holds them const.
static void set_children(struct type *type, const struct type_child *children, uint32_t count) {
    type->children = children;
    type->child_count = count;
}

// What other systems call them.
static const struct {
    const char *theirs, *ours;
} foreign_types[] = {
    {"TEXT", "STRING"},    {"VARCHAR2", "STRING"}, {"DATETIME", "TIMESTAMP(3)"}, {"TIMESTAMPTZ", "TIMESTAMP_LTZ(3)"},
    {"NUMBER", "DECIMAL"}, {"LONG", "BIGINT"},     {"INT64", "BIGINT"},          {"INT32", "INT"},
    {"BOOL", "BOOLEAN"},   {"BLOB", "BYTES"},      {"UUID", "STRING"},           {"JSON", "STRING"},
};

static bool unknown_type(struct parser *p) {
    enum { MORE = 5 };
    static const char *const more[MORE] = {"ARRAY", "MAP", "MULTISET", "ROW", "INTERVAL"};
    const char *names[TYPE_WORDS + MORE];
    for (size_t i = 0; i < TYPE_WORDS; i++) names[i] = type_words[i].word;
    for (size_t i = 0; i < MORE; i++) names[TYPE_WORDS + i] = more[i];
    struct str word = p->token.text;
    const char *near = tide__nearest(word, names, TYPE_WORDS + MORE);
    tide__parser_fail(p, TIDE_ERR_VALIDATE, p->token.pos, NULL, "unknown type \"%.*s\"", STR_ARG(word));
    for (size_t i = 0; i < sizeof foreign_types / sizeof *foreign_types; i++)
        if (tide__str_ieq_c(word, foreign_types[i].theirs)) near = foreign_types[i].ours;
    if (near) tide__fail_hint(p->err, "did you mean %s?", near);
    return false;
}

// (p) or (p, s)
static bool parse_decimal_size(struct parser *p, struct type *type) {
    struct source_pos start = p->token.pos;
    type->precision = 10;
    type->scale = 0;
    if (!tide__parser_accept(p, TOKEN_LPAREN)) return true;
    if (!tide__parser_int(p, &type->precision, "a precision")) return false;
    if (tide__parser_accept(p, TOKEN_COMMA) && !tide__parser_int(p, &type->scale, "a scale")) return false;
    if (!tide__parser_expect(p, TOKEN_RPAREN)) return false;
    start = tide__parser_span(p, start);
    if (type->precision < 1)
        return tide__parser_fail(p, TIDE_ERR_VALIDATE, start, NULL, "a precision must be at least 1");
    if (type->precision > DECIMAL_PRECISION_MAX) type->precision = DECIMAL_PRECISION_MAX;
    if (type->scale > type->precision)
        return tide__parser_fail(p, TIDE_ERR_VALIDATE, start, NULL, "scale %d is larger than precision %d", type->scale,
                                 type->precision);
    return true;
}

static bool parse_size(struct parser *p, struct type *type, const struct type_word *word) {
    bool timelike = word->kind == TYPE_TIME || word->kind == TYPE_TIMESTAMP || word->kind == TYPE_TIMESTAMP_LTZ;
    type->precision = word->precision;
    if (!tide__parser_accept(p, TOKEN_LPAREN)) return true;
    struct source_pos pos = p->token.pos;
    if (!tide__parser_int(p, &type->precision, timelike ? "a precision" : "a length")) return false;
    if (!timelike && type->precision < 1)
        return tide__parser_fail(p, TIDE_ERR_VALIDATE, pos, NULL, "a length must be at least 1");
    if (timelike && type->precision > 9) type->precision = 9;
    return tide__parser_expect(p, TOKEN_RPAREN);
}

// [WITHOUT TIME ZONE | WITH LOCAL TIME ZONE]
static bool parse_zone(struct parser *p, struct type *type) {
    struct source_pos start = p->token.pos;
    if (at_word(p, K_WITHOUT)) {
        tide__parser_advance(p);
        return tide__parser_expect_word(p, K_TIME) && tide__parser_expect_word(p, K_ZONE);
    }
    bool with = at_word(p, K_WITH) && (peek_word(p, 1, K_LOCAL) || peek_word(p, 1, K_TIME));
    if (!with) return true;
    tide__parser_advance(p);
    bool local = tide__parser_accept_word(p, K_LOCAL);
    if (!tide__parser_expect_word(p, K_TIME) || !tide__parser_expect_word(p, K_ZONE)) return false;
    if (!local || type->kind == TYPE_TIME)
        return tide__parser_fail(p, TIDE_ERR_VALIDATE, tide__parser_span(p, start), "use TIMESTAMP_LTZ(3) for instants",
                                 "WITH TIME ZONE is not supported");
    type->kind = TYPE_TIMESTAMP_LTZ;
    return true;
}

// INTERVAL DAY TO SECOND(3): only the family counts.
static struct type *parse_interval_type(struct parser *p) {
    struct ast_interval interval = {0};
    tide__parser_advance(p);
    if (!tide__parse_interval_qualifier(p, &interval)) return NULL;
    bool months = interval.from == UNIT_YEAR || interval.from == UNIT_MONTH || interval.from == UNIT_QUARTER;
    return new_type(p, months ? TYPE_INTERVAL_MONTHS : TYPE_INTERVAL_MILLIS);
}

// name TYPE [COMMENT 'x'] of a ROW
static bool parse_field(struct parser *p, struct type_child *child) {
    struct ast_name name;
    if (!tide__parser_name(p, &name, "a field name")) return false;
    child->name = tide__arena_strndup(p->arena, name.text.data, name.text.len);
    if (!(child->type = tide__parse_type(p))) return false;
    struct str comment;
    return !tide__parser_accept_word(p, K_COMMENT) || tide__parser_string(p, &comment, NULL, "a comment");
}

// ROW<a INT, b STRING> or ROW(a INT, b STRING)
static struct type *parse_row_type(struct parser *p) {
    struct type *type = new_type(p, TYPE_ROW);
    tide__parser_advance(p);
    if (tide__parser_accept(p, TOKEN_NOT_EQUAL)) return type;  // ROW<>
    enum token_kind close = at_token(p, TOKEN_LPAREN) ? TOKEN_RPAREN : TOKEN_GREATER;
    if (!tide__parser_accept(p, TOKEN_LPAREN) && !tide__parser_expect(p, TOKEN_LESS)) return NULL;
    struct type_child *children = NULL;
    uint32_t count = 0;
    do {
        if (!parse_field(p, PUSH(p, children, count))) return NULL;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    set_children(type, children, count);
    return tide__parser_expect(p, close) ? type : NULL;
}

// ARRAY<t>, MULTISET<t>, MAP<k, v>
static struct type *parse_collection(struct parser *p, enum type_kind kind) {
    struct type *type = new_type(p, kind);
    uint32_t count = kind == TYPE_MAP ? 2 : 1;
    struct type_child *children = ARENA_ARRAY(p->arena, struct type_child, count);
    tide__parser_advance(p);
    if (!tide__parser_expect(p, TOKEN_LESS)) return NULL;
    if (!(children[0].type = tide__parse_type(p))) return NULL;
    if (kind == TYPE_MAP) {
        if (!tide__parser_expect(p, TOKEN_COMMA)) return NULL;
        if (!(children[1].type = tide__parse_type(p))) return NULL;
    }
    set_children(type, children, count);
    return tide__parser_expect(p, TOKEN_GREATER) ? type : NULL;
}

static struct type *parse_simple(struct parser *p, const struct type_word *word) {
    struct type *type = new_type(p, word->kind);
    tide__parser_advance(p);
    if (word->kind == TYPE_CHAR && tide__parser_accept_word(p, K_VARYING)) {
        static const struct type_word varying = {"VARCHAR", TYPE_VARCHAR, TYPE_STRING_LENGTH, true};
        type->kind = TYPE_VARCHAR;
        return parse_size(p, type, &varying) ? type : NULL;
    }
    if (word->kind == TYPE_DOUBLE) tide__parser_accept_word(p, K_PRECISION);
    if (word->kind == TYPE_DECIMAL) return parse_decimal_size(p, type) ? type : NULL;
    if (!word->sized) {
        if (word->precision > 0) type->precision = word->precision;
        return type;
    }
    if (!parse_size(p, type, word)) return NULL;
    if ((word->kind == TYPE_TIME || word->kind == TYPE_TIMESTAMP) && !parse_zone(p, type)) return NULL;
    return type;
}

static struct type *parse_base(struct parser *p) {
    if (at_token(p, TOKEN_QUOTED)) {
        unknown_type(p);
        return NULL;
    }
    if (!at_token(p, TOKEN_WORD)) {
        tide__parser_note(p, "a type");
        tide__parser_unexpected(p);
        return NULL;
    }
    switch ((int)p->token.keyword) {
    case K_ROW: return parse_row_type(p);
    case K_ARRAY: return parse_collection(p, TYPE_ARRAY);
    case K_MULTISET: return parse_collection(p, TYPE_MULTISET);
    case K_MAP: return parse_collection(p, TYPE_MAP);
    case K_INTERVAL: return parse_interval_type(p);
    case K_RAW:
    case K_STRUCTURED:
        tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, "use ROW<...> or BYTES", "type %.*s is not supported",
                          STR_ARG(p->token.text));
        return NULL;
    default: break;
    }
    const struct type_word *word = find_type(p->token.text);
    if (word) return parse_simple(p, word);
    bool datetime = tide__str_ieq_c(p->token.text, "DATETIME");
    if (tide__keyword_class(p->token.keyword) != KEYWORD_FREE && !datetime) {
        tide__parser_note(p, "a type");
        tide__parser_unexpected(p);
    } else {
        unknown_type(p);
    }
    return NULL;
}

// Suffixes: INT ARRAY, INT MULTISET, [NOT] NULL
static struct type *parse_suffixes(struct parser *p, struct type *type) {
    for (;;) {
        bool array = at_word(p, K_ARRAY);
        if (array || at_word(p, K_MULTISET)) {
            tide__parser_advance(p);
            struct type_child *child = ARENA_NEW(p->arena, struct type_child);
            child->type = type;
            type = new_type(p, array ? TYPE_ARRAY : TYPE_MULTISET);
            set_children(type, child, 1);
            if (!tide__parser_enter(p)) return NULL;  // left again by tide__parse_type
        } else if (at_word(p, K_NOT) && peek_word(p, 1, K_NULL)) {
            tide__parser_advance(p);
            tide__parser_advance(p);
            type->nullable = false;
        } else if (at_word(p, K_NULL) && !peek_word(p, 1, K_ON)) {
            tide__parser_advance(p);
            type->nullable = true;
        } else {
            return type;
        }
    }
}

const struct type *tide__parse_type(struct parser *p) {
    uint32_t nesting = p->nesting;
    if (!tide__parser_enter(p)) return NULL;
    struct type *type = parse_base(p);
    if (type) type = parse_suffixes(p, type);
    p->nesting = nesting;
    return type;
}
