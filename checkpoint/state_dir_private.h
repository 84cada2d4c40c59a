// What the files of the state directory share.
#ifndef TIDE_CHECKPOINT_STATE_DIR_PRIVATE_H
#define TIDE_CHECKPOINT_STATE_DIR_PRIVATE_H

#include "checkpoint/state_dir.h"

// Whether a job of the state directory `path` has made checkpoints; *out_name: the newest of them, may be empty. (record.c)
bool tide__state_dir_noted(const char *path, uint64_t job, struct strbuf *out_name);
void tide__state_dir_forget(const char *path, uint64_t job);

#endif
