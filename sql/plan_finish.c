// The end of planning: nodes in order with their names. A node's operator id is its kind and how many of that kind come before
// it, so that it does not change when something cosmetic does; with a `-- uid: NAME` comment it starts with that name.
#include "base/time.h"
#include "sql/bind.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

struct finish {
    struct arena *arena;
    struct plan *plan;
    uint32_t node_capacity;
    uint32_t counts[PLAN_SINK + 1];
    const char *uid;  // of the statement
};

static bool is_stateful(const struct plan_node *node) {
    switch (node->kind) {
    case PLAN_WINDOW_TVF: return node->window_tvf.window.kind == WINDOW_SESSION;
    case PLAN_WINDOW_AGGREGATE:
    case PLAN_WINDOW_RANK:
    case PLAN_GROUP_AGGREGATE:
    case PLAN_RANK:
    case PLAN_WINDOW_JOIN:
    case PLAN_JOIN:
    case PLAN_OVER:
    case PLAN_SORT: return true;
    case PLAN_SCAN:
    case PLAN_VALUES:
    case PLAN_CALC:
    case PLAN_UNION:
    case PLAN_EXPAND:
    case PLAN_UNNEST:
    case PLAN_SINK: return false;
    }
    return false;
}

static bool makes_updates(const struct plan *plan, const struct plan_node *node) {
    bool input = false;
    for (uint32_t i = 0; i < node->input_count; i++) input |= node->inputs[i]->updates;
    if (plan->settings.batch_mode) return false;
    if (node->kind == PLAN_GROUP_AGGREGATE) return input || node->group_aggregate.aggregate_count > 0;
    if (node->kind == PLAN_RANK || node->kind == PLAN_JOIN || node->kind == PLAN_OVER) return node->updates;
    if (node->kind == PLAN_SORT) return false;
    return input;
}

// [a-z0-9-]+, as operator ids are.
static const char *id_of(struct arena *arena, const char *uid) {
    char *id = tide__arena_strndup(arena, uid, strlen(uid));
    for (char *c = id; *c != '\0'; c++) *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    return id;
}

static void add_node(struct finish *f, struct plan_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) add_node(f, node->inputs[i]);
    struct plan *plan = f->plan;
    plan->nodes = tide__bind_grow(f->arena, plan->nodes, plan->node_count, &f->node_capacity, sizeof(plan->nodes[0]));
    node->id = plan->node_count;
    plan->nodes[plan->node_count++] = node;
    const char *kind = tide__plan_kind_name(node->kind);
    if (node->uid == NULL) node->uid = f->uid;
    if (node->uid != NULL) {
        const char *id = id_of(f->arena, node->uid);
        uint32_t n = 1;
        for (uint32_t i = 0; i < node->id; i++) {
            const struct plan_node *other = plan->nodes[i];
            n += other->kind == node->kind && other->uid != NULL && strcmp(id_of(f->arena, other->uid), id) == 0;
        }
        node->operator_id = n == 1 ? tide__arena_printf(f->arena, "%s-%s", id, kind)
                                   : tide__arena_printf(f->arena, "%s-%s-%u", id, kind, n);
    } else {
        node->operator_id = tide__arena_printf(f->arena, "%s-%u", kind, ++f->counts[node->kind]);
    }
    node->stateful = is_stateful(node);
    node->updates = makes_updates(plan, node);
}

static const char *job_name(struct binder *b, const struct plan *plan) {
    struct str name = tide__settings_get(b->session, "pipeline.name");
    if (name.data != NULL && name.len > 0) return tide__bind_name(b, name);
    const struct plan_node *root = plan->roots[0];
    if (root->sink.kind == SINK_COLLECT) return "select";
    return tide__arena_printf(b->arena, "insert-into-%s", root->sink.table->name);
}

struct plan *tide__plan_finish(struct binder *b, struct plan_node **roots, uint32_t root_count,
                               const struct statement *statement, uint32_t job_index, const char *const *uids) {
    struct plan *plan = ARENA_NEW(b->arena, struct plan);
    const struct sql_session *session = b->session;
    plan->arena = b->arena;
    plan->root_count = root_count;
    plan->roots = roots;
    plan->sql = b->sql;
    plan->statement_index = job_index;
    plan->statement_pos = statement->pos;
    plan->settings.zone = session->zone;
    plan->settings.auto_watermark_interval_ms = session->auto_watermark_interval_ms;
    plan->settings.checkpoint_interval_ms = session->checkpoint_interval_ms;
    plan->settings.batch_mode = session->batch_mode;
    struct str idle = tide__settings_get(session, "table.exec.source.idle-timeout");
    if (idle.data == NULL || !tide__duration_parse(idle, &plan->settings.idle_timeout_ms))
        plan->settings.idle_timeout_ms = 0;
    struct str late = tide__settings_get(session, "tidemark.late-data.path");
    if (late.data != NULL && late.len > 0) plan->settings.late_data_path = tide__bind_name(b, late);
    plan->settings.job_name = job_name(b, plan);
    struct finish finish = {.arena = b->arena, .plan = plan};
    for (uint32_t i = 0; i < root_count; i++) {
        finish.uid = uids[i];
        add_node(&finish, roots[i]);
    }
    return plan;
}

// Windows go with the watermark and interval joins with their bounds, whatever the setting; the rest would go by the clock.
static bool expires(const struct plan_node *node) {
    switch (node->kind) {
    case PLAN_GROUP_AGGREGATE:
    case PLAN_RANK:
    case PLAN_OVER: return true;
    case PLAN_JOIN: return !node->join.interval;
    default: return false;
    }
}

tide_status tide__plan_check_ttl(struct binder *b, const struct plan *plan) {
    const struct sql_session *session = b->session;
    if (session->state_ttl_ms == 0 || session->checking || session->batch_mode) return TIDE_OK;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        const struct plan_node *node = plan->nodes[i];
        if (!expires(node)) continue;
        tide__fail_at(b->err, TIDE_ERR_PLAN, node->pos,
                      "\"table.exec.state.ttl\" is not supported for this %s: its state is kept",
                      tide__plan_kind_name(node->kind));
        return tide__fail_hint(b->err,
                               "RESET 'table.exec.state.ttl' before it; windows are cleaned up by the watermark");
    }
    return TIDE_OK;
}
