// The check of two scripts for users: reads both sides, asks checkpoint/compat/, and gives the report in the asked form.
#include "api/check.h"

#include "api/inspect.h"
#include "api/plans.h"

#include <string.h>
#include <time.h>

// --- where a clause stands ------------------------------------------------------------------------------------------------

bool tide__api_check_place(const struct shown_check *check, const struct plan_clause *clause, bool old,
                           tide_error *out) {
    tide__error_clear(out);
    if (clause == NULL || clause->line == 0) return false;
    out->line = clause->line;
    out->column = clause->column;
    out->length = clause->source != NULL ? (uint32_t)strlen(clause->source) : 1;
    struct str sql = old ? check->old_sql : check->new_sql;
    tide__error_set_file(out, old ? check->old_name : check->new_name);
    tide__error_set_excerpt(out, sql.data, sql.len);
    return true;
}

const struct waiver *tide__api_check_waiver(const struct shown_check *check, const struct compat_change *change) {
    for (size_t i = 0; i < check->waivers->count; i++)
        if (check->waivers->items[i].fingerprint == change->fingerprint) return &check->waivers->items[i];
    return NULL;
}

// --- the old side -----------------------------------------------------------------------------------------------------------

struct old_side {
    struct script_plans plans;
    struct savepoint *savepoint;  // NULL: a script
    const char *held;
};

static uint64_t entries_of(const struct savepoint_info *info, const char *operator_id, uint64_t *out_windows) {
    uint64_t entries = 0;
    *out_windows = 0;
    for (size_t i = 0; i < info->table_count; i++) {
        if (strcmp(info->tables[i].desc.operator_id, operator_id) != 0) continue;
        entries += info->tables[i].entries;
        if (info->tables[i].window_count > *out_windows) *out_windows = info->tables[i].window_count;
    }
    return entries;
}

// What would be lost.
static const char *held_text(const struct savepoint_info *info, struct arena *arena) {
    const char *text = tide__arena_printf(arena, "  taken after %llu rows by tidemark %s\n",
                                          (unsigned long long)info->snapshot.rows, info->writer_version);
    for (size_t i = 0; i < info->plan.operator_count; i++) {
        const struct plan_operator *op = &info->plan.operators[i];
        if (!op->stateful) continue;
        uint64_t windows, entries = entries_of(info, op->operator_id, &windows);
        text = tide__arena_printf(arena, "%s  %s: %llu keys", text, op->operator_id, (unsigned long long)entries);
        if (windows > 0) text = tide__arena_printf(arena, "%s in %llu open windows", text, (unsigned long long)windows);
        text = tide__arena_printf(arena, "%s\n", text);
    }
    return text;
}

static tide_status open_old(const tide_check *check, struct arena *arena, struct old_side *out, tide_error *err) {
    const tide_check_side *side = &check->old_side;
    if (side->sql != NULL)
        return tide__api_plans_open(side->name, (struct str){side->sql, side->sql_len}, UINT32_MAX, arena, &out->plans,
                                    err);
    const char *file, *skipped;
    TIDE_TRY(tide__api_savepoint_find(side->savepoint, arena, &out->savepoint, &file, &skipped, err));
    const struct savepoint_info *info = tide__savepoint_info(out->savepoint);
    out->held = held_text(info, arena);
    if (skipped != NULL)
        out->held = tide__arena_printf(arena, "%s  an older checkpoint was taken: %s\n", out->held, skipped);
    return tide__api_plans_of_savepoint(info, side->name, arena, &out->plans, err);
}

// --- the report -------------------------------------------------------------------------------------------------------------

static int exit_code(const struct compat_report *report, enum tide_fail_on fail_on) {
    switch (report->verdict) {
    case COMPAT_COMPATIBLE: return 0;
    case COMPAT_PARTIAL: return fail_on == TIDE_FAIL_ON_INCOMPATIBLE ? 0 : 10;
    case COMPAT_INCOMPATIBLE: return 20;
    case COMPAT_UNKNOWN: return 30;
    }
    return 30;
}

