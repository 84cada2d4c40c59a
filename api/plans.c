#include "api/plans.h"

#include "sql/parse.h"
#include "sql/sql.h"

#include <string.h>

void tide__api_plans_settings(const struct sql_session *session, struct arena *arena, struct compat_script *out) {
    const char *const *keys = tide__compat_setting_keys();
    size_t count = 0;
    while (keys[count] != NULL) count++;
    struct compat_setting *settings = ARENA_ARRAY(arena, struct compat_setting, count + 1);
    out->setting_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct str value = tide__sql_session_option(session, keys[i]);
        if (value.data != NULL) settings[out->setting_count++] = (struct compat_setting){keys[i], value};
    }
    out->settings = settings;
}

static void add_plan(struct compat_script *script, const struct plan *plan, struct arena *arena) {
    const struct plan **plans = ARENA_ARRAY(arena, const struct plan *, script->plan_count + 1);
    if (script->plan_count > 0) memcpy(plans, script->plans, script->plan_count * sizeof *plans);
    plans[script->plan_count++] = plan;
    script->plans = plans;
}

static tide_status compile_all(struct script_plans *plans, uint32_t only, struct arena *arena, tide_error *err) {
    for (uint32_t job = 0;;) {
        struct statement *statement;
        TIDE_TRY(tide__parse_next(plans->parser, arena, &statement, err));
        if (statement == NULL) break;
        struct sql_result result = {0};
        TIDE_TRY(tide__sql_compile(plans->session, statement, plans->script.sql, job, arena, &result, err));
        if (result.kind != SQL_JOB) continue;
        if (only == UINT32_MAX || job == only) add_plan(&plans->script, result.plan, arena);
        if (job++ == only) break;
    }
    tide__api_plans_settings(plans->session, arena, &plans->script);
    return TIDE_OK;
}

tide_status tide__api_plans_open(const char *name, struct str sql, uint32_t only, struct arena *arena,
                                 struct script_plans *out, tide_error *err) {
    *out = (struct script_plans){.script = {.name = name, .sql = sql}, .as_run = out->as_run};
    out->parser = tide__parser_new(sql.data, sql.len);
    out->session = tide__sql_session_new();
    if (!out->as_run) tide__sql_session_set_checking(out->session);
    tide_status status = compile_all(out, only, arena, err);
    if (status == TIDE_OK) return TIDE_OK;
    if (err->line > 0) {
        tide__error_set_file(err, name);
        if (err->excerpt[0] == '\0') tide__error_set_excerpt(err, sql.data, sql.len);
    }
    tide__api_plans_close(out);
    return status;
}

static size_t count_of(const struct plan_operator *op, const char *code) {
    size_t count = 0;
    for (size_t i = 0; i < op->clause_count; i++) count += strcmp(op->clauses[i].code, code) == 0;
    return count;
}

// Clauses that both know are the same: the program that wrote the savepoint may have known fewer or more kinds of them.
static bool same_operator(const struct plan_operator *a, const struct plan_operator *b) {
    if (strcmp(a->operator_id, b->operator_id) != 0 || strcmp(a->kind, b->kind) != 0) return false;
    for (size_t i = 0; i < a->clause_count; i++) {
        const char *code = a->clauses[i].code;
        size_t known = count_of(b, code);
        if (known == 0) continue;
        bool same = false;
        for (size_t k = 0; k < b->clause_count; k++)
            same |= strcmp(code, b->clauses[k].code) == 0 && strcmp(a->clauses[i].text, b->clauses[k].text) == 0;
        if (!same || known != count_of(a, code)) return false;
    }
    return true;
}

static bool same_plan(const struct plan_description *a, const struct plan_description *b) {
    for (size_t i = 0; i < a->operator_count; i++) {
        if (!a->operators[i].stateful) continue;
        bool found = false;
        for (size_t k = 0; k < b->operator_count; k++) found |= same_operator(&a->operators[i], &b->operators[k]);
        if (!found) return false;
    }
    return true;
}

tide_status tide__api_plans_of_savepoint(const struct savepoint_info *info, const char *name, struct arena *arena,
                                         struct script_plans *out, tide_error *err) {
    out->as_run = true;
    TIDE_TRY(tide__api_plans_open(name, info->sql, info->statement_index, arena, out, err));
    struct plan_description now = {0};
    if (out->script.plan_count == 1) tide__plan_describe(out->script.plans[0], arena, &now);
    if (out->script.plan_count == 1 && same_plan(&info->plan, &now)) return TIDE_OK;
    tide__api_plans_close(out);
    tide__fail(err, TIDE_ERR_REFUSED,
               "%s was written by tidemark %s, which plans its script differently (engine.version)", name,
               info->writer_version);
    return tide__fail_hint(err, "Go on with that version, or begin without the savepoint.");
}

void tide__api_plans_only(struct compat_script *script, uint32_t job) {
    for (size_t i = 0; i < script->plan_count; i++) {
        if (script->plans[i]->statement_index != job) continue;
        script->plans += i;
        script->plan_count = 1;
        return;
    }
    script->plan_count = 0;
}

void tide__api_plans_close(struct script_plans *plans) {
    if (plans->parser == NULL) return;
    tide__parser_free(plans->parser);
    tide__sql_session_free(plans->session);
    plans->parser = NULL;
    plans->session = NULL;
}
