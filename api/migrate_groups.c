// The state of aggregations under other keys, aggregates or windows.
//
//   key    [window]  keys  [tail]       the window of `.groups` of a window aggregation, the tail of `.sessions`: start and part
//   value  [head]  accumulators         the head: rows of an unbounded group, last row of a session
//
// A group whose large sets lie in pieces of their own (docs/savepoint-format.md) becomes one entry.
#include "api/migrate.h"

#include "base/alloc.h"
#include "engine/aggregates/fields.h"
#include "engine/codec/key.h"
#include "engine/operators/window_assign.h"

#include <string.h>

enum { WINDOW_BYTES = 16, SESSION_TAIL = 16, PIECE_TAIL = 2 };

// How the accumulators of one side lie in a value.
struct layout {
    struct aggregators aggregators;
    const struct aggregate_call *calls;
    uint32_t plan_count;  // of the plan; one more may be in the state: a hidden COUNT(*)
};

struct groups_step {
    struct table_step *step;
    size_t prefix, head;  // bytes
    bool session, rows_head;
    uint32_t old_keys, new_keys;
    const struct type **key_types;  // of the old keys
    struct layout old_layout, new_layout;
    // Of each new accumulator: the fields of the old value it is made of; count 0: it begins empty.
    struct source_fields {
        uint32_t first, count;
    } * sources;
    struct strbuf *empties;                           // an empty accumulator of each
    const struct plan_node *old_expand, *new_expand;  // NULL: no grouping sets, or the same
    bool pieces;                                      // a group may have come in pieces: they are put together
    bool cuts;                                        // WINDOWS
    struct window_cut cut;
    struct strbuf key, value;
};

// --- layouts ---------------------------------------------------------------------------------------------------------------

static void call_list(const struct plan_node *node, const struct aggregate_call **out_calls, uint32_t *out_count,
                      bool *out_retract) {
    bool window = node->kind == PLAN_WINDOW_AGGREGATE;
    *out_calls = window ? node->window_aggregate.aggregates : node->group_aggregate.aggregates;
    *out_count = window ? node->window_aggregate.aggregate_count : node->group_aggregate.aggregate_count;
    *out_retract = !window && node->group_aggregate.input_updates;
}

// The state may hold a COUNT(*) that the plan has not (a HOP that keeps a running window).
static tide_status bind_layout(const struct plan_node *node, size_t value_count, size_t heads, struct arena *arena,
                               struct layout *out, tide_error *err) {
    bool retract;
    uint32_t count;
    call_list(node, &out->calls, &count, &retract);
    out->plan_count = count;
    TIDE_TRY(tide__aggregators_bind(&out->aggregators, out->calls, count, retract, arena, err));
    if (out->aggregators.field_count + heads == value_count) return TIDE_OK;
    struct aggregate_call *calls = ARENA_ARRAY(arena, struct aggregate_call, count + 1);
    if (count > 0) memcpy(calls, out->calls, count * sizeof *calls);
    struct type bigint = tide__type_make(TYPE_BIGINT, false);
    calls[count] = (struct aggregate_call){.aggregate = tide__aggregate_find(STR_LIT("COUNT")),
                                           .name = "COUNT(*)",
                                           .type = tide__type_copy(arena, &bigint),
                                           .filter = -1};
    out->calls = calls;
    return tide__aggregators_bind(&out->aggregators, calls, count + 1, retract, arena, err);
}

static uint32_t first_field(const struct layout *layout, uint32_t aggregate) {
    uint32_t field = 0;
    for (uint32_t i = 0; i < aggregate; i++) field += (uint32_t)layout->aggregators.items[i].kernel->field_count;
    return field;
}

static bool same_forms(const struct aggregate_kernel *a, const struct aggregate_kernel *b) {
    if (a->field_count != b->field_count) return false;
    for (size_t i = 0; i < a->field_count; i++)
        if (a->fields[i].form != b->fields[i].form) return false;
    return true;
}

