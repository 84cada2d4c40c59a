// Errors: the first wins, messages are one clean line, excerpts show the place.
#include "base/error.h"
#include "base/str.h"
#include "base_tests.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

START_TEST(first_error_wins) {
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__fail(&err, TIDE_ERR_PARSE, "one %d", 1), TIDE_ERR_PARSE);
    ck_assert_int_eq(tide__fail(&err, TIDE_ERR_IO, "two"), TIDE_ERR_IO);
    ck_assert_int_eq(tide__fail_errno(&err, ENOENT, "three"), TIDE_ERR_IO);
    ck_assert_int_eq(err.status, TIDE_ERR_PARSE);
    ck_assert_str_eq(err.message, "one 1");
    ck_assert_int_eq(tide__fail_hint(&err, "do %s", "this"), TIDE_ERR_PARSE);
    ck_assert_int_eq(tide__fail_hint(&err, "do that"), TIDE_ERR_PARSE);
    ck_assert_str_eq(err.hint, "do this");
    tide__error_set_file(&err, "a.sql");
    tide__error_set_file(&err, "b.sql");
    ck_assert_str_eq(err.file, "a.sql");
}
END_TEST

START_TEST(no_error_struct_is_fine) {
    ck_assert_int_eq(tide__fail(NULL, TIDE_ERR_PLAN, "x"), TIDE_ERR_PLAN);
    ck_assert_int_eq(tide__fail_errno(NULL, EIO, "x"), TIDE_ERR_IO);
    ck_assert_int_ne(tide__fail_hint(NULL, "x"), TIDE_OK);
    tide__error_set_file(NULL, "x");
    tide__error_set_excerpt(NULL, "x", 1);
    tide__error_clear(NULL);
}
END_TEST

START_TEST(message_is_one_valid_line) {
    tide_error err;
    tide__error_clear(&err);
    tide__fail(&err, TIDE_ERR_RUNTIME, "bad row %s",
               "a\nb\tc\x01\xFF"
               "d\xC3\xA9");
    ck_assert_str_eq(err.message, "bad row a b c??d\xC3\xA9");
}
END_TEST

START_TEST(long_message_is_cut_between_code_points) {
    char text[3000];
    for (size_t i = 0; i + 2 < sizeof(text); i += 2) memcpy(text + i, "\xC3\xA9", 2);
    text[2998] = '\0';
    tide_error err;
    for (int shift = 0; shift < 2; shift++) {
        tide__error_clear(&err);
        tide__fail(&err, TIDE_ERR_RUNTIME, "%s%s", shift ? "x" : "", text);
        size_t len = strlen(err.message);
        ck_assert_uint_lt(len, sizeof(err.message));
        ck_assert_str_eq(err.message + len - 3, "...");
        ck_assert(tide__utf8_valid(tide__str(err.message)));
    }
}
END_TEST

START_TEST(errno_message_has_the_reason) {
    tide_error err;
    tide__error_clear(&err);
    tide__fail_errno(&err, ENOENT, "can't open \"%s\"", "x.csv");
    ck_assert_str_eq(err.message, "can't open \"x.csv\": No such file or directory");
}
END_TEST

// The excerpt for a place in a text.
static tide_error excerpt_of(const char *text, uint32_t line, uint32_t column) {
    tide_error err;
    tide__error_clear(&err);
    struct source_pos pos = {.line = line, .column = column, .length = 1};
    tide__fail_at(&err, TIDE_ERR_PARSE, pos, "here");
    tide__error_set_excerpt(&err, text, strlen(text));
    return err;
}

START_TEST(excerpt_shows_the_line) {
    tide_error err = excerpt_of("select 1\r\n\tfrom x\r\nend", 2, 2);
    ck_assert_str_eq(err.excerpt, " from x");
    ck_assert_uint_eq(err.caret, 1);
    err = excerpt_of("select 1\r\n\tfrom x\r\nend", 3, 4);
    ck_assert_str_eq(err.excerpt, "end");
    ck_assert_uint_eq(err.caret, 3);
    err = excerpt_of("a\xFF\x02"
                     "b\xC3\xA9z",
                     1, 6);
    ck_assert_str_eq(err.excerpt, "a??b\xC3\xA9z");
    ck_assert_uint_eq(err.caret, 5);
    err = excerpt_of("one\n", 2, 1);
    ck_assert_str_eq(err.excerpt, "");
    err = excerpt_of("one\n", 7, 1);
    ck_assert_str_eq(err.excerpt, "");
    err = excerpt_of("", 1, 1);
    ck_assert_str_eq(err.excerpt, "");
}
END_TEST

START_TEST(excerpt_of_a_long_line_is_a_window) {
    char text[1001];
    memset(text, 'a', 1000);
    text[1000] = '\0';
    for (uint32_t at = 0; at < 1000; at += 37) {
        text[at] = 'X';
        tide_error err = excerpt_of(text, 1, at + 1);
        ck_assert_uint_le(strlen(err.excerpt), 126);
        ck_assert_int_eq(err.excerpt[err.caret], 'X');
        ck_assert_int_eq(strncmp(err.excerpt, "...", 3) == 0, at > 60);
        text[at] = 'a';
    }
    tide_error err = excerpt_of(text, 1, 1001);
    ck_assert_uint_eq(err.caret, strlen(err.excerpt));
}
END_TEST

START_TEST(excerpt_of_wide_characters_fits) {
    char text[4001];
    for (size_t i = 0; i < 4000; i += 4) memcpy(text + i, "\xF0\x9F\x8C\x8A", 4);
    text[4000] = '\0';
    tide_error err = excerpt_of(text, 1, 500);
    ck_assert_uint_eq(tide__utf8_length(tide__str(err.excerpt)), 126);
    ck_assert_uint_eq(err.caret, 63);
}
END_TEST

Suite *make_error_suite(void) {
    Suite *suite = suite_create("error");
    TCase *tc = tcase_create("error");
    tcase_add_test(tc, first_error_wins);
    tcase_add_test(tc, no_error_struct_is_fine);
    tcase_add_test(tc, message_is_one_valid_line);
    tcase_add_test(tc, long_message_is_cut_between_code_points);
    tcase_add_test(tc, errno_message_has_the_reason);
    tcase_add_test(tc, excerpt_shows_the_line);
    tcase_add_test(tc, excerpt_of_a_long_line_is_a_window);
    tcase_add_test(tc, excerpt_of_wide_characters_fits);
    suite_add_tcase(suite, tc);
    return suite;
}
