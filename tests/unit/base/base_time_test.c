// Floors, the calendar, and times as text. The spellings are those that real Flink 2.3.0 was seen to take.
#include "base/time.h"
#include "base_tests.h"

START_TEST(floors_go_down_before_1970) {
    ck_assert_int_eq(tide__floor_div(-1, 10), -1);
    ck_assert_int_eq(tide__floor_div(-10, 10), -1);
    ck_assert_int_eq(tide__floor_mod(-1, 10), 9);
    ck_assert_int_eq(tide__floor_mod(-10, 10), 0);
    ck_assert_int_eq(tide__time_floor(-1, 0, 1000), -1000);
    ck_assert_int_eq(tide__time_floor(-1000, 0, 1000), -1000);
    ck_assert_int_eq(tide__time_floor(999, 0, 1000), 0);
    ck_assert_int_eq(tide__time_floor(999, 300, 1000), 300);
    ck_assert_int_eq(tide__time_floor(299, 300, 1000), -700);
    ck_assert_int_eq(tide__time_floor(299, -2700, 1000), -700);
}
END_TEST

START_TEST(floor_saturates_at_the_ends) {
    ck_assert(tide__time_floor(INT64_MIN, 0, 1000) == INT64_MIN);
    ck_assert(tide__time_floor(INT64_MIN, INT64_MAX, 1000) == INT64_MIN);
    int64_t t = tide__time_floor(INT64_MAX, INT64_MIN, 1000);
    ck_assert(t <= INT64_MAX && t > INT64_MAX - 1000);
    ck_assert((((__int128)t - INT64_MIN) % 1000) == 0);
}
END_TEST

START_TEST(calendar_goes_both_ways) {
    ck_assert_int_eq(tide__days_from_civil(1970, 1, 1), 0);
    ck_assert_int_eq(tide__days_from_civil(1969, 12, 31), -1);
    ck_assert_int_eq(tide__days_from_civil(2000, 3, 1), 11017);
    ck_assert_int_eq(tide__days_from_civil(0, 1, 1), -719528);
    ck_assert_int_eq(tide__days_from_civil(-1, 12, 31), -719529);
    int64_t before = tide__days_from_civil(-1, 12, 31);
    for (int64_t year = 0; year <= 2500; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= tide__days_in_month(year, month); day++) {
                int64_t days = tide__days_from_civil(year, month, day), y = 0;
                int m = 0, d = 0;
                tide__civil_from_days(days, &y, &m, &d);
                if (days != before + 1 || y != year || m != month || d != day ||
                    tide__days_from_civil_fast((unsigned)year, (unsigned)month, (unsigned)day) != days) {
                    ck_abort_msg("%lld-%d-%d", (long long)year, month, day);
                }
                before = days;
            }
        }
    }
    for (int64_t year = -999999; year <= 999999; year += 997) {
        int64_t y = 0;
        int m = 0, d = 0;
        tide__civil_from_days(tide__days_from_civil(year, 2, 28), &y, &m, &d);
        ck_assert(y == year && m == 2 && d == 28);
    }
    ck_assert_int_eq(tide__days_in_month(1900, 2), 28);
    ck_assert_int_eq(tide__days_in_month(2000, 2), 29);
    ck_assert_int_eq(tide__days_in_month(-4, 2), 29);
}
END_TEST

// Reads and prints again with 9 digits; "no" if it isn't one.
static void expect_timestamp(struct str text, const char *wanted) {
    struct timestamp t = {0};
    struct strbuf out = {0};
    if (tide__timestamp_parse_sql(text, &t))
        tide__timestamp_print(t, 9, &out);
    else
        tide__strbuf_append_c(&out, "no");
    ck_assert_str_eq(out.data, wanted);
    tide__strbuf_deinit(&out);
}

START_TEST(timestamps_are_read_as_flink_reads_csv) {
    expect_timestamp(STR_LIT("2020-02-29 12:34:56"), "2020-02-29 12:34:56.000000000");
    expect_timestamp(STR_LIT("2020-02-29 12:34:56.7"), "2020-02-29 12:34:56.700000000");
    expect_timestamp(STR_LIT("2020-02-29 12:34:56.789"), "2020-02-29 12:34:56.789000000");
    expect_timestamp(STR_LIT("2020-02-29 12:34:56.789123"), "2020-02-29 12:34:56.789123000");
    expect_timestamp(STR_LIT("2020-02-29 12:34:56.789999999"), "2020-02-29 12:34:56.789999999");
    expect_timestamp(STR_LIT(" 2020-02-29 12:34:56 "), "2020-02-29 12:34:56.000000000");
    expect_timestamp(STR_LIT("2020-02-30 00:00:00"), "2020-02-29 00:00:00.000000000");
    expect_timestamp(STR_LIT("2021-04-31 00:00:00.5"), "2021-04-30 00:00:00.500000000");
    expect_timestamp(STR_LIT("2020-02-29 24:00:00"), "2020-03-01 00:00:00.000000000");
    expect_timestamp(STR_LIT("0000-01-01 00:00:00"), "0000-01-01 00:00:00.000000000");
    expect_timestamp(STR_LIT("-0001-01-01 00:00:00.001"), "-0001-01-01 00:00:00.001000000");
    expect_timestamp(STR_LIT("+999999-12-31 23:59:59"), "+999999-12-31 23:59:59.000000000");
    expect_timestamp(STR_LIT("-999999-01-01 00:00:00"), "-999999-01-01 00:00:00.000000000");
    expect_timestamp(STR_LIT("1969-12-31 23:59:59.999999999"), "1969-12-31 23:59:59.999999999");
}
END_TEST

