// The clauses inside SQL's JSON functions.
#include "sql/parse_private.h"

#include <assert.h>

// FORMAT JSON [ENCODING UTF8] says what is so anyway.
static bool skip_format(struct parser *p) {
    if (!at_word(p, K_FORMAT) || !peek_word(p, 1, K_JSON)) return true;
    tide__parser_advance(p);
    tide__parser_advance(p);
    return true;
}

static bool push_value(struct parser *p, struct ast_expr *call) {
    struct ast_expr *value = tide__parse_expression(p);
    if (!value) return false;
    tide__parse_push(p, &call->args, value);
    return skip_format(p);
}

// NULL ON NULL, ABSENT ON NULL; nothing if neither is here.
static bool parse_on_null(struct parser *p, struct ast_json *json) {
    if (!(at_word(p, K_NULL) || at_word(p, K_ABSENT)) || !peek_word(p, 1, K_ON)) {
        tide__parser_note(p, "NULL ON NULL");
        tide__parser_note(p, "ABSENT ON NULL");
        return true;
    }
    json->has_on_null = true;
    json->absent_on_null = at_word(p, K_ABSENT);
    tide__parser_advance(p);
    tide__parser_advance(p);
    return tide__parser_expect_word(p, K_NULL);
}

// KEY k VALUE v | k VALUE v | k : v
static bool push_pair(struct parser *p, struct ast_expr *call) {
    const struct token *next = tide__parser_peek(p, 1);
    bool key_word = at_word(p, K_KEY) && next->kind != TOKEN_COLON && next->kind != TOKEN_DOT &&
                    next->kind != TOKEN_LPAREN && !is_word(next, K_VALUE);
    if (key_word) tide__parser_advance(p);
    if (!push_value(p, call)) return false;
    if (!tide__parser_accept_word(p, K_VALUE) && !tide__parser_expect(p, TOKEN_COLON)) return false;
    return push_value(p, call);
}

static bool at_on_null(struct parser *p) {
    return (at_word(p, K_NULL) || at_word(p, K_ABSENT)) && peek_word(p, 1, K_ON);
}

static bool parse_items(struct parser *p, struct ast_expr *call, bool pairs) {
    if (at_token(p, TOKEN_RPAREN)) return true;
    if (!at_on_null(p)) {
        do {
            if (!(pairs ? push_pair(p, call) : push_value(p, call))) return false;
        } while (tide__parser_accept(p, TOKEN_COMMA));
    }
    return parse_on_null(p, call->json);
}

static bool parse_array_agg(struct parser *p, struct ast_expr *call) {
    if (!push_value(p, call)) return false;
    if (tide__parser_accept_word(p, K_ORDER) &&
        (!tide__parser_expect_word(p, K_BY) || !tide__parse_order_by(p, &call->order_by)))
        return false;
    return parse_on_null(p, call->json);
}

static bool parse_returning(struct parser *p, struct ast_json *json) {
    struct source_pos start = p->token.pos;
    if (!tide__parser_accept_word(p, K_RETURNING)) return true;
    json->returning = tide__parse_type(p);
    json->returning_pos = tide__parser_span(p, start);
    return json->returning != NULL;
}

// WITHOUT [ARRAY] WRAPPER, WITH [CONDITIONAL | UNCONDITIONAL] [ARRAY] WRAPPER
static bool parse_wrapper(struct parser *p, struct ast_json *json) {
    if (tide__parser_accept_word(p, K_WITHOUT)) {
        json->wrapper = WRAPPER_WITHOUT;
    } else if (tide__parser_accept_word(p, K_WITH)) {
        json->wrapper = WRAPPER_UNCONDITIONAL;
        if (tide__parser_accept_word(p, K_CONDITIONAL))
            json->wrapper = WRAPPER_CONDITIONAL;
        else
            tide__parser_accept_word(p, K_UNCONDITIONAL);
    } else {
        return true;
    }
    tide__parser_accept_word(p, K_ARRAY);
    return tide__parser_expect_word(p, K_WRAPPER);
}

static bool parse_behavior(struct parser *p, enum keyword function, enum ast_json_behavior *behavior,
                           struct ast_expr **value) {
    bool exists = function == K_JSON_EXISTS;
    if (tide__parser_accept_word(p, K_ERROR))
        *behavior = JSON_ERROR;
    else if (exists && tide__parser_accept_word(p, K_TRUE))
        *behavior = JSON_TRUE;
    else if (exists && tide__parser_accept_word(p, K_FALSE))
        *behavior = JSON_FALSE;
    else if (exists && tide__parser_accept_word(p, K_UNKNOWN))
        *behavior = JSON_UNKNOWN;
    else if (!exists && tide__parser_accept_word(p, K_NULL))
        *behavior = JSON_NULL;
    else if (function == K_JSON_VALUE && tide__parser_accept_word(p, K_DEFAULT)) {
        *behavior = JSON_DEFAULT;
        return (*value = tide__parse_expression(p)) != NULL;
    } else if (function == K_JSON_QUERY && tide__parser_accept_word(p, K_EMPTY)) {
        *behavior = JSON_EMPTY_ARRAY;
        if (tide__parser_accept_word(p, K_OBJECT))
            *behavior = JSON_EMPTY_OBJECT;
        else
            tide__parser_accept_word(p, K_ARRAY);
    }
    return true;
}

// .. ON EMPTY .. ON ERROR, each once
static bool parse_behaviors(struct parser *p, struct ast_json *json, enum keyword function) {
    for (;;) {
        enum ast_json_behavior behavior = JSON_UNSET;
        struct ast_expr *value = NULL;
        struct source_pos start = p->token.pos;
        if (!parse_behavior(p, function, &behavior, &value)) return false;
        if (behavior == JSON_UNSET) return true;
        if (!tide__parser_expect_word(p, K_ON)) return false;
        bool empty = function != K_JSON_EXISTS && tide__parser_accept_word(p, K_EMPTY);
        if (!empty && !tide__parser_expect_word(p, K_ERROR)) return false;
        if ((empty ? json->on_empty : json->on_error) != JSON_UNSET)
            return tide__parser_fail(p, TIDE_ERR_PARSE, tide__parser_span(p, start), NULL, "ON %s is given twice",
                                     empty ? "EMPTY" : "ERROR");
        *(empty ? &json->on_empty : &json->on_error) = behavior;
        *(empty ? &json->empty_value : &json->error_value) = value;
    }
}

bool tide__parse_json_args(struct parser *p, struct ast_expr *call, enum keyword name) {
    call->json = ARENA_NEW(p->arena, struct ast_json);
    switch ((int)name) {
    case K_JSON_OBJECT: return parse_items(p, call, true);
    case K_JSON_ARRAY: return parse_items(p, call, false);
    case K_JSON_OBJECTAGG: return push_pair(p, call) && parse_on_null(p, call->json);
    case K_JSON_ARRAYAGG: return parse_array_agg(p, call);
    default: break;
    }
    if (!push_value(p, call) || !tide__parser_expect(p, TOKEN_COMMA) || !push_value(p, call)) return false;
    if (name != K_JSON_EXISTS && !parse_returning(p, call->json)) return false;
    if (name == K_JSON_QUERY && !parse_wrapper(p, call->json)) return false;
    return parse_behaviors(p, call->json, name);
}
