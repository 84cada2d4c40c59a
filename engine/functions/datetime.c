// EXTRACT and its short forms, FLOOR and CEIL TO a unit, TIMESTAMPADD, TIMESTAMPDIFF, (a - b) UNIT.
//
// Where Flink divides toward zero, so that results before 1970 surprise, this does the same; a comment says where.
#include "base/checked.h"
#include "base/time.h"
#include "base/zone.h"
#include "engine/expr/kernel.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/temporal.h"

#include <assert.h>

// What a unit function has in `prepared`.
struct unit_plan {
    enum time_unit unit;
};

static enum time_unit unit_of(const struct expr *call) {
    return ((const struct unit_plan *)call->prepared)->unit;
}

static int64_t unit_millis(enum time_unit unit) {
    switch (unit) {
    case UNIT_WEEK: return 7 * MILLIS_PER_DAY;
    case UNIT_DAY: return MILLIS_PER_DAY;
    case UNIT_HOUR: return MILLIS_PER_HOUR;
    case UNIT_MINUTE: return MILLIS_PER_MINUTE;
    case UNIT_SECOND: return MILLIS_PER_SECOND;
    default: return 1;
    }
}

static int unit_months(enum time_unit unit) {
    switch (unit) {
    case UNIT_MILLENNIUM: return 12000;
    case UNIT_CENTURY: return 1200;
    case UNIT_DECADE: return 120;
    case UNIT_YEAR: return 12;
    case UNIT_QUARTER: return 3;
    case UNIT_MONTH: return 1;
    default: return 0;
    }
}

// Any date or time as a wall clock: a DATE at midnight, an instant in the session zone.
static struct timestamp wall_clock(const struct eval_context *ctx, const struct column *column, size_t row) {
    switch (column->type->kind) {
    case TYPE_DATE: return (struct timestamp){column->i64[row] * MILLIS_PER_DAY, 0};
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: {
        struct timestamp t = tide__timestamp_at(column, row);
        if (column->type->kind == TYPE_TIMESTAMP_LTZ) t.ms = tide__zone_to_local(ctx->zone, t.ms);
        return t;
    }
    default: return (struct timestamp){column->i64[row], 0};
    }
}

// --- EXTRACT -------------------------------------------------------------------------------------------------------

static int64_t extract_from_days(enum time_unit unit, int64_t days) {
    int64_t year = 0, iso_year = 0;
    int month = 0, day = 0;
    tide__civil_from_days(days, &year, &month, &day);
    switch (unit) {
    case UNIT_YEAR: return year;
    case UNIT_QUARTER: return (month + 2) / 3;
    case UNIT_MONTH: return month;
    case UNIT_WEEK: return tide__iso_week(days, &iso_year);
    case UNIT_ISOYEAR: tide__iso_week(days, &iso_year); return iso_year;
    case UNIT_DAY: return day;
    case UNIT_DOW: return tide__floor_mod(days + 4, 7) + 1;
    case UNIT_ISODOW: return tide__floor_mod(days + 3, 7) + 1;
    case UNIT_DOY: return days - tide__days_from_civil(year, 1, 1) + 1;
    case UNIT_DECADE: return year / 10;
    case UNIT_CENTURY: return year > 0 ? (year + 99) / 100 : (year - 99) / 100;
    case UNIT_MILLENNIUM: return year > 0 ? (year + 999) / 1000 : (year - 999) / 1000;
    default: return 0;
    }
}

// Toward zero, as Flink.
static int64_t extract_from_clock(enum time_unit unit, struct timestamp t) {
    switch (unit) {
    case UNIT_HOUR: return t.ms % MILLIS_PER_DAY / MILLIS_PER_HOUR;
    case UNIT_MINUTE: return t.ms % MILLIS_PER_HOUR / MILLIS_PER_MINUTE;
    case UNIT_SECOND: return t.ms % MILLIS_PER_MINUTE / MILLIS_PER_SECOND;
    case UNIT_MILLISECOND: return t.ms % 1000;
    case UNIT_MICROSECOND: return t.ms % 1000 * 1000 + t.nanos / 1000;
    case UNIT_NANOSECOND: return t.ms % 1000 * 1000000 + t.nanos;
    case UNIT_EPOCH: return t.ms / 1000;
    default: return 0;
    }
}

