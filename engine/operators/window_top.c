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

// --- the bar --------------------------------------------------------------------------------------------------------

static void bar_init(struct top_bar *bar, uint32_t limit) {
    *bar = (struct top_bar){.limit = limit, .best = tide__alloc(limit * sizeof *bar->best), .bar = UINT64_MAX};
}

static void bar_start(struct top_bar *bar) {
    bar->count = 0;
    bar->bar = UINT64_MAX;
}

static void sift_down(struct top_bar *bar, uint32_t at) {
    uint64_t moved = bar->best[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= bar->count) break;
        if (child + 1 < bar->count && bar->best[child + 1] > bar->best[child]) child++;
        if (bar->best[child] <= moved) break;
        bar->best[at] = bar->best[child];
        at = child;
    }
    bar->best[at] = moved;
}

// A prefix that is not above the bar.
static void bar_lower(struct top_bar *bar, uint64_t prefix) {
    if (bar->count < bar->limit) {
        bar->best[bar->count++] = prefix;
        if (bar->count < bar->limit) return;
        for (uint32_t i = bar->limit / 2; i-- > 0;) sift_down(bar, i);
    } else {
        bar->best[0] = prefix;
        sift_down(bar, 0);
    }
    bar->bar = bar->best[0];
}

void tide__window_top_init(struct window_top *top, const struct plan *plan, const struct plan_node *aggregate) {
    assert(aggregate->kind == PLAN_WINDOW_AGGREGATE);
    *top = (struct window_top){0};
    struct arena arena;
    tide__arena_init(&arena);
    if (find_top(top, plan, aggregate, &arena)) {
        tide__ranker_init(&top->ranker, &top->sort, 1, TIE_FIRST_ARRIVED, NULL);
        bar_init(&top->bar, top->limit);
    }
    tide__arena_deinit(&arena);
}

void tide__window_top_deinit(struct window_top *top) {
    tide__free(top->bar.best);
    tide__ranker_deinit(&top->ranker);
}

void tide__window_top_start(struct window_top *top) {
    bar_start(&top->bar);
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

static void prefixes_of_entries(const struct window_top *top, const struct aggregators *aggregators,
                                struct memtable_entry *const *entries, size_t n, struct arena *arena, uint64_t *out) {
    unsigned char *payloads[GROUP];
    assert(n <= GROUP);
    for (size_t i = 0; i < n; i++) payloads[i] = entries[i]->bytes;
    prefixes_of(top, aggregators, payloads, n, arena, out);
    tide__arena_reset(arena);
}

size_t tide__window_top_filter(struct window_top *top, const struct aggregators *aggregators, struct str *keys,
                               unsigned char **payloads, size_t n, struct arena *arena) {
    if (n == 0) return 0;
    uint64_t *prefixes = tide__arena_alloc(arena, n * sizeof *prefixes);
    prefixes_of(top, aggregators, payloads, n, arena, prefixes);
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (prefixes[i] > top->bar.bar) continue;
        bar_lower(&top->bar, prefixes[i]);
        keys[left] = keys[i];
        payloads[left++] = payloads[i];
    }
    return left;
}

// --- a table in memory ----------------------------------------------------------------------------------------------

static void add_candidate(struct top_candidate **items, size_t *count, size_t *capacity, uint64_t prefix,
                          struct memtable_entry *entry) {
    *items = tide__grow(*items, capacity, *count + 1, sizeof **items);
    (*items)[(*count)++] = (struct top_candidate){prefix, entry};
}

// Takes the candidates that the bar lets through.
static struct window_top_groups sort_candidates(const struct window_top *top, const struct memtable *table,
                                                const struct top_candidate *found, size_t count,
                                                struct memory_budget *budget) {
    size_t bytes = (count + 1) * (sizeof *found + 2 * sizeof(struct sort_item));
    tide__budget_charge(budget, bytes);
    struct window_top_groups groups = {.entries = tide__alloc((count + 1) * sizeof *groups.entries)};
    struct sort_item *items = tide__alloc((2 * count + 1) * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        if (found[i].prefix > top->bar.bar) continue;
        struct str key = tide__memtable_key(table, found[i].entry);
        const unsigned char *data = (const unsigned char *)key.data;
        items[groups.count++] = (struct sort_item){tide__sort_prefix(data, key.len), data, (uint32_t)key.len,
                                                   (uint32_t)i};
    }
    tide__sort_keys(items, groups.count, items + groups.count);
    for (size_t i = 0; i < groups.count; i++) groups.entries[i] = found[items[i].index].entry;
    tide__free(items);
    tide__budget_release(budget, bytes);
    return groups;
}

struct window_top_groups tide__window_top_of_table(struct window_top *top, const struct aggregators *aggregators,
                                                   const struct memtable *table, struct memory_budget *budget) {
    assert(top->limit > 0);
    bar_start(&top->bar);
    struct top_candidate *found = NULL;  // by the bar of their time; it goes on falling
    size_t count = 0, capacity = 0;
    struct arena arena;
    tide__arena_init(&arena);
    struct memtable_cursor cursor = {0};
    struct memtable_entry *entries[GROUP];
    for (size_t n; (n = tide__memtable_walk(table, &cursor, GROUP, entries)) > 0;) {
        uint64_t prefixes[GROUP];
        prefixes_of_entries(top, aggregators, entries, n, &arena, prefixes);
        for (size_t i = 0; i < n; i++) {
            if (prefixes[i] > top->bar.bar) continue;
            bar_lower(&top->bar, prefixes[i]);
            add_candidate(&found, &count, &capacity, prefixes[i], entries[i]);
        }
    }
    tide__arena_deinit(&arena);
    struct window_top_groups groups = sort_candidates(top, table, found, count, budget);
    tide__free(found);
    return groups;
}

