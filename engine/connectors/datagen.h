// The datagen connector: rows out of nothing.
#ifndef TIDE_ENGINE_CONNECTORS_DATAGEN_H
#define TIDE_ENGINE_CONNECTORS_DATAGEN_H

#include "engine/connectors/filesystem.h"

// A row's bytes in a block: its number.
#define DATAGEN_ROW_BYTES ((size_t)8)

struct datagen {
    uint64_t next, rows;  // next row's number; rows in all
    uint64_t rows_per_second;
    int64_t started_ms;   // on the monotonic clock; 0: not yet
    uint64_t started_at;  // row
};

bool tide__is_datagen(const struct table *table);
tide_status tide__datagen_validate(const struct table *table, tide_error *err) TIDE_CHECKED;
void tide__datagen_init(struct datagen *datagen, const struct table *table);
void tide__datagen_next(struct datagen *datagen, struct source_block *block, enum source_state *out_state);
void tide__datagen_save(const struct source_place *place, struct strbuf *out);
tide_status tide__datagen_restore(struct datagen *datagen, struct str saved, struct source_place *out,
                                  tide_error *err) TIDE_CHECKED;
// Makes values of the numbers in a block.
extern const struct format_class tide__datagen_format;

#endif
