// Statements. Those that cannot run here are parsed far enough to name them (STATEMENT_UNSUPPORTED).
#include "sql/parse_private.h"

#include <assert.h>
#include <string.h>

static bool parse_any(struct parser *p, struct statement *s);

bool tide__parse_skip_statement(struct parser *p) {
    while (!at_token(p, TOKEN_SEMICOLON) && !at_token(p, TOKEN_END)) {
        // What Flink would say inside a statement that is not run here does not matter, an open quote does.
        tide__parser_advance(p);
        if (at_token(p, TOKEN_ERROR)) return tide__parser_unexpected(p);
    }
    return true;
}

static bool unsupported(struct parser *p, struct statement *s, const char *what) {
    s->kind = STATEMENT_UNSUPPORTED;
    s->what = tide__str(what);
    return tide__parse_skip_statement(p);
}

// --- INSERT ---

// PARTITION (k = v, d)
static bool parse_partition(struct parser *p, struct statement *s) {
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return false;
    do {
        struct ast_partition *part = PUSH(p, s->partition, s->partition_count);
        if (!tide__parser_name(p, &part->name, "a column name")) return false;
        if (tide__parser_accept(p, TOKEN_EQUAL) && !(part->value = tide__parse_term(p))) return false;
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return tide__parser_expect(p, TOKEN_RPAREN);
}

// Inside (..) columns or a query may stand: INSERT INTO t (a, b) SELECT .., INSERT INTO t (SELECT ..)
static bool parse_insert_columns(struct parser *p, struct statement *s) {
    if (!at_token(p, TOKEN_LPAREN)) return true;
    const struct token *next = tide__parser_peek(p, 1);
    bool column = next->kind == TOKEN_QUOTED || next->kind == TOKEN_WORD;
    bool query = is_word(next, K_SELECT) || is_word(next, K_WITH) || is_word(next, K_VALUES) || is_word(next, K_TABLE);
    return !column || query || tide__parser_names(p, &s->columns, "a column name");
}

static bool parse_insert(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_INSERT;
    tide__parser_advance(p);
    s->overwrite = tide__parser_accept_word(p, K_OVERWRITE);
    if (!s->overwrite && !tide__parser_expect_word(p, K_INTO)) return false;
    if (!tide__parser_path(p, &s->path, "a table name")) return false;
    if (at_token(p, TOKEN_HINT_OPEN))
        return tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, "put the options into CREATE TABLE",
                                 "options of an INSERT's table are not supported");
    if (tide__parser_take_word(p, K_PARTITION) && !parse_partition(p, s)) return false;
    if (!parse_insert_columns(p, s)) return false;
    return (s->query = tide__parse_query(p)) != NULL;
}

// --- Statement sets ---

static bool parse_inner(struct parser *p, struct statement *outer) {
    struct statement *inner = ARENA_NEW(p->arena, struct statement);
    inner->uid = p->scanner.uid;
    inner->uid_pos = p->scanner.uid_pos;
    inner->pos = p->token.pos;
    if (!at_word(p, K_INSERT)) {
        tide__parser_note(p, "INSERT");
        return tide__parser_unexpected(p);
    }
    if (!parse_insert(p, inner)) return false;
    inner->pos = tide__parser_span(p, inner->pos);
    inner->text = tide__parser_text(p, inner->pos);
    *PUSH(p, outer->statements, outer->statement_count) = inner;
    return true;
}

// INSERT ..; INSERT ..; END. The current token is the one (BEGIN or a semicolon) before the first INSERT.
static bool parse_set_body(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_SET_OF;
    do {
        p->scanner.uid = (struct str){0};
        tide__parser_advance(p);
        if (at_word(p, K_END)) break;
        tide__parser_note(p, "END");
        if (!parse_inner(p, s)) return false;
        if (!at_token(p, TOKEN_SEMICOLON)) return tide__parser_expect(p, TOKEN_SEMICOLON);
    } while (true);
    if (s->statement_count == 0)
        return tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, NULL, "this statement set is empty");
    return tide__parser_expect_word(p, K_END);
}

