// Unbounded aggregation against a model that computes each group anew for each row.
#include "any_driver.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/operators/group_aggregate.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY, VALUE, TEXT, ID, COLUMNS, ROWS = 400 };

struct scenario {
    bool keyed, updates;
    uint32_t aggregates;  // the first n of: COUNT(*), SUM(v), MIN(v), COUNT(DISTINCT t), MAX(t)
    uint32_t key_values;
};

static void add_aggregate(struct plan_group_aggregate *plan, const char *name, int column, bool distinct,
                          const struct type *argument, const struct type *type) {
    struct aggregate_call *call = &plan->aggregates[plan->aggregate_count++];
    call->aggregate = tide__aggregate_find(tide__str(name));
    ck_assert(call->aggregate != NULL);
    call->type = type;
    call->name = name;
    call->parameter.is_null = true;
    call->filter = -1;
    call->distinct = distinct;
    if (column < 0) return;
    call->arg_count = 1;
    call->args[0] = (uint32_t)column;
    call->arg_types[0] = argument;
}

static void make_driver(struct any_driver *driver, const struct scenario *scenario) {
    any_driver_init(driver, &tide__group_aggregate_class);
    struct type number = tide__type_make(TYPE_BIGINT, true),
                text = tide__type_make_sized(TYPE_VARCHAR, true, TYPE_STRING_LENGTH, 0);
    const char *names[] = {"k", "v", "t", "id"}, *out_names[] = {"k", "n", "s", "lo", "d", "hi"};
    struct type types[] = {text, number, text, number}, out_types[] = {text, number, number, number, number, text};
    any_driver_input(driver, 0, names, types, COLUMNS);
    uint32_t skipped = scenario->keyed ? 0 : 1;
    any_driver_output(driver, out_names + skipped, out_types + skipped, 1 - skipped + scenario->aggregates);
    const struct plan_field *in = driver->inputs[0]->fields, *out = driver->node->fields;
    struct plan_group_aggregate *plan = &driver->node->group_aggregate;
    plan->input_updates = scenario->updates;
    plan->key_count = scenario->keyed;
    plan->keys = ARENA_ARRAY(&driver->arena, uint32_t, 1);
    plan->aggregates = ARENA_ARRAY(&driver->arena, struct aggregate_call, 5);
    add_aggregate(plan, "COUNT", -1, false, NULL, in[VALUE].type);
    add_aggregate(plan, "SUM", VALUE, false, in[VALUE].type, in[VALUE].type);
    add_aggregate(plan, "MIN", VALUE, false, in[VALUE].type, in[VALUE].type);
    add_aggregate(plan, "COUNT", TEXT, true, in[TEXT].type, in[VALUE].type);
    add_aggregate(plan, "MAX", TEXT, false, in[TEXT].type, in[TEXT].type);
    plan->aggregate_count = scenario->aggregates;
    (void)out;
}

// --- the model --------------------------------------------------------------------------------------------------------

struct model {
    const struct scenario *scenario;
    struct any_row rows[ROWS];
    size_t count;
    struct strbuf out;
};

static bool same_key(const struct model *model, const struct any_row *a, const struct any_row *b) {
    if (!model->scenario->keyed) return true;
    const struct any_value *x = &a->values[KEY], *y = &b->values[KEY];
    return x->is_null == y->is_null && (x->is_null || strcmp(x->text, y->text) == 0);
}

// The group's output row; false if it has no rows.
static bool result_of(const struct model *model, const struct any_row *key, struct any_row *out) {
    int64_t count = 0, sum = 0, min = INT64_MAX, values = 0, distinct = 0;
    const char *max = NULL, *seen[ROWS];
    for (size_t i = 0; i < model->count; i++) {
        const struct any_row *row = &model->rows[i];
        if (!same_key(model, row, key)) continue;
        count++;
        if (!row->values[VALUE].is_null) {
            values++;
            sum += row->values[VALUE].i64;
            if (row->values[VALUE].i64 < min) min = row->values[VALUE].i64;
        }
        if (row->values[TEXT].is_null) continue;
        const char *text = row->values[TEXT].text;
        bool is_new = true;
        for (int64_t s = 0; s < distinct; s++) is_new = is_new && strcmp(seen[s], text) != 0;
        if (is_new) seen[distinct++] = text;
        if (max == NULL || strcmp(text, max) > 0) max = text;
    }
    struct any_value *to = out->values;
    *out = (struct any_row){0};
    if (model->scenario->keyed) *to++ = key->values[KEY];
    *to++ = (struct any_value){.i64 = count};
    *to++ = (struct any_value){values == 0, sum, NULL};
    *to++ = (struct any_value){values == 0, min, NULL};
    *to++ = (struct any_value){.i64 = distinct};
    *to++ = (struct any_value){max == NULL, 0, max};
    return count > 0;
}

