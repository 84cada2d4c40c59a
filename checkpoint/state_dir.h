// A job's home on disk: lock, checkpoints, working state.
//
//   DIR/lock                       pid of the process that runs here (flock)
//   DIR/control                    socket of the running job
//   DIR/job-<n>/checkpoints/       chk-<id>.savepoint (full) and chk-<id>.delta, the newest `retain` of them and what
//                                  those build on; n: job-starting statement, from 1
//   DIR/job-<n>/run-id             names the sinks' files until a checkpoint does
//   DIR/job-<n>/newest             name of the newest checkpoint: there since the first one was made
//   DIR/job-<n>/work/              disposable working state
//
// Folders are 0700, files 0600.
#ifndef TIDE_CHECKPOINT_STATE_DIR_H
#define TIDE_CHECKPOINT_STATE_DIR_H

#include "base/error.h"
#include "checkpoint/savepoint.h"

struct state_dir;

// Makes the folder if missing and takes the lock; a second process is refused with the first one's pid (TIDE_ERR_OPTION).
tide_status tide__state_dir_open(const char *path, struct state_dir **out, tide_error *err) TIDE_CHECKED;
void tide__state_dir_close(struct state_dir *dir);
const char *tide__state_dir_path(const struct state_dir *dir);
// Path of a job's working state; owned by dir.
const char *tide__state_dir_work(struct state_dir *dir, uint32_t job);
// Appends the name of a checkpoint's file: `chk-<id>.savepoint`, of a delta `chk-<id>.delta`.
void tide__checkpoint_file_name(uint64_t id, bool delta, struct strbuf *out);
// Path for checkpoint `id` of a job, in `out`. Makes the folders.
tide_status tide__state_dir_checkpoint_path(struct state_dir *dir, uint32_t job, uint64_t id, bool delta,
                                            struct strbuf *out, tide_error *err) TIDE_CHECKED;
// Where the job's next delta is collected, in `out`.
void tide__state_dir_open_delta_path(struct state_dir *dir, uint32_t job, struct strbuf *out);
// The largest number of a job's checkpoints, whole or not; 0: there are none.
uint64_t tide__state_dir_last_id(struct state_dir *dir, uint32_t job);
// Notes down that the job has made a checkpoint, before anything depends on it.
tide_status tide__state_dir_note(struct state_dir *dir, uint32_t job, uint64_t id, bool delta,
                                 tide_error *err) TIDE_CHECKED;
// The newest whole checkpoint of the highest job, or *out NULL if none was ever made. One that was noted and is gone is an error. If a newer one had to be passed over because it
// is damaged, out_skipped (arena) says which and why; else NULL. If all of that job are damaged: TIDE_ERR_SAVEPOINT. Does not need
// the lock: a static function over a path, so that `inspect` and `savepoint` may look while a job runs.
tide_status tide__state_dir_newest(const char *path, struct arena *arena, struct savepoint **out, const char **out_path,
                                   const char **out_skipped, tide_error *err) TIDE_CHECKED;
// The same without reading the chunks (inspect, list, resuming): a checkpoint counts as whole when its index is.
tide_status tide__state_dir_latest(const char *path, struct arena *arena, struct savepoint **out, const char **out_path,
                                   const char **out_skipped, tide_error *err) TIDE_CHECKED;
// Of those older than `below`, when that turned out to be damaged. `why` is said in front of out_skipped.
tide_status tide__state_dir_older(const char *path, uint64_t below, const char *why, struct arena *arena,
                                  struct savepoint **out, const char **out_path, const char **out_skipped,
                                  tide_error *err) TIDE_CHECKED;
// True if DIR holds any checkpoint.
bool tide__state_dir_has_checkpoints(const char *path);
// All checkpoints of a path: calls fn with job number, id, path, oldest first.
typedef void state_dir_each_fn(void *ctx, uint32_t job, uint64_t id, const char *path);
tide_status tide__state_dir_each(const char *path, state_dir_each_fn *fn, void *ctx, tide_error *err) TIDE_CHECKED;
// Removes all but the newest `keep` checkpoints of a job and what they build on (oldest first), and left-over temporary
// files. Those numbered between good_until and good_from (both exclusive) do not count: they are damaged.
void tide__state_dir_retain(struct state_dir *dir, uint32_t job, uint32_t keep, uint64_t good_until,
                            uint64_t good_from);
// The name of the sinks' files of a job that begins: that of an earlier process that died before its first checkpoint, else
// `fresh`, which is noted down. In the arena.
tide_status tide__state_dir_run_id(struct state_dir *dir, uint32_t job, const char *fresh, struct arena *arena,
                                   const char **out_run_id, tide_error *err) TIDE_CHECKED;
// --restart: removes all checkpoints and work of all jobs. Sinks' files are not touched.
tide_status tide__state_dir_clear(struct state_dir *dir, tide_error *err) TIDE_CHECKED;

#endif
