// Window joins against a nested loop, with and without a residual condition, in all kinds.
#include "any_driver.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/expr/eval.h"
#include "engine/operators/join.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { START, END, KEY, VALUE, ID, COLUMNS };

struct scenario {
    enum join_kind kind;
    bool keyed, conditional;  // the condition: left VALUE < right VALUE
};

struct event {
    int side;  // -1: a watermark
    int64_t watermark;
    struct any_row row;
};

static size_t make_events(uint64_t seed, struct event *events, size_t rows) {
    uint64_t random = seed;
    int64_t watermark = WATERMARK_NONE;
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (any_random(&random) % 9 == 0) {
            int64_t next = (int64_t)i * 10 - (int64_t)(any_random(&random) % 60);
            if (next > watermark) {
                watermark = next;
                events[count++] = (struct event){.side = -1, .watermark = next};
            }
        }
        int64_t time = (int64_t)i * 10 - (int64_t)(any_random(&random) % 100), start = tide__time_floor(time, 0, 100);
        struct event *event = &events[count++];
        *event = (struct event){.side = (int)(any_random(&random) % 2)};
        event->row.values[START].i64 = start;
        event->row.values[END].i64 = start + 100;
        event->row.values[KEY] = (struct any_value){any_random(&random) % 6 == 0, any_random(&random) % 4, NULL};
        event->row.values[VALUE] = (struct any_value){any_random(&random) % 6 == 0, any_random(&random) % 5, NULL};
        event->row.values[ID].i64 = (int64_t)i;
    }
    events[count++] = (struct event){.side = -1, .watermark = WATERMARK_END};
    return count;
}

static void make_driver(struct any_driver *driver, const struct scenario *scenario) {
    any_driver_init(driver, &tide__window_join_class);
    struct type time = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0), number = tide__type_make(TYPE_BIGINT, true);
    const char *names[] = {"ws", "we", "k", "v", "id", "ws0", "we0", "k0", "v0", "id0"};
    struct type types[] = {time, time, number, number, number, time, time, number, number, number};
    bool left_only = scenario->kind == JOIN_SEMI || scenario->kind == JOIN_ANTI;
    any_driver_input(driver, 0, names, types, COLUMNS);
    any_driver_input(driver, 1, names, types, COLUMNS);
    any_driver_output(driver, names, types, left_only ? COLUMNS : 2 * COLUMNS);
    struct plan_window_join *plan = &driver->node->window_join;
    plan->kind = scenario->kind;
    for (int side = 0; side < 2; side++) {
        plan->start_column[side] = START;
        plan->end_column[side] = END;
        plan->keys[side] = ARENA_ARRAY(&driver->arena, uint32_t, 1);
        plan->keys[side][0] = KEY;
    }
    plan->key_count = scenario->keyed;
    if (!scenario->conditional) return;
    struct infer_context infer = {.arena = &driver->arena};
    struct source_pos pos = {0};
    struct expr *args[] = {
        tide__expr_column(&driver->arena, VALUE, driver->inputs[0]->fields[VALUE].type, pos),
        tide__expr_column(&driver->arena, COLUMNS + VALUE, driver->inputs[1]->fields[VALUE].type, pos),
    };
    tide_error err;
    tide__error_clear(&err);
    ck_assert_msg(tide__expr_call(&infer, "<", args, 2, pos, &plan->condition, &err) == TIDE_OK, "%s", err.message);
}

// --- what should come out ---------------------------------------------------------------------------------------------

static int compare(const struct any_value *a, const struct any_value *b) {
    if (a->is_null || b->is_null) return b->is_null - a->is_null;
    return (a->i64 > b->i64) - (a->i64 < b->i64);
}

static bool sort_by_key;

static int compare_events(const void *left, const void *right) {
    const struct any_value *a = (*(const struct event *const *)left)->row.values;
    const struct any_value *b = (*(const struct event *const *)right)->row.values;
    int c = compare(&a[END], &b[END]);
    if (c == 0 && sort_by_key) c = compare(&a[KEY], &b[KEY]);
    return c != 0 ? c : compare(&a[ID], &b[ID]);
}

static bool matches(const struct scenario *s, const struct event *left, const struct event *right) {
    const struct any_value *l = left->row.values, *r = right->row.values;
    if (l[END].i64 != r[END].i64) return false;
    if (s->keyed && (l[KEY].is_null || r[KEY].is_null || l[KEY].i64 != r[KEY].i64)) return false;
    return !s->conditional || (!l[VALUE].is_null && !r[VALUE].is_null && l[VALUE].i64 < r[VALUE].i64);
}

static void print_side(const struct event *event, struct strbuf *out) {
    for (int c = 0; c < COLUMNS; c++) {
        if (event == NULL || event->row.values[c].is_null) {
            tide__strbuf_append_c(out, " NULL");
        } else {
            tide__strbuf_printf(out, " %lld", (long long)event->row.values[c].i64);
        }
    }
}

