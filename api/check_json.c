// The report for programs: JSON as schemas/check.schema.json has it, and SARIF 2.1.0.
#include "api/check.h"

#include <stdio.h>
#include <string.h>

void tide__api_json_text(const char *text, struct strbuf *out) {
    if (text == NULL) {
        tide__strbuf_append_c(out, "null");
        return;
    }
    tide__strbuf_append_char(out, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            tide__strbuf_printf(out, "\\%c", *c);
        else if (*c < 0x20)
            tide__strbuf_printf(out, "\\u%04x", *c);
        else
            tide__strbuf_append_char(out, (char)*c);
    }
    tide__strbuf_append_char(out, '"');
}

static void member(const char *name, const char *text, bool first, struct strbuf *out) {
    tide__strbuf_printf(out, "%s\"%s\": ", first ? "" : ", ", name);
    tide__api_json_text(text, out);
}

static void place_member(const struct shown_check *check, const char *name, const struct plan_clause *clause, bool old,
                         struct strbuf *out) {
    tide__strbuf_printf(out, ", \"%s\": ", name);
    if (clause == NULL) {
        tide__strbuf_append_c(out, "null");
        return;
    }
    tide__strbuf_append_c(out, "{");
    member("file", old ? check->old_name : check->new_name, true, out);
    tide__strbuf_printf(out, ", \"line\": %u, \"column\": %u", clause->line, clause->column);
    member("text", clause->text, false, out);
    member("source", clause->source, false, out);
    tide__strbuf_append_c(out, "}");
}

static void append_change(const struct shown_check *check, const struct compat_change *change, struct strbuf *out) {
    char fingerprint[17];
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)change->fingerprint);
    tide__strbuf_append_c(out, "{");
    member("code", change->code, true, out);
    member("verdict", tide__compat_verdict_name(change->verdict), false, out);
    member("strict", tide__compat_verdict_name(change->strict), false, out);
    member("exact", tide__compat_verdict_name(change->exact), false, out);
    tide__strbuf_printf(out, ", \"sound\": %s, \"waived\": %s", change->sound ? "true" : "false",
                        change->waived ? "true" : "false");
    tide__strbuf_append_c(out, ", \"missing\": [");
    bool first = true;
    for (uint32_t bit = 0; bit < 31; bit++) {
        if ((change->missing >> bit & 1) == 0) continue;
        tide__strbuf_append_c(out, first ? "" : ", ");
        first = false;
        tide__api_json_text(tide__compat_feature_name((enum compat_feature)(1u << bit)), out);
    }
    tide__strbuf_append_c(out, "]");
    member("fingerprint", fingerprint, false, out);
    member("message", change->message, false, out);
    member("state", change->state, false, out);
    member("advice", change->advice, false, out);
    place_member(check, "old", change->old_clause, true, out);
    place_member(check, "new", change->new_clause, false, out);
    tide__strbuf_append_c(out, "}");
}

static void append_operator(const struct shown_check *check, const struct compat_operator *op, struct strbuf *out) {
    tide__strbuf_append_c(out, "{");
    member("name", op->name, true, out);
    member("kind", op->kind, false, out);
    member("verdict", tide__compat_verdict_name(op->verdict), false, out);
    member("matched_by", op->matched_by, false, out);
    tide__strbuf_printf(out, ", \"stateful\": %s, \"changes\": [", op->stateful ? "true" : "false");
    for (size_t i = 0; i < op->change_count; i++) {
        tide__strbuf_append_c(out, i > 0 ? ",\n      " : "\n      ");
        append_change(check, &op->changes[i], out);
    }
    tide__strbuf_append_c(out, "], \"steps\": [");
    for (size_t i = 0; i < op->step_count; i++) {
        tide__strbuf_append_c(out, i > 0 ? ", " : "");
        tide__api_json_text(op->steps[i].text, out);
    }
    tide__strbuf_append_c(out, "]}");
}

void tide__api_check_json(const struct shown_check *check, struct strbuf *out) {
    const struct compat_report *report = check->report;
    tide__strbuf_append_c(out, "{");
    member("verdict", tide__compat_verdict_name(report->verdict), true, out);
    tide__strbuf_printf(out, ", \"sound\": %s", report->sound ? "true" : "false");
    member("policy", report->policy == COMPAT_EXACT ? "exact" : "strict", false, out);
    member("strict", tide__compat_verdict_name(report->strict), false, out);
    member("exact", tide__compat_verdict_name(report->exact), false, out);
    member("old", check->old_name, false, out);
    member("new", check->new_name, false, out);
    member("holds", check->held, false, out);
    tide__strbuf_append_c(out, ", \"operators\": [");
    for (size_t i = 0; i < report->operator_count; i++) {
        tide__strbuf_append_c(out, i > 0 ? ",\n    " : "\n    ");
        append_operator(check, &report->operators[i], out);
    }
    tide__strbuf_append_c(out, "]}\n");
}

