// The canonical text of expressions.
//
// Columns are written as what they come from ("Bid.price"), so that views, aliases and sub-queries leave no trace.
// a > b is written b < a, NOT is pushed down, IN and OR are one, operands of what commutes are sorted. Only rewritings that keep
// three-valued logic and the bits of the result are made: sums of floating numbers keep their order.
#include "checkpoint/compat/canon.h"

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/time.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 2000

// What a text is made with.
struct canon {
    const struct lineage *fields;
    struct arena *arena;
    bool plain;  // operands of + and * as they were written
};

static struct lineage canon(const struct canon *c, const struct expr *expr, bool negated);

const char *tide__canon_bounded(const char *text, struct arena *arena) {
    size_t len = strlen(text);
    if (len <= TEXT_MAX) return text;
    return tide__arena_printf(arena, "%.*s... #%016llx", TEXT_MAX / 4, text,
                              (unsigned long long)tide__hash_checksum(text, len, 0));
}

const char *tide__canon_operand(const struct lineage *lineage, struct arena *arena) {
    return lineage->infix ? tide__arena_printf(arena, "(%s)", lineage->text) : lineage->text;
}

const char *tide__canon_duration(int64_t ms, struct arena *arena) {
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{MILLIS_PER_DAY, "d"}, {MILLIS_PER_HOUR, "h"}, {MILLIS_PER_MINUTE, "min"}, {MILLIS_PER_SECOND, "s"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ms != 0 && ms % units[i].ms == 0)
            return tide__arena_printf(arena, "%lld %s", (long long)(ms / units[i].ms), units[i].name);
    return tide__arena_printf(arena, "%lld ms", (long long)ms);
}

// --- literals -----------------------------------------------------------------------------------------------------

static void put_string(struct str s, struct strbuf *out) {
    tide__strbuf_append_char(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '\'') tide__strbuf_append_char(out, '\'');
        tide__strbuf_append_char(out, s.data[i] == '\0' ? '?' : s.data[i]);
    }
    tide__strbuf_append_char(out, '\'');
}

// 1.50 and 1.5 are one number.
static void put_decimal(int128 v, int scale, struct strbuf *out) {
    while (scale > 0 && v % 10 == 0) {
        v /= 10;
        scale--;
    }
    tide__decimal_print(v, scale, out);
}

static void put_i64(const struct type *type, int64_t v, struct arena *arena, struct strbuf *out) {
    switch (type->kind) {
    case TYPE_DATE:
        tide__strbuf_append_c(out, "DATE ");
        tide__date_print(v, out);
        break;
    case TYPE_TIME:
        tide__strbuf_append_c(out, "TIME ");
        tide__time_print(v, 3, out);
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
        tide__strbuf_append_c(out, "TIMESTAMP ");
        tide__timestamp_print((struct timestamp){.ms = v}, 9, out);
        break;
    case TYPE_INTERVAL_MILLIS: tide__strbuf_append_c(out, tide__canon_duration(v, arena)); break;
    case TYPE_INTERVAL_MONTHS: tide__strbuf_printf(out, "%lld months", (long long)v); break;
    case TYPE_DECIMAL: put_decimal(v, type->scale, out); break;
    default: tide__strbuf_printf(out, "%lld", (long long)v); break;
    }
}

static const char *literal_text(const struct type *type, const struct value *v, struct arena *arena) {
    if (v->is_null || type->kind == TYPE_NULL) return "NULL";
    struct strbuf out = {0};
    switch (tide__type_physical(type)) {
    case PHYSICAL_BOOL: tide__strbuf_append_c(&out, v->boolean ? "TRUE" : "FALSE"); break;
    case PHYSICAL_I64: put_i64(type, v->i64, arena, &out); break;
    case PHYSICAL_F64: tide__double_print(v->f64, &out); break;
    case PHYSICAL_I128: put_decimal(v->i128, type->scale, &out); break;
    case PHYSICAL_STR: put_string(v->str, &out); break;
    case PHYSICAL_TIME:
        tide__strbuf_append_c(&out, "TIMESTAMP ");
        tide__timestamp_print(v->time, 9, &out);
        break;
    }
    const char *text = tide__arena_strndup(arena, out.data, out.len);
    tide__strbuf_deinit(&out);
    return text;
}

