// Window functions: TUMBLE, HOP, CUMULATE and SESSION over a table in FROM, and the older GROUP BY TUMBLE(ts, ..).
#include "sql/bind.h"

#include <assert.h>
#include <string.h>

// How a window function is called. The named arguments must stand in this order, as in Flink.
static const struct window_signature {
    enum window_kind kind;
    const char *name;
    const char *args[5];
    uint32_t required, most;
    const char *usage;
} signatures[] = {
    {WINDOW_TUMBLE,
     "TUMBLE",
     {"DATA", "TIMECOL", "SIZE", "OFFSET"},
     3,
     4,
     "TUMBLE(TABLE t, DESCRIPTOR(ts), size [, offset])"},
    {WINDOW_HOP,
     "HOP",
     {"DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"},
     4,
     5,
     "HOP(TABLE t, DESCRIPTOR(ts), slide, size [, offset])"},
    {WINDOW_CUMULATE,
     "CUMULATE",
     {"DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"},
     4,
     5,
     "CUMULATE(TABLE t, DESCRIPTOR(ts), step, size [, offset])"},
    {WINDOW_SESSION,
     "SESSION",
     {"DATA", "TIMECOL", "GAP"},
     3,
     3,
     "SESSION(TABLE t [PARTITION BY k], DESCRIPTOR(ts), gap)"},
};

struct window_call {
    struct binder *binder;
    const struct window_signature *signature;
    const struct ast_expr *ast;
    const struct ast_expr *args[5];
    uint32_t arg_count;
};

// --- Arguments ---

static tide_status wrong_arguments(struct window_call *call, struct source_pos pos, const char *what) {
    tide__fail_at(call->binder->err, TIDE_ERR_VALIDATE, pos, "%s", what);
    return tide__fail_hint(call->binder->err, "%s", call->signature->usage);
}

static tide_status unnamed(struct window_call *call, const struct ast_expr *arg, uint32_t i,
                           const struct ast_expr **out) {
    *out = arg;
    if (arg->kind != AST_EXPR_NAMED_ARG) return TIDE_OK;
    const struct window_signature *signature = call->signature;
    *out = arg->args.items[0];
    if (i < signature->most && tide__str_ieq_c(arg->name.text, signature->args[i])) return TIDE_OK;
    bool known = false;
    for (uint32_t k = 0; k < signature->most; k++) known |= tide__str_ieq_c(arg->name.text, signature->args[k]);
    const char *what = known ? tide__arena_printf(call->binder->arena,
                                                  "argument %.*s stands in the wrong place: arguments of %s "
                                                  "keep their order also when they are named",
                                                  STR_ARG(arg->name.text), signature->name)
                             : tide__arena_printf(call->binder->arena, "%s has no argument \"%.*s\"", signature->name,
                                                  STR_ARG(arg->name.text));
    return wrong_arguments(call, arg->name.pos, what);
}

// PARTITION BY a, b without parentheses leaves b as an argument of its own.
static const struct ast_expr *stray_column(const struct window_call *call) {
    for (uint32_t i = 1; i < call->ast->args.count; i++) {
        const struct ast_expr *arg = call->ast->args.items[i];
        if (arg->kind == AST_EXPR_COLUMN) return arg;
    }
    return NULL;
}

