// How aggregate functions compute. One row of the table (aggregates.c) is a name, a type rule and a class; binding a
// call to its class gives an *aggregator*: kernels for the argument's physical form and a place in the payload.
//
//   payload of a key:  [ accumulator 0 | accumulator 1 | ... ]   zeroed memory is "no row yet" for every aggregate
//
// An accumulator may own memory (strings, sets); such aggregates have `release`. What their payloads hold elsewhere is
// counted in the `charge` arguments, so that the owner can tell the memory budget.
//
// Combinable: merging partial accumulators in arrival order gives the bits of one pass, and so does combining their
// encoded fields with the state's combiners. Everything else is sequential: its state holds whole accumulators.
#ifndef TIDE_ENGINE_AGGREGATES_AGGREGATE_H
#define TIDE_ENGINE_AGGREGATES_AGGREGATE_H

#include "engine/batch.h"
#include "engine/plan.h"
#include "state/state.h"

struct aggregator;

enum { AGGREGATE_PIECES = 256 };

// The rows of one update: row number rows[i] goes to the payload payloads[i]; NULL arguments are the kernel's business.
struct aggregate_rows {
    unsigned char *const *payloads;
    const uint32_t *rows;
    size_t n;
    const struct batch *batch;
    const struct column *column;  // the first argument; NULL if there is none
    struct arena *arena;          // scratch
    int64_t charge;               // out: bytes that payloads own elsewhere, added to
};

// Kernels of one aggregate for one physical form.
struct aggregate_kernel {
    uint32_t size;  // of the accumulator; a multiple of 8
    bool combinable;
    void (*update)(const struct aggregator *aggregator, struct aggregate_rows *rows);
    void (*retract)(const struct aggregator *aggregator, struct aggregate_rows *rows);  // NULL: can't
    // `from` follows `into` in arrival order (or in the order in which Flink merges slices). `from` stays as it is.
    void (*merge)(const struct aggregator *aggregator, void *into, const void *from, int64_t *charge);
    // The exact inverse: takes `from`, which was merged into `into`, out again. NULL: there is none.
    void (*unmerge)(const struct aggregator *aggregator, void *into, const void *from);
    // Drops from `accumulator` what `older`, an earlier run of the same group, holds already, so that runs of sets do not
    // grow with each checkpoint. Changes no result. NULL: nothing to gain.
    void (*drop_known)(const struct aggregator *aggregator, void *accumulator, const void *older, int64_t *charge);
    // One result a payload into column rows 0..n-1. Strings lie in the payload or in the arena.
    void (*result)(const struct aggregator *aggregator, unsigned char *const *payloads, size_t n, struct column *column,
                   struct arena *arena);
    // State: field i is appended / taken from *value (false: malformed) for a zeroed accumulator.
    size_t field_count;
    struct state_field fields[4];  // name: appended to the call's name (NULL: nothing); type NULL: the result's
    void (*encode)(const struct aggregator *aggregator, const void *accumulator, struct strbuf *out);
    bool (*decode)(const struct aggregator *aggregator, struct str *value, void *accumulator, int64_t *charge);
    void (*release)(const struct aggregator *aggregator, void *accumulator);  // NULL: owns nothing
    // A large accumulator can go to state in AGGREGATE_PIECES pieces, each an accumulator's fields, and be folded from there piece
    // by piece: what merging all of them would give is then never in memory. NULL: no pieces.
    bool (*wants_pieces)(const struct aggregator *aggregator, const void *accumulator);
    void *(*cut)(const struct aggregator *aggregator, const void *accumulator);  // freed by tide__free
    // Appends the fields of a piece. False: it is empty.
    bool (*encode_piece)(const struct aggregator *aggregator, const void *accumulator, const void *cut, uint32_t piece,
                         struct strbuf *out);
    // Folds a piece into an accumulator. All parts of this piece must have been merged into `piece`, no part of it comes later,
    // and after the first piece nothing else is merged.
    void (*absorb)(const struct aggregator *aggregator, void *accumulator, const void *piece, struct arena *arena);
};

struct aggregator {
    const struct aggregate_kernel *kernel;
    const struct aggregate_call *call;
    const struct type *argument;     // NULL: none
    const struct type *type;         // of the result
    enum physical physical;          // of the argument
    uint32_t offset;                 // in the payload
    const struct aggregator *inner;  // DISTINCT: what runs over the set; offset 0 in its own payload
    bool multiset;                   // distinct.c: keep every occurrence (retractable MIN, LISTAGG, ...)
};

