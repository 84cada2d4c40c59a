// Window aggregation: which windows, which order, late rows; and that barriers, eviction and restoring never show.
#include "fake_driver.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN_MS 60000

static const struct window tumble = {.kind = WINDOW_TUMBLE, .size_ms = MIN_MS, .slide_ms = MIN_MS};
static const struct window hop = {.kind = WINDOW_HOP, .size_ms = 3 * MIN_MS, .slide_ms = MIN_MS};
static const struct window hop_ragged = {.kind = WINDOW_HOP, .size_ms = 5 * MIN_MS, .slide_ms = 2 * MIN_MS};
static const struct window cumulate = {.kind = WINDOW_CUMULATE, .size_ms = 4 * MIN_MS, .slide_ms = MIN_MS};

static const int key_k[] = {FAKE_K, -1};
static const int no_keys[] = {-1};
static const struct fake_aggregate count_sum[] = {{"COUNT", -1, .filter = -1}, {"SUM", FAKE_V, .filter = -1}, {0}};

static void expect(struct fake *fake, const char *text) {
    ck_assert_str_eq(fake->out.text.data ? fake->out.text.data : "", text);
    tide__strbuf_clear(&fake->out.text);
}

static struct fake_row at(int64_t ts, int64_t k, int v) {
    return (struct fake_row){.k = k, .s = "x", .v = v, .w = v, .d = v, .ts = ts};
}

START_TEST(tumble_fires_in_window_and_key_order) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, tumble, key_k, count_sum);
    fake_open(&fake);
    struct fake_row rows[] = {at(61000, 2, 5), at(0, 7, 1), at(59999, -3, 2), at(1, 7, 3), at(-1, 1, 9)};
    rows[1].nulls = 1 << FAKE_K;
    fake_push(&fake, rows, 5, 5);
    fake_watermark(&fake, 59998);
    expect(&fake, "1|1|9|-60000|0|-1\n");
    fake_watermark(&fake, 59999);
    expect(&fake, "NULL|1|1|0|60000|59999\n-3|1|2|0|60000|59999\n7|1|3|0|60000|59999\n");
    struct fake_row late = at(59999, 1, 1);
    fake_push(&fake, &late, 1, 1);
    ck_assert_uint_eq(fake.op->stats.late_rows, 1);
    fake_watermark(&fake, WATERMARK_END);
    expect(&fake, "2|1|5|60000|120000|119999\n");
    fake_deinit(&fake);
}
END_TEST

START_TEST(hop_row_counts_in_the_windows_that_have_not_fired) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, hop, no_keys, count_sum);
    fake_open(&fake);
    struct fake_row row = at(0, 1, 1), late = at(1, 1, 10);
    fake_push(&fake, &row, 1, 1);
    fake_watermark(&fake, 59999);
    expect(&fake, "1|1|-120000|60000|59999\n");
    fake_push(&fake, &late, 1, 1);
    fake_watermark(&fake, 179999);
    expect(&fake, "2|11|-60000|120000|119999\n2|11|0|180000|179999\n");
    fake_push(&fake, &late, 1, 1);
    ck_assert_uint_eq(fake.op->stats.late_rows, 1);
    fake_deinit(&fake);
}
END_TEST

START_TEST(cumulate_keeps_a_running_total) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, cumulate, no_keys, count_sum);
    fake_open(&fake);
    struct fake_row rows[] = {at(70000, 1, 1), at(130000, 1, 10), at(250000, 1, 5)}, late = at(10, 1, 100);
    fake_push(&fake, rows, 3, 3);
    fake_watermark(&fake, 120000);
    expect(&fake, "1|1|0|120000|119999\n");
    fake_push(&fake, &late, 1, 1);
    fake_watermark(&fake, 239999);
    expect(&fake, "3|111|0|180000|179999\n3|111|0|240000|239999\n");
    fake_push(&fake, &late, 1, 1);
    ck_assert_uint_eq(fake.op->stats.late_rows, 1);
    fake_watermark(&fake, WATERMARK_END);
    expect(&fake,
           "1|5|240000|300000|299999\n1|5|240000|360000|359999\n1|5|240000|420000|419999\n1|5|240000|480000|479999\n");
    fake_deinit(&fake);
}
END_TEST

