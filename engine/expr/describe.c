// Expressions as text. See describe.h.
#include "engine/expr/describe.h"

#include "base/decimal.h"
#include "base/time.h"

#include <ctype.h>
#include <string.h>

static void append_string(struct str s, struct strbuf *out) {
    tide__strbuf_append_char(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '\'') tide__strbuf_append_char(out, '\'');
        tide__strbuf_append_char(out, s.data[i]);
    }
    tide__strbuf_append_char(out, '\'');
}

static void append_integer_like(const struct type *type, int64_t v, struct strbuf *out) {
    switch (type->kind) {
    case TYPE_DATE:
        tide__strbuf_append_c(out, "DATE '");
        tide__date_print(v, out);
        tide__strbuf_append_char(out, '\'');
        break;
    case TYPE_TIME:
        tide__strbuf_append_c(out, "TIME '");
        tide__time_print(v, type->precision, out);
        tide__strbuf_append_char(out, '\'');
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        tide__strbuf_append_c(out, "TIMESTAMP '");
        tide__timestamp_print((struct timestamp){.ms = v}, type->precision, out);
        tide__strbuf_append_char(out, '\'');
        break;
    case TYPE_INTERVAL_MILLIS: tide__strbuf_printf(out, "INTERVAL %lld ms", (long long)v); break;
    case TYPE_INTERVAL_MONTHS: tide__strbuf_printf(out, "INTERVAL %lld months", (long long)v); break;
    case TYPE_DECIMAL: tide__decimal_print(v, type->scale, out); break;
    default: tide__strbuf_printf(out, "%lld", (long long)v); break;
    }
}

static void append_literal(const struct expr *expr, struct strbuf *out) {
    const struct value *v = &expr->literal;
    if (v->is_null || expr->type->kind == TYPE_NULL) {
        tide__strbuf_append_c(out, "NULL");
        return;
    }
    switch (tide__type_physical(expr->type)) {
    case PHYSICAL_BOOL: tide__strbuf_append_c(out, v->boolean ? "TRUE" : "FALSE"); break;
    case PHYSICAL_I64: append_integer_like(expr->type, v->i64, out); break;
    case PHYSICAL_F64: tide__double_print(v->f64, out); break;
    case PHYSICAL_I128: tide__decimal_print(v->i128, expr->type->scale, out); break;
    case PHYSICAL_STR: append_string(v->str, out); break;
    case PHYSICAL_TIME:
        tide__strbuf_append_c(out, "TIMESTAMP '");
        tide__timestamp_print(v->time, expr->type->precision, out);
        tide__strbuf_append_char(out, '\'');
        break;
    }
}

// + - * / = < AND ...: written between their arguments.
static bool is_infix(const struct expr *call) {
    const char *name = call->function->name;
    if (call->arg_count < 2) return false;
    return !isalpha((unsigned char)name[0]) || strcmp(name, "AND") == 0 || strcmp(name, "OR") == 0 ||
           strcmp(name, "LIKE") == 0;
}

static void append_call(const struct expr *call, const struct plan_node *input, struct strbuf *out) {
    const char *name = call->function->name;
    if (is_infix(call)) {
        tide__strbuf_append_char(out, '(');
        for (uint32_t i = 0; i < call->arg_count; i++) {
            if (i > 0) tide__strbuf_printf(out, " %s ", name);
            tide__expr_describe(call->args[i], input, out);
        }
        tide__strbuf_append_char(out, ')');
        return;
    }
    tide__strbuf_printf(out, "%s(", name);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (i > 0) tide__strbuf_append_c(out, ", ");
        tide__expr_describe(call->args[i], input, out);
    }
    if (strcmp(name, "CAST") == 0 || strcmp(name, "TRY_CAST") == 0) {
        tide__strbuf_append_c(out, " AS ");
        struct type plain = *call->type;
        plain.nullable = true;
        plain.time_attribute = TIME_ATTRIBUTE_NONE;
        tide__type_print(&plain, out);
    }
    tide__strbuf_append_char(out, ')');
}

void tide__expr_describe(const struct expr *expr, const struct plan_node *input, struct strbuf *out) {
    switch (expr->kind) {
    case EXPR_COLUMN:
        if (input != NULL && expr->column < input->field_count)
            tide__strbuf_append_c(out, input->fields[expr->column].name);
        else
            tide__strbuf_printf(out, "$%u", expr->column);
        break;
    case EXPR_LITERAL: append_literal(expr, out); break;
    case EXPR_CALL: append_call(expr, input, out); break;
    }
}
