// The report for people: each change with its clause in both files, what happens to the state, and what to do.
#include "api/check.h"

#include <string.h>

static const char *shade(const struct shown_check *check, enum compat_verdict verdict) {
    if (!check->colour) return "";
    switch (verdict) {
    case COMPAT_COMPATIBLE: return "\033[1;32m";
    case COMPAT_PARTIAL: return "\033[1;33m";
    case COMPAT_UNKNOWN: return "\033[1;35m";
    case COMPAT_INCOMPATIBLE: return "\033[1;31m";
    }
    return "";
}

static const char *plain(const struct shown_check *check) {
    return check->colour ? "\033[0m" : "";
}

// The line and the clause in it, underlined.
static void append_place(const struct shown_check *check, const struct plan_clause *clause, bool old,
                         struct strbuf *out) {
    tide_error place;
    if (!tide__api_check_place(check, clause, old, &place)) return;
    tide__strbuf_printf(out, "    %s %s:%u:%u\n      %s\n      ", old ? "old" : "new", place.file, place.line,
                        place.column, place.excerpt);
    uint32_t at = 0;
    for (const char *c = place.excerpt; *c != '\0' && at < place.caret; c++) {
        if (((unsigned char)*c & 0xC0) == 0x80) continue;
        tide__strbuf_append_char(out, *c == '\t' ? '\t' : ' ');
        at++;
    }
    uint32_t left = 0;
    for (const char *c = place.excerpt; *c != '\0'; c++) left += ((unsigned char)*c & 0xC0) != 0x80;
    uint32_t length = place.length;
    if (place.caret + length > left) length = left > place.caret ? left - place.caret : 1;
    tide__strbuf_append_c(out, check->colour ? "\033[1;32m^" : "^");
    for (uint32_t i = 1; i < length; i++) tide__strbuf_append_char(out, '~');
    tide__strbuf_printf(out, "%s\n", plain(check));
}

static const char *missing_text(const struct shown_check *check, uint32_t missing) {
    const char *text = "";
    for (uint32_t bit = 0; bit < 31; bit++)
        if (missing >> bit & 1)
            text = tide__arena_printf(check->arena, "%s%s%s", text, *text ? ", " : "",
                                      tide__compat_feature_name((enum compat_feature)(1u << bit)));
    return text;
}

static void append_change(const struct shown_check *check, const struct compat_change *change, struct strbuf *out) {
    tide__strbuf_printf(out, "  %s%s%s %s: %s\n", shade(check, change->verdict),
                        tide__compat_verdict_name(change->verdict), plain(check), change->code, change->message);
    append_place(check, change->old_clause, true, out);
    append_place(check, change->new_clause, false, out);
    tide__strbuf_printf(out, "    state: %s\n", change->state);
    if (!change->sound)
        tide__strbuf_printf(out, "    warning: results may differ from a run from the start: under exact it is %s\n",
                            tide__compat_verdict_name(change->exact));
    if (change->missing != 0)
        tide__strbuf_printf(out, "    sound, but the state can't be carried over yet: %s\n",
                            missing_text(check, change->missing));
    if (change->advice != NULL) tide__strbuf_printf(out, "    do: %s\n", change->advice);
    const struct waiver *waiver = tide__api_check_waiver(check, change);
    if (waiver == NULL) {
        if (change->verdict != COMPAT_COMPATIBLE)
            tide__strbuf_printf(out, "    fingerprint: %016llx\n", (unsigned long long)change->fingerprint);
        return;
    }
    tide__strbuf_printf(out, "    %s: %s%s%s\n", waiver->expired ? "its waiver has expired" : "waived", waiver->reason,
                        waiver->until != NULL ? ", until " : "", waiver->until != NULL ? waiver->until : "");
}

static void append_steps(const struct compat_operator *op, struct strbuf *out) {
    bool only = op->step_count == 1 &&
                (op->steps[0].kind == COMPAT_STEP_KEEP || op->steps[0].kind == COMPAT_STEP_DISCARD);
    if (op->step_count == 0 || only) return;
    tide__strbuf_append_c(out, "  the state is carried over:");
    for (size_t i = 0; i < op->step_count; i++) tide__strbuf_printf(out, "%s %s", i > 0 ? ";" : "", op->steps[i].text);
    tide__strbuf_append_c(out, "\n");
}

static void append_operator(const struct shown_check *check, const struct compat_operator *op, struct strbuf *out) {
    if (op->change_count == 0) return;
    tide__strbuf_printf(out, "%s (%s)", op->name, op->kind);
    if (op->matched_by != NULL && strcmp(op->matched_by, "lineage") != 0)
        tide__strbuf_printf(out, ", matched by %s", op->matched_by);
    tide__strbuf_append_c(out, ":\n");
    for (size_t i = 0; i < op->change_count; i++) append_change(check, &op->changes[i], out);
    if (check->report->policy == COMPAT_EXACT) append_steps(op, out);
}

// Strict demands a reset, and exact would not.
static void append_hints(const struct shown_check *check, struct strbuf *out) {
    const struct compat_report *report = check->report;
    if (!report->sound)
        tide__strbuf_printf(out,
                            "warning: these rules allow more than is sound; `tidemark run` wants --accept-unsound\n");
    if (report->policy == COMPAT_STRICT && report->exact < report->strict)
        tide__strbuf_printf(
            out, "%s: %s under --policy exact%s\n    tidemark run %s --from %s --policy exact%s\n",
            report->exact == COMPAT_COMPATIBLE ? "the state can be carried over" : "a part of the results goes on",
            tide__compat_verdict_name(report->exact), report->exact == COMPAT_COMPATIBLE ? "" : ", then",
            check->new_name, check->held != NULL ? check->old_name : "SAVEPOINT",
            report->exact == COMPAT_PARTIAL ? " --on-incompatible partial" : "");
}

void tide__api_check_text(const struct shown_check *check, struct strbuf *out) {
    const struct compat_report *report = check->report;
    for (size_t i = 0; i < report->operator_count; i++) append_operator(check, &report->operators[i], out);
    if (check->held != NULL && report->verdict != COMPAT_COMPATIBLE)
        tide__strbuf_printf(out, "the savepoint %s holds:\n%s", check->old_name, check->held);
    for (size_t i = 0; i < check->waivers->count; i++) {
        bool used = false;
        for (size_t o = 0; o < report->operator_count; o++)
            for (size_t k = 0; k < report->operators[o].change_count; k++)
                used |= report->operators[o].changes[k].fingerprint == check->waivers->items[i].fingerprint;
        if (!used)
            tide__strbuf_printf(out, "note: the waiver of %016llx is not needed\n",
                                (unsigned long long)check->waivers->items[i].fingerprint);
    }
    tide__strbuf_printf(out, "%s%s%s: %s -> %s, policy %s\n", shade(check, report->verdict),
                        tide__compat_verdict_name(report->verdict), plain(check), check->old_name, check->new_name,
                        report->policy == COMPAT_EXACT ? "exact" : "strict");
    append_hints(check, out);
}
