// Regular and interval joins: the changelog, applied, is what a nested loop gives over the rows that are left; and it is the
// same text for every batch size, barrier and restore.
#include "any_driver.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/operators/join.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { KEY, VALUE, ID, TIME, COLUMNS, ROWS = 160 };

struct scenario {
    enum join_kind kind;
    bool keyed, conditional, updates, interval, batch_mode;
};

struct event {
    int side;  // -1: a watermark
    int64_t watermark;
    struct any_row row;
};

static size_t make_events(const struct scenario *s, uint64_t seed, struct event *events) {
    uint64_t random = seed;
    size_t count = 0;
    struct event live[ROWS];
    size_t live_count = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        if (any_random(&random) % 6 == 0) events[count++] = (struct event){.side = -1, .watermark = i * 10 - 31};
        struct event *event = &events[count++];
        if (s->updates && live_count > 0 && any_random(&random) % 3 == 0) {
            size_t victim = any_random(&random) % live_count;
            *event = live[victim];
            event->row.kind = any_random(&random) % 2 == 0 ? ROW_DELETE : ROW_UPDATE_BEFORE;
            live[victim] = live[--live_count];
            continue;
        }
        *event = (struct event){.side = (int)(any_random(&random) % 2)};
        if (s->updates && any_random(&random) % 2 == 0) event->row.kind = ROW_UPDATE_AFTER;
        event->row.values[KEY] = (struct any_value){any_random(&random) % 7 == 0, any_random(&random) % 4, NULL};
        event->row.values[VALUE] = (struct any_value){any_random(&random) % 7 == 0, any_random(&random) % 5, NULL};
        event->row.values[ID].i64 = i;
        // Never behind a watermark.
        event->row.values[TIME].i64 = i * 10 + (int64_t)(any_random(&random) % 30) - 30;
        live[live_count++] = *event;
    }
    events[count++] = (struct event){.side = -1, .watermark = WATERMARK_END};
    return count;
}

static void make_driver(struct any_driver *driver, const struct scenario *s) {
    any_driver_init(driver, &tide__join_class);
    struct type number = tide__type_make(TYPE_BIGINT, true), time = tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0);
    const char *names[] = {"k", "v", "id", "ts", "k0", "v0", "id0", "ts0"};
    struct type types[] = {number, number, number, time, number, number, number, time};
    bool left_only = s->kind == JOIN_SEMI || s->kind == JOIN_ANTI;
    any_driver_input(driver, 0, names, types, COLUMNS);
    any_driver_input(driver, 1, names, types, COLUMNS);
    any_driver_output(driver, names, types, left_only ? COLUMNS : 2 * COLUMNS);
    driver->plan.settings.batch_mode = s->batch_mode;
    struct plan_join *plan = &driver->node->join;
    plan->kind = s->kind;
    plan->key_count = s->keyed;
    for (int side = 0; side < 2; side++) {
        plan->keys[side] = ARENA_ARRAY(&driver->arena, uint32_t, 1);
        plan->keys[side][0] = KEY;
        plan->input_updates[side] = s->updates;
        plan->time_columns[side] = TIME;
    }
    plan->interval = s->interval;
    plan->lower_ms = -20;
    plan->upper_ms = 15;
    if (!s->conditional) return;
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

// --- what should be left ----------------------------------------------------------------------------------------------

struct lines {
    char *items[40000];
    size_t count;
};

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_line(struct lines *lines, const char *text, size_t len) {
    ck_assert(lines->count < sizeof lines->items / sizeof lines->items[0]);
    lines->items[lines->count++] = tide__strndup(text, len);
}

static void free_lines(struct lines *lines) {
    for (size_t i = 0; i < lines->count; i++) tide__free(lines->items[i]);
    lines->count = 0;
}

static bool matches(const struct scenario *s, const struct event *left, const struct event *right) {
    const struct any_value *l = left->row.values, *r = right->row.values;
    if (s->keyed && (l[KEY].is_null || r[KEY].is_null || l[KEY].i64 != r[KEY].i64)) return false;
    int64_t between = l[TIME].i64 - r[TIME].i64;
    if (s->interval && (between < -20 || between > 15)) return false;
    return !s->conditional || (!l[VALUE].is_null && !r[VALUE].is_null && l[VALUE].i64 < r[VALUE].i64);
}

static void add_pair(const struct scenario *s, const struct event *left, const struct event *right, struct lines *out) {
    struct any_row row = {0};
    for (int c = 0; c < COLUMNS; c++) {
        row.values[c] = left == NULL ? (struct any_value){.is_null = true} : left->row.values[c];
        row.values[COLUMNS + c] = right == NULL ? (struct any_value){.is_null = true} : right->row.values[c];
    }
    struct strbuf text = {0};
    any_row_print(&row, s->kind == JOIN_SEMI || s->kind == JOIN_ANTI ? COLUMNS : 2 * COLUMNS, ROW_INSERT, &text);
    add_line(out, text.data + 2, text.len - 3);
    tide__strbuf_deinit(&text);
}

