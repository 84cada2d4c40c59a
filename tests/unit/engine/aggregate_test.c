// Aggregate functions one by one: results and their types, NULLs, overflow, NaN; merging, taking back, encoding.
#include "base/decimal.h"
#include "engine/aggregates/aggregate.h"
#include "engine/expr/nested.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    struct arena arena;
    struct aggregate_call call;
    struct aggregators aggregators;
    struct column column;
    bool distinct;
};

static void setup(struct bench *b, const char *name, struct type type, bool distinct, bool retract) {
    memset(b, 0, sizeof *b);
    tide__arena_init(&b->arena);
    const struct type *argument = tide__type_copy(&b->arena, &type);
    b->call = (struct aggregate_call){.aggregate = tide__aggregate_find(tide__str(name)), .name = name, .filter = -1};
    b->call.parameter.is_null = true;
    b->call.arg_count = 1;
    b->call.arg_types[0] = argument;
    b->call.distinct = distinct;
    struct expr arg = {.type = argument};
    const struct expr *args[1] = {&arg};
    struct infer_context ctx = {.arena = &b->arena};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(b->call.aggregate->infer(&ctx, &b->call, args, &err), TIDE_OK);
    ck_assert_int_eq(tide__aggregators_bind(&b->aggregators, &b->call, 1, retract, &b->arena, &err), TIDE_OK);
}

// Values as text, "NULL" for NULL.
static void fill(struct bench *b, const char *const *values, size_t n) {
    tide__column_init(&b->column, b->call.arg_types[0], n ? n : 1, 1, &b->arena);
    for (size_t i = 0; i < n; i++) {
        b->column.nulls[i] = strcmp(values[i], "NULL") == 0;
        int128 decimal = 0;
        if (b->column.type->kind == TYPE_DECIMAL && !b->column.nulls[i])
            ck_assert(tide__decimal_parse(tide__str(values[i]), 38, b->column.type->scale, &decimal));
        switch (b->column.physical) {
        case PHYSICAL_BOOL: b->column.bools[i] = values[i][0] == 'T'; break;
        case PHYSICAL_I64:
            b->column.i64[i] = b->column.type->kind == TYPE_DECIMAL ? (int64_t)decimal : strtoll(values[i], NULL, 10);
            break;
        case PHYSICAL_F64: b->column.f64[i] = strtod(values[i], NULL); break;
        case PHYSICAL_I128: b->column.i128[i] = decimal; break;
        case PHYSICAL_STR: b->column.str[i] = tide__str(b->column.nulls[i] ? "" : values[i]); break;
        case PHYSICAL_TIME: b->column.time[i] = (struct timestamp){strtoll(values[i], NULL, 10), 7}; break;
        }
    }
}

static void apply(struct bench *b, unsigned char *payload, size_t from, size_t to, bool retract) {
    unsigned char *payloads[64];
    uint32_t rows[64];
    for (size_t i = from; i < to; i++) {
        payloads[i - from] = payload;
        rows[i - from] = (uint32_t)i;
    }
    struct batch batch = {.rows = to, .column_count = 1, .columns = &b->column};
    if (retract) {
        tide__aggregators_retract(&b->aggregators, &batch, payloads, rows, to - from, &b->arena);
    } else {
        tide__aggregators_update(&b->aggregators, &batch, payloads, rows, to - from, &b->arena);
    }
}

static unsigned char *new_payload(struct bench *b) {
    return tide__arena_zalloc(&b->arena, b->aggregators.payload_size);
}

static const char *result(struct bench *b, unsigned char *payload) {
    struct column column;
    tide__column_init(&column, b->call.type, 1, 1, &b->arena);
    tide__aggregators_result(&b->aggregators, &payload, 1, &column, &b->arena);
    struct strbuf text = {0};
    if (column.nulls[0]) {
        tide__strbuf_append_c(&text, "NULL");
    } else {
        switch (column.physical) {
        case PHYSICAL_BOOL: tide__strbuf_append_c(&text, column.bools[0] ? "TRUE" : "FALSE"); break;
        case PHYSICAL_I64: tide__strbuf_printf(&text, "%lld", (long long)column.i64[0]); break;
        case PHYSICAL_F64: tide__double_print(column.f64[0], &text); break;
        case PHYSICAL_I128: tide__decimal_print(column.i128[0], column.type->scale, &text); break;
        case PHYSICAL_STR:
            if (column.type->kind == TYPE_ARRAY || column.type->kind == TYPE_MULTISET) {
                tide__nested_display(column.str[0], column.type, NULL, &text);
            } else {
                tide__strbuf_append_str(&text, column.str[0]);
            }
            break;
        case PHYSICAL_TIME: tide__strbuf_printf(&text, "%lld", (long long)column.time[0].ms); break;
        }
    }
    const char *copy = tide__arena_strndup(&b->arena, text.data ? text.data : "", text.len);
    tide__strbuf_deinit(&text);
    return copy;
}