START_TEST(trigger_is_never_later_than_the_next_change) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, tumble, no_keys, count_sum);
    fake_open(&fake);
    ck_assert_int_eq(fake.op->class->next_trigger(fake.op, 61000), 119999);
    struct fake_row row = at(0, 1, 1);
    fake_push(&fake, &row, 1, 1);
    ck_assert_int_eq(fake.op->class->next_trigger(fake.op, 61000), 59999);
    fake_watermark(&fake, 59999);
    ck_assert_int_eq(fake.op->class->next_trigger(fake.op, 0), 119999);
    fake_deinit(&fake);
}
END_TEST

// --- cutting everywhere -----------------------------------------------------------------------------------------

static const struct fake_aggregate combinable[] = {{"COUNT", -1, .filter = -1},
                                                   {"COUNT", FAKE_V, .filter = FAKE_B},
                                                   {"SUM", FAKE_V, .filter = -1},
                                                   {"SUM", FAKE_D, .filter = -1},
                                                   {"AVG", FAKE_V, .filter = -1},
                                                   {"AVG", FAKE_D, .filter = -1},
                                                   {"MIN", FAKE_V, .filter = -1},
                                                   {"MAX", FAKE_S, .filter = -1},
                                                   {"MIN", FAKE_S, .filter = FAKE_B},
                                                   {"MAX", FAKE_T6, .filter = -1},
                                                   {"MIN", FAKE_WIDE, .filter = -1},
                                                   {"MAX", FAKE_B, .filter = -1},
                                                   {"VAR_POP", FAKE_V, .filter = -1},
                                                   {"LISTAGG", FAKE_S, .filter = -1, .separator = ";"},
                                                   {"LISTAGG", FAKE_S, .distinct = true, .filter = -1},
                                                   {"COUNT", FAKE_S, .distinct = true, .filter = -1},
                                                   {"SUM", FAKE_V, .distinct = true, .filter = -1},
                                                   {"AVG", FAKE_W, .distinct = true, .filter = -1},
                                                   {"ARRAY_AGG", FAKE_S, .filter = -1},
                                                   {"COLLECT", FAKE_B, .filter = -1},
                                                   {"FIRST_VALUE", FAKE_W, .filter = -1},
                                                   {"LAST_VALUE", FAKE_S, .filter = -1},
                                                   {0}};

// With an exact inverse: a HOP keeps a running window.
static const struct fake_aggregate invertible[] = {
    {"SUM", FAKE_V, .filter = -1},     {"COUNT", FAKE_S, .filter = -1},
    {"SUM", FAKE_D, .filter = FAKE_B}, {"AVG", FAKE_D, .filter = -1},
    {"AVG", FAKE_V, .filter = FAKE_B}, {"STDDEV_POP", FAKE_V, .filter = -1},
    {"COUNT", -1, .filter = FAKE_B},   {0}};

static const struct fake_aggregate sequential[] = {
    {"COUNT", -1, .filter = -1},       {"SUM", FAKE_W, .filter = -1},     {"SUM", FAKE_F, .filter = -1},
    {"AVG", FAKE_W, .filter = -1},     {"MIN", FAKE_W, .filter = -1},     {"MAX", FAKE_F, .filter = -1},
    {"SUM", FAKE_WIDE, .filter = -1},  {"AVG", FAKE_WIDE, .filter = -1},  {"STDDEV_SAMP", FAKE_W, .filter = -1},
    {"VAR_POP", FAKE_D, .filter = -1}, {"LISTAGG", FAKE_S, .filter = -1}, {0}};

