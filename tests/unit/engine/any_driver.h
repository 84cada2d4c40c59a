// Runs any operator without a job: rows and watermarks go in, what it emits is written down as text, and it can be put
// away and opened again from its state at any moment. Tests describe the node and its fields themselves. Stands in for
// engine/task.c, whose tide__emit and tide__late_row it defines. (fake_driver.h is the same for window aggregates,
// with fixed columns.)
#ifndef TIDE_TESTS_UNIT_ENGINE_ANY_DRIVER_H
#define TIDE_TESTS_UNIT_ENGINE_ANY_DRIVER_H

#include "engine/operator.h"
#include "engine/plan.h"
#include "state/state.h"

struct emitter {
    struct strbuf text;  // `+I 1 x NULL\n` a row
    uint64_t rows;
    bool silent;  // count only
};

struct any_driver {
    struct arena arena;  // plan
    struct plan plan;
    struct plan_node *node;
    struct plan_node *inputs[2];
    const struct operator_class *class;
    struct operator *op;
    struct state_store *store;
    struct memory_budget budget;
    size_t batch_rows_max;
    struct emitter out;
    uint64_t late_before;  // late rows of operators that were put away
};

// A node of the class's kind: fill in its fields and driver->node, then open.
void any_driver_init(struct any_driver *driver, const struct operator_class *class);
void any_driver_input(struct any_driver *driver, uint32_t input, const char *const *names, const struct type *types,
                      uint32_t count);
void any_driver_output(struct any_driver *driver, const char *const *names, const struct type *types, uint32_t count);
void any_driver_open(struct any_driver *driver);
void any_driver_batch(struct any_driver *driver, uint32_t input, const struct batch *batch);
void any_driver_watermark(struct any_driver *driver, int64_t watermark);
// A barrier; with `restore` the operator and its store are thrown away and made again from what the barrier gave.
void any_driver_barrier(struct any_driver *driver, bool restore);
// Memory is short.
void any_driver_shrink(struct any_driver *driver, size_t bytes);
// Fails the test if anything is still charged to the budget.
void any_driver_deinit(struct any_driver *driver);
// Entries in all state tables.
size_t any_driver_entries(struct any_driver *driver);

// --- making batches ---------------------------------------------------------------------------------------------------

// One row as C values; PHYSICAL_STR columns use text, PHYSICAL_F64 columns quarters. At most eight columns.
struct any_value {
    bool is_null;
    int64_t i64;
    const char *text;
};
struct any_row {
    enum row_kind kind;
    struct any_value values[8];
};
// A batch of rows [0, count) in the arena.
struct batch any_batch(const struct plan_node *node, const struct any_row *rows, size_t count, struct arena *arena);
// `+I 1 x NULL\n`, as the driver prints what is emitted (columns without F64 only).
void any_row_print(const struct any_row *row, size_t columns, enum row_kind kind, struct strbuf *out);

static inline uint32_t any_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

#endif
