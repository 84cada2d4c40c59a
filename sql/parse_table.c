// FROM: tables, subqueries, table functions, and joins between them.
//
// A comma binds less than any JOIN. Parentheses may hold a query, or tables and joins; the first word behind them
// tells, and a query that turns out to go on behind its own parentheses is picked up by tide__parse_query_tail.
#include "sql/parse_private.h"

#include <assert.h>

static struct ast_table_ref *parse_joins(struct parser *p);

static struct ast_table_ref *close_table(struct parser *p, struct ast_table_ref *table) {
    uint32_t depth = 0;
    const struct ast_expr *const exprs[] = {table->call, table->on, table->system_time};
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++)
        if (exprs[i] && exprs[i]->depth > depth) depth = exprs[i]->depth;
    if (table->query && table->query->depth > depth) depth = table->query->depth;
    if (table->left && table->left->depth > depth) depth = table->left->depth;
    if (table->right && table->right->depth > depth) depth = table->right->depth;
    table->depth = depth + 1;
    table->pos = tide__parser_span(p, table->pos);
    return tide__parse_check_depth(p, table->depth, table->pos) ? table : NULL;
}

static struct ast_table_ref *new_table(struct parser *p, enum ast_table_kind kind, struct source_pos pos) {
    struct ast_table_ref *table = ARENA_NEW(p->arena, struct ast_table_ref);
    table->kind = kind;
    table->pos = pos;
    return table;
}

// --- What may follow a table ---

// /*+ OPTIONS('k' = 'v'), OTHER(..) */; hints other than OPTIONS only advise a planner.
static bool parse_hints(struct parser *p, struct ast_table_ref *table) {
    if (!at_token(p, TOKEN_HINT_OPEN)) return true;
    struct source_pos start = p->token.pos;
    tide__parser_advance(p);
    while (!at_token(p, TOKEN_HINT_CLOSE)) {
        if (at_word(p, K_OPTIONS) && peek_token(p, 1, TOKEN_LPAREN)) {
            tide__parser_advance(p);
            if (!tide__parser_options(p, &table->options, true)) return false;
        } else if (at_token(p, TOKEN_END)) {
            return tide__parser_fail(p, TIDE_ERR_PARSE, start, "close it with */", "this hint is never closed");
        } else if (at_token(p, TOKEN_ERROR)) {
            return tide__parser_unexpected(p);
        } else {
            tide__parser_advance(p);
        }
    }
    tide__parser_advance(p);
    return true;
}

// FOR SYSTEM_TIME AS OF x
static bool parse_system_time(struct parser *p, struct ast_table_ref *table) {
    if (!at_word(p, K_FOR)) return true;
    tide__parser_advance(p);
    if (!tide__parser_expect_word(p, K_SYSTEM_TIME) || !tide__parser_expect_word(p, K_AS) ||
        !tide__parser_expect_word(p, K_OF))
        return false;
    table->system_time = tide__parse_term(p);
    return table->system_time != NULL;
}

static bool refuse_unsupported(struct parser *p) {
    if (!at_word(p, K_MATCH_RECOGNIZE) && !at_word(p, K_TABLESAMPLE) && !at_word(p, K_PIVOT) && !at_word(p, K_UNPIVOT))
        return true;
    return tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, NULL, "%s is not supported",
                             tide__keyword_text(p->token.keyword));
}

// [AS] name [(a, b)]
static bool parse_alias(struct parser *p, struct ast_table_ref *table) {
    if (!refuse_unsupported(p)) return false;
    bool as = tide__parser_accept_word(p, K_AS);
    if (!as && !tide__parser_at_name(p)) return true;
    if (!tide__parser_name(p, &table->alias, "a table name")) return false;
    if (at_token(p, TOKEN_LPAREN) && !tide__parser_names(p, &table->columns, "a column name")) return false;
    return refuse_unsupported(p);
}

static struct ast_table_ref *finish_table(struct parser *p, struct ast_table_ref *table) {
    return parse_alias(p, table) ? close_table(p, table) : NULL;
}

// --- Tables ---

