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
    uint64_t hash;      // XXH3 of the content
};

// Version 1: byte version; varint run length, run; varint next number, files; a file: varint folder length, folder,
// varint number, length, 8 bytes hash.
void tide__pending_begin(struct strbuf *out, const char *run, uint64_t next_number, uint64_t count);
void tide__pending_add(struct strbuf *out, const struct pending_file *file);

struct pending_reader {
    struct str rest, run;
    uint64_t next_number, count;
};
tide_status tide__pending_open(struct str encoded, struct pending_reader *out, tide_error *err) TIDE_CHECKED;
tide_status tide__pending_next(struct pending_reader *reader, struct pending_file *out, tide_error *err) TIDE_CHECKED;

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
// Removes hidden files of a run, at any depth.
tide_status tide__pending_sweep(const char *base, const char *run, tide_error *err) TIDE_CHECKED;

#endif