static bool parse_execute(struct parser *p, struct statement *s) {
    tide__parser_advance(p);
    if (at_word(p, K_PLAN)) return unsupported(p, s, "EXECUTE PLAN");
    if (at_word(p, K_INSERT)) return parse_insert(p, s);
    if (tide__parse_at_query(p)) {
        s->kind = STATEMENT_QUERY;
        return (s->query = tide__parse_query(p)) != NULL;
    }
    if (!tide__parser_expect_word(p, K_STATEMENT) || !tide__parser_expect_word(p, K_SET)) return false;
    if (!at_word(p, K_BEGIN)) return tide__parser_expect_word(p, K_BEGIN);
    return parse_set_body(p, s);
}

static bool parse_begin(struct parser *p, struct statement *s) {
    tide__parser_advance(p);
    if (!tide__parser_expect_word(p, K_STATEMENT) || !tide__parser_expect_word(p, K_SET)) return false;
    if (!at_token(p, TOKEN_SEMICOLON)) return tide__parser_expect(p, TOKEN_SEMICOLON);
    return parse_set_body(p, s);
}

// --- SET, RESET ---

// A key without quotes: words with dots and dashes.
static bool bare_key(struct parser *p, struct str *key, struct source_pos *pos) {
    struct source_pos start = p->token.pos;
    while (at_token(p, TOKEN_WORD) || at_token(p, TOKEN_DOT) || at_token(p, TOKEN_MINUS) || at_token(p, TOKEN_INTEGER))
        tide__parser_advance(p);
    *pos = tide__parser_span(p, start);
    *key = tide__parser_text(p, *pos);
    if (key->len > 0 && pos->offset >= start.offset && p->previous.pos.offset >= start.offset) return true;
    tide__parser_note(p, "a 'key'");
    return tide__parser_unexpected(p);
}

static bool parse_key(struct parser *p, struct ast_option *option) {
    if (at_token(p, TOKEN_STRING)) return tide__parser_string(p, &option->key, &option->key_pos, "a 'key'");
    return bare_key(p, &option->key, &option->key_pos);
}

static bool parse_set(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_SET;
    tide__parser_advance(p);
    if (at_token(p, TOKEN_SEMICOLON) || at_token(p, TOKEN_END)) return true;
    struct ast_option *option = PUSH(p, s->options.items, s->options.count);
    if (!parse_key(p, option)) return false;
    if (!at_token(p, TOKEN_EQUAL)) return tide__parser_expect(p, TOKEN_EQUAL);
    if (peek_token(p, 1, TOKEN_STRING)) {
        tide__parser_advance(p);
        return tide__parser_string(p, &option->value, &option->value_pos, "a 'value'");
    }
    // A bare value is not SQL: read it as it is.
    const struct token *next = tide__parser_peek(p, 1);
    if (next->kind == TOKEN_SEMICOLON || next->kind == TOKEN_END) {
        tide__parser_advance(p);
        tide__parser_note(p, "a 'value'");
        return tide__parser_unexpected(p);
    }
    p->scanner.at = next->pos.offset;
    p->scanner.line = next->pos.line;
    p->scanner.column = next->pos.column;
    p->ahead_count = 0;
    p->previous = tide__scanner_next_raw(&p->scanner);
    option->value = p->previous.text;
    option->value_pos = p->previous.pos;
    struct token raw = p->previous;
    p->token = raw;
    tide__parser_advance(p);
    return true;
}

static bool parse_reset(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_RESET;
    tide__parser_advance(p);
    if (at_token(p, TOKEN_SEMICOLON) || at_token(p, TOKEN_END)) return true;
    return parse_key(p, PUSH(p, s->options.items, s->options.count));
}

// --- DESCRIBE, SHOW, EXPLAIN, USE ---

static bool parse_describe(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_DESCRIBE;
    tide__parser_advance(p);
    static const enum keyword others[] = {K_CATALOG, K_DATABASE, K_FUNCTION, K_MODEL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct token *next = tide__parser_peek(p, 1);
        bool named = next->kind == TOKEN_WORD || next->kind == TOKEN_QUOTED;
        if (at_word(p, others[i]) && named) return unsupported(p, s, "DESCRIBE of anything but a table or view");
    }
    s->extended = tide__parser_accept_word(p, K_EXTENDED);
    return tide__parser_path(p, &s->path, "a table name");
}

