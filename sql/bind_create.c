// CREATE TABLE, CREATE VIEW, DROP. A definition is checked as a whole (computed columns, watermark, the view's query) before
// the catalogue changes.
#include "sql/bind.h"
#include "sql/names.h"

#include <assert.h>
#include <string.h>

static const char *session_text(struct binder *b, struct str text) {
    return text.data == NULL ? NULL : tide__arena_strndup(&b->session->arena, text.data, text.len);
}

static tide_status exists_already(struct binder *b, const struct statement *statement, struct str name) {
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "table or view \"%.*s\" exists already",
                  STR_ARG(name));
    return tide__fail_hint(b->err, "use another name, DROP it first, or CREATE .. IF NOT EXISTS");
}

// --- Columns ---

static tide_status add_column(struct binder *b, struct catalog_entry *entry, const struct column_def *def) {
    struct table *table = &entry->table;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (!tide__str_eq_c(def->name.text, table->columns[i].name)) continue;
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, def->name.pos, "column \"%.*s\" is defined twice",
                             STR_ARG(def->name.text));
    }
    static const enum table_column_kind kinds[] = {TABLE_COLUMN_PHYSICAL, TABLE_COLUMN_COMPUTED, TABLE_COLUMN_METADATA};
    uint32_t i = table->column_count++;
    table->columns[i] = (struct table_column){.name = session_text(b, def->name.text),
                                              .kind = kinds[def->kind],
                                              .type = def->type,
                                              .pos = def->pos,
                                              .is_virtual = def->is_virtual};
    if (def->kind == COLUMN_METADATA) {
        table->columns[i].metadata_key = def->metadata_key.data != NULL ? session_text(b, def->metadata_key)
                                                                        : table->columns[i].name;
    }
    entry->columns[i] = (struct catalog_column){.expr = def->expr, .comment = session_text(b, def->comment)};
    return TIDE_OK;
}

static tide_status find_column(struct binder *b, const struct table *table, const struct ast_name *name,
                               const char *where, uint32_t *out) {
    const char **names = ARENA_ARRAY(b->arena, const char *, table->column_count + 1);
    for (uint32_t i = 0; i < table->column_count; i++) {
        names[i] = table->columns[i].name;
        if (tide__str_eq_c(name->text, names[i])) {
            *out = i;
            return TIDE_OK;
        }
    }
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, name->pos, "column \"%.*s\" of the %s is not in table \"%s\"",
                  STR_ARG(name->text), where, table->name);
    const char *nearest = tide__nearest(name->text, names, table->column_count);
    if (nearest != NULL) return tide__fail_hint(b->err, "did you mean \"%s\"?", nearest);
    return TIDE_ERR_VALIDATE;
}

// Computed columns see the physical ones only.
static tide_status type_computed(struct binder *b, struct catalog_entry *entry) {
    struct table *table = &entry->table;
    struct relation physical = {tide__node_new(b->arena, PLAN_SCAN, table->pos, 0, table->column_count),
                                ARENA_ARRAY(b->arena, struct str, table->column_count)};
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == TABLE_COLUMN_COMPUTED) continue;
        physical.node->fields[count++] = (struct plan_field){table->columns[i].name, table->columns[i].type};
    }
    physical.node->field_count = count;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind != TABLE_COLUMN_COMPUTED) continue;
        struct select_scope scope = {.binder = b, .input = &physical, .clause = "computed column"};
        struct expr *expr;
        TIDE_TRY(tide__bind_expr(&scope, entry->columns[i].expr, &expr));
        table->columns[i].type = tide__type_copy(&b->session->arena, expr->type);
    }
    return TIDE_OK;
}

static tide_status check_time_type(struct binder *b, const struct type *type, struct source_pos pos, const char *what) {
    if (tide__type_is_timestamp(type) && type->precision <= 3) return TIDE_OK;
    tide__fail_at(b->err, TIDE_ERR_VALIDATE, pos,
                  "%s must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3, not %s", what,
                  tide__type_text(b->arena, type));
    if (tide__type_is_timestamp(type)) return tide__fail_hint(b->err, "declare it as TIMESTAMP(3)");
    return tide__fail_hint(b->err, "add a computed column: ts AS TO_TIMESTAMP(..)");
}