static bool is_class(const struct aggregator *a, const struct aggregate_class *one,
                     const struct aggregate_class *other) {
    return a->call->aggregate->class == one || a->call->aggregate->class == other;
}

// Which field of an accumulator counts the values; -1: none.
static int32_t count_field(const struct aggregator *a) {
    if (a->inner != NULL) return -1;
    for (size_t i = 0; i < a->kernel->field_count; i++)
        if (a->kernel->fields[i].name != NULL && strcmp(a->kernel->fields[i].name, " count") == 0) return (int32_t)i;
    return -1;
}

// AVG and SUM keep the same; the variances keep the same; sets of the same values; COUNT(x) is in all of them.
static bool derive(const struct aggregator *from, const struct aggregator *to, struct source_fields *out) {
    bool distinct = from->call->distinct;
    if (distinct != to->call->distinct) return false;
    out->count = (uint32_t)from->kernel->field_count;
    if (from->kernel == to->kernel) return true;
    bool sums = is_class(from, &tide__sum_class, &tide__avg_class) && is_class(to, &tide__sum_class, &tide__avg_class);
    // The third field of wide decimals means something else in each.
    if (sums && from->kernel->field_count == 2 && same_forms(from->kernel, to->kernel)) return true;
    bool from_variance = is_class(from, &tide__stddev_pop_class, &tide__stddev_samp_class) ||
                         is_class(from, &tide__var_pop_class, &tide__var_samp_class);
    bool to_variance = is_class(to, &tide__stddev_pop_class, &tide__stddev_samp_class) ||
                       is_class(to, &tide__var_pop_class, &tide__var_samp_class);
    if (from_variance && to_variance && same_forms(from->kernel, to->kernel)) return true;
    int32_t count = is_class(to, &tide__count_class, &tide__count_class) && !distinct ? count_field(from) : -1;
    if (count < 0) return false;
    out->first += (uint32_t)count;
    out->count = 1;
    return true;
}

static tide_status map_aggregate(struct groups_step *g, uint32_t at, int32_t from, bool derived, tide_error *err) {
    struct source_fields *source = &g->sources[at];
    *source = (struct source_fields){0};
    if (from < 0) return TIDE_OK;
    if ((uint32_t)from >= g->old_layout.aggregators.count)
        return tide__table_step_unsupported(g->step, "no such aggregate", err);
    const struct aggregator *old_one = &g->old_layout.aggregators.items[from],
                            *new_one = &g->new_layout.aggregators.items[at];
    source->first = first_field(&g->old_layout, (uint32_t)from);
    source->count = (uint32_t)old_one->kernel->field_count;
    if (derived ? derive(old_one, new_one, source)
                : old_one->kernel == new_one->kernel && same_forms(old_one->kernel, new_one->kernel))
        return TIDE_OK;
    return tide__table_step_unsupported(g->step,
                                        tide__arena_printf(&g->step->arena, "%s keeps something else than %s",
                                                           new_one->call->name, old_one->call->name),
                                        err);
}

// Without steps the plan's aggregates are the same. A hidden count goes on if there was one; no window that is already in the
// state relies on it.
static tide_status map_aggregates(struct groups_step *g, tide_error *err) {
    const struct compat_operator *op = g->step->op;
    uint32_t count = g->new_layout.aggregators.count;
    g->sources = ARENA_ARRAY(&g->step->arena, struct source_fields, count + 1);
    bool steps = tide__migrate_step(op, COMPAT_STEP_AGGREGATE, 0) != NULL ||
                 tide__migrate_step(op, COMPAT_STEP_DERIVE, 0) != NULL;
    for (uint32_t i = 0; !steps && i < g->new_layout.plan_count; i++)
        TIDE_TRY(map_aggregate(g, i, (int32_t)i, false, err));
    for (size_t i = 0; i < op->step_count; i++) {
        const struct compat_step *s = &op->steps[i];
        if (s->kind != COMPAT_STEP_AGGREGATE && s->kind != COMPAT_STEP_DERIVE) continue;
        if (s->at >= g->new_layout.plan_count) return tide__table_step_unsupported(g->step, "no such aggregate", err);
        TIDE_TRY(map_aggregate(g, s->at, s->from, s->kind == COMPAT_STEP_DERIVE, err));
    }
    bool both = g->old_layout.aggregators.count > g->old_layout.plan_count && count > g->new_layout.plan_count;
    if (both) TIDE_TRY(map_aggregate(g, count - 1, (int32_t)g->old_layout.plan_count, false, err));
    g->empties = ARENA_ARRAY(&g->step->arena, struct strbuf, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct aggregator *a = &g->new_layout.aggregators.items[i];
        void *zero = tide__arena_zalloc(&g->step->arena, a->kernel->size + 16);
        a->kernel->encode(a, zero, &g->empties[i]);
    }
    return TIDE_OK;
}

