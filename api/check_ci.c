// The report for continuous integration: JUnit, and the annotations of GitHub's workflows.
#include "api/check.h"

#include <string.h>

// --- JUnit ------------------------------------------------------------------------------------------------------------------

static void xml_text(const char *text, struct strbuf *out) {
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        switch (*c) {
        case '<': tide__strbuf_append_c(out, "&lt;"); break;
        case '>': tide__strbuf_append_c(out, "&gt;"); break;
        case '&': tide__strbuf_append_c(out, "&amp;"); break;
        case '"': tide__strbuf_append_c(out, "&quot;"); break;
        case '\n': tide__strbuf_append_c(out, "&#10;"); break;
        default: tide__strbuf_append_char(out, *c < 0x20 && *c != '\t' ? '?' : (char)*c); break;
        }
    }
}

static bool fails(const struct shown_check *check, const struct compat_change *change) {
    if (change->waived || change->verdict == COMPAT_COMPATIBLE) return false;
    return change->verdict != COMPAT_PARTIAL || check->fail_on == TIDE_FAIL_ON_PARTIAL;
}

static const char *place_text(const struct shown_check *check, const struct compat_change *change) {
    tide_error place;
    if (tide__api_check_place(check, change->new_clause, false, &place) ||
        tide__api_check_place(check, change->old_clause, true, &place))
        return tide__arena_printf(check->arena, "%s:%u:%u", place.file, place.line, place.column);
    return check->new_name;
}

static void append_case(const struct shown_check *check, const struct compat_operator *op,
                        const struct compat_change *change, struct strbuf *out) {
    tide__strbuf_append_c(out, "    <testcase classname=\"");
    xml_text(op->name, out);
    tide__strbuf_append_c(out, "\" name=\"");
    xml_text(tide__arena_printf(check->arena, "%s: %s", change->code, change->message), out);
    if (change->waived) {
        tide__strbuf_append_c(out, "\"><skipped message=\"waived\"/></testcase>\n");
        return;
    }
    if (!fails(check, change)) {
        tide__strbuf_append_c(out, "\"/>\n");
        return;
    }
    tide__strbuf_printf(out, "\"><failure type=\"%s\" message=\"", tide__compat_verdict_name(change->verdict));
    xml_text(change->state, out);
    tide__strbuf_append_c(out, "\">");
    xml_text(place_text(check, change), out);
    tide__strbuf_append_c(out, "</failure></testcase>\n");
}

void tide__api_check_junit(const struct shown_check *check, struct strbuf *out) {
    size_t tests = 0, failures = 0, skipped = 0;
    for (size_t o = 0; o < check->report->operator_count; o++) {
        const struct compat_operator *op = &check->report->operators[o];
        tests += op->change_count > 0 ? op->change_count : 1;
        for (size_t i = 0; i < op->change_count; i++) {
            failures += fails(check, &op->changes[i]);
            skipped += op->changes[i].waived;
        }
    }
    tide__strbuf_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"tidemark check\" "
        "tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
        tests, failures, skipped);
    for (size_t o = 0; o < check->report->operator_count; o++) {
        const struct compat_operator *op = &check->report->operators[o];
        for (size_t i = 0; i < op->change_count; i++) append_case(check, op, &op->changes[i], out);
        if (op->change_count > 0) continue;
        tide__strbuf_append_c(out, "    <testcase classname=\"");
        xml_text(op->name, out);
        tide__strbuf_append_c(out, "\" name=\"unchanged\"/>\n");
    }
    tide__strbuf_append_c(out, "  </testsuite>\n</testsuites>\n");
}

// --- GitHub -----------------------------------------------------------------------------------------------------------------

// `property`: in a name=value, where colons and commas mean something too.
static void command_text(const char *text, bool property, struct strbuf *out) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '%' || *c == '\r' || *c == '\n' || (property && (*c == ':' || *c == ',')))
            tide__strbuf_printf(out, "%%%02X", (unsigned char)*c);
        else
            tide__strbuf_append_char(out, *c);
    }
}

static const char *command_of(const struct shown_check *check, const struct compat_change *change) {
    if (fails(check, change)) return change->verdict == COMPAT_INCOMPATIBLE ? "error" : "warning";
    return change->sound ? "notice" : "warning";
}

static void append_annotation(const struct shown_check *check, const struct compat_operator *op,
                              const struct compat_change *change, struct strbuf *out) {
    tide_error place;
    tide__strbuf_printf(out, "::%s ", command_of(check, change));
    tide__strbuf_append_c(out, "file=");
    command_text(check->new_name, true, out);
    if (tide__api_check_place(check, change->new_clause, false, &place))
        tide__strbuf_printf(out, ",line=%u,col=%u", place.line, place.column);
    tide__strbuf_append_c(out, ",title=");
    command_text(tide__arena_printf(check->arena, "%s (%s)", change->code, tide__compat_verdict_name(change->verdict)),
                 true, out);
    tide__strbuf_append_c(out, "::");
    command_text(tide__arena_printf(check->arena, "%s: %s; %s%s", op->name, change->message, change->state,
                                    change->waived ? " (waived)" : ""),
                 false, out);
    tide__strbuf_append_c(out, "\n");
}

void tide__api_check_github(const struct shown_check *check, struct strbuf *out) {
    for (size_t o = 0; o < check->report->operator_count; o++) {
        const struct compat_operator *op = &check->report->operators[o];
        for (size_t i = 0; i < op->change_count; i++) append_annotation(check, op, &op->changes[i], out);
    }
    tide__strbuf_printf(out, "%s: %s -> %s\n", tide__compat_verdict_name(check->report->verdict), check->old_name,
                        check->new_name);
}
