// Standard input as a table: 'path' = '-'.
#ifndef TIDE_ENGINE_CONNECTORS_STREAM_H
#define TIDE_ENGINE_CONNECTORS_STREAM_H

#include "engine/connectors/filesystem.h"

// The last bytes before an offset, for its checksum.
struct stream_tail {
    char bytes[POSITION_CHECKED_BYTES];
    size_t len;
};

struct stream_reader {
    int fd;
    const struct format_class *format;
    const struct format_reader *format_reader;
    size_t block_bytes;
    uint64_t line;        // of the next block's first row, for messages
    uint64_t offset;      // behind the newest block: of the carried bytes in the stream
    struct strbuf carry;  // read, but in no block yet
    bool examined;        // there is no whole row in it
    bool ended;
    char head[POSITION_CHECKED_BYTES];  // the stream's first bytes
    size_t head_len;
    struct stream_tail before;  // the newest block
    struct stream_tail after;   // the newest block: before `offset`
    // After a restore: so many bytes are passed over, then they must have had these checksums.
    uint64_t skip;
    uint64_t skip_offset, skip_head_hash, skip_tail_hash;
};

bool tide__is_stream(const struct table *table);
// Fills a block with whole rows if there are any now. Blocks follow each other without a gap.
tide_status tide__stream_next(struct stream_reader *reader, struct source_block *block, enum source_state *out_state,
                              tide_error *err) TIDE_CHECKED;
// Position `at` bytes into the newest block, or behind it (block NULL).
void tide__stream_save(const struct stream_reader *reader, const struct source_block *block, size_t at,
                       const struct source_place *place, struct strbuf *out);
tide_status tide__stream_restore(struct stream_reader *reader, struct str saved, enum changed_input changed,
                                 struct source_place *out, tide_error *err) TIDE_CHECKED;
void tide__stream_deinit(struct stream_reader *reader);

#endif
