// Times from and to text by patterns: DATE_FORMAT, TO_TIMESTAMP, TO_TIMESTAMP_LTZ, TO_DATE, UNIX_TIMESTAMP,
// FROM_UNIXTIME, CONVERT_TZ.
//
// A constant pattern is compiled once, at inference. A pattern that is wrong fails when the first row needs it, as
// in Flink.
#include "base/time.h"
#include "base/zone.h"
#include "engine/expr/kernel.h"
#include "engine/functions/cast.h"
#include "engine/functions/date_pattern.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

// What these functions have in `prepared`.
struct pattern_plan {
    bool constant;
    struct date_pattern pattern;
    const char *problem;  // of the constant pattern; NULL: none
};

#define DEFAULT_PATTERN "yyyy-MM-dd HH:mm:ss"

// Compiles the pattern in argument `index`, or the default if there is none.
static void plan_pattern(struct infer_context *ctx, struct expr *call, uint32_t index, bool simple,
                         const char *otherwise) {
    struct pattern_plan *plan = ARENA_NEW(ctx->arena, struct pattern_plan);
    struct str text = tide__str(otherwise == NULL ? "" : otherwise);
    plan->constant = index >= call->arg_count || tide__infer_literal_text(call->args[index], &text);
    if (plan->constant) tide__date_pattern_compile(text, simple, ctx->arena, &plan->pattern, &plan->problem);
    plan->pattern.simple = simple;
    call->prepared = plan;
}

static tide_status bad_pattern(const struct expr *call, struct str text, const char *problem, tide_error *err) {
    if (text.len > 0) {
        tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "bad pattern '%.*s' of %s: %s", STR_ARG(text),
                      call->function->name, problem);
    } else {
        tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "bad pattern of %s: %s", call->function->name, problem);
    }
    return tide__fail_hint(
        err, "patterns are Java's, for example 'yyyy-MM-dd HH:mm:ss'; quote other letters: '' '' T '' ''");
}

// The pattern of a row.
static tide_status row_pattern(struct eval_context *ctx, const struct expr *call, const struct column *patterns,
                               size_t row, struct date_pattern *out, tide_error *err) {
    const struct pattern_plan *plan = call->prepared;
    if (plan->constant) {
        *out = plan->pattern;
        return plan->problem == NULL ? TIDE_OK : bad_pattern(call, (struct str){0}, plan->problem, err);
    }
    const char *problem = NULL;
    struct str text = patterns->str[row];
    if (tide__date_pattern_compile(text, plan->pattern.simple, ctx->scratch, out, &problem)) return TIDE_OK;
    return bad_pattern(call, text, problem, err);
}

// --- DATE_FORMAT and FROM_UNIXTIME ---------------------------------------------------------------------------------

static bool default_parse(struct str text, struct timestamp *out) {
    struct arena arena;
    tide__arena_init(&arena);
    struct date_pattern pattern;
    const char *problem = NULL;
    bool ok = tide__date_pattern_compile(STR_LIT(DEFAULT_PATTERN), true, &arena, &pattern, &problem) &&
              tide__date_pattern_parse(&pattern, text, out);
    tide__arena_deinit(&arena);
    return ok;
}

// The wall clock to format; false: NULL.
static bool clock_to_format(const struct eval_context *ctx, const struct column *arg, size_t row, struct timestamp *t) {
    switch (arg->type->kind) {
    case TYPE_TIMESTAMP: *t = tide__timestamp_at(arg, row); return true;
    case TYPE_TIMESTAMP_LTZ:
        *t = tide__timestamp_at(arg, row);
        t->ms = tide__zone_to_local(ctx->zone, t->ms);
        return true;
    case TYPE_VARCHAR:
    case TYPE_CHAR: return default_parse(arg->str[row], t);
    default: *t = (struct timestamp){tide__zone_to_local(ctx->zone, arg->i64[row] * 1000), 0}; return true;
    }
}

static tide_status run_format(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    struct date_pattern pattern;
    const struct column *patterns = call->arg_count > 1 ? &args[1] : NULL;
    bool seconds = tide__type_is_integer(args[0].type);
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        TIDE_TRY_OR(status, row_pattern(ctx, call, patterns, i, &pattern, err), done);
        if (pattern.zone != 0) {
            status = bad_pattern(call, patterns->str[i], "a zone needs a value that has one", err);
            goto done;
        }
        struct timestamp t = {0, 0};
        if (!clock_to_format(ctx, &args[0], i, &t)) {
            tide__put_null(out, i);
            continue;
        }
        int64_t offset = seconds ? t.ms - args[0].i64[i] * 1000 : 0;
        tide__strbuf_clear(&text);
        tide__date_pattern_format(&pattern, t, offset, &text);
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
done:
    tide__strbuf_deinit(&text);
    return status;
}