static void model_row(struct model *model, const struct any_row *row) {
    size_t columns = model->scenario->keyed + model->scenario->aggregates;
    struct any_row before, after;
    bool was_there = result_of(model, row, &before);
    if (row->kind == ROW_INSERT || row->kind == ROW_UPDATE_AFTER) {
        model->rows[model->count++] = *row;
    } else {
        size_t at = 0;
        while (at < model->count && model->rows[at].values[ID].i64 != row->values[ID].i64) at++;
        if (at == model->count) return;  // never came
        model->rows[at] = model->rows[--model->count];
    }
    bool is_there = result_of(model, row, &after);
    struct strbuf old = {0}, new = {0};
    any_row_print(&before, columns, ROW_INSERT, &old);
    any_row_print(&after, columns, ROW_INSERT, &new);
    if (!was_there && is_there) any_row_print(&after, columns, ROW_INSERT, &model->out);
    if (was_there && !is_there) any_row_print(&before, columns, ROW_DELETE, &model->out);
    if (was_there && is_there && !tide__str_eq(tide__strbuf_str(&old), tide__strbuf_str(&new))) {
        any_row_print(&before, columns, ROW_UPDATE_BEFORE, &model->out);
        any_row_print(&after, columns, ROW_UPDATE_AFTER, &model->out);
    }
    tide__strbuf_deinit(&old);
    tide__strbuf_deinit(&new);
}

// --- runs -----------------------------------------------------------------------------------------------------------------

static void make_rows(const struct scenario *scenario, uint64_t seed, struct any_row *rows) {
    static const char *const keys[] = {"a", "b", "", "a key that is longer than most words are"};
    static const char *const texts[] = {"x", "y", "zz", "a text that is longer than sixteen bytes"};
    uint64_t random = seed;
    static struct any_row live[ROWS];
    size_t live_count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (scenario->updates && live_count > 0 && any_random(&random) % 5 < 2) {
            size_t victim = any_random(&random) % live_count;
            rows[i] = live[victim];
            rows[i].kind = any_random(&random) % 2 == 0 ? ROW_DELETE : ROW_UPDATE_BEFORE;
            live[victim] = live[--live_count];
            continue;
        }
        struct any_row *row = &rows[i];
        *row = (struct any_row){.kind = scenario->updates && any_random(&random) % 2 == 0 ? ROW_UPDATE_AFTER
                                                                                          : ROW_INSERT};
        row->values[KEY] = (struct any_value){any_random(&random) % 6 == 0, 0,
                                              keys[any_random(&random) % scenario->key_values]};
        row->values[VALUE] = (struct any_value){any_random(&random) % 4 == 0, (int64_t)(any_random(&random) % 9) - 4,
                                                NULL};
        row->values[TEXT] = (struct any_value){any_random(&random) % 4 == 0, 0, texts[any_random(&random) % 4]};
        row->values[ID].i64 = (int64_t)i;
        live[live_count++] = *row;
    }
}

static void run(const struct scenario *scenario, const struct any_row *rows, size_t batch_rows, size_t barrier,
                bool restore, const char *expected) {
    struct any_driver driver;
    make_driver(&driver, scenario);
    driver.batch_rows_max = batch_rows;
    any_driver_open(&driver);
    for (size_t i = 0, since = 0; i < ROWS;) {
        struct arena arena;
        tide__arena_init(&arena);
        size_t n = ROWS - i < batch_rows ? ROWS - i : batch_rows;
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
    {.keyed = true, .aggregates = 5, .key_values = 4},
    {.keyed = true, .aggregates = 5, .key_values = 4, .updates = true},
    {.keyed = false, .aggregates = 5, .key_values = 4, .updates = true},
    {.keyed = false, .aggregates = 2, .key_values = 1},
    {.keyed = true, .aggregates = 0, .key_values = 4, .updates = true},
    {.keyed = true, .aggregates = 3, .key_values = 1, .updates = true},
};

START_TEST(gives_the_changelog_of_the_groups) {
    const struct scenario *scenario = &scenarios[_i];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct any_row rows[ROWS];
        make_rows(scenario, seed, rows);
        static struct model model;
        model = (struct model){.scenario = scenario};
        for (size_t i = 0; i < ROWS; i++) model_row(&model, &rows[i]);
        ck_assert(model.out.len > 0);
        run(scenario, rows, 1024, 0, false, model.out.data);
        run(scenario, rows, 1, 1, true, model.out.data);
        run(scenario, rows, 7, 20, true, model.out.data);
        run(scenario, rows, 50, 1, false, model.out.data);
        tide__strbuf_deinit(&model.out);
    }
}
END_TEST

