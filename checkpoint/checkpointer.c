#include "checkpoint/checkpointer.h"

#include "base/alloc.h"
#include "base/killpoint.h"
#include "checkpoint/delta.h"

#include <string.h>

#define DELTAS_MAX  8
#define RUNS_MAX    64    // of a chain: all are open at once when it is read
#define DELTA_LEAST 4096  // bytes of room that make collecting worth it

struct checkpointer {
    struct state_dir *dir;
    uint32_t job, keep;
    struct state_store *store;
    uint64_t restored_id, first_id;
    // The chain that the next checkpoint may go on.
    uint32_t depth;
    uint64_t last_id, last_checksum, full_bytes, delta_bytes;
    size_t runs;
    struct delta_writer *delta;  // collects what changes; NULL: the next one is full
};

struct checkpointer *tide__checkpointer_new(struct state_dir *dir, uint32_t job, struct state_store *store,
                                            uint32_t keep, uint64_t restored_id, uint64_t first_id) {
    struct checkpointer *c = tide__calloc(1, sizeof *c);
    *c = (struct checkpointer){
        .dir = dir, .job = job, .keep = keep, .store = store, .restored_id = restored_id, .first_id = first_id};
    return c;
}

static void stop_collecting(struct checkpointer *c) {
    tide__state_watch(c->store, NULL);
    tide__delta_free(c->delta);
    c->delta = NULL;
}

static void collect(struct checkpointer *c) {
    uint64_t room = c->full_bytes / 2 > c->delta_bytes ? c->full_bytes / 2 - c->delta_bytes : 0;
    if (c->depth == DELTAS_MAX || c->runs >= RUNS_MAX || room < DELTA_LEAST) return;
    struct strbuf beside = {0};
    tide__state_dir_open_delta_path(c->dir, c->job, &beside);
    c->delta = tide__delta_new(c->store, beside.data, room, RUNS_MAX - c->runs);
    tide__strbuf_deinit(&beside);
    tide__state_watch(c->store, tide__delta_watcher(c->delta));
}

static tide_status write_delta(struct checkpointer *c, const char *path, const struct savepoint_info *given,
                               struct savepoint_written *out, tide_error *err) {
    struct savepoint_info info = *given;
    info.depth = c->depth + 1;
    info.parent_id = c->last_id;
    info.parent_checksum = c->last_checksum;
    TIDE_TRY(tide__delta_finish(c->delta, path, &info, out, err));
    c->depth++;
    c->delta_bytes += out->bytes;
    c->runs += tide__delta_runs(c->delta);
    return TIDE_OK;
}

static tide_status write_full(struct checkpointer *c, const char *path, const struct savepoint_info *info,
                              struct state_snapshot *snapshot, struct savepoint_written *out, tide_error *err) {
    if (c->depth > 0) tide__kill_point("checkpoint.compacting");
    TIDE_TRY(tide__savepoint_write_full(path, info, c->store, snapshot, out, err));
    c->depth = 0;
    c->full_bytes = out->bytes;
    c->delta_bytes = 0;
    c->runs = 0;
    return TIDE_OK;
}

tide_status tide__checkpointer_write(struct checkpointer *c, const struct savepoint_info *info,
                                     struct state_snapshot *snapshot, bool full, struct checkpoint_written *out,
                                     tide_error *err) {
    *out = (struct checkpoint_written){.delta = !full && c->delta != NULL && !tide__delta_is_useless(c->delta)};
    struct strbuf path = {0};
    struct savepoint_written written = {0};
    tide_status status = tide__state_dir_checkpoint_path(c->dir, c->job, info->checkpoint_id, out->delta, &path, err);
    if (status == TIDE_OK)
        status = out->delta ? write_delta(c, path.data, info, &written, err)
                            : write_full(c, path.data, info, snapshot, &written, err);
    tide__strbuf_deinit(&path);
    stop_collecting(c);
    if (status == TIDE_OK) status = tide__state_dir_note(c->dir, c->job, info->checkpoint_id, out->delta, err);
    if (status != TIDE_OK) return status;
    out->bytes = written.bytes;
    c->last_id = info->checkpoint_id;
    c->last_checksum = written.manifest_checksum;
    collect(c);
    return TIDE_OK;
}

void tide__checkpointer_retain(struct checkpointer *c) {
    tide__state_dir_retain(c->dir, c->job, c->keep, c->restored_id, c->first_id);
}

void tide__checkpointer_free(struct checkpointer *c) {
    if (c == NULL) return;
    tide__delta_free(c->delta);
    tide__free(c);
}
