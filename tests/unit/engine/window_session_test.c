// SESSION windows, aggregated and as a table function, and the stateless window TVFs.
#include "fake_driver.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t by_k[] = {FAKE_K};
static const int key_k[] = {FAKE_K, -1};
static const int no_keys[] = {-1};
static const struct fake_aggregate aggregates[] = {
    {"COUNT", -1, .filter = -1}, {"SUM", FAKE_V, .filter = -1}, {"LISTAGG", FAKE_S, .filter = -1}, {0}};

static const struct window session = {.kind = WINDOW_SESSION, .size_ms = 1000};
static const struct window keyed = {.kind = WINDOW_SESSION, .size_ms = 1000, .partition_count = 1, .partitions = by_k};

static void expect(struct fake *fake, const char *text) {
    ck_assert_str_eq(fake->out.text.data ? fake->out.text.data : "", text);
    tide__strbuf_clear(&fake->out.text);
}

static struct fake_row at(int64_t ts, int64_t k, const char *s, int v) {
    return (struct fake_row){.k = k, .s = s, .v = v, .ts = ts};
}

START_TEST(a_row_that_meets_the_gap_exactly_joins) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, session, no_keys, aggregates);
    fake_open(&fake);
    struct fake_row rows[] = {at(0, 1, "a", 1), at(1000, 1, "b", 2), at(2001, 1, "c", 3)};
    fake_push(&fake, rows, 3, 3);
    fake_watermark(&fake, 1999);
    expect(&fake, "2|3|a,b|0|2000|1999\n");
    fake_watermark(&fake, WATERMARK_END);
    expect(&fake, "1|3|c|2001|3001|3000\n");
    fake_deinit(&fake);
}
END_TEST

START_TEST(a_row_between_two_sessions_makes_them_one) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, session, no_keys, aggregates);
    fake_open(&fake);
    struct fake_row rows[] = {at(3000, 1, "c", 1), at(1400, 1, "a", 2), at(2200, 1, "b", 4)};
    fake_push(&fake, rows, 3, 3);
    ck_assert_uint_eq(fake.op->stats.windows_open, 1);
    fake_watermark(&fake, 3999);
    expect(&fake, "3|7|c,a,b|1400|4000|3999\n");
    fake_deinit(&fake);
}
END_TEST

START_TEST(a_late_row_counts_when_it_joins_an_open_session) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, keyed, key_k, aggregates);
    fake_open(&fake);
    struct fake_row first = at(5000, 1, "a", 1), joins = at(4000, 1, "b", 2), alone = at(4000, 2, "c", 4);
    fake_push(&fake, &first, 1, 1);
    fake_watermark(&fake, 5500);
    fake_push(&fake, &joins, 1, 1);
    fake_push(&fake, &alone, 1, 1);
    ck_assert_uint_eq(fake.op->stats.late_rows, 1);
    fake_watermark(&fake, WATERMARK_END);
    expect(&fake, "1|2|3|a,b|4000|6000|5999\n");
    fake_deinit(&fake);
}
END_TEST

START_TEST(sessions_leave_in_the_order_of_end_start_key) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, keyed, key_k, aggregates);
    fake_open(&fake);
    struct fake_row rows[] = {at(10, 9, "a", 1), at(10, 3, "b", 1), at(0, 5, "c", 1), at(10, 5, "d", 1)};
    fake_push(&fake, rows, 4, 4);
    fake_watermark(&fake, WATERMARK_END);
    expect(&fake, "5|2|2|c,d|0|1010|1009\n3|1|1|b|10|1010|1009\n9|1|1|a|10|1010|1009\n");
    fake_deinit(&fake);
}
END_TEST

static char *last_columns(struct strbuf *text) {
    // v (third column) and the three window columns of each line.
    struct strbuf out = {0};
    for (char *line = strtok(text->data, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *v = strchr(strchr(line, '|') + 1, '|') + 1, *end = strrchr(line, '|');
        for (int i = 0; i < 2; i++) {
            *end = ' ';
            end = strrchr(line, '|');
        }
        tide__strbuf_printf(&out, "%.*s:%s\n", (int)strcspn(v, "|"), v, end + 1);
    }
    return out.data;
}

static void check_tvf(struct window window, const struct fake_row *rows, size_t count, const char *expected) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_tvf(&fake, window);
    fake_open(&fake);
    fake_push(&fake, rows, count, count);
    fake_watermark(&fake, WATERMARK_END);
    char *got = fake.out.text.len > 0 ? last_columns(&fake.out.text) : strdup("");
    ck_assert_str_eq(got, expected);
    free(got);
    fake_deinit(&fake);
}

