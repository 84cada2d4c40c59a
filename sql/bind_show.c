// Statements that answer with a few rows: DESCRIBE, SHOW, a bare SET.
#include "sql/bind.h"

#include <stdlib.h>
#include <string.h>

static const struct type *string_type(struct binder *b) {
    struct type type = tide__type_make(TYPE_VARCHAR, true);
    return tide__type_copy(b->arena, &type);
}

static struct str text(const char *c_string) {
    return c_string == NULL ? (struct str){NULL, 0} : tide__str(c_string);
}

static const char *plain_type(struct binder *b, const struct type *type) {
    return tide__type_text(b->arena, tide__type_with_nullable(b->arena, type, true));
}

// --- DESCRIBE ---

static void begin_describe(struct binder *b, bool comments) {
    static const char *const names[] = {"name", "type", "null", "key", "extras", "watermark", "comment"};
    const struct type *types[7];
    struct type boolean = tide__type_make(TYPE_BOOLEAN, true);
    for (int i = 0; i < 7; i++) types[i] = i == 2 ? tide__type_copy(b->arena, &boolean) : string_type(b);
    tide__rows_begin(b, comments ? 7 : 6, names, types);
}

static const char *key_text(struct binder *b, const struct catalog_entry *entry, uint32_t column) {
    bool in_key = false;
    struct strbuf out = {0};
    tide__strbuf_append_c(&out, "PRI(");
    for (uint32_t i = 0; i < entry->primary_key_count; i++) {
        in_key |= entry->primary_key[i] == column;
        tide__strbuf_printf(&out, "%s%s", i > 0 ? ", " : "", entry->table.columns[entry->primary_key[i]].name);
    }
    tide__strbuf_append_char(&out, ')');
    const char *key = in_key ? tide__arena_strndup(b->arena, out.data, out.len) : NULL;
    tide__strbuf_deinit(&out);
    return key;
}

static const char *extras_text(struct binder *b, const struct catalog_entry *entry, uint32_t i) {
    const struct table_column *column = &entry->table.columns[i];
    if (column->kind == TABLE_COLUMN_COMPUTED) {
        return tide__arena_printf(b->arena, "AS %s", tide__unparse(b->arena, entry->columns[i].expr));
    }
    if (column->kind != TABLE_COLUMN_METADATA) return NULL;
    bool named = strcmp(column->metadata_key, column->name) != 0;
    return tide__arena_printf(b->arena, "METADATA%s%s%s%s", named ? " FROM '" : "", named ? column->metadata_key : "",
                              named ? "'" : "", column->is_virtual ? " VIRTUAL" : "");
}

static void describe_table(struct binder *b, const struct catalog_entry *entry) {
    bool comments = false;
    for (uint32_t i = 0; i < entry->table.column_count; i++) comments |= entry->columns[i].comment != NULL;
    begin_describe(b, comments);
    for (uint32_t i = 0; i < entry->table.column_count; i++) {
        const struct table_column *column = &entry->table.columns[i];
        struct type type = *column->type;
        bool watermark = (int32_t)i == entry->watermark_column;
        if (watermark && !b->infer.batch_mode) type.time_attribute = TIME_ATTRIBUTE_ROWTIME;
        struct str *row = tide__rows_add(b);
        row[0] = text(column->name);
        row[1] = text(plain_type(b, &type));
        row[2] = text(type.nullable ? "TRUE" : "FALSE");
        row[3] = text(key_text(b, entry, i));
        row[4] = text(extras_text(b, entry, i));
        row[5] = text(watermark ? tide__unparse(b->arena, entry->watermark) : NULL);
        if (comments) row[6] = text(entry->columns[i].comment);
    }
}

static void describe_view(struct binder *b, const struct catalog_entry *entry) {
    begin_describe(b, false);
    for (uint32_t i = 0; i < entry->view_column_count; i++) {
        struct str *row = tide__rows_add(b);
        row[0] = text(entry->view_fields[i].name);
        row[1] = text(plain_type(b, entry->view_fields[i].type));
        row[2] = text(entry->view_fields[i].type->nullable ? "TRUE" : "FALSE");
    }
}

tide_status tide__bind_describe(struct binder *b, const struct statement *statement) {
    struct catalog_entry *entry;
    TIDE_TRY(tide__catalog_get(b->session, &statement->path, &entry, b->err));
    if (entry->is_view) {
        describe_view(b, entry);
    } else {
        describe_table(b, entry);
    }
    return TIDE_OK;
}

// --- SHOW ---

static void begin_one(struct binder *b, const char *name) {
    const char *names[1] = {name};
    const struct type *types[1] = {string_type(b)};
    tide__rows_begin(b, 1, names, types);
}