static tide_status collect_arguments(struct window_call *call) {
    const struct ast_exprs *args = &call->ast->args;
    const struct window_signature *signature = call->signature;
    struct binder *b = call->binder;
    for (uint32_t i = 0; i < args->count && i < 5; i++) TIDE_TRY(unnamed(call, args->items[i], i, &call->args[i]));
    call->arg_count = args->count;
    const struct ast_expr *first = args->count > 0 ? call->args[0] : NULL;
    if (first != NULL && first->kind == AST_EXPR_COLUMN) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, first->pos, "column \"%.*s\" not found",
                      STR_ARG(first->path.parts[0].text));
        return tide__fail_hint(b->err, "a table as an argument needs the word TABLE: TABLE %.*s",
                               STR_ARG(first->path.parts[0].text));
    }
    const struct ast_expr *stray = stray_column(call);
    if (stray != NULL) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, stray->pos, "column \"%.*s\" not found",
                      STR_ARG(stray->path.parts[0].text));
        if (first != NULL && first->kind == AST_EXPR_TABLE_ARG && first->partition_by.count > 0) {
            return tide__fail_hint(b->err, "several keys need parentheses: PARTITION BY (a, b)");
        }
        return tide__fail_hint(b->err, "write DESCRIPTOR(%.*s)", STR_ARG(stray->path.parts[0].text));
    }
    if (args->count < signature->required || args->count > signature->most) {
        const char *what = tide__arena_printf(
            b->arena, "%s takes %u%s arguments, not %u", signature->name, signature->required,
            signature->most > signature->required ? tide__arena_printf(b->arena, " or %u", signature->most) : "",
            args->count);
        return wrong_arguments(call, call->ast->pos, what);
    }
    if (first->kind != AST_EXPR_TABLE_ARG)
        return wrong_arguments(call, first->pos, "the first argument must be a table");
    if (call->args[1]->kind != AST_EXPR_DESCRIPTOR || call->args[1]->names.count == 0) {
        return wrong_arguments(call, call->args[1]->pos, "the second argument must be DESCRIPTOR(time column)");
    }
    return TIDE_OK;
}

const char *tide__bind_duration_text(struct arena *arena, int64_t ms) {
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"day", 86400000}, {"h", 3600000}, {"min", 60000}, {"s", 1000}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ms == 0 || ms % units[i].ms != 0) continue;
        const char *plural = i == 0 && ms / units[i].ms != 1 ? "s" : "";
        return tide__arena_printf(arena, "%lld %s%s", (long long)(ms / units[i].ms), units[i].name, plural);
    }
    return tide__arena_printf(arena, "%lld ms", (long long)ms);
}

tide_status tide__bind_hint_sizes(struct binder *b, const struct window *window) {
    int64_t less = window->size_ms / window->slide_ms * window->slide_ms;
    return tide__fail_hint(b->err, "sizes that fit are %s and %s", tide__bind_duration_text(b->arena, less),
                           tide__bind_duration_text(b->arena, less + window->slide_ms));
}

static tide_status constant_interval(struct binder *b, const struct ast_expr *ast, const char *usage, int64_t *out_ms) {
    if (ast->kind == AST_EXPR_INTERVAL || ast->kind == AST_EXPR_UNARY || ast->kind == AST_EXPR_BINARY) {
        tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "sizes and offsets of windows must be interval literals");
        return tide__fail_hint(b->err, "write INTERVAL '10' MINUTE, INTERVAL '-3' MINUTE");
    }
    struct expr *expr;
    struct select_scope scope = {.binder = b, .clause = "window function"};
    TIDE_TRY(tide__bind_expr(&scope, ast, &expr));
    if (expr->type->kind == TYPE_INTERVAL_MONTHS) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos,
                             "windows are measured in SECOND, MINUTE, HOUR, DAY or WEEK, "
                             "not in MONTH or YEAR");
    }
    if (expr->kind != EXPR_LITERAL || expr->type->kind != TYPE_INTERVAL_MILLIS) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "expected an interval such as INTERVAL '10' MINUTE, got %s",
                      tide__type_text(b->arena, expr->type));
        return tide__fail_hint(b->err, "%s", usage);
    }
    *out_ms = expr->literal.i64;
    return TIDE_OK;
}

static tide_status positive(struct window_call *call, uint32_t arg, const char *what, int64_t *out_ms) {
    TIDE_TRY(constant_interval(call->binder, call->args[arg], call->signature->usage, out_ms));
    if (*out_ms > 0) return TIDE_OK;
    return tide__fail_at(call->binder->err, TIDE_ERR_VALIDATE, call->args[arg]->pos,
                         "the %s of %s must be positive, not %s", what, call->signature->name,
                         tide__bind_duration_text(call->binder->arena, *out_ms));
}