// --- values ----------------------------------------------------------------------------------------------------------------

// Where each field of a value lies.
static bool split_value(const struct groups_step *g, struct str value, struct str *out_fields) {
    const struct aggregators *old_ones = &g->old_layout.aggregators;
    if (value.len < g->head) return false;
    struct str rest = {value.data + g->head, value.len - g->head};
    for (size_t f = 0; f < old_ones->field_count; f++) {
        const char *start = rest.data;
        struct str bytes;
        size_t size = old_ones->fields[f].form == STATE_FORM_I128 ? 16 : 8;
        if (old_ones->fields[f].form == STATE_FORM_BYTES) {
            if (!field_get_bytes(&rest, &bytes)) return false;
        } else {
            if (rest.len < size) return false;
            rest.data += size;
            rest.len -= size;
        }
        out_fields[f] = (struct str){start, (size_t)(rest.data - start)};
    }
    return rest.len == 0;
}

static bool convert_value(struct groups_step *g, struct str value, struct str *fields) {
    if (!split_value(g, value, fields)) return false;
    tide__strbuf_clear(&g->value);
    tide__strbuf_append(&g->value, value.data, g->head);
    for (uint32_t i = 0; i < g->new_layout.aggregators.count; i++) {
        const struct source_fields *source = &g->sources[i];
        if (source->count == 0) tide__strbuf_append_str(&g->value, tide__strbuf_str(&g->empties[i]));
        for (uint32_t f = 0; f < source->count; f++) tide__strbuf_append_str(&g->value, fields[source->first + f]);
    }
    return true;
}

// Two old groups, or two panes of one, are one new group.
static bool combine(void *ctx, struct str older, struct str newer, struct strbuf *out) {
    struct groups_step *g = ctx;
    const struct aggregators *all = &g->new_layout.aggregators;
    if (older.len < g->head || newer.len < g->head) return false;
    unsigned char *payloads[2];
    int64_t charge = 0;
    struct str values[2] = {older, newer};
    bool good = true;
    for (int i = 0; i < 2; i++) {
        payloads[i] = tide__calloc(1, all->payload_size + 16);
        struct str fields = {values[i].data + g->head, values[i].len - g->head};
        good = tide__aggregators_decode(all, fields, payloads[i], &charge) && good;
    }
    if (good) {
        int64_t heads[2] = {0};
        for (int i = 0; i < 2 && g->rows_head; i++) memcpy(&heads[i], values[i].data, sizeof heads[i]);
        heads[0] += heads[1];
        tide__strbuf_append(out, heads, g->head);
        tide__aggregators_merge(all, payloads[0], payloads[1]);
        tide__aggregators_encode(all, payloads[0], out);
    }
    for (int i = 0; i < 2; i++) {
        tide__aggregators_release(payloads[i], (void *)(uintptr_t)all);
        tide__free(payloads[i]);
    }
    return good;
}

// --- grouping sets ---------------------------------------------------------------------------------------------------------

// Above an expansion the last key is the number of the row's set. NULL: no expansion.
static const struct plan_node *expansion_below(const struct plan_node *node) {
    for (node = node->inputs[0]; node->input_count == 1 && (node->kind == PLAN_CALC || node->kind == PLAN_WINDOW_TVF);)
        node = node->inputs[0];
    return node->kind == PLAN_EXPAND ? node : NULL;
}

