// See window_top.h.
#include "engine/operators/window_top.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <assert.h>

enum {
    LIMIT_MAX = 1024,  // a larger Top-N keeps most groups anyway
    GROUP = 512,       // groups looked at in one go
    NOT_OF_AGGREGATE = UINT32_MAX,
};

// --- the plan -------------------------------------------------------------------------------------------------------

static const struct plan_node *only_consumer(const struct plan *plan, const struct plan_node *node) {
    const struct plan_node *found = NULL;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        for (uint32_t k = 0; k < plan->nodes[i]->input_count; k++) {
            if (plan->nodes[i]->inputs[k] != node) continue;
            if (found != NULL) return NULL;
            found = plan->nodes[i];
        }
    }
    return found;
}

// Which field of the aggregate each field of a calc is. NULL if rows don't simply pass.
static uint32_t *pass_calc(const struct plan_node *node, const uint32_t *fields, struct arena *arena) {
    if (node->calc.condition != NULL) return NULL;
    uint32_t *passed = ARENA_ARRAY(arena, uint32_t, node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) {
        const struct expr *output = node->calc.outputs[i];
        passed[i] = output->kind == EXPR_COLUMN ? fields[output->column] : NOT_OF_AGGREGATE;
    }
    return passed;
}

static bool is_property(const struct plan_window_aggregate *plan, uint32_t field, enum window_property property) {
    uint32_t first = plan->key_count + plan->aggregate_count;
    if (field < first || field - first >= plan->property_count) return false;
    return plan->properties[field - first] == property;
}

static bool find_top(struct window_top *top, const struct plan *plan, const struct plan_node *node,
                     struct arena *arena) {
    const struct plan_window_aggregate *aggregate = &node->window_aggregate;
    uint32_t *fields = ARENA_ARRAY(arena, uint32_t, node->field_count);
    for (uint32_t i = 0; i < node->field_count; i++) fields[i] = i;
    while ((node = only_consumer(plan, node)) != NULL && node->kind == PLAN_CALC) {
        fields = pass_calc(node, fields, arena);
        if (fields == NULL) return false;
    }
    if (node == NULL || node->kind != PLAN_WINDOW_RANK) return false;
    const struct plan_window_rank *rank = &node->window_rank;
    if (!rank->above_aggregate || rank->partition_count > 0 || rank->sort_count == 0) return false;
    if (rank->rank_last < 1 || rank->rank_last > LIMIT_MAX) return false;
    if (!is_property(aggregate, fields[rank->start_column], WINDOW_PROPERTY_START)) return false;
    if (!is_property(aggregate, fields[rank->end_column], WINDOW_PROPERTY_END)) return false;
    uint32_t field = fields[rank->sorts[0].column];
    if (field < aggregate->key_count || field - aggregate->key_count >= aggregate->aggregate_count) return false;
    top->limit = (uint32_t)rank->rank_last;
    top->aggregate = field - aggregate->key_count;
    top->sort = rank->sorts[0];
    top->sort.column = 0;
    return true;
}

void tide__window_top_init(struct window_top *top, const struct plan *plan, const struct plan_node *aggregate) {
    assert(aggregate->kind == PLAN_WINDOW_AGGREGATE);
    *top = (struct window_top){0};
    struct arena arena;
    tide__arena_init(&arena);
    if (find_top(top, plan, aggregate, &arena)) {
        tide__ranker_init(&top->ranker, &top->sort, 1, TIE_FIRST_ARRIVED, NULL);
        top->best = tide__alloc(top->limit * sizeof *top->best);
    }
    tide__arena_deinit(&arena);
}

void tide__window_top_deinit(struct window_top *top) {
    tide__free(top->best);
    tide__ranker_deinit(&top->ranker);
}

// --- the bar --------------------------------------------------------------------------------------------------------

void tide__window_top_start(struct window_top *top) {
    top->best_count = 0;
    top->bar = UINT64_MAX;
}

static void sift_down(struct window_top *top, uint32_t at) {
    uint64_t moved = top->best[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= top->best_count) break;
        if (child + 1 < top->best_count && top->best[child + 1] > top->best[child]) child++;
        if (top->best[child] <= moved) break;
        top->best[at] = top->best[child];
        at = child;
    }
    top->best[at] = moved;
}

// A prefix that is not above the bar.
static void raise_bar(struct window_top *top, uint64_t prefix) {
    if (top->best_count < top->limit) {
        top->best[top->best_count++] = prefix;
        if (top->best_count < top->limit) return;
        for (uint32_t i = top->limit / 2; i-- > 0;) sift_down(top, i);
    } else {
        top->best[0] = prefix;
        sift_down(top, 0);
    }
    top->bar = top->best[0];
}