static tide_status set_watermark(struct binder *b, struct catalog_entry *entry, const struct watermark_def *def) {
    const struct table *table = &entry->table;
    if (def->column.count != 1) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, def->column.pos,
                             "a watermark on a field of a row is not supported yet");
    }
    uint32_t column;
    TIDE_TRY(find_column(b, table, &def->column.parts[0], "watermark", &column));
    TIDE_TRY(check_time_type(b, table->columns[column].type, def->column.pos, "the time column of a watermark"));
    struct relation all = {tide__node_new(b->arena, PLAN_SCAN, table->pos, 0, table->column_count),
                           ARENA_ARRAY(b->arena, struct str, table->column_count)};
    for (uint32_t i = 0; i < table->column_count; i++) {
        all.node->fields[i] = (struct plan_field){table->columns[i].name, table->columns[i].type};
    }
    struct select_scope scope = {.binder = b, .input = &all, .clause = "watermark"};
    struct expr *expr;
    TIDE_TRY(tide__bind_expr(&scope, def->expr, &expr));
    TIDE_TRY(check_time_type(b, expr->type, def->expr->pos, "a watermark"));
    entry->watermark_column = (int32_t)column;
    entry->watermark = def->expr;
    return TIDE_OK;
}

static tide_status set_primary_key(struct binder *b, struct catalog_entry *entry, const struct statement *statement) {
    if (statement->primary_key.count == 0) return TIDE_OK;
    if (statement->primary_key_enforced) {
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->primary_key_pos,
                      "a primary key cannot be enforced: the data lies elsewhere");
        return tide__fail_hint(b->err, "write PRIMARY KEY (..) NOT ENFORCED");
    }
    struct arena *arena = &b->session->arena;
    entry->primary_key_count = entry->table.primary_key_count = statement->primary_key.count;
    entry->primary_key = entry->table.primary_key = ARENA_ARRAY(arena, uint32_t, entry->primary_key_count);
    entry->table.primary_key_pos = statement->primary_key_pos;
    for (uint32_t i = 0; i < entry->primary_key_count; i++) {
        TIDE_TRY(
            find_column(b, &entry->table, &statement->primary_key.items[i], "primary key", &entry->primary_key[i]));
        struct table_column *column = &entry->table.columns[entry->primary_key[i]];
        if (column->type != NULL) column->type = tide__type_with_nullable(arena, column->type, false);
    }
    return TIDE_OK;
}

static tide_status set_partitions(struct binder *b, struct catalog_entry *entry, const struct ast_names *names) {
    if (names->count == 0) return TIDE_OK;
    entry->table.partition_key_count = names->count;
    entry->table.partition_keys = ARENA_ARRAY(&b->session->arena, uint32_t, names->count);
    for (uint32_t i = 0; i < names->count; i++) {
        TIDE_TRY(find_column(b, &entry->table, &names->items[i], "PARTITIONED BY", &entry->table.partition_keys[i]));
    }
    return TIDE_OK;
}

static tide_status add_options(struct binder *b, struct table *table, const struct ast_options *options) {
    for (uint32_t i = 0; i < options->count; i++) {
        const struct ast_option *option = &options->items[i];
        uint32_t at = 0;
        while (at < table->option_count && !tide__str_eq(table->options[at].key, option->key)) at++;
        if (at == table->option_count) table->option_count++;
        table->options[at] = (struct option){option->key, option->value, option->key_pos, option->value_pos};
    }
    (void)b;
    return TIDE_OK;
}

// --- LIKE ---

static enum like_merge like_merge(const struct statement *statement, const char *what, enum like_merge merge) {
    for (uint32_t i = 0; i < statement->like_option_count; i++) {
        const struct like_option *option = &statement->like_options[i];
        if (tide__str_eq_c(option->what, "ALL")) merge = option->merge;
    }
    for (uint32_t i = 0; i < statement->like_option_count; i++) {
        const struct like_option *option = &statement->like_options[i];
        if (tide__str_eq_c(option->what, what)) merge = option->merge;
    }
    return merge;
}

static void copy_columns(struct catalog_entry *entry, const struct catalog_entry *from,
                         const struct statement *statement) {
    for (uint32_t i = 0; i < from->table.column_count; i++) {
        enum table_column_kind kind = from->table.columns[i].kind;
        if (kind == TABLE_COLUMN_COMPUTED && like_merge(statement, "GENERATED", LIKE_INCLUDING) == LIKE_EXCLUDING)
            continue;
        if (kind == TABLE_COLUMN_METADATA && like_merge(statement, "METADATA", LIKE_INCLUDING) == LIKE_EXCLUDING)
            continue;
        entry->table.columns[entry->table.column_count] = from->table.columns[i];
        entry->columns[entry->table.column_count++] = from->columns[i];
    }
}