// LIKE with % and _.
static bool like(const char *at, struct str pattern, size_t p) {
    for (; p < pattern.len; p++) {
        if (pattern.data[p] == '%') {
            for (;; at++) {
                if (like(at, pattern, p + 1)) return true;
                if (*at == '\0') return false;
            }
        }
        if (*at == '\0' || (pattern.data[p] != '_' && pattern.data[p] != *at)) return false;
        at++;
    }
    return *at == '\0';
}

static void show_tables(struct binder *b, const struct statement *statement, bool views) {
    uint32_t count;
    struct str database = statement->path.count > 0 ? statement->path.parts[statement->path.count - 1].text
                                                    : tide__str(b->session->database);
    struct catalog_entry **list = tide__catalog_list(b->session, database, views, b->arena, &count);
    begin_one(b, views ? "view name" : "table name");
    for (uint32_t i = 0; i < count; i++) {
        if (statement->like.data != NULL && !like(list[i]->name, statement->like, 0)) continue;
        *tide__rows_add(b) = text(list[i]->name);
    }
}

static int by_key(const void *a, const void *b) {
    const struct option *x = *(const struct option *const *)a, *y = *(const struct option *const *)b;
    return tide__str_cmp(x->key, y->key);
}

static void append_quoted(struct strbuf *out, struct str s, char quote) {
    tide__strbuf_append_char(out, quote);
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == quote) tide__strbuf_append_char(out, quote);
        tide__strbuf_append_char(out, s.data[i]);
    }
    tide__strbuf_append_char(out, quote);
}

static void append_type(struct strbuf *out, const struct type *type) {
    if (type->kind == TYPE_VARCHAR && type->precision == TYPE_STRING_LENGTH) {
        tide__strbuf_append_c(out, type->nullable ? "VARCHAR(2147483647)" : "VARCHAR(2147483647) NOT NULL");
        return;
    }
    tide__type_print(type, out);
}

static void append_create_columns(struct binder *b, const struct catalog_entry *entry, struct strbuf *out) {
    for (uint32_t i = 0; i < entry->table.column_count; i++) {
        const struct table_column *column = &entry->table.columns[i];
        tide__strbuf_append_c(out, i == 0 ? "  " : ",\n  ");
        append_quoted(out, tide__str(column->name), '`');
        tide__strbuf_append_char(out, ' ');
        if (column->kind != TABLE_COLUMN_COMPUTED) append_type(out, column->type);
        const char *extras = extras_text(b, entry, i);
        if (extras != NULL) tide__strbuf_printf(out, "%s%s", column->kind == TABLE_COLUMN_COMPUTED ? "" : " ", extras);
        if (entry->columns[i].comment != NULL) {
            tide__strbuf_append_c(out, " COMMENT ");
            append_quoted(out, tide__str(entry->columns[i].comment), '\'');
        }
    }
    if (entry->watermark_column >= 0) {
        tide__strbuf_append_c(out, ",\n  WATERMARK FOR ");
        append_quoted(out, tide__str(entry->table.columns[entry->watermark_column].name), '`');
        tide__strbuf_printf(out, " AS %s", tide__unparse(b->arena, entry->watermark));
    }
    if (entry->primary_key_count == 0) return;
    tide__strbuf_append_c(out, ",\n  PRIMARY KEY (");
    for (uint32_t i = 0; i < entry->primary_key_count; i++) {
        if (i > 0) tide__strbuf_append_c(out, ", ");
        append_quoted(out, tide__str(entry->table.columns[entry->primary_key[i]].name), '`');
    }
    tide__strbuf_append_c(out, ") NOT ENFORCED");
}

static const char *create_text(struct binder *b, const struct catalog_entry *entry) {
    struct strbuf out = {0};
    tide__strbuf_printf(&out, "CREATE %s%s `default_catalog`.", entry->temporary ? "TEMPORARY " : "",
                        entry->is_view ? "VIEW" : "TABLE");
    append_quoted(&out, tide__str(entry->database), '`');
    tide__strbuf_append_char(&out, '.');
    append_quoted(&out, tide__str(entry->name), '`');
    tide__strbuf_append_c(&out, " (\n");
    append_create_columns(b, entry, &out);
    tide__strbuf_append_c(&out, "\n)\n");
    if (entry->comment != NULL) {
        tide__strbuf_append_c(&out, "COMMENT ");
        append_quoted(&out, tide__str(entry->comment), '\'');
        tide__strbuf_append_char(&out, '\n');
    }
    if (entry->table.partition_key_count > 0) {
        tide__strbuf_append_c(&out, "PARTITIONED BY (");
        for (uint32_t i = 0; i < entry->table.partition_key_count; i++) {
            if (i > 0) tide__strbuf_append_c(&out, ", ");
            append_quoted(&out, tide__str(entry->table.columns[entry->table.partition_keys[i]].name), '`');
        }
        tide__strbuf_append_c(&out, ")\n");
    }
    uint32_t count = entry->table.option_count;
    const struct option **options = ARENA_ARRAY(b->arena, const struct option *, count + 1);
    for (uint32_t i = 0; i < count; i++) options[i] = &entry->table.options[i];
    qsort(options, count, sizeof(options[0]), by_key);
    tide__strbuf_append_c(&out, "WITH (\n");
    for (uint32_t i = 0; i < count; i++) {
        tide__strbuf_append_c(&out, i == 0 ? "  " : ",\n  ");
        append_quoted(&out, options[i]->key, '\'');
        tide__strbuf_append_c(&out, " = ");
        append_quoted(&out, options[i]->value, '\'');
    }
    tide__strbuf_append_c(&out, "\n)\n");
    const char *result = tide__arena_strndup(b->arena, out.data, out.len);
    tide__strbuf_deinit(&out);
    return result;
}