static tide_status offset(struct window_call *call, uint32_t arg, struct window *window) {
    if (arg >= call->arg_count) return TIDE_OK;
    TIDE_TRY(constant_interval(call->binder, call->args[arg], call->signature->usage, &window->offset_ms));
    int64_t distance = window->offset_ms < 0 ? -window->offset_ms : window->offset_ms;
    if (window->kind != WINDOW_TUMBLE || distance < window->size_ms) return TIDE_OK;
    return tide__fail_at(call->binder->err, TIDE_ERR_VALIDATE, call->args[arg]->pos,
                         "the offset of TUMBLE (%s) must be smaller than its size (%s)",
                         tide__bind_duration_text(call->binder->arena, window->offset_ms),
                         tide__bind_duration_text(call->binder->arena, window->size_ms));
}

static tide_status sizes(struct window_call *call, struct window *window) {
    switch (window->kind) {
    case WINDOW_TUMBLE:
        TIDE_TRY(positive(call, 2, "size", &window->size_ms));
        window->slide_ms = window->size_ms;
        return offset(call, 3, window);
    case WINDOW_HOP:
        TIDE_TRY(positive(call, 2, "slide", &window->slide_ms));
        TIDE_TRY(positive(call, 3, "size", &window->size_ms));
        return offset(call, 4, window);
    case WINDOW_CUMULATE:
        TIDE_TRY(positive(call, 2, "step", &window->slide_ms));
        TIDE_TRY(positive(call, 3, "size", &window->size_ms));
        if (window->size_ms % window->slide_ms != 0) {
            struct binder *b = call->binder;
            tide__fail_at(b->err, TIDE_ERR_VALIDATE, call->args[3]->pos,
                          "the size of CUMULATE (%s) must be a multiple of its step (%s)",
                          tide__bind_duration_text(b->arena, window->size_ms),
                          tide__bind_duration_text(b->arena, window->slide_ms));
            if (window->size_ms > window->slide_ms) return tide__bind_hint_sizes(b, window);
            return tide__fail_hint(b->err, "the step comes first: %s", call->signature->usage);
        }
        return offset(call, 4, window);
    case WINDOW_SESSION:
        TIDE_TRY(positive(call, 2, "gap", &window->size_ms));
        window->slide_ms = window->size_ms;
        return TIDE_OK;
    }
    return TIDE_OK;
}

// --- The time column ---

static tide_status find_field(struct binder *b, const struct relation *relation, const struct ast_name *name,
                              uint32_t *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < relation->node->field_count; i++) {
        if (!tide__str_eq_c(name->text, relation->node->fields[i].name)) continue;
        if (found++ == 0) *out = i;
    }
    if (found == 1) return TIDE_OK;
    if (found > 1) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, name->pos, "column \"%.*s\" is ambiguous", STR_ARG(name->text));
    }
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, name->pos, "column \"%.*s\" not found", STR_ARG(name->text));
    const char *nearest = tide__bind_nearest_column(b, relation, name->text);
    if (nearest != NULL) return tide__fail_hint(b->err, "did you mean \"%s\"?", nearest);
    return TIDE_ERR_VALIDATE;
}