static bool is_clock_unit(enum time_unit unit) {
    return unit >= UNIT_HOUR && unit <= UNIT_EPOCH;
}

static int64_t extract_from_months(enum time_unit unit, int64_t months) {
    int per = unit_months(unit);
    if (unit == UNIT_MONTH) return months % 12;
    if (unit == UNIT_QUARTER) return months % 12 / 3 + 1;
    return per == 0 ? 0 : months / per;
}

static tide_status extract(struct eval_context *ctx, enum time_unit unit, const struct column *arg,
                           struct selection rows, struct column *out) {
    enum type_kind kind = arg->type->kind;
    if (kind == TYPE_INTERVAL_MONTHS) {
        EACH_ROW(rows, i, out->i64[i] = extract_from_months(unit, arg->i64[i]););
    } else if (kind == TYPE_INTERVAL_MILLIS && unit == UNIT_DAY) {
        EACH_ROW(rows, i, out->i64[i] = arg->i64[i] / MILLIS_PER_DAY;);
    } else if (kind == TYPE_DATE && is_clock_unit(unit) && unit != UNIT_EPOCH) {
        // Flink takes the days of a DATE for milliseconds here.
        EACH_ROW(rows, i, out->i64[i] = extract_from_clock(unit, (struct timestamp){arg->i64[i], 0}););
    } else if (is_clock_unit(unit)) {
        EACH_ROW(rows, i, out->i64[i] = extract_from_clock(unit, wall_clock(ctx, arg, i)););
    } else {
        EACH_ROW(rows, i, out->i64[i] = extract_from_days(unit, wall_clock(ctx, arg, i).ms / MILLIS_PER_DAY););
    }
    return TIDE_OK;
}

static tide_status run_extract(struct eval_context *ctx, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    return extract(ctx, unit_of(call), &args[call->arg_count - 1], rows, out);
}

static bool is_dated(const struct type *type) {
    return tide__type_is_timestamp(type) || type->kind == TYPE_DATE;
}

// Gives `unit` to the call; fails if the value has no such part.
static tide_status infer_extract_unit(struct infer_context *ctx, struct expr *call, enum time_unit unit,
                                      tide_error *err) {
    uint32_t value = call->arg_count - 1;
    if (call->args[value]->type->kind == TYPE_NULL) {
        return tide__infer_fail(ctx, call, err);
    }
    const struct type *type = call->args[value]->type;
    bool interval = tide__type_is_interval(type);
    if (!is_dated(type) && type->kind != TYPE_TIME && !interval) return tide__infer_fail(ctx, call, err);
    bool too_fine = unit == UNIT_MICROSECOND || unit == UNIT_NANOSECOND;
    if ((too_fine && (type->kind == TYPE_TIME || type->kind == TYPE_DATE)) ||
        (interval && type->kind == TYPE_INTERVAL_MILLIS && unit_months(unit) > 0)) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "%s has no %s",
                             tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, type, true)),
                             tide__time_unit_name(unit));
    }
    if (type->kind == TYPE_TIME && (!is_clock_unit(unit) || unit == UNIT_EPOCH)) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->pos, "a TIME has no %s", tide__time_unit_name(unit));
        return tide__fail_hint(err, "a TIME has HOUR, MINUTE, SECOND and MILLISECOND");
    }
    struct unit_plan *plan = ARENA_NEW(ctx->arena, struct unit_plan);
    plan->unit = unit;
    call->prepared = plan;
    tide__infer_result(ctx, call, TYPE_BIGINT, type->nullable);
    return TIDE_OK;
}

static tide_status take_unit(struct infer_context *ctx, struct expr *call, enum time_unit *out, tide_error *err) {
    struct str text;
    if (tide__infer_literal_text(call->args[0], &text) && tide__time_unit_find(text, out)) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[0]->pos, "%s needs a time unit", call->function->name);
    return tide__fail_hint(err, "units are YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND");
}

