#include "fake_driver.h"

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(tide_status status, const tide_error *err) {
    if (status == TIDE_OK) return;
    fprintf(stderr, "unexpected failure: %s (%s)\n", err->message, err->hint);
    abort();
}

// --- the part of the real driver that operators call ----------------------------------------------------------------

static void print_value(const struct column *column, size_t row, struct strbuf *out) {
    if (tide__column_is_null(column, row)) {
        tide__strbuf_append_c(out, "NULL");
        return;
    }
    switch (column->physical) {
    case PHYSICAL_BOOL: tide__strbuf_append_c(out, column->bools[row] ? "TRUE" : "FALSE"); break;
    case PHYSICAL_I64: tide__strbuf_printf(out, "%lld", (long long)column->i64[row]); break;
    case PHYSICAL_F64: tide__strbuf_printf(out, "%a", column->f64[row]); break;
    case PHYSICAL_I128: tide__decimal_print(column->i128[row], column->type->scale, out); break;
    case PHYSICAL_STR: tide__strbuf_append_str(out, column->str[row]); break;
    case PHYSICAL_TIME:
        tide__strbuf_printf(out, "%lld+%d", (long long)column->time[row].ms, (int)column->time[row].nanos);
        break;
    }
}

tide_status tide__emit(struct emitter *out, const struct batch *batch, tide_error *err) {
    out->rows += batch->rows;
    if (out->next != NULL) return out->next->class->on_batch(out->next, 0, batch, out->next_out, err);
    if (out->silent) return TIDE_OK;
    for (size_t i = 0; i < batch->rows; i++) {
        for (size_t c = 0; c < batch->column_count; c++) {
            if (c > 0) tide__strbuf_append_char(&out->text, '|');
            print_value(&batch->columns[c], i, &out->text);
        }
        tide__strbuf_append_char(&out->text, '\n');
    }
    return TIDE_OK;
}

void tide__late_row(struct operator *op, struct late_sink *late, const struct batch *batch, size_t row,
                    int64_t window_start, int64_t window_end) {
    (void)late, (void)batch, (void)row, (void)window_start, (void)window_end;
    op->stats.late_rows++;
}

// --- plans ----------------------------------------------------------------------------------------------------------

static const struct type *make_type(struct fake *fake, enum fake_column column) {
    struct type type = {0};
    switch (column) {
    case FAKE_K: type = tide__type_make(TYPE_BIGINT, true); break;
    case FAKE_S: type = tide__type_make(TYPE_VARCHAR, true); break;
    case FAKE_V: type = tide__type_make(TYPE_INT, true); break;
    case FAKE_W: type = tide__type_make(TYPE_DOUBLE, true); break;
    case FAKE_F: type = tide__type_make(TYPE_FLOAT, true); break;
    case FAKE_D: type = tide__type_make_sized(TYPE_DECIMAL, true, 10, 2); break;
    case FAKE_WIDE: type = tide__type_make_sized(TYPE_DECIMAL, true, 38, 0); break;
    case FAKE_B: type = tide__type_make(TYPE_BOOLEAN, true); break;
    case FAKE_T6: type = tide__type_make_sized(TYPE_TIMESTAMP, true, 6, 0); break;
    case FAKE_TS: type = tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0); break;
    case FAKE_START:
    case FAKE_END: type = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0); break;
    case FAKE_COLUMNS: abort();
    }
    return tide__type_copy(&fake->arena, &type);
}

static const struct type *column_type(const struct fake *fake, enum fake_column column) {
    return fake->types[column];
}

void fake_init(struct fake *fake, enum state_backend backend, const char *dir) {
    memset(fake, 0, sizeof *fake);
    tide__arena_init(&fake->arena);
    fake->plan.arena = &fake->arena;
    fake->budget.limit = SIZE_MAX;
    fake->backend = backend;
    fake->dir = dir;
    fake->batch_rows_max = 5;
    for (int i = 0; i < FAKE_COLUMNS; i++) fake->types[i] = make_type(fake, (enum fake_column)i);
}

static void bind_aggregate(struct fake *fake, const struct fake_aggregate *from, struct aggregate_call *call) {
    *call = (struct aggregate_call){.filter = from->filter, .distinct = from->distinct, .parameter = {.is_null = true}};
    call->aggregate = tide__aggregate_find(tide__str(from->name));
    call->name = tide__arena_printf(&fake->arena, "%s(%d)", from->name, from->column);
    struct expr arg = {0};
    const struct expr *args[1] = {&arg};
    if (from->column >= 0) {
        call->arg_count = 1;
        call->args[0] = (uint32_t)from->column;
        call->arg_types[0] = arg.type = column_type(fake, (enum fake_column)from->column);
    }
    if (from->separator != NULL) call->parameter = (struct value){.str = tide__str(from->separator)};
    struct infer_context ctx = {.arena = &fake->arena};
    tide_error err;
    tide__error_clear(&err);
    must(call->aggregate->infer(&ctx, call, args, &err), &err);
}

