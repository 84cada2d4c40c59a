// What changes by itself: the current time and the current watermark.
#include "base/time.h"
#include "base/zone.h"
#include "engine/expr/kernel.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"

static tide_status run_now(struct eval_context *ctx, const struct expr *call, const struct column *args,
                           struct selection rows, struct column *out, tide_error *err) {
    int64_t instant = tide__eval_now(ctx), local = tide__zone_to_local(ctx->zone, instant), v = instant;
    switch (call->type->kind) {
    case TYPE_DATE: v = tide__floor_div(local, MILLIS_PER_DAY); break;
    case TYPE_TIME: v = tide__time_floor(tide__floor_mod(local, MILLIS_PER_DAY), 0, 1000); break;
    case TYPE_TIMESTAMP: v = local; break;
    default: break;
    }
    EACH_ROW(rows, i, out->i64[i] = v;);
    return TIDE_OK;
}

static tide_status run_watermark(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    bool none = ctx->watermark == WATERMARK_NONE;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        if (none) {
            tide__put_null(out, i);
        } else {
            out->i64[i] = ctx->watermark;
        }
    }
    return TIDE_OK;
}

#define NOW(symbol, kind, precision)                                                                                   \
    static tide_status infer_##symbol(struct infer_context *ctx, struct expr *call, tide_error *err) {                 \
        tide__infer_result_sized(ctx, call, kind, false, precision, 0);                                                \
        return TIDE_OK;                                                                                                \
    }
NOW(instant, TYPE_TIMESTAMP_LTZ, 3)
NOW(local, TYPE_TIMESTAMP, 3)
NOW(date, TYPE_DATE, 0)
NOW(time, TYPE_TIME, 0)

static tide_status infer_proctime(struct infer_context *ctx, struct expr *call, tide_error *err) {
    struct type type = tide__type_make_sized(TYPE_TIMESTAMP_LTZ, false, 3, 0);
    type.time_attribute = TIME_ATTRIBUTE_PROCTIME;
    call->type = tide__type_copy(ctx->arena, &type);
    return TIDE_OK;
}

static tide_status infer_watermark(struct infer_context *ctx, struct expr *call, tide_error *err) {
    const struct type *type = call->args[0]->type;
    if (type->time_attribute != TIME_ATTRIBUTE_ROWTIME) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[0]->pos,
                      "CURRENT_WATERMARK needs an event time attribute, not %s",
                      tide__type_text(ctx->arena, tide__type_with_nullable(ctx->arena, type, true)));
        return tide__fail_hint(err, "give it the column of WATERMARK FOR, unchanged");
    }
    tide__infer_result_sized(ctx, call, type->kind, true, 3, 0);
    return TIDE_OK;
}

static const struct function_kernel kernel_now = {.null_if_any = true, .total = true, .run = run_now};
static const struct function_kernel kernel_watermark = {.total = true, .run = run_watermark};

#define NOW_FUNCTION(symbol, sql, infer_, summary_, example_, result_)                                                 \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .nondeterministic = true,                                                                                      \
        .infer = infer_,                                                                                               \
        .kernel = &kernel_now,                                                                                         \
        .signature = sql,                                                                                              \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
NOW_FUNCTION(current_timestamp, "CURRENT_TIMESTAMP", infer_instant, "Now.", "CURRENT_TIMESTAMP IS NULL", "FALSE");
NOW_FUNCTION(current_row_timestamp, "CURRENT_ROW_TIMESTAMP", infer_instant, "Now, when the row is read.",
             "CURRENT_ROW_TIMESTAMP() IS NULL", "FALSE");
NOW_FUNCTION(now, "NOW", infer_instant, "Now.", "NOW() IS NULL", "FALSE");
NOW_FUNCTION(localtimestamp, "LOCALTIMESTAMP", infer_local, "Now in the session time zone.", "LOCALTIMESTAMP IS NULL",
             "FALSE");
NOW_FUNCTION(current_date, "CURRENT_DATE", infer_date, "Today in the session time zone.", "CURRENT_DATE IS NULL",
             "FALSE");
NOW_FUNCTION(current_time, "CURRENT_TIME", infer_time, "The time of day in the session time zone.",
             "CURRENT_TIME IS NULL", "FALSE");
NOW_FUNCTION(localtime, "LOCALTIME", infer_time, "The time of day in the session time zone.", "LOCALTIME IS NULL",
             "FALSE");
NOW_FUNCTION(proctime, "PROCTIME", infer_proctime, "A processing time attribute.", "PROCTIME() IS NULL", "FALSE");
const struct function tide__fn_current_watermark = {
    .name = "CURRENT_WATERMARK",
    .arg_min = 1,
    .arg_max = 1,
    .nondeterministic = true,
    .infer = infer_watermark,
    .kernel = &kernel_watermark,
    .signature = "CURRENT_WATERMARK(event time attribute)",
    .summary = "The watermark before this row; NULL at first.",
    .example = "CURRENT_WATERMARK(ts)",
    .example_result = "2024-01-01 00:00:00.000",
};