// --- calls --------------------------------------------------------------------------------------------------------

static bool is_call(const struct expr *expr, const char *name) {
    return expr->kind == EXPR_CALL && strcmp(expr->function->name, name) == 0;
}

static struct lineage plain(const struct canon *c, const char *text, bool infix, struct source_pos pos) {
    return (struct lineage){.text = tide__canon_bounded(text, c->arena), .infix = infix, .pos = pos};
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(((const struct lineage *)a)->text, ((const struct lineage *)b)->text);
}

struct operands {
    struct lineage *items;
    size_t count, cap;
};

static void add_operand(struct operands *list, struct lineage item) {
    list->items = tide__grow(list->items, &list->cap, list->count + 1, sizeof *list->items);
    list->items[list->count++] = item;
}

static void drop_doubles(struct operands *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || strcmp(list->items[kept - 1].text, list->items[i].text) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static struct lineage join(const struct canon *c, struct operands *list, const char *name, struct source_pos pos) {
    if (list->count == 1) {
        struct lineage only = list->items[0];
        tide__free(list->items);
        return only;
    }
    struct strbuf out = {0};
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0) tide__strbuf_printf(&out, " %s ", name);
        tide__strbuf_append_c(&out, tide__canon_operand(&list->items[i], c->arena));
    }
    const char *text = tide__arena_strndup(c->arena, out.data, out.len);
    tide__strbuf_deinit(&out);
    tide__free(list->items);
    return plain(c, text, true, pos);
}

static struct lineage comparison(const struct canon *c, const char *name, struct lineage left, struct lineage right,
                                 bool negated, struct source_pos pos) {
    static const struct {
        const char *name, *turned;  // NULL: as it is; turned: written with < or <= and the sides exchanged
        const char *negation;
    } table[] = {{"=", NULL, "<>"}, {"<>", NULL, "="}, {"<", NULL, ">="},
                 {"<=", NULL, ">"}, {">", "<", "<="},  {">=", "<=", "<"}};
    size_t at = 0;
    for (size_t i = 0; i < 6; i++)
        if (strcmp(table[i].name, name) == 0) at = i;
    if (negated) return comparison(c, table[at].negation, left, right, false, pos);
    bool symmetric = at < 2;
    if (table[at].turned != NULL || (symmetric && compare_texts(&left, &right) > 0)) {
        struct lineage swap = left;
        left = right;
        right = swap;
    }
    const char *shown = table[at].turned != NULL ? table[at].turned : name;
    return plain(c,
                 tide__arena_printf(c->arena, "%s %s %s", tide__canon_operand(&left, c->arena), shown,
                                    tide__canon_operand(&right, c->arena)),
                 true, pos);
}

// The operands of AND or OR, nested ones too. Under NOT the two change places. IN is an OR.
static void collect_logic(const struct canon *c, const struct expr *expr, bool is_and, bool negated,
                          struct operands *out) {
    if (is_call(expr, "NOT")) {
        collect_logic(c, expr->args[0], is_and, !negated, out);
        return;
    }
    if (is_call(expr, (is_and != negated) ? "AND" : "OR")) {
        for (uint32_t i = 0; i < expr->arg_count; i++) collect_logic(c, expr->args[i], is_and, negated, out);
        return;
    }
    if (is_call(expr, "IN") && is_and == negated) {
        struct lineage value = canon(c, expr->args[0], false);
        for (uint32_t i = 1; i < expr->arg_count; i++)
            add_operand(out, comparison(c, "=", value, canon(c, expr->args[i], false), negated, expr->pos));
        return;
    }
    add_operand(out, canon(c, expr, negated));
}

static struct lineage logic(const struct canon *c, const struct expr *expr, bool is_and, bool negated) {
    struct operands list = {0};
    collect_logic(c, expr, is_and, negated, &list);
    qsort(list.items, list.count, sizeof *list.items, compare_texts);
    drop_doubles(&list);
    return join(c, &list, is_and ? "AND" : "OR", expr->pos);
}