static tide_status time_column(struct window_call *call, const struct relation *input, struct window *window) {
    struct binder *b = call->binder;
    const struct ast_name *name = &call->args[1]->names.items[0];
    TIDE_TRY(find_field(b, input, name, &window->time_column));
    const struct type *type = input->node->fields[window->time_column].type;
    if (!tide__type_is_timestamp(type)) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, name->pos,
                      "the time column of %s must be TIMESTAMP or TIMESTAMP_LTZ, but \"%.*s\" is %s",
                      call->signature->name, STR_ARG(name->text), tide__type_text(b->arena, type));
        bool text = tide__type_is_string(type);
        if (!text && type->kind != TYPE_BIGINT) return TIDE_ERR_VALIDATE;
        return tide__fail_hint(
            b->err, "if it holds times, add to the table: ts AS TO_TIMESTAMP%s(%.*s%s), WATERMARK FOR ts AS ts",
            text ? "" : "_LTZ", STR_ARG(name->text), text ? "" : ", 3");
    }
    window->ltz = type->kind == TYPE_TIMESTAMP_LTZ;
    window->proctime = type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
    if (b->infer.batch_mode && window->proctime) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, name->pos, "processing-time windows do not exist in batch mode");
    }
    if (b->infer.batch_mode && window->kind == WINDOW_SESSION) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, call->ast->pos,
                             "SESSION windows are not supported in batch mode yet");
    }
    if (b->infer.batch_mode || tide__plan_is_time_attribute(input->node, window->time_column)) return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, name->pos, "column \"%.*s\" is no time attribute, but a plain %s",
                  STR_ARG(name->text), tide__type_text(b->arena, tide__type_without_time_attribute(b->arena, type)));
    return tide__fail_hint(b->err,
                           "give its table a WATERMARK FOR %.*s, and select the column as it is; above a window use "
                           "window_time",
                           STR_ARG(name->text));
}

// --- PARTITION BY of SESSION ---

static tide_status add_partition(struct window_call *call, const struct relation *input, const struct ast_expr *ast,
                                 struct window *window) {
    if (ast->kind == AST_EXPR_ROW) {
        for (uint32_t i = 0; i < ast->args.count; i++) TIDE_TRY(add_partition(call, input, ast->args.items[i], window));
        return TIDE_OK;
    }
    if (ast->kind != AST_EXPR_COLUMN) {
        return wrong_arguments(call, ast->pos, "PARTITION BY of SESSION takes columns only");
    }
    if (window->partition_count == 64) return wrong_arguments(call, ast->pos, "SESSION has more than 64 keys");
    return find_field(call->binder, input, &ast->path.parts[ast->path.count - 1],
                      &window->partitions[window->partition_count++]);
}

static tide_status partitions(struct window_call *call, const struct relation *input, struct window *window) {
    const struct ast_expr *data = call->args[0];
    struct binder *b = call->binder;
    if (data->partition_by.count == 0) return TIDE_OK;
    if (window->kind != WINDOW_SESSION) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, data->partition_by.items[0]->pos, "%s takes no PARTITION BY",
                      call->signature->name);
        return tide__fail_hint(b->err, "only SESSION does; put the keys into GROUP BY");
    }
    window->partitions = ARENA_ARRAY(b->arena, uint32_t, 64);
    for (uint32_t i = 0; i < data->partition_by.count; i++) {
        TIDE_TRY(add_partition(call, input, data->partition_by.items[i], window));
    }
    return TIDE_OK;
}

// --- The node ---

static struct plan_node *window_node(struct binder *b, struct plan_node *input, const struct window *window) {
    uint32_t fields = input->field_count;
    struct plan_node *node = tide__node_new(b->arena, PLAN_WINDOW_TVF, window->pos, 1, fields + 3);
    node->inputs[0] = input;
    node->window_tvf.window = *window;
    if (fields > 0) memcpy(node->fields, input->fields, fields * sizeof(node->fields[0]));
    struct type bound = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0);
    struct type time = *input->fields[window->time_column].type;
    time.nullable = false;
    if (time.precision < 3) time.precision = 3;
    node->fields[fields] = (struct plan_field){"window_start", tide__type_copy(b->arena, &bound)};
    node->fields[fields + 1] = (struct plan_field){"window_end", node->fields[fields].type};
    node->fields[fields + 2] = (struct plan_field){"window_time", tide__type_copy(b->arena, &time)};
    return node;
}

