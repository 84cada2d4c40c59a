// Window Top-N against a plain sort, cut into batches, checkpoints and restores at every place.
#include "any_driver.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/operators/rank.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { START, END, KEY, SORT, TEXT, ID, COLUMNS };

struct scenario {
    bool partitioned, ties_last, descending, by_text, has_rank, wide;
    int64_t rank_first, rank_last;
};

// A row, or a watermark if `is_watermark`.
struct event {
    bool is_watermark;
    int64_t watermark;
    struct any_row row;
};

static const char *const texts[] = {
    "", "a", "aa", "b", "long text with more than eight bytes 1", "long text with more than eight bytes 2"};

static size_t make_events(uint64_t seed, struct event *events, size_t rows) {
    uint64_t random = seed;
    int64_t watermark = WATERMARK_NONE;
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (any_random(&random) % 7 == 0) {
            int64_t next = (int64_t)i * 10 - (int64_t)(any_random(&random) % 60);
            if (next > watermark) {
                watermark = next;
                events[count++] = (struct event){.is_watermark = true, .watermark = next};
            }
        }
        int64_t time = (int64_t)i * 10 - (int64_t)(any_random(&random) % 100);
        int64_t start = tide__time_floor(time, 0, 100);
        struct event *event = &events[count++];
        *event = (struct event){0};
        event->row.values[START].i64 = start;
        event->row.values[END].i64 = start + (any_random(&random) % 5 == 0 ? 200 : 100);
        event->row.values[KEY] = (struct any_value){any_random(&random) % 6 == 0, any_random(&random) % 3, NULL};
        event->row.values[SORT] = (struct any_value){any_random(&random) % 9 == 0, any_random(&random) % 5, NULL};
        event->row.values[TEXT].text = texts[any_random(&random) % 6];
        event->row.values[ID].i64 = (int64_t)i;
    }
    events[count++] = (struct event){.is_watermark = true, .watermark = WATERMARK_END};
    return count;
}

static void make_driver(struct any_driver *driver, const struct scenario *scenario) {
    any_driver_init(driver, &tide__window_rank_class);
    struct type time = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0);
    struct type number = tide__type_make(TYPE_BIGINT, true);
    struct type wide = scenario->wide ? tide__type_make_sized(TYPE_DECIMAL, true, 38, 0) : number;
    struct type text = tide__type_make_sized(TYPE_VARCHAR, true, TYPE_STRING_LENGTH, 0);
    const char *names[] = {"window_start", "window_end", "k", "s", "t", "id", "rn"};
    struct type types[] = {time, time, number, wide, text, number, tide__type_make(TYPE_BIGINT, false)};
    any_driver_input(driver, 0, names, types, COLUMNS);
    any_driver_output(driver, names, types, scenario->has_rank ? COLUMNS + 1 : COLUMNS);
    struct plan_window_rank *plan = &driver->node->window_rank;
    plan->start_column = START;
    plan->end_column = END;
    plan->partition_count = scenario->partitioned;
    plan->partitions = ARENA_ARRAY(&driver->arena, uint32_t, 1);
    plan->partitions[0] = KEY;
    plan->sorts = ARENA_ARRAY(&driver->arena, struct sort_key, 2);
    plan->sort_count = scenario->by_text ? 2 : 1;
    plan->sorts[0] = (struct sort_key){scenario->by_text ? TEXT : SORT, scenario->descending, scenario->descending};
    plan->sorts[1] = (struct sort_key){SORT, !scenario->descending, scenario->descending};
    plan->ties = scenario->ties_last ? TIE_LAST_ARRIVED : TIE_FIRST_ARRIVED;
    plan->rank_first = scenario->rank_first;
    plan->rank_last = scenario->rank_last;
    plan->has_rank = scenario->has_rank;
}

// --- what should come out ---------------------------------------------------------------------------------------------

static int compare_value(const struct any_value *a, const struct any_value *b, bool descending, bool nulls_last) {
    if (a->is_null || b->is_null) return (a->is_null - b->is_null) * (nulls_last ? 1 : -1);
    int c = a->text != NULL ? strcmp(a->text, b->text) : (a->i64 > b->i64) - (a->i64 < b->i64);
    return descending ? -c : c;
}

static const struct scenario *sort_scenario;

