// The table of aggregate functions and their type rules.
#include "engine/aggregates/aggregate.h"

#include <string.h>

static const struct type *nullable_copy(struct infer_context *ctx, struct type type) {
    type.nullable = true;
    return tide__type_copy(ctx->arena, &type);
}

static tide_status refuse(struct infer_context *ctx, const struct aggregate_call *call, const struct expr *arg,
                          const char *wants, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "%s cannot be applied to %s", call->aggregate->name,
                  tide__type_text(ctx->arena, arg->type));
    return tide__fail_hint(err, "%s takes %s", call->aggregate->name, wants);
}

static tide_status infer_count(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                               tide_error *err) {
    (void)args;
    if (call->arg_count > 1) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "COUNT of several columns is not supported");
        return tide__fail_hint(err, "count one column, or rows with COUNT(*)");
    }
    struct type type = tide__type_make(TYPE_BIGINT, false);
    call->type = tide__type_copy(ctx->arena, &type);
    return TIDE_OK;
}

static tide_status infer_sum(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                             tide_error *err) {
    struct type type = *args[0]->type;
    if (!tide__type_is_numeric(&type)) return refuse(ctx, call, args[0], "a number", err);
    if (type.kind == TYPE_DECIMAL) type.precision = DECIMAL_PRECISION_MAX;
    call->type = nullable_copy(ctx, type);
    return TIDE_OK;
}

// AVG, STDDEV_*, VAR_*.
static tide_status infer_avg(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                             tide_error *err) {
    struct type type = *args[0]->type;
    if (!tide__type_is_numeric(&type)) return refuse(ctx, call, args[0], "a number", err);
    if (type.kind == TYPE_DECIMAL) {
        type.precision = DECIMAL_PRECISION_MAX;
        if (type.scale < 6) type.scale = 6;
    }
    call->type = nullable_copy(ctx, type);
    return TIDE_OK;
}

static bool is_comparable(const struct type *type) {
    switch (type->kind) {
    case TYPE_NULL:
    case TYPE_BINARY:
    case TYPE_VARBINARY:
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INTERVAL_MILLIS:
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: return false;
    default: return true;
    }
}

static tide_status infer_min_max(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                                 tide_error *err) {
    if (!is_comparable(args[0]->type))
        return refuse(ctx, call, args[0], "a number, string, boolean, date or time", err);
    call->type = nullable_copy(ctx, *args[0]->type);
    return TIDE_OK;
}

static tide_status infer_first_last(struct infer_context *ctx, struct aggregate_call *call,
                                    const struct expr *const *args, tide_error *err) {
    (void)err;
    call->type = nullable_copy(ctx, *args[0]->type);
    return TIDE_OK;
}

static tide_status infer_listagg(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                                 tide_error *err) {
    if (!tide__type_is_string(args[0]->type)) {
        refuse(ctx, call, args[0], "a string", err);
        return tide__fail_hint(err, "CAST the argument to STRING");
    }
    if (call->arg_count > 1) {
        if (args[1]->kind != EXPR_LITERAL || !tide__type_is_string(args[1]->type)) {
            return tide__fail_at(err, TIDE_ERR_VALIDATE, args[1]->pos,
                                 "the separator of LISTAGG must be a string literal");
        }
        call->parameter = args[1]->literal;
    }
    // As Flink says: NOT NULL of what is NOT NULL, even where there may be no row.
    call->type = tide__type_without_time_attribute(ctx->arena, args[0]->type);
    return TIDE_OK;
}

static const struct type *collection_of(struct infer_context *ctx, const struct expr *arg, enum type_kind kind,
                                        bool nullable) {
    struct type_child *child = ARENA_NEW(ctx->arena, struct type_child);
    child->type = tide__type_without_time_attribute(ctx->arena, arg->type);
    struct type type = tide__type_make(kind, nullable);
    type.child_count = 1;
    type.children = child;
    return tide__type_copy(ctx->arena, &type);
}

