// Tables and views by name, and the options of SET. Names are case-sensitive, as in Flink. There is one catalogue,
// default_catalog, with databases in it; default_database always exists.
#ifndef TIDE_SQL_CATALOG_H
#define TIDE_SQL_CATALOG_H

#include "engine/plan.h"
#include "sql/parse.h"

struct sql_rows;

// A table's or view's definition. A table keeps the trees of its computed columns and of its watermark: they are bound anew for
// each scan, because what they mean depends on settings at that time.
struct catalog_entry {
    struct catalog_entry *next;
    const char *database, *name;
    bool temporary, is_view;
    struct source_pos pos;
    const char *comment;  // NULL if none
    // A table.
    struct table table;
    struct catalog_column {
        struct ast_expr *expr;  // computed
        const char *comment;    // NULL if none
    } * columns;
    int32_t watermark_column;  // -1: none
    struct ast_expr *watermark;
    uint32_t primary_key_count;
    uint32_t *primary_key;
    // A view.
    const char *uid;  // of its `-- uid: NAME` comment; NULL: none
    struct ast_query *query;
    struct ast_names view_columns;
    uint32_t view_column_count;  // as DESCRIBE shows them
    struct plan_field *view_fields;
};

struct setting {
    struct setting *next;
    const char *key;
    struct str value;
};

struct sql_session {
    struct arena arena;             // names, definitions
    struct catalog_entry *entries;  // newest first
    const char **databases;
    uint32_t database_count;
    const char *database;  // current
    struct setting *settings;
    struct zone *zone;        // of table.local-time-zone; NULL: UTC
    struct zone **old_zones;  // plans may still point to them
    uint32_t old_zone_count;
    bool strict_windows;
    bool checking;  // plans are compared, not run
    bool batch_mode;
    bool mini_batch;
    int64_t auto_watermark_interval_ms, checkpoint_interval_ms, state_ttl_ms;
};

// Splits catalog.database.name; fails for an unknown catalogue. *out_database is the current one if none is written.
TIDE_CHECKED tide_status tide__catalog_resolve(const struct sql_session *session, const struct ast_path *path,
                                               struct str *out_database, struct str *out_name, tide_error *err);
struct catalog_entry *tide__catalog_find(const struct sql_session *session, struct str database, struct str name);
// The same by path; an unknown name is an error with the nearest one.
TIDE_CHECKED tide_status tide__catalog_get(const struct sql_session *session, const struct ast_path *path,
                                           struct catalog_entry **out, tide_error *err);
void tide__catalog_add(struct sql_session *session, struct catalog_entry *entry);
void tide__catalog_remove(struct sql_session *session, struct catalog_entry *entry);
// Entries sorted by name; views only, or all.
struct catalog_entry **tide__catalog_list(const struct sql_session *session, struct str database, bool views_only,
                                          struct arena *arena, uint32_t *out_count);

// SET 'key' = 'value'. *out_unknown: nobody knows this key; it is kept all the same.
TIDE_CHECKED tide_status tide__settings_set(struct sql_session *session, const struct ast_option *option,
                                            bool *out_unknown, const char **out_nearest, tide_error *err);
// RESET 'key'; key NULL: all.
TIDE_CHECKED tide_status tide__settings_reset(struct sql_session *session, const struct ast_option *option,
                                              tide_error *err);
struct str tide__settings_get(const struct sql_session *session, const char *key);

#endif
