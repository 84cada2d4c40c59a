// The catalogue of a session: a list, because scripts define a handful of tables.
#include "sql/catalog.h"

#include "base/zone.h"
#include "base/alloc.h"
#include "sql/sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct sql_session *tide__sql_session_new(void) {
    struct sql_session *session = tide__calloc(1, sizeof(*session));
    tide__arena_init(&session->arena);
    session->databases = ARENA_ARRAY(&session->arena, const char *, 1);
    session->databases[0] = "default_database";
    session->database_count = 1;
    session->database = session->databases[0];
    session->auto_watermark_interval_ms = 200;
    return session;
}

void tide__sql_session_free(struct sql_session *session) {
    if (session == NULL) return;
    for (uint32_t i = 0; i < session->old_zone_count; i++) tide__zone_free(session->old_zones[i]);
    tide__zone_free(session->zone);
    tide__free(session->old_zones);
    tide__arena_deinit(&session->arena);
    tide__free(session);
}

void tide__sql_session_set_checking(struct sql_session *session) {
    session->checking = true;
}

void tide__sql_session_set_strict_windows(struct sql_session *session, bool strict) {
    session->strict_windows = strict;
}

struct str tide__sql_session_option(const struct sql_session *session, const char *key) {
    return tide__settings_get(session, key);
}

tide_status tide__catalog_resolve(const struct sql_session *session, const struct ast_path *path,
                                  struct str *out_database, struct str *out_name, tide_error *err) {
    assert(path->count > 0);
    const struct ast_name *last = &path->parts[path->count - 1];
    *out_name = last->text;
    *out_database = tide__str(session->database);
    if (path->count >= 2) *out_database = path->parts[path->count - 2].text;
    if (path->count >= 3 && !tide__str_eq_c(path->parts[path->count - 3].text, "default_catalog")) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, path->parts[path->count - 3].pos, "catalog \"%.*s\" does not exist",
                      STR_ARG(path->parts[path->count - 3].text));
        return tide__fail_hint(err, "there is one catalog: default_catalog");
    }
    if (path->count > 3) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, path->pos, "a table's name has three parts at most");
    }
    return TIDE_OK;
}

struct catalog_entry *tide__catalog_find(const struct sql_session *session, struct str database, struct str name) {
    struct catalog_entry *found = NULL;
    for (struct catalog_entry *e = session->entries; e != NULL; e = e->next) {
        if (!tide__str_eq_c(name, e->name) || !tide__str_eq_c(database, e->database)) continue;
        if (e->temporary) return e;  // a temporary one hides the other
        if (found == NULL) found = e;
    }
    return found;
}

static const char *nearest_table(const struct sql_session *session, struct str database, struct str name) {
    const char *names[64];
    size_t count = 0;
    for (struct catalog_entry *e = session->entries; e != NULL && count < 64; e = e->next) {
        if (tide__str_eq_c(database, e->database)) names[count++] = e->name;
    }
    return tide__nearest(name, names, count);
}

tide_status tide__catalog_get(const struct sql_session *session, const struct ast_path *path,
                              struct catalog_entry **out, tide_error *err) {
    struct str database, name;
    TIDE_TRY(tide__catalog_resolve(session, path, &database, &name, err));
    *out = tide__catalog_find(session, database, name);
    if (*out != NULL) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_VALIDATE, path->pos, "table \"%.*s\" does not exist", STR_ARG(name));
    const char *nearest = nearest_table(session, database, name);
    if (nearest != NULL) return tide__fail_hint(err, "did you mean \"%s\"?", nearest);
    return err != NULL ? err->status : TIDE_ERR_VALIDATE;
}

void tide__catalog_add(struct sql_session *session, struct catalog_entry *entry) {
    entry->next = session->entries;
    session->entries = entry;
}

void tide__catalog_remove(struct sql_session *session, struct catalog_entry *entry) {
    for (struct catalog_entry **at = &session->entries; *at != NULL; at = &(*at)->next) {
        if (*at == entry) {
            *at = entry->next;
            return;
        }
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(struct catalog_entry *const *)a)->name, (*(struct catalog_entry *const *)b)->name);
}

struct catalog_entry **tide__catalog_list(const struct sql_session *session, struct str database, bool views_only,
                                          struct arena *arena, uint32_t *out_count) {
    uint32_t count = 0;
    for (struct catalog_entry *e = session->entries; e != NULL; e = e->next) count++;
    struct catalog_entry **list = ARENA_ARRAY(arena, struct catalog_entry *, count + 1);
    count = 0;
    for (struct catalog_entry *e = session->entries; e != NULL; e = e->next) {
        if (!tide__str_eq_c(database, e->database) || (views_only && !e->is_view)) continue;
        if (tide__catalog_find(session, database, tide__str(e->name)) != e) continue;
        list[count++] = e;
    }
    qsort(list, count, sizeof(list[0]), by_name);
    *out_count = count;
    return list;
}
