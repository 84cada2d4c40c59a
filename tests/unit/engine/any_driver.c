// See any_driver.h.
#include "any_driver.h"

#include "base/alloc.h"
#include "base/time.h"

#include <check.h>
#include <inttypes.h>
#include <string.h>

static const char *const kind_texts[] = {"+I", "-U", "+U", "-D"};

static void print_value(const struct column *column, size_t row, struct strbuf *out) {
    if (tide__column_is_null(column, row)) {
        tide__strbuf_append_c(out, " NULL");
        return;
    }
    switch (column->physical) {
    case PHYSICAL_BOOL: tide__strbuf_printf(out, " %d", column->bools[row]); break;
    case PHYSICAL_I64: tide__strbuf_printf(out, " %" PRId64, column->i64[row]); break;
    case PHYSICAL_F64: tide__strbuf_printf(out, " %.17g", column->f64[row]); break;
    case PHYSICAL_I128: tide__strbuf_printf(out, " %" PRId64, (int64_t)column->i128[row]); break;
    case PHYSICAL_STR: tide__strbuf_printf(out, " %.*s", STR_ARG(column->str[row])); break;
    case PHYSICAL_TIME: tide__strbuf_printf(out, " %" PRId64, column->time[row].ms); break;
    }
}

void any_row_print(const struct any_row *row, size_t columns, enum row_kind kind, struct strbuf *out) {
    tide__strbuf_append_c(out, kind_texts[kind]);
    for (size_t c = 0; c < columns; c++) {
        const struct any_value *value = &row->values[c];
        if (value->is_null) {
            tide__strbuf_append_c(out, " NULL");
        } else if (value->text != NULL) {
            tide__strbuf_printf(out, " %s", value->text);
        } else {
            tide__strbuf_printf(out, " %" PRId64, value->i64);
        }
    }
    tide__strbuf_append_char(out, '\n');
}

tide_status tide__emit(struct emitter *out, const struct batch *batch, tide_error *err) {
    (void)err;
    out->rows += batch->rows;
    for (size_t row = 0; row < batch->rows && !out->silent; row++) {
        tide__strbuf_append_c(&out->text, kind_texts[batch->kinds == NULL ? ROW_INSERT : batch->kinds[row]]);
        for (size_t c = 0; c < batch->column_count; c++) print_value(&batch->columns[c], row, &out->text);
        tide__strbuf_append_char(&out->text, '\n');
    }
    return TIDE_OK;
}

void tide__late_row(struct operator *op, struct late_sink *late, const struct batch *batch, size_t row,
                    int64_t window_start, int64_t window_end) {
    (void)late, (void)batch, (void)row, (void)window_start, (void)window_end;
    op->stats.late_rows++;
}

static struct plan_field *make_fields(struct arena *arena, const char *const *names, const struct type *types,
                                      uint32_t count) {
    struct plan_field *fields = ARENA_ARRAY(arena, struct plan_field, count + 1);
    for (uint32_t i = 0; i < count; i++) fields[i] = (struct plan_field){names[i], tide__type_copy(arena, &types[i])};
    return fields;
}

void any_driver_init(struct any_driver *driver, const struct operator_class *class) {
    *driver = (struct any_driver){.class = class, .batch_rows_max = 1024};
    driver->budget.limit = SIZE_MAX;
    tide__arena_init(&driver->arena);
    driver->plan.arena = &driver->arena;
    driver->node = ARENA_NEW(&driver->arena, struct plan_node);
    driver->node->kind = class->kind;
    driver->node->operator_id = "op-1";
    driver->node->stateful = true;
    driver->node->inputs = driver->inputs;
    driver->plan.nodes = &driver->node;
    driver->plan.node_count = 1;
}