#define NEEDS_ZONE "pattern letter '%c' needs a time zone, which the value does not have"

static tide_status infer_date_format(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "AS", err));
    if (call->args[0]->type->kind == TYPE_NULL) {
        TIDE_TRY(tide__infer_cast(ctx, call, 0, tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0), err));
    }
    const struct type *type = call->args[0]->type;
    bool timestamp = tide__type_is_timestamp(type);
    if (!timestamp && !tide__type_is_string(type)) return tide__infer_fail(ctx, call, err);
    plan_pattern(ctx, call, 1, !timestamp, NULL);
    struct pattern_plan *plan = (struct pattern_plan *)(uintptr_t)call->prepared;
    if (plan->constant && plan->problem == NULL && plan->pattern.zone != 0) {
        plan->problem = tide__arena_printf(ctx->arena, NEEDS_ZONE, plan->pattern.zone);
    }
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

static tide_status infer_from_unixtime(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "IS", err));
    plan_pattern(ctx, call, 1, true, DEFAULT_PATTERN);
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

// --- TO_TIMESTAMP, TO_DATE, UNIX_TIMESTAMP -------------------------------------------------------------------------

static struct str trim_blanks(struct str s) {
    while (s.len > 0 && (unsigned char)s.data[0] <= ' ') s.data++, s.len--;
    while (s.len > 0 && (unsigned char)s.data[s.len - 1] <= ' ') s.len--;
    return s;
}

// Month and day as java.sql.Timestamp wants them.
static bool jdbc_date(struct str text) {
    int month = 0, day = 0;
    size_t at = 5;
    for (; at < text.len && text.data[at] >= '0' && text.data[at] <= '9' && month < 100; at++)
        month = month * 10 + (text.data[at] - '0');
    for (at++; at < text.len && text.data[at] >= '0' && text.data[at] <= '9' && day < 100; at++)
        day = day * 10 + (text.data[at] - '0');
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// What TO_TIMESTAMP falls back to when the pattern does not fit: JDBC's `yyyy-m-d` and `yyyy-m-d h:m:s[.f]`, where
// a day past the month's end runs over into the next.
static bool jdbc_parse(struct str text, struct timestamp *out) {
    text = trim_blanks(text);
    bool clock = memchr(text.data, ' ', text.len) != NULL;
    struct arena arena;
    tide__arena_init(&arena);
    struct date_pattern pattern;
    const char *problem = NULL;
    struct str form = clock ? STR_LIT("y-M-d H:m:s") : STR_LIT("y-M-d");
    struct str fraction = {0};
    const char *dot = clock ? memchr(text.data, '.', text.len) : NULL;
    if (dot != NULL) {
        fraction = (struct str){dot + 1, (size_t)(text.data + text.len - dot - 1)};
        text.len = (size_t)(dot - text.data);
    }
    bool ok = text.len >= 8 && text.data[4] == '-' && text.data[text.len - 1] >= '0' && text.data[text.len - 1] <= '9';
    for (size_t i = 0; i < text.len; i++) ok = ok && strchr("0123456789-: ", text.data[i]) != NULL;
    for (size_t i = 0; i < fraction.len; i++) ok = ok && fraction.data[i] >= '0' && fraction.data[i] <= '9';
    ok = ok && jdbc_date(text) && fraction.len <= 9 && (dot == NULL || fraction.len > 0);
    ok = ok && tide__date_pattern_compile(form, true, &arena, &pattern, &problem) &&
         tide__date_pattern_parse(&pattern, text, out);
    tide__arena_deinit(&arena);
    if (!ok) return false;
    for (size_t i = 0, unit = 100; i < fraction.len && unit > 0; i++, unit /= 10) {
        out->ms += (int64_t)unit * (fraction.data[i] - '0');
    }
    return true;
}

static tide_status run_to_timestamp(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                    struct selection rows, struct column *out, tide_error *err) {
    struct date_pattern pattern;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct timestamp t = {0, 0};
        struct str text = args[0].str[i];
        bool ok = false;
        if (call->arg_count == 1) {
            ok = tide__text_to_timestamp(text, 3, &t);
        } else {
            TIDE_TRY(row_pattern(ctx, call, &args[1], i, &pattern, err));
            ok = tide__date_pattern_parse(&pattern, text, &t) || jdbc_parse(text, &t);
        }
        bool strict = call->function == &tide__fn_to_timestamp_ltz && call->arg_count == 1;
        if (ok) {
            tide__put_timestamp(out, i, t);
        } else if (strict) {
            return tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "'%.*s' is no time", STR_ARG(text));
        } else {
            tide__put_null(out, i);
        }
    }
    return TIDE_OK;
}

