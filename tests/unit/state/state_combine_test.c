// The combiners, field by field.
#include "state_tests.h"

#include "base/hash.h"
#include "state/sketch.h"
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

// One pass over many values gives the bytes of combining them two by two.
START_TEST(all_at_once_is_the_same) {
    struct state_field fields[] = {
        {"a", "t", STATE_FORM_I64, STATE_COMBINE_ADD},     {"b", "t", STATE_FORM_BYTES, STATE_COMBINE_CONCAT},
        {"c", "t", STATE_FORM_BYTES, STATE_COMBINE_MIN},   {"d", "t", STATE_FORM_BYTES, STATE_COMBINE_MAX},
        {"e", "t", STATE_FORM_BYTES, STATE_COMBINE_FIRST}, {"f", "t", STATE_FORM_BYTES, STATE_COMBINE_LAST},
        {"g", "t", STATE_FORM_I128, STATE_COMBINE_ADD},    {"h", "t", STATE_FORM_F64, STATE_COMBINE_REPLACE},
    };
    struct state_table_desc desc = {.value_count = 8, .values = fields};
    enum { VALUES = 40, BYTES = 64 };
    char bytes[VALUES][BYTES];
    struct str values[VALUES];
    uint64_t random = 7;
    for (int i = 0; i < VALUES; i++) {
        size_t at = 0;
        for (int f = 0; f < 8; f++) {
            size_t size = f == 0 || f == 7 ? 8 : f == 6 ? 16 : (random >> 60) % 5;
            if (f > 0 && f < 6) bytes[i][at++] = (char)size;
            for (size_t k = 0; k < size; k++, random = random * 6364136223846793005u + 1442695040888963407u)
                bytes[i][at++] = (char)(random >> 56);
            random = random * 6364136223846793005u + 1442695040888963407u;
        }
        values[i] = (struct str){bytes[i], at};
    }
    struct strbuf one_by_one = {0}, next = {0}, at_once = {0};
    tide__strbuf_append_str(&one_by_one, values[0]);
    for (size_t n = 1; n <= VALUES; n++) {
        tide__strbuf_clear(&at_once);
        ck_assert(tide__state_combine_all(&desc, values, n, &at_once));
        ck_assert_uint_eq(at_once.len, one_by_one.len);
        ck_assert_int_eq(memcmp(at_once.data, one_by_one.data, at_once.len), 0);
        if (n == VALUES) break;
        tide__strbuf_clear(&next);
        ck_assert(tide__state_combine(&desc, tide__strbuf_str(&one_by_one), values[n], &next));
        struct strbuf swapped = one_by_one;
        one_by_one = next;
        next = swapped;
    }
    values[VALUES - 1].len--;
    ck_assert(!tide__state_combine_all(&desc, values, VALUES, &at_once));
    tide__strbuf_deinit(&one_by_one);
    tide__strbuf_deinit(&next);
    tide__strbuf_deinit(&at_once);
}
END_TEST

static double count_of(struct sketch *sketch, uint64_t first, uint64_t keys) {
    for (uint64_t i = first; i < first + keys; i++) tide__sketch_add(sketch, tide__hash_bytes(&i, sizeof i));
    return tide__sketch_count(sketch);
}

START_TEST(a_sketch_counts_different_keys) {
    for (uint64_t keys = 0; keys <= 2000000; keys = keys * 5 + 1) {
        struct sketch sketch = {0}, other = {0};
        double n = (double)keys, once = count_of(&sketch, 0, keys);
        ck_assert_double_le(once, 1.1 * n);
        ck_assert_double_ge(once, 0.9 * n);
        ck_assert_double_eq(count_of(&sketch, 0, keys), once);
        count_of(&other, keys / 2, keys);
        tide__sketch_unite(&sketch, &other);
        ck_assert_double_le(tide__sketch_count(&sketch), 1.1 * (1.5 * n + 1));
        ck_assert_double_ge(tide__sketch_count(&sketch), 0.9 * 1.5 * n - 1);
    }
}
END_TEST

Suite *make_combine_suite(void) {
    Suite *suite = suite_create("state_combine");
    TCase *tcase = tcase_create("combine");
    tcase_add_test(tcase, every_combiner_does_what_it_says);
    tcase_add_test(tcase, all_at_once_is_the_same);
    tcase_add_test(tcase, a_sketch_counts_different_keys);
    tcase_add_test(tcase, long_concatenations_get_longer_lengths);
    tcase_add_test(tcase, malformed_values_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