// Whose accumulators do not point elsewhere: a barrier leaves their encoding to the background thread.
static const struct fake_aggregate flat[] = {{"COUNT", -1, .filter = -1},           {"SUM", FAKE_W, .filter = FAKE_B},
                                             {"AVG", FAKE_F, .filter = -1},         {"AVG", FAKE_WIDE, .filter = -1},
                                             {"STDDEV_SAMP", FAKE_W, .filter = -1}, {0}};

enum { ROWS = 120 };

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return *seed >> 33;
}

static void make_rows(struct fake_row *rows, uint64_t seed) {
    static const char *const words[] = {"a", "bb", "", "a\tb", "a long string that does not fit anywhere", NULL};
    static const double doubles[] = {0.1, -0.0, 1e16, -1e16, 0.3, 1.0 / 0.0, 0.7};
    for (size_t i = 0; i < ROWS; i++) {
        struct fake_row *row = &rows[i];
        *row = (struct fake_row){.k = (int64_t)next_random(&seed) % 4, .v = (int32_t)next_random(&seed) - (1 << 30)};
        row->s = words[next_random(&seed) % 6];
        row->w = doubles[next_random(&seed) % (i < 80 ? 5 : 7)];
        row->d = (int64_t)next_random(&seed) % 1000000 - 500000;
        row->wide = (int128)next_random(&seed) * 10000000000000000LL * 10000000000000LL * 5;
        row->b = next_random(&seed) & 1;
        row->ts = (int64_t)i * 5000 + (int64_t)(next_random(&seed) % 40000);
        row->start = row->ts / MIN_MS * MIN_MS;
        row->end = row->start + MIN_MS;
        row->nulls = (uint32_t)next_random(&seed) & (uint32_t)next_random(&seed) & (uint32_t)next_random(&seed) & 0xFFF;
        row->nulls &= ~(1u << FAKE_TS | 1u << FAKE_START | 1u << FAKE_END);
    }
}

enum cut { CUT_NONE, CUT_BARRIER, CUT_SHRINK, CUT_RELOAD, CUT_MIXED };

// The same rows and watermarks; `cut` happens after row `cut_at`, or after each row if that is -1.
static char *run(const struct fake *plan, const struct fake_row *rows, enum cut cut, int cut_at, size_t *out_late) {
    struct fake fake = *plan;
    tide__arena_init(&fake.arena);  // its own: the plan is shared by all runs
    fake.plan.arena = &fake.arena;
    fake_open(&fake);
    for (int i = 0; i < ROWS; i++) {
        fake_push(&fake, &rows[i], 1, 1);
        if (i % 3 == 0) fake_watermark(&fake, (int64_t)i * 5000 - 10000);
        if (cut_at >= 0 && cut_at != i) continue;
        if (cut == CUT_BARRIER) fake_barrier(&fake);
        if (cut == CUT_SHRINK) fake_shrink(&fake, SIZE_MAX);
        if (cut == CUT_RELOAD) fake_reload(&fake);
        if (cut != CUT_MIXED) continue;
        if (i % 2 == 0) fake_barrier(&fake);
        if (i % 7 == 3) fake_shrink(&fake, 1);
        if (i % 11 == 5) fake_reload(&fake);
    }
    fake_watermark(&fake, WATERMARK_END);
    fake_close(&fake);
    tide__arena_deinit(&fake.arena);
    *out_late = fake.late;
    return fake.out.text.data;
}

