// The frame of a savepoint file and what its writer and reader share. Inside checkpoint/ only.
#ifndef TIDE_CHECKPOINT_FORMAT_H
#define TIDE_CHECKPOINT_FORMAT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "checkpoint/savepoint.h"

#include <string.h>

#define SAVEPOINT_MAGIC        "TIDESAVE"
#define SAVEPOINT_MAGIC_BYTES  8u
#define SAVEPOINT_HEADER_BYTES 16u  // magic, version, flags
#define SAVEPOINT_FOOTER_BYTES 32u  // manifest offset, length, raw length, checksum, magic
#define SAVEPOINT_FLAG_DELTA   1u
#define MANIFEST_RAW_LIMIT     ((size_t)1 << 28)
#define ZSTD_RATIO_MAX         ((uint64_t)40000)  // more than any frame can reach: 128 KiB from a block of 4 bytes
#define WINDOW_KEY_BYTES       ((size_t)16)       // start and end in front of a windowed table's keys

static inline void format_put(char *at, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (char)(v >> (8 * i));
}

static inline uint64_t format_get(const char *at, int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return v;
}

// Makes the entry of `path` in its folder durable.
tide_status tide__savepoint_sync_folder(const char *path, tide_error *err) TIDE_CHECKED;

// Appends the Manifest message of `info`, whose tables are the final ones.
void tide__manifest_pack(const struct savepoint_info *info, struct strbuf *out);
// NULL: it is good; else what is wrong with it. Everything in out_info lives in the arena.
const char *tide__manifest_unpack(struct str raw, struct arena *arena, struct savepoint_info *out_info);

// The script with the values of password-like options blanked, in the arena: what a savepoint may hold.
struct str tide__savepoint_redact(struct str sql, struct arena *arena);

#endif