static tide_status infer_to_timestamp(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SS", err));
    plan_pattern(ctx, call, 1, false, DEFAULT_PATTERN);
    tide__infer_result_sized(ctx, call, TYPE_TIMESTAMP, true, 3, 0);
    return TIDE_OK;
}

// What TO_DATE with a pattern gives for a text that does not fit: 5471-09-27, which Flink gets from the least number of
// milliseconds.
#define NO_DATE 1278983

static tide_status run_to_date(struct eval_context *ctx, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    struct date_pattern pattern;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct timestamp t = {0, 0};
        bool ok = false;
        if (call->arg_count == 1) {
            ok = tide__text_to_date(args[0].str[i], &out->i64[i]);
        } else {
            TIDE_TRY(row_pattern(ctx, call, &args[1], i, &pattern, err));
            ok = tide__date_pattern_parse(&pattern, args[0].str[i], &t);
            out->i64[i] = ok ? tide__floor_div(t.ms, MILLIS_PER_DAY) : NO_DATE;
            ok = true;
        }
        if (!ok) tide__put_null(out, i);
    }
    return TIDE_OK;
}

static tide_status infer_to_date(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SS", err));
    plan_pattern(ctx, call, 1, true, DEFAULT_PATTERN);
    tide__infer_result(ctx, call, TYPE_DATE, true);
    return TIDE_OK;
}

// Seconds since 1970; a text that is no time gives the least BIGINT, as in Flink.
static tide_status run_unix_timestamp(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                      struct selection rows, struct column *out, tide_error *err) {
    if (call->arg_count == 0) {
        EACH_ROW(rows, i, out->i64[i] = tide__floor_div(tide__eval_now(ctx), 1000););
        return TIDE_OK;
    }
    struct date_pattern pattern;
    const struct column *patterns = call->arg_count > 1 ? &args[1] : NULL;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        TIDE_TRY(row_pattern(ctx, call, patterns, i, &pattern, err));
        struct timestamp t = {0, 0};
        bool zoned = false, ok = tide__date_pattern_parse_zoned(&pattern, args[0].str[i], &t, &zoned);
        int64_t instant = zoned ? t.ms : tide__zone_to_utc(ctx->zone, t.ms);
        // Of an hour that comes twice SimpleDateFormat takes the second.
        bool twice = !zoned && tide__zone_to_local(ctx->zone, instant + MILLIS_PER_HOUR) == t.ms;
        if (twice) instant += MILLIS_PER_HOUR;
        out->i64[i] = ok ? instant / 1000 : INT64_MIN;
    }
    return TIDE_OK;
}

static tide_status infer_unix_timestamp(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SS", err));
    plan_pattern(ctx, call, 1, true, DEFAULT_PATTERN);
    tide__infer_result(ctx, call, TYPE_BIGINT, tide__infer_any_nullable(call));
    return TIDE_OK;
}

// --- TO_TIMESTAMP_LTZ ----------------------------------------------------------------------------------------------

// Flink's range of instants: the years 0001 to 9999.
#define INSTANT_LEAST INT64_C(-62135596800000)
#define INSTANT_MOST  INT64_C(253402300799999)

static tide_status run_to_timestamp_ltz(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                        struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int64_t precision = call->arg_count > 1 ? args[1].i64[i] : 3;
        if (precision < 0 || precision > 9) {
            tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "the precision of TO_TIMESTAMP_LTZ is 0 to 9, not %lld",
                          (long long)precision);
            return tide__fail_hint(err, "0: the number is in seconds, 3: in milliseconds");
        }
        int128 nanos = 0;
        int128 unit = tide__pow10(9 - (int)precision);
        if (args[0].physical == PHYSICAL_F64) {
            // Seconds of a DOUBLE keep their fraction as milliseconds, finer units are cut to whole ones.
            double v = args[0].f64[i] * (precision == 0 ? 1000 : 1);
            bool fits = v > -1e18 && v < 1e18;
            nanos = fits ? (int128)(int64_t)v * (precision == 0 ? 1000000 : unit) : INT64_MAX * (int128)1000000000;
        } else {
            nanos = tide__decimal_at(&args[0], i) / tide__pow10(tide__decimal_scale(args[0].type)) * unit;
        }
        int128 ms = nanos / 1000000 - (nanos % 1000000 < 0);
        if (ms < INSTANT_LEAST || ms > INSTANT_MOST) {
            tide__put_null(out, i);
        } else {
            tide__put_timestamp(out, i, (struct timestamp){(int64_t)ms, (int32_t)(nanos - ms * 1000000)});
        }
    }
    return TIDE_OK;
}

