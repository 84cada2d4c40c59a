// Function calls: arguments (also named ones, tables, descriptors), the spellings of SQL's special functions, and
// what may follow: WITHIN GROUP, FILTER, OVER. Special spellings become plain arguments here, so that nobody
// after the parser knows them.
#include "sql/parse_private.h"

#include <assert.h>
#include <string.h>

// --- ORDER BY and OVER ---

bool tide__parse_order_by(struct parser *p, struct ast_order *out) {
    do {
        struct ast_order_item *item = PUSH(p, out->items, out->count);
        struct source_pos start = p->token.pos;
        if (!(item->expr = tide__parse_expression(p))) return false;
        item->descending = tide__parser_accept_word(p, K_DESC);
        if (!item->descending) tide__parser_accept_word(p, K_ASC);
        if (tide__parser_accept_word(p, K_NULLS)) {
            if (tide__parser_accept_word(p, K_FIRST))
                item->nulls = NULLS_FIRST;
            else if (tide__parser_accept_word(p, K_LAST))
                item->nulls = NULLS_LAST;
            else
                return tide__parser_unexpected(p);
        }
        item->pos = tide__parser_span(p, start);
    } while (tide__parser_accept(p, TOKEN_COMMA));
    return true;
}

static bool parse_bound(struct parser *p, enum ast_bound *bound, struct ast_expr **value) {
    if (tide__parser_accept_word(p, K_CURRENT)) {
        *bound = BOUND_CURRENT_ROW;
        return tide__parser_expect_word(p, K_ROW);
    }
    bool unbounded = at_word(p, K_UNBOUNDED);
    if (unbounded)
        tide__parser_accept_word(p, K_UNBOUNDED);
    else if (!(*value = tide__parse_expression(p)))
        return false;
    if (tide__parser_accept_word(p, K_PRECEDING))
        *bound = unbounded ? BOUND_UNBOUNDED_PRECEDING : BOUND_PRECEDING;
    else if (tide__parser_accept_word(p, K_FOLLOWING))
        *bound = unbounded ? BOUND_UNBOUNDED_FOLLOWING : BOUND_FOLLOWING;
    else
        return tide__parser_unexpected(p);
    return true;
}

// ROWS|RANGE [BETWEEN low AND high | low]
static bool parse_frame(struct parser *p, struct ast_window *window) {
    struct source_pos start = p->token.pos;
    window->has_frame = true;
    window->rows = at_word(p, K_ROWS);
    tide__parser_advance(p);
    window->upper = BOUND_CURRENT_ROW;
    if (tide__parser_accept_word(p, K_BETWEEN)) {
        if (!parse_bound(p, &window->lower, &window->lower_value) || !tide__parser_expect_word(p, K_AND) ||
            !parse_bound(p, &window->upper, &window->upper_value))
            return false;
    } else if (!parse_bound(p, &window->lower, &window->lower_value)) {
        return false;
    }
    window->frame_pos = tide__parser_span(p, start);
    return true;
}

