// Pairs of rows, as row codec bytes: the joins' residual condition over many of them at once, and their way out.
#ifndef TIDE_ENGINE_OPERATORS_JOIN_PAIRS_H
#define TIDE_ENGINE_OPERATORS_JOIN_PAIRS_H

#include "engine/expr/eval.h"
#include "engine/operator.h"

struct join_pair {
    struct str left, right;  // data NULL: there is none, its columns are NULL
    uint8_t kind;            // enum row_kind
};

struct join_pairs {
    const struct plan_node *node;
    const struct expr *condition;  // NULL: every pair passes
    uint32_t fields[2];
    bool left_only;  // SEMI, ANTI: the output has the left fields only
    size_t rows_max;
    struct eval_context eval;
    struct arena arena;       // of one batch
    struct join_pair *items;  // what goes out next
    size_t count, capacity;
};

void tide__join_pairs_init(struct join_pairs *pairs, const struct operator_env *env, enum join_kind kind,
                           const struct expr *condition);
void tide__join_pairs_deinit(struct join_pairs *pairs);
// keep[i] becomes 1 if the condition is TRUE for pair i, else 0. Both rows of each pair are there.
tide_status tide__join_pairs_test(struct join_pairs *pairs, const struct join_pair *items, size_t count, uint8_t *keep,
                                  tide_error *err) TIDE_CHECKED;
// Appends a pair to what goes out. The bytes must live until they are sent.
void tide__join_pairs_add(struct join_pairs *pairs, struct str left, struct str right, enum row_kind kind);
tide_status tide__join_pairs_send(struct join_pairs *pairs, struct emitter *out, tide_error *err) TIDE_CHECKED;

#endif