static tide_status infer_extract(struct infer_context *ctx, struct expr *call, tide_error *err) {
    enum time_unit unit = UNIT_YEAR;
    TIDE_TRY(take_unit(ctx, call, &unit, err));
    return infer_extract_unit(ctx, call, unit, err);
}

#define PART(symbol, unit_)                                                                                            \
    static tide_status infer_##symbol(struct infer_context *ctx, struct expr *call, tide_error *err) {                 \
        return infer_extract_unit(ctx, call, unit_, err);                                                              \
    }
PART(year, UNIT_YEAR)
PART(quarter, UNIT_QUARTER)
PART(month, UNIT_MONTH)
PART(week, UNIT_WEEK)
PART(dayofyear, UNIT_DOY)
PART(dayofmonth, UNIT_DAY)
PART(dayofweek, UNIT_DOW)
PART(hour, UNIT_HOUR)
PART(minute, UNIT_MINUTE)
PART(second, UNIT_SECOND)

// --- FLOOR and CEIL ------------------------------------------------------------------------------------------------

static int64_t round_days(enum time_unit unit, int64_t days, bool up) {
    int64_t year = 0;
    int month = 0, day = 0;
    tide__civil_from_days(days, &year, &month, &day);
    int quarter = (month + 2) / 3;
    int64_t weekday = tide__floor_mod(days + 4, 7);  // 0: Sunday
    switch (unit) {
    case UNIT_MILLENNIUM: return tide__days_from_civil(1000 * ((year + 999) / 1000) + (up ? 1 : -999), 1, 1);
    case UNIT_CENTURY: return tide__days_from_civil(100 * ((year + 99) / 100) + (up ? 1 : -99), 1, 1);
    case UNIT_DECADE: return tide__days_from_civil(10 * (year / 10 + up), 1, 1);
    case UNIT_YEAR: return tide__days_from_civil(year + (up && (month > 1 || day > 1)), 1, 1);
    case UNIT_QUARTER:
        // Flink goes on to the next quarter from the first day of all quarters but the first.
        if (up && (month > 1 || day > 1)) quarter++;
        return quarter > 4 ? tide__days_from_civil(year + 1, 1, 1) : tide__days_from_civil(year, quarter * 3 - 2, 1);
    case UNIT_MONTH:
        if (up && day > 1) month++;
        return month > 12 ? tide__days_from_civil(year + 1, 1, 1) : tide__days_from_civil(year, month, 1);
    case UNIT_WEEK: return up && weekday > 0 ? days + 7 - weekday : days - weekday;
    default: return days;
    }
}

static int64_t round_millis(enum time_unit unit, int64_t ms, bool up) {
    if (unit_months(unit) > 0 || unit == UNIT_WEEK) {
        // Toward zero, as Flink: the last day of 1969 counts as the first of 1970.
        return round_days(unit, ms / MILLIS_PER_DAY, up) * MILLIS_PER_DAY;
    }
    int64_t step = unit_millis(unit), floor = tide__time_floor(ms, 0, step);
    return up && floor < ms ? floor + step : floor;
}

static void round_rows(struct eval_context *ctx, enum time_unit unit, const struct column *arg, struct selection rows,
                       bool up, struct column *out) {
    switch (arg->type->kind) {
    case TYPE_DATE: EACH_ROW(rows, i, out->i64[i] = round_days(unit, arg->i64[i], up);); break;
    case TYPE_TIME: EACH_ROW(rows, i, out->i64[i] = round_millis(unit, arg->i64[i], up);); break;
    default:
        for (size_t nth = 0; nth < rows.n; nth++) {
            size_t i = tide__row_at(rows, nth);
            struct timestamp t = tide__timestamp_at(arg, i);
            struct timestamp local = wall_clock(ctx, arg, i);
            int64_t offset = local.ms - t.ms;
            bool fine = unit == UNIT_MICROSECOND || unit == UNIT_NANOSECOND;
            t.ms = round_millis(unit, local.ms, up) - offset;
            t.nanos = fine ? t.nanos : 0;
            tide__put_timestamp(out, i, t);
        }
        break;
    }
}

static tide_status run_floor_to(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    round_rows(ctx, unit_of(call), &args[1], rows, false, out);
    return TIDE_OK;
}

