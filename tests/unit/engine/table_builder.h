// Tables for tests of formats and connectors, without the SQL front end.
#ifndef TIDE_TESTS_TABLE_BUILDER_H
#define TIDE_TESTS_TABLE_BUILDER_H

#include "engine/connectors/connector.h"

// columns: `a INT, b DECIMAL(6,2)`; types by their short names (see the .c). options: key, value, ..., NULL.
struct table *build_table(struct arena *arena, const char *columns, const char *const *options);
// A scan of all columns, each one an output. time_column: the event time, whose value is the watermark, or -1.
struct plan_node *build_scan(struct arena *arena, const struct table *table, int time_column);
struct plan *build_plan(struct arena *arena);
// A sink that writes all columns.
struct plan_node *build_sink(struct arena *arena, const struct table *table);
// Rows as text: values by `|`, NULL as `<NULL>`, a row a line.
void print_rows(const struct batch *batch, struct strbuf *out);
// A fresh folder below the system's temporary one; removed with its content by remove_folder.
char *make_folder(void);
void remove_folder(char *folder);
void write_file(const char *folder, const char *name, const char *content, size_t len);
// The visible files' content, joined in path order; hidden ones counted.
void read_folder(const char *folder, struct strbuf *out, size_t *out_visible, size_t *out_hidden);

#endif
