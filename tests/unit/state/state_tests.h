// What the unit tests of state/ share.
#ifndef TIDE_TESTS_STATE_TESTS_H
#define TIDE_TESTS_STATE_TESTS_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>

Suite *make_memtable_suite(void);
Suite *make_combine_suite(void);
Suite *make_store_suite(void);

// splitmix64: the same numbers everywhere.
static inline uint64_t next_random(uint64_t *seed) {
    uint64_t x = (*seed += 0x9E3779B97F4A7C15ULL);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

#endif