static tide_status infer_array_agg(struct infer_context *ctx, struct aggregate_call *call,
                                   const struct expr *const *args, tide_error *err) {
    (void)err;
    call->type = collection_of(ctx, args[0], TYPE_ARRAY, true);
    return TIDE_OK;
}

static tide_status infer_collect(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                                 tide_error *err) {
    (void)err;
    call->type = collection_of(ctx, args[0], TYPE_MULTISET, false);
    return TIDE_OK;
}

// The binder has wrapped the value in JSON_STRING.
static tide_status infer_json(struct infer_context *ctx, struct aggregate_call *call, const struct expr *const *args,
                              tide_error *err) {
    bool pair = call->arg_count > 1;
    if (pair && !tide__type_is_string(args[0]->type)) return refuse(ctx, call, args[0], "a string as key", err);
    struct type type = tide__type_make_sized(TYPE_VARCHAR, false, 2000, 0);
    call->type = tide__type_copy(ctx->arena, &type);
    return TIDE_OK;
}

// The binder has made the share a parameter; args[1], if there is one, says how often a value counts.
static tide_status infer_percentile(struct infer_context *ctx, struct aggregate_call *call,
                                    const struct expr *const *args, tide_error *err) {
    if (!tide__type_is_numeric(args[0]->type)) return refuse(ctx, call, args[0], "a number", err);
    if (call->arg_count > 1 && !tide__type_is_integer(args[1]->type))
        return refuse(ctx, call, args[1], "a number, a share and an integer", err);
    struct type type = tide__type_make(TYPE_DOUBLE, true);
    if (call->type == NULL) call->type = tide__type_copy(ctx->arena, &type);
    return TIDE_OK;
}