void fake_window_aggregate(struct fake *fake, struct window window, const int *keys,
                           const struct fake_aggregate *aggregates) {
    struct plan_window_aggregate *plan = &fake->node.window_aggregate;
    fake->node.kind = PLAN_WINDOW_AGGREGATE;
    fake->node.operator_id = "window-aggregate-1";
    window.time_column = FAKE_TS;
    plan->window = window;
    plan->start_column = FAKE_START;
    plan->end_column = FAKE_END;
    while (keys[plan->key_count] >= 0) plan->key_count++;
    while (aggregates[plan->aggregate_count].name != NULL) plan->aggregate_count++;
    plan->keys = ARENA_ARRAY(&fake->arena, uint32_t, plan->key_count);
    plan->aggregates = ARENA_ARRAY(&fake->arena, struct aggregate_call, plan->aggregate_count);
    plan->property_count = 3;
    plan->properties = ARENA_ARRAY(&fake->arena, enum window_property, 3);
    plan->properties[1] = WINDOW_PROPERTY_END;
    plan->properties[2] = WINDOW_PROPERTY_TIME;
    fake->node.field_count = plan->key_count + plan->aggregate_count + 3;
    struct plan_field *field = fake->node.fields = ARENA_ARRAY(&fake->arena, struct plan_field, fake->node.field_count);
    for (uint32_t i = 0; i < plan->key_count; i++, field++) {
        plan->keys[i] = (uint32_t)keys[i];
        *field = (struct plan_field){"key", column_type(fake, (enum fake_column)keys[i])};
    }
    for (uint32_t i = 0; i < plan->aggregate_count; i++, field++) {
        bind_aggregate(fake, &aggregates[i], &plan->aggregates[i]);
        *field = (struct plan_field){plan->aggregates[i].name, plan->aggregates[i].type};
    }
    for (uint32_t i = 0; i < 3; i++, field++) *field = (struct plan_field){"bound", column_type(fake, FAKE_START)};
}

void fake_top(struct fake *fake, struct sort_key *sorts, uint32_t sort_count, int64_t first, int64_t last) {
    const struct plan_window_aggregate *below = &fake->node.window_aggregate;
    uint32_t bounds = below->key_count + below->aggregate_count;
    struct plan_node *top = fake->top = ARENA_NEW(&fake->arena, struct plan_node);
    top->kind = PLAN_WINDOW_RANK;
    top->operator_id = "window-rank-1";
    top->input_count = 1;
    top->inputs = ARENA_NEW(&fake->arena, struct plan_node *);
    top->inputs[0] = &fake->node;
    top->field_count = fake->node.field_count + 1;
    top->fields = ARENA_ARRAY(&fake->arena, struct plan_field, top->field_count);
    memcpy(top->fields, fake->node.fields, fake->node.field_count * sizeof *top->fields);
    top->fields[fake->node.field_count] = (struct plan_field){"rank", fake->types[FAKE_K]};
    top->window_rank = (struct plan_window_rank){.start_column = bounds,
                                                 .end_column = bounds + 1,
                                                 .sort_count = sort_count,
                                                 .sorts = sorts,
                                                 .rank_first = first,
                                                 .rank_last = last,
                                                 .has_rank = true,
                                                 .above_aggregate = true};
}

void fake_window_tvf(struct fake *fake, struct window window) {
    fake->node.kind = PLAN_WINDOW_TVF;
    fake->node.operator_id = "window-tvf-1";
    window.time_column = FAKE_TS;
    fake->node.window_tvf.window = window;
    fake->node.field_count = FAKE_COLUMNS + 3;
    fake->node.fields = ARENA_ARRAY(&fake->arena, struct plan_field, fake->node.field_count);
    for (int i = 0; i < FAKE_COLUMNS + 3; i++) {
        enum fake_column column = i < FAKE_COLUMNS ? (enum fake_column)i : FAKE_START;
        fake->node.fields[i] = (struct plan_field){"field", column_type(fake, column)};
    }
    // Rows are kept with the input's columns.
    struct plan_node *input = ARENA_NEW(&fake->arena, struct plan_node);
    input->field_count = FAKE_COLUMNS;
    input->fields = fake->node.fields;
    fake->node.input_count = 1;
    fake->node.inputs = ARENA_NEW(&fake->arena, struct plan_node *);
    fake->node.inputs[0] = input;
}

// --- running --------------------------------------------------------------------------------------------------------

extern const struct operator_class tide__window_aggregate_class, tide__window_tvf_class, tide__window_rank_class;