static bool is_exact(const struct type *type) {
    return tide__type_is_integer(type) || type->kind == TYPE_DECIMAL;
}

// Sums and products of integers are sorted and flat; of decimals sorted (their types depend on the nesting).
static void collect_sum(const struct canon *c, const struct expr *expr, const char *name, struct operands *out) {
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        const struct expr *arg = expr->args[i];
        if (is_call(arg, name) && tide__type_is_integer(arg->type) && tide__type_same(arg->type, expr->type))
            collect_sum(c, arg, name, out);
        else
            add_operand(out, canon(c, arg, false));
    }
}

static bool integer_literal(const struct expr *expr, int64_t *out) {
    while (is_call(expr, "CAST") && tide__type_is_integer(expr->type) && tide__type_is_integer(expr->args[0]->type) &&
           expr->type->kind >= expr->args[0]->type->kind)
        expr = expr->args[0];
    if (expr->kind == EXPR_LITERAL && tide__type_is_integer(expr->type) && !expr->literal.is_null) {
        *out = expr->literal.i64;
        return true;
    }
    return false;
}

// 5 + 5 is 10, as long as it does not leave INT's range: what happens beyond is the engine's business.
static bool folded(const struct expr *expr, const char *name, int64_t *out) {
    int64_t a, b;
    bool overflow = true;
    if (expr->arg_count != 2 || !tide__type_is_integer(expr->type) || expr->type->kind < TYPE_INT) return false;
    if (!integer_literal(expr->args[0], &a) &&
        !(expr->args[0]->kind == EXPR_CALL && folded(expr->args[0], expr->args[0]->function->name, &a)))
        return false;
    if (!integer_literal(expr->args[1], &b) &&
        !(expr->args[1]->kind == EXPR_CALL && folded(expr->args[1], expr->args[1]->function->name, &b)))
        return false;
    if (strcmp(name, "+") == 0) overflow = __builtin_add_overflow(a, b, out);
    if (strcmp(name, "-") == 0) overflow = __builtin_sub_overflow(a, b, out);
    if (strcmp(name, "*") == 0) overflow = __builtin_mul_overflow(a, b, out);
    return !overflow && *out >= INT32_MIN && *out <= INT32_MAX;
}

static struct lineage arithmetic(const struct canon *c, const struct expr *expr, const char *name) {
    struct operands list = {0};
    if (c->plain)
        for (uint32_t i = 0; i < expr->arg_count; i++) add_operand(&list, canon(c, expr->args[i], false));
    else
        collect_sum(c, expr, name, &list);
    if (is_exact(expr->type) && !c->plain) qsort(list.items, list.count, sizeof *list.items, compare_texts);
    return join(c, &list, name, expr->pos);
}

static const char *type_text(const struct type *type, struct arena *arena) {
    struct type bare = *type;
    bare.nullable = true;
    bare.time_attribute = TIME_ATTRIBUTE_NONE;
    return tide__type_text(arena, &bare);
}

static struct lineage cast(const struct canon *c, const struct expr *expr) {
    const struct expr *arg = expr->args[0];
    struct lineage inner = canon(c, arg, false);
    // A literal that is coerced is the same constant; a cast to the type it has does nothing.
    bool wider = tide__type_is_integer(expr->type) && tide__type_is_integer(arg->type) &&
                 expr->type->kind >= arg->type->kind;
    if (is_call(expr, "CAST") && (tide__type_same(expr->type, arg->type) || (wider && arg->kind == EXPR_LITERAL)))
        return inner;
    return plain(
        c,
        tide__arena_printf(c->arena, "%s(%s AS %s)", expr->function->name, inner.text, type_text(expr->type, c->arena)),
        false, expr->pos);
}