static bool is_null(const struct expr *expr) {
    return expr->kind == EXPR_LITERAL && expr->literal.is_null;
}

// The sets of columns: 1 where a set has the column. Columns are those of the expansion's input, which are all in the plan's order.
static const struct expr *output_of(const struct plan_node *expand, uint32_t set, uint32_t field) {
    return expand->expand.outputs[set * expand->field_count + field];
}

// Fields are told by name, which two columns of one script's GROUP BY never share.
static bool is_same_set(const struct plan_node *a, uint32_t a_set, const struct plan_node *b, uint32_t b_set) {
    for (uint32_t f = 0; f + 1 < a->field_count; f++) {
        uint32_t k = 0;
        while (k + 1 < b->field_count && strcmp(b->fields[k].name, a->fields[f].name) != 0) k++;
        bool known = k + 1 < b->field_count, there = known && !is_null(output_of(b, b_set, k));
        if (known && is_null(output_of(a, a_set, f)) == there) return false;
    }
    return true;
}

// The new number of an old set: that of the one with the same columns; -1: there is none. A set may stand there twice: the first
// is the first.
static int32_t new_set(const struct plan_node *old_expand, const struct plan_node *new_expand, uint32_t set) {
    uint32_t before = 0;
    for (uint32_t s = 0; s < set; s++) before += is_same_set(old_expand, s, old_expand, set);
    for (uint32_t s = 0; s < new_expand->expand.set_count; s++)
        if (is_same_set(old_expand, set, new_expand, s) && before-- == 0) return (int32_t)s;
    return -1;
}

static void key_list(const struct plan_node *node, const uint32_t **out_keys, uint32_t *out_count) {
    bool window = node->kind == PLAN_WINDOW_AGGREGATE;
    *out_keys = window ? node->window_aggregate.keys : node->group_aggregate.keys;
    *out_count = window ? node->window_aggregate.key_count : node->group_aggregate.key_count;
}

// The old key that a new one is by its name, in grouping sets that are the same but for their order; UINT32_MAX: none.
static uint32_t key_by_name(const struct plan_node *old_node, const struct plan_node *new_node, uint32_t key) {
    const uint32_t *old_keys, *new_keys;
    uint32_t old_count, new_count;
    key_list(old_node, &old_keys, &old_count);
    key_list(new_node, &new_keys, &new_count);
    const char *name = new_node->inputs[0]->fields[new_keys[key]].name;
    for (uint32_t i = 0; i < old_count; i++)
        if (strcmp(old_node->inputs[0]->fields[old_keys[i]].name, name) == 0) return i;
    return UINT32_MAX;
}

bool tide__migrate_sets_moved(const struct plan_node *old_node, const struct plan_node *new_node) {
    bool old_groups = old_node->kind == PLAN_WINDOW_AGGREGATE || old_node->kind == PLAN_GROUP_AGGREGATE;
    bool new_groups = new_node->kind == PLAN_WINDOW_AGGREGATE || new_node->kind == PLAN_GROUP_AGGREGATE;
    if (!old_groups || !new_groups) return false;
    const struct plan_node *a = expansion_below(old_node), *b = expansion_below(new_node);
    if (a == NULL || b == NULL) return false;
    for (uint32_t s = 0; s < a->expand.set_count; s++)
        if (new_set(a, b, s) != (int32_t)s) return true;
    const uint32_t *keys;
    uint32_t count;
    key_list(new_node, &keys, &count);
    for (uint32_t i = 0; i < count; i++)
        if (key_by_name(old_node, new_node, i) != i) return true;
    return false;
}

// --- keys ------------------------------------------------------------------------------------------------------------------

static void key_batch(const struct groups_step *g, size_t rows, struct arena *arena, struct batch *out) {
    *out = (struct batch){.rows = rows, .column_count = g->old_keys};
    out->columns = ARENA_ARRAY(arena, struct column, g->old_keys + 1);
    for (uint32_t i = 0; i < g->old_keys; i++) tide__column_init(&out->columns[i], g->key_types[i], rows, 1, arena);
}

