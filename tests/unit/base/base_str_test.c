// Slices, buffers, UTF-8 and near names.
#include "base/str.h"
#include "base_tests.h"

#include <string.h>

START_TEST(slices_compare_by_bytes) {
    ck_assert(tide__str_eq(STR_LIT("a\0b"), STR_LIT("a\0b")));
    ck_assert(!tide__str_eq(STR_LIT("a\0b"), STR_LIT("a\0c")));
    ck_assert(tide__str_eq((struct str){NULL, 0}, STR_LIT("")));
    ck_assert(tide__str_eq_c(STR_LIT("abc"), "abc"));
    ck_assert(!tide__str_eq_c(STR_LIT("abc"), "abcd"));
    ck_assert(tide__str_ieq_c(STR_LIT("TuMbLe"), "tumble"));
    ck_assert(!tide__str_ieq_c(STR_LIT("tumbl"), "tumble"));
    ck_assert(!tide__str_ieq_c(STR_LIT("tumble"), "tumbl"));
    ck_assert(!tide__str_ieq_c(STR_LIT("a\0"), "a"));
    ck_assert_int_lt(tide__str_cmp(STR_LIT("a"), STR_LIT("ab")), 0);
    ck_assert_int_gt(tide__str_cmp(STR_LIT("\xFF"), STR_LIT("a")), 0);
    ck_assert_int_eq(tide__str_cmp(STR_LIT("ab"), STR_LIT("ab")), 0);
}
END_TEST

START_TEST(buffer_grows_and_stays_terminated) {
    struct strbuf buf = {0};
    ck_assert_uint_eq(tide__strbuf_str(&buf).len, 0);
    ck_assert_ptr_nonnull(tide__strbuf_str(&buf).data);
    tide__strbuf_append(&buf, NULL, 0);
    ck_assert_str_eq(buf.data, "");
    for (int i = 0; i < 1000; i++) tide__strbuf_append_char(&buf, (char)('a' + i % 26));
    ck_assert_uint_eq(strlen(buf.data), 1000);
    tide__strbuf_clear(&buf);
    ck_assert_str_eq(buf.data, "");
    char text[300];
    memset(text, 'x', 299);
    text[299] = '\0';
    for (int i = 0; i < 20; i++) tide__strbuf_printf(&buf, "%s%d", text, i);
    ck_assert_uint_eq(buf.len, 299 * 20 + 10 + 20);
    ck_assert_uint_eq(strlen(buf.data), buf.len);
    tide__strbuf_append_c(&buf, "ab");
    tide__strbuf_append_str(&buf, STR_LIT("c\0d"));
    ck_assert_int_eq(memcmp(buf.data + buf.len - 5, "abc\0d", 6), 0);
    char *room = tide__strbuf_reserve(&buf, 5000);
    memset(room, 'y', 5000);
    tide__strbuf_deinit(&buf);
    ck_assert_uint_eq(buf.cap, 0);
}
END_TEST

START_TEST(utf8_is_decoded_strictly) {
    static const struct {
        struct str text;
        uint32_t code;
        size_t used;
    } cases[] = {
        {STR_LIT("a"), 'a', 1},
        {STR_LIT("\0"), 0, 1},
        {STR_LIT("\xC3\xA9"), 0xE9, 2},
        {STR_LIT("\xE2\x82\xAC"), 0x20AC, 3},
        {STR_LIT("\xF0\x9F\x8C\x8A"), 0x1F30A, 4},
        {STR_LIT("\xF4\x8F\xBF\xBF"), 0x10FFFF, 4},
        {STR_LIT("\xC0\x80"), 0xFFFD, 1},          // overlong
        {STR_LIT("\xE0\x80\x80"), 0xFFFD, 1},      // overlong
        {STR_LIT("\xF0\x80\x80\x80"), 0xFFFD, 1},  // overlong
        {STR_LIT("\xED\xA0\x80"), 0xFFFD, 1},      // surrogate
        {STR_LIT("\xF4\x90\x80\x80"), 0xFFFD, 1},  // past the last code point
        {STR_LIT("\xE2\x82"), 0xFFFD, 1},          // cut
        {STR_LIT("\x80"), 0xFFFD, 1},
        {STR_LIT("\xFF"), 0xFFFD, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t at = 0;
        ck_assert_uint_eq(tide__utf8_next(cases[i].text, &at), cases[i].code);
        ck_assert_uint_eq(at, cases[i].used);
        ck_assert_int_eq(tide__utf8_valid(cases[i].text), cases[i].code != 0xFFFD);
    }
    ck_assert(tide__utf8_valid(STR_LIT("\xEF\xBF\xBD")));  // U+FFFD itself is fine
    ck_assert(tide__utf8_valid((struct str){NULL, 0}));
    ck_assert(!tide__utf8_valid(STR_LIT("0123456789\xFF")));
    ck_assert_uint_eq(tide__utf8_length(STR_LIT("0123456789\xC3\xA9\xFF"
                                                "01234567890")),
                      23);
}
END_TEST

START_TEST(near_names_are_found) {
    static const char *const names[] = {"price", "item", "bid_time", "Amount", "id", "user_id"};
    ck_assert_str_eq(tide__nearest(STR_LIT("pricee"), names, 6), "price");
    ck_assert_str_eq(tide__nearest(STR_LIT("PRICE"), names, 6), "price");
    ck_assert_str_eq(tide__nearest(STR_LIT("pirce"), names, 6), "price");
    ck_assert_str_eq(tide__nearest(STR_LIT("amuont"), names, 6), "Amount");
    ck_assert_str_eq(tide__nearest(STR_LIT("bidtime"), names, 6), "bid_time");
    ck_assert_str_eq(tide__nearest(STR_LIT("userid"), names, 6), "user_id");
    ck_assert_ptr_null(tide__nearest(STR_LIT("window"), names, 6));
    ck_assert_ptr_null(tide__nearest(STR_LIT("x"), names, 6));
    ck_assert_ptr_null(tide__nearest(STR_LIT(""), names, 6));
    ck_assert_ptr_null(tide__nearest(STR_LIT("abc"), NULL, 0));
    static const char *const same[] = {"ABC", "abC", "abd"};
    ck_assert_str_eq(tide__nearest(STR_LIT("abc"), same, 3), "abC");
    char text[200];
    memset(text, 'a', sizeof(text));
    ck_assert_ptr_null(tide__nearest((struct str){text, sizeof(text)}, names, 6));
}
END_TEST

Suite *make_str_suite(void) {
    Suite *suite = suite_create("str");
    TCase *tc = tcase_create("str");
    tcase_add_test(tc, slices_compare_by_bytes);
    tcase_add_test(tc, buffer_grows_and_stays_terminated);
    tcase_add_test(tc, utf8_is_decoded_strictly);
    tcase_add_test(tc, near_names_are_found);
    suite_add_tcase(suite, tc);
    return suite;
}
