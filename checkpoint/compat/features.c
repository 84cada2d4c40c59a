// What restoring can do: the one place that says which verdicts of `exact` are not only sound but come true. A feature is added here
// together with the code that follows its steps, and with the replay that proves it.
#include "checkpoint/compat/check.h"

uint32_t tide__compat_features(void) {
    return COMPAT_ALL_FEATURES & ~(uint32_t)(COMPAT_CAN_SETS | COMPAT_CAN_OTHER_KINDS);
}

const char *tide__compat_feature_name(enum compat_feature feature) {
    switch (feature) {
    case COMPAT_CAN_MATCH: return "state of another operator id";
    case COMPAT_CAN_AGGREGATES: return "aggregates by name";
    case COMPAT_CAN_DERIVE: return "aggregates read from others";
    case COMPAT_CAN_KEYS: return "keys in another order";
    case COMPAT_CAN_MERGE_GROUPS: return "merged groups";
    case COMPAT_CAN_WINDOWS: return "windows made of old panes";
    case COMPAT_CAN_SAME_WINDOWS: return "the same windows by another name";
    case COMPAT_CAN_TRUNCATE: return "a shorter Top-N";
    case COMPAT_CAN_MERGE_ROWS: return "merged partitions";
    case COMPAT_CAN_COLUMNS: return "other stored columns";
    case COMPAT_CAN_BUFFERS: return "a join's buffers under another join";
    case COMPAT_CAN_PURGE: return "conditions on stored rows";
    case COMPAT_CAN_WIDEN: return "wider types";
    case COMPAT_CAN_SETS: return "other grouping sets";
    case COMPAT_CAN_SUM_OF_SUMS: return "merged groups below a sum of sums";
    case COMPAT_CAN_OTHER_KINDS: return "changes of this kind of operator";
    case COMPAT_CAN_PARTIAL_NEW: return "a new operator beside kept ones";
    }
    return "?";
}
