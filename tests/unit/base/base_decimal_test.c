// Decimals at their limits. The expectations were computed with exact fractions, rounded as BigDecimal does.
#include "base/decimal.h"
#include "base_tests.h"

#include <math.h>
#include <string.h>

#define NINES "99999999999999999999999999999999999999"  // 38

static int128 number(const char *digits) {
    int128 value = 0;
    ck_assert(tide__decimal_parse(tide__str(digits), 38, 0, &value));
    return value;
}

static void expect(bool done, int128 value, const char *wanted) {
    struct strbuf out = {0};
    if (done)
        tide__decimal_print(value, 0, &out);
    else
        tide__strbuf_append_c(&out, "no");
    ck_assert_str_eq(out.data, wanted);
    tide__strbuf_deinit(&out);
}

START_TEST(operations_are_exact_at_the_limits) {
    static const struct {
        char op;
        const char *a;
        int a_scale;
        const char *b;
        int b_scale, out_scale;
        const char *wanted;
    } cases[] = {
        {'+', "1", 0, "2", 0, 0, "3"},
        {'+', "105", 2, "-5", 1, 2, "55"},
        {'+', NINES, 0, "1", 0, 0, "no"},
        {'+', NINES, 0, "-" NINES, 0, 0, "0"},
        {'+', NINES, 1, "1", 1, 0, "10000000000000000000000000000000000000"},
        {'+', NINES, 38, NINES, 38, 37, "20000000000000000000000000000000000000"},
        {'+', NINES, 0, "1", 38, 0, NINES},
        {'+', "-" NINES, 0, NINES, 38, 0, "-99999999999999999999999999999999999998"},
        {'-', "1", 0, "1", 38, 37, "10000000000000000000000000000000000000"},
        {'-', "-" NINES, 0, "1", 0, 0, "no"},
        {'*', "15", 1, "15", 1, 1, "23"},
        {'*', "-15", 1, "15", 1, 1, "-23"},
        {'*', "5", 1, "1", 0, 0, "1"},
        {'*', "4", 1, "1", 0, 0, "0"},
        {'*', NINES, 38, NINES, 38, 38, "99999999999999999999999999999999999998"},
        {'*', NINES, 0, NINES, 0, 0, "no"},
        {'*', NINES, 19, NINES, 19, 0, "99999999999999999999999999999999999998"},
        {'*', NINES, 18, NINES, 19, 0, "no"},
        {'*', NINES, 38, NINES, 0, 0, "99999999999999999999999999999999999998"},
        {'*', "0", 0, NINES, 0, 38, "0"},
        {'/', "1", 0, "3", 0, 6, "333333"},
        {'/', "2", 0, "3", 0, 6, "666667"},
        {'/', "-2", 0, "3", 0, 6, "-666667"},
        {'/', "1", 0, "2", 0, 0, "1"},
        {'/', "-1", 0, "2", 0, 0, "-1"},
        {'/', "1", 38, "3", 0, 38, "0"},
        {'/', "2", 38, "3", 0, 38, "1"},
        {'/', NINES, 0, "1", 38, 0, "no"},
        {'/', NINES, 38, NINES, 0, 38, "1"},
        {'/', NINES, 0, "7", 0, 0, "14285714285714285714285714285714285714"},
        {'/', "1", 0, NINES, 38, 37, "10000000000000000000000000000000000000"},
        {'/', "0", 5, "7", 0, 38, "0"},
        {'/', "49999999999999999999999999999999999999", 0, NINES, 0, 0, "0"},
        // 10.4999...: one half at 38 digits, and so 11 where exact division says 10.
        {'/', "94500000000000000000000000000000000010", 0, "9000000000000000000000000000000000001", 0, 0, "11"},
        {'%', "7", 0, "3", 0, 0, "1"},
        {'%', "-7", 0, "3", 0, 0, "-1"},
        {'%', "7", 0, "-3", 0, 0, "1"},
        {'%', "75", 1, "2", 0, 1, "15"},
        {'%', NINES, 0, "7", 38, 38, "2"},
        {'%', "1", 0, NINES, 0, 2, "100"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int128 a = number(cases[i].a), b = number(cases[i].b), out = 0;
        int sa = cases[i].a_scale, sb = cases[i].b_scale, so = cases[i].out_scale;
        bool done = false;
        switch (cases[i].op) {
        case '+': done = tide__decimal_add(a, sa, b, sb, so, &out); break;
        case '-': done = tide__decimal_sub(a, sa, b, sb, so, &out); break;
        case '*': done = tide__decimal_mul(a, sa, b, sb, so, &out); break;
        case '/': done = tide__decimal_div(a, sa, b, sb, so, &out); break;
        case '%': done = tide__decimal_mod(a, sa, b, sb, so, &out); break;
        default: ck_abort();
        }
        expect(done, out, cases[i].wanted);
    }
}
END_TEST

START_TEST(rescaling_rounds_half_up) {
    int128 out = 0;
    bool done = false;
    done = tide__decimal_rescale(125, 2, 1, &out);
    expect(done, out, "13");
    done = tide__decimal_rescale(-125, 2, 1, &out);
    expect(done, out, "-13");
    done = tide__decimal_rescale(124, 2, 1, &out);
    expect(done, out, "12");
    done = tide__decimal_rescale(-124, 2, 0, &out);
    expect(done, out, "-1");
    done = tide__decimal_rescale(5, 1, 0, &out);
    expect(done, out, "1");
    done = tide__decimal_rescale(49, 2, 0, &out);
    expect(done, out, "0");
    done = tide__decimal_rescale(1, 0, 37, &out);
    expect(done, out, "10000000000000000000000000000000000000");
    done = tide__decimal_rescale(1, 0, 38, &out);
    expect(done, out, "no");
    done = tide__decimal_rescale(0, 0, 38, &out);
    expect(done, out, "0");
    done = tide__decimal_rescale(number(NINES), 38, 0, &out);
    expect(done, out, "1");
    done = tide__decimal_rescale(number(NINES), 1, 0, &out);
    expect(done, out, "10000000000000000000000000000000000000");
    ck_assert(tide__decimal_fits(999, 3));
    ck_assert(!tide__decimal_fits(-1000, 3));
    ck_assert(tide__decimal_fits(number("-" NINES), 38));
}
END_TEST

START_TEST(comparison_aligns_scales) {
    int128 nines = number(NINES);
    ck_assert_int_eq(tide__decimal_cmp(10, 1, 1, 0), 0);
    ck_assert_int_lt(tide__decimal_cmp(-11, 1, -1, 0), 0);
    ck_assert_int_gt(tide__decimal_cmp(nines, 0, nines, 38), 0);
    ck_assert_int_lt(tide__decimal_cmp(-nines, 0, -nines, 38), 0);
    ck_assert_int_lt(tide__decimal_cmp(-1, 0, 1, 38), 0);
    ck_assert_int_lt(tide__decimal_cmp(0, 0, 1, 38), 0);
    ck_assert_int_eq(tide__decimal_cmp(0, 0, 0, 38), 0);
}
END_TEST

static void expect_parse(const char *text, int precision, int scale, const char *wanted) {
    int128 value = 0;
    struct strbuf out = {0};
    if (tide__decimal_parse(tide__str(text), precision, scale, &value)) {
        tide__decimal_print(value, scale, &out);
    } else {
        tide__strbuf_append_c(&out, "no");
    }
    ck_assert_str_eq(out.data, wanted);
    tide__strbuf_deinit(&out);
}

START_TEST(text_is_read_and_printed) {
    expect_parse("12.5", 10, 2, "12.50");
    expect_parse("-0.5", 10, 2, "-0.50");
    expect_parse("+.5", 10, 0, "1");
    expect_parse("5.", 10, 1, "5.0");
    expect_parse("-0.4", 10, 0, "0");
    expect_parse("1.005", 10, 2, "1.01");
    expect_parse("1.0049999999999999999999999999999999999999999", 10, 2, "1.00");
    expect_parse("1e3", 10, 2, "1000.00");
    expect_parse("125E-2", 10, 1, "1.3");
    expect_parse("1e-1000000000000", 10, 2, "0.00");
    expect_parse("1e1000000000000", 10, 2, "no");
    expect_parse("0e1000000000000", 10, 2, "0.00");
    expect_parse("99.995", 4, 2, "no");
    expect_parse("99.994", 4, 2, "99.99");
    expect_parse(NINES, 38, 0, NINES);
    expect_parse(NINES ".5", 38, 0, "no");
    expect_parse("1" NINES, 38, 0, "no");
    expect_parse("00000000000000000000000000000000000000000001", 38, 0, "1");
    expect_parse("0." NINES, 38, 38, "0." NINES);
    static const char *const bad[] = {"", "-", ".", "+.", "1e", "1e+", "1 ", " 1", "0x1", "1.2.3", "1,5", "NaN", "e5"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) expect_parse(bad[i], 38, 2, "no");
}
END_TEST

START_TEST(doubles_come_and_go) {
    int128 out = 0;
    bool done = false;
    ck_assert(tide__decimal_to_double(12345, 2) == 123.45);
    ck_assert(tide__decimal_to_double(-1, 38) == -1e-38);
    ck_assert(tide__decimal_to_double(number(NINES), 0) == 1e38);
    ck_assert(tide__decimal_to_double(number("9007199254740993"), 0) == 9007199254740992.0);
    done = tide__decimal_from_double(1.005, 10, 2, &out);
    expect(done, out, "101");
    done = tide__decimal_from_double(-2.5, 10, 0, &out);
    expect(done, out, "-3");
    done = tide__decimal_from_double(1e10, 10, 0, &out);
    expect(done, out, "no");
    done = tide__decimal_from_double(4.9e-324, 38, 38, &out);
    expect(done, out, "0");
    done = tide__decimal_from_double((double)NAN, 10, 2, &out);
    expect(done, out, "no");
    done = tide__decimal_from_double((double)INFINITY, 10, 2, &out);
    expect(done, out, "no");
}
END_TEST

Suite *make_decimal_suite(void) {
    Suite *suite = suite_create("decimal");
    TCase *tc = tcase_create("decimal");
    tcase_add_test(tc, operations_are_exact_at_the_limits);
    tcase_add_test(tc, rescaling_rounds_half_up);
    tcase_add_test(tc, comparison_aligns_scales);
    tcase_add_test(tc, text_is_read_and_printed);
    tcase_add_test(tc, doubles_come_and_go);
    suite_add_tcase(suite, tc);
    return suite;
}