static tide_status run_ceil_to(struct eval_context *ctx, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    round_rows(ctx, unit_of(call), &args[1], rows, true, out);
    return TIDE_OK;
}

static tide_status set_plan(struct infer_context *ctx, struct expr *call, tide_error *err) {
    struct unit_plan *plan = ARENA_NEW(ctx->arena, struct unit_plan);
    TIDE_TRY(take_unit(ctx, call, &plan->unit, err));
    call->prepared = plan;
    return TIDE_OK;
}

static tide_status infer_round(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(set_plan(ctx, call, err));
    if (call->args[1]->type->kind == TYPE_NULL) {
        return tide__infer_fail(ctx, call, err);
    }
    const struct type *type = call->args[1]->type;
    if (!is_dated(type) && type->kind != TYPE_TIME) return tide__infer_fail(ctx, call, err);
    tide__infer_result_like(ctx, call, type, type->nullable);
    return TIDE_OK;
}

// --- TIMESTAMPADD and TIMESTAMPDIFF --------------------------------------------------------------------------------

static tide_status run_timestampadd(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                    struct selection rows, struct column *out, tide_error *err) {
    enum time_unit unit = unit_of(call);
    int months = unit_months(unit);
    int64_t step = unit_millis(unit);
    const struct column *time = &args[2];
    enum type_kind from = time->type->kind, to = call->type->kind;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int64_t n = args[1].i64[i];
        struct timestamp t = {0, 0};
        if (from == TYPE_TIME) {
            out->i64[i] = tide__floor_mod(time->i64[i] + tide__wrapping_mul(n, step), MILLIS_PER_DAY);
        } else if (to == TYPE_DATE) {
            int64_t days = time->i64[i];
            out->i64[i] = months > 0 ? tide__add_months(days, n * months) : days + n * (step / MILLIS_PER_DAY);
        } else {
            t = from == TYPE_DATE ? (struct timestamp){time->i64[i] * MILLIS_PER_DAY, 0} : tide__timestamp_at(time, i);
            t.ms = months > 0 ? tide__add_months_millis(t.ms, n * months)
                              : tide__wrapping_add(t.ms, tide__wrapping_mul(n, step));
            tide__put_timestamp(out, i, t);
        }
    }
    return TIDE_OK;
}

static tide_status infer_timestampadd(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(set_plan(ctx, call, err));
    enum time_unit unit = unit_of(call);
    bool supported = unit_months(unit) > 0 || unit == UNIT_WEEK || unit == UNIT_DAY ||
                     (unit >= UNIT_HOUR && unit <= UNIT_MILLISECOND);
    if (!supported) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[0]->pos, "TIMESTAMPADD can't add %s",
                             tide__time_unit_name(unit));
    }
    TIDE_TRY(tide__infer_args(ctx, call, "SIA", err));
    if (call->args[2]->type->kind == TYPE_NULL) {
        return tide__infer_fail(ctx, call, err);
    }
    const struct type *type = call->args[2]->type;
    if (!is_dated(type) && type->kind != TYPE_TIME) return tide__infer_fail(ctx, call, err);
    bool nullable = tide__infer_any_nullable(call);
    if (type->kind == TYPE_DATE && unit >= UNIT_HOUR && unit <= UNIT_MILLISECOND) {
        tide__infer_result_sized(ctx, call, TYPE_TIMESTAMP, nullable, 6, 0);
    } else if (unit == UNIT_MILLISECOND && tide__type_is_timestamp(type) && type->precision < 3) {
        tide__infer_result_sized(ctx, call, type->kind, nullable, 3, 0);
    } else {
        tide__infer_result_like(ctx, call, type, nullable);
    }
    return TIDE_OK;
}