static unsigned char *through_state(struct bench *b, const unsigned char *payload) {
    struct strbuf bytes = {0};
    tide__aggregators_encode(&b->aggregators, payload, &bytes);
    unsigned char *copy = new_payload(b);
    int64_t charge = 0;
    ck_assert(tide__aggregators_decode(&b->aggregators, tide__strbuf_str(&bytes), copy, &charge));
    // Every prefix is malformed, and says so.
    for (size_t len = 0; len < bytes.len; len++) {
        unsigned char *broken = new_payload(b);
        ck_assert(!tide__aggregators_decode(&b->aggregators, (struct str){bytes.data, len}, broken, &charge));
        tide__aggregators_release(broken, &b->aggregators);
    }
    tide__strbuf_deinit(&bytes);
    return copy;
}

#define SPLIT_MAX 16

// One pass, the same through state, and merged from two parts at every place.
static void check(const char *name, struct type type, bool distinct, const char *const *values, const char *expected) {
    struct bench b;
    setup(&b, name, type, distinct, false);
    size_t n = 0;
    while (values[n] != NULL) n++;
    ck_assert_uint_le(n, SPLIT_MAX);
    fill(&b, values, n);
    unsigned char *whole = new_payload(&b);
    apply(&b, whole, 0, n, false);
    ck_assert_str_eq(result(&b, whole), expected);
    unsigned char *copy = through_state(&b, whole);
    ck_assert_str_eq(result(&b, copy), expected);
    for (size_t cut = 0; cut <= n && b.aggregators.combinable; cut++) {
        unsigned char *left = new_payload(&b), *right = new_payload(&b);
        apply(&b, left, 0, cut, false);
        apply(&b, right, cut, n, false);
        tide__aggregators_merge(&b.aggregators, left, right);
        ck_assert_str_eq(result(&b, left), expected);
        if (b.aggregators.unmergeable) {
            tide__aggregators_unmerge(&b.aggregators, left, right);
            unsigned char *again = new_payload(&b);
            apply(&b, again, 0, cut, false);
            ck_assert_mem_eq(left, again, b.aggregators.payload_size);
        }
        tide__aggregators_release(left, &b.aggregators);
        tide__aggregators_release(right, &b.aggregators);
    }
    tide__aggregators_release(whole, &b.aggregators);
    tide__aggregators_release(copy, &b.aggregators);
    tide__arena_deinit(&b.arena);
}

#define VALUES(...)   ((const char *const[]){__VA_ARGS__, NULL})
#define INT           tide__type_make(TYPE_INT, true)
#define TINYINT       tide__type_make(TYPE_TINYINT, true)
#define BIGINT        tide__type_make(TYPE_BIGINT, true)
#define DOUBLE        tide__type_make(TYPE_DOUBLE, true)
#define FLOAT         tide__type_make(TYPE_FLOAT, true)
#define STRING        tide__type_make(TYPE_VARCHAR, true)
#define BOOLEAN       tide__type_make(TYPE_BOOLEAN, true)
#define DECIMAL(p, s) tide__type_make_sized(TYPE_DECIMAL, true, p, s)
#define TIMESTAMP6    tide__type_make_sized(TYPE_TIMESTAMP, true, 6, 0)
#define NINES         "99999999999999999999999999999999999999"