static void expect(const struct scenario *s, const struct event *events, size_t count, struct lines *out) {
    const struct event *sides[2][ROWS];
    size_t counts[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (events[i].side < 0) continue;
        const struct event **rows = sides[events[i].side];
        size_t *n = &counts[events[i].side];
        if (events[i].row.kind == ROW_INSERT || events[i].row.kind == ROW_UPDATE_AFTER) {
            rows[(*n)++] = &events[i];
            continue;
        }
        size_t at = 0;
        while (rows[at]->row.values[ID].i64 != events[i].row.values[ID].i64) at++;
        rows[at] = rows[--(*n)];
    }
    bool left_only = s->kind == JOIN_SEMI || s->kind == JOIN_ANTI;
    for (size_t l = 0; l < counts[0]; l++) {
        bool matched = false;
        for (size_t r = 0; r < counts[1]; r++) {
            if (!matches(s, sides[0][l], sides[1][r])) continue;
            matched = true;
            if (!left_only) add_pair(s, sides[0][l], sides[1][r], out);
        }
        bool wants = s->kind == JOIN_SEMI ? matched : !matched && s->kind != JOIN_INNER && s->kind != JOIN_RIGHT;
        if (wants) add_pair(s, sides[0][l], NULL, out);
    }
    for (size_t r = 0; r < counts[1] && (s->kind == JOIN_RIGHT || s->kind == JOIN_FULL); r++) {
        bool matched = false;
        for (size_t l = 0; l < counts[0]; l++) matched = matched || matches(s, sides[0][l], sides[1][r]);
        if (!matched) add_pair(s, NULL, sides[1][r], out);
    }
}

// Applies a changelog: -U and -D take away a row that must be there.
static void apply(const char *text, bool insert_only, struct lines *out) {
    while (text != NULL && *text != 0) {
        const char *end = strchr(text, '\n');
        if (text[0] == '+') {
            ck_assert(!insert_only || text[1] == 'I');
            add_line(out, text + 2, (size_t)(end - text) - 2);
        } else {
            size_t len = (size_t)(end - text) - 2, at = 0;
            while (at < out->count && (strlen(out->items[at]) != len || memcmp(out->items[at], text + 2, len) != 0))
                at++;
            ck_assert_msg(!insert_only && at < out->count, "takes back a row that is not there: %.*s", (int)len, text);
            tide__free(out->items[at]);
            out->items[at] = out->items[--out->count];
        }
        text = end + 1;
    }
}

// --- runs -----------------------------------------------------------------------------------------------------------------

static char *run(const struct scenario *scenario, const struct event *events, size_t count, size_t batch_rows,
                 size_t barrier) {
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
    if (scenario->interval) {
        any_driver_barrier(&driver, false);
        ck_assert_uint_eq(any_driver_entries(&driver), 0);
    }
    char *text = tide__strdup(driver.out.text.data == NULL ? "" : driver.out.text.data);
    any_driver_deinit(&driver);
    return text;
}

static void check(const struct scenario *scenario) {
    static struct lines expected, actual;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct event events[2 * ROWS + 1];
        size_t count = make_events(scenario, seed, events);
        expect(scenario, events, count, &expected);
        char *text = run(scenario, events, count, 1024, 0);
        apply(text, scenario->interval || scenario->batch_mode, &actual);
        qsort(expected.items, expected.count, sizeof *expected.items, compare_lines);
        qsort(actual.items, actual.count, sizeof *actual.items, compare_lines);
        ck_assert_uint_eq(actual.count, expected.count);
        for (size_t i = 0; i < expected.count; i++) ck_assert_str_eq(actual.items[i], expected.items[i]);
        free_lines(&expected);
        free_lines(&actual);
        static const size_t cuts[][2] = {{1, 0}, {1, 1}, {5, 13}};
        for (size_t c = 0; c < 3; c++) {
            char *other = run(scenario, events, count, cuts[c][0], cuts[c][1]);
            ck_assert_str_eq(other, text);
            tide__free(other);
        }
        tide__free(text);
    }
}

START_TEST(regular_join) {
    struct scenario s = {.kind = (enum join_kind)(_i / 8),
                         .keyed = _i % 2 == 0,
                         .conditional = _i / 2 % 2 == 1,
                         .updates = _i / 4 % 2 == 1};
    check(&s);
}
END_TEST

START_TEST(interval_join) {
    struct scenario s = {.kind = (enum join_kind)(_i / 2), .keyed = true, .conditional = _i % 2 == 1, .interval = true};
    check(&s);
}
END_TEST

START_TEST(join_in_batch_mode) {
    struct scenario s = {.kind = (enum join_kind)_i, .keyed = true, .batch_mode = true};
    check(&s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("join");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, regular_join, 0, 6 * 8);
    tcase_add_loop_test(tcase, interval_join, 0, 4 * 2);
    tcase_add_loop_test(tcase, join_in_batch_mode, 0, 6);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
