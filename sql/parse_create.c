// CREATE TABLE and CREATE VIEW.
#include "sql/parse_private.h"

#include <assert.h>

// --- Columns and constraints ---

// ENFORCED or NOT ENFORCED behind a key; nothing means enforced.
static bool parse_enforced(struct parser *p, struct statement *s) {
    s->primary_key_enforced = true;
    if (at_word(p, K_NOT)) {
        tide__parser_advance(p);
        s->primary_key_enforced = false;
        return tide__parser_expect_word(p, K_ENFORCED);
    }
    tide__parser_note(p, "NOT ENFORCED");
    if (at_word(p, K_ENFORCED)) tide__parser_advance(p);
    return true;
}

static bool check_one_key(struct parser *p, const struct statement *s, struct source_pos pos) {
    if (s->primary_key.count == 0) return true;
    return tide__parser_fail(p, TIDE_ERR_PARSE, pos, "list all key columns in one PRIMARY KEY (a, b) NOT ENFORCED",
                             "a table has only one primary key");
}

// [CONSTRAINT name] PRIMARY KEY (a, b) NOT ENFORCED
static bool parse_key(struct parser *p, struct statement *s) {
    struct source_pos start = p->token.pos;
    struct ast_name name;
    if (tide__parser_accept_word(p, K_CONSTRAINT) && !tide__parser_name(p, &name, "a constraint name")) return false;
    if (at_word(p, K_UNIQUE))
        return tide__parser_fail(p, TIDE_ERR_VALIDATE, p->token.pos, "use PRIMARY KEY .. NOT ENFORCED",
                                 "UNIQUE is not supported");
    if (!tide__parser_expect_word(p, K_PRIMARY) || !tide__parser_expect_word(p, K_KEY)) return false;
    if (!check_one_key(p, s, start)) return false;
    if (!tide__parser_names(p, &s->primary_key, "a column name") || !parse_enforced(p, s)) return false;
    s->primary_key_pos = tide__parser_span(p, start);
    return true;
}

// [CONSTRAINT name] PRIMARY KEY NOT ENFORCED behind a column's type
static bool parse_column_key(struct parser *p, struct statement *s, const struct column_def *column) {
    struct source_pos start = p->token.pos;
    struct ast_name name;
    if (at_word(p, K_CONSTRAINT)) {
        tide__parser_advance(p);
        if (!tide__parser_name(p, &name, "a constraint name")) return false;
        if (!at_word(p, K_PRIMARY)) return tide__parser_expect_word(p, K_PRIMARY);
    }
    if (!tide__parser_accept_word(p, K_PRIMARY)) return true;
    if (!tide__parser_expect_word(p, K_KEY) || !check_one_key(p, s, start)) return false;
    *PUSH(p, s->primary_key.items, s->primary_key.count) = column->name;
    if (!parse_enforced(p, s)) return false;
    s->primary_key_pos = tide__parser_span(p, start);
    return true;
}

// WATERMARK FOR a.b AS expression
static bool parse_watermark(struct parser *p, struct statement *s) {
    struct source_pos start = p->token.pos;
    tide__parser_advance(p);
    struct watermark_def *watermark = ARENA_NEW(p->arena, struct watermark_def);
    if (!tide__parser_expect_word(p, K_FOR)) return false;
    if (!tide__parser_path(p, &watermark->column, "a column name")) return false;
    if (!tide__parser_expect_word(p, K_AS)) return false;
    if (!(watermark->expr = tide__parse_expression(p))) return false;
    watermark->pos = tide__parser_span(p, start);
    if (s->watermark)
        return tide__parser_fail(p, TIDE_ERR_PARSE, watermark->pos, "remove one of them",
                                 "a table has only one WATERMARK");
    s->watermark = watermark;
    return true;
}

static bool parse_comment(struct parser *p, struct str *out) {
    return !tide__parser_accept_word(p, K_COMMENT) || tide__parser_string(p, out, NULL, "a 'comment'");
}

// name AS expression
static bool parse_computed(struct parser *p, struct column_def *column) {
    column->kind = COLUMN_COMPUTED;
    return (column->expr = tide__parse_expression(p)) != NULL;
}

