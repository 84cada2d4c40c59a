// Casts between numbers, and from and to BOOLEAN and INTERVAL. Integers wrap, doubles saturate as in Java, a
// DECIMAL that does not fit its type is NULL.
#include "engine/functions/cast.h"

#include <math.h>

// Java's (long) d.
static int64_t long_of_double(double d) {
    if (isnan(d)) return 0;
    if (d >= 9223372036854775808.0) return INT64_MAX;
    if (d <= -9223372036854775808.0) return INT64_MIN;
    return (int64_t)d;
}

// Java's (int) d, which (byte) and (short) go through.
static int64_t int_of_double(double d) {
    int64_t v = long_of_double(d);
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

static tide_status integer_to_integer(struct cast_job *job) {
    enum type_kind kind = job->out->type->kind;
    const int64_t *in = job->in->i64;
    int64_t *out = job->out->i64;
    EACH_ROW(job->rows, i, out[i] = tide__wrap_integer(kind, in[i]););
    return TIDE_OK;
}

static tide_status double_to_integer(struct cast_job *job) {
    enum type_kind kind = job->out->type->kind;
    EACH_ROW(job->rows, i, double d = job->in->f64[i];
             job->out->i64[i] = kind == TYPE_BIGINT ? long_of_double(d) : tide__wrap_integer(kind, int_of_double(d)););
    return TIDE_OK;
}

static tide_status decimal_to_integer(struct cast_job *job) {
    enum type_kind kind = job->out->type->kind;
    int128 unit = tide__pow10(job->in->type->scale);
    EACH_ROW(job->rows, i,
             job->out->i64[i] = tide__wrap_integer(kind, (int64_t)(tide__decimal_at(job->in, i) / unit)););
    return TIDE_OK;
}

static tide_status boolean_to_integer(struct cast_job *job) {
    EACH_ROW(job->rows, i, job->out->i64[i] = job->in->bools[i];);
    return TIDE_OK;
}

static tide_status number_to_double(struct cast_job *job) {
    bool is_float = job->out->type->kind == TYPE_FLOAT;
    EACH_ROW(job->rows, i, double d = tide__double_at(job->in, i); job->out->f64[i] = is_float ? (float)d : d;);
    return TIDE_OK;
}

static tide_status boolean_to_double(struct cast_job *job) {
    EACH_ROW(job->rows, i, job->out->f64[i] = job->in->bools[i];);
    return TIDE_OK;
}

static tide_status boolean_to_decimal(struct cast_job *job) {
    int128 one = tide__pow10(job->out->type->scale);
    EACH_ROW(job->rows, i, tide__put_decimal(job->out, i, job->in->bools[i] ? one : 0););
    return TIDE_OK;
}

static tide_status number_to_decimal(struct cast_job *job) {
    int from = tide__decimal_scale(job->in->type), to = job->out->type->scale;
    for (size_t nth = 0; nth < job->rows.n; nth++) {
        size_t i = tide__row_at(job->rows, nth);
        int128 v = 0;
        if (tide__decimal_rescale(tide__decimal_at(job->in, i), from, to, &v)) {
            tide__put_decimal(job->out, i, v);
        } else {
            tide__put_null(job->out, i);
        }
    }
    return TIDE_OK;
}

static tide_status double_to_decimal(struct cast_job *job) {
    const struct type *type = job->out->type;
    for (size_t nth = 0; nth < job->rows.n; nth++) {
        size_t i = tide__row_at(job->rows, nth);
        int128 v = 0;
        if (tide__decimal_from_double(job->in->f64[i], type->precision, type->scale, &v)) {
            tide__put_decimal(job->out, i, v);
        } else {
            tide__put_null(job->out, i);
        }
    }
    return TIDE_OK;
}

static tide_status number_to_boolean(struct cast_job *job) {
    if (job->in->physical == PHYSICAL_F64) {
        EACH_ROW(job->rows, i, job->out->bools[i] = job->in->f64[i] != 0;);
    } else {
        EACH_ROW(job->rows, i, job->out->bools[i] = tide__decimal_at(job->in, i) != 0;);
    }
    return TIDE_OK;
}

static bool is_float(const struct type *type) {
    return type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE;
}

cast_run *tide__cast_number(const struct type *from, const struct type *to) {
    bool from_number = tide__type_is_numeric(from), from_boolean = from->kind == TYPE_BOOLEAN;
    if (!from_number && !from_boolean) {
        bool plain = (tide__type_is_interval(from) && tide__type_is_integer(to)) ||
                     (tide__type_is_integer(from) && tide__type_is_interval(to));
        return plain ? integer_to_integer : NULL;
    }
    if (to->kind == TYPE_BOOLEAN) return from_number ? number_to_boolean : NULL;
    if (tide__type_is_integer(to)) {
        if (from_boolean) return boolean_to_integer;
        if (is_float(from)) return double_to_integer;
        return from->kind == TYPE_DECIMAL ? decimal_to_integer : integer_to_integer;
    }
    if (is_float(to)) return from_boolean ? boolean_to_double : number_to_double;
    if (to->kind == TYPE_DECIMAL) {
        if (from_boolean) return boolean_to_decimal;
        return is_float(from) ? double_to_decimal : number_to_decimal;
    }
    if (tide__type_is_interval(to) && tide__type_is_integer(from)) return integer_to_integer;
    return NULL;
}
