// The RocksDB backend, inside. See README.md of this folder for the policy and for who owns what in the C API.
//
//   open.c     directory, database, column families        run.c      runs -> SST files -> ingest
//   merge.c    the merge operator                          fold.c     merging runs, dropping, purging
//   windows.c  which windows a table's files hold          read.c     snapshots, iterators, point reads
//
// Only the store's background thread writes: `windows`, the files and the database change on it alone. Other threads
// read; they take a table's lock for reading while they open an iterator, so that files are never exchanged just then.
#ifndef TIDE_STATE_BACKENDS_ROCKSDB_ROCKS_H
#define TIDE_STATE_BACKENDS_ROCKSDB_ROCKS_H

#include "state/backend.h"
#include "state/sketch.h"

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

enum {
    WINDOW_PREFIX = 16,
    LEVELS = 40,  // each overlapping run takes a level: room for 39 before level 0 is used
    SHARED_FILE_MAX = 1 << 20,
    SKETCHED_FROM = 1 << 20,  // bytes of a window's run that make it worth knowing how many keys there are
    FILE_MAX = 8 << 20,
    VALUE_REPLACE = 'R',  // the header byte of a value: it is whole
    VALUE_ADD = 'A',      // it is an increment (a merge operand)
};

// What the files hold of one window. A keyed table is one window with a prefix of zeros.
struct window {
    unsigned char prefix[WINDOW_PREFIX];
    uint32_t runs;         // that overlap in it
    bool dead;             // dropped, but its files are still there: readers step over it
    uint64_t base, delta;  // bytes of the first (or merged) run and of the later ones
    uint64_t base_entries, delta_entries;
    uint64_t spare;         // bytes of the later ones that merging saves if all their keys are in older ones
    struct sketch *sketch;  // owned: of all keys. NULL: the first run was small
};

struct windows {
    struct window *items;  // ascending by prefix
    size_t count, cap;
    size_t dead_count;
    uint64_t dead_bytes, live_bytes;
};

struct rocks {
    struct backend base;
    char *dir;
    struct memory_budget *budget;
    size_t charged;
    bool made_dir;
    uint64_t next_file;
    atomic_int snapshots;
    _Atomic(rocksdb_t *) db;  // NULL until the first run
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_envoptions_t *env_options;
    rocksdb_writeoptions_t *no_wal;
    rocksdb_ingestexternalfileoptions_t *ingest;
    rocksdb_flushoptions_t *flush;
    pthread_mutex_t lock;  // of tables
    struct rocks_table *tables;
};

struct rocks_table {
    struct backend_table base;
    struct rocks *owner;
    struct rocks_table *next;
    bool windowed, scanned_once, only_concat,
        bulky;                                     // as the desc says, which may be gone when the last runs are written
    rocksdb_options_t *options;                    // NULL until cf is made
    _Atomic(rocksdb_column_family_handle_t *) cf;  // NULL until the first run
    pthread_rwlock_t lock;                         // of windows, and of exchanging files against opening iterators
    struct windows windows;
    bool fold_due;             // some window has too many runs
    bool tombstones;           // the database's memtable holds range deletions
    size_t purged_dead_count;  // dead windows that the last purge had to leave
    uint64_t purged_dead_bytes;
};

// --- open.c
// Makes what is needed for a first run of the table: directory, database, column family.
tide_status tide__rocks_prepare(struct rocks_table *table, tide_error *err) TIDE_CHECKED;
// Turns RocksDB's malloced message into an error and frees it.
tide_status tide__rocks_fail(char *message, tide_error *err, const char *what) TIDE_CHECKED;

// --- merge.c
// The operator owns nothing: desc is borrowed for the life of the store.
rocksdb_mergeoperator_t *tide__rocks_merge_operator(const struct state_table_desc *desc);