static const struct operator_class *class_of(const struct fake *fake) {
    return fake->node.kind == PLAN_WINDOW_TVF ? &tide__window_tvf_class : &tide__window_aggregate_class;
}

static void open_top(struct fake *fake) {
    tide_error err;
    tide__error_clear(&err);
    struct state_options options = {STATE_BACKEND_MEMORY, NULL, &fake->budget};
    must(tide__state_open(&options, &fake->top_store, &err), &err);
    struct operator_env env = fake->env;
    env.node = fake->top;
    env.store = fake->top_store;
    must(tide__window_rank_class.open(&env, &fake->between.next, &err), &err);
    fake->between.next->class = &tide__window_rank_class;
    fake->between.next->watermark = fake->op->watermark;
    fake->between.next_out = &fake->out;
}

static struct emitter *emitter_of(struct fake *fake) {
    if (fake->top == NULL) return &fake->out;
    fake->between.next_out = &fake->out;  // the test may have copied the struct
    return &fake->between;
}

void fake_open(struct fake *fake) {
    tide_error err;
    tide__error_clear(&err);
    struct state_options options = {fake->backend, fake->dir, &fake->budget};
    must(tide__state_open(&options, &fake->store, &err), &err);
    fake->env = (struct operator_env){.plan = &fake->plan,
                                      .node = &fake->node,
                                      .store = fake->store,
                                      .budget = &fake->budget,
                                      .batch_rows_max = fake->batch_rows_max};
    must(class_of(fake)->open(&fake->env, &fake->op, &err), &err);
    fake->op->class = class_of(fake);
    fake->op->node = &fake->node;
    fake->op->watermark = WATERMARK_NONE;
    if (fake->top != NULL) open_top(fake);
}

static struct batch make_batch(struct fake *fake, const struct fake_row *rows, size_t n, struct arena *arena) {
    struct batch batch = {.rows = n, .column_count = FAKE_COLUMNS};
    batch.columns = ARENA_ARRAY(arena, struct column, FAKE_COLUMNS);
    struct column *c = batch.columns;
    for (int i = 0; i < FAKE_COLUMNS; i++)
        tide__column_init(&c[i], column_type(fake, (enum fake_column)i), n, i < FAKE_TS, arena);
    for (size_t r = 0; r < n; r++) {
        const struct fake_row *row = &rows[r];
        for (int i = 0; i < FAKE_TS; i++) c[i].nulls[r] = row->nulls >> i & 1;
        c[FAKE_K].i64[r] = row->k;
        c[FAKE_S].nulls[r] |= row->s == NULL;
        c[FAKE_S].str[r] = row->s == NULL ? (struct str){"", 0} : tide__str(row->s);
        c[FAKE_V].i64[r] = row->v;
        c[FAKE_W].f64[r] = row->w;
        c[FAKE_F].f64[r] = (double)(float)row->w;
        c[FAKE_D].i64[r] = row->d;
        c[FAKE_WIDE].i128[r] = row->wide;
        c[FAKE_B].bools[r] = row->b;
        c[FAKE_T6].time[r] = (struct timestamp){row->ts, row->v & 0xFFFF};
        c[FAKE_TS].i64[r] = row->ts;
        c[FAKE_START].i64[r] = row->start;
        c[FAKE_END].i64[r] = row->end;
    }
    return batch;
}

void fake_push(struct fake *fake, const struct fake_row *rows, size_t count, size_t batch_rows) {
    tide_error err;
    tide__error_clear(&err);
    struct arena arena;
    tide__arena_init(&arena);
    for (size_t from = 0; from < count; from += batch_rows) {
        size_t n = count - from < batch_rows ? count - from : batch_rows;
        struct batch batch = make_batch(fake, rows + from, n, &arena);
        must(fake->op->class->on_batch(fake->op, 0, &batch, emitter_of(fake), &err), &err);
        tide__arena_reset(&arena);
    }
    tide__arena_deinit(&arena);
}

void fake_watermark(struct fake *fake, int64_t watermark) {
    tide_error err;
    tide__error_clear(&err);
    must(fake->op->class->on_watermark(fake->op, watermark, emitter_of(fake), &err), &err);
    fake->op->watermark = watermark;
    struct operator *top = fake->between.next;
    if (top == NULL) return;
    must(top->class->on_watermark(top, watermark, &fake->out, &err), &err);
    top->watermark = watermark;
}

struct copy {
    pthread_mutex_t lock;
    pthread_cond_t done_cond;
    bool done;
    struct state_store *store;
    struct strbuf *tables;  // (u32 key length, key, u32 value length, value) of each table
};