static void show(const struct shown_check *shown, enum tide_check_format format, tide_write_fn *write, void *ctx) {
    struct strbuf out = {0};
    switch (format) {
    case TIDE_CHECK_TEXT: tide__api_check_text(shown, &out); break;
    case TIDE_CHECK_JSON: tide__api_check_json(shown, &out); break;
    case TIDE_CHECK_SARIF: tide__api_check_sarif(shown, &out); break;
    case TIDE_CHECK_JUNIT: tide__api_check_junit(shown, &out); break;
    case TIDE_CHECK_GITHUB: tide__api_check_github(shown, &out); break;
    }
    write(ctx, out.data != NULL ? out.data : "", out.len);
    tide__strbuf_deinit(&out);
}

static void waive(const struct waivers *waivers, struct compat_request *request, struct arena *arena) {
    uint64_t *fingerprints = ARENA_ARRAY(arena, uint64_t, waivers->count + 1);
    for (size_t i = 0; i < waivers->count; i++)
        if (!waivers->items[i].expired) fingerprints[request->waived_count++] = waivers->items[i].fingerprint;
    request->waived = fingerprints;
}

static tide_status check_sides(const tide_check *check, struct arena *arena, struct old_side *old,
                               struct script_plans *now, tide_write_fn *write, void *ctx, tide_check_result *out,
                               tide_error *err) {
    struct waivers waivers = {0};
    struct str waiver_text = {check->waivers, check->waivers_len};
    if (check->waivers != NULL)
        TIDE_TRY(tide__api_waivers_parse(check->waivers_name, waiver_text, (int64_t)(time(NULL) / 86400), arena,
                                         &waivers, err));
    TIDE_TRY(open_old(check, arena, old, err));
    const tide_check_side *side = &check->new_side;
    now->as_run = old->plans.as_run;
    TIDE_TRY(tide__api_plans_open(side->name, (struct str){side->sql, side->sql_len}, UINT32_MAX, arena, now, err));
    struct compat_request request = {
        .old_script = old->plans.script,
        .new_script = now->script,
        .policy = check->policy == TIDE_POLICY_EXACT ? COMPAT_EXACT : COMPAT_STRICT,
        .features = tide__compat_features(),
    };
    if (old->savepoint != NULL) tide__api_plans_only(&request.new_script, old->plans.script.plans[0]->statement_index);
    if (request.old_script.plan_count == 0 || request.new_script.plan_count == 0)
        return tide__fail(err, TIDE_ERR_PLAN, "%s holds no job to compare: no SELECT and no INSERT",
                          request.old_script.plan_count == 0 ? check->old_side.name : side->name);
    waive(&waivers, &request, arena);
    struct compat_report report;
    tide__compat_check(&request, arena, &report);
    struct shown_check shown = {
        &report,   arena,    check->old_side.name, side->name,    request.old_script.sql, request.new_script.sql,
        old->held, &waivers, check->colour,        check->fail_on};
    show(&shown, check->format, write, ctx);
    *out = (tide_check_result){(enum tide_verdict)report.verdict, (enum tide_verdict)report.strict,
                               (enum tide_verdict)report.exact, report.sound, exit_code(&report, check->fail_on)};
    return TIDE_OK;
}

tide_status tide_check_scripts(const tide_check *check, tide_write_fn *write, void *ctx, tide_check_result *out,
                               tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    struct arena arena;
    tide__arena_init(&arena);
    struct old_side old = {0};
    struct script_plans now = {0};
    tide_status status = check_sides(check, &arena, &old, &now, write, ctx, out, err);
    tide__api_plans_close(&old.plans);
    tide__api_plans_close(&now);
    tide__savepoint_close(old.savepoint);
    tide__arena_deinit(&arena);
    return status;
}
