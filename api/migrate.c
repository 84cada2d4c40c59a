// Which old table goes into which new one, and the rest of a savepoint: where sources are, watermarks, counters.
#include "api/migrate.h"

#include "base/killpoint.h"
#include "engine/task_late.h"

#include <string.h>

static const struct compat_report *report_of(const struct job *job) {
    return job->run->resume.report;
}

// --- operators -------------------------------------------------------------------------------------------------------------

static const struct compat_operator *operator_of(const struct job *job, const struct plan_node *node) {
    for (size_t i = 0; i < report_of(job)->operator_count; i++)
        if (report_of(job)->operators[i].new_node == node) return &report_of(job)->operators[i];
    return NULL;
}

static bool has_step(const struct compat_operator *op, enum compat_step_kind kind) {
    return tide__migrate_step(op, kind, 0) != NULL;
}

// The savepoint has a state that the operator goes on from.
static bool goes_on(const struct job *job, const struct compat_operator *op) {
    return op != NULL && op->old_node != NULL && !tide__api_is_reset(&job->run->resume, op->new_node->operator_id) &&
           !has_step(op, COMPAT_STEP_EMPTY) && !has_step(op, COMPAT_STEP_NEW);
}

static bool is_kept(const struct compat_operator *op) {
    for (size_t i = 0; i < op->step_count; i++)
        if (op->steps[i].kind != COMPAT_STEP_KEEP && op->steps[i].kind != COMPAT_STEP_TRUNCATE) return false;
    return true;
}

// --- tables ----------------------------------------------------------------------------------------------------------------

// `<operator id>.<suffix>` of the savepoint, or NULL.
static const struct savepoint_table *find_table(const struct job *job, const char *operator_id, const char *suffix) {
    const struct savepoint_info *info = tide__savepoint_info(job->run->resume.savepoint);
    size_t len = strlen(operator_id);
    for (size_t i = 0; i < info->table_count; i++) {
        const char *name = info->tables[i].desc.name;
        if (strncmp(name, operator_id, len) == 0 && name[len] == '.' && strcmp(name + len + 1, suffix) == 0)
            return &info->tables[i];
    }
    return NULL;
}

static tide_status keep_table(const struct job *job, const struct savepoint_table *old_table, struct state_table *table,
                              tide_error *err) {
    const struct state_table_desc *a = &old_table->desc, *b = tide__state_table_desc(table);
    bool same = a->kind == b->kind && a->value_count == b->value_count && a->key_count == b->key_count;
    for (size_t i = 0; same && i < a->value_count; i++) same = a->values[i].form == b->values[i].form;
    if (!same)
        return tide__fail(err, TIDE_ERR_REFUSED, "the savepoint's state \"%s\" is laid out in another way than \"%s\"",
                          a->name, b->name);
    struct state_source *entries;
    size_t index = (size_t)(old_table - tide__savepoint_info(job->run->resume.savepoint)->tables);
    TIDE_TRY(
        tide__savepoint_entries(job->run->resume.savepoint, index, (struct str){0}, (struct str){0}, &entries, err));
    tide_status status = tide__state_load(table, entries, err);
    TIDE_TRY(tide__savepoint_status(job->run->resume.savepoint, err));
    return status;
}

static tide_status change_table(const struct job *job, const struct compat_operator *op, const char *suffix,
                                const struct savepoint_table *old_table, struct state_table *table, tide_error *err) {
    struct table_step step = {.job = job, .op = op, .old_table = old_table, .loader = {.table = table}};
    step.side = strcmp(suffix, "right") == 0;
    tide__arena_init(&step.arena);
    tide__arena_init(&step.scratch);
    tide_status status;
    if (strcmp(suffix, "groups") == 0 || strcmp(suffix, "sessions") == 0)
        status = tide__migrate_groups(&step, err);
    else if (strcmp(suffix, "rows") == 0 || strcmp(suffix, "first") == 0 || strcmp(suffix, "left") == 0 ||
             strcmp(suffix, "right") == 0)
        status = tide__migrate_rows(&step, err);
    else
        status = tide__table_step_unsupported(&step, "it holds back changes", err);
    tide__arena_deinit(&step.arena);
    tide__arena_deinit(&step.scratch);
    return status;
}