// FROM t, IN t, NOT LIKE 'x', LIKE 'x' in any order that Flink has
static bool parse_show_tail(struct parser *p, struct statement *s) {
    if (tide__parser_accept_word(p, K_FROM) || tide__parser_accept_word(p, K_IN)) {
        if (!tide__parser_path(p, &s->path, "a name")) return false;
    }
    if (at_word(p, K_NOT))
        return tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, NULL, "SHOW .. NOT LIKE is not supported");
    return !tide__parser_accept_word(p, K_LIKE) || tide__parser_string(p, &s->like, NULL, "a 'pattern'");
}

static bool show_create(struct parser *p, struct statement *s) {
    tide__parser_advance(p);
    if (tide__parser_accept_word(p, K_VIEW))
        s->what = STR_LIT("CREATE VIEW");
    else if (tide__parser_expect_word(p, K_TABLE))
        s->what = STR_LIT("CREATE TABLE");
    else
        return false;
    return tide__parser_path(p, &s->path, "a table name");
}

static bool parse_show(struct parser *p, struct statement *s) {
    static const enum keyword kinds[] = {K_TABLES,    K_VIEWS,   K_COLUMNS,    K_CATALOGS,   K_DATABASES,
                                         K_FUNCTIONS, K_MODULES, K_PARTITIONS, K_PROCEDURES, K_MODELS};
    s->kind = STATEMENT_SHOW;
    tide__parser_advance(p);
    if (at_word(p, K_CREATE)) return show_create(p, s);
    if (tide__parser_accept_word(p, K_CURRENT)) {
        s->what = STR_LIT("CURRENT DATABASE");
        if (tide__parser_accept_word(p, K_DATABASE)) return true;
        s->what = STR_LIT("CURRENT CATALOG");
        return tide__parser_expect_word(p, K_CATALOG);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!tide__parser_accept_word(p, kinds[i])) continue;
        s->what = tide__str(tide__keyword_text(kinds[i]));
        return parse_show_tail(p, s);
    }
    struct str word = p->token.text;
    if (tide__str_ieq_c(word, "JARS") || tide__str_ieq_c(word, "JOBS") || tide__str_ieq_c(word, "USER") ||
        tide__str_ieq_c(word, "CONNECTIONS") || tide__str_ieq_c(word, "FULL"))
        return unsupported(p, s, "this SHOW");
    tide__parser_note(p, "CREATE TABLE");
    return tide__parser_unexpected(p);
}

// EXPLAIN [PLAN FOR | details, ..] statement
static bool parse_explain(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_EXPLAIN;
    tide__parser_advance(p);
    if (at_word(p, K_PLAN) && peek_word(p, 1, K_FOR)) {
        tide__parser_advance(p);
        tide__parser_advance(p);
    }
    while (at_token(p, TOKEN_WORD) &&
           (tide__str_ieq_c(p->token.text, "CHANGELOG_MODE") || tide__str_ieq_c(p->token.text, "ESTIMATED_COST") ||
            tide__str_ieq_c(p->token.text, "JSON_EXECUTION_PLAN") || tide__str_ieq_c(p->token.text, "PLAN_ADVICE"))) {
        tide__parser_advance(p);
        tide__parser_accept(p, TOKEN_COMMA);
    }
    struct statement *inner = ARENA_NEW(p->arena, struct statement);
    inner->pos = p->token.pos;
    if (at_word(p, K_EXPLAIN))
        return tide__parser_fail(p, TIDE_ERR_PARSE, p->token.pos, "remove one of them", "EXPLAIN of an EXPLAIN");
    if (at_word(p, K_STATEMENT)) {
        // EXPLAIN STATEMENT SET BEGIN .. END
        tide__parser_advance(p);
        if (!tide__parser_expect_word(p, K_SET)) return false;
        if (!at_word(p, K_BEGIN)) return tide__parser_expect_word(p, K_BEGIN);
        if (!parse_set_body(p, inner)) return false;
    } else if (!parse_any(p, inner)) {
        return false;
    }
    inner->pos = tide__parser_span(p, inner->pos);
    inner->text = tide__parser_text(p, inner->pos);
    *PUSH(p, s->statements, s->statement_count) = inner;
    return true;
}

