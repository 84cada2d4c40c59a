// OVER against frames computed anew for each row, for every batch size, barrier and restore.
#include "any_driver.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/operators/over.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { KEY, VALUE, ID, TIME, COLUMNS, ROWS = 200 };

struct scenario {
    bool keyed, rows, proctime, batch_mode, unsorted, lag;
    int64_t preceding;
};

struct event {
    bool is_watermark;
    int64_t watermark;
    struct any_row row;
    size_t turn;  // the event that gives the row its turn
    int life;     // of its partition, which may be forgotten and begin anew
};

static size_t make_events(uint64_t seed, struct event *events) {
    uint64_t random = seed;
    size_t count = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        if (any_random(&random) % 6 == 0)
            events[count++] = (struct event){.is_watermark = true, .watermark = i * 10 - 40};
        struct event *event = &events[count++];
        *event = (struct event){0};
        event->row.values[KEY] = (struct any_value){any_random(&random) % 7 == 0, any_random(&random) % 3, NULL};
        event->row.values[VALUE] = (struct any_value){any_random(&random) % 5 == 0,
                                                      (int64_t)(any_random(&random) % 50) - 10, NULL};
        event->row.values[ID].i64 = i;
        // Often equal, sometimes late.
        event->row.values[TIME].i64 = tide__time_floor(i * 10 - (int64_t)(any_random(&random) % 70), 0, 20);
    }
    events[count++] = (struct event){.is_watermark = true, .watermark = WATERMARK_END};
    return count;
}

static void add_aggregate(struct over_call *call, const char *name, const struct type *type) {
    *call = (struct over_call){.kind = OVER_CALL_AGGREGATE, .type = type, .name = name};
    call->aggregate = (struct aggregate_call){.aggregate = tide__aggregate_find(tide__str(name)),
                                              .type = type,
                                              .name = name,
                                              .arg_count = 1,
                                              .args = {VALUE},
                                              .arg_types = {type},
                                              .filter = -1};
    call->aggregate.parameter.is_null = true;
    ck_assert(call->aggregate.aggregate != NULL);
}

static void make_driver(struct any_driver *driver, const struct scenario *s) {
    any_driver_init(driver, &tide__over_class);
    struct type number = tide__type_make(TYPE_BIGINT, true), time = tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0);
    time.time_attribute = s->proctime     ? TIME_ATTRIBUTE_PROCTIME
                          : s->batch_mode ? TIME_ATTRIBUTE_NONE
                                          : TIME_ATTRIBUTE_ROWTIME;
    const char *names[] = {"k", "v", "id", "ts", "sum", "max", "n", "rn", "rk", "dr", "lag", "lag0"};
    struct type types[] = {number, number, number, time,   number, number,
                           number, number, number, number, number, number};
    any_driver_input(driver, 0, names, types, COLUMNS);
    any_driver_output(driver, names, types, COLUMNS + 6 + (s->lag ? 2 : 0));
    driver->plan.settings.batch_mode = s->batch_mode;
    struct plan_over *plan = &driver->node->over;
    plan->partition_count = s->keyed;
    plan->partitions = ARENA_ARRAY(&driver->arena, uint32_t, 1);
    plan->partitions[0] = KEY;
    plan->sort_count = !s->unsorted;
    plan->sorts = ARENA_ARRAY(&driver->arena, struct sort_key, 1);
    plan->sorts[0] = (struct sort_key){TIME, false, false};
    plan->rows = s->rows;
    plan->preceding = s->preceding;
    const struct type *type = driver->inputs[0]->fields[VALUE].type;
    plan->calls = ARENA_ARRAY(&driver->arena, struct over_call, 8);
    plan->call_count = 6 + (s->lag ? 2 : 0);
    add_aggregate(&plan->calls[0], "SUM", type);
    add_aggregate(&plan->calls[1], "MAX", type);
    add_aggregate(&plan->calls[2], "COUNT", type);
    plan->calls[3] = (struct over_call){.kind = OVER_CALL_ROW_NUMBER, .type = type};
    plan->calls[4] = (struct over_call){.kind = OVER_CALL_RANK, .type = type};
    plan->calls[5] = (struct over_call){.kind = OVER_CALL_DENSE_RANK, .type = type};
    plan->calls[6] = (struct over_call){
        .kind = OVER_CALL_LAG, .type = type, .column = VALUE, .offset = 3, .fallback = {.i64 = -99}};
    plan->calls[7] = (struct over_call){.kind = OVER_CALL_LAG, .type = type, .column = VALUE, .offset = 0};
}

// --- what should come out ---------------------------------------------------------------------------------------------

