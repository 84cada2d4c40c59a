// Trees back to text, as Flink's DESCRIBE and SHOW CREATE TABLE print them: names in backticks, functions in upper case,
// parentheses only where needed.
#include "sql/bind.h"

#include <ctype.h>
#include <string.h>

static void write_expr(struct strbuf *out, const struct ast_expr *ast, int outer);

static void write_quoted(struct strbuf *out, struct str text, char quote) {
    tide__strbuf_append_char(out, quote);
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == quote) tide__strbuf_append_char(out, quote);
        tide__strbuf_append_char(out, text.data[i]);
    }
    tide__strbuf_append_char(out, quote);
}

static void write_path(struct strbuf *out, const struct ast_path *path) {
    for (uint32_t i = 0; i < path->count; i++) {
        if (i > 0) tide__strbuf_append_char(out, '.');
        write_quoted(out, path->parts[i].text, '`');
    }
}

static void write_list(struct strbuf *out, const struct ast_exprs *args, uint32_t first) {
    for (uint32_t i = first; i < args->count; i++) {
        if (i > first) tide__strbuf_append_c(out, ", ");
        write_expr(out, args->items[i], 0);
    }
}

static void write_interval(struct strbuf *out, const struct ast_expr *ast) {
    static const char *const units[] = {"", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"};
    const struct ast_interval *interval = &ast->interval;
    tide__strbuf_append_c(out, interval->negative ? "INTERVAL -" : "INTERVAL ");
    if (ast->kind == AST_EXPR_LITERAL) {
        write_quoted(out, ast->text, '\'');
    } else {
        write_expr(out, ast->args.items[0], 100);
    }
    tide__strbuf_printf(out, " %s", units[interval->from]);
    if (interval->precision >= 0) tide__strbuf_printf(out, "(%d)", interval->precision);
    if (interval->to != UNIT_NONE) tide__strbuf_printf(out, " TO %s", units[interval->to]);
}

static void write_literal(struct strbuf *out, const struct ast_expr *ast) {
    switch (ast->literal) {
    case LITERAL_NULL: tide__strbuf_append_c(out, "NULL"); break;
    case LITERAL_TRUE: tide__strbuf_append_c(out, "TRUE"); break;
    case LITERAL_FALSE: tide__strbuf_append_c(out, "FALSE"); break;
    case LITERAL_INTEGER:
    case LITERAL_DECIMAL:
    case LITERAL_DOUBLE: tide__strbuf_append_str(out, ast->text); break;
    case LITERAL_STRING: write_quoted(out, ast->text, '\''); break;
    case LITERAL_BINARY:
        tide__strbuf_append_c(out, "X'");
        for (size_t i = 0; i < ast->text.len; i++) tide__strbuf_printf(out, "%02X", (unsigned char)ast->text.data[i]);
        tide__strbuf_append_char(out, '\'');
        break;
    case LITERAL_DATE:
        tide__strbuf_append_c(out, "DATE ");
        write_quoted(out, ast->text, '\'');
        break;
    case LITERAL_TIME:
        tide__strbuf_append_c(out, "TIME ");
        write_quoted(out, ast->text, '\'');
        break;
    case LITERAL_TIMESTAMP:
        tide__strbuf_append_c(out, "TIMESTAMP ");
        write_quoted(out, ast->text, '\'');
        break;
    case LITERAL_INTERVAL: write_interval(out, ast); break;
    }
}

static int precedence(const struct ast_expr *ast, const char **out_operator) {
    *out_operator = NULL;
    switch (ast->kind) {
    case AST_EXPR_OR: *out_operator = "OR"; return 1;
    case AST_EXPR_AND: *out_operator = "AND"; return 2;
    case AST_EXPR_IS:
    case AST_EXPR_IS_DISTINCT:
    case AST_EXPR_BETWEEN:
    case AST_EXPR_LIKE:
    case AST_EXPR_IN_LIST: return 4;
    case AST_EXPR_UNARY: return ast->op == OP_NOT ? 3 : 9;
    case AST_EXPR_BINARY: break;
    default: return 10;
    }
    switch (ast->op) {
    case OP_ADD: *out_operator = "+"; return 6;
    case OP_SUBTRACT: *out_operator = "-"; return 6;
    case OP_MULTIPLY: *out_operator = "*"; return 7;
    case OP_DIVIDE: *out_operator = "/"; return 7;
    case OP_MODULO: *out_operator = "%"; return 7;
    case OP_CONCAT: *out_operator = "||"; return 7;
    case OP_EQUAL: *out_operator = "="; return 4;
    case OP_NOT_EQUAL: *out_operator = "<>"; return 4;
    case OP_LESS: *out_operator = "<"; return 4;
    case OP_LESS_EQUAL: *out_operator = "<="; return 4;
    case OP_GREATER: *out_operator = ">"; return 4;
    case OP_GREATER_EQUAL: *out_operator = ">="; return 4;
    default: *out_operator = "OVERLAPS"; return 4;
    }
}

static void write_call(struct strbuf *out, const struct ast_expr *ast) {
    struct str name = ast->path.parts[ast->path.count - 1].text;
    // Flink's parser does not know these, so it prints them as names.
    bool quoted = tide__str_ieq_c(name, "TO_TIMESTAMP_LTZ");
    if (quoted) tide__strbuf_append_char(out, '`');
    for (size_t i = 0; i < name.len; i++) tide__strbuf_append_char(out, (char)toupper((unsigned char)name.data[i]));
    if (quoted) tide__strbuf_append_char(out, '`');
    if (ast->niladic) return;
    tide__strbuf_append_char(out, '(');
    if (ast->distinct) tide__strbuf_append_c(out, "DISTINCT ");
    write_list(out, &ast->args, 0);
    tide__strbuf_append_char(out, ')');
}

static void write_case(struct strbuf *out, const struct ast_expr *ast) {
    uint32_t i = 0;
    tide__strbuf_append_c(out, "CASE");
    if (ast->has_operand) {
        tide__strbuf_append_char(out, ' ');
        write_expr(out, ast->args.items[i++], 0);
    }
    for (; i + 1 < ast->args.count; i += 2) {
        tide__strbuf_append_c(out, " WHEN ");
        write_expr(out, ast->args.items[i], 0);
        tide__strbuf_append_c(out, " THEN ");
        write_expr(out, ast->args.items[i + 1], 0);
    }
    tide__strbuf_append_c(out, " ELSE ");
    if (ast->has_else) {
        write_expr(out, ast->args.items[ast->args.count - 1], 0);
    } else {
        tide__strbuf_append_c(out, "NULL");
    }
    tide__strbuf_append_c(out, " END");
}

static void write_predicate(struct strbuf *out, const struct ast_expr *ast) {
    static const char *const states[] = {"NULL",       "TRUE",        "FALSE",      "UNKNOWN",
                                         "JSON VALUE", "JSON OBJECT", "JSON ARRAY", "JSON SCALAR"};
    const char *not = ast->negated ? "NOT " : "";
    write_expr(out, ast->args.items[0], 5);
    switch (ast->kind) {
    case AST_EXPR_IS: tide__strbuf_printf(out, " IS %s%s", not, states[ast->is]); break;
    case AST_EXPR_IS_DISTINCT:
        tide__strbuf_printf(out, " IS %sDISTINCT FROM ", not );
        write_expr(out, ast->args.items[1], 5);
        break;
    case AST_EXPR_BETWEEN:
        tide__strbuf_printf(out, " %sBETWEEN %s", not, ast->symmetric ? "SYMMETRIC " : "ASYMMETRIC ");
        write_expr(out, ast->args.items[1], 5);
        tide__strbuf_append_c(out, " AND ");
        write_expr(out, ast->args.items[2], 5);
        break;
    case AST_EXPR_LIKE:
        tide__strbuf_printf(out, " %s%s ", not, ast->op == OP_SIMILAR ? "SIMILAR TO" : "LIKE");
        write_expr(out, ast->args.items[1], 5);
        break;
    default:
        tide__strbuf_printf(out, " %sIN (", not );
        write_list(out, &ast->args, 1);
        tide__strbuf_append_char(out, ')');
        break;
    }
}

static void write_cast(struct strbuf *out, const struct ast_expr *ast) {
    tide__strbuf_append_c(out, ast->try_cast ? "TRY_CAST(" : "CAST(");
    write_expr(out, ast->args.items[0], 0);
    tide__strbuf_append_c(out, " AS ");
    struct type type = *ast->type;
    type.nullable = true;
    tide__type_print(&type, out);
    tide__strbuf_append_char(out, ')');
}

static void write_operator(struct strbuf *out, const struct ast_expr *ast, const char *operator_text, int own) {
    for (uint32_t i = 0; i < ast->args.count; i++) {
        if (i > 0) tide__strbuf_printf(out, " %s ", operator_text);
        write_expr(out, ast->args.items[i], i > 0 ? own + 1 : own);
    }
}

static void write_plain(struct strbuf *out, const struct ast_expr *ast) {
    switch (ast->kind) {
    case AST_EXPR_LITERAL: write_literal(out, ast); break;
    case AST_EXPR_COLUMN: write_path(out, &ast->path); break;
    case AST_EXPR_CALL: write_call(out, ast); break;
    case AST_EXPR_INTERVAL: write_interval(out, ast); break;
    case AST_EXPR_SYMBOL: tide__strbuf_append_str(out, ast->text); break;
    case AST_EXPR_STAR: tide__strbuf_append_char(out, '*'); break;
    case AST_EXPR_CASE: write_case(out, ast); break;
    case AST_EXPR_CAST: write_cast(out, ast); break;
    case AST_EXPR_IS:
    case AST_EXPR_IS_DISTINCT:
    case AST_EXPR_BETWEEN:
    case AST_EXPR_LIKE:
    case AST_EXPR_IN_LIST: write_predicate(out, ast); break;
    case AST_EXPR_ROW:
    case AST_EXPR_ARRAY:
    case AST_EXPR_MAP:
        tide__strbuf_append_c(out, ast->kind == AST_EXPR_ROW     ? "ROW("
                                   : ast->kind == AST_EXPR_ARRAY ? "ARRAY["
                                                                 : "MAP[");
        write_list(out, &ast->args, 0);
        tide__strbuf_append_char(out, ast->kind == AST_EXPR_ROW ? ')' : ']');
        break;
    case AST_EXPR_ELEMENT:
        write_expr(out, ast->args.items[0], 10);
        tide__strbuf_append_char(out, '[');
        write_list(out, &ast->args, 1);
        tide__strbuf_append_char(out, ']');
        break;
    case AST_EXPR_FIELD:
        write_expr(out, ast->args.items[0], 10);
        tide__strbuf_append_char(out, '.');
        write_quoted(out, ast->name.text, '`');
        break;
    default: tide__strbuf_append_c(out, "?"); break;
    }
}

static void write_expr(struct strbuf *out, const struct ast_expr *ast, int outer) {
    const char *operator_text;
    int own = precedence(ast, &operator_text);
    if (own < outer) tide__strbuf_append_char(out, '(');
    if (ast->kind == AST_EXPR_UNARY) {
        tide__strbuf_append_c(out, ast->op == OP_NOT ? "NOT " : ast->op == OP_NEGATE ? "-" : "+");
        write_expr(out, ast->args.items[0], own);
    } else if (operator_text != NULL) {
        write_operator(out, ast, operator_text, own);
    } else {
        write_plain(out, ast);
    }
    if (own < outer) tide__strbuf_append_char(out, ')');
}

const char *tide__unparse(struct arena *arena, const struct ast_expr *ast) {
    struct strbuf out = {0};
    write_expr(&out, ast, 0);
    const char *text = tide__arena_strndup(arena, out.data == NULL ? "" : out.data, out.len);
    tide__strbuf_deinit(&out);
    return text;
}
