// TUMBLE, HOP and CUMULATE as table functions: each row once for each of its windows, with window_start, window_end and
// window_time behind its own columns. Stateless: rows keep their order, late ones pass (but for `drops_late`). HOP gives the latest window first,
// CUMULATE the shortest; a HOP whose slide is larger than its size leaves rows out.
#include "engine/operators/window.h"
#include "engine/operators/window_assign.h"

#include "base/alloc.h"

#include <assert.h>

struct window_tvf {
    struct window_operator base;
    const struct window *window;
    const struct plan_window_tvf *plan;
    struct late_sink *late;
    struct window_cut cut;
    size_t batch_rows_max;
    bool skip_null_time;
    struct arena scratch;  // one call
    struct arena output;   // one emitted batch
    // The batch being put together.
    uint32_t *rows;
    int64_t *starts, *ends;
    size_t count;
    int64_t now;  // processing time
};

static struct column *bounds_columns(struct window_tvf *tvf, size_t n, struct column *columns) {
    const struct plan_node *node = tvf->base.base.node;
    uint32_t first = node->field_count - 3;
    for (uint32_t i = 0; i < 3; i++)
        tide__column_init(&columns[first + i], node->fields[first + i].type, n, false, &tvf->output);
    return columns + first;
}

static void set_time(struct column *column, size_t row, int64_t ms) {
    if (column->physical == PHYSICAL_TIME) {
        column->time[row] = (struct timestamp){ms, 0};
    } else {
        column->i64[row] = ms;
    }
}

// Emits the rows collected so far.
static tide_status flush(struct window_tvf *tvf, const struct batch *batch, struct emitter *out, tide_error *err) {
    size_t n = tvf->count;
    if (n == 0) return TIDE_OK;
    tvf->count = 0;
    tide__arena_reset(&tvf->output);
    const struct plan_node *node = tvf->base.base.node;
    struct batch result = {.rows = n, .column_count = node->field_count};
    assert(result.column_count == batch->column_count + 3);
    result.columns = ARENA_ARRAY(&tvf->output, struct column, result.column_count);
    // A TUMBLE that takes all rows passes the columns on.
    bool same = n == batch->rows && tvf->cut.kind == WINDOW_TUMBLE;
    if (same) {
        for (size_t i = 0; i < batch->column_count; i++) result.columns[i] = batch->columns[i];
        result.kinds = batch->kinds;
    } else {
        struct batch gathered = tide__batch_gather(batch, tvf->rows, n, &tvf->output);
        for (size_t i = 0; i < batch->column_count; i++) result.columns[i] = gathered.columns[i];
        result.kinds = gathered.kinds;
    }
    struct column *bounds = bounds_columns(tvf, n, result.columns);
    for (size_t i = 0; i < n; i++) {
        set_time(&bounds[0], i, tvf->starts[i]);
        set_time(&bounds[1], i, tvf->ends[i]);
        set_time(&bounds[2], i, tvf->window->proctime ? tvf->now : tide__window_time(&tvf->cut, tvf->ends[i]));
    }
    return tide__emit(out, &result, err);
}

static bool has_ended(const struct window_tvf *tvf, int64_t end) {
    int64_t lateness = tvf->plan->lateness_ms;
    return tvf->plan->drops_late && tvf->base.base.watermark != WATERMARK_NONE &&
           tide__window_time(&tvf->cut, end) <= tvf->base.base.watermark - lateness;
}

static tide_status put(struct window_tvf *tvf, const struct batch *batch, size_t row, int64_t start, int64_t end,
                       struct emitter *out, tide_error *err) {
    if (has_ended(tvf, end)) return TIDE_OK;
    if (tvf->count == tvf->batch_rows_max) TIDE_TRY(flush(tvf, batch, out, err));
    tvf->rows[tvf->count] = (uint32_t)row;
    tvf->starts[tvf->count] = start;
    tvf->ends[tvf->count] = end;
    tvf->count++;
    return TIDE_OK;
}

