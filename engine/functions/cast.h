// CAST's parts: cast.c holds the matrix and the calls, cast_text.c reads strings, cast_number.c converts numbers,
// cast_time.c dates and times, cast_nested.c arrays, maps and rows.
#ifndef TIDE_ENGINE_FUNCTIONS_CAST_H
#define TIDE_ENGINE_FUNCTIONS_CAST_H

#include "engine/expr/kernel.h"
#include "engine/functions/functions.h"

struct cast_job {
    struct eval_context *ctx;
    const struct expr *call;
    const struct column *in;
    struct selection rows;
    struct column *out;
    tide_error *err;
    bool is_try;
};
typedef tide_status cast_run(struct cast_job *job);

// What a CAST call has in `prepared`. run NULL: the value stays as it is.
struct cast_plan {
    cast_run *run;
    bool is_try;
    bool total;
};

// A value can't be converted: NULL if the job is a TRY_CAST, else an error that shows it.
tide_status tide__cast_failed(struct cast_job *job, size_t row) TIDE_CHECKED;

// False: there is no such cast. *out NULL: the value stays as it is.
bool tide__cast_find(const struct type *from, const struct type *to, cast_run **out);
// NULL: there is no such cast.
cast_run *tide__cast_from_text(const struct type *to);
cast_run *tide__cast_to_text(const struct type *from, const struct type *to);
cast_run *tide__cast_number(const struct type *from, const struct type *to);
cast_run *tide__cast_time(const struct type *from, const struct type *to);
cast_run *tide__cast_nested(const struct type *from, const struct type *to);

// Readers of text, also used by TO_TIMESTAMP and friends. False: not one.
bool tide__text_to_integer(struct str text, int64_t *out);
bool tide__text_to_boolean(struct str text, bool *out);
bool tide__text_to_double(struct str text, double *out);
bool tide__text_to_date(struct str text, int64_t *out_days);
bool tide__text_to_time(struct str text, int64_t *out_ms);
bool tide__text_to_timestamp(struct str text, int precision, struct timestamp *out);

#endif
