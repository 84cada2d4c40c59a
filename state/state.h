// Keyed state: tables of sorted bytes that operators write in runs and that savepoints are made from.
//
// An operator keeps what is hot in memory and hands over, at a barrier or when memory is short, a sorted *run* of
// entries. A background thread writes each run as SST files and ingests it into the table's column family; the
// operator never waits for it and never reads to write. An entry says how it combines with what is older under its
// key: ADD (merge by the table's combiners), REPLACE, DELETE. Operations on one store take effect in the order they were
// submitted, so a barrier that is submitted after a run sees that run and nothing later.
//
//   operator --runs, puts, drops--> queue --> [background thread] --> column family --> snapshot --> savepoint
//
// Keys are order-preserving (memcmp). A windowed table's keys begin with the window: 8 bytes start, 8 bytes end
// (big-endian, sign bit flipped), so that a window is one key range and is dropped whole.
#ifndef TIDE_STATE_STATE_H
#define TIDE_STATE_STATE_H

#include "base/error.h"
#include "base/str.h"
#include "state/memtable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How one field of a value is laid out. A value is its fields one after the other, without padding.
enum state_form {
    STATE_FORM_I64,    // 8 bytes little-endian
    STATE_FORM_F64,    // 8 bytes, IEEE bits little-endian
    STATE_FORM_I128,   // 16 bytes little-endian
    STATE_FORM_BYTES,  // varint length (LEB128), then the bytes
};

// The closed table of combiners: how an ADD's field joins an older one.
enum state_combiner {
    STATE_COMBINE_REPLACE,  // the newer
    STATE_COMBINE_ADD,      // I64 and I128, wrapping
    STATE_COMBINE_MIN,      // BYTES in order-preserving form; empty is "none" and loses
    STATE_COMBINE_MAX,      // likewise
    STATE_COMBINE_CONCAT,   // BYTES: older, then newer
    STATE_COMBINE_FIRST,    // BYTES: the older unless it is empty
    STATE_COMBINE_LAST,     // BYTES: the newer unless it is empty
};

// A field of a key or a value, described for savepoints, the inspector and the compatibility checker.
struct state_field {
    const char *name;  // as a user knows it: `auction`, `SUM(price)`, `COUNT(*)`
    const char *type;  // Flink's type text of what it holds: `BIGINT`, `DECIMAL(38, 2)`
    enum state_form form;
    enum state_combiner combiner;
};

enum state_table_kind {
    STATE_TABLE_WINDOWED,  // keys begin with (start, end); whole windows are dropped
    STATE_TABLE_KEYED,     // anything else; entries are deleted singly
};

// All strings are borrowed and must outlive the store.
struct state_table_desc {
    const char *name;         // unique in a job, the column family's name: `<operator id>.<table>`, [a-z0-9._-]+
    const char *operator_id;  // the plan's id of its operator
    enum state_table_kind kind;
    size_t key_count, value_count;
    const struct state_field *keys;  // after the window bounds; form is not used
    const struct state_field *values;
    bool scanned_once;  // written, read through and dropped: its runs are not worth merging
    bool read_singly;   // read here and there, by key
    bool only_scanned;  // no key is looked up (it could be, slowly)
    bool bulky;  // whole rows, of which more are kept than are needed: worth compressing in the working directory
};

enum state_op { STATE_ADD, STATE_REPLACE, STATE_DELETE };

struct state_entry {
    enum state_op op;
    struct str key;
    struct str value;  // empty for STATE_DELETE
    bool
        has_room;  // the byte before the value may be written: a backend then need not copy the value to put a header there
};

// A stream of entries in strictly ascending key order. The first member of the producer's own struct.
struct state_source {
    // Gives the next entry, valid until the next call, or false at the end. Runs on the background thread and must not
    // touch anything that another thread changes.
    bool (*next)(struct state_source *source, struct state_entry *out_entry);
    // Frees the source and releases what it holds (on the background thread, after the run is durable in the store).
    void (*free)(struct state_source *source);
};

struct state_store;
struct state_table;
struct state_snapshot;
struct state_iter;

enum state_backend { STATE_BACKEND_ROCKSDB, STATE_BACKEND_MEMORY };

struct state_options {
    enum state_backend backend;
    const char *dir;               // working directory; what is in it is thrown away. Made on the first ingest
    struct memory_budget *budget;  // borrowed
};

// --- the store -------------------------------------------------------------------------------------------------

// Cheap: no file is touched and no thread is started before the first run, put or load.
tide_status tide__state_open(const struct state_options *options, struct state_store **out_store,
                             tide_error *err) TIDE_CHECKED;
// Waits for the background thread, closes, and removes the working directory's contents. NULL is allowed.
void tide__state_close(struct state_store *store);
// Registers a table; desc is borrowed for the life of the store.
tide_status tide__state_table(struct state_store *store, const struct state_table_desc *desc,
                              struct state_table **out_table, tide_error *err) TIDE_CHECKED;
size_t tide__state_table_count(const struct state_store *store);
struct state_table *tide__state_table_at(const struct state_store *store, size_t index);
const struct state_table_desc *tide__state_table_desc(const struct state_table *table);