START_TEST(sums_wrap_or_are_null_on_overflow) {
    check("SUM", TINYINT, false, VALUES("100", "NULL", "100"), "-56");
    check("SUM", BIGINT, false, VALUES("9223372036854775807", "1"), "-9223372036854775808");
    check("SUM", INT, false, VALUES("NULL", "NULL"), "NULL");
    check("SUM", DECIMAL(7, 3), false, VALUES("1.001", "-2.5"), "-1.499");
    check("SUM", DECIMAL(38, 0), false, VALUES(NINES, "1"), "NULL");
    check("SUM", DECIMAL(38, 0), false, VALUES(NINES, "1", "7"), "7");
    check("SUM", DOUBLE, false, VALUES("-0.0", "-0.0"), "-0.0");
    check("SUM", FLOAT, false, VALUES("16777216", "1", "1"), "1.6777216E7");
}
END_TEST

START_TEST(averages_truncate_integers_and_round_decimals) {
    check("AVG", INT, false, VALUES("-3", "-2"), "-2");
    check("AVG", BIGINT, false, VALUES("9223372036854775807", "1"), "-4611686018427387904");
    check("AVG", DECIMAL(7, 3), false, VALUES("0.001", "0.001", "0.000"), "0.000667");
    check("AVG", DECIMAL(38, 0), false, VALUES(NINES, "1", "7"), "NULL");
    check("AVG", DOUBLE, false, VALUES("-0.0"), "0.0");
    check("AVG", FLOAT, false, VALUES("16777216", "1", "1"), "5592406.0");
}
END_TEST

START_TEST(extremes_compare_bytes_and_ignore_nan) {
    check("MIN", INT, false, VALUES("3", "NULL", "-1", "2"), "-1");
    check("MAX", STRING, false, VALUES("b", "", "ba", "NULL"), "ba");
    check("MIN", STRING, false, VALUES("b", "", "ba"), "");
    check("MIN", BOOLEAN, false, VALUES("T", "F"), "FALSE");
    check("MAX", DECIMAL(38, 0), false, VALUES("1", NINES), NINES);
    check("MAX", TIMESTAMP6, false, VALUES("-5", "12"), "12");
    check("MAX", DOUBLE, false, VALUES("1", "nan", "2"), "2.0");
    check("MAX", DOUBLE, false, VALUES("nan", "1", "2"), "NaN");
    check("MAX", STRING, false, VALUES("NULL"), "NULL");
}
END_TEST

START_TEST(first_last_and_lists_follow_arrival) {
    check("FIRST_VALUE", STRING, false, VALUES("NULL", "b", "a"), "b");
    check("LAST_VALUE", STRING, false, VALUES("b", "a", "NULL"), "a");
    check("FIRST_VALUE", DOUBLE, false, VALUES("-0.0", "1"), "-0.0");
    check("LISTAGG", STRING, false, VALUES("b", "", "NULL", "a"), "b,,a");
    check("LISTAGG", STRING, false, VALUES("", ""), ",");
    check("LISTAGG", STRING, false, VALUES("NULL"), "NULL");
    check("LISTAGG", STRING, true, VALUES("b", "a", "b", "c", "a"), "b,a,c");
}
END_TEST

START_TEST(collections_keep_values) {
    check("ARRAY_AGG", STRING, false, VALUES("b", "NULL", "a", "b"), "[b, NULL, a, b]");
    check("ARRAY_AGG", INT, false, VALUES("NULL"), "[NULL]");
    check("COLLECT", INT, false, VALUES("7", "NULL", "5", "7"), "{5=1, 7=2}");
    check("COLLECT", STRING, false, VALUES("NULL"), "{}");
}
END_TEST

START_TEST(distinct_counts_each_value_once) {
    check("COUNT", STRING, true, VALUES("b", "a", "NULL", "b", "c", "a"), "3");
    check("COUNT", STRING, false, VALUES("b", "a", "NULL", "b"), "3");
    check("SUM", INT, true, VALUES("2", "2", "3"), "5");
    check("AVG", DECIMAL(5, 2), true, VALUES("1.00", "1.00", "2.00"), "1.500000");
    check("MAX", INT, true, VALUES("2", "9", "3"), "9");
}
END_TEST