static const struct aggregate table[] = {
    {"ARRAY_AGG", 1, 1, infer_array_agg, true, false, &tide__array_agg_class, "ARRAY_AGG(value)",
     "The values in arrival order, NULLs too, as an ARRAY.", "ARRAY_AGG(item)", "[a, NULL, b]"},
    {"AVG", 1, 1, infer_avg, true, true, &tide__avg_class, "AVG(numeric)",
     "The mean, in the type of the input; integers are divided toward zero.", "AVG(price)", "2.500000"},
    {"COLLECT", 1, 1, infer_collect, true, false, &tide__collect_class, "COLLECT(value)",
     "The values that are not NULL, with how often each occurs, as a MULTISET.", "COLLECT(item)", "{a=2, b=1}"},
    {"COUNT", 0, 4, infer_count, true, true, &tide__count_class, "COUNT(*), COUNT(value)",
     "The number of rows, or of values that are not NULL.", "COUNT(*)", "3"},
    {"FIRST_VALUE", 1, 1, infer_first_last, false, true, &tide__first_value_class, "FIRST_VALUE(value)",
     "The first value in arrival order that is not NULL.", "FIRST_VALUE(price)", "1.50"},
    {"JSON_ARRAYAGG", 1, 1, infer_json, true, false, &tide__json_arrayagg_class,
     "JSON_ARRAYAGG(value [NULL ON NULL | ABSENT ON NULL])",
     "The values in arrival order as a JSON array; NULLs are left out by default.", "JSON_ARRAYAGG(item)",
     "[\"a\",\"b\"]"},
    {"JSON_OBJECTAGG", 2, 2, infer_json, true, false, &tide__json_objectagg_class,
     "JSON_OBJECTAGG([KEY] key VALUE value [NULL ON NULL | ABSENT ON NULL])", "A JSON object of keys and values.",
     "JSON_OBJECTAGG(KEY item VALUE price)", "{\"a\":1.50,\"b\":2.50}"},
    {"LAST_VALUE", 1, 1, infer_first_last, false, true, &tide__last_value_class, "LAST_VALUE(value)",
     "The last value in arrival order that is not NULL.", "LAST_VALUE(price)", "3.50"},
    {"LISTAGG", 1, 2, infer_listagg, true, true, &tide__listagg_class, "LISTAGG(string [, separator])",
     "The strings in arrival order, joined by the separator (a comma by default).", "LISTAGG(item, ';')", "a;b;a"},
    {"MAX", 1, 1, infer_min_max, true, true, &tide__max_class, "MAX(value)", "The largest value.", "MAX(price)",
     "3.50"},
    {"MIN", 1, 1, infer_min_max, true, true, &tide__min_class, "MIN(value)", "The smallest value.", "MIN(price)",
     "1.50"},
    {"PERCENTILE", 2, 3, infer_percentile, true, false, &tide__percentile_class,
     "PERCENTILE(numeric, share or ARRAY of shares [, frequency])",
     "The value below which a share (0 to 1) of the values lies, interpolated.", "PERCENTILE(amount, 0.5)", "2.0"},
    {"STDDEV", 1, 1, infer_avg, true, true, &tide__stddev_samp_class, "STDDEV(numeric)", "The same as STDDEV_SAMP.",
     "STDDEV(amount)", "1.0"},
    {"STDDEV_POP", 1, 1, infer_avg, true, true, &tide__stddev_pop_class, "STDDEV_POP(numeric)",
     "The standard deviation of all values.", "STDDEV_POP(amount)", "0.816496580927726"},
    {"STDDEV_SAMP", 1, 1, infer_avg, true, true, &tide__stddev_samp_class, "STDDEV_SAMP(numeric)",
     "The standard deviation of a sample; NULL for one value.", "STDDEV_SAMP(amount)", "1.0"},
    {"SUM", 1, 1, infer_sum, true, true, &tide__sum_class, "SUM(numeric)",
     "The sum; integers keep their type and wrap, DECIMAL(p, s) gives DECIMAL(38, s).", "SUM(price)", "7.50"},
    {"VARIANCE", 1, 1, infer_avg, true, true, &tide__var_samp_class, "VARIANCE(numeric)", "The same as VAR_SAMP.",
     "VARIANCE(amount)", "1.0"},
    {"VAR_POP", 1, 1, infer_avg, true, true, &tide__var_pop_class, "VAR_POP(numeric)", "The variance of all values.",
     "VAR_POP(amount)", "0.6666666666666666"},
    {"VAR_SAMP", 1, 1, infer_avg, true, true, &tide__var_samp_class, "VAR_SAMP(numeric)",
     "The variance of a sample; NULL for one value.", "VAR_SAMP(amount)", "1.0"},
};

#define TABLE_COUNT (sizeof table / sizeof table[0])

// What only the planner makes; nobody is told of it.
static const struct aggregate sum_from_zero = {
    "$SUM0",
    1,
    1,
    infer_sum,
    true,
    true,
    &tide__sum_from_zero_class,
    "$SUM0(numeric)",
    "SUM that begins at 0: -0.0 becomes 0.0, a DECIMAL that overflowed stays NULL.",
    "$SUM0(price)",
    "7.50"};

static const char *const names[] = {
    "ARRAY_AGG",   "AVG",     "COLLECT",  "COUNT",   "FIRST_VALUE", "JSON_ARRAYAGG", "JSON_OBJECTAGG",
    "LAST_VALUE",  "LISTAGG", "MAX",      "MIN",     "PERCENTILE",  "STDDEV",        "STDDEV_POP",
    "STDDEV_SAMP", "SUM",     "VARIANCE", "VAR_POP", "VAR_SAMP",
};

_Static_assert(sizeof names / sizeof names[0] == TABLE_COUNT, "a name for each aggregate");

const struct aggregate *tide__aggregate_find(struct str name) {
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (tide__str_ieq_c(name, table[i].name)) return &table[i];
    return tide__str_ieq_c(name, sum_from_zero.name) ? &sum_from_zero : NULL;
}

const char *const *tide__aggregate_names(size_t *out_count) {
    *out_count = TABLE_COUNT;
    return names;
}