static struct lineage other_call(const struct canon *c, const struct expr *expr) {
    const char *name = expr->function->name;
    struct strbuf out = {0};
    bool infix = expr->arg_count == 2 && !isalpha((unsigned char)name[0]);
    if (!infix) tide__strbuf_printf(&out, "%s(", name);
    for (uint32_t i = 0; i < expr->arg_count; i++) {
        struct lineage arg = canon(c, expr->args[i], false);
        if (i > 0 && infix)
            tide__strbuf_printf(&out, " %s ", name);
        else if (i > 0)
            tide__strbuf_append_c(&out, ", ");
        tide__strbuf_append_c(&out, infix ? tide__canon_operand(&arg, c->arena) : arg.text);
    }
    if (!infix) tide__strbuf_append_char(&out, ')');
    const char *text = tide__arena_strndup(c->arena, out.data, out.len);
    tide__strbuf_deinit(&out);
    return plain(c, text, infix, expr->pos);
}

static bool is_comparison(const char *name) {
    static const char *const names[] = {"=", "<>", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

// NOT (a < b) is b <= a, but not where a NaN may come.
static bool may_turn(const struct expr *expr) {
    for (uint32_t i = 0; i < expr->arg_count; i++)
        if (expr->args[i]->type->kind == TYPE_FLOAT || expr->args[i]->type->kind == TYPE_DOUBLE) return false;
    return true;
}

static struct lineage call(const struct canon *c, const struct expr *expr, bool negated) {
    const char *name = expr->function->name;
    if (strcmp(name, "NOT") == 0) return canon(c, expr->args[0], !negated);
    if (strcmp(name, "AND") == 0) return logic(c, expr, !negated, negated);
    if (strcmp(name, "OR") == 0 || strcmp(name, "IN") == 0) return logic(c, expr, negated, negated);
    struct lineage result;
    int64_t constant;
    if (is_comparison(name) && expr->arg_count == 2) {
        bool turn = negated && may_turn(expr);
        result = comparison(c, name, canon(c, expr->args[0], false), canon(c, expr->args[1], false), turn, expr->pos);
        if (turn || !negated) return result;
    } else if (folded(expr, name, &constant))
        result = (struct lineage){.text = tide__arena_printf(c->arena, "%lld", (long long)constant),
                                  .role = LINEAGE_LITERAL,
                                  .pos = expr->pos};
    else if (strcmp(name, "CAST") == 0 || strcmp(name, "TRY_CAST") == 0)
        result = cast(c, expr);
    else if ((strcmp(name, "+") == 0 || strcmp(name, "*") == 0) && expr->arg_count == 2)
        result = arithmetic(c, expr, name);
    else
        result = other_call(c, expr);
    if (negated) result = plain(c, tide__arena_printf(c->arena, "NOT(%s)", result.text), false, expr->pos);
    return result;
}

static struct lineage canon(const struct canon *c, const struct expr *expr, bool negated) {
    struct lineage result = {.pos = expr->pos};
    switch (expr->kind) {
    case EXPR_COLUMN: {
        struct source_pos here = expr->pos;
        result = c->fields[expr->column];
        if (here.line > 0) result.pos = here;
        break;
    }
    case EXPR_LITERAL:
        result.text = tide__canon_bounded(literal_text(expr->type, &expr->literal, c->arena), c->arena);
        result.role = LINEAGE_LITERAL;
        break;
    case EXPR_CALL: return call(c, expr, negated);
    }
    if (negated) result = plain(c, tide__arena_printf(c->arena, "NOT(%s)", result.text), false, expr->pos);
    return result;
}

struct lineage tide__canon_expr(const struct expr *expr, const struct lineage *fields, struct arena *arena) {
    struct canon c = {fields, arena, false};
    return canon(&c, expr, false);
}

const char *tide__canon_plain(const struct expr *expr, const struct lineage *fields, struct arena *arena) {
    struct canon c = {fields, arena, true};
    return canon(&c, expr, false).text;
}

const struct lineage *tide__canon_conjuncts(const struct expr *condition, const struct lineage *fields,
                                            struct arena *arena, size_t *out_count) {
    struct canon c = {fields, arena, false};
    struct operands list = {0};
    collect_logic(&c, condition, true, false, &list);
    qsort(list.items, list.count, sizeof *list.items, compare_texts);
    drop_doubles(&list);
    struct lineage *copy = ARENA_ARRAY(arena, struct lineage, list.count + 1);
    if (list.count > 0) memcpy(copy, list.items, list.count * sizeof *copy);
    *out_count = list.count;
    tide__free(list.items);
    return copy;
}