tide_status tide__bind_window_function(struct binder *b, const struct ast_expr *ast, struct relation *out) {
    struct window_call call = {.binder = b, .ast = ast};
    struct str name = ast->path.parts[ast->path.count - 1].text;
    for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
        if (tide__str_ieq_c(name, signatures[i].name)) call.signature = &signatures[i];
    }
    assert(call.signature != NULL);
    TIDE_TRY(collect_arguments(&call));
    struct relation input;
    TIDE_TRY(tide__bind_query(b, call.args[0]->query, &input));
    struct window window = {.kind = call.signature->kind, .pos = ast->pos};
    TIDE_TRY(time_column(&call, &input, &window));
    TIDE_TRY(sizes(&call, &window));
    TIDE_TRY(partitions(&call, &input, &window));
    out->node = window_node(b, input.node, &window);
    out->tables = ARENA_ARRAY(b->arena, struct str, out->node->field_count);
    return TIDE_OK;
}

// --- GROUP BY TUMBLE(ts, ..) ---

static tide_status group_window_time(struct select_scope *s, const struct ast_expr *ast, struct window *window) {
    struct binder *b = s->binder;
    TIDE_TRY(tide__bind_expr(s, ast->args.items[0], &s->window_time));
    const struct type *type = s->window_time->type;
    struct source_pos pos = ast->args.items[0]->pos;
    if (!tide__type_is_timestamp(type)) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, pos,
                             "a group window is over TIMESTAMP or TIMESTAMP_LTZ, not %s",
                             tide__type_text(b->arena, type));
    }
    window->ltz = type->kind == TYPE_TIMESTAMP_LTZ;
    window->proctime = type->time_attribute == TIME_ATTRIBUTE_PROCTIME;
    if (b->infer.batch_mode) return TIDE_OK;
    bool column = s->window_time->kind == EXPR_COLUMN && s->window_time->column < VIRTUAL_COLUMN_FIRST;
    if (window->proctime || (column && tide__plan_is_time_attribute(s->input->node, s->window_time->column)))
        return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_PLAN, pos, "a group window needs a time attribute, but this is a plain %s",
                  tide__type_text(b->arena, tide__type_without_time_attribute(b->arena, type)));
    return tide__fail_hint(b->err, "give the table a WATERMARK; above a window use TUMBLE_ROWTIME(..)");
}

tide_status tide__bind_group_window(struct select_scope *s, const struct ast_expr *ast) {
    struct binder *b = s->binder;
    if (s->window_call != NULL) {
        if (tide__ast_equal(s->window_call, ast)) return TIDE_OK;
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "GROUP BY has two group windows");
    }
    struct str name = ast->path.parts[0].text;
    struct window window = {.pos = ast->pos,
                            .kind = tide__str_ieq_c(name, "TUMBLE") ? WINDOW_TUMBLE
                                    : tide__str_ieq_c(name, "HOP")  ? WINDOW_HOP
                                                                    : WINDOW_SESSION};
    uint32_t wanted = window.kind == WINDOW_HOP ? 3 : 2;
    if (ast->args.count != wanted && ast->args.count != wanted + 1) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "%.*s takes %u arguments in GROUP BY, not %u", STR_ARG(name),
                      wanted, ast->args.count);
        return tide__fail_hint(b->err,
                               window.kind == WINDOW_HOP ? "HOP(ts, slide, size)" : "%.*s(ts, INTERVAL '10' MINUTE)",
                               STR_ARG(name));
    }
    if (ast->args.count == wanted + 1) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->args.items[wanted]->pos,
                             "an alignment of group windows is not supported");
    }
    TIDE_TRY(group_window_time(s, ast, &window));
    const char *usage = "GROUP BY TUMBLE(ts, size), HOP(ts, slide, size), SESSION(ts, gap)";
    TIDE_TRY(constant_interval(b, ast->args.items[wanted - 1], usage, &window.size_ms));
    window.slide_ms = window.size_ms;
    if (window.kind == WINDOW_HOP) TIDE_TRY(constant_interval(b, ast->args.items[1], usage, &window.slide_ms));
    if (window.size_ms <= 0 || window.slide_ms <= 0) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, ast->pos, "the size of a window must be positive");
    }
    if (b->infer.batch_mode && window.kind == WINDOW_SESSION) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, ast->pos, "SESSION windows are not supported in batch mode yet");
    }
    s->window_call = ast;
    s->window = window;
    return TIDE_OK;
}