static bool parse_typed(struct parser *p, struct statement *s, struct column_def *column) {
    struct source_pos start = p->token.pos;
    if (!(column->type = tide__parse_type(p))) return false;
    column->type_pos = tide__parser_span(p, start);
    if (!parse_column_key(p, s, column)) return false;
    if (!tide__parser_accept_word(p, K_METADATA)) return true;
    column->kind = COLUMN_METADATA;
    if (tide__parser_accept_word(p, K_FROM) && !tide__parser_string(p, &column->metadata_key, NULL, "a 'metadata key'"))
        return false;
    column->is_virtual = tide__parser_accept_word(p, K_VIRTUAL);
    return true;
}

static bool parse_column(struct parser *p, struct statement *s) {
    struct column_def *column = PUSH(p, s->column_defs, s->column_def_count);
    column->pos = p->token.pos;
    if (!tide__parser_name(p, &column->name, "a column name")) return false;
    if (tide__parser_accept_word(p, K_AS) ? !parse_computed(p, column) : !parse_typed(p, s, column)) return false;
    if (!parse_comment(p, &column->comment)) return false;
    column->pos = tide__parser_span(p, column->pos);
    return true;
}

static bool parse_element(struct parser *p, struct statement *s) {
    if (at_word(p, K_WATERMARK)) return parse_watermark(p, s);
    if (at_word(p, K_PRIMARY) || at_word(p, K_CONSTRAINT) || at_word(p, K_UNIQUE)) return parse_key(p, s);
    return parse_column(p, s);
}

bool tide__parse_table_elements(struct parser *p, struct statement *s) {
    if (!tide__parser_accept(p, TOKEN_LPAREN)) return parse_element(p, s);
    do {
        if (!parse_element(p, s)) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return tide__parser_expect(p, TOKEN_RPAREN);
}

static bool parse_columns(struct parser *p, struct statement *s) {
    if (!at_token(p, TOKEN_LPAREN)) {
        tide__parser_note(p, tide__token_text(TOKEN_LPAREN));
        return true;
    }
    if (peek_token(p, 1, TOKEN_RPAREN)) {
        tide__parser_advance(p);
        tide__parser_advance(p);
        return true;
    }
    return tide__parse_table_elements(p, s);
}

// --- LIKE ---

static bool parse_like_option(struct parser *p, struct like_option *option) {
    static const char *const features[] = {"ALL",      "CONSTRAINTS", "DISTRIBUTION", "GENERATED",
                                           "METADATA", "OPTIONS",     "PARTITIONS",   "WATERMARKS"};
    struct source_pos start = p->token.pos;
    if (tide__parser_accept_word(p, K_INCLUDING))
        option->merge = LIKE_INCLUDING;
    else if (tide__parser_accept_word(p, K_EXCLUDING))
        option->merge = LIKE_EXCLUDING;
    else if (tide__parser_accept_word(p, K_OVERWRITING))
        option->merge = LIKE_OVERWRITING;
    else
        return tide__parser_unexpected(p);
    for (size_t i = 0; i < sizeof features / sizeof *features && at_token(p, TOKEN_WORD); i++) {
        if (!tide__str_ieq_c(p->token.text, features[i])) continue;
        option->what = tide__str(features[i]);
        tide__parser_advance(p);
        option->pos = tide__parser_span(p, start);
        return true;
    }
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) tide__parser_note(p, features[i]);
    return tide__parser_unexpected(p);
}

// LIKE t [(INCLUDING ALL, EXCLUDING OPTIONS ..)]; commas or blanks between the options
static bool parse_like(struct parser *p, struct statement *s) {
    s->has_like = true;
    if (!tide__parser_path(p, &s->like_path, "a table name")) return false;
    if (!tide__parser_accept(p, TOKEN_LPAREN)) return true;
    while (!tide__parser_accept(p, TOKEN_RPAREN)) {
        if (!parse_like_option(p, PUSH(p, s->like_options, s->like_option_count))) return false;
        tide__parser_accept(p, TOKEN_COMMA);
    }
    return true;
}