static tide_status apply_like(struct binder *b, struct catalog_entry *entry, const struct catalog_entry *from,
                              const struct statement *statement) {
    if (from->is_view) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->like_path.pos, "LIKE copies a table, not a view");
    }
    copy_columns(entry, from, statement);
    if (like_merge(statement, "OPTIONS", LIKE_INCLUDING) != LIKE_EXCLUDING && from->table.option_count > 0) {
        memcpy(entry->table.options, from->table.options, from->table.option_count * sizeof(struct option));
        entry->table.option_count = from->table.option_count;
    }
    return TIDE_OK;
}

static tide_status copy_watermark(struct binder *b, struct catalog_entry *entry, const struct catalog_entry *from,
                                  const struct statement *statement) {
    if (from->watermark_column < 0 || like_merge(statement, "WATERMARKS", LIKE_INCLUDING) == LIKE_EXCLUDING)
        return TIDE_OK;
    if (statement->watermark != NULL) {
        if (like_merge(statement, "WATERMARKS", LIKE_INCLUDING) == LIKE_OVERWRITING) return TIDE_OK;
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->watermark->pos,
                             "table \"%s\" has a watermark already; "
                             "say EXCLUDING WATERMARKS or OVERWRITING WATERMARKS",
                             from->name);
    }
    const char *name = from->table.columns[from->watermark_column].name;
    for (uint32_t i = 0; i < entry->table.column_count; i++) {
        if (strcmp(entry->table.columns[i].name, name) == 0) entry->watermark_column = (int32_t)i;
    }
    entry->watermark = from->watermark;
    return TIDE_OK;
}

// --- CREATE TABLE ---

static tide_status define_table(struct binder *b, const struct statement *statement, const struct catalog_entry *like,
                                struct catalog_entry *entry) {
    struct arena *arena = &b->session->arena;
    uint32_t columns = statement->column_def_count + (like != NULL ? like->table.column_count : 0);
    uint32_t options = statement->options.count + (like != NULL ? like->table.option_count : 0);
    entry->table.columns = ARENA_ARRAY(arena, struct table_column, columns);
    entry->columns = ARENA_ARRAY(arena, struct catalog_column, columns);
    entry->table.options = ARENA_ARRAY(arena, struct option, options);
    entry->watermark_column = -1;
    if (like != NULL) TIDE_TRY(apply_like(b, entry, like, statement));
    for (uint32_t i = 0; i < statement->column_def_count; i++)
        TIDE_TRY(add_column(b, entry, &statement->column_defs[i]));
    TIDE_TRY(add_options(b, &entry->table, &statement->options));
    TIDE_TRY(set_primary_key(b, entry, statement));
    TIDE_TRY(set_partitions(b, entry, &statement->partitioned_by));
    TIDE_TRY(type_computed(b, entry));
    if (like != NULL) TIDE_TRY(copy_watermark(b, entry, like, statement));
    if (statement->watermark != NULL) TIDE_TRY(set_watermark(b, entry, statement->watermark));
    return TIDE_OK;
}

static struct catalog_entry *new_entry(struct binder *b, const struct statement *statement, struct str database,
                                       struct str name) {
    struct catalog_entry *entry = ARENA_NEW(&b->session->arena, struct catalog_entry);
    entry->database = session_text(b, database);
    entry->name = session_text(b, name);
    entry->temporary = statement->temporary;
    entry->pos = statement->path.pos;
    entry->comment = session_text(b, statement->comment);
    entry->table.name = entry->name;
    entry->table.pos = statement->path.pos;
    entry->watermark_column = -1;
    return entry;
}

static tide_status may_create(struct binder *b, const struct statement *statement, struct str *out_database,
                              struct str *out_name, bool *out_skip, struct catalog_entry **out_replaced) {
    TIDE_TRY(tide__catalog_resolve(b->session, &statement->path, out_database, out_name, b->err));
    bool known = false;
    for (uint32_t i = 0; i < b->session->database_count; i++)
        known |= tide__str_eq_c(*out_database, b->session->databases[i]);
    if (!known) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "database \"%.*s\" does not exist",
                             STR_ARG(*out_database));
    }
    struct catalog_entry *entry = tide__catalog_find(b->session, *out_database, *out_name);
    *out_skip = false;
    *out_replaced = NULL;
    if (entry == NULL || entry->temporary != statement->temporary) return TIDE_OK;
    if (statement->or_replace) {
        *out_replaced = entry;
        return TIDE_OK;
    }
    *out_skip = statement->if_not_exists;
    return statement->if_not_exists ? TIDE_OK : exists_already(b, statement, *out_name);
}

