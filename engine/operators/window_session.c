// Session windows.
#include "engine/operators/window.h"

tide_status tide__session_aggregate_open(const struct operator_env *env, struct operator **out, tide_error *err) {
    *out = NULL;
    return tide__fail_at(err, TIDE_ERR_PLAN, env->node->pos, "SESSION windows are not supported yet");
}

tide_status tide__session_tvf_open(const struct operator_env *env, struct operator **out, tide_error *err) {
    *out = NULL;
    return tide__fail_at(err, TIDE_ERR_PLAN, env->node->pos, "SESSION windows are not supported yet");
}
