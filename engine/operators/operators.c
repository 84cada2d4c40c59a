// All operators of the engine, by the kind of node they run.
#include "engine/operators/calc.h"
#include "engine/operators/group_aggregate.h"
#include "engine/operators/join.h"
#include "engine/operators/over.h"
#include "engine/operators/rank.h"
#include "engine/operators/rows.h"
#include "engine/operators/sink.h"
#include "engine/operators/window.h"

static const struct operator_class *const classes[] = {
    &tide__calc_class,          &tide__union_class,
    &tide__expand_class,        &tide__values_class,
    &tide__sink_operator_class, &tide__window_aggregate_class,
    &tide__window_tvf_class,    &tide__window_rank_class,
    &tide__rank_class,          &tide__group_aggregate_class,
    &tide__window_join_class,   &tide__join_class,
    &tide__over_class,          &tide__sort_class,
    &tide__unnest_class,
};

const struct operator_class *tide__operator_class(enum plan_kind kind) {
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i]->kind == kind) return classes[i];
    return NULL;
}