START_TEST(variance_casts_to_the_type_of_the_input) {
    check("VAR_POP", INT, false, VALUES("3", "11", "-12"), "90");
    check("VAR_SAMP", INT, false, VALUES("3", "11", "-12"), "136");
    check("STDDEV_SAMP", DECIMAL(1, 0), false, VALUES("5", "5", "6"), "0.577350");
    check("STDDEV_POP", DOUBLE, false, VALUES("1", "2", "3"), "0.816496580927726");
    check("STDDEV_SAMP", DOUBLE, false, VALUES("1"), "NULL");
    check("VARIANCE", DOUBLE, false, VALUES("NULL"), "NULL");
}
END_TEST

// Gives the values, then takes the first `back` of them back.
static void check_back(const char *name, struct type type, bool distinct, const char *const *values, size_t back,
                       const char *expected) {
    struct bench b;
    setup(&b, name, type, distinct, true);
    size_t n = 0;
    while (values[n] != NULL) n++;
    fill(&b, values, n);
    unsigned char *payload = new_payload(&b);
    apply(&b, payload, 0, n, false);
    apply(&b, payload, 0, back, true);
    ck_assert_str_eq(result(&b, payload), expected);
    unsigned char *copy = through_state(&b, payload);
    ck_assert_str_eq(result(&b, copy), expected);
    tide__aggregators_release(payload, &b.aggregators);
    tide__aggregators_release(copy, &b.aggregators);
    tide__arena_deinit(&b.arena);
}

START_TEST(rows_can_be_taken_back) {
    check_back("COUNT", INT, false, VALUES("1", "NULL", "3"), 2, "1");
    check_back("SUM", INT, false, VALUES("1", "2", "3"), 1, "5");
    check_back("SUM", INT, false, VALUES("1", "2"), 2, "NULL");
    check_back("AVG", DECIMAL(5, 2), false, VALUES("1.00", "2.00", "4.00"), 1, "3.000000");
    check_back("MIN", INT, false, VALUES("1", "2", "3"), 1, "2");
    check_back("MIN", INT, false, VALUES("1", "1", "3"), 1, "1");
    check_back("MAX", STRING, false, VALUES("z", "b", "c"), 1, "c");
    check_back("MAX", DOUBLE, false, VALUES("5", "1"), 2, "NULL");
    check_back("LISTAGG", STRING, false, VALUES("z", "b", "c"), 1, "b,c");
    check_back("FIRST_VALUE", STRING, false, VALUES("z", "b", "c"), 1, "b");
    check_back("LAST_VALUE", STRING, false, VALUES("z", "b", "c"), 1, "c");
    check_back("COUNT", STRING, true, VALUES("a", "a", "b"), 1, "2");
    check_back("COUNT", STRING, true, VALUES("a", "c", "b"), 1, "2");
    check_back("SUM", INT, true, VALUES("2", "2", "3"), 2, "3");
    check_back("VAR_POP", DOUBLE, false, VALUES("100", "1", "3"), 3, "NULL");
}
END_TEST

START_TEST(wrong_types_are_refused_with_a_hint) {
    struct arena arena;
    tide__arena_init(&arena);
    struct type date = tide__type_make(TYPE_DATE, true);
    struct expr arg = {.type = &date};
    const struct expr *args[1] = {&arg};
    struct aggregate_call call = {.aggregate = tide__aggregate_find(STR_LIT("avg")), .arg_count = 1};
    struct infer_context ctx = {.arena = &arena};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(call.aggregate->infer(&ctx, &call, args, &err), TIDE_ERR_VALIDATE);
    ck_assert_str_eq(err.message, "AVG cannot be applied to DATE");
    ck_assert_str_eq(err.hint, "AVG takes a number");
    ck_assert_ptr_null(tide__aggregate_find(STR_LIT("MEDIAN")));
    tide__arena_deinit(&arena);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("aggregate");
    TCase *tests = tcase_create("aggregates");
    tcase_add_test(tests, sums_wrap_or_are_null_on_overflow);
    tcase_add_test(tests, averages_truncate_integers_and_round_decimals);
    tcase_add_test(tests, extremes_compare_bytes_and_ignore_nan);
    tcase_add_test(tests, first_last_and_lists_follow_arrival);
    tcase_add_test(tests, collections_keep_values);
    tcase_add_test(tests, distinct_counts_each_value_once);
    tcase_add_test(tests, variance_casts_to_the_type_of_the_input);
    tcase_add_test(tests, rows_can_be_taken_back);
    tcase_add_test(tests, wrong_types_are_refused_with_a_hint);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