static void check_cuts(struct window window, bool attached, const int *keys, const struct fake_aggregate *aggregates,
                       enum state_backend backend) {
    char dir[] = "/tmp/tide-window-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    struct fake fake;
    fake_init(&fake, backend, dir);
    fake_window_aggregate(&fake, window, keys, aggregates);
    fake.node.window_aggregate.attached = attached;
    struct fake_row rows[ROWS];
    make_rows(rows, 42);
    size_t late, expected_late;
    char *expected = run(&fake, rows, CUT_NONE, -1, &expected_late);
    ck_assert_uint_gt(strlen(expected), 100);
    // A reload on RocksDB takes its time: one mixture has to do.
    for (int cut = backend == STATE_BACKEND_MEMORY ? CUT_BARRIER : CUT_MIXED; cut <= CUT_MIXED; cut++) {
        bool each = cut != CUT_MIXED && backend == STATE_BACKEND_MEMORY;
        for (int cut_at = -1; cut_at < (each ? ROWS : 0); cut_at++) {
            char *got = run(&fake, rows, (enum cut)cut, cut_at, &late);
            if (strcmp(got, expected) != 0) {
                FILE *f = fopen("/tmp/tide-expected", "w"), *g = fopen("/tmp/tide-got", "w");
                fputs(expected, f), fputs(got, g), fclose(f), fclose(g);
                ck_abort_msg("cut %d at %d changes the result", cut, cut_at);
            }
            ck_assert_uint_eq(late, expected_late);
            free(got);
        }
    }
    free(expected);
    fake.op = NULL;
    fake_deinit(&fake);
    rmdir(dir);
}

// --- against a model ----------------------------------------------------------------------------------------------

// Each window on its own, each row put into all of its windows that have not fired.
struct model_group {
    int64_t start, end, k, count, sum, least;
    bool fired;
};

static void model_add(struct model_group *groups, size_t *count, int64_t start, int64_t end, int64_t watermark,
                      const struct fake_row *row) {
    if (end - 1 <= watermark) return;
    size_t i = 0;
    while (i < *count && (groups[i].start != start || groups[i].end != end || groups[i].k != row->k)) i++;
    if (i == *count) groups[(*count)++] = (struct model_group){start, end, row->k, 0, 0, row->v, false};
    groups[i].count++;
    groups[i].sum += row->v;
    if (row->v < groups[i].least) groups[i].least = row->v;
}

static int compare_model(const void *a, const void *b) {
    const struct model_group *x = a, *y = b;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->k > y->k) - (x->k < y->k);
}

static void model_fire(struct model_group *groups, size_t count, int64_t watermark, bool with_min, struct strbuf *out) {
    qsort(groups, count, sizeof *groups, compare_model);
    for (size_t i = 0; i < count; i++) {
        struct model_group *g = &groups[i];
        if (g->fired || g->end - 1 > watermark) continue;
        g->fired = true;
        tide__strbuf_printf(out, "%lld|%lld|%d", (long long)g->k, (long long)g->count, (int)(int32_t)g->sum);
        if (with_min) tide__strbuf_printf(out, "|%lld", (long long)g->least);
        tide__strbuf_printf(out, "|%lld|%lld|%lld\n", (long long)g->start, (long long)g->end, (long long)g->end - 1);
    }
}

static void model_row(struct model_group *groups, size_t *count, const struct window *w, int64_t watermark,
                      const struct fake_row *row) {
    int64_t step = w->slide_ms, size = w->size_ms;
    if (w->kind == WINDOW_CUMULATE) {
        int64_t start = tide__time_floor(row->ts, 0, size);
        for (int64_t end = start + step; end <= start + size; end += step)
            if (row->ts < end) model_add(groups, count, start, end, watermark, row);
        return;
    }
    for (int64_t start = tide__time_floor(row->ts, 0, step); start > row->ts - size; start -= step)
        model_add(groups, count, start, start + size, watermark, row);
}