struct ast_window *tide__parse_window(struct parser *p) {
    struct ast_window *window = ARENA_NEW(p->arena, struct ast_window);
    struct source_pos start = p->token.pos;
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return NULL;
    if (tide__parser_at_name(p) && !tide__parser_name(p, &window->base, "a window name")) return NULL;
    struct source_pos at = p->token.pos;
    if (tide__parser_accept_word(p, K_PARTITION)) {
        if (!tide__parser_expect_word(p, K_BY)) return NULL;
        if (!tide__parse_expressions(p, &window->partition_by)) return NULL;
        window->partition_pos = tide__parser_span(p, at);
    }
    at = p->token.pos;
    if (tide__parser_accept_word(p, K_ORDER)) {
        if (!tide__parser_expect_word(p, K_BY)) return NULL;
        if (!tide__parse_order_by(p, &window->order_by)) return NULL;
        window->order_pos = tide__parser_span(p, at);
    }
    if (at_word(p, K_ROWS) || at_word(p, K_RANGE)) {
        if (!parse_frame(p, window)) return NULL;
    } else {
        tide__parser_note(p, "ROWS");
        tide__parser_note(p, "RANGE");
    }
    if (!tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
    window->pos = tide__parser_span(p, start);
    return window;
}

// --- Arguments ---

// TABLE t, TABLE (query), (query) or a query: *expr has kind AST_EXPR_TABLE_ARG.
static bool parse_table_source(struct parser *p, struct ast_expr *expr) {
    struct source_pos start = p->token.pos;
    expr->has_table_word = at_word(p, K_TABLE);
    if (!expr->has_table_word) return (expr->query = tide__parse_query(p)) != NULL;
    tide__parser_advance(p);
    if (tide__parser_accept(p, TOKEN_LPAREN)) {
        expr->query = tide__parse_query(p);
        return expr->query && tide__parser_expect(p, TOKEN_RPAREN);
    }
    struct ast_query *table = ARENA_NEW(p->arena, struct ast_query);
    table->kind = QUERY_TABLE;
    if (!tide__parser_path(p, &table->path, "a table name")) return false;
    return (expr->query = tide__parse_close_query(p, table, start)) != NULL;
}

// Behind a table: PARTITION BY k, PARTITION BY (k, l), ORDER BY ..; a comma always begins the next argument.
static struct ast_expr *parse_table_tail(struct parser *p, struct ast_expr *expr) {
    if (tide__parser_accept_word(p, K_PARTITION)) {
        if (!tide__parser_expect_word(p, K_BY)) return NULL;
        if (tide__parser_accept(p, TOKEN_LPAREN)) {
            if (!tide__parser_accept(p, TOKEN_RPAREN) &&
                (!tide__parse_expressions(p, &expr->partition_by) || !tide__parser_expect(p, TOKEN_RPAREN)))
                return NULL;
        } else {
            struct ast_expr *key = tide__parse_expression(p);
            if (!key) return NULL;
            tide__parse_push(p, &expr->partition_by, key);
        }
    }
    if (tide__parser_accept_word(p, K_ORDER)) {
        if (!tide__parser_expect_word(p, K_BY)) return NULL;
        bool several = tide__parser_accept(p, TOKEN_LPAREN);
        struct ast_order_item *item = NULL;
        if (several) {
            if (!tide__parse_order_by(p, &expr->order_by)) return NULL;
            if (!tide__parser_expect(p, TOKEN_RPAREN)) return NULL;
        } else {
            item = PUSH(p, expr->order_by.items, expr->order_by.count);
            item->pos = p->token.pos;
            if (!(item->expr = tide__parse_expression(p))) return NULL;
            item->descending = tide__parser_accept_word(p, K_DESC);
            if (!item->descending) tide__parser_accept_word(p, K_ASC);
        }
    }
    return tide__parse_close(p, expr);
}

static struct ast_expr *parse_argument(struct parser *p, bool in_from) {
    if (at_word(p, K_TABLE) || tide__parse_at_query(p)) {
        struct ast_expr *expr = tide__parse_new(p, AST_EXPR_TABLE_ARG, p->token.pos);
        return parse_table_source(p, expr) ? parse_table_tail(p, expr) : NULL;
    }
    struct ast_expr *expr = tide__parse_expression(p);
    if (expr && expr->kind == AST_EXPR_SUBQUERY && (in_from || at_word(p, K_PARTITION) || at_word(p, K_ORDER))) {
        expr->kind = AST_EXPR_TABLE_ARG;
        return parse_table_tail(p, expr);
    }
    return expr;
}

// name => value
static struct ast_expr *parse_named(struct parser *p, bool in_from) {
    struct ast_expr *expr = tide__parse_new(p, AST_EXPR_NAMED_ARG, p->token.pos);
    if (!tide__parser_name(p, &expr->name, "an argument name")) return NULL;
    if (!tide__parser_expect(p, TOKEN_ARROW)) return NULL;
    struct ast_expr *value = parse_argument(p, in_from);
    if (!value) return NULL;
    tide__parse_push(p, &expr->args, value);
    return tide__parse_close(p, expr);
}

static bool parse_arguments(struct parser *p, struct ast_expr *call, bool in_from) {
    if (tide__parser_accept(p, TOKEN_RPAREN)) return true;
    if (at_token(p, TOKEN_STAR)) {
        struct ast_expr *star = tide__parse_new(p, AST_EXPR_STAR, p->token.pos);
        tide__parser_advance(p);
        tide__parse_push(p, &call->args, tide__parse_close(p, star));
        return tide__parser_expect(p, TOKEN_RPAREN);
    }
    call->distinct = tide__parser_accept_word(p, K_DISTINCT);
    if (!call->distinct) tide__parser_accept_word(p, K_ALL);
    do {
        bool word = at_token(p, TOKEN_WORD) || at_token(p, TOKEN_QUOTED);
        bool named = word && peek_token(p, 1, TOKEN_ARROW);
        struct ast_expr *arg = named ? parse_named(p, in_from) : parse_argument(p, in_from);
        if (!arg) return false;
        tide__parse_push(p, &call->args, arg);
    } while (tide__parser_accept(p, TOKEN_COMMA));
    if (tide__parser_accept_word(p, K_ORDER)) {
        // ARRAY_AGG(x ORDER BY y): the same as WITHIN GROUP
        if (!tide__parser_expect_word(p, K_BY) || !tide__parse_order_by(p, &call->order_by)) return false;
    }
    return tide__parser_expect(p, TOKEN_RPAREN);
}

// --- Special spellings ---

static bool push_expression(struct parser *p, struct ast_expr *call) {
    struct ast_expr *arg = tide__parse_expression(p);
    if (arg) tide__parse_push(p, &call->args, arg);
    return arg != NULL;
}

static bool push_symbol(struct parser *p, struct ast_expr *call, struct source_pos pos, const char *text) {
    struct ast_expr *symbol = tide__parse_new(p, AST_EXPR_SYMBOL, pos);
    symbol->text = tide__str(text);
    symbol->depth = 1;
    tide__parse_push(p, &call->args, symbol);
    return true;
}

// A time unit as an argument; the old SQL_TSI_DAY is DAY.
static bool push_unit(struct parser *p, struct ast_expr *call) {
    static const char *const units[] = {
        "YEAR",    "QUARTER",     "MONTH",       "WEEK",       "DAY",        "HOUR",        "MINUTE",
        "SECOND",  "MILLISECOND", "MICROSECOND", "NANOSECOND", "DOW",        "DOY",         "ISODOW",
        "ISOYEAR", "EPOCH",       "DECADE",      "CENTURY",    "MILLENNIUM", "FRAC_SECOND",
    };
    struct str word = p->token.text;
    if (word.len > 8 && tide__str_ieq_c((struct str){word.data, 8}, "SQL_TSI_"))
        word = (struct str){word.data + 8, word.len - 8};
    for (size_t i = 0; i < sizeof units / sizeof *units && at_token(p, TOKEN_WORD); i++) {
        if (!tide__str_ieq_c(word, units[i])) continue;
        push_symbol(p, call, p->token.pos, units[i]);
        tide__parser_advance(p);
        return true;
    }
    for (size_t i = 0; i < 8; i++) tide__parser_note(p, units[i]);
    return tide__parser_unexpected(p);
}

// EXTRACT(unit FROM x)
static bool parse_extract(struct parser *p, struct ast_expr *call) {
    return push_unit(p, call) && tide__parser_expect_word(p, K_FROM) && push_expression(p, call);
}

// FLOOR(x), FLOOR(x TO unit)
static bool parse_floor(struct parser *p, struct ast_expr *call) {
    if (!push_expression(p, call)) return false;
    if (tide__parser_accept_word(p, K_TO)) return push_unit(p, call);
    while (tide__parser_accept(p, TOKEN_COMMA))
        if (!push_expression(p, call)) return false;
    return true;
}

// TRIM(s), TRIM(c FROM s), TRIM(LEADING [c] FROM s)
static bool parse_trim(struct parser *p, struct ast_expr *call) {
    struct source_pos pos = p->token.pos;
    const char *side = "BOTH";
    bool has_side = true;
    if (tide__parser_accept_word(p, K_LEADING))
        side = "LEADING";
    else if (tide__parser_accept_word(p, K_TRAILING))
        side = "TRAILING";
    else
        has_side = tide__parser_accept_word(p, K_BOTH);
    if (!has_side) pos.length = 0;
    push_symbol(p, call, pos, side);
    struct ast_expr *first = NULL;
    if (!(has_side && at_word(p, K_FROM)) && !(first = tide__parse_expression(p))) return false;
    // Calcite also takes BOTH 'x' without FROM.
    bool from = tide__parser_accept_word(p, K_FROM);
    if (!first || !from) {
        struct ast_expr *blank = tide__parse_new(p, AST_EXPR_LITERAL, pos);
        blank->literal = LITERAL_STRING;
        blank->text = STR_LIT(" ");
        blank->depth = 1;
        tide__parse_push(p, &call->args, blank);
    } else {
        tide__parse_push(p, &call->args, first);
    }
    if (from) return push_expression(p, call);
    tide__parse_push(p, &call->args, first);
    return true;
}

// f(a WORD b [WORD2 c [WORD3 d]]) or f(a, b, c, ...)
static bool parse_worded(struct parser *p, struct ast_expr *call, const enum keyword *words, uint32_t count) {
    if (!push_expression(p, call)) return false;
    if (count > 0 && tide__parser_accept_word(p, words[0])) {
        if (!push_expression(p, call)) return false;
        for (uint32_t i = 1; i < count && tide__parser_accept_word(p, words[i]); i++)
            if (!push_expression(p, call)) return false;
        return true;
    }
    while (tide__parser_accept(p, TOKEN_COMMA))
        if (!push_expression(p, call)) return false;
    return true;
}

// POSITION(a IN b [FROM c]): IN is also an operator, so `a` holds only operators that bind more strongly.
static bool parse_position(struct parser *p, struct ast_expr *call) {
    struct ast_expr *needle = tide__parse_term(p);
    if (!needle) return false;
    tide__parse_push(p, &call->args, needle);
    if (!tide__parser_expect_word(p, K_IN) || !push_expression(p, call)) return false;
    return !tide__parser_accept_word(p, K_FROM) || push_expression(p, call);
}

static bool parse_timestamp_arithmetic(struct parser *p, struct ast_expr *call) {
    return push_unit(p, call) && tide__parser_expect(p, TOKEN_COMMA) && push_expression(p, call) &&
           tide__parser_expect(p, TOKEN_COMMA) && push_expression(p, call);
}

bool tide__parse_special_args(struct parser *p, struct ast_expr *call, bool *known) {
    static const enum keyword from_for[] = {K_FROM, K_FOR};
    static const enum keyword placing[] = {K_PLACING, K_FROM, K_FOR};
    const struct ast_name *name = &call->path.parts[0];
    enum keyword keyword = call->path.count == 1 && !name->quoted ? tide__keyword_find(name->text) : KEYWORD_NONE;
    bool ok;
    *known = true;
    switch ((int)keyword) {
    case K_EXTRACT: ok = parse_extract(p, call); break;
    case K_FLOOR:
    case K_CEIL:
    case K_CEILING: ok = parse_floor(p, call); break;
    case K_TRIM: ok = parse_trim(p, call); break;
    case K_SUBSTRING: ok = parse_worded(p, call, from_for, 2); break;
    case K_OVERLAY: ok = parse_worded(p, call, placing, 3); break;
    case K_POSITION: ok = parse_position(p, call); break;
    case K_TIMESTAMPADD:
    case K_TIMESTAMPDIFF: ok = parse_timestamp_arithmetic(p, call); break;
    case K_JSON_ARRAY:
    case K_JSON_ARRAYAGG:
    case K_JSON_EXISTS:
    case K_JSON_OBJECT:
    case K_JSON_OBJECTAGG:
    case K_JSON_QUERY:
    case K_JSON_VALUE: ok = tide__parse_json_args(p, call, keyword); break;
    default: *known = false; return true;
    }
    return ok && tide__parser_expect(p, TOKEN_RPAREN);
}

// --- Behind the arguments ---

static bool parse_within_group(struct parser *p, struct ast_expr *call) {
    return tide__parser_expect_word(p, K_GROUP) && tide__parser_expect(p, TOKEN_LPAREN) &&
           tide__parser_expect_word(p, K_ORDER) && tide__parser_expect_word(p, K_BY) &&
           tide__parse_order_by(p, &call->order_by) && tide__parser_expect(p, TOKEN_RPAREN);
}

static bool parse_filter(struct parser *p, struct ast_expr *call) {
    if (!tide__parser_expect(p, TOKEN_LPAREN) || !tide__parser_expect_word(p, K_WHERE)) return false;
    call->filter = tide__parse_expression(p);
    return call->filter && tide__parser_expect(p, TOKEN_RPAREN);
}

static bool parse_over(struct parser *p, struct ast_expr *call) {
    if (at_token(p, TOKEN_LPAREN)) return (call->over = tide__parse_window(p)) != NULL;
    call->over = ARENA_NEW(p->arena, struct ast_window);
    call->over->pos = p->token.pos;
    tide__parser_note(p, "\"(\"");
    return tide__parser_name(p, &call->over->base, "a window name");
}

static struct ast_expr *parse_tail(struct parser *p, struct ast_expr *call) {
    if (at_word(p, K_RESPECT) && peek_word(p, 1, K_NULLS)) {
        tide__parser_advance(p);
        tide__parser_advance(p);
    }
    if (at_word(p, K_IGNORE) && peek_word(p, 1, K_NULLS)) {
        tide__parser_fail(p, TIDE_ERR_PLAN, p->token.pos, "filter with FILTER (WHERE x IS NOT NULL)",
                          "IGNORE NULLS is not supported");
        return NULL;
    }
    if (at_word(p, K_WITHIN)) {
        tide__parser_advance(p);
        if (!parse_within_group(p, call)) return NULL;
    }
    if (at_word(p, K_FILTER)) {
        tide__parser_advance(p);
        if (!parse_filter(p, call)) return NULL;
    }
    if (at_word(p, K_OVER)) {
        tide__parser_advance(p);
        if (!parse_over(p, call)) return NULL;
    }
    return tide__parse_close(p, call);
}

static struct ast_expr *parse_any_call(struct parser *p, const struct ast_path *path, bool in_from) {
    struct ast_expr *call = tide__parse_new(p, AST_EXPR_CALL, path->pos);
    call->path = *path;
    call->op_pos = path->pos;
    if (!tide__parser_expect(p, TOKEN_LPAREN)) return NULL;
    bool known;
    if (!tide__parse_special_args(p, call, &known)) return NULL;
    if (!known && !parse_arguments(p, call, in_from)) return NULL;
    return in_from ? tide__parse_close(p, call) : parse_tail(p, call);
}

struct ast_expr *tide__parse_call(struct parser *p, const struct ast_path *path) {
    return parse_any_call(p, path, false);
}

struct ast_expr *tide__parse_table_call(struct parser *p, const struct ast_path *path) {
    return parse_any_call(p, path, true);
}
