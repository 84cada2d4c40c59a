// Casts between DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ.
//
// Flink divides toward zero where it takes the date or time of a TIMESTAMP or cuts its fraction: 1969-12-31 23:59:59 becomes
// 1970-01-01, and a TIME before 1970 is negative. Scripts must give the same rows here as there, so this does the same.
#include "base/time.h"
#include "base/zone.h"
#include "engine/functions/cast.h"

static int64_t date_of_millis(int64_t ms) {
    return ms / MILLIS_PER_DAY;
}

static int32_t cut_nanos(int32_t nanos, int precision) {
    if (precision >= 9) return nanos;
    if (precision <= 3) return 0;
    int32_t unit = (int32_t)tide__pow10(9 - precision);
    return nanos - nanos % unit;
}

static int64_t cut_millis(int64_t ms, int precision) {
    if (precision >= 3) return ms;
    int64_t unit = (int64_t)tide__pow10(3 - precision);
    return ms / unit * unit;
}

// Between precisions, and between wall clock and instant.
static tide_status timestamp_to_timestamp(struct cast_job *job) {
    const struct type *from = job->in->type, *to = job->out->type;
    bool to_local = from->kind == TYPE_TIMESTAMP_LTZ && to->kind == TYPE_TIMESTAMP;
    bool to_instant = from->kind == TYPE_TIMESTAMP && to->kind == TYPE_TIMESTAMP_LTZ;
    const struct zone *zone = job->ctx->zone;
    for (size_t nth = 0; nth < job->rows.n; nth++) {
        size_t i = tide__row_at(job->rows, nth);
        struct timestamp t = tide__timestamp_at(job->in, i);
        if (to_local) t.ms = tide__zone_to_local(zone, t.ms);
        if (to_instant) t.ms = tide__zone_to_utc(zone, t.ms);
        t.ms = cut_millis(t.ms, to->precision);
        t.nanos = cut_nanos(t.nanos, to->precision);
        tide__put_timestamp(job->out, i, t);
    }
    return TIDE_OK;
}

static int64_t local_millis(const struct cast_job *job, size_t row) {
    return tide__zone_to_local(job->ctx->zone, tide__millis_at(job->in, row));
}

static tide_status timestamp_to_date(struct cast_job *job) {
    EACH_ROW(job->rows, i, job->out->i64[i] = date_of_millis(tide__millis_at(job->in, i)););
    return TIDE_OK;
}

static tide_status instant_to_date(struct cast_job *job) {
    EACH_ROW(job->rows, i, job->out->i64[i] = tide__floor_div(local_millis(job, i), MILLIS_PER_DAY););
    return TIDE_OK;
}

static tide_status timestamp_to_time(struct cast_job *job) {
    int precision = job->out->type->precision;
    EACH_ROW(job->rows, i, job->out->i64[i] = cut_millis(tide__millis_at(job->in, i) % MILLIS_PER_DAY, precision););
    return TIDE_OK;
}

static tide_status instant_to_time(struct cast_job *job) {
    int precision = job->out->type->precision;
    EACH_ROW(job->rows, i,
             job->out->i64[i] = cut_millis(tide__floor_mod(local_millis(job, i), MILLIS_PER_DAY), precision););
    return TIDE_OK;
}

static tide_status date_to_timestamp(struct cast_job *job) {
    bool instant = job->out->type->kind == TYPE_TIMESTAMP_LTZ;
    for (size_t nth = 0; nth < job->rows.n; nth++) {
        size_t i = tide__row_at(job->rows, nth);
        int64_t ms = job->in->i64[i] * MILLIS_PER_DAY;
        if (instant) ms = tide__zone_to_utc(job->ctx->zone, ms);
        tide__put_timestamp(job->out, i, (struct timestamp){ms, 0});
    }
    return TIDE_OK;
}

static tide_status time_to_timestamp(struct cast_job *job) {
    bool instant = job->out->type->kind == TYPE_TIMESTAMP_LTZ;
    for (size_t nth = 0; nth < job->rows.n; nth++) {
        size_t i = tide__row_at(job->rows, nth);
        int64_t ms = job->in->i64[i];
        if (instant) ms = tide__zone_to_utc(job->ctx->zone, ms);
        tide__put_timestamp(job->out, i, (struct timestamp){ms, 0});
    }
    return TIDE_OK;
}

static tide_status time_to_time(struct cast_job *job) {
    EACH_ROW(job->rows, i, job->out->i64[i] = cut_millis(job->in->i64[i], job->out->type->precision););
    return TIDE_OK;
}

cast_run *tide__cast_time(const struct type *from, const struct type *to) {
    if (tide__type_is_timestamp(from)) {
        if (tide__type_is_timestamp(to)) return timestamp_to_timestamp;
        bool instant = from->kind == TYPE_TIMESTAMP_LTZ;
        if (to->kind == TYPE_DATE) return instant ? instant_to_date : timestamp_to_date;
        return instant ? instant_to_time : timestamp_to_time;
    }
    if (from->kind == TYPE_DATE) return tide__type_is_timestamp(to) ? date_to_timestamp : NULL;
    if (to->kind == TYPE_TIME) return time_to_time;
    return tide__type_is_timestamp(to) ? time_to_timestamp : NULL;
}