tide_status tide__bind_create_table(struct binder *b, const struct statement *statement) {
    struct str database, name;
    bool skip;
    struct catalog_entry *replaced, *like = NULL;
    TIDE_TRY(may_create(b, statement, &database, &name, &skip, &replaced));
    if (skip) return TIDE_OK;
    if (statement->has_like) TIDE_TRY(tide__catalog_get(b->session, &statement->like_path, &like, b->err));
    struct catalog_entry *entry = new_entry(b, statement, database, name);
    TIDE_TRY(define_table(b, statement, like, entry));
    if (replaced != NULL) tide__catalog_remove(b->session, replaced);
    tide__catalog_add(b->session, entry);
    return TIDE_OK;
}

// --- CREATE TABLE .. AS ---

static bool is_defined(const struct statement *statement, const char *name) {
    for (uint32_t i = 0; i < statement->column_def_count; i++) {
        if (tide__str_eq_c(statement->column_defs[i].name.text, name)) return true;
    }
    return false;
}

// The same statement without its query, but with the query's columns; and the INSERT that fills it.
static void split_create_as(struct binder *b, const struct statement *statement, const struct plan_node *node,
                            struct statement *create, struct statement *insert) {
    struct arena *arena = &b->session->arena;
    uint32_t before = statement->column_def_count, count = before;
    *create = *statement;
    *insert = (struct statement){.kind = STATEMENT_INSERT,
                                 .pos = statement->pos,
                                 .text = statement->text,
                                 .uid = statement->uid,
                                 .uid_pos = statement->uid_pos,
                                 .path = statement->path,
                                 .query = statement->query};
    create->query = NULL;
    create->column_defs = ARENA_ARRAY(arena, struct column_def, before + node->field_count);
    if (before > 0) memcpy(create->column_defs, statement->column_defs, before * sizeof(struct column_def));
    insert->columns.items = ARENA_ARRAY(arena, struct ast_name, node->field_count);
    insert->columns.count = node->field_count;
    struct name_set names = {.arena = b->arena};
    for (uint32_t i = 0; i < node->field_count; i++) {
        const char *unique = tide__names_unique(&names, node->fields[i].name);
        const char *name = tide__arena_strndup(arena, unique, strlen(unique));
        insert->columns.items[i] = (struct ast_name){.text = tide__str(name), .pos = statement->query->pos};
        if (is_defined(statement, name)) continue;
        const struct type *type = tide__type_without_time_attribute(b->arena, node->fields[i].type);
        create->column_defs[count++] = (struct column_def){.kind = COLUMN_PHYSICAL,
                                                           .pos = statement->query->pos,
                                                           .name = insert->columns.items[i],
                                                           .type = tide__type_copy(arena, type),
                                                           .type_pos = statement->query->pos};
    }
    create->column_def_count = count;
}

// *out stays NULL if there is such a table already and that is fine.
tide_status tide__bind_create_as(struct binder *b, const struct statement *statement, const struct statement **out) {
    struct str database, name;
    bool skip;
    struct catalog_entry *replaced;
    struct relation relation;
    *out = NULL;
    TIDE_TRY(may_create(b, statement, &database, &name, &skip, &replaced));
    if (skip) return TIDE_OK;
    TIDE_TRY(tide__bind_query(b, statement->query, &relation));
    struct statement *create = ARENA_NEW(&b->session->arena, struct statement);
    struct statement *insert = ARENA_NEW(&b->session->arena, struct statement);
    split_create_as(b, statement, relation.node, create, insert);
    TIDE_TRY(tide__bind_create_table(b, create));
    *out = insert;
    return TIDE_OK;
}

// --- ALTER TABLE ---

