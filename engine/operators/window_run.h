// Runs for the state table: what the background thread reads of sealed slices.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_RUN_H
#define TIDE_ENGINE_OPERATORS_WINDOW_RUN_H

#include "engine/aggregates/aggregate.h"
#include "engine/operators/window_sealing.h"
#include "state/memtable.h"
#include "state/state.h"

enum window_run_kind {
    WINDOW_RUN_ADD,            // all entries of a frozen table are increments
    WINDOW_RUN_REPLACE_DIRTY,  // the entries of a frozen table whose flags are a mark are whole values
    WINDOW_RUN_ENCODED,        // entries encoded already, in any order: (key length, key, value length, value), varints
};

struct window_run;

// A piece of a large group has its key and these bytes: 1 + the number of the aggregate, the number of the piece. No group's key
// begins with another's, so pieces stand right behind their group.
enum { WINDOW_PIECE_BYTES = 2 };

// An empty run. `aggregators` is borrowed until the run is freed. `pieces`: groups whose aggregates can be cut, are if they are
// large, in parts that are added.
struct window_run *tide__window_run_new(const struct aggregators *aggregators, bool pieces);
// Adds one window's or slice's entries. Windows must come in ascending (start, end). Retains the table. `mark` counts for
// WINDOW_RUN_REPLACE_DIRTY only.
void tide__window_run_add_table(struct window_run *run, int64_t start, int64_t end, struct memtable *table,
                                enum window_run_kind kind, uint32_t mark);
// Takes the buffer.
void tide__window_run_add_encoded(struct window_run *run, int64_t start, int64_t end, struct strbuf *entries);
// Takes a reference: entries that are WINDOW_RUN_ENCODED by the time they are read.
void tide__window_run_add_sealing(struct window_run *run, int64_t start, int64_t end, struct window_sealing *sealing);
size_t tide__window_run_bytes(const struct window_run *run);
// Hands the run to the table, or frees it if it has no parts.
tide_status tide__window_run_submit(struct window_run *run, struct state_table *table, tide_error *err) TIDE_CHECKED;

// 16 bytes: the window's bounds as keys begin with them.
void tide__window_prefix(char out[16], int64_t start, int64_t end);

#endif
