// Savepoint files: writing one from a snapshot of the state, reading one back, checking one.
//
//   magic "TIDESAVE", format version (u32), flags (u32)
//   chunk frames: zstd of a protobuf Chunk (at most 1 MiB raw), each a sorted key range of one state table
//   manifest frame: zstd of a protobuf Manifest (job, SQL, plan, operators, parts, tables with their chunk index)
//   footer: manifest offset, compressed and raw length, XXH3 of the manifest frame, magic again
//
// A periodic checkpoint may be a *delta*: it has only what changed since its parent, in sections (sorted runs, dropped ranges).
// Opening one opens the files below it too, down to a full one; its entries are those of the whole chain, merged.
//
// docs/savepoint-format.md has every byte. A reader trusts nothing: sizes are checked against the file before anything is
// allocated, and every failure (TIDE_ERR_SAVEPOINT) names the file, the chunk and the offset.
#ifndef TIDE_CHECKPOINT_SAVEPOINT_H
#define TIDE_CHECKPOINT_SAVEPOINT_H

#include "base/arena.h"
#include "base/error.h"
#include "engine/plan.h"
#include "engine/snapshot.h"
#include "state/state.h"

#define SAVEPOINT_FORMAT_VERSION 1u

// One clause of a stateful operator in canonical form: what the compatibility check compares and cites.
struct plan_clause {
    const char *code;       // "window.size", "group_by", "agg", "topn.limit", ...: the words in compat/compare.c
    const char *text;       // canonical: "60000 ms", "auction", "SUM(price)", "3"
    uint32_t line, column;  // in the script it came from; 0: none
    const char *source;     // the clause as the user wrote it, for the caret; NULL: none
};

struct plan_operator {
    const char *operator_id;  // "window-rank-1"
    const char *kind;         // tide__plan_kind_name
    const char *uid;          // NULL: none
    bool stateful;
    uint64_t fingerprint;  // XXH3 of the canonical clauses
    size_t clause_count;
    const struct plan_clause *clauses;
    size_t input_count;
    const char *const *inputs;  // operator ids
};

// A plan as a savepoint holds it, and as a script's plan is described for comparison.
struct plan_description {
    size_t operator_count;
    const struct plan_operator *operators;  // sources, stateful operators and sinks, inputs first
};

// Everything of a savepoint but its entries.
struct savepoint_info {
    uint32_t format_version;
    const char *writer_version;  // TIDE_VERSION of the writer
    const char *job_name;
    const char *script_name;   // as the user named it
    struct str sql;            // values of password-like options left out
    uint32_t statement_index;  // which job-starting statement
    uint64_t rows_before;      // source rows of the script's earlier jobs
    uint64_t checkpoint_id;    // 1, 2, ... in its state directory
    int64_t created_ms;        // wall clock
    const char *run_id;        // names the sinks' files
    struct plan_description plan;
    struct task_snapshot snapshot;
    size_t table_count;
    const struct savepoint_table *tables;

    // Of a delta. depth: deltas from the full checkpoint to this one; 0: it is full.
    uint32_t depth;
    uint64_t parent_id, parent_checksum;
    size_t section_count;
    const struct savepoint_section *sections;
    bool counts_are_bounds;  // entries, bytes and windows of the tables: at most so many (an open delta)

    size_t missing_count;  // of a salvaged file
    const struct savepoint_missing *missing;
};

struct savepoint_window {
    int64_t start_ms, end_ms;
    uint64_t entries, bytes;
};

struct savepoint_chunk {
    uint64_t offset;              // of its zstd frame in the file
    uint32_t length, raw_length;  // of the frame; of the protobuf message
    uint64_t checksum;            // XXH3 of the frame
    uint64_t entries;
    struct str first_key, last_key;  // of SAVEPOINT_INDEX_KEY bytes: a key that begins so and is perhaps longer
    struct str end;                  // as read: every key of the chunk is below it; empty: there is no such bound
};
#define SAVEPOINT_INDEX_KEY 1024u

struct savepoint_table {
    struct state_table_desc desc;
    uint64_t entries, key_bytes, value_bytes;  // raw
    uint32_t chunk_count;
    uint64_t window_count;                   // windowed tables
    const struct savepoint_window *windows;  // at most SAVEPOINT_WINDOWS_MAX of them, by start
    const struct savepoint_chunk *chunks;
    struct savepoint_chunk filter;  // offset, lengths and checksum of its key filter; length 0: it has none
};
#define SAVEPOINT_WINDOWS_MAX 10000

