// One statement: what kind it is, and for those that start a job the way from trees to a plan:
//
//   bind -> merge calcs -> push filters to joins -> recognise window operations, joins and Top-N -> prune columns ->
//   merge what that left -> name the nodes
#include "sql/bind.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

// --- Jobs ---

static tide_status check_updates(struct binder *b, const struct plan_node *sink) {
    if (sink->sink.kind != SINK_TABLE || !sink->inputs[0]->updates) return TIDE_OK;
    const struct option *connector = tide__table_option(sink->sink.table, "connector");
    if (connector == NULL || tide__str_eq_c(connector->value, "print") ||
        tide__str_eq_c(connector->value, "blackhole") || tide__str_eq_c(connector->value, "upsert-kafka")) {
        return TIDE_OK;
    }
    tide__fail_at(b->err, TIDE_ERR_PLAN, sink->pos,
                  "the query updates its results, but table \"%s\" takes new rows only", sink->sink.table->name);
    if (b->result->warnings != NULL && b->result->warnings->hint != NULL) {
        return tide__fail_hint(b->err, "%s", b->result->warnings->hint);
    }
    return tide__fail_hint(b->err, "aggregate by window_start and window_end to get final results, or write into a "
                                   "'print' table");
}

static tide_status plan_root(struct binder *b, struct plan_node *sink, struct plan_node **out) {
    struct arena *arena = b->arena;
    sink->inputs[0] = tide__plan_merge_calcs(arena, sink->inputs[0]);
    TIDE_TRY(tide__plan_push_filters(b, sink->inputs[0]));
    TIDE_TRY(tide__plan_recognise(b, sink->inputs[0], &sink->inputs[0]));
    sink->inputs[0] = tide__plan_merge_calcs(arena, sink->inputs[0]);
    TIDE_TRY(check_updates(b, sink));
    sink = tide__plan_prune(arena, sink);
    sink = tide__plan_merge_calcs(arena, sink);
    sink = tide__plan_merge_calcs(arena, tide__plan_lift_calcs(arena, sink));
    *out = tide__plan_drop_calcs(arena, sink);
    return TIDE_OK;
}

static tide_status bind_root(struct binder *b, const struct statement *statement, struct plan_node **out) {
    struct plan_node *sink;
    if (statement->kind == STATEMENT_INSERT) {
        TIDE_TRY(tide__bind_insert(b, statement, &sink));
    } else {
        TIDE_TRY(tide__bind_sink_query(b, statement->query, statement->pos, &sink));
    }
    return plan_root(b, sink, out);
}

// Letters, digits, - and _.
tide_status tide__bind_uid(struct binder *b, const struct statement *statement, const char **out) {
    *out = NULL;
    if (statement->uid.data == NULL) return TIDE_OK;
    for (size_t i = 0; i < statement->uid.len; i++) {
        char c = statement->uid.data[i];
        if (isalnum((unsigned char)c) || c == '-' || c == '_') continue;
        tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->uid_pos, "\"%.*s\" is no uid", STR_ARG(statement->uid));
        return tide__fail_hint(b->err, "a uid is made of letters, digits, - and _");
    }
    *out = tide__arena_strndup(&b->session->arena, statement->uid.data, statement->uid.len);
    return TIDE_OK;
}

static tide_status compile_job(struct binder *b, const struct statement *statement, struct statement *const *parts,
                               uint32_t count, uint32_t job_index) {
    struct plan_node **roots = ARENA_ARRAY(b->arena, struct plan_node *, count);
    const char **uids = ARENA_ARRAY(b->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct statement *part = parts == NULL ? statement : parts[i];
        if (parts != NULL && part->kind != STATEMENT_INSERT) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, part->pos, "a statement set holds INSERT statements only");
        }
        TIDE_TRY(tide__bind_uid(b, part, &uids[i]));
        for (uint32_t j = 0; uids[i] != NULL && j < i; j++) {
            if (uids[j] == NULL || strcmp(uids[i], uids[j]) != 0) continue;
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, part->uid_pos, "uid \"%s\" is used twice", uids[i]);
        }
        TIDE_TRY(bind_root(b, part, &roots[i]));
    }
    b->result->plan = tide__plan_finish(b, roots, count, statement, job_index, uids);
    TIDE_TRY(tide__plan_check_ttl(b, b->result->plan));
    b->result->kind = SQL_JOB;
    return TIDE_OK;
}

static tide_status compile_set_of(struct binder *b, const struct statement *statement, uint32_t job_index) {
    if (statement->statement_count == 0) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->pos, "the statement set is empty");
    }
    return compile_job(b, statement, statement->statements, statement->statement_count, job_index);
}