static int compare_rows(const void *left, const void *right) {
    const struct any_value *a = (*(const struct event *const *)left)->row.values;
    const struct any_value *b = (*(const struct event *const *)right)->row.values;
    const struct scenario *s = sort_scenario;
    int c = compare_value(&a[END], &b[END], false, false);
    if (c == 0) c = compare_value(&a[START], &b[START], false, false);
    if (c == 0 && s->partitioned) c = compare_value(&a[KEY], &b[KEY], false, false);
    if (c == 0 && s->by_text) c = compare_value(&a[TEXT], &b[TEXT], s->descending, s->descending);
    bool second = s->by_text;
    if (c == 0) c = compare_value(&a[SORT], &b[SORT], second ? !s->descending : s->descending, s->descending);
    if (c == 0) c = compare_value(&a[ID], &b[ID], s->ties_last, false);
    return c;
}

static bool same_partition(const struct event *a, const struct event *b, bool partitioned) {
    const struct any_value *x = a->row.values, *y = b->row.values;
    if (x[START].i64 != y[START].i64 || x[END].i64 != y[END].i64) return false;
    return !partitioned || compare_value(&x[KEY], &y[KEY], false, false) == 0;
}

static void print_row(const struct scenario *scenario, const struct event *event, int64_t rank, struct strbuf *out) {
    tide__strbuf_append_c(out, "+I");
    for (int c = 0; c < COLUMNS; c++) {
        const struct any_value *value = &event->row.values[c];
        if (value->is_null) {
            tide__strbuf_append_c(out, " NULL");
        } else if (c == TEXT) {
            tide__strbuf_printf(out, " %s", value->text);
        } else {
            tide__strbuf_printf(out, " %lld", (long long)value->i64);
        }
    }
    if (scenario->has_rank) tide__strbuf_printf(out, " %lld", (long long)rank);
    tide__strbuf_append_char(out, '\n');
}

static uint64_t expect(const struct scenario *scenario, const struct event *events, size_t count, struct strbuf *out) {
    const struct event **kept = tide__alloc(count * sizeof *kept);
    size_t kept_count = 0;
    uint64_t late = 0;
    int64_t watermark = WATERMARK_NONE;
    for (size_t i = 0; i < count; i++) {
        if (events[i].is_watermark) {
            watermark = events[i].watermark;
        } else if (events[i].row.values[END].i64 - 1 <= watermark) {
            late++;
        } else {
            kept[kept_count++] = &events[i];
        }
    }
    sort_scenario = scenario;
    qsort(kept, kept_count, sizeof *kept, compare_rows);
    int64_t rank = 0;
    for (size_t i = 0; i < kept_count; i++) {
        rank = i > 0 && same_partition(kept[i - 1], kept[i], scenario->partitioned) ? rank + 1 : 1;
        if (rank >= scenario->rank_first && rank <= scenario->rank_last) print_row(scenario, kept[i], rank, out);
    }
    tide__free(kept);
    return late;
}

// --- runs -----------------------------------------------------------------------------------------------------------------

// What comes after every so many events; 0: never.
struct interruptions {
    size_t barrier, shrink;
    bool restore;   // the barriers put the operator away
    size_t budget;  // bytes; 0: no limit
};

// Rows go in batches of at most `batch_rows`.
static void run(const struct scenario *scenario, const struct event *events, size_t count, size_t batch_rows,
                struct interruptions at, const struct strbuf *expected, uint64_t late) {
    struct any_driver driver;
    make_driver(&driver, scenario);
    driver.batch_rows_max = batch_rows;
    if (at.budget > 0) driver.budget.limit = at.budget;
    any_driver_open(&driver);
    struct any_row *rows = tide__alloc(batch_rows * sizeof *rows);
    for (size_t i = 0, since = 0, shrunk = 0; i < count;) {
        struct arena arena;
        tide__arena_init(&arena);
        size_t n = 0;
        while (i + n < count && n < batch_rows && !events[i + n].is_watermark) {
            rows[n] = events[i + n].row;
            n++;
        }
        if (n > 0) {
            struct batch batch = any_batch(driver.inputs[0], rows, n, &arena);
            any_driver_batch(&driver, 0, &batch);
        } else {
            any_driver_watermark(&driver, events[i].watermark);
            n = 1;
        }
        i += n;
        since += n;
        shrunk += n;
        tide__arena_deinit(&arena);
        if (at.shrink > 0 && shrunk >= at.shrink) {
            any_driver_shrink(&driver, shrunk % 2 == 0 ? 1 : SIZE_MAX);
            shrunk = 0;
        }
        if (at.barrier == 0 || since < at.barrier) continue;
        since = 0;
        any_driver_barrier(&driver, at.restore);
    }
    ck_assert_str_eq(driver.out.text.data == NULL ? "" : driver.out.text.data,
                     expected->data == NULL ? "" : expected->data);
    ck_assert_uint_eq(driver.op->stats.late_rows + driver.late_before, late);
    any_driver_barrier(&driver, false);
    ck_assert_uint_eq(any_driver_entries(&driver), 0);
    tide__free(rows);
    any_driver_deinit(&driver);
}

