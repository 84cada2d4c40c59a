// The regular Top-N against a model that keeps all rows and compares what is in rank before and after each row.
#include "any_driver.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/operators/rank.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { KEY, SORT, ID, COLUMNS };

struct scenario {
    bool partitioned, updates, has_rank, ties_last, deduplicate;
    int64_t first, last;
    bool drops_update_before;  // Top-1 whose -U nobody wants
};

static void make_driver(struct any_driver *driver, const struct scenario *scenario) {
    any_driver_init(driver, &tide__rank_class);
    struct type number = tide__type_make(TYPE_BIGINT, true),
                text = tide__type_make_sized(TYPE_VARCHAR, true, TYPE_STRING_LENGTH, 0);
    const char *names[] = {"k", "s", "id", "rn"};
    struct type types[] = {text, number, number, tide__type_make(TYPE_BIGINT, false)};
    any_driver_input(driver, 0, names, types, COLUMNS);
    any_driver_output(driver, names, types, scenario->has_rank ? COLUMNS + 1 : COLUMNS);
    struct plan_rank *plan = &driver->node->rank;
    plan->partition_count = scenario->partitioned;
    plan->partitions = ARENA_ARRAY(&driver->arena, uint32_t, 1);
    plan->partitions[0] = KEY;
    plan->sorts = ARENA_ARRAY(&driver->arena, struct sort_key, 2);
    plan->sorts[0] = (struct sort_key){SORT, true, true};
    plan->sorts[1] = (struct sort_key){ID, false, false};  // as by arrival
    plan->sort_count = scenario->drops_update_before ? 2 : 1;
    plan->ties = scenario->ties_last ? TIE_LAST_ARRIVED : TIE_FIRST_ARRIVED;
    plan->rank_first = scenario->first;
    plan->rank_last = scenario->last;
    plan->has_rank = scenario->has_rank;
    plan->deduplicate = scenario->deduplicate;
    plan->input_updates = scenario->updates;
    if (scenario->drops_update_before) return;
    // Somebody behind who wants -U.
    struct plan_node *consumer = ARENA_NEW(&driver->arena, struct plan_node);
    consumer->kind = PLAN_GROUP_AGGREGATE;
    consumer->input_count = 1;
    consumer->inputs = &driver->node;
    driver->plan.node_count = 2;
    driver->plan.nodes = ARENA_ARRAY(&driver->arena, struct plan_node *, 2);
    driver->plan.nodes[0] = driver->node;
    driver->plan.nodes[1] = consumer;
}

// --- the model --------------------------------------------------------------------------------------------------------

static bool same_key(const struct any_row *a, const struct any_row *b, bool partitioned) {
    if (!partitioned) return true;
    const struct any_value *x = &a->values[KEY], *y = &b->values[KEY];
    return x->is_null == y->is_null && (x->is_null || strcmp(x->text, y->text) == 0);
}

// Does a rank before b, which came earlier?
static bool ranks_before(const struct any_row *a, const struct any_row *b, bool ties_last) {
    const struct any_value *x = &a->values[SORT], *y = &b->values[SORT];
    if (x->is_null || y->is_null) return x->is_null == y->is_null ? ties_last : y->is_null;
    return x->i64 != y->i64 ? x->i64 > y->i64 : ties_last;
}

struct model {
    const struct scenario *scenario;
    struct any_row rows[512];  // in rank order, all partitions
    size_t count;
    struct strbuf out;
};

static void print(struct model *model, const struct any_row *row, enum row_kind kind, int64_t rank) {
    struct any_row copy = *row;
    if (rank < model->scenario->first || rank > model->scenario->last) return;
    if (kind == ROW_UPDATE_BEFORE && model->scenario->drops_update_before) return;
    copy.values[COLUMNS] = (struct any_value){.i64 = rank};
    any_row_print(&copy, model->scenario->has_rank ? COLUMNS + 1 : COLUMNS, kind, &model->out);
}

// Rows of one partition in rank order.
static size_t partition_of(const struct model *model, const struct any_row *row, const struct any_row **out) {
    size_t n = 0;
    for (size_t i = 0; i < model->count; i++)
        if (same_key(&model->rows[i], row, model->scenario->partitioned)) out[n++] = &model->rows[i];
    return n;
}

