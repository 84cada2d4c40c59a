// What the files of the comparison share: matched operators, the changes that are found, and how they are judged.
#ifndef TIDE_CHECKPOINT_COMPAT_COMPARE_H
#define TIDE_CHECKPOINT_COMPAT_COMPARE_H

#include "checkpoint/compat/model.h"

// A change while it is judged.
struct change {
    const char *code;
    const struct model_clause *old_clause, *new_clause;
    enum compat_verdict strict, exact;
    uint32_t needs;
    const char *message;  // NULL: made from the rule and the clauses
    const char *note;     // what the judge adds to the state; NULL: nothing
    int32_t restarts;     // the aggregate of the new operator that begins empty; -1: none
    bool rows;            // the operator's rows are others than before: what keeps them above is wrong
    bool merges;          // ... but only because groups were merged
    bool by_source;       // reported at the source
    bool hidden;          // it follows from another one, which is reported
};

struct pair {
    const struct model_operator *old_op, *new_op;  // NULL: added or removed
    const char *matched_by;
    struct change *changes;
    size_t change_count, change_cap;
    bool reset;        // the new operator begins empty and rows are lost
    bool replaced;     // by another kind of operator
    bool other_input;  // another UNION ALL: nothing else can be compared
    // Aggregations and OVER: where each new aggregate goes on from.
    int32_t *from;   // old aggregate, -1: begins empty
    int32_t *from2;  // DERIVE: the second one, else -1
    bool *derived;
    bool *restarts;  // begins empty, or is computed from such a one
    struct compat_step *steps;
    size_t step_count, step_cap;
    bool unsupported;  // no steps could be found
};

enum source_state { SOURCE_SAME, SOURCE_WIDENED, SOURCE_CHANGED };

// How a column of a new table compares with the old one's.
struct source_column {
    const struct table *table;
    uint32_t column;
    enum source_state state;
    bool computed;  // it is, or was, a computed one
};

struct check {
    const struct compat_request *request;
    struct arena *arena;
    struct naming naming;
    struct model olds, news;
    struct pair *pairs;  // operators of the new script in order, then the removed ones
    size_t pair_count;
    uint32_t *pair_of_old, *pair_of_new;  // + 1; 0: none
    int32_t *root_of_new;                 // old root of each new root, -1: none
    bool *root_replaced;                  // the query has nothing in common with the old one
    bool *root_ambiguous;
    struct source_column *columns;  // that differ
    size_t column_count, column_cap;
    bool ignore_filter;
    struct pair *script;  // changes of the whole script
};

// --- finding (compare.c) ----------------------------------------------------------------------------------------------------

struct change *tide__compare_add(struct check *c, struct pair *pair, const char *code, enum compat_verdict strict,
                                 enum compat_verdict exact);
struct change *tide__compare_clause(struct check *c, struct pair *pair, const char *code,
                                    const struct model_clause *old_clause, const struct model_clause *new_clause,
                                    enum compat_verdict strict, enum compat_verdict exact);

// The clauses of one code.
struct clause_list {
    const struct model_clause **items;
    size_t count;
};
struct clause_list tide__compare_list(const struct check *c, const struct model_operator *op, const char *code);
const struct model_clause *tide__compare_first(const struct model_operator *op, const char *code);
// Takes out of both lists what stands in both, in whatever order. Compares what clauses compute, not types.
void tide__compare_take_common(struct clause_list *a, struct clause_list *b);
bool tide__compare_same_order(const struct clause_list *a, const struct clause_list *b);
// The new operator's clause reads a column of a table that has changed.
enum source_state tide__compare_reads_changed(const struct check *c, const struct model_clause *clause);
bool tide__compare_is(const struct pair *pair, enum plan_kind kind);
struct pair *tide__compare_pair(const struct check *c, const struct model_operator *new_op);
// The next stateful operator or sink above a new operator, NULL: several or none.
const struct model_operator *tide__compare_above(const struct model *model, const struct model_operator *op);
bool tide__compare_below_topn(const struct check *c, const struct pair *pair);
// Whether the new expression can be computed from the old operator's columns of these codes.
const struct expr *tide__compare_over(const struct check *c, const struct pair *pair, const struct expr *expr,
                                      const char *code);

// The difference of two clauses is that of an operator below, where it is reported; NULL: the clause is new, or gone.
bool tide__compare_explained(const struct check *c, const struct pair *pair, const struct model_clause *a,
                             const struct model_clause *b);
// Whether anything reads the stored column: plans may keep more than they need.
bool tide__compare_needed(const struct model *model, const struct model_operator *op,
                          const struct model_clause *column);
// What the clause is made of is computed in a sub-query between the window function and the GROUP BY.
bool tide__compare_between(const struct model *model, const struct model_operator *op,
                           const struct model_clause *clause);

void tide__compare_match(struct check *c);
void tide__compare_unions(struct check *c, struct pair *pair);
void tide__compare_windows(struct check *c, struct pair *pair);
void tide__compare_keys(struct check *c, struct pair *pair);
void tide__compare_aggregates(struct check *c, struct pair *pair);
void tide__compare_filters(struct check *c, struct pair *pair);
void tide__compare_rank(struct check *c, struct pair *pair);
void tide__compare_join(struct check *c, struct pair *pair);
void tide__compare_over_sort(struct check *c, struct pair *pair);
void tide__compare_sources(struct check *c);
void tide__compare_sink(struct check *c, struct pair *pair);
void tide__compare_settings(struct check *c);

// --- judging ----------------------------------------------------------------------------------------------------------------

// What changes do to the operators above.
void tide__judge(struct check *c);
// What has to be done to the old state.
void tide__steps(struct check *c, struct pair *pair);

#endif
