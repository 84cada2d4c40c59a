// The allocator with its fault switch, and arenas.
#include "base/alloc.h"
#include "base/arena.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base_tests.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

START_TEST(size_zero_is_a_pointer) {
    void *a = tide__alloc(0), *b = tide__calloc(0, 8), *c = tide__realloc(NULL, 0);
    ck_assert(a != NULL && b != NULL && c != NULL);
    ck_assert(a != b && b != c);
    tide__free(a);
    tide__free(b);
    tide__free(c);
    tide__free(NULL);
}
END_TEST

START_TEST(grow_doubles) {
    size_t capacity = 0;
    int *array = tide__grow(NULL, &capacity, 1, sizeof(int));
    ck_assert_uint_eq(capacity, 8);
    array = tide__grow(array, &capacity, 9, sizeof(int));
    ck_assert_uint_eq(capacity, 16);
    array = tide__grow(array, &capacity, 3, sizeof(int));
    ck_assert_uint_eq(capacity, 16);
    tide__free(array);
    char *copy = tide__strndup("abcdef", 3);
    ck_assert_str_eq(copy, "abc");
    tide__free(copy);
}
END_TEST

// The test runs in its own process, which must end with status 1. A test of the same process that has allocated before
// would have read the variable already: Check forks one process a test.
START_TEST(the_nth_allocation_fails) {
    setenv("TIDE_FAULT_ALLOC", "3", 1);
    tide__free(tide__alloc(1));
    tide__free(tide__calloc(1, 1));
    tide__free(tide__realloc(NULL, 1));
    _Exit(7);  // not reached
}
END_TEST

START_TEST(an_impossible_size_ends_the_process) {
    tide__realloc_array(NULL, SIZE_MAX / 2, 4);
    _Exit(7);
}
END_TEST

START_TEST(arena_blocks_are_aligned_and_disjoint) {
    struct arena arena;
    tide__arena_init(&arena);
    unsigned char *pieces[500];
    for (size_t i = 0; i < 500; i++) {
        pieces[i] = tide__arena_alloc(&arena, i * 7 % 97);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i & 0xFF), i * 7 % 97);
    }
    for (size_t i = 0; i < 500; i++) {
        for (size_t j = 0; j < i * 7 % 97; j++) ck_assert_int_eq(pieces[i][j], (int)(i & 0xFF));
    }
    tide__arena_deinit(&arena);
    ck_assert_uint_eq(tide__arena_bytes(&arena), 0);
}
END_TEST

START_TEST(arena_grows_to_one_mebibyte) {
    struct arena arena;
    tide__arena_init(&arena);
    ck_assert_uint_eq(tide__arena_bytes(&arena), 0);
    tide__arena_alloc(&arena, 1);
    ck_assert_uint_eq(tide__arena_bytes(&arena), 4096);
    for (int i = 0; i < 8000; i++) memset(tide__arena_alloc(&arena, 1000), 1, 1000);
    ck_assert_uint_lt(tide__arena_bytes(&arena), 10 << 20);
    tide__arena_reset(&arena);
    ck_assert_uint_eq(tide__arena_bytes(&arena), 1 << 20);
    for (int i = 0; i < 1000; i++) tide__arena_alloc(&arena, 1000);
    ck_assert_uint_eq(tide__arena_bytes(&arena), 1 << 20);
    tide__arena_deinit(&arena);
}
END_TEST

START_TEST(arena_oversize_has_its_own_block) {
    struct arena arena;
    tide__arena_init(&arena);
    char *big = tide__arena_zalloc(&arena, 3 << 20);
    char *small = tide__arena_strndup(&arena, "abc", 2);
    ck_assert_str_eq(small, "ab");
    ck_assert_int_eq(big[(3 << 20) - 1], 0);
    char *head = tide__arena_alloc(&arena, 16);
    tide__arena_alloc(&arena, 2 << 20);
    ck_assert_ptr_eq(tide__arena_alloc(&arena, 16), head + 16);
    tide__arena_reset(&arena);
    ck_assert_uint_ge(tide__arena_bytes(&arena), 3 << 20);
    ck_assert_str_eq(tide__arena_printf(&arena, "%s-%d", "x", 5), "x-5");
    tide__arena_deinit(&arena);
    tide__arena_reset(&arena);
}
END_TEST

START_TEST(checked_arithmetic_sees_overflow) {
    int64_t out = 0;
    ck_assert(tide__checked_add(1, 2, &out) && out == 3);
    ck_assert(!tide__checked_add(INT64_MAX, 1, &out));
    ck_assert(!tide__checked_sub(INT64_MIN, 1, &out));
    ck_assert(!tide__checked_mul(INT64_MIN, -1, &out));
    ck_assert(tide__saturating_add(INT64_MAX, 5) == INT64_MAX);
    ck_assert(tide__saturating_add(INT64_MIN, -5) == INT64_MIN);
    ck_assert(tide__saturating_sub(INT64_MIN, 5) == INT64_MIN);
    ck_assert(tide__saturating_sub(0, INT64_MIN) == INT64_MAX);
    ck_assert(tide__wrapping_add(INT64_MAX, 1) == INT64_MIN);
    ck_assert(tide__wrapping_mul(INT64_MIN, -1) == INT64_MIN);
}
END_TEST

START_TEST(hashes_tell_bytes_and_lengths_apart) {
    unsigned char bytes[64] = {0};
    for (size_t a = 0; a < 64; a++) {
        for (size_t b = 0; b < a; b++) {
            ck_assert(tide__hash_bytes(bytes, a) != tide__hash_bytes(bytes, b));
        }
        uint64_t before = tide__hash_bytes(bytes, 64);
        bytes[a] = 1;
        ck_assert(tide__hash_bytes(bytes, 64) != before);
    }
    // Published value of XXH3_64bits for no input.
    ck_assert(tide__hash_checksum("", 0, 0) == UINT64_C(0x2D06800538D394C2));
}
END_TEST

Suite *make_memory_suite(void) {
    Suite *suite = suite_create("memory");
    TCase *tc = tcase_create("memory");
    tcase_add_test(tc, size_zero_is_a_pointer);
    tcase_add_test(tc, grow_doubles);
    tcase_add_exit_test(tc, the_nth_allocation_fails, 1);
    tcase_add_exit_test(tc, an_impossible_size_ends_the_process, 1);
    tcase_add_test(tc, arena_blocks_are_aligned_and_disjoint);
    tcase_add_test(tc, arena_grows_to_one_mebibyte);
    tcase_add_test(tc, arena_oversize_has_its_own_block);
    tcase_add_test(tc, checked_arithmetic_sees_overflow);
    tcase_add_test(tc, hashes_tell_bytes_and_lengths_apart);
    suite_add_tcase(suite, tc);
    return suite;
}
