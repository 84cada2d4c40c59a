// The table of rules, as a list, one by one, and as a page.
#include "api/check.h"

#include <string.h>

static const char *says(enum compat_says says_) {
    switch (says_) {
    case SAYS_COMPATIBLE: return "compatible";
    case SAYS_PARTIAL: return "partial";
    case SAYS_UNKNOWN: return "unknown";
    case SAYS_INCOMPATIBLE: return "incompatible";
    case SAYS_DEPENDS: return "depends";
    }
    return "?";
}

static void give(struct strbuf *out, tide_write_fn *write, void *ctx) {
    write(ctx, out->data, out->len);
    tide__strbuf_deinit(out);
}

void tide_check_rules(tide_write_fn *write, void *ctx) {
    struct strbuf out = {0};
    tide__strbuf_printf(&out, "%-30s %-12s %-12s %s\n", "CODE", "STRICT", "EXACT", "WHAT HAS CHANGED");
    const char *family = "";
    for (size_t i = 0; i < tide__compat_rule_count; i++) {
        const struct compat_rule *rule = &tide__compat_rules[i];
        if (strcmp(family, rule->family) != 0) tide__strbuf_printf(&out, "\n%s\n", rule->family);
        family = rule->family;
        tide__strbuf_printf(&out, "%-30s %-12s %-12s %s\n", rule->code, says(rule->strict), says(rule->exact),
                            rule->what);
    }
    tide__strbuf_append_c(&out, "\n`tidemark check --explain CODE` tells more of one.\n");
    give(&out, write, ctx);
}

tide_status tide_check_explain(const char *code, tide_write_fn *write, void *ctx, tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    const struct compat_rule *rule = tide__compat_rule(code);
    if (rule == NULL) {
        tide__fail(err, TIDE_ERR_OPTION, "there is no rule %s", code);
        return tide__fail_hint(err, "`tidemark check --rules` lists them.");
    }
    struct strbuf out = {0};
    tide__strbuf_printf(&out, "%s: %s has changed\n\n  strict   %s\n  exact    %s\n\n", rule->code, rule->what,
                        says(rule->strict), says(rule->exact));
    tide__strbuf_printf(&out, "What happens to the state: %s.\nExact: %s.\n", rule->state, rule->exactly);
    if (rule->advice != NULL) tide__strbuf_printf(&out, "What to do: %s.\n", rule->advice);
    if (*rule->old_example != '\0' || *rule->new_example != '\0')
        tide__strbuf_printf(&out, "\nExample\n  old: %s\n  new: %s\n",
                            *rule->old_example ? rule->old_example : "(nothing)",
                            *rule->new_example ? rule->new_example : "(nothing)");
    give(&out, write, ctx);
    return TIDE_OK;
}

static void code_cell(const char *text, struct strbuf *out) {
    tide__strbuf_append_c(out, *text != '\0' ? "`" : "");
    for (const char *c = text; *c != '\0'; c++) tide__strbuf_append_c(out, *c == '|' ? "\\|" : (char[]){*c, '\0'});
    tide__strbuf_append_c(out, *text != '\0' ? "`" : "");
}

static const char head[] = "# Compatibility of changed scripts\n\n"
                           "<!-- Made by `./dev docs` from checkpoint/compat/rules.c: edit that. -->\n\n"
                           "`tidemark check OLD NEW` says whether NEW can go on from the state of OLD; `tidemark run "
                           "--from` and resuming apply the same\n"
                           "check. What does not matter (aliases, spelling, views, the order of statements, `rk < 4` "
                           "for `rk <= 3`) is no change at all.\n\n"
                           "## The verdicts\n\n"
                           "- **compatible**: what comes out after the restore is what a run of NEW from the start "
                           "gives in every window that ends after\n"
                           "  both watermarks.\n"
                           "- **partial**: the same rows, and the same values in all columns but those that are named; "
                           "these count what arrives after the\n"
                           "  restore.\n"
                           "- **incompatible**: neither holds for some input. With `--on-incompatible reset` the "
                           "affected operators begin empty.\n"
                           "- **unknown**: the scripts do not say which of these holds.\n\n"
                           "Of several changes the worst verdict counts: incompatible, unknown, partial, compatible. "
                           "**strict**, the default, gives what the\n"
                           "published rules for Flink's state say. **exact** gives the strongest verdict that is sound "
                           "for Tidemark's state; what it calls\n"
                           "compatible or partial is a claim that the tests replay. Where strict allows more than is "
                           "sound, the report says `\"sound\": false`,\n"
                           "and a restore wants `--accept-unsound`. Where exact needs a transformation of the state "
                           "that restoring can't do, it says so and is\n"
                           "incompatible. *depends*: on what the third column says.\n\n"
                           "Under strict, changes in two or more of aggregates, sinks and conditions at once are "
                           "unknown together (`multi`), unless one of\n"
                           "them is incompatible by itself.\n";

void tide_check_document(tide_write_fn *write, void *ctx) {
    struct strbuf out = {0};
    tide__strbuf_append_c(&out, head);
    const char *family = "";
    for (size_t i = 0; i < tide__compat_rule_count; i++) {
        const struct compat_rule *rule = &tide__compat_rules[i];
        if (strcmp(family, rule->family) != 0)
            tide__strbuf_printf(
                &out,
                "\n## %s\n\n| code | strict | exact | what happens to the state | exact, as a claim | from | to |\n"
                "|---|---|---|---|---|---|---|\n",
                rule->family);
        family = rule->family;
        tide__strbuf_printf(&out, "| `%s` | %s | %s | %s | %s | ", rule->code, says(rule->strict), says(rule->exact),
                            rule->state, rule->exactly);
        code_cell(rule->old_example, &out);
        tide__strbuf_append_c(&out, " | ");
        code_cell(rule->new_example, &out);
        tide__strbuf_append_c(&out, " |\n");
    }
    give(&out, write, ctx);
}