static int compare_value(const struct any_value *a, const struct any_value *b) {
    if (a->is_null || b->is_null) return b->is_null - a->is_null;
    return (a->i64 > b->i64) - (a->i64 < b->i64);
}

static const struct scenario *sort_scenario;

static int compare_turns(const void *left, const void *right) {
    const struct any_value *a = (*(const struct event *const *)left)->row.values;
    const struct any_value *b = (*(const struct event *const *)right)->row.values;
    const struct event *x = *(const struct event *const *)left, *y = *(const struct event *const *)right;
    int c = (x->turn > y->turn) - (x->turn < y->turn);
    if (c != 0) return c;
    if (sort_scenario->batch_mode && sort_scenario->keyed) c = compare_value(&a[KEY], &b[KEY]);
    if (c == 0 && !sort_scenario->proctime && !sort_scenario->unsorted) c = compare_value(&a[TIME], &b[TIME]);
    return c != 0 ? c : compare_value(&a[ID], &b[ID]);
}

static bool are_peers(const struct scenario *s, const struct event *a, const struct event *b) {
    if (s->proctime) return a == b;
    return s->unsorted || a->row.values[TIME].i64 == b->row.values[TIME].i64;
}

// The aggregates over the frame of partition row `at`, of `count` rows.
static void frame_of(const struct scenario *s, const struct event **rows, size_t count, size_t at,
                     struct any_value *out) {
    int64_t sum = 0, max = INT64_MIN, n = 0;
    for (size_t i = 0; i < count; i++) {
        bool in = i <= at;
        if (!s->rows && !s->proctime) in = i <= at || are_peers(s, rows[i], rows[at]);
        if (s->preceding >= 0 && s->rows) in = in && (int64_t)(at - i) <= s->preceding;
        if (s->preceding >= 0 && !s->rows)
            in = in && rows[at]->row.values[TIME].i64 - rows[i]->row.values[TIME].i64 <= s->preceding;
        const struct any_value *value = &rows[i]->row.values[VALUE];
        if (!in || value->is_null) continue;
        sum += value->i64;
        n++;
        if (value->i64 > max) max = value->i64;
    }
    out[0] = (struct any_value){n == 0, sum, NULL};
    out[1] = (struct any_value){n == 0, max, NULL};
    out[2] = (struct any_value){.i64 = n};
}

static bool same_partition(const struct scenario *s, const struct event *a, const struct event *b) {
    return !s->keyed || compare_value(&a->row.values[KEY], &b->row.values[KEY]) == 0;
}

// Bounded frames along time, as over_late.c says it. `rows` are those before that were taken.
static bool is_late(const struct scenario *s, const struct event **rows, size_t row_count, struct event *event,
                    size_t at, int64_t watermark) {
    int64_t time = event->row.values[TIME].i64, forgotten_at = INT64_MIN;
    bool waits = false;  // then the watermark has not moved since it came
    if (s->preceding < 0) return time <= watermark;
    for (size_t i = 0; i < row_count; i++) {
        if (!same_partition(s, rows[i], event) || s->rows) continue;
        if (rows[i]->life != event->life) event->life = rows[i]->life, forgotten_at = INT64_MIN;
        waits |= rows[i]->turn > at;
        int64_t reach = rows[i]->row.values[TIME].i64 + s->preceding + 1;
        if (forgotten_at < reach) forgotten_at = reach + (int64_t)((double)s->preceding * 1.5) - s->preceding;
    }
    if (forgotten_at != INT64_MIN && forgotten_at <= watermark && !waits) event->life++;
    for (size_t i = 0; i < row_count; i++) {
        bool had_turn = rows[i]->turn < at && rows[i]->life == event->life && same_partition(s, rows[i], event);
        if (had_turn && rows[i]->row.values[TIME].i64 >= time) return true;
    }
    return false;
}

// The first watermark behind the row that reaches it.
static size_t turn_of(const struct event *events, size_t count, size_t at) {
    size_t turn = at + 1;
    while (turn < count && (!events[turn].is_watermark || events[turn].watermark < events[at].row.values[TIME].i64))
        turn++;
    return turn;
}