// --- SARIF ------------------------------------------------------------------------------------------------------------------

static const char *level_of(const struct compat_change *change) {
    switch (change->verdict) {
    case COMPAT_COMPATIBLE: return change->sound ? "note" : "warning";
    case COMPAT_PARTIAL:
    case COMPAT_UNKNOWN: return "warning";
    case COMPAT_INCOMPATIBLE: return "error";
    }
    return "warning";
}

static void append_rules(const struct compat_report *report, struct strbuf *out) {
    bool first = true;
    for (size_t r = 0; r < tide__compat_rule_count; r++) {
        const struct compat_rule *rule = &tide__compat_rules[r];
        bool used = false;
        for (size_t o = 0; o < report->operator_count; o++)
            for (size_t i = 0; i < report->operators[o].change_count; i++)
                used |= strcmp(report->operators[o].changes[i].code, rule->code) == 0;
        if (!used) continue;
        tide__strbuf_append_c(out, first ? "\n        {" : ",\n        {");
        first = false;
        member("id", rule->code, true, out);
        tide__strbuf_append_c(out, ", \"shortDescription\": {");
        member("text", rule->what, true, out);
        tide__strbuf_append_c(out, "}, \"fullDescription\": {");
        member("text", rule->state, true, out);
        tide__strbuf_append_c(out, "}, \"help\": {");
        member("text", rule->advice != NULL ? rule->advice : "nothing is to be done", true, out);
        tide__strbuf_append_c(out, "}}");
    }
}

static void append_location(const struct shown_check *check, const struct plan_clause *clause, bool old,
                            struct strbuf *out) {
    tide__strbuf_append_c(out, "{\"physicalLocation\": {\"artifactLocation\": {");
    member("uri", old ? check->old_name : check->new_name, true, out);
    bool place = clause != NULL && clause->line > 0;
    tide__strbuf_printf(out, "}, \"region\": {\"startLine\": %u, \"startColumn\": %u}}", place ? clause->line : 1,
                        place && clause->column > 0 ? clause->column : 1);
}

static void append_result(const struct shown_check *check, const struct compat_operator *op,
                          const struct compat_change *change, struct strbuf *out) {
    const char *message = tide__arena_printf(check->arena, "%s: %s; %s (%s)", op->name, change->message, change->state,
                                             tide__compat_verdict_name(change->verdict));
    tide__strbuf_append_c(out, "{");
    member("ruleId", change->code, true, out);
    member("level", level_of(change), false, out);
    tide__strbuf_append_c(out, ", \"message\": {");
    member("text", message, true, out);
    tide__strbuf_append_c(out, "}, \"locations\": [");
    append_location(check, change->new_clause, false, out);
    tide__strbuf_append_c(out, "}]");
    if (change->old_clause != NULL) {
        tide__strbuf_append_c(out, ", \"relatedLocations\": [");
        append_location(check, change->old_clause, true, out);
        tide__strbuf_append_c(out, ", \"message\": {\"text\": \"as it was\"}}]");
    }
    tide__strbuf_printf(out, ", \"partialFingerprints\": {\"tidemarkChange/v1\": \"%016llx\"}",
                        (unsigned long long)change->fingerprint);
    const struct waiver *waiver = tide__api_check_waiver(check, change);
    if (change->waived && waiver != NULL) {
        tide__strbuf_append_c(out, ", \"suppressions\": [{\"kind\": \"external\"");
        member("justification", waiver->reason, false, out);
        tide__strbuf_append_c(out, "}]");
    }
    tide__strbuf_append_c(out, "}");
}

void tide__api_check_sarif(const struct shown_check *check, struct strbuf *out) {
    tide__strbuf_append_c(
        out, "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n"
             "  \"runs\": [{\n    \"tool\": {\"driver\": {\"name\": \"tidemark check\", \"version\": \"" TIDE_VERSION
             "\", \"rules\": [");
    append_rules(check->report, out);
    tide__strbuf_append_c(out, "]}},\n    \"columnKind\": \"unicodeCodePoints\",\n    \"results\": [");
    bool first = true;
    for (size_t o = 0; o < check->report->operator_count; o++) {
        const struct compat_operator *op = &check->report->operators[o];
        for (size_t i = 0; i < op->change_count; i++) {
            tide__strbuf_append_c(out, first ? "\n      " : ",\n      ");
            first = false;
            append_result(check, op, &op->changes[i], out);
        }
    }
    tide__strbuf_append_c(out, "]\n  }]\n}\n");
}