// --- a table that fires again and again -----------------------------------------------------------------------------

static uint32_t wide_limit(const struct window_top *top) {
    return 4 * top->limit + 256;
}

void tide__window_top_list_init(struct window_top_list *list, const struct window_top *top,
                                struct memory_budget *budget) {
    *list = (struct window_top_list){.budget = budget};
    bar_init(&list->wide, wide_limit(top));
    tide__arena_init(&list->arena);
}

void tide__window_top_list_deinit(struct window_top_list *list) {
    tide__window_top_list_clear(list);
    tide__free(list->wide.best);
    tide__arena_deinit(&list->arena);
}

void tide__window_top_list_clear(struct window_top_list *list) {
    tide__budget_release(list->budget, list->capacity * sizeof *list->items);
    tide__free(list->items);
    list->items = NULL;
    list->count = list->capacity = 0;
    list->complete = false;
}

static void add_to_list(struct window_top_list *list, uint64_t prefix, struct memtable_entry *entry) {
    size_t before = list->capacity;
    entry->flags |= TOP_ENTRY_LISTED;
    add_candidate(&list->items, &list->count, &list->capacity, prefix, entry);
    if (list->capacity != before) tide__budget_charge(list->budget, (list->capacity - before) * sizeof *list->items);
}

void tide__window_top_list_changed(struct window_top_list *list, const struct window_top *top,
                                   const struct aggregators *aggregators, struct memtable_entry *const *entries,
                                   size_t n) {
    if (!list->complete) return;
    for (size_t from = 0; from < n; from += GROUP) {
        uint64_t prefixes[GROUP];
        size_t some = n - from < GROUP ? n - from : GROUP;
        prefixes_of_entries(top, aggregators, entries + from, some, &list->arena, prefixes);
        for (size_t i = 0; i < some; i++) {
            struct memtable_entry *entry = entries[from + i];
            if (prefixes[i] > list->wide.bar || (entry->flags & TOP_ENTRY_LISTED) != 0) continue;
            add_to_list(list, prefixes[i], entry);
        }
    }
}

void tide__window_top_list_moved(struct window_top_list *list) {
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++) {
        if ((list->items[i].entry->flags & TOP_ENTRY_ALIVE) == 0) continue;
        list->items[left] = list->items[i];
        list->items[left++].entry = (struct memtable_entry *)(uintptr_t)list->items[i].entry->hash;
    }
    list->count = left;
}

// Looks at the list's groups again, and lets those go that have died or are above the bar now.
static void look_at_list(struct window_top_list *list, struct window_top *top, const struct aggregators *aggregators) {
    size_t left = 0;
    for (size_t from = 0; from < list->count; from += GROUP) {
        struct memtable_entry *entries[GROUP];
        uint64_t prefixes[GROUP];
        size_t n = list->count - from < GROUP ? list->count - from : GROUP;
        for (size_t i = 0; i < n; i++) __builtin_prefetch(entries[i] = list->items[from + i].entry);
        prefixes_of_entries(top, aggregators, entries, n, &list->arena, prefixes);
        for (size_t i = 0; i < n; i++) {
            if (prefixes[i] > list->wide.bar || (entries[i]->flags & TOP_ENTRY_ALIVE) == 0) {
                entries[i]->flags &= ~(uint32_t)TOP_ENTRY_LISTED;
                continue;
            }
            if (prefixes[i] <= top->bar.bar) bar_lower(&top->bar, prefixes[i]);
            list->items[left++] = (struct top_candidate){prefixes[i], entries[i]};
        }
    }
    list->count = left;
}

// Makes the list from all groups.
static void look_at_table(struct window_top_list *list, struct window_top *top, const struct aggregators *aggregators,
                          const struct memtable *table) {
    for (size_t i = 0; i < list->count; i++) list->items[i].entry->flags &= ~(uint32_t)TOP_ENTRY_LISTED;
    bar_start(&list->wide);
    list->count = 0;
    list->complete = true;
    struct memtable_cursor cursor = {0};
    struct memtable_entry *entries[GROUP];
    for (size_t n; (n = tide__memtable_walk(table, &cursor, GROUP, entries)) > 0;) {
        uint64_t prefixes[GROUP];
        prefixes_of_entries(top, aggregators, entries, n, &list->arena, prefixes);
        for (size_t i = 0; i < n; i++) {
            if (prefixes[i] > list->wide.bar || (entries[i]->flags & TOP_ENTRY_ALIVE) == 0) continue;
            bar_lower(&list->wide, prefixes[i]);
            add_to_list(list, prefixes[i], entries[i]);
        }
    }
}

struct window_top_groups tide__window_top_of_list(struct window_top_list *list, struct window_top *top,
                                                  const struct aggregators *aggregators, const struct memtable *table) {
    // Ties can make it long at once; a long list is still better than all groups.
    bool too_long = list->count > 4 * (size_t)list->wide.limit && list->count > tide__memtable_count(table) / 8;
    if (list->complete && !too_long) {
        bar_start(&top->bar);
        look_at_list(list, top, aggregators);
    }
    // With fewer groups than the Top-N wants, the next best may be above the list's bar.
    bool enough = list->count >= top->limit || list->wide.bar == UINT64_MAX;
    if (!list->complete || too_long || !enough) {
        look_at_table(list, top, aggregators, table);
        bar_start(&top->bar);
        look_at_list(list, top, aggregators);
    }
    return sort_candidates(top, table, list->items, list->count, list->budget);
}
