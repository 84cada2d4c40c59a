// A delta being collected: a watcher of the state that writes what changes to a file, run by run. Inside checkpoint/ only.
//
// All calls on the state's background thread.
#ifndef TIDE_CHECKPOINT_DELTA_H
#define TIDE_CHECKPOINT_DELTA_H

#include "checkpoint/savepoint.h"

struct delta_writer;

// `beside`: where it is collected; the file is made with the first change. Larger than bytes_max, in more runs than runs_max,
// or on a disk that is full it becomes useless, gives its space back and ignores what else comes.
struct delta_writer *tide__delta_new(struct state_store *store, const char *beside, uint64_t bytes_max,
                                     size_t runs_max);
struct state_watcher *tide__delta_watcher(struct delta_writer *delta);
bool tide__delta_is_useless(const struct delta_writer *delta);
size_t tide__delta_runs(const struct delta_writer *delta);
// info: with depth and parent.
tide_status tide__delta_finish(struct delta_writer *delta, const char *path, const struct savepoint_info *info,
                               struct savepoint_written *out, tide_error *err) TIDE_CHECKED;
void tide__delta_free(struct delta_writer *delta);

#endif