static const struct scenario scenarios[] = {
    {.rank_first = 1, .rank_last = 3, .has_rank = true},
    {.rank_first = 2, .rank_last = 4, .has_rank = true, .descending = true},
    {.rank_first = 1, .rank_last = 1, .ties_last = true, .descending = true, .partitioned = true},
    {.rank_first = 1, .rank_last = 2, .partitioned = true, .by_text = true, .has_rank = true},
    {.rank_first = 3, .rank_last = 3, .by_text = true, .descending = true, .has_rank = true},
    {.rank_first = 1, .rank_last = 1000000, .partitioned = true, .has_rank = true, .wide = true},
    {.rank_first = 1, .rank_last = 5, .ties_last = true, .wide = true},
};

START_TEST(ranks_rows_as_a_sort_does) {
    enum { ROWS = 220 };
    struct event *events = tide__alloc((2 * ROWS + 1) * sizeof *events);
    const struct scenario *scenario = &scenarios[_i];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        size_t count = make_events(seed, events, ROWS);
        struct strbuf expected = {0};
        uint64_t late = expect(scenario, events, count, &expected);
        ck_assert(late > 0 && expected.len > 0);
        run(scenario, events, count, 1024, (struct interruptions){0}, &expected, late);
        run(scenario, events, count, 1, (struct interruptions){0}, &expected, late);
        run(scenario, events, count, 7, (struct interruptions){.barrier = 1}, &expected, late);
        run(scenario, events, count, 1, (struct interruptions){.barrier = 1, .restore = true}, &expected, late);
        run(scenario, events, count, 7, (struct interruptions){.barrier = 20, .restore = true}, &expected, late);
        run(scenario, events, count, 1, (struct interruptions){.shrink = 1}, &expected, late);
        run(scenario, events, count, 3, (struct interruptions){.shrink = 9, .barrier = 7}, &expected, late);
        run(scenario, events, count, 1, (struct interruptions){.shrink = 5, .barrier = 11, .restore = true}, &expected,
            late);
        run(scenario, events, count, 7, (struct interruptions){.barrier = 20, .restore = true, .budget = 1}, &expected,
            late);
        tide__strbuf_deinit(&expected);
    }
    tide__free(events);
}
END_TEST

// What the main benchmark does: finals of 60 windows, one partition. TIDE_BENCH=1 prints nanoseconds a row.
START_TEST(turns_rows_away_cheaply) {
    struct scenario scenario = {.rank_first = 1, .rank_last = 3, .has_rank = true, .descending = true};
    struct any_driver driver;
    make_driver(&driver, &scenario);
    driver.node->window_rank.above_aggregate = true;
    driver.out.silent = true;
    any_driver_open(&driver);
    enum { BATCH = 1024, BATCHES = 56, WINDOWS = 60 };
    struct any_row *rows = tide__calloc(BATCH, sizeof *rows);
    struct arena arena;
    tide__arena_init(&arena);
    uint64_t random = 1;
    for (size_t i = 0; i < BATCH; i++) {
        rows[i].values[SORT].i64 = any_random(&random);
        rows[i].values[TEXT].text = "x";
    }
    struct batch batch = any_batch(driver.inputs[0], rows, BATCH, &arena);
    for (uint32_t c = 0; c < batch.column_count; c++) batch.columns[c].nulls = NULL;
    clock_t begin = clock();
    for (int64_t window = 0; window < WINDOWS; window++) {
        for (size_t i = 0; i < BATCH; i++) {
            batch.columns[START].i64[i] = window * 60;
            batch.columns[END].i64[i] = window * 60 + 60;
        }
        for (int b = 0; b < BATCHES; b++) any_driver_batch(&driver, 0, &batch);
        any_driver_watermark(&driver, window * 60 + 59);
    }
    double ns = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / (BATCH * BATCHES * WINDOWS);
    if (getenv("TIDE_BENCH") != NULL) fprintf(stderr, "window rank: %.2f ns a row\n", ns);
    ck_assert_uint_eq(driver.out.rows, 3 * WINDOWS);
    tide__arena_deinit(&arena);
    tide__free(rows);
    any_driver_deinit(&driver);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("window_rank");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, ranks_rows_as_a_sort_does, 0, sizeof scenarios / sizeof scenarios[0]);
    tcase_add_test(tcase, turns_rows_away_cheaply);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
