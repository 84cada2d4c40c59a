// The compatibility check: may the jobs of a new script go on from the state of an old one?
//
// Both scripts come as plans. The check matches their operators, lists what has changed in each, and gives each change two
// verdicts, that of the published rules (strict) and the strongest that is sound for our state (exact). Where exact says compatible
// or partial, the operator's steps say what has to be done to the old state, in terms of the two plan nodes: whoever loads or rewrites
// a savepoint follows them and nothing else. rules.c is the table of rules; README.md explains the steps.
#ifndef TIDE_CHECKPOINT_COMPAT_CHECK_H
#define TIDE_CHECKPOINT_COMPAT_CHECK_H

#include "base/arena.h"
#include "checkpoint/compat/rules.h"
#include "checkpoint/savepoint.h"
#include "engine/plan.h"

enum compat_policy { COMPAT_STRICT, COMPAT_EXACT };

// --- what goes in ---------------------------------------------------------------------------------------------------------

struct compat_setting {
    const char *key;
    struct str value;
};

// One script: its jobs' plans in order, and the SET options that matter here (tide__compat_setting_keys). Of a savepoint: the one
// job that it is of. Everything is borrowed and must live as long as the report.
struct compat_script {
    const char *name;  // its file, for messages
    struct str sql;
    size_t plan_count;
    const struct plan *const *plans;
    size_t setting_count;
    const struct compat_setting *settings;
};

// SET options that the rules read, NULL at the end.
const char *const *tide__compat_setting_keys(void);

// --- what comes out: steps --------------------------------------------------------------------------------------------------

// The columns that an operator's state is made of, by index:
//   window-aggregate, group-aggregate   the keys, in the order of node->...keys; accumulators are counted by themselves
//   window-rank, rank, window-tvf, sort, over   the fields of node->inputs[0]: rows that are stored whole
//   window-join, join   the fields of node->inputs[side]
// Expressions of a step are over the old operator's columns.
enum compat_step_kind {
    COMPAT_STEP_KEEP,     // as it is: the only step
    COMPAT_STEP_EMPTY,    // begins empty, and that is right: nothing of use was in the old state at a barrier
    COMPAT_STEP_NEW,      // begins empty because the savepoint has nothing for it
    COMPAT_STEP_DISCARD,  // an old operator that no new one takes over (compat_operator.new_node is NULL)
    COMPAT_STEP_KEY,      // new key `at` is `expr`; there is one for each new key, in order, if any has changed
    COMPAT_STEP_MERGE,  // several old groups (partitions) may become one: their accumulators are combined, or the best N kept
    COMPAT_STEP_AGGREGATE,  // new aggregate `at` goes on from old `from`; -1: begins empty. One for each new one, if any has changed
    COMPAT_STEP_DERIVE,  // new aggregate `at` is read from old `from` (and `from2`) of another function: AVG <-> SUM, COUNT
    COMPAT_STEP_COLUMN,    // new stored column `at` (of input `side`) is `expr`; one for each, if any has changed
    COMPAT_STEP_PURGE,     // entries (of input `side`) for which `expr`, a BOOLEAN, is not TRUE are left out
    COMPAT_STEP_TRUNCATE,  // of each partition the ranks above `value` are left out
    COMPAT_STEP_WINDOWS,   // old panes go to the new node's windows (slices): its window is a union of old panes
    COMPAT_STEP_SWAP,      // the two sides of a join change places; `side` of other steps is the new one
    COMPAT_STEP_SET,       // grouping sets: old set `from` is new set `at`; from -1: begins empty; one for each new set
};

struct compat_step {
    enum compat_step_kind kind;
    uint32_t side;
    uint32_t at;
    int32_t from, from2;
    int64_t value;
    const struct expr *expr;
    const char *text;  // the step in words, for people
};

