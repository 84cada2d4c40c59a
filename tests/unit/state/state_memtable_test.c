// The memtable against a plain model: what was put in comes out, in insertion order and in key order.
#include "state_tests.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "state/memtable.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(struct str key) {
    return tide__hash_bytes(key.data, key.len);
}

START_TEST(keys_are_found_again_and_payloads_never_move) {
    struct memory_budget budget = {.limit = 1 << 20};
    struct memtable *table = tide__memtable_new(&budget, 12);
    uint64_t seed = 7;
    struct memtable_entry *first[3000];
    char key[40];
    for (int i = 0; i < 3000; i++) {
        int len = snprintf(key, sizeof key, "%d-%.*s", i, i % 20, "xxxxxxxxxxxxxxxxxxxxxx");
        bool is_new;
        struct str s = {key, (size_t)len};
        first[i] = tide__memtable_upsert(table, s, hash_of(s), &is_new);
        ck_assert(is_new);
        int64_t *payload = tide__memtable_payload(table, first[i]);
        ck_assert_uint_eq((uintptr_t)payload % 16, 0);
        ck_assert_int_eq(*payload, 0);
        *payload = i;
    }
    for (int round = 0; round < 10000; round++) {
        int i = (int)(next_random(&seed) % 3000);
        int len = snprintf(key, sizeof key, "%d-%.*s", i, i % 20, "xxxxxxxxxxxxxxxxxxxxxx");
        struct str s = {key, (size_t)len};
        bool is_new;
        ck_assert_ptr_eq(tide__memtable_find(table, s, hash_of(s)), first[i]);
        ck_assert_ptr_eq(tide__memtable_upsert(table, s, hash_of(s), &is_new), first[i]);
        ck_assert(!is_new);
        ck_assert_int_eq(*(int64_t *)tide__memtable_payload(table, first[i]), i);
    }
    ck_assert_ptr_null(tide__memtable_find(table, STR_LIT("none"), hash_of(STR_LIT("none"))));
    ck_assert_uint_eq(tide__memtable_count(table), 3000);
    struct memtable_entry *const *entries = tide__memtable_entries(table);
    for (int i = 0; i < 3000; i++) ck_assert_ptr_eq(entries[i], first[i]);
    tide__memtable_upsert(table, STR_LIT("one more"), hash_of(STR_LIT("one more")), NULL);
    ck_assert_uint_eq(tide__memtable_entries(table)[3000]->key_len, 8);
    ck_assert_uint_eq(budget.used, tide__memtable_bytes(table));
    tide__memtable_release(table);
    ck_assert_uint_eq(budget.used, 0);
    ck_assert_uint_gt(budget.used_max, 3000 * 32);
}
END_TEST

START_TEST(a_batch_with_duplicates_marks_only_the_first) {
    struct memtable *table = tide__memtable_new(NULL, 8);
    char bytes[200][8];
    struct str keys[200];
    uint64_t hashes[200];
    struct memtable_entry *entries[200];
    uint8_t is_new[200];
    for (int i = 0; i < 200; i++) {
        memset(bytes[i], 0, 8);
        bytes[i][7] = (char)(i % 70);
        keys[i] = (struct str){bytes[i], 8};
        hashes[i] = hash_of(keys[i]);
    }
    tide__memtable_upsert_batch(table, keys, hashes, 200, entries, is_new);
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(is_new[i], i < 70);
        ck_assert_ptr_eq(entries[i], entries[i % 70]);
    }
    ck_assert_uint_eq(tide__memtable_count(table), 70);
    tide__memtable_release(table);
}
END_TEST

static void check_sorted(uint64_t seed, size_t n, size_t len_max, unsigned alphabet, const char *prefix) {
    struct memtable *table = tide__memtable_new(NULL, 0);
    size_t prefix_len = strlen(prefix);
    for (size_t i = 0; i < n; i++) {
        char key[300];
        size_t len = next_random(&seed) % (len_max + 1);
        memcpy(key, prefix, prefix_len);
        for (size_t j = 0; j < len; j++) key[prefix_len + j] = (char)(next_random(&seed) % alphabet);
        struct str s = {key, prefix_len + len};
        tide__memtable_upsert(table, s, hash_of(s), NULL);
    }
    tide__memtable_freeze(table);
    struct memtable_entry *const *sorted = tide__memtable_sorted(table);
    ck_assert_ptr_eq(sorted, tide__memtable_sorted(table));
    for (size_t i = 1; i < tide__memtable_count(table); i++)
        ck_assert_int_lt(tide__str_cmp(tide__memtable_key(table, sorted[i - 1]), tide__memtable_key(table, sorted[i])),
                         0);
    tide__memtable_release(table);
}

START_TEST(entries_are_sorted_by_key_bytes_shorter_first) {
    for (uint64_t seed = 1; seed < 40; seed++) {
        check_sorted(seed, seed * 3, 12, 256, "");
        check_sorted(seed, seed * 60, 9, 256, "window__window__");
        check_sorted(seed, seed * 60, 20, 2, "");
        check_sorted(seed, 2000, 250, 2, "p");
    }
    check_sorted(9, 0, 5, 2, "");
    check_sorted(9, 3000, 40, 1, "same");  // zeros only: keys differ in length alone
    check_sorted(9, 100000, 8, 256, "");
}
END_TEST

static void count_free(void *payload, void *ctx) {
    *(int64_t *)ctx += *(int64_t *)payload;
}

static void *sort_it(void *table) {
    const struct memtable_entry *const *sorted = (const void *)tide__memtable_sorted(table);
    tide__memtable_release(table);
    return (void *)(uintptr_t)sorted;
}

START_TEST(a_frozen_table_is_shared_by_threads_and_freed_once) {
    struct memory_budget budget = {.limit = 1 << 20};
    int64_t freed = 0;
    struct memtable *table = tide__memtable_new(&budget, 8);
    tide__memtable_on_free(table, count_free, &freed);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t big = __builtin_bswap64(i * 0x9E3779B97F4A7C15ULL);
        struct str key = {(const char *)&big, 8};
        *(int64_t *)tide__memtable_payload(table, tide__memtable_upsert(table, key, hash_of(key), NULL)) = 2;
    }
    tide__memtable_charge(table, 100000);
    ck_assert_uint_eq(budget.used, tide__memtable_bytes(table));
    tide__memtable_charge(table, -99990);
    tide__memtable_freeze(table);
    pthread_t threads[4];
    void *results[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, sort_it, tide__memtable_retain(table));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &results[i]);
    for (int i = 1; i < 4; i++) ck_assert_ptr_eq(results[i], results[0]);
    ck_assert_int_eq(freed, 0);
    tide__memtable_release(table);
    ck_assert_int_eq(freed, 10000);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

Suite *make_memtable_suite(void) {
    Suite *suite = suite_create("state_memtable");
    TCase *tcase = tcase_create("memtable");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, keys_are_found_again_and_payloads_never_move);
    tcase_add_test(tcase, a_batch_with_duplicates_marks_only_the_first);
    tcase_add_test(tcase, entries_are_sorted_by_key_bytes_shorter_first);
    tcase_add_test(tcase, a_frozen_table_is_shared_by_threads_and_freed_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