static int64_t difference(enum time_unit unit, int64_t from_ms, int64_t to_ms) {
    int months = unit_months(unit);
    if (months > 0) return (int32_t)(tide__months_between(from_ms, to_ms) / months);
    int64_t ms = tide__wrapping_sub(to_ms, from_ms);
    // Flink takes weeks from the seconds as an INT, which wraps after 68 years.
    if (unit == UNIT_WEEK) return (int32_t)(ms / 1000) / (7 * 86400);
    // The parts of a second are those of whole seconds.
    if (unit == UNIT_MILLISECOND) return (int32_t)tide__wrapping_mul(ms / 1000, 1000);
    if (unit == UNIT_MICROSECOND) return (int32_t)tide__wrapping_mul(ms / 1000, 1000000);
    if (unit == UNIT_NANOSECOND) return tide__wrapping_mul(ms / 1000, 1000000000);
    return (int32_t)(ms / unit_millis(unit));
}

static tide_status run_timestampdiff(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                     struct selection rows, struct column *out, tide_error *err) {
    enum time_unit unit = unit_of(call);
    EACH_ROW(rows, i,
             out->i64[i] = difference(unit, wall_clock(ctx, &args[1], i).ms, wall_clock(ctx, &args[2], i).ms););
    return TIDE_OK;
}

static tide_status infer_two_times(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(set_plan(ctx, call, err));
    for (uint32_t i = 1; i < 3; i++) {
        if (call->args[i]->type->kind == TYPE_NULL) {
            return tide__infer_fail(ctx, call, err);
        }
        const struct type *type = call->args[i]->type;
        if (!is_dated(type) && type->kind != TYPE_TIME) return tide__infer_fail(ctx, call, err);
    }
    const struct type *a = call->args[1]->type, *b = call->args[2]->type;
    enum time_unit unit = unit_of(call);
    bool mixed = (a->kind == TYPE_TIMESTAMP_LTZ) != (b->kind == TYPE_TIMESTAMP_LTZ) ||
                 ((a->kind == TYPE_TIME) != (b->kind == TYPE_TIME) && unit_months(unit) == 0) ||
                 (call->function == &tide__fn_minus_date && a->kind != b->kind);
    if (mixed) {
        tide__infer_fail(ctx, call, err);
        return tide__fail_hint(err, "CAST one time to the other's type");
    }
    if (unit_months(unit) > 0 || unit == UNIT_WEEK || unit == UNIT_DAY) return TIDE_OK;
    if (unit >= UNIT_HOUR && unit <= UNIT_NANOSECOND) return TIDE_OK;
    return tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[0]->pos, "%s does not count in %s", call->function->name,
                         tide__time_unit_name(unit));
}

