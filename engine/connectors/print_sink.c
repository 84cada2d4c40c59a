// 'connector' = 'print': rows to standard output as Flink's print sink shows them, `+I[1, a, 2024-01-01T00:00]`.
//
// Values are in the notation of Java's toString, which is not the one of query results: times have a T and drop seconds
// that are zero, booleans are lower case, NULL is `null`. Rows are shown once they come; there is nothing to commit.
#include "base/alloc.h"
#include "base/decimal.h"
#include "base/time.h"
#include "engine/connectors/sinks.h"
#include "engine/expr/eval.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct print_sink {
    struct sink base;
    FILE *stream;
    uint32_t field_count;
    int32_t *inputs;   // the input's column of each field, -1: none
    char *identifier;  // NULL: none
    struct strbuf text;
};

tide_status tide__print_validate(const struct table *table, tide_error *err) {
    const struct option *option = tide__table_option(table, "standard-error");
    if (option == NULL || tide__str_ieq_c(option->value, "true") || tide__str_ieq_c(option->value, "false"))
        return TIDE_OK;
    return tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos,
                         "option 'standard-error' must be 'true' or 'false', not '%.*s'", STR_ARG(option->value));
}

static tide_status print_open(const struct sink_env *env, struct sink **out, tide_error *err) {
    *out = NULL;
    const struct table *table = env->node->sink.table;
    TIDE_TRY(tide__print_validate(table, err));
    struct print_sink *sink = tide__calloc(1, sizeof(*sink));
    sink->base.class = &tide__print_sink;
    const struct option *to_stderr = tide__table_option(table, "standard-error");
    sink->stream = to_stderr != NULL && tide__str_ieq_c(to_stderr->value, "true") ? stderr : stdout;
    const struct option *identifier = tide__table_option(table, "print-identifier");
    if (identifier != NULL) sink->identifier = tide__strndup(identifier->value.data, identifier->value.len);
    sink->inputs = tide__calloc(table->column_count + 1, sizeof(*sink->inputs));
    uint32_t inputs = env->node->input_count > 0 ? env->node->inputs[0]->field_count : env->node->field_count;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind != TABLE_COLUMN_PHYSICAL) continue;
        int32_t input = -1;
        for (uint32_t c = 0; c < inputs; c++) {
            if (env->node->sink.columns[c] == i) input = (int32_t)c;
        }
        sink->inputs[sink->field_count++] = input;
    }
    *out = &sink->base;
    return TIDE_OK;
}

// Java prints the fraction in groups of three digits, and no seconds if all behind the minutes is zero.
static void print_clock(int64_t ms_of_day, int32_t nanos, bool always_seconds, struct strbuf *out) {
    int seconds = (int)(ms_of_day / 1000), ms = (int)(ms_of_day % 1000);
    tide__strbuf_printf(out, "%02d:%02d", seconds / 3600, seconds / 60 % 60);
    if (!always_seconds && seconds % 60 == 0 && ms == 0 && nanos == 0) return;
    tide__strbuf_printf(out, ":%02d", seconds % 60);
    if (ms == 0 && nanos == 0) return;
    tide__strbuf_printf(out, ".%03d", ms);
    if (nanos == 0) return;
    if (nanos % 1000 == 0) {
        tide__strbuf_printf(out, "%03d", nanos / 1000);
    } else {
        tide__strbuf_printf(out, "%06d", nanos);
    }
}

static void print_time(const struct column *column, size_t row, bool instant, struct strbuf *out) {
    struct timestamp time = {0};
    if (column->physical == PHYSICAL_TIME) {
        time = column->time[row];
    } else {
        time.ms = column->i64[row];
    }
    tide__date_print(tide__floor_div(time.ms, MILLIS_PER_DAY), out);
    tide__strbuf_append_char(out, 'T');
    print_clock(tide__floor_mod(time.ms, MILLIS_PER_DAY), time.nanos, instant, out);
    if (instant) tide__strbuf_append_char(out, 'Z');
}

static void print_value(const struct column *column, size_t row, struct strbuf *out) {
    if (tide__column_is_null(column, row)) {
        tide__strbuf_append_c(out, "null");
        return;
    }
    switch (column->type->kind) {
    case TYPE_BOOLEAN: tide__strbuf_append_c(out, column->bools[row] ? "true" : "false"); return;
    case TYPE_TIME: print_clock(column->i64[row], 0, false, out); return;
    case TYPE_TIMESTAMP: print_time(column, row, false, out); return;
    case TYPE_TIMESTAMP_LTZ: print_time(column, row, true, out); return;
    case TYPE_BINARY:
    case TYPE_VARBINARY:
        tide__strbuf_append_char(out, '[');
        for (size_t i = 0; i < column->str[row].len; i++) {
            tide__strbuf_printf(out, "%s%d", i > 0 ? ", " : "", (signed char)column->str[row].data[i]);
        }
        tide__strbuf_append_char(out, ']');
        return;
    default: tide__value_display(column, row, out);
    }
}

static tide_status print_write(struct sink *base, const struct batch *batch, tide_error *err) {
    static const char *const kinds[] = {"+I", "-U", "+U", "-D"};
    struct print_sink *sink = (struct print_sink *)base;
    tide__strbuf_clear(&sink->text);
    for (size_t row = 0; row < batch->rows; row++) {
        if (sink->identifier != NULL && sink->identifier[0] != '\0') {
            tide__strbuf_printf(&sink->text, "%s> ", sink->identifier);
        }
        tide__strbuf_printf(&sink->text, "%s[", kinds[batch->kinds != NULL ? batch->kinds[row] : ROW_INSERT]);
        for (uint32_t i = 0; i < sink->field_count; i++) {
            if (i > 0) tide__strbuf_append_c(&sink->text, ", ");
            if (sink->inputs[i] >= 0) {
                print_value(&batch->columns[sink->inputs[i]], row, &sink->text);
            } else {
                tide__strbuf_append_c(&sink->text, "null");
            }
        }
        tide__strbuf_append_c(&sink->text, "]\n");
    }
    if (fwrite(sink->text.data, 1, sink->text.len, sink->stream) != sink->text.len) {
        return tide__fail_errno(err, errno, "can't print");
    }
    return TIDE_OK;
}

static tide_status print_flush(struct print_sink *sink, tide_error *err) {
    return fflush(sink->stream) == 0 ? TIDE_OK : tide__fail_errno(err, errno, "can't print");
}

static tide_status print_prepare(struct sink *base, struct strbuf *out, tide_error *err) {
    return print_flush((struct print_sink *)base, err);
}

static tide_status print_commit(struct sink *base, struct str prepared, tide_error *err) {
    return TIDE_OK;
}

static tide_status print_finish(struct sink *base, tide_error *err) {
    return print_flush((struct print_sink *)base, err);
}

static void print_close(struct sink *base) {
    struct print_sink *sink = (struct print_sink *)base;
    fflush(sink->stream);
    tide__strbuf_deinit(&sink->text);
    tide__free(sink->identifier);
    tide__free(sink->inputs);
    tide__free(sink);
}

const struct sink_class tide__print_sink = {
    .connector = "print",
    .open = print_open,
    .write = print_write,
    .prepare = print_prepare,
    .commit = print_commit,
    .restore = print_commit,
    .finish = print_finish,
    .close = print_close,
};
