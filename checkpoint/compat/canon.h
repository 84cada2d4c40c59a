// Expressions in canonical form: equal text means equal meaning for the same rows. Inside checkpoint/compat only.
#ifndef TIDE_CHECKPOINT_COMPAT_CANON_H
#define TIDE_CHECKPOINT_COMPAT_CANON_H

#include "base/arena.h"
#include "engine/plan.h"

enum lineage_role { LINEAGE_PLAIN, LINEAGE_LITERAL, LINEAGE_WINDOW_START, LINEAGE_WINDOW_END, LINEAGE_WINDOW_TIME };

// Where a field comes from, written in source columns.
struct lineage {
    const char *text;
    bool infix;  // needs parentheses inside another expression
    enum lineage_role role;
    const struct window *window;  // of the window roles
    const char *window_time;      // its time column, canonical
    const char *session_keys;     // of a SESSION: its keys, canonical; NULL otherwise
    struct source_pos pos;        // where the script says so
    const struct expr *expr;      // the same over leaves (model.h); NULL: too large, or made without a model
    int32_t owner;                // of the window roles: the operator that made the window, + 1; 0: a window function
};

// `fields` are the lineages of the columns that the expression refers to.
struct lineage tide__canon_expr(const struct expr *expr, const struct lineage *fields, struct arena *arena);
// The same, but the operands of + and * stay in their order.
const char *tide__canon_plain(const struct expr *expr, const struct lineage *fields, struct arena *arena);
// The parts of a condition that AND joins, each canonical and sorted.
const struct lineage *tide__canon_conjuncts(const struct expr *condition, const struct lineage *fields,
                                            struct arena *arena, size_t *out_count);
// In parentheses if it is infix.
const char *tide__canon_operand(const struct lineage *lineage, struct arena *arena);
// "1 min", "90 s", "1500 ms"
const char *tide__canon_duration(int64_t ms, struct arena *arena);
// Texts that grow past reading are cut and end in their hash.
const char *tide__canon_bounded(const char *text, struct arena *arena);

#endif
