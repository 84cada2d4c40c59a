// Functions of dates and times. The rows are those of Flink 2.3.0's answers, with the surprises before 1970.
#include "tests/unit/engine/expr_build.h"

#include "base/zone.h"

static const char *const stamps[] = {"2020-02-29 12:34:56.789", "1969-12-31 23:59:59", "2023-12-31 23:59:59",
                                     "2024-01-01 00:00:00.1", "1903-07-04 01:01:01"};

static struct expr *stamp(int i) {
    return TS(stamps[i], 3);
}

static void each(const char *function, const char *unit, const char *const expected[5]) {
    for (int i = 0; i < 5; i++) {
        struct expr *call = unit == NULL ? CALL(function, stamp(i)) : CALL(function, S(unit), stamp(i));
        const char *shown = show(call);
        ck_assert_msg(strncmp(shown, expected[i], strlen(expected[i])) == 0 && shown[strlen(expected[i])] == ' ',
                      "%s(%s, %s) is %s, not %s", function, unit == NULL ? "" : unit, stamps[i], shown, expected[i]);
    }
}

#define EACH(function, unit, ...) each(function, unit, (const char *const[5]){__VA_ARGS__})

START_TEST(extract) {
    EACH("EXTRACT", "YEAR", "2020", "1970", "2023", "2024", "1903");
    EACH("EXTRACT", "QUARTER", "1", "1", "4", "1", "3");
    EACH("EXTRACT", "WEEK", "9", "1", "52", "1", "27");
    EACH("EXTRACT", "DAY", "29", "1", "31", "1", "5");
    EACH("EXTRACT", "DOW", "7", "5", "1", "2", "1");
    EACH("EXTRACT", "DOY", "60", "1", "365", "1", "186");
    EACH("EXTRACT", "HOUR", "12", "0", "23", "0", "-22");
    EACH("MINUTE", NULL, "34", "0", "59", "0", "-58");
    EACH("EXTRACT", "SECOND", "56", "-1", "59", "0", "-59");
    EACH("EXTRACT", "MILLISECOND", "789", "0", "0", "100", "0");
    EACH("EXTRACT", "MICROSECOND", "789000", "0", "0", "100000", "0");
    EACH("EXTRACT", "EPOCH", "1582979696", "-1", "1704067199", "1704067200", "-2098479539");
    EACH("EXTRACT", "ISODOW", "6", "4", "7", "1", "7");
    EACH("EXTRACT", "ISOYEAR", "2020", "1970", "2023", "2024", "1903");
    EACH("EXTRACT", "CENTURY", "21", "20", "21", "21", "20");
    SHOWS(CALL("YEAR", DATE("1969-12-31")), "1969 : BIGINT NOT NULL");
    SHOWS(CALL("EXTRACT", S("HOUR"), TIME("12:34:56")), "12 : BIGINT NOT NULL");
    SHOWS(CALL("EXTRACT", S("DAY"), TIME("12:34:56")), "!a TIME has no DAY");
}
END_TEST

START_TEST(rounding) {
    EACH("FLOOR_TO", "YEAR", "2020-01-01 00:00:00.000", "1970-01-01 00:00:00.000", "2023-01-01 00:00:00.000",
         "2024-01-01 00:00:00.000", "1903-01-01 00:00:00.000");
    EACH("FLOOR_TO", "WEEK", "2020-02-23 00:00:00.000", "1969-12-28 00:00:00.000", "2023-12-31 00:00:00.000",
         "2023-12-31 00:00:00.000", "1903-07-05 00:00:00.000");
    EACH("FLOOR_TO", "DAY", "2020-02-29 00:00:00.000", "1969-12-31 00:00:00.000", "2023-12-31 00:00:00.000",
         "2024-01-01 00:00:00.000", "1903-07-04 00:00:00.000");
    EACH("CEIL_TO", "QUARTER", "2020-04-01 00:00:00.000", "1970-01-01 00:00:00.000", "2024-01-01 00:00:00.000",
         "2024-01-01 00:00:00.000", "1903-10-01 00:00:00.000");
    EACH("CEIL_TO", "WEEK", "2020-03-01 00:00:00.000", "1970-01-04 00:00:00.000", "2023-12-31 00:00:00.000",
         "2024-01-07 00:00:00.000", "1903-07-05 00:00:00.000");
    EACH("CEIL_TO", "HOUR", "2020-02-29 13:00:00.000", "1970-01-01 00:00:00.000", "2024-01-01 00:00:00.000",
         "2024-01-01 01:00:00.000", "1903-07-04 02:00:00.000");
    SHOWS(CALL("CEIL_TO", S("MONTH"), DATE("2023-12-31")), "2024-01-01 : DATE NOT NULL");
    SHOWS(CALL("FLOOR_TO", S("HOUR"), TIME("06:07:08")), "06:00:00 : TIME(0) NOT NULL");
}
END_TEST

