// A window aggregate that knows of the Top-N above it leaves groups out; the Top-N's rows must not change. Each case runs
// with and without that knowledge: sort columns of every physical form, NULLs, NaN, ties, ranges of ranks, kinds of
// windows, and state that was sealed, evicted or restored in between.
#include "fake_driver.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_MS 60000

enum { ROWS = 500, KEYS = 60 };

static const struct window windows[] = {
    {.kind = WINDOW_TUMBLE, .size_ms = 20 * MIN_MS, .slide_ms = 20 * MIN_MS},
    {.kind = WINDOW_HOP, .size_ms = 15 * MIN_MS, .slide_ms = 3 * MIN_MS},
    {.kind = WINDOW_CUMULATE, .size_ms = 20 * MIN_MS, .slide_ms = 5 * MIN_MS},
};

static const int keys[] = {FAKE_K, FAKE_B, -1};
enum { KEY_COUNT = 2 };

// The first list has inverses (a HOP keeps a running window), the second combines, the third does not.
static const struct fake_aggregate invertible[] = {{"COUNT", -1, .filter = -1},
                                                   {"SUM", FAKE_V, .filter = FAKE_B},
                                                   {"SUM", FAKE_D, .filter = -1},
                                                   {"AVG", FAKE_D, .filter = -1},
                                                   {0}};
static const struct fake_aggregate combinable[] = {{"COUNT", FAKE_S, .distinct = true, .filter = -1},
                                                   {"MAX", FAKE_S, .filter = -1},
                                                   {"MIN", FAKE_WIDE, .filter = -1},
                                                   {"MAX", FAKE_T6, .filter = -1},
                                                   {"MIN", FAKE_B, .filter = -1},
                                                   {0}};
static const struct fake_aggregate sequential[] = {
    {"SUM", FAKE_W, .filter = -1}, {"MAX", FAKE_F, .filter = -1}, {"MIN", FAKE_W, .filter = -1}, {0}};
static const struct fake_aggregate *const lists[] = {invertible, combinable, sequential};
static const uint32_t list_sizes[] = {4, 5, 3};

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return *seed >> 33;
}

static void make_rows(struct fake_row *rows, uint64_t seed) {
    static const char *const words[] = {"a", "bb", "", "a\tb", "same first eight bytes 1", "same first eight bytes 2"};
    const double doubles[] = {0.5, -0.0, 0.0, 1e300, -1e300, INFINITY, -INFINITY, NAN, 2};
    for (size_t i = 0; i < ROWS; i++) {
        struct fake_row *row = &rows[i];
        // Few groups have many rows; ties abound.
        *row = (struct fake_row){.k = (int64_t)(next_random(&seed) % KEYS * next_random(&seed) % KEYS)};
        row->v = (int32_t)(next_random(&seed) % 7) - 3;
        row->s = words[next_random(&seed) % 6];
        row->w = doubles[next_random(&seed) % 9];
        row->d = (int64_t)next_random(&seed) % 500 - 250;
        row->wide = (int128)((int64_t)next_random(&seed) - (1 << 30)) * 10000000000LL * 10000000000LL;
        row->b = next_random(&seed) & 1;
        row->ts = (int64_t)i * 8000 + (int64_t)(next_random(&seed) % 90000);
        row->nulls = (uint32_t)next_random(&seed) & (uint32_t)next_random(&seed) & 0xFFF;
        row->nulls &= ~(1u << FAKE_TS | 1u << FAKE_START | 1u << FAKE_END);
    }
}

enum cut { CUT_NONE, CUT_BARRIER, CUT_MIXED };