START_TEST(what_is_no_timestamp_is_refused) {
    static const char *const texts[] = {
        "",
        " ",
        "2020-02-29T12:34:56",
        "2020-02-29 12:34",
        "2020-02-29",
        "2020-2-9 1:2:3",
        "2020-02-29 12:34:56Z",
        "1582979696000",
        "2020-02-29 12:34:56+01:00",
        "2020-02-29  12:34:56",
        "2020-02-32 00:00:00",
        "2020-00-01 00:00:00",
        "2020-13-01 00:00:00",
        "2020-01-00 00:00:00",
        "2020-02-29 24:00:01",
        "2020-02-29 25:00:00",
        "2020-02-29 12:60:00",
        "2020-02-29 12:34:60",
        "2020-02-29 12:34:56.1234567890",
        "+2020-02-29 12:34:56",
        "-0000-02-29 12:34:56",
        "10000-02-29 12:34:56",
        "2020-02-29 12:34:56.12x",
        "2020/02/29 12:34:56.123",
        "2020-02-29 12:34:56,123",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_timestamp(tide__str(texts[i]), "no");
    }
}
END_TEST

START_TEST(fast_path_agrees_or_passes) {
    const char base[] = "2024-02-29 23:59:59.123";
    for (size_t len = 19; len <= 23; len += 4) {
        for (size_t at = 0; at < len; at++) {
            for (int c = 0; c < 256; c++) {
                char text[24];
                for (size_t i = 0; i < sizeof(text); i++) text[i] = base[i];
                text[at] = (char)c;
                int64_t ms = 0;
                struct timestamp slow = {0};
                // A blank behind makes the slow path read the same.
                char padded[25];
                for (size_t i = 0; i < len; i++) padded[i] = text[i];
                padded[len] = ' ';
                bool fast = tide__timestamp_parse_fast(text, len, &ms);
                bool slowly = tide__timestamp_parse_sql((struct str){padded, len + 1}, &slow);
                ck_assert(!fast || (slowly && slow.ms == ms && slow.nanos == 0));
                if (slowly && !fast) ck_assert(at == 9 || at == 5 || at == 6 || at == 2 || at == 3 || c <= ' ');
            }
        }
    }
}
END_TEST

START_TEST(timestamps_are_cut_to_the_precision) {
    struct timestamp t = {-1, 999999};
    static const char *const wanted[] = {"1969-12-31 23:59:59",          "1969-12-31 23:59:59.9",
                                         "1969-12-31 23:59:59.99",       "1969-12-31 23:59:59.999",
                                         "1969-12-31 23:59:59.9999",     "1969-12-31 23:59:59.99999",
                                         "1969-12-31 23:59:59.999999",   "1969-12-31 23:59:59.9999999",
                                         "1969-12-31 23:59:59.99999999", "1969-12-31 23:59:59.999999999"};
    for (int precision = 0; precision <= 9; precision++) {
        struct strbuf out = {0};
        tide__timestamp_print(t, precision, &out);
        ck_assert_str_eq(out.data, wanted[precision]);
        tide__strbuf_deinit(&out);
    }
    struct strbuf out = {0};
    tide__timestamp_print((struct timestamp){INT64_MAX, 0}, 3, &out);
    ck_assert_str_eq(out.data, "+292278994-08-17 07:12:55.807");
    tide__strbuf_clear(&out);
    tide__timestamp_print((struct timestamp){INT64_MIN, 0}, 3, &out);
    ck_assert_str_eq(out.data, "-292275055-05-16 16:47:04.192");
    tide__strbuf_clear(&out);
    tide__time_print(45296789, 0, &out);
    tide__strbuf_append_char(&out, ' ');
    tide__time_print(45296789, 2, &out);
    ck_assert_str_eq(out.data, "12:34:56 12:34:56.78");
    tide__strbuf_deinit(&out);
}
END_TEST

