// The periodic checkpoints of one job: full ones and deltas, and which old ones go.
//
//   full | delta | delta | ... | full | delta ...      a chain has at most 8 deltas, of half the full one's bytes together
//
// A checkpoint is a delta if what changed since the last one was collected (delta.h) and the chain has room for it. The first
// one of a process is full, so that the files of a chain always follow each other. On the state's background thread only.
#ifndef TIDE_CHECKPOINT_CHECKPOINTER_H
#define TIDE_CHECKPOINT_CHECKPOINTER_H

#include "checkpoint/savepoint.h"
#include "checkpoint/state_dir.h"

struct checkpointer;

// restored_id: of the checkpoint that the job goes on from, 0: none. Newer ones that are there already were passed over
// because they are damaged: they do not count when old ones go. The first new one has the number first_id.
struct checkpointer *tide__checkpointer_new(struct state_dir *dir, uint32_t job, struct state_store *store,
                                            uint32_t keep, uint64_t restored_id, uint64_t first_id);
// Writes checkpoint info->checkpoint_id and goes on collecting. full: it must be one file.
struct checkpoint_written {
    uint64_t bytes;
    bool delta;
};
tide_status tide__checkpointer_write(struct checkpointer *checkpointer, const struct savepoint_info *info,
                                     struct state_snapshot *snapshot, bool full, struct checkpoint_written *out,
                                     tide_error *err) TIDE_CHECKED;
// Removes what is not kept; once what the checkpoint covers is published.
void tide__checkpointer_retain(struct checkpointer *checkpointer);
// After the store has ended its thread. NULL is allowed.
void tide__checkpointer_free(struct checkpointer *checkpointer);

#endif
