// The seam between the store and what holds the tables: one const vtable per backend. Inside state/ only.
//
// The store owns order, threads and buffers; a backend owns sorted data. All writing calls (write_run, drop_range,
// settle, snapshot_new) come from the store's background thread, one at a time; reading calls come from any thread, also
// while the background thread writes.
#ifndef TIDE_STATE_BACKEND_H
#define TIDE_STATE_BACKEND_H

#include "state/state.h"

struct arena;

// The first members of a backend's own structs.
struct backend {
    const struct backend_ops *ops;
};
struct backend_table {
    struct backend *backend;
    const struct state_table_desc *desc;
};
struct backend_iter {
    const struct backend_ops *ops;
};
struct backend_snapshot {
    const struct backend_ops *ops;
};

struct backend_counts {
    uint64_t entries, bytes, windows_dropped;
    uint64_t ranges_dropped;  // dropped ranges in which something may have been
};

// When a backend may do its housekeeping.
enum backend_moment {
    BACKEND_AFTER_WRITE,     // something was written; be quick unless merging is due
    BACKEND_BEFORE_BARRIER,  // a snapshot will be taken next: what the files show must be the state
};

struct backend_ops {
    const char *name;
    // May not touch a file or start a thread. Cannot fail.
    struct backend *(*open)(const struct state_options *options);
    // Everything else of the backend is closed. Removes its files.
    void (*close)(struct backend *backend);
    // Registers a table; may not touch a file.
    struct backend_table *(*table_new)(struct backend *backend, const struct state_table_desc *desc);
    void (*table_free)(struct backend_table *table);

    // Writes one sorted run; adds to out_counts. The source stays the caller's.
    tide_status (*write_run)(struct backend_table *table, struct state_source *source,
                             struct backend_counts *out_counts, tide_error *err);
    tide_status (*drop_range)(struct backend_table *table, struct str lower, struct str upper,
                              struct backend_counts *out_counts, tide_error *err);
    tide_status (*settle)(struct backend *backend, enum backend_moment moment, tide_error *err);

    struct backend_snapshot *(*snapshot_new)(struct backend *backend);
    void (*snapshot_release)(struct backend_snapshot *snapshot);

    // snapshot NULL: what is written now. An empty upper bound: to the end.
    tide_status (*iter_open)(struct backend_table *table, struct backend_snapshot *snapshot, struct str lower,
                             struct str upper, struct backend_iter **out_iter, tide_error *err);
    bool (*iter_next)(struct backend_iter *iter, struct str *out_key, struct str *out_value);
    void (*iter_seek)(struct backend_iter *iter, struct str key);
    tide_status (*iter_close)(struct backend_iter *iter, tide_error *err);
    // Ascending keys; missing ones give {NULL, 0}; an empty value has data.
    tide_status (*multi_get)(struct backend_table *table, const struct str *keys, size_t n, struct arena *arena,
                             struct str *out_values, tide_error *err);
    uint64_t (*disk_bytes)(struct backend *backend);
};

extern const struct backend_ops tide__memory_backend;
extern const struct backend_ops tide__rocksdb_backend;

#endif
