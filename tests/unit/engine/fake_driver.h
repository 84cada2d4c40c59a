// Drives one operator by hand: builds its plan node, feeds rows, watermarks and barriers, and collects what it emits as text.
//
// The input always has the columns of enum fake_column, so that a test only says which ones it groups and aggregates.
#ifndef TIDE_TESTS_ENGINE_FAKE_DRIVER_H
#define TIDE_TESTS_ENGINE_FAKE_DRIVER_H

#include "base/str.h"
#include "base/time.h"
#include "engine/operator.h"
#include "state/state.h"

enum fake_column {
    FAKE_K,      // BIGINT
    FAKE_S,      // STRING
    FAKE_V,      // INT
    FAKE_W,      // DOUBLE
    FAKE_F,      // FLOAT
    FAKE_D,      // DECIMAL(10, 2)
    FAKE_WIDE,   // DECIMAL(38, 0)
    FAKE_B,      // BOOLEAN
    FAKE_T6,     // TIMESTAMP(6)
    FAKE_TS,     // TIMESTAMP(3) *ROWTIME*
    FAKE_START,  // TIMESTAMP(3) NOT NULL
    FAKE_END,
    FAKE_COLUMNS
};

struct fake_row {
    int64_t k;
    const char *s;  // NULL: NULL, like every negative `null` bit below
    int32_t v;
    double w;
    int64_t d;
    int128 wide;
    bool b;
    int64_t ts, start, end;
    uint32_t nulls;  // 1 << enum fake_column
};

struct emitter {
    struct strbuf text;  // a line a row, values separated by '|'
    bool silent;         // count only
    size_t rows;
    uint64_t sum;           // of hashes, when silent
    struct operator *next;  // takes the rows instead
    struct emitter *next_out;
};

struct fake {
    struct arena arena;
    const struct type *types[16];  // of the input columns
    struct plan plan;
    struct plan_node node;
    struct memory_budget budget;
    struct state_store *store;
    struct operator *op;
    struct operator_env env;
    enum state_backend backend;
    const char *dir;
    size_t batch_rows_max;
    struct emitter out;
    // A Top-N above, whose rows go to `out`; those of the operator below are counted in `between`.
    struct plan_node *top;
    struct state_store *top_store;
    struct emitter between;
    size_t late;
};

struct fake_aggregate {
    const char *name;
    int column;  // -1: none
    bool distinct;
    int filter;  // column; -1: none
    const char *separator;
};

void fake_init(struct fake *fake, enum state_backend backend, const char *dir);
// A window aggregate node. Terminated lists: keys by -1, aggregates by a NULL name.
void fake_window_aggregate(struct fake *fake, struct window window, const int *keys,
                           const struct fake_aggregate *aggregates);
// A Window Top-N above the aggregates of `fake_window_aggregate`, which numbers columns: keys, aggregates, bounds. It has to
// last as long as its sorts.
void fake_top(struct fake *fake, struct sort_key *sorts, uint32_t sort_count, int64_t first, int64_t last);
void fake_window_tvf(struct fake *fake, struct window window);
void fake_open(struct fake *fake);
// Rows in batches of `batch_rows`.
void fake_push(struct fake *fake, const struct fake_row *rows, size_t count, size_t batch_rows);
void fake_watermark(struct fake *fake, int64_t watermark);
void fake_barrier(struct fake *fake);
// Takes a snapshot, throws operator and store away, and restores both.
void fake_reload(struct fake *fake);
void fake_shrink(struct fake *fake, size_t bytes);
void fake_close(struct fake *fake);
void fake_deinit(struct fake *fake);

#endif