// Many late rows; with MIN there is no running window.
START_TEST(windows_are_those_of_the_model) {
    static const struct window *const windows[] = {&tumble, &hop, &hop_ragged, &cumulate};
    static const struct fake_aggregate with_min[] = {
        {"COUNT", -1, .filter = -1}, {"SUM", FAKE_V, .filter = -1}, {"MIN", FAKE_V, .filter = -1}, {0}};
    const struct window *window = windows[_i % 4];
    bool has_min = _i >= 4;
    static struct model_group groups[4096];
    size_t count = 0;
    struct strbuf expected = {0};
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, *window, key_k, has_min ? with_min : count_sum);
    fake_open(&fake);
    uint64_t seed = 5;
    int64_t watermark = WATERMARK_NONE;
    for (int i = 0; i < 600; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        struct fake_row row = at(i * 2000 + (int64_t)(seed >> 33) % 200000 - 120000, (int64_t)(seed >> 40) % 5,
                                 (int)((seed >> 45) % 1000));
        fake_push(&fake, &row, 1, 1);
        model_row(groups, &count, window, watermark, &row);
        if (i % 10 != 9) continue;
        watermark = i * 2000;
        fake_watermark(&fake, watermark);
        model_fire(groups, count, watermark, has_min, &expected);
    }
    fake_watermark(&fake, WATERMARK_END);
    model_fire(groups, count, WATERMARK_END, has_min, &expected);
    ck_assert_uint_gt(expected.len, 1000);
    expect(&fake, expected.data);
    tide__strbuf_deinit(&expected);
    fake_deinit(&fake);
}
END_TEST

static const struct {
    const char *name;
    const struct window *window;
    bool attached;
} shapes[] = {
    {"tumble", &tumble, false},     {"hop", &hop, false},        {"hop ragged", &hop_ragged, false},
    {"cumulate", &cumulate, false}, {"attached", &tumble, true},
};

START_TEST(cuts_do_not_show_when_combinable) {
    check_cuts(*shapes[_i].window, shapes[_i].attached, key_k, combinable, STATE_BACKEND_MEMORY);
    check_cuts(*shapes[_i].window, shapes[_i].attached, no_keys, combinable, STATE_BACKEND_MEMORY);
}
END_TEST

START_TEST(cuts_do_not_show_in_a_running_window) {
    check_cuts(*shapes[_i].window, shapes[_i].attached, key_k, invertible, STATE_BACKEND_MEMORY);
}
END_TEST

// Sums that are easy to do by hand, over a HOP long enough to drop and take up groups again.
START_TEST(running_window_forgets_groups_and_takes_them_up_again) {
    static const struct fake_aggregate sum[] = {{"SUM", FAKE_V, .filter = -1}, {0}};
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, hop, key_k, sum);
    fake_open(&fake);
    struct fake_row rows[] = {at(0, 1, 1), at(60000, 2, 2), at(240000, 1, 4)};
    fake_push(&fake, rows, 3, 3);
    fake_watermark(&fake, 179999);
    expect(&fake, "1|1|-120000|60000|59999\n1|1|-60000|120000|119999\n2|2|-60000|120000|119999\n"
                  "1|1|0|180000|179999\n2|2|0|180000|179999\n");
    struct fake_row more = at(60001, 2, 8);  // a slice that has been in two windows
    fake_push(&fake, &more, 1, 1);
    fake_watermark(&fake, WATERMARK_END);
    expect(&fake,
           "2|10|60000|240000|239999\n1|4|120000|300000|299999\n1|4|180000|360000|359999\n1|4|240000|420000|419999\n");
    fake_deinit(&fake);
}
END_TEST

START_TEST(cuts_do_not_show_when_sequential) {
    check_cuts(*shapes[_i].window, shapes[_i].attached, key_k, sequential, STATE_BACKEND_MEMORY);
    check_cuts(*shapes[_i].window, shapes[_i].attached, key_k, flat, STATE_BACKEND_MEMORY);
    check_cuts(*shapes[_i].window, shapes[_i].attached, no_keys, flat, STATE_BACKEND_MEMORY);
}
END_TEST

START_TEST(cuts_do_not_show_on_rocksdb) {
    check_cuts(*shapes[_i].window, shapes[_i].attached, key_k, _i % 2 ? sequential : combinable, STATE_BACKEND_ROCKSDB);
}
END_TEST