// What the code that loads or rewrites a savepoint can do. A change under exact needs some; the first that
// tide__compat_features() has not makes it incompatible.
enum compat_feature {
    COMPAT_CAN_MATCH = 1 << 0,         // state of another operator id (structural-match, lineage-match)
    COMPAT_CAN_AGGREGATES = 1 << 1,    // AGGREGATE (agg-by-name)
    COMPAT_CAN_DERIVE = 1 << 2,        // DERIVE (agg-derive, distinct-sets)
    COMPAT_CAN_KEYS = 1 << 3,          // KEY (key-permute)
    COMPAT_CAN_MERGE_GROUPS = 1 << 4,  // MERGE of an aggregation (key-merge)
    COMPAT_CAN_WINDOWS = 1 << 5,       // WINDOWS (slices)
    COMPAT_CAN_SAME_WINDOWS = 1 << 6,  // WINDOWS where both cut the same windows (window-canon)
    COMPAT_CAN_TRUNCATE = 1 << 7,      // TRUNCATE (topn-truncate)
    COMPAT_CAN_MERGE_ROWS = 1 << 8,    // MERGE of a Top-N (topn-merge, arrival-seq)
    COMPAT_CAN_COLUMNS = 1 << 9,       // COLUMN (row-reproject)
    COMPAT_CAN_BUFFERS = 1 << 10,  // a window join's buffers under another type, condition or key, SWAP (join-buffers)
    COMPAT_CAN_PURGE = 1 << 11,    // PURGE (purge-on-restore)
    COMPAT_CAN_WIDEN = 1 << 12,    // KEY, COLUMN, AGGREGATE of a wider type (widen)
    COMPAT_CAN_SETS = 1 << 13,     // SET
    COMPAT_CAN_SUM_OF_SUMS = 1 << 14,  // (sum-of-sums) merged inner groups below a SUM of their SUMs
    COMPAT_CAN_PARTIAL_NEW = 1 << 15,  // NEW beside kept operators
    COMPAT_CAN_OTHER_KINDS =
        1
        << 16,  // any of them but MATCH and NEW for OVER, temporal sort, regular and interval joins, windows of sessions
};
#define COMPAT_ALL_FEATURES ((1u << 17) - 1)
uint32_t tide__compat_features(void);
const char *tide__compat_feature_name(enum compat_feature feature);

// --- what comes out: the report ---------------------------------------------------------------------------------------------

struct compat_change {
    const struct compat_rule *rule;
    const char *code;                   // rule->code
    enum compat_verdict verdict;        // under the asked policy
    enum compat_verdict strict, exact;  // under each
    bool sound;                         // exact is not worse than the verdict
    bool waived;                        // by the caller (tide_check); it does not count
    uint32_t needs;                     // features that exact relies on
    uint32_t missing;                   // those of them that there are not: exact is incompatible for lack of them
    const struct plan_clause *old_clause, *new_clause;  // NULL: added or removed
    uint64_t fingerprint;                               // of code, operator and both texts, not of places
    const char *message;                                // one sentence: what changed
    const char *state;                                  // what happens to the state
    const char *advice;                                 // what to do; NULL: nothing
};

struct compat_operator {
    const char *name;        // its uid or operator id (of the new script; of the old one if it is gone)
    const char *kind;        // "window-topn", "window-aggregate", "source", ...: the words of rules.md
    const char *matched_by;  // "uid", "lineage", "sink", "likeness"; NULL: added or removed
    const struct plan *old_plan, *new_plan;
    const struct plan_node *old_node, *new_node;  // NULL: added, removed
    bool stateful;
    enum compat_verdict verdict, strict, exact;  // the worst of the changes that are not waived
    size_t change_count;
    const struct compat_change *changes;
    uint32_t missing;   // features that carrying it over needs and that there are not, under either policy
    size_t step_count;  // what exact relies on; 0: no state, or exact is incompatible
    const struct compat_step *steps;
    size_t restart_count;  // under a partial verdict: result columns that count from the restore
    const char *const *restarts;
};

struct compat_report {
    enum compat_policy policy;
    enum compat_verdict verdict, strict, exact;
    bool sound;
    size_t operator_count;
    const struct compat_operator *operators;  // in the order of the new script, removed ones last
};

struct compat_request {
    struct compat_script old_script, new_script;
    enum compat_policy policy;
    uint32_t features;  // tide__compat_features(), or COMPAT_ALL_FEATURES for what would be sound
    // Fingerprints that don't count, ascending.
    size_t waived_count;
    const uint64_t *waived;
};

// Everything in the report lives in the arena or in the scripts. Cannot fail.
void tide__compat_check(const struct compat_request *request, struct arena *arena, struct compat_report *out);

#endif
