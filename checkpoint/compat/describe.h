// What the files that make a model share (describe.c, describe_state.c).
#ifndef TIDE_CHECKPOINT_COMPAT_DESCRIBE_H
#define TIDE_CHECKPOINT_COMPAT_DESCRIBE_H

#include "checkpoint/compat/model.h"

// What leaves a node.
struct flow {
    struct lineage *fields;
    const struct lineage *filters;  // since the last source or stateful operator; sorted
    size_t filter_count;
    const struct lineage *branches;  // of UNION ALL; sorted
    size_t branch_count;
    uint32_t *inputs;  // operators that it comes from
    uint32_t input_count;
    bool above_state;        // some of them are stateful
    bool above_aggregation;  // they are aggregations: a condition is a HAVING
    bool finals;             // rows come when their window fires
    uint32_t set_count;      // grouping sets
    const struct plan_node *expand;
    const struct lineage *expand_input;
};

struct describer {
    struct model *model;
    const struct naming *naming;
    bool computed;
    const struct plan *plan;
    struct arena *arena;
    struct flow *flows;  // by node id of the plan
    uint32_t operator_cap, leaf_cap;
    struct model_clause *clauses;  // of the operator that is being described
    size_t clause_count, clause_cap;
};

struct model_clause *tide__describe_clause(struct describer *d, const char *code, const char *text,
                                           struct source_pos pos);
// The same for what a lineage says: text, expression and place.
struct model_clause *tide__describe_lineage(struct describer *d, const char *code, const struct lineage *lineage);
// For a column that is stored or a key: its type is a part of the layout.
struct model_clause *tide__describe_typed(struct describer *d, const char *code, const struct lineage *lineage,
                                          const struct type *type);
// Makes an operator of the clauses so far.
struct model_operator *tide__describe_finish(struct describer *d, const struct plan_node *node, const char *kind,
                                             const struct flow *const *inputs, uint32_t input_count);
struct lineage tide__describe_leaf(struct describer *d, enum leaf_kind kind, uint32_t op, uint32_t index,
                                   const char *text, const struct type *type, struct source_pos pos);
// A field that an expression makes.
struct lineage tide__describe_expr(struct describer *d, const struct expr *expr, const struct lineage *fields);
const char *tide__describe_type(const struct type *type, struct arena *arena);
const char *tide__describe_columns(const struct describer *d, const struct lineage *fields, const uint32_t *columns,
                                   uint32_t count, bool sorted);
struct flow tide__describe_own_flow(struct describer *d, const struct plan_node *node);
const struct lineage *tide__describe_conjuncts(struct describer *d, const struct expr *condition,
                                               const struct lineage *fields, size_t *out_count);
struct lineage tide__describe_window(struct describer *d, enum window_property property, const struct window *window,
                                     const char *time, const char *session_keys, int32_t owner, struct source_pos pos);

// Stateful operators.
void tide__describe_stateful(struct describer *d, const struct plan_node *node);
void tide__describe_tvf(struct describer *d, const struct plan_node *node);

#endif
