// What a file sink's savepoint holds: the files that became pending at a barrier.
#ifndef TIDE_ENGINE_CONNECTORS_PENDING_H
#define TIDE_ENGINE_CONNECTORS_PENDING_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct pending_file {
    struct str folder;  // below the sink's: "" or `key=value/`
    uint64_t number;
    uint64_t length;
    uint64_t hash;  // XXH3 of the content
};

// Version 2: byte version; varint run length, run; varint next number, files; a file: varint folder length, folder,
// varint number, length, 8 bytes hash. Then what the run has published and has not made again yet (see published.h): varint
// files; a file: varint folder length, folder, varint number, offset. Version 1 ends before that.
void tide__pending_begin(struct strbuf *out, const char *run, uint64_t next_number, uint64_t count);
void tide__pending_add(struct strbuf *out, const struct pending_file *file);
// Behind the last file.
void tide__pending_again_begin(struct strbuf *out, uint64_t count);
void tide__pending_again_add(struct strbuf *out, struct str folder, uint64_t number, uint64_t offset);

struct pending_reader {
    struct str rest, run;
    uint64_t next_number, count;
    int version;
};
tide_status tide__pending_open(struct str encoded, struct pending_reader *out, tide_error *err) TIDE_CHECKED;
tide_status tide__pending_next(struct pending_reader *reader, struct pending_file *out, tide_error *err) TIDE_CHECKED;
// Behind the last file. `length` is the offset.
tide_status tide__pending_again_count(struct pending_reader *reader, uint64_t *out, tide_error *err) TIDE_CHECKED;
tide_status tide__pending_again_next(struct pending_reader *reader, struct pending_file *out,
                                     tide_error *err) TIDE_CHECKED;
// Whether all of a list can be read.
tide_status tide__pending_check(struct str encoded, tide_error *err) TIDE_CHECKED;

// mkdir -p, so that a power cut leaves them there. The first base_len bytes of path are a folder that was made so already.
tide_status tide__sink_folder_make(const char *path, size_t base_len, tide_error *err) TIDE_CHECKED;

// Names in the sink's folder. To be freed.
char *tide__pending_hidden(const char *base, const struct pending_file *file, struct str run);
char *tide__pending_visible(const char *base, const struct pending_file *file, struct str run);
// Makes one file visible; nothing happens if it is already. `verify`: its length and checksum are compared first, and a
// file that is neither hidden nor visible is an error.
tide_status tide__pending_publish(const char *base, const struct pending_file *file, struct str run, bool verify,
                                  tide_error *err) TIDE_CHECKED;
// fsync of a folder.
tide_status tide__pending_sync_folder(const char *base, struct str folder, tide_error *err) TIDE_CHECKED;
// Removes the visible files of a folder that are not of the run: INSERT OVERWRITE.
tide_status tide__pending_overwrite(const char *base, struct str folder, const char *run, tide_error *err) TIDE_CHECKED;
// Calls `visit` for each name in the sink's folder and the `key=value` folders below it. `folder` is as in struct pending_file.
typedef tide_status pending_visit_fn(void *ctx, const char *folder_path, struct str folder, const char *name,
                                     tide_error *err);
tide_status tide__pending_walk(const char *base, pending_visit_fn *visit, void *ctx, tide_error *err) TIDE_CHECKED;
// Removes hidden files of a run, at any depth.
tide_status tide__pending_sweep(const char *base, const char *run, tide_error *err) TIDE_CHECKED;

#endif