static tide_status new_keys(struct groups_step *g, const struct batch *old_keys, struct arena *arena, struct str *out,
                            tide_error *err) {
    struct batch batch = {.rows = old_keys->rows, .column_count = g->new_keys};
    batch.columns = ARENA_ARRAY(arena, struct column, g->new_keys + 1);
    uint32_t *columns = ARENA_ARRAY(arena, uint32_t, g->new_keys + 1);
    bool changed = tide__migrate_step(g->step->op, COMPAT_STEP_KEY, 0) != NULL;
    // All keys may have gone.
    if (!changed && g->new_keys != g->old_keys && g->new_keys > 0)
        return tide__table_step_unsupported(g->step, "its keys are not known", err);
    for (uint32_t i = 0; i < g->new_keys; i++) {
        columns[i] = i;
        if (!changed) {
            uint32_t from = g->old_expand != NULL ? key_by_name(g->step->op->old_node, g->step->op->new_node, i) : i;
            if (from >= g->old_keys)
                return tide__table_step_unsupported(g->step, "a key of its grouping sets is not known", err);
            batch.columns[i] = old_keys->columns[from];
            continue;
        }
        const struct compat_step *key = tide__migrate_step(g->step->op, COMPAT_STEP_KEY, i);
        if (key == NULL || key->at != i) return tide__table_step_unsupported(g->step, "a key is not known", err);
        TIDE_TRY(tide__migrate_eval(g->step, key->expr, old_keys, arena, &batch.columns[i], err));
    }
    tide__key_encode(&batch, columns, g->new_keys, (struct str){0}, arena, out);
    return TIDE_OK;
}

// Groups of sets that are gone go.
static const uint8_t *renumber_sets(const struct groups_step *g, struct batch *keys, const uint8_t *keep,
                                    struct arena *arena) {
    uint8_t *kept = tide__arena_alloc(arena, keys->rows + 1);
    struct column *numbers = &keys->columns[g->old_keys - 1];
    for (size_t i = 0; i < keys->rows; i++) {
        int64_t set = numbers->i64[i];
        int32_t other = set >= 0 && set < g->old_expand->expand.set_count
                            ? new_set(g->old_expand, g->new_expand, (uint32_t)set)
                            : -1;
        kept[i] = keep[i] && other >= 0;
        numbers->i64[i] = other >= 0 ? other : 0;
    }
    return kept;
}

static void put_window(struct groups_step *g, struct str key) {
    if (!g->cuts) {
        tide__strbuf_append(&g->key, key.data, g->prefix);
        return;
    }
    struct slice_bounds bounds = tide__window_slice(&g->cut, tide__key_get_time(key.data));
    char bytes[WINDOW_BYTES];
    tide__key_put_time(bytes, bounds.start);
    tide__key_put_time(bytes + 8, bounds.end);
    tide__strbuf_append(&g->key, bytes, sizeof bytes);
}

static tide_status convert(void *ctx, const struct state_entry *entries, size_t count, tide_error *err) {
    struct groups_step *g = ctx;
    struct table_step *step = g->step;
    struct arena *arena = &step->scratch;
    struct batch old_keys;
    key_batch(g, count, arena, &old_keys);
    struct str *tails = ARENA_ARRAY(arena, struct str, count), *keys = ARENA_ARRAY(arena, struct str, count);
    struct str *fields = ARENA_ARRAY(arena, struct str, g->old_layout.aggregators.field_count + 1);
    if (!tide__migrate_decode_keys(entries, count, g->prefix, &old_keys, arena, tails))
        return tide__table_step_damaged(step, err);
    const uint8_t *keep;
    TIDE_TRY(tide__migrate_purge(step, &old_keys, arena, &keep, err));
    if (g->old_expand != NULL) keep = renumber_sets(g, &old_keys, keep, arena);
    TIDE_TRY(new_keys(g, &old_keys, arena, keys, err));
    for (size_t i = 0; i < count; i++) {
        bool piece = g->pieces && tails[i].len == PIECE_TAIL;
        if ((!piece && tails[i].len != (g->session ? SESSION_TAIL : 0)) || !convert_value(g, entries[i].value, fields))
            return tide__table_step_damaged(step, err);
        if (piece) tails[i].len = 0;
        if (!keep[i]) continue;
        tide__strbuf_clear(&g->key);
        if (g->prefix > 0) put_window(g, entries[i].key);
        tide__strbuf_append_str(&g->key, keys[i]);
        tide__strbuf_append_str(&g->key, tails[i]);
        TIDE_TRY(tide__entry_loader_add(&step->loader, tide__strbuf_str(&g->key), tide__strbuf_str(&g->value), err));
    }
    return TIDE_OK;
}