static bool parse_use(struct parser *p, struct statement *s) {
    tide__parser_advance(p);
    if (at_word(p, K_MODULES)) return unsupported(p, s, "USE MODULES");
    s->kind = STATEMENT_USE;
    if (at_word(p, K_CATALOG) && !peek_token(p, 1, TOKEN_SEMICOLON) && !peek_token(p, 1, TOKEN_END)) {
        s->what = STR_LIT("CATALOG");
        tide__parser_advance(p);
    }
    return tide__parser_path(p, &s->path, "a database name");
}

// --- DROP, ALTER ---

static bool parse_if_exists(struct parser *p, struct statement *s) {
    if (!at_word(p, K_IF) || !peek_word(p, 1, K_EXISTS)) return true;
    tide__parser_advance(p);
    tide__parser_advance(p);
    s->if_exists = true;
    return true;
}

static bool parse_drop(struct parser *p, struct statement *s) {
    const char *what = "a table name";
    tide__parser_advance(p);
    s->temporary = tide__parser_accept_word(p, K_TEMPORARY);
    if (tide__parser_accept_word(p, K_TABLE)) {
        s->kind = STATEMENT_DROP_TABLE;
    } else if (tide__parser_accept_word(p, K_VIEW)) {
        s->kind = STATEMENT_DROP_VIEW;
        what = "a view name";
    } else if (tide__parser_accept_word(p, K_DATABASE)) {
        s->kind = STATEMENT_DROP_DATABASE;
        what = "a database name";
    } else {
        if (at_word(p, K_CATALOG)) return unsupported(p, s, "DROP CATALOG");
        if (at_word(p, K_FUNCTION) || at_word(p, K_SYSTEM)) return unsupported(p, s, "DROP FUNCTION");
        if (at_word(p, K_MODEL)) return unsupported(p, s, "DROP MODEL");
        if (at_word(p, K_MATERIALIZED)) return unsupported(p, s, "DROP MATERIALIZED TABLE");
        return tide__parser_unexpected(p);
    }
    if (!parse_if_exists(p, s) || !tide__parser_path(p, &s->path, what)) return false;
    // The default, as nothing depends on a database here.
    if (s->kind == STATEMENT_DROP_DATABASE && !tide__parser_take_word(p, K_RESTRICT))
        tide__parser_take_word(p, K_CASCADE);
    return true;
}

// Behind ALTER TABLE t or ALTER VIEW v
static bool parse_alteration(struct parser *p, struct statement *s, bool view) {
    if (at_word(p, K_RENAME) && peek_word(p, 1, K_TO)) {
        tide__parser_advance(p);
        tide__parser_advance(p);
        s->kind = STATEMENT_ALTER_RENAME;
        s->what = view ? STR_LIT("VIEW") : STR_LIT("TABLE");
        return tide__parser_path(p, &s->new_path, "a table name");
    }
    if (view) return unsupported(p, s, "ALTER VIEW");
    if (at_word(p, K_ADD) && !peek_word(p, 1, K_PARTITION) && !peek_word(p, 1, K_DISTRIBUTION)) {
        s->kind = STATEMENT_ALTER_ADD;
        tide__parser_advance(p);
        return tide__parse_table_elements(p, s);
    }
    if (at_word(p, K_SET)) {
        s->kind = STATEMENT_ALTER_SET;
        tide__parser_advance(p);
        return tide__parser_options(p, &s->options, false);
    }
    return unsupported(p, s, "ALTER TABLE");
}

static bool parse_alter(struct parser *p, struct statement *s) {
    tide__parser_advance(p);
    bool view = at_word(p, K_VIEW);
    if (!view && !at_word(p, K_TABLE)) {
        if (at_word(p, K_DATABASE)) return unsupported(p, s, "ALTER DATABASE");
        if (at_word(p, K_FUNCTION)) return unsupported(p, s, "ALTER FUNCTION");
        if (at_word(p, K_CATALOG)) return unsupported(p, s, "ALTER CATALOG");
        if (at_word(p, K_MATERIALIZED)) return unsupported(p, s, "ALTER MATERIALIZED TABLE");
        if (at_word(p, K_MODEL)) return unsupported(p, s, "ALTER MODEL");
        tide__parser_note(p, "TABLE");
        tide__parser_note(p, "VIEW");
        return tide__parser_unexpected(p);
    }
    tide__parser_advance(p);
    if (!parse_if_exists(p, s) || !tide__parser_path(p, &s->path, "a table name")) return false;
    return parse_alteration(p, s, view);
}

