// What a run has published and makes again, because it goes on from a checkpoint that is older than that.
#ifndef TIDE_ENGINE_CONNECTORS_PUBLISHED_H
#define TIDE_ENGINE_CONNECTORS_PUBLISHED_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct published_file {
    char *folder;  // below the sink's: "" or `key=value/`
    uint64_t number;
    uint64_t length;
    uint64_t offset;  // of the first byte that has not been made again
};

// One stream for each folder: its files in the order of their numbers.
struct published {
    const char *base, *run;        // borrowed
    struct published_file *items;  // by folder, then by number
    size_t count, capacity;
    size_t left;  // files with bytes that have not been made again
    int fd;       // of items[open]; -1: none is open
    size_t open;
    struct strbuf scratch;
};

// No file of the folder: nothing is made again there.
#define PUBLISHED_NONE SIZE_MAX

// What a prepared list (see pending.h; empty: none) of this run leaves to be made again: the files that it names for that,
// and all visible ones of the run that are newer than it. *out_next_number: the next free one. A file that is missing is an error.
tide_status tide__published_load(struct published *published, const char *base, const char *run, struct str prepared,
                                 uint64_t *out_next_number, tide_error *err) TIDE_CHECKED;
// A number behind all visible files of the run.
tide_status tide__published_free_number(const char *base, const char *run, uint64_t *out, tide_error *err) TIDE_CHECKED;
// Where the folder's stream goes on.
size_t tide__published_find(const struct published *published, struct str folder);
// Whether the stream has come to its end; moves *at over what has been made again.
bool tide__published_is_over(const struct published *published, size_t *at);
// Takes a row for the stream's next bytes. It is an error if they differ.
tide_status tide__published_take(struct published *published, size_t *at, struct str row, tide_error *err) TIDE_CHECKED;
// Appends what is left to a prepared list.
void tide__published_save(const struct published *published, struct strbuf *out);
// The job has made all its rows: it is an error if something is left.
tide_status tide__published_end(const struct published *published, tide_error *err) TIDE_CHECKED;
void tide__published_deinit(struct published *published);

#endif
