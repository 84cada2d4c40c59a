// A script as the check sees it: its sources, stateful operators and sinks, each with its clauses in canonical form, and for every
// field where it comes from. Inside checkpoint/compat only.
#ifndef TIDE_CHECKPOINT_COMPAT_MODEL_H
#define TIDE_CHECKPOINT_COMPAT_MODEL_H

#include "checkpoint/compat/canon.h"
#include "checkpoint/compat/check.h"

// --- where fields come from -----------------------------------------------------------------------------------------------

enum leaf_kind { LEAF_COLUMN, LEAF_AGGREGATE, LEAF_RANK, LEAF_WINDOW, LEAF_OTHER };

// What can't be taken apart further: a column of a source, what an operator makes. Expressions in a model have leaves for columns.
struct leaf {
    struct lineage lineage;
    enum leaf_kind kind;
    uint32_t op;     // the operator that it comes from
    uint32_t index;  // LEAF_COLUMN: of the table; LEAF_AGGREGATE: of the calls
    const struct type *type;
};

// --- clauses ----------------------------------------------------------------------------------------------------------------

struct model_clause {
    const char *code;   // of plan_clause
    const char *text;   // canonical, with a type where it is a part of the layout
    const char *bare;   // without
    const char *plain;  // bare, but with the operands of + and * as they were written
    struct source_pos pos;
    const struct expr *expr;    // over leaves; NULL: none, or too large
    const struct expr *expr2;   // join.condition_equi: of the right side; an aggregate: its second argument
    const struct expr *filter;  // of an aggregate
    const struct type *type;
    uint32_t index;  // of the key, aggregate or stored column in the node
    uint32_t side;
    const struct aggregate_call *call;
    int64_t number;        // limits, durations in ms
    const char *declared;  // bare, with computed columns of tables unopened; NULL: as bare
};

// One grouping set: its keys' texts in order, "(a, d)".
struct model_set {
    const char *text;
    uint32_t key_count;
    const char **keys;  // sorted
};

struct model_operator {
    uint32_t index;
    const struct plan *plan;
    const struct plan_node *node;
    uint32_t root;     // of model.roots: the first sink that it feeds
    const char *kind;  // "window-topn": the words of rules.md
    size_t clause_count;
    struct model_clause *clauses;
    uint32_t input_count;
    uint32_t *inputs;             // operators
    const struct lineage *in[2];  // fields of its inputs
    uint32_t in_count[2];
    const struct lineage *out;
    uint32_t out_count;
    const struct window *window;  // NULL: none
    const char *window_time;
    int32_t window_owner;             // the operator below whose window it is; -1: its own
    uint32_t start_place, end_place;  // of the window columns in GROUP BY or PARTITION BY
    bool finals;         // nothing is in it at a barrier: its rows come when a window fires, and leave at once
    uint32_t set_count;  // grouping sets; 0: none
    struct model_set *sets;
    uint64_t signature;  // of what it computes, with what is below
};

struct model_root {
    const struct plan_node *node;
    uint32_t op;         // the sink
    uint64_t signature;  // of all it computes
};

// A table that is read, and what it was called before.
struct naming_column {
    const char *name;
    int32_t old;  // column of the old table, -1: none
    bool renamed;
};
struct naming_table {
    const struct table *table, *old;  // old NULL: new
    const char *name;                 // that of the old one
    struct naming_column *columns;    // one a column of the table
};
struct naming {
    size_t table_count;
    struct naming_table *tables;
};

struct model {
    const struct compat_script *script;
    struct arena *arena;
    uint32_t operator_count;
    struct model_operator *operators;  // inputs first
    uint32_t root_count;
    struct model_root *roots;
    uint32_t leaf_count;
    struct leaf *leaves;
    struct lineage *leaf_lineages;  // of leaves, for tide__canon_expr
};

// naming: how the new script's tables and columns are called in texts, NULL: by their names. computed: columns that tables compute are
// leaves.
void tide__model_build(const struct compat_script *script, const struct naming *naming, bool computed,
                       struct arena *arena, struct model *out);
// Which table of the new script is which of the old one.
void tide__model_names(const struct compat_script *old_script, const struct compat_script *new_script,
                       struct arena *arena, struct naming *out);
const struct naming_table *tide__model_table(const struct naming *naming, const struct table *table);

// What an expression over leaves is over other columns: `columns` have texts and types. NULL: it can't be computed from them.
const struct expr *tide__model_over(const struct model *model, const struct expr *expr,
                                    const struct model_clause *columns, size_t column_count, struct arena *arena);
typedef bool leaf_fn(void *ctx, const struct model *model, uint32_t leaf);
// Whether some leaf of the expression satisfies `is`.
bool tide__model_reads(const struct model *model, const struct expr *expr, leaf_fn *is, void *ctx);

// The clause as savepoints and reports have it.
const struct plan_clause *tide__model_clause(const struct model *model, const struct model_operator *op,
                                             const struct model_clause *clause);

#endif