// --- many groups --------------------------------------------------------------------------------------------------

enum { GROUPS = 40000, GROUP_BATCH = 200 };

static void push_groups(struct fake *fake, size_t first, size_t count) {
    static struct fake_row rows[GROUP_BATCH];
    for (size_t i = first; i < first + count; i += GROUP_BATCH) {
        for (size_t r = 0; r < GROUP_BATCH; r++)
            rows[r] = (struct fake_row){.k = (int64_t)((i + r) * 7919 % GROUPS), .w = (double)(i + r), .ts = 1000};
        fake_push(fake, rows, GROUP_BATCH, GROUP_BATCH);
    }
}

struct seen {
    struct state_table *table;
    size_t entries, wrong;
    uint64_t count;  // that each group must have
};

static void look_at_groups(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    (void)err;
    struct seen *seen = ctx;
    tide_error failure;
    tide__error_clear(&failure);
    struct state_iter *iter;
    ck_assert_int_eq(
        tide__state_iter_open(seen->table, snapshot, (struct str){"", 0}, (struct str){"", 0}, &iter, &failure),
        TIDE_OK);
    struct str key, value;
    for (; tide__state_iter_next(iter, &key, &value); seen->entries++) {
        uint64_t count;
        memcpy(&count, value.data, sizeof count);
        if (count != seen->count) seen->wrong++;
    }
    ck_assert_int_eq(tide__state_iter_close(iter, &failure), TIDE_OK);
    tide__state_snapshot_release(snapshot);
}

// Groups change while the background thread still encodes those of the barrier, and the barrier after it comes.
START_TEST(a_barrier_has_the_groups_as_they_were) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, tumble, key_k, flat);
    fake_open(&fake);
    struct seen seen[4] = {0};
    tide_error err;
    tide__error_clear(&err);
    for (size_t round = 0; round < 4; round++) {
        push_groups(&fake, 0, GROUPS);
        fake_barrier(&fake);
        seen[round] = (struct seen){tide__state_table_at(fake.store, 0), 0, 0, round + 1};
        ck_assert_int_eq(tide__state_barrier(fake.store, look_at_groups, &seen[round], &err), TIDE_OK);
        if (round == 2) fake_shrink(&fake, SIZE_MAX);
    }
    ck_assert_int_eq(tide__state_sync(fake.store, &err), TIDE_OK);
    for (size_t round = 0; round < 4; round++) {
        ck_assert_uint_eq(seen[round].entries, GROUPS);
        ck_assert_uint_eq(seen[round].wrong, 0);
    }
    fake_deinit(&fake);
}
END_TEST

// Evicted again and again: old groups are read back, new ones are known to be new.
START_TEST(many_groups_come_back) {
    char *out[2];
    for (int evict = 0; evict < 2; evict++) {
        struct fake fake;
        fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
        fake_window_aggregate(&fake, tumble, key_k, flat);
        fake_open(&fake);
        for (size_t round = 0; round < 12; round++) {
            push_groups(&fake, round * GROUPS / 20, GROUPS / 4);
            if (evict) fake_shrink(&fake, SIZE_MAX);
            if (evict && round == 7) fake_reload(&fake);
        }
        fake_watermark(&fake, WATERMARK_END);
        out[evict] = fake.out.text.data;
        fake.out.text = (struct strbuf){0};
        fake_deinit(&fake);
    }
    ck_assert_uint_gt(strlen(out[0]), 100000);
    ck_assert_int_eq(strcmp(out[0], out[1]), 0);
    free(out[0]);
    free(out[1]);
}
END_TEST

// --- huge groups ----------------------------------------------------------------------------------------------------