void any_driver_input(struct any_driver *driver, uint32_t input, const char *const *names, const struct type *types,
                      uint32_t count) {
    struct plan_node *node = ARENA_NEW(&driver->arena, struct plan_node);
    node->field_count = count;
    node->fields = make_fields(&driver->arena, names, types, count);
    driver->inputs[input] = node;
    if (driver->node->input_count <= input) driver->node->input_count = input + 1;
}

void any_driver_output(struct any_driver *driver, const char *const *names, const struct type *types, uint32_t count) {
    driver->node->field_count = count;
    driver->node->fields = make_fields(&driver->arena, names, types, count);
}

static void must(tide_status status, const tide_error *err) {
    ck_assert_msg(status == TIDE_OK, "%s", err->message);
}

static void open_operator(struct any_driver *driver) {
    struct operator_env env = {
        .plan = &driver->plan,
        .node = driver->node,
        .store = driver->store,
        .budget = &driver->budget,
        .batch_rows_max = driver->batch_rows_max,
        .script_dir = ".",
    };
    tide_error err;
    tide__error_clear(&err);
    must(driver->class->open(&env, &driver->op, &err), &err);
    driver->op->class = driver->class;
    driver->op->node = driver->node;
    driver->op->watermark = WATERMARK_NONE;
}

static void open_store(struct any_driver *driver) {
    struct state_options options = {.backend = STATE_BACKEND_MEMORY, .dir = "/nonexistent", .budget = &driver->budget};
    tide_error err;
    tide__error_clear(&err);
    must(tide__state_open(&options, &driver->store, &err), &err);
}

void any_driver_open(struct any_driver *driver) {
    open_store(driver);
    open_operator(driver);
}

void any_driver_batch(struct any_driver *driver, uint32_t input, const struct batch *batch) {
    tide_error err;
    tide__error_clear(&err);
    must(driver->class->on_batch(driver->op, input, batch, &driver->out, &err), &err);
}

void any_driver_watermark(struct any_driver *driver, int64_t watermark) {
    if (watermark <= driver->op->watermark) return;
    tide_error err;
    tide__error_clear(&err);
    if (driver->class->on_watermark != NULL)
        must(driver->class->on_watermark(driver->op, watermark, &driver->out, &err), &err);
    driver->op->watermark = watermark;
}

void any_driver_shrink(struct any_driver *driver, size_t bytes) {
    tide_error err;
    tide__error_clear(&err);
    driver->class->shrink(driver->op, bytes, &err);
    must(err.status, &err);
}

// --- barriers -----------------------------------------------------------------------------------------------------------

// All entries of a table, as a source to load.
struct copied_table {
    struct state_source source;
    struct arena arena;
    struct state_entry *entries;
    size_t count, capacity, at;
};

static bool next_copied(struct state_source *source, struct state_entry *out_entry) {
    struct copied_table *copy = (struct copied_table *)source;
    if (copy->at == copy->count) return false;
    *out_entry = copy->entries[copy->at++];
    return true;
}

static void free_copied(struct state_source *source) {
    struct copied_table *copy = (struct copied_table *)source;
    tide__arena_deinit(&copy->arena);
    tide__free(copy->entries);
    tide__free(copy);
}

static struct copied_table *copy_table(struct state_table *table) {
    struct copied_table *copy = tide__calloc(1, sizeof *copy);
    copy->source = (struct state_source){next_copied, free_copied};
    tide__arena_init(&copy->arena);
    tide_error err;
    tide__error_clear(&err);
    struct state_iter *iter = NULL;
    must(tide__state_iter_open(table, NULL, (struct str){0}, (struct str){0}, &iter, &err), &err);
    struct str key, value;
    while (tide__state_iter_next(iter, &key, &value)) {
        copy->entries = tide__grow(copy->entries, &copy->capacity, copy->count + 1, sizeof *copy->entries);
        copy->entries[copy->count++] = (struct state_entry){
            .op = STATE_REPLACE,
            .key = {tide__arena_strndup(&copy->arena, key.data, key.len), key.len},
            .value = {tide__arena_strndup(&copy->arena, value.data, value.len), value.len},
        };
    }
    must(tide__state_iter_close(iter, &err), &err);
    return copy;
}