// --- writing: asynchronous, in submission order ----------------------------------------------------------------

// Takes the source. `bytes` is the memory it holds (for the queue's bound: submit waits when too much is pending).
// A failure of the background thread is reported by the next call that returns a status.
tide_status tide__state_submit_run(struct state_table *table, struct state_source *source, size_t bytes,
                                   tide_error *err) TIDE_CHECKED;
// Buffered in the table until the next barrier (or until the buffer is large) and then submitted as one sorted run;
// the last write of a key wins. Keyed tables that keep their working copy in the operator use these.
void tide__state_put(struct state_table *table, struct str key, struct str value);
void tide__state_delete(struct state_table *table, struct str key);
// What is buffered becomes a run now.
tide_status tide__state_flush(struct state_table *table, tide_error *err) TIDE_CHECKED;
// Everything in [lower, upper) goes.
tide_status tide__state_drop_range(struct state_table *table, struct str lower, struct str upper,
                                   tide_error *err) TIDE_CHECKED;
// Everything submitted and buffered before is in the snapshot; `ready` runs on the background thread and owns it. On a
// failure of the store snapshot is NULL and err says why. Later operations wait until `ready` returns.
typedef void state_ready_fn(void *ctx, struct state_snapshot *snapshot, const tide_error *err);
tide_status tide__state_barrier(struct state_store *store, state_ready_fn *ready, void *ctx,
                                tide_error *err) TIDE_CHECKED;
// Hears of everything that changes, in the order in which it takes effect; for deltas. Called on the background thread.
struct state_watcher {
    // An entry of a run as it is written; keys ascend until run_end.
    void (*entry)(struct state_watcher *watcher, struct state_table *table, const struct state_entry *entry);
    void (*run_end)(struct state_watcher *watcher, struct state_table *table);
    // Something in the range was there.
    void (*drop)(struct state_watcher *watcher, struct state_table *table, struct str lower, struct str upper);
};
// NULL: nobody. Only from `ready` of a barrier, or while nothing is pending. The watcher must outlive the thread.
void tide__state_watch(struct state_store *store, struct state_watcher *watcher);
// Waits until all that was submitted is done; returns the first background failure.
tide_status tide__state_sync(struct state_store *store, tide_error *err) TIDE_CHECKED;
// True once every run submitted to the table until now has been ingested (memory copies may be dropped).
bool tide__state_is_idle(const struct state_table *table);
// Loads entries (restore): synchronous; the source is in key order and is freed.
tide_status tide__state_load(struct state_table *table, struct state_source *source, tide_error *err) TIDE_CHECKED;

// --- reading ---------------------------------------------------------------------------------------------------

// Iterates merged entries with lower <= key < upper (upper.len == 0: to the end), in key order. With snapshot NULL
// it first waits for what was submitted to this table. Values come without op: whole, combined values.
tide_status tide__state_iter_open(struct state_table *table, struct state_snapshot *snapshot, struct str lower,
                                  struct str upper, struct state_iter **out_iter, tide_error *err) TIDE_CHECKED;
// The same without what was buffered since the last tide__state_flush: for those who know that they have that in
// memory. Flushing for every read would leave a trail of tiny runs.
tide_status tide__state_iter_open_flushed(struct state_table *table, struct str lower, struct str upper,
                                          struct state_iter **out_iter, tide_error *err) TIDE_CHECKED;
// Moves to the next entry; false at the end or on failure (tide__state_iter_close tells which).
bool tide__state_iter_next(struct state_iter *iter, struct str *out_key, struct str *out_value);
// Jumps forward: the next call of next gives the first entry with key >= `key`.
void tide__state_iter_seek(struct state_iter *iter, struct str key);
tide_status tide__state_iter_close(struct state_iter *iter, tide_error *err) TIDE_CHECKED;
void tide__state_snapshot_release(struct state_snapshot *snapshot);
// Values of n keys in ascending order; missing ones have len 0 and data NULL. Values live in the arena.
struct arena;
tide_status tide__state_multi_get(struct state_table *table, const struct str *keys, size_t n, struct arena *arena,
                                  struct str *out_values, tide_error *err) TIDE_CHECKED;

// The same without what was buffered since the last tide__state_flush.
tide_status tide__state_multi_get_flushed(struct state_table *table, const struct str *keys, size_t n,
                                          struct arena *arena, struct str *out_values, tide_error *err) TIDE_CHECKED;

// --- combining, also used to merge savepoints --------------------------------------------------------------------

// out = older combined with newer, both whole field lists of desc. Appends to out. False if either is malformed.
bool tide__state_combine(const struct state_table_desc *desc, struct str older, struct str newer, struct strbuf *out);
// The same for `count` >= 1 values, the oldest first, in one pass.
bool tide__state_combine_all(const struct state_table_desc *desc, const struct str *values, size_t count,
                             struct strbuf *out);

// Metrics.
struct state_stats {
    uint64_t runs, entries, bytes_written, windows_dropped;
    uint64_t disk_bytes;  // files of the working directory now
};
void tide__state_stats(struct state_store *store, struct state_stats *out_stats);

#endif