// The Top-N's rows, and in *out_between how many groups reached it.
static char *run(const struct fake *plan, const struct fake_row *rows, enum cut cut, bool knows, size_t *out_between) {
    struct fake fake = *plan;
    tide__arena_init(&fake.arena);
    struct plan_node *nodes[] = {&fake.node, fake.top};
    struct plan_node *inputs[] = {&fake.node};
    fake.top->inputs = inputs;
    fake.plan = (struct plan){.arena = &fake.arena, .node_count = knows ? 2 : 0, .nodes = nodes};
    fake_open(&fake);
    for (int i = 0; i < ROWS; i++) {
        fake_push(&fake, &rows[i], 1, 1);
        if (i % 5 == 0) fake_watermark(&fake, (int64_t)i * 8000 - 60000);
        if (cut == CUT_NONE) continue;
        if (i % 40 == 7) fake_barrier(&fake);
        if (cut == CUT_MIXED && i % 60 == 31) fake_shrink(&fake, 1);
        if (cut == CUT_MIXED && i % 110 == 54) fake_reload(&fake);
    }
    fake_watermark(&fake, WATERMARK_END);
    fake_close(&fake);
    tide__arena_deinit(&fake.arena);
    *out_between = fake.between.rows;
    return fake.out.text.data;
}

static void compare(const struct fake *plan, const struct fake_row *rows, bool must_drop) {
    for (int cut = CUT_NONE; cut <= CUT_MIXED; cut++) {
        size_t all, some;
        char *expected = run(plan, rows, (enum cut)cut, false, &all);
        char *got = run(plan, rows, (enum cut)cut, true, &some);
        ck_assert_uint_gt(strlen(expected), 100);
        ck_assert_str_eq(got, expected);
        ck_assert_uint_le(some, all);
        if (must_drop) ck_assert_uint_lt(some, all);
        free(expected);
        free(got);
    }
}

static const int64_t ranges[][2] = {{1, 1}, {2, 4}, {1, 25}};

// Every aggregate as the first sort column, in each direction.
static void compare_all(struct window window, size_t list) {
    static struct fake_row rows[ROWS];
    make_rows(rows, 77);
    for (uint32_t i = 0; i < list_sizes[list] * 4 * 3; i++) {
        struct fake fake;
        fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
        fake_window_aggregate(&fake, window, keys, lists[list]);
        struct sort_key sorts[] = {{KEY_COUNT + i / 12, (i & 1) != 0, (i & 2) != 0},
                                   {KEY_COUNT + (i / 12 + 1) % list_sizes[list], true, true}};
        const int64_t *range = ranges[i / 4 % 3];
        fake_top(&fake, sorts, 2, range[0], range[1]);
        compare(&fake, rows, list == 0 && i / 12 == 2 && range[1] == 1);
        fake_deinit(&fake);
    }
}

START_TEST(top_is_the_same) {
    compare_all(windows[_i / 3], (size_t)_i % 3);
}
END_TEST

// Plans in which all groups have to reach the Top-N.
START_TEST(groups_are_kept_if_the_top_is_another) {
    static struct fake_row rows[ROWS];
    make_rows(rows, 5);
    struct sort_key sorts[] = {{KEY_COUNT + 2, true, true}};
    struct sort_key by_key[] = {{0, true, true}};
    uint32_t partitions[] = {1};
    for (int i = 0; i < 4; i++) {
        struct fake fake;
        fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
        fake_window_aggregate(&fake, windows[0], keys, invertible);
        fake_top(&fake, i == 0 ? by_key : sorts, 1, 1, i == 1 ? 5000 : 2);
        struct plan_window_rank *rank = &fake.top->window_rank;
        if (i == 2) rank->partitions = partitions, rank->partition_count = 1;
        if (i == 3) rank->above_aggregate = false;
        size_t all, some;
        char *expected = run(&fake, rows, CUT_NONE, false, &all), *got = run(&fake, rows, CUT_NONE, true, &some);
        ck_assert_str_eq(got, expected);
        ck_assert_uint_eq(some, all);
        free(expected);
        free(got);
        fake_deinit(&fake);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("window_top");
    TCase *top = tcase_create("top");
    tcase_set_timeout(top, 120);
    tcase_add_loop_test(top, top_is_the_same, 0, 9);
    tcase_add_test(top, groups_are_kept_if_the_top_is_another);
    suite_add_tcase(suite, top);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