static void start_again(struct any_driver *driver, struct str saved) {
    int64_t watermark = driver->op->watermark;
    driver->late_before += driver->op->stats.late_rows;
    struct copied_table *copies[8] = {0};
    size_t tables = tide__state_table_count(driver->store);
    ck_assert(tables <= 8);
    for (size_t i = 0; i < tables; i++) copies[i] = copy_table(tide__state_table_at(driver->store, i));
    driver->class->close(driver->op);
    tide__state_close(driver->store);
    any_driver_open(driver);
    ck_assert_uint_eq(tide__state_table_count(driver->store), tables);
    tide_error err;
    tide__error_clear(&err);
    for (size_t i = 0; i < tables; i++)
        must(tide__state_load(tide__state_table_at(driver->store, i), &copies[i]->source, &err), &err);
    driver->op->watermark = watermark;
    if (driver->class->restore != NULL) must(driver->class->restore(driver->op, saved, &err), &err);
}

void any_driver_barrier(struct any_driver *driver, bool restore) {
    tide_error err;
    tide__error_clear(&err);
    if (driver->class->on_barrier != NULL) must(driver->class->on_barrier(driver->op, &err), &err);
    struct strbuf saved = {0};
    if (driver->class->save != NULL) driver->class->save(driver->op, &saved);
    must(tide__state_sync(driver->store, &err), &err);
    if (restore) start_again(driver, tide__strbuf_str(&saved));
    tide__strbuf_deinit(&saved);
}

size_t any_driver_entries(struct any_driver *driver) {
    size_t count = 0;
    for (size_t i = 0; i < tide__state_table_count(driver->store); i++) {
        struct copied_table *copy = copy_table(tide__state_table_at(driver->store, i));
        count += copy->count;
        copy->source.free(&copy->source);
    }
    return count;
}

void any_driver_deinit(struct any_driver *driver) {
    driver->class->close(driver->op);
    tide__state_close(driver->store);
    ck_assert_uint_eq(driver->budget.used, 0);
    tide__strbuf_deinit(&driver->out.text);
    tide__arena_deinit(&driver->arena);
}

// --- batches --------------------------------------------------------------------------------------------------------------

static void put_value(struct column *column, size_t row, const struct any_value *value) {
    column->nulls[row] = value->is_null;
    switch (column->physical) {
    case PHYSICAL_BOOL: column->bools[row] = value->i64 != 0; break;
    case PHYSICAL_I64: column->i64[row] = value->i64; break;
    case PHYSICAL_F64: column->f64[row] = (double)value->i64 / 4; break;
    case PHYSICAL_I128: column->i128[row] = value->i64; break;
    case PHYSICAL_STR: column->str[row] = value->text == NULL ? (struct str){0} : tide__str(value->text); break;
    case PHYSICAL_TIME: column->time[row] = (struct timestamp){value->i64, 0}; break;
    }
}

struct batch any_batch(const struct plan_node *node, const struct any_row *rows, size_t count, struct arena *arena) {
    struct batch batch = {.rows = count, .column_count = node->field_count};
    batch.columns = ARENA_ARRAY(arena, struct column, node->field_count);
    uint8_t *kinds = tide__arena_alloc(arena, count);
    bool updates = false;
    for (size_t row = 0; row < count; row++) {
        kinds[row] = (uint8_t)rows[row].kind;
        updates = updates || rows[row].kind != ROW_INSERT;
    }
    if (updates) batch.kinds = kinds;
    for (uint32_t c = 0; c < node->field_count; c++) {
        tide__column_init(&batch.columns[c], node->fields[c].type, count, 1, arena);
        for (size_t row = 0; row < count; row++) put_value(&batch.columns[c], row, &rows[row].values[c]);
    }
    return batch;
}
