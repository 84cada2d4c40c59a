// The combiners, field by field.
#include "state_tests.h"

#include "state/state.h"

#include <string.h>

static void check(enum state_form form, enum state_combiner combiner, struct str older, struct str newer,
                  struct str expected) {
    struct state_field field = {"f", "t", form, combiner};
    struct state_table_desc desc = {.name = "t", .value_count = 1, .values = &field};
    struct strbuf out = {0};
    tide__strbuf_append_c(&out, "before");
    ck_assert(tide__state_combine(&desc, older, newer, &out));
    ck_assert_uint_eq(out.len, 6 + expected.len);
    ck_assert_mem_eq(out.data + 6, expected.data, expected.len);
    tide__strbuf_deinit(&out);
}

#define CHECK(form, combiner, older, newer, expected)                                                                  \
    check(STATE_FORM_##form, STATE_COMBINE_##combiner, STR_LIT(older), STR_LIT(newer), STR_LIT(expected))

START_TEST(every_combiner_does_what_it_says) {
    CHECK(I64, REPLACE, "11111111", "22222222", "22222222");
    CHECK(F64, REPLACE, "11111111", "22222222", "22222222");
    CHECK(I64, ADD, "\xff\xff\xff\xff\xff\xff\xff\xff", "\2\0\0\0\0\0\0\0", "\1\0\0\0\0\0\0\0");
    CHECK(I128, ADD, "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0", "\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
          "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0");
    CHECK(BYTES, MIN, "\2ab", "\2aa", "\2aa");
    CHECK(BYTES, MIN, "\2ab", "\0", "\2ab");
    CHECK(BYTES, MIN, "\0", "\1z", "\1z");
    CHECK(BYTES, MAX, "\2ab", "\3abc", "\3abc");
    CHECK(BYTES, MAX, "\0", "\0", "\0");
    CHECK(BYTES, CONCAT, "\2ab", "\1c", "\3abc");
    CHECK(BYTES, FIRST, "\1a", "\1b", "\1a");
    CHECK(BYTES, FIRST, "\0", "\1b", "\1b");
    CHECK(BYTES, LAST, "\1a", "\1b", "\1b");
    CHECK(BYTES, LAST, "\1a", "\0", "\1a");
}
END_TEST

START_TEST(long_concatenations_get_longer_lengths) {
    struct state_field field = {"f", "t", STATE_FORM_BYTES, STATE_COMBINE_CONCAT};
    struct state_table_desc desc = {.name = "t", .value_count = 1, .values = &field};
    struct strbuf sum = {0}, next = {0};
    tide__strbuf_append(&sum, "\0", 1);
    for (int i = 0; i < 300; i++) {
        tide__strbuf_clear(&next);
        ck_assert(tide__state_combine(&desc, tide__strbuf_str(&sum), STR_LIT("\1x"), &next));
        struct strbuf swap = sum;
        sum = next;
        next = swap;
    }
    ck_assert_uint_eq(sum.len, 302);
    tide__strbuf_deinit(&sum);
    tide__strbuf_deinit(&next);
}
END_TEST

START_TEST(malformed_values_are_refused) {
    struct state_field fields[] = {{"a", "t", STATE_FORM_I64, STATE_COMBINE_ADD},
                                   {"b", "t", STATE_FORM_BYTES, STATE_COMBINE_LAST}};
    struct state_table_desc desc = {.name = "t", .value_count = 2, .values = fields};
    struct strbuf out = {0};
    struct str good = STR_LIT("12345678\1x");
    ck_assert(tide__state_combine(&desc, good, good, &out));
    struct str bad[] = {STR_LIT(""),
                        STR_LIT("1234567"),
                        STR_LIT("12345678"),
                        STR_LIT("12345678\2x"),
                        STR_LIT("12345678\1xy"),
                        STR_LIT("12345678\xff\xff\xff\xff\xff\x01")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t before = out.len;
        ck_assert(!tide__state_combine(&desc, good, bad[i], &out));
        ck_assert(!tide__state_combine(&desc, bad[i], good, &out));
        ck_assert_uint_eq(out.len, before);
    }
    tide__strbuf_deinit(&out);
}
END_TEST

Suite *make_combine_suite(void) {
    Suite *suite = suite_create("state_combine");
    TCase *tcase = tcase_create("combine");
    tcase_add_test(tcase, every_combiner_does_what_it_says);
    tcase_add_test(tcase, long_concatenations_get_longer_lengths);
    tcase_add_test(tcase, malformed_values_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
