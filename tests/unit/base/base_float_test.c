// Java's text of DOUBLE and FLOAT.
#include "base/decimal.h"
#include "base_tests.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void expect_double(double d, const char *wanted) {
    struct strbuf out = {0};
    tide__double_print(d, &out);
    ck_assert_str_eq(out.data, wanted);
    tide__strbuf_deinit(&out);
}

static void expect_float(float f, const char *wanted) {
    struct strbuf out = {0};
    tide__float_print((double)f, &out);
    ck_assert_str_eq(out.data, wanted);
    tide__strbuf_deinit(&out);
}

START_TEST(doubles_print_as_in_java) {
    expect_double(1.0, "1.0");
    expect_double(100.0, "100.0");
    expect_double(1.0E7, "1.0E7");
    expect_double(9999999.0, "9999999.0");
    expect_double(9999999.5, "9999999.5");
    expect_double(0.001, "0.001");
    expect_double(0.00123, "0.00123");
    expect_double(0.0099, "0.0099");
    expect_double(1.0E-4, "1.0E-4");
    expect_double(9.99E-4, "9.99E-4");
    expect_double(1.23456789E8, "1.23456789E8");
    expect_double(4.9E-324, "4.9E-324");
    expect_double(9.9E-324, "1.0E-323");
    expect_double(DBL_MIN, "2.2250738585072014E-308");
    expect_double(1.7976931348623157E308, "1.7976931348623157E308");
    expect_double(-0.0, "-0.0");
    expect_double(0.0, "0.0");
    expect_double((double)NAN, "NaN");
    expect_double(-(double)NAN, "NaN");
    expect_double((double)INFINITY, "Infinity");
    expect_double(-(double)INFINITY, "-Infinity");
    expect_double(0.1, "0.1");
    expect_double(0.1 + 0.2, "0.30000000000000004");
    expect_double(1.0 / 3, "0.3333333333333333");
    expect_double(-2.0 / 3, "-0.6666666666666666");
    expect_double(4.35, "4.35");
    expect_double(2.0E-3, "0.002");
    expect_double(1.0E23, "9.999999999999999E22");
    expect_double(2.0E22, "2.0E22");
    expect_double(9007199254740992.0, "9.007199254740992E15");
    expect_double(9223372036854775807.0, "9.223372036854776E18");
    expect_double(123456.789, "123456.789");
}
END_TEST

START_TEST(floats_print_with_their_own_digits) {
    expect_float(FLT_MAX, "3.4028235E38");
    expect_float(1.4E-45F, "1.4E-45");
    expect_float(0.1F, "0.1");
    expect_float(16777216.0F, "1.6777216E7");
    expect_float(1.0F, "1.0");
    expect_float(9999999.0F, "9999999.0");
    expect_float(3.3F, "3.3");
    expect_float(1.0F / 3, "0.33333334");
    expect_float(-1.0E-4F, "-1.0E-4");
    expect_float(123.456F, "123.456");
    expect_float((float)NAN, "NaN");
    expect_float(-(float)INFINITY, "-Infinity");
}
END_TEST

// Recorded from Java 17: more digits than are needed, or fewer than 53 bits could tell.
START_TEST(digits_that_java_17_prints_though_others_are_shorter) {
    expect_double(0x1.52d02c7e14af6p77, "1.9999999999999998E23");
    expect_double(0x1.c7e83209e90b2p72, "8.409999999999999E21");
    expect_double(0x1.1c37937e08p53, "1.0E16");
    expect_double(0x1.f400000000001p62, "9.007199254740993E18");
    expect_double(0x1.ffd01499f468p61, "4.61E18");
    expect_double(0x1.b69b4ba630f34p56, "1.23456789012345664E17");
    expect_double(0x1.e42d130773b76p1023, "1.7E308");
    expect_double(0x1.4f8b588e368f1p-16, "2.0E-5");
    expect_double(0x1.568a19263f40ep-145, "3.0E-44");
    expect_double(0x1.7d78400666666p26, "1.000000001E8");
    expect_double(0x1.9ded4e1122ef9p-9, "0.0031580121799999997");
    expect_float(0x1.1c3794p53F, "1.00000003E16");
    expect_float(0x1.74876ep36F, "9.9999998E10");
    expect_float(0x1.d6f346p26F, "1.23456792E8");
    expect_float(0x1.0p31F, "2.14748365E9");
    expect_float(0x1.0p53F, "9.0071993E15");
    expect_float(0x1.8p26F, "1.00663296E8");
    expect_float(0x1.0p-146F, "1.1E-44");
    expect_float(0x1.66f098p-5F, "0.043815896");
    expect_float(0x1.a36e2ep-15F, "5.0E-5");
}
END_TEST

START_TEST(printed_numbers_read_back) {
    uint64_t seed = 88172645463325252U;
    struct strbuf out = {0};
    for (int i = 0; i < 100000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double d = 0, back = 0;
        memcpy(&d, &seed, 8);
        if (i % 2 == 0) d = (double)(int64_t)(seed >> 34) / (double)(1 + (seed & 0x3FF));
        if (isnan(d)) continue;
        tide__strbuf_clear(&out);
        tide__double_print(d, &out);
        ck_assert(tide__double_parse(tide__strbuf_str(&out), &back));
        ck_assert(back == d);
    }
    tide__strbuf_deinit(&out);
}
END_TEST

START_TEST(text_is_read_as_in_java) {
    static const struct {
        const char *text;
        double wanted;
    } cases[] = {
        {"1", 1},
        {" 1.5 ", 1.5},
        {"-.5", -0.5},
        {"5.", 5},
        {"1e3", 1000},
        {"1E-3", 0.001},
        {"+12.25e+1", 122.5},
        {"1e400", (double)INFINITY},
        {"1e-400", 0},
        {"0e999999999999", 0},
        {"Infinity", (double)INFINITY},
        {"-Infinity", -(double)INFINITY},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"0.1000000000000000055511151231257827", 0.1},
        {"9007199254740993", 9007199254740992.0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
    };
    double d = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert(tide__double_parse(tide__str(cases[i].text), &d));
        ck_assert(d == cases[i].wanted);
    }
    ck_assert(tide__double_parse(STR_LIT("NaN"), &d) && isnan(d));
    ck_assert(tide__double_parse(STR_LIT("-0.0"), &d) && d == 0 && signbit(d));
    static const char *const bad[] = {"",      " ",  ".",  "-",   "e5",  "1e",       "1e+", "1.2.3", "1,5",
                                      "0x1p3", "1f", "1d", "nan", "inf", "infinity", "--1", "1 2"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert(!tide__double_parse(tide__str(bad[i]), &d));
    }
}
END_TEST

Suite *make_float_suite(void) {
    Suite *suite = suite_create("float");
    TCase *tc = tcase_create("float");
    tcase_add_test(tc, doubles_print_as_in_java);
    tcase_add_test(tc, floats_print_with_their_own_digits);
    tcase_add_test(tc, digits_that_java_17_prints_though_others_are_shorter);
    tcase_add_test(tc, printed_numbers_read_back);
    tcase_add_test(tc, text_is_read_as_in_java);
    suite_add_tcase(suite, tc);
    return suite;
}