// The query as it was written.
static const char *create_view_text(struct binder *b, const struct catalog_entry *entry) {
    struct strbuf out = {0};
    tide__strbuf_printf(&out, "CREATE %sVIEW `default_catalog`.", entry->temporary ? "TEMPORARY " : "");
    append_quoted(&out, tide__str(entry->database), '`');
    tide__strbuf_append_char(&out, '.');
    append_quoted(&out, tide__str(entry->name), '`');
    tide__strbuf_append_c(&out, " (\n");
    for (uint32_t i = 0; i < entry->view_column_count; i++) {
        tide__strbuf_append_c(&out, i == 0 ? "  " : ",\n  ");
        append_quoted(&out, tide__str(entry->view_fields[i].name), '`');
    }
    tide__strbuf_append_c(&out, "\n)\n");
    if (entry->comment != NULL) {
        tide__strbuf_append_c(&out, "COMMENT ");
        append_quoted(&out, tide__str(entry->comment), '\'');
        tide__strbuf_append_char(&out, '\n');
    }
    struct source_pos pos = entry->query->pos;
    tide__strbuf_append_c(&out, "AS ");
    if ((size_t)pos.offset + pos.length <= b->sql.len) tide__strbuf_append(&out, b->sql.data + pos.offset, pos.length);
    const char *result = tide__arena_strndup(b->arena, out.data, out.len);
    tide__strbuf_deinit(&out);
    return result;
}

static tide_status show_create(struct binder *b, const struct statement *statement, bool view) {
    struct catalog_entry *entry;
    TIDE_TRY(tide__catalog_get(b->session, &statement->path, &entry, b->err));
    if (entry->is_view != view) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "\"%s\" is a %s: use SHOW CREATE %s",
                             entry->name, entry->is_view ? "view" : "table", entry->is_view ? "VIEW" : "TABLE");
    }
    begin_one(b, "result");
    *tide__rows_add(b) = text(view ? create_view_text(b, entry) : create_text(b, entry));
    return TIDE_OK;
}

tide_status tide__bind_show(struct binder *b, const struct statement *statement) {
    struct str what = statement->what;
    const struct sql_session *session = b->session;
    if (tide__str_eq_c(what, "TABLES")) {
        show_tables(b, statement, false);
    } else if (tide__str_eq_c(what, "VIEWS")) {
        show_tables(b, statement, true);
    } else if (tide__str_eq_c(what, "COLUMNS")) {
        return tide__bind_describe(b, statement);
    } else if (tide__str_eq_c(what, "CREATE TABLE")) {
        return show_create(b, statement, false);
    } else if (tide__str_eq_c(what, "CREATE VIEW")) {
        return show_create(b, statement, true);
    } else if (tide__str_eq_c(what, "CATALOGS")) {
        begin_one(b, "catalog name");
        *tide__rows_add(b) = text("default_catalog");
    } else if (tide__str_eq_c(what, "CURRENT CATALOG")) {
        begin_one(b, "current catalog name");
        *tide__rows_add(b) = text("default_catalog");
    } else if (tide__str_eq_c(what, "DATABASES")) {
        begin_one(b, "database name");
        for (uint32_t i = 0; i < session->database_count; i++) *tide__rows_add(b) = text(session->databases[i]);
    } else if (tide__str_eq_c(what, "CURRENT DATABASE")) {
        begin_one(b, "current database name");
        *tide__rows_add(b) = text(session->database);
    } else if (tide__str_eq_c(what, "FUNCTIONS")) {
        size_t count;
        const char *const *names = tide__function_names(&count);
        begin_one(b, "function name");
        for (size_t i = 0; i < count; i++) *tide__rows_add(b) = text(names[i]);
    } else {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, statement->pos, "SHOW %.*s is not supported", STR_ARG(what));
    }
    return TIDE_OK;
}