static void print_pair(const struct scenario *s, const struct event *left, const struct event *right,
                       struct strbuf *out) {
    tide__strbuf_append_c(out, "+I");
    print_side(left, out);
    if (s->kind != JOIN_SEMI && s->kind != JOIN_ANTI) print_side(right, out);
    tide__strbuf_append_char(out, '\n');
}

// FULL gives a group's unmatched right rows behind its left rows: groups are runs of equal (end, key) on both sides.
static bool same_group(const struct scenario *s, const struct event *a, const struct event *b) {
    return compare(&a->row.values[END], &b->row.values[END]) == 0 &&
           (!s->keyed || compare(&a->row.values[KEY], &b->row.values[KEY]) == 0);
}

static void expect_row(const struct scenario *s, const struct event *row, const struct event **others, size_t count,
                       struct strbuf *out) {
    bool left = row->side == 0, matched = false, quiet = s->kind == JOIN_SEMI || s->kind == JOIN_ANTI;
    for (size_t i = 0; i < count; i++) {
        const struct event *l = left ? row : others[i], *r = left ? others[i] : row;
        if (!matches(s, l, r)) continue;
        matched = true;
        if (!quiet) print_pair(s, l, r, out);
    }
    bool wants = s->kind == JOIN_SEMI ? matched : s->kind != JOIN_INNER && !matched;
    if (wants) print_pair(s, left ? row : NULL, left ? NULL : row, out);
}

static void expect(const struct scenario *s, const struct event *events, size_t count, struct strbuf *out) {
    const struct event **sides[2];
    size_t counts[2] = {0, 0};
    for (int side = 0; side < 2; side++) sides[side] = tide__alloc(count * sizeof *sides[side]);
    int64_t watermark = WATERMARK_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        if (event->side < 0) {
            watermark = event->watermark;
        } else if (event->row.values[END].i64 - 1 > watermark) {
            sides[event->side][counts[event->side]++] = event;
        }
    }
    sort_by_key = s->keyed;
    for (int side = 0; side < 2; side++) qsort(sides[side], counts[side], sizeof *sides[side], compare_events);
    int outer = s->kind == JOIN_RIGHT ? 1 : 0;
    size_t at = 0;  // FULL: right rows already done
    for (size_t i = 0; i <= counts[outer]; i++) {
        bool end = i == counts[outer];
        // Right groups that lie before this left row's.
        while (s->kind == JOIN_FULL && at < counts[1]) {
            const struct event *right = sides[1][at];
            if (!end && (same_group(s, right, sides[0][i]) || compare_events(&right, &sides[0][i]) > 0)) break;
            bool matched = false;
            for (size_t l = 0; l < counts[0]; l++) matched = matched || matches(s, sides[0][l], right);
            if (!matched) print_pair(s, NULL, right, out);
            at++;
        }
        if (!end) expect_row(s, sides[outer][i], sides[1 - outer], counts[1 - outer], out);
    }
    for (int side = 0; side < 2; side++) tide__free(sides[side]);
}

static void run(const struct scenario *scenario, const struct event *events, size_t count, size_t batch_rows,
                size_t barrier, const char *expected) {
    struct any_driver driver;
    make_driver(&driver, scenario);
    driver.batch_rows_max = batch_rows;
    any_driver_open(&driver);
    for (size_t i = 0, since = 0; i < count;) {
        struct arena arena;
        tide__arena_init(&arena);
        struct any_row rows[16];
        size_t n = 0;
        while (i + n < count && n < batch_rows && n < 16 && events[i].side >= 0 &&
               events[i + n].side == events[i].side) {
            rows[n] = events[i + n].row;
            n++;
        }
        if (n > 0) {
            struct batch batch = any_batch(driver.inputs[0], rows, n, &arena);
            any_driver_batch(&driver, (uint32_t)events[i].side, &batch);
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
    any_driver_barrier(&driver, false);
    ck_assert_uint_eq(any_driver_entries(&driver), 0);
    any_driver_deinit(&driver);
}

START_TEST(joins_as_a_nested_loop_does) {
    enum { ROWS = 150 };
    struct scenario scenario = {.kind = (enum join_kind)(_i / 4), .keyed = _i % 2 == 0, .conditional = _i / 2 % 2 == 1};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct event events[2 * ROWS + 1];
        size_t count = make_events(seed, events, ROWS);
        struct strbuf expected = {0};
        expect(&scenario, events, count, &expected);
        ck_assert(expected.len > 0 || scenario.kind == JOIN_ANTI);
        const char *text = expected.data == NULL ? "" : expected.data;
        run(&scenario, events, count, 1024, 0, text);
        run(&scenario, events, count, 1, 1, text);
        run(&scenario, events, count, 5, 13, text);
        tide__strbuf_deinit(&expected);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("window_join");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, joins_as_a_nested_loop_does, 0, 6 * 4);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