static tide_status infer_timestampdiff(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(infer_two_times(ctx, call, err));
    tide__infer_result(ctx, call, unit_of(call) == UNIT_NANOSECOND ? TYPE_BIGINT : TYPE_INT,
                       tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status run_minus_date(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    bool months = call->type->kind == TYPE_INTERVAL_MONTHS;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int64_t to = wall_clock(ctx, &args[1], i).ms;
        int64_t from = wall_clock(ctx, &args[2], i).ms;
        out->i64[i] = months ? tide__months_between(from, to) : tide__wrapping_sub(to, from);
    }
    return TIDE_OK;
}

static tide_status infer_minus_date(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(infer_two_times(ctx, call, err));
    bool months = unit_months(unit_of(call)) > 0;
    tide__infer_result(ctx, call, months ? TYPE_INTERVAL_MONTHS : TYPE_INTERVAL_MILLIS, tide__infer_any_nullable(call));
    return TIDE_OK;
}

// --- table ---------------------------------------------------------------------------------------------------------

static const struct function_kernel kernel_extract = {.null_if_any = true, .total = true, .run = run_extract};
static const struct function_kernel kernel_floor_to = {.null_if_any = true, .total = true, .run = run_floor_to};
static const struct function_kernel kernel_ceil_to = {.null_if_any = true, .total = true, .run = run_ceil_to};
static const struct function_kernel kernel_timestampadd = {.null_if_any = true, .run = run_timestampadd};
static const struct function_kernel kernel_timestampdiff = {.null_if_any = true, .run = run_timestampdiff};
static const struct function_kernel kernel_minus_date = {.null_if_any = true, .run = run_minus_date};

#define PART_FUNCTION(symbol, sql, summary_, example_, result_)                                                        \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 1,                                                                                                  \
        .arg_max = 1,                                                                                                  \
        .infer = infer_##symbol,                                                                                       \
        .kernel = &kernel_extract,                                                                                     \
        .signature = sql "(date or time)",                                                                             \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
PART_FUNCTION(year, "YEAR", "The year.", "YEAR(DATE '2024-02-29')", "2024");
PART_FUNCTION(quarter, "QUARTER", "The quarter, 1 to 4.", "QUARTER(DATE '2024-02-29')", "1");
PART_FUNCTION(month, "MONTH", "The month, 1 to 12.", "MONTH(DATE '2024-02-29')", "2");
PART_FUNCTION(week, "WEEK", "The ISO week of the year.", "WEEK(DATE '2024-02-29')", "9");
PART_FUNCTION(dayofyear, "DAYOFYEAR", "The day of the year, from 1.", "DAYOFYEAR(DATE '2024-02-29')", "60");
PART_FUNCTION(dayofmonth, "DAYOFMONTH", "The day of the month, from 1.", "DAYOFMONTH(DATE '2024-02-29')", "29");
PART_FUNCTION(dayofweek, "DAYOFWEEK", "The day of the week; Sunday is 1.", "DAYOFWEEK(DATE '2024-02-29')", "5");
PART_FUNCTION(hour, "HOUR", "The hour, 0 to 23.", "HOUR(TIMESTAMP '2024-02-29 12:34:56')", "12");
PART_FUNCTION(minute, "MINUTE", "The minute.", "MINUTE(TIMESTAMP '2024-02-29 12:34:56')", "34");
PART_FUNCTION(second, "SECOND", "The second.", "SECOND(TIMESTAMP '2024-02-29 12:34:56')", "56");
const struct function tide__fn_extract = {
    .name = "EXTRACT",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_extract,
    .kernel = &kernel_extract,
    .signature = "EXTRACT(unit FROM date or time)",
    .summary = "One part of a date or time.",
    .example = "EXTRACT(DAY FROM DATE '2024-02-29')",
    .example_result = "29",
};
const struct function tide__fn_floor_to = {
    .name = "FLOOR_TO",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_round,
    .kernel = &kernel_floor_to,
    .signature = "FLOOR(date or time TO unit)",
    .summary = "Rounds down to a unit.",
    .example = "FLOOR(TIME '12:44:31' TO MINUTE)",
    .example_result = "12:44:00",
};
const struct function tide__fn_ceil_to = {
    .name = "CEIL_TO",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_round,
    .kernel = &kernel_ceil_to,
    .signature = "CEIL(date or time TO unit)",
    .summary = "Rounds up to a unit.",
    .example = "CEIL(TIME '12:44:31' TO MINUTE)",
    .example_result = "12:45:00",
};
const struct function tide__fn_timestampadd = {
    .name = "TIMESTAMPADD",
    .arg_min = 3,
    .arg_max = 3,
    .infer = infer_timestampadd,
    .kernel = &kernel_timestampadd,
    .signature = "TIMESTAMPADD(unit, integer, date or time)",
    .summary = "Moves a time by a number of units.",
    .example = "TIMESTAMPADD(WEEK, 1, DATE '2003-01-02')",
    .example_result = "2003-01-09",
};
const struct function tide__fn_timestampdiff = {
    .name = "TIMESTAMPDIFF",
    .arg_min = 3,
    .arg_max = 3,
    .infer = infer_timestampdiff,
    .kernel = &kernel_timestampdiff,
    .signature = "TIMESTAMPDIFF(unit, date or time, date or time)",
    .summary = "The whole units from the first to the second time.",
    .example = "TIMESTAMPDIFF(DAY, TIMESTAMP '2003-01-02 10:00:00', TIMESTAMP '2003-01-03 10:00:00')",
    .example_result = "1",
};
const struct function tide__fn_minus_date = {
    .name = "MINUS_DATE",
    .arg_min = 3,
    .arg_max = 3,
    .infer = infer_minus_date,
    .kernel = &kernel_minus_date,
    .signature = "(date or time - date or time) unit",
    .summary = "The interval between two times.",
    .example = "(DATE '2020-02-29' - DATE '2020-01-01') MONTH",
    .example_result = "+0-01",
};