static void copy_table(struct state_table *table, struct state_snapshot *snapshot, struct strbuf *out) {
    tide_error err;
    tide__error_clear(&err);
    struct state_iter *iter;
    must(tide__state_iter_open(table, snapshot, (struct str){"", 0}, (struct str){"", 0}, &iter, &err), &err);
    struct str key, value;
    while (tide__state_iter_next(iter, &key, &value)) {
        uint32_t lens[2] = {(uint32_t)key.len, (uint32_t)value.len};
        tide__strbuf_append(out, lens, sizeof lens);
        tide__strbuf_append_str(out, key);
        tide__strbuf_append_str(out, value);
    }
    must(tide__state_iter_close(iter, &err), &err);
}

static void on_ready(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    struct copy *copy = ctx;
    if (snapshot == NULL) must(TIDE_ERR_RUNTIME, err);
    for (size_t i = 0; i < tide__state_table_count(copy->store); i++)
        copy_table(tide__state_table_at(copy->store, i), snapshot, &copy->tables[i]);
    tide__state_snapshot_release(snapshot);
    pthread_mutex_lock(&copy->lock);
    copy->done = true;
    pthread_cond_signal(&copy->done_cond);
    pthread_mutex_unlock(&copy->lock);
}

static void snapshot(struct fake *fake, struct copy *copy) {
    tide_error err;
    tide__error_clear(&err);
    pthread_mutex_init(&copy->lock, NULL);
    pthread_cond_init(&copy->done_cond, NULL);
    copy->store = fake->store;
    copy->done = false;
    copy->tables = calloc(tide__state_table_count(fake->store) + 1, sizeof *copy->tables);
    must(tide__state_barrier(fake->store, on_ready, copy, &err), &err);
    pthread_mutex_lock(&copy->lock);
    while (!copy->done) pthread_cond_wait(&copy->done_cond, &copy->lock);
    pthread_mutex_unlock(&copy->lock);
}

void fake_barrier(struct fake *fake) {
    tide_error err;
    tide__error_clear(&err);
    if (fake->op->class->on_barrier != NULL) must(fake->op->class->on_barrier(fake->op, &err), &err);
}

struct buffer_source {
    struct state_source source;
    struct str rest;
};

static bool buffer_next(struct state_source *source, struct state_entry *out) {
    struct buffer_source *buffer = (struct buffer_source *)source;
    uint32_t lens[2];
    if (buffer->rest.len < sizeof lens) return false;
    memcpy(lens, buffer->rest.data, sizeof lens);
    const char *key = buffer->rest.data + sizeof lens;
    *out = (struct state_entry){STATE_REPLACE, {key, lens[0]}, {key + lens[0], lens[1]}};
    size_t used = sizeof lens + lens[0] + lens[1];
    buffer->rest = (struct str){buffer->rest.data + used, buffer->rest.len - used};
    return true;
}

static void buffer_free(struct state_source *source) {
    free(source);
}

void fake_reload(struct fake *fake) {
    tide_error err;
    tide__error_clear(&err);
    fake_barrier(fake);
    struct strbuf saved = {0};
    if (fake->op->class->save != NULL) fake->op->class->save(fake->op, &saved);
    struct copy copy;
    snapshot(fake, &copy);
    size_t tables = tide__state_table_count(fake->store);
    int64_t watermark = fake->op->watermark;
    fake_close(fake);
    fake_open(fake);
    for (size_t i = 0; i < tables; i++) {
        if (copy.tables[i].len > 0) {
            struct buffer_source *source = calloc(1, sizeof *source);
            *source = (struct buffer_source){{buffer_next, buffer_free}, tide__strbuf_str(&copy.tables[i])};
            must(tide__state_load(tide__state_table_at(fake->store, i), &source->source, &err), &err);
        }
        tide__strbuf_deinit(&copy.tables[i]);
    }
    free(copy.tables);
    fake->op->watermark = watermark;
    if (fake->between.next != NULL) fake->between.next->watermark = watermark;
    if (fake->op->class->restore != NULL)
        must(fake->op->class->restore(fake->op, tide__strbuf_str(&saved), &err), &err);
    tide__strbuf_deinit(&saved);
}

void fake_shrink(struct fake *fake, size_t bytes) {
    tide_error err;
    tide__error_clear(&err);
    if (fake->op->class->shrink != NULL) fake->op->class->shrink(fake->op, bytes, &err);
    must(err.status, &err);
}

void fake_close(struct fake *fake) {
    fake->late += fake->op->stats.late_rows;
    fake->op->class->close(fake->op);
    tide__state_close(fake->store);
    if (fake->between.next != NULL) {
        fake->between.next->class->close(fake->between.next);
        tide__state_close(fake->top_store);
        fake->between.next = NULL;
    }
    fake->op = NULL;
    fake->store = NULL;
}

void fake_deinit(struct fake *fake) {
    if (fake->op != NULL) fake_close(fake);
    tide__strbuf_deinit(&fake->out.text);
    tide__arena_deinit(&fake->arena);
}
