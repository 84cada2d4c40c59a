// Sources that live outside of the engine, behind a table of functions: rows come in columns, from one thread.
#ifndef TIDE_ENGINE_CONNECTORS_ROW_SOURCE_H
#define TIDE_ENGINE_CONNECTORS_ROW_SOURCE_H

#include "engine/connectors/filesystem.h"

// The format of such a table: its reader is the source.
extern const struct format_class tide__row_source_format;
// Opens the source of a table as a format's reader.
tide_status tide__row_source_open(const struct row_source_class *class, const char *script_dir,
                                  const struct format_env *env, struct format_reader **out,
                                  tide_error *err) TIDE_CHECKED;
// A block that stands for the next rows; its length is 0 at the end.
void tide__row_source_next(const struct format_reader *reader, struct source_block *block,
                           enum source_state *out_state);
// Why the last rows could not be read; NULL: they could.
const tide_error *tide__row_source_failure(const struct format_reader *reader);
void tide__row_source_save(const struct source_place *place, struct strbuf *out);
tide_status tide__row_source_restore(struct format_reader *reader, struct str saved, struct source_place *out,
                                     tide_error *err) TIDE_CHECKED;

#endif
