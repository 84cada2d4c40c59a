// Makes a working directory like that of a job at a checkpoint and runs a command on it: state_ldb_probe DIR COMMAND.
// Used by state_ldb_test.sh, which looks at the directory with stock ldb.
#include "base/alloc.h"
#include "state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct state_field fields[] = {
    {"COUNT(*)", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD},
    {"LISTAGG(name)", "STRING", STATE_FORM_BYTES, STATE_COMBINE_CONCAT},
};
static const struct state_table_desc window_desc = {.name = "window-1.acc",
                                                    .operator_id = "window-1",
                                                    .kind = STATE_TABLE_WINDOWED,
                                                    .value_count = 2,
                                                    .values = fields};
static const struct state_table_desc rank_desc = {
    .name = "rank-2.rows", .operator_id = "rank-2", .kind = STATE_TABLE_KEYED, .value_count = 2, .values = fields};

// Windows first..last, `keys` keys each, one increment of {1, "x"} a key.
struct probe_source {
    struct state_source source;
    int window, last, key, keys;
    char bytes[32];
};

static bool next_entry(struct state_source *base, struct state_entry *out) {
    struct probe_source *source = (struct probe_source *)base;
    if (source->key == source->keys) {
        source->key = 0;
        source->window++;
    }
    if (source->window > source->last) return false;
    snprintf(source->bytes, sizeof source->bytes, "from-%03dto---%03dk%04d", source->window, source->window + 1,
             source->key++);
    static const char value[] = "\1\0\0\0\0\0\0\0\1x";
    *out = (struct state_entry){STATE_ADD, {source->bytes, 21}, {value, 10}};
    return true;
}

static void free_source(struct state_source *base) {
    tide__free(base);
}

static struct state_source *windows(int first, int last, int keys) {
    struct probe_source *source = tide__calloc(1, sizeof *source);
    *source = (struct probe_source){.source = {next_entry, free_source}, .window = first, .last = last, .keys = keys};
    return &source->source;
}

static void die_if(tide_status status, const tide_error *err) {
    if (status == TIDE_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void look(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    if (!snapshot) die_if(err->status, err);
    int result = ctx ? system((const char *)ctx) : 0;
    tide__state_snapshot_release(snapshot);
    if (result != 0) exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct memory_budget budget = {.limit = 16 << 20};
    struct state_options options = {STATE_BACKEND_ROCKSDB, argv[1], &budget};
    struct state_store *store;
    struct state_table *window, *rank;
    tide_error err = {0};
    die_if(tide__state_open(&options, &store, &err), &err);
    die_if(tide__state_table(store, &window_desc, &window, &err), &err);
    die_if(tide__state_table(store, &rank_desc, &rank, &err), &err);
    // Ten small windows in one file, a checkpoint, a second run for four of them; two windows are dropped.
    die_if(tide__state_submit_run(window, windows(0, 9, 10), 100, &err), &err);
    die_if(tide__state_drop_range(window, STR_LIT("from-000to---001"), STR_LIT("from-002to---003"), &err), &err);
    die_if(tide__state_barrier(store, look, NULL, &err), &err);
    die_if(tide__state_submit_run(window, windows(4, 7, 10), 100, &err), &err);
    tide__state_put(rank, STR_LIT("kept"), STR_LIT("\5\0\0\0\0\0\0\0\0"));
    tide__state_put(rank, STR_LIT("part"), STR_LIT("\6\0\0\0\0\0\0\0\0"));
    die_if(tide__state_drop_range(rank, STR_LIT("p"), STR_LIT("q"), &err), &err);
    die_if(tide__state_barrier(store, look, argv[2], &err), &err);
    die_if(tide__state_sync(store, &err), &err);
    tide__state_close(store);
    return 0;
}