START_TEST(dates_and_times_are_read) {
    int64_t v = 0;
    ck_assert(tide__date_parse(STR_LIT("1970-01-02"), &v) && v == 1);
    ck_assert(tide__date_parse(STR_LIT("0001-01-01"), &v) && v == -719162);
    ck_assert(!tide__date_parse(STR_LIT("2020-02-30"), &v));
    ck_assert(!tide__date_parse(STR_LIT("2020-2-9"), &v));
    ck_assert(!tide__date_parse(STR_LIT("2020-02-29 "), &v));
    ck_assert(!tide__date_parse((struct str){NULL, 0}, &v));
    ck_assert(tide__date_parse_csv(STR_LIT("1970-1-2"), &v) && v == 1);
    ck_assert(tide__date_parse_csv(STR_LIT("2020-02-30"), &v) && v == tide__days_from_civil(2020, 3, 1));
    ck_assert(!tide__date_parse_csv(STR_LIT("20200229"), &v));
    ck_assert(!tide__date_parse_csv(STR_LIT("2020-02-29 10:00:00"), &v));
    ck_assert(tide__time_parse(STR_LIT("12:34:56.789999"), &v) && v == 45296789);
    ck_assert(!tide__time_parse(STR_LIT("12:34"), &v));
    ck_assert(!tide__time_parse(STR_LIT("24:00:00"), &v));
    ck_assert(tide__time_parse_csv(STR_LIT("12:34"), &v) && v == 45240000);
    ck_assert(!tide__time_parse_csv(STR_LIT("1:2:3"), &v));
    ck_assert(!tide__time_parse_csv(STR_LIT("12:34:56Z"), &v));
    ck_assert(!tide__time_parse_csv(STR_LIT("25:00:00"), &v));
    struct strbuf out = {0};
    tide__date_print(-719163, &out);
    ck_assert_str_eq(out.data, "0000-12-31");
    tide__strbuf_deinit(&out);
}
END_TEST

START_TEST(durations_and_sizes_are_read) {
    int64_t ms = 0;
    uint64_t bytes = 0;
    ck_assert(tide__duration_parse(STR_LIT("200 ms"), &ms) && ms == 200);
    ck_assert(tide__duration_parse(STR_LIT("10s"), &ms) && ms == 10000);
    ck_assert(tide__duration_parse(STR_LIT(" 1 MIN "), &ms) && ms == 60000);
    ck_assert(tide__duration_parse(STR_LIT("2 hours"), &ms) && ms == 7200000);
    ck_assert(tide__duration_parse(STR_LIT("1d"), &ms) && ms == MILLIS_PER_DAY);
    ck_assert(tide__duration_parse(STR_LIT("1500 micros"), &ms) && ms == 1);
    ck_assert(tide__duration_parse(STR_LIT("5"), &ms) && ms == 5);
    ck_assert(!tide__duration_parse(STR_LIT("5 parsecs"), &ms));
    ck_assert(!tide__duration_parse(STR_LIT("-5 s"), &ms));
    ck_assert(!tide__duration_parse(STR_LIT(""), &ms));
    ck_assert(!tide__duration_parse(STR_LIT("9223372036854775807 s"), &ms));
    ck_assert(!tide__duration_parse(STR_LIT("9223372036854775808"), &ms));
    ck_assert(tide__size_parse(STR_LIT("64MB"), &bytes) && bytes == 64 << 20);
    ck_assert(tide__size_parse(STR_LIT("512 mb"), &bytes) && bytes == 512 << 20);
    ck_assert(tide__size_parse(STR_LIT("1g"), &bytes) && bytes == 1 << 30);
    ck_assert(tide__size_parse(STR_LIT("4096"), &bytes) && bytes == 4096);
    ck_assert(!tide__size_parse(STR_LIT("1.5g"), &bytes));
    ck_assert(!tide__size_parse(STR_LIT("9999999999 tb"), &bytes));
}
END_TEST

Suite *make_time_suite(void) {
    Suite *suite = suite_create("time");
    TCase *tc = tcase_create("time");
    tcase_add_test(tc, floors_go_down_before_1970);
    tcase_add_test(tc, floor_saturates_at_the_ends);
    tcase_add_test(tc, calendar_goes_both_ways);
    tcase_add_test(tc, timestamps_are_read_as_flink_reads_csv);
    tcase_add_test(tc, what_is_no_timestamp_is_refused);
    tcase_add_test(tc, fast_path_agrees_or_passes);
    tcase_add_test(tc, timestamps_are_cut_to_the_precision);
    tcase_add_test(tc, dates_and_times_are_read);
    tcase_add_test(tc, durations_and_sizes_are_read);
    suite_add_tcase(suite, tc);
    return suite;
}
