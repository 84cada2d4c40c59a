// The rules of compatibility: one table, one row a rule. See rules.c.
#ifndef TIDE_CHECKPOINT_COMPAT_RULES_H
#define TIDE_CHECKPOINT_COMPAT_RULES_H

#include <stddef.h>

// In the order of severity: the worst of several is the greatest.
enum compat_verdict { COMPAT_COMPATIBLE, COMPAT_PARTIAL, COMPAT_UNKNOWN, COMPAT_INCOMPATIBLE };
const char *tide__compat_verdict_name(enum compat_verdict verdict);

// What a rule says by itself; several rules depend on more than the code (below a Top-N, of a window aggregate, ...).
enum compat_says {
    SAYS_COMPATIBLE,
    SAYS_PARTIAL,
    SAYS_UNKNOWN,
    SAYS_INCOMPATIBLE,
    SAYS_DEPENDS,  // the row's text says on what
};

struct compat_rule {
    const char *code;
    const char *family;  // a heading of docs/compatibility.md
    const char *what;    // what changed, as a noun: "the Top-N limit"
    enum compat_says strict, exact;
    const char *state;                      // what happens to the state
    const char *exactly;                    // on what exact depends, as a claim that can be tested
    const char *advice;                     // what to do
    const char *old_example, *new_example;  // clauses
};

extern const struct compat_rule tide__compat_rules[];
extern const size_t tide__compat_rule_count;
// NULL if there is none.
const struct compat_rule *tide__compat_rule(const char *code);

#endif
