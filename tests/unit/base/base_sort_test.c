// The key sort against qsort, on keys of all shapes.
#include "base/sort.h"
#include "base_tests.h"

#include <stdlib.h>

#define KEY_ROOM 400

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static int compare(const void *left, const void *right) {
    const struct sort_item *a = left, *b = right;
    int order = memcmp(a->key, b->key, a->key_len < b->key_len ? a->key_len : b->key_len);
    if (order != 0) return order;
    if (a->key_len != b->key_len) return a->key_len < b->key_len ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

enum shape { TAGGED_RANDOM, TAGGED_DENSE, TAGGED_FEW, BITS, ZEROS, LONG_PREFIX, ALL_EQUAL, VERY_LONG, SHAPES };

// Fills a key of a shape; returns its length.
static uint32_t make_key(enum shape shape, size_t n, size_t i, uint64_t *seed, unsigned char *key) {
    uint64_t r = next_random(seed);
    uint32_t len = 9;
    switch (shape) {
    case TAGGED_RANDOM:
    case TAGGED_DENSE:
    case TAGGED_FEW: {
        uint64_t value = shape == TAGGED_RANDOM ? r : shape == TAGGED_DENSE ? i * 7919 % n : r % 5;
        value = __builtin_bswap64(value ^ UINT64_C(1) << 63);
        key[0] = 3;
        memcpy(key + 1, &value, 8);
        break;
    }
    case BITS:
        len = (uint32_t)(r % 20);
        for (uint32_t j = 0; j < len; j++) key[j] = (unsigned char)(next_random(seed) % 2);
        break;
    case ZEROS:
        len = (uint32_t)(r % 40);
        memset(key, 0, KEY_ROOM);
        if (len > 3) key[len - 1] = (unsigned char)(next_random(seed) % 2);
        break;
    case LONG_PREFIX:
        len = 200;
        memset(key, 'a', len);
        key[r % 200] = 'b';
        break;
    case ALL_EQUAL: memset(key, 'x', len); break;
    case VERY_LONG:
        // Splits one item off at a time, to go past the depth limit.
        len = KEY_ROOM;
        memset(key, 'a', len);
        key[i * 8 % KEY_ROOM] = 'b';
        break;
    case SHAPES: break;
    }
    return len;
}

static void check_sort(enum shape shape, size_t n, uint64_t *seed) {
    unsigned char *keys = calloc(n + 1, KEY_ROOM);
    struct sort_item *items = calloc(n + 1, sizeof(*items)), *wanted = calloc(n + 1, sizeof(*items));
    struct sort_item *scratch = calloc(n + 1, sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        unsigned char *key = keys + i * KEY_ROOM;
        uint32_t len = make_key(shape, n, i, seed, key);
        items[i] = (struct sort_item){tide__sort_prefix(key, len), key, len, (uint32_t)i};
    }
    memcpy(wanted, items, n * sizeof(*items));
    qsort(wanted, n, sizeof(*wanted), compare);
    tide__sort_keys(items, n, scratch);
    ck_assert_msg(memcmp(items, wanted, n * sizeof(*items)) == 0, "shape %d, %zu items", (int)shape, n);
    free(keys);
    free(items);
    free(wanted);
    free(scratch);
}

START_TEST(order_is_that_of_memcmp_and_stable) {
    uint64_t seed = 88172645463325252U;
    static const size_t sizes[] = {0, 1, 2, 3, 24, 25, 26, 64, 100, 255, 1000, 5000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check_sort((enum shape)_i, sizes[i], &seed);
    }
}
END_TEST

Suite *make_sort_suite(void) {
    Suite *suite = suite_create("sort");
    TCase *tc = tcase_create("sort");
    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, order_is_that_of_memcmp_and_stable, 0, SHAPES);
    suite_add_tcase(suite, tc);
    return suite;
}