// A changed copy takes the table's place once all of it is checked.
tide_status tide__bind_alter(struct binder *b, const struct statement *statement) {
    struct catalog_entry *old;
    TIDE_TRY(tide__catalog_get(b->session, &statement->path, &old, b->err));
    if (old->is_view) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "\"%s\" is a view", old->name);
    }
    struct arena *arena = &b->session->arena;
    struct catalog_entry *entry = ARENA_NEW(arena, struct catalog_entry);
    *entry = *old;
    uint32_t columns = old->table.column_count, options = old->table.option_count;
    entry->table.columns = ARENA_ARRAY(arena, struct table_column, columns + statement->column_def_count);
    entry->columns = ARENA_ARRAY(arena, struct catalog_column, columns + statement->column_def_count);
    entry->table.options = ARENA_ARRAY(arena, struct option, options + statement->options.count);
    if (columns > 0) memcpy(entry->table.columns, old->table.columns, columns * sizeof(struct table_column));
    if (columns > 0) memcpy(entry->columns, old->columns, columns * sizeof(struct catalog_column));
    if (options > 0) memcpy(entry->table.options, old->table.options, options * sizeof(struct option));
    for (uint32_t i = 0; i < statement->column_def_count; i++)
        TIDE_TRY(add_column(b, entry, &statement->column_defs[i]));
    TIDE_TRY(add_options(b, &entry->table, &statement->options));
    TIDE_TRY(set_primary_key(b, entry, statement));
    TIDE_TRY(type_computed(b, entry));
    if (statement->watermark != NULL) {
        if (old->watermark_column >= 0) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->watermark->pos,
                                 "table \"%s\" has a watermark already", old->name);
        }
        TIDE_TRY(set_watermark(b, entry, statement->watermark));
    }
    tide__catalog_remove(b->session, old);
    tide__catalog_add(b->session, entry);
    return TIDE_OK;
}

// --- CREATE VIEW ---

static void copy_fields(struct binder *b, const struct plan_node *node, const struct ast_names *names,
                        struct catalog_entry *entry) {
    struct arena *arena = &b->session->arena;
    entry->view_column_count = node->field_count;
    entry->view_fields = ARENA_ARRAY(arena, struct plan_field, node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) {
        struct str name = names->count > 0 ? names->items[i].text : tide__str(node->fields[i].name);
        entry->view_fields[i].name = session_text(b, name);
        entry->view_fields[i].type = tide__type_copy(arena, node->fields[i].type);
    }
}

static tide_status check_view_names(struct binder *b, const struct statement *statement, const struct plan_node *node) {
    for (uint32_t i = 0; i < node->field_count && statement->columns.count == 0; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(node->fields[i].name, node->fields[j].name) != 0) continue;
            tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->query->pos, "the view has two columns called \"%s\"",
                          node->fields[i].name);
            return tide__fail_hint(b->err, "rename one with AS");
        }
    }
    return TIDE_OK;
}

tide_status tide__bind_create_view(struct binder *b, const struct statement *statement) {
    struct str database, name;
    bool skip;
    struct catalog_entry *replaced;
    TIDE_TRY(may_create(b, statement, &database, &name, &skip, &replaced));
    if (skip) return TIDE_OK;
    struct relation relation;
    TIDE_TRY(tide__bind_query(b, statement->query, &relation));
    if (statement->columns.count > 0 && statement->columns.count != relation.node->field_count) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->columns.items[0].pos,
                             "%u column names for %u columns", statement->columns.count, relation.node->field_count);
    }
    TIDE_TRY(check_view_names(b, statement, relation.node));
    struct catalog_entry *entry = new_entry(b, statement, database, name);
    entry->is_view = true;
    TIDE_TRY(tide__bind_uid(b, statement, &entry->uid));
    entry->query = statement->query;
    entry->view_columns = statement->columns;
    copy_fields(b, relation.node, &statement->columns, entry);
    if (replaced != NULL) tide__catalog_remove(b->session, replaced);
    tide__catalog_add(b->session, entry);
    return TIDE_OK;
}

// --- DROP ---

tide_status tide__bind_drop(struct binder *b, const struct statement *statement) {
    struct str database, name;
    TIDE_TRY(tide__catalog_resolve(b->session, &statement->path, &database, &name, b->err));
    struct catalog_entry *entry = tide__catalog_find(b->session, database, name);
    bool view = statement->kind == STATEMENT_DROP_VIEW;
    if (entry == NULL) {
        if (statement->if_exists) return TIDE_OK;
        return tide__catalog_get(b->session, &statement->path, &entry, b->err);
    }
    if (entry->is_view != view) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "\"%s\" is a %s: use DROP %s", entry->name,
                             entry->is_view ? "view" : "table", entry->is_view ? "VIEW" : "TABLE");
    }
    if (statement->temporary != entry->temporary) {
        if (!statement->temporary) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos,
                                 "\"%s\" is temporary: use DROP TEMPORARY %s", entry->name, view ? "VIEW" : "TABLE");
        }
        if (statement->if_exists) return TIDE_OK;
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "\"%s\" is not temporary", entry->name);
    }
    tide__catalog_remove(b->session, entry);
    return TIDE_OK;
}