// What differs between two rankings of a partition, as the numbered and the unnumbered algorithm put it.
static void print_difference(struct model *model, const struct any_row **before, size_t before_count,
                             const struct any_row **after, size_t after_count) {
    const struct scenario *s = model->scenario;
    if (s->last == 1 && !s->updates) {
        if (before_count > 0 && before[0]->values[ID].i64 != after[0]->values[ID].i64) {
            print(model, before[0], ROW_UPDATE_BEFORE, 1);
            print(model, after[0], ROW_UPDATE_AFTER, 1);
        } else if (before_count == 0) {
            print(model, after[0], ROW_INSERT, 1);
        }
        return;
    }
    size_t last = (size_t)s->last, shared = 0;
    while (shared < before_count && shared < after_count &&
           before[shared]->values[ID].i64 == after[shared]->values[ID].i64)
        shared++;
    if (shared >= last) return;
    if (s->has_rank || s->first > 1) {
        for (size_t r = shared; r < last && (r < before_count || r < after_count); r++) {
            if (r < before_count)
                print(model, before[r], r < after_count ? ROW_UPDATE_BEFORE : ROW_DELETE, (int64_t)r + 1);
            if (r < after_count)
                print(model, after[r], r < before_count ? ROW_UPDATE_AFTER : ROW_INSERT, (int64_t)r + 1);
        }
    } else if (after_count > before_count) {
        if (before_count >= last) print(model, before[last - 1], ROW_DELETE, 1);
        print(model, after[shared], ROW_INSERT, 1);
    } else {
        print(model, before[shared], ROW_DELETE, 1);
        if (after_count >= last) print(model, after[last - 1], ROW_INSERT, 1);
    }
}

static void model_row(struct model *model, const struct any_row *row) {
    static struct any_row old_rows[512];
    const struct any_row *before[512], *after[512];
    memcpy(old_rows, model->rows, model->count * sizeof *old_rows);
    size_t before_count = partition_of(model, row, before);
    for (size_t i = 0; i < before_count; i++) before[i] = &old_rows[before[i] - model->rows];
    size_t at = 0;
    if (row->kind == ROW_INSERT || row->kind == ROW_UPDATE_AFTER) {
        while (at < model->count && !ranks_before(row, &model->rows[at], model->scenario->ties_last)) at++;
        memmove(&model->rows[at + 1], &model->rows[at], (model->count - at) * sizeof *model->rows);
        model->rows[at] = *row;
        model->count++;
    } else {
        while (at < model->count && model->rows[at].values[ID].i64 != row->values[ID].i64) at++;
        ck_assert(at < model->count);
        model->count--;
        memmove(&model->rows[at], &model->rows[at + 1], (model->count - at) * sizeof *model->rows);
    }
    print_difference(model, before, before_count, after, partition_of(model, row, after));
}

// --- runs -----------------------------------------------------------------------------------------------------------------

static size_t make_rows(const struct scenario *scenario, uint64_t seed, struct any_row *rows, size_t count) {
    static const char *const keys[] = {"a", "b", "", "a long key that is longer than a word"};
    uint64_t random = seed;
    struct any_row live[512];
    size_t live_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (scenario->updates && live_count > 0 && any_random(&random) % 3 == 0) {
            size_t victim = any_random(&random) % live_count;
            rows[i] = live[victim];
            rows[i].kind = any_random(&random) % 2 == 0 ? ROW_DELETE : ROW_UPDATE_BEFORE;
            live[victim] = live[--live_count];
            continue;
        }
        struct any_row *row = &rows[i];
        *row = (struct any_row){.kind = scenario->updates && any_random(&random) % 2 == 0 ? ROW_UPDATE_AFTER
                                                                                          : ROW_INSERT};
        row->values[KEY] = (struct any_value){any_random(&random) % 6 == 0, 0, keys[any_random(&random) % 4]};
        row->values[SORT] = (struct any_value){any_random(&random) % 8 == 0, any_random(&random) % 6, NULL};
        row->values[ID].i64 = (int64_t)i;
        live[live_count++] = *row;
    }
    return count;
}

static void run(const struct scenario *scenario, const struct any_row *rows, size_t count, size_t batch_rows,
                size_t barrier, bool restore, const char *expected) {
    struct any_driver driver;
    make_driver(&driver, scenario);
    driver.batch_rows_max = batch_rows;
    any_driver_open(&driver);
    for (size_t i = 0, since = 0; i < count;) {
        struct arena arena;
        tide__arena_init(&arena);
        size_t n = count - i < batch_rows ? count - i : batch_rows;
        struct batch batch = any_batch(driver.inputs[0], rows + i, n, &arena);
        any_driver_batch(&driver, 0, &batch);
        tide__arena_deinit(&arena);
        i += n;
        since += n;
        if (barrier == 0 || since < barrier) continue;
        since = 0;
        any_driver_barrier(&driver, restore);
    }
    ck_assert_str_eq(driver.out.text.data == NULL ? "" : driver.out.text.data, expected);
    any_driver_deinit(&driver);
}

static const struct scenario scenarios[] = {
    {.partitioned = true, .has_rank = true, .first = 1, .last = 2},
    {.has_rank = true, .first = 2, .last = 4},
    {.first = 2, .last = 3},
    {.partitioned = true, .first = 1, .last = 3},
    {.partitioned = true, .has_rank = true, .first = 1, .last = 1, .drops_update_before = true},
    {.partitioned = true, .first = 1, .last = 1},
    {.partitioned = true, .first = 1, .last = 1, .ties_last = true, .deduplicate = true},
    {.updates = true, .has_rank = true, .first = 1, .last = 3},
    {.updates = true, .partitioned = true, .first = 1, .last = 2},
    {.updates = true, .first = 3, .last = 3},
    {.updates = true, .partitioned = true, .first = 1, .last = 1},
    {.updates = true, .has_rank = true, .first = 1, .last = 1000},
};