// --- windows.c
void tide__windows_prefix(bool windowed, struct str key, unsigned char out_prefix[WINDOW_PREFIX]);
// The first index whose prefix is not less.
size_t tide__windows_lower_bound(const struct windows *windows, const unsigned char *prefix);
struct window *tide__windows_find(const struct windows *windows, const unsigned char *prefix);
// Notes one more run of the note's window, whose sketch it takes. Returns the window, valid until the next change.
struct window_note;
struct window *tide__windows_add_run(struct windows *windows, struct window_note *note);
void tide__windows_kill(struct windows *windows, struct window *window);
// The window now is one run, the note's, whose sketch it takes.
void tide__windows_set_merged(struct windows *windows, struct window *window, struct window_note *note);
void tide__windows_erase(struct windows *windows, size_t first, size_t count);
// The least prefix greater than all keys that begin with this one. False if there is none (all 0xFF).
bool tide__windows_successor(const unsigned char *prefix, unsigned char out[WINDOW_PREFIX]);
bool tide__windows_wants_fold(const struct rocks_table *table, const struct window *window);
// Copies the prefixes of dead windows, ascending; NULL if there are none.
unsigned char *tide__windows_copy_dead(const struct windows *windows, size_t *out_count);

// --- run.c
enum rocks_write { ROCKS_PUT, ROCKS_MERGE, ROCKS_DELETE };
struct window_note {
    unsigned char prefix[WINDOW_PREFIX];
    uint64_t bytes, entries;
    uint64_t spare;         // as in struct window, if this is a later run
    struct sketch *sketch;  // owned; NULL: a small window, or no window
};
struct run_writer {
    struct rocks_table *table;
    rocksdb_sstfilewriter_t *sst;
    bool is_open;         // a file is being written
    uint64_t file_bytes;  // of it, about
    char **files;         // finished and the open one
    size_t file_count, file_cap;
    struct window_note *notes;  // the windows written, ascending
    size_t note_count, note_cap;
    bool staging;  // the window's entries are held back until it is known to be small or large
    struct strbuf stage;
    struct sketch sketch;  // of the keys of the window that is being written
    bool only_concat;      // merging leaves all bytes of values as they are
    uint64_t entries, bytes;
};
void tide__run_writer_init(struct run_writer *writer, struct rocks_table *table);
// `value` has its header byte. Keys ascend.
tide_status tide__run_writer_add(struct run_writer *writer, enum rocks_write write, struct str key, struct str value,
                                 tide_error *err) TIDE_CHECKED;
tide_status tide__run_writer_finish(struct run_writer *writer, tide_error *err) TIDE_CHECKED;
// All files at once.
tide_status tide__run_writer_ingest(struct run_writer *writer, tide_error *err) TIDE_CHECKED;
// Also removes files that were not ingested.
void tide__run_writer_deinit(struct run_writer *writer);
tide_status tide__rocks_write_run(struct backend_table *base, struct state_source *source,
                                  struct backend_counts *out_counts, tide_error *err) TIDE_CHECKED;

// --- fold.c
// A range deletion by RocksDB's own means: right at once for every reader and snapshot.
tide_status tide__rocks_delete_range(struct rocks_table *table, struct str lower, struct str upper,
                                     tide_error *err) TIDE_CHECKED;
tide_status tide__rocks_drop_range(struct backend_table *base, struct str lower, struct str upper,
                                   struct backend_counts *out_counts, tide_error *err) TIDE_CHECKED;
tide_status tide__rocks_settle(struct backend *base, enum backend_moment moment, tide_error *err) TIDE_CHECKED;

// --- read.c
struct backend_snapshot *tide__rocks_snapshot_new(struct backend *base);
void tide__rocks_snapshot_release(struct backend_snapshot *base);
tide_status tide__rocks_iter_open(struct backend_table *base, struct backend_snapshot *snapshot, struct str lower,
                                  struct str upper, struct backend_iter **out_iter, tide_error *err) TIDE_CHECKED;
bool tide__rocks_iter_next(struct backend_iter *base, struct str *out_key, struct str *out_value);
void tide__rocks_iter_seek(struct backend_iter *base, struct str key);
tide_status tide__rocks_iter_close(struct backend_iter *base, tide_error *err) TIDE_CHECKED;
tide_status tide__rocks_multi_get(struct backend_table *base, const struct str *keys, size_t n, struct arena *arena,
                                  struct str *out_values, tide_error *err) TIDE_CHECKED;

#endif