// A table whose INSERT cannot be planned is not there.
static tide_status compile_create_as(struct binder *b, const struct statement *statement, uint32_t job_index) {
    const struct statement *insert;
    TIDE_TRY(tide__bind_create_as(b, statement, &insert));
    if (insert == NULL) return TIDE_OK;
    tide_status status = compile_job(b, insert, NULL, 1, job_index);
    struct catalog_entry *entry;
    if (status != TIDE_OK && tide__catalog_get(b->session, &statement->path, &entry, NULL) == TIDE_OK) {
        tide__catalog_remove(b->session, entry);
    }
    return status;
}

static tide_status compile_explain(struct binder *b, const struct statement *statement, uint32_t job_index) {
    const struct statement *what = statement->statements[0];
    if (what->kind == STATEMENT_SET_OF) {
        TIDE_TRY(compile_set_of(b, what, job_index));
    } else if (what->kind == STATEMENT_QUERY || what->kind == STATEMENT_INSERT) {
        TIDE_TRY(compile_job(b, what, NULL, 1, job_index));
    } else {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, what->pos, "EXPLAIN shows queries, INSERTs and statement sets");
    }
    b->result->kind = SQL_EXPLAIN;
    return TIDE_OK;
}

// --- SET, USE, ALTER ---

static int by_key(const struct setting *a, const struct setting *b) {
    return strcmp(a->key, b->key);
}

static tide_status show_settings(struct binder *b) {
    static const char *const names[2] = {"key", "value"};
    struct type string = tide__type_make(TYPE_VARCHAR, true);
    const struct type *types[2] = {tide__type_copy(b->arena, &string), tide__type_copy(b->arena, &string)};
    tide__rows_begin(b, 2, names, types);
    const struct setting *last = NULL;
    for (;;) {  // in order of keys; there are few
        const struct setting *next = NULL;
        for (const struct setting *s = b->session->settings; s != NULL; s = s->next) {
            if ((last == NULL || by_key(s, last) > 0) && (next == NULL || by_key(s, next) < 0)) next = s;
        }
        if (next == NULL) return TIDE_OK;
        struct str *row = tide__rows_add(b);
        row[0] = tide__str(next->key);
        row[1] = next->value;
        last = next;
    }
}

static tide_status compile_set(struct binder *b, const struct statement *statement) {
    if (statement->options.count == 0) return show_settings(b);
    const struct ast_option *option = &statement->options.items[0];
    bool unknown;
    const char *nearest;
    TIDE_TRY(tide__settings_set(b->session, option, &unknown, &nearest, b->err));
    if (!unknown) return TIDE_OK;
    const char *hint = nearest == NULL ? NULL : tide__arena_printf(b->arena, "did you mean \"%s\"?", nearest);
    tide__bind_warn(b, option->key_pos, hint, "unknown option \"%.*s\": it has no effect", STR_ARG(option->key));
    return TIDE_OK;
}

static tide_status compile_reset(struct binder *b, const struct statement *statement) {
    return tide__settings_reset(b->session, statement->options.count == 0 ? NULL : &statement->options.items[0],
                                b->err);
}

static bool has_database(const struct sql_session *session, struct str name, const char **out) {
    for (uint32_t i = 0; i < session->database_count; i++) {
        *out = session->databases[i];
        if (tide__str_eq_c(name, *out)) return true;
    }
    return false;
}

static tide_status compile_use(struct binder *b, const struct statement *statement) {
    if (tide__str_eq_c(statement->what, "MODULES")) {
        return tide__fail_at(b->err, TIDE_ERR_PLAN, statement->pos, "USE MODULES is not supported");
    }
    struct str name = statement->path.parts[statement->path.count - 1].text;
    if (tide__str_eq_c(statement->what, "CATALOG")) {
        if (tide__str_eq_c(name, "default_catalog")) return TIDE_OK;
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "catalog \"%.*s\" does not exist",
                             STR_ARG(name));
    }
    const char *database;
    if (!has_database(b->session, name, &database)) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "database \"%.*s\" does not exist",
                             STR_ARG(name));
    }
    b->session->database = database;
    return TIDE_OK;
}

static tide_status create_database(struct binder *b, const struct statement *statement) {
    struct sql_session *session = b->session;
    struct str name = statement->path.parts[statement->path.count - 1].text;
    const char *database;
    if (has_database(session, name, &database)) {
        if (statement->if_not_exists) return TIDE_OK;
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "database \"%s\" exists already",
                             database);
    }
    const char **grown = ARENA_ARRAY(&session->arena, const char *, session->database_count + 1);
    memcpy(grown, session->databases, session->database_count * sizeof(grown[0]));
    grown[session->database_count++] = tide__arena_strndup(&session->arena, name.data, name.len);
    session->databases = grown;
    return TIDE_OK;
}