static tide_status infer_to_timestamp_ltz(struct infer_context *ctx, struct expr *call, tide_error *err) {
    bool text = tide__type_is_string(call->args[0]->type);
    if (!text && call->arg_count > 2) return tide__infer_fail(ctx, call, err);
    TIDE_TRY(tide__infer_args(ctx, call, text ? "SSS" : "NI", err));
    int64_t precision = 3;
    if (text) {
        plan_pattern(ctx, call, 1, false, DEFAULT_PATTERN);
        const struct pattern_plan *plan = call->prepared;
        for (size_t i = 0; plan->constant && i < plan->pattern.count; i++) {
            const struct date_part *part = &plan->pattern.parts[i];
            if (part->letter == 'S' && part->count > precision) precision = part->count;
        }
    } else if (call->arg_count > 1 && tide__infer_constant_integer(ctx, call->args[1], &precision)) {
        if (precision < 0 || precision > 9) {
            tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[1]->pos,
                          "the precision of TO_TIMESTAMP_LTZ is 0 to 9, not %lld", (long long)precision);
            return tide__fail_hint(err, "0: the number is in seconds, 3: in milliseconds");
        }
        if (precision < 3) precision = 3;
    }
    tide__infer_result_sized(ctx, call, TYPE_TIMESTAMP_LTZ, true, (int)precision, 0);
    return TIDE_OK;
}

// --- CONVERT_TZ ----------------------------------------------------------------------------------------------------

// Opens the zone of a row, keeping the one of the row before if it has the same name. Java takes unknown names as
// GMT.
static const struct zone *row_zone(struct str name, struct zone **kept) {
    if (*kept != NULL && tide__str_eq_c(name, tide__zone_name(*kept))) return *kept;
    tide__zone_free(*kept);
    tide_error ignored;
    tide__error_clear(&ignored);
    bool number = name.len > 0 && (name.data[0] == '+' || name.data[0] == '-');
    if (number || tide__zone_open(name, kept, &ignored) != TIDE_OK) *kept = NULL;
    return *kept;
}

// TO_TIMESTAMP_LTZ(text[, pattern[, zone]]): a wall clock in the zone, or in UTC.
static tide_status run_text_to_ltz(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    TIDE_TRY(run_to_timestamp(ctx, call, args, rows, out, err));
    struct zone *kept = NULL;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        if (out->nulls[i]) continue;
        struct timestamp t = tide__timestamp_at(out, i);
        t.ms = tide__zone_to_utc(call->arg_count > 2 ? row_zone(args[2].str[i], &kept) : NULL, t.ms);
        tide__put_timestamp(out, i, t);
    }
    tide__zone_free(kept);
    return TIDE_OK;
}

static tide_status run_ltz(struct eval_context *ctx, const struct expr *call, const struct column *args,
                           struct selection rows, struct column *out, tide_error *err) {
    if (args[0].physical == PHYSICAL_STR) return run_text_to_ltz(ctx, call, args, rows, out, err);
    return run_to_timestamp_ltz(ctx, call, args, rows, out, err);
}

static tide_status run_convert_tz(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    struct zone *from = NULL, *to = NULL;
    struct strbuf text = {0};
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct timestamp t = {0, 0};
        if (!default_parse(args[0].str[i], &t)) {
            tide__put_null(out, i);
            continue;
        }
        t.ms = tide__zone_to_utc(row_zone(args[1].str[i], &from), t.ms);
        t.ms = tide__zone_to_local(row_zone(args[2].str[i], &to), t.ms);
        tide__strbuf_clear(&text);
        tide__timestamp_print(t, 0, &text);
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
    tide__strbuf_deinit(&text);
    tide__zone_free(from);
    tide__zone_free(to);
    return TIDE_OK;
}

