// The suites of base/, one a file.
#ifndef TIDE_TESTS_BASE_TESTS_H
#define TIDE_TESTS_BASE_TESTS_H

#include <check.h>

Suite *make_decimal_suite(void);
Suite *make_error_suite(void);
Suite *make_float_suite(void);
Suite *make_memory_suite(void);
Suite *make_sort_suite(void);
Suite *make_str_suite(void);
Suite *make_time_suite(void);
Suite *make_type_suite(void);

#endif