static tide_status put_windows(struct window_tvf *tvf, const struct batch *batch, size_t row, int64_t local,
                               struct emitter *out, tide_error *err) {
    const struct window_cut *cut = &tvf->cut;
    struct slice_bounds bounds = tide__window_slice(cut, local);
    if (cut->kind == WINDOW_TUMBLE) return put(tvf, batch, row, bounds.start, bounds.end, out, err);
    if (cut->kind == WINDOW_CUMULATE) {
        int64_t start = tide__window_start(cut, bounds.start, bounds.end);
        for (int64_t end = bounds.end; end <= bounds.last_end; end += cut->slide)
            TIDE_TRY(put(tvf, batch, row, start, end, out, err));
        return TIDE_OK;
    }
    for (int64_t end = bounds.last_end; end >= bounds.first_end; end -= cut->slide)
        TIDE_TRY(put(tvf, batch, row, end - cut->size, end, out, err));
    return TIDE_OK;
}

static tide_status on_batch(struct operator *op, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct window_tvf *tvf = (struct window_tvf *)(void *)op;
    if (batch->rows == 0) return TIDE_OK;
    tide__arena_reset(&tvf->scratch);
    const struct column *column = &batch->columns[tvf->window->time_column];
    const int64_t *times = tide__window_times(column, batch->rows, &tvf->scratch);
    if (tvf->window->proctime) tvf->now = tide__window_clock();
    for (size_t i = 0; i < batch->rows; i++) {
        if (!tvf->window->proctime && tide__column_is_null(column, i)) {
            if (tvf->skip_null_time) continue;
            tide__fail_at(err, TIDE_ERR_RUNTIME, tvf->window->pos, "the time attribute of a row is NULL");
            return tide__fail_hint(err,
                                   "filter such rows out before the window, or give the column a default in a view");
        }
        int64_t local = tide__window_local(&tvf->cut, tvf->window->proctime ? tvf->now : times[i]);
        struct slice_bounds bounds = tide__window_slice(&tvf->cut, local);
        if (has_ended(tvf, bounds.last_end)) {
            tide__late_row(op, tvf->late, batch, i, bounds.start, bounds.last_end);
            continue;
        }
        TIDE_TRY(put_windows(tvf, batch, i, local, out, err));
    }
    return flush(tvf, batch, out, err);
}

static void close_operator(struct operator *op) {
    struct window_tvf *tvf = (struct window_tvf *)(void *)op;
    tide__arena_deinit(&tvf->scratch);
    tide__arena_deinit(&tvf->output);
    tide__free(tvf->rows);
    tide__free(tvf->starts);
    tide__free(tvf->ends);
    tide__free(tvf);
}

// Where late rows are dropped, each watermark may end a window.
static int64_t next_trigger(const struct operator *op, int64_t earliest) {
    (void)earliest;
    const struct window_tvf *tvf = (const struct window_tvf *)(const void *)op;
    if (!tvf->plan->drops_late || op->watermark == WATERMARK_END) return WATERMARK_END;
    return op->watermark == WATERMARK_NONE ? WATERMARK_NONE + 1 : op->watermark + 1;
}

static const struct operator_class stateless_class = {
    .kind = PLAN_WINDOW_TVF,
    .on_batch = on_batch,
    .next_trigger = next_trigger,
    .close = close_operator,
};

tide_status tide__window_tvf_open(const struct operator_env *env, struct operator** out, tide_error *err) {
    const struct window *window = &env->node->window_tvf.window;
    if (window->kind == WINDOW_SESSION) return tide__session_tvf_open(env, out, err);
    struct window_tvf *tvf = tide__calloc(1, sizeof *tvf);
    tvf->base.class = &stateless_class;
    tvf->base.base.node = env->node;
    tvf->window = window;
    tvf->plan = &env->node->window_tvf;
    tvf->late = env->late;
    tvf->cut = tide__window_cut(window, env->plan->settings.zone);
    tvf->batch_rows_max = env->batch_rows_max;
    tvf->skip_null_time = env->plan->settings.batch_mode;
    tvf->rows = tide__realloc_array(NULL, tvf->batch_rows_max, sizeof *tvf->rows);
    tvf->starts = tide__realloc_array(NULL, tvf->batch_rows_max, sizeof *tvf->starts);
    tvf->ends = tide__realloc_array(NULL, tvf->batch_rows_max, sizeof *tvf->ends);
    tide__arena_init(&tvf->scratch);
    tide__arena_init(&tvf->output);
    *out = &tvf->base.base;
    return TIDE_OK;
}