static void prefixes_of(const struct window_top *top, const struct aggregators *aggregators,
                        unsigned char *const *payloads, size_t n, struct arena *arena, uint64_t *out) {
    const struct aggregator *aggregator = &aggregators->items[top->aggregate];
    struct column column;
    tide__column_init(&column, aggregator->type, n, true, arena);
    aggregator->kernel->result(aggregator, payloads, n, &column, arena);
    struct batch batch = {.rows = n, .column_count = 1, .columns = &column};
    tide__ranker_prefixes(&top->ranker, &batch, out);
}

size_t tide__window_top_filter(struct window_top *top, const struct aggregators *aggregators, struct str *keys,
                               unsigned char **payloads, size_t n, struct arena *arena) {
    if (n == 0) return 0;
    uint64_t *prefixes = tide__arena_alloc(arena, n * sizeof *prefixes);
    prefixes_of(top, aggregators, payloads, n, arena, prefixes);
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (prefixes[i] > top->bar) continue;
        raise_bar(top, prefixes[i]);
        keys[left] = keys[i];
        payloads[left++] = payloads[i];
    }
    return left;
}

// --- a table in memory ----------------------------------------------------------------------------------------------

struct candidate {
    uint64_t prefix;
    struct memtable_entry *entry;
};

// Candidates by the bar of their time; it goes on rising.
struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

static size_t keep_alive(struct memtable_entry **entries, size_t n, int64_t alive) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        entries[left] = entries[i];
        left += *(const int64_t *)(const void *)(entries[i]->bytes + alive) != 0;
    }
    return left;
}

static void keep_best(struct window_top *top, struct candidates *found, struct memtable_entry *const *entries,
                      const uint64_t *prefixes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (prefixes[i] > top->bar) continue;
        raise_bar(top, prefixes[i]);
        found->items = tide__grow(found->items, &found->capacity, found->count + 1, sizeof *found->items);
        found->items[found->count++] = (struct candidate){prefixes[i], entries[i]};
    }
}

// Takes the candidates that the final bar lets through.
static struct window_top_groups sort_candidates(const struct window_top *top, const struct memtable *table,
                                                const struct candidates *found) {
    struct window_top_groups groups = {.entries = tide__alloc((found->count + 1) * sizeof *groups.entries)};
    struct sort_item *items = tide__alloc((2 * found->count + 1) * sizeof *items);
    for (size_t i = 0; i < found->count; i++) {
        if (found->items[i].prefix > top->bar) continue;
        struct str key = tide__memtable_key(table, found->items[i].entry);
        const unsigned char *data = (const unsigned char *)key.data;
        items[groups.count++] = (struct sort_item){tide__sort_prefix(data, key.len), data, (uint32_t)key.len,
                                                   (uint32_t)i};
    }
    tide__sort_keys(items, groups.count, items + groups.count);
    for (size_t i = 0; i < groups.count; i++) groups.entries[i] = found->items[items[i].index].entry;
    tide__free(items);
    return groups;
}

struct window_top_groups tide__window_top_of_table(struct window_top *top, const struct aggregators *aggregators,
                                                   const struct memtable *table, int64_t alive,
                                                   struct memory_budget *budget) {
    assert(top->limit > 0);
    tide__window_top_start(top);
    struct candidates found = {0};
    struct arena arena;
    tide__arena_init(&arena);
    struct memtable_cursor cursor = {0};
    size_t seen = 0;
    for (;;) {
        struct memtable_entry *entries[GROUP];
        unsigned char *payloads[GROUP];
        uint64_t prefixes[GROUP];
        size_t n = tide__memtable_walk(table, &cursor, GROUP, entries);
        if (n == 0) break;
        if (alive >= 0) n = keep_alive(entries, n, alive);
        if (n == 0) continue;
        seen += n;
        for (size_t i = 0; i < n; i++) payloads[i] = entries[i]->bytes;
        prefixes_of(top, aggregators, payloads, n, &arena, prefixes);
        keep_best(top, &found, entries, prefixes, n);
        tide__arena_reset(&arena);
    }
    tide__arena_deinit(&arena);
    size_t bytes = found.capacity * sizeof *found.items + 2 * found.count * sizeof(struct sort_item);
    tide__budget_charge(budget, bytes);
    struct window_top_groups groups = sort_candidates(top, table, &found);
    tide__budget_release(budget, bytes);
    tide__free(found.items);
    groups.seen = seen;
    return groups;
}