static uint64_t expect(const struct scenario *s, struct event *events, size_t count, struct strbuf *out) {
    const struct event *rows[ROWS], *partition[ROWS];
    size_t row_count = 0;
    uint64_t late = 0;
    int64_t watermark = WATERMARK_NONE;
    for (size_t i = 0; i < count; i++) {
        if (events[i].is_watermark) {
            watermark = events[i].watermark > watermark ? events[i].watermark : watermark;
            continue;
        }
        bool along_time = !s->proctime && !s->batch_mode;
        events[i].turn = along_time ? turn_of(events, count, i) : 0;
        events[i].life = 0;
        if (along_time && is_late(s, rows, row_count, &events[i], i, watermark))
            late++;
        else
            rows[row_count++] = &events[i];
    }
    sort_scenario = s;
    qsort(rows, row_count, sizeof *rows, compare_turns);
    for (size_t i = 0; i < row_count; i++) {
        size_t n = 0, at = 0;
        int64_t rank = 1, dense = 1;
        for (size_t j = 0; j < row_count; j++) {
            if (!same_partition(s, rows[i], rows[j]) || rows[i]->life != rows[j]->life) continue;
            if (j == i) at = n;
            partition[n++] = rows[j];
        }
        for (size_t j = 1; j <= at; j++) {
            if (are_peers(s, partition[j - 1], partition[j])) continue;
            rank = (int64_t)j + 1;
            dense++;
        }
        if (!s->rows && !s->proctime && !s->batch_mode) {  // as Flink: the rows up to the last peer
            size_t last = at;
            while (last + 1 < n && are_peers(s, partition[last + 1], partition[at])) last++;
            rank = dense = (int64_t)last + 1;
        }
        struct any_row line = rows[i]->row;
        int64_t numbers[3] = {(int64_t)at + 1, rank, dense};
        struct any_value tail[8] = {{0}};
        frame_of(s, partition, n, at, tail);
        for (int k = 0; k < 3; k++) tail[3 + k].i64 = numbers[k];
        tail[6] = at >= 3 ? partition[at - 3]->row.values[VALUE] : (struct any_value){.i64 = -99};
        tail[7] = rows[i]->row.values[VALUE];
        struct any_row rest = {0};
        memcpy(rest.values, tail, sizeof tail);
        any_row_print(&line, COLUMNS, ROW_INSERT, out);
        struct strbuf end = {0};
        any_row_print(&rest, s->lag ? 8 : 6, ROW_INSERT, &end);
        out->len--;
        tide__strbuf_append(out, end.data + 2, end.len - 2);
        tide__strbuf_deinit(&end);
    }
    return late;
}

static void run(const struct scenario *scenario, const struct event *events, size_t count, size_t batch_rows,
                size_t barrier, const char *expected, uint64_t late) {
    struct any_driver driver;
    make_driver(&driver, scenario);
    driver.batch_rows_max = batch_rows;
    any_driver_open(&driver);
    for (size_t i = 0, since = 0; i < count;) {
        struct arena arena;
        tide__arena_init(&arena);
        struct any_row rows[16];
        size_t n = 0;
        while (i + n < count && n < batch_rows && n < 16 && !events[i + n].is_watermark) {
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
        tide__arena_deinit(&arena);
        if (barrier == 0 || since < barrier) continue;
        since = 0;
        any_driver_barrier(&driver, true);
    }
    ck_assert_str_eq(driver.out.text.data == NULL ? "" : driver.out.text.data, expected);
    ck_assert_uint_eq(driver.op->stats.late_rows + driver.late_before, late);
    any_driver_deinit(&driver);
}

static const struct scenario scenarios[] = {
    {.keyed = true, .rows = true, .preceding = -1, .lag = true},
    {.keyed = true, .preceding = -1},
    {.preceding = -1, .lag = true},
    {.keyed = true, .rows = true, .preceding = 2, .lag = true},
    {.keyed = true, .rows = true, .preceding = 0},
    {.rows = true, .preceding = 7},
    {.keyed = true, .preceding = 40, .lag = true},
    {.preceding = 0},
    {.keyed = true, .rows = true, .preceding = 2, .proctime = true, .lag = true},
    {.preceding = -1, .proctime = true},
    {.keyed = true, .preceding = -1, .batch_mode = true, .lag = true},
    {.keyed = true, .preceding = 40, .batch_mode = true},
    {.preceding = -1, .batch_mode = true, .unsorted = true},
    {.keyed = true, .preceding = -1, .batch_mode = true, .unsorted = true},
};

START_TEST(computes_frames) {
    const struct scenario *scenario = &scenarios[_i];
    for (uint64_t seed = 1; seed <= 2; seed++) {
        static struct event events[2 * ROWS + 1];
        size_t count = make_events(seed, events);
        struct strbuf expected = {0};
        uint64_t late = expect(scenario, events, count, &expected);
        run(scenario, events, count, 1024, 0, expected.data, late);
        run(scenario, events, count, 1, 1, expected.data, late);
        run(scenario, events, count, 5, 13, expected.data, late);
        tide__strbuf_deinit(&expected);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("over");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, computes_frames, 0, sizeof scenarios / sizeof scenarios[0]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