// ( query ) or ( tables and joins )
static struct ast_table_ref *parse_parenthesis(struct parser *p, bool lateral) {
    struct ast_table_ref *table = new_table(p, TABLE_SUBQUERY, p->token.pos);
    table->lateral = lateral;
    tide__parser_advance(p);
    if (tide__parse_at_query(p) || lateral) {
        table->query = tide__parse_query(p);
    } else {
        if (at_word(p, K_TABLE) && !peek_token(p, 1, TOKEN_LPAREN)) {
            table->query = tide__parse_query(p);  // (TABLE t)
            if (!table->query || !tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
            return finish_table(p, table);
        }
        struct ast_table_ref *inner = tide__parse_from(p);
        if (!inner) return NULL;
        bool query = inner->kind == TABLE_SUBQUERY && inner->alias.text.len == 0;
        if (!query || !tide__parse_at_query_tail(p)) {
            if (!tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
            inner->pos = tide__parser_span(p, table->pos);
            // ((SELECT ..)) AS t and (a JOIN b ..): the parentheses leave no node
            return query ? finish_table(p, inner) : inner;
        }
        table->query = tide__parse_query_tail(p, inner->query);
    }
    if (!table->query || !tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    return finish_table(p, table);
}

// A function's name and arguments; UNNEST is a kind of its own.
static bool parse_function(struct parser *p, struct ast_table_ref *table) {
    struct ast_path path = {.pos = p->token.pos};
    if (at_word(p, K_UNNEST)) {
        table->kind = TABLE_UNNEST;
        *PUSH(p, path.parts, path.count) = (struct ast_name){p->token.text, p->token.pos, false};
        tide__parser_advance(p);
    } else if (!tide__parser_path(p, &path, "a table function")) {
        return false;
    }
    table->call = tide__parse_table_call(p, &path);
    return table->call != NULL;
}

// TABLE ( f(..) )
static struct ast_table_ref *parse_table_function(struct parser *p, struct source_pos start, bool lateral) {
    struct ast_table_ref *table = new_table(p, TABLE_FUNCTION, start);
    table->lateral = lateral;
    if (!tide__parser_expect_word(p, K_TABLE) || !tide__parser_expect(p, TOKEN_LPAREN)) return NULL;
    if (!parse_function(p, table) || !tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    return finish_table(p, table);
}

static struct ast_table_ref *parse_unnest(struct parser *p, struct source_pos start, bool lateral) {
    struct ast_table_ref *table = new_table(p, TABLE_UNNEST, start);
    table->lateral = lateral;
    if (!parse_function(p, table)) return NULL;
    if (at_word(p, K_WITH)) {
        tide__parser_advance(p);
        if (!tide__parser_expect_word(p, K_ORDINALITY)) return NULL;
        table->with_ordinality = true;
    }
    return finish_table(p, table);
}

static struct ast_table_ref *parse_lateral(struct parser *p) {
    struct source_pos start = p->token.pos;
    tide__parser_advance(p);
    if (at_token(p, TOKEN_LPAREN)) {
        struct ast_table_ref *table = parse_parenthesis(p, true);
        if (table) table->pos = tide__parser_span(p, start);
        return table;
    }
    if (at_word(p, K_TABLE)) return parse_table_function(p, start, true);
    if (at_word(p, K_UNNEST)) return parse_unnest(p, start, true);
    struct ast_table_ref *table = new_table(p, TABLE_FUNCTION, start);
    table->lateral = true;
    return parse_function(p, table) ? finish_table(p, table) : NULL;
}

// t or f(..)
static struct ast_table_ref *parse_named(struct parser *p) {
    struct ast_table_ref *table = new_table(p, TABLE_NAME, p->token.pos);
    if (!tide__parser_path(p, &table->path, "a table name")) return NULL;
    if (at_token(p, TOKEN_LPAREN)) {
        struct ast_path path = table->path;
        table->kind = TABLE_FUNCTION;
        table->path = (struct ast_path){0};
        table->call = tide__parse_table_call(p, &path);
        return table->call ? finish_table(p, table) : NULL;
    }
    if (!parse_hints(p, table) || !parse_system_time(p, table)) return NULL;
    return finish_table(p, table);
}

static struct ast_table_ref *parse_primary(struct parser *p) {
    if (at_token(p, TOKEN_LPAREN)) return parse_parenthesis(p, false);
    if (at_word(p, K_LATERAL)) return parse_lateral(p);
    if (at_word(p, K_TABLE)) return parse_table_function(p, p->token.pos, false);
    if (at_word(p, K_UNNEST)) return parse_unnest(p, p->token.pos, false);
    if (tide__parser_at_name(p)) return parse_named(p);
    if (tide__parse_at_query(p)) {
        tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "write FROM (SELECT ...)",
                          "a query in FROM stands in parentheses");
        return NULL;
    }
    tide__parser_note(p, "a table name");
    tide__parser_note(p, "\"(\"");
    tide__parser_unexpected(p);
    return NULL;
}

// --- Joins ---

// [NATURAL] [INNER | LEFT [OUTER] | RIGHT [OUTER] | FULL [OUTER] | CROSS] JOIN; false without error if none is here
static bool parse_join_words(struct parser *p, struct ast_table_ref *join) {
    join->join_pos = p->token.pos;
    bool any = join->natural = tide__parser_take_word(p, K_NATURAL);
    join->join = AST_JOIN_INNER;
    bool outer = true;
    if (tide__parser_take_word(p, K_LEFT))
        join->join = AST_JOIN_LEFT;
    else if (tide__parser_take_word(p, K_RIGHT))
        join->join = AST_JOIN_RIGHT;
    else if (tide__parser_take_word(p, K_FULL))
        join->join = AST_JOIN_FULL;
    else {
        outer = false;
        if (tide__parser_take_word(p, K_CROSS)) {
            join->join = AST_JOIN_CROSS;
            any = true;
        } else if (tide__parser_take_word(p, K_INNER)) {
            any = true;
        }
    }
    if (outer) tide__parser_take_word(p, K_OUTER);
    if (!(any || outer) && !at_word(p, K_JOIN)) {
        tide__parser_note(p, "JOIN");
        return false;
    }
    if (!tide__parser_expect_word(p, K_JOIN)) return false;
    join->join_pos = tide__parser_span(p, join->join_pos);
    return true;
}

static bool parse_condition(struct parser *p, struct ast_table_ref *join) {
    if (join->natural || join->join == AST_JOIN_CROSS) return true;
    if (tide__parser_accept_word(p, K_ON)) return (join->on = tide__parse_expression(p)) != NULL;
    if (tide__parser_accept_word(p, K_USING)) return tide__parser_names(p, &join->using_columns, "a column name");
    return true;  // the binder says that a condition is missing, or takes it as CROSS
}

static struct ast_table_ref *parse_joins(struct parser *p) {
    struct ast_table_ref *left = parse_primary(p);
    while (left) {
        struct ast_table_ref *join = new_table(p, TABLE_JOIN, left->pos);
        if (!parse_join_words(p, join)) return p->err->status == TIDE_OK ? left : NULL;
        join->left = left;
        if (!(join->right = parse_primary(p))) return NULL;
        if (!parse_condition(p, join)) return NULL;
        left = close_table(p, join);
    }
    return NULL;
}

static struct ast_table_ref *parse_commas(struct parser *p) {
    struct ast_table_ref *left = parse_joins(p);
    while (left && at_token(p, TOKEN_COMMA)) {
        struct ast_table_ref *join = new_table(p, TABLE_JOIN, left->pos);
        join->join = AST_JOIN_COMMA;
        join->join_pos = p->token.pos;
        tide__parser_advance(p);
        join->left = left;
        if (!(join->right = parse_joins(p))) return NULL;
        left = close_table(p, join);
    }
    if (left) tide__parser_note(p, tide__token_text(TOKEN_COMMA));
    return left;
}

struct ast_table_ref *tide__parse_from(struct parser *p) {
    if (!tide__parser_enter(p)) return NULL;
    struct ast_table_ref *table = parse_commas(p);
    tide__parser_leave(p);
    return table;
}