static bool same_columns(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count) {
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}

// The columns that come first in the keys of stored rows stand in the order in which they were written.
static bool same_row_keys(const struct plan_node *a, const struct plan_node *b) {
    if (a->kind != b->kind) return true;  // not of these kinds
    const uint32_t *keys[2];
    uint32_t counts[2];
    for (uint32_t side = 0; side < b->input_count; side++) {
        tide__migrate_row_keys(a, side, &keys[0], &counts[0]);
        tide__migrate_row_keys(b, side, &keys[1], &counts[1]);
        if (!same_columns(keys[0], counts[0], keys[1], counts[1])) return false;
    }
    return true;
}

static bool needs_change(const struct compat_operator *op, const struct savepoint_table *old_table,
                         const struct state_table *table) {
    const struct state_table_desc *a = &old_table->desc, *b = tide__state_table_desc(table);
    // The hidden COUNT(*) of a HOP came or went with the shape of its windows.
    if (!is_kept(op) || !same_row_keys(op->old_node, op->new_node)) return true;
    if (tide__migrate_sets_moved(op->old_node, op->new_node)) return true;
    return a->value_count != b->value_count && op->new_node->kind == PLAN_WINDOW_AGGREGATE;
}

static tide_status load_table(const struct job *job, const struct compat_operator *op, struct state_table *table,
                              tide_error *err) {
    const char *name = tide__state_table_desc(table)->name, *suffix = name + strlen(op->new_node->operator_id) + 1;
    const char *old_suffix = suffix;
    if (has_step(op, COMPAT_STEP_SWAP)) old_suffix = strcmp(suffix, "left") == 0 ? "right" : "left";
    const struct savepoint_table *old_table = find_table(job, op->old_node->operator_id, old_suffix);
    if (old_table == NULL || old_table->entries == 0) return TIDE_OK;
    return needs_change(op, old_table, table) ? change_table(job, op, suffix, old_table, table, err)
                                              : keep_table(job, old_table, table, err);
}

// --- a plan that is the same -------------------------------------------------------------------------------------------------

static struct state_table *table_named(const struct job *job, const char *name) {
    for (size_t i = 0; i < tide__state_table_count(job->store); i++) {
        struct state_table *table = tide__state_table_at(job->store, i);
        if (strcmp(tide__state_table_desc(table)->name, name) == 0) return table;
    }
    return NULL;
}

static tide_status load_same(const struct job *job, tide_error *err) {
    const struct savepoint_info *info = tide__savepoint_info(job->run->resume.savepoint);
    for (size_t i = 0; i < info->table_count; i++) {
        tide__kill_point("restore.middle");
        struct state_table *table = table_named(job, info->tables[i].desc.name);
        if (info->tables[i].entries == 0) continue;
        if (table == NULL)
            return tide__fail(err, TIDE_ERR_REFUSED,
                              "the savepoint has state \"%s\", which this script has no operator for",
                              info->tables[i].desc.name);
        TIDE_TRY(keep_table(job, &info->tables[i], table, err));
    }
    return TIDE_OK;
}

// --- a plan that has changed -------------------------------------------------------------------------------------------------

// Nothing of an operator that goes on may be left behind unseen: all its tables must have a place.
static tide_status check_all_found(const struct job *job, const struct compat_operator *op, tide_error *err) {
    const struct savepoint_info *info = tide__savepoint_info(job->run->resume.savepoint);
    size_t old_len = strlen(op->old_node->operator_id);
    for (size_t i = 0; i < info->table_count; i++) {
        const struct savepoint_table *old_table = &info->tables[i];
        if (old_table->entries == 0 || strcmp(old_table->desc.operator_id, op->old_node->operator_id) != 0) continue;
        bool found = false;
        for (size_t t = 0; t < tide__state_table_count(job->store) && !found; t++) {
            const struct state_table_desc *desc = tide__state_table_desc(tide__state_table_at(job->store, t));
            if (strcmp(desc->operator_id, op->new_node->operator_id) != 0) continue;
            found = strcmp(desc->name + strlen(desc->operator_id), old_table->desc.name + old_len) == 0;
        }
        if (!found)
            return tide__fail(err, TIDE_ERR_REFUSED, "the savepoint has state \"%s\", which %s has no place for",
                              old_table->desc.name, op->name);
    }
    return TIDE_OK;
}