// --- All statements ---

struct opening {
    const char *word;
    bool (*parse)(struct parser *p, struct statement *s);
    const char *unsupported;  // the name, if there is no parse
};

static bool parse_create(struct parser *p, struct statement *s) {
    tide__parser_advance(p);
    return tide__parse_create(p, s);
}

static bool parse_select(struct parser *p, struct statement *s) {
    s->kind = STATEMENT_QUERY;
    return (s->query = tide__parse_query(p)) != NULL;
}

static const struct opening openings[] = {
    {"SELECT", parse_select, NULL},
    {"INSERT", parse_insert, NULL},
    {"CREATE", parse_create, NULL},
    {"WITH", parse_select, NULL},
    {"VALUES", parse_select, NULL},
    {"TABLE", parse_select, NULL},
    {"DROP", parse_drop, NULL},
    {"SET", parse_set, NULL},
    {"RESET", parse_reset, NULL},
    {"EXECUTE", parse_execute, NULL},
    {"BEGIN", parse_begin, NULL},
    {"DESCRIBE", parse_describe, NULL},
    {"DESC", parse_describe, NULL},
    {"SHOW", parse_show, NULL},
    {"EXPLAIN", parse_explain, NULL},
    {"USE", parse_use, NULL},
    {"ALTER", parse_alter, NULL},
    {"LOAD", NULL, "LOAD MODULE"},
    {"UNLOAD", NULL, "UNLOAD MODULE"},
    {"ADD", NULL, "ADD JAR"},
    {"REMOVE", NULL, "REMOVE JAR"},
    {"ANALYZE", NULL, "ANALYZE TABLE"},
    {"COMPILE", NULL, "COMPILE PLAN"},
    {"CALL", NULL, "CALL"},
    {"DELETE", NULL, "DELETE"},
    {"UPDATE", NULL, "UPDATE"},
    {"UPSERT", NULL, "UPSERT"},
    {"MERGE", NULL, "MERGE"},
    {"TRUNCATE", NULL, "TRUNCATE TABLE"},
    {"STOP", NULL, "STOP JOB"},
    {"QUIT", NULL, "QUIT"},
    {"EXIT", NULL, "EXIT"},
    {"CLEAR", NULL, "CLEAR"},
    {"HELP", NULL, "HELP"},
    {"SOURCE", NULL, "SOURCE"},
};

enum { OPENINGS = sizeof openings / sizeof *openings };

static bool parse_any(struct parser *p, struct statement *s) {
    if (at_token(p, TOKEN_LPAREN)) return parse_select(p, s);
    for (size_t i = 0; i < OPENINGS && at_token(p, TOKEN_WORD); i++) {
        if (!tide__str_ieq_c(p->token.text, openings[i].word)) continue;
        return openings[i].parse ? openings[i].parse(p, s) : unsupported(p, s, openings[i].unsupported);
    }
    const char *words[OPENINGS];
    for (size_t i = 0; i < OPENINGS; i++) words[i] = openings[i].word;
    bool near = at_token(p, TOKEN_WORD) && tide__nearest(p->token.text, words, OPENINGS) != NULL;
    if (!near) tide__parser_note(p, "a statement");
    for (size_t i = 0; near && i < OPENINGS; i++) tide__parser_note(p, words[i]);
    return tide__parser_unexpected(p);
}

struct statement *tide__parse_statement(struct parser *p) {
    struct statement *s = ARENA_NEW(p->arena, struct statement);
    s->pos = p->token.pos;
    if (!parse_any(p, s)) return NULL;
    s->pos = tide__parser_span(p, s->pos);
    s->text = tide__parser_text(p, s->pos);
    return s;
}