static tide_status drop_database(struct binder *b, const struct statement *statement) {
    struct sql_session *session = b->session;
    struct str name = statement->path.parts[statement->path.count - 1].text;
    for (uint32_t i = 0; i < session->database_count; i++) {
        const char *database = session->databases[i];
        if (!tide__str_eq_c(name, database)) continue;
        uint32_t tables;
        tide__catalog_list(session, name, false, b->arena, &tables);
        if (i == 0 || tables > 0 || database == session->database) {
            return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "database \"%s\" is %s", database,
                                 tables > 0 ? "not empty" : "in use");
        }
        session->database_count--;
        for (uint32_t j = i; j < session->database_count; j++) session->databases[j] = session->databases[j + 1];
        return TIDE_OK;
    }
    if (statement->if_exists) return TIDE_OK;
    return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->path.pos, "database \"%.*s\" does not exist",
                         STR_ARG(name));
}

static tide_status compile_rename(struct binder *b, const struct statement *statement) {
    struct catalog_entry *entry;
    struct str database, name;
    TIDE_TRY(tide__catalog_get(b->session, &statement->path, &entry, b->err));
    TIDE_TRY(tide__catalog_resolve(b->session, &statement->new_path, &database, &name, b->err));
    if (tide__catalog_find(b->session, database, name) != NULL) {
        return tide__fail_at(b->err, TIDE_ERR_VALIDATE, statement->new_path.pos,
                             "table or view \"%.*s\" exists already", STR_ARG(name));
    }
    entry->name = tide__arena_strndup(&b->session->arena, name.data, name.len);
    entry->table.name = entry->name;
    return TIDE_OK;
}

static tide_status compile_unsupported(struct binder *b, const struct statement *statement) {
    bool function = tide__str_eq_c(statement->what, "CREATE FUNCTION");
    return tide__fail_at(b->err, function ? TIDE_ERR_VALIDATE : TIDE_ERR_PLAN, statement->pos, "%.*s is not supported",
                         STR_ARG(statement->what));
}

static tide_status compile(struct binder *b, const struct statement *statement, uint32_t job_index) {
    switch (statement->kind) {
    case STATEMENT_QUERY:
    case STATEMENT_INSERT: return compile_job(b, statement, NULL, 1, job_index);
    case STATEMENT_SET_OF: return compile_set_of(b, statement, job_index);
    case STATEMENT_EXPLAIN: return compile_explain(b, statement, job_index);
    case STATEMENT_CREATE_TABLE:
        if (statement->query != NULL) return compile_create_as(b, statement, job_index);
        return tide__bind_create_table(b, statement);
    case STATEMENT_CREATE_VIEW: return tide__bind_create_view(b, statement);
    case STATEMENT_DROP_TABLE:
    case STATEMENT_DROP_VIEW: return tide__bind_drop(b, statement);
    case STATEMENT_SET: return compile_set(b, statement);
    case STATEMENT_RESET: return compile_reset(b, statement);
    case STATEMENT_DESCRIBE: return tide__bind_describe(b, statement);
    case STATEMENT_SHOW: return tide__bind_show(b, statement);
    case STATEMENT_USE: return compile_use(b, statement);
    case STATEMENT_ALTER_RENAME: return compile_rename(b, statement);
    case STATEMENT_ALTER_ADD:
    case STATEMENT_ALTER_SET: return tide__bind_alter(b, statement);
    case STATEMENT_CREATE_DATABASE: return create_database(b, statement);
    case STATEMENT_DROP_DATABASE: return drop_database(b, statement);
    case STATEMENT_UNSUPPORTED: return compile_unsupported(b, statement);
    }
    return TIDE_OK;
}

tide_status tide__sql_compile(struct sql_session *session, const struct statement *statement, struct str sql,
                              uint32_t job_index, struct arena *arena, struct sql_result *out, tide_error *err) {
    *out = (struct sql_result){.kind = SQL_DONE};
    tide_error ignored;
    if (err == NULL) {
        tide__error_clear(&ignored);
        err = &ignored;
    }
    struct binder binder = {.session = session, .arena = arena, .sql = sql, .result = out, .err = err};
    binder.infer = (struct infer_context){.arena = arena, .zone = session->zone, .batch_mode = session->batch_mode};
    tide_status status = compile(&binder, statement, job_index);
    // Callees that give up without an error of their own still say where.
    if (status != TIDE_OK && err->line == 0 && err->message[0] != '\0') {
        err->line = statement->pos.line;
        err->column = statement->pos.column;
        err->length = statement->pos.length;
    }
    return status;
}
