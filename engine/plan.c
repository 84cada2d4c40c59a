// The few functions of the plan itself.
#include "engine/plan.h"

const char *tide__plan_kind_name(enum plan_kind kind) {
    switch (kind) {
    case PLAN_SCAN: return "scan";
    case PLAN_VALUES: return "values";
    case PLAN_CALC: return "calc";
    case PLAN_UNION: return "union";
    case PLAN_EXPAND: return "expand";
    case PLAN_WINDOW_TVF: return "window-tvf";
    case PLAN_WINDOW_AGGREGATE: return "window-aggregate";
    case PLAN_WINDOW_RANK: return "window-rank";
    case PLAN_GROUP_AGGREGATE: return "group-aggregate";
    case PLAN_RANK: return "rank";
    case PLAN_WINDOW_JOIN: return "window-join";
    case PLAN_JOIN: return "join";
    case PLAN_OVER: return "over-aggregate";
    case PLAN_SORT: return "sort";
    case PLAN_UNNEST: return "unnest";
    case PLAN_SINK: return "sink";
    }
    return "unknown";
}

const struct option *tide__table_option(const struct table *table, const char *key) {
    for (uint32_t i = 0; i < table->option_count; i++)
        if (tide__str_ieq_c(table->options[i].key, key)) return &table->options[i];
    return NULL;
}