// Sets of more than 16 KiB go to the state table in pieces, beside small ones and groups whose keys are longer than others'.
static char *run_huge(struct window window, const int *keys, bool disturbed, bool *out_evicted) {
    enum { HUGE_ROWS = 24000, BATCH = 500 };
    static const struct fake_aggregate aggregates[] = {{"COUNT", FAKE_V, true, -1}, {"SUM", FAKE_V, true, -1},
                                                       {"COUNT", -1, .filter = -1}, {"LISTAGG", FAKE_S, true, -1},
                                                       {"AVG", FAKE_D, true, -1},   {0}};
    static const char *const names[] = {"", "a", "aa", "a\x01", "a\x01\x01", "b"};
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, window, keys, aggregates);
    fake_open(&fake);
    static struct fake_row rows[BATCH];
    uint64_t seed = 7;
    for (int64_t i = 0; i < HUGE_ROWS; i++) {
        // Most rows belong to one group.
        size_t name = next_random(&seed) % 10;
        rows[i % BATCH] = (struct fake_row){.s = names[name < 6 ? name : 1],
                                            .v = (int32_t)(next_random(&seed) % 9000),
                                            .d = (int64_t)(next_random(&seed) % 7000),
                                            .ts = i * 5};
        if (i % BATCH != BATCH - 1) continue;
        fake_push(&fake, rows, BATCH, 100);
        int64_t step = i / BATCH;
        if (disturbed && step % 12 == 8) fake_shrink(&fake, SIZE_MAX);
        if (disturbed && step % 12 == 10) fake_barrier(&fake);
        if (disturbed && step % 24 == 20) fake_reload(&fake);
        fake_watermark(&fake, i * 5 - 20000);
    }
    fake_watermark(&fake, WATERMARK_END);
    struct state_stats stats;
    tide__state_stats(fake.store, &stats);
    *out_evicted = stats.entries > 0;
    char *text = fake.out.text.data;
    fake.out.text = (struct strbuf){0};
    fake_deinit(&fake);
    return text;
}

START_TEST(a_huge_group_may_be_in_pieces) {
    static const int key_s[] = {FAKE_S, -1};
    const struct window *const windows[] = {&tumble, &hop, &cumulate};
    const int *keys = _i % 2 ? key_s : no_keys;
    bool evicted;
    char *expected = run_huge(*windows[_i / 2], keys, false, &evicted);
    ck_assert(!evicted && strlen(expected) > 50);
    char *got = run_huge(*windows[_i / 2], keys, true, &evicted);
    ck_assert(evicted);
    ck_assert_str_eq(got, expected);
    free(got);
    free(expected);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("window_aggregate");
    TCase *windows = tcase_create("windows");
    tcase_add_test(windows, tumble_fires_in_window_and_key_order);
    tcase_add_test(windows, hop_row_counts_in_the_windows_that_have_not_fired);
    tcase_add_test(windows, cumulate_keeps_a_running_total);
    tcase_add_test(windows, running_window_forgets_groups_and_takes_them_up_again);
    tcase_add_test(windows, trigger_is_never_later_than_the_next_change);
    tcase_add_loop_test(windows, windows_are_those_of_the_model, 0, 8);
    suite_add_tcase(suite, windows);
    TCase *cuts = tcase_create("cuts");
    tcase_set_timeout(cuts, 120);
    int count = (int)(sizeof shapes / sizeof shapes[0]);
    tcase_add_loop_test(cuts, cuts_do_not_show_when_combinable, 0, count);
    tcase_add_loop_test(cuts, cuts_do_not_show_when_sequential, 0, count);
    tcase_add_loop_test(cuts, cuts_do_not_show_in_a_running_window, 0, count);
    tcase_add_loop_test(cuts, cuts_do_not_show_on_rocksdb, 0, count);
    tcase_add_test(cuts, a_barrier_has_the_groups_as_they_were);
    tcase_add_test(cuts, many_groups_come_back);
    tcase_add_loop_test(cuts, a_huge_group_may_be_in_pieces, 0, 6);
    suite_add_tcase(suite, cuts);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