START_TEST(tvf_gives_hop_latest_first_and_cumulate_shortest_first) {
    struct fake_row rows[] = {at(-1, 1, "a", 1), at(7, 1, "a", 2)};
    struct window tumble = {.kind = WINDOW_TUMBLE, .size_ms = 10, .slide_ms = 10};
    check_tvf(tumble, rows, 2, "1:-10 0 -1\n2:0 10 9\n");
    struct window hop = {.kind = WINDOW_HOP, .size_ms = 10, .slide_ms = 4};
    check_tvf(hop, rows, 2, "1:-4 6 5\n1:-8 2 1\n2:4 14 13\n2:0 10 9\n");
    struct window sampling = {.kind = WINDOW_HOP, .size_ms = 5, .slide_ms = 10};
    check_tvf(sampling, rows + 1, 1, "");
    struct window cumulate = {.kind = WINDOW_CUMULATE, .size_ms = 10, .slide_ms = 5};
    check_tvf(cumulate, rows, 2, "1:-10 0 -1\n2:0 10 9\n");
    check_tvf(cumulate, (struct fake_row[]){at(1, 1, "a", 3)}, 1, "3:0 5 4\n3:0 10 9\n");
}
END_TEST

START_TEST(session_tvf_keeps_arrival_order) {
    struct fake_row rows[] = {at(3000, 1, "c", 1), at(1400, 1, "a", 2), at(0, 2, "x", 3), at(2200, 1, "b", 4)};
    check_tvf(keyed, rows, 4, "3:0 1000 999\n1:1400 4000 3999\n2:1400 4000 3999\n4:1400 4000 3999\n");
}
END_TEST

// --- cutting everywhere -----------------------------------------------------------------------------------------

enum { ROWS = 100 };

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return *seed >> 33;
}

static void make_rows(struct fake_row *rows) {
    static const char *const words[] = {"a", "bb", "", "a long string that does not fit anywhere", NULL};
    uint64_t seed = 7;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = at((int64_t)i * 300 + (int64_t)(next_random(&seed) % 3000), (int64_t)(next_random(&seed) % 3),
                     words[next_random(&seed) % 5], (int)(next_random(&seed) % 1000));
        rows[i].w = 0.1 * (double)rows[i].v;
    }
}

static char *run(const struct fake *plan, const struct fake_row *rows, bool reload, int cut_at) {
    struct fake fake = *plan;
    tide__arena_init(&fake.arena);  // its own: the plan is shared by all runs
    fake.plan.arena = &fake.arena;
    fake_open(&fake);
    for (int i = 0; i < ROWS; i++) {
        fake_push(&fake, &rows[i], 1, 1);
        if (i % 3 == 0) fake_watermark(&fake, (int64_t)i * 300 - 500);
        if (cut_at != i && cut_at != -1) continue;
        if (reload) {
            fake_reload(&fake);
        } else {
            fake_barrier(&fake);
        }
    }
    fake_watermark(&fake, WATERMARK_END);
    tide__strbuf_printf(&fake.out.text, "late %zu\n", fake.late + fake.op->stats.late_rows);
    fake_close(&fake);
    tide__arena_deinit(&fake.arena);
    return fake.out.text.data;
}

static void check_cuts(const struct fake *fake) {
    struct fake_row rows[ROWS];
    make_rows(rows);
    char *expected = run(fake, rows, false, -2);
    ck_assert_uint_gt(strlen(expected), 300);
    for (int cut_at = -1; cut_at < ROWS; cut_at++) {
        for (int reload = 0; reload < 2; reload++) {
            char *got = run(fake, rows, reload, cut_at);
            ck_assert_str_eq(got, expected);
            free(got);
        }
    }
    free(expected);
}

START_TEST(cuts_do_not_show_in_session_aggregates) {
    static const struct fake_aggregate all[] = {{"COUNT", -1, .filter = -1},
                                                {"AVG", FAKE_W, .filter = -1},
                                                {"MIN", FAKE_S, .filter = -1},
                                                {"LISTAGG", FAKE_S, .filter = -1},
                                                {"COUNT", FAKE_S, .distinct = true, .filter = -1},
                                                {0}};
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_aggregate(&fake, _i ? keyed : session, _i ? key_k : no_keys, all);
    check_cuts(&fake);
    fake_deinit(&fake);
}
END_TEST