// What changed in one table: entries of a run, in key order, or a range that was dropped. Sections apply in their order.
struct savepoint_section {
    uint32_t table;
    bool drop;
    struct str lower, upper;  // of a drop; an empty upper has no end
    uint64_t entries;
    uint32_t chunk_count;
    const struct savepoint_chunk *chunks;
};
#define SAVEPOINT_DEPTH_MAX 64

// Keys that a salvaged file should have.
struct savepoint_missing {
    uint32_t table;
    struct str first_key, last_key;  // both inclusive, cut like those of a chunk
    uint64_t entries;                // at most
};

// The plan's operators in canonical form. Everything lives in the arena.
void tide__plan_describe(const struct plan *plan, struct arena *arena, struct plan_description *out);

// Writes `path` (beside it first, fsync, rename, folder fsync; mode 0600). `info->tables` is ignored: it comes from `store`. Entries come
// from `snapshot`. Runs on any thread.
tide_status tide__savepoint_write(const char *path, const struct savepoint_info *info, struct state_store *store,
                                  struct state_snapshot *snapshot, uint64_t *out_bytes, tide_error *err) TIDE_CHECKED;

// The same, and what a delta that builds on it must know.
struct savepoint_written {
    uint64_t bytes, manifest_checksum;
};
tide_status tide__savepoint_write_full(const char *path, const struct savepoint_info *info, struct state_store *store,
                                       struct state_snapshot *snapshot, struct savepoint_written *out,
                                       tide_error *err) TIDE_CHECKED;

struct savepoint;
// Reads footer and manifest only; of a delta also those of the files below it.
tide_status tide__savepoint_open(const char *path, struct savepoint **out, tide_error *err) TIDE_CHECKED;
const struct savepoint_info *tide__savepoint_info(const struct savepoint *savepoint);
// Of a delta: with the files below it.
uint64_t tide__savepoint_bytes(const struct savepoint *savepoint);
uint64_t tide__savepoint_file_bytes(const struct savepoint *savepoint);  // only this one
// The checkpoint_id of the full file at the bottom; of a full one its own.
uint64_t tide__savepoint_base_id(const struct savepoint *savepoint);
// The entries of one table whose keys lie in [lower, upper) (upper.len == 0: to the end), as REPLACE, read chunk by chunk. A
// damaged chunk ends the stream; tide__savepoint_status then has the error. The source must be freed before the savepoint.
tide_status tide__savepoint_entries(struct savepoint *savepoint, size_t table, struct str lower, struct str upper,
                                    struct state_source **out, tide_error *err) TIDE_CHECKED;
// The same of a windowed table, and only of chunks that may have a key whose first field behind the window is `field`, in any window: others
// may be left out. *out_filtered false: the table has no key filter, and nothing was left out.
tide_status tide__savepoint_entries_with(struct savepoint *savepoint, size_t table, struct str field,
                                         bool *out_filtered, struct state_source **out, tide_error *err) TIDE_CHECKED;
tide_status tide__savepoint_status(const struct savepoint *savepoint, tide_error *err);
// Streams opened from now on leave out the keys of a damaged chunk and what lies between, and the failure of earlier streams
// is forgotten.
void tide__savepoint_pass_over(struct savepoint *savepoint, size_t table, const struct savepoint_chunk *chunk);
void tide__savepoint_close(struct savepoint *savepoint);

// Writes the savepoint as one full file: a delta is merged with what is below it. Everything is checked on the way.
tide_status tide__savepoint_rewrite(struct savepoint *savepoint, const char *path, uint64_t *out_bytes,
                                    tide_error *err) TIDE_CHECKED;

// Every checksum of the file, and of those below a delta. Calls `damaged` for each broken part and goes on where it can.
struct savepoint_damage {
    const char *path;
    const struct state_table_desc *desc;  // NULL: header, manifest or footer
    uint32_t section;                     // of a delta
    uint32_t chunk;                       // of the table, of a delta's section
    const struct savepoint_chunk *index;
    const char *what;
};
typedef void savepoint_damage_fn(void *ctx, const struct savepoint_damage *damage);
tide_status tide__savepoint_verify(const char *path, savepoint_damage_fn *damaged, void *ctx,
                                   tide_error *err) TIDE_CHECKED;
// Writes what is whole of `path` to a new full file, which says what is missing; calls `damaged` for each broken part. Keys whose
// value may depend on a damaged part are missing too. Without a readable manifest nothing can be done.
tide_status tide__savepoint_salvage(const char *path, const char *out_path, savepoint_damage_fn *damaged, void *ctx,
                                    uint64_t *out_missing, tide_error *err) TIDE_CHECKED;

#endif
