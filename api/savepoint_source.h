// The connector 'tidemark-savepoint': state tables and facts of a savepoint as tables. Inside api/ only.
#ifndef TIDE_API_SAVEPOINT_SOURCE_H
#define TIDE_API_SAVEPOINT_SOURCE_H

#include "api/view.h"
#include "engine/connectors/connector.h"

// A class and a savepoint that is open already, so that all tables read the same one.
struct savepoint_sources {
    struct row_source_class class;
    const char *path;
    struct savepoint *savepoint;  // NULL: none
};
// Each table opens its path.
extern const struct row_source_class *const tide__savepoint_source;
struct savepoint_sources tide__savepoint_sources_shared(struct savepoint *savepoint, const char *path);

// CREATE TABLE of every table of the savepoint at `path`, in one line each.
void tide__savepoint_ddl(struct savepoint *savepoint, const char *path, struct arena *arena, struct strbuf *out);

struct facts;
// Facts about a savepoint as a table: operators, windows, sources, chunks.
struct fact_column {
    const char *name;
    const char *type;
};
struct fact_table {
    const char *name;
    size_t column_count;
    struct fact_column columns[12];
    // Appends rows with tide__fact_*.
    void (*fill)(const struct savepoint_info *info, struct facts *out);
};
// NULL: there is none of that name.
const struct fact_table *tide__fact_table(const char *name);
const struct fact_table *const *tide__fact_tables(size_t *out_count);
// All rows, in columns of the arena.
void tide__fact_read(const struct fact_table *table, const struct savepoint_info *info, struct arena *arena,
                     struct batch *out);

#endif