START_TEST(cuts_do_not_show_in_session_rows) {
    struct fake fake;
    fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
    fake_window_tvf(&fake, _i ? keyed : session);
    check_cuts(&fake);
    fake_deinit(&fake);
}
END_TEST

// Sessions go to the state table at random times and come back in pieces; memory has room for `room` of them when they do.
static char *run_spilling(const struct fake *plan, const struct fake_row *rows, size_t count, uint64_t seed) {
    struct fake fake = *plan;
    tide__arena_init(&fake.arena);
    fake.plan.arena = &fake.arena;
    fake_open(&fake);
    for (size_t i = 0; i < count; i++) {
        fake_push(&fake, &rows[i], 1, 1);
        if (i % 7 == 0) fake_watermark(&fake, rows[i].start);
        if (seed == 0) continue;
        uint64_t dice = next_random(&seed) % 24;
        if (dice < 4) fake_shrink(&fake, SIZE_MAX);
        if (dice == 4) fake_barrier(&fake);
        if (dice == 5) fake_reload(&fake);
    }
    fake_watermark(&fake, WATERMARK_END);
    tide__strbuf_printf(&fake.out.text, "late %zu\n", fake.late + fake.op->stats.late_rows);
    fake_close(&fake);
    tide__arena_deinit(&fake.arena);
    return fake.out.text.data;
}

START_TEST(sessions_larger_than_memory_are_the_same) {
    static const struct fake_aggregate sums[] = {{"COUNT", -1, .filter = -1},
                                                 {"SUM", FAKE_V, .filter = -1},
                                                 {"MAX", FAKE_S, .filter = -1},
                                                 {"COUNT", FAKE_S, .distinct = true, .filter = -1},
                                                 {0}};
    enum { MANY = 600 };
    static struct fake_row rows[MANY];
    static const char *const words[] = {"a", "bb", "", "ccc", NULL};
    static const size_t rooms[] = {1, 3, 1000};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t next = seed * 77;
        for (size_t i = 0; i < MANY; i++) {
            // Mostly in order, some rows are late; `start` is the watermark.
            int64_t back = (int64_t)(next_random(&next) % (next_random(&next) % 10 == 0 ? 4000 : 700));
            rows[i] = at((int64_t)i * 60 - back, (int64_t)(next_random(&next) % 7), words[next_random(&next) % 5],
                         (int)(next_random(&next) % 1000));
            rows[i].start = (int64_t)i * 60 - 500;
        }
        struct fake fake;
        fake_init(&fake, STATE_BACKEND_MEMORY, NULL);
        fake_window_aggregate(&fake, seed % 4 ? keyed : session, seed % 4 ? key_k : no_keys, sums);
        fake.budget.limit = rooms[seed % 3] * 4 * 320;
        char *expected = run_spilling(&fake, rows, MANY, 0), *got = run_spilling(&fake, rows, MANY, seed);
        ck_assert_msg(strcmp(got, expected) == 0, "seed %d", (int)seed);
        free(expected);
        free(got);
        fake_deinit(&fake);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("window_session");
    TCase *sessions = tcase_create("sessions");
    tcase_add_test(sessions, a_row_that_meets_the_gap_exactly_joins);
    tcase_add_test(sessions, a_row_between_two_sessions_makes_them_one);
    tcase_add_test(sessions, a_late_row_counts_when_it_joins_an_open_session);
    tcase_add_test(sessions, sessions_leave_in_the_order_of_end_start_key);
    suite_add_tcase(suite, sessions);
    TCase *tvf = tcase_create("tvf");
    tcase_add_test(tvf, tvf_gives_hop_latest_first_and_cumulate_shortest_first);
    tcase_add_test(tvf, session_tvf_keeps_arrival_order);
    suite_add_tcase(suite, tvf);
    TCase *cuts = tcase_create("cuts");
    tcase_set_timeout(cuts, 60);
    tcase_add_loop_test(cuts, cuts_do_not_show_in_session_aggregates, 0, 2);
    tcase_add_loop_test(cuts, cuts_do_not_show_in_session_rows, 0, 2);
    tcase_add_test(cuts, sessions_larger_than_memory_are_the_same);
    suite_add_tcase(suite, cuts);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