struct aggregate_class {
    // Chooses the kernel by aggregator->physical, ->argument and ->type. `retract`: rows will be taken back. NULL if that can't be.
    const struct aggregate_kernel *(*bind)(const struct aggregator *aggregator, bool retract);
};

extern const struct aggregate_class tide__count_class, tide__sum_class, tide__sum_from_zero_class, tide__avg_class,
    tide__min_class, tide__max_class, tide__first_value_class, tide__last_value_class, tide__listagg_class,
    tide__array_agg_class, tide__collect_class, tide__json_arrayagg_class, tide__json_objectagg_class,
    tide__percentile_class, tide__stddev_pop_class, tide__stddev_samp_class, tide__var_pop_class, tide__var_samp_class;

// The kernel of DISTINCT and of retractable MIN, MAX, FIRST_VALUE, LAST_VALUE and LISTAGG: a set around another aggregate.
const struct aggregate_kernel *tide__distinct_kernel(const struct aggregator *aggregator);

// --- all aggregates of an operator ------------------------------------------------------------------------------

struct aggregators {
    uint32_t count;
    struct aggregator *items;
    uint32_t payload_size;  // a multiple of 8
    bool combinable;        // all are
    bool owns_memory;       // some do
    bool unmergeable;       // all can be taken out again
    bool drops_known;       // some have drop_known
    bool has_pieces;        // some can be cut
    size_t field_count;
    struct state_field *fields;  // of a state value: all accumulators one after the other
};

// Lays out the payload. `retract`: the input has -U and -D rows. Everything lives in the arena. Fails if an aggregate
// can't take rows back.
tide_status tide__aggregators_bind(struct aggregators *aggregators, const struct aggregate_call *calls, uint32_t count,
                                   bool retract, struct arena *arena, tide_error *err) TIDE_CHECKED;
// Adds rows[i] of the batch to payloads[i], for each aggregate whose FILTER lets the row pass. Returns the change of bytes
// owned by payloads.
int64_t tide__aggregators_update(const struct aggregators *aggregators, const struct batch *batch,
                                 unsigned char *const *payloads, const uint32_t *rows, size_t n, struct arena *arena);
// Takes rows back.
int64_t tide__aggregators_retract(const struct aggregators *aggregators, const struct batch *batch,
                                  unsigned char *const *payloads, const uint32_t *rows, size_t n, struct arena *arena);
int64_t tide__aggregators_merge(const struct aggregators *aggregators, unsigned char *into, const unsigned char *from);
int64_t tide__aggregators_drop_known(const struct aggregators *aggregators, unsigned char *payload,
                                     const unsigned char *older);
void tide__aggregators_unmerge(const struct aggregators *aggregators, unsigned char *into, const unsigned char *from);
// columns[i] (initialised for n rows, nullable) gets aggregate i's results.
void tide__aggregators_result(const struct aggregators *aggregators, unsigned char *const *payloads, size_t n,
                              struct column *columns, struct arena *arena);
// Asks for what the payload points at, some payloads before it is encoded.
void tide__aggregators_prefetch(const struct aggregators *aggregators, const unsigned char *payload);
void tide__aggregators_encode(const struct aggregators *aggregators, const unsigned char *payload, struct strbuf *out);
// Whether a payload is better written in pieces.
bool tide__aggregators_want_pieces(const struct aggregators *aggregators, const unsigned char *payload);
// The same as encode, without the accumulators that go in pieces.
void tide__aggregators_encode_rest(const struct aggregators *aggregators, const unsigned char *payload,
                                   struct strbuf *out);
// A whole value that holds nothing but a piece of aggregate `index`. False: it is empty.
bool tide__aggregators_encode_piece(const struct aggregators *aggregators, uint32_t index, const unsigned char *payload,
                                    const void *cut, uint32_t piece, struct strbuf *out);
// Into a zeroed payload. False if the value is malformed.
bool tide__aggregators_decode(const struct aggregators *aggregators, struct str value, unsigned char *payload,
                              int64_t *charge);
// A payload whose bytes are a copy of those of `from` takes over what that owns, and `from` is zeroed; returns the bytes owned. `scratch`
// is written over.
int64_t tide__aggregators_move(const struct aggregators *aggregators, unsigned char *payload, unsigned char *from,
                               struct strbuf *scratch);
// Frees what a payload owns elsewhere; the payload is zeroed. `ctx` is the aggregators: fits tide__memtable_on_free.
void tide__aggregators_release(void *payload, void *ctx);

#endif
