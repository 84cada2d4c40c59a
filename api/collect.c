// The rows of a SELECT on their way to the caller: each value as Flink's client displays it.
#include "api/job.h"
#include "engine/expr/eval.h"

static const char *const row_ops[] = {"+I", "-U", "+U", "-D"};

tide_status tide__api_collect(void *ctx, const struct plan_node *sink, const struct batch *batch, tide_error *err) {
    (void)sink;
    struct job *job = ctx;
    const tide_handler *handler = job->run->handler;
    if (handler == NULL || handler->on_row == NULL) return TIDE_OK;
    const struct zone *zone = job->plan->settings.zone;
    for (size_t row = 0; row < batch->rows; row++) {
        for (size_t c = 0; c < batch->column_count; c++) {
            if (tide__column_is_null(&batch->columns[c], row)) {
                job->values[c] = (tide_text){NULL, 0};
                continue;
            }
            tide__strbuf_clear(&job->texts[c]);
            tide__value_display_in_zone(&batch->columns[c], row, zone, &job->texts[c]);
            job->values[c] = (tide_text){job->texts[c].data, job->texts[c].len};
        }
        const char *op = row_ops[batch->kinds != NULL ? batch->kinds[row] : ROW_INSERT];
        if (!handler->on_row(handler->ctx, op, job->values, batch->column_count))
            return tide__fail(err, TIDE_ERR_IO, "the output can't be written");
    }
    return TIDE_OK;
}