START_TEST(gives_the_changelog_of_the_ranking) {
    const struct scenario *scenario = &scenarios[_i];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct any_row rows[300];
        size_t count = make_rows(scenario, seed, rows, 300);
        static struct model model;
        model = (struct model){.scenario = scenario};
        for (size_t i = 0; i < count; i++) model_row(&model, &rows[i]);
        ck_assert(model.out.len > 0);
        run(scenario, rows, count, 1024, 0, false, model.out.data);
        run(scenario, rows, count, 1, 1, true, model.out.data);
        run(scenario, rows, count, 7, 20, true, model.out.data);
        run(scenario, rows, count, 7, 1, false, model.out.data);
        tide__strbuf_deinit(&model.out);
    }
}
END_TEST

// A list of many chunks: every row is behind or before all others, then all are taken back.
START_TEST(ranks_many_rows) {
    struct scenario scenario = {.updates = true, .has_rank = true, .first = 1, .last = 2};
    enum { ROWS = 3000 };
    struct any_row *rows = tide__calloc(2 * ROWS, sizeof *rows);
    uint64_t random = 9;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].values[KEY].text = "k";
        rows[i].values[SORT].i64 = _i == 0 ? (int64_t)i : _i == 1 ? -(int64_t)i : any_random(&random) % 100000;
        rows[i].values[ID].i64 = (int64_t)i;
    }
    for (size_t i = 0; i < ROWS; i++) {
        rows[ROWS + i] = rows[(i * 7) % ROWS];
        rows[ROWS + i].kind = ROW_DELETE;
    }
    struct any_driver driver;
    make_driver(&driver, &scenario);
    any_driver_open(&driver);
    for (size_t i = 0; i < 2 * ROWS; i += 500) {
        struct arena arena;
        tide__arena_init(&arena);
        struct batch batch = any_batch(driver.inputs[0], rows + i, 500, &arena);
        any_driver_batch(&driver, 0, &batch);
        tide__arena_deinit(&arena);
        if (i == ROWS) any_driver_barrier(&driver, true);
    }
    any_driver_barrier(&driver, false);
    ck_assert_uint_eq(any_driver_entries(&driver), 0);
    // Applying the changelog leaves nothing.
    long inserts = 0, deletes = 0;
    for (const char *line = driver.out.text.data; *line != 0; line = strchr(line, '\n') + 1) {
        inserts += strncmp(line, "+I", 2) == 0;
        deletes += strncmp(line, "-D", 2) == 0;
    }
    ck_assert(inserts == 2);
    ck_assert_int_eq(inserts, deletes);
    tide__free(rows);
    any_driver_deinit(&driver);
}
END_TEST

// --- the first row by event time --------------------------------------------------------------------------------------------

START_TEST(first_row_waits_for_the_watermark) {
    for (int restore = 0; restore < 2; restore++) {
        struct scenario scenario = {.partitioned = true, .first = 1, .last = 1, .deduplicate = true};
        struct any_driver driver;
        make_driver(&driver, &scenario);
        driver.node->rank.sorts[0] = (struct sort_key){SORT, false, false};
        struct type *time = (struct type *)driver.inputs[0]->fields[SORT].type;
        *time = tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0);
        time->time_attribute = TIME_ATTRIBUTE_ROWTIME;
        any_driver_open(&driver);
        // key, time; a time of -1 stands for a watermark.
        static const struct {
            const char *key;
            int64_t time, watermark;
        } steps[] = {
            {"a", 30, 0}, {"b", 10, 0},  {"a", 10, 0}, {"c", 50, 0}, {"b", 10, 0}, {NULL, 0, 9}, {"d", 8, 0},
            {"d", 9, 0},  {NULL, 0, 20}, {"b", 20, 0}, {"d", 40, 0}, {"c", 45, 0}, {"e", 20, 0}, {NULL, 0, INT64_MAX},
        };
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            if (steps[i].key == NULL) {
                any_driver_watermark(&driver, steps[i].watermark);
            } else {
                struct arena arena;
                tide__arena_init(&arena);
                struct any_row row = {.values = {{.text = steps[i].key}, {.i64 = steps[i].time}, {.i64 = (int64_t)i}}};
                struct batch batch = any_batch(driver.inputs[0], &row, 1, &arena);
                any_driver_batch(&driver, 0, &batch);
                tide__arena_deinit(&arena);
            }
            if (restore) any_driver_barrier(&driver, true);
        }
        ck_assert_str_eq(driver.out.text.data, "+I d 9 7\n+I b 10 1\n+I a 10 2\n+I e 20 12\n+I c 45 11\n");
        ck_assert_uint_eq(driver.op->stats.late_rows + driver.late_before, 1);
        any_driver_deinit(&driver);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rank");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, gives_the_changelog_of_the_ranking, 0, sizeof scenarios / sizeof scenarios[0]);
    tcase_add_loop_test(tcase, ranks_many_rows, 0, 3);
    tcase_add_test(tcase, first_row_waits_for_the_watermark);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
