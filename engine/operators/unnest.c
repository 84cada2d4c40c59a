// UNNEST: each row once for each element of its array (map, multiset), with the element beside it. Keeps nothing.
#include "base/alloc.h"
#include "engine/expr/nested.h"
#include "engine/operators/rows.h"

#include <string.h>

struct unnest {
    struct operator base;
    const struct plan_unnest *plan;
    const struct type *type;  // of the column that is taken apart
    size_t rows_max;
    struct arena arena;  // of one batch
    // What goes out next.
    size_t count, row_capacity, value_capacity;
    uint32_t *rows;                // of the input
    const struct column **values;  // plan->value_count a row: a column of one row each; NULL: NULL
    int32_t *ordinals;
    size_t ordinal_capacity;
};

static struct unnest *self(struct operator *op) {
    return (struct unnest *)op;
}

static tide_status open(const struct operator_env *env, struct operator** out, tide_error *err) {
    (void)err;
    struct unnest *op = tide__calloc(1, sizeof *op);
    op->plan = &env->node->unnest;
    op->type = env->node->inputs[0]->fields[op->plan->column].type;
    op->rows_max = env->batch_rows_max;
    tide__arena_init(&op->arena);
    *out = &op->base;
    return TIDE_OK;
}

static void close(struct operator *base) {
    struct unnest *op = self(base);
    tide__free(op->rows);
    tide__free(op->values);
    tide__free(op->ordinals);
    tide__arena_deinit(&op->arena);
    tide__free(op);
}

// --- Rows to come ---

static const struct column **add_row(struct unnest *op, uint32_t row, int32_t ordinal) {
    uint32_t values = op->plan->value_count;
    op->rows = tide__grow(op->rows, &op->row_capacity, op->count + 1, sizeof *op->rows);
    op->ordinals = tide__grow(op->ordinals, &op->ordinal_capacity, op->count + 1, sizeof *op->ordinals);
    op->values = tide__grow(op->values, &op->value_capacity, (op->count + 1) * values, sizeof *op->values);
    op->rows[op->count] = row;
    op->ordinals[op->count] = ordinal;
    const struct column **at = op->values + op->count++ * values;
    memset(at, 0, values * sizeof *at);
    return at;
}

static tide_status malformed(struct unnest *op, tide_error *err) {
    return tide__fail_at(err, TIDE_ERR_RUNTIME, op->base.node->pos, "a nested value is malformed");
}

// A ROW becomes its fields.
static tide_status put_element(struct unnest *op, const struct column *element, const struct column **at,
                               tide_error *err) {
    struct column *fields;
    size_t count;
    if (op->plan->value_count == 1 && !op->plan->rows) {
        at[0] = element;
        return TIDE_OK;
    }
    if (tide__column_is_null(element, 0)) return TIDE_OK;
    if (!tide__nested_decode(element->str[0], element->type, &op->arena, &fields, &count)) return malformed(op, err);
    for (size_t i = 0; i < count && i < op->plan->value_count; i++) at[i] = &fields[i];
    return TIDE_OK;
}

static tide_status take_apart(struct unnest *op, uint32_t row, struct str bytes, tide_error *err) {
    struct column *elements;
    size_t count;
    int32_t ordinal = 1;
    if (!tide__nested_decode(bytes, op->type, &op->arena, &elements, &count)) return malformed(op, err);
    for (size_t i = 0; i < count; i++) {
        if (op->type->kind == TYPE_MAP) {
            const struct column **at = add_row(op, row, ordinal++);
            at[0] = &elements[i];
            at[1] = &elements[++i];
        } else if (op->type->kind == TYPE_MULTISET) {
            const struct column *times = &elements[i + 1];
            for (int64_t n = 0; n < times->i64[0]; n++)
                TIDE_TRY(put_element(op, &elements[i], add_row(op, row, ordinal++), err));
            i++;
        } else {
            TIDE_TRY(put_element(op, &elements[i], add_row(op, row, ordinal++), err));
        }
    }
    return TIDE_OK;
}

// --- Sending ---

static void value_column(struct unnest *op, uint32_t value, const struct type *type, size_t from, size_t count,
                         struct column *out) {
    tide__column_init(out, type, count, 1, &op->arena);
    size_t size = tide__physical_size(out->physical);
    for (size_t i = 0; i < count; i++) {
        const struct column *in = op->values[(from + i) * op->plan->value_count + value];
        bool null = in == NULL || tide__column_is_null(in, 0);
        out->nulls[i] = null;
        if (!null) memcpy((char *)out->data + i * size, in->data, size);
    }
}

static void ordinal_column(struct unnest *op, const struct type *type, size_t from, size_t count, struct column *out) {
    tide__column_init(out, type, count, 1, &op->arena);
    for (size_t i = 0; i < count; i++) {
        out->nulls[i] = op->ordinals[from + i] == 0;
        out->i64[i] = op->ordinals[from + i];
    }
}

static tide_status send_some(struct unnest *op, const struct batch *batch, size_t from, size_t count,
                             struct emitter *out, tide_error *err) {
    const struct plan_node *node = op->base.node;
    struct batch gathered = tide__batch_gather(batch, op->rows + from, count, &op->arena);
    struct batch result = {.rows = count, .column_count = node->field_count, .kinds = gathered.kinds};
    result.columns = ARENA_ARRAY(&op->arena, struct column, node->field_count);
    memcpy(result.columns, gathered.columns, gathered.column_count * sizeof *result.columns);
    size_t column = gathered.column_count;
    for (uint32_t i = 0; i < op->plan->value_count; i++, column++) {
        value_column(op, i, node->fields[column].type, from, count, &result.columns[column]);
    }
    if (op->plan->with_ordinality) ordinal_column(op, node->fields[column].type, from, count, &result.columns[column]);
    return tide__emit(out, &result, err);
}

static tide_status send(struct unnest *op, const struct batch *batch, struct emitter *out, tide_error *err) {
    tide_status status = TIDE_OK;
    for (size_t from = 0; status == TIDE_OK && from < op->count; from += op->rows_max) {
        size_t count = op->count - from < op->rows_max ? op->count - from : op->rows_max;
        status = send_some(op, batch, from, count, out, err);
    }
    op->count = 0;
    return status;
}

static tide_status on_batch(struct operator *base, uint32_t input, const struct batch *batch, struct emitter *out,
                            tide_error *err) {
    (void)input;
    struct unnest *op = self(base);
    tide__arena_reset(&op->arena);
    op->count = 0;
    const struct column *column = &batch->columns[op->plan->column];
    for (uint32_t row = 0; row < batch->rows; row++) {
        size_t before = op->count;
        if (!tide__column_is_null(column, row)) TIDE_TRY(take_apart(op, row, column->str[row], err));
        if (op->count == before && op->plan->outer) add_row(op, row, 0);
    }
    return send(op, batch, out, err);
}

const struct operator_class tide__unnest_class = {
    .kind = PLAN_UNNEST,
    .open = open,
    .on_batch = on_batch,
    .close = close,
};