static tide_status infer_convert_tz(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSS", err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

// --- table ---------------------------------------------------------------------------------------------------------

static const struct function_kernel kernel_format = {.null_if_any = true, .run = run_format};
static const struct function_kernel kernel_to_timestamp = {.null_if_any = true, .run = run_to_timestamp};
static const struct function_kernel kernel_ltz = {.null_if_any = true, .run = run_ltz};
static const struct function_kernel kernel_to_date = {.null_if_any = true, .run = run_to_date};
static const struct function_kernel kernel_unix_timestamp = {.null_if_any = true, .run = run_unix_timestamp};
static const struct function_kernel kernel_convert_tz = {.null_if_any = true, .run = run_convert_tz};

const struct function tide__fn_date_format = {
    .name = "DATE_FORMAT",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_date_format,
    .kernel = &kernel_format,
    .signature = "DATE_FORMAT(time or STRING, pattern)",
    .summary = "A time as text by a Java pattern.",
    .example = "DATE_FORMAT(TIMESTAMP '2024-02-29 12:34:56', 'dd.MM.yyyy HH:mm')",
    .example_result = "29.02.2024 12:34",
};
const struct function tide__fn_from_unixtime = {
    .name = "FROM_UNIXTIME",
    .arg_min = 1,
    .arg_max = 2,
    .infer = infer_from_unixtime,
    .kernel = &kernel_format,
    .signature = "FROM_UNIXTIME(integer[, pattern])",
    .summary = "Seconds since 1970 as text in the session time zone.",
    .example = "FROM_UNIXTIME(44)",
    .example_result = "1970-01-01 00:00:44",
};
const struct function tide__fn_to_timestamp = {
    .name = "TO_TIMESTAMP",
    .arg_min = 1,
    .arg_max = 2,
    .infer = infer_to_timestamp,
    .kernel = &kernel_to_timestamp,
    .signature = "TO_TIMESTAMP(STRING[, pattern])",
    .summary = "A text as TIMESTAMP(3); NULL if it is none.",
    .example = "TO_TIMESTAMP('29.02.2024 12:34', 'dd.MM.yyyy HH:mm')",
    .example_result = "2024-02-29 12:34:00.000",
};
const struct function tide__fn_to_timestamp_ltz = {
    .name = "TO_TIMESTAMP_LTZ",
    .arg_min = 1,
    .arg_max = 3,
    .infer = infer_to_timestamp_ltz,
    .kernel = &kernel_ltz,
    .signature = "TO_TIMESTAMP_LTZ(number, precision) or TO_TIMESTAMP_LTZ(STRING[, pattern[, zone]])",
    .summary = "A number of seconds (0), milliseconds (3), ... since 1970, or a text, as TIMESTAMP_LTZ.",
    .example = "TO_TIMESTAMP_LTZ(1234567890, 0)",
    .example_result = "2009-02-13 23:31:30.000",
};
const struct function tide__fn_to_date = {
    .name = "TO_DATE",
    .arg_min = 1,
    .arg_max = 2,
    .infer = infer_to_date,
    .kernel = &kernel_to_date,
    .signature = "TO_DATE(STRING[, pattern])",
    .summary = "A text as DATE; NULL if it is none.",
    .example = "TO_DATE('2024-02-29')",
    .example_result = "2024-02-29",
};
const struct function tide__fn_unix_timestamp = {
    .name = "UNIX_TIMESTAMP",
    .arg_min = 0,
    .arg_max = 2,
    .nondeterministic = true,
    .infer = infer_unix_timestamp,
    .kernel = &kernel_unix_timestamp,
    .signature = "UNIX_TIMESTAMP([STRING[, pattern]])",
    .summary = "Seconds since 1970 of a wall clock in the session time zone, or of now.",
    .example = "UNIX_TIMESTAMP('1970-01-01 00:00:44')",
    .example_result = "44",
};
const struct function tide__fn_convert_tz = {
    .name = "CONVERT_TZ",
    .arg_min = 3,
    .arg_max = 3,
    .infer = infer_convert_tz,
    .kernel = &kernel_convert_tz,
    .signature = "CONVERT_TZ(STRING, from_zone, to_zone)",
    .summary = "A wall clock `yyyy-MM-dd HH:mm:ss` of one time zone in another.",
    .example = "CONVERT_TZ('2024-02-29 12:00:00', 'UTC', 'GMT+08:00')",
    .example_result = "2024-02-29 20:00:00",
};