// --- the table -------------------------------------------------------------------------------------------------------------

static tide_status open_step(struct groups_step *g, tide_error *err) {
    struct table_step *step = g->step;
    const struct plan_node *old_node = step->op->old_node, *new_node = step->op->new_node;
    if (old_node->kind != new_node->kind)
        return tide__table_step_unsupported(step, "it is another kind of operator", err);
    bool window = new_node->kind == PLAN_WINDOW_AGGREGATE;
    g->session = window && step->old_table->desc.kind == STATE_TABLE_KEYED;
    g->rows_head = !window;
    g->prefix = window && !g->session ? WINDOW_BYTES : 0;
    g->head = window && !g->session ? 0 : sizeof(int64_t);
    const uint32_t *keys;
    key_list(old_node, &keys, &g->old_keys);
    g->key_types = ARENA_ARRAY(&step->arena, const struct type *, g->old_keys + 1);
    for (uint32_t i = 0; i < g->old_keys; i++)
        g->key_types[i] = tide__type_with_nullable(&step->arena, old_node->inputs[0]->fields[keys[i]].type, true);
    key_list(new_node, &keys, &g->new_keys);
    const struct state_table_desc *new_desc = tide__state_table_desc(step->loader.table);
    size_t heads = g->head > 0;
    TIDE_TRY(bind_layout(old_node, step->old_table->desc.value_count, heads, &step->arena, &g->old_layout, err));
    TIDE_TRY(bind_layout(new_node, new_desc->value_count, heads, &step->arena, &g->new_layout, err));
    if (g->old_layout.aggregators.field_count + heads != step->old_table->desc.value_count)
        return tide__table_step_unsupported(step, "its accumulators are laid out in another way", err);
    g->cuts = g->prefix > 0 && tide__migrate_step(step->op, COMPAT_STEP_WINDOWS, 0) != NULL;
    if (g->cuts) g->cut = tide__window_cut(&new_node->window_aggregate.window, step->job->plan->settings.zone);
    if (tide__migrate_sets_moved(old_node, new_node)) {
        g->old_expand = expansion_below(old_node);
        g->new_expand = expansion_below(new_node);
    }
    bool merges = g->cuts || tide__migrate_step(step->op, COMPAT_STEP_MERGE, 0) != NULL;
    if (merges && g->session) return tide__table_step_unsupported(step, "sessions can't be put together", err);
    g->pieces = g->prefix > 0 && g->old_layout.aggregators.has_pieces;
    if (merges || g->pieces) step->loader.combine = combine;
    step->loader.ctx = g;
    return map_aggregates(g, err);
}

tide_status tide__migrate_groups(struct table_step *step, tide_error *err) {
    struct groups_step g = {.step = step};
    tide_status status = open_step(&g, err);
    if (status == TIDE_OK) status = tide__table_step_run(step, convert, &g, err);
    for (uint32_t i = 0; g.empties != NULL && i < g.new_layout.aggregators.count; i++)
        tide__strbuf_deinit(&g.empties[i]);
    tide__strbuf_deinit(&g.key);
    tide__strbuf_deinit(&g.value);
    return status;
}