// --- Statements ---

bool tide__parse_if_not_exists(struct parser *p, struct statement *s) {
    if (!at_word(p, K_IF) || !peek_word(p, 1, K_NOT)) return true;
    tide__parser_advance(p);
    tide__parser_advance(p);
    s->if_not_exists = true;
    return tide__parser_expect_word(p, K_EXISTS);
}

static bool parse_table(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_CREATE_TABLE;
    if (!tide__parse_if_not_exists(p, s) || !tide__parser_path(p, &s->path, "a table name")) return false;
    if (!parse_columns(p, s) || !parse_comment(p, &s->comment)) return false;
    if (at_word(p, K_DISTRIBUTED))
        return tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, "remove it", "DISTRIBUTED is not supported");
    if (tide__parser_accept_word(p, K_PARTITIONED)) {
        if (!tide__parser_expect_word(p, K_BY)) return false;
        if (!tide__parser_names(p, &s->partitioned_by, "a column name")) return false;
    }
    if (tide__parser_accept_word(p, K_WITH) && !tide__parser_options(p, &s->options, false)) return false;
    if (tide__parser_accept_word(p, K_LIKE)) return parse_like(p, s);
    if (tide__parser_accept_word(p, K_AS)) return (s->query = tide__parse_query(p)) != NULL;
    return true;
}

// (a COMMENT 'x', b)
static bool parse_view_columns(struct parser *p, struct statement *s) {
    if (!tide__parser_accept(p, TOKEN_LPAREN)) return true;
    do {
        struct str comment;
        if (!tide__parser_name(p, PUSH(p, s->columns.items, s->columns.count), "a column name")) return false;
        if (!parse_comment(p, &comment)) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return tide__parser_expect(p, TOKEN_RPAREN);
}

static bool parse_view(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_CREATE_VIEW;
    if (!tide__parse_if_not_exists(p, s) || !tide__parser_path(p, &s->path, "a view name")) return false;
    if (!parse_view_columns(p, s) || !parse_comment(p, &s->comment)) return false;
    if (!tide__parser_expect_word(p, K_AS)) return false;
    return (s->query = tide__parse_query(p)) != NULL;
}

static bool parse_database(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_CREATE_DATABASE;
    if (!tide__parse_if_not_exists(p, s) || !tide__parser_path(p, &s->path, "a database name")) return false;
    if (!parse_comment(p, &s->comment)) return false;
    return !tide__parser_accept_word(p, K_WITH) || tide__parser_options(p, &s->options, false);
}

static bool unsupported(struct parser *p, struct statement *s, const char *what) {
    s->kind = STATEMENT_UNSUPPORTED;
    s->what = tide__str(what);
    return tide__parse_skip_statement(p);
}

bool tide__parse_create(struct parser *p, struct statement *s) {
    if (tide__parser_accept_word(p, K_OR)) {
        s->or_replace = true;
        if (at_word(p, K_ALTER)) return unsupported(p, s, "CREATE OR ALTER");
        if (!tide__parser_expect_word(p, K_REPLACE)) return false;
    }
    s->temporary = tide__parser_accept_word(p, K_TEMPORARY);
    if (tide__parser_accept_word(p, K_TABLE)) return parse_table(p, s);
    if (tide__parser_accept_word(p, K_VIEW)) return parse_view(p, s);
    if (at_word(p, K_FUNCTION) || at_word(p, K_SYSTEM)) return unsupported(p, s, "CREATE FUNCTION");
    if (tide__parser_take_word(p, K_DATABASE)) return parse_database(p, s);
    if (at_word(p, K_CATALOG)) return unsupported(p, s, "CREATE CATALOG");
    if (at_word(p, K_MODEL)) return unsupported(p, s, "CREATE MODEL");
    if (at_word(p, K_MATERIALIZED)) return unsupported(p, s, "CREATE MATERIALIZED TABLE");
    if (tide__str_ieq_c(p->token.text, "CONNECTION")) return unsupported(p, s, "CREATE CONNECTION");
    return tide__parser_unexpected(p);
}