START_TEST(add_and_difference) {
    SHOWS(CALL("TIMESTAMPADD", S("MONTH"), I(1), stamp(2)), "2024-01-31 23:59:59.000 : TIMESTAMP(3) NOT NULL");
    SHOWS(CALL("TIMESTAMPADD", S("YEAR"), I(1), DATE("2020-02-29")), "2021-02-28 : DATE NOT NULL");
    SHOWS(CALL("TIMESTAMPADD", S("WEEK"), I(1), DATE("2020-02-29")), "2020-03-07 : DATE NOT NULL");
    static const struct {
        const char *unit, *expected[5];
    } cases[] = {
        {"YEAR", {"0", "-50", "3", "3", "-116"}},
        {"MONTH", {"0", "-602", "46", "46", "-1399"}},
        {"DAY", {"0", "-18321", "1401", "1401", "-42609"}},
        {"SECOND", {"2096", "-1582977601", "121089599", "121089600", "613510157"}},
        {"WEEK", {"0", "-2617", "200", "200", "1014"}},
        {"QUARTER", {"0", "-200", "15", "15", "-466"}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int i = 0; i < 5; i++) {
            SHOWS(CALL("TIMESTAMPDIFF", S(cases[c].unit), TS("2020-02-29 12:00:00", 0), stamp(i)),
                  tide__arena_printf(&arena, "%s : INT NOT NULL", cases[c].expected[i]));
        }
    }
    SHOWS(CALL("TIMESTAMPDIFF", S("MONTH"), TS("2020-01-31 00:00:00", 0), stamp(0)), "1 : INT NOT NULL");
    SHOWS(CALL("MINUS_DATE", S("DAY"), stamp(0), TS("2020-01-01 00:00:00", 0)),
          "+59 12:34:56.789 : INTERVAL SECOND(3) NOT NULL");
    SHOWS(CALL("MINUS_DATE", S("MONTH"), DATE("2023-12-31"), DATE("2020-01-01")), "+3-11 : INTERVAL MONTH NOT NULL");
}
END_TEST

static const char *format(struct expr *time, const char *pattern) {
    const char *shown = show(CALL("DATE_FORMAT", time, S(pattern)));
    const char *end = strstr(shown, " : STRING");
    return end == NULL ? shown : tide__arena_strndup(&arena, shown, (size_t)(end - shown));
}

START_TEST(date_format) {
    static const struct {
        const char *pattern, *expected[5];
    } cases[] = {
        {"yyyy/M/d H:m:s",
         {"2020/2/29 12:34:56", "1969/12/31 23:59:59", "2023/12/31 23:59:59", "2024/1/1 0:0:0", "1903/7/4 1:1:1"}},
        {"yy-MM", {"20-02", "69-12", "23-12", "24-01", "03-07"}},
        {"hh:mm a", {"12:34 PM", "11:59 PM", "11:59 PM", "12:00 AM", "01:01 AM"}},
        {"EEE", {"Sat", "Wed", "Sun", "Mon", "Sat"}},
        {"D", {"60", "365", "365", "1", "185"}},
        {"yyyy-MM-dd'T'HH:mm",
         {"2020-02-29T12:34", "1969-12-31T23:59", "2023-12-31T23:59", "2024-01-01T00:00", "1903-07-04T01:01"}},
        {"HHmmssSSS", {"123456789", "235959000", "235959000", "000000100", "010101000"}},
        {"EEEE, MMMM d",
         {"Saturday, February 29", "Wednesday, December 31", "Sunday, December 31", "Monday, January 1",
          "Saturday, July 4"}},
        {"Q kk KK G", {"1 12 00 AD", "4 23 11 AD", "4 23 11 AD", "1 24 00 AD", "3 01 01 AD"}},
        {"ww e", {"09 7", "01 4", "01 1", "01 2", "27 7"}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int i = 0; i < 5; i++) ck_assert_str_eq(format(stamp(i), cases[c].pattern), cases[c].expected[i]);
    }
    ck_assert_str_eq(format(TS("2020-02-29 12:34:56.789123", 6), "SSSSSSSSS"), "789123000");
    ck_assert_str_eq(format(stamp(0), "bogus{"), "!bad pattern of DATE_FORMAT: unknown pattern letter 'b'");
    ck_assert_str_eq(format(S("2020-02-29 12:34:56.789"), "yyyyMMdd"), "20200229");
    ck_assert_str_eq(format(S("2020-02-29"), "HH:mm"), "<NULL>");
    ck_assert_ptr_nonnull(strstr(format(DATE("2020-02-29"), "dd.MM.yy"), "cannot apply"));
}
END_TEST