START_TEST(an_unknown_row_is_not_taken_back) {
    struct scenario scenario = {.keyed = true, .updates = true, .aggregates = 2};
    struct any_driver driver;
    make_driver(&driver, &scenario);
    any_driver_open(&driver);
    struct any_row rows[] = {
        {ROW_DELETE, {{.text = "a"}, {.i64 = 5}}},
        {ROW_INSERT, {{.text = "a"}, {.i64 = 7}}},
    };
    struct arena arena;
    tide__arena_init(&arena);
    struct batch batch = any_batch(driver.inputs[0], rows, 2, &arena);
    any_driver_batch(&driver, 0, &batch);
    ck_assert_str_eq(driver.out.text.data, "+I a 1 7\n");
    tide__arena_deinit(&arena);
    any_driver_deinit(&driver);
}
END_TEST

START_TEST(batch_mode_gives_finals) {
    for (int rows_given = 0; rows_given < 2; rows_given++) {
        for (int keyed = 0; keyed < 2; keyed++) {
            struct scenario scenario = {.keyed = keyed, .aggregates = 3};
            struct any_driver driver;
            make_driver(&driver, &scenario);
            driver.plan.settings.batch_mode = true;
            any_driver_open(&driver);
            struct any_row rows[] = {
                {ROW_INSERT, {{.text = "b"}, {.i64 = 5}}},
                {ROW_INSERT, {{.text = "a"}, {.i64 = 7}}},
                {ROW_INSERT, {{.text = "b"}, {.i64 = 3}}},
            };
            struct arena arena;
            tide__arena_init(&arena);
            struct batch batch = any_batch(driver.inputs[0], rows, 3, &arena);
            if (rows_given) any_driver_batch(&driver, 0, &batch);
            any_driver_watermark(&driver, WATERMARK_END);
            static const char *const expected[2][2] = {{"+I 0 NULL NULL\n", ""},
                                                       {"+I 3 15 3\n", "+I a 1 7 7\n+I b 2 8 3\n"}};
            ck_assert_str_eq(driver.out.text.data == NULL ? "" : driver.out.text.data, expected[rows_given][keyed]);
            tide__arena_deinit(&arena);
            any_driver_deinit(&driver);
        }
    }
}
END_TEST

// TIDE_BENCH=1 prints nanoseconds a row for many and for one group.
START_TEST(many_groups_are_cheap) {
    enum { BATCH = 1024, BATCHES = 200 };
    for (int keyed = 0; keyed < 2; keyed++) {
        struct scenario scenario = {.keyed = keyed, .aggregates = 2};
        struct any_driver driver;
        make_driver(&driver, &scenario);
        driver.out.silent = true;
        any_driver_open(&driver);
        struct any_row *rows = tide__calloc(BATCH, sizeof *rows);
        char(*keys)[16] = tide__calloc(BATCH, sizeof *keys);
        struct arena arena;
        tide__arena_init(&arena);
        for (size_t i = 0; i < BATCH; i++) {
            snprintf(keys[i], sizeof keys[i], "key%zu", i);
            rows[i].values[KEY].text = keys[i];
            rows[i].values[VALUE].i64 = (int64_t)i;
        }
        struct batch batch = any_batch(driver.inputs[0], rows, BATCH, &arena);
        clock_t begin = clock();
        for (int b = 0; b < BATCHES; b++) any_driver_batch(&driver, 0, &batch);
        double ns = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / (BATCH * BATCHES);
        if (getenv("TIDE_BENCH") != NULL)
            fprintf(stderr, "group aggregate, %s: %.0f ns a row\n", keyed ? "1024 groups" : "one group", ns);
        tide__arena_deinit(&arena);
        tide__free(keys);
        tide__free(rows);
        any_driver_deinit(&driver);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("group_aggregate");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, gives_the_changelog_of_the_groups, 0, sizeof scenarios / sizeof scenarios[0]);
    tcase_add_test(tcase, an_unknown_row_is_not_taken_back);
    tcase_add_test(tcase, batch_mode_gives_finals);
    tcase_add_test(tcase, many_groups_are_cheap);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