tide_status tide__api_migrate_tables(const struct job *job, tide_error *err) {
    tide__kill_point("restore.begin");
    if (report_of(job) == NULL) return load_same(job, err);
    for (uint32_t i = 0; i < job->plan->node_count; i++) {
        const struct plan_node *node = job->plan->nodes[i];
        const struct compat_operator *op = operator_of(job, node);
        if (!node->stateful || !goes_on(job, op)) continue;
        TIDE_TRY(check_all_found(job, op, err));
        for (size_t t = 0; t < tide__state_table_count(job->store); t++) {
            struct state_table *table = tide__state_table_at(job->store, t);
            if (strcmp(tide__state_table_desc(table)->operator_id, node->operator_id) != 0) continue;
            tide__kill_point("restore.middle");
            TIDE_TRY(load_table(job, op, table, err));
        }
    }
    return tide__state_sync(job->store, err);
}

// --- the snapshot ----------------------------------------------------------------------------------------------------------

static const struct task_part *part_of(const struct task_snapshot *snapshot, const char *operator_id) {
    for (size_t i = 0; i < snapshot->part_count; i++)
        if (strcmp(snapshot->parts[i].operator_id, operator_id) == 0) return &snapshot->parts[i];
    return NULL;
}

// The part of the old node that has become this one. A source that does not go on begins at its start.
static const struct task_part *old_part(const struct job *job, const struct task_snapshot *old_snapshot,
                                        const struct plan_node *node, const struct compat_operator *op) {
    bool source = node->kind == PLAN_SCAN || node->kind == PLAN_VALUES;
    if (op == NULL || op->old_node == NULL || (source && !goes_on(job, op))) return NULL;
    return part_of(old_snapshot, op->old_node->operator_id);
}

static uint32_t source_number(const struct plan *plan, const struct plan_node *node) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < plan->node_count && plan->nodes[i] != node; i++)
        number += plan->nodes[i]->kind == PLAN_SCAN || plan->nodes[i]->kind == PLAN_VALUES;
    return number;
}

// The source whose turn it was has another number if sources were added, removed or exchanged. If it is gone, the first one is next.
static void keep_turn(const struct job *job, struct task_snapshot *snapshot) {
    for (size_t i = 0; i < report_of(job)->operator_count; i++) {
        const struct compat_operator *op = &report_of(job)->operators[i];
        if (op->old_node == NULL || (op->old_node->kind != PLAN_SCAN && op->old_node->kind != PLAN_VALUES)) continue;
        if (source_number(op->old_plan, op->old_node) != snapshot->turn) continue;
        if (op->new_node != NULL) {
            snapshot->turn = source_number(job->plan, op->new_node);
            return;
        }
    }
    snapshot->turn = snapshot->turn_rows = 0;
}

tide_status tide__api_migrate_snapshot(struct job *job, struct task_snapshot *out, tide_error *err) {
    (void)err;
    const struct task_snapshot *old_snapshot = &tide__savepoint_info(job->run->resume.savepoint)->snapshot;
    *out = *old_snapshot;
    if (report_of(job) == NULL) return TIDE_OK;
    out->parts = ARENA_ARRAY(&job->arena, struct task_part, old_snapshot->part_count + job->plan->node_count + 1);
    out->part_count = 0;
    for (uint32_t i = 0; i < job->plan->node_count; i++) {
        const struct plan_node *node = job->plan->nodes[i];
        const struct compat_operator *op = operator_of(job, node);
        const struct task_part *part = old_part(job, old_snapshot, node, op);
        if (part == NULL) continue;
        struct task_part *copy = &out->parts[out->part_count++];
        *copy = *part;
        copy->operator_id = node->operator_id;
        // Only its watermark goes on.
        if (node->stateful && !goes_on(job, op)) copy->saved = (struct str){"", 0};
    }
    for (size_t i = 0; i < old_snapshot->part_count; i++) {  // of no operator
        const struct task_part *part = &old_snapshot->parts[i];
        if (strcmp(part->operator_id, LATE_PART) == 0) out->parts[out->part_count++] = *part;
    }
    keep_turn(job, out);
    return TIDE_OK;
}