START_TEST(parse) {
    static const struct {
        const char *text, *plain, *pattern, *date;
    } cases[] = {
        {"2020-02-29 12:34:56", "2020-02-29 12:34:56.000", "2020-02-29 12:34:56.000", "2020-02-29"},
        {"2020-02-29 12:34:56.789", "2020-02-29 12:34:56.789", "2020-02-29 12:34:56.789", "2020-02-29"},
        {"2020-02-29 12:34", "<NULL>", "2020-02-29 12:34:00.000", "2020-02-29"},
        {"2020-02-29", "2020-02-29 00:00:00.000", "2020-02-29 00:00:00.000", "2020-02-29"},
        {"abc", "<NULL>", "<NULL>", "<NULL>"},
        {"2020-02-30 00:00:00", "2020-02-29 00:00:00.000", "2020-03-01 00:00:00.000", "<NULL>"},
        {"2020-2-9 1:2:3", "2020-02-09 01:02:03.000", "2020-02-09 01:02:03.000", "2020-02-09"},
        {"2020-02-29T12:34:56", "<NULL>", "<NULL>", "<NULL>"},
        {"2020-02-29 12:34:56.1234567", "2020-02-29 12:34:56.123", "2020-02-29 12:34:56.123", "2020-02-29"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *s = S(cases[i].text);
        SHOWS(CALL("TO_TIMESTAMP", s), tide__arena_printf(&arena, "%s : TIMESTAMP(3)", cases[i].plain));
        SHOWS(CALL("TO_TIMESTAMP", s, S("yyyy-MM-dd HH:mm")),
              tide__arena_printf(&arena, "%s : TIMESTAMP(3)", cases[i].pattern));
        SHOWS(CALL("TO_DATE", s), tide__arena_printf(&arena, "%s : DATE", cases[i].date));
    }
    SHOWS(CALL("TO_TIMESTAMP", S("29/02/2020 1:05 PM"), S("dd/MM/yyyy h:mm a")),
          "2020-02-29 13:05:00.000 : TIMESTAMP(3)");
    SHOWS(CALL("TO_TIMESTAMP", S("20200229123456"), S("yyyyMMddHHmmss")), "2020-02-29 12:34:56.000 : TIMESTAMP(3)");
    SHOWS(CALL("TO_TIMESTAMP", S("2020-02-29T12:34:56Z"), S("yyyy-MM-dd'T'HH:mm:ss[.SSS]'Z'")),
          "2020-02-29 12:34:56.000 : TIMESTAMP(3)");
    SHOWS(CALL("UNIX_TIMESTAMP", S("1969-12-31 23:59:59")), "-1 : BIGINT NOT NULL");
    SHOWS(CALL("UNIX_TIMESTAMP", S("2020-02-29 12:34:56"), S("yyyy-MM-dd")), "1582934400 : BIGINT NOT NULL");
    SHOWS(CALL("UNIX_TIMESTAMP", S("abc")), "-9223372036854775808 : BIGINT NOT NULL");
    SHOWS(CALL("FROM_UNIXTIME", I(1600000000), S("yyyy/MM/dd HH")), "2020/09/13 12 : STRING");
    SHOWS(CALL("TO_TIMESTAMP_LTZ", I(-1), I(3)), "1969-12-31 23:59:59.999 : TIMESTAMP_LTZ(3)");
    SHOWS(CALL("TO_TIMESTAMP_LTZ", I(1), I(6)), "1970-01-01 00:00:00.000001 : TIMESTAMP_LTZ(6)");
}
END_TEST

START_TEST(zones) {
    struct zone *zone = NULL;
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__zone_open(STR_LIT("GMT+08:00"), &zone, &err), TIDE_OK);
    infer.zone = zone;
    SHOWS(CALL("UNIX_TIMESTAMP", S("2020-02-29 12:34:56")), "1582950896 : BIGINT NOT NULL");
    SHOWS(CALL("FROM_UNIXTIME", I(0)), "1970-01-01 08:00:00 : STRING");
    struct expr *ltz = CALL("TO_TIMESTAMP_LTZ", I(1600000000000), I(3));
    SHOWS(ltz, "2020-09-13 20:26:40.000 : TIMESTAMP_LTZ(3)");
    SHOWS(CAST(ltz, TYPE_VARCHAR), "2020-09-13 20:26:40.000 : STRING");
    SHOWS(CAST_SIZED(ltz, TYPE_TIMESTAMP, 3, 0), "2020-09-13 20:26:40.000 : TIMESTAMP(3)");
    SHOWS(CALL("HOUR", ltz), "20 : BIGINT");
    SHOWS(CALL("CONVERT_TZ", S("2020-02-29 12:34:56"), S("UTC"), S("-05:00")), "2020-02-29 12:34:56 : STRING");
    infer.zone = NULL;
    tide__zone_free(zone);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("time");
    tcase_add_checked_fixture(tests, expr_setup, expr_teardown);
    tcase_add_test(tests, extract);
    tcase_add_test(tests, rounding);
    tcase_add_test(tests, add_and_difference);
    tcase_add_test(tests, date_format);
    tcase_add_test(tests, parse);
    tcase_add_test(tests, zones);
    return run_suite(tests);
}
